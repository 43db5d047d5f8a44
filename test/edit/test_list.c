/* SPDX-License-Identifier: Apache-2.0 */
/* Many changes of one file in one call: the same as one call after the other, at the cost of what
 * they change. */
#include "edit_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../meter.h"
#include "base/mem.h"

enum { TEXT_MAX = 1 << 23 };

static uint32_t random_below(uint64_t *state, uint32_t limit)
{
	*state = *state * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(*state >> 33) % limit;
}

/* ---- the same as one by one ---- */

enum { CHANGES = 14, CASES = 300 };

struct generated {
	struct change changes[CHANGES];
	char *texts[2 * CHANGES]; /* owned */
};

/* Words of few kinds, so that old texts repeat, overlap, arise and vanish. */
static char *random_words(uint64_t *state, uint32_t most, const char *end_of_line)
{
	static const char *const words[] = { "abababab", "ab", "loop(x)", "  ", "\t", "end", "ü" };
	struct buf out = BUF_INIT(TEXT_MAX);

	for (uint32_t i = 1 + random_below(state, most); i > 0; i--)
		buf_str(&out, random_below(state, 4) ? words[random_below(state, ARRAY_LEN(words))] :
		                                       end_of_line);
	return out.data ? out.data : mem_strdup("");
}

static void generate(uint64_t *state, const char *end_of_line, struct generated *ret)
{
	for (size_t i = 0; i < CHANGES; i++) {
		ret->texts[2 * i] = random_words(state, 5, end_of_line);
		ret->texts[2 * i + 1] = random_words(state, 5, end_of_line);
		ret->changes[i] = (struct change){
			.kind = CHANGE_UPDATE,
			.path = "f",
			.old_text = span_str(ret->texts[2 * i]),
			.text = span_str(ret->texts[2 * i + 1]),
			.any_count = true,
			.literal = true,
		};
	}
}

/* Makes the changes that can be made, one call each, and keeps only those. */
static size_t make_one_by_one(const struct fixture *f, struct generated *g)
{
	const struct edit_options options = { .journal_folder = f->journal };
	size_t count = 0;

	for (size_t i = 0; i < CHANGES; i++) {
		struct change_result result = { 0 };
		struct err err = ERR_INIT;

		if (edit_apply(f->ws, &g->changes[i], 1, &options, &result, &err))
			g->changes[count++] = g->changes[i];
		change_result_release(&result);
	}
	return count;
}

static void a_list_makes_what_its_changes_make_one_by_one(void **context)
{
	static const char *const ends[] = { "\n", "\r\n", "\xEF\xBB\xBF\n" };
	struct fixture f;
	uint64_t state = 5;
	size_t made = 0;

	(void)context;
	fixture_open(&f);
	for (size_t i = 0; i < CASES; i++) {
		const char *end = ends[i % ARRAY_LEN(ends)];
		const struct edit_options options = { .journal_folder = f.journal,
			                              .want_content = true };
		_cleanup_free_ struct change_result *results = mem_alloc(CHANGES, sizeof(*results));
		_cleanup_free_ char *text = random_words(&state, 120, end), *wanted = NULL;
		struct generated g;
		struct err err = ERR_INIT;
		size_t count;

		generate(&state, end, &g);
		fixture_put(&f, "f", text);
		count = make_one_by_one(&f, &g);
		wanted = fixture_get(&f, "f", NULL);
		fixture_put(&f, "f", text);
		if (count && !edit_apply(f.ws, g.changes, count, &options, results, &err))
			fail_msg("case %zu: %s", i, err.message);
		fixture_expect(&f, "f", wanted);
		for (size_t k = 0; k < count; k++) {
			assert_int_equal(results[k].content_in, k + 1 < count ? count : 0);
			change_result_release(&results[k]);
		}
		for (size_t k = 0; k < ARRAY_LEN(g.texts); k++)
			free(g.texts[k]);
		made += count;
	}
	assert_true(made > CASES);
	fixture_close(&f);
}

/* ---- the cost ---- */

enum { LINES = 40000, FEW = 250, MANY = 4000 };

static struct sha256 write_long_file(const struct fixture *f)
{
	struct buf text = BUF_INIT(TEXT_MAX);
	struct sha256 sum;

	for (size_t i = 0; i < LINES; i++)
		buf_printf(&text, "\tvalue_%06zu = compute(%zu); /* a line of the file */\n", i,
		           i * 7919 % 10007);
	fixture_put_bytes(f, "f", text.data, text.len);
	sum = sha256_of(buf_view(&text));
	buf_release(&text);
	return sum;
}

/* Yards for the changes, in a dry run. */
static double yards_for(const struct fixture *f, const struct change *changes, size_t count)
{
	const struct edit_options options = { .dry_run = true, .want_content = true,
		                              .want_diff = true };
	struct change_result *results = mem_alloc(count, sizeof(*results));
	struct err err = ERR_INIT;
	struct meter meter = meter_start();
	double yards;

	if (!edit_apply(f->ws, changes, count, &options, results, &err))
		fail_msg("%s", err.message);
	yards = meter_yards(&meter);
	for (size_t i = 0; i < count; i++)
		change_result_release(&results[i]);
	free(results);
	return yards;
}

static double yards_for_updates(const struct fixture *f, size_t count)
{
	struct change *changes = mem_alloc(count, sizeof(*changes));
	char (*texts)[2][32] = mem_alloc(count, sizeof(*texts));
	double yards;

	for (size_t i = 0; i < count; i++) {
		const size_t line = i * (LINES / count) + 1;

		snprintf(texts[i][0], sizeof(texts[i][0]), "value_%06zu = ", line);
		snprintf(texts[i][1], sizeof(texts[i][1]), "changed_value_%06zu = ", line);
		changes[i] = (struct change){ .kind = CHANGE_UPDATE, .path = "f",
			                      .old_text = span_str(texts[i][0]),
			                      .text = span_str(texts[i][1]) };
	}
	yards = yards_for(f, changes, count);
	free(changes);
	free(texts);
	return yards;
}

/* With the numbers of the file on disk. */
static double yards_for_patches(const struct fixture *f, const struct sha256 *base, size_t count)
{
	struct change *changes = mem_alloc(count, sizeof(*changes));
	char (*diffs)[192] = mem_alloc(count, sizeof(*diffs));
	double yards;

	for (size_t i = 0; i < count; i++) {
		const size_t line = i * (LINES / count) + 1;

		snprintf(diffs[i], sizeof(diffs[i]),
		         "@@ -%zu +%zu,2 @@\n"
		         "-\tvalue_%06zu = compute(%zu); /* a line of the file */\n"
		         "+\tchanged_value_%06zu\n+\tand one more\n",
		         line + 1, line + 1, line, line * 7919 % 10007, line);
		changes[i] = (struct change){ .kind = CHANGE_PATCH, .path = "f", .base = base,
			                      .text = span_str(diffs[i]) };
	}
	yards = yards_for(f, changes, count);
	free(changes);
	free(diffs);
	return yards;
}

/* Each takes some moving of what comes after it, and no pass over the file: those cost hundreds of
 * yards for FEW. */
static void updates_cost_what_they_change(void **context)
{
	struct fixture f;
	double few, many;

	(void)context;
	fixture_open(&f);
	write_long_file(&f);
	few = yards_for_updates(&f, FEW);
	many = yards_for_updates(&f, MANY);
	print_message("%d updates: %.0f yards, %d: %.0f\n", FEW, few, MANY, many);
	assert_true(many < 16 * few);
	assert_true(many < 2500);
	fixture_close(&f);
}

static void patches_cost_what_they_change(void **context)
{
	struct fixture f;
	struct sha256 base;
	double few, many;

	(void)context;
	fixture_open(&f);
	base = write_long_file(&f);
	few = yards_for_patches(&f, &base, FEW);
	many = yards_for_patches(&f, &base, 4 * FEW);
	print_message("%d patches: %.0f yards, %d: %.0f\n", FEW, few, 4 * FEW, many);
	assert_true(many < 8 * few);
	assert_true(many < 2500);
	fixture_close(&f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_makes_what_its_changes_make_one_by_one),
		cmocka_unit_test(updates_cost_what_they_change),
		cmocka_unit_test(patches_cost_what_they_change),
	};

	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
