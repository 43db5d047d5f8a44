/* SPDX-License-Identifier: Apache-2.0 */
/* Those who open a file while a commit tries it out, and has to take it back; and those who have
 * looked it up by then, and open it later (by a descriptor with O_PATH: it names the file as a
 * look-up that was interrupted does). */
#include "edit/edit_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "file/private.h"
#include "file/stage.h"

struct scene {
	struct fixture f;
	char path[100], beside[100];
	enum commit_point rename_at; /* when a stranger renames a file over ours */
	int flags;                   /* how the other program opens it after the exchange */
	pid_t other;
	int report[2];               /* a pipe: what the other program read */
	int found;                   /* O_PATH: what somebody has looked up; -1 */
};

static int scene_open(void **state)
{
	struct scene *s = mem_alloc(1, sizeof(*s));

	fixture_open(&s->f);
	snprintf(s->path, sizeof(s->path), "%s/f", s->f.root);
	snprintf(s->beside, sizeof(s->beside), "%s/beside", s->f.root);
	fixture_put(&s->f, "f", "old 0\n");
	assert_int_equal(pipe(s->report), 0);
	s->found = -1;
	*state = s;
	return 0;
}

static int scene_close(void **state)
{
	struct scene *s = *state;

	close(s->report[0]);
	close(s->report[1]);
	close(s->found);
	fixture_close(&s->f);
	free(s);
	return 0;
}

/* Waits until the other process waits in open(), or has ended. */
static void await_open(pid_t pid)
{
	char path[64], text[256], blocked[16];
	siginfo_t ended = { 0 };
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	snprintf(blocked, sizeof(blocked), "%d ", SYS_openat); /* otherwise "running", or another */
	for (int i = 0; i < 60000; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		got = read(fd, text, sizeof(text) - 1);
		close(fd);
		text[got > 0 ? got : 0] = '\0';
		if (strncmp(text, blocked, strlen(blocked)) == 0)
			return;
		assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT), 0);
		if (ended.si_pid == pid)
			return;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	fail_msg("it neither waits in open() nor ends");
}

/* Opens the file, tells what it has, and writes its digit in place when it may. */
static void be_other(const struct scene *s)
{
	char text[16] = "";
	int fd = open(s->path, s->flags | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0 ||
	    write(s->report[1], text, sizeof(text)) != sizeof(text))
		_exit(1);
	if (s->flags == O_RDWR && pwrite(fd, "9", 1, 4) != 1)
		_exit(2);
	_exit(0);
}

static void step_in(enum commit_point point, void *data)
{
	struct scene *s = data;

	if (point == s->rename_at) {
		fixture_put(&s->f, "beside", "theirs 1\n");
		assert_int_equal(rename(s->beside, s->path), 0);
	}
	if (point == COMMIT_EXCHANGED && !s->other) {
		s->other = fork();
		if (s->other == 0)
			be_other(s);
		await_open(s->other);
	}
}

/* A second stranger's file comes over ours while somebody waits for that. */
static void step_in_twice(enum commit_point point, void *data)
{
	struct scene *s = data;

	step_in(point, data);
	if (point != COMMIT_EXCHANGED)
		return;
	fixture_put(&s->f, "beside", "theirs 2\n");
	assert_int_equal(rename(s->beside, s->path), 0);
}

static void find(struct scene *s)
{
	s->found = open(s->path, O_PATH | O_CLOEXEC);
	assert_true(s->found >= 0);
}

static int open_found(const struct scene *s, int flags)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", s->found);
	return open(link, flags | O_CLOEXEC);
}

/* Somebody finds ours, which is then taken back. */
static void find_ours(enum commit_point point, void *data)
{
	struct scene *s = data;

	if (point == COMMIT_COMPARED) {
		fixture_put(&s->f, "beside", "theirs 1\n");
		assert_int_equal(rename(s->beside, s->path), 0);
	}
	if (point == COMMIT_EXCHANGED)
		find(s);
}

/* Somebody finds the old file, and opens it to write when it is on its way out; in between
 * another process begins a commit in the same folder, and recovers it first. */
static void find_old(enum commit_point point, void *data)
{
	struct scene *s = data;
	struct err err = ERR_INIT;
	size_t removed = 99;

	if (point == COMMIT_COMPARED)
		find(s);
	if (point != COMMIT_SETTLED || s->other)
		return;
	assert_true(recover_folder(workspace_root_fd(s->f.ws, 0), &removed, &err));
	assert_int_equal(removed, 0);
	s->other = fork();
	if (s->other == 0)
		_exit(pwrite(open_found(s, O_RDWR), "9", 1, 4) != 1);
	await_open(s->other);
}

static bool commit(struct scene *s, void (*at)(enum commit_point point, void *data),
                   struct err *err)
{
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct commit_how how = { .at = at, .data = s,
	                          .options.durability = DURABILITY_RENAME };
	struct span text = SPAN("ours 0\n");
	struct file_state state = { 0 };
	bool ok;

	assert_true(snapshot_read(s->f.ws, "f", 0, &base, err));
	ok = commit_write_how(&base, &text, 1, &how, &state, err);
	file_state_release(&state);
	return ok;
}

static void expect_other(struct scene *s, const char *seen)
{
	char text[16] = "";
	int status = -1;

	assert_int_equal(waitpid(s->other, &status, 0), s->other);
	assert_int_equal(status, 0);
	assert_int_equal(read(s->report[0], text, sizeof(text)), sizeof(text));
	assert_string_equal(text, seen);
}

static void a_writer_of_a_file_that_is_taken_back_writes_to_the_strangers(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;

	s->rename_at = COMMIT_COMPARED;
	s->flags = O_RDWR;
	assert_false(commit(s, step_in, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	expect_other(s, "theirs 1\n");
	fixture_expect(&s->f, "f", "thei9s 1\n");
	assert_int_equal(fixture_entries(s->f.root), 1);
}

static void a_reader_of_a_file_that_is_taken_back_reads_the_strangers(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;

	s->rename_at = COMMIT_COMPARED;
	s->flags = O_RDONLY;
	assert_false(commit(s, step_in, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	expect_other(s, "theirs 1\n");
	fixture_expect(&s->f, "f", "theirs 1\n");
	assert_int_equal(fixture_entries(s->f.root), 1);
}

static void a_writer_of_a_file_that_stays_writes_to_ours(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;

	s->rename_at = (enum commit_point)99;
	s->flags = O_RDWR;
	assert_true(commit(s, step_in, &err));
	expect_other(s, "ours 0\n");
	fixture_expect(&s->f, "f", "ours90\n");
	assert_int_equal(fixture_entries(s->f.root), 1);
}

static void the_newest_of_the_strangers_stays(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;

	s->rename_at = COMMIT_COMPARED;
	s->flags = O_RDONLY;
	assert_false(commit(s, step_in_twice, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	expect_other(s, "theirs 2\n");
	fixture_expect(&s->f, "f", "theirs 2\n");
	assert_int_equal(fixture_entries(s->f.root), 1);
}

static void who_comes_later_reads_the_strangers(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;
	char text[16] = "";
	int fd;

	assert_false(commit(s, find_ours, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	fd = open_found(s, O_RDONLY);
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	assert_string_equal(text, "theirs 1\n");
	fixture_expect(&s->f, "f", "theirs 1\n");
	assert_int_equal(fixture_entries(s->f.root), 1);
}

static void recovery_leaves_the_old_file_of_a_living_writer(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;
	int status = -1;

	assert_false(commit(s, find_old, &err));
	assert_int_equal(waitpid(s->other, &status, 0), s->other);
	assert_int_equal(status, 0);
	fixture_expect(&s->f, "f", "old 9\n");
	assert_int_equal(fixture_entries(s->f.root), 1);
}

/* How often somebody has opened a temporary of a commit, by what inotify has to tell of its
 * folder. */
static unsigned temporaries_opened(int watch)
{
	_Alignas(struct inotify_event) char block[4096];
	unsigned count = 0;
	ssize_t n;

	while ((n = read(watch, block, sizeof(block))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *event = (const void *)(block + at);

			count += event->len && strncmp(event->name, ".hasp-", 6) == 0;
			at += (ssize_t)(sizeof(*event) + event->len);
		}
	return count;
}

/* Another file of the folder is committed, as by another thread, before the first is done. */
static void commit_beside(enum commit_point point, void *data)
{
	struct scene *s = data;
	const struct commit_how how = { .no_lease = false };
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct file_state state = { 0 };
	struct err err = ERR_INIT;
	int watch;

	if (point != COMMIT_SETTLED)
		return;
	watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, s->f.root, IN_OPEN) >= 0);
	assert_true(snapshot_read(s->f.ws, "beside", 0, &base, &err));
	assert_true(commit_write_how(&base, &SPAN("new beside\n"), 1, &how, &state, &err));
	file_state_release(&state);
	assert_int_equal(temporaries_opened(watch), 0);
	close(watch);
}

static void a_commit_leaves_those_of_its_process_alone(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;

	fixture_put(&s->f, "beside", "old beside\n");
	assert_true(commit(s, commit_beside, &err));
	fixture_expect(&s->f, "beside", "new beside\n");
	assert_int_equal(fixture_entries(s->f.root), 2);
}

/* What is known of others' changes to the file, and whether a commit of it waited for them. */
static time_t look(struct scene *s, bool *ret_waits)
{
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	assert_true(snapshot_read(s->f.ws, "f", 0, &base, &err));
	*ret_waits = stage_grace(&base);
	return file_cache_others_at(s->f.ws->cache, &base.stat, &base.sha256);
}

/* As after a commit that was made when nobody had changed the file for long. */
static void forget_others(struct scene *s, time_t others_at)
{
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	assert_true(snapshot_read(s->f.ws, "f", 0, &base, &err));
	file_cache_note_file(s->f.ws->cache, &base.stat, &base.sha256, others_at);
}

static void only_changes_of_others_make_a_commit_wait(void **state)
{
	struct scene *s = *state;
	struct err err = ERR_INIT;
	time_t others_at;
	bool waits;

	forget_others(s, 12345);
	assert_true(commit(s, NULL, &err));
	assert_int_equal(look(s, &waits), 12345);
	assert_false(waits);
	fixture_put(&s->f, "f", "theirs\n");
	others_at = look(s, &waits);
	assert_int_not_equal(others_at, 12345);
	/* Ours on top of theirs: they are still about. */
	assert_true(commit(s, NULL, &err));
	assert_int_equal(look(s, &waits), others_at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scene_open, scene_close)
		TEST(a_writer_of_a_file_that_is_taken_back_writes_to_the_strangers),
		TEST(a_reader_of_a_file_that_is_taken_back_reads_the_strangers),
		TEST(a_writer_of_a_file_that_stays_writes_to_ours),
		TEST(the_newest_of_the_strangers_stays),
		TEST(who_comes_later_reads_the_strangers),
		TEST(recovery_leaves_the_old_file_of_a_living_writer),
		TEST(a_commit_leaves_those_of_its_process_alone),
		TEST(only_changes_of_others_make_a_commit_wait),
	};

	return cmocka_run_group_tests_name("adopt", tests, NULL, NULL);
}
