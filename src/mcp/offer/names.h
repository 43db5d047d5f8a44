/* SPDX-License-Identifier: Apache-2.0 */
/* Which tools are offered, and what they are called.
 *
 *     struct names_options options = { .tools = (const char *[]){ "read_file,edit" }, ... };
 *     struct names names;
 *     if (!names_make(&options, &names, &err))
 *             ... a name that no tool has, or that two would have ...
 *     for (size_t i = 0; i < names.count; i++)
 *             names.items[i].tool, names.items[i].name
 *     names_release(&names);
 *
 * A tool is named by its canonical name or an alias.  A name that is offered has 1 to 128 of
 * the characters A-Z a-z 0-9 _ - . (MCP 2025-11-25, server/tools).
 */
#ifndef HASP_MCP_OFFER_NAMES_H
#define HASP_MCP_OFFER_NAMES_H

#include "base/buf.h"
#include "base/err.h"
#include "tool/tool.h"

struct names_options {
	/* Each a list with commas; count 0: all tools. What is in both is left out. */
	const char *const *tools;
	size_t tool_count;
	const char *const *exclude;
	size_t exclude_count;
	/* Each "OLD=NEW". */
	const char *const *renames;
	size_t rename_count;
	const char *prefix; /* before every name that is not renamed; NULL: none */
	bool read_only;     /* only tools that change nothing */
};

struct names_item {
	const struct tool *tool;
	char *name; /* owned */
};

struct names {
	struct names_item *items; /* owned; in the order of the registry */
	size_t count;
	bool changed;             /* some tool is not called what the registry calls it */
};

/* INVALID_ARGUMENT: an unknown name (with the nearest one), a name that MCP does not allow or
 * that two tools would have, a tool renamed twice or not offered, or no tool left. *ret is set
 * on success only. */
bool names_make(const struct names_options *options, struct names *ret, struct err *err);
void names_release(struct names *names);

/* What a tool is offered as, by its canonical name; that name itself when it is not offered. */
const char *names_offered(const struct names *names, const char *canonical);

/* Appends the text with the canonical names in it replaced by those that are offered. Only
 * names with an underscore are taken for names: "glob" is also a word. */
bool names_rewrite(const struct names *names, struct span text, struct buf *out);

#endif
