/* SPDX-License-Identifier: Apache-2.0 */
/* Categories and properties are Unicode's, from utf8proc; what is harmful beyond a category is in
 * the tables here. */
#include "tui/text/safe.h"

#include <stdio.h>
#include <utf8proc.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/unseen.h"
#include "tui/text/cluster.h"
#include "tui/text/width.h"

/* Marks on one letter: no script needs more, and towers of them hide other lines. */
#define MARKS_MAX 4
/* Characters of one cluster: the longest emoji have ten. */
#define CLUSTER_MAX 16

struct escaped_range {
	uint32_t from, to;
};

/* Seen as a space or as nothing, though their category is a letter's, wherever they stand. */
static const struct escaped_range blank[] = {
	{ 0x115f, 0x1160 }, { 0x17b4, 0x17b5 }, { 0x2800, 0x2800 }, { 0x3164, 0x3164 },
	{ 0xffa0, 0xffa0 },
};

/* Cyrillic and Greek letters with the shape of a Latin one. */
static const struct escaped_range latin_shaped[] = {
	{ 0x0391, 0x0392 }, { 0x0395, 0x0397 }, { 0x0399, 0x039a }, { 0x039c, 0x039d },
	{ 0x039f, 0x039f }, { 0x03a1, 0x03a1 }, { 0x03a4, 0x03a5 }, { 0x03a7, 0x03a7 },
	{ 0x03bd, 0x03bd }, { 0x03bf, 0x03bf }, { 0x03f2, 0x03f3 }, { 0x03f9, 0x03f9 },
	{ 0x0405, 0x0406 }, { 0x0408, 0x0408 }, { 0x0410, 0x0410 }, { 0x0412, 0x0412 },
	{ 0x0415, 0x0415 }, { 0x041a, 0x041a }, { 0x041c, 0x041e }, { 0x0420, 0x0423 },
	{ 0x0425, 0x0425 }, { 0x0430, 0x0430 }, { 0x0435, 0x0435 }, { 0x043e, 0x043e },
	{ 0x0440, 0x0441 }, { 0x0443, 0x0443 }, { 0x0445, 0x0445 }, { 0x0455, 0x0456 },
	{ 0x0458, 0x0458 }, { 0x04ae, 0x04af }, { 0x04bb, 0x04bb }, { 0x04c0, 0x04c0 },
	{ 0x04cf, 0x04cf }, { 0x0501, 0x0501 }, { 0x051a, 0x051d },
};

static bool in_ranges(const struct escaped_range *ranges, size_t count, uint32_t c)
{
	for (size_t i = 0; i < count && c >= ranges[i].from; i++) {
		if (c <= ranges[i].to)
			return true;
	}
	return false;
}

static bool is_ascii_letter(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_combining_mark(utf8proc_category_t category)
{
	return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
	       category == UTF8PROC_CATEGORY_ME;
}

static bool is_word_letter(uint32_t c)
{
	utf8proc_category_t category;

	if (c < 0x80)
		return is_ascii_letter(c);
	category = utf8proc_category((utf8proc_int32_t)c);
	return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) ||
	       is_combining_mark(category);
}

/* Whether a character beyond ASCII must be escaped; `hidden`: it does not belong where it is. */
static bool is_harmful(uint32_t c, bool hidden)
{
	switch (utf8proc_category((utf8proc_int32_t)c)) {
	case UTF8PROC_CATEGORY_CF:
		/* A soft hyphen is as wide as a terminal likes. */
		return hidden || !unseen_is(c) || c == 0xad;
	case UTF8PROC_CATEGORY_CC:
	case UTF8PROC_CATEGORY_CS:
	case UTF8PROC_CATEGORY_CO:
	case UTF8PROC_CATEGORY_CN:
	case UTF8PROC_CATEGORY_ZL:
	case UTF8PROC_CATEGORY_ZP:
		return true;
	default:
		return hidden || in_ranges(blank, ARRAY_LEN(blank), c);
	}
}

/* The length of the letters that the text begins with; whether there are ASCII ones. */
static size_t word_length(struct span text, bool *ret_latin)
{
	size_t at = 0;

	*ret_latin = false;
	while (at < text.len) {
		struct utf8_char c = utf8_first(span_skip(text, at));

		if (c.bad || !is_word_letter(c.code))
			break;
		*ret_latin |= is_ascii_letter(c.code);
		at += c.bytes.len;
	}
	return at;
}

static struct safe_piece piece_of_escape(struct safe *safe, int len)
{
	safe->before = '}';
	safe->emoji = false;
	return (struct safe_piece){ SAFE_ESCAPE, span_of(safe->escape, (size_t)len),
		                    (unsigned)len };
}

static struct safe_piece make_byte_escape(struct safe *safe, unsigned char c)
{
	return piece_of_escape(safe, snprintf(safe->escape, sizeof(safe->escape),
	                                      c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\x%02x",
	                                      c));
}

static struct safe_piece make_character_escape(struct safe *safe, uint32_t c)
{
	return piece_of_escape(safe,
	                       snprintf(safe->escape, sizeof(safe->escape), "\\u{%x}", c));
}

static struct safe_piece take_control(struct safe *safe)
{
	const unsigned char c = (unsigned char)safe->rest.data[0];
	struct safe_piece tab = { SAFE_TAB, span_head(safe->rest, 1), 0 };

	safe->rest = span_skip(safe->rest, 1);
	if (c == '\t') {
		safe->before = ' ';
		safe->emoji = false;
		return tab;
	}
	return make_byte_escape(safe, c);
}

/* How much printable ASCII the text begins with that no mark can join. */
static size_t plain_length(struct span text)
{
	size_t n = 0;

	while (n < text.len && text.data[n] >= 0x20 && text.data[n] < 0x7f)
		n++;
	return n > 0 && n < text.len && (unsigned char)text.data[n] >= 0x80 ? n - 1 : n;
}

/* Finds out whether the letters from here on, if they were not looked at yet, have Latin ones. */
static void look_at_word(struct safe *safe, uint32_t c)
{
	if (safe->word_end && safe->rest.data < safe->word_end)
		return;
	if (is_word_letter(c)) {
		safe->word_end = safe->rest.data + word_length(safe->rest, &safe->mixed);
		safe->mixed |= is_ascii_letter(safe->before);
	} else {
		safe->mixed = false;
	}
}

/* The length of the characters of a cluster that can be shown together; 0: the first cannot. */
static size_t shown_length(struct safe *safe, struct span cluster, struct unseen *state)
{
	struct unseen_piece piece;
	unsigned marks = 0, count = 0;
	size_t len = 0;

	while (len < cluster.len) {
		struct unseen next = *state;
		bool mark;

		next.rest = span_skip(safe->rest, len);
		if (next.rest.data[0] > 0) { /* unseen_next would take all ASCII */
			next = (struct unseen){ span_skip(next.rest, 1),
				                (unsigned char)next.rest.data[0], false };
			len++;
			*state = next;
			count++;
			if (next.before == ' ')
				break; /* a mark on it is one on nothing */
			continue;
		}
		unseen_next(&next, &piece);
		mark = is_combining_mark(utf8proc_category((utf8proc_int32_t)piece.code));
		marks = mark ? marks + 1 : 0;
		if (piece.bytes.len <= 4 &&
		    (piece.bad || is_harmful(piece.code, piece.hidden) || marks > MARKS_MAX ||
		     ++count > CLUSTER_MAX ||
		     (safe->mixed && in_ranges(latin_shaped, ARRAY_LEN(latin_shaped), piece.code))))
			break;
		len += piece.bytes.len;
		*state = next;
	}
	return len;
}

/* A cluster that is not plain ASCII, as far as it can be shown, or its first character escaped. */
static struct safe_piece take_cluster(struct safe *safe)
{
	struct unseen state = { .before = safe->before, .emoji = safe->emoji };
	struct utf8_char first = utf8_first(safe->rest);
	struct span rest = safe->rest;
	struct cluster cluster;
	struct span shown;

	look_at_word(safe, first.code);
	cluster_next(&rest, &cluster);
	shown = span_head(safe->rest, shown_length(safe, cluster.bytes, &state));
	if (shown.len < cluster.bytes.len)
		cluster.width = width_of(shown);
	/* A character that would join the text before, and a mark on nothing, occupy no cell. */
	if (safe->cut || cluster.width == 0 ||
	    cluster_joins(safe->before ? safe->before : ' ', first.code)) {
		safe->cut = false;
		safe->rest = span_skip(safe->rest, first.bytes.len);
		return first.bad ? make_byte_escape(safe, (unsigned char)first.bytes.data[0])
		                 : make_character_escape(safe, first.code);
	}
	safe->cut = shown.len < cluster.bytes.len;
	safe->before = state.before;
	safe->emoji = state.emoji;
	safe->rest = span_skip(safe->rest, shown.len);
	return (struct safe_piece){ SAFE_CLUSTER, shown, cluster.width };
}

bool safe_next(struct safe *safe, struct safe_piece *ret)
{
	unsigned char first;
	size_t len;

	if (safe->rest.len == 0)
		return false;
	first = (unsigned char)safe->rest.data[0];
	len = plain_length(safe->rest);
	if (len > 0) {
		*ret = (struct safe_piece){ SAFE_ASCII, span_head(safe->rest, len),
			                    (unsigned)len };
		safe->before = (unsigned char)safe->rest.data[len - 1];
		safe->emoji = false;
		safe->rest = span_skip(safe->rest, len);
	} else {
		*ret = first < 0x20 || first == 0x7f ? take_control(safe) : take_cluster(safe);
	}
	return true;
}
