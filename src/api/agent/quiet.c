/* SPDX-License-Identifier: Apache-2.0 */
/* A worker or a hook that ends while it is written to is an error of a call, not the end of the
 * program. */
#include <time.h>

#include "api/agent/internal.h"

void quiet_begin(struct quiet *quiet)
{
	sigset_t set;

	sigpending(&set);
	quiet->pending = sigismember(&set, SIGPIPE) == 1;
	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &set, &quiet->before);
}

void quiet_end(struct quiet *quiet)
{
	const struct timespec at_once = { 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPIPE);
	if (!quiet->pending)
		while (sigtimedwait(&set, NULL, &at_once) == SIGPIPE)
			;
	pthread_sigmask(SIG_SETMASK, &quiet->before, NULL);
}
