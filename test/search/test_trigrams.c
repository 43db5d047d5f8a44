/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures never deny what is there, and mostly deny what is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "search/cache/kept_tree.h"

enum { FILES = 400 };

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

/* Text of an alphabet of `letters` letters, of both cases, with some spaces and umlauts. */
static char *random_text(uint32_t *state, size_t len, unsigned letters)
{
	char *text = mem_alloc(len + 1, 1);

	for (size_t i = 0; i < len; i++) {
		const uint32_t roll = next_random(state);

		if (roll % 64 == 0 && i + 1 < len) {
			text[i++] = '\xc3';
			text[i] = '\xa4';
		} else if (roll % 8 == 0) {
			text[i] = roll % 128 == 8 ? '\n' : ' ';
		} else {
			text[i] = (char)((roll & 256 ? 'a' : 'A') + (int)(roll / 512 % letters));
		}
	}
	return text;
}

struct corpus {
	struct signatures signatures;
	char *texts[FILES];
	size_t lens[FILES];
	uint32_t numbers[FILES];
};

/* Files of all sizes: empty, a few bytes, several classes of tables. */
static void corpus_make(struct corpus *corpus, uint32_t *state)
{
	static struct trigram_set set;

	*corpus = (struct corpus){ 0 };
	for (size_t i = 0; i < FILES; i++) {
		corpus->lens[i] = next_random(state) % ((size_t)1 << (i % 17));
		corpus->texts[i] = random_text(state, corpus->lens[i], 3 + (unsigned)i % 24);
		assert_int_equal(trigrams_of(span_of(corpus->texts[i], corpus->lens[i]), &set),
		                 TRIGRAMS_KNOWN);
		assert_true(cache_signatures_put(&corpus->signatures, &set, SIZE_MAX,
		                                 &corpus->numbers[i]));
	}
}

static void corpus_release(struct corpus *corpus)
{
	for (size_t i = 0; i < FILES; i++)
		free(corpus->texts[i]);
	cache_signatures_release(&corpus->signatures);
}

static uint64_t *ask(const struct corpus *corpus, const struct matcher_needs *needs)
{
	uint64_t *answers = mem_alloc(corpus->signatures.count, sizeof(*answers));
	struct trigram_query query;

	trigram_query_init(&query, needs);
	cache_signatures_ask(&corpus->signatures, &query, answers);
	trigram_query_release(&query);
	return answers;
}

static uint64_t *ask_one(const struct corpus *corpus, struct span literal)
{
	const struct matcher_alternative alternative = { &literal, 1 };
	const struct matcher_needs needs = { &alternative, 1 };

	return ask(corpus, &needs);
}

/* A piece of a file, with the case of its ASCII letters changed at random. */
static char *random_piece(const struct corpus *corpus, size_t file, uint32_t *state, size_t *len)
{
	const size_t at = next_random(state) % corpus->lens[file];
	char *piece;

	*len = 1 + next_random(state) % 40;
	if (*len > corpus->lens[file] - at)
		*len = corpus->lens[file] - at;
	piece = mem_dup(corpus->texts[file] + at, *len);
	for (size_t i = 0; i < *len; i++)
		if ((piece[i] | 0x20) >= 'a' && (piece[i] | 0x20) <= 'z' && next_random(state) & 1)
			piece[i] ^= 0x20;
	return piece;
}

static void every_piece_of_a_file_is_found_in_it(void **data)
{
	struct corpus corpus;
	uint32_t state = 12345;

	(void)data;
	corpus_make(&corpus, &state);
	for (int round = 0; round < 20000; round++) {
		const size_t file = next_random(&state) % FILES;
		_cleanup_free_ uint64_t *answers = NULL;
		_cleanup_free_ char *piece = NULL;
		size_t len;

		if (corpus.lens[file] == 0)
			continue;
		piece = random_piece(&corpus, file, &state, &len);
		answers = ask_one(&corpus, span_of(piece, len));
		assert_true(cache_signatures_answer(answers, corpus.numbers[file]));
	}
	corpus_release(&corpus);
}

static void beginning_and_end_of_a_file_count(void **data)
{
	struct corpus corpus;
	uint32_t state = 99;

	(void)data;
	corpus_make(&corpus, &state);
	for (size_t i = 0; i < FILES; i++) {
		_cleanup_free_ uint64_t *head = NULL, *tail = NULL;

		if (corpus.lens[i] < 3)
			continue;
		head = ask_one(&corpus, span_of(corpus.texts[i], 3));
		tail = ask_one(&corpus, span_of(corpus.texts[i] + corpus.lens[i] - 3, 3));
		assert_true(cache_signatures_answer(head, corpus.numbers[i]));
		assert_true(cache_signatures_answer(tail, corpus.numbers[i]));
	}
	corpus_release(&corpus);
}

static size_t count_bits(const struct corpus *corpus, const uint64_t *answers)
{
	size_t count = 0;

	for (size_t i = 0; i < FILES; i++)
		count += cache_signatures_answer(answers, corpus->numbers[i]);
	return count;
}

static void what_is_nowhere_is_denied_nearly_everywhere(void **data)
{
	struct corpus corpus;
	uint32_t state = 7;
	_cleanup_free_ uint64_t *answers = NULL;

	(void)data;
	corpus_make(&corpus, &state);
	answers = ask_one(&corpus, SPAN("0123456789:;<=>?"));
	assert_true(count_bits(&corpus, answers) <= FILES / 50);
	corpus_release(&corpus);
}

static void alternatives_add_up_and_literals_narrow_down(void **data)
{
	struct corpus corpus;
	uint32_t state = 4711;

	(void)data;
	corpus_make(&corpus, &state);
	for (int round = 0; round < 2000; round++) {
		struct span literals[3];
		char *pieces[3];
		size_t files[3];

		for (size_t i = 0; i < 3; i++) {
			do
				files[i] = i == 2 && round % 2 ? files[1]
				                               : next_random(&state) % FILES;
			while (corpus.lens[files[i]] == 0);
			pieces[i] = random_piece(&corpus, files[i], &state, &literals[i].len);
			literals[i].data = pieces[i];
		}
		{
			/* The first has one literal, the second two, every other time of one
			 * file. */
			const struct matcher_alternative alternatives[2] = { { &literals[0], 1 },
				                                             { &literals[1], 2 } };
			const struct matcher_needs needs = { alternatives, 2 };
			_cleanup_free_ uint64_t *answers = ask(&corpus, &needs);

			assert_true(cache_signatures_answer(answers, corpus.numbers[files[0]]));
			if (files[1] == files[2])
				assert_true(cache_signatures_answer(answers, corpus.numbers[files[1]]));
		}
		for (size_t i = 0; i < 3; i++)
			free(pieces[i]);
	}
	corpus_release(&corpus);
}

static void short_literals_and_no_needs_tell_nothing(void **data)
{
	const struct span literals[2] = { SPAN("zq"), SPAN("#") };
	const struct span known = SPAN("0123456789");
	const struct matcher_alternative alternatives[2] = { { &known, 1 }, { literals, 2 } };
	const struct matcher_needs vague = { alternatives, 2 }, nothing = { NULL, 0 };
	const struct matcher_needs *const all[] = { &vague, &nothing, NULL };
	struct corpus corpus;
	uint32_t state = 3;

	(void)data;
	corpus_make(&corpus, &state);
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		_cleanup_free_ uint64_t *answers = ask(&corpus, all[i]);

		assert_int_equal(count_bits(&corpus, answers), FILES);
	}
	corpus_release(&corpus);
}

static void a_dropped_place_has_nothing_of_its_former_file(void **data)
{
	static struct trigram_set full, empty;
	struct signatures signatures = { 0 };
	uint32_t first, number;
	struct trigram_query query;
	const struct span literal = SPAN("abcdef");
	const struct matcher_alternative alternative = { &literal, 1 };
	const struct matcher_needs needs = { &alternative, 1 };
	uint64_t answers[4];

	(void)data;
	assert_int_equal(trigrams_of(SPAN("xx abcdef xx"), &full), TRIGRAMS_KNOWN);
	assert_int_equal(trigrams_of(SPAN("0123"), &empty), TRIGRAMS_KNOWN);
	assert_int_equal(full.log2, empty.log2);
	assert_true(cache_signatures_put(&signatures, &full, SIZE_MAX, &first));
	for (int i = 1; i < 70; i++) /* a block and a bit */
		assert_true(cache_signatures_put(&signatures, &full, SIZE_MAX, &number));
	assert_int_equal(signatures.count, 2);
	cache_signatures_drop(&signatures, first);
	assert_true(cache_signatures_put(&signatures, &empty, 0, &number));
	assert_int_equal(number, first);
	trigram_query_init(&query, &needs);
	cache_signatures_ask(&signatures, &query, answers);
	assert_false(cache_signatures_answer(answers, first));
	assert_true(cache_signatures_answer(answers, first + 1));
	trigram_query_release(&query);
	cache_signatures_release(&signatures);
}

static void without_room_there_is_no_signature(void **data)
{
	static struct trigram_set set;
	struct signatures signatures = { 0 };
	uint32_t number;

	(void)data;
	assert_int_equal(trigrams_of(SPAN("some text"), &set), TRIGRAMS_KNOWN);
	assert_false(cache_signatures_put(&signatures, &set, 100, &number));
	assert_int_equal(signatures.count, 0);
	cache_signatures_release(&signatures);
}

static void tables_are_sized_by_what_is_in_them(void **data)
{
	static struct trigram_set set;
	_cleanup_free_ char *same = mem_alloc(1 << 20, 1);
	_cleanup_free_ char *random = NULL;
	uint32_t state = 5;
	size_t bits = 0;

	(void)data;
	memset(same, 'a', 1 << 20);
	assert_int_equal(trigrams_of(span_of(same, 1 << 20), &set), TRIGRAMS_KNOWN);
	assert_int_equal(set.log2, TRIGRAM_LOG2_MIN);
	random = random_text(&state, 6000, 26);
	assert_int_equal(trigrams_of(span_of(random, 6000), &set), TRIGRAMS_KNOWN);
	for (size_t i = 0; i < ((size_t)1 << set.log2) / 64; i++)
		bits += (size_t)__builtin_popcountll(set.words[i]);
	assert_in_range(bits * 1000 >> set.log2, 150, 375);
}

/* Content, and what a search may find in it. */
static const struct {
	const char *what;
	struct span content;
	enum trigram_kind kind;
} kinds[] = {
	{ "empty", { "", 0 }, TRIGRAMS_KNOWN },
	{ "ASCII", { "plain\n", 6 }, TRIGRAMS_KNOWN },
	{ "UTF-8", { "gr\xc3\xbc\xc3\x9f" "e\n", 8 }, TRIGRAMS_KNOWN },
	{ "UTF-8 with a mark", { "\xef\xbb\xbfplain\n", 9 }, TRIGRAMS_KNOWN },
	{ "Latin-1", { "gr\xfc\xdf" "e\n", 6 }, TRIGRAMS_OPEN },
	{ "UTF-16 with a mark", { "\xff\xfeh\0i\0\n\0", 8 }, TRIGRAMS_OPEN },
	{ "UTF-16 without a mark", { "h\0e\0l\0l\0o\0\n\0", 12 }, TRIGRAMS_OPEN },
	{ "ISO-2022-JP", { "\x1b$B$3$s\x1b(B\n", 11 }, TRIGRAMS_OPEN },
	{ "ESC alone", { "\x1b[0m red\n", 9 }, TRIGRAMS_KNOWN },
	{ "ESC last", { "red \x1b", 5 }, TRIGRAMS_KNOWN },
	{ "NUL bytes", { "\x7f" "ELF\1\0\0\0\2\0\x3e\0", 12 }, TRIGRAMS_BINARY },
	{ "one NUL byte", { "text \0 text\n", 12 }, TRIGRAMS_BINARY },
};

static void other_encodings_are_open_and_binary_files_are_out(void **data)
{
	static struct trigram_set set;

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (trigrams_of(kinds[i].content, &set) != kinds[i].kind)
			fail_msg("%s is taken for something else", kinds[i].what);
}

static void a_nul_byte_far_into_a_text_leaves_it_open(void **data)
{
	static struct trigram_set set;
	const size_t len = 300 << 10;
	_cleanup_free_ char *text = mem_alloc(len, 1);

	(void)data;
	memset(text, 'x', len);
	for (size_t i = 79; i < len; i += 80)
		text[i] = '\n';
	text[len - 10] = '\0';
	assert_int_equal(trigrams_of(span_of(text, len), &set), TRIGRAMS_OPEN);
	text[100] = '\0';
	assert_int_equal(trigrams_of(span_of(text, len), &set), TRIGRAMS_BINARY);
}

static void what_fills_the_largest_table_is_open(void **data)
{
	static struct trigram_set set;
	const size_t len = 4 << 20;
	_cleanup_free_ char *text = mem_alloc(len, 1);
	uint32_t state = 77;

	(void)data;
	for (size_t i = 0; i < len; i++)
		text[i] = (char)(32 + next_random(&state) % 95);
	assert_int_equal(trigrams_of(span_of(text, len), &set), TRIGRAMS_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_piece_of_a_file_is_found_in_it),
		cmocka_unit_test(beginning_and_end_of_a_file_count),
		cmocka_unit_test(what_is_nowhere_is_denied_nearly_everywhere),
		cmocka_unit_test(alternatives_add_up_and_literals_narrow_down),
		cmocka_unit_test(short_literals_and_no_needs_tell_nothing),
		cmocka_unit_test(a_dropped_place_has_nothing_of_its_former_file),
		cmocka_unit_test(without_room_there_is_no_signature),
		cmocka_unit_test(tables_are_sized_by_what_is_in_them),
		cmocka_unit_test(other_encodings_are_open_and_binary_files_are_out),
		cmocka_unit_test(a_nul_byte_far_into_a_text_leaves_it_open),
		cmocka_unit_test(what_fills_the_largest_table_is_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
