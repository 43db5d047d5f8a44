/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command/private.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/view/output.h"

enum {
	INPUT_BYTES = 16 << 10,
	AGAIN_MS = 20, /* how often input that the command is too slow for is offered again */
	LOOK_MS = 1000, /* how often it looks whether it was woken in vain */
	END_OF_INPUT = 4, /* what the key ^D sends */
	EXIT_TIMED_OUT = 124,
	EXIT_LOST = 125,
};

/* Whether what the command writes to a terminal could be taken for hasp's words.  Plain text is
 * printable ASCII, its lines, colours and what erases to the end of a line; nothing else can bring
 * letters together that were not written one after the other. */
struct output_watch {
	enum { WATCH_TEXT, WATCH_RETURN, WATCH_ESCAPE, WATCH_SEQUENCE } state;
	unsigned matched; /* letters of hasp's name */
	bool misleading;
	char last;
};

/* One command while it is attended to.  The provider's thread calls the events. */
struct attention {
	enum attend_how how;
	struct run *run; /* owned */
	int signals;     /* owned descriptor: what was sent to hasp */
	int wake;        /* owned: something happened to what the lock guards */
	bool input_open;
	char *input;     /* owned: INPUT_BYTES; what was read and not taken yet */
	size_t input_len;
	size_t early;    /* so many bytes to be read were typed before the terminal was raw */
	bool raw;        /* the terminal is ours to restore */
	struct termios terminal;
	bool interrupted;
	bool blind;      /* the kernel cannot wait */

	pthread_mutex_t lock;
	bool ended;
	struct run_end end;
	struct denial *denials; /* owned */
	size_t denial_count, denial_room;
	bool output_lost;
	struct output_watch watch;
};

static const int passed_on[] = { SIGINT,  SIGQUIT, SIGTERM,  SIGHUP,
	                         SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP };

static sigset_t signal_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(passed_on); i++)
		sigaddset(&set, passed_on[i]);
	return set;
}

void attend_signals(void)
{
	sigset_t set = signal_set();

	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* ---- reports ------------------------------------------------------------ */

static void attend_wake(struct attention *attention)
{
	fd_ring(attention->wake);
}

static bool denials_are_same(const struct denial *a, const struct denial *b)
{
	return a->kind == b->kind && a->reason == b->reason && a->pid == b->pid &&
	       strcmp(a->what, b->what) == 0 && strcmp(a->program, b->program) == 0;
}

/* Reports each denial at its first occurrence, and with its count at the end. */
static void attend_on_denied(void *data, const struct denial *denial)
{
	struct attention *attention = data;
	size_t i = 0;

	pthread_mutex_lock(&attention->lock);
	while (i < attention->denial_count && !denials_are_same(&attention->denials[i], denial))
		i++;
	if (i < LIMIT_DENIALS) {
		if (i == attention->denial_count) {
			attention->denials = mem_grow(attention->denials, &attention->denial_room,
			                              i + 1, sizeof(*attention->denials));
			attention->denial_count++;
		}
		attention->denials[i] = *denial;
	}
	pthread_mutex_unlock(&attention->lock);
}

static void watch_letter(struct output_watch *watch, unsigned char c)
{
	static const char name[] = "hasp";
	const char lower = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);

	watch->state = c == '\r' ? WATCH_RETURN : c == '\033' ? WATCH_ESCAPE : WATCH_TEXT;
	if (watch->state != WATCH_TEXT)
		return;
	watch->matched = lower == name[watch->matched] ? watch->matched + 1 : lower == name[0];
	watch->misleading = watch->misleading || watch->matched + 1 == sizeof(name) || c >= 0x7f ||
	                    (c < ' ' && c != '\n' && c != '\t' && c != '\a');
	if (watch->matched + 1 == sizeof(name))
		watch->matched = 0;
}

static void watch_byte(struct output_watch *watch, unsigned char c)
{
	switch (watch->state) {
	case WATCH_RETURN: /* only a line's end is plain */
		watch->misleading = watch->misleading || (c != '\n' && c != '\r');
		watch_letter(watch, c);
		break;
	case WATCH_ESCAPE:
		watch->misleading = watch->misleading || c != '[';
		watch->state = WATCH_SEQUENCE;
		break;
	case WATCH_SEQUENCE:
		if ((c >= '0' && c <= '9') || c == ';' || c == ':')
			break;
		watch->misleading = watch->misleading || (c != 'm' && c != 'K');
		watch->state = WATCH_TEXT;
		break;
	case WATCH_TEXT:
		watch_letter(watch, c);
	}
}

/* A slow reader slows the command down: the provider's thread waits here. */
static void attend_on_output(void *data, enum run_stream stream, struct span bytes)
{
	struct attention *attention = data;
	bool lost;

	pthread_mutex_lock(&attention->lock);
	lost = attention->output_lost;
	/* Nothing is left to be found out once it is misleading. */
	for (size_t i = 0; i < bytes.len && !attention->watch.misleading; i++)
		watch_byte(&attention->watch, (unsigned char)bytes.data[i]);
	if (bytes.len)
		attention->watch.last = bytes.data[bytes.len - 1];
	pthread_mutex_unlock(&attention->lock);
	if (lost || output_write(stream == RUN_STDERR ? STDERR_FILENO : STDOUT_FILENO, bytes))
		return;
	pthread_mutex_lock(&attention->lock);
	attention->output_lost = true;
	pthread_mutex_unlock(&attention->lock);
	attend_wake(attention);
}

static void attend_on_main_ended(void *data, const struct run_end *end)
{
	(void)data;
	(void)end;
}

static void attend_on_ended(void *data, const struct run_end *end)
{
	struct attention *attention = data;

	pthread_mutex_lock(&attention->lock);
	attention->end = *end;
	attention->ended = true;
	pthread_mutex_unlock(&attention->lock);
	attend_wake(attention);
}

/* ---- the terminal -------------------------------------------------------------- */

static void window_size(struct run_request *request)
{
	struct winsize size = { 0 };

	if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) == 0) {
		request->rows = size.ws_row;
		request->columns = size.ws_col;
	}
}

static void terminal_raw(struct attention *attention)
{
	struct termios raw;
	int early;

	if (attention->how != ATTEND_TERMINAL ||
	    tcgetattr(STDIN_FILENO, &attention->terminal) != 0)
		return;
	raw = attention->terminal;
	cfmakeraw(&raw);
	attention->raw = tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) == 0;
	if (attention->raw && ioctl(STDIN_FILENO, FIONREAD, &early) == 0 && early > 0)
		attention->early = (size_t)early;
}

/* Until a terminal is raw, its driver turns the end-of-file key into a mark in the input queue;
 * afterwards that mark reads as a NUL.  The command's terminal gets the key. */
static void restore_keys(struct attention *attention, size_t len)
{
	const size_t early = len < attention->early ? len : attention->early;

	for (size_t i = 0; i < early; i++)
		if (!attention->input[i])
			attention->input[i] = END_OF_INPUT;
	attention->early -= early;
}

static void terminal_restore(struct attention *attention)
{
	if (attention->raw)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &attention->terminal);
	attention->raw = false;
}

/* ---- what is sent to hasp -------------------------------------------------------- */

static void pass_resize(struct attention *attention)
{
	struct run *run = attention->run;
	struct run_request size = { 0 };

	if (attention->how != ATTEND_TERMINAL) {
		run->ops->signal(run, SIGWINCH);
		return;
	}
	window_size(&size);
	if (size.rows && size.columns)
		run->ops->resize(run, size.rows, size.columns);
}

/* Stops with its command, as a shell's job does, and goes on with it. */
static void suspend_self(struct attention *attention)
{
	struct run *run = attention->run;

	if (attention->how == ATTEND_TERMINAL)
		terminal_restore(attention);
	else
		run->ops->signal(run, SIGSTOP);
	kill(getpid(), SIGSTOP);
	if (attention->how == ATTEND_TERMINAL)
		terminal_raw(attention);
	else
		run->ops->signal(run, SIGCONT);
	pass_resize(attention);
}

static void take_signal(struct attention *attention)
{
	struct signalfd_siginfo info;
	struct run *run = attention->run;

	if (read(attention->signals, &info, sizeof(info)) != sizeof(info))
		return;
	switch (info.ssi_signo) {
	case SIGWINCH:
		pass_resize(attention);
		break;
	case SIGTSTP:
		suspend_self(attention);
		break;
	case SIGINT:
		attention->interrupted = true;
		__attribute__((fallthrough));
	default:
		run->ops->signal(run, (int)info.ssi_signo);
	}
}

static void pass_input(struct attention *attention)
{
	struct run *run = attention->run;

	/* Also false when there will never be a reader: then this runs until the end. */
	if (attention->input_len &&
	    run->ops->input(run, span_of(attention->input, attention->input_len)))
		attention->input_len = 0;
}

static bool attend_is_over(struct attention *attention)
{
	bool ended, lost;

	pthread_mutex_lock(&attention->lock);
	ended = attention->ended;
	lost = attention->output_lost;
	pthread_mutex_unlock(&attention->lock);
	if (lost && !ended) /* as SIGPIPE would */
		attention->run->ops->kill(attention->run);
	return ended;
}

/* Without poll neither its input can be passed on nor a signal be taken: the command ends. */
static void attend_blindly(struct attention *attention, int error)
{
	_cleanup_free_ char *why = mem_printf("The command was ended: hasp cannot wait for it "
	                                      "(%s).", strerror(error));
	const struct timespec pause = { .tv_nsec = AGAIN_MS * 1000000 };

	if (!attention->blind) {
		attention->run->ops->kill(attention->run);
		output_complain(why);
	}
	attention->blind = true;
	nanosleep(&pause, NULL);
}

static void watch_over(struct attention *attention)
{
	uint64_t ignored;

	while (!attend_is_over(attention)) {
		bool reads_input = attention->input_open && !attention->input_len;
		struct pollfd fds[] = {
			{ .fd = attention->wake, .events = POLLIN },
			{ .fd = attention->signals, .events = POLLIN },
			{ .fd = reads_input ? STDIN_FILENO : -1, .events = POLLIN },
		};

		if (poll(fds, ARRAY_LEN(fds), attention->input_len ? AGAIN_MS : LOOK_MS) < 0) {
			if (errno != EINTR)
				attend_blindly(attention, errno);
			continue;
		}
		pass_input(attention);
		if (fds[0].revents)
			(void)!read(attention->wake, &ignored, sizeof(ignored));
		if (fds[1].revents)
			take_signal(attention);
		if (fds[2].revents) {
			ssize_t got = read(STDIN_FILENO, attention->input, INPUT_BYTES);

			if (got > 0) {
				restore_keys(attention, (size_t)got);
				attention->input_len = (size_t)got;
				pass_input(attention);
			} else if (got == 0 || (errno != EINTR && errno != EAGAIN)) {
				attention->input_open = false;
				attention->run->ops->close_input(attention->run);
			}
		}
	}
}

/* ---- all of it -------------------------------------------------------------------- */

static bool attention_init(struct attention *attention, enum attend_how how, struct err *err)
{
	sigset_t set = signal_set();

	*attention = (struct attention){ .how = how, .signals = -1, .wake = -1 };
	pthread_mutex_init(&attention->lock, NULL);
	attention->input = mem_alloc(1, INPUT_BYTES);
	attention->input_open = how != ATTEND_HANDED_OVER;
	attention->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	attention->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (attention->signals < 0 || attention->wake < 0)
		return err_set_errno(err, errno, "No descriptors are left to run a command");
	return true;
}

static void attention_release(struct attention *attention)
{
	if (attention->run)
		attention->run->ops->free(attention->run);
	terminal_restore(attention);
	fd_cleanup_close(&attention->signals);
	fd_cleanup_close(&attention->wake);
	free(attention->denials);
	free(attention->input);
	pthread_mutex_destroy(&attention->lock);
}

bool attend_run(struct provider *provider, const struct run_request *request, enum attend_how how,
                struct attended *ret, struct err *err)
{
	static const int own[] = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO };
	static const struct run_events events = {
		.output = attend_on_output,
		.denied = attend_on_denied,
		.main_ended = attend_on_main_ended,
		.ended = attend_on_ended,
	};
	__attribute__((cleanup(attention_release))) struct attention attention;
	struct run_request placed = *request;

	if (!attention_init(&attention, how, err))
		return false;
	placed.stdio = how == ATTEND_HANDED_OVER ? own : NULL;
	placed.pty = how == ATTEND_TERMINAL;
	window_size(&placed);
	terminal_raw(&attention);
	if (!provider->ops->run(provider, &placed, &events, &attention, &attention.run, err))
		return false;
	watch_over(&attention);
	*ret = (struct attended){
		.end = attention.end,
		.denials = mem_steal(&attention.denials),
		.denial_count = attention.denial_count,
		.interrupted = attention.interrupted,
		.output_lost = attention.output_lost,
		.misleading = how == ATTEND_HANDED_OVER || attention.watch.misleading ||
		              attention.watch.state != WATCH_TEXT,
		.line_open = attention.watch.last && attention.watch.last != '\n',
	};
	return true;
}

void attend_release(struct attended *attended)
{
	free(attended->denials);
	*attended = (struct attended){ 0 };
}

int attend_exit_code(const struct attended *attended)
{
	if (attended->output_lost)
		return 128 + SIGPIPE;
	switch (attended->end.why) {
	case RUN_EXITED:
		return attended->end.exit_code;
	case RUN_SIGNALLED:
		return 128 + attended->end.signal;
	case RUN_TIMED_OUT:
	case RUN_INACTIVE:
		return EXIT_TIMED_OUT;
	case RUN_CANCELLED:
	case RUN_LIMIT:
		return 128 + SIGKILL;
	case RUN_LOST:
		break;
	}
	return EXIT_LOST;
}
