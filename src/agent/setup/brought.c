/* SPDX-License-Identifier: Apache-2.0 */
/* Lists the files of a project that take effect only if its folder is trusted, with the names of
 * what they define: settings, hooks, rules, commands, servers, variables. */
#include "agent/setup/prepare.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "catalog/agents.h"
#include "catalog/commands.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "data/toml.h"

enum {
	FOUND_MAX = 1000,     /* entries of a folder that are looked at */
	FOLDERS_MAX = 1000,   /* that are looked into for a kind */
	DEPTH_MAX = 4,        /* of folders of custom commands */
	NAME_SHOWN = 60,
};

/* What the entries of a folder are. */
struct brought_kind {
	const char *file;   /* in each entry, a folder; or NULL: entries are files with `ending` */
	const char *ending;
};

struct finding {
	const struct brought_kind *kind;
	json_t *names;        /* borrowed */
	unsigned folders;     /* that were looked into */
};

static void add_found_name(json_t *names, const char *before, const char *name, size_t len)
{
	_cleanup_free_ char *whole = mem_printf("%s%.*s", before, (int)len, name);

	json_array_append_new(names, json_text(span_str(whole)));
}

static void look_into_folder(int folder, struct finding *finding, const char *before, int depth);

static void look_at_entry(int folder, struct finding *finding, const char *before, const char *name,
                          int depth)
{
	const struct brought_kind *kind = finding->kind;
	const size_t len = strlen(name), ending = kind->ending ? strlen(kind->ending) : 0;
	struct stat status;

	if (name[0] == '.' || fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	if (S_ISDIR(status.st_mode) && kind->file) {
		_cleanup_free_ char *inside = mem_printf("%s/%s", name, kind->file);

		if (fstatat(folder, inside, &status, AT_SYMLINK_NOFOLLOW) == 0)
			add_found_name(finding->names, before, name, len);
	} else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX) {
		_cleanup_free_ char *further = mem_printf("%s%s:", before, name);

		look_into_folder(openat(folder, name,
		                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
		                 finding, further, depth + 1);
	} else if (!S_ISDIR(status.st_mode) && ending && len > ending &&
	           strcmp(name + len - ending, kind->ending) == 0) {
		add_found_name(finding->names, before, name, len - ending);
	}
}

/* Takes the descriptor; -1 is fine. */
static void look_into_folder(int folder, struct finding *finding, const char *before, int depth)
{
	const bool many = finding->folders++ >= FOLDERS_MAX;
	DIR *entries = folder >= 0 && !many ? fdopendir(folder) : NULL;
	const struct dirent *entry;

	if (!entries) {
		if (folder >= 0)
			close(folder);
		return;
	}
	for (size_t seen = 0; seen < FOUND_MAX && (entry = readdir(entries)); seen++)
		look_at_entry(folder, finding, before, entry->d_name, depth);
	closedir(entries);
}

static int compare_name_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void put_sorted(struct buf *out, const json_t *names, size_t max)
{
	const size_t count = json_array_size(names);
	_cleanup_free_ const char **sorted = mem_alloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = json_string_value(json_array_get(names, i));
	qsort(sorted, count, sizeof(*sorted), compare_name_strings);
	for (size_t i = 0; i < count && i < max; i++) {
		buf_str(out, i ? ", " : "");
		buf_span(out, utf8_head(span_str(sorted[i]), NAME_SHOWN));
	}
	if (count > max)
		buf_printf(out, " and %zu more", count - max);
}

/* ---- what a project brings along ------------------------------------------------- */

enum { LEAVES_DEPTH = 2, LEAVES_MAX = 1000 }; /* of names in settings */

struct brought {
	const struct settings *settings;
	const char *project;
	json_t *names; /* of the one that is looked at */
};

/* "tools.shell.pager"; hooks are named by what they run. */
static void add_leaves(json_t *names, const char *before, const json_t *object, unsigned depth)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) {
		_cleanup_free_ char *path = mem_printf("%s%s%s", before, *before ? "." : "", name);

		if (json_array_size(names) >= LEAVES_MAX || (!depth && !strcmp(name, "hooks")))
			continue;
		if (json_object_size(value) && depth < LEAVES_DEPTH)
			add_leaves(names, path, value, depth + 1);
		else
			json_array_append_new(names, json_text(span_str(path)));
	}
}

static void add_hook_names(const struct hooks *hooks, json_t *names)
{
	json_auto_t *list = hooks_list(hooks);
	size_t i;
	json_t *hook;

	json_array_foreach(list, i, hook) {
		const char *event = json_string_value(json_object_get(hook, "event"));
		const char *command = json_string_value(json_object_get(hook, "command"));
		_cleanup_free_ char *text = mem_printf("%s: %s", event, command ? command : "");

		json_array_append_new(names, json_text(span_str(text)));
	}
}

/* To be listed; none of them is ever run. */
static struct hooks *brought_hooks(const struct brought *brought)
{
	_cleanup_free_ char *trust = mem_printf("%s/trusted_hooks.json",
	                                        home_gemini(settings_home(brought->settings)));
	const struct hooks_options options = { .project = brought->project, .cwd = brought->project,
		                               .session_id = "", .transcript_path = "",
		                               .trust_file = trust,
		                               .project_trusted = true, .enabled = true };

	return hooks_new(&options);
}

static void bring_settings(struct brought *brought, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *problems = json_array(), *object = NULL;
	struct err ignored = ERR_INIT;
	struct hooks *hooks;

	if (!door_read(brought->project, path, LIMIT_SETTINGS_BYTES, &text, &ignored) ||
	    !jsonc_parse(file_text_span(&text), &object, &ignored))
		return;
	add_leaves(brought->names, "", object, 0);
	hooks = brought_hooks(brought);
	hooks_add(hooks, HOOK_SOURCE_PROJECT, json_object_get(object, "hooks"), path, problems);
	add_hook_names(hooks, brought->names);
	hooks_free(hooks);
}

static void bring_hooks(struct brought *brought, const char *path)
{
	json_auto_t *problems = json_array();
	struct hooks *hooks = brought_hooks(brought);

	hooks_add_toml(hooks, HOOK_SOURCE_PROJECT, path, problems);
	add_hook_names(hooks, brought->names);
	hooks_free(hooks);
}

static void bring_claude_hooks(struct brought *brought, const char *path)
{
	json_auto_t *problems = json_array(), *said = NULL;
	struct hooks *hooks = brought_hooks(brought);
	bool off;

	said = settings_claude_hooks(brought->project, path, problems, NULL, &off);
	hooks_add(hooks, HOOK_SOURCE_PROJECT, said, path, problems);
	add_hook_names(hooks, brought->names);
	hooks_free(hooks);
}

static void bring_policies(struct brought *brought, const char *path)
{
	static const struct brought_kind kind = { NULL, ".toml" };
	struct finding finding = { .kind = &kind, .names = brought->names };

	look_into_folder(door_folder(brought->project, path), &finding, "", 1);
}

static void bring_commands(struct brought *brought, const char *path)
{
	(void)path;
	commands_add_names(brought->project, COMMANDS_PROJECT, brought->names);
}

static void bring_claude_commands(struct brought *brought, const char *path)
{
	(void)path;
	commands_add_names(brought->project, COMMANDS_CLAUDE_PROJECT, brought->names);
}

static void bring_server_names(struct brought *brought, const json_t *servers)
{
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)servers, name, entry)
		if (json_array_size(brought->names) < LEAVES_MAX)
			json_array_append_new(brought->names, json_cstr(name));
}

static void bring_servers(struct brought *brought, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *object = NULL;
	struct err ignored = ERR_INIT;

	if (door_read(brought->project, path, LIMIT_SETTINGS_BYTES, &text, &ignored) &&
	    json_parse_depth(file_text_span(&text), JSON_READ_DEPTH_MAX, &object, &ignored))
		bring_server_names(brought, json_object_get(object, "mcpServers"));
}

static void bring_codex_servers(struct brought *brought, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *object = NULL;
	struct err ignored = ERR_INIT;

	if (door_read(brought->project, path, LIMIT_SETTINGS_BYTES, &text, &ignored) &&
	    toml_parse(file_text_span(&text), &object, &ignored))
		bring_server_names(brought, json_object_get(object, "mcp_servers"));
}

static void bring_variable(void *data, struct span name, const char *value)
{
	struct brought *brought = data;

	(void)value;
	if (json_array_size(brought->names) < LEAVES_MAX)
		json_array_append_new(brought->names, json_text(name));
}

static void bring_variables(struct brought *brought, const char *path)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	if (door_read(brought->project, path, LIMIT_ENV_FILE_BYTES, &text, &ignored))
		env_file_parse(file_text_span(&text), bring_variable, brought);
}

/* Skills are named as activate_skill has them where that is their folder's name. */
static void bring_skills(struct brought *brought, const char *path)
{
	static const struct brought_kind kind = { "SKILL.md", NULL };
	struct finding finding = { .kind = &kind, .names = brought->names };

	look_into_folder(door_folder(brought->project, path), &finding, "", 1);
}

static void bring_agents(struct brought *brought, const char *path)
{
	agents_add_names(brought->project, path, brought->names);
}

static const struct brought_row {
	const char *path, *what;
	void (*names)(struct brought *brought, const char *path); /* or NULL */
} brought_rows[] = {
	{ ".gemini/settings.json", "settings and hooks", bring_settings },
	{ ".gemini/hooks.toml", "hooks, once they are trusted themselves", bring_hooks },
	{ ".claude/settings.json", "hooks, once they are trusted themselves", bring_claude_hooks },
	{ ".claude/settings.local.json", "hooks, once they are trusted themselves",
	  bring_claude_hooks },
	{ ".gemini/policies", "rules", bring_policies },
	{ ".gemini/policies.toml", "rules", NULL },
	{ ".gemini/commands", "commands", bring_commands },
	{ ".claude/commands", "commands", bring_claude_commands },
	{ ".claude/skills", "skills", bring_skills },
	{ ".gemini/skills", "skills", bring_skills },
	{ ".agents/skills", "skills", bring_skills },
	{ ".claude/agents", "agents", bring_agents },
	{ ".gemini/agents", "agents", bring_agents },
	{ ".gemini/system.md", "a system prompt, if GEMINI_SYSTEM_MD asks for it", NULL },
	{ ".gemini/.env", "variables", bring_variables },
	{ ".env", "variables", bring_variables },
	{ ".mcp.json", "MCP servers, once you have allowed them", bring_servers },
	{ ".codex/config.toml", "MCP servers, once you have allowed them", bring_codex_servers },
	{ "GEMINI.md", "instructions to the model", NULL },
	{ "AGENTS.md", "instructions to the model", NULL },
	{ "AGENTS.override.md", "instructions to the model", NULL },
	{ "CLAUDE.md", "instructions to the model", NULL },
	{ "CLAUDE.local.md", "instructions to the model", NULL },
	{ ".claude/CLAUDE.md", "instructions to the model", NULL },
	{ ".claude/rules", "instructions to the model", NULL },
	{ ".cursorrules", "instructions to the model", NULL },
	{ ".cursor/rules", "instructions to the model", NULL },
	{ ".github/copilot-instructions.md", "instructions to the model", NULL },
	{ ".github/instructions", "instructions to the model", NULL },
};

json_t *prepare_brought(const struct settings *settings)
{
	const struct home *home = settings_home(settings);
	struct brought brought = { .settings = settings, .project = home_project(home) };
	const bool own = strcmp(home_user(home), brought.project) == 0;
	json_t *list = json_array();

	/* The home folder's are the user's. */
	for (size_t i = 0; i < ARRAY_LEN(brought_rows) && !own; i++) {
		const struct brought_row *row = &brought_rows[i];
		_cleanup_free_ char *path = path_join(brought.project, row->path);

		if (access(path, F_OK) != 0)
			continue;
		brought.names = json_array();
		if (row->names)
			row->names(&brought, path);
		json_array_append_new(list, json_pack("{s:s, s:s, s:o}", "path", row->path, "what",
		                                      row->what, "names", brought.names));
	}
	return list;
}

char *prepare_brought_names(const json_t *item, size_t max)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	put_sorted(&out, json_object_get(item, "names"), max);
	return mem_strdup(out.len ? out.data : "");
}
