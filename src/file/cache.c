/* SPDX-License-Identifier: Apache-2.0 */
/* What one workspace remembers of folders, files and contents; each kind in a table of fixed
 * size. */
#include "file/private.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "file/temporary.h"

enum { SLOTS = 32, FILES = 128, CONTENTS = 16 };

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

/* A content that was hashed. */
struct summed {
	char *content; /* owned; NULL: none */
	size_t len;
	struct sha256 sum;
};

struct file_cache {
	pthread_mutex_t lock;
	struct slot slots[SLOTS]; /* by inode number */
	struct own_name *own;     /* as many as commits are under way */
	struct own_file files[FILES]; /* by inode number */
	pthread_mutex_t content_lock;     /* of what follows; `lock` is that of what is above */
	struct summed contents[CONTENTS]; /* by inode number */
};

static int64_t tick_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static struct slot *folder_slot_of(struct file_cache *cache, const struct stat *folder)
{
	return &cache->slots[folder->st_ino % SLOTS];
}

static bool folder_slot_is_for(const struct slot *slot, const struct stat *folder)
{
	return slot->ino == folder->st_ino && slot->dev == folder->st_dev &&
	       tick_ms() < slot->until_ms;
}

struct file_cache *file_cache_new(void)
{
	struct file_cache *cache = mem_alloc(1, sizeof(*cache));

	pthread_mutex_init(&cache->lock, NULL);
	pthread_mutex_init(&cache->content_lock, NULL);
	return cache;
}

void file_cache_free(struct file_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < ARRAY_LEN(cache->contents); i++)
		free(cache->contents[i].content);
	pthread_mutex_destroy(&cache->content_lock);
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

bool file_cache_knows_folder(struct file_cache *cache, const struct stat *folder)
{
	struct slot *slot = folder_slot_of(cache, folder);
	bool known;

	pthread_mutex_lock(&cache->lock);
	known = folder_slot_is_for(slot, folder) && slot->mtime.tv_sec == folder->st_mtim.tv_sec &&
	        slot->mtime.tv_nsec == folder->st_mtim.tv_nsec;
	pthread_mutex_unlock(&cache->lock);
	return known;
}

void file_cache_note_folder_read(struct file_cache *cache, const struct stat *folder, size_t names)
{
	int64_t until_ms = tick_ms() + (names > FILE_CACHE_LARGE_NAMES ? FILE_CACHE_LARGE_MS
	                                                                : FILE_CACHE_MS);

	pthread_mutex_lock(&cache->lock);
	*folder_slot_of(cache, folder) = (struct slot){ folder->st_dev, folder->st_ino,
	                                                folder->st_mtim,
		                                        until_ms };
	pthread_mutex_unlock(&cache->lock);
}

void file_cache_note_folder_change(struct file_cache *cache, const struct stat *folder)
{
	struct slot *slot = folder_slot_of(cache, folder);

	pthread_mutex_lock(&cache->lock);
	if (folder_slot_is_for(slot, folder))
		slot->mtime = folder->st_mtim;
	pthread_mutex_unlock(&cache->lock);
}

struct own_name *file_cache_own(struct file_cache *cache, const char *name)
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

void file_cache_disown(struct file_cache *cache, struct own_name *own)
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

bool file_cache_owns(struct file_cache *cache, const char *name)
{
	const struct own_name *own;

	pthread_mutex_lock(&cache->lock);
	for (own = cache->own; own && strcmp(own->name, name) != 0;)
		own = own->next;
	pthread_mutex_unlock(&cache->lock);
	return own != NULL;
}

time_t file_cache_others_at(struct file_cache *cache, const struct stat *file,
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

void file_cache_note_file(struct file_cache *cache, const struct stat *file,
                          const struct sha256 *sum, time_t others_at)
{
	pthread_mutex_lock(&cache->lock);
	cache->files[file->st_ino % FILES] = (struct own_file){ file->st_dev, file->st_ino,
		                                                file->st_ctim, *sum, others_at };
	pthread_mutex_unlock(&cache->lock);
}

static struct summed *summed_slot_of(struct file_cache *cache, const struct stat *file)
{
	return &cache->contents[file->st_ino % CONTENTS];
}

/* What is not worth a slot: hashed as fast as compared, or too large. */
static bool summed_is_kept(struct span content)
{
	return content.len >= 256 && content.len <= FILE_CACHE_CONTENT_BYTES;
}

bool file_cache_find_sum(struct file_cache *cache, const struct stat *file, struct span content,
                         struct sha256 *ret)
{
	const struct summed *slot = summed_slot_of(cache, file);
	bool found;

	if (!summed_is_kept(content))
		return false;
	pthread_mutex_lock(&cache->content_lock);
	found = slot->content && slot->len == content.len &&
	        memcmp(slot->content, content.data, content.len) == 0;
	if (found)
		*ret = slot->sum;
	pthread_mutex_unlock(&cache->content_lock);
	return found;
}

void file_cache_keep_sum(struct file_cache *cache, const struct stat *file, struct span content,
                         const struct sha256 *sum)
{
	struct summed *slot = summed_slot_of(cache, file);
	char *copy = summed_is_kept(content) ? malloc(content.len) : NULL;
	char *before;

	if (!copy)
		return;
	memcpy(copy, content.data, content.len);
	pthread_mutex_lock(&cache->content_lock);
	before = slot->content;
	*slot = (struct summed){ copy, content.len, *sum };
	pthread_mutex_unlock(&cache->content_lock);
	free(before);
}
