/* SPDX-License-Identifier: Apache-2.0 */
/* The cache: which trees there are, and handing them out.
 *
 * Why an answer is true.  A tree handed out has taken in every event that was queued when it was
 * asked for, and the kernel queues an event before the call that made the change returns.
 * Every folder is watched before it is read, so a change that was not seen in reading
 * has an event.  An event makes a file unknown, or a folder to be read again (cached_tree.c).
 * A signature is kept only when nothing is heard of its file from before it was opened until
 * it is kept; what is heard of later makes it unknown (cached_read.c).  When events are
 * lost, a folder cannot be watched, or something is mounted in the tree or on the way to
 * it, the tree is given up and, if it can be, built again.
 *
 * Changes without an event, and what is done about them:
 *
 *   - Another name of a file, in a folder that is not watched, is written through.  Files that
 *     have several names when they are read, or get a second name in the tree, are compared with
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
 * (sweep_ms). */
#include "search/cache/cache.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/cache/kept_tree.h"

/* ---- the cache's trees ---- */

/* A process searches a few roots, nearly always by the same rules. */
enum { KEPT_TREES_MAX = 4 };

enum kept_state {
	KEPT_WANTED, /* to be built */
	KEPT_READY,
	KEPT_UNFIT,  /* cannot be kept; tried again at retry_ms */
};

struct kept_entry {
	struct kept_tree *tree; /* owned reference */
	enum kept_state state;
	int64_t used_ms;        /* when it was last asked for */
	int64_t retry_ms;
	/* Of the keeper alone: */
	int64_t update_ms;      /* not to be updated before */
	int64_t swept_ms;       /* when the last sweep ended */
	int64_t sweep_rest_ms;  /* how long after it the next may begin */
};

struct search_cache {
	const struct workspace *ws;
	size_t max_bytes, max_file_bytes;
	int64_t sweep_ms;
	atomic_size_t bytes;    /* used by all trees */
	atomic_bool stop;
	atomic_uint searching;  /* trees that are open */
	atomic_bool impatient;  /* one has been open for long: the keeper goes on meanwhile */
	int wake;               /* owned; eventfd that the keeper waits on */
	pthread_t thread;
	pthread_mutex_t lock;   /* of all that follows */
	pthread_cond_t changed; /* searching became 0, settled grew, or stop */
	bool started;
	bool resting;           /* the keeper waits to be woken */
	unsigned settling;      /* callers that wait for it to be done */
	uint64_t asked, settled; /* serial numbers of what they wait for */
	struct kept_entry entries[KEPT_TREES_MAX];
	size_t count;
};

/* The cache's thread.
 *
 * Its work, in this order: building trees that are wanted; taking in events, so that their
 * queue does not overflow; reading files for signatures; sweeping.  It steps aside while a
 * tree is open for a search, and runs at low priority.  After some minutes without a search
 * it does nothing at all until the next one: an idle process costs nothing, whatever goes on
 * in the folders it once searched. */

enum {
	ACTIVE_MS = 300000,     /* after a search */
	/* Events are taken in at most so often, and so that scans take up a tenth of the time. */
	UPDATE_MS = 50,
	UPDATE_SHARE = 10,
	/* Sweeps take up at most a fiftieth of the time. */
	SWEEP_SHARE = 50,
	UNFIT_MS = 60000,       /* what could not be kept is tried again after */
	STEP_ASIDE_MS = 1000,   /* a search that takes longer shares the machine */
	NICENESS = 10,
	READERS = 2,            /* threads that read, when there is much to read ... */
	MANY_FOLDERS = 64,      /* ... that is, so many folders */
};

/* What one round of work found. */
struct round {
	bool hurry;      /* a caller waits until all is done */
	bool worked;     /* something was done: do not wait */
	int64_t wait_ms; /* until there is more to do */
	struct pollfd fds[KEPT_TREES_MAX + 1];
	nfds_t fd_count;
};

static bool stopping(const struct search_cache *cache)
{
	return atomic_load(&cache->stop);
}

static void wait_at_most(struct round *round, int64_t ms)
{
	if (ms < round->wait_ms)
		round->wait_ms = ms > 0 ? ms : 0;
}

/* Waits while a search is under way, but not for ever. */
static void step_aside(struct search_cache *cache)
{
	struct timespec until;
	int result = 0;

	if (atomic_load(&cache->searching) == 0 || atomic_load(&cache->impatient))
		return;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STEP_ASIDE_MS / 1000;
	pthread_mutex_lock(&cache->lock);
	while (atomic_load(&cache->searching) > 0 && !stopping(cache) && result == 0)
		result = pthread_cond_timedwait(&cache->changed, &cache->lock, &until);
	if (atomic_load(&cache->searching) > 0)
		atomic_store(&cache->impatient, true);
	pthread_mutex_unlock(&cache->lock);
}

static struct kept_entry *cache_find_entry(struct search_cache *cache, const struct kept_tree *tree)
{
	for (size_t i = 0; i < cache->count; i++)
		if (cache->entries[i].tree == tree)
			return &cache->entries[i];
	return NULL;
}

/* With the lock held: takes a tree off the list, and returns the reference; NULL: it is not on. */
static struct kept_tree *keeper_remove(struct search_cache *cache, const struct kept_tree *tree)
{
	struct kept_entry *entry = cache_find_entry(cache, tree);
	struct kept_tree *removed;

	if (!entry)
		return NULL;
	removed = entry->tree;
	*entry = cache->entries[--cache->count];
	return removed;
}

/* ---- building ------------------------------------------------------------------- */

static void cache_build_tree(struct search_cache *cache, struct kept_tree *tree)
{
	const bool good = kept_tree_build(tree);
	struct kept_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = cache_find_entry(cache, tree);
	if (entry && good) {
		entry->state = KEPT_READY;
		entry->update_ms = 0;
		entry->swept_ms = cache_clock_ms();
		entry->sweep_rest_ms = cache->sweep_ms;
	} else if (entry) {
		/* What is left of it is not worth keeping, only the fact. */
		struct kept_tree *again = kept_tree_new(&tree->place);

		entry->tree = again;
		entry->state = KEPT_UNFIT;
		entry->retry_ms = cache_clock_ms() + UNFIT_MS;
		kept_tree_unref(tree);
	}
	pthread_mutex_unlock(&cache->lock);
}

/* ---- reading --------------------------------------------------------------------- */

struct read_job {
	struct search_cache *cache;
	struct kept_tree *tree;
	bool hurry;
	bool worked;
	int64_t wait_ms;
};

static void read_signatures(struct read_job *job)
{
	struct signature_reader *reader = mem_alloc(1, sizeof(*reader));
	enum kept_work work = WORK_DONE;

	while (work == WORK_DONE && !stopping(job->cache)) {
		step_aside(job->cache);
		work = kept_tree_read(job->tree, reader, job->hurry, &job->wait_ms);
		job->worked |= work == WORK_DONE || work == WORK_STALE;
	}
	kept_tree_reader_release(reader);
	free(reader);
}

static void lower_priority(void)
{
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
}

static void *read_in_thread(void *data)
{
	pthread_setname_np(pthread_self(), "hasp-index");
	lower_priority();
	read_signatures(data);
	return NULL;
}

static void read_files(struct search_cache *cache, struct kept_tree *tree, struct round *round)
{
	struct read_job jobs[READERS];
	pthread_t threads[READERS];
	size_t count = 1;
	const bool many = kept_tree_unread(tree) > MANY_FOLDERS;

	for (size_t i = 0; i < READERS; i++)
		jobs[i] = (struct read_job){ cache, tree, round->hurry, false, INT64_MAX };
	while (many && count < READERS &&
	       pthread_create(&threads[count], NULL, read_in_thread, &jobs[count]) == 0)
		count++;
	read_signatures(&jobs[0]);
	for (size_t i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < count; i++) {
		round->worked |= jobs[i].worked;
		wait_at_most(round, jobs[i].wait_ms);
	}
}

/* ---- keeping true ------------------------------------------------------------------ */

/* Takes in events, if there are any and it is time. False when the tree is lost.
 * (A sweep takes events in, too, so that none may be queued although the tree is behind.) */
static bool update(struct search_cache *cache, struct kept_entry *entry, struct round *round)
{
	const int64_t now = cache_clock_ms();
	struct kept_tree *tree = entry->tree;

	if (!kept_tree_is_behind(tree)) {
		round->fds[round->fd_count++] =
			(struct pollfd){ .fd = tree->watch.fd, .events = POLLIN };
		return true;
	}
	if (entry->update_ms > now && !round->hurry) {
		wait_at_most(round, entry->update_ms - now);
		return true;
	}
	round->worked = true;
	if (!kept_tree_update(tree)) {
		struct kept_tree *removed;

		pthread_mutex_lock(&cache->lock);
		removed = keeper_remove(cache, tree);
		pthread_mutex_unlock(&cache->lock);
		kept_tree_unref(removed);
		return false;
	}
	entry->update_ms = cache_clock_ms() + UPDATE_MS + UPDATE_SHARE * (cache_clock_ms() - now);
	return true;
}

/* Compares with the disk what was searched since that was last done. */
static void cache_sweep_entry(struct search_cache *cache, struct kept_entry *entry,
                              struct round *round)
{
	const int64_t now = cache_clock_ms(), due = entry->swept_ms + entry->sweep_rest_ms;
	struct sweep sweep = { 0 };

	if (entry->used_ms < entry->swept_ms)
		return;
	if (due > now) {
		wait_at_most(round, due - now);
		return;
	}
	while (!stopping(cache) && kept_tree_sweep(entry->tree, &sweep))
		step_aside(cache);
	kept_tree_sweep_release(&sweep);
	entry->swept_ms = cache_clock_ms();
	entry->sweep_rest_ms = cache->sweep_ms + SWEEP_SHARE * (entry->swept_ms - now);
	wait_at_most(round, 0);
}

/* Copies what the keeper decided about a tree back to its entry. */
static void store_times(struct search_cache *cache, const struct kept_entry *from)
{
	struct kept_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = cache_find_entry(cache, from->tree);
	if (entry) {
		entry->update_ms = from->update_ms;
		entry->swept_ms = from->swept_ms;
		entry->sweep_rest_ms = from->sweep_rest_ms;
	}
	pthread_mutex_unlock(&cache->lock);
}

static bool entry_is_active(const struct kept_entry *entry)
{
	return cache_clock_ms() - entry->used_ms <= ACTIVE_MS;
}

/* `entry` is a copy that holds a reference. */
static void tend(struct search_cache *cache, struct kept_entry *entry, struct round *round)
{
	if (entry->state == KEPT_WANTED) {
		cache_build_tree(cache, entry->tree);
		round->worked = true;
		return;
	}
	if (entry->state == KEPT_UNFIT)
		return;
	if (!entry_is_active(entry) && !round->hurry)
		return;
	if (!update(cache, entry, round))
		return;
	read_files(cache, entry->tree, round);
	cache_sweep_entry(cache, entry, round);
	store_times(cache, entry);
}

/* ---- the thread ---------------------------------------------------------------------- */

static void cache_wait_for_work(struct search_cache *cache, struct round *round)
{
	const int64_t second = 1000 * 1000 * 1000;
	const struct timespec timeout = { round->wait_ms / 1000,
		                          round->wait_ms % 1000 * (second / 1000) };
	uint64_t count;

	round->fds[round->fd_count++] = (struct pollfd){ .fd = cache->wake, .events = POLLIN };
	ppoll(round->fds, round->fd_count, round->wait_ms == INT64_MAX ? NULL : &timeout, NULL);
	while (read(cache->wake, &count, sizeof(count)) > 0)
		;
}

/* Wakes those that waited for the work done so far. If there is nothing to wait for, the next
 * search must wake this thread. */
static void announce_settled(struct search_cache *cache, uint64_t asked, struct round *round)
{
	pthread_mutex_lock(&cache->lock);
	cache->settled = asked;
	pthread_cond_broadcast(&cache->changed);
	cache->resting = round->wait_ms == INT64_MAX;
	for (size_t i = 0; i < cache->count; i++)
		if (cache->entries[i].state == KEPT_READY && entry_is_active(&cache->entries[i]))
			cache->resting = false;
	if (!cache->resting)
		wait_at_most(round, cache->sweep_ms);
	pthread_mutex_unlock(&cache->lock);
}

static void work_round(struct search_cache *cache)
{
	struct round round = { .wait_ms = INT64_MAX };
	struct kept_entry entries[KEPT_TREES_MAX];
	uint64_t asked;
	size_t count;

	step_aside(cache);
	pthread_mutex_lock(&cache->lock);
	asked = cache->asked;
	round.hurry = cache->settling > 0;
	count = cache->count;
	memcpy(entries, cache->entries, sizeof(entries));
	for (size_t i = 0; i < count; i++)
		kept_tree_ref(entries[i].tree);
	pthread_mutex_unlock(&cache->lock);
	for (size_t i = 0; i < count && !stopping(cache); i++)
		tend(cache, &entries[i], &round);
	for (size_t i = 0; i < count; i++)
		kept_tree_unref(entries[i].tree);
	if (round.worked)
		return;
	announce_settled(cache, asked, &round);
	if (!stopping(cache))
		cache_wait_for_work(cache, &round);
}

static void *run_keeper(void *data)
{
	struct search_cache *cache = data;

	pthread_setname_np(pthread_self(), "hasp-keeper");
	lower_priority();
	while (!stopping(cache))
		work_round(cache);
	return NULL;
}

/* Starts the thread unless it runs; with the lock held. False: there can be none. */
static bool keeper_start(struct search_cache *cache)
{
	sigset_t all, before;

	if (cache->started)
		return true;
	if (cache->wake < 0)
		return false;
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	cache->started = pthread_create(&cache->thread, NULL, run_keeper, cache) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return cache->started;
}

static void keeper_wake(struct search_cache *cache)
{
	fd_ring(cache->wake);
}

/* ---- the trees there are, and handing them out ---- */

#define BYTES_DEFAULT ((size_t)128 << 20)
#define FILE_BYTES_DEFAULT ((size_t)64 << 20)
enum { SWEEP_MS_DEFAULT = 5000 };
/* A tree that was not searched for so long makes room for another tree. */
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
		.sweep_ms = options->sweep_ms > 0 ? options->sweep_ms : SWEEP_MS_DEFAULT,
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

static struct kept_entry *cache_find_tree(struct search_cache *cache, size_t root,
                                          const struct walk_rules *rules)
{
	for (size_t i = 0; i < cache->count; i++)
		if (kept_tree_matches(cache->entries[i].tree, root, rules))
			return &cache->entries[i];
	return NULL;
}

/* A reference to a tree that can be handed out, or NULL. */
static struct kept_tree *find_ready(struct search_cache *cache, size_t root,
                                    const struct walk_rules *rules)
{
	struct kept_tree *tree = NULL;
	struct kept_entry *entry;
	const int64_t now = cache_clock_ms();

	pthread_mutex_lock(&cache->lock);
	entry = cache_find_tree(cache, root, rules);
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
static size_t make_tree_room(struct search_cache *cache, struct kept_tree *evicted[KEPT_TREES_MAX])
{
	const int64_t now = cache_clock_ms();
	size_t count = 0, bytes = atomic_load(&cache->bytes);

	while (cache->count > 0 &&
	       (cache->count == KEPT_TREES_MAX ||
	        (bytes > cache->max_bytes / 2 && oldest(cache)->used_ms + STALE_MS < now))) {
		struct kept_tree *tree = keeper_remove(cache, oldest(cache)->tree);
		const size_t own = atomic_load(&tree->bytes);

		bytes -= own < bytes ? own : bytes;
		evicted[count++] = tree;
	}
	return count;
}

static void add_wanted(struct search_cache *cache, size_t root, const struct walk_rules *rules)
{
	const struct kept_place place = {
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
		.used_ms = cache_clock_ms(),
	};
}

void search_cache_want(struct search_cache *cache, size_t root, const struct walk_rules *rules)
{
	const int64_t now = cache_clock_ms();
	struct kept_tree *evicted[KEPT_TREES_MAX];
	struct kept_entry *entry;
	size_t evicted_count = 0;
	bool wake = false;

	pthread_mutex_lock(&cache->lock);
	entry = cache_find_tree(cache, root, rules);
	if (entry) {
		entry->used_ms = now;
		if (entry->state == KEPT_UNFIT && entry->retry_ms <= now) {
			entry->state = KEPT_WANTED;
			wake = true;
		}
	} else if (keeper_start(cache)) {
		evicted_count = make_tree_room(cache, evicted);
		add_wanted(cache, root, rules);
		wake = true;
	}
	if (wake)
		keeper_wake(cache);
	pthread_mutex_unlock(&cache->lock);
	while (evicted_count > 0)
		kept_tree_unref(evicted[--evicted_count]);
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

/* ---- the part of a tree beneath a start ---- */

/* The first folder whose path is not before `path`. */
static size_t lower_bound(const struct cached_folder *folders, size_t count, const char *path)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(folders[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool cache_range_find(const struct cached_tree *tree, const char *start, struct tree_range *ret)
{
	const size_t len = strlen(start);
	size_t count;

	ret->folders = cached_tree_folders(tree, &count);
	ret->begin = lower_bound(ret->folders, count, start);
	if (ret->begin == count || strcmp(ret->folders[ret->begin].path, start) != 0)
		return false;
	ret->end = ret->begin;
	while (ret->end < count && strncmp(ret->folders[ret->end].path, start, len) == 0)
		ret->end++;
	return true;
}

bool cache_range_excludes(const struct glob_list *exclude, struct span path, size_t start_len)
{
	for (size_t at = start_len; exclude->count > 0 && at < path.len; at++)
		if (path.data[at] == '/' &&
		    glob_list_match(exclude, span_of(path.data + start_len, at - start_len)))
			return true;
	return false;
}
