/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cancel.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fd.h"

enum { LOOK_MS = 20 }; /* where there is no descriptor to wait for */

void cancel_init_lazily(struct cancel *cancel)
{
	atomic_init(&cancel->set, false);
	atomic_init(&cancel->fd, -1);
	for (size_t i = 0; i < CANCEL_FOLLOWERS_MAX; i++)
		atomic_init(&cancel->followers[i], NULL);
	atomic_init(&cancel->setting, 0);
	cancel->leader = NULL;
}

bool cancel_init(struct cancel *cancel, struct err *err)
{
	cancel_init_lazily(cancel);
	return cancel_fd(cancel) >= 0 ||
	       err_set(err, ERR_IO_ERROR, "Cannot make an event descriptor: %s.", strerror(errno));
}

void cancel_release(struct cancel *cancel)
{
	const int fd = atomic_exchange(&cancel->fd, -1);

	if (fd >= 0)
		close(fd);
}

/* In signal handlers, too. */
static void cancel_ring(int fd)
{
	fd_ring(fd);
}

int cancel_fd(const struct cancel *cancel)
{
	struct cancel *own = (struct cancel *)cancel; /* what it says stays as it is */
	int none = -1, fd;

	if (!cancel || (fd = atomic_load(&own->fd)) >= 0)
		return cancel ? fd : -1;
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -1;
	if (!atomic_compare_exchange_strong(&own->fd, &none, fd)) {
		close(fd);
		return none;
	}
	if (atomic_load(&own->set))
		cancel_ring(fd);
	return fd;
}

int cancel_wait_ms(const struct cancel *cancel, int ms)
{
	return !cancel || cancel_fd(cancel) >= 0 || (ms >= 0 && ms < LOOK_MS) ? ms : LOOK_MS;
}

void cancel_set(struct cancel *cancel)
{
	/* Who sets it and who makes the descriptor do their own part first, then look at the
	 * other's. */
	atomic_store(&cancel->set, true);
	cancel_ring(atomic_load(&cancel->fd));
	atomic_fetch_add(&cancel->setting, 1);
	for (size_t i = 0; i < CANCEL_FOLLOWERS_MAX; i++) {
		struct cancel *follower = atomic_load(&cancel->followers[i]);

		if (follower)
			cancel_set(follower);
	}
	atomic_fetch_sub(&cancel->setting, 1);
}

void cancel_reset(struct cancel *cancel)
{
	const int fd = atomic_load(&cancel->fd);
	uint64_t count;

	atomic_store(&cancel->set, false);
	while (fd >= 0 && read(fd, &count, sizeof(count)) < 0 && errno == EINTR)
		;
	/* Who sets the leader marks that first, and then this. */
	if (cancelled(cancel->leader))
		cancel_set(cancel);
}

bool cancel_follow(struct cancel *cancel, struct cancel *leader, struct err *err)
{
	for (size_t i = 0; leader && i < CANCEL_FOLLOWERS_MAX; i++) {
		struct cancel *none = NULL;

		if (!atomic_compare_exchange_strong(&leader->followers[i], &none, cancel))
			continue;
		cancel->leader = leader;
		if (cancelled(leader))
			cancel_set(cancel);
		return true;
	}
	return !leader || err_set(err, ERR_BUSY, "Too many follow one request to stop.");
}

/* A caller that sets the followers meanwhile is on another thread, or below this one, and ends. */
void cancel_unfollow(struct cancel *cancel)
{
	struct cancel *leader = cancel->leader;

	for (size_t i = 0; leader && i < CANCEL_FOLLOWERS_MAX; i++) {
		struct cancel *me = cancel;

		atomic_compare_exchange_strong(&leader->followers[i], &me, NULL);
	}
	while (leader && atomic_load(&leader->setting))
		sched_yield();
	cancel->leader = NULL;
}
