/* SPDX-License-Identifier: Apache-2.0 */
#include "base/sha256.h"

/* The low-level functions are deprecated in favour of EVP, which pulls in the
 * provider machinery; they are the right tool where start-up time counts. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

_Static_assert(sizeof(SHA256_CTX) <= sizeof(struct sha256_stream), "room for SHA256_CTX");

void sha256_init(struct sha256_stream *stream)
{
	SHA256_Init((SHA256_CTX *)(void *)stream->state);
}

void sha256_update(struct sha256_stream *stream, struct span piece)
{
	if (piece.len)
		SHA256_Update((SHA256_CTX *)(void *)stream->state, piece.data, piece.len);
}

struct sha256 sha256_final(struct sha256_stream *stream)
{
	struct sha256 sum;

	SHA256_Final(sum.bytes, (SHA256_CTX *)(void *)stream->state);
	return sum;
}

struct sha256 sha256_of(struct span content)
{
	struct sha256_stream stream;

	sha256_init(&stream);
	sha256_update(&stream, content);
	return sha256_final(&stream);
}

void sha256_hex(const struct sha256 *sum, char hex[static SHA256_HEX_SIZE])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < SHA256_SIZE; i++) {
		hex[2 * i] = digits[sum->bytes[i] >> 4];
		hex[2 * i + 1] = digits[sum->bytes[i] & 15];
	}
	hex[2 * SHA256_SIZE] = '\0';
}

bool sha256_parse(struct span text, struct sha256 *ret)
{
	struct sha256 sum;

	text = span_trim(text);
	if (span_starts(text, SPAN("sha256:")))
		text = span_skip(text, 7);
	if (text.len != 2 * SHA256_SIZE)
		return false;
	for (size_t i = 0; i < SHA256_SIZE; i++) {
		int high = ascii_hex(text.data[2 * i]);
		int low = ascii_hex(text.data[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		sum.bytes[i] = (unsigned char)(high << 4 | low);
	}
	*ret = sum;
	return true;
}
