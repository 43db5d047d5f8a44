/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4): the name of a file state.
 *
 *     struct sha256 sum = sha256_of(content);
 *     char hex[SHA256_HEX_SIZE];
 *     sha256_hex(&sum, hex);
 *
 * Computed by OpenSSL's libcrypto, linked statically so that a process that
 * hashes one small file does not pay for loading the whole library.
 */
#ifndef HASP_BASE_SHA256_H
#define HASP_BASE_SHA256_H

#include <stdbool.h>
#include <string.h>

#include "base/span.h"

enum { SHA256_SIZE = 32, SHA256_HEX_SIZE = 65 };

struct sha256 {
	unsigned char bytes[SHA256_SIZE];
};

/* For content that comes in pieces: init, update any number of times, final once. */
struct sha256_stream {
	_Alignas(16) unsigned char state[128]; /* libcrypto's SHA256_CTX */
};

/* The digest of a text in one piece, or in several: init, update as often as needed, final. */
struct sha256 sha256_of(struct span content);
void sha256_init(struct sha256_stream *stream);
void sha256_update(struct sha256_stream *stream, struct span piece);
struct sha256 sha256_final(struct sha256_stream *stream);

static inline bool sha256_eq(const struct sha256 *a, const struct sha256 *b)
{
	return memcmp(a->bytes, b->bytes, SHA256_SIZE) == 0;
}

/* Writes 64 lower-case digits and a NUL. */
void sha256_hex(const struct sha256 *sum, char hex[static SHA256_HEX_SIZE]);

/* Reads exactly 64 hexadecimal digits of either case, with an optional
 * "sha256:" before them and white space around them; false for anything else. */
bool sha256_parse(struct span text, struct sha256 *ret);

#endif
