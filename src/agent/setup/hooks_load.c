/* SPDX-License-Identifier: Apache-2.0 */
/* Which hooks count. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/others.h"
#include "agent/setup/policy_load.h"
#include "base/mem.h"
#include "base/path.h"
#include "catalog/agents.h"
#include "config/extensions.h"
#include "data/json.h"
#include "worker/local.h"

static void add_settings(struct hooks *hooks, enum hook_source source,
                         const struct settings *settings, enum settings_scope scope,
                         json_t *problems)
{
	const char *file = settings_file(settings, scope);

	hooks_add(hooks, source, settings_of_scope(settings, scope, "hooks"),
	          file ? file : "settings.json", problems);
}

static void add_hooks_toml(struct hooks *hooks, enum hook_source source, const char *folder,
                           json_t *problems)
{
	_cleanup_free_ char *path = mem_printf("%s/hooks.toml", folder);

	hooks_add_toml(hooks, source, path, problems);
}

/* Those of one of Claude Code's files; its name is put after the folder's. */
static void add_claude_hooks(struct hooks *hooks, const struct hooks_sources *sources,
                             enum hook_source source, const char *folder, const char *name,
                             json_t *problems, bool *off)
{
	_cleanup_free_ char *path = path_join(folder, name);
	const bool own = source == HOOK_SOURCE_USER;
	json_auto_t *said = NULL;
	bool ends;

	said = settings_claude_hooks(own ? NULL : sources->project, path, problems, sources->unused,
	                             &ends);
	*off = *off || ends;
	if (!*off && json_object_size(said))
		hooks_add(hooks, source, said, path, problems);
}

/* The user's settings for Claude Code count as hasp's do, as the user's commands, agents, skills
 * and servers there do. A project switches off none but its own. */
static void add_users_claude_hooks(struct hooks *hooks, const struct hooks_sources *sources,
                                   json_t *problems, bool *off)
{
	const char *moved = getenv("CLAUDE_CONFIG_DIR");
	_cleanup_free_ char *usual = path_join(home_user(settings_home(sources->settings)),
	                                       ".claude");

	add_claude_hooks(hooks, sources, HOOK_SOURCE_USER, moved && *moved == '/' ? moved : usual,
	                 "settings.json", problems, off);
}

static void add_projects_claude_hooks(struct hooks *hooks, const struct hooks_sources *sources,
                                      json_t *problems)
{
	static const char *const names[] = { ".claude/settings.local.json",
		                             ".claude/settings.json" };
	const bool home = strcmp(home_user(settings_home(sources->settings)),
	                         sources->project) == 0;
	bool off = false;

	for (size_t i = 0; i < ARRAY_LEN(names) && !home && sources->local; i++)
		add_claude_hooks(hooks, sources, HOOK_SOURCE_PROJECT, sources->project, names[i],
		                 problems, &off);
}

/* The schema knows the two words. */
static enum hook_pass pass_of(const struct settings *settings, const char *name)
{
	enum hook_pass pass;

	hook_pass_parse(settings_string(settings, name, NULL), &pass);
	return pass;
}

static enum hook_source extension_hook_source(const struct settings *settings,
                                              const struct extension *extension);

/* What commands of the workspace may write besides the project: folders that settings and flags
 * add, and folders that extensions are linked to.  The caller frees each, and the array. */
static char **hooks_roots(const struct settings *settings)
{
	static const char *const names[] = { "context.includeDirectories",
		                             "tools.sandboxAllowedPaths" };
	const struct extensions *all = extensions_installed(settings);
	const struct home *home = settings_home(settings);
	json_auto_t *theirs = others_directories(settings);
	char **roots = NULL;
	size_t count = 0, cap = 0, k;
	json_t *path;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const json_t *list = settings_get(settings, names[i]);

		json_array_foreach((json_t *)list, k, path) {
			const char *text = json_string_value(path);

			if (!text || !*text)
				continue;
			roots = mem_grow(roots, &cap, count + 1, sizeof(*roots));
			roots[count++] = text[0] == '~' && (!text[1] || text[1] == '/') ?
			                         path_join(home_user(home), text + 1 + !!text[1]) :
			                         path_join(home_project(home), text);
		}
	}
	json_array_foreach(theirs, k, path) {
		roots = mem_grow(roots, &cap, count + 1, sizeof(*roots));
		roots[count++] = mem_strdup(json_string_value(path));
	}
	for (size_t i = 0; i < all->count; i++) {
		if (extension_hook_source(settings, &all->at[i]) != HOOK_SOURCE_PROJECT)
			continue;
		roots = mem_grow(roots, &cap, count + 1, sizeof(*roots));
		roots[count++] = mem_strdup(all->at[i].folder);
	}
	roots = mem_grow(roots, &cap, count + 1, sizeof(*roots));
	roots[count] = NULL;
	return roots;
}

static struct hooks *make_hooks(const struct hooks_sources *sources)
{
	const struct settings *settings = sources->settings;
	_cleanup_free_ char *trust = mem_printf("%s/trusted_hooks.json",
	                                        home_gemini(settings_home(settings)));
	_cleanup_free_ char *here = sources->local ? NULL : getcwd(NULL, 0);
	_cleanup_free_ char *guards = local_guard_folder();
	char **roots = hooks_roots(settings);
	struct hooks_options options = {
		.project = sources->project,
		.cwd = sources->project,
		.here = here,
		.session_id = sources->session_id,
		.transcript_path = sources->transcript_path,
		.plans_folder = sources->plans_folder,
		.environment = sources->environment,
		.trust_file = trust,
		.caller = sources->caller,
		.guards = guards,
		.roots = (const char *const *)roots,
		.disabled = settings_get(settings, "hooksConfig.disabled"),
		.project_trusted = settings_trusted(settings),
		.enabled = settings_bool(settings, "hooksConfig.enabled", true),
		.on_timeout = pass_of(settings, "hasp.hooks.onTimeout"),
		.on_error = pass_of(settings, "hasp.hooks.onError"),
		.notices = sources->notices,
		.ran = sources->ran,
		.data = sources->data,
	};
	const json_t *line = json_object_get(settings_get(settings, "statusLine"), "command");
	struct hooks *hooks = hooks_new(&options);

	if (json_string_length(line))
		hooks_hold(hooks, json_string_value(line));
	for (size_t i = 0; roots[i]; i++)
		free(roots[i]);
	free(roots);
	return hooks;
}

void setup_hold_logins(struct hooks *hooks, const struct settings *settings)
{
	struct agents *agents = agents_discover(settings, /* local= */ true);

	for (size_t i = 0; i < agents->count; i++) {
		json_t *auth = json_object_get(agents->at[i].remote, "auth"), *value;
		const char *member;

		json_object_foreach(auth, member, value) {
			_cleanup_free_ char *said = agent_auth_command(member, value);

			if (said)
				hooks_hold(hooks, said);
		}
	}
	agents_free(agents);
}

/* Where an extension is linked to, commands may write: its hooks run once the user trusts exactly
 * these, as a project's do. */
static enum hook_source extension_hook_source(const struct settings *settings,
                                              const struct extension *extension)
{
	_cleanup_free_ char *folder = extensions_folder(settings_home(settings));
	_cleanup_free_ char *real = realpath(folder, NULL);

	return real && path_is_under(extension->folder, real) ? HOOK_SOURCE_EXTENSION :
	                                                        HOOK_SOURCE_PROJECT;
}

static void add_extension_hooks(struct hooks *hooks, const struct settings *settings,
                                json_t *problems)
{
	const struct extensions *all = extensions_installed(settings);

	for (size_t i = 0; i < all->count; i++) {
		const struct extension *one = &all->at[i];
		_cleanup_free_ char *file = path_join(one->folder,
		                                      extension_format(one->manifest) ==
		                                      EXTENSION_GEMINI ? "hooks/hooks.json" :
		                                      extension_manifest_file(one->manifest));
		_cleanup_free_ char *stray = NULL;
		struct err err = ERR_INIT;
		json_auto_t *said = NULL, *watch = NULL;

		if (!extension_counts(one))
			continue;
		stray = extension_hooks_stray(one->folder, one->manifest);
		if (stray)
			json_array_append_new(problems,
			                      json_pack("{s:s, s:o}", "source", file, "message",
			                                json_text(span_str(stray))));
		said = extension_hooks(settings, one, &err);
		watch = extension_watch(settings, one);
		if (said)
			hooks_add_checked(hooks, extension_hook_source(settings, one), said, file,
			                  problems, watch ? extension_watch_holds : NULL, watch);
		else if (err.code != ERR_NONE)
			hooks_problem(problems, file, "", "%s", err.message);
	}
}

struct hooks *setup_load_hooks(const struct hooks_sources *sources, json_t *problems)
{
	const struct settings *settings = sources->settings;
	_cleanup_free_ char *project = mem_printf("%s/.gemini", sources->project);
	const bool claude = settings_bool(settings, "hasp.hooks.claude", true);
	struct hooks *hooks = make_hooks(sources);
	bool off = !claude;

	if (claude)
		add_users_claude_hooks(hooks, sources, problems, &off);
	if (settings_trusted(settings)) {
		if (!off)
			add_projects_claude_hooks(hooks, sources, problems);
		add_settings(hooks, HOOK_SOURCE_PROJECT, settings, SCOPE_WORKSPACE, problems);
		if (sources->local)
			add_hooks_toml(hooks, HOOK_SOURCE_PROJECT, project, problems);
	}
	add_settings(hooks, HOOK_SOURCE_USER, settings, SCOPE_USER, problems);
	add_hooks_toml(hooks, HOOK_SOURCE_USER, home_gemini(settings_home(settings)), problems);
	add_settings(hooks, HOOK_SOURCE_SYSTEM, settings, SCOPE_SYSTEM_DEFAULTS, problems);
	add_settings(hooks, HOOK_SOURCE_SYSTEM, settings, SCOPE_SYSTEM, problems);
	add_extension_hooks(hooks, settings, problems);
	return hooks;
}

char *setup_hooks_untrusted_sentence(const struct hooks *hooks)
{
	json_auto_t *untrusted = hooks_untrusted(hooks), *held = hooks_held(hooks, NULL);
	json_t *row;
	size_t count = json_array_size(untrusted), i;

	json_array_foreach(held, i, row)
		if (!count && strcmp(json_string_value(json_object_get(row, "state")), "trusted"))
			return mem_printf("%s, which a hook or another command outside of the "
			                  "sandbox names, %s: \"hasp hooks list\" shows the "
			                  "difference, \"hasp hooks trust\" trusts it.",
			                  json_string_value(json_object_get(row, "file")),
			                  hooks_held_sentence(json_string_value(
				                  json_object_get(row, "state"))));
	if (!count)
		return NULL;
	return mem_printf("%zu %s of this project %s not trusted and %s not run: \"hasp hooks "
	                  "list\" shows them, \"hasp hooks trust\" trusts them.",
	                  count, count == 1 ? "hook" : "hooks", count == 1 ? "is" : "are",
	                  count == 1 ? "does" : "do");
}
