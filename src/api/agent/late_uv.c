/* SPDX-License-Identifier: Apache-2.0 */
/* libuv's functions for net/loop within libhasp-agent, where only hasp_agent_share needs them.
 *
 * Debian's libuv.a is no position-independent code and cannot be inside a shared library.  Linked
 * as a shared one, each machine where a program with libhasp-agent starts would need it.  So it is
 * loaded when it is used (base/library.h).  The types come from uv.h, and a library of the same
 * major version has the same.
 *
 * Adding a function: a row in FUNCTIONS.
 */
#include <stddef.h>
#include <uv.h>

#include "api/agent/private.h"
#include "base/library.h"
#include "base/mem.h"

/* result, name, parameters, arguments */
#define FUNCTIONS(row)                                                                          \
	row(int, uv_loop_init, (uv_loop_t *loop), (loop))                                       \
	row(int, uv_loop_close, (uv_loop_t *loop), (loop))                                      \
	row(int, uv_loop_alive, (const uv_loop_t *loop), (loop))                                \
	row(int, uv_run, (uv_loop_t *loop, uv_run_mode mode), (loop, mode))                     \
	row(void, uv_stop, (uv_loop_t *loop), (loop))                                           \
	row(void, uv_update_time, (uv_loop_t *loop), (loop))                                    \
	row(void, uv_ref, (uv_handle_t *handle), (handle))                                      \
	row(void, uv_unref, (uv_handle_t *handle), (handle))                                    \
	row(void, uv_close, (uv_handle_t *handle, uv_close_cb closed), (handle, closed))        \
	row(int, uv_async_init, (uv_loop_t *loop, uv_async_t *wake, uv_async_cb call),          \
	    (loop, wake, call))                                                                 \
	row(int, uv_async_send, (uv_async_t *wake), (wake))                                     \
	row(int, uv_idle_init, (uv_loop_t *loop, uv_idle_t *idle), (loop, idle))                \
	row(int, uv_idle_start, (uv_idle_t *idle, uv_idle_cb call), (idle, call))               \
	row(int, uv_idle_stop, (uv_idle_t *idle), (idle))                                       \
	row(int, uv_poll_init, (uv_loop_t *loop, uv_poll_t *poll, int fd), (loop, poll, fd))    \
	row(int, uv_poll_start, (uv_poll_t *poll, int events, uv_poll_cb call),                 \
	    (poll, events, call))                                                               \
	row(int, uv_poll_stop, (uv_poll_t *poll), (poll))                                       \
	row(int, uv_signal_init, (uv_loop_t *loop, uv_signal_t *signal), (loop, signal))        \
	row(int, uv_signal_start, (uv_signal_t *signal, uv_signal_cb call, int number),         \
	    (signal, call, number))                                                             \
	row(int, uv_timer_init, (uv_loop_t *loop, uv_timer_t *timer), (loop, timer))            \
	row(int, uv_timer_start,                                                                \
	    (uv_timer_t *timer, uv_timer_cb call, uint64_t after, uint64_t every),              \
	    (timer, call, after, every))

#define POINTER(result, name, parameters, arguments) __typeof__(name) *name;
#define SYMBOL(result, name, parameters, arguments) { #name, offsetof(struct late_uv, name) },
#define FORWARD(result, name, parameters, arguments) \
	result name parameters { return late.name arguments; }

struct late_uv {
	FUNCTIONS(POINTER)
};

static struct late_uv late;

/* None of these is called before api_load_uv. */
FUNCTIONS(FORWARD)

bool api_load_uv(struct err *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const struct library_symbol symbols[] = { FUNCTIONS(SYMBOL) };
	static const struct library row = { { "libuv.so.1" }, "A browser needs", "libuv1", symbols,
		                            ARRAY_LEN(symbols) };
	struct late_uv loaded;
	bool ok;

	pthread_mutex_lock(&lock);
	ok = late.uv_run != NULL;
	if (!ok && library_load(&row, &loaded, err)) {
		late = loaded;
		ok = true;
	}
	pthread_mutex_unlock(&lock);
	return ok;
}
