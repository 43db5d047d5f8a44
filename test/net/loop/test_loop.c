/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, timers, signals and watches of the loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/loop/loop.h"

static struct loop *loop_make(void)
{
	struct err err = ERR_INIT;
	struct loop *loop = NULL;

	assert_true(loop_new(&loop, &err));
	return loop;
}

struct counter {
	struct loop *loop;
	int count, stop_at;
};

struct task {
	struct loop_task task;
	struct counter *counter;
	int number;
};

static void count_in_order(struct loop_task *loop_task)
{
	struct task *task = (struct task *)loop_task;

	assert_int_equal(task->number, task->counter->count);
	if (++task->counter->count == task->counter->stop_at)
		loop_stop(task->counter->loop);
}

static void *post_all(void *data)
{
	struct task *tasks = data;

	for (int i = 0; i < tasks->counter->stop_at; i++)
		loop_post(tasks->counter->loop, &tasks[i].task);
	return NULL;
}

static struct task *tasks_new(struct counter *counter, int n)
{
	struct task *tasks = mem_alloc((size_t)n, sizeof(*tasks));

	counter->stop_at = n;
	for (int i = 0; i < n; i++)
		tasks[i] = (struct task){ { .run = count_in_order }, counter, i };
	return tasks;
}

static void tasks_of_another_thread_run_in_their_order(void **state)
{
	struct counter counter = { .loop = loop_make() };
	struct task *tasks = tasks_new(&counter, 20000);
	pthread_t thread;

	(void)state;
	loop_hold(counter.loop); /* nothing else is open */
	pthread_create(&thread, NULL, post_all, tasks);
	loop_run(counter.loop);
	pthread_join(thread, NULL);
	loop_unhold(counter.loop);
	assert_int_equal(counter.count, 20000);
	loop_free(counter.loop);
	free(tasks);
}

static void posted_before_and_never_run_means_run_by_free(void **state)
{
	struct counter counter = { .loop = loop_make() };
	struct task *tasks = tasks_new(&counter, 10);

	(void)state;
	post_all(tasks);
	loop_free(counter.loop);
	assert_int_equal(counter.count, 10);
	free(tasks);
}

static void count_again(struct loop_task *loop_task)
{
	struct task *task = (struct task *)loop_task;

	if (++task->counter->count < task->counter->stop_at)
		loop_post(task->counter->loop, loop_task);
}

static void a_task_may_post_itself_and_the_loop_ends_with_the_last(void **state)
{
	struct counter counter = { .loop = loop_make(), .stop_at = 1000 };
	struct task task = { { .run = count_again }, &counter, 0 };

	(void)state;
	loop_post(counter.loop, &task.task);
	loop_run(counter.loop);
	assert_int_equal(counter.count, 1000);
	loop_free(counter.loop);
}

struct clock {
	struct loop *loop;
	struct loop_timer *timer;
	int fired;
};

static void tick(void *data)
{
	struct clock *clock = data;

	if (++clock->fired == 3) {
		loop_timer_stop(clock->timer);
		clock->timer = NULL;
	}
}

static void a_timer_repeats_until_it_is_stopped_and_holds_the_loop(void **state)
{
	struct clock clock = { .loop = loop_make() };

	(void)state;
	clock.timer = loop_timer_start(clock.loop, 1, 1, tick, &clock);
	loop_run(clock.loop);
	assert_int_equal(clock.fired, 3);
	/* One that never fires is closed with the loop. */
	loop_timer_start(clock.loop, 1000000, 0, tick, &clock);
	loop_timer_stop(NULL);
	loop_free(clock.loop);
}

struct pipe_watch {
	struct loop_watch *watch;
	int fd, bytes;
};

static void readable(void *data)
{
	struct pipe_watch *pipe_watch = data;
	char bytes[4];
	ssize_t n = read(pipe_watch->fd, bytes, sizeof(bytes));

	if (n > 0) {
		pipe_watch->bytes += (int)n;
		return;
	}
	loop_watch_stop(pipe_watch->watch);
}

static void a_watch_calls_as_long_as_there_is_something_to_read(void **state)
{
	struct loop *loop = loop_make();
	struct pipe_watch pipe_watch = { 0 };
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	pipe_watch.fd = ends[0];
	pipe_watch.watch = loop_watch_start(loop, ends[0], readable, &pipe_watch);
	assert_non_null(pipe_watch.watch);
	/* Others that share the descriptor still wait in their reads. */
	assert_false(fcntl(ends[0], F_GETFL) & O_NONBLOCK);
	assert_int_equal(write(ends[1], "0123456789", 10), 10);
	close(ends[1]);
	loop_run(loop);
	assert_int_equal(pipe_watch.bytes, 10);
	assert_null(loop_watch_start(loop, ends[1], readable, &pipe_watch));
	close(ends[0]);
	loop_free(loop);
}

static void on_signal(void *data, int signal)
{
	struct counter *counter = data;

	counter->count = signal;
	loop_stop(counter->loop);
}

static void a_signal_arrives_on_the_loop_and_holds_it_not(void **state)
{
	struct counter counter = { .loop = loop_make() };
	struct err err = ERR_INIT;

	(void)state;
	assert_true(loop_on_signal(counter.loop, SIGHUP, on_signal, &counter, &err));
	loop_run(counter.loop); /* returns: nothing is open */
	assert_int_equal(counter.count, 0);
	loop_hold(counter.loop);
	raise(SIGHUP);
	loop_run(counter.loop);
	loop_unhold(counter.loop);
	assert_int_equal(counter.count, SIGHUP);
	assert_false(loop_on_signal(counter.loop, SIGKILL, on_signal, &counter, &err));
	loop_free(counter.loop);
}

static void *stop_from_outside(void *data)
{
	loop_stop(data);
	return NULL;
}

static void another_thread_may_stop_the_loop_before_it_runs_and_while(void **state)
{
	struct loop *loop = loop_make();
	pthread_t thread;

	(void)state;
	loop_hold(loop);
	for (int i = 0; i < 200; i++) {
		pthread_create(&thread, NULL, stop_from_outside, loop);
		loop_run(loop);
		pthread_join(thread, NULL);
	}
	loop_unhold(loop);
	loop_free(loop);
	loop_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_of_another_thread_run_in_their_order),
		cmocka_unit_test(posted_before_and_never_run_means_run_by_free),
		cmocka_unit_test(a_task_may_post_itself_and_the_loop_ends_with_the_last),
		cmocka_unit_test(a_timer_repeats_until_it_is_stopped_and_holds_the_loop),
		cmocka_unit_test(a_watch_calls_as_long_as_there_is_something_to_read),
		cmocka_unit_test(a_signal_arrives_on_the_loop_and_holds_it_not),
		cmocka_unit_test(another_thread_may_stop_the_loop_before_it_runs_and_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
