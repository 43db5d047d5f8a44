/* SPDX-License-Identifier: Apache-2.0 */
/* The server's requests while they are being answered, each on its own thread, and how long the
 * timeouts of the client's requests are suspended meanwhile (answers.c). */
#ifndef HASP_MCP_CLIENT_ANSWERS_H
#define HASP_MCP_CLIENT_ANSWERS_H

#include "mcp/client/client.h"

/* The requests of one server that are being answered, and their threads. */
struct mcp_answers;

/* `send` gets each answer, a message, from any thread. The options are copied, but for what they
 * say is kept. */
struct mcp_answers *mcp_answers_new(const struct mcp_client_options *options,
                                    void (*send)(void *data, struct span message), void *data);
/* Cancels all, and answers none from now on. */
void mcp_answers_stop(struct mcp_answers *answers);
/* Of one that was stopped: until options.answer has returned everywhere. */
void mcp_answers_await(struct mcp_answers *answers);
/* Of one that was stopped and awaited. */
void mcp_answers_free(struct mcp_answers *answers);
/* A request arrived. Borrows all. */
void mcp_answers_take(struct mcp_answers *answers, const json_t *id, const char *method,
                      const json_t *params);
/* The server withdrew a request: it is cancelled, and not answered. */
void mcp_answers_withdraw(struct mcp_answers *answers, const json_t *id);
/* mcp_client_answer. */
bool mcp_answers_within(struct mcp_answers *answers, const char *method, const json_t *params,
                        const struct mcp_wait *wait, const struct mcp_expected *expected,
                        json_t **ret, struct err *err);
/* Around a call of a tool: only while there is one the server may have a model answer
 * (LIMIT_MCP_SAMPLINGS_CALL of them), and what is being answered when the last one ends is
 * cancelled and waited for. */
void mcp_answers_begin_call(struct mcp_answers *answers);
void mcp_answers_end_call(struct mcp_answers *answers);
/* The same for a client. */
void mcp_client_begin_call(struct mcp_client *client);
void mcp_client_end_call(struct mcp_client *client);
/* For how long altogether some request was being answered. */
uint64_t mcp_answers_held_ms(struct mcp_answers *answers);
/* mcp_client_stop_clock, mcp_client_restart_clock. */
void mcp_answers_stop_clock(struct mcp_answers *answers);
void mcp_answers_restart_clock(struct mcp_answers *answers);

#endif
