/* SPDX-License-Identifier: Apache-2.0 */
/* Making, joining, ending and removing groups.
 *
 * A group is named hasp-PID-START-N after the process that made it and that process's start time,
 * so that a group whose maker has ended is recognised even if its process ID was reused.  The
 * kernel refuses to remove a group that has processes, so a mistake there does no harm. */
#include "sandbox/apply/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/apply/probe.h"

/* ---- where this process stands ---- */

/* A line of mountinfo has two paths and options. */
enum { LINE_BYTES = 3 * LIMIT_PATH_BYTES, PIECE_BYTES = 8192 };

/* Whether `word` is in a list with commas. */
static bool controllers_have(const char *list, const char *word)
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

struct cgroup_mount {
	char root[LIMIT_PATH_BYTES], point[LIMIT_PATH_BYTES];
};

/* "36 35 98:0 /root /point options [tags] - type source options" */
static bool parse_mount(const char *line, const char *controller, struct cgroup_mount *ret)
{
	char type[32], options[512];
	const char *rest = strstr(line, " - ");

	if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", ret->root, ret->point) != 2 ||
	    sscanf(rest, " - %31s %*s %511s", type, options) != 2)
		return false;
	if (!controller)
		return strcmp(type, "cgroup2") == 0;
	return strcmp(type, "cgroup") == 0 && controllers_have(options, controller);
}

/* The whole file, of at most `max` bytes. */
static char *read_whole_text(const char *path, size_t max)
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
	ret->memberships = read_whole_text("/proc/self/cgroup", LIMIT_MOUNTS_BYTES);
	ret->mounts = read_whole_text("/proc/self/mountinfo", LIMIT_MOUNTS_BYTES);
}

void cgroup_places_release(struct cgroup_places *places)
{
	free(places->memberships);
	free(places->mounts);
	*places = (struct cgroup_places){ 0 };
}

/* Copies the line at *at without its end, and moves on; false: there is none. What does not fit is
 * no line of a hierarchy. */
static bool copy_next_line(const char **at, char *line)
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
                       struct cgroup_mount *ret)
{
	_cleanup_free_ char *line = mem_alloc(LINE_BYTES, 1);
	const char *at = places->mounts ? places->mounts : "";

	while (copy_next_line(&at, line))
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
	return controller ? controllers_have(list + 1, controller) : list[1] == '\0';
}

static char *membership(const struct cgroup_places *places, const char *controller)
{
	_cleanup_free_ char *line = mem_alloc(LINE_BYTES, 1);
	const char *at = places->memberships ? places->memberships : "";
	char *path;

	while (copy_next_line(&at, line))
		if (parse_membership(line, controller, &path))
			return mem_strdup(path);
	return NULL;
}

char *cgroup_place(const struct cgroup_places *places, const char *controller)
{
	_cleanup_free_ struct cgroup_mount *mount = mem_alloc(1, sizeof(*mount));
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

/* ---- groups ---- */

#define GROUP_PREFIX "hasp-"
/* Modes of a group's folder. An abandoned group may be removed while its maker lives. */
enum { MODE_KEPT = 0755, MODE_ABANDONED = 0700 };

/* Version 2: both in the first, the second empty. Version 1: pids, memory. */
struct cgroup {
	char *folders[2]; /* owned; NULL: none */
	bool version_2;
};

/* Threads count as processes do; most programs have few. */
enum { TASKS_A_PROCESS = 4, TASKS_EXTRA = 64 };

unsigned long cgroup_tasks(const struct sandbox_limits *limits)
{
	return (unsigned long)limits->processes * TASKS_A_PROCESS + TASKS_EXTRA;
}

static bool group_write(const char *folder, const char *name, const char *text)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);

	return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

static bool group_write_number(const char *folder, const char *name, unsigned long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", number);
	return group_write(folder, name, text);
}

/* When a process began, in the ticks of /proc/PID/stat (proc_pid_stat(5)); 0: it is not known. */
static unsigned long long process_start_ticks(int pid)
{
	_cleanup_free_ char *path = mem_printf("/proc/%d/stat", pid);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[1024];
	const char *at = NULL;
	unsigned long long start = 0;

	/* The second field is a name in brackets, which may have any in it; this is the 22nd. */
	if (fd_read_text(fd, text, sizeof(text)))
		at = strrchr(text, ')');
	if (!at ||
	    sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
	                      "%*d %*d %llu", &start) != 1)
		return 0;
	return start;
}

/* Whether the name is that of a group whose maker has ended, or has abandoned it. */
static bool is_stale(int above, const char *name)
{
	unsigned long long start = 0, now;
	int pid = 0, end = 0;
	struct stat status;

	if (sscanf(name, GROUP_PREFIX "%d-%llu-%*u%n", &pid, &start, &end) != 2 || pid <= 0 ||
	    end == 0 || name[end])
		return false;
	if (kill(pid, 0) != 0 && errno == ESRCH)
		return true;
	if (fstatat(above, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (status.st_mode & 07777) == MODE_ABANDONED)
		return true;
	now = process_start_ticks(pid);
	return start && now && start != now;
}

/* Removes the empty groups in `folder` that are no longer needed. */
static void remove_stale_groups(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (is_stale(dirfd(dir), entry->d_name))
			unlinkat(dirfd(dir), entry->d_name, AT_REMOVEDIR);
	if (dir)
		closedir(dir);
}

/* A new group in `above`, or NULL. */
static char *group_make_in(const char *above)
{
	static atomic_uint counter;
	char *folder;

	remove_stale_groups(above);
	folder = mem_printf("%s/" GROUP_PREFIX "%d-%llu-%u", above, (int)getpid(),
	                    process_start_ticks(getpid()), atomic_fetch_add(&counter, 1));
	if (mkdir(folder, MODE_KEPT) == 0)
		return folder;
	free(folder);
	return NULL;
}

static bool limit_version_2(const char *folder, const struct sandbox_limits *limits)
{
	bool some = false;

	if (limits->processes)
		some = group_write_number(folder, "pids.max", cgroup_tasks(limits)) || some;
	if (limits->memory_bytes) {
		some = group_write_number(folder, "memory.max", limits->memory_bytes) || some;
		group_write(folder, "memory.swap.max", "0");
	}
	return some;
}

static bool limit_pids(const char *folder, const struct sandbox_limits *limits)
{
	return limits->processes && group_write_number(folder, "pids.max", cgroup_tasks(limits));
}

static bool limit_memory(const char *folder, const struct sandbox_limits *limits)
{
	if (!limits->memory_bytes ||
	    !group_write_number(folder, "memory.limit_in_bytes", limits->memory_bytes))
		return false;
	/* Memory and swap together, where swap is accounted for. */
	group_write_number(folder, "memory.memsw.limit_in_bytes", limits->memory_bytes);
	return true;
}

/* A group in `above` that holds the limits, or NULL. */
static char *make_limited(const char *above, const struct sandbox_limits *limits,
                          bool (*limit)(const char *folder, const struct sandbox_limits *limits))
{
	char *folder = group_make_in(above);

	if (folder && !limit(folder, limits)) {
		rmdir(folder);
		free(folder);
		folder = NULL;
	}
	return folder;
}

/* Whether groups in `above` can have limits: every group of version 2 has a file with the
 * controllers that it passes on.  Making a group only to find that it has none takes much
 * longer. */
static bool hands_down(const char *above)
{
	_cleanup_free_ char *path = mem_printf("%s/cgroup.subtree_control", above);
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[1024] = "";

	if (fd < 0)
		return errno != ENOENT;
	return fd_read_full(fd, text, sizeof(text) - 1) < 0 || strstr(text, "memory") ||
	       strstr(text, "pids");
}

static char *make_version_2(const struct cgroup_places *places,
                            const struct sandbox_limits *limits)
{
	_cleanup_free_ char *here = cgroup_place(places, NULL);
	char *folder = NULL, *slash;

	if (!here)
		return NULL;
	if (hands_down(here))
		folder = make_limited(here, limits, limit_version_2);
	slash = strrchr(here, '/');
	/* A group that has processes cannot hand controllers down, but its parent does. */
	if (!folder && slash && slash != here) {
		*slash = '\0';
		if (hands_down(here))
			folder = make_limited(here, limits, limit_version_2);
	}
	return folder;
}

static char *make_version_1(const struct cgroup_places *places, const char *controller,
                            const struct sandbox_limits *limits,
                            bool (*limit)(const char *folder, const struct sandbox_limits *limits))
{
	_cleanup_free_ char *here = cgroup_place(places, controller);

	return here ? make_limited(here, limits, limit) : NULL;
}

static bool may_make(void)
{
	const char *simulate = sandbox_simulation();

	return !simulate || !strstr(simulate, "no-cgroup");
}

struct cgroup *cgroup_make_unlimited(void)
{
	_cleanup_cgroup_places_ struct cgroup_places places = { 0 };
	_cleanup_free_ char *here = NULL, *pids = NULL;
	struct cgroup group = { 0 }, *made;

	if (!may_make())
		return NULL;
	cgroup_places_read(&places);
	here = cgroup_place(&places, NULL);
	group.folders[0] = here ? group_make_in(here) : NULL;
	group.version_2 = group.folders[0] != NULL;
	if (!group.version_2) {
		pids = cgroup_place(&places, "pids");
		group.folders[0] = pids ? group_make_in(pids) : NULL;
	}
	if (!group.folders[0])
		return NULL;
	made = mem_alloc(1, sizeof(*made));
	*made = group;
	return made;
}

struct cgroup *cgroup_make(const struct sandbox_limits *limits)
{
	_cleanup_cgroup_places_ struct cgroup_places places = { 0 };
	struct cgroup group = { 0 }, *made;

	if ((!limits->memory_bytes && !limits->processes) || !may_make())
		return NULL;
	cgroup_places_read(&places);
	group.folders[0] = make_version_2(&places, limits);
	group.version_2 = group.folders[0] != NULL;
	if (!group.version_2) {
		group.folders[0] = make_version_1(&places, "pids", limits, limit_pids);
		group.folders[1] = make_version_1(&places, "memory", limits, limit_memory);
	}
	if (!group.folders[0] && !group.folders[1])
		return NULL;
	made = mem_alloc(1, sizeof(*made));
	*made = group;
	return made;
}

void cgroup_door_open(const struct cgroup *group, struct cgroup_door *ret)
{
	*ret = (struct cgroup_door){ { -1, -1 }, -1 };
	if (!group)
		return;
	if (group->version_2) {
		ret->folder = open(group->folders[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(group->folders); i++) {
		_cleanup_free_ char *path = NULL;

		if (!group->folders[i])
			continue;
		path = mem_printf("%s/tasks", group->folders[i]);
		ret->tasks[i] = open(path, O_WRONLY | O_CLOEXEC);
	}
}

void cgroup_door_close(struct cgroup_door *door)
{
	for (size_t i = 0; i < ARRAY_LEN(door->tasks); i++)
		fd_cleanup_close(&door->tasks[i]);
	fd_cleanup_close(&door->folder);
	*door = (struct cgroup_door){ { -1, -1 }, -1 };
}

void cgroup_enter(const struct cgroup_door *door)
{
	/* What does not work is watched over by processes.h. */
	for (size_t i = 0; i < ARRAY_LEN(door->tasks); i++) {
		if (door->tasks[i] >= 0 && write(door->tasks[i], "0", 1) < 0)
			continue;
	}
}

bool cgroup_join(const struct cgroup *group, pid_t pid)
{
	bool joined = false;

	for (size_t i = 0; group && i < ARRAY_LEN(group->folders); i++) {
		if (group->folders[i])
			joined = group_write_number(group->folders[i], "cgroup.procs",
			                            (unsigned long long)pid) || joined;
	}
	return joined;
}

/* Signals each process that is listed now; true if there was one. */
static bool signal_listed(const char *folder, int number)
{
	_cleanup_free_ char *path = mem_printf("%s/cgroup.procs", folder);
	FILE *file = fopen(path, "re");
	bool some = false;
	int pid;

	while (file && fscanf(file, "%d", &pid) == 1) {
		some = true;
		if (pid > 0)
			kill(pid, number);
	}
	if (file)
		fclose(file);
	return some;
}

static void kill_all_in(const char *folder)
{
	enum { ROUNDS = 100 };
	const struct timespec delay = { .tv_nsec = 500000 };

	if (group_write(folder, "cgroup.kill", "1"))
		return;
	/* From here on nothing is forked in it, so that a list that was read holds all of them. */
	if (!group_write(folder, "pids.max", "0"))
		group_write(folder, "cgroup.freeze", "1");
	for (int i = 0; i < ROUNDS && signal_listed(folder, SIGKILL); i++)
		nanosleep(&delay, NULL);
}

bool cgroup_signal(const struct cgroup *group, int number)
{
	bool some = false;

	/* The folders of version 1 hold the same processes. */
	for (size_t i = 0; group && !some && i < ARRAY_LEN(group->folders); i++)
		some = group->folders[i] && signal_listed(group->folders[i], number);
	return some;
}

void cgroup_kill(const struct cgroup *group)
{
	for (size_t i = 0; group && i < ARRAY_LEN(group->folders); i++) {
		if (group->folders[i])
			kill_all_in(group->folders[i]);
	}
}

/* The dead leave the group a moment after they were reaped. */
static void group_remove(const char *folder)
{
	enum { ROUNDS = 200 };
	const struct timespec delay = { .tv_nsec = 500000 };

	for (int i = 0; i < ROUNDS && rmdir(folder) != 0 && errno == EBUSY; i++) {
		kill_all_in(folder);
		nanosleep(&delay, NULL);
	}
}

void cgroup_free(struct cgroup *group)
{
	if (!group)
		return;
	for (size_t i = 0; i < ARRAY_LEN(group->folders); i++) {
		if (group->folders[i])
			group_remove(group->folders[i]);
		free(group->folders[i]);
	}
	free(group);
}

void cgroup_abandon(struct cgroup *group)
{
	if (!group)
		return;
	for (size_t i = 0; i < ARRAY_LEN(group->folders); i++) {
		/* Marked first: it may become empty right after it was found not to be. */
		if (group->folders[i] && chmod(group->folders[i], MODE_ABANDONED) == 0)
			rmdir(group->folders[i]);
		free(group->folders[i]);
	}
	free(group);
}

static int open_counter(const char *folder, const char *name)
{
	_cleanup_free_ char *path = folder ? mem_printf("%s/%s", folder, name) : NULL;

	return path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
}

void cgroup_watch_group(const struct cgroup *group, struct cgroup_watch *ret)
{
	*ret = (struct cgroup_watch){ -1, -1 };
	if (!group)
		return;
	ret->processes = open_counter(group->folders[0], "pids.events");
	if (group->version_2)
		ret->memory = open_counter(group->folders[0], "memory.events");
	else
		ret->memory = open_counter(group->folders[1], "memory.oom_control");
}

/* ---- what the kernel counted in this process's own groups ---- */

/* Read only, so it works from inside, where all of /sys is read-only. */

/* A group that cgroup_make made, not whatever hasp itself is in: its counters began with the
 * command. */
static int open_in(const struct cgroup_places *places, const char *controller, const char *name)
{
	_cleanup_free_ char *folder = cgroup_place(places, controller), *path = NULL;
	const char *last = folder ? strrchr(folder, '/') : NULL;

	if (!last || strncmp(last, "/hasp-", 6) != 0)
		return -1;
	path = mem_printf("%s/%s", folder, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

void cgroup_watch_init(struct cgroup_watch *ret)
{
	_cleanup_cgroup_places_ struct cgroup_places places = { 0 };

	cgroup_places_read(&places);
	ret->memory = open_in(&places, NULL, "memory.events");
	ret->processes = open_in(&places, NULL, "pids.events");
	if (ret->memory < 0)
		ret->memory = open_in(&places, "memory", "memory.oom_control");
	if (ret->processes < 0)
		ret->processes = open_in(&places, "pids", "pids.events");
}

/* The number after `key` in a file of "key number" lines; 0 if it is not there. */
static unsigned long counter(int fd, const char *key)
{
	char text[1024], *at;
	size_t len = strlen(key);
	ssize_t got = fd < 0 ? -1 : pread(fd, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return 0;
	text[got] = '\0';
	for (at = text; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		if (strncmp(at, key, len) == 0 && at[len] == ' ')
			return strtoul(at + len, NULL, 10);
	}
	return 0;
}

struct cgroup_events cgroup_watch_look(const struct cgroup_watch *watch)
{
	return (struct cgroup_events){
		.memory = counter(watch->memory, "oom_kill") > 0,
		.processes = counter(watch->processes, "max") > 0,
	};
}

void cgroup_watch_release(struct cgroup_watch *watch)
{
	fd_cleanup_close(&watch->memory);
	fd_cleanup_close(&watch->processes);
	watch->memory = watch->processes = -1;
}
