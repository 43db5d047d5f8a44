/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions on tools: the defaults, tiers, modes, names, arguments, annotations. */
#include "policy_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "data/tools.h"

#define DEFAULT .mode = MODE_DEFAULT
#define PLAN .mode = MODE_PLAN
#define AUTO .mode = MODE_AUTO_EDIT
#define YOLO .mode = MODE_YOLO
#define HEADLESS DEFAULT, .headless = true

#define PATCH "{\"file_path\": \"a.c\", \"unified_diff\": \"@@ -1 +1 @@\\n-a\\n+b\\n\"}"
#define WRITE "{\"file_path\": \"a.c\", \"content\": \"x\"}"
#define UPDATE "{\"file_path\": \"a.c\", \"old_content\": \"a\", \"new_content\": \"b\"}"
#define CHANGES "{\"changes\": [{\"kind\": \"delete\", \"file_path\": \"a.c\"}]}"
#define PLAN_FILE "/home/user/.gemini/tmp/proj/ses-1/plans/fix.md"

/* The shipped policies of Gemini CLI say this of its tools, and so of hasp's. */
static void defaults_are_gemini_clis(void **state)
{
	static const struct row rows[] = {
		{ "read_file", "{\"file_path\": \"a\"}", { DEFAULT }, POLICY_ALLOW },
		{ "read_file", "{\"file_path\": \"a\"}", { HEADLESS }, POLICY_ALLOW },
		{ "read_file", "{\"file_path\": \"a\"}", { PLAN }, POLICY_ALLOW },
		{ "read_many_files", "{\"paths\": [\"src/**\"]}", { DEFAULT }, POLICY_ALLOW },
		{ "search_files", "{\"pattern\": \"x\"}", { HEADLESS }, POLICY_ALLOW },
		{ "grep_search", "{\"pattern\": \"x\"}", { HEADLESS }, POLICY_ALLOW },
		{ "glob", "{\"patterns\": [\"*\"]}", { PLAN, .headless = true }, POLICY_ALLOW },
		{ "google_web_search", "{\"query\": \"x\"}", { HEADLESS }, POLICY_ALLOW },
		{ "write_todos", "{\"todos\": []}", { HEADLESS }, POLICY_ALLOW },
		{ "update_topic", "{\"strategic_intent\": \"x\"}", { HEADLESS }, POLICY_ALLOW },
		{ "update_topic", "{\"strategic_intent\": \"x\"}", { PLAN }, POLICY_ALLOW },
		{ "write_file", WRITE, { DEFAULT }, POLICY_ASK },
		{ "write_file", WRITE, { HEADLESS }, POLICY_DENY },
		{ "write_file", WRITE, { AUTO }, POLICY_ALLOW },
		{ "write_file", WRITE, { AUTO, .headless = true }, POLICY_ALLOW },
		{ "write_file", WRITE, { YOLO }, POLICY_ALLOW },
		{ "write_file", WRITE, { PLAN }, POLICY_DENY },
		{ "update_file", UPDATE, { DEFAULT }, POLICY_ASK },
		{ "update_file", UPDATE, { AUTO }, POLICY_ALLOW },
		{ "update_file", UPDATE, { PLAN }, POLICY_DENY },
		{ "safe_patch", PATCH, { DEFAULT }, POLICY_ASK },
		{ "safe_patch", PATCH, { HEADLESS }, POLICY_DENY },
		{ "safe_patch", PATCH, { AUTO }, POLICY_ALLOW },
		{ "safe_patch", PATCH, { PLAN }, POLICY_DENY },
		{ "apply_changes", CHANGES, { DEFAULT }, POLICY_ASK },
		{ "apply_changes", CHANGES, { HEADLESS }, POLICY_DENY },
		{ "apply_changes", CHANGES, { AUTO, .headless = true }, POLICY_ALLOW },
		{ "apply_changes", CHANGES, { PLAN }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": []}", { HEADLESS }, POLICY_DENY },
		{ "run_shell_command", "{\"command\": \"make\"}", { DEFAULT }, POLICY_ASK },
		{ "run_shell_command", "{\"command\": \"ls\"}", { HEADLESS }, POLICY_DENY },
		{ "run_shell_command", "{\"command\": \"make\"}", { AUTO }, POLICY_ASK },
		{ "run_shell_command", "{\"command\": \"ls\"}", { PLAN }, POLICY_DENY },
		{ "run_shell_command", "{\"command\": \"make\"}", { YOLO }, POLICY_ALLOW },
		{ "write_background_input", "{\"pid\": 1, \"input\": \"x\"}", { DEFAULT },
		  POLICY_ASK },
		{ "write_background_input", "{\"pid\": 1, \"input\": \"x\"}", { HEADLESS },
		  POLICY_DENY },
		{ "kill_background_process", "{\"pid\": 1}", { HEADLESS }, POLICY_ALLOW },
		{ "web_fetch", "{\"prompt\": \"x\"}", { DEFAULT }, POLICY_ASK },
		{ "web_fetch", "{\"prompt\": \"x\"}", { HEADLESS }, POLICY_DENY },
		{ "web_fetch", "{\"prompt\": \"x\"}", { AUTO }, POLICY_ALLOW },
		{ "web_fetch", "{\"prompt\": \"x\"}", { PLAN }, POLICY_ASK },
		{ "save_memory", "{\"fact\": \"x\"}", { HEADLESS }, POLICY_DENY },
		{ "ask_user", "{}", { DEFAULT }, POLICY_ASK },
		{ "ask_user", "{}", { HEADLESS }, POLICY_DENY },
		{ "ask_user", "{}", { YOLO }, POLICY_ASK },
		{ "ask_user", "{}", { YOLO, .headless = true }, POLICY_DENY },
		{ "enter_plan_mode", "{}", { DEFAULT }, POLICY_ASK },
		{ "enter_plan_mode", "{}", { HEADLESS }, POLICY_ALLOW },
		{ "enter_plan_mode", "{}", { PLAN }, POLICY_DENY },
		{ "enter_plan_mode", "{}", { YOLO }, POLICY_DENY },
		{ "exit_plan_mode", "{}", { DEFAULT }, POLICY_DENY },
		{ "exit_plan_mode", "{}", { PLAN }, POLICY_ASK },
		{ "exit_plan_mode", "{}", { PLAN, .headless = true }, POLICY_ALLOW },
		{ "invoke_agent", "{\"agent_name\": \"x\"}", { HEADLESS }, POLICY_ALLOW },
		{ "invoke_agent", "{\"agent_name\": \"x\"}", { PLAN }, POLICY_DENY },
		{ "invoke_agent", "{\"agent_name\": \"cli_help\", \"prompt\": \"x\"}", { PLAN },
		  POLICY_ALLOW },
		{ "invoke_agent", "{\"agent_name\": \"x\", \"prompt\": \"\\\"agent_name\\\":"
		  "\\\"cli_help\\\"\"}", { PLAN }, POLICY_DENY },
		{ "discovered_tool_x", "{}", { DEFAULT }, POLICY_ASK },
		{ "discovered_tool_x", "{}", { HEADLESS }, POLICY_DENY },
		{ "discovered_tool_x", "{}", { YOLO }, POLICY_ALLOW },
		{ "mcp_s_t", "{}", { DEFAULT, .server = "s", .server_tool = "t" }, POLICY_ASK },
		{ "mcp_s_t", "{}", { HEADLESS, .server = "s", .server_tool = "t" }, POLICY_DENY },
		{ "mcp_s_t", "{}", { YOLO, .server = "s", .server_tool = "t" }, POLICY_ALLOW },
		{ "mcp_s_t", "{}", { PLAN, .server = "s", .server_tool = "t" }, POLICY_DENY },
		{ "mcp_s_t", "{}", { PLAN, .server = "s", .server_tool = "t",
		  .annotations = "{\"readOnlyHint\": true}" }, POLICY_ASK },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

static void plans_may_be_written_in_plan_mode(void **state)
{
	static const struct row rows[] = {
		{ "write_file", "{\"file_path\": \"" PLAN_FILE "\", \"content\": \"x\"}", { PLAN },
		  POLICY_ALLOW },
		{ "safe_patch", "{\"file_path\": \"" PLAN_FILE "\", \"unified_diff\": \"x\"}",
		  { PLAN }, POLICY_ALLOW },
		{ "update_file", "{\"file_path\": \".gemini/tmp/p/plans/a.md\", \"old_content\": "
		  "\"a\", \"new_content\": \"b\"}", { PLAN }, POLICY_ALLOW },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"create\", \"file_path\": \""
		  PLAN_FILE "\", \"content\": \"x\"}]}", { PLAN }, POLICY_ALLOW },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"create\", \"file_path\": \""
		  PLAN_FILE "\", \"content\": \"x\"}, {\"kind\": \"create\", \"file_path\": "
		  "\"a.c\", \"content\": \"x\"}]}", { PLAN }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"move\", \"file_path\": \""
		  PLAN_FILE "\", \"new_path\": \"a.c\"}]}", { PLAN }, POLICY_DENY },
		{ "write_file", "{\"file_path\": \"/w/.gemini/tmp/p/plans/../../../a.md\", "
		  "\"content\": \"x\"}", { PLAN }, POLICY_DENY },
		{ "write_file", "{\"file_path\": \"/w/../x/.gemini/tmp/p/plans/a.md\", "
		  "\"content\": \"x\"}", { PLAN }, POLICY_DENY },
		{ "write_file", "{\"file_path\": \"a.c\", \"content\": \"\\\"file_path\\\":\\\""
		  PLAN_FILE "\\\"\"}", { PLAN }, POLICY_DENY },
		{ "write_file", "{\"file_path\": \"a.c\", \"content\": \"\\u0000\\\"file_path"
		  "\\\":\\\"" PLAN_FILE "\\\"\\u0000\"}", { PLAN }, POLICY_DENY },
		{ "write_file", "{\"file_path\": \"/w/.gemini/tmp/p/plans/a.sh\", \"content\": "
		  "\"x\"}", { PLAN }, POLICY_DENY },
	};
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

/* ---- names ------------------------------------------------------------------------------ */

/* What no other rule decides, a rule and a setting deny by every name in the table. */
static void every_name_of_a_tool_denies_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_info_count(); i++) {
		const struct tool_info *names = &tool_infos[i];

		if (strcmp(names->name, "invoke_agent") == 0)
			continue;
		for (const char *const *alias = names->aliases; *alias; alias++) {
			_cleanup_free_ char *text = mem_printf(
				"[[rule]]\ntoolName = \"%s\"\ndecision = \"deny\"\npriority = 1\n",
				*alias);
			const struct row row = { names->name, "{}", { YOLO }, POLICY_DENY };
			struct policy *policy = policy_of(text, POLICY_USER);
			json_auto_t *tools = json_pack("{s:[s]}", "exclude", *alias);

			check_rows(policy, &row, 1);
			policy_free(policy);
			policy = policy_of(NULL, POLICY_DEFAULT);
			policy_add_settings(policy, tools, NULL, NULL);
			check_rows(policy, &row, 1);
			policy_free(policy);
		}
	}
}

static void what_denies_an_edit_denies_every_tool_that_does_it(void **state)
{
	static const char *const both[] = {
		"[[rule]]\ntoolName = [\"replace\", \"write_file\"]\n"
		"decision = \"deny\"\npriority = 100\n",
		"[[rule]]\ntoolName = [\"EditTool\", \"WriteFileTool\"]\n"
		"decision = \"deny\"\npriority = 100\n",
		/* Other classes, and what other agents call it. */
		"[[rule]]\ntoolName = [\"SmartEditTool\", \"WriteFileTool\"]\n"
		"decision = \"deny\"\npriority = 100\n",
		"[[rule]]\ntoolName = [\"ReplaceTool\", \"Write\"]\n"
		"decision = \"deny\"\npriority = 100\n",
		"[[rule]]\ntoolName = [\"MultiEdit\", \"writeFile\"]\n"
		"decision = \"deny\"\npriority = 100\n",
		"[[rule]]\ntoolName = \"Edit\"\ndecision = \"deny\"\npriority = 100\n",
		"[[rule]]\ntoolName = \"apply_patch\"\ndecision = \"deny\"\npriority = 100\n",
	};
	static const struct row rows[] = {
		{ "update_file", UPDATE, { YOLO }, POLICY_DENY },
		{ "safe_patch", PATCH, { YOLO }, POLICY_DENY },
		{ "write_file", WRITE, { YOLO }, POLICY_DENY },
		{ "apply_changes", CHANGES, { YOLO }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"patch\", \"file_path\": \"a\", "
		  "\"unified_diff\": \"x\"}]}", { YOLO }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"write\", \"file_path\": \"a\", "
		  "\"content\": \"x\"}]}", { YOLO }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"update\", \"file_path\": \"a\", "
		  "\"old_content\": \"x\", \"new_content\": \"\"}]}", { YOLO }, POLICY_DENY },
		{ "read_file", "{\"file_path\": \"a\"}", { YOLO }, POLICY_ALLOW },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		struct policy *policy = policy_of(both[i], POLICY_USER);

		check_rows(policy, rows, ARRAY_LEN(rows));
		policy_free(policy);
	}
}

static void what_allows_one_edit_allows_no_other(void **state)
{
	static const struct row rows[] = {
		{ "update_file", UPDATE, { HEADLESS }, POLICY_ALLOW },
		{ "safe_patch", PATCH, { HEADLESS }, POLICY_ALLOW },
		{ "write_file", WRITE, { HEADLESS }, POLICY_DENY },
		{ "apply_changes", CHANGES, { HEADLESS }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"write\", \"file_path\": \"a\", "
		  "\"content\": \"x\"}]}", { HEADLESS }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"patch\", \"file_path\": \"a\", "
		  "\"unified_diff\": \"x\"}]}", { HEADLESS }, POLICY_ALLOW },
	};
	struct policy *policy = policy_of("[[rule]]\ntoolName = \"replace\"\n"
	                                  "decision = \"allow\"\npriority = 1\n", POLICY_USER);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

static void a_rule_for_one_of_hasps_own_tools_is_for_it_alone(void **state)
{
	static const struct row rows[] = {
		{ "update_file", UPDATE, { YOLO }, POLICY_DENY },
		{ "safe_patch", PATCH, { YOLO }, POLICY_ALLOW },
		{ "search_files", "{\"pattern\": \"x\"}", { YOLO }, POLICY_DENY },
		{ "apply_changes", CHANGES, { YOLO }, POLICY_ALLOW },
	};
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = [\"update_file\", \"search_file_content\"]\n"
		"decision = \"deny\"\npriority = 1\n", POLICY_USER);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

static void patterns_written_for_gemini_clis_arguments_count(void **state)
{
	static const struct row rows[] = {
		{ "update_file", "{\"file_path\": \"a\", \"old_content\": \"x\", \"new_content\": "
		  "\"token\"}", { YOLO }, POLICY_DENY },
		{ "update_file", UPDATE, { YOLO }, POLICY_ALLOW },
		{ "safe_patch", "{\"file_path\": \"a\", \"unified_diff\": \"@@ -1 +1 @@\\n-x\\n"
		  "+my token\\n\"}", { YOLO }, POLICY_DENY },
		{ "safe_patch", "{\"file_path\": \"a\", \"unified_diff\": \"@@ -1 +1 @@\\n"
		  "-my token\\n+x\\n\"}", { YOLO }, POLICY_ALLOW },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"delete\", \"file_path\": \"b\"}, "
		  "{\"kind\": \"patch\", \"file_path\": \"a\", \"unified_diff\": \"+token\"}]}",
		  { YOLO }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"delete\", \"file_path\": "
		  "\"secret/b\"}]}", { YOLO }, POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"move\", \"file_path\": \"b\", "
		  "\"new_path\": \"secret/b\"}]}", { YOLO }, POLICY_DENY },
		{ "read_many_files", "{\"paths\": [\"a\", \".env\"]}", { YOLO }, POLICY_DENY },
		{ "read_many_files", "{\"paths\": [\"a\", \"b\"]}", { YOLO }, POLICY_ALLOW },
		/* Each of its files is judged when it is opened:
		 * test/headless/test_path_rules.py. */
		{ "read_many_files", "{\"include\": [\"**/*\"]}", { YOLO }, POLICY_ALLOW },
		{ "glob", "{\"patterns\": [\"x\"], \"path\": \"secret\"}", { YOLO }, POLICY_DENY },
		{ "glob", "{\"patterns\": [\"x\", \"key\"]}", { YOLO }, POLICY_DENY },
	};
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = \"replace\"\ndecision = \"deny\"\npriority = 1\n"
		"argsPattern = '\"new_string\":\"[^\"]*token'\n"
		"[[rule]]\ntoolName = [\"replace\", \"write_file\"]\ndecision = \"deny\"\n"
		"priority = 1\nargsPattern = '\\x00\"file_path\":\"secret/'\n"
		"[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 1\n"
		"argsPattern = '\\.env'\n"
		"[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n"
		"argsPattern = '\"dir_path\":\"secret\"|\"pattern\":\"key\"'\n", POLICY_USER);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

static void what_is_allowed_for_a_part_is_not_allowed_for_the_rest(void **state)
{
	static const struct row rows[] = {
		{ "apply_changes", "{\"changes\": [{\"kind\": \"write\", \"file_path\": "
		  "\"docs/a\", \"content\": \"\"}]}", { HEADLESS }, POLICY_ALLOW },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"write\", \"file_path\": "
		  "\"docs/a\", \"content\": \"\"}, {\"kind\": \"write\", \"file_path\": "
		  "\"src/a\", \"content\": \"\"}]}", { HEADLESS }, POLICY_DENY },
	};
	static const char *const names[] = { "[\"replace\", \"write_file\"]", "\"apply_changes\"" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_free_ char *text = mem_printf(
			"[[rule]]\ntoolName = %s\ndecision = \"allow\"\npriority = 1\n"
			"argsPattern = '\"file_path\":\"docs/'\n", names[i]);
		struct policy *policy = policy_of(text, POLICY_USER);

		check_rows(policy, rows, ARRAY_LEN(rows));
		policy_free(policy);
	}
}

static void servers_with_underscores_are_told_apart(void **state)
{
	static const struct row rows[] = {
		{ "mcp_my_db_query", "{}", { HEADLESS, .server = "my_db",
		  .server_tool = "query" }, POLICY_ALLOW },
		{ "mcp_my_db_query", "{}", { HEADLESS, .server = "my",
		  .server_tool = "db_query" }, POLICY_DENY },
		{ "mcp_files_read", "{}", { HEADLESS, .server = "files",
		  .server_tool = "read" }, POLICY_ALLOW },
		{ "mcp_files_read", "{}", { HEADLESS, .server = "other",
		  .server_tool = "read" }, POLICY_DENY },
		{ "mcp_gh_delete_repo", "{}", { YOLO, .server = "gh",
		  .server_tool = "delete_repo" }, POLICY_DENY },
		{ "mcp_gh_list", "{}", { YOLO, .server = "gh", .server_tool = "list" },
		  POLICY_ALLOW },
		/* A built-in name is no server's, and a server's tool no built-in one. */
		{ "mcp_my_db_query", "{}", { HEADLESS }, POLICY_DENY },
		{ "mcp_x_read_file", "{}", { HEADLESS, .server = "x",
		  .server_tool = "read_file" }, POLICY_DENY },
	};
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = \"mcp_my_db_*\"\ndecision = \"allow\"\npriority = 1\n"
		"[[rule]]\ntoolName = \"read\"\nmcpName = \"files\"\ndecision = \"allow\"\n"
		"priority = 1\n"
		"[[rule]]\ntoolName = \"mcp_gh_delete_*\"\ndecision = \"deny\"\npriority = 1\n",
		POLICY_USER);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

/* Names that are too long, have characters that no provider takes, or are another tool's. */
static void tools_under_other_names_are_what_rules_name(void **state)
{
#define LONG "delete_everything_that_there_is_in_this_organisation/and_all_branches"
	static const struct row rows[] = {
		{ "mcp_gh_delete_everything_that__0123abcd_tion_and_all_branches", "{}",
		  { YOLO, .server = "gh", .server_tool = LONG }, POLICY_DENY },
		{ "mcp_gl_delete_everything_that__0123abcd_tion_and_all_branches", "{}",
		  { YOLO, .server = "gl", .server_tool = LONG }, POLICY_DENY },
		{ "mcp_gg_delete_everything_that__0123abcd_tion_and_all_branches", "{}",
		  { YOLO, .server = "gg", .server_tool = LONG }, POLICY_DENY },
		{ "mcp_gx_delete_everything_that__0123abcd_tion_and_all_branches", "{}",
		  { YOLO, .server = "gx", .server_tool = LONG }, POLICY_ALLOW },
		{ "mcp_s_a_b_0123abcd", "{}", { YOLO, .server = "s", .server_tool = "a b" },
		  POLICY_DENY },
		{ "mcp_s_a_b_0123abcd", "{}", { YOLO, .server = "s", .server_tool = "a c" },
		  POLICY_ALLOW },
		/* "mcp_x_y_z" is the tool z of the server x_y, or y_z of x. */
		{ "mcp_x_y_z", "{}", { HEADLESS, .server = "x", .server_tool = "y_z" },
		  POLICY_ALLOW },
		{ "mcp_x_y_z_0123abcd", "{}", { HEADLESS, .server = "x_y", .server_tool = "z" },
		  POLICY_DENY },
	};
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = [\"mcp_gh_delete_everything_that_there_is*\",\n"
		"\"mcp_gl_delete_everything_that_there_is_in_this_organisation_and_all_branches\","
		"\n\"mcp_gg_delete_everything_that_____organisation_and_all_branches\",\n"
		"\"mcp_s_a_b\"]\ndecision = \"deny\"\npriority = 1\n"
		"[[rule]]\ntoolName = \"mcp_x_y_z\"\ndecision = \"allow\"\npriority = 1\n",
		POLICY_USER);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
#undef LONG
}

/* ---- tiers, conditions ---------------------------------------------------------------------- */

static void add(struct policy *policy, enum policy_tier tier, const char *text)
{
	json_auto_t *problems = load_problems(policy, tier, text, NULL);

	assert_int_equal(json_array_size(problems), 0);
}

static void the_higher_tier_wins_and_then_the_higher_priority(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	const struct setting setting = { DEFAULT };
	struct policy_verdict verdict;

	(void)state;
	add(policy, POLICY_WORKSPACE, "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\n"
	                              "priority = 999\n");
	add(policy, POLICY_USER, "[[rule]]\ntoolName = \"glob\"\ndecision = \"ask_user\"\n"
	                         "priority = 5\n[[rule]]\ntoolName = \"glob\"\n"
	                         "decision = \"allow\"\npriority = 6\n");
	decide(policy, "glob", "{}", &setting, &verdict);
	assert_int_equal(verdict.decision, POLICY_ALLOW);
	assert_true(verdict.priority > 4.005 && verdict.priority < 4.007);
	assert_non_null(strstr(verdict.rule, ":5"));
	policy_verdict_release(&verdict);
	add(policy, POLICY_ADMIN, "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 0\n"
	                          "denyMessage = \"Not here.\"\n");
	decide(policy, "glob", "{}", &setting, &verdict);
	assert_int_equal(verdict.decision, POLICY_DENY);
	assert_string_equal(verdict.message, "Not here.");
	policy_verdict_release(&verdict);
	policy_free(policy);
}

static void extensions_cannot_allow(void **state)
{
	static const struct row rows[] = {
		{ "write_file", WRITE, { DEFAULT }, POLICY_ASK },
		{ "glob", "{}", { DEFAULT }, POLICY_DENY },
		{ "glob", "{}", { YOLO }, POLICY_ALLOW },
		{ "read_file", "{}", { YOLO }, POLICY_ALLOW },
	};
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 999\n"
		"[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 9\n"
		"modes = [\"default\", \"yolo\"]\n"
		"[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 9\n"
		"modes = [\"yolo\"]\n", POLICY_EXTENSION);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

static void rules_have_conditions(void **state)
{
	static const struct row rows[] = {
		{ "glob", "{}", { DEFAULT, .subagent = "helper" }, POLICY_DENY },
		{ "glob", "{}", { DEFAULT, .subagent = "other" }, POLICY_ALLOW },
		{ "glob", "{}", { DEFAULT }, POLICY_ALLOW },
		{ "list_directory", "{}", { HEADLESS }, POLICY_DENY },
		{ "list_directory", "{}", { DEFAULT }, POLICY_ALLOW },
		{ "read_file", "{}", { AUTO }, POLICY_DENY },
		{ "read_file", "{}", { DEFAULT }, POLICY_ALLOW },
		{ "mcp_a_b", "{}", { YOLO, .server = "a", .server_tool = "b",
		  .annotations = "{\"destructiveHint\": true, \"x\": [1]}" }, POLICY_DENY },
		{ "mcp_a_b", "{}", { YOLO, .server = "a", .server_tool = "b",
		  .annotations = "{\"destructiveHint\": false, \"x\": [1]}" }, POLICY_ALLOW },
		{ "mcp_a_b", "{}", { YOLO, .server = "a", .server_tool = "b" }, POLICY_ALLOW },
		{ "invoke_agent", "{\"agent_name\": \"wild\"}", { YOLO }, POLICY_DENY },
		{ "invoke_agent", "{\"agent_name\": \"tame\"}", { YOLO }, POLICY_ALLOW },
	};
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\npriority = 1\n"
		"subagent = \"helper\"\n"
		"[[rule]]\ntoolName = \"list_directory\"\ndecision = \"deny\"\npriority = 1\n"
		"interactive = false\n"
		"[[rule]]\ntoolName = \"read_file\"\ndecision = \"deny\"\npriority = 1\n"
		"modes = [\"autoEdit\"]\n"
		"[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 1\n"
		"toolAnnotations = { destructiveHint = true, x = [1] }\n"
		"[[rule]]\ntoolName = \"wild\"\ndecision = \"deny\"\npriority = 1\n", POLICY_USER);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

/* ---- settings -------------------------------------------------------------------------------- */

static struct policy *policy_with(const char *tools, const char *mcp, const char *servers)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	json_auto_t *a = json_loads(tools, 0, NULL), *b = json_loads(mcp, 0, NULL);
	json_auto_t *c = json_loads(servers, 0, NULL);

	policy_add_settings(policy, a, b, c);
	return policy;
}

/* What was trusted is asked about, what was excluded is trusted; tools' rules stay. */
static void servers_renewed(struct policy *policy)
{
	json_auto_t *mcp = json_loads("{\"excluded\": [\"ok\"]}", 0, NULL);
	json_auto_t *servers = json_loads("{\"bad\": {\"trust\": true}}", 0, NULL);

	policy_renew_servers(policy, mcp, servers);
	check_rows(policy, (const struct row[]){
		{ "mcp_bad_x", "{}", { HEADLESS, .server = "bad", .server_tool = "x" },
		  POLICY_ALLOW },
		{ "mcp_tr_x", "{}", { HEADLESS, .server = "tr", .server_tool = "x" }, POLICY_DENY },
		{ "mcp_ok_x", "{}", { YOLO, .server = "ok", .server_tool = "x" }, POLICY_DENY },
		{ "write_file", WRITE, { HEADLESS }, POLICY_ALLOW },
		{ "glob", "{}", { YOLO }, POLICY_DENY },
	}, 5);
}

static void settings_are_rules(void **state)
{
	static const struct row rows[] = {
		{ "write_file", WRITE, { HEADLESS }, POLICY_ALLOW },
		{ "glob", "{}", { YOLO }, POLICY_DENY },
		{ "read_file", "{}", { YOLO }, POLICY_ASK },
		{ "run_shell_command", "{\"command\": \"git log\"}", { HEADLESS }, POLICY_ALLOW },
		{ "run_shell_command", "{\"command\": \"git log; make\"}", { YOLO }, POLICY_ALLOW },
		{ "run_shell_command", "{\"command\": \"git log; make\"}", { .mode = MODE_DEFAULT },
		  POLICY_ASK },
		{ "run_shell_command", "{\"command\": \"git push\"}", { HEADLESS }, POLICY_DENY },
		{ "mcp_bad_x", "{}", { YOLO, .server = "bad", .server_tool = "x" }, POLICY_DENY },
		{ "mcp_tr_x", "{}", { HEADLESS, .server = "tr", .server_tool = "x" },
		  POLICY_ALLOW },
		{ "mcp_tr_x", "{}", { PLAN, .server = "tr", .server_tool = "x" }, POLICY_DENY },
		{ "mcp_ok_x", "{}", { HEADLESS, .server = "ok", .server_tool = "x" },
		  POLICY_ALLOW },
	};
	struct policy *policy = policy_with(
		"{\"allowed\": [\"write_file\", \"run_shell_command(git)\"], \"exclude\": "
		"[\"GlobTool\", \"ShellTool(git push)\"], \"confirmationRequired\": "
		"[\"ReadFileTool\"]}",
		"{\"excluded\": [\"bad\"], \"allowed\": [\"ok\"]}",
		"{\"tr\": {\"trust\": true}, \"no\": {\"trust\": false}}");

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	servers_renewed(policy);
	policy_free(policy);
	policy = policy_with("{\"core\": [\"read_file\", \"ShellTool(ls)\"]}", "{}", "{}");
	check_rows(policy, (const struct row[]){
		{ "read_file", "{}", { HEADLESS }, POLICY_ALLOW },
		{ "glob", "{}", { YOLO }, POLICY_DENY },
		{ "run_shell_command", "{\"command\": \"ls -l\"}", { HEADLESS }, POLICY_ALLOW },
		{ "run_shell_command", "{\"command\": \"pwd\"}", { HEADLESS }, POLICY_DENY },
	}, 4);
	policy_free(policy);
	policy_add_settings(policy = policy_of(NULL, POLICY_DEFAULT), NULL, NULL, NULL);
	policy_free(policy);
}

/* ---- what is not offered --------------------------------------------------------------------- */

static bool hides(const struct policy *policy, const char *tool, bool interactive)
{
	const struct policy_call call = {
		.tool = tool, .kind = "other", .mode = MODE_DEFAULT, .interactive = interactive,
		.trusted = true,
	};

	return policy_hides(policy, &call);
}

static void tools_that_are_always_denied_are_hidden(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);

	(void)state;
	assert_false(hides(policy, "read_file", false));
	assert_true(hides(policy, "write_file", false));
	assert_false(hides(policy, "write_file", true));
	assert_true(hides(policy, "run_shell_command", false));
	assert_true(hides(policy, "apply_changes", false));
	assert_false(hides(policy, "apply_changes", true));
	assert_true(hides(policy, "safe_patch", false));
	policy_free(policy);
	policy = policy_of("[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\n"
	                   "commandPrefix = \"git\"\npriority = 1\n"
	                   "[[rule]]\ntoolName = \"glob\"\ndecision = \"deny\"\n"
	                   "argsPattern = \"x\"\npriority = 1\n"
	                   "[[rule]]\ntoolName = \"write_file\"\ndecision = \"deny\"\n"
	                   "priority = 1\n", POLICY_USER);
	assert_false(hides(policy, "run_shell_command", false));
	assert_false(hides(policy, "glob", true));
	assert_true(hides(policy, "write_file", true));
	assert_true(hides(policy, "apply_changes", true));
	assert_false(hides(policy, "safe_patch", true));
	policy_free(policy);
}

/* ---- checkers -------------------------------------------------------------------------------- */

static void allowed_path_checks_paths(void **state)
{
	char folder[] = "/tmp/hasp-roots-XXXXXX";
	_cleanup_free_ char *link = NULL;
	const char *roots[] = { NULL, NULL };
	const struct setting here = { AUTO, .roots = roots };
	const struct setting served = { YOLO, .server = "s", .server_tool = "t", .roots = roots };
	struct policy *policy = policy_of(
		"[[safety_checker]]\ntoolName = \"mcp_s_*\"\n[safety_checker.checker]\n"
		"type = \"in-process\"\nname = \"allowed-path\"\n[safety_checker.checker.config]\n"
		"included_args = [\"where\"]\nexcluded_args = [\"file_type\"]\n", POLICY_USER);
	const struct row rows[] = {
		{ "write_file", "{\"file_path\": \"a/b\", \"content\": \"\"}", here, POLICY_ALLOW },
		{ "write_file", "{\"file_path\": \"../x\", \"content\": \"\"}", here, POLICY_DENY },
		{ "write_file", "{\"file_path\": \"/etc/x\", \"content\": \"\"}", here,
		  POLICY_DENY },
		{ "safe_patch", "{\"file_path\": \"out/x\", \"unified_diff\": \"\"}", here,
		  POLICY_DENY },
		{ "apply_changes", "{\"changes\": [{\"kind\": \"delete\", \"file_path\": "
		  "\"/etc/x\"}]}", here, POLICY_DENY },
		{ "mcp_s_t", "{\"where\": \"/etc\"}", served, POLICY_DENY },
		{ "mcp_s_t", "{\"file_type\": \"/etc\", \"text\": \"/etc\"}", served,
		  POLICY_ALLOW },
		{ "mcp_s_t", "{\"deep\": {\"paths\": [\"a\", \"a/../../b\"]}}", served,
		  POLICY_DENY },
		{ "mcp_s_t", "{\"source\": \"a\", \"destination\": \"a/../b\"}", served,
		  POLICY_ALLOW },
	};

	(void)state;
	assert_non_null(mkdtemp(folder));
	roots[0] = folder;
	link = mem_printf("%s/out", folder);
	assert_int_equal(symlink("/usr", link), 0);
	check_rows(policy, rows, ARRAY_LEN(rows));
	unlink(link);
	rmdir(folder);
	policy_free(policy);
}

static void unsupported_checkers_ask(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_DEFAULT);
	json_auto_t *problems = load_problems(
		policy, POLICY_USER,
		"[[safety_checker]]\ntoolName = \"glob\"\npriority = 1\n"
		"checker = { type = \"external\", name = \"mine\" }\n", NULL);

	(void)state;
	assert_int_equal(json_array_size(problems), 1);
	check_rows(policy, (const struct row[]){
		{ "glob", "{}", { YOLO }, POLICY_ASK },
		{ "glob", "{}", { YOLO, .headless = true }, POLICY_DENY },
		{ "read_file", "{}", { YOLO }, POLICY_ALLOW },
	}, 3);
	policy_free(policy);
}

static void the_words_are_gemini_clis(void **state)
{
	enum approval_mode mode;

	(void)state;
	assert_true(policy_mode_parse("auto_edit", &mode) && mode == MODE_AUTO_EDIT);
	assert_true(policy_mode_parse("autoEdit", &mode) && mode == MODE_AUTO_EDIT);
	assert_true(policy_mode_parse("accepting_edits", &mode) && mode == MODE_AUTO_EDIT);
	assert_false(policy_mode_parse("", &mode));
	assert_string_equal(policy_decision_name(POLICY_ASK), "ask_user");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_are_gemini_clis),
		cmocka_unit_test(plans_may_be_written_in_plan_mode),
		cmocka_unit_test(every_name_of_a_tool_denies_it),
		cmocka_unit_test(what_denies_an_edit_denies_every_tool_that_does_it),
		cmocka_unit_test(what_allows_one_edit_allows_no_other),
		cmocka_unit_test(a_rule_for_one_of_hasps_own_tools_is_for_it_alone),
		cmocka_unit_test(patterns_written_for_gemini_clis_arguments_count),
		cmocka_unit_test(what_is_allowed_for_a_part_is_not_allowed_for_the_rest),
		cmocka_unit_test(servers_with_underscores_are_told_apart),
		cmocka_unit_test(tools_under_other_names_are_what_rules_name),
		cmocka_unit_test(the_higher_tier_wins_and_then_the_higher_priority),
		cmocka_unit_test(extensions_cannot_allow),
		cmocka_unit_test(rules_have_conditions),
		cmocka_unit_test(settings_are_rules),
		cmocka_unit_test(tools_that_are_always_denied_are_hidden),
		cmocka_unit_test(allowed_path_checks_paths),
		cmocka_unit_test(unsupported_checkers_ask),
		cmocka_unit_test(the_words_are_gemini_clis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
