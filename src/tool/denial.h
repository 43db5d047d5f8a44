/* SPDX-License-Identifier: Apache-2.0 */
/* What the sandbox refused, as JSON: one shape in all results, reports and logs.
 *
 *     {"kind": "write", "what": "/t/proj/.git/config", "rule": "/t/proj/.git/config",
 *      "reason": "git", "level": "full", "program": "sh", "count": 2,
 *      "message": "...", "how_to_allow": "..."}
 *
 * `kind`, `what`, `reason`, `level` and `message` are always there; the others where they say
 * something.  The schema: RESULT_DENIAL (builtin/builtin.h).  `keys` names the
 * settings that a command would have changed in git's configuration.
 */
#ifndef HASP_TOOL_DENIAL_H
#define HASP_TOOL_DENIAL_H

#include <jansson.h>

#include "sandbox/plan/denial.h"
#include "tool/tool.h"

/* A new reference. `how_to_allow` is what the user can start hasp with: "--write /t/out"; who
 * has another way puts it in its place. */
json_t *denial_json(const struct denial *denial);

/* Whether a line of a command's output reads as what hasp says about denials in text for people
 * ("denied: ", "hasp: ", in either case, after blanks).  DENIAL_QUOTE goes before it there. */
bool denial_is_imitated(struct span line);
#define DENIAL_QUOTE "| "

/* What a command is expected to do with a path. */
struct denial_use {
	const char *path;  /* absolute, or beneath the command's folder; need not exist */
	bool writes;       /* else it reads */
};

/* What the sandbox would deny of that to a run_shell_command with these arguments: an array of
 * denial_json, LIMIT_DENIALS_OFFERED at most, each once.  *ret_confinement: {"level", "network",
 * "writes": [the folders that it may write in]}, a new reference; NULL: not known here.  NULL: not
 * known, or commands are not confined. */
json_t *denial_foresee(const struct session *session, const json_t *arguments,
                       const struct denial_use *uses, size_t count, json_t **ret_confinement);

/* Those of a command's denials that the user can be asked to allow, so that it may run again.
 *
 * Nothing is offered that would allow more than was denied: a file can be offered
 * (sandbox_exact_offered, on this machine only), but not a folder, a new name in a folder, or a
 * path that a rule protects or hides.  The network is offered as a whole.
 *
 *     struct denial_offer offer;
 *     denial_offer_make(&session, result, &offer);
 *     if (json_array_size(offer.allowed)) ... ask, session_grant(session, &offer.grant) ...
 *     denial_offer_release(&offer);
 */
struct denial_offer {
	struct tool_grant grant;
	/* Owned; {"kind": "write" | "network", "what": a file or the addresses, "allows": what a
	 * yes means}; LIMIT_DENIALS_OFFERED at most. */
	json_t *allowed;
	/* Owned; {"kind", "what", "why"}: what stays denied, likewise. */
	json_t *kept;
	size_t left_out; /* others that stay denied */
};

/* `result`: of run_shell_command.  `network`: it may be offered.  `*ret` is for the caller to
 * release, also when nothing can be offered.  What this call was allowed already (session->grant)
 * is not offered again. */
void denial_offer_make(const struct session *session, const json_t *result, bool network,
                       struct denial_offer *ret);
void denial_offer_release(struct denial_offer *offer);

#endif
