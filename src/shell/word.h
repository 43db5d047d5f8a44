/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the values of words, after brace expansion and quote removal (bash
 * manual 3.5.1 and 3.5.9, quoting 3.1.2). */
#ifndef HASP_SHELL_WORD_H
#define HASP_SHELL_WORD_H

#include "base/buf.h"
#include "shell/reader.h"

struct word_reading {
	struct buf text; /* quotes taken away, what is unknown left as written */
	size_t known;    /* of its bytes, those before the first unknown: the value */
	unsigned dynamic;
	bool splits;
	bool quoted;     /* a part of it is quoted */
	bool ansi;       /* has $'…' or $"…" */
};

/* Reads one word, without brace expansion. In `assignment`s a ~ counts after each : too. */
void word_read(const struct reading *reading, struct place at, bool assignment,
               struct word_reading *ret);
void word_release(struct word_reading *word);

/* A word of raw text in which there is no $ that means anything (one that braces_expand made). */
void word_read_plain(struct span raw, struct word_reading *ret);

/* Whether there is anything unknown in [at]. */
bool word_has_pieces(const struct reading *reading, struct place at);

/* What a braced word becomes. */
enum braces_outcome {
	BRACES_NONE,    /* it stays as it is */
	BRACES_WORDS,   /* the words, in *ret_words: raw, each followed by a NUL */
	BRACES_UNCLEAR, /* too many, or a case that shells see differently */
};

/* `raw` holds no substitutions and no NUL. */
enum braces_outcome braces_expand(struct span raw, struct buf *ret_words, size_t *ret_count);

#endif
