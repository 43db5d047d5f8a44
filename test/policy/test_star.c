/* SPDX-License-Identifier: Apache-2.0 */
/* A rule for "*" is at least as strong as the same rule for any one name: for every tool that there
 * is, by every name that a rule can have, with each kind of condition. */
#include <string.h>

#include "base/mem.h"
#include "part.h"
#include "policy_fixture.h"
#include "tool/tool.h"

/* Calls: at least one of each tool (checked), and those that reach files by other words. */
static const struct subject {
	const char *tool, *arguments, *server, *server_tool;
} subjects[] = {
	{ "read_file", "{\"file_path\": \"a/.env\"}", NULL, NULL },
	{ "read_file", "{\"file_path\": \"docs/a.md\"}", NULL, NULL },
	{ "read_many_files", "{\"paths\": [\"a\", \"a/.env\"]}", NULL, NULL },
	{ "read_many_files", "{\"paths\": [\"a/**\"]}", NULL, NULL },
	{ "read_many_files", "{\"include\": [\"a/\", \".\"]}", NULL, NULL },
	{ "read_many_files", "{}", NULL, NULL },
	{ "search_files", "{\"pattern\": \"secret\", \"path\": \"a/.env\"}", NULL, NULL },
	{ "search_files", "{\"pattern\": \"x\", \"include\": [\".env\"]}", NULL, NULL },
	{ "glob", "{\"patterns\": [\"x\", \"a/.env\"]}", NULL, NULL },
	{ "glob", "{\"patterns\": [\"*\"], \"path\": \"docs/\"}", NULL, NULL },
	{ "list_directory", "{\"path\": \"docs/\"}", NULL, NULL },
	{ "write_file", "{\"file_path\": \"a/.env\", \"content\": \"secret\"}", NULL, NULL },
	{ "write_file", "{\"file_path\": \"docs/a\", \"content\": \"\"}", NULL, NULL },
	{ "update_file", "{\"file_path\": \"a/.env\", \"old_content\": \"x\", \"new_content\": "
	  "\"secret\"}", NULL, NULL },
	{ "safe_patch", "{\"file_path\": \"docs/a\", \"unified_diff\": \"@@ -1 +1 @@\\n-x\\n"
	  "+secret\\n\"}", NULL, NULL },
	{ "safe_patch", "{\"file_path\": \"a/.env\", \"unified_diff\": \"+x\\n\"}", NULL, NULL },
	{ "apply_changes", "{\"changes\": [{\"kind\": \"delete\", \"file_path\": \"a/.env\"}, "
	  "{\"kind\": \"write\", \"file_path\": \"docs/b\", \"content\": \"secret\"}]}", NULL, NULL },
	{ "apply_changes", "{\"changes\": [{\"kind\": \"move\", \"file_path\": \"b\", \"new_path\": "
	  "\"a/.env\"}, {\"kind\": \"patch\", \"file_path\": \"c\", \"unified_diff\": "
	  "\"-secret\"}]}", NULL, NULL },
	{ "apply_changes", "{\"changes\": [{\"kind\": \"update\", \"file_path\": \"a\", "
	  "\"old_content\": \"x\", \"new_content\": \"secret\"}]}", NULL, NULL },
	{ "query_data", "{\"file_path\": \"a/.env\", \"query\": \".secret\"}", NULL, NULL },
	{ "update_data", "{\"file_path\": \"a/.env\", \"edits\": [{\"op\": \"set\", \"path\": \".a\", "
	  "\"value\": \"secret\"}]}", NULL, NULL },
	{ "update_notebook", "{\"file_path\": \"docs/a.ipynb\", \"cells\": [{\"op\": \"insert\", "
	  "\"source\": \"secret\"}]}", NULL, NULL },
	{ "run_shell_command", "{\"command\": \"ls; cat a/.env | head\"}", NULL, NULL },
	{ "run_shell_command", "{\"command\": \"c''at a/.e\\\"nv\\\"\", \"description\": \"x\"}", NULL, NULL },
	{ "run_shell_command", "{\"command\": \"sh -c 'cat .env' > secret\"}", NULL, NULL },
	{ "run_shell_command", "{\"command\": \"git status\"}", NULL, NULL },
	{ "run_shell_command", "{}", NULL, NULL },
	{ "write_background_input", "{\"process_id\": 1, \"input\": \"cat .env\\n\"}", NULL, NULL },
	{ "list_background_processes", "{}", NULL, NULL },
	{ "read_background_output", "{\"process_id\": 1}", NULL, NULL },
	{ "kill_background_process", "{\"process_id\": 1}", NULL, NULL },
	{ "web_fetch", "{\"prompt\": \"secret of file:///a/.env\"}", NULL, NULL },
	{ "google_web_search", "{\"query\": \"secret\"}", NULL, NULL },
	{ "save_memory", "{\"fact\": \"secret\"}", NULL, NULL },
	{ "write_todos", "{\"todos\": []}", NULL, NULL },
	{ "ask_user", "{\"questions\": []}", NULL, NULL },
	{ "enter_plan_mode", "{}", NULL, NULL },
	{ "exit_plan_mode", "{\"plan\": \"secret\"}", NULL, NULL },
	{ "invoke_agent", "{\"agent_name\": \"cli_help\", \"prompt\": \"secret\"}", NULL, NULL },
	{ "discovered_tool_x", "{\"path\": \"a/.env\"}", NULL, NULL },
	{ "mcp_srv_get", "{\"path\": \"a/.env\"}", "srv", "get" },
	{ "mcp_my_db_get", "{\"q\": \"secret\"}", "my_db", "get" },
};

/* What a rule may say of arguments and circumstances, in TOML. */
static const char *const conditions[] = {
	"",
	"argsPattern = '\\.env'\n",
	"argsPattern = 'secret'\n",
	"argsPattern = '\\x00\"file_path\":\"(?:docs/|a/\\.env\"\\x00)'\n",
	"argsPattern = '\"(?:path|dir_path|pattern|paths)\"'\n",
	"argsPattern = '\"(?:old|new)_(?:string|content)\":\"'\n",
	"argsPattern = '\"command\":\"(?:cat|git)'\n",
	"modes = [\"yolo\"]\n",
	"interactive = true\n",
	"subagent = \"helper\"\n",
	"mcpName = \"srv\"\n",
	"mcpName = \"*\"\nargsPattern = '\\.env'\n",
	"toolAnnotations = { readOnlyHint = true }\n",
};

/* Before and behind the rule under test: permissions, which it has to be stronger than. */
static const char others[] =
	"[[rule]]\ntoolName = [\"replace\", \"write_file\", \"read_file\", \"run_shell_command\"]\n"
	"decision = \"allow\"\npriority = 500\nargsPattern = '\"file_path\":\"docs/'\n"
	"[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 2\n"
	"[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"allow\"\npriority = 600\n"
	"commandPrefix = [\"git\", \"ls\"]\n";

static const char *const decisions[] = { "deny", "ask_user" };
static const int priorities[] = { 1, 900 };
static const struct setting settings[] = {
	{ .mode = MODE_YOLO }, { .mode = MODE_DEFAULT }, { .mode = MODE_AUTO_EDIT, .subagent = "helper" },
	{ .mode = MODE_PLAN, .headless = true },
};

/* What is new to sanitizers is in a sample. */
#ifndef __has_feature
#define __has_feature(name) 0
#endif
enum { CONDITIONS_STEP = __has_feature(address_sanitizer) ? 4 : 1 };

/* ---- names ------------------------------------------------------------------------------ */

enum { NAMES_MAX = 256 };

static size_t add_name(const char **names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return count;
	assert_true(count < NAMES_MAX);
	names[count] = name;
	return count + 1;
}

/* Of all tools, by all words for them. */
static size_t all_names(const char **names)
{
	static const char *const more[] = {
		"replace", "edit", "EditTool", "Edit", "WriteFileTool", "ReadFileTool", "ReadManyFilesTool",
		"GrepTool", "RipGrepTool", "GlobTool", "LSTool", "ShellTool", "shell", "bash",
		"write_stdin", "cli_help", "get", "mcp_*", "mcp_srv_*", "mcp_my_db_*", "mcp_srv_get",
		"mcp_srv_g*", "discovered_tool_*", "discovered_tool_x", "read_*",
	};
	size_t count = 0;

	for (size_t i = 0; i < tool_count(); i++) {
		count = add_name(names, count, tool_at(i)->name);
		for (const char *const *other = tool_aliases(tool_at(i)); other && *other; other++)
			count = add_name(names, count, *other);
	}
	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		count = add_name(names, count, subjects[i].tool);
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		count = add_name(names, count, more[i]);
	return count;
}

static void every_tool_is_a_subject(void **state)
{
	(void)state;
	for (size_t i = 0; i < tool_count(); i++) {
		bool found = false;

		for (size_t k = 0; k < ARRAY_LEN(subjects) && !found; k++)
			found = strcmp(subjects[k].tool, tool_at(i)->name) == 0;
		if (!found)
			fail_msg("%s needs a row in this test", tool_at(i)->name);
	}
}

/* ---- the property ------------------------------------------------------------------------- */

static char *rule_text(const char *name, const char *condition, const char *decision, int priority)
{
	return mem_printf("[[rule]]\ntoolName = \"%s\"\ndecision = \"%s\"\npriority = %d\n%s%s",
	                  name, decision, priority, condition, others);
}

/* Rules that cannot be (a warning about a name that is like another is fine) have no strength. */
static struct policy *load(const char *text, enum policy_tier tier)
{
	struct policy *policy = policy_new();
	json_t *problems;
	bool well = false;

	policy_add_defaults(policy);
	problems = load_problems(policy, tier, text, &well);
	json_decref(problems);
	assert_true(well);
	return policy;
}

struct strength {
	enum policy_decision decision;
	bool judges, hides;
};

static struct strength strength_of(const struct policy *policy, const struct subject *subject,
                                   const struct setting *setting)
{
	json_error_t error;
	json_auto_t *arguments = json_loads(subject->arguments, 0, &error);
	json_auto_t *annotations = json_pack("{s:b}", "readOnlyHint", 1);
	const struct policy_call call = {
		.tool = subject->tool, .server = subject->server, .server_tool = subject->server_tool,
		.kind = "other", .arguments = arguments, .mode = setting->mode,
		.subagent = setting->subagent, .interactive = !setting->headless, .trusted = true,
		.annotations = subject->server ? annotations : NULL,
	};
	struct policy_verdict verdict;
	struct strength strength;

	assert_non_null(arguments);
	policy_decide(policy, &call, &verdict);
	strength = (struct strength){ verdict.decision, policy_judges_files(policy, &call),
		                      policy_hides(policy, &call) };
	policy_verdict_release(&verdict);
	return strength;
}

/* Of all subjects in all settings. */
static size_t strengths_of(const struct policy *policy, struct strength *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(subjects); i++)
		for (size_t k = 0; k < ARRAY_LEN(settings); k++)
			ret[count++] = strength_of(policy, &subjects[i], &settings[k]);
	return count;
}

static void check_one(const char *name, const char *condition, const char *decision, int priority,
                      enum policy_tier tier, const struct strength *star)
{
	_cleanup_free_ char *text = rule_text(name, condition, decision, priority);
	struct strength named[ARRAY_LEN(subjects) * ARRAY_LEN(settings)];
	struct policy *policy = load(text, tier);
	size_t count = strengths_of(policy, named);

	for (size_t i = 0; i < count; i++)
		if (star[i].decision < named[i].decision || star[i].judges < named[i].judges ||
		    star[i].hides < named[i].hides)
			fail_msg("%s %s: %s by a rule for %s, but only %s by the same rule for *\n%s",
			         subjects[i / ARRAY_LEN(settings)].tool,
			         subjects[i / ARRAY_LEN(settings)].arguments,
			         policy_decision_name(named[i].decision), name,
			         policy_decision_name(star[i].decision), text);
	policy_free(policy);
}

static void check_condition(const char *condition, enum policy_tier tier)
{
	const char *names[NAMES_MAX];
	const size_t count = all_names(names);

	for (size_t d = 0; d < ARRAY_LEN(decisions); d++)
		for (size_t p = 0; p < ARRAY_LEN(priorities); p++) {
			_cleanup_free_ char *text = rule_text("*", condition, decisions[d],
			                                      priorities[p]);
			struct strength star[ARRAY_LEN(subjects) * ARRAY_LEN(settings)];
			struct policy *policy = load(text, tier);

			strengths_of(policy, star);
			policy_free(policy);
			for (size_t i = 0; i < count; i++)
				check_one(names[i], condition, decisions[d], priorities[p], tier,
				          star);
		}
}

static void a_rule_for_any_tool_is_as_strong_as_one_for_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(conditions); i += CONDITIONS_STEP * part_step(3))
		check_condition(conditions[i], i % 2 ? POLICY_USER : POLICY_ADMIN);
}

/* They are about commands; a file of the user's that says otherwise is not silently weaker. */
static void prefixes_for_any_tool_are_a_problem(void **state)
{
	static const char *const texts[] = { "commandPrefix = \"rm\"\n", "commandRegex = \"rm\"\n" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		_cleanup_free_ char *text = rule_text("*", texts[i], "deny", 1);
		struct policy *policy = policy_new();
		bool well = true;
		json_t *problems = load_problems(policy, POLICY_USER, text, &well);

		assert_int_equal(json_array_size(problems), 1);
		assert_false(well);
		json_decref(problems);
		policy_free(policy);
	}
}

/* ---- one file in several spellings ----------------------------------------------------------- */

static enum policy_decision decide_spelled(const struct policy *policy, const char *tool,
                                           const char *relative, const char *absolute)
{
	json_auto_t *one = json_pack("{s:s}", "file_path", relative);
	json_auto_t *two = json_pack("{s:s}", "file_path", absolute);
	const struct policy_call calls[] = {
		{ .tool = tool, .kind = "read", .arguments = one, .mode = MODE_DEFAULT, .interactive = true },
		{ .tool = tool, .kind = "read", .arguments = two, .mode = MODE_DEFAULT, .interactive = true },
	};
	struct policy_verdict verdict;
	enum policy_decision decision;

	policy_decide_spelled(policy, calls, 2, &verdict);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	return decision;
}

static void each_rule_is_met_by_any_spelling(void **state)
{
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 3\n"
		"argsPattern = '\"file_path\":\"/w/vault/'\n"
		"[[rule]]\ntoolName = \"read_file\"\ndecision = \"allow\"\npriority = 2\n"
		"argsPattern = '\"file_path\":\"docs/'\n"
		"[[rule]]\ntoolName = \"read_file\"\ndecision = \"ask_user\"\npriority = 1\n",
		POLICY_USER);

	(void)state;
	assert_int_equal(decide_spelled(policy, "read_file", "docs/a", "/w/docs/a"), POLICY_ALLOW);
	assert_int_equal(decide_spelled(policy, "read_file", "vault/a", "/w/vault/a"), POLICY_DENY);
	assert_int_equal(decide_spelled(policy, "glob", "vault/a", "/w/vault/a"), POLICY_DENY);
	assert_int_equal(decide_spelled(policy, "read_file", "a", "/w/a"), POLICY_ASK);
	policy_free(policy);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_tool_is_a_subject),
		cmocka_unit_test(a_rule_for_any_tool_is_as_strong_as_one_for_each),
		cmocka_unit_test(prefixes_for_any_tool_are_a_problem),
		cmocka_unit_test(each_rule_is_met_by_any_spelling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
