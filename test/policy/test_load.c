/* SPDX-License-Identifier: Apache-2.0 */
/* Reading policy files: problems and their places, examples, folders. */
#include "policy_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/limits.h"
#include "base/mem.h"

#define RULE "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n"
#define SHELL "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\n"

#define PATH "[[rule]]\ndecision = \"deny\"\n"

/* The first problem of each, its line, whether the file's other rules count, and whether all is
 * well. */
static const struct {
	const char *text, *kind;
	int line;
	bool others, well;
} rows[] = {
	{ RULE, NULL, 0, true, true },
	{ "", NULL, 0, false, true },
	{ "[other]\nx = 1\n" RULE "unknown = 1\nname = \"n\"\n", NULL, 0, true, true },
	{ RULE "x = \n", "toml_parse", 0, false, false },
	{ RULE "[[rule]]\ntoolName = \"x\"\ndecision = \"deny\"\n", "schema_validation", 5, false,
	  false },
	{ RULE "[[rule]]\ntoolName = 3\ndecision = \"deny\"\npriority = 1\n", "schema_validation",
	  5, false, false },
	{ RULE "[[rule]]\ntoolName = \"x\"\ndecision = \"maybe\"\npriority = 1\n",
	  "schema_validation", 5, false, false },
	{ RULE "[[rule]]\ntoolName = \"x\"\ndecision = \"deny\"\npriority = 1000\n",
	  "schema_validation", 5, false, false },
	{ RULE "[[rule]]\ntoolName = \"x\"\ndecision = \"deny\"\npriority = 1.5\n",
	  "schema_validation", 5, false, false },
	{ RULE "modes = [\"never\"]\n", "schema_validation", 1, false, false },
	{ RULE "interactive = 1\n", "schema_validation", 1, false, false },
	{ RULE "toolAnnotations = 1\n", "schema_validation", 1, false, false },
	{ "rule = 1\n", "schema_validation", 1, false, false },
	{ "rule = [1]\n", "schema_validation", 1, false, false },
	{ RULE "modes = [1]\n", "schema_validation", 1, false, false },
	{ RULE "modes = \"plan\"\n", "schema_validation", 1, false, false },
	{ RULE "commandPrefix = [\"x\", 1]\n", "schema_validation", 1, false, false },
	{ RULE "commandPrefix = []\n", "schema_validation", 1, false, false },
	{ RULE "denyMessage = 1\n", "schema_validation", 1, false, false },
	{ RULE "examples = [1]\n", "schema_validation", 1, false, false },
	{ RULE "safety_checker = { type = \"in-process\" }\n", "schema_validation", 5, false,
	  false },
	{ RULE RULE "subagent = \"\"\n", "rule_validation", 5, true, false },
	{ RULE PATH "path = \"generated\"\n", NULL, 0, true, true },
	{ RULE PATH "path = [\"./a/**\", \"~/b/\"]\npriority = 3\n", NULL, 0, true, true },
	{ RULE PATH "path = 1\n", "schema_validation", 5, false, false },
	{ RULE PATH "path = \"x\"\ntoolName = \"glob\"\n", "schema_validation", 5, false, false },
	{ RULE PATH "path = \"x\"\nargsPattern = \"x\"\n", "schema_validation", 5, false, false },
	{ RULE PATH "path = \"x\"\nmodes = [\"yolo\"]\n", "schema_validation", 5, false, false },
	{ RULE PATH "path = \"*.c\"\n", "rule_validation", 5, true, false },
	{ RULE PATH "path = \"a/../b\"\n", "rule_validation", 5, true, false },
	{ RULE PATH "path = [\"a\", \"/\"]\n", "rule_validation", 5, true, false },
	{ RULE PATH "path = \"./\"\n", "rule_validation", 5, true, false },
	{ RULE "[[rule]]\npath = \"x\"\ndecision = \"allow\"\n", "rule_validation", 5, true,
	  false },
	{ RULE "[[rule]]\ntoolName = \"\"\ndecision = \"deny\"\npriority = 1\n",
	  "rule_validation", 5, true, false },
	{ RULE RULE "mcpName = \"\"\n", "rule_validation", 5, true, false },
	{ RULE RULE "commandPrefix = \"x\"\n", "rule_validation", 5, true, false },
	{ RULE SHELL "commandPrefix = \"x\"\nargsPattern = \"x\"\n", "rule_validation", 5, true,
	  false },
	{ RULE SHELL "commandPrefix = \"x\"\ncommandRegex = \"x\"\n", "rule_validation", 5, true,
	  false },
	{ RULE RULE "argsPattern = \"(\"\n", "regex_compilation", 5, true, false },
	{ RULE RULE "argsPattern = \"(a+)+\"\n", "regex_compilation", 5, true, false },
	{ RULE SHELL "commandRegex = \"a(\"\n", "regex_compilation", 5, true, false },
	{ RULE "[[rule]]\ntoolName = \"something_else\"\ndecision = \"deny\"\npriority = 1\n",
	  NULL, 0, true, true },
	{ RULE "[[safety_checker]]\ntoolName = \"x\"\n", "schema_validation", 5, false, false },
	{ RULE "[rule.safety_checker]\ntype = \"external\"\nname = \"x\"\n",
	  "checker_unsupported", 1, true, false },
	{ RULE "examples = [{ args = {}, decision = \"allow\" }]\n", "example_failed", 5, true,
	  false },
	{ RULE "examples = [{ args = {}, decision = \"deny\" }]\n", NULL, 0, true, true },
	{ RULE "examples = [{ decision = \"deny\", mode = \"no\" }]\n", "schema_validation", 5,
	  true, false },
};

static void problems_have_kinds_and_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
		bool well = false;
		json_auto_t *problems = load_problems(policy, POLICY_USER, rows[i].text, &well);
		const json_t *first = json_array_get(problems, 0);
		const char *kind = json_string_value(json_object_get(first, "kind"));
		struct policy_verdict verdict;

		if (rows[i].kind ? !kind || strcmp(kind, rows[i].kind) != 0 : first != NULL)
			fail_msg("row %zu: %s", i, first ? json_dumps(first, 0) : "no problem");
		assert_int_equal(json_integer_value(json_object_get(first, "line")),
		                 rows[i].line);
		assert_int_equal(well, rows[i].well);
		decide(policy, "glob", "{}", &(struct setting){ .mode = MODE_DEFAULT }, &verdict);
		if ((verdict.decision == POLICY_DENY) != rows[i].others)
			fail_msg("row %zu: the other rules", i);
		policy_verdict_release(&verdict);
		policy_free(policy);
	}
}

/* A rule whose author expects something else of it allows nothing. */
static void a_rule_that_is_not_what_its_examples_say_allows_nothing(void **state)
{
	static const char text[] =
		"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git status\"\n"
		"decision = \"allow\"\npriority = 5\nexamples = [\n"
		"  { command = \"git status -s\", decision = \"allow\" },\n"
		"  { command = \"git status; make\", decision = \"ask_user\" },\n"
		"  { command = \"git status > f\", decision = \"ask_user\" },\n"
		"  { command = \"make\", decision = \"deny\", interactive = false },\n"
		"]\n"
		"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"git\"\n"
		"decision = \"allow\"\npriority = 4\nexamples = [\n"
		"  { command = \"git push\", decision = \"ask_user\" },\n"
		"]\n";
	const struct setting setting = { .mode = MODE_DEFAULT };
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	json_auto_t *problems = load_problems(policy, POLICY_USER, text, NULL);

	(void)state;
	assert_int_equal(json_array_size(problems), 1);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(problems, 0), "line")),
	                 18);
	assert_int_equal(decide_command(policy, "git push", &setting), POLICY_ASK);
	assert_int_equal(decide_command(policy, "git status -s", &setting), POLICY_ALLOW);
	policy_free(policy);
}

/* ---- files and folders ----------------------------------------------------------------------- */

static void put(const char *folder, const char *name, const char *text)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void remove_from(const char *folder, const char *name)
{
	_cleanup_free_ char *path = mem_printf("%s/%s", folder, name);

	unlink(path);
}

static void folders_are_read_by_name(void **state)
{
	char folder[] = "/tmp/hasp-policies-XXXXXX";
	_cleanup_free_ char *one = NULL, *link = NULL;
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	json_auto_t *problems = json_array();
	struct policy_verdict verdict;

	(void)state;
	assert_non_null(mkdtemp(folder));
	put(folder, "b.toml", RULE);
	put(folder, "a.toml", "[[rule]]\ntoolName = \"glob\"\ndecision = \"ask_user\"\n"
	                      "priority = 1\n");
	put(folder, "c.txt", "not TOML");
	put(folder, ".d.toml", "not TOML");
	assert_true(policy_add_folder(policy, POLICY_USER, folder, problems));
	decide(policy, "glob", "{}", &(struct setting){ .mode = MODE_DEFAULT }, &verdict);
	one = mem_printf("%s/a.toml:1", folder);
	assert_string_equal(verdict.rule, one);
	policy_verdict_release(&verdict);
	link = mem_printf("%s/z.toml", folder);
	assert_int_equal(symlink("nowhere", link), 0);
	assert_false(policy_add_path(policy, POLICY_USER, folder, problems));
	assert_string_equal(json_string_value(json_object_get(json_array_get(problems, 0),
	                                                      "kind")), "file_read");
	unlink(link);
	assert_true(policy_add_folder(policy, POLICY_USER, "/nowhere/at/all", problems));
	assert_true(policy_add_path(policy, POLICY_USER, "/nowhere/at/all", problems));
	assert_false(policy_add_file(policy, POLICY_USER, "/nowhere/at/all", problems));
	assert_false(policy_add_file(policy, POLICY_USER, "/dev/null", problems));
	assert_int_equal(json_array_size(problems), 3);
	remove_from(folder, "a.toml");
	remove_from(folder, "b.toml");
	remove_from(folder, "c.txt");
	remove_from(folder, ".d.toml");
	rmdir(folder);
	policy_free(policy);
}

static enum policy_decision decision_on(const struct policy *policy, const char *tool)
{
	enum policy_decision decision;
	struct policy_verdict verdict;

	decide(policy, tool, "{}", &(struct setting){ .mode = MODE_DEFAULT }, &verdict);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	return decision;
}

static void a_tier_that_is_dropped_and_lists_that_are_renewed(void **state)
{
	struct policy *policy = policy_of(RULE "[[safety_checker]]\ntoolName = \"list_directory\"\n"
	                                  "priority = 1\nchecker = { type = \"in-process\", name = "
	                                  "\"allowed-path\" }\n", POLICY_USER);
	json_auto_t *first = json_pack("{s:[s]}", "exclude", "read_file");
	json_auto_t *second = json_pack("[s]", "list_directory"), *list = NULL;
	size_t rules;

	(void)state;
	policy_add_settings(policy, first, NULL, NULL);
	assert_int_equal(decision_on(policy, "glob"), POLICY_DENY);
	assert_int_equal(decision_on(policy, "read_file"), POLICY_DENY);
	policy_renew_excluded(policy, second, NULL);
	assert_int_equal(decision_on(policy, "read_file"), POLICY_ALLOW);
	assert_int_equal(decision_on(policy, "list_directory"), POLICY_DENY);
	list = policy_list(policy);
	rules = json_array_size(list);
	policy_drop_tier(policy, POLICY_USER);
	assert_int_equal(decision_on(policy, "glob"), POLICY_ALLOW);
	assert_int_equal(decision_on(policy, "list_directory"), POLICY_ALLOW);
	json_decref(list);
	list = policy_list(policy);
	assert_true(json_array_size(list) < rules - 1);
	policy_free(policy);
}

/* Of a rule on paths the editors' calls are denied by it, wherever the path stands in them. */
static void a_rule_on_paths_is_about_every_editor(void **state)
{
	static const struct {
		const char *tool, *arguments;
		enum policy_decision decision;
	} calls[] = {
		{ "write_file", "{\"file_path\": \"generated/a/b.c\"}", POLICY_DENY },
		{ "update_file", "{\"file_path\": \"./generated\"}", POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"move\", \"file_path\": \"b\", "
		  "\"new_path\": \"out/x.y\"}]}", POLICY_DENY },
		{ "write_file", "{\"file_path\": \"generated.c\"}", POLICY_ALLOW },
		{ "write_file", "{\"file_path\": \"out/xzy\"}", POLICY_ALLOW },
		{ "read_file", "{\"file_path\": \"generated/a\"}", POLICY_ALLOW },
	};
	const struct setting setting = { .mode = MODE_AUTO_EDIT };
	struct policy *policy = policy_of(PATH "path = [\"generated/**\", \"out/x.y\"]\n",
	                                  POLICY_USER);
	json_auto_t *keep = json_array(), *ask = json_array(), *voted = json_array();
	json_auto_t *problems = json_array();
	json_auto_t *more = json_pack("[s, s]", "more", "*"), *none = json_array();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct policy_verdict verdict;

		decide(policy, calls[i].tool, calls[i].arguments, &setting, &verdict);
		if (verdict.decision != calls[i].decision)
			fail_msg("row %zu: %s", i, verdict.message);
		policy_verdict_release(&verdict);
	}
	policy_add_kept(policy, none, problems);
	assert_int_equal(json_array_size(problems), 0);
	policy_add_kept(policy, more, problems);
	assert_int_equal(json_array_size(problems), 1);
	policy_kept_paths(policy, keep, ask, voted);
	assert_int_equal(json_array_size(ask) + json_array_size(voted), 0);
	assert_string_equal(json_string_value(json_array_get(keep, 0)), "generated");
	policy_free(policy);
}

static void a_folder_that_others_may_write_is_no_administrators(void **state)
{
	char folder[] = "/tmp/hasp-policies-XXXXXX";
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	json_auto_t *problems = json_array();

	(void)state;
	assert_non_null(mkdtemp(folder));
	put(folder, "a.toml", RULE);
	assert_int_equal(chmod(folder, 0777), 0);
	assert_false(policy_add_folder(policy, POLICY_ADMIN, folder, problems));
	assert_int_equal(json_array_size(problems), 1);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(policy_add_folder(policy, POLICY_ADMIN, folder, problems),
	                 geteuid() == 0);
	remove_from(folder, "a.toml");
	rmdir(folder);
	policy_free(policy);
}

static void a_file_without_end_is_refused(void **state)
{
	char path[] = "/tmp/hasp-policy-XXXXXX";
	struct policy *policy = policy_new();
	json_auto_t *problems = json_array();
	int fd = mkstemp(path);

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)LIMIT_POLICY_BYTES), 0);
	close(fd);
	assert_false(policy_add_file(policy, POLICY_USER, path, problems));
	unlink(path);
	policy_free(policy);
}

static void the_list_has_every_rule(void **state)
{
	struct policy *policy = policy_of(
		SHELL "commandPrefix = [\"a\", \"b\"]\nmodes = [\"yolo\"]\ndenyMessage = \"No.\"\n"
		"allowRedirection = true\n", POLICY_USER);
	json_auto_t *list = policy_list(policy);
	const json_t *first = json_array_get(list, 0);
	double last = 10;
	size_t checkers = 0;

	(void)state;
	assert_int_equal(json_array_size(json_object_get(first, "commandPrefix")), 2);
	assert_int_equal(json_array_size(json_object_get(first, "modes")), 1);
	assert_string_equal(json_string_value(json_object_get(first, "denyMessage")), "No.");
	assert_string_equal(json_string_value(json_object_get(first, "decision")), "deny");
	assert_true(json_is_true(json_object_get(first, "allowRedirection")));
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *row = json_array_get(list, i);
		double priority = json_real_value(json_object_get(row, "priority"));

		checkers += json_object_get(row, "checker") != NULL;
		if (checkers)
			break;
		assert_true(priority <= last);
		last = priority;
		assert_non_null(json_object_get(row, "rule"));
	}
	assert_int_equal(checkers, 1);
	policy_free(policy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(problems_have_kinds_and_lines),
		cmocka_unit_test(a_rule_that_is_not_what_its_examples_say_allows_nothing),
		cmocka_unit_test(folders_are_read_by_name),
		cmocka_unit_test(a_tier_that_is_dropped_and_lists_that_are_renewed),
		cmocka_unit_test(a_rule_on_paths_is_about_every_editor),
		cmocka_unit_test(a_folder_that_others_may_write_is_no_administrators),
		cmocka_unit_test(a_file_without_end_is_refused),
		cmocka_unit_test(the_list_has_every_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
