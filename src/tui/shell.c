/* SPDX-License-Identifier: Apache-2.0 */
/* "!" commands: run by the tool that the model has for them, in its sandbox, without a question,
 * for it is the user's own command.  What it wrote is shown, and sent to the model with the next
 * prompt. */
#include <stdlib.h>

#include "agent/setup/prepare.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/tool.h"
#include "tui/app.h"
#include "tui/runner.h"
#include "tui/send.h"
#include "tui/tui.h"

enum { SHELL_REPORTED_MAX = 16 << 10 }; /* of one command's output, to the model */

struct shell_job {
	struct job job;
	struct app *app;
	char *command;      /* owned */
	char id[24];
	json_t *result;     /* what the tool returned */
};

static void shell_output(void *data, enum run_stream stream, struct span bytes)
{
	struct shell_job *shell = data;

	(void)stream;
	runner_report(shell->app->runner, BUS_TOOL_OUTPUT,
	              json_pack("{s:s, s:o}", "callId", shell->id, "text", json_text(bytes)));
}

static json_t *shell_call(const struct shell_job *shell)
{
	return json_pack("{s:s, s:s, s:s, s:{s:o}, s:o}", "callId", shell->id, "toolName",
	                 tool_name(TOOL_RUN_SHELL_COMMAND), "title", "Run", "arguments", "command",
	                 json_text(span_str(shell->command)), "description",
	                 json_text(span_str(shell->command)));
}

static json_t *shell_run_tool(struct shell_job *shell, const struct tui_opened *opened)
{
	const struct session *host = host_facts(opened->host).session;
	json_auto_t *arguments = json_pack("{s:o}", "command", json_text(span_str(shell->command)));
	struct command_env env = { 0 };
	struct session session;
	json_t *result;

	setup_command_env_init(&env, shell->app->settings);
	session_init(&session, opened->provider);
	session.jobs = host->jobs;
	session.terminal = host->terminal;
	session.hooks.call = shell->id;
	if (!env.usual)
		session.environment = &env.options;
	session.hooks.output = shell_output;
	session.hooks.cancel = runner_cancel(shell->app->runner);
	session.hooks.data = shell;
	result = tool_call(&session, tool_name(TOOL_RUN_SHELL_COMMAND), arguments);
	session_release(&session);
	setup_command_env_release(&env);
	return result;
}

/* On the agent's thread. */
static void shell_run(struct job *job, const struct tui_opened *opened)
{
	struct shell_job *shell = (struct shell_job *)job;
	const uint64_t from = clock_monotonic_ms();
	bool ok;

	if (!opened->host)
		return;
	runner_report(shell->app->runner, BUS_TOOL_CALL, shell_call(shell));
	shell->result = shell_run_tool(shell, opened);
	ok = json_is_true(json_object_get(shell->result, "success"));
	runner_report(shell->app->runner, BUS_TOOL_RESULT,
	              json_pack("{s:s, s:s, s:s, s:O, s:s, s:I}", "callId", shell->id, "toolName",
	                        tool_name(TOOL_RUN_SHELL_COMMAND), "status",
	                        ok ? "success" : "error", "result", shell->result,
	                        "display", "", "durationMs",
	                        (json_int_t)(clock_monotonic_ms() - from)));
}

static void shell_done(struct job *job)
{
	struct shell_job *shell = (struct shell_job *)job;
	struct app *app = shell->app;
	const struct span output = json_span(json_object_get(shell->result, "output"));
	const json_t *code = json_object_get(shell->result, "exit_code");

	if (shell->result) {
		buf_printf(&app->queue.attached, "The user ran this command:\n\n$ %s\n\n",
		           shell->command);
		buf_span(&app->queue.attached, utf8_head(output, SHELL_REPORTED_MAX));
		if (output.len > SHELL_REPORTED_MAX)
			buf_str(&app->queue.attached, "\n[cut]");
		if (json_is_integer(code) && json_integer_value(code))
			buf_printf(&app->queue.attached, "\n(exit code %d)",
			           (int)json_integer_value(code));
		buf_str(&app->queue.attached, "\n\n");
	}
	json_decref(shell->result);
	free(shell->command);
	free(shell);
}

void tui_shell(struct app *app, struct span command)
{
	static unsigned count;
	struct shell_job *shell = mem_alloc(1, sizeof(*shell));

	shell->job.run = shell_run;
	shell->job.done = shell_done;
	shell->app = app;
	shell->command = mem_dup(command.data, command.len);
	snprintf(shell->id, sizeof(shell->id), "user-%u", ++count);
	runner_job(app->runner, &shell->job);
}
