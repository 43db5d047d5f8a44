/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 beside the reading or writing of a large buffer, on a thread of its own.
 *
 *     struct hasher hasher;
 *     hasher_start(&hasher, total);
 *     while (...) {
 *             ... n more bytes of memory are final ...
 *             hasher_feed(&hasher, span_of(data + done, n));
 *     }
 *     struct sha256 sum = hasher_finish(&hasher);
 *
 * Below HASHER_THREAD_BYTES (or when no thread can be had) each piece is hashed
 * at once by the caller.  What is fed must stay unchanged until hasher_finish, and
 * finish must be called.  Internal to file/.
 */
#ifndef HASP_FILE_HASHER_H
#define HASP_FILE_HASHER_H

#include <pthread.h>

#include "base/sha256.h"

/* A thread costs about as much as hashing 50 KB; well above that, the time saved is
 * what counts: half of it, at 8 MiB some milliseconds. */
#define HASHER_THREAD_BYTES ((size_t)8 << 20)
enum { HASHER_QUEUE = 64 };

struct hasher {
	struct sha256_stream stream;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct span queue[HASHER_QUEUE]; /* ring of pieces not yet hashed */
	unsigned head, count;
	bool closed;
};

/* `total` is how many bytes are expected; it only decides whether a thread is worth it. */
void hasher_start(struct hasher *hasher, size_t total);
void hasher_feed(struct hasher *hasher, struct span piece);
struct sha256 hasher_finish(struct hasher *hasher);

#endif
