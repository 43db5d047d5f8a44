/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cancel.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool cancel_init(struct cancel *cancel, struct err *err)
{
	atomic_init(&cancel->set, false);
	cancel->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (cancel->fd >= 0)
		return true;
	err_set(err, ERR_IO_ERROR, "Cannot make an event descriptor: %s.", strerror(errno));
	return false;
}

void cancel_release(struct cancel *cancel)
{
	if (cancel->fd >= 0)
		close(cancel->fd);
	cancel->fd = -1;
}

void cancel_set(struct cancel *cancel)
{
	const uint64_t one = 1;
	int before = errno;

	atomic_store(&cancel->set, true);
	/* It can only fail when the counter is full, and then it is readable. */
	if (write(cancel->fd, &one, sizeof(one)) < 0)
		errno = before;
	errno = before;
}

void cancel_reset(struct cancel *cancel)
{
	uint64_t count;

	atomic_store(&cancel->set, false);
	while (read(cancel->fd, &count, sizeof(count)) < 0 && errno == EINTR)
		;
}
