/* SPDX-License-Identifier: Apache-2.0 */
/* Mode, owner, times and extended attributes.
 *
 * At the landlock level nothing in the kernel protects them outside the writable paths, so changing
 * them there is EPERM.  At level full mode and owner come here for the record alone: mounts
 * decide.
 *
 * The supervisor opens what the path means (O_PATH), judges that, and makes the change on what it
 * opened, so that nothing can be swapped in between.  Errors are the kernel's own. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/denial.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/named.h"
#include "sandbox/supervise/private.h"

/* Memory and deleted files have such names in /proc; no other program uses them. */
static bool has_no_path(int fd, const struct named *named)
{
	struct stat st;

	return !named->path[0] ||
	       (strncmp(named->path, "/memfd:", 7) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0);
}

/* Opens what a call is about: a path, or (path NULL) a descriptor. -1 with errno set. */
static int open_judged(const struct syscall *call, int folder, const char *path, bool follow,
                       struct verdict *ret)
{
	const struct sandbox_plan *plan = call->supervisor->plan;
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
	ret->allowed = has_no_path(fd, &named) ||
	               plan_judge_rules(plan, named.path, SANDBOX_WRITE, false, &ret->denial);
	ret->denial.kind = DENIAL_METADATA;
	if (ret->allowed || plan->level == SANDBOX_FULL)
		return fd_steal(&fd);
	supervise_record_denial(call, &ret->denial);
	errno = EPERM;
	return -1;
}

/* The row's folder and path. -1 with errno set. */
static int open_row(const struct syscall *call, const struct handler *row, struct verdict *ret)
{
	int folder = row->folder < 0 ? AT_FDCWD : (int)call->args[(unsigned char)row->folder];
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	bool follow = !(flags & AT_SYMLINK_NOFOLLOW) && !(row->detail & DETAIL_NOFOLLOW);
	uint64_t at = row->path < 0 ? 0 : call->args[(unsigned char)row->path];
	char path[LIMIT_PATH_BYTES];
	int error;

	if (row->path < 0 || (!at && (row->detail & DETAIL_NULL_FD))) /* a descriptor itself */
		return open_judged(call, folder, NULL, true, ret);
	error = call_read_path(call, at, path);
	if (!error && !path[0] && !(flags & AT_EMPTY_PATH))
		error = ENOENT;
	if (error) {
		errno = error;
		return -1;
	}
	return open_judged(call, folder, path, follow, ret);
}

/* What a system call of the supervisor's returned. */
static struct call_answer changed(const struct syscall *call, struct verdict *verdict, int returned)
{
	int error = returned ? errno : 0;

	supervise_record_verdict(call, verdict, error);
	return answer_made(error);
}

struct call_answer supervise_chmod(const struct syscall *call, const struct handler *row)
{
	const bool full = call->supervisor->plan->level == SANDBOX_FULL;
	struct verdict verdict = { 0 };
	_cleanup_fd_ int fd = full && row->path < 0 ? -1 : open_row(call, row, &verdict);
	mode_t mode = (mode_t)call->args[row->path < 0 ? 1 : (unsigned char)row->path + 1];
	char text[FD_PATH_SIZE];

	if (full && row->path < 0)
		return answer_go_on(CONTINUE_EXECUTABLE);
	if (fd < 0)
		return answer_error(errno);
	return changed(call, &verdict, chmod(fd_path(fd, text), mode & 07777));
}

struct call_answer supervise_chown(const struct syscall *call, const struct handler *row)
{
	struct verdict verdict = { 0 };
	_cleanup_fd_ int fd = open_row(call, row, &verdict);
	unsigned at = row->path < 0 ? 1 : (unsigned char)row->path + 1;

	if (fd < 0)
		return answer_error(errno);
	return changed(call, &verdict, fchownat(fd, "", (uid_t)call->args[at],
	                                        (gid_t)call->args[at + 1], AT_EMPTY_PATH));
}

/* ---- times: four calls, four forms ---- */

/* 0 or an errno. */
static int read_times(const struct syscall *call, uint64_t at, int detail, struct timespec times[2])
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

struct call_answer supervise_times(const struct syscall *call, const struct handler *row)
{
	struct verdict verdict = { 0 };
	_cleanup_fd_ int fd = open_row(call, row, &verdict);
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
		return supervise_answer_of(0);
	if (errno != EINVAL) /* an old kernel does not take an empty path */
		return answer_error(errno);
	return supervise_answer_of(utimensat(AT_FDCWD, fd_path(fd, text), at ? times : NULL, 0));
}

/* ---- extended attributes ---- */

/* struct xattr_args of Linux 6.13. */
struct attribute_args {
	uint64_t value;
	uint32_t size, flags;
};

/* Name (XATTR_NAME_MAX is 255). 0 or an errno. */
static int read_attribute_name(const struct syscall *call, uint64_t at,
                               char name[static LIMIT_PATH_BYTES])
{
	int error = call_read_path(call, at, name);

	if (error == ENAMETOOLONG || (!error && (!name[0] || strlen(name) > 255)))
		return ERANGE;
	return error;
}

static struct call_answer set_attribute(const struct syscall *call, int fd, const char *name,
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
	return supervise_answer_of(setxattr(fd_path(fd, text), name, value, args->size,
	                                    (int)args->flags));
}

/* The name follows the path, or the descriptor. */
struct call_answer supervise_xattr(const struct syscall *call, const struct handler *row)
{
	struct verdict verdict = { 0 };
	_cleanup_fd_ int fd = open_row(call, row, &verdict);
	/* setxattrat(folder, path, flags, name, args, size): the flags stand between. */
	unsigned at = row->flags >= 0 ? 3 : row->path < 0 ? 1 : (unsigned char)row->path + 1;
	struct attribute_args args = { 0 };
	char name[LIMIT_PATH_BYTES], text[FD_PATH_SIZE];
	int error;

	if (fd < 0)
		return answer_error(errno);
	error = read_attribute_name(call, call->args[at], name);
	if (!error && (row->detail & DETAIL_REMOVE))
		return supervise_answer_of(removexattr(fd_path(fd, text), name));
	if (!error && row->flags >= 0)
		error = call->args[at + 2] < sizeof(args) ? EINVAL :
		        call_read(call, call->args[at + 1], &args, sizeof(args));
	else
		args = (struct attribute_args){ .value = call->args[at + 1],
			.size = call->args[at + 2] > 65536 ? 65537 : (uint32_t)call->args[at + 2],
			.flags = (uint32_t)call->args[at + 3] };
	return error ? answer_error(error) : set_attribute(call, fd, name, &args);
}
