/* SPDX-License-Identifier: Apache-2.0 */
/* What an answer carries: the one place that decides it, for every tool.
 *
 * A model pays for each byte of an answer in every later request.  An answer therefore holds what
 * this conversation does not have yet, within a budget, and one sentence says how to get the rest.
 * Two things decide: what was *seen*, and the *budget*.
 *
 * Seen is kept by file: the state (SHA-256, version) that the conversation had last, and of that
 * state all of it, or ranges of lines.
 *
 *     what happens                                   the conversation then has
 *     read_file, read_many_files, @file              the lines that came, or all
 *     its own edit                                   what it had, moved with the changed lines, and
 *                                                    the text that it sent
 *     write_file, create                             all
 *     a refusal that shows what changed              all, but it may not overwrite the file
 *                                                    without naming the state (may_write), nor
 *                                                    patch it if it had nothing of it before (read)
 *     compaction, masking                            what its history still has (answer_learn)
 *     a session is resumed                           what its history has (likewise)
 *
 * The answer to an edit has latest_file_state with file_path, version and sha256 in every mode.
 * In the mode RETURN_NEW its content is
 *
 *     outcome   the conversation has          latest_file_state also has
 *     made      all, or it sent all           content_omitted: "line 7 as sent, ..."
 *               a part, or nothing            content, if it is small (ANSWER_SMALL bytes);
 *                                             else content_omitted
 *               (its text was read other      changed: the changed places
 *               than as it was sent)
 *     refused   this state whole              content_omitted: "already shown as version 7"
 *               an older state, whole         changed: what is different since
 *               a part, or nothing            content, if it is small; else excerpt: the lines
 *                                             that the refusal is about; content_omitted
 *
 * `changed` is a unified diff for reading, whose headers have the line numbers of the new state;
 * long lines in it are cut around what changed.  The modes full, diff and none say otherwise, per
 * call or by setting.
 *
 * A refusal for want of the right hash says neither hash again; a hunk that went elsewhere, or
 * matched loosely, says only that; what was read as most files are (UTF-8, LF, to its end) does not
 * say so (answer_brief).
 *
 * Every other answer is made to fit the budget (answer_fit.c): long lists lose their end, long
 * texts their middle, the longest first, and `left_out` says how much and how to get it
 * (tool.rest).
 *
 * To see what an answer is made of, begin at answer_state and answer_for_model.
 * Not here: files with the whole of a result (agent/context/context.h), what a tool itself
 * bounds (read_request.max_bytes).
 */
#ifndef HASP_TOOL_ANSWER_H
#define HASP_TOOL_ANSWER_H

#include <jansson.h>

#include "base/buf.h"
#include "base/sha256.h"
#include "edit/edit.h"
#include "tool/tool.h"

/* ---- seen -------------------------------------------------------------------------- */

enum { SEEN_RANGES_MAX = 16 };

/* Lines from 1, both included. */
struct seen_range {
	size_t first, last;
};

/* What a conversation has of one file: of the one state that it had last. */
struct seen_state {
	struct sha256 sha256;
	uint64_t version;     /* of the last answer that had this state */
	bool whole;           /* all of its text */
	bool read;            /* some of that came by a read, a write or an edit */
	bool may_write;       /* whole, and not by a refusal */
	struct seen_range ranges[SEEN_RANGES_MAX]; /* sorted, apart; none if whole */
	size_t range_count;
};

/* What a session has for this: made and freed with it (session.c). Never NULL. */
struct seen *seen_new(void);
void seen_free(struct seen *seen); /* NULL is fine */

/* What the conversation has of the file, whose path is canonical; false: nothing, or too long ago
 * (some thousand files are remembered). */
bool seen_get(const struct session *session, const char *path, struct seen_state *ret);

/* A read gave the lines of `range` of this state, with `text` (a JSON string), or (range NULL) all
 * of it. */
void seen_read(struct session *session, const char *path, const struct sha256 *sha256,
               uint64_t version, const struct seen_range *range, json_t *text);

/* An edit of this conversation made `after` of `before`; `diff` (unified) has the change.
 * `whole`: the conversation has all of it whatever it had before. */
void seen_edited(struct session *session, const char *path, const struct sha256 *before,
                 const struct sha256 *after, uint64_t version, struct span diff, bool whole);

/* A refusal showed these lines of this state, which is `read` no more than before. */
void seen_excerpt(struct session *session, const char *path, const struct sha256 *sha256,
                  uint64_t version, const struct seen_range *range);

/* Whether the conversation has all lines from `first` to `last`, from 1. */
bool seen_has_lines(const struct seen_state *state, size_t first, size_t last);

/* A refusal showed all of this state, or how it differs from one that the conversation has. */
void seen_refused(struct session *session, const char *path, const struct sha256 *sha256,
                  uint64_t version);

/* The file was moved or deleted: `new_path` (NULL: none) is now what `path` was. */
void seen_moved(struct session *session, const char *path, const char *new_path);

/* Nothing was seen of it (NULL: of any file). */
void seen_forget(struct session *session, const char *path);

/* The conversation has text that was derived from this state (read/read.h), and no line of it.
 * seen_derived: whether that is so of the last such state of some file, on which no edit of text
 * can be based. */
void seen_derive(struct session *session, const char *path, const struct sha256 *sha256,
                 uint64_t version);
bool seen_derived(const struct session *session, const struct sha256 *sha256);

/* The conversation saw something of this state, at least that it is there: the refusal of an edit
 * that has no place for a hash shows it.  seen_met: the state of which something was seen last,
 * which is what base_content_sha256 "seen" stands for (spelling.h); false: of none. */
void seen_meet(struct session *session, const char *path, const struct sha256 *sha256);
bool seen_met(const struct session *session, const char *path, struct sha256 *ret);

/* Lines [at, at + removed) of the old text, from 1, became `added` lines. */
struct seen_change {
	size_t at, removed, added;
};

/* The changes of a diff that hasp printed; an array for the caller to free. */
struct seen_change *seen_changes(struct span diff, size_t *ret_count);

/* The text of the lines that the last read of a part gave, of the state that seen_get has, from
 * line *ret_first on: a new reference.  NULL: it is not kept. */
json_t *seen_part(const struct session *session, const char *path, size_t *ret_first);

/* ---- the state of a file ------------------------------------------------------------- */

/* The default of the setting hasp.answerTokens, and the bytes of a token. */
enum { ANSWER_TOKENS_DEFAULT = 12000, ANSWER_TOKEN_BYTES = 4 };

/* Most bytes of an answer of this session; 0: no limit. */
size_t answer_bytes_max(const struct session *session);

/* A file's state as an answer to an edit gives it, and why. What is borrowed stays so. */
struct answer_about {
	const char *path;                /* as the call has it: when the state is not known */
	const struct file_state *before; /* of an edit that was made; else NULL */
	const struct file_state *state;  /* on disk now; NULL: not known */
	const struct text_form *form;
	const struct buf *content;       /* its text; NULL: none, not text, or not asked for */
	bool content_is_long;            /* it was left out because of its size */
	size_t content_in;               /* the change of the same call whose answer shows it, from
	                                  * 1; 0: this one */
	enum return_content mode;
	bool done;                       /* the edit was made; else it was refused, or planned */
	bool planned;                    /* a dry run: nothing is taken for seen */
	bool sent_whole;                 /* the call has the whole new text */
	bool other_than_sent;            /* something was made that the call does not say */
	struct span diff;                /* of an edit that was made: from `before` to `state` */
	size_t line;                     /* a refusal is about this line, from 1; 0: none */
};

/* latest_file_state, with the session's next version; records what the conversation has by it.
 * A new reference. */
json_t *answer_state(struct session *session, const struct answer_about *about);

/* Adds encoding and line_endings; `brief`: unless they are UTF-8 and LF, as of most files. */
void answer_put_form(json_t *object, const struct text_form *form, bool brief);

/* ---- every answer -------------------------------------------------------------------- */

/* The member that says what an answer leaves out. */
#define ANSWER_LEFT_OUT "left_out"

/* Lets a schema of results, with its branches, have that member. */
void answer_allow_left_out(json_t *schema);

/* What a model gets of `result`: without what an edit's own call says already, and within the
 * budget.  `place` (NULL: none) says where the whole is: "in /path".  A new reference, to the
 * result where nothing changes.  `tool` may be NULL. */
json_t *answer_for_model(const struct session *session, const struct tool *tool,
                         const json_t *arguments, json_t *result, const char *place);

/* The same, of any size: without what the call says already, and what is as with most files
 * (an encoding of UTF-8, ...).  A new reference, to the result where nothing changes. */
json_t *answer_brief(const struct session *session, const struct tool *tool,
                     const json_t *arguments, json_t *result);

/* Bytes that a text takes of the budget: of ASCII its own, of others as many as their tokens. */
size_t answer_text_weight(struct span text);

/* Whether answer_for_model would leave something out for its size. */
bool answer_is_long(const struct session *session, const json_t *result);

/* ---- what a history has --------------------------------------------------------------- */

/* Records what one result in a conversation shows of files, as when it was given:
 * of `tool` (a server's is not believed).  Results in the order of the conversation, after
 * seen_forget of all. */
void answer_learn(struct session *session, const struct tool *tool, const json_t *result);

#endif
