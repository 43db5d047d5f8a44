/* SPDX-License-Identifier: Apache-2.0 */
/* The output of one command: its two ends as text, all of it in a log when it is long.
 *
 *     struct capture capture;
 *     capture_init(&capture, &options);
 *     capture_feed(&capture, bytes); ... capture_end(&capture);
 *     capture_text(&capture, &text);          // at any time
 *     capture_release(&capture);
 *
 * Text is what a terminal would show (plain_feed); the log has the bytes as they came.  An output
 * that does not begin as text is binary; one that becomes something else is text up to there.
 * Output shorter than its two ends is kept in memory alone.  Not thread-safe. */
#ifndef HASP_WORKER_JOB_CAPTURE_H
#define HASP_WORKER_JOB_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

/* ---- the folder of a session's logs ---- */

/* FOLDER/SESSION/ID.log, readable by the owner alone.  It is made by the first log, and locked
 * (flock) while the session lives: folders of sessions that were killed are recognised by their
 * free lock, and removed when the next one is made, unless they are asked to stay (a file "keep").
 */

struct logs;

/* `folder` absolute; made with its parents when it is needed. */
struct logs *capture_logs_new(const char *folder, bool keep);
/* Removes the session's folder unless it is to stay. NULL is fine. */
void capture_logs_free(struct logs *logs);

/* The two ends of a text. */
struct ends {
	struct buf head, tail;
	size_t head_max, tail_max; /* bytes */
	uint64_t bytes, lines;     /* of all of it */
	bool head_full;
};

struct capture_options {
	size_t head_bytes, tail_bytes;
	struct logs *logs;   /* borrowed; NULL: no log */
	uint64_t log_bytes;  /* the most that is written */
	unsigned id;         /* the log is ID.log */
	bool hide_alternate; /* plain_hide_alternate */
};

struct capture {
	struct capture_options options;
	struct plain *plain;  /* owned; NULL when it has ended, or the output is binary */
	struct ends ends;
	struct buf raw;       /* the output itself, until there is a log */
	uint64_t bytes;       /* of the output */
	size_t sniffed, odd;  /* of the first bytes: how many, and how many are not text's */
	bool has_nul, binary;
	uint64_t text_bytes;  /* not 0: after so many bytes the rest is no text, and not in the
	                       * ends */
	int log;              /* owned; -1: none, or not any more */
	char *log_path;       /* owned; NULL: none */
	uint64_t logged;      /* bytes in it */
	int log_errno;        /* why it is incomplete; 0: it has all of the output */
};

/* Prepares it for the output of one command; `options` is copied. */
void capture_init(struct capture *capture, const struct capture_options *options);
/* Takes the next bytes of the output. An error of the log ends the log (log_errno), no more. */
void capture_feed(struct capture *capture, struct span bytes);
void capture_end(struct capture *capture); /* no more comes */
void capture_release(struct capture *capture);

/* What a reader gets: both ends are the same text when nothing was left out. */
struct capture_text {
	struct buf head, tail;     /* owned; the tail begins with a line, if it has one */
	uint64_t left_out_bytes, left_out_lines; /* between them; of text, not of output */
};

/* At any time, also before capture_end; of a binary output both are empty. */
void capture_text(const struct capture *capture, struct capture_text *ret);
/* Whether such a text would leave something out; after capture_end. */
bool capture_leaves_out(const struct capture *capture);
void capture_text_release(struct capture_text *text);

/* A part of the output as text. `offset`, and *ret_next where to go on, are bytes of the output. */
struct capture_part {
	struct buf text;        /* owned */
	uint64_t offset, next;
	bool cut;               /* lines before the first are there too */
};

enum { CAPTURE_PART_BYTES = 64 << 10 };

/* The last `lines` lines, of the last CAPTURE_PART_BYTES at most. */
bool capture_last(const struct capture *capture, size_t lines, struct capture_part *ret,
                  struct err *err);
/* What comes from `offset` on, up to CAPTURE_PART_BYTES, whole lines if there are. */
bool capture_from(const struct capture *capture, uint64_t offset, struct capture_part *ret,
                  struct err *err);

/* ---- what a terminal would show, as text (plain.c) -------------------------------- */

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

enum {
	PLAIN_ROWS = 48,
	PLAIN_ROW_BYTES = 16 << 10,
	PLAIN_STRING_BYTES = 64 << 10,
};

struct plain;

/* `emit` gets well-formed UTF-8 in order; pieces are whole lines unless a line is too long. */
struct plain *plain_new(void (*emit)(void *data, struct span text), void *data);
/* Output to the alternate screen (vim, less) is left out, as it disappears when the program
 * ends. */
void plain_hide_alternate(struct plain *plain);
void plain_feed(struct plain *plain, struct span bytes);
void plain_end(struct plain *plain);
/* The same to another function, and all stays as it is: what can still change is looked at. */
void plain_peek(const struct plain *plain, void (*emit)(void *data, struct span text), void *data);
void plain_free(struct plain *plain); /* NULL is fine; emits nothing */

#endif
