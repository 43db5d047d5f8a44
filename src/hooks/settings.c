/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks as settings.json and hooks.json have them:
 *
 *     {"BeforeTool": [{"matcher": "write_.*", "sequential": true,
 *                      "hooks": [{"type": "command", "command": "...", "name": "...",
 *                                 "timeout": 5000, "description": "...", "env": {"A": "b"}}]}]}
 */
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "hooks/hook.h"

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

static unsigned read_timeout(const json_t *value)
{
	json_int_t ms = json_is_integer(value) ? json_integer_value(value) :
	                json_is_real(value)    ? (json_int_t)json_real_value(value) :
	                                         0;

	if (ms <= 0)
		return HOOK_TIMEOUT_MS_DEFAULT;
	return ms > (json_int_t)HOOK_TIMEOUT_MS_MAX ? HOOK_TIMEOUT_MS_MAX : (unsigned)ms;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	/* A NUL cannot be in a command. */
	return text && strlen(text) == json_string_length(json_object_get(object, key)) ? text : NULL;
}

/* Where entries come from, and where what is wrong with them goes. */
struct reading {
	struct hooks *hooks;
	enum hook_source source;
	const char *where;
	json_t *problems;
	size_t beyond; /* hooks that are left out because there are HOOKS_MAX */
};

static void read_hook(struct reading *reading, struct hook_group *group, const json_t *entry)
{
	const char *type = text_of(entry, "type");
	const char *command = text_of(entry, "command");
	const char *event = hook_event_name(group->event);
	struct hook *hook;

	if (!type || strcmp(type, "command") != 0 || !command || !*command) {
		hooks_problem(reading->problems, reading->where,
		              "a hook of %s is left out: it needs \"type\": \"command\" and a \"command\".",
		              event);
		return;
	}
	if (reading->hooks->hook_count >= HOOKS_MAX) {
		reading->beyond++;
		return;
	}
	hook = hook_group_add(reading->hooks, group, reading->source);
	hook->name = mem_strdup(text_of(entry, "name") ? text_of(entry, "name") : "");
	hook->command = mem_strdup(command);
	if (text_of(entry, "description"))
		hook->description = mem_strdup(text_of(entry, "description"));
	hook->timeout_ms = read_timeout(json_object_get(entry, "timeout"));
	if (json_is_object(json_object_get(entry, "env")))
		hook->env = read_env(json_object_get(entry, "env"));
}

static void read_group(struct reading *reading, enum hook_event event, const json_t *entry)
{
	const json_t *list = json_object_get(entry, "hooks");
	const char *matcher = text_of(entry, "matcher");
	struct hook_group *group;
	struct err err = ERR_INIT;
	size_t i;
	json_t *hook;

	if (!json_is_array(list)) {
		hooks_problem(reading->problems, reading->where,
		              "an entry of %s is left out: hooks stand in its \"hooks\": [...], beside "
		              "\"matcher\".",
		              hook_event_name(event));
		return;
	}
	group = hooks_add_group(reading->hooks, event, matcher, &err);
	if (err.code != ERR_NONE)
		hooks_problem(reading->problems, reading->where,
		              "the matcher \"%.100s\" of %s counts as the name of a tool. %s", matcher,
		              hook_event_name(event), err.message);
	group->sequential = json_is_true(json_object_get(entry, "sequential"));
	json_array_foreach(list, i, hook)
		read_hook(reading, group, hook);
}

/* Settings keep their own switches among the events. */
static bool is_switch(const char *name)
{
	return strcmp(name, "enabled") == 0 || strcmp(name, "disabled") == 0 ||
	       strcmp(name, "notifications") == 0;
}

void hooks_add(struct hooks *hooks, enum hook_source source, const json_t *config,
               const char *where, json_t *problems)
{
	struct reading reading = { hooks, source, where, problems, 0 };
	const char *name;
	json_t *entries, *entry;
	enum hook_event event;
	size_t i;

	json_object_foreach((json_t *)config, name, entries) {
		if (is_switch(name))
			continue;
		if (!hook_event_parse(name, &event) || !json_is_array(entries)) {
			hooks_problem(problems, where,
			              "\"%.80s\" is left out: it is no event with a list of hooks.",
			              name);
			continue;
		}
		json_array_foreach(entries, i, entry)
			read_group(&reading, event, entry);
	}
	if (reading.beyond)
		hooks_problem(problems, where,
		              "%zu of its hooks %s left out: hasp runs at most %d hooks of all "
		              "files together.", reading.beyond, reading.beyond == 1 ? "is" : "are",
		              HOOKS_MAX);
	if (source == HOOK_SOURCE_PROJECT && json_object_size(config))
		hooks_read_trust(hooks, problems);
}
