/* SPDX-License-Identifier: Apache-2.0 */
/* The last lines of an output, which can still be changed. Private to plain.c.
 *
 * A row is its text in UTF-8; the cursor is a row and a byte offset in it, always at a code
 * point, or some columns past the end: blanks are only made when something is written there.
 * Rows that leave at the top are emitted.
 */
#ifndef HASP_WORKER_JOB_PLAIN_ROWS_H
#define HASP_WORKER_JOB_PLAIN_ROWS_H

#include "base/buf.h"
#include "worker/job/plain.h"

struct plain_rows {
	void (*emit)(void *data, struct span text);
	void *data;
	struct buf rows[PLAIN_ROWS]; /* a ring */
	size_t first, count;         /* of the ring; count is at least 1 */
	size_t row;                  /* of the cursor, from `first` */
	size_t at;                   /* bytes */
	size_t past;                 /* columns past the end of the row; then `at` is its end */
};

void plain_rows_init(struct plain_rows *rows, void (*emit)(void *data, struct span text),
                     void *data);
void plain_rows_release(struct plain_rows *rows);
void plain_rows_flush(struct plain_rows *rows); /* emits all; the last row without a newline */
void plain_rows_peek(const struct plain_rows *rows, void (*emit)(void *data, struct span text),
                     void *data);

void plain_rows_put(struct plain_rows *rows, struct span code_point);
void plain_rows_put_run(struct plain_rows *rows, struct span ascii);
void plain_rows_newline(struct plain_rows *rows);
void plain_rows_up(struct plain_rows *rows, unsigned count);
void plain_rows_down(struct plain_rows *rows, unsigned count); /* makes no new rows but one */
void plain_rows_left(struct plain_rows *rows, unsigned count);
void plain_rows_right(struct plain_rows *rows, unsigned count); /* also past the end */
void plain_rows_column(struct plain_rows *rows, unsigned column);
void plain_rows_go(struct plain_rows *rows, unsigned row, unsigned column);
void plain_rows_erase_below(struct plain_rows *rows, unsigned how); /* as ED: 0 below, 2 all */
void plain_rows_erase_line(struct plain_rows *rows, unsigned how);  /* as EL: 0, 1, 2 */
void plain_rows_delete(struct plain_rows *rows, unsigned count);    /* as DCH */

#endif
