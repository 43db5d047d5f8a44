/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are kept: Gemini CLI's folders.
 *
 *     ~/.gemini/                settings.json, trustedFolders.json, projects.json, policies/, ...
 *     ~/.gemini/tmp/SLUG/       of one project: chats/, tool-outputs/, checkpoints/, memory/, ...
 *     ~/.gemini/history/SLUG/   its checkpoints' repository
 *
 * GEMINI_CLI_HOME, if set, stands for ~.  SLUG is Gemini CLI's: projects.json maps a project's path
 * to
 * it, the marker .project_root in the folder confirms; an old folder named by the SHA-256 of the
 * path
 * is found too.  Paths are absolute; folders are made (mode 0700) when home_make is called, not
 * before.
 */
#ifndef HASP_CONFIG_HOME_H
#define HASP_CONFIG_HOME_H

#include <stdbool.h>

#include "base/err.h"

struct home;

/* INVALID_ARGUMENT: no home folder (neither GEMINI_CLI_HOME nor HOME nor the user's entry). */
bool home_open(const char *project, struct home **ret, struct err *err);
void home_free(struct home *home);

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
/* "FOLDER/NAME" made with mode 0700 if it is missing; the caller frees. FOLDER: one of the above.
 * */
char *home_make(const char *folder, const char *name, struct err *err);
/* SHA-256 of the project's path in hexadecimal: projectHash of session files. Borrowed. */
const char *home_project_hash(const struct home *home);

#endif
