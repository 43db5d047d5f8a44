/* SPDX-License-Identifier: Apache-2.0 */
/* The conversation as it was, within bounded memory: blocks with the source that their rows are
 * made from, at any width.
 *
 *     struct transcript *transcript = transcript_new();
 *     transcript_user(transcript, prompt);
 *     transcript_answer(transcript, piece);    // pieces of one answer are one block
 *     transcript_rows(transcript, &how, &rows, &places);
 *     transcript_free(transcript);
 *
 * When it is full the oldest blocks are dropped; all of a session is in its file.  One thread at a
 * time: the agent's makes one of a session that is resumed, and hands it over (RUNNER_OPENED). */
#ifndef HASP_TUI_SHOW_TRANSCRIPT_H
#define HASP_TUI_SHOW_TRANSCRIPT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tui/view/view.h"

struct transcript_place;

enum {
	TRANSCRIPT_BYTES_MAX = 8 << 20, /* what the pager can show */
	BLOCK_TEXT_MAX = 32 << 10,      /* of one string in a call's result that is kept */
};

struct transcript;

/* An empty one. */
struct transcript *transcript_new(void);
void transcript_free(struct transcript *transcript); /* NULL is fine */
/* Empty again: another conversation. */
void transcript_clear(struct transcript *transcript);
/* Another's blocks come behind the ones that there are; it is empty then. */
void transcript_move(struct transcript *transcript, struct transcript *from);
/* What the user said. */
void transcript_user(struct transcript *transcript, struct span text);
/* A piece of an answer: it goes on if the last block is one. */
void transcript_answer(struct transcript *transcript, struct span piece);
/* The last bytes of the answer do not count. */
void transcript_forget(struct transcript *transcript, size_t bytes);
void transcript_thought(struct transcript *transcript, struct span text);
/* TOOL_CALL and its TOOL_RESULT. */
void transcript_call(struct transcript *transcript, const json_t *call, const json_t *result);
void transcript_notice(struct transcript *transcript, const char *severity, struct span text);
/* Rows that have no other source; taken over. */
void transcript_rows_of(struct transcript *transcript, struct rows *rows);
/* Whatever comes next is another block. */
void transcript_break(struct transcript *transcript);
/* Where in rows the entries begin. */
struct transcript_places {
	struct transcript_place {
		size_t row, number; /* transcript_entry's */
	} *at;                      /* owned */
	size_t count, cap;
	size_t *other;              /* numbers of those that are folded when the rest is not, or the
	                             * other way round; owned */
	size_t other_count, other_cap;
};
/* Folds an entry if it is not, and the other way round. */
void transcript_fold(struct transcript_places *entries, size_t number);
/* Whether it is folded when the rest is not, or the other way round. */
bool transcript_is_other(const struct transcript_places *entries, size_t number);
void transcript_entries_release(struct transcript_places *entries);
/* All of it; folded as it was printed, or with all of the results, but for what `entries` says of
 * single ones; and where its entries begin (added to `entries`). */
void transcript_rows(const struct transcript *transcript, const struct view_how *how,
                     struct rows *rows, struct transcript_places *entries);
/* The warnings and errors in it. */
void transcript_problems(const struct transcript *transcript, unsigned width, struct rows *rows);
/* The text of an entry: what was said as it was written, of a call what is shown of it; the caller
 * frees. NULL: it had to go meanwhile. */
char *transcript_entry(const struct transcript *transcript, size_t number, unsigned width);
/* Block by block, for the full screen. They are numbered from 0 on; those before `first` were
 * dropped. Numbers start again when it is cleared, and the last block may have become shorter when
 * something was forgotten: how often that was is counted. */
struct transcript_state {
	size_t first, end;
	unsigned cleared, forgotten;
};
/* What there is now. */
struct transcript_state transcript_state(const struct transcript *transcript);
/* Appends the rows of a block; none for a thought unless `thoughts`. */
void transcript_block(const struct transcript *transcript, size_t number, bool thoughts,
                      const struct view_how *how, struct rows *rows);
/* Appends what stands before a block that has rows: one row, or none before the very first. */
void transcript_between(const struct transcript *transcript, size_t number, struct rows *rows);
/* Bytes of its text, which only the last one's changes. */
size_t transcript_size(const struct transcript *transcript, size_t number);
/* Whether it is an answer that is still being written; its text so far is borrowed. */
bool transcript_grows(const struct transcript *transcript, size_t number, struct span *ret_text);

#endif
