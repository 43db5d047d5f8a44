/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the order of hunks: a small file of many equal lines, two or three hunks in any order,
 * with any line numbers.
 *
 * The input is a recipe: the lines of the base (a letter each), then for each hunk where its old
 * lines are copied from, how many, which of them changes, and the number in its header.  All
 * ways to place the hunks are tried by brute force.  When the engine applies the diff:
 *
 *   - the result is that of one way;
 *   - where a way keeps the hunks in the order of the diff, it is that of such a way;
 *   - where the numbers are a way, and one that keeps the order, it is that of the numbers.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "patch/patch.h"

#define CHECK(condition)             \
	do {                         \
		if (!(condition))    \
			abort();     \
	} while (0)

enum { LINES_MAX = 14, HUNKS_MAX = 3, OLD_MAX = 4 };

struct recipe_hunk {
	char old[OLD_MAX];  /* letters of the old lines */
	size_t count;       /* how many */
	size_t changed;     /* index of the one that is replaced */
	size_t number;      /* 1-based line in the header; 0: none */
	bool inserts;       /* the line is kept, and a new one follows it */
};

struct recipe {
	char base[LINES_MAX];
	size_t lines;
	struct recipe_hunk hunks[HUNKS_MAX];
	size_t count;
};

static unsigned take(const uint8_t **data, size_t *size)
{
	if (!*size)
		return 0;
	(*size)--;
	return *(*data)++;
}

static bool read_recipe(const uint8_t *data, size_t size, struct recipe *ret)
{
	unsigned letters = 1 + take(&data, &size) % 4;

	ret->lines = 2 + take(&data, &size) % (LINES_MAX - 1);
	ret->count = 2 + take(&data, &size) % (HUNKS_MAX - 1);
	for (size_t i = 0; i < ret->lines; i++)
		ret->base[i] = (char)('a' + take(&data, &size) % letters);
	for (size_t h = 0; h < ret->count; h++) {
		struct recipe_hunk *hunk = &ret->hunks[h];
		size_t from = take(&data, &size) % ret->lines;
		unsigned number = take(&data, &size);

		hunk->count = 1 + take(&data, &size) % OLD_MAX;
		if (hunk->count > ret->lines - from)
			hunk->count = ret->lines - from;
		memcpy(hunk->old, ret->base + from, hunk->count);
		hunk->changed = take(&data, &size) % hunk->count;
		hunk->inserts = take(&data, &size) & 1;
		hunk->number = number & 128 ? from + 1 : number % (LINES_MAX + 2);
	}
	return size == 0;
}

/* The line that hunk `h` writes: no other has it. */
static char new_letter(size_t h)
{
	return (char)('P' + h);
}

static void print_diff(const struct recipe *recipe, struct buf *out)
{
	for (size_t h = 0; h < recipe->count; h++) {
		const struct recipe_hunk *hunk = &recipe->hunks[h];

		if (hunk->number)
			buf_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", hunk->number, hunk->count,
			           hunk->number, hunk->count + hunk->inserts);
		else
			buf_str(out, "@@\n");
		for (size_t i = 0; i < hunk->count; i++) {
			bool gone = i == hunk->changed && !hunk->inserts;

			buf_printf(out, "%c%c\n", gone ? '-' : ' ', hunk->old[i]);
			if (i == hunk->changed)
				buf_printf(out, "+%c\n", new_letter(h));
		}
	}
}

static bool fits(const struct recipe *recipe, size_t h, size_t at)
{
	const struct recipe_hunk *hunk = &recipe->hunks[h];

	return at + hunk->count <= recipe->lines &&
	       memcmp(recipe->base + at, hunk->old, hunk->count) == 0;
}

/* The first line that the hunk changes there, or that an insertion stands before. */
static size_t change_at(const struct recipe *recipe, const size_t *at, size_t h)
{
	return at[h] + recipe->hunks[h].changed + recipe->hunks[h].inserts;
}

/* The result of one way; false when two hunks change the same place. */
static bool apply_way(const struct recipe *recipe, const size_t *at, struct buf *out)
{
	for (size_t line = 0; line <= recipe->lines; line++) {
		unsigned inserted = 0, replaced = 0;

		for (size_t h = 0; h < recipe->count; h++)
			if (change_at(recipe, at, h) == line && recipe->hunks[h].inserts) {
				buf_printf(out, "%c\n", new_letter(h));
				inserted++;
			}
		for (size_t h = 0; h < recipe->count; h++)
			if (change_at(recipe, at, h) == line && !recipe->hunks[h].inserts) {
				buf_printf(out, "%c\n", new_letter(h));
				replaced++;
			}
		if (inserted > 1 || replaced > 1)
			return false;
		if (!replaced && line < recipe->lines)
			buf_printf(out, "%c\n", recipe->base[line]);
	}
	return true;
}

static bool keeps_order(const struct recipe *recipe, const size_t *at)
{
	for (size_t h = 1; h < recipe->count; h++)
		if (change_at(recipe, at, h - 1) + !recipe->hunks[h - 1].inserts >
		    change_at(recipe, at, h))
			return false;
	return true;
}

static bool is_as_numbered(const struct recipe *recipe, const size_t *at)
{
	for (size_t h = 0; h < recipe->count; h++)
		if (recipe->hunks[h].number != at[h] + 1)
			return false;
	return true;
}

struct ways {
	bool any_ordered, any_numbered;                  /* there is such a way */
	bool result_found, result_ordered, result_numbered; /* and it gives the result */
};

/* Tries all ways; `result` is what the engine made. */
static void try_ways(const struct recipe *recipe, struct span result, struct ways *ret)
{
	size_t at[HUNKS_MAX] = { 0 };

	for (;;) {
		_cleanup_buf_ struct buf made = BUF_INIT(1 << 12);
		bool possible = true, same, ordered;
		size_t h = 0;

		for (size_t i = 0; i < recipe->count; i++)
			possible = possible && fits(recipe, i, at[i]);
		if (possible && apply_way(recipe, at, &made)) {
			same = span_eq(buf_view(&made), result);
			ordered = keeps_order(recipe, at);
			ret->result_found |= same;
			ret->any_ordered |= ordered;
			ret->result_ordered |= ordered && same;
			ret->any_numbered |= ordered && is_as_numbered(recipe, at);
			ret->result_numbered |= ordered && same && is_as_numbered(recipe, at);
		}
		while (h < recipe->count && ++at[h] == recipe->lines)
			at[h++] = 0;
		if (h == recipe->count)
			return;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf base_text = BUF_INIT(1 << 12), diff = BUF_INIT(1 << 12);
	_cleanup_buf_ struct buf result = BUF_INIT(1 << 12);
	_cleanup_lines_ struct lines base = { 0 };
	struct recipe recipe = { .count = 0 };
	struct patch_failure failure;
	struct patch_plan plan;
	struct err err = ERR_INIT;
	struct ways ways = { 0 };

	if (!read_recipe(data, size, &recipe))
		return 0;
	for (size_t i = 0; i < recipe.lines; i++)
		buf_printf(&base_text, "%c\n", recipe.base[i]);
	print_diff(&recipe, &diff);
	lines_index(&base, buf_view(&base_text));
	if (patch_make(&base, buf_view(&diff), NULL, &plan, &failure, &err)) {
		script_apply(&base, &plan.script, &result);
		try_ways(&recipe, buf_view(&result), &ways);
		CHECK(ways.result_found);
		CHECK(!ways.any_ordered || ways.result_ordered);
		CHECK(!ways.any_numbered || ways.result_numbered);
		patch_plan_release(&plan);
	} else {
		CHECK(err.code != ERR_NONE && err.code != ERR_INTERNAL && err.message[0]);
	}
	patch_failure_release(&failure);
	return 0;
}
