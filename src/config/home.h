/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are kept: Gemini CLI's folders.
 *
 *     ~/.gemini/                settings.json, trustedFolders.json, projects.json, policies/, ...
 *     ~/.gemini/tmp/SLUG/       of one project: chats/, tool-outputs/, checkpoints/, memory/, ...
 *     ~/.gemini/history/SLUG/   its checkpoints' repository
 *
 * GEMINI_CLI_HOME, if set, stands for ~.  SLUG is Gemini CLI's: projects.json maps a project's path
 * to it, the marker .project_root in the folder confirms; an old folder named by the SHA-256 of the
 * path is found too.  Paths are absolute; folders are made (mode 0700) when home_make is called,
 * not before, and never the home folder that HOME or the user's entry names (base/file.h).
 */
#ifndef HASP_CONFIG_HOME_H
#define HASP_CONFIG_HOME_H

#include <jansson.h>
#include <stdbool.h>

#include "base/err.h"

/* ---- folders ----------------------------------------------------------------- */

struct home;

/* INVALID_ARGUMENT: no home folder (neither GEMINI_CLI_HOME nor HOME nor the user's entry). */
bool home_open(const char *project, struct home **ret, struct err *err);
void home_free(struct home *home);

/* True: ~ is a home folder that does not exist, so nothing can be kept; *err says so. */
bool home_missing(const struct home *home, struct err *err);
const char *home_user(const struct home *home);    /* what ~ is */
const char *home_gemini(const struct home *home);  /* ~/.gemini */
const char *home_project(const struct home *home); /* the project, canonical */
/* Takes (or finds) the project's slug: writes projects.json and the marker when it is new, under
 * Gemini CLI's lock. */
bool home_claim(struct home *home, struct err *err);
/* ~/.gemini/tmp/SLUG and ~/.gemini/history/SLUG; NULL before home_claim found or took one. */
const char *home_temp(const struct home *home);
const char *home_history(const struct home *home);
/* Likewise without writing: false when the project has none yet. */
bool home_find(struct home *home);
/* "FOLDER/NAME" made with mode 0700 if it is missing; the caller frees. FOLDER: one of the
 * above. */
char *home_make(const char *folder, const char *name, struct err *err);
/* SHA-256 of the project's path in hexadecimal: projectHash of session files. Borrowed. */
const char *home_project_hash(const struct home *home);

/* ---- files that hold one object --------------------------------------------------------- */

/* A file of hasp's, Gemini CLI's or another program's own in the user's home that holds one JSON
 * object.  Who changes one reads it again under its lock, so that what others write is not lost:
 *
 *     _cleanup_lock_ char *lock = home_lock_file(path, err);
 *     json_auto_t *all = lock ? home_object_read(path, depth, err) : NULL;
 *
 *     if (!all)
 *             return false;
 *     ... change it ...
 *     return home_object_write(path, all, err);
 */

/* A new reference, of an object nested `depth` deep at most; {} when there is no file.  NULL: *err
 * names the file. */
json_t *home_object_read(const char *path, unsigned depth, struct err *err);
/* Replaces the file, mode 0600. TOO_LARGE: it could not be read again. */
bool home_object_write(const char *path, const json_t *all, struct err *err);

/* Gemini CLI's lock on a file: the folder FILE.lock, created by the holder.  A lock that has not
 * been touched for ten seconds is stale and removed.  Creates the parent folder of FILE.  Waits up
 * to ten seconds, then fails with BUSY.  The caller passes the result to home_unlock_file. */
char *home_lock_file(const char *path, struct err *err);
void home_unlock_file(char *lock); /* NULL is fine; frees */
static inline void home_cleanup_lock(char **lock)
{
	home_unlock_file(*lock);
}
#define _cleanup_lock_ __attribute__((cleanup(home_cleanup_lock)))

/* ---- what providers have taught ---------------------------------------------- */

/* ~/.gemini/hasp-models.json: what providers of models said of themselves, so that it need not
 * be asked in each session.
 *
 *     { KEY: { "model": "openai/gpt-5", "without": { "reasoning.summary": "2026-12-23" } }, ... }
 *
 * KEY stands for an address, a model and an account (model/endpoint.c).  Everything in it has a
 * last day and can be learnt again: a file that cannot be read or written is no error, it is
 * just not remembered.
 */

/* All of the file, {} if it is missing or unusable; a new reference. */
json_t *home_learnt_all(const char *file);
/* What is known under a key, a new reference; NULL: nothing. */
json_t *home_learnt(const char *file, const char *key);
/* Merges an object's members (taken) into the file, which is replaced, mode 0600; the oldest
 * entries are dropped if there are too many.  Holds the file's lock, so concurrent processes do not
 * lose each other's entries. */
void home_learn(const char *file, const char *key, json_t *members);

/* The day so many days from now, as a string; and whether such a day is yet to come. */
json_t *home_learnt_until(unsigned days);
bool home_learnt_holds(const json_t *until);

/* ---- servers that the user switched off ------------------------------------------------ */

/* ~/.gemini/mcp-server-enablement.json, as Gemini CLI has it, for all projects:
 *
 *     { "NAME": { "enabled": false }, ... }
 *
 * NAME is a server's in lower case, without blanks around it; a server that is not named is
 * enabled.
 */

/* The names of servers that are disabled: an array, a new reference. With *err, which names the
 * file, when it cannot be read: then it is empty. */
json_t *servers_disabled(const struct home *home, struct err *err);
/* Whether the array has the server, as Gemini CLI compares names. */
bool servers_disabled_has(const json_t *disabled, const char *name);
/* Writes it down: atomic, under a lock, mode 0600; what else is in the file stays. */
bool servers_disabled_set(const struct home *home, const char *name, bool disable,
                          struct err *err);

/* ---- the system's key store --------------------------------------------------------- */

/* The key store: the Secret Service (gnome-keyring, KWallet, KeePassXC) through libsecret.
 *
 *     char *key;
 *     if (keystore_gemini_key(&key)) ... free(key);
 *
 * A desktop has one; a server mostly has none, or one that never answers.  So nothing is asked
 * without a session bus; and the asking is done by a child process, which is ended after three
 * seconds (a minute where there is a display: the user may be typing a password for the store).
 * libsecret never comes into this process, which stays as small as it was, and has no more threads.
 *
 * Names are those of Gemini CLI (and of keytar, which it uses): what one stores, the other finds.
 * Safe from any thread.  Nothing of this is logged.
 */

/* Where Gemini CLI keeps the API key of the user, as JSON with the key at token.accessToken. */
#define KEYSTORE_GEMINI_SERVICE "gemini-cli-api-key"
#define KEYSTORE_GEMINI_ACCOUNT "default-api-key"

/* False: none, or no store that answers. The caller frees *ret, and wipes it if it can. */
bool keystore_get(const char *service, const char *account, char **ret);
/* FILE_NOT_FOUND: no store that answers. INVALID_ARGUMENT: a secret of more than 64 KiB. */
bool keystore_set(const char *service, const char *account, const char *secret, struct err *err);
/* True also when there was none. */
bool keystore_delete(const char *service, const char *account, struct err *err);

/* Gemini CLI's API key, taken out of its JSON. */
bool keystore_gemini_key(char **ret);

#endif
