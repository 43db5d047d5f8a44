/* SPDX-License-Identifier: Apache-2.0 */
/* Tables become rules and checkers. */
#include "policy/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/toml.h"
#include "policy/defaults.h"
#include "policy/names.h"

/* The kind of what does not keep a file from counting. */
#define WARNING "tool_name_warning"

static long line_of(const json_t *table)
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
	if (!loader->problems || (!first_error && loader->told++ >= LIMIT_WARNINGS))
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	json_array_append_new(loader->problems,
	                      json_pack("{s:s, s:I, s:s, s:o}", "file", loader->file, "line",
	                                (json_int_t)line_of(table), "kind", kind, "message",
	                                json_text(span_str(message))));
}

static void count_rest(struct loader *loader)
{
	const size_t rest = loader->told > LIMIT_WARNINGS ? loader->told - LIMIT_WARNINGS : 0;

	loader->told = 0;
	if (rest)
		load_problem(loader, NULL, WARNING, "%zu more %s left out.", rest,
		             rest == 1 ? "problem like this is" : "problems like these are");
}

const json_t *load_member(const json_t *table, const char *name, const char *old_name)
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

/* Names may be anything; those that look like a slip are named. */
static bool read_names(struct loader *loader, const json_t *table, struct selector *selector)
{
	const json_t *names = json_object_get(table, "toolName");

	for (size_t i = 0; i < string_count(names); i++) {
		const char *name = string_at(names, i);
		const char *meant = json_object_get(table, "mcpName") ? NULL : names_suggest(name);

		if (!*name) {
			load_problem(loader, table, "rule_validation",
			             "toolName must not be empty; \"*\" stands for all tools.");
			return false;
		}
		if (meant)
			load_problem(loader, table, WARNING,
			             "There is no tool \"%s\". Did you mean \"%s\"?", name, meant);
		if (strstr(name, "__"))
			load_problem(loader, table, WARNING,
			             "\"%s\": tools of MCP servers are named mcp_SERVER_TOOL, or with "
			             "mcpName.", name);
		selector_add_name(selector, name);
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
	if (!name || strcmp(names_canonical(name), "run_shell_command") != 0)
		wrong = "commandPrefix and commandRegex need toolName = \"run_shell_command\"";
	else if (json_object_get(table, "argsPattern"))
		wrong = "commandPrefix and commandRegex cannot stand beside argsPattern";
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
		selector_add_prefix(selector, string_at(prefix, i));
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

		if (approval_mode_parse(json_string_value(json_array_get(modes, i)), &mode))
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

static bool read_selector(struct loader *loader, const json_t *table, struct selector *selector)
{
	const json_t *interactive = json_object_get(table, "interactive");
	const char *server = json_string_value(json_object_get(table, "mcpName"));
	const char *subagent = json_string_value(json_object_get(table, "subagent"));

	if ((server && !*server) || (subagent && !*subagent)) {
		load_problem(loader, table, "rule_validation",
		             "mcpName and subagent must not be empty.");
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
	return mem_printf("%s:%ld", loader->file, line_of(table));
}

/* `row` says which calls, `table` what checks them. */
static void add_checker(struct loader *loader, const json_t *row, const json_t *table)
{
	const char *type = json_string_value(json_object_get(table, "type"));
	const char *name = json_string_value(json_object_get(table, "name"));
	const json_t *config = json_object_get(table, "config");
	struct checker *checker = mem_alloc(1, sizeof(*checker));

	selector_init(&checker->selector);
	checker->name = mem_strdup(name);
	checker->origin = origin_of(loader, row);
	checker->priority = priority_of(loader, row);
	checker->included = json_incref(json_object_get(config, "included_args"));
	checker->excluded = json_incref(json_object_get(config, "excluded_args"));
	if (strcmp(type, "in-process") != 0 || strcmp(name, "allowed-path") != 0) {
		checker->kind = CHECKER_UNSUPPORTED;
		load_problem(loader, row, "rule_validation",
		             "The safety checker \"%s\" (%s) is not supported: somebody is asked "
		             "about each call that it would check.", name, type);
	}
	if (read_selector(loader, row, &checker->selector))
		policy_add_checker(loader->policy, checker);
	else
		checker_free(checker);
}

/* ---- rules --------------------------------------------------------------------------- */

/* What extensions may not say. */
static bool is_let_through(const struct loader *loader, struct rule *rule)
{
	const unsigned yolo = 1u << MODE_YOLO;

	if (loader->tier != POLICY_EXTENSION)
		return true;
	if (rule->decision == POLICY_ALLOW || rule->selector.modes == yolo)
		return false;
	rule->selector.modes &= ~yolo;
	return true;
}

static void add_rule(struct loader *loader, const json_t *table)
{
	const char *message = json_string_value(load_member(table, "denyMessage", "deny_message"));
	const json_t *nested = json_object_get(table, "safety_checker");
	_cleanup_free_ char *origin = origin_of(loader, table);
	struct rule *rule = rule_new(POLICY_DENY, priority_of(loader, table), origin);

	load_decision(json_string_value(json_object_get(table, "decision")), &rule->decision);
	rule->message = mem_strdup(message);
	rule->allow_redirection =
		json_is_true(load_member(table, "allowRedirection", "allow_redirection"));
	rule->always = json_integer_value(json_object_get(table, "priority")) == ALWAYS_PRIORITY;
	if (json_object_get(table, LOAD_FAILED) ||
	    !read_selector(loader, table, &rule->selector) || !is_let_through(loader, rule)) {
		rule_free(rule);
		return;
	}
	policy_add_rule(loader->policy, rule);
	if (nested)
		add_checker(loader, table, nested);
}

bool load_table(struct loader *loader, const json_t *table)
{
	const json_t *rules = json_object_get(table, "rule");
	const json_t *checkers = json_object_get(table, "safety_checker");

	for (size_t i = 0; i < json_array_size(rules); i++)
		add_rule(loader, json_array_get(rules, i));
	for (size_t i = 0; i < json_array_size(checkers); i++) {
		const json_t *row = json_array_get(checkers, i);

		add_checker(loader, row, json_object_get(row, "checker"));
	}
	return !loader->failed;
}

static bool load_all(struct loader *loader, struct span text)
{
	json_auto_t *table = NULL;
	struct err err = ERR_INIT;

	if (!toml_parse(text, /* lines= */ true, &table, &err)) {
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
