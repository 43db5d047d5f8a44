/* SPDX-License-Identifier: Apache-2.0 */
/* What a caller's task may do: rules that name it, the user's rules that deny, and reading. */
#include "policy_fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/tools.h"

#define DEFAULT .mode = MODE_DEFAULT

static const char *const caller_rules =
	"[[rule]]\ncaller = \"researcher\"\ntoolName = \"update_file\"\ndecision = \"allow\"\n"
	"priority = 100\n"
	"[[rule]]\ncaller = [\"researcher\", \"tester\"]\ntoolName = \"run_shell_command\"\n"
	"commandPrefix = \"make\"\ndecision = \"allow\"\npriority = 100\n"
	"[[rule]]\ncaller = \"tester\"\ntoolName = \"write_file\"\ndecision = \"ask_user\"\n"
	"priority = 100\n"
	"[[rule]]\ncaller = \"tester\"\ntoolName = \"read_file\"\ndecision = \"deny\"\n"
	"argsPattern = \"notes\"\npriority = 100\n"
	/* The user's own. */
	"[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 50\n"
	"[[rule]]\ntoolName = \"web_fetch\"\ndecision = \"allow\"\npriority = 900\n"
	"[[rule]]\ntoolName = \"read_file\"\nargsPattern = \"secret\"\ndecision = \"deny\"\n"
	"priority = 800\n"
	"[[rule]]\ntoolName = \"read_file\"\nargsPattern = \"private\"\ndecision = \"ask_user\"\n"
	"priority = 800\n"
	"[[rule]]\ntoolName = \"update_file\"\nargsPattern = \"release\"\ndecision = \"ask_user\"\n"
	"approvals = 2\npriority = 800\n"
	"[[rule]]\ntoolName = \"save_memory\"\ndecision = \"ask_user\"\npriority = 800\n"
	"[[rule]]\ntoolName = \"run_shell_command\"\ncommandPrefix = \"make install\"\n"
	"decision = \"ask_user\"\npriority = 800\n";

static struct policy *rules_of_caller(const char *caller)
{
	struct policy *policy = policy_of(caller_rules, POLICY_USER);

	policy_set_caller(policy, caller);
	return policy;
}

static void rules_for_one_caller(void **state)
{
	const char *edit = "{\"file_path\":\"a.c\",\"old_content\":\"a\",\"new_content\":\"b\"}";
	const struct row rows[] = {
		{ "update_file", edit, { DEFAULT }, POLICY_ALLOW },
		{ "replace", edit, { DEFAULT }, POLICY_ALLOW },
		{ "write_file", "{\"file_path\":\"a\",\"content\":\"\"}", { DEFAULT }, POLICY_DENY },
		{ "read_file", "{\"file_path\":\"a.c\"}", { DEFAULT }, POLICY_ALLOW },
		{ "read_file", "{\"file_path\":\"notes\"}", { DEFAULT }, POLICY_ALLOW },
		{ "read_file", "{\"file_path\":\"secret\"}", { DEFAULT }, POLICY_DENY },
		{ "read_file", "{\"file_path\":\"private\"}", { DEFAULT }, POLICY_ASK },
		{ "update_file", "{\"file_path\":\"release.txt\"}", { DEFAULT }, POLICY_ASK },
		{ "save_memory", "{\"fact\":\"x\"}", { DEFAULT }, POLICY_DENY },
		/* Not reading: its address leaves the machine. */
		{ "web_fetch", "{\"prompt\":\"https://example.com\"}", { DEFAULT }, POLICY_DENY },
		/* What a server says of its tools is not enough. */
		{ "mcp_s_look", "{}", { DEFAULT, .server = "s", .server_tool = "look",
		                        .annotations = "{\"readOnlyHint\":true}" }, POLICY_DENY },
		{ "update_file", edit, { DEFAULT, .subagent = "helper" }, POLICY_ALLOW },
		{ "write_file", "{}", { DEFAULT, .subagent = "helper" }, POLICY_DENY },
	};
	struct policy *policy = rules_of_caller("researcher");

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	assert_int_equal(decide_command(policy, "make test", &(struct setting){ DEFAULT }),
	                 POLICY_ALLOW);
	assert_int_equal(decide_command(policy, "make install", &(struct setting){ DEFAULT }),
	                 POLICY_ASK);
	assert_int_equal(decide_command(policy, "make && rm -r x", &(struct setting){ DEFAULT }),
	                 POLICY_DENY);
	/* Harmless for the user, but no rule is about it. */
	assert_int_equal(decide_command(policy, "ls", &(struct setting){ DEFAULT }), POLICY_DENY);
	policy_free(policy);
}

static void rules_for_another_caller(void **state)
{
	const struct row rows[] = {
		{ "update_file", "{\"file_path\":\"a.c\"}", { DEFAULT }, POLICY_DENY },
		{ "update_file", "{\"file_path\":\"release\"}", { DEFAULT }, POLICY_DENY },
		{ "write_file", "{\"file_path\":\"a\",\"content\":\"\"}", { DEFAULT }, POLICY_ASK },
		{ "write_file", "{\"file_path\":\"a\",\"content\":\"\"}",
		  { DEFAULT, .headless = true }, POLICY_DENY },
		{ "read_file", "{\"file_path\":\"notes\"}", { DEFAULT }, POLICY_DENY },
	};
	const struct row stranger[] = {
		{ "update_file", "{\"file_path\":\"a.c\"}", { DEFAULT }, POLICY_DENY },
		{ "write_file", "{}", { DEFAULT }, POLICY_DENY },
		{ "read_file", "{\"file_path\":\"notes\"}", { DEFAULT }, POLICY_ALLOW },
	};
	struct policy *policy = rules_of_caller("tester");

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_set_caller(policy, "stranger");
	check_rows(policy, stranger, ARRAY_LEN(stranger));
	policy_free(policy);
}

static void user_meets_no_rule_for_callers(void **state)
{
	const struct row rows[] = {
		{ "read_file", "{\"file_path\":\"notes\"}", { DEFAULT }, POLICY_ALLOW },
		{ "write_file", "{}", { DEFAULT }, POLICY_ALLOW },
		{ "update_file", "{\"file_path\":\"release\"}", { DEFAULT }, POLICY_ASK },
	};
	struct policy *policy = rules_of_caller(NULL);

	(void)state;
	check_rows(policy, rows, ARRAY_LEN(rows));
	policy_free(policy);
}

/* Of every tool that hasp has, in every mode: a caller without rules has no more than in mode
 * default, and what is not offered is what is denied. */
static void no_mode_permits_more(void **state)
{
	struct policy *policy = policy_of(
		"[[rule]]\ntoolName = \"*\"\ndecision = \"allow\"\npriority = 999\n", POLICY_ADMIN);

	(void)state;
	policy_set_caller(policy, "x");
	for (size_t i = 0; i < tool_info_count(); i++)
		for (enum approval_mode mode = 0; mode < MODE_COUNT; mode++) {
			const struct policy_call call = { .tool = tool_infos[i].name, .mode = mode,
				                          .interactive = true, .trusted = true };
			const bool reads = !tool_kind_changes(tool_infos[i].kind) &&
			                   tool_infos[i].kind != TOOL_KIND_FETCH &&
			                   tool_infos[i].kind != TOOL_KIND_OTHER &&
			                   tool_infos[i].kind != TOOL_KIND_PLAN;
			struct policy_verdict verdict;

			policy_decide(policy, &call, &verdict);
			if (verdict.decision != (reads ? POLICY_ALLOW : POLICY_DENY))
				fail_msg("%s in mode %s: %s (%s)", call.tool,
				         policy_mode_name(mode),
				         policy_decision_name(verdict.decision), verdict.rule);
			assert_int_equal(policy_hides(policy, &call), !reads);
			policy_verdict_release(&verdict);
		}
	policy_free(policy);
}

static void always_does_not_count(void **state)
{
	const struct row denied[] = {
		{ "write_file", "{\"file_path\":\"a\",\"content\":\"\"}", { DEFAULT }, POLICY_DENY },
	};
	struct policy *policy = policy_of(NULL, POLICY_USER);
	json_auto_t *arguments = json_pack("{s:s}", "command", "rm x");
	char *exact = policy_exact_call(arguments);
	const struct policy_scope scopes[] = {
		{ .tool = "write_file", .text = "write_file", .mode = MODE_DEFAULT },
		{ .tool = "run_shell_command", .exact = exact, .text = "rm x",
		  .mode = MODE_DEFAULT },
	};

	(void)state;
	policy_set_caller(policy, "x");
	for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
		policy_allow_for_session(policy, &scopes[i]);
	check_rows(policy, denied, ARRAY_LEN(denied));
	assert_int_equal(decide_command(policy, "rm x", &(struct setting){ DEFAULT }),
	                 POLICY_DENY);
	free(exact);
	policy_free(policy);
}

static void denial_has_the_rule(void **state)
{
	struct policy *policy = policy_of(NULL, POLICY_USER);
	struct policy_verdict verdict;

	(void)state;
	policy_set_caller(policy, "res");
	decide(policy, "write_file", "{}", &(struct setting){ DEFAULT }, &verdict);
	assert_non_null(strstr(verdict.message, "caller = \"res\", toolName = \"write_file\""));
	policy_verdict_release(&verdict);
	policy_free(policy);
}

/* What a project or an extension brings may deny a caller something, never permit it. */
static void projects_permit_nothing(void **state)
{
	const enum policy_tier tiers[] = { POLICY_EXTENSION, POLICY_WORKSPACE };
	const char *const decisions[] = { "allow", "ask_user" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tiers); i++)
		for (size_t k = 0; k < ARRAY_LEN(decisions); k++) {
			struct policy *policy = policy_new();
			char *text = mem_printf("[[rule]]\ncaller = \"x\"\ntoolName = \"write_file\"\n"
			                        "decision = \"%s\"\npriority = 10\n", decisions[k]);
			json_auto_t *problems = load_problems(policy, tiers[i], text, NULL);

			assert_int_equal(json_array_size(problems), 1);
			policy_set_caller(policy, "x");
			check_rows(policy, &(struct row){ "write_file", "{}", { DEFAULT },
			                                  POLICY_DENY }, 1);
			free(text);
			policy_free(policy);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_for_one_caller),
		cmocka_unit_test(rules_for_another_caller),
		cmocka_unit_test(user_meets_no_rule_for_callers),
		cmocka_unit_test(no_mode_permits_more),
		cmocka_unit_test(always_does_not_count),
		cmocka_unit_test(denial_has_the_rule),
		cmocka_unit_test(projects_permit_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
