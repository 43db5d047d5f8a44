/* SPDX-License-Identifier: Apache-2.0 */
/* Code in colours, by tree-sitter.
 *
 *     struct highlight *h = highlight_new(SPAN("python"));   // a fence's word or a file's name
 *     highlight_add(h, line);                 // all that is known, one after the other
 *     highlight_add_hidden(h, line);          // not to be shown, but what follows depends on it
 *     highlight_line(h, line, &row);          // those to be shown, in the same order
 *     highlight_free(h);
 *
 * C, C++, Python, JavaScript, TypeScript, TSX, Go, Rust, Java, JSON, YAML, TOML, Bash, HTML and CSS
 * by hasp-highlight.so, which the first code loads; differences without it.  A line is coloured by
 * what was added before it is shown, and never again.  Adding costs next to nothing: code is parsed
 * when the first line of it is shown, and again when more was added; so add all known lines, then
 * show them.  Code of more than 256 KB, lines of more than 4 KB, and what takes too long is not
 * coloured; nor is any where the module was not built.
 */
#ifndef HASP_TUI_MARKDOWN_HIGHLIGHT_H
#define HASP_TUI_MARKDOWN_HIGHLIGHT_H

#include "base/span.h"
#include "tui/text/rows.h"

struct highlight;

/* `language`: "c", "py", "main.rs", ...; unknown: text in ROLE_CODE. Never NULL. */
struct highlight *highlight_new(struct span language);
void highlight_free(struct highlight *highlight); /* NULL is fine */
/* Adds a line, without its ending, that highlight_line will show. */
void highlight_add(struct highlight *highlight, struct span line);
/* Adds a line that is not shown. */
void highlight_add_hidden(struct highlight *highlight, struct span line);
/* Appends the next line that is shown to *row, in colours; adds it first if all that were added
 * have been shown. */
void highlight_line(struct highlight *highlight, struct span line, struct row *row);

#endif
