/* SPDX-License-Identifier: Apache-2.0 */
/* Byte streams.  For one request at a time a round costs epoll_wait, read and write: a
 * short read is taken to have emptied the pipe, and writing is tried before it is waited for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "net/loop/private.h"

/* ---- descriptor ---- */

/* Reading and writing a descriptor that others share, without waiting
 * and without making it non-blocking for them.
 *
 * O_NONBLOCK belongs to the open file description, which a terminal's shell, a parent or a
 * sibling may hold too.  So a pipe or terminal is opened a second time through /proc (a
 * description of our own); a socket is used with MSG_DONTWAIT; a regular file never makes
 * one wait.  Only where none of that can be had is the flag set, and put back at the end. */

struct descriptor {
	int fd;
	bool owned;        /* close it at the end */
	bool socket;
	bool always_ready; /* cannot be polled: a regular file */
	int restore;       /* flags to put back at the end, or -1 */
};

/* The master of pseudo-terminals: opening it again makes another terminal. */
static bool is_terminal_master(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 2);
}

static int open_again(int fd, int mode, const struct stat *st)
{
	char path[32];

	if (!S_ISFIFO(st->st_mode) && (is_terminal_master(st) || !isatty(fd)))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* The last resort; the others that share the description notice it. */
static void make_non_blocking(struct descriptor *descriptor, int flags)
{
	if (flags & O_NONBLOCK)
		return;
	if (fcntl(descriptor->fd, F_SETFL, flags | O_NONBLOCK) == 0)
		descriptor->restore = flags;
}

/* `mode`: O_RDONLY, O_WRONLY or O_RDWR. False with errno: `fd` is not open. */
static bool descriptor_open(struct descriptor *descriptor, int fd, int mode)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) != 0)
		return false;
	*descriptor = (struct descriptor){
		.fd = fd,
		.restore = -1,
		.socket = S_ISSOCK(st.st_mode),
		.always_ready = S_ISREG(st.st_mode),
	};
	if (descriptor->socket || descriptor->always_ready)
		return true;
	fd = open_again(fd, mode, &st);
	if (fd >= 0) {
		descriptor->fd = fd;
		descriptor->owned = true;
	} else {
		make_non_blocking(descriptor, flags);
	}
	return true;
}

static void descriptor_close(struct descriptor *descriptor)
{
	if (descriptor->restore >= 0)
		fcntl(descriptor->fd, F_SETFL, descriptor->restore);
	if (descriptor->owned)
		close(descriptor->fd);
	descriptor->fd = -1;
}

/* Interrupted calls are repeated. -1 with errno; EAGAIN: nothing to read, or no room. */
static ssize_t descriptor_read(const struct descriptor *descriptor, void *data, size_t len)
{
	ssize_t n;

	do
		n = descriptor->socket ? recv(descriptor->fd, data, len, MSG_DONTWAIT) :
		                         read(descriptor->fd, data, len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Writes what comes after the first `skip` bytes of the parts; not necessarily all of it. */
static ssize_t descriptor_write(const struct descriptor *descriptor, const struct span *parts,
                                size_t count, size_t skip)
{
	struct iovec iov[4];
	struct msghdr message = { .msg_iov = iov };
	ssize_t n;

	for (; count && message.msg_iovlen < ARRAY_LEN(iov); parts++, count--) {
		struct span rest = span_skip(*parts, skip);

		skip -= parts->len - rest.len;
		if (rest.len)
			iov[message.msg_iovlen++] =
				(struct iovec){ (void *)(uintptr_t)rest.data, rest.len };
	}
	do
		n = descriptor->socket ?
		            sendmsg(descriptor->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) :
		            writev(descriptor->fd, iov, (int)message.msg_iovlen);
	while (n < 0 && errno == EINTR);
	return n;
}

/* ---- streams ---- */

enum {
	READ_MIN = 64 << 10, /* what a pipe holds */
	READ_MAX = 1 << 20,
	READ_ROUNDS = 16, /* full reads in a row before others get their turn */
	LOW_WATER = 1 << 20,
	GATHER_MAX = 64 << 10, /* larger writes are faster without a copy */
};

/* A descriptor and its place in the loop's poll. */
struct channel {
	struct loop_stream *stream;
	struct descriptor descriptor;
	uv_poll_t poll; /* unused when the descriptor is always ready */
	int watched;    /* UV_READABLE, UV_WRITABLE or both */
};

struct loop_stream {
	struct loop_thing thing;
	struct loop *loop;
	struct loop_stream_events events;
	void *data;
	struct channel channels[2];
	struct channel *in, *out; /* the same one for a descriptor that is both */
	uv_idle_t turns;          /* reads of what is always ready, one an iteration */
	struct loop_task failure; /* reports a failed write, outside of the write; once */
	struct loop_task flush;   /* writes what was gathered; while `gathering` */
	bool gathering;
	struct buf backlog;
	size_t sent; /* bytes of `backlog` that are written */
	int write_errno;
	bool paused, above_low_water;
	bool ended, closed;
	unsigned handles; /* libuv's, and posted tasks: memory goes with the last */
};

/* ---- memory ---- */

static void stream_unref(struct loop_stream *stream)
{
	if (--stream->handles > 0)
		return;
	buf_release(&stream->backlog);
	free(stream);
}

static void handle_closed(uv_handle_t *handle)
{
	stream_unref(handle->data);
}

/* ---- what is waited for ---- */

static void poll_event(uv_poll_t *poll, int status, int events);
static void stream_turn(uv_idle_t *turns);

static size_t stream_unwritten(const struct loop_stream *stream)
{
	return stream->backlog.len - stream->sent;
}

static bool reads_input(const struct loop_stream *stream)
{
	return !stream->paused && !stream->ended && !stream->closed;
}

static void channel_watch(struct channel *channel)
{
	struct loop_stream *stream = channel->stream;
	int events = 0;

	if (channel == stream->in && reads_input(stream))
		events |= UV_READABLE;
	if (channel == stream->out && stream_unwritten(stream) && !stream->gathering)
		events |= UV_WRITABLE;
	/* After the end of the input, only this detects that the other side has closed.  A socket's
	 * other side may have closed only its half. */
	if (channel == stream->out && stream->ended && !stream->write_errno &&
	    !channel->descriptor.socket)
		events |= UV_DISCONNECT;
	if (channel->descriptor.always_ready) {
		if (events & UV_READABLE)
			uv_idle_start(&stream->turns, stream_turn);
		else if (channel == stream->in)
			uv_idle_stop(&stream->turns);
		return;
	}
	if (events == channel->watched)
		return;
	channel->watched = events;
	if (events)
		uv_poll_start(&channel->poll, events, poll_event);
	else
		uv_poll_stop(&channel->poll);
}

static void stream_watch(struct loop_stream *stream)
{
	if (stream->closed)
		return;
	channel_watch(stream->in);
	if (stream->out != stream->in)
		channel_watch(stream->out);
}

static void stream_end(struct loop_stream *stream, int sys_errno)
{
	if (stream->ended || stream->closed)
		return;
	stream->ended = true;
	stream_watch(stream);
	stream->events.end(stream->data, sys_errno);
}

/* ---- reading ---- */

static void read_buffer_grow(struct loop *loop, size_t size)
{
	free(loop->read_buffer);
	loop->read_buffer = mem_alloc(size, 1);
	loop->read_size = size;
}

/* Reads once. Returns whether more may be there. */
static bool read_once(struct loop_stream *stream)
{
	struct loop *loop = stream->loop;
	size_t size = loop->read_size;
	ssize_t n = descriptor_read(&stream->in->descriptor, loop->read_buffer, size);

	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		stream_end(stream, n < 0 ? errno : 0);
		return false;
	}
	stream->events.data(stream->data, span_of(loop->read_buffer, (size_t)n));
	if ((size_t)n < size)
		return false;
	if (loop->read_size < READ_MAX)
		read_buffer_grow(loop, loop->read_size * 2);
	return true;
}

static void stream_turn(uv_idle_t *turns)
{
	struct loop_stream *stream = turns->data;

	if (reads_input(stream))
		read_once(stream);
	stream_watch(stream);
}

/* ---- writing ---- */

static void report_stream_failure(struct loop_task *task)
{
	struct loop_stream *stream =
		(struct loop_stream *)((char *)task - offsetof(struct loop_stream, failure));

	if (!stream->closed && stream->events.broken)
		stream->events.broken(stream->data, stream->write_errno);
	stream_unref(stream);
}

static void stream_fail_writing(struct loop_stream *stream, int sys_errno)
{
	stream->write_errno = sys_errno;
	buf_release(&stream->backlog);
	stream->sent = 0;
	stream->handles++;
	stream->failure.run = report_stream_failure;
	loop_post(stream->loop, &stream->failure);
}

static size_t span_sum(const struct span *parts, size_t count)
{
	size_t len = 0;

	while (count--)
		len += parts++->len;
	return len;
}

/* Writes what it can without waiting; returns how many bytes were taken, all of them (as
 * dropped) after a failure. */
static size_t write_now(struct loop_stream *stream, const struct span *parts, size_t count)
{
	size_t len = span_sum(parts, count);
	size_t done = 0;

	while (done < len) {
		ssize_t n = descriptor_write(&stream->out->descriptor, parts, count, done);

		if (n < 0 && errno == EAGAIN)
			return done;
		if (n <= 0) {
			stream_fail_writing(stream, n < 0 ? errno : ENOSPC);
			return len;
		}
		done += (size_t)n;
	}
	return done;
}

/* Drops the part of the backlog that is written, once that is worth moving the rest. */
static void backlog_shift(struct loop_stream *stream)
{
	size_t rest = stream_unwritten(stream);

	if (rest == 0 && stream->backlog.cap > LOW_WATER) {
		buf_release(&stream->backlog);
	} else if (stream->sent >= rest) {
		if (rest)
			memmove(stream->backlog.data, stream->backlog.data + stream->sent, rest);
		stream->backlog.len = rest;
	} else {
		return;
	}
	stream->sent = 0;
}

static void flush_backlog(struct loop_stream *stream)
{
	struct span rest = buf_from(&stream->backlog, stream->sent);
	size_t taken = write_now(stream, &rest, 1);

	if (stream->write_errno)
		return;
	stream->sent += taken;
	backlog_shift(stream);
}

static void report_drained(struct loop_stream *stream)
{
	if (!stream->above_low_water || stream_unwritten(stream) > LOW_WATER || stream->closed)
		return;
	stream->above_low_water = false;
	if (stream->events.drained && !stream->write_errno)
		stream->events.drained(stream->data);
}

/* Keeps what of the parts comes after the first `taken` bytes. */
static void keep_rest(struct loop_stream *stream, const struct span *parts, size_t count,
                      size_t taken)
{
	backlog_shift(stream);
	for (size_t i = 0; i < count && !stream->write_errno; i++) {
		size_t skip = taken < parts[i].len ? taken : parts[i].len;

		taken -= skip;
		if (!buf_span(&stream->backlog, span_skip(parts[i], skip)))
			stream_fail_writing(stream, ENOBUFS);
	}
}

size_t loop_stream_writev(struct loop_stream *stream, const struct span *parts, size_t count)
{
	size_t taken = 0;

	if (stream->write_errno)
		return 0;
	if (!stream_unwritten(stream))
		taken = write_now(stream, parts, count);
	if (taken < span_sum(parts, count)) {
		keep_rest(stream, parts, count, taken);
		stream_watch(stream);
	}
	if (stream_unwritten(stream) > LOW_WATER)
		stream->above_low_water = true;
	return stream_unwritten(stream);
}

static void write_gathered(struct loop_task *task)
{
	struct loop_stream *stream =
		(struct loop_stream *)((char *)task - offsetof(struct loop_stream, flush));

	stream->gathering = false;
	if (!stream->closed && !stream->write_errno) {
		flush_backlog(stream);
		stream_watch(stream);
		report_drained(stream);
	}
	stream_unref(stream);
}

size_t loop_stream_gather(struct loop_stream *stream, const struct span *parts, size_t count)
{
	bool small = span_sum(parts, count) + stream_unwritten(stream) <= GATHER_MAX;

	if (stream->gathering && !small && !stream->write_errno)
		flush_backlog(stream);
	if (!small || stream->write_errno || (stream_unwritten(stream) && !stream->gathering))
		return loop_stream_writev(stream, parts, count);
	keep_rest(stream, parts, count, 0);
	if (!stream->gathering && !stream->write_errno) {
		stream->gathering = true;
		stream->handles++;
		stream->flush.run = write_gathered;
		loop_post(stream->loop, &stream->flush);
	}
	return stream_unwritten(stream);
}

/* ---- life ---- */

static void poll_event(uv_poll_t *poll, int status, int events)
{
	struct channel *channel = (struct channel *)((char *)poll - offsetof(struct channel, poll));
	struct loop_stream *stream = channel->stream;

	if (status < 0) { /* libuv has stopped: try, and learn what it is */
		events = channel->watched;
		channel->watched = 0;
	}
	if ((events & UV_DISCONNECT) && !stream->write_errno)
		stream_fail_writing(stream, EPIPE);
	if (events & UV_WRITABLE) {
		flush_backlog(stream);
		report_drained(stream);
		if (!stream_unwritten(stream) && !stream->write_errno && !stream->closed &&
		    stream->events.written)
			stream->events.written(stream->data);
	}
	if (events & UV_READABLE) {
		int rounds = READ_ROUNDS;

		while (rounds-- && reads_input(stream) && read_once(stream))
			;
	}
	stream_watch(stream);
}

static bool channel_open(struct loop_stream *stream, struct channel *channel, int fd, int mode)
{
	int failed;

	channel->stream = stream;
	if (!descriptor_open(&channel->descriptor, fd, mode))
		return false;
	if (channel->descriptor.always_ready)
		return true;
	failed = loop_poll_init(stream->loop, &channel->poll, channel->descriptor.fd);
	if (failed == -EPERM) {
		channel->descriptor.always_ready = true;
		return true;
	}
	if (failed) {
		descriptor_close(&channel->descriptor);
		errno = -failed;
		return false;
	}
	channel->poll.data = stream;
	stream->handles++;
	return true;
}

static void channel_close(struct channel *channel)
{
	if (!channel->descriptor.always_ready)
		uv_close((uv_handle_t *)&channel->poll, handle_closed);
	descriptor_close(&channel->descriptor);
}

static void stream_close(struct loop_thing *thing)
{
	struct loop_stream *stream = (struct loop_stream *)thing;

	loop_remove_thing(thing);
	loop_unhold(stream->loop);
	stream->closed = true;
	channel_close(stream->in);
	if (stream->out != stream->in)
		channel_close(stream->out);
	uv_close((uv_handle_t *)&stream->turns, handle_closed);
}

static struct loop_stream *stream_new(struct loop *loop)
{
	struct loop_stream *stream = mem_alloc(1, sizeof(*stream));

	stream->loop = loop;
	stream->thing.close = stream_close;
	stream->backlog.max = LIMIT_BACKLOG_BYTES;
	stream->in = stream->out = &stream->channels[0];
	uv_idle_init(&loop->uv, &stream->turns);
	stream->turns.data = stream;
	stream->handles = 1;
	if (!loop->read_buffer)
		read_buffer_grow(loop, READ_MIN);
	return stream;
}

bool loop_stream_open(struct loop *loop, int read_fd, int write_fd,
                      const struct loop_stream_events *events, void *data,
                      struct loop_stream **ret, struct err *err)
{
	struct loop_stream *stream = stream_new(loop);
	bool one = read_fd == write_fd;

	stream->events = *events;
	stream->data = data;
	if (!channel_open(stream, stream->in, read_fd, one ? O_RDWR : O_RDONLY)) {
		uv_close((uv_handle_t *)&stream->turns, handle_closed);
		return err_set_errno(err, errno, "Descriptor %d cannot be read", read_fd);
	}
	if (!one && !channel_open(stream, &stream->channels[1], write_fd, O_WRONLY)) {
		err_set_errno(err, errno, "Descriptor %d cannot be written", write_fd);
		channel_close(stream->in);
		uv_close((uv_handle_t *)&stream->turns, handle_closed);
		return false;
	}
	if (!one)
		stream->out = &stream->channels[1];
	loop_add_thing(loop, &stream->thing);
	loop_hold(loop); /* while paused nothing else would keep the loop waiting */
	stream_watch(stream);
	*ret = stream;
	return true;
}

void loop_stream_pause(struct loop_stream *stream)
{
	stream->paused = true;
	stream_watch(stream);
}

void loop_stream_resume(struct loop_stream *stream)
{
	stream->paused = false;
	stream_watch(stream);
}

/* Waits until something of the backlog has been written; false when nothing was in time. */
static bool stream_wait_written(struct loop_stream *stream, unsigned drain_ms)
{
	struct pollfd ready = { .fd = stream->out->descriptor.fd, .events = POLLOUT };
	size_t before = stream_unwritten(stream);
	uint64_t now = clock_monotonic_ms();
	uint64_t end = now + drain_ms;

	for (; now < end && stream_unwritten(stream) == before; now = clock_monotonic_ms()) {
		if (poll(&ready, 1, (int)(end - now)) < 0 && errno != EINTR)
			return false;
		flush_backlog(stream);
	}
	return stream_unwritten(stream) < before;
}

void loop_stream_close(struct loop_stream *stream, unsigned drain_ms)
{
	if (!stream)
		return;
	while (stream_unwritten(stream) && stream_wait_written(stream, drain_ms))
		;
	stream_close(&stream->thing);
}
