/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of --runner: lines in, lines out, and an end in three steps. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "a2a/serve/runner.h"
#include "base/child.h"
#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

extern char **environ;

enum {
	ERRORS_KEPT = 4096, /* the last of what it wrote to its standard error */
	ERRORS_SHOWN = 400, /* of that, in a sentence */
	/* What it had written before it ended is in a pipe that others may hold open. */
	LAST_LINES_MS = 1000,
	TERMINATED_MS = 5000, /* between SIGTERM and SIGKILL */
};

struct a2a_child {
	struct loop *loop;
	struct a2a_child_events events;
	void *data;
	pid_t pid;
	int pidfd, input, output, errors; /* of the pipes, the ends here; -1: closed */
	struct loop_stream *stream;   /* NULL: closed */
	struct loop_watch *exit_watch, *errors_watch;
	struct loop_timer *timer;     /* the next step of its end */
	struct rpc_reader reader;
	char said[ERRORS_KEPT];       /* the last of its standard error */
	size_t said_len;
	int status;                   /* of waitpid */
	bool has_exited, is_ending, is_terminated, is_silent;
};

/* ---- its standard error ---------------------------------------------------------- */

static void child_keep_said(struct a2a_child *child, const char *bytes, size_t len)
{
	const size_t drop = child->said_len + len > ERRORS_KEPT ?
	                    child->said_len + len - ERRORS_KEPT : 0;

	memmove(child->said, child->said + drop, child->said_len - drop);
	child->said_len -= drop;
	memcpy(child->said + child->said_len, bytes, len);
	child->said_len += len;
}

/* As loop_watch's: at most some bytes each time, others have their turn. */
static void child_errors_ready(void *data)
{
	struct a2a_child *child = data;
	char bytes[ERRORS_KEPT / 2];
	const ssize_t got = read(child->errors, bytes, sizeof(bytes));

	if (got > 0) {
		child_keep_said(child, bytes, (size_t)got);
	} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
		loop_watch_stop(child->errors_watch);
		child->errors_watch = NULL;
	}
}

static void child_describe(const struct a2a_child *child, struct buf *out)
{
	struct span said = span_trim(span_of(child->said, child->said_len));

	if (WIFSIGNALED(child->status))
		buf_printf(out, "It was ended by SIG%s.", sigabbrev_np(WTERMSIG(child->status)));
	else
		buf_printf(out, "It ended with exit code %d.", WEXITSTATUS(child->status));
	if (said.len > ERRORS_SHOWN)
		said = span_skip(said, said.len - ERRORS_SHOWN);
	if (!said.len)
		return;
	buf_str(out, " The last of its standard error: ");
	name_line(out, said);
}

/* ---- its end --------------------------------------------------------------------- */

static void child_close(struct a2a_child *child)
{
	loop_stream_close(child->stream, 0);
	child->stream = NULL;
	fd_cleanup_close(&child->input);
	fd_cleanup_close(&child->output);
	child->input = child->output = -1;
}

static void child_free(struct a2a_child *child)
{
	child_close(child);
	loop_watch_stop(child->exit_watch);
	loop_watch_stop(child->errors_watch);
	loop_timer_stop(child->timer);
	fd_cleanup_close(&child->pidfd);
	fd_cleanup_close(&child->errors);
	rpc_reader_release(&child->reader);
	free(child);
}

/* What it wrote last is read before it is said how it ended. */
static void child_ended(struct a2a_child *child)
{
	_cleanup_buf_ struct buf how = BUF_INIT(8 * ERRORS_KEPT);

	for (unsigned i = 0; child->errors_watch && i < 64; i++)
		child_errors_ready(child);
	child_describe(child, &how);
	child->events.ended(child->data, buf_view(&how));
	child_free(child);
}

static void child_silent(struct a2a_child *child)
{
	if (child->is_silent || child->is_ending)
		return;
	child->is_silent = true;
	child->events.silent(child->data);
}

/* As loop_timer's. */
static void child_step(void *data)
{
	struct a2a_child *child = data;

	loop_timer_stop(child->timer);
	child->timer = NULL;
	if (child->has_exited && child->is_ending) {
		child_ended(child);
	} else if (child->has_exited) {
		child_silent(child);
	} else {
		kill(-child->pid, child->is_terminated ? SIGKILL : SIGTERM);
		child->is_terminated = true;
		child->timer = loop_timer_start(child->loop, TERMINATED_MS, 0, child_step, child);
	}
}

static void child_step_after(struct a2a_child *child, unsigned ms)
{
	loop_timer_stop(child->timer);
	child->timer = loop_timer_start(child->loop, ms, 0, child_step, child);
}

/* As loop_watch's. */
static void child_exited(void *data)
{
	struct a2a_child *child = data;

	/* What it has left behind; its number is its group's until it is waited for. */
	kill(-child->pid, child->is_terminated ? SIGKILL : SIGTERM);
	if (waitpid(child->pid, &child->status, WNOHANG) != child->pid)
		return;
	child->has_exited = true;
	loop_watch_stop(child->exit_watch);
	child->exit_watch = NULL;
	child_step_after(child, child->is_ending ? 0 : LAST_LINES_MS);
}

void a2a_child_end(struct a2a_child *child, unsigned grace_ms)
{
	if (child->is_ending && child->is_terminated)
		return;
	child->is_ending = true;
	child_close(child);
	child_step_after(child, child->has_exited ? 0 : grace_ms);
}

/* ---- lines ----------------------------------------------------------------------- */

void a2a_child_write(struct a2a_child *child, const json_t *line)
{
	/* A message that was read is at most six times as long when its characters are escaped. */
	_cleanup_buf_ struct buf text = BUF_INIT(8 * LIMIT_A2A_BODY_BYTES);
	struct span whole;

	if (!child->stream || !json_print(&text, line, 0) || !buf_char(&text, '\n'))
		return;
	whole = buf_view(&text);
	loop_stream_writev(child->stream, &whole, 1);
}

/* As rpc_line_handler. */
static bool child_line(void *data, struct span line, bool too_long)
{
	struct a2a_child *child = data;

	child->events.line(child->data, line, too_long);
	return !child->is_ending;
}

static void child_data(void *data, struct span bytes)
{
	struct a2a_child *child = data;

	rpc_feed(&child->reader, bytes, child_line, child);
}

static void child_stream_over(void *data, int sys_errno)
{
	(void)sys_errno;
	child_silent(data);
}

/* ---- its start ------------------------------------------------------------------- */

/* Its ends: standard input, output and error. */
struct child_ends {
	int input, output, errors;
};

static bool child_pipes(struct a2a_child *child, struct child_ends *theirs, struct err *err)
{
	int to[2], from[2], errors[2];

	if (pipe2(to, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "The runner cannot be started");
	theirs->input = to[0];
	child->input = to[1];
	if (pipe2(from, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "The runner cannot be started");
	theirs->output = from[1];
	child->output = from[0];
	if (pipe2(errors, O_CLOEXEC) != 0)
		return err_set_errno(err, errno, "The runner cannot be started");
	theirs->errors = errors[1];
	child->errors = errors[0];
	return fcntl(child->errors, F_SETFL, O_NONBLOCK) == 0 ||
	       err_set_errno(err, errno, "The runner cannot be started");
}

/* The token that callers send is none of a task's; the caller frees the array. */
static char **child_environment(void)
{
	static const char token[] = "HASP_A2A_TOKEN=";
	size_t count = 0, kept = 0;
	char **all;

	while (environ[count])
		count++;
	all = mem_alloc(count + 1, sizeof(*all));
	for (size_t i = 0; i < count; i++)
		if (strncmp(environ[i], token, sizeof(token) - 1) != 0)
			all[kept++] = environ[i];
	return all;
}

static int child_spawn(struct a2a_child *child, const struct child_ends *theirs,
                       const char *const *argv)
{
	_cleanup_free_ char **environment = child_environment();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	int failed;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, theirs->input, 0);
	posix_spawn_file_actions_adddup2(&files, theirs->output, 1);
	posix_spawn_file_actions_adddup2(&files, theirs->errors, 2);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	child_attributes(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	failed = posix_spawnp(&child->pid, argv[0], &files, &how, (char *const *)argv, environment);
	posix_spawnattr_destroy(&how);
	posix_spawn_file_actions_destroy(&files);
	return failed;
}

static bool child_begin(struct a2a_child *child, const char *const *argv, struct err *err)
{
	static const struct loop_stream_events events = {
		.data = child_data, .end = child_stream_over, .broken = child_stream_over,
	};
	struct child_ends theirs = { -1, -1, -1 };
	const bool ok = child_pipes(child, &theirs, err);
	const int failed = ok ? child_spawn(child, &theirs, argv) : 0;

	fd_cleanup_close(&theirs.input);
	fd_cleanup_close(&theirs.output);
	fd_cleanup_close(&theirs.errors);
	if (failed)
		return err_set_errno(err, failed, "The runner %.100s cannot be started", argv[0]);
	if (!ok)
		return false;
	child->pidfd = (int)syscall(SYS_pidfd_open, child->pid, 0);
	child->exit_watch = loop_watch_start(child->loop, child->pidfd, child_exited, child);
	child->errors_watch = loop_watch_start(child->loop, child->errors, child_errors_ready,
	                                       child);
	if (child->exit_watch && child->errors_watch &&
	    loop_stream_open(child->loop, child->output, child->input, &events, child,
	                     &child->stream, err))
		return true;
	kill(-child->pid, SIGKILL);
	waitpid(child->pid, &child->status, 0);
	return err_set(err, ERR_NO_RESOURCES, "The runner cannot be watched.");
}

bool a2a_child_start(struct loop *loop, const char *const *argv,
                     const struct a2a_child_events *events, void *data, struct a2a_child **ret,
                     struct err *err)
{
	struct a2a_child *child = mem_alloc(1, sizeof(*child));

	child->loop = loop;
	child->events = *events;
	child->data = data;
	child->pidfd = child->input = child->output = child->errors = -1;
	rpc_reader_init(&child->reader, LIMIT_A2A_BODY_BYTES);
	if (!child_begin(child, argv, err)) {
		child_free(child);
		return false;
	}
	*ret = child;
	return true;
}
