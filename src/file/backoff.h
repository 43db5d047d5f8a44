/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for others, a little longer each time, up to a deadline. Not part of the
 * engines' interface: for file/ and search/. */
#ifndef HASP_FILE_BACKOFF_H
#define HASP_FILE_BACKOFF_H

#include <stdbool.h>

enum { BACKOFF_FIRST_US = 100, BACKOFF_MAX_US = 20000, BACKOFF_WAIT_MS = 2000 };

/* The moment `wait_ms` from now (0: BACKOFF_WAIT_MS), in microseconds of CLOCK_MONOTONIC. */
long long backoff_deadline(unsigned wait_ms);
/* Sleeps *backoff_us microseconds and doubles it; false, at once, when the deadline has passed. */
bool backoff_wait(long long deadline_us, long *backoff_us);

#endif
