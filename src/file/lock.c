/* SPDX-License-Identifier: Apache-2.0 */
/* The lock on a folder, and waiting. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "file/nap.h"
#include "file/stage.h"

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

long long nap_deadline(unsigned wait_ms)
{
	return now_us() + (wait_ms ? wait_ms : NAP_WAIT_MS) * 1000LL;
}

bool nap_until(long long deadline_us, long *nap_us)
{
	struct timespec nap = { .tv_nsec = *nap_us * 1000 };

	if (now_us() >= deadline_us)
		return false;
	nanosleep(&nap, NULL);
	*nap_us = *nap_us * 2 < NAP_MAX_US ? *nap_us * 2 : NAP_MAX_US;
	return true;
}

bool stage_lock(struct stage *stage, long long deadline_us)
{
	long nap_us = NAP_FIRST_US;

	if (stage->readable < 0)
		stage->readable =
			openat(stage->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (stage->readable >= 0 && flock(stage->readable, LOCK_EX | LOCK_NB) < 0)
		if ((errno != EWOULDBLOCK && errno != EINTR))
			break; /* no locks here: then without */
		else {
			commit_waits(stage->options);
			if (!nap_until(deadline_us, &nap_us))
				return false;
		}
	return true;
}

void stage_unlock(struct stage *stage)
{
	if (stage->readable >= 0)
		flock(stage->readable, LOCK_UN);
}
