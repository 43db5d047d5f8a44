/* SPDX-License-Identifier: Apache-2.0 */
/* Why a hunk has no place, or one that is in doubt, and where it may have meant: in words for a
 * model.  Not here: which hunks are refused (doubts.c). */
#ifndef HASP_PATCH_EXPLAIN_H
#define HASP_PATCH_EXPLAIN_H

#include "patch/private.h"

/* The hunk fits nowhere: finds the nearest places by counting equal lines, and
 * the first line that differs at the best. Returns false. */
bool explain_no_match(const struct lines *base, const struct diff_text *diff, size_t hunk,
                      const struct candidates *found, struct patch_failure *failure,
                      struct err *err);

/* The hunk fits several places (or has no context at all). Returns false. */
bool explain_ambiguous(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                       struct patch_failure *failure, struct err *err);

/* The hunk fits a place that its own header contradicts. Returns false. */
bool explain_contradiction(const struct diff_text *diff, size_t hunk,
                           const struct candidates *found, size_t expected,
                           struct patch_failure *failure, struct err *err);

/* The place that was chosen for the hunk is on the wrong side of hunk `other`. Returns false. */
bool explain_order(const struct diff_text *diff, size_t hunk, size_t other,
                   const struct candidates *found, struct patch_failure *failure, struct err *err);

/* The hunk seems to have lost context lines. Returns false. */
bool explain_lost_lines(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                        struct patch_failure *failure, struct err *err);

/* Keeps what the base has from the first of the old lines of a hunk, which has a place, that
 * differs from it to the last, where several do, or failure->found does not show the only one. */
void explain_hunk_lines(const struct lines *base, const struct diff_text *diff, size_t hunk,
                        const struct placement *place, struct patch_failure *failure);

/* Adds a hunk that failed with `code`, as `of` says, to the list of them in *failure. */
void explain_add_failed(struct patch_failure *failure, enum err_code code,
                        const struct patch_failure *of);
/* Appends to the error's message how many of the hunks fail, if that list has several, and that the
 * others do not, if that is known. */
void explain_all_failed(const struct patch_failure *failure, bool others_fit, struct err *err);

/* Fills the fields that all failures have. */
void explain_hunk(const struct diff_text *diff, size_t hunk, struct patch_failure *failure);

#endif
