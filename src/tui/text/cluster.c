/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/text/cluster.h"

#include <utf8proc.h>

#include "base/text.h"

static bool is_printable_ascii(char c)
{
	return c >= 0x20 && c < 0x7f;
}

/* Like utf8proc, but for what terminals do: vowels and final consonants of Hangul's letters are
 * drawn over the first, and spacing marks have a column. */
static unsigned character_width(uint32_t c)
{
	int width;

	if ((c >= 0x1160 && c <= 0x11ff) || (c >= 0xd7b0 && c <= 0xd7ff))
		return 0;
	width = utf8proc_charwidth((utf8proc_int32_t)c);
	if (width == 0 && utf8proc_category((utf8proc_int32_t)c) == UTF8PROC_CATEGORY_MC)
		return 1;
	return width > 0 ? (unsigned)width : 0;
}

static bool starts_next(uint32_t before, uint32_t c)
{
	const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)before);

	/* What is written before the letter it belongs to is drawn by terminals in its own cell. */
	return property->boundclass == UTF8PROC_BOUNDCLASS_PREPEND && before >= 0x80 && c > 0;
}

static bool cluster_ends(uint32_t before, uint32_t c, utf8proc_int32_t *state)
{
	bool ends = utf8proc_grapheme_break_stateful((utf8proc_int32_t)before,
	                                             (utf8proc_int32_t)c, state);

	return ends || starts_next(before, c);
}

bool cluster_joins(uint32_t before, uint32_t c)
{
	return !utf8proc_grapheme_break((utf8proc_int32_t)before, (utf8proc_int32_t)c) &&
	       !starts_next(before, c);
}

/* Whether U+FE0F gives the character an emoji's form. */
static bool has_emoji_form(uint32_t c)
{
	if ((c >= '0' && c <= '9') || c == '#' || c == '*')
		return true;
	return utf8proc_get_property((utf8proc_int32_t)c)->boundclass ==
	       UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool cluster_next(struct span *rest, struct cluster *ret)
{
	utf8proc_int32_t state = 0;
	struct utf8_char c, next;
	unsigned width;
	size_t len;

	if (rest->len == 0)
		return false;
	if (is_printable_ascii(rest->data[0]) &&
	    (rest->len == 1 || (unsigned char)rest->data[1] < 0x80)) {
		*ret = (struct cluster){ span_head(*rest, 1), 1 };
		*rest = span_skip(*rest, 1);
		return true;
	}
	c = utf8_first(*rest);
	len = c.bytes.len;
	width = c.bad ? 1 : character_width(c.code);
	while (!c.bad && len < rest->len) {
		next = utf8_first(span_skip(*rest, len));
		if (next.bad || cluster_ends(c.code, next.code, &state))
			break;
		width += next.code == 0xfe0f && has_emoji_form(c.code) ? 1
		                                                       : character_width(next.code);
		width = width > 2 ? 2 : width;
		len += next.bytes.len;
		c = next;
	}
	*ret = (struct cluster){ span_head(*rest, len), width };
	*rest = span_skip(*rest, len);
	return true;
}
