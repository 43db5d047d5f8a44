/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way, by the text of its id (or of a URI).  Private to this folder.
 *
 * Entries are embedded in the objects that are looked up.  The hash is keyed, so that a client
 * cannot choose ids that fall on each other.
 *
 *     idmap_add(&map, &call->entry, id);
 *     struct idmap_entry *found = idmap_find(&map, id);
 */
#ifndef HASP_MCP_PROTOCOL_IDMAP_H
#define HASP_MCP_PROTOCOL_IDMAP_H

#include <stdint.h>

#include "base/span.h"

struct idmap_entry {
	struct idmap_entry *next; /* in the same bucket */
	struct span id;           /* borrowed; unchanged while it is in the map */
	uint64_t hash;
};

struct idmap {
	struct idmap_entry **buckets; /* owned */
	size_t bucket_count;          /* a power of two, or 0 */
	size_t count;
	uint64_t key;
};

/* `key` is random. */
void idmap_init(struct idmap *map, uint64_t key);
/* Forgets the entries, which belong to others. */
void idmap_release(struct idmap *map);

/* NULL when no entry has this id. */
struct idmap_entry *idmap_find(const struct idmap *map, struct span id);
/* The id must not be in the map. */
void idmap_add(struct idmap *map, struct idmap_entry *entry, struct span id);
/* The entry must be in the map. */
void idmap_remove(struct idmap *map, struct idmap_entry *entry);

/* Calls `each` with every entry; it may remove that one, and no other. */
void idmap_each(struct idmap *map, void (*each)(struct idmap_entry *entry, void *data), void *data);

#endif
