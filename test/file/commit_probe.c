/* SPDX-License-Identifier: Apache-2.0 */
/* One commit, to be killed or disturbed at any system call.
 *
 *     commit_probe ROOT replace|create|delete NAME MODES
 *
 * Prints the error's name, or "ok". Exit status 0 when the commit was made, 1 when it was refused.
 * MODES: f full durability, t no O_TMPFILE, x no RENAME_EXCHANGE, l no leases;
 * o: somebody renames the file "other" to NAME after the comparison;
 * w: somebody writes into NAME in place after the comparison (with O_NONBLOCK, so that
 *    breaking the lease does not wait for us).
 * Accesses to "/begin" and "/end" mark the commit. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "file/stage.h"

struct stranger {
	const char *root;
	const char *name;
	const char *modes;
};

static void interfere(enum commit_point point, void *data)
{
	struct stranger *stranger = data;
	char from[4096], to[4096];

	snprintf(from, sizeof(from), "%s/other", stranger->root);
	snprintf(to, sizeof(to), "%s/%s", stranger->root, stranger->name);
	if (point == COMMIT_COMPARED && strchr(stranger->modes, 'o'))
		rename(from, to);
	if (point == COMMIT_COMPARED && strchr(stranger->modes, 'w')) {
		_cleanup_fd_ int fd = open(to, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

		/* Refused while the lease is being broken; we are that writer's stand-in. */
		if (fd >= 0)
			fd_write_all(fd, "written", 7);
	}
}

static bool run(struct workspace *ws, char **argv, struct err *err)
{
	struct stranger stranger = { argv[1], argv[3], argv[4] };
	struct commit_how how = {
		.options.durability = strchr(argv[4], 'f') ? DURABILITY_FULL : DURABILITY_RENAME,
		.options.busy_wait_ms = 20,
		.no_tmpfile = strchr(argv[4], 't') != NULL,
		.no_exchange = strchr(argv[4], 'x') != NULL,
		.no_lease = strchr(argv[4], 'l') != NULL,
		.at = interfere,
		.data = &stranger,
	};
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct file_state state = { 0 };
	struct span pieces[] = { SPAN("new "), SPAN("content\n") };
	bool ok;

	if (!snapshot_read(ws, argv[3], 0, &base, err))
		return false;
	faccessat(AT_FDCWD, "/begin", F_OK, 0);
	if (strcmp(argv[2], "delete") == 0)
		return commit_delete_how(&base, &how, err);
	ok = commit_write_how(&base, pieces, 2, &how, &state, err);
	file_state_release(&state);
	return ok;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct workspace *ws;
	bool ok;

	if (argc != 5 || !workspace_open((const char *const[]){ argv[1] }, 1, &ws, &err))
		return 2;
	ok = run(ws, argv, &err);
	workspace_free(ws);
	faccessat(AT_FDCWD, "/end", F_OK, 0);
	puts(ok ? "ok" : err_name(err.code));
	return ok ? 0 : 1;
}
