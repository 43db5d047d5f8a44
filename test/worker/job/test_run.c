/* SPDX-License-Identifier: Apache-2.0 */
/* One command, from its start to its end, as op_run tells it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "part.h"
#include "patience.h"
#include "run_fixture.h"

static const struct run_request pipes = { .no_input = true };
static const struct run_request terminal = { .pty = true };

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether the process is in the fixture's folder, as all are that its commands start: another
 * build's tests run the same ones. */
static bool is_of(const struct fixture *fixture, const char *pid)
{
	char link[300], folder[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%s/cwd", pid);
	n = readlink(link, folder, sizeof(folder));
	return n > 0 && (size_t)n == strlen(fixture->root) &&
	       memcmp(folder, fixture->root, (size_t)n) == 0;
}

/* Processes of the fixture's commands whose arguments hold a text; with "" also one that has none
 * yet. */
static int count_processes(const struct fixture *fixture, const char *text)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int count = 0;

	assert_non_null(proc);
	while ((entry = readdir(proc))) {
		char path[300], line[4096] = "";
		FILE *file;
		size_t n;

		snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		n = fread(line, 1, sizeof(line) - 1, file);
		fclose(file);
		for (size_t i = 0; i < n; i++)
			line[i] = line[i] ? line[i] : ' ';
		count += strstr(line, text) && is_of(fixture, entry->d_name);
	}
	closedir(proc);
	return count;
}

/* ---- output and exit codes -------------------------------------------------- */

static void test_pipes_keep_output_and_errors_apart(void **state)
{
	struct told told = { 0 };

	told_run(&told, *state, "echo out; echo err >&2; exit 3", &pipes);
	assert_string_equal(told_text(&told, RUN_STDOUT), "out\n");
	assert_string_equal(told_text(&told, RUN_STDERR), "err\n");
	assert_int_equal(told.end.why, RUN_EXITED);
	assert_int_equal(told.end.exit_code, 3);
	assert_true(told.started > 0);
	told_free(&told);
}

static void test_merged_pipes_keep_the_order(void **state)
{
	const struct run_request merged = { .no_input = true, .merge = true };
	struct told told = { 0 };

	told_run(&told, *state, "echo 1; echo 2 >&2; echo 3; echo 4 >&2", &merged);
	assert_string_equal(told_text(&told, RUN_STDOUT), "1\n2\n3\n4\n");
	assert_int_equal(told.bytes[RUN_STDERR], 0);
	told_free(&told);
}

static void test_a_signal_that_is_not_ours_is_told(void **state)
{
	struct told told = { 0 };

	told_run(&told, *state, "kill -SEGV $$", NULL);
	assert_int_equal(told.end.why, RUN_SIGNALLED);
	assert_int_equal(told.end.signal, SIGSEGV);
	assert_int_equal(told.end.exit_code, -1);
	told_free(&told);
}

static void test_a_missing_program_is_an_error_and_no_exit_code(void **state)
{
	const char *const missing[] = { "no-such-program", NULL };
	const char *const folder[] = { "/etc", NULL };
	struct run_request request = { .argv = missing, .no_input = true };
	struct told told = { 0 };
	struct err err = ERR_INIT;

	assert_false(told_try(&told, *state, &request, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	request.argv = folder;
	assert_false(told_try(&told, *state, &request, &err));
	assert_int_equal(err.code, ERR_PERMISSION_DENIED);
}

static void test_binary_output_is_delivered_as_it_is(void **state)
{
	struct told told = { 0 };

	told_run(&told, *state, "printf 'a\\0\\377\\r\\n\\033[31m\\200'", NULL);
	assert_int_equal(told.text[0].len, 11);
	assert_memory_equal(told.text[0].data, "a\0\377\r\n\033[31m\200", 11);
	told_free(&told);
}

static void test_grandchildren_that_hold_the_pipe_do_not_delay_the_end(void **state)
{
	struct told told = { 0 };
	uint64_t began = now_ms();

	told_run(&told, *state, "sleep 777.7 & echo done", NULL);
	assert_string_equal(told_text(&told, 0), "done\n");
	assert_int_equal(told.end.exit_code, 0);
	assert_true(now_ms() - began < PATIENCE_MS);
	told_free(&told);
	assert_int_equal(count_processes(*state, "sleep 777.7"), 0);
}

static void test_what_is_left_running_goes_on_and_is_told(void **state)
{
	const struct run_request leaving = { .no_input = true, .leave_running = true };
	struct told told = { 0 };

	told_start(&told, *state, "(sleep 0.5; echo late) & echo early; exit 4", &leaving);
	told_wait_text(&told, "early");
	while (!told.main_ended)
		usleep(1000);
	assert_int_equal(told.main_end.exit_code, 4);
	assert_int_equal(told.main_end.left_running, 2);
	assert_int_equal(told.ended, 0);
	told_wait(&told);
	assert_string_equal(told_text(&told, 0), "early\nlate\n");
	assert_int_equal(told.end.exit_code, 4);
	assert_int_equal(told.end.left_running, 0);
	told_free(&told);
}

static void test_a_slow_reader_slows_the_command_down(void **state)
{
	struct told told = { .slow_us = 20000 };
	uint64_t began = now_ms();

	/* 2 MiB in bufferfuls of 64 KiB, 20 ms each. */
	told_run(&told, *state, "head -c 2097152 /dev/zero; echo $SECONDS", NULL);
	assert_in_range(told.bytes[0], 2097152 + 2, 2097152 + 4);
	assert_true(now_ms() - began >= 500);
	told_free(&told);
}

static void test_much_output_arrives_whole(void **state)
{
	const size_t bytes = part_of(100 << 20, 4);
	_cleanup_free_ char *script = mem_printf("head -c %zu /dev/zero | tr '\\0' x", bytes);
	struct told told = { 0 };
	uint64_t began = now_ms();

	told_run(&told, *state, script, NULL);
	assert_int_equal(told.bytes[0], bytes);
	print_message("%zu MiB: %u ms\n", bytes >> 20, (unsigned)(now_ms() - began));
	told_free(&told);
}

/* ---- input ------------------------------------------------------------------ */

static void test_input_reaches_a_reading_command(void **state)
{
	const struct run_request request = { 0 };
	struct told told = { 0 };

	told_start(&told, *state, "read a; echo got $a; cat; echo end", &request);
	assert_true(told.run->ops->input(told.run, SPAN("one\n")));
	told_wait_text(&told, "got one");
	assert_true(told.run->ops->input(told.run, SPAN("two\nthree")));
	told.run->ops->close_input(told.run);
	told_wait(&told);
	assert_string_equal(told_text(&told, 0), "got one\ntwo\nthreeend\n");
	assert_false(told.run->ops->input(told.run, SPAN("late")));
	told_free(&told);
}

static void test_input_that_nobody_reads_is_refused_at_a_limit(void **state)
{
	const struct run_request request = { 0 };
	_cleanup_free_ char *much = mem_alloc(1 << 20, 1);
	struct told told = { 0 };
	int taken = 0;

	told_start(&told, *state, "sleep 60", &request);
	while (taken < 64 && told.run->ops->input(told.run, span_of(much, 1 << 20)))
		taken++;
	assert_in_range(taken, 4, 16);
	told_free(&told);
}

static void test_no_input_is_the_end_of_input(void **state)
{
	struct told told = { 0 };

	told_run(&told, *state, "read x || echo nothing; readlink /proc/self/fd/0", NULL);
	assert_string_equal(told_text(&told, 0), "nothing\n/dev/null\n");
	told_free(&told);
}

static void test_given_descriptors_are_the_commands_own(void **state)
{
	struct told told = { 0 };
	char text[8] = "";
	int ends[2], given[3];
	struct run_request request = { .stdio = given };

	assert_int_equal(pipe(ends), 0);
	given[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	given[1] = ends[1];
	given[2] = ends[1];
	told_run(&told, *state, "echo hello", &request);
	assert_int_equal(read(ends[0], text, sizeof(text)), 6);
	assert_string_equal(text, "hello\n");
	assert_int_equal(told.bytes[0] + told.bytes[1], 0);
	told_free(&told);
	close(given[0]);
	close(ends[0]);
	close(ends[1]);
}

static void test_no_other_descriptor_is_inherited(void **state)
{
	struct told told = { 0 };
	int open_on_purpose = open("/etc/passwd", O_RDONLY); /* not O_CLOEXEC */

	told_run(&told, *state, "ls -l /proc/self/fd", NULL);
	assert_null(strstr(told_text(&told, 0), "passwd"));
	assert_null(strstr(told_text(&told, 0), "socket"));
	assert_null(strstr(told_text(&told, 0), "eventfd"));
	told_free(&told);
	close(open_on_purpose);
}

/* ---- terminals -------------------------------------------------------------- */

static void test_a_terminal_has_size_type_and_colours(void **state)
{
	const struct run_request sized = { .pty = true, .rows = 33, .columns = 121 };
	struct told told = { 0 };

	told_run(&told, *state,
	         "test -t 0 && test -t 1 && test -t 2 && echo tty; tput cols; tput lines; "
	         "echo $TERM; tput colors; ls --color=auto -d /; tty", &sized);
	assert_non_null(strstr(told_text(&told, 0), "tty\r\n121\r\n33\r\nxterm-256color\r\n256\r\n"));
	assert_non_null(strstr(told_text(&told, 0), "\033["));
	assert_non_null(strstr(told_text(&told, 0), "/dev/pts/"));
	assert_int_equal(told.bytes[1], 0);
	told_free(&told);
	told_run(&told, *state, "stty size", &terminal);
	assert_string_equal(told_text(&told, 0), "24 80\r\n");
	told_free(&told);
}

static void test_a_terminal_is_resized_and_told_so(void **state)
{
	struct told told = { 0 };

	told_start(&told, *state,
	           "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.02; done", &terminal);
	told_wait_text(&told, "ready");
	told.run->ops->resize(told.run, 50, 132);
	told_wait(&told);
	assert_non_null(strstr(told_text(&told, 0), "50 132\r\n"));
	told_free(&told);
}

static void test_a_terminal_echoes_and_ends_input(void **state)
{
	const struct run_request silent = { .pty = true, .no_input = true };
	struct told told = { 0 };

	told_start(&told, *state, "cat; echo over", &terminal);
	assert_true(told.run->ops->input(told.run, SPAN("hello\n")));
	told_wait_text(&told, "hello\r\nhello\r\n");
	told.run->ops->close_input(told.run);
	told_wait(&told);
	assert_non_null(strstr(told_text(&told, 0), "over\r\n"));
	told_free(&told);
	told_run(&told, *state, "stty -a | grep -o -- '-echo '", &silent);
	assert_string_equal(told_text(&told, 0), "-echo \r\n");
	told_free(&told);
}

static void test_the_interrupt_key_reaches_the_foreground(void **state)
{
	struct told told = { 0 };

	told_start(&told, *state,
	           "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.02; done",
	           &terminal);
	told_wait_text(&told, "ready");
	told.run->ops->signal(told.run, SIGINT);
	told_wait(&told);
	assert_non_null(strstr(told_text(&told, 0), "caught"));
	assert_int_equal(told.end.exit_code, 9);
	told_free(&told);
}

static void test_a_signal_reaches_the_group_without_a_terminal(void **state)
{
	struct told told = { 0 };

	told_start(&told, *state,
	           "trap 'echo caught; exit 9' USR1; echo ready; while :; do sleep 0.02; done",
	           &pipes);
	told_wait_text(&told, "ready");
	told.run->ops->signal(told.run, SIGUSR1);
	told_wait(&told);
	assert_string_equal(told_text(&told, 0), "ready\ncaught\n");
	told_free(&told);
}

/* ---- limits ----------------------------------------------------------------- */

static void test_time_is_limited(void **state)
{
	const struct run_request request = { .no_input = true, .timeout_ms = 200 };
	struct told told = { 0 };
	uint64_t began = now_ms();

	told_run(&told, *state, "echo a; trap '' TERM; while :; do echo b; sleep 0.02; done", &request);
	assert_int_equal(told.end.why, RUN_TIMED_OUT);
	assert_int_equal(told.end.exit_code, -1);
	assert_in_range(now_ms() - began, 200, 60000);
	told_free(&told);
}

static void test_time_is_limited_for_a_reader_that_is_behind(void **state)
{
	const struct run_request request = { .no_input = true, .timeout_ms = 200 };
	struct told told = { .slow_us = 5000 };
	uint64_t began = now_ms();

	told_run(&told, *state, "yes", &request);
	assert_int_equal(told.end.why, RUN_TIMED_OUT);
	assert_true(now_ms() - began < PATIENCE_MS);
	told_free(&told);
}

/* Whoever is told is stuck; the command is ended all the same. */
static void test_time_is_limited_for_a_reader_that_does_nothing(void **state)
{
	const struct run_request request = { .no_input = true, .timeout_ms = 2000 };
	struct told told = { .holds = true };
	uint64_t began = now_ms();

	told_start(&told, *state, "exec yes 900.5", &request);
	told_wait_held(&told);
	while (count_processes(*state, "yes 900.5") && now_ms() - began < PATIENCE_MS)
		usleep(1000);
	assert_int_equal(count_processes(*state, "yes 900.5"), 0);
	told_release(&told);
	told_wait(&told);
	assert_int_equal(told.end.why, RUN_TIMED_OUT);
	told_free(&told);
}

static void test_a_reader_that_is_behind_is_no_silence(void **state)
{
	const struct run_request request = { .no_input = true, .inactivity_ms = 1000 };
	struct told told = { .slow_us = 1300000 };

	told_run(&told, *state, "head -c 200000 /dev/zero; exit 6", &request);
	assert_int_equal(told.end.exit_code, 6);
	assert_int_equal(told.bytes[0], 200000);
	told_free(&told);
}

static void test_silence_is_limited(void **state)
{
	const struct run_request request = { .no_input = true, .inactivity_ms = 2000 };
	struct told told = { 0 };

	told_run(&told, *state, "for i in 1 2 3 4 5; do echo $i; sleep 0.25; done; sleep 60", &request);
	assert_string_equal(told_text(&told, 0), "1\n2\n3\n4\n5\n");
	assert_int_equal(told.end.why, RUN_INACTIVE);
	told_free(&told);
}

static void test_sigterm_lets_a_command_clean_up(void **state)
{
	struct told told = { 0 };

	told_start(&told, *state,
	           "trap 'echo cleaned; exit 0' TERM; echo ready; while :; do sleep 0.01; done",
	           &pipes);
	told_wait_text(&told, "ready");
	told.run->ops->kill(told.run);
	told_wait(&told);
	assert_string_equal(told_text(&told, 0), "ready\ncleaned\n");
	assert_int_equal(told.end.why, RUN_CANCELLED);
	told_free(&told);
}

/* ---- the end of whole trees ------------------------------------------------- */

/* Each starts processes named "sleep 9TAG", says "ready", and goes on. */
static const struct {
	const char *name, *script;
} trees[] = {
	{ "a pipeline", "sleep 900.1 | sleep 900.1 & echo ready; wait" },
	{ "one that ignores SIGTERM",
	  "trap '' TERM INT HUP; sleep 900.1 & echo ready; while :; do wait; done" },
	{ "sessions of their own",
	  "setsid sleep 900.1 & setsid setsid sleep 900.1 & echo ready; wait" },
	{ "double-forked daemons",
	  "(setsid bash -c 'sleep 900.1 & exec sleep 900.1' </dev/null >/dev/null 2>&1 &) ; "
	  "echo ready; sleep 900.1" },
	{ "stopped processes", "sleep 900.1 & kill -STOP $!; echo ready; kill -STOP $$" },
	{ "many", "for i in {1..60}; do sleep 900.1 & done; echo ready; wait" },
};

static int compare(const void *a, const void *b)
{
	unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;

	return (one > other) - (one < other);
}

static void test_cancel_ends_the_whole_tree(void **state)
{
	enum { ROUNDS = 3 };
	unsigned took[ARRAY_LEN(trees) * ROUNDS];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(trees) * part_of(ROUNDS, 3); i++) {
		struct told told = { 0 };
		uint64_t began;

		told_start(&told, *state, trees[i % ARRAY_LEN(trees)].script, &pipes);
		told_wait_text(&told, "ready");
		usleep(20000);
		began = now_ms();
		told.run->ops->kill(told.run);
		told_wait(&told);
		took[count++] = (unsigned)(now_ms() - began);
		if (count_processes(*state, "sleep 900.1") || took[count - 1] >= 5000)
			fail_msg("%s: %u ms, %d left", trees[i % ARRAY_LEN(trees)].name, took[count - 1],
			         count_processes(*state, "sleep 900.1"));
		assert_int_equal(told.end.why, RUN_CANCELLED);
		told_free(&told);
	}
	qsort(took, count, sizeof(*took), compare);
	print_message("cancel: median %u ms, longest %u ms\n", took[count / 2], took[count - 1]);
	assert_true(took[count / 2] < 1000);
}

static void test_free_ends_what_still_runs(void **state)
{
	struct told told = { 0 };

	told_start(&told, *state, "setsid sleep 900.2 & sleep 900.2", &pipes);
	usleep(50000);
	told_free(&told);
	assert_int_equal(count_processes(*state, "sleep 900.2"), 0);
}

/* A tree of some 500 processes, not one without end: what outruns the looks on a busy machine must
 * not take the machine and the tests beside it along. */
#define BOMB "bomb() { [ $1 = 0 ] && exec sleep 20.7; bomb $(($1 - 1)) | bomb $(($1 - 1)) & wait; }; " \
	"bomb 8"

static void test_a_fork_bomb_ends_with_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };
	uint64_t began = now_ms();

	fixture->plan.limits.processes = 40;
	told_run(&told, fixture, BOMB, &pipes);
	fixture->plan.limits.processes = 0;
	assert_int_equal(told.end.why, RUN_LIMIT);
	assert_int_equal(told.denial.kind, DENIAL_LIMIT);
	assert_non_null(strstr(told.denial.what, "processes"));
	print_message("fork bomb: over after %u ms\n", (unsigned)(now_ms() - began));
	told_free(&told);
	assert_int_equal(count_processes(fixture, "bomb()"), 0);
	assert_int_equal(count_processes(fixture, "sleep 20.7"), 0);
}

static void test_a_memory_hog_ends_with_an_error(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };

	fixture->plan.limits.memory_bytes = 32 << 20;
	/* It stays at 64 MiB: doubled on and on until a look, it took gigabytes. */
	told_run(&told, fixture, "a=x; for i in {1..26}; do a=$a$a; done; sleep 600", &pipes);
	fixture->plan.limits.memory_bytes = 0;
	assert_int_equal(told.end.why, RUN_LIMIT);
	assert_non_null(strstr(told.denial.what, "memory"));
	told_free(&told);
}

/* ---- where and with what it runs --------------------------------------------- */

static void test_it_works_in_a_folder_of_the_workspace(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *inner = mem_printf("%s/inner", fixture->root);
	_cleanup_free_ char *line = mem_printf("%s\n", inner);
	struct run_request request = { .no_input = true, .folder = "inner" };
	struct told told = { 0 };

	assert_int_equal(mkdir(inner, 0755), 0);
	told_run(&told, fixture, "pwd -P", &request);
	assert_string_equal(told_text(&told, 0), line);
	told_free(&told);
	request.folder = inner;
	told_run(&told, fixture, "pwd -P", &request);
	assert_string_equal(told_text(&told, 0), line);
	told_free(&told);
}

static void test_no_folder_outside_the_workspace_is_worked_in(void **state)
{
	struct fixture *fixture = *state;
	const char *const argv[] = { "true", NULL };
	_cleanup_free_ char *link = mem_printf("%s/out", fixture->root);
	_cleanup_free_ char *neighbour = mem_printf("%s-evil", fixture->root);
	const char *const folders[] = { "/etc", "..", "inner/../..", "out", neighbour };

	assert_int_equal(symlink("/etc", link), 0);
	assert_int_equal(mkdir(neighbour, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct run_request request = { .argv = argv, .no_input = true,
			                       .folder = folders[i] };
		struct told told = { 0 };
		struct err err = ERR_INIT;

		assert_false(told_try(&told, fixture, &request, &err));
		assert_int_equal(err.code, ERR_OUTSIDE_WORKSPACE);
	}
	rmdir(neighbour);
}

static void test_secrets_of_the_environment_stay_out(void **state)
{
	static const char *const secret[] = {
		"GEMINI_API_KEY", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NODE_AUTH_TOKEN",
		"npm_config__authToken", "MY_PASSWORD", "PIP_PASSWORD", "LD_PRELOAD_", "BASH_ENV",
		"SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "RANDOM_VARIABLE",
		"GIT_SSH_COMMAND", "LC_SECRET",
	};
	struct told told = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(secret); i++)
		setenv(secret[i], "CANARY", 1);
	setenv("HTTPS_PROXY", "http://me:CANARY@proxy:1", 1);
	setenv("GOFLAGS", "-mod=mod", 1);
	setenv("GIT_AUTHOR_NAME", "A U Thor", 1);
	setenv("LC_TIME", "C", 1);
	told_run(&told, *state, "env", NULL);
	assert_null(strstr(told_text(&told, 0), "CANARY"));
	for (const char *const *want = (const char *const[]){ "GOFLAGS=-mod=mod\n",
	             "GIT_AUTHOR_NAME=A U Thor\n", "LC_TIME=C\n", "GEMINI_CLI=1\n", "HASP=1\n",
	             "PAGER=cat\n", "GIT_TERMINAL_PROMPT=0\n", "TERM=dumb\n", "HOME=", "PATH=", NULL };
	     *want; want++)
		if (!strstr(told_text(&told, 0), *want))
			fail_msg("no %s in %s", *want, told_text(&told, 0));
	told_free(&told);
}

static void test_a_given_environment_is_all_there_is(void **state)
{
	const char *const env[] = { "ONLY=this", NULL };
	const struct run_request request = { .no_input = true, .env = env };
	struct told told = { 0 };

	told_run(&told, *state, "/usr/bin/env | grep -v -e ^_= -e ^PWD= -e ^SHLVL= -e ^OLDPWD=",
	         &request);
	assert_string_equal(told_text(&told, 0), "ONLY=this\n");
	told_free(&told);
}

static void test_no_signal_is_blocked_or_ignored(void **state)
{
	struct told told = { 0 };

	signal(SIGPIPE, SIG_IGN);
	told_run(&told, *state, "grep -e SigBlk -e SigIgn /proc/self/status", NULL);
	signal(SIGPIPE, SIG_DFL);
	assert_string_equal(told_text(&told, 0),
	                    "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	told_free(&told);
}

static void test_processes_are_counted_and_measured(void **state)
{
	struct told told = { 0 };

	told_run(&told, *state, "i=0; while ((i < 100000)); do ((i++)); done", NULL);
	assert_true(told.end.cpu_ms > 10);
	assert_true(told.end.wall_ms >= told.end.cpu_ms / 2);
	assert_true(told.end.peak_memory_bytes > 1 << 20);
	told_free(&told);
}

/* ---- a process that is not the command's alone -------------------------------- */

static void test_a_shared_process_leaves_its_other_children_alone(void **state)
{
	struct fixture *fixture = *state;
	struct told told = { 0 };
	pid_t bystander;

	fixture->plan.use = SANDBOX_USE_FILES;
	bystander = fork();
	if (bystander == 0) {
		execlp("sleep", "sleep", "900.3", (char *)NULL);
		_exit(1);
	}
	told_start(&told, fixture,
	           "(setsid bash -c 'sleep 900.4 & exec sleep 900.4' </dev/null >/dev/null 2>&1 &) ; "
	           "echo ready; sleep 900.4", &pipes);
	told_wait_text(&told, "ready");
	usleep(20000);
	told.run->ops->kill(told.run);
	told_wait(&told);
	told_free(&told);
	assert_int_equal(count_processes(fixture, "sleep 900.4"), 0);
	assert_int_equal(kill(bystander, 0), 0);
	fixture->plan.use = SANDBOX_USE_COMMAND;
	kill(bystander, SIGKILL);
}

/* A process that is just being executed shows no environment, by which it would be known. */
static void test_a_process_of_a_shared_one_ends_while_it_is_executed(void **state)
{
	enum { ROUNDS = 40 };
	struct fixture *fixture = *state;

	fixture->plan.use = SANDBOX_USE_FILES;
	for (size_t i = 0; i < part_of(ROUNDS, 4); i++) {
		struct told told = { 0 };

		told_start(&told, fixture,
		           "printf '#!/bin/sh\\nexec \"$0\" 900.6\\n' >again; chmod +x again; "
		           "(setsid ./again </dev/null >/dev/null 2>&1 &) ; echo ready; sleep 900.5",
		           &pipes);
		told_wait_text(&told, "ready");
		while (count_processes(fixture, "sh ./again") == 0)
			usleep(1000);
		told.run->ops->kill(told.run);
		told_wait(&told);
		told_free(&told);
		for (int look = 0; look < 5; look++)
			assert_int_equal(count_processes(fixture, ""), 0);
	}
	fixture->plan.use = SANDBOX_USE_COMMAND;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pipes_keep_output_and_errors_apart),
		cmocka_unit_test(test_merged_pipes_keep_the_order),
		cmocka_unit_test(test_a_signal_that_is_not_ours_is_told),
		cmocka_unit_test(test_a_missing_program_is_an_error_and_no_exit_code),
		cmocka_unit_test(test_binary_output_is_delivered_as_it_is),
		cmocka_unit_test(test_grandchildren_that_hold_the_pipe_do_not_delay_the_end),
		cmocka_unit_test(test_what_is_left_running_goes_on_and_is_told),
		cmocka_unit_test(test_a_slow_reader_slows_the_command_down),
		cmocka_unit_test(test_much_output_arrives_whole),
		cmocka_unit_test(test_input_reaches_a_reading_command),
		cmocka_unit_test(test_input_that_nobody_reads_is_refused_at_a_limit),
		cmocka_unit_test(test_no_input_is_the_end_of_input),
		cmocka_unit_test(test_given_descriptors_are_the_commands_own),
		cmocka_unit_test(test_no_other_descriptor_is_inherited),
		cmocka_unit_test(test_a_terminal_has_size_type_and_colours),
		cmocka_unit_test(test_a_terminal_is_resized_and_told_so),
		cmocka_unit_test(test_a_terminal_echoes_and_ends_input),
		cmocka_unit_test(test_the_interrupt_key_reaches_the_foreground),
		cmocka_unit_test(test_a_signal_reaches_the_group_without_a_terminal),
		cmocka_unit_test(test_time_is_limited),
		cmocka_unit_test(test_time_is_limited_for_a_reader_that_is_behind),
		cmocka_unit_test(test_time_is_limited_for_a_reader_that_does_nothing),
		cmocka_unit_test(test_a_reader_that_is_behind_is_no_silence),
		cmocka_unit_test(test_silence_is_limited),
		cmocka_unit_test(test_sigterm_lets_a_command_clean_up),
		cmocka_unit_test(test_cancel_ends_the_whole_tree),
		cmocka_unit_test(test_free_ends_what_still_runs),
		cmocka_unit_test(test_a_fork_bomb_ends_with_an_error),
		cmocka_unit_test(test_a_memory_hog_ends_with_an_error),
		cmocka_unit_test(test_it_works_in_a_folder_of_the_workspace),
		cmocka_unit_test(test_no_folder_outside_the_workspace_is_worked_in),
		cmocka_unit_test(test_secrets_of_the_environment_stay_out),
		cmocka_unit_test(test_a_given_environment_is_all_there_is),
		cmocka_unit_test(test_no_signal_is_blocked_or_ignored),
		cmocka_unit_test(test_processes_are_counted_and_measured),
		cmocka_unit_test(test_a_shared_process_leaves_its_other_children_alone),
		cmocka_unit_test(test_a_process_of_a_shared_one_ends_while_it_is_executed),
	};

	return cmocka_run_group_tests(tests, run_fixture_open, run_fixture_close);
}
