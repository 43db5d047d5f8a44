/* SPDX-License-Identifier: Apache-2.0 */
/* The cache: which trees there are, and handing them out.
 *
 * Why an answer is true.  A tree handed out has taken in every event that was queued when it was
 * asked for, and the kernel queues an event before the call that made the change returns.
 * Every folder is watched before it is read, so a change that was not seen in reading
 * has an event.  An event makes a file unknown, or a folder to be read again (cached_events.c).
 * A signature is kept only when nothing is heard of its file from before it was opened until
 * it is kept; what is heard of later makes it unknown (cached_read.c).  When events are
 * lost, a folder cannot be watched, or something is mounted in the tree or on the way to
 * it, the tree is given up and, if it can be, built again.
 *
 * What no event tells, and what is done:
 *
 *   - Another name of a file, in a folder that is not watched, is written through.  Files that
 *     have several names when they are read, or get another one in the tree, are compared with
 *     the disk (inode, size, times) before each answer; beyond LINKED_FILES_MAX they have no
 *     signature.  A name made elsewhere later is noticed by the next sweep.
 *   - A shared mapping, or Linux' own asynchronous I/O (io_submit), is written through: the event
 *     comes when it is unmapped, or closed.  A sweep notices the time of modification, and the
 *     file then has no signature until an event says that it was closed.
 *   - A program goes on writing to a file that it opened under a name that was removed, or under
 *     none (O_TMPFILE), and that has got another: the sweep.
 *   - Other machines change the files (NFS, SMB, 9p), or a program answers for them (FUSE):
 *     such trees are not kept at all (watch_trusts).
 *
 * So there is a window for the first three: until the next sweep, which begins five seconds
 * after the last one if there was a search meanwhile, and later when sweeps take long
 * (keeper.c).
 */
#include "search/cache/cache.h"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/cache/keeper.h"

#define BYTES_DEFAULT ((size_t)128 << 20)
#define FILE_BYTES_DEFAULT ((size_t)64 << 20)
/* A tree that was not asked for in so long makes room for another one. */
enum { STALE_MS = 60000 };

struct search_cache *search_cache_new(const struct workspace *ws,
                                      const struct search_cache_options *options)
{
	struct search_cache *cache = mem_alloc(1, sizeof(*cache));
	pthread_condattr_t attributes;

	*cache = (struct search_cache){
		.ws = ws,
		.max_bytes = options->max_bytes > 0 ? options->max_bytes : BYTES_DEFAULT,
		.max_file_bytes = options->max_file_bytes > 0 ? options->max_file_bytes
		                                              : FILE_BYTES_DEFAULT,
		.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	pthread_mutex_init(&cache->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&cache->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return cache;
}

static void announce_changed(struct search_cache *cache)
{
	pthread_mutex_lock(&cache->lock);
	pthread_cond_broadcast(&cache->changed);
	pthread_mutex_unlock(&cache->lock);
}

void search_cache_free(struct search_cache *cache)
{
	if (!cache)
		return;
	atomic_store(&cache->stop, true);
	announce_changed(cache);
	if (cache->started) {
		keeper_wake(cache);
		pthread_join(cache->thread, NULL);
	}
	for (size_t i = 0; i < cache->count; i++)
		kept_tree_unref(cache->entries[i].tree);
	pthread_cond_destroy(&cache->changed);
	pthread_mutex_destroy(&cache->lock);
	fd_cleanup_close(&cache->wake);
	free(cache);
}

static struct kept_entry *find(struct search_cache *cache, size_t root,
                               const struct walk_rules *rules)
{
	for (size_t i = 0; i < cache->count; i++)
		if (kept_tree_is(cache->entries[i].tree, root, rules))
			return &cache->entries[i];
	return NULL;
}

/* A reference to a tree that can be handed out, or NULL. */
static struct kept_tree *find_ready(struct search_cache *cache, size_t root,
                                    const struct walk_rules *rules)
{
	struct kept_tree *tree = NULL;
	struct kept_entry *entry;
	const int64_t now = clock_ms();

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, root, rules);
	if (entry && entry->state == KEPT_READY) {
		if (cache->resting) {
			cache->resting = false;
			keeper_wake(cache);
		}
		entry->used_ms = now;
		tree = kept_tree_ref(entry->tree);
		atomic_fetch_add(&cache->searching, 1);
	}
	pthread_mutex_unlock(&cache->lock);
	return tree;
}

static void search_is_over(struct search_cache *cache)
{
	if (atomic_fetch_sub(&cache->searching, 1) > 1)
		return;
	atomic_store(&cache->impatient, false);
	announce_changed(cache);
}

struct cached_tree *search_cache_open(struct search_cache *cache, size_t root,
                                      const struct walk_rules *rules)
{
	struct kept_tree *tree = find_ready(cache, root, rules), *lost;
	struct cached_tree *snapshot;

	if (!tree)
		return NULL;
	snapshot = kept_tree_take(tree);
	if (!snapshot) {
		pthread_mutex_lock(&cache->lock);
		lost = keeper_remove(cache, tree);
		pthread_mutex_unlock(&cache->lock);
		kept_tree_unref(lost);
		search_is_over(cache);
	}
	kept_tree_unref(tree);
	return snapshot;
}

void search_cache_close(struct search_cache *cache, struct cached_tree *tree)
{
	kept_tree_give_back(tree);
	search_is_over(cache);
}

/* ---- wanting ---------------------------------------------------------------------- */

/* The entry that was asked for least recently. */
static struct kept_entry *oldest(struct search_cache *cache)
{
	struct kept_entry *oldest = &cache->entries[0];

	for (size_t i = 1; i < cache->count; i++)
		if (cache->entries[i].used_ms < oldest->used_ms)
			oldest = &cache->entries[i];
	return oldest;
}

/* Makes a place for another tree, and memory if others have not been used for a while. Returns
 * how many went; the references are the caller's, to let go of without the lock. */
static size_t make_room(struct search_cache *cache, struct kept_tree *gone[KEPT_TREES_MAX])
{
	const int64_t now = clock_ms();
	size_t count = 0, bytes = atomic_load(&cache->bytes);

	while (cache->count > 0 &&
	       (cache->count == KEPT_TREES_MAX ||
	        (bytes > cache->max_bytes / 2 && oldest(cache)->used_ms + STALE_MS < now))) {
		struct kept_tree *tree = keeper_remove(cache, oldest(cache)->tree);
		const size_t own = atomic_load(&tree->bytes);

		bytes -= own < bytes ? own : bytes;
		gone[count++] = tree;
	}
	return count;
}

static void add_wanted(struct search_cache *cache, size_t root, const struct walk_rules *rules)
{
	const struct tree_place place = {
		.root_fd = workspace_root_fd(cache->ws, root),
		.root_path = workspace_root_path(cache->ws, root),
		.root = root,
		.rules = rules,
		.max_file_bytes = cache->max_file_bytes,
		.max_bytes = cache->max_bytes,
		.bytes = &cache->bytes,
		.stop = &cache->stop,
	};

	cache->entries[cache->count++] = (struct kept_entry){
		.tree = kept_tree_new(&place),
		.state = KEPT_WANTED,
		.used_ms = clock_ms(),
	};
}

void search_cache_want(struct search_cache *cache, size_t root, const struct walk_rules *rules)
{
	const int64_t now = clock_ms();
	struct kept_tree *gone[KEPT_TREES_MAX];
	struct kept_entry *entry;
	size_t gone_count = 0;
	bool wake = false;

	pthread_mutex_lock(&cache->lock);
	entry = find(cache, root, rules);
	if (entry) {
		entry->used_ms = now;
		if (entry->state == KEPT_UNFIT && entry->retry_ms <= now) {
			entry->state = KEPT_WANTED;
			wake = true;
		}
	} else if (keeper_start(cache)) {
		gone_count = make_room(cache, gone);
		add_wanted(cache, root, rules);
		wake = true;
	}
	if (wake)
		keeper_wake(cache);
	pthread_mutex_unlock(&cache->lock);
	while (gone_count > 0)
		kept_tree_unref(gone[--gone_count]);
}

bool search_cache_settle(struct search_cache *cache, unsigned timeout_ms)
{
	struct timespec until;
	uint64_t number;
	bool settled;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += (time_t)(timeout_ms / 1000);
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	pthread_mutex_lock(&cache->lock);
	number = ++cache->asked;
	cache->settling++;
	if (cache->started)
		keeper_wake(cache);
	while (cache->started && cache->settled < number &&
	       pthread_cond_timedwait(&cache->changed, &cache->lock, &until) == 0)
		;
	settled = !cache->started || cache->settled >= number;
	cache->settling--;
	pthread_mutex_unlock(&cache->lock);
	return settled;
}
