/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way and since when, what it is about, and the model's list of todos.
 *
 *     activity_start(&activity);               // zeroed: nothing is
 *     activity_rows(&activity, asking, &how, &rows);
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
/* The topic, and since when; nothing if nothing is under way. `question`: one is shown. */
void activity_rows(const struct activity *activity, bool question, const struct view_how *how,
                   struct rows *rows);
/* The todos, or that there are none. */
void activity_todo_rows(const struct activity *activity, unsigned width, struct rows *rows);

#endif
