/* SPDX-License-Identifier: Apache-2.0 */
/* Compare-and-swap: what is replaced, what is kept, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include <cmocka.h>

#include "file/private.h"
#include "file/stage.h"

#include "part.h"
#include "scratch.h"

static int setup(void **state)
{
	struct scratch *scratch = mem_alloc(1, sizeof(*scratch));

	umask(022);
	scratch_open(scratch);
	*state = scratch;
	return 0;
}

static int teardown(void **state)
{
	scratch_close(*state);
	free(*state);
	return 0;
}

/* Runs a script in the folder; it must succeed. */
static void shell(const struct scratch *scratch, const char *script)
{
	_cleanup_free_ char *command = mem_printf("cd '%s' && %s", scratch->folder, script);

	if (system(command) != 0)
		fail_msg("failed: %s", script);
}

static void read_base(const struct scratch *scratch, const char *name, struct snapshot *ret)
{
	struct err err = ERR_INIT;

	if (!snapshot_read(scratch->ws, name, 0, ret, &err))
		fail_msg("%s: %s", name, err.message);
}

/* The ways of committing; each must do what the others do. */
static const struct commit_how ways[] = {
	{ .options.durability = DURABILITY_FULL },
	{ .options.durability = DURABILITY_RENAME },
	{ .options.durability = DURABILITY_RENAME, .no_tmpfile = true },
	{ .options.durability = DURABILITY_RENAME, .no_exchange = true },
	{ .options.durability = DURABILITY_RENAME, .no_tmpfile = true, .no_exchange = true },
	{ .options.durability = DURABILITY_RENAME, .no_lease = true },
};

static const struct commit_how quick = { .options = { .durability = DURABILITY_RENAME,
	                                              .busy_wait_ms = 50 } };

static bool try_write(struct snapshot *base, struct span content, const struct commit_how *how,
                      struct err *err)
{
	struct file_state made = { 0 };
	struct sha256 sum = sha256_of(content);
	bool ok = commit_write_how(base, &content, 1, how, &made, err);

	if (ok) {
		assert_true(sha256_eq(&made.sha256, &sum));
		assert_int_equal(made.size, content.len);
		assert_string_equal(made.path, base->place.path);
		assert_true(made.exists);
	}
	file_state_release(&made);
	return ok;
}

static void replace_with(const struct scratch *scratch, const char *name, struct span content,
                         const struct commit_how *how)
{
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	read_base(scratch, name, &base);
	if (!try_write(&base, content, how, &err))
		fail_msg("%s: %s", name, err.message);
}

static void assert_content(const struct scratch *scratch, const char *name, struct span want)
{
	_cleanup_snapshot_ struct snapshot now = SNAPSHOT_INIT;

	read_base(scratch, name, &now);
	assert_true(now.exists);
	assert_true(span_eq(now.content, want));
}

static int is_temporary(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	return strncmp(path + where->base, ".hasp-", 6) == 0;
}

static void assert_no_temporary(const struct scratch *scratch)
{
	assert_int_equal(nftw(scratch->folder, is_temporary, 16, FTW_PHYS), 0);
}

static void a_file_is_replaced_created_and_deleted_in_every_way(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct err err = ERR_INIT;

		replace_with(*state, "file", SPAN("one\n"), &ways[i]);
		assert_content(*state, "file", SPAN("one\n"));
		replace_with(*state, "file", SPAN("two\n"), &ways[i]);
		assert_content(*state, "file", SPAN("two\n"));
		replace_with(*state, "file", SPAN(""), &ways[i]);
		assert_content(*state, "file", SPAN(""));
		read_base(*state, "file", &base);
		assert_true(commit_delete_how(&base, &ways[i], &err));
		shell(*state, "test ! -e file");
		assert_no_temporary(*state);
	}
}

static void many_pieces_and_large_ones_are_written_in_order(void **state)
{
	struct scratch *scratch = *state;
	const size_t large = HASHER_THREAD_BYTES + 12345, count = 1000;
	_cleanup_free_ char *data = mem_alloc(large + count, 1);
	_cleanup_free_ struct span *pieces = mem_alloc(count + 1, sizeof(*pieces));
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct sha256 sum;
	struct file_state made = { 0 };
	struct err err = ERR_INIT;

	for (size_t i = 0; i < large + count; i++)
		data[i] = (char)(i * 2654435761u >> 11);
	for (size_t i = 0; i < count; i++)
		pieces[i] = span_of(data + i, 1);
	pieces[count] = span_of(data + count, large);
	read_base(scratch, "file", &base);
	assert_true(commit_write(&base, pieces, count + 1, NULL, &made, &err));
	sum = sha256_of(span_of(data, large + count));
	assert_true(sha256_eq(&made.sha256, &sum));
	file_state_release(&made);
	assert_content(scratch, "file", span_of(data, large + count));
}

static void a_change_since_the_read_is_a_mismatch(void **state)
{
	const char *changes[] = {
		"printf 'xxx\\n' > file", "printf more >> file", "rm file",
		"printf 'one\\n' > n && touch -r file n && mv n file && printf 'two\\n' > file",
		"printf 'abc\\n' > n && mv n file", "rm file && mkdir file",
		"ln -sf /etc/passwd file",
	};

	/* Steps of 5 come upon each change and each way. */
	for (size_t i = part_first(5); i < ARRAY_LEN(changes) * ARRAY_LEN(ways);
	     i += part_step(5)) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct err err = ERR_INIT;

		shell(*state, "rm -rf file && printf 'one\\n' > file");
		read_base(*state, "file", &base);
		shell(*state, changes[i % ARRAY_LEN(changes)]);
		shell(*state, "ls -lA --full-time file > .before 2>&1 || true");
		assert_false(try_write(&base, SPAN("ours\n"), &ways[i / ARRAY_LEN(changes)], &err));
		if (err.code != ERR_STATE_MISMATCH)
			fail_msg("%s: %s", changes[i % ARRAY_LEN(changes)], err.message);
		err = (struct err)ERR_INIT;
		assert_false(commit_delete_how(&base, &ways[i / ARRAY_LEN(changes)], &err));
		assert_int_equal(err.code, ERR_STATE_MISMATCH);
		shell(*state, "ls -lA --full-time file > .after 2>&1; cmp .before .after");
		assert_no_temporary(*state);
	}
}

/* Time stamps are the same: only the bytes tell. */
static void a_change_that_restores_the_time_stamp_is_seen(void **state)
{
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	shell(*state, "printf 'one\\n' > file && touch -r file stamp");
	read_base(*state, "file", &base);
	shell(*state, "printf 'two\\n' > file && touch -r stamp file");
	assert_false(try_write(&base, SPAN("ours\n"), &quick, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	assert_content(*state, "file", SPAN("two\n"));
}

static void a_file_that_appears_is_not_overwritten(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct err err = ERR_INIT;

		shell(*state, "rm -f file");
		read_base(*state, "file", &base);
		shell(*state, "printf 'theirs\\n' > file");
		assert_false(try_write(&base, SPAN("ours\n"), &ways[i], &err));
		assert_int_equal(err.code, ERR_STATE_MISMATCH);
		assert_content(*state, "file", SPAN("theirs\n"));
		assert_no_temporary(*state);
	}
}

static void plant(enum commit_point point, void *data)
{
	if (point == COMMIT_STAGED)
		shell(data, "printf 'theirs\\n' > file");
}

static void a_file_that_appears_at_the_last_moment_is_not_overwritten(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct commit_how how = ways[i];
		struct err err = ERR_INIT;

		how.at = plant;
		how.data = *state;
		shell(*state, "rm -f file");
		read_base(*state, "file", &base);
		assert_false(try_write(&base, SPAN("ours\n"), &how, &err));
		assert_int_equal(err.code, ERR_STATE_MISMATCH);
		assert_content(*state, "file", SPAN("theirs\n"));
		assert_no_temporary(*state);
	}
}

struct renamer {
	struct scratch *scratch;
	enum commit_point at;
	const char *const *scripts; /* one at each point from `at` on, until NULL */
	bool skip_exchanged;        /* but none at COMMIT_EXCHANGED */
};

static void rename_over(enum commit_point point, void *data)
{
	struct renamer *renamer = data;

	/* From the first point on, at each. */
	if (point >= renamer->at && point != COMMIT_SETTLED && *renamer->scripts &&
	    !(point == COMMIT_EXCHANGED && renamer->skip_exchanged))
		shell(renamer->scratch, *renamer->scripts++);
}

/* Each stranger comes after the one before: the last one's file must be there in the end.
 * One who comes before the look that is taken ahead of each exchange back is left
 * alone; those who come after it are put back, the next one again, and so on. */
static void the_last_of_several_strangers_wins(void **state)
{
	const char *const scripts[] = {
		"printf 'B\\n' > t && mv t file",
		"printf 'C\\n' > t && mv t file",
		"printf 'D\\n' > t && mv t file",
		NULL,
	};
	const char *const two[] = { scripts[0], scripts[2], NULL };
	const struct {
		const char *const *scripts;
		bool skip_exchanged;
	} cases[] = {
		{ scripts + 2, false }, { two, false }, { two, true }, { scripts, true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct renamer renamer = { *state, COMMIT_COMPARED, cases[i].scripts,
			                   cases[i].skip_exchanged };
		struct commit_how how = quick;
		struct err err = ERR_INIT;

		how.at = rename_over;
		how.data = &renamer;
		shell(*state, "printf 'old\\n' > file");
		read_base(*state, "file", &base);
		assert_false(try_write(&base, SPAN("ours\n"), &how, &err));
		assert_int_equal(err.code, ERR_STATE_MISMATCH);
		assert_content(*state, "file", SPAN("D\n"));
		assert_null(*renamer.scripts);
		assert_no_temporary(*state);
	}
}

static void a_strangers_file_of_another_type_is_put_back(void **state)
{
	const char *const folder[] = { "rm file && mkdir file && touch file/x", NULL };
	const char *const link[] = { "ln -sfn /etc/passwd file", NULL };
	const char *const *all[] = { folder, link };
	const char *const checks[] = { "test -f file/x", "test -L file" };

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct renamer renamer = { *state, COMMIT_COMPARED, all[i], false };
		struct commit_how how = quick;
		struct err err = ERR_INIT;

		how.at = rename_over;
		how.data = &renamer;
		shell(*state, "rm -rf file && printf 'old\\n' > file");
		read_base(*state, "file", &base);
		assert_false(try_write(&base, SPAN("ours\n"), &how, &err));
		shell(*state, checks[i]);
		assert_no_temporary(*state);
	}
}

static void a_writer_makes_us_wait_and_then_give_up(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_free_ char *path = mem_printf("%s/file", scratch->folder);
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;
	int fd;

	scratch_write(scratch, "file", SPAN("old\n"));
	read_base(scratch, "file", &base);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_false(try_write(&base, SPAN("ours\n"), &quick, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_content(scratch, "file", SPAN("old\n"));
	assert_no_temporary(scratch);
	close(fd);
	assert_true(try_write(&base, SPAN("ours\n"), &quick, &err));
}

static void readers_and_a_private_mapping_do_not_disturb(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_free_ char *path = mem_printf("%s/file", scratch->folder);
	_cleanup_fd_ int reader = -1;
	char old[4];
	void *map;

	scratch_write(scratch, "file", SPAN("old\n"));
	reader = open(path, O_RDONLY | O_CLOEXEC);
	map = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, reader, 0);
	replace_with(scratch, "file", SPAN("ours\n"), &quick);
	assert_int_equal(read(reader, old, 4), 4);
	assert_memory_equal(old, "old\n", 4);
	munmap(map, 4);
}

static void a_shared_writable_mapping_is_a_writer(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_free_ char *path = mem_printf("%s/file", scratch->folder);
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;
	char *map;
	int fd;

	scratch_write(scratch, "file", SPAN("old\n"));
	fd = open(path, O_RDWR | O_CLOEXEC);
	map = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	map[0] = 'o'; /* the page is writable now: later stores move no time stamp at once */
	read_base(scratch, "file", &base);
	assert_false(try_write(&base, SPAN("ours\n"), &quick, &err));
	assert_int_equal(err.code, ERR_BUSY);
	map[0] = 'O';
	munmap(map, 4);
	assert_false(try_write(&base, SPAN("ours\n"), &quick, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	assert_content(scratch, "file", SPAN("Old\n"));
}

static void *open_for_writing(void *arg)
{
	_cleanup_fd_ int fd = open(arg, O_WRONLY | O_APPEND | O_CLOEXEC);

	fd_write_all(fd, "theirs\n", 7);
	return NULL;
}

struct opener {
	pthread_t thread;
	char *path;
	bool started;
};

/* The opener blocks in open(2) until the lease is given up. */
static void start_opener(enum commit_point point, void *data)
{
	struct opener *opener = data;

	if (point != COMMIT_COMPARED || opener->started)
		return;
	opener->started = true;
	pthread_create(&opener->thread, NULL, open_for_writing, opener->path);
	usleep(50000);
}

/* SIGIO, which a broken lease sends by default, would end the process. */
static void a_writer_who_comes_between_is_not_lost(void **state)
{
	struct scratch *scratch = *state;
	struct opener opener = { .path = mem_printf("%s/file", scratch->folder) };
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct commit_how how = { .at = start_opener, .data = &opener };
	struct err err = ERR_INIT;

	signal(SIGIO, SIG_DFL);
	scratch_write(scratch, "file", SPAN("old\n"));
	read_base(scratch, "file", &base);
	assert_false(try_write(&base, SPAN("ours\n"), &how, &err));
	pthread_join(opener.thread, NULL);
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	assert_content(scratch, "file", SPAN("old\ntheirs\n"));
	assert_no_temporary(scratch);
	free(opener.path);
}

static void everything_but_the_content_is_kept(void **state)
{
	const char *check = "stat -c '%a %u %g' file; getfacl -cp file; getfattr -d -m - file";
	_cleanup_free_ char *compare = mem_printf("{ %s; } > .have && cmp .want .have", check);
	const char *const kinds[] = {
		"chmod 0600 file", "chmod 0444 file", "chmod 0755 file", "chmod 0 file",
		"chown 65534:65534 file && chmod 6755 file", "chown 1:2 file && chmod 2775 file",
		"setfacl -m u:65534:rw,g:65534:r,m::rw file",
		"setfacl -m u:1:rwx file && chmod 640 file",
		"setfattr -n user.note -v value file && setfattr -n user.empty file",
		"setfattr -n trusted.note -v value file",
		"{ echo '# file: file'; seq -f 'user.a-rather-long-name-%g=\"x\"' 40; } | setfattr --restore=-",
		"setfattr -n user.big -v $(head -c 3000 /dev/zero | tr '\\0' x) file",
	};

	/* Steps of 5 come upon each kind and each way. */
	for (size_t i = 0; i < ARRAY_LEN(kinds) * ARRAY_LEN(ways); i += part_step(5)) {
		_cleanup_free_ char *make =
			mem_printf("rm -f file && touch file && %s && { %s; } > .want",
		                   kinds[i % ARRAY_LEN(kinds)], check);

		shell(*state, make);
		replace_with(*state, "file", SPAN("new\n"), &ways[i / ARRAY_LEN(kinds)]);
		if (i % ARRAY_LEN(kinds) != 3)
			assert_content(*state, "file", SPAN("new\n"));
		shell(*state, compare);
	}
}

static void a_default_acl_is_for_new_files_only(void **state)
{
	shell(*state, "touch file && chmod 600 file && getfacl -cp file > .want && "
	              "setfacl -d -m u:65534:rwx .");
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		replace_with(*state, "file", SPAN("new\n"), &ways[i]);
		shell(*state, "getfacl -cp file > .have && cmp .want .have && "
		              "rm -f created byhand");
		replace_with(*state, "created", SPAN("new\n"), &ways[i]);
		shell(*state, "touch byhand && getfacl -cp byhand > .byhand && "
		              "getfacl -cp created > .created && cmp .byhand .created");
	}
}

static void new_files_have_the_mode_asked_for_less_the_umask(void **state)
{
	struct commit_how how = quick;

	umask(027);
	replace_with(*state, "plain", SPAN("x"), &how);
	how.options.create_mode = 0755;
	replace_with(*state, "program", SPAN("x"), &how);
	how.no_tmpfile = true;
	replace_with(*state, "named", SPAN("x"), &how);
	shell(*state, "test $(stat -c %a plain) = 640 && test $(stat -c %a program) = 750 && "
	              "test $(stat -c %a named) = 750");
}

static void attributes_that_change_meanwhile_are_followed(void **state)
{
	const char *const scripts[] = { "chmod 0640 file && chown 3:4 file", NULL };
	struct renamer renamer = { *state, COMMIT_STAGED, scripts, false };
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct commit_how how = quick;
	struct err err = ERR_INIT;

	how.at = rename_over;
	how.data = &renamer;
	scratch_write(*state, "file", SPAN("old\n"));
	read_base(*state, "file", &base);
	assert_true(try_write(&base, SPAN("new\n"), &how, &err));
	shell(*state, "test \"$(stat -c '%a %u %g' file)\" = '640 3 4'");
}

static void links_and_sparseness_are_as_documented(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	shell(scratch, "printf 'old\\n' > file && ln file other && ln -s file soft && "
	               "ln -s new dangling");
	replace_with(scratch, "soft", SPAN("new\n"), &quick);
	shell(scratch, "test -L soft && test \"$(cat file)\" = new && test \"$(cat other)\" = old");
	replace_with(scratch, "dangling", SPAN("made\n"), &quick);
	shell(scratch, "test -L dangling && test ! -L new && test \"$(cat new)\" = made");
	shell(scratch, "truncate -s 4M sparse && printf x >> sparse");
	read_base(scratch, "sparse", &base);
	assert_true(try_write(&base, base.content, &quick, &err));
	shell(scratch, "test $(stat -c %b sparse) -lt 1000 && test $(stat -c %s sparse) = 4194305");
}

static void odd_names_are_committed(void **state)
{
	char longest[256];
	const char *names[] = { "new\nline", "quo'te\"s", "\xff\xfe", "-rf", longest };

	memset(longest, 'n', 255);
	longest[255] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names) * ARRAY_LEN(ways); i++) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		const struct commit_how *how = &ways[i / ARRAY_LEN(names)];
		const char *name = names[i % ARRAY_LEN(names)];
		struct err err = ERR_INIT;

		replace_with(*state, name, SPAN("one"), how);
		replace_with(*state, name, SPAN("two"), how);
		assert_content(*state, name, SPAN("two"));
		read_base(*state, name, &base);
		assert_true(commit_delete_how(&base, how, &err));
		shell(*state, "test -z \"$(ls -A)\"");
	}
}

static void missing_folders_are_made_and_removed_after_a_failure(void **state)
{
	struct scratch *scratch = *state;
	const char *const scripts[] = { "mkdir -p n/e/w && touch n/e/w/file", NULL };
	struct renamer renamer = { scratch, COMMIT_STAGED, scripts, false };
	struct commit_how how = quick;
	_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
	struct err err = ERR_INIT;

	replace_with(scratch, "made/by/us/file", SPAN("x"), &ways[0]);
	assert_content(scratch, "made/by/us/file", SPAN("x"));
	how.at = rename_over;
	how.data = &renamer;
	read_base(scratch, "n/e/w/file", &base);
	assert_false(try_write(&base, SPAN("x"), &how, &err));
	assert_int_equal(err.code, ERR_STATE_MISMATCH);
	shell(scratch, "test -f n/e/w/file && rm -r n");
	assert_true(try_write(&base, SPAN("x"), &quick, &err));
	shell(scratch, "test -f n/e/w/file");
}

/* Runs in a child as nobody: what another user may not do. */
static int as_nobody(const struct scratch *scratch, const char *name, bool create)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		struct file_state made = { 0 };
		struct err err = ERR_INIT;
		struct span content = SPAN("new\n");

		if (setgid(65534) < 0 || setuid(65534) < 0 ||
		    !snapshot_read(scratch->ws, name, 0, &base, &err) || base.exists == create)
			_exit(255);
		commit_write_how(&base, &content, 1, &quick, &made, &err);
		_exit((int)err.code);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void another_user_is_refused_what_cannot_be_kept(void **state)
{
	struct scratch *scratch = *state;

	shell(scratch, "chmod 755 . && touch file && chmod 666 file");
	assert_int_equal(as_nobody(scratch, "file", false), ERR_PERMISSION_DENIED);
	assert_int_equal(as_nobody(scratch, "new", true), ERR_PERMISSION_DENIED);
	shell(scratch, "chmod 777 .");
	assert_int_equal(as_nobody(scratch, "file", false), ERR_CANNOT_PRESERVE);
	shell(scratch, "test ! -s file && chmod 644 file");
	assert_int_equal(as_nobody(scratch, "file", false), ERR_PERMISSION_DENIED);
	shell(scratch, "chown 65534:0 file");
	assert_int_equal(as_nobody(scratch, "file", false), ERR_CANNOT_PRESERVE);
	shell(scratch, "chown 65534:65534 file && chmod 400 file");
	assert_int_equal(as_nobody(scratch, "file", false), ERR_PERMISSION_DENIED);
	assert_no_temporary(scratch);
	shell(scratch, "chmod 600 file");
	assert_int_equal(as_nobody(scratch, "file", false), 0);
	assert_int_equal(as_nobody(scratch, "new", true), 0);
	assert_content(scratch, "file", SPAN("new\n"));
	/* A folder that may be written and searched, but not read. */
	shell(scratch, "rm new && chmod 333 .");
	shell(scratch, "printf 'old\\n' > file");
	assert_int_equal(as_nobody(scratch, "file", false), 0);
	assert_int_equal(as_nobody(scratch, "new", true), 0);
	assert_no_temporary(scratch);
}

static void what_only_looks_like_a_temporary_stays(void **state)
{
	struct scratch *scratch = *state;
	struct err err = ERR_INIT;
	size_t removed;

	shell(scratch, "touch .hasp .hasp-x .hasp-x-short "
	               ".hasp-x-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da "
	               ".hasp-q-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3 "
	               ".hasp-t-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3 "
	               ".hasp-x-3B9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3 && "
	               "mkdir .hasp-p-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3");
	assert_true(recover_folder(workspace_root_fd(scratch->ws, 0), &removed, &err));
	assert_int_equal(removed, 0);
	shell(scratch, "test $(ls -A | wc -l) = 8");
}

/* In a large folder, which is not read before every commit. */
static void temporary_in_a_large_folder_is_found_when_the_folder_changed(void **state)
{
	shell(*state, "for i in $(seq 300); do : > f$i; done");
	replace_with(*state, "file", SPAN("one"), &quick);
	replace_with(*state, "file", SPAN("two"), &quick);
	shell(*state, "touch .hasp-p-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3");
	replace_with(*state, "file", SPAN("three"), &quick);
	assert_no_temporary(*state);
}

#define TEMPORARY ".hasp-p-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3"

static bool has_temporary(const struct scratch *scratch)
{
	return faccessat(workspace_root_fd(scratch->ws, 0), TEMPORARY, F_OK, 0) == 0;
}

/* A temporary file that the folder's time stamp does not tell of: not looked for each time, but
 * found soon.  On a slow machine the second may be over before the next commit, so it is tried
 * again. */
static void a_clean_folder_is_read_once_a_second(void **state)
{
	bool passed_over = false;

	for (int i = 0; !passed_over && i < 100; i++) {
		replace_with(*state, "file", SPAN("one"), &quick);
		shell(*state, "stamp=$(mktemp) && touch -r . $stamp && touch " TEMPORARY
		              " && touch -r $stamp . && rm $stamp");
		replace_with(*state, "file", SPAN("two"), &quick);
		passed_over = has_temporary(*state);
	}
	assert_true(passed_over);
	while (has_temporary(*state))
		replace_with(*state, "file", SPAN("three"), &quick);
}

struct counter {
	struct scratch *scratch;
	size_t done;
};

/* So many times each adds one. */
static size_t count_times(void)
{
	return part_of(300, 3);
}

/* Adds one to the number in the file until it has done so often enough. */
static void *count_up(void *arg)
{
	struct counter *counter = arg;

	while (counter->done < count_times()) {
		_cleanup_snapshot_ struct snapshot base = SNAPSHOT_INIT;
		_cleanup_free_ char *number = NULL, *next = NULL;
		struct err err = ERR_INIT;

		if (!snapshot_read(counter->scratch->ws, "file", 0, &base, &err))
			break;
		number = mem_dup(base.content.data, base.content.len);
		next = mem_printf("%ld\n", strtol(number, NULL, 10) + 1);
		counter->done += try_write(&base, span_str(next), &ways[1], &err);
	}
	return NULL;
}

static void no_update_of_several_threads_is_lost(void **state)
{
	struct counter counters[4] = { { *state, 0 }, { *state, 0 }, { *state, 0 }, { *state, 0 } };
	_cleanup_free_ char *want = mem_printf("%zu\n", ARRAY_LEN(counters) * count_times());
	pthread_t threads[4];

	scratch_write(*state, "file", SPAN("0\n"));
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count_up, &counters[i]), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		pthread_join(threads[i], NULL);
	assert_content(*state, "file", span_str(want));
	assert_no_temporary(*state);
}

#define scratch_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		scratch_test(a_file_is_replaced_created_and_deleted_in_every_way),
		scratch_test(many_pieces_and_large_ones_are_written_in_order),
		scratch_test(a_change_since_the_read_is_a_mismatch),
		scratch_test(a_change_that_restores_the_time_stamp_is_seen),
		scratch_test(a_file_that_appears_is_not_overwritten),
		scratch_test(a_file_that_appears_at_the_last_moment_is_not_overwritten),
		scratch_test(the_last_of_several_strangers_wins),
		scratch_test(a_strangers_file_of_another_type_is_put_back),
		scratch_test(a_writer_makes_us_wait_and_then_give_up),
		scratch_test(readers_and_a_private_mapping_do_not_disturb),
		scratch_test(a_shared_writable_mapping_is_a_writer),
		scratch_test(a_writer_who_comes_between_is_not_lost),
		scratch_test(everything_but_the_content_is_kept),
		scratch_test(a_default_acl_is_for_new_files_only),
		scratch_test(new_files_have_the_mode_asked_for_less_the_umask),
		scratch_test(attributes_that_change_meanwhile_are_followed),
		scratch_test(links_and_sparseness_are_as_documented),
		scratch_test(odd_names_are_committed),
		scratch_test(missing_folders_are_made_and_removed_after_a_failure),
		scratch_test(another_user_is_refused_what_cannot_be_kept),
		scratch_test(what_only_looks_like_a_temporary_stays),
		scratch_test(temporary_in_a_large_folder_is_found_when_the_folder_changed),
		scratch_test(a_clean_folder_is_read_once_a_second),
		scratch_test(no_update_of_several_threads_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
