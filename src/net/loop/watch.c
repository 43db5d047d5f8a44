/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, descriptors to read, signals. */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "net/loop/loop_private.h"

/* ---- timers ----------------------------------------------------------------- */

struct loop_timer {
	struct loop_thing thing;
	uv_timer_t uv;
	void (*fire)(void *data);
	void *data;
};

static void timer_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void timer_close(struct loop_thing *thing)
{
	struct loop_timer *timer = (struct loop_timer *)thing;

	loop_remove_thing(thing);
	uv_close((uv_handle_t *)&timer->uv, timer_closed);
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

/* ---- descriptors ------------------------------------------------------------ */

struct loop_watch {
	struct loop_thing thing;
	uv_poll_t uv;
	void (*ready)(void *data);
	void *data;
};

static void watch_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void watch_close(struct loop_thing *thing)
{
	struct loop_watch *watch = (struct loop_watch *)thing;

	loop_remove_thing(thing);
	uv_close((uv_handle_t *)&watch->uv, watch_closed);
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

/* ---- signals ---------------------------------------------------------------- */

struct loop_signal {
	struct loop_thing thing;
	uv_signal_t uv;
	void (*caught)(void *data, int signal);
	void *data;
};

static void signal_closed(uv_handle_t *handle)
{
	free(handle->data);
}

static void signal_close(struct loop_thing *thing)
{
	struct loop_signal *on = (struct loop_signal *)thing;

	loop_remove_thing(thing);
	uv_close((uv_handle_t *)&on->uv, signal_closed);
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
