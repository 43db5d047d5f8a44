/* SPDX-License-Identifier: Apache-2.0 */
/* Resolving paths: what is reached, and what must never be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "base/limits.h"
#include "file/commit.h"

#include "part.h"
#include "scratch.h"

/* A root "proj" beside "proj-evil", which holds a canary. */
struct scene {
	struct scratch scratch;
	struct workspace *ws; /* on proj */
	char root[96];
};

static void shell(const struct scene *scene, const char *script)
{
	_cleanup_free_ char *command = mem_printf("cd '%s' && %s", scene->scratch.folder, script);

	assert_int_equal(system(command), 0);
}

static int setup(void **state)
{
	struct scene *scene = mem_alloc(1, sizeof(*scene));
	const char *roots[] = { scene->root };
	struct err err = ERR_INIT;

	scratch_open(&scene->scratch);
	snprintf(scene->root, sizeof(scene->root), "%s/proj", scene->scratch.folder);
	shell(scene, "mkdir -p proj/a/b proj-evil && echo CANARY > proj-evil/secret && "
	             "echo hi > proj/file");
	assert_true(workspace_open(roots, 1, &scene->ws, &err));
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	workspace_free(scene->ws);
	scratch_close(&scene->scratch);
	free(scene);
	return 0;
}

/* `want` is relative to the root; "" is the root. */
static void assert_reaches(const struct scene *scene, const char *path, const char *want)
{
	_cleanup_free_ char *full = mem_printf("%s%s%s", scene->root, want[0] ? "/" : "", want);
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;

	if (!workspace_resolve(scene->ws, path, PLACE_FILE, &place, &err))
		fail_msg("%s: %s", path, err.message);
	assert_string_equal(place.path, full);
}

static void assert_refused(const struct scene *scene, const char *path, enum err_code code)
{
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;

	if (workspace_resolve(scene->ws, path, PLACE_FILE, &place, &err))
		fail_msg("%s was resolved to %s", path, place.path);
	if (err.code != code)
		fail_msg("%s: %s, %s", path, err_name(err.code), err.message);
	assert_false(snapshot_read(scene->ws, path, 0, &snap, &err));
	assert_null(strstr(err.message, "CANARY"));
}

static void plain_paths_reach_their_file(void **state)
{
	assert_reaches(*state, "file", "file");
	assert_reaches(*state, "./file", "file");
	assert_reaches(*state, "a/./b//x", "a/b/x");
	assert_reaches(*state, "a/..//file", "file");
	assert_reaches(*state, "a/b/../../file", "file");
	assert_reaches(*state, "a/", "a");
	assert_reaches(*state, ".", "");
	assert_reaches(*state, "a/..", "");
	assert_reaches(*state, "...", "...");
	assert_reaches(*state, "..x/y", "..x/y");
}

static void absolute_paths_beneath_the_root_are_taken_apart(void **state)
{
	struct scene *scene = *state;
	_cleanup_free_ char *file = mem_printf("%s/file", scene->root);
	_cleanup_free_ char *odd = mem_printf("/.%s//./a/b", scene->root);
	_cleanup_free_ char *up = mem_printf("%s/../proj/file", scene->root);

	assert_reaches(scene, file, "file");
	assert_reaches(scene, odd, "a/b");
	assert_reaches(scene, scene->root, "");
	assert_refused(scene, up, ERR_OUTSIDE_WORKSPACE);
}

static void a_root_whose_name_is_a_prefix_does_not_match(void **state)
{
	struct scene *scene = *state;
	_cleanup_free_ char *evil = mem_printf("%s-evil/secret", scene->root);

	assert_refused(scene, evil, ERR_OUTSIDE_WORKSPACE);
}

static void nothing_outside_is_reached(void **state)
{
	shell(*state, "ln -s ../proj-evil/secret proj/up && ln -s $PWD/proj-evil proj/folder && "
	              "ln -s $PWD/proj-evil/secret proj/absolute && ln -s / proj/top && "
	              "ln -s $PWD/proj/../proj-evil proj/roundabout && ln -s folder proj/twice");
	assert_refused(*state, "..", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "../proj/file", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "a/../../proj-evil/secret", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "/etc/passwd", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "/", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "up", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "absolute", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "folder/secret", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "folder/new", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "folder/", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "folder/..", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "twice/secret", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "top/etc/passwd", ERR_OUTSIDE_WORKSPACE);
	assert_refused(*state, "roundabout/secret", ERR_OUTSIDE_WORKSPACE);
}

static void odd_paths_are_explained(void **state)
{
	char too_long[LIMIT_PATH_BYTES + 2];

	memset(too_long, 'a', sizeof(too_long) - 1);
	too_long[sizeof(too_long) - 1] = '\0';
	assert_refused(*state, "", ERR_INVALID_ARGUMENT);
	assert_refused(*state, too_long, ERR_INVALID_ARGUMENT);
	too_long[300] = '\0';
	assert_refused(*state, too_long, ERR_INVALID_ARGUMENT);
	assert_refused(*state, "file/", ERR_NOT_A_DIRECTORY);
	assert_refused(*state, "file/x", ERR_NOT_A_DIRECTORY);
	assert_refused(*state, "new/", ERR_INVALID_ARGUMENT);
	assert_refused(*state, "new/../file", ERR_FILE_NOT_FOUND);
}

/* Recovery acts on such names: a tool that could write them could move other files. */
static void names_of_temporaries_are_refused(void **state)
{
	const char *temporary =
		".hasp-x-3b9c358f36f0a31b-40eda80edfc38b36-1c3ef9a7c817b464-135b7da3";
	_cleanup_free_ char *deeper = mem_printf("a/new/%s", temporary);
	_cleanup_free_ char *script = mem_printf("ln -s %s proj/link", temporary);

	assert_refused(*state, temporary, ERR_INVALID_ARGUMENT);
	assert_refused(*state, deeper, ERR_INVALID_ARGUMENT);
	shell(*state, script);
	assert_refused(*state, "link", ERR_INVALID_ARGUMENT);
	assert_reaches(*state, ".hasp-x", ".hasp-x");
}

static void links_inside_lead_to_their_target(void **state)
{
	struct scene *scene = *state;

	shell(scene, "ln -s a/b proj/relative && ln -s $PWD/proj/file proj/absolute && "
	             "ln -s ../../file proj/a/b/up && ln -s relative proj/twice && "
	             "ln -s nowhere proj/dangling && ln -s deep/er/file proj/dangling2");
	assert_reaches(scene, "relative/x", "a/b/x");
	assert_reaches(scene, "relative/", "a/b");
	assert_reaches(scene, "relative/../x", "a/x");
	assert_reaches(scene, "absolute", "file");
	assert_reaches(scene, "twice/up", "file");
	assert_reaches(scene, "dangling", "nowhere");
	assert_reaches(scene, "dangling2", "deep/er/file");
}

static void a_root_given_through_a_link_is_known_by_both_names(void **state)
{
	struct scene *scene = *state;
	_cleanup_free_ char *link = mem_printf("%s/link", scene->scratch.folder);
	_cleanup_free_ char *file = mem_printf("%s/file", link);
	const char *roots[] = { link };
	struct err err = ERR_INIT;

	shell(scene, "ln -s proj link");
	workspace_free(scene->ws);
	assert_true(workspace_open(roots, 1, &scene->ws, &err));
	assert_string_equal(workspace_root_path(scene->ws, 0), scene->root);
	assert_reaches(scene, file, "file");
}

static void link_loops_and_long_chains_end(void **state)
{
	shell(*state, "ln -s loop proj/loop && ln -s grow/grow proj/grow && ln -s file proj/l0 && "
	              "for i in $(seq 1 60); do ln -s l$((i-1)) proj/l$i; done");
	assert_refused(*state, "loop", ERR_INVALID_ARGUMENT);
	assert_refused(*state, "loop/x", ERR_INVALID_ARGUMENT);
	assert_refused(*state, "grow/x", ERR_INVALID_ARGUMENT);
	assert_refused(*state, "l60", ERR_INVALID_ARGUMENT);
	assert_reaches(*state, "l39", "file");
}

static void magic_links_are_refused(void **state)
{
	struct scene *scene = *state;
	const char *roots[] = { "/" };
	_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;

	workspace_free(scene->ws);
	assert_true(workspace_open(roots, 1, &scene->ws, &err));
	assert_refused(scene, "/proc/self/root", ERR_OUTSIDE_WORKSPACE);
	assert_refused(scene, "/proc/self/cwd/x", ERR_OUTSIDE_WORKSPACE);
	assert_refused(scene, "/proc/self/fd/0", ERR_OUTSIDE_WORKSPACE);
	assert_true(workspace_resolve(scene->ws, "/proc/mounts", PLACE_FILE, &place, &err));
	assert_false(snapshot_read(scene->ws, "/proc/mounts", 0, &snap, &err));
	assert_int_equal(err.code, ERR_NOT_A_FILE);
}

static void several_roots_and_nested_ones_are_told_apart(void **state)
{
	struct scene *scene = *state;
	_cleanup_free_ char *nested = mem_printf("%s/a", scene->root);
	_cleanup_free_ char *other = mem_printf("%s/other", scene->scratch.folder);
	_cleanup_free_ char *path = mem_printf("%s/x", nested);
	_cleanup_free_ char *theirs = mem_printf("%s/y", other);
	_cleanup_place_ struct place one = PLACE_INIT, two = PLACE_INIT, three = PLACE_INIT;
	const char *roots[] = { scene->root, nested, other };
	struct err err = ERR_INIT;

	shell(scene, "mkdir other && ln -s $PWD/other/y proj/across");
	workspace_free(scene->ws);
	assert_true(workspace_open(roots, 3, &scene->ws, &err));
	assert_true(workspace_resolve(scene->ws, path, PLACE_FILE, &one, &err));
	assert_int_equal(one.root, 1);
	assert_true(workspace_resolve(scene->ws, theirs, PLACE_FILE, &two, &err));
	assert_int_equal(two.root, 2);
	assert_true(workspace_resolve(scene->ws, "across", PLACE_FILE, &three, &err));
	assert_int_equal(three.root, 2);
	assert_string_equal(three.path, theirs);
	assert_true(three.through_link);
}

static void missing_folders_are_made_and_unmade(void **state)
{
	struct scene *scene = *state;
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;
	size_t made;

	assert_true(workspace_resolve(scene->ws, "n/e/w/leaf", PLACE_FILE, &place, &err));
	assert_string_equal(place.missing, "n/e/w");
	assert_true(place_make_folders(&place, &made, &err));
	assert_int_equal(made, 3);
	shell(scene, "test -d proj/n/e/w");
	place_unmake_folders(&place, made);
	shell(scene, "test ! -e proj/n && test -d proj");
}

static void folders_of_others_are_not_unmade(void **state)
{
	struct scene *scene = *state;
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;
	size_t made;

	assert_true(workspace_resolve(scene->ws, "n/e/w/leaf", PLACE_FILE, &place, &err));
	shell(scene, "mkdir -p proj/n/e");
	assert_true(place_make_folders(&place, &made, &err));
	assert_int_equal(made, 1);
	place_unmake_folders(&place, made);
	shell(scene, "test ! -e proj/n/e/w && test -d proj/n/e");
}

static void a_link_planted_as_a_missing_folder_is_not_followed(void **state)
{
	struct scene *scene = *state;
	_cleanup_place_ struct place place = PLACE_INIT;
	struct err err = ERR_INIT;

	assert_true(workspace_resolve(scene->ws, "n/e/leaf", PLACE_FILE, &place, &err));
	shell(scene, "ln -s ../proj-evil proj/n");
	assert_false(place_make_folders(&place, NULL, &err));
	shell(scene, "test ! -e proj-evil/e");
}

struct flip {
	const struct scene *scene;
	volatile bool stop;
};

/* Swaps proj/a/b between a folder and a link to the outside, as fast as it can. */
static void *flip_link(void *arg)
{
	struct flip *flip = arg;
	_cleanup_free_ char *folder = mem_printf("%s/a/b", flip->scene->root);
	_cleanup_free_ char *link = mem_printf("%s/a/l", flip->scene->root);

	while (!flip->stop)
		syscall(SYS_renameat2, AT_FDCWD, folder, AT_FDCWD, link, 2 /* RENAME_EXCHANGE */);
	return NULL;
}

static void a_link_that_flips_never_leads_outside(void **state)
{
	struct scene *scene = *state;
	struct flip flip = { scene, false };
	const struct commit_options options = { .durability = DURABILITY_RENAME };
	pthread_t thread;
	size_t written = 0;

	shell(scene, "ln -s ../../proj-evil proj/a/l && cp -r proj-evil before");
	assert_int_equal(pthread_create(&thread, NULL, flip_link, &flip), 0);
	for (size_t i = 0; i < part_of(20000, 4); i++) {
		_cleanup_snapshot_ struct snapshot snap = SNAPSHOT_INIT;
		struct file_state made = { 0 };
		struct err err = ERR_INIT;
		struct span content = SPAN("ours\n");

		if (!snapshot_read(scene->ws, "a/b/secret", 0, &snap, &err))
			continue;
		assert_true(snap.content.len == 0 || span_eq(snap.content, content));
		written += commit_write(&snap, &content, 1, &options, &made, &err);
		file_state_release(&made);
	}
	flip.stop = true;
	pthread_join(thread, NULL);
	assert_true(written > 0);
	shell(scene, "diff -r before proj-evil");
}

#define scene_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		scene_test(plain_paths_reach_their_file),
		scene_test(absolute_paths_beneath_the_root_are_taken_apart),
		scene_test(a_root_whose_name_is_a_prefix_does_not_match),
		scene_test(nothing_outside_is_reached),
		scene_test(odd_paths_are_explained),
		scene_test(names_of_temporaries_are_refused),
		scene_test(links_inside_lead_to_their_target),
		scene_test(a_root_given_through_a_link_is_known_by_both_names),
		scene_test(link_loops_and_long_chains_end),
		scene_test(magic_links_are_refused),
		scene_test(several_roots_and_nested_ones_are_told_apart),
		scene_test(missing_folders_are_made_and_unmade),
		scene_test(folders_of_others_are_not_unmade),
		scene_test(a_link_planted_as_a_missing_folder_is_not_followed),
		scene_test(a_link_that_flips_never_leads_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
