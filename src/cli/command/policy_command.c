/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp policy`: what would be decided on a call, by which rule; and all rules. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/policy_load.h"
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
#include "policy/policy.h"
#include "tool/spelling.h"
#include "tool/tool.h"

struct policy_command {
	const struct invocation *invocation;
	struct settings *settings;
	struct policy *policy;
	char *project;
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
		word = settings_string(command->settings, "general.defaultApprovalMode", "default");
	if (policy_mode_parse(word, ret))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT, "There is no mode \"%s\".", word);
}

/* ---- what is shown ------------------------------------------------------------------------ */

static json_t *verdict_json(const struct subject *subject, const struct policy_verdict *verdict)
{
	json_t *document = json_pack("{s:s, s:s, s:s, s:f}", "tool", subject->name, "decision",
	                             policy_decision_name(verdict->decision), "rule",
	                             verdict->rule, "priority", verdict->priority);

	json_object_set_new(document, "message", json_text(span_str(verdict->message)));
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
		buf_printf(&out, "where nobody can be asked (hasp -p in a script): %s (rule: ",
		           policy_decision_name(headless->decision));
		render_safe(&out, span_str(headless->rule));
		buf_str(&out, ")\n");
	}
	return output_text(buf_view(&out), err);
}

/* ---- check, list ---------------------------------------------------------------------------- */

static int check_call(struct policy_command *command)
{
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

static int list_rules(struct policy_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = policy_list(command->policy);
	struct err err = ERR_INIT;
	bool ok;

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

/* ---- the command ---- */

/* Except the one that is the error. */
static void print_rule_problems(const json_t *problems, const struct err *err)
{
	for (size_t i = 0; i < json_array_size(problems); i++) {
		_cleanup_free_ char *text = setup_policy_problem_text(json_array_get(problems, i));

		if (strcmp(text, err->message) != 0)
			output_complain(text);
	}
}

static bool open_policies(struct policy_command *command, struct err *err)
{
	size_t count;
	_cleanup_free_ const char **files = invocation_values(command->invocation, FLAG_POLICY,
	                                                      &count);
	_cleanup_free_ const char **admin_files = invocation_values(command->invocation,
	                                                            FLAG_ADMIN_POLICY, &count);
	_cleanup_free_ char *lost = NULL; /* among the problems */
	json_auto_t *problems = json_array();
	bool ok;

	if (!command_open_project(command->invocation, &command->project, &command->settings, err))
		return false;
	const struct policy_sources sources = {
		.settings = command->settings, .files = files, .admin_files = admin_files,
	};

	ok = policy_load(&sources, problems, &command->policy, &lost, err);
	print_rule_problems(problems, err);
	return ok;
}

int command_run_policy(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	bool checks = action && strcmp(action, "check") == 0;
	size_t words = invocation->positional_count;
	struct policy_command command = { .invocation = invocation };
	struct err err = ERR_INIT;
	int code;

	if (checks ? words < 2 : words != 1) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "hasp policy check TOOL [ARGS], or hasp policy list");
		return output_fail(&err, CLI_USAGE);
	}
	if (!open_policies(&command, &err))
		code = output_fail(&err, CLI_FAILED);
	else
		code = checks ? check_call(&command) : list_rules(&command);
	policy_free(command.policy);
	settings_free(command.settings);
	free(command.project);
	return code;
}
