/* SPDX-License-Identifier: Apache-2.0 */
/* What a project's command prints becomes tools with names of tools and JSON for a schema, or
 * sentences. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/json.h"
#include "tool/set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct tool *tool)
{
	struct err err = ERR_INIT;
	json_t *schema;

	if (strncmp(tool->name, "discovered_tool_", 16) != 0 || strlen(tool->name) > 64)
		abort();
	if (!json_parse(span_str(tool->arguments_schema), &schema, &err) || !json_is_object(schema))
		abort();
	json_decref(schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tool_set *set = tool_set_new();
	json_t *problems = json_array(), *declared;
	struct err err = ERR_INIT;
	size_t count;

	if (!discovered_add_text(set, span_of((const char *)data, size), "true", problems, &count,
	                         &err) &&
	    (err.code != ERR_INVALID_ARGUMENT || count))
		abort();
	if (tool_set_count(set) != tool_count() + count)
		abort();
	for (size_t i = tool_count(); i < tool_set_count(set); i++)
		check(tool_set_at(set, i));
	declared = tool_set_declare(set, NULL, NULL);
	json_decref(declared);
	json_decref(problems);
	tool_set_free(set);
	return 0;
}
