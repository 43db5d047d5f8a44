/* SPDX-License-Identifier: Apache-2.0 */
/* Listing one folder. */
#include <errno.h>
#include <fcntl.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "search/list.h"
#include "search/scan/listing.h"

static int compare_folders_first(const void *a, const void *b)
{
	const struct walk_entry *x = a, *y = b;

	if ((x->kind == ENTRY_FOLDER) != (y->kind == ENTRY_FOLDER))
		return x->kind == ENTRY_FOLDER ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* Whether the entry, whose path beneath the root is in `path`, is part of the answer. */
static bool is_wanted(struct walker *w, const struct chain_base *base, const struct chain *chain,
                      struct span path, bool is_folder)
{
	struct span relative = span_skip(path, w->start_len);

	if (chain_ignores(base, chain, path, is_folder) ||
	    glob_list_match(&w->exclude, relative)) {
		w->result.ignored++;
		return false;
	}
	return w->include.count == 0 || is_folder || glob_list_match(&w->include, relative);
}

static void filter(struct walker *w, int fd, const struct listing *listing,
                   const struct chain_base *base, const struct chain *chain)
{
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES + 512);

	buf_str(&path, w->start->folder);
	for (size_t i = 0; i < listing->count; i++) {
		const struct listing_entry *entry = &listing->entries[i];
		struct walk_entry found;

		path.len = w->start_len;
		if ((base->rules->hidden_out && entry->name[0] == '.') ||
		    !buf_append(&path, entry->name, entry->len) ||
		    !is_wanted(w, base, chain, buf_view(&path),
		               entry->type == ENTRY_TYPE_FOLDER) ||
		    !walker_stat(fd, entry->name, &found))
			continue;
		walker_add(w, mem_dup(entry->name, entry->len), found.kind, found.size,
		           found.modified_ns);
	}
}

static void settle(struct walker *w)
{
	struct walk_result *result = &w->result;

	if (result->count > 1)
		qsort(result->entries, result->count, sizeof(*result->entries),
		      compare_folders_first);
	while (result->count > w->max_entries) {
		free(result->entries[--result->count].path);
		result->more = true;
	}
}

bool list_folder(struct walker *w, struct err *err)
{
	const struct start *start = w->start;
	const struct chain_base base = start_base(start, &w->request->rules);
	_cleanup_fd_ int fd = place_open(&start->place, O_RDONLY | O_DIRECTORY);
	struct listing listing = { 0 };
	struct chain *above, *chain;

	if (fd < 0 || !listing_read(&listing, fd)) {
		listing_release(&listing);
		return err_set_errno(err, errno, "Cannot read the folder %s", start->place.path);
	}
	above = chain_approach(&base, start->folder);
	chain = chain_enter(&base, above, fd, span_str(start->folder), CHAIN_LOOK);
	filter(w, fd, &listing, &base, chain);
	chain_unref(chain);
	chain_unref(above);
	listing_release(&listing);
	settle(w);
	return true;
}
