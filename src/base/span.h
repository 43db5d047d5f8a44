/* SPDX-License-Identifier: Apache-2.0 */
/* A run of bytes, owned elsewhere; and what an ASCII byte is.
 *
 * Spans are passed by value and never freed.  They may hold NUL bytes and need
 * not be NUL-terminated; `data` may be NULL when `len` is 0.
 *
 *     struct span line = SPAN("hello");
 *     if (span_eq(line, SPAN("hello"))) ...
 *
 * Not here: growing memory (buf.h), UTF-8 (text.h).
 */
#ifndef HASP_BASE_SPAN_H
#define HASP_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const char *data; /* borrowed */
	size_t len;       /* bytes */
};

/* A span over a string literal, without its NUL. */
#define SPAN(literal) ((struct span){ (literal), sizeof(literal) - 1 })

/* A span over a NUL-terminated string; NULL gives the empty span. */
static inline struct span span_str(const char *str)
{
	return (struct span){ str, str ? strlen(str) : 0 };
}

static inline struct span span_of(const char *data, size_t len)
{
	return (struct span){ data, len };
}

static inline bool span_eq(struct span a, struct span b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

static inline bool span_starts(struct span text, struct span prefix)
{
	return text.len >= prefix.len &&
	       (prefix.len == 0 || memcmp(text.data, prefix.data, prefix.len) == 0);
}

static inline bool span_ends(struct span text, struct span suffix)
{
	return text.len >= suffix.len &&
	       (suffix.len == 0 ||
	        memcmp(text.data + text.len - suffix.len, suffix.data, suffix.len) == 0);
}

/* What remains after the first `n` bytes; the empty span when `n` is past the end. */
static inline struct span span_skip(struct span text, size_t n)
{
	if (n >= text.len)
		return (struct span){ text.data ? text.data + text.len : NULL, 0 };
	return (struct span){ text.data + n, text.len - n };
}

/* At most the first `n` bytes. */
static inline struct span span_head(struct span text, size_t n)
{
	return (struct span){ text.data, n < text.len ? n : text.len };
}

/* Without spaces, tabs, CR and LF at both ends. */
static inline struct span span_trim(struct span text)
{
	while (text.len && strchr(" \t\r\n", text.data[0]) && text.data[0])
		text = span_skip(text, 1);
	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]) && text.data[text.len - 1])
		text.len--;
	return text;
}

/* Whether there is nothing but white space in it. */
static inline bool span_is_blank(struct span text)
{
	return span_trim(text).len == 0;
}

/* Whether the text is what the pattern says, in which "*" stands for any bytes, or for none; in
 * steps that grow with the product of both lengths. */
static inline bool span_fits(struct span text, struct span pattern)
{
	size_t p = 0, t = 0, star = SIZE_MAX, from = 0; /* the last star, and where it resumes */

	while (t < text.len) {
		if (p < pattern.len && pattern.data[p] == '*') {
			star = p++;
			from = t;
		} else if (p < pattern.len && pattern.data[p] == text.data[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++from;
		} else {
			return false;
		}
	}
	while (p < pattern.len && pattern.data[p] == '*')
		p++;
	return p == pattern.len;
}

/* ---- ASCII ------------------------------------------------------------------------ */

/* The same in every locale. Any other value, bytes from 0x80 on among them, is none of these. */

static inline bool ascii_is_digit(int c)
{
	return c >= '0' && c <= '9';
}

static inline bool ascii_is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_is_alnum(int c)
{
	return ascii_is_letter(c) || ascii_is_digit(c);
}

/* How many digits the span begins with. */
static inline size_t span_digits(struct span span)
{
	size_t count = 0;

	while (count < span.len && ascii_is_digit(span.data[count]))
		count++;
	return count;
}

/* What a hexadecimal digit of either case is worth; -1: it is not one. */
static inline int ascii_hex(int c)
{
	if (ascii_is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
