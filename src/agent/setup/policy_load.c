/* SPDX-License-Identifier: Apache-2.0 */
/* Which policies and hooks count. */
#include "agent/setup/policy_load.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "data/json.h"

/* ---- policies ---------------------------------------------------------------- */

/* Which policies count, and in which tier. */

#define ADMIN_FOLDER "/etc/gemini-cli/policies"
/* In the project; what the user allows goes by this name. */
#define PROJECT_FOLDER ".gemini/policies"

enum { PROJECT_FILES_MAX = 1000, PROBLEMS_MAX = 4 * LIMIT_WARNINGS };

struct loading {
	const struct policy_sources *sources;
	struct policy *policy;
	json_t *problems;
	bool well; /* the user's and the administrator's */
	size_t missing; /* files of the setting or of flags */
};

static void policy_warn(struct loading *loading, const char *path, const char *message)
{
	json_array_append_new(loading->problems,
	                      json_pack("{s:o, s:i, s:s, s:s}", "file", json_text(span_str(path)),
	                                "line", 0, "kind", "tool_name_warning", "message",
	                                message));
}

static void add_policy_folder(struct loading *loading, enum policy_tier tier, const char *folder)
{
	if (!policy_add_folder(loading->policy, tier, folder, loading->problems) &&
	    tier >= POLICY_USER)
		loading->well = false;
}

/* Somebody named it, so it has to be there. */
static void add_named(struct loading *loading, enum policy_tier tier, const char *path)
{
	bool there = access(path, F_OK) == 0;

	/* As in Gemini CLI, whose scripts name files that only some machines have. */
	if (!there && errno == ENOENT && tier == POLICY_USER) {
		if (loading->missing++ < LIMIT_WARNINGS)
			policy_warn(loading, path,
			            "There is no such policy file; its rules do not count.");
		return;
	}
	if (!there ? policy_add_file(loading->policy, tier, path, loading->problems)
	           : policy_add_path(loading->policy, tier, path, loading->problems))
		return;
	loading->well = false;
}

/* What flags name, else what the setting names. False: neither names anything. */
static bool add_all_named(struct loading *loading, enum policy_tier tier,
                          const char *const *files, const char *setting)
{
	const json_t *paths = settings_get(loading->sources->settings, setting);

	for (const char *const *file = files; file && *file; file++)
		add_named(loading, tier, *file);
	if (files && *files)
		return true;
	for (size_t i = 0; i < json_array_size(paths); i++)
		add_named(loading, tier, json_string_value(json_array_get(paths, i)));
	return json_array_size(paths) > 0;
}

/* Puts the text of one of the project's policies in; false: it cannot be read. */
static bool put_policy_text(const char *project, const char *folder, const char *name,
                            json_t *texts)
{
	_cleanup_free_ char *path = path_join(folder, name);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (!door_read(project, path, LIMIT_POLICY_BYTES - 1, &text, &ignored))
		return false;
	/* A name that is not UTF-8 cannot be allowed. */
	return json_object_set_new(texts, name, json_text(file_text_span(&text))) == 0;
}

/* All texts by their names; false: one cannot be read, or there are too many. */
static bool read_texts(const char *project, json_t *texts)
{
	_cleanup_free_ char *folder = path_join(project, PROJECT_FOLDER);
	int fd = door_folder(project, folder);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool readable = true;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && readable && (entry = readdir(dir)))
		if (span_ends(span_str(entry->d_name), SPAN(".toml")))
			readable = json_object_size(texts) < PROJECT_FILES_MAX &&
			           put_policy_text(project, folder, entry->d_name, texts);
	if (dir)
		closedir(dir);
	return readable;
}

bool setup_project_policy_allowed(const struct settings *settings)
{
	json_auto_t *texts = json_object();

	if (!settings_trusted(settings) ||
	    !read_texts(home_project(settings_home(settings)), texts))
		return false;
	return !json_object_size(texts) || settings_project_may(settings, PROJECT_FOLDER, texts);
}

static void add_project(struct loading *loading)
{
	const struct settings *settings = loading->sources->settings;
	const struct home *home = settings_home(settings);
	_cleanup_free_ char *folder = path_join(home_project(home), PROJECT_FOLDER);
	_cleanup_free_ char *users = setup_policy_save_folder(settings);

	/* The home folder's are the user's own. */
	if (!settings_trusted(settings) || strcmp(folder, users) == 0)
		return;
	policy_add_project(loading->policy, home_project(home), loading->problems);
	if (!setup_project_policy_allowed(settings) &&
	    policy_drop_allowing(loading->policy, POLICY_WORKSPACE) > 0)
		policy_warn(loading, folder,
		            "Project rules with the decision \"allow\" are ignored until you run: "
		            "hasp config allow " PROJECT_FOLDER);
}

/* Those of extensions: what they allow does not count (policy/policy.h). */
static void add_extension_policies(struct loading *loading)
{
	const struct extensions *all = extensions_installed(loading->sources->settings);

	for (size_t i = 0; i < all->count; i++) {
		const json_t *place;
		size_t k;

		json_array_foreach(extension_part(all->at[i].manifest, EXTENSION_POLICIES), k,
		                   place) {
			_cleanup_free_ char *folder = path_join(all->at[i].folder,
			                                        json_string_value(place));

			if (extension_counts(&all->at[i]) && access(folder, F_OK) == 0)
				add_policy_folder(loading, POLICY_EXTENSION, folder);
		}
	}
}

/* The setting "tools", with what extensions exclude. A new reference. */
static json_t *tools_setting(const struct settings *settings)
{
	json_t *tools = json_copy((json_t *)settings_get(settings, "tools"));

	if (!tools)
		tools = json_object();
	json_object_set_new(tools, "exclude", extensions_excluded_tools(settings));
	return tools;
}

static void warn_of_missing(struct loading *loading)
{
	_cleanup_free_ char *message = NULL;

	if (loading->missing <= LIMIT_WARNINGS)
		return;
	message = mem_printf("%zu more policy files are missing; their rules do not count.",
	                     loading->missing - LIMIT_WARNINGS);
	policy_warn(loading, "policyPaths", message);
}

static void add_user_policies(struct loading *loading)
{
	const struct settings *settings = loading->sources->settings;
	_cleanup_free_ char *folder = setup_policy_save_folder(settings);
	json_auto_t *tools = tools_setting(settings);

	if (!add_all_named(loading, POLICY_USER, loading->sources->files, "policyPaths"))
		add_policy_folder(loading, POLICY_USER, folder);
	warn_of_missing(loading);
	policy_add_settings(loading->policy, tools, settings_get(settings, "mcp"),
	                    settings_get(settings, "mcpServers"));
	if (settings_bool(settings, "security.disableAlwaysAllow", false))
		policy_forget_always(loading->policy);
}

void setup_renew_server_rules(struct policy *policy, const struct settings *settings)
{
	policy_renew_servers(policy, settings_get(settings, "mcp"),
	                     settings_get(settings, "mcpServers"));
}

void setup_renew_extension_rules(struct policy *policy, const struct settings *settings,
                                 json_t *problems)
{
	const struct policy_sources sources = { .settings = settings };
	struct loading loading = { .sources = &sources, .policy = policy, .problems = problems };
	json_auto_t *excluded = extensions_excluded_tools(settings);

	policy_drop_tier(policy, POLICY_EXTENSION);
	add_extension_policies(&loading);
	policy_renew_excluded(policy, excluded);
}

static bool has_policies(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	if (!dir)
		return errno != ENOENT;
	while (!found && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		found = len > 5 && strcmp(entry->d_name + len - 5, ".toml") == 0;
	}
	closedir(dir);
	return found;
}

static void add_admin(struct loading *loading)
{
	if (has_policies(ADMIN_FOLDER))
		add_policy_folder(loading, POLICY_ADMIN, ADMIN_FOLDER);
	else
		add_all_named(loading, POLICY_ADMIN, loading->sources->admin_files,
		              "adminPolicyPaths");
}

/* The first that is more than a warning. */
static const json_t *first_error(const json_t *problems, size_t from)
{
	for (size_t i = from; i < json_array_size(problems); i++) {
		const json_t *problem = json_array_get(problems, i);
		const char *kind = json_string_value(json_object_get(problem, "kind"));

		if (strcmp(kind, "tool_name_warning") != 0)
			return problem;
	}
	return NULL;
}

/* Each file has its page at most; many files together have PROBLEMS_MAX. */
static void count_beyond(struct loading *loading)
{
	const size_t count = json_array_size(loading->problems);
	_cleanup_free_ char *message = NULL;

	if (count <= PROBLEMS_MAX)
		return;
	for (size_t i = count; i > PROBLEMS_MAX; i--)
		json_array_remove(loading->problems, i - 1);
	message = mem_printf("%zu more sentences like these are left out.", count - PROBLEMS_MAX);
	policy_warn(loading, "Policies", message);
}

bool policy_load(const struct policy_sources *sources, json_t *problems, struct policy **ret,
                 struct err *err)
{
	struct loading loading = {
		.sources = sources, .policy = policy_new(), .problems = problems, .well = true,
	};
	_cleanup_free_ char *text = NULL;
	const json_t *problem;
	size_t projects;

	policy_add_defaults(loading.policy);
	add_extension_policies(&loading);
	add_project(&loading);
	projects = json_array_size(problems);
	add_user_policies(&loading);
	add_admin(&loading);
	problem = loading.well ? NULL : first_error(problems, projects);
	text = problem ? setup_policy_problem_text(problem) : NULL;
	count_beyond(&loading);
	if (!loading.well) {
		policy_free(loading.policy);
		return err_set(err, ERR_INVALID_ARGUMENT, "%s",
		               text ? text : "A policy cannot be read.");
	}
	*ret = loading.policy;
	return true;
}

char *setup_policy_problem_text(const json_t *problem)
{
	const char *file = json_string_value(json_object_get(problem, "file"));
	const char *message = json_string_value(json_object_get(problem, "message"));
	long line = (long)json_integer_value(json_object_get(problem, "line"));

	return line ? mem_printf("%s:%ld: %s", file, line, message)
	            : mem_printf("%s: %s", file, message);
}

char *setup_policy_save_folder(const struct settings *settings)
{
	return mem_printf("%s/policies", home_gemini(settings_home(settings)));
}

/* ---- hooks ------------------------------------------------------------------- */

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

/* Those of one of Claude Code's files; its name is put behind the folder's. */
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
                                      json_t *problems, bool off)
{
	static const char *const names[] = { ".claude/settings.local.json",
		                             ".claude/settings.json" };
	const bool home = strcmp(home_user(settings_home(sources->settings)),
	                         sources->project) == 0;

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
	char **roots = NULL;
	size_t count = 0, cap = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const json_t *list = settings_get(settings, names[i]);
		json_t *path;
		size_t k;

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
		.roots = (const char *const *)roots,
		.disabled = settings_get(settings, "hooksConfig.disabled"),
		.project_trusted = settings_trusted(settings),
		.enabled = settings_bool(settings, "hooksConfig.enabled", true),
		.on_timeout = pass_of(settings, "hasp.hooks.onTimeout"),
		.on_error = pass_of(settings, "hasp.hooks.onError"),
		.notice = sources->notice,
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
		struct err err = ERR_INIT;
		json_auto_t *said = NULL;

		if (!extension_counts(one))
			continue;
		said = extension_hooks(settings, one, &err);
		if (said)
			hooks_add(hooks, extension_hook_source(settings, one), said, file,
			          problems);
		else if (err.code != ERR_NONE)
			json_array_append_new(problems,
			                      json_pack("{s:s, s:o}", "source", file, "message",
			                                json_text(span_str(err.message))));
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
			add_projects_claude_hooks(hooks, sources, problems, off);
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
			                  "sandbox names, is not as you trusted it (%s): \"hasp "
			                  "hooks list\" shows the difference, \"hasp hooks "
			                  "trust\" trusts it.",
			                  json_string_value(json_object_get(row, "file")),
			                  json_string_value(json_object_get(row, "state")));
	if (!count)
		return NULL;
	return mem_printf("%zu %s of this project %s not trusted and %s not run: \"hasp hooks "
	                  "list\" shows them, \"hasp hooks trust\" trusts them.",
	                  count, count == 1 ? "hook" : "hooks", count == 1 ? "is" : "are",
	                  count == 1 ? "does" : "do");
}
