/* SPDX-License-Identifier: Apache-2.0 */
/* How fast patterns are found in one file, held in memory: all of it at once, and in pieces as
 * large as source files; beside memmem, and beside other programs as a whole.
 *
 *     bench_matcher FILE [RIPGREP...]
 *
 * A row: GB/s in pieces, GB/s at once, memmem's GB/s (literals), matching lines, and the
 * milliseconds of each program's count of them.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/fd.h"
#include "base/mem.h"
#include "search/match/matcher.h"

enum { ROUNDS = 3, PIECE_BYTES = 16 << 10 };

struct row {
	const char *pattern;
	bool literal, ignore_case;
};

static const struct row rows[] = {
	{ "EXPORT_SYMBOL_GPL", true, false },
	{ "zstd_get_error_name", true, false },
	{ "no such text anywhere", true, false },
	{ "return", true, false },
	{ "export_symbol_gpl", true, true },
	{ "todo|fixme|xxx", false, true },
	{ "mutex_lock|spin_lock|rcu_read_lock", false, false },
	{ "\\bkmalloc\\([^)]*GFP_ATOMIC", false, false },
	{ "[A-Z]+_SUSPEND", false, false },
	{ "\\d{5}", false, false },
	{ "\\w+\\s*\\(", false, false },
	{ "^\\s*$", false, false },
	{ "[a-z]+_[a-z]+_[0-9]+", false, false },
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct span read_whole(const char *path)
{
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	if (fd < 0 || fstat(fd, &st) != 0)
		return span_of(NULL, 0);
	data = mem_alloc((size_t)st.st_size + 1, 1);
	if (fd_read_full(fd, data, (size_t)st.st_size) != st.st_size)
		return span_of(NULL, 0);
	return span_of(data, (size_t)st.st_size);
}

static size_t count_lines(const struct matcher *matcher, struct matcher_scratch *scratch,
                          struct span text)
{
	struct text_match match;
	size_t count = 0, at = 0;

	while (at < text.len && matcher_find(matcher, scratch, text, at, &match) == MATCH_FOUND) {
		const char *lf = memchr(text.data + match.end, '\n', text.len - match.end);

		count++;
		at = lf ? (size_t)(lf - text.data) + 1 : text.len;
	}
	return count;
}

/* GB/s, the best of some rounds. */
static double speed(const struct matcher *matcher, struct span text, size_t piece,
                    size_t *ret_count)
{
	struct matcher_scratch *scratch = matcher_scratch_new(matcher);
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = seconds(), taken;

		*ret_count = 0;
		for (size_t at = 0; at < text.len; at += piece)
			*ret_count += count_lines(matcher, scratch,
			                          span_head(span_skip(text, at), piece));
		taken = seconds() - start;
		best = taken < best ? taken : best;
	}
	matcher_scratch_free(scratch);
	return (double)text.len / best / 1e9;
}

static double memmem_speed(const char *needle, struct span text)
{
	double start = seconds();
	struct span rest = text;
	const char *hit;

	while ((hit = memmem(rest.data, rest.len, needle, strlen(needle))))
		rest = span_skip(rest, (size_t)(hit - rest.data) + 1);
	return (double)text.len / (seconds() - start) / 1e9;
}

/* Milliseconds of the program's count of matching lines; below 0 when it cannot be run. */
static double program_time(const char *program, const struct row *row, const char *file)
{
	const char *argv[] = { program, "--no-config", "-c", "-a",
		               row->literal ? "-F" : "--color=never",
		               row->ignore_case ? "-i" : "-s", "-e", row->pattern, file, NULL };
	double best = 1e9;

	for (int round = 0; round < ROUNDS; round++) {
		double start = seconds(), taken;
		posix_spawn_file_actions_t actions;
		int status = -1;
		pid_t pid;

		posix_spawn_file_actions_init(&actions);
		posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
		if (posix_spawnp(&pid, program, &actions, NULL, (char *const *)argv, environ) != 0)
			return -1;
		waitpid(pid, &status, 0);
		posix_spawn_file_actions_destroy(&actions);
		taken = (seconds() - start) * 1e3;
		best = taken < best ? taken : best;
	}
	return best;
}

static void bench(const struct row *row, struct span text, char **argv)
{
	struct matcher_options options = { .pattern = span_str(row->pattern),
		                           .literal = row->literal,
		                           .cases = row->ignore_case ? CASE_IGNORE
		                                                     : CASE_SENSITIVE };
	struct matcher *matcher = NULL;
	struct err err = ERR_INIT;
	size_t count = 0;

	if (!matcher_compile(&options, &matcher, &err)) {
		fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	printf("%-36s %s %7.2f", row->pattern, row->ignore_case ? "-i" : "  ",
	       speed(matcher, text, PIECE_BYTES, &count));
	printf(" %7.2f", speed(matcher, text, text.len, &count));
	if (row->literal && !row->ignore_case)
		printf(" %7.2f", memmem_speed(row->pattern, text));
	else
		printf(" %7s", "");
	printf(" %9zu", count);
	for (char **program = argv + 2; *program; program++)
		printf(" %7.0f", program_time(*program, row, argv[1]));
	printf("\n");
	matcher_free(matcher);
}

int main(int argc, char **argv)
{
	struct span text = argc > 1 ? read_whole(argv[1]) : span_of(NULL, 0);

	if (text.len == 0) {
		fprintf(stderr, "bench_matcher FILE [RIPGREP...]\n");
		return 2;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		bench(&rows[i], text, argv);
	free((char *)text.data);
	return 0;
}
