/* SPDX-License-Identifier: Apache-2.0 */
/* The user's prompts on their way to the model: those that wait, the one under way, steers that are
 * to join it, and what goes along with the next one.
 *
 *     queue_init(&queue);
 *     if (!queue_add(&queue, text)) ...        // too many wait
 *     while ((text = queue_take_first(&queue))) ...
 *     queue_release(&queue);
 *
 * Nothing is sent here (send.c). */
#ifndef HASP_TUI_QUEUE_H
#define HASP_TUI_QUEUE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "tui/text/rows.h"

struct prompt_queue {
	char **waiting;      /* owned, each too; the first is sent next */
	size_t count, cap;
	char *sent;          /* owned; the prompt under way; or NULL */
	json_t *steers;      /* owned array of texts that are to join it */
	struct buf attached; /* to the next prompt: output of "!" commands, an edited plan */
	bool spoken;         /* something was sent or queued since the start */
};

/* None waits. */
void queue_init(struct prompt_queue *queue);
void queue_release(struct prompt_queue *queue); /* what waits is lost */
/* Appends a text that waits. False: as many wait as may. */
bool queue_add(struct prompt_queue *queue, struct span text);
/* The last that waits is sent next. */
void queue_last_is_next(struct prompt_queue *queue);
/* The one that is sent next, or the one that was added last; the caller frees. NULL: none waits. */
char *queue_take_first(struct prompt_queue *queue);
char *queue_take_last(struct prompt_queue *queue);
/* Notes the prompt under way; an empty span: there is none. */
void queue_set_sent(struct prompt_queue *queue, struct span text);
/* Steers, then what waits, for the stash: a new array. */
json_t *queue_texts(const struct prompt_queue *queue);
/* Appends a row for each of the first few, and how many more there are. */
void queue_rows(const struct prompt_queue *queue, unsigned width, struct rows *rows);

#endif
