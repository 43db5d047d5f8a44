/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of tools and their results, as rows: files, edits, commands, searches each in their way.
 *
 *     view_call(&rows, call, &how);                  // a line: what is about to be done
 *     view_result(&rows, call, result, &how);        // what came of it, folded or whole
 *
 * `call` and `result` are the bus's messages TOOL_CALL and TOOL_RESULT (bus/bus.h); members that
 * they lack are left out.  The shape of a result decides how it is shown, so that a new tool with a
 * familiar answer needs nothing here; an unfamiliar one shows what it says of itself (`display`).
 *
 * Folded, a result has at most VIEW_FOLDED_ROWS rows beneath its first one (a diff
 * VIEW_FOLDED_DIFF_ROWS), each line clipped to one row, and the last says how many lines more there
 * are.  Whole, lines are wrapped, and VIEW_WHOLE_ROWS is the end.
 */
#ifndef HASP_TUI_VIEW_VIEW_H
#define HASP_TUI_VIEW_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "tui/text/rows.h"

enum {
	VIEW_FOLDED_ROWS = 8,
	VIEW_FOLDED_DIFF_ROWS = 12,
	VIEW_FOLDED_PASTE_ROWS = 3,
	VIEW_FOLDED_OUTPUT_ROWS = 5, /* the last ones of a command */
	VIEW_WHOLE_ROWS = 20000,     /* some hundred bytes each: more than a user pages through */
	VIEW_SIDES_COLUMNS = 120,    /* from here on old and new stand side by side */
};

struct view_how {
	unsigned width;
	bool folded;      /* a few rows, and how many more there are */
	bool plain;       /* for screen readers: words for signs, no borders */
	bool source;      /* answers as their Markdown source; for who shows answers */
	bool brief;       /* of an edit the head alone */
	size_t max;       /* rows beneath a head, where `folded` does not say fewer; 0: as above */
};

/* A line such as "• Edit src/main.c". */
void view_call(struct rows *rows, const json_t *call, const struct view_how *how);
/* The call's line with how it ended, then what is worth seeing of the result: an edit its diff, a
 * command its last lines and exit code, a search its matches, an error its sentence. `call` may be
 * NULL. */
void view_result(struct rows *rows, const json_t *call, const json_t *result,
                 const struct view_how *how);
/* What is worked on, in a row above what goes on; none for NULL and "". */
void view_topic(struct rows *rows, const char *topic, const struct view_how *how);
/* What is said of the work under way; texts are borrowed, and may be NULL. */
struct view_work {
	uint64_t seconds;       /* since it began */
	const char *retry;      /* "Retrying in 5 s" */
	const char *keys;       /* "esc to interrupt" */
	const char *tokens;     /* "12k tokens in, 310 out" */
	const char *thought;    /* the subject of what the model thinks about */
};
/* A row such as "* Working 12s  esc to interrupt  12k tokens in, 310 out  THOUGHT". Where it is too
 * narrow the thought is cut, and the tokens and the keys are left out. */
void view_activity(struct rows *rows, const struct view_work *work, const struct view_how *how);
/* The last lines of what a command has written so far, at most `max` rows, each clipped. */
void view_tail(struct rows *rows, struct span text, unsigned max, const struct view_how *how);
/* What a server reports of a call (TOOL_PROGRESS): "3 of 10, 30 %  MESSAGE"; none for NULL. */
void view_progress(struct rows *rows, const json_t *progress, const struct view_how *how);
/* A unified diff: file names, line numbers in the margin, words that differ marked, code coloured;
 * side by side from VIEW_SIDES_COLUMNS on. */
void view_diff(struct rows *rows, struct span unified, const struct view_how *how);
/* What the user said. */
void view_user(struct rows *rows, struct span text, const struct view_how *how);
/* A piece of it that was pasted. */
struct view_fold {
	size_t at, len;    /* bytes */
	const char *label; /* borrowed */
};
/* The same, with labels in place of such pieces (in their order, apart from each other), and the
 * first lines of each beneath the line that it stands in. */
void view_user_folded(struct rows *rows, struct span text, const struct view_fold *folds,
                      size_t count, const struct view_how *how);
/* severity "info"|"warning"|"error". */
void view_notice(struct rows *rows, const char *severity, struct span message,
                 const struct view_how *how);

#endif
