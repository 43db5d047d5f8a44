/* SPDX-License-Identifier: Apache-2.0 */
/* The output of one command: its two ends as text, all of it in a log when it is long.
 *
 *     struct capture capture;
 *     capture_init(&capture, &options);
 *     capture_feed(&capture, bytes); ... capture_end(&capture);
 *     capture_text(&capture, &text);          // at any time
 *     capture_release(&capture);
 *
 * Text is what a terminal would show (plain.h); the log has the bytes as they came.  An output that
 * does not begin as text is binary; one that becomes something else is text up to there.  Output
 * shorter than its two ends is kept in memory alone.  Not thread-safe. */
#ifndef HASP_WORKER_JOB_CAPTURE_H
#define HASP_WORKER_JOB_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "worker/job/plain.h"

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
	int log_errno;        /* why there is no more of it; 0: all of the output is there */
};

void capture_init(struct capture *capture, const struct capture_options *options);
void capture_feed(struct capture *capture, struct span bytes);
void capture_end(struct capture *capture); /* no more comes */
void capture_release(struct capture *capture);

/* What a reader gets: both ends are the same text when nothing was left out. */
struct capture_text {
	struct buf head, tail;     /* owned; the tail begins with a line, if it has one */
	uint64_t left_out_bytes, left_out_lines; /* between them; of text, not of output */
};

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

#endif
