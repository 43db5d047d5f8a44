/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of texts and needs. */
#include "search/match/regex_needs.h"

#include <string.h>

#include "base/mem.h"
#include "search/match/byte_rank.h"

/* All texts of a pattern: a few times the longest pattern. */
#define ARENA_BYTES_MAX ((size_t)4 << 20)
/* Longer products are not followed further: they say enough. */
#define PRODUCT_BYTES_MAX ((size_t)128 << 10)
/* Texts below this length say little when there is a longer one. */
#define USEFUL_BYTES 3

struct needs_block {
	struct needs_block *next;
};

static void *arena_get(struct needs_arena *arena, size_t count, size_t size)
{
	struct needs_block *block = mem_alloc(1, sizeof(*block) + count * size);

	block->next = arena->blocks;
	arena->blocks = block;
	arena->used += sizeof(*block) + count * size;
	arena->full = arena->full || arena->used > ARENA_BYTES_MAX;
	return block + 1;
}

void needs_arena_release(struct needs_arena *arena)
{
	while (arena->blocks) {
		struct needs_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	*arena = (struct needs_arena){ 0 };
}

static struct span join(struct needs_arena *arena, struct span a, struct span b)
{
	char *data;

	if (a.len == 0)
		return b;
	if (b.len == 0)
		return a;
	data = arena_get(arena, a.len + b.len, 1);
	memcpy(data, a.data, a.len);
	memcpy(data + a.len, b.data, b.len);
	return span_of(data, a.len + b.len);
}

struct texts texts_one(struct needs_arena *arena, struct span text)
{
	struct span *item = arena_get(arena, 1, sizeof(*item));
	char *data = arena_get(arena, text.len + 1, 1);

	if (text.len > 0)
		memcpy(data, text.data, text.len);
	*item = span_of(data, text.len);
	return (struct texts){ item, 1 };
}

static size_t texts_bytes(struct texts texts)
{
	size_t bytes = 0;

	for (size_t i = 0; i < texts.count; i++)
		bytes += texts.items[i].len;
	return bytes;
}

struct texts texts_product(struct needs_arena *arena, struct texts a, struct texts b)
{
	struct span *items;
	size_t count = a.count * b.count;

	if (count == 0 || count > TEXTS_MAX || arena->full ||
	    texts_bytes(a) * b.count + texts_bytes(b) * a.count > PRODUCT_BYTES_MAX)
		return (struct texts){ 0 };
	items = arena_get(arena, count, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = join(arena, a.items[i / b.count], b.items[i % b.count]);
	return (struct texts){ items, count };
}

struct texts texts_union(struct needs_arena *arena, struct texts a, struct texts b)
{
	struct span *items;

	if (a.count == 0 || b.count == 0 || a.count + b.count > TEXTS_MAX || arena->full)
		return (struct texts){ 0 };
	items = arena_get(arena, a.count + b.count, sizeof(*items));
	memcpy(items, a.items, a.count * sizeof(*items));
	memcpy(items + a.count, b.items, b.count * sizeof(*items));
	return (struct texts){ items, a.count + b.count };
}

struct matcher_needs needs_any(struct needs_arena *arena, struct texts texts)
{
	struct matcher_alternative *alternatives;

	if (texts.count == 0)
		return (struct matcher_needs){ 0 };
	alternatives = arena_get(arena, texts.count, sizeof(*alternatives));
	for (size_t i = 0; i < texts.count; i++) {
		if (texts.items[i].len == 0)
			return (struct matcher_needs){ 0 };
		alternatives[i] = (struct matcher_alternative){ &texts.items[i], 1 };
	}
	return (struct matcher_needs){ alternatives, texts.count };
}

/* How often one of the alternatives is met: smaller is rarer. */
static int needs_rank(struct matcher_needs needs)
{
	int worst = RANK_RAREST;

	for (size_t i = 0; i < needs.count; i++) {
		const struct matcher_alternative *alternative = &needs.alternatives[i];
		int best = RANK_COMMONEST;

		for (size_t k = 0; k < alternative->count; k++) {
			int rank = text_rank(alternative->literals[k]);

			best = rank < best ? rank : best;
		}
		worst = best > worst ? best : worst;
	}
	return worst + (int)(needs.count / 4);
}

static int compare_rank(const void *a, const void *b)
{
	int left = text_rank(*(const struct span *)a);
	int right = text_rank(*(const struct span *)b);

	return (left > right) - (left < right);
}

static struct matcher_alternative merge(struct needs_arena *arena,
                                        const struct matcher_alternative *a,
                                        const struct matcher_alternative *b)
{
	size_t count = a->count + b->count;
	struct span *literals = arena_get(arena, count, sizeof(*literals));

	memcpy(literals, a->literals, a->count * sizeof(*literals));
	memcpy(literals + a->count, b->literals, b->count * sizeof(*literals));
	if (count > NEEDS_LITERALS_MAX) {
		qsort(literals, count, sizeof(*literals), compare_rank);
		count = NEEDS_LITERALS_MAX;
	}
	return (struct matcher_alternative){ literals, count };
}

struct matcher_needs needs_both(struct needs_arena *arena, struct matcher_needs a,
                                struct matcher_needs b)
{
	size_t count = a.count * b.count;
	struct matcher_alternative *alternatives;

	if (a.count == 0 || b.count == 0)
		return a.count ? a : b;
	if (count > TEXTS_MAX || arena->full)
		return needs_rank(a) <= needs_rank(b) ? a : b;
	alternatives = arena_get(arena, count, sizeof(*alternatives));
	for (size_t i = 0; i < count; i++)
		alternatives[i] = merge(arena, &a.alternatives[i / b.count],
		                        &b.alternatives[i % b.count]);
	return (struct matcher_needs){ alternatives, count };
}

struct matcher_needs needs_either(struct needs_arena *arena, struct matcher_needs a,
                                  struct matcher_needs b)
{
	struct matcher_alternative *alternatives;

	if (a.count == 0 || b.count == 0 || a.count + b.count > TEXTS_MAX || arena->full)
		return (struct matcher_needs){ 0 };
	alternatives = arena_get(arena, a.count + b.count, sizeof(*alternatives));
	memcpy(alternatives, a.alternatives, a.count * sizeof(*alternatives));
	memcpy(alternatives + a.count, b.alternatives, b.count * sizeof(*alternatives));
	return (struct matcher_needs){ alternatives, a.count + b.count };
}

/* Whether another text of the alternative makes text i superfluous. */
static bool is_superfluous(const struct span *texts, size_t count, size_t i, size_t longest)
{
	if (texts[i].len < USEFUL_BYTES && texts[i].len < longest)
		return true;
	for (size_t k = 0; k < count; k++) {
		bool part = k != i && texts[k].len >= texts[i].len &&
		            memmem(texts[k].data, texts[k].len, texts[i].data, texts[i].len);

		/* Of two that are equal the first one stays. */
		if (part && (texts[k].len > texts[i].len || k < i))
			return true;
	}
	return false;
}

struct matcher_needs needs_tidy(struct needs_arena *arena, struct matcher_needs needs)
{
	struct matcher_alternative *alternatives =
		arena_get(arena, needs.count, sizeof(*alternatives));

	for (size_t i = 0; i < needs.count; i++) {
		const struct matcher_alternative *from = &needs.alternatives[i];
		struct span *kept = arena_get(arena, from->count, sizeof(*kept));
		size_t count = 0, longest = 0;

		for (size_t k = 0; k < from->count; k++)
			longest = from->literals[k].len > longest ? from->literals[k].len : longest;
		for (size_t k = 0; k < from->count; k++) {
			if (!is_superfluous(from->literals, from->count, k, longest))
				kept[count++] = from->literals[k];
		}
		alternatives[i] = (struct matcher_alternative){ kept, count };
	}
	return (struct matcher_needs){ alternatives, needs.count };
}
