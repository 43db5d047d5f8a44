/* SPDX-License-Identifier: Apache-2.0 */
/* Mode, owner, times and extended attributes at the landlock level, where nothing in the kernel
 * keeps them as they are outside the writable paths.  (At level full mode and owner, changed by
 * path, are looked at for the record.)
 *
 * The supervisor opens what the path means (O_PATH), judges that, and makes the change on what it
 * opened, so that nothing can be swapped in between.  Errors are the kernel's own; what is outside
 * is EPERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/judge.h"
#include "sandbox/supervise/internal.h"

/* Memory and deleted files are named so in /proc; they are nobody else's. */
static bool has_no_name(int fd, const struct named *named)
{
	struct stat st;

	return !named->path[0] ||
	       (strncmp(named->path, "/memfd:", 7) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0);
}

/* Opens what a call is about: a path, or (path NULL) a descriptor. -1 with errno set. */
static int open_judged(const struct call *call, int folder, const char *path, bool follow)
{
	struct denial denial = { 0 };
	struct named named;
	_cleanup_fd_ int fd = -1;

	if (path && path[0])
		fd = named_open(call, folder, path, follow, &named);
	else if (path && folder == AT_FDCWD)
		fd = named_open(call, AT_FDCWD, ".", true, &named); /* AT_EMPTY_PATH */
	else
		fd = named_open_descriptor(call, folder, &named);
	if (fd < 0)
		return -1;
	if (((!path || !path[0] || named_is_descriptor(path)) && has_no_name(fd, &named)) ||
	    (named.path[0] &&
	     plan_judge_rules(call->supervisor->plan, named.path, SANDBOX_WRITE, false,
	                      &denial)))
		return fd_steal(&fd);
	denial.kind = DENIAL_METADATA;
	record_denial(call, &denial);
	errno = EPERM;
	return -1;
}

/* The row's folder and path. -1 with errno set. */
static int open_row(const struct call *call, const struct handler *row)
{
	int folder = row->folder < 0 ? AT_FDCWD : (int)call->args[(unsigned char)row->folder];
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	bool follow = !(flags & AT_SYMLINK_NOFOLLOW) && !(row->detail & DETAIL_NOFOLLOW);
	uint64_t at = row->path < 0 ? 0 : call->args[(unsigned char)row->path];
	char path[LIMIT_PATH_BYTES];
	int error;

	if (row->path < 0 || (!at && (row->detail & DETAIL_NULL_FD))) /* a descriptor itself */
		return open_judged(call, folder, NULL, true);
	error = call_read_path(call, at, path);
	if (!error && !path[0] && !(flags & AT_EMPTY_PATH))
		error = ENOENT;
	if (error) {
		errno = error;
		return -1;
	}
	return open_judged(call, folder, path, follow);
}

/* Level full: mounts forbid it, and it only needs a record. */
static struct answer watch_row(const struct call *call, const struct handler *row)
{
	int folder = row->folder < 0 ? AT_FDCWD : (int)call->args[(unsigned char)row->folder];
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	bool follow = !(flags & AT_SYMLINK_NOFOLLOW) && !(row->detail & DETAIL_NOFOLLOW);
	char path[LIMIT_PATH_BYTES];
	struct denial denial = { 0 };
	struct named named;

	if (call_read_path(call, call->args[(unsigned char)row->path], path) == 0 && path[0] &&
	    named_find(call, folder, path, follow, &named) == 0 && named.path[0] &&
	    strncmp(named.path, "/proc/", 6) != 0 &&
	    !plan_judge_rules(call->supervisor->plan, named.path, SANDBOX_WRITE, false, &denial) &&
	    named_exists(&named) && call_alive(call)) {
		denial.kind = DENIAL_METADATA;
		record_denial(call, &denial);
	}
	return answer_go_on();
}

static bool is_watched(const struct call *call, const struct handler *row)
{
	return call->supervisor->plan->level == SANDBOX_FULL && row->path >= 0;
}

struct answer handle_chmod(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = is_watched(call, row) ? -1 : open_row(call, row);
	mode_t mode = (mode_t)call->args[row->path < 0 ? 1 : (unsigned char)row->path + 1];
	char text[FD_PATH_SIZE];

	if (is_watched(call, row))
		return watch_row(call, row);
	if (fd < 0)
		return answer_error(errno);
	return answer_of(chmod(fd_path(fd, text), mode & 07777));
}

struct answer handle_chown(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = is_watched(call, row) ? -1 : open_row(call, row);
	unsigned at = row->path < 0 ? 1 : (unsigned char)row->path + 1;

	if (is_watched(call, row))
		return watch_row(call, row);
	if (fd < 0)
		return answer_error(errno);
	return answer_of(fchownat(fd, "", (uid_t)call->args[at], (gid_t)call->args[at + 1],
	                          AT_EMPTY_PATH));
}

/* ---- times: four calls, four forms ---- */

/* 0 or an errno. */
static int read_times(const struct call *call, uint64_t at, int detail, struct timespec times[2])
{
	struct timeval val[2];
	struct utimbuf buf;
	int error;

	if (!(detail & (DETAIL_TIMEVAL | DETAIL_UTIMBUF)))
		return call_read(call, at, times, 2 * sizeof(*times));
	if (detail & DETAIL_UTIMBUF) {
		error = call_read(call, at, &buf, sizeof(buf));
		times[0] = (struct timespec){ .tv_sec = buf.actime };
		times[1] = (struct timespec){ .tv_sec = buf.modtime };
		return error;
	}
	error = call_read(call, at, val, sizeof(val));
	for (int i = 0; !error && i < 2; i++) {
		if (val[i].tv_usec < 0 || val[i].tv_usec > 999999)
			return EINVAL;
		times[i] = (struct timespec){ .tv_sec = val[i].tv_sec,
			.tv_nsec = val[i].tv_usec * 1000 };
	}
	return error;
}

struct answer handle_times(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = open_row(call, row);
	uint64_t at = call->args[(unsigned char)row->path + 1];
	struct timespec times[2];
	char text[FD_PATH_SIZE];
	int error;

	if (fd < 0)
		return answer_error(errno);
	error = at ? read_times(call, at, row->detail, times) : 0;
	if (error)
		return answer_error(error);
	if (utimensat(fd, "", at ? times : NULL, AT_EMPTY_PATH) == 0)
		return answer_of(0);
	if (errno != EINVAL) /* an old kernel does not take an empty path */
		return answer_error(errno);
	return answer_of(utimensat(AT_FDCWD, fd_path(fd, text), at ? times : NULL, 0));
}

/* ---- extended attributes ---- */

/* struct xattr_args of Linux 6.13. */
struct attribute_args {
	uint64_t value;
	uint32_t size, flags;
};

/* Name (XATTR_NAME_MAX is 255). 0 or an errno. */
static int read_name(const struct call *call, uint64_t at, char name[static LIMIT_PATH_BYTES])
{
	int error = call_read_path(call, at, name);

	if (error == ENAMETOOLONG || (!error && (!name[0] || strlen(name) > 255)))
		return ERANGE;
	return error;
}

static struct answer set_attribute(const struct call *call, int fd, const char *name,
                                   const struct attribute_args *args)
{
	_cleanup_free_ char *value = NULL;
	char text[FD_PATH_SIZE];
	int error;

	if (args->size > 65536) /* XATTR_SIZE_MAX */
		return answer_error(E2BIG);
	value = mem_alloc(1, args->size + 1);
	error = args->size ? call_read(call, args->value, value, args->size) : 0;
	if (error)
		return answer_error(error);
	return answer_of(setxattr(fd_path(fd, text), name, value, args->size, (int)args->flags));
}

/* The name follows the path, or the descriptor. */
struct answer handle_xattr(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = open_row(call, row);
	/* setxattrat(folder, path, flags, name, args, size): the flags stand between. */
	unsigned at = row->flags >= 0 ? 3 : row->path < 0 ? 1 : (unsigned char)row->path + 1;
	struct attribute_args args = { 0 };
	char name[LIMIT_PATH_BYTES], text[FD_PATH_SIZE];
	int error;

	if (fd < 0)
		return answer_error(errno);
	error = read_name(call, call->args[at], name);
	if (!error && (row->detail & DETAIL_REMOVE))
		return answer_of(removexattr(fd_path(fd, text), name));
	if (!error && row->flags >= 0)
		error = call->args[at + 2] < sizeof(args) ? EINVAL :
		        call_read(call, call->args[at + 1], &args, sizeof(args));
	else
		args = (struct attribute_args){ .value = call->args[at + 1],
			.size = call->args[at + 2] > 65536 ? 65537 : (uint32_t)call->args[at + 2],
			.flags = (uint32_t)call->args[at + 3] };
	return error ? answer_error(error) : set_attribute(call, fd, name, &args);
}
