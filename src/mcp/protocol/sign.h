/* SPDX-License-Identifier: Apache-2.0 */
/* HMAC-SHA-256 (RFC 2104), as 64 digits.  Private to this folder. */
#ifndef HASP_MCP_PROTOCOL_SIGN_H
#define HASP_MCP_PROTOCOL_SIGN_H

#include "base/sha256.h"

/* Of any key of exactly 32 bytes. */
void sign_hex(const struct sha256 *key, struct span text, char hex[static SHA256_HEX_SIZE]);
/* Takes the same time wherever the digits differ. */
bool sign_check(const struct sha256 *key, struct span text, struct span hex);

#endif
