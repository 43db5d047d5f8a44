/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the builders of requests share, those for OpenAI's formats and
 * Anthropic's, and what all readers share.
 */
#ifndef HASP_MODEL_WIRE_H
#define HASP_MODEL_WIRE_H

#include "model/provider.h"

/* How deep the JSON of an event, and of a call's arguments, may be. */
enum { WIRE_EVENT_DEPTH = 100 };

/* Sets a field of the header, in place of one of the same name. */
void wire_header(struct wire_request *request, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Frees address, body and headers. */
void wire_request_release(struct wire_request *request);

/* An address without slashes at its end. */
struct span wire_base(const char *base);
/* That, then `path`. */
void wire_endpoint(struct buf *url, const char *base, const char *path);

/* Prints `body` (taken) as the request's, without what is not to be sent (parameters.h).
 * CONTEXT_TOO_LARGE: it did not fit. */
bool wire_body(struct wire_request *request, json_t *body, struct err *err);

/* The session's id for a member that takes at most `longest` characters (64 or more): a longer
 * one becomes its hash. A new string. */
json_t *wire_session_key(const char *session_id, size_t longest);

/* What ids of calls a provider takes.  Ids of other providers get into a conversation when the
 * model is changed; one that does not fit becomes one that does, always the same. */
enum wire_id_rule {
	WIRE_ID_PRINTABLE, /* up to 40 characters of ASCII without spaces: chat completions */
	WIRE_ID_WORD,      /* up to 64 of [A-Za-z0-9_-]: Anthropic, Responses */
	WIRE_ID_NINE,      /* exactly nine of [A-Za-z0-9]: Mistral */
};
enum { WIRE_ID_SIZE = 72 };

/* The calls of the model's last message, and the ids under which they were sent.  Calls without an
 * id get one, and their responses are found by name. */
struct wire_calls {
	enum wire_id_rule rule;
	json_t *waiting; /* [{"id", "name", "given"?}]; owned */
	json_t *used;    /* {id: number to try next for another call with it} of all calls; owned */
	size_t count;    /* calls so far, for new ids */
};
/* The id to send (a new string) for a functionCall, or for a functionResponse; responses whose call
 * is missing (content_repair has dropped it) get a new id. */
json_t *wire_calls_add(struct wire_calls *calls, const json_t *call);
json_t *wire_calls_answer(struct wire_calls *calls, const json_t *response);

/* Builds the messages of a conversation (repaired): `user` and `model` add what each message
 * becomes to the format's own `building`, of which `calls` is a part. */
void wire_conversation(const json_t *contents, struct wire_calls *calls, void *building,
                       void (*user)(void *building, const json_t *content),
                       void (*model)(void *building, const json_t *content));

/* The opaque of a part if this provider gave it, else NULL. */
const json_t *wire_own(const json_t *part, const char *provider);

/* The arguments of a functionCall as text: JSON, "{}" without any. */
json_t *wire_arguments(const json_t *call);

/* The response of a tool as the text that the model gets: JSON. */
json_t *wire_response_text(const json_t *response);
/* True when the tool failed: there is a member "error". */
bool wire_response_failed(const json_t *response);

/* inlineData of a part; empty spans if it is none. */
struct wire_media {
	struct span type, data; /* data: base64 */
};
/* Whether the part is media; *ret borrows from it. */
bool wire_media(const json_t *part, struct wire_media *ret);
/* "data:TYPE;base64,DATA", a new string. */
json_t *wire_data_url(const struct wire_media *media);
/* For formats whose only media besides images are PDF. */
bool wire_takes_pdf(const struct model_options *options, struct span type);
/* What is said in place of media that the provider does not take. */
json_t *wire_media_note(const struct wire_media *media);

/* The tools that may be used (`allowed`: NULL, or their names), each as `declare` writes it; a new
 * array. */
json_t *wire_tools(const json_t *tools, const json_t *allowed,
                   json_t *(*declare)(const json_t *tool));
/* Whether the provider loads tools, if it is `known` to. */
bool wire_loads(const struct model_options *options, bool known);
/* Whether a tool has this "loading". */
bool wire_is_loading(const json_t *tool, const char *how);
/* The name of the tool that "loads"; NULL: none. Borrowed. */
const char *wire_loader(const json_t *tools);
/* Whether a tool of this name is declared. `tools` may be NULL. */
bool wire_declares(const json_t *tools, const char *name);
/* Whether a functionCall or functionResponse is of that tool (NULL: no). */
bool wire_is_of(const json_t *call, const char *loader);
/* Adds the tool's description to its declaration, if it has one; returns the declaration. */
json_t *wire_described(json_t *declaration, const json_t *tool);
/* The parameters of a declared tool: its schema, or that of an object without members. */
json_t *wire_parameters(const json_t *tool);
/* Appends the system text, and a description of the answer's format if the provider does not take
 * a schema. */
void wire_system(struct buf *out, const struct model_request *request, bool takes_schema);

/* Copies a JSON Schema for providers that enforce it strictly: only keywords that such providers
 * know, and every object closed. */
json_t *wire_closed_schema(const json_t *schema);
/* Whether the schema fits OpenAI's strict mode as it is. */
bool wire_is_strict(const json_t *schema);

/* The value of one event of a stream, read as leniently as providers' own clients do
 * (json_parse_lenient): an object, or NULL for an event with nothing in it and for "[DONE]".
 * MODEL_ERROR, WIRE_UNREADABLE: it is no object; the sentence says which event, where and what. */
bool wire_event(struct reply_sink *sink, const struct sse_event *event, json_t **ret,
                enum wire_trouble *trouble, struct err *err);
/* INVALID_ARGUMENT: the provider has no tool of this name that runs there. */
bool wire_no_tool(const char *provider, const json_t *name, struct err *err);

/* A count of tokens that an object has: a number of any kind, or the text of one.  What cannot be a
 * count (missing, null, negative, not a number, above 10^12) is 0. */
uint64_t wire_count(const json_t *object, const char *member);
/* Whether the object has this count: the member exists and is not null. */
bool wire_counts(const json_t *object, const char *member);
/* Appends {"id", "contextTokens"?} to a list of models; `context` 0: unknown.  Models whose names
 * say that they do something else than write text (embeddings, images, speech) are left out, as
 * are ids that are empty or longer than 200 bytes. */
void wire_list_add(json_t *list, struct span id, uint64_t context);

#endif
