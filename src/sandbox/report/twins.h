/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a workspace that are known outside by another name (hard links).
 *
 * Such a file is in the workspace, so a command may write it, and what is written is seen under the
 * other name: only the user can say whether that is meant.  Package managers (pnpm, uv) and local
 * clones make many of them.
 *
 *     struct twins twins;
 *     twins_find(roots, root_count, &twins);
 *     twins_print(&twins, &reporter);          // or twins_text (explain.c)
 *     twins_release(&twins);
 *
 * A file counts when it has more names than were found beneath the roots.  The walk is bounded in
 * time and in files; when it ends early it says so, and names that it did not see are taken for
 * outside. No file is opened and no symbolic link followed.
 */
#ifndef HASP_SANDBOX_REPORT_TWINS_H
#define HASP_SANDBOX_REPORT_TWINS_H

#include "sandbox/report/explain.h"

struct twin {
	char *path;        /* owned; the first name that was found */
	uint64_t outside;  /* names that were not */
};

struct twins {
	struct twin *list; /* owned; sorted by path; at most LIMIT_TWINS_TOLD */
	size_t count;
	uint64_t all;      /* how many there are */
	bool cut;          /* the walk ended early */
};

void twins_find(const char *const *roots, size_t root_count, struct twins *ret);
void twins_release(struct twins *twins);

/* hard_links { count cut files[] { path why } } */
void twins_print(const struct twins *twins, const struct reporter *reporter);
void twins_text(const struct twins *twins, struct buf *out);

#endif
