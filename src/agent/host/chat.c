/* SPDX-License-Identifier: Apache-2.0 */
/* One session of a host: the conversation that it continues, its record, tools and agent, and the
 * hooks at its start and end. */
#include "agent/host/private.h"
#include "agent/host/services.h"
#include "agent/host/subagents.h"

#include <stdlib.h>
#include <string.h>

#include "agent/checkpoint/checkpoint.h"
#include "agent/prompt/prompt.h"
#include "agent/session/sessions.h"
#include "agent/setup/prepare.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "config/extensions.h"
#include "config/home.h"
#include "data/json.h"
#include "tool/answer.h"
#include "worker/job/job.h"
#include "worker/provider.h"

/* ---- the conversation and its record ---------------------------------------------- */

/* Whether the file is in a folder where hasp stores sessions. */
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
	if (!session_read_file(file, &read, err))
		return false;
	host->chat.source = host->chat.source ? host->chat.source : "resume";
	session_read_defects(&read, &defects);
	if (defects.len)
		host_warn(host, defects.data);
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
		.trouble = host_trouble,
		.data = host,
	};
	struct err missing = ERR_INIT;
	bool ok;

	if (!host->home && !home_open(host->root, &host->home, err))
		return false;
	options.home = host->home;
	if (home_missing(host->home, &missing))
		host_notice(host, SEVERITY_WARNING, missing.message);
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

/* ---- tools ------------------------------------------------------------------------ */

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
		.watched = host->options.watched,
		.editor = host->editor,
		.cancel = host->options.cancel,
		.notices = host->options.notices,
	};

	host->chat.services = services_open(&options);
}

static enum return_content return_content_setting(const struct settings *settings)
{
	const char *word = settings_string(settings, "hasp.returnContent", "new");

	return strcmp(word, "diff") == 0 ? RETURN_DIFF :
	       strcmp(word, "none") == 0 ? RETURN_NONE :
	       strcmp(word, "full") == 0 ? RETURN_FULL : RETURN_NEW;
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

static void open_settings(struct host *host)
{
	session_settings_release(&host->session_settings);
	session_settings_init(&host->session_settings, host->options.settings, host->options.local);
	session_settings_put(&host->session_settings, &host->chat.session);
	if (settings_bool(host->options.settings, "tools.shell.enableInteractiveShell", true))
		host->chat.session.terminal = terminals_size(host->terminals);
}

/* They are the host's: another session goes on with them. */
static void open_servers(struct host *host)
{
	setup_command_env_init(&host->servers_env, host->options.settings);
	if (!host->samplings)
		host->samplings = samplings_new();
	host->servers = host_servers_open(host, NULL);
	host_take_server_orders(host);
}

void host_open_tools(struct host *host)
{
	const struct settings *settings = host->options.settings;
	_cleanup_free_ char *logs = jobs_default_log_folder();
	json_auto_t *excluded = extensions_excluded_tools(settings);
	struct err ignored = ERR_INIT; /* a server has taken its name since */

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
	for (size_t i = 0; i < host->own_tool_count; i++)
		tool_set_add(host->chat.tools, host->own_tools[i].tool, NULL, &ignored);
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
	host->chat.session.answer_tokens = (size_t)settings_integer(settings, "hasp.answerTokens",
	                                                            ANSWER_TOKENS_DEFAULT);
	open_settings(host);
	session_raise_version(&host->chat.session, highest_version(host->chat.history, 0));
	services_attach(host->chat.services, &host->chat.session);
}

/* ---- its agent --------------------------------------------------------------------- */

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

static void host_open_checkpoints(struct host *host)
{
	struct checkpoint_session_options options = {
		.settings = host->options.settings, .provider = host->options.provider,
		.bus = host->bus, .session_id = record_session_id(host->chat.record),
		.notices = host->options.notices, .cancel = host->options.cancel,
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
		.steer_message = host_steer_message, .steer_data = host,
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
	if (!host_open_agent(host, err))
		return false;
	if (agent_todos(agent_history(host->chat.agent)))
		host_recall_todos(host);
	return true;
}

/* ---- its beginning and its end ------------------------------------------------------ */

static void fire_session(struct host *host, enum hook_event event, const char *member,
                         const char *word, struct hook_outcome *ret)
{
	json_auto_t *said = json_pack("{s:s}", member, word);
	json_auto_t *input = host->chat.agent ? agent_hook_input(host->chat.agent, said) :
	                                        json_incref(said);

	*ret = (struct hook_outcome){ 0 };
	if (hooks_any(host->hooks, event, word))
		/* A signal cancels the run, but not the SessionEnd hooks. */
		hooks_fire(host->hooks, event, word, input,
		           event == HOOK_SESSION_END ? NULL : host->options.cancel, ret);
	if (ret->system_message && !ret->suppress_output)
		host_notice(host, SEVERITY_HOOK, ret->system_message);
	if (ret->denied) {
		_cleanup_free_ char *text = mem_printf(
			"A %s hook objected, but cannot stop a session from starting or ending: %s",
			hook_event_name(event), ret->reason);

		host_warn(host, text);
	}
}

void host_chat_start(struct host *host)
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

void host_end_session(struct host *host, const char *reason)
{
	struct hook_outcome said;

	if (!host->chat.started)
		return;
	fire_session(host, HOOK_SESSION_END, "reason", reason ? reason : "other", &said);
	hook_outcome_release(&said);
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

/* ---- the record, for tasks of other agents ------------------------------------------- */

bool host_record_a2a_task(struct host *host, const json_t *line)
{
	bool ok;

	pthread_mutex_lock(&host->lock);
	ok = host->a2a_record != NULL;
	if (ok)
		record_a2a_task(host->a2a_record, line);
	pthread_mutex_unlock(&host->lock);
	return ok;
}

void host_leave_a2a_record(struct host *host)
{
	pthread_mutex_lock(&host->lock);
	host->a2a_record = NULL;
	pthread_mutex_unlock(&host->lock);
}
