/* SPDX-License-Identifier: Apache-2.0 */
/* hasp skills: which skills there are; they are switched on and off in the settings, put in and
 * taken out (skills_install.c). */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "catalog/skills.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"

struct skills_command {
	const struct invocation *invocation;
	struct settings *settings;
	struct skills *skills;
};

static json_t *skills_json(const struct skills *skills)
{
	json_t *list = json_array();

	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];
		_cleanup_free_ char *from = skill_from(skill);

		json_array_append_new(list, json_pack("{s:o, s:o, s:o, s:s, s:b}", "name",
		                                      json_cstr(skill->name), "description",
		                                      json_cstr(skill->description), "location",
		                                      json_name(skill->file), "from",
		                                      from,
		                                      "enabled", !skill->disabled));
	}
	return list;
}

/* As Gemini CLI prints them: scripts read that. */
static void put_skills(struct buf *out, const struct skills *skills)
{
	buf_str(out, skills->count ? "Discovered Agent Skills:\n\n" : "No skills discovered.\n");
	for (size_t i = 0; i < skills->count; i++) {
		const struct skill *skill = &skills->at[i];

		render_printf(out, "%s %s\n  Description: %s\n  Location:    ", skill->name,
		              skill->disabled ? "[Disabled]" : "[Enabled]", skill->description);
		name_line(out, span_str(skill->file));
		buf_str(out, "\n\n");
	}
}

static int list_skills(struct skills_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;
	size_t i;
	json_t *notice;
	bool ok;

	json_array_foreach(command->skills->notices, i, notice)
		output_complain(json_string_value(notice));
	if (settings_trust_unknown(command->settings))
		output_complain("This folder is not trusted, so its skills are not used. To trust "
		                "it: hasp config trust");
	if (!settings_bool(command->settings, "skills.enabled", true))
		output_complain("Skills are off: skills.enabled is false.");
	if (invocation_has(command->invocation, FLAG_JSON)) {
		json_auto_t *list = skills_json(command->skills);

		ok = output_json(list, /* indent= */ true, &err);
	} else {
		put_skills(&out, command->skills);
		ok = agent_output_lines(buf_view(&out), &err);
	}
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static int switch_skill(struct skills_command *command, const char *name, bool enable)
{
	const char *word = invocation_value(command->invocation, FLAG_SCOPE);
	const enum settings_scope scope = word && strcmp(word, "user") != 0 ? SCOPE_WORKSPACE :
	                                                                      SCOPE_USER;
	_cleanup_free_ char *sentence = NULL, *line = NULL;
	struct err err = ERR_INIT;

	if (!skills_switch(command->skills, command->settings, scope, name, enable, &sentence,
	                   &err))
		return output_fail(&err, CLI_FAILED);
	line = mem_printf("%s\n", sentence);
	return agent_output_lines(span_str(line), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- which is asked for -------------------------------------------------------------- */

static int install_skill(struct skills_command *command, const char *source, bool link)
{
	struct err err = ERR_INIT;

	return skills_install(command->invocation, command->settings, source, link, &err) ?
	               CLI_OK : output_fail(&err, CLI_FAILED);
}

static int run_enable(struct skills_command *command, const char *name)
{
	return switch_skill(command, name, true);
}

static int run_disable(struct skills_command *command, const char *name)
{
	return switch_skill(command, name, false);
}

static int run_install(struct skills_command *command, const char *source)
{
	return install_skill(command, source, false);
}

static int run_link(struct skills_command *command, const char *source)
{
	return install_skill(command, source, true);
}

static int run_uninstall(struct skills_command *command, const char *name)
{
	struct err err = ERR_INIT;

	return skills_install_remove(command->invocation, command->settings, name, &err) ?
	               CLI_OK : output_fail(&err, CLI_FAILED);
}

/* A row for each action but list: its word, what it takes, its flags besides --scope. */
static const struct skills_action {
	const char *word, *takes;
	bool path, consent;
	int (*run)(struct skills_command *command, const char *name);
} actions[] = {
	{ "enable", "the name of a skill; hasp skills list has them", false, false, run_enable },
	{ "disable", "the name of a skill; hasp skills list has them", false, false, run_disable },
	{ "install", "a folder, or the address of a git repository", true, true, run_install },
	{ "link", "a folder", false, true, run_link },
	{ "uninstall", "the name of a skill; hasp skills list has them", false, false,
	  run_uninstall },
};

static const struct skills_action *skills_action_named(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (strcmp(actions[i].word, word) == 0)
			return &actions[i];
	return NULL;
}

/* Whether there is a name where one belongs, and no flag of another action. NULL: list. */
static bool check_skills_words(const struct invocation *invocation,
                               const struct skills_action *action, struct err *err)
{
	const struct {
		enum flag_id id;
		const char *name;
		bool fits;
	} flags[] = {
		{ FLAG_SCOPE, "--scope", action },
		{ FLAG_PATH, "--path", action && action->path },
		{ FLAG_CONSENT, "--consent", action && action->consent },
		{ FLAG_JSON, "--json", !action },
	};
	const char *word = action ? action->word : "list";

	if (!action && invocation_positional(invocation, 1))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp skills list takes no name.");
	if (action && !invocation_positional(invocation, 1))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp skills %s takes %s.", word,
		               action->takes);
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (!flags[i].fits && invocation_has(invocation, flags[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "hasp skills %s takes no %s.",
			               word, flags[i].name);
	return true;
}

int command_run_skills(const struct invocation *invocation)
{
	const char *word = invocation_positional(invocation, 0);
	const struct skills_action *action = word ? skills_action_named(word) : NULL;
	struct skills_command command = { .invocation = invocation };
	_cleanup_free_ char *project = NULL;
	struct err err = ERR_INIT;
	int code;

	if (!check_skills_words(invocation, action, &err))
		return output_fail(&err, CLI_USAGE);
	if (!command_open_project(invocation, &project, &command.settings, &err))
		return output_fail(&err, CLI_FAILED);
	command.skills = skills_discover(command.settings, /* local= */ true);
	code = action ? action->run(&command, invocation_positional(invocation, 1)) :
	                list_skills(&command);
	skills_free(command.skills);
	settings_free(command.settings);
	return code;
}
