/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that answers for what is outside of the workspace, where that was allowed. */
#include "tool/outside.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"
#include "sandbox/plan/denial.h"
#include "sandbox/plan/location.h"

/* Paths of one call that are noted, and of a session that are allowed. */
enum { WANTED_MAX = 64 };

/* ---- places ------------------------------------------------------------------ */

static void outside_add(struct outside_places *places, const char *path, enum outside_kind kind)
{
	places->all = mem_grow(places->all, &places->cap, places->count + 1,
	                       sizeof(*places->all));
	places->all[places->count++] = (struct outside_place){ mem_strdup(path), kind };
}

void outside_places_release(struct outside_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->all[i].path);
	free(places->all);
	*places = (struct outside_places){ 0 };
}

/* Whether what is allowed there allows this, too; both canonical. */
static bool place_covers(const struct outside_place *place, const char *path,
                         enum outside_kind kind)
{
	switch (place->kind) {
	case OUTSIDE_WRITE:
		return (kind == OUTSIDE_WRITE || kind == OUTSIDE_READ) &&
		       strcmp(place->path, path) == 0;
	case OUTSIDE_READ:
		return kind == OUTSIDE_READ && strcmp(place->path, path) == 0;
	case OUTSIDE_TREE:
		return kind != OUTSIDE_WRITE && location_within(path, place->path);
	case OUTSIDE_FIND:
		return (kind == OUTSIDE_LIST || kind == OUTSIDE_FIND) &&
		       location_within(path, place->path);
	case OUTSIDE_LIST:
		return kind == OUTSIDE_LIST && strcmp(place->path, path) == 0;
	}
	return false;
}

static const struct outside_place *places_find(const struct outside_places *places,
                                               const char *path, enum outside_kind kind)
{
	for (size_t i = 0; i < places->count; i++)
		if (place_covers(&places->all[i], path, kind))
			return &places->all[i];
	return NULL;
}

struct outside_session {
	pthread_mutex_t lock;
	struct outside_places places;
};

struct outside_session *outside_session_new(void)
{
	struct outside_session *session = mem_alloc(1, sizeof(*session));

	pthread_mutex_init(&session->lock, NULL);
	return session;
}

void outside_session_free(struct outside_session *session)
{
	if (!session)
		return;
	outside_places_release(&session->places);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

/* The place that allows it, to this call: what the session has becomes the call's. NULL: none. */
static const struct outside_place *outside_allowed(struct outside *outside, const char *path,
                                                   enum outside_kind kind)
{
	const struct outside_place *place = places_find(&outside->once, path, kind);

	if (place)
		return place;
	pthread_mutex_lock(&outside->always->lock);
	place = places_find(&outside->always->places, path, kind);
	if (place)
		outside_add(&outside->once, place->path, place->kind);
	pthread_mutex_unlock(&outside->always->lock);
	return place ? &outside->once.all[outside->once.count - 1] : NULL;
}

void outside_allow(struct outside *outside, const struct outside_places *places, bool session)
{
	struct outside_places *always = &outside->always->places;

	for (size_t i = 0; i < places->count; i++)
		outside_add(&outside->once, places->all[i].path, places->all[i].kind);
	if (!session)
		return;
	pthread_mutex_lock(&outside->always->lock);
	for (size_t i = 0; i < places->count && always->count < LIMIT_GRANTED_FILES; i++)
		if (!places_find(always, places->all[i].path, places->all[i].kind))
			outside_add(always, places->all[i].path, places->all[i].kind);
	pthread_mutex_unlock(&outside->always->lock);
}

/* ---- what a request is about --------------------------------------------------- */

static struct outside *outside_of(struct provider *provider)
{
	return (struct outside *)provider;
}

/* Where the path leads now. */
static void outside_resolve(const struct outside *outside, const char *path, struct location *ret)
{
	location_resolve(outside->base->ops->root(outside->base, 0), path, NULL, NULL, ret);
}

static void outside_note(struct outside *outside, const char *path, enum outside_kind kind)
{
	for (size_t i = 0; i < outside->wanted.count; i++)
		if (outside->wanted.all[i].kind == kind &&
		    strcmp(outside->wanted.all[i].path, path) == 0)
			return;
	if (outside->wanted.count < WANTED_MAX)
		outside_add(&outside->wanted, path, kind);
}

/* ---- workers ------------------------------------------------------------------- */

struct outside_worker {
	struct outside_worker *next;
	char *folder; /* owned */
	bool writes;
	struct provider *provider; /* owned */
};

static char *outside_folder_of(const struct outside_place *place)
{
	const size_t above = location_above(place->path, strlen(place->path));

	if (place->kind != OUTSIDE_READ && place->kind != OUTSIDE_WRITE)
		return mem_strdup(place->path);
	return mem_dup(place->path, above ? above : 1);
}

/* Borrowed; NULL with *err. */
static struct provider *outside_worker(struct outside *outside, const struct outside_place *place,
                                       struct err *err)
{
	_cleanup_free_ char *folder = outside_folder_of(place);
	const bool writes = place->kind == OUTSIDE_WRITE;
	struct provider *base = outside->base, *provider;
	struct outside_worker *worker;

	for (worker = outside->workers; worker; worker = worker->next)
		if (worker->writes == writes && strcmp(worker->folder, folder) == 0)
			return worker->provider;
	if (!base->ops->beside(base, folder, writes, &provider, err))
		return NULL;
	worker = mem_alloc(1, sizeof(*worker));
	*worker = (struct outside_worker){ outside->workers, mem_steal(&folder), writes,
		                           provider };
	outside->workers = worker;
	return provider;
}

static void outside_end_workers(struct outside *outside)
{
	struct outside_worker *worker;

	while ((worker = outside->workers)) {
		outside->workers = worker->next;
		provider_free(worker->provider);
		free(worker->folder);
		free(worker);
	}
}

/* ---- requests ------------------------------------------------------------------ */

/* A request that the workspace refused as outside. */
struct refused {
	struct outside *outside;
	const char *path; /* as the request has it */
	enum outside_kind kind;
	struct location at;                /* owned */
	const struct outside_place *place; /* what allows it */
	struct provider *provider;         /* who answers it */
};

#define _cleanup_refused_ __attribute__((cleanup(refused_release)))

static void refused_release(struct refused *refused)
{
	location_release(&refused->at);
}

/* Whether it is what the call is about: an edit that is refused also looks at the file, and a list
 * of names at the states of files. */
static bool is_meant(const struct outside *outside, enum outside_kind kind)
{
	return !outside->names_only && (outside->use != OUTSIDE_WRITE || kind == OUTSIDE_WRITE);
}

/* Finds who answers it instead. False: nobody; then it is noted, and *err, which is the
 * workspace's, stays, unless no worker could be had. */
static bool refused_find(struct refused *refused, struct err *err)
{
	struct outside *outside = refused->outside;
	struct err why = ERR_INIT;

	if (!outside->active || err->code != ERR_OUTSIDE_WORKSPACE || !refused->path)
		return false;
	if (!refused->at.path)
		outside_resolve(outside, refused->path, &refused->at);
	if (refused->at.path)
		refused->place = outside_allowed(outside, refused->at.path, refused->kind);
	if (!refused->place) {
		if (is_meant(outside, refused->kind))
			outside_note(outside, refused->path, refused->kind);
		return false;
	}
	refused->provider = outside_worker(outside, refused->place, &why);
	if (!refused->provider)
		*err = why;
	return refused->provider;
}

/* Whether what was opened is what was allowed; else it is outside again. */
static bool refused_check(const struct refused *refused, const char *opened, struct err *err)
{
	if (opened && place_covers(refused->place, opened, refused->kind))
		return true;
	*err = (struct err)ERR_INIT;
	outside_note(refused->outside, refused->path, refused->kind);
	return err_set(err, ERR_OUTSIDE_WORKSPACE,
	               "%s leads outside the workspace, and elsewhere than it did.",
	               refused->path);
}

/* Rules on paths see where one leads that the workspace does not have, too. */
static bool resolve_outside(const struct outside *outside, const char *path,
                            struct read_result *ret, struct err *err)
{
	_cleanup_location_ struct location at = { 0 };

	if (!outside->active || err->code != ERR_OUTSIDE_WORKSPACE)
		return false;
	outside_resolve(outside, path, &at);
	if (!at.path)
		return false;
	read_result_release(ret);
	*ret = (struct read_result){ .line_endings = "none" };
	ret->state.path = mem_steal(&at.path);
	*err = (struct err)ERR_INIT;
	return true;
}

static bool outside_read(struct provider *provider, const struct read_request *request,
                         struct read_result *ret, struct err *err)
{
	struct outside *outside = outside_of(provider);
	_cleanup_refused_ struct refused refused = { .outside = outside, .path = request->path,
		                                     .kind = OUTSIDE_READ };
	struct read_request own = *request;
	bool ok;

	if (outside->base->ops->read(outside->base, request, ret, err))
		return true;
	if (request->resolve)
		return resolve_outside(outside, request->path, ret, err);
	if (!refused_find(&refused, err))
		return false;
	own.path = refused.at.path;
	read_result_release(ret);
	*ret = (struct read_result){ 0 };
	*err = (struct err)ERR_INIT;
	ok = refused.provider->ops->read(refused.provider, &own, ret, err);
	if (!ok && !ret->state.path && err->code != ERR_OUTSIDE_WORKSPACE)
		return false;
	if (refused_check(&refused, ret->state.path, err))
		return ok;
	read_result_release(ret);
	*ret = (struct read_result){ 0 };
	return false;
}

static bool outside_walk(struct provider *provider, const struct walk_request *request,
                         struct walk_result *ret, struct err *err)
{
	struct outside *outside = outside_of(provider);
	_cleanup_refused_ struct refused refused = { .outside = outside, .path = request->path,
		                                     .kind = outside->use };
	struct walk_request own = *request;

	if (outside->base->ops->walk(outside->base, request, ret, err))
		return true;
	if (refused.kind == OUTSIDE_LIST && request->recursive)
		refused.kind = OUTSIDE_FIND;
	if (!refused_find(&refused, err))
		return false;
	own.path = refused.at.path;
	*err = (struct err)ERR_INIT;
	if (!refused.provider->ops->walk(refused.provider, &own, ret, err))
		return false;
	outside->names_only = refused.kind != OUTSIDE_TREE;
	if (refused_check(&refused, ret->folder, err))
		return true;
	walk_result_release(ret);
	return false;
}

static bool outside_search(struct provider *provider, const struct search_request *request,
                           struct search_result *ret, struct err *err)
{
	struct outside *outside = outside_of(provider);
	_cleanup_refused_ struct refused refused = { .outside = outside, .path = request->path,
		                                     .kind = OUTSIDE_READ };
	struct search_request own = *request;

	if (outside->base->ops->search(outside->base, request, ret, err))
		return true;
	if (err->code != ERR_OUTSIDE_WORKSPACE || !outside->active)
		return false;
	outside_resolve(outside, request->path, &refused.at);
	if (refused.at.kind == LOCATION_FOLDER)
		refused.kind = OUTSIDE_TREE;
	if (!refused_find(&refused, err))
		return false;
	own.path = refused.at.path;
	*err = (struct err)ERR_INIT;
	if (!refused.provider->ops->search(refused.provider, &own, ret, err))
		return false;
	if (ret->one_file == (refused.kind == OUTSIDE_READ) &&
	    refused_check(&refused, ret->folder, err))
		return true;
	search_result_release(ret);
	return refused_check(&refused, NULL, err);
}

/* One file that is written, and stays where it is; several are one change, which no two workers
 * can make. */
static bool is_plain_edit(const struct change *changes, size_t count)
{
	return count == 1 && changes->path && !changes->new_path &&
	       changes->kind != CHANGE_DELETE && changes->kind != CHANGE_MOVE;
}

static bool outside_edit(struct provider *provider, const struct change *changes, size_t count,
                         const struct edit_options *options, struct change_result *results,
                         struct err *err)
{
	struct outside *outside = outside_of(provider);
	_cleanup_refused_ struct refused refused = { .outside = outside, .kind = OUTSIDE_WRITE,
		                                     .path = count ? changes->path : NULL };
	struct err why = ERR_INIT;
	struct change own;

	if (outside->base->ops->edit(outside->base, changes, count, options, results, err))
		return true;
	if (!is_plain_edit(changes, count))
		return false;
	why = results->err.code != ERR_NONE ? results->err : *err;
	if (!refused_find(&refused, &why)) {
		*err = results->err = why;
		return false;
	}
	own = *changes;
	own.path = own.resolved = refused.at.path;
	change_result_release(results);
	*results = (struct change_result){ 0 };
	*err = (struct err)ERR_INIT;
	return refused.provider->ops->edit(refused.provider, &own, 1, options, results, err);
}

/* ---- what goes through as it is ------------------------------------------------ */

static bool outside_watch(struct provider *provider, const struct watch_request *request,
                          struct watch **ret, struct err *err)
{
	struct provider *base = outside_of(provider)->base;

	return base->ops->watch(base, request, ret, err);
}

static void outside_unwatch(struct provider *provider, struct watch *watch)
{
	struct provider *base = outside_of(provider)->base;

	base->ops->unwatch(base, watch);
}

static bool outside_run(struct provider *provider, const struct run_request *request,
                        const struct run_events *events, void *data, struct run **ret,
                        struct err *err)
{
	struct provider *base = outside_of(provider)->base;

	return base->ops->run(base, request, events, data, ret, err);
}

static bool outside_plan(struct provider *provider, const struct run_request *request,
                         struct sandbox_plan **ret, struct err *err)
{
	struct provider *base = outside_of(provider)->base;

	return base->ops->plan(base, request, ret, err);
}

static const struct provider_info *outside_info(struct provider *provider)
{
	struct provider *base = outside_of(provider)->base;

	return base->ops->info(base);
}

static const char *outside_root(struct provider *provider, size_t i)
{
	struct provider *base = outside_of(provider)->base;

	return base->ops->root(base, i);
}

static void outside_keep(struct provider *provider)
{
	(void)provider; /* outside_release */
}

void outside_init(struct outside *outside, struct provider *base, struct outside_session *always)
{
	*outside = (struct outside){ .base = base, .always = always };
	outside->ops = (struct provider_ops){
		.name = base->ops->name, .read = outside_read, .edit = outside_edit,
		.walk = outside_walk, .search = outside_search,
		.watch = base->ops->watch ? outside_watch : NULL,
		.unwatch = base->ops->unwatch ? outside_unwatch : NULL,
		.run = base->ops->run ? outside_run : NULL,
		.plan = base->ops->plan ? outside_plan : NULL,
		.info = base->ops->info ? outside_info : NULL, .root = outside_root,
		.free = outside_keep,
	};
	outside->provider.ops = &outside->ops;
}

void outside_release(struct outside *outside)
{
	outside_end_workers(outside);
	outside_places_release(&outside->once);
	outside_places_release(&outside->wanted);
	*outside = (struct outside){ 0 };
}

/* The tools whose files may be offered, and what they are for: of those that walk, their walks. */
static const struct {
	const char *tool;
	enum outside_kind use;
} outside_tools[] = {
	{ "read_file", OUTSIDE_READ },       { "read_many_files", OUTSIDE_TREE },
	{ "search_files", OUTSIDE_TREE },    { "glob", OUTSIDE_FIND },
	{ "list_directory", OUTSIDE_LIST },  { "write_file", OUTSIDE_WRITE },
	{ "update_file", OUTSIDE_WRITE },    { "safe_patch", OUTSIDE_WRITE },
};

/* What is asked of the provider of files elsewhere is theirs to say. */
static bool is_of_this_machine(const struct outside *outside)
{
	const char *kind = outside->base->ops->info(outside->base)->kind;

	return outside->base->ops->beside && outside->base->ops->plan &&
	       (strcmp(kind, "local") == 0 || strcmp(kind, "none") == 0);
}

void outside_begin(struct outside *outside, const struct tool *tool)
{
	outside_end_workers(outside);
	outside_places_release(&outside->once);
	outside_places_release(&outside->wanted);
	outside->active = outside->names_only = false;
	if (tool->server || !is_of_this_machine(outside))
		return;
	for (size_t i = 0; i < ARRAY_LEN(outside_tools); i++)
		if (strcmp(outside_tools[i].tool, tool->name) == 0) {
			outside->active = true;
			outside->use = outside_tools[i].use;
		}
}

/* ---- what is offered ------------------------------------------------------------ */

static const char *const kind_words[] = {
	[OUTSIDE_LIST] = "list", [OUTSIDE_FIND] = "list", [OUTSIDE_TREE] = "read",
	[OUTSIDE_READ] = "read", [OUTSIDE_WRITE] = "write",
};

static const char *const kind_meanings[] = {
	[OUTSIDE_LIST] = "the names in this folder, and nothing else",
	[OUTSIDE_FIND] = "the names in this folder and in those beneath it, and no file",
	[OUTSIDE_TREE] = ("all files in this folder and beneath it may be read, but for what is "
	                  "hidden"),
	[OUTSIDE_READ] = "this file may be read, and nothing else",
	[OUTSIDE_WRITE] = "this file may be read and replaced, and nothing else",
};

static void outside_keep_denied(struct outside_offer *offer, const struct outside_place *wanted,
                       const char *why)
{
	json_t *item;

	if (json_array_size(offer->kept) >= LIMIT_DENIALS_OFFERED) {
		offer->left_out++;
		return;
	}
	item = json_object();
	json_object_set_new(item, "kind", json_string(kind_words[wanted->kind]));
	json_object_set_new(item, "what", json_name(wanted->path));
	json_object_set_new(item, "why", json_string(why));
	json_array_append_new(offer->kept, item);
}

static void outside_propose(struct outside_offer *offer, const struct outside_place *wanted,
                        const char *path, enum outside_kind kind)
{
	json_t *item = json_object();

	outside_add(&offer->places, path, kind);
	json_object_set_new(item, "kind", json_string(kind_words[kind]));
	json_object_set_new(item, "what", json_name(path));
	if (strcmp(wanted->path, path) != 0)
		json_object_set_new(item, "named", json_name(wanted->path));
	json_object_set_new(item, "allows", json_string(kind_meanings[kind]));
	json_array_append_new(offer->allowed, item);
}

static bool is_within_roots(const struct outside *outside, const char *path)
{
	const char *root;

	for (size_t i = 0; (root = outside->base->ops->root(outside->base, i)); i++)
		if (location_within(path, root))
			return true;
	return false;
}

/* What the session hides by what the user said of it, and by its own home folder. */
static bool session_hides(const struct outside *outside, const char *path)
{
	const struct run_request request = { 0 };
	struct sandbox_plan *plan = NULL;
	struct err ignored = ERR_INIT;
	bool hides = true;

	if (outside->base->ops->plan(outside->base, &request, &plan, &ignored))
		hides = !plan_judge(plan, path, SANDBOX_READ, false, NULL);
	sandbox_plan_free(plan);
	return hides;
}

/* NULL: it may be offered; else why not. */
static const char *why_not_offered(const struct outside *outside, const struct location *at,
                                   enum outside_kind kind)
{
	const bool folder = kind <= OUTSIDE_TREE;
	const char *why = NULL;

	if (!at->path || at->kind == LOCATION_CLOSED)
		return "you may not look there";
	if (is_within_roots(outside, at->path))
		return "it is in the workspace, by another way";
	if (session_hides(outside, at->path))
		return "it is hidden";
	if (kind != OUTSIDE_WRITE)
		sandbox_read_offered(at->path, folder, &why);
	else if (at->kind == LOCATION_MISSING)
		sandbox_new_offered(at->path, &why);
	else
		sandbox_exact_offered(at->path, &why);
	return why;
}

static void offer_one(struct outside *outside, struct outside_offer *offer,
                      const struct outside_place *wanted)
{
	_cleanup_location_ struct location at = { 0 };
	enum outside_kind kind = wanted->kind;
	const char *why;

	outside_resolve(outside, wanted->path, &at);
	/* Who names a folder among many files means what is in it; and what is looked through may
	 * be one file. */
	if (outside->use == OUTSIDE_TREE && kind != OUTSIDE_WRITE)
		kind = at.kind == LOCATION_FOLDER ? OUTSIDE_TREE : OUTSIDE_READ;
	if (at.path && outside_allowed(outside, at.path, kind)) {
		offer->covered = true;
		return;
	}
	if (at.path && places_find(&offer->places, at.path, kind))
		return;
	why = json_array_size(offer->allowed) >= LIMIT_DENIALS_OFFERED ?
	              "there are too many" : why_not_offered(outside, &at, kind);
	if (why)
		outside_keep_denied(offer, wanted, why);
	else
		outside_propose(offer, wanted, at.path, kind);
}

bool outside_offer_make(struct outside *outside, struct outside_offer *ret)
{
	const size_t count = outside->wanted.count;

	*ret = (struct outside_offer){ .allowed = json_array(), .kept = json_array() };
	for (size_t i = 0; i < count; i++)
		offer_one(outside, ret, &outside->wanted.all[i]);
	outside_places_release(&outside->wanted);
	return count > 0;
}

void outside_offer_release(struct outside_offer *offer)
{
	outside_places_release(&offer->places);
	json_decref(offer->allowed);
	json_decref(offer->kept);
	*offer = (struct outside_offer){ 0 };
}
