/* SPDX-License-Identifier: Apache-2.0 */
/* hasp extensions: which there are, where they are enabled; installed, linked, removed, checked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/command/private.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "config/extensions.h"
#include "data/json.h"

struct extensions_command {
	const struct invocation *invocation;
	struct settings *settings;
	const struct extensions *all;
};

static bool say_line(const char *text, struct err *err)
{
	_cleanup_free_ char *line = mem_printf("%s\n", text);

	return agent_output_lines(span_str(line), err);
}

/* ---- which there are ----------------------------------------------------------------- */

static bool is_enabled_for(const struct extensions_command *command,
                           const struct extension *extension, const char *folder)
{
	struct err ignored = ERR_INIT;
	json_auto_t *rules = extensions_enablement(settings_home(command->settings), &ignored);

	return extension_enabled_in(rules, extension->name, folder);
}

static json_t *extension_row(const struct extensions_command *command,
                             const struct extension *extension)
{
	const struct home *home = settings_home(command->settings);
	json_t *source = json_object_get(extension->origin, "source");
	json_t *type = json_object_get(extension->origin, "type");

	return json_pack("{s:o, s:o, s:o, s:O?, s:O?, s:b, s:b, s:b}", "name",
	                 json_cstr(extension->name), "version", json_cstr(extension->version),
	                 "path", json_name(extension->folder), "source", source, "type", type,
	                 "enabledUser",
	                 is_enabled_for(command, extension, home_user(home)), "enabledWorkspace",
	                 is_enabled_for(command, extension, home_project(home)), "used",
	                 extension_counts(extension));
}

static void put_extension(struct buf *out, const struct extensions_command *command,
                          const struct extension *extension)
{
	const struct home *home = settings_home(command->settings);
	struct err ignored = ERR_INIT;
	json_auto_t *said = extension_manifest_read(extension->folder, NULL, &ignored);
	_cleanup_free_ char *brings = install_brings(extension->folder, said);
	_cleanup_free_ char *path = extension_line(span_str(extension->folder));

	buf_printf(out, "%s (%s)%s\n  Path: %s\n", extension->name, extension->version,
	           extension_counts(extension) ? "" : ", not used here", path);
	if (extension->origin) {
		_cleanup_free_ char *source = extension_line(
			json_span(json_object_get(extension->origin, "source")));
		_cleanup_free_ char *type = extension_line(
			json_span(json_object_get(extension->origin, "type")));

		buf_printf(out, "  Source: %s (Type: %s)\n", source, type);
	}
	buf_printf(out, "  Enabled (User): %s\n  Enabled (Workspace): %s\n%s\n",
	           is_enabled_for(command, extension, home_user(home)) ? "true" : "false",
	           is_enabled_for(command, extension, home_project(home)) ? "true" : "false",
	           brings);
}

static int list_installed(struct extensions_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const bool as_json = invocation_has(command->invocation, FLAG_JSON);
	json_auto_t *rows = json_array();
	struct err err = ERR_INIT;
	const json_t *notice;
	size_t i;

	json_array_foreach(command->all->notices, i, notice)
		output_complain(json_string_value(notice));
	for (i = 0; i < command->all->count; i++)
		if (as_json)
			json_array_append_new(rows, extension_row(command, &command->all->at[i]));
		else
			put_extension(&out, command, &command->all->at[i]);
	if (as_json)
		json_print(&out, rows, 2);
	else if (!command->all->count)
		buf_str(&out, "No extensions installed.");
	if (as_json || !command->all->count)
		buf_char(&out, '\n');
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* ---- where they are enabled ---------------------------------------------------------- */

static bool is_workspace(const char *scope)
{
	return scope && (!strcmp(scope, "workspace") || !strcmp(scope, "project"));
}

static bool switch_one(struct extensions_command *command, const char *name, bool enable,
                       struct err *err)
{
	const char *scope = invocation_value(command->invocation, FLAG_SCOPE);
	const struct home *home = settings_home(command->settings);
	const struct extension *extension = extension_named(command->all, name);
	_cleanup_free_ char *text = NULL;

	if (!extension)
		return err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%.100s\" not found.", name);
	if (!is_workspace(scope) &&
	    !extension_enable_in(home, extension->name, home_user(home), enable, err))
		return false;
	/* Without a scope "enable" means here, too. */
	if ((is_workspace(scope) ||
	     (enable && !scope && !is_enabled_for(command, extension, home_project(home)))) &&
	    !extension_enable_in(home, extension->name, home_project(home), enable, err))
		return false;
	text = mem_printf("Extension \"%s\" successfully %s for scope \"%s\".", extension->name,
	                  enable ? "enabled" : "disabled", scope ? scope : "user");
	return say_line(text, err);
}

static bool enable_one(struct extensions_command *command, const char *name, struct err *err)
{
	return switch_one(command, name, true, err);
}

static bool disable_one(struct extensions_command *command, const char *name, struct err *err)
{
	return switch_one(command, name, false, err);
}

/* ---- put in and taken out ------------------------------------------------------------ */

/* A yes of whoever is at standard input; nothing there is a no. */
static bool is_consented(const struct extensions_command *command, const char *consent,
                         struct err *err)
{
	char answer[16] = "";
	struct span word;

	if (!agent_output_lines(span_str(consent), err))
		return false;
	if (invocation_has(command->invocation, FLAG_CONSENT))
		return true;
	output_complain("What an extension brings is somebody else's. Use it? [y/N]");
	if (!fgets(answer, sizeof(answer), stdin))
		answer[0] = '\0';
	word = span_trim(span_str(answer));
	if (span_eq(word, SPAN("y")) || span_eq(word, SPAN("Y")) || span_eq(word, SPAN("yes")))
		return true;
	return err_set(err, ERR_DENIED_BY_USER,
	               "Nothing was installed. --consent says yes where nobody can be asked.");
}

static bool install_from(struct extensions_command *command, const char *folder, bool link,
                         struct err *err)
{
	struct install install;
	_cleanup_free_ char *text = NULL;
	bool ok;

	if (!install_open(folder, command->settings, link, &install, err))
		return false;
	ok = is_consented(command, install.consent, err) &&
	     install_do(&install, command->settings, err);
	text = mem_printf("Extension \"%s\" %s successfully and enabled.",
	                  json_string_value(json_object_get(install.manifest, "name")),
	                  link ? "linked" : "installed");
	install_release(&install);
	return ok && say_line(text, err);
}

static bool install_one(struct extensions_command *command, const char *source, struct err *err)
{
	return install_from(command, source, false, err);
}

static bool link_one(struct extensions_command *command, const char *source, struct err *err)
{
	return install_from(command, source, true, err);
}

static bool uninstall_one(struct extensions_command *command, const char *name, struct err *err)
{
	_cleanup_free_ char *text = mem_printf("Extension \"%s\" successfully uninstalled.", name);

	return install_remove(command->settings, name, err) && say_line(text, err);
}

static bool new_one(struct extensions_command *command, const char *folder, struct err *err)
{
	_cleanup_free_ char *text = mem_printf("Successfully created a new extension in %s.\n"
	                                       "To use it here: hasp extensions link %s", folder,
	                                       folder);

	(void)command;
	return install_new(folder, err) && say_line(text, err);
}

static bool validate_one(struct extensions_command *command, const char *folder, struct err *err)
{
	_cleanup_free_ char *real = realpath(folder, NULL), *brings = NULL, *text = NULL;
	json_auto_t *problems = json_array(), *manifest = NULL;
	const json_t *problem;
	size_t i;

	(void)command;
	manifest = extension_manifest_read(real ? real : folder, problems, err);
	if (!manifest)
		return false;
	json_array_foreach(problems, i, problem)
		output_complain(json_string_value(problem));
	if (json_array_size(problems))
		return err_set(err, ERR_INVALID_ARGUMENT, "Extension \"%s\" is not valid.",
		               json_string_value(json_object_get(manifest, "name")));
	brings = install_brings(real, manifest);
	text = mem_printf("Extension \"%s\" is valid. It brings:\n%s",
	                  json_string_value(json_object_get(manifest, "name")), brings);
	return agent_output_lines(span_str(text), err);
}

/* ---- which is asked for -------------------------------------------------------------- */

/* A row for each action but list: what its word is, and what it does for one. */
static const struct extensions_action {
	const char *word, *takes;
	bool many;
	bool (*one)(struct extensions_command *command, const char *word, struct err *err);
} actions[] = {
	{ "enable", "the name of an extension", false, enable_one },
	{ "disable", "the name of an extension", false, disable_one },
	{ "install", "the folder of an extension", false, install_one },
	{ "link", "the folder of an extension", false, link_one },
	{ "uninstall", "names of extensions", true, uninstall_one },
	{ "new", "the folder to make", false, new_one },
	{ "validate", "the folder of an extension", false, validate_one },
};

static const struct extensions_action *action_named(const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(actions); i++)
		if (!strcmp(actions[i].word, word))
			return &actions[i];
	return NULL;
}

static bool check_extensions_words(const struct invocation *invocation,
                                   const struct extensions_action *action, struct err *err)
{
	const size_t count = invocation->positional_count;

	if (!action)
		return count <= 1 || err_set(err, ERR_INVALID_ARGUMENT,
		                             "hasp extensions list takes no further word.");
	if (count < 2 || (count > 2 && !action->many))
		return err_set(err, ERR_INVALID_ARGUMENT, "hasp extensions %s takes %s.",
		               action->word, action->takes);
	return !invocation_has(invocation, FLAG_JSON) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "hasp extensions %s takes no --json.",
	               action->word);
}

int command_run_extensions(const struct invocation *invocation)
{
	const char *word = invocation_positional(invocation, 0);
	const struct extensions_action *action = word ? action_named(word) : NULL;
	struct extensions_command command = { .invocation = invocation };
	_cleanup_free_ char *project = NULL;
	struct err err = ERR_INIT;
	int code = CLI_OK;

	if (!check_extensions_words(invocation, action, &err))
		return output_fail(&err, CLI_USAGE);
	if (!command_open_project(invocation, &project, &command.settings, &err))
		return output_fail(&err, CLI_FAILED);
	command.all = extensions_installed(command.settings);
	if (!action)
		code = list_installed(&command);
	for (size_t i = 1; action && i < invocation->positional_count; i++)
		if (!action->one(&command, invocation->positionals[i], &err)) {
			code = output_fail(&err, CLI_FAILED);
			err = (struct err)ERR_INIT;
		}
	settings_free(command.settings);
	return code;
}
