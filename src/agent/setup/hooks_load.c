/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/setup/hooks_load.h"

#include "base/mem.h"

static void add_settings(struct hooks *hooks, enum hook_source source,
                         const struct settings *settings, enum settings_scope scope,
                         json_t *problems)
{
	const char *file = settings_file(settings, scope);

	hooks_add(hooks, source, settings_of_scope(settings, scope, "hooks"),
	          file ? file : "settings.json", problems);
}

static void add_file(struct hooks *hooks, enum hook_source source, const char *folder,
                     json_t *problems)
{
	_cleanup_free_ char *path = mem_printf("%s/hooks.toml", folder);

	hooks_add_toml(hooks, source, path, problems);
}

static struct hooks *make(const struct hooks_sources *sources)
{
	const struct settings *settings = sources->settings;
	_cleanup_free_ char *trust = mem_printf("%s/trusted_hooks.json",
	                                        home_gemini(settings_home(settings)));
	struct hooks_options options = {
		.project = sources->project,
		.cwd = sources->project,
		.session_id = sources->session_id,
		.transcript_path = sources->transcript_path,
		.plans_folder = sources->plans_folder,
		.environment = sources->environment,
		.trust_file = trust,
		.disabled = settings_get(settings, "hooksConfig.disabled"),
		.project_trusted = settings_trusted(settings),
		.enabled = settings_bool(settings, "hooksConfig.enabled", true),
		.notice = sources->notice,
		.data = sources->data,
	};

	return hooks_new(&options);
}

struct hooks *hooks_load(const struct hooks_sources *sources, json_t *problems)
{
	const struct settings *settings = sources->settings;
	_cleanup_free_ char *project = mem_printf("%s/.gemini", sources->project);
	struct hooks *hooks = make(sources);

	if (settings_trusted(settings)) {
		add_settings(hooks, HOOK_SOURCE_PROJECT, settings, SCOPE_WORKSPACE, problems);
		if (sources->local)
			add_file(hooks, HOOK_SOURCE_PROJECT, project, problems);
	}
	add_settings(hooks, HOOK_SOURCE_USER, settings, SCOPE_USER, problems);
	add_file(hooks, HOOK_SOURCE_USER, home_gemini(settings_home(settings)), problems);
	add_settings(hooks, HOOK_SOURCE_SYSTEM, settings, SCOPE_SYSTEM_DEFAULTS, problems);
	add_settings(hooks, HOOK_SOURCE_SYSTEM, settings, SCOPE_SYSTEM, problems);
	return hooks;
}

char *hooks_untrusted_sentence(const struct hooks *hooks)
{
	json_auto_t *untrusted = hooks_untrusted(hooks);
	size_t count = json_array_size(untrusted);

	if (!count)
		return NULL;
	return mem_printf("%zu %s of this project %s not trusted and %s not run: \"hasp hooks list\" "
	                  "shows them, \"hasp hooks trust\" trusts them.",
	                  count, count == 1 ? "hook" : "hooks", count == 1 ? "is" : "are",
	                  count == 1 ? "does" : "do");
}
