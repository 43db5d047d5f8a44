/* SPDX-License-Identifier: Apache-2.0 */
/* The wire side: what stands between bytes and operations.  All of it is the server thread's. */
#ifndef HASP_A2A_SERVE_WIRE_H
#define HASP_A2A_SERVE_WIRE_H

#include <jansson.h>
#include <stdbool.h>

#include "a2a/serve/callers.h"
#include "a2a/serve/private.h"

/* ---- fault.c: more of it --------------------------------------------------------- */

/* Adds a wrong field ("message.parts[0].raw"), and makes it PARAMS. */
void a2a_fault_field(struct a2a_fault *fault, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void a2a_fault_release(struct a2a_fault *fault);
unsigned a2a_fault_http(const struct a2a_fault *fault);         /* 404 ... */
json_t *a2a_fault_rpc(const struct a2a_fault *fault);           /* {"code", "message", "data"} */
json_t *a2a_fault_rest(const struct a2a_fault *fault);          /* {"error": {...}} */

/* ---- fields.c: what a message of the protocol may have --------------------------- */

/* Messages of specification/a2a.proto that are read. */
enum a2a_message {
	A2A_MESSAGE_SEND, A2A_MESSAGE_GET_TASK, A2A_MESSAGE_LIST_TASKS, A2A_MESSAGE_CANCEL_TASK,
	A2A_MESSAGE_SUBSCRIBE, A2A_MESSAGE_PUSH_CONFIG, A2A_MESSAGE_PUSH_GET, A2A_MESSAGE_PUSH_LIST,
	A2A_MESSAGE_PUSH_DELETE, A2A_MESSAGE_EXTENDED_CARD, A2A_MESSAGE_MESSAGE, A2A_MESSAGE_PART,
	A2A_MESSAGE_CONFIGURATION, A2A_MESSAGE_AUTHENTICATION, A2A_MESSAGE_TASK,
	A2A_MESSAGE_STATUS, A2A_MESSAGE_ARTIFACT, A2A_MESSAGE_STATUS_UPDATE,
	A2A_MESSAGE_ARTIFACT_UPDATE, A2A_MESSAGE_STREAM_RESPONSE, A2A_MESSAGE_COUNT,
};
/* Reads ProtoJSON as its specification requires of a parser: names in both cases, null as absent,
 * numbers as strings, enums by name or number, base64 of both alphabets; members that are not known
 * are left out, but for those of Struct and Value.  *ret is canonical, a new reference.  False: the
 * fault PARAMS with a line for each field that is wrong, LIMIT_A2A_VIOLATIONS at most. */
bool a2a_fields_read(enum a2a_message message, const json_t *value, json_t **ret,
                     struct a2a_fault *fault);
/* The message that the params of an operation are. */
enum a2a_message a2a_fields_of(enum a2a_operation operation);

/* ---- version.c: 0.3, and nothing else of it anywhere ----------------------------- */

/* All give a new reference.  What cannot be a 0.3 message stays as it is, for a2a_fields_read to
 * say what is wrong. */
json_t *a2a_version_params(enum a2a_version version, enum a2a_operation operation,
                           const json_t *params);
/* An operation's result as a version has it. */
json_t *a2a_version_result(enum a2a_version version, enum a2a_operation operation,
                           const json_t *result);
/* An operation's result, or an event of its stream, as 0.3's Protocol Buffers file has it. */
json_t *a2a_version_proto(enum a2a_operation operation, const json_t *result);
/* A StreamResponse: of 0.3 the bare message, task or event with its "kind". */
json_t *a2a_version_event(enum a2a_version version, const json_t *response);
/* A Task, or what push notifications of 0.3 carry. */
json_t *a2a_version_task(enum a2a_version version, const json_t *task);
/* Agent cards; *both* versions' members in one if `version` is A2A_VERSION_COUNT. */
json_t *a2a_version_card(enum a2a_version version, const json_t *card);
/* "1.0", "1.0.1": its major and minor numbers alone count.  NULL or "": 0.3.  False: neither. */
bool a2a_version_read(const char *text, enum a2a_version *ret);

/* ---- card.c ---------------------------------------------------------------------- */

/* The canonical card, a new reference; `origin`: what stands before its paths. */
json_t *a2a_card_make(struct a2a_server *server, const char *origin);
/* Adds what only callers get that have proved who they are: which workspaces they may name. */
void a2a_card_extend(const struct a2a_server *server, json_t *card);

/* ---- stream.c: one order, and how its answer goes out ---------------------------- */

struct a2a_served_request;

/* How a binding words an answer; all give new references. */
struct a2a_form {
	/* Takes `result`, which is in its version's form. */
	json_t *(*result)(const struct a2a_served_request *exchange, json_t *result);
	json_t *(*fault)(const struct a2a_served_request *exchange, const struct a2a_fault *fault);
	/* The media type of an answer, and whether faults change the HTTP status. */
	const char *(*type)(const struct a2a_served_request *exchange);
	bool has_status;
	bool is_proto; /* 0.3 is that of its Protocol Buffers file */
};

/* Where it goes. */
struct a2a_sink {
	/* The whole answer; takes the text. */
	void (*answer)(struct a2a_served_request *exchange, unsigned status, struct buf *text);
	/* A piece of a stream, whose first one begins it; `number`: of the event, 0 without. */
	void (*piece)(struct a2a_served_request *exchange, struct span text, uint64_t number);
	void (*end)(struct a2a_served_request *exchange);
	bool (*is_slow)(const struct a2a_served_request *exchange);
};

/* What an HTTP request's data points to, as the first member of what it is. */
struct a2a_held {
	void (*closed)(struct a2a_held *held);
	void (*drained)(struct a2a_held *held); /* may be NULL */
};

struct a2a_served_request {
	struct a2a_held held;          /* the first member */
	struct a2a_order order;
	const struct a2a_form *form;
	const struct a2a_sink *sink;
	json_t *id;                    /* of JSON-RPC; owned; or NULL */
	void *sink_data;               /* of a sink that is no HTTP */
	bool is_streaming;
	bool is_notification;          /* of JSON-RPC: it has no id */
};

/* One for an HTTP request (the caller's reference is taken over), or for another sink
 * (request NULL). */
struct a2a_served_request *a2a_exchange_new(struct a2a_server *server, struct a2a_caller *caller,
                                      struct http_request *request,
                                      const struct a2a_form *form);
/* Reads the params (borrowed) of the operation, and begins it: ends the exchange at some time. */
void a2a_exchange_begin(struct a2a_served_request *exchange, enum a2a_operation operation,
                        const json_t *params);
/* Ends it with a fault, which is released. */
void a2a_exchange_refuse(struct a2a_served_request *exchange, struct a2a_fault *fault);

/* ---- rpc.c, rest.c: the bindings ------------------------------------------------- */

extern const struct a2a_form a2a_rpc_form, a2a_rest_form;

/* A JSON-RPC request, for an exchange whose order has the version that its headers say;
 * `version_given`: they did. */
void a2a_rpc_take(struct a2a_served_request *exchange, struct span body, bool version_given);

struct a2a_rest_route;
/* The route of a path below the base path; NULL: there is none, and *ret_allowed has the methods
 * that the path has (NULL: it is no path of this binding). */
const struct a2a_rest_route *a2a_rest_find(const char *method, const char *path,
                                           const char **ret_allowed);
void a2a_rest_take(struct a2a_served_request *exchange, const struct a2a_rest_route *route,
                   const char *path, struct span body);

/* ---- fields.c: queries ----------------------------------------------------------- */

/* The members that a query has: {NAME: TEXT}; `value`: of a name, or NULL. A new reference. */
json_t *a2a_fields_query(enum a2a_message message,
                         const char *(*value)(void *data, const char *name), void *data);

/* ---- route.c --------------------------------------------------------------------- */

struct a2a_route_table;
/* Fills routes, explain and data of the options; freed after the server. */
struct a2a_route_table *a2a_route_open(struct a2a_server *server, struct http_options *http);
void a2a_route_free(struct a2a_route_table *table);

/* ---- stdio.c --------------------------------------------------------------------- */

/* Serves one caller on standard input and output; `ended`: its input has, once. */
struct a2a_stdio;
bool a2a_stdio_open(struct a2a_server *server, void (*ended)(struct a2a_server *server),
                    struct a2a_stdio **ret, struct err *err);
void a2a_stdio_free(struct a2a_stdio *stdio);

/* ---- serve.c --------------------------------------------------------------------- */

/* a2a_server.wire: what only these files look at. */
struct a2a_signer; /* sign.h */
struct a2a_wire {
	struct http_server *http;       /* NULL: standard input and output */
	struct a2a_route_table *routes;
	struct a2a_stdio *stdio;
	char *origin;                   /* "http://127.0.0.1:8080" */
	const char **hosts;             /* owned array: names that a Host may have */
	char *public_host, *name;       /* owned: of the public URL; the address as a Host */
	struct settings *settings;      /* the user's own; NULL: there are none */
	struct a2a_signer *signer;      /* of cards; NULL: they are not signed */
	struct loop_timer *meter;       /* writes metrics; NULL: there are none */
	uint64_t minute;                /* clock_monotonic_ms / 60000 of the last warning */
	size_t warnings;                /* in that minute */
	int signal;                     /* that ends it; 0: none yet */
};

/* The card that callers get; a new reference. */
json_t *a2a_route_extended_card(const struct a2a_order *order);
#endif
