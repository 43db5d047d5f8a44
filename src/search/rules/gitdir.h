/* SPDX-License-Identifier: Apache-2.0 */
/* Where a repository keeps its info/exclude. Private to search/.
 *
 * That is .git/info/exclude, or, where .git is a file ("gitdir: PATH": submodules and linked
 * work trees, gitrepository-layout(5)), beneath the folder it names, or beneath that folder's
 * "commondir".  What is not beneath the workspace root is out of reach and does not count.
 */
#ifndef HASP_SEARCH_RULES_GITDIR_H
#define HASP_SEARCH_RULES_GITDIR_H

#include <sys/types.h>

#include "search/rules/chain.h"

/* The path of info/exclude relative to the workspace root, for the folder `path` whose .git
 * entry has `mode`; NULL when it cannot be reached. The file need not exist. The caller frees. */
char *gitdir_exclude(const struct chain_base *base, int folder, struct span path, mode_t mode);

#endif
