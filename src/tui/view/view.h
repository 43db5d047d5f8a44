/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools and their results, as rows: files, edits, commands, searches each in their way.
 *
 *     view_call(&rows, call, width);                 // a line: what is about to be done
 *     view_result(&rows, result, &how);              // what came of it, folded or whole
 *
 * `call` and `result` are the bus's messages TOOL_CALL and TOOL_RESULT (bus/bus.h).
 */
#ifndef HASP_TUI_VIEW_VIEW_H
#define HASP_TUI_VIEW_VIEW_H

#include <jansson.h>
#include <stdbool.h>

#include "tui/text/rows.h"

struct view_how {
	unsigned width;
	bool folded;      /* a few rows, and how many more there are */
	bool plain;       /* for screen readers: words for signs, no borders */
};

/* A line such as "• Edit src/main.c". */
void view_call(struct rows *rows, const json_t *call, const struct view_how *how);
/* The call's line with how it ended, then what is worth seeing of the result: an edit its diff, a
 * command its last lines and exit code, a search its matches, an error its sentence. */
void view_result(struct rows *rows, const json_t *call, const json_t *result,
                 const struct view_how *how);
/* A unified diff: file names, line numbers in the margin, words that differ marked, code coloured;
 * side by side from 120 columns on. */
void view_diff(struct rows *rows, struct span unified, const struct view_how *how);
/* What the user said. */
void view_user(struct rows *rows, struct span text, const struct view_how *how);
/* severity "info"|"warning"|"error". */
void view_notice(struct rows *rows, const char *severity, struct span message,
                 const struct view_how *how);

#endif
