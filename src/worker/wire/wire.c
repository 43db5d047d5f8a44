/* SPDX-License-Identifier: Apache-2.0 */
/* A connection: receiving and sending frames, its greeting, its beginning and end. */
#include "worker/wire/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/wire/layout.h"
#include "worker/wire/message.h"

/* One system call reads several small frames; of a larger frame this much is copied a second
 * time. */
enum { WIRE_READ_AHEAD = 64 << 10 };

/* ---- receiving frames ---- */

/* In steps, so that the reader can stop between any two reads. */

/* Memory for announced bytes is got in steps, so that it is the bytes that came, and not the
 * announcement, that use it up. Growing a large block moves no bytes (mremap). */
enum { FIRST_STEP = 1 << 20, GROWTH = 4 };

/* Sets the problem; returns WIRE_FAILED. */
__attribute__((format(printf, 2, 3))) static enum wire_step wire_fail(struct wire *wire,
                                                                    const char *format, ...)
{
	va_list args;

	if (wire->problem[0])
		return WIRE_FAILED;
	va_start(args, format);
	vsnprintf(wire->problem, sizeof(wire->problem), format, args);
	va_end(args);
	return WIRE_FAILED;
}

static bool keep_fds(struct wire *wire, struct msghdr *message)
{
	bool ok = !(message->msg_flags & MSG_CTRUNC);

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head;
	     head = CMSG_NXTHDR(message, head)) {
		size_t count;

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(head) + i * sizeof(fd), sizeof(fd));
			if (wire->fd_count < ARRAY_LEN(wire->fds)) {
				wire->fds[wire->fd_count++] = fd;
			} else {
				close(fd);
				ok = false;
			}
		}
	}
	return ok;
}

static ssize_t receive_socket(struct wire *wire, void *to, size_t len, bool *ret_fds_fit)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * 2 * WIRE_FDS_MAX)];
	struct iovec part = { to, len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
		                  .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(wire->read_fd, &message,
	                      MSG_CMSG_CLOEXEC | (wire->wait ? MSG_DONTWAIT : 0));

	*ret_fds_fit = got < 0 || keep_fds(wire, &message);
	return got;
}

/* Until there is something to read, where this file waits at all; false: there was silence. */
static bool await_bytes(struct wire *wire)
{
	struct pollfd fd = { .fd = wire->read_fd, .events = POLLIN };
	int got = 1;

	if (!wire->wait && wire->silence_ms)
		while ((got = poll(&fd, 1, (int)wire->silence_ms)) < 0 && errno == EINTR)
			;
	if (got < 0)
		wire_fail(wire, "it cannot be waited for: %s", strerror(errno));
	return got > 0;
}

/* One read of up to `len` bytes, past what was read ahead; WIRE_FRAME: *ret_got came. */
static enum wire_step wire_receive(struct wire *wire, void *to, size_t len, size_t *ret_got)
{
	bool fds_fit = true;
	ssize_t got;

	wire_flush_unless_busy(wire); /* if it fails, so will reading */
	if (!await_bytes(wire))
		return wire_fail(wire, "nothing came for %u s", wire->silence_ms / 1000);
	do {
		got = wire->is_socket ? receive_socket(wire, to, len, &fds_fit) :
		                        read(wire->read_fd, to, len);
		if (got < 0 && errno == EAGAIN && !wire->wait) { /* set by another process */
			fd_wait(&(struct pollfd){ .fd = wire->read_fd, .events = POLLIN }, 1, -1);
			errno = EINTR;
		}
	} while (got < 0 && errno == EINTR);
	if (!fds_fit)
		return wire_fail(wire, "there are more descriptors than a frame may have");
	if (got < 0 && errno == EAGAIN)
		return WIRE_AGAIN;
	if (got < 0 && errno != ECONNRESET)
		return wire_fail(wire, "it cannot be read: %s", strerror(errno));
	if (got <= 0)
		return WIRE_ENDED;
	wire->received += (uint64_t)got;
	*ret_got = (size_t)got;
	return WIRE_FRAME;
}

/* One read into the room that is left of `in`; WIRE_FRAME: something came. */
static enum wire_step wire_fill(struct wire *wire)
{
	enum wire_step step;
	size_t got = 0;

	if (wire->in_len == 0)
		wire->in_at = 0;
	if (wire->in_at > 0) {
		memmove(wire->in, wire->in + wire->in_at, wire->in_len);
		wire->in_at = 0;
	}
	step = wire_receive(wire, wire->in + wire->in_len, WIRE_READ_AHEAD - wire->in_len, &got);
	wire->in_len += got;
	return step;
}

bool wire_has_input(const struct wire *wire)
{
	return wire->in_len > 0 || wire->state == WIRE_IN_FRAME;
}

static size_t take_ahead(struct wire *wire, char *to, size_t len)
{
	size_t some = len < wire->in_len ? len : wire->in_len;

	memcpy(to, wire->in + wire->in_at, some);
	wire->in_at += some;
	wire->in_len -= some;
	return some;
}

/* Some of `len` bytes (not 0), from what was read ahead or, when they are few, by way of it. */
static enum wire_step get_some(struct wire *wire, char *to, size_t len, size_t *ret_got)
{
	enum wire_step step;

	if (!wire->in_len && len < WIRE_READ_AHEAD / 2) {
		step = wire_fill(wire);
		if (step != WIRE_FRAME)
			return step;
	}
	if (wire->in_len) {
		*ret_got = take_ahead(wire, to, len);
		return WIRE_FRAME;
	}
	return wire_receive(wire, to, len, ret_got);
}

/* An end in the middle of something. */
static enum wire_step fail_if_cut(struct wire *wire, enum wire_step step)
{
	return step == WIRE_ENDED ? wire_fail(wire, "it ended in the middle of a message") : step;
}

/* ---- header and fields ---- */

static enum wire_step take_fds(struct wire *wire, size_t count)
{
	struct wire_frame *frame = &wire->frame;

	if (count > WIRE_FDS_MAX || count > wire->fd_count)
		return wire_fail(wire, "%s lacks its descriptors", frame->message->name);
	memcpy(frame->fds, wire->fds, count * sizeof(int));
	frame->fd_count = count;
	wire->fd_count -= count;
	memmove(wire->fds, wire->fds + count, wire->fd_count * sizeof(int));
	return WIRE_FRAME;
}

static enum wire_step open_header(struct wire *wire)
{
	const char *header = wire->header;
	struct wire_frame *frame = &wire->frame;
	const struct wire_message *message =
		wire_message_find((unsigned)bytes_get(header + 4, 2));

	if (!message || message->direction != wire->from)
		return wire_fail(wire, "there is no message %u",
		                 (unsigned)bytes_get(header + 4, 2));
	*frame = (struct wire_frame){ .message = message, .id = bytes_get(header + 8, 8),
		                      .blob_bytes = bytes_get(header + 16, 8) };
	wire->fields_len = (size_t)bytes_get(header, 4);
	if (wire->fields_len > message->fields_max || frame->blob_bytes > message->blob_max)
		return wire_fail(wire, "%s is too long", message->name);
	if (bytes_get(header + 6, 1))
		return wire_fail(wire, "%s has flags that do not exist", message->name);
	if (bytes_get(header + 7, 1) && message->number != WIRE_MESSAGE_RUN)
		return wire_fail(wire, "%s may not have descriptors", message->name);
	wire->blob_left = frame->blob_bytes;
	wire->fields_have = 0;
	return take_fds(wire, (size_t)bytes_get(header + 7, 1));
}

static enum wire_step read_frame_header(struct wire *wire)
{
	while (wire->header_len < WIRE_HEADER_BYTES) {
		size_t got = 0;
		enum wire_step step = get_some(wire, wire->header + wire->header_len,
		                               WIRE_HEADER_BYTES - wire->header_len, &got);

		if (step != WIRE_FRAME)
			return wire->header_len ? fail_if_cut(wire, step) : step;
		wire->header_len += got;
	}
	wire->state = WIRE_IN_FIELDS;
	return open_header(wire);
}

static bool grow_fields(struct wire *wire)
{
	size_t want = wire->fields_cap ? wire->fields_cap * GROWTH : FIRST_STEP;
	char *fields;

	if (want > wire->fields_len + 1)
		want = wire->fields_len + 1;
	fields = realloc(wire->fields, want);
	if (!fields)
		return false;
	wire->fields = fields;
	wire->fields_cap = want;
	return true;
}

static enum wire_step read_fields(struct wire *wire)
{
	while (wire->fields_have < wire->fields_len) {
		size_t got = 0, room;
		enum wire_step step;

		if (wire->fields_have >= wire->fields_cap && !grow_fields(wire))
			return wire_fail(wire, "there is no memory for a message");
		room = wire->fields_cap - wire->fields_have;
		if (room > wire->fields_len - wire->fields_have)
			room = wire->fields_len - wire->fields_have;
		step = get_some(wire, wire->fields + wire->fields_have, room, &got);
		if (step != WIRE_FRAME)
			return fail_if_cut(wire, step);
		wire->fields_have += got;
	}
	wire->frame.fields = span_of(wire->fields, wire->fields_len);
	wire->state = WIRE_IN_FRAME;
	return WIRE_FRAME;
}

enum wire_step wire_next(struct wire *wire)
{
	enum wire_step step = WIRE_FRAME;

	if (wire->state == WIRE_IN_HEADER)
		step = read_frame_header(wire);
	if (step == WIRE_FRAME && wire->state == WIRE_IN_FIELDS)
		step = read_fields(wire);
	return step;
}

bool wire_is_within_frame(const struct wire *wire)
{
	return wire->state == WIRE_IN_FIELDS ||
	       (wire->state == WIRE_IN_HEADER && wire->header_len);
}

char *wire_take_fields(struct wire *wire)
{
	char *fields = mem_steal(&wire->fields);

	wire->fields_cap = 0;
	return fields;
}

void wire_open(const struct wire *wire, struct wire_arena *arena, struct wire_in *ret)
{
	*ret = (struct wire_in){ .fields = wire->frame.fields, .arena = arena,
		                 .blob_max = wire->frame.blob_bytes };
}

bool wire_decode_frame(struct wire *wire, struct wire_in *in, void *object)
{
	bool ok = wire_decode(in, wire->frame.message->layout, object) && wire_decode_end(in);

	if (ok && in->blob_bytes != wire->frame.blob_bytes)
		ok = wire_fail(wire, "%s has another blob than it says",
		               wire->frame.message->name) == WIRE_FRAME;
	else if (!ok)
		wire_fail(wire, "%s.%s", wire->frame.message->name, in->problem);
	return ok;
}

static void wire_close_fds(int *fds, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		close(fds[i]);
	*count = 0;
}

enum wire_step wire_done(struct wire *wire)
{
	if (wire->blob_left)
		return wire_fail(wire, "%s has an unexpected blob",
		                 wire->frame.message->name);
	wire_close_fds(wire->frame.fds, &wire->frame.fd_count);
	wire->header_len = 0;
	wire->frame = (struct wire_frame){ 0 };
	if (wire->fields_cap > FIRST_STEP / 16) /* a large one is not kept */
		free(wire_take_fields(wire));
	wire->state = WIRE_IN_HEADER;
	return WIRE_FRAME;
}

/* ---- blobs ---- */

static enum wire_step get_all(struct wire *wire, char *to, size_t len)
{
	while (len) {
		size_t got = 0;
		enum wire_step step = get_some(wire, to, len, &got);

		if (step == WIRE_AGAIN) {
			if (!wire->wait(wire->wait_data, wire->read_fd, POLLIN))
				return wire_fail(wire, "it stopped in the middle of a message");
			continue;
		}
		if (step != WIRE_FRAME)
			return fail_if_cut(wire, step);
		to += got;
		len -= got;
		wire->blob_left -= got;
	}
	return WIRE_FRAME;
}

/* `len` bytes of the stream, NUL-terminated, in new memory. */
static enum wire_step get_block(struct wire *wire, size_t len, char **ret)
{
	_cleanup_free_ char *block = NULL;
	size_t have = 0, step_len = FIRST_STEP;

	do {
		size_t some = len - have < step_len ? len - have : step_len;
		char *more = realloc(block, have + some + 1);
		enum wire_step step;

		if (!more)
			return wire_fail(wire, "there is no memory for a file's content");
		block = more;
		step = get_all(wire, block + have, some);
		if (step != WIRE_FRAME)
			return step;
		have += some;
		step_len *= GROWTH;
	} while (have < len);
	block[len] = '\0';
	*ret = mem_steal(&block);
	return WIRE_FRAME;
}

static enum wire_step into_bufs(struct wire *wire, struct wire_in *in)
{
	for (size_t i = 0; i < in->blob_count; i++) {
		struct wire_blob *blob = &in->blobs[i];
		size_t len = (size_t)blob->len;
		enum wire_step step;

		if (!len)
			continue;
		if (len > blob->buf->max)
			return wire_fail(wire, "a file's content is too large");
		step = get_block(wire, len, &blob->buf->data);
		if (step != WIRE_FRAME)
			return step;
		blob->buf->len = len;
		blob->buf->cap = len + 1;
	}
	return WIRE_FRAME;
}

/* All of it, the spans one after the other. */
static enum wire_step into_spans(struct wire *wire, struct wire_in *in)
{
	char *block;
	enum wire_step step = get_block(wire, (size_t)in->blob_bytes, &block);

	if (step != WIRE_FRAME)
		return step;
	wire_arena_keep(in->arena, block);
	for (size_t i = 0; i < in->blob_count; i++) {
		*in->blobs[i].span = span_of(block, (size_t)in->blobs[i].len);
		block += in->blobs[i].len;
	}
	return step;
}

enum wire_step wire_read_blob(struct wire *wire, struct wire_in *in)
{
	if (!in->blob_bytes)
		return WIRE_FRAME;
	return in->arena ? into_spans(wire, in) : into_bufs(wire, in);
}

/* ---- sending frames ---- */

enum {
	PARTS = 64,            /* of one system call */
	LEAVING_LOOK_MS = 500, /* how often who waits for room looks whether it is worth it */
};

/* A pipe without a reader must not kill this process; a socket has a flag for that. */
static ssize_t write_pipe(int fd, const struct iovec *parts, size_t count)
{
	const struct timespec at_once = { 0 };
	sigset_t pipe, before;
	ssize_t wrote;
	int number;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, &before);
	wrote = writev(fd, parts, (int)count);
	number = errno;
	if (wrote < 0 && number == EPIPE && !sigismember(&before, SIGPIPE))
		sigtimedwait(&pipe, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = number;
	return wrote;
}

static ssize_t write_socket(const struct wire *wire, struct iovec *parts, size_t count,
                            const int *fds, size_t fd_count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int) * WIRE_FDS_MAX)] = { 0 };
	struct msghdr message = { .msg_iov = parts, .msg_iovlen = count };

	if (fd_count) {
		struct cmsghdr *head = (struct cmsghdr *)control;

		*head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int) * fd_count),
			                  .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(head), fds, sizeof(int) * fd_count);
		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(sizeof(int) * fd_count);
	}
	return sendmsg(wire->write_fd, &message,
	               MSG_NOSIGNAL | (wire->wait || wire->silence_ms ? MSG_DONTWAIT : 0));
}

/* Skips what was written. */
static void advance(struct iovec **parts, size_t *count, size_t wrote)
{
	while (*count && wrote >= (*parts)->iov_len) {
		wrote -= (*parts)->iov_len;
		(*parts)++;
		(*count)--;
	}
	if (*count) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + wrote;
		(*parts)->iov_len -= wrote;
	}
}

/* Until there may be room, where this file waits at all; false: the sender gave up, or nothing was
 * taken for as long as a lease (`waited_ms`, so far). */
static bool wire_await_room(const struct wire *wire, unsigned *waited_ms)
{
	struct pollfd fd = { .fd = wire->write_fd, .events = POLLOUT };

	if (wire->leaving || (wire->silence_ms && *waited_ms >= wire->silence_ms))
		return false;
	if (fd_wait(&fd, 1, LEAVING_LOOK_MS) == 0)
		*waited_ms += LEAVING_LOOK_MS;
	return true;
}

static bool write_parts(struct wire *wire, struct iovec *parts, size_t count, const int *fds,
                        size_t fd_count, struct err *err)
{
	unsigned waited_ms = 0;

	while (count) {
		size_t some = count < PARTS ? count : PARTS;
		ssize_t wrote = wire->is_socket ? write_socket(wire, parts, some, fds, fd_count) :
		                                  write_pipe(wire->write_fd, parts, some);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote < 0 && errno == EAGAIN && wire->wait) {
			if (!wire->wait(wire->wait_data, wire->write_fd, POLLOUT))
				return err_set(err, ERR_IO_ERROR, "The worker does not read.");
			continue;
		}
		if (wrote < 0 && errno == EAGAIN) {
			if (!wire_await_room(wire, &waited_ms))
				return err_set(err, ERR_IO_ERROR, "The other side does not read.");
			continue;
		}
		waited_ms = 0;
		if (wrote < 0)
			return err_set_errno(err, errno, "The other side cannot be written to");
		fd_count = 0; /* they go with the first byte */
		wire->written += (uint64_t)wrote;
		advance(&parts, &count, (size_t)wrote);
	}
	return true;
}

/* Nothing can be sent any more, so no answer comes to what was sent either: the readers of both
 * sides find the connection closed.  Of pipes the end to write to is replaced, not closed, because
 * it is borrowed. */
static void wire_cut(struct wire *wire, int error)
{
	wire->write_broken = true;
	if (error != EPIPE && error != ECONNRESET)
		wire->write_error = error;
	if (shutdown(wire->write_fd, SHUT_RDWR) != 0 && wire->read_fd != wire->write_fd)
		dup3(wire->read_fd, wire->write_fd, O_CLOEXEC);
}

/* ---- frames ---- */

static bool check_size(const struct wire_message *message, const struct wire_out *out,
                       struct err *err)
{
	if (out->too_long)
		return err_set(err, ERR_TOO_LARGE,
		               "A worker's %s message takes at most %llu %s of \"%s\".",
		               message->name, (unsigned long long)out->too_long->max,
		               out->too_long->of || out->too_long->kind == WIRE_TEXTS ||
		                               out->too_long->kind == WIRE_TEXTS_OR_NULL ?
		                       "elements" : "bytes", out->too_long->name);
	if (out->fields.overflowed || out->fields.len > message->fields_max ||
	    out->blob_bytes > message->blob_max)
		return err_set(err, ERR_TOO_LARGE, "This is too large for a worker's %s message.",
		               message->name);
	return true;
}

/* Parts of which the first is what was queued, or empty. With the lock held. */
static bool write_queued_parts(struct wire *wire, struct iovec *parts, size_t count, const int *fds,
                               size_t fd_count, struct err *err)
{
	size_t skip = parts[0].iov_len ? 0 : 1;
	struct err why = ERR_INIT;
	bool ok;

	if (wire->write_broken)
		return err_set(err, ERR_IO_ERROR, "The connection to the worker is broken.");
	ok = write_parts(wire, parts + skip, count - skip, fds, fd_count, &why);
	buf_clear(&wire->queued);
	if (!ok) {
		wire_cut(wire, why.sys_errno);
		*err = why;
	}
	return ok;
}

static bool write_queued(struct wire *wire, struct err *err)
{
	struct iovec part = { wire->queued.data, wire->queued.len };

	return write_queued_parts(wire, &part, 1, NULL, 0, err);
}

/* Locked; unlocks. */
static bool flush_locked(struct wire *wire)
{
	struct err err = ERR_INIT;
	bool ok = !wire->queued.len || write_queued(wire, &err);

	pthread_mutex_unlock(&wire->write_lock);
	return ok;
}

bool wire_flush(struct wire *wire)
{
	pthread_mutex_lock(&wire->write_lock);
	return flush_locked(wire);
}

bool wire_flush_unless_busy(struct wire *wire)
{
	return pthread_mutex_trylock(&wire->write_lock) != 0 || flush_locked(wire);
}

/* Whether a frame fits into the queue, in which it is then. With the lock held. */
static bool enqueue_parts(struct wire *wire, const struct iovec *parts, size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++)
		bytes += parts[i].iov_len;
	if (bytes > WIRE_QUEUE_BYTES - wire->queued.len)
		return false;
	for (size_t i = 0; i < count; i++)
		buf_append(&wire->queued, parts[i].iov_base, parts[i].iov_len);
	return true;
}

/* When a frame goes. */
enum pace { PACE_NOW, PACE_QUEUED, PACE_QUEUED_UNLESS_BUSY };

/* A frame in parts; the first place is for what was queued. */
static bool send_parts(struct wire *wire, struct iovec *parts, size_t count, const int *fds,
                       size_t fd_count, enum pace pace, struct err *err)
{
	bool ok = true;

	if (pace != PACE_QUEUED_UNLESS_BUSY)
		pthread_mutex_lock(&wire->write_lock);
	else if (pthread_mutex_trylock(&wire->write_lock) != 0)
		return err_set(err, ERR_BUSY, "The connection to the worker is in use.");
	if (pace == PACE_NOW || wire->write_broken || !enqueue_parts(wire, parts + 1, count - 1)) {
		if (fd_count) /* they come with the first byte of their frame */
			ok = write_queued(wire, err);
		parts[0] = (struct iovec){ wire->queued.data, wire->queued.len };
		ok = ok && write_queued_parts(wire, parts, count, fds, fd_count, err);
	}
	pthread_mutex_unlock(&wire->write_lock);
	return ok;
}

static bool send_frame(struct wire *wire, enum wire_type type, uint64_t id,
                       const struct wire_out *out, const int *fds, size_t fd_count, enum pace pace,
                       struct err *err)
{
	static const struct wire_out nothing;
	char header[WIRE_HEADER_BYTES];
	struct iovec few[8];
	_cleanup_free_ struct iovec *many = NULL;
	struct iovec *parts = few;
	size_t count = 1;

	if (!out)
		out = &nothing;
	if (!check_size(wire_message_find(type), out, err))
		return false;
	bytes_put(header, out->fields.len, 4);
	bytes_put(header + 4, type, 2);
	bytes_put(header + 6, 0, 1);
	bytes_put(header + 7, fd_count, 1);
	bytes_put(header + 8, id, 8);
	bytes_put(header + 16, out->blob_bytes, 8);
	if (out->blob_count + 3 > ARRAY_LEN(few))
		parts = many = mem_alloc(out->blob_count + 3, sizeof(*many));
	parts[count++] = (struct iovec){ header, WIRE_HEADER_BYTES };
	if (out->fields.len)
		parts[count++] = (struct iovec){ out->fields.data, out->fields.len };
	for (size_t i = 0; i < out->blob_count; i++)
		if (out->blobs[i].len)
			parts[count++] = (struct iovec){ (void *)out->blobs[i].data,
				                         out->blobs[i].len };
	return send_parts(wire, parts, count, fds, fd_count, pace, err);
}

bool wire_send(struct wire *wire, enum wire_type type, uint64_t id, const struct wire_out *out,
               const int *fds, size_t fd_count, struct err *err)
{
	return send_frame(wire, type, id, out, fds, fd_count, PACE_NOW, err);
}

bool wire_queue(struct wire *wire, enum wire_type type, uint64_t id, const struct wire_out *out,
                struct err *err)
{
	return send_frame(wire, type, id, out, NULL, 0, PACE_QUEUED, err);
}

bool wire_queue_unless_busy(struct wire *wire, enum wire_type type, uint64_t id,
                            const struct wire_out *out, struct err *err)
{
	return send_frame(wire, type, id, out, NULL, 0, PACE_QUEUED_UNLESS_BUSY, err);
}

/* ---- A connection's beginning and end, and its greeting ---- */

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
	struct iovec part = { bytes, sizeof(bytes) };

	if (wire->is_socket)
		features |= WIRE_FEATURE_DESCRIPTORS;
	bytes_put(bytes + AT_LEAST, WIRE_VERSION_LEAST, 2);
	bytes_put(bytes + AT_MOST, WIRE_VERSION, 2);
	bytes_put(bytes + AT_FEATURES, features, 4);
	snprintf(bytes + AT_PROGRAM, WIRE_GREETING_BYTES - AT_PROGRAM, "%s", HASP_VERSION);
	return write_parts(wire, &part, 1, NULL, 0, err); /* nothing else is sent yet */
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

static void parse_greeting(const char *bytes, struct wire_greeting *ret)
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
	parse_greeting(wire->in + wire->in_at, &wire->peer);
	wire->in_at += WIRE_GREETING_BYTES;
	wire->in_len -= WIRE_GREETING_BYTES;
	wire->peer_takes_fds = wire->is_socket &&
	                       (wire->peer.features & WIRE_FEATURE_DESCRIPTORS);
	return WIRE_FRAME;
}
