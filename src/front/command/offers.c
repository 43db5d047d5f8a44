/* SPDX-License-Identifier: Apache-2.0 */
/* A list of what the user's files and servers offer as commands, and under which names
 * (catalog/names.h). */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "front/command/private.h"

void offer_add(struct slash_offers *offers, const struct slash_offer *offer)
{
	offers->at = mem_grow(offers->at, &offers->cap, offers->count + 1, sizeof(*offers->at));
	offers->at[offers->count] = *offer;
	offers->at[offers->count].place = offers->count;
	offers->count++;
}

static int offers_compare(const void *a, const void *b)
{
	const struct slash_offer *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

void offers_name(struct slash_offers *offers)
{
	if (offers->count)
		qsort(offers->at, offers->count, sizeof(*offers->at), offers_compare);
	offers->names = mem_alloc(offers->count + 1, sizeof(*offers->names));
	for (size_t i = 0; i < offers->count; i++)
		offers->names[i] = (struct catalog_name){ .name = offers->at[i].name,
			                                  .owner = offers->at[i].owner,
			                                  .kind = offers->at[i].kind,
			                                  .of = offers->at[i].of };
	catalog_names_set(offers->names, offers->count, command_name_taken_by_row);
	for (size_t i = 0; i < offers->count; i++)
		offers->at[i].called = offers->names[i].called;
}

void offers_release(struct slash_offers *offers)
{
	for (size_t i = 0; i < offers->count; i++) {
		struct slash_offer *offer = &offers->at[i];

		free(offer->name);
		free(offer->owner);
		free(offer->target);
		free(offer->about);
		free(offer->from);
		json_decref(offer->prompt);
	}
	if (offers->names)
		catalog_names_release(offers->names, offers->count);
	free(offers->names);
	free(offers->at);
	commands_release(&offers->customs);
	*offers = (struct slash_offers){ 0 };
}

/* One of Claude Code's commands by the last part of its name, "fix" of "git:fix". */
static const struct slash_offer *find_by_last_part(const struct slash_offers *offers,
                                                   struct span name, struct buf *several)
{
	const struct slash_offer *found = NULL;

	for (size_t i = 0; i < offers->count; i++) {
		const struct slash_offer *one = &offers->at[i];
		const char *last = one->custom && commands_is_markdown(one->custom) ?
		                   strrchr(one->name, ':') : NULL;

		if (!last || !one->called || !command_word_is(name, last + 1))
			continue;
		if (!found) {
			found = one;
			continue;
		}
		if (!several->len)
			buf_str(several, found->called);
		buf_printf(several, ", %s", one->called);
	}
	return several->len ? NULL : found;
}

const struct slash_offer *offer_find(const struct slash_offers *offers, struct span name,
                                     char **ret_several)
{
	_cleanup_buf_ struct buf several = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const struct catalog_name *found = catalog_names_find(offers->names, offers->count, name,
	                                                      &several);
	const struct slash_offer *offer = found ? &offers->at[found - offers->names] : NULL;

	if (!offer && !several.len)
		offer = find_by_last_part(offers, name, &several);
	if (ret_several && !offer && several.len)
		*ret_several = mem_dup(several.data, several.len);
	return offer;
}
