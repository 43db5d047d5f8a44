/* SPDX-License-Identifier: Apache-2.0 */
/* A provider that answers for what is outside of the workspace, where that was allowed. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tool/private.h"

static struct outside *outside_of(struct provider *provider)
{
	return (struct outside *)provider;
}

static char *outside_folder_of(const struct outside_place *place)
{
	const size_t above = location_above(place->path, strlen(place->path));

	if (place->kind <= OUTSIDE_TREE)
		return mem_strdup(place->path);
	return mem_dup(place->path, above ? above : 1);
}

/* For one place: a root is all that it has. Borrowed; NULL with *err. */
static struct provider *worker_of_place(struct outside *outside, const struct outside_place *place,
                                        struct err *err)
{
	_cleanup_free_ char *folder = outside_folder_of(place);
	const char *const folders[] = { folder };
	const struct outside_request request = { .folders = folders, .folder_count = 1,
		                                .write = place->kind == OUTSIDE_WRITE };

	return outside_worker(outside, folder, &request, err);
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

/* What of it is wanted: as the call names it, or where that leads. */
static struct outside_place refused_named(const struct refused *refused)
{
	return (struct outside_place){ (char *)refused->path, refused->kind, NULL };
}

/* Finds a worker that may answer it instead.  Otherwise records it, returns false, and leaves the
 * workspace's *err, unless a worker could not be started. */
static bool refused_find(struct refused *refused, struct err *err)
{
	struct outside *outside = refused->outside;
	struct err why = ERR_INIT;

	if (!outside->active || err->code != ERR_OUTSIDE_WORKSPACE || !refused->path)
		return false;
	if (!refused->at.path)
		outside_resolve(outside, refused->path, &refused->at);
	if (refused->at.path)
		refused->place = outside_allowed(outside, &(struct outside_place){
			refused->at.path, refused->kind, NULL });
	if (!refused->place) {
		const struct outside_place named = refused_named(refused);

		if (is_meant(outside, refused->kind))
			outside_note(outside, &named);
		return false;
	}
	refused->provider = worker_of_place(outside, refused->place, &why);
	if (!refused->provider)
		*err = why;
	return refused->provider;
}

/* Whether the opened file is the allowed one; otherwise it is outside again. */
static bool refused_check(const struct refused *refused, const char *opened, struct err *err)
{
	const struct outside_place named = refused_named(refused);
	const struct outside_place found = { (char *)opened, refused->kind, NULL };

	if (opened && outside_place_covers(refused->place, &found))
		return true;
	*err = (struct err)ERR_INIT;
	outside_note(refused->outside, &named);
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

	if (provider_read(outside->front.base, request, ret, err))
		return true;
	if (request->resolve)
		return resolve_outside(outside, request->path, ret, err);
	if (!refused_find(&refused, err))
		return false;
	own.path = refused.at.path;
	read_result_release(ret);
	*ret = (struct read_result){ 0 };
	*err = (struct err)ERR_INIT;
	ok = provider_read(refused.provider, &own, ret, err);
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

	if (outside->front.base->ops->walk(outside->front.base, request, ret, err))
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

	if (outside->front.base->ops->search(outside->front.base, request, ret, err))
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

/* One file that is written, and stays where it is. */
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
	struct provider *base = outside->front.base;
	_cleanup_refused_ struct refused refused = { .outside = outside, .kind = OUTSIDE_WRITE,
		                                     .path = count ? changes->path : NULL };
	struct err why = ERR_INIT;
	struct change own;

	if (provider_edit(base, changes, count, options, results, err))
		return true;
	if (outside->many && outside->active)
		return outside_change(outside, changes, count, options, results, err);
	if (!is_plain_edit(changes, count))
		return false;
	why = results->err.code != ERR_NONE ? results->err : *err;
	if (!refused_find(&refused, &why)) {
		*err = results->err = why;
		return false;
	}
	own = *changes;
	own.path = refused.at.path;
	if (!own.resolved) /* else where it led when the rules were asked */
		own.resolved = refused.at.path;
	change_result_release(results);
	*results = (struct change_result){ 0 };
	*err = (struct err)ERR_INIT;
	if (!provider_edit(refused.provider, &own, 1, options, results, err))
		return false;
	outside_change_name_diff(&results->diff, refused.at.path);
	return true;
}

/* ---- a call ---------------------------------------------------------------------- */

static const struct interposed_files outside_files = { outside_read, outside_edit };
static const struct provider_ops outside_ops = { .walk = outside_walk, .search = outside_search };

void outside_init(struct outside *outside, struct provider *base, struct outside_session *always)
{
	*outside = (struct outside){ .always = always };
	interpose_init(&outside->front, base, &outside_files, &outside_ops);
}

void outside_release(struct outside *outside)
{
	outside_end_workers(outside);
	outside_places_release(&outside->once);
	outside_places_release(&outside->wanted);
	*outside = (struct outside){ 0 };
}

/* What is asked of the provider of files elsewhere is theirs to say. */
static bool is_of_this_machine(const struct outside *outside)
{
	const char *kind = outside->front.base->ops->info(outside->front.base)->kind;

	return outside->front.base->ops->outside && outside->front.base->ops->plan &&
	       (strcmp(kind, "local") == 0 || strcmp(kind, "none") == 0);
}

void outside_begin(struct outside *outside, const struct tool *tool)
{
	/* Of tools that walk, their walks. */
	static const enum outside_kind uses[] = {
		[TOOL_FILES_READ] = OUTSIDE_READ,   [TOOL_FILES_GATHER] = OUTSIDE_TREE,
		[TOOL_FILES_SEARCH] = OUTSIDE_TREE, [TOOL_FILES_FIND] = OUTSIDE_FIND,
		[TOOL_FILES_LIST] = OUTSIDE_LIST,   [TOOL_FILES_WRITE] = OUTSIDE_WRITE,
	};

	outside_end_workers(outside);
	outside_places_release(&outside->once);
	outside_places_release(&outside->wanted);
	outside->names_only = false;
	outside->active = tool->info && tool->info->files && is_of_this_machine(outside);
	outside->many = outside->active && tool->info->edit == TOOL_EDIT_MANY;
	if (outside->active)
		outside->use = uses[tool->info->files];
}
