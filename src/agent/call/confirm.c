/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/call.h"

#include <string.h>

#include "agent/call/gate.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "shell/analysis.h"

enum { ROOTS_MAX = 64 };

/* One question on its way. */
struct asking {
	struct call *call;
	struct agent *agent;
	const struct tool_question *question;
	json_t *message;         /* owned */
	json_t *outcomes;        /* of it; borrowed */
};

/* ---- what is shown ----------------------------------------------------------------- */

/* The whole new content of an edit, from a dry run that carries it; of several files there is
 * none. */
static json_t *new_content(struct call *call, const struct tool_question *question)
{
	json_auto_t *dry = json_copy((json_t *)question->arguments);
	json_auto_t *plan = NULL;
	json_t *content;

	if (json_object_get(dry, "changes"))
		return json_null();
	json_object_set_new(dry, "dry_run", json_true());
	json_object_set_new(dry, "return_content", json_string("full"));
	plan = question->tool->run_as ?
	               question->tool->run_as(&call->session, question->tool, dry) :
	               question->tool->run(&call->session, dry);
	content = json_object_get(json_object_get(plan, "planned_state"), "content");
	return content ? json_incref(content) : json_null();
}

static json_t *read_old_content(struct call *call, const char *path)
{
	struct provider *provider = call->session.provider;
	struct read_request request = { .path = path, .whole = true };
	struct read_result read = { 0 };
	struct err err = ERR_INIT;
	json_t *content;

	if (path && provider->ops->read(provider, &request, &read, &err) && read.kind != READ_MEDIA)
		content = json_text(buf_view(&read.content));
	else
		content = json_null();
	read_result_release(&read);
	return content;
}

static void all_diffs(const json_t *plan, struct buf *out)
{
	size_t i;
	json_t *change;

	buf_span(out, json_span(json_object_get(plan, "diff")));
	json_array_foreach(json_object_get(plan, "changes"), i, change)
		buf_span(out, json_span(json_object_get(change, "diff")));
}

/* The real file, links resolved: what is approved is what is written. */
static const char *real_path(const struct tool_question *question)
{
	const json_t *plan = question->plan;
	const json_t *first = json_array_get(json_object_get(plan, "changes"), 0);
	const json_t *state = json_object_get(first ? first : plan, "latest_file_state");

	return json_string_value(json_object_get(state, "file_path"));
}

static json_t *edit_details(struct asking *asking)
{
	const struct tool_question *question = asking->question;
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	const char *path = real_path(question), *name = path ? strrchr(path, '/') : NULL;
	json_t *details = json_object();
	bool several = json_object_get(question->arguments, "changes") != NULL;

	all_diffs(question->plan, &diff);
	json_object_set_new(details, "type", json_string("edit"));
	json_object_set_new(details, "title",
	                    json_string(several ? "Confirm Changes" : "Confirm Edit"));
	json_object_set_new(details, "filePath", json_cstr(path ? path : ""));
	json_object_set_new(details, "fileName", json_cstr(name ? name + 1 : path ? path : ""));
	json_object_set_new(details, "fileDiff", json_text(buf_view(&diff)));
	json_object_set_new(details, "originalContent",
	                    several ? json_null() : read_old_content(asking->call, path));
	json_object_set_new(details, "newContent", new_content(asking->call, question));
	return details;
}

static json_t *exec_details(const struct asking *asking)
{
	const json_t *arguments = asking->question->arguments;
	json_t *prefixes = asking->call->verdict.prefixes;
	struct span command = json_span(json_object_get(arguments, "command"));
	_cleanup_buf_ struct buf summary = BUF_INIT(4 * LIMIT_SHELL_ALL_BYTES);
	struct span roots[ROOTS_MAX];
	struct shell_analysis analysis;
	json_t *details = json_object(), *names = json_array(), *problems = json_array();
	json_t *denials;
	size_t count;

	shell_analyse(command, &analysis);
	shell_summary(&analysis, &summary);
	count = shell_roots(&analysis, roots, ROOTS_MAX);
	for (size_t i = 0; i < count && i < ROOTS_MAX; i++)
		json_array_append_new(names, json_text(roots[i]));
	for (size_t i = 0; i < analysis.problem_count; i++)
		json_array_append_new(problems, json_string(
			shell_problem_sentence(analysis.problems[i].kind)));
	json_object_set_new(details, "type", json_string("exec"));
	json_object_set_new(details, "title", json_string("Confirm Shell Command"));
	json_object_set_new(details, "command", json_text(command));
	json_object_set_new(details, "rootCommand",
	                    count ? json_text(roots[0]) : json_string(""));
	json_object_set_new(details, "rootCommands", names);
	json_object_set_new(details, "summary", json_text(buf_view(&summary)));
	json_object_set_new(details, "problems", problems);
	if (json_array_size(prefixes))
		json_object_set(details, "commandPrefixes", prefixes);
	denials = foreseen_denials(asking->call, &analysis, arguments);
	if (denials)
		json_object_set_new(details, "denials", denials);
	shell_analysis_release(&analysis);
	return details;
}

static json_t *mcp_details(const struct tool *tool)
{
	json_t *details = json_object();

	json_object_set_new(details, "type", json_string("mcp"));
	json_object_set_new(details, "title", json_string("Confirm MCP Tool Execution"));
	json_object_set_new(details, "serverName", json_cstr(tool->server));
	json_object_set_new(details, "toolName", json_cstr(tool->server_tool));
	json_object_set_new(details, "toolDisplayName",
	                    json_cstr(tool->title ? tool->title : tool->server_tool));
	return details;
}

static json_t *info_details(const struct tool_question *question)
{
	const struct tool *tool = question->tool;
	const json_t *arguments = question->arguments;
	_cleanup_free_ char *about = question->preview ? mem_strdup(question->preview) :
	                                                 display_call(tool, arguments);
	json_t *details = json_object(), *urls = json_array();
	const json_t *url = json_object_get(arguments, "url");

	if (json_is_string(url))
		json_array_append(urls, (json_t *)url);
	json_object_set_new(details, "type", json_string("info"));
	json_object_set_new(details, "title", json_cstr(tool->title ? tool->title : tool->name));
	json_object_set_new(details, "prompt", json_text(span_str(about)));
	json_object_set_new(details, "urls", urls);
	return details;
}

static bool is_shell_command(const struct tool *tool)
{
	return !tool->server && !strcmp(tool->name, "run_shell_command");
}

static json_t *details_of(struct asking *asking)
{
	const struct tool *tool = asking->question->tool;

	if (tool->plans && asking->question->plan)
		return edit_details(asking);
	if (is_shell_command(tool))
		return exec_details(asking);
	if (tool->server)
		return mcp_details(tool);
	return info_details(asking->question);
}

/* ---- what may be answered ---------------------------------------------------------- */

static bool can_always(const struct asking *asking)
{
	const struct call *call = asking->call;

	/* A hook would ask again, and permissions beyond the sandbox are for one command. */
	if (!asking->agent->may_always || call->hook_asks || !asking->agent->options.policy ||
	    tool_wants_more(asking->question->arguments))
		return false;
	return !is_shell_command(asking->question->tool) || json_array_size(call->verdict.prefixes);
}

static bool can_save(const struct asking *asking)
{
	return asking->agent->may_save && asking->agent->options.policy_folder &&
	       can_always(asking);
}

static bool is_one_edit(const struct tool_question *question)
{
	return question->tool->plans && question->plan && question->modified_tool &&
	       !json_object_get(question->arguments, "changes");
}

static json_t *outcomes_of(const struct asking *asking)
{
	const bool server = asking->question->tool->server != NULL;
	const struct {
		const char *name;
		bool offered;
	} rows[] = {
		{ "proceed_once", true },
		{ "proceed_always", can_always(asking) && !server },
		{ "proceed_always_tool", can_always(asking) && server },
		{ "proceed_always_server", can_always(asking) && server },
		{ "proceed_always_and_save", can_save(asking) },
		{ "modify_with_editor", is_one_edit(asking->question) },
		{ "cancel", true },
	};
	json_t *outcomes = json_array();

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].offered)
			json_array_append_new(outcomes, json_string(rows[i].name));
	return outcomes;
}

static json_t *question_message(struct asking *asking)
{
	const struct tool *tool = asking->question->tool;
	const struct call *call = asking->call;
	json_t *message = json_object();

	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(tool->name));
	if (tool->server)
		json_object_set_new(message, "serverName", json_cstr(tool->server));
	json_object_set(message, "arguments", (json_t *)asking->question->arguments);
	json_object_set_new(message, "details", details_of(asking));
	asking->outcomes = outcomes_of(asking);
	json_object_set_new(message, "outcomes", asking->outcomes);
	if (call->ask_reason)
		json_object_set_new(message, "reason", json_text(span_str(call->ask_reason)));
	else if (call->has_verdict && call->verdict.message[0])
		json_object_set_new(message, "reason", json_text(span_str(call->verdict.message)));
	return message;
}

/* ---- what follows ------------------------------------------------------------------ */

static void publish_update(struct asking *asking, const char *server, bool saved)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "toolName", json_string(asking->question->tool->name));
	if (is_shell_command(asking->question->tool) && asking->call->verdict.prefixes)
		json_object_set(message, "commandPrefix", asking->call->verdict.prefixes);
	if (server)
		json_object_set_new(message, "serverName", json_cstr(server));
	json_object_set_new(message, "saved", json_boolean(saved));
	bus_publish(asking->agent->options.bus, BUS_UPDATE_POLICY, message);
}

/* "Always": for what is left of the session. Of a tool: document 2, per tool, not a mode. */
static void allow_for_session(struct asking *asking, const char *server)
{
	const struct tool *tool = asking->question->tool;

	policy_allow_for_session(asking->agent->options.policy, tool->name,
	                         is_shell_command(tool) ? asking->call->verdict.prefixes : NULL,
	                         server,
	                         agent_mode(asking->agent));
	publish_update(asking, server, false);
}

static void append_escaped(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (strchr("\\^$.|?*+()[]{}/", text.data[i]))
			buf_char(out, '\\');
		buf_char(out, text.data[i]);
	}
}

/* An edit that is always allowed is so for its file: a pattern for the arguments' text. */
static char *file_pattern(const json_t *arguments)
{
	_cleanup_buf_ struct buf name = BUF_INIT(8 * LIMIT_PATH_BYTES);
	_cleanup_buf_ struct buf pattern = BUF_INIT(16 * LIMIT_PATH_BYTES);
	const json_t *path = json_object_get(arguments, "file_path");

	if (!json_string_length(path))
		return NULL;
	json_print(&name, path, 0);
	buf_str(&pattern, "\"file_path\":");
	append_escaped(&pattern, buf_view(&name));
	return pattern.overflowed ? NULL : buf_steal(&pattern);
}

static void wait_notice(void *data, const char *severity, const char *message)
{
	agent_notice(data, severity, message);
}

static void save_rule(struct asking *asking)
{
	const struct agent_options *options = &asking->agent->options;
	const struct file_lock_wait wait = { .cancel = options->cancel, .data = asking->agent,
		                             .max_ms = settings_lock_wait_ms(options->settings),
		                             .notice = wait_notice };
	const struct tool *tool = asking->question->tool;
	_cleanup_free_ char *pattern =
		tool->plans ? file_pattern(asking->question->arguments) : NULL;
	struct err err = ERR_INIT;

	if (policy_save(options->policy, options->policy_folder, tool->name,
	                is_shell_command(tool) ? asking->call->verdict.prefixes : NULL, NULL,
	                pattern,
	                agent_mode(asking->agent), &wait, &err)) {
		publish_update(asking, NULL, true);
		return;
	}
	agent_notice(asking->agent, "warning", err.message);
	allow_for_session(asking, NULL);
}

/* What somebody made of the file is written as a whole, if the file is what the question was
 * about. Of a review it is exact: lines that are not taken keep their endings. */
static bool use_modified_content(struct asking *asking, const json_t *answer, struct err *err)
{
	const struct tool_question *question = asking->question;
	json_t *content = json_object_get(answer, "newContent");
	const json_t *details = json_object_get(asking->message, "details");
	const json_t *base = json_object_get(question->arguments, "base_content_sha256");
	json_t *arguments;

	if (!json_is_string(content))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The answer modify_with_editor came without newContent; nothing was "
		               "written.");
	asking->call->decision = DECISION_MODIFY;
	if (json_equal(content, json_object_get(details, "newContent")))
		return true;
	asking->call->modified = true;
	arguments = json_object();
	json_object_set(arguments, "file_path", json_object_get(question->arguments, "file_path"));
	json_object_set(arguments, "content", content);
	if (json_string_length(base))
		json_object_set(arguments, "base_content_sha256", (json_t *)base);
	if (asking->call->review)
		json_object_set_new(arguments, "exact_line_endings", json_true());
	if (asking->call->session.return_content == RETURN_NONE ||
	    json_object_get(question->arguments, "return_content"))
		json_object_set_new(arguments, "return_content", json_string("diff"));
	*question->modified = arguments;
	*question->modified_tool = "write_file";
	return true;
}

static bool decline_call(struct asking *asking, const json_t *answer, struct err *err)
{
	struct span said = span_trim(json_span(json_object_get(answer, "message")));

	asking->call->decision = DECISION_REJECT;
	asking->call->refused = !said.len;
	if (said.len)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: The user declined this call, and says: %.*s",
		               (int)said.len, said.data);
	return err_set(err, ERR_DENIED_BY_USER, "Denied By User: The user declined this call.");
}

static bool follow_answer(struct asking *asking, const json_t *answer, struct err *err)
{
	const struct tool *tool = asking->question->tool;
	const char *outcome = json_string_value(json_object_get(answer, "outcome"));
	json_t *hunks = json_object_get(json_object_get(answer, "review"), "hunks");

	if (json_array_size(hunks))
		asking->call->review = json_incref(hunks);
	if (!json_lists(asking->outcomes, span_str(outcome)) || !strcmp(outcome, "cancel"))
		return decline_call(asking, answer, err);
	asking->call->decision = DECISION_ACCEPT;
	if (!strcmp(outcome, "modify_with_editor"))
		return use_modified_content(asking, answer, err);
	if (!strcmp(outcome, "proceed_always") || !strcmp(outcome, "proceed_always_tool"))
		allow_for_session(asking, NULL);
	else if (!strcmp(outcome, "proceed_always_server"))
		allow_for_session(asking, tool->server);
	else if (!strcmp(outcome, "proceed_always_and_save"))
		save_rule(asking);
	return true;
}

static bool refuse_unasked(struct asking *asking, struct err *err)
{
	const struct tool *tool = asking->question->tool;
	const char *mode = tool->kind == TOOL_KIND_EDIT ? "auto_edit" : "yolo";

	asking->call->decision = DECISION_REJECT;
	asking->call->wants = tool_wants_more(asking->question->arguments) ? CALL_WANTS_FLAGS :
	                      asking->call->hook_asks ? CALL_WANTS_HOOK : CALL_WANTS_RULE;
	if (asking->call->wants == CALL_WANTS_FLAGS)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: Nobody can be asked here about additional "
		               "permissions. The user can give them when hasp is started: --net, "
		               "--write PATH, --read PATH. Nothing was run.");
	if (asking->call->wants == CALL_WANTS_HOOK)
		return err_set(err, ERR_DENIED_BY_USER,
		               "Denied By User: A hook wants somebody asked about this call, and "
		               "nobody can be asked here%s%s",
		               asking->call->ask_reason ? ". It says: " : ".",
		               asking->call->ask_reason ? asking->call->ask_reason : "");
	return err_set(err, ERR_DENIED_BY_USER,
	               "Denied By User: %s has to be confirmed, and nobody can be asked here. The "
	               "user can allow it beforehand: by a policy rule, with --allowed-tools %s, "
	               "or with --approval-mode %s.",
	               tool->name, tool->name, mode);
}

/* ---- what the model is told of it ---------------------------------------------------- */

enum { REVIEW_TEXT_MAX = 64 << 10 };

static void put_reviewed_hunk(struct buf *out, size_t number, const json_t *hunk)
{
	const json_t *taken = json_object_get(hunk, "taken");
	struct span header = json_span(json_object_get(hunk, "header"));
	struct span comment = span_trim(json_span(json_object_get(hunk, "comment")));

	buf_printf(out, " Hunk %zu", number);
	if (header.len)
		buf_printf(out, " (%.*s)", (int)header.len, header.data);
	buf_str(out, json_is_true(taken) ? ": taken" :
	             json_is_string(taken) ? ": taken as the user edited it" :
	                                     ": not taken");
	if (comment.len)
		buf_printf(out, "; the user says: %.*s", (int)comment.len, comment.data);
	if (!comment.len || !strchr(".!?", comment.data[comment.len - 1]))
		buf_char(out, '.');
}

static void put_review(struct buf *out, const struct call *call, bool success)
{
	size_t i, taken = 0, count = json_array_size(call->review);
	json_t *hunk;

	json_array_foreach(call->review, i, hunk)
		taken += !json_is_false(json_object_get(hunk, "taken"));
	buf_printf(out, "The user went through this edit hunk by hunk and took %zu of %zu%s.",
	           taken, count,
	           success || !taken ? "" : ", but the call failed: nothing was written");
	json_array_foreach(call->review, i, hunk)
		put_reviewed_hunk(out, i + 1, hunk);
	if (success && taken < count)
		buf_str(out, " latest_file_state is what stands now: go on from it, and do not "
		             "send what was not taken again unless the user asks for it.");
}

void agent_confirm_report(struct call *call)
{
	_cleanup_buf_ struct buf text = BUF_INIT(REVIEW_TEXT_MAX);
	bool success = !tool_result_failed(call->result);
	json_t *report;

	if (!json_is_object(call->result) ||
	    (!call->review && !(call->modified && success) && !call->expansion))
		return;
	if (call->review)
		put_review(&text, call, success);
	else if (call->expansion)
		buf_str(&text, call->expansion);
	else
		buf_str(&text, "The user changed this edit before it was applied. "
		               "latest_file_state is what stands now: go on from it.");
	report = json_object();
	json_object_set_new(report, "message", json_text(buf_view(&text)));
	if (call->review)
		json_object_set(report, "hunks", call->review);
	if (call->runs)
		json_object_set_new(report, "runs", json_integer(call->runs + 1));
	json_object_set_new(call->result, "user_review", report);
}

/* ---- asking ------------------------------------------------------------------------ */

bool confirm_can_ask(const struct agent *agent)
{
	return agent->options.interactive && agent->options.bus &&
	       bus_has_listener(agent->options.bus, BUS_TOOL_CONFIRMATION_REQUEST);
}

static void notify_hooks(struct agent *agent, const struct tool *tool, const json_t *message)
{
	json_auto_t *input = NULL;
	struct hook_outcome outcome;

	if (!agent_has_hooks(agent, HOOK_NOTIFICATION, "ToolPermission"))
		return;
	input = json_object();
	json_object_set_new(input, "notification_type", json_string("ToolPermission"));
	json_object_set_new(input, "message",
	                    json_pack("s++", "Tool ", tool->name, " requires confirmation"));
	json_object_set(input, "details", json_object_get(message, "details"));
	if (agent_fire(agent, HOOK_NOTIFICATION, "ToolPermission", input, &outcome))
		hook_outcome_release(&outcome);
}

enum bus_reply confirm_put(struct agent *agent, const struct tool *tool, json_t *message,
                           json_t **ret_answer)
{
	notify_hooks(agent, tool, message);
	return bus_ask(agent->options.bus, BUS_TOOL_CONFIRMATION_REQUEST, message, 0,
	               agent->options.cancel, ret_answer);
}

static bool put_question(struct asking *asking, struct err *err)
{
	json_auto_t *answer = NULL;
	enum bus_reply reply;

	asking->message = question_message(asking);
	reply = confirm_put(asking->agent, asking->question->tool, asking->message, &answer);
	if (reply == BUS_ANSWERED)
		return follow_answer(asking, answer, err);
	if (reply == BUS_CANCELLED)
		return err_set(err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
	return refuse_unasked(asking, err);
}

/* What was answered about another call in the meantime may answer this one. */
static bool answered_by_now(struct asking *asking)
{
	if (asking->call->hook_asks || tool_wants_more(asking->question->arguments) ||
	    gate_decide(asking->call, asking->question->tool, asking->question->arguments) !=
	            CALL_ALLOW)
		return false;
	asking->call->decision = DECISION_AUTO;
	return true;
}

static bool ask_in_turn(struct asking *asking, struct err *err)
{
	bool yes;

	pthread_mutex_lock(&asking->agent->top->asking);
	if (cancelled(asking->agent->options.cancel))
		yes = err_set(err, ERR_CANCELLED, "The call was cancelled; nothing was done.");
	else
		yes = answered_by_now(asking) || put_question(asking, err);
	pthread_mutex_unlock(&asking->agent->top->asking);
	return yes;
}

bool agent_confirm_ask(void *data, const struct tool_question *question, struct err *err)
{
	struct call *call = data;
	struct asking asking = { .call = call, .agent = call->agent, .question = question };
	bool yes = confirm_can_ask(call->agent) ? ask_in_turn(&asking, err) :
	           refuse_unasked(&asking, err);

	if (yes)
		gate_about_to_run(call, question->tool, question->arguments);
	json_decref(asking.message);
	return yes;
}
