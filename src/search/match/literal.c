/* SPDX-License-Identifier: Apache-2.0 */
/* Finding one text. */
#include "search/match/literal.h"

#include <stdint.h>
#include <string.h>

#include "search/match/byte_rank.h"

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/platform/x86.h> /* what the loader found out: asking the processor takes longer */
#endif

static bool is_lower(unsigned char c)
{
	return c >= 'a' && c <= 'z';
}

bool literal_is_at(struct span text, bool ignore_case, const char *at)
{
	if (!ignore_case)
		return memcmp(text.data, at, text.len) == 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char want = (unsigned char)text.data[i], have = (unsigned char)at[i];

		if (have != want && (!is_lower(want) || (have | 0x20) != want))
			return false;
	}
	return true;
}

static bool is_here(const struct literal *literal, const char *at)
{
	return literal_is_at(literal->text, literal->ignore_case, at);
}

/* Both bytes at the place `at`. */
static bool has_bytes(const struct literal *literal, const char *at)
{
	return ((unsigned char)at[literal->first] | literal->masks[0]) == literal->bytes[0] &&
	       ((unsigned char)at[literal->second] | literal->masks[1]) == literal->bytes[1];
}

/* Place after place; `last` is the last one where the text could begin. */
static const char *find_slowly(const struct literal *literal, const char *at, const char *last)
{
	for (; at <= last; at++) {
		if (has_bytes(literal, at) && is_here(literal, at))
			return at;
	}
	return NULL;
}

static const char *find_anywhere(const struct literal *literal, const char *at, const char *end)
{
	const char *last = end - literal->text.len;

	if ((size_t)(end - at) < literal->text.len)
		return NULL;
	if (literal->masks[0])
		return find_slowly(literal, at, last);
	for (; at <= last; at++) {
		const char *byte = memchr(at + literal->first, literal->bytes[0],
		                          (size_t)(last - at) + 1);

		if (!byte)
			return NULL;
		at = byte - literal->first;
		if (is_here(literal, at))
			return at;
	}
	return NULL;
}

static const char *find_long(const struct literal *literal, const char *at, const char *end)
{
	return memmem(at, (size_t)(end - at), literal->text.data, literal->text.len);
}

#ifdef __x86_64__

/* The first place of `base` + a bit of `bits` where the text is. */
static const char *check(const struct literal *literal, const char *base, uint32_t bits)
{
	for (; bits; bits &= bits - 1) {
		const char *at = base + __builtin_ctz(bits);

		if (is_here(literal, at))
			return at;
	}
	return NULL;
}

static inline uint32_t places_sse2(const struct literal *literal, const char *at)
{
	__m128i first = _mm_loadu_si128((const __m128i *)(const void *)(at + literal->first));
	__m128i second = _mm_loadu_si128((const __m128i *)(const void *)(at + literal->second));

	first = _mm_or_si128(first, _mm_set1_epi8((char)literal->masks[0]));
	second = _mm_or_si128(second, _mm_set1_epi8((char)literal->masks[1]));
	first = _mm_cmpeq_epi8(first, _mm_set1_epi8((char)literal->bytes[0]));
	second = _mm_cmpeq_epi8(second, _mm_set1_epi8((char)literal->bytes[1]));
	return (uint32_t)_mm_movemask_epi8(_mm_and_si128(first, second));
}

static const char *find_sse2(const struct literal *literal, const char *at, const char *end)
{
	const char *last = end - literal->text.len, *hit, *start = at;

	if ((size_t)(end - at) < literal->text.len)
		return NULL;
	for (; last - at >= 15; at += 16) {
		uint32_t bits = places_sse2(literal, at);

		if (bits && (hit = check(literal, at, bits)))
			return hit;
	}
	if (at > last || last - start < 15)
		return find_slowly(literal, at, last);
	/* The rest together with places that have been looked at already. */
	return check(literal, last - 15, places_sse2(literal, last - 15) &
	                                         0xffffu << (at - (last - 15)));
}

struct needle {
	__m256i bytes[2], masks[2];
};

__attribute__((target("avx2"))) static inline __m256i places_avx2(const struct literal *literal,
                                                                  const struct needle *needle,
                                                                  const char *at)
{
	__m256i first = _mm256_loadu_si256((const __m256i *)(const void *)(at + literal->first));
	__m256i second = _mm256_loadu_si256((const __m256i *)(const void *)(at + literal->second));

	first = _mm256_cmpeq_epi8(_mm256_or_si256(first, needle->masks[0]), needle->bytes[0]);
	second = _mm256_cmpeq_epi8(_mm256_or_si256(second, needle->masks[1]), needle->bytes[1]);
	return _mm256_and_si256(first, second);
}

__attribute__((target("avx2"))) static inline uint32_t bits_avx2(__m256i places)
{
	return (uint32_t)_mm256_movemask_epi8(places);
}

/* Less than 32 places, or those that are left: [at, last]. */
__attribute__((target("avx2"))) static const char *
find_rest_avx2(const struct literal *literal, const struct needle *needle, const char *start,
               const char *at, const char *last)
{
	if (at > last)
		return NULL;
	if (last - start < 31)
		return last - start < 15 ? find_slowly(literal, at, last)
		                         : find_sse2(literal, at, last + literal->text.len);
	/* Together with places that have been looked at already. */
	return check(literal, last - 31,
	             bits_avx2(places_avx2(literal, needle, last - 31)) &
	                     0xffffffffu << (at - (last - 31)));
}

__attribute__((target("avx2"))) static const char *find_avx2(const struct literal *literal,
                                                             const char *at, const char *end)
{
	const char *last = end - literal->text.len, *start = at, *hit;
	struct needle needle;

	if ((size_t)(end - at) < literal->text.len)
		return NULL;
	for (int i = 0; i < 2; i++) {
		needle.bytes[i] = _mm256_set1_epi8((char)literal->bytes[i]);
		needle.masks[i] = _mm256_set1_epi8((char)literal->masks[i]);
	}
	while (last - at >= 127) {
		__m256i a = places_avx2(literal, &needle, at);
		__m256i b = places_avx2(literal, &needle, at + 32);
		__m256i c = places_avx2(literal, &needle, at + 64);
		__m256i d = places_avx2(literal, &needle, at + 96);
		__m256i any = _mm256_or_si256(_mm256_or_si256(a, b), _mm256_or_si256(c, d));

		if (!_mm256_testz_si256(any, any)) {
			if ((hit = check(literal, at, bits_avx2(a))) ||
			    (hit = check(literal, at + 32, bits_avx2(b))) ||
			    (hit = check(literal, at + 64, bits_avx2(c))) ||
			    (hit = check(literal, at + 96, bits_avx2(d))))
				return hit;
		}
		at += 128;
	}
	for (; last - at >= 31; at += 32) {
		hit = check(literal, at, bits_avx2(places_avx2(literal, &needle, at)));
		if (hit)
			return hit;
	}
	return find_rest_avx2(literal, &needle, start, at, last);
}

#endif

enum literal_way literal_best_way(void)
{
#ifdef __x86_64__
	return CPU_FEATURE_ACTIVE(AVX2) ? LITERAL_AVX2 : LITERAL_SSE2;
#else
	return LITERAL_PORTABLE;
#endif
}

void literal_use(struct literal *literal, enum literal_way way)
{
	literal->find = find_anywhere;
#ifdef __x86_64__
	if (way == LITERAL_SSE2)
		literal->find = find_sse2;
	if (way == LITERAL_AVX2)
		literal->find = find_avx2;
#else
	(void)way;
#endif
	if (literal->text.len > LITERAL_LONG && !literal->ignore_case)
		literal->find = find_long;
}

/* The two rarest bytes, at different places where there are two. */
static void choose_bytes(struct literal *literal)
{
	struct span text = literal->text;
	size_t rarest = 0, other = 0;

	for (size_t i = 1; i < text.len; i++) {
		if (byte_rank[(unsigned char)text.data[i]] <
		    byte_rank[(unsigned char)text.data[rarest]])
			rarest = i;
	}
	other = rarest == 0 && text.len > 1 ? 1 : 0;
	for (size_t i = 0; i < text.len; i++) {
		if (i != rarest && text.data[i] != text.data[rarest] &&
		    (text.data[other] == text.data[rarest] ||
		     byte_rank[(unsigned char)text.data[i]] <
		             byte_rank[(unsigned char)text.data[other]]))
			other = i;
	}
	literal->first = rarest < other ? rarest : other;
	literal->second = rarest < other ? other : rarest;
}

void literal_init(struct literal *ret, struct span text, bool ignore_case)
{
	*ret = (struct literal){ .text = text, .ignore_case = ignore_case };
	choose_bytes(ret);
	for (int i = 0; i < 2; i++) {
		unsigned char byte = (unsigned char)text.data[i ? ret->second : ret->first];

		ret->bytes[i] = byte;
		ret->masks[i] = ignore_case && is_lower(byte) ? 0x20 : 0;
	}
	literal_use(ret, literal_best_way());
}
