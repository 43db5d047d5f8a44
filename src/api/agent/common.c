/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp-agent: what its functions have in common: errors, signals, one prompt at a time, JSON. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "api/agent/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

/* ---- errors ------------------------------------------------------------------ */

/* Codes and messages for programs. */

#ifndef HASP_VERSION
#error "the build defines HASP_VERSION"
#endif

static const char *const names[] = {
	[HASP_AGENT_NONE] = "none",
	[HASP_AGENT_INVALID_ARGUMENT] = "invalid_argument",
	[HASP_AGENT_NOT_FOUND] = "not_found",
	[HASP_AGENT_NOT_PERMITTED] = "not_permitted",
	[HASP_AGENT_BUSY] = "busy",
	[HASP_AGENT_WORKER_FAILED] = "worker_failed",
	[HASP_AGENT_AUTHENTICATION_FAILED] = "authentication_failed",
	[HASP_AGENT_QUOTA_EXCEEDED] = "quota_exceeded",
	[HASP_AGENT_OVERLOADED] = "overloaded",
	[HASP_AGENT_NETWORK_ERROR] = "network_error",
	[HASP_AGENT_CONTEXT_TOO_LARGE] = "context_too_large",
	[HASP_AGENT_MODEL_ERROR] = "model_error",
	[HASP_AGENT_IO_ERROR] = "io_error",
	[HASP_AGENT_CANCELLED] = "cancelled",
	[HASP_AGENT_STOPPED] = "stopped",
	[HASP_AGENT_TURN_LIMIT] = "turn_limit",
	[HASP_AGENT_LOOP] = "loop",
	[HASP_AGENT_INTERNAL] = "internal",
};

/* Others are INTERNAL: they are of tools, whose errors go to the model. */
static const struct {
	enum err_code inside;
	hasp_agent_code code;
} rows[] = {
	{ ERR_INVALID_ARGUMENT, HASP_AGENT_INVALID_ARGUMENT },
	{ ERR_FILE_NOT_FOUND, HASP_AGENT_NOT_FOUND },
	{ ERR_NOT_A_DIRECTORY, HASP_AGENT_NOT_FOUND },
	{ ERR_NOT_A_FILE, HASP_AGENT_NOT_FOUND },
	{ ERR_PERMISSION_DENIED, HASP_AGENT_NOT_PERMITTED },
	{ ERR_DENIED_BY_POLICY, HASP_AGENT_NOT_PERMITTED },
	{ ERR_DENIED_BY_HOOK, HASP_AGENT_NOT_PERMITTED },
	{ ERR_OUTSIDE_WORKSPACE, HASP_AGENT_NOT_PERMITTED },
	{ ERR_BUSY, HASP_AGENT_BUSY },
	{ ERR_WORKER_LOST, HASP_AGENT_WORKER_FAILED },
	{ ERR_DENIED_BY_SANDBOX, HASP_AGENT_WORKER_FAILED },
	{ ERR_AUTHENTICATION_FAILED, HASP_AGENT_AUTHENTICATION_FAILED },
	{ ERR_QUOTA_EXCEEDED, HASP_AGENT_QUOTA_EXCEEDED },
	{ ERR_OVERLOADED, HASP_AGENT_OVERLOADED },
	{ ERR_NETWORK_ERROR, HASP_AGENT_NETWORK_ERROR },
	{ ERR_CONTEXT_TOO_LARGE, HASP_AGENT_CONTEXT_TOO_LARGE },
	{ ERR_MODEL_ERROR, HASP_AGENT_MODEL_ERROR },
	{ ERR_TOO_LARGE, HASP_AGENT_IO_ERROR },
	{ ERR_DISK_FULL, HASP_AGENT_IO_ERROR },
	{ ERR_IO_ERROR, HASP_AGENT_IO_ERROR },
	{ ERR_CANCELLED, HASP_AGENT_CANCELLED },
};

const char *hasp_agent_version(void)
{
	return HASP_VERSION;
}

const char *hasp_agent_code_name(hasp_agent_code code)
{
	return names[(size_t)code < ARRAY_LEN(names) ? code : HASP_AGENT_INTERNAL];
}

static hasp_agent_code agent_code_of(enum err_code inside)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].inside == inside)
			return rows[i].code;
	return HASP_AGENT_INTERNAL;
}

bool api_error(const struct err *err, hasp_agent_error *error)
{
	return api_fail(error, agent_code_of(err->code), "%s", err->message);
}

bool api_fail(hasp_agent_error *error, hasp_agent_code code, const char *format, ...)
{
	va_list args;

	if (!error)
		return false;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return false;
}

/* ---- signals ----------------------------------------------------------------- */

/* A worker or a hook that ends while it is written to is an error of a call, not the end of the
 * program. */

void api_quiet_begin(struct quiet *quiet)
{
	sigset_t set;

	sigpending(&set);
	quiet->pending = sigismember(&set, SIGPIPE) == 1;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &quiet->before);
}

void api_quiet_end(struct quiet *quiet)
{
	const struct timespec at_once = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (!quiet->pending)
		while (sigtimedwait(&set, NULL, &at_once) == SIGPIPE)
			;
	pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}

/* ---- what is said ----------------------------------------------------------- */

void api_forward_notice(void *data, enum severity severity, const char *message)
{
	const struct api_notice *to = data;

	if (to->notice)
		to->notice(to->data, notices_severity_name(severity == SEVERITY_HOOK ?
		                                           SEVERITY_INFO : severity), message);
}

/* ---- JSON -------------------------------------------------------------------- */

bool api_overrides(const char *settings, json_t **ret, struct err *err)
{
	struct err why = ERR_INIT;

	if (settings && (!json_parse(span_str(settings), ret, &why) || !json_is_object(*ret)))
		return err_set(err, ERR_INVALID_ARGUMENT, "The settings are not a JSON object%s%s",
		               why.code ? ": " : ".", why.message);
	return true;
}

bool api_arguments(const char *text, json_t **ret, hasp_agent_error *error)
{
	struct err err = ERR_INIT;

	*ret = NULL;
	if (!json_parse(span_str(text ? text : "{}"), ret, &err))
		return api_fail(error, HASP_AGENT_INVALID_ARGUMENT,
		                  "The arguments are no JSON: %s", err.message);
	if (json_is_object(*ret))
		return true;
	json_decref(*ret);
	return api_fail(error, HASP_AGENT_INVALID_ARGUMENT,
	                  "The arguments must be a JSON object.");
}

char *api_json_text(const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 20);

	/* Longer or deeper than what the agent makes: its end is as good as nothing. */
	if (!json_print(&text, value, 0)) {
		buf_clear(&text);
		buf_str(&text, "{}");
	}
	return mem_dup(text.data, text.len);
}

/* ---- one prompt at a time ---------------------------------------------------- */

bool api_is_ours(pid_t opened_by, hasp_agent_error *error)
{
	return opened_by == getpid() ||
	       api_fail(error, HASP_AGENT_INVALID_ARGUMENT,
	                  "It was opened before this process was forked, and is its parent's: "
	                  "open one here.");
}

bool api_idle(const hasp_agent *agent, hasp_agent_error *error)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)&agent->lock;
	bool running;

	if (!api_is_ours(agent->pid, error))
		return false;
	pthread_mutex_lock(lock);
	running = agent->running;
	pthread_mutex_unlock(lock);
	return !running ||
	       api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "A prompt is under way.");
}

bool api_claim(hasp_agent *agent, hasp_agent_error *error)
{
	bool idle;

	if (!api_is_ours(agent->pid, error))
		return false;
	pthread_mutex_lock(&agent->lock);
	idle = !agent->running;
	agent->running = true;
	pthread_mutex_unlock(&agent->lock);
	return idle || api_fail(error, HASP_AGENT_INVALID_ARGUMENT, "A prompt is under way.");
}

void api_release(hasp_agent *agent)
{
	pthread_mutex_lock(&agent->lock);
	agent->running = false;
	pthread_mutex_unlock(&agent->lock);
}

/* Whether the event reports the end of what this program ordered: not of a page's prompt. */
static bool ends_own_order(const struct front_event *event)
{
	return event->ends && (!event->by || event->is_own);
}

struct front_event *api_await(hasp_agent *agent)
{
	struct front_event *event, *next, *end = NULL;

	while (!end) {
		pthread_mutex_lock(&agent->lock);
		while (!agent->awake)
			pthread_cond_wait(&agent->woken, &agent->lock);
		agent->awake = false;
		pthread_mutex_unlock(&agent->lock);
		for (event = front_take(agent->front); event; event = next) {
			next = event->next;
			agent->last = event->last ? event->last : agent->last;
			if (!end && ends_own_order(event))
				end = event;
			else
				front_event_free(event);
		}
	}
	return end;
}
