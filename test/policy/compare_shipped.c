/* SPDX-License-Identifier: Apache-2.0 */
/* compare_shipped FOLDER: decides on calls by hasp's default policies and by those of the
 * folder, in every mode, interactively and not. One line for each that differs, and the number
 * of decisions. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/policy.h"

#define PLAN "/home/user/.gemini/tmp/proj/ses-1/plans/fix.md"

static const struct {
	const char *tool, *arguments;
} calls[] = {
	{ "read_file", "{\"file_path\": \"a\"}" },
	{ "write_file", "{\"file_path\": \"a\", \"content\": \"\"}" },
	{ "write_file", "{\"file_path\": \"" PLAN "\", \"content\": \"\"}" },
	{ "write_file", "{\"file_path\": \".gemini/tmp/p/plans/a.md\", \"content\": \"\"}" },
	{ "write_file", "{\"file_path\": \"./.gemini/tmp/p/s/plans/a.md\", \"content\": \"\"}" },
	{ "write_file", "{\"file_path\": \"plan.md\", \"content\": \"\"}" },
	{ "write_file", "{\"file_path\": \"../plan.md\", \"content\": \"\"}" },
	{ "update_file", "{\"file_path\": \"a\", \"old_content\": \"a\", \"new_content\": \"b\"}" },
	{ "update_file",
	  "{\"file_path\": \"" PLAN "\", \"old_content\": \"a\", \"new_content\": \"b\"}" },
	{ "safe_patch", "{\"file_path\": \"a\", \"unified_diff\": \"+x\"}" },
	{ "safe_patch", "{\"file_path\": \"" PLAN "\", \"unified_diff\": \"+x\"}" },
	{ "apply_changes",
	  "{\"changes\": [{\"kind\": \"write\", \"file_path\": \"a\", \"content\": \"\"}]}" },
	{ "apply_changes", "{\"changes\": [{\"kind\": \"delete\", \"file_path\": \"a\"}]}" },
	{ "search_files", "{\"pattern\": \"x\"}" },
	{ "glob", "{\"patterns\": [\"x\"]}" },
	{ "list_directory", "{\"path\": \"x\"}" },
	{ "run_shell_command", "{\"command\": \"ls\"}" },
	{ "run_shell_command", "{\"command\": \"make\"}" },
	{ "run_shell_command", "{\"command\": \"rm -rf x\"}" },
	{ "run_shell_command", "{\"command\": \"ls > x\"}" },
	{ "web_fetch", "{\"prompt\": \"x\"}" },
	{ "google_web_search", "{\"query\": \"x\"}" },
	{ "ask_user", "{}" },
	{ "enter_plan_mode", "{}" },
	{ "exit_plan_mode", "{}" },
	{ "activate_skill", "{}" },
	{ "invoke_agent", "{\"agent_name\": \"x\"}" },
	{ "invoke_agent", "{\"agent_name\": \"cli_help\"}" },
	{ "update_topic", "{}" },
	{ "complete_task", "{}" },
	{ "tracker_create_task", "{}" },
	{ "read_mcp_resource", "{}" },
	{ "discovered_tool_x", "{}" },
	{ "mcp_a_b", "{}" },
	{ "something_else", "{}" },
};

static enum policy_decision decide(const struct policy *policy, size_t i, enum approval_mode mode,
                                   bool interactive)
{
	json_auto_t *arguments = json_loads(calls[i].arguments, 0, NULL);
	bool served = strncmp(calls[i].tool, "mcp_", 4) == 0;
	const struct policy_call call = {
		.tool = calls[i].tool, .kind = "other", .arguments = arguments,
		.server = served ? "a" : NULL, .server_tool = served ? "b" : NULL,
		.mode = mode, .interactive = interactive, .trusted = true,
	};
	struct policy_verdict verdict;
	enum policy_decision decision;

	policy_decide(policy, &call, &verdict);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	return decision;
}

static void compare(const struct policy *own, const struct policy *shipped, size_t i,
                    enum approval_mode mode, bool interactive)
{
	enum policy_decision a = decide(own, i, mode, interactive);
	enum policy_decision b = decide(shipped, i, mode, interactive);

	if (a != b)
		printf("%s %s %s %s %s %s\n", calls[i].tool, policy_mode_name(mode),
		       interactive ? "interactive" : "headless", policy_decision_name(a),
		       policy_decision_name(b), calls[i].arguments);
}

int main(int argc, char **argv)
{
	struct policy *own = policy_new(), *shipped = policy_new();
	json_auto_t *problems = json_array();

	policy_add_defaults(own);
	if (argc != 2 || !policy_add_path(shipped, POLICY_DEFAULT, argv[1], problems))
		return 2;
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		for (int mode = 0; mode < MODE_COUNT; mode++)
			for (int interactive = 0; interactive < 2; interactive++)
				compare(own, shipped, i, (enum approval_mode)mode, interactive);
	printf("%zu\n", ARRAY_LEN(calls) * MODE_COUNT * 2);
	policy_free(own);
	policy_free(shipped);
	return 0;
}
