/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens what is sent of a conversation: cuts texts and leaves a note, removes large and
 * superseded results, and compacts the whole when the model's limit is near.
 *
 * Not here: the surroundings, and what was sent last (surroundings.h). */
#ifndef HASP_AGENT_CONTEXT_CONTEXT_H
#define HASP_AGENT_CONTEXT_CONTEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"
#include "tool/tool.h"

/* ---- cuts ------------------------------------------------------------------ */

/* Shortens texts. One note marks the place that was left out:
 *
 *     [... 12 lines, 3456 bytes left out; the whole output is in /path/to/file ...]
 *
 * (the lines and the place are optional). A text that is cut again still has one note, which counts
 * both cuts.
 *
 *     struct cut cut = cut_of(text);
 *     if (cut_is_longer(&cut, 40000))
 *             cut_write(&cut, 8000, 32000, SPAN("they are not kept"), &out);
 */

struct cut {
	struct span before, after; /* the note; views. Without a note: all of the text, and
	                            * nothing */
	size_t removed;               /* bytes that the note counts; 0: none */
	struct span place;         /* "the whole output is in ..."; a view; may be empty */
};

/* A text that was not cut before. */
struct cut cut_whole(struct span text);
/* A text in which the first line that is such a note counts as one. */
struct cut cut_of(struct span text);
/* Whether it has more than `bytes` besides the note. */
bool cut_is_longer(const struct cut *cut, size_t bytes);
/* Of a text that is longer than head + tail: appends at most `head` bytes of the beginning, the
 * note, and at most `tail` bytes of the end; what one of the two parts does not need is the
 * other's. `place`: what the note says; empty: what it said before. */
void cut_write(const struct cut *cut, size_t head, size_t tail, struct span place, struct buf *out);

/* ---- first prompts ----------------------------------------------------------- */

/* What the user said first in a session: its title, and what a compaction never drops. */

/* The same, a copy of at most 4,000 bytes of both ends, with a note if it had more;
 * NULL: there are no words. The caller frees. */
char *context_first_prompt_of_text(struct span text);
/* Of a message (content.h): of its first part with words, which is what was typed; NULL: it has
 * results of calls, or no words. The caller frees. */
char *context_first_prompt_in(const json_t *message);
/* Of the first message of a conversation that has one; NULL: none has. The caller frees. */
char *context_first_prompt_of(const json_t *conversation);

/* ---- weights ----------------------------------------------------------------- */

/* How much of a conversation a value is, in bytes: for comparisons that must be cheap and always
 * come out the same. (Tokens: content_estimate_tokens.)
 */

/* The bytes of all strings and names, plus a few for each number and bracket. NULL: 0. Values
 * nested deeper than JSON_DEPTH_MAX are not counted. */
size_t context_weight(const json_t *value);

/* ---- what newer results replace ---------------------------------------------- */

/* Removes file contents that a later result has made obsolete from the messages sent.
 *
 *     struct superseded *superseded = mask_superseded_new();
 *     mask_superseded_new_messages(superseded, history);       // before each request
 *     mask_superseded_free(superseded);
 *
 * Every reading and every edit of a file carries its whole content.  Of one file, only the
 * newest counts: the one in the latest message, of the highest version there.  Earlier ones keep
 * file_path, version, sha256 and all else, and "content_left_out" says why `content` is null.
 * Content that is word for word what the call itself sent (write_file) is left out likewise.
 * Parts of a file (a range of lines) go when a newer whole content is there, and do not make
 * older whole ones go.
 *
 * Messages that have been sent are not changed (surroundings.h), because caches and signed thinking
 * end where a request differs from the last one. So content is removed before its message is sent
 * for the first time (one of two reads in the same message), or before a compaction, which restarts
 * the conversation anyway; then all obsolete content is removed.
 *
 * The same history always gives the same result, whether it is processed message by message or
 * whole (a resumed session): each message depends on itself alone.
 *
 * Only results of hasp's own tools count: what a server's tool answers cannot make a file's
 * content go.
 */

struct superseded;

/* For a history that has not been processed yet. Never NULL. */
struct superseded *mask_superseded_new(void);
void mask_superseded_free(struct superseded *superseded); /* NULL is fine */

/* Looks at the messages that `history` (content.h) has gained since the last call, and replaces
 * those with obsolete content by shorter copies.  The first removes only content that its own
 * message made obsolete, and leaves earlier messages as they were sent; the second, before a
 * compaction, removes all.  Both return the bytes removed.  A history that was replaced needs a new
 * struct superseded. */
size_t mask_superseded_new_messages(struct superseded *superseded, json_t *history);
size_t mask_superseded_everywhere(struct superseded *superseded, json_t *history);

/* ---- large outputs ----------------------------------------------------------- */

/* Moves large tool outputs into files; the model gets the file name.
 *
 *     mask_truncate_output(&options, tool, call_id, result);     // a new result that is too long
 *     mask_outputs(&options, history);                      // old results, before a compaction
 *
 * Truncation: a text of a result longer than truncate_chars keeps the first fifth and the last four
 * fifths of that; the whole is in a file. What its tool has cut already is not cut for the length
 * of the note alone, and has one note when it is (struct cut). File contents are not truncated:
 * their tools have separate limits, and can continue reading.
 *
 * Masking: the newest protect_tokens of results are kept. If that gains at least min_tokens, each
 * large older result is replaced by its small members and the name of a file with the rest. Because
 * messages that have been sent are not changed (surroundings.h), this is done only before a
 * compaction, which restarts the conversation. A result in a message of the last turn stays, and so
 * do instructions that were found just in time (prompt.h).
 *
 * Files are created in options.folder with mode 0600; existing files are never replaced and links
 * never followed. Without a folder, or with a full disk, truncation works without the file and says
 * so, and masking is skipped.
 */

struct mask_options {
	const char *folder;      /* absolute; made when it is missing; NULL: no files */
	size_t truncate_chars;   /* bytes, really; 0: nothing is truncated */
	size_t protect_tokens;   /* of 4 bytes */
	size_t min_tokens;
	bool protect_latest;     /* the results of the last turn, whatever their size */
};

/* The defaults are Gemini CLI's: 40,000, 50,000, 30,000, true. */
#define MASK_OPTIONS_DEFAULT                                                             \
	{ .truncate_chars = 40000, .protect_tokens = 50000, .min_tokens = 30000, \
	  .protect_latest = true }

/* Bytes of the texts that were cut, and what is left of them. */
struct mask_truncated {
	size_t before, after;
};

/* Changes texts of `result`. `tool` may be NULL (an unknown one). True if anything was cut; `ret`
 * may be NULL. */
bool mask_truncate_output(const struct mask_options *options, const struct tool *tool,
                          const char *name, const char *call_id, json_t *result,
                          struct mask_truncated *ret);

/* Writes all of a result into such a file; the caller frees its path. NULL: none. */
char *mask_save_whole(const struct mask_options *options, const char *name, const char *call_id,
                      const json_t *result);

/* Replaces messages of `history` by changed copies. Returns how many results were masked, and in
 * *ret_candidates (may be NULL) the bytes of all that are old and large enough. */
size_t mask_outputs(const struct mask_options *options, json_t *history, size_t *ret_candidates);

/* ---- compaction ------------------------------------------------------------- */

/* Compaction replaces a conversation that is close to the model's limit by a summary and its newest
 * part.
 *
 * The steps, each taken at most once and only if needed: remove obsolete content (above); ask the
 * model for a summary of all but the newest 30 %; if that fails or gains nothing, drop the oldest
 * part, then more of it; finally cut what remains. After a failed summary, later compactions only
 * drop messages.
 *
 * The part kept starts at a prompt of the user if it has one, else at a message of the model, so
 * that no result loses its call. The context before the conversation (agent.h) is kept, and cut
 * only in the last step. Instructions found just in time that were removed with a result are found
 * again.
 */

struct agent;

/* How the message begins that stands for what was left out. */
#define LEFT_OUT_NOTE \
	"The earlier part of this conversation was left out because it became too long."

enum compact_why {
	COMPACT_NEAR,   /* the threshold is reached */
	COMPACT_OVER,   /* the provider said that it is too large, whatever we think */
	COMPACT_ASKED,  /* the user: summary or nothing */
};

/* Whether the setting model.compressionThreshold is reached. */
bool compact_is_due(struct agent *agent);

/* Replaces the history. CONTEXT_TOO_LARGE: it could not be made smaller; CANCELLED; ASKED alone:
 * the model's errors. */
bool compact(struct agent *agent, enum compact_why why, struct err *err);

/* Where the newest `share` (0 to 1) of a history begins; 0: all of it. Pure. */
size_t compact_tail(const json_t *history, double share);

/* ---- a conversation as text -------------------------------------------------- */

/* A conversation as plain text, for a model that is to summarise it. */

/* Appends at most about `most` bytes: results and arguments are cut as far as it takes; if that
 * is not enough, the middle is left out. Thoughts and media are not in it. */
void compact_transcript_write(struct buf *out, const json_t *contents, size_t most);

#endif
