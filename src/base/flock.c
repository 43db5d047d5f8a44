/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flock.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <sys/file.h>

#include "base/clock.h"
#include "base/mem.h"

enum { STEP_FIRST_MS = 1, STEP_MAX_MS = 50, NOTICE_AFTER_MS = 500 };

static void flock_notice(const struct flock_wait *wait, const char *path, unsigned max_ms)
{
	_cleanup_free_ char *sentence = mem_printf(
		"Waiting for %s, which another program has locked; hasp gives up after %u s.", path,
		(max_ms + 999) / 1000);

	wait->notice(wait->data, "info", sentence);
}

/* Time passes, or somebody cancels. */
static void flock_sleep(const struct flock_wait *wait, int *step_ms)
{
	struct pollfd stop = { .fd = cancel_fd(wait->cancel), .events = POLLIN };

	poll(&stop, 1, *step_ms);
	*step_ms = *step_ms * 2 < STEP_MAX_MS ? *step_ms * 2 : STEP_MAX_MS;
}

bool flock_take(int fd, const char *path, const struct flock_wait *wait, struct err *err)
{
	static const struct flock_wait plain = { 0 };
	uint64_t begun = monotonic_ms(), waited;
	unsigned max_ms;
	int step_ms = STEP_FIRST_MS;
	bool told = false;

	wait = wait ? wait : &plain;
	max_ms = wait->max_ms ? wait->max_ms : FLOCK_WAIT_MS;
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set_errno(err, errno, "Cannot lock %s", path);
		if (cancelled(wait->cancel))
			return err_set(err, ERR_CANCELLED,
			               "Waiting for the lock on %s was cancelled.",
			               path);
		waited = monotonic_ms() - begun;
		if (waited >= max_ms)
			return err_set(err, ERR_BUSY,
			               "%s has been locked by another program for %u s; nothing "
			               "was changed. \"fuser -v %s\" names that program: wait for "
			               "its end, or end it, and try again.",
			               path, (max_ms + 999) / 1000, path);
		if (wait->notice && !told && waited >= NOTICE_AFTER_MS) {
			told = true;
			flock_notice(wait, path, max_ms);
		}
		flock_sleep(wait, &step_ms);
	}
	return true;
}
