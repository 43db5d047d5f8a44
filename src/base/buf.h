/* SPDX-License-Identifier: Apache-2.0 */
/* The bounded growing byte buffer.
 *
 * Every buffer that a stranger can fill is one of these, with a maximum named
 * in limits.h.  An append that would pass the maximum, or for which there is no
 * memory, appends nothing and marks the buffer as overflowed; later appends do
 * nothing.  So a builder can append freely and ask once at the end:
 *
 *     _cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
 *     buf_str(&out, "hello ");
 *     buf_printf(&out, "%zu", n);
 *     if (out.overflowed) ...
 *
 * `data` is NUL-terminated whenever it is not NULL (the NUL is not counted).
 */
#ifndef HASP_BASE_BUF_H
#define HASP_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

struct buf {
	char *data;  /* owned; NULL while empty */
	size_t len;  /* bytes used */
	size_t cap;  /* bytes allocated */
	size_t max;  /* most bytes it may hold */
	bool overflowed;
};

#define BUF_INIT(limit) { .max = (limit) }

void buf_release(struct buf *buf); /* frees the contents; the buffer can be used again */
#define _cleanup_buf_ __attribute__((cleanup(buf_release)))

/* Forgets the contents and the overflow mark, keeps the memory. */
void buf_clear(struct buf *buf);

/* All return false when the buffer has overflowed. */
bool buf_append(struct buf *buf, const void *data, size_t len);
bool buf_span(struct buf *buf, struct span text);
bool buf_str(struct buf *buf, const char *str);
bool buf_char(struct buf *buf, char c);
/* One word for a shell, whatever is in it: in single quotes; `word`: as it is, where nothing in it
 * means more to a shell than itself. */
bool buf_shell_quoted(struct buf *buf, struct span text);
bool buf_shell_word(struct buf *buf, struct span word);
bool buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for `extra` more bytes; returns where they begin, or NULL on
 * overflow. Follow with buf->len += n for the n bytes really written. */
char *buf_reserve(struct buf *buf, size_t extra);

static inline struct span buf_view(const struct buf *buf)
{
	return span_of(buf->data, buf->len);
}

/* The contents from byte `start` (at most len) on. */
static inline struct span buf_from(const struct buf *buf, size_t start)
{
	return buf->data ? span_of(buf->data + start, buf->len - start) : span_of("", 0);
}

/* Hands the NUL-terminated contents to the caller (to free) and empties the
 * buffer. Never NULL: an empty buffer gives "". */
char *buf_steal(struct buf *buf);

#endif
