/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of recorded sessions (agent/session/sessions.h: figures_read) as tables for people: as
 * text, and as a page.  Both are drawn from one list of tables.
 *
 *     figures_print(&out, figures, colour);
 *     figures_page_print(&out, figures);
 *
 * To add a table: a row of figures_sections, and its rows in figures_rows.
 */
#ifndef HASP_CLI_VIEW_FIGURES_H
#define HASP_CLI_VIEW_FIGURES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends heading and tables as text, 80 columns wide; colour: headings are bold. */
void figures_print(struct buf *out, const json_t *figures, bool colour);
/* Appends a page of HTML that loads nothing: the tables, and above each that has something to
 * compare a chart, which the page's own script draws from the table.  Without the script, which
 * only a build with node has, and in browsers without scripts, there are the tables. */
void figures_page_print(struct buf *out, const json_t *figures);

/* The tables as the web front's page gets them (docs/web-protocol.md: GET /api/stats); a new
 * reference.  Of each the first rows, or, by day, the last. */
json_t *figures_tables(const json_t *figures);

/* ---- the tables (figures.c), for figures_page.c -------------------------------------- */

enum { FIGURES_COLUMNS = 7, FIGURES_CELL_BYTES = 64,
       FIGURES_TABLE_ROWS = 200 /* of figures_tables */ };

enum figures_kind {
	FIGURES_COUNT,
	FIGURES_TIME,  /* milliseconds */
	FIGURES_MONEY, /* millionths of a dollar */
};

struct figures_column {
	const char *title;
	const char *group; /* the object in the row that has it; NULL: the row itself */
	const char *name;
	int width;
	enum figures_kind kind;
};

struct figures_section {
	const char *title;
	const char *label;  /* above the names of the rows */
	const char *member; /* of figures_rows: an object with a row for each name */
	int shown;          /* in text: of the rows by name the last so many; below 0: the
	                     * greatest come first, and so many are shown; 0: all */
	struct figures_column columns[FIGURES_COLUMNS];
};

extern const struct figures_section figures_sections[];
extern const size_t figures_sections_count;

/* The rows of all sections by their member; a new reference. */
json_t *figures_rows(const json_t *figures);
/* A cell's number, and its text for people. */
json_int_t figures_cell(const json_t *row, const struct figures_column *column);
void figures_cell_print(const json_t *row, const struct figures_column *column,
                        char out[FIGURES_CELL_BYTES]);
/* Whether a column is shown: money only where there are prices. */
bool figures_column_shown(const struct figures_column *column, const json_t *rows);
/* Whether any cell of the section is not 0. */
bool figures_section_any(const struct figures_section *section, const json_t *rows);
/* The rows' names in the section's order; the caller frees the array. */
const char **figures_names(const struct figures_section *section, const json_t *rows,
                           size_t *ret_count);
/* A row's name for people: "~all", which is the last, is "all". */
const char *figures_label(const char *name);
/* What was counted, as a line; and how many lines of files could not be read, if any. */
void figures_heading_print(struct buf *out, const json_t *figures);
void figures_unreadable_print(struct buf *out, const json_t *figures);

/* ---- the page's script (web/src/stats.ts) ---------------------------------------------- */

/* Empty strings in a build without it.  `figures_script_hash` is the script's, as a
 * Content-Security-Policy has it: "sha256-...". */
extern const char figures_script[], figures_script_hash[], figures_style[];

#endif
