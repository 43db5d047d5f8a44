/* SPDX-License-Identifier: Apache-2.0 */
/* How commands, skills, agents and prompts of servers are named: one rule for all of them.
 *
 *     struct catalog_name names[] = { { .name = "fix", .owner = "acme", .of = CATALOG_OTHERS } };
 *     catalog_names_set(names, 1, is_built_in);           // names[0].called is "fix"
 *     found = catalog_names_find(names, 1, SPAN("acme:fix"), &several);
 *     catalog_names_release(names, 1);
 *
 * OWNER:NAME (or OWNER.NAME, as Gemini CLI writes it) always works; the owner is "user", "project"
 * (or "workspace"), an extension or a server.  The short name is the user's; else the project's;
 * else that of the only extension or server that has it; else hasp's own.
 */
#ifndef HASP_CATALOG_NAMES_H
#define HASP_CATALOG_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

/* Whose it is, the first in rank first. */
enum catalog_rank { CATALOG_USER, CATALOG_PROJECT, CATALOG_OTHERS, CATALOG_BUILTIN };

struct catalog_name {
	const char *name;  /* borrowed; without the owner */
	const char *owner; /* borrowed */
	const char *kind;  /* borrowed; stands for the owner where OWNER:NAME is another's, too:
	                    * "claude", "skill" */
	enum catalog_rank of;
	char *called;      /* owned; by catalog_names_set: the name to show.  NULL: no name is left
	                    * for it */
};

/* Sets `called`. The names are in order of rank; of two with one rank and owner, the first has the
 * short name. `taken`: whether a short name is a built-in command's; NULL: none is. */
void catalog_names_set(struct catalog_name *names, size_t count, bool (*taken)(struct span name));
/* Frees what that has set. */
void catalog_names_release(struct catalog_name *names, size_t count);
/* The one that is meant, letters' cases aside; NULL: none.  If several extensions or servers have
 * the short name, they are appended to `ret_several` ("a:fix, b:fix"; may be NULL). */
const struct catalog_name *catalog_names_find(const struct catalog_name *names, size_t count,
                                              struct span given, struct buf *ret_several);

/* ---- what the model is offered ---------------------------------------------------- */

/* All borrowed. */
struct catalog_line {
	const char *name, *description;
	const char *note; /* behind the description, while there is room; or NULL */
};

/* Appends "- NAME: DESCRIPTION NOTE" for each, at most `budget` tokens (estimated) of them:
 * descriptions are shortened, then left out, then names are.  The number of those that are left
 * out. */
size_t catalog_lines_put(const struct catalog_line *lines, size_t count, size_t budget,
                         struct buf *out);
/* Appends such lines of the few that have most of the words, best first; false: none has any. */
bool catalog_lines_match(const struct catalog_line *lines, size_t count, struct span words,
                         struct buf *out);

#endif
