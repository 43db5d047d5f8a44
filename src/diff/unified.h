/* SPDX-License-Identifier: Apache-2.0 */
/* The unified format, as GNU diff and git print it.
 *
 * Hunk headers follow POSIX (diff -u): a count of 1 is left out, an empty side
 * names the line before.  "\ No newline at end of file" follows a line without
 * one.  Names with control characters, quotes, backslashes or bytes above
 * 0x7f are quoted as git quotes them.
 */
#ifndef HASP_DIFF_UNIFIED_H
#define HASP_DIFF_UNIFIED_H

#include "diff/script.h"

struct unified_options {
	const char *old_name; /* after "--- "; NULL: no file header. "/dev/null" for a new file */
	const char *new_name; /* after "+++ " */
	size_t context;       /* unchanged lines around each change; 3 is customary */
};

/* Appends the diff that `script` makes of `base`. Hunks whose context would
 * touch or overlap are merged. An empty script appends nothing. False when
 * `out` overflowed. */
bool unified_print(struct buf *out, const struct lines *base, const struct script *script,
                   const struct unified_options *options);

#endif
