/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two states of a repository's configuration, and whether hasp writes that for
 * a command.
 *
 * A repository's config is protected, because it names programs.  But "git switch", "git push -u"
 * and "git branch -d" keep a branch's upstream there, and are left half done if they cannot.  So
 * the supervisor compares the new configuration that git wrote, and asks hasp's own process,
 * outside of the sandbox, to write it if all that differs is in the table of git_change.c; that
 * process reads and compares again.  Pure functions of text; both use the same.
 *
 * A row says which key of [branch "NAME"] may be set, and to what, and whether it may be removed
 * alone; the section may be removed as a whole, and so may a submodule's ("git submodule deinit").
 * All other settings must be the same, with the same values, in the same order, and comments stay.
 * A text that could be mistaken is not read: one with control characters, a byte-order mark, CRLF,
 * or a line that goes on in the next.
 *
 * To add a row: say why no value that its check permits runs a program, makes git read another
 * file, or names a place that the configuration did not name before; and add it to
 * test/sandbox/guard/test_git_change.py.
 */
#ifndef HASP_SANDBOX_PLAN_GIT_CHANGE_H
#define HASP_SANDBOX_PLAN_GIT_CHANGE_H

#include <stdbool.h>

#include "base/span.h"

/* The name of the file that becomes the configuration begins so, and no command may have one. */
#define GIT_CHANGE_TEMPORARY ".hasp-config-"

enum git_change_kind {
	GIT_CHANGE_NONE,     /* the settings are the same */
	GIT_CHANGE_HARMLESS, /* the table has all that differs */
	GIT_CHANGE_REFUSED,  /* it has not; or a text cannot be read */
};

enum { GIT_CHANGE_KEYS = 160 };

/* keys: of what the table does not have, the first names, joined by commas; or a phrase for what
 * cannot be named.  Text of the files', as it is there. */
enum git_change_kind git_change_judge(struct span before, struct span after,
                                      char keys[static GIT_CHANGE_KEYS]);

/* Whether git can move or copy the settings of the branch (data NULL: of each branch): there are
 * none, or, if `written` (what is harmless would be), the table has them all. */
bool git_change_may_move(struct span text, struct span branch, bool written);

#endif
