/* SPDX-License-Identifier: Apache-2.0 */
/* Options in the first byte, a pattern up to a NUL, a text: the shortcuts find what the engine
 * finds line by line, matches have what is said that they need, and what is said not to need
 * decoding does not. */
#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "search/match/matcher.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TEXT_MAX = 4096, MATCHES_MAX = 256 };

struct found {
	struct text_match matches[MATCHES_MAX];
	size_t count;
	bool too_hard;
};

static void find_all(const struct matcher *matcher, struct span text, struct found *ret)
{
	struct matcher_scratch *scratch = matcher_scratch_new(matcher);
	enum match_outcome outcome = MATCH_NONE;
	size_t at = 0;

	ret->count = 0;
	while (at <= text.len && ret->count < MATCHES_MAX) {
		struct text_match match;

		outcome = matcher_find(matcher, scratch, text, at, &match);
		if (outcome != MATCH_FOUND)
			break;
		if (match.start < at || match.end < match.start || match.end > text.len)
			abort();
		ret->matches[ret->count++] = match;
		at = match.end > at ? match.end : at + 1;
	}
	ret->too_hard = outcome == MATCH_TOO_HARD;
	matcher_scratch_free(scratch);
}

static bool contains(struct span text, struct span part, bool ignore_case)
{
	for (size_t at = 0; at + part.len <= text.len; at++) {
		size_t i = 0;

		while (i < part.len) {
			char c = text.data[at + i];

			if (ignore_case && c >= 'A' && c <= 'Z')
				c = (char)(c | 0x20);
			if (c != part.data[i])
				break;
			i++;
		}
		if (i == part.len)
			return true;
	}
	return false;
}

static void check_needs(const struct matcher *matcher, struct span text)
{
	const struct matcher_needs *needs = matcher_needs_of(matcher);

	for (size_t i = 0; i < needs->count; i++) {
		const struct matcher_alternative *alternative = &needs->alternatives[i];
		size_t has = 0;

		for (size_t k = 0; k < alternative->count; k++)
			has += contains(text, alternative->literals[k],
			                matcher_ignores_case(matcher));
		if (has == alternative->count)
			return;
	}
	if (needs->count > 0)
		abort();
}

static size_t latin1_offset(struct span text, size_t at)
{
	size_t offset = at;

	for (size_t i = 0; i < at; i++)
		offset += (unsigned char)text.data[i] >= 0x80;
	return offset;
}

/* Decoded from Latin-1, the text matches at the same places. */
static void check_decoded(const struct matcher *matcher, struct span text,
                          const struct found *raw)
{
	_cleanup_buf_ struct buf decoded = BUF_INIT((size_t)2 * TEXT_MAX);
	static struct found found;

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];

		if (c >= 0x80)
			buf_char(&decoded, (char)(0xc0 | c >> 6));
		buf_char(&decoded, (char)(c < 0x80 ? c : 0x80 | (c & 0x3f)));
	}
	find_all(matcher, buf_from(&decoded, 0), &found);
	if (found.too_hard || raw->count == MATCHES_MAX || found.count == MATCHES_MAX)
		return;
	for (size_t i = 0, k = 0; i < raw->count; i++) {
		/* Empty matches are also found within what is one character now. */
		if (raw->matches[i].start == raw->matches[i].end)
			continue;
		while (k < found.count && found.matches[k].start == found.matches[k].end)
			k++;
		if (k == found.count ||
		    latin1_offset(text, raw->matches[i].start) != found.matches[k].start ||
		    latin1_offset(text, raw->matches[i].end) != found.matches[k].end)
			abort();
		k++;
	}
}

static void compare(const struct matcher *fast, const struct matcher *plain, struct span text)
{
	static struct found a, b;

	find_all(fast, text, &a);
	find_all(plain, text, &b);
	if (a.too_hard || b.too_hard)
		return;
	if (a.count != b.count)
		abort();
	for (size_t i = 0; i < a.count; i++) {
		struct text_match match = a.matches[i];

		if (match.start != b.matches[i].start || match.end != b.matches[i].end)
			abort();
		check_needs(fast, span_of(text.data + match.start, match.end - match.start));
	}
	if (!matcher_needs_decoding(fast))
		check_decoded(fast, text, &a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size > 1 ? memchr(data + 1, '\0', size - 1) : NULL;
	struct matcher *fast = NULL, *plain = NULL;
	struct matcher_options options;
	struct err err = ERR_INIT;
	struct span text;

	if (!end)
		return 0;
	text = span_of((const char *)end + 1, size - (size_t)(end + 1 - data));
	options = (struct matcher_options){
		.pattern = span_of((const char *)data + 1, (size_t)(end - data) - 1),
		.literal = data[0] & 1,
		.cases = (enum case_mode)(data[0] >> 1 & 3) % 3,
		.whole_word = data[0] & 8,
		.whole_line = data[0] & 16,
		.multiline = data[0] & 32,
	};
	if (text.len > TEXT_MAX || !matcher_compile(&options, &fast, &err))
		return 0;
	options.no_shortcuts = true;
	if (matcher_compile(&options, &plain, &err))
		compare(fast, plain, text);
	matcher_free(plain);
	matcher_free(fast);
	return 0;
}
