/* SPDX-License-Identifier: Apache-2.0 */
#include "cache_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "search/rules/chain.h"
#include "search/scan/scan.h"

enum { SETTLE_MS = 120000 };

void cache_fixture_open(struct cache_fixture *f)
{
	struct err err = ERR_INIT;
	_cleanup_free_ char *root = NULL;
	const char *roots[1];

	*f = (struct cache_fixture){ .top = "/tmp/hasp-test-XXXXXX" };
	assert_non_null(mkdtemp(f->top));
	setenv("HOME", f->top, 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	unsetenv("GIT_CONFIG_GLOBAL");
	unsetenv("XDG_CONFIG_HOME");
	fixture_run(f, "mkdir -p root/a/b root/c outside");
	fixture_write(f, "root/one.txt", "the quick brown fox\n");
	fixture_write(f, "root/a/two.txt", "jumps over the lazy dog\n");
	fixture_write(f, "root/a/b/three.txt", "sphinx of black quartz\n");
	fixture_write(f, "root/c/four.txt", "judge my vow\n");
	root = fixture_path(f, "root");
	roots[0] = root;
	if (!workspace_open(roots, 1, &f->ws, &err))
		fail_msg("%s", err.message);
}

void fixture_start(struct cache_fixture *f, const struct search_cache_options *options)
{
	static const struct search_cache_options defaults = { 0 };

	f->cache = search_cache_new(f->ws, options ? options : &defaults);
	fixture_settle(f);
}

void cache_fixture_close(struct cache_fixture *f)
{
	_cleanup_free_ char *command = mem_printf("rm -rf '%s'", f->top);

	search_cache_free(f->cache);
	workspace_free(f->ws);
	assert_int_equal(system(command), 0);
}

void fixture_run(const struct cache_fixture *f, const char *command)
{
	_cleanup_free_ char *line = mem_printf("cd '%s' && %s", f->top, command);

	if (system(line) != 0)
		fail_msg("failed: %s", command);
}

char *fixture_path(const struct cache_fixture *f, const char *path)
{
	return mem_printf("%s/%s", f->top, path);
}

void fixture_write(const struct cache_fixture *f, const char *path, const char *text)
{
	_cleanup_free_ char *whole = fixture_path(f, path);
	_cleanup_fd_ int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_true(fd_write_all(fd, text, strlen(text)));
}

void fixture_settle(struct cache_fixture *f)
{
	search_cache_want(f->cache, 0, &f->rules);
	assert_true(search_cache_settle(f->cache, SETTLE_MS));
}

/* ---- the cache's word ---------------------------------------------------------- */

static uint64_t *select_needle(const struct cached_tree *tree, const char *needle)
{
	uint64_t *bits = mem_alloc(cached_tree_files(tree) / 64 + 1, sizeof(*bits));
	const struct span literal = span_str(needle);
	const struct matcher_alternative alternative = { &literal, 1 };
	const struct matcher_needs needs = { &alternative, 1 };

	cached_tree_select(tree, &needs, bits);
	return bits;
}

static bool has_bit(const uint64_t *bits, size_t i)
{
	return (bits[i / 64] >> i % 64 & 1) != 0;
}

static size_t find_file(const struct cached_tree *tree, const char *file)
{
	const char *slash = strrchr(file, '/');
	const size_t folder_len = slash ? (size_t)(slash - file) + 1 : 0;
	size_t count;
	const struct cached_folder *folders = cached_tree_folders(tree, &count);

	for (size_t i = 0; i < count; i++) {
		if (strlen(folders[i].path) != folder_len ||
		    strncmp(folders[i].path, file, folder_len) != 0)
			continue;
		for (size_t j = 0; j < folders[i].count; j++)
			if (strcmp(folders[i].names[j], file + folder_len) == 0)
				return folders[i].first + j;
	}
	return SIZE_MAX;
}

enum fixture_answer fixture_ask(struct cache_fixture *f, const char *file, const char *needle)
{
	struct cached_tree *tree = search_cache_open(f->cache, 0, &f->rules);
	enum fixture_answer answer = ANSWER_NO_FILE;
	uint64_t *bits;
	size_t at;

	if (!tree)
		return ANSWER_NO_TREE;
	bits = select_needle(tree, needle);
	at = find_file(tree, file);
	if (at != SIZE_MAX)
		answer = has_bit(bits, at) ? ANSWER_MAY_MATCH : ANSWER_CANNOT_MATCH;
	free(bits);
	search_cache_close(f->cache, tree);
	return answer;
}

/* ---- the truth -------------------------------------------------------------------- */

struct truth {
	pthread_mutex_t lock;
	char **lines; /* owned; paths of folders and files */
	size_t count, cap;
	const char *needle;
	const uint64_t *bits; /* of the cache */
	const struct cached_tree *tree;
	char *missed;         /* owned; a file that has the needle, which the cache denies */
};

static void add_line(struct truth *truth, const char *path, const char *name)
{
	if (truth->count == truth->cap)
		truth->lines = mem_grow(truth->lines, &truth->cap, truth->count + 1,
		                        sizeof(char *));
	truth->lines[truth->count++] = mem_printf("%s%s", path, name);
}

/* Whether a search finds it: not in binary files. (Files here are small.) */
static bool has_needle(int folder, const char *name, const char *needle)
{
	_cleanup_fd_ int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_buf_ struct buf text = BUF_INIT((size_t)64 << 20);
	ssize_t n = 1;

	while (fd >= 0 && n > 0) {
		char *room = buf_reserve(&text, 1 << 16);

		n = room ? read(fd, room, 1 << 16) : -1;
		text.len += n > 0 ? (size_t)n : 0;
	}
	return text.len > 0 && !memchr(text.data, '\0', text.len) &&
	       memmem(text.data, text.len, needle, strlen(needle));
}

static bool visit(void *data, unsigned thread, const struct scan_folder *folder)
{
	struct truth *truth = data;

	(void)thread;
	pthread_mutex_lock(&truth->lock);
	if (folder->first_part)
		add_line(truth, folder->path, "");
	for (size_t i = 0; i < folder->file_count; i++) {
		_cleanup_free_ char *path = mem_printf("%s%s", folder->path, folder->files[i]);
		const size_t at = find_file(truth->tree, path);

		add_line(truth, path, "");
		if (!truth->missed && has_needle(folder->fd, folder->files[i], truth->needle) &&
		    (at == SIZE_MAX || !has_bit(truth->bits, at)))
			truth->missed = mem_strdup(path);
	}
	pthread_mutex_unlock(&truth->lock);
	return true;
}

static void scan_cold(const struct cache_fixture *f, struct truth *truth)
{
	static const struct scan_visitor visitor = { .visit = visit };
	struct global_ignore *global = global_ignore_read();
	struct ignore_rules *rules = global_ignore_text(global).len > 0
	                                     ? ignore_parse(global_ignore_text(global))
	                                     : NULL;
	const struct tree_scan scan = {
		.root = workspace_root_fd(f->ws, 0),
		.root_path = workspace_root_path(f->ws, 0),
		.start = "",
		.rules = &f->rules,
		.global = f->rules.no_git_ignore ? NULL : rules,
		.visitor = &visitor,
		.data = truth,
		.threads = 1,
	};
	struct err err = ERR_INIT;

	assert_true(scan_run(&scan, &err));
	ignore_free(rules);
	global_ignore_free(global);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void compare_lists(struct truth *truth, const struct cached_tree *tree)
{
	size_t count, at = 0;
	const struct cached_folder *folders = cached_tree_folders(tree, &count);
	struct truth cached = { .count = 0 };

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(folders[i].first, at);
		assert_true(i == 0 || strcmp(folders[i - 1].path, folders[i].path) < 0);
		add_line(&cached, folders[i].path, "");
		for (size_t j = 0; j < folders[i].count; j++)
			add_line(&cached, folders[i].path, folders[i].names[j]);
		at += folders[i].count;
	}
	assert_int_equal(at, cached_tree_files(tree));
	qsort(truth->lines, truth->count, sizeof(char *), compare_lines);
	qsort(cached.lines, cached.count, sizeof(char *), compare_lines);
	for (size_t i = 0; i < truth->count || i < cached.count; i++) {
		const char *a = i < truth->count ? truth->lines[i] : "(end)";
		const char *b = i < cached.count ? cached.lines[i] : "(end)";

		if (strcmp(a, b) != 0)
			fail_msg("a cold scan has '%s' where the cache has '%s'", a, b);
	}
	for (size_t i = 0; i < cached.count; i++)
		free(cached.lines[i]);
	free(cached.lines);
}

bool fixture_compare(struct cache_fixture *f, const char *needle)
{
	struct cached_tree *tree = search_cache_open(f->cache, 0, &f->rules);
	struct truth truth = { .needle = needle, .tree = tree };
	uint64_t *bits;

	if (!tree)
		return false;
	pthread_mutex_init(&truth.lock, NULL);
	bits = select_needle(tree, needle);
	truth.bits = bits;
	scan_cold(f, &truth);
	if (truth.missed)
		fail_msg("'%s' has '%s', and the cache denies it", truth.missed, needle);
	compare_lists(&truth, tree);
	for (size_t i = 0; i < truth.count; i++)
		free(truth.lines[i]);
	free(truth.lines);
	free(bits);
	pthread_mutex_destroy(&truth.lock);
	search_cache_close(f->cache, tree);
	return true;
}

size_t fixture_count(const char *proc_folder)
{
	DIR *dir = opendir(proc_folder);
	size_t count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}
