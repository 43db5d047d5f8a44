/* SPDX-License-Identifier: Apache-2.0 */
#include "base/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A rename somewhere in the system makes openat2 answer EAGAIN when it has to
 * re-check a ".."; our paths have none, so a few are already generous. */
enum { AGAIN_MAX = 64 };

/* Whether EAGAIN may come from such a rename.  Without a ".." and links, which may have one, it
 * comes from a lease that O_NONBLOCK does not wait for: asking again at once gets the same answer,
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

int beneath_open(int folder, const char *path, int flags)
{
	return open_beneath(folder, path, flags | O_NOFOLLOW, RESOLVE_NO_SYMLINKS);
}

int beneath_open_linked(int folder, const char *path, int flags)
{
	return open_beneath(folder, path, flags, 0);
}
