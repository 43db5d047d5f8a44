/* SPDX-License-Identifier: Apache-2.0 */
/* Reasons to refuse a hunk although it fits one place only.
 */
#ifndef HASP_PATCH_DOUBT_H
#define HASP_PATCH_DOUBT_H

#include "patch/settle.h"

/* Whether a placed hunk contradicts its own header in a way that means "the file has
 * changed there": its number is to be believed, the lines near it resemble the hunk,
 * but it was found elsewhere. *ret_expected is the 0-based line. */
bool doubt_contradiction(const struct settling *s, size_t hunk, size_t *ret_expected);

/* Whether a hunk that fits several places was put out of the diff's own order, which another
 * of its places would keep. *ret_other is the hunk that it stands on the wrong side of. All hunks
 * must be placed. */
bool doubt_order(const struct settling *s, size_t hunk, size_t *ret_other);

/* Whether all hunks, which must be placed, come in the order of the diff. */
bool doubt_none_out_of_order(const struct settling *s);

/* Whether a placed hunk seems to have lost context lines: its header counts more old lines,
 * names another place, and one side of it has no context to hold it. */
bool doubt_lost_lines(const struct settling *s, size_t hunk);

#endif
