/* SPDX-License-Identifier: Apache-2.0 */
/* What search_files and glob share: which ignore files count, and names of files that other
 * tools take. */
#ifndef HASP_TOOL_BUILTIN_FILTER_H
#define HASP_TOOL_BUILTIN_FILTER_H

#include "search/rules/rules.h"
#include "tool/tool.h"

/* The session's rules with what the arguments say: respect_git_ignore, respect_gemini_ignore, and
 * of ARGUMENTS_FILTER also no_ignore, hidden and ignore_files, which decide over the session's own.
 * ret->ignore_files is NULL or an array of borrowed names, which the caller frees. */
void filter_rules(const struct session *session, const json_t *arguments, struct walk_rules *ret);

/* Makes `request` heed what the rules say about a file that is named. Borrows from the rules. */
void filter_heed(struct read_request *request, const struct walk_rules *rules);

/* What stands before a path relative to `folder` (canonical, absolute) so that it names
 * the same file to every tool: "" in the first workspace root, "src/" beneath it, otherwise the
 * absolute folder with its '/'.  The caller frees. */
char *filter_prefix(struct provider *provider, const char *folder);

/* Of files that rules keep from this call: "left_out_by_policy", how many, and a sentence at the
 * end of "message" with the reason of the first. Nothing, if there are none. */
void filter_put_denied(json_t *result, size_t denied, const char *why);
#define RESULT_DENIED SCHEMA("left_out_by_policy": {"type": "integer", "description": \
	"Number of files left out because a policy denies them."})

/* Sets "version", "sha256" and "size" of a file that somebody may now edit. */
void filter_put_state(struct session *session, json_t *file, const struct sha256 *sha256,
                      uint64_t size);

/* Where a call looks that names no path: every root of the workspace, the first as ".". With `path`
 * that alone. The caller frees the array; its strings are borrowed. */
const char **filter_roots(struct provider *provider, const char *path, size_t *ret_count);
/* The folder that a glob names before anything in it means more than itself: "/a/b" of
 * "/a/b/x*.c". The caller frees. */
char *filter_glob_folder(const char *pattern);
/* Names the roots that were looked in, where there is more than one. */
void filter_put_roots(json_t *result, struct provider *provider, size_t count);

#endif
