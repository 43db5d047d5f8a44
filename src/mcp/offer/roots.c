/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mcp/offer/uri.h"

struct roots roots_copy(const char *const *items, size_t count)
{
	struct roots roots = { .items = mem_alloc(count, sizeof(*roots.items)), .count = count };

	for (size_t i = 0; i < count; i++)
		roots.items[i] = mem_strdup(items[i]);
	return roots;
}

void roots_release(struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++)
		free(roots->items[i]);
	free(roots->items);
	*roots = (struct roots){ 0 };
}

bool roots_equal(const struct roots *a, const struct roots *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	return true;
}

bool roots_from_list(const json_t *list, struct roots *ret, struct err *err)
{
	struct roots roots = { .items = mem_alloc(json_array_size(list), sizeof(*roots.items)) };
	struct err why = ERR_INIT;

	for (; roots.count < json_array_size(list); roots.count++) {
		const json_t *root = json_array_get(list, roots.count);
		const char *uri = json_string_value(json_object_get(root, "uri"));

		if (uri_to_path(uri ? uri : "", &roots.items[roots.count], &why))
			continue;
		roots_release(&roots);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The client's workspace root cannot be used: %s", why.message);
	}
	*ret = roots;
	return true;
}
