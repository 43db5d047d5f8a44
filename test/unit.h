/* SPDX-License-Identifier: Apache-2.0 */
/* What a test is in the program of all (unit.c). */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <stddef.h>

/* One of the two mains is set. */
struct unit {
	const char *name; /* of the job: "file/commit" */
	int (*plain_main)(void);
	int (*main)(int argc, char **argv);
	struct unit *next;
};

/* Makes a test known, which lives as long as the program; before main, by constructors. */
void unit_add(struct unit *unit);

#endif
