/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins of other programs, read into the form of an extension.
 *
 * Claude Code's (.claude-plugin/plugin.json) bring commands, skills, agents, hooks and servers,
 * in fixed places or where the manifest says.  Those of Agent Plugins 1.0 (plugin.json) bring
 * skills/ and mcp.json, and their schema is closed.  What hasp does not use is noted by name; what
 * breaks the format's rules is a problem, and the part that does is left out.
 *
 * References: Claude Code 2.1 (plugins reference); Agent Plugins Specification 1.0.0. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"

#define PORTABLE_SCHEMA "https://agent-plugins.org/schemas/1.0.0/"
#define OPTION_PREFIX "CLAUDE_PLUGIN_OPTION_"
#define NO_VERSION "no version"

enum {
	PLUGIN_NAME_MAX = 64,
	PLUGIN_PATHS_MAX = 100,    /* of one member */
	PLUGIN_SERVERS_MAX = 1000,
	PLUGIN_OPTIONS_MAX = 100,
	OPTION_NAME_MAX = 100,
};

/* ---- what both share ------------------------------------------------------------------- */

/* 1*64( letter | digit | "-" | "_" | "." ), beginning and ending with one of the first two. */
static bool plugin_name_is_fine(const char *name)
{
	const size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; i < len; i++)
		if (!ascii_is_alnum(name[i]) && !strchr("-_.", name[i]))
			return false;
	return len > 0 && len <= PLUGIN_NAME_MAX && ascii_is_alnum(name[0]) &&
	       ascii_is_alnum(name[len - 1]) && !strstr(name, "..");
}

static bool plugin_has(const struct manifest_reading *reading, const char *name)
{
	_cleanup_free_ char *path = path_join(reading->folder, name);
	struct stat status;

	return lstat(path, &status) == 0;
}

static json_t *part_list(const struct manifest_reading *reading, enum extension_part part)
{
	const char *name = extension_part_name(part);

	if (!json_object_get(reading->parts, name))
		json_object_set_new(reading->parts, name, json_array());
	return json_object_get(reading->parts, name);
}

/* A manifest with what each has; the name has been checked. */
static json_t *plugin_begin(const struct manifest_reading *reading, const json_t *said)
{
	const json_t *version = json_object_get(said, "version");
	const json_t *description = json_object_get(said, "description");
	json_t *manifest = json_pack("{s:O, s:s, s:[]}", "name", json_object_get(said, "name"),
	                             "version", NO_VERSION, "contextFileName");

	if (json_string_length(version))
		json_object_set(manifest, "version", (json_t *)version);
	if (json_is_string(description))
		json_object_set(manifest, "description", (json_t *)description);
	for (int part = 0; part < EXTENSION_PARTS; part++)
		(void)part_list(reading, (enum extension_part)part);
	return manifest;
}

/* ---- Claude Code's: paths --------------------------------------------------------------- */

/* What a path of the manifest means, relative to the folder ("" is the folder itself); the caller
 * frees.  NULL: it leads out, or nothing is there; that is a problem. */
static char *claude_path(const struct manifest_reading *reading, const char *member,
                         const json_t *value)
{
	const char *text = json_string_value(value);
	_cleanup_free_ char *path = text ? path_join(reading->folder, text) : NULL;
	const char *inner;

	if (!text || !*text || strlen(text) != json_string_length(value) || text[0] == '/' ||
	    strlen(text) > LIMIT_PATH_BYTES || !path_is_under(path, reading->folder)) {
		config_problem(reading, "\"%s\" names %.200s, which is no path in the plugin; it "
		               "does not count.", member, text && *text ? text : "nothing");
		return NULL;
	}
	inner = path + strlen(reading->folder);
	inner += *inner == '/';
	if (*inner && !plugin_has(reading, inner)) {
		config_problem(reading, "\"%s\" names %.200s, which is not there.", member, text);
		return NULL;
	}
	return mem_strdup(inner);
}

static void add_manifest_path(const struct manifest_reading *reading, enum extension_part part,
                     const json_t *value)
{
	json_t *list = part_list(reading, part);
	_cleanup_free_ char *path = NULL;

	if (json_array_size(list) >= PLUGIN_PATHS_MAX)
		return;
	path = claude_path(reading, extension_part_name(part), value);
	if (path && !json_lists(list, span_str(path)))
		json_array_append_new(list, json_text(span_str(path)));
}

/* The member: a path, or a list of them; commands may also be {NAME: {"source": path}}. */
static void add_manifest_paths(const struct manifest_reading *reading, enum extension_part part,
                      const json_t *member)
{
	const char *name;
	json_t *one;
	size_t i;

	if (json_is_string(member))
		add_manifest_path(reading, part, member);
	json_array_foreach((json_t *)member, i, one)
		add_manifest_path(reading, part, one);
	json_object_foreach((json_t *)member, name, one)
		if (json_object_get(one, "source"))
			add_manifest_path(reading, part, json_object_get(one, "source"));
		else
			config_unused(reading, "%s that are written into the manifest",
			              extension_part_name(part));
}

/* Commands and agents of the manifest stand in place of the usual folder, skills beside it. */
static void claude_places(const struct manifest_reading *reading, const json_t *said)
{
	static const enum extension_part parts[] = { EXTENSION_COMMANDS, EXTENSION_SKILLS,
		                                     EXTENSION_AGENTS };

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *name = extension_part_name(parts[i]);
		const json_t *member = json_object_get(said, name);

		if (!member || parts[i] == EXTENSION_SKILLS)
			json_array_append_new(part_list(reading, parts[i]), json_string(name));
		add_manifest_paths(reading, parts[i], member);
	}
	/* One that is a skill itself. */
	if (!json_object_get(said, "skills") && !plugin_has(reading, "skills") &&
	    plugin_has(reading, "SKILL.md"))
		json_array_append_new(part_list(reading, EXTENSION_SKILLS), json_string(""));
}

/* ---- Claude Code's: hooks ---------------------------------------------------------------- */

static const struct {
	const char *theirs, *ours;
} claude_events[] = {
	{ "PreToolUse", "BeforeTool" },      { "PostToolUse", "AfterTool" },
	{ "UserPromptSubmit", "BeforeAgent" }, { "Stop", "AfterAgent" },
	{ "SessionStart", "SessionStart" },  { "SessionEnd", "SessionEnd" },
	{ "PreCompact", "PreCompress" },     { "Notification", "Notification" },
};

static const char *claude_event(const char *theirs)
{
	for (size_t i = 0; i < ARRAY_LEN(claude_events); i++)
		if (!strcmp(claude_events[i].theirs, theirs))
			return claude_events[i].ours;
	return NULL;
}

/* One with its time in milliseconds; a new reference. NULL: hasp does not run it. */
static json_t *claude_hook(const struct manifest_reading *reading, const char *event,
                           const json_t *said)
{
	const char *type = json_string_value(json_object_get(said, "type"));
	const json_t *timeout = json_object_get(said, "timeout");
	json_t *hook;

	if (!type || strcmp(type, "command") != 0 ||
	    !json_string_length(json_object_get(said, "command"))) {
		config_unused(reading, "hooks of %.60s of the type \"%.40s\"", event,
		              type ? type : "");
		return NULL;
	}
	if (json_object_get(said, "args")) {
		config_unused(reading, "hooks of %.60s that have \"args\"", event);
		return NULL;
	}
	if (json_object_get(said, "if"))
		config_unused(reading, "\"if\" of hooks of %.60s, which run at each call", event);
	if (json_is_true(json_object_get(said, "async")))
		config_unused(reading, "\"async\" of hooks of %.60s, which are waited for",
		              event);
	hook = json_pack("{s:s, s:O}", "type", "command", "command",
	                 json_object_get(said, "command"));
	if (json_is_number(timeout) && json_number_value(timeout) > 0 &&
	    json_number_value(timeout) < 86400)
		json_object_set_new(hook, "timeout",
		                    json_integer((json_int_t)(1000 * json_number_value(timeout))));
	return hook;
}

static void claude_group(const struct manifest_reading *reading, const char *event,
                         const json_t *said, json_t *list)
{
	const json_t *matcher = json_object_get(said, "matcher");
	json_t *hooks = json_array(), *group, *one;
	size_t i;

	json_array_foreach(json_object_get(said, "hooks"), i, one) {
		json_t *hook = claude_hook(reading, event, one);

		if (hook)
			json_array_append_new(hooks, hook);
	}
	group = json_pack("{s:s, s:o}", "format", "claude", "hooks", hooks);
	if (json_is_string(matcher))
		json_object_set(group, "matcher", (json_t *)matcher);
	if (json_array_size(hooks))
		json_array_append_new(list, group);
	else
		json_decref(group);
}

/* {EVENT: [...]}, perhaps as the member "hooks" of an object that describes them. */
static void claude_hooks_add(const struct manifest_reading *reading, const json_t *said,
                             const char *where)
{
	const json_t *inner = json_object_get(said, "hooks");
	json_t *all = json_object_get(reading->parts, "hooks"), *groups, *group;
	const char *event;
	size_t i;

	if (json_is_object(inner))
		said = inner;
	if (!json_is_object(said))
		config_problem(reading, "The hooks of %.200s are no object.", where);
	json_object_foreach((json_t *)said, event, groups) {
		const char *ours = claude_event(event);
		json_t *list = ours ? json_object_get(all, ours) : NULL;

		if (!ours) {
			config_unused(reading, "hooks of the event %.60s", event);
			continue;
		}
		if (!list) {
			list = json_array();
			json_object_set_new(all, ours, list);
		}
		json_array_foreach(groups, i, group)
			claude_group(reading, event, group, list);
		if (!json_array_size(list))
			json_object_del(all, ours);
	}
}

/* ---- Claude Code's: servers --------------------------------------------------------------- */

json_t *config_claude_entry(const json_t *said)
{
	static const char *const members[] = { "command", "args", "env", "url", "headers",
		                               "timeout" };
	const struct span type = json_span(json_object_get(said, "type"));
	json_t *entry = json_object(), *url;

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(said, members[i]))
			json_object_set(entry, members[i], json_object_get(said, members[i]));
	url = json_object_get(entry, "url");
	if (span_eq(type, SPAN("sse")))
		json_object_set_new(entry, "type", json_string("sse"));
	else if (span_eq(type, SPAN("http")) || span_eq(type, SPAN("streamable-http")))
		json_object_set_new(entry, "type", json_string("http"));
	if (span_eq(type, SPAN("ws")) && url) {
		json_object_set(entry, "tcp", url);
		json_object_del(entry, "url");
	}
	if (span_eq(type, SPAN("stdio")))
		json_object_del(entry, "url");
	return entry;
}

static void claude_server_add(const struct manifest_reading *reading, json_t *servers,
                              const char *name, const json_t *said)
{
	const json_t *client = json_object_get(json_object_get(said, "oauth"), "clientId");
	json_t *entry;

	if (!json_is_object(said) || json_object_size(servers) >= PLUGIN_SERVERS_MAX) {
		config_problem(reading,
		               "The MCP server \"%.100s\" is no object, or one too many.",
		               name);
		return;
	}
	if (json_object_get(said, "headersHelper")) {
		config_unused(reading, "the MCP server \"%.100s\", which has a headersHelper",
		              name);
		return;
	}
	entry = config_claude_entry(said);
	if (json_is_string(client))
		json_object_set_new(entry, "oauth", json_pack("{s:O}", "clientId", client));
	json_object_set_new_nocheck(servers, name, entry);
}

/* {"mcpServers": {NAME: ...}}, or {NAME: ...}. */
static void claude_servers_add(const struct manifest_reading *reading, json_t *servers,
                               const json_t *said)
{
	const json_t *inner = json_object_get(said, "mcpServers");
	const char *name;
	json_t *one;

	json_object_foreach(json_is_object(inner) ? (json_t *)inner : (json_t *)said, name, one)
		claude_server_add(reading, servers, name, one);
}

/* ---- Claude Code's: files and members that may be either ----------------------------------- */

/* Hooks (`servers` is NULL), or servers, of a file; `needed`: the manifest names it. */
static void claude_file_add(const struct manifest_reading *reading, json_t *servers,
                            const char *name, bool needed)
{
	_cleanup_free_ char *path = path_join(reading->folder, name);
	struct err err = ERR_INIT;
	json_auto_t *file = config_json(reading->folder, path, &err);

	if (err.code != ERR_NONE)
		config_problem(reading, "What is in %.200s does not count: %s", name,
		               err.message);
	else if (!file && needed)
		config_problem(reading, "There is no file %.200s.", name);
	else if (file && servers)
		claude_servers_add(reading, servers, file);
	else if (file)
		claude_hooks_add(reading, file, name);
}

/* A path, an object, or a list of them. Lists are not in lists. */
static void claude_member_add(const struct manifest_reading *reading, json_t *servers,
                              const char *member, const json_t *value)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)value, i, one)
		if (i < PLUGIN_PATHS_MAX && !json_is_array(one))
			claude_member_add(reading, servers, member, one);
	if (json_is_object(value) && servers)
		claude_servers_add(reading, servers, value);
	else if (json_is_object(value))
		claude_hooks_add(reading, value, member);
	if (!json_is_string(value))
		return;
	if (span_ends(json_span(value), SPAN(".mcpb")) ||
	    span_ends(json_span(value), SPAN(".dxt"))) {
		config_unused(reading, "MCP servers in bundles (%.200s)",
		              json_string_value(value));
	} else {
		_cleanup_free_ char *path = claude_path(reading, member, value);

		if (path)
			claude_file_add(reading, servers, path, true);
	}
}

/* ---- Claude Code's: settings --------------------------------------------------------------- */

/* The variable that a program finds the value in: KEY in capitals. NULL: it cannot be one. */
static char *option_variable(const char *key)
{
	char *variable = mem_printf(OPTION_PREFIX "%s", key);

	for (char *c = variable; *c; c++) {
		if (!ascii_is_alnum(*c) && *c != '_') {
			free(variable);
			return NULL;
		}
		if (*c >= 'a' && *c <= 'z')
			*c = (char)(*c - 'a' + 'A');
	}
	return variable;
}

/* userConfig, as the settings of an extension. */
static void claude_options(const struct manifest_reading *reading, json_t *manifest,
                           const json_t *said)
{
	json_t *settings = json_array(), *one;
	const char *key;

	json_object_foreach((json_t *)said, key, one) {
		const json_t *title = json_object_get(one, "title");
		const json_t *about = json_object_get(one, "description");
		_cleanup_free_ char *variable = strlen(key) <= OPTION_NAME_MAX ?
		                                        option_variable(key) : NULL;

		if (!variable || !json_is_object(one) ||
		    json_array_size(settings) >= PLUGIN_OPTIONS_MAX) {
			config_problem(reading, "\"userConfig\": %.100s is no setting that "
			               "counts.", key);
			continue;
		}
		if (json_object_get(one, "default"))
			config_unused(reading, "the default of the setting %s", key);
		json_array_append_new(settings, json_pack("{s:o, s:o, s:s, s:b, s:s}", "name",
		                      json_text(json_string_length(title) ? json_span(title) :
		                                                            span_str(key)),
		                      "description", json_text(json_span(about)), "envVar",
		                      variable, "sensitive",
		                      json_is_true(json_object_get(one, "sensitive")), "key", key));
	}
	json_object_set_new(manifest, "settings", settings);
}

/* ---- Claude Code's: the whole --------------------------------------------------------------- */

/* What they bring that hasp has no use for: members, and files in the usual places. */
static const struct {
	const char *member, *file, *what;
} claude_unused[] = {
	{ "lspServers", ".lsp.json", "language servers" },
	{ "outputStyles", "output-styles", "output styles" },
	{ "monitors", "monitors", "monitors" },
	{ "themes", "themes", "themes" },
	{ "workflows", "workflows", "workflows" },
	{ "channels", NULL, "channels" },
	{ "dependencies", NULL, "other plugins that it depends on" },
	{ "experimental", NULL, "experimental components" },
	{ "settings", "settings.json", "settings for Claude Code" },
	{ NULL, "bin", "programs for the search path (bin/)" },
};

/* Members that are used, or say something about the plugin alone. */
static const char *const claude_known[] = {
	"$schema", "name", "displayName", "version", "description", "author", "homepage",
	"repository", "license", "keywords", "commands", "skills", "agents", "hooks",
	"mcpServers", "userConfig", "defaultEnabled", "category", "tags", "strict", "source",
};

static void claude_note_unused(const struct manifest_reading *reading, const json_t *said)
{
	const char *member;
	json_t *value;

	for (size_t i = 0; i < ARRAY_LEN(claude_unused); i++)
		if ((claude_unused[i].member && json_object_get(said, claude_unused[i].member)) ||
		    (claude_unused[i].file && plugin_has(reading, claude_unused[i].file)))
			config_unused(reading, "%s", claude_unused[i].what);
	json_object_foreach((json_t *)said, member, value) {
		bool known = false;

		(void)value;
		for (size_t i = 0; i < ARRAY_LEN(claude_known); i++)
			known = known || !strcmp(claude_known[i], member);
		for (size_t i = 0; i < ARRAY_LEN(claude_unused); i++)
			known = known || (claude_unused[i].member &&
			                  !strcmp(claude_unused[i].member, member));
		if (!known)
			config_unused(reading, "\"%.100s\" of the manifest", member);
	}
}

json_t *config_claude_read(const struct manifest_reading *reading, const json_t *said,
                           struct err *err)
{
	json_t *manifest, *servers = json_object();

	if (!plugin_name_is_fine(json_string_value(json_object_get(said, "name")))) {
		json_decref(servers);
		err_set(err, ERR_INVALID_ARGUMENT,
		        "%s: its \"name\" has to be letters, digits, \"-\", \"_\" and \".\" alone, "
		        "at most %d.", reading->path, PLUGIN_NAME_MAX);
		return NULL;
	}
	manifest = plugin_begin(reading, said);
	json_object_set_new(manifest, "mcpServers", servers);
	json_object_set_new(reading->parts, "hooks", json_object());
	claude_places(reading, said);
	claude_file_add(reading, servers, ".mcp.json", false);
	claude_member_add(reading, servers, "mcpServers", json_object_get(said, "mcpServers"));
	/* The usual file, also where the manifest names it as it need not. */
	claude_file_add(reading, NULL, "hooks/hooks.json", false);
	if (!span_eq(json_span(json_object_get(said, "hooks")), SPAN("./hooks/hooks.json")) &&
	    !span_eq(json_span(json_object_get(said, "hooks")), SPAN("hooks/hooks.json")))
		claude_member_add(reading, NULL, "hooks", json_object_get(said, "hooks"));
	claude_options(reading, manifest, json_object_get(said, "userConfig"));
	claude_note_unused(reading, said);
	return manifest;
}

/* ---- Agent Plugins: the manifest ------------------------------------------------------------- */

/* Section 5: what a member is, and whether a manifest with another is none at all. */
static const struct {
	const char *name;
	json_type type;
} portable_members[] = {
	{ "$schema", JSON_STRING },  { "name", JSON_STRING },       { "version", JSON_STRING },
	{ "description", JSON_STRING }, { "author", JSON_OBJECT },  { "homepage", JSON_STRING },
	{ "repository", JSON_STRING }, { "license", JSON_STRING },  { "keywords", JSON_ARRAY },
	{ "extensions", JSON_OBJECT },
};

/* Section 5.5: lower-case letters alone, and no "--". */
static bool portable_name_is_fine(const char *name)
{
	for (const char *c = name ? name : ""; *c; c++)
		if ((*c >= 'A' && *c <= 'Z') || *c == '_')
			return false;
	return plugin_name_is_fine(name) && !strstr(name, "--");
}

/* Texts alone in it; of an object only members with one of the names (NULL: any). */
static bool has_texts_alone(const json_t *value, const char *const *names)
{
	const char *name;
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)value, i, one)
		if (!json_is_string(one))
			return false;
	json_object_foreach((json_t *)value, name, one) {
		bool known = !names;

		for (i = 0; names && names[i]; i++)
			known = known || !strcmp(names[i], name);
		if (!known || !json_is_string(one))
			return false;
	}
	return true;
}

static bool portable_member_check(const struct manifest_reading *reading, const char *name,
                                  const json_t *value, struct err *err)
{
	static const char *const author[] = { "name", "email", "url", NULL };
	size_t i;

	for (i = 0; i < ARRAY_LEN(portable_members); i++)
		if (!strcmp(portable_members[i].name, name))
			break;
	if (i == ARRAY_LEN(portable_members)) {
		config_problem(reading, "\"%.100s\" is no member of Agent Plugins 1.0, and does "
		               "not count.", name);
		return true;
	}
	if (!strcmp(name, "extensions")) {
		const char *space;
		json_t *one;

		if (!json_is_object(value))
			config_problem(reading, "\"extensions\" is no object, and does not "
			               "count.");
		json_object_foreach((json_t *)value, space, one)
			config_unused(reading, "what it has for %.100s", space);
		return true;
	}
	return (json_typeof(value) == portable_members[i].type &&
	        (json_is_string(value) ||
	         has_texts_alone(value, json_is_object(value) ? author : NULL))) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "%s: \"%s\" is not what Agent Plugins 1.0 has.",
	               reading->path, name);
}

static bool portable_check(const struct manifest_reading *reading, const json_t *said,
                           struct err *err)
{
	const struct span schema = json_span(json_object_get(said, "$schema"));
	const char *name;
	json_t *value;

	if (!span_eq(schema, SPAN(PORTABLE_SCHEMA "plugin.schema.json")))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s: its \"$schema\" is not that of Agent Plugins 1.0.0.",
		               reading->path);
	if (!portable_name_is_fine(json_string_value(json_object_get(said, "name"))))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s: its \"name\" has to be lower-case letters, digits, \"-\" and "
		               "\".\" alone, at most %d.", reading->path, PLUGIN_NAME_MAX);
	json_object_foreach((json_t *)said, name, value)
		if (!portable_member_check(reading, name, value, err))
			return false;
	return true;
}

/* ---- Agent Plugins: servers ------------------------------------------------------------- */

/* Whether a path that begins with "./" stays in the plugin, also by its links. */
static bool portable_path_stays(const struct manifest_reading *reading, const char *text)
{
	_cleanup_free_ char *path = path_join(reading->folder, text);
	_cleanup_free_ char *real = realpath(path, NULL), *top = realpath(reading->folder, NULL);

	return path_is_under(path, reading->folder) && (!real || !top || path_is_under(real, top));
}

/* A bare name, or "./PATH", which becomes "${PLUGIN_ROOT}/PATH". */
static const char *portable_command(const struct manifest_reading *reading, json_t *entry)
{
	const json_t *said = json_object_get(entry, "command");
	const char *command = json_string_value(said);
	_cleanup_free_ char *placed = NULL;

	if (!json_string_length(said) || strlen(command) != json_string_length(said))
		return "its command is no text";
	if (strncmp(command, "./", 2) != 0)
		return strchr(command, '/') || strchr(command, '$') ?
		               "its command is neither a name nor a path that begins with ./" :
		               NULL;
	if (!portable_path_stays(reading, command) || strstr(command, "${"))
		return "its command is not in the plugin";
	placed = mem_printf("${PLUGIN_ROOT}/%s", command + 2);
	json_object_set_new(entry, "command", json_text(span_str(placed)));
	return NULL;
}

/* What follows one of the two placeholders, or "./"; NULL: it begins with none. */
static const char *portable_rest(const char *text, const char *begin)
{
	const size_t len = strlen(begin);

	if (strncmp(text, begin, len) != 0 || (text[len] && text[len] != '/'))
		return NULL;
	return text + len + (text[len] == '/');
}

/* "./PATH", or beneath one of the two placeholders; without one it is the plugin's folder. */
static const char *portable_folder(const struct manifest_reading *reading, json_t *entry)
{
	const json_t *said = json_object_get(entry, "cwd");
	const char *text = said ? json_string_value(said) : ".";
	const char *inner, *data;
	_cleanup_free_ char *placed = NULL, *relative = NULL;

	if (!text || strlen(text) > LIMIT_PATH_BYTES)
		return "its cwd is no text";
	inner = portable_rest(text, ".");
	inner = inner ? inner : portable_rest(text, "${PLUGIN_ROOT}");
	data = portable_rest(text, "${PLUGIN_DATA}");
	relative = mem_printf("./%s", inner ? inner : data ? data : "");
	if ((!inner && !data) || strstr(relative, "${") ||
	    (inner ? !portable_path_stays(reading, relative) : strstr(relative, "..") != NULL))
		return "its cwd is not in the plugin, nor in its data";
	if (inner) {
		placed = mem_printf("${PLUGIN_ROOT}/%s", inner);
		json_object_set_new(entry, "cwd", json_text(span_str(placed)));
	}
	return NULL;
}

/* Section 7.2.1: https, or http of this machine; no user and no fragment. */
static bool portable_url_is_fine(const char *url)
{
	static const char *const loopback[] = { "localhost", "127.", "[::1]" };
	const bool https = !strncasecmp(url, "https://", 8);
	const char *host = https ? url + 8 : !strncasecmp(url, "http://", 7) ? url + 7 : NULL;
	const size_t len = host ? strcspn(host, "/?") : 0;
	bool own = false;

	if (!len || memchr(host, '@', len) || strchr(url, '#'))
		return false;
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return false;
	for (size_t i = 0; i < ARRAY_LEN(loopback); i++) {
		const size_t part = strlen(loopback[i]);

		/* "127.EVIL.example" is a name: an address has digits and dots alone. */
		if (!strncasecmp(host, loopback[i], part))
			own = own || host[part] == ':' || part == len ||
			      (i == 1 && strspn(host, "0123456789.") == strcspn(host, ":/?"));
	}
	return https || own;
}

static bool portable_headers_are_fine(const json_t *headers)
{
	const char *name, *other;
	json_t *value, *ignored;

	json_object_foreach((json_t *)headers, name, value) {
		size_t same = 0;

		json_object_foreach((json_t *)headers, other, ignored)
			same += !strcasecmp(name, other);
		if (!*name || strpbrk(name, ": \t\r\n") || same > 1 ||
		    strpbrk(json_string_value(value), "\r\n"))
			return false;
	}
	return true;
}

/* The variants of section 7.2.1: their members besides "type". */
static const struct portable_variant {
	const char *type, *members[5];
} portable_variants[] = {
	{ "stdio", { "command", "args", "env", "cwd" } },
	{ "streamable-http", { "url", "headers" } },
	{ "sse", { "url", "headers" } },
};

static const struct portable_variant *portable_variant_of(const json_t *entry)
{
	const char *type = json_string_value(json_object_get(entry, "type"));

	for (size_t i = 0; type && i < ARRAY_LEN(portable_variants); i++)
		if (!strcmp(portable_variants[i].type, type))
			return &portable_variants[i];
	return NULL;
}

static bool portable_members_are_fine(const struct portable_variant *variant,
                                      const json_t *entry)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)entry, name, value) {
		bool known = !strcmp(name, "type");

		for (size_t i = 0; variant->members[i]; i++)
			known = known || !strcmp(variant->members[i], name);
		if (!known)
			return false;
	}
	return true;
}

/* Why it does not count; NULL: it does, and is in the form of mcpServers now. */
static const char *portable_entry(const struct manifest_reading *reading, json_t *entry)
{
	const struct portable_variant *variant = portable_variant_of(entry);
	const json_t *args = json_object_get(entry, "args"), *env = json_object_get(entry, "env");
	const json_t *headers = json_object_get(entry, "headers");
	const char *url = json_string_value(json_object_get(entry, "url")), *why;

	if (!variant)
		return "its type is none that there is";
	if (!portable_members_are_fine(variant, entry))
		return "it has a member that its type does not have";
	if ((args && !json_is_array(args)) || !has_texts_alone(args, NULL) ||
	    (env && !json_is_object(env)) || !has_texts_alone(env, NULL) ||
	    (headers && !json_is_object(headers)) || !has_texts_alone(headers, NULL))
		return "its args, env or headers are not texts";
	if (json_object_get(env, "PLUGIN_ROOT") || json_object_get(env, "PLUGIN_DATA"))
		return "its env sets a variable that is the client's";
	if (!strcmp(variant->type, "stdio")) {
		why = portable_command(reading, entry);
		if (!why)
			why = portable_folder(reading, entry);
		json_object_del(entry, "type");
		return why;
	}
	if (!url || !portable_url_is_fine(url))
		return "its url is neither https nor http of this machine";
	if (!portable_headers_are_fine(headers))
		return "its headers cannot be sent";
	if (!strcmp(variant->type, "streamable-http"))
		json_object_set_new(entry, "type", json_string("http"));
	return NULL;
}

static void portable_servers(const struct manifest_reading *reading, json_t *servers)
{
	_cleanup_free_ char *path = path_join(reading->folder, "mcp.json");
	struct err err = ERR_INIT;
	json_auto_t *file = config_json(reading->folder, path, &err);
	const json_t *said = json_object_get(file, "mcpServers");
	const char *name;
	json_t *one;

	if (err.code != ERR_NONE)
		config_problem(reading, "The servers of mcp.json do not count: %s", err.message);
	if (!file)
		return;
	if (!json_is_object(said) || json_object_size(file) != 2 ||
	    !span_eq(json_span(json_object_get(file, "$schema")),
	             SPAN(PORTABLE_SCHEMA "mcp.schema.json"))) {
		config_problem(reading, "The servers of mcp.json do not count: it is not what "
		               "Agent Plugins 1.0.0 has.");
		return;
	}
	json_object_foreach((json_t *)said, name, one) {
		json_t *entry = json_is_object(one) ? json_copy(one) : json_object();
		const char *why = json_object_size(servers) >= PLUGIN_SERVERS_MAX ?
		                          "there are too many" : portable_entry(reading, entry);

		if (!why) {
			json_object_set_new_nocheck(servers, name, entry);
			continue;
		}
		config_problem(reading, "The MCP server \"%.100s\" of mcp.json does not count: "
		               "%s.", name, why);
		json_decref(entry);
	}
}

json_t *config_portable_read(const struct manifest_reading *reading, const json_t *said,
                             struct err *err)
{
	json_t *manifest, *servers;

	if (!portable_check(reading, said, err))
		return NULL;
	manifest = plugin_begin(reading, said);
	servers = json_object();
	json_object_set_new(manifest, "mcpServers", servers);
	portable_servers(reading, servers);
	json_array_append_new(part_list(reading, EXTENSION_SKILLS), json_string("skills"));
	return manifest;
}

/* ---- where it is used ------------------------------------------------------------------------ */

char *config_plugin_data(const struct home *home, const char *name)
{
	return mem_printf("%s/.local/share/hasp-plugins/%s", home_user(home), name);
}

char *extension_data_make(const struct extension *extension)
{
	struct err ignored = ERR_INIT;

	return extension->data && file_make_folders(extension->data, &ignored) ?
	               mem_strdup(extension->data) : NULL;
}

json_t *config_plugin_names(const struct settings *settings, const struct extension *extension)
{
	const json_t *one;
	json_t *names = json_object();
	size_t i;

	if (extension_format(extension->manifest) == EXTENSION_PORTABLE)
		return json_pack("{s:o, s:o}", "PLUGIN_ROOT", json_name(extension->folder),
		                 "PLUGIN_DATA", json_name(extension->data));
	json_object_set_new(names, "CLAUDE_PLUGIN_ROOT", json_name(extension->folder));
	json_object_set_new(names, "CLAUDE_PLUGIN_DATA", json_name(extension->data));
	json_object_set_new(names, "CLAUDE_PROJECT_DIR",
	                    json_name(home_project(settings->home)));
	json_array_foreach(json_object_get(extension->manifest, "settings"), i, one) {
		const char *key = json_string_value(json_object_get(one, "key"));
		const char *variable = json_string_value(json_object_get(one, "envVar"));
		_cleanup_free_ char *name = mem_printf("user_config.%s", key);

		if (json_object_get(extension->values, variable))
			json_object_set(names, name, json_object_get(extension->values, variable));
	}
	return names;
}

void config_plugin_environment(const struct extension *extension, json_t *env)
{
	static const char *const names[][2] = {
		[EXTENSION_CLAUDE] = { "CLAUDE_PLUGIN_ROOT", "CLAUDE_PLUGIN_DATA" },
		[EXTENSION_PORTABLE] = { "PLUGIN_ROOT", "PLUGIN_DATA" },
	};
	const enum extension_format format = extension_format(extension->manifest);

	if (format == EXTENSION_GEMINI)
		return;
	json_object_set_new(env, names[format][0], json_name(extension->folder));
	json_object_set_new(env, names[format][1], json_name(extension->data));
}

/* Of Agent Plugins these members alone have placeholders (section 9.2). */
static json_t *portable_expand(const json_t *said, const json_t *names)
{
	static const char *const members[] = { "command", "args", "env", "cwd" };
	json_t *entry = json_copy((json_t *)said);

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_get(said, members[i]))
			json_object_set_new(entry, members[i],
			                    config_put_names(json_object_get(said, members[i]),
			                                        names));
	return entry;
}

void config_plugin_expand(const struct settings *settings, struct extension *extension,
                    json_t *warnings)
{
	const bool portable = extension_format(extension->manifest) == EXTENSION_PORTABLE;
	const json_t *said = json_object_get(extension->manifest, "mcpServers");
	json_auto_t *names = config_plugin_names(settings, extension);
	json_t *servers = json_object(), *one;
	const char *name;

	json_object_foreach((json_t *)said, name, one) {
		json_auto_t *placed = portable ? portable_expand(one, names) :
		                                 config_put_names(one, names);
		json_t *entry = portable ? json_copy(placed) :
		                           variables_expand_braces(settings->variables, placed,
		                                                   true, warnings);
		json_t *env = json_copy(json_object_get(entry, "env"));

		if (json_object_get(entry, "command")) {
			if (!json_is_object(env)) {
				json_decref(env);
				env = json_object();
			}
			config_plugin_environment(extension, env);
			json_object_set(entry, "env", env);
		}
		json_decref(env);
		json_object_set_new_nocheck(servers, name, entry);
	}
	json_object_set_new(extension->manifest, "mcpServers", servers);
}

char *extension_text(enum extension_format format, const char *folder, struct span text)
{
	json_auto_t *names = json_pack("{s:o}", "CLAUDE_PLUGIN_ROOT", json_name(folder));
	json_auto_t *whole = json_text(text), *placed = NULL;

	if (format == EXTENSION_CLAUDE)
		placed = config_put_names(whole, names);
	return mem_strdup(json_string_value(placed ? placed : whole));
}
