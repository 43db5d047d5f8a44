/* SPDX-License-Identifier: Apache-2.0 */
/* Questions, put one after the other; all that wait get an answer, if only a no. */
#include "base/clock.h"
#include "data/json.h"
#include "tui/private.h"

static void question_put(struct app *app)
{
	const struct ask_options options = { .bindings = app->bindings, .plain = app->plain };
	const json_t *first = json_array_get(app->questions, 0);
	const uint64_t now = clock_monotonic_ms();
	_cleanup_rows_ struct rows rows = { 0 };

	if (!first || app->ask)
		return;
	app->ask = ask_new((enum bus_topic)json_integer_value(json_object_get(first, "topic")),
	                   json_object_get(first, "message"), &options);
	app->ask_ms = now;
	app->aside = !editor_is_empty(app->editor) && now - app->key_ms < 2 * ASIDE_MS;
	ask_subject(app->ask, term_size(app->term).columns, &rows);
	tui_print_only(app, &rows);
	status_notify(app, "hasp has a question.");
	tui_changed(app);
}

void tui_question(struct app *app, enum bus_topic topic, const json_t *message)
{
	json_array_append_new(app->questions,
	                      json_pack("{s:i, s:O}", "topic", (int)topic, "message", message));
	question_put(app);
}

static void question_close(struct app *app, json_t *answer)
{
	const json_t *first = json_array_get(app->questions, 0);
	const enum bus_topic topic =
		(enum bus_topic)json_integer_value(json_object_get(first, "topic"));
	const struct tui_opened *opened = runner_opened(app->runner);

	if (opened)
		bus_answer(host_bus(opened->host), bus_topic_answer(topic), answer);
	json_decref(answer);
	ask_free(app->ask);
	app->ask = NULL;
	json_array_remove(app->questions, 0);
}

void tui_answer(struct app *app, json_t *answer)
{
	question_close(app, answer);
	question_put(app);
	tui_changed(app);
}

void tui_refuse_all(struct app *app)
{
	const struct ask_options options = { .bindings = app->bindings };

	while (json_array_size(app->questions)) {
		const json_t *first = json_array_get(app->questions, 0);
		const int topic = (int)json_integer_value(json_object_get(first, "topic"));

		if (!app->ask)
			app->ask = ask_new((enum bus_topic)topic, json_object_get(first, "message"),
			                   &options);
		question_close(app, ask_refusal(app->ask));
	}
}
