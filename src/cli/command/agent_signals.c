/* SPDX-License-Identifier: Apache-2.0 */
/* How a run of the agent ends: exit codes, signals. */
#include "cli/command/private.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"

/* ---- exit codes -------------------------------------------------------------- */

static const struct {
	enum agent_exit code;
	const char *type, *sentence;
} rows[] = {
#define AGENT_EXIT_ROW(symbol, code, type, sentence, meaning) \
	{ AGENT_EXIT_##symbol, type, sentence },
	AGENT_EXIT_TABLE(AGENT_EXIT_ROW)
#undef AGENT_EXIT_ROW
};

const char *cli_agent_exit_type(enum agent_exit code)
{
	for (size_t i = 1; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return rows[i].type;
	return NULL;
}

const char *cli_agent_exit_sentence(enum agent_exit code)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return rows[i].sentence;
	return "";
}

static enum agent_exit of_error(enum err_code code)
{
	switch (code) {
	case ERR_AUTHENTICATION_FAILED:
		return AGENT_EXIT_AUTH;
	case ERR_INVALID_ARGUMENT:
	case ERR_BUSY:
	case ERR_FILE_NOT_FOUND:
		return AGENT_EXIT_INPUT;
	case ERR_DISK_FULL:
		return AGENT_EXIT_TOOL;
	case ERR_CANCELLED:
		return AGENT_EXIT_CANCELLED;
	default:
		return AGENT_EXIT_GENERAL;
	}
}

enum agent_exit cli_agent_exit_of(enum agent_end end, const struct err *err)
{
	switch (end) {
	case AGENT_ANSWERED:
	case AGENT_HOOK_STOPPED:
		return AGENT_EXIT_OK;
	case AGENT_CANCELLED:
		return AGENT_EXIT_CANCELLED;
	case AGENT_TURN_LIMIT:
		return AGENT_EXIT_TURNS;
	case AGENT_FATAL_TOOL:
		return AGENT_EXIT_TOOL;
	case AGENT_LOOP:
		return AGENT_EXIT_GENERAL;
	default:
		return err ? of_error(err->code) : AGENT_EXIT_GENERAL;
	}
}

/* ---- signals ----------------------------------------------------------------- */

static struct cancel *to_cancel;
static volatile sig_atomic_t first_signal;
static volatile sig_atomic_t end_seconds = AGENT_END_SECONDS;

static void on_signal(int number)
{
	if (first_signal)
		_exit(128 + number);
	first_signal = number;
	alarm((unsigned)end_seconds);
	cancel_set(to_cancel);
}

/* The time to end in is over. */
static void on_alarm(int number)
{
	static const char said[] =
		"hasp: The end took longer than hasp.endSeconds; ended as it was.\n";
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };

	(void)number;
	/* Not to a pipe without a reader: that would take even longer. */
	if (poll(&out, 1, 0) == 1 && out.revents & POLLOUT)
		(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	signal(first_signal, SIG_DFL);
	raise(first_signal);
}

void agent_signals_limit(long long seconds)
{
	end_seconds = seconds < 1 ? 1 : seconds > AGENT_END_SECONDS_MAX ? AGENT_END_SECONDS_MAX :
	                                                                  (int)seconds;
}

void agent_signals_install(struct cancel *cancel)
{
	static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	to_cancel = cancel;
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < 3; i++) {
		struct sigaction before;

		/* nohup and shells' background jobs have them ignored: it stays so. */
		if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
			continue;
		sigaction(numbers[i], &action, NULL);
	}
	action.sa_handler = on_alarm;
	sigaction(SIGALRM, &action, NULL);
}

int agent_signal(void)
{
	return first_signal;
}

void agent_signal_die(void)
{
	const int number = first_signal;
	sigset_t set;

	if (!number)
		return;
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	raise(number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}
