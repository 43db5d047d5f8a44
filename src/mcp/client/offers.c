/* SPDX-License-Identifier: Apache-2.0 */
/* What servers offer besides tools: asked for, limited, made harmless. */
#include "base/text.h"
#include "data/json.h"
#include "mcp/client/private.h"

enum {
	INSTRUCTIONS_BYTES = 2 << 10, /* of one server: they are part of every request */
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

json_t *mcp_offers_clean(const json_t *declared)
{
	json_t *own = json_object();

	clean_instructions(own, declared);
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

	(void)wait;
	if (json_is_string(instructions))
		json_object_set(declared, "instructions", instructions);
	return mcp_offers_clean(declared);
}
