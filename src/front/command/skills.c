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

/* Whose it is, and what its file asks for. */
static void skills_list_notes(struct command_call *call, const struct skill *skill)
{
	_cleanup_free_ char *from = skill_from(skill), *notes = skill_notes(skill);
	_cleanup_free_ char *text = mem_printf("%s%s%s", from, notes ? "; " : "",
	                                       notes ? notes : "");

	command_term(call, "", 24, span_str(text), STYLE(ROLE_DIM));
}

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
		command_term(call, skill->called, 24, span_str(describe ? skill->description : ""),
		             STYLE(disabled ? ROLE_DIM : ROLE_TEXT));
		if (describe)
			skills_list_notes(call, skill);
	}
}

/* "all" is Gemini CLI's, which leaves its built-in skills out without it; here are none. */
static void skills_list(struct command_call *call)
{
	const struct skills *skills = host_facts(call->context->host).skills;
	bool describe = true;
	struct span word;
	const json_t *notice;
	size_t i;

	while ((word = command_word(&call->arguments)).len)
		describe = describe && !command_word_is(word, "nodesc") &&
		           !command_word_is(word, "--nodesc");
	if (!skills->count)
		command_say(call, STYLE(ROLE_TEXT), "No skills available. They are folders in "
		            ".gemini/skills or .agents/skills, here or in the home folder; "
		            "/skills reload reads them again.");
	skills_list_part(call, false, describe);
	skills_list_part(call, true, describe);
	json_array_foreach(skills->notices, i, notice)
		command_text(call, STYLE(ROLE_WARNING), json_span(notice));
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
			json_object_set_new(names, skills->at[i].called, json_true());
	return names;
}

/* How many of `names` the others do not have. */
static size_t names_not_among(json_t *names, const json_t *others)
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
	added = names_not_among(after, before);
	removed = names_not_among(before, after);
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
				completion->add(completion, skills->at[i].called,
				                skills->at[i].description);
	} else if (span_ends(before, SPAN("--scope"))) {
		completion->add(completion, "user", "Your settings");
		completion->add(completion, "workspace", "The project's settings");
	} else {
		completion->add(completion, "--scope", "Whose settings are changed");
	}
}

/* ---- a skill as a command ----------------------------------------------------------- */

/* Its name as it is typed: blanks are "-". The caller frees; NULL: it is disabled, is the model's
 * alone, or cannot be typed. */
static char *skill_typed_name(const struct skill *skill)
{
	_cleanup_free_ char *name = skill->disabled || skill->models_alone ?
	                            NULL : mem_strdup(skill->name);

	for (char *at = name; at && *at; at++) {
		if (*at == ' ')
			*at = '-';
		if (!isalnum((unsigned char)*at) && !strchr("_-.", *at))
			return NULL;
	}
	return mem_steal(&name);
}

void command_send_report(struct command_call *call, const char *name, struct span report)
{
	command_then(call, COMMAND_SEND,
	             mem_printf("<report of=\"%s\">\n%.*s\n</report>\n\nThe user called /%s, "
	                        "which an agent has done; this is its report. Tell the user what "
	                        "it says.",
	                        name, (int)report.len, report.data ? report.data : "", name));
}

/* A call of activate_skill that the user orders; what it returns is the prompt. */
static void skill_offer_run(struct command_call *call, const struct slash_offer *offer,
                            struct span line)
{
	struct host *host = call->context->host;
	json_auto_t *arguments = json_pack("{s:s, s:o}", "name", offer->target, "arguments",
	                                   json_text(call->arguments));
	json_auto_t *result = host_call_ordered(host, tool_name(TOOL_ACTIVATE_SKILL), arguments);
	const struct skill *skill = skills_find(host_facts(host).skills, offer->target);
	const struct span output = json_span(json_object_get(result, "output"));

	if (!json_object_get(result, "skill")) {
		host_lend_end(host);
		command_fail(call, "%s", json_string_value(json_object_get(result, "message")));
		return;
	}
	call->result->plain = true;
	call->result->shown = mem_dup(line.data, line.len);
	if (skill && skill->agent)
		command_send_report(call, offer->called, output);
	else if (call->arguments.len)
		command_then(call, COMMAND_SEND,
		             mem_printf("%.*s\n\n%.*s", (int)output.len, output.data,
		                        (int)call->arguments.len, call->arguments.data));
	else
		command_then(call, COMMAND_SEND,
		             mem_printf("%.*s\n\nUse the skill %s.", (int)output.len,
		                        output.data, offer->target));
}

void skill_offers_add(const struct command_context *context, struct slash_offers *offers)
{
	struct skills *own = context->host ? NULL : skills_discover(context->settings,
	                                                            context->local);
	const struct skills *skills = own ? own : host_facts(context->host).skills;

	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];
		_cleanup_free_ char *typed = skill_typed_name(skill);
		_cleanup_free_ char *about = NULL, *from = NULL;
		struct slash_offer offer = { .run = skill_offer_run };
		const struct command_row *row;

		if (!typed)
			continue;
		about = command_short_text(skill->description);
		from = skill_from(skill);
		offer.of = skill->extension ? CATALOG_OTHERS :
		           skill->project   ? CATALOG_PROJECT : CATALOG_USER;
		/* A row that yields does so to commands alone. */
		row = command_row_of(span_str(typed));
		offer.name = row && command_row_is(row, span_str(typed)) ?
		             mem_printf("%s:%s", skill->owner, typed) : mem_strdup(typed);
		offer.owner = mem_strdup(skill->owner);
		offer.kind = "skill";
		offer.about = mem_printf("%s%s%s", about, skill->hint ? "  " : "",
		                         skill->hint ? skill->hint : "");
		offer.from = mem_printf("Skill of the %s", from);
		offer.target = mem_strdup(skill->called);
		offer_add(offers, &offer);
	}
	skills_free(own);
}
