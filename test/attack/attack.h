/* SPDX-License-Identifier: Apache-2.0 */
/* The attacks that need more than a shell: one function each, in the tables of attack_*.c.
 *
 *     attack_probe NAME ARGUMENT...
 *
 * Exit code 0: the attack was let through as far as it can tell; 1: it was refused (why is
 * printed); 2: it was called wrongly.  What counts is what arena.py finds outside; only where nothing
 * can be seen there (a system call that the kernel looked at) the exit code is believed.
 *
 * To add one: a row in a table here, and one in attacks.py.
 */
#ifndef HASP_TEST_ATTACK_H
#define HASP_TEST_ATTACK_H

#include <stdbool.h>
#include <stddef.h>

struct attack {
	const char *name;
	int arguments; /* how many it needs */
	bool (*run)(char **arguments);
};

extern const struct attack file_attacks[], process_attacks[], kernel_attacks[], network_attacks[];

/* Prints what failed and why; false. */
bool refused(const char *what);
/* Writes "ATTACK" to a descriptor and closes it. False if that fails or it is negative. */
bool deface(int fd);
long number(const char *text);

#endif
