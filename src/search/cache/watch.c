/* SPDX-License-Identifier: Apache-2.0 */
/* The watch of the folders of one tree: inotify, who owns which folder, and mounts in between. */
#include "search/cache/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"

/* Not IN_OPEN and IN_ACCESS: searches would tell of themselves. */
#define MASK ((uint32_t)(IN_MODIFY | IN_ATTRIB | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | \
                         IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR |  \
                         IN_EXCL_UNLINK))

/* A machine full of containers has some thousand mounts. */
#define MOUNTINFO_MAX ((size_t)16 << 20)

/* Read so many bytes of events at a time; one is at most 272. */
enum { EVENT_BYTES = 8 << 10 };

/* ---- mounts --------------------------------------------------------------- */

/* As the kernel writes paths into mountinfo (proc_pid_mountinfo(5)): blanks and backslashes in
 * octal. */
static char *mountinfo_path(const char *path)
{
	struct buf out = BUF_INIT(MOUNTINFO_MAX);

	for (; *path; path++) {
		if (strchr(" \t\n\\", *path))
			buf_printf(&out, "\\%03o", (unsigned)(unsigned char)*path);
		else
			buf_char(&out, *path);
	}
	while (out.len > 0 && out.data[out.len - 1] == '/')
		out.data[--out.len] = '\0';
	return buf_steal(&out);
}

/* The fifth field of a line: where it is mounted. */
static struct span mount_point(struct span line)
{
	for (int field = 1; field < 5; field++) {
		const char *blank = line.len > 0 ? memchr(line.data, ' ', line.len) : NULL;

		line = blank ? span_skip(line, (size_t)(blank - line.data) + 1) : span_of("", 0);
	}
	for (size_t i = 0; i < line.len; i++)
		if (line.data[i] == ' ')
			return span_head(line, i);
	return line;
}

/* Whether one path is the other, or beneath it. */
static bool mount_is_within(struct span path, struct span folder)
{
	while (span_ends(folder, SPAN("/")))
		folder.len--;
	return span_starts(path, folder) &&
	       (path.len == folder.len || path.data[folder.len] == '/');
}

static uint64_t digest_line(uint64_t so_far, struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		so_far = (so_far ^ (unsigned char)line.data[i]) * 0x100000001B3u;
	return so_far;
}

/* FNV-1a over the lines of mounts above the tree, and in it. False when they cannot be read. */
static bool watch_read_mounts(struct watch *watch, uint64_t *ret)
{
	const struct span root = span_str(watch->path);
	_cleanup_buf_ struct buf text = BUF_INIT(MOUNTINFO_MAX);
	struct span rest, line;
	char *room;
	ssize_t n;

	if (lseek(watch->mounts, 0, SEEK_SET) != 0)
		return false;
	do {
		room = buf_reserve(&text, 16 << 10);
		n = room ? read(watch->mounts, room, 16 << 10) : -1;
		if (n > 0)
			text.len += (size_t)n;
	} while (n > 0);
	if (n < 0)
		return false;
	rest = buf_view(&text);
	*ret = 0xCBF29CE484222325u;
	while (line_next(&rest, &line)) {
		struct span point = mount_point(line);

		watch->mounts_inside |= mount_is_within(point, root) && point.len > root.len;
		if (mount_is_within(point, root) || mount_is_within(root, point))
			*ret = digest_line(*ret, line);
	}
	return true;
}

bool watch_mounts_hold(struct watch *watch)
{
	struct pollfd poller = { .fd = watch->mounts, .events = POLLPRI };
	uint64_t mounted;

	if (poll(&poller, 1, 0) == 0)
		return true;
	return watch_read_mounts(watch, &mounted) && mounted == watch->mounted;
}

bool watch_trusts(int folder)
{
	/* Not here, because others change them: NFS, CIFS, 9p, FUSE, VirtualBox' shares. Overlays
	 * are: what is written to their lower layers has no defined effect anyway. */
	static const long trusted[] = {
		EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,      BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC,       F2FS_SUPER_MAGIC,     OVERLAYFS_SUPER_MAGIC,
		RAMFS_MAGIC,       SQUASHFS_MAGIC,       EROFS_SUPER_MAGIC_V1,
		0x2FC12FC1 /* zfs */, (long)0xCA451A4E /* bcachefs */,
	};
	struct statfs fs;

	if (fstatfs(folder, &fs) != 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(trusted); i++)
		if ((uint32_t)fs.f_type == (uint32_t)trusted[i])
			return true;
	return false;
}

/* ---- numbers and their owners --------------------------------------------- */

static size_t place_of(const struct watch *watch, int number)
{
	return (uint32_t)number * 0x9E3779B1u & (watch->owner_size - 1);
}

void watch_own(struct watch *watch, int number, void *owner)
{
	size_t at;

	if (watch->owner_count * 2 >= watch->owner_size) {
		struct watch_owner *old = watch->owners;
		const size_t size = watch->owner_size;

		watch->owner_size = size > 0 ? size * 2 : 64;
		watch->owners = mem_alloc(watch->owner_size, sizeof(*watch->owners));
		watch->owner_count = 0;
		for (size_t i = 0; i < size; i++)
			if (old[i].number != 0)
				watch_own(watch, old[i].number, old[i].owner);
		free(old);
	}
	at = place_of(watch, number);
	while (watch->owners[at].number != 0)
		at = (at + 1) & (watch->owner_size - 1);
	watch->owners[at] = (struct watch_owner){ number, owner };
	watch->owner_count++;
}

void *watch_owner(const struct watch *watch, int number, size_t *at)
{
	if (watch->owner_size == 0)
		return NULL;
	for (;; ++*at) {
		const struct watch_owner *place =
			&watch->owners[(place_of(watch, number) + *at) & (watch->owner_size - 1)];

		if (place->number == 0)
			return NULL;
		if (place->number == number) {
			++*at;
			return place->owner;
		}
	}
}

/* Empties a place, and moves up what would not be found past it any more. */
static void watch_empty_owner(struct watch *watch, size_t hole)
{
	const size_t mask = watch->owner_size - 1;

	for (size_t at = (hole + 1) & mask; watch->owners[at].number != 0; at = (at + 1) & mask) {
		const size_t home = place_of(watch, watch->owners[at].number);

		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		watch->owners[hole] = watch->owners[at];
		hole = at;
	}
	watch->owners[hole] = (struct watch_owner){ 0 };
	watch->owner_count--;
}

void watch_disown(struct watch *watch, int number, void *owner)
{
	size_t at = place_of(watch, number), next = 0;

	while (watch->owners[at].number != 0 &&
	       (watch->owners[at].number != number || watch->owners[at].owner != owner))
		at = (at + 1) & (watch->owner_size - 1);
	if (watch->owners[at].number != 0)
		watch_empty_owner(watch, at);
	if (!watch_owner(watch, number, &next))
		inotify_rm_watch(watch->fd, number); /* EINVAL: the folder was removed, too */
}

/* ---- events ---------------------------------------------------------------- */

bool watch_open(struct watch *watch, const char *root_path)
{
	watch->path = mountinfo_path(root_path);
	watch->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (watch->mounts < 0 || !watch_read_mounts(watch, &watch->mounted))
		return false;
	watch->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	return watch->fd >= 0;
}

void watch_release(struct watch *watch)
{
	fd_cleanup_close(&watch->fd);
	fd_cleanup_close(&watch->mounts);
	free(watch->path);
	free(watch->owners);
	*watch = (struct watch)WATCH_INIT;
}

int watch_add(const struct watch *watch, int folder)
{
	char path[64];

	/* inotify knows only paths; this one is the folder itself, whatever became of its name. */
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", folder);
	return inotify_add_watch(watch->fd, path, MASK);
}

bool watch_has_events(const struct watch *watch)
{
	struct pollfd poller = { .fd = watch->fd, .events = POLLIN };

	return poll(&poller, 1, 0) > 0;
}

bool watch_take(const struct watch *watch, watch_event *each, void *data)
{
	_Alignas(struct inotify_event) char bytes[EVENT_BYTES];
	int queued = 0, taken = 0;

	/* Events queued after this are left for later: a process may never stop changing files. */
	if (ioctl(watch->fd, FIONREAD, &queued) != 0)
		return false;
	while (taken < queued) {
		ssize_t n = read(watch->fd, bytes, sizeof(bytes));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 && errno == EAGAIN;
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(bytes + at);

			if (event->mask & (IN_Q_OVERFLOW | IN_UNMOUNT))
				return false;
			each(data, event, event->len > 0 ? event->name : "");
			at += (ssize_t)(sizeof(*event) + event->len);
		}
		taken += (int)n;
	}
	return true;
}
