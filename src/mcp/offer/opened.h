/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces that are open, and the files in them that clients have subscribed to (opened.c). */
#ifndef HASP_MCP_OFFER_OPENED_H
#define HASP_MCP_OFFER_OPENED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "mcp/offer/serve.h"

/* ---- workspaces -------------------------------------------------------------- */

/* Providers that are open, one for each set of workspace roots, shared by all who use it.
 *
 *     struct opened_workspace *opened;
 *     if (!opened_get(table, roots, count, &opened, &err))
 *             opened = opened_broken(&err);         // every operation fails with err
 *     session.provider = opened->provider;
 *     ...
 *     opened_put(opened);                           // the last one closes it
 *
 * From any thread.
 */

struct opened_table;
struct turns;

struct opened_workspace {
	struct provider *provider;
	size_t recovered; /* crashed transactions that were put right when it was opened */
	size_t uses;      /* from here on: opened.c's own */
	char *name;       /* owned; its roots, in order; NULL: not in the table */
	struct opened_table *table;
	struct opened_workspace *next;
};

struct opened_table *opened_table_new(const struct serve_options *options); /* never NULL */
void opened_table_free(struct opened_table *table); /* nothing is in use; NULL is fine */

/* The provider of these roots, opened now if it is not open; *ret_new (may be NULL) says whether.
 * The errors are those of serve_options.open. */
bool opened_get(struct opened_table *table, const char *const *roots, size_t count,
                struct opened_workspace **ret, bool *ret_new, struct err *err);
struct opened_workspace *opened_ref(struct opened_workspace *opened);
void opened_put(struct opened_workspace *opened); /* NULL is fine */

/* The name of the sandbox's level; NULL when the workspace could not be opened. */
const char *opened_level(const struct opened_workspace *opened);

/* A provider of which every operation fails with this error. */
struct opened_workspace *opened_broken(const struct err *why);

/* ---- watches ----------------------------------------------------------------- */

/* Files that clients have subscribed to.  Private to this folder; on the loop's thread.
 *
 * Clients with one workspace share the watch of a file, so that each of them gets a change once.
 */

struct watches;
struct watched_file; /* one file, for one client */

struct watches *offer_watches_new(void); /* never NULL */
void offer_watches_free(struct watches *watches); /* nothing is watched any more; NULL is fine */

/* Adds the file to a client's list (`list` points to its head). The errors of a path that
 * cannot be had, or of the provider. */
bool offer_watches_add(struct watches *watches, struct mcp_server *server,
                       struct opened_workspace *opened, const char *uri, struct watched_file **list,
                       struct err *err);
/* Takes it off again; nothing happens if it is not there. */
void offer_watches_remove(struct watched_file **list, const char *uri);
void offer_watches_clear(struct watched_file **list);

#endif
