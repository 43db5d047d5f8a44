/* SPDX-License-Identifier: Apache-2.0 */
/* What of a conversation is sent, and in which length: texts cut with a note in place of the rest;
 * large and superseded results taken out; all of it compacted when the model's limit is near.
 *
 * Not here: what the model is told of its surroundings, and what was sent last (surroundings.h). */
#ifndef HASP_AGENT_CONTEXT_CONTEXT_H
#define HASP_AGENT_CONTEXT_CONTEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"
#include "tool/tool.h"

/* ---- cuts ------------------------------------------------------------------ */

/* Texts that have to become shorter: where something was left out stands one note,
 *
 *     [... 12 lines, 3456 bytes left out; the whole output is in /path/to/file ...]
 *
 * (the lines and the place may be missing), also in a text that is cut once more: then the note
 * counts both.
 *
 *     struct cut cut = cut_of(text);
 *     if (cut_is_longer(&cut, 40000))
 *             cut_write(&cut, 8000, 32000, SPAN("they are not kept"), &out);
 */

struct cut {
	struct span before, after; /* the note; views. Without a note: all of the text, and
	                            * nothing */
	size_t gone;               /* bytes that the note counts; 0: there is none */
	struct span place;         /* "the whole output is in ..."; a view; may be empty */
};

/* A text that was not cut as one that is to be. */
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

/* The bytes of all strings and names in it, and a few for each number and bracket. NULL: 0. What is
 * nested deeper than JSON_DEPTH_MAX is not counted. */
size_t context_weight(const json_t *value);

/* ---- what newer results replace ---------------------------------------------- */

/* File contents that a later result has made obsolete, taken out of what is sent.
 *
 *     struct superseded *superseded = mask_superseded_new();
 *     mask_superseded_update(superseded, history, false);      // before each request
 *     mask_superseded_free(superseded);
 *
 * Every reading and every edit of a file carries its whole content.  Of one file, only the
 * newest counts: the one in the latest message, of the highest version there.  Earlier ones keep
 * file_path, version, sha256 and all else, and "content_left_out" says why `content` is null.
 * Content that is word for word what the call itself sent (write_file) is left out likewise.
 * Parts of a file (a range of lines) go when a newer whole content is there, and do not make
 * older whole ones go.
 *
 * When: what has been sent stays as it was (surroundings.h), because caches and signed thinking end
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

/* For a history of which no message was looked at yet. Never NULL. */
struct superseded *mask_superseded_new(void);
void mask_superseded_free(struct superseded *superseded); /* NULL is fine */

/* Looks at the messages that `history` (content.h) has beyond the last call, and replaces those
 * of which something is taken out by changed copies.  `all`: everything obsolete goes, whatever
 * it costs (before a compaction).  Returns the bytes taken out.  A history that was replaced
 * needs a new struct superseded. */
size_t mask_superseded_update(struct superseded *superseded, json_t *history, bool all);

/* ---- large outputs ----------------------------------------------------------- */

/* Large outputs of tools, put into files: the model keeps a pointer.
 *
 *     mask_truncate_output(&options, tool, call_id, result);     // a new result that is too long
 *     mask_outputs(&options, history);                      // old results, before a compaction
 *
 * Truncation: a text of a result longer than truncate_chars keeps the first fifth and the last
 * four fifths of that; the whole is in a file.  What its tool has cut already is not cut for the
 * length of the note alone, and has one note when it is (struct cut).  Contents of files are left
 * alone: their tools have limits of their own, and a way to read on.
 *
 * Masking: the newest protect_tokens of results stay as they are; of older ones, when at least
 * min_tokens can be gained at once, all large ones are replaced by their small members and the
 * name of a file with the whole.  What has been sent stays as it was (surroundings.h), so this is
 * done before a compaction alone, where the conversation begins anew.  A result in a message of the
 * last turn stays, and so do instructions that were found just in time (prompt.h).
 *
 * Files are made in options.folder, with mode 0600, and never follow or replace what has their
 * name.  No folder, or a full disk: truncation goes without the file and says so, masking is not
 * done.
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

/* Writes all of a result into such a file; the caller frees its path. NULL: there is none. */
char *mask_save_whole(const struct mask_options *options, const char *name, const char *call_id,
                      const json_t *result);

/* Replaces messages of `history` by changed copies. Returns how many results were masked, and in
 * *ret_candidates (may be NULL) the bytes of all that are old and large enough. */
size_t mask_outputs(const struct mask_options *options, json_t *history, size_t *ret_candidates);

/* ---- compaction ------------------------------------------------------------- */

/* Compaction: a conversation that comes near the model's limit is replaced by a summary of its
 * state and its newest part.
 *
 * In this order, and no further than needed: everything obsolete goes (above); the model is
 * asked for a summary of all but the newest 30 %; if that fails, or nothing becomes smaller, the
 * oldest part is left out, then more of it, and at last what remains is cut.  Each step is taken
 * once: there is an end. After a summary that failed, later compactions only leave out.
 *
 * What is kept begins at a prompt of the user if there is one in it, else at a message of the
 * model: no result loses its call.  The context that stands before the conversation (agent.h)
 * stays, whole but in the last of these steps; what was found just in time and went with its
 * result is found once more.
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
