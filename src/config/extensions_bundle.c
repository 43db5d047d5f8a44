/* SPDX-License-Identifier: Apache-2.0 */
/* MCP bundles (.mcpb, .dxt): a zip with a manifest.json and the files of one MCP server, read into
 * the form of an extension that brings this server and its settings.
 *
 * Reference: MCP bundles' manifest, versions 0.1 to 0.4. */
#include <string.h>

#include "base/mem.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

/* What a server is started with that says how by its type alone; ENTRY is its entry point. */
static const struct {
	const char *type, *command, *before[2]; /* words in front of the entry point */
} bundle_types[] = {
	{ "node", "node", { NULL } },
	{ "python", "python3", { NULL } },
	{ "uv", "uv", { "run", "--directory" } },
	{ "binary", NULL, { NULL } },
};

/* Its own mcp_config, with what it says for Linux; a new object, empty without. */
static json_t *bundle_config(const json_t *server)
{
	const json_t *said = json_object_get(server, "mcp_config");
	const json_t *other = json_object_get(json_object_get(said, "platform_overrides"), "linux");
	json_t *config = json_is_object(said) ? json_copy((json_t *)said) : json_object();

	if (json_is_object(other))
		json_object_update(config, (json_t *)other);
	return config;
}

/* By the type; false: it is unknown, or there is no entry point. */
static bool bundle_config_by_type(const json_t *server, json_t *config)
{
	const struct span type = json_span(json_object_get(server, "type"));
	const char *entry = json_string_value(json_object_get(server, "entry_point"));
	_cleanup_free_ char *path = mem_printf("${__dirname}/%s", entry ? entry : "");

	for (size_t i = 0; entry && i < ARRAY_LEN(bundle_types); i++) {
		json_t *args = json_array();

		if (!span_eq(type, span_str(bundle_types[i].type))) {
			json_decref(args);
			continue;
		}
		if (bundle_types[i].before[0]) {
			json_array_append_new(args, json_string(bundle_types[i].before[0]));
			json_array_append_new(args, json_string(bundle_types[i].before[1]));
			json_array_append_new(args, json_string("${__dirname}"));
		}
		if (bundle_types[i].command)
			json_array_append_new(args, json_cstr(path));
		json_object_set_new(config, "command",
		                    json_cstr(bundle_types[i].command ? bundle_types[i].command :
		                                                        path));
		json_object_set_new(config, "args", args);
		return true;
	}
	return false;
}

static void bundle_server(const struct manifest_reading *reading, const json_t *said,
                          const char *name, json_t *servers)
{
	static const char *const members[] = { "command", "args", "env" };
	const json_t *server = json_object_get(said, "server");
	json_auto_t *config = bundle_config(server);
	json_t *entry;

	if (!json_string_length(json_object_get(config, "command")) &&
	    !bundle_config_by_type(server, config)) {
		config_problem(reading, "Its \"server\" has neither an \"mcp_config\" with a "
		               "\"command\", nor a type that is known and an \"entry_point\".");
		return;
	}
	entry = json_object();
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(config, members[i]))
			json_object_set(entry, members[i], json_object_get(config, members[i]));
	json_object_set_new(servers, name, entry);
}

/* Whether it runs here; without a word it does. */
static void bundle_check_platform(const struct manifest_reading *reading, const json_t *said)
{
	const json_t *platforms = json_object_get(json_object_get(said, "compatibility"),
	                                          "platforms");

	if (json_array_size(platforms) && !json_lists(platforms, SPAN("linux")))
		config_problem(reading, "It is for other systems: \"compatibility\" does not name "
		               "linux.");
}

static void bundle_note_unused(const struct manifest_reading *reading, const json_t *said)
{
	const char *key;
	json_t *one;

	json_object_foreach(json_object_get(said, "user_config"), key, one)
		if (json_is_true(json_object_get(one, "multiple")))
			config_unused(reading, "more than one value of the setting %.60s", key);
	if (json_object_get(said, "localization"))
		config_unused(reading, "translations");
}

json_t *config_bundle_read(const struct manifest_reading *reading, const json_t *said,
                           struct err *err)
{
	const char *name = json_string_value(json_object_get(said, "name"));
	json_t *manifest, *servers;

	if (!config_plugin_name_is_fine(name)) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "%s: its \"name\" must be letters, digits, \"-\", \"_\" and \".\" alone, "
		        "at most %d.", reading->path, PLUGIN_NAME_MAX);
		return NULL;
	}
	manifest = config_plugin_begin(reading, said);
	servers = json_object();
	json_object_set_new(manifest, "mcpServers", servers);
	bundle_server(reading, said, name, servers);
	bundle_check_platform(reading, said);
	config_plugin_options(reading, manifest, "user_config",
	                      json_object_get(said, "user_config"));
	bundle_note_unused(reading, said);
	return manifest;
}
