/* SPDX-License-Identifier: Apache-2.0 */
/* Questions, put one after the other, those of a kind together; all that wait get an answer, if
 * only a no. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/consoles.h"
#include "tui/term/frames.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/question.h"
#include "tui/runner.h"
#include "tui/running.h"
#include "tui/tui.h"

static const json_t *entry_message(const json_t *entry)
{
	return json_object_get(entry, "message");
}

static enum bus_topic entry_topic(const json_t *entry)
{
	return (enum bus_topic)json_integer_value(json_object_get(entry, "topic"));
}

/* ---- life -------------------------------------------------------------------- */

void question_queue_init(struct question_queue *questions)
{
	*questions = (struct question_queue){ .waiting = json_array(), .rounds = json_object() };
}

void question_queue_release(struct question_queue *questions)
{
	ask_free(questions->ask);
	rows_release(&questions->printed);
	json_decref(questions->waiting);
	json_decref(questions->rounds);
}

/* ---- rounds ------------------------------------------------------------------ */

/* Of questions that are put together (docs/bus.md): a number of one. */
static json_int_t together(const json_t *entry, const char *name)
{
	return json_integer_value(json_object_get(
		json_object_get(entry_message(entry), "together"), name));
}

static const char *round_key(const json_t *entry, char key[32])
{
	snprintf(key, 32, "%lld", (long long)together(entry, "id"));
	return key;
}

/* In the order of the reply, in whatever order they come. */
static void question_insert(struct app *app, json_t *entry)
{
	char key[32];
	size_t at = json_array_size(app->questions.waiting);
	json_int_t came;

	if (together(entry, "id")) {
		round_key(entry, key);
		came = json_integer_value(json_object_get(app->questions.rounds, key));
		json_object_set_new(app->questions.rounds, key, json_integer(came + 1));
	}
	while (at && together(entry, "id")) {
		const json_t *before = json_array_get(app->questions.waiting, at - 1);

		if (together(before, "id") != together(entry, "id") ||
		    together(before, "index") < together(entry, "index"))
			break;
		at--;
	}
	json_array_insert_new(app->questions.waiting, at, entry);
}

/* Whether all that are put together with it have come. */
static bool round_is_here(const struct app *app, const json_t *entry)
{
	char key[32];

	return json_integer_value(json_object_get(app->questions.rounds, round_key(entry, key))) >=
	       together(entry, "count");
}

/* ---- putting ----------------------------------------------------------------- */

/* Those of the same kind: in plain lines each is printed once. */
static void question_join_others(struct app *app, struct rows *rows)
{
	size_t i;
	json_t *entry;

	json_array_foreach(app->questions.waiting, i, entry) {
		if (!i || entry_topic(entry) != BUS_TOOL_CONFIRMATION_REQUEST ||
		    !round_is_here(app, entry) ||
		    !ask_join(app->questions.ask, json_object_get(entry, "message")))
			continue;
		if (app->out.plain && !json_object_get(entry, "shown"))
			ask_subject_joined(app->questions.ask, term_size(app->term).columns, rows);
		json_object_set_new(entry, "shown", json_true());
	}
}

void tui_question_comes(struct app *app)
{
	app->questions.ask_ms = clock_monotonic_ms();
	app->questions.aside = app->questions.ask_ms - app->keys.typed_ms < 2 * ASIDE_MS &&
	             (!editor_is_empty(app->editor) || consoles_focused(app->consoles));
}

static void question_put(struct app *app)
{
	const struct ask_options options = { .bindings = app->bindings, .plain = app->out.plain };
	const json_t *first = json_array_get(app->questions.waiting, 0);
	_cleanup_rows_ struct rows rows = { 0 };

	if (!first || app->questions.ask || app->questions.ruling || !round_is_here(app, first))
		return;
	app->questions.ask = ask_new(entry_topic(first), json_object_get(first, "message"),
	                             &options);
	tui_question_comes(app);
	question_join_others(app, &rows);
	if (app->out.plain || entry_topic(first) == BUS_ELICITATION_REQUEST)
		ask_subject(app->questions.ask, term_size(app->term).columns, &rows);
	printout_rows(&app->out, &rows);
	tui_notify(app, "hasp has a question.");
	if (pager_shown(app->pager))
		pager_notice(app->pager, "info", "hasp has a question: q goes to it");
	frames_want(&app->frames);
}

void tui_question(struct app *app, enum bus_topic topic, const json_t *message)
{
	question_insert(app, json_pack("{s:i, s:O}", "topic", (int)topic, "message", message));
	running_asked(&app->calls, message);
	question_put(app);
}

/* ---- answering --------------------------------------------------------------- */

/* The place of the question that an answer is to; the count: it is not here. */
static size_t question_find(const struct app *app, const json_t *answer)
{
	const json_t *id = json_object_get(answer, "correlationId");
	size_t i;
	json_t *entry;

	json_array_foreach(app->questions.waiting, i, entry)
		if (json_equal(id, json_object_get(entry_message(entry), "correlationId")))
			break;
	return i;
}

/* It waits no more: its call goes on, or ends. */
static void question_leaves(struct app *app, size_t i)
{
	const json_t *entry = json_array_get(app->questions.waiting, i);

	if (entry)
		running_resumed(&app->calls, entry_message(entry));
	json_array_remove(app->questions.waiting, i);
}

static void question_close(struct app *app)
{
	ask_free(app->questions.ask);
	app->questions.ask = NULL;
}

/* False: it is not awaited any more. */
static bool question_send(struct app *app, const json_t *answer)
{
	const size_t i = question_find(app, answer);
	const enum bus_topic topic = entry_topic(json_array_get(app->questions.waiting, i));

	running_answered(&app->calls, entry_message(json_array_get(app->questions.waiting, i)),
	                 span_eq(json_span(json_object_get(answer, "outcome")), SPAN("cancel")));
	question_leaves(app, i);
	return runner_answer(app->runner, bus_topic_answer(topic), answer);
}

/* What is allowed after a denial is no rule: no other question is answered by it. */
static bool makes_rule(const struct app *app, const json_t *answer)
{
	const json_t *entry = json_array_get(app->questions.waiting, question_find(app, answer));
	const json_t *details = json_object_get(entry_message(entry), "details");

	return span_starts(json_span(json_object_get(answer, "outcome")), SPAN("proceed_always")) &&
	       !span_eq(json_span(json_object_get(details, "type")), SPAN("sandbox_expansion"));
}

void tui_answer(struct app *app, json_t *answers)
{
	size_t i;
	json_t *answer;

	question_close(app);
	json_array_foreach(answers, i, answer) {
		const bool rule = makes_rule(app, answer);

		if (question_send(app, answer) && rule)
			app->questions.ruling = true;
	}
	json_decref(answers);
	question_put(app);
	frames_want(&app->frames);
}

/* The question goes, and not by the user's answer: what they have typed into it is in the draft. */
static void question_keep_typed(struct app *app)
{
	_cleanup_free_ char *typed = app->questions.ask ? ask_unsent(app->questions.ask) : NULL;
	_cleanup_free_ char *draft = editor_text(app->editor), *both = NULL;

	if (!typed)
		return;
	both = *draft ? mem_printf("%s\n%s", draft, typed) : mem_strdup(typed);
	if (!*draft)
		editor_set_shell(app->editor, false);
	editor_set(app->editor, span_str(both));
}

void tui_answered(struct app *app, const json_t *answer)
{
	const size_t i = question_find(app, answer);
	const json_t *entry = json_array_get(app->questions.waiting, i);

	if (!entry)
		return;
	if (app->questions.ask && i) {
		ask_unjoin(app->questions.ask, entry_message(entry));
	} else {
		question_keep_typed(app);
		question_close(app);
	}
	question_leaves(app, i);
	question_put(app);
	frames_want(&app->frames);
}

void tui_question_go_on(struct app *app)
{
	app->questions.ruling = false;
	question_put(app);
}

void tui_refuse_all(struct app *app)
{
	const struct ask_options options = { .bindings = app->bindings };
	json_t *first, *refusal;

	question_keep_typed(app);
	question_close(app);
	app->questions.ruling = false;
	while ((first = json_array_get(app->questions.waiting, 0))) {
		app->questions.ask = ask_new(entry_topic(first), json_object_get(first, "message"),
		                   &options);
		refusal = ask_refusal(app->questions.ask);
		question_close(app);
		question_send(app, refusal);
		json_decref(refusal);
	}
	json_object_clear(app->questions.rounds);
}
