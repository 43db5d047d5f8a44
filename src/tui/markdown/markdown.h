/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown as it arrives, as rows.
 *
 *     struct markdown *md = markdown_new(width);
 *     markdown_feed(md, piece);               // of any length, cut anywhere
 *     all = markdown_take(md, &rows);         // rows that will not change any more
 *     markdown_end(md, &rows);                // the rest; a new text may begin
 *     markdown_free(md);
 *
 * A row is taken as soon as nothing that may still come can change it: of a paragraph or a list
 * item each full row but the last whose marks (emphasis, code, links) are closed, of a code block
 * each line, a table when it ends (its columns are fitted to the width).  However a text is cut,
 * its rows are the same (colours of code may differ: a line is coloured by what has arrived).
 *
 * The syntax is CommonMark with GitHub's tables, strikethrough, task lists and autolinks; what
 * stands within a line is parsed by md4c (without that library marks stay as they are).  Where
 * CommonMark looks back, the reading is taken that does not:
 *
 *   - "---" under a paragraph is a rule and "===" is text, not a heading of what was shown
 *   - a definition of a reference is shown as text, and so are references
 *   - lists have blank rows where their source has blank lines, not in all of a list that has one
 *   - the first row of a table has a "|" among the first 64 bytes of its line
 *   - emphasis, code or a link that is not closed within MARKDOWN_HELD_MAX bytes is text
 *   - HTML is text, but for <br> in a cell of a table
 *
 * A link that goes to http, https, mailto or file is one (row_link), and its address stands behind
 * it unless it is its text.  Rows of text are at most as wide as the width.  A line of code is one
 * row however long it is, without border, number or indentation of ours, so that it can be copied
 * as it is; who cannot print longer rows wraps it.  Code is coloured by highlight.h.  All text is
 * foreign and made safe.
 *
 * Shown as source, each line is what it is, wrapped, without blank lines at the end.
 */
#ifndef HASP_TUI_MARKDOWN_MARKDOWN_H
#define HASP_TUI_MARKDOWN_MARKDOWN_H

#include "base/span.h"
#include "tui/text/rows.h"

/* What is kept of a text is bounded: marks that are not closed; a line that must be whole (the rest
 * becomes a new line); a table (its further rows are text); the source of what is open, so
 * that a part of it can be forgotten. */
enum {
	MARKDOWN_HELD_MAX = 4000,
	MARKDOWN_LINE_MAX = 256 << 10,
	MARKDOWN_TABLE_MAX = 256 << 10,
	MARKDOWN_SOURCE_MAX = 512 << 10,
	MARKDOWN_CODE_MAX = 16 << 10, /* bytes of code that one markdown_take colours */
};

struct markdown;
/* Never NULL. */
struct markdown *markdown_new(unsigned width);
void markdown_free(struct markdown *md); /* NULL is fine */
/* Rows that are taken from now on have this width. */
void markdown_width(struct markdown *md, unsigned width);
/* Shows what follows as source, or renders it: from the next line on at which no paragraph, list,
 * quote, table or code is open. */
void markdown_source(struct markdown *md, bool source);
/* Appends to the text. */
void markdown_feed(struct markdown *md, struct span piece);
/* Appends the rows that are certain since the last time; of a long code only as much as is coloured
 * within a frame. False: more can be taken immediately. */
bool markdown_take(struct markdown *md, struct rows *out);
/* Appends all that are left; the next piece begins another text. */
void markdown_end(struct markdown *md, struct rows *out);
/* How many bytes of the text were fed and are in no row that was taken yet; marks of emphasis and
 * links that are in part of a paragraph do not count. */
size_t markdown_held(const struct markdown *md);
/* The last `bytes` bytes do not count (a reply is asked for again); those in rows that were taken
  * stay. Returns how many of them were in such rows; if any, what follows is a new text. */
size_t markdown_forget(struct markdown *md, size_t bytes);

/* A whole text, and the same as source. */
void markdown_rows(struct span text, unsigned width, struct rows *out);
void markdown_source_rows(struct span text, unsigned width, struct rows *out);

#endif
