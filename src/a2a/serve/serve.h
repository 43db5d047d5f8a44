/* SPDX-License-Identifier: Apache-2.0 */
/* hasp as an agent for other agents: an Agent2Agent (A2A) server, 1.0 and 0.3, over JSON-RPC and
 * HTTP+JSON.
 *
 *     struct a2a_serve_options options = { .request = &request, .folders = folders, ... };
 *     if (!a2a_serve(&options, &signal, &err)) ...
 *
 * Each context is a recorded session (front/session.h); a task is one prompt in it and
 * what comes of it.  Tasks are lines of the session's record: a server that starts again has them,
 * and `hasp --resume` goes on with the context.
 *
 * A *caller* is not the user: what its tasks may do is judged with separate rules (callers.h).
 *
 * Sources: https://a2a-protocol.org (1.0: specification/a2a.proto; 0.3.0); Gemini CLI's
 * development-tool extension.
 */
#ifndef HASP_A2A_SERVE_SERVE_H
#define HASP_A2A_SERVE_SERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "front/front.h"
#include "front/session.h"

struct a2a_serve_options {
	/* What the command line asks for, of each session; folder, session and notices are the
	 * server's.  Borrowed, as everything here. */
	const struct session_request *request;
	const char *const *folders;  /* workspaces that tasks may name; the first is the default;
	                              * absolute, canonical; NULL-terminated */
	const char *address;         /* NULL: 127.0.0.1; others need TLS */
	uint16_t port;               /* 0: any free one */
	const char *certificate, *key, *client_authority; /* PEM texts; NULL: no TLS; no mTLS */
	const char *const *hosts;    /* names that requests may have as their Host, besides */
	const char *const *proxies;  /* addresses whose Forwarded and X-Forwarded-* headers count */
	const char *base_path;       /* "/agents/hasp": what all paths begin with; or NULL */
	const char *public_url;      /* what the card says, where a proxy stands before; or NULL */
	const char *token;           /* of the caller "token"; NULL: requests need none */
	unsigned tasks_at_once;      /* that run; 0: LIMIT_A2A_RUNNING */
	/* One caller's messages over standard input and output in place of HTTP; `caller`: who
	 * that is, by the name of the setting. */
	bool stdio;
	const char *caller;
	/* With stdio: the agent of one task of a server elsewhere (runner.h), which keeps the
	 * task; its context is this recorded session.  The end of the input interrupts it.  NULL:
	 * not. */
	const char *context;
	/* Tasks are carried out by agents that this command starts (runner.h), with these flags
	 * of theirs; NULL-terminated.  NULL: by this process. */
	const char *const *runner, *const *runner_flags;
	/* As acp_options has these: for `--web`. */
	void (*attached)(void *data, struct front_runner *runner, struct front_session *session);
	void (*detached)(void *data, struct front_runner *runner);
	/* The address is known: prints the one line of standard error. */
	void (*ready)(void *data, const char *card_url);
	/* What the user should know while it serves, a sentence: at most LIMIT_WARNINGS in a
	 * minute, since callers cause it.  NULL: nothing is said. */
	void (*warn)(void *data, const char *sentence);
	void *data;
};

/* Serves until a signal arrives, which *ret_signal names: SIGTERM and SIGINT let tasks that run end
 * for up to LIMIT_A2A_DRAIN_MS, then interrupt them; no new ones begin.  Errors: nothing was
 * served: INVALID_ARGUMENT (options, settings of callers), PERMISSION_DENIED or IO_ERROR (port). */
bool a2a_serve(const struct a2a_serve_options *options, int *ret_signal, struct err *err);

#endif
