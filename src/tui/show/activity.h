/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way and since when, what it is about, and the model's list of todos.
 *
 *     activity_start(&activity);               // zeroed: nothing is
 *     activity_rows(&activity, "esc to interrupt", &how, &rows);
 *     text = activity_summary(&activity);      // "2 files changed, +10 -3"
 *     activity_stop(&activity);
 *     activity_release(&activity); */
#ifndef HASP_TUI_SHOW_ACTIVITY_H
#define HASP_TUI_SHOW_ACTIVITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tui/view/view.h"

struct activity {
	uint64_t since_ms; /* working since; 0: not working */
	uint64_t retry_ms; /* the model is asked again then; past: nothing waits */
	char *topic;       /* owned; what is worked on; or NULL */
	char *thought;     /* owned; the subject of what the model thinks about; or NULL */
	json_t *todos;     /* owned; or NULL */
	/* Of the prompt under way, or of the last one. */
	json_t *files;     /* owned; the paths of files that were changed, as members; or NULL */
	uint64_t added, removed; /* lines of them */
	uint64_t input, output;  /* tokens */
	bool answered;     /* something came of the model */
	uint64_t streamed;       /* bytes of the reply whose tokens are not reported yet */
	json_int_t cost;   /* millionths of a dollar; 0: not known */
};

/* False: something was under way already. */
bool activity_start(struct activity *activity);
void activity_stop(struct activity *activity);
void activity_release(struct activity *activity);
/* The next request to the model waits so long. */
void activity_retry(struct activity *activity, uint64_t delay_ms);
/* Replaces the topic; NULL: there is none. */
void activity_set_topic(struct activity *activity, const char *topic);
/* Replaces the list of todos; takes a new reference to it. */
void activity_set_todos(struct activity *activity, json_t *todos);
/* Counts the tokens of a request, and what they cost in millionths of a dollar. */
void activity_add_usage(struct activity *activity, const json_t *usage, json_int_t cost);
/* Counts the files and lines that a call's result says were written. */
void activity_add_changes(struct activity *activity, const json_t *result);
/* The topic, and how long for how many tokens; nothing if nothing is under way. `keys`: what can be
 * done meanwhile. */
void activity_rows(const struct activity *activity, const char *keys, const struct view_how *how,
                   struct rows *rows);
/* What the prompt under way has changed and used, in a line; the caller frees. NULL: nothing that
 * is worth a line. */
char *activity_summary(const struct activity *activity);
/* The todos, or that there are none. */
void activity_todo_rows(const struct activity *activity, unsigned width, struct rows *rows);

#endif
