/* SPDX-License-Identifier: Apache-2.0 */
/* A provider in front of a worker, which is started when it is needed, and restarted when it has
 * ended. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/front/private.h"

struct remote_worker {
	struct provider provider; /* first: the two are cast into each other */
	const struct remote_kind *kind;
	void *data;               /* owned, by kind->release */
	struct provider_info info;
	char *weaker_because;     /* owned; info's */
	char **roots;             /* owned */
	size_t root_count;

	pthread_mutex_t open_lock; /* one starts a worker, the others wait for it */
	pthread_mutex_t lock;      /* of `client` */
	struct client *client;     /* owned reference; NULL: none yet */
	int ready_fd;              /* owned epoll descriptor; -1: none yet.  For the thread that
	                            * asks for it alone */

	struct watchman *watchman; /* owned; NULL before the first watch */
};

/* ---- watches ---- */

/* A thread reports changes, and sets the watches again in the next worker when one has ended.  What
 * changed in between is unknown, so all are reported then. */

enum { RETRY_MS = 1000 };

struct remote_watch {
	struct remote_watch *next;
	char *path;             /* owned */
	void (*changed)(void *data);
	void *data;
	struct client *client;  /* owned reference: where it is; NULL: nowhere */
	uint64_t id;            /* its number there */
	bool due;               /* to be reported */
};

struct watchman {
	struct remote_worker *remote;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* of anything below */
	struct remote_watch *watches;
	struct remote_watch *calling;  /* whose `changed` is running */
	struct client *client;  /* owned reference: where the thread listens; or NULL */
	bool stopping;
};

/* ---- one watch ---- */

/* Puts it into the client's worker. Locked. */
static bool place_watch(struct remote_watch *watch, struct client *client, struct err *err)
{
	const struct wire_watch body = { watch->path };
	struct client_call call = { .request = WIRE_MESSAGE_WATCH, .answer = WIRE_MESSAGE_WATCHING,
		                    .body = &body, .object = watch, .id = client_new_id(client) };

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

static void remote_watch_free(struct remote_watch *watch)
{
	client_unref(watch->client);
	free(watch->path);
	free(watch);
}

/* ---- the thread ---- */

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

static struct client *remote_client(struct remote_worker *remote, struct err *err);

/* Where to listen now: starts a worker if the last one has ended. Locked. */
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

static void place_watches(struct watchman *man)
{
	for (struct remote_watch *watch = man->watches; watch; watch = watch->next) {
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
	for (struct remote_watch *watch = man->watches; watch; watch = watch->next)
		if (watch->client == man->client && watch->id == id)
			watch->due = true;
}

/* Without the lock while it runs. */
static bool notify_watchman(struct watchman *man)
{
	struct remote_watch *watch = man->watches;

	while (watch && !watch->due)
		watch = watch->next;
	if (!watch || man->stopping)
		return false;
	watch->due = false;
	man->calling = watch;
	pthread_mutex_unlock(&man->lock);
	watch->changed(watch->data);
	pthread_mutex_lock(&man->lock);
	man->calling = NULL;
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
		place_watches(man);
		while (notify_watchman(man))
			;
		if (!man->stopping && man->watches)
			listen_once(man);
	}
	pthread_mutex_unlock(&man->lock);
	return NULL;
}

/* ---- the operations ---- */

static struct watchman *watchman_new(struct remote_worker *remote, struct err *err)
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

static struct watchman *get_watchman(struct remote_worker *remote, struct err *err)
{
	struct watchman *man;

	pthread_mutex_lock(&remote->lock);
	if (!remote->watchman)
		remote->watchman = watchman_new(remote, err);
	man = remote->watchman;
	pthread_mutex_unlock(&remote->lock);
	return man;
}

static bool remote_watch(struct provider *provider, const struct watch_request *request,
                         struct provider_watch **ret, struct err *err)
{
	struct remote_worker *remote = (struct remote_worker *)provider;
	struct watchman *man = get_watchman(remote, err);
	struct client *client = man ? remote_client(remote, err) : NULL;
	struct remote_watch *watch;
	bool ok;

	if (!client)
		return false;
	watch = mem_alloc(1, sizeof(*watch));
	*watch = (struct remote_watch){ .path = mem_strdup(request->path),
		                        .changed = request->changed,
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
		*ret = (struct provider_watch *)watch;
	else
		remote_watch_free(watch);
	return ok;
}

static void remote_unwatch(struct provider *provider, struct provider_watch *of)
{
	struct remote_watch *watch = (struct remote_watch *)of;
	struct watchman *man = ((struct remote_worker *)provider)->watchman;
	struct remote_watch **at = &man->watches;

	pthread_mutex_lock(&man->lock);
	while (man->calling == watch)
		pthread_cond_wait(&man->changed, &man->lock);
	while (*at != watch)
		at = &(*at)->next;
	*at = watch->next;
	pthread_mutex_unlock(&man->lock);
	if (watch->client) {
		client_forget_changes(watch->client, watch->id);
		client_notify(watch->client, WIRE_MESSAGE_UNWATCH, watch->id, NULL);
	}
	remote_watch_free(watch);
}

static void remote_watchman_free(struct watchman *man)
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

/* ---- the worker ---- */

/* The latest, with a reference of the caller's, whatever has become of it; NULL before the
 * first. */
static struct client *used_client(struct remote_worker *remote)
{
	struct client *client = NULL;

	pthread_mutex_lock(&remote->lock);
	if (remote->client)
		client = client_ref(remote->client);
	pthread_mutex_unlock(&remote->lock);
	return client;
}

static struct client *current_client(struct remote_worker *remote)
{
	struct client *client = used_client(remote);

	if (client && client_alive(client))
		return client;
	client_unref(client);
	return NULL;
}

static void set_client(struct remote_worker *remote, struct client *client)
{
	struct client *before;

	pthread_mutex_lock(&remote->lock);
	before = remote->client;
	remote->client = client;
	pthread_mutex_unlock(&remote->lock);
	client_unref(before);
}

/* A later worker must have opened what the first one did: what tools know rests on it. */
static bool is_same_place(const struct remote_worker *remote, const struct wire_welcome *welcome)
{
	if (welcome->root_count != remote->root_count || welcome->level != remote->info.level)
		return false;
	for (size_t i = 0; i < remote->root_count; i++)
		if (strcmp(welcome->roots[i], remote->roots[i]) != 0)
			return false;
	return true;
}

static bool take_welcome(struct remote_worker *remote, struct wire_welcome *welcome,
                         struct err *err)
{
	const char *problem = wire_check_welcome(welcome);

	if (problem)
		return err_set(err, ERR_WORKER_LOST, "The worker broke the protocol: %s.", problem);
	if (remote->roots)
		return is_same_place(remote, welcome) ||
		       err_set(err, ERR_WORKER_LOST, "The worker was started again, but opens "
		                                  "another workspace or level than before.");
	remote->roots = mem_steal(&welcome->roots);
	remote->root_count = welcome->root_count;
	welcome->root_count = 0;
	remote->weaker_because = mem_steal(&welcome->weaker_because);
	remote->info = (struct provider_info){ remote->kind->name, welcome->level,
		                               remote->weaker_because };
	return true;
}

/* With open_lock held. */
static struct client *open_client(struct remote_worker *remote, size_t *ret_recovered,
                                  struct err *err)
{
	struct wire_welcome welcome = { 0 };
	struct client *client;
	bool ok;

	if (!remote->kind->open(remote->data, &client, &welcome, err))
		return NULL;
	ok = take_welcome(remote, &welcome, err);
	if (ret_recovered)
		*ret_recovered = (size_t)welcome.recovered;
	wire_welcome_release(&welcome);
	if (!ok) {
		client_unref(client);
		return NULL;
	}
	set_client(remote, client_ref(client));
	return client;
}

/* The client to use, with a reference of the caller's; starts a worker if need be. */
static struct client *remote_client(struct remote_worker *remote, struct err *err)
{
	struct client *client = current_client(remote);

	if (client)
		return client;
	pthread_mutex_lock(&remote->open_lock);
	client = current_client(remote);
	if (!client)
		client = open_client(remote, NULL, err);
	pthread_mutex_unlock(&remote->open_lock);
	return client;
}

/* ---- calls ---- */

static bool remote_call(struct remote_worker *remote, struct client_call *what, struct err *err)
{
	struct client *client = remote_client(remote, err);
	bool ok;

	if (!client)
		return false;
	ok = client_call(client, what, err);
	client_unref(client);
	return ok;
}

/* An answer that a worker must not give: nothing it says is believed any more. */
static bool distrust_worker(struct remote_worker *remote, const char *problem, struct err *err)
{
	struct client *client = remote_client(remote, err);
	_cleanup_free_ char *why = mem_printf("broke the protocol (%s).", problem);

	if (!client)
		return false;
	client_fail(client, why);
	client_why(client, err);
	client_unref(client);
	return false;
}

/* A read or an edit, as it is sent and answered. */
struct provider_started {
	struct client *client; /* reference; NULL: it was not started */
	struct client_call call;
	struct pending pending;
	const struct provider_request *request; /* borrowed */
	struct wire_edit edit;
	union {
		struct wire_read_done read;
		struct wire_edit_done edit;
	} done;
};

static void started_init(struct provider_started *started, const struct provider_request *request)
{
	started->client = NULL;
	started->request = request;
	if (request->read) {
		started->done.read = (struct wire_read_done){
			.result.content = BUF_INIT(LIMIT_RESULT_BYTES),
			.result.derived = BUF_INIT(LIMIT_RESULT_BYTES) };
		started->call = (struct client_call){ .request = WIRE_MESSAGE_READ,
			                              .cancel = request->read->cancel,
			                              .answer = WIRE_MESSAGE_READ_DONE,
			                              .body = request->read,
			                              .object = &started->done.read };
		return;
	}
	memset(request->results, 0, request->count * sizeof(*request->results));
	started->edit = (struct wire_edit){ (struct change *)request->changes, request->count,
		                            *request->options };
	started->done.edit = (struct wire_edit_done){ .results = request->results,
		                                      .count = request->count };
	started->call = (struct client_call){ .request = WIRE_MESSAGE_EDIT,
		                              .answer = WIRE_MESSAGE_EDIT_DONE,
		                              .body = &started->edit,
		                              .object = &started->done.edit };
}

/* `ok`: there is an answer. */
static bool take_read_done(struct remote_worker *remote, const struct read_request *request,
                           const struct wire_read_done *done, bool ok, struct read_result *ret,
                           struct err *err)
{
	const char *problem = ok ? wire_check_read(request, done) : NULL;

	*ret = done->result;
	if (ok && !problem && done->err.code == ERR_NONE)
		return true;
	if (problem) {
		read_result_release(ret);
		return distrust_worker(remote, problem, err);
	}
	if (ok)
		*err = done->err;
	return false;
}

/* The results of changes of which it is not known whether they were made. */
static void fill_lost(struct change_result *results, size_t count, const struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		change_result_release(&results[i]);
		results[i] = (struct change_result){ .err = *err };
	}
}

/* `ok`: there is an answer. */
static bool take_edit(struct remote_worker *remote, const struct client_call *what, bool ok,
                      struct err *err)
{
	const struct wire_edit *edit = what->body;
	const struct wire_edit_done *done = what->object;
	const char *problem;

	if (!ok) {
		struct err plain = *err;

		if (what->sent && !edit->options.dry_run && err->code == ERR_WORKER_LOST)
			err_set(err, plain.code, "%s Whether the change was made is not known.",
			        plain.message);
		fill_lost(done->results, edit->count, err);
		return false;
	}
	problem = wire_check_edit(done);
	if (problem) {
		distrust_worker(remote, problem, err);
		fill_lost(done->results, edit->count, err);
		return false;
	}
	if (done->err.code != ERR_NONE)
		*err = done->err;
	return done->err.code == ERR_NONE;
}

static void remote_request_ready(void *data, bool here)
{
	struct provider_started *started = data;
	const struct provider_request *request = started->request;

	/* A refusal is explained to the model, which may take a while. */
	request->ready(request->data,
	               here && (request->read ? started->done.read.err.code :
	                                        started->done.edit.err.code) == ERR_NONE);
}

static int remote_ready_fd(struct provider *provider)
{
	struct remote_worker *remote = (struct remote_worker *)provider;

	if (remote->ready_fd < 0)
		remote->ready_fd = epoll_create1(EPOLL_CLOEXEC);
	return remote->ready_fd;
}

static bool remote_begin(struct provider *provider, struct provider_request *request)
{
	struct err err = ERR_INIT;
	struct client *client = request->ready && remote_ready_fd(provider) < 0 ? NULL :
	                        remote_client((struct remote_worker *)provider, &err);
	struct provider_started *started;

	if (!client)
		return false;
	started = mem_alloc(1, sizeof(*started));
	started_init(started, request);
	started->client = client;
	if (request->ready) {
		started->call.ready = remote_request_ready;
		started->call.ready_data = started;
		client_set_ready_fd(client, remote_ready_fd(provider));
	}
	if (!client_begin(client, &started->call, &started->pending, &err)) {
		client_unref(client);
		free(started);
		return false;
	}
	request->started = started;
	return true;
}

static bool take_started(struct remote_worker *remote, const struct provider_started *started,
                        bool ok, struct err *err)
{
	return started->request->read ?
	               take_read_done(remote, started->request->read, &started->done.read, ok,
	                              started->request->read_result, err) :
	               take_edit(remote, &started->call, ok, err);
}

static bool remote_end(struct provider *provider, struct provider_request *request,
                       struct err *err)
{
	struct remote_worker *remote = (struct remote_worker *)provider;
	struct provider_started *started = mem_steal(&request->started), now;
	bool ok;

	if (!started) {
		started_init(&now, request);
		ok = remote_call(remote, &now.call, err);
		return take_started(remote, &now, ok, err);
	}
	ok = client_end(started->client, &started->pending, err);
	ok = take_started(remote, started, ok, err);
	client_unref(started->client);
	free(started);
	return ok;
}

static void remote_flush(struct provider *provider)
{
	struct client *client = used_client((struct remote_worker *)provider);

	if (client)
		client_flush(client);
	client_unref(client);
}

static void remote_take(struct provider *provider)
{
	struct remote_worker *remote = (struct remote_worker *)provider;
	struct epoll_event events[4]; /* they say no more than that there are some */
	struct client *client = used_client(remote);

	(void)epoll_wait(remote->ready_fd, events, ARRAY_LEN(events), 0);
	if (client)
		client_take(client);
	client_unref(client);
}

static bool remote_walk(struct provider *provider, const struct walk_request *request,
                        struct walk_result *ret, struct err *err)
{
	struct remote_worker *remote = (struct remote_worker *)provider;
	struct walk_result result = { 0 };
	struct client_call what = { .request = WIRE_MESSAGE_WALK, .answer = WIRE_MESSAGE_WALK_DONE,
		                    .body = request, .object = &result };
	bool ok = remote_call(remote, &what, err);
	const char *problem = ok ? wire_check_walk(request, &result) : NULL;

	if (ok && !problem) {
		*ret = result;
		return true;
	}
	walk_result_release(&result);
	return problem ? distrust_worker(remote, problem, err) : false;
}

static bool remote_search(struct provider *provider, const struct search_request *request,
                          struct search_result *ret, struct err *err)
{
	struct remote_worker *remote = (struct remote_worker *)provider;
	struct search_result result = { 0 };
	struct client_call what = { .request = WIRE_MESSAGE_SEARCH,
		                    .answer = WIRE_MESSAGE_SEARCH_DONE, .body = request,
		                    .object = &result, .cancel = request->cancel };
	bool ok = remote_call(remote, &what, err);
	const char *problem = ok ? wire_check_search(request, &result) : NULL;

	if (ok && !problem) {
		*ret = result;
		return true;
	}
	search_result_release(&result);
	return problem ? distrust_worker(remote, problem, err) : false;
}

static bool remote_run(struct provider *provider, const struct run_request *request,
                       const struct run_events *events, void *data, struct run **ret,
                       struct err *err)
{
	static const struct client_run_options shared = { 0 };
	struct remote_worker *remote = (struct remote_worker *)provider;
	struct client *client;
	bool ok;

	if (remote->kind->run)
		return remote->kind->run(remote->data, request, events, data, ret, err);
	if (request->stdio)
		return err_set(err, ERR_DENIED_BY_SANDBOX,
		               "Descriptors cannot be handed to a worker elsewhere.");
	client = remote_client(remote, err);
	if (!client)
		return false;
	ok = client_start_run(client, request, events, data, &shared, ret, err);
	client_unref(client);
	return ok;
}

static bool remote_plan(struct provider *provider, const struct run_request *request,
                        struct sandbox_plan **ret, struct err *err)
{
	struct remote_worker *remote = (struct remote_worker *)provider;

	if (remote->kind->plan)
		return remote->kind->plan(remote->data, request, ret, err);
	return err_set(err, ERR_DENIED_BY_SANDBOX, "The plan of a command is made elsewhere.");
}

static bool remote_outside(struct provider *provider, const struct outside_request *request,
                           struct provider **ret, struct err *err)
{
	struct remote_worker *remote = (struct remote_worker *)provider;

	if (remote->kind->outside)
		return remote->kind->outside(remote->data, request, ret, err);
	return err_set(err, ERR_OUTSIDE_WORKSPACE,
	               "%s is outside the workspace, and that is elsewhere.",
	               request->folders[0]);
}

/* ---- the rest ---- */

static const struct provider_info *remote_info(struct provider *provider)
{
	struct remote_worker *remote = (struct remote_worker *)provider;
	const struct provider_info *weaker =
		remote->kind->weaker ? remote->kind->weaker(remote->data) : NULL;

	return weaker ? weaker : &remote->info;
}

static const char *remote_root(struct provider *provider, size_t i)
{
	struct remote_worker *remote = (struct remote_worker *)provider;

	return i < remote->root_count ? remote->roots[i] : NULL;
}

static void remote_free(struct provider *provider)
{
	struct remote_worker *remote = (struct remote_worker *)provider;

	remote_watchman_free(remote->watchman);
	client_unref(remote->client);
	fd_cleanup_close(&remote->ready_fd);
	if (remote->kind->release)
		remote->kind->release(remote->data);
	for (size_t i = 0; i < remote->root_count; i++)
		free(remote->roots[i]);
	free(remote->roots);
	free(remote->weaker_because);
	pthread_mutex_destroy(&remote->open_lock);
	pthread_mutex_destroy(&remote->lock);
	free(remote);
}

static const struct provider_ops ops = {
	.name = "remote",
	.begin = remote_begin,
	.end = remote_end,
	.flush = remote_flush,
	.ready_fd = remote_ready_fd,
	.take = remote_take,
	.walk = remote_walk,
	.search = remote_search,
	.watch = remote_watch,
	.unwatch = remote_unwatch,
	.run = remote_run,
	.plan = remote_plan,
	.outside = remote_outside,
	.info = remote_info,
	.root = remote_root,
	.free = remote_free,
};

static void copy_roots(struct remote_worker *remote, const struct remote_options *options)
{
	remote->roots = mem_alloc(options->root_count + 1, sizeof(*remote->roots));
	for (size_t i = 0; i < options->root_count; i++)
		remote->roots[i] = mem_strdup(options->roots[i]);
	remote->root_count = options->root_count;
	remote->weaker_because = mem_strdup(options->weaker_because);
	remote->info = (struct provider_info){ options->kind->name, options->level,
		                               remote->weaker_because };
}

bool remote_provider(const struct remote_options *options, struct provider **ret, struct err *err)
{
	struct remote_worker *remote = mem_alloc(1, sizeof(*remote));
	struct client *client = NULL;

	remote->provider.ops = &ops;
	remote->ready_fd = -1;
	remote->kind = options->kind;
	remote->data = options->data;
	pthread_mutex_init(&remote->open_lock, NULL);
	pthread_mutex_init(&remote->lock, NULL);
	if (options->later) {
		copy_roots(remote, options);
	} else {
		client = open_client(remote, options->ret_recovered, err);
		if (!client) {
			provider_free(&remote->provider);
			return false;
		}
	}
	client_unref(client);
	*ret = &remote->provider;
	return true;
}
