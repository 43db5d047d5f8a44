/* SPDX-License-Identifier: Apache-2.0 */
/* Frames over a pair of descriptors: docs/protocol-worker.md, byte by byte.
 *
 * A connection begins, in both directions, with a greeting; then come frames: a header, the fields
 * (layout.h), the blob.
 *
 *     struct wire wire;
 *     wire_init(&wire, read_fd, write_fd);
 *     wire_send(&wire, WIRE_MESSAGE_READ, id, &out, NULL, 0, &err);
 *     switch (wire_next(&wire)) {
 *     case WIRE_FRAME: ... wire.frame.message, .id, .fields; decode; wire_read_blob ...
 *                      wire_done(&wire);
 *     case WIRE_AGAIN: ... wait until read_fd is readable ...
 *     default:         ... wire.problem says what is wrong; the connection is of no more use ...
 *     }
 *
 * Sending is for any thread; reading for one at a time.  With `wait` set the descriptors are not
 * waited for by this file: reading gives WIRE_AGAIN, sending and blobs call it.
 *
 * Blobs go through the connection, also between two processes of one machine: sealed memory files
 * (read, or mapped) were measured to be no faster for 100 MB, since both sides copy at the same
 * time.
 */
#ifndef HASP_WORKER_WIRE_WIRE_H
#define HASP_WORKER_WIRE_WIRE_H

#include <pthread.h>

#include "worker/wire/message.h"

/* Versions of the protocol that this program speaks. */
enum { WIRE_VERSION_LEAST = 3, WIRE_VERSION = 3 };

enum {
	WIRE_GREETING_BYTES = 32,
	WIRE_HEADER_BYTES = 24,
	WIRE_MAGIC_BYTES = 8,
	WIRE_FDS_MAX = 3,
	WIRE_QUEUE_BYTES = 32 << 10,
	WIRE_SILENCE_MS = 120000, /* LEASE: after which a worker ends */
	WIRE_SIGN_MS = 20000,     /* LEASE: between two signs of the front's */
};

/* The first byte is no ASCII, the others find out whether line ends are translated on the way. */
#define WIRE_MAGIC "\xf0hasp\r\n\n"

/* What the sender of the greeting can do.
 * X(name, bit, text) */
#define WIRE_FEATURES(X)                                                                 \
	X(DESCRIPTORS, 0, "receives descriptors: standard streams for a command") \
	X(RUN, 1, "a worker that runs commands")                            \
	X(LEASE, 2, "a front that says something every 20 s, a worker that ends without it")

enum wire_feature {
#define WIRE_FEATURE_ENUM(name, bit, text) WIRE_FEATURE_##name = 1 << (bit),
	WIRE_FEATURES(WIRE_FEATURE_ENUM)
#undef WIRE_FEATURE_ENUM
};

struct wire_greeting {
	unsigned least, most; /* versions */
	unsigned features;
	char program[17];     /* its version, for people */
};

struct wire_frame {
	const struct wire_message *message;
	uint64_t id;
	uint64_t blob_bytes;
	struct span fields;   /* wire_take_fields keeps them */
	int fds[WIRE_FDS_MAX]; /* owned */
	size_t fd_count;
};

enum wire_step {
	WIRE_FRAME,
	WIRE_AGAIN,  /* nothing more there yet */
	WIRE_ENDED,  /* the other side has closed it, between two frames */
	WIRE_FAILED, /* problem says why */
};

struct wire {
	int read_fd, write_fd;     /* borrowed */
	bool is_socket;
	/* NULL: waiting is the kernel's. Else called when `fd` is not ready for `events` (poll);
	 * false: give up. `data` is wait_data. */
	bool (*wait)(void *data, int fd, short events);
	void *wait_data;
	enum wire_direction from;  /* direction of what is received */
	struct wire_greeting peer; /* after wire_greeted */
	bool peer_takes_fds;
	unsigned silence_ms;       /* who waits longer for something to read, or for any room to
	                            * write, fails; not with `wait`. 0: no limit */
	_Atomic bool leaving;      /* no more waiting for room: sending fails instead */

	pthread_mutex_t write_lock;
	bool write_broken;         /* a frame was cut: nothing may follow it, and the connection is
	                            * shut */
	_Atomic int write_error;   /* why, if not because the other side has closed: an errno */
	struct buf queued;         /* frames that go with the next, or before anything is read */
	_Atomic uint64_t written;  /* bytes: whether it gets on */

	char *in;                  /* owned; what was read ahead */
	size_t in_at, in_len;
	int fds[2 * WIRE_FDS_MAX]; /* owned; arrived, not yet of a frame */
	size_t fd_count;
	_Atomic uint64_t received; /* bytes */

	enum { WIRE_IN_HEADER, WIRE_IN_FIELDS, WIRE_IN_FRAME } state;
	char header[WIRE_HEADER_BYTES];
	size_t header_len;
	char *fields;              /* owned */
	size_t fields_len, fields_have, fields_cap;
	uint64_t blob_left;        /* of the current frame */
	struct wire_frame frame;
	char problem[256];
};

/* The descriptors stay the caller's. */
void wire_init(struct wire *wire, int read_fd, int write_fd, enum wire_direction from);
void wire_release(struct wire *wire);

/* ---- the greeting ---------------------------------------------------------- */

/* Sends this side's, with these features (WIRE_FEATURE_*). IO_ERROR: the other side has closed. */
bool wire_greet(struct wire *wire, unsigned features, struct err *err);
/* Reads the other side's; what comes before its magic, up to `banner_max` bytes, goes to `banner`
 * (may be NULL).  WIRE_FRAME: it is there. Versions are the caller's to compare. */
enum wire_step wire_greeted(struct wire *wire, struct buf *banner, size_t banner_max);

/* ---- sending --------------------------------------------------------------- */

/* One frame. `out` may be NULL: no fields.  IO_ERROR: the other side has closed, or `wait` gave up;
 * TOO_LARGE: more than the message may have (nothing was sent, the connection is fine). */
bool wire_send(struct wire *wire, enum wire_type type, uint64_t id, const struct wire_out *out,
               const int *fds, size_t fd_count, struct err *err);

/* The same for a frame without descriptors that can be delayed: it is sent, with one system call
 * for many, before the next wire_send, before the connection is read, or when more than
 * WIRE_QUEUE_BYTES wait. */
bool wire_queue(struct wire *wire, enum wire_type type, uint64_t id, const struct wire_out *out,
                struct err *err);
/* Sends what waits, if anything does; false: the other side has closed. */
bool wire_flush(struct wire *wire);
/* The same, but not while another thread sends: that one sends what waits, too, for it waited when
 * it began (or it queues, and sends later what it has queued). */
bool wire_flush_unless_busy(struct wire *wire);
/* Like wire_queue, with nothing done (false, BUSY) while another thread sends. */
bool wire_queue_unless_busy(struct wire *wire, enum wire_type type, uint64_t id,
                            const struct wire_out *out, struct err *err);

/* ---- receiving ------------------------------------------------------------- */

/* Reads until the next frame's fields are there (wire->frame), waiting with `wait` if it is set;
 * the blob is still to be read (wire_read_blob) or refused (wire_done). */
enum wire_step wire_next(struct wire *wire);
/* Whether bytes were read ahead, or a frame is not taken yet: poll does not know of them. */
bool wire_has_input(const struct wire *wire);
/* Whether a frame's header or fields have arrived in part; for the reading thread. */
bool wire_is_within_frame(const struct wire *wire);
/* The fields' memory is the caller's to free from now on. */
char *wire_take_fields(struct wire *wire);
/* Prepares `in` for the current frame's fields. */
void wire_open(const struct wire *wire, struct wire_arena *arena, struct wire_in *ret);
/* Decodes all of the frame into the zeroed `object`; false: wire->problem. */
bool wire_decode_frame(struct wire *wire, struct wire_in *in, void *object);
/* Puts the blob where `in` says; spans become memory of the arena's. */
enum wire_step wire_read_blob(struct wire *wire, struct wire_in *in);
/* Done with the frame; a blob that was not read is an error. */
enum wire_step wire_done(struct wire *wire);

#endif
