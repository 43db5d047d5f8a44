/* SPDX-License-Identifier: Apache-2.0 */
/* What is offered, as lists that clients get, and arguments that HTTP headers repeat. */
#include "mcp/protocol/catalog.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/protocol/private.h"

/* ---- arguments in headers ---------------------------------------------------- */

enum { SCHEMA_DEPTH = 16, VALUE_BYTES = 64 << 10 };

/* Finding the arguments. */

struct catalog_search {
	const char *path[SCHEMA_DEPTH];
	size_t depth;
	struct mirrored *found;
	size_t count, cap;
};

/* The characters of a field name: RFC 9110, section 5.6.2. */
static bool is_token(struct span text)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		                    (c >= 'A' && c <= 'Z');

		if (!alphanumeric && !(c && strchr(others, c)))
			return false;
	}
	return text.len > 0;
}

static bool is_mirrored(const json_t *property)
{
	struct span type = json_span(json_object_get(property, "type"));

	return is_token(json_span(json_object_get(property, "x-mcp-header"))) &&
	       (span_eq(type, SPAN("string")) || span_eq(type, SPAN("integer")) ||
	        span_eq(type, SPAN("boolean")));
}

static void mirrored_add(struct catalog_search *search, const char *name)
{
	struct mirrored *found;

	if (search->count == search->cap)
		search->found = mem_grow(search->found, &search->cap, search->count + 1,
		                         sizeof(*search->found));
	found = &search->found[search->count++];
	found->header = mem_printf("Mcp-Param-%s", name);
	found->path = mem_alloc(search->depth, sizeof(*found->path));
	found->depth = search->depth;
	memcpy(found->path, search->path, search->depth * sizeof(*found->path));
}

static void mirrored_search(struct catalog_search *search, const json_t *schema)
{
	const char *name;
	json_t *property;

	if (search->depth == SCHEMA_DEPTH)
		return;
	search->depth++;
	json_object_foreach(json_object_get(schema, "properties"), name, property) {
		search->path[search->depth - 1] = name;
		if (is_mirrored(property))
			mirrored_add(search,
			             json_string_value(json_object_get(property, "x-mcp-header")));
		else
			mirrored_search(search, property);
	}
	search->depth--;
}

/* The arguments whose schema has a valid x-mcp-header; `*ret` is freed with mirrored_free. */
static void mirrored_find(const json_t *schema, struct mirrored **ret, size_t *ret_count)
{
	struct catalog_search search = { .depth = 0 };

	mirrored_search(&search, schema);
	*ret = search.found;
	*ret_count = search.count;
}

static void mirrored_free(struct mirrored *mirrored, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(mirrored[i].header);
		free(mirrored[i].path);
	}
	free(mirrored);
}

/* Checking a request. */

static struct span header_of(const struct mcp_call *call, const char *name)
{
	const struct mcp_wire *wire = &call->peer->wire;
	const char *value = wire->header(call->peer->wire_data, call->exchange, name);

	return value ? span_trim(span_str(value)) : span_of(NULL, 0);
}

static bool has_headers(const struct mcp_call *call)
{
	return call->peer->wire.header && call->exchange;
}

/* The value that a header stands for: plain, or =?base64?...?=. */
static bool decode_header(struct span text, struct buf *out)
{
	struct span prefix = SPAN("=?base64?"), suffix = SPAN("?=");

	if (text.len >= prefix.len + suffix.len && span_starts(text, prefix) &&
	    span_ends(text, suffix))
		return json_base64_read(span_of(text.data + prefix.len,
		                             text.len - prefix.len - suffix.len), out);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] != '\t' && (text.data[i] < ' ' || text.data[i] > '~'))
			return false;
	}
	return buf_span(out, text);
}

static bool mismatch(struct refusal *refusal, const char *header, struct span is,
                     struct span wanted)
{
	return mcp_refuse(refusal, MCP_HEADER_MISMATCH,
	                  "Header mismatch: %s is \"%.*s\", the body says \"%.*s\".", header,
	                  (int)span_head(is, 80).len, is.data ? is.data : "",
	                  (int)utf8_head(wanted, 80).len, wanted.data ? wanted.data : "");
}

static bool missing(struct refusal *refusal, const char *header)
{
	return mcp_refuse(refusal, MCP_HEADER_MISMATCH,
	                  "Header mismatch: the request has no %s header.", header);
}

/* A header whose value is taken literally. */
static bool check_plain_header(const struct mcp_call *call, const char *header, const char *wanted,
                               struct refusal *refusal)
{
	struct span is = header_of(call, header);

	if (!is.data)
		return missing(refusal, header);
	return span_eq(is, span_str(wanted)) || mismatch(refusal, header, is, span_str(wanted));
}

bool catalog_check_version(const struct mcp_call *call, const char *version,
                           struct refusal *refusal)
{
	return !has_headers(call) ||
	       check_plain_header(call, "MCP-Protocol-Version", version, refusal);
}

bool catalog_check_method(const struct mcp_call *call, struct refusal *refusal)
{
	return !has_headers(call) ||
	       check_plain_header(call, "Mcp-Method", call->message.method, refusal);
}

/* 42 and 42.0 are the same integer. */
static bool same_number(struct span text, json_int_t wanted)
{
	_cleanup_free_ char *copy = mem_dup(text.data, text.len);
	char *end;
	double value;

	errno = 0;
	value = strtod(copy, &end);
	return end != copy && !*end && !errno && isfinite(value) && value == (double)wanted;
}

static bool same_value(struct span text, const json_t *wanted)
{
	switch (json_typeof(wanted)) {
	case JSON_STRING:
		return span_eq(text, json_span(wanted));
	case JSON_INTEGER:
		return same_number(text, json_integer_value(wanted));
	case JSON_TRUE:
		return span_eq(text, SPAN("true"));
	case JSON_FALSE:
		return span_eq(text, SPAN("false"));
	default:
		return true; /* not what the schema says: the tool reports it */
	}
}

static bool check_encoded_header(const struct mcp_call *call, const char *header,
                                 const json_t *wanted,
                                 struct refusal *refusal)
{
	_cleanup_buf_ struct buf decoded = BUF_INIT(VALUE_BYTES);
	struct span is = header_of(call, header);

	if (!is.data)
		return missing(refusal, header);
	if (!decode_header(is, &decoded))
		return mcp_refuse(refusal, MCP_HEADER_MISMATCH,
		                  "Header mismatch: the value of %s is malformed.", header);
	if (!same_value(buf_from(&decoded, 0), wanted))
		return mismatch(refusal, header, is, json_span(wanted));
	return true;
}

bool catalog_check_name(const struct mcp_call *call, const char *name, struct refusal *refusal)
{
	json_t *wanted;
	bool same;

	if (!has_headers(call) || !name)
		return true;
	wanted = json_cstr(name);
	same = check_encoded_header(call, "Mcp-Name", wanted, refusal);
	json_decref(wanted);
	return same;
}

static const json_t *value_at(const json_t *arguments, const struct mirrored *mirrored)
{
	for (size_t i = 0; i < mirrored->depth; i++)
		arguments = json_object_get(arguments, mirrored->path[i]);
	return json_is_null(arguments) ? NULL : arguments;
}

bool catalog_check_arguments(const struct mcp_call *call, const struct tool_entry *tool,
                             struct refusal *refusal)
{
	for (size_t i = 0; has_headers(call) && i < tool->mirrored_count; i++) {
		const struct mirrored *mirrored = &tool->mirrored[i];
		const json_t *value = value_at(call->arguments, mirrored);

		if (value && !check_encoded_header(call, mirrored->header, value, refusal))
			return false;
		if (!value && header_of(call, mirrored->header).data)
			return mcp_refuse(refusal, MCP_HEADER_MISMATCH,
			                  "Header mismatch: %s has a value, the body has none.",
			                  mirrored->header);
	}
	return true;
}

/* ---- lists ------------------------------------------------------------------- */

struct catalog {
	const struct mcp_offer *offer;
	struct tool_entry *tools; /* owned; in the order of the offer */
	struct idmap names;
	json_t *prompts; /* owned; NULL when none are offered */
	struct buf info; /* serverInfo of the latest version */
};

static json_t *parse_offered(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	json_parse(span_str(text), &value, &err);
	assert(value); /* an offer is made of JSON */
	return value;
}

static void set_optional_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, json_cstr(text));
}

static void set_optional_json(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, parse_offered(text));
}

static char *printed(json_t *owned)
{
	struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&out, owned, 0);
	json_decref(owned);
	return buf_steal(&out);
}

static char *tool_text(const struct mcp_tool *tool, json_t *schema, enum tool_shape shape)
{
	json_t *object = json_object();

	set_optional_text(object, "name", tool->name);
	set_optional_text(object, "title", shape >= TOOL_TITLED ? tool->title : NULL);
	set_optional_text(object, "description", tool->description);
	json_object_set(object, "inputSchema", schema);
	set_optional_json(object, "outputSchema", shape >= TOOL_WHOLE ? tool->output_schema : NULL);
	set_optional_json(object, "annotations", shape >= TOOL_ANNOTATED ? tool->annotations :
	                  NULL);
	return printed(object);
}

static void add_tool(struct catalog *catalog, struct tool_entry *entry, const struct mcp_tool *tool)
{
	entry->tool = tool;
	entry->schema = parse_offered(tool->input_schema);
	for (enum tool_shape shape = 0; shape < TOOL_SHAPES; shape++)
		entry->text[shape] = tool_text(tool, entry->schema, shape);
	mirrored_find(entry->schema, &entry->mirrored, &entry->mirrored_count);
	assert(!idmap_find(&catalog->names, span_str(tool->name)));
	idmap_add(&catalog->names, &entry->entry, span_str(tool->name));
}

static json_t *implementation(const struct mcp_offer *offer, const struct version *version)
{
	json_t *info = json_object();

	set_optional_text(info, "name", offer->name);
	set_optional_text(info, "title", version->titles ? offer->title : NULL);
	set_optional_text(info, "version", offer->version);
	set_optional_text(info, "websiteUrl", version->website ? offer->website : NULL);
	return info;
}

struct catalog *catalog_new(const struct mcp_offer *offer, uint64_t key)
{
	struct catalog *catalog = mem_alloc(1, sizeof(*catalog));
	json_t *info = implementation(offer, version_latest_stateless());

	catalog->offer = offer;
	catalog->tools = mem_alloc(offer->tool_count + 1, sizeof(*catalog->tools));
	idmap_init(&catalog->names, key);
	for (size_t i = 0; i < offer->tool_count; i++)
		add_tool(catalog, &catalog->tools[i], &offer->tools[i]);
	catalog->prompts = offer->prompts ? parse_offered(offer->prompts) : NULL;
	catalog->info.max = LIMIT_RESULT_BYTES;
	json_print(&catalog->info, info, 0);
	json_decref(info);
	return catalog;
}

void catalog_free(struct catalog *catalog)
{
	for (size_t i = 0; i < catalog->offer->tool_count; i++) {
		struct tool_entry *entry = &catalog->tools[i];

		for (enum tool_shape shape = 0; shape < TOOL_SHAPES; shape++)
			free(entry->text[shape]);
		mirrored_free(entry->mirrored, entry->mirrored_count);
		json_decref(entry->schema);
	}
	free(catalog->tools);
	idmap_release(&catalog->names);
	json_decref(catalog->prompts);
	buf_release(&catalog->info);
	free(catalog);
}

const struct tool_entry *catalog_tool(const struct catalog *catalog, const char *name)
{
	/* The entry is the first member. */
	return (const struct tool_entry *)idmap_find(&catalog->names, span_str(name));
}

const json_t *catalog_prompt(const struct catalog *catalog, const char *name)
{
	const json_t *prompt;
	size_t i;

	json_array_foreach(catalog->prompts, i, prompt) {
		if (span_eq(json_span(json_object_get(prompt, "name")), span_str(name)))
			return prompt;
	}
	return NULL;
}

struct span catalog_server_info(const struct catalog *catalog)
{
	return buf_view(&catalog->info);
}

/* A cursor says how many tools came before: "after-20". */
static bool page_start(const struct catalog *catalog, const char *cursor, size_t *ret,
                       struct refusal *refusal)
{
	unsigned page = catalog->offer->page_size;
	char again[32];
	size_t start;

	*ret = 0;
	if (!cursor)
		return true;
	for (start = page; page && start < catalog->offer->tool_count; start += page) {
		snprintf(again, sizeof(again), "after-%zu", start);
		if (strcmp(again, cursor) == 0) {
			*ret = start;
			return true;
		}
	}
	return mcp_refuse(refusal, RPC_INVALID_PARAMS,
	                  "params.cursor is none that this server has given out.");
}

bool catalog_list_tools(const struct catalog *catalog, const struct version *version,
                        const struct catalog_page *asked, struct buf *out, struct refusal *refusal)
{
	bool whole = asked->output_schemas || !catalog->offer->output_schemas_asked;
	enum tool_shape shape = whole || version->tools < TOOL_WHOLE ? version->tools : TOOL_TITLED;
	size_t count = catalog->offer->tool_count;
	unsigned page = catalog->offer->page_size;
	size_t start, end;

	if (!page_start(catalog, asked->cursor, &start, refusal))
		return false;
	end = page && count - start > page ? start + page : count;
	buf_str(out, "{\"tools\":[");
	for (size_t i = start; i < end; i++) {
		if (i > start)
			buf_char(out, ',');
		buf_str(out, catalog->tools[i].text[shape]);
	}
	buf_char(out, ']');
	if (end < count)
		buf_printf(out, ",\"nextCursor\":\"after-%zu\"", end);
	return buf_char(out, '}');
}

void catalog_list_prompts(const struct catalog *catalog, struct buf *out)
{
	buf_str(out, "{\"prompts\":");
	json_print(out, catalog->prompts, 0);
	buf_char(out, '}');
}

static json_t *capabilities(const struct catalog *catalog, const struct version *version)
{
	const struct mcp_offer *offer = catalog->offer;
	json_t *all = json_object();

	json_object_set_new(all, "logging", json_object());
	if (offer->tools)
		json_object_set_new(all, "tools", json_object());
	if (offer->prompts)
		json_object_set_new(all, "prompts", json_object());
	if (offer->complete && version->completions)
		json_object_set_new(all, "completions", json_object());
	if (offer->read_resource) {
		json_t *resources = json_object();

		if (!offer->no_list_changes)
			json_object_set_new(resources, "listChanged", json_true());
		if (offer->subscribe)
			json_object_set_new(resources, "subscribe", json_true());
		json_object_set_new(all, "resources", resources);
	}
	return all;
}

void catalog_initialize(const struct catalog *catalog, const struct version *version,
                        struct buf *out)
{
	json_t *result = json_object();

	set_optional_text(result, "protocolVersion", version->name);
	json_object_set_new(result, "capabilities", capabilities(catalog, version));
	json_object_set_new(result, "serverInfo", implementation(catalog->offer, version));
	set_optional_text(result, "instructions", catalog->offer->instructions);
	json_print(out, result, 0);
	json_decref(result);
}

void catalog_discover(const struct catalog *catalog, const struct version *version,
                      struct buf *out)
{
	json_t *result = json_object();
	json_t *versions = json_array();

	for (size_t i = 0; version_at(i); i++)
		json_array_append_new(versions, json_cstr(version_at(i)->name));
	json_object_set_new(result, "supportedVersions", versions);
	json_object_set_new(result, "capabilities", capabilities(catalog, version));
	set_optional_text(result, "instructions", catalog->offer->instructions);
	json_print(out, result, 0);
	json_decref(result);
}
