/* SPDX-License-Identifier: Apache-2.0 */
#include "base/random.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/sha256.h"

/* Up to 256 bytes come in one call; more may come in pieces when a signal interrupts it. */
static bool fill_by_call(unsigned char *data, size_t size, unsigned flags)
{
	while (size) {
		const ssize_t got = getrandom(data, size, flags);

		if (got < 0 && errno != EINTR)
			return false;
		if (got > 0) {
			data += got;
			size -= (size_t)got;
		}
	}
	return true;
}

static bool fill_by_file(unsigned char *data, size_t size)
{
	_cleanup_fd_ int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got;

	if (fd < 0)
		return false;
	got = fd_read_full(fd, data, size);
	if (got >= 0 && (size_t)got < size)
		errno = EIO;
	return got == (ssize_t)size;
}

bool random_fill(void *data, size_t size, struct err *err)
{
	return fill_by_call(data, size, 0) || fill_by_file(data, size) ||
	       err_set_errno(err, errno, "The system gives no random bytes");
}

void random_hex_print(const unsigned char *bytes, size_t count, char *text)
{
	for (size_t i = 0; i < count; i++) {
		text[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
	}
	text[2 * count] = '\0';
}

bool random_hex(char *text, size_t bytes, struct err *err)
{
	unsigned char raw[64];

	text[0] = '\0';
	for (size_t done = 0; done < bytes;) {
		const size_t part = bytes - done < sizeof(raw) ? bytes - done : sizeof(raw);

		if (!random_fill(raw, part, err))
			return false;
		random_hex_print(raw, part, text + 2 * done);
		done += part;
	}
	explicit_bzero(raw, sizeof(raw));
	return true;
}

/* What no other call has: of this process by the counter, of others by the process and time. */
static struct sha256 make_distinct(void)
{
	static _Atomic uint64_t calls;
	struct {
		struct timespec real, since_boot;
		uint64_t call, process;
	} seed;

	memset(&seed, 0, sizeof(seed));
	clock_gettime(CLOCK_REALTIME, &seed.real);
	clock_gettime(CLOCK_MONOTONIC, &seed.since_boot);
	seed.call = atomic_fetch_add(&calls, 1);
	seed.process = (uint64_t)getpid();
	return sha256_of(span_of((const char *)&seed, sizeof(seed)));
}

void random_distinct(void *data, size_t size)
{
	unsigned char *at = data;

	if (fill_by_call(at, size, GRND_NONBLOCK) || fill_by_file(at, size))
		return;
	while (size) {
		const struct sha256 hash = make_distinct();
		const size_t part = size < sizeof(hash.bytes) ? size : sizeof(hash.bytes);

		memcpy(at, hash.bytes, part);
		at += part;
		size -= part;
	}
}

void random_uuid_print(const unsigned char bytes[static RANDOM_UUID_BYTES],
                       char text[static RANDOM_UUID_SIZE])
{
	char hex[2 * RANDOM_UUID_BYTES + 1];

	random_hex_print(bytes, RANDOM_UUID_BYTES, hex);
	hex[12] = '4';
	hex[16] = "89ab"[bytes[8] >> 4 & 3];
	snprintf(text, RANDOM_UUID_SIZE, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12,
	         hex + 16, hex + 20);
}

void random_uuid(char text[static RANDOM_UUID_SIZE])
{
	unsigned char bytes[RANDOM_UUID_BYTES];

	random_distinct(bytes, sizeof(bytes));
	random_uuid_print(bytes, text);
}
