/* SPDX-License-Identifier: Apache-2.0 */
/* Undoing on added lines the damage that the old lines of the same diff show.
 *
 * When the old lines fit only after folding white space or look-alikes, the
 * diff's text was changed on its way, and its added lines with it.  What was done is
 * inferred by comparing old lines with the file: tabs turned into spaces, an
 * indentation shifted, quotes made typographic.  Removed lines are the better
 * evidence, because they have a marker as added ones do; context lines
 * count where no line is removed, and only if the added lines then look more
 * like the file.  Where the damage cannot be inferred, the diff is refused:
 * nothing is guessed.
 *
 * A look-alike in an added line is undone if it damaged old lines and nothing says that it is meant:
 * the file has the character itself, or it is an ellipsis, which people write, and no added line has
 * it in the words of its removed line; added lines have plain characters that the old lines lost
 * throughout.  Then it stays, as the diff has it.
 */
#ifndef HASP_PATCH_WHITESPACE_ADAPT_H
#define HASP_PATCH_WHITESPACE_ADAPT_H

#include "base/buf.h"
#include "patch/locate.h"

struct adapter;

/* Gathers the evidence. Everything passed in must outlive the adapter. */
struct adapter *adapter_make(const struct lines *base, const struct diff_text *diff,
                             const struct placement *places);
void adapter_free(struct adapter *adapter);

/* Appends the text that added line `line` (an index into diff->lines) of hunk `h` is to
 * have. `removed` is the removed line it takes the place of, and `body` that
 * line in the file; NULL when there is none. False: it cannot be told. */
bool adapter_line(struct adapter *adapter, size_t h, size_t line,
                  const struct hunk_line *removed, const struct span *body, struct buf *out);

#endif
