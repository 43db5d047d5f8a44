/* SPDX-License-Identifier: Apache-2.0 */
/* Providers that are open, one for each set of workspace roots, shared by all who use it.
 *
 *     struct opened *opened;
 *     if (!opened_get(table, roots, count, &opened, &err))
 *             opened = opened_broken(&err);         // every operation fails with err
 *     session.provider = opened->provider;
 *     ...
 *     opened_put(opened);                           // the last one closes it
 *
 * From any thread.
 */
#ifndef HASP_MCP_OFFER_OPENED_H
#define HASP_MCP_OFFER_OPENED_H

#include "mcp/offer/serve.h"

struct opened_table;

struct opened {
	struct provider *provider;
	size_t recovered; /* crashed transactions that were put right when it was opened */
	size_t uses;      /* from here on: opened.c's own */
	char *name;       /* owned; its roots, in order; NULL: not in the table */
	struct opened_table *table;
	struct opened *next;
};

struct opened_table *opened_table_new(const struct serve_options *options); /* never NULL */
void opened_table_free(struct opened_table *table); /* nothing is in use; NULL is fine */

/* The provider of these roots, opened now if nobody has it; *ret_new (may be NULL) tells. The
 * errors are those of serve_options.open. */
bool opened_get(struct opened_table *table, const char *const *roots, size_t count,
                struct opened **ret, bool *ret_new, struct err *err);
struct opened *opened_ref(struct opened *opened);
void opened_put(struct opened *opened); /* NULL is fine */

/* The name of the sandbox's level; NULL when the workspace could not be opened. */
const char *opened_level(const struct opened *opened);

/* A provider of which every operation fails with this error. */
struct opened *opened_broken(const struct err *why);

#endif
