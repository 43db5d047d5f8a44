/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for every program that a line under test could run: appends its name and arguments to
 * the file in $RECORD, as one write: their number and each of them, with a NUL behind it.
 *
 * Called "false" it fails; called "cat" or "echo" it also does what these do, so that pipes and
 * substitutions of hostile lines carry what they are to carry. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void record(int argc, char **argv, const char *name)
{
	static char text[1 << 16];
	const char *path = getenv("RECORD");
	size_t len = (size_t)snprintf(text, sizeof(text), "%d", argc) + 1;
	int fd;

	for (int i = 0; i < argc; i++) {
		const char *word = i == 0 ? name : argv[i];
		size_t size = strlen(word) + 1;

		if (len + size > sizeof(text))
			_exit(126);
		memcpy(text + len, word, size);
		len += size;
	}
	fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		_exit(126);
	close(fd);
}

static int copy_input(void)
{
	char text[4096];
	ssize_t got;

	while ((got = read(0, text, sizeof(text))) > 0)
		if (write(1, text, (size_t)got) != got)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";

	record(argc, argv, name);
	if (strcmp(name, "cat") == 0 && argc == 1)
		return copy_input();
	for (int i = 1; strcmp(name, "echo") == 0 && i < argc; i++)
		printf("%s%s", argv[i], i + 1 < argc ? " " : "\n");
	return strcmp(name, "false") == 0;
}
