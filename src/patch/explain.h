/* SPDX-License-Identifier: Apache-2.0 */
/* Telling a model why a hunk has no place, and where it may have meant.
 */
#ifndef HASP_PATCH_EXPLAIN_H
#define HASP_PATCH_EXPLAIN_H

#include "patch/candidates.h"

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

/* Fills the fields that all failures have. */
void explain_hunk(const struct diff_text *diff, size_t hunk, struct patch_failure *failure);

#endif
