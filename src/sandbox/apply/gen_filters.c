/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the seccomp filters as C, when hasp is built: gen_filters > filter_programs.c
 *
 * The table goes through libseccomp, once per filter and architecture.  In front
 * of what libseccomp makes stand a few instructions of our own, for what it cannot say: calls
 * known by number alone, and "everything newer".  Jumps of BPF are relative, so the parts can be
 * put together as they are. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sandbox/apply/filter.h"

/* ---- what the seccomp filters say about each system call ---- */

/* One table, read when hasp is built; not part of the program.  Calls that have no row
 * are allowed (to readers: refused), but for those that are newer than FILTER_LAST_CALL, which do
 * not exist.
 *
 * To deny a call: one row here, and one in the table of test/sandbox/test_filter.c.
 * A call that libseccomp may not know yet is named with its number as well (the same on all
 * architectures from 424 on). */

enum rule_answer {
	RULE_ERRNO,  /* the kernel answers with `error`, no record */
	RULE_DENY,   /* refused with `error`; in a command's filter by the supervisor, with a
	              * record */
	RULE_NOTIFY, /* the supervisor looks at it: command filters only */
	RULE_ALLOW,  /* of the readers' filters, which refuse all that they do not name */
};

/* A test of one argument; all tests of a rule must hold.  Tests with several values become
 * several rules, because libseccomp tests an argument once a rule. */
enum rule_op {
	OP_NONE,
	OP_EQ,      /* (argument & mask) == value */
	OP_ANY_OF,  /* one of the bits of `value` is set */
	OP_CLEAR,   /* all bits of `value` are clear */
	OP_NOT,     /* the whole argument (64 bits) differs from value */
	OP_MIXED,   /* the low 32 bits are neither all clear nor all set */
	OP_NOT_IN,  /* (argument & mask) is none of `values`; the end of `values` is RULE_END */
};

#define RULE_LOW 0xffffffffu /* arguments that the kernel takes as int */
#define RULE_END UINT32_MAX

struct rule_test {
	enum rule_op op;
	unsigned argument;
	uint64_t mask, value;
	const uint32_t *values; /* ascending */
};

struct filter_rule {
	const char *call;
	int number;             /* 0, or the call's number where libseccomp may not know it */
	unsigned filters;       /* bits 1 << FILTER_x */
	enum rule_answer answer;
	int error;              /* of ERRNO and DENY */
	struct rule_test tests[3];
	const char *why;
};

#define BIT(filter) (1u << (filter))
#define BASE BIT(FILTER_BASE)
#define FILES BIT(FILTER_FILES)
/* Commands: all, those without a network, those without namespaces. */
#define NAMED (BIT(FILTER_COMMAND) | BIT(FILTER_COMMAND_NET))
#define BARE (BIT(FILTER_COMMAND_LANDLOCK) | BIT(FILTER_COMMAND_LANDLOCK_NET))
#define COMMAND (NAMED | BARE)
#define BARE_OFF BIT(FILTER_COMMAND_LANDLOCK)
#define OPENING BIT(FILTER_READER)
#define READERS (OPENING | BIT(FILTER_READER_SEALED))
/* What no program inside needs.  The base filter does not deny it: an answer of the kernel goes
 * before one of the supervisor, so there would be no record; and the runner, which has the base
 * filter alone, needs some of it. */
#define NOBODY (FILES | COMMAND)

#define DENY(name, why_) { .call = name, .filters = NOBODY, .answer = RULE_DENY, .error = EPERM, \
	.why = why_ }
#define DENY_NEW(name, number_, why_) { .call = name, .number = number_, .filters = NOBODY, \
	.answer = RULE_DENY, .error = EPERM, .why = why_ }
#define DENY_IF(name, why_, ...) { .call = name, .filters = NOBODY, .answer = RULE_DENY, \
	.error = EPERM, .tests = { __VA_ARGS__ }, .why = why_ }
#define SOCKET_IF(filters_, error_, why_, ...) { .call = "socket", .filters = filters_, \
	.answer = RULE_DENY, .error = error_, .tests = { __VA_ARGS__ }, .why = why_ }
#define ABSENT(name, why_) { .call = name, .filters = BASE, .answer = RULE_ERRNO, .error = ENOSYS, \
	.why = why_ }
#define FILES_ONLY(name, why_) { .call = name, .filters = FILES, .answer = RULE_DENY, \
	.error = EPERM, .why = why_ }
#define NOTIFY(filters_, name, why_) { .call = name, .filters = filters_, \
	.answer = RULE_NOTIFY, .why = why_ }
#define NOTIFY_NEW(filters_, name, number_, why_) { .call = name, .number = number_, \
	.filters = filters_, .answer = RULE_NOTIFY, .why = why_ }
#define NOTIFY_IF(filters_, name, why_, ...) { .call = name, .filters = filters_, \
	.answer = RULE_NOTIFY, .tests = { __VA_ARGS__ }, .why = why_ }

#define READER_MAY(name) { .call = name, .filters = READERS, .answer = RULE_ALLOW }
#define READER_MAY_IF(name, ...) { .call = name, .filters = READERS, .answer = RULE_ALLOW, \
	.tests = { __VA_ARGS__ } }
#define OPENING_MAY(name) { .call = name, .filters = OPENING, .answer = RULE_ALLOW }
#define OPENING_MAY_IF(name, ...) { .call = name, .filters = OPENING, .answer = RULE_ALLOW, \
	.tests = { __VA_ARGS__ } }

/* fork() is clone with CLONE_CHILD_SETTID. */
#define FORK_WITHOUT(flag, why_) { .call = "clone", .filters = FILES, .answer = RULE_DENY, \
	.error = EPERM, .why = why_, .tests = { { .op = OP_EQ, .argument = 0, \
	.mask = CLONE_THREAD | CLONE_CHILD_SETTID | (flag), \
	.value = CLONE_CHILD_SETTID | (flag) } } }

#define FAST(name, flags) { .call = name, .filters = BIT(FILTER_COMMAND) | BARE_OFF, \
	.answer = RULE_DENY, .error = EOPNOTSUPP, .tests = { ANY_OF(flags, FAST_OPEN) }, \
	.why = "a connection made by sending" }
#define SHARED(name) { .call = name, .filters = FILES | BARE, .answer = RULE_DENY, .error = EPERM, \
	.why = "memory and messages shared with other processes" }
#define INODE(request, name) { .call = "ioctl", .filters = BARE, .answer = RULE_DENY, \
	.error = EOPNOTSUPP, .tests = { IS(1, request) }, .why = name }

#define IS(argument_, value_) { .op = OP_EQ, .argument = argument_, .mask = RULE_LOW, \
	.value = value_ }
#define ANY_OF(argument_, bits) { .op = OP_ANY_OF, .argument = argument_, .value = bits }
#define CLEAR(argument_, bits) { .op = OP_CLEAR, .argument = argument_, .value = bits }
#define IS_NULL(argument_) { .op = OP_EQ, .argument = argument_, .mask = UINT64_MAX }
#define IS_NOT(argument_, value_) { .op = OP_NOT, .argument = argument_, .value = value_ }
#define MIXED(argument_) { .op = OP_MIXED, .argument = argument_ }
#define NOT_IN(argument_, mask_, list) { .op = OP_NOT_IN, .argument = argument_, .mask = mask_, \
	.values = list }

/* The kernel takes the type of a socket from the low four bits. */
#define TYPE_BITS 0xf

static const uint32_t families[] = { AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, RULE_END };
static const uint32_t unix_types[] = { SOCK_STREAM, SOCK_SEQPACKET, RULE_END };
static const uint32_t inet_types[] = { SOCK_STREAM, SOCK_DGRAM, RULE_END };
static const uint32_t stream_only[] = { SOCK_STREAM, RULE_END };
static const uint32_t stream_protocols[] = { 0, 6 /* TCP */, RULE_END };
static const uint32_t datagram_protocols[] = { 0, 1 /* ICMP */, 17 /* UDP */, 58 /* ICMPv6 */,
	RULE_END };
static const uint32_t route_only[] = { 0 /* NETLINK_ROUTE */, RULE_END };
static const uint32_t unix_only[] = { AF_UNIX, RULE_END };

#define NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | \
	CLONE_NEWPID | CLONE_NEWNET)
#define FOR_WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define FAST_OPEN 0x20000000 /* MSG_FASTOPEN */

const struct filter_rule filter_rules[] = {
	/* As if the kernel were older: programs have another way. */
	ABSENT("clone3", "its flags are in memory, where no filter sees them"),
	ABSENT("io_uring_setup", "does what filters forbid"),
	ABSENT("io_uring_enter", "does what filters forbid"),
	ABSENT("io_uring_register", "does what filters forbid"),

	/* Other processes. */
	DENY("ptrace", "reads and steers other processes"),
	DENY("process_vm_readv", "reads other processes"),
	DENY("process_vm_writev", "writes other processes"),
	DENY("process_madvise", "acts on other processes"),
	DENY("pidfd_getfd", "takes descriptors of other processes"),
	DENY("kcmp", "compares addresses of the kernel"),

	/* Surface of the kernel. */
	DENY("add_key", "the kernel's key rings are not confined"),
	DENY("request_key", "the kernel's key rings are not confined"),
	DENY("keyctl", "the kernel's key rings are not confined"),
	DENY("userfaultfd", "a tool of exploits"),
	DENY("bpf", "programs in the kernel"),
	DENY("perf_event_open", "watches the kernel and other processes"),
	DENY("fanotify_init", "watches the whole file system"),
	DENY("open_by_handle_at", "opens files past their folders"),
	DENY("lookup_dcookie", "names files past their folders"),
	DENY("kexec_load", "replaces the kernel"),
	DENY("kexec_file_load", "replaces the kernel"),
	DENY("init_module", "code in the kernel"),
	DENY("finit_module", "code in the kernel"),
	DENY("delete_module", "code in the kernel"),
	DENY("swapon", "the machine's memory"),
	DENY("swapoff", "the machine's memory"),
	DENY("reboot", "stops the machine"),
	DENY("acct", "writes records of all processes"),
	DENY("quotactl", "quotas of others"),
	DENY("quotactl_fd", "quotas of others"),
	DENY("syslog", "the kernel's messages"),
	DENY("settimeofday", "the machine's clock"),
	DENY("clock_settime", "the machine's clock"),
	DENY("sethostname", "the machine's name"),
	DENY("setdomainname", "the machine's name"),
	DENY("iopl", "ports of devices"),
	DENY("ioperm", "ports of devices"),
	DENY("vhangup", "the terminal of others"),
	/* 0 is what every process has; 0xffffffff asks. */
	DENY_IF("personality", "turns protections of memory off", MIXED(0)),

	/* Mounts and namespaces. */
	DENY("mount", "changes what is mounted"),
	DENY("umount2", "changes what is mounted"),
	DENY("pivot_root", "changes what is mounted"),
	DENY("chroot", "changes what paths mean"),
	DENY("move_mount", "changes what is mounted"),
	DENY("open_tree", "changes what is mounted"),
	DENY_NEW("open_tree_attr", 467, "changes what is mounted"),
	DENY("fsopen", "changes what is mounted"),
	DENY("fsconfig", "changes what is mounted"),
	DENY("fsmount", "changes what is mounted"),
	DENY("fspick", "changes what is mounted"),
	DENY("mount_setattr", "changes what is mounted"),
	DENY("unshare", "a namespace brings rights in the kernel"),
	DENY("setns", "enters namespaces of others"),
	DENY_IF("clone", "a namespace brings rights in the kernel", ANY_OF(0, NAMESPACES)),

	/* Terminals: the number of a request is an int. */
	DENY_IF("ioctl", "TIOCSTI types into the terminal", IS(1, 0x5412)),
	DENY_IF("ioctl", "TIOCLINUX pastes into the console", IS(1, 0x541c)),
	DENY_IF("ioctl", "TIOCSETD loads line disciplines", IS(1, 0x5423)),

	/* The supervisor reads paths and addresses from the memory of processes.  Agents for keys
	 * (gpg-agent, ssh-agent) close theirs, which would leave them without sockets; cores are
	 * never written, and no process inside may trace them. */
	{ .call = "prctl", .filters = COMMAND, .answer = RULE_ERRNO, .error = 0,
	  .tests = { IS(0, 4 /* PR_SET_DUMPABLE */), IS(1, 0) }, .why = "believed, and not done" },

	/* A filter with its own listener would be consulted before ours, once ours is closed. */
	{ .call = "seccomp", .filters = NOBODY, .answer = RULE_ERRNO, .error = EBUSY,
	  .tests = { IS(0, 1 /* SECCOMP_SET_MODE_FILTER */), ANY_OF(1, 8 /* NEW_LISTENER */) },
	  .why = "one listener a process" },

	/* Sockets.  Datagrams of AF_UNIX can name another socket in every sendmsg, where no filter
	 * sees it.  SCTP and DCCP connect by setsockopt and sendmsg. */
	SOCKET_IF(COMMAND, EAFNOSUPPORT, "a family of sockets that no command needs",
	          NOT_IN(0, RULE_LOW, families)),
	SOCKET_IF(COMMAND, EPERM, "unix datagrams can be sent to any socket",
	          IS(0, AF_UNIX), NOT_IN(1, TYPE_BITS, unix_types)),
	SOCKET_IF(NAMED | BIT(FILTER_COMMAND_LANDLOCK_NET), EPERM, "raw sockets",
	          IS(0, AF_INET), NOT_IN(1, TYPE_BITS, inet_types)),
	SOCKET_IF(NAMED | BIT(FILTER_COMMAND_LANDLOCK_NET), EPERM, "raw sockets",
	          IS(0, AF_INET6), NOT_IN(1, TYPE_BITS, inet_types)),
	SOCKET_IF(BARE_OFF, EPERM, "the network is off, and nothing else stops datagrams here",
	          IS(0, AF_INET), NOT_IN(1, TYPE_BITS, stream_only)),
	SOCKET_IF(BARE_OFF, EPERM, "the network is off, and nothing else stops datagrams here",
	          IS(0, AF_INET6), NOT_IN(1, TYPE_BITS, stream_only)),
	SOCKET_IF(COMMAND, EPROTONOSUPPORT, "connects by other calls than connect",
	          IS(0, AF_INET), IS(1, SOCK_STREAM), NOT_IN(2, RULE_LOW, stream_protocols)),
	SOCKET_IF(COMMAND, EPROTONOSUPPORT, "connects by other calls than connect",
	          IS(0, AF_INET6), IS(1, SOCK_STREAM), NOT_IN(2, RULE_LOW, stream_protocols)),
	SOCKET_IF(COMMAND, EPROTONOSUPPORT, "a protocol that no command needs",
	          IS(0, AF_INET), IS(1, SOCK_DGRAM), NOT_IN(2, RULE_LOW, datagram_protocols)),
	SOCKET_IF(COMMAND, EPROTONOSUPPORT, "a protocol that no command needs",
	          IS(0, AF_INET6), IS(1, SOCK_DGRAM), NOT_IN(2, RULE_LOW, datagram_protocols)),
	SOCKET_IF(COMMAND, EPROTONOSUPPORT, "netlink but for addresses and routes",
	          IS(0, AF_NETLINK), NOT_IN(2, RULE_LOW, route_only)),
	{ .call = "socketpair", .filters = COMMAND, .answer = RULE_DENY, .error = EAFNOSUPPORT,
	  .tests = { NOT_IN(0, RULE_LOW, unix_only) }, .why = "a family that no command needs" },
	{ .call = "socketpair", .filters = COMMAND, .answer = RULE_DENY, .error = EPERM,
	  .tests = { NOT_IN(1, TYPE_BITS, unix_types) },
	  .why = "unix datagrams can be sent to any socket" },

	/* A connection made by sending. */
	FAST("sendto", 3),
	FAST("sendmsg", 2),
	FAST("sendmmsg", 3),

	/* A worker that answers file operations: threads, but no programs and no sockets but the
	 * one it has. */
	FILES_ONLY("execve", "no programs"),
	FILES_ONLY("execveat", "no programs"),
	FILES_ONLY("fork", "no processes"),
	FILES_ONLY("vfork", "no processes"),
	{ .call = "clone", .filters = FILES, .answer = RULE_DENY, .error = EPERM,
	  .tests = { CLEAR(0, CLONE_THREAD | CLONE_CHILD_SETTID) },
	  .why = "no processes but forks, which have what this one has" },
	FORK_WITHOUT(CLONE_VM, "a process that shares memory"),
	FORK_WITHOUT(CLONE_FILES, "a process that shares descriptors"),
	FORK_WITHOUT(CLONE_PARENT, "a process that is another's child"),
	FORK_WITHOUT(CLONE_PTRACE, "a process that is traced"),
	FILES_ONLY("socket", "no sockets"),
	FILES_ONLY("socketpair", "no sockets"),
	FILES_ONLY("connect", "no sockets"),
	FILES_ONLY("bind", "no sockets"),
	FILES_ONLY("listen", "no sockets"),
	FILES_ONLY("accept", "no sockets"),
	FILES_ONLY("accept4", "no sockets"),
	FILES_ONLY("kill", "no signals to others"),
	FILES_ONLY("tkill", "no signals to others"),
	FILES_ONLY("rt_sigqueueinfo", "no signals to others"),
	FILES_ONLY("rt_tgsigqueueinfo", "no signals to others"),
	FILES_ONLY("pidfd_send_signal", "no signals to others"),

	/* A reader: memory, threads, its descriptors; code only what is there already. */
	{ .call = "clone3", .filters = READERS, .answer = RULE_ERRNO, .error = ENOSYS,
	  .why = "its flags are in memory, where no filter sees them" },
	READER_MAY_IF("clone", ANY_OF(0, CLONE_THREAD)),
	READER_MAY_IF("mmap", CLEAR(2, PROT_EXEC)),
	READER_MAY_IF("mprotect", CLEAR(2, PROT_EXEC)),
	READER_MAY("munmap"), READER_MAY("mremap"), READER_MAY("madvise"), READER_MAY("brk"),
	READER_MAY("mincore"), READER_MAY("membarrier"), READER_MAY("memfd_create"),
	READER_MAY("read"), READER_MAY("readv"), READER_MAY("pread64"), READER_MAY("preadv"),
	READER_MAY("write"), READER_MAY("writev"), READER_MAY("pwrite64"), READER_MAY("lseek"),
	READER_MAY("ftruncate"), READER_MAY("close"), READER_MAY("fstat"),
	READER_MAY_IF("newfstatat", ANY_OF(3, AT_EMPTY_PATH)),
	READER_MAY_IF("statx", ANY_OF(2, AT_EMPTY_PATH)),
	READER_MAY_IF("fcntl", IS(1, F_DUPFD)), READER_MAY_IF("fcntl", IS(1, F_DUPFD_CLOEXEC)),
	READER_MAY_IF("fcntl", IS(1, F_GETFD)), READER_MAY_IF("fcntl", IS(1, F_SETFD)),
	READER_MAY_IF("fcntl", IS(1, F_GETFL)),
	READER_MAY("poll"), READER_MAY("ppoll"), READER_MAY("futex"), READER_MAY("rseq"),
	READER_MAY("set_robust_list"), READER_MAY("set_tid_address"), READER_MAY("exit"),
	READER_MAY("exit_group"), READER_MAY("restart_syscall"), READER_MAY("arch_prctl"),
	READER_MAY("rt_sigaction"), READER_MAY("rt_sigprocmask"), READER_MAY("rt_sigreturn"),
	READER_MAY("sigaltstack"), READER_MAY("clock_gettime"), READER_MAY("clock_getres"),
	READER_MAY("clock_nanosleep"), READER_MAY("nanosleep"), READER_MAY("gettimeofday"),
	READER_MAY("time"), READER_MAY("times"), READER_MAY("getrusage"), READER_MAY("getpid"),
	READER_MAY("getppid"), READER_MAY("gettid"), READER_MAY("getuid"), READER_MAY("geteuid"),
	READER_MAY("getgid"), READER_MAY("getegid"), READER_MAY("getrandom"),
	READER_MAY("sched_yield"), READER_MAY("sched_getaffinity"), READER_MAY("getcpu"),
	READER_MAY("uname"), READER_MAY("sysinfo"), READER_MAY("getrlimit"),
	READER_MAY_IF("prlimit64", IS(0, 0), IS_NULL(2)),
	READER_MAY_IF("prctl", IS(0, 15 /* PR_SET_NAME */)),
	READER_MAY_IF("prctl", IS(0, 0x53564d41 /* PR_SET_VMA */)),
	OPENING_MAY_IF("open", CLEAR(1, FOR_WRITING)),
	OPENING_MAY_IF("openat", CLEAR(2, FOR_WRITING)),
	OPENING_MAY("newfstatat"), OPENING_MAY("statx"), OPENING_MAY("stat"), OPENING_MAY("lstat"),
	OPENING_MAY("access"), OPENING_MAY("faccessat"), OPENING_MAY("faccessat2"),
	OPENING_MAY("readlink"), OPENING_MAY("readlinkat"), OPENING_MAY("getdents64"),
	OPENING_MAY("statfs"), OPENING_MAY("fstatfs"), OPENING_MAY("getcwd"),

	/* Where no namespace keeps other processes and their objects out of sight. */
	{ .call = "prlimit64", .filters = FILES | BARE, .answer = RULE_DENY, .error = EPERM,
	  .tests = { IS_NOT(0, 0), IS_NOT(2, 0) }, .why = "limits of other processes" },
	SHARED("shmget"),
	SHARED("shmat"),
	SHARED("shmctl"),
	SHARED("semget"),
	SHARED("semop"),
	SHARED("semtimedop"),
	SHARED("semctl"),
	SHARED("msgget"),
	SHARED("msgsnd"),
	SHARED("msgrcv"),
	SHARED("msgctl"),
	SHARED("mq_open"),
	SHARED("mq_unlink"),

	/* Names and contents: judged and made by the supervisor (supervise.h).  Removing a file is
	 * the kernel's matter where mounts keep what must stay. */
	NOTIFY_IF(COMMAND, "open", "opening for writing", ANY_OF(1, FOR_WRITING)),
	NOTIFY_IF(COMMAND, "openat", "opening for writing", ANY_OF(2, FOR_WRITING)),
	NOTIFY(COMMAND, "openat2", "its flags are in memory"),
	NOTIFY(COMMAND, "creat", "opening for writing"),
	NOTIFY(COMMAND, "truncate", "writing"),
	NOTIFY(COMMAND, "mkdir", "making a name"),
	NOTIFY(COMMAND, "mkdirat", "making a name"),
	NOTIFY(COMMAND, "mknod", "making a name"),
	NOTIFY(COMMAND, "mknodat", "making a name"),
	NOTIFY(COMMAND, "symlink", "making a name"),
	NOTIFY(COMMAND, "symlinkat", "making a name"),
	NOTIFY(COMMAND, "link", "making a name"),
	NOTIFY(COMMAND, "linkat", "making a name"),
	NOTIFY(COMMAND, "rename", "moving a name"),
	NOTIFY(COMMAND, "renameat", "moving a name"),
	NOTIFY(COMMAND, "renameat2", "moving a name"),
	NOTIFY(BARE, "unlink", "removing a name"),
	NOTIFY(BARE, "unlinkat", "removing a name"),
	NOTIFY_IF(NAMED, "unlinkat", "removing a folder, which may be made again",
	          ANY_OF(2, AT_REMOVEDIR)),
	NOTIFY(COMMAND, "rmdir", "removing a folder, which may be made again"),
	NOTIFY(COMMAND, "umask", "the supervisor makes files with it"),
	NOTIFY(COMMAND, "chdir", "the supervisor begins relative paths there"),
	NOTIFY(COMMAND, "fchdir", "the supervisor begins relative paths there"),

	/* Addresses. */
	NOTIFY_IF(COMMAND, "socket", "where sockets cannot be taken over",
	          IS(0, AF_UNIX)),
	NOTIFY(COMMAND, "bind", "the address is in memory"),
	NOTIFY(COMMAND, "connect", "the address is in memory"),
	NOTIFY_IF(BIT(FILTER_COMMAND), "sendto", "for the record: nothing but loopback is there",
	          IS_NOT(4, 0)),
	NOTIFY(BARE_OFF, "listen", "binds to any address what is not bound yet"),

	/* A signal reaches a process group whole, and what its members fork meanwhile. */
	NOTIFY(BARE, "setsid", "no process leaves its group while all are ended"),
	NOTIFY(BARE, "setpgid", "no process leaves its group while all are ended"),

	/* Mode and owner by path: at level full for the record alone. */
	NOTIFY(COMMAND, "chmod", "mode"),
	NOTIFY(COMMAND, "fchmodat", "mode"),
	NOTIFY_NEW(COMMAND, "fchmodat2", 452, "mode"),
	NOTIFY(COMMAND, "chown", "owner"),
	NOTIFY(COMMAND, "lchown", "owner"),
	NOTIFY(COMMAND, "fchownat", "owner"),

	/* What Landlock does not cover and read-only mounts do. */
	NOTIFY(BARE, "fchmod", "mode"),
	NOTIFY_IF(NAMED, "fchmod", "may be executed from now on", ANY_OF(1, 0111)),
	NOTIFY(BARE, "fchown", "owner"),
	NOTIFY(BARE, "utime", "times"),
	NOTIFY(BARE, "utimes", "times"),
	NOTIFY(BARE, "futimesat", "times"),
	NOTIFY(BARE, "utimensat", "times"),
	NOTIFY(BARE, "setxattr", "extended attributes"),
	NOTIFY(BARE, "lsetxattr", "extended attributes"),
	NOTIFY(BARE, "fsetxattr", "extended attributes"),
	NOTIFY_NEW(BARE, "setxattrat", 463, "extended attributes"),
	NOTIFY(BARE, "removexattr", "extended attributes"),
	NOTIFY(BARE, "lremovexattr", "extended attributes"),
	NOTIFY(BARE, "fremovexattr", "extended attributes"),
	NOTIFY_NEW(BARE, "removexattrat", 466, "extended attributes"),
	{ .call = "file_setattr", .number = 469, .filters = BARE, .answer = RULE_DENY,
	  .error = EOPNOTSUPP, .why = "attributes of inodes" },
	INODE(0x40086602, "FS_IOC_SETFLAGS"),
	INODE(0x40046602, "FS_IOC32_SETFLAGS"),
	INODE(0x40087602, "FS_IOC_SETVERSION"),
	INODE(0x401c5820, "FS_IOC_FSSETXATTR"),
	INODE(0x40806685, "FS_IOC_ENABLE_VERITY"),
	INODE(0x800c6613, "FS_IOC_SET_ENCRYPTION_POLICY"),
};

const unsigned filter_rule_count = sizeof(filter_rules) / sizeof(filter_rules[0]);

/* ---- prints the seccomp filters as C, when hasp is built ---- */

struct machine {
	const char *macro;   /* of the compiler */
	uint32_t scmp, audit;
};

static const struct machine machines[] = {
	{ "__x86_64__", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64 },
	{ "__aarch64__", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64 },
};

#define MACHINE_COUNT (sizeof(machines) / sizeof(machines[0]))

static void die_with(const char *what, const char *call, int error)
{
	fprintf(stderr, "gen_filters: %s: %s: %s\n", what, call,
	        strerror(error < 0 ? -error : error));
	exit(1);
}

/* Notifying is for commands: a file worker has no supervisor. */
static bool notifies(const struct filter_rule *rule, enum filter_name filter)
{
	return rule->answer != RULE_ERRNO && rule->answer != RULE_ALLOW && filter >= FILTER_COMMAND;
}

static uint32_t libseccomp_action(const struct filter_rule *rule, enum filter_name filter)
{
	if (rule->answer == RULE_ALLOW)
		return SCMP_ACT_ALLOW;
	return notifies(rule, filter) ? SCMP_ACT_NOTIFY : SCMP_ACT_ERRNO((uint32_t)rule->error);
}

static uint32_t kernel_action(const struct filter_rule *rule, enum filter_name filter)
{
	return notifies(rule, filter) ? SECCOMP_RET_USER_NOTIF :
	                                SECCOMP_RET_ERRNO | (uint32_t)rule->error;
}

/* One rule of libseccomp's in the making. */
struct filter_draft {
	scmp_filter_ctx context;
	const struct filter_rule *rule;
	uint32_t action;
	int number;
	struct scmp_arg_cmp tests[3];
	unsigned count;
};

static void add_tests(struct filter_draft *draft, unsigned at);

static void add_comparison(struct filter_draft *draft, unsigned at, enum scmp_compare op,
                           uint64_t a, uint64_t b)
{
	draft->tests[draft->count++] = (struct scmp_arg_cmp){
		.arg = draft->rule->tests[at].argument, .op = op, .datum_a = a, .datum_b = b,
	};
	add_tests(draft, at + 1);
	draft->count--;
}

static bool is_in_values(const uint32_t *values, uint64_t value)
{
	for (; *values != RULE_END; values++) {
		if (*values == value)
			return true;
	}
	return false;
}

/* All values of a small field, or all up to the largest that is named and then "greater": the
 * last compares all 64 bits, so that garbage in the upper half is refused too. */
static void add_not_in(struct filter_draft *draft, unsigned at, const struct rule_test *test)
{
	uint64_t end = 0;

	if (test->mask != RULE_LOW) {
		end = test->mask + 1;
	} else {
		for (const uint32_t *v = test->values; *v != RULE_END; v++)
			end = (uint64_t)*v + 1;
		add_comparison(draft, at, SCMP_CMP_GE, end, 0);
	}
	for (uint64_t value = 0; value < end; value++) {
		if (!is_in_values(test->values, value))
			add_comparison(draft, at, SCMP_CMP_MASKED_EQ, test->mask, value);
	}
}

static void add_bits(struct filter_draft *draft, unsigned at, uint64_t bits)
{
	for (uint64_t bit = 1; bit && bit <= bits; bit <<= 1) {
		if (bits & bit)
			add_comparison(draft, at, SCMP_CMP_MASKED_EQ, bit, bit);
	}
}

/* A word is neither 0 nor all ones if some bit is set and the next, around the end, is not. */
static void add_mixed(struct filter_draft *draft, unsigned at)
{
	for (unsigned i = 0; i < 32; i++) {
		uint64_t bit = UINT64_C(1) << i, next = UINT64_C(1) << (i + 1) % 32;

		add_comparison(draft, at, SCMP_CMP_MASKED_EQ, bit | next, bit);
	}
}

static void add_tests(struct filter_draft *draft, unsigned at)
{
	const struct rule_test *test = &draft->rule->tests[at];
	int error;

	if (at < 3 && test->op != OP_NONE) {
		switch (test->op) {
		case OP_NONE:
			break;
		case OP_EQ:
			add_comparison(draft, at, SCMP_CMP_MASKED_EQ, test->mask, test->value);
			break;
		case OP_ANY_OF:
			add_bits(draft, at, test->value);
			break;
		case OP_CLEAR:
			add_comparison(draft, at, SCMP_CMP_MASKED_EQ, test->value, 0);
			break;
		case OP_NOT:
			add_comparison(draft, at, SCMP_CMP_NE, test->value, 0);
			break;
		case OP_MIXED:
			add_mixed(draft, at);
			break;
		case OP_NOT_IN:
			add_not_in(draft, at, test);
			break;
		}
		return;
	}
	error = seccomp_rule_add_array(draft->context, draft->action, draft->number, draft->count,
	                               draft->tests);
	if (error)
		die_with("seccomp_rule_add", draft->rule->call, error);
}

static void context_add_rule(scmp_filter_ctx context, const struct filter_rule *rule,
                             enum filter_name filter)
{
	struct filter_draft draft = { .context = context, .rule = rule,
		.action = libseccomp_action(rule, filter) };

	draft.number = seccomp_syscall_resolve_name(rule->call);
	if (draft.number == __NR_SCMP_ERROR)
		die_with("this libseccomp does not know", rule->call, ENOSYS);
	add_tests(&draft, 0);
}

static scmp_filter_ctx new_context(const struct machine *machine, enum filter_name filter)
{
	const bool reader = READERS >> filter & 1;
	scmp_filter_ctx context = seccomp_init(reader ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_ALLOW);
	int error;

	if (!context)
		die_with("seccomp_init", machine->macro, ENOMEM);
	seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	/* A binary tree instead of a list, where the library has it (2.5). */
	seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (machine->scmp != seccomp_arch_native()) {
		error = seccomp_arch_add(context, machine->scmp);
		if (!error)
			error = seccomp_arch_remove(context, SCMP_ARCH_NATIVE);
		if (error)
			die_with("seccomp_arch", machine->macro, error);
	}
	return context;
}

/* The instructions of a context; returns how many. */
static size_t export(scmp_filter_ctx context, struct sock_filter *code, size_t room)
{
	int fd = memfd_create("filter", MFD_CLOEXEC), error;
	ssize_t length;

	error = fd < 0 ? -errno : seccomp_export_bpf(context, fd);
	if (error)
		die_with("seccomp_export_bpf", "", error);
	length = pread(fd, code, room * sizeof(*code), 0);
	if (length <= 0 || length % (ssize_t)sizeof(*code) ||
	    (size_t)length == room * sizeof(*code))
		die_with("filter", "does not fit", EFBIG);
	close(fd);
	return (size_t)length / sizeof(*code);
}

static bool has_rows(enum filter_name filter, bool numbered)
{
	for (unsigned i = 0; i < filter_rule_count; i++) {
		if ((filter_rules[i].filters >> filter & 1) && !!filter_rules[i].number == numbered)
			return true;
	}
	return false;
}

/* What stands in front: the architecture, x32, calls newer than the table, calls by number. */
static size_t prologue(const struct machine *machine, enum filter_name filter,
                       struct sock_filter *code)
{
	size_t n = 0, skip;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, machine->audit, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, nr));
	/* x32 is the same architecture with a bit in the number, so this refuses it as well. */
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, FILTER_LAST_CALL, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);
	if (!has_rows(filter, true))
		return n;
	skip = n++; /* old calls, nearly all, pass with one comparison */
	for (unsigned i = 0; i < filter_rule_count; i++) {
		const struct filter_rule *rule = &filter_rules[i];

		if (!rule->number || !(rule->filters >> filter & 1))
			continue;
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			(uint32_t)rule->number, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
			kernel_action(rule, filter));
	}
	code[skip] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 424, 0,
		(uint8_t)(n - skip - 1));
	return n;
}

static void print_filter(const struct machine *machine, enum filter_name filter)
{
	static struct sock_filter code[BPF_MAXINSNS];
	size_t n = prologue(machine, filter, code);
	scmp_filter_ctx context = new_context(machine, filter);

	for (unsigned i = 0; i < filter_rule_count; i++) {
		if ((filter_rules[i].filters >> filter & 1) && !filter_rules[i].number)
			context_add_rule(context, &filter_rules[i], filter);
	}
	n += export(context, code + n, BPF_MAXINSNS - n);
	seccomp_release(context);
	printf("static const struct sock_filter %s[] = {\n", filter_label(filter));
	for (size_t i = 0; i < n; i++) {
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", code[i].code, code[i].jt, code[i].jf,
		       code[i].k);
	}
	printf("};\n\n");
}

/* Names and answers of the calls that the supervisor gets; without an answer (0) it decides. */
static void print_calls(const struct machine *machine)
{
	printf("static const struct filter_call calls[] = {\n");
	for (unsigned i = 0; i < filter_rule_count; i++) {
		const struct filter_rule *rule = &filter_rules[i];
		int number = rule->number;

		if (rule->answer == RULE_ERRNO || rule->answer == RULE_ALLOW ||
		    !(rule->filters >> FILTER_COMMAND))
			continue;
		if (!number)
			number = seccomp_syscall_resolve_name_arch(machine->scmp, rule->call);
		if (number >= 0) {
			printf("\t{ %d, %d, \"%s\", \"%s\" },\n", number, rule->error, rule->call,
			       rule->why);
		}
	}
	printf("};\n\n");
}

static void print_machine(const struct machine *machine, bool first)
{
	printf("#%s defined(%s)\n\n", first ? "if" : "elif", machine->macro);
	for (int filter = 0; filter < FILTER_COUNT; filter++)
		print_filter(machine, (enum filter_name)filter);
	print_calls(machine);
}

int main(void)
{
	puts("/* SPDX-License-Identifier: Apache-2.0 */\n"
	     "/* Made by gen_filters; the table is in gen_filters.c. */\n"
	     "#include \"sandbox/apply/filter.h\"\n");
	for (size_t i = 0; i < MACHINE_COUNT; i++)
		print_machine(&machines[i], i == 0);
	puts("#else\n#error \"no seccomp filters for this architecture: see gen_filters.c\"\n"
	     "#endif\n");
	puts("const struct filter_program filter_programs[FILTER_COUNT] = {");
	for (int i = 0; i < FILTER_COUNT; i++)
		printf("\t{ %s, sizeof(%s) / sizeof(%s[0]) },\n", filter_label(i), filter_label(i),
		       filter_label(i));
	puts("};\n");
	puts("const struct filter_call *const filter_calls = calls;\n"
	     "const size_t filter_call_count = sizeof(calls) / sizeof(calls[0]);");
	return fflush(stdout) == 0 ? 0 : 1;
}
