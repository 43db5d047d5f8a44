/* SPDX-License-Identifier: Apache-2.0 */
/* What the user's files and servers bring as commands: custom commands, skills, prompts of MCP
 * servers. */
#include <stdlib.h>

#include "base/mem.h"
#include "front/command/private.h"

static void offers_load(const struct command_context *context, bool wait, struct slash_offers *ret)
{
	*ret = (struct slash_offers){ 0 };
	custom_offers_add(context, ret);
	skill_offers_add(context, ret);
	prompt_offers_add(context, wait, ret);
	offers_name(ret);
}

void brought_each(const struct command_context *context, offer_one *one, void *data)
{
	struct slash_offers offers;

	offers_load(context, /* wait= */ false, &offers);
	for (size_t i = 0; i < offers.count; i++) {
		struct slash_offer *offer = &offers.at[i];

		if (offer->called && (!offer->custom || custom_offer_describe(context, offer)))
			one(data, offer->called, offer->about, offer->from);
	}
	offers_release(&offers);
}

enum brought_kind brought_kind_of(const struct command_context *context, struct span name)
{
	enum brought_kind kind = BROUGHT_NONE;
	_cleanup_free_ char *several = NULL;
	const struct slash_offer *found;
	struct slash_offers offers;

	if (!name.len || command_name_taken_by_row(name))
		return BROUGHT_NONE;
	offers_load(context, /* wait= */ false, &offers);
	found = offer_find(&offers, name, &several);
	if (several)
		kind = BROUGHT_FILE;
	else if (found)
		kind = found->prompt ? BROUGHT_PROMPT : BROUGHT_FILE;
	offers_release(&offers);
	return kind;
}

json_t *brought_prompt(const struct command_context *context, struct span name)
{
	const struct slash_offer *found;
	struct slash_offers offers;
	json_t *prompt;

	if (!context->host)
		return NULL;
	offers_load(context, /* wait= */ false, &offers);
	found = offer_find(&offers, name, NULL);
	prompt = found ? json_incref(found->prompt) : NULL;
	offers_release(&offers);
	return prompt;
}

/* Whether there is something of this name to run, or several. */
static bool run_loaded(struct command_call *call, struct span name, struct span line, bool wait)
{
	_cleanup_free_ char *several = NULL;
	const struct slash_offer *found;
	struct slash_offers offers;

	offers_load(call->context, wait, &offers);
	found = offer_find(&offers, name, &several);
	if (found)
		found->run(call, found, line);
	else if (several)
		command_fail(call, "Several commands are called /%.*s: %s.", (int)name.len,
		             name.data, several);
	offers_release(&offers);
	return found || several;
}

bool brought_run(struct command_call *call, struct span name, struct span line)
{
	if (!name.len || command_name_taken_by_row(name))
		return false;
	return run_loaded(call, name, line, /* wait= */ false) ||
	       (call->context->waits && run_loaded(call, name, line, /* wait= */ true));
}
