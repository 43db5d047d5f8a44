/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop/descriptor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/mem.h"

/* The master of pseudo-terminals: opening it again makes another terminal. */
static bool is_terminal_master(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 2);
}

static int open_again(int fd, int mode, const struct stat *st)
{
	char path[32];

	if (!S_ISFIFO(st->st_mode) && (is_terminal_master(st) || !isatty(fd)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The last resort; the others that share the description notice it. */
static void make_non_blocking(struct descriptor *descriptor, int flags)
{
	if (flags & O_NONBLOCK)
		return;
	if (fcntl(descriptor->fd, F_SETFL, flags | O_NONBLOCK) == 0)
		descriptor->restore = flags;
}

bool descriptor_open(struct descriptor *descriptor, int fd, int mode)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) != 0)
		return false;
	*descriptor = (struct descriptor){
		.fd = fd,
		.restore = -1,
		.socket = S_ISSOCK(st.st_mode),
		.always_ready = S_ISREG(st.st_mode),
	};
	if (descriptor->socket || descriptor->always_ready)
		return true;
	fd = open_again(fd, mode, &st);
	if (fd >= 0) {
		descriptor->fd = fd;
		descriptor->owned = true;
	} else {
		make_non_blocking(descriptor, flags);
	}
	return true;
}

void descriptor_close(struct descriptor *descriptor)
{
	if (descriptor->restore >= 0)
		fcntl(descriptor->fd, F_SETFL, descriptor->restore);
	if (descriptor->owned)
		close(descriptor->fd);
	descriptor->fd = -1;
}

ssize_t descriptor_read(const struct descriptor *descriptor, void *data, size_t len)
{
	ssize_t n;

	do
		n = descriptor->socket ? recv(descriptor->fd, data, len, MSG_DONTWAIT) :
		                         read(descriptor->fd, data, len);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t descriptor_write(const struct descriptor *descriptor, const struct span *parts,
                         size_t count, size_t skip)
{
	struct iovec iov[4];
	struct msghdr message = { .msg_iov = iov };
	ssize_t n;

	for (; count && message.msg_iovlen < ARRAY_LEN(iov); parts++, count--) {
		struct span rest = span_skip(*parts, skip);

		skip -= parts->len - rest.len;
		if (rest.len)
			iov[message.msg_iovlen++] =
				(struct iovec){ (void *)(uintptr_t)rest.data, rest.len };
	}
	do
		n = descriptor->socket ?
		            sendmsg(descriptor->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) :
		            writev(descriptor->fd, iov, (int)message.msg_iovlen);
	while (n < 0 && errno == EINTR);
	return n;
}
