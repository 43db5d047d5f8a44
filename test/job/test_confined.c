/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of a session as they really run: in workers, at each level.
 *
 * A worker is this program again (its arguments are those of `hasp worker --confined`).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "part.h"
#include "patience.h"
#include "sleepers.h"
#include "worker/inside/serve.h"
#include "worker/job/job.h"
#include "worker/front/open.h"

/* What the tests of one level share. */
struct bench {
	enum sandbox_level level;
	pthread_mutex_t lock;          /* of what the watch has seen */
	pthread_cond_t seen;
	struct buf secrets;            /* "s" and "-", at each change */
	struct buf told;               /* of the last one: "started", "output", "ended" */
	bool orders;                   /* are given to a command as soon as it is known */
	char *root, *outside;
	struct provider *provider;
	struct jobs *jobs;
};

static enum sandbox_level level; /* of the tests that run */

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	return remove(path);
}

static struct provider *open_at(const char *root, const struct sandbox_limits *limits)
{
	const char *const roots[] = { root };
	const struct worker_options options = {
		.roots = roots, .root_count = 1, .level_given = true, .level = level,
		.limits = limits ? *limits : (struct sandbox_limits){ 0 },
		.commands_only = true,
	};
	struct provider *provider;
	struct err err = ERR_INIT;

	if (!(level == SANDBOX_PATHS ? local_provider_none : local_provider)(&options, &provider,
	                                                                     &err))
		fail_msg("%s", err.message);
	return provider;
}

/* ---- the watch of commands that are typed into ---- */

static void bench_note(struct bench *bench, const char *event)
{
	pthread_mutex_lock(&bench->lock);
	if (!bench->told.len || !span_ends(buf_view(&bench->told), span_str(event)))
		buf_printf(&bench->told, " %s", event);
	pthread_cond_broadcast(&bench->seen);
	pthread_mutex_unlock(&bench->lock);
}

/* Whoever is told of a command may give it orders at once. */
static void watch_started(void *data, unsigned id, const struct job_request *request)
{
	struct bench *bench = data;
	struct job *job = bench->orders ? jobs_find(bench->jobs, id) : NULL;

	(void)request;
	buf_clear(&bench->told);
	bench_note(bench, "started");
	if (!job)
		return;
	if (job_type(job, SPAN("typed at once\n"), false))
		job_send_away(job);
	job_release(job);
}

static void watch_output(void *data, unsigned id, struct span bytes)
{
	(void)id, (void)bytes;
	bench_note(data, "output");
}

static void watch_secret(void *data, unsigned id, bool secret)
{
	struct bench *bench = data;

	(void)id;
	pthread_mutex_lock(&bench->lock);
	buf_char(&bench->secrets, secret ? 's' : '-');
	pthread_cond_broadcast(&bench->seen);
	pthread_mutex_unlock(&bench->lock);
}

static void watch_ended(void *data, unsigned id)
{
	(void)id;
	bench_note(data, "ended");
}

static const struct jobs_watch watch = { watch_started, watch_output, watch_secret, watch_ended };

static int open_bench(void **state)
{
	struct bench *bench = mem_alloc(1, sizeof(*bench));
	_cleanup_free_ char *logs = NULL;
	struct jobs_options options = { 0 };

	bench->root = mem_strdup("/tmp/hasp-test-confined-XXXXXX");
	assert_non_null(mkdtemp(bench->root));
	bench->outside = mem_strdup("/var/tmp/hasp-test-outside-XXXXXX");
	assert_non_null(mkdtemp(bench->outside));
	bench->provider = open_at(bench->root, NULL);
	logs = mem_printf("%s/logs", bench->outside);
	options.log_folder = logs;
	pthread_mutex_init(&bench->lock, NULL);
	pthread_cond_init(&bench->seen, NULL);
	bench->secrets = (struct buf)BUF_INIT(100);
	bench->told = (struct buf)BUF_INIT(1000);
	options.watch = &watch;
	options.data = bench;
	bench->jobs = jobs_new(&options);
	*state = bench;
	return 0;
}

static int close_bench(void **state)
{
	struct bench *bench = *state;

	jobs_free(bench->jobs);
	buf_release(&bench->secrets);
	buf_release(&bench->told);
	provider_free(bench->provider);
	nftw(bench->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	nftw(bench->outside, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(bench->root);
	free(bench->outside);
	free(bench);
	return 0;
}

static struct job *start_with(struct bench *bench, struct provider *provider, const char *script,
                              const struct run_request *how)
{
	const char *const argv[] = { "bash", "-c", script, NULL };
	struct run_request run = how ? *how : (struct run_request){ .no_input = true };
	struct job_request request = { .run = &run, .command = script,
		                       .interactive = run.pty && run.rows };
	struct err err = ERR_INIT;
	struct job *job;

	run.argv = argv;
	run.merge = true;
	run.leave_running = true;
	if (!job_start(bench->jobs, provider, &request, &job, &err))
		fail_msg("%s", err.message);
	return job;
}

static struct job *start(struct bench *bench, const char *script)
{
	return start_with(bench, bench->provider, script, NULL);
}

static void finish(struct job *job, struct job_report *ret)
{
	if (!job_wait_all(job, PATIENCE_MS)) {
		job_report(job, ret);
		fail_msg("it does not end: %.300s", ret->text.head.data);
	}
	job_report(job, ret);
	job_release(job);
}

static const char *text(const struct job_report *report)
{
	return report->text.head.data ? report->text.head.data : "";
}

/* Runs it and compares what it prints. */
static void prints(struct bench *bench, const char *script, const char *wanted)
{
	struct job_report report;

	finish(start(bench, script), &report);
	assert_string_equal(text(&report), wanted);
	job_report_release(&report);
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void wait_for_sleepers(const char *seconds, int count)
{
	uint64_t until = now_ms() + PATIENCE_MS;

	while (sleepers_count(seconds) < count) {
		assert_true(now_ms() < until);
		usleep(5000);
	}
}

/* ---- tests ----------------------------------------------------------------------- */

static void test_a_command_runs_at_this_level(void **state)
{
	struct bench *bench = *state;
	struct job_report report;

	assert_int_equal(bench->provider->ops->info(bench->provider)->level, level);
	finish(start(bench, "echo out; echo err >&2; echo in > file; cat file; "
	                    "echo $SANDBOX $HASP_LEVEL $HASP $GEMINI_CLI; exit 3"), &report);
	assert_int_equal(report.info.end.exit_code, 3);
	assert_string_equal(text(&report), level == SANDBOX_PATHS ? "out\nerr\nin\n1 1\n" :
	                                   level == SANDBOX_FULL  ? "out\nerr\nin\nhasp full 1 1\n" :
	                                                            "out\nerr\nin\nhasp landlock 1 1\n");
	job_report_release(&report);
}

static void test_what_is_refused_is_told(void **state)
{
	struct bench *bench = *state;
	_cleanup_free_ char *file = mem_printf("%s/new", bench->outside);
	_cleanup_free_ char *script = mem_printf("echo x > %s; echo $?", file);
	struct job_report report;

	finish(start(bench, script), &report);
	if (level == SANDBOX_PATHS) {
		assert_int_equal(report.denial_count, 0);
	} else {
		assert_int_equal(access(file, F_OK), -1);
		assert_int_equal(report.denial_count, 1);
		assert_int_equal(report.denials[0].kind, DENIAL_WRITE);
		assert_string_equal(report.denials[0].what, file);
	}
	job_report_release(&report);
}

static void test_the_working_directory_gives_no_rights(void **state)
{
	struct bench *bench = *state;
	const char *const argv[] = { "true", NULL };
	const char *const folders[] = { bench->outside, "/", "..", "/proc/1/cwd" };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct run_request run = { .argv = argv, .no_input = true, .folder = folders[i] };
		struct job_request request = { .run = &run, .command = "true" };
		struct err err = ERR_INIT;
		struct job *job;

		assert_false(job_start(bench->jobs, bench->provider, &request, &job, &err));
		if (err.code != ERR_OUTSIDE_WORKSPACE)
			fail_msg("%s: %s: %s", folders[i], err_name(err.code), err.message);
	}
}

static void test_a_missing_program_is_an_error(void **state)
{
	struct bench *bench = *state;
	const char *const argv[] = { "no-such-program", NULL };
	const struct run_request run = { .argv = argv, .no_input = true };
	const struct job_request request = { .run = &run, .command = "x" };
	struct err err = ERR_INIT;
	struct job *job;

	assert_false(job_start(bench->jobs, bench->provider, &request, &job, &err));
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
}

static void test_a_terminal_is_one(void **state)
{
	const struct run_request sized = { .pty = true, .rows = 30, .columns = 100 };
	struct bench *bench = *state;
	struct job_report report;

	finish(start_with(bench, bench->provider,
	                  "test -t 0 && test -t 1 && stty size; tput cols; tty; echo x > /dev/tty",
	                  &sized), &report);
	assert_int_equal(strncmp(text(&report), "30 100\n100\n/dev/pts/", 20), 0);
	assert_non_null(strstr(text(&report), "\nx\n"));
	job_report_release(&report);
}

/* What the user types is seen by the command alone, and when it is a secret that is known. */
static void test_a_password_is_asked_for(void **state)
{
	const struct run_request typed = { .pty = true, .rows = 10, .columns = 40 };
	struct bench *bench = *state;
	struct job *job = start_with(bench, bench->provider,
	                             "read -s a; read b; echo got ${#a} $b; stty size", &typed);
	struct job_report report;

	pthread_mutex_lock(&bench->lock);
	while (!bench->secrets.len)
		pthread_cond_wait(&bench->seen, &bench->lock);
	pthread_mutex_unlock(&bench->lock);
	assert_false(job_input(job, SPAN("model\n")));
	job_resize(job, 12, 50);
	assert_true(job_type(job, SPAN("hunter2\n"), false));
	pthread_mutex_lock(&bench->lock);
	while (bench->secrets.len < 2)
		pthread_cond_wait(&bench->seen, &bench->lock);
	pthread_mutex_unlock(&bench->lock);
	assert_true(job_type(job, SPAN("seen\n"), false));
	finish(job, &report);
	assert_string_equal(text(&report), "seen\ngot 7 seen\n12 50\n");
	assert_int_equal(strncmp(bench->secrets.data, "s-", 2), 0);
	job_report_release(&report);
}

static void test_input_is_read(void **state)
{
	const struct run_request request = { 0 };
	struct bench *bench = *state;
	struct job *job = start_with(bench, bench->provider, "read a; echo got $a; cat", &request);
	struct job_report report;

	assert_true(job_input(job, SPAN("one\ntwo\n")));
	job_close_input(job);
	finish(job, &report);
	assert_string_equal(text(&report), "got one\ntwo\n");
	job_report_release(&report);
}

static void test_nothing_is_inherited(void **state)
{
	prints(*state, "cd /proc/self/fd; for i in *; do [[ $(readlink $i) == socket:* ]] && echo $i; "
	               "done; ulimit -c; grep -e SigBlk -e SigIgn /proc/self/status",
	       "0\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void test_orders_reach_a_command_that_has_just_started(void **state)
{
	const struct run_request how = { .pty = true, .rows = 10, .columns = 80 };
	struct bench *bench = *state;
	struct job_report report;
	struct job *job;

	bench->orders = true;
	job = start_with(bench, bench->provider, "read line; echo \"got $line\"", &how);
	assert_true(job_is_away(job));
	finish(job, &report);
	assert_non_null(strstr(text(&report), "got typed at once"));
	job_report_release(&report);
	pthread_mutex_lock(&bench->lock);
	while (!span_ends(buf_view(&bench->told), SPAN("ended")))
		pthread_cond_wait(&bench->seen, &bench->lock);
	assert_string_equal(bench->told.data, " started output ended");
	pthread_mutex_unlock(&bench->lock);
}

static void test_secrets_are_nowhere(void **state)
{
	/* Of the command, of the one who runs it, and of all that can be read. */
	prints(*state, "env | grep -c CANARY; cat /proc/$PPID/environ 2>/dev/null | grep -c CANARY; "
	               "echo $GOFLAGS", "0\n0\n-canary\n");
}

/* The command's parent is the one who runs it. */
static void test_the_one_who_runs_it_is_out_of_reach(void **state)
{
	if (level != SANDBOX_PATHS)
		prints(*state, "exec 2>/dev/null; head -c 1 /proc/$PPID/mem; cat /proc/$PPID/maps; "
		               "readlink /proc/$PPID/fd/*; kill -9 $PPID; kill -STOP $PPID; echo alive",
		       "alive\n");
}

static void test_temporary_files_are_the_sessions(void **state)
{
	struct bench *bench = *state;

	prints(bench, "echo kept > $TMPDIR/note; [[ $TMPDIR != /tmp || $HASP_LEVEL = full ]] && echo own",
	       "own\n");
	prints(bench, "cat $TMPDIR/note", "kept\n");
}

static void test_git_knows_its_user(void **state)
{
	prints(*state, "git init -q repo && cd repo && echo x > f && git add f && "
	               "git commit -q -m m && git log --format=%an", "A U Thor\n");
}

static void test_much_output_goes_to_the_log(void **state)
{
	const size_t bytes = part_of(50 << 20, 5);
	_cleanup_free_ char *script = mem_printf("yes 0123456789abcde | head -c %zu", bytes);
	struct bench *bench = *state;
	struct job_report report;
	struct stat info;

	finish(start(bench, script), &report);
	assert_int_equal(stat(report.log_path, &info), 0);
	assert_int_equal(info.st_size, bytes);
	print_message("%zu MiB into a log: %u ms\n", bytes >> 20, (unsigned)report.info.end.wall_ms);
	job_report_release(&report);
}

static void test_time_is_limited(void **state)
{
	const struct run_request request = { .no_input = true, .timeout_ms = 200 };
	struct bench *bench = *state;
	struct job_report report;

	finish(start_with(bench, bench->provider, "trap '' TERM; echo a; (setsid sleep 903.1 &); "
	                  "sleep 903.1", &request), &report);
	assert_int_equal(report.info.end.why, RUN_TIMED_OUT);
	assert_int_equal(sleepers_count("903.1"), 0);
	job_report_release(&report);
}

/* In a new session each time anybody could look: forks on for a minute, as fast as it can, and holds
 * a lock as long as it lives. */
static int race(const char *lock_file)
{
	const time_t until = time(NULL) + 60;
	int lock = open(lock_file, O_RDWR | O_CREAT, 0600);

	if (lock < 0 || flock(lock, LOCK_EX) < 0)
		return 1;
	signal(SIGTERM, SIG_IGN);
	for (int i = 0; time(NULL) < until; i++) {
		const pid_t child = fork();

		if (child > 0)
			_exit(0);
		if (child == 0) /* else there are too many until the dead are reaped */
			setsid();
		if (i == 100)
			close(open("ready", O_RDWR | O_CREAT, 0600));
	}
	return 0;
}

static void test_what_outruns_a_look_is_ended(void **state)
{
	struct bench *bench = *state;
	/* A copy: this program may lie where commands have a folder of their own, as beneath /tmp. */
	_cleanup_free_ char *copy = mem_printf("cp /proc/%d/exe %s/racer", (int)getpid(), bench->root);
	_cleanup_free_ char *ready = mem_printf("%s/ready", bench->root);
	_cleanup_free_ char *path = mem_printf("%s/racing", bench->root);
	_cleanup_free_ char *script = mem_printf("cd %s; ./racer race racing; sleep 60", bench->root);

	if (level == SANDBOX_PATHS) {
		print_message("Nothing keeps a command's processes together here: not tested.\n");
		return;
	}
	assert_int_equal(system(copy), 0);
	for (unsigned round = 0; round < part_of(3, 3); round++) {
		struct job *job = start(bench, script);
		struct job_report report;
		time_t begun;
		int lock;

		for (int i = 0; i < PATIENCE_MS / 5 && access(ready, F_OK) != 0; i++)
			usleep(5000);
		if (unlink(ready) != 0) {
			job_report(job, &report);
			fail_msg("round %u: state %d, why %d, exit %d: %s", round, report.info.state,
			         report.info.end.why, report.info.end.exit_code, text(&report));
		}
		job_kill(job);
		finish(job, &report);
		lock = open(path, O_RDWR);
		assert_true(lock >= 0);
		/* Who was killed gives it up when the kernel comes to it; who was not, later. */
		begun = time(NULL);
		assert_int_equal(flock(lock, LOCK_EX), 0);
		assert_true(time(NULL) - begun < 50);
		close(lock);
		job_report_release(&report);
	}
}

static int compare(const void *a, const void *b)
{
	unsigned one = *(const unsigned *)a, other = *(const unsigned *)b;

	return (one > other) - (one < other);
}

static void test_cancel_ends_the_whole_tree(void **state)
{
	static const char *const scripts[] = {
		"sleep 903.2 | sleep 903.2",
		"trap '' TERM; sleep 903.2 & setsid sleep 903.2",
		"setsid bash -c 'sleep 903.2 & exec sleep 903.2' & sleep 903.2 & kill -STOP $$",
	};
	unsigned took[ARRAY_LEN(scripts) * 3];
	const size_t count = part_of(ARRAY_LEN(took), 3);
	struct bench *bench = *state;

	for (size_t i = 0; i < count; i++) {
		struct job *job = start(bench, scripts[i % ARRAY_LEN(scripts)]);
		struct job_report report;
		uint64_t began;

		wait_for_sleepers("903.2", 2);
		began = now_ms();
		job_kill(job);
		finish(job, &report);
		took[i] = (unsigned)(now_ms() - began);
		assert_int_equal(sleepers_count("903.2"), 0);
		assert_int_equal(report.info.end.why, RUN_CANCELLED);
		job_report_release(&report);
	}
	qsort(took, count, sizeof(*took), compare);
	print_message("cancel: median %u ms, longest %u ms\n", took[count / 2], took[count - 1]);
}

static void test_what_is_left_running_runs_until_it_is_killed(void **state)
{
	struct bench *bench = *state;
	struct job *job = start(bench, "(trap '' TERM; sleep 903.3 & >sleeps; wait; echo late) & "
	                               "until [ -e sleeps ]; do :; done; echo early; exit 5");
	struct job_info info;

	assert_true(job_wait(job, PATIENCE_MS));
	job_state(job, &info);
	assert_int_equal(info.state, JOB_LEFT);
	assert_int_equal(info.end.exit_code, 5);
	assert_int_equal(info.end.left_running, 2);
	wait_for_sleepers("903.3", 1);
	job_kill(job);
	assert_true(job_wait_all(job, PATIENCE_MS));
	assert_int_equal(sleepers_count("903.3"), 0);
	job_release(job);
}

static void test_the_end_of_the_session_ends_all(void **state)
{
	struct bench *bench = *state;
	struct jobs *jobs = bench->jobs;

	bench->jobs = jobs_new(&(struct jobs_options){ 0 });
	for (int i = 0; i < 3; i++)
		job_release(start(bench, "(setsid sleep 903.4 &); sleep 903.4"));
	wait_for_sleepers("903.4", 6);
	jobs_free(bench->jobs);
	assert_int_equal(sleepers_count("903.4"), 0);
	bench->jobs = jobs;
}

static void ends_with_limit(struct bench *bench, const struct sandbox_limits *limits,
                            const char *script, const char *what)
{
	struct provider *provider = open_at(bench->root, limits);
	struct job_report report;
	uint64_t began = now_ms();

	finish(start_with(bench, provider, script, NULL), &report);
	print_message("%s: over after %u ms, %s\n", what, (unsigned)(now_ms() - began),
	              worker_run_why_name(report.info.end.why));
	assert_true(report.denial_count >= 1);
	assert_int_equal(report.denials[0].kind, DENIAL_LIMIT);
	assert_non_null(strstr(report.denials[0].what, what));
	job_report_release(&report);
	jobs_end_of(bench->jobs, provider);
	provider_free(provider);
}

/* A tree of some 500 processes, not one without end: what outruns the looks on a busy machine must
 * not take the machine and the tests beside it along. */
#define BOMB "bomb() { [ $1 = 0 ] && exec sleep 300.7; bomb $(($1 - 1)) | bomb $(($1 - 1)) & wait; }; " \
	"bomb 8"

static void test_a_fork_bomb_ends_with_an_error(void **state)
{
	const struct sandbox_limits limits = { .processes = 40 };

	ends_with_limit(*state, &limits, BOMB, "processes");
	assert_int_equal(sleepers_count("300.7"), 0);
}

static void test_a_memory_hog_ends_with_an_error(void **state)
{
	const struct sandbox_limits limits = { .memory_bytes = 32 << 20 };

	/* It stays at 64 MiB, or bash may meet a limit of its own before anybody looks. */
	ends_with_limit(*state, &limits, "a=x; for i in {1..26}; do a=$a$a; done; sleep 600", "memory");
}

static void test_a_file_too_large_is_not_written(void **state)
{
	const struct sandbox_limits limits = { .file_bytes = 1 << 20 };
	struct bench *bench = *state;
	struct provider *provider = open_at(bench->root, &limits);
	struct job_report report;

	finish(start_with(bench, provider, "head -c 2000000 /dev/zero > big; stat -c %s big", NULL),
	       &report);
	assert_non_null(strstr(text(&report), "1048576\n"));
	job_report_release(&report);
	jobs_end_of(bench->jobs, provider);
	provider_free(provider);
}

static void test_short_commands_follow_one_another(void **state)
{
	struct bench *bench = *state;

	for (size_t i = 0; i < part_of(21, 3); i++) {
		struct job_report report;

		finish(start(bench, ":"), &report);
		assert_int_equal(report.info.end.exit_code, 0);
		job_report_release(&report);
	}
}

static int run_level(enum sandbox_level now)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_command_runs_at_this_level),
		cmocka_unit_test(test_what_is_refused_is_told),
		cmocka_unit_test(test_the_working_directory_gives_no_rights),
		cmocka_unit_test(test_a_missing_program_is_an_error),
		cmocka_unit_test(test_a_terminal_is_one),
		cmocka_unit_test(test_a_password_is_asked_for),
		cmocka_unit_test(test_input_is_read),
		cmocka_unit_test(test_nothing_is_inherited),
		cmocka_unit_test(test_orders_reach_a_command_that_has_just_started),
		cmocka_unit_test(test_secrets_are_nowhere),
		cmocka_unit_test(test_the_one_who_runs_it_is_out_of_reach),
		cmocka_unit_test(test_temporary_files_are_the_sessions),
		cmocka_unit_test(test_git_knows_its_user),
		cmocka_unit_test(test_much_output_goes_to_the_log),
		cmocka_unit_test(test_time_is_limited),
		cmocka_unit_test(test_cancel_ends_the_whole_tree),
		cmocka_unit_test(test_what_outruns_a_look_is_ended),
		cmocka_unit_test(test_what_is_left_running_runs_until_it_is_killed),
		cmocka_unit_test(test_the_end_of_the_session_ends_all),
		cmocka_unit_test(test_a_fork_bomb_ends_with_an_error),
		cmocka_unit_test(test_a_memory_hog_ends_with_an_error),
		cmocka_unit_test(test_a_file_too_large_is_not_written),
		cmocka_unit_test(test_short_commands_follow_one_another),
	};

	level = now;
	return _cmocka_run_group_tests(sandbox_level_name(now), tests, ARRAY_LEN(tests), open_bench,
	                               close_bench);
}

int main(int argc, char **argv)
{
	const struct worker_serve_options serve = { .read_fd = 0, .write_fd = 0, .confined = true };

	if (argc > 1 && strcmp(argv[1], "worker") == 0)
		return worker_serve(&serve);
	if (argc > 2 && strcmp(argv[1], "race") == 0)
		return race(argv[2]);
	/* Commands are known by what they are called (pgrep): no other of these programs runs beside. */
	assert_int_equal(flock(open("/tmp/hasp-test-confined.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666),
	                       LOCK_EX), 0);
	setenv("GEMINI_API_KEY", "CANARY", 1);
	setenv("GOFLAGS", "-canary", 1);
	setenv("GIT_AUTHOR_NAME", "A U Thor", 1);
	setenv("GIT_AUTHOR_EMAIL", "author@example.org", 1);
	setenv("GIT_COMMITTER_NAME", "A U Thor", 1);
	setenv("GIT_COMMITTER_EMAIL", "author@example.org", 1);
	return run_level(SANDBOX_FULL) + run_level(SANDBOX_LANDLOCK) + run_level(SANDBOX_PATHS);
}
