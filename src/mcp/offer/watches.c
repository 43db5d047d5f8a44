/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/watches.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/offer/uri.h"

/* A watch of a provider, for all clients with that workspace. */
struct shared_watch {
	struct shared_watch *next, **at;
	struct mcp_server *server; /* borrowed */
	struct opened *opened;     /* owned reference */
	struct watch *watch;       /* owned */
	char *uri;                 /* owned; as the clients wrote it */
	size_t uses;
};

struct watches {
	struct shared_watch *all;
};

struct watched {
	struct watched *next;
	struct shared_watch *shared;
};

struct watches *watches_new(void)
{
	return mem_alloc(1, sizeof(struct watches));
}

void watches_free(struct watches *watches)
{
	free(watches);
}

static void notify_watcher(void *data)
{
	struct shared_watch *shared = data;

	mcp_resource_updated(shared->server, shared->uri);
}

static struct shared_watch *find(const struct watches *watches, const struct opened *opened,
                                 const char *uri)
{
	struct shared_watch *shared = watches->all;

	while (shared && (shared->opened != opened || strcmp(shared->uri, uri) != 0))
		shared = shared->next;
	return shared;
}

static struct shared_watch *begin(struct watches *watches, struct mcp_server *server,
                                  struct opened *opened, const char *uri, struct err *err)
{
	struct provider *provider = opened->provider;
	_cleanup_free_ char *path = NULL;
	struct shared_watch *shared;
	struct watch_request request = { .changed = notify_watcher };

	if (!uri_to_path(uri, &path, err))
		return NULL;
	shared = mem_alloc(1, sizeof(*shared));
	*shared = (struct shared_watch){ .server = server, .uri = mem_strdup(uri) };
	request.path = path;
	request.data = shared;
	if (!provider->ops->watch(provider, &request, &shared->watch, err)) {
		free(shared->uri);
		free(shared);
		return NULL;
	}
	shared->opened = opened_ref(opened);
	shared->next = watches->all;
	shared->at = &watches->all;
	if (shared->next)
		shared->next->at = &shared->next;
	watches->all = shared;
	return shared;
}

static void end(struct shared_watch *shared)
{
	struct provider *provider = shared->opened->provider;

	if (--shared->uses)
		return;
	provider->ops->unwatch(provider, shared->watch);
	*shared->at = shared->next;
	if (shared->next)
		shared->next->at = shared->at;
	opened_put(shared->opened);
	free(shared->uri);
	free(shared);
}

bool watches_add(struct watches *watches, struct mcp_server *server, struct opened *opened,
                 const char *uri, struct watched **list, struct err *err)
{
	struct shared_watch *shared = find(watches, opened, uri);
	struct watched *own;

	if (!shared)
		shared = begin(watches, server, opened, uri, err);
	if (!shared)
		return false;
	shared->uses++;
	own = mem_alloc(1, sizeof(*own));
	*own = (struct watched){ *list, shared };
	*list = own;
	return true;
}

static void remove_at(struct watched **at)
{
	struct watched *own = *at;

	*at = own->next;
	end(own->shared);
	free(own);
}

void watches_remove(struct watched **list, const char *uri)
{
	while (*list && strcmp((*list)->shared->uri, uri) != 0)
		list = &(*list)->next;
	if (*list)
		remove_at(list);
}

void watches_clear(struct watched **list)
{
	while (*list)
		remove_at(list);
}
