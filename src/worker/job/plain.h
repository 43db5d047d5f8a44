/* SPDX-License-Identifier: Apache-2.0 */
/* What a terminal would show of a command's output, as text.
 *
 *     struct plain *plain = plain_new(emit, data);
 *     plain_feed(plain, bytes);      // any pieces
 *     plain_end(plain);              // emits what is still held
 *     plain_free(plain);
 *
 * Colours, titles, links, images and other control sequences (ECMA-48; xterm's ctlseqs for what
 * programs really send) are taken out.  Carriage returns, backspaces, and moving and erasing
 * among the last PLAIN_ROWS lines have their effect, so that a progress bar is its last state.
 * Invalid UTF-8 becomes U+FFFD, one for each byte.  Lines end with LF.
 *
 * Memory is bounded: a line that grows past PLAIN_ROW_BYTES is emitted in pieces, and can no
 * longer be changed.  A control string without an end is given up after PLAIN_STRING_BYTES.
 *
 * Not here: columns that a wide character takes (it counts as one), scroll regions, wrapping.
 */
#ifndef HASP_WORKER_JOB_PLAIN_H
#define HASP_WORKER_JOB_PLAIN_H

#include "base/span.h"

enum {
	PLAIN_ROWS = 48,
	PLAIN_ROW_BYTES = 16 << 10,
	PLAIN_STRING_BYTES = 64 << 10,
};

struct plain;

/* `emit` gets well-formed UTF-8 in order; pieces are whole lines unless a line is too long. */
struct plain *plain_new(void (*emit)(void *data, struct span text), void *data);
void plain_feed(struct plain *plain, struct span bytes);
void plain_end(struct plain *plain);
/* The same to another function, and all stays as it is: what can still change is looked at. */
void plain_peek(const struct plain *plain, void (*emit)(void *data, struct span text), void *data);
void plain_free(struct plain *plain); /* NULL is fine; emits nothing */

#endif
