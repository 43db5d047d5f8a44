/* SPDX-License-Identifier: Apache-2.0 */
/* Paths that a terminal types for what is dropped on it. */
#include "tui/clip/dropped.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"

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
		_cleanup_buf_ struct buf word = BUF_INIT(DROPPED_BYTES_MAX);
		_cleanup_free_ char *path = NULL;
		const bool is_address = span_starts(text, SPAN("file://"));
		const bool is_word = dropped_word(&text, &word);

		path = is_address ? path_of_address(buf_view(&word)) : NULL;
		if (!is_word || (is_address && !path) ||
		    !dropped_add(ret, path ? span_str(path) : buf_view(&word))) {
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
