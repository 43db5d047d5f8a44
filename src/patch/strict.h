/* SPDX-License-Identifier: Apache-2.0 */
/* The strict application: an independent step that tolerates nothing.
 *
 * It reads a unified diff of its own and compares every context and removed
 * line, byte for byte with its ending, with the base at exactly the stated numbers; counts,
 * order and the new numbers must be exact, too.  It shares no code with the
 * lenient parser and locator, so that an error in those cannot pass unseen.
 */
#ifndef HASP_PATCH_STRICT_H
#define HASP_PATCH_STRICT_H

#include "base/err.h"
#include "diff/script.h"

/* Fills *ret (empty before; its inserted text borrows from *ret_inserted) with what `diff`
 * does to `base`. INTERNAL, with the line of the diff, for whatever is not exact. */
bool strict_apply(const struct lines *base, struct span diff, struct script *ret,
                  struct buf *ret_inserted, struct err *err);

#endif
