/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a policy file: it ends, problems are whole, and what extensions say makes nothing
 * milder. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "policy/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool holds)
{
	if (!holds)
		abort();
}

static enum policy_decision decide(const struct policy *policy, const char *tool,
                                   const json_t *arguments)
{
	const struct policy_call call = {
		.tool = tool, .kind = "other", .arguments = arguments, .mode = MODE_DEFAULT,
		.interactive = true, .trusted = true,
	};
	struct policy_verdict verdict;
	enum policy_decision decision;

	policy_decide(policy, &call, &verdict);
	need(verdict.message && verdict.rule);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	return decision;
}

static void check_problems(const json_t *problems, bool failed)
{
	bool error = false;

	for (size_t i = 0; i < json_array_size(problems); i++) {
		const json_t *problem = json_array_get(problems, i);
		const char *kind = json_string_value(json_object_get(problem, "kind"));

		need(kind && json_is_string(json_object_get(problem, "message")) &&
		     json_is_integer(json_object_get(problem, "line")));
		error = error || strcmp(kind, "tool_name_warning") != 0;
	}
	need(error == failed);
}

static struct policy *load(struct span text, enum policy_tier tier)
{
	struct policy *policy = policy_new();
	json_auto_t *problems = json_array();
	struct loader loader = {
		.policy = policy, .tier = tier, .file = "x.toml", .problems = problems,
	};

	policy_add_defaults(policy);
	load_text(&loader, text);
	check_problems(problems, loader.failed);
	return policy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	json_auto_t *command = json_pack("{s:s}", "command", "git status; make | cat > x");
	json_auto_t *change = json_pack("{s:s, s:s}", "file_path", "a", "unified_diff", "+x\n");
	struct policy *defaults, *users, *extension;

	if (size > 65536)
		return 0;
	defaults = load(span_of("", 0), POLICY_USER);
	users = load(text, POLICY_USER);
	extension = load(text, POLICY_EXTENSION);
	json_decref(policy_list(users));
	decide(users, "run_shell_command", command);
	decide(users, "safe_patch", change);
	need(decide(extension, "safe_patch", change) >= decide(defaults, "safe_patch", change));
	policy_free(defaults);
	policy_free(users);
	policy_free(extension);
	return 0;
}
