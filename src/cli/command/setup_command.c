/* SPDX-License-Identifier: Apache-2.0 */
/* hasp setup: what the home folder, the project and extensions bring, and which of it works here.
 * Everything is read as it would be for a session; nothing is run. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "catalog/agents.h"
#include "catalog/commands.h"
#include "catalog/skills.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "config/extensions.h"
#include "config/servers.h"
#include "data/json.h"
#include "data/toml.h"
#include "install/inventory.h"

enum { FOREIGN_MEMBERS_DEPTH = 64 };

/* Whose pieces are listed together. */
enum setup_whose { SETUP_HOME, SETUP_PROJECT, SETUP_WHOSE };

struct setup_check {
	const struct settings *settings;
	struct inventory whose[SETUP_WHOSE];
};

static const char *whose_folder(const struct setup_check *check, enum setup_whose whose)
{
	const struct home *home = settings_home(check->settings);

	return whose == SETUP_PROJECT ? home_project(home) : home_user(home);
}

/* By where the file is; what has no file is the user's. */
static enum setup_whose whose_path(const struct setup_check *check, const char *path)
{
	const char *home = whose_folder(check, SETUP_HOME);
	const char *project = whose_folder(check, SETUP_PROJECT);

	return path && strcmp(home, project) != 0 && path_is_under(path, project) &&
	       (!path_is_under(path, home) || strlen(project) > strlen(home)) ?
	               SETUP_PROJECT : SETUP_HOME;
}

/* A piece of a file; its path is shown relative to whose it is. */
static void check_add(struct setup_check *check, const char *path, struct piece_said piece)
{
	const enum setup_whose whose = whose_path(check, path);
	const char *folder = whose_folder(check, whose);

	piece.file = (path && path_is_under(path, folder) && strlen(path) > strlen(folder) ?
	                              path + strlen(folder) + 1 : path);
	inventory_add(&check->whose[whose], &piece);
}

static void check_broken(struct setup_check *check, const char *kind, const char *name,
                         const char *path, const char *message)
{
	const enum setup_whose whose = whose_path(check, path);

	inventory_add_problem(&check->whose[whose], kind, name, whose_folder(check, whose), path,
	                      message);
}

/* ---- commands, skills, agents ----------------------------------------------------------- */

static void check_commands(struct setup_check *check)
{
	struct custom_commands commands;

	commands_find(check->settings, /* project= */ true, &commands);
	for (size_t i = 0; i < commands.count; i++) {
		const struct custom_command *command = &commands.at[i];
		_cleanup_free_ char *typed = mem_printf("/%s", command->name);
		struct err err = ERR_INIT;
		json_auto_t *text = command->extension ? NULL : commands_read(command, &err);
		const char *about = json_string_value(json_object_get(text, "description"));

		if (text)
			check_add(check, command->path, (struct piece_said){
				.kind = "command", .name = typed, .text = about });
		else if (!command->extension)
			check_broken(check, "command", typed, command->path, err.message);
	}
	commands_release(&commands);
}

/* Sentences of a catalogue about files that are not used: "PATH is ignored: WHY".  Those of
 * extensions are in the extensions' own lists. */
static void check_ignored(struct setup_check *check, const char *kind, const json_t *notices)
{
	static const char mark[] = " is ignored: ";
	_cleanup_free_ char *extensions = extensions_folder(settings_home(check->settings));
	const json_t *notice;
	size_t i;

	json_array_foreach(notices, i, notice) {
		const char *text = json_string_value(notice);
		const char *end = text ? strstr(text, mark) : NULL;
		_cleanup_free_ char *file = end ? mem_dup(text, (size_t)(end - text)) : NULL;

		if (file && !path_is_under(file, extensions))
			check_broken(check, kind, "", file, end + strlen(mark));
	}
}

static void check_skills(struct setup_check *check)
{
	struct skills *skills = skills_discover(check->settings, /* local= */ true);

	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];
		const bool off = skill->disabled;

		if (!skill->extension)
			check_add(check, skill->file, (struct piece_said){
				.kind = "skill", .name = skill->name, .text = skill->description,
				.state = off ? PIECE_UNUSED : PIECE_WORKS,
				.why = off ? "skills.disabled names it" : "" });
	}
	check_ignored(check, "skill", skills->notices);
	skills_free(skills);
}

static void check_agents(struct setup_check *check)
{
	const struct home *home = settings_home(check->settings);
	struct agents *agents = agents_discover(check->settings, /* local= */ true);

	for (size_t i = 0; i < agents->count; i++) {
		const struct agent_definition *agent = &agents->at[i];
		const char *why = agent->disabled ? "agents.overrides switches it off" :
		                  !agent_is_allowed(agent, home) ?
		                          "you have not allowed it: hasp agents allow" : NULL;

		if (agent->from == AGENTS_USER || agent->from == AGENTS_PROJECT)
			check_add(check, agent->file, (struct piece_said){
				.kind = "agent", .name = agent->name, .text = agent->description,
				.state = why ? PIECE_UNUSED : PIECE_WORKS, .why = why });
	}
	check_ignored(check, "agent", agents->notices);
	agents_free(agents);
}

/* ---- servers, hooks, rules, settings ------------------------------------------------------ */

/* What it runs or contacts; names of variables alone, as their values may be secrets. */
static void setup_server(struct setup_check *check, const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *file = json_string_value(json_object_get(row, "file"));
	const char *off = json_string_value(json_object_get(row, "off"));
	const json_t *entry = json_object_get(row, "entry");
	const char *why = servers_entry_problem(name, entry);
	_cleanup_free_ char *text = why ? NULL : servers_project_question(entry, entry);

	if (why) {
		check_broken(check, "MCP server", name, file, why);
		return;
	}
	check_add(check, file, (struct piece_said){
		.kind = "MCP server", .name = name, .text = text, .why = off,
		.state = off ? PIECE_UNUSED : PIECE_WORKS, .runs = !off });
}

static void setup_servers(struct setup_check *check)
{
	json_auto_t *warnings = json_array();
	json_auto_t *rows = servers_configured(check->settings, warnings);
	const json_t *row, *warning;
	size_t i;

	json_array_foreach(rows, i, row) {
		const struct span origin = json_span(json_object_get(row, "origin"));

		if (!span_starts(origin, SPAN("extension ")))
			setup_server(check, row);
	}
	json_array_foreach(warnings, i, warning)
		check_broken(check, "MCP server", "", NULL, json_string_value(warning));
}

static void setup_hook(struct setup_check *check, const json_t *row)
{
	const char *file = json_string_value(json_object_get(row, "file"));
	const char *source = json_string_value(json_object_get(row, "source"));
	const bool works = json_is_true(json_object_get(row, "enabled"));
	const bool trusted = json_is_true(json_object_get(row, "trusted"));

	if (source && !strcmp(source, "extension"))
		return;
	check_add(check, file, (struct piece_said){
		.kind = "hook, which runs outside the sandbox,",
		.name = json_string_value(json_object_get(row, "event")),
		.text = json_string_value(json_object_get(row, "command")),
		.state = works ? PIECE_WORKS : PIECE_UNUSED, .runs = works,
		.why = works   ? "" :
		       trusted ? "it is off" : "it is not trusted yet: hasp hooks trust" });
}

static void setup_hooks(struct setup_check *check)
{
	json_auto_t *problems = json_array(), *unused = json_array(), *list = NULL;
	const struct hooks_sources sources = {
		.settings = check->settings, .project = whose_folder(check, SETUP_PROJECT),
		.local = true, .session_id = "", .transcript_path = "", .unused = unused,
	};
	struct hooks *hooks = setup_load_hooks(&sources, problems);
	_cleanup_free_ char *extensions = extensions_folder(settings_home(check->settings));
	const json_t *row;
	size_t i;

	list = hooks_list(hooks);
	json_array_foreach(list, i, row)
		setup_hook(check, row);
	json_array_foreach(problems, i, row) {
		const char *file = json_string_value(json_object_get(row, "source"));

		if (!file || !path_is_under(file, extensions))
			check_broken(check, "hook", "", file,
			             json_string_value(json_object_get(row, "message")));
	}
	json_array_foreach(unused, i, row) {
		static const char mark[] = ": not used by hasp: ";
		const char *text = json_string_value(row), *end = strstr(text, mark);
		_cleanup_free_ char *file = end ? mem_dup(text, (size_t)(end - text)) : NULL;

		check_add(check, file, (struct piece_said){
			.kind = "", .name = (end ? end + strlen(mark) : text),
			.state = PIECE_UNUSED });
	}
	hooks_free(hooks);
}

static void check_policy_folder(struct setup_check *check, const char *folder)
{
	char **names;
	const size_t count = door_names(door_folder(folder, folder), LIMIT_SKILLS, &names);

	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *name = names[i];
		_cleanup_free_ char *path = path_join(folder, name);
		const bool rules = span_ends(span_str(name), SPAN(".toml"));

		check_add(check, path, (struct piece_said){
			.kind = rules ? "rules" : "file", .name = name,
			.state = rules ? PIECE_WORKS : PIECE_UNUSED,
			.why = rules ? "" : "files of rules have names that end in .toml" });
	}
	free(names);
}

static void check_rules(struct setup_check *check)
{
	const struct home *home = settings_home(check->settings);
	const struct policy_sources sources = { .settings = check->settings };
	_cleanup_free_ char *own = setup_policy_save_folder(check->settings), *lost = NULL;
	_cleanup_free_ char *projects = path_join(home_project(home), ".gemini/policies");
	json_auto_t *problems = json_array();
	struct policy *policy = NULL;
	struct err err = ERR_INIT;
	const json_t *row;
	size_t i;

	check_policy_folder(check, own);
	if (strcmp(home_user(home), home_project(home)) != 0)
		check_policy_folder(check, projects);
	if (policy_load(&sources, problems, &policy, &lost, &err))
		policy_free(policy);
	json_array_foreach(problems, i, row) {
		const char *file = json_string_value(json_object_get(row, "file"));
		const char *kind = json_string_value(json_object_get(row, "kind"));
		_cleanup_free_ char *text = setup_policy_problem_text(row);

		/* Hooks have lines already. */
		if (!kind || strcmp(kind, "hook_lost") != 0)
			check_broken(check, "rules", "", file, text);
	}
}

static void setup_settings(struct setup_check *check)
{
	const json_t *sentence;
	size_t i;

	json_array_foreach(settings_warnings(check->settings), i, sentence)
		check_broken(check, "setting", "", NULL, json_string_value(sentence));
}

/* Which of them are read is for the setting context.fileName. */
static void setup_instruction(struct setup_check *check, enum setup_whose whose, const char *name)
{
	_cleanup_free_ char *path = path_join(whose_folder(check, whose), name);
	struct stat status;

	if (lstat(path, &status) == 0)
		inventory_add(&check->whose[whose], &(struct piece_said){
			.kind = "instructions", .file = name, .name = name,
			.text = "\"hasp context\" shows what is read of them" });
}

static void setup_instructions(struct setup_check *check)
{
	static const char *const homes[] = { ".gemini/GEMINI.md", ".claude/CLAUDE.md",
		                             ".codex/AGENTS.md" };
	json_auto_t *brought = prepare_brought(check->settings);
	const json_t *item;
	size_t i;

	for (i = 0; i < ARRAY_LEN(homes); i++)
		setup_instruction(check, SETUP_HOME, homes[i]);
	json_array_foreach(brought, i, item)
		if (span_starts(json_span(json_object_get(item, "what")), SPAN("instructions")))
			setup_instruction(check, SETUP_PROJECT,
			                  json_string_value(json_object_get(item, "path")));
}

/* ---- what other programs have and hasp has no use for -------------------------------------- */

/* Files and folders; `home`, `project`: where. */
static const struct {
	const char *path, *kind, *why;
	bool home, project;
} foreign_places[] = {
	{ ".claude/output-styles", "output styles", "hasp has none", true, true },
	{ ".claude/themes", "themes", "hasp has other files for these", true, false },
	{ ".claude/keybindings.json", "key bindings",
	  "~/.gemini/keybindings.json has hasp's", true, false },
	{ ".claude/workflows", "workflows", "hasp has none", true, true },
	{ ".claude/plugins/installed_plugins.json", "plugins that Claude Code has installed",
	  "hasp extensions install takes a plugin's folder, or PLUGIN@MARKETPLACE", true, false },
	{ ".codex/prompts", "prompts of Codex",
	  "as files in ~/.claude/commands they are commands", true, false },
	{ ".codex/skills", "skills of Codex", "in .agents/skills they are used", true, true },
	{ ".codex/agents", "agents of Codex", "agents are Markdown in .claude/agents", true, true },
	{ ".codex/hooks.json", "hooks of Codex", "hooks of .claude/settings.json are used", true,
	  true },
	{ ".cursor/mcp.json", "MCP servers of Cursor", ".mcp.json is read", true, true },
	{ ".cursor/commands", "commands of Cursor", ".claude/commands is read", true, true },
	{ ".cursor/agents", "agents of Cursor", ".claude/agents is read", true, true },
	{ ".cursor/hooks.json", "hooks of Cursor", "hooks of .claude/settings.json are used", true,
	  true },
	{ ".vscode/mcp.json", "MCP servers of VS Code", ".mcp.json is read", false, true },
	{ ".github/prompts", "prompts of Copilot", ".claude/commands is read", false, true },
	{ ".github/agents", "agents of Copilot", ".claude/agents is read", false, true },
	{ ".github/skills", "skills of Copilot", ".agents/skills is read", false, true },
	{ ".github/hooks", "hooks of Copilot", "hooks of .claude/settings.json are used", false,
	  true },
	{ ".copilot/mcp-config.json", "MCP servers of Copilot",
	  "hasp mcp add takes a server", true, false },
	{ ".windsurf", "files of Windsurf", "hasp reads none of them", false, true },
	{ ".clinerules", "rules of Cline", "hasp does not read them", false, true },
	{ ".kiro", "files of Kiro", "hasp reads none of them", true, true },
	{ ".opencode", "files of OpenCode", "hasp reads none of them", false, true },
	{ "opencode.json", "settings of OpenCode", "hasp does not read them", false, true },
	{ ".lsp.json", "language servers", "hasp starts none", false, true },
};

/* Members of other programs' settings that are used, or that say nothing about a session. */
static const char *const claude_members[] = {
	"$schema", "hooks", "disableAllHooks", "permissions", "enabledMcpjsonServers",
	"disabledMcpjsonServers", "enableAllProjectMcpServers", "extraKnownMarketplaces", NULL,
};
static const char *const codex_members[] = {
	"mcp_servers", "marketplaces", "approval_policy", "sandbox_mode", "sandbox_workspace_write",
	"profile", "profiles", "projects", NULL,
};

static const struct {
	const char *path;
	const char *const *known;
	bool toml;
} foreign_settings[] = {
	{ ".claude/settings.json", claude_members, false },
	{ ".claude/settings.local.json", claude_members, false },
	{ ".codex/config.toml", codex_members, true },
};

static void check_foreign_file(struct setup_check *check, enum setup_whose whose, size_t row)
{
	const char *folder = whose_folder(check, whose), *member;
	const bool toml = foreign_settings[row].toml;
	_cleanup_free_ char *path = path_join(folder, foreign_settings[row].path);
	/* The user may have made a link of it, a project's leads nowhere else. */
	_cleanup_free_ char *real = whose == SETUP_HOME ? realpath(path, NULL) : mem_strdup(path);
	_cleanup_free_ char *above = real && whose == SETUP_HOME ? path_folder(real) :
	                                                           mem_strdup(folder);
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *said = NULL;
	struct err err = ERR_INIT;
	json_t *value;

	if (!real)
		return;
	if (!door_read(above, real, LIMIT_SETTINGS_BYTES, &text, &err) ||
	    (text.data && !(toml ? toml_parse(file_text_span(&text), &said, &err) :
	                           json_parse_foreign(file_text_span(&text),
	                                              FOREIGN_MEMBERS_DEPTH, &said, NULL,
	                                              &err))))
		check_broken(check, "settings", "", path, err.message);
	json_object_foreach(said, member, value) {
		bool known = false;

		for (size_t i = 0; foreign_settings[row].known[i]; i++)
			known = known || !strcmp(foreign_settings[row].known[i], member);
		if (!known)
			inventory_add(&check->whose[whose], &(struct piece_said){
				.kind = "setting", .name = member,
				.file = foreign_settings[row].path, .state = PIECE_UNUSED,
				.why = toml ? "it is Codex's own" : "it is Claude Code's own" });
	}
}

static void check_foreign(struct setup_check *check, enum setup_whose whose)
{
	for (size_t i = 0; i < ARRAY_LEN(foreign_places); i++) {
		_cleanup_free_ char *path = path_join(whose_folder(check, whose),
		                                      foreign_places[i].path);
		struct stat status;

		if ((whose == SETUP_PROJECT ? foreign_places[i].project :
		                              foreign_places[i].home) &&
		    lstat(path, &status) == 0)
			inventory_add(&check->whose[whose], &(struct piece_said){
				.kind = foreign_places[i].kind, .state = PIECE_UNUSED,
				.file = foreign_places[i].path,
				.why = foreign_places[i].why });
	}
	for (size_t i = 0; i < ARRAY_LEN(foreign_settings); i++)
		check_foreign_file(check, whose, i);
}

/* ---- all of it ------------------------------------------------------------------------------ */

struct setup_report {
	struct buf out;
	json_t *sections; /* owned; as --json prints them */
	size_t broken;
};

static void report_add(struct setup_report *report, const char *title, const char *folder,
                       const char *note, const struct inventory *inventory)
{
	_cleanup_free_ char *lines = inventory_lines(inventory, NULL);
	_cleanup_free_ char *shown = extension_line(span_str(folder));
	_cleanup_free_ char *whose = extension_line(span_str(title));

	buf_printf(&report->out, "%s%s, %s%s%s:\n%s", report->out.len ? "\n" : "", whose, shown,
	           *note ? ": " : "", note, lines);
	json_array_append_new(report->sections, json_pack(
		"{s:o, s:o, s:s, s:o}", "from", json_cstr(whose), "folder", json_name(folder),
		"note", note, "pieces", inventory_json(inventory)));
	report->broken += inventory_count(inventory, PIECE_BROKEN);
}

/* False: it cannot be read; *err. */
static bool report_extension(struct setup_report *report, const char *folder, const char *note,
                             struct err *err)
{
	_cleanup_inventory_ struct inventory inventory = { 0 };
	_cleanup_free_ char *title = NULL;
	json_auto_t *manifest = extension_manifest_read(folder, NULL, err);

	if (!manifest)
		return false;
	title = mem_printf("%s \"%s\"", extension_format_title(manifest),
	                   json_string_value(json_object_get(manifest, "name")));
	inventory_add_extension(&inventory, folder, manifest);
	report_add(report, title, folder, note, &inventory);
	return true;
}

static void report_extensions(struct setup_report *report, const struct settings *settings)
{
	const struct extensions *all = extensions_installed(settings);
	_cleanup_inventory_ struct inventory broken = { 0 };
	_cleanup_free_ char *folder = extensions_folder(settings_home(settings));
	const json_t *notice;
	size_t i;

	for (i = 0; i < all->count; i++) {
		const struct extension *one = &all->at[i];
		struct err err = ERR_INIT;

		if (!report_extension(report, one->folder, one->off ? one->off :
		                      one->enabled ? "" : "it is disabled here", &err))
			inventory_add_problem(&broken, "extension", one->name, folder, one->folder,
			                      err.message);
	}
	json_array_foreach(all->notices, i, notice)
		inventory_add_problem(&broken, "extension", "", folder, "",
		                      json_string_value(notice));
	if (broken.count)
		report_add(report, "Extensions", folder, "", &broken);
}

static void check_all(struct setup_check *check)
{
	setup_settings(check);
	setup_instructions(check);
	setup_servers(check);
	setup_hooks(check);
	check_commands(check);
	check_skills(check);
	check_agents(check);
	check_rules(check);
	check_foreign(check, SETUP_HOME);
	if (strcmp(whose_folder(check, SETUP_HOME), whose_folder(check, SETUP_PROJECT)) != 0)
		check_foreign(check, SETUP_PROJECT);
}

/* The project's files are read as if it were trusted: nothing of them is used. `alone`: neither the
 * home folder nor extensions are of interest. */
static bool report_project(struct setup_report *report, const char *project, bool alone,
                           struct err *err)
{
	const struct settings_options options = { .project = project, .skip_trust = true };
	const struct settings_options plain = { .project = project };
	struct settings *settings, *real;
	struct setup_check check = { 0 };
	bool trusted;

	if (!settings_load(&plain, &real, err))
		return false;
	trusted = settings_trusted(real);
	settings_free(real);
	if (!settings_load(&options, &settings, err))
		return false;
	check.settings = settings;
	check_all(&check);
	if (!alone)
		report_add(report, "Home", whose_folder(&check, SETUP_HOME), "",
		           &check.whose[SETUP_HOME]);
	if (alone || strcmp(whose_folder(&check, SETUP_HOME), project) != 0)
		report_add(report, "Project", project,
		           trusted ? "" : "not trusted, so nothing of it is used before \"hasp "
		                          "config trust\"", &check.whose[SETUP_PROJECT]);
	if (!alone)
		report_extensions(report, settings);
	for (int i = 0; i < SETUP_WHOSE; i++)
		inventory_release(&check.whose[i]);
	settings_free(settings);
	return true;
}

/* Whether a folder without a manifest is a project's, and no plugin. */
static bool is_project(const char *folder)
{
	static const char *const names[] = { ".gemini", ".claude", ".codex", ".agents", ".cursor",
		                             ".git", ".github" };
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(names) && !found; i++) {
		_cleanup_free_ char *path = path_join(folder, names[i]);
		struct stat status;

		found = lstat(path, &status) == 0;
	}
	return found;
}

static bool report_all(struct setup_report *report, const char *folder, struct err *err)
{
	_cleanup_free_ char *real = realpath(folder ? folder : ".", NULL);

	if (!real || !door_is_folder(real))
		return err_set(err, ERR_FILE_NOT_FOUND, "%.500s does not exist, or is not a "
		               "folder.", folder ? folder : ".");
	if (folder && (extension_is_in(real) || (extension_is_bare(real) && !is_project(real))))
		return report_extension(report, real, "", err);
	return report_project(report, real, folder != NULL, err);
}

int command_run_setup(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	struct setup_report report = { .out = BUF_INIT(LIMIT_RESULT_BYTES) };
	struct err err = ERR_INIT;
	bool ok;

	if (!action || strcmp(action, "check") != 0 || invocation->positional_count > 2) {
		err_set(&err, ERR_INVALID_ARGUMENT, "hasp setup takes check [PATH].");
		return output_fail(&err, CLI_USAGE);
	}
	report.sections = json_array();
	ok = report_all(&report, invocation_positional(invocation, 1), &err) &&
	     (invocation_has(invocation, FLAG_JSON) ?
	              output_json(report.sections, /* indent= */ true, &err) :
	              agent_output_lines(buf_view(&report.out), &err));
	if (ok && report.broken)
		ok = err_set(&err, ERR_INVALID_ARGUMENT, "%zu of these pieces %s broken.",
		             report.broken, report.broken == 1 ? "is" : "are");
	buf_release(&report.out);
	json_decref(report.sections);
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}
