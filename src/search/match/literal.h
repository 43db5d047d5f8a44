/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one text in others, with vector instructions. Private to this folder.
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
 * Not here: several texts at once (literal_set.h), lines (matcher.c).
 */
#ifndef HASP_SEARCH_MATCH_LITERAL_H
#define HASP_SEARCH_MATCH_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

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
/* Another way than the best, for tests and benchmarks; `way` is at most the best. */
void literal_use(struct literal *literal, enum literal_way way);

/* Where it first lies in [at, end), whole; NULL when it does not. */
static inline const char *literal_find(const struct literal *literal, const char *at,
                                       const char *end)
{
	return literal->find(literal, at, end);
}

/* Whether `at` begins with the text; there are at least text.len bytes. */
bool literal_is_at(struct span text, bool ignore_case, const char *at);

#endif
