/* SPDX-License-Identifier: Apache-2.0 */
/* The edit script: which lines of a base text become which new lines.
 *
 * The common currency of the engines.  diff_lines makes one from two texts,
 * the patch engine makes one from a diff, unified_print shows one, the store
 * writes one.  Edits are sorted by `at`, do not overlap, and two neighbours
 * have at least one untouched line between them or differ in `at` (they may
 * touch).  A script borrows its inserted text.
 *
 *     struct script script = { 0 };
 *     script_add(&script, (struct edit){ .at = 3, .remove = 1, .insert = SPAN("new\n") });
 *     ...
 *     script_release(&script);
 */
#ifndef HASP_DIFF_SCRIPT_H
#define HASP_DIFF_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"
#include "base/text.h"

/* Lines [at, at + remove) of the base (0-based) are replaced by `insert`,
 * which is whole lines; only at the very end of the result may the last line
 * lack its newline.  remove == 0 inserts before line `at`; at == count appends. */
struct edit {
	size_t at;
	size_t remove;
	struct span insert; /* borrowed */
};

struct script {
	struct edit *edits; /* owned */
	size_t count;
	size_t cap;
};

/* Appends an edit, which must begin at or after the end of the last one. */
void script_add(struct script *script, struct edit edit);
void script_release(struct script *script);
#define _cleanup_script_ __attribute__((cleanup(script_release)))

/* Lines the script adds and removes in all. */
void script_stat(const struct script *script, size_t *ret_added, size_t *ret_removed);

/* Appends the base as the script leaves it. False when `out` overflowed. */
bool script_apply(const struct lines *base, const struct script *script, struct buf *out);

#endif
