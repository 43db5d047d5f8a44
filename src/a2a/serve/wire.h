/* SPDX-License-Identifier: Apache-2.0 */
/* The wire side: what stands between bytes and operations.  All of it is the server thread's. */
#ifndef HASP_A2A_SERVE_WIRE_H
#define HASP_A2A_SERVE_WIRE_H

#include <jansson.h>
#include <stdbool.h>

#include "a2a/serve/callers.h"
#include "a2a/serve/private.h"

/* ---- fault.c: more of it ------------------------------------------------------------ */

/* Adds a wrong field ("message.parts[0].raw"), and makes it PARAMS. */
void a2a_fault_field(struct a2a_fault *fault, const char *field, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void a2a_fault_release(struct a2a_fault *fault);
unsigned a2a_fault_http(const struct a2a_fault *fault);         /* 404 ... */
json_t *a2a_fault_rpc(const struct a2a_fault *fault);           /* {"code", "message", "data"} */
json_t *a2a_fault_rest(const struct a2a_fault *fault);          /* {"error": {...}} */

/* ---- fields.c: what a message of the protocol may have ------------------------------ */

/* Messages of specification/a2a.proto that are read. */
enum a2a_message {
	A2A_MESSAGE_SEND, A2A_MESSAGE_GET_TASK, A2A_MESSAGE_LIST_TASKS, A2A_MESSAGE_CANCEL_TASK,
	A2A_MESSAGE_SUBSCRIBE, A2A_MESSAGE_PUSH_CONFIG, A2A_MESSAGE_PUSH_GET, A2A_MESSAGE_PUSH_LIST,
	A2A_MESSAGE_PUSH_DELETE, A2A_MESSAGE_EXTENDED_CARD, A2A_MESSAGE_MESSAGE, A2A_MESSAGE_PART,
	A2A_MESSAGE_CONFIGURATION, A2A_MESSAGE_AUTHENTICATION, A2A_MESSAGE_TASK,
	A2A_MESSAGE_STATUS, A2A_MESSAGE_ARTIFACT, A2A_MESSAGE_STATUS_UPDATE,
	A2A_MESSAGE_ARTIFACT_UPDATE, A2A_MESSAGE_STREAM_RESPONSE, A2A_MESSAGE_COUNT,
};
/* Reads ProtoJSON as its specification wants a parser to: names in both cases, null as absent,
 * numbers as strings, enums by name or number, base64 of both alphabets; members that are not known
 * are left out, but for those of Struct and Value.  *ret is canonical, a new reference.  False: the
 * fault PARAMS with a line for each field that is wrong, LIMIT_A2A_VIOLATIONS at most. */
bool a2a_fields_read(enum a2a_message message, const json_t *value, json_t **ret,
                     struct a2a_fault *fault);
/* The message that the params of an operation are. */
enum a2a_message a2a_fields_of(enum a2a_operation operation);

/* ---- version.c: 0.3, and nothing else of it anywhere -------------------------------- */

/* All give a new reference.  What cannot be a 0.3 message stays as it is, for a2a_fields_read to
 * say what is wrong. */
json_t *a2a_version_params(enum a2a_version version, enum a2a_operation operation,
                           const json_t *params);
/* An operation's result as a version has it. */
json_t *a2a_version_result(enum a2a_version version, enum a2a_operation operation,
                           const json_t *result);
/* A StreamResponse: of 0.3 the bare message, task or event with its "kind". */
json_t *a2a_version_event(enum a2a_version version, const json_t *response);
/* A Task, or what push notifications of 0.3 carry. */
json_t *a2a_version_task(enum a2a_version version, const json_t *task);
/* Agent cards; *both* versions' members in one if `version` is A2A_VERSION_COUNT. */
json_t *a2a_version_card(enum a2a_version version, const json_t *card);
/* "1.0", "1.0.1": its major and minor numbers alone count.  NULL or "": 0.3.  False: neither. */
bool a2a_version_read(const char *text, enum a2a_version *ret);

/* ---- card.c ------------------------------------------------------------------------- */

/* The canonical card, a new reference; `origin`: what stands before its paths. `extended`: as a
 * caller who has proved who it is gets it. */
json_t *a2a_card_make(struct a2a_server *server, const char *origin, bool extended);

/* ---- rpc.c, rest.c, stdio.c: the bindings ------------------------------------------- */

/* A JSON-RPC request in the body of an HTTP request, of a caller (a reference, taken over). */
void a2a_rpc_take(struct a2a_server *server, struct a2a_caller *caller,
                  struct http_request *request, struct span body);
/* The same of the other binding; false: there is nothing at this path, and nothing was done. */
bool a2a_rest_take(struct a2a_server *server, struct a2a_caller *caller,
                   struct http_request *request, const char *path, struct span body);

#endif
