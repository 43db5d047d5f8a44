/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the reply that is being put together, and the events about it.
 *
 *     struct reply_sink sink;
 *     sink_init(&sink, event, data);
 *     ... a reader calls the functions of provider.h ...
 *     sink_close(&sink);            // the last part is closed, calls that may not run leave
 *     sink_take(&sink, &reply);      // or not: the reply was of no use
 *     sink_release(&sink);
 *
 * Which calls of a reply may run is decided here and nowhere else, for every format
 * (sink_close):
 *
 *   how the reply ended             calls that stay
 *   whole (STOP, TOOLS)             all that came before its end
 *   cut by its length (LENGTH)      those after which something came, or that the provider
 *                                   declared complete (sink_whole)
 *   blocked, refused (SAFETY)       none
 *   any other word, or no word      none, and it is asked for again (stream.c)
 *
 * The others leave the content, so that the conversation has no call without a result, and
 * `withheld` says so.  A reader reports what it sees and leaves out nothing for the sake of this
 * rule.
 */
#ifndef HASP_MODEL_SINK_H
#define HASP_MODEL_SINK_H

#include <jansson.h>

#include "base/buf.h"
#include "base/span.h"
#include "model/model.h"
#include "model/provider.h"
#include "model/tool_fit.h"

/* ---- grounding --------------------------------------------------------------- */

/* Where an answer comes from, in the form of Gemini's groundingMetadata:
 *
 *     {"webSearchQueries": ["..."], "groundingChunks": [{"web": {"uri": "...", "title": "..."}}]}
 */

struct grounding {
	json_t *chunks, *queries; /* owned; NULL: none */
};

/* Frees both lists, and leaves it empty. */
void model_grounding_release(struct grounding *grounding);
/* A page; one that is there already, or without an address, adds nothing. */
void model_grounding_add(struct grounding *grounding, struct span url, struct span title);
void model_grounding_query(struct grounding *grounding, struct span query);
/* Adds the members of a second such object, which is taken, to the first; either may be NULL. */
void model_grounding_join(json_t **first, json_t *second);
/* The object, and an empty grounding; NULL: there is nothing. */
json_t *model_grounding_take(struct grounding *grounding);

/* ---- tags (tagged.c) ---------------------------------------------------------- */

/* Thoughts and calls that servers leave in the text.
 *
 *     <think> ... </think>                                        at its beginning: a thought
 *     <tool_call>{"name": ..., "arguments": {...}}</tool_call>    as the whole text: calls
 *     <tool_call><function=NAME><parameter=P>...</parameter></function></tool_call>
 *     <function=NAME>{...}</function>
 *
 * (Hermes and Qwen; the templates of vLLM and llama.cpp.)  Text that may still turn into one of
 * these is held back; other text is passed on immediately.  A text is parsed as calls only if it
 * contains nothing else, the tools are declared, and nothing that the model has read contains such
 * a tag: a file, a page or a command's output must not become a call because the model repeats it.
 * A quoted call remains text, and the reply notes it.
 *
 *     piece = tagged_feed(&tagged, piece, &kind)    while there is any: text or thought
 *     tagged_end(&tagged)                           what was held
 */

struct reply_sink;

enum tagged_state {
	TAGGED_START,  /* of a text: white space so far, or what may become a tag */
	TAGGED_PLAIN,
	TAGGED_THINK,  /* after a tag that opens */
	TAGGED_CALLS,  /* after one of a call: all is held */
};

struct tagged {
	enum tagged_state state;
	struct buf held;
	struct span close;  /* of TAGGED_THINK */
	bool after_thought; /* white space in front of the text belongs to the tag */
};

/* Takes a piece of text, and calls `text` and `thought` with what it is. */
void tagged_feed(struct tagged *tagged, struct span piece, struct reply_sink *sink,
                 void (*text)(struct reply_sink *sink, struct span piece),
                 void (*thought)(struct reply_sink *sink, struct span piece));

/* Ends the text: calls `text` or `thought` with what was held back, unless that was calls
 * (TAGGED_CALLS; the caller handles them before: tagged_calls), and resets the state. */
void tagged_end(struct tagged *tagged, struct reply_sink *sink,
                void (*text)(struct reply_sink *sink, struct span piece),
                void (*thought)(struct reply_sink *sink, struct span piece));

/* The calls that the whole text is, as parts (a new array); NULL: it is something else, or
 * a tool is not among `tools`. */
json_t *tagged_calls(struct reply_sink *sink, struct span text, const json_t *tools);

/* Whether a line of the text begins with a tag of a call. */
bool tagged_has_call(struct span text);

/* Whether anything that the model was given has a tag of a call in it: the system prompt, or what
 * is not the model's own in the conversation.  In time linear in its length. */
bool tagged_is_given(const struct model_request *request);

/* ---- sink -------------------------------------------------------------------- */

enum sink_open { SINK_NOTHING, SINK_TEXT, SINK_THOUGHT };

struct reply_sink {
	void (*event)(void *data, const struct model_event *event); /* may be NULL */
	void *data;
	json_t *content;       /* role model; owned */
	struct buf text;       /* of the part that is open */
	json_t *opaque;        /* of it; owned, or NULL */
	enum sink_open open;
	size_t events;         /* of the stream, so far (wire_event) */
	const char *loader;    /* wire_loader of the request; borrowed */
	const json_t *tools;   /* of the request; borrowed, or NULL */
	const struct model_request *request; /* borrowed, or NULL */
	struct tagged tagged;  /* what of the text may be a thought or calls */
	bool tagging;          /* it is being fed or ended */
	const struct tool_fit *fit; /* of the request; borrowed, or NULL: calls are as the tools
	                             * have them */
	bool lone;             /* halves of surrogate pairs may stand in what comes (json_whole) */
	struct buf held;       /* half a pair at the end of the last piece */
	size_t bytes;          /* text and arguments so far */
	size_t calls;          /* among the parts */
	size_t whole;          /* parts that the provider declared complete: the first so many */
	size_t left_out;       /* calls that came after the end, or in part */
	bool late;             /* some of them came after the end */
	char *left_out_name;   /* of the first that may not run; owned, or NULL */
	char *withheld;        /* the sentence about calls that may not run; owned, or NULL */
	bool said;             /* text that is not blank, or a part that is neither text, thought
	                        * nor call */
	bool too_large;
	bool finished;         /* sink_finish was called */
	enum model_finish finish;
	char *finish_text;     /* owned */
	struct model_usage usage;
	struct model_quota quota;
	double delay_s;        /* that an error in the stream names; below 0: none */
	json_t *grounding;     /* owned */
};

/* An empty reply of the role model. `event` may be NULL. */
void sink_init(struct reply_sink *sink,
               void (*event)(void *data, const struct model_event *event), void *data);
/* Frees all that the sink owns, taken or not. */
void sink_release(struct reply_sink *sink);
/* The reply has come: applies the rule above, and publishes MODEL_CALL for each call that stays.  A
 * reply for which sink_finish was never called is not whole. */
void sink_close(struct reply_sink *sink);
/* Moves content, usage, finish and grounding into *ret. */
void sink_take(struct reply_sink *sink, struct model_reply *ret);

#endif
