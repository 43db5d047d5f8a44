/* SPDX-License-Identifier: Apache-2.0 */
/* What git's own files say, while a plan is made.  Their content is a stranger's, and the process
 * that makes plans has secrets: it does not open them.
 *
 * Mostly nothing of what they say matters, so a plan is made on an assumption (sandbox_options) and
 * the worker that is started inside it looks whether it holds (sandbox_plan_holds); it is confined
 * before its first instruction.  Where it does not hold, or nothing is assumed, a process is made
 * that opens, reads and takes apart, and hands back one value, a path or a list of words; whatever
 * it were made to do, it could do no more than what the file itself could do by saying that.  It is
 * a copy of this process that keeps no descriptor but its end of a socket, and whose seccomp filter
 * leaves it the calls that it makes: open for reading, fstat, readlink, read, write (to the socket:
 * there is nothing else), close, exit.  It is started by a plan's first question and ends with the
 * plan.
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
#include "data/git_config.h"
#include "sandbox/plan/git_values.h"
#include "sandbox/plan/private.h"

/* A config is a few hundred bytes, and some for each branch.  Includes come one after the other. */
enum { CONFIG_BYTES = 256 << 10, ANSWER_BYTES = 32 << 10, QUEUE_BYTES = 32 << 10,
       CONFIG_FILES = 64 };
/* What all the questions of a plan may cost: words and look-ups, and bytes of configurations. */
enum { WORK_MAX = 4096, TOTAL_BYTES = 1 << 20 };

/* Where the words of a config lead. */
struct config_scope {
	const char *home;                /* borrowed; NULL: none */
	const struct sandbox_plan *plan; /* its roots, and what is given */
};

/* All the memory that reading takes. */
struct room {
	char file[CONFIG_BYTES];
	char parse[CONFIG_BYTES + GIT_CONFIG_ROOM];
	char answer[ANSWER_BYTES];
	size_t answer_len;
	char message[1 + ANSWER_BYTES];  /* the answer as it is sent */
	char queue[QUEUE_BYTES];         /* paths of configurations, each with its NUL */
	size_t queue_len;
	unsigned files;
	size_t work, bytes;              /* of all questions: a plan's are asked in one order */
	bool full;                       /* no more of this answer */
	char path[LIMIT_PATH_BYTES], real[LIMIT_PATH_BYTES];
	const char *current;             /* in the queue: what is being read */
	const struct git_value *row;
	struct config_scope scope;
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
static struct span read_head(const char *path, char *text, size_t size)
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
static struct span head_first_line(struct span text)
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

enum { LINK_BYTES = 32 };

/* The symlink that leads to an open descriptor. */
static void link_of(int fd, char link[static LINK_BYTES])
{
	char digits[12];
	size_t at = strlen("/proc/self/fd/"), n = 0;

	memcpy(link, "/proc/self/fd/", at);
	do
		digits[n++] = (char)('0' + fd % 10);
	while ((fd /= 10) > 0);
	while (n)
		link[at++] = digits[--n];
	link[at] = '\0';
}

/* What the kernel calls an open descriptor; "" if it does not say. */
static void real_name_of(int fd, char real[static LIMIT_PATH_BYTES])
{
	char link[LINK_BYTES];
	long len;

	link_of(fd, link);
	len = syscall(SYS_readlinkat, AT_FDCWD, link, real, (size_t)LIMIT_PATH_BYTES - 1);
	real[len > 0 ? len : 0] = '\0';
}

/* Opens a regular file, following links.  Other kinds are not opened: that may make a device act.
 * -1 with errno. */
static int room_open_file(struct room *room, const char *path)
{
	int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC), file = -1;
	char link[LINK_BYTES];
	struct stat st;

	if (fd < 0)
		return -1;
	real_name_of(fd, room->real);
	link_of(fd, link);
	errno = EACCES;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && room->real[0] == '/' &&
	    !location_within(room->real, "/proc") && !location_within(room->real, "/sys"))
		file = openat(AT_FDCWD, link, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	close(fd);
	return file;
}

static bool in_roots(const struct sandbox_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->root_count; i++)
		if (location_within(path, plan->roots[i]))
			return true;
	for (size_t i = 0; i < plan->given_count; i++)
		if (location_within(path, plan->given[i]))
			return true;
	return false;
}

static void answer_put_text(struct room *room, const char *text, size_t len)
{
	if (len > sizeof(room->answer) - 4 - room->answer_len)
		return;
	memcpy(room->answer + room->answer_len, text, len);
	room->answer_len += len;
}

/* The answer ends here, with "!". */
static void give_up_reading(struct room *room)
{
	if (!room->full)
		answer_put_text(room, "!\n", 2);
	room->full = true;
}

/* Whether there may be one more word or look-up: what a stranger's configuration costs has an
 * end. */
static bool may_work(struct room *room)
{
	if (room->work >= WORK_MAX)
		give_up_reading(room);
	else
		room->work++;
	return !room->full;
}

/* Whether the absolute path in the room is in the roots, or may lead there.  Cuts off what is
 * missing. */
static bool leads_within(struct room *room, char *path)
{
	while (path[0] && may_work(room)) {
		int fd = openat(AT_FDCWD, path, O_PATH | O_CLOEXEC);

		if (fd >= 0) {
			real_name_of(fd, room->real);
			close(fd);
			return in_roots(room->scope.plan, room->real);
		}
		*strrchr(path, '/') = '\0';
	}
	return false;
}

static bool room_path_is_within(struct room *room)
{
	char path[LIMIT_PATH_BYTES];

	if (in_roots(room->scope.plan, room->path) || strstr(room->path, "/../"))
		return true;
	memcpy(path, room->path, sizeof(path));
	return leads_within(room, path);
}

/* Once each; "!" if there is no more room. */
static void answer_put_line(struct room *room, enum git_word kind, struct span word)
{
	size_t start = room->answer_len, number = git_value_number(room->row);
	const char head[] = { (char)kind, (char)('0' + number / 10), (char)('0' + number % 10),
	                      ' ' };
	size_t len = sizeof(head) + word.len + 1;

	if (len > sizeof(room->answer) - 8 - start) { /* "!" has room behind it */
		give_up_reading(room);
		return;
	}
	answer_put_text(room, head, sizeof(head));
	answer_put_text(room, word.data, word.len);
	answer_put_text(room, "\n", 1);
	if (start && memmem(room->answer, start, room->answer + start, len))
		room->answer_len = start;
}

/* `word` as git expands it, in room->path; false if it is longer than a path or another user's.
 * Relative ones begin at the folder of `base`, or stay so if that is NULL. */
static bool room_expand(struct room *room, struct span word, const char *base)
{
	struct span before = SPAN("");

	if (span_starts(word, SPAN("~/")) && room->scope.home) {
		before = span_str(room->scope.home);
		word = span_skip(word, 1);
	} else if (word.data[0] != '/' && base) {
		const char *slash = strrchr(base, '/');

		before = span_of(base, slash ? (size_t)(slash - base) + 1 : 0);
	}
	if (word.data[0] == '~' || before.len + word.len >= sizeof(room->path) ||
	    (word.data[0] == '/' && before.len == 0 && word.len == 1))
		return false;
	memcpy(room->path, before.data ? before.data : "", before.len);
	memcpy(room->path + before.len, word.data, word.len);
	room->path[before.len + word.len] = '\0';
	return true;
}

/* Each file once. */
static void put_file(struct room *room, const char *path)
{
	size_t len = strlen(path) + 1;

	for (size_t at = 0; at < room->queue_len; at += strlen(room->queue + at) + 1)
		if (strcmp(room->queue + at, path) == 0)
			return;
	if (len > sizeof(room->queue) - room->queue_len || room->files == CONFIG_FILES) {
		answer_put_text(room, "!\n", 2);
		return;
	}
	memcpy(room->queue + room->queue_len, path, len);
	room->queue_len += len;
	room->files++;
}

static void answer_put_word(void *data, enum git_word kind, struct span word)
{
	struct room *room = data;
	bool include = kind == GIT_WORD_INCLUDE;

	if (room->full || !may_work(room))
		return;
	if (kind == GIT_WORD_UNKNOWN) {
		answer_put_line(room, kind, word);
		return;
	}
	if (!room_expand(room, word, include ? room->current : NULL))
		return;
	if (include && room->path[0] == '/')
		put_file(room, room->path);
	if (room->path[0] != '/' || kind == GIT_WORD_HOOKS || room_path_is_within(room))
		answer_put_line(room, kind, span_str(room->path));
}

static bool take_config_item(void *data, const struct git_config_item *item)
{
	struct room *room = data;

	room->row = git_value_find(item);
	if (room->row)
		git_value_words(room->row, git_value_text(room->row, item), answer_put_word, room);
	return !room->full;
}

/* What the file at `room->current` names. */
static void read_config_file(struct room *room, bool optional)
{
	int fd = room_open_file(room, room->current);
	ssize_t len = fd < 0 ? -1 : fd_read_full(fd, room->file, sizeof(room->file));
	bool missing = fd < 0 && errno == ENOENT;

	if (fd >= 0)
		close(fd);
	if (len < 0 && missing && optional)
		return;
	room->bytes += len > 0 ? (size_t)len : 0;
	if (room->bytes > TOTAL_BYTES)
		give_up_reading(room);
	else if ((len < 0 || len == sizeof(room->file) ||
	          !git_config_read_in(span_of(room->file, (size_t)len), room->parse,
	                              take_config_item,
	                              room)) && !room->full)
		answer_put_text(room, "!\n", 2);
}

/* A configuration and what it includes, whatever the conditions: they may come true. */
static struct span named_in(const char *path, struct room *room)
{
	room->answer_len = room->queue_len = room->files = 0;
	room->full = false;
	put_file(room, path);
	for (size_t at = 0; at < room->queue_len && !room->full;
	     at += strlen(room->queue + at) + 1) {
		room->current = room->queue + at;
		read_config_file(room, at > 0);
	}
	return span_of(room->answer, room->answer_len);
}

static bool take_worktree(void *data, const struct git_config_item *item)
{
	struct room *room = data;

	if (!span_eq(item->section, SPAN("core")) || item->subsection.len ||
	    !span_eq(item->name, SPAN("worktree")) || item->value.len >= LIMIT_PATH_BYTES)
		return true;
	room->answer_len = 0;
	answer_put_text(room, item->value.data, item->value.len);
	return true;
}

static struct span worktree_in(const char *path, struct room *room)
{
	room->answer_len = 0;
	git_config_read_in(read_head(path, room->file, sizeof(room->file)), room->parse,
	                   take_worktree,
	                   room);
	return span_of(room->answer, room->answer_len);
}

/* The value is in the room. */
static struct span read_pointer(enum sandbox_pointer_kind kind, const char *path, struct room *room)
{
	if (kind == SANDBOX_POINTER_CONFIG)
		return named_in(path, room);
	if (kind == SANDBOX_POINTER_WORKTREE)
		return worktree_in(path, room);
	return head_first_line(read_head(path, room->file, LIMIT_PATH_BYTES));
}

/* The next line that says something that a plan rests on. */
static struct span next_known_line(struct span *text)
{
	while (text->len) {
		const char *end = memchr(text->data, '\n', text->len);
		struct span line = span_head(*text, end ? (size_t)(end - text->data) : text->len);

		*text = span_skip(*text, line.len + (end ? 1 : 0));
		if (line.len && line.data[0] != GIT_WORD_UNKNOWN)
			return line;
	}
	return span_of("", 0);
}

static bool pointer_holds(const struct sandbox_pointer *pointer, struct room *room)
{
	struct span is = read_pointer(pointer->kind, pointer->path, room);
	struct span said = span_str(pointer->value ? pointer->value : "");

	if (pointer->kind != SANDBOX_POINTER_CONFIG)
		return span_eq(is, said);
	while (is.len || said.len)
		if (!span_eq(next_known_line(&is), next_known_line(&said)))
			return false;
	return true;
}

bool sandbox_plan_holds(const struct sandbox_plan *plan)
{
	_cleanup_free_ struct room *room = mem_alloc(1, sizeof(*room));

	room->scope = (struct config_scope){ getenv("HOME"), plan };
	for (size_t i = 0; i < plan->pointer_count; i++)
		if (!pointer_holds(&plan->pointers[i], room))
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
		ALLOW_CALL(SYS_readlinkat),
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

static void __attribute__((noreturn)) exit_reader(int status)
{
	for (;;)
		syscall(SYS_exit_group, status);
}

static void answer_question(int socket, const char *question, struct room *room)
{
	char *message = room->message;
	struct span value = read_pointer((enum sandbox_pointer_kind)question[0], question + 1,
	                                 room);

	message[0] = value.len > 0;
	memcpy(message + 1, value.data, value.len);
	if (write(socket, message, 1 + value.len) < 0)
		exit_reader(1);
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
static void __attribute__((noreturn)) serve_questions(int socket, struct room *room)
{
	char question[1 + LIMIT_PATH_BYTES];

	if (dup2(socket, 0) != 0 || !close_others())
		exit_reader(1);
	confine();
	while (read(0, question, sizeof(question)) > 0)
		answer_question(0, question, room);
	exit_reader(0);
}

/* ---- this process --------------------------------------------------------------------- */

static bool reader_failed(struct plan_reader *reader, const char *what, int error)
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

static struct room *make_pointer_room(const struct plan_draft *draft)
{
	struct room *room = mem_alloc(1, sizeof(*room));

	room->scope = (struct config_scope){ plan_home_text(draft), draft->plan };
	return room;
}

static bool reader_start(struct plan_draft *draft)
{
	struct plan_reader *reader = &draft->reader;
	_cleanup_free_ struct room *room = NULL;
	int pair[2];

	if (reader->failed || reader->pid > 0)
		return !reader->failed;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return reader_failed(reader, "a socket", errno);
	room = make_pointer_room(draft); /* the child's; it cannot get any */
	reader->pid = clone_reader();
	if (reader->pid == 0)
		serve_questions(pair[1], room);
	if (reader->pid < 0)
		reader_failed(reader, "a process", errno);
	close(pair[1]);
	reader->socket = pair[0];
	return !reader->failed;
}

static ssize_t reader_ask(int socket, const char *question, size_t len, char *message, size_t size)
{
	ssize_t got = send(socket, question, len, MSG_NOSIGNAL);

	while (got >= 0 && (got = recv(socket, message, size, 0)) < 0 && errno == EINTR)
		got = 0;
	return got;
}

/* NULL also when it failed. */
static char *reader_look_up(struct plan_draft *draft, enum sandbox_pointer_kind kind,
                            const char *path)
{
	struct plan_reader *reader = &draft->reader;
	_cleanup_free_ char *message = mem_alloc(1, 1 + ANSWER_BYTES + 1);
	char question[1 + LIMIT_PATH_BYTES];
	size_t size = strlen(path) + 1;
	ssize_t got;

	if (size > LIMIT_PATH_BYTES || !reader_start(draft))
		return NULL;
	question[0] = (char)kind;
	memcpy(question + 1, path, size);
	got = reader_ask(reader->socket, question, 1 + size, message, 1 + ANSWER_BYTES + 1);
	if (got <= 0)
		reader_failed(reader, "the process that reads them ended", 0);
	else if (got > 1 + ANSWER_BYTES || memchr(message + 1, '\0', (size_t)got - 1))
		reader_failed(reader, "the process that reads them answered nonsense", 0);
	else if (message[0] && got > 1)
		return mem_dup(message + 1, (size_t)got - 1);
	return NULL;
}

static const struct sandbox_pointer *find_known_pointer(const struct sandbox_pointer *pointers,
                                                        size_t count,
                                                        enum sandbox_pointer_kind kind,
                                                        const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (pointers[i].kind == kind && strcmp(pointers[i].path, path) == 0)
			return &pointers[i];
	return NULL;
}

static char *copy_pointer_value(const struct sandbox_pointer *pointer)
{
	return pointer && pointer->value ? mem_strdup(pointer->value) : NULL;
}

char *plan_read(struct plan_draft *draft, enum sandbox_pointer_kind kind, const char *path)
{
	struct plan_reader *reader = &draft->reader;
	const struct sandbox_options *options = draft->options;
	const struct sandbox_pointer *before = find_known_pointer(reader->pointers, reader->count,
	                                                          kind, path);
	char *value;

	if (before) /* several worktrees have one configuration */
		return copy_pointer_value(before);
	if (options->assume)
		value = copy_pointer_value(find_known_pointer(options->known, options->known_count,
		                                              kind, path));
	else
		value = reader_look_up(draft, kind, path);
	if (reader->count == reader->cap)
		reader->pointers = mem_grow(reader->pointers, &reader->cap, reader->count + 1,
		                            sizeof(*reader->pointers));
	reader->pointers[reader->count++] = (struct sandbox_pointer){
		kind, mem_strdup(path), value ? mem_strdup(value) : NULL,
	};
	return value;
}

const char *plan_home_text(const struct plan_draft *draft)
{
	const char *home = draft->options->home ? draft->options->home : getenv("HOME");

	return home && home[0] == '/' ? home : NULL;
}

char *plan_read_value(struct plan_draft *draft, const struct git_value *row, struct span text)
{
	_cleanup_free_ struct room *room = make_pointer_room(draft);

	room->row = row;
	room->current = "/";
	git_value_words(row, text, answer_put_word, room);
	return room->answer_len ? mem_dup(room->answer, room->answer_len) : NULL;
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
