/* SPDX-License-Identifier: Apache-2.0 */
/* Finding any of several texts. Private to this folder.
 *
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
#ifndef HASP_SEARCH_MATCH_LITERAL_SET_H
#define HASP_SEARCH_MATCH_LITERAL_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "search/match/literal.h"

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

#endif
