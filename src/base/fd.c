/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"

/* One write(2) transfers at most 0x7ffff000 bytes; smaller pieces also let a
 * signal through. */
enum { PIECE_MAX = 1 << 26 };

bool fd_write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len < PIECE_MAX ? len : PIECE_MAX);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = ENOSPC;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

ssize_t fd_read_full(int fd, void *data, size_t len)
{
	char *at = data;
	size_t done = 0;

	while (done < len) {
		size_t want = len - done < PIECE_MAX ? len - done : PIECE_MAX;
		ssize_t n = read(fd, at + done, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t fd_read_into(int fd, struct buf *out, size_t len)
{
	char *room = buf_reserve(out, len);
	ssize_t n = room ? fd_read_full(fd, room, len) : -1;

	if (!room)
		errno = ENOMEM;
	if (n > 0)
		out->len += (size_t)n;
	return n;
}

bool fd_read_text(int fd, char *text, size_t size)
{
	ssize_t n = fd < 0 ? -1 : fd_read_full(fd, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* ---- waiting ----------------------------------------------------------------------- */

int fd_wait(struct pollfd *fds, size_t count, int timeout_ms)
{
	const int ready = poll(fds, count, timeout_ms);
	const bool interrupted = ready < 0 && errno == EINTR;
	struct timespec pause = { .tv_nsec = FD_BLIND_MS * 1000000 };

	if (ready >= 0)
		return ready;
	for (size_t i = 0; i < count; i++)
		fds[i].revents = interrupted || fds[i].fd < 0 ? 0 : fds[i].events;
	if (interrupted)
		return 0;
	if (timeout_ms >= 0 && timeout_ms < FD_BLIND_MS)
		pause.tv_nsec = timeout_ms * 1000000;
	nanosleep(&pause, NULL);
	return (int)count;
}

bool fd_ring(int fd)
{
	enum { TRIES = 5 };
	const struct timespec pause = { .tv_nsec = FD_BLIND_MS * 1000000 };
	const uint64_t one = 1;
	const int before = errno;
	bool rung = false;

	for (int i = 0; fd >= 0 && i < TRIES && !rung; i++) {
		if (i)
			nanosleep(&pause, NULL);
		/* EAGAIN: it is full, and so readable. */
		rung = write(fd, &one, sizeof(one)) == sizeof(one) || errno == EAGAIN;
	}
	errno = before;
	return rung;
}

/* ---- paths opened beneath a folder ------------------------------------------------ */

/* A rename somewhere in the system makes openat2 answer EAGAIN when it has to
 * re-check a ".."; our paths have none, so a few are already generous. */
enum { AGAIN_MAX = 64 };

/* Whether EAGAIN may come from such a rename.  Without a ".." and links, which may have one, it
 * comes from a lease that O_NONBLOCK does not wait for: trying again gets the same answer,
 * and wakes the holder each time. */
static bool may_race(const char *path, int flags, unsigned resolve)
{
	return !(flags & O_NONBLOCK) || !(resolve & RESOLVE_NO_SYMLINKS) || strstr(path, "..");
}

static int open_beneath(int folder, const char *path, int flags, unsigned resolve)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_CLOEXEC),
		.mode = flags & O_CREAT ? 0666 : 0,
		.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	long fd = -1;

	for (int i = 0; i < AGAIN_MAX; i++) {
		fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
		if (fd >= 0 || (errno != EINTR &&
		                (errno != EAGAIN || !may_race(path, flags, resolve))))
			break;
	}
	return (int)fd;
}

int fd_open_beneath(int folder, const char *path, int flags)
{
	return open_beneath(folder, path, flags | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
}

int fd_open_beneath_linked(int folder, const char *path, int flags)
{
	return open_beneath(folder, path, flags, 0);
}

int fd_open_beneath_waiting(int folder, const char *path, int flags, unsigned wait_ms)
{
	const int extra = flags & O_PATH ? 0 : O_NONBLOCK | O_NOCTTY;
	long backoff_us = BACKOFF_FIRST_US;
	long long deadline_us = 0;
	int fd;

	while ((fd = fd_open_beneath(folder, path, flags | extra)) < 0 &&
	       (errno == EAGAIN || errno == EINTR)) {
		if (!deadline_us)
			deadline_us = clock_deadline(wait_ms);
		if (!clock_back_off(deadline_us, &backoff_us)) {
			errno = EAGAIN;
			break;
		}
	}
	return fd;
}
