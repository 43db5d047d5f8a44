/* SPDX-License-Identifier: Apache-2.0 */
/* Restores: what edits changed comes back, and nobody else's work is lost. */
#include "checkpoint_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/json.h"

static void edits_come_back(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *first = NULL, *undo = NULL;
	json_auto_t *back = NULL, *again = NULL, *same = NULL;

	put(fixture, "a.txt", SPAN("one\n"));
	write_file(fixture, "a.txt", "two\n");
	write_file(fixture, "a.txt", "three\n");
	write_file(fixture, "new.txt", "made\n");
	first = id_of(fixture, 0);
	back = restore(fixture, first, false);
	assert_true(succeeded(back));
	assert_string_equal(action(back, fixture, "a.txt"), "restored");
	assert_string_equal(action(back, fixture, "new.txt"), "removed");
	assert_content(fixture, "a.txt", SPAN("one\n"));
	assert_false(exists(fixture, "new.txt"));
	undo = mem_strdup(json_string_value(json_object_get(back, "undo")));
	again = restore(fixture, undo, false);
	assert_true(succeeded(again));
	assert_content(fixture, "a.txt", SPAN("three\n"));
	assert_content(fixture, "new.txt", SPAN("made\n"));
	same = restore(fixture, undo, false);
	assert_string_equal(action(same, fixture, "a.txt"), "unchanged");
	assert_true(json_is_null(json_object_get(same, "undo")));
}

static void deletes_and_moves_come_back(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *id = NULL, *a = path_of(fixture, "a"), *b = path_of(fixture, "b"),
	                    *c = path_of(fixture, "c");
	struct sha256 sum_a = sha256_of(SPAN("a\n")), sum_b = sha256_of(SPAN("b\n"));
	json_auto_t *back = NULL;

	put(fixture, "a", SPAN("a\n"));
	put(fixture, "b", SPAN("b\n"));
	edit(fixture, "apply_changes",
	     json_pack("{s:[{s:s,s:s,s:o},{s:s,s:s,s:s,s:o}]}", "changes", "kind", "delete",
	               "file_path", a, "base_content_sha256", json_sha256(&sum_a), "kind", "move",
	               "file_path", b, "new_path", c, "base_content_sha256", json_sha256(&sum_b)));
	assert_false(exists(fixture, "a") || exists(fixture, "b"));
	id = id_of(fixture, 0);
	back = restore(fixture, id, false);
	assert_true(succeeded(back));
	assert_string_equal(action(back, fixture, "a"), "created");
	assert_string_equal(action(back, fixture, "c"), "removed");
	assert_content(fixture, "a", SPAN("a\n"));
	assert_content(fixture, "b", SPAN("b\n"));
	assert_false(exists(fixture, "c"));
}

/* NUL, CR, bytes that are no UTF-8, a placeholder that no editor would write, nothing at all. */
static void every_byte_comes_back(void **state)
{
	static const struct span contents[] = {
		{ "\0\1\2\xff\xfe\r\n\r\r\n\x80", 11 },
		{ "\xff\xfe" "a\0b\0\r\0\n\0", 10 },
		{ "caf\xe9\r\nlatin\r\n", 13 },
		{ "// ... rest of the code ...\n", 28 },
		{ "", 0 },
		{ "no newline", 10 },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
		char name[16];
		json_auto_t *back = NULL;

		snprintf(name, sizeof(name), "f%zu", i);
		put(fixture, name, contents[i]);
		write_file(fixture, name, "text\n");
		back = restore(fixture, "latest", false);
		assert_string_equal(action(back, fixture, name), "restored");
		assert_content(fixture, name, contents[i]);
	}
}

/* ---- nobody else's work is lost ---------------------------------------------------- */

static void changes_of_others_stay(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *id = NULL;
	json_auto_t *back = NULL, *forced = NULL;

	put(fixture, "a", SPAN("one\n"));
	write_file(fixture, "a", "two\n");
	write_file(fixture, "made", "by an edit\n");
	put(fixture, "a", SPAN("a person's\n"));
	put(fixture, "made", SPAN("a person's too\n"));
	id = id_of(fixture, 0);
	back = restore(fixture, id, false);
	assert_false(succeeded(back));
	assert_string_equal(action(back, fixture, "a"), "left");
	assert_string_equal(action(back, fixture, "made"), "left");
	assert_content(fixture, "a", SPAN("a person's\n"));
	forced = restore(fixture, id, true);
	assert_string_equal(action(forced, fixture, "a"), "restored");
	assert_string_equal(action(forced, fixture, "made"), "left");
	assert_content(fixture, "a", SPAN("one\n"));
	assert_content(fixture, "made", SPAN("a person's too\n"));
	/* What force replaced is kept. */
	json_decref(back);
	back = restore(fixture, json_string_value(json_object_get(forced, "undo")), false);
	assert_content(fixture, "a", SPAN("a person's\n"));
}

/* A person's change that an edit built upon is not thrown away with the edit. */
static void changes_in_between_stay(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *first = NULL, *second = NULL;
	json_auto_t *back = NULL, *near = NULL;

	put(fixture, "a", SPAN("one\n"));
	write_file(fixture, "a", "two\n");
	put(fixture, "a", SPAN("two\nand a person's\n"));
	write_file(fixture, "a", "three\n");
	first = id_of(fixture, 0);
	second = id_of(fixture, 1);
	back = restore(fixture, first, false);
	assert_string_equal(action(back, fixture, "a"), "left");
	assert_content(fixture, "a", SPAN("three\n"));
	near = restore(fixture, second, false);
	assert_string_equal(action(near, fixture, "a"), "restored");
	assert_content(fixture, "a", SPAN("two\nand a person's\n"));
}

static void other_sessions_are_others(void **state)
{
	struct fixture *fixture = *state;
	struct checkpoints *other = open_checkpoints(fixture, "session-2");
	_cleanup_free_ char *id = NULL, *a = path_of(fixture, "a"), *b = path_of(fixture, "b");
	struct sha256 two = sha256_of(SPAN("two\n"));
	json_auto_t *back = NULL;

	put(fixture, "a", SPAN("one\n"));
	write_file(fixture, "a", "two\n");
	json_decref(call_in(fixture, other, "write_file",
	                    json_pack("{s:s,s:s,s:o}", "file_path", a, "content", "three\n",
	                              "base_content_sha256", json_sha256(&two))));
	json_decref(call_in(fixture, other, "write_file",
	                    json_pack("{s:s,s:s}", "file_path", b, "content", "b\n")));
	assert_content(fixture, "a", SPAN("three\n"));
	id = id_of(fixture, 0);
	back = restore(fixture, id, false);
	assert_string_equal(action(back, fixture, "a"), "left");
	assert_string_equal(action(back, fixture, "b"), "not named");
	assert_true(exists(fixture, "b"));
	checkpoints_close(other);
}

/* A call that failed, a dry run's like, or one that was never kept makes no state of ours. */
static void only_successes_count(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *path = path_of(fixture, "a");
	json_auto_t *failed = NULL, *back = NULL, *read = NULL;

	failed = call_in(fixture, fixture->checkpoints, "update_file",
	                 json_pack("{s:s,s:s,s:s}", "file_path", path, "old_content", "x",
	                           "new_content", "y"));
	assert_false(json_is_true(json_object_get(failed, "success")));
	put(fixture, "a", SPAN("a person's\n"));
	read = json_pack("{s:b, s:{s:s, s:s}}", "success", 1, "latest_file_state", "file_path",
	                 path, "sha256", "00");
	checkpoints_after_edit(fixture->checkpoints, "call-0", read);
	back = restore(fixture, "latest", true);
	assert_string_equal(action(back, fixture, "a"), "left");
	assert_true(exists(fixture, "a"));
}

static void links_have_one_name(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *real = path_of(fixture, "real"), *link = path_of(fixture, "link"), *id = NULL;
	json_auto_t *back = NULL;

	assert_int_equal(mkdir(real, 0755), 0);
	assert_int_equal(symlink("real", link), 0);
	write_file(fixture, "link/f", "one\n");
	write_file(fixture, "link/f", "two\n");
	id = id_of(fixture, 0);
	back = restore(fixture, id, false);
	assert_true(succeeded(back));
	assert_int_equal(json_array_size(json_object_get(back, "files")), 1);
	assert_string_equal(action(back, fixture, "real/f"), "removed");
	assert_false(exists(fixture, "real/f"));
}

/* ---- what others changed is merged ------------------------------------------------- */

#define TEN "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"

static long long kept_lines(const json_t *result, const char *which)
{
	size_t i;
	json_t *file;

	json_array_foreach(json_object_get(result, "files"), i, file)
		if (json_object_get(file, "kept"))
			return json_integer_value(json_object_get(json_object_get(file, "kept"), which));
	return -1;
}

static void changes_elsewhere_in_a_file_are_kept(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *first = NULL, *undo = NULL;
	json_auto_t *shown = NULL, *back = NULL, *again = NULL;
	struct err err = ERR_INIT;

	put(fixture, "a", SPAN(TEN));
	write_file(fixture, "a", "1\nan edit\n3\n4\n5\n6\n7\n8\n9\n10\n");
	put(fixture, "a", SPAN("1\nan edit\n3\n4\n5\n6\n7\na person\n9\n10\n"));
	/* An edit on top of a person's, and a person's on top of that. */
	write_file(fixture, "a", "1\nan edit\n3\n4\nan edit\n6\n7\na person\n9\n10\n");
	put(fixture, "a", SPAN("1\nan edit\n3\n4\nan edit\n6\n7\na person\n9\n10\na person\n"));
	first = id_of(fixture, 0);
	assert_true(checkpoints_preview(fixture->checkpoints, first, &shown, &err));
	assert_string_equal(action(shown, fixture, "a"), "merged");
	assert_int_equal(json_integer_value(json_object_get(
		json_array_get(json_object_get(shown, "files"), 0), "removed")), 2);
	assert_content(fixture, "a",
	               SPAN("1\nan edit\n3\n4\nan edit\n6\n7\na person\n9\n10\na person\n"));
	back = restore(fixture, first, false);
	assert_true(succeeded(back));
	assert_string_equal(action(back, fixture, "a"), "merged");
	assert_content(fixture, "a", SPAN("1\n2\n3\n4\n5\n6\n7\na person\n9\n10\na person\n"));
	assert_int_equal(kept_lines(back, "added"), 2);
	assert_int_equal(kept_lines(back, "removed"), 1);
	/* And all of it again; a person's change since then stays, too. */
	put(fixture, "a", SPAN("1\n2\n3\n4\n5\n6\n7\na person\n9\nlater\na person\n"));
	undo = mem_strdup(json_string_value(json_object_get(back, "undo")));
	again = restore(fixture, undo, false);
	assert_string_equal(action(again, fixture, "a"), "merged");
	assert_content(fixture, "a",
	               SPAN("1\nan edit\n3\n4\nan edit\n6\n7\na person\n9\nlater\na person\n"));
}

/* Back, forth, and back again: each restore takes the others into account. */
static void restores_of_merges_are_merged(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *first = NULL;
	json_auto_t *once = NULL, *twice = NULL, *undone = NULL, *third = NULL;

	put(fixture, "a", SPAN(TEN));
	write_file(fixture, "a", "an edit\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
	put(fixture, "a", SPAN("an edit\n2\n3\n4\n5\n6\n7\n8\n9\na person\n"));
	first = id_of(fixture, 0);
	once = restore(fixture, first, false);
	assert_content(fixture, "a", SPAN("1\n2\n3\n4\n5\n6\n7\n8\n9\na person\n"));
	twice = restore(fixture, first, false);
	assert_string_equal(action(twice, fixture, "a"), "unchanged");
	undone = restore(fixture, json_string_value(json_object_get(once, "undo")), false);
	assert_string_equal(action(undone, fixture, "a"), "restored");
	assert_content(fixture, "a", SPAN("an edit\n2\n3\n4\n5\n6\n7\n8\n9\na person\n"));
	third = restore(fixture, first, false);
	assert_string_equal(action(third, fixture, "a"), "merged");
	assert_content(fixture, "a", SPAN("1\n2\n3\n4\n5\n6\n7\n8\n9\na person\n"));
}

/* Nothing is forced: where there is no text, no file, or one place for two changes. */
static void what_cannot_be_merged_is_left(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_free_ char *first = NULL, *path = path_of(fixture, "gone");
	struct sha256 sum = sha256_of(SPAN("gone\n"));
	json_auto_t *back = NULL;

	put(fixture, "binary", span_of("a\n\0\nb\n", 7));
	put(fixture, "gone", SPAN("gone\n"));
	put(fixture, "same", SPAN(TEN));
	write_file(fixture, "binary", "x\ny\nz\n");
	edit(fixture, "apply_changes", json_pack("{s:[{s:s,s:s,s:o}]}", "changes", "kind", "delete",
	     "file_path", path, "base_content_sha256", json_sha256(&sum)));
	write_file(fixture, "same", "1\nan edit\n3\n");
	put(fixture, "binary", SPAN("x\ny\nz\na person\n"));
	put(fixture, "gone", SPAN("a person's\n"));
	put(fixture, "same", SPAN("1\na person\n3\n"));
	first = id_of(fixture, 0);
	back = restore(fixture, first, false);
	assert_false(succeeded(back));
	assert_string_equal(action(back, fixture, "binary"), "left");
	assert_string_equal(action(back, fixture, "gone"), "left");
	assert_string_equal(action(back, fixture, "same"), "left");
	assert_true(json_is_null(json_object_get(back, "undo")));
	assert_content(fixture, "same", SPAN("1\na person\n3\n"));
	assert_content(fixture, "gone", SPAN("a person's\n"));
}

/* What git sweeps away is what no reference leads to. */
static void what_edits_made_is_held(void **state)
{
	struct fixture *fixture = *state;
	json_auto_t *back = NULL;

	put(fixture, "a", SPAN(TEN));
	write_file(fixture, "a", "an edit\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
	put(fixture, "a", SPAN("an edit\n2\n3\n4\n5\n6\n7\n8\n9\na person\n"));
	free(git(fixture, "gc --quiet --prune=now"));
	back = restore(fixture, "latest", false);
	assert_string_equal(action(back, fixture, "a"), "merged");
	assert_content(fixture, "a", SPAN("1\n2\n3\n4\n5\n6\n7\n8\n9\na person\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(edits_come_back),
		WITH_FIXTURE(deletes_and_moves_come_back),
		WITH_FIXTURE(every_byte_comes_back),
		WITH_FIXTURE(changes_of_others_stay),
		WITH_FIXTURE(changes_in_between_stay),
		WITH_FIXTURE(other_sessions_are_others),
		WITH_FIXTURE(only_successes_count),
		WITH_FIXTURE(links_have_one_name),
		WITH_FIXTURE(changes_elsewhere_in_a_file_are_kept),
		WITH_FIXTURE(restores_of_merges_are_merged),
		WITH_FIXTURE(what_cannot_be_merged_is_left),
		WITH_FIXTURE(what_edits_made_is_held),
	};

	return cmocka_run_group_tests_name("restores", tests, NULL, NULL);
}
