/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/self/mountinfo (proc_pid_mountinfo(5)) says where the hierarchies are mounted,
 * /proc/self/cgroup (cgroups(7)) which of their groups this process is in. */
#include "sandbox/apply/cgroup_place.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

/* A line of mountinfo has two paths and options. */
enum { LINE_BYTES = 3 * LIMIT_PATH_BYTES, PIECE_BYTES = 8192 };

/* Whether `word` is in a list with commas. */
static bool lists(const char *list, const char *word)
{
	size_t len = strlen(word);

	while (*list) {
		size_t item = strcspn(list, ",\n");

		if (item == len && strncmp(list, word, len) == 0)
			return true;
		list += item + (list[item] != '\0');
	}
	return false;
}

struct mount {
	char root[LIMIT_PATH_BYTES], point[LIMIT_PATH_BYTES];
};

/* "36 35 98:0 /root /point options [tags] - type source options" */
static bool parse_mount(const char *line, const char *controller, struct mount *ret)
{
	char type[32], options[512];
	const char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", ret->root, ret->point) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", type, options) != 2)
		return false;
	if (!controller)
		return strcmp(type, "cgroup2") == 0;
	return strcmp(type, "cgroup") == 0 && lists(options, controller);
}

/* The whole file, of at most `max` bytes. */
static char *read_text(const char *path, size_t max)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t len = 0, cap = 0;
	ssize_t got = fd < 0 ? -1 : 1;

	while (got > 0 && len < max) {
		text = mem_grow(text, &cap, len + PIECE_BYTES + 1, 1);
		got = read(fd, text + len, PIECE_BYTES);
		len += got > 0 ? (size_t)got : 0;
	}
	if (got == 0) {
		text[len] = '\0';
		return text;
	}
	free(text);
	return NULL;
}

void cgroup_places_read(struct cgroup_places *ret)
{
	ret->memberships = read_text("/proc/self/cgroup", LIMIT_MOUNTS_BYTES);
	ret->mounts = read_text("/proc/self/mountinfo", LIMIT_MOUNTS_BYTES);
}

void cgroup_places_release(struct cgroup_places *places)
{
	free(places->memberships);
	free(places->mounts);
	*places = (struct cgroup_places){ 0 };
}

/* Copies the line at *at without its end, and moves on; false: there is none. What does not fit is no
 * line of a hierarchy. */
static bool next_line(const char **at, char *line)
{
	size_t len = strcspn(*at, "\n");

	if (!**at)
		return false;
	memcpy(line, *at, len < LINE_BYTES ? len : LINE_BYTES - 1);
	line[len < LINE_BYTES ? len : LINE_BYTES - 1] = '\0';
	*at += len + ((*at)[len] != '\0');
	return true;
}

static bool find_mount(const struct cgroup_places *places, const char *controller,
                       struct mount *ret)
{
	_cleanup_free_ char *line = mem_alloc(LINE_BYTES, 1);
	const char *at = places->mounts ? places->mounts : "";

	while (next_line(&at, line))
		if (parse_mount(line, controller, ret))
			return true;
	return false;
}

/* "4:memory:/path"; of version 2 "0::/path". */
static bool parse_membership(char *line, const char *controller, char **ret_path)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return false;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	*ret_path = path;
	return controller ? lists(list + 1, controller) : list[1] == '\0';
}

static char *membership(const struct cgroup_places *places, const char *controller)
{
	_cleanup_free_ char *line = mem_alloc(LINE_BYTES, 1);
	const char *at = places->memberships ? places->memberships : "";
	char *path;

	while (next_line(&at, line))
		if (parse_membership(line, controller, &path))
			return mem_strdup(path);
	return NULL;
}

char *cgroup_place(const struct cgroup_places *places, const char *controller)
{
	_cleanup_free_ struct mount *mount = mem_alloc(1, sizeof(*mount));
	_cleanup_free_ char *path = membership(places, controller);
	const char *below = path;
	size_t root;

	if (!path || !find_mount(places, controller, mount))
		return NULL;
	/* A container sees a part of the hierarchy, and paths from that part's root or the
	 * hierarchy's. */
	root = strcmp(mount->root, "/") == 0 ? 0 : strlen(mount->root);
	if (root && strncmp(path, mount->root, root) == 0 && (path[root] == '/' || !path[root]))
		below += root;
	if (strstr(below, "/.."))
		return NULL;
	return mem_printf("%s%s", mount->point, strcmp(below, "/") == 0 ? "" : below);
}
