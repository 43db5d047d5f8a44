/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks read from settings, hooks.json and hooks.toml. What cannot be read there is left out and
 * named; where it could have refused something, a guard is lost, and the problem says so. */
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/file.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/toml.h"
#include "hooks/hook.h"

enum { COMMAND_BYTES_MAX = 64 << 10 };

/* ---- settings ---------------------------------------------------------------- */

/* Hooks as settings.json and hooks.json have them:
 *
 *     {"BeforeTool": [{"matcher": "write_.*", "sequential": true,
 *                      "hooks": [{"type": "command", "command": "...", "name": "...",
 *                                 "timeout": 5000, "description": "...", "env": {"A": "b"}}]}]}
 *
 * A group with "format": "claude" has hooks that were written for Claude Code (claude.c).
 */

static char **read_env(const json_t *env)
{
	char **list = mem_alloc(json_object_size(env) + 1, sizeof(*list));
	size_t count = 0;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)env, name, value)
		if (json_is_string(value) && *name && !strchr(name, '='))
			list[count++] = mem_printf("%s=%s", name, json_string_value(value));
	return list;
}

static unsigned read_timeout(const json_t *value, unsigned usual)
{
	json_int_t ms = json_is_integer(value) ? json_integer_value(value) :
	                json_is_real(value)    ? (json_int_t)json_real_value(value) :
	                                         0;

	if (ms <= 0)
		return usual;
	return ms > (json_int_t)HOOK_TIMEOUT_MS_MAX ? HOOK_TIMEOUT_MS_MAX : (unsigned)ms;
}

static const char *member_string(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	/* A NUL cannot be in a command. */
	return text && strlen(text) == json_string_length(json_object_get(object,
	                                                                  key)) ? text : NULL;
}

/* Where entries come from, and where what is wrong with them goes. */
struct hook_reader {
	struct hooks *hooks;
	enum hook_source source;
	const char *where;
	json_t *problems;
	size_t beyond; /* hooks that are left out because there are HOOKS_MAX */
	bool guards_beyond; /* one of them could refuse something */
	hook_check *check;
	json_t *check_data;
};

/* Its command, the caller frees. Of Claude Code's that have "args" the program and these, as words
 * of a shell's.  NULL: none that can be run. */
static char *read_command(const struct hooks *hooks, bool claude, const json_t *entry)
{
	static const struct span project = { "${CLAUDE_PROJECT_DIR}", 21 };
	const char *command = member_string(entry, "command");
	const json_t *args = claude ? json_object_get(entry, "args") : NULL;
	_cleanup_buf_ struct buf out = BUF_INIT(COMMAND_BYTES_MAX);
	json_t *arg;
	size_t i;

	if (!args || !command || !*command)
		return command && *command ? mem_strdup(command) : NULL;
	buf_shell_quoted(&out, span_str(command));
	json_array_foreach((json_t *)args, i, arg) {
		_cleanup_buf_ struct buf text = BUF_INIT(COMMAND_BYTES_MAX);

		if (!json_is_string(arg) ||
		    strlen(json_string_value(arg)) != json_string_length(arg))
			return NULL;
		for (struct span rest = json_span(arg); rest.len;) {
			const bool named = hooks->project && span_starts(rest, project);

			buf_span(&text, named ? span_str(hooks->project) : span_head(rest, 1));
			rest = span_skip(rest, named ? project.len : 1);
		}
		buf_char(&out, ' ');
		buf_shell_quoted(&out, buf_view(&text));
		if (text.overflowed)
			return NULL;
	}
	return json_is_array(args) && buf_char(&out, '\0') ? mem_strdup(out.data) : NULL;
}

/* What is no such word denies. */
static enum hook_pass read_pass(struct hook_reader *reading, const json_t *entry,
                                const char *member)
{
	const json_t *value = json_object_get(entry, member);
	enum hook_pass pass;

	if (!hook_pass_parse(value ? (json_is_string(value) ? json_string_value(value) : "") : NULL,
	                     &pass))
		hooks_problem(reading->problems, reading->where, NULL,
		              "\"%s\" of a hook must be \"deny\" or \"allow\"; the hook counts as "
		              "one with \"deny\".", member);
	return pass;
}

/* The event as the file has it. */
static const char *event_word(enum hook_event event, bool claude)
{
	const struct hook_event_names *names = hook_events_at(event);

	return claude && names->claude ? names->claude : names->name;
}

/* `event`, where leaving out a hook of it loses a guard; else NULL. */
static const char *lost_of(enum hook_event event, bool claude)
{
	return hook_event_refuses(event, claude) ? event_word(event, claude) : NULL;
}

static void read_hook(struct hook_reader *reading, struct hook_group *group, const json_t *entry)
{
	const char *type = member_string(entry, "type"), *name = member_string(entry, "name");
	_cleanup_free_ char *command = read_command(reading->hooks, group->claude, entry);
	const char *event = event_word(group->event, group->claude);
	const char *lost = lost_of(group->event, group->claude);
	const unsigned usual = !group->claude                     ? HOOK_TIMEOUT_MS_DEFAULT :
	                       group->event == HOOK_BEFORE_AGENT ? HOOK_TIMEOUT_MS_CLAUDE_PROMPT :
	                                                            HOOK_TIMEOUT_MS_CLAUDE;
	struct hook *hook;

	if (hook_is_disabled(reading->hooks, name))
		lost = NULL;
	if (type && strcmp(type, "command") != 0) {
		hooks_problem(reading->problems, reading->where, lost,
		              "a hook of %s is left out: hasp runs hooks of the type \"command\", "
		              "and not of the type \"%.40s\".", event, type);
		return;
	}
	if (!type || !command) {
		hooks_problem(reading->problems, reading->where, lost,
		              "a hook of %s is left out: it needs \"type\": \"command\" and a "
		              "\"command\".",
		              event);
		return;
	}
	if (reading->hooks->hook_count >= HOOKS_MAX) {
		reading->beyond++;
		reading->guards_beyond |= lost != NULL;
		return;
	}
	hook = hook_group_add(reading->hooks, group, reading->source);
	hook->claude = group->claude;
	hook->check = reading->check;
	hook->check_data = json_incref(reading->check_data);
	hook->name = mem_strdup(name ? name : "");
	hook->command = mem_steal(&command);
	hook->description = mem_strdup(member_string(entry, "description"));
	hook->timeout_ms = read_timeout(json_object_get(entry, "timeout"), usual);
	hook->on_timeout = read_pass(reading, entry, "onTimeout");
	hook->on_error = read_pass(reading, entry, "onError");
	hook->condition = group->claude ? mem_strdup(member_string(entry, "if")) : NULL;
	hook->async = group->claude && json_is_true(json_object_get(entry, "async"));
	if (json_is_object(json_object_get(entry, "env")))
		hook->env = read_env(json_object_get(entry, "env"));
}

static void read_group(struct hook_reader *reading, enum hook_event event, const json_t *entry)
{
	const json_t *list = json_object_get(entry, "hooks");
	const char *said = member_string(entry, "matcher"), *format;
	_cleanup_free_ char *theirs = NULL;
	const char *matcher = said;
	struct hook_group *group;
	struct err err = ERR_INIT;
	bool claude;
	size_t i;
	json_t *hook;

	format = member_string(entry, "format");
	claude = format && strcmp(format, "claude") == 0;
	if (!json_is_array(list)) {
		hooks_problem(reading->problems, reading->where, lost_of(event, claude),
		              "an entry of %s is left out: hooks stand in its \"hooks\": [...], "
		              "next to \"matcher\".",
		              event_word(event, claude));
		return;
	}
	if (claude && hook_event_is_of_tools(event))
		matcher = theirs = claude_matcher(said);
	group = hooks_add_group(reading->hooks, event, matcher, &err);
	group->claude = claude;
	group->where = mem_strdup(reading->where);
	if (err.code != ERR_NONE)
		hooks_problem(reading->problems, reading->where, NULL,
		              "the matcher \"%.100s\" of %s is not a regular expression, so its "
		              "hooks run for every tool. %s",
		              matcher,
		              hook_event_name(event), err.message);
	group->sequential = json_is_true(json_object_get(entry, "sequential"));
	json_array_foreach(list, i, hook)
		read_hook(reading, group, hook);
}

/* Settings keep their own switches among the events. */
static bool is_hooks_switch(const char *name)
{
	return strcmp(name, "enabled") == 0 || strcmp(name, "disabled") == 0 ||
	       strcmp(name, "notifications") == 0;
}

/* Entries of a name that is no event of hasp's. */
static void report_event(const struct hook_reader *reading, const char *name, const json_t *entries)
{
	const json_t *format = json_object_get(json_array_get(entries, 0), "format");
	const bool claude = span_eq(json_span(format), SPAN("claude"));
	const struct hook_event_names *near = hook_events_nearest(name, claude);
	const bool refuses =
		near && hook_event_refuses((enum hook_event)(near - hook_events_at(0)), claude);

	if (hook_events_foreign(name))
		hooks_problem(reading->problems, reading->where, NULL,
		              "hooks of \"%.80s\" have no effect: hasp has no such event.", name);
	else if (near)
		hooks_problem(reading->problems, reading->where,
		              refuses ? name : NULL,
		              "there is no event \"%.80s\"; did you mean \"%s\"? Its hooks do not "
		              "run.", name, claude && near->claude ? near->claude : near->name);
	else
		hooks_problem(reading->problems, reading->where, NULL,
		              "there is no event \"%.80s\". Its hooks do not run.", name);
}

static void read_event(struct hook_reader *reading, const char *name, const json_t *entries)
{
	const struct hook_event_names *names = hook_events_find(name, /* claude= */ false);
	const enum hook_event event = names ? (enum hook_event)(names - hook_events_at(0)) : 0;
	size_t i;
	json_t *entry;

	if (!names) {
		report_event(reading, name, entries);
		return;
	}
	if (!json_is_array(entries))
		hooks_problem(reading->problems, reading->where, lost_of(event, false),
		              "\"%s\" is left out: it must be a list of hooks.", name);
	json_array_foreach((json_t *)entries, i, entry)
		read_group(reading, event, entry);
}

void hooks_add_checked(struct hooks *hooks, enum hook_source source, const json_t *config,
                       const char *where, json_t *problems, hook_check *check, json_t *data)
{
	struct hook_reader reading = { hooks, source, where, problems, 0, false, check, data };
	const char *name;
	json_t *entries;

	json_object_foreach((json_t *)config, name, entries)
		if (!is_hooks_switch(name))
			read_event(&reading, name, entries);
	if (reading.beyond)
		hooks_problem(problems, where, reading.guards_beyond ? "" : NULL,
		              "%zu of its hooks %s left out: hasp runs at most %d hooks of all "
		              "files together.", reading.beyond, reading.beyond == 1 ? "is" : "are",
		              HOOKS_MAX);
	if (source == HOOK_SOURCE_PROJECT && json_object_size(config))
		hooks_read_trust(hooks, problems);
}

void hooks_add(struct hooks *hooks, enum hook_source source, const json_t *config,
               const char *where, json_t *problems)
{
	hooks_add_checked(hooks, source, config, where, problems, NULL, NULL);
}

/* ---- hooks.toml -------------------------------------------------------------- */

/* hooks.toml: the same, as a table for each event or an array of tables:
 *
 *     [hooks.BeforeTool]            [[hooks.BeforeTool]]
 *     sequential = true             matcher = "write_.*"
 *     hooks = [ { type = "command", command = "..." } ]
 */

enum { FILE_BYTES_MAX = 1 << 20 };

/* A table for an event is a list of one. */
static json_t *as_settings(const json_t *hooks)
{
	json_t *config = json_object();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)hooks, name, value) {
		if (json_is_object(value))
			json_object_set_new(config, name, json_pack("[O]", value));
		else
			json_object_set(config, name, value);
	}
	return config;
}

bool hooks_add_toml(struct hooks *hooks, enum hook_source source, const char *path,
                    json_t *problems)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_auto_t *root = NULL, *config = NULL;
	struct err err = ERR_INIT;
	const json_t *table;

	if (source == HOOK_SOURCE_PROJECT ?
	            !door_read(hooks->project, path, FILE_BYTES_MAX, &text, &err) :
	            !file_read(path, FILE_BYTES_MAX, &text, &err)) {
		/* Where a project's file leads out of it, nothing of it counts, as of settings. */
		hooks_problem(problems, path, err.code == ERR_OUTSIDE_WORKSPACE ? NULL : "", "%s",
		              err.message);
		return true;
	}
	if (!text.data)
		return true;
	if (!toml_parse(file_text_span(&text), &root, &err)) {
		hooks_problem(problems, path, "", "%s", err.message);
		return false;
	}
	table = json_object_get(root, "hooks");
	config = as_settings(table ? table : root);
	hooks_add(hooks, source, config, path, problems);
	return true;
}
