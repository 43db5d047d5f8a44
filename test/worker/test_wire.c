/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that wait for one another: with how few system calls they go, and in what order. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "worker/wire/wire.h"

struct ends {
	int fds[2];
	struct wire from, to;
};

static int setup(void **state)
{
	struct ends *ends = mem_alloc(1, sizeof(*ends));

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->fds), 0);
	wire_init(&ends->from, ends->fds[0], ends->fds[0], WIRE_TO_FRONT);
	wire_init(&ends->to, ends->fds[1], ends->fds[1], WIRE_TO_WORKER);
	*state = ends;
	return 0;
}

static int teardown(void **state)
{
	struct ends *ends = *state;

	wire_release(&ends->from);
	wire_release(&ends->to);
	close(ends->fds[0]);
	close(ends->fds[1]);
	free(ends);
	return 0;
}

static ssize_t arrived(const struct ends *ends)
{
	static char bytes[1 << 20];
	ssize_t n = recv(ends->fds[1], bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	return n < 0 && errno == EAGAIN ? 0 : n;
}

static void queue(struct ends *ends, uint64_t id)
{
	struct err err = ERR_INIT;

	assert_true(wire_queue(&ends->from, WIRE_MESSAGE_PING, id, NULL, &err));
}

static void expect(struct ends *ends, uint64_t id)
{
	assert_int_equal(wire_next(&ends->to), WIRE_FRAME);
	assert_int_equal(ends->to.frame.id, id);
	assert_int_equal(wire_done(&ends->to), WIRE_FRAME);
}

static void queued_frames_go_with_the_next(void **state)
{
	struct ends *ends = *state;
	struct err err = ERR_INIT;

	for (uint64_t id = 1; id <= 5; id++)
		queue(ends, id);
	assert_int_equal(arrived(ends), 0);
	assert_true(wire_send(&ends->from, WIRE_MESSAGE_PING, 6, NULL, NULL, 0, &err));
	assert_int_equal(arrived(ends), 6 * WIRE_HEADER_BYTES);
	for (uint64_t id = 1; id <= 6; id++)
		expect(ends, id);
}

static void queued_frames_go_before_anything_is_read(void **state)
{
	struct ends *ends = *state;
	struct err err = ERR_INIT;

	assert_true(wire_send(&ends->to, WIRE_MESSAGE_PONG, 9, NULL, NULL, 0, &err));
	queue(ends, 1);
	queue(ends, 2);
	assert_int_equal(wire_next(&ends->from), WIRE_FRAME);
	assert_int_equal(arrived(ends), 2 * WIRE_HEADER_BYTES);
	expect(ends, 1);
	expect(ends, 2);
}

static void a_full_queue_goes_at_once(void **state)
{
	struct ends *ends = *state;
	uint64_t count = WIRE_QUEUE_BYTES / WIRE_HEADER_BYTES;

	for (uint64_t id = 1; id <= count; id++)
		queue(ends, id);
	assert_int_equal(arrived(ends), 0);
	queue(ends, count + 1);
	assert_int_equal(arrived(ends), (count + 1) * WIRE_HEADER_BYTES);
	for (uint64_t id = 1; id <= count + 1; id++)
		expect(ends, id);
}

static void nothing_follows_a_broken_connection(void **state)
{
	struct ends *ends = *state;
	struct err err = ERR_INIT;

	queue(ends, 1);
	shutdown(ends->fds[1], SHUT_RDWR);
	assert_false(wire_flush(&ends->from));
	assert_false(wire_queue(&ends->from, WIRE_MESSAGE_PING, 2, NULL, &err));
	assert_false(wire_send(&ends->from, WIRE_MESSAGE_PING, 3, NULL, NULL, 0, &err));
}

/* A descriptor that is none makes sendmsg fail, and nothing else is wrong. */
static void both_sides_learn_of_what_cannot_be_sent(void **state)
{
	static const int none = -1;
	struct ends *ends = *state;
	struct err err = ERR_INIT;

	assert_true(wire_send(&ends->to, WIRE_MESSAGE_PONG, 1, NULL, NULL, 0, &err));
	assert_false(wire_send(&ends->from, WIRE_MESSAGE_PING, 2, NULL, &none, 1, &err));
	assert_int_equal(ends->from.write_error, EBADF);
	assert_int_equal(wire_next(&ends->from), WIRE_FRAME); /* what had come counts */
	assert_int_equal(wire_done(&ends->from), WIRE_FRAME);
	assert_int_equal(wire_next(&ends->from), WIRE_ENDED);
	assert_int_equal(wire_next(&ends->to), WIRE_ENDED);
}

/* Of pipes, too: one that is full, to a sender that may not wait for room. */
static void the_other_side_of_a_pipe_finds_it_closed(void **state)
{
	struct wire wire;
	struct err err = ERR_INIT;
	int in[2], out[2];
	char byte;

	(void)state;
	assert_int_equal(pipe2(in, O_CLOEXEC) | pipe2(out, O_CLOEXEC), 0);
	wire_init(&wire, in[0], out[1], WIRE_TO_FRONT);
	assert_int_equal(fcntl(out[1], F_SETFL, O_NONBLOCK), 0);
	while (write(out[1], "x", 1) == 1)
		;
	wire.leaving = true;
	assert_false(wire_send(&wire, WIRE_MESSAGE_PING, 2, NULL, NULL, 0, &err));
	while (read(out[0], &byte, 1) == 1)
		;
	assert_int_equal(read(out[0], &byte, 1), 0);
	wire_release(&wire);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
}

int main(void)
{
#define WITH_ENDS(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_ENDS(queued_frames_go_with_the_next),
		WITH_ENDS(queued_frames_go_before_anything_is_read),
		WITH_ENDS(a_full_queue_goes_at_once),
		WITH_ENDS(nothing_follows_a_broken_connection),
		WITH_ENDS(both_sides_learn_of_what_cannot_be_sent),
		cmocka_unit_test(the_other_side_of_a_pipe_finds_it_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
