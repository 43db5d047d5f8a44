/* SPDX-License-Identifier: Apache-2.0 */
/* The subscriber: messages of the bus become events and metrics; their table is at the end. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/door.h"
#include "base/err.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/span.h"
#include "config/extensions.h"
#include "data/json.h"
#include "data/tools.h"
#include "telemetry/private.h"
#include "telemetry/telemetry.h"

/* ---- events ------------------------------------------------------------------- */

/* As Gemini CLI's events spell it. */
static const char *event_mode(const char *mode)
{
	return strcmp(mode, "auto_edit") ? mode : "autoEdit";
}

static void telemetry_on_prompt(struct telemetry *telemetry, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "text"));
	_cleanup_free_ char *body = mem_printf("User prompt. Length: %zu.", text.len);
	json_t *own = json_object();

	telemetry->prompts++;
	spans_on_prompt(telemetry);
	json_object_set_new(own, "prompt_length", json_size(text.len));
	json_object_set_new(own, "prompt_id", telemetry_prompt_id(telemetry));
	if (telemetry->log_prompts)
		json_object_set_new(own, "prompt", telemetry_limited_text(text));
	json_decref(telemetry->prompt);
	telemetry->prompt = telemetry->log_details ?
		json_incref(json_object_get(message, "text")) : NULL;
	event_write(telemetry, "gemini_cli.user_prompt", own, body);
}

static void telemetry_on_call(struct telemetry *telemetry, const json_t *message)
{
	spans_on_call(telemetry);
	if (json_object_size(telemetry->calls) < CALLS_MAX)
		json_object_set(telemetry->calls, telemetry_said(message, "callId"),
		                json_object_get(message, "arguments"));
}

static void metrics_count_lines(struct telemetry *telemetry, const char *tool, const char *type,
                                const json_t *lines)
{
	if (json_integer_value(lines) > 0)
		telemetry_count(telemetry, METRIC_LINES_CHANGED,
		                json_pack("{s:s, s:s}", "function_name", tool, "type", type),
		                json_integer_value(lines));
}

/* "" of a tool that reads and writes no single file. */
static const char *event_file_operation(const char *tool, const json_t *result)
{
	const struct tool_info *info = tool_info_find(tool);

	if (info && info->files == TOOL_FILES_READ)
		return "read";
	if (!info || !info->edit || info->edit == TOOL_EDIT_MANY)
		return "";
	return json_is_true(json_object_get(result, "created")) ? "create" : "update";
}

static void event_write_file_operation(struct telemetry *telemetry, const char *tool,
                                       const json_t *result, const json_t *arguments)
{
	const char *operation = event_file_operation(tool, result);
	const struct tool_info *info = tool_info_find(tool);
	const char *path = json_string_value(tool_first_path(info, arguments));
	const char *dot = path ? strrchr(path, '.') : NULL;
	json_t *own, *tags;
	_cleanup_free_ char *body = mem_printf("File operation: %s.", operation);

	if (!*operation)
		return;
	own = json_pack("{s:s, s:s}", "tool_name", tool, "operation", operation);
	json_object_set_new(own, "lines", telemetry_file_lines(
		tool_edit_content(info, arguments), result));
	if (dot && !strchr(dot, '/'))
		json_object_set_new(own, "extension", telemetry_limited_text(span_str(dot)));
	/* Numbers of lines would make a point of the metric of nearly each call. */
	tags = json_pack("{s:s, s:O*}", "operation", operation, "extension",
	                 json_object_get(own, "extension"));
	event_write(telemetry, "gemini_cli.file_operation", own, body);
	telemetry_count(telemetry, METRIC_FILE_OPERATION_COUNT, tags, 1);
	metrics_count_lines(telemetry, tool, "added", json_object_get(result, "lines_added"));
	metrics_count_lines(telemetry, tool, "removed", json_object_get(result, "lines_removed"));
}

static void event_add_arguments(const struct telemetry *telemetry, json_t *own,
                                const json_t *arguments)
{
	json_auto_t *shown = telemetry_shown_arguments(
		arguments, telemetry->log_details ? telemetry->mask : NULL);
	char *text = json_dumps(shown, JSON_INDENT(2));

	json_object_set_new(own, "function_args",
	                    telemetry_limited_text(span_str(text ? text : "{}")));
	free(text);
}

/* A text that only details have: cut, and then without keys. */
static void event_add_detail(const struct telemetry *telemetry, json_t *own, const char *name,
                             struct span text)
{
	json_auto_t *cut = telemetry_limited_text(text);

	json_object_set_new(own, name, telemetry->mask(json_span(cut)));
}

/* Without details its code alone: the words of a refused edit quote the file, those of a command
 * its output. */
static void event_add_call_error(const struct telemetry *telemetry, json_t *own,
                                 const json_t *error)
{
	json_t *type = json_object_get(error, "type");

	json_object_set(own, "error_type", type);
	json_object_set(own, "error.type", type);
	if (!telemetry->log_details)
		return;
	event_add_detail(telemetry, own, "error", span_str(telemetry_said(error, "message")));
	json_object_set(own, "error.message", json_object_get(own, "error"));
}

/* Of an edit. */
static void event_add_metadata(json_t *own, const json_t *result)
{
	json_t *added = json_object_get(result, "lines_added");
	json_auto_t *metadata = json_pack("{s:O*, s:O*}", "model_added_lines", added,
	                                  "model_removed_lines",
	                                  json_object_get(result, "lines_removed"));
	char *text = json_is_integer(added) ? json_dumps(metadata, JSON_INDENT(2)) : NULL;

	if (text)
		json_object_set_new(own, "metadata", json_text(span_str(text)));
	free(text);
}

/* Of a plan that was approved: what it is worked on in. */
static void event_write_plan(struct telemetry *telemetry)
{
	const json_t *mode = json_string(event_mode(telemetry->mode));

	event_write(telemetry, "gemini_cli.plan.execution",
	            json_pack("{s:O}", "approval_mode", mode), "Plan executed.");
	telemetry_count(telemetry, METRIC_PLAN_EXECUTION_COUNT,
	                json_pack("{s:o}", "approval_mode", mode), 1);
}

static void telemetry_on_result(struct telemetry *telemetry, const json_t *message)
{
	const char *id = telemetry_said(message, "callId");
	const char *instead = telemetry_said(message, "ranName");
	const char *tool = telemetry_tool_name(*instead ? instead :
	                                                  telemetry_said(message, "toolName"));
	const char *server = telemetry_said(message, "serverName");
	const char *kind = *server ? "mcp" : "native";
	const bool success = !strcmp(telemetry_said(message, "status"), "success");
	const struct tool_info *info = *server ? NULL : tool_info_find(tool);
	const json_int_t ms = telemetry_number(message, "durationMs");
	json_t *ran = json_object_get(message, "ranArguments");
	json_auto_t *arguments = json_incref(ran ? ran : json_object_get(telemetry->calls, id));
	_cleanup_free_ char *body = mem_printf("Tool call: %s. Success: %s. Duration: %lldms.",
	                                       tool, success ? "true" : "false", (long long)ms);
	json_t *own = json_pack("{s:s, s:I, s:b, s:o, s:s}", "function_name", tool, "duration_ms",
	                        ms, "success", success, "prompt_id", telemetry_prompt_id(telemetry),
	                        "tool_type", kind);
	json_t *tags;

	json_object_del(telemetry->calls, id);
	json_object_set(own, "decision", json_object_get(message, "decision"));
	json_object_set_new(own, "content_length",
	                    telemetry_json_length(json_object_get(message, "result")));
	event_add_metadata(own, json_object_get(message, "result"));
	if (*server)
		json_object_set_new(own, "mcp_server_name", json_string(server));
	if (telemetry->log_prompts && arguments)
		event_add_arguments(telemetry, own, arguments);
	if (!success)
		event_add_call_error(telemetry, own, json_object_get(message, "error"));
	if (success)
		event_write_file_operation(telemetry, tool, json_object_get(message, "result"),
		                           arguments);
	event_write(telemetry, "gemini_cli.tool_call", own, body);
	tags = json_pack("{s:s, s:b, s:s}", "function_name", tool, "success", success,
	                 "tool_type", kind);
	json_object_set(tags, "decision", json_object_get(message, "decision"));
	telemetry_count(telemetry, METRIC_TOOL_CALL_COUNT, tags, 1);
	telemetry_count(telemetry, METRIC_TOOL_CALL_LATENCY,
	                json_pack("{s:s}", "function_name", tool), ms);
	spans_on_result(telemetry, message, tool);
	if (success && info && info->plan)
		event_write_plan(telemetry);
}

static void telemetry_on_compression(struct telemetry *telemetry, const json_t *message)
{
	const json_int_t before = telemetry_number(message, "before");
	const json_int_t after = telemetry_number(message, "after");
	_cleanup_free_ char *body = mem_printf("Chat compression (Saved %lld tokens)",
	                                       (long long)(before - after));
	json_t *own = json_pack("{s:I, s:I}", "tokens_before", before, "tokens_after", after);

	telemetry_count(telemetry, METRIC_CHAT_COMPRESSION, json_incref(own), 1);
	event_write(telemetry, "gemini_cli.chat_compression", own, body);
}

/* What runs, without its folder and its arguments: a command may have a key in it. */
static json_t *event_hook_name(const struct telemetry *telemetry, const char *name)
{
	struct span program = span_of(name, strcspn(name, " \t\n"));
	const char *slash = memrchr(name, '/', program.len);

	if (telemetry->log_prompts)
		return telemetry_limited_text(span_str(name));
	if (slash)
		program = span_skip(program, (size_t)(slash + 1 - name));
	return telemetry_limited_text(program);
}

/* `value` as a text in an attribute; NULL: "{}". */
static void event_add_json(json_t *own, const char *name, const json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;

	json_object_set_new(own, name, telemetry_limited_text(span_str(text ? text : "{}")));
	free(text);
}

/* What it was given, what it said, and what Gemini CLI makes of that. */
static void event_add_hook_details(const struct telemetry *telemetry, json_t *own,
                                   const json_t *message)
{
	const char *said = telemetry_said(message, "stdout");
	const char *warned = telemetry_said(message, "stderr");
	json_auto_t *input = telemetry_shown_hook_input(json_object_get(message, "input"),
	                                                telemetry->mask);
	json_auto_t *words = *said ? json_pack("{s:s}", "systemMessage", said) : NULL;
	json_auto_t *answer = NULL;
	struct err err = ERR_INIT;

	event_add_json(own, "hook_input", input);
	json_object_set_new(own, "stdout", telemetry_limited_text(span_str(said)));
	json_object_set_new(own, "stderr", telemetry_limited_text(span_str(warned)));
	event_add_json(own, "hook_output", json_parse(span_str(said), &answer, &err) &&
	               json_is_object(answer) ? answer : words);
}

static void telemetry_on_hook(struct telemetry *telemetry, const json_t *message)
{
	const char *event = telemetry_said(message, "event");
	const bool success = json_is_true(json_object_get(message, "success"));
	const json_int_t ms = telemetry_number(message, "durationMs");
	json_t *name = event_hook_name(telemetry, telemetry_said(message, "name"));
	_cleanup_free_ char *body = mem_printf("Hook call %s.%s %s in %lldms", event,
	                                       json_string_value(name),
	                                       success ? "succeeded" : "failed", (long long)ms);
	json_t *tags = json_pack("{s:s, s:O, s:b}", "hook_event_name", event, "hook_name", name,
	                         "success", success);
	json_t *own;

	own = json_pack("{s:s, s:s, s:o, s:I, s:b, s:I}", "hook_event_name", event, "hook_type",
	                "command", "hook_name", name, "duration_ms", ms, "success", success,
	                "exit_code", telemetry_number(message, "exitCode"));
	if (telemetry->log_details)
		event_add_hook_details(telemetry, own, message);
	event_write(telemetry, "gemini_cli.hook_call", own, body);
	telemetry_count(telemetry, METRIC_HOOK_CALL_COUNT, json_incref(tags), 1);
	telemetry_count(telemetry, METRIC_HOOK_CALL_LATENCY, tags, ms);
}

static void event_write_mode_duration(struct telemetry *telemetry)
{
	const char *mode = event_mode(telemetry->mode);
	const uint64_t ms = clock_monotonic_ms() - telemetry->mode_since_ms;
	_cleanup_free_ char *body = mem_printf("Approval mode %s was active for %llums.", mode,
	                                       (unsigned long long)ms);

	event_write(telemetry, "gemini_cli.plan.approval_mode_duration",
	            json_pack("{s:s, s:I}", "mode", mode, "duration_ms", (json_int_t)ms), body);
	telemetry->mode_since_ms += ms;
}

static void telemetry_on_mode_switch(struct telemetry *telemetry, const json_t *message)
{
	const char *mode = event_mode(telemetry_said(message, "mode"));
	const char *before = event_mode(telemetry->mode);
	_cleanup_free_ char *body = mem_printf("Approval mode switched from %s to %s.", before,
	                                       mode);

	event_write_mode_duration(telemetry);
	event_write(telemetry, "gemini_cli.plan.approval_mode_switch",
	            json_pack("{s:s, s:s}", "from_mode", before, "to_mode", mode), body);
	free(telemetry->mode);
	telemetry->mode = mem_strdup(telemetry_said(message, "mode"));
}

static void telemetry_on_loop(struct telemetry *telemetry, const json_t *message)
{
	const bool calls = !strcmp(telemetry_said(message, "kind"), "calls");

	event_write(telemetry, "loop_detected",
	            json_pack("{s:s, s:o, s:I}", "loop_type",
	                      calls ? "consecutive_identical_tool_calls" :
	                              "chanting_identical_sentences", "prompt_id",
	                      telemetry_prompt_id(telemetry), "count",
	                      telemetry_number(message, "count")),
	            "Loop detected.");
}

static void telemetry_on_slash(struct telemetry *telemetry, const json_t *message)
{
	const char *command = telemetry_said(message, "command");
	_cleanup_free_ char *body = mem_printf("Slash command: %s.", command);

	event_write(telemetry, "gemini_cli.slash_command",
	            json_pack("{s:s, s:s}", "command", command, "status",
	                      telemetry_said(message, "status")), body);
}

/* A vote, and the answer that a question got. Names are the user's and their reviewers'. */
static void telemetry_on_question(struct telemetry *telemetry, const json_t *message)
{
	const char *vote = json_string_value(json_object_get(message, "vote"));
	const char *outcome = telemetry_said(message, "outcome");
	_cleanup_free_ char *body = mem_printf(vote ? "Vote: %s." : "Question answered: %s.",
	                                       vote ? vote : outcome);

	event_write(telemetry, vote ? "hasp.question_vote" : "hasp.question_answered",
	            json_pack("{s:s, s:s, s:O*, s:O*, s:O*, s:O*, s:O*, s:O*, s:O*}", "question_id",
	                      telemetry_said(message, "correlationId"), "by",
	                      telemetry_said(message, "by"), "approved_by",
	                      json_object_get(message, "approvedBy"),
	                      "vote", json_object_get(message, "vote"),
	                      "shown", json_object_get(message, "shown"),
	                      "approvals", json_object_get(message, "approvals"),
	                      "needed", json_object_get(message, "needed"),
	                      "question", json_object_get(message, "question"),
	                      "outcome", json_object_get(message, "outcome")), body);
}

static void telemetry_on_truncation(struct telemetry *telemetry, const json_t *message)
{
	const char *tool = telemetry_said(message, "toolName");
	_cleanup_free_ char *body = mem_printf("Tool output truncated for %s.", tool);

	event_write(telemetry, "gemini_cli.tool_output_truncated",
	            json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "eventName",
	                      "tool_output_truncated", "tool_name", tool,
	                      "original_content_length", telemetry_number(message, "before"),
	                      "truncated_content_length", telemetry_number(message, "after"),
	                      "threshold", telemetry_number(message, "limit"), "prompt_id",
	                      telemetry_prompt_id(telemetry)), body);
}

static void telemetry_on_masking(struct telemetry *telemetry, const json_t *message)
{
	const json_int_t before = telemetry_number(message, "before");
	const json_int_t after = telemetry_number(message, "after");
	const json_int_t count = telemetry_number(message, "count");
	_cleanup_free_ char *body = mem_printf("Tool output masking (Masked %lld tool outputs. "
	                                       "Saved %lld tokens)", (long long)count,
	                                       (long long)(before - after));

	event_write(telemetry, "gemini_cli.tool_output_masking",
	            json_pack("{s:I, s:I, s:I, s:I}", "tokens_before", before, "tokens_after",
	                      after, "masked_count", count, "total_prunable_tokens",
	                      telemetry_number(message, "candidates")), body);
}

static void telemetry_on_rewind(struct telemetry *telemetry, const json_t *message)
{
	const char *what = telemetry_said(message, "what");
	const char *outcome = !strcmp(what, "both") ? "rewind_and_revert" :
	                      !strcmp(what, "files") ? "revert_only" : "rewind_only";
	_cleanup_free_ char *body = mem_printf("Rewind performed. Outcome: %s.", outcome);

	event_write(telemetry, "gemini_cli.rewind", json_pack("{s:s}", "outcome", outcome), body);
}

/* How a sub-agent ended, in Gemini CLI's words. */
static const char *event_agent_end(const char *end)
{
	static const struct {
		const char *end, *word;
	} words[] = {
		{ "answered", "GOAL" },      { "turn_limit", "MAX_TURNS" },
		{ "time_limit", "TIMEOUT" }, { "cancelled", "ABORTED" },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(end, words[i].end))
			return words[i].word;
	return "ERROR";
}

/* `own` is taken. */
static void event_write_agent_end(struct telemetry *telemetry, const json_t *message, json_t *own)
{
	const char *name = telemetry_said(message, "agentName");
	const char *end = event_agent_end(telemetry_said(message, "end"));
	const json_int_t ms = telemetry_number(message, "durationMs");
	const json_int_t turns = telemetry_number(message, "turns");
	_cleanup_free_ char *body = mem_printf("Agent %s finished. Reason: %s. Duration: %lldms. "
	                                       "Turns: %lld.", name, end, (long long)ms,
	                                       (long long)turns);

	json_object_set_new(own, "duration_ms", json_integer(ms));
	json_object_set_new(own, "turn_count", json_integer(turns));
	json_object_set_new(own, "terminate_reason", json_string(end));
	event_write(telemetry, "gemini_cli.agent.finish", own, body);
	telemetry_count(telemetry, METRIC_AGENT_RUN_COUNT,
	                json_pack("{s:s, s:s}", "agent_name", name, "terminate_reason", end), 1);
	telemetry_count(telemetry, METRIC_AGENT_DURATION, json_pack("{s:s}", "agent_name", name),
	                ms);
	telemetry_count(telemetry, METRIC_AGENT_TURNS, json_pack("{s:s}", "agent_name", name),
	                turns);
}

static void telemetry_on_agent(struct telemetry *telemetry, const json_t *message)
{
	const char *name = telemetry_said(message, "agentName");
	const char *id = telemetry_said(message, "agentId");
	json_t *own = json_pack("{s:s, s:s}", "agent_id", id, "agent_name", name);
	_cleanup_free_ char *body = NULL;

	if (!strcmp(telemetry_said(message, "state"), "ended")) {
		event_write_agent_end(telemetry, message, own);
		return;
	}
	body = mem_printf("Agent %s started. ID: %s", name, id);
	event_write(telemetry, "gemini_cli.agent.start", own, body);
}

/* The event, as in Gemini CLI, only in interactive sessions. */
static void telemetry_on_answer(struct telemetry *telemetry)
{
	if (telemetry->interactive)
		event_write(telemetry, "gemini_cli.conversation_finished",
		            json_pack("{s:s, s:i}", "approvalMode", event_mode(telemetry->mode),
		                      "turnCount", (int)telemetry->replies),
		            "Conversation finished.");
	telemetry->replies = 0;
	spans_on_answer(telemetry);
}

/* After a reply without calls the prompt is answered.  An interactive session may take
 * days, and what it used is known before its end. */
static void telemetry_on_turn_end(struct telemetry *telemetry, const json_t *message)
{
	const bool answered = strcmp(telemetry_said(message, "reason"), "tools") != 0;

	if (answered)
		telemetry_on_answer(telemetry);
	if (telemetry->interactive &&
	    (answered || !telemetry->metrics_ms ||
	     clock_monotonic_ms() - telemetry->metrics_ms >= METRICS_EVERY_MS))
		telemetry_write_metrics(telemetry);
}

/* Gemini CLI's scopes are in capitals. */
static const char *event_scope(const char *scope)
{
	return !strcmp(scope, "session") ? "Session" :
	       !strcmp(scope, "user")    ? "User" :
	                                   "Workspace";
}

static void telemetry_on_extension(struct telemetry *telemetry, const json_t *message)
{
	static const struct {
		const char *action, *event, *done;
		bool scope, version, previous;
	} rows[] = {
		{ "install", "gemini_cli.extension_install", "Installed", false, true, false },
		{ "uninstall", "gemini_cli.extension_uninstall", "Uninstalled", false, false,
		  false },
		{ "update", "gemini_cli.extension_update", "Updated", false, true, true },
		{ "enable", "gemini_cli.extension_enable", "Enabled", true, false, false },
		{ "disable", "gemini_cli.extension_disable", "Disabled", true, false, false },
	};
	const char *name = telemetry_said(message, "name");
	json_t *own = json_pack("{s:o}", "extension_name", telemetry_limited_text(span_str(name)));

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_free_ char *body = mem_printf("%s extension %s", rows[i].done, name);

		if (strcmp(telemetry_said(message, "action"), rows[i].action) != 0)
			continue;
		if (rows[i].scope)
			json_object_set_new(own, "setting_scope", json_string(event_scope(
				telemetry_said(message, "scope"))));
		else
			json_object_set(own, "status", json_object_get(message, "status"));
		if (rows[i].version) {
			json_object_set(own, "extension_version",
			                json_object_get(message, "version"));
			json_object_set(own, "extension_source",
			                json_object_get(message, "source"));
		}
		if (rows[i].previous)
			json_object_set(own, "extension_previous_version",
			                json_object_get(message, "previousVersion"));
		event_write(telemetry, rows[i].event, json_incref(own), body);
	}
	json_decref(own);
}

/* A row for each topic that events are made of. */
static void (*const takers[BUS_TOPIC_COUNT])(struct telemetry *telemetry, const json_t *message) = {
	[BUS_PROMPT] = telemetry_on_prompt,
	[BUS_API_REQUEST] = telemetry_on_request,
	[BUS_CONTENT] = telemetry_on_content,
	[BUS_API_RESPONSE] = telemetry_on_response,
	[BUS_API_ERROR] = telemetry_on_failure,
	[BUS_TOOL_CALL] = telemetry_on_call,
	[BUS_TOOL_RESULT] = telemetry_on_result,
	[BUS_COMPRESSED] = telemetry_on_compression,
	[BUS_HOOK_CALL] = telemetry_on_hook,
	[BUS_APPROVAL_MODE] = telemetry_on_mode_switch,
	[BUS_NOTICE] = telemetry_on_notice,
	[BUS_TURN_END] = telemetry_on_turn_end,
	[BUS_LOOP_DETECTED] = telemetry_on_loop,
	[BUS_SLASH_COMMAND] = telemetry_on_slash,
	[BUS_QUESTION_VOTE] = telemetry_on_question,
	[BUS_QUESTION_ANSWERED] = telemetry_on_question,
	[BUS_EXTENSION] = telemetry_on_extension,
	[BUS_OUTPUT_TRUNCATED] = telemetry_on_truncation,
	[BUS_OUTPUTS_MASKED] = telemetry_on_masking,
	[BUS_REWOUND] = telemetry_on_rewind,
	[BUS_AGENT_RUN] = telemetry_on_agent,
};

/* Calls of sub-agents are counted, and no more of them than that. */
static void telemetry_on_subagent(struct telemetry *telemetry, const json_t *message)
{
	static const enum bus_topic counted[] = { BUS_TOOL_CALL, BUS_TOOL_RESULT, BUS_COMPRESSED,
		                                BUS_OUTPUT_TRUNCATED, BUS_OUTPUTS_MASKED };
	const char *topic = telemetry_said(message, "topic");

	for (size_t i = 0; i < ARRAY_LEN(counted); i++)
		if (!strcmp(topic, bus_topic_name(counted[i])))
			takers[counted[i]](telemetry, json_object_get(message, "message"));
}

static void telemetry_on_message(void *data, enum bus_topic topic, const json_t *message)
{
	struct telemetry *telemetry = data;

	if (!takers[topic] && topic != BUS_SUBAGENT)
		return;
	pthread_mutex_lock(&telemetry->lock);
	if (topic == BUS_SUBAGENT)
		telemetry_on_subagent(telemetry, message);
	else
		takers[topic](telemetry, message);
	pthread_mutex_unlock(&telemetry->lock);
}

/* ---- opening ------------------------------------------------------------------ */

/* A variable of the process wins over the settings. */
static bool telemetry_is_on(const struct settings *settings, const char *variable, const char *path)
{
	if (variable)
		return !strcmp(variable, "true") || !strcmp(variable, "1");
	return settings_bool(settings, path, false);
}

/* -1: *err. Only a regular file: a pipe could hold up the session. A command may have written the
 * folder that it is in. */
static int telemetry_open_outfile(const char *path, const char *const *roots, struct err *err)
{
	_cleanup_door_ struct door door = DOOR_INIT;
	struct err why = ERR_INIT;
	_cleanup_fd_ int fd = door_open(path, roots, &door, &why) ?
	                              door_append(&door, 0600, &why) : -1;
	struct stat status;

	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd_steal(&fd);
	if (fd >= 0)
		err_set(&why, ERR_NOT_A_FILE, "%.300s is not a regular file.", path);
	err_set(err, why.code, "Telemetry is off: %s", why.message);
	return -1;
}

static void telemetry_write_config(struct telemetry *telemetry, const struct settings *settings)
{
	const struct extensions *extensions = extensions_installed(settings);
	json_auto_t *servers = json_array(), *brought = json_array();
	const bool git_ignore = settings_bool(settings, "context.fileFiltering.respectGitIgnore",
	                                      true);
	json_t *own, *row;
	const char *name;

	json_object_foreach((json_t *)settings_get(settings, "mcpServers"), name, row)
		json_array_append_new(servers, json_string(name));
	for (size_t i = 0; i < extensions->count; i++)
		if (extension_counts(&extensions->at[i]))
			json_array_append_new(brought, json_cstr(extensions->at[i].name));
	own = json_pack("{s:s, s:s, s:b, s:b, s:I, s:o, s:I, s:o, s:o}", "model", telemetry->model,
	                "approval_mode", event_mode(telemetry->mode), "log_user_prompts_enabled",
	                telemetry->log_prompts, "file_filtering_respect_git_ignore", git_ignore,
	                "mcp_servers_count", (json_int_t)json_array_size(servers), "mcp_servers",
	                telemetry_joined(servers), "extensions_count",
	                (json_int_t)json_array_size(brought), "extensions",
	                telemetry_joined(brought), "core_tools_enabled",
	                telemetry_joined(settings_get(settings, "tools.core")));
	event_write(telemetry, "gemini_cli.config", own, "CLI configuration loaded.");
}

/* The variable of the process, unless it is not set (NULL), else the setting. Borrowed. */
static const char *telemetry_option(const char *variable, const struct settings *settings,
                                    const char *path, const char *fallback)
{
	return variable ? variable : settings_string(settings, path, fallback);
}

static bool telemetry_open_otlp(struct telemetry *telemetry, const struct settings *settings,
                                const char *endpoint, struct err *err)
{
	const char *protocol = telemetry_option(getenv("GEMINI_TELEMETRY_OTLP_PROTOCOL"), settings,
	                                        "telemetry.otlpProtocol", "grpc");

	if (strcmp(protocol, "http"))
		return err_set(err, ERR_INVALID_ARGUMENT, "Telemetry is off: hasp sends it over "
		               "HTTP only. Set telemetry.otlpProtocol to \"http\" and "
		               "telemetry.otlpEndpoint to that port of the collector (4318).");
	if (strncmp(endpoint, "http://", 7) && strncmp(endpoint, "https://", 8))
		return err_set(err, ERR_INVALID_ARGUMENT, "Telemetry is off: "
		               "telemetry.otlpEndpoint does not begin with http:// or https://.");
	telemetry->otlp = otlp_new(endpoint, getenv("OTEL_EXPORTER_OTLP_HEADERS"), err);
	return telemetry->otlp;
}

/* The file goes before the collector, as in Gemini CLI. False: *err says what leads nowhere. */
static bool telemetry_open_target(struct telemetry *telemetry,
                                  const struct telemetry_options *options, struct err *err)
{
	const struct settings *settings = options->settings;
	const char *target = telemetry_option(getenv("GEMINI_TELEMETRY_TARGET"), settings,
	                                      "telemetry.target", "local");
	const char *outfile = telemetry_option(getenv("GEMINI_TELEMETRY_OUTFILE"), settings,
	                                       "telemetry.outfile", "");
	const char *collector = getenv("GEMINI_TELEMETRY_OTLP_ENDPOINT"), *endpoint;

	collector = collector ? collector : getenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	endpoint = telemetry_option(collector, settings, "telemetry.otlpEndpoint", "");
	if (!strcmp(target, "gcp"))
		return err_set(err, ERR_INVALID_ARGUMENT, "Telemetry is off: hasp does not send it "
		               "to Google Cloud (telemetry.target \"gcp\"). Use \"local\" with "
		               "telemetry.outfile or telemetry.otlpEndpoint.");
	if (*outfile) {
		telemetry->fd = telemetry_open_outfile(outfile, options->roots, err);
		return telemetry->fd >= 0;
	}
	if (*endpoint)
		return telemetry_open_otlp(telemetry, settings, endpoint, err);
	return err_set(err, ERR_INVALID_ARGUMENT, "Telemetry is off: neither telemetry.outfile nor "
	               "telemetry.otlpEndpoint is set.");
}

struct telemetry *telemetry_open(const struct telemetry_options *options)
{
	const struct settings *settings = options->settings;
	struct err err = ERR_INIT;
	struct telemetry *telemetry, target = { .fd = -1 };

	if (!telemetry_is_on(settings, getenv("GEMINI_TELEMETRY_ENABLED"), "telemetry.enabled"))
		return NULL;
	if (!telemetry_open_target(&target, options, &err)) {
		notices_say(&options->notices, SEVERITY_WARNING, err.message);
		return NULL;
	}
	telemetry = mem_alloc(1, sizeof(*telemetry));
	*telemetry = (struct telemetry){
		.bus = options->bus, .fd = target.fd, .otlp = target.otlp,
		.metrics = metrics_new(),
		.session_id = mem_strdup(options->session_id),
		.session = options->model != NULL,
		.model = mem_strdup(options->model ? options->model : ""),
		.mode = mem_strdup(options->approval_mode),
		.caller = mem_strdup(options->caller),
		.mode_since_ms = clock_monotonic_ms(),
		.interactive = options->interactive, .calls = json_object(),
		.log_prompts = telemetry_is_on(settings, getenv("GEMINI_TELEMETRY_LOG_PROMPTS"),
		                               "telemetry.logPrompts"),
		.mask = options->mask, .said = BUF_INIT(TELEMETRY_TEXT_BYTES_MAX),
	};
	telemetry->log_details = telemetry->log_prompts && telemetry->mask &&
		telemetry_is_on(settings, getenv("HASP_TELEMETRY_LOG_DETAILS"),
		                "hasp.telemetry.logDetails");
	pthread_mutex_init(&telemetry->lock, NULL);
	if (telemetry->session) {
		telemetry_write_config(telemetry, settings);
		telemetry_count(telemetry, METRIC_SESSION_COUNT, json_object(), 1);
	}
	if (options->bus)
		telemetry->subscription = bus_subscribe(options->bus, BUS_NONE,
		                                        telemetry_on_message, telemetry);
	return telemetry;
}

bool telemetry_has_details(const struct telemetry *telemetry)
{
	return telemetry && telemetry->log_details;
}

void telemetry_set_session(struct telemetry *telemetry, const char *session_id)
{
	if (!telemetry)
		return;
	pthread_mutex_lock(&telemetry->lock);
	spans_on_answer(telemetry);
	free(telemetry->session_id);
	telemetry->session_id = mem_strdup(session_id);
	telemetry->prompts = 0;
	pthread_mutex_unlock(&telemetry->lock);
}

void telemetry_continue_trace(struct telemetry *telemetry, const char *traceparent)
{
	if (!telemetry)
		return;
	pthread_mutex_lock(&telemetry->lock);
	spans_continue(telemetry, span_str(traceparent));
	pthread_mutex_unlock(&telemetry->lock);
}

void telemetry_close(struct telemetry *telemetry)
{
	if (!telemetry)
		return;
	if (telemetry->bus)
		bus_unsubscribe(telemetry->bus, telemetry->subscription);
	spans_on_answer(telemetry);
	if (telemetry->session)
		event_write_mode_duration(telemetry);
	if (telemetry->session || telemetry->otlp || telemetry->measured)
		telemetry_write_metrics(telemetry);
	if (telemetry->otlp)
		otlp_close(telemetry->otlp);
	if (telemetry->fd >= 0)
		close(telemetry->fd);
	metrics_free(telemetry->metrics);
	pthread_mutex_destroy(&telemetry->lock);
	json_decref(telemetry->calls);
	json_decref(telemetry->prompt);
	buf_release(&telemetry->said);
	free(telemetry->session_id);
	free(telemetry->model);
	free(telemetry->mode);
	free(telemetry->caller);
	free(telemetry);
}
