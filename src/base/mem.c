/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void *mem_or_abort(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void *mem_alloc(size_t count, size_t size)
{
	return mem_or_abort(calloc(count ? count : 1, size ? size : 1));
}

char *mem_piece(void)
{
	return mem_or_abort(malloc(MEM_PIECE_BYTES));
}

char *mem_dup(const char *data, size_t len)
{
	char *copy = mem_or_abort(malloc(len + 1));

	if (len)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

char *mem_strdup(const char *str)
{
	return str ? mem_dup(str, strlen(str)) : NULL;
}

char *mem_printf(const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	return mem_or_abort(len < 0 ? NULL : text);
}

void *mem_grow(void *items, size_t *cap, size_t need, size_t size)
{
	size_t room = *cap < 8 ? 8 : *cap;

	while (room < need) {
		if (room > SIZE_MAX / 2 / (size ? size : 1))
			abort();
		room *= 2;
	}
	if (items && room == *cap)
		return items;
	items = mem_or_abort(reallocarray(items, room, size));
	*cap = room;
	return items;
}
