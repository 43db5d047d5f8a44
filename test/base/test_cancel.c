/* SPDX-License-Identifier: Apache-2.0 */
/* A request to stop, its descriptor, and those that follow another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <sys/resource.h>

#include "base/cancel.h"

enum { ROUNDS = 2000 };

static void make(struct cancel *cancel)
{
	struct err err = ERR_INIT;

	assert_true(cancel_init(cancel, &err));
}

static bool readable(const struct cancel *cancel)
{
	struct pollfd fd = { .fd = cancel_fd(cancel), .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void a_follower_is_set_with_its_leader_and_without_it(void **state)
{
	struct cancel leader, follower;
	struct err err = ERR_INIT;

	(void)state;
	make(&leader);
	make(&follower);
	assert_true(cancel_follow(&follower, &leader, &err));
	cancel_set(&follower);
	assert_true(cancelled(&follower) && !cancelled(&leader));
	cancel_reset(&follower);
	assert_false(cancelled(&follower) || readable(&follower));
	cancel_set(&leader);
	assert_true(cancelled(&follower) && readable(&follower));
	cancel_reset(&follower);
	assert_true(cancelled(&follower) && readable(&follower));
	cancel_reset(&leader);
	cancel_reset(&follower);
	assert_false(cancelled(&follower) || readable(&follower));
	cancel_unfollow(&follower);
	cancel_set(&leader);
	assert_false(cancelled(&follower));
	cancel_release(&follower);
	cancel_release(&leader);
}

struct maker {
	struct cancel *cancel;
	int fd;
};

static void *make_descriptor(void *data)
{
	struct maker *maker = data;

	maker->fd = cancel_fd(maker->cancel);
	return NULL;
}

/* Whoever comes second, of those who set it and those who wait, finds what the others did. */
static void a_descriptor_made_late_is_one_and_is_rung(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS / 10 + 1; i++) {
		struct cancel cancel;
		struct maker makers[2] = { { &cancel, -1 }, { &cancel, -1 } };
		pthread_t threads[2];

		cancel_init_lazily(&cancel);
		for (int k = 0; k < 2; k++)
			assert_int_equal(pthread_create(&threads[k], NULL, make_descriptor,
			                                &makers[k]), 0);
		cancel_set(&cancel);
		for (int k = 0; k < 2; k++)
			pthread_join(threads[k], NULL);
		assert_true(makers[0].fd >= 0 && makers[0].fd == makers[1].fd);
		assert_true(readable(&cancel));
		cancel_release(&cancel);
	}
}

/* Where no descriptor is left, who waits looks often instead of sleeping for ever. */
static void without_a_descriptor_waits_are_short(void **state)
{
	struct rlimit before;
	struct cancel cancel;

	(void)state;
	cancel_init_lazily(&cancel);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, before.rlim_max }), 0);
	assert_int_equal(cancel_fd(&cancel), -1);
	assert_true(cancel_wait_ms(&cancel, -1) > 0 && cancel_wait_ms(&cancel, 60000) < 100);
	assert_int_equal(cancel_wait_ms(&cancel, 3), 3);
	assert_int_equal(cancel_wait_ms(NULL, -1), -1);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(cancel_wait_ms(&cancel, -1), -1);
	cancel_set(&cancel);
	assert_true(readable(&cancel));
	cancel_release(&cancel);
}

static void who_follows_late_is_set_at_once_and_places_are_limited(void **state)
{
	struct cancel leader, followers[CANCEL_FOLLOWERS_MAX + 1];
	struct err err = ERR_INIT;

	(void)state;
	make(&leader);
	cancel_set(&leader);
	for (size_t i = 0; i <= CANCEL_FOLLOWERS_MAX; i++)
		make(&followers[i]);
	for (size_t i = 0; i < CANCEL_FOLLOWERS_MAX; i++) {
		assert_true(cancel_follow(&followers[i], &leader, &err));
		assert_true(cancelled(&followers[i]));
	}
	assert_false(cancel_follow(&followers[CANCEL_FOLLOWERS_MAX], &leader, &err));
	assert_int_equal(err.code, ERR_BUSY);
	cancel_unfollow(&followers[1]);
	assert_true(cancel_follow(&followers[CANCEL_FOLLOWERS_MAX], &leader, &err));
	for (size_t i = 0; i <= CANCEL_FOLLOWERS_MAX; i++) {
		cancel_unfollow(&followers[i]);
		cancel_release(&followers[i]);
	}
	cancel_release(&leader);
}

static void *set_often(void *data)
{
	for (int i = 0; i < ROUNDS; i++) {
		cancel_set(data);
		cancel_reset(data);
	}
	return NULL;
}

/* For the sanitizers: nothing is told to one that is released. */
static void followers_come_and_go_while_the_leader_is_set(void **state)
{
	struct cancel leader, follower;
	struct err err = ERR_INIT;
	pthread_t thread;

	(void)state;
	make(&leader);
	assert_int_equal(pthread_create(&thread, NULL, set_often, &leader), 0);
	for (int i = 0; i < ROUNDS; i++) {
		make(&follower);
		assert_true(cancel_follow(&follower, &leader, &err));
		cancel_unfollow(&follower);
		cancel_release(&follower);
	}
	pthread_join(thread, NULL);
	assert_false(cancelled(&leader));
	cancel_release(&leader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_follower_is_set_with_its_leader_and_without_it),
		cmocka_unit_test(a_descriptor_made_late_is_one_and_is_rung),
		cmocka_unit_test(without_a_descriptor_waits_are_short),
		cmocka_unit_test(who_follows_late_is_set_at_once_and_places_are_limited),
		cmocka_unit_test(followers_come_and_go_while_the_leader_is_set),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
