/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the files that a client is made of: client.c (its life), request.c (what it sends and
 * waits for), receive.c (what arrives). Others use client.h.
 */
#ifndef HASP_MCP_CLIENT_INTERNALS_H
#define HASP_MCP_CLIENT_INTERNALS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cancel.h"
#include "base/err.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"

enum { MCP_ERROR_SHOWN = 400 }; /* bytes of a server's own sentence */

/* A request whose answer has not come. */
struct mcp_ask {
	struct mcp_client *client;
	const struct mcp_wait *wait;
	uint64_t held_ms;       /* mcp_answers_held_ms when it began: that time does not count */
	int64_t id;
	/* With the client's lock. */
	uint64_t until_ms;      /* 0: for ever */
	uint64_t longest_ms;    /* no progress moves that behind this */
	bool sent;              /* a request goes with it */
	bool answered;
	bool doubtful;          /* one of the answers that could not be read may have been its */
	bool reported;          /* progress, at least once */
	bool news;              /* and it has not been handed over */
	double done, total;
	char *said;             /* owned */
	uint64_t reported_ms;       /* when some was handed over */
	int wake_fd;               /* an eventfd of who sleeps until it settles; or -1 */
	json_t *result;         /* owned; NULL: it is an error */
	json_t *refusal;        /* that error; owned */
	struct err error;       /* the same as a sentence */
	char **headers;         /* mcp_client_headers; owned */
	struct mcp_ask *next;
};

struct mcp_client {
	_Atomic unsigned holders;
	const struct mcp_transport_ops *ops;
	void *transport;
	struct mcp_client_options options;
	char *name;
	json_t *capabilities;
	struct mcp_answers *answers;
	struct mcp_watch *watch;
	json_t *hello;           /* of initialize, or server/discover */
	const char *version;     /* in force; NULL: none yet */
	bool modern;             /* it is, or is tried to be, MCP_MODERN */
	pthread_mutex_t lock;    /* of what follows */
	struct mcp_ask *asked;
	json_t *mirrored;        /* {tool: mcp_modern_mirrored}; NULL: none */
	json_t *as_tasks;        /* {tool: true}: those that must be called as tasks; or NULL */
	struct mcp_expected *expected;
	int64_t last_id;
	size_t unasked;          /* messages since the last answer */
	size_t unread;           /* answers that could not be read, to some of the doubtful */
	char unread_why[MCP_ERROR_SHOWN];
	bool forgotten;
	struct cancel over;      /* set when it is lost; why_lost is set before */
	unsigned lists_changed;  /* bits 1 << enum mcp_list */
	struct err why_lost;
};

/* Wakes the thread that sleeps until it settles. With the client's lock. */
void mcp_ask_ring(const struct mcp_ask *ask);
/* For how many milliseconds requests of the server were being answered since this one began. */
uint64_t mcp_ask_held_ms(const struct mcp_ask *ask);
/* What reports of its progress are known by. */
int64_t mcp_ask_progress_token(const struct mcp_ask *ask);
/* When no more requests wait than answers could not be read, these were theirs: they fail. With the
 * client's lock (receive.c). */
void mcp_client_settle_doubtful(struct mcp_client *client);

#endif
