/* SPDX-License-Identifier: Apache-2.0 */
/* `hasp acp`, also `hasp --acp`: the agent of an editor. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "acp/acp.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/output.h"
#include "config/settings.h"
#include "model/choose.h"

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

/* A line of the terminal that is not shown; what was typed before it is asked for does not count.
 * False: there is none. */
static bool acp_read_key(const char *ask, struct buf *ret)
{
	_cleanup_free_ char *line = NULL;
	struct termios terminal, silent;
	const bool hides = tcgetattr(STDIN_FILENO, &terminal) == 0;
	size_t size = 0;
	ssize_t len;

	if (hides) {
		silent = terminal;
		silent.c_lflag &= ~(tcflag_t)ECHO;
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent);
	}
	output_stderr(span_str(ask));
	len = getline(&line, &size, stdin);
	if (hides)
		tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal);
	if (len > 0)
		buf_span(ret, span_trim(span_of(line, (size_t)len)));
	if (line)
		explicit_bzero(line, size);
	return ret->len > 0;
}

static bool acp_login_with(const struct invocation *invocation, const struct settings *settings,
                           struct err *err)
{
	_cleanup_free_ char *provider =
		model_provider_of(settings, invocation_value(invocation, FLAG_MODEL));
	_cleanup_free_ char *ask = mem_printf("API key for %s (it is not shown): ", provider);
	_cleanup_buf_ struct buf key = BUF_INIT(LIMIT_ENV_FILE_BYTES);
	_cleanup_free_ char *where = NULL, *said = NULL;
	bool ok;

	if (!model_provider_has_key(provider))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The model's provider takes no key of hasp's.");
	if (!acp_read_key(ask, &key))
		return err_set(err, ERR_INVALID_ARGUMENT, "No key was given.");
	ok = model_key_keep(settings, provider, key.data, &where, err);
	explicit_bzero(key.data, key.len);
	if (!ok)
		return false;
	said = mem_printf("\nThe key is in %s.\n", where);
	output_stderr(span_str(said));
	return true;
}

/* For an editor that runs this command in a terminal: "terminal" of authMethods. */
static int acp_login(const struct invocation *invocation)
{
	const struct settings_options options = {
		.project = "/", .ignore_env_files = invocation_has(invocation, FLAG_IGNORE_ENV),
	};
	struct settings *settings = NULL;
	struct err err = ERR_INIT;
	const bool ok = settings_load(&options, &settings, &err) &&
	                acp_login_with(invocation, settings, &err);

	settings_free(settings);
	return ok ? CLI_OK : output_fail(&err, CLI_FAILED);
}

int command_run_acp(const struct invocation *invocation)
{
	struct acp_options options = { .read_fd = STDIN_FILENO, .write_fd = STDOUT_FILENO };
	struct agent_request request;
	struct web_page *page = NULL;
	struct err err = ERR_INIT;
	int signal = 0;
	bool ok;

	if (!acp_command_check(invocation, &err))
		return output_fail(&err, CLI_USAGE);
	if (invocation_has(invocation, FLAG_LOGIN))
		return acp_login(invocation);
	if (isatty(STDIN_FILENO))
		output_stderr(SPAN("hasp waits for an editor's messages on standard input, a line "
		                   "of JSON each; docs/editors.md has the settings of editors. "
		                   "Ctrl-D ends it.\n"));
	agent_request_read(invocation, &request);
	options.request = &request.session;
	options.attached = web_page_attach;
	options.detached = web_page_detach;
	ok = web_page_new(invocation, NULL, &page, &err) && web_page_begin(page, &err);
	options.data = page;
	ok = ok && acp_serve(&options, &signal, &err);
	web_page_free(page);
	agent_request_release(&request);
	if (!ok)
		return output_fail(&err, CLI_FAILED);
	return signal ? 128 + signal : CLI_OK;
}
