/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/agents.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "catalog/private.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/tools.h"
#include "data/warnings.h"

/* Low to high, beneath the home and then beneath the project. */
static const char *const places[] = { ".claude/agents", ".gemini/agents" };

/* ---- discovery --------------------------------------------------------------------- */

static const char *whose_file(const struct agent_definition *definition)
{
	return definition->file ? definition->file : "hasp's own";
}

/* Takes what `definition` has. The later one counts. */
static void definition_add(struct agents *agents, struct agent_definition *definition)
{
	for (size_t i = 0; i < agents->count; i++) {
		struct agent_definition *there = &agents->at[i];

		if (strcasecmp(there->name, definition->name) != 0)
			continue;
		if (!there->sha256 || strcmp(there->sha256, definition->sha256) != 0)
			warnings_add_line(agents->notices,
			                  "The agent \"%s\" of %s takes the place of the one of "
			                  "%s.",
			                  definition->name, whose_file(definition),
			                  whose_file(there));
		catalog_agent_release(there);
		*there = *definition;
		return;
	}
	if (agents->count == LIMIT_AGENTS) {
		warnings_add_line(agents->notices, "%s is ignored: there are too many agents.",
		                  whose_file(definition));
		catalog_agent_release(definition);
		return;
	}
	agents->at = mem_grow(agents->at, &agents->cap, agents->count + 1, sizeof(*agents->at));
	agents->at[agents->count++] = *definition;
}

static void add_builtin(struct agents *agents)
{
	const struct agent_builtin *row;

	for (size_t i = 0; (row = agents_builtin_at(i)); i++) {
		struct agent_definition definition = catalog_agent_new(AGENTS_BUILTIN);

		definition.name = mem_strdup(row->name);
		definition.display_name = mem_strdup(row->display_name);
		definition.description = mem_strdup(row->description);
		definition.prompt = mem_strdup(row->prompt);
		definition.max_turns = row->max_turns;
		definition.timeout_ms = row->minutes * 60000;
		if (row->tools) {
			definition.tools = json_array();
			catalog_agent_tools(definition.tools, span_str(row->tools), "",
			                 agents->notices);
		}
		definition_add(agents, &definition);
	}
}

/* A file beneath `root`. */
static void file_try(struct agents *agents, const char *root, const char *path,
                     enum agents_from from)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct agents found = { .notices = agents->notices };
	struct err err = ERR_INIT;

	if ((!catalog_file_read(root, path, LIMIT_AGENT_BYTES, &text, &err) ||
	     !agents_file_read(path, file_text_span(&text), from, &found, &err)) &&
	    err.code != ERR_FILE_NOT_FOUND)
		warnings_add_line(agents->notices, "%s is ignored: %s", path, err.message);
	for (size_t i = 0; i < found.count; i++)
		definition_add(agents, &found.at[i]);
	free(found.at);
}

/* The user's: a link to a file elsewhere is their own word. */
static void file_try_own(struct agents *agents, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL), *folder = real ? path_folder(real) : NULL;

	if (!real)
		return;
	if (door_is_own(folder) && door_is_own(real))
		file_try(agents, folder, real, AGENTS_USER);
	else
		warnings_add_line(agents->notices, "%s is ignored: others may write it.", real);
}

static bool is_agent_name(const char *name)
{
	return name[0] != '_' && span_ends(span_str(name), SPAN(".md"));
}

/* Links lead out of the user's own folders alone. */
static void place_look(struct agents *agents, const char *above, const char *place,
                       enum agents_from from)
{
	const bool closed = from != AGENTS_USER;
	_cleanup_free_ char *folder = path_join(above, place);
	char **names;
	const size_t count = door_names(door_folder(closed ? above : folder, folder),
	                                LIMIT_AGENTS * 4, &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		_cleanup_free_ char *path = path_join(folder, name);

		if (is_agent_name(name) && closed)
			file_try(agents, above, path, from);
		else if (is_agent_name(name))
			file_try_own(agents, path);
	}
	free(names);
}

/* Their texts may name the folder of a plugin. */
static void put_plugin_folder(struct agents *agents, const char *folder)
{
	for (size_t i = 0; i < agents->count; i++) {
		struct agent_definition *one = &agents->at[i];
		char *text;

		if (!one->prompt || !one->file || !path_is_under(one->file, folder))
			continue;
		text = extension_text(EXTENSION_CLAUDE, folder, span_str(one->prompt));
		free(one->prompt);
		one->prompt = text;
	}
}

static void look_for_extensions(struct agents *agents, const char *folder,
                                const json_t *manifest)
{
	const json_t *one;
	size_t i;

	json_array_foreach(extension_part(manifest, EXTENSION_AGENTS), i, one) {
		_cleanup_free_ char *path = path_join(folder, json_string_value(one));

		if (door_is_folder(path))
			place_look(agents, folder, json_string_value(one), AGENTS_EXTENSION);
		else if (is_agent_name(strrchr(path, '/') + 1))
			file_try(agents, folder, path, AGENTS_EXTENSION);
	}
	if (extension_format(manifest) == EXTENSION_CLAUDE)
		put_plugin_folder(agents, folder);
}

void agents_add_names(const char *project, const char *folder, json_t *names)
{
	char **found;
	const size_t count = door_names(door_folder(project, folder), LIMIT_AGENTS, &found);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = found[i];

		if (is_agent_name(name))
			json_array_append_new(names, json_text(span_head(span_str(name),
			                                                 strlen(name) - 3)));
	}
	free(found);
}

const json_t *agents_override_of(const json_t *overrides, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)overrides, key, value)
		if (strcasecmp(key, name) == 0 && json_is_object(value))
			return value;
	return NULL;
}

static void take_override(struct agent_definition *definition, const json_t *override)
{
	const json_t *run = json_object_get(override, "runConfig");
	const json_t *model = json_object_get(override, "modelConfig");
	const char *isolation = json_string_value(json_object_get(override, "isolation"));

	if (isolation && !definition->remote)
		definition->isolated = strcmp(isolation, "worktree") == 0;
	definition->disabled = json_is_false(json_object_get(override, "enabled"));
	catalog_agent_limits(definition, json_object_get(run, "maxTurns"),
	            json_object_get(run, "maxTimeMinutes"));
	catalog_agent_model(definition, json_string_value(json_object_get(model, "model")));
}

static int compare_definitions(const void *a, const void *b)
{
	return strcmp(((const struct agent_definition *)a)->name,
	              ((const struct agent_definition *)b)->name);
}

struct agents *agents_discover(const struct settings *settings, bool local)
{
	const struct home *home = settings_home(settings);
	const json_t *overrides = settings_get(settings, "agents.overrides");
	const struct extensions *extensions = extensions_installed(settings);
	struct agents *agents = mem_alloc(1, sizeof(*agents));
	const bool project = catalog_project_counts(settings, local);

	agents->notices = json_array();
	if (!settings_bool(settings, "experimental.enableAgents", true))
		return agents;
	add_builtin(agents);
	for (size_t i = 0; i < extensions->count; i++)
		if (extension_counts(&extensions->at[i]))
			look_for_extensions(agents, extensions->at[i].folder,
			                    extensions->at[i].manifest);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		place_look(agents, home_user(home), places[i], AGENTS_USER);
	for (size_t i = 0; i < ARRAY_LEN(places) && project; i++)
		place_look(agents, home_project(home), places[i], AGENTS_PROJECT);
	for (size_t i = 0; i < agents->count; i++)
		take_override(&agents->at[i], agents_override_of(overrides, agents->at[i].name));
	if (agents->count)
		qsort(agents->at, agents->count, sizeof(*agents->at), compare_definitions);
	return agents;
}

void agents_free(struct agents *agents)
{
	if (!agents)
		return;
	for (size_t i = 0; i < agents->count; i++)
		catalog_agent_release(&agents->at[i]);
	free(agents->at);
	json_decref(agents->notices);
	free(agents);
}

/* ---- one of them ------------------------------------------------------------------- */

const struct agent_definition *agents_named(const struct agents *agents, const char *name)
{
	for (size_t i = 0; i < agents->count; i++)
		if (strcasecmp(agents->at[i].name, name) == 0)
			return &agents->at[i];
	return NULL;
}

const struct agent_definition *agents_find(const struct agents *agents, const char *name)
{
	const struct agent_definition *definition = agents_named(agents, name);

	return definition && !definition->disabled ? definition : NULL;
}

size_t agents_enabled_count(const struct agents *agents)
{
	size_t count = 0;

	for (size_t i = 0; i < agents->count; i++)
		count += !agents->at[i].disabled;
	return count;
}

const char *agents_from_word(enum agents_from from)
{
	static const char *const words[] = {
		[AGENTS_BUILTIN] = "built-in", [AGENTS_EXTENSION] = "extension",
		[AGENTS_USER] = "user", [AGENTS_PROJECT] = "project",
	};

	return words[from];
}

static bool agent_list_has(const json_t *list, const char *tool, bool restricts)
{
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)list, i, word)
		if (tool_info_stand_for(json_string_value(word), tool, restricts))
			return true;
	return false;
}

bool agent_definition_requires(const struct agent_definition *definition, const char *tool)
{
	return (!definition->tools ||
	        agent_list_has(definition->tools, tool, /* restricts= */ false)) &&
	       !agent_definition_refuses(definition, tool);
}

bool agent_definition_refuses(const struct agent_definition *definition, const char *tool)
{
	return agent_list_has(definition->without, tool, /* restricts= */ true);
}
