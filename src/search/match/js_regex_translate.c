/* SPDX-License-Identifier: Apache-2.0 */
/* From ECMAScript's syntax of patterns (ECMA-262 section 22.2.1 and Annex B.1.2, no flags) to
 * PCRE2's.
 *
 * PCRE2_ALT_BSUX makes \u, \x and \U mean what they mean there; what is left is translated here:
 * escapes that only PCRE2 knows are the letter itself, \s and \v have other members, classes
 * have no [:names:], and groups, verbs and possessive quantifiers that JavaScript has not are
 * errors.
 */
#include <string.h>

#include "search/match/js_regex_translate.h"

/* White space and line ends of ECMAScript beyond what PCRE2's \s has. */
#define SPACES "\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff"

enum { DEPTH_MAX = 100 };

struct translation {
	struct span text;
	size_t at;
	struct buf *out;
	struct err *err;
	/* For each open group: whether something in it repeats without end. */
	bool repeats[DEPTH_MAX + 1];
	unsigned depth;
	bool can_repeat;   /* a quantifier may follow what was read last */
	bool last_repeats; /* which was a group with an unbounded repetition in it */
	bool named;        /* there are named groups, so \k is a reference */
	bool bounded;      /* no unbounded repetition inside another one */
};

static bool wrong(struct translation *t, const char *what)
{
	return err_set(t->err, ERR_INVALID_ARGUMENT,
	               "The regular expression cannot be used: %s at character %zu.", what,
	               t->at + 1);
}

static char peek(const struct translation *t, size_t ahead)
{
	return t->at + ahead < t->text.len ? t->text.data[t->at + ahead] : '\0';
}

static bool starts(const struct translation *t, const char *with)
{
	return span_starts(span_skip(t->text, t->at), span_str(with));
}

static void copy(struct translation *t, size_t len)
{
	buf_append(t->out, t->text.data + t->at, len);
	t->at += len;
}

/* A backslash and what belongs to it. */
static bool escape(struct translation *t, bool in_class)
{
	char c = peek(t, 1);

	if (t->at + 1 >= t->text.len)
		return wrong(t, "a backslash at the end");
	if (c == 's' || c == 'S') {
		if (in_class && c == 'S')
			return wrong(t, "\\S in a class is not supported");
		buf_printf(t->out, in_class ? "\\s" SPACES : c == 's' ? "[\\s" SPACES "]"
		                                                     : "[^\\s" SPACES "]");
		t->at += 2;
	} else if (c == 'v') {
		buf_str(t->out, "\\x0b");
		t->at += 2;
	} else if (strchr("dDwWbBfnrtxu0123456789c", c) || (c == 'k' && t->named)) {
		copy(t, 2);
	} else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
		t->at++;
		copy(t, 1);
	} else if ((unsigned char)c >= 0x80) {
		t->at++;
	} else {
		copy(t, 2);
	}
	return true;
}

static bool class(struct translation *t)
{
	copy(t, 1);
	if (peek(t, 0) == '^')
		copy(t, 1);
	while (t->at < t->text.len && peek(t, 0) != ']') {
		if (peek(t, 0) == '\\') {
			if (!escape(t, /* in_class= */ true))
				return false;
		} else if (peek(t, 0) == '[') {
			buf_str(t->out, "\\[");
			t->at++;
		} else {
			copy(t, 1);
		}
	}
	if (t->at >= t->text.len)
		return wrong(t, "a class without an end");
	copy(t, 1);
	return true;
}

static bool open_group(struct translation *t)
{
	static const char *const kinds[] = { "(?:", "(?=", "(?!", "(?<=", "(?<!" };
	size_t len = 1;

	if (t->depth == DEPTH_MAX)
		return wrong(t, "too many groups inside each other");
	if (peek(t, 1) == '*')
		return wrong(t, "nothing to repeat");
	if (peek(t, 1) == '?') {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
			if (starts(t, kinds[i]))
				len = strlen(kinds[i]);
		if (len == 1 && starts(t, "(?<"))
			len = 3;
		if (len == 1)
			return wrong(t, "a group of an unknown kind");
	}
	copy(t, len);
	t->repeats[++t->depth] = false;
	t->can_repeat = false;
	return true;
}

static bool close_group(struct translation *t)
{
	if (t->depth == 0)
		return wrong(t, "a group that was not opened");
	copy(t, 1);
	t->last_repeats = t->repeats[t->depth--];
	t->repeats[t->depth] |= t->last_repeats;
	t->can_repeat = true;
	return true;
}

/* The length of {n}, {n,} or {n,m} here; 0: none, the brace is itself. *ret_open: may repeat often. */
static size_t braces(const struct translation *t, bool *ret_open)
{
	size_t len = 1, digits = 0;
	bool comma = false, after = false;

	for (; peek(t, len) != '}'; len++) {
		char c = peek(t, len);

		if (c == ',' && !comma && digits)
			comma = true;
		else if (c < '0' || c > '9')
			return 0;
		else if (comma)
			after = true;
		else
			digits++;
	}
	*ret_open = comma && (!after || len > 5);
	return digits ? len + 1 : 0;
}

/* A quantifier is here, `len` bytes long. */
static bool quantifier(struct translation *t, size_t len, bool open)
{
	if (!t->can_repeat)
		return wrong(t, "nothing to repeat");
	if (t->bounded && open && t->last_repeats)
		return wrong(t, "a repetition inside a repetition, which can take for ever,");
	copy(t, len);
	if (peek(t, 0) == '?')
		copy(t, 1);
	else if (peek(t, 0) == '+')
		return wrong(t, "nothing to repeat");
	t->repeats[t->depth] |= open;
	t->can_repeat = t->last_repeats = false;
	return true;
}

static bool one(struct translation *t)
{
	char c = peek(t, 0);
	bool open = c == '*' || c == '+', is_atom = true;
	size_t len = open || c == '?' ? 1 : 0;

	if (c == '{')
		len = braces(t, &open);
	if (len)
		return quantifier(t, len, open);
	if (c == '(')
		return open_group(t);
	if (c == ')')
		return close_group(t);
	t->last_repeats = false;
	if (c == '\\') {
		if (!escape(t, /* in_class= */ false))
			return false;
	} else if (c == '[') {
		if (!class(t))
			return false;
	} else if (c == '{' || c == '}' || c == ']') {
		buf_printf(t->out, "\\%c", c);
		t->at++;
	} else {
		is_atom = !strchr("^$|", c) || c == '\0';
		copy(t, 1);
	}
	t->can_repeat = is_atom;
	return true;
}

static bool has_named_groups(struct span pattern)
{
	for (size_t i = 0; i + 3 < pattern.len; i++)
		if (memcmp(pattern.data + i, "(?<", 3) == 0 && pattern.data[i + 3] != '=' &&
		    pattern.data[i + 3] != '!')
			return true;
	return false;
}

bool js_regex_translate(struct span pattern, bool bounded, struct buf *out, struct err *err)
{
	struct translation t = {
		.text = pattern, .out = out, .err = err, .named = has_named_groups(pattern),
		.bounded = bounded,
	};

	while (t.at < pattern.len)
		if (!one(&t))
			return false;
	return t.depth == 0 || wrong(&t, "a group without an end");
}
