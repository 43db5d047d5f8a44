/* SPDX-License-Identifier: Apache-2.0 */
/* Which members [[rule]] and [[safety_checker]] have. */
#include <string.h>

#include "base/mem.h"
#include "policy/load.h"

/* What a member must be. */
enum shape {
	STRING,
	STRINGS,       /* one, or a list of them */
	BOOLEAN,
	TABLE,
	TABLES,
	PRIORITY,      /* an integer from 0 to 999 */
	DECISION,
	MODES,
};

struct member {
	const char *name;
	enum shape shape;
	bool required;
};

static const struct member selector_members[] = {
	{ "toolName", STRINGS, true },
	{ "mcpName", STRING, false },
	{ "argsPattern", STRING, false },
	{ "commandPrefix", STRINGS, false },
	{ "commandRegex", STRING, false },
	{ "modes", MODES, false },
	{ "toolAnnotations", TABLE, false },
};
static const struct member rule_members[] = {
	{ "decision", DECISION, true },
	{ "priority", PRIORITY, true },
	{ "subagent", STRING, false },
	{ "interactive", BOOLEAN, false },
	{ "allowRedirection", BOOLEAN, false },
	{ "allow_redirection", BOOLEAN, false },
	{ "denyMessage", STRING, false },
	{ "deny_message", STRING, false },
	{ "safety_checker", TABLE, false },
	{ "examples", TABLES, false },
};
static const struct member checker_rule_members[] = {
	{ "priority", PRIORITY, false },
	{ "checker", TABLE, true },
};
static const struct member checker_members[] = {
	{ "type", STRING, true },
	{ "name", STRING, true },
	{ "config", TABLE, false },
};
static const struct member example_members[] = {
	{ "decision", DECISION, true },
	{ "command", STRING, false },
	{ "tool", STRING, false },
	{ "args", TABLE, false },
	{ "mode", STRING, false },
	{ "interactive", BOOLEAN, false },
};

bool load_decision(const char *word, enum policy_decision *ret)
{
	for (int decision = POLICY_ALLOW; decision <= POLICY_DENY; decision++) {
		if (strcmp(word, policy_decision_name((enum policy_decision)decision)) == 0) {
			*ret = (enum policy_decision)decision;
			return true;
		}
	}
	return false;
}

static bool all_strings(const json_t *value)
{
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_string(json_array_get(value, i)))
			return false;
	return json_array_size(value) > 0;
}

static bool all_modes(const json_t *value)
{
	enum approval_mode mode;

	for (size_t i = 0; i < json_array_size(value); i++) {
		const char *word = json_string_value(json_array_get(value, i));

		if (!word || !approval_mode_parse(word, &mode))
			return false;
	}
	return json_is_array(value);
}

static bool all_tables(const json_t *value)
{
	for (size_t i = 0; i < json_array_size(value); i++)
		if (!json_is_object(json_array_get(value, i)))
			return false;
	return json_is_array(value);
}

/* NULL: it has the shape; else what it must be. */
static const char *misfit(const json_t *value, enum shape shape)
{
	enum policy_decision decision;

	switch (shape) {
	case STRING:
		return json_is_string(value) ? NULL : "a string";
	case STRINGS:
		return json_is_string(value) || all_strings(value) ? NULL
		                                                   : "a string or strings";
	case BOOLEAN:
		return json_is_boolean(value) ? NULL : "true or false";
	case TABLE:
		return json_is_object(value) ? NULL : "a table";
	case TABLES:
		return all_tables(value) ? NULL : "an array of tables";
	case PRIORITY:
		return json_is_integer(value) && json_integer_value(value) >= 0 &&
		       json_integer_value(value) <= 999 ? NULL : "an integer from 0 to 999";
	case DECISION:
		return json_is_string(value) &&
		       load_decision(json_string_value(value), &decision)
			       ? NULL : "\"allow\", \"deny\" or \"ask_user\"";
	case MODES:
		return all_modes(value)
			       ? NULL : "an array of default, autoEdit, yolo and plan";
	}
	return NULL;
}

static bool check_members(struct loader *loader, const json_t *table, const char *what,
                          const struct member *members, size_t count)
{
	bool fits = true;

	for (size_t i = 0; i < count; i++) {
		const json_t *value = json_object_get(table, members[i].name);
		const char *wanted = value ? misfit(value, members[i].shape) : NULL;

		if (!value && members[i].required)
			load_problem(loader, table, "schema_validation", "%s needs %s.", what,
			             members[i].name);
		else if (wanted)
			load_problem(loader, table, "schema_validation", "%s of %s must be %s.",
			             members[i].name, what, wanted);
		fits = fits && !wanted && (value || !members[i].required);
	}
	return fits;
}

static bool check_rule(struct loader *loader, const json_t *rule)
{
	const json_t *examples = json_object_get(rule, "examples");
	const json_t *checker = json_object_get(rule, "safety_checker");
	bool fits = check_members(loader, rule, "a rule", selector_members,
	                          ARRAY_LEN(selector_members));

	fits = check_members(loader, rule, "a rule", rule_members, ARRAY_LEN(rule_members)) && fits;
	if (fits && checker)
		fits = check_members(loader, checker, "a safety checker", checker_members,
		                     ARRAY_LEN(checker_members));
	for (size_t i = 0; fits && i < json_array_size(examples); i++)
		fits = check_members(loader, json_array_get(examples, i), "an example",
		                     example_members, ARRAY_LEN(example_members));
	return fits;
}

static bool check_checker(struct loader *loader, const json_t *rule)
{
	bool fits = check_members(loader, rule, "a safety checker", selector_members,
	                          ARRAY_LEN(selector_members));

	fits = check_members(loader, rule, "a safety checker", checker_rule_members,
	                     ARRAY_LEN(checker_rule_members)) && fits;
	return fits && check_members(loader, json_object_get(rule, "checker"),
	                             "a safety checker", checker_members,
	                             ARRAY_LEN(checker_members));
}

static bool check_all(struct loader *loader, const json_t *table, const char *name,
                      bool (*check)(struct loader *loader, const json_t *row))
{
	const json_t *rows = json_object_get(table, name);
	bool fits = true;

	if (rows && !all_tables(rows)) {
		load_problem(loader, table, "schema_validation", "%s must be an array of tables: "
		             "write [[%s]].", name, name);
		return false;
	}
	for (size_t i = 0; i < json_array_size(rows); i++)
		fits = check(loader, json_array_get(rows, i)) && fits;
	return fits;
}

bool load_check(struct loader *loader, const json_t *table)
{
	bool fits = check_all(loader, table, "rule", check_rule);

	return check_all(loader, table, "safety_checker", check_checker) && fits;
}
