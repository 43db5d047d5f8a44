/* SPDX-License-Identifier: Apache-2.0 */
/* A model: the same stream of events for every provider's wire format.
 *
 *     struct model *model;
 *     if (!model_open(&options, &model, &err)) ...            // connects nowhere yet
 *     ok = model_stream(model, &request, on_event, data, &reply, &err);
 *     model_reply_release(&reply);
 *     model_free(model);
 *
 * A request is the whole conversation (content.h), the system text, the tools; the reply is the
 * content to append to the conversation, including data that the provider requires back.  Pieces
 * are published as events while they arrive.  A model handles one request at a time; several models
 * may be used concurrently.
 *
 * model_stream retries (stream.h) after connection failures, overload, broken streams, empty and
 * malformed replies, with jitter and with the delays that servers request.  When quota is used up
 * it falls back along options->fallbacks, and returns to the first model after the time that the
 * server named (or five minutes for overload, an hour for quota).  MODEL_RESTART revokes the pieces
 * published of a broken reply.
 *
 * To add a provider: a row in endpoint.c's table of formats and one file with its functions
 * (provider.h).
 */
#ifndef HASP_MODEL_MODEL_H
#define HASP_MODEL_MODEL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/span.h"

struct model;
struct recording;

/* Who loads tools that a request does not declare at its beginning (model_request.tools). */
enum model_loading_by {
	MODEL_LOADING_AUTO,      /* the provider, where its own address has it for the model */
	MODEL_LOADING_OWN,       /* the caller's tools */
	MODEL_LOADING_PROVIDER,  /* the provider, at any address, if its format has a way */
};

/* Sentences about what to do when a request has failed for good (advice.c). */
enum model_advice {
	MODEL_ADVICE_KEY,     /* where the key comes from, and how to replace it */
	MODEL_ADVICE_NAME,    /* of an unknown model */
	MODEL_ADVICE_ADDRESS, /* of a server that cannot be reached */
	MODEL_ADVICE_OTHER,   /* how to use another model */
	MODEL_ADVICE_COUNT,
};

/* Where a model is and how it is reached. All strings are copied. */
struct model_options {
	const char *provider;  /* "gemini", "openai" (chat completions), "openai-responses",
	                        * "anthropic", "replay" */
	const char *label;     /* what the provider is called in model_id and in errors ("groq");
	                        * NULL: as `provider` */
	const char *name;      /* as the provider knows it: "gemini-2.5-pro" */
	const char *base_url;  /* NULL: the provider's own, with its version
	                        * ("https://.../v1beta") */
	const char *api_key;   /* NULL: none is sent; never shown, never logged */
	const char *no_key;    /* NULL, or why nothing can be asked (a sentence): model_stream fails
	                        * with it, AUTHENTICATION_FAILED */
	const char *advice[MODEL_ADVICE_COUNT]; /* each added to the errors that it is about; NULL:
	                                         * nothing is */
	bool bearer;           /* the key goes as Authorization: Bearer where that is a choice */
	bool vertex;           /* Gemini's and Anthropic's formats at a Vertex address (base_url has
	                        * project and location) */
	const char *const *headers; /* further ones, "Name: value", NULL-terminated; may replace */
	const char *proxy;     /* NULL: from the environment */
	const char *replay_file;    /* replay: recorded answers (provider.h) */
	enum model_loading_by loading_by;
	/* NULL, or answers are added to it; borrowed. A fallback's go to the first model's. */
	struct recording *recording;
	unsigned max_attempts; /* 0: 10 */
	unsigned first_delay_ms;    /* 0: 5,000; doubles up to 30,000, ±30 % */
	bool no_network_retries;    /* a failed connection is not retried */
	/* The longest that is waited (docs/models.md, "Waits"). 0: 30 s for a connection; 300 s
	 * without a byte; 900 s with comments and pings alone; 3,600 s for one reply;
	 * MODEL_WAITING after 15 s. */
	unsigned connect_ms, idle_ms, ping_ms, reply_ms, waiting_ms;
	uint64_t context_tokens;    /* 0: what the provider says (model_learn_limits), else known by
	                          * name, else 1,048,576 for gemini, 200,000, 262,144 */
	const char *const *without;  /* NULL, or names of parameters that are never sent
	                              * (refusable.c's), NULL-terminated; unknown ones are passed
	                              * over */
	const char *learnt_file;     /* NULL, or where it is remembered what this endpoint refuses
	                              * (config/home.h) */
	const struct model_options *const *fallbacks; /* NULL-terminated, or NULL; in this order */
	/* What time it is, in milliseconds since some moment, for when a model is asked again;
	 * NULL: clock_monotonic_ms. Of the first model. */
	uint64_t (*now_ms)(void);
	/* For logs: called with each request and each answer's status, without keys. May be
	 * NULL. */
	void (*trace)(void *data, const char *line);
	void *trace_data;
};

enum model_tool_mode { MODEL_TOOLS_AUTO, MODEL_TOOLS_ANY, MODEL_TOOLS_NONE };
enum model_thinking { MODEL_THINK_DEFAULT, MODEL_THINK_OFF, MODEL_THINK_LOW, MODEL_THINK_MEDIUM,
                      MODEL_THINK_HIGH };

struct model_request {
	struct span system;          /* may be empty */
	const json_t *contents;      /* content.h; repaired before it is sent */
	/* [{"name", "description", "parameters": JSON Schema, "loading"?, "grammar"?}], or NULL.
	 * "grammar": in Lark's words, that of the tool's one argument "input", for providers that
	 * take calls of free text.  "loading":
	 *   "loads"     its results, {"tools": [such objects]}, load what they have
	 *   "instead"   calls what was loaded, where the provider does not take that by name
	 *   "deferred"  at the end, of those that can be loaded, for providers that want all of
	 *               them in each request (model_loads); others do not get it
	 */
	const json_t *tools;
	enum model_tool_mode tool_mode;
	const json_t *allowed_tools; /* with ANY: names; or NULL */
	double temperature, top_p;   /* below 0: the model's default */
	int top_k;                   /* 0: the model's default */
	unsigned max_output_tokens;  /* 0: the model's default */
	enum model_thinking thinking;
	unsigned thinking_tokens;    /* 0: by `thinking` */
	const json_t *answer_schema; /* NULL, or the schema of an answer in JSON */
	const json_t *server_tools;  /* NULL, or names of tools the provider runs:
	                              * ["google_search"], ["url_context"]; INVALID_ARGUMENT where
	                              * it has none */
	const char *session_id;      /* for caches and logs of the provider; or NULL */
	const char *purpose;         /* "main", "compress", ...: for statistics */
	const struct cancel *cancel;
	const struct cancel *stop;   /* or NULL; ends the reply early and successfully: it has what
	                              * has arrived, with MODEL_FINISH_OTHER and the word "enough".
	                              * The event function may set it */
};

struct model_usage {
	uint64_t input;    /* all of the prompt, cached parts included */
	uint64_t cached;   /* of input: read from a cache */
	uint64_t cache_written;
	uint64_t output;   /* without thoughts */
	uint64_t thoughts;
	uint64_t tool;     /* of tools the provider ran */
	uint64_t total;
};

/* What is left of the provider's limits, as its answer says. */
struct model_quota {
	bool known;
	unsigned left;     /* per cent, of the limit of which least is left */
};

enum model_finish {
	MODEL_FINISH_STOP,
	MODEL_FINISH_TOOLS,   /* there are calls to be made */
	MODEL_FINISH_LENGTH,  /* max_output_tokens */
	MODEL_FINISH_SAFETY,  /* refused, blocked, recitation */
	MODEL_FINISH_OTHER,   /* any other word, known or not: the reply is not taken for whole */
	MODEL_FINISH_PAUSE,   /* of one answer of a provider, which is to get it back and goes on;
	                       * what model_stream returns has never ended so */
};
const char *model_finish_name(enum model_finish finish); /* "stop", "tools", ... */

enum model_event_kind {
	MODEL_TEXT,     /* text: a piece */
	MODEL_THOUGHT,  /* text: a piece; subject if it has one */
	MODEL_CALL,     /* call: one whole functionCall {id, name, args} of a reply that has ended
	                 * well; published when it has */
	MODEL_USAGE,    /* usage so far */
	MODEL_WAITING,  /* nothing of the reply has come for waited_ms; text: a sentence. delay_ms:
	                 * the longest wait. Sent after 15, 30, 60, 120 s and so on */
	MODEL_RESTART,  /* forget all pieces of this reply: it is asked for again. text: why;
	                 * delay_ms; sentence: both. Without one, MODEL_SWITCHED follows */
	MODEL_LEFT_OUT, /* text: which media were not sent, and why. With `media`: the provider
	                 * refused them, and the caller keeps them out of the conversation
	                 * (media_without in media.h).  With `subject`: the tools, with ", "
	                 * between them, whose declarations the provider rejects; requests are
	                 * sent without them from now on */
	MODEL_NOTE,     /* text: a sentence about the reply, for the user */
	MODEL_SWITCHED, /* another model answers from now on: one that takes over (MODEL_RESTART
	                 * comes before it), or the first again, when its time is over. text: its
	                 * "provider/name"; subject: why, empty for the first; sentence */
};

struct model_event {
	enum model_event_kind kind;
	struct span text, subject;
	struct span sentence;    /* the message for the user; may be empty */
	struct span from;        /* MODEL_SWITCHED: the model that answered before */
	int64_t until;           /* and when it is asked again, seconds since 1970; 0: it is back */
	const json_t *call;
	const json_t *media;     /* MODEL_LEFT_OUT: {KEY: SENTENCE}, or NULL */
	const struct model_usage *usage;
	unsigned delay_ms, attempt, waited_ms;
};

struct model_reply {
	json_t *content;       /* role model, at least one part; for the conversation. Owned */
	enum model_finish finish;
	char *finish_text;     /* the provider's word; owned; NULL: it said none */
	char *withheld;        /* a sentence: calls that came are not in the content, because
	                        * nothing of a reply that is blocked or unfinished is run; owned;
	                        * NULL: none */
	struct model_usage usage;
	struct model_quota quota;
	json_t *grounding;     /* Gemini's groundingMetadata, or an equal; NULL without. Owned */
	char *model;           /* "provider/name" that answered; owned */
	unsigned attempts;     /* requests that were needed */
	double ms;             /* the last one's time from request to end */
};
/* Frees what the reply owns, and leaves it empty; a zeroed reply is fine. */
void model_reply_release(struct model_reply *reply);

/* INVALID_ARGUMENT: no such provider, a URL that is none, a key with line ends, ... */
bool model_open(const struct model_options *options, struct model **ret, struct err *err);
void model_free(struct model *model); /* NULL is fine */
/* Another model answers from the next request on, with its own fallbacks; the conversation goes on,
 * of which each format leaves out what only the provider that wrote it can read.  Not while a
 * request is running. Errors as of model_open; then nothing has changed. */
bool model_replace(struct model *model, const struct model_options *options, struct err *err);

/* "provider/name" of the model that answers now. Borrowed. */
const char *model_id(const struct model *model);
/* An id as Gemini CLI's formats (figures, stream-json, hooks) have it: of Gemini's own models
 * without "gemini/". A part of `id`. */
const char *model_plain_id(const char *id);
uint64_t model_context_tokens(const struct model *model);

enum model_loading {
	MODEL_LOADS_NOTHING,  /* by the caller's own tools alone */
	MODEL_LOADS_FOUND,    /* the provider takes what the results of a search have */
	MODEL_LOADS_DECLARED, /* those are names, of "deferred" declarations in each request */
};
/* How the model loads tools, or the one of its fallbacks that requires most. */
enum model_loading model_loads(const struct model *model);
/* The tools that stand before the conversation: all but "deferred" ones. A new reference. */
json_t *model_tools_before(const json_t *tools /* or NULL */);

/* Asks the provider for the model's context length, if it has an API for that, once for each model;
 * the answer is kept in options->learnt_file for a week.  It takes three seconds at most and never
 * fails; call it when a conversation has grown, not before its first request.  `cancel` aborts it;
 * may be NULL. */
void model_learn_limits(struct model *model, const struct cancel *cancel);

/* A reply that the provider pauses (Anthropic's pause_turn, when its own tools have run for long)
 * is sent back as it is, up to eight times, and the continuations are appended: one reply with the
 * total usage.  After that it is returned as it is, with MODEL_FINISH_OTHER.  A fallback that takes
 * over in between starts the reply from the beginning, with MODEL_RESTART: only the provider that
 * ran the tools can read their results, and the text would lack its sources without them.  `event`
 * may be NULL. Errors, after all retries: NETWORK_ERROR,
 * AUTHENTICATION_FAILED, QUOTA_EXCEEDED (distinct from OVERLOADED), CONTEXT_TOO_LARGE,
 * INVALID_ARGUMENT (the provider refused the request: its sentence), MODEL_ERROR (empty,
 * malformed, unexpected), CANCELLED. */
bool model_stream(struct model *model, const struct model_request *request,
                  void (*event)(void *data, const struct model_event *event), void *data,
                  struct model_reply *ret, struct err *err);

/* A conversation as model_stream would send it now: without the media that the model's limits
 * exclude, which depend on all that is in it (so many images, so many bytes).  A new reference. */
json_t *model_sendable(struct model *model, const json_t *contents);

/* ---- recordings ------------------------------------------------------------------- */

/* Answers of any provider, written so that a replay (and gemini-cli --fake-responses) can give
 * them again.
 *
 *     if (!recording_open(file, roots, trouble, data, &recording, &err)) ...  // at first
 *     options.recording = recording;       // of one model or several
 *     recording_close(recording);          // after them
 *
 * One line of JSON for each answer, in Gemini CLI's form:
 *
 *     {"method": "generateContentStream", "response": [{
 *         "candidates": [{"content": {"role": "model", "parts": [...]}, "finishReason": "STOP",
 *                         "index": 0, "groundingMetadata"?: {...}}],
 *         "usageMetadata": {"promptTokenCount", ...},
 *         "hasp": {"model": "anthropic/...", "finish": "tools", "word": "tool_use",
 *                  "cacheWritten": 0}}]}
 *
 * The parts are those of content.h, with "opaque" and "thoughtSignature"; "hasp" has what Gemini's
 * form has no member for.
 */

struct recording;

/* The file is appended to, and made (mode 0600) if it is not there. `trouble` (may be NULL) is
 * called, once, when an answer could not be written; none is from then on: a recording with a gap
 * would replay another conversation.  `roots`: the workspace's, as in door_open (base/door.h):
 * no link there is followed out of them. From any thread.  PERMISSION_DENIED, FILE_NOT_FOUND,
 * NOT_A_FILE, IO_ERROR, ... */
bool recording_open(const char *file, const char *const *roots,
                    void (*trouble)(void *data, const struct err *err), void *data,
                    struct recording **ret, struct err *err);
void recording_close(struct recording *recording); /* NULL is fine */

/* Private to this folder.  Writes the line immediately and atomically. */
void recording_add(struct recording *recording, const struct model_reply *reply);

#endif
