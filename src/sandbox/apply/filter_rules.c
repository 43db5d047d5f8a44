/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the seccomp filters. */
#include "sandbox/apply/filter_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>

#define BIT(filter) (1u << (filter))
#define BASE BIT(FILTER_BASE)
#define FILES BIT(FILTER_FILES)
/* Commands: all, those without a network, those without namespaces. */
#define NAMED (BIT(FILTER_COMMAND) | BIT(FILTER_COMMAND_NET))
#define BARE (BIT(FILTER_COMMAND_LANDLOCK) | BIT(FILTER_COMMAND_LANDLOCK_NET))
#define COMMAND (NAMED | BARE)
#define BARE_OFF BIT(FILTER_COMMAND_LANDLOCK)
/* What nobody inside needs.  The base filter does not deny it: an answer of the kernel goes before
 * one of the supervisor, so there would be no record; and the runner, which has the base filter
 * alone, needs some of it. */
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
	DENY("kcmp", "tells addresses of the kernel apart"),

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

	/* The supervisor reads paths and addresses from the memory of processes.  Agents for keys (gpg-agent,
	 * ssh-agent) close theirs, which would leave them without sockets; cores are never written, and
	 * nobody inside may trace them. */
	{ .call = "prctl", .filters = COMMAND, .answer = RULE_ERRNO, .error = 0,
	  .tests = { IS(0, 4 /* PR_SET_DUMPABLE */), IS(1, 0) }, .why = "believed, and not done" },

	/* A filter with a listener of its own would be asked before ours, once ours is gone. */
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

	/* A worker that answers file operations: threads, but no programs and no sockets but the one
	 * it has. */
	FILES_ONLY("execve", "no programs"),
	FILES_ONLY("execveat", "no programs"),
	FILES_ONLY("fork", "no processes"),
	FILES_ONLY("vfork", "no processes"),
	{ .call = "clone", .filters = FILES, .answer = RULE_DENY, .error = EPERM,
	  .tests = { CLEAR(0, CLONE_THREAD) }, .why = "no processes" },
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

	/* Names and contents: looked at, then the kernel decides. */
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
	NOTIFY(COMMAND, "unlink", "removing a name"),
	NOTIFY(COMMAND, "unlinkat", "removing a name"),
	NOTIFY(COMMAND, "rmdir", "removing a name"),

	/* Addresses. */
	NOTIFY(COMMAND, "connect", "the address is in memory"),
	NOTIFY_IF(BIT(FILTER_COMMAND), "sendto", "for the record: nothing but loopback is there",
	          IS_NOT(4, 0)),
	NOTIFY(BARE_OFF, "bind", "the address is in memory"),
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
