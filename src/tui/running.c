/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that run. */
#include "tui/running.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "tui/consoles.h"

enum { RUNNING_SHOWN = 4 };

static struct running_call *running_find(const struct running_calls *calls, const json_t *message)
{
	const json_t *id = json_object_get(message, "callId");

	for (size_t i = 0; i < calls->count; i++)
		if (json_equal(json_object_get(calls->at[i].call, "callId"), id))
			return &calls->at[i];
	return NULL;
}

static void running_free_call(const struct running_call *call)
{
	struct buf tail = call->tail;

	json_decref(call->call);
	json_decref(call->progress);
	buf_release(&tail);
}

void running_start(struct running_calls *calls, const json_t *message)
{
	if (calls->count == calls->cap)
		calls->at = mem_grow(calls->at, &calls->cap, calls->count + 1, sizeof(*calls->at));
	calls->at[calls->count++] = (struct running_call){
		.call = json_incref((json_t *)message),
		.tail = BUF_INIT((size_t)4 * TAIL_BYTES_MAX),
	};
}

/* The model's own questions (ASK_USER_REQUEST) name no call: theirs is the one that asks them. */
static struct running_call *running_of_question(const struct running_calls *calls,
                                           const json_t *question)
{
	const json_t *asked = json_object_get(question, "questions");

	for (size_t i = 0; asked && i < calls->count; i++)
		if (json_equal(json_object_get(json_object_get(calls->at[i].call, "arguments"),
		                               "questions"), asked))
			return &calls->at[i];
	return asked ? NULL : running_find(calls, question);
}

void running_asked(struct running_calls *calls, const json_t *question)
{
	struct running_call *call = running_of_question(calls, question);

	if (call)
		call->is_asked = true;
}

void running_resumed(struct running_calls *calls, const json_t *question)
{
	struct running_call *call = running_of_question(calls, question);

	if (call)
		call->is_asked = false;
}

static void running_keep(struct running_call *call, const char *name, json_t *value)
{
	json_t *kept = json_copy(call->call);

	json_object_set(kept, name, value);
	json_decref(call->call);
	call->call = kept;
}

void running_answered(struct running_calls *calls, const json_t *question, bool declined)
{
	struct running_call *call = running_find(calls, question);
	const json_t *details = json_object_get(question, "details");
	json_t *diff = json_object_get(details, "fileDiff");

	if (call && declined && json_string_length(diff))
		running_keep(call, "declined", diff);
	if (call && json_object_get(question, "modes"))
		running_keep(call, "plan", json_object_get(details, "prompt"));
}

void running_output(struct running_calls *calls, const json_t *message)
{
	struct running_call *call = running_find(calls, message);
	struct span text = json_span(json_object_get(message, "text"));

	if (!call)
		return;
	if (text.len > TAIL_BYTES_MAX)
		text = span_skip(text, text.len - TAIL_BYTES_MAX);
	buf_span(&call->tail, text);
	if (call->tail.len > (size_t)2 * TAIL_BYTES_MAX) {
		const size_t cut = call->tail.len - TAIL_BYTES_MAX;

		memmove(call->tail.data, call->tail.data + cut, TAIL_BYTES_MAX);
		call->tail.len = TAIL_BYTES_MAX;
	}
}

void running_progress(struct running_calls *calls, const json_t *message)
{
	struct running_call *call = running_find(calls, message);

	if (!call)
		return;
	json_decref(call->progress);
	call->progress = json_incref((json_t *)message);
}

json_t *running_end(struct running_calls *calls, const json_t *message)
{
	struct running_call *ended = running_find(calls, message);
	json_t *call;

	if (!ended)
		return json_incref((json_t *)message);
	call = json_incref(ended->call);
	running_free_call(ended);
	calls->count--;
	memmove(ended, ended + 1, (size_t)(calls->at + calls->count - ended) * sizeof(*ended));
	return call;
}

void running_clear(struct running_calls *calls)
{
	while (calls->count)
		running_free_call(&calls->at[--calls->count]);
}

void running_release(struct running_calls *calls)
{
	running_clear(calls);
	free(calls->at);
}

void running_calls_rows(const struct running_calls *calls, struct consoles *consoles,
                  const struct view_how *how, struct rows *rows)
{
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < calls->count; i++) {
		const struct running_call *call = &calls->at[i];

		if (call->is_asked)
			continue;
		if (shown == RUNNING_SHOWN) {
			more++;
			continue;
		}
		shown++;
		view_call(rows, call->call, how);
		view_progress(rows, call->progress, how);
		if (!consoles_rows(consoles, json_span(json_object_get(call->call, "callId")),
		                   how->width, rows))
			view_tail(rows, buf_view(&call->tail), TAIL_ROWS, how);
	}
	if (more)
		row_printf(rows_add(rows), STYLE(ROLE_DIM), "  and %zu more calls", more);
}
