/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints: saves files before an edit, and restores them.
 *
 *     struct checkpoints_options options = { .provider = provider, .home = home, ... };
 *     checkpoints_open(&options, &checkpoints, &err);
 *     ...agent_options.before_edit = checkpoints_before_edit, .before_edit_data = checkpoints...
 *     checkpoints_after_edit(checkpoints, call_id, result);     // when the call has its result
 *     list = checkpoints_list(checkpoints, &err);
 *     ok = checkpoints_restore(checkpoints, id, false, &result, &err);
 *     checkpoints_close(checkpoints);
 *
 * Only the files that a call is about to change are saved, byte for byte, in a git repository
 * outside the project (~/.gemini/history/SLUG), with a note on each call in
 * ~/.gemini/tmp/SLUG/checkpoints. Files are read and written only through the provider. Changes
 * made by shell commands are not covered.
 *
 * A restore undoes the edits that the session has made since a call. Like any edit it applies only
 * to the state of a file that it has read. Changes by others are kept, by three-way merges of
 * lines; where they conflict, or a file is not text, the file is left as it is unless `force` is
 * set. A file that an edit created is removed only if it still has the content that an edit wrote,
 * even with `force`. Files are saved before a restore replaces them, so it can be undone.
 *
 * Folder: checkpoint.c before and after edits; restore.c restores, merge.c merges texts; list.c
 * lists; note.c notes and the ledger; repository.c contents, with libgit2.
 *
 * Not here: the conversation (record.h); a note names the call, whose place in it the record knows.
 */
#ifndef HASP_AGENT_CHECKPOINT_CHECKPOINT_H
#define HASP_AGENT_CHECKPOINT_CHECKPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/notices.h"
#include "bus/bus.h"
#include "config/home.h"
#include "config/settings.h"
#include "tool/tool.h"

/* ---- checkpoints ------------------------------------------------------------- */

struct checkpoints;

struct checkpoints_options {
	struct provider *provider; /* borrowed; NULL: only for lists and pruning */
	struct home *home;         /* borrowed: of the project, the provider's first root */
	const char *session_id;    /* whose edits they are; NULL: only for lists, restores,
	                            * pruning */
	bool durable;              /* saved files reach the disk before the edit is made */
	size_t max_file_bytes;     /* larger files are not kept; 0: LIMIT_CHECKPOINT_FILE_BYTES,
	                            * the most */
	/* A sentence for each file that could not be saved; the edit is still made. From the
	 * threads of calls. */
	struct notices notices;
	/* Of waits for another process that keeps a checkpoint: what ends them, and the longest (0:
	 * FILE_LOCK_WAIT_MS of base/file.h). */
	const struct cancel *cancel;
	unsigned lock_wait_ms;
};

/* Opens nothing yet: the first checkpoint does.  Never NULL. */
struct checkpoints *checkpoints_open(const struct checkpoints_options *options);
void checkpoints_close(struct checkpoints *checkpoints); /* NULL is fine; no call is under way */

/* Saves the files that `arguments` (canonical) of an editor name, before it runs; `data` is the
 * struct checkpoints. As agent_options.before_edit; from several threads. */
void checkpoints_before_edit(void *data, const char *call_id, const struct tool *tool,
                             const json_t *arguments);
/* Remembers which states the edit made: a restore may replace these and no others.  Calls that
 * checkpoints_before_edit has not seen, and results that are not an editor's success, are
 * ignored. From several threads. */
void checkpoints_after_edit(struct checkpoints *checkpoints, const char *call_id,
                            const json_t *result);

/* Oldest first: [{"id", "time" (ms since 1970), "session", "callId", "tool", "commit", "files":
 * [{"path", "existed", "size"?, "sha256"?, "notKept"?}]}]; a new reference.  NULL: TOO_LARGE
 * (more than LIMIT_CHECKPOINTS), PERMISSION_DENIED, IO_ERROR. Changes nothing. */
json_t *checkpoints_list(struct checkpoints *checkpoints, struct err *err);

/* `id`: of a checkpoint, or "latest". *ret, for the caller, when it returns true: {"success"
 * (nothing is left or failed), "checkpoint", "undo": the checkpoint of what was replaced, or null,
 * "files": [{"path", "action", "sha256"? (what the file has now), "replaced_sha256"?, "reason"?}]}.
 * Actions:
 *   restored, created, removed   done; created: it had been removed
 *   merged                       the session's edits were undone; changes by others were
 *                                kept, as a difference to that state: "kept": {"added",
 *                                "removed", "diff"?}
 *   unchanged                    it is as it was
 *   left                         changes by others conflict: `reason`
 *   failed                       `reason`
 * False, and nothing was changed: INVALID_ARGUMENT (no such checkpoint); DISK_FULL and others
 * when what would be replaced cannot be kept. */
bool checkpoints_restore(struct checkpoints *checkpoints, const char *id, bool force, json_t **ret,
                         struct err *err);

/* What a restore would do, and nothing is done: the same, and of each file that would be another
 * "added", "removed" and "diff" (where it is text, and not too long). */
bool checkpoints_preview(struct checkpoints *checkpoints, const char *id, json_t **ret,
                         struct err *err);

/* Removes the notes and references of checkpoints made before `before_ms` (since 1970);
 * *ret_count: so many.  Their contents go with the repository's next `git gc`. */
bool checkpoints_prune(struct checkpoints *checkpoints, int64_t before_ms, size_t *ret_count,
                       struct err *err);

/* ---- of a session ------------------------------------------------------------ */

/* the checkpoints of one session, as settings ask for them.
 *
 * general.checkpointing.enabled: whether there are any; `wanted` where it is not set.
 * hasp.checkpoints.keepDays (default 0): older ones of the project are removed when a session
 * begins; 0: none ever is.  hasp.durability: whether they are synced to the disk.
 */

struct checkpoint_session;

struct checkpoint_session_options {
	const struct settings *settings; /* borrowed for the call */
	struct provider *provider;       /* borrowed */
	struct bus *bus;                 /* borrowed: results of calls come from there */
	const char *session_id;
	/* As in checkpoints_options. */
	struct notices notices;
	const struct cancel *cancel;     /* of the session; borrowed */
	bool wanted;                     /* kept, unless the settings say otherwise */
};

/* NULL if checkpoints are off, or cannot be kept (reported). */
struct checkpoint_session *checkpoint_session_begin(
	const struct checkpoint_session_options *options);
/* NULL of NULL. */
struct checkpoints *checkpoint_session_of(const struct checkpoint_session *session);
void checkpoint_session_end(struct checkpoint_session *session); /* NULL is fine; before the bus
                                                                  * ends */

#endif
