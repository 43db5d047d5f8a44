/* SPDX-License-Identifier: Apache-2.0 */
/* What time it is, for waiting and for writing down. */
#ifndef HASP_BASE_CLOCK_H
#define HASP_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some moment that never changes: for differences. */
uint64_t monotonic_ms(void);

/* "2026-08-21T09:41:07.123Z": now, in UTC (RFC 3339). */
#define CLOCK_TIMESTAMP_SIZE 32
/* Writes it. */
void clock_timestamp(char out[static CLOCK_TIMESTAMP_SIZE]);

#endif
