/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp policy`: what would be decided on a call, by which rule; all rules; and rules written for
 * good. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/servers.h"
#include "config/settings.h"
#include "data/json.h"
#include "policy/approvals.h"
#include "policy/policy.h"
#include "tool/spelling.h"
#include "tool/tool.h"

struct policy_action;

struct policy_command {
	const struct invocation *invocation;
	struct settings *settings;
	struct policy *policy;
	char *project;
	bool changes; /* rules are about to be changed: what is wrong with them is said after */
};

/* ---- the call --------------------------------------------------------------------------- */

/* The parts of a call, which must live until it is decided. */
struct subject {
	const struct tool *tool; /* NULL: not a built-in one */
	char *name, *server, *server_tool;
	json_t *arguments;
};

static void subject_release(struct subject *subject)
{
	free(subject->name);
	free(subject->server);
	free(subject->server_tool);
	json_decref(subject->arguments);
}

/* mcp_SERVER_TOOL: the server with the longest name that is known, else up to the next "_". */
static void split_server(const struct settings *settings, struct subject *subject)
{
	json_auto_t *ignored = json_array(), *rows = servers_configured(settings, ignored);
	const char *rest = subject->name + 4;
	size_t len = strcspn(rest, "_"), best = 0, i;
	json_t *row;

	json_array_foreach(rows, i, row) {
		const char *name = json_string_value(json_object_get(row, "name"));
		size_t have = strlen(name);

		if (have > best && strncmp(rest, name, have) == 0 && rest[have] == '_')
			best = have;
	}
	if (best)
		len = best;
	if (rest[len] != '_' || len == 0)
		return;
	subject->server = mem_dup(rest, len);
	subject->server_tool = mem_strdup(rest + len + 1);
}

/* An object's first member or its end follows its brace; after a shell's stands something else. */
static bool is_json_object(const char *text)
{
	if (text[0] != '{')
		return false;
	text += 1 + strspn(text + 1, " \t\r\n");
	return text[0] == '"' || text[0] == '}';
}

/* ARGS is an object; of run_shell_command also the command line itself. */
static bool read_call_arguments(const struct subject *subject, const char *text, json_t **ret,
                                struct err *err)
{
	struct err inner = ERR_INIT;
	bool shell = subject->tool && subject->tool->info && subject->tool->info->runs;

	if (!text) {
		*ret = json_object();
		return true;
	}
	if (shell && !is_json_object(text)) {
		*ret = json_pack("{s:s}", "command", text);
		return *ret || err_set(err, ERR_INVALID_ARGUMENT, "The command is not UTF-8.");
	}
	if (!json_parse(span_str(text), ret, &inner))
		return err_set(err, ERR_INVALID_ARGUMENT, "ARGS: %s%s", inner.message,
		               shell ? " A command that begins so is given as "
		                       "{\"command\": \"...\"}." : "");
	return json_is_object(*ret) || /* also on failure the caller frees it */
	       err_set(err, ERR_INVALID_ARGUMENT, "ARGS must be a JSON object.");
}

/* The tool and the arguments that a call in any product's words comes to. */
static void subject_spell(struct subject *subject, const char *name, const json_t *given,
                          struct buf *problems)
{
	struct spelled_call call;

	spelling_read(name, given, problems, &call);
	if (tool_find(call.name))
		subject->tool = tool_find(call.name);
	free(subject->name);
	subject->name = mem_strdup(subject->tool->name);
	subject->arguments = alias_resolve(subject->tool, call.name, call.arguments, NULL,
	                                   problems);
	spelling_release(&call);
}

static bool subject_read(const struct policy_command *command, struct subject *ret,
                         struct err *err)
{
	const char *name = invocation_positional(command->invocation, 1);
	_cleanup_buf_ struct buf problems = BUF_INIT(16384);
	json_auto_t *given = NULL;

	ret->tool = tool_find(name);
	ret->name = mem_strdup(ret->tool ? ret->tool->name : name);
	if (!ret->tool && strncmp(name, "mcp_", 4) == 0)
		split_server(command->settings, ret);
	if (!read_call_arguments(ret, invocation_positional(command->invocation, 2), &given, err))
		return false;
	if (ret->tool)
		subject_spell(ret, name, given, &problems);
	else
		ret->arguments = json_incref(given);
	if (problems.len)
		return err_set(err, ERR_INVALID_ARGUMENT, "%.*s", (int)problems.len, problems.data);
	return true;
}

static bool read_mode(const struct policy_command *command, enum approval_mode *ret,
                      struct err *err)
{
	const char *word = invocation_value(command->invocation, FLAG_MODE);

	if (!word)
		*ret = prepare_mode(command->settings, NULL);
	if (!word || policy_mode_parse(word, ret))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT, "Unknown mode \"%s\": use default, auto_edit, "
	                                          "yolo or plan.", word);
}

/* ---- what is shown ------------------------------------------------------------------------ */

static json_t *verdict_json(const struct subject *subject, const struct policy_verdict *verdict)
{
	json_t *document = json_pack("{s:s, s:s, s:s, s:f}", "tool", subject->name, "decision",
	                             policy_decision_name(verdict->decision), "rule",
	                             verdict->rule, "priority", verdict->priority);

	json_object_set_new(document, "message", json_text(span_str(verdict->message)));
	if (verdict->approvals)
		json_object_set(document, "approvals", verdict->approvals);
	if (verdict->commands)
		json_object_set(document, "commands", verdict->commands);
	if (verdict->prefixes)
		json_object_set(document, "prefixes", verdict->prefixes);
	return document;
}

static void put_labelled(struct buf *out, const char *label, const char *text)
{
	buf_str(out, label);
	render_safe(out, span_str(text));
	buf_char(out, '\n');
}

/* A command of several lines is shown as one. */
static void put_command(struct buf *out, const json_t *row)
{
	buf_printf(out, "  %-9s", json_string_value(json_object_get(row, "decision")));
	render_safe(out, json_span(json_object_get(row, "command")));
	buf_str(out, "  (");
	render_safe(out, json_span(json_object_get(row, "rule")));
	buf_str(out, ")\n");
}

/* What several people must do, if anything. */
static void put_approvals(struct buf *out, const json_t *rules)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 10);

	if (!rules)
		return;
	approvals_put_rules(rules, &text);
	put_labelled(out, "needs ", text.data);
}

static void put_verdict(struct buf *out, const struct subject *subject,
                        const struct policy_verdict *verdict)
{
	buf_printf(out, "%s  ", policy_decision_name(verdict->decision));
	put_labelled(out, "", subject->name);
	buf_printf(out, "rule: ");
	render_safe(out, span_str(verdict->rule));
	if (verdict->priority > 0)
		buf_printf(out, " (priority %.3f)", verdict->priority);
	buf_char(out, '\n');
	if (*verdict->message)
		put_labelled(out, "reason: ", verdict->message);
	put_approvals(out, verdict->approvals);
	for (size_t i = 0; i < json_array_size(verdict->commands); i++)
		put_command(out, json_array_get(verdict->commands, i));
	for (size_t i = 0; i < json_array_size(verdict->prefixes); i++)
		put_labelled(out, "\"always\" would allow: ",
		             json_string_value(json_array_get(verdict->prefixes, i)));
}

/* `headless`: the verdict on the same call in a run that cannot ask, if it differs; or NULL. */
static bool show_verdict(const struct policy_command *command, const struct subject *subject,
                         const struct policy_verdict *verdict,
                         const struct policy_verdict *headless, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (invocation_has(command->invocation, FLAG_JSON)) {
		json_auto_t *document = verdict_json(subject, verdict);

		if (headless)
			json_object_set_new(document, "headless",
			                    json_string(policy_decision_name(headless->decision)));
		return output_json(document, output_is_terminal(), err);
	}
	put_verdict(&out, subject, verdict);
	if (headless) {
		buf_printf(&out, "in a run that cannot ask (hasp -p in a script): %s (rule: ",
		           policy_decision_name(headless->decision));
		render_safe(&out, span_str(headless->rule));
		buf_str(&out, ")\n");
	}
	return output_text(buf_view(&out), err);
}

/* ---- check, list ---------------------------------------------------------------------------- */

static int check_call(struct policy_command *command, const struct policy_action *action)
{
	(void)action;
	const char *const roots[] = { command->project, NULL };
	struct subject subject = { 0 };
	struct policy_verdict verdict, headless = { .decision = POLICY_DENY };
	struct err err = ERR_INIT;
	enum approval_mode mode;
	bool ok = subject_read(command, &subject, &err) && read_mode(command, &mode, &err);

	if (!ok) {
		subject_release(&subject);
		return output_fail(&err, CLI_USAGE);
	}
	const struct policy_call call = {
		.tool = subject.name,
		.server = subject.server,
		.server_tool = subject.server_tool,
		.kind = subject.tool ? tool_kind_name(tool_kind_of(subject.tool)) : "other",
		.arguments = subject.arguments,
		.roots = roots,
		.mode = mode,
		.interactive = !invocation_has(command->invocation, FLAG_HEADLESS),
		.trusted = settings_trusted(command->settings),
		.project = command->project,
	};

	policy_set_caller(command->policy,
	                  invocation_value(command->invocation, FLAG_CALLER));
	policy_decide(command->policy, &call, &verdict);
	if (verdict.decision == POLICY_ASK) {
		struct policy_call alone = call;

		alone.interactive = false;
		policy_decide(command->policy, &alone, &headless);
	}
	ok = show_verdict(command, &subject, &verdict, headless.rule ? &headless : NULL, &err);
	policy_verdict_release(&headless);
	policy_verdict_release(&verdict);
	subject_release(&subject);
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static void put_name_words(struct buf *out, const json_t *words)
{
	for (size_t i = 0; i < json_array_size(words); i++) {
		buf_str(out, i ? " " : "");
		render_safe(out, json_span(json_array_get(words, i)));
	}
}

/* \x00 stands between arguments: for eyes a "|" does. --json has the pattern as it is. */
static void put_pattern(struct buf *out, struct span pattern)
{
	while (pattern.len) {
		const char *mark = memmem(pattern.data, pattern.len, "\\x00", 4);
		size_t len = mark ? (size_t)(mark - pattern.data) : pattern.len;

		render_safe(out, span_head(pattern, len));
		buf_str(out, mark ? "|" : "");
		pattern = span_skip(pattern, len + (mark ? 4 : 0));
	}
}

/* --scope: the rules of the user or the project alone. */
static bool row_is_in_scope(const struct policy_command *command, const json_t *row)
{
	const char *scope = invocation_value(command->invocation, FLAG_SCOPE);
	const int tier = (int)json_real_value(json_object_get(row, "priority"));

	return !scope || tier == (strcmp(scope, "user") == 0 ? POLICY_USER : POLICY_WORKSPACE);
}

static void put_rule_row(struct buf *out, const json_t *row)
{
	static const char *const members[] =
		{ "mcpName", "argsPattern", "commandRegex", "subagent" };
	const char *decision = json_string_value(json_object_get(row, "decision"));
	const json_t *modes = json_object_get(row, "modes");
	const json_t *interactive = json_object_get(row, "interactive");

	buf_printf(out, "%.3f  %-9s", json_real_value(json_object_get(row, "priority")),
	           decision ? decision : "checker");
	put_name_words(out, json_object_get(row, "toolName"));
	if (json_object_get(row, "commandPrefix")) {
		buf_str(out, "  commandPrefix: ");
		put_name_words(out, json_object_get(row, "commandPrefix"));
	}
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (!json_object_get(row, members[i]))
			continue;
		buf_printf(out, "  %s: ", members[i]);
		put_pattern(out, json_span(json_object_get(row, members[i])));
	}
	if (json_array_size(modes) < MODE_COUNT) {
		buf_str(out, "  modes: ");
		put_name_words(out, modes);
	}
	if (interactive)
		buf_str(out, json_is_true(interactive) ? "  interactive" : "  headless");
	buf_str(out, "  (");
	render_safe(out, json_span(json_object_get(row, "rule")));
	buf_str(out, ")\n");
}

static int list_rules(struct policy_command *command, const struct policy_action *action)
{
	(void)action;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = policy_list(command->policy);
	struct err err = ERR_INIT;
	bool ok;

	for (size_t i = json_array_size(rows); i-- > 0;)
		if (!row_is_in_scope(command, json_array_get(rows, i)))
			json_array_remove(rows, i);

	if (invocation_has(command->invocation, FLAG_JSON)) {
		ok = output_json(rows, output_is_terminal(), &err);
	} else {
		buf_str(&out,
		        "PRIO   DECISION TOOLS, CONDITIONS (WHERE THE RULE STANDS); the first that "
		              "fits decides\n");
		for (size_t i = 0; i < json_array_size(rows); i++)
			put_rule_row(&out, json_array_get(rows, i));
		ok = output_text(buf_view(&out), &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- the policies ---- */

/* Except the one that is the error. */
static void print_rule_problems(const json_t *problems, const struct err *err)
{
	for (size_t i = 0; i < json_array_size(problems); i++) {
		_cleanup_free_ char *text = setup_policy_problem_text(json_array_get(problems, i));

		if (strcmp(text, err->message) != 0)
			output_complain(text);
	}
}

/* Reads the policies, in place of those read before. */
static bool load_policies(struct policy_command *command, struct err *err)
{
	size_t count;
	_cleanup_free_ const char **files = invocation_values(command->invocation, FLAG_POLICY,
	                                                      &count);
	_cleanup_free_ const char **admin_files = invocation_values(command->invocation,
	                                                            FLAG_ADMIN_POLICY, &count);
	_cleanup_free_ char *lost = NULL; /* among the problems */
	json_auto_t *problems = json_array();
	bool ok;

	policy_free(command->policy);
	command->policy = NULL;
	const struct policy_sources sources = {
		.settings = command->settings, .files = files, .admin_files = admin_files,
	};

	ok = policy_load(&sources, problems, &command->policy, &lost, err);
	if (!command->changes)
		print_rule_problems(problems, err);
	return ok;
}

/* A row of the table of actions, at the end. */
struct policy_action {
	const char *name;
	size_t least, most; /* arguments after it */
	int (*run)(struct policy_command *command, const struct policy_action *action);
	enum policy_decision decision; /* of a rule that is written */
	bool removes;
};

/* ---- allow, ask, deny, remove ---------------------------------------------------------------- */

/* The verdict in the default mode on a call that the rule is about. */
static void decide_on_rule(const struct policy_command *command, const struct rule_words *words,
                           struct policy_verdict *ret)
{
	const char *const roots[] = { command->project, NULL };
	const struct tool *tool = tool_find(words->tool);
	json_auto_t *arguments = words->prefix ? json_pack("{s:s}", "command", words->prefix) :
	                                         json_object();
	struct subject subject = { .name = mem_strdup(words->tool) };

	if (strncmp(words->tool, "mcp_", 4) == 0)
		split_server(command->settings, &subject);

	const struct policy_call call = {
		.tool = words->tool,
		.server = subject.server,
		.server_tool = subject.server_tool,
		.kind = tool ? tool_kind_name(tool_kind_of(tool)) : "other",
		.arguments = arguments,
		.roots = roots,
		.mode = MODE_DEFAULT,
		.interactive = true,
		.trusted = settings_trusted(command->settings),
		.project = command->project,
	};

	policy_decide(command->policy, &call, ret);
	subject_release(&subject);
}

/* A prefix is compared with single commands: one that is not of that kind would match nothing. */
static bool check_rule_words(const struct policy_command *command, const struct rule_words *words,
                             struct err *err)
{
	struct policy_verdict verdict;
	size_t count;

	if (!words->prefix)
		return true;
	decide_on_rule(command, words, &verdict);
	count = json_array_size(verdict.commands);
	policy_verdict_release(&verdict);
	return count == 1 ||
	       err_set(err, ERR_INVALID_ARGUMENT,
	               "A rule is about the beginning of one command, such as \"npm test\": "
	               "\"%.200s\" is %s.", words->prefix, count ? "several" : "none");
}

static json_t *rule_words_json(const struct policy_command *command,
                               const struct rule_words *words)
{
	_cleanup_free_ char *file = mem_printf("%s/auto-saved.toml", words->folder);
	json_t *document = json_pack("{s:s, s:o}", "action",
	                             invocation_positional(command->invocation, 0), "file",
	                             json_cstr(file));

	if (words->written.path)
		json_object_set_new(document, "path", json_cstr(words->written.path));
	else
		json_object_set_new(document, "tool", json_cstr(words->tool));
	if (words->prefix)
		json_object_set_new(document, "commandPrefix", json_cstr(words->prefix));
	return document;
}

static void put_rule_subject(struct buf *out, const struct rule_words *words)
{
	if (words->written.path)
		render_printf(out, "changes of %s", words->written.path);
	else if (words->prefix)
		render_printf(out, "commands that begin with \"%s\"", words->prefix);
	else if (words->written.edits)
		buf_str(out, "edits of files, by any tool");
	else if (!strcmp(words->tool, tool_name(TOOL_RUN_SHELL_COMMAND)))
		buf_str(out, "all commands");
	else
		render_printf(out, "calls of %s", words->tool);
}

/* Whether the rule that was written decides, of the rules as they are now read; a sentence about
 * the one that does otherwise. */
static bool rule_decides(const struct policy_command *command, const struct rule_words *words,
                         json_t *document, struct buf *out)
{
	struct policy_verdict verdict;
	bool decides;

	if (words->written.path || words->removes)
		return true;
	decide_on_rule(command, words, &verdict);
	decides = verdict.decision == words->written.decision;
	json_object_set_new(document, "decision",
	                    json_string(policy_decision_name(verdict.decision)));
	json_object_set_new(document, "rule", json_cstr(verdict.rule));
	if (!decides)
		render_printf(out, "The rule is written, but another rule decides here: %s (%s).\n",
		              verdict.rule, policy_decision_name(verdict.decision));
	policy_verdict_release(&verdict);
	return decides;
}

static bool show_written_rule(const struct policy_command *command, const struct rule_words *words,
                      struct err *err)
{
	static const char *const done[] = { "Allowed", "Always asked about", "Denied" };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *document = rule_words_json(command, words);

	if (rule_decides(command, words, document, &out)) {
		render_printf(&out, "%s from now on: ", words->removes ? "Without a rule" :
		                    done[words->written.decision]);
		put_rule_subject(&out, words);
		buf_str(&out, ".\n");
	}
	render_printf(&out, "%s %s/auto-saved.toml\n",
	              words->removes ? "Removed from" : "Written to", words->folder);
	if (invocation_has(command->invocation, FLAG_JSON))
		return output_json(document, output_is_terminal(), err);
	return output_text(buf_view(&out), err);
}

static int change_rules(struct policy_command *command, const struct policy_action *action)
{
	const bool removes = action->removes;
	const char *scope = invocation_value(command->invocation, FLAG_SCOPE);
	struct rule_words words = { .written.decision = action->decision, .removes = removes };
	const struct file_lock_wait wait = { .max_ms = settings_lock_wait_ms(command->settings) };
	struct err err = ERR_INIT;
	bool ok = policy_words_read(invocation_positional(command->invocation, 1),
	                          invocation_positional(command->invocation, 2),
	                          invocation_value(command->invocation, FLAG_PATH), &words, &err) &&
	          check_rule_words(command, &words, &err);
	int code = CLI_USAGE;

	if (ok) {
		code = CLI_FAILED;
		words.folder = scope && strcmp(scope, "user") != 0 ?
		                       mem_printf("%s/.gemini/policies", command->project) :
		                       setup_policy_save_folder(command->settings);
		ok = removes ? policy_remove_rule(words.folder, &words.written, &wait, &err) :
		               policy_write_rule(words.folder, &words.written, &wait, &err);
		if (!ok && err.code == ERR_INVALID_ARGUMENT && !removes)
			code = CLI_USAGE;
	}
	command->changes = false;
	if (ok)
		ok = load_policies(command, &err) && show_written_rule(command, &words, &err);
	policy_words_release(&words);
	return ok ? CLI_OK : output_fail(&err, code);
}

/* ---- the command ---- */

/* To add an action: a row here, and a word in policy_choices (cli/options/options.c). */
static const struct policy_action actions[] = {
	{ "list", 0, 0, list_rules, POLICY_ALLOW, false },
	{ "check", 1, 2, check_call, POLICY_ALLOW, false },
	{ "allow", 0, 2, change_rules, POLICY_ALLOW, false },
	{ "ask", 0, 2, change_rules, POLICY_ASK, false },
	{ "deny", 0, 2, change_rules, POLICY_DENY, false },
	{ "remove", 0, 2, change_rules, POLICY_ALLOW, true },
};

/* NULL with *err: it is none, or has too few or too many arguments. */
static const struct policy_action *policy_action_find(const struct invocation *invocation,
                                                      struct err *err)
{
	const char *word = invocation_positional(invocation, 0);
	const size_t given = invocation->positional_count ? invocation->positional_count - 1 : 0;

	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		const struct policy_action *action = &actions[i];

		if (strcmp(action->name, word ? word : "list") != 0)
			continue;
		if (given >= action->least && given <= action->most)
			return action;
		err_set(err, ERR_INVALID_ARGUMENT, given < action->least ?
		        "hasp policy %s requires a tool." :
		        "hasp policy %s: too many arguments; quote a command.", action->name);
		return NULL;
	}
	err_set(err, ERR_INVALID_ARGUMENT, "Unknown action: %.100s", word);
	return NULL;
}

int command_run_policy(const struct invocation *invocation)
{
	struct policy_command command = { .invocation = invocation };
	struct err err = ERR_INIT;
	const struct policy_action *action = policy_action_find(invocation, &err);
	int code;

	if (!action)
		return output_fail(&err, CLI_USAGE);
	command.changes = action->run == change_rules;
	if (!command_open_project(invocation, &command.project, &command.settings, &err) ||
	    !load_policies(&command, &err))
		code = output_fail(&err, CLI_FAILED);
	else
		code = action->run(&command, action);
	policy_free(command.policy);
	settings_free(command.settings);
	free(command.project);
	return code;
}
