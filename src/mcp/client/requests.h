/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a client: one exchange, several rounds, and what those of 2026-07-28 carry.
 *
 *     mcp_client_request        a result, after as many rounds as it takes (tasks.c)
 *       mcp_client_exchange     one request and its answer (request.c)
 *       mcp_inputs_answer       what an answer asks for (tasks.c)
 *     mcp_modern_...            requests that stand alone (modern.c) */
#ifndef HASP_MCP_CLIENT_REQUESTS_H
#define HASP_MCP_CLIENT_REQUESTS_H

#include "mcp/client/client.h"

/* ---- 2026-07-28: requests that stand alone (modern.c) ---- */

#define MCP_MODERN "2026-07-28"

/* The _meta of each request. Borrows; `log_level` NULL: no logging. A new object. */
json_t *mcp_modern_meta(const json_t *capabilities, const char *log_level);
/* As mcp_client_headers has them. `mirrored`: of the tool that is called, or NULL. The caller frees
 * with worker_texts_free. */
char **mcp_modern_headers(const char *method, const json_t *params, const json_t *mirrored);
/* Which arguments of a tool are repeated in headers (x-mcp-header in its schema): {name of the
 * header: [path of the property]}; a new object, often empty.  False: the annotations are wrong,
 * and the tool must not be used over HTTP. */
bool mcp_modern_mirrored(const json_t *tool, json_t **ret, struct err *err);
/* Whether a result only asks for more (InputRequiredResult).  False with *err: its type is
 * unknown. */
bool mcp_modern_result(const json_t *result, const char *server, bool *ret_asks, struct err *err);
/* Whether it is a task in place of a result (CreateTaskResult). */
bool mcp_modern_task(const json_t *result);

/* ---- requests that take several rounds (tasks.c) ---- */

/* For these, of a client: one request and its answer. *ret_refusal (may be NULL): the error that it
 * was answered with, a new reference. */
bool mcp_client_exchange(struct mcp_client *client, const char *method, const json_t *params,
                         const struct mcp_wait *wait, json_t **ret, json_t **ret_refusal,
                         struct err *err);
/* Waits until the timeout, cancellation or loss of the server; delivers progress. */
void mcp_client_pause(struct mcp_client *client, const struct mcp_wait *wait);

/* URLs that the user must complete (notifications/elicitation/complete). */
struct mcp_expected {
	json_t *ids;        /* {ID: true}: those that are not yet; with the client's lock */
	_Atomic bool over;  /* all of them are */
	int wake_fd;           /* owned, while expected; readable then; -1: no descriptor is left */
	struct mcp_expected *next;
};

/* From now on they are looked for; until the other is called. Borrowed. */
void mcp_client_expect(struct mcp_client *client, struct mcp_expected *expected);
void mcp_client_expect_no_more(struct mcp_client *client, struct mcp_expected *expected);

/* What tools/list answered: leaves out tools whose headers would be wrong, and keeps how others are
 * called. */
void mcp_client_declared(struct mcp_client *client, json_t *tools);
/* Whether a tool must be called as a task (2025-11-25; later the server decides at each call). */
bool mcp_client_requires_task(struct mcp_client *client, const char *tool);

/* A server's words, at most `max` bytes, as a part of one line, without what acts on a terminal.
 * The caller frees. */
char *mcp_said_text(const json_t *text, size_t max);

#endif
