/* SPDX-License-Identifier: Apache-2.0 */
/* What git's own files say, while a plan is made.  Their content is a stranger's, and the process
 * that makes plans has secrets: it does not open them.
 *
 * Mostly nothing of what they say matters, so a plan is made on an assumption (sandbox_options) and
 * the worker that is started inside it looks whether it holds (sandbox_plan_holds); it is confined
 * before its first instruction.  Where it does not hold, or nothing is assumed, a process is made
 * that opens, reads and takes apart, and hands back one value, which is a path at most; whatever it
 * were made to do, it could do no more than what the file itself could do by saying that.  It is a
 * copy of this process that keeps no descriptor but its end of a socket, and whose seccomp filter
 * leaves it the calls that it makes: open for reading, fstat, read, write (to the socket: there is
 * nothing else), close, exit.  It is started by a plan's first question and ends with the plan.
 *
 *     question   one byte of enum sandbox_pointer_kind, the path, NUL
 *     answer     one byte, 1 if there is a value, and the value
 *
 * Each is one message (SOCK_SEQPACKET).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "sandbox/plan_private.h"

/* A config is a few hundred bytes, and some for each branch. */
enum { CONFIG_BYTES = 32768 };

/* Of a config: what the value is called. */
static const char *const names[SANDBOX_POINTER_KINDS] = {
	[SANDBOX_POINTER_HOOKS] = "hookspath",
	[SANDBOX_POINTER_WORKTREE] = "worktree",
};

#if defined(__x86_64__)
#define MACHINE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE AUDIT_ARCH_AARCH64
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* ---- reading: system calls alone -------------------------------------------------------- */

/* The first bytes of a regular file that is no symlink; the empty span if there is none. */
static struct span content(const char *path, char *text, size_t size)
{
	int fd = openat(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	ssize_t len = -1;

	if (fd < 0)
		return span_of("", 0);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		len = fd_read_full(fd, text, size);
	close(fd);
	return span_of(text, len > 0 ? (size_t)len : 0);
}

/* The first line, without its end; none that is as long as a path may not be. */
static struct span first_line(struct span text)
{
	size_t len = 0;

	while (len < text.len && text.data[len] != '\n' && text.data[len] != '\0')
		len++;
	if (len >= LIMIT_PATH_BYTES)
		return span_of("", 0);
	while (len && text.data[len - 1] == '\r')
		len--;
	return span_head(text, len);
}

/* The value of "NAME = PATH" in a config, whatever its section.  Enough for what git itself writes;
 * not what is quoted or included. */
static struct span value_of(struct span text, struct span name)
{
	while (text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;
		struct span value = span_trim(span_head(text, len));

		text = span_skip(text, end ? len + 1 : len);
		if (value.len <= name.len || strncasecmp(value.data, name.data, name.len) != 0)
			continue;
		value = span_trim(span_skip(value, name.len));
		if (!span_starts(value, SPAN("=")))
			continue;
		value = first_line(span_trim(span_skip(value, 1)));
		if (value.len)
			return value;
	}
	return span_of("", 0);
}

/* `room` has CONFIG_BYTES; the value is in it. */
static struct span read_pointer(enum sandbox_pointer_kind kind, const char *path, char *room)
{
	const char *name = names[kind];
	struct span text = content(path, room, name ? CONFIG_BYTES : LIMIT_PATH_BYTES);

	return name ? value_of(text, span_str(name)) : first_line(text);
}

static bool holds(const struct sandbox_pointer *pointer, char *room)
{
	struct span value = read_pointer(pointer->kind, pointer->path, room);

	return span_eq(value, span_str(pointer->value ? pointer->value : ""));
}

bool sandbox_plan_holds(const struct sandbox_plan *plan)
{
	_cleanup_free_ char *room = mem_alloc(CONFIG_BYTES, 1);

	for (size_t i = 0; i < plan->pointer_count; i++)
		if (!holds(&plan->pointers[i], room))
			return false;
	return true;
}

/* ---- the reader: system calls alone, it is the child of a process with threads ---------- */

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW_CALL(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define FOR_WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static void confine(void)
{
	/* All that is not allowed ends it, x32's calls too: they have other numbers. */
	static const struct sock_filter code[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		ALLOW_CALL(SYS_read),
		ALLOW_CALL(SYS_write),
		ALLOW_CALL(SYS_close),
		ALLOW_CALL(SYS_fstat),
		ALLOW_CALL(SYS_newfstatat),
		ALLOW_CALL(SYS_exit_group),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(args[2]), /* an int: its low half */
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, FOR_WRITING, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_LEN(code), (struct sock_filter *)(uintptr_t)code };

	prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL);
	syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0UL, &program);
}

static void __attribute__((noreturn)) end(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static void answer(int socket, const char *question, char *room)
{
	char message[1 + LIMIT_PATH_BYTES];
	struct span value = read_pointer((enum sandbox_pointer_kind)question[0], question + 1, room);

	message[0] = value.len > 0;
	memcpy(message + 1, value.data, value.len);
	if (write(socket, message, 1 + value.len) < 0)
		end(1);
}

/* All but the first. */
static bool close_others(void)
{
	struct rlimit files = { 0 };

	if (syscall(SYS_close_range, 1U, ~0U, 0U) == 0)
		return true;
	/* Before Linux 5.9. */
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return false;
	for (unsigned fd = 1; fd < files.rlim_cur && fd < 1u << 20; fd++)
		close((int)fd);
	return true;
}

/* Where the kernel has no filters it goes on without: a plan of another level than paths will come
 * to nothing there anyway. */
static void __attribute__((noreturn)) serve(int socket, char *room)
{
	char question[1 + LIMIT_PATH_BYTES];

	if (dup2(socket, 0) != 0 || !close_others())
		end(1);
	confine();
	while (read(0, question, sizeof(question)) > 0)
		answer(0, question, room);
	end(0);
}

/* ---- this process --------------------------------------------------------------------- */

static bool failed(struct plan_reader *reader, const char *what, int error)
{
	reader->failed = true;
	err_set(&reader->err, ERR_DENIED_BY_SANDBOX, "git's files cannot be looked into: %s%s%s.",
	        what, error ? ": " : "", error ? strerror(error) : "");
	reader->err.sys_errno = error;
	return false;
}

/* Like fork, without a signal to the parent at its end; signals for its terminal's group are not
 * for the child. */
static pid_t clone_reader(void)
{
	sigset_t all, before;
	pid_t pid;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid = (pid_t)syscall(SYS_clone, 0UL, NULL, NULL, NULL, NULL);
	error = errno;
	if (pid != 0)
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	return pid;
}

static bool start(struct plan_reader *reader)
{
	_cleanup_free_ char *room = NULL;
	int pair[2];

	if (reader->failed || reader->pid > 0)
		return !reader->failed;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return failed(reader, "a socket", errno);
	room = mem_alloc(CONFIG_BYTES, 1); /* the child's; it cannot get any */
	reader->pid = clone_reader();
	if (reader->pid == 0)
		serve(pair[1], room);
	if (reader->pid < 0)
		failed(reader, "a process", errno);
	close(pair[1]);
	reader->socket = pair[0];
	return !reader->failed;
}

static ssize_t ask(int socket, const char *question, size_t len, char *message, size_t size)
{
	ssize_t got = send(socket, question, len, MSG_NOSIGNAL);

	while (got >= 0 && (got = recv(socket, message, size, 0)) < 0 && errno == EINTR)
		got = 0;
	return got;
}

/* NULL also when it failed. */
static char *look_up(struct plan_reader *reader, enum sandbox_pointer_kind kind, const char *path)
{
	char question[1 + LIMIT_PATH_BYTES], message[1 + LIMIT_PATH_BYTES + 1];
	size_t size = strlen(path) + 1;
	ssize_t got;

	if (size > LIMIT_PATH_BYTES || !start(reader))
		return NULL;
	question[0] = (char)kind;
	memcpy(question + 1, path, size);
	got = ask(reader->socket, question, 1 + size, message, sizeof(message));
	if (got <= 0)
		failed(reader, "the process that reads them ended", 0);
	else if (got > 1 + LIMIT_PATH_BYTES || memchr(message + 1, '\0', (size_t)got - 1))
		failed(reader, "the process that reads them answered nonsense", 0);
	else if (message[0] && got > 1)
		return mem_dup(message + 1, (size_t)got - 1);
	return NULL;
}

static char *known(const struct sandbox_options *options, enum sandbox_pointer_kind kind,
                   const char *path)
{
	for (size_t i = 0; i < options->known_count; i++) {
		const struct sandbox_pointer *pointer = &options->known[i];

		if (pointer->kind == kind && strcmp(pointer->path, path) == 0)
			return pointer->value ? mem_strdup(pointer->value) : NULL;
	}
	return NULL;
}

char *plan_read(struct draft *draft, enum sandbox_pointer_kind kind, const char *path)
{
	struct plan_reader *reader = &draft->reader;
	char *value = draft->options->assume ? known(draft->options, kind, path) :
	                                       look_up(reader, kind, path);

	if (reader->count == reader->cap)
		reader->pointers = mem_grow(reader->pointers, &reader->cap, reader->count + 1,
		                            sizeof(*reader->pointers));
	reader->pointers[reader->count++] = (struct sandbox_pointer){
		kind, mem_strdup(path), value ? mem_strdup(value) : NULL,
	};
	return value;
}

void sandbox_pointers_free(struct sandbox_pointer *pointers, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(pointers[i].path);
		free(pointers[i].value);
	}
	free(pointers);
}

void plan_reader_release(struct plan_reader *reader)
{
	if (reader->pid > 0) {
		close(reader->socket); /* which ends it */
		while (waitpid(reader->pid, NULL, __WALL) < 0 && errno == EINTR)
			;
	}
	sandbox_pointers_free(reader->pointers, reader->count);
	*reader = (struct plan_reader){ 0 };
}
