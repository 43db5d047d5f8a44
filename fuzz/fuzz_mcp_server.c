/* SPDX-License-Identifier: Apache-2.0 */
/* What an MCP server declares of a tool, and what a call of it answers: the same text as either. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* All of it can be printed. */
static void check_printable(const json_t *value)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!json_print(&out, value, 0) || !utf8_valid(buf_view(&out)))
		abort();
}

/* Nothing of it acts on a terminal. */
static void check_harmless(const json_t *text)
{
	struct span rest = json_span(text);
	struct utf8_char c;

	while (utf8_next(&rest, &c))
		if ((c.code < 0x20 && c.code != '\n' && c.code != '\t') ||
		    (c.code >= 0x7f && c.code < 0xa0))
			abort();
}

static void check_name(const json_t *declaration)
{
	const char *name = json_string_value(json_object_get(declaration, "name"));

	for (int plain = 0; plain < 2; plain++) {
		char *shown = mcp_declaration_name("server", name, plain);

		if (strlen(shown) > 63 || strncmp(shown, "mcp_server_", 11) != 0 ||
		    strspn(shown, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		                  "_-.:") != strlen(shown))
			abort();
		free(shown);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_auto_t *value = NULL, *declaration = NULL, *result = NULL;
	struct err err = ERR_INIT;

	if (!json_parse_depth(span_of((const char *)data, size), 128, &value, &err))
		return 0;
	declaration = mcp_declaration_clean(value, &err);
	if (declaration) {
		check_harmless(json_object_get(declaration, "description"));
		check_harmless(json_object_get(declaration, "title"));
		check_printable(declaration);
		check_name(declaration);
	}
	result = mcp_result("server", "tool", value);
	check_printable(result);
	if (!json_object_get(result, "output"))
		abort();
	return 0;
}
