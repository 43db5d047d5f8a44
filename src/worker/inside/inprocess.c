/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that are answered in this process: what the plan says of them, reading, editing,
 * listing and searching, and the provider that does them. */
#include "worker/inside/inprocess.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/structured/structured.h"
#include "file/transaction.h"
#include "read/read.h"
#include "sandbox/plan/location.h"
#include "search/walk.h"

/* ---- the plan, asked before the kernel is ---- */

/* So that a refusal names its rule, at every level. */

/* Takes the last component off; false when there is none above it. */
static bool cut_component(char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	path[len] = '\0';
	return len > 0;
}

/* At level full a hidden folder cannot be searched, so that what is beneath it leads nowhere: the
 * folder itself is judged then.  NULL, or the canonical path; owned by the caller. */
static char *hidden_above(const struct worker *worker, const char *path)
{
	_cleanup_free_ char *above = mem_strdup(path);

	while (cut_component(above)) {
		_cleanup_place_ struct place place = PLACE_INIT;
		struct err err = ERR_INIT;
		const char *rest = path + strlen(above);

		if (!workspace_resolve(worker->workspace, above, PLACE_FILE, &place, &err)) {
			if (err.code != ERR_PERMISSION_DENIED)
				return NULL;
			continue;
		}
		if (plan_judge(worker->plan, place.path, SANDBOX_READ, false, NULL))
			return NULL;
		return strstr(rest, "..") ? mem_strdup(place.path) :
		                            mem_printf("%s/%s", place.path, rest);
	}
	return NULL;
}

/* The canonical path to judge, owned by the caller; NULL: it leads nowhere, or it is a write to a
 * read-only path, which the edit refuses itself. */
static char *judged_path(const struct worker *worker, const char *path, enum sandbox_access wanted)
{
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;

	if (workspace_resolve(worker->workspace, path, PLACE_FILE, &place, &err))
		return wanted == SANDBOX_WRITE &&
		                       workspace_is_read_only(worker->workspace, place.root) ?
		               NULL : mem_steal(&place.path);
	if (err.code != ERR_PERMISSION_DENIED || !worker->hides)
		return NULL;
	return hidden_above(worker, path);
}

/* DENIED_BY_SANDBOX with the rule and what would allow it, where the kernel would only
 * say that something failed.  Paths that lead nowhere are let through: the operation says so. */
static bool op_may(const struct worker *worker, const char *path, enum sandbox_access wanted,
                   bool removes, struct err *err)
{
	_cleanup_free_ char *canonical = NULL;
	struct denial denial = { 0 };

	if (!worker->plan || (wanted == SANDBOX_READ && !worker->hides) || !path)
		return true;
	canonical = judged_path(worker, path, wanted);
	if (!canonical || plan_judge(worker->plan, canonical, wanted, removes, &denial))
		return true;
	return denial_refuse(&denial, err);
}

static bool plan_hides_beneath(const struct sandbox_plan *plan, const struct workspace *ws)
{
	for (size_t i = 0; i < plan->rule_count; i++)
		for (size_t r = 0; r < workspace_folder_count(ws); r++)
			if (plan->rules[i].access == SANDBOX_HIDDEN &&
			    location_within(plan->rules[i].path, workspace_root_path(ws, r)))
				return true;
	return false;
}

/* Whether `path` beneath the folder (both as results have them) is hidden. */
static bool op_is_hidden(const struct worker *worker, const char *folder, const char *path)
{
	_cleanup_free_ char *whole = mem_printf("%s/%s", strcmp(folder, "/") == 0 ? "" : folder,
	                                        path);

	return !plan_judge(worker->plan, whole, SANDBOX_READ, false, NULL);
}

/* ---- editing ---- */

/* The changes, with the worker's limits, durability and journal. */

static bool may(const struct worker *worker, const struct change *change, struct err *err)
{
	bool removes = change->kind == CHANGE_DELETE || change->kind == CHANGE_MOVE;

	return op_may(worker, change->path, SANDBOX_READ, false, err) &&
	       op_may(worker, change->path, SANDBOX_WRITE, removes, err) &&
	       (change->kind != CHANGE_MOVE ||
	        op_may(worker, change->new_path, SANDBOX_WRITE, false, err));
}

/* All changes are looked at, so that one answer names all that is forbidden. */
static bool may_all(const struct worker *worker, const struct change *changes, size_t count,
                    struct change_result *results, struct err *err)
{
	struct err first = ERR_INIT;

	if (!worker->plan)
		return true;
	memset(results, 0, count * sizeof(*results));
	for (size_t i = 0; i < count; i++)
		if (!may(worker, &changes[i], &results[i].err) && first.code == ERR_NONE)
			first = results[i].err;
	if (first.code == ERR_NONE)
		return true;
	for (size_t i = 0; i < count; i++)
		if (results[i].err.code == ERR_NONE)
			err_set(&results[i].err, ERR_ROLLED_BACK,
			        "Another change is forbidden, so this one was not made.");
	*err = first;
	return false;
}

/* A user namespace knows no other users and groups than one's own, not even the groups that one is
 * a member of besides: owners that could be kept without it cannot be kept in it. */
static void explain_owner(const struct worker *worker, struct err *err)
{
	struct err plain = *err;

	if (err->code == ERR_CANNOT_PRESERVE && worker->plan && worker->plan->user_namespace)
		err_set(err, plain.code, "%s Level full knows only the user's own group: it may "
		                         "work with --sandbox landlock.", plain.message);
}

static bool may_read_schema(const struct worker *worker, const char *path, struct err *err)
{
	return op_may(worker, path, SANDBOX_READ, false, err);
}

/* Of a CHANGE_DATA: an object with `edits` as structured_change takes them, and `document`; or
 * with `cells`, as structured_notebook_change does.  `schemas` false: none is looked for;
 * `schema_errors` true: one that cannot be judged by refuses nothing. */
static bool change_data(void *data, const char *path, struct span text, struct span request,
                        struct buf *out, char note[EDIT_NOTE_BYTES], struct err *err)
{
	const struct worker *worker = data;
	const enum structured_format format = structured_format_of(path, span_head(text, 512));
	json_auto_t *object = NULL;
	const json_t *cells, *document;

	if (!json_parse_foreign(request, JSON_DEPTH_MAX, &object, NULL, err))
		return false;
	cells = json_object_get(object, "cells");
	document = json_object_get(object, "document");
	if (cells)
		return structured_notebook_change(text, cells, out, err);
	if (!structured_change(format, text, json_object_get(object, "edits"),
	                       (unsigned)json_integer_value(document), out, err))
		return false;
	return json_is_false(json_object_get(object, "schemas")) ||
	       schema_guard(&(struct schema_guard){ .worker = worker, .path = path,
	                                            .may_read = may_read_schema,
	                                            .format = format, .before = text,
	                                            .after = buf_view(out),
	                                            .allow_errors = json_is_true(json_object_get(
	                                                    object, "schema_errors")) },
	                    note, err);
}

static bool op_edit(const struct worker *worker, const struct change *changes, size_t count,
                    const struct edit_options *options, struct change_result *results,
                    struct err *err)
{
	struct edit_options own = *options;

	if (!may_all(worker, changes, count, results, err))
		return false;
	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	own.commit.durability = worker->durability;
	own.journal_folder = worker->journal_folder;
	own.change_data = change_data;
	own.change_data_data = (void *)worker;
	if (edit_apply(worker->workspace, changes, count, &own, results, err))
		return true;
	explain_owner(worker, err);
	for (size_t i = 0; i < count; i++)
		explain_owner(worker, &results[i].err);
	return false;
}

/* ---- reading ---- */

/* The request within the worker's limits. */

static bool is_ignored(struct worker *worker, const struct read_request *request,
                       const char *path)
{
	const struct walk_rules rules = {
		.no_git_ignore = true, /* what is not kept in git may be what a question is about */
		.no_gemini_ignore = !request->gemini_ignore,
		.ignore_files = request->ignore_files,
		.ignore_file_count = request->ignore_file_count,
	};

	if (request->arrived && request->arrived == worker->none_ignored &&
	    !request->ignore_file_count)
		return false;
	if (!search_nothing_ignored(worker->workspace, &rules))
		return search_ignored(worker->workspace, path, &rules);
	if (request->gemini_ignore)
		worker->none_ignored = request->arrived;
	return false;
}

static bool refuse_ignored(const struct read_request *request, struct err *err)
{
	return err_set(err, ERR_IGNORED,
	               "%s is left out by .geminiignore or another of the user's ignore files.",
	               request->path);
}

static bool resolve_only(const struct worker *worker, const struct read_request *request,
                         struct read_result *ret, struct err *err)
{
	_cleanup_place_ struct place place = PLACE_INIT;

	if (!workspace_resolve(worker->workspace, request->path, PLACE_FILE, &place, err))
		return false;
	ret->state.path = mem_steal(&place.path);
	ret->line_endings = "none";
	return true;
}

/* A part of a file that no reader knows: NOT_TEXT with what it is, or it is text. */
static bool refuse_part(const struct worker *worker, const struct read_request *request,
                        struct read_result *ret, struct err *err)
{
	struct read_request plain = *request;

	plain.media = plain.raw = false;
	plain.max_lines = 1;
	if (!read_file(worker->workspace, &plain, ret, err))
		return false;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%s is plain text, which has no such parts: leave \"%s\" out, and read it "
	               "by lines.", ret->state.path, request->part ? "part" : "query");
}

/* As text, or what the request takes for it, or what a reader of its format makes of it: which is
 * known by the name, by what was read, or because it could not be. */
static bool read_or_derive(const struct worker *worker, const struct read_request *request,
                           struct read_result *ret, struct err *err)
{
	const bool part = request->start_line || request->end_line || request->encoding;
	const bool may = request->derive == READ_DERIVE_USUAL || request->derive == READ_DERIVE_ALL;
	const bool early = request->derive == READ_DERIVE_ALL ||
	                   (may && !part && derive_name_suggests(request->path));
	bool known = false, ok;

	ok = early && op_derive(worker, request, &known, ret, err);
	if (known)
		return ok;
	if (request->derive == READ_DERIVE_ALL)
		return refuse_part(worker, request, ret, err);
	ok = read_file(worker->workspace, request, ret, err);
	if (!may || early || ret->not_at_once)
		return ok;
	if (ok ? !part &&
	                 derive_knows(buf_view(&ret->content), request->path) == DERIVE_ONLY :
	         err->code == ERR_NOT_TEXT || err->code == ERR_TOO_LARGE)
		ok = op_derive(worker, request, &known, ret, err) || (ok && !known);
	return ok;
}

static bool op_read(struct worker *worker, const struct read_request *request,
                    struct read_result *ret, struct err *err)
{
	struct read_request own = *request;

	*ret = (struct read_result){ 0 };
	if (!op_may(worker, request->path, SANDBOX_READ, false, err))
		return false;
	if (request->resolve)
		return resolve_only(worker, request, ret, err);
	if (is_ignored(worker, request, request->path))
		return refuse_ignored(request, err);
	if (!own.max_file_bytes || (worker->max_file_bytes &&
	                            own.max_file_bytes > worker->max_file_bytes))
		own.max_file_bytes = worker->max_file_bytes;
	if (!read_or_derive(worker, &own, ret, err))
		return false;
	/* A link may have changed since: the file that was opened is what counts. */
	if (strcmp(ret->state.path, request->path) == 0 ||
	    !is_ignored(worker, request, ret->state.path))
		return true;
	read_result_release(ret);
	*ret = (struct read_result){ 0 };
	return refuse_ignored(request, err);
}

/* ---- searching the contents of files ---- */

/* Files that are hidden by a rule and not by the kernel (level paths). */
static void leave_out_hidden(const struct worker *worker, struct search_result *result)
{
	size_t kept = 0;

	for (size_t i = 0; i < result->count; i++) {
		struct file_match *file = &result->files[i];

		if (!op_is_hidden(worker, result->folder, file->path)) {
			result->files[kept++] = *file;
			continue;
		}
		for (size_t line = 0; line < file->line_count; line++)
			result->matches -= file->lines[line].match;
		result->unreadable++;
		free(file->path);
		free(file->lines);
		free(file->text);
	}
	result->count = kept;
}

static bool op_search(const struct worker *worker, struct search_cache *cache,
                      const struct search_request *request, struct search_result *ret,
                      struct err *err)
{
	/* The folder or file itself: that the path leads to something hidden is reported. */
	if (!op_may(worker, request->path, SANDBOX_READ, false, err) ||
	    !search(worker->workspace, cache, request, ret, err))
		return false;
	if (worker->plan && worker->hides && !ret->one_file)
		leave_out_hidden(worker, ret);
	return true;
}

/* ---- listing and finding files ---- */

/* `cache` may be NULL. */
static bool op_walk(const struct worker *worker, struct search_cache *cache,
                    const struct walk_request *request, struct walk_result *ret, struct err *err)
{
	return op_may(worker, request->path, SANDBOX_READ, false, err) &&
	       walk(worker->workspace, cache, request, ret, err);
}

/* ---- the provider ---- */

struct inprocess {
	struct provider provider; /* first: the two are cast into each other */
	struct worker worker;
	bool keep_cache;
	pthread_mutex_t cache_lock; /* of `cache`: the pointer, not what it points to */
	struct search_cache *cache; /* owned; made by the first search, NULL before */
	struct watcher *watcher;    /* owned */
	struct provider_info info;
};

static struct worker *worker_of(struct provider *provider)
{
	return &((struct inprocess *)provider)->worker;
}

static bool inprocess_end(struct provider *provider, struct provider_request *request,
                          struct err *err)
{
	return request->read ?
	               op_read(worker_of(provider), request->read, request->read_result, err) :
	               op_edit(worker_of(provider), request->changes, request->count,
	                       request->options, request->results, err);
}

static struct search_cache *cache_of(struct inprocess *own)
{
	struct search_cache *cache;

	if (!own->keep_cache)
		return NULL;
	pthread_mutex_lock(&own->cache_lock);
	if (!own->cache)
		own->cache = search_cache_new(own->worker.workspace,
		                              &(struct search_cache_options){ 0 });
	cache = own->cache;
	pthread_mutex_unlock(&own->cache_lock);
	return cache;
}

static bool inprocess_walk(struct provider *provider, const struct walk_request *request,
                           struct walk_result *ret, struct err *err)
{
	struct inprocess *own = (struct inprocess *)provider;

	return op_walk(&own->worker, request->recursive ? cache_of(own) : NULL, request, ret, err);
}

static bool inprocess_search(struct provider *provider, const struct search_request *request,
                             struct search_result *ret, struct err *err)
{
	struct inprocess *own = (struct inprocess *)provider;

	return op_search(&own->worker, cache_of(own), request, ret, err);
}

static bool inprocess_watch(struct provider *provider, const struct watch_request *request,
                            struct provider_watch **ret, struct err *err)
{
	return op_watch(((struct inprocess *)provider)->watcher, request, ret, err);
}

static void inprocess_unwatch(struct provider *provider, struct provider_watch *watch)
{
	op_watch_end(((struct inprocess *)provider)->watcher, watch);
}

static const char *inprocess_root(struct provider *provider, size_t i)
{
	const struct workspace *ws = worker_of(provider)->workspace;

	return i < workspace_root_count(ws) ? workspace_root_path(ws, i) : NULL;
}

static bool inprocess_run(struct provider *provider, const struct run_request *request,
                          const struct run_events *events, void *data, struct run **ret,
                          struct err *err)
{
	const struct worker *worker = worker_of(provider);

	if (worker->plan && worker->plan->use != SANDBOX_USE_COMMAND)
		return err_set(err, ERR_DENIED_BY_SANDBOX, "No commands run here.");
	return op_run(worker, worker->plan, request, events, data, ret, err);
}

static const struct provider_info *inprocess_info(struct provider *provider)
{
	return &((struct inprocess *)provider)->info;
}

static void inprocess_free(struct provider *provider)
{
	struct inprocess *own = (struct inprocess *)provider;

	op_watch_free(own->watcher);
	search_cache_free(own->cache);
	pthread_mutex_destroy(&own->cache_lock);
	if (own->worker.workspace)
		workspace_free(own->worker.workspace);
	free(own->worker.journal_folder);
	free(own);
}

static const struct provider_ops ops = {
	.name = "in-process",
	.end = inprocess_end,
	.walk = inprocess_walk,
	.search = inprocess_search,
	.watch = inprocess_watch,
	.unwatch = inprocess_unwatch,
	.run = inprocess_run,
	.info = inprocess_info,
	.root = inprocess_root,
	.free = inprocess_free,
};

/* What a transaction that was cut short left behind is for those who edit files. */
static bool recover(const struct worker *worker, size_t *ret, struct err *err)
{
	if (!worker->journal_folder ||
	    (worker->plan && worker->plan->use == SANDBOX_USE_COMMAND))
		return true;
	return transaction_recover(worker->workspace, worker->journal_folder, ret, err);
}

bool inprocess_provider(const struct inprocess_options *options, struct provider **ret,
                        struct err *err)
{
	const struct sandbox_plan *plan = options->plan;
	struct inprocess *own = mem_alloc(1, sizeof(*own));
	struct worker *worker = &own->worker;
	size_t recovered = 0;

	own->provider.ops = &ops;
	own->keep_cache = options->keep_cache;
	pthread_mutex_init(&own->cache_lock, NULL);
	worker->journal_folder = mem_strdup(options->journal_folder);
	worker->durability = options->durability;
	worker->max_file_bytes = options->max_file_bytes;
	worker->plan = plan;
	worker->recall = options->recall;
	own->info = (struct provider_info){ "in-process", plan ? plan->level : SANDBOX_PATHS,
		                            plan ? plan->weaker_because : NULL };
	if (!workspace_open(options->roots, options->root_count, &worker->workspace, err) ||
	    !recover(worker, &recovered, err)) {
		provider_free(&own->provider);
		return false;
	}
	for (size_t i = 0; i < options->read_count; i++)
		workspace_add_read_only(worker->workspace, options->read[i]);
	for (size_t i = 0; i + 1 < options->root_name_count; i += 2)
		workspace_name_root(worker->workspace, options->root_names[i],
		                    options->root_names[i + 1]);
	worker->hides = plan && plan_hides_beneath(plan, worker->workspace);
	own->watcher = op_watch_new(worker->workspace);
	if (options->ret_recovered)
		*options->ret_recovered = recovered;
	*ret = &own->provider;
	return true;
}
