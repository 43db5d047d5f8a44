/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON text into jansson's values: RFC 8259.
 *
 *     value  = object | array | string | number | "true" | "false" | "null"
 *     object = "{" [ string ":" value *( "," string ":" value ) ] "}"
 *     array  = "[" [ value *( "," value ) ] "]"
 *
 * jansson's own reader takes text byte by byte through a callback and every character through
 * a decoder: 120 µs for a string of 10 KB.  Here runs of literal characters are found eight
 * bytes at a time and copied whole.  It accepts the same texts, except that the depth limit counts
 * containers alone, and that a NUL byte does not end the text.
 *
 * json_parse_foreign also accepts a broken encoding, and json_parse_lenient some common deviations
 * from JSON; see json.h.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

struct json_reader {
	struct span text; /* all of it */
	const char *at, *end;
	unsigned depth_left;
	struct buf scratch; /* a string with escapes, without them */
	bool may_repeat;      /* names; the last counts */
	const char *repeated; /* the first that was there already; NULL: none */
	bool repairs;         /* the encoding: json_parse_foreign, and leniently */
	bool lenient;         /* json_parse_lenient */
	bool lone;            /* half a pair of surrogates stands in a string */
	size_t repaired;      /* those halves, and bytes that are not UTF-8 */
	/* The first error: what is wrong where. */
	const char *problem;
	const char *problem_at;
};

static json_t *json_read_value(struct json_reader *reader);

/* Notes what is wrong at `where`; returns NULL. */
static json_t *json_wrong(struct json_reader *reader, const char *where, const char *problem)
{
	if (!reader->problem) {
		reader->problem = problem;
		reader->problem_at = where;
	}
	return NULL;
}

static bool json_refuse(struct json_reader *reader, const char *where, const char *problem)
{
	json_wrong(reader, where, problem);
	return false;
}

static void json_skip_space(struct json_reader *reader)
{
	while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\n' ||
	                                    *reader->at == '\r' || *reader->at == '\t'))
		reader->at++;
}

/* The next byte, 0 at the end (and for a byte 0, which no rule expects). */
static char json_peek(const struct json_reader *reader)
{
	return reader->at < reader->end ? *reader->at : '\0';
}

/* --- Strings ------------------------------------------------------------------------------ */

/* Bit 7 of the first byte of eight that does not stand for itself is set: '"', '\\', below 0x20
 * or above 0x7f. Bits of bytes after it mean nothing. */
static uint64_t word_specials(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t quote = word ^ ones * '"';
	uint64_t backslash = word ^ ones * '\\';

	return (word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) &
	       0x8080808080808080u;
}

static bool is_special(char c)
{
	return c == '"' || c == '\\' || (unsigned char)c < 0x20 || (unsigned char)c > 0x7f;
}

/* Past the characters that stand for themselves and are one byte. */
static const char *skip_plain(const char *at, const char *end)
{
	uint64_t word;

	while ((size_t)(end - at) >= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		if (word_specials(word))
			break;
		at += sizeof(word);
	}
	while (at < end && !is_special(*at))
		at++;
	return at;
}

/* The four digits after a "\u" that begins at `at`. */
static bool read_unit(struct json_reader *reader, const char *at, uint32_t *ret)
{
	uint32_t unit = 0;

	if (reader->end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return false;
	for (int i = 2; i < 6; i++) {
		int digit = ascii_hex(at[i]);

		if (digit < 0)
			return false;
		unit = unit << 4 | (uint32_t)digit;
	}
	*ret = unit;
	return true;
}

/* Half a pair as the three bytes that UTF-8 would have for it; 0: none begins at `at`. */
static uint32_t half_at(const char *at, const char *end)
{
	if (end - at < 3 || (unsigned char)at[0] != 0xed || (unsigned char)at[1] < 0xa0 ||
	    ((unsigned char)at[1] & 0xc0) != 0x80 || ((unsigned char)at[2] & 0xc0) != 0x80)
		return 0;
	return 0xd000u | ((unsigned char)at[1] & 0x3fu) << 6 | ((unsigned char)at[2] & 0x3fu);
}

/* A low half that is next, in either form; it is taken. */
static bool read_low(struct json_reader *reader, uint32_t *ret)
{
	if (read_unit(reader, reader->at, ret) && *ret >= 0xdc00 && *ret <= 0xdfff) {
		reader->at += 6;
		return true;
	}
	*ret = reader->repairs ? half_at(reader->at, reader->end) : 0;
	if (*ret < 0xdc00)
		return false;
	reader->at += 3;
	return true;
}

/* A unit whose form has been read: alone, or with the next one as a surrogate pair. */
static bool put_unit(struct json_reader *reader, const char *at, uint32_t code)
{
	bool high = code >= 0xd800 && code <= 0xdbff;
	uint32_t low;
	char utf8[4];

	if (high && read_low(reader, &low))
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	else if (high && !reader->repairs)
		return json_refuse(reader, at, "a high surrogate without a low one after it");
	else if (code >= 0xdc00 && code <= 0xdfff && !reader->repairs)
		return json_refuse(reader, at, "a low surrogate without a high one before it");
	reader->lone |= code >= 0xd800 && code <= 0xdfff;
	reader->repaired += code >= 0xd800 && code <= 0xdfff;
	return buf_append(&reader->scratch, utf8, utf8_put(code, utf8));
}

/* \uXXXX, or two of them that are a surrogate pair. */
static bool read_code_point(struct json_reader *reader)
{
	const char *at = reader->at;
	uint32_t code;

	if (!read_unit(reader, at, &code))
		return json_refuse(reader, at, "\\u must be followed by four hexadecimal digits");
	reader->at += 6;
	return put_unit(reader, at, code);
}

/* A byte that is not UTF-8, where such bytes are taken. */
static bool read_bad_byte(struct json_reader *reader)
{
	uint32_t half = half_at(reader->at, reader->end);

	reader->at += half ? 3 : 1;
	reader->repaired += !half;
	return half ? put_unit(reader, reader->at, half) :
	       buf_str(&reader->scratch, "\xef\xbf\xbd");
}

static bool json_read_escape(struct json_reader *reader)
{
	static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (reader->end - reader->at < 2)
		return json_refuse(reader, reader->at, "the string has no end");
	if (reader->at[1] == 'u')
		return read_code_point(reader);
	found = reader->at[1] ? strchr(letters, reader->at[1]) : NULL;
	if (!found)
		return json_refuse(reader, reader->at, "no such escape");
	reader->at += 2;
	return buf_char(&reader->scratch, meanings[found - letters]);
}

/* Past characters of more than one byte; there is one. */
static bool skip_multibyte(struct json_reader *reader)
{
	while (reader->at < reader->end && (unsigned char)*reader->at > 0x7f) {
		struct span rest = span_of(reader->at, (size_t)(reader->end - reader->at));
		struct utf8_char c = utf8_first(rest);

		if (c.bad)
			return false;
		reader->at += c.bytes.len;
	}
	return true;
}

/* Past a run of well-formed characters without an escape; where the encoding is repaired, to a
 * byte that is not UTF-8, too. */
static bool skip_run(struct json_reader *reader)
{
	for (;;) {
		reader->at = skip_plain(reader->at, reader->end);
		if (reader->at == reader->end)
			return json_refuse(reader, reader->at, "the string has no end");
		if (*reader->at == '"' || *reader->at == '\\')
			return true;
		if ((unsigned char)*reader->at < 0x20)
			return json_refuse(reader, reader->at, "a control character in a string");
		if (!skip_multibyte(reader))
			return reader->repairs ||
			       json_refuse(reader, reader->at, "a byte that is not UTF-8");
	}
}

/* The string that begins with a quotation mark here. The text is borrowed: from the whole, or from
 * the scratch buffer until the next string is read. */
static bool read_string(struct json_reader *reader, struct span *ret)
{
	const char *from = ++reader->at;

	if (!skip_run(reader))
		return false;
	if (*reader->at == '"') {
		*ret = span_of(from, (size_t)(reader->at++ - from));
		return true;
	}
	buf_clear(&reader->scratch);
	while (*reader->at != '"') {
		buf_append(&reader->scratch, from, (size_t)(reader->at - from));
		if (*reader->at == '\\' ? !json_read_escape(reader) : !read_bad_byte(reader))
			return false;
		from = reader->at;
		if (!skip_run(reader))
			return false;
	}
	buf_append(&reader->scratch, from, (size_t)(reader->at++ - from));
	*ret = buf_view(&reader->scratch);
	return true;
}

static json_t *read_string_value(struct json_reader *reader)
{
	const char *from = reader->at;
	struct span text;
	json_t *value;

	if (!read_string(reader, &text))
		return NULL;
	value = json_stringn_nocheck(text.data ? text.data : "", text.len);
	if (!value || reader->scratch.overflowed) {
		json_decref(value);
		return json_wrong(reader, from, "there is no memory for it");
	}
	return value;
}

/* --- Numbers ------------------------------------------------------------------------------ */

static bool skip_digits(struct json_reader *reader)
{
	const char *from = reader->at;

	while (ascii_is_digit(json_peek(reader)))
		reader->at++;
	return reader->at > from;
}

/* Past a number; *ret_real says whether it has a fraction or an exponent. */
static bool skip_number(struct json_reader *reader, bool *ret_real)
{
	*ret_real = false;
	if (json_peek(reader) == '-')
		reader->at++;
	if (json_peek(reader) == '0')
		reader->at++;
	else if (!skip_digits(reader))
		return false;
	if (json_peek(reader) == '.') {
		*ret_real = true;
		reader->at++;
		if (!skip_digits(reader))
			return false;
	}
	if (json_peek(reader) == 'e' || json_peek(reader) == 'E') {
		*ret_real = true;
		reader->at++;
		if (json_peek(reader) == '+' || json_peek(reader) == '-')
			reader->at++;
		return skip_digits(reader);
	}
	return !ascii_is_digit(json_peek(reader));
}

/* A number of at most 18 digits, which cannot pass the limits of 64 bits. */
static json_int_t short_integer(struct span text)
{
	bool negative = text.data[0] == '-';
	json_int_t value = 0;

	for (size_t i = negative; i < text.len; i++)
		value = value * 10 + (text.data[i] - '0');
	return negative ? -value : value;
}

static json_t *json_read_number(struct json_reader *reader)
{
	_cleanup_free_ char *copy = NULL;
	const char *from = reader->at;
	struct span text;
	json_int_t integer;
	double value;
	bool real;

	if (!skip_number(reader, &real))
		return json_wrong(reader, reader->at, "a number without the digits it needs");
	text = span_of(from, (size_t)(reader->at - from));
	if (!real && text.len <= 18)
		return json_integer(short_integer(text));
	copy = mem_dup(text.data, text.len);
	errno = 0;
	if (!real) {
		integer = strtoll(copy, NULL, 10);
		if (!errno)
			return json_integer(integer);
		if (!reader->lenient)
			return json_wrong(reader, from, "an integer that does not fit 64 bits");
	}
	value = strtod(copy, NULL);
	if (isinf(value) && reader->lenient)
		value = value < 0 ? -DBL_MAX : DBL_MAX;
	return isinf(value) ? json_wrong(reader, from, "a number that is too large") :
	       json_real(value);
}

/* --- Containers --------------------------------------------------------------------------- */

/* After a value: true with the next one coming, false at the end `close` or an error. */
static bool container_has_another(struct json_reader *reader, char close)
{
	json_skip_space(reader);
	if (json_peek(reader) == ',') {
		reader->at++;
		json_skip_space(reader);
		return true;
	}
	if (json_peek(reader) == close)
		reader->at++;
	else
		json_wrong(reader, reader->at,
		           close == '}' ? "',' or '}' is expected" : "',' or ']' is expected");
	return false;
}

static bool json_take_empty(struct json_reader *reader, char close)
{
	reader->at++;
	json_skip_space(reader);
	if (json_peek(reader) != close)
		return false;
	reader->at++;
	return true;
}

/* One member; a name that is there already is found by the object not growing. */
static bool json_read_member(struct json_reader *reader, json_t *object)
{
	const char *from = reader->at;
	_cleanup_free_ char *copy = NULL;
	size_t before = json_object_size(object);
	struct span name;
	json_t *value;

	if (json_peek(reader) != '"')
		return json_refuse(reader, from, "a name is expected");
	if (!read_string(reader, &name))
		return false;
	if (name.len && memchr(name.data, '\0', name.len) && !reader->lenient)
		return json_refuse(reader, from, "a name with \\u0000");
	if (name.data == reader->scratch.data) {
		name.data = copy = mem_dup(name.data, name.len);
		for (size_t i = 0; i < name.len; i++) /* only escapes can be 0 */
			if (!copy[i])
				copy[i] = '?';
	}
	json_skip_space(reader);
	if (json_peek(reader) != ':')
		return json_refuse(reader, reader->at, "':' is expected");
	reader->at++;
	json_skip_space(reader);
	value = json_read_value(reader);
	if (!value)
		return false;
	if (json_object_setn_new_nocheck(object, name.data ? name.data : "", name.len, value) != 0)
		return json_refuse(reader, from, "there is no memory for it");
	if (json_object_size(object) > before)
		return true;
	if (!reader->repeated)
		reader->repeated = from;
	return reader->may_repeat || json_refuse(reader, from, "a duplicate name");
}

static json_t *json_read_object(struct json_reader *reader)
{
	json_t *object = json_object();
	bool more = !json_take_empty(reader, '}');

	while (more) {
		if (!json_read_member(reader, object))
			break;
		more = container_has_another(reader, '}');
	}
	if (!reader->problem)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *read_array(struct json_reader *reader)
{
	json_t *array = json_array();
	bool more = !json_take_empty(reader, ']');

	while (more) {
		json_t *value = json_read_value(reader);

		if (!value)
			break;
		json_array_append_new(array, value);
		more = container_has_another(reader, ']');
	}
	if (!reader->problem)
		return array;
	json_decref(array);
	return NULL;
}

static json_t *read_container(struct json_reader *reader)
{
	json_t *value;

	if (!reader->depth_left)
		return json_wrong(reader, reader->at, "nested too deep");
	reader->depth_left--;
	value = json_peek(reader) == '{' ? json_read_object(reader) : read_array(reader);
	reader->depth_left++;
	return value;
}

static json_t *json_read_word(struct json_reader *reader, struct span word, json_t *value)
{
	struct span rest = span_of(reader->at, (size_t)(reader->end - reader->at));

	if (!span_starts(rest, word))
		return json_wrong(reader, reader->at, "a value is expected");
	reader->at += word.len;
	return value;
}

/* What Python prints for floating-point values that JSON does not have; NULL: something else. */
static json_t *read_no_number(struct json_reader *reader)
{
	static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
	struct span rest = span_of(reader->at, (size_t)(reader->end - reader->at));

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (span_starts(rest, span_str(words[i])))
			return json_read_word(reader, span_str(words[i]), json_null());
	return NULL;
}

/* Recursion is bounded by depth_left. */
static json_t *json_read_value(struct json_reader *reader)
{
	json_t *null = reader->lenient ? read_no_number(reader) : NULL;

	if (null)
		return null;
	switch (json_peek(reader)) {
	case '"':
		return read_string_value(reader);
	case '{':
	case '[':
		return read_container(reader);
	case 't':
		return json_read_word(reader, SPAN("true"), json_true());
	case 'f':
		return json_read_word(reader, SPAN("false"), json_false());
	case 'n':
		return json_read_word(reader, SPAN("null"), json_null());
	default:
		if (json_peek(reader) == '-' || ascii_is_digit(json_peek(reader)))
			return json_read_number(reader);
		return json_wrong(reader, reader->at,
		                  reader->at == reader->end ? "the text ends too early"
		                                       : "a value is expected");
	}
}

/* Lines and characters count from 1. */
static size_t json_place_of(const struct json_reader *reader, const char *where, size_t *ret_column)
{
	size_t line = 1, column = 1;

	for (const char *at = reader->text.data; at < where; at++) {
		if (*at == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)*at & 0xc0) != 0x80) {
			column++;
		}
	}
	*ret_column = column;
	return line;
}

static struct json_reader reader_of(struct span text, unsigned depth)
{
	const char *from = text.data ? text.data : "";

	/* A byte that is not UTF-8 becomes the three of U+FFFD. */
	return (struct json_reader){ .text = span_of(from, text.len), .at = from,
		.end = from + text.len, .depth_left = depth,
		.scratch = BUF_INIT(3 * text.len + 1) };
}

static bool json_parse_text(struct json_reader *reader, json_t **ret, struct err *err)
{
	json_t *value;

	json_skip_space(reader);
	value = json_read_value(reader);
	json_skip_space(reader);
	buf_release(&reader->scratch);
	if (value && reader->at < reader->end) {
		json_wrong(reader, reader->at, "something follows the value");
		json_decref(value);
	}
	if (!value)
		json_wrong(reader, reader->at, "there is no memory for it");
	if (reader->problem) {
		size_t column, line = json_place_of(reader, reader->problem_at, &column);

		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Not valid JSON: line %zu, column %zu: %s.", line, column,
		               reader->problem);
	}
	*ret = value;
	return true;
}

bool json_parse_depth(struct span text, unsigned depth, json_t **ret, struct err *err)
{
	struct json_reader reader = reader_of(text, depth);

	return json_parse_text(&reader, ret, err);
}

bool json_parse_repeating(struct span text, unsigned depth, json_t **ret, unsigned *ret_line,
                          struct err *err)
{
	struct json_reader reader = reader_of(text, depth);
	size_t column;

	reader.may_repeat = true;
	if (!json_parse_text(&reader, ret, err))
		return false;
	*ret_line = reader.repeated ? (unsigned)json_place_of(&reader, reader.repeated, &column) :
	                              0;
	return true;
}

bool json_parse_lenient(struct span text, unsigned depth, json_t **ret, bool *ret_lone,
                        struct err *err)
{
	struct json_reader reader = reader_of(text, depth);

	reader.may_repeat = reader.repairs = reader.lenient = true;
	if (!json_parse_text(&reader, ret, err))
		return false;
	*ret_lone = reader.lone;
	return true;
}

bool json_parse_foreign(struct span text, unsigned depth, json_t **ret, size_t *repaired,
                        struct err *err)
{
	struct json_reader reader = reader_of(text, depth);
	json_t *value;

	if (span_starts(text, SPAN("\xef\xbb\xbf")))
		reader.at += 3;
	reader.repairs = true;
	if (!json_parse_text(&reader, &value, err))
		return false;
	*ret = reader.lone ? json_whole(value) : value;
	if (reader.lone)
		json_decref(value);
	if (repaired)
		*repaired += reader.repaired;
	return true;
}

/* --- Halves of pairs ---------------------------------------------------------------------- */

bool json_whole_text(struct buf *out, struct span text)
{
	const char *at = text.data, *end = at + text.len, *from = at;

	while (at < end && (at = memchr(at, 0xed, (size_t)(end - at)))) {
		uint32_t high = half_at(at, end), low = high ? half_at(at + 3, end) : 0;
		char utf8[4];

		if (!high) {
			at++;
			continue;
		}
		buf_append(out, from, (size_t)(at - from));
		if (high < 0xdc00 && low >= 0xdc00) {
			low = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
			buf_append(out, utf8, utf8_put(low, utf8));
			at += 3;
		} else {
			buf_str(out, "\xef\xbf\xbd");
		}
		from = at += 3;
	}
	return buf_append(out, from ? from : "", (size_t)(end - from));
}

size_t json_half_at_end(struct span text)
{
	const char *end = text.data + text.len;
	uint32_t half = text.len < 3 ? 0 : half_at(end - 3, end);

	return half && half < 0xdc00 ? 3 : 0;
}

json_t *json_whole(json_t *value)
{
	json_t *whole, *member;
	const char *key;
	size_t i;

	if (json_is_string(value)) {
		_cleanup_buf_ struct buf text = BUF_INIT(json_string_length(value) + 4);

		json_whole_text(&text, json_span(value));
		return json_text(buf_view(&text));
	}
	if (!json_is_array(value) && !json_is_object(value))
		return json_incref(value);
	whole = json_is_array(value) ? json_array() : json_object();
	json_array_foreach(value, i, member)
		json_array_append_new(whole, json_whole(member));
	json_object_foreach(value, key, member) {
		_cleanup_buf_ struct buf name = BUF_INIT(strlen(key) + 4);

		json_whole_text(&name, span_str(key));
		buf_char(&name, 0);
		json_object_set_new(whole, name.data, json_whole(member));
	}
	return whole;
}

bool json_parse(struct span text, json_t **ret, struct err *err)
{
	return json_parse_depth(text, JSON_READ_DEPTH_MAX, ret, err);
}
