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

#endif
