/* SPDX-License-Identifier: Apache-2.0 */
/* What servers offer besides tools: asked for, limited, made harmless. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/client.h"
#include "mcp/declared/declared.h"

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

/* NULL: it cannot be used. */
static json_t *clean_prompt(const json_t *prompt)
{
	json_t *name = json_object_get(prompt, "name");

	return is_kept_name(name) ?
	               json_pack("{s:O, s:o}", "name", name, "arguments",
	                         clean_arguments(json_object_get(prompt, "arguments"))) :
	               NULL;
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

static json_t *clean_addressed(const json_t *declared, const char *member)
{
	json_t *address = json_object_get(declared, member);

	return is_kept_address(address) ? json_pack("{s:O}", member, address) : NULL;
}

static json_t *clean_resource(const json_t *declared)
{
	return clean_addressed(declared, "uri");
}

static json_t *clean_template(const json_t *declared)
{
	return clean_addressed(declared, "uriTemplate");
}

/* What is kept of one item of a list, a new object; NULL: nothing.  Tools are not offers. */
static json_t *(*const clean_item[MCP_LISTS])(const json_t *declared) = {
	[MCP_PROMPTS] = clean_prompt,
	[MCP_RESOURCES] = clean_resource,
	[MCP_TEMPLATES] = clean_template,
};

/* Texts that any item may have, with their limits; a name that identifies it stays as it is. */
static void put_item_texts(json_t *own, const json_t *declared)
{
	static const struct {
		const char *member;
		size_t max;
	} texts[] = {
		{ "name", NAME_BYTES },
		{ "title", NAME_BYTES },
		{ "description", DESCRIPTION_BYTES },
		{ "mimeType", NAME_BYTES },
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (!json_object_get(own, texts[i].member))
			put_clean_text(own, texts[i].member, declared, texts[i].max);
}

static void clean_list(json_t *own, const json_t *declared, enum mcp_list which)
{
	json_t *said = json_object_get(declared, mcp_lists[which].member), *all, *one;
	size_t i;

	if (!json_is_array(said))
		return;
	all = json_array();
	json_array_foreach(said, i, one) {
		json_t *kept = json_array_size(all) < mcp_lists[which].most ?
		                       clean_item[which](one) : NULL;

		if (!kept)
			continue;
		put_item_texts(kept, one);
		json_array_append_new(all, kept);
	}
	json_object_set_new(own, mcp_lists[which].member, all);
}

json_t *mcp_offers_clean(const json_t *declared)
{
	json_t *own = json_object();

	clean_instructions(own, declared);
	for (unsigned i = 0; i < MCP_LISTS; i++)
		if (clean_item[i])
			clean_list(own, declared, i);
	return own;
}

/* ---- what a server says ---- */

bool mcp_offers_has(struct mcp_client *client, const char *capability)
{
	const json_t *all = json_object_get(mcp_client_hello(client), "capabilities");

	return json_is_object(json_object_get(all, capability));
}

json_t *mcp_offers_ask(struct mcp_client *client, const struct mcp_wait *wait)
{
	json_auto_t *declared = json_object();
	json_t *instructions = json_object_get(mcp_client_hello(client), "instructions");

	if (json_is_string(instructions))
		json_object_set(declared, "instructions", instructions);
	for (unsigned i = 0; i < MCP_LISTS; i++) {
		struct err ignored = ERR_INIT;
		json_t *list = NULL;

		/* A list that cannot be fetched is left out. */
		if (clean_item[i] && mcp_offers_has(client, mcp_lists[i].capability) &&
		    !mcp_client_lost(client) && mcp_client_list(client, i, wait, &list, &ignored))
			json_object_set_new(declared, mcp_lists[i].member, list);
	}
	return mcp_offers_clean(declared);
}
