/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes, given descriptors, and what terminals have in common with them. */
#include "worker/inside/run_streams.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"

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

static bool failed(int sys_errno, struct err *err)
{
	return err_set_errno(err, sys_errno, "No pipes for the command");
}

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

bool run_streams_open(const struct run_request *request, struct run_streams *ret, struct err *err)
{
	if (request->pty && !request->stdio)
		return run_pty_open(request, ret, err);
	if (request->stdio ? take_given(request, ret) : open_pipes(request, ret))
		return true;
	failed(errno, err);
	run_streams_release(ret);
	return false;
}
