/* SPDX-License-Identifier: Apache-2.0 */
/* What work costs, told in yards: so many times what a fixed piece of work takes, compiled by the
 * same compiler with the same sanitizers and measured in the same moment. Seconds say how fast a
 * machine is this minute; a test that bounds a cost bounds yards, or the ratio of two costs. On
 * a machine of 2024 a yard is about a millisecond of CPU. script/check-layers refuses tests that
 * compare seconds of CPU themselves. */
#ifndef TEST_METER_H
#define TEST_METER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

struct meter {
	double began; /* microseconds of CPU */
	double yard;
};

/* Microseconds of CPU of this process and of the children that have ended; waiting costs nothing. */
static inline double meter_cpu_us(void)
{
	const int whose[] = { RUSAGE_SELF, RUSAGE_CHILDREN };
	struct rusage used;
	double us = 0;

	for (size_t i = 0; i < sizeof whose / sizeof whose[0]; i++) {
		getrusage(whose[i], &used);
		us += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e6 +
		      (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
	}
	return us;
}

/* What the fixed piece of work takes now, in microseconds of CPU. */
static inline double meter_yard_us(void)
{
	enum { ROUNDS = 4, STEPS = 200000 };
	static volatile uint32_t table[4096];
	double began = meter_cpu_us(), us;
	uint32_t sum = 2166136261U;

	for (uint32_t i = 0; i < ROUNDS * STEPS; i++) {
		sum = (sum ^ table[sum % 4096]) * 16777619U;
		table[i % 4096] = sum;
	}
	us = (meter_cpu_us() - began) / ROUNDS;
	return us < 1 ? 1 : us;
}

/* Begins to measure. */
static inline struct meter meter_start(void)
{
	struct meter meter;

	meter.yard = meter_yard_us();
	meter.began = meter_cpu_us();
	return meter;
}

/* Yards of CPU since; the yard is the mean of those before and after. */
static inline double meter_yards(const struct meter *meter)
{
	double us = meter_cpu_us() - meter->began;

	return 2 * us / (meter->yard + meter_yard_us());
}

#endif
