/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at text with vector instructions: one literal, any of several, what lines are
 * like, and how common bytes are. Private to this folder.
 *
 *     struct literal literal;
 *     literal_init(&literal, needle, ignore_case);
 *     const char *hit = literal_find(&literal, at, end);
 *
 * The two rarest bytes of the text are compared at their distance, 32 places (AVX2) or
 * 16 (SSE2) at a time; where both are, the text itself is compared.  The machine is asked once
 * what it can do.  Nothing outside [at, end) is read.
 *
 * The time taken is near linear where texts are short.  Long ones (more than LITERAL_LONG bytes),
 * unless case is ignored, are looked for with memmem, which is linear in any text.
 *
 * Not here: lines (matcher.c). */
#ifndef HASP_SEARCH_MATCH_LITERAL_H
#define HASP_SEARCH_MATCH_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

/* ---- one text ---- */

/*
 *     struct literal literal;
 *     literal_init(&literal, needle, ignore_case);
 *     const char *hit = literal_find(&literal, at, end);
 *
 * The two rarest bytes of the text are compared at their distance, 32 places (AVX2) or
 * 16 (SSE2) at a time; where both are, the text itself is compared.  The machine is asked once
 * what it can do.  Nothing outside [at, end) is read.
 *
 * The time taken is near linear where texts are short.  Long ones (more than LITERAL_LONG bytes),
 * unless case is ignored, are looked for with memmem, which is linear in any text.
 *
 * Not here: lines (matcher.c).
 */

enum { LITERAL_LONG = 256 };

struct literal {
	struct span text;      /* borrowed; not empty */
	bool ignore_case;      /* of ASCII letters; those of `text` are in lower case then */
	size_t first, second;  /* where the two bytes are; first <= second */
	unsigned char bytes[2];
	unsigned char masks[2]; /* or-ed to the bytes looked at: 0x20 for letters of any case */
	const char *(*find)(const struct literal *literal, const char *at, const char *end);
};

/* How it is looked for: what this machine can do at best is chosen by itself. */
enum literal_way { LITERAL_PORTABLE, LITERAL_SSE2, LITERAL_AVX2 };
enum literal_way literal_best_way(void);

/* `text` is borrowed for as long as the literal is used. */
void literal_init(struct literal *ret, struct span text, bool ignore_case);
/* Selects a slower way, for tests and benchmarks; `way` must not exceed the best. */
void literal_use(struct literal *literal, enum literal_way way);

/* Where it first lies in [at, end), whole; NULL when it does not. */
static inline const char *literal_find(const struct literal *literal, const char *at,
                                       const char *end)
{
	return literal->find(literal, at, end);
}

/* ---- finding any of several texts ---- */

/*
 *     struct literal_set *set = literal_set_new(texts, count, ignore_case);
 *     const char *hit = literal_set_find(set, at, end);
 *     literal_set_free(set);
 *
 * Of each text up to three rare bytes in a row are its sign.  A table for each byte of the
 * signs says, by its upper and by its lower half, in which of eight groups of texts it occurs
 * there; with them 32 places are looked up at a time (AVX2), and where a group remains
 * its texts are compared: of long ones the 16 bytes around the sign.  Nothing outside [at, end)
 * is read.
 */

struct literal_set;

enum { LITERAL_SET_MAX = 64 };

/* 1 to LITERAL_SET_MAX texts, none of them empty, in lower case where case is ignored; the
 * bytes are borrowed. The caller frees it. */
struct literal_set *literal_set_new(const struct span *texts, size_t count, bool ignore_case);
void literal_set_free(struct literal_set *set); /* NULL is fine */
/* As literal_use. */
void literal_set_use(struct literal_set *set, enum literal_way way);

/* A place within one of the texts that lies in [at, end), whole (of a text of more than 16
 * bytes, some 16 of them); NULL when none does.  If no text has a LF, no line before the one of
 * this place has any of them. */
const char *literal_set_find(const struct literal_set *set, const char *at, const char *end);

/* ---- what must be known of lines before they are passed to the engine together ---- */

struct survey {
	bool ascii;     /* no byte beyond ASCII */
	bool has_cr;
	size_t longest; /* bytes of the longest line, with its LF */
};

/* One pass over the text with vector instructions. */
struct survey literal_survey(struct span text);

/* The same without vector instructions, for tests. */
struct survey literal_survey_portable(struct span text);

/* ---- how common bytes and texts are in source code ---- */

/* Only speed depends on it: which of a pattern's texts is looked for, and which two of its
 * bytes. */

enum { RANK_COMMONEST = 0, RANK_RAREST = -100000 };

/* 8 * log2 of how likely it is that the text begins at a given place, very roughly. */
int literal_text_rank(struct span text);

#endif
