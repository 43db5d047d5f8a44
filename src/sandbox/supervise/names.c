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
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/plan/judge.h"
#include "sandbox/supervise/internal.h"

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
	return strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9';
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

/* A hasp inside tries to make control groups of its own (cgroup.c), and does without: it is refused as
 * all else is, but nobody wants to read about it. */
static bool is_own_group(const char *path)
{
	return strncmp(path, "/sys/fs/cgroup/", strlen("/sys/fs/cgroup/")) == 0 &&
	       strncmp(strrchr(path, '/'), "/hasp-", strlen("/hasp-")) == 0;
}

/* Names that others obey in any folder (names.h).  A folder that the command itself made is nobody's
 * place of work yet: what is cloned, unpacked or copied there may have them. */
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
static bool judged(const struct call *call, const struct named *named, struct wanted wanted)
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
		record_denial(call, &denial);
	return denial.reason != SANDBOX_REASON_DEFAULT ||
	       only_we_refuse(call->supervisor->plan, wanted);
}

static int folder_of(const struct call *call, signed char argument)
{
	return argument < 0 ? AT_FDCWD : (int)call->args[(unsigned char)argument];
}

/* Reads and finds one path argument: 0 or an errno. */
static int find(const struct call *call, signed char folder, signed char path, bool follow,
                struct named *ret)
{
	char text[LIMIT_PATH_BYTES];
	int error = call_read_path(call, call->args[(unsigned char)path], text);

	return error ? error : named_find(call, folder_of(call, folder), text, follow, ret);
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

/* A file without a name may lie anywhere: at the landlock level, where the machine's /tmp is not to be
 * written, it lies in the session's folder.  tmpfile(3) knows no other folder than /tmp. */
static bool has_no_name(const struct supervisor *supervisor, const struct named *named,
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
	return answer_of(ioctl(call->supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add));
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
	error = find(call, row->folder, row->path, follow, &named);
	if (error)
		return not_found(call, error);
	if (has_no_name(call->supervisor, &named, flags))
		return open_without_name(call, flags, (mode_t)mode);
	return answer_judged(call, judged(call, &named, wanted), named.path);
}

struct answer handle_open(const struct call *call, const struct handler *row)
{
	if (row->flags < 0) /* creat */
		return open_with(call, row, O_WRONLY | O_CREAT | O_TRUNC, 0);
	return open_with(call, row, call->args[(unsigned char)row->flags],
	                 call->args[(unsigned char)row->flags + 1]);
}

struct answer handle_openat2(const struct call *call, const struct handler *row)
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
struct answer handle_make(const struct call *call, const struct handler *row)
{
	struct wanted wanted = { .needs_none = true };
	struct named named;
	int error = find(call, row->folder, row->path, false, &named);

	if (error)
		return not_found(call, error);
	return answer_judged(call, judged(call, &named, wanted), named.path);
}

/* truncate (follows links), unlink, rmdir. */
struct answer handle_change(const struct call *call, const struct handler *row)
{
	bool follow = row->detail & DETAIL_FOLLOW; /* of these, truncate alone */
	struct wanted wanted = { .needs_name = true, .truncates = follow, .leaves = !follow };
	struct named named;
	bool refused;

	if ((row->detail & DETAIL_REMOVES) &&
	    (row->flags < 0 || (call->args[(unsigned char)row->flags] & AT_REMOVEDIR)))
		folders_forget(call->supervisor);
	if (find(call, row->folder, row->path, follow, &named) != 0)
		return answer_go_on();
	refused = judged(call, &named, wanted);
	if (!refused && !follow)
		report_gone(call, &named);
	return answer_judged(call, refused, NULL);
}

/* A second name for a protected file is a way to write it; both names must be writable. */
struct answer handle_link(const struct call *call, const struct handler *row)
{
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	struct wanted source = { .needs_name = true }, target = { .needs_none = true };
	_cleanup_free_ struct named *from = mem_alloc(2, sizeof(*from));
	struct named *to = from + 1;
	bool refused;
	int error = find(call, row->folder2, row->path2, false, to);

	if (error)
		return not_found(call, error);
	refused = judged(call, to, target);
	if (!(flags & AT_EMPTY_PATH) &&
	    find(call, row->folder, row->path, flags & AT_SYMLINK_FOLLOW, from) == 0)
		refused |= judged(call, from, source);
	return answer_judged(call, refused, to->path);
}

struct answer handle_rename(const struct call *call, const struct handler *row)
{
	uint64_t flags = row->flags < 0 ? 0 : call->args[(unsigned char)row->flags];
	struct wanted target = { .removes = true };
	struct wanted source = { .removes = true, .needs_name = true,
		                 .leaves = !(flags & RENAME_EXCHANGE) };
	_cleanup_free_ struct named *from = mem_alloc(2, sizeof(*from));
	struct named *to = from + 1;
	bool refused;
	int error;

	folders_forget(call->supervisor);
	error = find(call, row->folder, row->path, false, from);
	if (!error)
		error = find(call, row->folder2, row->path2, false, to);
	if (error)
		return not_found(call, error);
	if (!named_exists(from))
		return answer_go_on();
	refused = judged(call, from, source);
	refused |= judged(call, to, target);
	if (!refused) {
		report_gone(call, from);
		report_gone(call, to);
	}
	if (!refused && (flags & RENAME_EXCHANGE))
		report_made(call, from->path);
	return answer_judged(call, refused, to->path);
}
