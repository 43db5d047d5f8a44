/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's thread.
 *
 * Its work, in this order: building trees that are wanted; taking in events, so that their
 * queue does not overflow; reading files for signatures; sweeping.  It steps aside while a
 * tree is open for a search, and runs at low priority.  When nobody has searched for some
 * minutes it does nothing at all until somebody does: a process that rests costs nothing,
 * whatever goes on in the folders it once searched.
 */
#include "search/cache/keeper.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"

enum {
	ACTIVE_MS = 300000,     /* after a search */
	/* Events are taken in at most so often, and so that scans take up a tenth of the time. */
	UPDATE_MS = 50,
	UPDATE_SHARE = 10,
	/* A sweep begins so long after the last one, and takes up at most a fiftieth. */
	SWEEP_MS = 5000,
	SWEEP_SHARE = 50,
	UNFIT_MS = 60000,       /* what could not be kept is tried again after */
	STEP_ASIDE_MS = 1000,   /* a search that takes longer shares the machine */
	NICENESS = 10,
	READERS = 2,            /* threads that read, when there is much to read ... */
	MANY_FOLDERS = 64,      /* ... that is, so many folders */
};

/* What one round of work found. */
struct round {
	bool hurry;      /* somebody waits for all to be done */
	bool worked;     /* something was done: go on at once */
	int64_t wait_ms; /* nothing is to be done for so long */
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

static struct kept_entry *find_entry(struct search_cache *cache, const struct kept_tree *tree)
{
	for (size_t i = 0; i < cache->count; i++)
		if (cache->entries[i].tree == tree)
			return &cache->entries[i];
	return NULL;
}

struct kept_tree *keeper_remove(struct search_cache *cache, const struct kept_tree *tree)
{
	struct kept_entry *entry = find_entry(cache, tree);
	struct kept_tree *removed;

	if (!entry)
		return NULL;
	removed = entry->tree;
	*entry = cache->entries[--cache->count];
	return removed;
}

static void remove_tree(struct search_cache *cache, const struct kept_tree *tree)
{
	struct kept_tree *removed;

	pthread_mutex_lock(&cache->lock);
	removed = keeper_remove(cache, tree);
	pthread_mutex_unlock(&cache->lock);
	kept_tree_unref(removed);
}

/* ---- building ------------------------------------------------------------------- */

static void build(struct search_cache *cache, struct kept_tree *tree)
{
	const bool good = kept_tree_build(tree);
	struct kept_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find_entry(cache, tree);
	if (entry && good) {
		entry->state = KEPT_READY;
		entry->update_ms = 0;
		entry->swept_ms = clock_ms();
		entry->sweep_rest_ms = SWEEP_MS;
	} else if (entry) {
		/* What is left of it is not worth keeping, only the fact. */
		struct kept_tree *again = kept_tree_new(&tree->place);

		entry->tree = again;
		entry->state = KEPT_UNFIT;
		entry->retry_ms = clock_ms() + UNFIT_MS;
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

static void read_all(struct read_job *job)
{
	struct reader *reader = mem_alloc(1, sizeof(*reader));
	enum kept_work work = WORK_DONE;

	while (work == WORK_DONE && !stopping(job->cache)) {
		step_aside(job->cache);
		work = kept_tree_read(job->tree, reader, job->hurry, &job->wait_ms);
		job->worked |= work == WORK_DONE || work == WORK_STALE;
	}
	reader_release(reader);
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
	read_all(data);
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
	read_all(&jobs[0]);
	for (size_t i = 1; i < count; i++)
		pthread_join(threads[i], NULL);
	for (size_t i = 0; i < count; i++) {
		round->worked |= jobs[i].worked;
		wait_at_most(round, jobs[i].wait_ms);
	}
}

/* ---- keeping true ------------------------------------------------------------------ */

/* Takes in events, if there are any and it is time. False when the tree is lost. */
static bool update(struct search_cache *cache, struct kept_entry *entry, struct round *round)
{
	const int64_t now = clock_ms();
	struct kept_tree *tree = entry->tree;

	if (!watch_has_events(&tree->watch)) {
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
		remove_tree(cache, tree);
		return false;
	}
	entry->update_ms = clock_ms() + UPDATE_MS + UPDATE_SHARE * (clock_ms() - now);
	return true;
}

/* Compares with the disk what was searched since that was last done. */
static void sweep(struct search_cache *cache, struct kept_entry *entry, struct round *round)
{
	const int64_t begun = clock_ms(), due = entry->swept_ms + entry->sweep_rest_ms;
	struct sweep sweep = { 0 };

	if (entry->used_ms < entry->swept_ms)
		return;
	if (due > begun) {
		wait_at_most(round, due - begun);
		return;
	}
	while (!stopping(cache) && kept_tree_sweep(entry->tree, &sweep))
		step_aside(cache);
	sweep_release(&sweep);
	entry->swept_ms = clock_ms();
	entry->sweep_rest_ms = SWEEP_MS + SWEEP_SHARE * (entry->swept_ms - begun);
	wait_at_most(round, 0);
}

/* Copies what the keeper decided about a tree back to its entry. */
static void store_times(struct search_cache *cache, const struct kept_entry *from)
{
	struct kept_entry *entry;

	pthread_mutex_lock(&cache->lock);
	entry = find_entry(cache, from->tree);
	if (entry) {
		entry->update_ms = from->update_ms;
		entry->swept_ms = from->swept_ms;
		entry->sweep_rest_ms = from->sweep_rest_ms;
	}
	pthread_mutex_unlock(&cache->lock);
}

static bool is_active(const struct kept_entry *entry)
{
	return clock_ms() - entry->used_ms <= ACTIVE_MS;
}

/* `entry` is a copy with a reference of its own. */
static void tend(struct search_cache *cache, struct kept_entry *entry, struct round *round)
{
	if (entry->state == KEPT_WANTED) {
		build(cache, entry->tree);
		round->worked = true;
		return;
	}
	if (entry->state == KEPT_UNFIT)
		return;
	if (!is_active(entry) && !round->hurry)
		return;
	if (!update(cache, entry, round))
		return;
	read_files(cache, entry->tree, round);
	sweep(cache, entry, round);
	store_times(cache, entry);
}

/* ---- the thread ---------------------------------------------------------------------- */

static void wait_for_work(struct search_cache *cache, struct round *round)
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

/* Whoever waited for what is done now may go on; and the next search has to wake this thread if
 * there is nothing to wait for. */
static void announce_settled(struct search_cache *cache, uint64_t asked, struct round *round)
{
	pthread_mutex_lock(&cache->lock);
	cache->settled = asked;
	pthread_cond_broadcast(&cache->changed);
	cache->resting = round->wait_ms == INT64_MAX;
	for (size_t i = 0; i < cache->count; i++)
		if (cache->entries[i].state == KEPT_READY && is_active(&cache->entries[i]))
			cache->resting = false;
	if (!cache->resting)
		wait_at_most(round, SWEEP_MS);
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
		wait_for_work(cache, &round);
}

static void *run(void *data)
{
	struct search_cache *cache = data;

	pthread_setname_np(pthread_self(), "hasp-keeper");
	lower_priority();
	while (!stopping(cache))
		work_round(cache);
	return NULL;
}

bool keeper_start(struct search_cache *cache)
{
	sigset_t all, before;

	if (cache->started)
		return true;
	if (cache->wake < 0)
		return false;
	sigfillset(&all); /* signals are for the program's own threads */
	pthread_sigmask(SIG_BLOCK, &all, &before);
	cache->started = pthread_create(&cache->thread, NULL, run, cache) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return cache->started;
}

void keeper_wake(struct search_cache *cache)
{
	const uint64_t one = 1;

	/* Fails only when it is full of earlier calls. */
	if (write(cache->wake, &one, sizeof(one)) < 0)
		return;
}
