/* SPDX-License-Identifier: Apache-2.0 */
/* What servers offer besides tools: asked for, limited, made harmless. */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/client/declared.h"

enum {
	INSTRUCTIONS_BYTES = 2 << 10, /* of one server: they are part of every request */
	NAME_BYTES = 100,
	ADDRESS_BYTES = 2000,
	DESCRIPTION_BYTES = 1000,
	CUT_MARK_BYTES = 4,           /* of mcp_clean_text */
};

/* ---- what is kept ---- */

/* Once cut, they stay as they are when they come from the cache. */
static void clean_instructions(json_t *own, const json_t *declared)
{
	json_t *said = json_object_get(declared, "instructions");
	const json_t *had = json_object_get(declared, "instructionsBytes");
	json_auto_t *shown = json_is_string(said) ? json_show_unseen(said, NULL) : NULL;
	const size_t bytes = json_string_length(shown);
	const bool cut = json_is_integer(had) && bytes <= INSTRUCTIONS_BYTES + CUT_MARK_BYTES;

	if (span_is_blank(json_span(shown)))
		return;
	json_object_set_new(own, "instructions",
	                    mcp_clean_text(shown, INSTRUCTIONS_BYTES + (cut ? CUT_MARK_BYTES : 0)));
	if (cut)
		json_object_set(own, "instructionsBytes", (json_t *)had);
	else if (bytes > INSTRUCTIONS_BYTES)
		json_object_set_new(own, "instructionsBytes", json_integer((json_int_t)bytes));
}

/* By names the server knows what is meant: they stay as they are, or are not taken. */
static bool is_kept_name(const json_t *name)
{
	json_auto_t *clean = mcp_clean_text(name, NAME_BYTES);

	return json_string_length(name) && json_equal(clean, name) &&
	       !memchr(json_string_value(name), '\n', json_string_length(name));
}

static void put_clean_text(json_t *own, const char *member, const json_t *declared, size_t max)
{
	json_auto_t *text = mcp_clean_text(json_object_get(declared, member), max);

	if (json_string_length(text))
		json_object_set_new(own, member, json_show_unseen(text, NULL));
}

static json_t *clean_arguments(const json_t *declared)
{
	json_t *list = json_array(), *argument;
	size_t i;

	json_array_foreach((json_t *)declared, i, argument) {
		json_t *name = json_object_get(argument, "name"), *own;

		if (!is_kept_name(name) || json_array_size(list) >= LIMIT_MCP_PROMPT_ARGUMENTS)
			continue;
		own = json_pack("{s:O, s:b}", "name", name, "required",
		                json_is_true(json_object_get(argument, "required")));
		put_clean_text(own, "description", argument, DESCRIPTION_BYTES);
		json_array_append_new(list, own);
	}
	return list;
}

static void clean_prompts(json_t *own, const json_t *declared)
{
	const json_t *said = json_object_get(declared, "prompts");
	json_t *list, *prompt;
	size_t i;

	if (!json_is_array(said))
		return;
	list = json_array();
	json_array_foreach((json_t *)said, i, prompt) {
		json_t *name = json_object_get(prompt, "name"), *kept;

		if (!is_kept_name(name) || json_array_size(list) >= LIMIT_MCP_PROMPTS)
			continue;
		kept = json_pack("{s:O, s:o}", "name", name, "arguments",
		                 clean_arguments(json_object_get(prompt, "arguments")));
		put_clean_text(kept, "title", prompt, NAME_BYTES);
		put_clean_text(kept, "description", prompt, DESCRIPTION_BYTES);
		json_array_append_new(list, kept);
	}
	json_object_set_new(own, "prompts", list);
}

/* The same of an address, or a template of addresses: it is typed, and shown in one line. */
static bool is_kept_address(const json_t *address)
{
	const struct span text = json_span(address);
	json_auto_t *shown = NULL;

	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] <= ' ' || text.data[i] == 0x7f)
			return false;
	if (!text.len || text.len > ADDRESS_BYTES)
		return false;
	shown = json_show_unseen((json_t *)address, NULL);
	return json_equal(shown, address);
}

/* Of a list of resources, or of templates: `member` has the address, and is all that is sure. */
static void clean_resources(json_t *own, const json_t *declared, const char *list,
                            const char *member, size_t most)
{
	const json_t *said = json_object_get(declared, list);
	json_t *all, *one;
	size_t i;

	if (!json_is_array(said))
		return;
	all = json_array();
	json_array_foreach((json_t *)said, i, one) {
		json_t *address = json_object_get(one, member), *kept;

		if (!is_kept_address(address) || json_array_size(all) >= most)
			continue;
		kept = json_pack("{s:O}", member, address);
		put_clean_text(kept, "name", one, NAME_BYTES);
		put_clean_text(kept, "title", one, NAME_BYTES);
		put_clean_text(kept, "description", one, DESCRIPTION_BYTES);
		put_clean_text(kept, "mimeType", one, NAME_BYTES);
		json_array_append_new(all, kept);
	}
	json_object_set_new(own, list, all);
}

json_t *mcp_offers_clean(const json_t *declared)
{
	json_t *own = json_object();

	clean_instructions(own, declared);
	clean_prompts(own, declared);
	clean_resources(own, declared, "resources", "uri", LIMIT_MCP_RESOURCES);
	clean_resources(own, declared, "resourceTemplates", "uriTemplate",
	                LIMIT_MCP_RESOURCE_TEMPLATES);
	return own;
}

/* ---- what a server says ---- */

bool mcp_offers_has(struct mcp_client *client, const char *capability)
{
	const json_t *all = json_object_get(mcp_client_hello(client), "capabilities");

	return json_is_object(json_object_get(all, capability));
}

/* A list that cannot be had is left out. */
static void ask_for_list(struct mcp_client *client, json_t *declared, const char *method,
                         const char *member, size_t most, const struct mcp_wait *wait)
{
	struct err ignored = ERR_INIT;
	json_t *list = NULL;

	if (!mcp_client_lost(client) &&
	    mcp_client_list(client, method, member, most, wait, &list, &ignored))
		json_object_set_new(declared, member, list);
}

json_t *mcp_offers_ask(struct mcp_client *client, const struct mcp_wait *wait)
{
	json_auto_t *declared = json_object();
	json_t *instructions = json_object_get(mcp_client_hello(client), "instructions");

	if (json_is_string(instructions))
		json_object_set(declared, "instructions", instructions);
	if (mcp_offers_has(client, "prompts"))
		ask_for_list(client, declared, "prompts/list", "prompts", LIMIT_MCP_PROMPTS, wait);
	if (mcp_offers_has(client, "resources")) {
		ask_for_list(client, declared, "resources/list", "resources", LIMIT_MCP_RESOURCES,
		             wait);
		ask_for_list(client, declared, "resources/templates/list", "resourceTemplates",
		             LIMIT_MCP_RESOURCE_TEMPLATES, wait);
	}
	return mcp_offers_clean(declared);
}
