/* SPDX-License-Identifier: Apache-2.0 */
/* Looking over lines: tens of bytes a nanosecond, since every byte goes through it. */
#include "search/match/survey.h"

#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#include <sys/platform/x86.h>
#endif

/* The line end at `at` ends a line that began at *start. */
static inline void note_line(struct survey *survey, size_t *start, size_t at)
{
	size_t len = at + 1 - *start;

	survey->longest = len > survey->longest ? len : survey->longest;
	*start = at + 1;
}

static void note_byte(struct survey *survey, size_t *start, struct span text, size_t at)
{
	unsigned char c = (unsigned char)text.data[at];

	survey->ascii = survey->ascii && c < 0x80;
	survey->has_cr = survey->has_cr || c == '\r';
	if (c == '\n')
		note_line(survey, start, at);
}

static struct survey finish(struct survey survey, size_t start, struct span text, size_t at)
{
	for (; at < text.len; at++)
		note_byte(&survey, &start, text, at);
	if (text.len - start > survey.longest)
		survey.longest = text.len - start;
	return survey;
}

struct survey survey_text_portable(struct span text)
{
	return finish((struct survey){ .ascii = true }, 0, text, 0);
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
			note_line(&survey, &start, at + (size_t)__builtin_ctzll(lines));
	}
	survey.ascii = _mm256_movemask_epi8(all) == 0;
	survey.has_cr = _mm256_movemask_epi8(crs) != 0;
	return finish(survey, start, text, at);
}

#endif

struct survey survey_text(struct span text)
{
#ifdef __x86_64__
	if (CPU_FEATURE_ACTIVE(AVX2))
		return survey_avx2(text);
#endif
	return survey_text_portable(text);
}
