/* SPDX-License-Identifier: Apache-2.0 */
/* What the wire_*.c share. */
#ifndef HASP_WORKER_WIRE_PRIVATE_H
#define HASP_WORKER_WIRE_PRIVATE_H

#include "worker/wire/wire.h"

/* Small frames arrive with one system call, several of them; of a larger one this much is copied
 * once more. */
enum { WIRE_READ_AHEAD = 64 << 10 };

/* wire.c */
void wire_close_fds(int *fds, size_t *count);

/* send.c: all of it, under no lock. */
bool wire_write(struct wire *wire, const void *bytes, size_t len, struct err *err);

/* receive.c: one read into the room that is left of `in`; WIRE_FRAME: something came. */
enum wire_step wire_fill(struct wire *wire);
/* Sets the problem; returns WIRE_FAILED. */
enum wire_step wire_fail(struct wire *wire, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* One read of up to `len` bytes, past what was read ahead; WIRE_FRAME: *ret_got came. */
enum wire_step wire_receive(struct wire *wire, void *to, size_t len, size_t *ret_got);

#endif
