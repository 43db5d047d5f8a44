/* SPDX-License-Identifier: Apache-2.0 */
/* What an editor shows: files that are open, the cursor, the selection, places that the user points
 * at.  All of it is text of a stranger; it is bounded when it is taken.
 *
 *     struct ide_view *view = ide_view_new();
 *     ide_view_take(view, "ide/contextUpdate", params);   // from any thread, again and again
 *     char *text = ide_view_text(view, "VS Code");        // for the model
 *     ide_view_free(view);
 */
#ifndef HASP_IDE_VIEW_H
#define HASP_IDE_VIEW_H

#include <jansson.h>
#include <stdbool.h>

struct ide_view;

struct ide_view *ide_view_new(void); /* of nothing; never NULL */
void ide_view_free(struct ide_view *view); /* NULL is fine */
/* Takes a notification: ide/contextUpdate replaces all files; selection_changed replaces the active
 * one; at_mentioned adds a place.  Malformed members are left out.  False: it is another
 * notification.  *ret_mention (NULL: none; the caller frees) is a place that was added, for people:
 * "src/main.c, lines 3-7".  From any thread. */
bool ide_view_take(struct ide_view *view, const char *method, const json_t *params,
                   char **ret_mention);
/* Forgets all of it. */
void ide_view_clear(struct ide_view *view);
/* What the model gets with the next prompt, one item a line, without places; `editor` is its name.
 * NULL: nothing is open. The caller frees. */
char *ide_view_text(struct ide_view *view, const char *editor);
/* The places that were added since the last call; NULL: none.  The caller frees. */
char *ide_view_mentions(struct ide_view *view);
/* The active file and how many are open, for people; NULL: nothing is open.  The caller frees. */
char *ide_view_summary(struct ide_view *view);

#endif
