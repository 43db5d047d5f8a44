/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to clients.  Private to this folder.
 *
 * To a client with a connection a question is a request of its own (ask.c); it is answered by
 * id, and its asker waits on its own thread.  To a stateless one it is the result of the
 * request, which the client repeats with the answers (questions.c).
 */
#ifndef HASP_MCP_PROTOCOL_ASK_H
#define HASP_MCP_PROTOCOL_ASK_H

#include "mcp/protocol/call.h"

/* Whether a client of these capabilities (NULL: none) can be asked that, in this version. The
 * params tell forms from URLs, and sampling with tools; NULL: plainly. */
bool ask_offered(const struct version *version, const json_t *client, const char *method,
                 const json_t *params);

/* On the loop's thread: a client's result or error arrived. The message may be taken over. */
void ask_answered(struct mcp_peer *peer, struct rpc_message *message);
/* Nobody will answer this one; none of a peer's. */
void ask_give_up(struct ask *ask);
void ask_give_up_all(struct mcp_peer *peer);

/* Reads inputResponses and requestState of a stateless request. */
bool questions_open(struct mcp_call *call, struct refusal *refusal);
void questions_release(struct questions *questions);
/* The answer known for `key`, or notes that it is asked. */
enum mcp_ask questions_ask(struct mcp_call *call, const char *key, const char *method,
                           json_t *params, json_t **ret);
/* {"resultType": "input_required", ...}; new. NULL when the state is too long to be taken
 * back (LIMIT_REQUEST_STATE_BYTES). */
json_t *questions_result(const struct mcp_call *call);

#endif
