/* SPDX-License-Identifier: Apache-2.0 */
/* How a tool is declared to a model: its schema, without what goes without saying. */
#include "tool/set.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/services.h"

static json_t *declared_schema(const json_t *schema);

/* A parameter's description without what goes without saying: that a switch is off, what the system
 * prompt says of all paths and of the lock, and what the name and the tool's description say. */
static void shorten_description(const char *name, json_t *member)
{
	static const char *const plain[] = {
		"file_path", "base_content_sha256", "pid", "exclude", "input", "case_sensitive",
		"content", "old_content", "new_content", "paths", "ignore", "regex",
		"changes", "command", "start_line", "end_line", "max_lines", "offset", "patterns",
		"no_ignore", "plan_filename", "reason", "path", "dir_path", "with_hashes",
		"placeholder", "context", "unified_diff", "pattern", "output",
	};
	static const struct span off = SPAN("Default false.");
	struct span text = json_span(json_object_get(member, "description"));
	bool is_plain = span_eq(text, off);

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		is_plain = is_plain || strcmp(name, plain[i]) == 0;
	if (is_plain)
		json_object_del(member, "description");
	else if (span_ends(text, off))
		json_object_set_new(member, "description",
		                    json_text(span_trim(span_head(text, text.len - off.len))));
}

static json_t *declared_members(const json_t *properties)
{
	json_t *members = json_object(), *member;
	const char *name;

	json_object_foreach((json_t *)properties, name, member) {
		json_t *copy = declared_schema(member);

		shorten_description(name, copy);
		json_object_set_new(members, name, copy);
	}
	return members;
}

/* Adds the value of a `const` to an `enum` of them. */
static void add_choice(json_t *properties, const char *name, const json_t *member)
{
	json_t *known = json_object_get(properties, name);
	json_t *choice = json_object_get(member, "const");

	if (!known) {
		known = json_copy((json_t *)member);
		json_object_set_new(properties, name, known);
		if (choice) {
			json_object_del(known, "const");
			json_object_set_new(known, "enum", json_array());
		}
	}
	if (choice)
		json_array_append(json_object_get(known, "enum"), choice);
}

/* Kinds of one object become one, with what any of them has; its description says which has
 * what. */
static json_t *declared_kinds(const json_t *kinds)
{
	json_t *properties = json_object(), *required = json_array(), *kind, *member;
	json_auto_t *merged = json_pack("{s:s, s:o, s:o}", "type", "object", "required", required,
	                                "properties", properties);
	const char *name;
	size_t i;

	json_array_foreach(json_object_get(json_array_get(kinds, 0), "required"), i, member)
		if (i < 2) /* what distinguishes them, and what all are about */
			json_array_append(required, member);
	json_array_foreach(kinds, i, kind)
		json_object_foreach(json_object_get(kind, "properties"), name, member)
			add_choice(properties, name, member);
	return declared_schema(merged);
}

/* A schema without what only checks: bounds are met by nearly all calls, and who breaks one
 * gets an error. */
static json_t *declared_schema(const json_t *schema)
{
	static const char *const checks[] = { "minLength", "maxLength", "minItems", "maxItems",
		                              "minimum",   "maximum",   "additionalProperties" };
	json_t *copy, *kinds = json_object_get(schema, "oneOf");

	if (kinds)
		return declared_kinds(kinds);
	copy = json_copy((json_t *)schema);
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		json_object_del(copy, checks[i]);
	if (json_is_object(json_object_get(copy, "properties")))
		json_object_set_new(copy, "properties",
		                    declared_members(json_object_get(schema, "properties")));
	if (json_is_object(json_object_get(copy, "items")))
		json_object_set_new(copy, "items",
		                    declared_schema(json_object_get(schema, "items")));
	return copy;
}

/* `name`: of a parameter, or "changes[].MEMBER" of each kind of change. */
static void undeclare(json_t *schema, const char *name)
{
	json_t *properties = json_object_get(schema, "properties"), *kind;
	const struct span of_change = SPAN("changes[].");
	size_t i;

	json_object_del(properties, name);
	if (!span_starts(span_str(name), of_change))
		return;
	json_array_foreach(json_object_get(json_object_get(json_object_get(properties, "changes"),
	                                                   "items"), "oneOf"), i, kind)
		json_object_del(json_object_get(kind, "properties"), name + of_change.len);
}

/* Every request pays for each character of it. What others declared stays as it is. */
static json_t *declared_parameters(const struct tool *tool, json_t *schema)
{
	const char *const *name = tool->undeclared;
	json_t *parameters;

	if (tool->run_as)
		return schema;
	for (; name && *name; name++)
		undeclare(schema, *name);
	parameters = declared_schema(schema);
	json_decref(schema);
	return parameters;
}

json_t *tool_declaration(const struct tool *tool)
{
	json_t *declared = json_object();
	json_t *parameters;
	struct err err = ERR_INIT;

	if (!json_parse(span_str(tool->arguments_schema), &parameters, &err))
		parameters = json_object();
	parameters = declared_parameters(tool, parameters);
	json_object_set_new(declared, "name", json_cstr(tool->name));
	json_object_set_new(declared, "description", json_cstr(tool->description));
	json_object_set_new(declared, "parameters", parameters);
	return declared;
}
