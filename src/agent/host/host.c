/* SPDX-License-Identifier: Apache-2.0 */
/* An agent put together: model, hooks, instructions, a session (chat.c); its prompts. */
#include "agent/host/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/call/path_rules.h"
#include "agent/checkpoint/checkpoint.h"
#include "agent/host/private.h"
#include "agent/host/services.h"
#include "agent/prompt/prompt.h"
#include "agent/session/sessions.h"
#include "agent/setup/policy_load.h"
#include "agent/setup/prepare.h"
#include "audit/audit.h"
#include "base/mem.h"
#include "config/home.h"
#include "data/json.h"
#include "model/choose.h"
#include "model/content.h"
#include "model/model.h"
#include "model/parameters.h"
#include "telemetry/telemetry.h"
#include "worker/job/job.h"
#include "worker/provider.h"

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

	return recording_open(host->options.record_file, roots, host_trouble, host,
	                      &host->recording, err);
}

/* As the setting hasp.effort says. */
static void open_effort(struct host *host)
{
	const enum model_thinking thinking = model_thinking_of(
		settings_string(host->options.settings, "hasp.effort", "default"));

	if (thinking != MODEL_THINK_DEFAULT)
		host_set_thinking(host, thinking);
}

static bool open_model(struct host *host, struct err *err)
{
	struct model_options *options = &host->choice.options;

	if (!(host->options.keyless ? model_choose_keyless : model_choose)(
		    host->options.settings, host->options.model, &host->choice, err))
		return false;
	host_warn_all(host, host->choice.warnings);
	/* Before anything is asked: what cannot be recorded is not to be paid for. */
	if (host->options.record_file && !open_recording(host, err))
		return false;
	options->recording = host->recording;
	options->trace = host->options.trace;
	options->trace_data = host->options.data;
	open_effort(host);
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
		.caller = policy_caller(host->options.policy),
		.environment = host->options.environment,
		.notices = host->options.notices,
		.ran = host_hook_ran,
		.data = host,
	};
	json_auto_t *problems = json_array();
	_cleanup_free_ char *untrusted = NULL;
	struct hooks *hooks = setup_load_hooks(&sources, problems);

	host_warn_all(host, problems);
	untrusted = setup_hooks_untrusted_sentence(hooks);
	if (untrusted)
		host_warn(host, untrusted);
	return hooks;
}

void host_renew_hooks(struct host *host)
{
	hooks_renew(host->hooks, host_load_hooks(host));
}

/* ---- MCP servers ------------------------------------------------------------- */

void host_take_new_tools(struct host *host)
{
	_cleanup_free_ char *off_text = NULL;

	host_defer_tools(host, host->chat.tools);
	agent_tools_added(host->chat.agent);
	off_text = host_off_text(host, agent_mode(host->chat.agent));
	services_follow(host->chat.services, host->chat.agent, off_text != NULL);
}

bool host_add_tool(struct host *host, struct tool *tool, void (*release)(struct tool *tool),
                   struct err *err)
{
	if (!tool_set_add(host->chat.tools, tool, NULL, err))
		return false;
	host->own_tools = mem_grow(host->own_tools, &host->own_tool_cap, host->own_tool_count + 1,
	                           sizeof(*host->own_tools));
	host->own_tools[host->own_tool_count++] = (struct added_tool){ tool, release };
	host_take_new_tools(host);
	return true;
}

void host_set_editor(struct host *host, const struct tool_editor *editor)
{
	host->editor = editor;
	services_set_editor(host->chat.services, editor);
	host_take_new_tools(host);
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

/* Asks the worker, as for all paths of the workspace. A directory gives an error code that nothing
 * else does. */
static bool is_git(const struct host *host)
{
	struct read_request request = { .path = ".git", .max_lines = 1 };
	struct read_result read;
	struct err err = ERR_INIT;
	bool is =
		provider_read(host->options.provider, &request, &read, &err) ||
	          err.code != ERR_FILE_NOT_FOUND;

	read_result_release(&read);
	return is;
}

static void open_retention(struct host *host)
{
	const char *why;

	host->retains = sessions_retention_read(host->options.settings, &host->retention, &why);
	if (why)
		host_warn(host, why);
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
		.caller = policy_caller(host->options.policy),
		.interactive = host->options.interactive, .mask = host_mask_keys,
		.notices = host->options.notices,
	});
}

static void open_audit(struct host *host)
{
	_cleanup_free_ char *folder = NULL;
	struct err ignored = ERR_INIT;

	if (!host->home || home_missing(host->home, &ignored) ||
	    !settings_bool(host->options.settings, "hasp.audit.enabled", true))
		return;
	folder = mem_printf("%s/" AUDIT_FOLDER, home_gemini(host->home));
	host->audit = audit_open(&(struct audit_options){
		.bus = host->bus, .folder = folder,
		.session_id = record_session_id(host->chat.record), .project = host->root,
		.caller = policy_caller(host->options.policy),
		.notices = host->options.notices,
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
	open_audit(host);
	host_open_tools(host);
	host->hooks = host_load_hooks(host);
	host->git = is_git(host);
	host_load_memory(host);
	open_retention(host);
	if (!host_open_chat_agent(host, err)) {
		host_close(host, NULL);
		return false;
	}
	host->a2a_record = host->chat.record;
	*ret = host;
	return true;
}

void host_close(struct host *host, const char *reason)
{
	if (!host)
		return;
	host_leave_a2a_record(host);
	host_end_session(host, reason);
	jobs_free(host->jobs);
	terminals_free(host->terminals);
	/* When the session is over: who waits for an answer does not wait for this. */
	if (host->retains && host->chat.record)
		sessions_retention_apply(host->home, &host->retention, time(NULL),
		                         record_path(host->chat.record));
	host_chat_release(&host->chat);
	for (size_t i = 0; i < host->own_tool_count; i++)
		host->own_tools[i].release(host->own_tools[i].tool);
	free(host->own_tools);
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
	audit_close(host->audit);
	if (host->choice.store)
		model_choice_release(&host->choice);
	bus_free(host->bus);
	home_free(host->home);
	skills_free(host->skills);
	agents_free(host->agents);
	json_decref(host->system);
	json_decref(host->context);
	session_settings_release(&host->session_settings);
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

struct host_facts host_facts(const struct host *host)
{
	return (struct host_facts){
		.model = model_id(host->model), .key_from = host->choice.key_from,
		.effort = model_thinking_name(host->thinking),
		.context_tokens = model_context_tokens(host->model),
		.session_id = record_session_id(host->chat.record),
		.record_file = record_path(host->chat.record),
		.plans_folder = services_plans_folder(host->chat.services),
		.memory_files = memory_files(host->memory),
		.memory_global = memory_global(host->memory),
		.memory_project = memory_project(host->memory),
		.agent = host->chat.agent, .session = &host->chat.session,
		.checkpoints = checkpoint_session_of(host->chat.checkpoints),
		.hooks = host->hooks, .policy = host->options.policy,
		.provider = host->options.provider, .skills = host->skills,
		.home = host->home,
	};
}

const struct agents *host_agents(const struct host *host)
{
	return host->agents;
}

void host_continue_trace(struct host *host, const char *traceparent)
{
	telemetry_continue_trace(host->telemetry, traceparent);
}

bool host_recorded(struct host *host, struct err *err)
{
	return record_whole(host->chat.record, err);
}

void host_start_session(struct host *host)
{
	host_begin(host);
	host_chat_start(host);
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

bool host_send(struct host *host, struct span piped, struct span prompt,
               struct agent_outcome *outcome, struct err *err)
{
	json_auto_t *content = NULL;

	host_follow_server_orders(host);
	host_await_servers(host);
	agent_expect(host->chat.agent);
	content = host_prompt_message(host, piped, prompt);
	host_chat_start(host);
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

bool host_expand(struct host *host, struct expand_text *text, struct buf *out, bool *ret_used,
                 char **ret_problem)
{
	bool ok;

	host_begin(host);
	ok = host_expand_here(host, text, out, ret_used, ret_problem);
	host_end(host);
	return ok;
}

json_t *host_call_ordered(struct host *host, const char *name, json_t *arguments)
{
	json_t *result;

	host_begin(host);
	result = agent_call_ordered(host->chat.agent, name, arguments);
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

void host_set_mode(struct host *host, enum approval_mode mode)
{
	agent_set_mode(host->chat.agent, mode);
}

bool host_steer(struct host *host, struct span text)
{
	bool taken;

	pthread_mutex_lock(&host->lock);
	taken = host->busy && agent_steer(host->chat.agent, text);
	pthread_mutex_unlock(&host->lock);
	return taken;
}
