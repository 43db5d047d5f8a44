/* SPDX-License-Identifier: Apache-2.0 */
#include "policy_fixture.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"

json_t *load_problems(struct policy *policy, enum policy_tier tier, const char *text,
                      bool *ret_well)
{
	char path[] = "/tmp/hasp-policy-XXXXXX";
	int fd = mkstemp(path);
	json_t *problems = json_array();
	bool well;

	assert_true(fd >= 0);
	assert_true(fd_write_all(fd, text, strlen(text)));
	close(fd);
	well = policy_add_file(policy, tier, path, problems);
	unlink(path);
	if (ret_well)
		*ret_well = well;
	return problems;
}

struct policy *policy_of(const char *text, enum policy_tier tier)
{
	struct policy *policy = policy_new();
	json_t *problems;

	policy_add_defaults(policy);
	if (!text)
		return policy;
	problems = load_problems(policy, tier, text, NULL);
	if (json_array_size(problems) > 0) {
		char *said = json_dumps(problems, 0);

		fail_msg("%s", said);
	}
	json_decref(problems);
	return policy;
}

void decide(const struct policy *policy, const char *tool, const char *arguments,
            const struct setting *setting, struct policy_verdict *ret)
{
	json_error_t error;
	json_auto_t *args = json_loads(arguments, JSON_ALLOW_NUL, &error);
	json_auto_t *annotations = setting->annotations
		? json_loads(setting->annotations, 0, &error) : NULL;
	const struct policy_call call = {
		.tool = tool, .server = setting->server, .server_tool = setting->server_tool,
		.server_identity = setting->server_identity,
		.kind = "other", .arguments = args, .annotations = annotations,
		.subagent = setting->subagent, .roots = setting->roots, .mode = setting->mode,
		.interactive = !setting->headless, .trusted = !setting->untrusted,
		.project = setting->project,
	};

	assert_non_null(args);
	policy_decide(policy, &call, ret);
	assert_non_null(ret->message);
	assert_non_null(ret->rule);
	assert_false(setting->headless && ret->decision == POLICY_ASK);
}

void check_rows(const struct policy *policy, const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct policy_verdict verdict;

		decide(policy, rows[i].tool, rows[i].arguments, &rows[i].setting, &verdict);
		if (verdict.decision != rows[i].expected)
			fail_msg("row %zu: %s %s in mode %s: %s, not %s (%s; %s)", i, rows[i].tool,
			         rows[i].arguments, policy_mode_name(rows[i].setting.mode),
			         policy_decision_name(verdict.decision),
			         policy_decision_name(rows[i].expected), verdict.rule,
			         verdict.message);
		policy_verdict_release(&verdict);
	}
}

static char *command_arguments(const char *command)
{
	json_auto_t *arguments = json_pack("{s:s}", "command", command);

	return json_dumps(arguments, 0);
}

enum policy_decision decide_command(const struct policy *policy, const char *command,
                                    const struct setting *setting)
{
	char *arguments = command_arguments(command);
	enum policy_decision decision;
	struct policy_verdict verdict;

	decide(policy, "run_shell_command", arguments, setting, &verdict);
	decision = verdict.decision;
	policy_verdict_release(&verdict);
	free(arguments);
	return decision;
}

void check_commands(const struct policy *policy, const struct setting *setting,
                    const struct command_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *arguments = command_arguments(rows[i].command);
		const struct row row = {
			"run_shell_command", arguments, *setting, rows[i].expected,
		};

		check_rows(policy, &row, 1);
		free(arguments);
	}
}
