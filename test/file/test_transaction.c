/* SPDX-License-Identifier: Apache-2.0 */
/* Several changes in one call: all of them or none; and the journal that makes it so. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include "edit/edit_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "file/journal.h"
#include "file/transaction.h"

struct bench {
	struct fixture f;
	struct edit_options options;
	struct change_result results[8];
	size_t count;
	struct err err;
	struct sha256 a, b, c, d; /* of "a\n", "b\n", ... */
};

static int bench_open(void **state)
{
	struct bench *b = mem_alloc(1, sizeof(*b));

	fixture_open(&b->f);
	b->options = (struct edit_options){ .want_content = true, .want_diff = true,
	                                    .journal_folder = b->f.journal,
	                                    .commit.durability = DURABILITY_RENAME };
	b->a = fixture_hash("a\n");
	b->b = fixture_hash("b\n");
	b->c = fixture_hash("c\n");
	b->d = fixture_hash("d\n");
	fixture_put(&b->f, "a", "a\n");
	fixture_put(&b->f, "b", "b\n");
	fixture_put(&b->f, "s/c", "c\n");
	fixture_put(&b->f, "s/d", "d\n");
	*state = b;
	return 0;
}

static void bench_clear(struct bench *b)
{
	for (size_t i = 0; i < b->count; i++)
		change_result_release(&b->results[i]);
	b->count = 0;
}

static int bench_close(void **state)
{
	struct bench *b = *state;

	bench_clear(b);
	fixture_close(&b->f);
	free(b);
	return 0;
}

static bool apply(struct bench *b, const struct change *changes, size_t count)
{
	bench_clear(b);
	b->err = (struct err)ERR_INIT;
	b->count = count;
	return edit_apply(b->f.ws, changes, count, &b->options, b->results, &b->err);
}

/* The files are as they were, and nothing else is there. */
static void expect_untouched(struct bench *b)
{
	char folder[100];

	fixture_expect(&b->f, "a", "a\n");
	fixture_expect(&b->f, "b", "b\n");
	fixture_expect(&b->f, "s/c", "c\n");
	fixture_expect(&b->f, "s/d", "d\n");
	assert_int_equal(fixture_entries(b->f.root), 3);
	snprintf(folder, sizeof(folder), "%s/s", b->f.root);
	assert_int_equal(fixture_entries(folder), 2);
	assert_int_equal(fixture_entries(b->f.journal), 0);
}

static void expect_clean(struct bench *b, size_t in_root, size_t in_s)
{
	char folder[100];

	assert_int_equal(fixture_entries(b->f.root), in_root);
	snprintf(folder, sizeof(folder), "%s/s", b->f.root);
	assert_int_equal(fixture_entries(folder), in_s);
	assert_int_equal(fixture_entries(b->f.journal), 0);
}

enum { FOUR = 4 };

/* Write a, create n/m/new, delete s/c, move s/d to moved. */
static void four_changes(struct bench *b, struct change changes[static FOUR])
{
	changes[0] = (struct change){ .kind = CHANGE_WRITE, .path = "a", .base = &b->a,
	                              .text = SPAN("A\n") };
	changes[1] = (struct change){ .kind = CHANGE_CREATE, .path = "n/m/new",
	                              .text = SPAN("N\n") };
	changes[2] = (struct change){ .kind = CHANGE_DELETE, .path = "s/c", .base = &b->c };
	changes[3] = (struct change){ .kind = CHANGE_MOVE, .path = "s/d", .new_path = "moved",
	                              .base = &b->d };
}

static void four_changes_are_all_made(void **state)
{
	struct bench *b = *state;
	struct change changes[FOUR];

	four_changes(b, changes);
	if (!apply(b, changes, FOUR))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "a", "A\n");
	fixture_expect(&b->f, "n/m/new", "N\n");
	fixture_expect(&b->f, "s/c", NULL);
	fixture_expect(&b->f, "s/d", NULL);
	fixture_expect(&b->f, "moved", "d\n");
	expect_clean(b, 5, 0);
	for (size_t i = 0; i < FOUR; i++)
		assert_true(b->results[i].done);
	assert_string_equal(b->results[0].content.data, "A\n");
	assert_true(strstr(b->results[3].state.path, "/moved") != NULL);
	assert_true(strstr(b->results[3].before.path, "/s/d") != NULL);
	assert_string_equal(b->results[3].diff.data,
	                    "diff --git a/s/d b/moved\nsimilarity index 100%\n"
	                    "rename from s/d\nrename to moved\n");
}

static void they_are_made_and_synced_too(void **state)
{
	struct bench *b = *state;

	b->options.commit.durability = DURABILITY_FULL;
	four_changes_are_all_made(state);
}

static void a_dry_run_plans_them_all_and_writes_nothing(void **state)
{
	struct bench *b = *state;
	struct change changes[FOUR];

	four_changes(b, changes);
	b->options.dry_run = true;
	assert_true(apply(b, changes, FOUR));
	expect_untouched(b);
	assert_string_equal(b->results[0].content.data, "A\n");
}

static void one_stale_base_stops_them_all(void **state)
{
	struct bench *b = *state;

	for (size_t stale = 0; stale < FOUR; stale++) {
		struct change changes[FOUR];

		four_changes(b, changes);
		if (stale == 1)
			changes[1].path = "b"; /* exists */
		else
			changes[stale].base = &b->b;
		assert_false(apply(b, changes, FOUR));
		expect_untouched(b);
		for (size_t i = 0; i < FOUR; i++) {
			enum err_code want = i != stale ? ERR_ROLLED_BACK :
			                     stale == 1 ? ERR_FILE_EXISTS : ERR_STATE_MISMATCH;

			assert_int_equal(b->results[i].err.code, want);
			assert_true(b->results[i].state_known);
			assert_false(b->results[i].done);
		}
		assert_string_equal(b->results[0].content.data, "a\n");
	}
}

static void all_faults_are_named_in_one_answer(void **state)
{
	struct bench *b = *state;
	struct change changes[FOUR];

	four_changes(b, changes);
	changes[0].base = NULL;
	changes[2].base = &b->a;
	assert_false(apply(b, changes, FOUR));
	assert_int_equal(b->err.code, ERR_BASE_REQUIRED);
	assert_int_equal(b->results[0].err.code, ERR_BASE_REQUIRED);
	assert_int_equal(b->results[2].err.code, ERR_STATE_MISMATCH);
	expect_untouched(b);
}

static void a_failure_at_commit_undoes_what_was_done(void **state)
{
	struct bench *b = *state;
	struct snapshot snaps[3] = { SNAPSHOT_INIT, SNAPSHOT_INIT, SNAPSHOT_INIT };
	static const char *const names[] = { "a", "s/d", "s/c" };
	struct span text = SPAN("X\n");
	struct snapshot target = SNAPSHOT_INIT;
	struct transaction *tx;
	struct err err = ERR_INIT;
	size_t failed = 99;

	for (size_t i = 0; i < 3; i++)
		assert_true(snapshot_read(b->f.ws, names[i], 0, &snaps[i], &err));
	assert_true(snapshot_read(b->f.ws, "n/moved", 0, &target, &err));
	assert_true(transaction_begin(b->f.journal, &b->options.commit, &tx, &err));
	assert_true(transaction_write(tx, &snaps[0], &text, 1, &err));
	assert_true(transaction_move(tx, &snaps[1], &target, NULL, 0, &err));
	assert_true(transaction_delete(tx, &snaps[2], &err));
	fixture_put(&b->f, "s/c", "changed\n");
	assert_false(transaction_commit(tx, &failed, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	assert_int_equal(failed, 2);
	fixture_expect(&b->f, "s/c", "changed\n");
	fixture_put(&b->f, "s/c", "c\n");
	expect_untouched(b);
	for (size_t i = 0; i < 3; i++)
		snapshot_release(&snaps[i]);
	snapshot_release(&target);
}

static void a_moved_file_can_get_new_content(void **state)
{
	struct bench *b = *state;
	char path[100];
	struct stat stat;
	struct change changes[] = {
		{ .kind = CHANGE_MOVE, .path = "a", .new_path = "x/y", .base = &b->a },
		{ .kind = CHANGE_UPDATE, .path = "x/y", .old_text = SPAN("a"), .text = SPAN("z") },
	};

	snprintf(path, sizeof(path), "%s/a", b->f.root);
	assert_int_equal(chmod(path, 0750), 0);
	if (!apply(b, changes, 2))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "a", NULL);
	fixture_expect(&b->f, "x/y", "z\n");
	snprintf(path, sizeof(path), "%s/x/y", b->f.root);
	assert_int_equal(lstat(path, &stat), 0);
	assert_int_equal(stat.st_mode & 07777, 0750);
	expect_clean(b, 3, 2);
}

static void a_move_takes_the_base_it_was_given_to_its_new_name(void **state)
{
	struct bench *b = *state;
	struct change changes[] = {
		{ .kind = CHANGE_MOVE, .path = "a", .new_path = "x", .base = &b->a },
		{ .kind = CHANGE_WRITE, .path = "x", .base = &b->a, .text = SPAN("z\n") },
		{ .kind = CHANGE_MOVE, .path = "x", .new_path = "y" },
	};

	if (!apply(b, changes, 3))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "a", NULL);
	fixture_expect(&b->f, "x", NULL);
	fixture_expect(&b->f, "y", "z\n");
}

static void several_changes_to_one_file_follow_each_other(void **state)
{
	struct bench *b = *state;
	struct sha256 middle = fixture_hash("x\n");
	struct change changes[] = {
		{ .kind = CHANGE_UPDATE, .path = "a", .base = &b->a, .old_text = SPAN("a"),
		  .text = SPAN("x") },
		{ .kind = CHANGE_UPDATE, .path = "a", .base = &middle, .old_text = SPAN("x"),
		  .text = SPAN("y") },
		{ .kind = CHANGE_PATCH, .path = "a", .base = &b->a,
		  .text = SPAN("@@ -1 +1,2 @@\n y\n+z\n") },
		{ .kind = CHANGE_UPDATE, .path = "./a", .old_text = SPAN("z"), .text = SPAN("w") },
	};

	if (!apply(b, changes, 4))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "a", "y\nw\n");
	assert_string_equal(b->results[3].content.data, "y\nw\n");
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(b->results[i].content_in, 4);
		assert_null(b->results[i].content.data);
	}
	assert_string_equal(b->results[1].diff.data, "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n");
	assert_true(sha256_eq(&b->results[1].before.sha256, &middle));
	expect_clean(b, 3, 2);
}

static void a_later_change_with_a_foreign_base_is_refused(void **state)
{
	struct bench *b = *state;
	struct change changes[] = {
		{ .kind = CHANGE_WRITE, .path = "a", .base = &b->a, .text = SPAN("x\n") },
		{ .kind = CHANGE_WRITE, .path = "a", .base = &b->b, .text = SPAN("y\n") },
	};

	assert_false(apply(b, changes, 2));
	assert_int_equal(b->results[1].err.code, ERR_STATE_MISMATCH);
	expect_untouched(b);
}

static void a_file_can_be_created_and_then_changed(void **state)
{
	struct bench *b = *state;
	struct change changes[] = {
		{ .kind = CHANGE_CREATE, .path = "new", .text = SPAN("x\n") },
		{ .kind = CHANGE_PATCH, .path = "new", .text = SPAN("@@ -1 +1 @@\n-x\n+y\n") },
		{ .kind = CHANGE_MOVE, .path = "new", .new_path = "newer" },
	};

	if (!apply(b, changes, 3))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "new", NULL);
	fixture_expect(&b->f, "newer", "y\n");
	expect_clean(b, 4, 2);
}

static void a_file_can_be_deleted_and_made_again(void **state)
{
	struct bench *b = *state;
	struct change changes[] = {
		{ .kind = CHANGE_DELETE, .path = "a", .base = &b->a },
		{ .kind = CHANGE_CREATE, .path = "a", .text = SPAN("anew\n") },
		{ .kind = CHANGE_CREATE, .path = "x", .text = SPAN("x\n") },
		{ .kind = CHANGE_DELETE, .path = "x" },
	};

	if (!apply(b, changes, 4))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "a", "anew\n");
	expect_clean(b, 3, 2);
}

static void a_name_that_changes_hands_is_refused(void **state)
{
	struct bench *b = *state;
	struct change swap[] = {
		{ .kind = CHANGE_MOVE, .path = "a", .new_path = "t", .base = &b->a },
		{ .kind = CHANGE_MOVE, .path = "b", .new_path = "a", .base = &b->b },
		{ .kind = CHANGE_MOVE, .path = "t", .new_path = "b" },
	};
	struct change replace[] = {
		{ .kind = CHANGE_DELETE, .path = "a", .base = &b->a },
		{ .kind = CHANGE_MOVE, .path = "b", .new_path = "a", .base = &b->b },
	};
	struct change anew[] = {
		{ .kind = CHANGE_MOVE, .path = "a", .new_path = "t", .base = &b->a },
		{ .kind = CHANGE_CREATE, .path = "a", .text = SPAN("x") },
	};

	assert_false(apply(b, swap, 3));
	assert_int_equal(b->err.code, ERR_INVALID_ARGUMENT);
	assert_false(apply(b, replace, 2));
	assert_int_equal(b->err.code, ERR_INVALID_ARGUMENT);
	assert_false(apply(b, anew, 2));
	assert_int_equal(b->err.code, ERR_INVALID_ARGUMENT);
	expect_untouched(b);
}

static void a_move_onto_an_existing_file_is_refused(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_MOVE, .path = "a", .new_path = "b",
	                         .base = &b->a };

	assert_false(apply(b, &change, 1));
	assert_int_equal(b->err.code, ERR_FILE_EXISTS);
	expect_untouched(b);
}

static void the_same_file_by_two_paths_is_one_file(void **state)
{
	struct bench *b = *state;
	_cleanup_free_ char *link = mem_printf("%s/l", b->f.root);
	struct change changes[] = {
		{ .kind = CHANGE_UPDATE, .path = "a", .old_text = SPAN("a"), .text = SPAN("x") },
		{ .kind = CHANGE_UPDATE, .path = "l", .old_text = SPAN("x"), .text = SPAN("y") },
	};

	assert_int_equal(symlink("a", link), 0);
	if (!apply(b, changes, 2))
		fail_msg("%s", b->err.message);
	fixture_expect(&b->f, "a", "y\n");
}

/* Runs `body` in a child; fails unless it exits with 0. */
static void in_child(void (*body)(struct bench *b), struct bench *b)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		body(b);
		_exit(0);
	}
	assert_true(pid > 0 && waitpid(pid, &status, 0) == pid);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		fail_msg("the child ended with status %x", (unsigned)status);
}

static void as_nobody(struct bench *b)
{
	struct change changes[] = {
		{ .kind = CHANGE_WRITE, .path = "s/c", .base = &b->c, .text = SPAN("X\n") },
		{ .kind = CHANGE_WRITE, .path = "a", .base = &b->a, .text = SPAN("X\n") },
	};

	if (setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		_exit(2);
	if (apply(b, changes, 2))
		_exit(3);
	if (b->err.code != ERR_PERMISSION_DENIED)
		_exit(4);
}

static void a_folder_without_permission_stops_them_all(void **state)
{
	struct bench *b = *state;
	char path[100];

	assert_int_equal(geteuid(), 0);
	assert_int_equal(chmod(b->f.top, 0777), 0);
	snprintf(path, sizeof(path), "%s/s", b->f.root);
	assert_int_equal(chown(path, 65534, 65534), 0);
	snprintf(path, sizeof(path), "%s/s/c", b->f.root);
	assert_int_equal(chown(path, 65534, 65534), 0);
	in_child(as_nobody, b);
	expect_untouched(b);
}

static void on_a_full_disk(struct bench *b)
{
	static char big[2 << 20];
	struct sha256 small = fixture_hash("small\n");
	const char *root = b->f.root;
	char path[100];
	struct change changes[] = {
		{ .kind = CHANGE_WRITE, .path = "a", .base = &b->a, .text = SPAN("X\n") },
		{ .kind = CHANGE_WRITE, .path = "t/small", .base = &small,
		  .text = { big, sizeof(big) } },
	};

	memset(big, 'x', sizeof(big));
	snprintf(path, sizeof(path), "%s/t", b->f.root);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mkdir(path, 0777) < 0 || mount("tmpfs", path, "tmpfs", 0, "size=1m") < 0)
		_exit(2);
	/* The roots were opened in the namespace that does not have the mount. */
	workspace_free(b->f.ws);
	if (!workspace_open(&root, 1, &b->f.ws, &b->err))
		_exit(6);
	fixture_put(&b->f, "t/small", "small\n");
	if (apply(b, changes, 2) || b->err.code != ERR_DISK_FULL)
		_exit(3);
	if (b->results[1].err.code != ERR_DISK_FULL || b->results[0].err.code != ERR_ROLLED_BACK)
		_exit(4);
	fixture_expect(&b->f, "t/small", "small\n");
	if (fixture_entries(path) != 1)
		_exit(5);
}

static void a_full_disk_stops_them_all(void **state)
{
	struct bench *b = *state;
	char path[100];

	in_child(on_a_full_disk, b);
	snprintf(path, sizeof(path), "%s/t", b->f.root);
	assert_int_equal(rmdir(path), 0);
	expect_untouched(b);
}

static void with_few_descriptors(struct bench *b)
{
	enum { MANY = 40 };
	struct rlimit limit = { .rlim_cur = 48, .rlim_max = 48 };
	struct change changes[MANY] = { 0 };
	struct change_result results[MANY];
	char names[MANY][16];

	for (size_t i = 0; i < MANY; i++) {
		snprintf(names[i], sizeof(names[i]), "s/new%zu", i); /* each keeps s open */
		changes[i] = (struct change){ .kind = CHANGE_CREATE, .path = names[i],
		                              .text = SPAN("x\n") };
	}
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		_exit(2);
	if (edit_apply(b->f.ws, changes, MANY, &b->options, results, &b->err))
		_exit(3);
	if (b->err.code != ERR_NO_RESOURCES)
		_exit(4);
	for (size_t i = 0; i < MANY; i++)
		change_result_release(&results[i]);
}

static void too_few_descriptors_stop_them_all(void **state)
{
	struct bench *b = *state;

	in_child(with_few_descriptors, b);
	expect_untouched(b);
}

static void a_file_named_twice_is_refused(void **state)
{
	struct bench *b = *state;
	struct snapshot snap = SNAPSHOT_INIT;
	struct span text = SPAN("X\n");
	struct transaction *tx;
	struct err err = ERR_INIT;

	assert_true(snapshot_read(b->f.ws, "a", 0, &snap, &err));
	assert_true(transaction_begin(b->f.journal, NULL, &tx, &err));
	assert_true(transaction_write(tx, &snap, &text, 1, &err));
	assert_false(transaction_delete(tx, &snap, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	transaction_abort(tx);
	snapshot_release(&snap);
	expect_untouched(b);
}

static void recovery_with_nothing_to_do_is_quiet(void **state)
{
	struct bench *b = *state;
	struct err err = ERR_INIT;
	size_t recovered = 7;

	assert_true(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(recovered, 0);
	expect_untouched(b);
}

static void put_journal(struct bench *b, const char *name, const char *text, size_t len)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/state", b->f.top);
	mkdir(path, 0700);
	mkdir(b->f.journal, 0700);
	snprintf(path, sizeof(path), "%s/%s", b->f.journal, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

static void fill_entry(struct journal_entry *entry, enum journal_kind kind, char *path)
{
	*entry = (struct journal_entry){ .kind = kind, .path = path, .old_inode = 5,
	                                 .new_inode = 7, .made = 2 };
	entry->old_sum = fixture_hash("a\n");
	entry->new_sum = fixture_hash("b\n");
}

static void a_journal_reads_back_what_was_written(void **state)
{
	struct journal_entries entries = { 0 }, again = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	(void)state;
	for (int kind = 0; kind < JOURNAL_KIND_COUNT; kind++) {
		struct journal_entry *entry = journal_entries_add(&entries);

		fill_entry(entry, (enum journal_kind)kind, mem_strdup("/x/\n\t%\xFF\"y z"));
		if (kind == JOURNAL_MOVE)
			entry->new_path = mem_strdup("/\x01");
	}
	assert_true(journal_format(&entries, &text));
	assert_true(journal_parse(buf_view(&text), &again));
	assert_int_equal(again.count, entries.count);
	for (size_t i = 0; i < again.count; i++) {
		assert_int_equal(again.items[i].kind, entries.items[i].kind);
		assert_string_equal(again.items[i].path, entries.items[i].path);
		assert_int_equal(again.items[i].old_inode, 5);
		assert_int_equal(again.items[i].new_inode, 7);
		assert_int_equal(again.items[i].made, 2);
		assert_true(sha256_eq(&again.items[i].new_sum, &entries.items[i].new_sum));
	}
	assert_string_equal(again.items[JOURNAL_MOVE].new_path, "/\x01");
	journal_entries_release(&again);
	/* Cut anywhere, or with any byte changed, it is no journal. */
	for (size_t len = 0; len < text.len; len++)
		assert_false(journal_parse(span_head(buf_view(&text), len), &again));
	for (size_t i = 0; i < text.len; i++) {
		text.data[i] ^= 1;
		assert_false(journal_parse(buf_view(&text), &again));
		text.data[i] ^= 1;
	}
	journal_entries_release(&entries);
}

static void damaged_journals_are_set_aside_and_others_ignored(void **state)
{
	struct bench *b = *state;
	struct err err = ERR_INIT;
	size_t recovered = 7;
	char path[200];

	put_journal(b, "tx-0000000000000001.undo", "hasp-journal 1\n", 15);
	put_journal(b, "tx-0000000000000002.done", "", 0);
	put_journal(b, "README", "", 0);
	assert_false(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	assert_true(strstr(err.message, ".bad") != NULL);
	assert_int_equal(recovered, 0);
	snprintf(path, sizeof(path), "%s/tx-0000000000000001.undo.bad", b->f.journal);
	assert_int_equal(access(path, F_OK), 0);
	/* And then they are quiet. */
	err = (struct err)ERR_INIT;
	assert_true(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(fixture_entries(b->f.journal), 3);
}

static void write_entry_journal(struct bench *b, const struct journal_entry *entry)
{
	struct journal_entries entries = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	*journal_entries_add(&entries) = *entry;
	assert_true(journal_format(&entries, &text));
	put_journal(b, "tx-0000000000000003.undo", text.data, text.len);
	free(entries.items);
}

static void a_journal_cannot_reach_outside(void **state)
{
	struct bench *b = *state;
	_cleanup_free_ char *outside = mem_printf("%s/outside", b->f.top);
	_cleanup_free_ char *dots = mem_printf("%s/../outside", b->f.root);
	_cleanup_free_ char *link = mem_printf("%s/link", b->f.root);
	_cleanup_free_ char *through = mem_printf("%s/link/f", b->f.root);
	_cleanup_free_ char *inner = mem_printf("%s/f", outside);
	char *paths[] = { inner, dots, through, link };
	struct stat stat;

	assert_int_equal(mkdir(outside, 0777), 0);
	fixture_put(&b->f, "../outside/f", "b\n");
	assert_int_equal(symlink(outside, link), 0);
	assert_int_equal(lstat(inner, &stat), 0);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct journal_entry entry;
		struct err err = ERR_INIT;
		size_t recovered;

		fill_entry(&entry, JOURNAL_CREATE, paths[i]);
		entry.new_inode = stat.st_ino;
		write_entry_journal(b, &entry);
		transaction_recover(b->f.ws, b->f.journal, &recovered, &err);
		assert_int_equal(lstat(inner, &stat), 0);
		assert_int_equal(fixture_entries(outside), 1);
	}
	assert_int_equal(unlink(link), 0);
	unlink(inner);
}

static void a_journal_for_a_file_that_others_changed_leaves_it(void **state)
{
	struct bench *b = *state;
	_cleanup_free_ char *path = mem_printf("%s/a", b->f.root);
	struct journal_entry entry;
	struct err err = ERR_INIT;
	size_t recovered;
	struct stat stat;

	assert_int_equal(lstat(path, &stat), 0);
	fill_entry(&entry, JOURNAL_CREATE, path);
	entry.new_inode = stat.st_ino; /* right inode, other content */
	write_entry_journal(b, &entry);
	assert_true(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(recovered, 1);
	expect_untouched(b);
}

static void a_running_transaction_is_left_alone(void **state)
{
	struct bench *b = *state;
	struct journal_entries entries = { 0 };
	struct journal journal = JOURNAL_INIT;
	struct err err = ERR_INIT;
	size_t recovered = 7;
	int folder = journal_folder_make(b->f.journal, &err);

	assert_true(folder >= 0);
	fill_entry(journal_entries_add(&entries), JOURNAL_WRITE, mem_printf("%s/a", b->f.root));
	assert_true(journal_create(folder, &entries, DURABILITY_RENAME, &journal, &err));
	assert_true(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(recovered, 0);
	assert_int_equal(fixture_entries(b->f.journal), 1);
	journal_release(&journal); /* as when its process dies */
	assert_true(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(recovered, 1);
	journal_entries_release(&entries);
	close(folder);
	expect_untouched(b);
}

static void a_journal_of_another_workspace_is_left_alone(void **state)
{
	struct bench *b = *state;
	struct journal_entry entry;
	struct err err = ERR_INIT;
	size_t recovered = 7;

	fill_entry(&entry, JOURNAL_WRITE, (char *)(uintptr_t)"/elsewhere/a");
	write_entry_journal(b, &entry);
	assert_true(transaction_recover(b->f.ws, b->f.journal, &recovered, &err));
	assert_int_equal(recovered, 0);
	assert_int_equal(fixture_entries(b->f.journal), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(four_changes_are_all_made),
		TEST(they_are_made_and_synced_too),
		TEST(a_dry_run_plans_them_all_and_writes_nothing),
		TEST(one_stale_base_stops_them_all),
		TEST(all_faults_are_named_in_one_answer),
		TEST(a_failure_at_commit_undoes_what_was_done),
		TEST(a_moved_file_can_get_new_content),
		TEST(a_move_takes_the_base_it_was_given_to_its_new_name),
		TEST(several_changes_to_one_file_follow_each_other),
		TEST(a_later_change_with_a_foreign_base_is_refused),
		TEST(a_file_can_be_created_and_then_changed),
		TEST(a_file_can_be_deleted_and_made_again),
		TEST(a_name_that_changes_hands_is_refused),
		TEST(a_move_onto_an_existing_file_is_refused),
		TEST(the_same_file_by_two_paths_is_one_file),
		TEST(a_folder_without_permission_stops_them_all),
		TEST(a_full_disk_stops_them_all),
		TEST(too_few_descriptors_stop_them_all),
		TEST(a_file_named_twice_is_refused),
		TEST(recovery_with_nothing_to_do_is_quiet),
		TEST(a_journal_reads_back_what_was_written),
		TEST(damaged_journals_are_set_aside_and_others_ignored),
		TEST(a_journal_cannot_reach_outside),
		TEST(a_journal_for_a_file_that_others_changed_leaves_it),
		TEST(a_running_transaction_is_left_alone),
		TEST(a_journal_of_another_workspace_is_left_alone),
	};

	return cmocka_run_group_tests_name("transaction", tests, NULL, NULL);
}
