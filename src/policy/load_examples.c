/* SPDX-License-Identifier: Apache-2.0 */
/* Examples in rules: decided as if the file were the only one beside the defaults. */
#include <string.h>

#include "base/mem.h"
#include "data/toml.h"
#include "policy/load.h"
#include "policy/names.h"

static bool has_examples(const json_t *rules)
{
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (json_array_size(json_object_get(json_array_get(rules, i), "examples")) > 0)
			return true;
	return false;
}

/* The tool of an example: its own, else the rule's first. */
static const char *tool_of(const json_t *rule, const json_t *example)
{
	const json_t *names = json_object_get(rule, "toolName");
	const char *name = json_string_value(json_object_get(example, "tool"));

	if (!name && json_object_get(example, "command"))
		name = "run_shell_command";
	if (!name)
		name = json_string_value(json_is_array(names) ? json_array_get(names, 0) : names);
	return names_canonical(name);
}

static json_t *arguments_of(const json_t *example)
{
	json_t *arguments = json_deep_copy(json_object_get(example, "args"));
	json_t *command = json_object_get(example, "command");

	if (!arguments)
		arguments = json_object();
	json_object_del(arguments, TOML_LINE);
	if (command)
		json_object_set(arguments, "command", command);
	return arguments;
}

/* Whether it is decided as it says; appends a problem if not. */
static bool try_example(struct loader *loader, const struct policy *trial, const json_t *rule,
                        const json_t *example)
{
	const char *mode = json_string_value(json_object_get(example, "mode"));
	const char *server = json_string_value(json_object_get(rule, "mcpName"));
	const char *expected = json_string_value(json_object_get(example, "decision"));
	json_auto_t *arguments = arguments_of(example);
	struct policy_call call = {
		.tool = tool_of(rule, example),
		.server = server && strcmp(server, "*") != 0 ? server : NULL,
		.kind = "other",
		.arguments = arguments,
		.annotations = json_object_get(rule, "toolAnnotations"),
		.subagent = json_string_value(json_object_get(rule, "subagent")),
		.mode = MODE_DEFAULT,
		.interactive = !json_is_false(json_object_get(example, "interactive")),
		.trusted = true,
	};
	struct policy_verdict verdict;
	bool same;

	call.server_tool = call.server ? call.tool : NULL;
	if (mode && !approval_mode_parse(mode, &call.mode)) {
		load_problem(loader, example, "schema_validation", "There is no mode \"%s\".", mode);
		return false;
	}
	policy_decide(trial, &call, &verdict);
	same = strcmp(policy_decision_name(verdict.decision), expected) == 0;
	if (!same)
		load_problem(loader, example, "example_failed",
		             "The example of %s is decided as %s, not as %s (%s).", call.tool,
		             policy_decision_name(verdict.decision), expected, verdict.rule);
	policy_verdict_release(&verdict);
	return same;
}

void load_examples(struct loader *loader, json_t *table)
{
	const json_t *rules = json_object_get(table, "rule");
	struct loader trial = *loader;

	if (!has_examples(rules))
		return;
	trial.policy = policy_new();
	trial.problems = NULL; /* told when the file itself is loaded */
	trial.trial = true;
	policy_add_defaults(trial.policy);
	load_table(&trial, table);
	for (size_t i = 0; i < json_array_size(rules); i++) {
		json_t *rule = json_array_get(rules, i);
		const json_t *examples = json_object_get(rule, "examples");
		bool good = true;

		for (size_t k = 0; k < json_array_size(examples); k++)
			good = try_example(loader, trial.policy, rule,
			                   json_array_get(examples, k)) && good;
		/* Not what its author thinks: it must not allow anything. */
		if (!good && strcmp(json_string_value(json_object_get(rule, "decision")), "allow") == 0)
			json_object_set_new(rule, LOAD_FAILED, json_true());
	}
	policy_free(trial.policy);
}
