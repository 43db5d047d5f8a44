/* SPDX-License-Identifier: Apache-2.0 */
/* Git's global excludes file: the ignore rules a user has for every repository.
 *
 *     struct global_ignore *global = global_ignore_read();
 *     rules = ignore_parse(global_ignore_text(global));     // below .git/info/exclude
 *     ...
 *     if (!global_ignore_is_current(global))                // in a long-running process
 *             ... free it and read it again ...
 *     global_ignore_free(global);
 *
 * Which file: the last core.excludesFile in the system's and the user's git configuration,
 * read in git's order: $GIT_CONFIG_SYSTEM or /etc/gitconfig (not with $GIT_CONFIG_NOSYSTEM),
 * then $GIT_CONFIG_GLOBAL or, without it, both $XDG_CONFIG_HOME/git/config
 * (~/.config/git/config) and ~/.gitconfig; with the files that [include] names there.  When
 * nothing sets it: $XDG_CONFIG_HOME/git/ignore or ~/.config/git/ignore.  When it is set to the
 * empty text: none.
 *
 * Deviations from git, on purpose: a repository's own .git/config does not count (what it
 * holds may come from a stranger, and would decide what a search shows), nor do
 * [includeIf] (which asks about a repository, and this file is for all of them), a relative
 * core.excludesFile (git takes it from the folder it happens to stand in), another user's home
 * ("~name/") and what $GIT_CONFIG_COUNT sets.  Where git refuses to work because a
 * configuration file is broken, what stands before the mistake counts.
 *
 * Nothing here fails: a file that is missing, unreadable, not regular or too large is as if it
 * were empty.  Bounded: see the limits in global_ignore.c.
 */
#ifndef HASP_SEARCH_RULES_GLOBAL_IGNORE_H
#define HASP_SEARCH_RULES_GLOBAL_IGNORE_H

#include <stdbool.h>

#include "base/span.h"

struct global_ignore;

/* As the environment and the files are now. Never NULL. */
struct global_ignore *global_ignore_read(void);
void global_ignore_free(struct global_ignore *global); /* NULL is fine */

/* The rules, as in a .gitignore; empty when there are none. Borrowed. */
struct span global_ignore_text(const struct global_ignore *global);
/* The absolute path of the file with the rules; NULL when no such file is named. Borrowed. */
const char *global_ignore_path(const struct global_ignore *global);

/* False when any of the files that were read, or looked for, has changed since, or come, or
 * gone. A few stat calls. */
bool global_ignore_is_current(const struct global_ignore *global);

#endif
