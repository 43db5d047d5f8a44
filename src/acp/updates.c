/* SPDX-License-Identifier: Apache-2.0 */
/* What a session publishes, as session/update. */
#include <stdlib.h>
#include <string.h>

#include "acp/private.h"
#include "agent/session/record.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/prices.h"

enum {
	OUTPUT_SHOWN = 8 << 10, /* of a running command: the end of what it has printed */
	OUTPUT_MS = 200,        /* between two looks at it */
	TITLE_BYTES = 80,       /* of a prompt, as a title */
	STEPS_MAX = 100,        /* of a plan that is a text */
};

/* ---- text ------------------------------------------------------------------------ */

/* Pieces of one kind are of one message, until something else comes. */
static void acp_update_piece(struct acp_session *session, enum bus_topic kind, json_t *text)
{
	if (session->message_kind != kind || !session->message) {
		free(session->message);
		session->message = record_new_id();
		session->message_kind = kind;
	}
	acp_update(session, json_pack("{s:s, s:s, s:{s:s, s:o}}", "sessionUpdate",
	                              kind == BUS_CONTENT ? "agent_message_chunk" :
	                                                    "agent_thought_chunk",
	                              "messageId", session->message, "content", "type", "text",
	                              "text", text));
}

void acp_update_text(struct acp_session *session, const char *kind, struct span text)
{
	_cleanup_free_ char *id = record_new_id();

	session->message_kind = BUS_NONE;
	acp_update(session, json_pack("{s:s, s:s, s:{s:s, s:o}}", "sessionUpdate", kind,
	                              "messageId", id, "content", "type", "text", "text",
	                              json_text(text)));
}

/* What hasp has to say itself is no part of the model's answer: a notice, its first line being the
 * title; to a client that shows none, a thought. */
static void acp_say_notice(struct acp_session *session, const char *severity, struct span text)
{
	_cleanup_free_ char *id = NULL;
	struct span rest = text, title = { 0 };
	json_t *update;

	while (!title.len && line_next(&rest, &title))
		title = span_trim(title);
	rest = span_trim(rest);
	if (!title.len)
		return;
	if (session->acp->client.takes_notices) {
		update = json_pack("{s:s, s:s, s:o}", "sessionUpdate", "notice", "severity",
		                   severity, "title", json_text(title));
		if (rest.len)
			json_object_set_new(update, "description", json_text(rest));
		acp_update(session, update);
		return;
	}
	id = record_new_id();
	session->message_kind = BUS_NONE;
	acp_update(session, json_pack("{s:s, s:s, s:{s:s, s:o}, s:{s:{s:s}}}", "sessionUpdate",
	                              "agent_thought_chunk", "messageId", id, "content", "type",
	                              "text", "text", json_text(text), "_meta", "hasp", "notice",
	                              severity));
}

void acp_update_others(struct acp_session *session, enum bus_topic topic, const json_t *message)
{
	_cleanup_free_ char *text = front_said(session->front, topic, message);

	if (text)
		acp_say_notice(session, "info", span_str(text));
}

void acp_update_notice(struct acp_session *session, const json_t *notice)
{
	const char *severity = acp_text(notice, "severity"), *text = acp_text(notice, "message");
	_cleanup_free_ char *line = mem_printf("%s\n", text ? text : "");

	acp_say_notice(session, severity ? severity : "info", span_str(line));
}

/* Of a page: the user's words, of this session or another front's prompt that is under way. */
static void acp_publish_prompt(struct acp_session *session, const json_t *message)
{
	if (session->is_foreign || json_is_true(json_object_get(message, "steer")))
		acp_update_text(session, "user_message_chunk",
		                json_span(json_object_get(message, "text")));
}

static void acp_publish_content(struct acp_session *session, const json_t *message)
{
	acp_update_piece(session, BUS_CONTENT, json_incref(json_object_get(message, "text")));
}

static void acp_publish_thought(struct acp_session *session, const json_t *message)
{
	const char *subject = acp_text(message, "subject"), *text = acp_text(message, "text");
	_cleanup_free_ char *whole = mem_printf("%s%s%s%s", subject ? "**" : "",
	                                        subject ? subject : "", subject ? "**\n" : "",
	                                        text ? text : "");

	acp_update_piece(session, BUS_THOUGHT, json_text(span_str(whole)));
}

/* ---- calls ----------------------------------------------------------------------- */

static json_t *acp_call_named(struct acp_session *session, const json_t *message)
{
	const char *id = acp_text(message, "callId");

	return id ? json_object_get(session->calls, id) : NULL;
}

static void acp_update_call(struct acp_session *session, const char *kind, json_t *call)
{
	json_object_set_new(call, "sessionUpdate", json_string(kind));
	acp_update(session, call);
}

static void acp_publish_call(struct acp_session *session, const json_t *message)
{
	json_t *call = acp_call_begin(session, message);

	session->message_kind = BUS_NONE;
	json_object_set_new(session->calls, acp_text(message, "callId"),
	                    json_pack("{s:O, s:b}", "title", json_object_get(call, "title"),
	                              "terminal", json_object_get(call, "_meta") != NULL));
	acp_update_call(session, "tool_call", call);
}

static void acp_publish_result(struct acp_session *session, const json_t *message)
{
	if (!acp_call_named(session, message))
		return;
	json_object_del(session->calls, acp_text(message, "callId"));
	acp_update_call(session, "tool_call_update", acp_call_end(session, message));
}

static void acp_show_output(struct acp_session *session, const char *id, struct span output)
{
	acp_update_call(session, "tool_call_update",
	                json_pack("{s:s, s:s, s:o}", "toolCallId", id, "status", "in_progress",
	                          "content", acp_call_text(output)));
}

/* The timer's: what has been printed since the last time. */
static void acp_show_outputs(void *data)
{
	struct acp_session *session = data;
	const char *id;
	json_t *call;

	loop_timer_stop(session->output);
	session->output = NULL;
	json_object_foreach(session->calls, id, call)
		if (json_object_del(call, "waits") == 0)
			acp_show_output(session, id, json_span(json_object_get(call, "output")));
}

/* The end of a text, from a line's beginning on. */
static struct span acp_output_end(struct span text)
{
	const char *line;

	if (text.len <= OUTPUT_SHOWN)
		return text;
	text = span_skip(text, text.len - OUTPUT_SHOWN);
	line = memchr(text.data, '\n', text.len);
	if (line)
		return span_skip(text, (size_t)(line - text.data) + 1);
	while (text.len && (text.data[0] & 0xC0) == 0x80)
		text = span_skip(text, 1);
	return text;
}

static void acp_publish_output(struct acp_session *session, const json_t *message)
{
	json_t *call = acp_call_named(session, message), *shown;
	_cleanup_buf_ struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!call)
		return;
	shown = json_is_true(json_object_get(call, "terminal")) ?
	        acp_call_output(session, message) : NULL;
	if (shown) {
		acp_update_call(session, "tool_call_update", shown);
		return;
	}
	buf_span(&all, json_span(json_object_get(call, "output")));
	buf_span(&all, json_span(json_object_get(message, "text")));
	json_object_set_new(call, "output", json_text(acp_output_end(buf_view(&all))));
	json_object_set_new(call, "waits", json_true());
	if (!session->output)
		session->output = loop_timer_start(session->acp->loop, OUTPUT_MS, 0,
		                                   acp_show_outputs, session);
}

static void acp_publish_progress(struct acp_session *session, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "message"));

	if (text.len && acp_call_named(session, message))
		acp_show_output(session, acp_text(message, "callId"), text);
}

/* Of a sub-agent's calls only those that were asked about are the client's: those end. */
static void acp_publish_subagent(struct acp_session *session, const json_t *message)
{
	if (span_eq(json_span(json_object_get(message, "topic")),
	            span_str(bus_topic_name(BUS_TOOL_RESULT))))
		acp_publish_result(session, json_object_get(message, "message"));
}

/* ---- requests to the model --------------------------------------------------------- */

static void acp_publish_request(struct acp_session *session, const json_t *message)
{
	(void)message;
	session->message_kind = BUS_NONE;
}

/* What the conversation takes of the model's window, and, where the user gave prices, what the
 * session has cost. */
static void acp_say_usage(struct acp_session *session, json_int_t used)
{
	json_t *update;

	if (!session->window)
		return;
	update = json_pack("{s:s, s:I, s:I}", "sessionUpdate", "usage_update", "used", used, "size",
	                   (json_int_t)session->window);
	if (session->cost)
		json_object_set_new(update, "cost", json_pack(
			"{s:f, s:s}", "amount", (double)session->cost / 1000000, "currency",
			"USD"));
	acp_update(session, update);
}

static void acp_publish_usage(struct acp_session *session, const json_t *message)
{
	const json_t *usage = json_object_get(message, "usage");
	const char *role = acp_text(message, "role"), *model = acp_text(message, "model");
	json_int_t cost;

	if (model && prices_count(json_object_get(session->menus, "prices"), model, usage, &cost))
		session->cost += cost;
	if (role && !strcmp(role, "main"))
		acp_say_usage(session, json_integer_value(json_object_get(usage, "total")));
}

static void acp_publish_compressed(struct acp_session *session, const json_t *message)
{
	const json_int_t after = json_integer_value(json_object_get(message, "after"));
	_cleanup_free_ char *text = mem_printf(
		"Chat history compressed from %lld to %lld tokens.",
		(long long)json_integer_value(json_object_get(message, "before")),
		(long long)after);
	_cleanup_free_ char *id = record_new_id();

	if (session->acp->client.takes_compactions)
		acp_update(session, json_pack(
			"{s:s, s:s, s:s, s:[{s:s, s:s}]}", "sessionUpdate", "compaction_update",
			"compactionId", id, "status", "completed", "summary", "type", "text",
			"text", text));
	else
		acp_say_notice(session, "info", span_str(text));
	acp_say_usage(session, after);
}

static void acp_publish_response(struct acp_session *session, const json_t *message)
{
	const char *role = acp_text(message, "role"), *reason = acp_text(message, "reason");

	if (role && reason && !strcmp(role, "main"))
		snprintf(session->stop, sizeof(session->stop), "%s", reason);
	acp_publish_usage(session, message);
}

/* Another model answers from now on. */
static void acp_publish_model(struct acp_session *session, const json_t *message)
{
	const char *model = acp_text(message, "model");

	acp_update_notice(session, message);
	free(session->model);
	session->model = mem_strdup(model ? model : "");
	if (json_object_get(message, "window"))
		session->window = (uint64_t)json_integer_value(json_object_get(message, "window"));
	acp_options_changed(session);
}

/* ---- the session's own state -------------------------------------------------------- */

static void acp_publish_mode(struct acp_session *session, const json_t *message)
{
	acp_mode_changed(session, acp_text(message, "mode"));
}

static void acp_title(struct acp_session *session, struct span title)
{
	acp_update(session, json_pack("{s:s, s:o}", "sessionUpdate", "session_info_update", "title",
	                              json_text(title)));
	session->is_titled = true;
}

void acp_title_from(struct acp_session *session, struct span prompt)
{
	struct span line;

	if (session->is_titled || !line_next(&prompt, &line) || span_is_blank(line))
		return;
	acp_title(session, span_trim(utf8_head(line, TITLE_BYTES)));
}

static void acp_publish_topic(struct acp_session *session, const json_t *message)
{
	const struct span title = json_span(json_object_get(message, "title"));

	if (title.len)
		acp_title(session, title);
}

static void acp_plan_step(json_t *entries, json_t *content, const char *status)
{
	json_array_append_new(entries, json_pack("{s:o, s:s, s:s}", "content", content, "priority",
	                                         "medium", "status", status));
}

static void acp_send_plan(struct acp_session *session, json_t *entries)
{
	acp_update(session, json_pack("{s:s, s:o}", "sessionUpdate", "plan", "entries", entries));
}

/* What is behind "- ", "* ", "+ ", "12. " or "12) " at the beginning of a line; empty: it is no
 * step. */
static struct span acp_list_item(struct span line)
{
	const size_t digits = span_digits(line);
	const char *marks = digits ? ".)" : "-*+";

	if (line.len < digits + 2 || !strchr(marks, line.data[digits]) ||
	    line.data[digits + 1] != ' ')
		return SPAN("");
	return span_trim(span_skip(line, digits + 2));
}

void acp_plan_from(struct acp_session *session, struct span text)
{
	json_t *entries = json_array();
	bool is_code = false;
	struct span line, item;

	while (json_array_size(entries) < STEPS_MAX && line_next(&text, &line)) {
		is_code ^= span_starts(line, SPAN("```"));
		item = is_code ? SPAN("") : acp_list_item(line);
		if (span_starts(item, SPAN("[ ]")))
			item = span_trim(span_skip(item, 3));
		if (item.len)
			acp_plan_step(entries, json_text(item), "pending");
	}
	if (json_array_size(entries))
		acp_send_plan(session, entries);
	else
		json_decref(entries);
}

/* The model's list of steps is the client's plan; one that was dropped is no step. */
static void acp_publish_todos(struct acp_session *session, const json_t *message)
{
	json_t *entries = json_array(), *todo;
	size_t i;

	json_array_foreach(json_object_get(message, "todos"), i, todo) {
		const char *status = acp_text(todo, "status");
		const bool known = status && (!strcmp(status, "completed") ||
		                              !strcmp(status, "in_progress"));

		if (status && !strcmp(status, "cancelled"))
			continue;
		acp_plan_step(entries, json_incref(json_object_get(todo, "description")),
		              known ? status : "pending");
	}
	acp_send_plan(session, entries);
}

/* ---- the table --------------------------------------------------------------------- */

void acp_update_bus(struct acp_session *session, enum bus_topic topic, const json_t *message)
{
	static void (*const rows[BUS_TOPIC_COUNT])(struct acp_session *session,
	                                            const json_t *message) = {
		[BUS_PROMPT] = acp_publish_prompt,
		[BUS_CONTENT] = acp_publish_content,
		[BUS_THOUGHT] = acp_publish_thought,
		[BUS_TOOL_CALL] = acp_publish_call,
		[BUS_TOOL_OUTPUT] = acp_publish_output,
		[BUS_TOOL_PROGRESS] = acp_publish_progress,
		[BUS_TOOL_RESULT] = acp_publish_result,
		[BUS_SUBAGENT] = acp_publish_subagent,
		[BUS_API_REQUEST] = acp_publish_request,
		[BUS_API_RESPONSE] = acp_publish_response,
		[BUS_NOTICE] = acp_update_notice,
		[BUS_COMPRESSED] = acp_publish_compressed,
		[BUS_MODEL] = acp_publish_model,
		[BUS_APPROVAL_MODE] = acp_publish_mode,
		[BUS_TOPIC_UPDATE] = acp_publish_topic,
		[BUS_TODOS] = acp_publish_todos,
	};

	if (rows[topic])
		rows[topic](session, message);
}
