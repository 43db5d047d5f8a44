/* SPDX-License-Identifier: Apache-2.0 */
/* The surroundings as sent to the model, in pieces.
 *
 * Messages that have been sent are never changed: providers cache the common prefix of consecutive
 * requests, and newer models reject their own thinking if anything before it has changed
 * (Anthropic: platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks). So
 * the system prompt and the first message are made once, from named pieces; the session's file
 * stores them (record.h), and a resumed session sends them again byte for byte. If the text of a
 * piece changes (the date, the files, the instructions, the mode), a note at the end says so. A
 * compaction restarts with the current pieces.
 *
 *     surroundings = {"system": [PIECE...], "context": [PIECE...]}      PIECE = {"name", "text"}
 *
 * The texts in their order, joined, are what is sent.
 */
#ifndef HASP_AGENT_CONTEXT_SURROUNDINGS_H
#define HASP_AGENT_CONTEXT_SURROUNDINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "model/model.h"

/* ---- notes on changes -------------------------------------------------------- */

/* Names of pieces; changes of a piece not in this table are never sent. */
#define PIECE_BASE "base"           /* hasp's own system prompt: another version's is as good */
#define PIECE_CUSTOM "custom"       /* the user's own (GEMINI_SYSTEM_MD) */
#define PIECE_SANDBOX "sandbox"
#define PIECE_SKILLS "skills"       /* those that can be activated */
#define PIECE_MEMORY "memory"       /* the user's instructions */
#define PIECE_DATE "date"
#define PIECE_FOLDERS "folders"
#define PIECE_TREE "tree"
#define PIECE_PROJECT "project"     /* the project's instructions */
#define PIECE_SERVERS "servers"     /* instructions of MCP servers */
#define PIECE_MODE "mode"
#define PIECE_TOOLS "tools"         /* those that are announced, and not declared */
#define PIECE_FRAME "frame"         /* what stands around the others */

/* How each note of changes begins: notes are a part of the conversation. */
#define CHANGES_NOTE "<session_context>\nThis holds from here on; it needs no answer.\n"

/* Appends a piece to a list; an empty text too, so that it can come to be something. */
void surroundings_add(json_t *pieces, const char *name, struct span text);
/* Gives the pieces of that name in a list another text. */
void surroundings_set(json_t *pieces, const char *name, struct span text);
/* All texts joined; the caller frees. */
char *surroundings_text(const json_t *pieces);

/* The first message, of the pieces of `surroundings`; a new reference. */
json_t *surroundings_message(const json_t *surroundings);
/* The pieces of a message whose text was changed: one. A new reference. */
json_t *surroundings_pieces_of(const json_t *message);

/* {name: text} of all pieces; a new reference. */
json_t *surroundings_by_name(const json_t *surroundings);
/* The pieces of `surroundings` that differ from `known`; a new reference, may be empty. An empty
 * piece that was never sent does not count as a difference. */
json_t *surroundings_changes(const json_t *known, const json_t *surroundings);
/* `known` with the texts of `changes`. */
void surroundings_update(json_t *known, const json_t *changes);
/* The note on these changes, in <session_context>; the caller frees. Of the tree it lists only the
 * names added and removed, if they are few. */
char *surroundings_note(const json_t *known, const json_t *changes);

/* ---- what was sent ----------------------------------------------------------- */

/* The last request of a conversation, and how much of the next one equals its beginning.
 * Private to agent/.
 *
 *     share = context_sent_compare(sent, &request);     // before it goes out
 *     if (share.broken) ... what was signed over the old beginning has to go (model/content.h)
 *     context_sent_take(sent, &request);
 *
 * A request begins with the last one if its system text and its tools are the same and its
 * messages begin with the last one's; of the last message, more parts may have been added.
 * Providers charge what is equal at a fraction ("prompt caching": platform.claude.com,
 * ai.google.dev/gemini-api/docs/caching, developers.openai.com/api/docs/guides/prompt-caching),
 * in the order tools, system, messages.
 */

struct sent;

struct sent_share {
	bool first;    /* there was none before: nothing to compare */
	bool broken;   /* it does not begin with the last one */
	size_t bytes;  /* of the request, by context.h */
	size_t equal;  /* of them: equal to the last one's beginning */
};

/* Nothing was sent yet. Never NULL. */
struct sent *context_sent_new(void);
void context_sent_free(struct sent *sent); /* NULL is fine */

/* How much of `request` equals the beginning of the last one. */
struct sent_share context_sent_compare(const struct sent *sent,
                                       const struct model_request *request);
/* It is the last one now; its contents and tools are shared, not copied. */
void context_sent_take(struct sent *sent, const struct model_request *request);
/* The conversation restarts. */
void context_sent_forget(struct sent *sent);

#endif
