/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a session: their output, their logs, background and end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "part.h"
#include "patience.h"
#include "run_provider.h"
#include "sleepers.h"
#include "worker/job/job.h"

struct session_of_jobs {
	struct provider *provider;
	char *logs;
};

static int open_provider(void **state)
{
	struct session_of_jobs *own = mem_alloc(1, sizeof(*own));

	own->provider = run_provider_new();
	own->logs = mem_printf("%s/logs/of/it", run_provider_root(own->provider));
	*state = own;
	return 0;
}

static int close_provider(void **state)
{
	struct session_of_jobs *own = *state;

	run_provider_free(own->provider);
	free(own->logs);
	free(own);
	return 0;
}

static struct jobs *new_jobs(const struct session_of_jobs *own)
{
	const struct jobs_options options = { .log_folder = own->logs };

	return jobs_new(&options);
}

static struct job *start(struct session_of_jobs *own, struct jobs *jobs, const char *script,
                         const struct job_request *how)
{
	const char *const argv[] = { "bash", "-c", script, NULL };
	const struct run_request run = { .argv = argv, .no_input = !how || !how->background,
		                         .merge = true, .leave_running = true };
	struct job_request request = how ? *how : (struct job_request){ 0 };
	struct err err = ERR_INIT;
	struct job *job;

	request.run = &run;
	request.command = script;
	if (!job_start(jobs, own->provider, &request, &job, &err))
		fail_msg("%s", err.message);
	return job;
}

static struct job *run_to_end(struct session_of_jobs *own, struct jobs *jobs, const char *script)
{
	struct job *job = start(own, jobs, script, NULL);

	assert_true(job_wait_all(job, PATIENCE_MS));
	return job;
}

static size_t entries(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	size_t count = 0;

	while (folder && (entry = readdir(folder)))
		count += entry->d_name[0] != '.';
	if (folder)
		closedir(folder);
	return count;
}

static const char *text_of(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

/* ---- output -------------------------------------------------------------------- */

static void test_short_output_is_whole_and_has_no_log(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = run_to_end(own, jobs, "echo a; echo b >&2; exit 7");
	struct job_report report;
	unsigned id = job_id(job);

	job_report(job, &report);
	assert_string_equal(text_of(&report.text.head), "a\nb\n");
	assert_int_equal(report.text.tail.len, 0);
	assert_int_equal(report.text.left_out_bytes, 0);
	assert_int_equal(report.info.state, JOB_ENDED);
	assert_int_equal(report.info.end.exit_code, 7);
	assert_int_equal(report.info.bytes, 4);
	assert_true(report.info.pid > 0);
	assert_null(report.log_path);
	job_report_release(&report);
	job_release(job);
	assert_null(jobs_find(jobs, id)); /* nobody has a reason to ask for it again */
	jobs_free(jobs);
	assert_int_equal(access(own->logs, F_OK), -1);
}

static void check_long(struct job *job, const char *logs)
{
	_cleanup_free_ char *compare = NULL;
	struct job_report report;
	struct stat info;

	job_report(job, &report);
	assert_int_equal(strncmp(report.text.head.data, "1\n2\n3\n", 6), 0);
	assert_in_range(report.text.head.len, JOB_HEAD_BYTES_DEFAULT - 4, JOB_HEAD_BYTES_DEFAULT);
	assert_string_equal(report.text.tail.data + report.text.tail.len - 14, "199999\n200000\n");
	assert_in_range(report.text.tail.len, JOB_TAIL_BYTES_DEFAULT - 10, JOB_TAIL_BYTES_DEFAULT);
	assert_int_equal(report.text.head.len + report.text.tail.len + report.text.left_out_bytes,
	                 1288895);
	assert_in_range(report.text.left_out_lines, 190000, 199000);
	assert_int_equal(report.log_errno, 0);
	assert_int_equal(strncmp(report.log_path, logs, strlen(logs)), 0);
	assert_int_equal(stat(report.log_path, &info), 0);
	assert_int_equal(info.st_size, 1288895);
	assert_int_equal(info.st_mode & 0777, 0600);
	compare = mem_printf("seq 1 200000 | cmp -s - %s", report.log_path);
	assert_int_equal(system(compare), 0);
	job_report_release(&report);
}

static void test_long_output_is_its_ends_and_a_log(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = run_to_end(own, jobs, "seq 1 200000");
	struct stat info;
	unsigned id = job_id(job);

	check_long(job, own->logs);
	job_release(job);
	job = jobs_find(jobs, id); /* somebody may want to read the rest */
	assert_non_null(job);
	check_long(job, own->logs);
	job_release(job);
	assert_int_equal(stat(own->logs, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	assert_int_equal(entries(own->logs), 1);
	jobs_free(jobs);
	assert_int_equal(entries(own->logs), 0);
}

static long resident_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long size = 0, resident = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &size, &resident), 2);
	fclose(file);
	return resident * (getpagesize() / 1024);
}

static void test_much_output_takes_no_memory_and_is_in_the_log(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	const size_t bytes = part_of(100 << 20, 4);
	_cleanup_free_ char *script = mem_printf("yes 0123456789abcde | head -c %zu", bytes);
	long before = resident_kib();
	struct job *job = run_to_end(own, jobs, script);
	struct job_report report;
	struct stat info;

	job_report(job, &report);
	assert_int_equal(stat(report.log_path, &info), 0);
	assert_int_equal(info.st_size, bytes);
	assert_int_equal(report.info.bytes, bytes);
	print_message("%zu MiB into a log: %u ms, %ld KiB more resident\n", bytes >> 20,
	              (unsigned)report.info.end.wall_ms, resident_kib() - before);
	assert_true(resident_kib() - before < (long)(bytes >> 10) / 3);
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
}

static void test_a_log_is_bounded(void **state)
{
	struct session_of_jobs *own = *state;
	const struct jobs_options options = { .log_folder = own->logs, .log_bytes = 100000 };
	struct jobs *jobs = jobs_new(&options);
	struct job *job = run_to_end(own, jobs, "seq 1 200000");
	struct capture_part part;
	struct err err = ERR_INIT;
	struct job_report report;
	struct stat info;

	job_report(job, &report);
	assert_int_equal(report.log_errno, EFBIG);
	assert_int_equal(stat(report.log_path, &info), 0);
	assert_int_equal(info.st_size, 100000);
	job_report_release(&report);
	assert_true(job_last(job, 2, &part, &err)); /* the end is still known */
	assert_string_equal(part.text.data, "199999\n200000\n");
	buf_release(&part.text);
	job_release(job);
	jobs_free(jobs);
}

static void test_a_full_disk_is_told_and_stops_nothing(void **state)
{
	struct session_of_jobs *own = *state;
	_cleanup_free_ char *small = mem_printf("%s/small", run_provider_root(own->provider));
	const struct jobs_options options = { .log_folder = small };
	struct jobs *jobs = jobs_new(&options);
	struct job_report report;
	struct job *job;

	assert_int_equal(mkdir(small, 0700), 0);
	assert_int_equal(mount("small", small, "tmpfs", 0, "size=256k"), 0);
	job = run_to_end(own, jobs, "seq 1 200000");
	job_report(job, &report);
	assert_int_equal(report.log_errno, ENOSPC);
	assert_int_equal(report.info.end.exit_code, 0);
	assert_string_equal(report.text.tail.data + report.text.tail.len - 7, "200000\n");
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
	assert_int_equal(entries(small), 0);
	assert_int_equal(umount(small), 0);
}

static void test_without_a_folder_for_logs_the_ends_are_kept(void **state)
{
	struct session_of_jobs *own = *state;
	const struct jobs_options options = { .log_folder = "/proc/no/such" };
	struct jobs *jobs = jobs_new(&options);
	struct job *job = run_to_end(own, jobs, "seq 1 200000");
	struct job_report report;

	job_report(job, &report);
	assert_true(report.log_errno != 0);
	assert_null(report.log_path);
	assert_string_equal(report.text.tail.data + report.text.tail.len - 7, "200000\n");
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
}

static void *send_away_soon(void *data)
{
	usleep(50000);
	job_send_away(data);
	return NULL;
}

/* None of these waits has a limit of time: a lost wake-up would last for ever. */
static void test_who_waits_for_news_is_woken_by_each(void **state)
{
	struct session_of_jobs *own = *state;
	const struct job_request background = { .background = true };
	struct job_news news = { .bytes = UINT64_MAX, .ms = -1 };
	struct jobs *jobs = new_jobs(own);
	struct job *job = start(own, jobs, "echo a; (read b; echo c) & read d; exit 3",
	                        &background);
	struct cancel cancel;
	pthread_t thread;

	news.bytes = 0;
	assert_false(job_wait_news(job, &news));
	assert_true(job_output_bytes(job) > 0);
	news.bytes = UINT64_MAX;
	cancel_init_lazily(&cancel);
	news.cancel = &cancel;
	cancel_set(&cancel);
	assert_false(job_wait_news(job, &news));
	news.cancel = NULL;
	assert_int_equal(pthread_create(&thread, NULL, send_away_soon, job), 0);
	assert_false(job_wait_news(job, &news));
	assert_true(job_is_away(job));
	pthread_join(thread, NULL);
	news.all = true; /* where it went does not matter to this one */
	news.ms = 1;
	assert_false(job_wait_news(job, &news));
	news.ms = -1;
	job_close_input(job);
	assert_true(job_wait_news(job, &news));
	assert_true(job_wait_all(job, 0));
	cancel_release(&cancel);
	job_release(job);
	jobs_free(jobs);
}

static void *wait_for_the_end(void *data)
{
	const struct job_news news = { .bytes = UINT64_MAX, .ms = -1 };

	assert_true(job_wait_news(data, &news));
	return NULL;
}

static void test_several_wait_for_news_of_one_job(void **state)
{
	struct session_of_jobs *own = *state;
	const struct job_request background = { .background = true };
	struct jobs *jobs = new_jobs(own);
	struct job *job = start(own, jobs, "read a", &background);
	pthread_t threads[4];

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, wait_for_the_end, job), 0);
	usleep(50000);
	job_close_input(job);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	job_release(job);
	jobs_free(jobs);
}

static void test_logs_of_killed_sessions_are_removed_and_others_not(void **state)
{
	struct session_of_jobs *own = *state;
	const struct jobs_options keeping = { .log_folder = own->logs, .keep_logs = true };
	_cleanup_free_ char *stale = mem_printf("%s/session-stale", own->logs);
	_cleanup_free_ char *log = mem_printf("%s/1.log", stale);
	struct jobs *living = new_jobs(own), *kept = jobs_new(&keeping), *last;
	FILE *file;

	job_release(run_to_end(own, living, "seq 1 20000"));
	job_release(run_to_end(own, kept, "seq 1 20000"));
	jobs_free(kept);
	assert_int_equal(mkdir(stale, 0700), 0);
	file = fopen(log, "we");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(entries(own->logs), 3);
	last = new_jobs(own);
	job_release(run_to_end(own, last, "seq 1 20000"));
	assert_int_equal(access(stale, F_OK), -1);
	assert_int_equal(entries(own->logs), 3); /* the living, the kept, the last */
	jobs_free(last);
	jobs_free(living);
	assert_int_equal(entries(own->logs), 1);
	{
		_cleanup_free_ char *remove = mem_printf("rm -r %s", own->logs);

		assert_int_equal(system(remove), 0);
	}
}

static void test_a_log_that_became_a_link_is_not_read(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = run_to_end(own, jobs, "seq 1 20000");
	struct job_report report;
	struct capture_part part;
	struct err err = ERR_INIT;

	job_report(job, &report);
	assert_int_equal(unlink(report.log_path), 0);
	assert_int_equal(symlink("/etc/passwd", report.log_path), 0);
	assert_false(job_last(job, 10, &part, &err));
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
}

static void test_binary_output_is_known(void **state)
{
	static const struct {
		const char *script;
		bool binary;
	} cases[] = {
		{ "printf 'a\\0b'", true },
		{ "head -c 5000 /bin/bash", true },
		{ "head -c 3000 /dev/urandom | tr -d '\\0'", true },
		{ "printf 'Gr\\374\\337e aus K\\366ln, ganz viel Text'", false }, /* Latin-1 */
		{ "echo 'äöü €'", false },
		{ "printf '\\033[31mred\\033[0m\\r\\n\\a'", false },
		{ "printf '\\377'", false },
		{ ":", false },
	};
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct job *job = run_to_end(own, jobs, cases[i].script);
		struct job_report report;

		job_report(job, &report);
		if (report.binary != cases[i].binary)
			fail_msg("%s: %d", cases[i].script, report.binary);
		assert_true(!report.binary || !report.text.head.len);
		job_report_release(&report);
		job_release(job);
	}
	jobs_free(jobs);
}

static void test_output_that_becomes_binary_is_text_up_to_there(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = run_to_end(own, jobs, "seq 1 2000; sleep 0.2; head -c 100000 /bin/bash; "
	                                        "echo; seq 1 2000");
	struct job_report report;

	job_report(job, &report);
	assert_false(report.binary);
	/* Of what is read at once, some of a piece may be both. */
	assert_in_range(report.text_bytes, 8000, 20000);
	assert_non_null(strstr(report.text.head.data, "\n1500\n"));
	assert_null(strstr(report.text.head.data, "ELF"));
	assert_int_equal(report.text.tail.len, 0);
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
}

static void test_storms_of_escapes_leave_the_text(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = run_to_end(own, jobs,
		"for i in {16001..20000}; do printf '\\r\\033[2K\\033[1;31m%5d\\033]0;t\\007' $i; done; echo; "
		"printf '\\033]0;'; head -c 300000 /dev/zero | tr '\\0' x; printf '\\nend\\377\\n'");
	struct job_report report;

	job_report(job, &report);
	assert_int_equal(strncmp(report.text.head.data, "20000\n", 6), 0);
	assert_non_null(strstr(report.text.tail.data, "\nend\357\277\275\n"));
	job_report_release(&report);
	job_release(job);
	jobs_free(jobs);
}

/* ---- background ---------------------------------------------------------------- */

static void test_a_background_job_is_listed_read_and_killed(void **state)
{
	const struct job_request background = { .background = true };
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = start(own, jobs, "echo one; echo two; echo three; sleep 901.1", &background);
	struct capture_part part;
	struct job_info *infos;
	struct err err = ERR_INIT;
	unsigned id = job_id(job);

	while (job_output_bytes(job) < 14)
		usleep(1000);
	job_release(job);
	assert_int_equal(jobs_list(jobs, &infos), 1);
	assert_int_equal(infos[0].id, id);
	assert_int_equal(infos[0].state, JOB_RUNNING);
	assert_non_null(strstr(infos[0].command, "sleep 901.1"));
	job_infos_free(infos, 1);
	job = jobs_find(jobs, id);
	assert_true(job_last(job, 2, &part, &err));
	assert_string_equal(part.text.data, "two\nthree\n");
	assert_true(part.cut);
	assert_int_equal(part.next, 14);
	buf_release(&part.text);
	assert_true(job_from(job, 4, &part, &err));
	assert_string_equal(part.text.data, "two\nthree\n");
	assert_int_equal(part.next, 14);
	buf_release(&part.text);
	job_kill(job);
	assert_true(job_wait_all(job, PATIENCE_MS));
	assert_true(job_from(job, 0, &part, &err)); /* also after its end */
	assert_string_equal(part.text.data, "one\ntwo\nthree\n");
	buf_release(&part.text);
	assert_int_equal(jobs_list(jobs, &infos), 1);
	assert_int_equal(infos[0].state, JOB_ENDED);
	assert_int_equal(infos[0].end.why, RUN_CANCELLED);
	job_infos_free(infos, 1);
	job_release(job);
	jobs_free(jobs);
}

static void test_what_a_command_leaves_behind_is_a_background_job(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = start(own, jobs, "sleep 901.2 & echo started", NULL);
	struct job_info info;

	assert_true(job_wait(job, PATIENCE_MS));
	job_state(job, &info);
	assert_int_equal(info.state, JOB_LEFT);
	assert_int_equal(info.end.left_running, 1);
	assert_int_equal(info.end.exit_code, 0);
	assert_false(job_wait_all(job, 100));
	job_kill(job);
	assert_true(job_wait_all(job, PATIENCE_MS));
	job_state(job, &info);
	assert_int_equal(info.end.why, RUN_EXITED);
	job_release(job);
	jobs_free(jobs);
}

static void test_input_is_written_and_ended(void **state)
{
	const struct job_request background = { .background = true };
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = start(own, jobs, "cat; echo over", &background);
	struct job_report report;

	assert_true(job_input(job, SPAN("hello\n")));
	job_close_input(job);
	assert_true(job_wait_all(job, PATIENCE_MS));
	job_report(job, &report);
	assert_string_equal(report.text.head.data, "hello\nover\n");
	job_report_release(&report);
	assert_false(job_input(job, SPAN("late")));
	job_release(job);
	jobs_free(jobs);
}

static void test_a_long_log_is_read_in_parts_of_whole_lines(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = run_to_end(own, jobs, "seq 1 100000");
	_cleanup_buf_ struct buf all = BUF_INIT(1 << 20);
	struct capture_part part;
	struct err err = ERR_INIT;
	uint64_t offset = 0;

	do {
		assert_true(job_from(job, offset, &part, &err));
		assert_int_equal(part.offset, offset);
		offset = part.next;
		if (part.text.len)
			assert_int_equal(part.text.data[part.text.len - 1], '\n');
		buf_span(&all, buf_view(&part.text));
		buf_release(&part.text);
	} while (part.next > part.offset);
	assert_int_equal(all.len, 588895);
	assert_string_equal(all.data + all.len - 13, "99999\n100000\n");
	job_release(job);
	jobs_free(jobs);
}

/* ---- the end ------------------------------------------------------------------- */

static void test_the_sessions_end_kills_all(void **state)
{
	const struct job_request background = { .background = true };
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);

	for (int i = 0; i < 5; i++)
		job_release(start(own, jobs, "trap '' TERM; setsid sleep 901.3 & sleep 901.3", &background));
	while (sleepers_count("901.3") < 10)
		usleep(5000);
	jobs_free(jobs);
	assert_int_equal(sleepers_count("901.3"), 0);
}

static void test_a_providers_end_kills_its_jobs_and_keeps_their_output(void **state)
{
	const struct job_request background = { .background = true };
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct job *job = start(own, jobs, "echo here; sleep 901.4", &background);
	struct capture_part part;
	struct err err = ERR_INIT;

	while (!job_output_bytes(job))
		usleep(1000);
	jobs_end_of(jobs, own->provider);
	assert_int_equal(sleepers_count("901.4"), 0);
	assert_true(job_last(job, 10, &part, &err));
	assert_string_equal(part.text.data, "here\n");
	buf_release(&part.text);
	job_kill(job); /* of no use, and no harm */
	assert_false(job_input(job, SPAN("x")));
	job_release(job);
	jobs_free(jobs);
}

static void test_so_many_at_once_and_no_more(void **state)
{
	const char *const argv[] = { "sleep", "901.5", NULL };
	const struct run_request run = { .argv = argv, .no_input = true };
	const struct job_request request = { .run = &run, .command = "sleep", .background = true };
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	struct err err = ERR_INIT;
	struct job *job;

	for (size_t i = 0; i < LIMIT_JOBS_RUNNING; i++) {
		assert_true(job_start(jobs, own->provider, &request, &job, &err));
		job_release(job);
	}
	assert_false(job_start(jobs, own->provider, &request, &job, &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_ptr_equal(strstr(err.message, "64 commands"), err.message);
	jobs_free(jobs);
}

/* Starts commands until none may any more; counts them. */
static void *start_many(void *data)
{
	const char *const argv[] = { "sleep", "901.6", NULL };
	const struct run_request run = { .argv = argv, .no_input = true };
	const struct job_request request = { .run = &run, .command = "sleep", .background = true };
	struct session_of_jobs *own = ((void **)data)[0];
	struct jobs *jobs = ((void **)data)[1];
	_Atomic size_t *started = ((void **)data)[2];
	struct err err = ERR_INIT;
	struct job *job;

	while (job_start(jobs, own->provider, &request, &job, &err)) {
		++*started;
		job_release(job);
	}
	/* Those that are being started count too, in the sentence as in the limit. */
	assert_ptr_equal(strstr(err.message, "64 commands"), err.message);
	return NULL;
}

static void test_the_limit_is_kept_and_named_while_others_start(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	_Atomic size_t started = 0;
	void *shared[] = { own, jobs, (void *)&started };
	pthread_t threads[8];

	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, start_many, shared), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(started, LIMIT_JOBS_RUNNING);
	jobs_free(jobs);
}

static void *many(void *data)
{
	struct session_of_jobs *own = ((void **)data)[0];
	struct jobs *jobs = ((void **)data)[1];

	for (size_t i = 0; i < part_of(8, 2); i++) {
		struct job *job = run_to_end(own, jobs, "seq 1 20000; exit 5");
		struct job_report report;

		job_report(job, &report);
		assert_int_equal(report.info.end.exit_code, 5);
		assert_int_equal(report.info.bytes, 108894);
		job_report_release(&report);
		job_release(job);
	}
	return NULL;
}

static void test_threads_share_the_table(void **state)
{
	struct session_of_jobs *own = *state;
	struct jobs *jobs = new_jobs(own);
	void *data[] = { own, jobs };
	pthread_t threads[6];
	struct job_info *infos;
	size_t count;

	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, many, data), 0);
	for (int i = 0; i < 20; i++) {
		count = jobs_list(jobs, &infos);
		job_infos_free(infos, count);
		usleep(5000);
	}
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	count = jobs_list(jobs, &infos);
	assert_int_equal(count, ARRAY_LEN(threads) * part_of(8, 2));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(infos[i].id, i + 1);
	job_infos_free(infos, count);
	jobs_free(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short_output_is_whole_and_has_no_log),
		cmocka_unit_test(test_who_waits_for_news_is_woken_by_each),
		cmocka_unit_test(test_several_wait_for_news_of_one_job),
		cmocka_unit_test(test_long_output_is_its_ends_and_a_log),
		cmocka_unit_test(test_much_output_takes_no_memory_and_is_in_the_log),
		cmocka_unit_test(test_a_log_is_bounded),
		cmocka_unit_test(test_a_full_disk_is_told_and_stops_nothing),
		cmocka_unit_test(test_without_a_folder_for_logs_the_ends_are_kept),
		cmocka_unit_test(test_logs_of_killed_sessions_are_removed_and_others_not),
		cmocka_unit_test(test_a_log_that_became_a_link_is_not_read),
		cmocka_unit_test(test_binary_output_is_known),
		cmocka_unit_test(test_output_that_becomes_binary_is_text_up_to_there),
		cmocka_unit_test(test_storms_of_escapes_leave_the_text),
		cmocka_unit_test(test_a_background_job_is_listed_read_and_killed),
		cmocka_unit_test(test_what_a_command_leaves_behind_is_a_background_job),
		cmocka_unit_test(test_input_is_written_and_ended),
		cmocka_unit_test(test_a_long_log_is_read_in_parts_of_whole_lines),
		cmocka_unit_test(test_the_sessions_end_kills_all),
		cmocka_unit_test(test_a_providers_end_kills_its_jobs_and_keeps_their_output),
		cmocka_unit_test(test_so_many_at_once_and_no_more),
		cmocka_unit_test(test_the_limit_is_kept_and_named_while_others_start),
		cmocka_unit_test(test_threads_share_the_table),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, open_provider, close_provider);
}
