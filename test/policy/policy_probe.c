/* SPDX-License-Identifier: Apache-2.0 */
/* policy_probe FILE: decides on command lines by the defaults and FILE (the user's tier), in
 * default mode, interactively, in the trusted folder /project.  On standard input each is its length, a newline, its bytes; on
 * standard output one line each: the decision's name. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/json.h"
#include "policy/policy.h"

static void answer(const struct policy *policy, json_t *command)
{
	json_auto_t *arguments = json_pack("{s:o}", "command", command);
	const struct policy_call call = {
		.tool = "run_shell_command", .kind = "execute", .arguments = arguments,
		.mode = MODE_DEFAULT, .interactive = true, .trusted = true,
		.project = "/project",
	};
	struct policy_verdict verdict;

	policy_decide(policy, &call, &verdict);
	printf("%s\n", policy_decision_name(verdict.decision));
	fflush(stdout);
	policy_verdict_release(&verdict);
}

int main(int argc, char **argv)
{
	struct policy *policy = policy_new();
	json_auto_t *problems = json_array();
	size_t len;

	policy_add_defaults(policy);
	if (argc != 2 || !policy_add_file(policy, POLICY_USER, argv[1], problems))
		return 2;
	while (scanf("%zu", &len) == 1 && getchar() == '\n') {
		_cleanup_free_ char *text = mem_alloc(len + 1, 1);

		if (fread(text, 1, len, stdin) != len)
			return 2;
		answer(policy, json_text(span_of(text, len)));
	}
	policy_free(policy);
	return 0;
}
