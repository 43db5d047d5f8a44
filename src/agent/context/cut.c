/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts long texts in the middle, finds the first prompt of a conversation, and estimates the size
 * of contents. */
#include "agent/context/context.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

/* ---- cuts -------------------------------------------------------------------- */

#define NOTE_BEGIN SPAN("[... ")
#define NOTE_END SPAN(" ...]")

enum { NOTE_MAX = LIMIT_PATH_BYTES + 200, DIGITS_MAX = 15 };

struct cut cut_whole(struct span text)
{
	return (struct cut){ .before = text };
}

/* Takes what is there at the beginning of *text. */
static bool take_fixed(struct span *text, struct span word)
{
	if (!span_starts(*text, word))
		return false;
	*text = span_skip(*text, word.len);
	return true;
}

static bool take_note_number(struct span *text, size_t *ret)
{
	size_t digits = 0;

	for (*ret = 0; text->len && ascii_is_digit(*text->data); digits++) {
		*ret = *ret * 10 + (size_t)(*text->data - '0');
		*text = span_skip(*text, 1);
		if (digits >= DIGITS_MAX)
			return false;
	}
	return digits > 0;
}

/* A line, without its end. */
static bool read_cut_note(struct span line, struct cut *ret)
{
	size_t count;

	if (line.len > NOTE_MAX || !span_ends(line, NOTE_END) || !take_fixed(&line, NOTE_BEGIN) ||
	    !take_note_number(&line, &count))
		return false;
	if (take_fixed(&line, SPAN(" lines, ")) && !take_note_number(&line, &count))
		return false;
	if (!count || !take_fixed(&line, SPAN(" bytes left out")))
		return false;
	ret->removed = count;
	ret->place = span_of("", 0);
	if (take_fixed(&line, SPAN("; ")))
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
		if (!read_cut_note(line_body(line), &cut))
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
	struct span after = cut->removed ? cut->after : cut->before, first, last;
	size_t all = cut->before.len + cut->after.len;

	if (cut->removed && after.len < tail)
		head += tail - after.len;
	else if (cut->before.len < head)
		tail += head - cut->before.len;
	first = utf8_head(cut->before, head);
	last = tail_of(after, tail);
	place = place.len ? place : cut->place;
	buf_span(out, first);
	buf_printf(out, "\n[... %zu bytes left out", cut->removed + all - first.len - last.len);
	if (place.len)
		buf_printf(out, "; %.*s", (int)place.len, place.data);
	buf_str(out, " ...]\n");
	buf_span(out, last);
}

/* ---- first prompts ----------------------------------------------------------- */

/* Keeps both ends: the question may come after a long text. */
enum { PROMPT_KEPT = 4000 };

static const struct {
	const char *begin, *end;
} blocks[] = {
	{ "<hook_context>", "</hook_context>" },
	{ "<session_context>", "</session_context>" },
};

/* Removes the block at the start; true if there was one. */
static bool drop_first(struct span *text, size_t i)
{
	struct span begin = span_str(blocks[i].begin), end = span_str(blocks[i].end);
	const char *found;

	if (!span_starts(*text, begin))
		return false;
	found = memmem(text->data, text->len, end.data, end.len);
	*text = found ? span_trim(span_skip(*text, (size_t)(found - text->data) + end.len)) :
	                span_of("", 0);
	return true;
}

/* Likewise at its end. */
static bool drop_last_block(struct span *text, size_t i)
{
	struct span begin = span_str(blocks[i].begin);

	if (!span_ends(*text, span_str(blocks[i].end)))
		return false;
	for (size_t at = text->len; at-- > 0;)
		if (span_starts(span_skip(*text, at), begin)) {
			*text = span_trim(span_head(*text, at));
			return true;
		}
	return false;
}

/* A prompt's text without the blocks <hook_context> and <session_context> before and after it;
 * a view. */
static struct span prompt_words(struct span text)
{
	bool dropped = true;

	text = span_trim(text);
	while (dropped) {
		dropped = false;
		for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
			dropped = drop_first(&text, i) || drop_last_block(&text, i) || dropped;
	}
	return text;
}

char *context_first_prompt_of_text(struct span text)
{
	struct span words = prompt_words(text);
	struct cut cut = cut_of(words); /* in a file it may be cut already */
	_cleanup_buf_ struct buf out = BUF_INIT(2 * PROMPT_KEPT);

	if (!words.len)
		return NULL;
	if (cut_is_longer(&cut, PROMPT_KEPT))
		cut_write(&cut, PROMPT_KEPT / 2, PROMPT_KEPT / 2, span_of("", 0), &out);
	else
		buf_span(&out, words);
	return mem_dup(out.data, out.len);
}

char *context_first_prompt_in(const json_t *message)
{
	char *words = NULL;
	size_t i;
	json_t *part;

	if (!content_is_user(message))
		return NULL;
	json_array_foreach(json_object_get(message, "parts"), i, part)
		if (part_get_response(part))
			return NULL;
	json_array_foreach(json_object_get(message, "parts"), i, part)
		if (!words)
			words = context_first_prompt_of_text(part_get_text(part));
	return words;
}

char *context_first_prompt_of(const json_t *conversation)
{
	char *words = NULL;

	for (size_t i = 0; !words && i < json_array_size(conversation); i++)
		words = context_first_prompt_in(json_array_get(conversation, i));
	return words;
}

/* ---- weights ----------------------------------------------------------------- */

enum { PUNCTUATION = 4 };

static size_t weigh_value(const json_t *value, unsigned depth)
{
	size_t sum = PUNCTUATION, i;
	const char *name;
	json_t *member;

	if (!value || depth > JSON_DEPTH_MAX)
		return 0;
	if (json_is_string(value))
		return sum + json_string_length(value);
	if (json_is_array(value))
		json_array_foreach((json_t *)value, i, member)
			sum += weigh_value(member, depth + 1);
	if (json_is_object(value))
		json_object_foreach((json_t *)value, name, member)
			sum += strlen(name) + weigh_value(member, depth + 1);
	return sum;
}

size_t context_weight(const json_t *value)
{
	return weigh_value(value, 0);
}
