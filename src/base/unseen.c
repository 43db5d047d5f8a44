/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unseen.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

struct unseen_range {
	uint32_t first, last;
};

static bool unseen_in_ranges(const struct unseen_range *ranges, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count && c >= ranges[i].first; i++)
		if (c <= ranges[i].last)
			return true;
	return false;
}

bool unseen_is(uint32_t c)
{
	/* Default_Ignorable_Code_Point, Unicode 15.0, sorted. */
	static const struct unseen_range ignorable[] = {
		{ 0x00AD, 0x00AD },   { 0x034F, 0x034F },   { 0x061C, 0x061C }, { 0x115F, 0x1160 },
		{ 0x17B4, 0x17B5 },   { 0x180B, 0x180F },   { 0x200B, 0x200F }, { 0x202A, 0x202E },
		{ 0x2060, 0x206F },   { 0x3164, 0x3164 },   { 0xFE00, 0xFE0F }, { 0xFEFF, 0xFEFF },
		{ 0xFFA0, 0xFFA0 },   { 0xFFF0, 0xFFF8 },   { 0x1BCA0, 0x1BCA3 },
		{ 0x1D173, 0x1D17A }, { 0xE0000, 0xE0FFF },
	};

	return c >= 0xAD && unseen_in_ranges(ignorable, ARRAY_LEN(ignorable), c);
}

/* ---- where they belong ---------------------------------------------------------- */

/* Scripts whose letters join, or take a form by a joiner (blocks, Unicode 15.0 Blocks.txt). */
static bool script_joins(uint32_t c)
{
	static const struct unseen_range blocks[] = {
		{ 0x0600, 0x0605 },   { 0x060C, 0x061B },   { 0x061D, 0x08FF }, { 0x0900, 0x0DFF },
		{ 0x0F00, 0x109F },   { 0x1780, 0x17B3 },   { 0x17B6, 0x17FF }, { 0x1820, 0x18AF },
		{ 0x1900, 0x1AFF },   { 0x1B00, 0x1C4F },   { 0x1CD0, 0x1CFF }, { 0xA800, 0xA8FF },
		{ 0xA980, 0xABFF },   { 0xFB50, 0xFDFF },   { 0xFE70, 0xFEFC },
		{ 0x10A00, 0x10AFF },
		{ 0x11000, 0x11FFF },
	};

	return unseen_in_ranges(blocks, ARRAY_LEN(blocks), c);
}

static bool is_emoji(uint32_t c)
{
	static const struct unseen_range blocks[] = {
		{ 0x00A9, 0x00A9 }, { 0x00AE, 0x00AE }, { 0x203C, 0x203C }, { 0x2049, 0x2049 },
		{ 0x2122, 0x2139 }, { 0x2190, 0x21FF }, { 0x2300, 0x23FF }, { 0x2460, 0x24FF },
		{ 0x25A0, 0x27BF }, { 0x2900, 0x2BFF }, { 0x3030, 0x303D }, { 0x3297, 0x3299 },
		{ 0x1F000, 0x1FAFF },
	};

	return unseen_in_ranges(blocks, ARRAY_LEN(blocks), c);
}

static bool is_ideograph(uint32_t c)
{
	return (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
	       (c >= 0x20000 && c <= 0x3FFFF);
}

static bool is_unicode_letter(uint32_t c)
{
	return ascii_is_letter(c) ||
	       (c >= 0xC0 && !unseen_is(c) && !(c >= 0x2000 && c <= 0x2BFF) && c < 0x3000);
}

static bool is_jamo(uint32_t c)
{
	return ((c >= 0x1100 && c <= 0x11FF) || (c >= 0xA960 && c <= 0xA97F) ||
	        (c >= 0xD7B0 && c <= 0xD7FF)) && !unseen_is(c);
}

/* Whether `c` belongs between its neighbours; 0 for the ends of the text. An emoji with a selector
 * or a skin tone is one still: `emoji` says that the text before is one. */
static bool unseen_belongs(uint32_t before, uint32_t c, uint32_t after, bool emoji)
{
	if (c == 0x200D && emoji)
		return is_emoji(after);
	if (unseen_is(before))
		return false;
	if (c == 0x200C || c == 0x200D)
		return script_joins(before);
	if (c >= 0xFE00 && c <= 0xFE0F)
		return before >= 0xA9 ||
		       (c >= 0xFE0E && before && strchr("#*0123456789", (int)before));
	if (c >= 0xE0100 && c <= 0xE01EF)
		return is_ideograph(before);
	if (c == 0xAD)
		return is_unicode_letter(before) && is_unicode_letter(after);
	if (c == 0x200B)
		return (before >= 0x0E00 && before <= 0x0EFF) ||
		       (before >= 0x1000 && before <= 0x109F) ||
		       (before >= 0x1780 && before <= 0x17FF);
	if (c == 0x034F)
		return before >= 0x0300 && before <= 0x05FF;
	if (c == 0x115F || c == 0x1160)
		return is_jamo(before) || is_jamo(after);
	return c >= 0x180B && c <= 0x180F && before >= 0x1820 && before <= 0x18AF;
}

/* The bytes of the flag that the text begins with; 0: none. */
static size_t flag_length(struct span text)
{
#define TAG(c) "\xF3\xA0\x81" c
	static const char *const flags[] = {
		/* U+1F3F4, then the tags of gbeng, gbsct and gbwls, U+E007F */
		"\xF0\x9F\x8F\xB4" TAG("\xA7") TAG("\xA2") TAG("\xA5")
			TAG("\xAE") TAG("\xA7") TAG("\xBF"),
		"\xF0\x9F\x8F\xB4" TAG("\xA7") TAG("\xA2") TAG("\xB3")
			TAG("\xA3") TAG("\xB4") TAG("\xBF"),
		"\xF0\x9F\x8F\xB4" TAG("\xA7") TAG("\xA2") TAG("\xB7")
			TAG("\xAC") TAG("\xB3") TAG("\xBF"),
	};
#undef TAG

	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (span_starts(text, span_str(flags[i])))
			return strlen(flags[i]);
	return 0;
}

/* ---- showing --------------------------------------------------------------------- */

static uint32_t first_of(struct span text)
{
	struct utf8_char c = { 0 };

	return utf8_next(&text, &c) && !c.bad ? c.code : 0;
}

/* Runs of ASCII, nearly all text, are skipped as a whole. */
static size_t ascii_length(struct span text)
{
	size_t len = 0;
	uint64_t words[8];

	for (; text.len - len >= sizeof(words); len += sizeof(words)) {
		uint64_t all = 0;

		memcpy(words, text.data + len, sizeof(words));
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			all |= words[i];
		if (all & 0x8080808080808080u)
			break;
	}
	while (len < text.len && (unsigned char)text.data[len] < 0x80)
		len++;
	return len;
}

bool unseen_next(struct unseen *state, struct unseen_piece *ret)
{
	struct unseen_piece piece = { 0 };
	struct span text = state->rest;
	size_t len = ascii_length(text);

	if (!text.len)
		return false;
	piece.code = len ? (unsigned char)text.data[len - 1] : 0;
	if (!len)
		len = flag_length(text);
	if (!len) {
		struct utf8_char next = utf8_first(text);

		len = next.bytes.len;
		piece.code = next.code;
		piece.bad = next.bad;
	}
	state->rest = span_skip(text, len);
	piece.bytes = span_head(text, len);
	piece.hidden = unseen_is(piece.code) &&
	               !unseen_belongs(state->before, piece.code, first_of(state->rest),
	                               state->emoji);
	state->emoji = !piece.hidden && (is_emoji(piece.code) ||
	                                 (state->emoji && piece.code == 0xFE0F));
	state->before = piece.code;
	*ret = piece;
	return true;
}

/* `out` NULL: counts only. */
static size_t unseen_print(struct buf *out, struct span text)
{
	struct unseen state = { .rest = text };
	struct unseen_piece piece;
	size_t count = 0;

	while (unseen_next(&state, &piece)) {
		if (piece.hidden && out)
			buf_printf(out, "\\u{%x}", (unsigned)piece.code);
		else if (out)
			buf_span(out, piece.bytes);
		count += piece.hidden;
	}
	return count;
}

size_t unseen_count(struct span text)
{
	return unseen_print(NULL, text);
}

size_t unseen_show(struct buf *out, struct span text)
{
	return unseen_print(out, text);
}

char *unseen_line(struct span text, size_t max)
{
	_cleanup_free_ char *copy = mem_dup(text.data ? text.data : "", text.len);
	/* U+061C, of two bytes, is an escape of seven. */
	_cleanup_buf_ struct buf shown = BUF_INIT(4 * text.len + 1);
	struct span line;

	for (char *c = copy; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	unseen_show(&shown, span_str(copy));
	line = utf8_head(buf_view(&shown), max);
	return mem_dup(line.data ? line.data : "", line.len);
}

size_t unseen_escape(struct span text, uint32_t *ret)
{
	uint32_t c = 0;
	size_t i = 2;

	if (!span_starts(text, SPAN("u{")))
		return 0;
	for (; i < text.len && i < 8; i++) {
		static const char digits[] = "0123456789abcdef";
		char digit_lower = (char)(text.data[i] >= 'A' && text.data[i] <= 'F' ?
		                                  text.data[i] + ('a' - 'A') : text.data[i]);
		const char *digit = memchr(digits, digit_lower, 16);

		if (!digit)
			break;
		c = c * 16 + (uint32_t)(digit - digits);
	}
	*ret = c;
	return i < text.len && text.data[i] == '}' && unseen_is(c) ? i + 1 : 0;
}

size_t unseen_read(struct buf *out, struct span text)
{
	size_t count = 0;

	while (text.len) {
		const char *escape = memchr(text.data, '\\', text.len);
		size_t len = escape ? (size_t)(escape - text.data) : text.len;
		uint32_t c;

		buf_append(out, text.data, len);
		text = span_skip(text, len);
		len = unseen_escape(span_skip(text, 1), &c);
		if (len++) {
			char bytes[4];

			buf_append(out, bytes, utf8_put(c, bytes));
			count++;
		} else if (text.len) {
			buf_char(out, '\\');
		}
		text = span_skip(text, len);
	}
	return count;
}
