/* SPDX-License-Identifier: Apache-2.0 */
/* A command's standard input, output and errors: pipes, given descriptors, or a terminal. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "worker/inside/run.h"

static void close_slot(int *fd)
{
	fd_cleanup_close(fd);
	*fd = -1;
}

void run_streams_release_child(struct run_streams *streams)
{
	for (int i = 0; i < 3; i++)
		close_slot(&streams->child[i]);
}

void run_streams_release(struct run_streams *streams)
{
	run_streams_release_child(streams);
	for (int i = 0; i < 2; i++)
		close_slot(&streams->output[i]);
	close_slot(&streams->input);
}

/* ---- pipes ---- */

/* *ours does not block. `theirs` is the end that the command gets. */
static bool make_pipe(bool we_read, int *ours, int *theirs)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	*ours = ends[we_read ? 0 : 1];
	*theirs = ends[we_read ? 1 : 0];
	return fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

static bool open_pipes(const struct run_request *request, struct run_streams *streams)
{
	if (request->no_input)
		streams->child[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	else if (!make_pipe(false, &streams->input, &streams->child[0]))
		return false;
	if (streams->child[0] < 0 ||
	    !make_pipe(true, &streams->output[RUN_STDOUT], &streams->child[1]))
		return false;
	if (!request->merge)
		return make_pipe(true, &streams->output[RUN_STDERR], &streams->child[2]);
	streams->child[2] = fcntl(streams->child[1], F_DUPFD_CLOEXEC, 3);
	return streams->child[2] >= 0;
}

static bool take_given(const struct run_request *request, struct run_streams *streams)
{
	for (int i = 0; i < 3; i++) {
		streams->child[i] = fcntl(request->stdio[i], F_DUPFD_CLOEXEC, 3);
		if (streams->child[i] < 0)
			return false;
	}
	return true;
}

/* ---- terminals ---- */

/* Pty(7), from the /dev/ptmx of this mount namespace. */

enum { ROWS_DEFAULT = 24, COLUMNS_DEFAULT = 80, SIZE_MAX_CELLS = 10000 };

static unsigned short cells(unsigned wanted, unsigned otherwise)
{
	if (!wanted)
		wanted = otherwise;
	return (unsigned short)(wanted < SIZE_MAX_CELLS ? wanted : SIZE_MAX_CELLS);
}

/* Nothing is typed, so nothing is shown as typed; ^D is not needed either. */
static void no_echo(int terminal)
{
	struct termios how;

	if (tcgetattr(terminal, &how) == 0) {
		how.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL | ECHOCTL);
		tcsetattr(terminal, TCSANOW, &how);
	}
}

/* The command's end, named by the descriptor of ours and not by a path. */
static int open_other_end(int ours)
{
	int unlock = 0;

	if (ioctl(ours, TIOCSPTLCK, &unlock) < 0)
		return -1;
	return ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

static bool open_both(const struct run_request *request, struct run_streams *streams)
{
	struct winsize size = { .ws_row = cells(request->rows, ROWS_DEFAULT),
		                .ws_col = cells(request->columns, COLUMNS_DEFAULT) };
	int ours = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);

	if (ours < 0)
		return false;
	streams->output[RUN_STDOUT] = ours;
	streams->child[0] = open_other_end(ours);
	if (streams->child[0] < 0 || ioctl(ours, TIOCSWINSZ, &size) < 0)
		return false;
	if (request->no_input)
		no_echo(streams->child[0]);
	streams->input = fcntl(ours, F_DUPFD_CLOEXEC, 3);
	for (int i = 1; i < 3; i++)
		streams->child[i] = fcntl(streams->child[0], F_DUPFD_CLOEXEC, 3);
	return streams->input >= 0 && streams->child[1] >= 0 && streams->child[2] >= 0;
}

static bool open_pty(const struct run_request *request, struct run_streams *ret, struct err *err)
{
	ret->terminal = true;
	if (open_both(request, ret))
		return true;
	if (errno == ENOSPC) /* of terminals */
		err_set(err, ERR_NO_RESOURCES, "No terminal is left for the command: %s.",
		        strerror(errno));
	else
		err_set_errno(err, errno, "No terminal for the command");
	run_streams_release(ret);
	return false;
}

void run_pty_resize(const struct run_streams *streams, unsigned rows, unsigned columns)
{
	struct winsize size = { .ws_row = cells(rows, ROWS_DEFAULT),
		                .ws_col = cells(columns, COLUMNS_DEFAULT) };

	if (streams->terminal && streams->output[RUN_STDOUT] >= 0)
		ioctl(streams->output[RUN_STDOUT], TIOCSWINSZ, &size);
}

/* Programs that read single keys turn the echo off, too, and echo by themselves. */
bool run_pty_is_secret(const struct run_streams *streams)
{
	struct termios how;

	return streams->terminal && streams->output[RUN_STDOUT] >= 0 &&
	       tcgetattr(streams->output[RUN_STDOUT], &how) == 0 && !(how.c_lflag & ECHO) &&
	       (how.c_lflag & ICANON);
}

bool run_pty_signal(const struct run_streams *streams, int signal)
{
	return streams->terminal && streams->output[RUN_STDOUT] >= 0 &&
	       (signal == SIGINT || signal == SIGQUIT || signal == SIGTSTP) &&
	       ioctl(streams->output[RUN_STDOUT], TIOCSIG, signal) == 0;
}

/* ---- either ---- */

bool run_streams_open(const struct run_request *request, struct run_streams *ret, struct err *err)
{
	if (request->pty && !request->stdio)
		return open_pty(request, ret, err);
	if (request->stdio ? take_given(request, ret) : open_pipes(request, ret))
		return true;
	err_set_errno(err, errno, "No pipes for the command");
	run_streams_release(ret);
	return false;
}

