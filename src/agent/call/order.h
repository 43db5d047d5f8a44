/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls of one turn have to wait for which: pure.  Private to this folder.
 *
 *     struct order_call calls[n];
 *     order_describe(&calls[i], tool, name, args, root);      // for each
 *     if (order_may_begin(calls, i, ended)) ...               // all that it waits for have ended
 *     order_release(&calls[i]);
 *
 * The results are those of the calls made one after the other, as the model listed them, except that
 * commands run beside each other, and beside what only reads:
 *
 *   - editors (edit, delete, move) and what reads run beside each other unless they touch the same file
 *     and one of them changes it; what reads without naming files (search, glob) touches all;
 *   - a command, another agent, and a tool of unknown effect wait for all editors before them, and
 *     editors for them;
 *   - a change of mode (plan), and a call with wait_for_previous: true, waits for all before it, and all
 *     after it wait for it.
 *
 * Files are the same when their names are, "." and ".." and the workspace folder resolved; two names that
 * are one file by a link are told apart here, and by the state that each edit names.
 */
#ifndef HASP_AGENT_CALL_ORDER_H
#define HASP_AGENT_CALL_ORDER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tool/tool.h"

enum order_effect {
	ORDER_NOTHING, /* touches no file: asks, thinks, fetches */
	ORDER_READS,   /* its paths, or all */
	ORDER_EDITS,   /* its paths */
	ORDER_ANY,     /* anything, beside others of its kind */
	ORDER_ALONE,
};

struct order_call {
	enum order_effect effect;
	char **paths;      /* owned, absolute */
	size_t path_count; /* 0: all */
};

/* `tool` NULL: unknown, it will fail at once. `root`: the workspace folder, absolute. */
void order_describe(struct order_call *ret, const struct tool *tool, const char *name,
                    const json_t *args, const char *root);
void order_release(struct order_call *call);

/* Whether every call before `index` that it has to wait for has ended. */
bool order_may_begin(const struct order_call *calls, size_t index, const bool *ended);

#endif
