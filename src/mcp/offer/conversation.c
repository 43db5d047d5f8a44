/* SPDX-License-Identifier: Apache-2.0 */
/* A client's conversation: its roots, its workspace, its life. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/offer/calls.h"
#include "mcp/offer/conversation.h"
#include "mcp/offer/offer.h"
#include "mcp/offer/opened.h"
#include "worker/job/job.h"

/* ---- roots ------------------------------------------------------------------- */

static struct root_list roots_copy(const char *const *items, size_t count)
{
	struct root_list roots =
		{ .items = mem_alloc(count, sizeof(*roots.items)), .count = count };

	for (size_t i = 0; i < count; i++)
		roots.items[i] = mem_strdup(items[i]);
	return roots;
}

static void roots_release(struct root_list *roots)
{
	for (size_t i = 0; i < roots->count; i++)
		free(roots->items[i]);
	free(roots->items);
	*roots = (struct root_list){ 0 };
}

static bool roots_equal(const struct root_list *a, const struct root_list *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

/* From the array that roots/list answers with. INVALID_ARGUMENT when one of them is no file: URI
 * of this machine: no other is used then, because relative paths begin at the first. */
static bool roots_from_list(const json_t *list, struct root_list *ret, struct err *err)
{
	struct root_list roots =
		{ .items = mem_alloc(json_array_size(list), sizeof(*roots.items)) };
	struct err why = ERR_INIT;

	for (; roots.count < json_array_size(list); roots.count++) {
		const json_t *root = json_array_get(list, roots.count);
		const char *uri = json_string_value(json_object_get(root, "uri"));

		if (uri_to_path(uri ? uri : "", &roots.items[roots.count], &why))
			continue;
		roots_release(&roots);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The client's workspace root cannot be used: %s", why.message);
	}
	*ret = roots;
	return true;
}

/* ---- conversations ----------------------------------------------------------- */

/* A client that offers roots and does not name them, or is never ready, has calls waiting no
 * longer than this. */
enum {
	PATIENCE_MS = 10000,
	LOOK_MS = 100, /* how often a waiting thread looks whether its call was cancelled */
};

/* What the client subscribed to before its roots were known. */
struct early {
	struct early *next;
	char uri[];
};

struct conversation {
	struct serve *serve;
	struct mcp_server *server;
	struct session session; /* its provider is never used: each call has its own */
	struct jobs *jobs;      /* owned: its commands, which end with it */
	size_t uses;            /* by the session, and by questions that are under way */

	/* On the loop's thread. */
	bool ended;
	struct conversation *next, **at; /* among the unsettled ones; at is NULL when it is not */
	unsigned question;      /* the latest roots/list; answers to earlier ones are late */
	bool asked;             /* it is under way */
	struct waiting_call *first_waiting, **last_waiting;
	struct loop_timer *timer;
	struct watched_file *watched;
	struct early *early;

	pthread_mutex_t lock; /* guards the rest */
	pthread_cond_t known;
	bool settled;
	struct root_list roots;   /* owned */
	struct err unusable;  /* why the client's roots cannot be used, if they cannot */
	struct opened_workspace *opened; /* reference; NULL before the first call, and after a
	                                  * change */
	json_t *news;          /* array of what the client does not know yet */
};

const struct session *conversation_session(const struct conversation *conversation)
{
	return &conversation->session;
}

static bool is_settled(struct conversation *conversation)
{
	bool settled;

	pthread_mutex_lock(&conversation->lock);
	settled = conversation->settled;
	pthread_mutex_unlock(&conversation->lock);
	return settled;
}

/* ---- the roots -------------------------------------------------------------- */

/* Takes the roots over. Who watches files of the old workspace goes on doing so. */
static void set_roots(struct conversation *conversation, struct root_list roots,
                      const struct err *unusable)
{
	struct opened_workspace *old = NULL;
	struct root_list old_roots;

	pthread_mutex_lock(&conversation->lock);
	old_roots = conversation->roots;
	if (!roots_equal(&roots, &old_roots)) {
		old = conversation->opened;
		conversation->opened = NULL;
	}
	conversation->roots = roots;
	conversation->unusable = *unusable;
	conversation->settled = true;
	pthread_cond_broadcast(&conversation->known);
	pthread_mutex_unlock(&conversation->lock);
	if (old)
		jobs_end_of(conversation->jobs, old->provider);
	opened_put(old);
	roots_release(&old_roots);
}

static void link_unsettled(struct conversation *conversation)
{
	struct conversation **first = &conversation->serve->unsettled;

	if (conversation->at)
		return;
	conversation->next = *first;
	conversation->at = first;
	if (conversation->next)
		conversation->next->at = &conversation->next;
	*first = conversation;
}

static void unlink_unsettled(struct conversation *conversation)
{
	if (!conversation->at)
		return;
	*conversation->at = conversation->next;
	if (conversation->next)
		conversation->next->at = conversation->at;
	conversation->at = NULL;
}

/* The workspace is known: resumes the calls that waited for it. */
static void workspace_settle(struct conversation *conversation, struct root_list roots,
                             const struct err *unusable)
{
	struct waiting_call *waiting = conversation->first_waiting;

	unlink_unsettled(conversation);
	loop_timer_stop(conversation->timer);
	conversation->timer = NULL;
	conversation->first_waiting = NULL;
	conversation->last_waiting = &conversation->first_waiting;
	set_roots(conversation, roots, unusable);
	while (conversation->early) {
		struct early *early = conversation->early;
		struct err ignored = ERR_INIT;

		conversation->early = early->next;
		conversation_subscribe(conversation, early->uri, &ignored);
		free(early);
	}
	while (waiting) {
		struct waiting_call *next = waiting->next;

		waiting->go(waiting);
		waiting = next;
	}
}

/* The server's roots, or the current folder. */
static void settle_by_default(struct conversation *conversation)
{
	static const char *const here[] = { "." };
	const struct serve_options *options = &conversation->serve->options;
	const struct err none = ERR_INIT;

	workspace_settle(conversation, options->root_count ?
	                 roots_copy(options->roots, options->root_count) :
	                                           roots_copy(here, 1), &none);
}

static void settle_by_answer(struct conversation *conversation, const json_t *list)
{
	struct root_list roots = { 0 };
	struct err err = ERR_INIT;

	roots_from_list(list, &roots, &err);
	workspace_settle(conversation, roots, &err);
}

/* ---- asking for them -------------------------------------------------------- */

static void conversation_unref(struct conversation *conversation)
{
	if (--conversation->uses)
		return;
	jobs_free(conversation->jobs);
	opened_put(conversation->opened);
	roots_release(&conversation->roots);
	json_decref(conversation->news);
	session_release(&conversation->session);
	pthread_cond_destroy(&conversation->known);
	pthread_mutex_destroy(&conversation->lock);
	free(conversation);
}

/* One roots/list. */
struct question {
	struct conversation *conversation; /* reference */
	unsigned number;
};

static void roots_answered(void *data, const json_t *result)
{
	struct question *question = data;
	struct conversation *conversation = question->conversation;
	const json_t *roots = json_object_get(result, "roots");

	if (!conversation->ended && question->number == conversation->question) {
		conversation->asked = false;
		/* An error, or no roots: the client has none to name. */
		if (json_array_size(roots) == 0)
			settle_by_default(conversation);
		else
			settle_by_answer(conversation, roots);
	}
	free(question);
	conversation_unref(conversation);
}

static void ask_for_roots(struct conversation *conversation, struct mcp_peer *peer)
{
	struct question *question = mem_alloc(1, sizeof(*question));

	*question = (struct question){ conversation, ++conversation->question };
	conversation->uses++;
	conversation->asked = true;
	if (mcp_peer_ask(peer, "roots/list", NULL, roots_answered, question))
		return;
	conversation->asked = false;
	free(question);
	settle_by_default(conversation);
	conversation_unref(conversation);
}

void conversation_give_up(struct conversation *conversation)
{
	struct err err = ERR_INIT;

	conversation->question++;
	err_set(&err, ERR_INVALID_ARGUMENT,
	        "The client offers workspace roots, but did not tell them when it was asked "
	        "(roots/list). Start hasp with --root to do without.");
	workspace_settle(conversation, (struct root_list){ 0 }, &err);
}

static void out_of_patience(void *data)
{
	struct conversation *conversation = data;

	/* A client that never said that it is ready has no roots. */
	if (conversation->asked)
		conversation_give_up(conversation);
	else
		settle_by_default(conversation);
}

/* ---- beginning and end ------------------------------------------------------ */

static struct jobs *make_jobs(void)
{
	_cleanup_free_ char *logs = jobs_default_log_folder();

	return jobs_new(&(struct jobs_options){ .log_folder = logs });
}

void *conversation_begin(void *data, const struct mcp_session_info *info)
{
	struct serve *serve = data;
	struct conversation *conversation = mem_alloc(1, sizeof(*conversation));

	conversation->serve = serve;
	conversation->server = info->server;
	conversation->uses = 1;
	conversation->last_waiting = &conversation->first_waiting;
	conversation->news = json_array();
	session_init(&conversation->session, NULL);
	if (serve->options.set_up)
		serve->options.set_up(serve->options.set_up_data, &conversation->session);
	conversation->jobs = make_jobs();
	conversation->session.jobs = conversation->jobs;
	conversation->session.return_content = serve->options.return_content;
	conversation->session.answer_tokens = result_tokens(serve->options.answer_tokens);
	pthread_mutex_init(&conversation->lock, NULL);
	pthread_cond_init(&conversation->known, NULL);
	if (info->stateless || serve->options.root_count)
		settle_by_default(conversation);
	else
		link_unsettled(conversation);
	return conversation;
}

void conversation_ready(void *data, struct mcp_peer *peer)
{
	struct conversation *conversation = data;

	if (!is_settled(conversation))
		ask_for_roots(conversation, peer);
}

void conversation_roots_changed(void *data, struct mcp_peer *peer)
{
	struct conversation *conversation = data;

	if (conversation->serve->options.root_count)
		return;
	pthread_mutex_lock(&conversation->lock);
	conversation->settled = false;
	pthread_mutex_unlock(&conversation->lock);
	link_unsettled(conversation);
	ask_for_roots(conversation, peer);
}

void conversation_end(void *data)
{
	struct conversation *conversation = data;

	conversation->ended = true;
	unlink_unsettled(conversation);
	loop_timer_stop(conversation->timer);
	offer_watches_clear(&conversation->watched);
	while (conversation->early) {
		struct early *early = conversation->early;

		conversation->early = early->next;
		free(early);
	}
	conversation_unref(conversation);
}

/* ---- for calls -------------------------------------------------------------- */

bool conversation_is_settled(struct conversation *conversation, const struct mcp_call *call)
{
	if (!is_settled(conversation) && !mcp_call_client_answers(call, "roots/list"))
		settle_by_default(conversation);
	return is_settled(conversation);
}

void conversation_wait(struct conversation *conversation, struct waiting_call *waiting)
{
	waiting->next = NULL;
	*conversation->last_waiting = waiting;
	conversation->last_waiting = &waiting->next;
	if (!conversation->timer)
		conversation->timer = loop_timer_start(conversation->serve->options.loop,
		                                       PATIENCE_MS, 0, out_of_patience,
		                                       conversation);
}

/* What the client gets to know of a workspace that was opened for it. */
static json_t *news_of(const struct opened_workspace *opened)
{
	struct provider *provider = opened->provider;
	const struct provider_info *info = provider->ops->info(provider);
	json_t *news = json_object();
	json_t *roots = json_array();
	const char *root;

	for (size_t i = 0; (root = provider->ops->root(provider, i)); i++)
		json_array_append_new(roots, json_name(root));
	json_object_set_new(news, "message", json_string("The workspace is open."));
	json_object_set_new(news, "roots", roots);
	json_object_set_new(news, "sandbox", json_cstr(sandbox_level_name(info->level)));
	if (info->weaker_because)
		json_object_set_new(news, "weaker_because", json_cstr(info->weaker_because));
	if (info->level == SANDBOX_PATHS)
		json_object_set_new(news, "warning", json_string(
			"Nothing is confined: commands can do all that the user can."));
	if (opened->recovered)
		json_object_set_new(news, "recovered", json_size(opened->recovered));
	return news;
}

/* With the lock. */
static struct opened_workspace *open_now(struct conversation *conversation)
{
	struct err err = conversation->unusable;

	if (conversation->opened)
		return opened_ref(conversation->opened);
	if (err.code != ERR_NONE ||
	    !opened_get(conversation->serve->table, (const char *const *)conversation->roots.items,
	                conversation->roots.count, &conversation->opened, NULL, &err))
		return opened_broken(&err);
	json_array_append_new(conversation->news, news_of(conversation->opened));
	return opened_ref(conversation->opened);
}

/* With the lock, on a pool's thread: waits until the roots are known. False if the call was
 * cancelled meanwhile, or no answer will come. */
static bool wait_for_roots(struct conversation *conversation, const struct mcp_call *call)
{
	struct pool *pool = conversation->serve->options.pool;

	pool_wait_begin(pool);
	for (int i = 0; !conversation->settled && i < PATIENCE_MS / LOOK_MS; i++) {
		struct timespec until;

		if (mcp_call_cancelled(call))
			break;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		pthread_cond_clockwait(&conversation->known, &conversation->lock, CLOCK_MONOTONIC,
		                       &until);
	}
	pool_wait_end(pool);
	return conversation->settled;
}

struct opened_workspace *conversation_open(struct conversation *conversation,
                                           const struct mcp_call *call)
{
	struct err err = ERR_INIT;
	struct opened_workspace *opened;

	pthread_mutex_lock(&conversation->lock);
	if (conversation->settled || wait_for_roots(conversation, call)) {
		opened = open_now(conversation);
	} else {
		err_set(&err, ERR_CANCELLED, "The client did not name its workspace roots.");
		opened = opened_broken(&err);
	}
	pthread_mutex_unlock(&conversation->lock);
	return opened;
}

void conversation_put(struct conversation *conversation, struct opened_workspace *opened)
{
	bool current;

	pthread_mutex_lock(&conversation->lock);
	current = conversation->opened == opened;
	pthread_mutex_unlock(&conversation->lock);
	/* If the workspace changes only now, set_roots does the same. */
	if (!current)
		jobs_end_of(conversation->jobs, opened->provider);
	opened_put(opened);
}

void conversation_announce(struct conversation *conversation, struct mcp_call *call)
{
	json_t *news = NULL;
	size_t i;
	json_t *one;

	pthread_mutex_lock(&conversation->lock);
	if (json_array_size(conversation->news)) {
		news = conversation->news;
		conversation->news = json_array();
	}
	pthread_mutex_unlock(&conversation->lock);
	json_array_foreach(news, i, one) {
		enum mcp_level level = json_object_get(one, "warning") ? MCP_WARNING :
		                       json_object_get(one, "recovered") ? MCP_NOTICE : MCP_INFO;

		mcp_call_log(call, level, "workspace", json_incref(one));
	}
	json_decref(news);
}

/* ---- subscriptions ---------------------------------------------------------- */

/* Before the roots are known nothing can be said about the URI but that it is one. */
static bool note_early(struct conversation *conversation, const char *uri, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	size_t len = strlen(uri);
	struct early *early;

	if (!uri_to_path(uri, &path, err))
		return false;
	early = mem_alloc(1, sizeof(*early) + len + 1);
	memcpy(early->uri, uri, len);
	early->next = conversation->early;
	conversation->early = early;
	return true;
}

bool conversation_subscribe(void *data, const char *uri, struct err *err)
{
	struct conversation *conversation = data;
	struct opened_workspace *opened;
	bool ok;

	if (!is_settled(conversation))
		return note_early(conversation, uri, err);
	opened = conversation_open(conversation, NULL);
	ok = offer_watches_add(conversation->serve->watches, conversation->server, opened, uri,
	                       &conversation->watched, err);
	opened_put(opened);
	return ok;
}

void conversation_unsubscribe(void *data, const char *uri)
{
	struct conversation *conversation = data;

	for (struct early **at = &conversation->early; *at; at = &(*at)->next) {
		struct early *early = *at;

		if (strcmp(early->uri, uri) != 0)
			continue;
		*at = early->next;
		free(early);
		return;
	}
	offer_watches_remove(&conversation->watched, uri);
}
