/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of frames, through a socket, with whatever cuts the socket makes: every frame that comes out
 * keeps its message's limits, and the stream ends with an end or a problem. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "worker/wire/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_frame(struct wire *wire)
{
	const struct wire_message *message = wire->frame.message;
	struct wire_arena arena = { 0 };
	_cleanup_wire_in_ struct wire_in in;
	void *object = wire_arena_alloc(&arena, 1, message->layout->size + 1);

	if (wire->frame.fields.len > message->fields_max ||
	    wire->frame.blob_bytes > message->blob_max)
		abort();
	wire_open(wire, &arena, &in);
	if (wire_decode_frame(wire, &in, object))
		wire_read_blob(wire, &in);
	wire_arena_release(&arena);
}

static void read_stream(int fd)
{
	struct wire wire;

	wire_init(&wire, fd, fd, WIRE_TO_WORKER);
	if (wire_greeted(&wire, NULL, 0) == WIRE_FRAME)
		while (wire_next(&wire) == WIRE_FRAME && !wire.problem[0]) {
			check_frame(&wire);
			if (wire.problem[0] || wire_done(&wire) != WIRE_FRAME)
				break;
		}
	wire_release(&wire);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int pair[2];

	/* What fits into a socket at once, so that no second thread is needed. */
	if (size > 64 << 10 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return 0;
	if (send(pair[0], data, size, MSG_NOSIGNAL) == (ssize_t)size) {
		shutdown(pair[0], SHUT_WR);
		read_stream(pair[1]);
	}
	close(pair[0]);
	close(pair[1]);
	return 0;
}
