/* SPDX-License-Identifier: Apache-2.0 */
/* hasp hooks: which hooks there are, and trusting those of a project. Runs none of them. */
#include <stdlib.h>
#include <string.h>

#include "agent/setup/policy_load.h"
#include "base/limits.h"
#include "base/mem.h"
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
};

static bool open_project_hooks(struct hooks_command *command, struct err *err)
{
	json_auto_t *problems = json_array(), *unused = json_array();
	json_t *sentence;
	size_t i;

	if (!command_open_project(command->invocation, &command->project, &command->settings, err))
		return false;
	const struct hooks_sources sources = { .settings = command->settings,
		                               .project = command->project, .local = true,
		                               .session_id = "", .transcript_path = "",
		                               .unused = unused };

	command->hooks = setup_load_hooks(&sources, problems);
	command_hooks_problems(problems);
	json_array_foreach(unused, i, sentence)
		output_complain(json_string_value(sentence));
	if (settings_trust_unknown(command->settings))
		output_complain("This folder is not trusted: its own hooks do not count. \"hasp "
		                "config trust\" changes that.");
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

/* A variable's value may be a secret that was put in for $NAME. */
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

/* "BeforeTool  write_file  project  guard  sh guard.sh": a line for each. */
static void print_row(const json_t *row, struct buf *out)
{
	const char *matcher = hook_row_text(row, "matcher"), *name = hook_row_text(row, "name");
	json_t *variable;
	size_t i;

	render_printf(out, "%-19s %s%s\n", hook_row_text(row, "event"),
	              hook_row_text(row, "source"), state_of(row));
	if (*matcher)
		render_printf(out, "    matcher: %s\n", matcher);
	if (*name)
		render_printf(out, "    name:    %s\n", name);
	json_array_foreach(json_object_get(row, "env"), i, variable)
		render_printf(out, "    env:     %s\n", json_string_value(variable));
	render_printf(out, "    command: %s\n", hook_row_text(row, "command"));
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
		buf_str(&out, "There are no hooks.\n");
	json_array_foreach(rows, i, row)
		print_row(row, &out);
	return agent_output_lines(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

static void show_wait(void *data, const char *severity, const char *message)
{
	(void)data;
	(void)severity;
	output_complain(message);
}

static int trust_hooks(struct hooks_command *command)
{
	const struct file_lock_wait wait = { .max_ms = settings_lock_wait_ms(command->settings),
		                             .notice = show_wait };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *untrusted = hooks_untrusted(command->hooks);
	struct err err = ERR_INIT;
	size_t i;
	json_t *key;

	if (!settings_trusted(command->settings)) {
		err_set(&err, ERR_DENIED_BY_POLICY,
		        "This folder is not trusted, and so its hooks cannot be. \"hasp config "
		        "trust\" comes first.");
		return output_fail(&err, CLI_FAILED);
	}
	if (json_array_size(untrusted) && !hooks_trust(command->hooks, &wait, &err))
		return output_fail(&err, CLI_FAILED);
	json_array_foreach(untrusted, i, key)
		render_printf(&out, "Trusted: %s\n", json_string_value(key));
	if (!json_array_size(untrusted))
		buf_str(&out, "Nothing of this project is left to trust.\n");
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
	hooks_free(command.hooks);
	settings_free(command.settings);
	free(command.project);
	return code;
}
