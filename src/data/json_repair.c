/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the text that writes strict JSON: a machine with a stack of brackets. */
#include "data/json_repair.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

static const struct {
	unsigned kind;
	const char *words;
} rows[] = {
	{ JSON_REPAIR_FENCE, "code fence removed" },
	{ JSON_REPAIR_NESTED, "JSON inside a string unpacked" },
	{ JSON_REPAIR_COMMA, "trailing comma removed" },
	{ JSON_REPAIR_CONTROL, "raw control characters in a string escaped" },
	{ JSON_REPAIR_ESCAPE, "invalid escapes taken as a backslash and the character" },
	{ JSON_REPAIR_SINGLE, "single quotes replaced by double quotes" },
	{ JSON_REPAIR_LITERAL, "literals of other languages replaced by true, false or null" },
	{ JSON_REPAIR_NAME, "names quoted" },
	{ JSON_REPAIR_COMMENT, "comments removed" },
	{ JSON_REPAIR_UNCLOSED, "missing closing brackets added at the end" },
	{ JSON_REPAIR_UNOPENED, "extra closing brackets removed at the end" },
	{ JSON_REPAIR_TWICE, "a repeated member dropped" },
	{ JSON_REPAIR_ENCODING, "invalid characters replaced by U+FFFD" },
};

void json_repair_words(unsigned made, struct buf *out)
{
	bool first = true;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!(made & rows[i].kind))
			continue;
		buf_printf(out, "%s%s", first ? "" : ", ", rows[i].words);
		first = false;
	}
}

/* ---- the machine ------------------------------------------------------------- */

/* What may come next. */
enum stage {
	STAGE_VALUE,  /* a value; in an array also its end */
	STAGE_NAME,   /* a member's name, or the object's end */
	STAGE_COLON,
	STAGE_AFTER,  /* a comma or the end of what is open */
	STAGE_OVER,   /* the value has come */
};

/* An open bracket.  All places are offsets into `out`. */
struct level {
	char close;
	bool comma;      /* one came, and nothing after it yet */
	size_t started;  /* the member, with its comma; */
	size_t value;    /* its value */
	json_t *names;   /* {name as it is written: [value's place, length]}; owned; or NULL */
	char *name;      /* of the member; owned, or NULL */
};

struct mender {
	struct span text;
	size_t at;
	struct json_repair *repair;
	struct buf *out;
	enum stage stage;
	struct level levels[JSON_REPAIR_DEPTH];
	size_t depth;
	bool number;     /* the last token was one */
	struct err *err;
};

static struct span mender_rest(const struct mender *mender)
{
	return span_skip(mender->text, mender->at);
}

/* 0: the end. */
static char mender_peek(const struct mender *mender)
{
	return mender->at < mender->text.len ? mender->text.data[mender->at] : '\0';
}

static bool mender_fails_at(struct mender *mender, size_t at, const char *expected)
{
	struct span rest = span_skip(mender->text, at), before = span_head(mender->text, at);
	struct span found = utf8_head(rest, 20);
	struct utf8_char c;
	size_t line = 1, column = 1;

	while (utf8_next(&before, &c)) {
		column = c.code == '\n' ? 1 : column + 1;
		line += c.code == '\n';
	}
	for (size_t i = 0; i < found.len; i++)
		if ((unsigned char)found.data[i] < 0x20)
			found.len = i;
	if (at >= mender->text.len)
		return err_set(mender->err, ERR_INVALID_ARGUMENT,
		               "Line %zu, column %zu: expected %s, but the text ends there.", line,
		               column, expected);
	return err_set(mender->err, ERR_INVALID_ARGUMENT,
	               "Line %zu, column %zu: expected %s, found %s%.*s%s.", line, column, expected,
	               found.len ? "`" : "a control character", (int)found.len, found.data,
	               found.len ? "`" : "");
}

static bool mender_fails(struct mender *mender, const char *expected)
{
	return mender_fails_at(mender, mender->at, expected);
}

static struct level *mender_level(struct mender *mender)
{
	return mender->depth ? &mender->levels[mender->depth - 1] : NULL;
}

/* ---- between tokens ---- */

static bool is_json_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Past white space and comments. */
static bool skip_between(struct mender *mender)
{
	for (;;) {
		struct span rest = mender_rest(mender);
		const char *end;

		if (rest.len && is_json_space(rest.data[0])) {
			mender->at++;
			continue;
		}
		if (!span_starts(rest, SPAN("//")) && !span_starts(rest, SPAN("/*")))
			return true;
		mender->repair->made |= JSON_REPAIR_COMMENT;
		if (rest.data[1] == '/') {
			end = memchr(rest.data, '\n', rest.len);
			mender->at = end ? (size_t)(end - mender->text.data) : mender->text.len;
			continue;
		}
		end = memmem(rest.data + 2, rest.len - 2, "*/", 2);
		if (!end)
			return mender_fails(mender, "the end of this comment (*/)");
		mender->at = (size_t)(end - mender->text.data) + 2;
	}
}

/* ---- strings ---- */

/* The four hexadecimal digits of "\uXXXX" at `at`; -1: they are not there. */
static int unit_at(struct span text, size_t at)
{
	int value = 0;

	if (at + 6 > text.len || text.data[at] != '\\' || text.data[at + 1] != 'u')
		return -1;
	for (size_t i = at + 2; i < at + 6; i++) {
		char c = text.data[i];

		if (!ascii_is_digit(c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'f'))
			return -1;
		value = value * 16 + (ascii_is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return value;
}

/* What a string has so far that could mean something else. */
enum doubt {
	DOUBT_BAD = 1 << 0,    /* "\d": backslashes are not doubled */
	DOUBT_ESCAPE = 1 << 1, /* one that is valid, but would be two characters then */
	DOUBT_QUOTE = 1 << 2,  /* "\'": the quotation mark, or a backslash before it */
	DOUBT_CODE = 1 << 3,   /* "\xe9": the character, or these four */
	/* The same character as it is and escaped: text that is not escaped, or both? */
	DOUBT_LF = 1 << 4, DOUBT_LF_ESCAPE = 1 << 5,
	DOUBT_TAB = 1 << 6, DOUBT_TAB_ESCAPE = 1 << 7,
};

static const struct {
	unsigned doubts; /* all of these are one error */
	const char *expected;
} doubtful[] = {
	{ DOUBT_BAD | DOUBT_ESCAPE,
	  "a string in which every backslash that is meant is written \\\\ (it has invalid escapes "
	  "and valid ones)" },
	{ DOUBT_QUOTE,
	  "a string without \\' (write ' for the quotation mark, or \\\\' if the backslash "
	  "is meant)" },
	{ DOUBT_CODE,
	  "a string without \\x, \\U or \\u{ (write the character, or \\\\ if the backslash is "
	  "meant)" },
	{ DOUBT_LF | DOUBT_LF_ESCAPE,
	  "a string whose line ends are all written \\n, and \\\\n where a backslash is meant" },
	{ DOUBT_TAB | DOUBT_TAB_ESCAPE,
	  "a string whose tabs are all written \\t, and \\\\t where a backslash is meant" },
};

/* Other languages' escapes by number: "\xe9", "\U0001f600", "\u{1f600}". */
static bool is_code(struct span escape)
{
	const char kind = escape.len > 2 ? escape.data[1] : '\0';
	const size_t digits = kind == 'x' ? 2 : kind == 'U' ? 8 : 0;

	if (kind == 'u' && escape.data[2] == '{')
		return true;
	if (!digits || escape.len < 2 + digits)
		return false;
	for (size_t i = 2; i < 2 + digits; i++)
		if (ascii_hex(escape.data[i]) < 0)
			return false;
	return true;
}

static unsigned valid_escape_doubts(char c)
{
	return c == '"' ? 0 : DOUBT_ESCAPE | (c == 'n' ? DOUBT_LF_ESCAPE : 0) |
	                      (c == 't' ? DOUBT_TAB_ESCAPE : 0);
}

/* An escape of a string in `quote`. */
static void mend_escape(struct mender *mender, char quote, unsigned *doubts)
{
	struct span text = mender->text;
	char c = mender->at + 1 < text.len ? text.data[mender->at + 1] : '\0';
	int unit = unit_at(text, mender->at);

	if (unit >= 0) {
		bool high = unit >= 0xD800 && unit < 0xDC00, low = unit >= 0xDC00 && unit < 0xE000;
		int next = high ? unit_at(text, mender->at + 6) : -1;
		size_t len = next >= 0xDC00 && next < 0xE000 ? 12 : 6;

		*doubts |= DOUBT_ESCAPE;
		if (low || (high && len == 6)) {
			mender->repair->made |= JSON_REPAIR_ENCODING;
			buf_str(mender->out, "\xef\xbf\xbd");
		} else {
			buf_span(mender->out, span_of(text.data + mender->at, len));
		}
		mender->at += len;
	} else if (c && strchr("\"\\/bfnrt", c)) {
		*doubts |= valid_escape_doubts(c);
		buf_span(mender->out, span_of(text.data + mender->at, 2));
		mender->at += 2;
	} else if (c == '\'') {
		*doubts |= quote == '\'' ? 0 : DOUBT_QUOTE;
		buf_char(mender->out, '\'');
		mender->at += 2;
	} else {
		*doubts |= DOUBT_BAD | (is_code(mender_rest(mender)) ? DOUBT_CODE : 0);
		mender->repair->made |= JSON_REPAIR_ESCAPE;
		buf_str(mender->out, "\\\\");
		mender->at++;
	}
}

static void mend_character(struct mender *mender, unsigned *doubts)
{
	struct utf8_char c = utf8_first(mender_rest(mender));

	mender->at += c.bytes.len;
	if (c.bad) {
		mender->repair->made |= JSON_REPAIR_ENCODING;
		buf_str(mender->out, "\xef\xbf\xbd");
	} else if (c.code < 0x20) {
		mender->repair->made |= JSON_REPAIR_CONTROL;
		*doubts |= c.code == '\n' ? DOUBT_LF : c.code == '\t' ? DOUBT_TAB : 0;
		if (c.code == '\n' || c.code == '\t' || c.code == '\r')
			buf_str(mender->out, c.code == '\n' ? "\\n" :
			                     c.code == '\t' ? "\\t" : "\\r");
		else
			buf_printf(mender->out, "\\u%04x", (unsigned)c.code);
	} else if (c.code == '"') {
		buf_str(mender->out, "\\\""); /* in a string between single quotes */
	} else {
		buf_span(mender->out, c.bytes);
	}
}

static bool mend_string(struct mender *mender)
{
	const size_t started = mender->at;
	const char quote = mender->text.data[mender->at++];
	unsigned doubts = 0;

	if (quote == '\'')
		mender->repair->made |= JSON_REPAIR_SINGLE;
	buf_char(mender->out, '"');
	for (;;) {
		if (mender->at >= mender->text.len)
			return mender_fails_at(mender, started, "a string that is closed");
		if (mender_peek(mender) == quote)
			break;
		if (mender_peek(mender) == '\\')
			mend_escape(mender, quote, &doubts);
		else
			mend_character(mender, &doubts);
	}
	mender->at++;
	buf_char(mender->out, '"');
	for (size_t i = 0; i < ARRAY_LEN(doubtful); i++)
		if ((doubts & doubtful[i].doubts) == doubtful[i].doubts)
			return mender_fails_at(mender, started, doubtful[i].expected);
	return true;
}

/* ---- numbers and words ---- */

/* RFC 8259's grammar. */
static bool mend_number(struct mender *mender)
{
	struct span rest = mender_rest(mender);
	size_t len = rest.data[0] == '-', digits = len;

	while (len < rest.len && ascii_is_digit(rest.data[len]))
		len++;
	if (len == digits || (rest.data[digits] == '0' && len > digits + 1))
		return mender_fails(mender, "a number of JSON");
	if (len < rest.len && rest.data[len] == '.') {
		digits = ++len;
		while (len < rest.len && ascii_is_digit(rest.data[len]))
			len++;
		if (len == digits)
			return mender_fails(mender, "a number of JSON");
	}
	if (len < rest.len && (rest.data[len] | 0x20) == 'e') {
		len++;
		len += len < rest.len && (rest.data[len] == '+' || rest.data[len] == '-');
		digits = len;
		while (len < rest.len && ascii_is_digit(rest.data[len]))
			len++;
		if (len == digits)
			return mender_fails(mender, "a number of JSON");
	}
	buf_span(mender->out, span_head(rest, len));
	mender->at += len;
	mender->number = true;
	return true;
}

static bool is_bare(char c)
{
	return ascii_is_alnum(c) || c == '_' || c == '$' || c == '-';
}

static struct span word_at(const struct mender *mender)
{
	struct span rest = mender_rest(mender);
	size_t len = 0;

	while (len < rest.len && is_bare(rest.data[len]))
		len++;
	return span_head(rest, len);
}

static bool mend_literal(struct mender *mender)
{
	static const struct {
		const char *word, *json;
	} literals[] = {
		{ "true", "true" }, { "false", "false" }, { "null", "null" }, { "True", "true" },
		{ "False", "false" }, { "None", "null" }, { "undefined", "null" },
		{ "NaN", "null" },
	};
	struct span word = word_at(mender);

	for (size_t i = 0; i < ARRAY_LEN(literals); i++) {
		if (!span_eq(word, span_str(literals[i].word)))
			continue;
		if (strcmp(literals[i].word, literals[i].json) != 0)
			mender->repair->made |= JSON_REPAIR_LITERAL;
		buf_str(mender->out, literals[i].json);
		mender->at += word.len;
		return true;
	}
	return mender_fails(mender, "a value (text goes in quotation marks)");
}

/* ---- members ---- */

/* The member's value is whole: one that the object has already, with this value, is dropped. */
static bool member_done(struct mender *mender, struct level *level)
{
	const size_t len = mender->out->len - level->value;
	const json_t *before = json_object_get(level->names, level->name);
	const size_t place = (size_t)json_integer_value(json_array_get(before, 0));

	if (!before) {
		if (!level->names)
			level->names = json_object();
		json_object_set_new(level->names, level->name,
		                    json_pack("[I, I]", (json_int_t)level->value, (json_int_t)len));
		return true;
	}
	if (mender->out->overflowed ||
	    (size_t)json_integer_value(json_array_get(before, 1)) != len ||
	    memcmp(mender->out->data + place, mender->out->data + level->value, len) != 0) {
		_cleanup_free_ char *expected = mem_printf(
			"each member once (%.60s is there twice with different values)",
			level->name);

		return mender_fails(mender, expected);
	}
	mender->repair->made |= JSON_REPAIR_TWICE;
	mender->out->len = level->started;
	return true;
}

static bool value_done(struct mender *mender)
{
	struct level *level = mender_level(mender);

	mender->stage = level ? STAGE_AFTER : STAGE_OVER;
	if (!level)
		return true;
	return level->close != '}' || member_done(mender, level);
}

/* What begins here is preceded by the comma that came, if one did. */
static void begin_element(struct mender *mender, struct level *level)
{
	level->started = mender->out->len;
	if (level->comma)
		buf_char(mender->out, ',');
	level->comma = false;
}

static bool mend_name(struct mender *mender)
{
	struct level *level = mender_level(mender);
	struct span word = word_at(mender);
	size_t start;

	begin_element(mender, level);
	start = mender->out->len;
	if (mender_peek(mender) == '"' || mender_peek(mender) == '\'') {
		if (!mend_string(mender))
			return false;
	} else if (word.len && !ascii_is_digit(word.data[0]) && word.data[0] != '-') {
		mender->repair->made |= JSON_REPAIR_NAME;
		buf_char(mender->out, '"');
		buf_span(mender->out, word);
		buf_char(mender->out, '"');
		mender->at += word.len;
	} else {
		return mender_fails(mender, "a name in quotation marks, or }");
	}
	free(level->name);
	level->name = mem_dup(mender->out->data ? mender->out->data + start : "",
	                      mender->out->len - start);
	mender->stage = STAGE_COLON;
	return true;
}

/* ---- brackets ---- */

static bool open_level(struct mender *mender, char close)
{
	if (mender->depth == JSON_REPAIR_DEPTH)
		return mender_fails(mender, "less than 100 brackets open");
	buf_char(mender->out, close == '}' ? '{' : '[');
	mender->levels[mender->depth++] = (struct level){ .close = close };
	mender->stage = close == '}' ? STAGE_NAME : STAGE_VALUE;
	return true;
}

static void level_release(struct level *level)
{
	json_decref(level->names);
	free(level->name);
}

/* Closes the innermost bracket, dropping a comma before it. */
static bool close_level(struct mender *mender)
{
	struct level *level = mender_level(mender);

	if (level->comma)
		mender->repair->made |= JSON_REPAIR_COMMA;
	buf_char(mender->out, level->close);
	level_release(level);
	mender->depth--;
	mender->number = false;
	return value_done(mender);
}

static bool mend_value(struct mender *mender)
{
	struct level *level = mender_level(mender);
	char c = mender_peek(mender);
	bool ok;

	if (level && level->close == ']') {
		if (c == ']') {
			mender->at++;
			return close_level(mender);
		}
		begin_element(mender, level);
	}
	mender->number = false;
	if (level && level->close == '}')
		level->value = mender->out->len;
	if (c == '{' || c == '[') {
		mender->at++;
		return open_level(mender, c == '{' ? '}' : ']');
	}
	if (c == '"' || c == '\'')
		ok = mend_string(mender);
	else if (ascii_is_digit(c) || c == '-')
		ok = mend_number(mender);
	else
		ok = mend_literal(mender);
	return ok && value_done(mender);
}

static bool mend_after(struct mender *mender)
{
	struct level *level = mender_level(mender);
	char c = mender_peek(mender);

	if (c == ',') {
		level->comma = true;
		mender->at++;
		mender->stage = level->close == '}' ? STAGE_NAME : STAGE_VALUE;
		return true;
	}
	if (c == level->close) {
		mender->at++;
		return close_level(mender);
	}
	return mender_fails(mender, level->close == '}' ? "a comma or }" : "a comma or ]");
}

static bool mend_token(struct mender *mender)
{
	switch (mender->stage) {
	case STAGE_VALUE:
		return mend_value(mender);
	case STAGE_NAME:
		if (mender_peek(mender) != '}')
			return mend_name(mender);
		mender->at++;
		return close_level(mender);
	case STAGE_COLON:
		if (mender_peek(mender) != ':')
			return mender_fails(mender, "a colon");
		mender->at++;
		buf_char(mender->out, ':');
		mender->stage = STAGE_VALUE;
		return true;
	case STAGE_AFTER:
		return mend_after(mender);
	case STAGE_OVER:
		break;
	}
	if (mender_peek(mender) != '}' && mender_peek(mender) != ']')
		return mender_fails(mender, "the end of the text");
	mender->repair->made |= JSON_REPAIR_UNOPENED;
	mender->at++;
	return true;
}

/* The text ends: brackets that are open may be closed where a value has just ended. */
static bool mend_end(struct mender *mender)
{
	struct level *level = mender_level(mender);

	if (mender->stage == STAGE_OVER)
		return true;
	if (!level)
		return mender_fails(mender, "a value");
	if (mender->stage != STAGE_AFTER)
		return mender_fails(mender, mender->stage == STAGE_COLON ? "a colon" :
		                            mender->stage == STAGE_NAME  ? "a name or }" :
		                                                           "a value");
	if (!mender->repair->complete || mender->number)
		return mender_fails(mender, level->close == '}' ? "}" : "]");
	mender->repair->made |= JSON_REPAIR_UNCLOSED;
	while (mender->depth)
		if (!close_level(mender))
			return false;
	return true;
}

/* ---- the whole --------------------------------------------------------------- */

/* What may stand after the fence that opens: a language's name. */
static bool is_fence_word(struct span word)
{
	for (size_t i = 0; i < word.len; i++)
		if (!is_bare(word.data[i]))
			return false;
	return true;
}

/* ```json ... ``` around the text, which keeps its place for the sake of lines and columns. */
static void strip_fence(struct mender *mender)
{
	static const char fence[] = "```";
	struct span rest = span_trim(mender_rest(mender));
	const char *line = rest.len ? memchr(rest.data, '\n', rest.len) : NULL;
	size_t started;

	if (!span_starts(rest, span_str(fence)) || !span_ends(rest, span_str(fence)) || !line ||
	    !is_fence_word(span_trim(span_of(rest.data + 3, (size_t)(line - rest.data) - 3))))
		return;
	started = (size_t)(line - mender->text.data);
	mender->text.len = (size_t)(rest.data - mender->text.data) + rest.len - 3;
	if (mender->text.len < started)
		return;
	mender->at = started;
	mender->repair->made |= JSON_REPAIR_FENCE;
}

bool json_repair(struct span text, struct json_repair *repair, struct buf *out, struct err *err)
{
	struct mender *mender = mem_alloc(1, sizeof(*mender));
	bool ok;

	*mender = (struct mender){ .text = utf8_skip_mark(text), .repair = repair, .out = out,
	                           .err = err };
	repair->made = 0;
	strip_fence(mender);
	ok = skip_between(mender);
	while (ok && mender->at < mender->text.len)
		ok = mend_token(mender) && skip_between(mender);
	ok = ok && mend_end(mender);
	while (mender->depth)
		level_release(&mender->levels[--mender->depth]);
	free(mender);
	if (ok && out->overflowed)
		return err_set(err, ERR_TOO_LARGE, "The text is too large to be repaired.");
	return ok;
}
