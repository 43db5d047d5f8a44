/* SPDX-License-Identifier: Apache-2.0 */
/* Hunks written against the file as an earlier hunk of the same diff leaves it.
 *
 * All hunks of a unified diff speak of one old file, but a model that writes
 * them one by one may show, as context of the next, the lines that the one before
 * has just added.  Such context is turned back into what the file has there.
 */
#ifndef HASP_PATCH_SEQUEL_H
#define HASP_PATCH_SEQUEL_H

#include "patch/parse.h"

/* Such a hunk stands beside the one that it follows; locate.c holds it to that
 * (hunk.sequel_of).
 *
 * Rewrites hunk `h` (its first `count` lines count), which fits nowhere as it is: context
 * that is the added lines of another hunk becomes the removed lines in their place.  False
 * (nothing changed) when there is no such context. */
bool sequel_rewrite(struct diff_text *diff, size_t h, size_t count);

#endif
