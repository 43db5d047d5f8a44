/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent is made of, and what its parts share. */
#include <string.h>
#include <time.h>

#include "agent/call/calls.h"
#include "agent/context/context.h"
#include "agent/context/surroundings.h"
#include "agent/private.h"
#include "agent/session/record.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "tool/answer.h"
#include "tool/dialect.h"
#include "tool/set.h"
#include "tool/tool.h"

/* ---- settings ---------------------------------------------------------------------- */

static bool setting_bool(const struct settings *settings, const char *path, bool fallback)
{
	return settings ? settings_bool(settings, path, fallback) : fallback;
}

static size_t setting_size(const struct settings *settings, const char *path, size_t fallback)
{
	int64_t value = settings ? settings_integer(settings, path, (int64_t)fallback) :
	                           (int64_t)fallback;

	return value < 0 ? 0 : (size_t)value;
}

static void read_settings(struct agent *agent)
{
	const struct settings *settings = agent->options.settings;
	struct mask_options mask = MASK_OPTIONS_DEFAULT;

	agent->trim_superseded = setting_bool(settings, "hasp.trimSuperseded", true);
	agent->detect_loops = !setting_bool(settings, "model.disableLoopDetection", false);
	/* What is allowed for longer than one call is for trusted folders. */
	agent->may_always = !setting_bool(settings, "security.disableAlwaysAllow", false) &&
	                    (!settings || settings_trusted(settings)) &&
	                    !policy_caller(agent->options.policy);
	agent->may_save = setting_bool(settings, "security.enablePermanentToolApproval", false);
	agent->trusted = settings && settings_trusted(settings);
	agent->compression_threshold =
		settings ? settings_number(settings, "model.compressionThreshold", 0.5) : 0.5;
	if (!(agent->compression_threshold > 0)) /* nor NaN */
		agent->compression_threshold = 0.5;
	mask.folder = agent->options.output_folder;
	mask.truncate_chars = setting_size(settings, "tools.truncateToolOutputThreshold",
	                                   mask.truncate_chars);
	mask.protect_tokens = setting_size(
		settings, "contextManagement.tools.outputMasking.protectionThresholdTokens",
		mask.protect_tokens);
	mask.min_tokens = setting_size(
		settings, "contextManagement.tools.outputMasking.minPrunableThresholdTokens",
		mask.min_tokens);
	mask.protect_latest = setting_bool(
		settings, "contextManagement.tools.outputMasking.protectLatestTurn",
		mask.protect_latest);
	agent->mask = mask;
}

/* ---- agents ------------------------------------------------------------------------ */

static char *workspace_root(const struct session *session)
{
	struct provider *provider = session->provider;
	const char *root = provider ? provider->ops->root(provider, 0) : NULL;

	return mem_strdup(root ? root : "/");
}

static json_t *with_context(const struct agent *agent, const json_t *conversation)
{
	json_t *all = json_array();

	if (agent->context)
		json_array_append(all, agent->context);
	if (conversation)
		json_array_extend(all, (json_t *)conversation);
	return all;
}

/* A file as @ put it into a prompt (agent/prompt/mention.c); else NULL. */
static json_t *mentioned_file(const json_t *part)
{
	const struct span text = json_span(json_object_get(part, "text"));
	struct err ignored = ERR_INIT;
	json_t *file;

	return (span_starts(text, SPAN("{\"success\":true,\"file_path\":")) ||
	        span_starts(text, SPAN("{\"file_path\":"))) &&
	                       json_parse(text, &file, &ignored) ? file : NULL;
}

/* What the session has of files is what stands in its history. */
static void learn_seen(struct agent *agent)
{
	struct session *session = agent->options.session;
	const struct tool *reader = tool_find(tool_name(TOOL_READ_FILE));
	size_t i, k;
	json_t *message, *part;

	seen_forget(session, NULL);
	json_array_foreach(agent->history, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part) {
			const json_t *answer = json_object_get(part, "functionResponse");
			const char *name = json_string_value(json_object_get(answer, "name"));
			json_auto_t *file = content_is_user(message) ? mentioned_file(part) : NULL;

			if (name)
				answer_learn(session, tool_set_find(session->tools, name),
				             json_object_get(answer, "response"));
			else if (file)
				answer_learn(session, reader, file);
		}
}

/* System prompt and first message: what the session began with, or what there is now. */
static void begin_surroundings(struct agent *agent, const struct agent_options *options)
{
	const json_t *sent = options->surroundings ? options->sent : NULL;

	if (!options->surroundings) {
		agent->system = options->system.len ?
		                        mem_dup(options->system.data, options->system.len) :
		                        mem_strdup("");
		agent->context = json_incref((json_t *)options->context);
		return;
	}
	if (!sent) {
		agent_renew_surroundings(agent, NULL);
		return;
	}
	agent->system = surroundings_text(json_object_get(sent, "system"));
	agent->context = surroundings_message(sent);
	agent->known = surroundings_by_name(sent);
	surroundings_update(agent->known, json_object_get(sent, "told"));
}

bool agent_reserve_call_id(struct agent *agent, const char *id)
{
	struct agent *top = agent->top;
	bool fresh;

	pthread_mutex_lock(&top->lock);
	fresh = !json_object_get(top->ids, id);
	if (fresh)
		json_object_set_new(top->ids, id, json_true());
	pthread_mutex_unlock(&top->lock);
	return fresh;
}

static void reserve_call_ids(struct agent *agent)
{
	size_t i, k;
	json_t *message, *part;

	json_array_foreach(agent->history, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part) {
			const char *id = json_string_value(
				json_object_get(part_get_call(part), "id"));

			if (id)
				agent_reserve_call_id(agent, id);
		}
}

struct agent *agent_new(const struct agent_options *options)
{
	struct agent *agent = mem_alloc(1, sizeof(*agent));

	agent->options = *options;
	agent->options.name = mem_strdup(options->name);
	agent->options.parent_call = mem_strdup(options->parent_call);
	agent->options.session_id = mem_strdup(options->session_id);
	agent->options.policy_folder = mem_strdup(options->policy_folder);
	agent->options.output_folder = mem_strdup(options->output_folder);
	agent->top = options->parent ? options->parent->top : agent;
	agent->root = workspace_root(options->session);
	agent->first_prompt = options->first_prompt ? mem_strdup(options->first_prompt) :
	                                              context_first_prompt_of(options->history);
	agent->stats = options->parent ? options->parent->stats : stats_new();
	atomic_init(&agent->mode, (int)options->mode);
	atomic_init(&agent->stop, false);
	agent->known_mode = options->mode;
	begin_surroundings(agent, options);
	agent->history = with_context(agent, options->history);
	agent->sent = context_sent_new();
	agent->superseded = mask_superseded_new();
	agent->loop = loop_check_new();
	agent->ids = json_object();
	agent->folders = json_object();
	agent->proposals = json_object();
	pthread_mutex_init(&agent->lock, NULL);
	pthread_mutex_init(&agent->question_lock, NULL);
	read_settings(agent);
	reserve_call_ids(agent);
	if (json_array_size(options->history))
		learn_seen(agent);
	return agent;
}

void agent_free(struct agent *agent)
{
	if (!agent)
		return;
	mask_superseded_free(agent->superseded);
	loop_check_free(agent->loop);
	if (!agent->options.parent)
		stats_free(agent->stats);
	json_decref(agent->context);
	json_decref(agent->known);
	json_decref(agent->beginning);
	context_sent_free(agent->sent);
	json_decref(agent->history);
	free(agent->first_prompt);
	json_decref(agent->missing);
	json_decref(agent->steers);
	json_decref(agent->declared);
	json_decref(agent->offered);
	json_decref(agent->ids);
	json_decref(agent->folders);
	json_decref(agent->proposals);
	pthread_mutex_destroy(&agent->lock);
	pthread_mutex_destroy(&agent->question_lock);
	free((char *)agent->options.name);
	free((char *)agent->options.parent_call);
	free((char *)agent->options.session_id);
	free((char *)agent->options.policy_folder);
	free((char *)agent->options.output_folder);
	free(agent->stop_reason);
	free(agent->system);
	free(agent->root);
	free(agent);
}

const json_t *agent_history(const struct agent *agent)
{
	return agent->history;
}

/* Whether a message answers a call, and none with an error. */
static bool call_was_taken(const json_t *answers, const json_t *call)
{
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(answers, "parts"), i, part) {
		const json_t *response = json_object_get(part, "functionResponse");

		if (response && json_equal(json_object_get(response, "id"),
		                           json_object_get(call, "id")))
			return !json_object_get(json_object_get(response, "response"), "error");
	}
	return false;
}

/* The argument `member` of the last call that succeeded, of a tool for which `wanted` says yes, if
 * it is of this type and not empty; borrowed. NULL: there is none. */
static const json_t *last_argument(const json_t *history, json_type type, const char *member,
                                   bool (*wanted)(const struct tool_info *info))
{
	for (size_t i = json_array_size(history); i-- > 0;) {
		const json_t *parts = json_object_get(json_array_get(history, i), "parts");

		for (size_t k = json_array_size(parts); k-- > 0;) {
			const json_t *call =
				json_object_get(json_array_get(parts, k), "functionCall");
			const char *name = json_string_value(json_object_get(call, "name"));
			const json_t *value =
				json_object_get(json_object_get(call, "args"), member);
			const struct tool_info *info = name && value ? tool_info_of(name) : NULL;

			if (info && wanted(info) && json_typeof(value) == type &&
			    !(json_is_string(value) && !json_string_length(value)) &&
			    call_was_taken(json_array_get(history, i + 1), call))
				return value;
		}
	}
	return NULL;
}

static bool is_topics(const struct tool_info *info)
{
	return info->topic;
}

static bool is_todos(const struct tool_info *info)
{
	return info == &tool_infos[TOOL_WRITE_TODOS];
}

const char *agent_topic(const json_t *history)
{
	return json_string_value(last_argument(history, JSON_STRING, "title", is_topics));
}

const json_t *agent_todos(const json_t *history)
{
	return last_argument(history, JSON_ARRAY, "todos", is_todos);
}

json_t *agent_stats(const struct agent *agent)
{
	return stats_json(agent->stats);
}

json_t *agent_stream_stats(const struct agent *agent, uint64_t duration_ms)
{
	return stats_stream_json(agent->stats, duration_ms);
}

unsigned agent_calls(const struct agent *agent)
{
	return atomic_load(&agent->calls);
}

enum approval_mode agent_mode(const struct agent *agent)
{
	return (enum approval_mode)atomic_load(&agent->top->mode);
}

void agent_set_mode(struct agent *agent, enum approval_mode mode)
{
	json_auto_t *message = json_object();

	atomic_store(&agent->top->mode, (int)mode);
	json_object_set_new(message, "mode", json_string(policy_mode_name(mode)));
	agent_publish(agent->top, BUS_APPROVAL_MODE, message);
}

/* ---- what its parts share ---------------------------------------------------------- */

/* `hook`: they are a hook's words for people, who see them wherever they are. */
static void notice_publish(struct agent *agent, enum severity severity, const char *message,
                           bool hook)
{
	json_auto_t *notice = json_object();

	json_object_set_new(notice, "severity", json_string(notices_severity_name(severity)));
	json_object_set_new(notice, "message", json_text(span_str(message)));
	if (hook)
		json_object_set_new(notice, "hook", json_true());
	agent_publish(agent, BUS_NOTICE, notice);
	if (!agent->options.record)
		return;
	pthread_mutex_lock(&agent->lock);
	record_notice(agent->options.record, notices_severity_name(severity), message);
	pthread_mutex_unlock(&agent->lock);
}

void agent_notice(struct agent *agent, enum severity severity, const char *message)
{
	notice_publish(agent, severity, message, false);
}

/* What hooks added to the message that the request ends with; a new reference; NULL: nothing. */
static json_t *hook_context_sent(const json_t *contents)
{
	const json_t *last = json_array_get(contents, json_array_size(contents) - 1);
	json_t *texts = NULL, *part;
	size_t i;

	json_array_foreach(json_object_get(last, "parts"), i, part) {
		json_t *text = json_object_get(part, "text");

		if (!span_starts(json_span(text), SPAN("<hook_context>")))
			continue;
		texts = texts ? texts : json_array();
		json_array_append(texts, text);
	}
	return texts;
}

void agent_report_request(struct agent *agent, const char *role, const json_t *contents)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "model", json_cstr(model_id(agent->options.model)));
	json_object_set_new(message, "role", json_string(role));
	json_object_set_new(message, "hookContext", hook_context_sent(contents));
	agent_publish(agent, BUS_API_REQUEST, message);
}

void agent_report_reply(struct agent *agent, const char *role, const struct model_reply *reply)
{
	const struct model_usage *usage = &reply->usage;
	json_auto_t *message = json_pack(
		"{s:I, s:s, s:{s:I, s:I, s:I, s:I, s:I, s:I}}",
		"durationMs", (json_int_t)reply->ms,
		"reason", model_finish_name(reply->finish), "usage",
		"input", (json_int_t)usage->input, "output", (json_int_t)usage->output,
		"cached", (json_int_t)usage->cached,
		"thoughts", (json_int_t)usage->thoughts,
		"tool", (json_int_t)usage->tool, "total", (json_int_t)usage->total);

	stats_reply(agent->stats, role, reply);
	json_object_set_new(message, "model", json_cstr(reply->model));
	json_object_set_new(message, "role", json_string(role));
	agent_publish(agent, BUS_API_RESPONSE, message);
}

void agent_report_failure(struct agent *agent, const char *role, const struct err *err, double ms)
{
	const char *model = model_id(agent->options.model);
	json_auto_t *message = json_object();

	stats_failure(agent->stats, role, model, err, ms);
	json_object_set_new(message, "model", json_cstr(model));
	json_object_set_new(message, "role", json_string(role));
	json_object_set_new(message, "durationMs", json_integer((json_int_t)ms));
	json_object_set_new(message, "type", json_string(err_name(err->code)));
	json_object_set_new(message, "error", json_text(span_str(err->message)));
	agent_publish(agent, BUS_API_ERROR, message);
}

void agent_append(struct agent *agent, json_t *message)
{
	const size_t count = json_array_size(agent->history);
	json_t *last = json_array_get(agent->history, count - 1), *both, *parts;

	if (count <= (agent->context ? 1 : 0) ||
	    content_is_user(last) != content_is_user(message)) {
		json_array_append_new(agent->history, message);
		return;
	}
	both = json_copy(last);
	parts = json_copy(json_object_get(last, "parts"));
	json_array_extend(parts, json_object_get(message, "parts"));
	json_object_set_new(both, "parts", parts);
	json_array_set_new(agent->history, count - 1, both);
	agent->counted_messages = 0;
	json_decref(message);
}

json_t *agent_conversation(const struct agent *agent)
{
	json_t *conversation = json_copy(agent->history);

	if (agent->context)
		json_array_remove(conversation, 0);
	return conversation;
}

/* What was found just in time and is in the history. */
static json_t *context_in(const json_t *history)
{
	json_t *texts = json_array(), *message, *part;
	size_t i, k;

	json_array_foreach((json_t *)history, i, message)
		json_array_foreach(json_object_get(message, "parts"), k, part) {
			const json_t *response =
				json_object_get(part_get_response(part), "response");
			json_t *found = json_object_get(response, FOUND_CONTEXT);

			if (found)
				json_array_append(texts, found);
		}
	return texts;
}

static void forget_context(struct agent *agent)
{
	json_auto_t *kept = context_in(agent->history);

	pthread_mutex_lock(&agent->lock);
	json_object_clear(agent->folders);
	if (agent->options.context_lost)
		agent->options.context_lost(agent->options.context_data, kept);
	pthread_mutex_unlock(&agent->lock);
}

void agent_take_history(struct agent *agent, const json_t *conversation)
{
	json_decref(agent->history);
	agent->history = with_context(agent, conversation);
	agent->counted_messages = 0;
	mask_superseded_free(agent->superseded);
	agent->superseded = mask_superseded_new();
	context_sent_forget(agent->sent);
	forget_context(agent);
	learn_seen(agent);
}

void agent_replace(struct agent *agent, json_t *conversation)
{
	agent_take_history(agent, conversation);
	if (agent->options.record)
		record_replace(agent->options.record, conversation);
	json_decref(conversation);
}

/* ---- what is sent to the model ----------------------------------------------------- */

/* The context in its place, before the history. */
static void renew_context(struct agent *agent, const json_t *surroundings)
{
	json_t *message = surroundings_message(surroundings);

	if (agent->context && json_array_size(agent->history))
		json_array_set(agent->history, 0, message);
	json_decref(agent->context);
	agent->context = message;
}

/* The surroundings as they are, in the mode that the model knows of from now on; a new reference.
 * NULL: there are none. */
static json_t *surroundings_now(struct agent *agent)
{
	const struct agent_options *options = &agent->options;

	if (!options->surroundings)
		return NULL;
	agent->known_mode = agent_mode(agent);
	return options->surroundings(options->surroundings_data, agent->known_mode);
}

void agent_renew_surroundings(struct agent *agent, json_t *cut)
{
	json_auto_t *now = surroundings_now(agent);

	if (!now)
		return;
	json_decref(agent->known);
	agent->known = surroundings_by_name(now);
	if (cut)
		json_object_set_new(now, "context", surroundings_pieces_of(cut));
	free(agent->system);
	agent->system = surroundings_text(json_object_get(now, "system"));
	renew_context(agent, now);
	json_decref(agent->beginning);
	agent->beginning = mem_steal(&now);
}

void agent_note_changes(struct agent *agent, json_t *message)
{
	json_auto_t *now = surroundings_now(agent), *changes = NULL;
	_cleanup_free_ char *note = NULL;

	if (!now)
		return;
	changes = surroundings_changes(agent->known, now);
	if (!json_array_size(changes))
		return;
	note = surroundings_note(agent->known, changes);
	content_add(message, part_text(span_str(note)));
	surroundings_update(agent->known, changes);
	record_changes(agent->options.record, changes);
}

void agent_drop_thoughts(struct agent *agent)
{
	json_t *without = content_drop_bound_thoughts(agent->history);

	if (!without)
		return;
	json_decref(agent->history);
	agent->history = without;
	record_thoughts_dropped(agent->options.record);
}

/* ---- hooks ------------------------------------------------------------------------- */

/* A hook said continue: false. What a sub-agent works for ends, too. */
static void agent_stop(struct agent *agent, const char *reason)
{
	if (agent->options.parent)
		agent_stop(agent->options.parent, reason);
	pthread_mutex_lock(&agent->lock);
	if (!agent->stop_reason)
		agent->stop_reason = mem_strdup(reason ? reason : "A hook stopped the work.");
	pthread_mutex_unlock(&agent->lock);
	agent->stop = true;
}

bool agent_has_hooks(const struct agent *agent, enum hook_event event, const char *matched)
{
	const bool around = event == HOOK_BEFORE_AGENT || event == HOOK_AFTER_AGENT;

	return agent->options.hooks && !(around && agent->options.parent) &&
	       hooks_any(agent->options.hooks, event, matched);
}

json_t *agent_hook_input(const struct agent *agent, const json_t *input)
{
	static const char *const modes[MODE_COUNT] = {
		[MODE_PLAN] = "plan", [MODE_DEFAULT] = "default", [MODE_AUTO_EDIT] = "acceptEdits",
		[MODE_YOLO] = "bypassPermissions",
	};
	json_t *all = json_copy((json_t *)input), *theirs = json_object();
	const struct agent_options *options = &agent->options;

	json_object_set_new(theirs, "permission_mode", json_string(modes[agent_mode(agent)]));
	if (options->parent && options->name) {
		json_object_set_new(theirs, "agent_type", json_cstr(options->name));
		json_object_set_new(theirs, "agent_id",
		                    json_cstr(options->parent_call ? options->parent_call :
		                                                     options->name));
	}
	json_object_update(theirs, json_object_get(input, "claude"));
	json_object_set_new(all, "claude", theirs);
	return all;
}

bool agent_fire(struct agent *agent, enum hook_event event, const char *matched,
                const json_t *input, struct hook_outcome *ret)
{
	json_auto_t *all = NULL;

	if (!agent_has_hooks(agent, event, matched))
		return false;
	all = agent_hook_input(agent, input);
	hooks_fire(agent->options.hooks, event, matched, all, agent->options.cancel, ret);
	if (ret->system_message && !ret->suppress_output)
		notice_publish(agent, SEVERITY_INFO, ret->system_message, true);
	if (ret->stop)
		agent_stop(agent, ret->reason);
	return true;
}
