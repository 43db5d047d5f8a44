/* SPDX-License-Identifier: Apache-2.0 */
/* Bracket expressions of path patterns. Private to this folder. */
#ifndef HASP_SEARCH_RULES_BRACKET_H
#define HASP_SEARCH_RULES_BRACKET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

/* The bytes that an expression stands for. */
struct byte_set {
	unsigned char bits[32];
};

static inline bool byte_set_has(const struct byte_set *set, unsigned char c)
{
	return (set->bits[c >> 3] >> (c & 7) & 1) != 0;
}

/* Reads the expression that begins at text[at] == '['. Returns the index after
 * its ']', or 0 with *ret_reason set. '/' is never in the set. */
size_t bracket_parse(struct span text, size_t at, bool ignore_case, struct byte_set *ret,
                     const char **ret_reason);

#endif
