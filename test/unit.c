/* SPDX-License-Identifier: Apache-2.0 */
/* Many tests in one program; which, test/meson.build says.
 *
 *     unit_tests                     the names of all
 *     unit_tests NAME [ARGUMENT...]  runs one, as if it were a program of its own
 *
 * A test that starts this very program inside a sandbox has no word to spare for its name: started as NAME
 * (argv[0]), it is that test as well.
 */
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct unit *units;

void unit_add(struct unit *unit)
{
	unit->next = units;
	units = unit;
}

static const struct unit *unit_find(const char *name)
{
	const struct unit *unit = units;

	while (unit && strcmp(unit->name, name) != 0)
		unit = unit->next;
	return unit;
}

int main(int argc, char **argv)
{
	const struct unit *unit = argc > 0 ? unit_find(argv[0]) : NULL;

	if (!unit && argc > 1) {
		argc--;
		argv++;
		if (!(unit = unit_find(argv[0]))) {
			fprintf(stderr, "no test is named %s\n", argv[0]);
			return 2;
		}
	}
	if (unit)
		return unit->main ? unit->main(argc, argv) : unit->plain_main();
	for (unit = units; unit; unit = unit->next)
		puts(unit->name);
	return 0;
}
