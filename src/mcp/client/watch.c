/* SPDX-License-Identifier: Apache-2.0 */
/* A client's subscriptions, as data: resources that were read, which of them have changed, and the
 * notification stream of 2026-07-28.  listen.c sends the requests. */
#include <pthread.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/watch.h"

struct mcp_watch {
	pthread_mutex_t sending;   /* one thread at a time opens the stream */
	pthread_mutex_t lock;      /* of what follows */
	json_t *watched, *updated; /* {URI: true} */
	int64_t stream;            /* the request that is open; 0: none */
	bool opened, refused;       /* there was one; the server has no such thing */
	bool stale;                /* it does not ask for all that is wanted */
};

struct mcp_watch *mcp_watch_new(void)
{
	struct mcp_watch *watch = mem_alloc(1, sizeof(*watch));

	pthread_mutex_init(&watch->sending, NULL);
	pthread_mutex_init(&watch->lock, NULL);
	watch->watched = json_object();
	watch->updated = json_object();
	return watch;
}

void mcp_watch_free(struct mcp_watch *watch)
{
	json_decref(watch->watched);
	json_decref(watch->updated);
	pthread_mutex_destroy(&watch->lock);
	pthread_mutex_destroy(&watch->sending);
	free(watch);
}

void mcp_watch_lock_opening(struct mcp_watch *watch)
{
	pthread_mutex_lock(&watch->sending);
}

void mcp_watch_unlock_opening(struct mcp_watch *watch)
{
	pthread_mutex_unlock(&watch->sending);
}

/* ---- resources ---- */

bool mcp_watch_add(struct mcp_watch *watch, const char *uri)
{
	bool added;

	pthread_mutex_lock(&watch->lock);
	added = !json_object_get(watch->watched, uri) &&
	        json_object_size(watch->watched) < LIMIT_MCP_WATCHED;
	if (added)
		json_object_set_new(watch->watched, uri, json_true());
	watch->stale = watch->stale || added;
	pthread_mutex_unlock(&watch->lock);
	return added;
}

bool mcp_watch_updated(struct mcp_watch *watch, const json_t *params)
{
	const char *uri = json_string_value(json_object_get(params, "uri"));
	bool known;

	pthread_mutex_lock(&watch->lock);
	known = uri && json_object_get(watch->watched, uri);
	if (known)
		json_object_set_new(watch->updated, uri, json_true());
	pthread_mutex_unlock(&watch->lock);
	return known;
}

json_t *mcp_watch_take(struct mcp_watch *watch)
{
	json_t *updated;

	pthread_mutex_lock(&watch->lock);
	updated = watch->updated;
	watch->updated = json_object();
	pthread_mutex_unlock(&watch->lock);
	return updated;
}

/* ---- the stream of 2026-07-28 ---- */

bool mcp_watch_open(struct mcp_watch *watch, int64_t stream, json_t *wanted, int64_t *ret_before,
                    bool *ret_ended)
{
	json_auto_t *uris = json_array();
	const char *uri;
	json_t *yes;
	bool needed;

	pthread_mutex_lock(&watch->lock);
	json_object_foreach(watch->watched, uri, yes)
		json_array_append_new(uris, json_string(uri));
	if (json_array_size(uris))
		json_object_set(wanted, "resourceSubscriptions", uris);
	*ret_before = watch->stream;
	*ret_ended = watch->opened && !watch->stream;
	needed = !watch->refused && json_object_size(wanted) && (watch->stale || !watch->stream);
	if (needed) {
		watch->stream = stream;
		watch->opened = true;
		watch->stale = false;
	}
	pthread_mutex_unlock(&watch->lock);
	return needed;
}

bool mcp_watch_ended(struct mcp_watch *watch, int64_t stream, bool for_good)
{
	bool is;

	pthread_mutex_lock(&watch->lock);
	is = stream && watch->stream == stream;
	if (is) {
		watch->stream = 0;
		watch->refused = watch->refused || for_good;
	}
	pthread_mutex_unlock(&watch->lock);
	return is;
}
