/* SPDX-License-Identifier: Apache-2.0 */
/* Codex' members of servers, where they stand in a plugin's file.
 *
 * Reference: Codex 0.120 (plugins, configuration reference). */
#include <string.h>

#include "base/mem.h"
#include "config/extensions.h"
#include "config/private.h"
#include "config/servers.h"
#include "data/json.h"

static const char *const codex_members[] = {
	"bearer_token_env_var", "http_headers",     "env_http_headers", "env_vars",
	"startup_timeout_sec",  "startup_timeout_ms", "tool_timeout_sec", "enabled_tools",
	"disabled_tools",       "enabled",          "required",
};

bool config_codex_member(const char *member)
{
	for (size_t i = 0; i < ARRAY_LEN(codex_members); i++)
		if (!strcmp(codex_members[i], member))
			return true;
	return false;
}

const json_t *servers_codex_variable(const json_t *variable)
{
	return json_is_object(variable) ? json_object_get(variable, "name") : variable;
}

/* "BEFORE${NAME}" as the member `field` of the entry's object `member`. */
static void codex_put_reference(json_t *entry, const char *member, const char *field,
                                const char *before, const json_t *variable)
{
	json_t *object = json_object_get(entry, member);

	if (!json_string_length(variable))
		return;
	if (!json_is_object(object)) {
		object = json_object();
		json_object_set_new(entry, member, object);
	}
	json_object_set_new(object, field,
	                    json_sprintf("%s${%s}", before, json_string_value(variable)));
}

/* At least a millisecond, at most a day. */
static void put_codex_time(json_t *entry, const char *member, const json_t *value, double factor)
{
	const double number = json_number_value(value) * factor;

	if (json_is_number(value) && number > 0)
		json_object_set_new(entry, member, json_integer(
			number < 1 ? 1 : number > 86400e3 ? 86400000 : (json_int_t)number));
}

void config_codex_put(json_t *entry, const json_t *said)
{
	const json_t *fixed = json_object_get(said, "http_headers");
	const json_t *enabled = json_object_get(said, "enabled_tools");
	const json_t *disabled = json_object_get(said, "disabled_tools");
	const char *field;
	json_t *variable;
	size_t i;

	if (json_object_get(entry, "url") && !json_object_get(entry, "type"))
		json_object_set_new(entry, "type", json_string("http"));
	if (json_is_object(entry) && json_is_object(fixed))
		json_object_set_new(entry, "headers", json_deep_copy(fixed));
	json_object_foreach(json_object_get(said, "env_http_headers"), field, variable)
		codex_put_reference(entry, "headers", field, "", variable);
	codex_put_reference(entry, "headers", "Authorization", "Bearer ",
	              json_object_get(said, "bearer_token_env_var"));
	json_array_foreach(json_object_get(said, "env_vars"), i, variable) {
		const json_t *name = servers_codex_variable(variable);

		if (json_string_length(name))
			codex_put_reference(entry, "env", json_string_value(name), "", name);
	}
	put_codex_time(entry, "startupTimeout", json_object_get(said, "startup_timeout_ms"), 1);
	put_codex_time(entry, "startupTimeout", json_object_get(said, "startup_timeout_sec"),
	               1000);
	put_codex_time(entry, "timeout", json_object_get(said, "tool_timeout_sec"), 1000);
	if (json_is_array(enabled))
		json_object_set(entry, "includeTools", (json_t *)enabled);
	if (json_is_array(disabled))
		json_object_set(entry, "excludeTools", (json_t *)disabled);
}
