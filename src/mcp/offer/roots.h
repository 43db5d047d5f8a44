/* SPDX-License-Identifier: Apache-2.0 */
/* A list of workspace roots.  Private to this folder. */
#ifndef HASP_MCP_OFFER_ROOTS_H
#define HASP_MCP_OFFER_ROOTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct roots {
	char **items; /* owned, and what they point to */
	size_t count;
};

struct roots roots_copy(const char *const *items, size_t count);
void roots_release(struct roots *roots);
bool roots_equal(const struct roots *a, const struct roots *b);

/* From the array that roots/list answers with. INVALID_ARGUMENT when one of them is no file: URI
 * of this machine: no other is used then, because relative paths begin at the first. */
bool roots_from_list(const json_t *list, struct roots *ret, struct err *err);

#endif
