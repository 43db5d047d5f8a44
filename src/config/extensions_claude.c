/* SPDX-License-Identifier: Apache-2.0 */
/* Plugins of Claude Code (.claude-plugin/plugin.json), read into the form of an extension.
 *
 * They bring commands, skills, agents, hooks and servers, in fixed places or where the manifest
 * says.
 *
 * Reference: Claude Code 2.1 (plugins reference). */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/hook_events.h"
#include "data/json.h"
#include "data/warnings.h"

#define OPTION_PREFIX "CLAUDE_PLUGIN_OPTION_"

enum {
	PLUGIN_PATHS_MAX = 100, /* of one member */
	PLUGIN_OPTIONS_MAX = 100,
	OPTION_NAME_MAX = 100,
	UNUSED_NAMES_MAX = 8, /* named in a line */
};

/* ---- paths ------------------------------------------------------------------------------ */

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
		config_problem(reading, "\"%s\" names %.200s, which is not a path in the plugin; "
		               "it is ignored.", member, text && *text ? text : "nothing");
		return NULL;
	}
	inner = path + strlen(reading->folder);
	inner += *inner == '/';
	if (*inner && !config_plugin_has(reading, inner)) {
		config_problem(reading, "\"%s\" names %.200s, which is not there.", member, text);
		return NULL;
	}
	return mem_strdup(inner);
}

/* Whether the folder that it is in is looked into anyway. */
static bool is_in_listed_folder(const json_t *list, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && json_lists(list, span_of(path, (size_t)(slash - path)));
}

static void add_manifest_path(const struct manifest_reading *reading, enum extension_part part,
                              const json_t *value)
{
	json_t *list = config_plugin_part(reading, part);
	_cleanup_free_ char *path = NULL;

	if (json_array_size(list) >= PLUGIN_PATHS_MAX)
		return;
	path = claude_path(reading, extension_part_name(part), value);
	if (path && !json_lists(list, span_str(path)) &&
	    !(part == EXTENSION_SKILLS && is_in_listed_folder(list, path)))
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

/* Commands and agents of the manifest replace the usual folder; skills are added to it, unless the
 * manifest is the entry of a marketplace, which is all that counts ("strict" is false). */
static void claude_places(const struct manifest_reading *reading, const json_t *said)
{
	static const enum extension_part parts[] = { EXTENSION_COMMANDS, EXTENSION_SKILLS,
		                                     EXTENSION_AGENTS };
	const bool exact = json_is_false(json_object_get(said, "strict"));

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *name = extension_part_name(parts[i]);
		const json_t *member = json_object_get(said, name);

		if (!member || (parts[i] == EXTENSION_SKILLS && !exact))
			json_array_append_new(config_plugin_part(reading, parts[i]),
			                      json_string(name));
		add_manifest_paths(reading, parts[i], member);
	}
	/* One that is a skill itself. */
	if (!json_object_get(said, "skills") && !config_plugin_has(reading, "skills") &&
	    config_plugin_has(reading, "SKILL.md"))
		json_array_append_new(config_plugin_part(reading, EXTENSION_SKILLS),
		                      json_string(""));
}

/* ---- hooks ------------------------------------------------------------------------------- */

/* Hooks that hasp does not use; of an event where they could refuse something, a guard is lost.
 * `instead`: the event that was probably meant; NULL: the event exists. */
__attribute__((format(printf, 4, 5)))
static void claude_left(const struct manifest_reading *reading, const char *event,
                        const struct hook_event_names *instead, const char *format, ...)
{
	const struct hook_event_names *names =
		instead ? instead : hook_events_find(event, /* claude= */ true);
	_cleanup_free_ char *what = NULL;
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	config_unused(reading, "%s", text);
	if (!reading->lost || !names || !names->refuses_claude)
		return;
	what = instead ? mem_printf("there is no event \"%.60s\"; did you mean \"%s\"?", event,
	                            names->claude ? names->claude : names->name) :
	                 mem_printf("hasp cannot run %s.", text);
	json_array_append_new(reading->lost, json_pack("{s:o, s:o}", "event",
	                                               json_text(span_str(event)), "what",
	                                               json_text(span_str(what))));
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
		claude_left(reading, event, NULL, "hooks of %.60s of the type \"%.40s\"", event,
		            type ? type : "");
		return NULL;
	}
	if (json_object_get(said, "if") && strcmp(event, "PreToolUse") != 0 &&
	    strcmp(event, "PostToolUse") != 0) {
		config_unused(reading, "hooks of %.60s that have an \"if\", which is for those of "
		              "tools", event);
		return NULL;
	}
	if (span_eq(json_span(json_object_get(said, "shell")), SPAN("powershell"))) {
		claude_left(reading, event, NULL, "hooks of %.60s for PowerShell", event);
		return NULL;
	}
	if (json_is_true(json_object_get(said, "asyncRewake")))
		config_unused(reading, "\"asyncRewake\" of %.60s hooks is not supported", event);
	hook = json_pack("{s:s, s:O, s:O*, s:O*, s:b}", "type", "command", "command",
	                 json_object_get(said, "command"), "args", json_object_get(said, "args"),
	                 "if", json_object_get(said, "if"), "async",
	                 json_is_true(json_object_get(said, "async")) ||
	                         json_is_true(json_object_get(said, "asyncRewake")));
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

	if (!json_is_array(json_object_get(said, "hooks")))
		claude_left(reading, event, NULL, "entries of %.60s without \"hooks\": [...]",
		            event);
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
	if (!json_is_object(said) && reading->lost)
		json_array_append_new(reading->lost, json_pack("{s:s, s:s}", "event", "", "what",
		                                               "Its \"hooks\" are no object."));
	json_object_foreach((json_t *)said, event, groups) {
		const struct hook_event_names *names = hook_events_find(event, true);
		const struct hook_event_names *plain = hook_events_find(event, false);
		const char *ours = names ? names->name : "";
		json_t *list = json_object_get(all, ours);

		/* The extension in the same folder has them in its own form. */
		if (!names && plain && json_is_array(groups) && !reading->lost &&
		    config_plugin_has(reading, EXTENSION_MANIFEST)) {
			if (!json_object_get(all, event))
				json_object_set_new(all, event, json_array());
			json_array_extend(json_object_get(all, event), groups);
			continue;
		}
		if (!names) {
			claude_left(reading, event, hook_events_nearest(event, /* claude= */ true),
			            "hooks of the event %.60s", event);
			continue;
		}
		if (!list) {
			list = json_array();
			json_object_set_new(all, ours, list);
		}
		if (!json_is_array(groups))
			claude_left(reading, event, NULL, "hooks of %.60s that are no list", event);
		json_array_foreach(groups, i, group)
			claude_group(reading, event, group, list);
		if (!json_array_size(list))
			json_object_del(all, ours);
	}
}

json_t *config_claude_hooks(const char *folder, const char *path, const json_t *said)
{
	json_auto_t *parts = json_pack("{s:{}}", "hooks"), *unused = json_array();
	const struct manifest_reading reading = { .folder = folder, .path = path, .parts = parts,
		                                  .unused = unused };

	claude_hooks_add(&reading, said, path);
	return json_incref(json_object_get(parts, "hooks"));
}

/* ---- servers ------------------------------------------------------------------------------ */

json_t *config_claude_entry(const json_t *said)
{
	static const char *const members[] = { "command", "args", "env", "url", "headers",
		                               "headersHelper", "timeout" };
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

/* Members of a server's entry that are used; others are named. */
static const char *const claude_entry_members[] = {
	"type", "command", "args", "env", "url", "headers", "headersHelper", "timeout", "cwd",
	"oauth", "description",
};

static void claude_entry_unused(const struct manifest_reading *reading, const char *name,
                                const json_t *said)
{
	const char *member;
	json_t *value;

	json_object_foreach((json_t *)said, member, value) {
		bool known = reading->codex && config_codex_member(member);

		for (size_t i = 0; i < ARRAY_LEN(claude_entry_members); i++)
			known = known || !strcmp(claude_entry_members[i], member);
		if (!known)
			config_unused(reading, "\"%.60s\" of the MCP server %.60s", member, name);
	}
}

static void claude_server_add(const struct manifest_reading *reading, json_t *servers,
                              const char *name, const json_t *said)
{
	const json_t *client = json_object_get(json_object_get(said, "oauth"), "clientId");
	const json_t *cwd = json_object_get(said, "cwd");
	json_t *entry;

	if (!json_is_object(said) || json_object_size(servers) >= PLUGIN_SERVERS_MAX) {
		config_problem(reading,
		               "The MCP server \"%.100s\" is no object, or one too many.",
		               name);
		return;
	}
	if (reading->codex && json_is_false(json_object_get(said, "enabled"))) {
		config_unused(reading, "the MCP server %.60s, which its file disables", name);
		return;
	}
	claude_entry_unused(reading, name, said);
	entry = config_claude_entry(said);
	if (reading->codex)
		config_codex_put(entry, said);
	if (json_is_string(cwd)) {
		const char *folder = json_string_value(cwd);
		const bool placed_there = folder[0] == '/' || folder[0] == '$';
		_cleanup_free_ char *placed =
			mem_printf("%s%s", placed_there ? "" : "${CLAUDE_PLUGIN_ROOT}/", folder);

		json_object_set_new(entry, "cwd", json_cstr(placed));
	}
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

/* ---- files and members that may be either ----------------------------------- */

/* Hooks (`servers` is NULL), or servers, of a file; `needed`: the manifest names it. */
static void claude_file_add(const struct manifest_reading *reading, json_t *servers,
                            const char *name, bool needed)
{
	_cleanup_free_ char *path = path_join(reading->folder, name);
	struct err err = ERR_INIT;
	json_auto_t *file = config_json(reading->folder, path, &err);

	if (err.code != ERR_NONE)
		config_problem(reading, "%.200s is ignored: %s", name,
		               err.message);
	else if (!file && needed)
		config_problem(reading, "The file %.200s does not exist.", name);
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

/* ---- settings ------------------------------------------------------------------------------ */

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

/* As a text; a new reference. NULL: there is none, or it is a list. */
static json_t *option_default(const json_t *value)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_SETTINGS_BYTES);

	if (json_is_string(value))
		return json_incref((json_t *)value);
	if (!json_is_number(value) && !json_is_boolean(value))
		return NULL;
	json_print(&out, value, 0);
	return json_text(buf_view(&out));
}

void config_plugin_options(const struct manifest_reading *reading, json_t *manifest,
                           const char *member, const json_t *said)
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
			config_problem(reading, "\"%s\": %.100s is no setting that counts.",
			               member, key);
			continue;
		}
		json_array_append_new(settings, json_pack("{s:o, s:o, s:s, s:b, s:s, s:o*, s:b}",
		                      "name",
		                      json_text(json_string_length(title) ? json_span(title) :
		                                                            span_str(key)),
		                      "description", json_text(json_span(about)), "envVar",
		                      variable, "sensitive",
		                      json_is_true(json_object_get(one, "sensitive")), "key", key,
		                      "default", option_default(json_object_get(one, "default")),
		                      "optional", !json_is_true(json_object_get(one, "required"))));
	}
	json_object_set_new(manifest, "settings", settings);
}

/* ---- the whole ------------------------------------------------------------------------------ */

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

/* ": A, B" of the files in a folder, or of the members of an object; "" without. */
static char *unused_names(const struct manifest_reading *reading, const char *file,
                          const json_t *said)
{
	_cleanup_free_ char *path = file ? path_join(reading->folder, file) : NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(ERR_MESSAGE_MAX);
	json_auto_t *names = json_array();
	char **found = NULL;
	const char *member;
	json_t *one;
	size_t count = path ? door_names(door_folder(reading->folder, path), UNUSED_NAMES_MAX,
	                                 &found) : 0;

	for (size_t i = 0; i < count; i++) {
		json_array_append_new(names, json_name(found[i]));
		free(found[i]);
	}
	free(found);
	json_object_foreach((json_t *)said, member, one)
		json_array_append_new(names, json_string(member));
	json_array_foreach(names, count, one)
		if (count < UNUSED_NAMES_MAX)
			buf_printf(&out, "%s%.60s", count ? ", " : ": ", json_string_value(one));
	if (json_array_size(names) >= UNUSED_NAMES_MAX)
		buf_str(&out, " ...");
	return mem_strdup(out.len ? out.data : "");
}

static void claude_note_unused(const struct manifest_reading *reading, const json_t *said)
{
	const char *member;
	json_t *value;

	for (size_t i = 0; i < ARRAY_LEN(claude_unused); i++) {
		const json_t *named = claude_unused[i].member ?
		                              json_object_get(said, claude_unused[i].member) : NULL;
		_cleanup_free_ char *names = NULL;

		if (!named && (!claude_unused[i].file ||
		               !config_plugin_has(reading, claude_unused[i].file)))
			continue;
		names = unused_names(reading, claude_unused[i].file, named);
		config_unused(reading, "%s%s", claude_unused[i].what, names);
	}
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

	if (!config_plugin_name_is_fine(json_string_value(json_object_get(said, "name")))) {
		json_decref(servers);
		err_set(err, ERR_INVALID_ARGUMENT,
		        "%s: its \"name\" must be letters, digits, \"-\", \"_\" and \".\" alone, "
		        "at most %d.", reading->path, PLUGIN_NAME_MAX);
		return NULL;
	}
	manifest = config_plugin_begin(reading, said);
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
	config_plugin_options(reading, manifest, "userConfig",
	                      json_object_get(said, "userConfig"));
	claude_note_unused(reading, said);
	return manifest;
}

/* ---- Codex' -------------------------------------------------------------------------------- */

/* Commands and agents are none of its parts.
 *
 * What its "interface" says is for lists of plugins. */
json_t *config_codex_read(const struct manifest_reading *reading, const json_t *said,
                          struct err *err)
{
	json_auto_t *theirs = json_copy((json_t *)said);
	struct manifest_reading codex = *reading;

	if (json_object_get(said, "apps") || config_plugin_has(reading, ".app.json"))
		config_unused(reading, "apps");
	json_object_del(theirs, "apps");
	json_object_del(theirs, "interface");
	json_object_set_new(theirs, "commands", json_array());
	json_object_set_new(theirs, "agents", json_array());
	codex.codex = true;
	return config_claude_read(&codex, theirs, err);
}

/* ---- its settings ------------------------------------------------------------------------- */

/* As hooks_problem of a guard that is lost (hooks/hook.h). */
static void claude_lose(const char *path, json_t *event, json_t *what, json_t *problems)
{
	_cleanup_free_ char *sentence = mem_printf("%s: %s", path, json_string_value(what));

	warnings_add_first(problems, json_pack("{s:o, s:o, s:O, s:O}", "source", json_name(path),
	                                       "message", json_text(span_str(sentence)), "lost",
	                                       event, "what", what));
}

/* One that cannot be read is as none, and its guards are lost. */
static json_t *claude_settings_read(const char *project, const char *path, json_t *problems)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err err = ERR_INIT;
	json_t *said = NULL;

	if (!project)
		said = home_object_read(path, EXTENSION_DEPTH, &err);
	else if (door_read(project, path, LIMIT_SETTINGS_BYTES, &text, &err) && text.data)
		json_parse_depth(file_text_span(&text), EXTENSION_DEPTH, &said, &err);
	if (err.code != ERR_NONE) {
		json_auto_t *nowhere = json_string(""), *what = NULL;
		_cleanup_free_ char *sentence = mem_printf("Its hooks are ignored: %s",
		                                           err.message);

		what = json_text(span_str(sentence));
		claude_lose(path, nowhere, what, problems);
	}
	return said;
}

json_t *settings_claude_hooks(const char *project, const char *path, json_t *problems,
                              json_t *unused, bool *ret_off)
{
	json_auto_t *said = claude_settings_read(project, path, problems);
	json_auto_t *parts = json_pack("{s:{}}", "hooks"), *wrong = json_array();
	json_auto_t *left = json_array(), *lost = json_array();
	const struct manifest_reading reading = { project, path, wrong, parts, left, lost, false };
	json_t *sentence;
	size_t i;

	*ret_off = json_is_true(json_object_get(said, "disableAllHooks"));
	if (json_object_get(said, "hooks"))
		claude_hooks_add(&reading, json_object_get(said, "hooks"), path);
	json_array_foreach(wrong, i, sentence)
		warnings_add(problems, json_pack("{s:o, s:O}", "source", json_name(path), "message",
		                                 sentence));
	json_array_foreach(lost, i, sentence)
		claude_lose(path, json_object_get(sentence, "event"),
		            json_object_get(sentence, "what"), problems);
	json_array_foreach(left, i, sentence) {
		_cleanup_free_ char *whole = mem_printf("%s: not used by hasp: %s", path,
		                                        json_string_value(sentence));

		if (unused)
			json_array_append_new(unused, json_text(span_str(whole)));
	}
	return json_incref(json_object_get(parts, "hooks"));
}
