/* SPDX-License-Identifier: Apache-2.0 */
/* Vectorised searches beside naive ones, at the edges of memory that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "search/match/literal.h"

enum { PAGE = 4096, TEXT_MAX = 1200 };

/* Deterministic numbers: a failure comes back. */
static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* A page between two that cannot be read. */
static char *fenced_page(void)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	char *base = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, flags, -1, 0);

	assert_true(base != MAP_FAILED);
	assert_int_equal(mprotect(base, PAGE, PROT_NONE), 0);
	assert_int_equal(mprotect(base + 2 * PAGE, PAGE, PROT_NONE), 0);
	return base + PAGE;
}

static void free_fenced(char *page)
{
	munmap(page - PAGE, 3 * PAGE);
}

static unsigned char lower(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static const char *naive_find(struct span needle, bool ignore_case, const char *at,
                              const char *end)
{
	for (; (size_t)(end - at) >= needle.len; at++) {
		size_t i = 0;

		while (i < needle.len &&
		       (ignore_case ? lower(at[i]) : (unsigned char)at[i]) ==
		               (unsigned char)needle.data[i])
			i++;
		if (i == needle.len)
			return at;
	}
	return NULL;
}

/* Few different bytes, so that there are many near misses. */
static void fill(char *text, size_t len, uint32_t *state)
{
	static const char bytes[] = "abAB_z@[`{\n\r\x80\xff";

	for (size_t i = 0; i < len; i++)
		text[i] = bytes[next_random(state) % (sizeof(bytes) - 1)];
}

static void make_needle(char *needle, size_t len, bool ignore_case, uint32_t *state)
{
	fill(needle, len, state);
	for (size_t i = 0; ignore_case && i < len; i++)
		needle[i] = (char)lower(needle[i]);
}

/* Text against the start of the page, or against its end. */
static char *place(char *page, size_t len, bool at_end)
{
	return at_end ? page + PAGE - len : page;
}

static void one_text_is_found_where_a_naive_search_finds_it(void **context)
{
	char *page = fenced_page(), needle[40];
	uint32_t state = 1;
	size_t found = 0;

	(void)context;
	for (int round = 0; round < 60000; round++) {
		bool ignore_case = next_random(&state) & 1;
		size_t len = next_random(&state) % (round % 4 ? 200 : TEXT_MAX);
		size_t needle_len = 1 + next_random(&state) % (round % 8 ? 4 : 40);
		char *text = place(page, len, next_random(&state) & 1);
		struct literal literal;
		const char *want;

		fill(text, len, &state);
		make_needle(needle, needle_len, ignore_case, &state);
		if (len > needle_len && round % 3 == 0)
			memcpy(text + next_random(&state) % (len - needle_len + 1), needle,
			       needle_len);
		want = naive_find(span_of(needle, needle_len), ignore_case, text, text + len);
		found += want != NULL;
		literal_init(&literal, span_of(needle, needle_len), ignore_case);
		for (int way = LITERAL_PORTABLE; way <= (int)literal_best_way(); way++) {
			literal_use(&literal, (enum literal_way)way);
			assert_ptr_equal(literal_find(&literal, text, text + len), want);
		}
	}
	assert_true(found > 10000);
	free_fenced(page);
}

static size_t line_of(const char *text, const char *at)
{
	size_t line = 0;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

enum { NEEDLES = 20 };

struct needles {
	char bytes[NEEDLES][8];
	struct span texts[NEEDLES];
	size_t count;
};

static void make_needles(struct needles *needles, bool ignore_case, uint32_t *state)
{
	needles->count = 1 + next_random(state) % NEEDLES;
	for (size_t i = 0; i < needles->count; i++) {
		size_t len = 1 + next_random(state) % (needles->count > 3 ? 8 : 4);

		make_needle(needles->bytes[i], len, ignore_case, state);
		for (size_t k = 0; k < len; k++) {
			if (needles->bytes[i][k] == '\n')
				needles->bytes[i][k] = '_';
		}
		needles->texts[i] = span_of(needles->bytes[i], len);
	}
}

/* Which line has the first of any of the texts; SIZE_MAX: none. */
static size_t naive_first_line(const struct needles *needles, bool ignore_case, const char *text,
                               size_t len)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < needles->count; i++) {
		const char *hit = naive_find(needles->texts[i], ignore_case, text, text + len);

		if (hit && line_of(text, hit) < first)
			first = line_of(text, hit);
	}
	return first;
}

static void several_texts_are_found_in_the_right_line(void **context)
{
	char *page = fenced_page();
	uint32_t state = 2;
	size_t found = 0;

	(void)context;
	for (int round = 0; round < 20000; round++) {
		bool ignore_case = next_random(&state) & 1;
		size_t len = next_random(&state) % (round % 4 ? 200 : TEXT_MAX), want;
		char *text = place(page, len, next_random(&state) & 1);
		struct needles needles;
		struct literal_set *set;

		fill(text, len, &state);
		make_needles(&needles, ignore_case, &state);
		want = naive_first_line(&needles, ignore_case, text, len);
		found += want != SIZE_MAX;
		set = literal_set_new(needles.texts, needles.count, ignore_case);
		for (int way = LITERAL_PORTABLE; way <= (int)literal_best_way(); way++) {
			const char *hit;

			literal_set_use(set, (enum literal_way)way);
			hit = literal_set_find(set, text, text + len);
			assert_int_equal(hit ? line_of(text, hit) : SIZE_MAX, want);
			assert_true(!hit || (hit >= text && hit < text + len));
		}
		literal_set_free(set);
	}
	assert_true(found > 5000);
	free_fenced(page);
}

static void surveys_agree(void **context)
{
	char *page = fenced_page();
	uint32_t state = 3;

	(void)context;
	for (int round = 0; round < 20000; round++) {
		size_t len = next_random(&state) % TEXT_MAX;
		char *text = place(page, len, next_random(&state) & 1);
		struct survey fast, plain;

		memset(text, 'x', len);
		for (size_t i = 0; i < len && round % 5; i += next_random(&state) % 200)
			text[i] = "\n\n\n\r\x80" [next_random(&state) % 5];
		fast = literal_survey(span_of(text, len));
		plain = literal_survey_portable(span_of(text, len));
		assert_int_equal(fast.ascii, plain.ascii);
		assert_int_equal(fast.has_cr, plain.has_cr);
		assert_int_equal(fast.longest, plain.longest);
	}
	free_fenced(page);
}

static void a_survey_says_what_is_there(void **context)
{
	struct survey survey = literal_survey_portable(SPAN("ab\nabcd\r\nx"));

	(void)context;
	assert_true(survey.ascii);
	assert_true(survey.has_cr);
	assert_int_equal(survey.longest, 6);
	survey = literal_survey_portable(SPAN("\xc3\xa9\nabcdefg"));
	assert_false(survey.ascii);
	assert_false(survey.has_cr);
	assert_int_equal(survey.longest, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_text_is_found_where_a_naive_search_finds_it),
		cmocka_unit_test(several_texts_are_found_in_the_right_line),
		cmocka_unit_test(surveys_agree),
		cmocka_unit_test(a_survey_says_what_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
