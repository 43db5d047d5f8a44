/* SPDX-License-Identifier: Apache-2.0 */
/* Many writers on one file, and the proof that no commit replaced what it had not seen.
 *
 *     test_contention [UPDATES [FOLDER]]     without arguments 5,000 updates in a folder of /tmp,
 *                                            or as many as there are in a minute
 *
 * 5,000 are enough to see that a commit does not compare, keeps no lease, does not look after the
 * exchange, or does not put back.  That it does not look at the name before the exchange is not
 * seen, with 20,000 either.  A window that is hit once in hundreds of thousands needs the million of
 * script/soak.
 *
 * The file has one line per writer, all of one width, each with the number of that writer's
 * last write; numbers only grow, so no content comes twice.
 *
 *   workers   read, patch their line, commit with the hash of what they read; one of
 *             them commits every other time a transaction of two files
 *   in-place  opens, writes its line's digits with pwrite, closes: as a program that
 *             saves without a temporary
 *   renamer   reads, changes its line, renames a new file over it: as an editor
 *             that saves by temporary.  It loses what others commit between its read and
 *             its rename; that is its own doing, and allowed for
 *
 * In-place writer and renamer exclude each other (but not the workers), so neither destroys
 * what the other wrote.  Then, if every commit replaces exactly the content it was based on:
 *
 *   1. no two commits that succeeded have the same base
 *   2. the in-place writer always finds the number it wrote last, unless it wrote to a file that
 *      had been removed by then, or was on its way out
 *   3. the renamer always finds the number it wrote last
 *
 * The exceptions in 2 are the windows of docs/files.md, "What window remains".  While the in-place
 * writer has the file open no commit may remove it, so when it does not have the name after the
 * write, it had it no more at the open, or had it only until a newer file was put back.  What has the
 * name is looked at with the folder locked, as those lock it who put something back.
 *
 * Deterministic tests of what comes between the steps of a commit
 * are in test_adopt.c and test_commit.c.
 *
 * For the renamer, which only reads what it opens, there is no such window: every fourth time it
 * looks the file up by its name, and opens what it found after a while, as one does
 * who is interrupted in open(2).
 *
 * And conversely: a commit that replaces anything but its base has a base that was replaced
 * before, by another commit (breaks 1), by a pwrite (2) or by a rename (3).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "edit/edit.h"
#include "file/workspace.h"
#include "part.h"

enum {
	WORKERS = 4,
	IN_PLACE = WORKERS,
	RENAMER = WORKERS + 1,
	LINES = WORKERS + 2,
	LINE_BYTES = 12, /* "w0 00000000\n" */
	DIGITS_AT = 3,
	DIGITS = 8,
	FILE_BYTES = LINES * LINE_BYTES,
	/* Writes in place that may be late: of each 100,000, or part of them.  To be expected are 0.2
	 * (docs/files.md).  Without a lease kept until the last look 5,000 updates have 70 to 90. */
	LATE_MAX = 2,
	LATE_OF = 100000,
	SECONDS_MAX = 60, /* a machine that is busy with other things takes ten times as long */
};

/* Shared by all processes. */
struct board {
	_Atomic size_t started;      /* updates begun */
	_Atomic size_t refused;      /* STATE_MISMATCH */
	_Atomic size_t busy;
	_Atomic size_t transactions; /* that succeeded, of the updates */
	_Atomic size_t in_place, renames;
	_Atomic size_t late;         /* writes in place to a file that was not to stay */
	_Atomic size_t lost_in_place, lost_renames, failures;
	_Atomic bool stop;
	char message[ERR_MESSAGE_MAX]; /* of the first failure */
	_Atomic size_t logged;
	struct sha256 bases[];       /* of the updates that succeeded */
};

struct arena {
	char folder[128], root[160], file[192], lock[192], journal[160];
	size_t updates;
	time_t deadline; /* CLOCK_MONOTONIC; no update is begun after it */
	struct board *board;
};

static struct arena arena; /* what the command line says; written once by main */

static void fill(char *line, char kind, unsigned index, unsigned number)
{
	snprintf(line, LINE_BYTES + 1, "%c%u %08u\n", kind, index, number);
}

static unsigned number_in(const char *content, unsigned line)
{
	return (unsigned)strtoul(content + line * LINE_BYTES + DIGITS_AT, NULL, 10);
}

static bool read_file(int fd, char content[static FILE_BYTES + 1])
{
	content[FILE_BYTES] = '\0';
	return fd >= 0 && fd_read_full(fd, content, FILE_BYTES) == FILE_BYTES;
}

static void failed(struct board *board, const char *what)
{
	if (atomic_fetch_add(&board->failures, 1) == 0)
		snprintf(board->message, sizeof(board->message), "%s", what);
}

static void nap(unsigned *seed, long max_us)
{
	struct timespec time = { .tv_nsec = (long)((unsigned long)rand_r(seed) %
	                                           (unsigned long)max_us) * 1000 };

	nanosleep(&time, NULL);
}

/* One attempt of a worker; true when it was committed. */
static bool update(struct arena *a, const struct workspace *ws, unsigned worker,
                   unsigned number, bool two)
{
	char content[FILE_BYTES + 1], line[LINE_BYTES + 1], diff[128], own[32], text[32];
	struct sha256 base;
	struct change_result results[2];
	struct edit_options options = { .journal_folder = a->journal };
	struct change changes[2] = {
		{ .kind = CHANGE_PATCH, .path = "shared", .base = &base },
		{ .kind = CHANGE_UPDATE, .path = own, .old_text = SPAN("n"), .any_count = true },
	};
	struct err err = ERR_INIT;
	_cleanup_fd_ int fd = open(a->file, O_RDONLY | O_CLOEXEC);
	size_t count = two ? 2 : 1;
	bool ok;

	if (!read_file(fd, content))
		return failed(a->board, "a reader saw half a file"), false;
	base = sha256_of(span_of(content, FILE_BYTES));
	fill(line, 'w', worker, number);
	snprintf(diff, sizeof(diff), "@@ -%u +%u @@\n-%.*s+%s", worker + 1, worker + 1, LINE_BYTES,
	         content + worker * LINE_BYTES, line);
	changes[0].text = span_str(diff);
	snprintf(own, sizeof(own), "own%u", worker);
	snprintf(text, sizeof(text), "n%u", number % 10);
	changes[1].text = span_str(text);
	options.commit.durability = DURABILITY_RENAME;
	ok = edit_apply(ws, changes, count, &options, results, &err);
	for (size_t i = 0; i < count; i++)
		change_result_release(&results[i]);
	if (ok)
		a->board->bases[atomic_fetch_add(&a->board->logged, 1)] = base;
	else if (err.code == ERR_STATE_MISMATCH)
		atomic_fetch_add(&a->board->refused, 1);
	else if (err.code == ERR_BUSY)
		atomic_fetch_add(&a->board->busy, 1);
	else
		failed(a->board, err.message);
	return ok;
}

static bool has_time(const struct arena *a)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return !a->deadline || now.tv_sec < a->deadline;
}

static void run_worker(struct arena *a, unsigned worker)
{
	const char *root = a->root;
	struct err err = ERR_INIT;
	struct workspace *ws;
	unsigned number = 1, seed = worker + 1;

	if (!workspace_open(&root, 1, &ws, &err)) {
		failed(a->board, err.message);
		return;
	}
	while (!a->board->failures && has_time(a) &&
	       atomic_fetch_add(&a->board->started, 1) < a->updates) {
		bool two = worker == 0 && number % 2;

		while (!update(a, ws, worker, number++, two) && !a->board->failures)
			nap(&seed, 300);
		a->board->transactions += two;
	}
	workspace_free(ws);
}

/* The two that know nothing of hasp take turns. */
static int take_turn(const struct arena *a)
{
	int fd = open(a->lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		flock(fd, LOCK_EX);
	return fd;
}

/* Whether the file open for writing is not the one that has the name, for good.  A commit that
 * meets a writer has its own file there for a moment, and puts the writer's back: waits for that,
 * or for the end of a file that was on its way out. */
static bool was_late(const struct arena *a, int fd)
{
	_cleanup_fd_ int folder = open(a->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat held, named;

	while (fstat(fd, &held) == 0 && held.st_nlink > 0) {
		bool has_name;

		flock(folder, LOCK_EX);
		has_name = stat(a->file, &named) == 0 && named.st_ino == held.st_ino;
		flock(folder, LOCK_UN);
		if (has_name)
			return false;
		sched_yield();
	}
	return true;
}

/* Both return whether the number is in the file now. */
static bool write_in_place(struct arena *a, unsigned number, unsigned *seed)
{
	char content[FILE_BYTES + 1], line[LINE_BYTES + 1];
	_cleanup_fd_ int turn = take_turn(a);
	_cleanup_fd_ int fd = open(a->file, O_RDWR | O_CLOEXEC);

	(void)seed;
	if (turn < 0 || !read_file(fd, content))
		return failed(a->board, "the in-place writer cannot read"), false;
	fill(line, 'p', 0, number);
	if (pwrite(fd, line + DIGITS_AT, DIGITS, IN_PLACE * LINE_BYTES + DIGITS_AT) != DIGITS)
		failed(a->board, "the in-place writer cannot write");
	atomic_fetch_add(&a->board->in_place, 1);
	if (was_late(a, fd)) {
		atomic_fetch_add(&a->board->late, 1);
		return false;
	}
	if (number_in(content, IN_PLACE) != number - 1)
		atomic_fetch_add(&a->board->lost_in_place, 1);
	return true;
}

/* Opens in one step, or in two with a while between. */
static int open_somehow(const char *path, unsigned *seed)
{
	_cleanup_fd_ int found = -1;
	char link[32];

	if (rand_r(seed) % 4)
		return open(path, O_RDONLY | O_CLOEXEC);
	found = open(path, O_PATH | O_CLOEXEC);
	nap(seed, 300);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	return open(link, O_RDONLY | O_CLOEXEC);
}

static bool write_by_rename(struct arena *a, unsigned number, unsigned *seed)
{
	char content[FILE_BYTES + 1], path[256], line[LINE_BYTES + 1];
	_cleanup_fd_ int turn = take_turn(a);
	_cleanup_fd_ int old = open_somehow(a->file, seed);
	_cleanup_fd_ int fd = -1;

	if (turn < 0 || !read_file(old, content))
		return failed(a->board, "the renamer cannot read"), false;
	if (number_in(content, RENAMER) != number - 1)
		atomic_fetch_add(&a->board->lost_renames, 1);
	fill(line, 'r', 0, number);
	memcpy(content + RENAMER * LINE_BYTES, line, LINE_BYTES);
	snprintf(path, sizeof(path), "%s~", a->file);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0 || !fd_write_all(fd, content, FILE_BYTES) || rename(path, a->file) < 0)
		failed(a->board, "the renamer cannot write");
	atomic_fetch_add(&a->board->renames, 1);
	return true;
}

static void run_other(struct arena *a, bool (*write_once)(struct arena *, unsigned, unsigned *),
                      unsigned seed)
{
	unsigned number = 1;

	while (!a->board->stop && !a->board->failures) {
		number += write_once(a, number, &seed);
		nap(&seed, 2000);
	}
	write_once(a, number, &seed); /* looks at the last one */
}

static pid_t start(void (*run)(struct arena *, unsigned), unsigned argument)
{
	pid_t pid = fork();

	if (pid == 0) {
		run(&arena, argument);
		_exit(0);
	}
	assert_true(pid > 0);
	return pid;
}

static void run_in_place(struct arena *a, unsigned seed)
{
	run_other(a, write_in_place, seed);
}

static void run_renamer(struct arena *a, unsigned seed)
{
	run_other(a, write_by_rename, seed);
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_SIZE);
}

/* How many commits have a base that another one had too. */
static size_t repeated_bases(struct board *board)
{
	size_t repeated = 0;

	qsort(board->bases, board->logged, sizeof(board->bases[0]), compare);
	for (size_t i = 1; i < board->logged; i++)
		repeated += sha256_eq(&board->bases[i - 1], &board->bases[i]);
	return repeated;
}

static void put(const char *folder, const char *name, const char *text, size_t len)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	assert_true(fd >= 0 && fd_write_all(fd, text, len));
}

static void set_up(struct arena *a)
{
	size_t bytes = sizeof(*a->board) + (a->updates + WORKERS) * sizeof(a->board->bases[0]);
	char content[FILE_BYTES + 1];

	for (unsigned i = 0; i < LINES; i++)
		fill(content + i * LINE_BYTES, i == IN_PLACE ? 'p' : i == RENAMER ? 'r' : 'w',
		     i < WORKERS ? i : 0, 0);
	strncat(a->folder, "/hasp-contention-XXXXXX", sizeof(a->folder) - strlen(a->folder) - 1);
	assert_non_null(mkdtemp(a->folder));
	snprintf(a->root, sizeof(a->root), "%s/w", a->folder);
	snprintf(a->file, sizeof(a->file), "%s/shared", a->root);
	snprintf(a->lock, sizeof(a->lock), "%s/lock", a->folder);
	snprintf(a->journal, sizeof(a->journal), "%s/journal", a->folder);
	assert_int_equal(mkdir(a->root, 0777), 0);
	put(a->root, "shared", content, FILE_BYTES);
	for (unsigned i = 0; i < WORKERS; i++) {
		snprintf(content, sizeof(content), "own%u", i);
		put(a->root, content, "n", 1);
	}
	a->board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(a->board != MAP_FAILED);
}

static void tear_down(const struct arena *a)
{
	_cleanup_free_ char *command = mem_printf("%s", a->folder);
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/rm", "rm", "-rf", command, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void no_commit_replaces_what_it_has_not_seen(void **state)
{
	pid_t workers[WORKERS], others[2];
	struct timespec begin, end;
	struct board *board;
	size_t repeated;

	(void)state;
	set_up(&arena);
	board = arena.board;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (arena.deadline)
		arena.deadline += begin.tv_sec;
	others[0] = start(run_in_place, 11);
	others[1] = start(run_renamer, 12);
	for (unsigned i = 0; i < WORKERS; i++)
		workers[i] = start(run_worker, i);
	for (unsigned i = 0; i < WORKERS; i++)
		waitpid(workers[i], NULL, 0);
	board->stop = true;
	for (unsigned i = 0; i < ARRAY_LEN(others); i++)
		waitpid(others[i], NULL, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	repeated = repeated_bases(board);
	printf("%zu updates committed (%zu in transactions), %zu refused, %zu busy; "
	       "%zu writes in place, %zu renames; %.1f s\n"
	       "lost: %zu commits, %zu writes in place, %zu renames; "
	       "%zu writes in place were late\n", board->logged,
	       board->transactions, board->refused, board->busy, board->in_place, board->renames,
	       (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
	       repeated, board->lost_in_place, board->lost_renames, board->late);
	tear_down(&arena);
	if (board->failures)
		fail_msg("%zu failures: %s", board->failures, board->message);
	/* All that were begun; workers that find no more to do count too. */
	assert_true(board->logged == arena.updates ||
	            (board->logged == board->started && !has_time(&arena)));
	assert_true(board->in_place > 0 && board->renames > 0);
	assert_int_equal(repeated, 0);
	assert_int_equal(board->lost_renames, 0);
	assert_int_equal(board->lost_in_place, 0);
	assert_true(board->late <= LATE_MAX * (1 + board->in_place / LATE_OF));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_commit_replaces_what_it_has_not_seen),
	};

	arena.deadline = argc > 1 ? 0 : SECONDS_MAX;
	arena.updates = argc > 1 ? strtoul(argv[1], NULL, 10) : part_of(5000, 4);
	snprintf(arena.folder, sizeof(arena.folder), "%s", argc > 2 ? argv[2] : "/tmp");
	return cmocka_run_group_tests_name("contention", tests, NULL, NULL);
}
