/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving frames: in steps, so that whoever reads can stop anywhere between two reads. */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/wire/bytes.h"
#include "worker/wire/private.h"

/* Memory for announced bytes is got in steps, so that it is the bytes that came, and not the
 * announcement, that use it up. Growing a large block moves no bytes (mremap). */
enum { FIRST_STEP = 1 << 20, GROWTH = 4 };

enum wire_step wire_fail(struct wire *wire, const char *format, ...)
{
	va_list args;

	if (wire->problem[0])
		return WIRE_FAILED;
	va_start(args, format);
	vsnprintf(wire->problem, sizeof(wire->problem), format, args);
	va_end(args);
	return WIRE_FAILED;
}

/* ---- bytes ----------------------------------------------------------------- */

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

enum wire_step wire_receive(struct wire *wire, void *to, size_t len, size_t *ret_got)
{
	bool fds_fit = true;
	ssize_t got;

	wire_flush_unless_busy(wire); /* if it fails, so will reading */
	do {
		got = wire->is_socket ? receive_socket(wire, to, len, &fds_fit) :
		                        read(wire->read_fd, to, len);
		if (got < 0 && errno == EAGAIN && !wire->wait) { /* somebody else's O_NONBLOCK */
			poll(&(struct pollfd){ .fd = wire->read_fd, .events = POLLIN }, 1, -1);
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

enum wire_step wire_fill(struct wire *wire)
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
static enum wire_step cut(struct wire *wire, enum wire_step step)
{
	return step == WIRE_ENDED ? wire_fail(wire, "it ended in the middle of a message") : step;
}

/* ---- header and fields ----------------------------------------------------- */

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
		return wire_fail(wire, "there is no message %u", (unsigned)bytes_get(header + 4, 2));
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

static enum wire_step read_header(struct wire *wire)
{
	while (wire->header_len < WIRE_HEADER_BYTES) {
		size_t got = 0;
		enum wire_step step = get_some(wire, wire->header + wire->header_len,
		                               WIRE_HEADER_BYTES - wire->header_len, &got);

		if (step != WIRE_FRAME)
			return wire->header_len ? cut(wire, step) : step;
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
			return cut(wire, step);
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
		step = read_header(wire);
	if (step == WIRE_FRAME && wire->state == WIRE_IN_FIELDS)
		step = read_fields(wire);
	return step;
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

enum wire_step wire_done(struct wire *wire)
{
	if (wire->blob_left)
		return wire_fail(wire, "%s has a blob that nobody waits for",
		                 wire->frame.message->name);
	wire_close_fds(wire->frame.fds, &wire->frame.fd_count);
	wire->header_len = 0;
	wire->frame = (struct wire_frame){ 0 };
	if (wire->fields_cap > FIRST_STEP / 16) /* a large one is not kept */
		free(wire_take_fields(wire));
	wire->state = WIRE_IN_HEADER;
	return WIRE_FRAME;
}

/* ---- blobs ----------------------------------------------------------------- */

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
			return cut(wire, step);
		to += got;
		len -= got;
		wire->blob_left -= got;
	}
	return WIRE_FRAME;
}

/* `len` bytes of the stream, with a NUL after them, as memory of their own. */
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

/* All of it at once, the spans one after the other. */
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
