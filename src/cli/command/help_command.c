/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp help COMMAND` and `hasp completion SHELL`: texts computed from the tables. */
#include "base/limits.h"
#include "cli/command/commands.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"

int command_run_help(const struct invocation *invocation)
{
	const char *name = invocation_positional(invocation, 0);
	const struct command *command = name ? command_find(name) : command_root();
	struct err err = ERR_INIT;

	if (!command && !command_unknown(name, &err)) {
		return output_fail(&err, CLI_USAGE);
	}
	return help_show_command(command);
}

int command_run_completion(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	const char *name = invocation_positional(invocation, 0);
	struct err err = ERR_INIT;

	if (!name) {
		output_complain("Name the shell: hasp completion bash, zsh or fish.");
		return CLI_USAGE;
	}
	completion_print(name, &out);
	return output_text(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}
