/* SPDX-License-Identifier: Apache-2.0 */
/* Several files as one change, some of them or all outside of the workspace: one worker makes it,
 * all or nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "diff/diff.h"
#include "tool/private.h"

enum { KEY_MAX = 1 << 20 };

/* One change, and where its paths lead. */
struct leg {
	char *path, *to;         /* owned; canonical; NULL: it leads nowhere, or there is none */
	bool outside, to_outside;
};

/* All of them. */
struct spread {
	struct leg *legs;        /* owned */
	size_t count;
	bool inside_too;         /* some path is in the workspace */
	struct outside_places places; /* owned; the permissions needed; canonical */
	const char **folders;    /* owned; those of the files outside, each once */
	size_t folder_count, folder_cap;
};

static void spread_release(struct spread *spread)
{
	for (size_t i = 0; i < spread->count; i++) {
		free(spread->legs[i].path);
		free(spread->legs[i].to);
	}
	for (size_t i = 0; i < spread->folder_count; i++)
		free((char *)spread->folders[i]);
	free(spread->legs);
	free(spread->folders);
	outside_places_release(&spread->places);
}

/* ---- where the paths lead ---------------------------------------------------------- */

/* Paths in the workspace are resolved by its provider.  Those that it refuses as outside are
 * resolved here, and so are those that only it serves outside its roots (plans). */
static char *leg_resolve(const struct outside *outside, const char *path, bool *ret_outside)
{
	const struct read_request request = { .path = path, .resolve = true };
	struct provider *base = outside->front.base;
	_cleanup_location_ struct location at = { 0 };
	struct read_result result = { 0 };
	struct err err = ERR_INIT;
	char *found = NULL;

	*ret_outside = false;
	if (provider_read(base, &request, &result, &err)) {
		found = mem_strdup(result.state.path);
		*ret_outside = !outside_is_inside(outside, found);
	} else if (err.code == ERR_OUTSIDE_WORKSPACE) {
		*ret_outside = true;
		outside_resolve(outside, path, &at);
		found = mem_steal(&at.path);
	}
	read_result_release(&result);
	return found;
}

static enum outside_kind kind_of_change(const struct change *change)
{
	return change->kind == CHANGE_DELETE ? OUTSIDE_REMOVE :
	       change->kind == CHANGE_MOVE ? OUTSIDE_MOVE : OUTSIDE_WRITE;
}

static void spread_add_folder(struct spread *spread, const char *path)
{
	const size_t above = location_above(path, strlen(path));
	_cleanup_free_ char *folder = mem_dup(path, above ? above : 1);

	for (size_t i = 0; i < spread->folder_count; i++)
		if (strcmp(spread->folders[i], folder) == 0)
			return;
	spread->folders = mem_grow(spread->folders, &spread->folder_cap, spread->folder_count + 1,
	                           sizeof(*spread->folders));
	spread->folders[spread->folder_count++] = mem_steal(&folder);
}

/* Whether all that it does outside is allowed; notes what is not. */
static bool leg_is_allowed(struct outside *outside, struct spread *spread, const struct leg *leg,
                           const struct change *change)
{
	const enum outside_kind kind = kind_of_change(change);
	const struct outside_place wanted = { leg->path, kind, leg->to };
	const char *to = kind == OUTSIDE_MOVE ? change->new_path : NULL;
	const struct outside_place named = { (char *)change->path, kind, (char *)to };

	if (!leg->outside && !leg->to_outside)
		return true;
	/* A move out of the workspace is noted, for the refusal, and never allowed. */
	if (leg->outside && leg->path && (kind != OUTSIDE_MOVE || leg->to) &&
	    outside_allowed(outside, &wanted)) {
		outside_add(&spread->places, &wanted);
		spread_add_folder(spread, leg->path);
		if (leg->to_outside)
			spread_add_folder(spread, leg->to);
		return true;
	}
	outside_note(outside, &named);
	return false;
}

/* Whether all of it is allowed. */
static bool spread_make(struct outside *outside, const struct change *changes, size_t count,
                        struct spread *ret)
{
	bool allowed = true;

	ret->legs = mem_alloc(count, sizeof(*ret->legs));
	ret->count = count;
	for (size_t i = 0; i < count; i++) {
		struct leg *leg = &ret->legs[i];

		if (!changes[i].path || (changes[i].kind == CHANGE_MOVE && !changes[i].new_path))
			return false;
		leg->path = leg_resolve(outside, changes[i].path, &leg->outside);
		if (changes[i].kind == CHANGE_MOVE)
			leg->to = leg_resolve(outside, changes[i].new_path, &leg->to_outside);
		ret->inside_too |= !leg->outside ||
		                   (changes[i].kind == CHANGE_MOVE && !leg->to_outside);
		allowed &= leg_is_allowed(outside, ret, leg, &changes[i]);
	}
	return allowed && ret->places.count;
}

/* ---- the worker -------------------------------------------------------------------- */

/* What the worker is for, as text; no folder's path begins so. */
static char *spread_key(const struct spread *spread)
{
	_cleanup_buf_ struct buf key = BUF_INIT(KEY_MAX);

	buf_str(&key, spread->inside_too ? "both" : "outside");
	for (size_t i = 0; i < spread->places.count; i++) {
		const struct outside_place *place = &spread->places.all[i];

		buf_printf(&key, "%d", (int)place->kind);
		buf_append(&key, place->path, strlen(place->path) + 1);
		if (place->to)
			buf_append(&key, place->to, strlen(place->to) + 1);
	}
	for (size_t i = 0; i < key.len; i++)
		if (key.data[i] == '\0')
			key.data[i] = '\n';
	return key.overflowed ? NULL : buf_steal(&key);
}

static struct provider *spread_worker(struct outside *outside, const struct spread *spread,
                                      struct err *err)
{
	static const enum outside_file_kind kinds[] = {
		[OUTSIDE_WRITE] = OUTSIDE_FILE_WRITE, [OUTSIDE_REMOVE] = OUTSIDE_FILE_REMOVE,
		[OUTSIDE_MOVE] = OUTSIDE_FILE_MOVE,
	};
	const size_t count = spread->places.count;
	_cleanup_free_ struct outside_file *files = mem_alloc(count, sizeof(*files));
	_cleanup_free_ char *key = spread_key(spread);
	const struct outside_request request = {
		.folders = spread->folders, .folder_count = spread->folder_count, .write = true,
		.with_roots = spread->inside_too, .files = files, .file_count = count,
	};

	for (size_t i = 0; i < count; i++) {
		const struct outside_place *place = &spread->places.all[i];

		files[i] = (struct outside_file){ kinds[place->kind], place->path, place->to };
	}
	if (key)
		return outside_worker(outside, key, &request, err);
	err_set(err, ERR_TOO_LARGE, "The change names too much outside the workspace.");
	return NULL;
}

/* Paths that the rules have judged keep their recorded targets; those outside are replaced by their
 * targets. */
static struct change *spread_changes(const struct spread *spread, const struct change *changes)
{
	struct change *own = mem_alloc(spread->count, sizeof(*own));

	for (size_t i = 0; i < spread->count; i++) {
		const struct leg *leg = &spread->legs[i];

		own[i] = changes[i];
		if (!own[i].resolved)
			own[i].resolved = leg->path ? leg->path : "";
		if (leg->outside)
			own[i].path = leg->path;
		if (own[i].kind != CHANGE_MOVE)
			continue;
		if (!own[i].new_resolved)
			own[i].new_resolved = leg->to ? leg->to : "";
		if (leg->to_outside)
			own[i].new_path = leg->to;
	}
	return own;
}

/* ---- what is shown ----------------------------------------------------------------- */

static bool label_is_plain(const char *path)
{
	for (; *path; path++)
		if ((unsigned char)*path < ' ' || *path == '"' || *path == '\\')
			return false;
	return true;
}

void outside_change_name_diff(struct buf *diff, const char *path)
{
	static const struct {
		const char *marker, *prefix;
	} names[] = { { "--- ", "a/" }, { "+++ ", "b/" } };
	struct buf named = BUF_INIT(LIMIT_RESULT_BYTES);
	struct span rest = buf_view(diff), line;

	for (size_t i = 0; i < ARRAY_LEN(names) && line_next(&rest, &line); i++) {
		_cleanup_free_ char *name = mem_printf("%s%s", names[i].prefix, path);

		if (span_starts(span_skip(line, strlen(names[i].marker)), SPAN("/dev/null")))
			buf_span(&named, line);
		else
			script_print_name(&named, names[i].marker, name);
	}
	buf_span(&named, rest);
	buf_release(diff);
	*diff = named;
}

static void name_move(struct buf *diff, const struct leg *leg)
{
	struct buf named = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!label_is_plain(leg->path) || !label_is_plain(leg->to))
		return;
	buf_printf(&named,
	           "diff --git a/%s b/%s\nsimilarity index 100%%\nrename from %s\nrename to %s\n",
	           leg->path, leg->to, leg->path, leg->to);
	buf_release(diff);
	*diff = named;
}

static void name_diffs(const struct spread *spread, const struct change *changes,
                       struct change_result *results)
{
	for (size_t i = 0; i < spread->count; i++) {
		const struct leg *leg = &spread->legs[i];

		if (!results[i].diff.len || !(leg->outside || leg->to_outside))
			continue;
		if (changes[i].kind == CHANGE_MOVE)
			name_move(&results[i].diff, leg);
		else
			outside_change_name_diff(&results[i].diff, leg->path);
	}
}

/* ---- the change -------------------------------------------------------------------- */

/* The worker has ended, perhaps in the middle of a change, which the next one completes or undoes
 * when it starts. */
static void recover_now(struct provider *provider, const struct spread *spread)
{
	const struct read_request request = { .path = spread->places.all[0].path,
		                              .resolve = true };
	struct read_result result = { 0 };
	struct err ignored = ERR_INIT;

	provider_read(provider, &request, &result, &ignored);
	read_result_release(&result);
}

static bool change_in_worker(struct provider *provider, const struct spread *spread,
                             const struct change *changes, const struct edit_options *options,
                             struct change_result *results, struct err *err)
{
	_cleanup_free_ struct change *own = spread_changes(spread, changes);

	for (size_t i = 0; i < spread->count; i++) {
		change_result_release(&results[i]);
		results[i] = (struct change_result){ 0 };
	}
	*err = (struct err)ERR_INIT;
	if (provider_edit(provider, own, spread->count, options, results, err)) {
		name_diffs(spread, changes, results);
		return true;
	}
	if (err->code == ERR_WORKER_LOST)
		recover_now(provider, spread);
	return false;
}

static bool any_refused(const struct change_result *results, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (results[i].err.code == ERR_OUTSIDE_WORKSPACE)
			return true;
	return false;
}

bool outside_change(struct outside *outside, const struct change *changes, size_t count,
                    const struct edit_options *options, struct change_result *results,
                    struct err *err)
{
	__attribute__((cleanup(spread_release))) struct spread spread = { 0 };
	struct provider *provider;
	struct err why = ERR_INIT;

	if (!any_refused(results, count) || !spread_make(outside, changes, count, &spread))
		return false;
	provider = spread_worker(outside, &spread, &why);
	if (provider)
		return change_in_worker(provider, &spread, changes, options, results, err);
	*err = why;
	for (size_t i = 0; i < count; i++)
		if (results[i].err.code == ERR_OUTSIDE_WORKSPACE)
			results[i].err = why;
	return false;
}
