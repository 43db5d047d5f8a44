/* SPDX-License-Identifier: Apache-2.0 */
/* Streams over everything that standard input and output may be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "net/loop/loop.h"

enum { BULK = 5 << 20 };

struct side {
	struct loop *loop;
	struct loop_stream *stream;
	struct buf got;
	int ends, end_errno, breaks, break_errno, drains;
	bool echo;      /* writes back what it reads */
	bool stop_at_end, stop_at_break, stop_at_drain, close_in_data;
};

static size_t stream_write(struct loop_stream *stream, struct span bytes)
{
	return loop_stream_writev(stream, &bytes, 1);
}

static void on_data(void *data, struct span bytes)
{
	struct side *side = data;

	buf_span(&side->got, bytes);
	if (side->echo)
		stream_write(side->stream, bytes);
	if (side->close_in_data) {
		loop_stream_close(side->stream, 0);
		side->stream = NULL;
	}
}

static void on_end(void *data, int sys_errno)
{
	struct side *side = data;

	side->ends++;
	side->end_errno = sys_errno;
	if (side->stop_at_end)
		loop_stop(side->loop);
}

static void on_broken(void *data, int sys_errno)
{
	struct side *side = data;

	side->breaks++;
	side->break_errno = sys_errno;
	if (side->stop_at_break)
		loop_stop(side->loop);
}

static void on_drained(void *data)
{
	struct side *side = data;

	side->drains++;
	if (side->stop_at_drain)
		loop_stop(side->loop);
}

static void side_open(struct side *side, int read_fd, int write_fd)
{
	static const struct loop_stream_events events = { on_data, on_end, on_broken, on_drained,
		                                            NULL };
	struct err err = ERR_INIT;

	side->got.max = 64 << 20;
	assert_true(loop_new(&side->loop, &err));
	assert_true(loop_stream_open(side->loop, read_fd, write_fd, &events, side, &side->stream,
	                             &err));
}

static void side_close(struct side *side)
{
	loop_stream_close(side->stream, 1000);
	loop_free(side->loop);
	buf_release(&side->got);
}

/* A run of bytes that is not the same anywhere. */
static char *pattern_new(size_t len)
{
	char *bytes = mem_alloc(len, 1);
	uint32_t seed = 7;

	for (size_t i = 0; i < len; i++) {
		seed = seed * 1664525 + 1013904223;
		bytes[i] = (char)(seed >> 24);
	}
	return bytes;
}

static bool is_blocking(int fd)
{
	return !(fcntl(fd, F_GETFL) & O_NONBLOCK);
}

struct far_side {
	int read_fd, write_fd;
	const char *sent;
	char *back;
	size_t len;
};

static void *write_far(void *data)
{
	struct far_side *far = data;

	fd_write_all(far->write_fd, far->sent, far->len);
	if (far->write_fd != far->read_fd)
		close(far->write_fd);
	else
		shutdown(far->write_fd, SHUT_WR);
	return NULL;
}

static void *read_far(void *data)
{
	struct far_side *far = data;

	fd_read_full(far->read_fd, far->back, far->len);
	return NULL;
}

/* Sends much through an echo, reading and writing at once, and compares. */
static void check_echo(int near_read, int near_write, int far_read, int far_write)
{
	struct side side = { .echo = true, .stop_at_end = true };
	struct far_side far = { far_read, far_write, pattern_new(BULK), mem_alloc(BULK, 1), BULK };
	pthread_t writer, reader;

	side_open(&side, near_read, near_write);
	pthread_create(&writer, NULL, write_far, &far);
	pthread_create(&reader, NULL, read_far, &far);
	loop_run(side.loop);
	assert_true(is_blocking(near_read)); /* for others who share it */
	assert_true(is_blocking(near_write));
	side_close(&side);
	pthread_join(writer, NULL);
	pthread_join(reader, NULL);
	assert_int_equal(side.ends, 1);
	assert_int_equal(side.end_errno, 0);
	assert_memory_equal(far.back, far.sent, BULK);
	free((char *)far.sent);
	free(far.back);
}

static void an_echo_over_pipes_loses_nothing(void **state)
{
	int in[2], out[2];

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	check_echo(in[0], out[1], out[0], in[1]);
	close(in[0]);
	close(out[0]);
	close(out[1]);
}

static void an_echo_over_one_socket_loses_nothing(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	check_echo(ends[0], ends[0], ends[1], ends[1]);
	close(ends[0]);
	close(ends[1]);
}

static void a_socket_of_two_numbers_works_as_well(void **state)
{
	int ends[2];
	int again;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	again = dup(ends[0]);
	check_echo(ends[0], again, ends[1], ends[1]);
	close(ends[0]);
	close(again);
	close(ends[1]);
}

static int scratch_file(void)
{
	char path[] = "/tmp/hasp-stream-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void files_are_read_to_their_end_and_written_whole(void **state)
{
	struct side side = { .echo = true, .stop_at_end = true };
	char *bytes = pattern_new(BULK), *back = mem_alloc(BULK, 1);
	int in = scratch_file(), out = scratch_file();

	(void)state;
	assert_true(fd_write_all(in, bytes, BULK));
	lseek(in, 0, SEEK_SET);
	side_open(&side, in, out);
	loop_run(side.loop);
	assert_int_equal(side.ends, 1);
	side_close(&side);
	assert_int_equal(pread(out, back, BULK, 0), BULK);
	assert_memory_equal(back, bytes, BULK);
	close(in);
	close(out);
	free(bytes);
	free(back);
}

static void dev_null_ends_at_once_and_swallows(void **state)
{
	struct side side = { .stop_at_end = true };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	side_open(&side, null, null);
	assert_int_equal(stream_write(side.stream, SPAN("gone")), 0);
	loop_run(side.loop);
	assert_int_equal(side.ends, 1);
	assert_int_equal(side.got.len, 0);
	side_close(&side);
	close(null);
}

static void a_terminal_stays_as_blocking_as_its_shell_left_it(void **state)
{
	struct side side = { .close_in_data = true };
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	int slave;
	char line[16];

	(void)state;
	assert_true(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	side_open(&side, slave, slave);
	assert_true(is_blocking(slave));
	stream_write(side.stream, SPAN("hello\n"));
	assert_int_equal(fd_read_full(master, line, 7), 7); /* the terminal adds a CR */
	assert_int_equal(write(master, "typed\n", 6), 6);
	loop_run(side.loop); /* the stream is closed in its own callback */
	assert_int_equal(side.got.len, 6);
	assert_true(is_blocking(slave));
	loop_free(side.loop);
	buf_release(&side.got);
	close(slave);
	close(master);
}

static void nobody_reads_any_more(void **state)
{
	int in[2], out[2];
	struct side side = { .stop_at_break = true };

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	side_open(&side, in[0], out[1]);
	close(out[0]);
	assert_int_equal(stream_write(side.stream, SPAN("lost")), 0);
	assert_int_equal(side.breaks, 0); /* told later, not from within the write */
	assert_int_equal(stream_write(side.stream, SPAN("lost")), 0);
	loop_run(side.loop);
	assert_int_equal(side.breaks, 1);
	assert_int_equal(side.break_errno, EPIPE);
	side_close(&side);
	close(in[0]);
	close(in[1]);
	close(out[1]);
}

static void after_the_end_of_the_input_a_lost_reader_is_noticed_without_a_write(void **state)
{
	int in[2], out[2];
	struct side side = { .stop_at_end = true, .stop_at_break = true };

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	side_open(&side, in[0], out[1]);
	close(in[1]);
	loop_run(side.loop);
	assert_int_equal(side.ends, 1);
	assert_int_equal(side.breaks, 0);
	close(out[0]);
	loop_run(side.loop);
	assert_int_equal(side.breaks, 1);
	side_close(&side);
	close(in[0]);
	close(out[1]);
}

static void *read_slowly(void *data)
{
	struct far_side *far = data;

	usleep(20000);
	return read_far(far);
}

static void a_slow_reader_makes_a_backlog_that_drains(void **state)
{
	int in[2], out[2];
	struct side side = { .stop_at_drain = true };
	struct far_side far = { .back = mem_alloc(BULK, 1), .len = BULK };
	char *bytes = pattern_new(BULK);
	pthread_t reader;
	size_t waits;

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	far.read_fd = out[0];
	side_open(&side, in[0], out[1]);
	waits = loop_stream_writev(side.stream,
	                           (const struct span[]){ { bytes, 100 }, { NULL, 0 },
	                                                  { bytes + 100, BULK - 100 } }, 3);
	assert_in_range(waits, BULK - (1 << 20), BULK); /* at most what a pipe holds is gone */
	pthread_create(&reader, NULL, read_slowly, &far);
	loop_run(side.loop);
	assert_int_equal(side.drains, 1);
	assert_int_equal(stream_write(side.stream, SPAN("")) > 1 << 20, 0);
	side_close(&side); /* waits for the rest */
	pthread_join(reader, NULL);
	assert_memory_equal(far.back, bytes, BULK);
	for (int i = 0; i < 2; i++) {
		close(in[i]);
		close(out[i]);
	}
	free(bytes);
	free(far.back);
}

static void stop_loop(void *data)
{
	loop_stop(data);
}

static void a_paused_stream_reads_nothing_and_goes_on_later(void **state)
{
	int in[2], out[2];
	struct side side = { .stop_at_end = true };
	struct loop_timer *timer;

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe(out), 0);
	side_open(&side, in[0], out[1]);
	loop_stream_pause(side.stream);
	assert_int_equal(write(in[1], "later", 5), 5);
	close(in[1]);
	timer = loop_timer_start(side.loop, 30, 0, stop_loop, side.loop);
	loop_run(side.loop);
	loop_timer_stop(timer);
	assert_int_equal(side.got.len, 0);
	loop_stream_resume(side.stream);
	loop_run(side.loop);
	assert_int_equal(side.got.len, 5);
	assert_int_equal(side.ends, 1);
	side_close(&side);
	close(in[0]);
	close(out[0]);
	close(out[1]);
}

static void what_is_not_open_is_refused(void **state)
{
	static const struct loop_stream_events events = { on_data, on_end, NULL, NULL,
		                                            NULL };
	struct loop_stream *stream = NULL;
	struct err err = ERR_INIT;
	struct loop *loop;

	(void)state;
	assert_true(loop_new(&loop, &err));
	assert_false(loop_stream_open(loop, 999, 1, &events, NULL, &stream, &err));
	assert_string_not_equal(err.message, "");
	assert_false(loop_stream_open(loop, 0, 999, &events, NULL, &stream, &err));
	assert_null(stream);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_echo_over_pipes_loses_nothing),
		cmocka_unit_test(an_echo_over_one_socket_loses_nothing),
		cmocka_unit_test(a_socket_of_two_numbers_works_as_well),
		cmocka_unit_test(files_are_read_to_their_end_and_written_whole),
		cmocka_unit_test(dev_null_ends_at_once_and_swallows),
		cmocka_unit_test(a_terminal_stays_as_blocking_as_its_shell_left_it),
		cmocka_unit_test(nobody_reads_any_more),
		cmocka_unit_test(
			after_the_end_of_the_input_a_lost_reader_is_noticed_without_a_write),
		cmocka_unit_test(a_slow_reader_makes_a_backlog_that_drains),
		cmocka_unit_test(a_paused_stream_reads_nothing_and_goes_on_later),
		cmocka_unit_test(what_is_not_open_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
