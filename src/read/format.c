/* SPDX-License-Identifier: Apache-2.0 */
/* What all readers share: the input, facts and outlines, page numbers. */
#include "read/format.h"

#include <errno.h>
#include <iconv.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "file/document.h"

/* ---- the input ------------------------------------------------------------------------- */

bool format_slurp(const struct format_input *input, size_t max, struct buf *ret, struct err *err)
{
	char *room;
	ssize_t count;

	if (input->size > max)
		return err_set(err, ERR_TOO_LARGE,
		               "It has %llu bytes; a file of this kind is read up to %zu.",
		               (unsigned long long)input->size, max);
	*ret = (struct buf)BUF_INIT(max + 1);
	room = buf_reserve(ret, (size_t)input->size + 1);
	if (!room)
		return err_set(err, ERR_TOO_LARGE, "It does not fit into memory.");
	if (lseek(input->fd, 0, SEEK_SET) < 0 ||
	    (count = fd_read_full(input->fd, room, (size_t)input->size)) < 0)
		return err_set_errno(err, errno, "It cannot be read");
	ret->len += (size_t)count;
	ret->data[ret->len] = '\0';
	return true;
}

bool format_decode(struct span bytes, struct buf *ret, struct err *err)
{
	struct document document;
	struct span rest, line;

	if (!document_open(bytes, NULL, &document, err))
		return false;
	rest = document.lines.text;
	*ret = (struct buf)BUF_INIT(rest.len + 1);
	while (line_next(&rest, &line)) {
		buf_span(ret, line_body(line));
		if (line_ending(line).len)
			buf_char(ret, '\n');
	}
	document_release(&document);
	return true;
}

/* ---- what is found --------------------------------------------------------------------- */

void format_library(struct derive_result *ret, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(ret->library, sizeof(ret->library), format, arguments);
	va_end(arguments);
}

/* One line of well-formed text: blanks for control characters and line ends, U+FFFD for what is no
 * UTF-8, "..." where it is cut. */
static json_t *short_text(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_DERIVE_FACT + 8);
	struct utf8_char next;

	text = span_trim(text);
	while (utf8_next(&text, &next)) {
		const bool blank = next.code < ' ' || next.code == 0x7f;

		if (out.len + 4 > LIMIT_DERIVE_FACT) {
			buf_str(&out, "...");
			break;
		}
		if (next.bad)
			buf_str(&out, "\xEF\xBF\xBD");
		else if (!blank)
			buf_span(&out, next.bytes);
		else if (out.len && out.data[out.len - 1] != ' ')
			buf_char(&out, ' ');
	}
	return json_text(span_trim(buf_view(&out)));
}

void format_fact(struct derive_result *ret, const char *name, struct span text)
{
	json_auto_t *value = short_text(text);

	if (json_string_length(value))
		json_object_set(ret->facts, name, value);
}

void format_fact_count(struct derive_result *ret, const char *name, uint64_t count)
{
	json_object_set_new(ret->facts, name, json_size(count));
}

static json_t *new_entry(struct derive_result *ret, struct span name, const char *member,
                         json_t *value)
{
	json_t *entry;

	if (!ret->outline)
		ret->outline = json_array();
	if (json_array_size(ret->outline) >= LIMIT_DERIVE_OUTLINE) {
		const json_t *left = json_object_get(ret->facts, "outline_left_out");

		format_fact_count(ret, "outline_left_out",
		                  1 + (uint64_t)json_integer_value(left));
		json_decref(value);
		return NULL;
	}
	entry = json_object();
	json_object_set_new(entry, "name", short_text(name));
	json_object_set_new(entry, "ask", json_object());
	json_object_set_new(json_object_get(entry, "ask"), member, value);
	json_array_append_new(ret->outline, entry);
	return entry;
}

json_t *format_outline(struct derive_result *ret, struct span name, const char *member,
                       struct span value)
{
	return new_entry(ret, name, member, json_text(value));
}

json_t *format_outline_at(struct derive_result *ret, struct span name, const char *member,
                          uint64_t value)
{
	char digits[24];
	const int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);

	return new_entry(ret, name, member, json_text(span_of(digits, (size_t)len)));
}

void format_outline_headings(struct derive_result *ret, struct span text)
{
	struct span line;
	bool code = false;

	for (size_t number = 1; line_next(&text, &line); number++) {
		size_t level = 0;

		code ^= span_starts(line, SPAN("```"));
		while (level < line.len && line.data[level] == '#')
			level++;
		if (!code && level && level <= 6 && level < line.len && line.data[level] == ' ')
			format_entry_count(format_outline_at(ret, span_skip(line, level), "line",
			                                     number),
			                   "level", level);
	}
}

void format_entry_count(json_t *entry, const char *name, uint64_t count)
{
	if (entry)
		json_object_set_new(entry, name, json_size(count));
}

bool format_picture(struct derive_result *ret, const char *mime_type, struct span bytes)
{
	size_t total = bytes.len, i;
	const json_t *picture;

	if (!ret->pictures)
		ret->pictures = json_array();
	json_array_foreach(ret->pictures, i, picture)
		total += json_string_length(json_object_get(picture, "data")) / 4 * 3;
	if (total > LIMIT_DERIVE_PICTURES)
		return false;
	json_array_append_new(ret->pictures, json_pack("{s:s, s:o}", "mime_type", mime_type,
	                                               "data", json_base64(bytes)));
	return true;
}

/* ---- page numbers ---------------------------------------------------------------------- */

static bool refuse_pages(const char *text, const char *noun, uint64_t last, struct err *err)
{
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "\"%.100s\" names no %ss of it: give numbers and ranges such as \"3-5,8\"; "
	               "it has %llu %s%s.", text, noun, (unsigned long long)last, noun,
	               last == 1 ? "" : "s");
}

/* A number at the start of the text; 0: none, or too large a one. */
static uint64_t page_number(struct span *text)
{
	const size_t digits = span_digits(*text);
	uint64_t number = 0;

	for (size_t i = 0; i < digits && digits < 16; i++)
		number = number * 10 + (uint64_t)(text->data[i] - '0');
	*text = span_skip(*text, digits);
	return number;
}

/* "3", "3-5", "11-", "-2" */
static bool take_range(struct span word, uint64_t last, uint64_t *ret_from, uint64_t *ret_to)
{
	word = span_trim(word);
	if (!word.len)
		return false;
	*ret_from = word.data[0] == '-' ? 1 : page_number(&word);
	*ret_to = *ret_from;
	word = span_trim(word);
	if (word.len && word.data[0] == '-') {
		word = span_trim(span_skip(word, 1));
		*ret_to = word.len ? page_number(&word) : last;
	}
	return !word.len && *ret_from && *ret_from <= *ret_to && *ret_from <= last;
}

/* Joins it with what it touches; the list stays in order. */
static bool add_pages(struct format_pages *pages, uint64_t from, uint64_t to)
{
	size_t at = 0, end;

	while (at < pages->count && pages->ranges[at].last + 1 < from)
		at++;
	for (end = at; end < pages->count && pages->ranges[end].first <= to + 1; end++) {
		if (pages->ranges[end].first < from)
			from = pages->ranges[end].first;
		if (pages->ranges[end].last > to)
			to = pages->ranges[end].last;
	}
	if (at == end && pages->count == FORMAT_RANGES)
		return false;
	memmove(&pages->ranges[at + 1], &pages->ranges[end],
	        (pages->count - end) * sizeof(pages->ranges[0]));
	pages->count = pages->count - (end - at) + 1;
	pages->ranges[at].first = from;
	pages->ranges[at].last = to;
	return true;
}

bool format_pages(const char *text, const char *noun, uint64_t last, struct format_pages *ret,
                  struct err *err)
{
	struct span rest = span_str(text);

	*ret = (struct format_pages){ 0 };
	if (!text) {
		add_pages(ret, 1, last);
		return true;
	}
	do {
		const char *comma = rest.len ? memchr(rest.data, ',', rest.len) : NULL;
		const size_t len = comma ? (size_t)(comma - rest.data) : rest.len;
		uint64_t from, to;

		if (!take_range(span_head(rest, len), last, &from, &to) ||
		    !add_pages(ret, from, to < last ? to : last))
			return refuse_pages(text, noun, last, err);
		rest = span_skip(rest, len + (comma != NULL));
	} while (rest.len);
	return true;
}

bool format_pages_have(const struct format_pages *pages, uint64_t number)
{
	for (size_t i = 0; i < pages->count; i++)
		if (number >= pages->ranges[i].first && number <= pages->ranges[i].last)
			return true;
	return false;
}

/* ---- encodings ------------------------------------------------------------------------- */

/* Those that e-mails and old documents have; a name that is missing here is not decoded. */
static const char *const charsets[] = {
	"ISO-8859-1", "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6",
	"ISO-8859-7", "ISO-8859-8", "ISO-8859-9", "ISO-8859-10", "ISO-8859-13", "ISO-8859-14",
	"ISO-8859-15", "ISO-8859-16", "WINDOWS-1250", "WINDOWS-1251", "WINDOWS-1252",
	"WINDOWS-1253", "WINDOWS-1254", "WINDOWS-1255", "WINDOWS-1256", "WINDOWS-1257",
	"WINDOWS-1258", "KOI8-R", "KOI8-U", "IBM437", "IBM850", "IBM852", "IBM866", "MACINTOSH",
	"SHIFT_JIS", "CP932", "EUC-JP", "ISO-2022-JP", "GB2312", "GBK", "GB18030", "BIG5",
	"BIG5-HKSCS", "EUC-KR", "CP949", "ISO-2022-KR", "TIS-620", "UTF-7", "UTF-16", "UTF-16LE",
	"UTF-16BE", "UTF-32",
};

static iconv_t decoders[ARRAY_LEN(charsets)];
static bool decoders_open;

void format_load_charsets(void)
{
	for (size_t i = 0; !decoders_open && i < ARRAY_LEN(charsets); i++)
		decoders[i] = iconv_open("UTF-8", charsets[i]);
	decoders_open = true;
}

static iconv_t find_decoder(const char *charset)
{
	for (size_t i = 0; decoders_open && i < ARRAY_LEN(charsets); i++)
		if (strcasecmp(charsets[i], charset) == 0)
			return decoders[i];
	return (iconv_t)-1;
}

/* Names that are in use besides. */
static const char *usual_name(const char *charset)
{
	static const char *const names[][2] = {
		{ "latin1", "WINDOWS-1252" }, { "ISO-8859-1", "WINDOWS-1252" },
		{ "cp1250", "WINDOWS-1250" }, { "cp1251", "WINDOWS-1251" },
		{ "cp1252", "WINDOWS-1252" }, { "sjis", "CP932" }, { "SHIFT_JIS", "CP932" },
		{ "x-sjis", "CP932" }, { "ks_c_5601-1987", "CP949" }, { "mac", "MACINTOSH" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(names[i][0], charset) == 0)
			return names[i][1];
	return charset;
}

void format_to_utf8(struct span bytes, const char *charset, struct buf *ret)
{
	iconv_t decoder = charset ? find_decoder(usual_name(charset)) : (iconv_t)-1;
	char *from = (char *)(uintptr_t)bytes.data, piece[4096];
	size_t left = bytes.len;

	if (decoder == (iconv_t)-1) {
		buf_span(ret, bytes);
		return;
	}
	iconv(decoder, NULL, NULL, NULL, NULL);
	while (left && !ret->overflowed) {
		char *to = piece;
		size_t room = sizeof(piece);
		const size_t done = iconv(decoder, &from, &left, &to, &room);

		buf_append(ret, piece, sizeof(piece) - room);
		if (done == (size_t)-1 && errno != E2BIG && left) {
			buf_str(ret, "\xEF\xBF\xBD");
			from++;
			left--;
		}
	}
}
