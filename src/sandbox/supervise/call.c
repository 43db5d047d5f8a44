/* SPDX-License-Identifier: Apache-2.0 */
/* Looking into the process that waits for an answer. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/apply/filter.h"
#include "sandbox/supervise/call.h"
#include "sandbox/supervise/handlers.h"
#include "sandbox/supervise/private.h"

#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

struct call_answer supervise_answer_of(int64_t returned)
{
	return returned < 0 ? answer_error(errno) :
	                      (struct call_answer){ .kind = ANSWER_RESULT, .value = returned };
}

void supervise_lose(struct supervisor *supervisor, const char *call)
{
	if (supervisor->lost_call)
		return;
	supervisor->lost_error = errno;
	supervisor->lost_call = call;
}

void supervise_answer(struct supervisor *supervisor, uint64_t id, struct call_answer answer)
{
	struct seccomp_notif_resp *response = supervisor->response;

	memset(response, 0, supervisor->response_size);
	response->id = id;
	if (answer.kind == ANSWER_GO_ON) {
		response->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	} else {
		response->error = -answer.error;
		response->val = answer.error ? 0 : answer.value;
	}
	while (ioctl(supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_SEND, response) != 0) {
		if (errno == ENOENT) /* the process has ended, and no call waits */
			return;
		if (errno != EINTR) {
			supervise_lose(supervisor, "SECCOMP_IOCTL_NOTIF_SEND");
			return;
		}
	}
}

bool call_alive(const struct syscall *call)
{
	uint64_t id = call->id;

	return ioctl(call->supervisor->notify_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

static ssize_t read_memory(const struct syscall *call, uint64_t address, void *data, size_t len)
{
	struct iovec here = { data, len };
	struct iovec there = { (void *)(uintptr_t)address, len };

	return process_vm_readv(call->thread, &here, 1, &there, 1, 0);
}

/* What the access rights of the caller's memory are at an address: the text of /proc/THREAD/maps
 * ("r-xp"); false when nothing is there. */
static bool find_mapping(const struct syscall *call, uint64_t address, char rights[static 5])
{
	_cleanup_fd_ int fd = call_open_proc(call, "maps", O_RDONLY);
	FILE *maps = fd < 0 ? NULL : fdopen(fd_steal(&fd), "r");
	unsigned long long start, end;
	char line[LIMIT_PATH_BYTES + 128];
	bool found = false;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		found = sscanf(line, "%llx-%llx %4s", &start, &end, rights) == 3 &&
		        address >= start && address < end;
	}
	if (maps)
		fclose(maps);
	return found;
}

/* Memory that only the kernel could read (execute-only; memfd_secret) or a process that may not be
 * looked into: there is no deciding then, and the record says so. */
static int memory_refused(const struct syscall *call, uint64_t address, int error)
{
	char rights[5] = "";

	if (error == ESRCH)
		return ESRCH;
	if (error == EFAULT && (!find_mapping(call, address, rights) ||
	                        !strpbrk(rights, "rx")))
		return EFAULT;
	call_record_unjudged(call, "memory that cannot be read");
	return error == EFAULT ? EFAULT : EACCES;
}

int call_read(const struct syscall *call, uint64_t address, void *data, size_t len)
{
	ssize_t n = read_memory(call, address, data, len);

	if (n < 0)
		return memory_refused(call, address, errno);
	if ((size_t)n != len)
		return memory_refused(call, address + (size_t)n, EFAULT);
	return call_alive(call) ? 0 : ESRCH;
}

/* In steps that end at the ends of pages, because a path may end just before memory that cannot be
 * read; the first is short, as most paths are. */
int call_read_path(const struct syscall *call, uint64_t address, char path[LIMIT_PATH_BYTES])
{
	enum { STEP = 256 };
	size_t len = 0;

	while (len < LIMIT_PATH_BYTES) {
		size_t want = (len ? 4096 : STEP) - (address + len) % (len ? 4096 : STEP);
		ssize_t n;

		if (want > LIMIT_PATH_BYTES - len)
			want = LIMIT_PATH_BYTES - len;
		n = read_memory(call, address + len, path + len, want);
		if (n <= 0)
			return memory_refused(call, address + len, n < 0 ? errno : EFAULT);
		if (memchr(path + len, '\0', (size_t)n))
			return 0;
		len += (size_t)n;
	}
	return ENAMETOOLONG;
}

/* ---- /proc/THREAD, kept open ---- */

/* The number by which /proc knows a thread: another than ours where /proc belongs to the namespace
 * outside (Linux shows it in fdinfo of a pidfd).  0: unknown. */
static pid_t proc_number(const struct supervisor *supervisor, pid_t thread)
{
	char path[48], text[512], *line;
	_cleanup_fd_ int pidfd = -1, info = -1;

	if (supervisor->proc_is_own)
		return thread;
	pidfd = (int)syscall(SYS_pidfd_open, thread, PIDFD_THREAD);
	if (pidfd < 0)
		pidfd = (int)syscall(SYS_pidfd_open, thread, 0);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	info = pidfd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (!fd_read_text(info, text, sizeof(text)))
		return 0;
	line = strstr(text, "\nPid:");
	return line ? (pid_t)strtol(line + 5, NULL, 10) : 0;
}

/* The folder may have been lent to the call that is being answered. */
static void forget_folder(struct supervisor *supervisor, struct kept_proc *kept)
{
	if (kept->folder < 0)
		return;
	if (supervisor->retired_count < ARRAY_LEN(supervisor->retired))
		supervisor->retired[supervisor->retired_count++] = kept->folder;
	else
		close(kept->folder);
	kept->folder = -1;
}

void call_end_loans(struct supervisor *supervisor)
{
	while (supervisor->retired_count)
		close(supervisor->retired[--supervisor->retired_count]);
}

static void forget_proc(struct supervisor *supervisor, struct kept_proc *kept)
{
	if (!kept->thread)
		return;
	close(kept->fd);
	fd_cleanup_close(&kept->pidfd);
	forget_folder(supervisor, kept);
	kept->thread = 0;
}

/* A folder of /proc stays that of its thread: when the thread has ended nothing is found in it,
 * even if another has the same number by then. */
static int kept_folder(struct supervisor *supervisor, pid_t thread, bool again)
{
	struct kept_proc *kept = &supervisor->procs[(unsigned)thread % KEPT_PROCS];
	char path[32];
	pid_t number;

	if (!again && kept->thread == thread)
		return kept->fd;
	forget_proc(supervisor, kept);
	*kept = (struct kept_proc){ .pidfd = -1, .folder = -1 };
	number = proc_number(supervisor, thread);
	snprintf(path, sizeof(path), "/proc/%d", number);
	kept->fd = number <= 0 ? -1 : open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	kept->thread = kept->fd < 0 ? 0 : thread;
	return kept->fd;
}

/* That it is the same thread still. */
static bool kept_is_alive(const struct kept_proc *kept)
{
	struct stat st;

	if (kept->pidfd >= 0)
		return syscall(SYS_pidfd_send_signal, kept->pidfd, 0, NULL, 0) == 0 ||
		       errno == EPERM;
	return fstatat(kept->fd, "comm", &st, 0) == 0;
}

struct kept_proc *call_kept(const struct syscall *call)
{
	struct supervisor *supervisor = call->supervisor;
	struct kept_proc *kept = &supervisor->procs[(unsigned)call->thread % KEPT_PROCS];
	int folder = kept_folder(supervisor, call->thread, false);

	if (folder < 0 || !kept_is_alive(kept))
		folder = kept_folder(supervisor, call->thread, true);
	return folder < 0 ? NULL : kept;
}

int call_open_proc(const struct syscall *call, const char *name, int flags)
{
	int folder = kept_folder(call->supervisor, call->thread, false);
	int fd = folder < 0 ? -1 : openat(folder, name, flags | O_CLOEXEC);

	if (fd < 0 && (errno == ENOENT || errno == ESRCH)) {
		folder = kept_folder(call->supervisor, call->thread, true);
		fd = folder < 0 ? -1 : openat(folder, name, flags | O_CLOEXEC);
	}
	return fd;
}

int call_stat_proc(const struct syscall *call, const char *name, struct stat *ret)
{
	int folder = kept_folder(call->supervisor, call->thread, false);

	return folder < 0 ? -1 : fstatat(folder, name, ret, 0);
}

void call_free_procs(struct supervisor *supervisor)
{
	for (unsigned i = 0; i < KEPT_PROCS; i++)
		forget_proc(supervisor, &supervisor->procs[i]);
	call_end_loans(supervisor);
}

bool call_proc_is_own(void)
{
	char text[16];
	ssize_t n = readlink("/proc/self", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	return strtol(text, NULL, 10) == getpid();
}

/* The value behind "Name:\t" in a status file of /proc; false when there is none. */
static bool value_in(int fd, const char *name, int base, unsigned long long *ret)
{
	char text[4096], *line;

	if (!fd_read_text(fd, text, sizeof(text)))
		return false;
	line = strstr(text, name);
	if (!line || (line != text && line[-1] != '\n'))
		return false;
	*ret = strtoull(line + strlen(name), NULL, base);
	return true;
}

static bool status_value(const struct syscall *call, const char *name, int base,
                         unsigned long long *ret)
{
	_cleanup_fd_ int fd = call_open_proc(call, "status", O_RDONLY);

	return value_in(fd, name, base, ret);
}

pid_t call_group(const struct syscall *call)
{
	unsigned long long group = 0;

	return status_value(call, "Tgid:", 10, &group) ? (pid_t)group : 0;
}

pid_t call_proc_group(const char *text)
{
	char path[64];
	_cleanup_fd_ int fd = -1;
	unsigned long long group = 0;

	snprintf(path, sizeof(path), "/proc/%.*s/status", (int)strcspn(text, "/") % 32, text);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return value_in(fd, "Tgid:", 10, &group) ? (pid_t)group : 0;
}

/* The process of the thread, and its name; 0 and "" when it has ended.
 * /proc may count in another namespace than we do; a thread's own number is right then in most
 * cases, because most processes have one thread. */
static pid_t call_process(const struct syscall *call)
{
	return call->supervisor->proc_is_own ? call_group(call) : call->thread;
}

static void call_name(const struct syscall *call, char *name, size_t size)
{
	_cleanup_fd_ int fd = call_open_proc(call, "comm", O_RDONLY);
	size_t len = fd_read_text(fd, name, size) ? strlen(name) : 0;

	if (len && name[len - 1] == '\n')
		name[len - 1] = '\0';
}

mode_t call_umask(const struct syscall *call)
{
	unsigned long long mask = 077;

	status_value(call, "Umask:", 8, &mask);
	return (mode_t)(mask & 0777);
}

bool call_is_interrupted(const struct syscall *call)
{
	unsigned long long own = 0, shared = 0, blocked = 0, caught = 0;

	return status_value(call, "SigPnd:", 16, &own) &&
	       status_value(call, "ShdPnd:", 16, &shared) &&
	       status_value(call, "SigBlk:", 16, &blocked) &&
	       status_value(call, "SigCgt:", 16, &caught) &&
	       ((own | shared) & ~blocked & caught);
}

/* ---- where relative paths begin ---- */

/* /proc says it for 2.5 us.  A descriptor of the caller's can be taken in 1, and its working folder
 * be kept: of a process with one thread, until any process calls chdir or fchdir.  Both come here
 * before they are made, and the process cannot be in one of them while this call waits.  (If
 * two processes share a working folder, by clone, a name may be made where it was before: that
 * folder is judged, too.) */

int call_known_folder(const struct syscall *call, int folder, bool *ret_lent)
{
	struct supervisor *supervisor = call->supervisor;
	struct kept_proc *kept = &supervisor->procs[(unsigned)call->thread % KEPT_PROCS];

	*ret_lent = false;
	if (kept->thread != call->thread)
		return -1;
	if (++kept->relative == KEEP_AFTER) {
		kept->pidfd = (int)syscall(SYS_pidfd_open, call->thread, PIDFD_THREAD);
		if (!call_alive(call))
			return -1;
	}
	if (kept->folder_epoch != supervisor->folder_epoch) {
		forget_folder(supervisor, kept);
		kept->folder_epoch = supervisor->folder_epoch;
		kept->in_epoch = 0;
	}
	if (kept->pidfd < 0)
		return -1;
	if (folder != AT_FDCWD)
		return supervisor->takes_descriptors ?
		       (int)syscall(SYS_pidfd_getfd, kept->pidfd, folder, 0) : -1;
	*ret_lent = kept->folder >= 0 && kept_is_alive(kept);
	return *ret_lent ? kept->folder : -1;
}

bool call_keep_folder(const struct syscall *call, int fd)
{
	struct kept_proc *kept = &call->supervisor->procs[(unsigned)call->thread % KEPT_PROCS];
	unsigned long long threads = 0;

	if (kept->thread != call->thread || kept->pidfd < 0 || kept->folder >= 0 ||
	    ++kept->in_epoch != KEEP_AFTER || !status_value(call, "Threads:", 10, &threads) ||
	    threads != 1 || !call_alive(call) || !kept_is_alive(kept))
		return false;
	kept->folder = fd;
	return true;
}

struct call_answer supervise_chdir(const struct syscall *call, const struct handler *row)
{
	(void)row;
	call->supervisor->folder_epoch++;
	return answer_go_on(CONTINUE_FOLDER);
}

/* ---- descriptors ---- */

/* Threads need not share descriptors, so the thread is asked where the kernel can (6.9), and
 * otherwise its process. */
static int open_pidfd(const struct syscall *call)
{
	int pidfd = (int)syscall(SYS_pidfd_open, call->thread, PIDFD_THREAD);

	if (pidfd < 0 && errno == EINVAL)
		pidfd = (int)syscall(SYS_pidfd_open, call_process(call), 0);
	return pidfd;
}

bool call_can_take_descriptors(void)
{
	_cleanup_fd_ int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	_cleanup_fd_ int copy = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);

	return copy >= 0;
}

int call_descriptor(const struct syscall *call, int fd)
{
	_cleanup_fd_ int pidfd = open_pidfd(call);

	if (pidfd < 0)
		return -1;
	if (!call_alive(call)) {
		errno = ESRCH;
		return -1;
	}
	return (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
}

/* ---- records ---- */

/* Each different denial is reported once when it happens, and again at the end with its
 * count. */

struct denial_record {
	struct denial_record *next;
	struct denial denial;
};

static bool is_same_record(const struct denial *a, const struct denial *b)
{
	return a->kind == b->kind && a->reason == b->reason && strcmp(a->what, b->what) == 0 &&
	       strcmp(a->rule, b->rule) == 0 && strcmp(a->keys, b->keys) == 0;
}

static void supervise_report_denial(const struct supervisor *supervisor,
                                    const struct denial *denial)
{
	if (supervisor->events.denied)
		supervisor->events.denied(supervisor->events.data, denial);
}

void supervise_record_denial(const struct syscall *call, struct denial *denial)
{
	struct supervisor *supervisor = call->supervisor;
	struct denial_record *record;

	for (record = supervisor->records; record; record = record->next) {
		if (is_same_record(&record->denial, denial)) {
			record->denial.count++;
			return;
		}
	}
	if (supervisor->record_count == LIMIT_DENIALS) {
		supervisor->unlisted++;
		return;
	}
	denial->level = supervisor->plan->level;
	denial->count = 1;
	denial->pid = call_process(call);
	call_name(call, denial->program, sizeof(denial->program));
	record = mem_alloc(1, sizeof(*record));
	record->denial = *denial;
	record->next = supervisor->records;
	supervisor->records = record;
	supervisor->record_count++;
	supervise_report_denial(supervisor, denial);
}

static const struct filter_call *first_row(int number)
{
	for (size_t i = 0; i < filter_call_count; i++) {
		if (filter_calls[i].number == number)
			return &filter_calls[i];
	}
	return NULL;
}

void call_record_unjudged(const struct syscall *call, const char *why)
{
	struct denial denial = { .kind = DENIAL_CALL, .reason = SANDBOX_REASON_UNJUDGED };
	const struct filter_call *known = first_row(call->number);

	snprintf(denial.what, sizeof(denial.what), "%s (%s)", known ? known->name : "?", why);
	supervise_record_denial(call, &denial);
}

static void report_pending(struct supervisor *supervisor)
{
	struct denial denial = { .kind = DENIAL_LIMIT, .reason = SANDBOX_REASON_LIMIT,
		.level = supervisor->plan->level, .count = supervisor->unlisted };

	if (!supervisor->unlisted)
		return;
	snprintf(denial.what, sizeof(denial.what), "%zu denials that are reported", LIMIT_DENIALS);
	supervise_report_denial(supervisor, &denial);
	supervisor->unlisted = 0;
}

void supervise_records_finish(struct supervisor *supervisor)
{
	for (struct denial_record *record = supervisor->records; record; record = record->next) {
		if (record->denial.count > 1)
			supervise_report_denial(supervisor, &record->denial);
	}
	report_pending(supervisor);
}

void supervise_records_free(struct supervisor *supervisor)
{
	while (supervisor->records) {
		struct denial_record *record = supervisor->records;

		supervisor->records = record->next;
		free(record);
	}
}

/* ---- calls on the deny list ---- */

/* Refused, with a record. */

#define FAST_OPEN 0x20000000

static const char *family_name(int family, char text[static 24])
{
	static const struct {
		int family;
		const char *name;
	} names[] = {
		{ AF_UNIX, "AF_UNIX" }, { AF_INET, "AF_INET" }, { AF_INET6, "AF_INET6" },
		{ AF_NETLINK, "AF_NETLINK" }, { AF_PACKET, "AF_PACKET" }, { AF_VSOCK, "AF_VSOCK" },
		{ AF_ALG, "AF_ALG" }, { AF_BLUETOOTH, "AF_BLUETOOTH" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].family == family)
			return names[i].name;
	}
	snprintf(text, 24, "family %d", family);
	return text;
}

static const char *type_name(int type)
{
	static const char *const names[] = { "?", "SOCK_STREAM", "SOCK_DGRAM", "SOCK_RAW",
		"SOCK_RDM", "SOCK_SEQPACKET", "SOCK_DCCP" };

	type &= 0xf;
	return (size_t)type < sizeof(names) / sizeof(names[0]) ? names[type] : names[0];
}

/* The error that the filter's table has for this socket: the filter cannot pass on its row. */
static int socket_error(int family, int type, int protocol, bool pair)
{
	bool inet = family == AF_INET || family == AF_INET6;

	if (pair ? family != AF_UNIX : family != AF_UNIX && !inet && family != AF_NETLINK)
		return EAFNOSUPPORT;
	if (family == AF_NETLINK && protocol)
		return EPROTONOSUPPORT;
	if (inet && type == SOCK_STREAM && protocol != 0 && protocol != IPPROTO_TCP)
		return EPROTONOSUPPORT;
	if (inet && type == SOCK_DGRAM)
		return EPROTONOSUPPORT;
	return EPERM;
}

static void refuse_socket(const struct syscall *call, bool pair, struct denial *denial,
                          int *ret_error)
{
	const struct sandbox_plan *plan = call->supervisor->plan;
	int family = (int)call->args[0], type = (int)call->args[1] & 0xf;
	char text[24];

	*ret_error = socket_error(family, type, (int)call->args[2], pair);
	if ((family == AF_INET || family == AF_INET6) && type == SOCK_DGRAM && !plan->network &&
	    plan->level != SANDBOX_FULL) {
		*ret_error = EPERM;
		denial->reason = SANDBOX_REASON_NETWORK;
	}
	snprintf(denial->what, sizeof(denial->what), "%s(%s, %s, %d)",
	         pair ? "socketpair" : "socket", family_name(family, text), type_name(type),
	         (int)call->args[2]);
}

static void refuse_ioctl(const struct syscall *call, struct denial *denial, int *ret_error)
{
	static const struct {
		uint32_t request;
		int error;
		const char *name;
	} names[] = {
		{ 0x5412, EPERM, "TIOCSTI" },
		{ 0x541c, EPERM, "TIOCLINUX" },
		{ 0x5423, EPERM, "TIOCSETD" },
	};
	uint32_t request = (uint32_t)call->args[1];

	*ret_error = EOPNOTSUPP; /* attributes of inodes: as a file system that has none */
	snprintf(denial->what, sizeof(denial->what), "ioctl(0x%x)", request);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (names[i].request == request) {
			*ret_error = names[i].error;
			snprintf(denial->what, sizeof(denial->what), "ioctl(%s)", names[i].name);
		}
	}
}

struct call_answer supervise_refuse(const struct syscall *call, const struct handler *row)
{
	struct denial denial = { .kind = DENIAL_CALL, .reason = SANDBOX_REASON_KERNEL };
	const struct filter_call *known = first_row(call->number);
	int error = known && known->error ? known->error : EPERM;

	(void)row;
	switch (call->number) {
	case SYS_socket:
	case SYS_socketpair:
		refuse_socket(call, call->number == SYS_socketpair, &denial, &error);
		break;
	case SYS_ioctl:
		refuse_ioctl(call, &denial, &error);
		break;
	default:
		if (known)
			snprintf(denial.what, sizeof(denial.what), "%s", known->name);
		else
			snprintf(denial.what, sizeof(denial.what), "call %d",
			         call->number);
	}
	supervise_record_denial(call, &denial);
	return answer_error(error);
}
