/* SPDX-License-Identifier: Apache-2.0 */
/* All that an extension brings, piece by piece. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "catalog/agents.h"
#include "catalog/commands.h"
#include "catalog/skills.h"
#include "config/extensions.h"
#include "config/servers.h"
#include "data/hook_events.h"
#include "data/json.h"
#include "hooks/hooks.h"
#include "install/inventory.h"
#include "install/private.h"
#include "policy/policy.h"

enum {
	CONSENT_BYTES = 256 << 10,
	CONSENT_FILES_MAX = 1000,  /* of one folder */
	CONSENT_SCREEN = 15,       /* more lines may have left the screen when the last is read */
};

#define BRINGS_HOOK "hook, which runs outside the sandbox,"
#define BRINGS_SERVER "MCP server"
#define BRINGS_HOOKS_FILE "hooks/hooks.json"

/* ---- what it brings ------------------------------------------------------------------ */

struct bringing {
	const char *folder;
	const json_t *manifest;
	struct inventory *inventory;
};

/* One that works. */
static void bring(struct bringing *bringing, const char *kind, const char *name, const char *text,
                  const char *file)
{
	inventory_add(bringing->inventory, &(struct piece_said){
		.kind = kind, .name = name, .text = text, .file = file });
}

/* One for which a program is run. */
static void bring_program(struct bringing *bringing, const char *kind, const char *name,
                          const char *text, const char *file)
{
	inventory_add(bringing->inventory, &(struct piece_said){
		.kind = kind, .name = name, .text = text, .file = file,
		.runs = true });
}

static void bring_broken(struct bringing *bringing, const char *kind, const char *name,
                         const char *file, const char *why)
{
	inventory_add_problem(bringing->inventory, kind, name, bringing->folder, file, why);
}

static void bring_unused(struct bringing *bringing, const char *kind, const char *name,
                         const char *file, const char *why)
{
	inventory_add(bringing->inventory, &(struct piece_said){
		.kind = kind, .name = name, .file = file, .state = PIECE_UNUSED,
		.why = why });
}

static const char *manifest_name(const struct bringing *bringing)
{
	return extension_manifest_file(bringing->manifest);
}

static void put_word(struct buf *out, const json_t *word)
{
	if (json_is_string(word) && json_string_length(word) &&
	    !strpbrk(json_string_value(word), " \t\n\"'"))
		buf_span(out, json_span(word));
	else
		json_print(out, word, 0);
}

/* Whose tokens it gets. */
static void consent_provider(const json_t *entry, struct buf *text)
{
	const json_t *audience = json_object_get(entry, "targetAudience");

	if (!json_object_get(entry, "authProviderType"))
		return;
	buf_str(text, ", with your login or a token of Google's: ");
	put_word(text, json_object_get(entry, "authProviderType"));
	if (audience) {
		buf_str(text, " for ");
		put_word(text, audience);
	}
}

/* Names of headers that it is sent; their values may be keys. */
static void consent_headers(const json_t *entry, struct buf *text)
{
	const json_t *headers = json_object_get(entry, "headers");
	const char *name, *before = ", with the headers ";
	json_t *value;

	json_object_foreach((json_t *)headers, name, value) {
		buf_str(text, before);
		buf_str(text, name);
		before = ", ";
	}
}

/* Variables that it is given: some of them name what is run (BASH_ENV, NODE_OPTIONS). */
static void consent_environment(const json_t *env, struct buf *text)
{
	const char *name, *before = ", with the variables ";
	json_t *value;

	json_object_foreach((json_t *)env, name, value) {
		buf_str(text, before);
		buf_str(text, name);
		buf_char(text, '=');
		put_word(text, value);
		before = ", ";
	}
}

static void consent_server(const json_t *entry, struct buf *text)
{
	const json_t *address = servers_entry_address(entry), *helper, *word;
	size_t i;

	buf_str(text, address ? "contact " : "run ");
	if (address) {
		buf_span(text, json_span(address));
		helper = json_object_get(entry, "headersHelper");
		if (helper) {
			buf_str(text, ", run for headers: ");
			buf_span(text, json_span(helper));
		}
	} else {
		put_word(text, json_object_get(entry, "command"));
		json_array_foreach(json_object_get(entry, "args"), i, word) {
			buf_char(text, ' ');
			put_word(text, word);
		}
	}
	consent_provider(entry, text);
	consent_headers(entry, text);
	consent_environment(json_object_get(entry, "env"), text);
	if (json_string_length(json_object_get(entry, "cwd"))) {
		buf_str(text, ", in the folder ");
		put_word(text, json_object_get(entry, "cwd"));
	}
}

static void consent_servers(struct bringing *bringing)
{
	const json_t *servers = json_object_get(bringing->manifest, "mcpServers");
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)servers, name, entry) {
		_cleanup_buf_ struct buf text = BUF_INIT(CONSENT_BYTES);
		const char *why = servers_entry_problem(name, entry);

		if (why) {
			bring_broken(bringing, BRINGS_SERVER, name, manifest_name(bringing), why);
			continue;
		}
		consent_server(entry, &text);
		bring_program(bringing, BRINGS_SERVER, name, text.data, manifest_name(bringing));
	}
}

/* ---- instructions, tools, themes ------------------------------------------------------- */

static bool bringing_has(const struct bringing *bringing, const char *name)
{
	_cleanup_free_ char *path = path_join(bringing->folder, name);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	return path_is_under(path, bringing->folder) &&
	       door_read(bringing->folder, path, LIMIT_MEMORY_FILE_BYTES, &text, &ignored) &&
	       text.data;
}

static void consent_context(struct bringing *bringing, const json_t *said)
{
	const char *name = json_string_value(said);

	if (name && *name && bringing_has(bringing, name))
		bring(bringing, "instructions", "", name, name);
	else
		bring_broken(bringing, "instructions", name, manifest_name(bringing),
		             "\"contextFileName\" names a file that is not there, or cannot be "
		             "read.");
}

static void consent_contexts(struct bringing *bringing)
{
	const json_t *said = json_object_get(bringing->manifest, "contextFileName"), *one;
	size_t i;

	if (json_string_length(said))
		consent_context(bringing, said);
	json_array_foreach(said, i, one)
		consent_context(bringing, one);
	if (!json_is_array(said) && !json_string_length(said) &&
	    bringing_has(bringing, "GEMINI.md"))
		bring(bringing, "instructions", "", "GEMINI.md", "GEMINI.md");
}

static void consent_excluded(struct bringing *bringing)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bringing->manifest, "excludeTools"), i, one)
		if (json_string_length(one))
			bring(bringing, "takes away the tool", "", json_string_value(one),
			      manifest_name(bringing));
		else
			bring_broken(bringing, "excluded tool", "", manifest_name(bringing),
			             "A member of \"excludeTools\" is not a tool's name.");
}

static void consent_themes(struct bringing *bringing)
{
	const char *extension = json_string_value(json_object_get(bringing->manifest, "name"));
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bringing->manifest, "themes"), i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));
		_cleanup_free_ char *whole = mem_printf("%s (%s)", name ? name : "", extension);

		if (name && *name)
			bring(bringing, "theme", whole, "", manifest_name(bringing));
		else
			bring_broken(bringing, "theme", "", manifest_name(bringing),
			             "A theme has no \"name\".");
	}
}

/* ---- hooks ----------------------------------------------------------------------------- */

/* With the words that it is started with ("args" of Claude Code's). */
static void consent_hook(struct bringing *bringing, const char *event, const json_t *hook)
{
	const char *command = json_string_value(json_object_get(hook, "command"));
	const char *type = json_string_value(json_object_get(hook, "type"));
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_SETTINGS_BYTES);
	const json_t *arg;
	size_t i;

	if (!command || !*command || !type || strcmp(type, "command") != 0)
		return;
	buf_str(&line, command);
	json_array_foreach(json_object_get(hook, "args"), i, arg)
		if (json_is_string(arg))
			buf_printf(&line, " %s", json_string_value(arg));
	consent_environment(json_object_get(hook, "env"), &line);
	bring_program(bringing, BRINGS_HOOK, event, line.data, BRINGS_HOOKS_FILE);
}

/* What is said of them where they are used. */
static void consent_hook_problems(struct bringing *bringing, const json_t *said)
{
	const struct hooks_options options = { .enabled = true };
	struct hooks *hooks = hooks_new(&options);
	_cleanup_free_ char *file = path_join(bringing->folder, BRINGS_HOOKS_FILE);
	json_auto_t *problems = json_array();
	const json_t *problem;
	size_t i;

	hooks_add(hooks, HOOK_SOURCE_EXTENSION, said, file, problems);
	json_array_foreach(problems, i, problem)
		bring_broken(bringing, "hook", "", file,
		             json_string_value(json_object_get(problem, "message")));
	hooks_free(hooks);
}

static void consent_hooks(struct bringing *bringing)
{
	struct err err = ERR_INIT;
	json_auto_t *hooks = extension_hooks_said(bringing->folder, bringing->manifest, &err);
	_cleanup_free_ char *stray = extension_hooks_stray(bringing->folder, bringing->manifest);
	const json_t *groups, *group, *hook;
	const char *event;
	size_t i, k;

	if (err.code != ERR_NONE)
		bring_broken(bringing, "hooks that cannot be read", "", BRINGS_HOOKS_FILE,
		             err.message);
	if (stray)
		bring_broken(bringing, "hooks that do not run", "", "hooks.json", stray);
	if (hooks)
		consent_hook_problems(bringing, hooks);
	json_object_foreach(hooks, event, groups)
		json_array_foreach(groups, i, group)
			json_array_foreach(json_object_get(group, "hooks"), k, hook)
				if (hook_events_find(event, /* claude= */ false))
					consent_hook(bringing, event, hook);
}

/* ---- commands, skills, agents, rules --------------------------------------------------- */

static void consent_commands(struct bringing *bringing)
{
	struct custom_commands commands = { 0 };

	commands_in_extension(bringing->folder, bringing->manifest, &commands);
	for (size_t i = 0; i < commands.count; i++) {
		const struct custom_command *command = &commands.at[i];
		_cleanup_free_ char *typed = mem_printf("/%s", command->name);
		struct err err = ERR_INIT;
		json_auto_t *text = commands_read(command, &err);

		if (text)
			bring(bringing, "command", typed, "", command->path +
			      strlen(bringing->folder) + 1);
		else
			bring_broken(bringing, "command", typed, command->path, err.message);
	}
	commands_release(&commands);
}

/* Of a catalogue's sentences those about files that are not used, "PATH is ignored: WHY". */
static void consent_ignored(struct bringing *bringing, const char *kind, const json_t *notices)
{
	static const char mark[] = " is ignored: ";
	const json_t *notice;
	size_t i;

	json_array_foreach(notices, i, notice) {
		const char *text = json_string_value(notice);
		const char *end = text ? strstr(text, mark) : NULL;
		_cleanup_free_ char *file = end ? mem_dup(text, (size_t)(end - text)) : NULL;

		if (end)
			bring_broken(bringing, kind, "", file, end + strlen(mark));
	}
}

static void consent_skills(struct bringing *bringing)
{
	struct skills *skills = skills_in_extension(bringing->folder, bringing->manifest);

	for (size_t i = 0; i < skills->count; i++)
		bring(bringing, "skill", skills->at[i].name, skills->at[i].description,
		      skills->at[i].file + strlen(bringing->folder) + 1);
	consent_ignored(bringing, "skill", skills->notices);
	skills_free(skills);
}

static void consent_agents(struct bringing *bringing)
{
	struct agents *agents = agents_in_extension(bringing->folder, bringing->manifest);

	for (size_t i = 0; i < agents->count; i++)
		bring(bringing, "agent", agents->at[i].name, agents->at[i].description,
		      agents->at[i].file + strlen(bringing->folder) + 1);
	consent_ignored(bringing, "agent", agents->notices);
	agents_free(agents);
}

/* One file of rules. A name that nothing has yet is none of its faults. */
static void consent_rules(struct bringing *bringing, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL);
	_cleanup_free_ char *top = realpath(bringing->folder, NULL);
	struct policy *policy;
	json_auto_t *problems = json_array();
	const json_t *problem;
	size_t i;

	if (!real || !top || !path_is_under(real, top)) {
		bring_broken(bringing, "rules", strrchr(path, '/') + 1, path,
		             "It is not there, or a link leads out of the folder.");
		return;
	}
	policy = policy_new();
	if (policy_add_file(policy, POLICY_EXTENSION, path, problems))
		bring(bringing, "rules", "", strrchr(path, '/') + 1,
		      path + strlen(bringing->folder) + 1);
	json_array_foreach(problems, i, problem) {
		const char *kind = json_string_value(json_object_get(problem, "kind"));
		const char *message = json_string_value(json_object_get(problem, "message"));
		const json_t *line = json_object_get(problem, "line");
		if (kind && !strcmp(kind, "tool_name_warning"))
			continue;
		bring_broken(bringing, "rules", strrchr(path, '/') + 1, path,
		             message ? message : "");
		if (bringing->inventory->count && json_integer_value(line) > 0)
			bringing->inventory->at[bringing->inventory->count - 1].line =
				(unsigned)json_integer_value(line);
	}
	policy_free(policy);
}

/* ---- what lies where it does not count -------------------------------------------------- */

static const char *part_suffix(const struct bringing *bringing, enum extension_part part)
{
	static const char *const suffixes[EXTENSION_PARTS] = {
		[EXTENSION_COMMANDS] = ".toml", [EXTENSION_AGENTS] = ".md",
		[EXTENSION_POLICIES] = ".toml",
	};

	return part == EXTENSION_COMMANDS &&
	               extension_format(bringing->manifest) != EXTENSION_GEMINI ?
	               ".md" : suffixes[part];
}

/* A name in the folder of a part. */
static void consent_name(struct bringing *bringing, enum extension_part part, const char *place,
                         const char *name)
{
	const char *suffix = part_suffix(bringing, part);
	_cleanup_free_ char *inner = *place ? mem_printf("%s/%s", place, name) : mem_strdup(name);
	_cleanup_free_ char *path = path_join(bringing->folder, inner);
	_cleanup_free_ char *manual = path_join(path, "SKILL.md"), *why = NULL;
	struct stat status;
	const bool there = lstat(path, &status) == 0;

	if (!there || (suffix && S_ISDIR(status.st_mode)))
		return;
	if (!suffix) {
		if (S_ISDIR(status.st_mode) && lstat(manual, &status) < 0)
			bring_unused(bringing, "folder", inner, inner, "it has no SKILL.md");
		return;
	}
	if (part == EXTENSION_POLICIES && span_ends(span_str(name), span_str(suffix))) {
		consent_rules(bringing, path);
		return;
	}
	if (span_ends(span_str(name), span_str(suffix)) ||
	    !strncasecmp(name, "README", strlen("README")))
		return;
	why = mem_printf("%s of a %s are files whose names end in %s",
	                 extension_part_name(part), extension_format_title(bringing->manifest),
	                 suffix);
	bring_unused(bringing, "file", inner, inner, why);
}

static void consent_place(struct bringing *bringing, enum extension_part part, const char *place)
{
	_cleanup_free_ char *path = path_join(bringing->folder, place);
	char **names;
	size_t count;

	if (part == EXTENSION_POLICIES && span_ends(span_str(place), SPAN(".toml"))) {
		consent_rules(bringing, path);
		return;
	}
	/* The extension's folder has other things, too. */
	if (!*place)
		return;
	count = door_names(door_folder(bringing->folder, path), CONSENT_FILES_MAX, &names);
	for (size_t i = 0; i < count; i++) {
		consent_name(bringing, part, place, names[i]);
		free(names[i]);
	}
	free(names);
	if (count == CONSENT_FILES_MAX)
		bring_unused(bringing, "folder", place, place,
		             "it has a thousand names or more, of which the first are listed");
}

static void consent_places(struct bringing *bringing, enum extension_part part)
{
	const json_t *place;
	size_t i;

	json_array_foreach(extension_part(bringing->manifest, part), i, place)
		consent_place(bringing, part, json_string_value(place));
}

/* ---- variables of the user's ----------------------------------------------------------- */

static bool names_a_setting(const struct bringing *bringing, struct span name)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bringing->manifest, "settings"), i, one)
		if (span_eq(json_span(json_object_get(one, "envVar")), name))
			return true;
	return false;
}

/* Names that stand for the extension itself. */
static bool is_extensions_name(struct span name)
{
	static const char *const own[] = {
		"extensionPath",      "workspacePath",      "pathSeparator",
		"CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA", "CLAUDE_PROJECT_DIR", "user_config",
	};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (span_eq(name, span_str(own[i])))
			return true;
	return false;
}

/* $NAME and ${NAME...} of a text, each once; not those that stand for the extension's own. */
static void add_variables(const struct bringing *bringing, struct span text, json_t *names)
{
	while (text.len) {
		const char *dollar = memchr(text.data, '$', text.len);
		size_t len = 0;

		if (!dollar)
			return;
		text = span_skip(text, (size_t)(dollar + 1 - text.data));
		text = span_skip(text, text.len && text.data[0] == '{');
		while (len < text.len && (ascii_is_alnum(text.data[len]) || text.data[len] == '_'))
			len++;
		if (len && !ascii_is_digit(text.data[0]) &&
		    !is_extensions_name(span_head(text, len)) &&
		    !names_a_setting(bringing, span_head(text, len)) &&
		    !json_lists(names, span_head(text, len)) &&
		    json_array_size(names) < CONSENT_FILES_MAX)
			json_array_append_new(names, json_text(span_head(text, len)));
		text = span_skip(text, len);
	}
}

/* Recursion is bounded by the depth that files are read with. */
static void add_variables_in(const struct bringing *bringing, const json_t *value, json_t *names)
{
	const char *name;
	json_t *one;
	size_t i;

	if (json_is_string(value))
		add_variables(bringing, json_span(value), names);
	json_array_foreach((json_t *)value, i, one)
		add_variables_in(bringing, one, names);
	json_object_foreach((json_t *)value, name, one)
		add_variables_in(bringing, one, names);
}

/* In hooks of Claude Code "$" is the shell's, in Agent Plugins nothing is. */
static void consent_variables(struct bringing *bringing)
{
	const enum extension_format format = extension_format(bringing->manifest);
	struct err ignored = ERR_INIT;
	json_auto_t *names = json_array(), *hooks = NULL;
	const json_t *name;
	size_t i;

	if (format == EXTENSION_PORTABLE)
		return;
	add_variables_in(bringing, json_object_get(bringing->manifest, "mcpServers"), names);
	hooks = format == EXTENSION_GEMINI ?
	                extension_hooks_said(bringing->folder, bringing->manifest, &ignored) : NULL;
	add_variables_in(bringing, hooks, names);
	json_array_foreach(names, i, name)
		bring(bringing, "reads the variable", json_string_value(name), "", "");
}

static void consent_settings(struct bringing *bringing)
{
	const char *file = manifest_name(bringing);
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bringing->manifest, "settings"), i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));
		const char *variable = json_string_value(json_object_get(one, "envVar"));

		if (!name || !variable || !*variable)
			bring_broken(bringing, "setting", name, file,
			             "It has no \"name\", or no \"envVar\".");
		else if (extension_variable_steers(variable))
			bring(bringing, "setting that is ignored because it changes how programs "
			      "run,", name, variable, file);
		else
			bring(bringing, "setting", name, variable, file);
	}
}

void inventory_add_extension(struct inventory *inventory, const char *folder,
                             const json_t *manifest)
{
	struct bringing bringing = { folder, manifest, inventory };
	const json_t *what;
	size_t i;

	consent_servers(&bringing);
	consent_hooks(&bringing);
	consent_contexts(&bringing);
	consent_commands(&bringing);
	consent_places(&bringing, EXTENSION_COMMANDS);
	consent_skills(&bringing);
	consent_places(&bringing, EXTENSION_SKILLS);
	consent_agents(&bringing);
	consent_places(&bringing, EXTENSION_AGENTS);
	consent_excluded(&bringing);
	consent_places(&bringing, EXTENSION_POLICIES);
	consent_themes(&bringing);
	consent_settings(&bringing);
	consent_variables(&bringing);
	json_array_foreach(extension_unused(manifest), i, what)
		bring_unused(&bringing, "", json_string_value(what), "", "");
	json_array_foreach(extension_problems(manifest), i, what)
		bring_broken(&bringing, "manifest", "", manifest_name(&bringing),
		             json_string_value(what));
}

char *install_brings(const char *folder, const json_t *manifest)
{
	_cleanup_inventory_ struct inventory inventory = { 0 };

	inventory_add_extension(&inventory, folder, manifest);
	return inventory_lines(&inventory, NULL);
}

static size_t lines_beginning(struct span text, struct span begin)
{
	size_t count = 0;
	struct span line;

	while (line_next(&text, &line))
		count += span_starts(line, begin);
	return count;
}

bool install_runs_programs(const char *brings)
{
	return lines_beginning(span_str(brings), SPAN("  " BRINGS_HOOK)) ||
	       lines_beginning(span_str(brings), SPAN("  " BRINGS_SERVER " "));
}

/* As much of it as can be read. */
static char *brings_some(const char *folder, const json_t *manifest)
{
	_cleanup_inventory_ struct inventory inventory = { 0 };

	inventory_add_extension(&inventory, folder, manifest);
	return inventory_lines(&inventory, folder);
}

char *install_brings_shown(const char *folder, const json_t *manifest)
{
	_cleanup_free_ char *text = brings_some(folder, manifest);
	const size_t lines = lines_beginning(span_str(text), SPAN(""));
	const size_t hooks = lines_beginning(span_str(text), SPAN("  " BRINGS_HOOK));
	const size_t servers = lines_beginning(span_str(text), SPAN("  " BRINGS_SERVER " "));

	if (lines <= CONSENT_SCREEN || hooks + servers == 0)
		return mem_steal(&text);
	return mem_printf("%sOf these lines the first %zu run programs: %zu of hooks, outside the "
	                  "sandbox, and %zu of MCP servers.\n", text, hooks + servers, hooks,
	                  servers);
}
