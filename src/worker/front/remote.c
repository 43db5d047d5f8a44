/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/front/remote_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/fd.h"
#include "base/mem.h"

/* ---- the worker ------------------------------------------------------------ */

/* The latest, with a reference of the caller's, whatever has become of it; NULL before the
 * first. */
static struct client *used_client(struct remote *remote)
{
	struct client *client = NULL;

	pthread_mutex_lock(&remote->lock);
	if (remote->client)
		client = client_ref(remote->client);
	pthread_mutex_unlock(&remote->lock);
	return client;
}

static struct client *current(struct remote *remote)
{
	struct client *client = used_client(remote);

	if (client && client_alive(client))
		return client;
	client_unref(client);
	return NULL;
}

static void set_client(struct remote *remote, struct client *client)
{
	struct client *before;

	pthread_mutex_lock(&remote->lock);
	before = remote->client;
	remote->client = client;
	pthread_mutex_unlock(&remote->lock);
	client_unref(before);
}

/* A later worker must have opened what the first one did: what tools know rests on it. */
static bool is_same_place(const struct remote *remote, const struct wire_welcome *welcome)
{
	if (welcome->root_count != remote->root_count || welcome->level != remote->info.level)
		return false;
	for (size_t i = 0; i < remote->root_count; i++)
		if (strcmp(welcome->roots[i], remote->roots[i]) != 0)
			return false;
	return true;
}

static bool take_welcome(struct remote *remote, struct wire_welcome *welcome, struct err *err)
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
static struct client *open_client(struct remote *remote, size_t *ret_recovered, struct err *err)
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

struct client *remote_client(struct remote *remote, struct err *err)
{
	struct client *client = current(remote);

	if (client)
		return client;
	pthread_mutex_lock(&remote->open_lock);
	client = current(remote);
	if (!client)
		client = open_client(remote, NULL, err);
	pthread_mutex_unlock(&remote->open_lock);
	return client;
}

/* ---- calls ----------------------------------------------------------------- */

static bool call(struct remote *remote, struct client_call *what, struct err *err)
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
static bool distrust(struct remote *remote, const char *problem, struct err *err)
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

/* A read that was sent. */
struct read_begun {
	struct client *client; /* reference */
	struct client_call call;
	struct pending pending;
	struct wire_read_done done;
};

static struct client_call read_call(const struct read_request *request,
                                    struct wire_read_done *done)
{
	*done = (struct wire_read_done){ .result.content = BUF_INIT(LIMIT_RESULT_BYTES) };
	return (struct client_call){ .request = WIRE_MESSAGE_READ,
		                     .answer = WIRE_MESSAGE_READ_DONE,
		                     .layout = &wire_layout_read, .body = request,
		                     .object = done };
}

/* `ok`: there is an answer. */
static bool take_read(struct remote *remote, const struct read_request *request,
                      const struct wire_read_done *done, bool ok, struct read_result *ret,
                      struct err *err)
{
	const char *problem = ok ? wire_check_read(request, done) : NULL;

	*ret = done->result;
	if (ok && !problem && done->err.code == ERR_NONE)
		return true;
	if (problem) {
		read_result_release(ret);
		return distrust(remote, problem, err);
	}
	if (ok)
		*err = done->err;
	return false;
}

static bool remote_read(struct provider *provider, const struct read_request *request,
                        struct read_result *ret, struct err *err)
{
	struct remote *remote = (struct remote *)provider;
	struct wire_read_done done;
	struct client_call what = read_call(request, &done);
	bool ok = call(remote, &what, err);

	return take_read(remote, request, &done, ok, ret, err);
}

static bool remote_read_begin(struct provider *provider, const struct read_request *request,
                              struct read_begun **ret)
{
	struct err err = ERR_INIT;
	struct client *client = remote_client((struct remote *)provider, &err);
	struct read_begun *begun;

	if (!client)
		return false;
	begun = mem_alloc(1, sizeof(*begun));
	begun->client = client;
	begun->call = read_call(request, &begun->done);
	if (!client_begin(client, &begun->call, &begun->pending, &err)) {
		client_unref(client);
		free(begun);
		return false;
	}
	*ret = begun;
	return true;
}

static bool remote_read_end(struct provider *provider, struct read_begun *begun,
                            struct read_result *ret, struct err *err)
{
	bool ok = client_end(begun->client, &begun->pending, err);

	ok = take_read((struct remote *)provider, begun->call.body, &begun->done, ok, ret, err);
	client_unref(begun->client);
	free(begun);
	return ok;
}

/* The results of changes of which it is not known whether they were made. */
static void fill_lost(struct change_result *results, size_t count, const struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		change_result_release(&results[i]);
		results[i] = (struct change_result){ .err = *err };
	}
}

static struct client_call edit_call(const struct wire_edit *edit, struct wire_edit_done *done,
                                    struct change_result *results)
{
	memset(results, 0, edit->count * sizeof(*results));
	*done = (struct wire_edit_done){ .results = results, .count = edit->count };
	return (struct client_call){ .request = WIRE_MESSAGE_EDIT,
		                     .answer = WIRE_MESSAGE_EDIT_DONE,
		                     .layout = &wire_layout_edit, .body = edit,
		                     .object = done };
}

/* `ok`: there is an answer. */
static bool take_edit(struct remote *remote, const struct client_call *what, bool ok,
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
		distrust(remote, problem, err);
		fill_lost(done->results, edit->count, err);
		return false;
	}
	if (done->err.code != ERR_NONE)
		*err = done->err;
	return done->err.code == ERR_NONE;
}

static bool remote_edit(struct provider *provider, const struct change *changes, size_t count,
                        const struct edit_options *options, struct change_result *results,
                        struct err *err)
{
	struct remote *remote = (struct remote *)provider;
	const struct wire_edit edit = { (struct change *)changes, count, *options };
	struct wire_edit_done done;
	struct client_call what = edit_call(&edit, &done, results);
	bool ok = call(remote, &what, err);

	return take_edit(remote, &what, ok, err);
}

/* An edit that was sent. */
struct edit_begun {
	struct client *client; /* reference */
	struct client_call call;
	struct pending pending;
	struct wire_edit edit;
	struct wire_edit_done done;
	void (*ready)(void *data, bool here);
	void *data;
};

static void edit_ready(void *data, bool here)
{
	struct edit_begun *begun = data;

	/* What was refused is explained to the model, which may take a while. */
	begun->ready(begun->data, here && begun->done.err.code == ERR_NONE);
}

static int remote_bell(struct provider *provider)
{
	struct remote *remote = (struct remote *)provider;

	if (remote->bell < 0)
		remote->bell = epoll_create1(EPOLL_CLOEXEC);
	return remote->bell;
}

static bool remote_edit_begin(struct provider *provider, const struct change *change,
                              const struct edit_options *options, struct change_result *result,
                              void (*ready)(void *data, bool here), void *data,
                              struct edit_begun **ret)
{
	struct err err = ERR_INIT;
	struct client *client = remote_bell(provider) < 0 ? NULL :
	                        remote_client((struct remote *)provider, &err);
	struct edit_begun *begun;

	if (!client)
		return false;
	begun = mem_alloc(1, sizeof(*begun));
	*begun = (struct edit_begun){ .client = client, .ready = ready, .data = data,
		                      .edit = { (struct change *)change, 1, *options } };
	begun->call = edit_call(&begun->edit, &begun->done, result);
	begun->call.ready = edit_ready;
	begun->call.ready_data = begun;
	client_set_bell(client, remote_bell(provider));
	if (!client_begin(client, &begun->call, &begun->pending, &err)) {
		client_unref(client);
		free(begun);
		return false;
	}
	*ret = begun;
	return true;
}

static bool remote_edit_end(struct provider *provider, struct edit_begun *begun, struct err *err)
{
	bool ok = client_end(begun->client, &begun->pending, err);

	ok = take_edit((struct remote *)provider, &begun->call, ok, err);
	client_unref(begun->client);
	free(begun);
	return ok;
}

static void remote_flush(struct provider *provider)
{
	struct client *client = used_client((struct remote *)provider);

	if (client)
		client_flush(client);
	client_unref(client);
}

static void remote_take(struct provider *provider)
{
	struct remote *remote = (struct remote *)provider;
	struct epoll_event events[4]; /* they say no more than that there are some */
	struct client *client = used_client(remote);

	(void)epoll_wait(remote->bell, events, ARRAY_LEN(events), 0);
	if (client)
		client_take(client);
	client_unref(client);
}

static bool remote_walk(struct provider *provider, const struct walk_request *request,
                        struct walk_result *ret, struct err *err)
{
	struct remote *remote = (struct remote *)provider;
	struct walk_result result = { 0 };
	struct client_call what = { .request = WIRE_MESSAGE_WALK, .answer = WIRE_MESSAGE_WALK_DONE,
		                    .layout = &wire_layout_walk, .body = request,
		                    .object = &result };
	bool ok = call(remote, &what, err);
	const char *problem = ok ? wire_check_walk(request, &result) : NULL;

	if (ok && !problem) {
		*ret = result;
		return true;
	}
	walk_result_release(&result);
	return problem ? distrust(remote, problem, err) : false;
}

static bool remote_search(struct provider *provider, const struct search_request *request,
                          struct search_result *ret, struct err *err)
{
	struct remote *remote = (struct remote *)provider;
	struct search_result result = { 0 };
	struct client_call what = { .request = WIRE_MESSAGE_SEARCH,
		                    .answer = WIRE_MESSAGE_SEARCH_DONE,
		                    .layout = &wire_layout_search, .body = request,
		                    .object = &result, .cancel = request->cancel };
	bool ok = call(remote, &what, err);
	const char *problem = ok ? wire_check_search(request, &result) : NULL;

	if (ok && !problem) {
		*ret = result;
		return true;
	}
	search_result_release(&result);
	return problem ? distrust(remote, problem, err) : false;
}

static bool remote_run(struct provider *provider, const struct run_request *request,
                       const struct run_events *events, void *data, struct run **ret,
                       struct err *err)
{
	static const struct client_run_options shared = { 0 };
	struct remote *remote = (struct remote *)provider;
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
	ok = client_run(client, request, events, data, &shared, ret, err);
	client_unref(client);
	return ok;
}

/* ---- the rest -------------------------------------------------------------- */

static const struct provider_info *remote_info(struct provider *provider)
{
	struct remote *remote = (struct remote *)provider;
	const struct provider_info *weaker =
		remote->kind->weaker ? remote->kind->weaker(remote->data) : NULL;

	return weaker ? weaker : &remote->info;
}

static const char *remote_root(struct provider *provider, size_t i)
{
	struct remote *remote = (struct remote *)provider;

	return i < remote->root_count ? remote->roots[i] : NULL;
}

static void remote_free(struct provider *provider)
{
	struct remote *remote = (struct remote *)provider;

	remote_watchman_free(remote->watchman);
	client_unref(remote->client);
	fd_cleanup_close(&remote->bell);
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
	.read = remote_read,
	.read_begin = remote_read_begin,
	.read_end = remote_read_end,
	.edit = remote_edit,
	.edit_begin = remote_edit_begin,
	.edit_end = remote_edit_end,
	.flush = remote_flush,
	.bell = remote_bell,
	.take = remote_take,
	.walk = remote_walk,
	.search = remote_search,
	.watch = remote_watch,
	.unwatch = remote_unwatch,
	.run = remote_run,
	.info = remote_info,
	.root = remote_root,
	.free = remote_free,
};

static void copy_roots(struct remote *remote, const struct remote_options *options)
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
	struct remote *remote = mem_alloc(1, sizeof(*remote));
	struct client *client = NULL;

	remote->provider.ops = &ops;
	remote->bell = -1;
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
