/* SPDX-License-Identifier: Apache-2.0 */
/* Markdown as it arrives, as rows.
 *
 *     struct markdown *md = markdown_new(width);
 *     markdown_feed(md, piece);               // of any length, cut anywhere
 *     markdown_take(md, &rows);               // rows that will not change any more
 *     markdown_end(md, &rows);                // the rest; a new text may begin
 *     markdown_free(md);
 *
 * A row is taken as soon as nothing that may still come can change it: of a paragraph or a list
 * item each full row but the last, of a code block each line, a table when it ends (its columns are
 * fitted to the width).  Parsed by md4c (CommonMark with GitHub's tables, strikethrough, task
 * lists, autolinks); code is coloured by highlight.h.  All text is foreign and made safe.
 */
#ifndef HASP_TUI_MARKDOWN_MARKDOWN_H
#define HASP_TUI_MARKDOWN_MARKDOWN_H

#include "base/span.h"
#include "tui/text/rows.h"

struct markdown;
struct markdown *markdown_new(unsigned width);
void markdown_free(struct markdown *md); /* NULL is fine */
/* Rows that are taken from now on have this width. */
void markdown_width(struct markdown *md, unsigned width);
void markdown_feed(struct markdown *md, struct span piece);
void markdown_take(struct markdown *md, struct rows *out);
void markdown_end(struct markdown *md, struct rows *out);
/* How many bytes of the text were fed and are in no row that was taken yet. */
size_t markdown_held(const struct markdown *md);
/* The last `bytes` bytes do not count (a reply is asked for again); those in rows that were taken
 * stay. Returns how many of them were in such rows. */
size_t markdown_forget(struct markdown *md, size_t bytes);

/* A whole text at once. */
void markdown_rows(struct span text, unsigned width, struct rows *out);

#endif
