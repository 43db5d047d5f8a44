/* SPDX-License-Identifier: Apache-2.0 */
/* What of the caller matters when the supervisor makes its call: umask, ids, limits, descriptors.
 *
 * The supervisor has the command's user, groups and (none) capabilities, and nothing inside can
 * get others.  Where that does not hold, because the supervisor has capabilities itself, it takes
 * the caller's for each call. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/named.h"
#include "sandbox/supervise/private.h"

/* ---- umask ---- */

/* /proc says it for 10 us, so it is remembered for each thread until any thread calls umask.  That
 * call returns some time after the supervisor has seen it, and threads can have one umask together:
 * nothing is remembered before it is known to have returned. */

/* Whether it has: it has ended, makes another call, or has the umask that it set. */
static bool has_returned(const struct syscall *call, const struct umask_call *last)
{
	const struct syscall theirs = { .supervisor = call->supervisor, .thread = last->thread };

	return last->thread == call->thread || !call_kept(&theirs) ||
	       call_umask(&theirs) == last->wanted;
}

static bool have_returned(const struct syscall *call)
{
	struct supervisor *supervisor = call->supervisor;

	for (unsigned i = 0; i < supervisor->umask_count;) {
		if (has_returned(call, &supervisor->umasks[i]))
			supervisor->umasks[i] = supervisor->umasks[--supervisor->umask_count];
		else
			i++;
	}
	return !supervisor->umask_count && !supervisor->umask_lost;
}

struct call_answer supervise_umask(const struct syscall *call, const struct handler *row)
{
	struct supervisor *supervisor = call->supervisor;

	(void)row;
	supervisor->umask_epoch++;
	have_returned(call);
	if (supervisor->umask_count < ARRAY_LEN(supervisor->umasks))
		supervisor->umasks[supervisor->umask_count++] = (struct umask_call){
			.thread = call->thread, .wanted = (mode_t)call->args[0] & 0777 };
	else
		supervisor->umask_lost = true;
	return answer_go_on(CONTINUE_UMASK);
}

static mode_t find_umask(const struct syscall *call)
{
	const unsigned epoch = call->supervisor->umask_epoch;
	bool returned = have_returned(call);
	struct kept_proc *kept = call_kept(call);

	if (!kept || kept->umask_epoch != epoch) {
		mode_t mask = call_umask(call);

		kept = returned ? call_kept(call) : NULL;
		if (!kept)
			return mask;
		kept->umask = mask;
		kept->umask_epoch = epoch;
	}
	return kept->umask;
}

void caller_take_umask(const struct syscall *call)
{
	struct supervisor *supervisor = call->supervisor;
	mode_t mask;

	if (!supervisor->umask_epoch)
		return;
	mask = find_umask(call);
	if (mask != supervisor->umask)
		umask(mask);
	supervisor->umask = mask;
}

/* ---- ids ---- */

/* Of /proc/PID/status, what decides which files can be opened. */
struct ids_status {
	unsigned uid, gid;
	unsigned long long caps;
	gid_t groups[64];
	size_t group_count;
};

static const char *status_line(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? line + strlen(name) : NULL;
}

/* False: not readable, or more groups than there is room for. */
static bool parse_ids(const char *text, struct ids_status *ret)
{
	const char *uid = status_line(text, "\nUid:"), *gid = status_line(text, "\nGid:");
	const char *groups = status_line(text, "\nGroups:"), *caps = status_line(text, "\nCapEff:");

	*ret = (struct ids_status){ 0 };
	if (!uid || !gid || !groups || !caps ||
	    sscanf(uid, "%*u %*u %*u %u", &ret->uid) != 1 ||
	    sscanf(gid, "%*u %*u %*u %u", &ret->gid) != 1 || sscanf(caps, "%llx", &ret->caps) != 1)
		return false;
	while (*groups && *groups != '\n') {
		char *end;
		unsigned long group = strtoul(groups, &end, 10);

		if (end == groups) {
			groups++;
			continue;
		}
		if (ret->group_count == ARRAY_LEN(ret->groups))
			return false;
		ret->groups[ret->group_count++] = (gid_t)group;
		groups = end;
	}
	return true;
}

static bool read_ids(int status, struct ids_status *ret)
{
	char text[4096];

	return fd_read_text(status, text, sizeof(text)) && parse_ids(text, ret);
}

static bool set_effective(unsigned long long effective)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &header, data) != 0)
		return false;
	for (int i = 0; i < 2; i++)
		data[i].effective = (uint32_t)(effective >> 32 * i) & data[i].permitted;
	return syscall(SYS_capset, &header, data) == 0;
}

/* This thread's alone, which the C library's functions would not be. */
static bool set_ids(const struct ids_status *ids)
{
	if (syscall(SYS_setgroups, ids->group_count, ids->groups) != 0)
		return false;
	setfsgid(ids->gid);
	setfsuid(ids->uid);
	return (gid_t)setfsgid((gid_t)-1) == ids->gid && (uid_t)setfsuid((uid_t)-1) == ids->uid;
}

static bool is_same_ids(const struct ids_status *a, const struct ids_status *b)
{
	return a->uid == b->uid && a->gid == b->gid && a->caps == b->caps &&
	       a->group_count == b->group_count &&
	       memcmp(a->groups, b->groups, a->group_count * sizeof(*a->groups)) == 0;
}

bool caller_ids_are_fixed(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	uid_t uid[3];
	gid_t gid[3];

	return syscall(SYS_capget, &header, data) == 0 && !data[0].permitted &&
	       !data[1].permitted && getresuid(&uid[0], &uid[1], &uid[2]) == 0 &&
	       getresgid(&gid[0], &gid[1], &gid[2]) == 0 && uid[0] == uid[1] &&
	       uid[1] == uid[2] && gid[0] == gid[1] && gid[1] == gid[2];
}

int caller_take_ids(const struct syscall *call)
{
	struct supervisor *supervisor = call->supervisor;
	_cleanup_fd_ int status = -1;
	_cleanup_fd_ int own = -1;
	struct ids_status theirs, ours;

	if (supervisor->same_ids)
		return 0;
	status = call_open_proc(call, "status", O_RDONLY);
	own = open("/proc/thread-self/status", O_RDONLY | O_CLOEXEC);
	if (!read_ids(status, &theirs) || !read_ids(own, &ours))
		return EACCES;
	if (is_same_ids(&theirs, &ours))
		return 0;
	supervisor->ids = mem_dup((const char *)&ours, sizeof(ours));
	/* Looking into processes of other users has nothing to do with opening files. */
	if (set_ids(&theirs) && set_effective(theirs.caps | UINT64_C(1) << CAP_SYS_PTRACE))
		return 0;
	caller_resign_ids(call);
	return EACCES;
}

void caller_resign_ids(const struct syscall *call)
{
	struct supervisor *supervisor = call->supervisor;
	const struct ids_status *ours = (const void *)supervisor->ids;

	if (!ours)
		return;
	set_effective(ours->caps);
	set_ids(ours);
	set_effective(ours->caps);
	free(supervisor->ids);
	supervisor->ids = NULL;
}

uid_t caller_user(void)
{
	return (uid_t)setfsuid((uid_t)-1);
}

/* ---- descriptors ---- */

/* Of a process with other ids, only /proc says it. */
static rlim_t files_limit(const struct syscall *call)
{
	char text[4096];
	const char *line;
	struct rlimit limit;
	unsigned long long files;
	_cleanup_fd_ int fd = -1;

	if (prlimit(call->thread, RLIMIT_NOFILE, NULL, &limit) == 0)
		return limit.rlim_cur;
	fd = call_open_proc(call, "limits", O_RDONLY);
	line = fd_read_text(fd, text, sizeof(text)) ? status_line(text, "\nMax open files") :
	                                              NULL;
	return line && sscanf(line, "%llu", &files) == 1 ? (rlim_t)files : RLIM_INFINITY;
}

/* How many it has (from Linux 6.2 on), and how many it may have. */
bool caller_has_room(const struct syscall *call)
{
	struct stat st;

	return call_stat_proc(call, "fd", &st) != 0 || (rlim_t)st.st_size < files_limit(call);
}

static bool may_be_executed(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 || (S_ISREG(st.st_mode) && (st.st_mode & 0111));
}

struct call_answer caller_hand_over(const struct syscall *call, int fd, uint64_t flags,
                                    bool doubtful)
{
	struct seccomp_notif_addfd add = { .id = call->id, .srcfd = (uint32_t)fd,
		.newfd_flags = flags & O_CLOEXEC };
	bool at_once = !doubtful || !may_be_executed(fd);
	struct call_answer answer;
	int number;

	add.flags = at_once ? SECCOMP_ADDFD_FLAG_SEND : 0;
	number = ioctl(call->supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	if (number < 0 && errno == EINVAL && at_once) { /* before Linux 5.14 */
		at_once = false;
		add.flags = 0;
		number = ioctl(call->supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	}
	answer = supervise_answer_of(number);
	if (number >= 0 && at_once)
		answer.kind = ANSWER_SENT;
	close(fd);
	return answer;
}
