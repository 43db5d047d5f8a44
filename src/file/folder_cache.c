/* SPDX-License-Identifier: Apache-2.0 */
#include "file/folder_cache.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "file/temporary.h"

enum { SLOTS = 32, FILES = 128 };

struct slot {
	dev_t dev;
	ino_t ino; /* 0: empty */
	struct timespec mtime;
	int64_t until_ms; /* CLOCK_MONOTONIC_COARSE */
};

struct own_name {
	struct own_name *next, **at;
	char name[TEMPORARY_NAME_SIZE];
};

struct own_file {
	dev_t dev;
	ino_t ino; /* 0: empty */
	struct timespec ctime;
	struct sha256 sum;
	time_t others_at;
};

struct folder_cache {
	pthread_mutex_t lock;
	struct slot slots[SLOTS]; /* by inode number */
	struct own_name *own;     /* as many as commits are under way */
	struct own_file files[FILES]; /* by inode number */
};

static int64_t tick_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static struct slot *folder_slot_of(struct folder_cache *cache, const struct stat *folder)
{
	return &cache->slots[folder->st_ino % SLOTS];
}

static bool is_for(const struct slot *slot, const struct stat *folder)
{
	return slot->ino == folder->st_ino && slot->dev == folder->st_dev &&
	       tick_ms() < slot->until_ms;
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
	struct slot *slot = folder_slot_of(cache, folder);
	bool known;

	pthread_mutex_lock(&cache->lock);
	known = is_for(slot, folder) && slot->mtime.tv_sec == folder->st_mtim.tv_sec &&
	        slot->mtime.tv_nsec == folder->st_mtim.tv_nsec;
	pthread_mutex_unlock(&cache->lock);
	return known;
}

void folder_cache_note_read(struct folder_cache *cache, const struct stat *folder, size_t names)
{
	int64_t until_ms = tick_ms() + (names > FOLDER_CACHE_LARGE_NAMES ? FOLDER_CACHE_LARGE_MS
	                                                                : FOLDER_CACHE_MS);

	pthread_mutex_lock(&cache->lock);
	*folder_slot_of(cache, folder) = (struct slot){ folder->st_dev, folder->st_ino,
	                                                folder->st_mtim,
		                                        until_ms };
	pthread_mutex_unlock(&cache->lock);
}

void folder_cache_note_change(struct folder_cache *cache, const struct stat *folder)
{
	struct slot *slot = folder_slot_of(cache, folder);

	pthread_mutex_lock(&cache->lock);
	if (is_for(slot, folder))
		slot->mtime = folder->st_mtim;
	pthread_mutex_unlock(&cache->lock);
}

struct own_name *folder_cache_own(struct folder_cache *cache, const char *name)
{
	struct own_name *own = mem_alloc(1, sizeof(*own));

	snprintf(own->name, sizeof(own->name), "%s", name);
	pthread_mutex_lock(&cache->lock);
	own->next = cache->own;
	own->at = &cache->own;
	if (own->next)
		own->next->at = &own->next;
	cache->own = own;
	pthread_mutex_unlock(&cache->lock);
	return own;
}

void folder_cache_disown(struct folder_cache *cache, struct own_name *own)
{
	if (!own)
		return;
	pthread_mutex_lock(&cache->lock);
	*own->at = own->next;
	if (own->next)
		own->next->at = own->at;
	pthread_mutex_unlock(&cache->lock);
	free(own);
}

bool folder_cache_owns(struct folder_cache *cache, const char *name)
{
	const struct own_name *own;

	pthread_mutex_lock(&cache->lock);
	for (own = cache->own; own && strcmp(own->name, name) != 0;)
		own = own->next;
	pthread_mutex_unlock(&cache->lock);
	return own != NULL;
}

time_t folder_cache_others_at(struct folder_cache *cache, const struct stat *file,
                              const struct sha256 *sum)
{
	const struct own_file *own = &cache->files[file->st_ino % FILES];
	time_t at = file->st_ctim.tv_sec;

	pthread_mutex_lock(&cache->lock);
	if (own->ino == file->st_ino && own->dev == file->st_dev &&
	    own->ctime.tv_sec == file->st_ctim.tv_sec &&
	    own->ctime.tv_nsec == file->st_ctim.tv_nsec && sha256_eq(&own->sum, sum))
		at = own->others_at;
	pthread_mutex_unlock(&cache->lock);
	return at;
}

void folder_cache_note_file(struct folder_cache *cache, const struct stat *file,
                            const struct sha256 *sum, time_t others_at)
{
	pthread_mutex_lock(&cache->lock);
	cache->files[file->st_ino % FILES] = (struct own_file){ file->st_dev, file->st_ino,
		                                                file->st_ctim, *sum, others_at };
	pthread_mutex_unlock(&cache->lock);
}
