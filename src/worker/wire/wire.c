/* SPDX-License-Identifier: Apache-2.0 */
/* A connection's beginning and end, and its greeting. */
#include "worker/wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/wire/bytes.h"
#include "worker/wire/private.h"

/* Offsets in the greeting, after the magic. */
enum { AT_LEAST = 8, AT_MOST = 10, AT_FEATURES = 12, AT_PROGRAM = 16 };

static bool is_local_socket(int fd)
{
	int domain, type;
	socklen_t len = sizeof(domain);

	if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) != 0 || domain != AF_UNIX)
		return false;
	len = sizeof(type);
	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_STREAM;
}

void wire_init(struct wire *wire, int read_fd, int write_fd, enum wire_direction from)
{
	*wire = (struct wire){ .read_fd = read_fd, .write_fd = write_fd, .from = from };
	wire->is_socket = is_local_socket(read_fd) && is_local_socket(write_fd);
	wire->in = mem_alloc(1, WIRE_READ_AHEAD);
	wire->queued = (struct buf)BUF_INIT(WIRE_QUEUE_BYTES);
	pthread_mutex_init(&wire->write_lock, NULL);
}

void wire_close_fds(int *fds, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		close(fds[i]);
	*count = 0;
}

void wire_release(struct wire *wire)
{
	wire_close_fds(wire->fds, &wire->fd_count);
	wire_close_fds(wire->frame.fds, &wire->frame.fd_count);
	free(wire->in);
	buf_release(&wire->queued);
	free(wire->fields);
	pthread_mutex_destroy(&wire->write_lock);
	*wire = (struct wire){ 0 };
}

bool wire_greet(struct wire *wire, unsigned features, struct err *err)
{
	char bytes[WIRE_GREETING_BYTES] = WIRE_MAGIC;

	if (wire->is_socket)
		features |= WIRE_FEATURE_DESCRIPTORS;
	bytes_put(bytes + AT_LEAST, WIRE_VERSION_LEAST, 2);
	bytes_put(bytes + AT_MOST, WIRE_VERSION, 2);
	bytes_put(bytes + AT_FEATURES, features, 4);
	snprintf(bytes + AT_PROGRAM, WIRE_GREETING_BYTES - AT_PROGRAM, "%s", HASP_VERSION);
	return wire_write(wire, bytes, sizeof(bytes), err);
}

/* Moves what stands before the magic, or cannot be its beginning, to `banner`. */
static bool skip_banner(struct wire *wire, struct buf *banner, size_t banner_max)
{
	const char *in = wire->in + wire->in_at;
	size_t skip = 0;
	bool fits;

	while (skip < wire->in_len && memcmp(in + skip, WIRE_MAGIC,
	                                     wire->in_len - skip < WIRE_MAGIC_BYTES ?
	                                             wire->in_len - skip : WIRE_MAGIC_BYTES) != 0)
		skip++;
	fits = banner && skip <= banner_max - banner->len;
	if (banner)
		buf_append(banner, in, fits ? skip : banner_max - banner->len);
	wire->in_at += skip;
	wire->in_len -= skip;
	return skip == 0 || fits;
}

static void read_greeting(const char *bytes, struct wire_greeting *ret)
{
	ret->least = (unsigned)bytes_get(bytes + AT_LEAST, 2);
	ret->most = (unsigned)bytes_get(bytes + AT_MOST, 2);
	ret->features = (unsigned)bytes_get(bytes + AT_FEATURES, 4);
	memcpy(ret->program, bytes + AT_PROGRAM, sizeof(ret->program) - 1);
	for (char *at = ret->program; *at; at++)
		if (*at < ' ' || *at > '~')
			*at = '?';
}

enum wire_step wire_greeted(struct wire *wire, struct buf *banner, size_t banner_max)
{
	for (;;) {
		enum wire_step step;

		if (!skip_banner(wire, banner, banner_max))
			return wire_fail(wire, "it does not begin as a worker does");
		if (wire->in_len >= WIRE_GREETING_BYTES)
			break;
		step = wire_fill(wire);
		if (step != WIRE_FRAME)
			return step;
	}
	read_greeting(wire->in + wire->in_at, &wire->peer);
	wire->in_at += WIRE_GREETING_BYTES;
	wire->in_len -= WIRE_GREETING_BYTES;
	wire->peer_takes_fds = wire->is_socket &&
	                       (wire->peer.features & WIRE_FEATURE_DESCRIPTORS);
	return WIRE_FRAME;
}
