/* SPDX-License-Identifier: Apache-2.0 */
/* An empty folder to work in, with a provider over it. */
#ifndef HASP_TEST_SERVE_SCRATCH_FOLDER_H
#define HASP_TEST_SERVE_SCRATCH_FOLDER_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "worker/inside/inprocess.h"

struct scratch_folder {
	char *path, *journal; /* owned */
	struct provider *provider;
};

static inline void scratch_make(struct scratch_folder *scratch)
{
	const char *base = getenv("TMPDIR");
	char *made = mem_printf("%s/hasp-serve-XXXXXX", base ? base : "/tmp");
	const char *root;
	struct err err = ERR_INIT;

	if (!mkdtemp(made))
		abort();
	scratch->path = realpath(made, NULL);
	free(made);
	scratch->journal = mem_printf("%s.journal", scratch->path);
	root = scratch->path;
	struct inprocess_options options = { .roots = &root, .root_count = 1,
		.journal_folder = scratch->journal, .durability = DURABILITY_RENAME };

	if (!inprocess_provider(&options, &scratch->provider, &err)) {
		fprintf(stderr, "%s\n", err.message);
		abort();
	}
}

static inline int scratch_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void scratch_remove(struct scratch_folder *scratch)
{
	provider_free(scratch->provider);
	nftw(scratch->path, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	nftw(scratch->journal, scratch_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(scratch->path);
	free(scratch->journal);
}

static inline void scratch_write(const struct scratch_folder *scratch, const char *name,
                                 const char *text)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", scratch->path, name);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (fd < 0 || !fd_write_all(fd, text, strlen(text)))
		abort();
}

/* Up to 64 KiB of a file, owned by the caller; NULL if there is none. */
static inline char *scratch_read(const struct scratch_folder *scratch, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", scratch->path, name);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = mem_alloc(65537, 1);

	if (fd >= 0 && fd_read_full(fd, text, 65536) >= 0)
		return text;
	free(text);
	return NULL;
}

#endif
