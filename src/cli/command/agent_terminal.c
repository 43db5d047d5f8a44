/* SPDX-License-Identifier: Apache-2.0 */
/* The program without a command on a terminal: the interactive agent. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/view/output.h"
#include "tui/tui.h"

/* A build server may give a job a terminal, that no one watches (Gemini CLI's rule). */
static bool is_build_server(void)
{
	const char *ci = getenv("CI"), *actions = getenv("GITHUB_ACTIONS");

	return (ci && strcmp(ci, "true") == 0) || (actions && strcmp(actions, "true") == 0);
}

/* The session and its other front. */
struct terminal {
	struct web_page *page;
	struct front_session *session;
	struct front_runner *runner;
};

bool agent_terminal_wanted(const struct invocation *invocation)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       !(invocation->positional_count && is_build_server()) &&
	       !invocation_has(invocation, FLAG_PROMPT) &&
	       !invocation_has(invocation, FLAG_OUTPUT_FORMAT);
}

/* As session_request.workspace. */
static void warn_unconfined(void *data, struct front_session *session)
{
	struct provider *provider = session_provider(session);
	const struct provider_info *info = provider->ops->info(provider);
	_cleanup_free_ char *text = NULL;

	(void)data;
	if (info->level != SANDBOX_PATHS)
		return;
	text = mem_printf("Commands are not confined%s%s", info->weaker_because ? ": " : ".",
	                  info->weaker_because ? info->weaker_because : "");
	notices_say(session_notices(session), SEVERITY_WARNING, text);
}

/* As tui_options.attached. */
static void terminal_attached(void *data, struct front_runner *runner)
{
	struct terminal *terminal = data;

	terminal->runner = runner;
	web_page_attach(terminal->page, runner, terminal->session);
}

/* As tui_options.detached. */
static void terminal_detached(void *data)
{
	struct terminal *terminal = data;

	web_page_detach(terminal->page, terminal->runner);
}

/* Before the terminal shows anything: what is wrong here is an error of the command line. */
static int terminal_show(const struct agent_request *request, struct front_session *session,
                        struct cancel *cancel)
{
	const struct invocation *invocation = request->invocation;
	const char *resumed = invocation_value(invocation, FLAG_RESUME);
	const char *prompt = invocation_value(invocation, FLAG_INTERACTIVE);
	_cleanup_free_ char *words = agent_input_words(invocation);
	struct tui_options options = {
		.session = session, .cancel = cancel, .resume = resumed,
		.prompt = prompt ? prompt : words,
		.browse = invocation_has(invocation, FLAG_RESUME) && !resumed,
		.screen_reader = invocation_has(invocation, FLAG_SCREEN_READER),
		.model = invocation_value(invocation, FLAG_MODEL),
	};
	struct terminal terminal = { .session = session };
	struct err err = ERR_INIT;
	int code;

	if (!session_load(session, &err) || !session_mode_check(session, &err))
		return output_fail(&err, agent_request_exit(session, &err));
	if (!web_page_new(invocation, NULL, &terminal.page, &err) ||
	    !web_page_begin(terminal.page, &err)) {
		web_page_free(terminal.page);
		return output_fail(&err, CLI_USAGE);
	}
	options.web = web_page_commands(terminal.page);
	options.attached = terminal_attached;
	options.detached = terminal_detached;
	options.data = &terminal;
	options.local = !invocation_has(invocation, FLAG_WORKER) &&
	                !places_leave(session_settings(session));
	code = tui_run(&options);
	web_page_free(terminal.page);
	return code;
}

int agent_terminal_run(const struct invocation *invocation)
{
	struct cancel cancel;
	struct agent_request request;
	struct front_session *session;
	struct err err = ERR_INIT;
	int code;

	if (!cancel_init(&cancel, &err))
		return output_fail(&err, AGENT_EXIT_GENERAL);
	agent_request_read(invocation, &request);
	request.session.interactive = request.session.asks_together = true;
	request.session.checkpoints = request.session.asks_extensions = true;
	request.session.workspace = warn_unconfined;
	request.session.cancel = &cancel;
	/* Lines on standard error would tear what stands on a terminal. */
	if (isatty(STDERR_FILENO))
		request.session.trace = NULL;
	session = session_new(&request.session);
	code = terminal_show(&request, session, &cancel);
	session_free(session);
	agent_request_release(&request);
	cancel_release(&cancel);
	return code;
}
