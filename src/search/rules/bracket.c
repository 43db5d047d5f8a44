/* SPDX-License-Identifier: Apache-2.0 */
/* Bracket expressions: POSIX XCU 2.13.1, in the C locale, with backslash as an
 * escape inside and '^' like '!' (both as git's wildmatch has them; there are no
 * equivalence classes and collating symbols).
 *
 *     bracket = "[" ["!" | "^"] item {item} "]"       the first item may be "]"
 *     item    = "[:" name ":]" | char ["-" char]
 */
#include "search/rules/bracket.h"

static bool is_upper(int c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(int c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_alpha(int c)
{
	return is_upper(c) || is_lower(c);
}

static bool is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(int c)
{
	return is_alpha(c) || is_digit(c);
}

static bool is_blank(int c)
{
	return c == ' ' || c == '\t';
}

static bool is_cntrl(int c)
{
	return c < 0x20 || c == 0x7f;
}

static bool is_graph(int c)
{
	return c > 0x20 && c < 0x7f;
}

static bool is_print(int c)
{
	return c >= 0x20 && c < 0x7f;
}

static bool is_punct(int c)
{
	return is_graph(c) && !is_alnum(c);
}

static bool is_space(int c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_xdigit(int c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static const struct {
	struct span name;
	bool (*has)(int c);
} classes[] = {
	{ SPAN("alnum"), is_alnum }, { SPAN("alpha"), is_alpha },   { SPAN("blank"), is_blank },
	{ SPAN("cntrl"), is_cntrl }, { SPAN("digit"), is_digit },   { SPAN("graph"), is_graph },
	{ SPAN("lower"), is_lower }, { SPAN("print"), is_print },   { SPAN("punct"), is_punct },
	{ SPAN("space"), is_space }, { SPAN("upper"), is_upper },   { SPAN("xdigit"), is_xdigit },
};

static void set_add(struct byte_set *set, int c)
{
	set->bits[c >> 3] |= (unsigned char)(1u << (c & 7));
}

static bool set_add_class(struct byte_set *set, struct span name)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (!span_eq(classes[i].name, name))
			continue;
		for (int c = 0; c < 256; c++) {
			if (classes[i].has(c))
				set_add(set, c);
		}
		return true;
	}
	return false;
}

/* Both cases of each letter that is there in one. */
static void set_fold(struct byte_set *set)
{
	for (int c = 'a'; c <= 'z'; c++) {
		int upper = c - 'a' + 'A';

		if (byte_set_has(set, (unsigned char)c) || byte_set_has(set, (unsigned char)upper)) {
			set_add(set, c);
			set_add(set, upper);
		}
	}
}

/* Reads "[:name:]" at text[at]; returns the index after it, `at` when there is no
 * such thing (the bracket is an ordinary one then), text.len + 1 when it is wrong. */
static size_t parse_class(struct span text, size_t at, struct byte_set *set)
{
	size_t end = at + 2;

	if (end > text.len || text.data[at + 1] != ':')
		return at;
	while (end < text.len && text.data[end] != ']')
		end++;
	if (end == text.len)
		return text.len + 1;
	if (end == at + 2 || text.data[end - 1] != ':')
		return at;
	if (!set_add_class(set, span_of(text.data + at + 2, end - 1 - (at + 2))))
		return text.len + 1;
	return end + 1;
}

/* Reads one character, which may be escaped, at *at; -1 at the end. */
static int parse_char(struct span text, size_t *at)
{
	if (*at < text.len && text.data[*at] == '\\')
		++*at;
	if (*at >= text.len)
		return -1;
	return (unsigned char)text.data[(*at)++];
}

/* Reads an item at *at. False when the text ends, or names no class. */
static bool parse_item(struct span text, size_t *at, struct byte_set *set)
{
	int first, last;

	if (text.data[*at] == '[' && *at + 1 < text.len) {
		size_t after = parse_class(text, *at, set);

		if (after > text.len)
			return false;
		if (after > *at) {
			*at = after;
			return true;
		}
	}
	first = last = parse_char(text, at);
	if (first < 0)
		return false;
	if (*at + 1 < text.len && text.data[*at] == '-' && text.data[*at + 1] != ']') {
		++*at;
		last = parse_char(text, at);
		if (last < 0)
			return false;
		/* The first end of a range counts even when the range is empty. */
		set_add(set, first);
	}
	for (int c = first; c <= last; c++)
		set_add(set, c);
	return true;
}

size_t bracket_parse(struct span text, size_t at, bool ignore_case, struct byte_set *ret,
                     const char **ret_reason)
{
	struct byte_set set = { { 0 } };
	bool negated = false;

	at++;
	if (at < text.len && (text.data[at] == '!' || text.data[at] == '^')) {
		negated = true;
		at++;
	}
	for (bool first = true; at < text.len && (first || text.data[at] != ']'); first = false) {
		if (!parse_item(text, &at, &set)) {
			at = text.len;
			break;
		}
	}
	if (at >= text.len) {
		*ret_reason = "a '[' without its ']', or an unknown [:class:]";
		return 0;
	}
	if (ignore_case)
		set_fold(&set);
	for (size_t i = 0; negated && i < sizeof(set.bits); i++)
		set.bits[i] = (unsigned char)~set.bits[i];
	set.bits['/' >> 3] &= (unsigned char)~(1u << ('/' & 7));
	*ret = set;
	return at + 1;
}
