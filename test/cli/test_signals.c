/* SPDX-License-Identifier: Apache-2.0 */
/* The first signal ends the program whatever it is doing, also nothing that looks for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command/private.h"

static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };

/* A program that goes round for ever once it says that it is ready. */
static void go_round(int ready)
{
	static struct cancel cancel;
	struct err err = ERR_INIT;
	volatile unsigned round = 0;
	int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

	/* A shell's background jobs ignore SIGINT, nohup SIGHUP; and what is ignored stays so. */
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], SIG_DFL);
	if (!cancel_init(&cancel, &err) || nowhere < 0 || dup2(nowhere, STDERR_FILENO) < 0)
		_exit(3);
	agent_signals_install(&cancel);
	agent_signals_limit(0); /* no less than a second */
	if (write(ready, "x", 1) != 1)
		_exit(4);
	for (;;)
		round++;
}

static int status_after(int number, bool again)
{
	int pipes[2], status;
	char ready;
	pid_t child;

	assert_int_equal(pipe(pipes), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		go_round(pipes[1]);
	assert_int_equal(read(pipes[0], &ready, 1), 1);
	assert_int_equal(kill(child, number), 0);
	if (again) {
		/* Two that are sent at once may be one. */
		assert_int_equal(kill(child, number == SIGTERM ? SIGINT : SIGTERM), 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	close(pipes[0]);
	close(pipes[1]);
	return status;
}

static void a_signal_ends_a_program_that_looks_for_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		int status = status_after(numbers[i], false);

		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == numbers[i]);
	}
}

static void a_second_one_ends_it_at_once(void **state)
{
	int status = status_after(SIGTERM, true);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_true(WEXITSTATUS(status) == 128 + SIGINT || WEXITSTATUS(status) == 128 + SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_ends_a_program_that_looks_for_none),
		cmocka_unit_test(a_second_one_ends_it_at_once),
	};

	return cmocka_run_group_tests_name("cli/signals", tests, NULL, NULL);
}
