/* SPDX-License-Identifier: Apache-2.0 */
/* The values of words: brace expansion, quote removal. */
#include "shell/private.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"

struct unquoter {
	struct span raw;
	size_t at;                       /* in raw */
	size_t base;                     /* where raw is in the text of the pieces */
	const struct read_piece *pieces; /* the next one and those after it */
	size_t piece_count;
	bool assignment;
	bool named;                      /* an = was seen */
	struct word_reading *out;
};

static int unquoter_peek(const struct unquoter *u, size_t ahead)
{
	return u->at + ahead < u->raw.len ? (unsigned char)u->raw.data[u->at + ahead] : -1;
}

static void unquoter_put(struct unquoter *u, size_t count)
{
	size_t left = u->raw.len - u->at;

	count = count < left ? count : left;
	buf_append(&u->out->text, u->raw.data + u->at, count);
	u->at += count;
}

static void unquoter_unknown(struct unquoter *u, unsigned dynamic)
{
	if (!u->out->dynamic)
		u->out->known = u->out->text.len;
	u->out->dynamic |= dynamic;
}

/* Whether a quoted parameter becomes several words: "$@", "${x[@]}", "${!x@}". */
static bool has_at(struct span piece)
{
	return memchr(piece.data, '@', piece.len) != NULL;
}

/* Takes the piece that begins here; false when there is none. */
static bool unquoter_take_piece(struct unquoter *u, bool quoted)
{
	struct span piece;
	size_t here = u->base + u->at;

	while (u->piece_count > 0 && u->pieces->at.start < here) {
		u->pieces++;
		u->piece_count--;
	}
	if (u->piece_count == 0 || u->pieces->at.start != here || u->at >= u->raw.len)
		return false;
	piece = span_head(span_skip(u->raw, u->at), u->pieces->at.end - here);
	unquoter_unknown(u, u->pieces->dynamic);
	if (u->pieces->dynamic == SHELL_DYNAMIC_VARIABLE)
		u->out->splits |= !quoted || has_at(piece);
	else if (u->pieces->dynamic != SHELL_DYNAMIC_PROCESS)
		u->out->splits |= !quoted;
	unquoter_put(u, piece.len ? piece.len : 1);
	return true;
}

static void unquote_single(struct unquoter *u)
{
	const char *start = u->raw.data + u->at + 1;
	size_t left = u->raw.len - u->at - 1;
	const char *end = memchr(start, '\'', left);

	u->at++;
	unquoter_put(u, end ? (size_t)(end - start) : left);
	u->at++;
}

static void unquote_double(struct unquoter *u)
{
	u->at++;
	for (int c; (c = unquoter_peek(u, 0)) >= 0 && c != '"';) {
		int next = unquoter_peek(u, 1);

		if (c == '\\' && next == '\n') {
			u->at += 2;
		} else if (c == '\\' && next > 0 && strchr("$`\"\\", next)) {
			u->at++;
			unquoter_put(u, 1);
		} else if (!unquoter_take_piece(u, /* quoted= */ true)) {
			unquoter_put(u, 1);
		}
	}
	u->at++;
}

static int ansi_digit(int c, int base)
{
	int value = ascii_hex(c);

	return value < base ? value : -1;
}

/* Up to `most` digits; -1 when there is none. */
static int64_t unquoter_read_digits(struct unquoter *u, int base, unsigned most)
{
	int64_t value = -1;

	for (unsigned i = 0; i < most && ansi_digit(unquoter_peek(u, 0), base) >= 0; i++, u->at++)
		value = (value < 0 ? 0 : value) * base + ansi_digit(unquoter_peek(u, 0), base);
	return value;
}

/* \x \u \U \nnn, at the letter or first digit; true when the byte is NUL, which ends the string. */
static bool unquote_number(struct unquoter *u, int c)
{
	bool octal = c >= '0' && c <= '7';
	size_t start = u->at;
	int64_t value;

	u->at += !octal;
	value = octal ? unquoter_read_digits(u, 8, 3)
	              : unquoter_read_digits(u, 16, c == 'x' ? 2 : c == 'u' ? 4 : 8);
	if (value < 0) {
		buf_char(&u->out->text, '\\');
		buf_append(&u->out->text, u->raw.data + start, 1);
		return false;
	}
	if ((c == 'u' || c == 'U') && value >= 0x80) {
		unquoter_unknown(u, SHELL_DYNAMIC_LOCALE); /* the locale's encoding decides */
		return false;
	}
	value &= 0xff;
	if (value != 0)
		buf_char(&u->out->text, (char)value);
	return value == 0;
}

/* \cX: at the c */
static bool unquote_control(struct unquoter *u)
{
	int c = unquoter_peek(u, 1);
	int value = c == '?' ? 0x7f : (c >= 'a' && c <= 'z' ? c - 32 : c) & 0x1f;

	if (c < 0)
		return false;
	u->at += 2;
	if (c >= 0x80 || c == '\\' || c == '\'') /* shells differ */
		unquoter_unknown(u, SHELL_DYNAMIC_LOCALE);
	else if (value != 0)
		buf_char(&u->out->text, (char)value);
	return value == 0;
}

/* After a backslash in $'…'. */
static bool unquote_ansi_escape(struct unquoter *u)
{
	static const char letters[] = "abeEfnrtv\\'\"?";
	static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
	int c = unquoter_peek(u, 0);
	const char *letter = c > 0 ? strchr(letters, c) : NULL;

	if (letter) {
		buf_char(&u->out->text, values[letter - letters]);
		u->at++;
		return false;
	}
	if (c == 'x' && unquoter_peek(u, 1) == '{') {
		unquoter_unknown(u, SHELL_DYNAMIC_LOCALE); /* \x{…}: an extension that few know */
		u->at++;
		return false;
	}
	if (c == 'x' || c == 'u' || c == 'U' || (c >= '0' && c <= '7'))
		return unquote_number(u, c);
	if (c == 'c')
		return unquote_control(u);
	buf_char(&u->out->text, '\\');
	unquoter_put(u, 1);
	return false;
}

/* $'…' (bash manual 3.1.2.4), at the $ */
static void unquote_ansi(struct unquoter *u)
{
	size_t kept = SIZE_MAX; /* length of the text where a NUL ended it */

	u->at += 2;
	for (int c; (c = unquoter_peek(u, 0)) >= 0 && c != '\'';) {
		if (c != '\\') {
			unquoter_put(u, 1);
			continue;
		}
		u->at++;
		if (unquote_ansi_escape(u) && kept == SIZE_MAX)
			kept = u->out->text.len;
	}
	u->at++;
	if (kept < u->out->text.len) {
		u->out->text.len = kept;
		if (u->out->known > kept)
			u->out->known = kept;
	}
	u->out->ansi = true;
}

/* Characters that patterns and tildes are made of, unquoted. */
static void unquote_special(struct unquoter *u, int c)
{
	int before = u->at > 0 ? (unsigned char)u->raw.data[u->at - 1] : -1;

	if (c == '*' || c == '?' ||
	    (c == '[' && memchr(u->raw.data + u->at, ']', u->raw.len - u->at))) {
		unquoter_unknown(u, SHELL_DYNAMIC_GLOB);
		u->out->splits |= !u->assignment;
	} else if (c == '~' && (u->at == 0 || (u->named && before == '=') ||
	                        ((u->named || u->assignment) && before == ':'))) {
		unquoter_unknown(u, SHELL_DYNAMIC_TILDE);
	} else if (c == '=') {
		u->named = true;
	}
	unquoter_put(u, 1);
}

static void unquoter_run(struct unquoter *u)
{
	for (int c; (c = unquoter_peek(u, 0)) >= 0;) {
		int next = unquoter_peek(u, 1);
		bool quote = c == '\\' || c == '\'' || c == '"' ||
		             (c == '$' && (next == '\'' || next == '"'));

		u->out->quoted |= quote;
		if (c == '\\') {
			u->at++;
			if (next == '\n')
				u->at++;
			else
				unquoter_put(u, 1);
		} else if (c == '\'') {
			unquote_single(u);
		} else if (c == '$' && next == '\'') {
			unquote_ansi(u);
		} else if (c == '"' || (c == '$' && next == '"')) {
			if (c == '$') {
				unquoter_unknown(u, SHELL_DYNAMIC_LOCALE);
				u->out->ansi = true;
				u->at++;
			}
			unquote_double(u);
		} else if (!unquoter_take_piece(u, /* quoted= */ false)) {
			unquote_special(u, c);
		}
	}
	if (!u->out->dynamic)
		u->out->known = u->out->text.len;
}

static size_t first_piece(const struct shell_reading *reading, size_t start)
{
	size_t low = 0, high = reading->piece_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reading->pieces[middle].at.start < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool word_has_pieces(const struct shell_reading *reading, struct text_place at)
{
	size_t first = first_piece(reading, at.start);

	return first < reading->piece_count && reading->pieces[first].at.start < at.end;
}

void word_read(const struct shell_reading *reading, struct text_place at, bool assignment,
               struct word_reading *ret)
{
	size_t first = first_piece(reading, at.start);
	struct unquoter u = { .raw = reading_span(reading, at), .base = at.start,
		              .pieces = reading->pieces ? reading->pieces + first : NULL,
		              .piece_count = reading->piece_count - first,
		              .assignment = assignment, .out = ret };

	*ret = (struct word_reading){ .text = BUF_INIT(LIMIT_SHELL_ALL_BYTES) };
	unquoter_run(&u);
}

void word_read_plain(struct span raw, struct word_reading *ret)
{
	struct unquoter u = { .raw = raw, .out = ret };

	*ret = (struct word_reading){ .text = BUF_INIT(LIMIT_SHELL_ALL_BYTES) };
	unquoter_run(&u);
}

void word_release(struct word_reading *word)
{
	buf_release(&word->text);
}

/* ---- brace expansion: {a,b} and {1..9} -------------------------------------------- */

enum { MAX_DEPTH = 12, MAX_BYTES = 64 << 10 };

/* Raw words, each with a NUL after it. */
struct brace_list {
	struct buf text;
	size_t count;
};

static bool braces_expand_word(struct span raw, unsigned depth, struct brace_list *ret);

/* After the character at `i`, or after what it quotes. */
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

/* The } of the { at `open`, or raw.len; whether a comma of this level is between them. */
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

static void list_add_joined(struct brace_list *list, struct span a, struct span b)
{
	buf_span(&list->text, a);
	buf_span(&list->text, b);
	buf_char(&list->text, '\0');
	list->count++;
}

static void list_release(struct brace_list *list)
{
	buf_release(&list->text);
}
#define _cleanup_list_ __attribute__((cleanup(list_release)))
#define LIST_INIT { .text = BUF_INIT(MAX_BYTES) }

/* Takes the next word off *rest. */
static struct span list_next_word(struct span *rest)
{
	struct span word = span_of(rest->data, strlen(rest->data));

	*rest = span_skip(*rest, word.len + 1);
	return word;
}

/* a..b or a..b..step */
struct brace_sequence {
	long from, to, step;
	int width;    /* digits with leading zeros, or 0 */
	bool letters;
};

/* A number at the front of *text, taken off. */
static bool sequence_take_number(struct span *text, long *ret, int *width)
{
	size_t i = text->len > 0 && (text->data[0] == '-' || text->data[0] == '+');
	size_t first = i;
	long value = 0;

	while (i < text->len && ascii_is_digit(text->data[i]) && i - first < 9)
		value = value * 10 + (text->data[i++] - '0');
	if (i == first)
		return false;
	if (i - first > 1 && text->data[first] == '0' && (int)i > *width)
		*width = (int)i;
	*ret = first && text->data[0] == '-' ? -value : value;
	*text = span_skip(*text, i);
	return true;
}

static bool take_dots(struct span *text)
{
	if (!span_starts(*text, SPAN("..")))
		return false;
	*text = span_skip(*text, 2);
	return true;
}

static bool braces_parse_sequence(struct span text, struct brace_sequence *ret)
{
	int ignored = 0;

	*ret = (struct brace_sequence){ .step = 1 };
	if (text.len >= 4 && ascii_is_letter(text.data[0]) && ascii_is_letter(text.data[3]) &&
	    text.data[1] == '.' && text.data[2] == '.') {
		ret->letters = true;
		ret->from = text.data[0];
		ret->to = text.data[3];
		text = span_skip(text, 4);
	} else if (!sequence_take_number(&text, &ret->from, &ret->width) || !take_dots(&text) ||
	           !sequence_take_number(&text, &ret->to, &ret->width)) {
		return false;
	}
	if (text.len > 0 &&
	    (!take_dots(&text) || !sequence_take_number(&text, &ret->step, &ignored) ||
	     text.len > 0))
		return false;
	ret->step = labs(ret->step);
	ret->step = ret->step ? ret->step : 1;
	return true;
}

/* False when it is too long or not clear. */
static bool make_sequence(const struct brace_sequence *s, struct brace_list *list)
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
static bool make_alternatives(struct span inside, unsigned depth, struct brace_list *list)
{
	unsigned open = 0;
	size_t start = 0;

	for (size_t i = 0; i <= inside.len; i = i < inside.len ? skip(inside, i) : i + 1) {
		char c = i < inside.len ? inside.data[i] : ',';

		open += c == '{';
		open -= c == '}' && open > 0;
		if (c != ',' || (open > 0 && i < inside.len))
			continue;
		if (!braces_expand_word(span_head(span_skip(inside, start), i - start), depth + 1,
		                        list))
			return false;
		start = i + 1;
	}
	return list->count <= LIMIT_SHELL_BRACES && !list->text.overflowed;
}

/* Each of `heads` after `prefix`, with each expansion of `rest` after it. */
static bool multiply(struct span prefix, const struct brace_list *heads, struct span rest,
                     unsigned depth, struct brace_list *ret)
{
	_cleanup_list_ struct brace_list tails = LIST_INIT;
	struct span head_text = buf_view(&heads->text);

	if (!braces_expand_word(rest, depth + 1, &tails) ||
	    heads->count * tails.count > LIMIT_SHELL_BRACES)
		return false;
	for (size_t i = 0; i < heads->count; i++) {
		struct span head = list_next_word(&head_text);
		struct span tail_text = buf_view(&tails.text);

		for (size_t k = 0; k < tails.count; k++) {
			buf_span(&ret->text, prefix);
			list_add_joined(ret, head, list_next_word(&tail_text));
		}
	}
	return !ret->text.overflowed;
}

/* Adds the words that `raw` becomes; false when that is too much or unclear. */
static bool braces_expand_word(struct span raw, unsigned depth, struct brace_list *ret)
{
	if (depth > MAX_DEPTH)
		return false;
	for (size_t i = 0; i < raw.len; i = skip(raw, i)) {
		_cleanup_list_ struct brace_list heads = LIST_INIT;
		struct brace_sequence sequence;
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
		          : braces_parse_sequence(inside, &sequence) &&
		    !make_sequence(&sequence, &heads))
			return false;
		/* What does not expand may still do so with a later }: {a}b,c} */
		if (heads.count == 0 && memchr(raw.data + close + 1, '}', raw.len - close - 1))
			return false;
		if (heads.count > 0)
			return multiply(span_head(raw, i), &heads, span_skip(raw, close + 1), depth,
			                ret);
	}
	list_add_joined(ret, raw, span_of("", 0));
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

enum braces_outcome word_expand_braces(struct span raw, struct buf *ret_words, size_t *ret_count)
{
	_cleanup_list_ struct brace_list list = LIST_INIT;
	bool empty_pair;

	if (!has_braces(raw, &empty_pair))
		return BRACES_NONE;
	if (empty_pair || !braces_expand_word(raw, 0, &list))
		return BRACES_UNCLEAR;
	if (list.count == 1 && span_eq(span_str(list.text.data), raw))
		return BRACES_NONE;
	*ret_count = list.count;
	buf_span(ret_words, buf_view(&list.text));
	return ret_words->overflowed ? BRACES_UNCLEAR : BRACES_WORDS;
}
