/* SPDX-License-Identifier: Apache-2.0 */
/* Finding any of several texts. */
#include "search/match/literal_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "search/match/byte_rank.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* COMPARED: at most so many bytes of a text, so that no text makes many comparisons long. */
enum { SIGN_MAX = 3, GROUPS = 8, COMPARED = 16 };

struct member {
	struct span text; /* borrowed */
	size_t sign;      /* where in it its sign begins */
};

/* By half a byte: the groups that have it at this place of their signs. */
struct halves {
	unsigned char low[16], high[16];
};

struct literal_set {
	struct member members[LITERAL_SET_MAX]; /* sorted by sign: a group's are side by side */
	size_t count;
	size_t sign_len;
	size_t group_start[GROUPS + 1]; /* into members */
	struct halves halves[SIGN_MAX];
	bool ignore_case;
	const char *(*find)(const struct literal_set *set, const char *at, const char *end);
};

/* Whether one of the texts of the groups has its sign at `place`; all of [at, end) may be
 * looked at. */
static bool check(const struct literal_set *set, unsigned groups, const char *place,
                  const char *at, const char *end)
{
	for (; groups; groups &= groups - 1) {
		int group = __builtin_ctz(groups);

		for (size_t i = set->group_start[group]; i < set->group_start[group + 1]; i++) {
			const struct member *member = &set->members[i];

			if ((size_t)(place - at) >= member->sign &&
			    (size_t)(end - place) >= member->text.len - member->sign &&
			    literal_is_at(member->text, set->ignore_case, place - member->sign))
				return true;
		}
	}
	return false;
}

static unsigned groups_at(const struct literal_set *set, const char *place)
{
	unsigned groups = 0xff;

	for (size_t i = 0; i < set->sign_len; i++) {
		unsigned char byte = (unsigned char)place[i];

		groups &= set->halves[i].low[byte & 15] & set->halves[i].high[byte >> 4];
	}
	return groups;
}

/* Places [place, last] one by one; the texts lie in [at, end). */
static const char *find_from(const struct literal_set *set, const char *place, const char *last,
                             const char *at, const char *end)
{
	for (; place <= last; place++) {
		unsigned groups = groups_at(set, place);

		if (groups && check(set, groups, place, at, end))
			return place;
	}
	return NULL;
}

static const char *find_anywhere(const struct literal_set *set, const char *at, const char *end)
{
	if ((size_t)(end - at) < set->sign_len)
		return NULL;
	return find_from(set, at, end - set->sign_len, at, end);
}

#ifdef __x86_64__

struct tables {
	__m256i low[SIGN_MAX], high[SIGN_MAX];
};

__attribute__((target("avx2"))) static inline __m256i
lookup(const struct tables *tables, size_t i, const char *place)
{
	const __m256i half = _mm256_set1_epi8(15);
	__m256i bytes = _mm256_loadu_si256((const __m256i *)(const void *)(place + i));
	__m256i low = _mm256_shuffle_epi8(tables->low[i], _mm256_and_si256(bytes, half));
	__m256i high = _mm256_shuffle_epi8(
		tables->high[i], _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));

	return _mm256_and_si256(low, high);
}

/* Bit n: some group remains at place + n. */
__attribute__((target("avx2"))) static inline uint32_t
places_avx2(const struct tables *tables, size_t sign_len, const char *place)
{
	__m256i groups = lookup(tables, 0, place);

	if (sign_len > 1)
		groups = _mm256_and_si256(groups, lookup(tables, 1, place));
	if (sign_len > 2)
		groups = _mm256_and_si256(groups, lookup(tables, 2, place));
	return ~(uint32_t)_mm256_movemask_epi8(
		_mm256_cmpeq_epi8(groups, _mm256_setzero_si256()));
}

__attribute__((target("avx2"))) static const char *find_avx2(const struct literal_set *set,
                                                             const char *at, const char *end)
{
	const char *last = end - set->sign_len;
	size_t sign_len = set->sign_len;
	struct tables tables;

	if ((size_t)(end - at) < sign_len)
		return NULL;
	for (size_t i = 0; i < SIGN_MAX; i++) {
		const __m128i *low = (const __m128i *)(const void *)set->halves[i].low;
		const __m128i *high = (const __m128i *)(const void *)set->halves[i].high;

		tables.low[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128(low));
		tables.high[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128(high));
	}
	if (last - at < 31)
		return find_from(set, at, last, at, end);
	for (const char *place = at; place <= last; place += 32) {
		uint32_t bits;

		/* The rest together with places that have been looked at already. */
		if (last - place < 31)
			place = last - 31;
		bits = places_avx2(&tables, sign_len, place);
		for (; bits; bits &= bits - 1) {
			const char *found = place + __builtin_ctz(bits);

			if (check(set, groups_at(set, found), found, at, end))
				return found;
		}
	}
	return NULL;
}

#endif

void literal_set_use(struct literal_set *set, enum literal_way way)
{
	set->find = find_anywhere;
#ifdef __x86_64__
	if (way == LITERAL_AVX2)
		set->find = find_avx2;
#else
	(void)way;
#endif
}

/* ---- making one ---- */

static size_t rarest_sign(struct span text, size_t sign_len)
{
	size_t best = 0;
	int best_rank = 0;

	for (size_t i = 0; i + sign_len <= text.len; i++) {
		int rank = 0;

		for (size_t k = 0; k < sign_len; k++)
			rank += byte_rank[(unsigned char)text.data[i + k]];
		if (i == 0 || rank < best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

/* The text, or what is compared of it. */
static struct member make_member(struct span text, size_t sign_len)
{
	size_t sign = rarest_sign(text, sign_len), start = 0;

	if (text.len > COMPARED) {
		start = sign > COMPARED / 2 ? sign - COMPARED / 2 : 0;
		if (start > text.len - COMPARED)
			start = text.len - COMPARED;
		text = span_head(span_skip(text, start), COMPARED);
	}
	return (struct member){ text, sign - start };
}

static int compare_signs(const void *a, const void *b, void *data)
{
	const struct member *left = a, *right = b;
	const size_t *sign_len = data;

	return memcmp(left->text.data + left->sign, right->text.data + right->sign, *sign_len);
}

static void halves_add(struct halves *halves, unsigned char byte, unsigned group)
{
	halves->low[byte & 15] |= (unsigned char)(1u << group);
	halves->high[byte >> 4] |= (unsigned char)(1u << group);
}

static void add_sign(struct literal_set *set, const struct member *member, unsigned group)
{
	for (size_t i = 0; i < set->sign_len; i++) {
		unsigned char byte = (unsigned char)member->text.data[member->sign + i];

		halves_add(&set->halves[i], byte, group);
		if (set->ignore_case && byte >= 'a' && byte <= 'z')
			halves_add(&set->halves[i], byte & 0xdf, group);
	}
}

struct literal_set *literal_set_new(const struct span *texts, size_t count, bool ignore_case)
{
	struct literal_set *set = mem_alloc(1, sizeof(*set));

	set->count = count;
	set->ignore_case = ignore_case;
	set->sign_len = SIGN_MAX;
	for (size_t i = 0; i < count; i++)
		set->sign_len = texts[i].len < set->sign_len ? texts[i].len : set->sign_len;
	for (size_t i = 0; i < count; i++)
		set->members[i] = make_member(texts[i], set->sign_len);
	/* Signs that begin alike share a group: that makes for fewer places to look at. */
	qsort_r(set->members, count, sizeof(*set->members), compare_signs, &set->sign_len);
	for (unsigned group = 0; group <= GROUPS; group++)
		set->group_start[group] = group * count / GROUPS;
	for (unsigned group = 0; group < GROUPS; group++) {
		for (size_t i = set->group_start[group]; i < set->group_start[group + 1]; i++)
			add_sign(set, &set->members[i], group);
	}
	literal_set_use(set, literal_best_way());
	return set;
}

void literal_set_free(struct literal_set *set)
{
	free(set);
}

const char *literal_set_find(const struct literal_set *set, const char *at, const char *end)
{
	return set->find(set, at, end);
}
