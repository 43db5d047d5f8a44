/* SPDX-License-Identifier: Apache-2.0 */
/* Prompts on their way to the model. */
#include "tui/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum {
	QUEUED_SHOWN = 3, /* prompts that wait, shown */
	QUEUED_MAX = 64,  /* and kept */
};

void queue_init(struct prompt_queue *queue)
{
	*queue = (struct prompt_queue){ .steers = json_array(),
		                        .attached = BUF_INIT(LIMIT_RESULT_BYTES) };
}

void queue_release(struct prompt_queue *queue)
{
	while (queue->count)
		free(queue->waiting[--queue->count]);
	free(queue->waiting);
	free(queue->sent);
	json_decref(queue->steers);
	buf_release(&queue->attached);
}

bool queue_add(struct prompt_queue *queue, struct span text)
{
	if (queue->count == QUEUED_MAX)
		return false;
	if (queue->count == queue->cap)
		queue->waiting = mem_grow(queue->waiting, &queue->cap, queue->count + 1,
		                          sizeof(*queue->waiting));
	queue->waiting[queue->count++] = mem_dup(text.data, text.len);
	return true;
}

void queue_last_is_next(struct prompt_queue *queue)
{
	char *last = queue->count ? queue->waiting[queue->count - 1] : NULL;

	if (!last)
		return;
	memmove(queue->waiting + 1, queue->waiting, (queue->count - 1) * sizeof(*queue->waiting));
	queue->waiting[0] = last;
}

char *queue_take_first(struct prompt_queue *queue)
{
	char *first = queue->count ? queue->waiting[0] : NULL;

	if (first)
		memmove(queue->waiting, queue->waiting + 1,
		        --queue->count * sizeof(*queue->waiting));
	return first;
}

char *queue_take_last(struct prompt_queue *queue)
{
	return queue->count ? queue->waiting[--queue->count] : NULL;
}

void queue_set_sent(struct prompt_queue *queue, struct span text)
{
	free(queue->sent);
	queue->sent = text.len ? mem_dup(text.data, text.len) : NULL;
}

json_t *queue_texts(const struct prompt_queue *queue)
{
	json_t *texts = json_copy(queue->steers);

	for (size_t i = 0; i < queue->count; i++)
		json_array_append_new(texts, json_text(span_str(queue->waiting[i])));
	return texts;
}

/* ---- rows -------------------------------------------------------------------- */

/* The first line of a text that waits, and for what. */
static void queue_row(struct span what, struct span text, unsigned width, struct rows *rows)
{
	struct row *row = rows_add(rows);
	struct span line = { 0 };

	line_next(&text, &line);
	row_text(row, what, STYLE(ROLE_DIM));
	row_text(row, line_body(line), STYLE(ROLE_USER));
	row_clip(row, width);
}

void queue_rows(const struct prompt_queue *queue, unsigned width, struct rows *rows)
{
	size_t i;
	json_t *text;

	json_array_foreach(queue->steers, i, text)
		queue_row(SPAN("  joins at the next step: "), json_span(text), width, rows);
	for (i = 0; i < queue->count && i < QUEUED_SHOWN; i++)
		queue_row(SPAN("  queued: "), span_str(queue->waiting[i]), width, rows);
	if (queue->count > QUEUED_SHOWN)
		row_printf(rows_add(rows), STYLE(ROLE_DIM), "  and %zu more (Up edits the last)",
		           queue->count - QUEUED_SHOWN);
}
