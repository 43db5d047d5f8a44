/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one attack by name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack.h"

bool refused(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return false;
}

bool deface(int fd)
{
	bool done = fd >= 0 && write(fd, "ATTACK", 6) == 6;

	if (!done)
		refused("open or write");
	if (fd >= 0)
		close(fd);
	return done;
}

long number(const char *text)
{
	return strtol(text, NULL, 0);
}

int main(int argc, char **argv)
{
	const struct attack *const tables[] = { file_attacks, process_attacks, kernel_attacks,
		                                network_attacks };

	setvbuf(stdout, NULL, _IONBF, 0);
	for (size_t i = 0; argc > 1 && i < sizeof(tables) / sizeof(tables[0]); i++) {
		for (const struct attack *attack = tables[i]; attack->name; attack++) {
			if (strcmp(attack->name, argv[1]) == 0 && argc - 2 >= attack->arguments)
				return attack->run(argv + 2) ? 0 : 1;
		}
	}
	fprintf(stderr, "no such attack, or too few arguments\n");
	return 2;
}
