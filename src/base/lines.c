/* SPDX-License-Identifier: Apache-2.0 */
/* Where the lines of a text begin and end. */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/limits.h"
#include "base/mem.h"

/* ---- line feeds, 64 bytes at a time ------------------------------------- */

enum { BLOCK = 64 };

#ifdef __SSE2__
/* A bit for each of the 64 bytes that is a line feed. */
static uint64_t feeds_of(const char *block)
{
	const __m128i feed = _mm_set1_epi8('\n');
	uint64_t mask = 0;

	for (unsigned i = 0; i < BLOCK / 16; i++) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(block + 16 * i));
		unsigned bits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, feed));

		mask |= (uint64_t)bits << (16 * i);
	}
	return mask;
}
#else
static uint64_t feeds_of(const char *block)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < BLOCK; i++)
		mask |= (uint64_t)(block[i] == '\n') << i;
	return mask;
}
#endif

size_t lines_count(struct span text)
{
	size_t count = text.len && text.data[text.len - 1] != '\n';
	size_t at = 0;

	for (; at + BLOCK <= text.len; at += BLOCK)
		count += (size_t)__builtin_popcountll(feeds_of(text.data + at));
	for (; at < text.len; at++)
		count += text.data[at] == '\n';
	return count;
}

void lines_index(struct lines *lines, struct span text)
{
	size_t cap = text.len / 40 + 2; /* source lines are about 30 bytes long */
	uint32_t *starts = mem_grow(NULL, &cap, cap, sizeof(*starts));
	size_t count = 0;
	size_t at = 0;

	_Static_assert(LIMIT_FILE_BYTES - 1 <= UINT32_MAX, "a line begins within the limit");
	if (text.len > LIMIT_FILE_BYTES)
		abort();
	starts[0] = 0;
	for (; at + BLOCK <= text.len; at += BLOCK) {
		if (cap - count <= BLOCK)
			starts = mem_grow(starts, &cap, count + BLOCK + 1, sizeof(*starts));
		for (uint64_t mask = feeds_of(text.data + at); mask; mask &= mask - 1)
			starts[++count] = (uint32_t)(at + (size_t)__builtin_ctzll(mask) + 1);
	}
	starts = mem_grow(starts, &cap, count + BLOCK + 2, sizeof(*starts));
	for (; at < text.len; at++)
		if (text.data[at] == '\n')
			starts[++count] = (uint32_t)(at + 1);
	/* After a line feed at the end no other line begins. */
	count += text.len && text.data[text.len - 1] != '\n';
	*lines = (struct lines){ .text = text, .starts = starts, .count = count };
}

void lines_release(struct lines *lines)
{
	free(lines->starts);
	*lines = (struct lines){ 0 };
}

bool line_next(struct span *rest, struct span *ret_line)
{
	const char *newline;
	size_t len;

	if (!rest->len)
		return false;
	newline = memchr(rest->data, '\n', rest->len);
	len = newline ? (size_t)(newline - rest->data) + 1 : rest->len;
	*ret_line = span_head(*rest, len);
	*rest = span_skip(*rest, len);
	return true;
}
