/* SPDX-License-Identifier: Apache-2.0 */
/* Patterns and texts made at random, from the same numbers each time: with all its shortcuts
 * the matcher finds what the engine finds line by line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "search/match/matcher.h"

enum { PATTERNS = 5000, TEXTS = 3, DEPTH_MAX = 4 };

struct source {
	uint32_t state;
};

static uint32_t below(struct source *source, uint32_t end)
{
	source->state = source->state * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)(source->state >> 4) * end >> 28);
}

static const char *pick(struct source *source, const char *const *from, size_t count)
{
	return from[below(source, (uint32_t)count)];
}

/* What is in patterns and in texts alike, so that much matches. */
static const char *const words[] = {
	"foo", "bar", "Foo", "fo", "kmalloc", "GFP_", "SUSPEND", "ask", "x", "_", "12", "a", "b",
	" ", "\xc3\xa9", "\xc3\x89", "\xe2\x84\xaa", "\xc5\xbf", "ss", "return",
};

static const char *const sets[] = {
	".", "\\w", "\\W", "\\s", "\\S", "\\d", "\\D", "[a-f]", "[^a-f]", "[^\\n]", "[ks]",
	"[fF]", "[\\s;]", "[^-a]", "[^]b]", "[[:alpha:]_]", "[[:space:]x]", "\\p{Lu}", "\\P{L}",
	"\\h", "[^\\W_]", "[\\x00-\\x20]", "\\N", "[\\w.]", "\\v", "\\x66", "\\x{e9}", "\\.",
	"\\Qo(\\E",
};

static const char *const zero_width[] = {
	"^", "$", "\\b", "\\B", "\\A", "\\z", "(?i)", "(?-i)", "(?s)", "(?m)",
};

static const char *const repeats[] = {
	"*", "+", "?", "*?", "+?", "??", "++", "*+", "{2}", "{1,3}", "{0}", "{2,}", "{0,2}?",
	"{3,20}",
};

static const char *const opens[] = { "(", "(?:", "(?:", "(?i:", "(?>", "(?=", "(?!", "(?<n>" };

static void make_choice(struct source *source, struct buf *out, unsigned depth);

static void make_item(struct source *source, struct buf *out, unsigned depth)
{
	uint32_t kind = below(source, 20);
	bool repeatable = true;

	if (kind < 9) {
		buf_str(out, pick(source, words, ARRAY_LEN(words)));
	} else if (kind < 14) {
		buf_str(out, pick(source, sets, ARRAY_LEN(sets)));
	} else if (kind < 15) {
		buf_str(out, pick(source, zero_width, ARRAY_LEN(zero_width)));
		repeatable = false;
	} else if (kind < 16) {
		buf_printf(out, "(?<%s%s)", below(source, 2) ? "=" : "!",
		           pick(source, words, ARRAY_LEN(words)));
		repeatable = false;
	} else if (depth < DEPTH_MAX) {
		buf_str(out, pick(source, opens, ARRAY_LEN(opens)));
		make_choice(source, out, depth + 1);
		buf_char(out, ')');
	}
	if (repeatable && below(source, 4) == 0)
		buf_str(out, pick(source, repeats, ARRAY_LEN(repeats)));
}

static void make_choice(struct source *source, struct buf *out, unsigned depth)
{
	uint32_t branches = below(source, 4) ? 1 : 1 + below(source, 4);

	for (uint32_t i = 0; i < branches; i++) {
		uint32_t items = 1 + below(source, 4);

		if (i > 0)
			buf_char(out, '|');
		while (items-- > 0)
			make_item(source, out, depth);
	}
}

static void make_text(struct source *source, struct buf *out)
{
	static const char *const between[] = { "\n", "\n", "\r\n", "\r",   ";",
		                               "(",  ".",  "\xff", "\xc3", "\t" };
	uint32_t parts = below(source, 60);
	bool odd = below(source, 2);

	while (parts-- > 0) {
		if (below(source, 3))
			buf_str(out, pick(source, words, odd ? ARRAY_LEN(words) : 14));
		else
			buf_str(out, odd ? pick(source, between, ARRAY_LEN(between)) : "\n");
	}
}

struct pair {
	struct matcher *fast, *plain;
	struct matcher_scratch *fast_scratch, *plain_scratch;
	size_t found;
};

/* The same match, or none, from each place. */
static void compare(struct pair *pair, struct span pattern, struct span text)
{
	for (size_t at = 0; at <= text.len;) {
		struct text_match a = { 0, 0 }, b = { 0, 0 };
		enum match_outcome fast, plain;

		fast = matcher_find(pair->fast, pair->fast_scratch, text, at, &a);
		plain = matcher_find(pair->plain, pair->plain_scratch, text, at, &b);

		if (fast == MATCH_TOO_HARD || plain == MATCH_TOO_HARD)
			return;
		if (fast != plain || a.start != b.start || a.end != b.end)
			fail_msg("%.*s in \"%.*s\" from %zu: %zu-%zu instead of %zu-%zu",
			         (int)pattern.len, pattern.data, (int)text.len, text.data, at,
			         a.start, a.end, b.start, b.end);
		if (plain == MATCH_NONE)
			return;
		pair->found++;
		at = b.end + (b.end == b.start);
	}
}

static bool pair_compile(struct pair *pair, struct matcher_options *options)
{
	struct err err = ERR_INIT;

	options->no_shortcuts = false;
	if (!matcher_compile(options, &pair->fast, &err))
		return false;
	options->no_shortcuts = true;
	if (!matcher_compile(options, &pair->plain, &err))
		fail_msg("%.*s: %s", (int)options->pattern.len, options->pattern.data, err.message);
	pair->fast_scratch = matcher_scratch_new(pair->fast);
	pair->plain_scratch = matcher_scratch_new(pair->plain);
	return true;
}

static void pair_release(struct pair *pair)
{
	matcher_scratch_free(pair->fast_scratch);
	matcher_scratch_free(pair->plain_scratch);
	matcher_free(pair->fast);
	matcher_free(pair->plain);
}

/* One pattern in some texts; how often it was found. False when it is not a pattern. */
static bool try_pattern(struct source *source, size_t *found)
{
	_cleanup_buf_ struct buf pattern = BUF_INIT(1 << 16);
	struct matcher_options options = { .cases = (enum case_mode)below(source, 3),
		                           .literal = below(source, 30) == 0,
		                           .whole_word = below(source, 8) == 0,
		                           .whole_line = below(source, 20) == 0,
		                           .multiline = below(source, 5) == 0 };
	struct pair pair = { 0 };

	make_choice(source, &pattern, 0);
	options.pattern = buf_from(&pattern, 0);
	if (!pair_compile(&pair, &options))
		return false;
	for (int i = 0; i < TEXTS; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT(1 << 16);

		make_text(source, &text);
		compare(&pair, options.pattern, buf_from(&text, 0));
	}
	*found += pair.found;
	pair_release(&pair);
	return true;
}

static void shortcuts_find_what_the_engine_finds(void **context)
{
	struct source source = { 20240229 };
	size_t patterns = 0, found = 0;

	(void)context;
	for (int i = 0; i < PATTERNS; i++)
		patterns += try_pattern(&source, &found);
	/* Most of them are patterns, and match. */
	assert_true(patterns > PATTERNS * 3 / 4);
	assert_true(found > PATTERNS * 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shortcuts_find_what_the_engine_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
