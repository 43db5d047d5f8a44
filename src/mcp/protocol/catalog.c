/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/protocol/catalog.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "mcp/protocol/mirrored.h"

struct catalog {
	const struct mcp_offer *offer;
	struct tool_entry *tools; /* owned; in the order of the offer */
	struct idmap names;
	json_t *prompts; /* owned; NULL when none are offered */
	struct buf info; /* serverInfo of the latest version */
};

static json_t *parsed(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;

	json_parse(span_str(text), &value, &err);
	assert(value); /* an offer is made of JSON */
	return value;
}

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, json_cstr(text));
}

static void set_parsed(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, parsed(text));
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

	set_text(object, "name", tool->name);
	set_text(object, "title", shape >= TOOL_TITLED ? tool->title : NULL);
	set_text(object, "description", tool->description);
	json_object_set(object, "inputSchema", schema);
	set_parsed(object, "outputSchema", shape >= TOOL_WHOLE ? tool->output_schema : NULL);
	set_parsed(object, "annotations", shape >= TOOL_ANNOTATED ? tool->annotations : NULL);
	return printed(object);
}

static void add_tool(struct catalog *catalog, struct tool_entry *entry, const struct mcp_tool *tool)
{
	entry->tool = tool;
	entry->schema = parsed(tool->input_schema);
	for (enum tool_shape shape = 0; shape < TOOL_SHAPES; shape++)
		entry->text[shape] = tool_text(tool, entry->schema, shape);
	mirrored_find(entry->schema, &entry->mirrored, &entry->mirrored_count);
	assert(!idmap_find(&catalog->names, span_str(tool->name)));
	idmap_add(&catalog->names, &entry->entry, span_str(tool->name));
}

static json_t *implementation(const struct mcp_offer *offer, const struct version *version)
{
	json_t *info = json_object();

	set_text(info, "name", offer->name);
	set_text(info, "title", version->titles ? offer->title : NULL);
	set_text(info, "version", offer->version);
	set_text(info, "websiteUrl", version->website ? offer->website : NULL);
	return info;
}

struct catalog *catalog_new(const struct mcp_offer *offer, uint64_t key)
{
	struct catalog *catalog = mem_alloc(1, sizeof(*catalog));
	json_t *info = implementation(offer, version_latest(/* stateless= */ true));

	catalog->offer = offer;
	catalog->tools = mem_alloc(offer->tool_count + 1, sizeof(*catalog->tools));
	idmap_init(&catalog->names, key);
	for (size_t i = 0; i < offer->tool_count; i++)
		add_tool(catalog, &catalog->tools[i], &offer->tools[i]);
	catalog->prompts = offer->prompts ? parsed(offer->prompts) : NULL;
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
	return refuse(refusal, RPC_INVALID_PARAMS,
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

	set_text(result, "protocolVersion", version->name);
	json_object_set_new(result, "capabilities", capabilities(catalog, version));
	json_object_set_new(result, "serverInfo", implementation(catalog->offer, version));
	set_text(result, "instructions", catalog->offer->instructions);
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
	set_text(result, "instructions", catalog->offer->instructions);
	json_print(out, result, 0);
	json_decref(result);
}
