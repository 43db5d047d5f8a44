/* SPDX-License-Identifier: Apache-2.0 */
/* The lock on a folder, and waiting. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

#include "file/backoff.h"
#include "file/stage.h"

static long long backoff_now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

long long backoff_deadline(unsigned wait_ms)
{
	return backoff_now_us() + (wait_ms ? wait_ms : BACKOFF_WAIT_MS) * 1000LL;
}

bool backoff_wait(long long deadline_us, long *backoff_us)
{
	struct timespec delay = { .tv_nsec = *backoff_us * 1000 };

	if (backoff_now_us() >= deadline_us)
		return false;
	nanosleep(&delay, NULL);
	*backoff_us = *backoff_us * 2 < BACKOFF_MAX_US ? *backoff_us * 2 : BACKOFF_MAX_US;
	return true;
}

bool stage_lock(struct stage *stage, long long deadline_us)
{
	long backoff_us = BACKOFF_FIRST_US;

	if (stage->readable < 0)
		stage->readable =
			openat(stage->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (stage->readable >= 0 && flock(stage->readable, LOCK_EX | LOCK_NB) < 0)
		if ((errno != EWOULDBLOCK && errno != EINTR))
			break; /* no locks here: then without */
		else {
			commit_waits(stage->options);
			if (!backoff_wait(deadline_us, &backoff_us))
				return false;
		}
	return true;
}

void stage_unlock(struct stage *stage)
{
	if (stage->readable >= 0)
		flock(stage->readable, LOCK_UN);
}
