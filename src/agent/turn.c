/* SPDX-License-Identifier: Apache-2.0 */
/* A turn: hooks on the request and the reply, the model asked, calls run. */
#include <string.h>

#include "agent/call/calls.h"
#include "agent/private.h"
#include "agent/session/record.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/content.h"
#include "model/media.h"
#include "model/model.h"
#include "model/parameters.h"
#include "tool/dialect.h"
#include "tool/set.h"
#include "tool/tool.h"

/* ---- requests as hooks see them ---------------------------------------------- */

static json_t *message_text(const json_t *content)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *call = part_get_call(part), *answer = part_get_response(part);

		if (call || answer)
			json_print(&text, part, 0);
		else
			buf_span(&text, part_get_text(part));
	}
	return json_text(buf_view(&text));
}

static json_t *messages_of(const json_t *contents)
{
	json_t *messages = json_array(), *content, *message;
	size_t i;

	json_array_foreach((json_t *)contents, i, content) {
		message = json_object();
		json_object_set(message, "role", json_object_get(content, "role"));
		json_object_set_new(message, "content", message_text(content));
		json_array_append_new(messages, message);
	}
	return messages;
}

/* {"model", "messages": [{role, content}], "config", "toolConfig"}; a new reference. */
static json_t *hook_request(const char *model, const struct model_request *request)
{
	static const char *const modes[] = {
		[MODEL_TOOLS_AUTO] = "AUTO", [MODEL_TOOLS_ANY] = "ANY", [MODEL_TOOLS_NONE] = "NONE",
	};
	json_t *shown = json_object(), *tools = json_object();

	json_object_set_new(shown, "model", json_cstr(model));
	json_object_set_new(shown, "messages", messages_of(request->contents));
	json_object_set_new(shown, "config", model_parameters_config(request));
	json_object_set_new(tools, "mode", json_string(modes[request->tool_mode]));
	if (request->allowed_tools)
		json_object_set(tools, "allowedFunctionNames", (json_t *)request->allowed_tools);
	json_object_set_new(shown, "toolConfig", tools);
	return shown;
}

static void override_config(struct model_request *request, const json_t *config)
{
	const json_t *temperature = json_object_get(config, "temperature");
	const json_t *top_p = json_object_get(config, "topP");
	json_int_t top_k = json_integer_value(json_object_get(config, "topK"));
	json_int_t most = json_integer_value(json_object_get(config, "maxOutputTokens"));

	if (json_is_number(temperature))
		request->temperature = json_number_value(temperature);
	if (json_is_number(top_p))
		request->top_p = json_number_value(top_p);
	if (top_k > 0 && top_k <= 1000)
		request->top_k = (int)top_k;
	if (most > 0 && most <= UINT32_MAX)
		request->max_output_tokens = (unsigned)most;
}

static json_t *text_message(const json_t *message)
{
	const char *role = json_string_value(json_object_get(message, "role"));
	struct span text = json_span(json_object_get(message, "content"));
	json_t *content = content_new(role && !strcmp(role, "model") ? "model" : "user");

	content_add(content, part_text(text));
	return content;
}

/* Lays `override` (what hooks returned, compared with what they were `shown`) over the request.
 * What the request then points to is kept in *ret_owned, for the caller to release after the
 * request. */
static void hook_override(struct model_request *request, const json_t *shown,
                          const json_t *override, json_t **ret_owned)
{
	json_t *messages = json_object_get(override, "messages"), *message;
	size_t i;

	override_config(request, json_object_get(override, "config"));
	if (!json_is_array(messages) || json_equal(messages, json_object_get(shown, "messages")))
		return;
	*ret_owned = json_array();
	json_array_foreach(messages, i, message)
		json_array_append_new(*ret_owned, text_message(message));
	request->contents = *ret_owned;
}

/* ---- which tools ------------------------------------------------------------------- */

static const char *declared_name(const json_t *declaration)
{
	return json_string_value(json_object_get(declaration, "name"));
}

static bool is_declared(const json_t *tools, const char *name)
{
	size_t i;
	json_t *tool;

	json_array_foreach((json_t *)tools, i, tool)
		if (!strcmp(declared_name(tool), name))
			return true;
	return false;
}

/* Whether an entry of a list allows the tool declared as `name`. The declared name of a tool allows
 * that tool alone; any other name allows all tools that it stands for, and of a dialect's editors
 * (tool/dialect.h) those that can do no more. */
static bool word_allows(const json_t *tools, const char *word, const char *name)
{
	if (!strcmp(word, name))
		return true;
	if (is_declared(tools, word))
		return false;
	if (tool_info_stand_for(word, name, /* restricts= */ false))
		return true;
	for (size_t i = 0; i < tool_count(); i++)
		if (dialect_can(tool_at(i)->name, name) &&
		    tool_info_stand_for(word, tool_at(i)->name, /* restricts= */ false))
			return true;
	return false;
}

static bool list_allows(const json_t *tools, const json_t *allowed, const char *name)
{
	size_t i;
	json_t *word;

	json_array_foreach((json_t *)allowed, i, word)
		if (json_is_string(word) && word_allows(tools, json_string_value(word), name))
			return true;
	return false;
}

/* Whether any of the editors that are selected can be had by who may use hasp's `tool`. */
static bool has_place_of(const json_t *selected, const char *tool)
{
	size_t i;
	json_t *one;

	json_array_foreach((json_t *)selected, i, one)
		if (dialect_can(tool, declared_name(one)))
			return true;
	return false;
}

/* Those of the request's tools that the list allows; and editors of hasp's, where no editor of the
 * dialect does no more than they. */
static json_t *select_tools(struct agent *agent, const json_t *tools, const json_t *allowed)
{
	const struct tool_set *set = agent->options.session->tools;
	json_t *selected = json_array(), *tool;
	size_t i;

	json_array_foreach((json_t *)tools, i, tool)
		if (list_allows(tools, allowed, declared_name(tool)))
			json_array_append(selected, tool);
	for (i = 0; i < tool_set_count(set); i++) {
		const struct tool *editor = tool_set_at(set, i);

		if (editor->plans && !is_declared(tools, editor->name) &&
		    list_allows(tools, allowed, editor->name) &&
		    !has_place_of(selected, editor->name) && agent_declares(agent, editor))
			json_array_append_new(selected, tool_declaration(editor));
	}
	return selected;
}

/* BeforeToolSelection's {mode, allowedFunctionNames}; *ret_owned as above. */
static void hook_select_tools(struct agent *agent, struct model_request *request,
                              const json_t *config, json_t **ret_owned)
{
	const char *mode = json_string_value(json_object_get(config, "mode"));
	const json_t *allowed = json_object_get(config, "allowedFunctionNames");

	if (mode && !strcmp(mode, "NONE"))
		request->tool_mode = MODEL_TOOLS_NONE;
	else if (mode && !strcmp(mode, "ANY"))
		request->tool_mode = MODEL_TOOLS_ANY;
	if (!json_array_size(allowed) || !request->tools)
		return;
	*ret_owned = select_tools(agent, request->tools, allowed);
	request->tools = *ret_owned;
}

/* ---- replies as hooks see them ----------------------------------------------- */

static const char *finish_word(enum model_finish finish)
{
	static const char *const words[] = {
		[MODEL_FINISH_STOP] = "STOP",     [MODEL_FINISH_TOOLS] = "STOP",
		[MODEL_FINISH_LENGTH] = "MAX_TOKENS", [MODEL_FINISH_SAFETY] = "SAFETY",
		[MODEL_FINISH_OTHER] = "OTHER",   [MODEL_FINISH_PAUSE] = "OTHER",
	};

	return words[finish];
}

static json_t *hook_usage(const struct model_usage *usage)
{
	json_t *object = json_object();

	json_object_set_new(object, "promptTokenCount", json_size(usage->input));
	json_object_set_new(object, "candidatesTokenCount", json_size(usage->output));
	json_object_set_new(object, "totalTokenCount", json_size(usage->total));
	return object;
}

/* {"text", "candidates", "usageMetadata"}; a new reference. */
static json_t *hook_response(const struct model_reply *reply)
{
	json_t *response = json_object(), *content = json_object(), *parts = json_array();
	json_t *candidate = json_object(), *candidates = json_array();
	json_t *text = message_text(reply->content);

	json_array_append(parts, text);
	json_object_set_new(content, "role", json_string("model"));
	json_object_set_new(content, "parts", parts);
	json_object_set_new(candidate, "content", content);
	json_object_set_new(candidate, "finishReason", json_string(finish_word(reply->finish)));
	json_object_set_new(candidate, "index", json_integer(0));
	json_array_append_new(candidates, candidate);
	json_object_set_new(response, "text", text);
	json_object_set_new(response, "candidates", candidates);
	json_object_set_new(response, "usageMetadata", hook_usage(&reply->usage));
	return response;
}

/* The text of a response that a hook gave, as a message of the model; a new reference. NULL:
 * there is none in it. */
static json_t *hook_response_content(const json_t *response)
{
	const json_t *candidate = json_array_get(json_object_get(response, "candidates"), 0);
	const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	json_t *content, *part;
	size_t i;

	json_array_foreach((json_t *)parts, i, part)
		buf_span(&text, json_is_object(part) ? part_get_text(part) : json_span(part));
	if (!text.len)
		buf_span(&text, json_span(json_object_get(response, "text")));
	if (!text.len)
		return NULL;
	content = content_new("model");
	content_add(content, part_text(buf_view(&text)));
	return content;
}

/* ---- what comes -------------------------------------------------------------------- */

struct listener {
	struct agent *agent;
	bool hold;         /* a hook sees the reply before anybody else does */
	size_t published;       /* bytes of CONTENT of this reply */
	struct buf said;        /* these, for a reply that is cancelled */
	struct cancel stop;     /* the model repeats itself: the rest is not needed */
	json_t *refused;   /* media that the provider refused (model/media.h); owned, or NULL */
};

static void publish_text(struct agent *agent, enum bus_topic topic, struct span text,
                         struct span subject)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "text", json_text(text));
	if (subject.len)
		json_object_set_new(message, "subject", json_text(subject));
	agent_publish(agent, topic, message);
}

static void on_model_text(struct listener *listener, const struct model_event *event)
{
	if (listener->agent->detect_loops) {
		loop_check_text(listener->agent->loop, event->text);
		if (loop_check_hit(listener->agent->loop))
			cancel_set(&listener->stop);
	}
	if (listener->hold)
		return;
	listener->published += event->text.len;
	buf_span(&listener->said, event->text);
	publish_text(listener->agent, BUS_CONTENT, event->text, span_of("", 0));
}

/* The published part of the reply no longer counts. */
static void note_forgotten(struct listener *listener, json_t *message)
{
	if (listener->published)
		json_object_set_new(message, "forget", json_size(listener->published));
	listener->published = 0;
}

/* The reply is asked for again. */
static void on_restart(struct listener *listener, const struct model_event *event)
{
	json_auto_t *message = json_object();

	loop_check_text_end(listener->agent->loop);
	buf_clear(&listener->said);
	if (!event->sentence.len)
		return; /* on_switch says it */
	json_object_set_new(message, "severity", json_string("warning"));
	json_object_set_new(message, "message", json_text(event->sentence));
	json_object_set_new(message, "cause", json_text(event->text));
	json_object_set_new(message, "delayMs", json_integer(event->delay_ms));
	json_object_set_new(message, "model", json_cstr(model_id(listener->agent->options.model)));
	note_forgotten(listener, message);
	agent_publish(listener->agent, BUS_NOTICE, message);
}

static void on_model_waiting(struct listener *listener, const struct model_event *event)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "severity", json_string("info"));
	json_object_set_new(message, "message", json_text(event->text));
	json_object_set_new(message, "waitedMs", json_integer(event->waited_ms));
	json_object_set_new(message, "limitMs", json_integer(event->delay_ms));
	agent_publish(listener->agent, BUS_NOTICE, message);
}

static void on_switch(struct listener *listener, const struct model_event *event)
{
	struct agent *agent = listener->agent;
	json_auto_t *message = json_object();
	_cleanup_free_ char *sentence = mem_dup(event->sentence.data, event->sentence.len);

	json_object_set_new(message, "model", json_text(event->text));
	json_object_set_new(message, "message", json_text(event->sentence));
	json_object_set_new(message, "from", json_text(event->from));
	if (event->subject.len)
		json_object_set_new(message, "reason", json_text(event->subject));
	if (event->until)
		json_object_set_new(message, "until", json_integer(event->until));
	note_forgotten(listener, message);
	agent_publish(agent, BUS_MODEL, message);
	if (!agent->options.record)
		return;
	pthread_mutex_lock(&agent->lock);
	record_notice(agent->options.record, "warning", sentence);
	pthread_mutex_unlock(&agent->lock);
}

/* Media are taken out of the session when the request is over. */
static void on_left_out(struct listener *listener, const struct model_event *event)
{
	_cleanup_free_ char *text = mem_dup(event->text.data, event->text.len);
	_cleanup_free_ char *name = mem_dup(event->subject.data ? event->subject.data : "",
	                                    event->subject.len);
	const struct tool_set *set = listener->agent->options.session->tools;
	const struct tool *tool = *name ? tool_set_find(set, name) : NULL;

	if (tool && tool->server) {
		char *longer = mem_printf("%s It is the tool \"%s\" of the MCP server \"%s\".",
		                          text, tool->server_tool, tool->server);

		free(text);
		text = longer;
	}
	agent_notice(listener->agent, SEVERITY_WARNING, text);
	if (event->media && !listener->refused)
		listener->refused = json_object();
	json_object_update(listener->refused, (json_t *)event->media);
}

static void on_model_event(void *data, const struct model_event *event)
{
	struct listener *listener = data;

	if (event->kind == MODEL_TEXT)
		on_model_text(listener, event);
	else if (event->kind == MODEL_THOUGHT && !listener->hold)
		publish_text(listener->agent, BUS_THOUGHT, event->text, event->subject);
	else if (event->kind == MODEL_WAITING)
		on_model_waiting(listener, event);
	else if (event->kind == MODEL_RESTART)
		on_restart(listener, event);
	else if (event->kind == MODEL_LEFT_OUT || event->kind == MODEL_NOTE)
		on_left_out(listener, event);
	else if (event->kind == MODEL_SWITCHED)
		on_switch(listener, event);
}

/* ---- hooks ------------------------------------------------------------------------- */

/* What hooks made of a request has to live as long as it. */
struct shaped {
	struct model_request request;
	json_t *contents, *tools; /* owned, or NULL */
	json_t *shown;            /* owned, or NULL: llm_request */
	json_t *instead;          /* owned: the reply that a hook gave; or NULL */
	json_t *refused;          /* owned; media to remove from the session; or NULL */
};

static void shaped_release(struct shaped *shaped)
{
	json_decref(shaped->contents);
	json_decref(shaped->tools);
	json_decref(shaped->shown);
	json_decref(shaped->instead);
	json_decref(shaped->refused);
}

static void show_request(struct agent *agent, struct shaped *shaped)
{
	json_decref(shaped->shown);
	shaped->shown = hook_request(model_plain_id(model_id(agent->options.model)),
	                             &shaped->request);
}

static json_t *request_input(const struct shaped *shaped)
{
	json_t *input = json_object();

	json_object_set(input, "llm_request", shaped->shown);
	return input;
}

/* False: it is not to go out. */
static bool before_model(struct agent *agent, struct shaped *shaped, char **ret_reason)
{
	json_auto_t *input = NULL;
	struct hook_outcome outcome;
	bool goes;

	if (!agent_has_hooks(agent, HOOK_BEFORE_MODEL, NULL))
		return true;
	show_request(agent, shaped);
	input = request_input(shaped);
	if (!agent_fire(agent, HOOK_BEFORE_MODEL, NULL, input, &outcome))
		return true;
	goes = !outcome.stop && !outcome.error;
	if (goes && outcome.llm_response)
		shaped->instead = hook_response_content(outcome.llm_response);
	goes = goes && (!outcome.denied || shaped->instead);
	if (goes && outcome.llm_request)
		hook_override(&shaped->request, shaped->shown, outcome.llm_request,
		              &shaped->contents);
	if (!goes)
		*ret_reason = mem_strdup(outcome.error ? outcome.error : outcome.reason);
	hook_outcome_release(&outcome);
	return goes;
}

static void before_selection(struct agent *agent, struct shaped *shaped)
{
	json_auto_t *input = NULL;
	struct hook_outcome outcome;

	if (!agent_has_hooks(agent, HOOK_BEFORE_TOOL_SELECTION, NULL))
		return;
	show_request(agent, shaped);
	input = request_input(shaped);
	if (!agent_fire(agent, HOOK_BEFORE_TOOL_SELECTION, NULL, input, &outcome))
		return;
	if (outcome.tool_config)
		hook_select_tools(agent, &shaped->request, outcome.tool_config, &shaped->tools);
	hook_outcome_release(&outcome);
}

static bool after_model(struct agent *agent, struct shaped *shaped, struct model_reply *reply,
                        char **ret_reason)
{
	json_auto_t *input = NULL;
	json_auto_t *text = NULL;
	struct hook_outcome outcome;
	bool goes;

	if (!agent_has_hooks(agent, HOOK_AFTER_MODEL, NULL))
		return true;
	show_request(agent, shaped);
	input = request_input(shaped);
	json_object_set_new(input, "llm_response", hook_response(reply));
	if (!agent_fire(agent, HOOK_AFTER_MODEL, NULL, input, &outcome))
		return true;
	goes = !outcome.denied && !outcome.stop && !outcome.error;
	if (outcome.llm_response)
		text = hook_response_content(outcome.llm_response);
	if (goes && text) {
		/* Replaces the text of a reply with a hook's; calls stay. */
		json_t *content = content_new("model"), *part;
		size_t i;

		json_array_foreach(json_object_get(text, "parts"), i, part)
			content_add(content, json_incref(part));
		json_array_foreach(json_object_get(reply->content, "parts"), i, part)
			if (part_get_call(part))
				content_add(content, json_incref(part));
		json_decref(reply->content);
		reply->content = content;
	}
	if (!goes)
		*ret_reason = mem_strdup(outcome.error ? outcome.error : outcome.reason);
	hook_outcome_release(&outcome);
	return goes;
}

static void publish_held(struct agent *agent, const struct model_reply *reply)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);

	content_text(reply->content, &text);
	if (text.len)
		publish_text(agent, BUS_CONTENT, buf_view(&text), span_of("", 0));
}

/* ---- what has been sent ------------------------------------------------------------- */

/* The request as it is really sent: an image may be left out because newer ones followed.  Valid as
 * long as *ret_contents. */
static struct model_request sendable_request(const struct agent *agent, const struct shaped *shaped,
                                             json_t **ret_contents)
{
	struct model_request request = shaped->request;

	request.contents = *ret_contents = model_sendable(agent->options.model, request.contents);
	return request;
}

/* Runs before the request is sent. If a hook, the limits on media or anything else changed the
 * messages that thinking is bound to, that thinking is left out. */
static void keep_beginning(struct agent *agent, struct shaped *shaped)
{
	json_auto_t *first = NULL, *now = NULL;
	struct model_request request = sendable_request(agent, shaped, &first);
	struct sent_share share = context_sent_compare(agent->sent, &request);
	json_t *without;

	if (share.broken && shaped->request.contents == agent->history) {
		agent_drop_thoughts(agent);
		shaped->request.contents = agent->history;
	} else if (share.broken) {
		without = content_drop_bound_thoughts(shaped->request.contents);
		if (without) {
			json_decref(shaped->contents);
			shaped->contents = without;
			shaped->request.contents = without;
		}
	}
	request = sendable_request(agent, shaped, &now);
	context_sent_take(agent->sent, &request);
	if (!share.first) {
		stats_sent(agent->stats, share.bytes, share.equal);
		record_share(agent->options.record, (double)share.equal / (double)share.bytes);
	}
}

/* ---- a turn ------------------------------------------------------------------------ */

static void shape_request(struct agent *agent, struct shaped *shaped)
{
	*shaped = (struct shaped){ .request = {
		.system = span_str(agent->system),
		.contents = agent->history,
		.tools = agent_tools(agent),
		.temperature = -1,
		.top_p = -1,
		.session_id = agent->options.session_id,
		.tool_mode = agent->concluding ? MODEL_TOOLS_NONE : MODEL_TOOLS_AUTO,
		.purpose = agent->options.parent ? "subagent" : "main",
		.cancel = agent->options.cancel,
	} };
	if (agent->options.parameters)
		model_parameters_apply(agent->options.parameters, &shaped->request);
}

static void synthetic_reply(struct agent *agent, struct shaped *shaped, struct model_reply *ret)
{
	*ret = (struct model_reply){
		.content = mem_steal(&shaped->instead),
		.finish = MODEL_FINISH_STOP,
		.finish_text = mem_strdup("hook"),
		.model = mem_strdup(model_id(agent->options.model)),
	};
}

static bool ask_model(struct agent *agent, struct shaped *shaped, struct listener *listener,
                      struct model_reply *ret, struct err *err)
{
	const char *purpose = shaped->request.purpose;
	uint64_t began = clock_monotonic_ms();
	bool ok;

	keep_beginning(agent, shaped);
	shaped->request.stop = &listener->stop;
	agent_report_request(agent, purpose, shaped->request.contents);
	ok = model_stream(agent->options.model, &shaped->request, on_model_event, listener, ret,
	                  err);
	shaped->refused = mem_steal(&listener->refused);

	loop_check_text_end(agent->loop);
	if (ok)
		agent_report_reply(agent, purpose, ret);
	else if (err->code != ERR_CANCELLED)
		agent_report_failure(agent, purpose, err,
		                     (double)(clock_monotonic_ms() - began));
	return ok;
}

static enum turn_end reply_unfinished(struct listener *listener, char **ret_words,
                                      const struct err *err)
{
	if (err->code != ERR_CANCELLED)
		return TURN_FAILED;
	if (span_trim(buf_view(&listener->said)).len)
		*ret_words = buf_steal(&listener->said);
	return TURN_CANCELLED;
}

static enum turn_end reply_of(struct agent *agent, struct shaped *shaped, struct model_reply *ret,
                              char **ret_words, struct err *err)
{
	struct listener listener = {
		.agent = agent,
		.hold = shaped->instead || agent_has_hooks(agent, HOOK_AFTER_MODEL, NULL),
		.said = BUF_INIT(LIMIT_MESSAGE_BYTES),
	};
	enum turn_end end = TURN_REPLIED;

	cancel_init_lazily(&listener.stop);
	if (shaped->instead)
		synthetic_reply(agent, shaped, ret);
	else if (!ask_model(agent, shaped, &listener, ret, err))
		end = reply_unfinished(&listener, ret_words, err);
	else if (!after_model(agent, shaped, ret, ret_words)) {
		model_reply_release(ret);
		end = TURN_BLOCKED;
	}
	if (end == TURN_REPLIED && listener.hold)
		publish_held(agent, ret);
	buf_release(&listener.said);
	cancel_release(&listener.stop);
	return end;
}

/* Removes media that the provider refused. Answered requests do not change: refused media were
 * never part of one. */
static void take_out_refused(struct agent *agent, const json_t *refused)
{
	json_auto_t *conversation = agent_conversation(agent);
	json_t *without = media_without(conversation, refused);

	if (without)
		agent_replace(agent, without);
}

enum turn_end turn_run(struct agent *agent, struct model_reply *ret, char **ret_words,
                       struct err *err)
{
	struct shaped shaped;
	enum turn_end end = TURN_BLOCKED;

	shape_request(agent, &shaped);
	before_selection(agent, &shaped);
	json_decref(agent->offered);
	agent->offered = json_incref((json_t *)shaped.request.tools);
	if (before_model(agent, &shaped, ret_words))
		end = reply_of(agent, &shaped, ret, ret_words, err);
	take_out_refused(agent, shaped.refused);
	shaped_release(&shaped);
	return end;
}
