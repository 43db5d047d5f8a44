/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.toml: the same, as a table for each event or an array of tables:
 *
 *     [hooks.BeforeTool]            [[hooks.BeforeTool]]
 *     sequential = true             matcher = "write_.*"
 *     hooks = [ { type = "command", command = "..." } ]
 */
#include "base/door.h"
#include "data/toml.h"
#include "hooks/hook.h"

enum { FILE_BYTES_MAX = 1 << 20 };

/* A table for an event is a list of one. */
static json_t *as_settings(const json_t *hooks)
{
	json_t *config = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)hooks, name, value) {
		if (json_is_object(value))
			json_object_set_new(config, name, json_pack("[O]", value));
		else
			json_object_set(config, name, value);
	}
	return config;
}

bool hooks_add_toml(struct hooks *hooks, enum hook_source source, const char *path,
                    json_t *problems)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *root = NULL, *config = NULL;
	struct err err = ERR_INIT;
	const json_t *table;

	if (source == HOOK_SOURCE_PROJECT ?
	            !door_read(hooks->project, path, FILE_BYTES_MAX, &text, &err) :
	            !file_read(path, FILE_BYTES_MAX, &text, &err)) {
		hooks_problem(problems, path, "%s", err.message);
		return true;
	}
	if (!text.data)
		return true;
	if (!toml_parse(file_text_span(&text), false, &root, &err)) {
		hooks_problem(problems, path, "%s", err.message);
		return false;
	}
	table = json_object_get(root, "hooks");
	config = as_settings(table ? table : root);
	hooks_add(hooks, source, config, path, problems);
	return true;
}
