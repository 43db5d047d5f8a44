/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that a terminal types for what is dropped on it. */
#include "tui/clip/dropped.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ?
	       (c | 32) - 'a' + 10 : -1;
}

/* file:///path, file://localhost/path, file://HOST/path of this machine (RFC 8089). */
static bool read_address(struct span text, struct buf *out)
{
	struct span rest = span_skip(text, 7), host;
	const char *slash = memchr(rest.data, '/', rest.len);
	char own[HOST_NAME_MAX + 1] = "";

	if (!slash)
		return false;
	host = span_head(rest, (size_t)(slash - rest.data));
	gethostname(own, sizeof(own) - 1);
	if (host.len && !span_eq(host, SPAN("localhost")) && !span_eq(host, span_str(own)))
		return false;
	for (rest = span_skip(rest, host.len); rest.len; rest = span_skip(rest, 1)) {
		int high = rest.data[0] == '%' && rest.len > 2 ? hex_digit(rest.data[1]) : -1;
		int low = high >= 0 ? hex_digit(rest.data[2]) : -1;

		if (rest.data[0] == '%' && low < 0)
			return false;
		buf_char(out, low >= 0 ? (char)(high << 4 | low) : rest.data[0]);
		if (low >= 0)
			rest = span_skip(rest, 2);
	}
	return true;
}

bool dropped_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A word as a shell reads it: takes it off the front of *rest. False: its quotes are not closed. */
static bool dropped_word(struct span *rest, struct buf *out)
{
	char quote = 0;

	for (; rest->len && (quote || !dropped_is_blank(rest->data[0]));
	     *rest = span_skip(*rest, 1)) {
		const char c = rest->data[0];

		if (quote ? c == quote : c == '\'' || c == '"') {
			quote = quote ? 0 : c;
		} else if (c == '\\' && quote != '\'' && rest->len > 1) {
			*rest = span_skip(*rest, 1);
			buf_char(out, rest->data[0]);
		} else {
			buf_char(out, c);
		}
	}
	return !quote;
}

/* An absolute path that could stand behind an @. */
static bool dropped_is_path(struct span path)
{
	if (!span_starts(path, SPAN("/")) || path.len >= PATH_MAX || !utf8_valid(path))
		return false;
	for (size_t i = 0; i < path.len; i++)
		if ((unsigned char)path.data[i] < 0x20 || path.data[i] == 0x7f)
			return false;
	return true;
}

void dropped_release(struct dropped *dropped)
{
	while (dropped->count)
		free(dropped->paths[--dropped->count]);
}

static bool dropped_add(struct dropped *dropped, struct span path)
{
	_cleanup_free_ char *text = mem_dup(path.data, path.len);
	struct stat status;

	if (dropped->count == DROPPED_MAX || !dropped_is_path(path) || stat(text, &status) != 0 ||
	    !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)))
		return false;
	dropped->paths[dropped->count++] = path_join("/", text);
	return true;
}

bool dropped_read(struct span text, struct dropped *ret)
{
	*ret = (struct dropped){ 0 };
	text = span_trim(text);
	if (!text.len || text.len > DROPPED_BYTES_MAX)
		return false;
	/* Terminals that do not escape. */
	if (dropped_add(ret, text))
		return true;
	while (text.len) {
		_cleanup_buf_ struct buf word = BUF_INIT(DROPPED_BYTES_MAX),
		                         address = BUF_INIT(DROPPED_BYTES_MAX);
		const bool is_address = span_starts(text, SPAN("file://"));

		if (!dropped_word(&text, &word) ||
		    (is_address && !read_address(buf_view(&word), &address)) ||
		    !dropped_add(ret, is_address ? buf_view(&address) : buf_view(&word))) {
			dropped_release(ret);
			return false;
		}
		while (text.len && dropped_is_blank(text.data[0]))
			text = span_skip(text, 1);
	}
	return true;
}

bool dropped_is_files(struct span text)
{
	struct dropped dropped;
	const bool names = dropped_read(text, &dropped);

	dropped_release(&dropped);
	return names;
}
