/* SPDX-License-Identifier: Apache-2.0 */
/* What a call of a tool goes through: the order of those about one file (turns.c), edits in flight
 * on the loop's thread (call.c), and the conversion of its result (result.c). */
#ifndef HASP_MCP_OFFER_CALLS_H
#define HASP_MCP_OFFER_CALLS_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "mcp/offer/serve.h"
#include "net/loop/loop.h"

/* ---- calls about one file ---------------------------------------------------- */

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

/* Keys may repeat; without any it runs immediately. */
void turns_take(struct turns *turns, struct turn *turn, const char *const *keys, size_t count);
void turns_done(struct turns *turns, struct turn *turn);
/* Whether a call has, or waits for, a turn with this key; or with any key. */
bool turns_busy(struct turns *turns, const char *key);
bool turns_any(struct turns *turns);

/* ---- edits in flight --------------------------------------------------------- */

/* Edits that the loop's thread starts, and whose answers it takes, many with one wake-up.
 *
 *     struct edit_in_flight edit = { .arrived = on_arrival };
 *     started_add(list, opened, &edit);     // after tool_call_begin
 *     started_ready(&edit, here);           // hooks.ready; any thread
 *     ... edit.arrived(&edit, here), on the loop's thread, once: tool_call_end ...
 *
 * Edits are sent after everything that arrived with them has been processed.  Only started_ready
 * may be called on other threads.
 */

struct started_edits;

/* Embedded in the caller's object. */
struct edit_in_flight {
	/* Called once, on any thread, by started_ready or call_started_stop: has the loop's thread
	 * call started_remove soon. `here` as in provider.h. */
	void (*arrived)(struct edit_in_flight *edit, bool here);
	_Atomic bool reported; /* from here on: call.c's own */
	struct edit_batch *batch;
	struct edit_in_flight *next, **at;
};

struct started_edits *call_started_new(struct loop *loop); /* never NULL */
void call_started_free(struct started_edits *list); /* none is in flight; NULL is fine */

/* The loop is stopping: threads that wait finish the edits in flight, and unused workspaces are
 * closed. */
void call_started_stop(struct started_edits *list);

/* ---- results ----------------------------------------------------------------- */

/* From a tool's result to the result of tools/call.
 *
 * The JSON is printed once: it is structuredContent as it stands, and the text of the first
 * content block with escapes (which the specification asks for, for older clients).  A list is
 * wrapped in an object, {"files": [...]}, because structuredContent is an object.  Media
 * (the member `data` of a file) move from the JSON to separate blocks: image, audio, or an embedded
 * resource.
 *
 * Budget.  Which copy a model gets is the client's choice: some show it the text, some
 * structuredContent where it is there, some both.  A long member that stood in one copy alone
 * would be missing for the others, and structuredContent must fit the outputSchema and the text
 * be the same JSON.  So both copies are the same answer, made to fit half of the budget each.
 */

/* Tokens of one copy, of serve_options.answer_tokens; 0: no limit. */
static inline size_t result_tokens(size_t answer_tokens)
{
	return answer_tokens / 2 + answer_tokens % 2;
}

/* The member that holds the elements of a result that is a list. */
#define RESULT_LIST "files"

/* Members of `_meta` of a result: the sandbox's level ("full", ...). */
#define RESULT_META_SANDBOX "hasp/sandbox"

/* `result` is borrowed, and changed on the way; `level` goes to its _meta (NULL: none). Its JSON
 * is printed to `raw` (empty, as large as `out`) first. False when it is larger than `out` can
 * be. Reuse both for the next result to save the allocation. */
bool result_print(json_t *result, const struct offered_names *names, const char *level,
                  struct buf *raw, struct buf *out);

#endif
