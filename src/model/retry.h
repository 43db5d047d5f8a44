/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: when to ask again, and after how long.
 *
 *     struct retry retry;
 *     retry_init(&retry, &options, more_models);
 *     while (!attempt())
 *             switch (retry_after(&retry, &attempt, &delay_ms)) {
 *             case RETRY_AGAIN:  wait delay_ms; break;
 *             case RETRY_SWITCH: the next model, retry_init; break;
 *             case RETRY_NEVER:  return the error;
 *             }
 *
 * The rules are Gemini CLI's, where it has one: overload is waited for with 5 s doubling to 30 s,
 * ±30 %, ten requests in all; a server's own delay goes before that, but no wait is shorter than a
 * tenth of hasp's own, and every wait is jittered; a connection that fails or a stream that breaks is
 * tried 3 times more after 1, 2, 4 s; so is an empty answer.  What will most likely be the same again
 * (an answer that cannot be read, a server that sends nothing for minutes) is asked for once more.
 */
#ifndef HASP_MODEL_RETRY_H
#define HASP_MODEL_RETRY_H

#include "base/cancel.h"
#include "model/stream.h"

struct retry {
	unsigned max_attempts;   /* requests in all */
	unsigned first_delay_ms; /* of overload */
	bool no_network;         /* connection trouble is not tried again */
	bool more_models;        /* there is something to fall back to */
	unsigned attempts;       /* that have failed */
	unsigned overloads, breaks;
	uint64_t random;         /* state of the jitter */
};

enum retry_step { RETRY_AGAIN, RETRY_SWITCH, RETRY_NEVER };

/* A server that asks for a longer delay is not waited for: the quota is used up. Seconds. */
enum { RETRY_LONGEST_S = 300 };

void retry_init(struct retry *retry, const struct model_options *options, bool more_models);
/* What to do after a failed attempt; counts it. */
enum retry_step retry_after(struct retry *retry, const struct attempt *attempt,
                            unsigned *ret_delay_ms);
/* False when cancelled meanwhile. */
bool retry_wait(unsigned delay_ms, const struct cancel *cancel);

#endif
