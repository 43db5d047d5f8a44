/* SPDX-License-Identifier: Apache-2.0 */
/* Every call that the filters refuse, tried for real in a child, as root and as nobody; and
 * programs that must still work. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "sandbox/apply/filter.h"
#include "supervised.h"

enum { NOBODY = 65534 };

/* Which filters refuse it. */
enum { FILES = 1, FULL = 2, FULL_NET = 4, BARE = 8, BARE_NET = 16 };
#define COMMANDS (FULL | FULL_NET | BARE | BARE_NET)
#define ALL (FILES | COMMANDS)
#define HIGH 0x100000000L /* garbage in the upper half of an int */

static const struct attempt {
	const char *name;   /* as the record has it */
	long number;
	unsigned where;
	int error;
	unsigned long args[6];
} attempts[] = {
#define NO(call) { #call, SYS_##call, ALL, EPERM, { 0 } }
	NO(ptrace), NO(process_vm_readv), NO(process_vm_writev), NO(pidfd_getfd), NO(kcmp),
	NO(add_key), NO(request_key), NO(keyctl), NO(userfaultfd), NO(bpf), NO(perf_event_open),
	NO(fanotify_init), NO(open_by_handle_at), NO(lookup_dcookie), NO(kexec_load),
	NO(kexec_file_load), NO(init_module), NO(finit_module), NO(delete_module), NO(swapon),
	NO(swapoff), NO(reboot), NO(acct), NO(quotactl), NO(syslog), NO(settimeofday),
	NO(clock_settime), NO(sethostname), NO(setdomainname), NO(vhangup), NO(mount), NO(umount2),
	NO(pivot_root), NO(chroot), NO(move_mount), NO(open_tree), NO(fsopen), NO(fsconfig),
	NO(fsmount), NO(fspick), NO(mount_setattr), NO(unshare), NO(setns),
#ifdef __x86_64__
	NO(iopl), NO(ioperm),
#endif
	{ "process_madvise", 440, ALL, EPERM, { 0 } },
	{ "quotactl_fd", 443, ALL, EPERM, { 0 } },
	{ "open_tree_attr", 467, ALL, EPERM, { 0 } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWUSER | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWNS | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWNET | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWPID | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWIPC | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWUTS | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWCGROUP | SIGCHLD } },
	{ "clone", SYS_clone, ALL, EPERM, { CLONE_NEWUSER | SIGCHLD | HIGH } },
	{ "personality", SYS_personality, ALL, EPERM, { 0x0040000 } },
	{ "personality", SYS_personality, ALL, EPERM, { 0x8 } },
	{ "personality", SYS_personality, ALL, EPERM, { 0x80040000 } },
	{ "personality", SYS_personality, ALL, EPERM, { 0x40000 | HIGH } },
	{ "ioctl(TIOCSTI)", SYS_ioctl, ALL, EPERM, { 0, 0x5412 } },
	{ "ioctl(TIOCSTI)", SYS_ioctl, ALL, EPERM, { 0, 0x5412 | HIGH } },
	{ "ioctl(TIOCLINUX)", SYS_ioctl, ALL, EPERM, { 0, 0x541c } },
	{ "ioctl(TIOCSETD)", SYS_ioctl, ALL, EPERM, { 0, 0x5423 } },
	/* A listener of the command's own: no record, the kernel says it. */
	{ "", SYS_seccomp, ALL, EBUSY, { SECCOMP_SET_MODE_FILTER, 8 } },

	/* sockets */
	{ "socket(family 0, SOCK_STREAM, 0)", SYS_socket, COMMANDS, EAFNOSUPPORT, { 0, SOCK_STREAM } },
	{ "socket(AF_PACKET, SOCK_RAW, 0)", SYS_socket, COMMANDS, EAFNOSUPPORT, { 17, SOCK_RAW } },
	{ "socket(AF_VSOCK, SOCK_STREAM, 0)", SYS_socket, COMMANDS, EAFNOSUPPORT, { 40, SOCK_STREAM } },
	{ "socket(AF_ALG, SOCK_SEQPACKET, 0)", SYS_socket, COMMANDS, EAFNOSUPPORT, { 38, 5 } },
	{ "socket(AF_BLUETOOTH, SOCK_RAW, 1)", SYS_socket, COMMANDS, EAFNOSUPPORT, { 31, SOCK_RAW, 1 } },
	{ "socket(family 30, SOCK_STREAM, 0)", SYS_socket, COMMANDS, EAFNOSUPPORT, { 30, SOCK_STREAM } },
	{ "socket(AF_VSOCK, SOCK_STREAM, 0)", SYS_socket, COMMANDS, EAFNOSUPPORT,
	  { 40 | HIGH, SOCK_STREAM } },
	{ "socket(AF_UNIX, SOCK_DGRAM, 0)", SYS_socket, COMMANDS, EPERM, { AF_UNIX, SOCK_DGRAM } },
	{ "socket(AF_UNIX, SOCK_RAW, 0)", SYS_socket, COMMANDS, EPERM, { AF_UNIX, SOCK_RAW } },
	{ "socket(AF_UNIX, SOCK_DGRAM, 0)", SYS_socket, COMMANDS, EPERM,
	  { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK } },
	{ "socket(AF_UNIX, SOCK_DGRAM, 0)", SYS_socket, COMMANDS, EPERM,
	  { AF_UNIX | HIGH, SOCK_DGRAM | HIGH } },
	{ "socket(AF_INET, SOCK_RAW, 1)", SYS_socket, COMMANDS, EPERM, { AF_INET, SOCK_RAW, 1 } },
	{ "socket(AF_INET6, SOCK_RAW, 58)", SYS_socket, COMMANDS, EPERM, { AF_INET6, SOCK_RAW, 58 } },
	{ "socket(AF_INET, SOCK_SEQPACKET, 132)", SYS_socket, COMMANDS, EPERM, { AF_INET, 5, 132 } },
	{ "socket(AF_INET, SOCK_STREAM, 132)", SYS_socket, COMMANDS, EPROTONOSUPPORT,
	  { AF_INET, SOCK_STREAM, 132 } },
	{ "socket(AF_INET, SOCK_STREAM, 262)", SYS_socket, COMMANDS, EPROTONOSUPPORT,
	  { AF_INET, SOCK_STREAM, 262 } },
	{ "socket(AF_INET, SOCK_DGRAM, 115)", SYS_socket, FULL | FULL_NET | BARE_NET, EPROTONOSUPPORT,
	  { AF_INET, SOCK_DGRAM, 115 } },
	{ "socket(AF_INET, SOCK_DGRAM, 0)", SYS_socket, BARE, EPERM, { AF_INET, SOCK_DGRAM } },
	{ "socket(AF_INET6, SOCK_DGRAM, 17)", SYS_socket, BARE, EPERM, { AF_INET6, SOCK_DGRAM, 17 } },
	{ "socket(AF_NETLINK, SOCK_RAW, 9)", SYS_socket, COMMANDS, EPROTONOSUPPORT,
	  { AF_NETLINK, SOCK_RAW, 9 } },
	{ "socketpair(AF_UNIX, SOCK_DGRAM, 0)", SYS_socketpair, COMMANDS, EPERM,
	  { AF_UNIX, SOCK_DGRAM } },
	{ "socketpair(family 30, SOCK_STREAM, 0)", SYS_socketpair, COMMANDS, EAFNOSUPPORT,
	  { 30, SOCK_STREAM } },
	{ "sendto", SYS_sendto, FULL | BARE, EOPNOTSUPP, { 0, 0, 0, 0x20000000, 0, 0 } },
	{ "sendmsg", SYS_sendmsg, FULL | BARE, EOPNOTSUPP, { 0, 0, 0x20000000 } },
	{ "sendmmsg", SYS_sendmmsg, FULL | BARE, EOPNOTSUPP, { 0, 0, 0, 0x20000000 } },

	/* a file worker: no programs, no processes, no sockets, no signals */
	{ "execve", SYS_execve, FILES, EPERM, { 0 } },
	{ "execveat", SYS_execveat, FILES, EPERM, { 0 } },
	{ "clone", SYS_clone, FILES, EPERM, { SIGCHLD } },
	{ "clone", SYS_clone, FILES, EPERM, { CLONE_VM | CLONE_VFORK | SIGCHLD } },
#ifdef __x86_64__
	{ "fork", SYS_fork, FILES, EPERM, { 0 } },
	{ "vfork", SYS_vfork, FILES, EPERM, { 0 } },
#endif
	{ "socket", SYS_socket, FILES, EPERM, { AF_UNIX, SOCK_STREAM } },
	{ "socketpair", SYS_socketpair, FILES, EPERM, { AF_UNIX, SOCK_STREAM } },
	{ "connect", SYS_connect, FILES, EPERM, { 0 } },
	{ "bind", SYS_bind, FILES, EPERM, { 0 } },
	{ "listen", SYS_listen, FILES, EPERM, { 0 } },
	{ "accept", SYS_accept, FILES, EPERM, { 0 } },
	{ "accept4", SYS_accept4, FILES, EPERM, { 0 } },
	{ "kill", SYS_kill, FILES, EPERM, { 1, 0 } },
	{ "tkill", SYS_tkill, FILES, EPERM, { 1, 0 } },
	{ "rt_sigqueueinfo", SYS_rt_sigqueueinfo, FILES, EPERM, { 0 } },
	{ "pidfd_send_signal", SYS_pidfd_send_signal, FILES, EPERM, { 0 } },

	/* where no namespace keeps other processes out of sight */
	{ "prlimit64", SYS_prlimit64, FILES | BARE | BARE_NET, EPERM, { 1, 7, 1 } },
	{ "shmget", SYS_shmget, FILES, EPERM, { 0 } },
	{ "shmat", SYS_shmat, FILES | BARE | BARE_NET, EPERM, { 0 } },
	{ "semget", SYS_semget, FILES | BARE | BARE_NET, EPERM, { 0 } },
	{ "msgget", SYS_msgget, FILES | BARE | BARE_NET, EPERM, { 0 } },
	{ "mq_open", SYS_mq_open, FILES | BARE | BARE_NET, EPERM, { 0 } },
	{ "file_setattr", 469, BARE | BARE_NET, EOPNOTSUPP, { 0 } },
	{ "ioctl(0x40086602)", SYS_ioctl, BARE | BARE_NET, EOPNOTSUPP, { 0, 0x40086602 } },
	{ "ioctl(0x401c5820)", SYS_ioctl, BARE | BARE_NET, EOPNOTSUPP, { 0, 0x401c5820 } },
};

static void try(const struct attempt *a)
{
	long returned = syscall(a->number, a->args[0], a->args[1], a->args[2], a->args[3], a->args[4],
	                        a->args[5]);

	if (returned == 0 && a->number == SYS_clone)
		_exit(0); /* a process that should not be */
	if (returned != -1 || errno != a->error) {
		fprintf(stderr, "%s: %ld, %s instead of %s\n", a->name[0] ? a->name : "seccomp", returned,
		        returned == -1 ? strerror(errno) : "done", strerror(a->error));
		_exit(1);
	}
}

static int try_all(void *data)
{
	const unsigned *where = data;

	for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
		if (attempts[i].where & *where)
			try(&attempts[i]);
	}
	return 0;
}

/* Runs in a child with filters and no supervisor. */
static int status_of(int (*body)(void *data), void *data, uid_t uid, enum filter_name filter)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (uid && setresuid(uid, uid, uid) != 0)
			_exit(90);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (!filter_install(FILTER_BASE) || (filter != FILTER_BASE && !filter_install(filter)))
			_exit(91);
		_exit(body(data));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_file_worker_is_refused_each_call(void **state)
{
	unsigned where = FILES;

	(void)state;
	assert_int_equal(status_of(try_all, &where, 0, FILTER_FILES), 0);
	assert_int_equal(status_of(try_all, &where, NOBODY, FILTER_FILES), 0);
}

static void check_records(const struct heard *heard, unsigned where)
{
	for (size_t i = 0; i < ARRAY_LEN(attempts); i++) {
		if ((attempts[i].where & where) && attempts[i].name[0] &&
		    !heard_denial(heard, DENIAL_CALL, attempts[i].name))
			fail_msg("no record of %s", attempts[i].name);
	}
}

static void try_command(enum sandbox_level level, bool network, unsigned where, uid_t uid)
{
	struct supervised_plan plan;
	struct supervised_child child;
	struct heard *heard;

	supervised_plan_init(&plan, level, "/tmp/none");
	plan.plan.network = network;
	plan.plan.own_network &= !network;
	supervised_start(&plan.plan, uid, try_all, &where, &child);
	assert_int_equal(write(child.go, "", 1), 1);
	heard = supervised_finish(&child);
	assert_int_equal(heard->status, 0);
	check_records(heard, where);
	heard_free(heard);
}

static void a_command_is_refused_each_call_and_it_is_told(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		uid_t uid = i ? NOBODY : 0;

		try_command(SANDBOX_FULL, false, FULL, uid);
		try_command(SANDBOX_FULL, true, FULL_NET, uid);
		try_command(SANDBOX_LANDLOCK, false, BARE, uid);
		try_command(SANDBOX_LANDLOCK, true, BARE_NET, uid);
	}
}

/* ---- what is not there ---- */

static int try_absent(void *data)
{
	(void)data;
	CHECK(result(syscall(435 /* clone3 */, NULL, 0)) == -ENOSYS);
	CHECK(result(syscall(425 /* io_uring_setup */, 8, NULL)) == -ENOSYS);
	CHECK(result(syscall(426, 0, 0, 0, 0, NULL, 0)) == -ENOSYS);
	CHECK(result(syscall(427, 0, 0, NULL, 0)) == -ENOSYS);
	CHECK(result(syscall(470)) == -ENOSYS);
	CHECK(result(syscall(600)) == -ENOSYS);
	CHECK(result(syscall(0x40000000 - 1)) == -ENOSYS);
	CHECK(result(syscall(-1)) == -ENOSYS);
#ifdef __x86_64__
	CHECK(result(syscall(0x40000000 | SYS_getpid)) == -ENOSYS);
	CHECK(result(syscall(0x40000000 | SYS_ptrace, 0, 0, 0, 0)) == -ENOSYS);
	CHECK(result(syscall(0x40000000 | 521 /* x32 ptrace */, 0, 0, 0, 0)) == -ENOSYS);
#endif
	return 0;
}

static void newer_calls_and_x32_do_not_exist(void **state)
{
	(void)state;
	assert_int_equal(status_of(try_absent, NULL, 0, FILTER_BASE), 0);
	assert_int_equal(status_of(try_absent, NULL, NOBODY, FILTER_FILES), 0);
}

#ifdef __x86_64__
static int call_as_i386(void *data)
{
	long returned = 20; /* getpid */

	(void)data;
	signal(SIGSEGV, SIG_DFL); /* cmocka's handler would make an exit of it */
	__asm__ volatile("int $0x80" : "+a"(returned) : : "r8", "r9", "r10", "r11", "memory");
	return 0;
}

static void a_foreign_architecture_kills(void **state)
{
	int status = status_of(call_as_i386, NULL, 0, FILTER_BASE);

	(void)state;
	assert_true(WIFSIGNALED(status)); /* SIGSYS, or SIGSEGV where the kernel has no 32-bit calls */
}
#endif

/* ---- what the filters leave usable ---- */

static void *thread_body(void *data)
{
	*(int *)data = 1;
	return NULL;
}

/* What a file worker does all day. */
static int work_on_files(void *data)
{
	const char *folder = data;
	char text[8];
	pthread_t thread;
	int ran = 0, fd;

	CHECK(chdir(folder) == 0);
	CHECK(pthread_create(&thread, NULL, thread_body, &ran) == 0);
	CHECK(pthread_join(thread, NULL) == 0 && ran);
	CHECK((fd = open("a", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) >= 0);
	CHECK(write(fd, "hello", 5) == 5 && fsync(fd) == 0 && fchmod(fd, 0640) == 0);
	CHECK(fchown(fd, 0, 0) == 0 && futimens(fd, NULL) == 0);
	CHECK(rename("a", "b") == 0 && link("b", "c") == 0 && symlink("b", "d") == 0);
	CHECK(syscall(SYS_renameat2, AT_FDCWD, "b", AT_FDCWD, "c", 2 /* exchange */) == 0);
	CHECK(pread(fd, text, 5, 0) == 5 && mkdir("e", 0755) == 0 && rmdir("e") == 0);
	CHECK(raise(0) == 0 && syscall(SYS_personality, 0xffffffff) >= 0);
	CHECK(syscall(SYS_getrandom, text, 8, 0) == 8 && syscall(SYS_memfd_create, "m", 1) >= 0);
	return 0;
}

static void a_file_worker_can_work(void **state)
{
	char *folder = temp_make();

	(void)state;
	assert_int_equal(status_of(work_on_files, folder, 0, FILTER_FILES), 0);
	temp_remove(folder);
}

static int no_second_listener(void *data)
{
	struct sock_filter allow = { 0x06, 0, 0, SECCOMP_RET_ALLOW };
	struct sock_fprog program = { 1, &allow };

	(void)data;
	CHECK(result(syscall(SYS_seccomp, 1, 8, &program)) == -EBUSY);
	CHECK(result(syscall(SYS_seccomp, 1, 8 | HIGH, &program)) == -EBUSY);
	/* filters of a program's own go on top */
	CHECK(syscall(SYS_seccomp, 1, 0, &program) == 0);
	CHECK(result(syscall(SYS_unshare, 0)) == -EPERM);
	/* notifying without a listener does not get around ours either */
	allow.k = SECCOMP_RET_USER_NOTIF;
	CHECK(syscall(SYS_seccomp, 1, 0, &program) == 0);
	CHECK(result(syscall(SYS_unshare, 0)) == -ENOSYS);
	syscall(SYS_exit_group, 0); /* even this one, now */
	__builtin_trap();
}

static void a_command_cannot_listen_in_our_place(void **state)
{
	struct supervised_plan plan;
	struct heard *heard;

	(void)state;
	supervised_plan_init(&plan, SANDBOX_FULL, "/tmp/none");
	heard = supervised(&plan.plan, no_second_listener, NULL);
	assert_true(WIFSIGNALED(heard->status)); /* by the trap: nothing was let through */
	heard_free(heard);
}

static void all_filters_fit(void **state)
{
	(void)state;
	for (int i = 0; i < FILTER_COUNT; i++) {
		assert_true(filter_size((enum filter_name)i) > 5);
		assert_true(filter_size((enum filter_name)i) < 1500);
	}
	assert_int_equal(filter_size((enum filter_name)FILTER_COUNT), 0);
}

/* Real work under each filter. */
static void programs_work(void **state)
{
	static const char *const script =
		"set -e; exec 2>&1; export HOME=$PWD GIT_CONFIG_NOSYSTEM=1 TMPDIR=$PWD\n"
		"printf '#include <stdio.h>\\nint main(void){puts(\"compiled\");return 0;}' >a.c\n"
		"gcc -O1 -o a a.c && ./a\n"
		"git init -q r && cd r && git config user.email a@b && git config user.name n\n"
		"echo x >f && git add f && git commit -qm one && git checkout -qb two && git log --oneline\n"
		"git gc -q && cd .. && cp -a r r2 && rm -rf r2 && tar cf r.tar r && tar xf r.tar -C .\n"
		"cat >t.py <<'E'\n"
		"import socket, threading, subprocess, tempfile, multiprocessing\n"
		"s = socket.create_server(('127.0.0.1', 0))\n"
		"def serve():\n"
		"    c, _ = s.accept(); c.sendall(c.recv(10)); c.close()\n"
		"t = threading.Thread(target=serve); t.start()\n"
		"c = socket.create_connection(s.getsockname()); c.sendall(b'ping')\n"
		"assert c.recv(10) == b'ping'; t.join()\n"
		"a, b = socket.socketpair(); a.send(b'x'); assert b.recv(1) == b'x'\n"
		"u = socket.socket(socket.AF_UNIX); u.bind('sock'); u.listen()\n"
		"v = socket.socket(socket.AF_UNIX); v.connect('sock'); u.accept()\n"
		"assert subprocess.run(['true']).returncode == 0\n"
		"assert socket.getaddrinfo('localhost', 80)\n"
		"E\n"
		"/usr/bin/python3 t.py\n"
		"node -e 'const n=require(\"net\");const s=n.createServer(c=>c.end(\"hi\")).listen(0,"
		"\"127.0.0.1\",()=>n.connect(s.address().port,\"127.0.0.1\").on(\"data\",d=>"
		"{console.log(\"node \"+d);process.exit(0)}))'\n";
	static const char *const argv[] = { "bash", "-c", NULL, NULL };
	const char *words[4];

	(void)state;
	for (int i = 0; i < 4; i++) {
		char *folder = temp_make();
		struct supervised_plan plan;
		struct heard *heard;

		supervised_plan_init(&plan, i & 1 ? SANDBOX_FULL : SANDBOX_LANDLOCK, folder);
		plan.plan.network = i & 2;
		plan.plan.own_network &= !plan.plan.network;
		memcpy(words, argv, sizeof(argv));
		words[2] = script;
		heard = supervised_run(&plan.plan, folder, words);
		if (heard->status != 0)
			fail_msg("with filter %d: status %x", i, heard->status);
		for (size_t d = 0; d < heard->count; d++)
			fail_msg("a denial with filter %d: %s", i, heard->denials[d].what);
		heard_free(heard);
		temp_remove(folder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_worker_is_refused_each_call),
		cmocka_unit_test(a_command_is_refused_each_call_and_it_is_told),
		cmocka_unit_test(newer_calls_and_x32_do_not_exist),
#ifdef __x86_64__
		cmocka_unit_test(a_foreign_architecture_kills),
#endif
		cmocka_unit_test(a_file_worker_can_work),
		cmocka_unit_test(a_command_cannot_listen_in_our_place),
		cmocka_unit_test(all_filters_fit),
		cmocka_unit_test(programs_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
