/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying the file's own bytes from a replaced line to the line that replaces it.
 *
 * A model shows a line as removed and changes a part of it.  Where its copy of the
 * removed line is damaged (a typographic quote, lost double spaces) the unchanged
 * parts of the added line are damaged in the same way; they are taken from the file.
 */
#ifndef HASP_PATCH_TRANSFER_H
#define HASP_PATCH_TRANSFER_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* How many bytes at both ends two lines share. */
size_t transfer_share(struct span one, struct span other);

/* The part of `added` that it does not share with `removed`. */
struct span transfer_middle(struct span removed, struct span added);

/* Appends `added` with the beginning and the end that it shares with `removed` taken
 * from `file`; `removed` and `file` are equal when folded.  False (nothing appended)
 * when the two share less than half.  The rest of `added` is appended by `middle`. */
bool transfer_line(struct span removed, struct span file, struct span added, struct buf *out,
                   void (*middle)(void *context, struct span text, struct buf *out),
                   void *context);

#endif
