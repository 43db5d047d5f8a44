/* SPDX-License-Identifier: Apache-2.0 */
/* What protocol version 2026-07-28 has in place of a session: each request identifies the client
 * (_meta), over HTTP, headers repeat the method and name (SEP-2243), and a result may request more
 * input, after which the request is sent again (SEP-2322). */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/requests.h"
#include "worker/provider.h"

enum {
	MIRRORED_MAX = 32,  /* arguments of a tool that are repeated in headers */
	MIRRORED_DEPTH = 8,
};

json_t *mcp_modern_meta(const json_t *capabilities, const char *log_level)
{
	json_auto_t *own = json_copy((json_t *)capabilities);

	/* Calls of its tools may become tasks (tasks.c). */
	json_object_set_new(own, "extensions",
	                    json_pack("{s:{}}", "io.modelcontextprotocol/tasks"));
	return json_pack("{s:s, s:O, s:{s:s, s:s}, s:s*}",
	                 "io.modelcontextprotocol/protocolVersion", MCP_MODERN,
	                 "io.modelcontextprotocol/clientCapabilities", own,
	                 "io.modelcontextprotocol/clientInfo", "name", "hasp", "version",
	                 HASP_VERSION, "io.modelcontextprotocol/logLevel", log_level);
}

/* ---- arguments that headers repeat ---- */

static bool is_header_token(const char *name)
{
	for (const char *c = name; *c; c++)
		if (!ascii_is_alnum(*c) && !strchr("!#$%&'*+-.^_`|~", *c))
			return false;
	return *name;
}

bool mcp_is_field(const char *name, const char *value)
{
	for (const char *c = value; *c; c++)
		if (((unsigned char)*c < 0x20 && *c != '\t') || *c == 0x7f)
			return false;
	return is_header_token(name);
}

static bool is_mirrored_name(const json_t *all, const json_t *name)
{
	const char *text = json_string_value(name), *other;
	json_t *path;

	/* A NUL would hide the rest. */
	if (!text || strlen(text) != json_string_length(name) || !is_header_token(text))
		return false;
	json_object_foreach((json_t *)all, other, path)
		if (!strcasecmp(other, text))
			return false;
	return json_object_size(all) < MIRRORED_MAX;
}

static bool is_mirrored_type(const json_t *type)
{
	const struct span name = json_span(type);

	return span_eq(name, SPAN("string")) || span_eq(name, SPAN("integer")) ||
	       span_eq(name, SPAN("boolean"));
}

/* recursive= */
static bool find_mirrored(const json_t *schema, const json_t *path, json_t *all)
{
	json_t *properties = json_object_get(schema, "properties"), *property;
	const char *name;

	if (json_array_size(path) >= MIRRORED_DEPTH)
		return true;
	json_object_foreach(properties, name, property) {
		const json_t *header = json_object_get(property, "x-mcp-header");
		json_auto_t *own = json_copy((json_t *)path);

		json_array_append_new(own, json_string(name));
		if (header && (!is_mirrored_name(all, header) ||
		               !is_mirrored_type(json_object_get(property, "type"))))
			return false;
		if (header)
			json_object_set(all, json_string_value(header), own);
		if (!find_mirrored(property, own, all))
			return false;
	}
	return true;
}

bool mcp_modern_mirrored(const json_t *tool, json_t **ret, struct err *err)
{
	json_auto_t *all = json_object();
	json_auto_t *path = json_array();
	const struct span name = utf8_head(json_span(json_object_get(tool, "name")), 80);

	if (!find_mirrored(json_object_get(tool, "inputSchema"), path, all))
		return err_set(err, ERR_TOOL_FAILED,
		               "The tool \"%.*s\" is left out: an x-mcp-header in its schema is no "
		               "name of a header, is there twice or belongs to no text, integer or "
		               "boolean.", (int)name.len, name.data);
	*ret = mem_steal(&all);
	return true;
}

/* ---- headers ---- */

/* Printable ASCII without space at either end, and not what means base64. */
static bool is_plain_header_value(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] < 0x20 || text.data[i] > 0x7e)
			return false;
	return text.len && text.data[0] != ' ' && text.data[text.len - 1] != ' ' &&
	       !(span_starts(text, SPAN("=?base64?")) && span_ends(text, SPAN("?=")));
}

/* "Name: value". The caller frees; NULL: a value that no header repeats. */
static char *header_line(const char *name, const json_t *value)
{
	const struct span text = json_span(value);
	json_auto_t *encoded = NULL;

	if (json_is_boolean(value))
		return mem_printf("%s: %s", name, json_is_true(value) ? "true" : "false");
	if (json_is_integer(value))
		return mem_printf("%s: %lld", name, (long long)json_integer_value(value));
	if (json_is_real(value))
		return mem_printf("%s: %.17g", name, json_real_value(value));
	if (!json_is_string(value))
		return NULL;
	if (is_plain_header_value(text))
		return mem_printf("%s: %.*s", name, (int)text.len, text.data);
	encoded = json_base64(text);
	return mem_printf("%s: =?base64?%s?=", name, json_string_value(encoded));
}

static const json_t *argument_at(const json_t *arguments, const json_t *path)
{
	size_t i;
	json_t *name;

	json_array_foreach((json_t *)path, i, name)
		arguments = json_object_get(arguments, json_string_value(name));
	return arguments;
}

char **mcp_modern_headers(const char *method, const json_t *params, const json_t *mirrored)
{
	char **headers = mem_alloc(4 + json_object_size(mirrored), sizeof(*headers));
	const json_t *arguments = json_object_get(params, "arguments");
	const json_t *name = json_object_get(params, "name");
	const char *header;
	json_t *path;
	size_t n = 0;

	headers[n++] = mem_printf("MCP-Protocol-Version: %s", MCP_MODERN);
	headers[n++] = mem_printf("Mcp-Method: %s", method);
	name = name ? name : json_object_get(params, "uri");
	name = name ? name : json_object_get(params, "taskId");
	if (json_is_string(name))
		headers[n++] = header_line("Mcp-Name", name);
	json_object_foreach((json_t *)mirrored, header, path) {
		_cleanup_free_ char *whole = mem_printf("Mcp-Param-%s", header);

		headers[n] = header_line(whole, argument_at(arguments, path));
		n += headers[n] != NULL;
	}
	return headers;
}

/* ---- results that ask ---- */

bool mcp_modern_task(const json_t *result)
{
	return span_eq(json_span(json_object_get(result, "resultType")), SPAN("task"));
}

bool mcp_modern_result(const json_t *result, const char *server, bool *ret_asks, struct err *err)
{
	const json_t *type = json_object_get(result, "resultType");

	*ret_asks = span_eq(json_span(type), SPAN("input_required"));
	if (!type || *ret_asks || span_eq(json_span(type), SPAN("complete")) ||
	    mcp_modern_task(result))
		return true;
	return err_set(err, ERR_TOOL_FAILED,
	               "The MCP server \"%s\" answered with a type of result that hasp does "
	               "not know.",
	               server);
}
