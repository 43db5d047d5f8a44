/* SPDX-License-Identifier: Apache-2.0 */
/* How much of a long test is run: all of it with HASP_TESTS=all, else a part. */
#ifndef TEST_PART_H
#define TEST_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static inline bool part_is_whole(void)
{
	const char *tests = getenv("HASP_TESTS");

	return tests && strcmp(tests, "all") == 0;
}

/* Of `whole` rounds: all of them, or one of `parts`. */
static inline size_t part_of(size_t whole, size_t parts)
{
	return part_is_whole() ? whole : whole / parts;
}

/* From one case of a table to the next that is run: 1, or `step`. */
static inline size_t part_step(size_t step)
{
	return part_is_whole() ? 1 : step;
}

/* The first case that is run of a table with such steps: another one at most commits. */
static inline size_t part_first(size_t step)
{
	const char *turn = getenv("HASP_TURN");

	return part_is_whole() || !turn ? 0 : strtoul(turn, NULL, 10) % step;
}

#endif
