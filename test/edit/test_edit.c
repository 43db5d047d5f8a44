/* SPDX-License-Identifier: Apache-2.0 */
/* One change: what it asks of the base, what it makes of the file, what it answers. */
#include "edit_fixture.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

enum base { NONE, RIGHT, WRONG, EMPTY };

struct row {
	const char *name;
	const char *before;   /* NULL: the file is missing */
	enum change_kind kind;
	enum base base;
	const char *old_text;
	const char *text;
	size_t count;         /* expected_count; SIZE_MAX: any */
	bool exact;           /* exact_line_endings */
	enum err_code code;   /* NONE: success */
	const char *after;    /* NULL: missing; on failure ignored: it must be as before */
	const char *message;  /* the error's message begins with */
	size_t replaced;
};

#define ANY SIZE_MAX

static const struct row rows[] = {
	/* WRITE */
	{ "write creates a missing file without a base", NULL, CHANGE_WRITE, NONE,
	  .text = "new\n", .after = "new\n" },
	{ "write creates a missing file with the hash of nothing", NULL, CHANGE_WRITE, EMPTY,
	  .text = "new\n", .after = "new\n" },
	{ "write refuses a base for a file that is gone", NULL, CHANGE_WRITE, WRONG,
	  .text = "new\n", .code = ERR_STATE_MISMATCH, .message = "State Mismatch: The file does not exist" },
	{ "write replaces a file whose base is right", "old\n", CHANGE_WRITE, RIGHT,
	  .text = "new\n", .after = "new\n" },
	{ "write refuses an existing file without a base", "old\n", CHANGE_WRITE, NONE,
	  .text = "new\n", .code = ERR_BASE_REQUIRED, .message = "Base Required: " },
	{ "write refuses an existing empty file without a base", "", CHANGE_WRITE, NONE,
	  .text = "new\n", .code = ERR_BASE_REQUIRED },
	{ "write takes the hash of nothing for an empty file", "", CHANGE_WRITE, EMPTY,
	  .text = "new\n", .after = "new\n" },
	{ "write refuses a stale base", "old\n", CHANGE_WRITE, WRONG,
	  .text = "new\n", .code = ERR_STATE_MISMATCH, .message = "State Mismatch: File has changed on disk since it was last read." },
	{ "write of the same content succeeds", "old\n", CHANGE_WRITE, RIGHT,
	  .text = "old\n", .after = "old\n" },
	{ "write can empty a file", "old\n", CHANGE_WRITE, RIGHT, .text = "", .after = "" },
	{ "write can create an empty file", NULL, CHANGE_WRITE, NONE, .text = "", .after = "" },
	{ "write keeps CRLF when the text has none", "a\r\nb\r\n", CHANGE_WRITE, RIGHT,
	  .text = "x\ny\n", .after = "x\r\ny\r\n" },
	{ "write keeps CRLF of a file without a final newline", "a\r\nb", CHANGE_WRITE, RIGHT,
	  .text = "x\ny", .after = "x\r\ny" },
	{ "write leaves LF when asked to be exact", "a\r\nb\r\n", CHANGE_WRITE, RIGHT,
	  .text = "x\ny\n", .exact = true, .after = "x\ny\n" },
	{ "write leaves text alone that has CRLF itself", "a\r\nb\r\n", CHANGE_WRITE, RIGHT,
	  .text = "x\r\ny\n", .after = "x\r\ny\n" },
	{ "write leaves LF when the file is mixed", "a\r\nb\n", CHANGE_WRITE, RIGHT,
	  .text = "x\ny\n", .after = "x\ny\n" },
	{ "write keeps the byte-order mark", "\xEF\xBB\xBFold\n", CHANGE_WRITE, RIGHT,
	  .text = "new\n", .after = "\xEF\xBB\xBFnew\n" },
	{ "write does not double the byte-order mark", "\xEF\xBB\xBFold\n", CHANGE_WRITE, RIGHT,
	  .text = "\xEF\xBB\xBFnew\n", .after = "\xEF\xBB\xBFnew\n" },
	{ "write keeps a legacy encoding", "na\xEFve caf\xE9 d\xE9j\xE0 vu \xE0 la carte\n", CHANGE_WRITE, RIGHT,
	  .text = "d\xC3\xA9j\xC3\xA0\n", .after = "d\xE9j\xE0\n" },
	{ "write refuses text that is not UTF-8", NULL, CHANGE_WRITE, NONE, .text = "\xFF\n",
	  .code = ERR_INVALID_ARGUMENT },
	{ "write refuses an omission placeholder", "int a;\nint b;\n", CHANGE_WRITE, RIGHT,
	  .text = "int a;\n// ... rest of the code ...\n", .code = ERR_INVALID_ARGUMENT,
	  .message = "Line 2 of the new content" },
	{ "write refuses a placeholder in a new file", NULL, CHANGE_WRITE, NONE,
	  .text = "def f():\n    # (rest of methods...)\n", .code = ERR_INVALID_ARGUMENT },
	{ "write lets a placeholder through that the file has", "// ... rest of the code ...\n",
	  CHANGE_WRITE, RIGHT, .text = "a\n// ... rest of the code ...\n",
	  .after = "a\n// ... rest of the code ...\n" },
	{ "write lets ordinary dots through", NULL, CHANGE_WRITE, NONE,
	  .text = "f(...rest);\nThe rest of the code is in b.c.\n...\n// wait...\n",
	  .after = "f(...rest);\nThe rest of the code is in b.c.\n...\n// wait...\n" },
	/* CREATE */
	{ "create makes a missing file", NULL, CHANGE_CREATE, NONE, .text = "x", .after = "x" },
	{ "create refuses an existing file", "old\n", CHANGE_CREATE, NONE, .text = "x",
	  .code = ERR_FILE_EXISTS },
	{ "create refuses an existing file even with its base", "old\n", CHANGE_CREATE, RIGHT,
	  .text = "x", .code = ERR_FILE_EXISTS },
	/* DELETE */
	{ "delete removes a file whose base is right", "old\n", CHANGE_DELETE, RIGHT,
	  .after = NULL },
	{ "delete needs a base", "old\n", CHANGE_DELETE, NONE, .code = ERR_BASE_REQUIRED },
	{ "delete refuses a stale base", "old\n", CHANGE_DELETE, WRONG,
	  .code = ERR_STATE_MISMATCH },
	{ "delete of a missing file is not found", NULL, CHANGE_DELETE, NONE,
	  .code = ERR_FILE_NOT_FOUND },
	/* UPDATE */
	{ "update replaces the one place", "one\ntwo\nthree\n", CHANGE_UPDATE, NONE, "two", "2",
	  .after = "one\n2\nthree\n", .replaced = 1 },
	{ "update takes a right base", "one\n", CHANGE_UPDATE, RIGHT, "one", "1",
	  .after = "1\n", .replaced = 1 },
	{ "update refuses a stale base", "one\n", CHANGE_UPDATE, WRONG, "one", "1",
	  .code = ERR_STATE_MISMATCH },
	{ "update of a missing file is not found", NULL, CHANGE_UPDATE, NONE, "one", "1",
	  .code = ERR_FILE_NOT_FOUND },
	{ "update with no old text creates a missing file", NULL, CHANGE_UPDATE, NONE, "", "1\n",
	  .after = "1\n" },
	{ "update with no old text refuses an existing file", "1\n", CHANGE_UPDATE, NONE, "", "2",
	  .code = ERR_FILE_EXISTS },
	{ "update refuses text that is not there", "one\n", CHANGE_UPDATE, NONE, "two", "2",
	  .code = ERR_WRONG_MATCH_COUNT },
	{ "update says where the first line of the text is", "x\n\tone\n\ttwo\n", CHANGE_UPDATE,
	  NONE, "one\nthree\n", "2", .code = ERR_WRONG_MATCH_COUNT,
	  .message = "The text to replace does not occur in f; nothing was written. The nearest "
	             "place is line 2, where 0 of 2 lines are the same. First difference: line 2 of "
	             "the file is `\\tone`, the text has `one` (they differ only in the depth of the "
	             "indentation)." },
	{ "update refuses text that is there twice", "a a\n", CHANGE_UPDATE, NONE, "a", "b",
	  .code = ERR_WRONG_MATCH_COUNT, .replaced = 2 },
	{ "update replaces the expected number", "a a\n", CHANGE_UPDATE, NONE, "a", "b", 2,
	  .after = "b b\n", .replaced = 2 },
	{ "update refuses fewer than expected", "a a\n", CHANGE_UPDATE, NONE, "a", "b", 3,
	  .code = ERR_WRONG_MATCH_COUNT, .replaced = 2 },
	{ "update replaces any number when asked", "a\na\na\n", CHANGE_UPDATE, NONE, "a", "b", ANY,
	  .after = "b\nb\nb\n", .replaced = 3 },
	{ "update with any number needs one", "x\n", CHANGE_UPDATE, NONE, "a", "b", ANY,
	  .code = ERR_WRONG_MATCH_COUNT },
	{ "update counts without overlap", "aaaaa", CHANGE_UPDATE, NONE, "aa", "b", 2,
	  .after = "bba", .replaced = 2 },
	{ "update to the same text is no change", "a\n", CHANGE_UPDATE, NONE, "a", "a",
	  .code = ERR_NO_CHANGE },
	{ "update can remove a line", "a\nb\nc\n", CHANGE_UPDATE, NONE, "b\n", "",
	  .after = "a\nc\n", .replaced = 1 },
	{ "update can join lines", "a\nb\nc\n", CHANGE_UPDATE, NONE, "\nb", "b",
	  .after = "ab\nc\n", .replaced = 1 },
	{ "update can join lines by their newline", "a\nb\nc\n", CHANGE_UPDATE, NONE, "a\n", "a",
	  .after = "ab\nc\n", .replaced = 1 },
	{ "update can join all lines", "a\nb\nc\n", CHANGE_UPDATE, NONE, "\n", "", 3,
	  .after = "abc", .replaced = 3 },
	{ "update can empty a file", "a\nb\n", CHANGE_UPDATE, NONE, "a\nb\n", "",
	  .after = "", .replaced = 1 },
	{ "update can remove the final newline", "a\nb\n", CHANGE_UPDATE, NONE, "b\n", "b",
	  .after = "a\nb", .replaced = 1 },
	{ "update works in a file without a final newline", "a\nb", CHANGE_UPDATE, NONE, "b", "c",
	  .after = "a\nc", .replaced = 1 },
	{ "update replaces neighbouring lines", "a\na\nb\n", CHANGE_UPDATE, NONE, "a\n", "c\n", 2,
	  .after = "c\nc\nb\n", .replaced = 2 },
	{ "update lets LF stand for CRLF", "a\r\nb\r\nc\r\n", CHANGE_UPDATE, NONE, "a\nb", "x\ny",
	  .after = "x\r\ny\r\nc\r\n", .replaced = 1 },
	{ "update lets a leading LF stand for CRLF", "a\r\nb\r\n", CHANGE_UPDATE, NONE, "\nb",
	  "\nx", .after = "a\r\nx\r\n", .replaced = 1 },
	{ "update counts CRLF places", "a\r\nb\r\na\r\nb\r\n", CHANGE_UPDATE, NONE, "a\nb\n", "c\n",
	  2, .after = "c\r\nc\r\n", .replaced = 2 },
	{ "update gives new lines the CRLF of the file", "a\r\nb\r\n", CHANGE_UPDATE, NONE, "a",
	  "x\ny", .after = "x\r\ny\r\nb\r\n", .replaced = 1 },
	{ "update leaves mixed endings alone", "a\r\nb\nc\n", CHANGE_UPDATE, NONE, "b\n", "x\ny\n",
	  .after = "a\r\nx\ny\nc\n", .replaced = 1 },
	{ "update matches CRLF exactly when given", "a\r\nb\r\n", CHANGE_UPDATE, NONE, "a\r\n",
	  "x\r\n", .after = "x\r\nb\r\n", .replaced = 1 },
	{ "update does not take other white space for it", "a\tb\n", CHANGE_UPDATE, NONE, "a b", "x",
	  .code = ERR_WRONG_MATCH_COUNT },
	{ "update keeps the byte-order mark", "\xEF\xBB\xBF" "a\nb\n", CHANGE_UPDATE, NONE, "a", "x",
	  .after = "\xEF\xBB\xBFx\nb\n", .replaced = 1 },
	{ "update keeps bytes that are not UTF-8 in other lines",
	  "plain text here\nb\xFF\n\xC3\xA9t\xC3\xA9 d\xC3\xA9j\xC3\xA0 \xE2\x82\xAC \xE2\x82\xAC \xC3\xA9\nc\n", CHANGE_UPDATE, NONE, "c\n", "x\n",
	  .after = "plain text here\nb\xFF\n\xC3\xA9t\xC3\xA9 d\xC3\xA9j\xC3\xA0 \xE2\x82\xAC \xE2\x82\xAC \xC3\xA9\nx\n", .replaced = 1 },
	{ "update refuses to rewrite bytes that are not UTF-8",
	  "plain text here\nb\xFF\n\xC3\xA9t\xC3\xA9 d\xC3\xA9j\xC3\xA0 \xE2\x82\xAC \xE2\x82\xAC \xC3\xA9\nc\n", CHANGE_UPDATE, NONE, "b", "x", ANY,
	  .code = ERR_INVALID_ARGUMENT, .replaced = 1 },
	{ "update refuses a placeholder", "a\nb\n", CHANGE_UPDATE, NONE, "b\n",
	  "# ... existing code ...\n", .code = ERR_INVALID_ARGUMENT, .replaced = 1 },
	/* PATCH */
	{ "patch applies to the right base", "a\nb\nc\n", CHANGE_PATCH, RIGHT,
	  .text = "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .after = "a\nx\nc\n" },
	{ "patch keeps CRLF", "a\r\nb\r\nc\r\n", CHANGE_PATCH, RIGHT,
	  .text = "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .after = "a\r\nx\r\nc\r\n" },
	{ "patch needs a base", "a\nb\nc\n", CHANGE_PATCH, NONE,
	  .text = "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .code = ERR_BASE_REQUIRED },
	{ "patch refuses a stale base", "a\nb\nc\n", CHANGE_PATCH, WRONG,
	  .text = "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .code = ERR_STATE_MISMATCH,
	  .message = "State Mismatch: File has changed on disk since it was last read." },
	{ "patch refuses lines that are not there", "a\nb\nc\n", CHANGE_PATCH, RIGHT,
	  .text = "@@ -1,3 +1,3 @@\n a\n-q\n+x\n c\n", .code = ERR_NO_MATCH,
	  .message = "Invalid Diff: The provided diff content does not match the file's content." },
	{ "patch refuses what is no diff", "a\n", CHANGE_PATCH, RIGHT, .text = "hello\n",
	  .code = ERR_INVALID_DIFF, .message = "Invalid Diff: " },
	{ "patch for another file is refused", "a\nb\nc\n", CHANGE_PATCH, RIGHT,
	  .text = "--- a/other.c\n+++ b/other.c\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n",
	  .code = ERR_INVALID_DIFF, .message = "Invalid Diff: the diff is for other.c, but the call names f." },
	{ "patch for a copy of the file", "a\nb\nc\n", CHANGE_PATCH, RIGHT,
	  .text = "--- ./f.orig (old)\n+++ ./f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .after = "a\nx\nc\n" },
	{ "patch with a name in another folder", "a\nb\nc\n", CHANGE_PATCH, RIGHT,
	  .text = "--- a/other.c\n+++ ./f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .after = "a\nx\nc\n" },
	{ "patch that calls an old file new", "a\nb\nc\n", CHANGE_PATCH, RIGHT,
	  .text = "--- /dev/null\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .after = "a\nx\nc\n" },
	{ "patch creates a missing file", NULL, CHANGE_PATCH, EMPTY,
	  .text = "--- /dev/null\n+++ b/f\n@@ -0,0 +1,2 @@\n+a\n+b\n", .after = "a\nb\n" },
	{ "patch that needs lines does not create", NULL, CHANGE_PATCH, NONE,
	  .text = "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n", .code = ERR_FILE_NOT_FOUND },
};

static void check_failed(struct fixture *f, const struct row *row,
                         const struct change_result *result, const struct err *err)
{
	struct sha256 hash = fixture_hash(row->before ? row->before : "");

	assert_int_equal(err->code, result->err.code);
	assert_false(result->done);
	fixture_expect(f, "f", row->before);
	assert_true(result->state_known);
	assert_non_null(result->before.path);
	assert_int_equal(result->state.exists, row->before != NULL);
	assert_true(sha256_eq(&result->state.sha256, &hash));
	if (row->message && strncmp(err->message, row->message, strlen(row->message)) != 0)
		fail_msg("the message is: %s", err->message);
	assert_int_equal(result->diff.len, 0);
}

static void check_done(struct fixture *f, const struct row *row,
                       const struct change_result *result)
{
	struct sha256 hash = fixture_hash(row->after ? row->after : "");

	assert_true(result->done);
	fixture_expect(f, "f", row->after);
	assert_true(sha256_eq(&result->state.sha256, &hash));
	assert_int_equal(result->state.size, row->after ? strlen(row->after) : 0);
	assert_int_equal(result->state.exists, row->after != NULL);
	assert_int_equal(result->created, !row->before);
	if (row->after && row->after[0] && utf8_valid(span_str(row->after)) &&
	    (unsigned char)row->after[0] != 0xEF)
		assert_string_equal(result->content.data, row->after);
}

static struct change change_of(const struct row *row, const struct sha256 *base)
{
	return (struct change){
		.kind = row->kind,
		.path = "f",
		.base = row->base == NONE ? NULL : base,
		.text = span_str(row->text),
		.old_text = span_str(row->old_text),
		.expected_count = row->count == ANY ? 0 : row->count,
		.any_count = row->count == ANY,
		.exact_line_endings = row->exact,
	};
}

static void run_row(void **state)
{
	const struct row *row = *state;
	const char *base_text = row->base == WRONG ? "something else" :
	                        row->base == EMPTY ? "" : row->before;
	struct sha256 base = fixture_hash(base_text);
	struct change change = change_of(row, &base);
	struct edit_options options = { .want_content = true, .want_diff = true,
	                                .commit.durability = DURABILITY_RENAME };
	struct change_result result;
	struct err err = ERR_INIT;
	struct fixture f;
	bool ok;

	fixture_open(&f);
	if (row->before)
		fixture_put(&f, "f", row->before);
	/* The plan must say the same and write nothing. */
	options.dry_run = true;
	ok = edit_apply(f.ws, &change, 1, &options, &result, &err);
	if (err.code != row->code)
		fail_msg("%s: %s", err_name(err.code), err.message);
	assert_int_equal(ok, row->code == ERR_NONE);
	assert_int_equal(result.replaced, row->replaced);
	fixture_expect(&f, "f", row->before);
	change_result_release(&result);
	options.dry_run = false;
	err = (struct err)ERR_INIT;
	ok = edit_apply(f.ws, &change, 1, &options, &result, &err);
	assert_int_equal(err.code, row->code);
	assert_int_equal(result.replaced, row->replaced);
	if (ok)
		check_done(&f, row, &result);
	else
		check_failed(&f, row, &result, &err);
	assert_int_equal(fixture_entries(f.root), ok ? row->after != NULL : row->before != NULL);
	change_result_release(&result);
	fixture_close(&f);
}

/* The rest are single subjects. */

struct bench {
	struct fixture f;
	struct edit_options options;
	struct change_result results[4];
	size_t count;
	struct err err;
};

static int bench_open(void **state)
{
	struct bench *b = mem_alloc(1, sizeof(*b));

	fixture_open(&b->f);
	b->options = (struct edit_options){ .want_content = true, .want_diff = true,
	                                    .journal_folder = b->f.journal,
	                                    .commit.durability = DURABILITY_RENAME };
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

static void a_diff_names_the_file_relative_to_the_root(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_UPDATE, .path = "d/f.c",
	                         .old_text = SPAN("two"), .text = SPAN("2") };

	fixture_put(&b->f, "d/f.c", "one\ntwo\n");
	assert_true(apply(b, &change, 1));
	assert_string_equal(b->results[0].diff.data,
	                    "--- a/d/f.c\n+++ b/d/f.c\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
	assert_int_equal(b->results[0].lines_added, 1);
	assert_int_equal(b->results[0].lines_removed, 1);
}

static void a_longer_content_is_left_out_where_the_change_was_made(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_UPDATE, .path = "f", .old_text = SPAN("two"),
	                         .text = SPAN("2222") };

	b->options.max_content_bytes = 8;
	fixture_put(&b->f, "f", "one\ntwo\n");
	assert_true(apply(b, &change, 1));
	assert_true(b->results[0].content_is_long);
	assert_false(b->results[0].content_is_text);
	assert_int_equal(b->results[0].content.len, 0);
	assert_true(b->results[0].diff.len > 0);
	assert_false(apply(b, &change, 1)); /* a refusal shows what is there */
	assert_false(b->results[0].content_is_long);
	assert_string_equal(b->results[0].content.data, "one\n2222\n");
	change.old_text = SPAN("2222");
	change.text = SPAN("two");
	assert_true(apply(b, &change, 1));
	assert_false(b->results[0].content_is_long);
	assert_string_equal(b->results[0].content.data, "one\ntwo\n");
}

static void a_created_file_is_shown_against_dev_null(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_CREATE, .path = "f", .text = SPAN("a\n") };

	assert_true(apply(b, &change, 1));
	assert_string_equal(b->results[0].diff.data,
	                    "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
}

static void a_deleted_file_is_shown_against_dev_null(void **state)
{
	struct bench *b = *state;
	struct sha256 base = fixture_hash("a\n");
	struct change change = { .kind = CHANGE_DELETE, .path = "f", .base = &base };

	fixture_put(&b->f, "f", "a\n");
	assert_true(apply(b, &change, 1));
	assert_string_equal(b->results[0].diff.data,
	                    "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
	assert_false(b->results[0].state.exists);
}

static void missing_folders_are_made(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_WRITE, .path = "x/y/f", .text = SPAN("a\n") };

	assert_true(apply(b, &change, 1));
	fixture_expect(&b->f, "x/y/f", "a\n");
}

static void missing_folders_are_not_made_when_forbidden(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_WRITE, .path = "x/y/f", .text = SPAN("a\n") };

	b->options.no_make_folders = true;
	assert_false(apply(b, &change, 1));
	assert_int_equal(b->err.code, ERR_FILE_NOT_FOUND);
	assert_int_equal(fixture_entries(b->f.root), 0);
}

static void a_path_outside_is_refused_and_its_state_unknown(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_WRITE, .path = "../f", .text = SPAN("a\n") };

	assert_false(apply(b, &change, 1));
	assert_int_equal(b->err.code, ERR_OUTSIDE_WORKSPACE);
	assert_false(b->results[0].state_known);
	assert_null(b->results[0].before.path);
}

static void a_folder_is_not_a_file(void **state)
{
	struct bench *b = *state;
	struct change change = { .kind = CHANGE_WRITE, .path = "d", .text = SPAN("a\n") };

	fixture_put(&b->f, "d/f", "");
	assert_false(apply(b, &change, 1));
	assert_int_equal(b->err.code, ERR_NOT_A_FILE);
	assert_non_null(b->results[0].before.path);
}

static void what_was_planned_is_what_is_written(void **state)
{
	struct bench *b = *state;
	struct sha256 planned;
	struct change change = { .kind = CHANGE_UPDATE, .path = "f", .old_text = SPAN("a"),
	                         .text = SPAN("b") };

	fixture_put(&b->f, "f", "a\n");
	b->options.dry_run = true;
	assert_true(apply(b, &change, 1));
	planned = b->results[0].state.sha256;
	assert_string_equal(b->results[0].content.data, "b\n");
	b->options.dry_run = false;
	change.expect = &planned;
	fixture_put(&b->f, "f", "a\nmore\n");
	assert_false(apply(b, &change, 1));
	assert_int_equal(b->err.code, ERR_STATE_MISMATCH);
	assert_string_equal(b->results[0].content.data, "a\nmore\n");
	fixture_put(&b->f, "f", "a\n");
	assert_true(apply(b, &change, 1));
	assert_true(sha256_eq(&planned, &b->results[0].state.sha256));
}

static void a_failure_brings_the_latest_content(void **state)
{
	struct bench *b = *state;
	struct sha256 base = fixture_hash("old\n");
	struct change change = { .kind = CHANGE_WRITE, .path = "f", .base = &base,
	                         .text = SPAN("mine\n") };

	fixture_put(&b->f, "f", "theirs\n");
	assert_false(apply(b, &change, 1));
	assert_true(b->results[0].content_is_text);
	assert_string_equal(b->results[0].content.data, "theirs\n");
}

static void a_file_that_is_not_text_can_be_deleted_and_overwritten(void **state)
{
	struct bench *b = *state;
	static const char binary[] = "\x7F" "ELF\0\0\0\1\2\3\0\0";
	struct sha256 base = sha256_of(span_of(binary, sizeof(binary)));
	struct change change = { .kind = CHANGE_WRITE, .path = "f", .base = &base,
	                         .text = SPAN("text\n") };

	fixture_put_bytes(&b->f, "f", binary, sizeof(binary));
	assert_true(apply(b, &change, 1));
	fixture_expect(&b->f, "f", "text\n");
	fixture_put_bytes(&b->f, "f", binary, sizeof(binary));
	change.kind = CHANGE_DELETE;
	assert_true(apply(b, &change, 1));
	fixture_expect(&b->f, "f", NULL);
}

static void a_link_in_the_workspace_is_written_through_and_noted(void **state)
{
	struct bench *b = *state;
	_cleanup_free_ char *link = mem_printf("%s/l", b->f.root);
	struct change change = { .kind = CHANGE_UPDATE, .path = "l", .old_text = SPAN("a"),
	                         .text = SPAN("b") };

	fixture_put(&b->f, "f", "a\n");
	assert_int_equal(symlink("f", link), 0);
	assert_true(apply(b, &change, 1));
	fixture_expect(&b->f, "f", "b\n");
	assert_true(strstr(b->results[0].note, "symbolic link") != NULL);
	assert_true(strstr(b->results[0].state.path, "/f") != NULL);
}

static void utf16_keeps_its_encoding(void **state)
{
	struct bench *b = *state;
	static const char before[] = "\xFF\xFE" "a\0\r\0\n\0b\0\r\0\n";
	static const char after[] = "\xFF\xFE" "a\0\r\0\n\0x\0\r\0\n\0y\0\r\0\n";
	struct change change = { .kind = CHANGE_UPDATE, .path = "f", .old_text = SPAN("b"),
	                         .text = SPAN("x\ny") };
	_cleanup_free_ char *have = NULL;
	size_t len;

	fixture_put_bytes(&b->f, "f", before, sizeof(before));
	assert_true(apply(b, &change, 1));
	have = fixture_get(&b->f, "f", &len);
	assert_int_equal(len, sizeof(after));
	assert_memory_equal(have, after, len);
}

static void a_million_places_are_replaced_in_linear_time(void **state)
{
	struct bench *b = *state;
	size_t n = 1000000;
	_cleanup_free_ char *text = mem_alloc(2 * n + 1, 1);
	_cleanup_free_ char *have = NULL;
	struct change change = { .kind = CHANGE_UPDATE, .path = "f", .old_text = SPAN("a\n"),
	                         .text = SPAN("b"), .expected_count = n };
	size_t len;

	for (size_t i = 0; i < n; i++)
		memcpy(text + 2 * i, "a\n", 2);
	fixture_put_bytes(&b->f, "f", text, 2 * n);
	b->options.want_diff = false;
	assert_true(apply(b, &change, 1));
	have = fixture_get(&b->f, "f", &len);
	assert_int_equal(len, n);
	assert_true(have[0] == 'b' && have[n - 1] == 'b');
}

/* Bytes go as they are, over any bytes: nothing is decoded, adapted or looked for in them. */
static void bytes_are_written_as_they_are(void **state)
{
	static const char before[] = "\xff\xfe\0a\r\n", after[] = "// ... rest of the code ...\n\0\xff\n";
	struct bench *b = *state;
	struct sha256 base = sha256_of(span_of(before, sizeof(before))), none = sha256_of(SPAN(""));
	struct change change = { .kind = CHANGE_WRITE, .path = "f", .base = &base, .bytes = true,
	                         .text = span_of(after, sizeof(after)) };
	char *have;
	size_t len;

	fixture_put_bytes(&b->f, "f", before, sizeof(before));
	change.base = &none;
	assert_false(apply(b, &change, 1));
	assert_int_equal(b->err.code, ERR_STATE_MISMATCH);
	change.base = &base;
	assert_true(apply(b, &change, 1));
	have = fixture_get(&b->f, "f", &len);
	assert_int_equal(len, sizeof(after));
	assert_memory_equal(have, after, sizeof(after));
	free(have);
	assert_false(b->results[0].content_is_text);
	assert_int_equal(b->results[0].diff.len, 0);
	assert_string_equal(b->results[0].form.encoding, "");
}

#define BYTES(text) { text, sizeof(text) - 1 }
#define E_ACUTE "\xC3\xA9"

/* New content in a named encoding: the bytes that are written, or the error. */
static const struct encoding_row {
	struct span before; /* NULL data: the file is missing */
	const char *encoding, *text;
	enum err_code code;
	struct span after;
	const char *said;   /* in the note of a success, or in the message */
} encoding_rows[] = {
	{ { 0 }, "UTF-8", "a" E_ACUTE "\n", 0, BYTES("a" E_ACUTE "\n"), NULL },
	{ { 0 }, "utf-8-sig", "a\n", 0, BYTES("\xEF\xBB\xBF" "a\n"), NULL },
	{ { 0 }, "UTF-16", "a\n", 0, BYTES("\xFF\xFE" "a\0\n\0"), NULL },
	{ { 0 }, "UTF-16BE", "ab\n", 0, BYTES("\0a\0b\0\n"), NULL },
	{ { 0 }, "UTF-32", "a", 0, BYTES("\xFF\xFE\0\0a\0\0\0"), NULL },
	{ { 0 }, "ASCII", "a\nb\n", 0, BYTES("a\nb\n"), NULL },
	{ { 0 }, "us-ascii", "a\n" E_ACUTE "\n", ERR_INVALID_ARGUMENT, { 0 }, "U+00E9, in line 2" },
	{ { 0 }, "ISO-8859-1", E_ACUTE "\n", 0, BYTES("\xE9\n"), NULL },
	{ { 0 }, "UTF-16LE", E_ACUTE, 0, BYTES("\xE9\0"), "do not show that their encoding" },
	{ { 0 }, "ISO-8859-1", "\xE2\x82\xAC\n", ERR_INVALID_ARGUMENT, { 0 }, "U+20AC" },
	{ { 0 }, "no-such-encoding", "a\n", ERR_INVALID_ARGUMENT, { 0 }, "no-such-encoding" },
	{ BYTES("\xFF\xFE" "a\0\n\0"), "UTF-16", "b\n", 0, BYTES("\xFF\xFE" "b\0\n\0"), NULL },
	{ BYTES("\xFE\xFF\0a\0\n"), "UTF-16", "b\n", 0, BYTES("\xFE\xFF\0b\0\n"), NULL },
	{ BYTES("a\n"), "UTF-16", "b\n", 0, BYTES("\xFF\xFE" "b\0\n\0"), NULL },
	{ BYTES("\xEF\xBB\xBF" "a\n"), "UTF-8", "b\n", 0, BYTES("\xEF\xBB\xBF" "b\n"), NULL },
};

static void new_content_is_written_in_the_encoding_that_is_named(void **state)
{
	struct bench *b = *state;

	for (size_t i = 0; i < ARRAY_LEN(encoding_rows); i++) {
		const struct encoding_row *row = &encoding_rows[i];
		struct sha256 base = sha256_of(row->before);
		struct change change = { .kind = CHANGE_WRITE, .path = "f", .base = &base,
		                         .encoding = row->encoding, .text = span_str(row->text) };
		_cleanup_free_ char *path = mem_printf("%s/f", b->f.root), *have = NULL;
		const char *said;
		size_t len = 0;

		unlink(path);
		if (row->before.data)
			fixture_put_bytes(&b->f, "f", row->before.data, row->before.len);
		apply(b, &change, 1);
		said = row->code ? b->err.message : b->results[0].note;
		if (b->err.code != row->code || (row->said && !strstr(said, row->said)))
			fail_msg("row %zu: %s: %s", i, err_name(b->err.code), said);
		have = fixture_get(&b->f, "f", &len);
		if (!span_eq(span_of(have, len), row->code ? row->before : row->after))
			fail_msg("row %zu: other bytes", i);
	}
}

/* What no front sends, as it checks arguments itself. */
static void a_change_that_says_too_little_is_refused(void **state)
{
	struct bench *b = *state;
	struct sha256 base = fixture_hash("a\n");
	const struct {
		struct change change;
		enum err_code code;
	} changes[] = {
		{ { .kind = CHANGE_MOVE, .path = "f", .base = &base }, ERR_INVALID_ARGUMENT },
		{ { .kind = CHANGE_MOVE, .path = "f", .base = &base, .new_path = "./f" }, ERR_NO_CHANGE },
		{ { .kind = CHANGE_WRITE, .base = &base }, ERR_INVALID_ARGUMENT },
		{ { .kind = (enum change_kind)99, .path = "f" }, ERR_INVALID_ARGUMENT },
		{ { .kind = CHANGE_UPDATE, .path = "f", .old_text = SPAN("\xFF"), .text = SPAN("b") },
		  ERR_INVALID_ARGUMENT },
		{ { .kind = CHANGE_PATCH, .path = "f", .base = &base,
		    .text = SPAN("@@ -1 +1 @@\n a\n") }, ERR_INVALID_DIFF },
	};

	fixture_put(&b->f, "f", "a\n");
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		apply(b, &changes[i].change, 1);
		if (b->err.code != changes[i].code)
			fail_msg("row %zu: %s", i, b->err.message);
		fixture_expect(&b->f, "f", "a\n");
	}
	assert_false(apply(b, &changes[0].change, 0));
	assert_int_equal(b->err.code, ERR_INVALID_ARGUMENT);
	b->options.no_make_folders = true;
	assert_false(apply(b, &(struct change){ .kind = CHANGE_MOVE, .path = "f", .base = &base,
	                                        .new_path = "no/g" }, 1));
	assert_int_equal(b->err.code, ERR_FILE_NOT_FOUND);
	b->options.journal_folder = NULL;
	assert_false(apply(b, &(struct change){ .kind = CHANGE_MOVE, .path = "f", .base = &base,
	                                        .new_path = "g" }, 1));
	assert_int_equal(b->err.code, ERR_IO_ERROR);
	b->options.journal_folder = "relative";
	assert_false(apply(b, &(struct change){ .kind = CHANGE_MOVE, .path = "f", .base = &base,
	                                        .new_path = "g" }, 1));
	assert_int_equal(b->err.code, ERR_INVALID_ARGUMENT);
	fixture_expect(&b->f, "f", "a\n");
}

static void other_names_of_a_file_keep_the_old_content(void **state)
{
	struct bench *b = *state;
	struct sha256 base = fixture_hash("a\n");
	struct change change = { .kind = CHANGE_WRITE, .path = "f", .base = &base, .text = SPAN("b\n") };
	_cleanup_free_ char *path = mem_printf("%s/f", b->f.root);
	_cleanup_free_ char *other = mem_printf("%s/other", b->f.root);

	fixture_put(&b->f, "f", "a\n");
	assert_int_equal(link(path, other), 0);
	assert_true(apply(b, &change, 1));
	assert_non_null(strstr(b->results[0].note, "2 names (hard links)"));
	fixture_expect(&b->f, "f", "b\n");
	fixture_expect(&b->f, "other", "a\n");
}

static const struct CMUnitTest subjects[] = {
#define SUBJECT(name) cmocka_unit_test_setup_teardown(name, bench_open, bench_close)
	SUBJECT(bytes_are_written_as_they_are),
	SUBJECT(new_content_is_written_in_the_encoding_that_is_named),
	SUBJECT(a_change_that_says_too_little_is_refused),
	SUBJECT(other_names_of_a_file_keep_the_old_content),
	SUBJECT(a_diff_names_the_file_relative_to_the_root),
	SUBJECT(a_longer_content_is_left_out_where_the_change_was_made),
	SUBJECT(a_created_file_is_shown_against_dev_null),
	SUBJECT(a_deleted_file_is_shown_against_dev_null),
	SUBJECT(missing_folders_are_made),
	SUBJECT(missing_folders_are_not_made_when_forbidden),
	SUBJECT(a_path_outside_is_refused_and_its_state_unknown),
	SUBJECT(a_folder_is_not_a_file),
	SUBJECT(what_was_planned_is_what_is_written),
	SUBJECT(a_failure_brings_the_latest_content),
	SUBJECT(a_file_that_is_not_text_can_be_deleted_and_overwritten),
	SUBJECT(a_link_in_the_workspace_is_written_through_and_noted),
	SUBJECT(utf16_keeps_its_encoding),
	SUBJECT(a_million_places_are_replaced_in_linear_time),
};

int main(void)
{
	struct CMUnitTest tests[ARRAY_LEN(rows) + ARRAY_LEN(subjects)] = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name, .test_func = run_row,
		                                .initial_state = (void *)(uintptr_t)&rows[i] };
	memcpy(tests + ARRAY_LEN(rows), subjects, sizeof(subjects));
	return cmocka_run_group_tests_name("edit", tests, NULL, NULL);
}
