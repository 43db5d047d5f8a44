/* SPDX-License-Identifier: Apache-2.0 */
/* Which encoding a run of bytes is in, and iconv with the corners cut off.
 *
 * encoding_sniff looks at the bytes only: byte-order mark, UTF-8 validity, the
 * NUL pattern of UTF-16 and UTF-32, control characters, and last uchardet.  It
 * gives candidates; document.c keeps the first in which every line survives
 * decoding and encoding.
 *
 * uchardet is C++: it is loaded only when a file needs it, because its start-up takes time. Without
 * it the Western European encodings still work.
 *
 * Not here: lines, edits, and the kinds of files that are not text (document.h).
 */
#ifndef HASP_FILE_ENCODING_H
#define HASP_FILE_ENCODING_H

#include <iconv.h>
#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum { ENCODING_NAME_SIZE = 32, ENCODING_CANDIDATES = 5 };

enum encoding_kind {
	ENCODING_BINARY,  /* not text */
	ENCODING_UTF8,    /* valid, nothing to decode */
	ENCODING_LOSSY,   /* UTF-8 with some bytes that are not */
	ENCODING_UNICODE, /* UTF-16 or UTF-32; names[0] says which */
	ENCODING_LEGACY,  /* one of names */
};

struct encoding_guess {
	enum encoding_kind kind;
	size_t bom_bytes; /* length of the byte-order mark */
	char names[ENCODING_CANDIDATES][ENCODING_NAME_SIZE]; /* iconv's; the likeliest first */
	size_t name_count;
};

/* Looks at all of `raw`. Never fails: unknown content is ENCODING_BINARY. */
void encoding_sniff(struct span raw, struct encoding_guess *ret);
/* The same where no library is needed to know: plain UTF-8.  False: ask encoding_sniff. */
bool encoding_sniff_utf8(struct span raw, struct encoding_guess *ret);

/* The guess for an encoding that the caller names (a byte-order mark in `raw` outranks it).
 * INVALID_ARGUMENT when iconv does not know the name. */
bool encoding_named(struct span raw, const char *name, struct encoding_guess *ret,
                    struct err *err);

/* Bytes per code unit of an encoding: 2 and 4 for UTF-16 and UTF-32, otherwise 1. */
size_t encoding_unit(const char *name);
bool encoding_big_endian(const char *name);

/* Length of the first line of `rest` (not empty) with its LF, where a line feed is U+000A of a
 * Unicode encoding or the byte 0x0A of any other. */
size_t encoding_line_len(struct span rest, size_t unit, bool big_endian);

/* Both directions of one encoding. */
struct transcoder {
	iconv_t decode; /* to UTF-8 */
	iconv_t encode; /* from UTF-8 */
	size_t unit;
};

#define TRANSCODER_INIT { .decode = (iconv_t)-1, .encode = (iconv_t)-1, .unit = 1 }
/* Between `name` (iconv's) and UTF-8, both ways; false when iconv does not know it. */
bool encoding_open(const char *name, struct transcoder *ret);
void encoding_close(struct transcoder *transcoder);
#define _cleanup_transcoder_ __attribute__((cleanup(encoding_close)))

enum transcode_result {
	TRANSCODE_OK,
	TRANSCODE_INVALID,  /* *ret_at is the offset of the bytes that cannot be converted */
	TRANSCODE_OVERFLOW, /* `out` is full */
};

/* Appends `in`, converted from and to the initial shift state. */
enum transcode_result encoding_convert(iconv_t conversion, struct span in, struct buf *out,
                                       size_t *ret_at);

#endif
