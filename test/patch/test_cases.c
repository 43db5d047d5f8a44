/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the case files of this folder: a base, a diff, and what must come of it.
 *
 *     #### name of the case
 *     #### base
 *     ...
 *     #### diff
 *     ...
 *     #### result            or   #### refused CODE
 *     ...                         words that the message must have, or with "lacks: " before them
 *                                 must not have; "lines 3 of 2: WORD": of the second hunk the
 *                                 file's lines from 3 on are shown, and have the word
 *
 * In all texts "\r" at the end of a line stands for CR, "\c" for "no newline here",
 * "\_" for a space that editors would strip, "\u{XXXX}" for a character.
 * "#### settled WORD" and "#### matched WORD" check every hunk's report;
 * "#### note WORDS" is what the plan's note must have; it may be given several times.
 * "#### bom" says that the file has a byte-order mark; "#### already" that the diff was made
 * before: nothing is left to do.
 *
 * Every diff that is applied is then given to the engine with its own result: it must be there
 * already, or be refused, but change nothing; "#### again" is for cases that do change it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "patch/patch.h"

struct patch_case {
	char *name;
	struct buf base, diff, result;
	char *refused;  /* code, or NULL */
	char *settled, *matched;
	char *notes[2];
	bool bom, already, again;
};

static struct patch_case *cases;
static size_t case_count, case_cap;

static struct buf read_whole(const char *path)
{
	struct buf text = BUF_INIT(1 << 24);
	FILE *file = fopen(path, "rb");
	char piece[4096];
	size_t n;

	if (!file) {
		fprintf(stderr, "cannot open %s\n", path);
		exit(2);
	}
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		buf_append(&text, piece, n);
	fclose(file);
	return text;
}

/* Appends a line of a case with its escapes undone. */
static void unescape(struct buf *out, struct span line)
{
	bool newline = true;
	struct span body = line_body(line);

	while (body.len) {
		if (span_starts(body, SPAN("\\u{"))) {
			char utf8[4];
			uint32_t code = (uint32_t)strtoul(body.data + 3, NULL, 16);

			buf_append(out, utf8, utf8_put(code, utf8));
			body = span_skip(body, (size_t)((char *)memchr(body.data, '}', body.len) -
			                               body.data) + 1);
		} else if (span_starts(body, SPAN("\\_"))) {
			buf_char(out, ' ');
			body = span_skip(body, 2);
		} else if (span_eq(body, SPAN("\\r"))) {
			buf_char(out, '\r');
			body.len = 0;
		} else if (span_eq(body, SPAN("\\c"))) {
			newline = false;
			body.len = 0;
		} else {
			buf_append(out, body.data, 1);
			body = span_skip(body, 1);
		}
	}
	if (newline)
		buf_char(out, '\n');
}

static char *word(struct span text)
{
	text = span_trim(text);
	return mem_dup(text.data, text.len);
}

static void new_case(struct span title)
{
	cases = mem_grow(cases, &case_cap, case_count + 1, sizeof(*cases));
	cases[case_count++] = (struct patch_case){ .name = word(title),
	                                           .base = BUF_INIT(1 << 24),
	                                           .diff = BUF_INIT(1 << 24),
	                                           .result = BUF_INIT(1 << 24) };
}

static void load_cases(const char *path)
{
	struct buf text = read_whole(path);
	struct span rest = buf_view(&text), line;
	struct buf *section = NULL;

	while (line_next(&rest, &line)) {
		struct patch_case *current = case_count ? &cases[case_count - 1] : NULL;
		struct span title;

		if (!span_starts(line, SPAN("#### "))) {
			if (section)
				unescape(section, line);
			continue;
		}
		title = span_trim(span_skip(line, 5));
		if (span_eq(title, SPAN("base")))
			section = &current->base;
		else if (span_eq(title, SPAN("diff")))
			section = &current->diff;
		else if (span_eq(title, SPAN("result")))
			section = &current->result;
		else if (span_eq(title, SPAN("bom")))
			current->bom = true;
		else if (span_eq(title, SPAN("already")))
			current->already = true;
		else if (span_eq(title, SPAN("again")))
			current->again = true;
		else if (span_starts(title, SPAN("settled ")))
			current->settled = word(span_skip(title, 8));
		else if (span_starts(title, SPAN("matched ")))
			current->matched = word(span_skip(title, 8));
		else if (span_starts(title, SPAN("note ")))
			current->notes[current->notes[0] != NULL] = word(span_skip(title, 5));
		else if (span_starts(title, SPAN("refused "))) {
			current->refused = word(span_skip(title, 8));
			section = &current->result;
		} else {
			new_case(title);
			section = NULL;
		}
	}
	buf_release(&text);
}

static void check_reports(const struct patch_case *c, const struct patch_plan *plan)
{
	for (size_t i = 0; i < ARRAY_LEN(c->notes) && c->notes[i]; i++)
		assert_non_null(strstr(plan->note, c->notes[i]));
	for (size_t h = 0; h < plan->hunk_count; h++) {
		if (c->settled)
			assert_string_equal(patch_settled_name(plan->hunks[h].settled), c->settled);
		if (c->matched)
			assert_string_equal(patch_match_name(plan->hunks[h].match), c->matched);
	}
}

/* What the plan claims, counted anew from the bytes: whatever the case is about. */
static void check_claims(const struct patch_case *c, const struct patch_plan *plan,
                         const struct lines *base, struct span result)
{
	size_t added = 0, removed = 0, script_added, script_removed;

	script_stat(&plan->script, &script_added, &script_removed);
	assert_int_equal((int64_t)script_added - (int64_t)script_removed,
	                 (int64_t)lines_count(result) - (int64_t)base->count);
	if (plan->already) {
		assert_int_equal(plan->hunk_count, 0);
		assert_true(span_eq(result, base->text));
		return;
	}
	for (size_t h = 0; h < plan->hunk_count; h++) {
		const struct patch_hunk_report *hunk = &plan->hunks[h];

		added += hunk->added;
		removed += hunk->removed;
		assert_in_range(hunk->line, 1, base->count + 1);
		assert_in_range(hunk->line + hunk->lines, 1, base->count + 1);
		/* A number settles only what has one; 0 is the number of what has no line. */
		if (hunk->settled == PATCH_SETTLED_NUMBER && !hunk->stated_line)
			assert_non_null(strstr(c->diff.data, "-0,0"));
		if (hunk->settled == PATCH_SETTLED_NUMBER && hunk->stated_line && hunk->lines)
			assert_int_equal(hunk->stated_line, hunk->line);
	}
	assert_int_equal(added, script_added);
	assert_int_equal(removed, script_removed);
}

/* "lines FROM of HUNK: WORD"; false: the line is another one. */
static bool check_shown(const struct patch_failure *failure, struct span line)
{
	_cleanup_free_ char *text = word(line);
	char expected[200];
	size_t from, hunk;

	if (sscanf(text, "lines %zu of %zu: %199[^\n]", &from, &hunk, expected) != 3)
		return false;
	for (size_t i = 0; i < failure->failed_count; i++) {
		const struct patch_failed_hunk *failed = &failure->failed[i];

		if (failed->hunk != hunk)
			continue;
		assert_non_null(failed->lines);
		assert_int_equal(failed->lines_from, from);
		assert_non_null(strstr(failed->lines, expected));
		return true;
	}
	fail_msg("hunk %zu is not among those that fail", hunk);
	return false;
}

static void check_refusal(const struct patch_case *c, const struct patch_failure *failure,
                          const struct err *err)
{
	struct span words = buf_view(&c->result), line;

	assert_string_equal(err_name(err->code), c->refused ? c->refused : "(applied)");
	while (line_next(&words, &line)) {
		if (check_shown(failure, line))
			continue;
		const bool lacks = span_starts(line, SPAN("lacks: "));
		char *expected = word(lacks ? span_skip(line, 7) : line);

		if (lacks == (strstr(err->message, expected) != NULL))
			print_message("message: %s\n%s:   %s\n", err->message,
			              lacks ? "has" : "lacks", expected);
		assert_int_equal(lacks, strstr(err->message, expected) == NULL);
		free(expected);
	}
}

/* Made twice is made once. */
static void check_twice(const struct patch_case *c, const struct patch_options *options,
                        struct span result)
{
	struct buf again = BUF_INIT(1 << 24);
	struct patch_failure failure;
	struct patch_plan plan = { 0 };
	struct err err = ERR_INIT;
	struct lines base;

	lines_index(&base, result);
	if (patch_make(&base, buf_view(&c->diff), options, &plan, &failure, &err)) {
		script_apply(&base, &plan.script, &again);
		assert_int_equal(c->again, !span_eq(buf_view(&again), result));
	} else {
		assert_false(c->again);
	}
	buf_release(&again);
	patch_plan_release(&plan);
	patch_failure_release(&failure);
	lines_release(&base);
}

static void run_case(void **state)
{
	const struct patch_case *c = *state;
	struct patch_options options = { .base_has_bom = c->bom, .path = c->notes[0] ? "f" : NULL,
		                         .exists = c->notes[0] };
	struct patch_failure failure;
	struct patch_plan plan = { 0 };
	struct err err = ERR_INIT;
	struct lines base;
	struct buf result = BUF_INIT(1 << 24);

	lines_index(&base, buf_view(&c->base));
	if (!patch_make(&base, buf_view(&c->diff), &options, &plan, &failure, &err)) {
		check_refusal(c, &failure, &err);
	} else {
		assert_null(c->refused);
		script_apply(&base, &plan.script, &result);
		assert_string_equal(result.data ? result.data : "",
		                    c->result.data ? c->result.data : "");
		check_reports(c, &plan);
		assert_int_equal(c->already, plan.already);
		check_twice(c, &options, buf_view(&result));
		check_claims(c, &plan, &base, buf_view(&result));
	}
	buf_release(&result);
	patch_plan_release(&plan);
	patch_failure_release(&failure);
	lines_release(&base);
}

int main(int argc, char **argv)
{
	struct CMUnitTest *tests;
	int failed;

	for (int i = 1; i < argc; i++)
		load_cases(argv[i]);
	if (!case_count)
		return 2;
	tests = mem_alloc(case_count, sizeof(*tests));
	for (size_t i = 0; i < case_count; i++)
		tests[i] = (struct CMUnitTest){ .name = cases[i].name, .test_func = run_case,
		                                .initial_state = &cases[i] };
	failed = _cmocka_run_group_tests("patch cases", tests, case_count, NULL, NULL);
	free(tests);
	for (size_t i = 0; i < case_count; i++) {
		free(cases[i].name);
		free(cases[i].refused);
		free(cases[i].settled);
		free(cases[i].matched);
		for (size_t k = 0; k < ARRAY_LEN(cases[i].notes); k++)
			free(cases[i].notes[k]);
		buf_release(&cases[i].base);
		buf_release(&cases[i].diff);
		buf_release(&cases[i].result);
	}
	free(cases);
	return failed;
}
