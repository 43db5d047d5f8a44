/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way. */
#include "tui/show/activity.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/prices.h"
#include "tui/show/status.h"

enum {
	BYTES_PER_TOKEN = 4,    /* of a reply whose tokens are not reported yet: an estimate */
	LONG_MS = 10000,        /* a prompt that took as long gets its line in any case */
	SUMMARY_MAX = 256,
};

bool activity_start(struct activity *activity)
{
	if (activity->since_ms)
		return false;
	activity->since_ms = clock_monotonic_ms();
	json_decref(activity->files);
	activity->files = NULL;
	activity->added = activity->removed = 0;
	activity->input = activity->output = activity->streamed = 0;
	activity->cost = 0;
	activity->answered = false;
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
	json_decref(activity->files);
}

void activity_retry(struct activity *activity, uint64_t delay_ms)
{
	activity->retry_ms = clock_monotonic_ms() + delay_ms;
	activity->streamed = 0;
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

/* ---- what it did and used ---------------------------------------------------- */

void activity_add_usage(struct activity *activity, const json_t *usage, json_int_t cost)
{
	activity->input += (uint64_t)json_integer_value(json_object_get(usage, "input"));
	activity->output += (uint64_t)json_integer_value(json_object_get(usage, "output"));
	activity->cost += cost;
	activity->streamed = 0;
}

static void activity_add_file(struct activity *activity, const json_t *change)
{
	const json_t *state = json_object_get(change, "latest_file_state");
	const char *path = json_string_value(json_object_get(state, "file_path"));

	if (!activity->files)
		activity->files = json_object();
	if (path)
		json_object_set_new(activity->files, path, json_true());
}

void activity_add_changes(struct activity *activity, const json_t *result)
{
	const json_t *changes = json_object_get(result, "changes");
	uint64_t added = 0, removed = 0;
	size_t i;
	json_t *change;

	if (!status_count_lines(result, &added, &removed))
		return;
	activity->added += added;
	activity->removed += removed;
	json_array_foreach(changes, i, change)
		activity_add_file(activity, change);
	if (!changes && json_object_get(result, "lines_added"))
		activity_add_file(activity, result);
}

/* "12k tokens in, 310 out"; an estimate begins with "~". False: nothing is known. */
static bool put_tokens(const struct activity *activity, struct buf *out)
{
	const uint64_t estimate = activity->streamed / BYTES_PER_TOKEN;
	char input[STATUS_COUNT_SIZE], output[STATUS_COUNT_SIZE];

	if (!activity->input && !activity->output && !estimate)
		return false;
	status_print_count(activity->input, input);
	status_print_count(activity->output + estimate, output);
	if (activity->input)
		return buf_printf(out, "%s tokens in, %s%s out", input, estimate ? "~" : "",
		                  output);
	return buf_printf(out, "%s%s tokens out", estimate ? "~" : "", output);
}

static void summary_part(struct buf *out, const char *text)
{
	buf_printf(out, "%s%s", out->len ? ", " : "", text);
}

char *activity_summary(const struct activity *activity)
{
	const uint64_t ms = activity->since_ms ? clock_monotonic_ms() - activity->since_ms : 0;
	const size_t files = json_object_size(activity->files);
	_cleanup_buf_ struct buf out = BUF_INIT(SUMMARY_MAX);
	char cost[32];

	if (!files && ms < LONG_MS && !activity->cost)
		return NULL;
	if (files)
		buf_printf(&out, "%zu %s changed, +%llu -%llu", files,
		           files == 1 ? "file" : "files", (unsigned long long)activity->added,
		           (unsigned long long)activity->removed);
	summary_part(&out, "");
	if (ms >= 60000)
		buf_printf(&out, "%um %02us", (unsigned)(ms / 60000), (unsigned)(ms / 1000 % 60));
	else
		buf_printf(&out, "%.1fs", (double)ms / 1000);
	if (activity->input || activity->output) {
		summary_part(&out, "");
		put_tokens(activity, &out);
	}
	if (activity->cost) {
		prices_print(activity->cost, cost, sizeof(cost));
		summary_part(&out, cost);
	}
	return buf_steal(&out);
}

/* ---- rows -------------------------------------------------------------------- */

void activity_rows(const struct activity *activity, const char *keys, const struct view_how *how,
                   struct rows *rows)
{
	const uint64_t now = clock_monotonic_ms();
	_cleanup_buf_ struct buf tokens = BUF_INIT(SUMMARY_MAX);
	_cleanup_free_ char *retry = activity->retry_ms <= now ? NULL :
		mem_printf("Retrying in %u s", (unsigned)((activity->retry_ms - now + 999) / 1000));

	if (!activity->since_ms)
		return;
	view_topic(rows, activity->topic, how);
	view_activity(rows, &(struct view_work){
		.seconds = (now - activity->since_ms) / 1000, .retry = retry, .keys = keys,
		.tokens = put_tokens(activity, &tokens) ? tokens.data : NULL,
		.thought = retry ? NULL : activity->thought,
	}, how);
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
