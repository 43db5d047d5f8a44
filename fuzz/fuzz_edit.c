/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes a whole edit: any base text, any diff.
 *
 * The input is the base, a line "%%%%", and the diff.  When the engine says that
 * the diff applies, these must hold:
 *
 *   - the strict step, given the corrected diff, makes the same bytes as the edit script;
 *   - the script is in order and inside the base, so all other lines survive in order;
 *   - every line that goes, and does not come back with another ending, is named by the
 *     diff: there is a "-" line with the same letters and digits (white space and
 *     look-alike punctuation may differ), and no more lines go than there are such lines.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "patch/patch.h"
#include "patch/private.h"

#define CHECK(condition)             \
	do {                         \
		if (!(condition))    \
			abort();     \
	} while (0)

/* A copy in memory of exactly its size: the sanitizers see a read past its end. */
static struct span copy_exact(struct span text)
{
	char *data = malloc(text.len ? text.len : 1);

	CHECK(data);
	if (text.len)
		memcpy(data, text.data, text.len);
	return span_of(data, text.len);
}

/* Splits at the first line "%%%%"; without one, all of it is the diff of an empty file. */
static void split_input(struct span input, struct span *ret_base, struct span *ret_diff)
{
	struct span rest = input, line;

	while (line_next(&rest, &line)) {
		if (span_eq(line, SPAN("%%%%\n"))) {
			*ret_base = span_head(input, (size_t)(line.data - input.data));
			*ret_diff = rest;
			return;
		}
	}
	*ret_base = span_head(input, 0);
	*ret_diff = input;
}

static bool is_letter(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether both have the same letters and digits in the same order. */
static bool same_letters(struct span a, struct span b)
{
	for (;;) {
		while (a.len && !is_letter(a.data[0]))
			a = span_skip(a, 1);
		while (b.len && !is_letter(b.data[0]))
			b = span_skip(b, 1);
		if (!a.len || !b.len)
			return a.len == b.len;
		if (a.data[0] != b.data[0])
			return false;
		a = span_skip(a, 1);
		b = span_skip(b, 1);
	}
}

static bool is_removal(struct span line)
{
	return span_starts(span_trim(line), SPAN("-"));
}

static bool diff_names(struct span diff, struct span removed)
{
	struct span line;

	while (line_next(&diff, &line))
		if (is_removal(line) && same_letters(line, removed))
			return true;
	return false;
}

static size_t count_removals(struct span diff)
{
	struct span line;
	size_t count = 0;

	while (line_next(&diff, &line))
		count += is_removal(line);
	return count;
}

/* Whether the edit puts the line back, with another ending at most. */
static bool comes_back(const struct edit *edit, struct span removed)
{
	struct span rest = edit->insert, line;

	while (line_next(&rest, &line))
		if (span_eq(line_body(line), line_body(removed)))
			return true;
	return false;
}

/* All edits in order and inside the base. */
static void check_order(const struct lines *base, const struct script *script)
{
	size_t end = 0;

	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];

		CHECK(edit->at >= end && edit->at <= base->count);
		CHECK(edit->remove <= base->count - edit->at);
		end = edit->at + edit->remove;
	}
}

static void check_removed(const struct lines *base, const struct script *script,
                          struct span diff)
{
	size_t gone = 0;

	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];

		for (size_t at = edit->at; at < edit->at + edit->remove; at++) {
			if (comes_back(edit, lines_at(base, at)))
				continue;
			CHECK(diff_names(diff, lines_at(base, at)));
			gone++;
		}
	}
	CHECK(gone <= count_removals(diff));
}

static void check_success(const struct lines *base, struct span diff,
                          const struct patch_plan *plan)
{
	_cleanup_buf_ struct buf by_script = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf by_strict = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf inserted = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_script_ struct script strict = { 0 };
	struct err err = ERR_INIT;

	if (plan->already) {
		CHECK(!plan->script.count && !plan->hunk_count);
		return;
	}
	check_order(base, &plan->script);
	check_removed(base, &plan->script, diff);
	CHECK(plan->hunk_count > 0);
	CHECK(strict_apply(base, buf_view(&plan->corrected), &strict, &inserted, &err));
	CHECK(script_apply(base, &plan->script, &by_script));
	CHECK(script_apply(base, &strict, &by_strict));
	CHECK(span_eq(buf_view(&by_script), buf_view(&by_strict)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span base_text, diff, input = span_of((const char *)data, size);
	struct patch_failure failure;
	struct patch_plan plan;
	struct err err = ERR_INIT;

	split_input(input, &base_text, &diff);
	base_text = copy_exact(base_text);
	diff = copy_exact(diff);
	_cleanup_lines_ struct lines base = { 0 };
	lines_index(&base, base_text);
	if (patch_make(&base, diff, NULL, &plan, &failure, &err)) {
		check_success(&base, diff, &plan);
		patch_plan_release(&plan);
	} else {
		CHECK(err.code != ERR_NONE && err.code != ERR_INTERNAL && err.message[0]);
	}
	patch_failure_release(&failure);
	free((void *)base_text.data);
	free((void *)diff.data);
	return 0;
}
