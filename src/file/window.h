/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a text that a reader asked for, cut out while the text passes by.
 *
 *     struct window window;
 *     window_init(&window, request, &content);
 *     while (more) window_feed(&window, piece);   // whole UTF-8 characters
 *     window_finish(&window);
 *     ... content, window.total_lines, window.first_line, ...
 *
 * A line counts in code points; a cut line ends in "... [truncated]" and keeps its line
 * ending.  Works in memory bounded by the content it collects.
 */
#ifndef HASP_FILE_WINDOW_H
#define HASP_FILE_WINDOW_H

#include "file/read.h"

struct window {
	/* what to collect */
	size_t first, last;    /* lines, 1-based, inclusive */
	size_t max_line_chars; /* SIZE_MAX: no limit */
	size_t max_bytes;
	struct buf *content; /* borrowed */
	/* what passed by */
	size_t line;         /* the line that is passing by, 1-based */
	size_t line_bytes;   /* its bytes so far */
	size_t chars;        /* its code points collected so far */
	size_t line_start;   /* where it begins in content */
	bool cut;            /* it has reached a limit */
	bool full;           /* max_bytes is reached: no more is collected */
	bool after_cr;       /* the last byte was a CR */
	size_t total_lines, lf_lines, crlf_lines;
	size_t first_line, last_line, cut_lines;
	bool final_newline;
};

/* The limits of `request`, with their defaults. */
void window_init(struct window *window, const struct read_request *request,
                 struct buf *content);
void window_feed(struct window *window, struct span piece);
/* Call once at the end: the last line may lack its ending. */
void window_finish(struct window *window);

#endif
