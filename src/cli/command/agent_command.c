/* SPDX-License-Identifier: Apache-2.0 */
/* The program without a command: the agent, headless. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/host/host.h"
#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/command/web_page.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/progress.h"
#include "cli/view/view.h"
#include "config/extensions.h"
#include "config/home.h"
#include "config/servers.h"
#include "data/json.h"
#include "front/command/command.h"
#include "tui/tui.h"

/* ---- what is printed without a run ---- */

/* --list-sessions, --delete-session. */
static int agent_lists_sessions(const struct invocation *invocation)
{
	const char *deleted = invocation_value(invocation, FLAG_DELETE_SESSION);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	_cleanup_free_ char *root = realpath(".", NULL);
	json_auto_t *sessions = NULL;
	struct err err = ERR_INIT;
	struct home *home;
	size_t count;
	bool ok;

	if (!root || !home_open(root, &home, &err)) {
		output_complain(root ? err.message : "The current directory no longer exists.");
		return AGENT_EXIT_GENERAL;
	}
	if (deleted) {
		ok = sessions_delete(home, deleted, &err);
		if (ok)
			buf_printf(&out, "Deleted the session %s.\n", deleted);
	} else {
		sessions = sessions_list(home);
		count = json_array_size(sessions);
		buf_printf(&out, "%zu session%s of this project%s\n", count, count == 1 ? "" : "s",
		           count ? ":" : ".");
		sessions_print(sessions, time(NULL), &out);
		ok = true;
	}
	home_free(home);
	if (ok)
		ok = agent_output_lines(buf_view(&out), &err);
	if (!ok)
		output_complain(err.message);
	return ok ? AGENT_EXIT_OK : AGENT_EXIT_INPUT;
}

/* One a line, as Gemini CLI's flag has it. */
static int agent_lists_extensions(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct agent_request request;
	struct front_session *session;
	struct err err = ERR_INIT;
	const struct extensions *all;
	bool ok;

	agent_request_read(invocation, &request);
	session = session_new(&request.session);
	ok = session_load(session, &err);
	if (ok) {
		all = extensions_installed(session_settings(session));
		buf_str(&out, all->count ? "Installed extensions:\n" :
		                           "No extensions installed.\n");
		for (size_t i = 0; i < all->count; i++)
			render_printf(&out, "- %s (%s)%s\n", all->at[i].name, all->at[i].version,
			              extension_counts(&all->at[i]) ? "" : ", not used here");
		ok = agent_output_lines(buf_view(&out), &err);
	}
	session_free(session);
	agent_request_release(&request);
	return ok ? AGENT_EXIT_OK : output_fail(&err, AGENT_EXIT_GENERAL);
}

/* --version, --man-page. */
static int agent_lists_version(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;

	if (invocation_has(invocation, FLAG_VERSION))
		buf_str(&out, "hasp " HASP_VERSION "\n");
	else
		help_manpage_print(&out);
	return output_text(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* One run. */
struct headless {
	const struct invocation *invocation;
	struct agent_output output;
	bool slash;             /* the prompt is a command */
	struct front_session *session;
	struct agent_web *web;  /* with --web; or NULL */
};

static void early_notice(void *data, enum severity severity, const char *message)
{
	agent_output_notice(data, notices_severity_name(severity), message);
}

/* Ends a run before there is a session. A missing login is then a plain "Error", as in Gemini
 * CLI. */
static struct agent_ending ending_of_error(enum agent_exit code, const struct err *err)
{
	return (struct agent_ending){ .code = code, .message = err->message, .response = "",
		                      .type = cli_agent_exit_type(code == AGENT_EXIT_AUTH ?
		                                                  AGENT_EXIT_GENERAL : code) };
}

/* What a run is called that ends before there is a session: `-o json` always has an id. The caller
 * frees. */
static char *early_session_id(const struct invocation *invocation)
{
	const char *wanted = invocation_value(invocation, FLAG_SESSION_ID);

	return wanted ? mem_strdup(wanted) : record_new_id();
}

/* --- the run -------------------------------------------------------------------------------- */

static struct agent_ending ending_of(const struct agent_outcome *outcome, bool ok,
                                     const struct err *err)
{
	enum agent_exit code = cli_agent_exit_of(outcome->end, ok ? NULL : err);

	if (code == AGENT_EXIT_OK && outcome->missing)
		return (struct agent_ending){ .code = AGENT_EXIT_PERMISSION, .answered = true,
			                      .type = cli_agent_exit_type(AGENT_EXIT_PERMISSION),
			                      .message = outcome->missing,
			                      .response = outcome->text };
	if (code == AGENT_EXIT_OK)
		return (struct agent_ending){ .response = outcome->text };
	return (struct agent_ending){
		.code = code == AGENT_EXIT_CANCELLED && agent_signal() ? 128 + agent_signal() :
		                                                         (int)code,
		.type = cli_agent_exit_type(code), .response = outcome->text,
		.message = !ok ? err->message : outcome->reason ? outcome->reason :
		                                cli_agent_exit_sentence(code),
	};
}

/* Said last, so that it is not overlooked; where the run failed for another reason that is its
 * exit code. */
static void check_record(struct headless *run, struct agent_ending *ending, struct err *err)
{
	if (host_recorded(session_host(run->session), err))
		return;
	if (ending->type) {
		early_notice(&run->output, SEVERITY_ERROR, err->message);
		return;
	}
	ending->code = AGENT_EXIT_RECORD;
	ending->type = cli_agent_exit_type(AGENT_EXIT_RECORD);
	ending->message = err->message;
	ending->answered = true;
}

/* Runs a slash command. Its rows are published like an answer; the caller frees *ret_rows. */
static void run_slash(struct headless *run, struct span line, struct command_result *ret,
                      char **ret_rows)
{
	const struct command_context context = {
		.host = session_host(run->session), .settings = session_settings(run->session),
		.can = 1u << COMMAND_SEND, .local = session_is_local(run->session), .waits = true,
	};
	_cleanup_buf_ struct buf rows = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *message = NULL;

	command_run(&context, line, ret);
	for (size_t i = 0; i < ret->rows.count; i++) {
		buf_str(&rows, i ? "\n" : "");
		row_plain(&ret->rows.at[i], &rows);
	}
	message = json_pack("{s:o}", "text", json_text(buf_view(&rows)));
	if (ret->ok && rows.len)
		bus_publish(host_bus(session_host(run->session)), BUS_CONTENT, message);
	*ret_rows = mem_dup(rows.len ? rows.data : "", rows.len);
}

/* What is piped in and what is said, or what a command makes of that; what it says itself is the
 * outcome's text. False: the command failed, *err. */
static bool run_said(struct headless *run, const struct agent_input *input,
                        struct agent_outcome *outcome, bool *ret_ok, struct err *err)
{
	const struct span all = buf_view(&input->text), piped = span_head(all, input->piped_len);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct command_result slash = { .ok = true };
	struct host *host = session_host(run->session);
	_cleanup_free_ char *rows = NULL;

	if (run->slash)
		run_slash(run, agent_input_said(input), &slash, &rows);
	if (!slash.ok) {
		*ret_ok = err_set(err, ERR_INVALID_ARGUMENT, "%s", rows);
	} else if (run->slash && slash.then == COMMAND_SEND) {
		buf_span(&text, piped);
		buf_str(&text, slash.plain ? slash.text : "");
		*ret_ok = host_prompt(host, buf_view(&text),
		                      span_str(slash.plain ? "" : slash.text), outcome, err);
	} else if (run->slash) {
		*outcome = (struct agent_outcome){ .text = mem_steal(&rows) };
	} else {
		*ret_ok = host_prompt(host, piped, agent_input_said(input), outcome, err);
	}
	command_result_release(&slash);
	return !run->slash || outcome->text;
}

static int run_prompt(struct headless *run, const struct agent_input *input)
{
	const struct span all = buf_view(&input->text);
	struct host *host = session_host(run->session);
	struct agent_outcome outcome = { 0 };
	struct err err = ERR_INIT, unrecorded = ERR_INIT;
	struct agent_ending ending;
	json_auto_t *stats = NULL, *stream_stats = NULL;
	struct timespec from, to;
	bool ok = true, ran;

	agent_output_listen(&run->output, host_bus(host),
	                    agent_topic(agent_history(host_facts(host).agent)));
	agent_output_begin(&run->output, host_facts(host).session_id,
	                   model_plain_id(host_facts(host).model), all);
	clock_gettime(CLOCK_MONOTONIC, &from);
	ran = run_said(run, input, &outcome, &ok, &err);
	clock_gettime(CLOCK_MONOTONIC, &to);
	stats = agent_stats(host_facts(host).agent);
	stream_stats = agent_stream_stats(
		host_facts(host).agent, (uint64_t)((to.tv_sec - from.tv_sec) * 1000 +
	                                          (to.tv_nsec - from.tv_nsec) / 1000000));
	ending = ran ? ending_of(&outcome, ok, &err) : ending_of_error(AGENT_EXIT_INPUT, &err);
	ending.stats = stats;
	ending.stream_stats = stream_stats;
	/* Of an answer it was a notice already. */
	if (outcome.reason && !ending.type && outcome.end != AGENT_ANSWERED)
		early_notice(&run->output, SEVERITY_WARNING, outcome.reason);
	check_record(run, &ending, &unrecorded);
	agent_output_end(&run->output, &ending);
	agent_outcome_release(&outcome);
	return run->output.closed ? AGENT_EXIT_OK : ending.code;
}

/* False: standard output failed for another reason than a closed reader. */
static bool check_output(const struct headless *run)
{
	struct err err = ERR_INIT;

	if (!run->output.failed)
		return true;
	err_set_errno(&err, run->output.failed, "Cannot write standard output");
	output_complain(err.message);
	return false;
}

static bool has_servers(const struct settings *settings)
{
	json_auto_t *ignored = json_array(), *rows = servers_configured(settings, ignored);

	return json_array_size(rows) > 0;
}

/* "/NAME" is a command; "//NAME" is "/NAME" for the model. */
static bool check_prompt(struct headless *run, struct agent_input *input, struct err *err)
{
	struct settings *settings = session_settings(run->session);
	const struct span said = agent_input_said(input);
	char *from = input->text.data + input->piped_len;
	const struct command_context context = {
		.settings = settings,
		.local = !invocation_has(run->invocation, FLAG_WORKER) && !places_leave(settings),
	};
	size_t skip;

	/* Only servers know their prompts: an unknown name is refused after asking them. */
	run->slash = command_exists(&context, said) ||
	             (command_is(said) && has_servers(settings));
	if (run->slash)
		return true;
	if (!prepare_check_prompt(said, &skip, err))
		return false;
	memmove(from, from + skip, said.len - skip + 1); /* with its NUL */
	input->text.len -= skip;
	return true;
}

/* How a person who watches sees it. */
static void headless_watch(struct headless *run)
{
	const struct settings *settings = session_settings(run->session);
	struct theme theme;

	if (tui_theme_of(settings, &theme, session_notices(run->session)))
		progress_set_theme(run->output.progress, &theme);
	if (invocation_has(run->invocation, FLAG_SCREEN_READER) ||
	    invocation_has(run->invocation, FLAG_DEBUG) ||
	    settings_bool(settings, "ui.accessibility.screenReader", false))
		progress_set_plain(run->output.progress);
}

/* As session_request.workspace. */
static void headless_workspace(void *data, struct front_session *session)
{
	(void)data;
	confinement_warn(session_provider(session));
}

static bool headless_open(struct headless *run, const struct agent_request *request,
                          struct err *err)
{
	if (invocation_has(run->invocation, FLAG_WEB))
		return agent_web_open(request, run->session,
		                      &(struct notices){ early_notice, &run->output }, &run->web,
		                      err);
	return session_open(run->session, request->resume, err);
}

/* The prompt of a run on its session's thread. */
struct headless_prompt {
	struct headless *run;
	const struct agent_input *input;
	int code;
};

static void headless_run_prompt(void *data)
{
	struct headless_prompt *prompt = data;

	prompt->code = run_prompt(prompt->run, prompt->input);
}

/* The exit code. */
static int headless_prompt(struct headless *run, const struct agent_input *input)
{
	struct headless_prompt prompt = { run, input, AGENT_EXIT_GENERAL };
	struct err err = ERR_INIT;

	if (!run->web)
		headless_run_prompt(&prompt);
	else if (!agent_web_run(run->web, headless_run_prompt, &prompt, &err))
		output_complain(err.message);
	return prompt.code;
}

/* Opens all that a run needs; false with how it ends instead. */
static bool headless_prepare(struct headless *run, struct agent_request *request,
                             struct agent_input *input, struct agent_ending *ending,
                             struct err *err)
{
	const struct settings *settings;

	if (!session_load(run->session, err)) {
		*ending = ending_of_error(agent_request_exit(run->session, err), err);
		return false;
	}
	settings = session_settings(run->session);
	agent_signals_limit(settings_integer(settings, "hasp.endSeconds", AGENT_END_SECONDS));
	run->output.format = agent_input_format(run->invocation, settings);
	headless_watch(run);
	if (!check_prompt(run, input, err)) {
		*ending = ending_of_error(AGENT_EXIT_INPUT, err);
		return false;
	}
	if (run->output.raw && run->output.terminal && run->output.format == AGENT_TEXT &&
	    !invocation_has(run->invocation, FLAG_ACCEPT_RAW_OUTPUT))
		early_notice(&run->output, SEVERITY_WARNING,
		             "--raw-output: what the model says may act on this terminal. "
		             "--accept-raw-output-risk leaves out this warning.");
	session_set_watched(run->session,
	                    run->output.progress && run->output.format == AGENT_TEXT);
	session_set_keyless(run->session, run->slash);
	if (headless_open(run, request, err))
		return true;
	*ending = ending_of_error(agent_request_exit(run->session, err), err);
	return false;
}

static int run_agent(const struct invocation *invocation, struct agent_input *input)
{
	/* The handlers of signals outlive this function. */
	static struct cancel cancel;
	struct headless run = { .invocation = invocation };
	struct agent_ending ending = { 0 };
	struct agent_request request;
	struct err err = ERR_INIT;
	int code;

	if (!cancel_init(&cancel, &err))
		return output_fail(&err, AGENT_EXIT_GENERAL);
	agent_signals_install(&cancel);
	agent_output_open(&run.output, agent_input_format(invocation, NULL), &cancel);
	run.output.raw = invocation_has(invocation, FLAG_RAW_OUTPUT);
	run.output.session_id = early_session_id(invocation);
	agent_request_read(invocation, &request);
	request.session.cancel = &cancel;
	request.session.workspace = headless_workspace;
	/* A page answers what would be refused otherwise. */
	request.session.interactive = request.session.checkpoints =
		invocation_has(invocation, FLAG_WEB);
	run.session = session_new(&request.session);
	session_set_notices(run.session, &(struct notices){ early_notice, &run.output });
	if (headless_prepare(&run, &request, input, &ending, &err)) {
		code = headless_prompt(&run, input);
	} else {
		agent_output_end(&run.output, &ending);
		code = ending.code;
	}
	agent_web_close(run.web);
	session_free(run.session);
	agent_request_release(&request);
	if (!check_output(&run))
		code = AGENT_EXIT_GENERAL;
	agent_output_close(&run.output);
	return code;
}

/* No prompt and no command: prints the usage. */
static int show_usage(void)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	help_brief(&out);
	output_stderr(buf_view(&out));
	return CLI_USAGE;
}

/* Reports a failure before anything is opened in the same format as a failed run. */
static int headless_refuse(const struct invocation *invocation, enum agent_exit code,
                           const struct err *err)
{
	struct agent_ending ending = ending_of_error(code, err);
	struct agent_output output;

	agent_output_open(&output, agent_input_format(invocation, NULL), NULL);
	output.session_id = early_session_id(invocation);
	agent_output_end(&output, &ending);
	agent_output_close(&output);
	return code;
}

int command_run_context(const struct invocation *invocation)
{
	struct agent_input input = AGENT_INPUT_INIT;
	const char *action = invocation_positional(invocation, 0);
	struct err err = ERR_INIT;
	int code;

	if (invocation->positional_count > 1 && strcmp(action, "list") == 0) {
		err_set(&err, ERR_INVALID_ARGUMENT, "hasp context list takes no arguments.");
		return output_fail(&err, CLI_USAGE);
	}
	buf_str(&input.text, "/context");
	for (size_t i = 0; i < invocation->positional_count; i++)
		buf_printf(&input.text, " %s", invocation->positionals[i]);
	code = run_agent(invocation, &input);
	buf_release(&input.text);
	/* The agent's codes are about its runs, and this is none; signals end both. */
	return code > CLI_USAGE && code < 128 ? CLI_FAILED : code;
}

int command_run_root(const struct invocation *invocation)
{
	struct agent_input input = AGENT_INPUT_INIT;
	struct err err = ERR_INIT;
	enum agent_exit why;
	int code;

	if (invocation_has(invocation, FLAG_VERSION) || invocation_has(invocation, FLAG_MAN_PAGE))
		return agent_lists_version(invocation);
	if (invocation_has(invocation, FLAG_LIST_SESSIONS) ||
	    invocation_has(invocation, FLAG_DELETE_SESSION)) {
		if (!invocation->positional_count)
			return agent_lists_sessions(invocation);
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "--%s takes no argument: \"%.100s\". Nothing was "
		        "done.", invocation_has(invocation, FLAG_LIST_SESSIONS) ?
		        "list-sessions" :
		        "delete-session SESSION", invocation->positionals[0]);
		return output_fail(&err, CLI_USAGE);
	}
	if (invocation_has(invocation, FLAG_LIST_EXTENSIONS))
		return agent_lists_extensions(invocation);
	if (!agent_input_check_flags(invocation, &why, &err))
		return headless_refuse(invocation, why, &err);
	if (invocation_has(invocation, FLAG_ACP))
		return command_run_acp(invocation);
	if (agent_terminal_wanted(invocation))
		return agent_terminal_run(invocation);
	if (invocation_has(invocation, FLAG_INTERACTIVE)) {
		err_set(&err, ERR_INVALID_ARGUMENT, "%s; -p runs a prompt and ends.",
		        isatty(STDIN_FILENO) ?
		                "--prompt-interactive needs a terminal to go on with" :
		                "The --prompt-interactive flag cannot be used when input is piped "
		                "from stdin: it needs a terminal to go on with");
		return headless_refuse(invocation, AGENT_EXIT_INPUT, &err);
	}
	if (!invocation->flag_count && !invocation->positional_count && isatty(STDIN_FILENO))
		return show_usage();
	if (!agent_input_read(invocation, &input, &err)) {
		code = headless_refuse(invocation, AGENT_EXIT_INPUT, &err);
	} else if (!input.text.len) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "No prompt given. Use -p, arguments, or standard input.");
		code = headless_refuse(invocation, AGENT_EXIT_INPUT, &err);
	} else {
		code = run_agent(invocation, &input);
	}
	buf_release(&input.text);
	return code;
}
