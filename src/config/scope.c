/* SPDX-License-Identifier: Apache-2.0 */
/* One file of settings: read, old names made new, held against the table; the table as a JSON
 * Schema. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/authority.h"
#include "config/private.h"
#include "config/schema.h"
#include "config/settings.h"
#include "data/json.h"
#include "data/jsonc.h"
#include "data/warnings.h"

/* ---- old settings ------------------------------------------------------------ */

static json_t *opposite(const json_t *value)
{
	return json_is_boolean(value) ? json_boolean(!json_is_true(value)) : NULL;
}

/* chatCompression was an object of one. */
static json_t *compression(const json_t *value)
{
	return json_incref(json_object_get(value, "contextPercentageThreshold"));
}

static json_t *off(const json_t *value)
{
	return json_is_false(value) ? json_string("off") : NULL;
}

/* Objects at names that are groups today are today's. */
static json_t *unless_object(const json_t *value)
{
	return json_is_object(value) ? NULL : json_incref((json_t *)value);
}

/* First version 1, where all names were flat; then later changes. In this order. */
static const struct move {
	const char *from, *to;
	json_t *(*change)(const json_t *value); /* NULL: as it is. It returns NULL to leave it
	                                         * alone */
} moves[] = {
	{ "model", "model.name", unless_object },
	{ "accessibility", "ui.accessibility", NULL },
	{ "allowedTools", "tools.allowed", NULL },
	{ "allowMCPServers", "mcp.allowed", NULL },
	{ "approvalMode", "general.defaultApprovalMode", NULL },
	{ "autoConfigureMaxOldSpaceSize", "advanced.autoConfigureMemory", NULL },
	{ "bugCommand", "advanced.bugCommand", NULL },
	{ "chatCompression", "model.compressionThreshold", compression },
	{ "checkpointing", "general.checkpointing", NULL },
	{ "coreTools", "tools.core", NULL },
	{ "contextFileName", "context.fileName", NULL },
	{ "customThemes", "ui.customThemes", NULL },
	{ "customWittyPhrases", "ui.customWittyPhrases", NULL },
	{ "debugKeystrokeLogging", "general.debugKeystrokeLogging", NULL },
	{ "disableAutoUpdate", "general.enableAutoUpdate", opposite },
	{ "disableUpdateNag", "general.enableAutoUpdateNotification", opposite },
	{ "dnsResolutionOrder", "advanced.dnsResolutionOrder", NULL },
	{ "enableHooks", "hooksConfig.enabled", NULL },
	{ "enforcedAuthType", "security.auth.enforcedType", NULL },
	{ "excludeTools", "tools.exclude", NULL },
	{ "excludeMCPServers", "mcp.excluded", NULL },
	{ "excludedProjectEnvVars", "advanced.excludedEnvVars", NULL },
	{ "experimentalSkills", "skills.enabled", NULL },
	{ "extensionManagement", "experimental.extensionManagement", NULL },
	{ "fileFiltering", "context.fileFiltering", NULL },
	{ "folderTrust", "security.folderTrust.enabled", NULL },
	{ "hasSeenIdeIntegrationNudge", "ide.hasSeenNudge", NULL },
	{ "hideWindowTitle", "ui.hideWindowTitle", NULL },
	{ "showStatusInTitle", "ui.showStatusInTitle", NULL },
	{ "hideTips", "ui.hideTips", NULL },
	{ "hideBanner", "ui.hideBanner", NULL },
	{ "hideFooter", "ui.hideFooter", NULL },
	{ "hideCWD", "ui.footer.hideCWD", NULL },
	{ "hideSandboxStatus", "ui.footer.hideSandboxStatus", NULL },
	{ "hideModelInfo", "ui.footer.hideModelInfo", NULL },
	{ "hideContextSummary", "ui.hideContextSummary", NULL },
	{ "showMemoryUsage", "ui.showMemoryUsage", NULL },
	{ "showLineNumbers", "ui.showLineNumbers", NULL },
	{ "showCitations", "ui.showCitations", NULL },
	{ "ideMode", "ide.enabled", NULL },
	{ "includeDirectories", "context.includeDirectories", NULL },
	{ "loadMemoryFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories", NULL },
	{ "maxSessionTurns", "model.maxSessionTurns", NULL },
	{ "mcpServerCommand", "mcp.serverCommand", NULL },
	{ "memoryImportFormat", "context.importFormat", NULL },
	{ "memoryDiscoveryMaxDirs", "context.discoveryMaxDirs", NULL },
	{ "preferredEditor", "general.preferredEditor", NULL },
	{ "retryFetchErrors", "general.retryFetchErrors", NULL },
	{ "sandbox", "tools.sandbox", NULL },
	{ "selectedAuthType", "security.auth.selectedType", NULL },
	{ "enableInteractiveShell", "tools.shell.enableInteractiveShell", NULL },
	{ "shellPager", "tools.shell.pager", NULL },
	{ "shellShowColor", "tools.shell.showColor", NULL },
	{ "shellInactivityTimeout", "tools.shell.inactivityTimeout", NULL },
	{ "skipNextSpeakerCheck", "model.skipNextSpeakerCheck", NULL },
	{ "summarizeToolOutput", "model.summarizeToolOutput", NULL },
	{ "theme", "ui.theme", NULL },
	{ "toolDiscoveryCommand", "tools.discoveryCommand", NULL },
	{ "toolCallCommand", "tools.callCommand", NULL },
	{ "usageStatisticsEnabled", "privacy.usageStatisticsEnabled", NULL },
	{ "useExternalAuth", "security.auth.useExternal", NULL },
	{ "useRipgrep", "tools.useRipgrep", NULL },
	{ "vimMode", "general.vimMode", NULL },

	{ "general.disableAutoUpdate", "general.enableAutoUpdate", opposite },
	{ "general.disableUpdateNag", "general.enableAutoUpdateNotification", opposite },
	{ "ui.accessibility.disableLoadingPhrases", "ui.accessibility.enableLoadingPhrases",
	  opposite },
	{ "ui.accessibility.enableLoadingPhrases", "ui.loadingPhrases", off },
	{ "context.fileFiltering.disableFuzzySearch", "context.fileFiltering.enableFuzzySearch",
	  opposite },
	{ "context.loadFromIncludeDirectories", "context.loadMemoryFromIncludeDirectories", NULL },
	{ "tools.approvalMode", "general.defaultApprovalMode", NULL },
	{ "tools.enableHooks", "hooksConfig.enabled", NULL },
	{ "experimental.skills", "skills.enabled", NULL },
	{ "experimental.plan", "general.plan.enabled", NULL },
};

/* Where the value really stands: names were moved more than once. */
static const char *first_name(const json_t *moved, const char *path)
{
	const char *earlier = json_string_value(json_object_get(moved, path));

	return earlier ? earlier : path;
}

static void move(json_t *value, json_t *moved, const struct move *row)
{
	json_t *old = config_path_get(value, row->from);
	json_t *new = old && row->change ? row->change(old) : json_incref(old);

	if (!new)
		return;
	config_path_delete(value, row->from);
	if (json_is_object(new) && json_is_object(config_path_get(value, row->to))) {
		json_object_update_missing(config_path_get(value, row->to), new);
		json_decref(new);
	} else if (config_path_get(value, row->to)) {
		json_decref(new);
	} else {
		config_path_set(value, row->to, new);
	}
	json_object_set_new(moved, row->to, json_string(first_name(moved, row->from)));
}

/* ---- one file ---------------------------------------------------------------- */

/* The servers of PATH, which settings.json of the same folder does not have. */
static bool add_more_servers(struct scope *scope, const char *path, const struct file_text *text,
                             struct err *err)
{
	json_auto_t *value = NULL;
	json_t *servers, *entry;
	struct err why = ERR_INIT;
	const char *name;
	unsigned line;

	if (!jsonc_parse_repeating(file_text_span(text), &value, &line, &why))
		return err_set(err, why.code, "%s: %s", path, why.message);
	if (!json_is_object(json_object_get(value, "mcpServers")))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s must be an object with mcpServers.",
		               path);
	if (!scope->value)
		scope->value = json_object();
	if (!json_object_get(scope->value, "mcpServers"))
		json_object_set_new(scope->value, "mcpServers", json_object());
	servers = json_object_get(scope->value, "mcpServers");
	json_object_foreach(json_object_get(value, "mcpServers"), name, entry) {
		if (!json_is_object(servers) || json_object_get(servers, name))
			continue;
		json_object_set(servers, name, entry);
		json_object_set_new(scope->more, name, json_true());
	}
	return true;
}

bool scope_read_servers(struct scope *scope, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };

	scope->more = json_object();
	return file_read(scope->more_path, LIMIT_SETTINGS_BYTES, &text, err) &&
	       (!text.data || add_more_servers(scope, scope->more_path, &text, err));
}

bool scope_read(struct scope *scope, struct err *err)
{
	struct err why = ERR_INIT;

	if (scope->project ? !door_read(scope->project, scope->path, LIMIT_SETTINGS_BYTES,
	                                &scope->text, err)
	                   : !file_read(scope->path, LIMIT_SETTINGS_BYTES, &scope->text, err))
		return false;
	scope->moved = json_object();
	if (!scope->text.data)
		return true;
	if (!jsonc_parse_repeating(file_text_span(&scope->text), &scope->value,
	                           &scope->repeated_line, &why))
		return err_set(err, why.code, "%s: %s", scope->path, why.message);
	if (!json_is_object(scope->value))
		return err_set(err, ERR_INVALID_ARGUMENT, "%s: Settings must be an object.",
		               scope->path);
	scope->lines = jsonc_lines(file_text_span(&scope->text));
	/* Moves what stands under a name of an earlier version of Gemini CLI to the new one,
	 * unless that is there too; *moved gets the old path for each new one. The file stays as
	 * it is. */
	for (size_t i = 0; i < ARRAY_LEN(moves); i++)
		move(scope->value, scope->moved, &moves[i]);
	return true;
}

void scope_release(struct scope *scope)
{
	free(scope->path);
	free(scope->more_path);
	file_text_release(&scope->text);
	json_decref(scope->more);
	json_decref(scope->value);
	json_decref(scope->lines);
	json_decref(scope->moved);
	*scope = (struct scope){ 0 };
}

/* The path in the text: what was moved with an object above it, too. */
static char *old_path(const struct scope *scope, const char *path)
{
	_cleanup_free_ char *above = mem_strdup(path);

	for (;;) {
		const char *old = json_string_value(json_object_get(scope->moved, above));
		char *dot;

		if (old)
			return mem_printf("%s%s", old, path + strlen(above));
		dot = strrchr(above, '.');
		if (!dot)
			return NULL;
		*dot = '\0';
	}
}

const char *scope_file(const struct scope *scope, const char *path)
{
	return schema_is_below(path, "mcpServers") &&
	                       json_object_get(scope->more, path + sizeof("mcpServers")) ?
	               scope->more_path : scope->path;
}

unsigned scope_line(const struct scope *scope, const char *path)
{
	_cleanup_free_ char *old = scope->moved ? old_path(scope, path) : NULL;
	unsigned line = jsonc_line(scope->lines, path);

	return line || !old ? line : jsonc_line(scope->lines, old);
}

const char *settings_scope_name(enum settings_scope scope)
{
	static const char *const names[SCOPE_COUNT] = {
		[SCOPE_DEFAULT] = "default",     [SCOPE_SYSTEM_DEFAULTS] = "system-defaults",
		[SCOPE_USER] = "user",           [SCOPE_WORKSPACE] = "workspace",
		[SCOPE_SYSTEM] = "system",       [SCOPE_OVERRIDE] = "override",
	};

	return (unsigned)scope < SCOPE_COUNT ? names[scope] : "";
}

/* ---- the table as a JSON Schema ---- */

static const char *const merge_words[] = {
	[MERGE_REPLACE] = "replace", [MERGE_CONCAT] = "concat",       [MERGE_UNION] = "union",
	[MERGE_SHALLOW] = "shallow", [MERGE_INTERSECT] = "intersect",
};

/* What "type", and "items" of an array, are; a CHOICE has an enum besides. */
static const char *const type_texts[SETTING_TYPE_COUNT] = {
	[SETTING_BOOLEAN] = "{\"type\":\"boolean\"}",
	[SETTING_INTEGER] = "{\"type\":\"integer\"}",
	[SETTING_NUMBER] = "{\"type\":\"number\"}",
	[SETTING_STRING] = "{\"type\":\"string\"}",
	[SETTING_CHOICE] = "{\"type\":\"string\"}",
	[SETTING_STRINGS] = "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}",
	[SETTING_STRING_OR_STRINGS] =
		"{\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}}",
	[SETTING_ARRAY] = "{\"type\":\"array\"}",
	[SETTING_OBJECT] = "{\"type\":\"object\"}",
	[SETTING_SWITCH] = "{\"type\":[\"boolean\",\"string\",\"object\"]}",
};

static json_t *parse_default(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	return json_parse(span_str(text), &value, &err) ? value : json_null();
}

static json_t *choices(const struct setting *row)
{
	json_t *words = json_array();

	for (const char *at = row->choices; *at; at += at[0] == '|') {
		size_t len = strcspn(at, "|");

		json_array_append_new(words, json_stringn(at, len));
		at += len;
	}
	return words;
}

static json_t *leaf(const struct setting *row)
{
	json_t *schema = parse_default(type_texts[row->type]);

	json_object_set_new(schema, "description", json_cstr(row->help));
	if (row->choices)
		json_object_set_new(schema, "enum", choices(row));
	if (row->fallback)
		json_object_set_new(schema, "default", parse_default(row->fallback));
	json_object_set_new(schema, "x-hasp",
	                    json_pack("{s:s, s:s, s:b, s:b}", "merge", merge_words[row->merge],
	                              "project",
	                              authority_word(row->project), "restricts",
	                              (int)row->restricts, "calls", (int)row->calls));
	return schema;
}

/* The schema of the group in which the row is, made on the way. */
static json_t *group_of(json_t *schema, const char **path)
{
	const char *dot;

	while ((dot = strchr(*path, '.'))) {
		json_t *properties = json_object_get(schema, "properties"), *next;
		size_t len = (size_t)(dot - *path);

		next = json_object_getn(properties, *path, len);
		if (!next) {
			next = json_pack("{s:s, s:{}}", "type", "object", "properties");
			json_object_setn_new(properties, *path, len, next);
		}
		schema = next;
		*path = dot + 1;
	}
	return schema;
}

json_t *settings_schema(void)
{
	json_t *schema = json_pack("{s:s, s:s, s:s, s:s, s:{}}", "$schema",
	                           "http://json-schema.org/draft-07/schema#", "title",
	                           "Settings of hasp and Gemini CLI", "description",
	                           "settings.json; comments are allowed.", "type", "object",
	                           "properties");

	for (size_t i = 0; i < schema_count(); i++) {
		const struct setting *row = schema_at(i);
		const char *name = row->path;
		json_t *group = group_of(schema, &name);

		if (strcmp(name, "*") == 0)
			json_object_set_new(group, "additionalProperties", leaf(row));
		else
			json_object_set_new(json_object_get(group, "properties"), name, leaf(row));
	}
	return schema;
}

const char *settings_name(size_t i)
{
	return i < schema_count() ? schema_at(i)->path : NULL;
}

/* --- Values that are typed ------------------------------------------------------------------ */

static bool report_unknown(const char *path, struct err *err)
{
	const char *nearest = schema_nearest(path);

	if (schema_is_group(path))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "\"%s\" is a group of settings: name one of them.", path);
	if (nearest)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Unknown setting \"%s\"; did you mean \"%s\"?", path, nearest);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Unknown setting \"%s\"; \"hasp config --all\" lists the settings.", path);
}

bool settings_read_value(const char *path, struct span text, json_t **ret, struct err *err)
{
	const struct setting *row = schema_find(path);
	_cleanup_buf_ struct buf phrase = BUF_INIT(4096);
	struct err ignored = ERR_INIT;
	json_t *value = NULL;
	bool below;

	if (!row)
		return report_unknown(path, err);
	/* Below an object of free members nothing says what is expected. */
	below = !schema_exact(path) && !strchr(row->path, '*');
	if (row->type == SETTING_STRING || row->type == SETTING_CHOICE ||
	    !json_parse_depth(text, 64, &value, &ignored)) {
		const struct span choice = row->type == SETTING_CHOICE ? schema_choice(row, text) :
		                                                         (struct span){ 0 };

		value = json_text(choice.len ? choice : text);
	}
	if (below || schema_accepts(row, value)) {
		*ret = value;
		return true;
	}
	json_decref(value);
	schema_phrase(row, &phrase);
	return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" must be %s.", path, phrase.data);
}

/* ---- what a file says, held against the table ---- */

struct scope_checking {
	struct settings *settings;
	const struct scope *scope;
	enum settings_scope kind;
	json_t *warnings;
	struct buf path;
};

/* "FILE, line 3: " and the rest, a new reference. */
__attribute__((format(printf, 2, 0)))
static json_t *scope_sentence(const struct scope_checking *check, const char *format, va_list args)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(LIMIT_WIRE_SENTENCE);
	unsigned line = scope_line(check->scope, check->path.data);
	char text[1024];

	if (check->scope->path)
		buf_str(&sentence, check->scope->path);
	else
		buf_printf(&sentence, "The %s settings", settings_scope_name(check->kind));
	if (line)
		buf_printf(&sentence, ", line %u", line);
	vsnprintf(text, sizeof(text), format, args);
	buf_printf(&sentence, ": %s", text);
	return json_text(buf_view(&sentence));
}

__attribute__((format(printf, 2, 3)))
static void scope_warn(struct scope_checking *check, const char *format, ...)
{
	/* Those that restrict: their problem is said first, whatever else is. */
	const bool matters = span_starts(buf_view(&check->path), SPAN("hasp.sandbox.")) ||
	                     span_eq(buf_view(&check->path), SPAN("hasp.worker"));
	va_list args;

	if (warnings_full(check->warnings) && !matters) {
		warnings_add(check->warnings, json_string(""));
		return;
	}
	va_start(args, format);
	(matters ? warnings_add_first : warnings_add)(check->warnings,
	                                              scope_sentence(check, format, args));
	va_end(args);
}

/* Of a setting that restricts: what hasp cannot use must not count as no restriction.  What a
 * project may not set restricts nothing there. */
__attribute__((format(printf, 3, 4)))
static void scope_add_unusable(struct scope_checking *check, const struct setting *row,
                               const char *format, ...)
{
	json_t *sentence;
	va_list args;

	if ((row && check->kind == SCOPE_WORKSPACE && (row->project == AUTHORITY_NEVER ||
	                                               row->project == AUTHORITY_REMOTE)) ||
	    json_array_size(check->settings->unusable) >= LIMIT_WARNINGS)
		return;
	va_start(args, format);
	sentence = scope_sentence(check, format, args);
	va_end(args);
	json_array_append_new(check->settings->unusable,
	                      json_pack("{s:o, s:o}", "name",
	                                row ? json_string(row->path) :
	                                      json_text(buf_view(&check->path)),
	                                "message", sentence));
}

static void warn_unknown(struct scope_checking *check)
{
	const struct setting *row;
	const char *nearest;

	/* Looking for what is like it takes its time. */
	nearest = warnings_full(check->warnings) ? NULL : schema_nearest(check->path.data);
	row = nearest ? schema_exact(nearest) : NULL;
	if (nearest)
		scope_warn(check, "unknown setting \"%.200s\"; did you mean \"%s\"?",
		           check->path.data, nearest);
	else
		scope_warn(check, "unknown setting \"%.200s\" has no effect.", check->path.data);
	if (row && row->restricts)
		scope_add_unusable(check, row, "unknown setting \"%.200s\"; did you mean "
		                   "\"%s\"?", check->path.data, nearest);
}

static void warn_type(struct scope_checking *check, const struct setting *row, const json_t *value)
{
	_cleanup_buf_ struct buf phrase = BUF_INIT(4096);

	schema_phrase(row, &phrase);
	scope_warn(check, "\"%.200s\" must be %s; it is ignored.", check->path.data, phrase.data);
	/* The mode yolo, which no file sets, would allow more. */
	if (row->restricts && !(span_eq(json_span(value), SPAN("yolo")) &&
	                        strcmp(row->path, "general.defaultApprovalMode") == 0))
		scope_add_unusable(check, row, "\"%.200s\" must be %s.", check->path.data,
		                   phrase.data);
}

/* --- What a project may say ----------------------------------------------------------------- */

/* Whether it is so without the project: then there is nothing to ask. */
static bool is_so_anyway(const struct scope_checking *check, const json_t *value)
{
	for (int i = SCOPE_COUNT; i-- > 0;) {
		const json_t *other = i == SCOPE_WORKSPACE ? NULL :
			config_path_get(check->settings->scopes[i].value, check->path.data);

		if (other)
			return json_equal(other, value);
	}
	return false;
}

/* Of a value that does not count by itself.  Whether the user allowed it. */
static bool ask_for(struct scope_checking *check, enum authority authority, const json_t *value)
{
	const char *path = check->path.data;

	if (!authority_can_be_allowed(authority)) {
		scope_warn(check, "A project cannot set \"%.200s\"; it is ignored.", path);
		return false;
	}
	if (authority_allows(check->settings->allowed, path, value))
		return true;
	if (is_so_anyway(check, value))
		return false;
	json_array_append_new(check->settings->withheld,
	                      json_pack("{s:s, s:O, s:o, s:i}", "name", path, "value", value,
	                                "file", json_cstr(check->scope->path), "line",
	                                (int)scope_line(check->scope, path)));
	scope_warn(check, "The project's \"%.200s\" is ignored until you run: "
	           "hasp config allow %.200s", path, path);
	return false;
}

/* Whether *value, or what is left of it, counts. */
static bool project_may_set(struct scope_checking *check, const struct setting *row, json_t **value)
{
	const char *project = home_project(check->settings->home);
	json_t *part = NULL, *rest = NULL;
	bool allowed;

	switch (authority_permits(row->project, project, *value, &part, &rest)) {
	case PERMITTED_ALL:
		return true;
	case PERMITTED_NOT:
		return ask_for(check, row->project, *value);
	default:
		allowed = ask_for(check, row->project, rest);
		json_decref(rest);
		if (allowed || !json_array_size(part)) {
			json_decref(part);
			return allowed;
		}
		*value = part;
		return true;
	}
}

/* A choice in another spelling counts as the row's. */
static void spell_choice(const struct setting *row, json_t *object, const char *name,
                         json_t **value)
{
	const struct span choice = row && row->type == SETTING_CHOICE && json_is_string(*value) ?
	                                   schema_choice(row, json_span(*value)) :
	                                   (struct span){ 0 };

	if (!choice.len || span_eq(choice, json_span(*value)))
		return;
	*value = json_text(choice);
	json_object_set_new(object, name, *value);
}

static bool row_counts(struct scope_checking *check, const struct setting *row, json_t **value)
{
	if (!schema_accepts(row, *value)) {
		warn_type(check, row, *value);
		return false;
	}
	if (row->project != AUTHORITY_REMOTE)
		return check->kind != SCOPE_WORKSPACE || project_may_set(check, row, value);
	scope_warn(check, "\"%.200s\" is for remote administration; it is ignored.",
	           check->path.data);
	return false;
}

static void check_object(struct scope_checking *check, json_t *object);

/* The row of the path; NULL: none. */
static const struct setting *row_of(const struct scope_checking *check, bool odd_name)
{
	const struct setting *row = odd_name ? NULL : schema_exact(check->path.data);

	return row || odd_name ? row : schema_find(check->path.data);
}

/* *value: replaced by a new reference where only a part of it counts. */
static bool counts(struct scope_checking *check, const struct setting *row, json_t **value,
                   bool odd_name)
{
	const char *path = check->path.data;

	if (row)
		return row_counts(check, row, value);
	if (odd_name || !schema_is_group(path)) {
		warn_unknown(check);
		return true;
	}
	if (json_is_object(*value)) {
		check_object(check, *value);
		return true;
	}
	scope_warn(check, "\"%.200s\" must be an object; it is ignored.", path);
	if (schema_group_restricts(path))
		scope_add_unusable(check, NULL, "\"%.200s\" must be an object.", path);
	return false;
}

/* Recursion ends with the groups of the table. */
static void check_object(struct scope_checking *check, json_t *object)
{
	size_t len = check->path.len;
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, name, value) {
		const bool odd_name = strchr(name, '.') != NULL || !*name;
		const struct setting *row;
		json_t *left;
		bool keep;

		if (len)
			buf_char(&check->path, '.');
		buf_str(&check->path, name);
		row = check->path.overflowed ? NULL : row_of(check, odd_name);
		spell_choice(row, object, name, &value);
		left = value;
		keep = !check->path.overflowed && counts(check, row, &left, odd_name);
		if (!keep)
			json_object_del(object, name);
		else if (left != value)
			json_object_set_new(object, name, left);
		check->path.len = len;
		check->path.overflowed = false;
		if (check->path.data)
			check->path.data[len] = '\0';
	}
}

static void warn_repeated(struct scope_checking *check)
{
	if (!check->scope->repeated_line)
		return;
	buf_str(&check->path, "");
	scope_warn(check, "line %u repeats a name; the last one counts.",
	           check->scope->repeated_line);
	buf_clear(&check->path);
}

void scope_check(struct settings *settings, struct scope *scope, enum settings_scope kind,
                 json_t *warnings)
{
	struct scope_checking check = { .settings = settings, .scope = scope, .kind = kind,
		               .warnings = warnings, .path = BUF_INIT(LIMIT_SETTINGS_BYTES) };

	warn_repeated(&check);
	if (scope->value)
		check_object(&check, scope->value);
	buf_release(&check.path);
}
