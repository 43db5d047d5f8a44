/* SPDX-License-Identifier: Apache-2.0 */
/* What the user has decided about agents: which of a project's or an extension's may be used that
 * send something away or start something, and which are enabled. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "catalog/agents.h"
#include "catalog/private.h"
#include "config/authority.h"
#include "config/home.h"

/* ---- a project's, an extension's ----------------------------------------------------- */

/* By which the user allows it: the file's path in the project, and where that is a list the name
 * besides, since the question was about that one.  The caller frees. */
static char *allowance_name(const struct agent_definition *definition, const struct home *home)
{
	const char *project = home_project(home), *path = definition->file;
	const size_t len = strlen(project);

	if (strncmp(path, project, len) == 0 && path[len] == '/')
		path += len + 1;
	return definition->listed ? mem_printf("%s#%s", path, definition->name) : mem_strdup(path);
}

bool agent_is_allowed(const struct agent_definition *definition, const struct home *home)
{
	struct err ignored = ERR_INIT;
	json_auto_t *hash = NULL, *allowed = NULL;
	_cleanup_free_ char *name = NULL;

	if (!agent_requires_allowance(definition))
		return true;
	hash = json_string(definition->sha256);
	allowed = authority_allowances(home, &ignored);
	name = allowance_name(definition, home);
	return authority_allows(allowed, name, hash);
}

bool agent_allow(const struct agent_definition *definition, const struct home *home,
                 struct err *err)
{
	_cleanup_free_ char *name = allowance_name(definition, home);
	json_auto_t *hash = json_string(definition->sha256);

	return authority_allow(home, name, hash, err);
}

/* ---- enabled and disabled ----------------------------------------------------------- */

static bool is_disabled_in(const struct settings *settings, enum settings_scope scope,
                           const char *name)
{
	const json_t *overrides = settings_of_scope(settings, scope, "agents.overrides");

	return json_is_false(json_object_get(agents_override_of(overrides, name), "enabled"));
}

/* The file besides the user's that disables it; NULL: none does. */
static const char *other_file_that_disables(const struct settings *settings, const char *name)
{
	for (int i = SCOPE_COUNT; i-- > 0;) {
		const enum settings_scope scope = (enum settings_scope)i;
		const char *file = settings_file(settings, scope);

		if (scope != SCOPE_USER && is_disabled_in(settings, scope, name) &&
		    (scope != SCOPE_WORKSPACE || settings_trusted(settings)))
			return file ? file : "a flag";
	}
	return NULL;
}

/* A copy of the user's own overrides with that of one agent changed; a new reference. */
static json_t *overrides_changed(const json_t *overrides, const char *name, bool enable)
{
	json_t *all = overrides ? json_deep_copy(overrides) : json_object(), *value;
	const char *key;
	bool found = false;

	json_object_foreach(all, key, value) {
		if (strcasecmp(key, name) != 0 || !json_is_object(value))
			continue;
		json_object_set_new(value, "enabled", json_boolean(enable));
		found = true;
	}
	if (!found)
		json_object_set_new(all, name, json_pack("{s:b}", "enabled", enable));
	return all;
}

bool agents_switch(const struct agents *agents, struct settings *settings, const char *name,
                   bool enable, char **ret, struct err *err)
{
	const struct agent_definition *definition = agents_named(agents, name);
	json_auto_t *overrides = NULL;
	_cleanup_free_ char *other = NULL;
	struct settings *now;
	bool is_disabled;

	if (!settings_bool(settings, "experimental.enableAgents", true))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Agents are off: experimental.enableAgents is false.");
	if (!definition)
		return err_set(err, ERR_INVALID_ARGUMENT, "Agent \"%.200s\" not found.", name);
	/* The file may have changed since `settings` were read. */
	if (!settings_load_again(settings, &now, err))
		return false;
	is_disabled = is_disabled_in(now, SCOPE_USER, name);
	other = mem_strdup(other_file_that_disables(now, name));
	overrides = overrides_changed(settings_of_scope(now, SCOPE_USER, "agents.overrides"),
	                              definition->name, enable);
	settings_free(now);
	if (enable && other)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The agent \"%s\" is disabled by %.600s, which is not changed here.",
		               definition->name, other);
	if (is_disabled != enable) {
		*ret = mem_printf("The agent \"%s\" is already %s.", definition->name,
		                  enable ? "enabled" : "disabled");
		return true;
	}
	if (!settings_write(settings, SCOPE_USER, "agents.overrides", overrides, err))
		return false;
	*ret = mem_printf("The agent \"%s\" is %s now (agents.overrides in %s).",
	                  definition->name, enable ? "enabled" : "disabled",
	                  settings_file(settings, SCOPE_USER));
	return true;
}
