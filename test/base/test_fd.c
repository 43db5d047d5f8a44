/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting and waking where the kernel cannot: poll is EINVAL with fewer descriptors than it
 * gets. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "base/fd.h"

static void what_cannot_be_waited_for_is_looked_at(void **state)
{
	_cleanup_fd_ int one = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct pollfd fds[] = { { .fd = one, .events = POLLIN }, { .fd = -1, .events = POLLIN },
		                { .fd = one, .events = POLLOUT } };
	struct rlimit before, none;
	int ready;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(fd_wait(fds, 2, 0), 0);
	none = before;
	none.rlim_cur = 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	ready = fd_wait(fds, 3, -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(ready, 3);
	assert_int_equal(fds[0].revents, POLLIN);
	assert_int_equal(fds[1].revents, 0);
	assert_int_equal(fds[2].revents, POLLOUT);
}

static void a_ring_wakes_and_says_whether_it_did(void **state)
{
	_cleanup_fd_ int one = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	_cleanup_fd_ int full = eventfd(UINT32_MAX, EFD_CLOEXEC | EFD_NONBLOCK);
	_cleanup_fd_ int closed = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct pollfd fd = { .fd = one, .events = POLLIN };
	const uint64_t rest = UINT64_MAX - 1 - UINT32_MAX;

	(void)state;
	errno = ENOENT;
	assert_true(fd_ring(one));
	assert_int_equal(fd_wait(&fd, 1, 0), 1);
	assert_int_equal(write(full, &rest, sizeof(rest)), sizeof(rest));
	assert_true(fd_ring(full)); /* it is readable */
	assert_false(fd_ring(closed));
	assert_false(fd_ring(-1));
	assert_int_equal(errno, ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_waited_for_is_looked_at),
		cmocka_unit_test(a_ring_wakes_and_says_whether_it_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
