/* SPDX-License-Identifier: Apache-2.0 */
/* Brace expansion: {a,b} and {1..9}. */
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "shell/word.h"

enum { MAX_DEPTH = 12, MAX_BYTES = 64 << 10 };

/* Raw words, each with a NUL behind it. */
struct list {
	struct buf text;
	size_t count;
};

static bool expand(struct span raw, unsigned depth, struct list *ret);

/* Behind the character at `i`, or behind what it quotes. */
static size_t skip(struct span raw, size_t i)
{
	char c = raw.data[i++];

	if (c == '\\')
		return i < raw.len ? i + 1 : i;
	if (c == '$' && i < raw.len && raw.data[i] == '\'') {
		for (i++; i < raw.len && raw.data[i] != '\'';)
			i += raw.data[i] == '\\' ? 2 : 1;
		return i < raw.len ? i + 1 : raw.len;
	}
	if (c == '\'') {
		while (i < raw.len && raw.data[i] != '\'')
			i++;
		return i < raw.len ? i + 1 : i;
	}
	if (c == '"') {
		while (i < raw.len && raw.data[i] != '"')
			i += raw.data[i] == '\\' ? 2 : 1;
		return i < raw.len ? i + 1 : raw.len;
	}
	return i;
}

/* The } of the { at `open`, or raw.len; whether a comma of its own is between them. */
static size_t find_close(struct span raw, size_t open, bool *ret_comma)
{
	unsigned depth = 0;

	*ret_comma = false;
	for (size_t i = open; i < raw.len; i = skip(raw, i)) {
		char c = raw.data[i];

		if (c == '{')
			depth++;
		else if (c == '}' && --depth == 0)
			return i;
		else if (c == ',' && depth == 1)
			*ret_comma = true;
	}
	return raw.len;
}

static void add(struct list *list, struct span a, struct span b)
{
	buf_span(&list->text, a);
	buf_span(&list->text, b);
	buf_char(&list->text, '\0');
	list->count++;
}

static void list_release(struct list *list)
{
	buf_release(&list->text);
}
#define _cleanup_list_ __attribute__((cleanup(list_release)))
#define LIST_INIT { .text = BUF_INIT(MAX_BYTES) }

/* Takes the next word off *rest. */
static struct span next_word(struct span *rest)
{
	struct span word = span_of(rest->data, strlen(rest->data));

	*rest = span_skip(*rest, word.len + 1);
	return word;
}

/* a..b or a..b..step */
struct sequence {
	long from, to, step;
	int width;    /* digits with leading zeros, or 0 */
	bool letters;
};

/* A number at the front of *text, taken off. */
static bool take_number(struct span *text, long *ret, int *width)
{
	size_t i = text->len > 0 && (text->data[0] == '-' || text->data[0] == '+');
	size_t first = i;
	long value = 0;

	while (i < text->len && text->data[i] >= '0' && text->data[i] <= '9' && i - first < 9)
		value = value * 10 + (text->data[i++] - '0');
	if (i == first)
		return false;
	if (i - first > 1 && text->data[first] == '0' && (int)i > *width)
		*width = (int)i;
	*ret = first && text->data[0] == '-' ? -value : value;
	*text = span_skip(*text, i);
	return true;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool take_dots(struct span *text)
{
	if (!span_starts(*text, SPAN("..")))
		return false;
	*text = span_skip(*text, 2);
	return true;
}

static bool parse_sequence(struct span text, struct sequence *ret)
{
	int ignored = 0;

	*ret = (struct sequence){ .step = 1 };
	if (text.len >= 4 && is_letter(text.data[0]) && is_letter(text.data[3]) &&
	    text.data[1] == '.' && text.data[2] == '.') {
		ret->letters = true;
		ret->from = text.data[0];
		ret->to = text.data[3];
		text = span_skip(text, 4);
	} else if (!take_number(&text, &ret->from, &ret->width) || !take_dots(&text) ||
	           !take_number(&text, &ret->to, &ret->width)) {
		return false;
	}
	if (text.len > 0 &&
	    (!take_dots(&text) || !take_number(&text, &ret->step, &ignored) || text.len > 0))
		return false;
	ret->step = labs(ret->step);
	ret->step = ret->step ? ret->step : 1;
	return true;
}

/* False when it is too long or not clear. */
static bool make_sequence(const struct sequence *s, struct list *list)
{
	long step = s->from <= s->to ? s->step : -s->step;

	/* From Z to a the characters between are signs, some of them special. */
	if ((s->letters && (s->from < 'a') != (s->to < 'a')) ||
	    labs(s->to - s->from) / s->step >= LIMIT_SHELL_BRACES)
		return false;
	for (long i = s->from; step > 0 ? i <= s->to : i >= s->to; i += step) {
		if (s->letters)
			buf_char(&list->text, (char)i);
		else
			buf_printf(&list->text, "%0*ld", s->width, i);
		buf_char(&list->text, '\0');
		list->count++;
	}
	return true;
}

/* The alternatives between { and }, each expanded. */
static bool make_alternatives(struct span inside, unsigned depth, struct list *list)
{
	unsigned open = 0;
	size_t start = 0;

	for (size_t i = 0; i <= inside.len; i = i < inside.len ? skip(inside, i) : i + 1) {
		char c = i < inside.len ? inside.data[i] : ',';

		open += c == '{';
		open -= c == '}' && open > 0;
		if (c != ',' || (open > 0 && i < inside.len))
			continue;
		if (!expand(span_head(span_skip(inside, start), i - start), depth + 1, list))
			return false;
		start = i + 1;
	}
	return list->count <= LIMIT_SHELL_BRACES && !list->text.overflowed;
}

/* Each of `heads` behind `prefix`, with each expansion of `rest` behind it. */
static bool multiply(struct span prefix, const struct list *heads, struct span rest,
                     unsigned depth, struct list *ret)
{
	_cleanup_list_ struct list tails = LIST_INIT;
	struct span head_text = buf_view(&heads->text);

	if (!expand(rest, depth + 1, &tails) || heads->count * tails.count > LIMIT_SHELL_BRACES)
		return false;
	for (size_t i = 0; i < heads->count; i++) {
		struct span head = next_word(&head_text);
		struct span tail_text = buf_view(&tails.text);

		for (size_t k = 0; k < tails.count; k++) {
			buf_span(&ret->text, prefix);
			add(ret, head, next_word(&tail_text));
		}
	}
	return !ret->text.overflowed;
}

/* Adds the words that `raw` becomes; false when that is too much or unclear. */
static bool expand(struct span raw, unsigned depth, struct list *ret)
{
	if (depth > MAX_DEPTH)
		return false;
	for (size_t i = 0; i < raw.len; i = skip(raw, i)) {
		_cleanup_list_ struct list heads = LIST_INIT;
		struct sequence sequence;
		struct span inside;
		bool comma;
		size_t close;

		if (raw.data[i] != '{')
			continue;
		close = find_close(raw, i, &comma);
		if (close == raw.len)
			return false; /* shells look for smaller pairs in it */
		inside = span_head(span_skip(raw, i + 1), close - i - 1);
		if (comma ? !make_alternatives(inside, depth, &heads)
		          : parse_sequence(inside, &sequence) && !make_sequence(&sequence, &heads))
			return false;
		/* What does not expand may still do so with a later }: {a}b,c} */
		if (heads.count == 0 && memchr(raw.data + close + 1, '}', raw.len - close - 1))
			return false;
		if (heads.count > 0)
			return multiply(span_head(raw, i), &heads, span_skip(raw, close + 1), depth,
			                ret);
	}
	add(ret, raw, span_of("", 0));
	return !ret->text.overflowed;
}

/* Whether there is a { that could begin an expansion; {} is special, and shells differ. */
static bool has_braces(struct span raw, bool *ret_empty_pair)
{
	size_t first = raw.len;

	*ret_empty_pair = false;
	for (size_t i = 0; i < raw.len; i = skip(raw, i)) {
		if (raw.data[i] != '{')
			continue;
		first = first < i ? first : i;
		*ret_empty_pair |= i + 1 < raw.len && raw.data[i + 1] == '}';
	}
	raw = span_skip(raw, first);
	return raw.len > 0 &&
	       (memchr(raw.data, ',', raw.len) || memmem(raw.data, raw.len, "..", 2));
}

enum braces_outcome braces_expand(struct span raw, struct buf *ret_words, size_t *ret_count)
{
	_cleanup_list_ struct list list = LIST_INIT;
	bool empty_pair;

	if (!has_braces(raw, &empty_pair))
		return BRACES_NONE;
	if (empty_pair || !expand(raw, 0, &list))
		return BRACES_UNCLEAR;
	if (list.count == 1 && span_eq(span_str(list.text.data), raw))
		return BRACES_NONE;
	*ret_count = list.count;
	buf_span(ret_words, buf_view(&list.text));
	return ret_words->overflowed ? BRACES_UNCLEAR : BRACES_WORDS;
}
