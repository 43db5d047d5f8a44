/* SPDX-License-Identifier: Apache-2.0 */
/* A conversation that goes on: all of it into the transcript, its end onto the screen. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "tui/private.h"

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

static void history_call(struct app *app, const json_t *call, const json_t *response, bool print)
{
	const char *name = json_string_value(json_object_get(call, "name"));
	const bool failed = json_is_false(json_object_get(response, "success")) ||
	                    json_object_get(response, "error");
	json_auto_t *shown = json_pack("{s:s, s:s, s:s, s:O?, s:s}", "callId", "", "toolName",
	                               name ? name : "", "title", name ? name : "", "arguments",
	                               json_object_get(call, "args"), "description", "");
	json_auto_t *result = json_pack("{s:s, s:s, s:s, s:O?, s:s, s:i}", "callId", "", "toolName",
	                                name ? name : "", "status",
	                                failed ? "error" : "success", "result", response,
	                                "display", "", "durationMs", 0);
	const struct view_how how = tui_how(app);
	_cleanup_rows_ struct rows rows = { 0 };

	transcript_call(app->transcript, shown, result);
	if (!print)
		return;
	view_result(&rows, shown, result, &how);
	tui_print(app, &rows);
}

static void history_text(struct app *app, bool user, struct span text, bool print)
{
	const struct view_how how = tui_how(app);
	_cleanup_rows_ struct rows rows = { 0 };

	if (span_is_blank(text))
		return;
	if (user)
		transcript_user(app->transcript, text);
	else
		transcript_answer(app->transcript, text);
	transcript_break(app->transcript);
	if (!print)
		return;
	if (user)
		view_user(&rows, text, &how);
	else
		markdown_rows(text, how.width, &rows);
	tui_print(app, &rows);
}

static void history_message(struct app *app, const json_t *contents, size_t at, bool print)
{
	const json_t *message = json_array_get(contents, at);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	size_t i;
	json_t *part;

	content_text(message, &text);
	history_text(app, content_is_user(message), buf_view(&text), print);
	json_array_foreach(json_object_get(message, "parts"), i, part) {
		const json_t *call = json_object_get(part, "functionCall");

		if (call)
			history_call(app, call, history_response(contents, at, call), print);
	}
}

/* Whether a message is what the model is told of its surroundings, and nobody's words. */
static bool history_is_facts(const json_t *message)
{
	const json_t *part = json_array_get(json_object_get(message, "parts"), 0);

	return content_is_user(message) &&
	       span_starts(span_trim(json_span(json_object_get(part, "text"))),
	                   SPAN("<session_context>"));
}

void tui_show_history(struct app *app, const json_t *contents)
{
	const size_t count = json_array_size(contents);
	const size_t first = history_is_facts(json_array_get(contents, 0));
	const size_t shown = count > first + HISTORY_SHOWN ? count - HISTORY_SHOWN : first;

	if (count == first)
		return;
	for (size_t i = first; i < count; i++) {
		if (i == shown && shown > first && !app->full) {
			_cleanup_free_ char *text = mem_printf(
				"%zu earlier messages: Ctrl+O shows all.", shown - first);

			tui_print_notice(app, "info", span_str(text));
		}
		history_message(app, contents, i, i >= shown && !app->full);
	}
	tui_print_notice(app, "info", SPAN("The session goes on here."));
}
