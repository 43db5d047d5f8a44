/* SPDX-License-Identifier: Apache-2.0 */
/* The text that a reader writes: cleaned, and cut at a line where it has become too long.
 *
 *     struct text_out out;
 *
 *     text_out_init(&out, request, ret);
 *     for each page:
 *             if (!text_out_printf(&out, "--- page %u ---\n", page) || !text_out(&out, text))
 *                     break;                               // there is enough
 *     text_out_end(&out);                                  // sets ret->truncated and ->next
 *
 * Bytes that are no UTF-8 become U+FFFD; CR LF and CR become LF; control characters but tab and LF
 * are left out.  The lines before request->first_line are left out.  What was written after the
 * limit is not kept, and a reader need not go on.
 */
#ifndef HASP_READ_TEXT_OUT_H
#define HASP_READ_TEXT_OUT_H

#include "read/read.h"

struct text_out {
	struct derive_result *ret; /* borrowed */
	size_t max;                /* bytes of ret->text */
	size_t line;               /* of what is written next, from 1 */
	size_t first_line;         /* lines before it are not kept */
	size_t line_start;         /* in ret->text, of the current line */
	bool in_line;              /* the current line is not empty, kept or not */
	bool after_cr;
	bool full;                 /* the limit is reached: whatever comes is not kept */
	char split[4];             /* a character whose end is still to come */
	size_t split_len;
};

/* Both are borrowed; ret->text must be empty (format_run). */
void text_out_init(struct text_out *out, const struct derive_request *request,
                   struct derive_result *ret);
/* Text in pieces of any size, in which a character may be split; false: there is enough. */
bool text_out(struct text_out *out, struct span text);
bool text_out_printf(struct text_out *out, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Ends the line that is not empty. */
bool text_out_line(struct text_out *out);
/* Ends the text.  When it was cut, ret->truncated is set, and ret->next, unless the reader has set
 * it, is "line N". */
void text_out_end(struct text_out *out);

#endif
