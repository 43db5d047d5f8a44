/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share: addresses, cards, replies, logins, requests. */
#ifndef HASP_A2A_PRIVATE_H
#define HASP_A2A_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "a2a/a2a.h"
#include "base/buf.h"
#include "base/cancel.h"
#include "net/http/client.h"
#include "net/http/sse.h"

/* ---- addresses and cards (card.c) ---------------------------------------------- */

enum { A2A_URL_BYTES = 4096, A2A_CARD_BYTES = 1 << 20, A2A_DEPTH_MAX = 64 };

/* Whether the address may be asked: https, or http to loopback; without a password, visible ASCII.
 * `what` begins the sentence of INVALID_ARGUMENT. */
bool a2a_url_check(struct span url, const char *what, struct err *err);
/* The host of such an address, without a port. */
struct span a2a_url_host(const char *url);
/* The port of such an address, as a number or that of its scheme. */
unsigned long a2a_url_port(const char *url);
/* Whether the host is this machine. */
bool a2a_host_is_loopback(struct span host);

struct a2a_card {
	char *url;       /* owned; where tasks go */
	char *tenant;    /* owned; to be sent with each request; or NULL */
	bool is_v1;      /* 1.0; else 0.3 */
	bool is_rest;    /* HTTP+JSON, of 1.0; else JSON-RPC */
	bool streams;
	bool elsewhere;  /* another host than the card's own */
	bool other_origin; /* another host, port or scheme: nothing that logs in goes there */
};

/* Reads a card that was fetched from `from`; NULL: the user's own file has it.  TOOL_FAILED: it is
 * none, or there is no address in it that hasp can use. */
bool a2a_card_read(struct span text, const char *from, struct a2a_card *ret, struct err *err);
void a2a_card_release(struct a2a_card *card); /* leaves it empty */

/* ---- what is sent (client.c) --------------------------------------------------- */

enum a2a_method {
	A2A_SEND,
	A2A_STREAM,
	A2A_GET,
	A2A_CANCEL,
	A2A_SUBSCRIBE, /* a stream of a task that there is */
};

struct a2a_call {
	const char *http; /* the method of HTTP */
	char *url;        /* owned */
	struct buf body;  /* JSON; empty: none */
};

/* ---- what an agent says (reply.c) ---------------------------------------------- */

enum { A2A_ARTIFACTS_MAX = 64, A2A_ID_BYTES = 512, A2A_NAME_BYTES = 200 };

enum a2a_state {
	A2A_STATE_NONE,      /* no task yet, or a state that is not known */
	A2A_STATE_SUBMITTED,
	A2A_STATE_WORKING,
	A2A_STATE_INPUT,     /* it asks: from here on the task waits */
	A2A_STATE_AUTH,
	A2A_STATE_COMPLETED, /* from here on the task is over */
	A2A_STATE_FAILED,
	A2A_STATE_CANCELED,
	A2A_STATE_REJECTED,
};

struct a2a_artifact {
	char *id, *name; /* owned; name: NULL, none */
	struct buf text;
};

/* All that came for one a2a_ask. */
struct a2a_reply {
	enum a2a_state state;
	bool has_message;    /* it has answered without a task */
	bool is_final;       /* 0.3: nothing follows */
	char *task, *context; /* owned; NULL: not said */
	struct buf working;  /* what was said on the way */
	struct buf last;     /* with the last state, or as the answer */
	struct buf latest;   /* what came last, but for its end where it is long; for progress */
	struct a2a_artifact artifacts[A2A_ARTIFACTS_MAX];
	size_t artifact_count;
	bool cut;
};

/* Nothing has come. */
void a2a_reply_init(struct a2a_reply *reply);
void a2a_reply_release(struct a2a_reply *reply); /* frees what it has */
/* The agent gets an answer: what it said last was on the way. */
void a2a_reply_continue(struct a2a_reply *reply);
/* Takes an event of a stream, or the result of a request: a task, a message, an update of either
 * version.  *ret_news: it has said something new, which is reply->latest.  TOOL_FAILED: it is none
 * of these, or in a state that neither version has; nothing more can be waited for then. */
bool a2a_reply_take(struct a2a_reply *reply, const json_t *event, bool *ret_news, struct err *err);
/* Whether there is nothing more to wait for. */
bool a2a_reply_is_settled(const struct a2a_reply *reply);
/* What it comes to, at most LIMIT_AGENT_ANSWER bytes. The caller frees. */
char *a2a_reply_text(struct a2a_reply *reply);

/* ---- what logs in (auth.c) ------------------------------------------------------ */

enum { A2A_FIELD_BYTES = 16 << 10 };

struct a2a_auth {
	char *field;             /* owned; a field that is always the same: "X-API-Key: ..." */
	struct mcp_auth *tokens; /* owned; Google's, or OAuth's */
	bool any;                /* one of these */
};

/* INVALID_ARGUMENT: options->auth is not as a2a.h has it. */
bool a2a_auth_open(const struct a2a_options *options, struct a2a_auth *ret, struct err *err);
void a2a_auth_release(struct a2a_auth *auth);
/* The field to send; NULL: none. The caller frees. */
char *a2a_auth_field(const struct a2a_auth *auth, const struct cancel *cancel);

/* ---- one request (exchange.c) ------------------------------------------------- */

/*     exchange_open(&exchange, ask);
 *     exchange.url = ...; exchange.sent = ...;
 *     ok = exchange_send(&exchange, &err);      // ask->reply has what came
 *     exchange_close(&exchange);
 */

enum {
	SAID_BYTES = 300,     /* of an agent's own sentence */
	UNSUPPORTED = -32004, /* A2A 1.0, section 9.5; 0.3, section 8.2 */
};

struct a2a_agent {
	char *name, *card_url, *card_text;
	json_t *(*renew)(void *data, struct err *err); /* as a2a_options have it */
	void *renew_data;
	pthread_mutex_t lock;      /* of what follows */
	struct a2a_auth auth;      /* its field alone changes */
	struct a2a_card card;      /* does not change once `has_card` is set */
	bool has_card;
	char *context, *task;      /* what goes on with the next task; or NULL */
};

/* One a2a_ask. */
struct a2a_ask {
	struct a2a_agent *agent;
	const struct a2a_request *request;
	struct a2a_reply reply;
	struct http_client *client;
	uint64_t until_ms;
	bool timed_out;
	int rpc_code;              /* of the last answer that is an error; 0: none */
};

/* One request, and what comes of it. */
struct a2a_exchange {
	struct a2a_ask *ask;
	const char *method, *url;  /* of HTTP */
	struct span sent;
	const char *accept;
	struct sse_reader events;
	struct buf body;           /* of anything but a stream of events */
	char *challenge, *field;   /* owned; of a login; or NULL */
	int status;
	bool streams, is_bare;     /* is_bare: a card, whatever the reply has */
	bool is_done;              /* nothing more is waited for */
	uint64_t settled_ms;       /* when the reply settled; 0: it has not */
	unsigned total_ms;         /* 0: ask->until_ms */
	unsigned idle_ms;          /* without a byte; 0: as long as it takes */
	const struct cancel *cancel;
	struct err why;            /* what the agent answered instead of a result */
};

/* Ready to be sent by POST, until exchange_close. Borrows `ask`. */
void exchange_open(struct a2a_exchange *exchange, struct a2a_ask *ask);
void exchange_close(struct a2a_exchange *exchange);
/* Sends it, after a login if need be.  True: the answer, or all of it that is waited for, came.
 * TOOL_FAILED, NETWORK_ERROR, AUTHENTICATION_FAILED, CANCELLED. */
bool exchange_send(struct a2a_exchange *exchange, struct err *err);
/* How many milliseconds after `now` the time `at` is; 0: it has passed. */
unsigned exchange_ms_left(uint64_t at, uint64_t now);

#endif
