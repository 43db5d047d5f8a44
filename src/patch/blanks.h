/* SPDX-License-Identifier: Apache-2.0 */
/* Blank context lines that a model left out.
 *
 * A hunk that fits nowhere may fit once the blank lines of the file are allowed
 * for between its lines.  Where the rest stands in one place only, the hunk is
 * completed with them, and then placed like any other.  Not where a change
 * adjoins the gap: whether it belongs before or after the blank line is not said.
 */
#ifndef HASP_PATCH_BLANKS_H
#define HASP_PATCH_BLANKS_H

#include "patch/parse.h"
#include "base/text.h"

/* Completes hunk `h`, of which the first `count` lines count; false (nothing changed)
 * when that does not lead to one place. */
bool blanks_restore(const struct lines *base, struct diff_text *diff, size_t h, size_t count);

#endif
