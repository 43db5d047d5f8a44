/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/fold.h"

#include "base/mem.h"
#include "base/text.h"

/* Ranges of characters that models and editors swap for ASCII, sorted. */
static const struct {
	uint32_t first, last;
	const char *ascii;
} lookalikes[] = {
	{ 0x00A0, 0x00A0, " " },  /* no-break space */
	{ 0x00AD, 0x00AD, "" },   /* soft hyphen */
	{ 0x00B4, 0x00B4, "'" },  /* acute accent */
	{ 0x02BC, 0x02BC, "'" },  /* modifier apostrophe */
	{ 0x1680, 0x1680, " " },
	{ 0x2000, 0x200A, " " },  /* typographic spaces */
	{ 0x200B, 0x200F, "" },   /* zero-width characters and marks */
	{ 0x2010, 0x2015, "-" },  /* hyphens and dashes */
	{ 0x2018, 0x201B, "'" },
	{ 0x201C, 0x201F, "\"" },
	{ 0x2026, 0x2026, "..." },
	{ 0x2028, 0x2029, " " },
	{ 0x202A, 0x202E, "" },   /* directional controls */
	{ 0x202F, 0x202F, " " },
	{ 0x2032, 0x2032, "'" },
	{ 0x2033, 0x2033, "\"" },
	{ 0x205F, 0x205F, " " },
	{ 0x2060, 0x2064, "" },
	{ 0x2066, 0x2069, "" },
	{ 0x2212, 0x2212, "-" },  /* minus sign */
	{ 0x3000, 0x3000, " " },  /* ideographic space */
	{ 0xFEFF, 0xFEFF, "" },   /* byte-order mark */
};

const char *fold_lookalike(uint32_t code_point)
{
	size_t low = 0, high = ARRAY_LEN(lookalikes);

	if (code_point < lookalikes[0].first)
		return NULL;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (code_point > lookalikes[middle].last)
			low = middle + 1;
		else if (code_point < lookalikes[middle].first)
			high = middle;
		else
			return lookalikes[middle].ascii;
	}
	return NULL;
}

enum patch_match fold_match(enum fold fold)
{
	static const enum patch_match matches[FOLD_COUNT] = {
		[FOLD_EXACT] = PATCH_MATCH_EXACT,
		[FOLD_TRAILING] = PATCH_MATCH_TRAILING_SPACE,
		[FOLD_COLLAPSE] = PATCH_MATCH_ALL_SPACE,
		[FOLD_DROP] = PATCH_MATCH_ALL_SPACE,
		[FOLD_LOOKALIKE_COLLAPSE] = PATCH_MATCH_LOOKALIKE,
		[FOLD_LOOKALIKE_DROP] = PATCH_MATCH_LOOKALIKE,
	};

	return matches[fold];
}

static struct span trim_end(struct span body)
{
	while (body.len && fold_is_space(body.data[body.len - 1]))
		body.len--;
	return body;
}

/* The body with look-alikes as ASCII, in *scratch. Bytes that are not UTF-8 stay. */
static struct span fold_characters(struct span body, struct buf *scratch)
{
	struct utf8_char c;

	buf_clear(scratch);
	while (utf8_next(&body, &c)) {
		const char *ascii = c.bytes.len > 1 ? fold_lookalike(c.code) : NULL;

		if (ascii)
			buf_str(scratch, ascii);
		else
			buf_span(scratch, c.bytes);
	}
	return buf_view(scratch);
}

static bool is_ascii(struct span body)
{
	for (size_t i = 0; i < body.len; i++)
		if ((unsigned char)body.data[i] >= 0x80)
			return false;
	return true;
}

/* White space removed, or each run made one space (none at the ends), in place in *scratch. */
static struct span fold_spaces(struct span body, bool keep_one, struct buf *scratch)
{
	size_t kept = 0;
	bool gap = false;

	if (body.data != scratch->data) {
		buf_clear(scratch);
		buf_span(scratch, body);
	}
	for (size_t i = 0; i < scratch->len; i++) {
		char c = scratch->data[i];

		if (fold_is_space(c)) {
			gap = kept > 0;
			continue;
		}
		if (gap && keep_one)
			scratch->data[kept++] = ' ';
		gap = false;
		scratch->data[kept++] = c;
	}
	return span_of(scratch->data, scratch->data ? kept : 0);
}

struct span fold_line(enum fold fold, struct span body, struct buf *scratch)
{
	if (fold == FOLD_EXACT)
		return body;
	if (fold == FOLD_TRAILING)
		return trim_end(body);
	if (fold >= FOLD_LOOKALIKE_COLLAPSE && !is_ascii(body))
		body = fold_characters(body, scratch);
	return fold_spaces(body, fold == FOLD_COLLAPSE || fold == FOLD_LOOKALIKE_COLLAPSE, scratch);
}
