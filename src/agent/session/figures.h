/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of many recorded sessions, for hasp stats. */
#ifndef HASP_AGENT_SESSION_FIGURES_H
#define HASP_AGENT_SESSION_FIGURES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/span.h"

struct home;

/* What the work of many sessions came to: edits, tokens, denials, commands, time.
 *
 *     struct figures_options options = { .home = home, .since = "2026-11-20" };
 *     json_t *figures = figures_read(&options);
 *
 * Each figure is defined in docs/stats.md; the object is that of `hasp stats --json`.  Files are
 * read line by line, by several threads, and never written.  What cannot be read is counted and
 * passed over; names and numbers in them are bounded.
 *
 * Not here: what the session that is open used (stats_json, agent/private.h).
 */

struct figures_options {
	struct home *home;  /* of the project; borrowed */
	bool all;           /* every project of this user, not that one alone */
	const char *since;  /* a time as in the files, or the beginning of one ("2026-11-20"); what
	                     * came before does not count; NULL: all counts */
	const char *model;  /* its messages and calls alone, by id or by the name in it; or NULL */
	const json_t *prices; /* as model/prices.h has them; borrowed, or NULL */
};

/* A new reference, never NULL; a project without sessions has zeros. */
json_t *figures_read(const struct figures_options *options);
/* The same of one file's text, for tests; `options->home` and `all` are not looked at. */
json_t *figures_of_text(const struct figures_options *options, struct span text);

/* ---- of one recorded call (figures_response.c) ------------------------------------ */

/* A member, which a file may have as it likes: from 0 to 10^12. */
json_int_t figures_number(const json_t *object, const char *name);
/* What a recorded call got as its result; NULL: it was not recorded. */
const json_t *figures_response(const json_t *call);
/* "lines_added" or "lines_removed" of a change; an answer leaves them out where one line became
 * another (tool/answer.h). */
json_int_t figures_changed_lines(const json_t *change, const char *name);
/* Who denied it: "user", "policy", "hook" or "sandbox"; NULL: it was not denied. Static. */
const char *figures_denied_by(const json_t *response, const char *code);
/* The code of its error; "unnamed" without one. */
const char *figures_error_code(const json_t *response);
/* The dialect of an edit; NULL: none. Files of other programs and of earlier versions record only
 * the name of the tool. */
const char *figures_dialect(const json_t *call, const char *tool);
/* The file of an edit, or of one of its changes: as the answer names it, or else the call. */
struct span figures_edited_path(const json_t *answer, const json_t *arguments);
/* As a path is called in its project. */
struct span figures_path_in_project(struct span path, const char *project);
/* How an edit ended whose call has this response and status ("success", ...): "right"; "repaired",
 * *ret_what says what was off; "refused", *ret_what is the code.  NULL: it counts as none, because
 * it was a dry run, denied or stopped.  *ret_what is the response's, or static; NULL without. */
const char *figures_edit_end(const json_t *response, const char *status, const char **ret_what);

#endif
