/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/offer.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* The longest path, each byte of it escaped. */
enum { URI_MAX = 3 * LIMIT_PATH_BYTES + 32 };

static bool refuse_uri(const char *uri, const char *why, struct err *err)
{
	struct span shown = utf8_head(span_str(uri), 200);

	return err_set(err, ERR_INVALID_ARGUMENT, "\"%.*s\" %s.", (int)shown.len, shown.data, why);
}

static int uri_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Undoes the escapes up to a query or fragment; false when one is broken, or means NUL. */
static bool unescape(const char *text, char *out)
{
	while (*text && *text != '?' && *text != '#') {
		int high = *text == '%' ? uri_hex_digit(text[1]) : 0;
		int low = *text == '%' && high >= 0 ? uri_hex_digit(text[2]) : 0;

		if (high < 0 || low < 0 || (*text == '%' && !high && !low))
			return false;
		*out++ = *text == '%' ? (char)(high << 4 | low) : *text;
		text += *text == '%' ? 3 : 1;
	}
	*out = '\0';
	return true;
}

bool uri_to_path(const char *uri, char **ret, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	const char *rest = uri + 5;

	if (strlen(uri) > URI_MAX)
		return refuse_uri(uri, "is longer than a path can be", err);
	if (strncasecmp(uri, "file:", 5) != 0)
		return refuse_uri(uri, "is not a file:// URI", err);
	if (strncmp(rest, "//", 2) == 0) {
		rest += 2;
		if (strncasecmp(rest, "localhost/", 10) == 0)
			rest += 9;
		if (*rest != '/')
			return refuse_uri(uri, "names a file of another machine", err);
	}
	if (*rest != '/')
		return refuse_uri(uri, "does not name an absolute path", err);
	path = mem_alloc(strlen(rest) + 1, 1);
	if (!unescape(rest, path))
		return refuse_uri(uri,
		                  "has a broken escape in it: % must be followed by two "
		                  "hexadecimal digits, and not by 00", err);
	if (strlen(path) > LIMIT_PATH_BYTES)
		return refuse_uri(uri, "is longer than a path can be", err);
	*ret = mem_steal(&path);
	return true;
}

static bool is_unescaped(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       (c && strchr("-._~/", c));
}

bool uri_from_path(struct buf *out, const char *path)
{
	buf_str(out, "file://");
	for (; *path; path++) {
		if (is_unescaped(*path))
			buf_char(out, *path);
		else
			buf_printf(out, "%%%02X", (unsigned char)*path);
	}
	return !out->overflowed;
}
