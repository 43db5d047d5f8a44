/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of what the agent reports: text is printed as it comes, calls when they have ended,
 * questions are put one after the other. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/prices.h"
#include "policy/policy.h"
#include "tui/private.h"
#include "tui/term/screen.h"

static void follow_content(struct app *app, struct span text)
{
	_cleanup_rows_ struct rows rows = { 0 };

	transcript_answer(app->transcript, text);
	if (app->full)
		return;
	if (!app->answering && app->printed)
		rows_add(&rows);
	app->answering = app->printed = true;
	markdown_feed(app->markdown, text);
	markdown_take(app->markdown, &rows);
	screen_print(app->screen, &rows);
}

/* Keeps a text that a message has; one that says nothing changes nothing. */
static void follow_text(char **slot, const json_t *message, const char *name)
{
	const char *text = json_string_value(json_object_get(message, name));

	if (!text || !*text)
		return;
	free(*slot);
	*slot = mem_strdup(text);
}

static void follow_thought(struct app *app, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "text"));

	follow_text(&app->thought, message, "subject");
	if (strcmp(settings_string(app->settings, "ui.inlineThinkingMode", "off"), "full") == 0) {
		_cleanup_rows_ struct rows rows = { 0 };

		rows_text(&rows, text, STYLE(ROLE_DIM), term_size(app->term).columns);
		tui_print(app, &rows);
	}
	transcript_thought(app->transcript, text);
}

/* ---- calls ------------------------------------------------------------------- */

static struct running *follow_find(struct app *app, const json_t *message)
{
	const json_t *id = json_object_get(message, "callId");

	for (size_t i = 0; i < app->running_count; i++)
		if (json_equal(json_object_get(app->running[i].call, "callId"), id))
			return &app->running[i];
	return NULL;
}

static void running_release(struct running *running)
{
	json_decref(running->call);
	json_decref(running->progress);
	buf_release(&running->tail);
}

static void follow_call(struct app *app, const json_t *message)
{
	tui_end_answer(app);
	transcript_break(app->transcript);
	if (app->running_count == app->running_cap)
		app->running = mem_grow(app->running, &app->running_cap, app->running_count + 1,
		                        sizeof(*app->running));
	app->running[app->running_count++] = (struct running){
		.call = json_incref((json_t *)message),
		.tail = BUF_INIT((size_t)4 * TAIL_BYTES_MAX),
	};
	if (app->plain) {
		const struct view_how how = tui_how(app);
		_cleanup_rows_ struct rows rows = { 0 };

		view_call(&rows, message, &how);
		tui_print(app, &rows);
	}
}

static void follow_output(struct app *app, const json_t *message)
{
	struct running *running = follow_find(app, message);
	struct span text = json_span(json_object_get(message, "text"));

	if (!running)
		return;
	if (text.len > TAIL_BYTES_MAX)
		text = span_skip(text, text.len - TAIL_BYTES_MAX);
	buf_span(&running->tail, text);
	if (running->tail.len > (size_t)2 * TAIL_BYTES_MAX) {
		const size_t cut = running->tail.len - TAIL_BYTES_MAX;

		memmove(running->tail.data, running->tail.data + cut, TAIL_BYTES_MAX);
		running->tail.len = TAIL_BYTES_MAX;
	}
}

static void follow_progress(struct app *app, const json_t *message)
{
	struct running *running = follow_find(app, message);

	if (!running)
		return;
	json_decref(running->progress);
	running->progress = json_incref((json_t *)message);
}

/* The lines of what was written: of one file, or of several. */
static void follow_lines(struct status *status, const json_t *result)
{
	json_int_t added = json_integer_value(json_object_get(result, "lines_added"));
	json_int_t removed = json_integer_value(json_object_get(result, "lines_removed"));
	size_t i;
	json_t *change;

	if (!json_is_true(json_object_get(result, "success")) ||
	    json_is_true(json_object_get(result, "dry_run")))
		return;
	json_array_foreach(json_object_get(result, "changes"), i, change) {
		added += json_integer_value(json_object_get(change, "lines_added"));
		removed += json_integer_value(json_object_get(change, "lines_removed"));
	}
	status->added += added > 0 ? (uint64_t)added : 0;
	status->removed += removed > 0 ? (uint64_t)removed : 0;
}

static void follow_result(struct app *app, const json_t *message)
{
	const struct view_how how = tui_how(app);
	struct running *running = follow_find(app, message);
	_cleanup_rows_ struct rows rows = { 0 };
	json_auto_t *call = running ? json_incref(running->call) :
	                              json_incref((json_t *)message);

	if (running) {
		running_release(running);
		memmove(running, running + 1,
		        (size_t)(app->running + app->running_count - running - 1) *
		                sizeof(*running));
		app->running_count--;
	}
	consoles_returned(app->consoles, json_span(json_object_get(message, "callId")));
	view_result(&rows, call, message, &how);
	tui_print(app, &rows);
	transcript_call(app->transcript, call, message);
	follow_lines(&app->status, json_object_get(message, "result"));
}

static void follow_running(struct app *app, enum bus_topic topic, const json_t *message)
{
	if (topic == BUS_TOOL_CALL)
		follow_call(app, message);
	else if (topic == BUS_TOOL_OUTPUT)
		follow_output(app, message);
	else if (topic == BUS_TOOL_PROGRESS)
		follow_progress(app, message);
	else
		follow_result(app, message);
}

static void follow_drop_running(struct app *app)
{
	while (app->running_count)
		running_release(&app->running[--app->running_count]);
}

/* ---- other messages ---------------------------------------------------------- */

/* Pieces of an answer that do not count any more. */
static void follow_forget(struct app *app, const json_t *message)
{
	const json_t *forget = json_object_get(message, "forget");

	if (json_is_integer(forget) && json_integer_value(forget) > 0) {
		const size_t bytes = (size_t)json_integer_value(forget);

		markdown_forget(app->markdown, bytes);
		transcript_forget(app->transcript, bytes);
	}
}

/* A wait before the next request is counted down in the live region; where that has no such row,
 * the sentence says it. */
static void follow_notice(struct app *app, const json_t *message)
{
	const char *severity = json_string_value(json_object_get(message, "severity"));
	const json_int_t delay = json_integer_value(json_object_get(message, "delayMs"));
	struct span text = json_span(json_object_get(message, "message"));

	follow_forget(app, message);
	if (delay > 0 && !app->plain) {
		app->retry_ms = clock_monotonic_ms() + (uint64_t)delay;
		text = json_span(json_object_get(message, "cause"));
	}
	if (severity && text.len)
		tui_print_notice(app, strcmp(severity, "hook") ? severity : "info", text);
}

static void follow_turn_end(struct app *app, const json_t *message)
{
	const json_t *usage = json_object_get(message, "usage");
	const uint64_t input = (uint64_t)json_integer_value(json_object_get(usage, "input"));
	const uint64_t output = (uint64_t)json_integer_value(json_object_get(usage, "output"));
	json_int_t cost;

	prices_count(settings_get(app->settings, "hasp.prices"),
	             app->status.model ? app->status.model : "", usage, &cost);
	app->status.cost += cost;
	app->status.input += input;
	app->status.output += output;
	app->status.cached += (uint64_t)json_integer_value(json_object_get(usage, "cached"));
	app->status.context = input + output;
	if (json_object_get(message, "quotaLeft"))
		app->status.quota =
			(int)json_integer_value(json_object_get(message, "quotaLeft"));
	tui_end_answer(app);
	transcript_break(app->transcript);
}

/* What a sub-agent does is shown with its call; what it used, and wrote, counts like anybody's. */
static void follow_subagent(struct app *app, const json_t *message)
{
	const struct span topic = json_span(json_object_get(message, "topic"));
	const json_t *inner = json_object_get(message, "message");
	const json_t *usage = json_object_get(inner, "usage");

	if (span_eq(topic, span_str(bus_topic_name(BUS_TOOL_RESULT))))
		follow_lines(&app->status, json_object_get(inner, "result"));
	if (!span_eq(topic, span_str(bus_topic_name(BUS_TURN_END))))
		return;
	app->status.input += (uint64_t)json_integer_value(json_object_get(usage, "input"));
	app->status.output += (uint64_t)json_integer_value(json_object_get(usage, "output"));
	app->status.cached += (uint64_t)json_integer_value(json_object_get(usage, "cached"));
}

static void follow_compressed(struct app *app, const json_t *message)
{
	const json_int_t before = json_integer_value(json_object_get(message, "before"));
	const json_int_t after = json_integer_value(json_object_get(message, "after"));
	_cleanup_free_ char *text = mem_printf(
		"Chat history compressed from %lld to %lld tokens.", (long long)before,
		(long long)after);

	app->status.context = (uint64_t)after;
	tui_print_notice(app, "info", span_str(text));
}

static void follow_model(struct app *app, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "message"));

	follow_forget(app, message);
	free(app->status.model);
	app->status.model = mem_strdup(json_string_value(json_object_get(message, "model")));
	if (text.len)
		tui_print_notice(app, "warning", text);
}

static void follow_mode(struct app *app, const json_t *message)
{
	const char *word = json_string_value(json_object_get(message, "mode"));
	_cleanup_free_ char *said = NULL;

	if (!word || !policy_mode_parse(word, &app->status.mode) || !app->plain)
		return;
	said = mem_printf("Mode: %s.", status_mode_word(app->status.mode));
	tui_print_notice(app, "info", span_str(said));
}

static void follow_todos(struct app *app, const json_t *message)
{
	json_decref(app->todos);
	app->todos = json_incref(json_object_get(message, "todos"));
}

static void follow_topic(struct app *app, const json_t *message)
{
	follow_text(&app->topic, message, "title");
	follow_text(&app->thought, message, "strategicIntent");
}

/* The terminal's own were shown when they were sent, but for those that join another. */
static void follow_prompt(struct app *app, const json_t *message)
{
	const bool steer = json_is_true(json_object_get(message, "steer"));

	if (steer || runner_foreign(app->runner))
		tui_print_user(app, json_span(json_object_get(message, "text")));
	if (steer)
		json_array_remove(app->steers, 0);
}

/* Another front has answered, or nobody asks any more. */
static void follow_answered(struct app *app, const json_t *message)
{
	const char *by = json_string_value(json_object_get(message, "by"));
	_cleanup_free_ char *text = NULL;

	tui_answered(app, message);
	if (!by || strcmp(by, runner_name(app->runner)) == 0)
		return;
	text = mem_printf("Answered by %s: %s", by,
	                  json_string_value(json_object_get(message, "outcome")));
	tui_print_notice(app, "info", span_str(text));
}

static void follow_comment(struct app *app, const json_t *message)
{
	_cleanup_free_ char *text = mem_printf(
		"%s: %s", json_string_value(json_object_get(message, "by")),
		json_string_value(json_object_get(message, "text")));

	tui_print_notice(app, "info", span_str(text));
}

/* False: it is about no question. */
static bool follow_question(struct app *app, enum bus_topic topic, const json_t *message)
{
	switch (topic) {
	case BUS_TOOL_CONFIRMATION_REQUEST:
	case BUS_ASK_USER_REQUEST:
	case BUS_ELICITATION_REQUEST:
		tui_question(app, topic, message);
		return true;
	case BUS_TOOL_CONFIRMATION_RESPONSE:
	case BUS_ASK_USER_RESPONSE:
	case BUS_ELICITATION_RESPONSE:
		tui_answered(app, message);
		return true;
	case BUS_QUESTION_ANSWERED:
		follow_answered(app, message);
		return true;
	case BUS_UPDATE_POLICY:
		tui_question_go_on(app);
		return true;
	default:
		return false;
	}
}

static void follow_message(struct app *app, enum bus_topic topic, const json_t *message)
{
	if (follow_question(app, topic, message))
		return;
	switch (topic) {
	case BUS_COMMENT:
		follow_comment(app, message);
		break;
	case BUS_PROMPT:
		follow_prompt(app, message);
		break;
	case BUS_CONTENT:
		follow_content(app, json_span(json_object_get(message, "text")));
		break;
	case BUS_THOUGHT:
		follow_thought(app, message);
		break;
	case BUS_TOOL_CALL:
	case BUS_TOOL_OUTPUT:
	case BUS_TOOL_PROGRESS:
	case BUS_TOOL_RESULT:
		follow_running(app, topic, message);
		break;
	case BUS_NOTICE:
		follow_notice(app, message);
		break;
	case BUS_MODEL:
		follow_model(app, message);
		break;
	case BUS_COMPRESSED:
		follow_compressed(app, message);
		break;
	case BUS_TODOS:
		follow_todos(app, message);
		break;
	case BUS_TOPIC_UPDATE:
		follow_topic(app, message);
		break;
	case BUS_APPROVAL_MODE:
		follow_mode(app, message);
		break;
	case BUS_TURN_END:
		follow_turn_end(app, message);
		break;
	case BUS_SUBAGENT:
		follow_subagent(app, message);
		break;
	default:
		return;
	}
}

/* ---- the agent's own reports ------------------------------------------------- */

static void follow_opened(struct app *app, const struct heard *heard)
{
	const json_t *facts = heard->message;

	follow_text(&app->status.branch, facts, "branch");
	follow_text(&app->status.model, facts, "model");
	follow_text(&app->status.level, facts, "level");
	free(app->topic);
	app->topic = mem_strdup(json_string_value(json_object_get(facts, "topic")));
	free(app->status.key_from);
	app->status.key_from = mem_strdup(json_string_value(json_object_get(facts, "keyFrom")));
	app->status.quota = -1;
	app->status.window =
		(uint64_t)json_integer_value(json_object_get(facts, "window"));
	transcript_move(app->transcript, heard->transcript);
	complete_again(app->complete);
	tui_show_history(app, json_object_get(facts, "history"),
	                 json_is_true(json_object_get(facts, "more")));
}

/* Why there is no agent, and what to do: a few lines, not a wall. */
static void follow_closed(struct app *app, const struct err *err)
{
	app->history_shown = false;
	/* What could not be sent is the draft again. */
	if (app->sent && editor_is_empty(app->editor))
		tui_draft(app, span_str(app->sent));
	if (err->code == ERR_AUTHENTICATION_FAILED)
		first_no_key(app, span_str(err->message));
	else
		tui_print_notice(app, "error", span_str(err->message));
}

static void follow_ended(struct app *app, const struct heard *heard)
{
	const char *reason = json_string_value(json_object_get(heard->message, "reason"));
	const char *missing = json_string_value(json_object_get(heard->message, "missing"));
	const struct span unsent = json_span(json_object_get(heard->message, "unsent"));

	follow_text(&app->status.branch, heard->message, "branch");
	free(app->sent);
	app->sent = NULL;
	tui_end_answer(app);
	follow_drop_running(app);
	json_array_clear(app->steers);
	transcript_break(app->transcript);
	/* Without an error and with a reason: the user declined a call. */
	if (heard->end == AGENT_CANCELLED && reason && !heard->err.code)
		tui_print_notice(app, "info",
		                 SPAN("Cancelled: you declined the call. What was done stays "
		                      "done."));
	else if (heard->end == AGENT_CANCELLED)
		tui_print_notice(app, "info", SPAN("Interrupted. What was done stays done."));
	else if (heard->err.code)
		tui_print_notice(app, "error", span_str(heard->err.message));
	else if (reason && heard->end != AGENT_ANSWERED)
		tui_print_notice(app, "warning", span_str(reason));
	if (missing)
		tui_print_notice(app, "warning", span_str(missing));
	if (app->plain && heard->end == AGENT_ANSWERED)
		tui_print_notice(app, "info", SPAN("Done."));
	tui_refuse_all(app);
	if (unsent.len)
		tui_unsent(app, unsent, heard->end == AGENT_CANCELLED);
	if (clock_monotonic_ms() - app->since_ms > 5000)
		status_notify(app, "hasp has answered.");
}

void tui_heard(void *data, const struct heard *heard)
{
	struct app *app = data;

	if (heard->kind == HEARD_DONE && heard->job)
		heard->job->done(heard->job);
	if (app->quitting)
		return;
	switch (heard->kind) {
	case HEARD_BUS:
		follow_message(app, heard->topic, heard->message);
		break;
	case HEARD_NOTICE:
		follow_notice(app, heard->message);
		break;
	case HEARD_FOUND:
		tui_show_end(app, json_string_value(json_object_get(heard->message, "file")));
		break;
	case HEARD_BEGUN:
		tui_working(app, true);
		break;
	case HEARD_OPENED:
		follow_opened(app, heard);
		break;
	case HEARD_CLOSED:
		follow_closed(app, &heard->err);
		break;
	case HEARD_ENDED:
		follow_ended(app, heard);
		break;
	case HEARD_DONE:
		break;
	}
	if (runner_idle(app->runner)) {
		tui_working(app, false);
		if (heard->kind != HEARD_CLOSED)
			tui_next(app);
		if (app->browse && runner_idle(app->runner))
			browse_idle(app);
	}
	tui_changed(app);
}
