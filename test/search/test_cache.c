/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's word after each kind of change: it must be that of a cold scan, at once. */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fd.h"
#include "base/mem.h"
#include "cache_fixture.h"
#include "part.h"
#include "search/cache/kept_tree.h"

#define NEEDLE "xylophone"

/* Sweeps come every few seconds; a loaded machine may take its time. */
enum { SWEEP_WAIT_S = 90 };

static void assert_answer(struct cache_fixture *f, const char *file, enum fixture_answer answer)
{
	assert_int_equal(fixture_ask(f, file, NEEDLE), answer);
}

/* ---- changes that are seen at once ---------------------------------------------- */

/* Commands are run by sh in the folder that holds "root" and "outside". */
static const struct change {
	const char *what;
	const char *before; /* run before the cache is made; NULL: nothing */
	const char *change;
	const char *file;   /* that has the needle then, relative to root; NULL: none has */
} changes[] = {
	{ "written anew", NULL, "echo " NEEDLE " > root/one.txt", "one.txt" },
	{ "appended to", NULL, "echo " NEEDLE " >> root/a/two.txt", "a/two.txt" },
	{ "written in place with the same size and time",
	  "echo 'no xylophon' > root/z && touch -d '2001-01-01' root/z",
	  "printf '" NEEDLE "' | dd of=root/z conv=notrunc status=none && "
	  "touch -d '2001-01-01' root/z", "z" },
	{ "renamed over", "echo " NEEDLE " > outside/new",
	  "mv outside/new root/a/b/three.txt", "a/b/three.txt" },
	{ "renamed over by a neighbour", "echo " NEEDLE " > root/c/n",
	  "mv root/c/n root/c/four.txt", "c/four.txt" },
	{ "moved around", "echo " NEEDLE " > root/c/n",
	  "mv root/c/four.txt root/c/t && mv root/c/n root/c/four.txt && "
	  "mv root/c/t root/c/n", "c/four.txt" },
	{ "created", NULL, "echo " NEEDLE " > root/c/new.txt", "c/new.txt" },
	{ "created where a file was removed", NULL,
	  "rm root/one.txt && echo " NEEDLE " > root/one.txt", "one.txt" },
	{ "removed", "echo " NEEDLE " > root/c/n", "rm root/c/n", NULL },
	{ "created deep down", NULL,
	  "mkdir -p root/n/e/w/d/e/e/p && echo " NEEDLE " > root/n/e/w/d/e/e/p/f",
	  "n/e/w/d/e/e/p/f" },
	{ "in a folder that is removed", "mkdir -p root/n/e && echo " NEEDLE " > root/n/e/f",
	  "rm -r root/n", NULL },
	{ "in a folder that is renamed", "mkdir -p root/n/e && echo " NEEDLE " > root/n/e/f",
	  "mv root/n root/a/m", "a/m/e/f" },
	{ "written after its folder was renamed", "mkdir -p root/n/e && echo no > root/n/e/f",
	  "mv root/n root/a/m && echo " NEEDLE " > root/a/m/e/f", "a/m/e/f" },
	{ "written before its folder was renamed", "mkdir -p root/n/e && echo no > root/n/e/f",
	  "echo " NEEDLE " > root/n/e/f && mv root/n root/a/m", "a/m/e/f" },
	{ "in a folder that comes from outside",
	  "mkdir -p outside/n/e && echo " NEEDLE " > outside/n/e/f", "mv outside/n root/a/m",
	  "a/m/e/f" },
	{ "in a folder that takes another's place",
	  "mkdir -p outside/b && echo " NEEDLE " > outside/b/three.txt",
	  "mv root/a/b outside/old && mv outside/b root/a/b", "a/b/three.txt" },
	{ "in a folder that went away, changed and came back", NULL,
	  "mv root/a outside/a && echo " NEEDLE " > outside/a/b/three.txt && mv outside/a root/a",
	  "a/b/three.txt" },
	{ "in one of two folders that change places",
	  "mkdir root/p root/q && echo no > root/p/f && echo " NEEDLE " > root/q/f",
	  "mv root/p root/t && mv root/q root/p && mv root/t root/q", "p/f" },
	{ "written through another name in the tree", "ln root/one.txt root/c/other",
	  "echo " NEEDLE " > root/c/other", "one.txt" },
	{ "written through another name outside", "ln root/one.txt outside/other",
	  "echo " NEEDLE " > outside/other", "one.txt" },
	{ "given another name in the tree, and written through it", NULL,
	  "ln root/one.txt root/c/other && echo " NEEDLE " > root/c/other", "one.txt" },
	{ "given another name by a copy of links, and written through it", NULL,
	  "cp -al root/a root/copy && echo " NEEDLE " >> root/copy/b/three.txt", "a/b/three.txt" },
	{ "a link in place of a file", "echo " NEEDLE " > outside/x",
	  "rm root/one.txt && ln -s ../outside/x root/one.txt", NULL },
	{ "a folder in place of a file", NULL,
	  "rm root/one.txt && mkdir root/one.txt && echo " NEEDLE " > root/one.txt/f",
	  "one.txt/f" },
	{ "a file in place of a folder", NULL, "rm -r root/a && echo " NEEDLE " > root/a", "a" },
	{ "a folder behind a link in its place", "cp -r root/a outside/a",
	  "rm -r root/a && ln -s ../outside/a root/a", NULL },
	{ "now ignored", "echo " NEEDLE " > root/c/n.log", "echo '*.log' > root/.gitignore", NULL },
	{ "no longer ignored", "echo '*.log' > root/.gitignore && echo " NEEDLE " > root/c/n.log",
	  "echo > root/.gitignore", "c/n.log" },
	{ "no longer ignored: the rules are gone",
	  "echo '/c/' > root/.gitignore && echo " NEEDLE " > root/c/n", "rm root/.gitignore",
	  "c/n" },
	{ "rules further down", "echo " NEEDLE " > root/a/b/n", "echo n > root/a/.gitignore",
	  NULL },
	{ "rules that come by a rename", "echo " NEEDLE " > root/c/n && echo n > outside/r",
	  "mv outside/r root/.gitignore", NULL },
	{ "written while it was ignored", "echo '*.log' > root/.gitignore && echo > root/c/n.log",
	  "echo " NEEDLE " > root/c/n.log && rm root/.gitignore", "c/n.log" },
	{ ".geminiignore", "echo " NEEDLE " > root/c/n", "echo c/n > root/.geminiignore", NULL },
	{ "a .geminiignore further down does not count", "echo " NEEDLE " > root/c/n",
	  "echo n > root/c/.geminiignore", "c/n" },
	{ "a custom ignore file", "echo " NEEDLE " > root/c/n", "echo n > root/c/.customignore",
	  NULL },
	{ "a repository that begins: rules above do not count in it",
	  "echo n > root/.gitignore && echo " NEEDLE " > root/a/b/n", "mkdir root/a/.git",
	  "a/b/n" },
	{ "a repository that ends",
	  "mkdir root/a/.git && echo n > root/.gitignore && echo " NEEDLE " > root/a/b/n",
	  "rmdir root/a/.git", NULL },
	{ "info/exclude that comes", "mkdir -p root/.git/info && echo " NEEDLE " > root/c/n",
	  "echo n > root/.git/info/exclude", NULL },
	{ "info/exclude that changes",
	  "mkdir -p root/.git/info && echo n > root/.git/info/exclude && "
	  "echo " NEEDLE " > root/c/n",
	  "echo m > root/.git/info/exclude", "c/n" },
	{ "info/exclude that goes",
	  "mkdir -p root/.git/info && echo n > root/.git/info/exclude && "
	  "echo " NEEDLE " > root/c/n",
	  "rm -r root/.git/info", "c/n" },
	{ "info/exclude of a linked work tree",
	  "mkdir -p root/g/info root/w && echo 'gitdir: ../g' > root/w/.git && "
	  "echo " NEEDLE " > root/w/n",
	  "echo n > root/g/info/exclude", NULL },
	{ "git's global excludes", "echo " NEEDLE " > root/c/n",
	  "mkdir -p .config/git && echo n > .config/git/ignore", NULL },
	{ "git's configuration of the global excludes",
	  "echo n > mine && echo " NEEDLE " > root/c/n",
	  "printf '[core]\\nexcludesFile = ~/mine\\n' > .gitconfig", NULL },
	{ "file written after its mode was changed", NULL,
	  "chmod 600 root/one.txt && echo " NEEDLE " > root/one.txt && chmod 444 root/one.txt",
	  "one.txt" },
	{ "many files in a new folder", NULL,
	  "mkdir root/n && for i in $(seq 1500); do echo no > root/n/$i; done && "
	  "echo " NEEDLE " > root/n/1234", "n/1234" },
	{ "many folders", NULL,
	  "mkdir $(seq -f root/a/%g 300) && for i in $(seq 300); do echo no > root/a/$i/f; done && "
	  "echo " NEEDLE " > root/a/217/f", "a/217/f" },
	{ "many changed folders",
	  "mkdir $(seq -f root/a/%g 300) && for i in $(seq 300); do echo no > root/a/$i/f; done",
	  "for i in $(seq 300); do echo no > root/a/$i/g; done && "
	  "echo " NEEDLE " > root/a/217/f && rm -r root/a/218", "a/217/f" },
};

static const char *const custom_names[] = { ".customignore" };

/* Runs one change; the answers right after it and once all is read again must be true. */
/* A file that was read while its clock had not moved on since it was written is read again
 * later. */
static void wait_until_known(struct cache_fixture *f, const char *file)
{
	for (int i = 0; i < SWEEP_WAIT_S * 10; i++) {
		fixture_settle(f);
		if (fixture_ask(f, file, NEEDLE) == ANSWER_CANNOT_MATCH)
			return;
		usleep(100000);
	}
	fail_msg("it is not known what is in %s", file);
}

static void run_change(const struct change *change)
{
	struct cache_fixture f;

	cache_fixture_open(&f);
	f.rules.ignore_files = custom_names;
	f.rules.ignore_file_count = 1;
	if (change->before)
		fixture_run(&f, change->before);
	fixture_start(&f, NULL);
	assert_true(fixture_compare(&f, NEEDLE));
	fixture_run(&f, change->change);
	assert_true(fixture_compare(&f, NEEDLE));
	if (change->file)
		assert_answer(&f, change->file, ANSWER_MAY_MATCH);
	fixture_settle(&f);
	assert_true(fixture_compare(&f, NEEDLE));
	if (change->file)
		assert_answer(&f, change->file, ANSWER_MAY_MATCH);
	/* And what is known, is known again. */
	fixture_write(&f, "root/known", "nothing of that kind");
	wait_until_known(&f, "known");
	cache_fixture_close(&f);
}

static void every_change_is_seen_at_once(void **data)
{
	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		print_message("           %s\n", changes[i].what);
		run_change(&changes[i]);
	}
}

/* ---- what is known ------------------------------------------------------------------- */

static void files_without_the_needle_are_left_out(void **data)
{
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_run(&f, "printf 'b\\0n" NEEDLE "\\n' > root/binary && "
	                "printf '\\377" NEEDLE "\\n' > root/latin");
	fixture_start(&f, NULL);
	assert_answer(&f, "one.txt", ANSWER_CANNOT_MATCH);
	assert_answer(&f, "a/b/three.txt", ANSWER_CANNOT_MATCH);
	assert_answer(&f, "binary", ANSWER_CANNOT_MATCH);
	assert_answer(&f, "latin", ANSWER_MAY_MATCH);
	assert_answer(&f, "nowhere", ANSWER_NO_FILE);
	assert_int_equal(fixture_ask(&f, "one.txt", "QUICK brown"), ANSWER_MAY_MATCH);
	assert_int_equal(fixture_ask(&f, "a/two.txt", "quick brown"), ANSWER_CANNOT_MATCH);
	cache_fixture_close(&f);
}

static void a_renamed_folder_keeps_what_is_known_of_it(void **data)
{
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_start(&f, NULL);
	fixture_run(&f, "mv root/a root/renamed");
	assert_answer(&f, "renamed/b/three.txt", ANSWER_CANNOT_MATCH);
	assert_answer(&f, "a/b/three.txt", ANSWER_NO_FILE);
	cache_fixture_close(&f);
}

static void large_files_have_no_signature(void **data)
{
	const struct search_cache_options options = { .max_file_bytes = 1000 };
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_run(&f, "yes no | head -c 1000 > root/fits && yes no | head -c 1001 > root/large");
	fixture_start(&f, &options);
	assert_answer(&f, "fits", ANSWER_CANNOT_MATCH);
	assert_answer(&f, "large", ANSWER_MAY_MATCH);
	cache_fixture_close(&f);
}

static void without_memory_files_may_match_and_names_are_not_kept(void **data)
{
	const struct search_cache_options little = { .max_bytes = 20000 };
	const struct search_cache_options least = { .max_bytes = 2000 };
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_run(&f, "yes 'no way' | head -c 5000 > root/file && "
	                "head -c 100000 /dev/urandom | base64 > root/varied");
	fixture_start(&f, &little);
	assert_answer(&f, "varied", ANSWER_MAY_MATCH);
	assert_true(fixture_compare(&f, NEEDLE));
	search_cache_free(f.cache);
	fixture_start(&f, &least);
	assert_answer(&f, "file", ANSWER_NO_TREE);
	cache_fixture_close(&f);
}

static void the_tree_used_least_recently_makes_room(void **data)
{
	struct cache_fixture f;
	struct walk_rules rules[6] = { 0 };
	struct cached_tree *tree, *held;

	(void)data;
	cache_fixture_open(&f);
	f.rules.no_gemini_ignore = true;
	fixture_start(&f, NULL);
	held = search_cache_open(f.cache, 0, &f.rules);
	assert_non_null(held);
	for (unsigned i = 0; i < 6; i++) {
		rules[i] = (struct walk_rules){ .no_git_ignore = i & 1, .hidden_out = i & 2,
			                        .ignore_files = custom_names,
			                        .ignore_file_count = i / 4 };
		usleep(2000); /* so that one is older than the other */
		search_cache_want(f.cache, 0, &rules[i]);
	}
	usleep(1100 * 1000); /* the keeper steps aside while a tree is open, but not for ever */
	assert_true(search_cache_settle(f.cache, 60000));
	for (unsigned i = 0; i < 6; i++) {
		tree = search_cache_open(f.cache, 0, &rules[i]);
		assert_true((tree != NULL) == (i >= 2));
		if (tree)
			search_cache_close(f.cache, tree);
	}
	assert_null(search_cache_open(f.cache, 0, &f.rules));
	assert_int_equal(cached_tree_files(held), 4); /* what is held stays */
	search_cache_close(f.cache, held);
	cache_fixture_close(&f);
}

static void a_tree_that_is_held_does_not_change(void **data)
{
	struct cache_fixture f;
	struct cached_tree *before, *after, *again;
	size_t count;

	(void)data;
	cache_fixture_open(&f);
	fixture_start(&f, NULL);
	before = search_cache_open(f.cache, 0, &f.rules);
	again = search_cache_open(f.cache, 0, &f.rules);
	assert_non_null(before);
	assert_ptr_equal(before, again);
	fixture_run(&f, "rm -r root/a && echo new > root/new");
	after = search_cache_open(f.cache, 0, &f.rules);
	assert_non_null(after);
	assert_int_equal(cached_tree_files(before), 4);
	assert_string_equal(cached_tree_folders(before, &count)[1].path, "a/");
	assert_int_equal(count, 4);
	assert_int_equal(cached_tree_files(after), 3);
	assert_string_equal(cached_tree_folders(after, &count)[1].path, "c/");
	assert_int_equal(count, 2);
	search_cache_close(f.cache, before);
	search_cache_close(f.cache, after);
	search_cache_close(f.cache, again);
	cache_fixture_close(&f);
}

/* ---- what no event tells --------------------------------------------------------------- */

static const struct search_cache_options sweeping_often = { .sweep_ms = 50 };

/* Asks until the file may match; each question makes a sweep due. */
static void wait_for_match(struct cache_fixture *f, const char *file)
{
	for (int i = 0; i < SWEEP_WAIT_S * 10; i++) {
		if (fixture_ask(f, file, NEEDLE) == ANSWER_MAY_MATCH)
			return;
		usleep(100000);
	}
	fail_msg("%s was not looked at again", file);
}

static char *map_shared(const struct cache_fixture *f, const char *path)
{
	_cleanup_free_ char *whole = fixture_path(f, path);
	_cleanup_fd_ int fd = open(whole, O_RDWR | O_CLOEXEC);
	char *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_ptr_not_equal(map, MAP_FAILED);
	return map;
}

static void a_mapping_is_seen_when_it_is_unmapped(void **data)
{
	struct cache_fixture f;
	char *map;

	(void)data;
	cache_fixture_open(&f);
	fixture_start(&f, NULL);
	map = map_shared(&f, "root/one.txt");
	memcpy(map, NEEDLE, strlen(NEEDLE));
	munmap(map, 4096);
	assert_answer(&f, "one.txt", ANSWER_MAY_MATCH);
	assert_true(fixture_compare(&f, NEEDLE));
	cache_fixture_close(&f);
}

static void a_sweep_notices_a_mapping_that_is_written_to(void **data)
{
	struct cache_fixture f;
	char *map;

	(void)data;
	cache_fixture_open(&f);
	fixture_run(&f, "touch -d '2001-01-01' root/one.txt && sleep 2.5");
	fixture_start(&f, &sweeping_often);
	assert_answer(&f, "one.txt", ANSWER_CANNOT_MATCH);
	map = map_shared(&f, "root/one.txt");
	memcpy(map, NEEDLE, strlen(NEEDLE));
	wait_for_match(&f, "one.txt");
	/* From then on it is not trusted, until it is unmapped. */
	memset(map, 'x', strlen(NEEDLE));
	fixture_settle(&f);
	assert_answer(&f, "one.txt", ANSWER_MAY_MATCH);
	munmap(map, 4096);
	fixture_settle(&f);
	assert_answer(&f, "one.txt", ANSWER_CANNOT_MATCH);
	cache_fixture_close(&f);
}

static void a_sweep_notices_a_name_made_elsewhere(void **data)
{
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_run(&f, "sleep 2.5");
	fixture_start(&f, &sweeping_often);
	fixture_run(&f, "ln root/one.txt outside/other && echo " NEEDLE " > outside/other");
	wait_for_match(&f, "one.txt");
	fixture_settle(&f);
	assert_answer(&f, "one.txt", ANSWER_MAY_MATCH);
	/* It is known to have two names now. */
	fixture_run(&f, "sleep 2.5; echo none > outside/other");
	assert_true(fixture_compare(&f, NEEDLE));
	fixture_run(&f, "echo " NEEDLE " > outside/other");
	assert_answer(&f, "one.txt", ANSWER_MAY_MATCH);
	cache_fixture_close(&f);
}

/* ---- when it cannot be true ------------------------------------------------------------ */

/* A sweep takes events in as it goes, and does not read what they name: that is left to the next
 * update, for which no event is queued any more. */
static void what_a_sweep_takes_in_is_read(void **data)
{
	struct cache_fixture f;
	struct kept_tree *tree;
	struct signature_reader *reader = mem_alloc(1, sizeof(*reader));
	struct sweep sweep = { 0 };
	int64_t wait_ms;
	atomic_size_t bytes = 0;
	atomic_bool stop = false;

	(void)data;
	cache_fixture_open(&f);
	tree = kept_tree_new(&(struct kept_place){
		.root_fd = workspace_root_fd(f.ws, 0),
		.root_path = workspace_root_path(f.ws, 0),
		.rules = &f.rules,
		.max_file_bytes = 1 << 20,
		.max_bytes = 1 << 20,
		.bytes = &bytes,
		.stop = &stop,
	});
	assert_true(kept_tree_build(tree));
	assert_false(kept_tree_is_behind(tree));
	assert_true(kept_tree_sweep(tree, &sweep));
	fixture_run(&f, "mv root/a root/z"); /* its files are unknown as yet */
	assert_true(kept_tree_is_behind(tree));
	while (kept_tree_sweep(tree, &sweep))
		;
	kept_tree_sweep_release(&sweep);
	assert_false(watch_has_events(&tree->watch));
	assert_true(kept_tree_is_behind(tree));
	assert_true(kept_tree_update(tree));
	assert_false(kept_tree_is_behind(tree));
	for (int i = 0; i < 10 && kept_tree_unread(tree) > 0; i++)
		assert_int_equal(kept_tree_read(tree, reader, true, &wait_ms), WORK_DONE);
	assert_int_equal(kept_tree_unread(tree), 0);
	kept_tree_reader_release(reader);
	free(reader);
	kept_tree_unref(tree);
	cache_fixture_close(&f);
}

static void an_overflow_gives_the_tree_up_and_it_comes_back(void **data)
{
	struct cache_fixture f;
	_cleanup_free_ char *one = NULL, *two = NULL;
	FILE *limit = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	long events = 0;

	(void)data;
	assert_non_null(limit);
	assert_int_equal(fscanf(limit, "%ld", &events), 1);
	fclose(limit);
	cache_fixture_open(&f);
	fixture_start(&f, NULL);
	/* While the tree is held the keeper takes no events, at first. */
	one = fixture_path(&f, "root/one.txt");
	two = fixture_path(&f, "root/a/two.txt");
	for (int round = 0; round < 100; round++) {
		struct cached_tree *held = search_cache_open(f.cache, 0, &f.rules);

		if (!held)
			break;
		for (long i = 0; i < events + 1000; i++) /* equal events in a row would be one */
			if (truncate(i % 2 ? one : two, i % 7) != 0)
				fail_msg("cannot truncate");
		search_cache_close(f.cache, held);
		if (round == 99)
			fail_msg("the queue did not overflow");
	}
	fixture_run(&f, "echo " NEEDLE " > root/one.txt");
	fixture_settle(&f);
	assert_true(fixture_compare(&f, NEEDLE));
	assert_answer(&f, "a/b/three.txt", ANSWER_CANNOT_MATCH);
	cache_fixture_close(&f);
}

static void a_root_that_is_moved_is_not_kept(void **data)
{
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_start(&f, NULL);
	fixture_run(&f, "mv root moved");
	assert_answer(&f, "one.txt", ANSWER_NO_TREE);
	fixture_run(&f, "mv moved root");
	fixture_settle(&f);
	assert_answer(&f, "one.txt", ANSWER_CANNOT_MATCH);
	cache_fixture_close(&f);
}

static void without_descriptors_nothing_is_kept(void **data)
{
	struct rlimit before, none;
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	getrlimit(RLIMIT_NOFILE, &before);
	f.cache = search_cache_new(f.ws, &(struct search_cache_options){ 0 });
	none = before;
	none.rlim_cur = 3; /* whatever is open stays so */
	setrlimit(RLIMIT_NOFILE, &none);
	search_cache_want(f.cache, 0, &f.rules);
	assert_true(search_cache_settle(f.cache, 60000));
	assert_null(search_cache_open(f.cache, 0, &f.rules));
	setrlimit(RLIMIT_NOFILE, &before);
	cache_fixture_close(&f);
}

static bool write_proc(const char *path, const char *text)
{
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && fd_write_all(fd, text, strlen(text));
}

/* Enters name spaces of its own, in which it may mount. */
static bool become_mounter(void)
{
	_cleanup_free_ char *users = mem_printf("0 %u 1", (unsigned)geteuid());
	_cleanup_free_ char *groups = mem_printf("0 %u 1", (unsigned)getegid());

	/* Root may where user name spaces are not to be had (in a chroot, for instance). */
	if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
		return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       write_proc("/proc/self/setgroups", "deny") &&
	       write_proc("/proc/self/uid_map", users) &&
	       write_proc("/proc/self/gid_map", groups);
}

/* In a child that is alone in its name spaces: 0 when all is as it should be, else the line. */
static int in_name_spaces(struct cache_fixture *f)
{
	const char *roots[] = { workspace_root_path(f->ws, 0) };
	_cleanup_free_ char *mount = mem_printf(
		"mount -t tmpfs none '%s/a' && echo " NEEDLE " > '%s/a/f'", roots[0], roots[0]);
	struct workspace *ws;
	struct err err = ERR_INIT;

	/* The root is opened anew: a descriptor stays in the name space it was opened in. */
	if (!become_mounter() || !workspace_open(roots, 1, &ws, &err))
		return __LINE__;
	workspace_free(f->ws);
	f->ws = ws;
	f->cache = search_cache_new(f->ws, &(struct search_cache_options){ 0 });
	search_cache_want(f->cache, 0, &f->rules);
	if (!search_cache_settle(f->cache, 60000) ||
	    fixture_ask(f, "one.txt", NEEDLE) != ANSWER_CANNOT_MATCH)
		return __LINE__;
	if (system(mount) != 0 || fixture_ask(f, "one.txt", NEEDLE) != ANSWER_NO_TREE)
		return __LINE__;
	search_cache_want(f->cache, 0, &f->rules);
	if (!search_cache_settle(f->cache, 60000) ||
	    fixture_ask(f, "a/f", NEEDLE) != ANSWER_MAY_MATCH ||
	    fixture_ask(f, "a/two.txt", NEEDLE) != ANSWER_NO_FILE)
		return __LINE__;
	search_cache_free(f->cache);
	workspace_free(f->ws);
	return 0;
}

static void a_mount_in_the_tree_gives_it_up(void **data)
{
	struct cache_fixture f;
	int status;
	pid_t child;

	(void)data;
	cache_fixture_open(&f);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(in_name_spaces(&f) % 256);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	cache_fixture_close(&f);
}

/* ---- several at once ------------------------------------------------------------------- */

static void *ask_often(void *data)
{
	struct cache_fixture *f = data;
	size_t bad = 0;

	for (int i = 0; i < 300; i++)
		bad += fixture_ask(f, "c/four.txt", "my vow") != ANSWER_MAY_MATCH;
	return bad > 0 ? f : NULL;
}

static void threads_share_a_cache_and_nothing_is_left_over(void **data)
{
	const size_t descriptors = fixture_count("/proc/self/fd");
	const size_t tasks = fixture_count("/proc/self/task"), rounds = part_of(200, 4);
	_cleanup_free_ char *last = mem_printf("%zu", rounds);
	_cleanup_free_ char *script =
		mem_printf("for i in $(seq %zu); do echo $i > root/one.txt; mkdir root/n; "
	                   "echo x > root/n/x; mv root/n root/m; rm -r root/m; done",
	                   rounds);
	struct cache_fixture f;
	pthread_t threads[4];
	void *bad;

	(void)data;
	cache_fixture_open(&f);
	fixture_start(&f, NULL);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ask_often, &f), 0);
	fixture_run(&f, script);
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], &bad);
		assert_null(bad);
	}
	assert_true(fixture_compare(&f, last));
	cache_fixture_close(&f);
	assert_int_equal(fixture_count("/proc/self/fd"), descriptors);
	assert_int_equal(fixture_count("/proc/self/task"), tasks);
}

static void a_cache_can_go_while_it_works(void **data)
{
	struct cache_fixture f;

	(void)data;
	cache_fixture_open(&f);
	fixture_run(&f, "mkdir $(seq -f root/%g 500) && "
	                "for i in $(seq 500); do echo $i > root/$i/f; done");
	for (unsigned i = 0; i < 40; i += (unsigned)part_step(2)) {
		f.cache = search_cache_new(f.ws, &(struct search_cache_options){ 0 });
		search_cache_want(f.cache, 0, &f.rules);
		usleep(i * 500);
		search_cache_free(f.cache);
	}
	f.cache = NULL;
	cache_fixture_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mount_in_the_tree_gives_it_up), /* before there are threads */
		cmocka_unit_test(every_change_is_seen_at_once),
		cmocka_unit_test(files_without_the_needle_are_left_out),
		cmocka_unit_test(a_renamed_folder_keeps_what_is_known_of_it),
		cmocka_unit_test(large_files_have_no_signature),
		cmocka_unit_test(without_memory_files_may_match_and_names_are_not_kept),
		cmocka_unit_test(the_tree_used_least_recently_makes_room),
		cmocka_unit_test(a_tree_that_is_held_does_not_change),
		cmocka_unit_test(a_mapping_is_seen_when_it_is_unmapped),
		cmocka_unit_test(a_sweep_notices_a_mapping_that_is_written_to),
		cmocka_unit_test(a_sweep_notices_a_name_made_elsewhere),
		cmocka_unit_test(what_a_sweep_takes_in_is_read),
		cmocka_unit_test(an_overflow_gives_the_tree_up_and_it_comes_back),
		cmocka_unit_test(a_root_that_is_moved_is_not_kept),
		cmocka_unit_test(without_descriptors_nothing_is_kept),
		cmocka_unit_test(threads_share_a_cache_and_nothing_is_left_over),
		cmocka_unit_test(a_cache_can_go_while_it_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
