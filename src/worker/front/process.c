/* SPDX-License-Identifier: Apache-2.0 */
/* A process that a worker is in. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/child.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/text.h"
#include "worker/front/client.h"
#include "worker/front/private.h"

enum {
	LAST_WORDS_MS = 300, /* a process whose descriptors are closed is ending */
};

/* ---- start ---- */

/* Its ends, and those that stay here. */
struct process_ends {
	int input, output, errors;
};

#define ENDS_INIT { -1, -1, -1 }

static void process_ends_release(struct process_ends *ends)
{
	if (ends->output != ends->input)
		fd_cleanup_close(&ends->output);
	fd_cleanup_close(&ends->input);
	fd_cleanup_close(&ends->errors);
}

static bool make_socket(struct process *process, struct process_ends *theirs)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	process->read_fd = process->write_fd = pair[0];
	theirs->input = theirs->output = pair[1];
	return true;
}

static bool make_pipes(struct process *process, struct process_ends *theirs)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) != 0)
		return false;
	theirs->input = to[0];
	process->write_fd = to[1];
	if (pipe2(from, O_CLOEXEC) != 0)
		return false;
	process->read_fd = from[0];
	theirs->output = from[1];
	return fcntl(process->write_fd, F_SETFL, O_NONBLOCK) == 0 &&
	       fcntl(process->read_fd, F_SETFL, O_NONBLOCK) == 0;
}

/* Its standard error is not read between two calls: whatever does not fit is lost, and the process
 * does not block. */
static bool make_errors(struct process *process, struct process_ends *theirs)
{
	int pair[2];

	if (pipe2(pair, O_CLOEXEC | O_NONBLOCK) != 0)
		return false;
	process->errors_fd = pair[0];
	theirs->errors = pair[1];
	return true;
}

static bool spawn_own(const struct process_start *start, const struct process_ends *theirs,
                      struct sandbox_child *ret, struct err *err)
{
	const int fds[] = { theirs->input, theirs->output, theirs->errors, start->recall };
	_cleanup_fd_ int program = start->program ? open(start->program, O_PATH | O_CLOEXEC) : -1;
	const struct sandbox_spawn spawn = { .plan = start->plan, .network = start->network,
		                             .program = program,
		                             .argv = start->argv, .envp = start->envp,
		                             .fds = fds, .fd_count = start->recall > 0 ? 4 : 3 };

	if (start->program && program < 0)
		return err_set_errno(err, errno, "%s cannot be started", start->program);
	return sandbox_spawn(&spawn, ret, err);
}

static bool spawn_with(const struct process_start *start, const posix_spawn_file_actions_t *files,
                       struct sandbox_child *ret, struct err *err)
{
	posix_spawnattr_t how;
	int failed;

	child_attributes(&how, POSIX_SPAWN_SETSIGMASK);
	failed = posix_spawnp(&ret->pid, start->argv[0], files, &how, (char *const *)start->argv,
	                      (char *const *)start->envp);
	posix_spawnattr_destroy(&how);
	if (failed)
		return err_set_errno(err, failed, "%s cannot be started", start->argv[0]);
	ret->pidfd = (int)syscall(SYS_pidfd_open, ret->pid, 0);
	return true;
}

static bool spawn_other(const struct process_start *start, const struct process_ends *theirs,
                        struct sandbox_child *ret, struct err *err)
{
	posix_spawn_file_actions_t files;
	bool ok;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, theirs->input, 0);
	posix_spawn_file_actions_adddup2(&files, theirs->output, 1);
	posix_spawn_file_actions_adddup2(&files, theirs->errors, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	ok = spawn_with(start, &files, ret, err);
	posix_spawn_file_actions_destroy(&files);
	return ok;
}

bool process_start(const struct process_start *start, struct process *ret, struct err *err)
{
	struct process process = PROCESS_INIT;
	struct process_ends theirs = ENDS_INIT;
	bool ok;

	if (!(start->own ? make_socket(&process, &theirs) : make_pipes(&process, &theirs)) ||
	    !make_errors(&process, &theirs))
		ok = err_set_errno(err, errno, "A worker cannot be started");
	else
		ok = start->own ? spawn_own(start, &theirs, &process.child, err) :
		                  spawn_other(start, &theirs, &process.child, err);
	process_ends_release(&theirs);
	process.ended = !ok;
	if (ok)
		*ret = process;
	else
		process_release(&process, 0);
	return ok;
}

/* ---- what it says ---- */

/* Keeps the last bytes. */
static void keep_errors(struct process *process, const char *bytes, size_t len)
{
	size_t room = sizeof(process->errors);
	size_t drop;

	if (len > room) {
		bytes += len - room;
		len = room;
	}
	drop = process->errors_len + len > room ? process->errors_len + len - room : 0;
	memmove(process->errors, process->errors + drop, process->errors_len - drop);
	process->errors_len -= drop;
	memcpy(process->errors + process->errors_len, bytes, len);
	process->errors_len += len;
}

void process_listen(struct process *process)
{
	char bytes[4096];
	ssize_t got;

	while (process->errors_fd >= 0 &&
	       (got = read(process->errors_fd, bytes, sizeof(bytes))) != 0) {
		if (got > 0)
			keep_errors(process, bytes, (size_t)got);
		else if (errno != EINTR)
			return;
	}
	fd_cleanup_close(&process->errors_fd);
	process->errors_fd = -1;
}

void process_say(struct span text, struct buf *out)
{
	struct utf8_char c;

	while (utf8_next(&text, &c)) {
		if (c.code == '\n')
			buf_str(out, " | ");
		else if (!c.bad && c.code >= ' ' && !(c.code >= 0x7f && c.code < 0xa0))
			buf_span(out, c.bytes);
		else if (c.code != '\r')
			buf_char(out, '?');
	}
}

static void say_errors(const struct process *process, struct buf *out)
{
	struct span text = span_trim(span_of(process->errors, process->errors_len));
	enum { SHOWN = 500 };

	if (text.len > SHOWN)
		text = span_skip(text, text.len - SHOWN);
	if (!text.len)
		return;
	buf_str(out, " It said: ");
	process_say(text, out);
}

/* ---- end ---- */

static bool wait_for_end(struct process *process, int timeout_ms)
{
	if (!process->ended)
		process->ended = sandbox_child_wait(&process->child, timeout_ms, &process->status);
	return process->ended;
}

void process_describe_end(struct process *process, struct buf *out)
{
	bool ended = wait_for_end(process, LAST_WORDS_MS);
	int status = process->status;

	process_listen(process);
	if (!ended)
		buf_str(out, "It was killed.");
	else if (WIFSIGNALED(status))
		buf_printf(out, "It was killed by SIG%s.", sigabbrev_np(WTERMSIG(status)));
	else
		buf_printf(out, "It ended with status %d.", WEXITSTATUS(status));
	say_errors(process, out);
}

void process_kill(struct process *process)
{
	if (!process->ended)
		sandbox_child_kill(&process->child);
}

void process_release(struct process *process, int grace_ms)
{
	if (process->write_fd != process->read_fd)
		fd_cleanup_close(&process->write_fd);
	fd_cleanup_close(&process->read_fd);
	fd_cleanup_close(&process->errors_fd);
	if (process->child.pid > 0 || process->child.pidfd >= 0) {
		wait_for_end(process, grace_ms);
		sandbox_child_release(&process->child);
	}
	*process = (struct process)PROCESS_INIT;
}
