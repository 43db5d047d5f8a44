/* SPDX-License-Identifier: Apache-2.0 */
/* What checkpoints keep: readable by git, untouched by its settings, whole after any crash, from many at
 * once. */
#include "checkpoint_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "data/json.h"

static void git_reads_it(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *id = NULL, *show = NULL, *content = NULL, *check = NULL, *log = NULL,
	                    *note = NULL;

	put(fixture, "kept", SPAN("as it was\n"));
	put(fixture, "other", SPAN("not touched\n"));
	write_file(fixture, "kept", "new\n");
	id = id_of(fixture, 0);
	_cleanup_free_ char *names = mem_printf("ls-tree -r --name-only refs/hasp/%s", id);
	_cleanup_free_ char *blob = mem_printf("show refs/hasp/%s:kept", id);

	show = git(fixture, names);
	assert_string_equal(show, "kept\n");
	content = git(fixture, blob);
	assert_string_equal(content, "as it was\n");
	check = git(fixture, "fsck --strict --no-dangling");
	log = git(fixture, "log --format=%s main");
	assert_string_equal(log, "Initial commit\n");
	/* Gemini CLI must not find a commit that it would make the whole project. */
	note = mem_printf("%s/checkpoints/%s.json", home_temp(fixture->home), id);
	json_auto_t *read = json_load_file(note, 0, NULL);
	assert_non_null(read);
	assert_null(json_object_get(read, "commitHash"));
	assert_string_equal(json_string_value(json_object_get(
				    json_object_get(read, "toolCall"), "name")),
	                    "write_file");
	assert_true(strlen(id) > 24 && id[10] == 'T' && strstr(id, "Z-kept-write_file"));
}

/* The user's and the environment's settings for git have no say. */
static void git_settings_do_not_count(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *config = mem_printf("%s/.gitconfig", fixture->top);
	_cleanup_free_ char *home = mem_strdup(getenv("HOME"));
	_cleanup_fd_ int fd = open(config, O_WRONLY | O_CREAT, 0644);
	json_auto_t *back = NULL;

	assert_true(fd_write_all(fd, "[core]\nautocrlf = input\nhooksPath = /nowhere\n", 44));
	put(fixture, ".gitattributes", SPAN("* text eol=lf filter=x ident\n"));
	setenv("HOME", fixture->top, 1);
	setenv("GIT_DIR", "/nowhere", 1);
	setenv("GIT_OBJECT_DIRECTORY", "/nowhere", 1);
	put(fixture, "a", SPAN("crlf\r\n$Id$\r\n"));
	write_file(fixture, "a", "x\n");
	back = restore(fixture, "latest", false);
	unsetenv("GIT_DIR");
	unsetenv("GIT_OBJECT_DIRECTORY");
	if (home)
		setenv("HOME", home, 1);
	assert_content(fixture, "a", SPAN("crlf\r\n$Id$\r\n"));
}

/* Too large: told, noted, and left by a restore; paths that git forbids are kept all the same. */
static void what_cannot_be_kept_is_told(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *big = mem_alloc(1, (1 << 20) + 1), *folder = path_of(fixture, "x.git");
	json_auto_t *back = NULL, *from_odd = NULL;

	memset(big, 'x', (1 << 20) + 1);
	put(fixture, "big", span_of(big, (1 << 20) + 1));
	write_file(fixture, "big", "small\n");
	assert_non_null(strstr(fixture->notice, "not in the checkpoint"));
	back = restore(fixture, "latest", true);
	assert_string_equal(action(back, fixture, "big"), "left");
	assert_content(fixture, "big", SPAN("small\n"));
	assert_int_equal(mkdir(folder, 0755), 0);
	put(fixture, "x.git/.git", SPAN("gitdir: elsewhere\n"));
	write_file(fixture, "x.git/.git", "changed\n");
	from_odd = restore(fixture, "latest", false);
	assert_content(fixture, "x.git/.git", SPAN("gitdir: elsewhere\n"));
}

static void a_full_disk_is_told(void **state)
{
	struct fixture *fixture = *state;
	struct rlimit before, none;

	put(fixture, "a", SPAN("one\n"));
	write_file(fixture, "b", "makes the repository\n");
	/* As far as a process is concerned, a limit on the size of files is a disk without room. */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	_cleanup_free_ char *path = path_of(fixture, "a");
	json_auto_t *arguments = json_pack("{s:s,s:s}", "file_path", path, "content", "two\n");

	checkpoints_before_edit(fixture->checkpoints, "x", tool_find("write_file"), arguments);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(fixture->notice, "No checkpoint was made of this edit"));
	json_auto_t *all = list_checkpoints(fixture);
	assert_int_equal(json_array_size(all), 1);
}

static void damage_is_found(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *id = NULL, *path = NULL;
	json_auto_t *back = NULL;
	struct err err = ERR_INIT;
	json_t *ignored;

	put(fixture, "a", SPAN("one\n"));
	write_file(fixture, "a", "two\n");
	id = id_of(fixture, 0);
	path = mem_printf("%s/checkpoints/%s.json", home_temp(fixture->home), id);
	json_auto_t *note = json_load_file(path, 0, NULL);
	json_t *file = json_array_get(json_object_get(json_object_get(note, "hasp"), "files"), 0);

	json_object_set_new(file, "sha256",
	                    json_string("0000000000000000000000000000000000000000000000000000000000"
	                                "000000"));
	assert_int_equal(json_dump_file(note, path, 0), 0);
	back = restore(fixture, id, false);
	assert_string_equal(action(back, fixture, "a"), "failed");
	assert_content(fixture, "a", SPAN("two\n"));
	assert_false(checkpoints_restore(fixture->checkpoints, "../../etc/passwd", false, &ignored,
	                                 &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	err = (struct err)ERR_INIT;
	assert_false(checkpoints_restore(fixture->checkpoints, "2020-01-01T00-00-00_000Z-a-b",
	                                 false, &ignored, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
}

static void old_ones_are_pruned(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *refs = NULL;
	struct err err = ERR_INIT;
	json_auto_t *all = NULL, *left = NULL;
	size_t count;

	assert_true(checkpoints_prune(fixture->checkpoints, INT64_MAX, &count, &err));
	assert_int_equal(count, 0);
	write_file(fixture, "a", "one\n");
	write_file(fixture, "a", "two\n");
	all = list_checkpoints(fixture);
	assert_true(checkpoints_prune(
		fixture->checkpoints,
		json_integer_value(json_object_get(json_array_get(all, 1), "time")), &count, &err));
	assert_int_equal(count, 1);
	left = list_checkpoints(fixture);
	assert_int_equal(json_array_size(left), 1);
	refs = git(fixture, "for-each-ref --format=x refs/hasp");
	assert_string_equal(refs, "x\nx\n"); /* what was there, and what the edit made */
	free(git(fixture, "gc -q --prune=now"));
	json_decref(restore(fixture, "latest", false));
	assert_content(fixture, "a", SPAN("one\n"));
}

/* ---- at once ----------------------------------------------------------------------- */

enum { AT_ONCE = 8, EACH = 6 };

struct worker {
	struct fixture *fixture;
	struct checkpoints *checkpoints;
	unsigned number;
};

static void *work(void *data)
{
	struct worker *worker = data;

	for (unsigned i = 0; i < EACH; i++) {
		char name[32], id[32];
		_cleanup_free_ char *path = NULL;
		json_auto_t *arguments = NULL;

		snprintf(name, sizeof(name), "f%u", i);
		snprintf(id, sizeof(id), "%u-%u", worker->number, i);
		path = path_of(worker->fixture, name);
		arguments = json_pack("{s:s,s:s}", "file_path", path, "content", "x");
		checkpoints_before_edit(worker->checkpoints, id, tool_find("write_file"),
		                        arguments);
	}
	return NULL;
}

/* Threads of one session, and sessions (each with its own view of the folders) beside each
 * other. */
static void many_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct checkpoints *other = NULL;
	struct worker workers[AT_ONCE];
	pthread_t threads[AT_ONCE];
	struct home *home;
	struct err err = ERR_INIT;
	_cleanup_free_ char *check = NULL;
	json_auto_t *all = NULL;

	assert_true(home_open(fixture->root, &home, &err));
	struct checkpoints_options options = { .provider = fixture->provider, .home = home,
		                               .session_id = "session-2",
		                               .notices = { checkpoint_notice, fixture } };

	other = checkpoints_open(&options);
	put(fixture, "f0", SPAN("zero\n"));
	for (unsigned i = 0; i < AT_ONCE; i++) {
		workers[i] = (struct worker){ fixture, i % 2 ? other : fixture->checkpoints, i };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < AT_ONCE; i++)
		pthread_join(threads[i], NULL);
	assert_string_equal(fixture->notice, "");
	all = list_checkpoints(fixture);
	assert_int_equal(json_array_size(all), AT_ONCE * EACH);
	check = git(fixture, "fsck --strict --no-dangling");
	checkpoints_close(other);
	home_free(home);
}

/* A process that is killed anywhere leaves checkpoints that are whole, and a ledger that goes
 * on. */
static void kills_leave_whole_ones(void **state)
{
	struct fixture *fixture = *state;

	put(fixture, "a", SPAN("one\n"));
	write_file(fixture, "b", "makes the repository\n");
	for (unsigned i = 0; i < 8; i++) {
		int begun[2];
		char byte;

		assert_int_equal(pipe(begun), 0);
		pid_t child = fork();

		if (child == 0) {
			for (;;) {
				write_file(fixture, "b", "one\n");
				write_file(fixture, "b", "two\n");
				fd_write_all(begun[1], "x", 1);
			}
		}
		assert_int_equal(read(begun[0], &byte, 1), 1);
		usleep(700 * i);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		close(begun[0]);
		close(begun[1]);
	}
	json_auto_t *before = list_checkpoints(fixture);
	free(git(fixture, "fsck --strict --no-dangling"));
	write_file(fixture, "a", "two\n");
	json_auto_t *back = restore(fixture, "latest", false);
	assert_string_equal(action(back, fixture, "a"), "restored");
	assert_true(json_array_size(before) > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(git_reads_it),
		WITH_FIXTURE(git_settings_do_not_count),
		WITH_FIXTURE(what_cannot_be_kept_is_told),
		WITH_FIXTURE(a_full_disk_is_told),
		WITH_FIXTURE(damage_is_found),
		WITH_FIXTURE(old_ones_are_pruned),
		WITH_FIXTURE(many_at_once),
		WITH_FIXTURE(kills_leave_whole_ones),
	};

	return cmocka_run_group_tests_name("what checkpoints keep", tests, NULL, NULL);
}
