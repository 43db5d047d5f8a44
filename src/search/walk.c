/* SPDX-License-Identifier: Apache-2.0 */
#include "search/walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "search/list.h"
#include "search/scan/listing.h"

#define ENTRIES_DEFAULT 100000

void walk_result_release(struct walk_result *result)
{
	for (size_t i = 0; i < result->count; i++)
		free(result->entries[i].path);
	free(result->entries);
	free(result->folder);
	free(result->denied_why);
	*result = (struct walk_result){ 0 };
}

void walker_add(struct walker *w, char *path, enum entry_kind kind, uint64_t size,
                int64_t modified_ns)
{
	struct walk_result *result = &w->result;

	if (result->count == w->entry_cap)
		result->entries = mem_grow(result->entries, &w->entry_cap, result->count + 1,
		                           sizeof(*result->entries));
	result->entries[result->count++] =
		(struct walk_entry){ path, kind, size, modified_ns };
}

bool walker_stat(int folder, const char *name, struct walk_entry *ret)
{
	static const enum entry_kind kinds[] = {
		[ENTRY_TYPE_FILE] = ENTRY_FILE,
		[ENTRY_TYPE_FOLDER] = ENTRY_FOLDER,
		[ENTRY_TYPE_LINK] = ENTRY_LINK,
		[ENTRY_TYPE_OTHER] = ENTRY_OTHER,
	};
	struct stat st;

	if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return false;
	ret->kind = kinds[entry_type_of_mode(st.st_mode)];
	ret->size = ret->kind == ENTRY_FILE ? (uint64_t)st.st_size : 0;
	ret->modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	return true;
}

static bool compile_globs(struct walker *w, struct err *err)
{
	const struct walk_request *request = w->request;
	const unsigned flags =
		GLOB_BASENAME | (request->ignore_case ? (unsigned)GLOB_IGNORE_CASE : 0);

	return glob_list_add(&w->include, request->include, request->include_count, flags,
	                     /* whole_folders= */ false, err) &&
	       glob_list_add(&w->exclude, request->exclude, request->exclude_count, flags,
	                     /* whole_folders= */ request->recursive, err);
}

static bool run(struct walker *w, struct search_cache *cache, struct err *err)
{
	if (!compile_globs(w, err))
		return false;
	if (w->start->is_file)
		return err_set(err, ERR_NOT_A_DIRECTORY, "%s is not a folder.",
		               w->start->place.path);
	w->start_len = strlen(w->start->folder);
	return w->request->recursive ? list_tree(w, cache, err) : list_folder(w, err);
}

bool walk(const struct workspace *ws, struct search_cache *cache,
          const struct walk_request *request, struct walk_result *ret, struct err *err)
{
	_cleanup_start_ struct start start = START_INIT;
	struct walker walker = {
		.request = request,
		.start = &start,
		.max_entries = request->max_entries > 0 ? request->max_entries : ENTRIES_DEFAULT,
	};
	bool good = start_find(&start, ws, request->path, &request->rules, err) &&
	            run(&walker, cache, err);

	if (good) {
		*ret = walker.result;
		ret->folder = mem_steal(&start.place.path);
	} else {
		walk_result_release(&walker.result);
	}
	glob_list_release(&walker.include);
	glob_list_release(&walker.exclude);
	return good;
}
