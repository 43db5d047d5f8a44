/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about one file run one after the other, in the order in which they arrived; calls
 * about different files do not wait for each other.
 *
 *     struct turn turn = { .go = run_it };
 *     turns_take(turns, &turn, keys, count);   // calls go now, or when those before are done
 *     ...
 *     turns_done(turns, &turn);                // lets the next ones go
 *
 * No thread waits: a turn that cannot begin lies in a queue.  A turn with several keys begins
 * when it is the first in all their queues; as it enters them in one step, no two turns can
 * wait for each other.  Keys are any text; the caller makes equal what belongs together.
 */
#ifndef HASP_MCP_OFFER_TURNS_H
#define HASP_MCP_OFFER_TURNS_H

#include <stdbool.h>
#include <stddef.h>

struct turns;

/* Embedded in the caller's object, which must live until turns_done has returned. */
struct turn {
	/* Called once, without a lock, by turns_take or by another turn's turns_done on
	 * whatever thread that is: must be quick. */
	void (*go)(struct turn *turn);
	struct turn_place *places; /* from here on: turns' own */
	size_t place_count;
	size_t waits;              /* keys in whose queues others are before it */
	struct turn *next;
};

struct turns *turns_new(void); /* never NULL */
void turns_free(struct turns *turns); /* all turns are done; NULL is fine */

/* Keys may repeat; none: it goes at once. */
void turns_take(struct turns *turns, struct turn *turn, const char *const *keys, size_t count);
void turns_done(struct turns *turns, struct turn *turn);
/* Whether somebody has, or waits for, a turn with this key; or with any key. */
bool turns_busy(struct turns *turns, const char *key);
bool turns_any(struct turns *turns);

#endif
