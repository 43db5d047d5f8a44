/* SPDX-License-Identifier: Apache-2.0 */
/* Opening for writing, making, moving and removing names.
 *
 * The kernel decides: mounts at level full, Landlock at landlock.  Here a denial gets its
 * record, and a name is refused where the kernel would let it pass: names that must not come into
 * being, and at the landlock level protected ones inside writable paths.  That a process can change
 * the path after it was looked at gains it no more than the guard (guard.h) takes away again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/plan/denial.h"
#include "sandbox/supervise/private.h"

/* ---- names ---- */

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

#define FOR_WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

/* What the kernel would say at this level, if it said it. */
static int refusal(const struct supervisor *supervisor)
{
	return supervisor->plan->level == SANDBOX_FULL ? EROFS : EACCES;
}

/* What a process may do to its own entries of /proc is not a matter of paths. */
static bool is_process(const char *path)
{
	return strncmp(path, "/proc/", 6) == 0 && ascii_is_digit(path[6]);
}

/* `needs_name`: the call would fail anyhow if the name does not exist; needs_none: if it does.
 * `leaves`: the name is removed or moved away, which no program that obeys such names heeds. */
struct wanted {
	bool removes, needs_name, needs_none, truncates, leaves;
};

/* Landlock before version 3 (Linux 6.2) says nothing about truncating. */
static bool only_we_refuse(const struct sandbox_plan *plan, struct wanted wanted)
{
	return wanted.truncates && plan->level == SANDBOX_LANDLOCK && plan->landlock_abi < 3;
}

/* A hasp inside tries to make control groups of its own (cgroup.c), and does without: it is refused
 * as all else is, but nobody wants to read about it. */
static bool is_own_group(const char *path)
{
	return strncmp(path, "/sys/fs/cgroup/", strlen("/sys/fs/cgroup/")) == 0 &&
	       strncmp(strrchr(path, '/'), "/hasp-", strlen("/hasp-")) == 0;
}

/* Names that others obey in any folder (names.h).  A folder that the command itself made is
 * nobody's place of work yet: what is cloned, unpacked or copied there may have them. */
static bool judge_obeyed(const struct call *call, const char *path, struct wanted wanted,
                         struct denial *ret_denial)
{
	const struct supervisor_events *events = &call->supervisor->events;
	_cleanup_free_ char *folder = NULL;
	size_t at = 0, end = 0;

	if (wanted.leaves || !plan_obeyed(call->supervisor->plan, path, &at, &end))
		return true;
	folder = mem_dup(path, at - 1);
	return (events->fresh && events->fresh(events->data, folder)) ||
	       plan_judge_obeyed(call->supervisor->plan, path, ret_denial);
}

/* True when the call is to be refused. */
static bool name_is_refused(const struct call *call, const struct named *named,
                            struct wanted wanted)
{
	struct denial denial = { 0 };

	if (!named->path[0] || is_process(named->path))
		return false;
	if (plan_judge_rules(call->supervisor->plan, named->path, SANDBOX_WRITE, wanted.removes,
	                     &denial) &&
	    judge_obeyed(call, named->path, wanted, &denial))
		return false;
	if (wanted.needs_name && !named_exists(named))
		return false;
	if (wanted.needs_none && named_exists(named))
		return false;
	if (!call_alive(call))
		return false;
	if (!is_own_group(named->path))
		supervise_record_denial(call, &denial);
	return denial.reason != SANDBOX_REASON_DEFAULT ||
	       only_we_refuse(call->supervisor->plan, wanted);
}

static int folder_argument(const struct call *call, signed char argument)
{
	return argument < 0 ? AT_FDCWD : (int)call->args[(unsigned char)argument];
}

/* Reads and finds one path argument: 0 or an errno. */
static int find_target(const struct call *call, signed char folder, signed char path, bool follow,
                       struct named *ret)
{
	char text[LIMIT_PATH_BYTES];
	int error = call_read_path(call, call->args[(unsigned char)path], text);

	return error ? error : named_find(call, folder_argument(call, folder), text, follow, ret);
}

static void report_gone(const struct call *call, const struct named *named)
{
	const struct supervisor_events *events = &call->supervisor->events;

	if (events->gone && named->path[0])
		events->gone(events->data, named->path);
}

static void report_made(const struct call *call, const char *path)
{
	const struct supervisor_events *events = &call->supervisor->events;

	if (events->made)
		events->made(events->data, path);
}

/* The path cannot be found: mostly because there is no such folder, and the call fails. */
static struct answer not_found(const struct call *call, int error)
{
	/* A magic link of /proc on the way: where the kernel protects less, it is not gone. */
	if (error == ELOOP && call->supervisor->plan->level == SANDBOX_LANDLOCK)
		return answer_error(ELOOP);
	if (error != ENOENT && error != ENOTDIR && error != EFAULT && error != EBADF &&
	    error != ENAMETOOLONG)
		report_made(call, "");
	return answer_go_on();
}

static struct answer answer_judged(const struct call *call, bool refused, const char *made)
{
	if (refused)
		return answer_error(refusal(call->supervisor));
	if (made)
		report_made(call, made);
	return answer_go_on();
}

/* A file without a name may lie anywhere: at the landlock level, where the machine's /tmp is not to
 * be written, it lies in the session's folder.  tmpfile(3) knows no other folder than /tmp. */
static bool makes_no_name(const struct supervisor *supervisor, const struct named *named,
                        uint64_t flags)
{
	return (flags & O_TMPFILE) == O_TMPFILE && supervisor->plan->level == SANDBOX_LANDLOCK &&
	       supervisor->plan->temp && strcmp(named->path, "/tmp") == 0 &&
	       !plan_judge(supervisor->plan, named->path, SANDBOX_WRITE, false, NULL);
}

static struct answer open_without_name(const struct call *call, uint64_t flags, mode_t mode)
{
	const int kept = O_ACCMODE | O_TMPFILE | O_EXCL | O_APPEND | O_NONBLOCK | O_SYNC;
	_cleanup_fd_ int fd = open(call->supervisor->plan->temp, ((int)flags & kept) | O_CLOEXEC,
	                           mode & ~call_umask(call) & 07777);
	struct seccomp_notif_addfd add = { .id = call->id, .srcfd = (uint32_t)fd,
		.newfd_flags = flags & O_CLOEXEC };

	if (fd < 0)
		return answer_error(errno);
	return supervise_answer_of(ioctl(call->supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD,
	                                 &add));
}

static struct answer open_with(const struct call *call, const struct handler *row, uint64_t flags,
                               uint64_t mode)
{
	struct wanted wanted = { .needs_name = !(flags & O_CREAT), .truncates = flags & O_TRUNC };
	struct named named;
	bool follow = !(flags & O_NOFOLLOW);
	int error;

	if ((flags & O_TMPFILE) == O_TMPFILE)
		wanted.needs_name = true; /* the folder it lies in */
	else if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) {
		wanted.needs_none = true;
		follow = false;
	}
	error = find_target(call, row->folder, row->path, follow, &named);
	if (error)
		return not_found(call, error);
	if (makes_no_name(call->supervisor, &named, flags))
		return open_without_name(call, flags, (mode_t)mode);
	return answer_judged(call, name_is_refused(call, &named, wanted), named.path);
}

struct answer supervise_open(const struct call *call, const struct handler *row)
{
	if (row->flags < 0) /* creat */
		return open_with(call, row, O_WRONLY | O_CREAT | O_TRUNC, 0);
	return open_with(call, row, call->args[(unsigned char)row->flags],
	                 call->args[(unsigned char)row->flags + 1]);
}

struct answer supervise_openat2(const struct call *call, const struct handler *row)
{
	struct open_how how;

	if (call->args[3] < sizeof(how) || call_read(call, call->args[2], &how, sizeof(how)) != 0 ||
	    !(how.flags & FOR_WRITING) || (how.flags & O_PATH))
		return answer_go_on();
	if (how.resolve & RESOLVE_IN_ROOT) /* the path means something else then */
		return not_found(call, ELOOP);
	return open_with(call, row, how.flags, how.mode);
}

/* mkdir, mknod, symlink. */
struct answer supervise_make(const struct call *call, const struct handler *row)
{
	struct wanted wanted = { .needs_none = true };
	struct named named;
	int error = find_target(call, row->folder, row->path, false, &named);

	if (error)
		return not_found(call, error);
	return answer_judged(call, name_is_refused(call, &named, wanted), named.path);
}

/* truncate (follows links), unlink, rmdir. */
struct answer supervise_change(const struct call *call, const struct handler *row)
{
	bool follow = row->detail & DETAIL_FOLLOW; /* of these, truncate alone */
	struct wanted wanted = { .needs_name = true, .truncates = follow, .leaves = !follow };
	struct named named;
	bool refused;

	if ((row->detail & DETAIL_REMOVES) &&
	    (row->flags < 0 || (call->args[(unsigned char)row->flags] & AT_REMOVEDIR)))
		named_forget_folders(call->supervisor);
	if (find_target(call, row->folder, row->path, follow, &named) != 0)
		return answer_go_on();
	refused = name_is_refused(call, &named, wanted);
	if (!refused && !follow)
		report_gone(call, &named);
	return answer_judged(call, refused, NULL);
}

/* A second name for a protected file is a way to write it; both names must be writable. */
struct answer supervise_link(const struct call *call, const struct handler *row)
{
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	struct wanted source = { .needs_name = true }, target = { .needs_none = true };
	_cleanup_free_ struct named *from = mem_alloc(2, sizeof(*from));
	struct named *to = from + 1;
	bool refused;
	int error = find_target(call, row->folder2, row->path2, false, to);

	if (error)
		return not_found(call, error);
	refused = name_is_refused(call, to, target);
	if (!(flags & AT_EMPTY_PATH) &&
	    find_target(call, row->folder, row->path, flags & AT_SYMLINK_FOLLOW, from) == 0)
		refused |= name_is_refused(call, from, source);
	return answer_judged(call, refused, to->path);
}

/* ---- what git does with a protected configuration ---- */

/* The bytes of a small regular file; -1: it is none. */
static ssize_t read_whole_small(const char *path, char *text, size_t size)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size >= size)
		return -1;
	return fd_read_full(fd, text, size);
}

/* git writes a configuration again even where it changes nothing ("git branch -m" of a branch
 * without an upstream, "git submodule update --init" of what is there), and is half done when that
 * is refused.  Where the lock file has the very bytes of a protected file, the rename comes to its
 * removal, which is made here; nothing rests on the lock file's content afterwards. */
static bool replaces_equal(const struct call *call, const struct named *from,
                           const struct named *to)
{
	_cleanup_free_ char *old = NULL, *new = NULL;
	const size_t len = strlen(to->path);
	struct denial denial;
	ssize_t n;

	if (strncmp(from->path, to->path, len) != 0 || strcmp(from->path + len, ".lock") != 0 ||
	    plan_judge_rules(call->supervisor->plan, to->path, SANDBOX_WRITE, true, &denial) ||
	    denial.reason != SANDBOX_REASON_GIT || strcmp(denial.rule, to->path) != 0 ||
	    !plan_judge(call->supervisor->plan, from->path, SANDBOX_WRITE, true, NULL))
		return false;
	old = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	new = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	n = read_whole_small(to->path, old, LIMIT_GUARD_FILE_BYTES);
	return n >= 0 && read_whole_small(from->path, new, LIMIT_GUARD_FILE_BYTES) == n &&
	       memcmp(old, new, (size_t)n) == 0 && call_alive(call) && unlink(from->path) == 0;
}

/* "git branch -m" moves the branch's log aside, renames the branch, and then its section of the
 * configuration; where that has one and may not be written, it is refused before it begins. */
static bool begins_half(const struct call *call, const struct named *from, const struct named *to)
{
	static const char aside[] = "/logs/refs/.tmp-renamed-log", logs[] = "/logs/refs/heads/";
	const size_t len = strlen(to->path), git = len - strlen(aside);
	_cleanup_free_ char *config = NULL, *section = NULL, *text = NULL;
	struct denial denial = { 0 };
	ssize_t n;

	if (len <= strlen(aside) || strcmp(to->path + git, aside) != 0 ||
	    strncmp(from->path, to->path, git) != 0 ||
	    strncmp(from->path + git, logs, strlen(logs)) != 0)
		return false;
	config = mem_printf("%.*s/config", (int)git, to->path);
	if (plan_judge_rules(call->supervisor->plan, config, SANDBOX_WRITE, true, &denial))
		return false;
	section = mem_printf("[branch \"%s\"]", from->path + git + strlen(logs));
	text = mem_alloc(1, LIMIT_GUARD_FILE_BYTES);
	n = read_whole_small(config, text, LIMIT_GUARD_FILE_BYTES);
	if (n >= 0 && !memmem(text, (size_t)n, section, strlen(section)))
		return false;
	supervise_record_denial(call, &denial);
	return true;
}

struct answer supervise_rename(const struct call *call, const struct handler *row)
{
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	struct wanted target = { .removes = true };
	struct wanted source = { .removes = true, .needs_name = true,
		                 .leaves = !(flags & RENAME_EXCHANGE) };
	_cleanup_free_ struct named *from = mem_alloc(2, sizeof(*from));
	struct named *to = from + 1;
	bool refused;
	int error;

	named_forget_folders(call->supervisor);
	error = find_target(call, row->folder, row->path, false, from);
	if (!error)
		error = find_target(call, row->folder2, row->path2, false, to);
	if (error)
		return not_found(call, error);
	if (!named_exists(from))
		return answer_go_on();
	if (!flags && replaces_equal(call, from, to))
		return answer_made(0);
	if (begins_half(call, from, to))
		return answer_error(refusal(call->supervisor));
	refused = name_is_refused(call, from, source);
	refused |= name_is_refused(call, to, target);
	if (!refused) {
		report_gone(call, from);
		report_gone(call, to);
	}
	if (!refused && (flags & RENAME_EXCHANGE))
		report_made(call, from->path);
	return answer_judged(call, refused, to->path);
}

/* ---- metadata ---- */

/* Mode, owner, times and extended attributes at the landlock level, where nothing in the kernel
 * keeps them as they are outside the writable paths.  (At level full mode and owner, changed by
 * path, are looked at for the record.)
 *
 * The supervisor opens what the path means (O_PATH), judges that, and makes the change on what it
 * opened, so that nothing can be swapped in between.  Errors are the kernel's own; what is outside
 * is EPERM. */

/* Memory and deleted files are named so in /proc; they are nobody else's. */
static bool has_no_path(int fd, const struct named *named)
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
	if (((!path || !path[0] || named_is_descriptor(path)) && has_no_path(fd, &named)) ||
	    (named.path[0] &&
	     plan_judge_rules(call->supervisor->plan, named.path, SANDBOX_WRITE, false,
	                      &denial)))
		return fd_steal(&fd);
	denial.kind = DENIAL_METADATA;
	supervise_record_denial(call, &denial);
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
		supervise_record_denial(call, &denial);
	}
	return answer_go_on();
}

static bool is_watched(const struct call *call, const struct handler *row)
{
	return call->supervisor->plan->level == SANDBOX_FULL && row->path >= 0;
}

struct answer supervise_chmod(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = is_watched(call, row) ? -1 : open_row(call, row);
	mode_t mode = (mode_t)call->args[row->path < 0 ? 1 : (unsigned char)row->path + 1];
	char text[FD_PATH_SIZE];

	if (is_watched(call, row))
		return watch_row(call, row);
	if (fd < 0)
		return answer_error(errno);
	return supervise_answer_of(chmod(fd_path(fd, text), mode & 07777));
}

struct answer supervise_chown(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = is_watched(call, row) ? -1 : open_row(call, row);
	unsigned at = row->path < 0 ? 1 : (unsigned char)row->path + 1;

	if (is_watched(call, row))
		return watch_row(call, row);
	if (fd < 0)
		return answer_error(errno);
	return supervise_answer_of(fchownat(fd, "", (uid_t)call->args[at],
	                                    (gid_t)call->args[at + 1],
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

struct answer supervise_times(const struct call *call, const struct handler *row)
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
static int read_attribute_name(const struct call *call, uint64_t at,
                               char name[static LIMIT_PATH_BYTES])
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
	return supervise_answer_of(setxattr(fd_path(fd, text), name, value, args->size,
	                                    (int)args->flags));
}

/* The name follows the path, or the descriptor. */
struct answer supervise_xattr(const struct call *call, const struct handler *row)
{
	_cleanup_fd_ int fd = open_row(call, row);
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
