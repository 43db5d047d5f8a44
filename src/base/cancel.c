/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cancel.h"

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

bool cancel_init(struct cancel *cancel, struct err *err)
{
	atomic_init(&cancel->set, false);
	for (size_t i = 0; i < CANCEL_FOLLOWERS_MAX; i++)
		atomic_init(&cancel->followers[i], NULL);
	atomic_init(&cancel->setting, 0);
	cancel->leader = NULL;
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

static void cancel_mark(struct cancel *cancel)
{
	const uint64_t one = 1;
	int before = errno;

	atomic_store(&cancel->set, true);
	/* It can only fail when the counter is full, and then it is readable. */
	if (write(cancel->fd, &one, sizeof(one)) < 0)
		errno = before;
	errno = before;
}

void cancel_set(struct cancel *cancel)
{
	cancel_mark(cancel);
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
	uint64_t count;

	atomic_store(&cancel->set, false);
	while (read(cancel->fd, &count, sizeof(count)) < 0 && errno == EINTR)
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

/* Whoever sets the followers just now is on another thread, or beneath this one, and ends. */
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
