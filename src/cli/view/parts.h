/* SPDX-License-Identifier: Apache-2.0 */
/* What the views of results are made of. Private to view.c and found.c. */
#ifndef HASP_CLI_VIEW_PARTS_H
#define HASP_CLI_VIEW_PARTS_H

#include "cli/view/view.h"

enum style { STYLE_NAME, STYLE_DIM, STYLE_GOOD, STYLE_BAD, STYLE_FOLDER, STYLE_NUMBER };

/* One thing to show; nested results are shown by the same functions. */
struct shown {
	struct buf *out;
	const struct view *view;
};

/* Begins a style, if there are colours, and ends it. */
void shown_style(const struct shown *s, enum style style);
void shown_plain(const struct shown *s);
void shown_styled(const struct shown *s, enum style style, const char *own_text);

/* Foreign text that must stay on its line: a line feed becomes visible. */
void shown_line(const struct shown *s, struct span text);
/* "label: text" on its own line, if there is such a text. */
void shown_labelled(const struct shown *s, const char *label, struct span text);
/* A message may name a file, and so hold anything. */
void shown_message(const struct shown *s, struct span text);

/* The member of an object; empty or 0 when it has none of that type. */
struct span member_text(const json_t *object, const char *key);
json_int_t member_number(const json_t *object, const char *key);

/* What search_files and glob found: an object with `files`. */
void view_found(const struct shown *s, const json_t *result);

#endif
