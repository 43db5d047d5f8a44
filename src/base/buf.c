/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_release(struct buf *buf)
{
	free(buf->data);
	*buf = (struct buf){ .max = buf->max };
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->overflowed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

char *buf_reserve(struct buf *buf, size_t extra)
{
	size_t room = buf->cap ? buf->cap : 64;
	char *data;

	if (buf->overflowed)
		return NULL;
	if (extra > buf->max || buf->len > buf->max - extra) {
		buf->overflowed = true;
		return NULL;
	}
	if (buf->cap > buf->len + extra)
		return buf->data + buf->len;
	while (room <= buf->len + extra)
		room = room > buf->max / 2 ? buf->max + 1 : room * 2;
	data = realloc(buf->data, room);
	if (!data) {
		buf->overflowed = true;
		return NULL;
	}
	buf->data = data;
	buf->cap = room;
	buf->data[buf->len] = '\0';
	return buf->data + buf->len;
}

bool buf_append(struct buf *buf, const void *data, size_t len)
{
	char *end = buf_reserve(buf, len);

	if (!end)
		return false;
	if (len)
		memcpy(end, data, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return true;
}

bool buf_span(struct buf *buf, struct span text)
{
	return buf_append(buf, text.data, text.len);
}

bool buf_str(struct buf *buf, const char *str)
{
	return buf_append(buf, str, strlen(str));
}

bool buf_char(struct buf *buf, char c)
{
	return buf_append(buf, &c, 1);
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (len < 0 || !buf_reserve(buf, (size_t)len)) {
		buf->overflowed = true;
		return false;
	}
	va_start(args, format);
	vsnprintf(buf->data + buf->len, (size_t)len + 1, format, args);
	va_end(args);
	buf->len += (size_t)len;
	return true;
}

char *buf_steal(struct buf *buf)
{
	char *data = buf->data ? buf->data : mem_dup("", 0);

	*buf = (struct buf){ .max = buf->max };
	return data;
}

bool buf_shell_quoted(struct buf *buf, struct span text)
{
	buf_char(buf, '\'');
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] == '\'')
			buf_str(buf, "'\\''");
		else
			buf_char(buf, text.data[i]);
	return buf_char(buf, '\'');
}

bool buf_shell_word(struct buf *buf, struct span word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	                            "0123456789_-./=:,@+%";
	size_t len = 0;

	while (len < word.len && word.data[len] && strchr(plain, word.data[len]))
		len++;
	return word.len && len == word.len ? buf_span(buf, word) : buf_shell_quoted(buf, word);
}
