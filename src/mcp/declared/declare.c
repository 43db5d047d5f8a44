/* SPDX-License-Identifier: Apache-2.0 */
/* What servers declare, made fit for a model: texts, schemas, names. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"

enum {
	DESCRIPTION_BYTES = 4000,
	TITLE_BYTES = 100,
	SCHEMA_DEPTH = 32,
	NAME_BYTES = 63,      /* Gemini CLI's */
	NAME_HEAD = 30,       /* of one that is cut, */
	NAME_HEX = 8,         /* of its hash, */
	NAME_TAIL = 23,       /* and of its end */
	OWN_NAME_BYTES = 256, /* of the server's own name for a tool */
};

/* A schema of which nothing is known; and how one says that it is of an object. */
#define OBJECT_TYPE "\"type\":\"object\""
#define EMPTY_SCHEMA "{" OBJECT_TYPE "}"

/* ---- what a server declares ---- */

static bool is_clean_char(uint32_t code)
{
	return code == '\n' || code == '\t' ||
	       (code >= 0x20 && code != 0x7f && !(code >= 0x80 && code < 0xa0));
}

json_t *mcp_clean_text(const json_t *text, size_t max)
{
	struct span rest = utf8_head(json_span(text), max);
	_cleanup_buf_ struct buf out = BUF_INIT(max + 16);
	const bool cut = rest.len < json_string_length(text);
	struct utf8_char c;

	while (utf8_next(&rest, &c))
		if (is_clean_char(c.code))
			buf_span(&out, c.bytes);
	buf_str(&out, cut ? " ..." : "");
	return json_text(buf_view(&out));
}

static unsigned json_depth(const json_t *value, unsigned most)
{
	unsigned deepest = 0;
	const char *name;
	json_t *child;
	size_t i;

	if (!most)
		return 1;
	json_object_foreach((json_t *)value, name, child) {
		unsigned depth = json_depth(child, most - 1);

		deepest = depth > deepest ? depth : deepest;
	}
	json_array_foreach(value, i, child) {
		unsigned depth = json_depth(child, most - 1);

		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

static bool is_clean_text(const json_t *text)
{
	struct span rest = json_span(text);
	struct utf8_char c;
	bool clean = rest.len <= MCP_SCHEMA_BYTES;

	while (clean && utf8_next(&rest, &c))
		clean = is_clean_char(c.code);
	return clean;
}

/* What a schema says in words, at any depth that was checked; values stay what they are. */
static void clean_words(json_t *schema)
{
	static const char *const words[] = { "title", "description" };
	const char *name;
	json_t *child;
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++) {
		const json_t *text = json_object_get(schema, words[i]);

		if (json_is_string(text) && !is_clean_text(text))
			json_object_set_new(schema, words[i],
			                    mcp_clean_text(text, MCP_SCHEMA_BYTES));
	}
	json_object_foreach(schema, name, child)
		clean_words(child);
	json_array_foreach(schema, i, child)
		clean_words(child);
}

/* Of what is printed: names and texts may have got longer by escapes. */
enum { CLEAN_SCHEMA_BYTES = 9 * MCP_SCHEMA_BYTES };

static json_t *schema_too_large(struct err *err)
{
	err_set(err, ERR_TOO_LARGE, "Its schema is larger than %d bytes.", MCP_SCHEMA_BYTES);
	return NULL;
}

/* As text. Providers want the schema of an object. It is changed where it lies. */
static json_t *clean_schema(json_t *schema, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(MCP_SCHEMA_BYTES);
	_cleanup_buf_ struct buf clean = BUF_INIT(CLEAN_SCHEMA_BYTES);
	json_auto_t *shown = NULL;

	if (!json_is_object(schema))
		return json_string(EMPTY_SCHEMA);
	if (json_depth(schema, SCHEMA_DEPTH + 1) > SCHEMA_DEPTH) {
		err_set(err, ERR_TOO_LARGE, "Its schema is nested deeper than %d levels.",
		        SCHEMA_DEPTH);
		return NULL;
	}
	if (!json_print(&text, schema, 0))
		return schema_too_large(err);
	clean_words(schema);
	if (!span_eq(json_span(json_object_get(schema, "type")), SPAN("object")))
		json_object_set_new(schema, "type", json_string("object"));
	json_object_del(schema, "$schema");
	shown = json_show_unseen(schema, NULL);
	if (!json_print(&clean, shown, 0))
		return schema_too_large(err);
	return json_utf8(buf_view(&clean));
}

static json_t *clean_annotations(const json_t *annotations)
{
	static const char *const hints[] = { "readOnlyHint", "destructiveHint", "idempotentHint",
		                             "openWorldHint" };
	json_t *own = json_object();

	for (size_t i = 0; i < ARRAY_LEN(hints); i++) {
		json_t *hint = json_object_get(annotations, hints[i]);

		if (json_is_boolean(hint))
			json_object_set(own, hints[i], hint);
	}
	return own;
}

static bool is_own_name(const json_t *name)
{
	const struct span text = json_span(name);

	return text.len > 0 && text.len <= OWN_NAME_BYTES && !memchr(text.data, 0, text.len);
}

json_t *mcp_declaration_clean(const json_t *declared, struct err *err)
{
	json_t *title = json_object_get(declared, "title");
	const json_t *annotations = json_object_get(declared, "annotations");
	json_t *schema, *shown;
	json_auto_t *own = NULL;

	if (!is_own_name(json_object_get(declared, "name"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "It has no name that can be used.");
		return NULL;
	}
	schema = clean_schema(json_object_get(declared, "inputSchema"), err);
	if (!schema)
		return NULL;
	if (!json_is_string(title))
		title = json_object_get(annotations, "title");
	own = json_object();
	json_object_set_new(own, "title", mcp_clean_text(title, TITLE_BYTES));
	json_object_set_new(own, "description",
	                    mcp_clean_text(json_object_get(declared, "description"),
	                                   DESCRIPTION_BYTES));
	shown = json_show_unseen(own, NULL);
	json_object_set_new(shown, "inputSchema", schema);
	/* By it the server knows the tool: as it is. */
	json_object_set(shown, "name", json_object_get(declared, "name"));
	json_object_set_new(shown, "annotations", clean_annotations(annotations));
	return shown;
}

json_t *mcp_declaration_schema(const json_t *declaration)
{
	const struct span text = json_span(json_object_get(declaration, "inputSchema"));
	struct err ignored = ERR_INIT;
	json_t *schema;

	if (json_parse(text, &schema, &ignored))
		return schema;
	return json_pack("{s:s}", "type", "object");
}

/* ---- what is known from last time ---- */

/* Text of which cleaning would leave all: the most frequent kind. */
static bool is_settled_text(const json_t *text, size_t max)
{
	const struct span bytes = json_span(text);
	bool plain = json_is_string(text) && bytes.len <= max;

	for (size_t i = 0; plain && i < bytes.len; i++)
		plain = (bytes.data[i] >= 0x20 && bytes.data[i] < 0x7f) || bytes.data[i] == '\n';
	return plain;
}

struct text_scan {
	bool in_string, object;
	int depth, deepest;
};

/* One character of a schema, which stands at `at`; false: it might not be clean. */
static bool scan_schema_char(struct text_scan *scan, const char **at)
{
	const char c = **at;

	if (c < 0x20 || c >= 0x7f)
		return false;
	if (scan->in_string) {
		if (c == '\\' && !strchr("\"\\/nt", *++*at))
			return false;
		scan->in_string = c != '"';
		return **at != '\0';
	}
	scan->in_string = c == '"';
	if (scan->depth == 1 && c == '"' && !strncmp(*at, OBJECT_TYPE, strlen(OBJECT_TYPE)))
		scan->object = true;
	if (c == '{' || c == '[')
		scan->deepest = ++scan->depth > scan->deepest ? scan->depth : scan->deepest;
	else if (c == '}' || c == ']')
		scan->depth--;
	return true;
}

/* The same of a schema as clean_schema makes it. */
static bool is_settled_schema(const json_t *schema)
{
	const char *text = json_string_value(schema);
	struct text_scan scan = { 0 };

	if (!text || *text != '{' || json_string_length(schema) > MCP_SCHEMA_BYTES)
		return false;
	for (const char *at = text; *at; at++)
		if (!scan_schema_char(&scan, &at))
			return false;
	return scan.object && !scan.in_string && !scan.depth && scan.deepest < SCHEMA_DEPTH;
}

json_t *mcp_declaration_recall(json_t *kept, struct err *err)
{
	json_auto_t *annotations = clean_annotations(json_object_get(kept, "annotations"));
	json_auto_t *declared = NULL;

	if (is_own_name(json_object_get(kept, "name")) &&
	    is_settled_text(json_object_get(kept, "title"), TITLE_BYTES) &&
	    is_settled_text(json_object_get(kept, "description"), DESCRIPTION_BYTES) &&
	    is_settled_schema(json_object_get(kept, "inputSchema")) &&
	    json_equal(annotations, json_object_get(kept, "annotations")))
		return json_incref(kept);
	declared = json_is_object(kept) ? json_copy(kept) : json_object();
	if (!json_is_object(json_object_get(declared, "inputSchema")))
		json_object_set_new(declared, "inputSchema", mcp_declaration_schema(kept));
	return mcp_declaration_clean(declared, err);
}

/* ---- names ---- */

/* What stands for a name that is too long, or another tool's: its two ends, and a part of the hash
 * of both names as the server and the settings have them. */
static char *hashed_name(const char *name, const char *server, const char *tool)
{
	_cleanup_free_ char *both = mem_printf("%s\n%s", server, tool);
	const struct sha256 sum = sha256_of(span_str(both));
	const size_t len = strlen(name), tail = len > NAME_HEAD + NAME_TAIL ? NAME_TAIL : 0;
	char hex[SHA256_HEX_SIZE];

	sha256_hex(&sum, hex);
	return mem_printf("%.*s_%.*s%s%s", tail ? NAME_HEAD : NAME_HEAD + NAME_TAIL, name, NAME_HEX,
	                  hex, tail ? "_" : "", name + len - tail);
}

/* With '_' for what a name may not have. */
static char *replaced_name(const char *server, const char *tool, bool plain)
{
	char *name = mem_printf("mcp_%s_%s", server, tool);

	for (char *c = name; *c; c++)
		if (!ascii_is_alnum(*c) && *c != '_' && *c != '-' &&
		    (plain || (*c != '.' && *c != ':')))
			*c = '_';
	return name;
}

char *mcp_declaration_name(const char *server, const char *tool, bool plain)
{
	char *name = replaced_name(server, tool, plain), *cut;

	if (strlen(name) <= NAME_BYTES)
		return name;
	cut = hashed_name(name, server, tool);
	free(name);
	return cut;
}

char *mcp_declaration_other_name(const char *server, const char *tool, bool plain)
{
	_cleanup_free_ char *name = replaced_name(server, tool, plain);

	return hashed_name(name, server, tool);
}
