/* SPDX-License-Identifier: Apache-2.0 */
/* All that an extension brings, as lines for the user to read. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/door.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "catalog/commands.h"
#include "catalog/skills.h"
#include "config/extensions.h"
#include "config/servers.h"
#include "data/json.h"
#include "install/private.h"

enum {
	CONSENT_BYTES = 256 << 10,
	CONSENT_LINE_BYTES = 4000, /* of what one thing says of itself; of what runs programs all */
	CONSENT_FILES_MAX = 1000,  /* of one folder */
	CONSENT_KIND_MAX = 30,     /* lines of one kind, of kinds that run nothing */
	CONSENT_SCREEN = 15,       /* more lines may have left the screen when the last is read */
};

#define BRINGS_HOOK "hook, which runs outside the sandbox,"
#define BRINGS_SERVER "MCP server"

/* ---- what it brings ------------------------------------------------------------------ */

struct bringing {
	const char *folder;
	const json_t *manifest;
	struct buf out;
	bool all;        /* nothing is left out but the ends of long texts */
	size_t of_kind;  /* lines since consent_kind */
};

static void consent_kind(struct bringing *bringing)
{
	if (bringing->of_kind > CONSENT_KIND_MAX && !bringing->all)
		buf_printf(&bringing->out,
		           "  ... and %zu more of these: \"hasp extensions validate %s\" shows "
		           "all\n", bringing->of_kind - CONSENT_KIND_MAX, bringing->folder);
	bringing->of_kind = 0;
}

/* "  TEXT": of what runs a program nothing is left out, as the end of it is run too. */
static void consent_program(struct bringing *bringing, const char *what, const char *name,
                            const char *text)
{
	_cleanup_free_ char *whole = mem_printf("%s %s: %s", what, name, text);
	_cleanup_free_ char *line = extension_line(span_str(whole));

	buf_printf(&bringing->out, "  %s\n", line);
}

/* "  WHAT: TEXT"; what is a stranger's is made harmless. */
static void consent_line(struct bringing *bringing, const char *what, const char *name,
                       const char *text)
{
	_cleanup_free_ char *whole = mem_printf("%s%s%s%s%s", what, *name ? " " : "", name,
	                                        *text ? ": " : "", text);
	_cleanup_free_ char *line =
		extension_line(utf8_head(span_str(whole), CONSENT_LINE_BYTES));

	if (++bringing->of_kind > CONSENT_KIND_MAX && !bringing->all)
		return;
	buf_printf(&bringing->out, "  %s", line);
	if (strlen(whole) > CONSENT_LINE_BYTES)
		buf_printf(&bringing->out, " ... (cut: %zu more bytes)",
		           strlen(whole) - CONSENT_LINE_BYTES);
	buf_char(&bringing->out, '\n');
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
	const json_t *command = json_object_get(entry, "command");
	size_t i;

	if (!address && !json_string_length(command)) {
		buf_str(text, "cannot be started: it has neither a command nor an address "
		              "(\"command\", \"httpUrl\" or \"url\")");
		return;
	}
	buf_str(text, address ? "contact " : "run ");
	if (address) {
		buf_span(text, json_span(address));
		helper = json_object_get(entry, "headersHelper");
		if (helper) {
			buf_str(text, ", run for headers: ");
			buf_span(text, json_span(helper));
		}
	} else {
		put_word(text, command);
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

		consent_server(entry, &text);
		consent_program(bringing, BRINGS_SERVER, name, text.data ? text.data : "");
	}
}

static void consent_texts(struct bringing *bringing, const char *member, const char *what)
{
	const json_t *said = json_object_get(bringing->manifest, member), *one;
	size_t i;

	if (json_is_string(said))
		consent_line(bringing, what, "", json_string_value(said));
	json_array_foreach(said, i, one)
		if (json_is_string(one))
			consent_line(bringing, what, "", json_string_value(one));
}

static bool bringing_has(const struct bringing *bringing, const char *name)
{
	_cleanup_free_ char *path = path_join(bringing->folder, name);
	_cleanup_file_text_ struct file_text text = { 0 };
	struct err ignored = ERR_INIT;

	return door_read(bringing->folder, path, LIMIT_SETTINGS_BYTES, &text, &ignored) &&
	       text.data;
}

/* With the words that it is started with ("args" of Claude Code's). */
static void consent_hook(struct bringing *bringing, const char *event, const json_t *hook)
{
	const char *command = json_string_value(json_object_get(hook, "command"));
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_SETTINGS_BYTES);
	const json_t *arg;
	size_t i;

	buf_str(&line, command ? command : "");
	json_array_foreach(json_object_get(hook, "args"), i, arg)
		if (json_is_string(arg))
			buf_printf(&line, " %s", json_string_value(arg));
	consent_environment(json_object_get(hook, "env"), &line);
	consent_program(bringing, BRINGS_HOOK, event,
	                line.data ? line.data : "");
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
		consent_line(bringing, "hooks that cannot be read", "", err.message);
	if (stray)
		consent_line(bringing, "hooks that do not run", "", stray);
	json_object_foreach(hooks, event, groups)
		json_array_foreach(groups, i, group)
			json_array_foreach(json_object_get(group, "hooks"), k, hook)
				consent_hook(bringing, event, hook);
}

static void consent_commands(struct bringing *bringing)
{
	json_auto_t *names = json_array();
	const json_t *name;
	size_t i;

	commands_add_extension_names(bringing->folder, bringing->manifest, names);
	json_array_foreach(names, i, name) {
		_cleanup_free_ char *typed = mem_printf("/%s", json_string_value(name));

		consent_line(bringing, "command", typed, "");
	}
}

static void consent_skill(struct bringing *bringing, const char *place)
{
	_cleanup_free_ char *folder = path_join(bringing->folder, place);
	_cleanup_free_ char *file = path_join(folder, "SKILL.md");
	const struct skill skill = { .root = (char *)bringing->folder, .folder = folder,
		                     .file = file };
	json_auto_t *text = NULL;
	struct err ignored = ERR_INIT;

	if (skill_read(&skill, &text, &ignored))
		consent_line(bringing, "skill", json_string_value(json_object_get(text, "name")),
		             json_string_value(json_object_get(text, "description")));
}

static void consent_policy(struct bringing *bringing, const char *place)
{
	if (span_ends(span_str(place), SPAN(".toml")))
		consent_line(bringing, "rules", "", strrchr(place, '/') + 1);
}

static void consent_agent(struct bringing *bringing, const char *place)
{
	if (span_ends(span_str(place), SPAN(".md")))
		consent_line(bringing, "agent", "", strrchr(place, '/') + 1);
}

/* Calls `one` for the place, a folder or a file of it, and for each name in it, in their order;
 * places begin with "./". */
static void consent_place(struct bringing *bringing, const char *place,
                          void (*one)(struct bringing *bringing, const char *place))
{
	_cleanup_free_ char *path = path_join(bringing->folder, place);
	_cleanup_free_ char *itself = mem_printf("./%s", place);
	char **names;
	const size_t count = door_names(door_folder(bringing->folder, path), CONSENT_FILES_MAX,
	                                &names);

	one(bringing, itself);
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *inner = mem_printf("%s/%s", itself, names[i]);

		one(bringing, inner);
		free(names[i]);
	}
	free(names);
}

static void consent_part(struct bringing *bringing, enum extension_part part,
                         void (*one)(struct bringing *bringing, const char *place))
{
	const json_t *place;
	size_t i;

	json_array_foreach(extension_part(bringing->manifest, part), i, place)
		consent_place(bringing, json_string_value(place), one);
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
		consent_line(bringing, "reads the variable", json_string_value(name), "");
}

static void consent_settings(struct bringing *bringing)
{
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(bringing->manifest, "settings"), i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));
		const char *variable = json_string_value(json_object_get(one, "envVar"));

		if (name && variable && extension_variable_steers(variable))
			consent_line(bringing, "setting that is ignored because it changes how "
			             "programs run,", name, variable);
		else if (name && variable)
			consent_line(bringing, "setting", name, variable);
	}
}

static char *brings_text(const char *folder, const json_t *manifest, bool all)
{
	const json_t *what;
	size_t i;

	struct bringing bringing = { .folder = folder, .manifest = manifest,
		                     .out = BUF_INIT(CONSENT_BYTES), .all = all };
	char *text;

	/* What runs programs stands first. */
	consent_servers(&bringing);
	consent_hooks(&bringing);
	consent_texts(&bringing, "contextFileName", "instructions");
	if (!json_object_get(manifest, "contextFileName") && bringing_has(&bringing, "GEMINI.md"))
		consent_line(&bringing, "instructions", "", "GEMINI.md");
	consent_kind(&bringing);
	consent_commands(&bringing);
	consent_kind(&bringing);
	consent_part(&bringing, EXTENSION_SKILLS, consent_skill);
	consent_kind(&bringing);
	consent_part(&bringing, EXTENSION_AGENTS, consent_agent);
	consent_kind(&bringing);
	consent_texts(&bringing, "excludeTools", "takes away the tool");
	consent_part(&bringing, EXTENSION_POLICIES, consent_policy);
	consent_kind(&bringing);
	consent_settings(&bringing);
	consent_kind(&bringing);
	consent_variables(&bringing);
	consent_kind(&bringing);
	/* What hasp leaves alone of it. */
	json_array_foreach(extension_unused(bringing.manifest), i, what)
		consent_line(&bringing, "not used by hasp", "", json_string_value(what));
	consent_kind(&bringing);
	text = mem_printf("%s%s", bringing.out.data ? bringing.out.data : "",
	                  bringing.out.overflowed ? "\n  ... and more than can be shown\n" :
	                  bringing.out.len ? "" : "  nothing\n");
	buf_release(&bringing.out);
	return text;
}

char *install_brings(const char *folder, const json_t *manifest)
{
	return brings_text(folder, manifest, /* all= */ true);
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

char *install_brings_shown(const char *folder, const json_t *manifest)
{
	_cleanup_free_ char *text = brings_text(folder, manifest, /* all= */ false);
	const size_t lines = lines_beginning(span_str(text), SPAN(""));
	const size_t hooks = lines_beginning(span_str(text), SPAN("  " BRINGS_HOOK));
	const size_t servers = lines_beginning(span_str(text), SPAN("  " BRINGS_SERVER " "));

	if (lines <= CONSENT_SCREEN || hooks + servers == 0)
		return mem_steal(&text);
	return mem_printf("%sOf these lines the first %zu run programs: %zu of hooks, outside the "
	                  "sandbox, and %zu of MCP servers.\n", text, hooks + servers, hooks,
	                  servers);
}
