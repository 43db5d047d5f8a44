/* SPDX-License-Identifier: Apache-2.0 */
/* The provider that answers through a worker, whatever starts it.
 *
 * It keeps one client (client.h), makes a new one when that has failed, and puts its watches
 * there again.  local.c and command.c say how a worker is started.
 */
#ifndef HASP_WORKER_FRONT_REMOTE_H
#define HASP_WORKER_FRONT_REMOTE_H

#include "worker/front/client.h"
#include "worker/provider.h"

struct remote;

struct remote_kind {
	const char *name; /* "local", "none", "command" */
	/* Starts a worker, greets it and waits for its welcome: process_start and client_open. */
	bool (*open)(void *data, struct client **ret, struct wire_welcome *ret_welcome,
	             struct err *err);
	/* Runs a command in a worker of its own. NULL: in the same one. */
	bool (*run)(void *data, const struct run_request *request, const struct run_events *events,
	            void *events_data, struct run **ret, struct err *err);
	/* What holds instead of the first worker's level since a command ran at a weaker one; NULL
	 * before. From any thread; the result lives as long as `data`. May be NULL itself. */
	const struct provider_info *(*weaker)(void *data);
	void (*release)(void *data);
};

struct remote_options {
	const struct remote_kind *kind;
	void *data;              /* owned: kind->release frees it, also after a failure */
	bool later;              /* no worker before it is needed; `roots` and `level` are known */
	const char *const *roots; /* later: copied */
	size_t root_count;
	enum sandbox_level level;
	const char *weaker_because;
	size_t *ret_recovered;   /* or NULL */
};

bool remote_provider(const struct remote_options *options, struct provider **ret, struct err *err);

#endif
