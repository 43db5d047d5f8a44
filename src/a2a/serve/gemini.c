/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a session as Gemini CLI's clients have them (gemini.h). */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/tasks.h"
#include "agent/session/record.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/tools.h"

struct a2a_gemini {
	char *message_id;  /* of the agent's message that is under way */
	json_t *calls;     /* {callId: the data of its last update}, of those that are not over */
	char *model;
	json_t *usage;     /* of the last reply; or NULL */
};

/* ---- settings -------------------------------------------------------------------- */

bool a2a_gemini_is_asked(const json_t *message, const json_t *extensions)
{
	return a2a_content_settings(message) || json_lists(extensions, SPAN(A2A_GEMINI_URI));
}

const char *a2a_gemini_state(enum a2a_task_state state)
{
	static const char *const words[] = {
		[A2A_TASK_SUBMITTED] = "submitted",  [A2A_TASK_WORKING] = "working",
		[A2A_TASK_COMPLETED] = "completed",  [A2A_TASK_FAILED] = "failed",
		[A2A_TASK_CANCELED] = "canceled",    [A2A_TASK_INPUT_REQUIRED] = "input-required",
		[A2A_TASK_REJECTED] = "rejected",    [A2A_TASK_AUTH_REQUIRED] = "auth-required",
	};

	return state && state < ARRAY_LEN(words) ? words[state] : "unknown";
}

static struct a2a_gemini *gemini_new(void)
{
	struct a2a_gemini *gemini = mem_alloc(1, sizeof(*gemini));

	*gemini = (struct a2a_gemini){ .message_id = record_new_id(), .calls = json_object() };
	return gemini;
}

void a2a_gemini_begin(struct a2a_task *task, const json_t *message)
{
	const json_t *settings = a2a_content_settings(message);
	json_t *kept = json_pack("{s:s, s:s}", "kind", "agent-settings", "workspacePath",
	                         task->folder);

	/* As the client has it; that it changes nothing is said in docs/a2a.md. */
	if (json_is_boolean(json_object_get(settings, "autoExecute")))
		json_object_set(kept, "autoExecute", json_object_get(settings, "autoExecute"));
	task->gemini = gemini_new();
	a2a_task_note(task, "__persistedState",
	              json_pack("{s:o, s:s}", "_agentSettings", kept, "_taskState", "submitted"));
	a2a_task_note(task, "_contextId", json_text(span_str(task->context)));
}

void a2a_gemini_restore(struct a2a_task *task)
{
	const json_t *history = json_object_get(task->value, "history");

	if (json_object_get(json_object_get(task->value, "metadata"), "__persistedState"))
		task->gemini = gemini_new();
	if (task->gemini && json_array_size(history))
		task->prompt_from = json_array_size(history) - 1;
}

void a2a_gemini_free(struct a2a_gemini *gemini)
{
	if (!gemini)
		return;
	free(gemini->message_id);
	free(gemini->model);
	json_decref(gemini->calls);
	json_decref(gemini->usage);
	free(gemini);
}

/* ---- updates --------------------------------------------------------------------- */

static json_t *gemini_metadata(const struct a2a_gemini *gemini, const char *kind)
{
	return json_pack("{s:{s:s}, s:s}", "coderAgent", "kind", kind, "model",
	                 gemini->model ? gemini->model : "");
}

json_t *a2a_gemini_metadata(const struct a2a_task *task, json_t *metadata)
{
	if (!task->gemini || json_object_get(metadata, "coderAgent"))
		return metadata;
	if (!metadata)
		metadata = json_object();
	json_object_update_new(metadata, gemini_metadata(task->gemini, "state-change"));
	return metadata;
}

/* Takes `parts`; of text, a piece of the message that is under way. */
static void gemini_say(struct a2a_task *task, const char *kind, json_t *parts, bool is_piece)
{
	json_t *message = a2a_task_message(task, parts);

	if (is_piece)
		json_object_set_new(message, "messageId", json_string(task->gemini->message_id));
	a2a_task_set(task, A2A_TASK_WORKING, message, gemini_metadata(task->gemini, kind));
}

static void gemini_say_text(struct a2a_task *task, const char *kind, const json_t *text)
{
	if (json_string_length(text))
		gemini_say(task, kind, json_pack("[{s:O}]", "text", text), true);
}

static void gemini_turn(struct a2a_task *task)
{
	free(task->gemini->message_id);
	task->gemini->message_id = record_new_id();
	a2a_task_set(task, A2A_TASK_WORKING, NULL, NULL);
}

/* ---- calls ----------------------------------------------------------------------- */

static const char *gemini_text(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

static void gemini_call_say(struct a2a_task *task, json_t *call, const char *kind,
                            const char *status)
{
	json_object_set_new(call, "status", json_string(status));
	gemini_say(task, kind, json_pack("[{s:o}]", "data", json_copy(call)), false);
}

/* A call under Gemini CLI's names, for clients that show calls by these. */
static json_t *gemini_call_new(const struct a2a_task *task, const json_t *message)
{
	const struct tool_info *info = tool_info_find(gemini_text(message, "toolName"));
	const json_t *arguments = json_object_get(message, "arguments");
	json_t *args = tool_info_gemini(info, arguments);
	const char *name = info && info->gemini ? info->gemini : gemini_text(message, "toolName");

	if (!args)
		args = arguments ? json_incref((json_t *)arguments) : json_object();
	return json_pack("{s:{s:O, s:s, s:o, s:b, s:s}, s:{s:s, s:s, s:s, s:s, s:b, s:b}}",
	                 "request", "callId", json_object_get(message, "callId"), "name", name,
	                 "args", args, "isClientInitiated", false, "prompt_id", task->id,
	                 "tool", "name", name, "displayName", gemini_text(message, "title"),
	                 "description", gemini_text(message, "description"), "kind",
	                 tool_kind_name(info ? info->kind : TOOL_KIND_OTHER), "isOutputMarkdown",
	                 false, "canUpdateOutput", info && info->runs);
}

static json_t *gemini_call(const struct a2a_task *task, const json_t *message)
{
	return json_object_get(task->gemini->calls, gemini_text(message, "callId"));
}

static bool call_is(const json_t *call, const char *status)
{
	return !strcmp(gemini_text(call, "status"), status);
}

static void gemini_call_begin(struct a2a_task *task, const json_t *message)
{
	json_t *call;

	if (!json_is_string(json_object_get(message, "callId")))
		return;
	if (!json_object_size(task->gemini->calls))
		a2a_task_set(task, A2A_TASK_WORKING, NULL, NULL);
	call = gemini_call_new(task, message);
	json_object_set_new(task->gemini->calls, gemini_text(message, "callId"), call);
	gemini_call_say(task, call, "tool-call-update", "scheduled");
}

static void gemini_call_runs(struct a2a_task *task, json_t *call)
{
	if (call && !call_is(call, "executing"))
		gemini_call_say(task, call, "tool-call-update", "executing");
}

/* A piece of what a command prints. */
static void gemini_call_output(struct a2a_task *task, const json_t *message)
{
	json_t *call = gemini_call(task, message);
	_cleanup_free_ char *id = NULL;

	if (!call || !json_string_length(json_object_get(message, "text")))
		return;
	gemini_call_runs(task, call);
	id = mem_printf("tool-%s-output", gemini_text(message, "callId"));
	a2a_task_add(task, json_pack("{s:o, s:[{s:O}]}", "artifactId", json_text(span_str(id)),
	                             "parts", "text", json_object_get(message, "text")),
	             true, false);
}

/* What is shown of a result: of an edit that was confirmed its diff, else the text. */
static json_t *gemini_display(const json_t *call, const json_t *message)
{
	static const char *const shown[] = { "fileDiff", "fileName", "filePath",
		                             "originalContent", "newContent" };
	const json_t *details = json_object_get(call, "confirmationDetails"), *value;
	json_t *display;

	if (!json_is_string(json_object_get(details, "fileDiff")))
		return json_incref(json_object_get(message, "display") ?: json_null());
	display = json_pack("{s:b}", "isNewFile",
	                    !json_string_length(json_object_get(details, "originalContent")));
	for (size_t i = 0; i < ARRAY_LEN(shown); i++) {
		value = json_object_get(details, shown[i]);
		if (value)
			json_object_set(display, shown[i], (json_t *)value);
	}
	return display;
}

static json_t *gemini_response(const json_t *call, const json_t *message)
{
	const json_t *error = json_object_get(message, "error"), *id =
		json_object_get(message, "callId");
	json_t *display = json_object_get(message, "display") ?: json_null();
	json_t *response = json_pack(
		"{s:O, s:[{s:{s:O, s:s, s:{s:O}}}], s:o, s:I}", "callId", id, "responseParts",
		"functionResponse", "id", id, "name",
		gemini_text(json_object_get(call, "request"), "name"), "response",
		error ? "error" : "output", display, "resultDisplay", gemini_display(call, message),
		"contentLength", (json_int_t)json_string_length(display));

	if (error) {
		json_object_set(response, "errorType", json_object_get(error, "type"));
		json_object_set_new(response, "error", json_pack(
			"{s:O*}", "message", json_object_get(error, "message")));
	}
	return response;
}

static void gemini_call_ends(struct a2a_task *task, const json_t *message)
{
	json_t *call = json_incref(gemini_call(task, message));
	const char *status = gemini_text(message, "status");

	if (!call)
		return;
	if (!strcmp(status, "success"))
		gemini_call_runs(task, call);
	json_object_set_new(call, "response", gemini_response(call, message));
	gemini_call_say(task, call, "tool-call-update", status);
	json_object_del(task->gemini->calls, gemini_text(message, "callId"));
	json_decref(call);
}

/* ---- questions ------------------------------------------------------------------- */

void a2a_gemini_ask(struct a2a_task *task, enum bus_topic topic, const json_t *message)
{
	json_t *call = topic == BUS_TOOL_CONFIRMATION_REQUEST ? gemini_call(task, message) : NULL;
	json_t *details;

	if (!call) { /* Gemini CLI's server has no such question */
		a2a_task_set(task, A2A_TASK_INPUT_REQUIRED,
		             a2a_task_message(task, a2a_question_parts(topic, message)), NULL);
		return;
	}
	details = json_copy(json_object_get(message, "details"));
	json_object_update_new(details, json_pack("{s:[s, s], s:O*}", "outcomes", "proceed_once",
	                                          "cancel", "shown",
	                                          json_object_get(message, "shown")));
	if (json_is_null(json_object_get(details, "originalContent"))) /* a new file */
		json_object_set_new(details, "originalContent", json_string(""));
	json_object_set_new(call, "confirmationDetails", details);
	gemini_call_say(task, call, "tool-call-confirmation", "awaiting_approval");
	a2a_task_set(task, A2A_TASK_INPUT_REQUIRED, NULL, NULL);
}

/* Answered, here or by the user. */
static void gemini_answered(struct a2a_task *task, const json_t *message)
{
	const json_t *outcome = json_object_get(message, "outcome");
	const char *id;
	json_t *call;

	json_object_foreach(task->gemini->calls, id, call) {
		if (!call_is(call, "awaiting_approval"))
			continue;
		json_object_set(call, "outcome", (json_t *)outcome);
		if (!span_eq(json_span(outcome), SPAN("cancel")))
			gemini_call_say(task, call, "tool-call-update", "scheduled");
	}
}

/* ---- events ---------------------------------------------------------------------- */

static void gemini_model(struct a2a_gemini *gemini, const json_t *model)
{
	if (!json_is_string(model))
		return;
	free(gemini->model);
	gemini->model = mem_strdup(json_string_value(model));
}

static void gemini_usage(struct a2a_gemini *gemini, const json_t *usage)
{
	static const struct { const char *theirs, *ours; } counts[] = {
		{ "promptTokenCount", "input" }, { "candidatesTokenCount", "output" },
		{ "totalTokenCount", "total" }, { "cachedContentTokenCount", "cached" },
	};

	json_decref(gemini->usage);
	gemini->usage = json_object();
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		if (json_integer_value(json_object_get(usage, counts[i].ours)))
			json_object_set(gemini->usage, counts[i].theirs,
			                json_object_get(usage, counts[i].ours));
}

static bool is_main(const json_t *message)
{
	return !strcmp(gemini_text(message, "role"), "main");
}

static void gemini_thought(struct a2a_task *task, const json_t *message)
{
	gemini_say(task, "thought",
	           json_pack("[{s:{s:s, s:s}}]", "data", "subject", gemini_text(message, "subject"),
	                     "description", gemini_text(message, "text")), true);
}

static void gemini_bus(struct a2a_task *task, enum bus_topic topic, const json_t *message)
{
	switch (topic) {
	case BUS_API_REQUEST:
		if (is_main(message)) {
			gemini_model(task->gemini, json_object_get(message, "model"));
			gemini_turn(task);
		}
		return;
	case BUS_API_RESPONSE:
		if (is_main(message))
			gemini_usage(task->gemini, json_object_get(message, "usage"));
		return;
	case BUS_CONTENT:
		gemini_say_text(task, "text-content", json_object_get(message, "text"));
		return;
	case BUS_THOUGHT:
		gemini_thought(task, message);
		return;
	case BUS_TOOL_CALL:
		gemini_call_begin(task, message);
		return;
	case BUS_TOOL_OUTPUT:
		gemini_call_output(task, message);
		return;
	case BUS_TOOL_RESULT:
		gemini_call_ends(task, message);
		return;
	case BUS_TOOL_CONFIRMATION_RESPONSE:
		gemini_answered(task, message);
		return;
	default:
		return;
	}
}

void a2a_gemini_event(struct a2a_task *task, const struct front_event *event)
{
	if (event->kind == FRONT_BUS)
		gemini_bus(task, event->topic, event->message);
}

void a2a_gemini_go_on(struct a2a_task *task, const json_t *message)
{
	task->is_resting = false;
	a2a_task_said(task, message);
	task->prompt_from = json_array_size(json_object_get(task->value, "history")) - 1;
	if (task->state != A2A_TASK_SUBMITTED)
		a2a_task_set(task, A2A_TASK_SUBMITTED, NULL, NULL);
	a2a_queue_add(task);
}

/* The turn failed; the task goes on with the next message. */
static void gemini_failed(struct a2a_task *task, const char *why)
{
	json_t *metadata = gemini_metadata(task->gemini, "state-change");

	json_object_set_new(metadata, "error", json_text(span_str(why)));
	a2a_task_set(task, A2A_TASK_WORKING, a2a_task_message_text(task, "%s", why), metadata);
}

/* The reason for a missing answer; NULL: there is an answer, or a call was declined.  Borrowed. */
static const char *gemini_why(const struct front_event *event)
{
	const json_t *reason = json_object_get(event->message, "reason");

	if (event->err)
		return event->err->message;
	if (event->end == AGENT_ANSWERED || event->end == AGENT_CANCELLED)
		return NULL;
	return json_string_length(reason) ? json_string_value(reason) : agent_end_name(event->end);
}

void a2a_gemini_end(struct a2a_task *task, const struct front_event *event, bool canceled)
{
	const char *why = gemini_why(event);
	json_t *metadata;

	json_object_clear(task->gemini->calls);
	if (canceled) {
		a2a_task_set(task, A2A_TASK_CANCELED,
		             a2a_task_message_text(task, "The task was canceled."), NULL);
		return;
	}
	if (why)
		gemini_failed(task, why);
	metadata = gemini_metadata(task->gemini, "state-change");
	if (task->gemini->usage && !why)
		json_object_set(metadata, "usageMetadata", task->gemini->usage);
	if (task->server->options->context) /* for the server that started this agent */
		json_object_set_new(metadata, "hasp", json_pack("{s:b}", "rests", 1));
	task->is_resting = true;
	a2a_task_set(task, A2A_TASK_INPUT_REQUIRED, NULL, metadata);
}
