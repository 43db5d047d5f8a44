/* SPDX-License-Identifier: Apache-2.0 */
/* From matches in a piece of text to lines with context. Private to this folder.
 *
 *     gather_begin(&gather, request);
 *     for each piece of the file:
 *             outcome = gather_piece(&gather, matcher, scratch, text, from);
 *             gather_advance(&gather, text, keep);   text from `keep` on begins the next piece
 *     gather_take(&gather, &file_match)
 */
#ifndef HASP_SEARCH_GATHER_H
#define HASP_SEARCH_GATHER_H

#include "base/buf.h"
#include "search/match/matcher.h"
#include "search/search.h"

/* A line whose text may still move. */
struct gathered_line {
	struct search_line line; /* all but text.data */
	size_t at;               /* where its text begins */
};

struct gather {
	const struct search_request *request; /* borrowed */
	struct buf text;              /* of the lines */
	struct gathered_line *lines;  /* owned */
	size_t count, cap;
	size_t matches;
	size_t max;                   /* matches whose lines are kept */
	size_t max_bytes;             /* of text */
	bool more;                    /* there are matches beyond `max` */
	/* Of the piece at hand. */
	size_t line_at;               /* an offset that is a line's start ... */
	size_t line_number;           /* ... and that line's number */
	size_t emitted;               /* offset after the last line that was kept */
	size_t matched;               /* offset after the last line that is part of a match */
	size_t after_left;            /* lines of context still to come */
};

enum gather_outcome {
	GATHER_MORE_TEXT, /* goes on with the next piece */
	GATHER_DONE,      /* nothing further is needed of this file */
	GATHER_TOO_HARD,  /* matcher.h */
};

void gather_init(struct gather *gather, const struct search_request *request);
void gather_release(struct gather *gather);
void gather_begin(struct gather *gather); /* a new file */

/* Looks for matches that begin at or after `from`, a line's start. `text` begins at a line's
 * start. `first`, when not NULL, is the first match, found already. */
enum gather_outcome gather_piece(struct gather *gather, const struct matcher *matcher,
                                 struct matcher_scratch *scratch, struct span text, size_t from,
                                 const struct match *first);
/* Where the next piece has to begin, so that it has the lines of context before it. */
size_t gather_keep(const struct gather *gather, struct span text);
/* The next piece begins at offset `keep`, a line's start. */
void gather_advance(struct gather *gather, struct span text, size_t keep);

/* Moves what was gathered into `ret` (its path and hash are left alone). */
void gather_take(struct gather *gather, struct file_match *ret);

#endif
