/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery from a state mismatch without sending the edit again.
 *
 * A session keeps the texts that its answers showed whole, by their SHA-256, within
 * LIMIT_KEPT_BYTES. When an edit meets state_mismatch and the text that its hash names is among
 * them, the edit is merged with what changed since (diff/diff.h).  If the two do not touch,
 * the answer offers `rebased`: the edit as a diff against the state that is there now, with an
 * id.  A call that names the id and that state's hash makes it; nothing is ever made by itself.
 *
 * Such a call is turned into the diff before anybody looks at it: hooks, rules and the person
 * who is asked see what will be written.
 *
 * Only several edits that one reply makes of one state need no such call: the model could not know
 * the state between them (rebase_follow).
 */
#ifndef HASP_TOOL_REBASE_H
#define HASP_TOOL_REBASE_H

#include "base/buf.h"
#include "tool/tool.h"

/* Keeps a whole text that an answer shows: a reference to the JSON string, no copy. */
void rebase_keep(struct session *session, const struct sha256 *sum, json_t *content);

/* The text that is kept of this state: a new reference to the JSON string; NULL: none is. */
json_t *rebase_kept(struct session *session, const struct sha256 *sum);

/* The advice of an answer with an offer, in place of its code's. */
#define REBASE_ADVICE \
	"Look at rebased.diff. If the edit is still right, call safe_patch with file_path, " \
	"rebase (rebased.id) and the sha256 of latest_file_state."

/* What a session keeps for this: made and freed with it (session.c). Never NULL. */
struct kept *rebase_kept_new(void);
void rebase_kept_free(struct kept *kept); /* NULL is fine */

/* Returns the value of `rebased` in the answer to an edit that failed, and appends to `message` how
 * to use it.  NULL if nothing is offered: after other errors, for conflicting changes, or for a
 * state that no answer showed, or showed only in part unless the edit's lines occur exactly once in
 * the current file.  *made becomes true if the file already has the result of the edit.  `message`
 * also says who changed the file (history.h). */
json_t *rebase_offer(struct session *session, const struct change *change,
                     const struct change_result *result, struct buf *message, bool *made);

/* Where a text that the file at `path` (canonical) lacks is in another file that an answer
 * showed: appends a sentence that names it; nothing if there is none, or the text is short. */
void rebase_say_elsewhere(struct session *session, const char *path, struct span text,
                          struct buf *message);

/* Replaces ids of offers by their diffs in an editor's arguments, which need not be valid.  A new
 * reference; errors are appended to `problems`. */
json_t *rebase_expand(struct session *session, const struct tool *tool, json_t *arguments,
                      struct buf *problems);

/* Where several edits of one reply (session.reply) name the same state of a file: the second is
 * made on what the first made, if it does not touch that.  `arguments` are valid ones of an editor;
 * returns a new reference to them, or to a copy with the new hash, and of a patch with the diff of
 * that state: who looks at the call afterwards sees what will be written. */
json_t *rebase_follow(struct session *session, const struct tool *tool, json_t *arguments,
                      bool *ret_followed);

#endif
