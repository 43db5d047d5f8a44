/* SPDX-License-Identifier: Apache-2.0 */
/* Little-endian numbers of 1 to 8 bytes. */
#ifndef HASP_WORKER_WIRE_BYTES_H
#define HASP_WORKER_WIRE_BYTES_H

#include <stddef.h>
#include <stdint.h>

static inline void bytes_put(void *to, uint64_t value, size_t bytes)
{
	unsigned char *out = to;

	for (size_t i = 0; i < bytes; i++)
		out[i] = (unsigned char)(value >> (8 * i));
}

static inline uint64_t bytes_get(const void *from, size_t bytes)
{
	const unsigned char *in = from;
	uint64_t value = 0;

	for (size_t i = 0; i < bytes; i++)
		value |= (uint64_t)in[i] << (8 * i);
	return value;
}

#endif
