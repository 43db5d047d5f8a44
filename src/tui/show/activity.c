/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way. */
#include "tui/show/activity.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"

bool activity_start(struct activity *activity)
{
	if (activity->since_ms)
		return false;
	activity->since_ms = clock_monotonic_ms();
	return true;
}

void activity_stop(struct activity *activity)
{
	activity->since_ms = activity->retry_ms = 0;
	free(activity->thought);
	activity->thought = NULL;
}

void activity_release(struct activity *activity)
{
	free(activity->topic);
	free(activity->thought);
	json_decref(activity->todos);
}

void activity_retry(struct activity *activity, uint64_t delay_ms)
{
	activity->retry_ms = clock_monotonic_ms() + delay_ms;
}

void activity_set_topic(struct activity *activity, const char *topic)
{
	free(activity->topic);
	activity->topic = mem_strdup(topic);
}

void activity_set_todos(struct activity *activity, json_t *todos)
{
	json_decref(activity->todos);
	activity->todos = json_incref(todos);
}

/* ---- rows -------------------------------------------------------------------- */

void activity_rows(const struct activity *activity, bool question, const struct view_how *how,
                   struct rows *rows)
{
	const uint64_t now = clock_monotonic_ms();
	_cleanup_free_ char *retry = activity->retry_ms <= now ? NULL :
		mem_printf("Retrying in %u s", (unsigned)((activity->retry_ms - now + 999) / 1000));

	if (!activity->since_ms)
		return;
	view_topic(rows, activity->topic, how);
	view_activity(rows, question, (now - activity->since_ms) / 1000,
	              retry ? retry : activity->thought, how);
}

void activity_todo_rows(const struct activity *activity, unsigned width, struct rows *rows)
{
	size_t i;
	json_t *todo;

	if (!json_array_size(activity->todos))
		row_text(rows_add(rows), SPAN("  There are no todos."), STYLE(ROLE_DIM));
	json_array_foreach(activity->todos, i, todo) {
		const struct span status = json_span(json_object_get(todo, "status"));
		const bool done = span_eq(status, SPAN("completed"));
		const bool now = span_eq(status, SPAN("in_progress"));
		struct row *row = rows_add(rows);

		row_text(row, done ? SPAN("  [x] ") : now ? SPAN("  [>] ") : SPAN("  [ ] "),
		         STYLE(done ? ROLE_SUCCESS : now ? ROLE_ACCENT : ROLE_DIM));
		row_text(row, json_span(json_object_get(todo, "description")),
		         STYLE(done ? ROLE_DIM : ROLE_TEXT));
		row_clip(row, width);
	}
}
