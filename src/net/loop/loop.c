/* SPDX-License-Identifier: Apache-2.0 */
/* The loop itself, posted tasks, and what is closed at its end. */
#include "net/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "net/loop/private.h"

/* ---- what is open ---- */

void loop_add_thing(struct loop *loop, struct loop_thing *thing)
{
	thing->prev = loop->things.prev;
	thing->next = &loop->things;
	thing->prev->next = thing;
	loop->things.prev = thing;
}

void loop_remove_thing(struct loop_thing *thing)
{
	thing->prev->next = thing->next;
	thing->next->prev = thing->prev;
}

void loop_hold(struct loop *loop)
{
	if (loop->holds++ == 0)
		uv_ref((uv_handle_t *)&loop->wake);
}

void loop_unhold(struct loop *loop)
{
	if (--loop->holds == 0)
		uv_unref((uv_handle_t *)&loop->wake);
}

int loop_poll_init(struct loop *loop, uv_poll_t *poll, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	int failed = uv_poll_init(&loop->uv, poll, fd);

	if (!failed && flags >= 0 && !(flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, flags);
	return failed;
}

/* ---- posted tasks ---- */

static struct loop_task *oldest_first(struct loop_task *newest)
{
	struct loop_task *first = NULL;

	while (newest) {
		struct loop_task *older = newest->next;

		newest->next = first;
		first = newest;
		newest = older;
	}
	return first;
}

static void on_soon(uv_idle_t *soon);

static void run_those(struct loop_task *task)
{
	while (task) {
		struct loop_task *next = task->next;

		task->run(task); /* may free it */
		task = next;
	}
}

/* What tasks post is run after them, once; what that posts has to wait for events. */
static void run_posted(struct loop *loop)
{
	loop->draining = true;
	for (int round = 0; round < 2; round++)
		run_those(oldest_first(atomic_exchange(&loop->posted, NULL)));
	loop->draining = false;
	if (atomic_load(&loop->posted))
		uv_idle_start(&loop->soon, on_soon);
}

static void on_wake(uv_async_t *wake)
{
	struct loop *loop = wake->data;

	run_posted(loop);
	if (atomic_load(&loop->stopping))
		uv_stop(&loop->uv);
}

static void on_soon(uv_idle_t *soon)
{
	uv_idle_stop(soon);
	run_posted(soon->data);
}

static bool on_loop_thread(const struct loop *loop)
{
	return atomic_load_explicit(&loop->runner, memory_order_relaxed) ==
	       (uintptr_t)pthread_self();
}

void loop_post(struct loop *loop, struct loop_task *task)
{
	struct loop_task *newest = atomic_load(&loop->posted);

	do
		task->next = newest;
	while (!atomic_compare_exchange_weak(&loop->posted, &newest, task));
	/* The thread that found the list empty has scheduled it. */
	if (newest)
		return;
	if (on_loop_thread(loop) && loop->draining)
		return; /* run_posted sees it */
	if (on_loop_thread(loop))
		uv_idle_start(&loop->soon, on_soon);
	else
		uv_async_send(&loop->wake);
}

/* ---- life ---- */

static bool uv_failed(int failed, struct err *err)
{
	return err_set_errno(err, -failed, "The event loop cannot be set up");
}

/* libuv needs some descriptors for a loop, and aborts the program where its own are the ones that
 * fail. */
static bool descriptors_left(struct err *err)
{
	enum { NEEDED = 10 };
	int fds[NEEDED], count = 0, failed = 0;

	while (count < NEEDED && !failed) {
		fds[count] = eventfd(0, EFD_CLOEXEC);
		if (fds[count] < 0)
			failed = errno;
		else
			count++;
	}
	while (count)
		close(fds[--count]);
	return !failed ||
	       err_set_errno(err, failed, "No descriptors are left for a loop of events");
}

bool loop_new(struct loop **ret, struct err *err)
{
	struct loop *loop;
	int failed;

	if (!descriptors_left(err))
		return false;
	loop = mem_alloc(1, sizeof(*loop));
	failed = uv_loop_init(&loop->uv);
	if (failed) {
		free(loop);
		return uv_failed(failed, err);
	}
	failed = uv_async_init(&loop->uv, &loop->wake, on_wake);
	if (failed) {
		uv_loop_close(&loop->uv);
		free(loop);
		return uv_failed(failed, err);
	}
	uv_unref((uv_handle_t *)&loop->wake);
	uv_idle_init(&loop->uv, &loop->soon);
	loop->wake.data = loop->soon.data = loop;
	loop->things.prev = loop->things.next = &loop->things;
	signal(SIGPIPE, SIG_IGN);
	*ret = loop;
	return true;
}

void loop_run(struct loop *loop)
{
	atomic_store(&loop->runner, (uintptr_t)pthread_self());
	while (!atomic_load(&loop->stopping)) {
		uv_run(&loop->uv, UV_RUN_DEFAULT);
		if (!uv_loop_alive(&loop->uv) && !atomic_load(&loop->posted))
			break;
		run_posted(loop);
	}
	atomic_store(&loop->stopping, false);
	atomic_store(&loop->runner, 0);
}

void loop_stop(struct loop *loop)
{
	atomic_store(&loop->stopping, true);
	if (on_loop_thread(loop))
		uv_stop(&loop->uv);
	else
		uv_async_send(&loop->wake);
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	while (atomic_load(&loop->posted))
		run_posted(loop);
	while (loop->things.next != &loop->things)
		loop->things.next->close(loop->things.next);
	while (atomic_load(&loop->posted))
		run_posted(loop);
	uv_close((uv_handle_t *)&loop->wake, NULL);
	uv_close((uv_handle_t *)&loop->soon, NULL);
	/* A pending stop ends the first run early. */
	do
		uv_run(&loop->uv, UV_RUN_DEFAULT);
	while (uv_loop_close(&loop->uv) == UV_EBUSY);
	free(loop->read_buffer);
	free(loop);
}

/* ---- timers ---- */

struct loop_timer {
	struct loop_thing thing;
	uv_timer_t uv;
	void (*fire)(void *data);
	void *data;
};

static void free_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void timer_close(struct loop_thing *thing)
{
	struct loop_timer *timer = (struct loop_timer *)thing;

	loop_remove_thing(thing);
	uv_close((uv_handle_t *)&timer->uv, free_closed);
}

static void timer_fired(uv_timer_t *uv)
{
	struct loop_timer *timer = uv->data;

	timer->fire(timer->data);
}

struct loop_timer *loop_timer_start(struct loop *loop, uint64_t delay_ms, uint64_t repeat_ms,
                                    void (*fire)(void *data), void *data)
{
	struct loop_timer *timer = mem_alloc(1, sizeof(*timer));

	timer->thing.close = timer_close;
	timer->fire = fire;
	timer->data = data;
	timer->uv.data = timer;
	uv_timer_init(&loop->uv, &timer->uv);
	uv_update_time(&loop->uv); /* the delay counts from now, not from the last wake-up */
	uv_timer_start(&timer->uv, timer_fired, delay_ms, repeat_ms);
	loop_add_thing(loop, &timer->thing);
	return timer;
}

void loop_timer_stop(struct loop_timer *timer)
{
	if (timer)
		timer_close(&timer->thing);
}

/* ---- descriptors ---- */

struct loop_watch {
	struct loop_thing thing;
	uv_poll_t uv;
	void (*ready)(void *data);
	void *data;
};

static void watch_close(struct loop_thing *thing)
{
	struct loop_watch *watch = (struct loop_watch *)thing;

	loop_remove_thing(thing);
	uv_close((uv_handle_t *)&watch->uv, free_closed);
}

static void watch_event(uv_poll_t *uv, int status, int events)
{
	struct loop_watch *watch = uv->data;

	(void)events;
	/* After an error libuv stops watching; the reader finds out what it is. */
	if (status < 0)
		uv_poll_start(uv, UV_READABLE, watch_event);
	watch->ready(watch->data);
}

struct loop_watch *loop_watch_start(struct loop *loop, int fd, void (*ready)(void *data),
                                    void *data)
{
	struct loop_watch *watch = mem_alloc(1, sizeof(*watch));
	int failed = loop_poll_init(loop, &watch->uv, fd);

	if (failed) {
		free(watch);
		errno = -failed;
		return NULL;
	}
	watch->thing.close = watch_close;
	watch->ready = ready;
	watch->data = data;
	watch->uv.data = watch;
	uv_poll_start(&watch->uv, UV_READABLE, watch_event);
	loop_add_thing(loop, &watch->thing);
	return watch;
}

void loop_watch_stop(struct loop_watch *watch)
{
	if (watch)
		watch_close(&watch->thing);
}

/* ---- signals ---- */

struct loop_signal {
	struct loop_thing thing;
	uv_signal_t uv;
	void (*caught)(void *data, int signal);
	void *data;
};

static void signal_close(struct loop_thing *thing)
{
	struct loop_signal *on = (struct loop_signal *)thing;

	loop_remove_thing(thing);
	uv_close((uv_handle_t *)&on->uv, free_closed);
}

static void signal_arrived(uv_signal_t *uv, int signal)
{
	struct loop_signal *on = uv->data;

	on->caught(on->data, signal);
}

bool loop_on_signal(struct loop *loop, int signal, void (*caught)(void *data, int signal),
                    void *data, struct err *err)
{
	struct loop_signal *on = mem_alloc(1, sizeof(*on));
	int failed;

	on->thing.close = signal_close;
	on->caught = caught;
	on->data = data;
	on->uv.data = on;
	uv_signal_init(&loop->uv, &on->uv);
	loop_add_thing(loop, &on->thing);
	failed = uv_signal_start(&on->uv, signal_arrived, signal);
	if (failed) {
		signal_close(&on->thing);
		return err_set_errno(err, -failed, "Signal %d (%s) cannot be caught", signal,
		                     strsignal(signal));
	}
	/* Waiting for a signal alone keeps no loop running. */
	uv_unref((uv_handle_t *)&on->uv);
	return true;
}

void loop_off_signal(struct loop *loop, const void *data)
{
	struct loop_thing *thing = loop->things.next;

	while (thing != &loop->things) {
		struct loop_thing *next = thing->next;

		if (thing->close == signal_close && ((struct loop_signal *)thing)->data == data)
			signal_close(thing);
		thing = next;
	}
}
