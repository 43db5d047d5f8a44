/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a policy file: checked, made rules and checkers, and tried on its own examples. */
#include "policy/rule.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/schema.h"
#include "data/toml.h"
#include "policy/policy.h"

/* ---- the default policies ---- */

struct default_text {
	const char *name; /* NULL ends the array */
	const char *text;
};

#include <default_texts.h> /* made of defaults/NAME.toml by embed.py */

/* ---- which members [[rule]] and [[safety_checker]] have ---- */

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
	PEOPLE,        /* an integer from 1 to LIMIT_APPROVALS */
	OWNER,
};

struct table_member {
	const char *name;
	enum shape shape;
	bool required;
};

static const struct table_member selector_members[] = {
	{ "toolName", STRINGS, true },
	{ "mcpName", STRING, false },
	{ "argsPattern", STRING, false },
	{ "commandPrefix", STRINGS, false },
	{ "commandRegex", STRING, false },
	{ "modes", MODES, false },
	{ "toolAnnotations", TABLE, false },
};
static const struct table_member rule_members[] = {
	{ "decision", DECISION, true },
	{ "priority", PRIORITY, true },
	{ "subagent", STRING, false },
	{ "caller", STRINGS, false },
	{ "interactive", BOOLEAN, false },
	{ "allowRedirection", BOOLEAN, false },
	{ "allow_redirection", BOOLEAN, false },
	{ "denyMessage", STRING, false },
	{ "deny_message", STRING, false },
	{ "safety_checker", TABLE, false },
	{ "examples", TABLES, false },
	{ "approvals", PEOPLE, false },
	{ "reviewers", STRINGS, false },
	{ "owner", OWNER, false },
};
/* Of a rule with "path", which has no others. */
static const struct table_member path_rule_members[] = {
	{ "path", STRINGS, true },
	{ "decision", DECISION, true },
	{ "priority", PRIORITY, false },
	{ "denyMessage", STRING, false },
	{ "deny_message", STRING, false },
	{ "approvals", PEOPLE, false },
	{ "reviewers", STRINGS, false },
	{ "owner", OWNER, false },
};
static const struct table_member checker_rule_members[] = {
	{ "priority", PRIORITY, false },
	{ "checker", TABLE, true },
};
static const struct table_member checker_members[] = {
	{ "type", STRING, true },
	{ "name", STRING, true },
	{ "config", TABLE, false },
};
static const struct table_member example_members[] = {
	{ "decision", DECISION, true },
	{ "command", STRING, false },
	{ "tool", STRING, false },
	{ "args", TABLE, false },
	{ "mode", STRING, false },
	{ "caller", STRING, false },
	{ "interactive", BOOLEAN, false },
};

static bool load_decision(const char *word, enum policy_decision *ret)
{
	for (int decision = POLICY_ALLOW; decision <= POLICY_DENY; decision++) {
		if (strcmp(word, policy_decision_name((enum policy_decision)decision)) == 0) {
			*ret = (enum policy_decision)decision;
			return true;
		}
	}
	return false;
}

static bool are_all_strings(const json_t *value)
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

		if (!word || !policy_mode_parse(word, &mode))
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

static bool has_range(const json_t *value, json_int_t least, json_int_t most)
{
	return json_is_integer(value) && json_integer_value(value) >= least &&
	       json_integer_value(value) <= most;
}

static const char *const owner_words[] = { "counts", "does_not_count", "may_be_outvoted" };

static bool is_owner_word(const json_t *value)
{
	for (size_t i = 0; i < ARRAY_LEN(owner_words); i++)
		if (span_eq(json_span(value), span_str(owner_words[i])))
			return true;
	return false;
}

/* NULL: it has the shape; else what it must be. */
static const char *misfit(const json_t *value, enum shape shape)
{
	enum policy_decision decision;

	switch (shape) {
	case STRING:
		return json_is_string(value) ? NULL : "a string";
	case STRINGS:
		return json_is_string(value) || are_all_strings(value) ? NULL
		                                                   : "a string or strings";
	case BOOLEAN:
		return json_is_boolean(value) ? NULL : "true or false";
	case TABLE:
		return json_is_object(value) ? NULL : "a table";
	case TABLES:
		return all_tables(value) ? NULL : "an array of tables";
	case PRIORITY:
		return has_range(value, 0, 999) ? NULL : "an integer from 0 to 999";
	case PEOPLE:
		return has_range(value, 1, LIMIT_APPROVALS) ? NULL : "an integer from 1 to 64";
	case OWNER:
		return is_owner_word(value)
			       ? NULL : "counts, does_not_count or may_be_outvoted";
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
                          const struct table_member *members, size_t count)
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

/* What would make the rule narrower than the sandbox, which knows of no conditions. */
static bool check_path_rule(struct loader *loader, const json_t *rule)
{
	const struct {
		const struct table_member *members;
		size_t count;
	} lists[] = { { selector_members, ARRAY_LEN(selector_members) },
		      { rule_members, ARRAY_LEN(rule_members) } };
	bool fits = check_members(loader, rule, "a rule with path", path_rule_members,
	                          ARRAY_LEN(path_rule_members));

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i].count; k++) {
			const char *name = lists[i].members[k].name;
			bool known = false;

			for (size_t j = 0; j < ARRAY_LEN(path_rule_members); j++)
				known |= strcmp(path_rule_members[j].name, name) == 0;
			if (known || !json_object_get(rule, name))
				continue;
			load_problem(loader, rule, "schema_validation",
			             "A rule with path cannot have %s: it holds for every way to "
			             "write.", name);
			fits = false;
		}
	return fits;
}

static bool check_rule(struct loader *loader, const json_t *rule)
{
	const json_t *examples = json_object_get(rule, "examples");
	const json_t *checker = json_object_get(rule, "safety_checker");
	bool fits;

	if (json_object_get(rule, "path"))
		return check_path_rule(loader, rule);
	fits = check_members(loader, rule, "a rule", selector_members,
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

static bool check_all_rows(struct loader *loader, const json_t *table, const char *name,
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

/* A file of another format, or with a word for rules that is none, holds nothing that is read. */
static bool check_top(struct loader *loader, const json_t *table)
{
	static const char *const known[] = { "rule", "safety_checker", TOML_LINE };
	const bool any = json_object_get(table, known[0]) || json_object_get(table, known[1]);
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)table, name, value) {
		const char *near = schema_nearest_name(name, known, 2);

		if (!strcmp(name, known[0]) || !strcmp(name, known[1]) ||
		    !strcmp(name, known[2]) || (any && !near))
			continue;
		load_problem(loader, json_is_array(value) ? json_array_get(value, 0) : value,
		             "schema_validation", "\"%.100s\" is not known, so nothing of it "
		             "counts: a policy file has [[rule]] and [[safety_checker]].", name);
		return false;
	}
	return true;
}

/* Whether the tables have the members that rules and checkers must have, of the right types. */
static bool load_check(struct loader *loader, const json_t *table)
{
	bool fits = check_top(loader, table);

	fits = check_all_rows(loader, table, "rule", check_rule) && fits;

	return check_all_rows(loader, table, "safety_checker", check_checker) && fits;
}

/* ---- tables become rules and checkers ---- */

/* The kind of what does not keep a file from counting. */
#define WARNING "tool_name_warning"

static long table_line(const json_t *table)
{
	return (long)json_integer_value(json_object_get(table, TOML_LINE));
}

void load_problem(struct loader *loader, const json_t *table, const char *kind,
                  const char *format, ...)
{
	const bool first_error = !loader->failed && strcmp(kind, WARNING) != 0;
	char message[1024];
	va_list args;

	loader->failed |= first_error;
	if (!loader->problems || (!first_error && loader->reported++ >= LIMIT_WARNINGS))
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	json_array_append_new(loader->problems,
	                      json_pack("{s:s, s:I, s:s, s:o}", "file", loader->file, "line",
	                                (json_int_t)table_line(table), "kind", kind, "message",
	                                json_text(span_str(message))));
}

static void count_rest(struct loader *loader)
{
	const size_t rest = loader->reported > LIMIT_WARNINGS ? loader->reported - LIMIT_WARNINGS :
	                    0;

	loader->reported = 0;
	if (rest)
		load_problem(loader, NULL, WARNING, "%zu more %s left out.", rest,
		             rest == 1 ? "problem like this is" : "problems like these are");
}

/* Either spelling of a member, or NULL. */
static const json_t *load_member(const json_t *table, const char *name, const char *old_name)
{
	const json_t *value = json_object_get(table, name);

	return value || !old_name ? value : json_object_get(table, old_name);
}

/* ---- selectors --------------------------------------------------------------------- */

static size_t string_count(const json_t *value)
{
	return json_is_array(value) ? json_array_size(value) : value ? 1 : 0;
}

static const char *string_at(const json_t *value, size_t i)
{
	return json_string_value(json_is_array(value) ? json_array_get(value, i) : value);
}

/* Names may be anything: what nothing has is found later (unknown.c). */
static bool read_names(struct loader *loader, const json_t *table, struct selector *selector)
{
	const json_t *names = json_object_get(table, "toolName");

	for (size_t i = 0; i < string_count(names); i++) {
		const char *name = string_at(names, i);

		if (!*name) {
			load_problem(loader, table, "rule_validation",
			             "toolName must not be empty; \"*\" stands for all tools.");
			return false;
		}
		rule_selector_add_name(selector, name);
	}
	return true;
}

static bool read_regex(struct loader *loader, const json_t *table, const char *pattern,
                       struct selector *selector)
{
	struct err err = ERR_INIT;

	if (js_regex_compile_with(span_str(pattern),
	                          JS_REGEX_BOUNDED | (loader->lazy ? JS_REGEX_LAZY : 0),
	                          &selector->regex, &err))
		return true;
	load_problem(loader, table, "regex_compilation", "%s", err.message);
	return false;
}

/* Gemini CLI's conditions for rules about command lines. */
static bool check_shell(struct loader *loader, const json_t *table)
{
	const json_t *prefix = json_object_get(table, "commandPrefix");
	const json_t *regex = json_object_get(table, "commandRegex");
	const char *name = json_string_value(json_object_get(table, "toolName"));
	const char *wrong = NULL;

	if (!prefix && !regex)
		return true;
	if (!name || !tool_info_runs(name))
		wrong = "commandPrefix and commandRegex need toolName = \"run_shell_command\"";
	else if (json_object_get(table, "argsPattern"))
		wrong = "commandPrefix and commandRegex cannot be combined with argsPattern";
	else if (prefix && regex)
		wrong = "commandPrefix and commandRegex exclude each other";
	if (wrong)
		load_problem(loader, table, "rule_validation", "%s.", wrong);
	return !wrong;
}

static bool read_narrow(struct loader *loader, const json_t *table, struct selector *selector)
{
	const json_t *prefix = json_object_get(table, "commandPrefix");
	const char *arguments = json_string_value(json_object_get(table, "argsPattern"));
	const char *command = json_string_value(json_object_get(table, "commandRegex"));
	_cleanup_free_ char *anchored = NULL;

	if (!check_shell(loader, table))
		return false;
	for (size_t i = 0; i < string_count(prefix); i++)
		rule_selector_add_prefix(selector, string_at(prefix, i));
	if (prefix)
		return true;
	if (command) {
		selector->narrow = NARROW_COMMAND;
		anchored = mem_printf("\"command\":\"%s", command);
		return read_regex(loader, table, anchored, selector);
	}
	if (!arguments)
		return true;
	selector->narrow = NARROW_ARGUMENTS;
	return read_regex(loader, table, arguments, selector);
}

static unsigned read_modes(const json_t *modes)
{
	unsigned bits = 0;

	for (size_t i = 0; i < json_array_size(modes); i++) {
		enum approval_mode mode;

		if (policy_mode_parse(json_string_value(json_array_get(modes, i)), &mode))
			bits |= 1u << mode;
	}
	return bits;
}

/* A copy without the lines, which are not the author's. */
static json_t *read_annotations(const json_t *table)
{
	json_t *copy = json_deep_copy(json_object_get(table, "toolAnnotations"));

	json_object_del(copy, TOML_LINE);
	return copy;
}

/* False: one of them is empty. */
static bool read_callers(const json_t *table, struct selector *selector)
{
	const json_t *callers = json_object_get(table, "caller");

	for (size_t i = 0; i < string_count(callers); i++)
		if (!*string_at(callers, i))
			return false;
	if (callers)
		selector->callers = json_is_array(callers) ? json_copy((json_t *)callers) :
		                                             json_pack("[O]", callers);
	return true;
}

static bool read_selector(struct loader *loader, const json_t *table, struct selector *selector)
{
	const json_t *interactive = json_object_get(table, "interactive");
	const char *server = json_string_value(json_object_get(table, "mcpName"));
	const char *subagent = json_string_value(json_object_get(table, "subagent"));

	if ((server && !*server) || (subagent && !*subagent) || !read_callers(table, selector)) {
		load_problem(loader, table, "rule_validation",
		             "mcpName, subagent and caller must not be empty.");
		return false;
	}
	selector->server = mem_strdup(server);
	selector->subagent = mem_strdup(subagent);
	selector->modes = read_modes(json_object_get(table, "modes"));
	selector->interactive = interactive ? json_is_true(interactive) : -1;
	selector->annotations = read_annotations(table);
	return read_names(loader, table, selector) && read_narrow(loader, table, selector);
}

/* ---- checkers ----------------------------------------------------------------------- */

static double priority_of(const struct loader *loader, const json_t *table)
{
	return (double)loader->tier +
	       (double)json_integer_value(json_object_get(table, "priority")) / 1000;
}

static char *origin_of(const struct loader *loader, const json_t *table)
{
	return mem_printf("%s:%ld", loader->file, table_line(table));
}

/* `row` says which calls, `table` what checks them. */
static void add_checker(struct loader *loader, const json_t *row, const json_t *table)
{
	const char *type = json_string_value(json_object_get(table, "type"));
	const char *name = json_string_value(json_object_get(table, "name"));
	const json_t *config = json_object_get(table, "config");
	struct checker *checker = mem_alloc(1, sizeof(*checker));

	rule_selector_init(&checker->selector);
	checker->name = mem_strdup(name);
	checker->origin = origin_of(loader, row);
	checker->priority = priority_of(loader, row);
	checker->included = json_incref(json_object_get(config, "included_args"));
	checker->excluded = json_incref(json_object_get(config, "excluded_args"));
	if (strcmp(type, "in-process") != 0 || strcmp(name, "allowed-path") != 0) {
		checker->kind = CHECKER_UNSUPPORTED;
		load_problem(loader, row, "checker_unsupported",
		             "The safety checker \"%s\" (%s) is not supported: the user is asked "
		             "about each call that it would check.", name, type);
	}
	if (read_selector(loader, row, &checker->selector))
		policy_add_checker(loader->policy, checker);
	else
		rule_checker_free(checker);
}

/* ---- rules --------------------------------------------------------------------------- */

/* Makes it a rule that asks for several people, if the table says so.  Returns why it cannot be
 * used, in words; NULL: it can. */
static const char *take_approvals(struct policy_rule *rule, const json_t *table)
{
	const json_t *needed = json_object_get(table, "approvals");
	json_t *given = json_object_get(table, "reviewers"), *owner;

	if (!needed)
		return given || json_object_get(table, "owner") ?
		               "reviewers and owner need approvals" : NULL;
	if (rule->decision != POLICY_ASK)
		return "approvals needs decision = \"ask_user\"";
	for (size_t i = 0; i < string_count(given); i++)
		if (!*string_at(given, i) || strcmp(string_at(given, i), "@") == 0)
			return "a name in reviewers is empty";
	owner = json_object_get(table, "owner");
	rule->approvals = json_pack("{s:O, s:o, s:s}", "needed", needed, "owner",
	                            owner ? json_incref(owner) :
	                            json_string(given ? "does_not_count" : "counts"),
	                            "rule", rule->origin);
	if (given)
		json_object_set_new(rule->approvals, "reviewers",
		                    json_is_array(given) ? json_copy(given) :
		                                           json_pack("[O]", given));
	return NULL;
}

/* What extensions may not say, and projects not of callers. */
static bool is_let_through(struct loader *loader, const json_t *table, struct policy_rule *rule)
{
	const unsigned yolo = 1u << MODE_YOLO;

	if (rule->selector.callers && rule->decision != POLICY_DENY &&
	    (loader->tier == POLICY_WORKSPACE || loader->tier == POLICY_EXTENSION)) {
		load_problem(loader, table, "rule_validation",
		             "Only the user's and the administrator's policies may permit a caller "
		             "something.");
		return false;
	}
	if (loader->tier != POLICY_EXTENSION)
		return true;
	if (rule->decision == POLICY_ALLOW || rule->selector.modes == yolo)
		return false;
	rule->selector.modes &= ~yolo;
	return true;
}

static void load_rule(struct loader *loader, const json_t *table)
{
	const char *message = json_string_value(load_member(table, "denyMessage", "deny_message"));
	const json_t *nested = json_object_get(table, "safety_checker");
	_cleanup_free_ char *origin = origin_of(loader, table);
	struct policy_rule *rule = rule_new(POLICY_DENY, priority_of(loader, table), origin);
	const char *wrong;

	load_decision(json_string_value(json_object_get(table, "decision")), &rule->decision);
	rule->message = mem_strdup(message);
	rule->allow_redirection =
		json_is_true(load_member(table, "allowRedirection", "allow_redirection"));
	rule->always = json_integer_value(json_object_get(table, "priority")) == ALWAYS_PRIORITY &&
	               !json_object_get(table, "approvals");
	wrong = take_approvals(rule, table);
	if (wrong) {
		load_problem(loader, table, "rule_validation", "%s.", wrong);
		rule_free(rule);
		return;
	}
	if (json_object_get(table, "path")) {
		_cleanup_free_ char *why = rule_take_paths(rule, table);

		if (!why) {
			policy_add_rule(loader->policy, rule);
			return;
		}
		load_problem(loader, table, "rule_validation", "path: %s", why);
		rule_free(rule);
		return;
	}
	if (json_object_get(table, LOAD_FAILED) ||
	    !read_selector(loader, table, &rule->selector) ||
	    !is_let_through(loader, table, rule)) {
		rule_free(rule);
		return;
	}
	policy_add_rule(loader->policy, rule);
	if (nested)
		add_checker(loader, table, nested);
}

/* The same for what is parsed already. */
static bool load_table(struct loader *loader, const json_t *table)
{
	const json_t *rules = json_object_get(table, "rule");
	const json_t *checkers = json_object_get(table, "safety_checker");

	for (size_t i = 0; i < json_array_size(rules); i++)
		load_rule(loader, json_array_get(rules, i));
	for (size_t i = 0; i < json_array_size(checkers); i++) {
		const json_t *row = json_array_get(checkers, i);

		add_checker(loader, row, json_object_get(row, "checker"));
	}
	return !loader->failed;
}

static void load_examples(struct loader *loader, json_t *table);

static bool load_all(struct loader *loader, struct span text)
{
	json_auto_t *table = NULL;
	struct err err = ERR_INIT;

	if (!toml_parse_lines(text, &table, &err)) {
		load_problem(loader, NULL, "toml_parse", "%s", err.message);
		return false;
	}
	if (!loader->lazy && !load_check(loader, table))
		return false;
	if (!loader->trial)
		load_examples(loader, table);
	return load_table(loader, table);
}

bool load_text(struct loader *loader, struct span text)
{
	bool well = load_all(loader, text);

	count_rest(loader);
	return well;
}

void policy_add_defaults(struct policy *policy)
{
	for (const struct default_text *row = default_texts; row->name; row++) {
		_cleanup_free_ char *name = mem_printf("default:%s", row->name);
		struct loader loader = {
			.policy = policy, .tier = POLICY_DEFAULT, .file = name, .lazy = true,
		};

		load_text(&loader, span_str(row->text));
	}
}

/* ---- examples in rules: decided by this file and the defaults alone ---- */

static bool has_examples(const json_t *rules)
{
	for (size_t i = 0; i < json_array_size(rules); i++)
		if (json_array_size(json_object_get(json_array_get(rules, i), "examples")) > 0)
			return true;
	return false;
}

/* The tool of an example: its own, else the rule's first. */
static const char *example_tool(const json_t *rule, const json_t *example)
{
	const json_t *names = json_object_get(rule, "toolName");
	const char *name = json_string_value(json_object_get(example, "tool"));

	if (!name && json_object_get(example, "command"))
		name = tool_name(TOOL_RUN_SHELL_COMMAND);
	if (!name)
		name = json_string_value(json_is_array(names) ? json_array_get(names, 0) : names);
	return tool_info_canonical(name);
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
static bool try_example(struct loader *loader, struct policy *trial, const json_t *rule,
                        const json_t *example)
{
	const char *mode = json_string_value(json_object_get(example, "mode"));
	const char *server = json_string_value(json_object_get(rule, "mcpName"));
	const char *expected = json_string_value(json_object_get(example, "decision"));
	json_auto_t *arguments = arguments_of(example);
	struct policy_call call = {
		.tool = example_tool(rule, example),
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
	if (mode && !policy_mode_parse(mode, &call.mode)) {
		load_problem(loader, example, "schema_validation", "Unknown mode \"%s\": use "
			"default, auto_edit, yolo or plan.",
		             mode);
		return false;
	}
	policy_set_caller(trial, json_string_value(json_object_get(example, "caller")));
	policy_decide(trial, &call, &verdict);
	same = strcmp(policy_decision_name(verdict.decision), expected) == 0;
	if (!same)
		load_problem(loader, example, "example_failed",
		             "The example of %s is decided as %s, not as %s (%s).", call.tool,
		             policy_decision_name(verdict.decision), expected, verdict.rule);
	policy_verdict_release(&verdict);
	return same;
}

static void load_examples(struct loader *loader, json_t *table)
{
	const json_t *rules = json_object_get(table, "rule");
	struct loader trial = *loader;

	if (!has_examples(rules))
		return;
	trial.policy = policy_new();
	trial.problems = NULL; /* they are reported when the file itself is loaded */
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
		if (!good &&
		    strcmp(json_string_value(json_object_get(rule, "decision")), "allow") == 0)
			json_object_set_new(rule, LOAD_FAILED, json_true());
	}
	policy_free(trial.policy);
}
