/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static uint64_t clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

uint64_t clock_monotonic_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

uint64_t clock_boot_ms(void)
{
	return clock_ms(CLOCK_BOOTTIME);
}

void clock_timestamp(char out[static CLOCK_TIMESTAMP_SIZE])
{
	struct timespec now;
	struct tm parts;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &parts);
	len = strftime(out, CLOCK_TIMESTAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(out + len, CLOCK_TIMESTAMP_SIZE - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static long long monotonic_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

long long clock_deadline(unsigned wait_ms)
{
	return monotonic_us() + (wait_ms ? wait_ms : BACKOFF_WAIT_MS) * 1000LL;
}

bool clock_back_off(long long deadline_us, long *backoff_us)
{
	struct timespec delay = { .tv_nsec = *backoff_us * 1000 };

	if (monotonic_us() >= deadline_us)
		return false;
	nanosleep(&delay, NULL);
	*backoff_us = *backoff_us * 2 < BACKOFF_MAX_US ? *backoff_us * 2 : BACKOFF_MAX_US;
	return true;
}
