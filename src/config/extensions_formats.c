/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests of extensions, in the formats of three programs, read into one form.
 *
 * Each format is a row: the file that it is known by, and the function that makes the form of
 * extensions.h out of it.  To add one: a row in `formats`, its function (as extensions_claude.c), a
 * line in docs/extensions.md. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/hook_events.h"
#include "data/json.h"
#include "data/warnings.h"

/* Plugins of Agent Plugins 1.0 (plugin.json), read into the form of an extension.
 *
 * They bring skills/ and mcp.json, and their schema is closed: an entry that breaks its rules is
 * left out alone.
 *
 * Reference: Agent Plugins Specification 1.0.0; sections are its own. */

#define PORTABLE_SCHEMA "https://agent-plugins.org/schemas/1.0.0/"

/* ---- the manifest --------------------------------------------------------------------------- */

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
	return config_plugin_name_is_fine(name) && !strstr(name, "--");
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
		config_problem(reading, "\"%.100s\" is not a member of Agent Plugins 1.0; it is "
		               "ignored.", name);
		return true;
	}
	if (!strcmp(name, "extensions")) {
		const char *space;
		json_t *one;

		if (!json_is_object(value))
			config_problem(reading, "\"extensions\" is not an object; it is ignored.");
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
		               "%s: its \"name\" must be lower-case letters, digits, \"-\" and "
		               "\".\" alone, at most %d.", reading->path, PLUGIN_NAME_MAX);
	json_object_foreach((json_t *)said, name, value)
		if (!portable_member_check(reading, name, value, err))
			return false;
	return true;
}

/* ---- servers --------------------------------------------------------------------------- */

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
		return "its type is unknown";
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
		config_problem(reading, "The servers of mcp.json are ignored: %s", err.message);
	if (!file)
		return;
	if (!json_is_object(said) || json_object_size(file) != 2 ||
	    !span_eq(json_span(json_object_get(file, "$schema")),
	             SPAN(PORTABLE_SCHEMA "mcp.schema.json"))) {
		config_problem(reading, "The servers of mcp.json are ignored: it does not have the "
		               "form of Agent Plugins 1.0.0.");
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
		config_problem(reading, "The MCP server \"%.100s\" of mcp.json is ignored: "
		               "%s.", name, why);
		json_decref(entry);
	}
}

static json_t *config_portable_read(const struct manifest_reading *reading, const json_t *said,
                                    struct err *err)
{
	json_t *manifest, *servers;

	if (!portable_check(reading, said, err))
		return NULL;
	manifest = config_plugin_begin(reading, said);
	servers = json_object();
	json_object_set_new(manifest, "mcpServers", servers);
	portable_servers(reading, servers);
	json_array_append_new(config_plugin_part(reading, EXTENSION_SKILLS), json_string("skills"));
	return manifest;
}

/* ---- Gemini CLI's ---------------------------------------------------------------------- */

/* What members may be; others are left alone. */
static const struct format_member {
	const char *name;
	json_type types[2];
	const char *phrase;
} members[] = {
	{ "description", { JSON_STRING, JSON_STRING }, "a text" },
	{ "mcpServers", { JSON_OBJECT, JSON_OBJECT }, "an object" },
	{ "contextFileName", { JSON_STRING, JSON_ARRAY }, "a text or a list of texts" },
	{ "excludeTools", { JSON_ARRAY, JSON_ARRAY }, "a list of texts" },
	{ "settings", { JSON_ARRAY, JSON_ARRAY }, "a list of objects" },
	{ "themes", { JSON_ARRAY, JSON_ARRAY }, "a list of objects" },
	{ "plan", { JSON_OBJECT, JSON_OBJECT }, "an object" },
	{ "migratedTo", { JSON_STRING, JSON_STRING }, "a text" },
};

static json_t *gemini_read(const struct manifest_reading *reading, const json_t *said,
                           struct err *err)
{
	const char *name = json_string_value(json_object_get(said, "name"));
	json_t *manifest;

	if (!extension_name_is_fine(name)) {
		err_set(err, ERR_INVALID_ARGUMENT,
		        "%s: its \"name\" must be letters, digits and \"-\" alone, at most %d.",
		        reading->path, EXTENSION_NAME_MAX);
		return NULL;
	}
	if (!json_string_length(json_object_get(said, "version"))) {
		err_set(err, ERR_INVALID_ARGUMENT, "%s has no \"version\".", reading->path);
		return NULL;
	}
	manifest = json_copy((json_t *)said);
	/* A member of another type than it should have is as none. */
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const json_t *value = json_object_get(manifest, members[i].name);

		if (!value || json_typeof(value) == members[i].types[0] ||
		    json_typeof(value) == members[i].types[1])
			continue;
		config_problem(reading, "\"%s\" is not %s; it is ignored.", members[i].name,
		               members[i].phrase);
		json_object_del(manifest, members[i].name);
	}
	for (int part = 0; part < EXTENSION_PARTS; part++)
		json_object_set_new(reading->parts, extension_part_name((enum extension_part)part),
		                    json_pack("[s]", extension_part_name(
			                                     (enum extension_part)part)));
	return manifest;
}

/* ---- all formats ------------------------------------------------------------------------- */

static const struct manifest_row {
	const char *file;  /* in the extension's folder */
	enum extension_format format;
	const char *title; /* for people */
	const char *word;  /* in an origin */
	/* A new object in the form of gemini-extension.json, with reading->parts filled in; NULL
	 * with *err: it is no manifest that counts. */
	json_t *(*read)(const struct manifest_reading *reading, const json_t *said,
	                struct err *err);
} formats[EXTENSION_FORMATS] = { /* where a folder has several, the first counts */
	[EXTENSION_GEMINI] = { EXTENSION_MANIFEST, EXTENSION_GEMINI, "Gemini CLI extension",
	                       "gemini", gemini_read },
	[EXTENSION_CLAUDE] = { ".claude-plugin/plugin.json", EXTENSION_CLAUDE, "Claude Code plugin",
	                       "claude", config_claude_read },
	[EXTENSION_PORTABLE] = { "plugin.json", EXTENSION_PORTABLE, "Agent Plugins 1.0",
	                         "portable", config_portable_read },
	[EXTENSION_CODEX] = { ".codex-plugin/plugin.json", EXTENSION_CODEX, "Codex plugin",
	                      "codex", config_codex_read },
	[EXTENSION_BUNDLE] = { "manifest.json", EXTENSION_BUNDLE, "MCP bundle", "bundle",
	                       config_bundle_read },
};

static const struct manifest_row *format_of(const json_t *manifest)
{
	return &formats[extension_format(manifest)];
}

const char *extension_format_title(const json_t *manifest)
{
	return format_of(manifest)->title;
}

const char *extension_manifest_file(const json_t *manifest)
{
	return format_of(manifest)->file;
}

const char *extension_format_word(enum extension_format format)
{
	return formats[format].word;
}

enum extension_format extension_origin_format(const json_t *origin)
{
	const struct span word = json_span(json_object_get(origin, "format"));

	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (span_eq(word, span_str(formats[i].word)))
			return formats[i].format;
	return EXTENSION_FORMATS;
}

bool extension_has_format(const char *folder, enum extension_format format)
{
	_cleanup_free_ char *path = path_join(folder, formats[format].file);
	struct stat status;

	return lstat(path, &status) == 0;
}

/* Whether a manifest.json is none of a bundle: web pages have such files, too. */
static bool is_other_manifest(enum extension_format format, const json_t *said)
{
	return format == EXTENSION_BUNDLE && !json_object_get(said, "server");
}

/* The row whose file is there, read; `wanted` comes first.  *ret_path is for the caller to free.
 * NULL without *err: none is. */
static const struct manifest_row *
manifest_find_format(const char *folder, enum extension_format wanted, json_t **ret,
                     char **ret_path, struct err *err)
{
	for (size_t i = 0; i <= ARRAY_LEN(formats) && err->code == ERR_NONE; i++) {
		const size_t row = i ? i - 1 : wanted;
		_cleanup_free_ char *path = row < ARRAY_LEN(formats) ?
		                                    path_join(folder, formats[row].file) : NULL;

		*ret = path ? config_json(folder, path, err) : NULL;
		if (*ret && !is_other_manifest(formats[row].format, *ret)) {
			*ret_path = mem_steal(&path);
			return &formats[row];
		}
		json_decref(*ret);
		*ret = NULL;
	}
	return NULL;
}

/* Manifests of other programs that hasp does not read. */
static const struct {
	const char *file, *what;
} other_manifests[] = {
	{ ".cursor-plugin/plugin.json", "a plugin of Cursor" },
	{ ".github/plugin/plugin.json", "a plugin of Copilot CLI" },
	{ ".kimi-plugin/plugin.json", "a plugin of Kimi Code" },
	{ ".opencode/package.json", "a plugin of OpenCode" },
	{ "qwen-extension.json", "an extension of Qwen Code" },
	{ "POWER.md", "a power of Kiro" },
};

char *extension_absent_sentence(const char *folder, const char *shown)
{
	for (size_t i = 0; i < ARRAY_LEN(other_manifests); i++) {
		_cleanup_free_ char *path = path_join(folder, other_manifests[i].file);
		struct stat status;

		if (lstat(path, &status) == 0)
			return mem_printf("%.500s has %s, %s, which hasp does not read, and no "
			                  EXTENSION_MANIFEST " and no plugin.json.", shown,
			                  other_manifests[i].file, other_manifests[i].what);
	}
	return mem_printf("There is no " EXTENSION_MANIFEST " in %.500s, and no plugin.json.",
	                  shown);
}

bool extension_is_in(const char *folder)
{
	_cleanup_free_ char *path = NULL;
	json_auto_t *said = NULL;
	struct err err = ERR_INIT;

	return manifest_find_format(folder, EXTENSION_FORMATS, &said, &path, &err) ||
	       err.code != ERR_NONE;
}

bool extension_is_bare(const char *folder)
{
	static const char *const parts[] = { "commands", "agents", "skills", "hooks/hooks.json",
		                             ".mcp.json" };
	bool bare = false;

	for (size_t i = 0; i < ARRAY_LEN(parts) && !bare; i++) {
		_cleanup_free_ char *path = path_join(folder, parts[i]);
		struct stat status;

		bare = lstat(path, &status) == 0;
	}
	return bare && !extension_is_in(folder);
}

/* What a manifest would say that there need not be. */
static const struct manifest_row *bare_format(const char *folder, json_t **ret, char **ret_path)
{
	const char *slash = strrchr(folder, '/');

	if (!extension_is_bare(folder))
		return NULL;
	*ret = json_pack("{s:o}", "name", json_name(slash ? slash + 1 : folder));
	*ret_path = mem_strdup(folder);
	return &formats[EXTENSION_CLAUDE];
}

json_t *extension_manifest_read(const char *folder, json_t *problems, struct err *err)
{
	json_auto_t *origin = extension_origin_read(folder);

	return extension_manifest_read_as(folder, extension_origin_format(origin), problems, err);
}

json_t *extension_manifest_read_as(const char *folder, enum extension_format wanted,
                                   json_t *problems, struct err *err)
{
	_cleanup_free_ char *path = NULL;
	json_auto_t *said = NULL, *parts = json_object(), *unused = json_array();
	json_auto_t *wrong = json_array();
	struct err why = ERR_INIT;
	const struct manifest_row *format =
		manifest_find_format(folder, wanted, &said, &path, &why);
	struct manifest_reading reading = { folder, NULL, wrong, parts, unused, NULL,
	                                    false };
	json_t *manifest, *sentence;
	size_t i;

	if (why.code != ERR_NONE) {
		*err = why;
		return NULL;
	}
	format = format ? format : bare_format(folder, &said, &path);
	reading.path = path;
	if (!format) {
		_cleanup_free_ char *absent = extension_absent_sentence(folder, folder);

		err_set(err, ERR_FILE_NOT_FOUND, "%s", absent);
		return NULL;
	}
	if (!json_is_object(said)) {
		err_set(err, ERR_INVALID_ARGUMENT, "%s does not hold an object.", path);
		return NULL;
	}
	manifest = format->read(&reading, said, err);
	if (!manifest)
		return NULL;
	json_object_set_new(parts, "format", json_integer(format->format));
	json_object_set(parts, "unused", unused);
	json_object_set(parts, "problems", wrong);
	json_array_foreach(wrong, i, sentence)
		warnings_add(problems, json_incref(sentence));
	json_object_set(manifest, "hasp", parts);
	return manifest;
}

/* ---- hooks -------------------------------------------------------------------------------- */

/* A folder may be a plugin, too, whose hooks are in the same file: those of events that only Claude
 * Code has are in its form. A new reference. */
static json_t *hooks_of_both(const char *folder, const char *path, const json_t *said)
{
	const bool both = extension_has_format(folder, EXTENSION_CLAUDE) ||
	                  extension_has_format(folder, EXTENSION_CODEX);
	json_auto_t *foreign = json_object(), *other = NULL;
	json_t *hooks = json_object(), *groups;
	const char *event;

	json_object_foreach((json_t *)said, event, groups)
		json_object_set(both && !hook_events_find(event, false) &&
		                                hook_events_find(event, true) ?
		                        foreign : hooks, event, groups);
	other = config_claude_hooks(folder, path, foreign);
	json_object_foreach(other, event, groups) {
		json_auto_t *all = json_copy(json_object_get(hooks, event));

		if (json_is_array(all))
			json_array_extend(all, groups);
		json_object_set(hooks, event, json_is_array(all) ? all : groups);
	}
	return hooks;
}

json_t *extension_hooks_said(const char *folder, const json_t *manifest, struct err *err)
{
	_cleanup_free_ char *path = path_join(folder, "hooks/hooks.json");
	struct err why = ERR_INIT;
	json_auto_t *file = NULL;
	json_t *hooks;

	if (extension_format(manifest) != EXTENSION_GEMINI)
		return json_incref(json_object_get(json_object_get(manifest, "hasp"), "hooks"));
	file = config_json(folder, path, &why);
	if (!file) {
		if (why.code != ERR_NONE)
			*err = why;
		return NULL;
	}
	hooks = json_object_get(file, "hooks");
	if (!json_is_object(hooks)) {
		err_set(err, ERR_INVALID_ARGUMENT, "%s: its \"hooks\" is no object.", path);
		return NULL;
	}
	return hooks_of_both(folder, path, hooks);
}

char *extension_hooks_stray(const char *folder, const json_t *manifest)
{
	_cleanup_free_ char *path = path_join(folder, "hooks.json");
	struct err ignored = ERR_INIT;
	json_auto_t *said = NULL;
	struct stat st;

	if (lstat(path, &st) < 0)
		return NULL;
	if (extension_format(manifest) != EXTENSION_GEMINI) {
		said = extension_hooks_said(folder, manifest, &ignored);
		if (json_object_size(said))
			return NULL;
	}
	return mem_printf("%s is not read, and its hooks do not run: move it to hooks/hooks.json.",
	                  path);
}
