/* SPDX-License-Identifier: Apache-2.0 */
/* Skills: /skills lists, enables, disables and reloads them; /NAME hands one to the model. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "catalog/skills.h"
#include "data/json.h"
#include "data/tools.h"
#include "front/command/private.h"

/* ---- what there is --------------------------------------------------------------- */

/* Those that are disabled, or those that are not. */
static void skills_list_part(struct command_call *call, bool disabled, bool describe)
{
	const struct skills *skills = host_facts(call->context->host).skills;
	bool any = false;

	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];

		if (skill->disabled != disabled)
			continue;
		if (!any)
			command_heading(call, disabled ? "Disabled Skills:" :
			                                 "Available Agent Skills:");
		any = true;
		command_term(call, skill->name, 24, span_str(describe ? skill->description : ""),
		             STYLE(disabled ? ROLE_DIM : ROLE_TEXT));
	}
}

/* "all" is Gemini CLI's, which leaves its built-in skills out without it; here are none. */
static void skills_list(struct command_call *call)
{
	const struct skills *skills = host_facts(call->context->host).skills;
	bool describe = true;
	struct span word;

	while ((word = command_word(&call->arguments)).len)
		describe = describe && !command_word_is(word, "nodesc") &&
		           !command_word_is(word, "--nodesc");
	if (!skills->count)
		command_say(call, STYLE(ROLE_TEXT), "No skills available. They are folders in "
		            ".gemini/skills or .agents/skills, here or in the home folder; "
		            "/skills reload reads them again.");
	skills_list_part(call, false, describe);
	skills_list_part(call, true, describe);
	call->result->pager = skills->count > 10;
}

/* ---- what changes it ------------------------------------------------------------- */

/* The name, which may have blanks in it, before "--scope WHICH". False: that is no scope. */
static bool skills_words(struct span arguments, struct span *ret_name,
                         enum settings_scope *ret_scope)
{
	static const struct span flag = SPAN(" --scope");
	const char *at = memmem(arguments.data, arguments.len, flag.data, flag.len);
	const size_t len = at ? (size_t)(at - arguments.data) : arguments.len;
	struct span rest = span_skip(arguments, at ? len + flag.len : len), word;

	*ret_name = span_trim(span_head(arguments, len));
	*ret_scope = SCOPE_USER;
	if (!at)
		return true;
	if (span_starts(rest, SPAN("=")))
		rest = span_skip(rest, 1);
	word = command_word(&rest);
	if (command_word_is(word, "workspace") || command_word_is(word, "project"))
		*ret_scope = SCOPE_WORKSPACE;
	else if (!command_word_is(word, "user"))
		return false;
	return !rest.len;
}

static void skills_turn(struct command_call *call, bool enable)
{
	struct host *host = call->context->host;
	_cleanup_free_ char *name = NULL, *sentence = NULL;
	enum settings_scope scope;
	struct err err = ERR_INIT;
	struct span word;

	if (!skills_words(call->arguments, &word, &scope) || !word.len) {
		command_usage(call);
		return;
	}
	if (scope == SCOPE_WORKSPACE && !call->context->local) {
		command_fail(call, "The project is on another machine, and so are its settings.");
		return;
	}
	name = mem_dup(word.data, word.len);
	if (!skills_switch(host_facts(host).skills, call->context->settings, scope, name, enable,
	                   &sentence, &err) ||
	    !host_skills_reload(host, &err))
		command_fail(call, "%s", err.message);
	else
		command_say(call, STYLE(ROLE_TEXT), "%s", sentence);
}

static void skills_enable(struct command_call *call)
{
	skills_turn(call, true);
}

static void skills_disable(struct command_call *call)
{
	skills_turn(call, false);
}

static json_t *skills_names(const struct host *host)
{
	const struct skills *skills = host_facts(host).skills;
	json_t *names = json_object();

	for (size_t i = 0; i < skills->count; i++)
		if (!skills->at[i].disabled)
			json_object_set_new(names, skills->at[i].name, json_true());
	return names;
}

/* How many of `names` the others do not have. */
static size_t skills_missing(json_t *names, const json_t *others)
{
	size_t count = 0;
	const char *name;
	json_t *one;

	json_object_foreach(names, name, one)
		count += !json_object_get(others, name);
	return count;
}

static void skills_reload(struct command_call *call)
{
	json_auto_t *before = skills_names(call->context->host), *after = NULL;
	struct err err = ERR_INIT;
	size_t added, removed;
	size_t i;
	json_t *notice;

	if (!host_skills_reload(call->context->host, &err)) {
		command_fail(call, "Failed to reload skills: %s", err.message);
		return;
	}
	after = skills_names(call->context->host);
	added = skills_missing(after, before);
	removed = skills_missing(before, after);
	command_say(call, STYLE(ROLE_TEXT), "Agent skills reloaded successfully.");
	if (added)
		command_say(call, STYLE(ROLE_TEXT), "%zu newly available skill%s.", added,
		            added == 1 ? "" : "s");
	if (removed)
		command_say(call, STYLE(ROLE_TEXT), "%zu skill%s no longer available.", removed,
		            removed == 1 ? "" : "s");
	json_array_foreach(host_facts(call->context->host).skills->notices, i, notice)
		command_text(call, STYLE(ROLE_WARNING), json_span(notice));
}

/* ---- the table ------------------------------------------------------------------- */

static const struct skill_switch {
	const char *name, *alias; /* `alias` may be NULL */
	command_handler *run;
} skills_actions[] = {
	{ "list", NULL, skills_list },
	{ "enable", NULL, skills_enable },
	{ "disable", NULL, skills_disable },
	{ "reload", "refresh", skills_reload },
};

static const struct skill_switch *skills_action_of(struct span word)
{
	for (size_t i = 0; i < ARRAY_LEN(skills_actions); i++)
		if (command_word_is(word, skills_actions[i].name) ||
		    (skills_actions[i].alias && command_word_is(word, skills_actions[i].alias)))
			return &skills_actions[i];
	return NULL;
}

void command_skills(struct command_call *call)
{
	const struct span given = call->arguments, word = command_word(&call->arguments);
	const struct skill_switch *action = skills_action_of(word);

	if (action) {
		action->run(call);
	} else {
		call->arguments = given;
		skills_list(call);
	}
}

void command_complete_skills(struct command_completion *completion)
{
	const struct skills *skills = host_facts(completion->context->host).skills;
	struct span before = completion->before;
	const struct skill_switch *action = skills_action_of(command_word(&before));

	if (action && !before.len) {
		for (size_t i = 0; i < skills->count; i++)
			if (skills->at[i].disabled == (action->run == skills_enable))
				completion->add(completion, skills->at[i].name,
				                skills->at[i].description);
	} else if (span_ends(before, SPAN("--scope"))) {
		completion->add(completion, "user", "Your settings");
		completion->add(completion, "workspace", "The project's settings");
	} else {
		completion->add(completion, "--scope", "Whose settings are changed");
	}
}

/* ---- a skill as a command ----------------------------------------------------------- */

/* What is typed behind the slash: blanks are "-". The caller frees; NULL: it is disabled, cannot be
 * typed, or a row has its name. */
static char *skill_command_name(const struct skill *skill)
{
	_cleanup_free_ char *name = skill->disabled ? NULL : mem_strdup(skill->name);
	const struct command_row *row;

	if (!name)
		return NULL;
	for (char *at = name; *at; at++) {
		if (*at == ' ')
			*at = '-';
		if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
			return NULL;
	}
	row = command_row_of(span_str(name));
	return row && command_row_is(row, span_str(name)) ? NULL : mem_steal(&name);
}

/* The name of the skill that has this command's, in *ret, which the caller frees. */
static bool skill_command_find(const struct command_context *context, struct span name,
                               char **ret)
{
	struct skills *own = context->host ? NULL : skills_discover(context->settings,
	                                                            context->local);
	const struct skills *skills = own ? own : host_facts(context->host).skills;
	bool found = false;

	for (size_t i = 0; i < skills->count && !found; i++) {
		_cleanup_free_ char *typed = skill_command_name(&skills->at[i]);

		found = typed && command_word_is(name, typed);
		if (found)
			*ret = mem_strdup(skills->at[i].name);
	}
	skills_free(own);
	return found;
}

bool skill_command_exists(const struct command_context *context, struct span name)
{
	_cleanup_free_ char *skill = NULL;

	return skill_command_find(context, name, &skill);
}

/* A call of activate_skill like the model's own; what it returns is the prompt. */
bool skill_command_run(struct command_call *call, struct span name, struct span line)
{
	_cleanup_free_ char *skill = NULL, *text = NULL;
	json_auto_t *arguments = NULL, *result = NULL;
	struct span output;

	if (!skill_command_find(call->context, name, &skill))
		return false;
	arguments = json_pack("{s:s}", "name", skill);
	result = host_call(call->context->host, tool_name(TOOL_ACTIVATE_SKILL), arguments);
	output = json_span(json_object_get(result, "output"));
	if (!output.len) {
		command_fail(call, "%s", json_string_value(json_object_get(result, "message")));
		return true;
	}
	if (call->arguments.len)
		text = mem_printf("%.*s\n\n%.*s", (int)output.len, output.data,
		                  (int)call->arguments.len, call->arguments.data);
	else
		text = mem_printf("%.*s\n\nUse the skill %s.", (int)output.len, output.data,
		                  skill);
	call->result->plain = true;
	call->result->shown = mem_dup(line.data, line.len);
	command_then(call, COMMAND_SEND, mem_steal(&text));
	return true;
}

/* As custom_one. */
static void skill_note_custom(void *data, const char *name, const char *description,
                              const char *from)
{
	(void)description;
	(void)from;
	json_object_set_new(data, name, json_true());
}

void skill_command_each(const struct command_context *context, custom_taken *taken,
                        custom_one *one, void *data)
{
	const struct skills *skills = context->host ? host_facts(context->host).skills : NULL;
	json_auto_t *customs = json_object();

	if (skills && skills->count)
		custom_each(context, taken, skill_note_custom, customs);
	for (size_t i = 0; skills && i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];
		_cleanup_free_ char *typed = skill_command_name(skill);
		_cleanup_free_ char *from = skill_from(skill), *about = NULL, *where = NULL;

		if (!typed || json_object_get(customs, typed))
			continue;
		about = command_short_text(skill->description);
		where = mem_printf("Skill of the %s", from);
		one(data, typed, about, where);
	}
}
