/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a command, shown to people as it comes.
 *
 * Whole lines, made safe for a terminal (render.h), to standard output; a carriage return ends a
 * line too.  From any thread.
 */
#ifndef HASP_CLI_VIEW_LIVE_H
#define HASP_CLI_VIEW_LIVE_H

#include <pthread.h>

#include "base/buf.h"
#include "worker/provider.h"

struct live {
	pthread_mutex_t lock;
	struct buf line; /* what has no end yet */
	bool any;        /* something was shown */
};

void live_init(struct live *live);
/* For call_hooks.output (tool/tool.h); `data` is the struct live. */
void live_output(void *data, enum run_stream stream, struct span bytes);
void live_release(struct live *live); /* shows what is left, with a line end */

#endif
