/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of libhasp-agent share: the public object from inside.
 *
 * libhasp-agent translates between include/hasp_agent.h, whose names and layouts are promised, and
 * agent/host/host.h, which changes with the program.
 *
 *   error.c  codes and messages      open.c      an agent put together, and taken apart
 *   hook.c   functions that decide   message.c   who watches, and answers
 *   prompt.c a prompt, its end       quiet.c     no signal of broken pipes
 */
#ifndef HASP_API_AGENT_INTERNAL_H
#define HASP_API_AGENT_INTERNAL_H

#include <pthread.h>
#include <signal.h>

#include "agent/host/host.h"
#include "base/cancel.h"
#include "hasp_agent.h"

/* A function of the program's; kept for as long as the agent. */
struct registered {
	struct registered *next;
	union {
		hasp_hook *hook;
		hasp_listener *listener;
	};
	void *data;
};

struct hasp_agent {
	struct host *host;
	struct settings *settings;
	struct policy *policy;
	struct provider *provider;
	char *project;      /* canonical */
	char *resume_file;  /* or NULL */
	char **environment; /* of hooks */
	bool interactive, promised;
	void (*notice)(void *data, const char *severity, const char *message);
	void *notice_data;
	struct registered *registered;
	struct cancel cancel;
	pthread_mutex_t lock; /* of what follows, and of the cancel's being reset */
	bool running;         /* a prompt is under way */
};

/* Fills `error` (may be NULL); returns false. */
bool embed_error(const struct err *err, hasp_agent_error *error);
bool embed_fail(hasp_agent_error *error, hasp_agent_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* False, with INVALID_ARGUMENT, while a prompt is under way. */
bool embed_idle(hasp_agent *agent, hasp_agent_error *error);
struct registered *embed_register(hasp_agent *agent, void *data);

/* The JSON text of a message or an input; the caller frees. Never NULL. */
char *embed_json_text(const json_t *value);

/* SIGPIPE is blocked on this thread, and those it starts, between the two; one that came meanwhile is
 * taken back. */
struct quiet {
	sigset_t before;
	bool pending;
};
void quiet_begin(struct quiet *quiet);
void quiet_end(struct quiet *quiet);

#endif
