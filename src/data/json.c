/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "base/unseen.h"

/* The bytes with every byte that is not part of well-formed UTF-8 as \xNN. */
static json_t *escaped_text(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(text.len * 4 + 1);
	struct utf8_char c;
	json_t *string;

	while (utf8_next(&text, &c)) {
		if (c.bad)
			buf_printf(&out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else
			buf_span(&out, c.bytes);
	}
	string = json_stringn_nocheck(out.data ? out.data : "", out.len);
	return string ? string : json_null();
}

json_t *json_utf8(struct span text)
{
	json_t *string = json_stringn_nocheck(text.data ? text.data : "", text.len);

	return string ? string : json_null();
}

json_t *json_text(struct span text)
{
	return utf8_valid(text) ? json_utf8(text) : escaped_text(text);
}

json_t *json_cstr(const char *str)
{
	return str ? json_text(span_str(str)) : json_null();
}

json_t *json_name(const char *path)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(path ? 4 * strlen(path) + 1 : 1);

	if (!path)
		return json_null();
	name_show(&shown, span_str(path));
	return json_text(buf_view(&shown));
}

json_t *json_path_bytes(const char *path)
{
	json_t *string = json_string_nocheck(path);

	return string ? string : json_null();
}

json_t *json_sha256(const struct sha256 *sum)
{
	char hex[SHA256_HEX_SIZE];

	sha256_hex(sum, hex);
	return json_cstr(hex);
}

json_t *json_size(uint64_t size)
{
	return json_integer(size > INT64_MAX ? INT64_MAX : (json_int_t)size);
}

json_t *json_base64(struct span bytes)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *in = (const unsigned char *)bytes.data;
	size_t len = (bytes.len + 2) / 3 * 4;
	_cleanup_free_ char *out = mem_alloc(len + 1, 1);
	char *at = out;

	for (size_t i = 0; i < bytes.len; i += 3) {
		unsigned have = bytes.len - i < 3 ? (unsigned)(bytes.len - i) : 3;
		unsigned word = (unsigned)in[i] << 16;

		word |= have > 1 ? (unsigned)in[i + 1] << 8 : 0;
		word |= have > 2 ? (unsigned)in[i + 2] : 0;
		*at++ = digits[word >> 18];
		*at++ = digits[word >> 12 & 63];
		*at++ = have > 1 ? digits[word >> 6 & 63] : '=';
		*at++ = have > 2 ? digits[word & 63] : '=';
	}
	return json_text(span_of(out, len));
}

static int base64_value(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *found = c ? strchr(digits, c) : NULL;

	return found ? (int)(found - digits) : -1;
}

bool json_base64_read(struct span text, struct buf *out)
{
	size_t padding = span_ends(text, SPAN("==")) ? 2 : span_ends(text, SPAN("=")) ? 1 : 0;

	if (text.len % 4)
		return false;
	for (size_t i = 0; i < text.len; i += 4) {
		size_t missing = i + 4 == text.len ? padding : 0;
		unsigned word = 0;

		for (size_t j = 0; j < 4; j++) {
			int digit = j < 4 - missing ? base64_value(text.data[i + j]) : 0;

			if (digit < 0)
				return false;
			word = word << 6 | (unsigned)digit;
		}
		for (size_t j = 0; j < 3 - missing; j++)
			buf_char(out, (char)(word >> (16 - 8 * j)));
	}
	return !out->overflowed;
}

bool json_lists(const json_t *array, struct span text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
		if (json_is_string(item) && span_eq(json_span(item), text))
			return true;
	return false;
}

const char *json_type_phrase(const json_t *value)
{
	static const char *const phrases[] = {
		[JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array",
		[JSON_STRING] = "a string",  [JSON_INTEGER] = "a number",
		[JSON_REAL] = "a number",    [JSON_TRUE] = "a boolean",
		[JSON_FALSE] = "a boolean",  [JSON_NULL] = "null",
	};

	return value ? phrases[json_typeof(value)] : "nothing";
}

/* Printing. jansson's own takes each character through a decoder; here runs of
 * characters that need no escape are copied whole. */

/* 0: as it is; 'u': \u00XX; otherwise the letter after the backslash. */
static char escape_of(unsigned char c)
{
	static const char letters[32] = {
		['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't',
	};

	if (c == '"' || c == '\\')
		return (char)c;
	if (c >= 32)
		return 0;
	return letters[c] ? letters[c] : 'u';
}

/* Sixteen bytes at a time; the compiler makes of it what the processor has. */
typedef unsigned char block __attribute__((vector_size(16)));

/* The index of the first byte of the block that needs an escape (below 0x20, '"', '\\');
 * sizeof(block) when none does. */
static size_t first_escape(block bytes)
{
	block hits = (block)((bytes < 0x20) | (bytes == '"') | (bytes == '\\'));
	uint64_t halves[2];

	memcpy(halves, &hits, sizeof(halves));
	if (!(halves[0] | halves[1]))
		return sizeof(block);
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__) {
		halves[0] = __builtin_bswap64(halves[0]);
		halves[1] = __builtin_bswap64(halves[1]);
	}
	return halves[0] ? (size_t)__builtin_ctzll(halves[0]) / 8 :
	                   8 + (size_t)__builtin_ctzll(halves[1]) / 8;
}

static char *escape_byte(char *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	char escape = escape_of(c);

	if (!escape) {
		*out++ = (char)c;
		return out;
	}
	*out++ = '\\';
	*out++ = escape;
	if (escape == 'u') {
		*out++ = '0';
		*out++ = '0';
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
	}
	return out;
}

enum { STEP_MAX = sizeof(block) + 6 }; /* most bytes that one step of escape_text writes */

/* Escapes as much of the text as fits before `end`, and at least one step of it.  The bytes that
 * need no escape are copied a block at a time, those before one that does with it: what
 * is written too much is overwritten by the next step. */
static char *escape_text(char *out, const char *end, struct span *text)
{
	const char *in = text->data;
	size_t left = text->len;

	while (left >= sizeof(block) && end - out >= STEP_MAX) {
		block bytes;
		size_t plain;

		memcpy(&bytes, in, sizeof(bytes));
		memcpy(out, &bytes, sizeof(bytes));
		plain = first_escape(bytes);
		out += plain;
		in += plain;
		left -= plain;
		if (plain == sizeof(bytes))
			continue;
		out = escape_byte(out, (unsigned char)*in++);
		left--;
	}
	for (; left && left < sizeof(block) && end - out >= STEP_MAX; left--)
		out = escape_byte(out, (unsigned char)*in++);
	*text = span_of(in, left);
	return out;
}

bool json_print_string(struct buf *out, struct span text)
{
	buf_char(out, '"');
	while (text.len) {
		/* Most text has few escapes; what has more comes round again. */
		size_t room = text.len + text.len / 16 + STEP_MAX;
		char *at = buf_reserve(out, room);

		if (!at)
			return false;
		out->len += (size_t)(escape_text(at, at + room, &text) - at);
		out->data[out->len] = '\0';
	}
	return buf_char(out, '"');
}

struct printer {
	struct buf *out;
	unsigned indent;
	unsigned depth;
};

static bool json_print_value(struct printer *printer, const json_t *value);

static void print_break(struct printer *printer)
{
	if (!printer->indent)
		return;
	buf_char(printer->out, '\n');
	for (unsigned i = 0; i < printer->depth * printer->indent; i++)
		buf_char(printer->out, ' ');
}

static bool json_print_object(struct printer *printer, json_t *object)
{
	const char *key;
	size_t len;
	json_t *value;
	bool first = true;

	buf_char(printer->out, '{');
	printer->depth++;
	json_object_keylen_foreach(object, key, len, value) {
		if (!first)
			buf_char(printer->out, ',');
		first = false;
		print_break(printer);
		json_print_string(printer->out, span_of(key, len));
		buf_str(printer->out, printer->indent ? ": " : ":");
		if (!json_print_value(printer, value))
			return false;
	}
	printer->depth--;
	if (!first)
		print_break(printer);
	return buf_char(printer->out, '}');
}

static bool json_print_array(struct printer *printer, const json_t *array)
{
	size_t i;
	json_t *value;

	buf_char(printer->out, '[');
	printer->depth++;
	json_array_foreach(array, i, value) {
		if (i)
			buf_char(printer->out, ',');
		print_break(printer);
		if (!json_print_value(printer, value))
			return false;
	}
	printer->depth--;
	if (json_array_size(array))
		print_break(printer);
	return buf_char(printer->out, ']');
}

static bool json_print_value(struct printer *printer, const json_t *value)
{
	if (printer->depth > JSON_DEPTH_MAX)
		return false;
	if (!value)
		return buf_str(printer->out, "null");
	switch (json_typeof(value)) {
		char *text;
		bool ok;

	case JSON_OBJECT:
		return json_print_object(printer, (json_t *)value);
	case JSON_ARRAY:
		return json_print_array(printer, value);
	case JSON_STRING:
		json_print_string(printer->out, json_span(value));
		break;
	case JSON_INTEGER:
		buf_printf(printer->out, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		break;
	case JSON_REAL:
		text = json_dumps(value, JSON_ENCODE_ANY);
		ok = text && buf_str(printer->out, text);
		free(text);
		return ok;
	case JSON_TRUE:
		buf_str(printer->out, "true");
		break;
	case JSON_FALSE:
		buf_str(printer->out, "false");
		break;
	case JSON_NULL:
		buf_str(printer->out, "null");
		break;
	}
	return !printer->out->overflowed;
}

bool json_print(struct buf *out, const json_t *value, unsigned indent)
{
	struct printer printer = { .out = out, .indent = indent < 8 ? indent : 8 };

	return json_print_value(&printer, value) && !out->overflowed;
}

/* ---- invisible characters -------------------------------------------------------- */

static json_t *show_string(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(text.len * 5 + 1);

	unseen_show(&out, text); /* at most 9 bytes for 2 */
	return json_text(buf_view(&out));
}

/* The number of characters of the value that need an escape. */
static size_t count_unseen(const json_t *value, unsigned depth)
{
	size_t count = 0, i;
	const char *key;
	json_t *member;

	if (json_is_string(value))
		return unseen_count(json_span(value));
	if (depth == 0)
		return 0;
	json_array_foreach(value, i, member)
		count += count_unseen(member, depth - 1);
	json_object_foreach((json_t *)value, key, member)
		count += unseen_count(span_str(key)) + count_unseen(member, depth - 1);
	return count;
}

/* Rebuilds the value: linear, whatever is in it. */
static json_t *show_value(json_t *value, unsigned depth)
{
	json_t *shown, *member;
	const char *key;
	size_t i;

	if (json_is_string(value))
		return show_string(json_span(value));
	if (depth == 0 || !(json_is_array(value) || json_is_object(value)))
		return json_incref(value);
	shown = json_is_array(value) ? json_array() : json_object();
	json_array_foreach(value, i, member)
		json_array_append_new(shown, show_value(member, depth - 1));
	json_object_foreach(value, key, member) {
		_cleanup_buf_ struct buf name = BUF_INIT(strlen(key) * 5 + 1);

		unseen_show(&name, span_str(key));
		buf_char(&name, 0);
		json_object_set_new(shown, name.data, show_value(member, depth - 1));
	}
	return shown;
}

json_t *json_show_unseen(json_t *value, size_t *count)
{
	size_t unseen = count_unseen(value, JSON_DEPTH_MAX);

	if (count)
		*count += unseen;
	return unseen ? show_value(value, JSON_DEPTH_MAX) : json_incref(value);
}
