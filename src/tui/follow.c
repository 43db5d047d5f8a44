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
#include "tui/show/activity.h"
#include "tui/app.h"
#include "tui/complete.h"
#include "tui/consoles.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/printout.h"
#include "tui/question.h"
#include "tui/queue.h"
#include "tui/runner.h"
#include "tui/running.h"
#include "tui/send.h"
#include "tui/show/status.h"
#include "tui/term/screen.h"
#include "tui/show/transcript.h"

/* Keeps a text that a message has; one that says nothing changes nothing. */
static void follow_text(char **field, const json_t *message, const char *name)
{
	const char *text = json_string_value(json_object_get(message, name));

	if (!text || !*text)
		return;
	free(*field);
	*field = mem_strdup(text);
}

static void follow_thought(struct app *app, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "text"));

	app->activity.streamed += text.len;
	follow_text(&app->activity.thought, message, "subject");
	if (strcmp(settings_string(app->settings, "ui.inlineThinkingMode", "off"), "full") == 0) {
		_cleanup_rows_ struct rows rows = { 0 };

		rows_text(&rows, text, STYLE(ROLE_DIM), term_size(app->term).columns);
		printout_block(&app->out, &rows);
	}
	transcript_thought(app->out.transcript, text);
}

/* ---- calls ------------------------------------------------------------------- */

static void follow_call(struct app *app, const json_t *message)
{
	printout_break(&app->out);
	app->activity.answered = true;
	running_start(&app->calls, message);
	if (app->out.plain) {
		const struct view_how how = printout_how(&app->out);
		_cleanup_rows_ struct rows rows = { 0 };

		view_call(&rows, message, &how);
		printout_block(&app->out, &rows);
	}
}

static void follow_result(struct app *app, const json_t *message)
{
	struct view_how how = printout_how(&app->out);
	_cleanup_rows_ struct rows rows = { 0 };
	json_auto_t *call = running_end(&app->calls, message);

	/* What is written in plan mode is the plan, which is shown when it is asked about. */
	how.brief = app->status.mode == MODE_PLAN;
	consoles_returned(app->consoles, json_span(json_object_get(message, "callId")));
	view_result(&rows, call, message, &how);
	printout_block(&app->out, &rows);
	transcript_call(app->out.transcript, call, message);
	status_add_lines(&app->status, json_object_get(message, "result"));
	activity_add_changes(&app->activity, json_object_get(message, "result"));
}

/* ---- other messages ---------------------------------------------------------- */

/* Pieces of an answer that do not count any more. */
static void follow_forget(struct app *app, const json_t *message)
{
	const json_t *forget = json_object_get(message, "forget");

	if (json_is_integer(forget) && json_integer_value(forget) > 0)
		printout_forget(&app->out, (size_t)json_integer_value(forget));
}

/* A wait before the next request is counted down in the live region; where that has no such row,
 * the sentence says it. */
static void follow_notice(struct app *app, const json_t *message)
{
	const char *severity = json_string_value(json_object_get(message, "severity"));
	const json_int_t delay = json_integer_value(json_object_get(message, "delayMs"));
	struct span text = json_span(json_object_get(message, "message"));

	follow_forget(app, message);
	if (delay > 0 && !app->out.plain) {
		activity_retry(&app->activity, (uint64_t)delay);
		text = json_span(json_object_get(message, "cause"));
	}
	if (severity && text.len)
		printout_notice(&app->out, strcmp(severity, "hook") ? severity : "info", text);
}

static void follow_turn_end(struct app *app, const json_t *message)
{
	const json_t *usage = json_object_get(message, "usage");
	struct status *status = &app->status;
	json_int_t cost;

	prices_count(settings_get(app->settings, "hasp.prices"),
	             status->model ? status->model : "", usage, &cost);
	status->cost += cost;
	activity_add_usage(&app->activity, usage, cost);
	status_add_usage(status, usage);
	status->context = (uint64_t)json_integer_value(json_object_get(usage, "input")) +
	                  (uint64_t)json_integer_value(json_object_get(usage, "output"));
	if (json_object_get(message, "quotaLeft"))
		status->quota = (int)json_integer_value(json_object_get(message, "quotaLeft"));
	printout_break(&app->out);
}

/* What a sub-agent does is shown with its call; what it used, and wrote, counts like anybody's. */
static void follow_subagent(struct app *app, const json_t *message)
{
	const struct span topic = json_span(json_object_get(message, "topic"));
	const json_t *inner = json_object_get(message, "message");

	if (span_eq(topic, span_str(bus_topic_name(BUS_TOOL_RESULT)))) {
		status_add_lines(&app->status, json_object_get(inner, "result"));
		activity_add_changes(&app->activity, json_object_get(inner, "result"));
	} else if (span_eq(topic, span_str(bus_topic_name(BUS_TURN_END)))) {
		status_add_usage(&app->status, json_object_get(inner, "usage"));
		activity_add_usage(&app->activity, json_object_get(inner, "usage"), 0);
	}
}

static void follow_compressed(struct app *app, const json_t *message)
{
	const json_int_t before = json_integer_value(json_object_get(message, "before"));
	const json_int_t after = json_integer_value(json_object_get(message, "after"));
	_cleanup_free_ char *text = mem_printf(
		"Chat history compressed from %lld to %lld tokens.", (long long)before,
		(long long)after);

	app->status.context = (uint64_t)after;
	printout_notice(&app->out, "info", span_str(text));
}

static void follow_model(struct app *app, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "message"));

	follow_forget(app, message);
	free(app->status.model);
	app->status.model = mem_strdup(json_string_value(json_object_get(message, "model")));
	follow_text(&app->status.effort, message, "effort");
	if (json_object_get(message, "window")) {
		app->status.window =
			(uint64_t)json_integer_value(json_object_get(message, "window"));
		free(app->status.key_from);
		app->status.key_from =
			mem_strdup(json_string_value(json_object_get(message, "keyFrom")));
	}
	if (text.len)
		printout_notice(&app->out, "warning", text);
}

static void follow_mode(struct app *app, const json_t *message)
{
	const char *word = json_string_value(json_object_get(message, "mode"));
	_cleanup_free_ char *said = NULL;

	if (!word || !policy_mode_parse(word, &app->status.mode) || !app->out.plain)
		return;
	said = mem_printf("Mode: %s.", status_mode_word(app->status.mode));
	printout_notice(&app->out, "info", span_str(said));
}

static void follow_topic(struct app *app, const json_t *message)
{
	follow_text(&app->activity.topic, message, "title");
	follow_text(&app->activity.thought, message, "strategicIntent");
}

/* The others were shown when they were sent. */
static void follow_prompt(struct app *app, const json_t *message)
{
	const bool steer = json_is_true(json_object_get(message, "steer"));

	if (steer || runner_foreign(app->runner))
		printout_user(&app->out, app->editor, json_span(json_object_get(message, "text")));
	if (steer)
		json_array_remove(app->queue.steers, 0);
}

/* What others did and said; an answer, or its question's withdrawal, closes the question. */
static void follow_others(struct app *app, enum bus_topic topic, const json_t *message)
{
	_cleanup_free_ char *text = runner_said(app->runner, topic, message);

	if (topic == BUS_QUESTION_ANSWERED)
		tui_answered(app, message);
	if (text)
		printout_notice(&app->out, "info", span_str(text));
}

static void follow_content(struct app *app, const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "text"));

	app->activity.streamed += text.len;
	app->activity.answered = true;
	printout_answer(&app->out, text);
}

static void follow_output(struct app *app, const json_t *message)
{
	running_output(&app->calls, message);
}

static void follow_progress(struct app *app, const json_t *message)
{
	running_progress(&app->calls, message);
}

static void follow_todos(struct app *app, const json_t *message)
{
	activity_set_todos(&app->activity, json_object_get(message, "todos"));
}

static void follow_policy(struct app *app, const json_t *message)
{
	(void)message;
	tui_question_go_on(app);
}

/* What is done with a message; topics without a row are not shown. */
static void (*const followers[])(struct app *app, const json_t *message) = {
	[BUS_TOOL_CONFIRMATION_RESPONSE] = tui_answered,
	[BUS_ASK_USER_RESPONSE] = tui_answered,
	[BUS_ELICITATION_RESPONSE] = tui_answered,
	[BUS_UPDATE_POLICY] = follow_policy,
	[BUS_PROMPT] = follow_prompt,
	[BUS_CONTENT] = follow_content,
	[BUS_THOUGHT] = follow_thought,
	[BUS_TOOL_CALL] = follow_call,
	[BUS_TOOL_OUTPUT] = follow_output,
	[BUS_TOOL_PROGRESS] = follow_progress,
	[BUS_TOOL_RESULT] = follow_result,
	[BUS_NOTICE] = follow_notice,
	[BUS_MODEL] = follow_model,
	[BUS_COMPRESSED] = follow_compressed,
	[BUS_TODOS] = follow_todos,
	[BUS_TOPIC_UPDATE] = follow_topic,
	[BUS_APPROVAL_MODE] = follow_mode,
	[BUS_TURN_END] = follow_turn_end,
	[BUS_SUBAGENT] = follow_subagent,
};

static void follow_message(struct app *app, enum bus_topic topic, const json_t *message)
{
	if (topic == BUS_TOOL_CONFIRMATION_REQUEST || topic == BUS_ASK_USER_REQUEST ||
	    topic == BUS_ELICITATION_REQUEST)
		tui_question(app, topic, message);
	else if (topic == BUS_QUESTION_ANSWERED || topic == BUS_QUESTION_VOTE ||
	         topic == BUS_COMMENT)
		follow_others(app, topic, message);
	else if ((size_t)topic < ARRAY_LEN(followers) && followers[topic])
		followers[topic](app, message);
}

/* ---- the agent's own reports ------------------------------------------------- */

static void follow_opened(struct app *app, const struct runner_event *event)
{
	const json_t *facts = event->message;
	_cleanup_free_ char *said = NULL;

	follow_text(&app->status.branch, facts, "branch");
	follow_text(&app->status.model, facts, "model");
	follow_text(&app->status.level, facts, "level");
	follow_text(&app->status.effort, facts, "effort");
	activity_set_topic(&app->activity, json_string_value(json_object_get(facts, "topic")));
	activity_set_todos(&app->activity, json_object_get(facts, "todos"));
	free(app->status.key_from);
	app->status.key_from = mem_strdup(json_string_value(json_object_get(facts, "keyFrom")));
	app->status.quota = -1;
	app->status.window =
		(uint64_t)json_integer_value(json_object_get(facts, "window"));
	transcript_move(app->out.transcript, event->transcript);
	complete_again(app->complete);
	said = first_reopened(app);
	if (said) {
		app->history_shown = false;
		printout_notice(&app->out, "info", span_str(said));
		return;
	}
	tui_show_history(app, json_object_get(facts, "history"),
	                 json_is_true(json_object_get(facts, "more")));
}

/* ---- what failed ------------------------------------------------------------- */

/* A prompt to which nothing came is the draft again. */
static bool follow_draft_again(struct app *app)
{
	const struct activity *activity = &app->activity;

	if (!app->queue.sent || !editor_is_empty(app->editor) || activity->answered)
		return false;
	tui_draft(app, span_str(app->queue.sent));
	return true;
}

static void follow_failed(struct app *app, const struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(ERR_MESSAGE_MAX + LIMIT_MESSAGE_BYTES);

	buf_str(&text, err->message);
	if (err->code == ERR_CONTEXT_TOO_LARGE)
		buf_str(&text, "\n/compress shortens the conversation, /clear starts a new one.");
	if (follow_draft_again(app))
		buf_str(&text, "\nYour prompt is in the composer again.");
	printout_notice(&app->out, "error", buf_view(&text));
}

/* Says why the session could not be opened, and what to do: a few lines, not a wall. */
static void follow_closed(struct app *app, const struct err *err)
{
	app->history_shown = false;
	free(first_reopened(app));
	/* What could not be sent is the draft again. */
	if (app->queue.sent && editor_is_empty(app->editor))
		tui_draft(app, span_str(app->queue.sent));
	if (err->code == ERR_AUTHENTICATION_FAILED)
		first_no_key(app, span_str(err->message));
	else
		printout_notice(&app->out, "error", span_str(err->message));
	if (err->code != ERR_AUTHENTICATION_FAILED) /* what waits for a key is sent with it */
		tui_unqueue(app);
}

/* What the prompt changed and used. */
static void follow_summary(struct app *app)
{
	_cleanup_free_ char *text = activity_summary(&app->activity);

	if (text)
		printout_notice(&app->out, "info", span_str(text));
}

static void follow_ended(struct app *app, const struct runner_event *event)
{
	const char *reason = json_string_value(json_object_get(event->message, "reason"));
	const char *missing = json_string_value(json_object_get(event->message, "missing"));
	const struct span unsent = json_span(json_object_get(event->message, "unsent"));

	follow_text(&app->status.branch, event->message, "branch");
	printout_break(&app->out);
	running_clear(&app->calls);
	json_array_clear(app->queue.steers);
	/* Without an error and with a reason: the user declined a call. */
	if (event->end == AGENT_CANCELLED && reason && !event->err.code)
		printout_notice(&app->out, "info",
		                SPAN("Cancelled: you declined the call. What was done stays "
		                     "done."));
	else if (event->end == AGENT_CANCELLED)
		printout_notice(&app->out, "info", SPAN("Interrupted. What was done stays done."));
	else if (event->err.code)
		follow_failed(app, &event->err);
	else if (reason && event->end != AGENT_ANSWERED)
		printout_notice(&app->out, "warning", span_str(reason));
	if (missing)
		printout_notice(&app->out, "warning", span_str(missing));
	queue_set_sent(&app->queue, SPAN(""));
	follow_summary(app);
	if (app->out.plain && event->end == AGENT_ANSWERED)
		printout_notice(&app->out, "info", SPAN("Done."));
	tui_refuse_all(app);
	if (unsent.len)
		tui_unsent(app, unsent, event->end == AGENT_CANCELLED);
	if (clock_monotonic_ms() - app->activity.since_ms > 5000)
		tui_notify(app, "hasp has answered.");
}

/* Closes the session, which opens again: nothing may ask it any more. */
static void follow_pause(struct app *app)
{
	const struct err none = ERR_INIT;

	if (!runner_opened(app->runner)) {
		first_paused(app, &none);
		return;
	}
	complete_wait(app->complete);
	lookup_wait(app->lookup);
	runner_pause(app->runner);
}

static void follow_found(struct app *app, const struct runner_event *event)
{
	if (!app->reopening.said)
		tui_show_end(app, json_string_value(json_object_get(event->message, "file")));
}

void tui_runner_event(void *data, const struct runner_event *event)
{
	struct app *app = data;

	if (event->kind == RUNNER_DONE && event->job)
		event->job->done(event->job);
	if (app->frames.ended)
		return;
	switch (event->kind) {
	case RUNNER_BUS:
		follow_message(app, event->topic, event->message);
		break;
	case RUNNER_NOTICE:
		follow_notice(app, event->message);
		break;
	case RUNNER_FOUND:
		follow_found(app, event);
		break;
	case RUNNER_STARTED:
		tui_start_working(app);
		break;
	case RUNNER_OPENED:
		follow_opened(app, event);
		break;
	case RUNNER_CLOSED:
		follow_closed(app, &event->err);
		break;
	case RUNNER_PAUSED:
		first_paused(app, &event->err);
		break;
	case RUNNER_ENDED:
		follow_ended(app, event);
		break;
	case RUNNER_DONE:
		break;
	}
	if (app->reopening.said && runner_idle(app->runner))
		follow_pause(app);
	if (runner_idle(app->runner)) {
		activity_stop(&app->activity);
		if (event->kind != RUNNER_CLOSED)
			tui_next(app);
		if (app->browse && runner_idle(app->runner))
			browse_idle(app);
	}
	frames_want(&app->frames);
}
