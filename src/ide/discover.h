/* SPDX-License-Identifier: Apache-2.0 */
/* Editors in whose terminal hasp may be running: the files in which they say where they listen.
 *
 *     if (ide_is_hinted(&editor)) {            // reads variables alone
 *             ide_discover(&search, &places);
 *             const struct ide_place *place = ide_places_best(&places);
 *             ...
 *             ide_places_release(&places);
 *     }
 *
 * Two kinds: Gemini CLI's companion writes TMPDIR/gemini/ide/gemini-ide-server-PID-PORT.json
 * (gemini-cli docs/ide-integration/ide-companion-spec.md), editors that speak Claude Code's
 * protocol write ~/.claude/ide/PORT.lock (claudecode.nvim PROTOCOL.md).
 *
 * Such a file is a stranger's until shown otherwise.  It counts only if
 *
 *   - it and its folder are the user's own, and no one else may write them; it is no link
 *   - it is complete: port, token, folders, and what its name says agrees with them
 *   - the process that it names is alive, the user's, and an ancestor of this one (or the one that
 *     the user names by GEMINI_CLI_IDE_PID)
 *   - the session's folder is in one of the folders that the editor has open
 *
 * A companion that could write no file says in the environment of its terminals where it is
 * (GEMINI_CLI_IDE_SERVER_PORT, _AUTH_TOKEN and _WORKSPACE_PATH).
 *
 * All others are kept with the reason.  A file names no host: an editor is spoken to on this
 * machine's loopback address.
 */
#ifndef HASP_IDE_DISCOVER_H
#define HASP_IDE_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

enum ide_kind {
	IDE_COMPANION, /* Gemini CLI's: MCP over HTTP */
	IDE_CLAUDE,    /* Claude Code's: MCP over a WebSocket */
};

/* What one file says. Texts are owned. */
struct ide_place {
	enum ide_kind kind;
	char *file;     /* its path, or the variable's name */
	char *name;     /* the editor's, one line for people; NULL: not read */
	char *token;    /* NULL: not read */
	unsigned port;
	bool preferred; /* a variable of the terminal names this port */
	char *refused;  /* why it does not count, a sentence; NULL: it does */
};

struct ide_places {
	struct ide_place *at; /* owned; in the order in which they would be used */
	size_t count, cap;
};

struct ide_search {
	const char *workspace; /* of the session; canonical */
	const char *temp;      /* TMPDIR, or "/tmp" */
	const char *claude;    /* ~/.claude, or what CLAUDE_CONFIG_DIR says; NULL: there is none */
};

/* Whether variables of the terminal say that this is an editor's; *ret_editor (static) is what they
 * call it, for people. */
bool ide_is_hinted(const char **ret_editor);
/* Reads both folders. *ret is the caller's to release. */
void ide_discover(const struct ide_search *search, struct ide_places *ret);
void ide_places_release(struct ide_places *places); /* leaves it empty */
/* The one to connect to; NULL: none counts. */
const struct ide_place *ide_places_best(const struct ide_places *places);
/* Reads one file of that kind; `name` is its name in its folder.  For each that cannot be used:
 * place->refused. */
void ide_place_read(struct ide_place *place, const char *name, struct span text,
                    const struct ide_search *search);

#endif
