/* SPDX-License-Identifier: Apache-2.0 */
/* The policy's decision on a call and on a tool as a whole: whether it runs, needs confirmation or
 * is refused, and what would have allowed it; and which tools are off. */
#include <string.h>

#include "agent/call/gate.h"
#include "agent/call/path_rules.h"
#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- the rules --------------------------------------------------------------------- */

struct policy_call gate_subject(const struct tool *tool)
{
	return (struct policy_call){
		.tool = tool->name,
		.server = tool->server,
		.server_tool = tool->server_tool,
		.server_identity = tool->server_identity,
		.kind = tool_kind_name(tool_kind_of(tool)),
		.annotations = tool->annotations,
		.reads = tool->kind != TOOL_KIND_FETCH && tool_kind_reads(tool->kind),
		.mode = MODE_DEFAULT,
	};
}

/* ---- tools that are off ------------------------------------------------------ */

enum { LIST_MAX = 64 << 10 };

enum approval_mode gate_off_mode(const struct policy *policy, const struct policy_call *call)
{
	struct policy_call in = *call;

	for (in.mode = call->mode + 1; in.mode < MODE_COUNT; in.mode++)
		if (!policy_hides(policy, &in))
			break;
	return in.mode;
}

bool gate_off_forbidden(const struct settings *settings, enum approval_mode mode)
{
	struct err err = ERR_INIT;

	return !prepare_mode_check(settings, mode, &err) && err.code != ERR_PERMISSION_DENIED;
}

/* Off, and on in `mode`; MODE_COUNT: it is on, or no mode would help. */
static enum approval_mode on_in(const struct off_tools *options, const struct tool *tool)
{
	struct policy_call call = gate_subject(tool);

	call.mode = options->mode;
	call.trusted = settings_trusted(options->settings);
	if ((tool->hidden && tool->hidden(options->session)) ||
	    !policy_hides(options->policy, &call))
		return MODE_COUNT;
	return gate_off_mode(options->policy, &call);
}

/* "safe_patch, write_file (--approval-mode auto_edit would allow them)".  `on`: on_in of each
 * tool. */
static void put_off_tools(const struct off_tools *options, const enum approval_mode *on,
                          size_t count, enum approval_mode mode, struct buf *out)
{
	const char *between = out->len ? "; " : "";
	bool any = false;

	for (size_t i = 0; i < count; i++) {
		const char *name = dialect_name_for(options->dialect,
		                                    tool_set_at(options->session->tools, i)->name);

		if (on[i] != mode || !name)
			continue;
		buf_printf(out, "%s%s", any ? ", " : between, name);
		any = true;
	}
	if (any && !gate_off_forbidden(options->settings, mode))
		buf_printf(out, " (--approval-mode %s would allow them)",
		           prepare_mode_word(mode));
}

char *gate_off_text(const struct off_tools *options)
{
	const size_t count = tool_set_count(options->session->tools);
	_cleanup_free_ enum approval_mode *on = NULL;
	_cleanup_buf_ struct buf list = BUF_INIT(LIST_MAX);
	const char *report;

	if (options->interactive || options->mode == MODE_PLAN || !options->policy)
		return NULL;
	on = mem_alloc(count + 1, sizeof(*on));
	for (size_t i = 0; i < count; i++)
		on[i] = on_in(options, tool_set_at(options->session->tools, i));
	for (enum approval_mode mode = options->mode + 1; mode < MODE_COUNT; mode++)
		put_off_tools(options, on, count, mode, &list);
	if (!list.len)
		return NULL;
	report = tool_set_find(options->session->tools, tool_name(TOOL_REQUEST_PERMISSION)) ?
	                 " If the task needs one of them, call request_permission." : "";
	return mem_printf(
		"- These tools are off, because this run has no way to ask about their calls: "
		"%.*s. --allowed-tools NAME or a policy rule would allow one of them%s.%s Do what "
		"can be done without them, do not work around them, and say at the end what is "
		"missing and which of these would allow it.\n",
		(int)list.len, list.data,
		settings_trusted(options->settings) ? "" :
		                                      "; modes that allow more are for folders "
		                                      "that are trusted (\"hasp config trust\")",
		report);
}

/* ---- decisions ---------------------------------------------------------------------- */

static struct policy_call policy_call(struct agent *agent, const struct tool *tool,
                                      const json_t *arguments, const json_t *theirs)
{
	struct policy_call call = gate_subject(tool);

	call.arguments = arguments;
	call.other_arguments = theirs;
	call.subagent = agent->options.name;
	call.mode = agent_mode(agent);
	call.interactive = agent->options.interactive;
	call.trusted = agent->trusted;
	call.project = agent->root;
	return call;
}

/* The call with the results of call_scope_note. */
static struct policy_call subject_in_scope(const struct call *call, const struct tool *tool,
                                       const json_t *arguments, const json_t *theirs)
{
	struct policy_call subject = policy_call(call->agent, tool, arguments, theirs);

	subject.changes = call->changes;
	subject.hosts = call->hosts;
	subject.obeyed = call->obeyed;
	return subject;
}

bool gate_hides(struct agent *agent, const struct tool *tool)
{
	struct policy_call call = policy_call(agent, tool, NULL, NULL);

	if ((tool->hidden && tool->hidden(agent->options.session)) ||
	    (tool->absent && tool->absent(agent->options.session)))
		return true;
	return policy_hides(agent->options.policy, &call);
}

/* Without a user at the keyboard only the model changes the mode, with the tools for that. */
static bool mode_is_fixed(struct agent *agent)
{
	if (agent->options.interactive || agent->options.parent)
		return false;
	for (size_t i = 0; i < tool_info_count(); i++) {
		const struct tool *tool =
			tool_infos[i].kind != TOOL_KIND_PLAN ? NULL :
			tool_set_find(agent->options.session->tools, tool_infos[i].name);

		if (tool && !gate_hides(agent, tool))
			return false;
	}
	return true;
}

bool gate_hides_always(struct agent *agent, const struct tool *tool)
{
	struct policy_call call = policy_call(agent, tool, NULL, NULL);

	if (policy_hides(agent->options.policy, &call) && mode_is_fixed(agent))
		return true;
	for (call.mode = 0; call.mode < MODE_COUNT; call.mode++)
		if (!policy_hides(agent->options.policy, &call))
			return false;
	return true;
}

static void report_rejection(struct call *call, const struct tool *tool)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(tool->name));
	json_object_set_new(message, "message", json_text(span_str(call->verdict.message)));
	if (call->verdict.rule)
		json_object_set_new(message, "rule", json_text(span_str(call->verdict.rule)));
	agent_publish(call->agent, BUS_TOOL_POLICY_REJECTION, message);
}

/* A permission to write below a path is as much as an edit there: what rules ask of several people
 * about that, they ask about the permission. */
static void join_permitted_path(const struct call *call, const struct policy_call *subject,
                                const json_t *path, struct policy_verdict *verdict)
{
	const char *given = json_string_value(path), *root = call->agent->root;
	const size_t len = root ? strlen(root) : 0;
	const bool inside = given && len && !strncmp(given, root, len) && given[len] == '/';
	json_auto_t *absolute = json_pack("{s:O}", "file_path", path);
	json_auto_t *relative = json_pack("{s:s}", "file_path", inside ? given + len + 1 : "");
	struct policy_call edits[] = { *subject, *subject };
	struct policy_verdict own;

	for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
		edits[i].tool = tool_name(TOOL_WRITE_FILE);
		edits[i].kind = tool_kind_name(TOOL_KIND_EDIT);
		edits[i].arguments = i ? relative : absolute;
		edits[i].other_arguments = NULL;
	}
	policy_decide_spelled(call->agent->options.policy, edits, inside ? 2 : 1, &own);
	policy_verdict_join(verdict, &own);
	policy_verdict_release(&own);
}

static void join_permitted(const struct call *call, const struct tool *tool,
                           const struct policy_call *subject, struct policy_verdict *verdict)
{
	const json_t *more = tool_command_permissions(tool->info, subject->arguments);
	const json_t *files = json_object_get(more, "fileSystem");
	size_t i;
	json_t *path;

	json_array_foreach(json_object_get(files, "write"), i, path)
		if (json_is_string(path))
			join_permitted_path(call, subject, path, verdict);
}

/* Whether only hasp's defaults keep a call of the user's from being made without a question. */
static bool is_kept_by_default(const struct call *call, const struct policy_verdict *verdict)
{
	return verdict->decision != POLICY_ALLOW && agent_mode(call->agent) != MODE_PLAN &&
	       !policy_caller(call->agent->options.policy) &&
	       span_starts(span_str(verdict->rule), SPAN("default:"));
}

/* The policy's answer; of a call that the user ordered, a question of the defaults is answered by
 * that. A text's command that they deny because no one can be asked is judged as if someone could:
 * a question may become a permission, where the command is known to be harmless. */
static void decide_in_scope(const struct call *call, const struct policy_call *subject,
                            struct policy_verdict *ret)
{
	const struct policy *policy = call->agent->options.policy;
	struct policy_call asked = *subject;
	struct policy_verdict verdict;

	policy_decide(policy, subject, ret);
	if (!is_kept_by_default(call, ret))
		return;
	if (call->origin == CALL_OF_ORDER)
		ret->decision = POLICY_ALLOW;
	if (call->origin != CALL_OF_TEXT || subject->interactive)
		return;
	asked.interactive = true;
	policy_decide(policy, &asked, &verdict);
	if (verdict.decision == POLICY_ALLOW) {
		policy_verdict_release(ret);
		*ret = verdict;
	} else {
		policy_verdict_release(&verdict);
	}
}

enum call_decision gate_decide(struct call *call, const struct tool *tool, const json_t *arguments)
{
	static const enum call_decision decisions[] = {
		[POLICY_ALLOW] = CALL_ALLOW, [POLICY_ASK] = CALL_ASK, [POLICY_DENY] = CALL_DENY,
	};
	json_auto_t *theirs = tool_info_gemini(tool->info, arguments);
	struct policy_call subject = subject_in_scope(call, tool, arguments, theirs);
	bool changed;

	tool_change_release(&call->change);
	changed = tool->changed && tool->changed(tool, &call->change);
	if (call->has_verdict)
		policy_verdict_release(&call->verdict);
	decide_in_scope(call, &subject, &call->verdict);
	path_rules_decide(&call->paths, tool, &subject, &call->verdict);
	join_permitted(call, tool, &subject, &call->verdict);
	call->has_verdict = true;
	if (changed && call->verdict.decision == POLICY_ALLOW)
		return CALL_ASK;
	return decisions[call->verdict.decision];
}

static bool is_changed(const struct tool *tool)
{
	struct tool_change change = { 0 };
	const bool changed = tool->changed && tool->changed(tool, &change);

	tool_change_release(&change);
	return changed;
}

bool gate_would_allow(const struct call *call, const struct tool *tool, const json_t *arguments)
{
	json_auto_t *theirs = tool_info_gemini(tool->info, arguments);
	struct policy_call subject = subject_in_scope(call, tool, arguments, theirs);
	struct policy_verdict verdict;
	bool allow;

	policy_decide(call->agent->options.policy, &subject, &verdict);
	allow = verdict.decision == POLICY_ALLOW && !is_changed(tool);
	policy_verdict_release(&verdict);
	return allow;
}

/* NULL: none, or the settings forbid it. */
static const char *mode_that_allows(struct agent *agent, const struct tool *tool)
{
	const struct policy_call subject = policy_call(agent, tool, NULL, NULL);
	const enum approval_mode mode = gate_off_mode(agent->options.policy, &subject);

	if (mode == MODE_COUNT ||
	    (agent->options.settings && gate_off_forbidden(agent->options.settings, mode)))
		return NULL;
	return prepare_mode_word(mode);
}

/* Whether --allowed-tools with these words would let this very call run. */
static bool words_allow(const struct policy_call *subject, json_t *words)
{
	json_auto_t *tools = json_pack("{s:O}", "allowed", words);
	struct policy *policy = policy_new();
	struct policy_call call = *subject;
	struct policy_verdict verdict;
	bool allow;

	policy_add_defaults(policy);
	policy_add_settings(policy, tools, NULL, NULL);
	call.interactive = false;
	policy_decide(policy, &call, &verdict);
	allow = verdict.decision == POLICY_ALLOW;
	policy_verdict_release(&verdict);
	policy_free(policy);
	return allow;
}

/* A prefix that --allowed-tools can carry between commas and parentheses, and that a shell takes as
 * it is between double quotes: people paste it. */
static bool add_word(json_t *words, const char *tool, const char *prefix)
{
	return !strpbrk(prefix, ",()'\"\n\\$`!") &&
	       json_array_append_new(words, json_pack("s+++", tool, "(", prefix, ")")) == 0;
}

/* The words for --allowed-tools, the narrowest that would do: ["run_shell_command(git add)"],
 * ["write_file"], []. A new reference. */
static json_t *words_for(const struct policy_call *subject, const struct policy_verdict *verdict)
{
	json_auto_t *prefixes = json_copy(verdict->prefixes);
	json_t *words = json_array(), *prefix;
	bool whole = prefixes;
	size_t i;

	json_array_extend(prefixes, verdict->harmless);
	json_array_foreach(prefixes, i, prefix)
		whole = whole && add_word(words, subject->tool, json_string_value(prefix));
	if (whole && words_allow(subject, words))
		return words;
	json_array_clear(words);
	json_array_append_new(words, json_cstr(subject->tool));
	if (!words_allow(subject, words))
		json_array_clear(words);
	return words;
}

/* Notes a call that was refused only because the user could not be asked. A question that a tool
 * puts to the user is not about permission. */
static void note_want(struct call *call, const struct tool *tool, const json_t *arguments)
{
	json_auto_t *theirs = tool_info_gemini(tool->info, arguments);
	struct policy_call subject = policy_call(call->agent, tool, arguments, theirs);
	struct policy_verdict verdict;

	if (subject.interactive || tool_kind_of(tool) == TOOL_KIND_COMMUNICATE ||
	    (call->verdict.rule && strcmp(call->verdict.rule, POLICY_UNLISTED) == 0))
		return;
	subject.interactive = true;
	policy_decide(call->agent->options.policy, &subject, &verdict);
	if (verdict.decision == POLICY_ASK) {
		call->missing = CALL_MISSING_RULE;
		json_decref(call->allowing);
		call->allowing = words_for(&subject, &verdict);
	}
	policy_verdict_release(&verdict);
}

static bool call_tool_is_off(const struct call *call, const struct tool *tool)
{
	struct policy_call subject = gate_subject(tool);

	subject.mode = agent_mode(call->agent);
	subject.trusted = call->agent->trusted;
	return policy_hides(call->agent->options.policy, &subject);
}

/* The error of a default rule that denies because no one can be asked: how the user could have
 * allowed the call in advance. For a tool that was off, and so not declared, it has Gemini CLI's
 * wording, which scripts know. */
static void set_denial(const struct call *call, const struct tool *tool, struct err *err)
{
	struct span rule = span_str(call->verdict.rule);
	_cleanup_free_ char *off = NULL;
	const char *mode;

	if (call->agent->options.interactive || !span_starts(rule, SPAN("default:")) ||
	    agent_mode(call->agent) == MODE_PLAN) {
		err_set(err, ERR_DENIED_BY_POLICY, "%s", call->verdict.message);
		return;
	}
	if (call_tool_is_off(call, tool))
		off = mem_printf("Tool \"%s\" not found: it is off (%s), because it asks first.",
		                 tool->name, call->verdict.rule);
	mode = mode_that_allows(call->agent, tool);
	err_set(err, ERR_DENIED_BY_POLICY,
	        "%s This run has no way to ask; the user can allow it beforehand: by a policy "
	        "rule, %swith --allowed-tools %s%s%s%s.", off ? off : call->verdict.message,
	        mode ? "" : "or ", tool->name, mode ? ", or with --approval-mode " : "",
	        mode ? mode : "",
	        mode && !call->agent->trusted ? ", which is for trusted folders" : "");
}

void gate_deny(struct call *call, const struct tool *tool, const json_t *arguments, struct err *err)
{
	call->decision = DECISION_REJECT;
	note_want(call, tool, arguments);
	report_rejection(call, tool);
	set_denial(call, tool, err);
}

void gate_note_allowed(struct call *call, const struct tool *tool)
{
	if (tool->allowed && call->change.state)
		tool->allowed(tool, &call->change);
}

void gate_about_to_run(struct call *call, const struct tool *tool, const json_t *arguments)
{
	const struct agent_options *options = &call->agent->options;

	if (options->before_edit && tool->plans &&
	    !json_is_true(json_object_get(arguments, "dry_run")))
		options->before_edit(options->before_edit_data, call->id, tool, arguments);
}
