/* SPDX-License-Identifier: Apache-2.0 */
/* Any arguments, and any command line, under a few rules: what is allowed is allowed in all its
 * parts, and a further denial makes nothing milder.  The first byte says what the rest is. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "policy/policy.h"
#include "policy/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ALLOW "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = ['a', 'git log']\n"   \
	"decision = 'allow'\npriority = 1\n[[rule]]\ntoolName = 'write_file'\n"               \
	"argsPattern = '\"file_path\":\"docs/'\ndecision = 'allow'\npriority = 1\n"
#define DENY "[[rule]]\ntoolName = 'run_shell_command'\ncommandPrefix = 'rm'\n"               \
	"decision = 'deny'\npriority = 2\n[[rule]]\ntoolName = ['replace', 'write_file']\n"   \
	"argsPattern = 'secret'\ndecision = 'deny'\npriority = 2\n"

static const char *const tools[] = {
	"run_shell_command", "write_file", "safe_patch", "apply_changes", "update_file",
	"read_many_files", "glob", "write_background_input",
};

static void need(bool holds)
{
	if (!holds)
		abort();
}

static struct policy *policy_of(const char *text)
{
	struct policy *policy = policy_new();
	struct loader loader = { .policy = policy, .tier = POLICY_USER, .file = "x.toml" };

	policy_add_defaults(policy);
	need(load_text(&loader, span_str(text)));
	return policy;
}

static void check_parts(const struct policy_verdict *verdict, enum approval_mode mode)
{
	for (size_t i = 0; i < json_array_size(verdict->commands); i++) {
		const json_t *row = json_array_get(verdict->commands, i);
		const char *decision = json_string_value(json_object_get(row, "decision"));

		need(json_is_string(json_object_get(row, "command")) && decision);
		need(verdict->decision != POLICY_ALLOW || mode == MODE_YOLO ||
		     strcmp(decision, "allow") == 0);
	}
	need(!verdict->prefixes || verdict->decision == POLICY_ASK);
}

static enum policy_decision decide(const struct policy *policy, const char *tool,
                                   const json_t *arguments, enum approval_mode mode,
                                   bool interactive)
{
	const struct policy_call call = {
		.tool = tool, .kind = "other", .arguments = arguments, .mode = mode,
		.interactive = interactive, .trusted = true,
	};
	struct policy_verdict verdict;
	enum policy_decision decision;

	policy_decide(policy, &call, &verdict);
	decision = verdict.decision;
	need(verdict.message && verdict.rule && (interactive || decision != POLICY_ASK));
	check_parts(&verdict, mode);
	policy_verdict_release(&verdict);
	return decision;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy *milder, *stricter;
	struct err err = ERR_INIT;
	json_t *arguments = NULL;
	const char *tool;

	if (!milder) {
		milder = policy_of(ALLOW);
		stricter = policy_of(ALLOW DENY);
	}
	if (size < 1 || size > 16384)
		return 0;
	tool = tools[data[0] % (sizeof(tools) / sizeof(*tools))];
	if (data[0] % (sizeof(tools) / sizeof(*tools)) == 0)
		arguments = json_pack("{s:o}", "command",
		                      json_text(span_of((const char *)data + 1, size - 1)));
	else if (!json_parse(span_of((const char *)data + 1, size - 1), &arguments, &err))
		return 0;
	for (int mode = 0; mode < MODE_COUNT; mode++)
		for (int interactive = 0; interactive < 2; interactive++)
			need(decide(stricter, tool, arguments, (enum approval_mode)mode, interactive) >=
			     decide(milder, tool, arguments, (enum approval_mode)mode, interactive));
	json_decref(arguments);
	return 0;
}
