/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks of a session: groups by event, and what would run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "data/warnings.h"
#include "hooks/hook.h"

static const char *const event_names[] = {
#define HOOK_EVENT_NAME(symbol, name) [HOOK_##symbol] = name,
	HOOK_EVENT_TABLE(HOOK_EVENT_NAME)
#undef HOOK_EVENT_NAME
};

const char *hook_event_name(enum hook_event event)
{
	return (unsigned)event < HOOK_EVENT_COUNT ? event_names[event] : "";
}

bool hook_event_parse(const char *name, enum hook_event *ret)
{
	for (unsigned i = 0; i < HOOK_EVENT_COUNT; i++)
		if (strcmp(event_names[i], name) == 0) {
			*ret = (enum hook_event)i;
			return true;
		}
	return false;
}

bool hook_event_is_of_tools(enum hook_event event)
{
	return event == HOOK_BEFORE_TOOL || event == HOOK_AFTER_TOOL;
}

const char *hook_source_name(enum hook_source source)
{
	static const char *const names[] = {
		[HOOK_SOURCE_RUNTIME] = "runtime",     [HOOK_SOURCE_PROJECT] = "project",
		[HOOK_SOURCE_USER] = "user",           [HOOK_SOURCE_SYSTEM] = "system",
		[HOOK_SOURCE_EXTENSION] = "extension",
	};

	return (unsigned)source < ARRAY_LEN(names) ? names[source] : "";
}

static char *copy(const char *text)
{
	return text ? mem_strdup(text) : NULL;
}

static char **copy_list(char *const *list)
{
	size_t count = 0;
	char **copied;

	while (list && list[count])
		count++;
	copied = mem_alloc(count + 1, sizeof(*copied));
	for (size_t i = 0; i < count; i++)
		copied[i] = mem_strdup(list[i]);
	return copied;
}

static void free_list(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static json_t *disabled_set(const json_t *names)
{
	json_t *set = json_object(), *name;
	size_t i;

	json_array_foreach(names, i, name)
		if (json_is_string(name))
			json_object_set_new_nocheck(set, json_string_value(name), json_true());
	return set;
}

struct hooks *hooks_new(const struct hooks_options *options)
{
	struct hooks *hooks = mem_alloc(1, sizeof(*hooks));

	hooks->project = copy(options->project);
	hooks->cwd = copy(options->cwd);
	hooks->session_id = copy(options->session_id ? options->session_id : "");
	hooks->transcript_path = copy(options->transcript_path ? options->transcript_path : "");
	hooks->plans_folder = copy(options->plans_folder);
	hooks->trust_file = copy(options->trust_file);
	hooks->environment = copy_list(options->environment);
	hooks->disabled = disabled_set(options->disabled);
	hooks->enabled = options->enabled;
	hooks->project_trusted = options->project_trusted;
	hooks->notice = options->notice;
	hooks->data = options->data;
	pthread_mutex_init(&hooks->lock, NULL);
	return hooks;
}

static void release_group(struct hook_group *group)
{
	for (size_t i = 0; i < group->count; i++) {
		free(group->hooks[i].name);
		free(group->hooks[i].command);
		free(group->hooks[i].description);
		free_list(group->hooks[i].env);
	}
	free(group->hooks);
	free(group->matcher);
	js_regex_free(group->regex);
}

void hooks_free(struct hooks *hooks)
{
	if (!hooks)
		return;
	for (size_t i = 0; i < hooks->count; i++)
		release_group(&hooks->groups[i]);
	free(hooks->groups);
	free(hooks->project);
	free(hooks->cwd);
	free(hooks->session_id);
	free(hooks->transcript_path);
	free(hooks->plans_folder);
	free(hooks->trust_file);
	free_list(hooks->environment);
	json_decref(hooks->disabled);
	pthread_mutex_destroy(&hooks->lock);
	free(hooks);
}

void hooks_set_transcript(struct hooks *hooks, const char *path)
{
	pthread_mutex_lock(&hooks->lock);
	free(hooks->transcript_path);
	hooks->transcript_path = copy(path ? path : "");
	pthread_mutex_unlock(&hooks->lock);
}

void hooks_problem(json_t *problems, const char *where, const char *format, ...)
{
	_cleanup_free_ char *sentence = NULL;
	char message[512];
	json_t *problem;
	va_list args;

	if (!problems)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	sentence = mem_printf("%s: %s", where, message);
	problem = json_object();
	json_object_set_new(problem, "source", json_text(span_str(where)));
	json_object_set_new(problem, "message", json_text(span_str(sentence)));
	warnings_add(problems, problem);
}

void hooks_notice(const struct hooks *hooks, const char *severity, const char *format, ...)
{
	char message[1024];
	va_list args;

	if (!hooks->notice)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	hooks->notice(hooks->data, severity, message);
}

char *hook_key(const struct hook *hook)
{
	return mem_printf("%s:%s", hook->name, hook->command ? hook->command : "");
}

struct hook_group *hooks_add_group(struct hooks *hooks, enum hook_event event, const char *matcher,
                                   struct err *err)
{
	const struct span text = span_trim(span_str(matcher ? matcher : ""));
	const bool all = !text.len || span_eq(text, SPAN("*"));
	struct err ignored = ERR_INIT;
	struct hook_group *group;

	hooks->groups = mem_grow(hooks->groups, &hooks->cap, hooks->count + 1,
	                         sizeof(*hooks->groups));
	group = &hooks->groups[hooks->count++];
	*group = (struct hook_group){
		.event = event, .matcher = all ? mem_strdup("") : mem_dup(text.data, text.len),
	};
	/* One that cannot be compiled is compared as text, as Gemini CLI does. */
	if (!all && hook_event_is_of_tools(event) &&
	    !js_regex_compile(text, &group->regex, err ? err : &ignored))
		group->regex = NULL;
	return group;
}

static bool is_disabled(const struct hooks *hooks, const char *name)
{
	return *name && json_object_get(hooks->disabled, name);
}

struct hook *hook_group_add(struct hooks *hooks, struct hook_group *group, enum hook_source source)
{
	struct hook *hook;

	group->hooks = mem_grow(group->hooks, &group->cap, group->count + 1,
	                        sizeof(*group->hooks));
	hook = &group->hooks[group->count++];
	*hook = (struct hook){ .source = source, .timeout_ms = HOOK_TIMEOUT_MS_DEFAULT,
		               .trusted = source != HOOK_SOURCE_PROJECT };
	hooks->hook_count++;
	return hook;
}

void hooks_add_function(struct hooks *hooks, enum hook_event event, const char *matcher,
                        hook_function *function, void *data)
{
	struct hook_group *group = hooks_add_group(hooks, event, matcher, NULL);
	struct hook *hook = hook_group_add(hooks, group, HOOK_SOURCE_RUNTIME);

	hook->name = mem_strdup("");
	hook->function = function;
	hook->data = data;
}

bool hook_counts(const struct hooks *hooks, const struct hook *hook)
{
	if (hook->function)
		return true;
	if (!hooks->enabled || hook->disabled || is_disabled(hooks, hook->name))
		return false;
	return hook->source != HOOK_SOURCE_PROJECT || (hooks->project_trusted && hook->trusted);
}

static bool word_matches(const struct hook_group *group, struct span word)
{
	if (!group->regex)
		return span_eq(span_str(group->matcher), word);
	/* One that takes too long counts as a match: a guard must not be got around by it. */
	return js_regex_test(group->regex, word) != JS_REGEX_NO;
}

bool hook_group_matches(const struct hook_group *group, const char *matched)
{
	if (!*group->matcher || !matched)
		return true;
	while (*matched) {
		size_t len = strcspn(matched, " ");

		if (word_matches(group, span_of(matched, len)))
			return true;
		matched += len + (matched[len] == ' ');
	}
	return false;
}

bool hooks_any(const struct hooks *hooks, enum hook_event event, const char *matched)
{
	for (size_t i = 0; hooks && i < hooks->count; i++) {
		const struct hook_group *group = &hooks->groups[i];

		if (group->event != event || !hook_group_matches(group, matched))
			continue;
		for (size_t j = 0; j < group->count; j++)
			if (hook_counts(hooks, &group->hooks[j]))
				return true;
	}
	return false;
}

static json_t *describe(const struct hooks *hooks, const struct hook_group *group,
                        const struct hook *hook)
{
	json_t *row = json_object();

	json_object_set_new(row, "event", json_string(hook_event_name(group->event)));
	json_object_set_new(row, "matcher", json_text(span_str(group->matcher)));
	json_object_set_new(row, "source", json_string(hook_source_name(hook->source)));
	json_object_set_new(row, "name", json_text(span_str(hook->name)));
	json_object_set_new(row, "command", hook->command ? json_text(span_str(hook->command)) :
	                                                    json_null());
	json_object_set_new(row, "timeout", json_integer(hook->timeout_ms));
	json_object_set_new(row, "enabled", json_boolean(hook_counts(hooks, hook)));
	json_object_set_new(row, "trusted", json_boolean(hook->trusted));
	return row;
}

json_t *hooks_list(const struct hooks *hooks)
{
	json_t *all = json_array();

	for (size_t i = 0; i < hooks->count; i++)
		for (size_t j = 0; j < hooks->groups[i].count; j++)
			json_array_append_new(all, describe(hooks, &hooks->groups[i],
			                                    &hooks->groups[i].hooks[j]));
	return all;
}
