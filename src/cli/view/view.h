/* SPDX-License-Identifier: Apache-2.0 */
/* A tool's result as people want to see it on a terminal.
 *
 * The shape of the result decides how it is shown (a file, an edit, a folder, what was
 * found, several of these), so that a new tool with a familiar answer needs nothing
 * here; an unfamiliar one is shown as indented JSON.  Everything that comes
 * from files passes render_safe.
 */
#ifndef HASP_CLI_VIEW_VIEW_H
#define HASP_CLI_VIEW_VIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "tool/tool.h"

struct view {
	bool colour;
	size_t width; /* columns; 0: lines are not wrapped */
	bool output_shown; /* of a command: it was shown as it came (output.h) */
};

/* Asks the tool for what is shown best (the diff instead of the content, where in a line a
 * match is), unless the caller asked for something. */
void view_prepare(const struct tool *tool, json_t *arguments);

/* Appends the result. False when `out` overflowed. */
bool view_print(struct buf *out, const json_t *result, const struct view *view);

/* ---- foreign text ----------------------------------------------------------------- */

/* Foreign text and diffs, made fit for a terminal.
 *
 * What is made of it: tui/text/safe.h.  Tabs become spaces up to the next multiple of eight columns
 * of the text.
 *
 * Not here: JSON for a terminal (output.h escapes all but ASCII), layout of results (view_print).
 */

/* ---- text -------------------------------------------------------------------- */

/* Appends the text, usually one line without its ending. */
void render_safe(struct buf *out, struct span untrusted);
/* As buf_printf, with each text made safe, line ends in it too: a foreign one is never a line that
 * hasp seems to print. Knows %s (with -WIDTH and .PRECISION), %zu and %%; after any other
 * conversion `out` has overflowed. */
void render_printf(struct buf *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends a unified diff for people: line numbers in the margin, long lines wrapped at `width`
 * columns (0: not at all).  With `colour`, names are bold, hunk headers cyan, removed
 * lines red, added ones green, and what differs between paired lines is in
 * reverse.  The diff is foreign text too.  False when `out` overflowed. */
bool render_diff(struct buf *out, struct span unified, bool colour, size_t width);
/* Appends what differs between two texts of a file, as render_diff, without colour. */
bool render_difference(struct buf *out, const char *name, struct span before, struct span now);

/* ---- cells ------------------------------------------------------------------- */

/* Writing safe text column by column: what render.c and render.c share.
 *
 *     struct cells cells = { .out = out, .limit = 72, .margin = 8 };
 *     render_cells_style(&cells, "\033[31m");
 *     render_cells_text(&cells, line);
 *     render_cells_style(&cells, NULL);
 */

struct cells {
	struct buf *out;
	size_t column;     /* where the next character goes, from the start of the text */
	size_t limit;      /* columns before the text is wrapped; 0: never */
	size_t margin;     /* blanks before a line that goes on */
	const char *style; /* escape sequence in force; NULL: none */
	uint32_t before;   /* the character before; 0: none */
};

/* Appends foreign text, made safe as above. */
void render_cells_text(struct cells *cells, struct span untrusted);

/* Ends the style in force and begins another (NULL: none). */
void render_cells_style(struct cells *cells, const char *style);

/* ---- figures of recorded sessions (figures.c) --------------------------------------------
 *
 * As figures_read has them (agent/session/sessions.h), as text and as a page.  Both are drawn from
 * one list of tables.  To add a table: a row of figures_sections, and its rows in figures_rows. */

/* Appends heading and tables as text, 80 columns wide; colour: headings are bold. */
void figures_print(struct buf *out, const json_t *figures, bool colour);
/* Appends a page of HTML that loads nothing: the tables, and above each that has something to
 * compare a chart, which the page's own script draws from the table.  Without the script, which
 * only a build with node has, and in browsers without scripts, there are the tables. */
void figures_page_print(struct buf *out, const json_t *figures);

/* The tables as the web front's page gets them (docs/web-protocol.md: GET /api/stats); a new
 * reference.  Of each the first rows, or, by day, the last. */
json_t *figures_tables(const json_t *figures);

/* ---- the page's script (web/src/stats.ts) ---------------------------------------------- */

/* Empty strings in a build without it.  `figures_script_hash` is the script's, as a
 * Content-Security-Policy has it: "sha256-...". */
extern const char figures_script[], figures_script_hash[], figures_style[];

#endif
