/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks of a session: grouped by event, trusted or not. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sha256.h"
#include "data/json.h"
#include "data/tools.h"
#include "data/warnings.h"
#include "hooks/hook.h"

/* ---- the hooks of a session: groups by event, and what would run ---- */

bool hook_event_refuses(enum hook_event event, bool claude)
{
	const struct hook_event_names *names = hook_events_at(event);

	return claude ? names->refuses_claude : names->refuses;
}

bool hook_pass_parse(const char *word, enum hook_pass *ret)
{
	*ret = !word                   ? HOOK_PASS_UNSET :
	       !strcmp(word, "allow") ? HOOK_PASS_ALLOW :
	                                HOOK_PASS_DENY;
	return !word || *ret == HOOK_PASS_ALLOW || !strcmp(word, "deny");
}

const char *hook_event_name(enum hook_event event)
{
	return (unsigned)event < HOOK_EVENT_COUNT ? hook_events_at(event)->name : "";
}

bool hook_event_is_of_tools(enum hook_event event)
{
	return event == HOOK_BEFORE_TOOL || event == HOOK_AFTER_TOOL;
}

static const char *hook_source_name(enum hook_source source)
{
	static const char *const names[] = {
		[HOOK_SOURCE_RUNTIME] = "runtime",     [HOOK_SOURCE_PROJECT] = "project",
		[HOOK_SOURCE_USER] = "user",           [HOOK_SOURCE_SYSTEM] = "system",
		[HOOK_SOURCE_EXTENSION] = "extension",
	};

	return (unsigned)source < ARRAY_LEN(names) ? names[source] : "";
}

static char **copy_text_list(char *const *list)
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

void hooks_set_session(struct hooks *hooks, const char *session_id, const char *transcript_path,
                       const char *plans_folder)
{
	free(hooks->session_id);
	free(hooks->transcript_path);
	free(hooks->plans_folder);
	hooks->session_id = mem_strdup(session_id ? session_id : "");
	hooks->transcript_path = mem_strdup(transcript_path ? transcript_path : "");
	hooks->plans_folder = mem_strdup(plans_folder);
	pthread_mutex_lock(&hooks->lock);
	json_decref(hooks->warned);
	hooks->warned = json_object();
	pthread_mutex_unlock(&hooks->lock);
}

struct hooks *hooks_new(const struct hooks_options *options)
{
	struct hooks *hooks = mem_alloc(1, sizeof(*hooks));

	pthread_mutex_init(&hooks->lock, NULL);
	pthread_cond_init(&hooks->background_ended, NULL);
	hooks->project = mem_strdup(options->project);
	hooks->cwd = mem_strdup(options->cwd);
	hooks->here = mem_strdup(options->here);
	hooks->caller = mem_strdup(options->caller);
	hooks_set_session(hooks, options->session_id, options->transcript_path,
	                  options->plans_folder);
	hooks->trust_file = mem_strdup(options->trust_file);
	hooks->guards = mem_strdup(options->guards);
	hooks->twins = json_object();
	held_set_roots(hooks, options);
	hooks->environment = copy_text_list(options->environment);
	hooks->disabled = disabled_set(options->disabled);
	hooks->enabled = options->enabled;
	hooks->on_timeout = options->on_timeout;
	hooks->on_error = options->on_error;
	hooks->project_trusted = options->project_trusted;
	hooks->notices = options->notices;
	hooks->ran = options->ran;
	hooks->data = options->data;
	return hooks;
}

void hooks_hold(struct hooks *hooks, const char *command)
{
	hooks->others = mem_grow(hooks->others, &hooks->other_cap, hooks->other_count + 1,
	                         sizeof(*hooks->others));
	hooks->others[hooks->other_count++] = (struct hook){ .source = HOOK_SOURCE_USER,
		                                             .command = mem_strdup(command) };
}

struct hook hook_copy(const struct hook *hook)
{
	struct hook copy = *hook;

	copy.name = mem_strdup(hook->name);
	copy.command = mem_strdup(hook->command);
	copy.description = mem_strdup(hook->description);
	copy.condition = mem_strdup(hook->condition);
	copy.env = hook->env ? copy_text_list(hook->env) : NULL;
	json_incref(copy.check_data);
	return copy;
}

void hook_release(struct hook *hook)
{
	free(hook->name);
	free(hook->command);
	free(hook->description);
	free(hook->condition);
	free_list(hook->env);
	json_decref(hook->check_data);
}

static void release_group(struct hook_group *group)
{
	for (size_t i = 0; i < group->count; i++)
		hook_release(&group->hooks[i]);
	free(group->hooks);
	free(group->matcher);
	free(group->where);
	js_regex_free(group->regex);
}

static bool is_of_functions(const struct hook_group *group)
{
	return group->count > 0 && group->hooks[0].function;
}

/* What commands may write, and what else is compared before it runs. */
static void swap_held(struct hooks *hooks, struct hooks *from)
{
	struct hooks old = *hooks;

	hooks->roots = from->roots;
	hooks->others = from->others;
	hooks->other_count = from->other_count;
	hooks->other_cap = from->other_cap;
	from->roots = old.roots;
	from->others = old.others;
	from->other_count = old.other_count;
	from->other_cap = old.other_cap;
}

void hooks_renew(struct hooks *hooks, struct hooks *from)
{
	struct hook_group *groups = hooks->groups;
	const size_t count = hooks->count;

	for (size_t i = 0; i < count; i++) {
		if (!is_of_functions(&groups[i])) {
			release_group(&groups[i]);
			continue;
		}
		from->groups = mem_grow(from->groups, &from->cap, from->count + 1,
		                        sizeof(*from->groups));
		from->groups[from->count++] = groups[i];
		from->hook_count += groups[i].count;
	}
	free(groups);
	hooks->groups = from->groups;
	hooks->count = from->count;
	hooks->cap = from->cap;
	hooks->hook_count = from->hook_count;
	from->groups = NULL;
	from->count = 0;
	swap_held(hooks, from);
	json_decref(hooks->disabled);
	hooks->disabled = json_incref(from->disabled);
	hooks_free(from);
}

void hooks_free(struct hooks *hooks)
{
	if (!hooks)
		return;
	if (hooks->finish)
		hooks->finish(hooks);
	for (size_t i = 0; i < hooks->count; i++)
		release_group(&hooks->groups[i]);
	free(hooks->groups);
	free(hooks->project);
	free(hooks->cwd);
	free(hooks->here);
	free(hooks->caller);
	free(hooks->session_id);
	free(hooks->transcript_path);
	free(hooks->plans_folder);
	free(hooks->trust_file);
	free(hooks->guards);
	json_decref(hooks->twins);
	free_list(hooks->environment);
	free_list(hooks->roots);
	for (size_t i = 0; i < hooks->other_count; i++)
		hook_release(&hooks->others[i]);
	free(hooks->others);
	json_decref(hooks->disabled);
	json_decref(hooks->warned);
	pthread_cond_destroy(&hooks->background_ended);
	pthread_mutex_destroy(&hooks->lock);
	free(hooks);
}

void hooks_problem(json_t *problems, const char *where, const char *lost, const char *format, ...)
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
	if (lost) {
		json_object_set_new(problem, "lost", json_text(span_str(lost)));
		json_object_set_new(problem, "what", json_text(span_str(message)));
		warnings_add_first(problems, problem);
	} else {
		warnings_add(problems, problem);
	}
}

void hooks_notice(const struct hooks *hooks, enum severity severity, const char *format, ...)
{
	char message[1024];
	va_list args;

	if (!hooks->notices.notice)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	notices_say(&hooks->notices, severity, message);
}

/* More than a file of settings may hold. */
enum { KEY_BYTES_MAX = 16 << 20, KEY_DIGITS = 16 };

/* "[NAME NAME, 0123456789abcdef] ": a digest stands for the values, which may be secrets of the
 * user's that were put in for $NAME. */
static void put_key_of_env(char **env, struct buf *key)
{
	struct sha256_stream stream;
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	sha256_init(&stream);
	for (char **variable = env; *variable; variable++) {
		buf_char(key, variable == env ? '[' : ' ');
		buf_span(key, span_of(*variable, strcspn(*variable, "=")));
		sha256_update(&stream, span_of(*variable, strlen(*variable) + 1));
	}
	sum = sha256_final(&stream);
	sha256_hex(&sum, hex);
	buf_printf(key, ", %.*s] ", KEY_DIGITS, hex);
}

/* "name:command"; the caller frees.  The variables that it sets are included: with BASH_ENV
 * the same command can run any program. */
static char *hook_key(const struct hook *hook)
{
	_cleanup_buf_ struct buf key = BUF_INIT(KEY_BYTES_MAX);

	buf_printf(&key, "%s:", hook->name);
	if (hook->env && *hook->env)
		put_key_of_env(hook->env, &key);
	buf_str(&key, hook->command ? hook->command : "");
	return mem_dup(key.data, key.len);
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
	if (!all && hook_event_is_of_tools(event) &&
	    !js_regex_compile(text, &group->regex, err ? err : &ignored))
		group->regex = NULL;
	return group;
}

const char *hook_label(const struct hook *hook)
{
	return hook->name && *hook->name ? hook->name : hook->command;
}

bool hook_is_disabled(const struct hooks *hooks, const char *name)
{
	return name && *name && json_object_get(hooks->disabled, name);
}

struct hook *hook_group_add(struct hooks *hooks, struct hook_group *group,
                            enum hook_source source)
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
	if (!hooks->enabled || hook->disabled || hook_is_disabled(hooks, hook->name))
		return false;
	return hook->source != HOOK_SOURCE_PROJECT || (hooks->project_trusted && hook->trusted);
}

static bool word_matches(const struct hook_group *group, struct span word)
{
	/* One that cannot be compiled, or takes too long, counts as a match: a guard must not be
	 * got around by it. */
	if (!group->regex)
		return hook_event_is_of_tools(group->event) ||
		       span_eq(span_str(group->matcher), word);
	return js_regex_test(group->regex, word) != JS_REGEX_NO;
}

/* Whether the matcher says what it does not mean: names of other tools of the kind match it then
 * without being meant. */
static bool matcher_excludes(const char *matcher)
{
	return strstr(matcher, "(?!") || strstr(matcher, "(?<!") || strstr(matcher, "[^");
}

/* In Claude Code's format by its name for the tool, and by those of other programs. */
static bool name_matches(const struct hook_group *group, struct span word)
{
	const char *theirs = group->claude ? claude_tool_name(word) : NULL;
	_cleanup_free_ char *name = NULL;

	if (!theirs)
		return word_matches(group, word);
	name = mem_dup(word.data, word.len);
	return word_matches(group, span_str(theirs)) ||
	       (!tool_info_of(name) && word_matches(group, word));
}

bool hook_group_matches(const struct hook_group *group, const char *matched)
{
	const bool of_tools = hook_event_is_of_tools(group->event);
	const bool excludes = of_tools && matcher_excludes(group->matcher);

	if (!*group->matcher || !matched)
		return true;
	while (*matched) {
		const size_t len = strcspn(matched, " ");
		const bool parts = of_tools && *matched == '|';

		if (parts && excludes)
			return true;
		if (!parts && name_matches(group, span_of(matched, len)) != excludes)
			return !excludes;
		matched += len + (matched[len] == ' ');
	}
	return excludes;
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

static json_t *describe_env(char **env)
{
	json_t *list = json_array();

	for (; *env; env++)
		json_array_append_new(list, json_text(span_str(*env)));
	return list;
}

static json_t *describe_hook(const struct hooks *hooks, const struct hook_group *group,
                             const struct hook *hook)
{
	json_t *row = json_object();

	json_object_set_new(row, "event", json_string(hook_event_name(group->event)));
	json_object_set_new(row, "matcher", json_text(span_str(group->matcher)));
	json_object_set_new(row, "source", json_string(hook_source_name(hook->source)));
	json_object_set_new(row, "file", group->where ? json_text(span_str(group->where)) :
	                                                json_null());
	json_object_set_new(row, "format", json_string(group->claude ? "claude" : "gemini"));
	json_object_set_new(row, "name", json_text(span_str(hook->name)));
	json_object_set_new(row, "command", hook->command ? json_text(span_str(hook->command)) :
	                                                    json_null());
	if (hook->env && *hook->env)
		json_object_set_new(row, "env", describe_env(hook->env));
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
			json_array_append_new(all, describe_hook(hooks, &hooks->groups[i],
			                                         &hooks->groups[i].hooks[j]));
	return all;
}

/* ---- trust ------------------------------------------------------------------- */

/* Which of a project's hooks the user has seen and trusted: Gemini CLI's trusted_hooks.json,
 *
 *     {"/the/project": ["name:command", ...], ...}
 *
 * There a new hook warns once and runs; here it runs after it was trusted, and not before. */

enum { TRUST_BYTES_MAX = 4 << 20, DEPTH_MAX = 8 };

/* {} when there is none; NULL: it cannot be read. *err does not name the file. */
static json_t *read_trusted_hooks(const struct hooks *hooks, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };
	json_t *all = NULL;

	if (hooks->trust_file && !file_read(hooks->trust_file, TRUST_BYTES_MAX, &text, err))
		return NULL;
	if (!text.data)
		return json_object();
	if (!json_parse_depth(file_text_span(&text), DEPTH_MAX, &all, err))
		return NULL;
	if (json_is_object(all))
		return all;
	json_decref(all);
	err_set(err, ERR_INVALID_ARGUMENT, "It does not hold an object.");
	return NULL;
}

static void each_of_project(const struct hooks *hooks,
                            void (*use)(struct hook *hook, const char *key, void *data), void *data)
{
	for (size_t i = 0; i < hooks->count; i++)
		for (size_t j = 0; j < hooks->groups[i].count; j++) {
			struct hook *hook = &hooks->groups[i].hooks[j];
			_cleanup_free_ char *key = hook_key(hook);

			if (hook->source == HOOK_SOURCE_PROJECT)
				use(hook, key, data);
		}
}

static void mark_trusted(struct hook *hook, const char *key, void *data)
{
	hook->trusted = json_lists(data, span_str(key));
}

static bool is_reported(const json_t *problems, const char *where, bool lost)
{
	size_t i;
	json_t *problem;

	json_array_foreach(problems, i, problem)
		if (strcmp(json_string_value(json_object_get(problem, "source")), where) == 0 &&
		    (!lost || json_object_get(problem, "lost")))
			return true;
	return false;
}

/* Whether one of the project's hooks could refuse something. */
static bool project_guards(const struct hooks *hooks)
{
	for (size_t i = 0; i < hooks->count; i++)
		for (size_t j = 0; j < hooks->groups[i].count; j++)
			if (hooks->groups[i].hooks[j].source == HOOK_SOURCE_PROJECT &&
			    hook_event_refuses(hooks->groups[i].event, hooks->groups[i].claude))
				return true;
	return false;
}

void hooks_read_trust(struct hooks *hooks, json_t *problems)
{
	struct err err = ERR_INIT;
	json_auto_t *all = read_trusted_hooks(hooks, &err);

	if (!all && !is_reported(problems, hooks->trust_file, project_guards(hooks)))
		hooks_problem(problems, hooks->trust_file, project_guards(hooks) ? "" : NULL,
		              "it cannot be read, and no hook of the project counts as trusted. %s",
		              err.message);
	each_of_project(hooks, mark_trusted,
	                json_object_get(all, hooks->project ? hooks->project : ""));
}

static void add_untrusted(struct hook *hook, const char *key, void *data)
{
	if (!hook->trusted && !json_lists(data, span_str(key)))
		json_array_append_new(data, json_text(span_str(key)));
}

json_t *hooks_untrusted(const struct hooks *hooks)
{
	json_t *untrusted = json_array();

	if (hooks->project_trusted && hooks->enabled)
		each_of_project(hooks, add_untrusted, untrusted);
	return untrusted;
}

static void add_missing(struct hook *hook, const char *key, void *data)
{
	hook->trusted = true;
	if (!json_lists(data, span_str(key)))
		json_array_append_new(data, json_text(span_str(key)));
}

static bool write_trusted_hooks(const char *path, const json_t *all, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TRUST_BYTES_MAX);

	if (!json_print(&text, all, 2) || !buf_char(&text, '\n'))
		return err_set(err, ERR_TOO_LARGE, "%s would be longer than %d bytes.", path,
		               TRUST_BYTES_MAX);
	return file_replace(path, buf_view(&text), 0600, err);
}

/* Under the lock: of two concurrent calls, the second adds to what the first wrote. */
static bool add_to_file(struct hooks *hooks, struct err *err)
{
	struct err why = ERR_INIT;
	json_auto_t *all = NULL;
	json_t *keys;

	all = read_trusted_hooks(hooks, &why);
	if (!all)
		return err_set(err, why.code, "%s: it cannot be read, and so not be added to. %s",
		               hooks->trust_file, why.message);
	keys = json_object_get(all, hooks->project);
	if (!json_is_array(keys)) {
		keys = json_array();
		json_object_set_new(all, hooks->project, keys);
	}
	each_of_project(hooks, add_missing, keys);
	return write_trusted_hooks(hooks->trust_file, all, err);
}

bool hooks_trust(struct hooks *hooks, const json_t *held, const struct file_lock_wait *wait,
                 struct err *err)
{
	_cleanup_free_ char *folder = NULL;
	_cleanup_fd_ int lock = -1;

	if (!hooks->trust_file || !hooks->project)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "There is no home folder to remember trusted hooks in.");
	folder = path_folder(hooks->trust_file);
	if (!file_make_folders(folder, err))
		return false;
	lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return err_set_errno(err, errno, "%s cannot be locked", folder);
	return file_lock_take(lock, folder, wait, err) &&
	       (!json_array_size(held) || held_trust(hooks, held, err)) && add_to_file(hooks, err);
}
