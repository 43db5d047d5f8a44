/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/checkpoint/session.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

enum { DAY_MS = 24 * 60 * 60 * 1000 };

struct checkpoint_session {
	struct home *home; /* its own: calls come on several threads */
	struct checkpoints *checkpoints;
	struct bus *bus;
	unsigned subscription;
};

static void take_result(void *data, enum bus_topic topic, const json_t *message)
{
	struct checkpoint_session *session = data;

	(void)topic;
	checkpoints_after_edit(session->checkpoints,
	                       json_string_value(json_object_get(message, "callId")),
	                       json_object_get(message, "result"));
}

static void prune(const struct checkpoint_session *session,
                  const struct checkpoint_session_options *options)
{
	int64_t days = settings_integer(options->settings, "hasp.checkpoints.keepDays", 0);
	struct err err = ERR_INIT;
	size_t count;

	if (days <= 0 || days > INT32_MAX)
		return;
	if (!checkpoints_prune(session->checkpoints, (int64_t)time(NULL) * 1000 - days * DAY_MS,
	                       &count, &err) && options->notice)
		options->notice(options->data, "warning", err.message);
}

struct checkpoint_session *checkpoint_session_begin(
	const struct checkpoint_session_options *options)
{
	const char *durability = settings_string(options->settings, "hasp.durability", "full");
	const char *root = options->provider->ops->root(options->provider, 0);
	struct checkpoints_options own = { .provider = options->provider,
		                           .session_id = options->session_id,
		                           .durable = strcmp(durability, "full") == 0,
		                           .notice = options->notice, .data = options->data,
		                           .cancel = options->cancel,
		                           .lock_wait_ms = settings_lock_wait_ms(options->settings) };
	struct checkpoint_session *session;
	struct err err = ERR_INIT;

	if (!settings_bool(options->settings, "general.checkpointing.enabled", false))
		return NULL;
	if (!home_open(root, &own.home, &err)) {
		if (options->notice)
			options->notice(options->data, "warning", err.message);
		return NULL;
	}
	session = mem_alloc(1, sizeof(*session));
	session->home = own.home;
	session->checkpoints = checkpoints_open(&own);
	session->bus = options->bus;
	session->subscription = bus_subscribe(options->bus, BUS_TOOL_RESULT, take_result, session);
	prune(session, options);
	return session;
}

struct checkpoints *checkpoint_session_of(const struct checkpoint_session *session)
{
	return session ? session->checkpoints : NULL;
}

void checkpoint_session_end(struct checkpoint_session *session)
{
	if (!session)
		return;
	bus_unsubscribe(session->bus, session->subscription);
	checkpoints_close(session->checkpoints);
	home_free(session->home);
	free(session);
}
