/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: reading and writing a descriptor that others share, without waiting
 * and without making it non-blocking for them.
 *
 * O_NONBLOCK belongs to the open file description, which a terminal's shell, a parent or a
 * sibling may hold too.  So a pipe or terminal is opened a second time through /proc (a
 * description of our own); a socket is used with MSG_DONTWAIT; a regular file never makes
 * one wait.  Only where none of that can be had is the flag set, and put back at the end.
 */
#ifndef HASP_NET_LOOP_DESCRIPTOR_H
#define HASP_NET_LOOP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/span.h"

struct descriptor {
	int fd;
	bool owned;        /* close it at the end */
	bool socket;
	bool always_ready; /* cannot be polled: a regular file */
	int restore;       /* flags to put back at the end, or -1 */
};

/* `mode`: O_RDONLY, O_WRONLY or O_RDWR. False with errno: `fd` is not open. */
bool descriptor_open(struct descriptor *descriptor, int fd, int mode);
void descriptor_close(struct descriptor *descriptor);

/* Interrupted calls are repeated. -1 with errno; EAGAIN: nothing to read, or no room. */
ssize_t descriptor_read(const struct descriptor *descriptor, void *data, size_t len);
/* Writes what comes after the first `skip` bytes of the parts; not necessarily all of it. */
ssize_t descriptor_write(const struct descriptor *descriptor, const struct span *parts,
                         size_t count, size_t skip);

#endif
