/* SPDX-License-Identifier: Apache-2.0 */
/* Which policies count. */
#include "agent/setup/policy_load.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/others.h"
#include "agent/setup/prepare.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "data/json.h"
#include "sandbox/plan/names.h"

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
};

static void policy_warn(struct loading *loading, const char *path, const char *message)
{
	json_array_append_new(loading->problems,
	                      json_pack("{s:o, s:i, s:s, s:s}", "file", json_text(span_str(path)),
	                                "line", 0, "kind", "tool_name_warning", "message",
	                                message));
}

/* A folder, or a file; it need not be there. */
static void add_policy_folder(struct loading *loading, enum policy_tier tier, const char *folder)
{
	if (!policy_add_folder(loading->policy, tier, folder, loading->problems) &&
	    tier >= POLICY_USER)
		loading->well = false;
}

/* A file that was named explicitly must exist. */
static void add_named(struct loading *loading, enum policy_tier tier, const char *path)
{
	bool (*const add)(struct policy *, enum policy_tier, const char *, json_t *) =
		access(path, F_OK) == 0 ? policy_add_path : policy_add_file;

	if (add(loading->policy, tier, path, loading->problems))
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

/* Adds the text of one of the project's policies; false: it cannot be read. */
static bool put_policy_text(const char *project, const char *folder, const char *name,
                            json_t *texts)
{
	_cleanup_free_ char *path = path_join(folder, name);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (!door_read(project, path, LIMIT_POLICY_BYTES - 1, &text, &ignored))
		return false;
	if (!text.data)
		return true; /* it is not there */
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
	return readable && put_policy_text(project, project, PROJECT_FOLDER ".toml", texts);
}

bool setup_project_policy_allowed(const struct settings *settings)
{
	json_auto_t *texts = json_object();

	others_note_withheld(settings);
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

static void add_user_policies(struct loading *loading)
{
	const struct settings *settings = loading->sources->settings;
	_cleanup_free_ char *folder = setup_policy_save_folder(settings);
	_cleanup_free_ char *single = mem_printf("%s.toml", folder);
	json_auto_t *excluded = extensions_exclusions(settings);

	if (!add_all_named(loading, POLICY_USER, loading->sources->files, "policyPaths")) {
		add_policy_folder(loading, POLICY_USER, folder);
		add_policy_folder(loading, POLICY_USER, single);
	}
	policy_add_settings(loading->policy, settings_get(settings, "tools"),
	                    settings_get(settings, "mcp"), settings_get(settings, "mcpServers"));
	policy_renew_excluded(loading->policy, settings_get(settings, "tools.exclude"), excluded);
	policy_add_kept(loading->policy, settings_get(settings, "hasp.sandbox.keepPaths"),
	                loading->problems);
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
	json_auto_t *excluded = extensions_exclusions(settings);

	policy_drop_tier(policy, POLICY_EXTENSION);
	add_extension_policies(&loading);
	policy_renew_excluded(policy, settings_get(settings, "tools.exclude"), excluded);
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

/* The first that leaves a guard out: a rule that restricts and names what does not exist, or a
 * file or rule of any origin that cannot be used. NULL: none. */
static const json_t *first_lost(const json_t *problems)
{
	static const char *const kinds[] = {
		"file_read", "toml_parse", "schema_validation", "rule_validation",
		"regex_compilation", "hook_lost",
	};
	size_t i;
	json_t *problem;

	json_array_foreach((json_t *)problems, i, problem) {
		const char *kind = json_string_value(json_object_get(problem, "kind"));

		if (strcmp(kind, "unknown_name") == 0 &&
		    json_is_true(json_object_get(problem, "restricts")))
			return problem;
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
			if (strcmp(kind, kinds[k]) == 0)
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

/* What the user's hooks run, what models are instructed with, also under the names that settings
 * give these files, and variables that hasp reads. */
static void add_asked(struct loading *loading)
{
	const struct sandbox_names names = names_workspace();
	const json_t *given = settings_get(loading->sources->settings, "context.fileName");
	json_auto_t *asked = json_array();
	size_t i;
	json_t *name;

	for (i = 0; i < names.count; i++)
		if (names.rows[i].flags & NAME_ASK)
			json_array_append_new(asked, json_string(names.rows[i].path));
	if (json_string_length(given))
		json_array_append(asked, (json_t *)given);
	json_array_foreach((json_t *)given, i, name)
		if (json_string_length(name))
			json_array_append(asked, name);
	policy_add_asked(loading->policy, asked);
}

bool policy_load(const struct policy_sources *sources, json_t *problems, struct policy **ret,
                 char **ret_lost, struct err *err)
{
	struct loading loading = {
		.sources = sources, .policy = policy_new(), .problems = problems, .well = true,
	};
	_cleanup_free_ char *text = NULL;
	const json_t *problem;
	size_t projects;

	policy_add_defaults(loading.policy);
	add_asked(&loading);
	add_extension_policies(&loading);
	add_project(&loading);
	projects = json_array_size(problems);
	add_user_policies(&loading);
	if (has_policies(ADMIN_FOLDER))
		add_policy_folder(&loading, POLICY_ADMIN, ADMIN_FOLDER);
	else
		add_all_named(&loading, POLICY_ADMIN, loading.sources->admin_files,
		              "adminPolicyPaths");
	others_add_rules(loading.policy, sources->settings, problems);
	setup_add_held(loading.policy, loading.sources->settings);
	problem = loading.well ? NULL : first_error(problems, projects);
	text = problem ? setup_policy_problem_text(problem) : NULL;
	setup_report_names(sources->settings, loading.policy, sources->tools, problems);
	problem = first_lost(problems);
	*ret_lost = problem ? setup_policy_problem_text(problem) : NULL;
	count_beyond(&loading);
	if (!loading.well) {
		policy_free(loading.policy);
		return err_set(err, ERR_INVALID_ARGUMENT, "%s",
		               text ? text : "A policy cannot be read.");
	}
	*ret = loading.policy;
	return true;
}

char *setup_policy_save_folder(const struct settings *settings)
{
	return mem_printf("%s/policies", home_gemini(settings_home(settings)));
}
