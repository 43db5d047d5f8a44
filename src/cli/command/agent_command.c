/* SPDX-License-Identifier: Apache-2.0 */
/* The program without a command: the agent, headless. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/host/host.h"
#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/command/commands.h"
#include "cli/command/private.h"
#include "cli/options/command.h"
#include "cli/options/invocation.h"
#include "cli/view/agent_output.h"
#include "cli/view/output.h"
#include "cli/view/progress.h"
#include "cli/view/view.h"
#include "config/extensions.h"
#include "config/servers.h"
#include "data/json.h"
#include "tui/command/command.h"
#include "tui/tui.h"
#include "worker/environment.h"

/* One run, with what it has opened so far. */
struct headless {
	const struct invocation *invocation;
	struct cancel *cancel;
	struct agent_output output;
	struct notices notices; /* the output's, or the terminal's */
	bool interactive;
	bool warned;            /* of what the settings have wrong */
	bool slash;             /* the prompt is a command */
	struct settings *settings;
	struct policy *policy;
	struct confinement confinement;
	struct provider *provider;
	struct worker_options workers; /* as it was opened; owned (worker_options_copy) */
	struct host *host;
	enum approval_mode mode;
	char *root;
	char **environment;     /* of hooks */
	char *resume_file;
};

static void early_notice(void *data, enum severity severity, const char *message)
{
	agent_output_notice(data, notices_severity_name(severity), message);
}

static void trace_line(void *data, const char *line)
{
	(void)data;
	output_complain(line);
}

/* Before there is a session. That no way to log in was found is a plain "Error" of Gemini CLI's
 * then. */
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

/* --- settings ------------------------------------------------------------------------------- */

/* --allowed-tools, as tools.allowed; --allowed-mcp-server-names, as mcp.allowed. */
static void add_allowed(const struct invocation *invocation, json_t *overrides)
{
	json_auto_t *allowed = agent_input_list(invocation, FLAG_ALLOWED_TOOLS);
	json_auto_t *servers = agent_input_list(invocation, FLAG_MCP_NAMES);

	if (invocation_has(invocation, FLAG_MCP_NAMES))
		json_object_set_new(overrides, "mcp", json_pack("{s:O}", "allowed", servers));
	if (json_array_size(allowed))
		json_object_set_new(overrides, "tools", json_pack("{s:O}", "allowed", allowed));
}

/* The flag as the setting. */
static void add_ignored(const struct invocation *invocation, json_t *overrides)
{
	if (invocation_has(invocation, FLAG_IGNORE_UNKNOWN))
		json_object_set_new(overrides, "hasp",
		                    json_pack("{s:b}", "ignoreUnknownRules", 1));
}

static bool headless_open_settings(struct headless *run, struct err *err)
{
	json_auto_t *overrides = json_object();
	json_auto_t *extensions = agent_input_list(run->invocation, FLAG_EXTENSIONS);
	struct settings_options options = {
		.skip_trust = invocation_has(run->invocation, FLAG_SKIP_TRUST),
		.ignore_env_files = invocation_has(run->invocation, FLAG_IGNORE_ENV),
		.overrides = overrides,
		.extensions = extensions,
	};

	run->root = realpath(".", NULL);
	if (!run->root)
		return err_set(err, ERR_FILE_NOT_FOUND, "The current folder is gone.");
	options.project = run->root;
	add_allowed(run->invocation, overrides);
	add_ignored(run->invocation, overrides);
	if (!settings_load(&options, &run->settings, err))
		return false;
	agent_signals_limit(settings_integer(run->settings, "hasp.endSeconds",
	                                      AGENT_END_SECONDS));
	return true;
}

/* What a mode may not be: in a folder that is not trusted, or where the settings forbid it. */
static bool agent_command_check_mode(const struct headless *run, struct agent_ending *ending,
                                     struct err *err)
{
	if (prepare_mode_check(run->settings, run->mode, err))
		return true;
	*ending = ending_of_error(err->code == ERR_PERMISSION_DENIED ? AGENT_EXIT_UNTRUSTED :
	                          AGENT_EXIT_CONFIG,
	                          err);
	return false;
}

/* The texts of a list; NULL: there are none. The caller frees the array. */
static const char **list_texts(const json_t *list)
{
	size_t count = json_array_size(list);
	const char **texts = count ? mem_alloc(count + 1, sizeof(*texts)) : NULL;

	for (size_t i = 0; i < count; i++)
		texts[i] = json_string_value(json_array_get(list, i));
	return texts;
}

static bool headless_open_policy(struct headless *run, struct err *err)
{
	json_auto_t *named = agent_input_list(run->invocation, FLAG_POLICY);
	json_auto_t *admin_named = agent_input_list(run->invocation, FLAG_ADMIN_POLICY);
	_cleanup_free_ const char **files = list_texts(named), **admin = list_texts(admin_named);
	struct policy_sources sources = { .settings = run->settings,
		                          .files = files, .admin_files = admin };

	return prepare_policy(&sources, &run->notices, &run->policy, err);
}

/* --- the workspace -------------------------------------------------------------------------- */

static bool headless_open_provider(struct headless *run, struct err *err)
{
	struct worker_options *options = &run->confinement.options;
	json_auto_t *named = agent_input_list(run->invocation, FLAG_INCLUDE);
	json_auto_t *list = json_array();
	struct prepare_folders included = { .list = list, .notices = run->notices };
	_cleanup_free_ const char **roots = NULL, **write = NULL, **kept = NULL;
	json_auto_t *texts = NULL;
	bool strongest = invocation_has(run->invocation, FLAG_SANDBOX) &&
	                 !invocation_value(run->invocation, FLAG_SANDBOX);
	bool level_given;

	if (!confinement_read(run->invocation, &run->confinement, err))
		return false;
	if (strongest)
		run->confinement.level.flag = "full";
	level_given = run->confinement.options.level_given;
	if (!confinement_settle_with(&run->confinement, run->settings, &run->notices,
	                             err) ||
	    !places_choose(run->invocation, &run->confinement, run->settings, level_given,
	                   &run->notices, err))
		return false;
	included.remote = run->confinement.worker;
	write = prepare_sandbox(run->settings, options);
	kept = prepare_kept(run->policy, &texts, options);
	prepare_add_folders(named, "--include-directories", &included);
	roots = prepare_roots(run->settings, run->root, &included, &options->root_count);
	if (run->confinement.worker && run->confinement.root)
		roots[0] = run->confinement.root;
	options->roots = roots;
	if (!confinement_open(&run->confinement, &run->provider, err))
		return false;
	run->workers = worker_options_copy(options);
	options->roots = run->workers.roots; /* what they were is freed here */
	options->write = run->workers.write;
	options->read = run->workers.read;
	options->keep = run->workers.keep;
	options->ask = run->workers.ask;
	return true;
}

/* --- the session ---------------------------------------------------------------------------- */

static bool headless_find_resumed(struct headless *run, struct err *err)
{
	const char *which = invocation_value(run->invocation, FLAG_RESUME);

	return !invocation_has(run->invocation, FLAG_RESUME) ||
	       sessions_find_in(run->root, which ? which : "latest", &run->resume_file, err);
}

/* Lines on standard error would tear what stands on a terminal. */
static bool headless_traces(const struct headless *run)
{
	return invocation_has(run->invocation, FLAG_DEBUG) &&
	       !(run->interactive && isatty(STDERR_FILENO));
}

static bool headless_open_host(struct headless *run, struct err *err)
{
	const struct invocation *invocation = run->invocation;
	const char *replay = invocation_value(invocation, FLAG_REPLAY);
	_cleanup_free_ char *replayed = replay ? mem_printf("replay:%s", replay) : NULL;
	const struct provider_info *info = run->provider->ops->info(run->provider);
	_cleanup_free_ char *sentences = confinement_sentences_at(&run->confinement, info->level);
	_cleanup_free_ char *policies = setup_policy_save_folder(run->settings);
	struct host_options options = {
		.settings = run->settings, .provider = run->provider,
		.local = !run->confinement.worker, .policy = run->policy,
		.workers = run->confinement.worker ? NULL : &run->workers,
		.policy_folder = policies,
		.model = replayed ? replayed : invocation_value(invocation, FLAG_MODEL),
		.record_file = invocation_value(invocation, FLAG_RECORD),
		.session_id = invocation_value(invocation, FLAG_SESSION_ID),
		.import_file = invocation_value(invocation, FLAG_SESSION_FILE),
		.resume_file = run->resume_file, .mode = run->mode,
		.confinement = sentences, .interactive = run->interactive,
		.watched = run->output.progress && run->output.format == AGENT_TEXT,
		.checkpoints = run->interactive, .asks_together = run->interactive,
		.cancel = run->cancel, .notices = run->notices,
		.trace = headless_traces(run) ? trace_line : NULL,
	};

	run->environment = prepare_environment(run->settings);
	options.environment = run->environment;
	return host_open(&options, &run->host, err);
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
	if (host_recorded(run->host, err))
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

/* Runs a slash command. Its rows are told like an answer; *ret_rows is for the caller to free. */
static void run_slash(struct headless *run, struct span line, struct command_result *ret,
                      char **ret_rows)
{
	const struct command_context context = {
		.host = run->host, .settings = run->settings, .can = 1u << COMMAND_SEND,
		.local = !run->confinement.worker, .waits = true,
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
		bus_publish(host_bus(run->host), BUS_CONTENT, message);
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
	_cleanup_free_ char *rows = NULL;

	if (run->slash)
		run_slash(run, agent_input_said(input), &slash, &rows);
	if (!slash.ok) {
		*ret_ok = err_set(err, ERR_INVALID_ARGUMENT, "%s", rows);
	} else if (run->slash && slash.then == COMMAND_SEND) {
		buf_span(&text, piped);
		buf_str(&text, slash.plain ? slash.text : "");
		*ret_ok = host_prompt(run->host, buf_view(&text),
		                      span_str(slash.plain ? "" : slash.text), outcome, err);
	} else if (run->slash) {
		*outcome = (struct agent_outcome){ .text = mem_steal(&rows) };
	} else {
		*ret_ok = host_prompt(run->host, piped, agent_input_said(input), outcome, err);
	}
	command_result_release(&slash);
	return !run->slash || outcome->text;
}

static int run_prompt(struct headless *run, const struct agent_input *input)
{
	const struct span all = buf_view(&input->text);
	struct agent_outcome outcome = { 0 };
	struct err err = ERR_INIT, unrecorded = ERR_INIT;
	struct agent_ending ending;
	json_auto_t *stats = NULL, *stream_stats = NULL;
	struct timespec from, to;
	bool ok = true, ran;

	agent_output_listen(&run->output, host_bus(run->host),
	                    agent_topic(agent_history(host_agent(run->host))));
	agent_output_begin(&run->output, host_session_id(run->host),
	                   model_plain_id(host_model(run->host)), all);
	clock_gettime(CLOCK_MONOTONIC, &from);
	ran = run_said(run, input, &outcome, &ok, &err);
	clock_gettime(CLOCK_MONOTONIC, &to);
	stats = agent_stats(host_agent(run->host));
	stream_stats = agent_stream_stats(
		host_agent(run->host), (uint64_t)((to.tv_sec - from.tv_sec) * 1000 +
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

/* Standard output that cannot be written for another reason than that nobody reads it. */
static bool check_output(const struct headless *run)
{
	struct err err = ERR_INIT;

	if (!run->output.failed)
		return true;
	err_set_errno(&err, run->output.failed, "Cannot write standard output");
	output_complain(err.message);
	return false;
}

static void warn_of_raw_output(struct headless *run)
{
	if (run->output.raw && run->output.terminal && run->output.format == AGENT_TEXT &&
	    !invocation_has(run->invocation, FLAG_ACCEPT_RAW_OUTPUT))
		early_notice(&run->output, SEVERITY_WARNING,
		             "--raw-output: what the model says may act on this terminal. "
		             "--accept-raw-output-risk leaves out this warning.");
}

/* "/NAME" is a command; "//NAME" is "/NAME" for the model. */
static bool has_servers(const struct settings *settings)
{
	json_auto_t *ignored = json_array(), *rows = servers_configured(settings, ignored);

	return json_array_size(rows) > 0;
}

static bool check_prompt(struct headless *run, struct agent_input *input, struct err *err)
{
	const struct span said = agent_input_said(input);
	char *from = input->text.data + input->piped_len;
	const struct command_context context = {
		.settings = run->settings,
		.local = !places_may_leave(run->invocation, run->settings),
	};
	size_t skip;

	/* Only servers know their prompts: what is none is refused when they have been asked. */
	run->slash = command_exists(&context, said) ||
	             (command_is(said) && has_servers(run->settings));
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
	struct theme theme;

	if (tui_theme_of(run->settings, &theme, &run->notices))
		progress_set_theme(run->output.progress, &theme);
	if (invocation_has(run->invocation, FLAG_SCREEN_READER) ||
	    invocation_has(run->invocation, FLAG_DEBUG) ||
	    settings_bool(run->settings, "ui.accessibility.screenReader", false))
		progress_set_plain(run->output.progress);
}

/* Opens all that a run needs; false with how it ends instead. */
static bool headless_prepare(struct headless *run, struct agent_input *input,
                             struct agent_ending *ending,
                             struct err *err)
{
	const char *mode = invocation_value(run->invocation, FLAG_APPROVAL_MODE);
	bool yolo = invocation_has(run->invocation, FLAG_YOLO);

	if (!headless_open_settings(run, err)) {
		*ending = ending_of_error(AGENT_EXIT_CONFIG, err);
		return false;
	}
	run->output.format = agent_input_format(run->invocation, run->settings);
	headless_watch(run);
	if (!check_prompt(run, input, err)) {
		*ending = ending_of_error(AGENT_EXIT_INPUT, err);
		return false;
	}
	warn_of_raw_output(run);
	run->mode = prepare_mode(run->settings, mode ? mode : yolo ? "yolo" : NULL);
	prepare_warnings(run->settings, false, &run->notices);
	if (!agent_command_check_mode(run, ending, err))
		return false;
	if (!headless_open_policy(run, err)) {
		*ending = ending_of_error(AGENT_EXIT_CONFIG, err);
		return false;
	}
	if (!headless_find_resumed(run, err)) {
		*ending = ending_of_error(AGENT_EXIT_INPUT, err);
		return false;
	}
	if (!headless_open_provider(run, err)) {
		*ending = ending_of_error(AGENT_EXIT_SANDBOX, err);
		return false;
	}
	confinement_warn(run->provider);
	if (!headless_open_host(run, err)) {
		*ending = ending_of_error(cli_agent_exit_of(AGENT_FAILED, err), err);
		return false;
	}
	return true;
}

static void headless_finish(struct headless *run)
{
	host_close(run->host, "exit");
	provider_free(run->provider);
	confinement_release(&run->confinement);
	worker_options_release(&run->workers);
	policy_free(run->policy);
	settings_free(run->settings);
	if (run->environment)
		environment_free(run->environment);
	free(run->resume_file);
	free(run->root);
}

static int run_agent(const struct invocation *invocation, struct agent_input *input)
{
	/* The handlers of signals outlive this function. */
	static struct cancel cancel;
	struct headless run = { .invocation = invocation, .cancel = &cancel,
		                .notices = { early_notice, &run.output } };
	struct agent_ending ending = { 0 };
	struct err err = ERR_INIT;
	int code;

	if (!cancel_init(&cancel, &err)) {
		return output_fail(&err, AGENT_EXIT_GENERAL);
	}
	agent_signals_install(&cancel);
	agent_output_open(&run.output, agent_input_format(invocation, NULL), &cancel);
	run.output.raw = invocation_has(invocation, FLAG_RAW_OUTPUT);
	run.output.session_id = early_session_id(invocation);
	if (headless_prepare(&run, input, &ending, &err)) {
		code = run_prompt(&run, input);
	} else {
		agent_output_end(&run.output, &ending);
		code = ending.code;
	}
	headless_finish(&run);
	if (!check_output(&run))
		code = AGENT_EXIT_GENERAL;
	agent_output_close(&run.output);
	return code;
}

/* --- on a terminal ---------------------------------------------------------------------------- */

/* Closes what headless_finish closes but the settings: another session may be opened. */
static void terminal_close(void *data, const char *reason)
{
	struct headless *run = data;

	host_close(run->host, reason);
	provider_free(run->provider);
	confinement_release(&run->confinement);
	worker_options_release(&run->workers);
	policy_free(run->policy);
	if (run->environment)
		environment_free(run->environment);
	free(run->resume_file);
	run->host = NULL;
	run->provider = NULL;
	run->confinement = (struct confinement){ 0 };
	run->policy = NULL;
	run->environment = NULL;
	run->resume_file = NULL;
}

static void terminal_warn(struct headless *run)
{
	const struct provider_info *info = run->provider->ops->info(run->provider);
	_cleanup_free_ char *text = NULL;

	if (info->level != SANDBOX_PATHS)
		return;
	text = mem_printf("Commands are not confined%s%s", info->weaker_because ? ": " : ".",
	                  info->weaker_because ? info->weaker_because : "");
	notices_say(&run->notices, SEVERITY_WARNING, text);
}

/* On the agent's thread, as tui_options.open. */
static bool terminal_open(void *data, const char *session, const struct notices *notices,
                          struct tui_opened *ret, struct err *err)
{
	struct headless *run = data;

	run->notices = *notices;
	if (!headless_open_policy(run, err) ||
	    (session && !sessions_find_in(run->root, session, &run->resume_file, err)) ||
	    !headless_open_provider(run, err)) {
		terminal_close(run, NULL);
		return false;
	}
	terminal_warn(run);
	if (!run->warned)
		prepare_warnings(run->settings, true, notices);
	run->warned = true;
	if (!headless_open_host(run, err)) {
		terminal_close(run, NULL);
		return false;
	}
	*ret = (struct tui_opened){ .host = run->host, .provider = run->provider };
	return true;
}

static void terminal_mode(struct headless *run)
{
	const char *mode = invocation_value(run->invocation, FLAG_APPROVAL_MODE);

	run->mode = prepare_mode(run->settings, mode ? mode :
	                         invocation_has(run->invocation, FLAG_YOLO) ? "yolo" : NULL);
}

/* As tui_options.reload. */
static bool terminal_reload(void *data, struct settings **ret_settings,
                            enum approval_mode *ret_mode, struct err *err)
{
	struct headless *run = data;
	struct settings *before = run->settings;
	char *root = run->root;

	run->settings = NULL;
	if (!headless_open_settings(run, err)) {
		free(run->root);
		run->root = root;
		run->settings = before;
		return false;
	}
	/* The front has the old one. */
	free(run->root);
	run->root = root;
	settings_free(before);
	terminal_mode(run);
	if (!prepare_mode_check(run->settings, run->mode, &(struct err)ERR_INIT))
		run->mode = MODE_DEFAULT;
	*ret_settings = run->settings;
	*ret_mode = run->mode;
	return true;
}

/* Somebody sits at a terminal and gave nothing to do but, perhaps, what to begin with. */
static bool wants_terminal(const struct invocation *invocation)
{
	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	       !invocation->positional_count && !invocation_has(invocation, FLAG_PROMPT) &&
	       !invocation_has(invocation, FLAG_OUTPUT_FORMAT);
}

static int run_terminal(const struct invocation *invocation)
{
	static struct cancel cancel;
	struct headless run = { .invocation = invocation, .cancel = &cancel, .interactive = true };
	const char *resumed = invocation_value(invocation, FLAG_RESUME);
	struct tui_options options = {
		.cancel = &cancel, .prompt = invocation_value(invocation, FLAG_INTERACTIVE),
		.session = resumed,
		.browse = invocation_has(invocation, FLAG_RESUME) && !resumed,
		.screen_reader = invocation_has(invocation, FLAG_SCREEN_READER),
		.model = invocation_value(invocation, FLAG_MODEL),
		.open = terminal_open, .close = terminal_close, .reload = terminal_reload,
		.data = &run,
	};
	struct err err = ERR_INIT;
	int code;

	if (!cancel_init(&cancel, &err))
		return output_fail(&err, AGENT_EXIT_GENERAL);
	if (!headless_open_settings(&run, &err))
		return output_fail(&err, AGENT_EXIT_CONFIG);
	options.local = !places_may_leave(invocation, run.settings);
	terminal_mode(&run);
	if (!prepare_mode_check(run.settings, run.mode, &err))
		return output_fail(&err, err.code == ERR_PERMISSION_DENIED ? AGENT_EXIT_UNTRUSTED :
		                                                             AGENT_EXIT_CONFIG);
	options.settings = run.settings;
	options.project = run.root;
	options.mode = run.mode;
	code = tui_run(&options);
	headless_finish(&run);
	return code;
}

/* --- sessions ------------------------------------------------------------------------------- */

static int list_or_delete(const struct invocation *invocation)
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
		output_complain(root ? err.message : "The current folder is gone.");
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
static int list_extensions(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct headless run = { .invocation = invocation };
	struct err err = ERR_INIT;
	const struct extensions *all;
	bool ok = headless_open_settings(&run, &err);

	if (ok) {
		all = extensions_installed(run.settings);
		buf_str(&out, all->count ? "Installed extensions:\n" :
		                           "No extensions installed.\n");
		for (size_t i = 0; i < all->count; i++)
			render_printf(&out, "- %s (%s)%s\n", all->at[i].name, all->at[i].version,
			              extension_counts(&all->at[i]) ? "" : ", not used here");
		ok = agent_output_lines(buf_view(&out), &err);
	}
	settings_free(run.settings);
	free(run.root);
	return ok ? AGENT_EXIT_OK : output_fail(&err, AGENT_EXIT_GENERAL);
}

static int show_version_or_page(const struct invocation *invocation)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct err err = ERR_INIT;

	if (invocation_has(invocation, FLAG_VERSION))
		buf_str(&out, "hasp " HASP_VERSION "\n");
	else
		help_manpage_print(&out);
	return output_text(buf_view(&out), &err) ? CLI_OK : output_fail(&err, CLI_FAILED);
}

/* Without anything to do: how it is used. */
static int show_usage(void)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	help_brief(&out);
	output_stderr(buf_view(&out));
	return CLI_USAGE;
}

/* It fails before anything is opened: told as a run's failure is. */
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
	int code;

	buf_str(&input.text, "/context");
	for (size_t i = 0; i < invocation->positional_count; i++)
		buf_printf(&input.text, " %s", invocation->positionals[i]);
	code = run_agent(invocation, &input);
	buf_release(&input.text);
	return code;
}

int command_run_root(const struct invocation *invocation)
{
	struct agent_input input = AGENT_INPUT_INIT;
	struct err err = ERR_INIT;
	enum agent_exit why;
	int code;

	if (invocation_has(invocation, FLAG_VERSION) || invocation_has(invocation, FLAG_MAN_PAGE))
		return show_version_or_page(invocation);
	if (invocation_has(invocation, FLAG_LIST_SESSIONS) ||
	    invocation_has(invocation, FLAG_DELETE_SESSION)) {
		if (!invocation->positional_count)
			return list_or_delete(invocation);
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "--%s takes no further word: \"%.100s\". Nothing "
		        "was done.", invocation_has(invocation, FLAG_LIST_SESSIONS) ?
		        "list-sessions" :
		        "delete-session SESSION", invocation->positionals[0]);
		return output_fail(&err, CLI_USAGE);
	}
	if (invocation_has(invocation, FLAG_LIST_EXTENSIONS))
		return list_extensions(invocation);
	if (!agent_input_check_flags(invocation, &why, &err))
		return headless_refuse(invocation, why, &err);
	if (wants_terminal(invocation))
		return run_terminal(invocation);
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
		code = headless_refuse(invocation, err.code == ERR_INVALID_ARGUMENT ?
		                       AGENT_EXIT_GENERAL :
		                                                             AGENT_EXIT_INPUT,
		                       &err);
	} else if (!input.text.len) {
		err_set(&err, ERR_INVALID_ARGUMENT,
		        "There is no prompt: give one with -p, as words, or on standard input.");
		code = headless_refuse(invocation, AGENT_EXIT_INPUT, &err);
	} else {
		code = run_agent(invocation, &input);
	}
	buf_release(&input.text);
	return code;
}
