/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of a git configuration can make git run something: a pure function of text.
 *
 * The reader is stricter than git (git-config(1), "Syntax"): one section header or one variable
 * on a line, no line continued with a backslash, no dotted sections, no bytes below space but tab.
 * What it does not understand is not believed.  Keys are allowed by a table of what git
 * itself, clones and hosting sites' programs write; all others are dangerous, because each
 * version of git adds keys that run programs.
 */
#ifndef HASP_SANDBOX_GUARD_CONFIG_H
#define HASP_SANDBOX_GUARD_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

struct config_reader {
	/* Whether a core.worktree with this value may stay; NULL: none may. */
	bool (*worktree)(void *data, struct span value);
	void *data;
};

/* False if the text is not understood.  *clean gets it without its dangerous variables, but for
 * those that `known` (a text from before; understood or not) has with the same value.  *keys gets
 * the names of what was left out, joined by commas. */
bool guard_config_clean(const struct config_reader *reader, struct span text, struct span known,
                        struct buf *clean, struct buf *keys);

#endif
