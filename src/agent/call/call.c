/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/call/call.h"

#include <string.h>

#include "agent/call/display.h"
#include "agent/call/error_type.h"
#include "agent/call/gate.h"
#include "agent/context/file_states.h"
#include "agent/session/record.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/path.h"
#include "data/json.h"
#include "model/content.h"

enum {
	TAIL_CALLS_MAX = 4, /* calls that hooks make of one call */
	FOLDERS_MAX = 10000,
};

/* The state that an editor's call names is in the model's view: a diff says all that is new. */
static bool knows_base(const struct call *call)
{
	const json_t *base = json_object_get(call->args, "base_content_sha256");

	return call->tool && call->tool->plans && call->order.path_count == 1 &&
	       json_string_length(base) &&
	       file_states_known(call->agent->history, call->order.paths[0], json_span(base));
}

void call_init(struct call *call, struct agent *agent, const json_t *part)
{
	const json_t *asked = part_get_call(part);
	const json_t *args = json_object_get(asked, "args");

	*call = (struct call){
		.agent = agent,
		.id = json_string_value(json_object_get(asked, "id")),
		.name = json_string_value(json_object_get(asked, "name")),
		.args = json_is_object(args) ? json_copy((json_t *)args) : json_object(),
		.session = *agent->options.session,
	};
	call->name = call->name ? call->name : "";
	call->tool = tool_set_find(call->session.tools, call->name);
	order_describe(&call->order, call->tool, call->name, call->args, agent->root);
	json_object_del(call->args, "wait_for_previous");
	if (agent->diff_after_edit && call->session.return_content == RETURN_FULL && knows_base(call))
		call->session.return_content = RETURN_DIFF;
	gate_attach(call);
}

void call_release(struct call *call)
{
	order_release(&call->order);
	path_rules_release(&call->paths);
	if (call->has_verdict)
		policy_verdict_release(&call->verdict);
	json_decref(call->args);
	json_decref(call->tail);
	json_decref(call->allowing);
	json_decref(call->result);
	json_decref(call->answer);
	free(call->ask_reason);
	free(call->context);
}

/* ---- context found just in time ---------------------------------------------------- */

static const char *touched_path(const json_t *result, const json_t *args)
{
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const json_t *state = json_object_get(first, "latest_file_state");
	const json_t *const places[] = {
		json_object_get(state, "file_path"), json_object_get(first, "file_path"),
		json_object_get(first, "path"), json_object_get(args, "file_path"),
		json_object_get(args, "path"), json_object_get(args, "dir_path"),
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (json_string_length(places[i]))
			return json_string_value(places[i]);
	return NULL;
}

/* True once for each folder. */
static bool new_folder(struct agent *agent, const char *path)
{
	_cleanup_free_ char *whole = path_join(agent->root, path), *folder = path_folder(whole);

	if (json_object_get(agent->folders, folder) ||
	    json_object_size(agent->folders) >= FOLDERS_MAX)
		return false;
	return json_object_set_new(agent->folders, folder, json_true()) == 0;
}

static char *context_found(struct call *call)
{
	struct agent *agent = call->agent;
	const char *path = touched_path(call->result, call->args);
	char *text = NULL;

	if (!agent->options.context_for || !path || !call->tool || call->tool->server)
		return NULL;
	pthread_mutex_lock(&agent->lock);
	if (new_folder(agent, path))
		text = agent->options.context_for(agent->options.context_data, path);
	pthread_mutex_unlock(&agent->lock);
	return text;
}

/* ---- the answer -------------------------------------------------------------------- */

/* Providers want an object. */
static json_t *as_object(const json_t *result)
{
	json_t *object;

	if (json_is_object(result))
		return json_copy((json_t *)result);
	object = json_object();
	json_object_set(object, "output", (json_t *)result);
	return object;
}

/* An image, sound or PDF that a result carries goes beside it, as what it is. */
static void take_media(json_t *object, json_t *media)
{
	json_t *mime = json_object_get(object, "mime_type"), *data = json_object_get(object, "data");
	json_t *part, *inside;

	if (!json_is_string(mime) || !json_is_string(data))
		return;
	inside = json_object();
	json_object_set(inside, "mimeType", mime);
	json_object_set(inside, "data", data);
	part = json_object();
	json_object_set_new(part, "inlineData", inside);
	json_array_append_new(media, part);
	json_object_del(object, "data");
}

static void take_all_media(json_t *response, json_t *media)
{
	json_t *list = json_object_get(response, "output"), *own, *element;
	size_t i;

	take_media(response, media);
	if (!json_is_array(list))
		return;
	own = json_array();
	json_array_foreach(list, i, element) {
		json_t *copy = json_is_object(element) ? json_copy(element) : json_incref(element);

		take_media(copy, media);
		json_array_append_new(own, copy);
	}
	json_object_set_new(response, "output", own);
}

/* What no reader sees is shown to the model as it is. Takes the reference. */
static json_t *show_unseen(json_t *response)
{
	size_t count = 0;
	json_t *shown = json_show_unseen(response, &count);

	json_decref(response);
	if (count)
		json_object_set_new(shown, TOOL_UNSEEN, tool_unseen_note(count));
	return shown;
}

static json_t *build_answer(struct call *call)
{
	_cleanup_free_ char *found = context_found(call);
	json_t *response = as_object(call->result), *part;
	json_auto_t *media = json_array();
	const struct tool *tool = call->tool;

	if (tool && tool->kind == TOOL_KIND_READ && !tool->server)
		take_all_media(response, media);
	output_truncate(&call->agent->mask, tool, call->name, call->id, response);
	if (call->context)
		json_object_set_new(response, "hook_context", json_text(span_str(call->context)));
	if (found)
		json_object_set_new(response, FOUND_CONTEXT, json_text(span_str(found)));
	response = show_unseen(response);
	part = part_response(call->id, call->name, response);
	if (json_array_size(media))
		json_object_set(json_object_get(part, "functionResponse"), "parts", media);
	return part;
}

/* ---- telling ----------------------------------------------------------------------- */

static const char *status_of(const struct call *call)
{
	return call->success ? "success" : call->cancelled ? "cancelled" : "error";
}

static void publish_result(const struct call *call, const char *display, uint64_t ms)
{
	json_auto_t *message = NULL;
	json_t *error;

	if (!call->agent->options.bus)
		return;
	message = json_object();
	json_object_set_new(message, "callId", json_string(call->id));
	json_object_set_new(message, "toolName", json_string(call->name));
	json_object_set_new(message, "status", json_string(status_of(call)));
	json_object_set(message, "result", call->result);
	json_object_set_new(message, "display", json_text(span_str(display)));
	json_object_set_new(message, "durationMs", json_size(ms));
	if (!call->success) {
		error = json_object();
		json_object_set_new(error, "type",
		                    json_string(error_type_of(call->tool, call->result)));
		json_object_set_new(error, "message",
		                    json_text(span_str(error_message_of(call->result))));
		json_object_set_new(message, "error", error);
	}
	bus_publish(call->agent->options.bus, BUS_TOOL_RESULT, message);
}

/* The call has its result: what is left is to tell everybody. */
static void finish(struct call *call, uint64_t ms)
{
	struct agent *agent = call->agent;
	enum err_code code;
	_cleanup_free_ char *display = NULL;
	const json_t *response;

	call->success = !tool_result_failed(call->result);
	code = call->success ? ERR_NONE : error_code_of(call->result);
	call->cancelled = code == ERR_CANCELLED || call->refused;
	call->fatal = code == ERR_DISK_FULL;
	display = display_result(call->tool, call->result);
	call->answer = build_answer(call);
	response = json_object_get(part_get_response(call->answer), "response");
	stats_call(agent->stats, call->tool ? call->tool->name : call->name, call->success, ms,
	           call->decision, call->result);
	publish_result(call, display, ms);
	if (!agent->options.record)
		return;
	pthread_mutex_lock(&agent->lock);
	record_call(agent->options.record, call->id, call->name, call->args, response,
	            json_object_get(part_get_response(call->answer), "parts"), status_of(call),
	            display);
	pthread_mutex_unlock(&agent->lock);
}

/* ---- running ----------------------------------------------------------------------- */

/* What a hook wants called instead takes the place of the result; it goes the same way. */
static void follow_tails(struct call *call)
{
	for (unsigned i = 0; call->tail && i < TAIL_CALLS_MAX; i++) {
		json_auto_t *tail = mem_steal(&call->tail);
		const char *name = json_string_value(json_object_get(tail, "name"));

		if (!name)
			return;
		json_decref(call->result);
		call->result = tool_call(&call->session, name, json_object_get(tail, "args"));
	}
}

void call_run(struct call *call)
{
	uint64_t began = monotonic_ms();

	call->result = tool_call(&call->session, call->name, call->args);
	follow_tails(call);
	finish(call, monotonic_ms() - began);
}

void agent_call_refuse(struct call *call, enum err_code code, const char *sentence)
{
	struct err err = ERR_INIT;

	err_set(&err, code, "%s", sentence);
	call->result = tool_failure(&err);
	finish(call, 0);
}
