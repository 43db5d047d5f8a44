/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: what the loop's parts share. */
#ifndef HASP_NET_LOOP_PRIVATE_H
#define HASP_NET_LOOP_PRIVATE_H

#include <stdatomic.h>
#include <uv.h>

#include "net/loop/loop.h"

/* Something open: a timer, a watch, a stream. loop_free closes those that are left. */
struct loop_thing {
	void (*close)(struct loop_thing *thing);
	struct loop_thing *prev, *next;
};

struct loop {
	uv_loop_t uv;
	uv_async_t wake; /* other threads' posts and stops; referenced while there are holds */
	uv_idle_t soon;  /* posts of the loop's own thread: no system call wakes it */
	_Atomic(struct loop_task *) posted; /* newest first */
	_Atomic uintptr_t runner;           /* the thread inside loop_run; 0: none */
	bool draining;                      /* posted tasks are being run */
	atomic_bool stopping;
	unsigned holds;
	struct loop_thing things; /* a ring; this is its fixed point */
	char *read_buffer;        /* shared by all streams: bytes are borrowed for a call */
	size_t read_size;
};

/* Puts it last among what loop_free closes; the loop does not own it before that. */
void loop_add_thing(struct loop *loop, struct loop_thing *thing);
/* Takes it out again, before it is freed. */
void loop_remove_thing(struct loop_thing *thing);

/* uv_poll_init without its side effect: the descriptor stays as blocking as it was. Returns
 * 0 or a negative errno; -EPERM: of a kind that is always ready, as regular files are. */
int loop_poll_init(struct loop *loop, uv_poll_t *poll, int fd);

#endif
