/* SPDX-License-Identifier: Apache-2.0 */
/* Whether bash can read a command at all.  One that it cannot is a mistake for the model to mend,
 * and no question for the user.  bash itself runs what stands before the mistake.
 *
 * What hasp's own reader takes is not looked at further.  What it does not take may be unusual, so
 * bash reads it, too, and runs nothing of it (-n): without extended patterns, which are off in a
 * command, and with them, since its first lines may switch them on. */
#include <string.h>

#include "base/name.h"
#include "base/text.h"
#include "shell/analysis.h"
#include "tool/builtin/arguments.h"
#include "tool/builtin/private.h"
#include "worker/environment.h"
#include "worker/whole.h"

enum {
	SYNTAX_MS = 10000,
	SYNTAX_BYTES = 64 << 10,
	SAID_MAX = 300,
	SHOWN_MAX = 60,
};

/* Its one argument is the command. */
static const char bash_reads[] =
	"LC_ALL=C.UTF-8; export LC_ALL\n"
	"said=$(bash -n -c \"$1\" 2>&1) || bash -O extglob -n -c \"$1\" 2>/dev/null ||\n"
	"{ printf %s \"$said\"; exit 1; }";

/* NULL: hasp's reader has nothing against the command itself; strings in it are read later. */
static const struct shell_problem *first_problem(const struct shell_analysis *analysis)
{
	const struct shell_problem *first = NULL;

	for (size_t i = 0; i < analysis->problem_count; i++) {
		const struct shell_problem *one = &analysis->problems[i];

		if (one->kind == SHELL_PROBLEM_SYNTAX && one->script == 0 &&
		    (!first || one->offset < first->offset))
			first = one;
	}
	return first;
}

/* What bash says against it; false: nothing, or it could not be asked. */
static bool bash_refuses(struct session *session, const char *command, struct buf *said)
{
	const char *const argv[] = { "bash", "-c", bash_reads, "bash", command, NULL };
	char **env = session_environment(session, false);
	const struct whole_run request = { .argv = argv, .env = (const char *const *)env,
		                           .max_bytes = SYNTAX_BYTES, .timeout_ms = SYNTAX_MS,
		                           .cancel = session->hooks.cancel };
	struct whole_run_result done = { 0 };
	struct err ignored = ERR_INIT;
	bool refuses = whole_run(session->provider, &request, &done, &ignored) && !done.too_much &&
	               done.end.why == RUN_EXITED && done.end.exit_code == 1;
	struct span line = span_trim(buf_view(&done.out));
	const char *end = line.len ? memchr(line.data, '\n', line.len) : NULL;

	if (end)
		line = span_head(line, (size_t)(end - line.data));
	if (span_starts(line, SPAN("bash: -c: ")))
		line = span_skip(line, strlen("bash: -c: "));
	name_show(said, utf8_head(line, SAID_MAX));
	refuses = refuses && said->len;
	whole_run_result_release(&done);
	environment_free(env);
	return refuses;
}

static void set_syntax_error(struct span command, const struct shell_problem *problem,
                             struct span said, struct err *err)
{
	const size_t offset = problem->offset < command.len ? problem->offset : command.len;
	const char *end = memchr(command.data + offset, '\n', command.len - offset);
	const size_t left = end ? (size_t)(end - command.data) - offset : command.len - offset;
	_cleanup_buf_ struct buf shown = BUF_INIT(8 * SHOWN_MAX);
	size_t line = 1, column = 1;

	for (size_t i = 0; i < offset; i++) {
		column = command.data[i] == '\n' ? 1 : column + 1;
		line += command.data[i] == '\n';
	}
	name_show(&shown, utf8_head(span_of(command.data + offset, left), SHOWN_MAX));
	err_set(err, ERR_INVALID_ARGUMENT,
	        "Syntax error: bash cannot read the command, and nothing of it was run. bash: "
	        "%.*s. See line %zu, column %zu%s%.*s", (int)said.len, said.data, line, column,
	        shown.len ? ": " : ".", (int)shown.len, shown.len ? shown.data : "");
}

bool builtin_syntax_check(struct session *session, const json_t *arguments, struct err *err)
{
	const char *command = argument_str(arguments, "command");
	const struct span text = argument_span(arguments, "command");
	_cleanup_shell_analysis_ struct shell_analysis analysis = { 0 };
	_cleanup_buf_ struct buf said = BUF_INIT(8 * SAID_MAX);
	const struct shell_problem *problem;

	if (!command || !session->provider->ops->run)
		return true;
	shell_analyse(text, &analysis);
	problem = first_problem(&analysis);
	if (!problem || !bash_refuses(session, command, &said))
		return true;
	set_syntax_error(text, problem, buf_view(&said), err);
	return false;
}
