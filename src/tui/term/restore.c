/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal as it was found, and how a signal that ends the program restores it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"
#include "tui/term/private.h"

/* What a handler of a signal needs: nothing here is allocated or locked. */
static struct {
	volatile sig_atomic_t armed;
	pid_t pid;
	int fd;          /* of our own, so that writing never blocks; or the terminal's */
	bool own_fd;
	int in;
	struct termios saved;
	char bytes[RESTORE_BYTES_MAX];
	volatile sig_atomic_t len;
} found = { .fd = -1 };

/* As term_close, from a handler of a signal that ends the program: async-signal-safe, frees no
 * memory. */
static void restore_now(void)
{
	int saved_errno = errno;

	if (!found.armed || found.pid != getpid())
		return;
	found.armed = 0;
	if (found.len && write(found.fd, found.bytes, (size_t)found.len) < 0)
		errno = saved_errno; /* there is no way to report it */
	if (found.len && write(found.fd, "\033[J\r\n", 5) < 0)
		errno = saved_errno;
	tcsetattr(found.in, TCSANOW, &found.saved);
	errno = saved_errno;
}

void restore_bytes(struct span bytes)
{
	found.len = 0;
	if (bytes.len)
		memcpy(found.bytes, bytes.data, bytes.len);
	found.len = (sig_atomic_t)bytes.len;
}

static const int fatal_signals[] = { SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS,
	                             SIGABRT, SIGILL, SIGFPE, SIGXCPU, SIGXFSZ };

static void restore_and_die(int signal_number)
{
	restore_now();
	/* The handler was for once (SA_RESETHAND): the signal acts now as it does without one. */
	raise(signal_number);
}

static void catch_fatal_signals(bool on)
{
	for (size_t i = 0; i < ARRAY_LEN(fatal_signals); i++) {
		struct sigaction old, action = { .sa_handler = SIG_DFL };

		sigaction(fatal_signals[i], NULL, &old);
		if (on && old.sa_handler == SIG_DFL) {
			action.sa_handler = restore_and_die;
			action.sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
			sigaction(fatal_signals[i], &action, NULL);
		} else if (!on && old.sa_handler == restore_and_die) {
			sigaction(fatal_signals[i], &action, NULL);
		}
	}
}

bool restore_set_raw(struct err *err)
{
	struct termios raw = found.saved;

	cfmakeraw(&raw);
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	if (tcsetattr(found.in, TCSANOW, &raw) == 0)
		return true;
	return err_set_errno(err, errno, "The terminal cannot be set to pass on single keys");
}

bool restore_is_armed(void)
{
	return found.armed;
}

void restore_arm(void)
{
	found.armed = 1;
	catch_fatal_signals(true);
}

void restore_disarm(void)
{
	found.armed = 0;
}

bool restore_save(int in, struct err *err)
{
	if (tcgetattr(in, &found.saved) != 0)
		return err_set_errno(err, errno, "The terminal's modes cannot be read");
	found.in = in;
	return true;
}

void restore_modes(void)
{
	tcsetattr(found.in, TCSANOW, &found.saved);
}

void restore_open(int out)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", out);
	found.pid = getpid();
	found.fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	found.own_fd = found.fd >= 0;
	if (!found.own_fd)
		found.fd = out;
	found.len = 0;
}

void restore_close(void)
{
	catch_fatal_signals(false);
	found.armed = 0;
	if (found.own_fd)
		close(found.fd);
	found.own_fd = false;
	found.fd = -1;
}
