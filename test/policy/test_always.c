/* SPDX-License-Identifier: Apache-2.0 */
/* "Always", for the session and in auto-saved.toml. */
#include "policy_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

#define WRITE "{\"file_path\": \"a.c\", \"content\": \"x\"}"
#define PATCH "{\"file_path\": \"a.c\", \"unified_diff\": \"@@ -1 +1 @@\\n-a\\n+b\\n\"}"

static const struct setting interactive = { .mode = MODE_DEFAULT };

/* Document 2 of the requirements: for each tool by itself, for the session alone. */
static void always_is_for_one_tool(void **state)
{
	static const struct row before[] = {
		{ "write_file", WRITE, { .mode = MODE_DEFAULT }, POLICY_ASK },
		{ "safe_patch", PATCH, { .mode = MODE_DEFAULT }, POLICY_ASK },
	};
	static const struct row after[] = {
		{ "write_file", WRITE, { .mode = MODE_DEFAULT }, POLICY_ALLOW },
		{ "write_file", WRITE, { .mode = MODE_AUTO_EDIT }, POLICY_ALLOW },
		{ "write_file", WRITE, { .mode = MODE_PLAN }, POLICY_DENY },
		{ "safe_patch", PATCH, { .mode = MODE_DEFAULT }, POLICY_ASK },
		{ "update_file", WRITE, { .mode = MODE_DEFAULT }, POLICY_ASK },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT), *other;

	(void)state;
	check_rows(policy, before, ARRAY_LEN(before));
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "write_file", .mode = MODE_DEFAULT });
	check_rows(policy, after, ARRAY_LEN(after));
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "safe_patch", .mode = MODE_DEFAULT });
	check_rows(policy, &(struct row){ "safe_patch", PATCH, { .mode = MODE_DEFAULT },
	                                  POLICY_ALLOW }, 1);
	other = policy_of(NULL, POLICY_DEFAULT);
	check_rows(other, before, ARRAY_LEN(before));
	policy_free(other);
	policy_free(policy);
}

static void always_is_for_a_prefix_or_a_server(void **state)
{
	json_auto_t *prefixes = json_pack("[s, s]", "make test", "cargo");
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "run_shell_command",
	                                                         .mode = MODE_DEFAULT });
	assert_int_equal(decide_command(policy, "make test", &interactive), POLICY_ASK);
	policy_allow_for_session(policy, &(struct policy_scope){
		.tool = "run_shell_command", .prefixes = prefixes, .mode = MODE_DEFAULT });
	assert_int_equal(decide_command(policy, "make test; cargo b", &interactive), POLICY_ALLOW);
	assert_int_equal(decide_command(policy, "make", &interactive), POLICY_ASK);
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "mcp_s_t", .server = "s", .mode = MODE_DEFAULT });
	check_rows(policy, (const struct row[]){
		{ "mcp_s_u", "{}", { .mode = MODE_DEFAULT, .server = "s", .server_tool = "u" },
		  POLICY_ALLOW },
		{ "mcp_r_u", "{}", { .mode = MODE_DEFAULT, .server = "r", .server_tool = "u" },
		  POLICY_ASK },
	}, 2);
	policy_free(policy);
}

/* A line that no prefix stands for: it alone, and not where a rule of the user's asks or denies. */
static void always_is_for_a_call_as_it_is(void **state)
{
	static const struct {
		const char *rules;
		enum policy_decision same, other;
	} rows[] = {
		{ NULL, POLICY_ALLOW, POLICY_ASK },
		{ "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"sh\"\n"
		  "decision = \"ask_user\"\npriority = 900\n", POLICY_ASK, POLICY_ASK },
		{ "[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"sh\"\n"
		  "decision = \"deny\"\npriority = 900\n", POLICY_DENY, POLICY_ASK },
	};
	json_auto_t *call = json_pack("{s:s, s:s}", "command", "python3 x.py | sh > out",
	                              "description", "Runs it.");
	_cleanup_free_ char *exact = policy_exact_call(call);

	(void)state;
	assert_string_equal(exact, "{\"command\":\"python3 x.py | sh > out\"}");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy =
			policy_of(rows[i].rules, rows[i].rules ? POLICY_USER : POLICY_DEFAULT);

		policy_allow_for_session(policy, &(struct policy_scope){
			.tool = "run_shell_command", .exact = exact, .mode = MODE_DEFAULT });
		assert_int_equal(decide_command(policy, "python3 x.py | sh > out", &interactive),
		                 rows[i].same);
		assert_int_equal(decide_command(policy, "python3 x.py", &interactive),
		                 rows[i].other);
		policy_free(policy);
	}
}

static void always_is_for_the_server_that_was_asked_about(void **state)
{
	const struct row rows[] = {
		{ "mcp_a_b_c", "{}", { .server = "a", .server_tool = "b_c", .mode = MODE_DEFAULT,
		                       .server_identity = "one" }, POLICY_ALLOW },
		/* The name has gone to another server. */
		{ "mcp_a_b_c", "{}", { .server = "a", .server_tool = "b_c", .mode = MODE_DEFAULT,
		                       .server_identity = "two" }, POLICY_ASK },
		/* Its tool has the same name. */
		{ "mcp_a_b_c", "{}", { .server = "a_b", .server_tool = "c", .mode = MODE_DEFAULT,
		                       .server_identity = "three" }, POLICY_ASK },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "mcp_a_b_c",
	                                                         .identity = "one",
	                                                         .mode = MODE_DEFAULT });
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
	policy = policy_of(NULL, POLICY_DEFAULT);
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "mcp_a_b_c", .server = "a", .identity = "one", .mode = MODE_DEFAULT });
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

static const unsigned changed[] = { POLICY_EDITS, POLICY_CREATES, POLICY_DELETES, POLICY_MOVES,
	                            POLICY_EDITS | POLICY_CREATES, POLICY_CREATES | POLICY_DELETES,
	                            0 };

static enum policy_decision decide_scoped(const struct policy *policy, struct policy_call call)
{
	json_auto_t *arguments = json_pack("{s:s}", "file_path", "a");
	struct policy_verdict verdict;
	enum policy_decision decision;

	call.arguments = arguments;
	call.mode = MODE_DEFAULT;
	call.interactive = true;
	policy_decide(policy, &call, &verdict);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	return decision;
}

/* Of every editor, each set of changes: exactly those within the scope are allowed. */
static void a_scope_of_changes_is_of_all_editors_and_of_these_kinds(void **state)
{
	static const char *const editors[] = { "safe_patch", "update_file", "write_file",
		                               "apply_changes" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changed) - 1; i++) {
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

		policy_allow_for_session(policy, &(struct policy_scope){
			.tool = "apply_changes", .changes = changed[i], .mode = MODE_DEFAULT });
		for (size_t k = 0; k < ARRAY_LEN(changed) * ARRAY_LEN(editors); k++) {
			const unsigned does = changed[k % ARRAY_LEN(changed)];
			const bool within = does && !(does & ~changed[i]);
			struct policy_call call = { .changes = does };

			call.tool = editors[k / ARRAY_LEN(changed)];
			assert_int_equal(decide_scoped(policy, call),
			                 within ? POLICY_ALLOW : POLICY_ASK);
			call.obeyed = true;
			assert_int_equal(decide_scoped(policy, call), POLICY_ASK);
		}
		policy_free(policy);
	}
}

static void a_scope_of_hosts_grows_and_is_for_these_alone(void **state)
{
	json_auto_t *a = json_pack("[s]", "a.org"), *b = json_pack("[s]", "b.org");
	json_auto_t *both = json_pack("[s, s]", "b.org", "a.org");
	json_auto_t *more = json_pack("[s, s]", "a.org", "c.org");
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	const struct policy_scope scopes[] = {
		{ .tool = "web_fetch", .hosts = a, .mode = MODE_DEFAULT },
		{ .tool = "web_fetch", .hosts = b, .mode = MODE_DEFAULT },
	};
	const struct policy_call with_a = { .tool = "web_fetch", .hosts = a },
	                         with_both = { .tool = "web_fetch", .hosts = both },
	                         with_more = { .tool = "web_fetch", .hosts = more },
	                         with_none = { .tool = "web_fetch" };
	json_auto_t *listed = NULL;

	(void)state;
	policy_allow_for_session(policy, &scopes[0]);
	assert_int_equal(decide_scoped(policy, with_a), POLICY_ALLOW);
	assert_int_equal(decide_scoped(policy, with_both), POLICY_ASK);
	policy_allow_for_session(policy, &scopes[1]);
	assert_int_equal(decide_scoped(policy, with_both), POLICY_ALLOW);
	assert_int_equal(decide_scoped(policy, with_more), POLICY_ASK);
	assert_int_equal(decide_scoped(policy, with_none), POLICY_ASK);
	listed = policy_session_list(policy);
	assert_int_equal(json_array_size(listed), 1);
	policy_free(policy);
}

static void what_is_allowed_for_the_session_can_be_taken_back(void **state)
{
	json_auto_t *prefixes = json_pack("[s]", "make test"), *listed = NULL;
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	const struct policy_call edits = { .tool = "update_file", .changes = POLICY_EDITS };

	(void)state;
	policy_allow_for_session(policy, &(struct policy_scope){
		.tool = "run_shell_command", .prefixes = prefixes, .mode = MODE_DEFAULT });
	policy_allow_for_session(policy, &(struct policy_scope){
		.tool = "safe_patch", .changes = POLICY_EDITS, .mode = MODE_DEFAULT });
	listed = policy_session_list(policy);
	assert_int_equal(json_array_size(listed), 2);
	assert_non_null(json_object_get(json_array_get(listed, 0), "commandPrefix"));
	assert_string_equal(json_string_value(json_array_get(json_object_get(
		json_array_get(listed, 1), "changes"), 0)), "edit");
	assert_false(policy_session_drop(policy, 2));
	assert_true(policy_session_drop(policy, 0));
	assert_int_equal(decide_command(policy, "make test", &interactive), POLICY_ASK);
	assert_int_equal(decide_scoped(policy, edits), POLICY_ALLOW);
	policy_session_end(policy);
	assert_int_equal(decide_scoped(policy, edits), POLICY_ASK);
	policy_free(policy);
}

static void who_denies_is_not_overruled_by_always(void **state)
{
	struct policy *policy = policy_of("[[rule]]\ntoolName = \"write_file\"\n"
	                                  "decision = \"deny\"\npriority = 0\n", POLICY_USER);

	(void)state;
	policy_allow_for_session(policy, &(struct policy_scope){ .tool = "write_file", .mode = MODE_DEFAULT });
	check_rows(policy, &(struct row){ "write_file", WRITE, { .mode = MODE_DEFAULT },
	                                  POLICY_DENY }, 1);
	policy_free(policy);
}

/* ---- saved -------------------------------------------------------------------------------- */

struct place {
	char top[32];
	char *folder, *file, *backup;
};

static void place_make(struct place *place)
{
	memcpy(place->top, "/tmp/hasp-saved-XXXXXX", 23);
	assert_non_null(mkdtemp(place->top));
	place->folder = mem_printf("%s/a/policies", place->top);
	place->file = mem_printf("%s/auto-saved.toml", place->folder);
	place->backup = mem_printf("%s.bak", place->file);
}

static void place_remove(struct place *place)
{
	_cleanup_free_ char *between = mem_printf("%s/a", place->top);

	unlink(place->file);
	unlink(place->backup);
	assert_int_equal(rmdir(place->folder), 0); /* nothing else was left there */
	rmdir(between);
	rmdir(place->top);
	free(place->folder);
	free(place->file);
	free(place->backup);
}

static char *content(const char *path)
{
	char *text = mem_alloc(65536, 1);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_true(fread(text, 1, 65535, file) > 0);
	fclose(file);
	return text;
}

static void overwrite(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static bool save(struct policy *policy, const struct place *place, const char *tool,
                 const json_t *prefixes, const char *server, const char *pattern)
{
	struct err err = ERR_INIT;
	bool saved = policy_save(policy, place->folder, tool, prefixes, server, pattern,
	                         MODE_DEFAULT, NULL, &err);

	if (!saved)
		assert_true(err.code == ERR_INVALID_ARGUMENT && err.message[0]);
	return saved;
}

static void saved_permissions_are_read_again(void **state)
{
	json_auto_t *prefixes = json_pack("[s]", "make test"), *problems = json_array();
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT), *next;
	struct place place;
	char *text;

	(void)state;
	place_make(&place);
	assert_true(save(policy, &place, "run_shell_command", prefixes, NULL, NULL));
	assert_true(save(policy, &place, "web_fetch", NULL, NULL, NULL));
	assert_true(save(policy, &place, "mcp_s_t", NULL, "s", NULL));
	assert_true(save(policy, &place, "search_files", NULL, NULL, "\"dir_path\":\"src\x7f\\n"));
	assert_int_equal(decide_command(policy, "make test", &interactive), POLICY_ALLOW);
	text = content(place.file);
	assert_non_null(strstr(text,
	                       "[[rule]]\ndecision = \"allow\"\npriority = 950\n"
	                       "toolName = \"run_shell_command\"\n"
	                       "commandPrefix = [ \"make test\" ]\n"
	                       "modes = [ \"default\", \"autoEdit\", \"yolo\" ]\n"));
	assert_non_null(strstr(text, "toolName = \"grep_search\"\n"));
	assert_non_null(strstr(text, "mcpName = \"s\"\n"));
	free(text);
	next = policy_of(NULL, POLICY_DEFAULT);
	assert_true(policy_add_folder(next, POLICY_USER, place.folder, problems));
	assert_int_equal(json_array_size(problems), 0);
	assert_int_equal(decide_command(next, "make test", &interactive), POLICY_ALLOW);
	assert_int_equal(decide_command(next, "make", &interactive), POLICY_ASK);
	check_rows(next, (const struct row[]){
		{ "web_fetch", "{}", { .mode = MODE_DEFAULT }, POLICY_ALLOW },
		{ "mcp_s_x", "{}", { .mode = MODE_DEFAULT, .server = "s", .server_tool = "x" },
		  POLICY_ALLOW },
	}, 2);
	policy_forget_always(next);
	assert_int_equal(decide_command(next, "make test", &interactive), POLICY_ASK);
	policy_free(next);
	policy_free(policy);
	place_remove(&place);
}

static void what_is_there_is_kept(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	struct place place;
	char *text, *again;

	(void)state;
	place_make(&place);
	assert_true(save(policy, &place, "web_fetch", NULL, NULL, NULL));
	overwrite(place.file, "# mine\n[[rule]]\ntoolName = \"x\" # here\ndecision = \"deny\"\n"
	                      "priority = 1");
	assert_true(save(policy, &place, "web_fetch", NULL, NULL, NULL));
	text = content(place.file);
	assert_int_equal(strncmp(text, "# mine\n", 7), 0);
	assert_non_null(strstr(text, "# here\n"));
	assert_non_null(strstr(text, "priority = 1\n\n[[rule]]\n"));
	assert_true(save(policy, &place, "web_fetch", NULL, NULL, NULL));
	again = content(place.file);
	assert_string_equal(text, again); /* once is enough */
	free(again);
	free(text);
	overwrite(place.file, "no = = toml\n");
	assert_true(save(policy, &place, "web_fetch", NULL, NULL, NULL));
	text = content(place.backup);
	assert_string_equal(text, "no = = toml\n");
	free(text);
	policy_free(policy);
	place_remove(&place);
}

static void nothing_broad_is_saved(void **state)
{
	json_auto_t *empty = json_array(), *wrong = json_pack("[i]", 1), *blank = json_pack("[s]", "");
	json_auto_t *one = json_pack("[s]", "make");
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	struct place place;

	(void)state;
	place_make(&place);
	assert_false(save(policy, &place, "run_shell_command", NULL, NULL, NULL));
	assert_false(save(policy, &place, "run_shell_command", empty, NULL, NULL));
	assert_false(save(policy, &place, "run_shell_command", wrong, NULL, NULL));
	assert_false(save(policy, &place, "run_shell_command", blank, NULL, NULL));
	assert_false(save(policy, &place, "run_shell_command", one, NULL, "x"));
	assert_false(save(policy, &place, "ShellTool", NULL, NULL, NULL));
	assert_false(save(policy, &place, "write_file", NULL, NULL, NULL));
	assert_false(save(policy, &place, "safe_patch", NULL, NULL, NULL));
	assert_false(save(policy, &place, "grep_search", NULL, NULL, NULL));
	assert_false(save(policy, &place, "write_file", NULL, NULL, "(a+)+"));
	assert_true(save(policy, &place, "write_file", NULL, NULL, "\"file_path\":\"docs/"));
	policy_free(policy);
	place_remove(&place);
}

/* ---- threads -------------------------------------------------------------------------------- */

enum { ROUNDS = 200 };

static void *decide_much(void *data)
{
	for (int i = 0; i < ROUNDS; i++)
		(void)decide_command(data, "make test; git log | wc -l", &interactive);
	return NULL;
}

static void *allow_much(void *data)
{
	json_auto_t *prefixes = json_pack("[s]", "make test");

	for (int i = 0; i < ROUNDS; i++)
		policy_allow_for_session(data, &(struct policy_scope){ .tool = "run_shell_command",
		                                                       .prefixes = prefixes,
		                                                       .mode = MODE_DEFAULT });
	return NULL;
}

static void threads_decide_while_others_allow(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	pthread_t threads[4];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL,
		                                i == 0 ? allow_much : decide_much, policy), 0);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(decide_command(policy, "make test", &interactive), POLICY_ALLOW);
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(always_is_for_one_tool),
		cmocka_unit_test(always_is_for_a_prefix_or_a_server),
		cmocka_unit_test(always_is_for_a_call_as_it_is),
		cmocka_unit_test(always_is_for_the_server_that_was_asked_about),
		cmocka_unit_test(a_scope_of_changes_is_of_all_editors_and_of_these_kinds),
		cmocka_unit_test(a_scope_of_hosts_grows_and_is_for_these_alone),
		cmocka_unit_test(what_is_allowed_for_the_session_can_be_taken_back),
		cmocka_unit_test(who_denies_is_not_overruled_by_always),
		cmocka_unit_test(saved_permissions_are_read_again),
		cmocka_unit_test(what_is_there_is_kept),
		cmocka_unit_test(nothing_broad_is_saved),
		cmocka_unit_test(threads_decide_while_others_allow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
