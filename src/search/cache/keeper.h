/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's trees, and the thread that keeps them (keeper.c). Private to this folder. */
#ifndef HASP_SEARCH_CACHE_KEEPER_H
#define HASP_SEARCH_CACHE_KEEPER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "search/cache/cached_tree.h"

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

/* Starts the thread unless it runs; with the lock held. False: there can be none. */
bool keeper_start(struct search_cache *cache);
void keeper_wake(struct search_cache *cache);
/* With the lock held: takes a tree off the list, and returns the reference; NULL: it is not on. */
struct kept_tree *keeper_remove(struct search_cache *cache, const struct kept_tree *tree);

#endif
