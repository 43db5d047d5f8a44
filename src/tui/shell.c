/* SPDX-License-Identifier: Apache-2.0 */
/* "!" commands: run by the tool that the model has for them, in its sandbox, without a question,
 * for it is the user's own command.  What it wrote is shown, and sent to the model with the next
 * prompt. */
#include <stdlib.h>

#include "agent/session/sessions.h"
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
#include "worker/job/job.h"

enum {
	SHELL_REPORTED_MAX = 16 << 10, /* of one command's output, to the model */
	WORDS_MS = 3000, /* for a completion */
};

struct shell_job {
	struct runner_job job;
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

/* Runs a command line in the sandbox of the model's commands, by this provider. `hooks->output` may
 * be NULL; `timeout_ms` 0: the tool's own. The result, a new reference. */
static json_t *shell_run_line(const struct settings *settings, const struct tui_opened *opened,
                              struct provider *provider, const struct call_hooks *hooks,
                              struct span line, unsigned timeout_ms)
{
	const struct session *host = host_facts(opened->host).session;
	json_auto_t *arguments = json_pack("{s:o}", "command", json_text(line));
	struct command_env env = { 0 };
	struct session session;
	json_t *result;

	if (timeout_ms)
		json_object_set_new(arguments, "timeout_ms", json_integer(timeout_ms));
	setup_command_env_init(&env, settings);
	session_init(&session, provider);
	session.jobs = host->jobs;
	session.terminal = hooks->output ? host->terminal : session.terminal;
	session.hooks = *hooks;
	if (!env.usual)
		session.environment = &env.options;
	result = tool_call(&session, tool_name(TOOL_RUN_SHELL_COMMAND), arguments);
	session_release(&session);
	setup_command_env_release(&env);
	return result;
}

/* On the agent's thread. */
static void shell_run(struct runner_job *job, const struct tui_opened *opened)
{
	struct shell_job *shell = (struct shell_job *)job;
	const struct call_hooks hooks = { .call = shell->id, .output = shell_output, .data = shell,
		                          .cancel = runner_cancel(shell->app->runner) };
	const uint64_t from = clock_monotonic_ms();
	bool ok;

	if (!opened->host)
		return;
	runner_report(shell->app->runner, BUS_TOOL_CALL, shell_call(shell));
	shell->result = shell_run_line(shell->app->settings, opened, opened->provider, &hooks,
	                               span_str(shell->command), 0);
	ok = json_is_true(json_object_get(shell->result, "success"));
	runner_report(shell->app->runner, BUS_TOOL_RESULT,
	              json_pack("{s:s, s:s, s:s, s:O, s:s, s:I}", "callId", shell->id, "toolName",
	                        tool_name(TOOL_RUN_SHELL_COMMAND), "status",
	                        ok ? "success" : "error", "result", shell->result,
	                        "display", "", "durationMs",
	                        (json_int_t)(clock_monotonic_ms() - from)));
}

static void shell_done(struct runner_job *job)
{
	struct shell_job *shell = (struct shell_job *)job;
	struct app *app = shell->app;
	const struct span output = json_span(json_object_get(shell->result, "output"));
	const json_t *code = json_object_get(shell->result, "exit_code");

	if (shell->result) {
		buf_printf(&app->queue.attached, SESSION_COMMAND_NOTE "%s\n\n",
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

/* ---- completion -------------------------------------------------------------- */

/* What bash would complete, one a line: the names of commands, which runs none ... */
static const char names_script[] = "compgen -c -- %s 2>/dev/null | sort -u | head -n 1000\n";

/* ... and what stands at the end of $line $word, by bash-completion, where that is installed.  It
 * runs the commands that are completed, and these run the project's code, so it ends first where
 * the level turned out to be weaker than the planned one. */
static const char words_script[] =
	"case $HASP_LEVEL in full|landlock) ;; *) exit;; esac\n"
	"exec 2>/dev/null\n"
	"line=%s word=%s\n"
	"read -ra COMP_WORDS <<<\"$line\"\n"
	"COMP_CWORD=${#COMP_WORDS[@]}\n"
	". /usr/share/bash-completion/bash_completion || exit\n"
	"name=${COMP_WORDS[0]##*/}\n"
	"COMP_WORDS+=(\"$word\") COMP_LINE=\"$line $word\" COMP_POINT=${#COMP_LINE}\n"
	"complete -p \"$name\" >/dev/null || _completion_loader \"$name\" || _comp_load \"$name\"\n"
	"how=$(complete -p \"$name\"); how=${how##*-F }; how=${how%%%% *}\n"
	"declare -F \"$how\" >/dev/null || exit\n"
	"\"$how\" \"$name\" \"$word\" \"${COMP_WORDS[COMP_CWORD-1]}\"\n"
	"printf '%%s\\n' \"${COMPREPLY[@]}\" | head -n 500\n";

/* A word of the shell's: in single quotes. The caller frees. */
static char *shell_quoted(const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	buf_char(&out, '\'');
	for (; *text; text++)
		buf_str(&out, *text == '\'' ? "'\\''" : (char[]){ *text, '\0' });
	buf_char(&out, '\'');
	return buf_steal(&out);
}

/* A second provider of the workspace: without a network, with nothing that can be written but a
 * temporary folder that is removed, and without what the session was allowed.  NULL: this provider
 * has no such thing. */
static struct provider *shell_reader(struct provider *provider)
{
	_cleanup_free_ const char **roots = NULL;
	struct outside_request request = { 0 };
	struct provider *reader = NULL;
	struct err ignored = ERR_INIT;
	const char *root;
	size_t cap = 0;

	while ((root = provider->ops->root(provider, request.folder_count))) {
		roots = mem_grow(roots, &cap, request.folder_count + 1, sizeof(*roots));
		roots[request.folder_count++] = root;
	}
	request.folders = roots;
	if (!provider->ops->outside ||
	    !provider->ops->outside(provider, &request, &reader, &ignored))
		return NULL;
	return reader;
}

/* Names of commands by the session's provider, arguments by a reader. */
static json_t *words_run(const struct tui_opened *opened, const struct settings *settings,
                         const char *script, bool names, const struct cancel *cancel)
{
	const struct call_hooks hooks = { .cancel = cancel };
	struct provider *reader = names ? NULL : shell_reader(opened->provider);
	json_t *result;

	if (!names && !reader)
		return NULL;
	result = shell_run_line(settings, opened, names ? opened->provider : reader, &hooks,
	                        span_str(script), WORDS_MS);
	if (reader)
		jobs_end_of(host_facts(opened->host).session->jobs, reader);
	provider_free(reader);
	return result;
}

json_t *tui_shell_words(const struct tui_opened *opened, const struct settings *settings,
                        const json_t *asks, const struct cancel *cancel)
{
	const char *before = json_string_value(json_object_get(asks, "bash"));
	const char *typed = json_string_value(json_object_get(asks, "word"));
	_cleanup_free_ char *line = shell_quoted(before), *word = shell_quoted(typed);
	_cleanup_free_ char *script = NULL;
	json_auto_t *result = NULL;
	json_t *values = json_array();
	struct span rest, one;

	if (!line || !word)
		return values;
	script = *before ? mem_printf(words_script, line, word) : mem_printf(names_script, word);
	result = words_run(opened, settings, script, !*before, cancel);
	rest = json_span(json_object_get(result, "output"));
	while (line_next(&rest, &one)) {
		const struct span value = span_trim(line_body(one));

		if (value.len)
			json_array_append_new(values, json_text(value));
	}
	return values;
}
