/* SPDX-License-Identifier: Apache-2.0 */
#include "store/folder_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"

enum { SLOTS = 32 };

struct slot {
	dev_t dev;
	ino_t ino; /* 0: empty */
	struct timespec mtime;
	time_t read_at; /* CLOCK_MONOTONIC */
};

struct folder_cache {
	pthread_mutex_t lock;
	struct slot slots[SLOTS]; /* by inode number */
};

static time_t now_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

static struct slot *slot_of(struct folder_cache *cache, const struct stat *folder)
{
	return &cache->slots[folder->st_ino % SLOTS];
}

static bool is_for(const struct slot *slot, const struct stat *folder)
{
	return slot->ino == folder->st_ino && slot->dev == folder->st_dev &&
	       now_seconds() - slot->read_at <= FOLDER_CACHE_SECONDS;
}

struct folder_cache *folder_cache_new(void)
{
	struct folder_cache *cache = mem_alloc(1, sizeof(*cache));

	pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

void folder_cache_free(struct folder_cache *cache)
{
	if (!cache)
		return;
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

bool folder_cache_knows(struct folder_cache *cache, const struct stat *folder)
{
	struct slot *slot = slot_of(cache, folder);
	bool known;

	pthread_mutex_lock(&cache->lock);
	known = is_for(slot, folder) && slot->mtime.tv_sec == folder->st_mtim.tv_sec &&
	        slot->mtime.tv_nsec == folder->st_mtim.tv_nsec;
	pthread_mutex_unlock(&cache->lock);
	return known;
}

void folder_cache_note(struct folder_cache *cache, const struct stat *folder, bool again)
{
	struct slot *slot = slot_of(cache, folder);

	pthread_mutex_lock(&cache->lock);
	if (!again)
		*slot = (struct slot){ folder->st_dev, folder->st_ino, folder->st_mtim,
			               now_seconds() };
	else if (is_for(slot, folder))
		slot->mtime = folder->st_mtim;
	pthread_mutex_unlock(&cache->lock);
}
