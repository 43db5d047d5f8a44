/* SPDX-License-Identifier: Apache-2.0 */
/* What a server's bytes put into requests to it.  The first line is the endpoint event of the old
 * transport: it never leads to another origin.  The rest is {"tool", "params", "result"} as JSON:
 * no header that repeats an argument has a line of its own, or bytes that are not printable. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "mcp/client/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ORIGIN "http://h:1"

static void must_be_printable(const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			abort();
}

static void check_endpoint(struct span said)
{
	_cleanup_free_ char *whole = mcp_http_endpoint(ORIGIN "/a/sse?k=1", said);

	if (!whole)
		return;
	must_be_printable(whole);
	if (strncmp(whole, ORIGIN, strlen(ORIGIN)) != 0 || !strchr("/?", whole[strlen(ORIGIN)]) ||
	    !whole[strlen(ORIGIN)])
		abort();
}

static void check_headers(const json_t *tool, const json_t *params)
{
	json_auto_t *mirrored = NULL;
	struct err err = ERR_INIT;
	char **headers;

	if (!mcp_modern_mirrored(tool, &mirrored, &err))
		return;
	headers = mcp_modern_headers("tools/call", params, mirrored);
	for (char **header = headers; *header; header++)
		must_be_printable(*header);
	worker_texts_free(headers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span all = span_of((const char *)data, size);
	struct span rest = all, line = all;
	json_auto_t *whole = NULL;
	bool asks;
	struct err err = ERR_INIT;

	if (!size || !line_next(&rest, &line))
		return 0;
	check_endpoint(line_body(line));
	whole = json_loadb(rest.data, rest.len, JSON_ALLOW_NUL, NULL);
	check_headers(json_object_get(whole, "tool"), json_object_get(whole, "params"));
	mcp_modern_result(json_object_get(whole, "result"), "s", &asks, &err);
	return 0;
}
