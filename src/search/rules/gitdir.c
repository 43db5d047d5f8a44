/* SPDX-License-Identifier: Apache-2.0 */
#include "search/rules/gitdir.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

/* The first line of a small file, without its end; NULL when there is none. */
static char *read_line(int folder, const char *path)
{
	_cleanup_fd_ int fd = chain_open(folder, path, O_RDONLY);
	char text[LIMIT_PATH_BYTES + 16];
	ssize_t n = fd >= 0 ? fd_read_full(fd, text, sizeof(text)) : -1;
	struct span line;
	const char *end;

	if (n <= 0 || memchr(text, '\0', (size_t)n))
		return NULL;
	end = memchr(text, '\n', (size_t)n);
	line = span_trim(span_of(text, end ? (size_t)(end - text) : (size_t)n));
	return line.len > 0 ? mem_dup(line.data, line.len) : NULL;
}

/* `name` as it is meant in the folder `path`, as a path relative to the root; NULL when it is
 * absolute and elsewhere.  "a/b/../c" stays: the kernel resolves it, beneath the root. */
static char *join(const struct chain_base *base, struct span path, const char *name)
{
	struct span root = span_str(base->root_path), text = span_str(name);

	if (name[0] != '/')
		return mem_printf("%.*s%s", (int)path.len, path.data, name);
	while (span_ends(root, SPAN("/")))
		root.len--;
	if (!span_starts(text, root) || text.len <= root.len + 1 || text.data[root.len] != '/')
		return NULL;
	return mem_strdup(name + root.len + 1);
}

char *gitdir_exclude(const struct chain_base *base, int folder, struct span path, mode_t mode)
{
	_cleanup_free_ char *line = NULL, *gitdir = NULL, *inside = NULL, *pointer = NULL,
	                    *common = NULL, *target = NULL;

	if (S_ISDIR(mode))
		return mem_printf("%.*s.git/info/exclude", (int)path.len, path.data);
	if (!S_ISREG(mode))
		return NULL;
	line = read_line(folder, ".git");
	if (!line || !span_starts(span_str(line), SPAN("gitdir: ")))
		return NULL;
	gitdir = join(base, path, line + strlen("gitdir: "));
	if (!gitdir)
		return NULL;
	pointer = mem_printf("%s/commondir", gitdir);
	common = read_line(base->root, pointer);
	if (!common)
		return mem_printf("%s/info/exclude", gitdir);
	inside = mem_printf("%s/", gitdir);
	target = join(base, span_str(inside), common);
	return target ? mem_printf("%s/info/exclude", target) : NULL;
}
