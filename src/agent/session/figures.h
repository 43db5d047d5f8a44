/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of many recorded sessions, for hasp stats. */
#ifndef HASP_AGENT_SESSION_FIGURES_H
#define HASP_AGENT_SESSION_FIGURES_H

#include <jansson.h>
#include <stdbool.h>

#include "base/span.h"

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

/* ---- adding up (figures_asked.c) --------------------------------------------------- */

enum { FIGURES_NAME_BYTES = 80 }; /* of a model, a tool, an error code */

/* Adds to a number of the object, which may be missing. */
void figures_add(json_t *object, const char *name, json_int_t more);
/* The object in it of this name, made if it is missing; borrowed. */
json_t *figures_object(json_t *object, const char *name);
/* A name from a file, truncated; "(others)" if there are too many in the object, which may be
 * NULL. */
void figures_name(const json_t *object, struct span name, char out[static FIGURES_NAME_BYTES + 1]);
/* The end of a path that is longer than a name may be. */
struct span figures_name_tail(struct span path);
/* figures_object and figures_add of 1, by a name from a file. */
json_t *figures_row(json_t *object, struct span name);
void figures_count_named(json_t *object, struct span name);
/* Adds `from` into `into`: numbers are added, of "first" the earlier stays, of "last" the later. */
void figures_add_object(json_t *into, const json_t *from);

/* ---- questions (figures_asked.c) ------------------------------------------------------ */

/* How one of a call's questions ended: its answer; "by_policy": a new rule covered it. */
struct span figures_answer(const json_t *asked);
/* Counts a recorded call's questions by rule and by who answered.  `open`: what they allowed for
 * the session, until figures_end_allowed. */
void figures_count_asked(json_t *all, json_t *open, const json_t *questions);
/* The session ended at this time (as files have it), or its process did: counts what is open, and
 * empties it. */
void figures_end_allowed(json_t *all, json_t *open, const char *end);
/* Once all is added up: puts median and 90 % of the times to an answer in place of the counts by
 * which they are known. */
void figures_end_approvals(json_t *all);

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
/* The file of an edit, or of one of several: as the answer names it, or else what was asked for
 * (tool_edit_at). */
struct span figures_edited_path(const json_t *answer, const json_t *asked);
/* As a path is called in its project. */
struct span figures_path_in_project(struct span path, const char *project);
/* How an edit ended whose call has this response and status ("success", ...): "right"; "repaired",
 * *ret_what says what was off; "refused", *ret_what is the code.  NULL: it counts as none, because
 * it was a dry run, denied or stopped.  *ret_what is the response's, or static; NULL without. */
const char *figures_edit_end(const json_t *response, const char *status, const char **ret_what);

#endif
