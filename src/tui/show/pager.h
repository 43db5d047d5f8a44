/* SPDX-License-Identifier: Apache-2.0 */
/* Rows to look at on the alternate screen: scrolled, searched, copied; the transcript among them,
 * with entries that are folded and unfolded.
 *
 *     pager = pager_new(&options);
 *     pager_open(pager, "Changes", &rows);     // shown; keys are its own until it is closed
 *     if (pager_shown(pager)) pager_key(pager, &key);
 *     pager_free(pager);
 *
 * In plain lines, and while something is shown already, the rows are printed instead. */
#ifndef HASP_TUI_SHOW_PAGER_H
#define HASP_TUI_SHOW_PAGER_H

#include <stdbool.h>

#include "base/span.h"
#include "tui/term/keys.h"
#include "tui/text/rows.h"

struct bindings;
struct canvas;
struct clipboard;
struct pager;
struct printout;

/* All is borrowed. */
struct pager_options {
	struct printout *out;
	const struct bindings *bindings;
	struct clipboard *clipboard;
	struct canvas *canvas; /* the full screen's; NULL: inline, it makes one itself */
	const char **hint;     /* set to what is said until the next key */
};

/* Nothing is shown. The options are copied. */
struct pager *pager_new(const struct pager_options *options);
void pager_free(struct pager *pager); /* pager_close first; NULL is fine */
bool pager_shown(const struct pager *pager);
/* Shows rows (taken) from the first or from the last. */
void pager_open(struct pager *pager, const char *title, struct rows *rows);
void pager_open_end(struct pager *pager, const char *title, struct rows *rows);
/* The whole transcript; in plain lines, the last entry of which something was left out. */
void pager_transcript(struct pager *pager);
/* The warnings and errors of it. */
void pager_problems(struct pager *pager);
/* Nothing, if it is not shown. */
void pager_close(struct pager *pager);
/* A notice: in its last row until the next key, if it is shown, else printed. */
void pager_notice(struct pager *pager, const char *severity, const char *text);

/* While it is shown. */
void pager_key(struct pager *pager, const struct key *key);
/* Pasted text, into what is being searched for; false: nothing is. */
bool pager_paste(struct pager *pager, struct span text);
/* Scrolls by a turn of the mouse's wheel. */
void pager_wheel(struct pager *pager, bool up);
/* Draws it again; after the window has another size, all of it. */
void pager_draw(struct pager *pager);
void pager_resized(struct pager *pager);

#endif
