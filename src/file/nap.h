/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for others, a little longer each time, up to a deadline. Not part of the
 * engines' interface: for file/ and search/. */
#ifndef HASP_FILE_NAP_H
#define HASP_FILE_NAP_H

#include <stdbool.h>

enum { NAP_FIRST_US = 100, NAP_MAX_US = 20000, NAP_WAIT_MS = 2000 };

/* The moment `wait_ms` from now (0: NAP_WAIT_MS), in microseconds of CLOCK_MONOTONIC. */
long long nap_deadline(unsigned wait_ms);
/* Sleeps *nap_us microseconds and doubles it; false, at once, when the deadline has passed. */
bool nap_until(long long deadline_us, long *nap_us);

#endif
