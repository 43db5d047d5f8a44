/* SPDX-License-Identifier: Apache-2.0 */
/* MCP servers of all files: the settings', Claude Code's, Codex's, extensions' and a project's. */
#include "config/servers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "config/private.h"
#include "data/json.h"
#include "data/toml.h"
#include "data/warnings.h"

enum {
	FOREIGN_DEPTH = 64,       /* of what other programs write */
	FOREIGN_SERVERS_MAX = 64, /* of one file */
	NAME_BYTES_MAX = 100,
	TIMEOUT_S_MAX = 24 * 3600,
};

/* The files of a project that may name servers. */
#define CLAUDE_PROJECT_FILE ".mcp.json"
#define CODEX_PROJECT_FILE ".codex/config.toml"

struct server_gathering {
	const struct settings *settings;
	json_t *rows, *warnings;
};

/* ---- names ---- */

bool servers_same_name(const char *a, const char *b)
{
	const struct span left = span_trim(span_str(a)), right = span_trim(span_str(b));

	return left.len == right.len && strncasecmp(left.data, right.data, left.len) == 0;
}

bool servers_list_has(const json_t *names, const char *name)
{
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)names, i, one)
		if (json_is_string(one) && servers_same_name(json_string_value(one), name))
			return true;
	return false;
}

/* ---- rows ---- */

__attribute__((format(printf, 2, 3)))
static void gather_warn(struct server_gathering *gathering, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	warnings_add(gathering->warnings, json_text(span_str(text)));
}

static void row_off(json_t *row, const char *why, bool quiet)
{
	if (json_object_get(row, "off"))
		return;
	json_object_set_new(row, "off", json_text(span_str(why)));
	if (quiet)
		json_object_set_new(row, "quiet", json_true());
}

static const json_t *row_named(const struct server_gathering *gathering, const char *name)
{
	size_t i;
	json_t *row;

	json_array_foreach(gathering->rows, i, row)
		if (servers_same_name(json_string_value(json_object_get(row, "name")), name))
			return row;
	return NULL;
}

/* Takes the entry. */
static json_t *row_new(const char *name, json_t *entry, const char *origin, const char *file)
{
	return json_pack("{s:o, s:o, s:s, s:o}", "name", json_cstr(name), "entry", entry, "origin",
	                 origin, "file", json_cstr(file));
}

/* ---- the settings' ---- */

static const char *const scope_origins[SCOPE_COUNT] = {
	[SCOPE_DEFAULT] = "default settings",   [SCOPE_SYSTEM_DEFAULTS] = "system defaults",
	[SCOPE_USER] = "user settings",         [SCOPE_WORKSPACE] = "project settings",
	[SCOPE_SYSTEM] = "system settings",     [SCOPE_OVERRIDE] = "command line",
};

#define CLAUDE_ORIGIN "Claude Code"
#define CODEX_ORIGIN "Codex"

bool servers_row_is_users(const json_t *row)
{
	const struct span origin = json_span(json_object_get(row, "origin"));
	bool users = span_eq(origin, SPAN(CLAUDE_ORIGIN)) || span_eq(origin, SPAN(CODEX_ORIGIN));

	for (size_t i = 0; i < SCOPE_COUNT && !users; i++)
		users = i != SCOPE_WORKSPACE && span_eq(origin, span_str(scope_origins[i]));
	return users;
}

/* The highest that has it, as its members replace those of lower ones whole. */
static enum settings_scope scope_of_server(const struct settings *settings, const char *name)
{
	for (int i = SCOPE_COUNT; i-- > SCOPE_DEFAULT;)
		if (json_object_get(settings_of_scope(settings, (enum settings_scope)i,
		                                      "mcpServers"), name))
			return (enum settings_scope)i;
	return SCOPE_DEFAULT;
}

/* Neither a program nor an address: it adds to a server of another file. */
static bool is_addition(const json_t *entry)
{
	static const char *const targets[] = { "command", "url", "httpUrl", "tcp" };

	for (size_t i = 0; i < ARRAY_LEN(targets); i++)
		if (json_object_get(entry, targets[i]))
			return false;
	return json_is_object(entry);
}

static void add_own_servers(struct server_gathering *gathering, bool additions)
{
	const json_t *servers = settings_get(gathering->settings, "mcpServers");
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)servers, name, entry) {
		const enum settings_scope scope = scope_of_server(gathering->settings, name);

		if (is_addition(entry) != additions || (additions && row_named(gathering, name)))
			continue;
		json_array_append_new(gathering->rows, row_new(name, json_incref(entry),
		                                               scope_origins[scope],
		                                               settings_file(gathering->settings,
		                                                             scope)));
	}
}

/* A foreign server, with what the settings add to it. Takes the entry. Borrowed. */
static json_t *row_add_foreign(struct server_gathering *gathering, const char *name, json_t *entry,
                               const char *origin, const char *file)
{
	const json_t *own = json_object_get(settings_get(gathering->settings, "mcpServers"), name);
	const json_t *first = row_named(gathering, name);
	json_t *row;

	if (is_addition(own))
		json_object_update(entry, (json_t *)own);
	row = row_new(name, entry, origin, file);
	json_object_set_new(row, "foreign", json_true());
	json_array_append_new(gathering->rows, row);
	if (first) {
		_cleanup_free_ char *why = mem_printf(
			"a server of that name comes first (%s)",
			json_string_value(json_object_get(first, "origin")));

		row_off(row, why, true);
	}
	return row;
}

/* Calls `add` for each server of an object, whose names and members are anybody's. */
static void each_foreign(struct server_gathering *gathering, const json_t *servers,
                         const char *file,
                         void (*add)(struct server_gathering *gathering, const char *name,
                                     const json_t *entry, const void *data),
                         const void *data)
{
	size_t count = 0;
	const char *name;
	json_t *entry;

	json_object_foreach((json_t *)servers, name, entry) {
		if (++count > FOREIGN_SERVERS_MAX) {
			gather_warn(gathering, "%s has more than %d MCP servers; the others are "
			            "not used.", file, FOREIGN_SERVERS_MAX);
			return;
		}
		if (!servers_name_is_fine(name) || !json_is_object(entry)) {
			_cleanup_free_ char *line = extension_line(span_str(name));

			gather_warn(gathering, "%s: the MCP server \"%.100s\" is not used: %s",
			            file, line, servers_entry_problem(name, entry));
		} else {
			add(gathering, name, entry, data);
		}
	}
}

/* ---- Claude Code's format ---- */

/* As mcpServers has it, with ${VAR} and ${VAR:-default} put in.  `own`: it is the user's file.  A
 * new object. */
static json_t *claude_entry(struct server_gathering *gathering, const json_t *said, bool own)
{
	const json_t *client = json_object_get(json_object_get(said, "oauth"), "clientId");
	json_auto_t *taken = config_claude_entry(said);
	json_t *entry = variables_expand_braces(gathering->settings->variables, taken, own,
	                                        gathering->warnings);

	config_keep_helper(entry, taken);
	if (json_is_string(client))
		json_object_set_new(entry, "oauth", json_pack("{s:O}", "clientId", client));
	return entry;
}

struct claude_file {
	const char *path;
	const json_t *rejected; /* disabledMcpServers: names */
};

static void add_claude_server(struct server_gathering *gathering, const char *name,
                              const json_t *said, const void *data)
{
	const struct claude_file *file = data;
	json_t *row = row_add_foreign(gathering, name, claude_entry(gathering, said, true),
	                              CLAUDE_ORIGIN, file->path);

	if (servers_list_has(file->rejected, name))
		row_off(row, "it is disabled in Claude Code for this project", true);
}

/* `moved`: the value of the variable that says where the folder is. */
static char *foreign_path(const struct settings *settings, const char *moved, const char *folder,
                          const char *name)
{
	if (moved && moved[0] == '/')
		return mem_printf("%s/%s", moved, name);
	return mem_printf("%s/%s%s", home_user(settings->home), folder, name);
}

/* A new reference; one that cannot be read is as none, with a warning. */
static json_t *foreign_object(struct server_gathering *gathering, const char *path)
{
	struct err err = ERR_INIT;
	json_t *all = home_object_read(path, FOREIGN_DEPTH, &err);

	if (all)
		return all;
	gather_warn(gathering, "MCP servers of another program are not used: %s", err.message);
	return json_object();
}

/* What ~/.claude.json says of this project. Borrowed. */
static const json_t *claude_project(const struct server_gathering *gathering, const json_t *claude)
{
	return json_object_get(json_object_get(claude, "projects"),
	                       home_project(gathering->settings->home));
}

static void add_claude_servers(struct server_gathering *gathering, const json_t *claude,
                               const char *path)
{
	const json_t *project = claude_project(gathering, claude);
	const struct claude_file file = { path, json_object_get(project, "disabledMcpServers") };

	each_foreign(gathering, json_object_get(project, "mcpServers"), path, add_claude_server,
	             &file);
	each_foreign(gathering, json_object_get(claude, "mcpServers"), path, add_claude_server,
	             &file);
}

/* ---- Codex's ---- */

static void put_seconds(json_t *entry, const char *member, const json_t *seconds)
{
	const double value = json_number_value(seconds);
	const double most = value < TIMEOUT_S_MAX ? value : TIMEOUT_S_MAX;

	/* At least one. ceil() would have libm loaded at each start. */
	if (json_is_number(seconds) && value > 0)
		json_object_set_new(entry, member,
		                    json_integer(1 + (json_int_t)(1000 * most - 0.5)));
}

/* One of Codex's entries. */
struct codex_server {
	struct server_gathering *gathering;
	const char *name;
	const json_t *said;
	bool own; /* it is in the user's file */
};

/* The value of the user's variable; a new reference. NULL: it is not set, with a warning. */
static json_t *users_variable(const struct codex_server *server, const json_t *name)
{
	struct server_gathering *gathering = server->gathering;
	_cleanup_free_ char *text = mem_printf("${%s}", json_is_string(name) ?
	                                                json_string_value(name) : "");
	json_auto_t *reference = json_text(span_str(text));
	json_t *value = variables_expand_braces(gathering->settings->variables, reference,
	                                        server->own, gathering->warnings);

	if (!json_equal(value, reference))
		return value;
	json_decref(value);
	gather_warn(gathering, "Codex's MCP server \"%s\" requires the variable %.100s, which is "
	            "not set.", server->name,
	            json_is_string(name) ? json_string_value(name) : "(no name)");
	return NULL;
}

static json_t *entry_object(json_t *entry, const char *member)
{
	json_t *object = json_object_get(entry, member);

	if (!object) {
		object = json_object();
		json_object_set_new(entry, member, object);
	}
	return object;
}

static void put_codex_headers(const struct codex_server *server, json_t *entry)
{
	const json_t *token = json_object_get(server->said, "bearer_token_env_var"), *fixed;
	const char *field;
	json_t *variable, *value;

	fixed = json_object_get(server->said, "http_headers");
	if (json_is_object(fixed))
		json_object_set_new(entry, "headers", json_deep_copy(fixed));
	json_object_foreach(json_object_get(server->said, "env_http_headers"), field, variable) {
		value = users_variable(server, variable);
		if (value)
			json_object_set_new(entry_object(entry, "headers"), field, value);
	}
	value = token ? users_variable(server, token) : NULL;
	if (value) {
		_cleanup_free_ char *bearer = mem_printf("Bearer %s", json_string_value(value));

		json_object_set_new(entry_object(entry, "headers"), "Authorization",
		                    json_text(span_str(bearer)));
		json_decref(value);
	}
}

static void put_codex_program(const struct codex_server *server, json_t *entry)
{
	static const char *const same[] = { "command", "args", "cwd" };
	const json_t *env = json_object_get(server->said, "env");
	size_t i;
	json_t *variable;

	for (i = 0; i < ARRAY_LEN(same); i++)
		if (json_object_get(server->said, same[i]))
			json_object_set(entry, same[i], json_object_get(server->said, same[i]));
	if (json_is_object(env))
		json_object_set_new(entry, "env", json_deep_copy(env));
	json_array_foreach(json_object_get(server->said, "env_vars"), i, variable) {
		const json_t *called = servers_codex_variable(variable);
		json_t *value = users_variable(server, called);

		if (value)
			json_object_set_new(entry_object(entry, "env"), json_string_value(called),
			                    value);
	}
}

/* As mcpServers has it. A new object. */
static json_t *codex_entry(const struct codex_server *server)
{
	const json_t *said = server->said, *url = json_object_get(said, "url");
	const json_t *startup_ms = json_object_get(said, "startup_timeout_ms");
	const json_t *enabled = json_object_get(said, "enabled_tools");
	const json_t *disabled = json_object_get(said, "disabled_tools");
	json_t *entry = json_object();

	if (json_is_string(url)) {
		json_object_set_new(entry, "httpUrl", json_incref((json_t *)url));
		put_codex_headers(server, entry);
	} else {
		put_codex_program(server, entry);
	}
	put_seconds(entry, "startupTimeout", json_object_get(said, "startup_timeout_sec"));
	put_seconds(entry, "timeout", json_object_get(said, "tool_timeout_sec"));
	if (json_is_integer(startup_ms) && !json_object_get(entry, "startupTimeout"))
		json_object_set(entry, "startupTimeout", (json_t *)startup_ms);
	if (json_is_array(enabled))
		json_object_set(entry, "includeTools", (json_t *)enabled);
	if (json_is_array(disabled))
		json_object_set(entry, "excludeTools", (json_t *)disabled);
	return entry;
}

static void check_codex_row(json_t *row, const json_t *said)
{
	if (json_is_false(json_object_get(said, "enabled")))
		row_off(row, "it is disabled in Codex", true);
}

static void add_codex_server(struct server_gathering *gathering, const char *name,
                             const json_t *said, const void *data)
{
	const struct codex_server server = { gathering, name, said, .own = true };

	check_codex_row(row_add_foreign(gathering, name, codex_entry(&server), CODEX_ORIGIN, data),
	                said);
}

static void add_codex_servers(struct server_gathering *gathering)
{
	_cleanup_free_ char *path = foreign_path(gathering->settings, getenv("CODEX_HOME"),
	                                         ".codex/", "config.toml");
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *all = NULL;
	struct err err = ERR_INIT;

	if (!file_read(path, LIMIT_SETTINGS_BYTES, &text, &err))
		gather_warn(gathering, "Codex's MCP servers are not used: %s", err.message);
	if (!text.data)
		return;
	if (toml_parse(file_text_span(&text), &all, &err))
		each_foreign(gathering, json_object_get(all, "mcp_servers"), path, add_codex_server,
		             path);
	else
		gather_warn(gathering, "Codex's MCP servers are not used: %s: %s", path,
		            err.message);
}

/* ---- extensions' ---- */

/* Everything but what only the user's own word can bring. */
static json_t *extension_entry(const json_t *said)
{
	static const char *const users[] = { "trust", "sandbox", "extension" };
	json_t *entry = json_copy((json_t *)said);

	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		json_object_del(entry, users[i]);
	return entry;
}

/* A plugin's program may write the folder that is kept for the plugin. */
static void put_extension_data(json_t *entry, const struct extension *extension)
{
	_cleanup_free_ char *folder = config_entry_runs(entry) ? extension_data_make(extension) :
	                                                         NULL;

	if (folder)
		json_object_set_new(entry, "sandbox", json_pack("{s:[o]}", "write",
		                                                json_name(folder)));
}

/* Programs get the values of the extension's settings, as far as the entry says nothing else. */
static void put_extension_values(json_t *entry, const json_t *values)
{
	json_t *env = json_deep_copy(values);

	if (config_entry_runs(entry) && json_object_size(values)) {
		json_object_update(env, json_object_get(entry, "env"));
		json_object_set(entry, "env", env);
	}
	json_decref(env);
}

static void add_extension_server(struct server_gathering *gathering, const char *name,
                                 const json_t *said, const void *data)
{
	const struct extension *extension = data;
	_cleanup_free_ char *file = path_join(extension->folder,
	                                      extension_manifest_file(extension->manifest));
	_cleanup_free_ char *origin = mem_printf("extension %s", extension->name);
	json_t *entry = extension_entry(said);
	json_t *watch = extension_watch(gathering->settings, extension);

	/* Looked at when it is started. */
	if (watch)
		json_object_set_new(entry, "extension", watch);
	put_extension_values(entry, extension->values);
	put_extension_data(entry, extension);
	row_add_foreign(gathering, name, entry, origin, file);
}

/* Its servers start without a setting that the user has not set. */
static void warn_of_unset(struct server_gathering *gathering, const struct extension *extension)
{
	const json_t *setting;
	size_t i;

	if (!json_object_size(json_object_get(extension->manifest, "mcpServers")))
		return;
	json_array_foreach(json_object_get(extension->manifest, "settings"), i, setting) {
		const char *variable = json_string_value(json_object_get(setting, "envVar"));

		if (variable && *variable && !extension_variable_steers(variable) &&
		    !json_is_true(json_object_get(setting, "optional")) &&
		    !json_object_get(extension->values, variable))
			gather_warn(gathering, "The MCP servers of the extension \"%s\" start "
			            "without its setting %.100s, which is not set. To set it: hasp "
			            "extensions config %s %.100s", extension->name, variable,
			            extension->name, variable);
	}
}

static void add_extension_servers(struct server_gathering *gathering)
{
	const struct extensions *all = extensions_installed(gathering->settings);

	for (size_t i = 0; i < all->count; i++) {
		const struct extension *one = &all->at[i];
		_cleanup_free_ char *file = path_join(one->folder,
		                                      extension_manifest_file(one->manifest));

		if (!extension_counts(one))
			continue;
		warn_of_unset(gathering, one);
		each_foreign(gathering, json_object_get(one->manifest, "mcpServers"), file,
		             add_extension_server, one);
	}
}

/* ---- a project's ---- */

/* What is known of the user's decisions and rejections. */
struct project_file {
	const char *name, *path;
	const json_t *allowed;     /* {NAME: HASH}, or NULL */
	const json_t *rejected[2]; /* disabledMcpjsonServers of Claude Code's own files */
};

/* The name under which a yes or a no is kept (authority.h). The caller frees. */
static char *decision_name(const char *file, const char *server, bool use)
{
	return mem_printf("%s:%s%s", file, server, use ? "" : " (no)");
}

static bool is_decided(const struct project_file *file, const char *name, const json_t *said,
                       bool use)
{
	_cleanup_free_ char *key = decision_name(file->name, name, use);

	return authority_allows(file->allowed, key, said);
}

/* `entry`, `said`: as of server_question. */
static void decide_project_row(const struct project_file *file, json_t *row, const char *name,
                               const json_t *entry, const json_t *said)
{
	_cleanup_free_ char *what = NULL;

	for (size_t i = 0; i < ARRAY_LEN(file->rejected); i++)
		if (servers_list_has(file->rejected[i], name))
			row_off(row, "Claude Code's disabledMcpjsonServers names it", true);
	if (json_object_get(row, "off") || is_decided(file, name, said, true))
		return;
	what = servers_project_question(entry, said);
	if (!what) {
		row_off(row, "the project names it, and its entry is too long to be asked about",
		        false);
		return;
	}
	json_object_set(row, "said", (json_t *)said);
	json_object_set_new(row, "asks", json_text(span_str(what)));
	if (is_decided(file, name, said, false))
		json_object_set_new(row, "refused", json_true());
	row_off(row, json_object_get(row, "refused") ?
	                     "you said no to it" :
	                     "the project names it, and you have not allowed it", true);
}

static void add_project_server(struct server_gathering *gathering, const char *name,
                               const json_t *said, const void *data)
{
	const struct project_file *file = data;
	json_auto_t *shown = config_claude_entry(said);
	json_t *row = row_add_foreign(gathering, name, claude_entry(gathering, said, false),
	                              file->name, file->path);

	decide_project_row(file, row, name, shown, said);
}

static void add_project_codex_server(struct server_gathering *gathering, const char *name,
                                     const json_t *said, const void *data)
{
	const struct project_file *file = data;
	const struct codex_server server = { gathering, name, said, .own = false };
	json_auto_t *entry = codex_entry(&server);
	json_t *row = row_add_foreign(gathering, name, json_incref(entry), file->name,
	                              file->path);

	check_codex_row(row, said);
	decide_project_row(file, row, name, entry, said);
}

/* The object that the file `name` of the project holds; a new reference, NULL if there is none or
 * it cannot be read, with a warning. */
static json_t *project_object(struct server_gathering *gathering, const char *name,
                              const char *path)
{
	const bool toml = strcmp(name, CODEX_PROJECT_FILE) == 0;
	_cleanup_file_text_ struct file_text text = { 0 };
	json_t *all = NULL;
	struct err err = ERR_INIT;

	if (door_read(home_project(gathering->settings->home), path, LIMIT_SETTINGS_BYTES, &text,
	              &err) &&
	    (!text.data ||
	     (toml ? toml_parse(file_text_span(&text), &all, &err) :
	             json_parse_depth(file_text_span(&text), FOREIGN_DEPTH, &all, &err))))
		return all;
	gather_warn(gathering, "The project's %s is not used: %s", name, err.message);
	return NULL;
}

/* Those of one file of the project, whose member `member` has them. `claude`: what ~/.claude.json
 * says. */
static void add_project_servers(struct server_gathering *gathering, const char *name,
                                const char *member, const json_t *claude)
{
	const struct settings *settings = gathering->settings;
	_cleanup_free_ char *path = path_join(home_project(settings->home), name);
	json_auto_t *all = project_object(gathering, name, path);
	const json_t *servers = json_object_get(all, member);
	json_auto_t *claude_settings = NULL, *allowed = NULL;
	struct err err = ERR_INIT;
	struct project_file file = { .name = name, .path = path };

	if (!json_is_object(servers))
		return;
	allowed = authority_allowances(settings->home, &err);
	file.allowed = allowed;
	if (strcmp(name, CODEX_PROJECT_FILE) == 0) {
		each_foreign(gathering, servers, path, add_project_codex_server, &file);
	} else {
		_cleanup_free_ char *own = foreign_path(settings, getenv("CLAUDE_CONFIG_DIR"),
		                                        ".claude/", "settings.json");

		claude_settings = foreign_object(gathering, own);
		file.rejected[0] = json_object_get(claude_project(gathering, claude),
		                                   "disabledMcpjsonServers");
		file.rejected[1] = json_object_get(claude_settings, "disabledMcpjsonServers");
		each_foreign(gathering, servers, path, add_project_server, &file);
	}
}

bool servers_decide(const struct settings *settings, const json_t *row, bool use, struct err *err)
{
	const char *name = json_string_value(json_object_get(row, "name"));
	const char *file = json_string_value(json_object_get(row, "origin"));
	const json_t *said = json_object_get(row, "said");
	_cleanup_free_ char *key = decision_name(file, name, use);
	_cleanup_free_ char *other = decision_name(file, name, !use);

	if (!said)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The server \"%.100s\" is of no file of the project's.", name);
	return authority_allow(settings->home, key, said, err) &&
	       authority_allow(settings->home, other, NULL, err);
}

/* ---- all of them ---- */

json_t *servers_configured(const struct settings *settings, json_t *warnings)
{
	struct server_gathering gathering = { settings, json_array(), warnings };
	const bool codex = settings_bool(settings, "hasp.servers.codex", true);
	const bool claude = settings_bool(settings, "hasp.servers.claude", true);
	const bool trusted = settings->trusted && !settings->project_is_home;
	const bool project = trusted && settings_bool(settings, "hasp.servers.mcpJson", true);
	_cleanup_free_ char *path = foreign_path(settings, getenv("CLAUDE_CONFIG_DIR"), "",
	                                        ".claude.json");
	json_auto_t *claudes = claude || project ? foreign_object(&gathering, path) : NULL;

	add_own_servers(&gathering, false);
	if (claude)
		add_claude_servers(&gathering, claudes, path);
	if (codex)
		add_codex_servers(&gathering);
	add_extension_servers(&gathering);
	if (project)
		add_project_servers(&gathering, CLAUDE_PROJECT_FILE, "mcpServers", claudes);
	if (codex && trusted)
		add_project_servers(&gathering, CODEX_PROJECT_FILE, "mcp_servers", NULL);
	add_own_servers(&gathering, true);
	return gathering.rows;
}

/* ---- an agent's own ---- */

/* "http_url" -> "httpUrl". The caller frees. */
static char *camel_case(const char *name)
{
	_cleanup_buf_ struct buf out = BUF_INIT(NAME_BYTES_MAX);

	for (; *name; name++) {
		const bool joins = name[0] == '_' && name[1] >= 'a' && name[1] <= 'z' && out.len;

		buf_char(&out, joins ? (char)(*++name - 'a' + 'A') : *name);
	}
	return mem_dup(out.data ? out.data : "", out.len);
}

/* Gemini CLI's "auth" there, as mcpServers has it. */
static void put_agent_auth(json_t *entry, const json_t *auth)
{
	const struct span type = json_span(json_object_get(auth, "type"));
	json_t *oauth = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)auth, name, value) {
		_cleanup_free_ char *ours = camel_case(name);

		if (strcmp(name, "type"))
			json_object_set(oauth, ours, value);
	}
	if (span_eq(type, SPAN("google-credentials")))
		json_object_set_new(entry, "authProviderType", json_string("google_credentials"));
	json_object_set_new(entry, "oauth", oauth);
}

/* As mcpServers has it; a new object. */
static json_t *agent_entry(const json_t *said, bool own)
{
	json_t *entry = json_object(), *value;
	const struct span type = json_span(json_object_get(said, "type"));
	const char *name;

	json_object_foreach((json_t *)said, name, value) {
		_cleanup_free_ char *ours = camel_case(name);

		if (!strcmp(ours, "auth") && json_is_object(value))
			put_agent_auth(entry, value);
		else if (strcmp(ours, "trust") && (own || strcmp(ours, "sandbox")))
			json_object_set(entry, ours, value);
	}
	if (span_eq(type, SPAN("ws")) && json_object_get(entry, "url")) {
		json_object_set(entry, "tcp", json_object_get(entry, "url"));
		json_object_del(entry, "url");
	} else if (span_eq(type, SPAN("stdio"))) {
		json_object_del(entry, "url");
		json_object_del(entry, "httpUrl");
		json_object_del(entry, "tcp");
	}
	return entry;
}

json_t *servers_of_agent(const struct settings *settings, const json_t *said, const char *file,
                         bool own, json_t *warnings)
{
	json_auto_t *configured = servers_configured(settings, NULL);
	struct server_gathering gathering = { settings, configured, warnings };
	json_t *rows = json_array(), *entry;
	const char *name;

	json_object_foreach((json_t *)said, name, entry) {
		const json_t *first = row_named(&gathering, name);
		json_auto_t *plain = agent_entry(entry, own);
		json_t *placed = variables_expand_json(settings->variables, plain, own, warnings);
		json_t *row = row_new(name, placed, "agent", file);

		config_keep_helper(placed, plain);
		json_object_set_new(row, "foreign", json_true());
		if (first)
			row_off(row, "the session has a server of that name, and the agent uses "
			             "that one", false);
		json_array_append_new(rows, row);
	}
	return rows;
}

char *servers_agent_question(const json_t *said)
{
	json_auto_t *entry = agent_entry(said, false);

	return servers_project_question(entry, entry);
}
