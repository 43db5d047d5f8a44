/* SPDX-License-Identifier: Apache-2.0 */
/* Sending frames. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/wire/bytes.h"
#include "worker/wire/private.h"

enum { PARTS = 64 }; /* of one system call */

/* ---- bytes ----------------------------------------------------------------- */

/* A pipe whose reader is gone must not kill this process; a socket can be told so itself. */
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
	return sendmsg(wire->write_fd, &message, MSG_NOSIGNAL | (wire->wait ? MSG_DONTWAIT : 0));
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

static bool write_parts(struct wire *wire, struct iovec *parts, size_t count, const int *fds,
                        size_t fd_count, struct err *err)
{
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
			poll(&(struct pollfd){ .fd = wire->write_fd, .events = POLLOUT }, 1, -1);
			continue;
		}
		if (wrote < 0)
			return err_set_errno(err, errno, "The other side cannot be written to");
		fd_count = 0; /* they go with the first byte */
		wire->written += (uint64_t)wrote;
		advance(&parts, &count, (size_t)wrote);
	}
	return true;
}

bool wire_write(struct wire *wire, const void *bytes, size_t len, struct err *err)
{
	struct iovec part = { (void *)bytes, len };

	return write_parts(wire, &part, 1, NULL, 0, err);
}

/* ---- frames ---------------------------------------------------------------- */

static bool check_size(const struct wire_message *message, const struct wire_out *out,
                       struct err *err)
{
	if (out->fields.overflowed || out->fields.len > message->fields_max ||
	    out->blob_bytes > message->blob_max)
		return err_set(err, ERR_TOO_LARGE, "This is too large for a worker's %s message.",
		               message->name);
	return true;
}

/* Parts of which the first is what was queued, or empty. With the lock held. */
static bool write_all(struct wire *wire, struct iovec *parts, size_t count, const int *fds,
                      size_t fd_count, struct err *err)
{
	size_t skip = parts[0].iov_len ? 0 : 1;
	bool ok;

	if (wire->write_broken)
		return err_set(err, ERR_IO_ERROR, "The connection to the worker is broken.");
	ok = write_parts(wire, parts + skip, count - skip, fds, fd_count, err);
	buf_clear(&wire->queued);
	wire->write_broken |= !ok;
	return ok;
}

static bool write_queued(struct wire *wire, struct err *err)
{
	struct iovec part = { wire->queued.data, wire->queued.len };

	return write_all(wire, &part, 1, NULL, 0, err);
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
		ok = ok && write_all(wire, parts, count, fds, fd_count, err);
	}
	pthread_mutex_unlock(&wire->write_lock);
	return ok;
}

static bool send_frame(struct wire *wire, char *header, const struct wire_out *out,
                       const int *fds, size_t fd_count, enum pace pace, struct err *err)
{
	struct iovec few[8];
	_cleanup_free_ struct iovec *many = NULL;
	struct iovec *parts = few;
	size_t count = 1;

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

static bool send_or_queue(struct wire *wire, enum wire_type type, uint64_t id,
                          const struct wire_out *out, const int *fds, size_t fd_count,
                          enum pace pace, struct err *err)
{
	static const struct wire_out nothing;
	char header[WIRE_HEADER_BYTES];

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
	return send_frame(wire, header, out, fds, fd_count, pace, err);
}

bool wire_send(struct wire *wire, enum wire_type type, uint64_t id, const struct wire_out *out,
               const int *fds, size_t fd_count, struct err *err)
{
	return send_or_queue(wire, type, id, out, fds, fd_count, PACE_NOW, err);
}

bool wire_queue(struct wire *wire, enum wire_type type, uint64_t id, const struct wire_out *out,
                struct err *err)
{
	return send_or_queue(wire, type, id, out, NULL, 0, PACE_QUEUED, err);
}

bool wire_queue_unless_busy(struct wire *wire, enum wire_type type, uint64_t id,
                            const struct wire_out *out, struct err *err)
{
	return send_or_queue(wire, type, id, out, NULL, 0, PACE_QUEUED_UNLESS_BUSY, err);
}
