/* SPDX-License-Identifier: Apache-2.0 */
/* The least that a hash-locked edit of a whole file can be: read it, hash it, write as many
 * bytes to a new file, hash those.  One after the other, on one processor.
 *
 *     bench_floor IN OUT [sync]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/sha256.h"

static char *read_whole(const char *path, size_t *ret_size)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return NULL;
	*ret_size = (size_t)st.st_size;
	char *data = malloc(*ret_size + 1);
	if (data && fd_read_full(fd, data, *ret_size) != (ssize_t)*ret_size) {
		free(data);
		return NULL;
	}
	return data;
}

static bool write_whole(const char *path, const char *data, size_t size, bool sync)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	return fd >= 0 && fd_write_all(fd, data, size) && (!sync || fsync(fd) == 0);
}

int main(int argc, char **argv)
{
	char hex[SHA256_HEX_SIZE];
	size_t size = 0;

	if (argc < 3)
		return 2;
	char *data = read_whole(argv[1], &size);
	if (!data)
		return 1;
	for (int i = 0; i < 2; i++) {
		struct sha256 sum = sha256_of(span_of(data, size));

		sha256_hex(&sum, hex);
		puts(hex);
	}
	bool ok = write_whole(argv[2], data, size, argc > 3 && strcmp(argv[3], "sync") == 0);
	free(data);
	return ok ? 0 : 1;
}
