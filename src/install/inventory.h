/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory of a folder that brings things: each piece with the name under which it can be
 * used, and whether it works here.
 *
 *     struct inventory inventory = { 0 };
 *     inventory_add_extension(&inventory, folder, manifest, problems);
 *     for (size_t i = 0; i < inventory.count; i++) ... inventory.at[i].kind ...
 *     inventory_release(&inventory);
 *
 * Pieces are read as they would be for use, by the same code; nothing is run.  What is there and
 * cannot be used is a piece, too: broken, or without effect here, with the reason.
 *
 * All files may be hostile: they are opened as base/door.h says, sizes and numbers are bounded, and
 * texts are lines that do not act on a terminal.
 *
 * Not here: what a session uses of all that (cli/command/setup_command.c).
 */
#ifndef HASP_INSTALL_INVENTORY_H
#define HASP_INSTALL_INVENTORY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum piece_state {
	PIECE_WORKS,
	PIECE_UNUSED, /* it has no effect here */
	PIECE_BROKEN,
};

struct piece {
	const char *kind;       /* static: "command", "MCP server"; "": `name` is a phrase */
	char *name;             /* owned line, as all texts here: "/kit:sum", as used; or "" */
	char *text;             /* what it says of itself, or what it runs; or "" */
	char *file;             /* relative to the folder, or absolute where that is none; "" */
	unsigned line;          /* in that; 0: not known */
	enum piece_state state;
	char *why;              /* not PIECE_WORKS: the reason, a sentence; may be "" */
	bool runs;              /* a program is started for it */
};

/* The same as a caller says it: all is borrowed, and NULL is "". */
struct piece_said {
	const char *kind, *name, *text, *file, *why;
	unsigned line;
	enum piece_state state;
	bool runs;
};

struct inventory {
	struct piece *at; /* owned */
	size_t count, cap;
	size_t beyond;    /* pieces that were not kept: there are too many */
};

/* Texts are copied, and become lines. */
void inventory_add(struct inventory *inventory, const struct piece_said *said);
/* The same for a problem in a file of `folder`: `message` begins with the path, perhaps, which
 * becomes relative to the folder; the line of the file is taken from it. */
void inventory_add_problem(struct inventory *inventory, const char *kind, const char *name,
                           const char *folder, const char *file, const char *message);
/* Adds what an extension in `folder` brings, with this manifest (config/extensions.h). */
void inventory_add_extension(struct inventory *inventory, const char *folder,
                             const json_t *manifest);
void inventory_release(struct inventory *inventory);
#define _cleanup_inventory_ __attribute__((cleanup(inventory_release)))

/* How many pieces are in a state. */
size_t inventory_count(const struct inventory *inventory, enum piece_state state);
/* A line for each piece, each beginning with two blanks, those that run programs first; the caller
 * frees.  `folder`: some of many lines of a kind that runs nothing are left out, which "hasp
 * extensions validate FOLDER" shows; NULL: none is. */
char *inventory_lines(const struct inventory *inventory, const char *folder);
/* [{"kind", "name", "text", "file", "line"?, "state": "works", "unused" or "broken", "why"?}], a
 * new reference. */
json_t *inventory_json(const struct inventory *inventory);

#endif
