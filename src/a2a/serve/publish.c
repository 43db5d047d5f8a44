/* SPDX-License-Identifier: Apache-2.0 */
/* What a session reports while it carries out a task, as states and artifacts:
 *
 *   "answer"   the text of the model's last reply, as it streams; a reply that goes on with calls
 *              is what it is doing, and the next one takes its place
 *   "diff"     what the edits changed, as a file
 *   "edits"    each edit's file and hashes, as data
 *
 * The last state's message has the answer as a whole. */
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/gemini.h"
#include "a2a/serve/tasks.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "front/front.h"

void a2a_publish_init(struct a2a_publish *publish)
{
	*publish = (struct a2a_publish){ .answer = BUF_INIT(LIMIT_A2A_ARTIFACT_BYTES),
		                         .diff = BUF_INIT(LIMIT_A2A_ARTIFACT_BYTES),
		                         .edits = json_array(), .bases = json_object() };
}

void a2a_publish_release(struct a2a_publish *publish)
{
	buf_release(&publish->answer);
	buf_release(&publish->diff);
	json_decref(publish->edits);
	json_decref(publish->bases);
	free(publish->refused);
}

/* ---- the answer ------------------------------------------------------------------ */

static void answer_put(struct a2a_task *task, struct span text, bool append, bool last)
{
	a2a_task_add(task, json_pack("{s:s, s:s, s:[{s:o}]}", "artifactId", "answer", "name",
	                             "answer", "parts", "text", json_utf8(text)), append, last);
}

static void publish_content(struct a2a_task *task, struct a2a_publish *publish,
                            const json_t *message)
{
	const struct span text = json_span(json_object_get(message, "text"));

	if (!text.len || !buf_span(&publish->answer, text)) {
		publish->answer.overflowed = false; /* the end of what is too long is not shown */
		return;
	}
	answer_put(task, text, publish->has_answer, false);
	publish->has_answer = true;
}

/* A reply is asked for again: so much of the end of the text does not count. */
static void publish_forget(struct a2a_task *task, struct a2a_publish *publish,
                           const json_t *message)
{
	const json_int_t count = json_integer_value(json_object_get(message, "forget"));
	struct buf *answer = &publish->answer;

	if (count <= 0 || !publish->has_answer)
		return;
	answer->len -= (size_t)count < answer->len ? (size_t)count : answer->len;
	answer_put(task, buf_view(answer), false, false);
}

/* ---- what it is doing ------------------------------------------------------------ */

/* The names of arguments that say which state of a file an edit stands on. */
static json_t *call_base(const json_t *arguments)
{
	static const char *const names[] = { "base_content_sha256", "base_sha256", "sha256" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (json_is_string(json_object_get(arguments, names[i])))
			return json_object_get(arguments, names[i]);
	return NULL;
}

static void publish_call_begin(struct a2a_task *task, struct a2a_publish *publish,
                         const json_t *message)
{
	const char *name = json_string_value(json_object_get(message, "toolName"));
	const char *about = json_string_value(json_object_get(message, "description"));
	const char *title = json_string_value(json_object_get(message, "title"));
	const struct tool_info *info = tool_info_find(name);
	json_t *base = call_base(json_object_get(message, "arguments"));
	const char *call = json_string_value(json_object_get(message, "callId"));
	const bool has_verb = info && info->verb;

	if (base && call && json_object_size(publish->bases) < LIMIT_A2A_ARTIFACTS)
		json_object_set(publish->bases, call, base);
	a2a_task_set(task, A2A_TASK_WORKING, a2a_task_message_text(
		task, "%s%s%s", has_verb ? info->verb : title ? title : name ? name : "",
		about && !(has_verb && info->verb_alone) ? " " : "",
		about && !(has_verb && info->verb_alone) ? about : ""), json_pack(
		"{s:{s:{s:O*, s:O*, s:s}}}", "hasp", "toolCall", "callId",
		json_object_get(message, "callId"), "toolName",
		json_object_get(message, "toolName"), "status", "running"));
	buf_clear(&publish->answer);
	publish->has_answer = false;
}

/* ---- edits ----------------------------------------------------------------------- */

static void publish_edit(struct a2a_publish *publish, const json_t *state, json_t *base,
                         const json_t *diff)
{
	json_t *path = json_object_get(state, "file_path");

	if (!json_is_string(path) || json_array_size(publish->edits) >= LIMIT_A2A_ARTIFACTS)
		return;
	json_array_append_new(publish->edits, json_pack(
		"{s:O, s:o, s:O?}", "file_path", path, "base_sha256",
		base ? json_incref(base) : json_null(), "sha256",
		json_object_get(state, "sha256")));
	if (json_string_length(diff) && buf_span(&publish->diff, json_span(diff)) &&
	    !span_ends(json_span(diff), SPAN("\n")))
		buf_char(&publish->diff, '\n');
}

static void publish_call_result(struct a2a_publish *publish, const json_t *message)
{
	const char *name = json_string_value(json_object_get(message, "toolName"));
	const struct tool_info *info = tool_info_find(name);
	const json_t *result = json_object_get(message, "result");
	const char *call = json_string_value(json_object_get(message, "callId"));
	const char *status = json_string_value(json_object_get(message, "status"));
	json_t *base = call ? json_object_get(publish->bases, call) : NULL, *change;
	size_t i;

	if (!status || strcmp(status, "success") != 0 || !info || info->kind != TOOL_KIND_EDIT)
		return;
	publish_edit(publish, json_object_get(result, "latest_file_state"), base,
	             json_object_get(result, "diff"));
	json_array_foreach(json_object_get(result, "changes"), i, change)
		publish_edit(publish, json_object_get(change, "latest_file_state") ?: change,
		             call_base(change), json_object_get(change, "diff"));
}

static void publish_refused(struct a2a_publish *publish, const json_t *message)
{
	const char *text = json_string_value(json_object_get(message, "message"));

	free(publish->refused);
	publish->refused = mem_strdup(text);
}

/* ---- events ---------------------------------------------------------------------- */

void a2a_publish_event(struct a2a_task *task, struct a2a_publish *publish,
                       const struct front_event *event)
{
	if (event->kind != FRONT_BUS)
		return;
	if (task->gemini)
		a2a_gemini_event(task, event);
	switch (task->gemini && event->topic != BUS_TOOL_RESULT ? BUS_NONE : event->topic) {
	case BUS_CONTENT:
		publish_content(task, publish, event->message);
		break;
	case BUS_NOTICE:
	case BUS_MODEL:
		publish_forget(task, publish, event->message);
		break;
	case BUS_TOOL_CALL:
		publish_call_begin(task, publish, event->message);
		break;
	case BUS_TOOL_RESULT:
		publish_call_result(publish, event->message);
		break;
	case BUS_TOOL_POLICY_REJECTION:
		publish_refused(publish, event->message);
		break;
	default:
		break;
	}
}

/* ---- the end --------------------------------------------------------------------- */

/* The answer first, as it was there first. */
static void end_artifacts(struct a2a_task *task, struct a2a_publish *publish,
                          const struct front_event *event)
{
	const struct span text = json_span(json_object_get(event->message, "text"));

	if (publish->has_answer)
		answer_put(task, SPAN(""), true, true);
	else if (text.len && event->end == AGENT_ANSWERED && !event->err && !task->gemini)
		answer_put(task, text, false, true);
	if (json_array_size(publish->edits))
		a2a_task_add(task, json_pack("{s:s, s:s, s:[{s:{s:O}, s:s}]}", "artifactId",
		                             "edits", "name", "edits", "parts", "data", "edits",
		                             publish->edits, "mediaType", "application/json"),
		             false, true);
	if (publish->diff.len)
		a2a_task_add(task, json_pack("{s:s, s:s, s:[{s:o, s:s, s:s}]}", "artifactId",
		                             "diff", "name", "changes.diff", "parts", "raw",
		                             json_base64(buf_view(&publish->diff)), "mediaType",
		                             "text/x-diff", "filename", "changes.diff"),
		             false, true);
}

/* What was not allowed goes with the answer: the model may not have said so. */
static json_t *publish_end_message(struct a2a_task *task, struct a2a_publish *publish,
                           const struct front_event *event, struct span text)
{
	const json_t *missing = json_object_get(event->message, "missing");
	json_t *parts = json_array();

	if (text.len)
		json_array_append_new(parts, json_pack("{s:o}", "text", json_utf8(text)));
	if (json_string_length(missing))
		json_array_append_new(parts, json_pack("{s:O}", "text", missing));
	else if (publish->refused)
		json_array_append_new(parts, json_pack("{s:o}", "text",
		                                       json_utf8(span_str(publish->refused))));
	if (!json_array_size(parts))
		json_array_append_new(parts, json_pack("{s:s}", "text",
		                                       "(The model said nothing.)"));
	return a2a_task_message(task, parts);
}

static void end_answered(struct a2a_task *task, struct a2a_publish *publish,
                         const struct front_event *event)
{
	const struct span text = json_span(json_object_get(event->message, "text"));

	a2a_task_set(task, A2A_TASK_COMPLETED, publish_end_message(task, publish, event, text),
	             NULL);
}

void a2a_publish_end(struct a2a_task *task, struct a2a_publish *publish,
                     const struct front_event *event, bool canceled)
{
	const json_t *reason = json_object_get(event->message, "reason");
	const char *why = event->err ? event->err->message : json_string_length(reason) ?
	                  json_string_value(reason) : NULL;

	end_artifacts(task, publish, event);
	if (task->gemini)
		a2a_gemini_end(task, event, canceled);
	else if (canceled)
		a2a_task_set(task, A2A_TASK_CANCELED,
		             a2a_task_message_text(task, "The task was canceled."), NULL);
	else if (event->err || event->end == AGENT_FAILED)
		a2a_task_set(task, A2A_TASK_FAILED,
		             a2a_task_message_text(task, "%s", why ? why : "The task failed."),
		             NULL);
	else if (event->end == AGENT_ANSWERED)
		end_answered(task, publish, event);
	else if (event->end == AGENT_CANCELLED)
		a2a_task_set(task, A2A_TASK_CANCELED, a2a_task_message_text(
			task, "%s", publish->refused ? publish->refused :
			            "The task ended because a call was declined."), NULL);
	else
		a2a_task_set(task, A2A_TASK_FAILED, a2a_task_message_text(
			task, "%s", why ? why : agent_end_name(event->end)), NULL);
}
