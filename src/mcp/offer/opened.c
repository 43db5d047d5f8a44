/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces that are open for clients, and watches on them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "mcp/offer/offer.h"
#include "mcp/offer/opened.h"

/* ---- workspaces -------------------------------------------------------------- */

struct opened_table {
	const struct serve_options *options; /* borrowed */
	pthread_mutex_t lock;                /* held while one is opened, so that it is opened
	                                      * once */
	struct opened_workspace *all;
};

struct opened_table *opened_table_new(const struct serve_options *options)
{
	struct opened_table *table = mem_alloc(1, sizeof(*table));

	table->options = options;
	pthread_mutex_init(&table->lock, NULL);
	return table;
}

void opened_table_free(struct opened_table *table)
{
	if (!table)
		return;
	pthread_mutex_destroy(&table->lock);
	free(table);
}

/* The roots as one text; a name cannot hold a newline that could be taken for the separator,
 * because its length is before it. */
static char *roots_key(const char *const *roots, size_t count)
{
	struct buf name = BUF_INIT(LIMIT_MESSAGE_BYTES);

	for (size_t i = 0; i < count; i++)
		buf_printf(&name, "%zu:%s\n", strlen(roots[i]), roots[i]);
	return buf_steal(&name);
}

static struct opened_workspace *opened_find(const struct opened_table *table, const char *name)
{
	struct opened_workspace *opened = table->all;

	while (opened && strcmp(opened->name, name) != 0)
		opened = opened->next;
	return opened;
}

static struct opened_workspace *open_new(struct opened_table *table, const char *const *roots,
                                         size_t count, struct err *err)
{
	const struct serve_options *options = table->options;
	struct opened_workspace *opened = mem_alloc(1, sizeof(*opened));

	if (!options->open(options->open_data, roots, count, &opened->provider,
	                   &opened->recovered, err)) {
		free(opened);
		return NULL;
	}
	opened->table = table;
	opened->next = table->all;
	table->all = opened;
	return opened;
}

bool opened_get(struct opened_table *table, const char *const *roots, size_t count,
                struct opened_workspace **ret, bool *ret_new, struct err *err)
{
	_cleanup_free_ char *name = roots_key(roots, count);
	struct opened_workspace *opened;
	bool is_new;

	pthread_mutex_lock(&table->lock);
	opened = opened_find(table, name);
	is_new = !opened;
	if (is_new) {
		opened = open_new(table, roots, count, err);
		if (opened)
			opened->name = mem_steal(&name);
	}
	if (opened)
		opened->uses++;
	pthread_mutex_unlock(&table->lock);
	if (!opened)
		return false;
	if (ret_new)
		*ret_new = is_new;
	*ret = opened;
	return true;
}

struct opened_workspace *opened_ref(struct opened_workspace *opened)
{
	pthread_mutex_lock(&opened->table->lock);
	opened->uses++;
	pthread_mutex_unlock(&opened->table->lock);
	return opened;
}

void opened_put(struct opened_workspace *opened)
{
	struct opened_table *table = opened ? opened->table : NULL;
	bool last = opened != NULL;

	if (table) {
		pthread_mutex_lock(&table->lock);
		last = --opened->uses == 0;
		if (last) {
			struct opened_workspace **at = &table->all;

			while (*at != opened)
				at = &(*at)->next;
			*at = opened->next;
		}
		pthread_mutex_unlock(&table->lock);
	}
	if (!last)
		return;
	provider_free(opened->provider);
	free(opened->name);
	free(opened);
}

/* ---- where a workspace could not be opened ---------------------------------- */

struct broken {
	struct provider provider; /* first: the two are cast into each other */
	struct err why;
};

static bool broken_fail(struct provider *provider, struct err *err)
{
	*err = ((struct broken *)provider)->why;
	return false;
}

static bool broken_end(struct provider *provider, struct provider_request *request,
                       struct err *err)
{
	if (request->read)
		*request->read_result = (struct read_result){ 0 };
	for (size_t i = 0; i < request->count; i++) {
		request->results[i] = (struct change_result){ 0 };
		broken_fail(provider, &request->results[i].err);
	}
	return broken_fail(provider, err);
}

static bool broken_walk(struct provider *provider, const struct walk_request *request,
                        struct walk_result *ret, struct err *err)
{
	(void)request;
	(void)ret;
	return broken_fail(provider, err);
}

static bool broken_search(struct provider *provider, const struct search_request *request,
                          struct search_result *ret, struct err *err)
{
	(void)request;
	(void)ret;
	return broken_fail(provider, err);
}

static bool broken_watch(struct provider *provider, const struct watch_request *request,
                         struct provider_watch **ret, struct err *err)
{
	(void)request;
	(void)ret;
	return broken_fail(provider, err);
}

static void broken_unwatch(struct provider *provider, struct provider_watch *watch)
{
	(void)provider;
	(void)watch;
}

static bool broken_run(struct provider *provider, const struct run_request *request,
                       const struct run_events *events, void *data, struct run **ret,
                       struct err *err)
{
	(void)request;
	(void)events;
	(void)data;
	(void)ret;
	return broken_fail(provider, err);
}

static const struct provider_info *broken_info(struct provider *provider)
{
	static const struct provider_info info = { .kind = "broken", .level = SANDBOX_PATHS };

	(void)provider;
	return &info;
}

static const char *broken_root(struct provider *provider, size_t i)
{
	(void)provider;
	(void)i;
	return NULL;
}

static void broken_free(struct provider *provider)
{
	free(provider);
}

static const struct provider_ops broken_ops = {
	.name = "broken",
	.end = broken_end,
	.walk = broken_walk,
	.search = broken_search,
	.watch = broken_watch,
	.unwatch = broken_unwatch,
	.run = broken_run,
	.info = broken_info,
	.root = broken_root,
	.free = broken_free,
};

const char *opened_level(const struct opened_workspace *opened)
{
	struct provider *provider = opened->provider;

	if (provider->ops == &broken_ops)
		return NULL;
	return sandbox_level_name(provider->ops->info(provider)->level);
}

struct opened_workspace *opened_broken(const struct err *why)
{
	struct opened_workspace *opened = mem_alloc(1, sizeof(*opened));
	struct broken *broken = mem_alloc(1, sizeof(*broken));

	broken->provider.ops = &broken_ops;
	broken->why = *why;
	opened->provider = &broken->provider;
	opened->uses = 1;
	return opened;
}

/* ---- watches ----------------------------------------------------------------- */

/* A watch of a provider, for all clients with that workspace. */
struct shared_watch {
	struct shared_watch *next, **at;
	struct mcp_server *server; /* borrowed */
	struct opened_workspace *opened;     /* owned reference */
	struct provider_watch *watch;       /* owned */
	char *uri;                 /* owned; as the clients wrote it */
	size_t uses;
};

struct watches {
	struct shared_watch *all;
};

struct watched_file {
	struct watched_file *next;
	struct shared_watch *shared;
};

struct watches *offer_watches_new(void)
{
	return mem_alloc(1, sizeof(struct watches));
}

void offer_watches_free(struct watches *watches)
{
	free(watches);
}

static void notify_watcher(void *data)
{
	struct shared_watch *shared = data;

	mcp_resource_updated(shared->server, shared->uri);
}

static struct shared_watch *watches_find(const struct watches *watches,
                                         const struct opened_workspace *opened, const char *uri)
{
	struct shared_watch *shared = watches->all;

	while (shared && (shared->opened != opened || strcmp(shared->uri, uri) != 0))
		shared = shared->next;
	return shared;
}

static struct shared_watch *shared_watch_begin(struct watches *watches, struct mcp_server *server,
                                               struct opened_workspace *opened, const char *uri,
                                               struct err *err)
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

static void shared_watch_end(struct shared_watch *shared)
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

bool offer_watches_add(struct watches *watches, struct mcp_server *server,
                       struct opened_workspace *opened, const char *uri, struct watched_file **list,
                       struct err *err)
{
	struct shared_watch *shared = watches_find(watches, opened, uri);
	struct watched_file *own;

	if (!shared)
		shared = shared_watch_begin(watches, server, opened, uri, err);
	if (!shared)
		return false;
	shared->uses++;
	own = mem_alloc(1, sizeof(*own));
	*own = (struct watched_file){ *list, shared };
	*list = own;
	return true;
}

static void remove_at(struct watched_file **at)
{
	struct watched_file *own = *at;

	*at = own->next;
	shared_watch_end(own->shared);
	free(own);
}

void offer_watches_remove(struct watched_file **list, const char *uri)
{
	while (*list && strcmp((*list)->shared->uri, uri) != 0)
		list = &(*list)->next;
	if (*list)
		remove_at(list);
}

void offer_watches_clear(struct watched_file **list)
{
	while (*list)
		remove_at(list);
}
