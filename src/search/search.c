/* SPDX-License-Identifier: Apache-2.0 */
/* A search of a tree that the cache knows, or of one that is read from disk. */
#include "search/search.h"

#include <fcntl.h>
#include <time.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "search/cache/cache.h"
#include "search/private.h"
#include "search/rules/glob.h"
#include "search/scan/scan.h"

/* ---- a tree that the cache knows ---- */

/* Further threads are worth their start for so many files. */
enum { ENOUGH_FILES = 64 };

struct warm {
	struct search_job *job;
	struct tree_range range;
	uint64_t *bits;      /* owned; files to look into */
	atomic_size_t next;  /* folder that no thread has taken yet */
};

/* Whether a file, or what is beneath a folder, is asked for; `path` is relative to the root. */
static bool job_asks_for(const struct search_job *job, struct span path, bool is_folder,
                      bool *ret_excluded)
{
	struct span relative = span_skip(path, job->start_len);

	*ret_excluded = glob_list_match(&job->exclude, relative);
	if (*ret_excluded)
		return false;
	if (is_folder)
		return job->include.count == 0 ||
		       glob_list_may_match_beneath(&job->include, relative);
	return (job->include.count == 0 || glob_list_match(&job->include, relative)) &&
	       (job->types.count == 0 || glob_list_match(&job->types, relative));
}

static bool has_bit(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

/* Takes away the files that are not asked for; counts those that are, and those left. */
static void narrow(struct warm *warm, size_t *ret_asked, size_t *ret_left)
{
	const struct search_job *job = warm->job;
	const bool all = job->include.count == 0 && job->types.count == 0 &&
	                 job->exclude.count == 0;
	_cleanup_buf_ struct buf path = BUF_INIT(LIMIT_PATH_BYTES + 512);

	*ret_asked = *ret_left = 0;
	for (size_t i = warm->range.begin; i < warm->range.end; i++) {
		const struct cached_folder *folder = &warm->range.folders[i];
		const size_t len = strlen(folder->path);
		const bool out = cache_range_excludes(&job->exclude, span_of(folder->path, len),
		                                      job->start_len);
		bool excluded;

		path.len = 0;
		buf_append(&path, folder->path, len);
		for (size_t j = 0; j < folder->count; j++) {
			const size_t file = folder->first + j;

			path.len = len;
			if (all || (!out && buf_str(&path, folder->names[j]) &&
			            job_asks_for(job, buf_view(&path), false, &excluded))) {
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

static void seek_folder(struct warm *warm, struct search_seeker *seeker, int root,
                        const struct cached_folder *folder)
{
	struct search_job *job = warm->job;
	struct span path = span_str(folder->path);
	_cleanup_fd_ int fd = chain_open(root, path.len > 0 ? folder->path : ".",
	                                 O_RDONLY | O_DIRECTORY);

	if (fd < 0) {
		atomic_fetch_add(&job->unreadable, 1);
		return;
	}
	search_seeker_enter(seeker, fd);
	for (size_t i = 0; i < folder->count && !atomic_load(&job->stop); i++)
		if (has_bit(warm->bits, folder->first + i))
			seek_file(seeker, fd, path, folder->names[i]);
}

static void seek_folders(struct warm *warm)
{
	struct search_job *job = warm->job;
	struct search_seeker seeker;

	search_seeker_init(&seeker, job);
	while (!atomic_load(&job->stop)) {
		const size_t i = atomic_fetch_add(&warm->next, 1);
		const struct cached_folder *folder = &warm->range.folders[i];

		if (i >= warm->range.end)
			break;
		if (has_files(warm, folder) &&
		    !hits_is_past(&job->hits, folder->path + job->start_len))
			seek_folder(warm, &seeker, job->start->root_fd, folder);
	}
	search_seeker_release(&seeker);
}

static void *search_run_thread(void *data)
{
	struct warm *warm = data;

	pthread_setname_np(pthread_self(), "hasp-search");
	scan_own_descriptors(warm->job->start->root_fd);
	seek_folders(warm);
	return NULL;
}

static void run_threads(struct warm *warm, size_t files)
{
	const struct tree_scan scan = { .threads = warm->job->request->threads };
	const unsigned count = files < ENOUGH_FILES ? 1 : scan_threads(&scan);
	pthread_t threads[SCAN_THREADS_MAX];
	unsigned started = 0;

	while (started + 1 < count &&
	       pthread_create(&threads[started], NULL, search_run_thread, warm) == 0)
		started++;
	seek_folders(warm);
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

/* Runs the job on the tree as the cache has it; false when it has not. */
static bool seek_cached(struct search_job *job, struct search_cache *cache)
{
	struct warm warm = { .job = job };
	struct cached_tree *tree =
		search_cache_open(cache, job->start->root, &job->request->rules);
	bool found;

	if (!tree)
		return false;
	found = cache_range_find(tree, job->start->folder, &warm.range);
	if (found) {
		const size_t files = cached_tree_files(tree);
		size_t asked, candidates;

		warm.bits = mem_alloc(files / 64 + 1, sizeof(uint64_t));
		cached_tree_select(tree, matcher_needs_of(warm.job->matcher), warm.bits);
		narrow(&warm, &asked, &candidates);
		atomic_fetch_add(&warm.job->searched, asked - candidates);
		atomic_fetch_add(&warm.job->unreadable, cached_tree_unreadable(tree));
		atomic_init(&warm.next, warm.range.begin);
		run_threads(&warm, candidates);
		free(warm.bits);
	}
	search_cache_close(cache, tree);
	return found;
}

/* ---- the search ---- */

enum {
	MATCHES_DEFAULT = 1000,
	CONTEXT_MAX = 1000,
	LINE_BYTES_DEFAULT = 2000,
	TIMEOUT_DEFAULT_MS = 30000,
};
#define BYTES_DEFAULT ((size_t)8 << 20)

void search_result_release(struct search_result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		free(result->files[i].path);
		free(result->files[i].lines);
		free(result->files[i].text);
	}
	free(result->files);
	free(result->folder);
	free(result->too_hard_path);
	free(result->denied_why);
	*result = (struct search_result){ 0 };
}

/* A cold search: the threads of a scan, each with its seeker. */
struct cold {
	struct search_job *job;
	struct search_seeker seekers[SCAN_THREADS_MAX]; /* job NULL: not used yet */
};

static bool enter_for_search(void *data, int fd, const char *path, size_t path_len)
{
	struct cold *cold = data;

	(void)fd;
	return path_len <= cold->job->start_len ||
	       !hits_is_past(&cold->job->hits, path + cold->job->start_len);
}

static bool visit_for_search(void *data, unsigned thread, const struct scan_folder *folder)
{
	struct cold *cold = data;
	struct search_seeker *seeker = &cold->seekers[thread];
	struct search_job *job = cold->job;

	if (!seeker->job)
		search_seeker_init(seeker, job);
	if (folder->file_count > 0)
		search_seeker_enter(seeker, folder->fd);
	for (size_t i = 0; i < folder->file_count && !atomic_load(&job->stop); i++)
		seek_file(seeker, folder->fd, span_of(folder->path, folder->path_len),
		          folder->files[i]);
	return !atomic_load(&job->stop);
}

static enum scan_choice wanted_by_job(void *data, struct span path, bool is_folder)
{
	struct cold *cold = data;
	bool excluded;

	if (job_asks_for(cold->job, path, is_folder, &excluded))
		return SCAN_TAKE;
	return excluded ? SCAN_LEAVE_OUT : SCAN_PASS;
}

static void failed_in_search(void *data, const char *path, int sys_errno)
{
	(void)path;
	(void)sys_errno;
	atomic_fetch_add(&((struct cold *)data)->job->unreadable, 1);
}

static bool seek_cold(struct search_job *job, struct err *err)
{
	static const struct scan_visitor visitor = {
		enter_for_search, wanted_by_job, visit_for_search, failed_in_search
	};
	struct cold cold = { .job = job };
	const struct tree_scan scan = {
		.root = job->start->root_fd,
		.root_path = job->start->root_path,
		.start = job->start->folder,
		.rules = &job->request->rules,
		.global = job->start->global_rules,
		.visitor = &visitor,
		.data = &cold,
		.threads = job->request->threads,
	};
	bool good = scan_run(&scan, err);

	for (size_t i = 0; i < SCAN_THREADS_MAX; i++)
		if (cold.seekers[i].job)
			search_seeker_release(&cold.seekers[i]);
	return good;
}

/* An extension alone (".h", "*.h") as a glob, which the caller frees; NULL if it is not one. */
static char *extension_glob(const char *name)
{
	const char *dot = name[0] == '*' ? name + 1 : name;

	return dot[0] == '.' && dot[1] ? mem_printf("*%s", dot) : NULL;
}

static bool add_type(struct search_job *job, const char *name, struct err *err)
{
	_cleanup_free_ char *extension = extension_glob(name);
	const struct file_type *type = extension ? NULL : types_find(name);
	const char *const alone[] = { extension };
	const char *const *globs = type ? type->globs : alone;
	size_t count = type ? 0 : 1;

	if (!extension && !type)
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no file type \"%.80s\".", name);
	while (type && globs[count])
		count++;
	return glob_list_add(&job->types, globs, count, GLOB_BASENAME,
	                     /* whole_folders= */ false, err);
}

static bool prepare_job(struct search_job *job, struct err *err)
{
	const struct search_request *request = job->request;

	for (size_t i = 0; i < request->type_count; i++)
		if (!add_type(job, request->types[i], err))
			return false;
	return glob_list_add(&job->include, request->include, request->include_count,
	                     GLOB_BASENAME, /* whole_folders= */ false, err) &&
	       glob_list_add(&job->exclude, request->exclude, request->exclude_count,
	                     GLOB_BASENAME, /* whole_folders= */ true, err);
}

static bool run_search(struct search_job *job, struct search_cache *cache,
                       struct search_result *ret,
                       struct err *err)
{
	if (!prepare_job(job, err))
		return false;
	if (job->start->is_file) {
		/* The one file that is named. */
		struct search_seeker seeker;

		search_seeker_init(&seeker, job);
		search_seeker_enter(&seeker, job->start->place.folder);
		seek_file(&seeker, job->start->place.folder, span_str(job->start->folder),
		          job->start->place.leaf);
		search_seeker_release(&seeker);
	} else if (cache && seek_cached(job, cache)) {
		ret->from_cache = true;
	} else {
		if (!seek_cold(job, err))
			return false;
		if (cache)
			search_cache_want(cache, job->start->root, &job->request->rules);
	}
	if (atomic_load(&job->cancelled))
		return err_set(err, ERR_CANCELLED, "The search was cancelled.");
	if (job->hits.too_hard && job->hits.count == 0)
		return err_set(err, ERR_TOO_LARGE,
		               "The pattern takes too many steps in %.200s: it tries too many ways "
		               "to match the same text. Avoid nested repetition such as (a+)+.",
		               job->hits.too_hard);
	return true;
}

/* The request with its defaults filled in. */
static struct search_request search_complete_request(const struct search_request *request)
{
	struct search_request full = *request;

	if (full.max_matches == 0)
		full.max_matches = MATCHES_DEFAULT;
	if (full.max_line_bytes == 0)
		full.max_line_bytes = LINE_BYTES_DEFAULT;
	if (full.max_bytes == 0)
		full.max_bytes = BYTES_DEFAULT;
	if (full.timeout_ms == 0)
		full.timeout_ms = TIMEOUT_DEFAULT_MS;
	if (full.before > CONTEXT_MAX)
		full.before = CONTEXT_MAX;
	if (full.after > CONTEXT_MAX)
		full.after = CONTEXT_MAX;
	return full;
}

bool search(const struct workspace *ws, struct search_cache *cache,
            const struct search_request *request, struct search_result *ret, struct err *err)
{
	const struct search_request full = search_complete_request(request);
	_cleanup_start_ struct walk_start start = START_INIT;
	struct search_result result = { 0 };
	struct matcher *matcher = NULL;
	struct search_job job = { .request = &full, .start = &start, .began_us = search_now_us() };
	bool good;

	job.deadline_us = job.began_us + (long long)full.timeout_ms * 1000;
	if (!matcher_compile(&full.match, &matcher, err))
		return false;
	job.matcher = matcher;
	hits_init(&job.hits, &full);
	good = walk_start_find(&start, ws, full.path, &full.rules, err);
	if (good) {
		job.start_len = strlen(start.folder);
		good = run_search(&job, cache, &result, err);
	}
	if (good) {
		hits_finish(&job.hits, &result);
		result.timed_out = atomic_load(&job.timed_out);
		result.searched = atomic_load(&job.searched);
		result.unreadable = atomic_load(&job.unreadable);
		result.folder = mem_steal(&start.place.path);
		result.one_file = start.is_file;
		*ret = result;
	}
	hits_release(&job.hits);
	glob_list_release(&job.include);
	glob_list_release(&job.exclude);
	glob_list_release(&job.types);
	matcher_free(matcher);
	return good;
}
