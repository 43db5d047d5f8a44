/* SPDX-License-Identifier: Apache-2.0 */
/* What a provider's wire format is: private to this folder.
 *
 * A format is two pure halves: a request becomes an HTTP request (build), and the answer's
 * events become a reply (a reader that is fed).  Sending, retrying, recording and cancelling are
 * stream.c's, recording.c's and model.c's, the same for all.
 */
#ifndef HASP_MODEL_PROVIDER_H
#define HASP_MODEL_PROVIDER_H

#include "base/buf.h"
#include "model/content.h"
#include "model/model.h"
#include "model/parameters.h"
#include "net/http/sse.h"

/* ---- provider ---------------------------------------------------------------- */

/* One attempt's HTTP request. Owned by stream.c, which releases it. */
struct wire_request {
	const char *format;  /* provider_format.name */
	refusable_set without; /* what is not to be sent; wire_body leaves it out */
	struct buf url;
	struct buf body;     /* JSON */
	char **headers;      /* "Name: value", NULL-terminated; all owned */
	size_t header_count;
};

/* Where a reader puts what it reads; the functions publish it as events too (sink.c).  Pieces of
 * text, and pieces of thoughts, are put together to one part as long as no other kind comes between
 * and `opaque` is the same or NULL. */
struct reply_sink;
void sink_text(struct reply_sink *sink, struct span piece, const json_t *opaque /* or NULL */);
void sink_thought(struct reply_sink *sink, struct span piece, const json_t *opaque);
/* `part` (taken): a whole part with its functionCall, id and all. A missing id is given.  After
 * sink_finish it is left out: it came after the end of the reply.  Whether it may run is decided
 * when the reply has ended (sink.h). */
void sink_call(struct reply_sink *sink, json_t *part);
/* Leaves out an incomplete call, or a late one, whose pieces came after the end. */
void sink_call_left_out(struct reply_sink *sink, const char *name /* or NULL */);
void sink_call_late(struct reply_sink *sink, const char *name /* or NULL */);
/* The provider says that all that has come so far is complete, wherever the reply is cut. */
void sink_whole(struct reply_sink *sink);
/* `part` (taken): any other complete part to keep (redacted thinking, inlineData). */
void sink_part(struct reply_sink *sink, json_t *part);
/* Adds "opaque" (or Gemini's "thoughtSignature") to the part that is being put together, or to the
 * last one.  A text or thought that is signed is finished: the next piece begins another part. */
void sink_sign(struct reply_sink *sink, const char *member, json_t *value /* taken */);
/* The next piece starts a new part. */
void sink_break(struct reply_sink *sink);
void sink_usage(struct reply_sink *sink, const struct model_usage *usage);
/* The reply ends so.  Where a provider says it twice, the worse counts: STOP and TOOLS, LENGTH,
 * OTHER, SAFETY. */
void sink_finish(struct reply_sink *sink, enum model_finish finish, const char *word);
/* Whether `finish` takes the place of `before` when both are said. */
bool sink_finish_counts(enum model_finish before, enum model_finish finish);
void sink_grounding(struct reply_sink *sink, json_t *grounding /* taken */);

/* What became of an answer that is an error: class for the retries. */
enum wire_trouble {
	WIRE_FATAL,     /* asking again would give the same */
	WIRE_TRANSIENT, /* overloaded, rate limited for seconds: wait and ask again */
	WIRE_QUOTA,     /* used up for longer than waiting makes sense: fall back */
	WIRE_BROKEN,    /* the stream broke or made no sense: ask again soon */
	WIRE_UNREADABLE, /* not JSON: retried only once, since the server would send the same
	                  * again */
};

/* Reads one answer into a sink: it is fed each SSE event, then ended.  When that fails *err says
 * why, and *trouble (WIRE_BROKEN before) what to do. */
struct provider_reader {
	void *(*make)(struct reply_sink *sink);
	bool (*event)(void *reader, const struct sse_event *event, enum wire_trouble *trouble,
	              struct err *err);
	bool (*end)(void *reader, enum wire_trouble *trouble, struct err *err);
	void (*free)(void *reader);
	/* The events (an array, new) that a stream would have had for an answer that came whole,
	 * as one value; NULL: the value is one itself, or a list of some. */
	json_t *(*events_of)(const json_t *answer);
};

struct provider_format {
	const char *name;
	const char *default_base;   /* URL */
	/* Writes one request. INVALID_ARGUMENT: it asks for what this provider cannot do. */
	bool (*build)(const struct model_options *options, const struct model_request *request,
	              struct wire_request *ret, struct err *err);
	const struct provider_reader *reader;
	/* An answer with an HTTP status of 400 and above: fills err and says what to do.
	 * `value`: its body (fault_body); *delay_s is what it asks for (retry-after is stream.c's),
	 * below 0: nothing. */
	enum wire_trouble (*error)(int status, const json_t *value, double *delay_s,
	                           struct err *err);
	uint64_t (*context_tokens)(const char *model_name); /* 0: not known */
	/* Whether a part of this type, which is no image, can be sent. NULL: any can. */
	bool (*takes_media)(const struct model_options *options, struct span type);
	/* NULL: MODEL_LOADS_NOTHING, and `build` never sees a "deferred" tool. */
	enum model_loading (*loading)(const struct model_options *options);
	/* What the provider itself says of its models: a GET, and what is in its answer (0:
	 * nothing of this model). Both NULL: it has nothing of the kind. False: not for these
	 * options. */
	bool (*limits_build)(const struct model_options *options, struct wire_request *ret);
	uint64_t (*limits_read)(const struct model_options *options, const json_t *answer);
	/* Its list of models (offers.c): a GET (without the header fields that all have), and what
	 * its answer has, appended to `list` as [{"id", "contextTokens"?}]. Both NULL: it has no
	 * list. False: not for these options. */
	bool (*list_build)(const struct model_options *options, struct wire_request *ret);
	void (*list_read)(const json_t *answer, json_t *list);

	/* A provider without HTTP (replay) has these instead of all of the above but the names;
	 * NULL for others.  `open` is called by model_open; `answer` puts one whole answer into
	 * the sink, or fails as a reader does. */
	bool (*open)(const struct model_options *options, void **ret_state, struct err *err);
	bool (*answer)(void *state, const struct model_request *request, struct reply_sink *sink,
	               enum wire_trouble *trouble, struct err *err);
	void (*close)(void *state);
};

/* The row for a name; NULL if there is none (endpoint.c). */
const struct provider_format *provider_find(const char *name);

extern const struct provider_format format_gemini;            /* gemini/ */
extern const struct provider_format format_openai_chat;       /* openai/chat.c */
extern const struct provider_format format_openai_responses;  /* openai/responses.c */
extern const struct provider_format format_anthropic;         /* anthropic/ */

/* ---- replay ------------------------------------------------------------------ */

/* A recorded conversation as a model: the provider "replay", with options.replay_file.
 *
 * The file has one answer a line, as model.h says: what hasp records with any provider, and
 * what gemini-cli --record-responses writes.  Requests get the lines in their order, whatever they
 * ask: model_stream takes the next line whose method is generateContentStream or generateContent;
 * lines of countTokens and embedContent before it are passed over, and blank lines.  Nothing is
 * sent over the network, and requests are not compared with the recorded ones.  Each struct model
 * starts at the first line.
 *
 * Errors: FILE_NOT_FOUND and its like from model_open; MODEL_ERROR, with the number of the line,
 * when a line is invalid, or when there is none left.
 */

extern const struct provider_format format_replay;

/* Puts the answer of one line (its value) into the sink. MODEL_ERROR: it is not one. */
bool recording_replay(const json_t *line, struct reply_sink *sink, enum wire_trouble *trouble,
                      struct err *err);

#endif
