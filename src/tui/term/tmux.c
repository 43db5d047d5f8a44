/* SPDX-License-Identifier: Apache-2.0 */
/* What tmux has in the window of the terminal: tmux(1), display-message and capture-pane, both in
 * one command, between which nothing happens in the window.
 *
 * The program is the user's (term_options.program), and the socket and the window are what the
 * environment says; that the window is this terminal's is seen by the name of its device.  The
 * answer is as foreign as everything on a screen. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fd.h"
#include "base/mem.h"
#include "tui/term/private.h"

extern char **environ;

enum {
	LOOK_MS = 1000,           /* then it is given up */
	LOOK_BYTES_MAX = 1 << 20, /* of what tmux prints */
};

#define LOOK_FORMAT "#{pane_width} #{pane_height} #{cursor_x} #{cursor_y} #{history_size} " \
	"#{pane_tty}"

struct tmux_look {
	pid_t pid;
	int fd;
	char tty[64]; /* the terminal's device */
	struct loop_watch *watch;
	struct loop_timer *limit;
	struct buf got;
	void (*seen)(void *data, const struct tmux_view *look);
	void *data;
};

/* "%" and digits, as tmux names its windows; NULL: it is not tmux's. */
static const char *pane_named(void)
{
	const char *socket = getenv("TMUX"), *pane = getenv("TMUX_PANE");

	if (!socket || !*socket || !pane || pane[0] != '%' || !pane[1] ||
	    strspn(pane + 1, "0123456789") != strlen(pane + 1))
		return NULL;
	return pane;
}

static bool tmux_spawn(const char *program, const char *pane, int out, pid_t *ret_pid)
{
	char above[16];
	char *const argv[] = { (char *)"tmux", (char *)"-u", (char *)"display-message",
		               (char *)"-p", (char *)"-t", (char *)pane, (char *)LOOK_FORMAT,
		               (char *)";", (char *)"capture-pane", (char *)"-p", (char *)"-t",
		               (char *)pane, (char *)"-S", above, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t how;
	int failed;

	snprintf(above, sizeof(above), "-%d", LOOK_ABOVE);
	child_attributes(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	failed = posix_spawn(ret_pid, program, &actions, &how, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&how);
	return failed == 0;
}

/* Its first line has the numbers, the others are rows. */
static bool look_read(const struct tmux_look *looking, struct tmux_view *ret)
{
	const struct span got = buf_view(&looking->got);
	const char *end = got.len ? memchr(got.data, '\n', got.len) : NULL;
	char line[160], tty[64];
	size_t history;

	if (!end || (size_t)(end - got.data) >= sizeof(line))
		return false;
	memcpy(line, got.data, (size_t)(end - got.data));
	line[end - got.data] = '\0';
	if (sscanf(line, "%5u %5u %5u %5u %10zu %63s", &ret->columns, &ret->rows, &ret->column,
	           &ret->row, &history, tty) != 6 || strcmp(tty, looking->tty) != 0)
		return false;
	ret->above = history < LOOK_ABOVE ? history : LOOK_ABOVE;
	ret->text = span_skip(got, (size_t)(end - got.data) + 1);
	return ret->columns && ret->row < ret->rows;
}

void tmux_look_stop(struct tmux_look *looking)
{
	int status;

	if (!looking)
		return;
	loop_watch_stop(looking->watch);
	loop_timer_stop(looking->limit);
	/* Mostly it has ended, and waits for this. */
	kill(-looking->pid, SIGKILL);
	kill(looking->pid, SIGKILL);
	while (waitpid(looking->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(looking->fd);
	buf_release(&looking->got);
	free(looking);
}

static void look_ends(struct tmux_look *looking, bool whole)
{
	void (*const seen)(void *, const struct tmux_view *) = looking->seen;
	struct tmux_view look;

	seen(looking->data, whole && look_read(looking, &look) ? &look : NULL);
}

static void look_is_late(void *data)
{
	look_ends(data, false);
}

static void look_arrives(void *data)
{
	struct tmux_look *looking = data;
	char bytes[8 << 10];
	const ssize_t n = read(looking->fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0 || !buf_append(&looking->got, bytes, (size_t)n))
		look_ends(looking, n == 0);
}

struct tmux_look *tmux_look_start(const struct term *term,
                                  void (*seen)(void *data, const struct tmux_view *look),
                                  void *data)
{
	const struct term_options *options = term_opened_with(term);
	const char *pane = pane_named();
	_cleanup_free_ char *program = pane && options->program ?
	                                       options->program(options->data, "tmux") : NULL;
	_cleanup_fd_ int reading = -1, writing = -1;
	struct tmux_look *looking;
	int ends[2];
	char tty[64];

	if (!program || ttyname_r(options->out, tty, sizeof(tty)) != 0 ||
	    pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	reading = ends[0];
	writing = ends[1];
	if (fcntl(reading, F_SETFL, O_NONBLOCK) < 0)
		return NULL;
	looking = mem_alloc(1, sizeof(*looking));
	if (!(looking->watch = loop_watch_start(options->loop, reading, look_arrives, looking)) ||
	    !tmux_spawn(program, pane, writing, &looking->pid)) {
		loop_watch_stop(looking->watch);
		free(looking);
		return NULL;
	}
	memcpy(looking->tty, tty, sizeof(tty));
	looking->got.max = LOOK_BYTES_MAX;
	looking->fd = fd_steal(&reading);
	looking->seen = seen;
	looking->data = data;
	looking->limit = loop_timer_start(options->loop, LOOK_MS, 0, look_is_late, looking);
	return looking;
}
