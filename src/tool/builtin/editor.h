/* SPDX-License-Identifier: Apache-2.0 */
/* What the editing tools share: reading the common arguments, running the edit, the result.
 *
 *     static struct change patch_change(const json_t *arguments, struct sha256 *hash)
 *     {
 *             return (struct change){ .kind = CHANGE_PATCH, .path = ..., .text = ...,
 *                                     .base = editor_base(arguments, hash) };
 *     }
 *     ... return editor_call(session, arguments, patch_change);
 */
#ifndef HASP_TOOL_BUILTIN_EDITOR_H
#define HASP_TOOL_BUILTIN_EDITOR_H

#include "tool/tool.h"

struct editor {
	struct session *session;
	enum return_content content;
	struct edit_options options;
	bool alone; /* the call has one change of this file: it may be offered anew
	             * (tool/rebase.h) */
};

void editor_init(struct editor *editor, struct session *session, const json_t *arguments);

/* The hash in base_content_sha256: NULL when absent or empty.  Validation has refused text that
 * is not a hash (tool/call.c). */
const struct sha256 *editor_base(const json_t *arguments, struct sha256 *storage);

/* A tool's change; what it is made of is borrowed from the arguments, the base is in *hash. */
typedef struct change editor_change(const json_t *arguments, struct sha256 *hash);

/* tool.run, .begin and .end of a tool with one change.  An existing file that is to be written
 * without a base is written all the same if it is in the state that the session last had whole
 * (session_seen). */
json_t *editor_call(struct session *session, const json_t *arguments, editor_change *change);
void *editor_begin(struct session *session, const json_t *arguments, editor_change *change);
json_t *editor_end(struct session *session, const json_t *arguments, void *begun);

/* Gives a write that failed with BASE_REQUIRED the base that the session has seen, in *storage,
 * if the file is in that state; false if it cannot.  The caller runs the change again. */
bool editor_take_seen(const struct editor *editor, struct change *change,
                      const struct change_result *result, struct sha256 *storage);
/* Says so in the result of the second run. */
void editor_note_seen(struct change_result *result);

/* The result of one change of a call: success, message, latest_file_state and the rest. */
json_t *editor_result(const struct editor *editor, const struct change *change,
                    const struct change_result *result);

/* tool.explain of the editors with one file: adds latest_file_state. */
void editor_explain(struct session *session, const json_t *arguments, json_t *failure);

#endif
