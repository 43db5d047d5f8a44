/* SPDX-License-Identifier: Apache-2.0 */
/* A workspace in a folder of its own, for tests of file/ that read files. */
#ifndef HASP_TEST_STORE_SCRATCH_H
#define HASP_TEST_STORE_SCRATCH_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "file/workspace.h"

struct scratch {
	char folder[64];
	struct workspace *ws;
};

static inline void scratch_open(struct scratch *scratch)
{
	const char *roots[] = { scratch->folder };
	struct err err = ERR_INIT;

	snprintf(scratch->folder, sizeof(scratch->folder), "/tmp/hasp-test-XXXXXX");
	if (!mkdtemp(scratch->folder) || !workspace_open(roots, 1, &scratch->ws, &err))
		fail_msg("cannot make a workspace: %s", err.message);
}

static inline void scratch_close(struct scratch *scratch)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", scratch->folder);

	workspace_free(scratch->ws);
	assert_int_equal(system(command), 0);
}

static inline void scratch_write(const struct scratch *scratch, const char *name,
                                 struct span content)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", scratch->folder, name);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_true(fd_write_all(fd, content.data, content.len));
}

#endif
