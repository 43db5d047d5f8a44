/* SPDX-License-Identifier: Apache-2.0 */
/* A server's answer to the handshake of a WebSocket (RFC 6455, section 4.2.2): only one with status
 * 101 that names this handshake's key is taken, and whoever is refused is refused with a reason. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/http/client_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The key and its answer in RFC 6455, section 1.3. */
static const struct upgrade_key key = { "dGhlIHNhbXBsZSBub25jZQ==" };
static const char answer[] = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

static bool has(const char *head, const char *word)
{
	return strcasestr(head, word) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *head = mem_dup((const char *)data, size);
	struct err err = ERR_INIT;
	int status = -1;
	const bool taken = upgrade_accepted(span_of((const char *)data, size), &key, "mcp",
	                                    &status, &err);

	if (status < 0 || status > 999 || (size < 12 && status))
		abort();
	if (!taken) {
		if (err.code != ERR_NETWORK_ERROR || !err.message[0])
			abort();
		return 0;
	}
	if (status != 101 || !memmem(data, size, answer, strlen(answer)))
		abort();
	/* Behind a byte that is zero the text cannot be searched so. */
	if (strlen(head) == size && !(has(head, "websocket") && has(head, "connection") &&
	                              has(head, "sec-websocket-accept")))
		abort();
	return 0;
}
