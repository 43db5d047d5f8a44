/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the lines of a .env file. */
#include <ctype.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/file.h"
#include "config/authority.h"
#include "config/private.h"

/* Grammar, on one line but for what is in quotes:
 *
 *     line  = [ "export" blank ] name ( "=" | ":" blank ) [ value ] [ "#" anything ]
 *     name  = 1*( letter | digit | "_" | "." | "-" )
 *     value = "'" ... "'" | '"' ... '"' | "`" ... "`" | anything but "#"
 *
 * A backslash before the quotation mark keeps it from ending the value; it stays.
 */

struct env_cursor {
	const char *at, *end;
};

static bool at_end(const struct env_cursor *cursor)
{
	return cursor->at == cursor->end || *cursor->at == '\n' || *cursor->at == '\r';
}

static bool is_env_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static size_t cursor_skip_blanks(struct env_cursor *cursor)
{
	const char *from = cursor->at;

	while (cursor->at < cursor->end && is_env_blank(*cursor->at))
		cursor->at++;
	return (size_t)(cursor->at - from);
}

static bool is_env_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-';
}

static struct span cursor_read_name(struct env_cursor *cursor)
{
	const char *from = cursor->at;

	while (cursor->at < cursor->end && is_env_name_char(*cursor->at))
		cursor->at++;
	return span_of(from, (size_t)(cursor->at - from));
}

/* "export NAME", but a variable may be called export. */
static struct span read_exported(struct env_cursor *cursor)
{
	struct span name = cursor_read_name(cursor);
	struct env_cursor ahead = *cursor;

	if (span_eq(name, SPAN("export")) && cursor_skip_blanks(&ahead)) {
		struct span second = cursor_read_name(&ahead);

		if (second.len) {
			*cursor = ahead;
			return second;
		}
	}
	return name;
}

static bool read_sign(struct env_cursor *cursor)
{
	struct env_cursor ahead = *cursor;

	cursor_skip_blanks(&ahead);
	if (!at_end(&ahead) && *ahead.at == '=') {
		cursor->at = ahead.at + 1;
		return true;
	}
	if (at_end(cursor) || *cursor->at != ':')
		return false;
	cursor->at++;
	return cursor_skip_blanks(cursor) > 0 || at_end(cursor);
}

/* A value in quotes with nothing but a comment after it on its last line. */
static bool cursor_read_quoted(struct env_cursor *cursor, struct span *ret)
{
	struct env_cursor ahead = *cursor;
	char quote = *ahead.at++;

	while (ahead.at < ahead.end && *ahead.at != quote)
		ahead.at += 1 + (*ahead.at == '\\' && ahead.end - ahead.at > 1 &&
		                 ahead.at[1] == quote);
	if (ahead.at >= ahead.end)
		return false;
	*ret = span_of(cursor->at + 1, (size_t)(ahead.at - cursor->at - 1));
	ahead.at++;
	cursor_skip_blanks(&ahead);
	if (!at_end(&ahead) && *ahead.at != '#')
		return false;
	*cursor = ahead;
	return true;
}

static struct span cursor_read_plain(struct env_cursor *cursor, char *quote)
{
	const char *from = cursor->at;
	struct span value;

	while (!at_end(cursor) && *cursor->at != '#')
		cursor->at++;
	value = span_trim(span_of(from, (size_t)(cursor->at - from)));
	*quote = value.len ? value.data[0] : '\0';
	if (value.len >= 2 && strchr("'\"`", *quote) && value.data[value.len - 1] == *quote)
		value = span_of(value.data + 1, value.len - 2);
	return value;
}

static void put_in_escapes(struct span value, struct buf *out)
{
	for (size_t i = 0; i < value.len; i++) {
		char next = i + 1 < value.len ? value.data[i + 1] : '\0';

		if (value.data[i] == '\\' && (next == 'n' || next == 'r')) {
			buf_char(out, next == 'n' ? '\n' : '\r');
			i++;
		} else {
			buf_char(out, value.data[i]);
		}
	}
}

static bool cursor_read_line(struct env_cursor *cursor, struct span *ret_name,
                             struct buf *ret_value)
{
	struct span value;
	char quote;

	cursor_skip_blanks(cursor);
	*ret_name = read_exported(cursor);
	if (!ret_name->len || !read_sign(cursor))
		return false;
	cursor_skip_blanks(cursor);
	quote = at_end(cursor) ? '\0' : *cursor->at;
	if (!quote || !strchr("'\"`", quote) || !cursor_read_quoted(cursor, &value))
		value = cursor_read_plain(cursor, &quote);
	if (value.len && memchr(value.data, '\0', value.len))
		return false;
	if (quote == '"')
		put_in_escapes(value, ret_value);
	else
		buf_span(ret_value, value);
	return !ret_value->overflowed;
}

void env_file_parse(struct span text,
                          void (*take)(void *data, struct span name, const char *value),
                          void *data)
{
	struct env_cursor cursor = { text.data, text.data + text.len };

	if (span_starts(text, SPAN("\xEF\xBB\xBF")))
		cursor.at += 3;
	while (cursor.at < cursor.end) {
		_cleanup_buf_ struct buf value = BUF_INIT(text.len + 1);
		struct span name;

		if (cursor_read_line(&cursor, &name, &value))
			take(data, name, value.data ? value.data : "");
		while (!at_end(&cursor))
			cursor.at++;
		while (cursor.at < cursor.end && at_end(&cursor))
			cursor.at++;
	}
}
