/* SPDX-License-Identifier: Apache-2.0 */
/* The places where each hunk could go. */
#ifndef HASP_PATCH_CANDIDATES_H
#define HASP_PATCH_CANDIDATES_H

#include "patch/index.h"
#include "patch/locate.h"

/* Places kept per hunk. A hunk with more is settled by its number or not at all. */
enum { CANDIDATES_KEPT = 256 };

/* What is known of one hunk while it is being placed. */
struct candidates {
	size_t count;       /* lines of the hunk that count (see placement.count) */
	size_t old_count;   /* context and removed lines among them */
	size_t lead, trail; /* old lines before the first and after the last change */
	enum fold fold;     /* level of the places */
	size_t *places;     /* owned; ascending */
	size_t kept;        /* elements in `places` */
	size_t total;       /* places in all; CANDIDATES_KEPT + 1 stands for more */
	bool narrowed;      /* anchors took places away (anchors.h) */
	bool has_stated;    /* the header has a line number */
	size_t stated;      /* 0-based line where it says the hunk begins */
	bool placed;
	size_t at;
	enum patch_settled settled;
};

/* Finds the candidates of all hunks; `ret` has diff->hunk_count zeroed
 * elements. Each hunk stops at the strictest level that fits anywhere.  False when
 * hunks and base are so alike that the search was given up (hostile input). */
bool candidates_find(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
                     struct candidates *ret);
void candidates_release(struct candidates *hunks, size_t count);

/* Tells what the first `count` lines of a hunk are made of. */
void candidates_measure(const struct diff_text *diff, const struct hunk *hunk, size_t count,
                        struct candidates *ret);

/* What the hunk takes up when it begins at line `at` (0-based): what must not overlap. Context
 * may. In half lines: line n is 2n + 1, the gap before it, where an insertion goes, 2n.
 * The end is exclusive. */
size_t candidates_core_start(const struct candidates *hunk, size_t at);
size_t candidates_core_end(const struct candidates *hunk, size_t at);

/* Copies the ids of the old lines of the first `count` lines to `ids`; returns how many. */
size_t candidates_ids(const struct line_index *index, const struct hunk *hunk, size_t count,
                      uint32_t *ids);

#endif
