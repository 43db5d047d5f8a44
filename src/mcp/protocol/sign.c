/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/sign.h"

enum { BLOCK = 64 }; /* of SHA-256 */

static void start(struct sha256_stream *stream, const struct sha256 *key, unsigned char pad)
{
	char block[BLOCK];

	memset(block, (char)pad, sizeof(block));
	for (size_t i = 0; i < SHA256_SIZE; i++)
		block[i] = (char)(key->bytes[i] ^ pad);
	sha256_init(stream);
	sha256_update(stream, span_of(block, sizeof(block)));
}

void sign_hex(const struct sha256 *key, struct span text, char hex[static SHA256_HEX_SIZE])
{
	struct sha256_stream stream;
	struct sha256 sum;

	start(&stream, key, 0x36);
	sha256_update(&stream, text);
	sum = sha256_final(&stream);
	start(&stream, key, 0x5c);
	sha256_update(&stream, span_of((const char *)sum.bytes, SHA256_SIZE));
	sum = sha256_final(&stream);
	sha256_hex(&sum, hex);
}

bool sign_check(const struct sha256 *key, struct span text, struct span hex)
{
	char wanted[SHA256_HEX_SIZE];
	unsigned char difference = 0;

	if (hex.len != SHA256_HEX_SIZE - 1)
		return false;
	sign_hex(key, text, wanted);
	for (size_t i = 0; i < hex.len; i++)
		difference |= (unsigned char)(wanted[i] ^ hex.data[i]);
	return difference == 0;
}
