/* SPDX-License-Identifier: Apache-2.0 */
/* Agents elsewhere, over the Agent2Agent protocol (A2A 1.0 and 0.3, JSON-RPC over HTTP; 1.0 also
 * HTTP+JSON).
 *
 *     if (!a2a_open(&options, &agent, &err)) ...       // does not connect yet
 *     a2a_ask(agent, &request, &outcome, &err);        // on this thread, until it has answered
 *     use(outcome.end, outcome.text);
 *     a2a_outcome_release(&outcome);
 *     a2a_free(agent);
 *
 * The card says where tasks go, in which version, and whether answers are streamed.  It is fetched
 * by the first task and kept.  A task that stops to ask goes on with the answer; one that is over
 * its time, or that no one waits for any more, is cancelled there (tasks/cancel).  The context, and
 * a task that is not over, go on with the next a2a_ask of the same agent.
 *
 * Everything that comes from there is a stranger's.  Addresses are https, or http to loopback; no
 * redirect is followed.  A card may send tasks to another host than its own only if it is public,
 * and nothing that logs in goes there.  Its text is bounded, and marked as untrusted
 * (tool/builtin/web.h).
 *
 * Sources: https://a2a-protocol.org, versions 1.0.1 (specification/a2a.proto) and 0.3.0. Not here:
 * the files that name agents (catalog/agents.h); who is asked (agent/host/remote.c); the binding
 * gRPC, and HTTP+JSON of 0.3.
 */
#ifndef HASP_A2A_A2A_H
#define HASP_A2A_A2A_H

#include <jansson.h>
#include <stdbool.h>

#include "base/cancel.h"
#include "base/err.h"
#include "base/notices.h"
#include "base/span.h"
#include "mcp/auth/auth.h"

struct a2a_agent;

struct a2a_options {
	const char *name;     /* copied, as all texts */
	const char *card_url; /* of the card; one without a path: its /.well-known/agent-card.json.
	                       * NULL: `card` is the card */
	const char *card;     /* JSON */
	/* {"type": "apiKey", "key", "name"?} | {"type": "http", "scheme", "token" | "username",
	 * "password" | "value"} | {"type": "google-credentials", "scopes"?} | {"type": "oauth",
	 * ...}, as files have it, but that values are what variables stand for. Referenced; NULL:
	 * nothing logs in. */
	const json_t *auth;
	/* What `auth` is by now, a new reference, where the agent does not take what it is logged
	 * in with; NULL: *err. From any thread. May be NULL. */
	json_t *(*renew)(void *data, struct err *err);
	void *renew_data;     /* borrowed until a2a_free */
	const char *home;     /* as mcp_auth_options has these */
	const char *folder;
	bool (*login)(void *data, const struct mcp_login *login, char **ret_pasted,
	              struct err *err);
	struct notices notices;
	void *data;
};

/* INVALID_ARGUMENT: an address, or `auth`, is not as above; the sentence says what is wrong. */
bool a2a_open(const struct a2a_options *options, struct a2a_agent **ret, struct err *err);
void a2a_free(struct a2a_agent *agent); /* NULL is fine */

/* A task. The callbacks are called on the thread of a2a_ask. */
struct a2a_request {
	const char *task;            /* UTF-8 */
	unsigned timeout_ms;         /* of all of it, but for the time that answers take; above 0 */
	const struct cancel *cancel;
	/* The agent has said something, or started an artifact: its beginning, a stranger's text of
	 * any characters. May be NULL. */
	void (*progress)(void *data, struct span text);
	/* It asks before it goes on.  `login`: for a login that it requires at another place.  The
	 * answer, for the caller to free; NULL: *err, which ends it. */
	char *(*question)(void *data, struct span text, bool login, struct err *err);
	void *data;
};

enum a2a_end {
	A2A_ANSWERED,
	A2A_ASKED,      /* its question has no answer */
	A2A_TIME_LIMIT,
	A2A_CANCELLED,  /* by `cancel` */
	A2A_FAILED,     /* it says that it failed, or there is no telling */
};

struct a2a_outcome {
	enum a2a_end end;
	char *text;     /* owned; what it has said, its artifacts behind that, at most
	                 * LIMIT_AGENT_ANSWER bytes of UTF-8; "" without */
	bool cut;       /* that is not all */
};

/* Safe from several threads: each has its own task.  *err is set unless it has answered:
 * NETWORK_ERROR, AUTHENTICATION_FAILED, LIMIT_REACHED, CANCELLED; TOOL_FAILED: what the agent, or
 * its card, says; what `question` sets. */
void a2a_ask(struct a2a_agent *agent, const struct a2a_request *request,
             struct a2a_outcome *ret, struct err *err);
/* Frees the text. */
void a2a_outcome_release(struct a2a_outcome *outcome);

#endif
