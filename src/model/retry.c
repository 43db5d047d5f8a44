/* SPDX-License-Identifier: Apache-2.0 */
/* When to ask a model again, and after how long (stream.h). */
#include "model/stream.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/random.h"

enum {
	ATTEMPTS = 10,
	FIRST_DELAY_MS = 5000,
	LONGEST_DELAY_MS = 30000,
	/* Breaks begin with a fifth of the delay of overload: 1 s. */
	BREAK_SHARE = 5,
	BREAK_RETRIES = 3,
	UNREADABLE_RETRIES = 1,
	SILENT_RETRIES = 1,
	/* Of hasp's own delay, the least that is waited whatever a server says. */
	FLOOR_SHARE = 10,
	/* Overload is waited for less often if there is a fallback. */
	OVERLOADS_BEFORE_SWITCH = 3,
};

void stream_retry_init(struct retry *retry, const struct model_options *options, bool more_models)
{
	*retry = (struct retry){
		.max_attempts = options->max_attempts ? options->max_attempts : ATTEMPTS,
		.first_delay_ms = options->first_delay_ms ? options->first_delay_ms :
		                                            FIRST_DELAY_MS,
		.no_network = options->no_network_retries,
		.more_models = more_models,
	};
	random_distinct(&retry->random, sizeof(retry->random));
	retry->random |= 1;
}

/* A number from [0, 1): xorshift64. */
static double retry_random(struct retry *retry)
{
	retry->random ^= retry->random << 13;
	retry->random ^= retry->random >> 7;
	retry->random ^= retry->random << 17;
	return (double)(retry->random >> 11) / 9007199254740992.0;
}

/* first × 2^n up to the longest, ±30 %. */
static unsigned retry_backoff(struct retry *retry, double first_ms, unsigned n)
{
	double longest = (double)retry->first_delay_ms * LONGEST_DELAY_MS / FIRST_DELAY_MS;
	double delay = first_ms;

	while (n-- && delay < longest)
		delay *= 2;
	if (delay > longest)
		delay = longest;
	return (unsigned)(delay * (0.7 + 0.6 * retry_random(retry)));
}

/* Waits at least as long as the server requests, and not less than the floor, plus up to a fifth so
 * that clients do not return at the same time. */
static enum retry_step retry_overloaded(struct retry *retry, const struct attempt *attempt,
                                        unsigned *ret_delay_ms)
{
	unsigned n = retry->overloads++;

	if (attempt->delay_s > RETRY_LONGEST_S)
		return retry->more_models ? RETRY_SWITCH : RETRY_NEVER;
	if (retry->more_models && retry->overloads >= OVERLOADS_BEFORE_SWITCH)
		return RETRY_SWITCH;
	*ret_delay_ms = retry_backoff(retry, retry->first_delay_ms, n);
	if (attempt->delay_s >= 0) {
		unsigned floor_ms = *ret_delay_ms / FLOOR_SHARE + 1;

		*ret_delay_ms = (unsigned)(attempt->delay_s * 1000 * (1 +
		                                                      0.2 * retry_random(retry)));
		if (*ret_delay_ms < floor_ms)
			*ret_delay_ms = floor_ms;
	}
	return RETRY_AGAIN;
}

static enum retry_step retry_broken(struct retry *retry, unsigned retries, unsigned *ret_delay_ms)
{
	if (retry->breaks >= retries)
		return RETRY_NEVER;
	*ret_delay_ms = retry_backoff(retry, (double)retry->first_delay_ms / BREAK_SHARE,
	                              retry->breaks++);
	return RETRY_AGAIN;
}

enum retry_step stream_retry_after(struct retry *retry, const struct attempt *attempt,
                                   unsigned *ret_delay_ms)
{
	enum retry_step step = RETRY_NEVER;

	*ret_delay_ms = 0;
	retry->attempts++;
	if (attempt->trouble == WIRE_QUOTA)
		return retry->more_models ? RETRY_SWITCH : RETRY_NEVER;
	if (attempt->trouble == WIRE_TRANSIENT)
		step = retry_overloaded(retry, attempt, ret_delay_ms);
	else if (attempt->trouble == WIRE_BROKEN && !(retry->no_network && attempt->network))
		step = retry_broken(retry, attempt->silent ? SILENT_RETRIES : BREAK_RETRIES,
		                    ret_delay_ms);
	else if (attempt->trouble == WIRE_UNREADABLE)
		step = retry_broken(retry, UNREADABLE_RETRIES, ret_delay_ms);
	if (step == RETRY_AGAIN && retry->attempts >= retry->max_attempts)
		step = attempt->trouble == WIRE_TRANSIENT && retry->more_models ? RETRY_SWITCH :
		                                                                  RETRY_NEVER;
	return step;
}

bool stream_retry_wait(unsigned delay_ms, const struct cancel *cancel)
{
	uint64_t end = clock_monotonic_ms() + delay_ms;
	struct pollfd fd = { .fd = cancel_fd(cancel), .events = POLLIN };

	for (;;) {
		uint64_t now = clock_monotonic_ms();

		if (cancelled(cancel))
			return false;
		if (now >= end)
			return true;
		if (poll(&fd, 1, (int)(end - now)) < 0 && errno != EINTR)
			return true;
	}
}
