/* SPDX-License-Identifier: Apache-2.0 */
/* Large outputs of tools, put into files: the model keeps a pointer.
 *
 *     output_truncate(&options, tool, call_id, result);     // a new result that is too long
 *     mask_outputs(&options, history);                      // old results, before a compaction
 *
 * Truncation: a text of a result longer than truncate_chars keeps the first fifth and the last
 * four fifths of that; the whole is in a file.  What its tool has cut already is not cut for the
 * length of the note alone, and has one note when it is (cut.h).  Contents of files are left
 * alone: their tools have limits of their own, and a way to read on.
 *
 * Masking: the newest protect_tokens of results stay as they are; of older ones, when at least
 * min_tokens can be gained at once, all large ones are replaced by their small members and the
 * name of a file with the whole.  What has been sent stays as it was (told.h), so this is done
 * before a compaction alone, where the conversation begins anew.  A result in a message of the
 * last turn stays, and so do instructions that were found just in time (memory.h).
 *
 * Files are made in options.folder, with mode 0600, and never follow or replace what has their
 * name.  No folder, or a full disk: truncation goes without the file and says so, masking is not
 * done.
 */
#ifndef HASP_AGENT_CONTEXT_MASK_H
#define HASP_AGENT_CONTEXT_MASK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "tool/tool.h"

/* ---- states of files --------------------------------------------------------- */

/* The states of files that results of tools carry: where they stand in a conversation.  Private to
 * agent/.
 *
 *     if (file_states_in(name)) {
 *             count = file_states_of(response, states, FILE_STATES_MAX);
 *             for (i...) states[i].object: file_path, version, sha256, content
 *     }
 *
 * Results of hasp's own tools alone have them: what a server's tool answers is not believed.
 */

enum { FILE_STATES_MAX = 5000 }; /* of one result: apply_changes has 4,096 at most */

struct file_state_place {
	json_t *object; /* borrowed, from the response */
	json_t *result; /* what it is a member of, with `diff` and `success`; or the object
	                 * itself */
};

/* Whether a conversation holds all that it takes to know a large file's content in the state
 * `sha256`: a whole content, and the diff of each edit made since, if these are few and small
 * beside it. Then the next edit need not bring the content again. */
bool file_states_known(const json_t *history, const char *path, struct span sha256);

/* ---- what newer results replace ---------------------------------------------- */

/* File contents that a later result has made obsolete, taken out of what is sent.
 *
 *     struct superseded *superseded = superseded_new();
 *     superseded_update(superseded, history, false);      // before each request
 *     superseded_free(superseded);
 *
 * Every reading and every edit of a file carries its whole content.  Of one file, only the
 * newest counts: the one in the latest message, of the highest version there.  Earlier ones keep
 * file_path, version, sha256 and all else, and "content_left_out" says why `content` is null.
 * Content that is word for word what the call itself sent (write_file) is left out likewise.
 * Parts of a file (a range of lines) go when a newer whole content is there, and do not make
 * older whole ones go.
 *
 * When: what has been sent stays as it was (told.h), because caches and signed thinking end
 * where a request differs from the last one.  So content goes before the message that has it is
 * sent for the first time (of two readings in one message, one), and else only where the
 * conversation begins anew anyway: before a compaction, where everything obsolete goes.
 *
 * The same history always gives the same result, whether it is looked at message by message or
 * all at once (a resumed session): each message depends on itself alone.
 *
 * Only results of hasp's own tools count: what a server's tool answers cannot make a file's
 * content go.
 */

struct superseded;

struct superseded *superseded_new(void);
void superseded_free(struct superseded *superseded); /* NULL is fine */

/* Looks at the messages that `history` (content.h) has beyond the last call, and replaces those
 * of which something is taken out by changed copies.  `all`: everything obsolete goes, whatever
 * it costs (before a compaction).  Returns the bytes taken out.  A history that was replaced
 * needs a new struct superseded. */
size_t superseded_update(struct superseded *superseded, json_t *history, bool all);

/* ---- masked results ---------------------------------------------------------- */

struct mask_options {
	const char *folder;      /* absolute; made when it is missing; NULL: no files */
	size_t truncate_chars;   /* bytes, really; 0: nothing is truncated */
	size_t protect_tokens;   /* of 4 bytes */
	size_t min_tokens;
	bool protect_latest;     /* the results of the last turn, whatever their size */
};

/* The defaults are Gemini CLI's: 40,000, 50,000, 30,000, true. */
#define MASK_OPTIONS_DEFAULT \
	{ .truncate_chars = 40000, .protect_tokens = 50000, .min_tokens = 30000, .protect_latest = true }

/* Changes texts of `result`. `tool` may be NULL (an unknown one). True if anything was cut. */
bool output_truncate(const struct mask_options *options, const struct tool *tool,
                     const char *name, const char *call_id, json_t *result);

/* Replaces messages of `history` by changed copies. Returns how many results were masked. */
size_t mask_outputs(const struct mask_options *options, json_t *history);

#endif
