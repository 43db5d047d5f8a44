/* SPDX-License-Identifier: Apache-2.0 */
/* Private to libhasp-agent: what its files share.
 *
 *   common.c     errors, signals, one prompt at a time
 *   agent.c      an agent: opened, prompted, watched, decided on
 *   own_tools.c  tools of the program's, and calls that it makes of any
 *   tools.c      tools without a model (hasp_tools)
 *   reader.c     members of JSON text
 */
#ifndef HASP_API_AGENT_PRIVATE_H
#define HASP_API_AGENT_PRIVATE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/host/host.h"
#include "base/cancel.h"
#include "base/notices.h"
#include "front/front.h"
#include "hasp_agent.h"

struct registered;
struct web;

/* The program's function for notices; `notice` NULL: there is none. */
struct api_notice {
	void (*notice)(void *data, const char *severity, const char *message);
	void *data;
};

struct hasp_agent {
	struct front_session *session;
	struct front_runner *runner;
	struct front *front;
	struct host *host;  /* the session's */
	pid_t pid;          /* of the process that opened it */
	bool interactive;
	bool answers;       /* the front promises to */
	uint64_t last;      /* the number of the last event that was taken */
	const char *const *provider; /* hasp_agent_options has both; while it is opened */
	const char *provider_folder;
	struct api_notice notice;
	struct registered *registered;
	struct web *web;    /* hasp_agent_share; NULL: it was not called */
	struct cancel cancel;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t woken;
	bool awake;           /* events wait to be taken */
	bool running;         /* a prompt is under way */
};

/* ---- agent.c ---- */

/* Fill `error` (may be NULL); return false. */
bool api_error(const struct err *err, hasp_agent_error *error);
bool api_fail(hasp_agent_error *error, hasp_agent_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* False, with INVALID_ARGUMENT: the process is a child of the one that opened what it has. */
bool api_is_ours(pid_t opened_by, hasp_agent_error *error);
/* False, with INVALID_ARGUMENT, while a prompt is under way, and in a child. */
bool api_idle(const hasp_agent *agent, hasp_agent_error *error);
/* The same, and from now on one is under way, until api_release. */
bool api_claim(hasp_agent *agent, hasp_agent_error *error);
void api_release(hasp_agent *agent);
/* As hasp_agent_add_tool, also before the agent is handed out. */
bool api_add_tool(hasp_agent *agent, const hasp_agent_tool *tool, struct err *err);
/* Waits for the end of the order that the agent's front has given. Returns the event that reports
 * it; the caller frees. */
struct front_event *api_await(hasp_agent *agent);
/* The program's settings, an object; NULL: none. INVALID_ARGUMENT. */
bool api_overrides(const char *settings, json_t **ret, struct err *err);
/* The JSON text of a message or an input; the caller frees. Never NULL. */
char *api_json_text(const json_t *value);
/* Reads the arguments of a call: NULL: {}. *ret: an object, a new reference. INVALID_ARGUMENT. */
bool api_arguments(const char *text, json_t **ret, hasp_agent_error *error);

struct quiet {
	sigset_t before;
	bool pending;
};
/* From here on SIGPIPE is blocked on this thread, and those it starts. */
void api_quiet_begin(struct quiet *quiet);
/* It is as it was; one that arrived meanwhile is discarded. */
void api_quiet_end(struct quiet *quiet);

/* As notices.say; `data`: struct api_notice. */
void api_forward_notice(void *data, enum severity severity, const char *message);

#endif
