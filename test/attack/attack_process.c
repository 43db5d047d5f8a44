/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on other processes; and `canary`, the process outside that they are about. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attack.h"

/* What the canary keeps in its memory. */
static char secret[64] = "CANARY-IN-MEMORY";

static bool send_signal(char **arguments) /* pid, signal */
{
	return kill((pid_t)number(arguments[0]), (int)number(arguments[1])) == 0 || refused("kill");
}

static bool send_by_pidfd(char **arguments)
{
	long fd = syscall(SYS_pidfd_open, (pid_t)number(arguments[0]), 0);

	return (fd >= 0 && syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0) ||
	       refused("pidfd_send_signal");
}

/* SIGIO goes to whom fcntl names. */
static bool send_by_owner(char **arguments)
{
	int ends[2];

	if (pipe(ends) != 0 || fcntl(ends[0], F_SETOWN, (int)number(arguments[0])) != 0 ||
	    fcntl(ends[0], F_SETSIG, SIGKILL) != 0 || fcntl(ends[0], F_SETFL, O_ASYNC) != 0)
		return refused("F_SETOWN");
	return write(ends[1], "x", 1) == 1;
}

static bool trace(char **arguments) /* pid, address */
{
	pid_t pid = (pid_t)number(arguments[0]);
	union {
		char text[sizeof(long)];
		long word;
	} attack = { "ATTACK!" };
	int status;
	bool done;

	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0)
		return refused("PTRACE_ATTACH");
	waitpid(pid, &status, __WALL);
	done = ptrace(PTRACE_POKEDATA, pid, (void *)(uintptr_t)strtoul(arguments[1], NULL, 0),
	              attack.word) == 0;
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return done || refused("PTRACE_POKEDATA");
}

static bool write_memory(char **arguments)
{
	struct iovec own = { (void *)(uintptr_t)"ATTACK", 6 };
	struct iovec other = { (void *)(uintptr_t)strtoul(arguments[1], NULL, 0), 6 };

	return process_vm_writev((pid_t)number(arguments[0]), &own, 1, &other, 1, 0) == 6 ||
	       refused("process_vm_writev");
}

static bool read_memory(char **arguments)
{
	char text[sizeof(secret)] = "";
	struct iovec own = { text, sizeof(text) - 1 };
	struct iovec other = { (void *)(uintptr_t)strtoul(arguments[1], NULL, 0), sizeof(text) - 1 };

	if (process_vm_readv((pid_t)number(arguments[0]), &own, 1, &other, 1, 0) <= 0)
		return refused("process_vm_readv");
	printf("%s\n", text);
	return true;
}

static bool write_mem_file(char **arguments)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/mem", arguments[0]);
	fd = open(path, O_RDWR);
	return (fd >= 0 && pwrite(fd, "ATTACK", 6, (off_t)strtoul(arguments[1], NULL, 0)) == 6) ||
	       refused(path);
}

static bool read_mem_file(char **arguments)
{
	char path[64], text[sizeof(secret)] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/mem", arguments[0]);
	fd = open(path, O_RDONLY);
	if (fd < 0 || pread(fd, text, sizeof(text) - 1, (off_t)strtoul(arguments[1], NULL, 0)) <= 0)
		return refused(path);
	printf("%s\n", text);
	return true;
}

/* Any readable memory of a process: the first writable mapping. */
static bool read_any_memory(char **arguments)
{
	char path[64], line[4096];
	unsigned long start = 0, end;
	char mode[8];
	FILE *maps;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/maps", arguments[0]);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3 && mode[0] == 'r')
			break;
	}
	snprintf(path, sizeof(path), "/proc/%s/mem", arguments[0]);
	fd = maps ? open(path, O_RDONLY) : -1;
	return (fd >= 0 && pread(fd, line, 16, (off_t)start) == 16) || refused(path);
}

static bool take_descriptor(char **arguments) /* pid, descriptor */
{
	long pidfd = syscall(SYS_pidfd_open, (pid_t)number(arguments[0]), 0);
	long fd = pidfd < 0 ? -1 : syscall(SYS_pidfd_getfd, pidfd, number(arguments[1]), 0);

	return fd >= 0 ? deface((int)fd) : refused("pidfd_getfd");
}

static bool open_descriptor(char **arguments)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%s/fd/%s", arguments[0], arguments[1]);
	return deface(open(path, O_WRONLY | O_TRUNC));
}

static bool limit(char **arguments)
{
	const struct rlimit none = { 0, 0 };

	return prlimit((pid_t)number(arguments[0]), RLIMIT_CORE, &none, NULL) == 0 ||
	       refused("prlimit");
}

static bool renice(char **arguments)
{
	return setpriority(PRIO_PROCESS, (id_t)number(arguments[0]), 19) == 0 ||
	       refused("setpriority");
}

static bool idle(char **arguments)
{
	const struct sched_param none = { 0 };

	return sched_setscheduler((pid_t)number(arguments[0]), SCHED_IDLE, &none) == 0 ||
	       refused("sched_setscheduler");
}

static bool make_killable(char **arguments)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/oom_score_adj", arguments[0]);
	fd = open(path, O_WRONLY);
	return (fd >= 0 && write(fd, "900", 3) == 3) || refused(path);
}

static int wait_for_the_end(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	return 0;
}

/* They share their memory, as after vfork: a copy of it for each would take most of the time. */
static bool fork_many(char **arguments) /* how many */
{
	enum { STACK = 4096 };
	const size_t wanted = (size_t)number(arguments[0]);
	char *stacks = mmap(NULL, wanted * STACK, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	size_t made = 0;

	if (stacks == MAP_FAILED)
		return refused("mmap");
	while (made < wanted && clone(wait_for_the_end, stacks + (made + 1) * STACK,
	                              CLONE_VM | SIGCHLD, NULL) >= 0)
		made++;
	if (made == wanted)
		usleep(500000); /* a limit may be looked at now and then */
	printf("%zu processes: %s\n", made, made < wanted ? strerror(errno) : "no limit");
	return made == wanted;
}

static bool use_memory(char **arguments) /* MiB */
{
	size_t size = (size_t)number(arguments[0]) << 20;
	volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
	                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return refused("mmap");
	for (size_t at = 0; at < size; at += 4096)
		memory[at] = 1;
	printf("used\n");
	return true;
}

/* Forks twice, a session of its own, and makes a file some time later. */
static bool outlive(char **arguments) /* file, milliseconds */
{
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			for (int fd = 0; fd < 64; fd++)
				close(fd);
			signal(SIGTERM, SIG_IGN);
			signal(SIGHUP, SIG_IGN);
			usleep((useconds_t)number(arguments[1]) * 1000);
			close(open(arguments[0], O_WRONLY | O_CREAT, 0666));
		}
		_exit(0);
	}
	return true;
}

static bool share_memory(char **arguments) /* id */
{
	char *memory = shmat((int)number(arguments[0]), NULL, 0);

	if (memory == (void *)-1)
		return refused("shmat");
	memcpy(memory, "ATTACK", 6);
	return true;
}

/* A copy of this program in memory, executed, does what is forbidden here. */
static bool execute_memory(char **arguments)
{
	int memory = memfd_create("attack", 0), self = open("/proc/self/exe", O_RDONLY);
	char *const argv[] = { (char *)(uintptr_t)"attack", (char *)(uintptr_t)"overwrite",
		               arguments[0], NULL };
	char *const envp[] = { NULL };
	char bytes[65536];
	ssize_t n;

	while (memory >= 0 && self >= 0 && (n = read(self, bytes, sizeof(bytes))) > 0)
		if (write(memory, bytes, (size_t)n) != n)
			return refused("memfd");
	fexecve(memory, argv, envp);
	return refused("fexecve");
}

/* ---- the process outside ---- */

/* Prints its address, a System V segment and a descriptor on `path`; shows what they hold for each
 * line that it reads. */
static bool canary(char **path)
{
	int fd = open(path[0], O_RDWR), id = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
	char *memory = shmat(id, NULL, 0), line[16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 1);
	memcpy(memory, secret, sizeof(secret));
	shmctl(id, IPC_RMID, NULL); /* gone when the last has left */
	printf("%p %d %d\n", (void *)secret, id, fd);
	while (fgets(line, sizeof(line), stdin))
		printf("%.40s %.40s\n", secret, memory);
	return true;
}

const struct attack process_attacks[] = {
	{ "kill", 2, send_signal },
	{ "kill-by-pidfd", 1, send_by_pidfd },
	{ "kill-by-owner", 1, send_by_owner },
	{ "ptrace", 2, trace },
	{ "vm-write", 2, write_memory },
	{ "vm-read", 2, read_memory },
	{ "mem-write", 2, write_mem_file },
	{ "mem-read", 2, read_mem_file },
	{ "mem-any", 1, read_any_memory },
	{ "pidfd-getfd", 2, take_descriptor },
	{ "proc-fd", 2, open_descriptor },
	{ "prlimit", 1, limit },
	{ "renice", 1, renice },
	{ "sched", 1, idle },
	{ "oom", 1, make_killable },
	{ "fork", 1, fork_many },
	{ "memory", 1, use_memory },
	{ "outlive", 2, outlive },
	{ "shm", 1, share_memory },
	{ "memfd-exec", 1, execute_memory },
	{ "canary", 1, canary },
	{ NULL, 0, NULL },
};
