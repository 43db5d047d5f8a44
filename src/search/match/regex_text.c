/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about the text of a pattern. */
#include "search/match/regex_text.h"

#include "base/limits.h"
#include "search/match/engine.h"
#include "search/match/regex_token.h"

void regex_quote(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		bool word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		            (c >= 'A' && c <= 'Z') || c >= 0x80;

		if (c < ' ') {
			buf_printf(out, "\\x%02x", c);
		} else {
			if (!word)
				buf_char(out, '\\');
			buf_char(out, (char)c);
		}
	}
}

static bool is_upper(uint32_t c)
{
	return c >= 'A' && c <= 'Z';
}

/* Whether the text has an upper-case letter: PCRE2 knows Unicode. */
static bool has_upper_case(struct span text)
{
	struct engine_options options = { .pattern = SPAN("[\\p{Lu}\\p{Lt}]"), .no_jit = true };
	struct engine_scratch *scratch;
	struct engine *engine = NULL;
	struct err err = ERR_INIT;
	struct match match;
	bool found;

	if (text.len == 0 || !engine_compile(&options, &engine, &err))
		return false;
	scratch = engine_scratch_new();
	found = engine_find(engine, scratch, text, 0, &match) == MATCH_FOUND;
	engine_scratch_free(scratch);
	engine_free(engine);
	return found;
}

bool regex_is_lower(struct span pattern)
{
	_cleanup_buf_ struct buf beyond_ascii = BUF_INIT(LIMIT_PATTERN_BYTES);
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;
	bool literal = false;

	while (regex_next(&reader, &token)) {
		const struct regex_set *set = &token.set;

		literal = literal || token.kind == TOKEN_CHAR || set->has_literal;
		if (token.kind == TOKEN_CHAR ? is_upper(token.code_point) : set->has_upper)
			return false;
		if ((token.kind == TOKEN_CHAR && token.code_point >= 0x80) || set->beyond_ascii)
			buf_span(&beyond_ascii, token.text);
	}
	return literal && !has_upper_case(buf_view(&beyond_ascii));
}

bool regex_switches_case_off(struct span pattern)
{
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;

	return regex_next(&reader, &token) && token.kind == TOKEN_OPEN &&
	       token.group == GROUP_SWITCH && (token.flags_on & REGEX_FLAG_I) &&
	       !(token.flags_off & REGEX_FLAG_I);
}

static bool is_only(const struct regex_set *set, unsigned char c)
{
	return set->bracket && !set->negated && !set->properties && !set->beyond_ascii &&
	       regex_set_has(set, c) &&
	       __builtin_popcountll(set->ascii[0]) + __builtin_popcountll(set->ascii[1]) == 1;
}

bool regex_asks_for_line_end(struct span pattern)
{
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;
	bool spaced = false; /* white space may mean nothing */

	while (regex_next(&reader, &token)) {
		bool bare = token.text.len == 1 && !token.quoted;

		if (token.kind == TOKEN_OPEN && (token.flags_on & REGEX_FLAG_OTHER))
			spaced = true;
		if (token.kind == TOKEN_CHAR && token.code_point == '\n' && !(bare && spaced))
			return true;
		if (token.kind == TOKEN_SET && is_only(&token.set, '\n'))
			return true;
		if (token.kind == TOKEN_ODD && span_eq(token.text, SPAN("\\R")))
			return true;
	}
	return false;
}

bool regex_names_cr(struct span pattern)
{
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;

	while (regex_next(&reader, &token)) {
		if (token.kind == TOKEN_CHAR && token.code_point == '\r')
			return true;
		if (token.kind == TOKEN_SET && !token.set.negated &&
		    regex_set_has(&token.set, '\r'))
			return true;
	}
	return false;
}

bool regex_has_settings(struct span pattern)
{
	/* pcre2pattern(3), "Special start-of-pattern items". */
	static const struct span names[] = {
		SPAN("UTF"), SPAN("UCP"), SPAN("NOTEMPTY"), SPAN("NO_"), SPAN("LIMIT_"),
		SPAN("CR"), SPAN("LF"), SPAN("ANY"), SPAN("NUL"), SPAN("BSR_"),
	};
	struct span rest = pattern;

	if (!span_starts(rest, SPAN("(*")))
		return false;
	rest = span_skip(rest, 2);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_starts(rest, names[i]))
			return true;
	}
	return false;
}
