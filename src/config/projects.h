/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: projects.json, which gives each project's path a short name (its slug).
 *
 *     { "projects": { "/srv/My Project": "my-project", "/opt/my-project": "my-project-1" } }
 *
 * tmp/SLUG and history/SLUG hold the file .project_root with the path: it decides whose a folder
 * is, so a lost
 * or damaged projects.json mends itself.  Everything as Gemini CLI does it, so both can be used in
 * turn.
 */
#ifndef HASP_CONFIG_PROJECTS_H
#define HASP_CONFIG_PROJECTS_H

#include "config/home.h"

/* The project's slug, or the name of its old folder, without writing anything; NULL: it has none.
 * The
 * caller frees. */
char *projects_find(const struct home *home);
/* The same; a slug that is missing is taken, and what an old folder (named by the path's SHA-256)
 * holds is copied into the new one. NULL: *err. */
char *projects_claim(const struct home *home, struct err *err);

/* "My Project!" -> "my-project"; "project" when nothing is left. The caller frees. */
char *projects_slug(const char *path);

#endif
