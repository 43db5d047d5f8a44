/* SPDX-License-Identifier: Apache-2.0 */
/* Installs, updates and removes extensions (config/extensions.h lists them).
 *
 *     struct install_wish wish = { .source = "https://github.com/me/notes" };
 *     if (!install_open(&wish, settings, &install, &err)) ...
 *     puts(install.consent);                 // all that it brings; the user says yes
 *     if (!install_do(&install, settings, &err)) ...
 *     install_release(&install);
 *
 * A source is a folder, an archive (a file or an https address), or a git repository; of one at
 * GitHub the latest release is used if it has any.  All may be hostile: files are fetched into
 * ~/.gemini/extensions/.staging/PID and renamed into place once the user has approved exactly these
 * files.  A folder may also be linked, as by Gemini CLI's "extensions link": its files are used
 * where they are.  Installing runs nothing of an extension.
 *
 * Environment: GITHUB_TOKEN is sent to GitHub's API; GITHUB_API_URL is its address.
 */
#ifndef HASP_INSTALL_INSTALL_H
#define HASP_INSTALL_INSTALL_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"
#include "config/extensions.h"
#include "config/home.h"
#include "config/settings.h"

struct install_wish {
	const char *source; /* the user's word for it; also PLUGIN@MARKETPLACE (market.h) */
	const char *ref;    /* a branch, tag or commit of a repository; NULL: as it is usual */
	const char *path;   /* the folder of a repository that counts alone; NULL: all of it */
	const char *plugin; /* PLUGIN@MARKETPLACE, which has led to this source; NULL */
	const json_t *manifest; /* of a plugin of Claude Code: what counts if its files have none;
	                         * or NULL */
	const char *format; /* of the product whose list named it (extension_format_word): of
	                     * several manifests that one counts; or NULL */
	bool link;
	bool auto_update;   /* written down, as Gemini CLI does */
	bool pre_release;   /* of GitHub's releases the newest, whatever it is */
};

struct install {
	char *folder;        /* owned, as all here; where its files are meanwhile */
	json_t *manifest;    /* as it stands */
	json_t *origin;      /* {"source", "type", ...}: .gemini-extension-install.json */
	char *brings;        /* lines: what it brings, as may be shown */
	bool env;            /* its source has a .env, which is left out */
	char *consent;       /* what the user is to read, with these */
	struct install_stage *stage; /* NULL: it is linked */
	bool asks;           /* the user has to say yes */
	char *replaces;      /* of an update: the folder's name in ~/.gemini/extensions; NULL */
	bool same;           /* of an update: its files are those that are installed */
	bool current;        /* of an update: where it comes from has nothing new, by its own word;
	                      * nothing was fetched, and nothing else here is set */
};

/* Fetches an extension and looks at it.  FILE_NOT_FOUND: nothing is there; INVALID_ARGUMENT: it is
 * no extension, is hostile (unpack in private.h, tree_copy), or one of that name is installed;
 * DENIED_BY_POLICY: settings forbid it; NETWORK_ERROR; TOO_LARGE; INTERNAL: libarchive or git is
 * not installed.  Then nothing of it stays. */
bool install_open(const struct install_wish *wish, const struct settings *settings,
                  struct install *ret, struct err *err);
/* Removes what was fetched, unless it is in place. */
void install_release(struct install *install);
/* Puts it in, enabled everywhere. INVALID_ARGUMENT: something of its name is there; errors as of
 * tree_copy. */
bool install_do(const struct install *install, const struct settings *settings, struct err *err);

/* The same for an extension that is installed, out of where it came from; by Gemini CLI too. It
 * asks where what it brings is no longer what the user has said yes to.  What the user set of its
 * settings stays.  First the server is asked whether it has anything new: which commit a ref
 * is, which release is the latest, the ETag or date of an archive.  INVALID_ARGUMENT also: it is
 * linked, or nothing says where it came from, or it has another name now, or its marketplace is
 * not kept. */
bool install_update_open(const struct extension *extension, const struct settings *settings,
                         struct install *ret, struct err *err);

/* What the user is to read before the files that an extension has now are used: which of them have
 * changed, and what they bring; *ret_brings is that alone. The caller frees both.  NULL: *err:
 * INVALID_ARGUMENT: it is linked; errors as of extension_manifest_read. */
char *install_approval(const struct extension *extension, const struct home *home,
                       char **ret_brings, struct err *err);

/* Takes an extension out, by its name, its source, or, where it is broken, the name of its folder;
 * with what extension-enablement.json says of it.  Of one that is linked the folder stays.
 * INVALID_ARGUMENT: there is none. */
bool install_remove(const struct settings *settings, const char *name, struct err *err);

/* Makes a folder, which must not be there yet, with a manifest and instructions to begin with; its
 * name becomes the extension's. INVALID_ARGUMENT: there is one, or its name is none for an
 * extension. */
bool install_new(const char *folder, struct err *err);

/* What an extension in a folder brings, a line for each thing, each beginning with two blanks; the
 * caller frees. `manifest` as it stands. */
char *install_brings(const char *folder, const json_t *manifest);
/* The same for a question: of many lines that run nothing some, with how many more there are, and
 * of many in all a last one says how many run programs. */
char *install_brings_shown(const char *folder, const json_t *manifest);
/* Whether something of what install_brings returned runs programs: hooks, MCP servers. */
bool install_runs_programs(const char *brings);

/* ---- what is fetched, of skills, too (source.c, fetch.c) ---------------------------------- */

/* Whether the word is an address ("://"), or USER@HOST:PATH for ssh. */
bool install_is_repository(const char *word);
/* The same, or an archive of this machine. */
bool install_is_fetched(const char *word);
/* Fetches the newest commit of a repository, or an archive (.skill, which is a zip; as an
 * extension's), into the folder `content` beneath `folder`, which is made. INVALID_ARGUMENT: it is
 * neither, or has a file that is refused; NETWORK_ERROR: git failed, with what it said, or the
 * server did; TOO_LARGE; INTERNAL: git or libarchive is not installed. */
bool install_fetch_skills(const char *word, const char *folder, struct err *err);

#endif
