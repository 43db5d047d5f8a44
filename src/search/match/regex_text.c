/* SPDX-License-Identifier: Apache-2.0 */
/* The text of regular expressions: tokens, and what a pattern asks for.
 *
 *     token  = "." | "^" | "$" | "|" | ")" | open | repeat | set | escape | character
 *     repeat = ("*" | "+" | "?" | "{" n ["," [m]] "}") ["?" | "+"]
 *     set    = "[" ["^"] item {item} "]"               the first item may be "]"
 *     item   = "[:" ["^"] name ":]" | escape | char ["-" char] */
#include "search/match/regex.h"

#include "base/limits.h"
#include "base/text.h"
#include "search/match/engine.h"

/* ---- tokens of regular expressions ---- */

/* What follows a backslash, where it is one character long; in a set, too. */
static const struct {
	char letter;
	unsigned char code_point;
} controls[] = { { 'a', 7 }, { 'e', 27 }, { 'f', 12 }, { 'n', 10 }, { 'r', 13 }, { 't', 9 } };

/* The byte at `at`, or NUL past the end (patterns have none). */
static char regex_peek(const struct regex_reader *reader, size_t at)
{
	return at < reader->text.len ? reader->text.data[at] : '\0';
}

/* The index after the next `close`, or the end of the pattern. */
static size_t after_next(const struct regex_reader *reader, size_t at, char close)
{
	while (at < reader->text.len && reader->text.data[at] != close)
		at++;
	return at < reader->text.len ? at + 1 : at;
}

static bool set_char(struct regex_token *token, uint32_t code_point)
{
	token->kind = TOKEN_CHAR;
	token->code_point = code_point;
	return code_point <= 0x10ffff && !(code_point >= 0xd800 && code_point < 0xe000);
}

/* Digits of base 8 or 16 at *at, at most `count`; the value stops growing beyond Unicode. */
static uint32_t read_digits(struct regex_reader *reader, int base, size_t count)
{
	uint32_t value = 0;

	for (; count > 0; count--, reader->at++) {
		int digit = ascii_hex(regex_peek(reader, reader->at));

		if (digit < 0 || digit >= base)
			break;
		if (value <= 0x10ffff)
			value = value * (uint32_t)base + (uint32_t)digit;
	}
	return value;
}

/* "{" digits "}" */
static bool read_braced(struct regex_reader *reader, int base, struct regex_token *ret)
{
	size_t start = ++reader->at;
	uint32_t value = read_digits(reader, base, SIZE_MAX);

	if (reader->at == start || regex_peek(reader, reader->at) != '}')
		return false;
	reader->at++;
	return set_char(ret, value);
}

/* Escapes that name one character by its number; reader->at is after the letter. */
static bool read_numbered_char(struct regex_reader *reader, char letter, struct regex_token *ret)
{
	bool braced = regex_peek(reader, reader->at) == '{';

	if (letter == 'x')
		return braced ? read_braced(reader, 16, ret)
		              : set_char(ret, read_digits(reader, 16, 2));
	if (letter == 'o')
		return braced && read_braced(reader, 8, ret);
	return set_char(ret, read_digits(reader, 8, 2));
}

static void regex_set_add(struct regex_set *set, uint32_t first, uint32_t last)
{
	for (uint32_t c = first; c <= last && c < 128; c++)
		set->ascii[c >> 6] |= (uint64_t)1 << (c & 63);
	if (last >= 128)
		set->beyond_ascii = true;
	set->has_literal = true;
}

/* \p{...}, \pL */
static void skip_property(struct regex_reader *reader)
{
	if (regex_peek(reader, reader->at) == '{')
		reader->at = after_next(reader, reader->at, '}');
	else if (reader->at < reader->text.len)
		reader->at++;
}

/* Escapes that stand for a set; reader->at is after the letter. */
static bool read_set_escape(struct regex_reader *reader, char letter, struct regex_set *set)
{
	static const char with_lf[] = "DWsHvpP", without_lf[] = "dwShV";

	if (letter == '\0' || (!strchr(with_lf, letter) && !strchr(without_lf, letter)))
		return false;
	if (letter == 'p' || letter == 'P')
		skip_property(reader);
	set->properties = true;
	set->may_have_lf = set->may_have_lf || strchr(with_lf, letter);
	return true;
}

static bool read_control(char letter, struct regex_token *ret)
{
	for (size_t i = 0; i < sizeof(controls) / sizeof(controls[0]); i++) {
		if (controls[i].letter == letter)
			return set_char(ret, controls[i].code_point);
	}
	return false;
}

/* The escapes that mean one character, in a set and outside; *ret is a TOKEN_CHAR then. */
static bool read_char_escape(struct regex_reader *reader, char letter, struct regex_token *ret)
{
	if (letter == 'x' || letter == 'o' || letter == '0')
		return read_numbered_char(reader, letter, ret);
	if (ascii_is_letter(letter))
		return read_control(letter, ret);
	return !ascii_is_digit(letter) && set_char(ret, (unsigned char)letter);
}

static void read_plain_char(struct regex_reader *reader, struct regex_token *ret)
{
	struct span rest = span_skip(reader->text, reader->at);
	struct utf8_char c = { .bad = true };

	if (utf8_next(&rest, &c))
		reader->at += c.bytes.len;
	ret->kind = c.bad ? TOKEN_ODD : TOKEN_CHAR;
	ret->code_point = c.bad ? 0 : c.code;
}

/* ---- sets ---- */

/* "[:name:]" at reader->at. False when there is no such thing. */
static bool read_posix(struct regex_reader *reader, struct regex_set *set)
{
	static const char *const without_lf[] = { "alnum", "alpha", "blank", "digit", "graph",
		                                  "lower", "print", "punct", "upper", "word",
		                                  "xdigit" };
	size_t start = reader->at + 2, end = start;
	bool may_have_lf = true;

	if (regex_peek(reader, reader->at + 1) != ':')
		return false;
	while (ascii_is_letter(regex_peek(reader, end)) ||
	       (end == start && regex_peek(reader, end) == '^'))
		end++;
	if (regex_peek(reader, end) != ':' || regex_peek(reader, end + 1) != ']')
		return false;
	for (size_t i = 0; i < sizeof(without_lf) / sizeof(without_lf[0]); i++) {
		if (span_eq(span_of(reader->text.data + start, end - start),
		            span_str(without_lf[i])))
			may_have_lf = false;
	}
	set->properties = true;
	set->may_have_lf = set->may_have_lf || may_have_lf;
	/* [[:<:]] and what else may come is no class: PCRE2 refuses what is not known. */
	reader->at = end + 2;
	return true;
}

/* One end of a range, or a member by property. False for the latter. */
static bool read_set_member(struct regex_reader *reader, struct regex_set *set, uint32_t *ret)
{
	struct regex_token token = { 0 };
	char letter = regex_peek(reader, reader->at + 1);

	if (regex_peek(reader, reader->at) == '[' && read_posix(reader, set))
		return false;
	if (regex_peek(reader, reader->at) == '[' && strchr(":.=", letter) && letter)
		set->odd = true;
	if (regex_peek(reader, reader->at) != '\\' || (letter & 0x80)) {
		reader->at += regex_peek(reader, reader->at) == '\\';
		read_plain_char(reader, &token);
		set->odd = set->odd || token.kind == TOKEN_ODD;
	} else {
		reader->at += letter ? 2 : 1;
		if (read_set_escape(reader, letter, set))
			return false;
		if (letter == 'b')
			set_char(&token, 8);
		else if (!read_char_escape(reader, letter, &token))
			set->odd = true; /* \Q and \E, too */
	}
	*ret = token.code_point;
	return true;
}

static bool is_upper_code_point(uint32_t c)
{
	return c >= 'A' && c <= 'Z';
}

static void read_set_item(struct regex_reader *reader, struct regex_set *set)
{
	uint32_t first = 0, last = 0;
	bool range;

	if (!read_set_member(reader, set, &first))
		return;
	last = first;
	range = regex_peek(reader, reader->at) == '-' && regex_peek(reader, reader->at + 1) != ']';
	if (range) {
		reader->at++;
		if (!read_set_member(reader, set, &last)) {
			/* A hyphen before a property is one, where it is not an error. */
			regex_set_add(set, '-', '-');
			last = first;
		}
	}
	set->has_upper = set->has_upper || is_upper_code_point(first) || is_upper_code_point(last);
	regex_set_add(set, first, last);
}

static void read_set(struct regex_reader *reader, struct regex_token *ret)
{
	struct regex_set *set = &ret->set;

	ret->kind = TOKEN_SET;
	set->bracket = true;
	reader->at++;
	if (regex_peek(reader, reader->at) == '^') {
		set->negated = true;
		reader->at++;
	}
	for (bool first = true; reader->at < reader->text.len; first = false) {
		if (regex_peek(reader, reader->at) == ']' && !first)
			break;
		read_set_item(reader, set);
	}
	reader->at += reader->at < reader->text.len;
}

/* ---- groups ---- */

static unsigned flag_of(char c)
{
	static const unsigned known[] = { REGEX_FLAG_I, REGEX_FLAG_S, REGEX_FLAG_M };
	static const char letters[] = "ism";
	const char *letter = strchr(letters, c);

	return letter && c ? known[letter - letters] : REGEX_FLAG_OTHER;
}

/* "(?" flags ")" or "(?" flags ":"; reader->at is after "(?". */
static bool read_flags(struct regex_reader *reader, struct regex_token *ret)
{
	size_t at = reader->at;
	bool off = false;

	for (; ascii_is_letter(regex_peek(reader, at)) || regex_peek(reader, at) == '-'; at++) {
		char c = regex_peek(reader, at);

		if (c == '-' && off)
			return false;
		if (c == '-')
			off = true;
		else if (off)
			ret->flags_off |= flag_of(c);
		else
			ret->flags_on |= flag_of(c);
	}
	if (regex_peek(reader, at) != ')' && regex_peek(reader, at) != ':')
		return false;
	ret->group = regex_peek(reader, at) == ')' ? GROUP_SWITCH : GROUP_FLAGS;
	reader->at = at + 1;
	return true;
}

/* Reads "name>" or "name'". */
static bool read_group_name(struct regex_reader *reader, size_t at, char close)
{
	if (!ascii_is_letter(regex_peek(reader, at)) && regex_peek(reader, at) != '_' &&
	    !(regex_peek(reader, at) & 0x80))
		return false;
	reader->at = after_next(reader, at, close);
	return true;
}

static const struct {
	struct span start;
	enum regex_group group;
} groups[] = {
	{ SPAN("(?:"), GROUP_PLAIN }, { SPAN("(?|"), GROUP_PLAIN }, { SPAN("(?>"), GROUP_ATOMIC },
	{ SPAN("(?="), GROUP_LOOK },  { SPAN("(?!"), GROUP_LOOK },  { SPAN("(?<="), GROUP_LOOK },
	{ SPAN("(?<!"), GROUP_LOOK },
};

static bool read_question(struct regex_reader *reader, struct regex_token *ret)
{
	struct span rest = span_skip(reader->text, reader->at);
	size_t at = reader->at + 2;

	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		if (span_starts(rest, groups[i].start)) {
			ret->group = groups[i].group;
			reader->at += groups[i].start.len;
			return true;
		}
	}
	ret->group = GROUP_PLAIN;
	if (regex_peek(reader, at) == '<' && read_group_name(reader, at + 1, '>'))
		return true;
	if (regex_peek(reader, at) == 'P' && regex_peek(reader, at + 1) == '<' &&
	    read_group_name(reader, at + 2, '>'))
		return true;
	if (regex_peek(reader, at) == '\'' && read_group_name(reader, at + 1, '\''))
		return true;
	reader->at = at;
	return read_flags(reader, ret);
}

static void read_open(struct regex_reader *reader, struct regex_token *ret)
{
	char next = regex_peek(reader, reader->at + 1);

	ret->kind = TOKEN_OPEN;
	if (next == '?' && read_question(reader, ret))
		return;
	if (next != '?' && next != '*') {
		ret->group = GROUP_PLAIN;
		reader->at++;
		return;
	}
	/* Comments, verbs, calls, conditions: to the end of the first word or parenthesis. */
	ret->kind = TOKEN_ODD;
	reader->at = after_next(reader, reader->at, ')');
}

/* ---- repeats ---- */

/* "{" n ["," [m]] "}". *ret_odd: it begins like one, but is none. */
static bool read_counts(struct regex_reader *reader, struct regex_token *ret, bool *ret_odd)
{
	size_t at = reader->at + 1;
	unsigned counts[2] = { 0, 0 };
	bool comma = false, open = true;

	*ret_odd = strchr(" \t,0123456789", regex_peek(reader, at)) && regex_peek(reader, at);
	if (!ascii_is_digit(regex_peek(reader, at)))
		return false;
	for (; ascii_is_digit(regex_peek(reader, at)) || (regex_peek(reader, at) == ',' && !comma);
	     at++) {
		unsigned *count = &counts[comma];

		if (regex_peek(reader, at) == ',') {
			comma = true;
			continue;
		}
		*count = *count * 10 + (unsigned)(regex_peek(reader, at) - '0');
		open = !comma;
		if (*count >= REGEX_NO_END)
			return false;
	}
	if (regex_peek(reader, at) != '}')
		return false;
	reader->at = at + 1;
	ret->min = counts[0];
	ret->max = !comma ? counts[0] : open ? REGEX_NO_END : counts[1];
	return true;
}

static void read_repeat(struct regex_reader *reader, struct regex_token *ret)
{
	char c = regex_peek(reader, reader->at), next;
	bool odd = false;

	ret->kind = TOKEN_REPEAT;
	if (c == '{' && !read_counts(reader, ret, &odd)) {
		reader->at++;
		ret->kind = odd ? TOKEN_ODD : TOKEN_CHAR;
		ret->code_point = '{';
		return;
	}
	if (c != '{') {
		reader->at++;
		ret->min = c == '+';
		ret->max = c == '?' ? 1 : REGEX_NO_END;
	}
	next = regex_peek(reader, reader->at);
	ret->possessive = next == '+';
	reader->at += next == '+' || next == '?';
}

/* ---- escapes ---- */

/* \k<name>, \g{name} and kin: with the name. */
static void read_reference(struct regex_reader *reader)
{
	static const char opens[] = "<{'", closes[] = ">}'";
	char c = regex_peek(reader, reader->at);
	const char *open = c ? strchr(opens, c) : NULL;

	if (open)
		reader->at = after_next(reader, reader->at + 1, closes[open - opens]);
}

static void read_odd_escape(struct regex_reader *reader, char letter, struct regex_token *ret)
{
	ret->kind = TOKEN_ODD;
	if (letter == 'c' && reader->at < reader->text.len)
		reader->at++;
	if (letter == 'k' || letter == 'g' || letter == 'N' || letter == 'x' || letter == 'o')
		read_reference(reader);
	while (ascii_is_digit(letter) && ascii_is_digit(regex_peek(reader, reader->at)))
		reader->at++;
}

static void read_escape(struct regex_reader *reader, struct regex_token *ret)
{
	char letter = regex_peek(reader, reader->at + 1), next = regex_peek(reader, reader->at + 2);

	reader->at++;
	if (letter == '\0' || (letter & 0x80)) {
		read_plain_char(reader, ret);
		ret->quoted = true;
		return;
	}
	reader->at++;
	if (letter >= '1' && letter <= '9' && !ascii_is_digit(next)) {
		ret->kind = TOKEN_BACKREF;
	} else if ((letter == 'b' || letter == 'B') && next != '{') {
		ret->kind = TOKEN_BOUNDARY;
	} else if (letter == 'N' && next != '{') {
		ret->kind = TOKEN_ANY;
	} else if (read_set_escape(reader, letter, &ret->set)) {
		ret->kind = TOKEN_SET;
	} else if (read_char_escape(reader, letter, ret)) {
		ret->quoted = true;
	} else {
		read_odd_escape(reader, letter, ret);
	}
}

/* Passes \Q and \E. */
static void skip_quotes(struct regex_reader *reader)
{
	while (regex_peek(reader, reader->at) == '\\') {
		char letter = regex_peek(reader, reader->at + 1);

		if (letter == 'Q' && !reader->quoting)
			reader->quoting = true;
		else if (letter == 'E')
			reader->quoting = false;
		else
			break;
		reader->at += 2;
	}
}

static void read_regex_token(struct regex_reader *reader, struct regex_token *ret)
{
	static const struct {
		char c;
		enum regex_kind kind;
	} singles[] = { { '.', TOKEN_ANY }, { '^', TOKEN_LINE_START }, { '$', TOKEN_LINE_END },
		        { '|', TOKEN_OR },  { ')', TOKEN_CLOSE } };
	char c = regex_peek(reader, reader->at);

	for (size_t i = 0; i < sizeof(singles) / sizeof(singles[0]); i++) {
		if (singles[i].c == c) {
			ret->kind = singles[i].kind;
			reader->at++;
			return;
		}
	}
	if (c == '\\')
		read_escape(reader, ret);
	else if (c == '[')
		read_set(reader, ret);
	else if (c == '(')
		read_open(reader, ret);
	else if (c == '*' || c == '+' || c == '?' || c == '{')
		read_repeat(reader, ret);
	else
		read_plain_char(reader, ret);
}

bool regex_next(struct regex_reader *reader, struct regex_token *ret)
{
	size_t start;

	*ret = (struct regex_token){ 0 };
	skip_quotes(reader);
	start = reader->at;
	if (start >= reader->text.len)
		return false;
	if (reader->quoting) {
		read_plain_char(reader, ret);
		ret->quoted = true;
	} else {
		read_regex_token(reader, ret);
	}
	ret->text = span_of(reader->text.data + start, reader->at - start);
	return true;
}

/* ---- questions about the text of a pattern ---- */

void regex_quote(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.data[i];
		bool word = ascii_is_alnum(c) || c >= 0x80;

		if (c < ' ') {
			buf_printf(out, "\\x%02x", c);
		} else {
			if (!word)
				buf_char(out, '\\');
			buf_char(out, (char)c);
		}
	}
}

/* Whether the text has an upper-case letter: PCRE2 knows Unicode. */
static bool has_upper_case(struct span text)
{
	struct engine_options options = { .pattern = SPAN("[\\p{Lu}\\p{Lt}]"), .no_jit = true };
	struct engine_scratch *scratch;
	struct engine *engine = NULL;
	struct err err = ERR_INIT;
	struct text_match match;
	bool found;

	if (text.len == 0 || !engine_compile(&options, &engine, &err))
		return false;
	scratch = engine_scratch_new();
	found = engine_find(engine, scratch, text, 0, &match) == MATCH_FOUND;
	engine_scratch_free(scratch);
	engine_free(engine);
	return found;
}

bool regex_is_lower(struct span pattern)
{
	_cleanup_buf_ struct buf beyond_ascii = BUF_INIT(LIMIT_PATTERN_BYTES);
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;
	bool literal = false;

	while (regex_next(&reader, &token)) {
		const struct regex_set *set = &token.set;

		literal = literal || token.kind == TOKEN_CHAR || set->has_literal;
		if (token.kind == TOKEN_CHAR ? is_upper_code_point(token.code_point) :
		    set->has_upper)
			return false;
		if ((token.kind == TOKEN_CHAR && token.code_point >= 0x80) || set->beyond_ascii)
			buf_span(&beyond_ascii, token.text);
	}
	return literal && !has_upper_case(buf_view(&beyond_ascii));
}

bool regex_switches_case_off(struct span pattern)
{
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;

	return regex_next(&reader, &token) && token.kind == TOKEN_OPEN &&
	       token.group == GROUP_SWITCH && (token.flags_on & REGEX_FLAG_I) &&
	       !(token.flags_off & REGEX_FLAG_I);
}

static bool is_only(const struct regex_set *set, unsigned char c)
{
	return set->bracket && !set->negated && !set->properties && !set->beyond_ascii &&
	       regex_set_has(set, c) &&
	       __builtin_popcountll(set->ascii[0]) + __builtin_popcountll(set->ascii[1]) == 1;
}

bool regex_asks_for_line_end(struct span pattern)
{
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;
	bool spaced = false; /* white space may mean nothing */

	while (regex_next(&reader, &token)) {
		bool bare = token.text.len == 1 && !token.quoted;

		if (token.kind == TOKEN_OPEN && (token.flags_on & REGEX_FLAG_OTHER))
			spaced = true;
		if (token.kind == TOKEN_CHAR && token.code_point == '\n' && !(bare && spaced))
			return true;
		if (token.kind == TOKEN_SET && is_only(&token.set, '\n'))
			return true;
		if (token.kind == TOKEN_ODD && span_eq(token.text, SPAN("\\R")))
			return true;
	}
	return false;
}

bool regex_names_cr(struct span pattern)
{
	struct regex_reader reader = { .text = pattern };
	struct regex_token token;

	while (regex_next(&reader, &token)) {
		if (token.kind == TOKEN_CHAR && token.code_point == '\r')
			return true;
		if (token.kind == TOKEN_SET && !token.set.negated &&
		    regex_set_has(&token.set, '\r'))
			return true;
	}
	return false;
}

bool regex_has_settings(struct span pattern)
{
	/* pcre2pattern(3), "Special start-of-pattern items". */
	static const struct span names[] = {
		SPAN("UTF"), SPAN("UCP"), SPAN("NOTEMPTY"), SPAN("NO_"), SPAN("LIMIT_"),
		SPAN("CR"), SPAN("LF"), SPAN("ANY"), SPAN("NUL"), SPAN("BSR_"),
	};
	struct span rest = pattern;

	if (!span_starts(rest, SPAN("(*")))
		return false;
	rest = span_skip(rest, 2);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_starts(rest, names[i]))
			return true;
	}
	return false;
}
