/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at text with vector instructions. Only speed depends on how common bytes are. */
#include "search/match/literal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- byte frequencies ---- */

/* The mean of those in about 100 MB of source, in equal parts C of a kernel,
 * C and C++ headers of a system, Python of a distribution, and JavaScript of npm packages.  Bytes
 * beyond ASCII are taken to be commoner than that, since text in other scripts is full of
 * a few of them.
 *
 * 8 * (24 + log2 of the share of this byte), at least 0: 192 would be every byte. */
static const unsigned char byte_rank[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 146, 152, 0, 23, 80, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	171, 107, 131, 123, 101, 102, 118, 131, 140, 140, 138, 112, 141, 131, 137, 133,
	131, 125, 124, 118, 115, 112, 115, 105, 113, 107, 131, 136, 118, 133, 129, 104,
	107, 131, 120, 131, 126, 134, 124, 123, 116, 131, 94, 111, 129, 126, 130, 128,
	128, 101, 131, 131, 134, 122, 114, 112, 119, 109, 108, 118, 112, 118, 85, 153,
	114, 153, 137, 148, 148, 161, 144, 138, 141, 154, 112, 131, 148, 142, 153, 152,
	146, 120, 155, 154, 158, 146, 134, 130, 133, 134, 117, 125, 111, 125, 91, 1,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
	100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
};

/* Bytes of a text are not independent of each other: those other than the two rarest count less. */
#define OTHERS_WEIGHT 4
#define CERTAIN 192

int literal_text_rank(struct span text)
{
	int first = CERTAIN, second = CERTAIN, sum = 0;

	for (size_t i = 0; i < text.len && i < 64; i++) {
		int rank = byte_rank[(unsigned char)text.data[i]];

		sum += rank - CERTAIN;
		if (rank < first) {
			second = first;
			first = rank;
		} else if (rank < second) {
			second = rank;
		}
	}
	first -= CERTAIN;
	second -= CERTAIN;
	return first + second + (sum - first - second) / OTHERS_WEIGHT;
}

/* ---- one text ---- */

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/platform/x86.h> /* what the loader found out: asking the processor takes longer */
#endif

static bool is_lower_ascii(unsigned char c)
{
	return c >= 'a' && c <= 'z';
}

/* Whether `at` begins with the text; there are at least text.len bytes. */
static bool literal_is_at(struct span text, bool ignore_case, const char *at)
{
	if (!ignore_case)
		return memcmp(text.data, at, text.len) == 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char want = (unsigned char)text.data[i], have = (unsigned char)at[i];

		if (have != want && (!is_lower_ascii(want) || (have | 0x20) != want))
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
static const char *literal_check_bits(const struct literal *literal, const char *base,
                                      uint32_t bits)
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

		if (bits && (hit = literal_check_bits(literal, at, bits)))
			return hit;
	}
	if (at > last || last - start < 15)
		return find_slowly(literal, at, last);
	/* The rest together with places that have been looked at already. */
	return literal_check_bits(literal, last - 15, places_sse2(literal, last - 15) &
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
	return literal_check_bits(literal, last - 31,
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
			if ((hit = literal_check_bits(literal, at, bits_avx2(a))) ||
			    (hit = literal_check_bits(literal, at + 32, bits_avx2(b))) ||
			    (hit = literal_check_bits(literal, at + 64, bits_avx2(c))) ||
			    (hit = literal_check_bits(literal, at + 96, bits_avx2(d))))
				return hit;
		}
		at += 128;
	}
	for (; last - at >= 31; at += 32) {
		hit = literal_check_bits(literal, at, bits_avx2(places_avx2(literal, &needle, at)));
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
		ret->masks[i] = ignore_case && is_lower_ascii(byte) ? 0x20 : 0;
	}
	literal_use(ret, literal_best_way());
}

/* ---- any of several texts ---- */

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* COMPARED: at most so many bytes of a text, so that no text makes many comparisons long. */
enum { SIGN_MAX = 3, GROUPS = 8, COMPARED = 16 };

struct set_member {
	struct span text; /* borrowed */
	size_t sign;      /* where in it its sign begins */
};

/* By half a byte: the groups that have it at this place of their signs. */
struct halves {
	unsigned char low[16], high[16];
};

struct literal_set {
	struct set_member members[LITERAL_SET_MAX]; /* sorted by sign: a group's are side by side */
	size_t count;
	size_t sign_len;
	size_t group_start[GROUPS + 1]; /* into members */
	struct halves halves[SIGN_MAX];
	bool ignore_case;
	const char *(*find)(const struct literal_set *set, const char *at, const char *end);
};

/* Whether one of the texts of the groups has its sign at `place`; all of [at, end) may be
 * looked at. */
static bool check_groups(const struct literal_set *set, unsigned groups, const char *place,
                  const char *at, const char *end)
{
	for (; groups; groups &= groups - 1) {
		int group = __builtin_ctz(groups);

		for (size_t i = set->group_start[group]; i < set->group_start[group + 1]; i++) {
			const struct set_member *member = &set->members[i];

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

		if (groups && check_groups(set, groups, place, at, end))
			return place;
	}
	return NULL;
}

static const char *find_any_slowly(const struct literal_set *set, const char *at, const char *end)
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
sign_places_avx2(const struct tables *tables, size_t sign_len, const char *place)
{
	__m256i groups = lookup(tables, 0, place);

	if (sign_len > 1)
		groups = _mm256_and_si256(groups, lookup(tables, 1, place));
	if (sign_len > 2)
		groups = _mm256_and_si256(groups, lookup(tables, 2, place));
	return ~(uint32_t)_mm256_movemask_epi8(
		_mm256_cmpeq_epi8(groups, _mm256_setzero_si256()));
}

__attribute__((target("avx2"))) static const char *find_any_avx2(const struct literal_set *set,
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
		bits = sign_places_avx2(&tables, sign_len, place);
		for (; bits; bits &= bits - 1) {
			const char *found = place + __builtin_ctz(bits);

			if (check_groups(set, groups_at(set, found), found, at, end))
				return found;
		}
	}
	return NULL;
}

#endif

void literal_set_use(struct literal_set *set, enum literal_way way)
{
	set->find = find_any_slowly;
#ifdef __x86_64__
	if (way == LITERAL_AVX2)
		set->find = find_any_avx2;
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
static struct set_member make_member(struct span text, size_t sign_len)
{
	size_t sign = rarest_sign(text, sign_len), start = 0;

	if (text.len > COMPARED) {
		start = sign > COMPARED / 2 ? sign - COMPARED / 2 : 0;
		if (start > text.len - COMPARED)
			start = text.len - COMPARED;
		text = span_head(span_skip(text, start), COMPARED);
	}
	return (struct set_member){ text, sign - start };
}

static int compare_signs(const void *a, const void *b, void *data)
{
	const struct set_member *left = a, *right = b;
	const size_t *sign_len = data;

	return memcmp(left->text.data + left->sign, right->text.data + right->sign, *sign_len);
}

static void halves_add(struct halves *halves, unsigned char byte, unsigned group)
{
	halves->low[byte & 15] |= (unsigned char)(1u << group);
	halves->high[byte >> 4] |= (unsigned char)(1u << group);
}

static void add_sign(struct literal_set *set, const struct set_member *member, unsigned group)
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

/* ---- looking over lines ---- */

/* Tens of bytes a nanosecond, since every byte goes through it. */

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

/* The line end at `at` ends a line that began at *start. */
static inline void survey_note_line(struct survey *survey, size_t *start, size_t at)
{
	size_t len = at + 1 - *start;

	survey->longest = len > survey->longest ? len : survey->longest;
	*start = at + 1;
}

static struct survey survey_finish(struct survey survey, size_t start, struct span text, size_t at)
{
	for (; at < text.len; at++) {
		unsigned char c = (unsigned char)text.data[at];

		survey.ascii = survey.ascii && c < 0x80;
		survey.has_cr = survey.has_cr || c == '\r';
		if (c == '\n')
			survey_note_line(&survey, &start, at);
	}
	if (text.len - start > survey.longest)
		survey.longest = text.len - start;
	return survey;
}

struct survey literal_survey_portable(struct span text)
{
	return survey_finish((struct survey){ .ascii = true }, 0, text, 0);
}

#ifdef __x86_64__

__attribute__((target("avx2"))) static struct survey survey_avx2(struct span text)
{
	const __m256i lf = _mm256_set1_epi8('\n'), cr = _mm256_set1_epi8('\r');
	__m256i all = _mm256_setzero_si256(), crs = _mm256_setzero_si256();
	struct survey survey = { 0 };
	size_t at = 0, start = 0;

	for (; text.len - at >= 64; at += 64) {
		const __m256i *from = (const __m256i *)(const void *)(text.data + at);
		__m256i a = _mm256_loadu_si256(from), b = _mm256_loadu_si256(from + 1);
		uint64_t lines = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(a, lf));

		lines |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(b, lf)) << 32;
		all = _mm256_or_si256(all, _mm256_or_si256(a, b));
		crs = _mm256_or_si256(crs, _mm256_or_si256(_mm256_cmpeq_epi8(a, cr),
		                                           _mm256_cmpeq_epi8(b, cr)));
		for (; lines; lines &= lines - 1)
			survey_note_line(&survey, &start, at + (size_t)__builtin_ctzll(lines));
	}
	survey.ascii = _mm256_movemask_epi8(all) == 0;
	survey.has_cr = _mm256_movemask_epi8(crs) != 0;
	return survey_finish(survey, start, text, at);
}

#endif

struct survey literal_survey(struct span text)
{
#ifdef __x86_64__
	if (CPU_FEATURE_ACTIVE(AVX2))
		return survey_avx2(text);
#endif
	return literal_survey_portable(text);
}
