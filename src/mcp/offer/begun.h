/* SPDX-License-Identifier: Apache-2.0 */
/* Edits that are begun on the loop's thread, and whose answers it takes, many with one wake-up.
 *
 *     struct begun_edit edit = { .arrived = on_arrival };
 *     begun_add(list, opened, &edit);       // when tool_call_begin has begun it
 *     begun_ready(&edit, here);             // hooks.ready; any thread
 *     ... edit.arrived(&edit, here), on the loop's thread, once: tool_call_end ...
 *
 * What is begun is sent when all that has arrived with it has been looked at.  Everything but
 * begun_ready is for the loop's thread.  Private to this folder.
 */
#ifndef HASP_MCP_OFFER_BEGUN_H
#define HASP_MCP_OFFER_BEGUN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "mcp/offer/opened.h"
#include "net/loop/loop.h"

struct begun_list;

/* Embedded in the caller's object. */
struct begun_edit {
	/* Called once, on any thread, by begun_ready or begun_stop: sees to it that the loop's
	 * thread calls begun_remove soon. `here` as in provider.h. */
	void (*arrived)(struct begun_edit *edit, bool here);
	_Atomic bool told; /* from here on: begun.c's own */
	struct bell *bell;
	struct begun_edit *next, **at;
};

struct begun_list *begun_list_new(struct loop *loop); /* never NULL */
void begun_list_free(struct begun_list *list); /* nothing is begun; NULL is fine */

/* Whether one more may be begun. */
bool begun_has_room(const struct begun_list *list);
void begun_add(struct begun_list *list, struct opened *opened, struct begun_edit *edit);
void begun_ready(struct begun_edit *edit, bool here);
void begun_remove(struct begun_list *list, struct begun_edit *edit);
/* The loop takes nothing any more: all that is begun is to be ended by threads that wait, and no
 * workspace is kept open that nobody uses. */
void begun_stop(struct begun_list *list);

#endif
