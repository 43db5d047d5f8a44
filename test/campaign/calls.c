/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that make, change or move what has a path, or let it run, bare. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "hostile.h"

void deface_descriptor(int fd)
{
	if (fd < 0)
		return;
	(void)!write(fd, ATTACK_TEXT, strlen(ATTACK_TEXT));
	close(fd);
}

static int folder_of(const struct order *order)
{
	return order->aim->folder;
}

/* ---- opening ---- */

#define OPEN(name, flags) \
	static void name(const struct order *order) \
	{ \
		deface_descriptor((int)syscall(SYS_openat, folder_of(order), order->path, \
		                               (flags) | O_CLOEXEC, 0666)); \
	}

OPEN(open_create, O_WRONLY | O_CREAT)
OPEN(open_exclusive, O_RDWR | O_CREAT | O_EXCL)
OPEN(open_append, O_WRONLY | O_APPEND)
OPEN(open_truncate, O_RDONLY | O_TRUNC)
OPEN(open_nofollow, O_WRONLY | O_CREAT | O_NOFOLLOW)

static void open_old(const struct order *order)
{
#ifdef SYS_open
	deface_descriptor((int)syscall(SYS_open, order->path, O_WRONLY | O_CREAT, 0666));
#else
	open_create(order);
#endif
}

static void creat_old(const struct order *order)
{
#ifdef SYS_creat
	deface_descriptor((int)syscall(SYS_creat, order->path, 0666));
#else
	open_create(order);
#endif
}

static void open_resolving(const struct order *order, unsigned long long resolve)
{
	struct open_how how = { .flags = O_WRONLY | O_CREAT, .mode = 0666,
		.resolve = resolve | (order->aim->in_root ? RESOLVE_IN_ROOT : 0) };
	const void *at = order->place(3, &how, NULL, sizeof(how));

	if (at) {
		deface_descriptor((int)syscall(SYS_openat2, folder_of(order), order->path, at,
		                               sizeof(how)));
	}
}

static void openat2_free(const struct order *order)
{
	open_resolving(order, 0);
}

static void openat2_beneath(const struct order *order)
{
	open_resolving(order, order->aim->in_root ? 0 : RESOLVE_BENEATH);
}

static void openat2_no_links(const struct order *order)
{
	open_resolving(order, RESOLVE_NO_SYMLINKS);
}

static void open_mapped(const struct order *order)
{
	int fd = (int)syscall(SYS_openat, folder_of(order), order->path, O_RDWR | O_CREAT, 0666);
	char *at;

	if (fd < 0)
		return;
	at = ftruncate(fd, 4096) == 0 ?
	             mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (at != MAP_FAILED)
		memcpy(at, ATTACK_TEXT, strlen(ATTACK_TEXT));
	close(fd);
}

static void truncate_path(const struct order *order)
{
	syscall(SYS_truncate, order->path, 0L);
}

/* ---- making ---- */

static void make_folder(const struct order *order)
{
	syscall(SYS_mkdirat, folder_of(order), order->path, 0777);
}

static void make_node(const struct order *order)
{
	syscall(SYS_mknodat, folder_of(order), order->path, S_IFREG | 0666, 0);
}

static void make_fifo(const struct order *order)
{
	syscall(SYS_mknodat, folder_of(order), order->path, S_IFIFO | 0666, 0);
}

static void make_link(const struct order *order)
{
	syscall(SYS_symlinkat, order->evil, folder_of(order), order->path);
}

static void link_evil(const struct order *order)
{
	syscall(SYS_linkat, AT_FDCWD, order->evil, folder_of(order), order->path, 0);
}

static void link_nameless(const struct order *order)
{
	int fd = open(".", O_TMPFILE | O_RDWR, 0666);
	char name[64];

	if (fd < 0)
		return;
	(void)!write(fd, ATTACK_TEXT, strlen(ATTACK_TEXT));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	syscall(SYS_linkat, AT_FDCWD, name, folder_of(order), order->path, AT_SYMLINK_FOLLOW);
	close(fd);
}

/* A second name for what is protected, and a write through that. */
static void link_out(const struct order *order)
{
	char name[sizeof(order->evil) + 8];

	snprintf(name, sizeof(name), "%s-out", order->evil);
	syscall(SYS_linkat, folder_of(order), order->path, AT_FDCWD, name, 0);
	deface_descriptor(open(name, O_WRONLY | O_CLOEXEC));
	unlink(name);
}

static void bind_socket(const struct order *order)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const void *at;

	if (strlen(order->aim->path) < sizeof(address.sun_path) && order->aim->folder == AT_FDCWD) {
		struct sockaddr_un other = address;

		size_t size = strlen(order->aim->path) + 1;

		memcpy(address.sun_path, order->aim->path, size);
		memcpy(other.sun_path,
		       order->aim->other[0] ? order->aim->other : order->aim->path, size);
		at = order->place(3, &address, &other, sizeof(address));
		if (at)
			syscall(SYS_bind, fd, at, sizeof(address));
	}
	close(fd);
}

/* ---- moving ---- */

static void rename_evil(const struct order *order)
{
	syscall(SYS_renameat2, AT_FDCWD, order->evil, folder_of(order), order->path, 0);
}

static void rename_old(const struct order *order)
{
#ifdef SYS_rename
	syscall(SYS_rename, order->evil, order->path);
#else
	rename_evil(order);
#endif
}

static void rename_exchange(const struct order *order)
{
	syscall(SYS_renameat2, AT_FDCWD, order->evil, folder_of(order), order->path,
	        2 /* RENAME_EXCHANGE */);
}

static void rename_none(const struct order *order)
{
	syscall(SYS_renameat2, AT_FDCWD, order->evil, folder_of(order), order->path,
	        1 /* RENAME_NOREPLACE */);
}

/* Away, and one of ours to where it was. */
static void remove_and_make(const struct order *order)
{
	syscall(SYS_unlinkat, folder_of(order), order->path, 0);
	rename_evil(order);
}

/* ---- what may run ---- */

enum { NR_FCHMODAT2 = 452 }; /* newer than the headers of some systems */

static void mode_old(const struct order *order)
{
#ifdef SYS_chmod
	syscall(SYS_chmod, order->path, 0777);
#else
	syscall(SYS_fchmodat, AT_FDCWD, order->path, 0777);
#endif
}

static void mode_at(const struct order *order)
{
	syscall(SYS_fchmodat, folder_of(order), order->path, 0777);
}

static void mode_with_flags(const struct order *order)
{
	syscall(NR_FCHMODAT2, folder_of(order), order->path, 0777, AT_SYMLINK_NOFOLLOW);
}

static void mode_by_descriptor(const struct order *order)
{
	int fd = (int)syscall(SYS_openat, folder_of(order), order->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	syscall(SYS_fchmod, fd, 0777);
	close(fd);
}

const struct call_kind calls[] = {
	{ "openat-create", true, false, false, open_create },
	{ "openat-exclusive", true, false, true, open_exclusive },
	{ "openat-append", true, true, false, open_append },
	{ "openat-truncate", true, true, false, open_truncate },
	{ "openat-nofollow", true, false, false, open_nofollow },
	{ "open", false, false, false, open_old },
	{ "creat", false, false, false, creat_old },
	{ "openat2", true, false, false, openat2_free },
	{ "openat2-beneath", true, false, false, openat2_beneath },
	{ "openat2-no-links", true, false, false, openat2_no_links },
	{ "mmap", true, false, false, open_mapped },
	{ "truncate", false, true, false, truncate_path },
	{ "mkdirat", true, false, true, make_folder },
	{ "mknodat", true, false, true, make_node },
	{ "mkfifo", true, false, true, make_fifo },
	{ "symlinkat", true, false, true, make_link },
	{ "linkat", true, false, true, link_evil },
	{ "linkat-nameless", true, false, true, link_nameless },
	{ "linkat-out", true, true, false, link_out },
	{ "bind", false, false, true, bind_socket },
	{ "renameat2", true, false, false, rename_evil },
	{ "rename", false, false, false, rename_old },
	{ "rename-exchange", true, true, false, rename_exchange },
	{ "rename-noreplace", true, false, true, rename_none },
	{ "unlink-rename", true, true, false, remove_and_make },
	{ "chmod", false, true, false, mode_old },
	{ "fchmodat", true, true, false, mode_at },
	{ "fchmodat2", true, true, false, mode_with_flags },
	{ "fchmod", true, true, false, mode_by_descriptor },
	{ 0 },
};
