/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/first_prompt.h"

#include <string.h>

#include "agent/context/cut.h"
#include "base/mem.h"
#include "model/content.h"

/* Of both ends: what is asked may stand behind a long text that it is about. */
enum { PROMPT_KEPT = 4000 };

static const struct {
	const char *begin, *end;
} blocks[] = {
	{ "<hook_context>", "</hook_context>" },
	{ "<session_context>", "</session_context>" },
};

/* Without the block that it begins with; true if there was one. */
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
static bool drop_last(struct span *text, size_t i)
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

struct span prompt_words(struct span text)
{
	bool dropped = true;

	text = span_trim(text);
	while (dropped) {
		dropped = false;
		for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
			dropped = drop_first(&text, i) || drop_last(&text, i) || dropped;
	}
	return text;
}

char *first_prompt_of_text(struct span text)
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

char *first_prompt_in(const json_t *message)
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
			words = first_prompt_of_text(part_get_text(part));
	return words;
}

char *first_prompt_of(const json_t *conversation)
{
	char *words = NULL;

	for (size_t i = 0; !words && i < json_array_size(conversation); i++)
		words = first_prompt_in(json_array_get(conversation, i));
	return words;
}
