/* SPDX-License-Identifier: Apache-2.0 */
/* Lines to numbers, by an open-addressed hash table of the old lines.
 *
 * The number of a line is the index of the first old line that equals it.  The
 * hash is keyed with the random bytes that the kernel gives each process, so
 * that nobody can prepare a text whose lines all collide; the numbers do not
 * depend on it.
 */
#include <string.h>
#include <sys/auxv.h>

#include "base/mem.h"
#include "diff/change.h"

struct slot {
	uint32_t tag;  /* the upper half of the hash: spares most comparisons */
	uint32_t line; /* 1 + index of the old line; 0: the slot is free */
};

struct table {
	struct slot *slots;
	size_t mask;
	uint64_t key;
	struct line_range old_range;
};

static uint64_t process_key(void)
{
	const void *bytes = (const void *)getauxval(AT_RANDOM);
	uint64_t key = UINT64_C(0x9e3779b97f4a7c15);

	if (bytes)
		memcpy(&key, bytes, sizeof(key));
	return key;
}

static inline uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t line_hash(struct span line, uint64_t key)
{
	uint64_t hash = key ^ line.len, word;

	while (line.len >= sizeof(word)) {
		memcpy(&word, line.data, sizeof(word));
		hash = mix(hash ^ word, UINT64_C(0xd6e8feb86659fd93)) + key;
		line = span_skip(line, sizeof(word));
	}
	word = 0;
	if (line.len > 0)
		memcpy(&word, line.data, line.len);
	return mix(hash ^ word, UINT64_C(0xa0761d6478bd642f)) + key;
}

/* The slot that holds the line, or the free one where it belongs. */
static struct slot *table_find(struct table *table, struct span line, uint32_t *ret_tag)
{
	uint64_t hash = line_hash(line, table->key);
	uint32_t tag = (uint32_t)(hash >> 32);

	*ret_tag = tag;
	for (size_t i = (size_t)hash & table->mask;; i = (i + 1) & table->mask) {
		struct slot *slot = &table->slots[i];

		if (slot->line == 0)
			return slot;
		if (slot->tag == tag &&
		    span_eq(lines_at(table->old_range.lines,
		                     table->old_range.from + slot->line - 1),
		            line))
			return slot;
	}
}

void classes_assign(struct line_range old_range, struct line_range new_range,
                    uint32_t *old_classes, uint32_t *new_classes)
{
	struct table table = { .key = process_key(), .old_range = old_range };
	size_t size = 16;
	_cleanup_free_ unsigned char *met = mem_alloc(old_range.count + 1, 1);

	while (size < 2 * old_range.count)
		size *= 2;
	table.mask = size - 1;
	table.slots = mem_alloc(size, sizeof(*table.slots));
	for (size_t i = 0; i < old_range.count; i++) {
		uint32_t tag;
		struct slot *slot = table_find(
			&table, lines_at(old_range.lines, old_range.from + i), &tag);

		if (slot->line == 0)
			*slot = (struct slot){ .tag = tag, .line = (uint32_t)i + 1 };
		old_classes[i] = slot->line - 1;
	}
	for (size_t i = 0; i < new_range.count; i++) {
		uint32_t tag;
		const struct slot *slot = table_find(
			&table, lines_at(new_range.lines, new_range.from + i), &tag);

		new_classes[i] = slot->line == 0 ? CLASS_ALONE : slot->line - 1;
		if (slot->line != 0)
			met[slot->line - 1] = 1;
	}
	for (size_t i = 0; i < old_range.count; i++) {
		if (!met[old_classes[i]])
			old_classes[i] = CLASS_ALONE;
	}
	free(table.slots);
}
