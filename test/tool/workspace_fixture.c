/* SPDX-License-Identifier: Apache-2.0 */
#include "workspace_fixture.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"

enum { CONTENT_MAX = 64 << 20 };

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

char *fixture_make(void)
{
	const char *base = getenv("TMPDIR");
	char *root = mem_printf("%s/hasp-tool-XXXXXX", base ? base : "/tmp");
	char *real;

	must(mkdtemp(root) != NULL, root);
	real = realpath(root, NULL);
	free(root);
	must(real != NULL && chmod(real, 0777) == 0, "workspace");
	return real;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

void fixture_remove(const char *root)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void hex_content(const char *hex, struct buf *out)
{
	for (; hex[0] && hex[1]; hex += 2) {
		unsigned byte;

		while (*hex == ' ')
			hex++;
		must(sscanf(hex, "%2x", &byte) == 1, hex);
		buf_char(out, (char)byte);
	}
}

void fixture_content(const json_t *spec, struct buf *out)
{
	const json_t *repeat = json_object_get(spec, "repeat");
	json_int_t lines = json_integer_value(json_object_get(spec, "lines"));
	const char *hex = json_string_value(json_object_get(spec, "hex"));
	const char *copy_of = json_string_value(json_object_get(spec, "copy_of"));

	if (json_is_string(spec))
		buf_span(out, json_span(spec));
	if (hex)
		hex_content(hex, out);
	for (json_int_t i = 1; i <= lines; i++)
		buf_printf(out, "line %lld\n", (long long)i);
	for (json_int_t i = 0; i < json_integer_value(json_object_get(spec, "count")); i++)
		buf_span(out, json_span(repeat));
	if (copy_of)
		must(fixture_read("/", copy_of, out), copy_of);
}

static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		chmod(path, 0777);
		*slash = '/';
	}
}

static void write_file(const char *path, const json_t *spec)
{
	_cleanup_buf_ struct buf content = BUF_INIT(CONTENT_MAX);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	fixture_content(spec, &content);
	must(fd >= 0 && !content.overflowed && fd_write_all(fd, content.data, content.len), path);
	must(fchmod(fd, 0666) == 0, path);
}

static void make_one(const char *path, const json_t *spec)
{
	const char *link = json_string_value(json_object_get(spec, "link"));
	const char *mode = json_string_value(json_object_get(spec, "mode"));

	if (link)
		must(symlink(link, path) == 0, path);
	else if (json_is_true(json_object_get(spec, "folder")))
		must(mkdir(path, 0777) == 0, path);
	else if (json_is_true(json_object_get(spec, "fifo")))
		must(mkfifo(path, 0666) == 0, path);
	else
		write_file(path, spec);
	if (mode)
		must(chmod(path, (mode_t)strtoul(mode, NULL, 8)) == 0, path);
}

void fixture_files(const char *root, const json_t *files)
{
	const char *name;
	json_t *spec;

	json_object_foreach((json_t *)files, name, spec) {
		_cleanup_free_ char *path = mem_printf("%s/%s", root, name);

		make_folders(path);
		make_one(path, spec);
	}
}

bool fixture_read(const char *root, const char *path, struct buf *out)
{
	_cleanup_free_ char *full = mem_printf("%s/%s", root, path);
	_cleanup_fd_ int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t size;

	if (fd < 0)
		return false;
	must(fstat(fd, &st) == 0, full);
	if (S_ISREG(st.st_mode)) {
		size = (size_t)st.st_size;
		must(buf_reserve(out, size) != NULL, full);
		must(fd_read_full(fd, out->data + out->len, size) == st.st_size, full);
		out->len += size;
	}
	return true;
}
