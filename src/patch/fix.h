/* SPDX-License-Identifier: Apache-2.0 */
/* From placed hunks to an edit script in the file's own bytes.
 *
 * Context lines are never written.  Added lines get the file's line endings
 * where the diff's differ from them, lose damage that the old lines of the
 * hunk show (adapt.h), and keep the state of the final newline unless the diff
 * speaks about it.
 */
#ifndef HASP_PATCH_FIX_H
#define HASP_PATCH_FIX_H

#include "patch/locate.h"

/* Fills script, inserted and drops_bom of *ret (zeroed before, with a limit in inserted).
 * NO_MATCH when damage to added lines cannot be undone. */
bool hunks_fix(const struct lines *base, const struct diff_text *diff,
               const struct placement *places, bool base_has_bom, struct patch_plan *ret,
               struct patch_failure *failure, struct err *err);

#endif
