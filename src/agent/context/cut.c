/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/cut.h"

#include "base/limits.h"
#include "base/text.h"

#define NOTE_BEGIN SPAN("[... ")
#define NOTE_END SPAN(" ...]")

enum { NOTE_MAX = LIMIT_PATH_BYTES + 200, DIGITS_MAX = 15 };

struct cut cut_whole(struct span text)
{
	return (struct cut){ .before = text };
}

/* Takes what is there at the beginning of *text. */
static bool take(struct span *text, struct span word)
{
	if (!span_starts(*text, word))
		return false;
	*text = span_skip(*text, word.len);
	return true;
}

static bool take_number(struct span *text, size_t *ret)
{
	size_t digits = 0;

	for (*ret = 0; text->len && *text->data >= '0' && *text->data <= '9'; digits++) {
		*ret = *ret * 10 + (size_t)(*text->data - '0');
		*text = span_skip(*text, 1);
		if (digits >= DIGITS_MAX)
			return false;
	}
	return digits > 0;
}

/* A line, without its end. */
static bool read_note(struct span line, struct cut *ret)
{
	size_t count;

	if (line.len > NOTE_MAX || !span_ends(line, NOTE_END) || !take(&line, NOTE_BEGIN) ||
	    !take_number(&line, &count))
		return false;
	if (take(&line, SPAN(" lines, ")) && !take_number(&line, &count))
		return false;
	if (!count || !take(&line, SPAN(" bytes left out")))
		return false;
	ret->gone = count;
	ret->place = span_of("", 0);
	if (take(&line, SPAN("; ")))
		ret->place = span_head(line, line.len - NOTE_END.len);
	return true;
}

struct cut cut_of(struct span text)
{
	struct span rest = text, line;
	struct cut cut = cut_whole(text);
	bool more;

	for (;;) {
		const char *begin = rest.data;

		more = line_next(&rest, &line);
		if (!more)
			return cut;
		if (!read_note(line_body(line), &cut))
			continue;
		cut.before = span_of(text.data, (size_t)(begin - text.data));
		if (span_ends(cut.before, SPAN("\n"))) /* cut_write's */
			cut.before.len--;
		cut.after = rest;
		return cut;
	}
}

bool cut_is_longer(const struct cut *cut, size_t bytes)
{
	return cut->before.len + cut->after.len > bytes;
}

/* The end of a text, from a character on. */
static struct span tail_of(struct span text, size_t bytes)
{
	struct span tail = text.len > bytes ? span_skip(text, text.len - bytes) : text;

	while (tail.len && tail.len < text.len && ((unsigned char)tail.data[0] & 0xc0) == 0x80)
		tail = span_skip(tail, 1);
	return tail;
}

void cut_write(const struct cut *cut, size_t head, size_t tail, struct span place, struct buf *out)
{
	struct span after = cut->gone ? cut->after : cut->before, first, last;
	size_t all = cut->before.len + cut->after.len;

	if (cut->gone && after.len < tail)
		head += tail - after.len;
	else if (cut->before.len < head)
		tail += head - cut->before.len;
	first = utf8_head(cut->before, head);
	last = tail_of(after, tail);
	place = place.len ? place : cut->place;
	buf_span(out, first);
	buf_printf(out, "\n[... %zu bytes left out", cut->gone + all - first.len - last.len);
	if (place.len)
		buf_printf(out, "; %.*s", (int)place.len, place.data);
	buf_str(out, " ...]\n");
	buf_span(out, last);
}
