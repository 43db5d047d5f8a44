/* SPDX-License-Identifier: Apache-2.0 */
/* Code in colours, by tree-sitter.
 *
 *     struct highlight *h = highlight_new(SPAN("python"));   // a fence's word or a file's name
 *     highlight_line(h, line, &row);                         // one after the other
 *     highlight_free(h);
 *
 * C, C++, Python, JavaScript, TypeScript, TSX, Go, Rust, Java, JSON, YAML, TOML, Bash, HTML and CSS
 * by hasp-highlight.so, which the first code loads; differences without it.  A line is coloured by
 * what is known when it comes, and never again.  Code of more than 256 KB, lines of more than 4 KB,
 * and what takes too long is not coloured; nor is any where the module was not built.
 */
#ifndef HASP_TUI_MARKDOWN_HIGHLIGHT_H
#define HASP_TUI_MARKDOWN_HIGHLIGHT_H

#include "base/span.h"
#include "tui/text/rows.h"

struct highlight;

/* `language`: "c", "py", "main.rs", ...; unknown: text in ROLE_CODE. Never NULL. */
struct highlight *highlight_new(struct span language);
void highlight_free(struct highlight *highlight); /* NULL is fine */
/* Appends the next line (without its ending) to *row, coloured by what is known until here. */
void highlight_line(struct highlight *highlight, struct span line, struct row *row);

#endif
