/* SPDX-License-Identifier: Apache-2.0 */
/* A search of a tree that the cache knows: only files that may have a match are opened. */
#include <fcntl.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "search/cache/tree_range.h"
#include "search/scan/scan.h"
#include "search/seek.h"

/* Further threads are worth their start for so many files. */
enum { ENOUGH_FILES = 64 };

struct warm {
	struct job *job;
	struct tree_range range;
	uint64_t *bits;      /* owned; files to look into */
	atomic_size_t next;  /* folder that nobody has taken yet */
};

static bool has_bit(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* Takes away the files that are not asked for; counts those that are, and those left. */
static void narrow(struct warm *warm, size_t *ret_asked, size_t *ret_left)
{
	const struct job *job = warm->job;
	const bool all = job->include.count == 0 && job->types.count == 0 &&
	                 job->exclude.count == 0;
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES + 512);

	*ret_asked = *ret_left = 0;
	for (size_t i = warm->range.begin; i < warm->range.end; i++) {
		const struct cached_folder *folder = &warm->range.folders[i];
		const size_t len = strlen(folder->path);
		const bool out = tree_range_excludes(&job->exclude, span_of(folder->path, len),
		                                     job->start_len);
		bool excluded;

		path.len = 0;
		buf_append(&path, folder->path, len);
		for (size_t j = 0; j < folder->count; j++) {
			const size_t file = folder->first + j;

			path.len = len;
			if (all || (!out && buf_str(&path, folder->names[j]) &&
			            job_wants(job, buf_view(&path), false, &excluded))) {
				++*ret_asked;
				*ret_left += has_bit(warm->bits, file);
			} else {
				warm->bits[file / 64] &= ~((uint64_t)1 << (file % 64));
			}
		}
	}
}

static bool has_files(const struct warm *warm, const struct cached_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++)
		if (has_bit(warm->bits, folder->first + i))
			return true;
	return false;
}

static void seek_folder(struct warm *warm, struct seeker *seeker, int root,
                        const struct cached_folder *folder)
{
	struct job *job = warm->job;
	struct span path = span_str(folder->path);
	_cleanup_fd_ int fd = chain_open(root, path.len > 0 ? folder->path : ".",
	                                 O_RDONLY | O_DIRECTORY);

	if (fd < 0) {
		atomic_fetch_add(&job->unreadable, 1);
		return;
	}
	seeker_enter(seeker, fd);
	for (size_t i = 0; i < folder->count && !atomic_load(&job->stop); i++)
		if (has_bit(warm->bits, folder->first + i))
			seek_file(seeker, fd, path, folder->names[i]);
}

static void seek_folders(struct warm *warm)
{
	struct job *job = warm->job;
	struct seeker seeker;

	seeker_init(&seeker, job);
	while (!atomic_load(&job->stop)) {
		const size_t i = atomic_fetch_add(&warm->next, 1);
		const struct cached_folder *folder = &warm->range.folders[i];

		if (i >= warm->range.end)
			break;
		if (has_files(warm, folder) &&
		    !hits_is_past(&job->hits, folder->path + job->start_len))
			seek_folder(warm, &seeker, job->start->root_fd, folder);
	}
	seeker_release(&seeker);
}

static void *run_thread(void *data)
{
	struct warm *warm = data;

	pthread_setname_np(pthread_self(), "hasp-search");
	scan_own_descriptors(warm->job->start->root_fd);
	seek_folders(warm);
	return NULL;
}

static void run_threads(struct warm *warm, size_t files)
{
	const struct scan scan = { .threads = warm->job->request->threads };
	const unsigned count = files < ENOUGH_FILES ? 1 : scan_threads(&scan);
	pthread_t threads[SCAN_THREADS_MAX];
	unsigned started = 0;

	while (started + 1 < count &&
	       pthread_create(&threads[started], NULL, run_thread, warm) == 0)
		started++;
	seek_folders(warm);
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

static void seek_tree(struct warm *warm, const struct cached_tree *tree)
{
	const size_t files = cached_tree_files(tree);
	size_t asked, candidates;

	warm->bits = mem_alloc(files / 64 + 1, sizeof(uint64_t));
	cached_tree_select(tree, matcher_needs(warm->job->matcher), warm->bits);
	narrow(warm, &asked, &candidates);
	atomic_fetch_add(&warm->job->searched, asked - candidates);
	atomic_fetch_add(&warm->job->unreadable, cached_tree_unreadable(tree));
	atomic_init(&warm->next, warm->range.begin);
	run_threads(warm, candidates);
	free(warm->bits);
}

bool seek_cached(struct job *job, struct search_cache *cache)
{
	struct warm warm = { .job = job };
	struct cached_tree *tree =
		search_cache_open(cache, job->start->root, &job->request->rules);
	bool found;

	if (!tree)
		return false;
	found = tree_range_find(tree, job->start->folder, &warm.range);
	if (found)
		seek_tree(&warm, tree);
	search_cache_close(cache, tree);
	return found;
}
