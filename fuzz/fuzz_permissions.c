/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as one of Codex' *.rules files, and each of its lines as a permission: it ends, problems
 * are whole, and what a place may not permit makes nothing milder. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "policy/permissions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINES_MAX = 50 };

static void need(bool holds)
{
	if (!holds)
		abort();
}

static enum policy_decision decide(const struct policy *policy, const char *tool,
                                   const char *member, const char *value)
{
	json_t *arguments = json_pack("{s:s}", member, value);
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
	json_decref(arguments);
	return decision;
}

static void check_problems(const json_t *problems)
{
	size_t i;
	json_t *problem;

	json_array_foreach((json_t *)problems, i, problem)
		need(json_is_string(json_object_get(problem, "message")) &&
		     json_is_integer(json_object_get(problem, "line")) &&
		     !strchr(json_string_value(json_object_get(problem, "message")), '\x1b'));
}

/* As a deny: nothing gets milder.  As an allow where nothing is permitted: likewise. */
static void check_milder(const struct policy *policy)
{
	static const char *const rows[][3] = {
		{ "run_shell_command", "command", "git push" },
		{ "read_file", "file_path", "src/a.c" },
		{ "update_file", "file_path", "src/a.c" },
		{ "web_fetch", "prompt", "https://example.com/" },
	};
	struct policy *plain = policy_new();

	policy_add_defaults(plain);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		need(decide(policy, rows[i][0], rows[i][1], rows[i][2]) >=
		     decide(plain, rows[i][0], rows[i][1], rows[i][2]));
	policy_free(plain);
}

static void add_lines(struct policy *policy, const struct permission_place *place,
                      enum policy_decision decision, struct span text)
{
	for (size_t i = 0; text.len && i < LINES_MAX; i++) {
		const char *end = memchr(text.data, '\n', text.len);
		const size_t len = end ? (size_t)(end - text.data) : text.len;
		char *line = mem_dup(text.data, len);

		policy_add_permission(policy, place, decision, line, NULL, (unsigned)i);
		free(line);
		text = span_skip(text, end ? len + 1 : len);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = span_of((const char *)data, size);
	json_t *problems = json_array();
	struct permission_place place = {
		.file = "x", .folder = "/srv/app", .project = "/srv/app", .home = "/srv/home",
		.tier = POLICY_WORKSPACE, .problems = problems,
	};
	struct policy *policy = policy_new();

	policy_add_defaults(policy);
	policy_add_prefix_rules(policy, &place, text);
	add_lines(policy, &place, POLICY_DENY, text);
	check_milder(policy);
	policy_free(policy);

	place.permits = true;
	policy = policy_new();
	policy_add_defaults(policy);
	policy_add_prefix_rules(policy, &place, text);
	add_lines(policy, &place, POLICY_ALLOW, text);
	decide(policy, "run_shell_command", "command", "git push && ls");
	policy_free(policy);
	check_problems(problems);
	json_decref(problems);
	return 0;
}
