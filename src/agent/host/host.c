/* SPDX-License-Identifier: Apache-2.0 */
/* An agent put together: model, hooks, tools, record, instructions; its prompts. */
#include "agent/host/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/call/path_rules.h"
#include "agent/checkpoint/checkpoint.h"
#include "agent/context/surroundings.h"
#include "agent/host/private.h"
#include "agent/prompt/prompt.h"
#include "agent/session/sessions.h"
#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/json.h"
#include "model/choose.h"
#include "model/content.h"
#include "model/model.h"
#include "telemetry/telemetry.h"
#include "worker/job/job.h"
#include "worker/provider.h"

static void host_notice(struct host *host, const char *severity, const char *message)
{
	if (host->options.notice)
		host->options.notice(host->options.data, severity, message);
}

static void notice_all(struct host *host, const json_t *sentences)
{
	size_t i;
	json_t *sentence;

	json_array_foreach(sentences, i, sentence) {
		const char *text = json_is_object(sentence) ?
		                           json_string_value(json_object_get(sentence, "message")) :
		                           json_string_value(sentence);

		if (text)
			host_notice(host, "warning", text);
	}
}

static void hook_notice(void *data, const char *severity, const char *message)
{
	host_notice(data, severity, message);
}

extern char **environ;

/* Of what a hook says; telemetry cuts it before that. */
enum { HOOK_DETAIL_BYTES_MAX = 16 << 10 };

static json_t *mask_keys(struct span text)
{
	return setup_mask_text(text, environ);
}

static void hook_ran(void *data, const struct hook_run *run)
{
	const struct host *host = data;
	json_auto_t *message = json_object();

	json_object_set_new(message, "event", json_string(hook_event_name(run->event)));
	json_object_set_new(message, "name", json_text(span_str(run->name)));
	json_object_set_new(message, "durationMs", json_integer(run->ms));
	json_object_set_new(message, "exitCode", json_integer(run->exit_code));
	json_object_set_new(message, "success", json_boolean(run->exit_code == 0));
	if (telemetry_has_details(host->telemetry)) {
		json_object_set(message, "input", (json_t *)run->input);
		json_object_set_new(message, "stdout",
		                    mask_keys(span_head(run->out, HOOK_DETAIL_BYTES_MAX)));
		json_object_set_new(message, "stderr",
		                    mask_keys(span_head(run->err, HOOK_DETAIL_BYTES_MAX)));
	}
	bus_publish(host->bus, BUS_HOOK_CALL, message);
}

static void record_trouble(void *data, const struct err *err)
{
	host_notice(data, "error", err->message);
}

/* Of the workspace, NULL-terminated; the caller frees the array. */
static const char **workspace_roots(const struct host *host)
{
	struct provider *provider = host->options.provider;
	const char **roots = NULL, *root;
	size_t count = 0, cap = 0;

	do {
		root = provider->ops->root(provider, count);
		if (count >= cap)
			roots = mem_grow(roots, &cap, count + 1, sizeof(*roots));
		roots[count++] = root;
	} while (root);
	return roots;
}

static bool open_recording(struct host *host, struct err *err)
{
	_cleanup_free_ const char **roots = workspace_roots(host);

	return recording_open(host->options.record_file, roots, record_trouble, host,
	                      &host->recording, err);
}

static bool open_model(struct host *host, struct err *err)
{
	struct model_options *options = &host->choice.options;

	if (!model_choose(host->options.settings, host->options.model, &host->choice, err))
		return false;
	notice_all(host, host->choice.warnings);
	/* Before anything is asked: what cannot be recorded is not to be paid for. */
	if (host->options.record_file && !open_recording(host, err))
		return false;
	options->recording = host->recording;
	options->trace = host->options.trace;
	options->trace_data = host->options.data;
	return model_open(options, &host->model, err);
}

static struct hooks *host_load_hooks(struct host *host)
{
	const struct hooks_sources sources = {
		.settings = host->options.settings,
		.project = host->root,
		.local = host->options.local,
		.session_id = record_session_id(host->chat.record),
		.transcript_path = record_path(host->chat.record),
		.plans_folder = services_plans_folder(host->chat.services),
		.environment = host->options.environment,
		.notice = hook_notice,
		.ran = hook_ran,
		.data = host,
	};
	json_auto_t *problems = json_array();
	_cleanup_free_ char *untrusted = NULL;
	struct hooks *hooks = setup_load_hooks(&sources, problems);

	notice_all(host, problems);
	untrusted = setup_hooks_untrusted_sentence(hooks);
	if (untrusted)
		host_notice(host, "warning", untrusted);
	return hooks;
}

void host_renew_hooks(struct host *host)
{
	hooks_renew(host->hooks, host_load_hooks(host));
}

static void open_services(struct host *host)
{
	struct services_options options = {
		.settings = host->options.settings,
		.provider = host->options.provider,
		.policy = host->options.policy,
		.bus = host->bus,
		.home = host->home,
		.session_id = record_session_id(host->chat.record),
		.model = host->model,
		.model_options = &host->choice.options,
		.mode = host->chat.mode,
		.interactive = host->options.interactive,
		.cancel = host->options.cancel,
		.notice = hook_notice,
		.data = host,
	};

	host->chat.services = services_open(&options);
}

static enum return_content return_content_setting(const struct settings *settings)
{
	const char *word = settings_string(settings, "hasp.returnContent", "full");

	return strcmp(word, "diff") == 0 ? RETURN_DIFF :
	       strcmp(word, "none") == 0 ? RETURN_NONE : RETURN_FULL;
}

/* The highest "version" that a history names: new ones go on from there. What a session's file
 * holds may be anything, so depth is bounded. */
static uint64_t highest_version(const json_t *value, unsigned depth)
{
	const json_t *own = json_object_get(value, "version");
	json_int_t said = json_is_integer(own) ? json_integer_value(own) : 0;
	/* More than a session can have come to was not hasp's. */
	uint64_t highest = said > 0 && said < (json_int_t)1 << 40 ? (uint64_t)said : 0;
	const char *name;
	json_t *child;
	size_t i;

	if (depth > JSON_DEPTH_MAX)
		return highest;
	json_object_foreach((json_t *)value, name, child) {
		uint64_t theirs = highest_version(child, depth + 1);

		highest = theirs > highest ? theirs : highest;
	}
	json_array_foreach(value, i, child) {
		uint64_t theirs = highest_version(child, depth + 1);

		highest = theirs > highest ? theirs : highest;
	}
	return highest;
}

/* Gemini CLI lets the earlier of the user's ignore files decide, a walk the later. */
static void open_ignores(struct host *host)
{
	const struct settings *settings = host->options.settings;
	const json_t *names = settings_get(settings, "context.fileFiltering.customIgnoreFilePaths");
	const size_t count = json_array_size(names);

	free(host->ignore_files);
	host->ignore_files = NULL;
	if (count > 0)
		host->ignore_files = mem_alloc(count, sizeof(*host->ignore_files));
	for (size_t i = 0; i < count; i++)
		host->ignore_files[i] = json_string_value(json_array_get(names, count - 1 - i));
	host->chat.session.ignores = (struct walk_rules){
		.no_git_ignore = !settings_bool(settings,
		                                "context.fileFiltering.respectGitIgnore", true),
		.no_gemini_ignore = !settings_bool(
			settings, "context.fileFiltering.respectGeminiIgnore", true),
		.ignore_files = host->ignore_files,
		.ignore_file_count = count,
	};
}

/* Variables of this machine do not go to another. */
static void open_commands(struct host *host)
{
	const struct settings *settings = host->options.settings;
	const double silent = settings_number(settings, "tools.shell.inactivityTimeout", -1);

	setup_command_env_release(&host->command_env);
	setup_command_env_init(&host->command_env, settings);
	if (host->options.local && !host->command_env.usual)
		host->chat.session.environment = &host->command_env.options;
	if (silent >= 0 && silent <= 86400)
		host->chat.session.inactivity_ms = (unsigned)(silent * 1000);
	if (settings_bool(settings, "tools.shell.enableInteractiveShell", true))
		host->chat.session.terminal = terminals_size(host->terminals);
}

enum { UPDATED_SHOWN = 2000 }; /* bytes of names of resources in one notice */

/* ---- MCP servers ------------------------------------------------------------- */

/* They are the host's: another session goes on with them. */
static void open_servers(struct host *host)
{
	setup_command_env_init(&host->servers_env, host->options.settings);
	if (!host->samplings)
		host->samplings = samplings_new();
	host->servers = host_servers_open(host, NULL);
	host_take_server_orders(host);
}

void host_take_new_tools(struct host *host)
{
	_cleanup_free_ char *off_text = NULL;

	host_defer_tools(host, host->chat.tools);
	agent_tools_added(host->chat.agent);
	off_text = host_off_text(host, agent_mode(host->chat.agent));
	services_follow(host->chat.services, host->chat.agent, off_text != NULL);
}

void host_await_servers(struct host *host)
{
	host_ask_servers(host);
	mcp_servers_wait(host->servers, &host->cancel);
	if (mcp_servers_add(host->servers, host->chat.tools))
		host_take_new_tools(host);
}

json_t *host_servers(struct host *host)
{
	return mcp_servers_list(host->servers);
}

void host_open_tools(struct host *host)
{
	const struct settings *settings = host->options.settings;
	_cleanup_free_ char *logs = jobs_default_log_folder();
	json_auto_t *excluded = extensions_excluded_tools(settings);

	open_services(host);
	if (!host->servers)
		open_servers(host);
	host->chat.tools = tool_set_new();
	host->chat.remotes = remotes_new();
	services_add_tools(host->chat.services, host->chat.tools);
	host_open_skills(host);
	host_add_skill_tool(host);
	host_open_agents(host);
	host_add_agent_tool(host);
	mcp_servers_add(host->servers, host->chat.tools);
	tool_set_limit(host->chat.tools, settings_get(settings, "tools.core"), excluded);
	host_defer_tools(host, host->chat.tools);
	if (!host->terminals)
		host->terminals = terminals_new(host);
	if (!host->jobs)
		host->jobs = jobs_new(&(struct jobs_options){ .log_folder = logs,
		                                              .watch = terminals_watch(),
		                                              .data = host->terminals });
	session_init(&host->chat.session, host->options.provider);
	host->chat.session.jobs = host->jobs;
	host->chat.session.tools = host->chat.tools;
	host->chat.session.return_content = return_content_setting(settings);
	open_ignores(host);
	open_commands(host);
	session_raise_version(&host->chat.session, highest_version(host->chat.history, 0));
	services_attach(host->chat.services, &host->chat.session);
}

/* Whether hasp itself keeps sessions where the file is. */
static bool is_kept_here(const struct host *host, const char *file)
{
	const struct home *home = settings_home(host->options.settings);
	_cleanup_free_ char *sessions = home ? mem_printf("%s/tmp", home_gemini(home)) : NULL;
	_cleanup_free_ char *folder = sessions ? realpath(sessions, NULL) : NULL;
	_cleanup_free_ char *real = realpath(file, NULL);

	return folder && real && path_is_under(real, folder);
}

bool host_read_history(struct host *host, struct err *err)
{
	const char *file = host->chat.resume_file ? host->chat.resume_file :
	                                               host->chat.import_file;
	_cleanup_buf_ struct buf defects = BUF_INIT(ERR_MESSAGE_MAX);
	struct session_read read;

	host->chat.history = json_array();
	if (!file)
		return true;
	if (!session_read(file, &read, err))
		return false;
	host->chat.source = host->chat.source ? host->chat.source : "resume";
	session_read_defects(&read, &defects);
	if (defects.len)
		host_notice(host, "warning", defects.data);
	json_array_extend(host->chat.history, read.contents);
	/* Where messages are missing, it does not begin with what was sent. A file from elsewhere
	 * has a conversation to give, but no system prompt. */
	host->chat.recorded = json_incref(read.messages);
	if (!read.bad_lines && !read.gap_lines && is_kept_here(host, file))
		host->chat.sent = json_incref(read.sent);
	host->chat.first_prompt = mem_steal(&read.first_prompt);
	/* An older file cannot be added to: the session goes on in a new one under its id. */
	if (host->chat.resume_file && !host->chat.session_id)
		host->chat.session_id = mem_steal(&read.id);
	if (read.legacy && host->chat.resume_file) {
		host->chat.import_file = host->chat.resume_file;
		host->chat.resume_file = NULL;
	}
	session_read_release(&read);
	return true;
}

/* Two sessions with one id: the older could not be found any more. */
static bool check_new_id(const struct host *host, struct err *err)
{
	const char *id = host->chat.session_id;

	if (!id || host->chat.resume_file || host->chat.import_file ||
	    !sessions_have(host->home, id))
		return true;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "There is a session \"%.80s\" already: resume it, or give another id.", id);
}

bool host_open_record(struct host *host, struct err *err)
{
	struct record_options options = {
		.session_id = host->chat.session_id,
		.resume_file = host->chat.resume_file,
		.trouble = record_trouble,
		.data = host,
	};
	bool ok;

	if (!host->home && !home_open(host->root, &host->home, err))
		return false;
	options.home = host->home;
	if (!check_new_id(host, err))
		return false;
	ok = record_open(&options, &host->chat.record, err);
	if (ok && host->chat.resume_file)
		record_know(host->chat.record, host->chat.recorded);
	/* A history from elsewhere is the new file's beginning. */
	if (ok && host->chat.import_file && json_array_size(host->chat.history)) {
		if (host->chat.first_prompt)
			record_first_prompt(host->chat.record, host->chat.first_prompt);
		if (host->chat.sent)
			record_sent(host->chat.record, host->chat.sent);
		record_replace(host->chat.record, host->chat.history);
	}
	return ok;
}

/* Asked of the worker, as all in the workspace: a folder is an error of its own. */
static bool is_git(const struct host *host)
{
	struct read_request request = { .path = ".git", .max_lines = 1 };
	struct read_result read;
	struct err err = ERR_INIT;
	bool is =
		host->options.provider->ops->read(host->options.provider, &request, &read, &err) ||
	          err.code != ERR_FILE_NOT_FOUND;

	read_result_release(&read);
	return is;
}

static json_t *host_message(struct host *host, struct span piped, struct span prompt);

static json_t *steer_message(void *data, struct span text)
{
	return host_message(data, SPAN(""), text);
}

static void open_outputs(struct host *host)
{
	struct provider *provider = host->options.provider;
	struct outputs_options options = {
		.home = host->home, .session_id = record_session_id(host->chat.record),
		.level = provider->ops->info(provider)->level,
		.program = host->options.worker_program,
	};

	host->chat.outputs = outputs_open(&options);
	host->chat.session.own_files = outputs_reader;
	host->chat.session.own_files_data = host->chat.outputs;
}

static void open_retention(struct host *host)
{
	const char *why;

	host->retains = sessions_retention_read(host->options.settings, &host->retention, &why);
	if (why)
		host_notice(host, "warning", why);
}

static void host_open_checkpoints(struct host *host)
{
	struct checkpoint_session_options options = {
		.settings = host->options.settings, .provider = host->options.provider,
		.bus = host->bus, .session_id = record_session_id(host->chat.record),
		.notice = hook_notice, .data = host, .cancel = host->options.cancel,
		.wanted = host->options.checkpoints,
	};

	host->chat.checkpoints = checkpoint_session_begin(&options);
}

static bool host_open_agent(struct host *host, struct err *err)
{
	const struct host_options *from = &host->options;
	int64_t max_turns = settings_integer(from->settings, "model.maxSessionTurns", -1);
	const struct prompt_options prompt = host_prompt_options(host);
	_cleanup_free_ char *off_text = host_off_text(host, host->chat.mode);
	struct agent_options options = {
		.model = host->model, .parameters = &host->choice.parameters,
		.session = &host->chat.session, .bus = host->bus,
		.policy = from->policy, .hooks = host->hooks, .settings = from->settings,
		.record = host->chat.record, .session_id = record_session_id(host->chat.record),
		.surroundings = host_surroundings, .surroundings_data = host,
		.sent = host->chat.sent, .history = host->chat.history,
		.first_prompt = host->chat.first_prompt,
		.context_for = host_context_for, .context_lost = host_context_lost,
		.context_data = host,
		.steer_message = steer_message, .steer_data = host,
		.mode = host->chat.mode, .interactive = from->interactive,
		.watched = from->watched,
		.asks_together = from->asks_together,
		.policy_folder = from->policy_folder, .output_folder =
			outputs_folder(host->chat.outputs),
		.max_turns = max_turns > 0 ? (unsigned)max_turns : 0, .cancel = from->cancel,
	};

	if (!host->system && !prompt_make(&prompt, &host->system, err))
		return false;
	options.before_edit_data = checkpoint_session_of(host->chat.checkpoints);
	options.before_edit = options.before_edit_data ? checkpoints_before_edit : NULL;
	host->chat.agent = agent_new(&options);
	services_follow(host->chat.services, host->chat.agent, off_text != NULL);
	return true;
}

bool host_open_chat_agent(struct host *host, struct err *err)
{
	open_outputs(host);
	host_open_checkpoints(host);
	return host_open_agent(host, err);
}

/* From here on the host's own is what everything looks at. */
static bool open_cancel(struct host *host, struct err *err)
{
	host->can_cancel = cancel_init(&host->cancel, err);
	if (!host->can_cancel || !cancel_follow(&host->cancel, host->options.cancel, err))
		return false;
	host->options.cancel = &host->cancel;
	return true;
}

static void open_telemetry(struct host *host)
{
	_cleanup_free_ const char **roots = workspace_roots(host);

	host->telemetry = telemetry_open(&(struct telemetry_options){
		.settings = host->options.settings, .bus = host->bus, .roots = roots,
		.session_id = record_session_id(host->chat.record),
		.model = model_id(host->model),
		.approval_mode = policy_mode_name(host->chat.mode),
		.interactive = host->options.interactive, .mask = mask_keys,
		.notice = hook_notice, .data = host,
	});
}

bool host_open(const struct host_options *options, struct host **ret, struct err *err)
{
	struct host *host = mem_alloc(1, sizeof(*host));

	host->options = *options;
	host->policy_folder = mem_strdup(options->policy_folder);
	host->confinement = mem_strdup(options->confinement);
	host->worker_program = mem_strdup(options->worker_program);
	host->options.policy_folder = host->policy_folder;
	host->options.confinement = host->confinement;
	host->options.worker_program = host->worker_program;
	pthread_mutex_init(&host->lock, NULL);
	pthread_mutex_init(&host->replaying, NULL);
	host->chat = (struct chat){
		.session_id = mem_strdup(options->session_id), .mode = options->mode,
		.resume_file = options->resume_file, .import_file = options->import_file,
	};
	host->root = mem_strdup(options->provider->ops->root(options->provider, 0));
	host->bus = bus_new();
	if (!open_cancel(host, err) || !open_model(host, err) || !host_read_history(host, err) ||
	    !host_open_record(host, err)) {
		host_close(host, NULL);
		return false;
	}
	open_telemetry(host);
	host_open_tools(host);
	host->hooks = host_load_hooks(host);
	host->git = is_git(host);
	host_load_memory(host);
	open_retention(host);
	if (!host_open_chat_agent(host, err)) {
		host_close(host, NULL);
		return false;
	}
	*ret = host;
	return true;
}

static void fire_session(struct host *host, enum hook_event event, const char *member,
                         const char *word, struct hook_outcome *ret)
{
	json_auto_t *input = json_pack("{s:s}", member, word);

	*ret = (struct hook_outcome){ 0 };
	if (hooks_any(host->hooks, event, word))
		/* A signal ends a run, and not what is to be done at its end. */
		hooks_fire(host->hooks, event, word, input,
		           event == HOOK_SESSION_END ? NULL : host->options.cancel, ret);
	if (ret->system_message && !ret->suppress_output)
		host_notice(host, "hook", ret->system_message);
	if (ret->denied) {
		_cleanup_free_ char *text = mem_printf(
			"A hook of %s objects; a session begins and ends all the same: %s",
			hook_event_name(event), ret->reason);

		host_notice(host, "warning", text);
	}
}

void host_chat_release(struct chat *chat)
{
	agent_free(chat->agent);
	checkpoint_session_end(chat->checkpoints);
	if (chat->session.shared)
		session_release(&chat->session);
	outputs_close(chat->outputs);
	remotes_free(chat->remotes);
	tool_set_free(chat->tools);
	services_close(chat->services);
	record_close(chat->record);
	json_decref(chat->sent);
	json_decref(chat->recorded);
	json_decref(chat->history);
	free(chat->first_prompt);
	free(chat->start_context);
	free(chat->session_id);
	host_forget_rewinds(chat);
	free(chat->rewound);
	*chat = (struct chat){ 0 };
}

void host_end_session(struct host *host, const char *reason)
{
	struct hook_outcome said;

	if (!host->chat.started)
		return;
	fire_session(host, HOOK_SESSION_END, "reason", reason ? reason : "other", &said);
	hook_outcome_release(&said);
}

void host_close(struct host *host, const char *reason)
{
	if (!host)
		return;
	host_end_session(host, reason);
	jobs_free(host->jobs);
	terminals_free(host->terminals);
	/* When the session is over: who waits for an answer does not wait for this. */
	if (host->retains && host->chat.record)
		sessions_retention_apply(host->home, &host->retention, time(NULL),
		                         record_path(host->chat.record));
	host_chat_release(&host->chat);
	for (size_t i = 0; i < host->earlier_count; i++)
		services_close(host->earlier[i]);
	free(host->earlier);
	host_leave_server_orders(host);
	mcp_servers_close(host->servers);
	samplings_free(host->samplings);
	settings_free(host->servers_settings);
	json_decref(host->attached);
	setup_command_env_release(&host->servers_env);
	memory_free(host->memory);
	path_rules_release(&host->memory_rules);
	hooks_free(host->hooks);
	model_free(host->model);
	recording_close(host->recording);
	telemetry_close(host->telemetry);
	if (host->choice.store)
		model_choice_release(&host->choice);
	bus_free(host->bus);
	home_free(host->home);
	skills_free(host->skills);
	agents_free(host->agents);
	json_decref(host->system);
	json_decref(host->context);
	setup_command_env_release(&host->command_env);
	free(host->ignore_files);
	free(host->root);
	free(host->policy_folder);
	free(host->confinement);
	free(host->worker_program);
	if (host->can_cancel) {
		cancel_unfollow(&host->cancel);
		cancel_release(&host->cancel);
	}
	pthread_mutex_destroy(&host->lock);
	pthread_mutex_destroy(&host->replaying);
	free(host);
}

struct bus *host_bus(const struct host *host)
{
	return host->bus;
}

struct agent *host_agent(const struct host *host)
{
	return host->chat.agent;
}

struct hooks *host_hooks(const struct host *host)
{
	return host->hooks;
}

const char *host_session_id(const struct host *host)
{
	return record_session_id(host->chat.record);
}

bool host_recorded(struct host *host, struct err *err)
{
	return record_whole(host->chat.record, err);
}

const char *host_model(const struct host *host)
{
	return model_id(host->model);
}

const char *host_key_from(const struct host *host)
{
	return host->choice.key_from;
}

uint64_t host_context_tokens(const struct host *host)
{
	return model_context_tokens(host->model);
}

/* Fires SessionStart, once a session; what its hooks add is kept for the first prompt. */
static void chat_start(struct host *host)
{
	struct chat *chat = &host->chat;
	struct hook_outcome said;

	if (chat->started)
		return;
	chat->started = true;
	fire_session(host, HOOK_SESSION_START, "source", chat->source ? chat->source : "startup",
	             &said);
	chat->start_context = mem_steal(&said.additional_context);
	hook_outcome_release(&said);
}

void host_start_session(struct host *host)
{
	host_begin(host);
	chat_start(host);
	host_end(host);
}

/* What SessionStart hooks added stands before the first prompt. */
static void host_add_start_context(struct host *host, json_t *content)
{
	_cleanup_free_ char *context = mem_steal(&host->chat.start_context);
	_cleanup_free_ char *text = NULL;
	json_auto_t *part = NULL;

	if (!context)
		return;
	text = mem_printf("<hook_context>%s</hook_context>\n\n", context);
	part = part_text(span_str(text));
	json_array_insert_new(json_object_get(content, "parts"), 0, json_show_unseen(part, NULL));
}

/* What a prompt mentions is read as read_many_files would, by the same rules. */
static void judge_mentions(const struct host *host, struct path_rules *rules,
                           struct session *session)
{
	const struct policy_call who = host_subject(host);

	path_rules_init(rules, host->options.policy, session->provider, &who);
	path_rules_mention(rules, tool_find("read_many_files"));
	session->provider = &rules->front.provider;
}

/* An agent or a resource of an MCP server, as mention_others.read has it. */
static json_t *mentioned_other(void *data, const char *name)
{
	struct host *host = data;
	json_t *result = host_mentioned_agent(host, name);
	struct err err = ERR_INIT;

	if (result)
		return result;
	if (!mcp_servers_has_resource(host->servers, name))
		return NULL;
	if (mcp_servers_resource(host->servers, name, &host->cancel.set, &result, &err))
		return result;
	return tool_failure(&err);
}

/* For the user. */
static void host_notice_updated(struct host *host, const json_t *updated)
{
	_cleanup_buf_ struct buf text = BUF_INIT(UPDATED_SHOWN);
	json_t *name;
	size_t i;

	buf_str(&text, "MCP servers say that these resources have changed; the model is told: ");
	json_array_foreach((json_t *)updated, i, name) {
		json_auto_t *shown = json_show_unseen(name, NULL);

		buf_str(&text, i ? ", " : "");
		buf_span(&text, json_span(shown));
	}
	host_notice(host, "info", text.data);
}

/* What servers have said of resources that were read: for the model, before the prompt. */
static void host_tell_updated(struct host *host, json_t *content)
{
	json_auto_t *updated = mcp_servers_updated(host->servers);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MCP_RESULT_BYTES);
	json_auto_t *part = NULL;
	json_t *name;
	size_t i;

	if (!json_array_size(updated))
		return;
	buf_str(&text, "<server_notice>\nMCP servers say that these resources have changed since "
	               "they were read:\n");
	json_array_foreach(updated, i, name) {
		buf_span(&text, json_span(name));
		buf_char(&text, '\n');
	}
	buf_str(&text, "Read one again before you rely on it.\n</server_notice>\n\n");
	part = part_text(buf_view(&text));
	json_array_insert_new(json_object_get(content, "parts"), 0, json_show_unseen(part, NULL));
	host_notice_updated(host, updated);
}

/* What is sent for what was piped in and what the user says; a new reference. */
static json_t *host_message(struct host *host, struct span piped, struct span prompt)
{
	const bool search = settings_bool(host->options.settings,
	                                  "context.fileFiltering.enableRecursiveFileSearch", true);
	const struct mention_others others = { .read = mentioned_other, .data = host };
	json_auto_t *notices = json_array(), *content = NULL;
	struct session session = host->chat.session;
	struct path_rules rules = { 0 };
	size_t unseen = 0;
	json_t *shown;

	session.hooks.cancel = &host->cancel.set;
	if (host->options.policy)
		judge_mentions(host, &rules, &session);
	content = mention_message(&session, piped, prompt, search, &others, notices);
	path_rules_release(&rules);
	shown = json_show_unseen(content, &unseen);
	if (unseen)
		source_notice_unseen("The prompt, with what it brings along,", unseen, notices);
	notice_all(host, notices);
	return shown;
}

void host_begin(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	cancel_reset(&host->cancel);
	host->busy = true;
	pthread_mutex_unlock(&host->lock);
}

void host_end(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	host->busy = false;
	cancel_reset(&host->cancel);
	pthread_mutex_unlock(&host->lock);
}

json_t *host_server_resources(struct host *host)
{
	return mcp_servers_resources(host->servers);
}

json_t *host_server_complete(struct host *host, const char *server, const json_t *params,
                             const struct cancel *cancel)
{
	return mcp_servers_complete(host->servers, server, params, cancel);
}

json_t *host_server_prompts(struct host *host, bool wait)
{
	if (wait) {
		host_begin(host);
		host_await_servers(host);
		host_end(host);
	}
	return mcp_servers_prompts(host->servers);
}

bool host_server_prompt(struct host *host, const char *server, const char *name,
                        const json_t *arguments, struct buf *out, struct err *err)
{
	json_t *media = json_array();
	bool ok;

	host_begin(host);
	ok = mcp_servers_prompt(host->servers, server, name, arguments, &host->cancel, out, media,
	                        err);
	host_end(host);
	json_decref(host->attached);
	host->attached = media;
	if (!ok)
		json_array_clear(media);
	return ok;
}

/* What goes with the prompt. */
static void host_add_attached(struct host *host, json_t *content)
{
	json_auto_t *media = mem_steal(&host->attached);
	json_t *part;
	size_t i;

	json_array_foreach(media, i, part)
		content_add(content, json_pack("{s:{s:O,s:O}}", "inlineData", "mimeType",
		                               json_object_get(part, "mime_type"), "data",
		                               json_object_get(part, "data")));
}

bool host_send(struct host *host, struct span piped, struct span prompt,
               struct agent_outcome *outcome, struct err *err)
{
	json_auto_t *content = NULL;

	host_follow_server_orders(host);
	host_await_servers(host);
	agent_expect(host->chat.agent);
	content = host_message(host, piped, prompt);
	host_tell_updated(host, content);
	host_add_attached(host, content);
	chat_start(host);
	host_add_start_context(host, content);
	return agent_prompt(host->chat.agent, content, outcome, err);
}

bool host_compress(struct host *host, struct err *err)
{
	bool ok;

	host_begin(host);
	ok = agent_compress(host->chat.agent, err);
	host_end(host);
	return ok;
}

json_t *host_call(struct host *host, const char *name, json_t *arguments)
{
	json_t *result;

	host_begin(host);
	result = agent_call(host->chat.agent, name, arguments);
	host_end(host);
	return result;
}

bool host_interrupt(struct host *host)
{
	bool busy;

	pthread_mutex_lock(&host->lock);
	busy = host->busy;
	if (busy)
		cancel_set(&host->cancel);
	pthread_mutex_unlock(&host->lock);
	return busy;
}

const struct session *host_session(const struct host *host)
{
	return &host->chat.session;
}

const struct policy *host_policy(const struct host *host)
{
	return host->options.policy;
}

struct provider *host_provider(const struct host *host)
{
	return host->options.provider;
}

const struct skills *host_skills(const struct host *host)
{
	return host->skills;
}

const struct agents *host_agents(const struct host *host)
{
	return host->agents;
}

struct home *host_home(const struct host *host)
{
	return host->home;
}

struct checkpoints *host_checkpoints(const struct host *host)
{
	return checkpoint_session_of(host->chat.checkpoints);
}

const char *host_record_file(const struct host *host)
{
	return record_path(host->chat.record);
}

const char *host_plans_folder(const struct host *host)
{
	return services_plans_folder(host->chat.services);
}

bool host_steer(struct host *host, struct span text)
{
	bool taken;

	pthread_mutex_lock(&host->lock);
	taken = host->busy && agent_steer(host->chat.agent, text);
	pthread_mutex_unlock(&host->lock);
	return taken;
}
