/* SPDX-License-Identifier: Apache-2.0 */
/* "Always": rules that somebody chose while being asked. */
#include <string.h>

#include "base/mem.h"
#include "policy/always.h"
#include "policy/names.h"

/* Tools for which a permission without any condition is too much to be kept for ever. */
static const char *const need_narrowing[] = {
	"glob", "search_files", "read_many_files", "read_file", "list_directory", "write_file",
	"update_file", "safe_patch", "apply_changes", "run_shell_command", "write_background_input",
};

bool always_needs_narrowing(const char *tool)
{
	for (size_t i = 0; i < ARRAY_LEN(need_narrowing); i++)
		if (strcmp(names_canonical(tool), need_narrowing[i]) == 0)
			return true;
	return false;
}

struct rule *always_rule(const struct always *always, const char *origin)
{
	struct rule *rule = rule_new(
		POLICY_ALLOW, (double)always->tier + ALWAYS_PRIORITY / 1000.0, origin);
	struct selector *selector = &rule->selector;

	selector_add_name(selector, always->server ? "*" : always->tool);
	selector->server = mem_strdup(always->server);
	selector->modes = modes_from(always->mode);
	rule->always = true;
	for (size_t i = 0; i < json_array_size(always->prefixes); i++)
		selector_add_prefix(selector,
		                    json_string_value(json_array_get(always->prefixes, i)));
	return rule;
}

static bool is_shell(const char *tool)
{
	return strcmp(names_canonical(tool), "run_shell_command") == 0;
}

void policy_allow_for_session(struct policy *policy, const char *tool, const json_t *prefixes,
                              const char *server, enum approval_mode mode)
{
	const struct always always = {
		.tool = tool, .prefixes = prefixes, .server = server, .mode = mode,
		.tier = POLICY_WORKSPACE,
	};

	/* Without a prefix it would be every command. */
	if (!server && is_shell(tool) && json_array_size(prefixes) == 0)
		return;
	policy_add_rule(policy, always_rule(&always, "session"));
}
