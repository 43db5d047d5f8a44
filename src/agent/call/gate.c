/* SPDX-License-Identifier: Apache-2.0 */
/* The gate before and after each call: hooks, policy, the question; tools that are not offered. */
#include "agent/call/gate.h"

#include <string.h>

#include "agent/call/call.h"
#include "agent/call/path_rules.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tool/alias.h"

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

const char *gate_off_mode_word(enum approval_mode mode)
{
	return mode == MODE_AUTO_EDIT ? "auto_edit" : policy_mode_name(mode);
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

/* "safe_patch, write_file (--approval-mode auto_edit would allow them)". */
static void put_tools(const struct off_tools *options, enum approval_mode mode, struct buf *out)
{
	const struct tool_set *set = options->session->tools;
	const char *between = out->len ? "; " : "";
	bool any = false;

	for (size_t i = 0; i < tool_set_count(set); i++) {
		const struct tool *tool = tool_set_at(set, i);

		if (on_in(options, tool) != mode)
			continue;
		buf_printf(out, "%s%s", any ? ", " : between, tool->name);
		any = true;
	}
	if (any && !gate_off_forbidden(options->settings, mode))
		buf_printf(out, " (--approval-mode %s would allow them)",
		           gate_off_mode_word(mode));
}

char *gate_off_text(const struct off_tools *options)
{
	_cleanup_buf_ struct buf list = BUF_INIT(LIST_MAX);
	const char *report;

	if (options->interactive || options->mode == MODE_PLAN || !options->policy)
		return NULL;
	for (enum approval_mode mode = options->mode + 1; mode < MODE_COUNT; mode++)
		put_tools(options, mode, &list);
	if (!list.len)
		return NULL;
	report = tool_set_find(options->session->tools, "request_permission") ?
	                 " If the task needs one of them, call request_permission." : "";
	return mem_printf(
		"- These tools are off, because nobody can be asked about their calls: %.*s. "
		"--allowed-tools NAME or a policy rule would allow one of them%s.%s Do what can be done "
		"without them, not by a way around, and say in the end what is missing and which of "
		"these would allow it.\n",
		(int)list.len, list.data,
		settings_trusted(options->settings) ? "" :
		                                      "; modes that allow more are for folders "
		                                      "that are trusted (\"hasp config trust\")",
		report);
}

/* ---- the gate ---------------------------------------------------------------- */

enum { PROBLEMS_MAX = 4096, NAMES_MAX = 4096 };

/* "update_file replace edit": all names of a tool, for matchers; for the caller. */
static char *gate_names(const struct tool *tool)
{
	_cleanup_buf_ struct buf names = BUF_INIT(NAMES_MAX);

	buf_str(&names, tool->name);
	for (const char *const *alias = tool->aliases; alias && *alias; alias++)
		buf_printf(&names, " %s", *alias);
	return buf_steal(&names);
}

/* ---- before ------------------------------------------------------------------------ */

/* The name by which rules and hooks know the call: the model's word, when it is one of ours. */
static const char *name_in_hooks(const struct call *call, const struct tool *tool)
{
	return tool == call->tool ? call->name : tool->name;
}

static json_t *hook_input(const struct call *call, const struct tool *tool, const json_t *arguments)
{
	json_t *input = json_object(), *context;
	const char *name = name_in_hooks(call, tool);

	json_object_set_new(input, "tool_name", json_string(name));
	json_object_set_new(input, "tool_input", both_arguments(tool, arguments));
	if (tool != call->tool) /* a hook asked for this one instead */
		json_object_set_new(input, "original_request_name", json_string(call->name));
	if (tool->server) {
		context = json_object();
		json_object_set_new(context, "server_name", json_cstr(tool->server));
		json_object_set_new(context, "tool_name", json_cstr(tool->server_tool));
		json_object_set_new(input, "mcp_context", context);
	}
	return input;
}

/* What a hook changed of what it was shown, laid over the arguments. */
static void rewrite(const struct tool *tool, json_t **arguments, const json_t *changed)
{
	_cleanup_buf_ struct buf problems = BUF_INIT(PROBLEMS_MAX);
	json_auto_t *shown = both_arguments(tool, *arguments);
	json_auto_t *changes = json_object();
	json_auto_t *ours = NULL;
	json_t *all = json_copy(*arguments), *value;
	const char *name;

	json_object_foreach((json_t *)changed, name, value)
		if (!json_equal(value, json_object_get(shown, name)))
			json_object_set(changes, name, value);
	ours = alias_resolve(tool, tool->name, changes, &problems);
	json_object_update(all, ours);
	json_decref(*arguments);
	*arguments = all;
}

static json_t *failure(struct call *call, const struct tool *tool, const json_t *arguments,
                       enum err_code code, const char *before, const char *reason)
{
	struct err err = ERR_INIT;
	json_t *result;

	err_set(&err, code, "%s%s", before, reason ? reason : "no reason was given.");
	result = tool_failure(&err);
	if (tool->explain)
		tool->explain(&call->session, arguments, result);
	return result;
}

static json_t *stopped(struct call *call, const struct tool *tool, const json_t *arguments,
                       const char *reason)
{
	json_t *result = failure(call, tool, arguments, ERR_DENIED_BY_POLICY,
	                         "Agent execution stopped by a hook: ", reason);

	json_object_set_new(json_object_get(result, "error"), "type",
	                    json_string("stop_execution"));
	return result;
}

static json_t *alternative(const char *text)
{
	json_t *result = json_object();

	json_object_set_new(result, "success", json_true());
	json_object_set_new(result, "output", json_text(span_str(text)));
	return result;
}

static void add_context(struct call *call, const char *text)
{
	char *joined;

	if (!text || !*text)
		return;
	joined = call->context ? mem_printf("%s\n%s", call->context, text) : mem_strdup(text);
	free(call->context);
	call->context = joined;
}

static json_t *before_outcome(struct call *call, const struct tool *tool, json_t **arguments,
                              const struct hook_outcome *outcome, bool *ask)
{
	static const char blocked[] = "Tool execution blocked: ";

	add_context(call, outcome->additional_context);
	if (outcome->stop || outcome->denied || outcome->error)
		call->decision = DECISION_REJECT;
	if (outcome->stop)
		return stopped(call, tool, *arguments, outcome->reason);
	if (outcome->error || outcome->denied)
		return failure(call, tool, *arguments, ERR_DENIED_BY_POLICY, blocked,
		               outcome->error ? outcome->error : outcome->reason);
	if (outcome->alternative)
		return alternative(outcome->alternative);
	if (outcome->tool_input)
		rewrite(tool, arguments, outcome->tool_input);
	if (outcome->ask) {
		*ask = call->hook_asks = true;
		call->ask_reason = mem_strdup(outcome->system_message ? outcome->system_message :
		                                                        outcome->reason);
	}
	return NULL;
}

static json_t *gate_before(void *data, const struct tool *tool, json_t **arguments, bool *ask)
{
	struct call *call = data;
	_cleanup_free_ char *names = gate_names(tool);
	json_auto_t *input = NULL;
	struct hook_outcome outcome;
	json_t *ended;

	if (!agent_has_hooks(call->agent, HOOK_BEFORE_TOOL, names))
		return NULL;
	input = hook_input(call, tool, *arguments);
	if (!agent_fire(call->agent, HOOK_BEFORE_TOOL, names, input, &outcome))
		return NULL;
	ended = before_outcome(call, tool, arguments, &outcome, ask);
	hook_outcome_release(&outcome);
	return ended;
}

/* ---- the rules --------------------------------------------------------------------- */

struct policy_call gate_subject(const struct tool *tool)
{
	return (struct policy_call){
		.tool = tool->name,
		.other_names = tool->aliases,
		.server = tool->server,
		.server_tool = tool->server_tool,
		.kind = tool_kind_name(tool->kind),
		.annotations = tool->annotations,
		.mode = MODE_DEFAULT,
	};
}

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

bool gate_hides(struct agent *agent, const struct tool *tool)
{
	struct policy_call call = policy_call(agent, tool, NULL, NULL);

	if (tool->hidden && tool->hidden(agent->options.session))
		return true;
	return agent->options.policy && policy_hides(agent->options.policy, &call);
}

bool gate_hides_always(struct agent *agent, const struct tool *tool)
{
	struct policy_call call = policy_call(agent, tool, NULL, NULL);

	if (!agent->options.policy)
		return false;
	for (call.mode = 0; call.mode < MODE_COUNT; call.mode++)
		if (!policy_hides(agent->options.policy, &call))
			return false;
	return true;
}

/* It is on, and by its name in the last request: a hook may have made the choice smaller. */
static bool was_offered(void *data, const struct tool *tool)
{
	const struct call *call = data;
	size_t i;
	json_t *declaration;

	if (gate_hides(call->agent, tool))
		return false;
	json_array_foreach(call->agent->offered, i, declaration) {
		const char *name = json_string_value(json_object_get(declaration, "name"));

		if (name && strcmp(name, tool->name) == 0)
			return true;
	}
	return false;
}

static void report_rejection(struct call *call, const struct tool *tool)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(tool->name));
	json_object_set_new(message, "message", json_text(span_str(call->verdict.message)));
	if (call->verdict.rule)
		json_object_set_new(message, "rule", json_text(span_str(call->verdict.rule)));
	bus_publish(call->agent->options.bus, BUS_TOOL_POLICY_REJECTION, message);
}

enum call_decision gate_decide(struct call *call, const struct tool *tool, const json_t *arguments)
{
	static const enum call_decision decisions[] = {
		[POLICY_ALLOW] = CALL_ALLOW, [POLICY_ASK] = CALL_ASK, [POLICY_DENY] = CALL_DENY,
	};
	json_auto_t *theirs = gemini_arguments(tool, arguments);
	struct policy_call subject = policy_call(call->agent, tool, arguments, theirs);

	if (!call->agent->options.policy)
		return tool_kind_reads(tool->kind) ? CALL_ALLOW : CALL_ASK;
	if (call->has_verdict)
		policy_verdict_release(&call->verdict);
	policy_decide(call->agent->options.policy, &subject, &call->verdict);
	path_rules_decide(&call->paths, tool, &subject, &call->verdict);
	call->has_verdict = true;
	return decisions[call->verdict.decision];
}

/* NULL: none, or the settings forbid it. */
static const char *mode_that_allows(struct agent *agent, const struct tool *tool)
{
	const struct policy_call subject = policy_call(agent, tool, NULL, NULL);
	const enum approval_mode mode = gate_off_mode(agent->options.policy, &subject);

	if (mode == MODE_COUNT ||
	    (agent->options.settings && gate_off_forbidden(agent->options.settings, mode)))
		return NULL;
	return gate_off_mode_word(mode);
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

/* Whether somebody who could be asked would have been: then it was refused for want of them. A
 * question to the user is none about permission. */
static void note_want(struct call *call, const struct tool *tool, const json_t *arguments)
{
	json_auto_t *theirs = gemini_arguments(tool, arguments);
	struct policy_call subject = policy_call(call->agent, tool, arguments, theirs);
	struct policy_verdict verdict;

	if (subject.interactive || tool->kind == TOOL_KIND_COMMUNICATE)
		return;
	subject.interactive = true;
	policy_decide(call->agent->options.policy, &subject, &verdict);
	if (verdict.decision == POLICY_ASK) {
		call->wants = CALL_WANTS_RULE;
		json_decref(call->allowing);
		call->allowing = words_for(&subject, &verdict);
	}
	policy_verdict_release(&verdict);
}

/* A default rule that says no because nobody is there: what somebody could have said beforehand. */
static void deny(struct call *call, const struct tool *tool, struct err *err)
{
	struct span rule = span_str(call->verdict.rule);
	const char *mode;

	if (call->agent->options.interactive || !span_starts(rule, SPAN("default:")) ||
	    agent_mode(call->agent) == MODE_PLAN)
		err_set(err, ERR_DENIED_BY_POLICY, "%s", call->verdict.message);
	else {
		mode = mode_that_allows(call->agent, tool);
		err_set(err, ERR_DENIED_BY_POLICY,
		        "%s Nobody can be asked here; the user can allow it beforehand: by a policy "
		        "rule, %swith --allowed-tools %s%s%s%s.",
		        call->verdict.message, mode ? "" : "or ", tool->name,
		        mode ? ", or with --approval-mode " : "", mode ? mode : "",
		        mode && !call->agent->trusted ? ", which is for trusted folders" : "");
	}
}

static enum call_decision decide(void *data, const struct tool *tool, const json_t *arguments,
                                 struct err *err)
{
	struct call *call = data;
	enum call_decision decision = gate_decide(call, tool, arguments);

	if (decision == CALL_DENY) {
		call->decision = DECISION_REJECT;
		note_want(call, tool, arguments);
		report_rejection(call, tool);
		deny(call, tool, err);
	} else if (decision == CALL_ALLOW && !call->hook_asks && !tool_wants_more(arguments)) {
		call->decision = DECISION_AUTO;
		gate_about_to_run(call, tool, arguments);
	}
	return decision;
}

void gate_about_to_run(struct call *call, const struct tool *tool, const json_t *arguments)
{
	const struct agent_options *options = &call->agent->options;

	if (options->before_edit && tool->plans &&
	    !json_is_true(json_object_get(arguments, "dry_run")))
		options->before_edit(options->before_edit_data, call->id, tool, arguments);
}

/* ---- after ------------------------------------------------------------------------- */

static json_t *tool_response(const struct tool *tool, const json_t *result)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *display = display_result(tool, result);
	json_t *response = json_object(), *error;

	json_print(&text, result, 0);
	json_object_set_new(response, "llmContent", json_text(buf_view(&text)));
	json_object_set_new(response, "returnDisplay", json_text(span_str(display)));
	if (tool_result_failed(result)) {
		error = json_object();
		json_object_set_new(error, "type", json_string(call_error_type(tool, result)));
		json_object_set_new(error, "message",
		                    json_text(span_str(call_error_message(result))));
		json_object_set_new(response, "error", error);
	}
	return response;
}

static void after_outcome(struct call *call, const struct tool *tool, const json_t *arguments,
                          const struct hook_outcome *outcome, json_t **result)
{
	json_t *instead = NULL;

	add_context(call, outcome->additional_context);
	if (outcome->stop)
		instead = stopped(call, tool, arguments, outcome->reason);
	else if (outcome->error || outcome->denied)
		instead = failure(call, tool, arguments, ERR_DENIED_BY_POLICY,
		                  "The call was made, but a hook withholds its result: ",
		                  outcome->error ? outcome->error : outcome->reason);
	else if (outcome->alternative)
		instead = alternative(outcome->alternative);
	if (instead) {
		json_decref(*result);
		*result = instead;
	}
	if (outcome->tail_call && !instead) {
		json_decref(call->tail);
		call->tail = json_incref(outcome->tail_call);
	}
}

static void gate_after(void *data, const struct tool *tool, const json_t *arguments,
                       json_t **result)
{
	struct call *call = data;
	_cleanup_free_ char *names = gate_names(tool);
	json_auto_t *input = NULL;
	struct hook_outcome outcome;

	if (!agent_has_hooks(call->agent, HOOK_AFTER_TOOL, names))
		return;
	input = hook_input(call, tool, arguments);
	json_object_set_new(input, "tool_response", tool_response(tool, *result));
	if (!agent_fire(call->agent, HOOK_AFTER_TOOL, names, input, &outcome))
		return;
	after_outcome(call, tool, arguments, &outcome, result);
	hook_outcome_release(&outcome);
}

/* ---- a command's output ------------------------------------------------------------ */

static void gate_output(void *data, enum run_stream stream, struct span bytes)
{
	struct call *call = data;
	json_auto_t *message = json_object();

	(void)stream; /* as it came: both are one text for who reads along */
	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "text", json_text(bytes));
	bus_publish(call->agent->options.bus, BUS_TOOL_OUTPUT, message);
}

void gate_attach(struct call *call)
{
	const struct cancel *cancel = call->agent->options.cancel;
	struct agent *agent = call->agent;
	struct policy_call who = {
		.subagent = agent->options.name, .mode = agent_mode(agent),
		.interactive = agent->options.interactive, .trusted = agent->trusted,
	};

	if (agent->options.policy) {
		path_rules_init(&call->paths, agent->options.policy, call->session.provider, &who);
		call->session.provider = &call->paths.provider;
	}
	call->session.hooks = (struct call_hooks){
		.before = gate_before,
		.decide = decide,
		.confirm = agent_confirm_ask,
		.after = gate_after,
		.offered = was_offered,
		.output = call->agent->options.bus ? gate_output : NULL,
		.cancel = cancel ? &cancel->set : NULL,
		.data = call,
	};
}
