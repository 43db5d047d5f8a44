/* SPDX-License-Identifier: Apache-2.0 */
/* What time it is, for writing down and for waiting; waiting for others with a back-off.
 *
 *     long long deadline_us = clock_deadline(0);
 *     long backoff_us = BACKOFF_FIRST_US;
 *     while (!taken(...))
 *             if (!clock_back_off(deadline_us, &backoff_us))
 *                     ... the time is up ...
 *
 * Not here: waiting for a lock that reports and can be cancelled (file_lock_take), and when a model
 * is asked again, which a server may set (model/stream.h). */
#ifndef HASP_BASE_CLOCK_H
#define HASP_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Milliseconds since some moment that never changes: for differences. */
uint64_t clock_monotonic_ms(void);
/* Likewise, with the time in which the machine was asleep: for what ends at a moment. */
uint64_t clock_boot_ms(void);

/* "2026-08-21T09:41:07.123Z": now, in UTC (RFC 3339). */
#define CLOCK_TIMESTAMP_SIZE 32
/* Writes it. */
void clock_timestamp(char out[static CLOCK_TIMESTAMP_SIZE]);

enum { BACKOFF_FIRST_US = 100, BACKOFF_MAX_US = 20000, BACKOFF_WAIT_MS = 2000 };

/* The moment `wait_ms` from now (0: BACKOFF_WAIT_MS), in microseconds of CLOCK_MONOTONIC. */
long long clock_deadline(unsigned wait_ms);
/* Sleeps *backoff_us microseconds and doubles it, up to BACKOFF_MAX_US; false, without sleeping,
 * when the deadline has passed. */
bool clock_back_off(long long deadline_us, long *backoff_us);

#endif
