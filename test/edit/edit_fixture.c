/* SPDX-License-Identifier: Apache-2.0 */
#include "edit_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

void fixture_open(struct fixture *f)
{
	const char *roots[] = { f->root };
	struct err err = ERR_INIT;

	snprintf(f->top, sizeof(f->top), "/tmp/hasp-test-XXXXXX");
	assert_non_null(mkdtemp(f->top));
	snprintf(f->root, sizeof(f->root), "%s/w", f->top);
	snprintf(f->journal, sizeof(f->journal), "%s/state/j", f->top);
	assert_int_equal(mkdir(f->root, 0777), 0);
	if (!workspace_open(roots, 1, &f->ws, &err))
		fail_msg("%s", err.message);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void fixture_close(struct fixture *f)
{
	workspace_free(f->ws);
	nftw(f->top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void fixture_put_bytes(const struct fixture *f, const char *name, const char *data, size_t len)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", f->root, name);
	int fd;

	for (char *slash = path + strlen(f->root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	assert_true(fd >= 0);
	assert_true(fd_write_all(fd, data, len));
	close(fd);
}

void fixture_put(const struct fixture *f, const char *name, const char *text)
{
	fixture_put_bytes(f, name, text, strlen(text));
}

char *fixture_get(const struct fixture *f, const char *name, size_t *ret_len)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", f->root, name);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;
	ssize_t n;

	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &st), 0);
	data = mem_alloc((size_t)st.st_size + 1, 1);
	n = fd_read_full(fd, data, (size_t)st.st_size);
	assert_true(n == st.st_size);
	if (ret_len)
		*ret_len = (size_t)n;
	return data;
}

void fixture_expect(const struct fixture *f, const char *name, const char *text)
{
	_cleanup_free_ char *have = fixture_get(f, name, NULL);

	if (!text) {
		assert_null(have);
		return;
	}
	if (!have)
		fail_msg("%s is missing", name);
	assert_string_equal(have, text);
}

size_t fixture_entries(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			count++;
	closedir(dir);
	return count;
}

struct sha256 fixture_hash(const char *text)
{
	return sha256_of(span_str(text));
}
