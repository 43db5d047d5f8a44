/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation that goes on: all of it into the transcript, its end onto the screen. */
#include <stdlib.h>

#include "agent/session/sessions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "model/content.h"
#include "tui/app.h"
#include "tui/show/printout.h"
#include "tui/show/transcript.h"

enum { HISTORY_SHOWN = 12 }; /* messages that are printed */

/* The response to a call, which stands in the message behind it; NULL: none. */
static const json_t *history_response(const json_t *contents, size_t at, const json_t *call)
{
	const json_t *parts = json_object_get(json_array_get(contents, at + 1), "parts");
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part) {
		const json_t *response = json_object_get(part, "functionResponse");

		if (response && json_equal(json_object_get(response, "id"),
		                           json_object_get(call, "id")) &&
		    json_equal(json_object_get(response, "name"), json_object_get(call, "name")))
			return json_object_get(response, "response");
	}
	return NULL;
}

/* What a call is about: its file, its command; the first line. */
static struct span history_subject(const char *name, const json_t *arguments)
{
	struct span text = json_span(tool_subject(tool_info_find(name), arguments)), line = { 0 };

	line_next(&text, &line);
	return line_body(line);
}

/* A call as the bus has it, and its result. */
static json_t *history_call(const json_t *call)
{
	const char *name = json_string_value(json_object_get(call, "name"));
	const json_t *arguments = json_object_get(call, "args");

	return json_pack("{s:s, s:s, s:s, s:O?, s:o}", "callId", "", "toolName", name ? name : "",
	                 "title", name ? name : "", "arguments", arguments, "description",
	                 json_text(history_subject(name ? name : "", arguments)));
}

static json_t *history_result(const json_t *call, const json_t *response)
{
	const char *name = json_string_value(json_object_get(call, "name"));
	const bool failed = json_is_false(json_object_get(response, "success")) ||
	                    json_object_get(response, "error");

	return json_pack("{s:s, s:s, s:s, s:O?, s:s, s:i}", "callId", "", "toolName",
	                 name ? name : "", "status", failed ? "error" : "success", "result",
	                 response, "display", "", "durationMs", 0);
}

/* Where what a message says goes. */
struct history_way {
	void (*text)(void *data, bool user, struct span text);
	void (*call)(void *data, const json_t *call, const json_t *result);
	void *data;
};

static void history_message(const struct history_way *way, const json_t *contents, size_t at)
{
	const json_t *message = json_array_get(contents, at);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	size_t i;
	json_t *part;

	content_text(message, &text);
	if (!span_is_blank(buf_view(&text)))
		way->text(way->data, content_is_user(message), content_is_user(message) ?
		          session_prompt_shown(buf_view(&text)) : buf_view(&text));
	json_array_foreach(json_object_get(message, "parts"), i, part) {
		const json_t *called = json_object_get(part, "functionCall");
		json_auto_t *call = called ? history_call(called) : NULL;
		json_auto_t *result =
			called ? history_result(called, history_response(contents, at, called)) :
			         NULL;

		if (called)
			way->call(way->data, call, result);
	}
}

/* Whether a message is hasp's own description of the environment rather than a prompt. */
static bool history_is_facts(const json_t *message)
{
	const json_t *part = json_array_get(json_object_get(message, "parts"), 0);

	return content_is_user(message) &&
	       span_starts(span_trim(json_span(json_object_get(part, "text"))),
	                   SPAN("<session_context>"));
}

static size_t history_first(const json_t *contents)
{
	return history_is_facts(json_array_get(contents, 0));
}

/* ---- all of it, into the transcript ------------------------------------------ */

static void history_keep_text(void *data, bool user, struct span text)
{
	struct transcript *transcript = data;

	if (user)
		transcript_user(transcript, text);
	else
		transcript_answer(transcript, text);
	transcript_break(transcript);
}

static void history_keep_call(void *data, const json_t *call, const json_t *result)
{
	transcript_call(data, call, result);
}

void history_keep(struct transcript *transcript, const json_t *contents)
{
	const struct history_way way = { history_keep_text, history_keep_call, transcript };

	for (size_t i = history_first(contents); i < json_array_size(contents); i++)
		history_message(&way, contents, i);
}

/* ---- its end, onto the screen ------------------------------------------------ */

static void history_print_text(void *data, bool user, struct span text)
{
	struct app *app = data;
	const struct view_how how = printout_how(&app->out);
	_cleanup_rows_ struct rows rows = { 0 };

	if (user)
		view_user(&rows, text, &how);
	else if (how.source)
		markdown_source_rows(text, how.width, &rows);
	else
		markdown_rows(text, how.width, &rows);
	printout_block(&app->out, &rows);
}

static void history_print_call(void *data, const json_t *call, const json_t *result)
{
	struct app *app = data;
	const struct view_how how = printout_how(&app->out);
	_cleanup_rows_ struct rows rows = { 0 };

	view_result(&rows, call, result, &how);
	printout_block(&app->out, &rows);
}

json_t *history_end(const json_t *contents, bool *ret_more)
{
	const size_t count = json_array_size(contents), first = history_first(contents);
	const size_t shown = count > first + HISTORY_SHOWN ? count - HISTORY_SHOWN : first;
	json_t *end = json_array();

	for (size_t i = shown; i < count; i++)
		json_array_append_new(end, json_deep_copy(json_array_get(contents, i)));
	*ret_more = shown > first;
	return end;
}

static void history_print(struct app *app, const json_t *end, bool more)
{
	const struct history_way way = { history_print_text, history_print_call, app };
	const struct view_how how = printout_how(&app->out);
	_cleanup_rows_ struct rows rows = { 0 };

	if (more && json_array_size(end)) {
		view_notice(&rows, "info", SPAN("Ctrl+O shows the earlier messages."), &how);
		printout_block(&app->out, &rows);
	}
	for (size_t i = 0; i < json_array_size(end); i++)
		history_message(&way, end, i);
}

void tui_show_history(struct app *app, const json_t *end, bool more)
{
	const bool shown = app->history_shown;

	app->history_shown = false;
	if (!json_array_size(end))
		return;
	if (!shown && !app->full)
		history_print(app, end, more);
	printout_notice(&app->out, "info", SPAN("The session continues here."));
}

void tui_show_end(struct app *app, const char *file)
{
	bool whole, more;
	json_auto_t *contents = session_read_end(file, &whole);
	json_auto_t *end = history_end(contents, &more);

	if (app->full) /* it shows the transcript, which comes with the session */
		return;
	history_print(app, end, more || !whole);
	app->history_shown = json_array_size(end) > 0;
}
