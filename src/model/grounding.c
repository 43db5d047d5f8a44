/* SPDX-License-Identifier: Apache-2.0 */
#include "model/grounding.h"

#include "data/json.h"

/* Pages of one answer; providers give some ten. */
enum { PAGES_MAX = 200 };

void grounding_release(struct grounding *grounding)
{
	json_decref(grounding->chunks);
	json_decref(grounding->queries);
	*grounding = (struct grounding){ 0 };
}

void grounding_add(struct grounding *grounding, struct span url, struct span title)
{
	const json_t *chunk;
	size_t i;

	if (!url.len || json_array_size(grounding->chunks) >= PAGES_MAX)
		return;
	json_array_foreach(grounding->chunks, i, chunk)
		if (span_eq(url, json_span(json_object_get(json_object_get(chunk, "web"), "uri"))))
			return;
	if (!grounding->chunks)
		grounding->chunks = json_array();
	json_array_append_new(grounding->chunks,
	                      json_pack("{s:{s:o, s:o}}", "web", "uri", json_text(url), "title",
	                                json_text(title)));
}

void grounding_query(struct grounding *grounding, struct span query)
{
	if (!query.len || json_array_size(grounding->queries) >= PAGES_MAX)
		return;
	if (!grounding->queries)
		grounding->queries = json_array();
	json_array_append_new(grounding->queries, json_text(query));
}

void grounding_join(json_t **first, json_t *second)
{
	const char *member;
	json_t *list, *mine;

	if (!*first)
		*first = json_incref(second);
	else
		json_object_foreach(second, member, list) {
			mine = json_object_get(*first, member);
			if (json_is_array(mine) && json_is_array(list))
				json_array_extend(mine, list);
			else if (!mine)
				json_object_set(*first, member, list);
		}
	json_decref(second);
}

json_t *grounding_take(struct grounding *grounding)
{
	json_t *taken;

	if (!grounding->chunks && !grounding->queries)
		return NULL;
	taken = json_object();
	if (grounding->queries)
		json_object_set(taken, "webSearchQueries", grounding->queries);
	if (grounding->chunks)
		json_object_set(taken, "groundingChunks", grounding->chunks);
	grounding_release(grounding);
	return taken;
}
