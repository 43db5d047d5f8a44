/* SPDX-License-Identifier: Apache-2.0 */
/* hasp hooks: which hooks there are, and trusting those of a project. Runs none of them. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/view.h"
#include "data/json.h"
#include "worker/environment.h"

struct hooks_command {
	const struct invocation *invocation;
	char *project;
	struct settings *settings;
	struct hooks *hooks;
	json_t *held;  /* owned; hooks_held, with what commands name that cannot be compared */
	json_t *loose; /* owned */
};

static bool open_project_hooks(struct hooks_command *command, struct err *err)
{
	json_auto_t *problems = json_array(), *unused = json_array();
	char **environment;
	json_t *sentence;
	size_t i;

	if (!command_open_project(command->invocation, &command->project, &command->settings, err))
		return false;
	environment = prepare_environment(command->settings);
	const struct hooks_sources sources = { .settings = command->settings,
		                               .project = command->project, .local = true,
		                               .environment = environment,
		                               .session_id = "", .transcript_path = "",
		                               .unused = unused };

	command->hooks = setup_load_hooks(&sources, problems);
	environment_free(environment);
	setup_hold_logins(command->hooks, command->settings);
	command->loose = json_array();
	command->held = hooks_held(command->hooks, command->loose);
	command_hooks_problems(problems);
	json_array_foreach(unused, i, sentence)
		output_complain(json_string_value(sentence));
	if (settings_trust_unknown(command->settings))
		output_complain("This folder is not trusted, so its hooks are not used. To trust "
		                "it: hasp config trust");
	return true;
}

static const char *hook_row_text(const json_t *row, const char *name)
{
	const char *text = json_string_value(json_object_get(row, name));

	return text ? text : "";
}

/* Why a hook does not run; "" when it does. */
static const char *state_of(const json_t *row)
{
	if (json_is_true(json_object_get(row, "enabled")))
		return "";
	return json_is_true(json_object_get(row, "trusted")) ? "  (off)" : "  (not trusted)";
}

/* Hides values that were substituted for $NAME, which may be secrets. */
static void hide_secrets(json_t *rows)
{
	size_t i, j;
	json_t *row, *variable;

	json_array_foreach(rows, i, row) {
		json_t *env = json_object_get(row, "env");

		json_array_foreach(env, j, variable) {
			const char *text = json_string_value(variable);
			const int name = (int)strcspn(text, "=");

			if (environment_is_secret(text))
				json_array_set_new(env, j,
				                   json_sprintf("%.*s=(hidden)", name, text));
		}
	}
}

/* Foreign text after a word of ours: all of it on that line. */
static void print_part(const char *word, const char *text, struct buf *out)
{
	_cleanup_free_ char *line = mem_printf("%s%s", word, text);

	render_printf(out, "%s\n", line);
}

/* "BeforeTool  write_file  project  guard  sh guard.sh": a line for each. */
static void print_row(const json_t *row, struct buf *out)
{
	const char *matcher = hook_row_text(row, "matcher"), *name = hook_row_text(row, "name");
	json_t *variable;
	size_t i;

	render_printf(out, "%-19s %s%s\n", hook_row_text(row, "event"),
	              hook_row_text(row, "source"), state_of(row));
	if (*matcher)
		print_part("    matcher: ", matcher, out);
	if (*name)
		print_part("    name:    ", name, out);
	json_array_foreach(json_object_get(row, "env"), i, variable)
		print_part("    env:     ", json_string_value(variable), out);
	print_part("    command: ", hook_row_text(row, "command"), out);
}

/* ---- files that commands name --------------------------------------------------- */

static bool is_held(const json_t *row)
{
	return strcmp(hook_row_text(row, "state"), "trusted") == 0;
}

static size_t count_changed(const json_t *held)
{
	size_t count = 0, i;
	json_t *row;

	json_array_foreach((json_t *)held, i, row)
		count += !is_held(row);
	return count;
}

/* What is different of one that is not as it was trusted. */
static void print_difference(const json_t *row, struct buf *out)
{
	const json_t *before = json_object_get(row, "before"), *now = json_object_get(row, "now");
	const json_t *old = json_object_get(before, "text"), *new = json_object_get(now, "text");
	const char *leads = hook_row_text(now, "leads");

	if (*leads)
		print_part("    leads to: ", leads, out);
	if (json_object_get(now, "sha256"))
		print_part("    sha256: ", hook_row_text(now, "sha256"), out);
	if (old && new)
		render_difference(out, hook_row_text(row, "file"), json_span(old), json_span(new));
	else if (before && json_is_object(now))
		buf_str(out, "    The difference cannot be shown: hasp keeps texts up to 64 "
		             "KiB.\n");
}

static void print_held(const json_t *held, struct buf *out)
{
	size_t i;
	json_t *row;

	json_array_foreach((json_t *)held, i, row) {
		_cleanup_free_ char *word = mem_printf("%-19s ", hook_row_text(row, "state"));

		print_part(word, hook_row_text(row, "file"), out);
		if (*hook_row_text(row, "why"))
			print_part("    ", hook_row_text(row, "why"), out);
		if (!is_held(row))
			print_difference(row, out);
	}
}

/* What trust does not cover. */
static void print_loose(const json_t *loose, struct buf *out)
{
	size_t i;
	json_t *phrase;

	json_array_foreach((json_t *)loose, i, phrase)
		print_part("Not compared: ", json_string_value(phrase), out);
}

static int list_hooks(struct hooks_command *command)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *rows = hooks_list(command->hooks);
	struct err err = ERR_INIT;
	size_t i;
	json_t *row;

	hide_secrets(rows);
	if (invocation_has(command->invocation, FLAG_JSON)) {
		return output_json(rows, /* indent= */ true, &err) ?
		               CLI_OK : output_fail(&err, CLI_FAILED);
	}
	if (!json_array_size(rows))
		buf_str(&out, "No hooks are configured.\n");
	json_array_foreach(rows, i, row)
		print_row(row, &out);
	if (json_array_size(command->held)) {
		buf_str(&out, "\nFiles of the workspace that commands outside of the sandbox "
		              "name:\n");
		print_held(command->held, &out);
	}
	print_loose(command->loose, &out);
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static void show_wait(void *data, enum severity severity, const char *message)
{
	(void)data;
	(void)severity;
	output_complain(message);
}

static void print_trusted(const struct hooks_command *command, const json_t *untrusted,
                          struct buf *out)
{
	const size_t changed = count_changed(command->held);
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)untrusted, i, one)
		print_part("Trusted: ", json_string_value(one), out);
	json_array_foreach(command->held, i, one) {
		const bool missing = json_is_null(json_object_get(one, "now"));

		if (is_held(one))
			continue;
		print_part(*hook_row_text(one, "why") ? "Not trusted: " :
		           missing                    ? "No longer trusted: " : "Trusted: ",
		           hook_row_text(one, "file"), out);
		if (*hook_row_text(one, "why"))
			print_part("    ", hook_row_text(one, "why"), out);
		print_difference(one, out);
	}
	if (!json_array_size(untrusted) && !changed)
		buf_str(out, "Nothing of this project is left to trust.\n");
	else if (json_array_size(command->held))
		buf_str(out, "These files are compared before each run. What they run or read in "
		             "turn is not.\n");
	if (json_array_size(untrusted) || changed)
		print_loose(command->loose, out);
}

static int trust_hooks(struct hooks_command *command)
{
	const struct file_lock_wait wait = { .max_ms = settings_lock_wait_ms(command->settings),
		                             .notices = { show_wait, NULL } };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *untrusted = hooks_untrusted(command->hooks);
	struct err err = ERR_INIT;

	if (!settings_trusted(command->settings)) {
		err_set(&err, ERR_DENIED_BY_POLICY,
		        "This folder is not trusted, and so its hooks cannot be. \"hasp config "
		        "trust\" comes first.");
		return output_fail(&err, CLI_FAILED);
	}
	print_trusted(command, untrusted, &out);
	if ((json_array_size(untrusted) || count_changed(command->held)) &&
	    !hooks_trust(command->hooks, command->held, &wait, &err))
		return output_fail(&err, CLI_FAILED);
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

int command_run_hooks(const struct invocation *invocation)
{
	const char *action = invocation_positional(invocation, 0);
	struct hooks_command command = { .invocation = invocation };
	struct err err = ERR_INIT;
	int code;

	if (!open_project_hooks(&command, &err))
		code = output_fail(&err, CLI_FAILED);
	else
		code = action && strcmp(action, "trust") == 0 ? trust_hooks(&command) :
		       list_hooks(&command);
	json_decref(command.held);
	json_decref(command.loose);
	hooks_free(command.hooks);
	settings_free(command.settings);
	free(command.project);
	return code;
}
