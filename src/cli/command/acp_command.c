/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp acp`, also `hasp --acp`: the agent of an editor. */
#include <unistd.h>

#include "acp/acp.h"
#include "base/mem.h"
#include "base/span.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"

/* Flags of a run that an editor gives in its own way, or that are about a terminal: only with --acp
 * can they be on one command line with it. */
static bool acp_command_check(const struct invocation *invocation, struct err *err)
{
	static const struct {
		enum flag_id id;
		const char *name;
	} others[] = {
		{ FLAG_PROMPT, "prompt" },         { FLAG_INTERACTIVE, "prompt-interactive" },
		{ FLAG_RESUME, "resume" },         { FLAG_SESSION_ID, "session-id" },
		{ FLAG_WORKER, "worker" },         { FLAG_WORKER_ROOT, "worker-root" },
		{ FLAG_RAW_OUTPUT, "raw-output" }, { FLAG_OUTPUT_FORMAT, "output-format" },
		{ FLAG_SESSION_FILE, "session-file" }, { FLAG_SCREEN_READER, "screen-reader" },
	};

	if (invocation->positional_count)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--acp takes no prompt: the editor sends prompts.");
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (invocation_has(invocation, others[i].id))
			return err_set(err, ERR_INVALID_ARGUMENT, "--acp and --%s exclude each "
			               "other.", others[i].name);
	if (invocation_has(invocation, FLAG_YOLO) && invocation_has(invocation, FLAG_APPROVAL_MODE))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "--yolo and --approval-mode exclude each other.");
	return true;
}

int command_run_acp(const struct invocation *invocation)
{
	struct acp_options options = { .read_fd = STDIN_FILENO, .write_fd = STDOUT_FILENO };
	struct agent_request request;
	struct err err = ERR_INIT;
	int signal = 0;
	bool ok;

	if (!acp_command_check(invocation, &err))
		return output_fail(&err, CLI_USAGE);
	if (isatty(STDIN_FILENO))
		output_stderr(SPAN("hasp waits for an editor's messages on standard input, a line "
		                   "of JSON each; docs/editors.md has the settings of editors. "
		                   "Ctrl-D ends it.\n"));
	agent_request_read(invocation, &request);
	options.request = &request.session;
	ok = acp_serve(&options, &signal, &err);
	agent_request_release(&request);
	if (!ok)
		return output_fail(&err, CLI_FAILED);
	return signal ? 128 + signal : CLI_OK;
}
