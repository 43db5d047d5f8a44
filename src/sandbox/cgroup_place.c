/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/self/mountinfo (proc_pid_mountinfo(5)) says where the hierarchies are mounted,
 * /proc/self/cgroup (cgroups(7)) which of their groups this process is in. */
#include "sandbox/cgroup_place.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

/* A line of mountinfo has two paths and options. */
enum { LINE_BYTES = 3 * LIMIT_PATH_BYTES };

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

static bool find_mount(const char *controller, struct mount *ret)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = mem_alloc(LINE_BYTES, 1);
	bool found = false;

	while (file && !found && fgets(line, LINE_BYTES, file))
		found = parse_mount(line, controller, ret);
	free(line);
	if (file)
		fclose(file);
	return found;
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

static char *membership(const char *controller)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char *line = mem_alloc(LINE_BYTES, 1), *path, *found = NULL;

	while (file && !found && fgets(line, LINE_BYTES, file)) {
		if (parse_membership(line, controller, &path))
			found = mem_strdup(path);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

char *cgroup_place(const char *controller)
{
	_cleanup_free_ struct mount *mount = mem_alloc(1, sizeof(*mount));
	_cleanup_free_ char *path = membership(controller);
	const char *below = path;
	size_t root;

	if (!path || !find_mount(controller, mount))
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
