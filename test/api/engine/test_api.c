/* SPDX-License-Identifier: Apache-2.0 */
/* libhasp through its public header alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <hasp.h>

#define HASH_OF_NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* ---- a workspace for each test ------------------------------------------ */

struct fixture {
	char folder[32];
	char journal[40];
	hasp_workspace *ws;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const char *roots[1];
	char root[48];
	hasp_error error;

	snprintf(f->folder, sizeof(f->folder), "/tmp/hasp-api-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(root, sizeof(root), "%s/ws", f->folder);
	snprintf(f->journal, sizeof(f->journal), "%s/journal", f->folder);
	assert_int_equal(mkdir(root, 0755), 0);
	roots[0] = root;
	f->ws = hasp_workspace_open(roots, 1, f->journal, &error);
	if (!f->ws)
		fail_msg("%s", error.message);
	hasp_workspace_set_durability(f->ws, HASP_DURABILITY_RENAME);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[64];

	hasp_workspace_free(f->ws);
	snprintf(command, sizeof(command), "rm -rf '%s'", f->folder);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static FILE *open_file(const struct fixture *f, const char *name, const char *mode)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/ws/%s", f->folder, name);
	return fopen(path, mode);
}

static void put(const struct fixture *f, const char *name, const char *text)
{
	FILE *file = open_file(f, name, "we");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	fclose(file);
}

/* What is on the disk, read without the library; NULL when there is no such file. */
static void assert_disk(const struct fixture *f, const char *name, const char *want)
{
	char got[4096];
	FILE *file = open_file(f, name, "re");
	size_t len;

	if (!want) {
		assert_null(file);
		return;
	}
	assert_non_null(file);
	len = fread(got, 1, sizeof(got) - 1, file);
	got[len] = '\0';
	fclose(file);
	assert_string_equal(got, want);
}

static const char *hash_of(const struct fixture *f, const char *name)
{
	static char hashes[4][65];
	static int next;
	char *hash = hashes[next++ % 4];
	hasp_error error;

	if (!hasp_hash(f->ws, name, hash, &error))
		fail_msg("%s", error.message);
	return hash;
}

/* ---- reading ------------------------------------------------------------ */

static void reading_gives_text_hash_and_facts(void **state)
{
	struct fixture *f = *state;
	hasp_file *file;
	size_t len;

	put(f, "a", "one\r\ntwo\r\nthree");
	file = hasp_read(f->ws, "a", NULL, NULL);
	assert_non_null(file);
	assert_string_equal(hasp_file_text(file, &len), "one\r\ntwo\r\nthree");
	assert_int_equal(len, 15);
	assert_string_equal(hasp_file_sha256(file), hash_of(f, "a"));
	assert_int_equal(hasp_file_size(file), 15);
	assert_string_equal(hasp_file_encoding(file), "UTF-8");
	assert_string_equal(hasp_file_line_endings(file), "crlf");
	assert_string_equal(hasp_file_mime_type(file), "text/plain");
	assert_false(hasp_file_final_newline(file));
	assert_false(hasp_file_is_media(file));
	assert_int_equal(hasp_file_total_lines(file), 3);
	assert_int_equal(hasp_file_next_line(file), 0);
	assert_int_equal(hasp_file_path(file)[0], '/');
	hasp_file_free(file);
}

static void a_range_is_read_with_the_hash_of_the_whole(void **state)
{
	struct fixture *f = *state;
	hasp_read_options options = HASP_READ_OPTIONS_INIT;
	hasp_file *file;

	put(f, "a", "1\n2\n3\n4\n");
	options.start_line = 2;
	options.end_line = 3;
	file = hasp_read(f->ws, "a", &options, NULL);
	assert_string_equal(hasp_file_text(file, NULL), "2\n3\n");
	assert_string_equal(hasp_file_sha256(file), hash_of(f, "a"));
	assert_int_equal(hasp_file_first_line(file), 2);
	assert_int_equal(hasp_file_last_line(file), 3);
	assert_int_equal(hasp_file_next_line(file), 4);
	hasp_file_free(file);
}

static void an_options_structure_of_an_older_program_is_understood(void **state)
{
	struct fixture *f = *state;
	hasp_read_options options = HASP_READ_OPTIONS_INIT;
	hasp_file *file;

	put(f, "a", "1\n2\n");
	options.start_line = 2;
	options.end_line = 777; /* beyond what the older structure has */
	options.struct_size = offsetof(hasp_read_options, end_line);
	file = hasp_read(f->ws, "a", &options, NULL);
	assert_string_equal(hasp_file_text(file, NULL), "2\n");
	hasp_file_free(file);
}

static void failures_to_read_have_codes_and_sentences(void **state)
{
	struct fixture *f = *state;
	hasp_error error;
	char hash[65];

	assert_null(hasp_read(f->ws, "none", NULL, &error));
	assert_int_equal(error.code, HASP_FILE_NOT_FOUND);
	assert_non_null(strstr(error.message, "none"));
	assert_false(hasp_hash(f->ws, "none", hash, &error));
	assert_int_equal(error.code, HASP_FILE_NOT_FOUND);
	assert_null(hasp_read(f->ws, "/etc/passwd", NULL, &error));
	assert_int_equal(error.code, HASP_OUTSIDE_WORKSPACE);
	assert_null(hasp_read(f->ws, "../journal", NULL, NULL));
	put(f, "big", "0123456789");
	hasp_workspace_set_max_file_bytes(f->ws, 9);
	assert_null(hasp_read(f->ws, "big", NULL, &error));
	assert_int_equal(error.code, HASP_TOO_LARGE);
}

/* ---- one change --------------------------------------------------------- */

static const char base_text[] = "a\nb\nc\nd\ne\nf\ng\n";
static const char wrong_numbers[] = "@@ -90,3 +90,3 @@\n c\n-d\n+D\n e\n";

static void a_diff_with_wrong_numbers_is_placed_and_reported(void **state)
{
	struct fixture *f = *state;
	hasp_result *result;
	hasp_error error = { .code = HASP_NONE };

	put(f, "a", base_text);
	assert_true(hasp_patch(f->ws, "a", hash_of(f, "a"), wrong_numbers, strlen(wrong_numbers),
	                       HASP_WANT_TEXT | HASP_WANT_DIFF, &result, &error));
	assert_int_equal(error.code, HASP_NONE);
	assert_disk(f, "a", "a\nb\nc\nD\ne\nf\ng\n");
	assert_int_equal(hasp_result_count(result), 1);
	assert_true(hasp_result_done(result, 0));
	assert_int_equal(hasp_result_error(result, 0)->code, HASP_NONE);
	assert_string_equal(hasp_result_sha256(result, 0), hash_of(f, "a"));
	assert_string_equal(hasp_result_text(result, 0, NULL), "a\nb\nc\nD\ne\nf\ng\n");
	assert_non_null(strstr(hasp_result_diff(result, 0, NULL), "-d\n+D\n"));
	assert_int_equal(hasp_result_lines_added(result, 0), 1);
	assert_int_equal(hasp_result_lines_removed(result, 0), 1);
	assert_int_equal(hasp_result_hunk_count(result, 0), 1);
	assert_int_equal(hasp_result_hunk(result, 0, 0)->line, 3);
	assert_int_equal(hasp_result_hunk(result, 0, 0)->stated_line, 90);
	assert_string_equal(hasp_result_hunk(result, 0, 0)->match, "exact");
	assert_null(hasp_result_failure(result, 0));
	hasp_result_free(result);
}

static void a_stale_hash_is_refused_with_the_new_state(void **state)
{
	struct fixture *f = *state;
	const char *old;
	hasp_result *result;
	hasp_error error;

	put(f, "a", base_text);
	old = hash_of(f, "a");
	put(f, "a", "another\n");
	assert_false(hasp_patch(f->ws, "a", old, wrong_numbers, strlen(wrong_numbers),
	                        HASP_WANT_TEXT, &result, &error));
	assert_int_equal(error.code, HASP_STATE_MISMATCH);
	assert_string_equal(hasp_result_sha256(result, 0), hash_of(f, "a"));
	assert_string_equal(hasp_result_text(result, 0, NULL), "another\n");
	assert_false(hasp_result_done(result, 0));
	assert_int_equal(hasp_result_error(result, 0)->code, HASP_STATE_MISMATCH);
	assert_disk(f, "a", "another\n");
	hasp_result_free(result);
}

static void an_ambiguous_diff_names_its_candidates(void **state)
{
	static const char diff[] = "@@ @@\n x\n-y\n+z\n x\n";
	struct fixture *f = *state;
	const hasp_failure *failure;
	hasp_result *result;
	hasp_error error;

	put(f, "a", "x\ny\nx\n1\n2\n3\nx\ny\nx\n");
	assert_false(hasp_patch(f->ws, "a", hash_of(f, "a"), diff, strlen(diff), 0, &result,
	                        &error));
	assert_int_equal(error.code, HASP_AMBIGUOUS_DIFF);
	failure = hasp_result_failure(result, 0);
	assert_non_null(failure);
	assert_int_equal(failure->hunk, 1);
	assert_int_equal(failure->candidate_count, 2);
	assert_int_equal(failure->candidates[0].line + failure->candidates[1].line, 1 + 7);
	hasp_result_free(result);
}

static void files_are_created_written_moved_and_deleted(void **state)
{
	struct fixture *f = *state;
	hasp_result *result;
	hasp_error error;

	assert_true(hasp_create(f->ws, "sub/a", "1\n", 2, 0, &result, &error));
	assert_true(hasp_result_created(result, 0));
	hasp_result_free(result);
	assert_disk(f, "sub/a", "1\n");
	assert_false(hasp_create(f->ws, "sub/a", "2\n", 2, 0, NULL, &error));
	assert_int_equal(error.code, HASP_FILE_EXISTS);
	assert_false(hasp_write(f->ws, "sub/a", NULL, "2\n", 2, 0, NULL, &error));
	assert_int_equal(error.code, HASP_BASE_REQUIRED);
	assert_true(hasp_write(f->ws, "sub/a", hash_of(f, "sub/a"), "2\n", 2, 0, NULL, &error));
	assert_disk(f, "sub/a", "2\n");
	assert_true(hasp_write(f->ws, "b", HASH_OF_NOTHING, "b\n", 2, 0, NULL, &error));
	assert_true(hasp_move(f->ws, "sub/a", hash_of(f, "sub/a"), "c", 0, NULL, &error));
	assert_disk(f, "sub/a", NULL);
	assert_disk(f, "c", "2\n");
	assert_true(hasp_delete(f->ws, "c", hash_of(f, "c"), 0, &result, &error));
	assert_false(hasp_result_exists(result, 0));
	hasp_result_free(result);
	assert_disk(f, "c", NULL);
}

static void an_update_counts_its_places(void **state)
{
	struct fixture *f = *state;
	hasp_result *result;
	hasp_error error;

	put(f, "a", "x y x\n");
	assert_false(hasp_update(f->ws, "a", NULL, "x", 1, "z", 1, 0, 0, &result, &error));
	assert_int_equal(error.code, HASP_WRONG_MATCH_COUNT);
	assert_int_equal(hasp_result_replaced(result, 0), 2);
	assert_null(hasp_result_failure(result, 0));
	hasp_result_free(result);
	assert_false(hasp_update(f->ws, "a", NULL, "q", 1, "z", 1, 0, 0, &result, &error));
	assert_int_equal(error.code, HASP_WRONG_MATCH_COUNT);
	assert_null(hasp_result_failure(result, 0));
	hasp_result_free(result);
	assert_false(hasp_update(f->ws, "a", NULL, "", 0, "z", 1, 0, 0, NULL, &error));
	assert_int_equal(error.code, HASP_FILE_EXISTS);
	assert_true(hasp_update(f->ws, "new", NULL, "", 0, "z", 1, 0, 0, NULL, &error));
	assert_disk(f, "new", "z");
	assert_true(hasp_update(f->ws, "a", NULL, "x", 1, "z", 1, 2, 0, NULL, &error));
	assert_disk(f, "a", "z y z\n");
	assert_true(hasp_update(f->ws, "a", NULL, "z", 1, "w", 1, 0, HASP_ANY_COUNT, NULL, &error));
	assert_disk(f, "a", "w y w\n");
}

static void a_dry_run_foretells_and_writes_nothing(void **state)
{
	struct fixture *f = *state;
	hasp_result *result;

	put(f, "a", base_text);
	assert_true(hasp_patch(f->ws, "a", hash_of(f, "a"), wrong_numbers, strlen(wrong_numbers),
	                       HASP_DRY_RUN, &result, NULL));
	assert_disk(f, "a", base_text);
	assert_string_not_equal(hasp_result_sha256(result, 0), hash_of(f, "a"));
	assert_true(hasp_patch(f->ws, "a", hash_of(f, "a"), wrong_numbers, strlen(wrong_numbers), 0,
	                       NULL, NULL));
	assert_string_equal(hasp_result_sha256(result, 0), hash_of(f, "a"));
	hasp_result_free(result);
}

static void what_is_no_hash_is_refused(void **state)
{
	struct fixture *f = *state;
	hasp_result *result;
	hasp_error error;

	put(f, "a", "1\n");
	assert_false(hasp_write(f->ws, "a", "123", "2\n", 2, 0, &result, &error));
	assert_int_equal(error.code, HASP_INVALID_ARGUMENT);
	assert_int_equal(hasp_result_error(result, 0)->code, HASP_INVALID_ARGUMENT);
	assert_string_equal(hasp_result_path(result, 0), "");
	assert_string_equal(hasp_result_sha256(result, 0), "");
	hasp_result_free(result);
	assert_disk(f, "a", "1\n");
}

static void what_does_not_look_meant_is_written_when_it_is_literal(void **state)
{
	static const char text[] = "f();\n// ... existing code ...\n";
	struct fixture *f = *state;
	hasp_error error;

	put(f, "a.js", "f();\ng();\n");
	assert_false(hasp_write(f->ws, "a.js", hash_of(f, "a.js"), text, strlen(text), 0, NULL, &error));
	assert_int_equal(error.code, HASP_INVALID_ARGUMENT);
	assert_disk(f, "a.js", "f();\ng();\n");
	assert_true(hasp_write(f->ws, "a.js", hash_of(f, "a.js"), text, strlen(text), HASP_LITERAL, NULL, &error));
	assert_disk(f, "a.js", text);
}

/* ---- batches ------------------------------------------------------------ */

static hasp_batch *sample_batch(const struct fixture *f)
{
	hasp_batch *batch = hasp_batch_new();

	hasp_batch_patch(batch, "a", hash_of(f, "a"), wrong_numbers, strlen(wrong_numbers));
	hasp_batch_create(batch, "new/b", "b\n", 2, 0);
	hasp_batch_move(batch, "c", hash_of(f, "c"), "moved");
	hasp_batch_delete(batch, "d", hash_of(f, "d"));
	hasp_batch_update(batch, "e", NULL, "old", 3, "new", 3, 0, 0);
	hasp_batch_write(batch, "g", NULL, "g\n", 2, 0);
	return batch;
}

static void put_sample(const struct fixture *f)
{
	put(f, "a", base_text);
	put(f, "c", "c\n");
	put(f, "d", "d\n");
	put(f, "e", "old\n");
}

static void a_batch_is_made_whole(void **state)
{
	struct fixture *f = *state;
	hasp_batch *batch;
	hasp_result *result;
	hasp_error error;

	put_sample(f);
	batch = sample_batch(f);
	if (!hasp_batch_apply(f->ws, batch, 0, &result, &error))
		fail_msg("%s", error.message);
	assert_int_equal(hasp_result_count(result), 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(hasp_result_done(result, i));
	hasp_result_free(result);
	hasp_batch_free(batch);
	assert_disk(f, "a", "a\nb\nc\nD\ne\nf\ng\n");
	assert_disk(f, "new/b", "b\n");
	assert_disk(f, "c", NULL);
	assert_disk(f, "moved", "c\n");
	assert_disk(f, "d", NULL);
	assert_disk(f, "e", "new\n");
	assert_disk(f, "g", "g\n");
}

static void a_batch_with_one_fault_changes_nothing(void **state)
{
	struct fixture *f = *state;
	hasp_batch *batch;
	hasp_result *result;
	hasp_error error;

	put_sample(f);
	batch = sample_batch(f);
	hasp_batch_expect(batch, HASH_OF_NOTHING); /* "g" will not be empty */
	assert_false(hasp_batch_apply(f->ws, batch, 0, &result, &error));
	assert_int_equal(error.code, HASP_STATE_MISMATCH);
	assert_int_equal(hasp_result_error(result, 5)->code, HASP_STATE_MISMATCH);
	assert_int_equal(hasp_result_error(result, 0)->code, HASP_ROLLED_BACK);
	hasp_result_free(result);
	hasp_batch_free(batch);
	assert_disk(f, "a", base_text);
	assert_disk(f, "new/b", NULL);
	assert_disk(f, "c", "c\n");
	assert_disk(f, "d", "d\n");
	assert_disk(f, "g", NULL);
}

static void a_batch_with_a_wrong_hash_says_which_change(void **state)
{
	struct fixture *f = *state;
	hasp_batch *batch = hasp_batch_new();
	hasp_result *result;
	hasp_error error;

	hasp_batch_create(batch, "a", "1\n", 2, 0);
	hasp_batch_delete(batch, "b", "xyz");
	assert_false(hasp_batch_apply(f->ws, batch, 0, &result, &error));
	assert_int_equal(error.code, HASP_INVALID_ARGUMENT);
	assert_int_equal(hasp_result_error(result, 0)->code, HASP_ROLLED_BACK);
	assert_int_equal(hasp_result_error(result, 1)->code, HASP_INVALID_ARGUMENT);
	hasp_result_free(result);
	hasp_batch_free(batch);
	assert_disk(f, "a", NULL);
}

static void an_empty_batch_is_an_invalid_argument(void **state)
{
	struct fixture *f = *state;
	hasp_batch *batch = hasp_batch_new();
	hasp_result *result;
	hasp_error error;

	assert_false(hasp_batch_apply(f->ws, batch, 0, &result, &error));
	assert_int_equal(error.code, HASP_INVALID_ARGUMENT);
	assert_int_equal(hasp_result_count(result), 0);
	hasp_result_free(result);
	hasp_batch_free(batch);
}

/* ---- the rest ----------------------------------------------------------- */

static void every_code_has_a_name_and_advice(void **state)
{
	(void)state;
	assert_string_equal(hasp_code_name(HASP_STATE_MISMATCH), "state_mismatch");
	assert_string_equal(hasp_code_name(HASP_INTERNAL), "internal");
	for (int code = 1; code <= HASP_INTERNAL; code++) {
		assert_true(strlen(hasp_code_name((hasp_code)code)) > 3);
		assert_true(strlen(hasp_code_advice((hasp_code)code)) > 10);
		for (int other = 0; other < code; other++)
			assert_string_not_equal(hasp_code_name((hasp_code)code),
			                        hasp_code_name((hasp_code)other));
	}
	assert_string_equal(hasp_code_name((hasp_code)9999), "internal");
}

static void nothing_is_freed_twice_and_null_is_fine(void **state)
{
	const char *roots[] = { "/nonexistent/folder" };
	hasp_error error;

	(void)state;
	hasp_workspace_free(NULL);
	hasp_file_free(NULL);
	hasp_result_free(NULL);
	hasp_batch_free(NULL);
	assert_null(hasp_workspace_open(roots, 1, NULL, &error));
	assert_int_equal(error.code, HASP_FILE_NOT_FOUND);
	assert_null(hasp_workspace_open(roots, 1, NULL, NULL));
	assert_true(strlen(hasp_version()) >= 5);
}

static void without_a_journal_one_file_can_be_changed(void **state)
{
	struct fixture *f = *state;
	char root[48];
	const char *roots[] = { root };
	hasp_batch *batch = hasp_batch_new();
	hasp_error error = { 0 };
	hasp_workspace *ws;

	snprintf(root, sizeof(root), "%s/ws", f->folder);
	ws = hasp_workspace_open(roots, 1, NULL, &error);
	assert_non_null(ws);
	hasp_batch_create(batch, "one", "1\n", 2, 0);
	assert_true(hasp_batch_apply(ws, batch, 0, NULL, &error));
	assert_false(hasp_move(ws, "one", hash_of(f, "one"), "two", 0, NULL, &error));
	assert_int_equal(error.code, HASP_IO_ERROR);
	hasp_batch_free(batch);
	batch = hasp_batch_new();
	hasp_batch_create(batch, "two", "2\n", 2, 0);
	hasp_batch_create(batch, "three", "3\n", 2, 0);
	assert_false(hasp_batch_apply(ws, batch, 0, NULL, &error));
	assert_int_equal(error.code, HASP_IO_ERROR);
	hasp_batch_free(batch);
	hasp_workspace_free(ws);
}

/* Makes "NAME-0" to "NAME-19" in one batch after another. */
static bool make_many(const struct fixture *f, const char *name)
{
	bool ok = true;

	for (int i = 0; i < 20; i += 2) {
		hasp_batch *batch = hasp_batch_new();
		char path[32];

		for (int j = i; j < i + 2; j++) {
			snprintf(path, sizeof(path), "%s-%d", name, j);
			hasp_batch_create(batch, path, name, strlen(name), 0);
		}
		ok = hasp_batch_apply(f->ws, batch, 0, NULL, NULL) && ok;
		hasp_batch_free(batch);
	}
	return ok;
}

static void parent_and_child_use_what_was_open(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();
	int status;
	bool ok;

	if (child == 0)
		_exit(make_many(f, "child") ? 0 : 1);
	ok = make_many(f, "parent");
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(ok);
	assert_int_equal(status, 0);
	for (int i = 0; i < 20; i++) {
		char path[32];

		snprintf(path, sizeof(path), "%s-%d", i % 2 ? "child" : "parent", i);
		assert_non_null(hash_of(f, path));
	}
}

#define WITH_WORKSPACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WORKSPACE(reading_gives_text_hash_and_facts),
		WITH_WORKSPACE(a_range_is_read_with_the_hash_of_the_whole),
		WITH_WORKSPACE(an_options_structure_of_an_older_program_is_understood),
		WITH_WORKSPACE(failures_to_read_have_codes_and_sentences),
		WITH_WORKSPACE(a_diff_with_wrong_numbers_is_placed_and_reported),
		WITH_WORKSPACE(a_stale_hash_is_refused_with_the_new_state),
		WITH_WORKSPACE(an_ambiguous_diff_names_its_candidates),
		WITH_WORKSPACE(files_are_created_written_moved_and_deleted),
		WITH_WORKSPACE(what_does_not_look_meant_is_written_when_it_is_literal),
		WITH_WORKSPACE(an_update_counts_its_places),
		WITH_WORKSPACE(a_dry_run_foretells_and_writes_nothing),
		WITH_WORKSPACE(what_is_no_hash_is_refused),
		WITH_WORKSPACE(a_batch_is_made_whole),
		WITH_WORKSPACE(a_batch_with_one_fault_changes_nothing),
		WITH_WORKSPACE(a_batch_with_a_wrong_hash_says_which_change),
		WITH_WORKSPACE(an_empty_batch_is_an_invalid_argument),
		WITH_WORKSPACE(without_a_journal_one_file_can_be_changed),
		WITH_WORKSPACE(parent_and_child_use_what_was_open),
		cmocka_unit_test(every_code_has_a_name_and_advice),
		cmocka_unit_test(nothing_is_freed_twice_and_null_is_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
