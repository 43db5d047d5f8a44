/* SPDX-License-Identifier: Apache-2.0 */
/* Watches through a worker, which outlive it: a thread tells of changes, and puts the watches into the
 * next worker when one has gone.  What changed in between is not known, so all are told then. */
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "worker/front/remote_private.h"

enum { RETRY_MS = 1000 };

struct watch {
	struct watch *next;
	char *path;             /* owned */
	void (*changed)(void *data);
	void *data;
	struct client *client;  /* owned reference: where it is; NULL: nowhere */
	uint64_t id;            /* its number there */
	bool due;               /* to be told */
};

struct watchman {
	struct remote *remote;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* of anything below */
	struct watch *watches;
	struct watch *telling;  /* whose `changed` is running */
	struct client *client;  /* owned reference: where the thread listens; or NULL */
	bool stopping;
};

/* ---- one watch ------------------------------------------------------------- */

/* Puts it into the client's worker. Locked. */
static bool place_watch(struct watch *watch, struct client *client, struct err *err)
{
	const struct wire_watch body = { watch->path };
	struct client_call call = { .request = WIRE_MESSAGE_WATCH, .answer = WIRE_MESSAGE_WATCHING,
		                    .layout = &wire_layout_watch, .body = &body,
		                    .object = watch, .id = client_new_id(client) };

	client_expect_changes(client, call.id);
	if (!client_call(client, &call, err)) {
		client_forget_changes(client, call.id);
		return false;
	}
	client_unref(watch->client);
	watch->client = client_ref(client);
	watch->id = call.id;
	return true;
}

static void watch_free(struct watch *watch)
{
	client_unref(watch->client);
	free(watch->path);
	free(watch);
}

/* ---- the thread ------------------------------------------------------------ */

static void sleep_locked(struct watchman *man, bool retry)
{
	struct timespec until;

	if (!retry) {
		pthread_cond_wait(&man->changed, &man->lock);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += RETRY_MS / 1000;
	pthread_cond_timedwait(&man->changed, &man->lock, &until);
}

/* Where to listen now: starts a worker when the last one has gone. Locked. */
static bool find_client(struct watchman *man)
{
	struct err err = ERR_INIT;
	struct client *client;

	pthread_mutex_unlock(&man->lock);
	client = remote_client(man->remote, &err);
	pthread_mutex_lock(&man->lock);
	client_unref(man->client);
	man->client = client;
	return client != NULL;
}

static void place_all(struct watchman *man)
{
	for (struct watch *watch = man->watches; watch; watch = watch->next) {
		struct err err = ERR_INIT;

		if (watch->client == man->client)
			continue;
		watch->due = watch->client != NULL;
		if (place_watch(watch, man->client, &err)) {
			watch->due = true;
		} else { /* its path leads nowhere now; tried again when something happens */
			client_unref(watch->client);
			watch->client = NULL;
		}
	}
}

static void mark_due(struct watchman *man, uint64_t id)
{
	for (struct watch *watch = man->watches; watch; watch = watch->next)
		if (watch->client == man->client && watch->id == id)
			watch->due = true;
}

/* Without the lock while it runs. */
static bool notify_watchman(struct watchman *man)
{
	struct watch *watch = man->watches;

	while (watch && !watch->due)
		watch = watch->next;
	if (!watch || man->stopping)
		return false;
	watch->due = false;
	man->telling = watch;
	pthread_mutex_unlock(&man->lock);
	watch->changed(watch->data);
	pthread_mutex_lock(&man->lock);
	man->telling = NULL;
	pthread_cond_broadcast(&man->changed);
	return true;
}

static void listen_once(struct watchman *man)
{
	struct client *client = client_ref(man->client);
	bool failed;
	uint64_t id;

	pthread_mutex_unlock(&man->lock);
	id = client_wait_change(client, &failed);
	pthread_mutex_lock(&man->lock);
	if (id)
		mark_due(man, id);
	client_unref(client);
}

static void *watchman_thread(void *data)
{
	struct watchman *man = data;

	pthread_mutex_lock(&man->lock);
	while (!man->stopping) {
		if (!man->watches) {
			sleep_locked(man, false);
			continue;
		}
		if (!find_client(man)) {
			sleep_locked(man, true);
			continue;
		}
		place_all(man);
		while (notify_watchman(man))
			;
		if (!man->stopping && man->watches)
			listen_once(man);
	}
	pthread_mutex_unlock(&man->lock);
	return NULL;
}

/* ---- the operations -------------------------------------------------------- */

static struct watchman *watchman_new(struct remote *remote, struct err *err)
{
	struct watchman *man = mem_alloc(1, sizeof(*man));

	man->remote = remote;
	pthread_mutex_init(&man->lock, NULL);
	pthread_cond_init(&man->changed, NULL);
	if (pthread_create(&man->thread, NULL, watchman_thread, man) != 0) {
		free(man);
		err_set(err, ERR_TOO_LARGE, "There are too many threads.");
		return NULL;
	}
	return man;
}

static struct watchman *get_watchman(struct remote *remote, struct err *err)
{
	struct watchman *man;

	pthread_mutex_lock(&remote->lock);
	if (!remote->watchman)
		remote->watchman = watchman_new(remote, err);
	man = remote->watchman;
	pthread_mutex_unlock(&remote->lock);
	return man;
}

bool remote_watch(struct provider *provider, const struct watch_request *request,
                  struct watch **ret, struct err *err)
{
	struct remote *remote = (struct remote *)provider;
	struct watchman *man = get_watchman(remote, err);
	struct client *client = man ? remote_client(remote, err) : NULL;
	struct watch *watch;
	bool ok;

	if (!client)
		return false;
	watch = mem_alloc(1, sizeof(*watch));
	*watch = (struct watch){ .path = mem_strdup(request->path), .changed = request->changed,
		                 .data = request->data };
	pthread_mutex_lock(&man->lock);
	ok = place_watch(watch, client, err);
	if (ok) {
		watch->next = man->watches;
		man->watches = watch;
		pthread_cond_broadcast(&man->changed);
	}
	pthread_mutex_unlock(&man->lock);
	client_unref(client);
	if (ok)
		*ret = watch;
	else
		watch_free(watch);
	return ok;
}

void remote_unwatch(struct provider *provider, struct watch *watch)
{
	struct watchman *man = ((struct remote *)provider)->watchman;
	struct watch **at = &man->watches;

	pthread_mutex_lock(&man->lock);
	while (man->telling == watch)
		pthread_cond_wait(&man->changed, &man->lock);
	while (*at != watch)
		at = &(*at)->next;
	*at = watch->next;
	pthread_mutex_unlock(&man->lock);
	if (watch->client) {
		client_forget_changes(watch->client, watch->id);
		client_notify(watch->client, WIRE_MESSAGE_UNWATCH, watch->id, NULL, NULL);
	}
	watch_free(watch);
}

void remote_watchman_free(struct watchman *man)
{
	if (!man)
		return;
	pthread_mutex_lock(&man->lock);
	man->stopping = true;
	pthread_cond_broadcast(&man->changed);
	if (man->client)
		client_disturb(man->client);
	pthread_mutex_unlock(&man->lock);
	pthread_join(man->thread, NULL);
	client_unref(man->client);
	pthread_cond_destroy(&man->changed);
	pthread_mutex_destroy(&man->lock);
	free(man);
}
