/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/call.h"

#include <stdlib.h>

#include "base/mem.h"

void idmap_init(struct idmap *map, uint64_t key)
{
	*map = (struct idmap){ .key = key };
}

void idmap_release(struct idmap *map)
{
	free(map->buckets);
	*map = (struct idmap){ .key = map->key };
}

/* A multiplication by an odd random number a step, high bits folded down: differences spread, and
 * the number is secret. */
static uint64_t idmap_hash(const struct idmap *map, struct span id)
{
	uint64_t factor = map->key | 1;
	uint64_t hash = map->key ^ id.len;

	while (id.len) {
		uint64_t word = 0;
		size_t len = id.len < sizeof(word) ? id.len : sizeof(word);

		memcpy(&word, id.data, len);
		hash = (hash ^ word) * factor;
		hash ^= hash >> 29;
		id = span_skip(id, len);
	}
	hash *= 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

static struct idmap_entry **idmap_bucket(const struct idmap *map, uint64_t hash)
{
	return &map->buckets[hash & (map->bucket_count - 1)];
}

struct idmap_entry *idmap_find(const struct idmap *map, struct span id)
{
	uint64_t hash;

	if (!map->count)
		return NULL;
	hash = idmap_hash(map, id);
	for (struct idmap_entry *entry = *idmap_bucket(map, hash); entry; entry = entry->next) {
		if (entry->hash == hash && span_eq(entry->id, id))
			return entry;
	}
	return NULL;
}

static void idmap_grow(struct idmap *map)
{
	struct idmap_entry **old = map->buckets;
	size_t old_count = map->bucket_count;

	map->bucket_count = old_count ? old_count * 2 : 16;
	map->buckets = mem_alloc(map->bucket_count, sizeof(struct idmap_entry *));
	for (size_t i = 0; i < old_count; i++) {
		for (struct idmap_entry *entry = old[i], *next; entry; entry = next) {
			struct idmap_entry **bucket = idmap_bucket(map, entry->hash);

			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	free(old);
}

void idmap_add(struct idmap *map, struct idmap_entry *entry, struct span id)
{
	struct idmap_entry **bucket;

	if (map->count == map->bucket_count)
		idmap_grow(map);
	entry->id = id;
	entry->hash = idmap_hash(map, id);
	bucket = idmap_bucket(map, entry->hash);
	entry->next = *bucket;
	*bucket = entry;
	map->count++;
}

void idmap_remove(struct idmap *map, struct idmap_entry *entry)
{
	struct idmap_entry **at = idmap_bucket(map, entry->hash);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	map->count--;
}

void idmap_each(struct idmap *map, void (*each)(struct idmap_entry *entry, void *data), void *data)
{
	for (size_t i = 0; i < map->bucket_count; i++) {
		for (struct idmap_entry *entry = map->buckets[i], *next; entry; entry = next) {
			next = entry->next;
			each(entry, data);
		}
	}
}
