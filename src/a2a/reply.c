/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent says about a task, put together from events of either version.
 *
 * Source: A2A 1.0, sections 4.1 and 4.2 (Task, Message, Part, TaskStatusUpdateEvent,
 * TaskArtifactUpdateEvent); 0.3, sections 6 and 7.2.  An event is what its members say: 0.3 has
 * "kind", 1.0 one member that is called after what it holds.  States are "input-required" or
 * "TASK_STATE_INPUT_REQUIRED", parts {"kind": "text", "text"} or {"text"}.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "a2a/private.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/text.h"
#include "data/json.h"

enum { LATEST_BYTES = 64 << 10, DATA_BYTES = 64 << 10, WORD_BYTES = 200,
       STATE_BYTES = 40 };

void a2a_reply_init(struct a2a_reply *reply)
{
	*reply = (struct a2a_reply){ .working = BUF_INIT(LIMIT_AGENT_ANSWER),
		                     .last = BUF_INIT(LIMIT_AGENT_ANSWER),
		                     .latest = BUF_INIT(LATEST_BYTES) };
}

void a2a_reply_release(struct a2a_reply *reply)
{
	free(reply->task);
	free(reply->context);
	buf_release(&reply->working);
	buf_release(&reply->last);
	buf_release(&reply->latest);
	for (size_t i = 0; i < reply->artifact_count; i++) {
		free(reply->artifacts[i].id);
		free(reply->artifacts[i].name);
		buf_release(&reply->artifacts[i].text);
	}
	*reply = (struct a2a_reply){ 0 };
}

/* As much as there is room for, whole characters, a blank for each NUL. */
static void put(struct a2a_reply *reply, struct buf *out, struct span text)
{
	const struct span head = utf8_head(text, out->max - out->len);
	const size_t before = out->len;

	reply->cut = reply->cut || head.len < text.len;
	buf_span(out, head);
	for (size_t i = before; i < out->len; i++)
		if (!out->data[i])
			out->data[i] = ' ';
}

void a2a_reply_continue(struct a2a_reply *reply)
{
	if (reply->last.len && reply->working.len)
		put(reply, &reply->working, SPAN("\n\n"));
	put(reply, &reply->working, buf_view(&reply->last));
	if (reply->last.len)
		put(reply, &reply->working, SPAN("\n\n"));
	buf_clear(&reply->last);
	reply->state = A2A_STATE_NONE;
	reply->has_message = reply->is_final = false;
}

/* ---- parts ------------------------------------------------------------------------ */

static struct span event_text(const json_t *object, const char *name)
{
	return json_span(json_object_get(object, name));
}

static struct span either_text(const json_t *object, const char *name, const char *other)
{
	const struct span text = event_text(object, name);

	return text.len ? text : event_text(object, other);
}

/* A file is named, not read: 0.3 has it in "file", 1.0 in the part. */
static void put_file_part(struct a2a_reply *reply, struct buf *out, const json_t *file)
{
	const struct span name = utf8_head(either_text(file, "filename", "name"), WORD_BYTES);
	const struct span type = utf8_head(either_text(file, "mediaType", "mimeType"), WORD_BYTES);
	const struct span url = utf8_head(either_text(file, "url", "uri"), A2A_URL_BYTES);
	const size_t bytes = either_text(file, "raw", "bytes").len;
	_cleanup_free_ char *text = mem_printf(
		"[File%s%.*s%s%.*s%s%.*s%s]", name.len ? " " : "", (int)name.len,
		name.len ? name.data : "", type.len ? ", " : "", (int)type.len,
		type.len ? type.data : "", url.len ? ": " : "", (int)url.len,
		url.len ? url.data : "", bytes ? ", its content is left out" : "");

	put(reply, out, span_str(text));
}

static void put_data(struct a2a_reply *reply, struct buf *out, const json_t *data)
{
	_cleanup_buf_ struct buf text = BUF_INIT(DATA_BYTES);

	if (json_print(&text, data, 0)) {
		put(reply, out, SPAN("Data: "));
		put(reply, out, buf_view(&text));
	} else {
		reply->cut = true;
		put(reply, out, SPAN("[Data that is too long is left out]"));
	}
}

static void put_parts(struct a2a_reply *reply, struct buf *out, const json_t *parts)
{
	size_t i;
	json_t *part;

	json_array_foreach((json_t *)parts, i, part) {
		const json_t *text = json_object_get(part, "text");
		const json_t *data = json_object_get(part, "data");
		const json_t *file = json_object_get(part, "file");

		if (json_is_string(text))
			put(reply, out, json_span(text));
		else if (data)
			put_data(reply, out, data);
		else if (file || json_object_get(part, "raw") || json_object_get(part, "url"))
			put_file_part(reply, out, file ? file : part);
	}
}

/* ---- states and ids --------------------------------------------------------------- */

static enum a2a_state task_state_of(const json_t *value)
{
	static const struct {
		const char *old, *new;
		enum a2a_state state;
	} rows[] = {
		{ "submitted", "TASK_STATE_SUBMITTED", A2A_STATE_SUBMITTED },
		{ "working", "TASK_STATE_WORKING", A2A_STATE_WORKING },
		{ "input-required", "TASK_STATE_INPUT_REQUIRED", A2A_STATE_INPUT },
		{ "auth-required", "TASK_STATE_AUTH_REQUIRED", A2A_STATE_AUTH },
		{ "completed", "TASK_STATE_COMPLETED", A2A_STATE_COMPLETED },
		{ "failed", "TASK_STATE_FAILED", A2A_STATE_FAILED },
		{ "canceled", "TASK_STATE_CANCELED", A2A_STATE_CANCELED },
		{ "rejected", "TASK_STATE_REJECTED", A2A_STATE_REJECTED },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (span_eq(json_span(value), span_str(rows[i].old)) ||
		    span_eq(json_span(value), span_str(rows[i].new)))
			return rows[i].state;
	return A2A_STATE_NONE;
}

static void take_id(char **slot, const json_t *value)
{
	const struct span id = json_span(value);

	if (!id.len || id.len > A2A_ID_BYTES || memchr(id.data, 0, id.len))
		return;
	free(*slot);
	*slot = mem_dup(id.data, id.len);
}

static bool is_the_users(const json_t *message)
{
	return span_eq(event_text(message, "role"), SPAN("user")) ||
	       span_eq(event_text(message, "role"), SPAN("ROLE_USER"));
}

/* ---- events ----------------------------------------------------------------------- */

/* Returns whether there is anything to show. */
static bool show_latest(struct a2a_reply *reply, struct span text)
{
	buf_clear(&reply->latest);
	buf_span(&reply->latest, utf8_head(span_trim(text), LATEST_BYTES));
	return reply->latest.len > 0;
}

static bool take_status(struct a2a_reply *reply, const json_t *status)
{
	const enum a2a_state state = task_state_of(json_object_get(status, "state"));
	const json_t *message = json_object_get(status, "message");
	const bool on_the_way = state < A2A_STATE_INPUT;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_AGENT_ANSWER);

	reply->state = state ? state : reply->state;
	if (is_the_users(message))
		return false;
	put_parts(reply, &text, json_object_get(message, "parts"));
	if (!on_the_way) {
		buf_clear(&reply->last);
		buf_span(&reply->last, buf_view(&text));
	} else if (!span_ends(buf_view(&reply->working), buf_view(&text))) {
		put(reply, &reply->working, buf_view(&text));
	}
	return show_latest(reply, buf_view(&text));
}

/* NULL: there are too many. */
static struct a2a_artifact *artifact_at(struct a2a_reply *reply, struct span id)
{
	struct a2a_artifact *artifact;

	id = utf8_head(id, A2A_ID_BYTES);
	for (size_t i = 0; i < reply->artifact_count; i++)
		if (span_eq(span_str(reply->artifacts[i].id), id))
			return &reply->artifacts[i];
	if (reply->artifact_count == A2A_ARTIFACTS_MAX) {
		reply->cut = true;
		return NULL;
	}
	artifact = &reply->artifacts[reply->artifact_count++];
	*artifact = (struct a2a_artifact){ .id = mem_dup(id.len ? id.data : "", id.len),
		                           .text = BUF_INIT(LIMIT_AGENT_ANSWER) };
	return artifact;
}

static bool take_artifact(struct a2a_reply *reply, const json_t *value, bool append)
{
	struct a2a_artifact *artifact = artifact_at(reply, event_text(value, "artifactId"));
	const struct span name = utf8_head(event_text(value, "name"), A2A_NAME_BYTES);
	size_t before;

	if (!artifact)
		return false;
	if (!append)
		buf_clear(&artifact->text);
	if (name.len) {
		free(artifact->name);
		artifact->name = mem_dup(name.data, name.len);
	}
	before = artifact->text.len;
	put_parts(reply, &artifact->text, json_object_get(value, "parts"));
	return show_latest(reply, buf_from(&artifact->text, before));
}

static bool reply_take_message(struct a2a_reply *reply, const json_t *message)
{
	take_id(&reply->context, json_object_get(message, "contextId"));
	take_id(&reply->task, json_object_get(message, "taskId"));
	if (is_the_users(message))
		return false;
	reply->has_message = true;
	if (reply->last.len)
		put(reply, &reply->last, SPAN("\n\n"));
	put_parts(reply, &reply->last, json_object_get(message, "parts"));
	return show_latest(reply, buf_view(&reply->last));
}

/* Some agents leave their answer in the history alone. */
static void take_from_history(struct a2a_reply *reply, const json_t *history)
{
	const size_t count = json_array_size(history);

	if (reply->state < A2A_STATE_COMPLETED || reply->last.len || reply->working.len ||
	    reply->artifact_count)
		return;
	for (size_t i = count; i-- > 0;) {
		const json_t *message = json_array_get(history, i);

		if (json_is_object(message) && !is_the_users(message)) {
			put_parts(reply, &reply->last, json_object_get(message, "parts"));
			return;
		}
	}
}

static bool reply_take_task(struct a2a_reply *reply, const json_t *task)
{
	bool any;
	size_t i;
	json_t *artifact;

	take_id(&reply->task, json_object_get(task, "id"));
	take_id(&reply->context, json_object_get(task, "contextId"));
	any = take_status(reply, json_object_get(task, "status"));
	json_array_foreach(json_object_get(task, "artifacts"), i, artifact)
		any = take_artifact(reply, artifact, false) || any;
	take_from_history(reply, json_object_get(task, "history"));
	return any;
}

static bool take_update(struct a2a_reply *reply, const json_t *update)
{
	const json_t *artifact = json_object_get(update, "artifact");

	take_id(&reply->task, json_object_get(update, "taskId"));
	take_id(&reply->context, json_object_get(update, "contextId"));
	if (artifact)
		return take_artifact(reply, artifact,
		                     json_is_true(json_object_get(update, "append")));
	reply->is_final = json_is_true(json_object_get(update, "final"));
	return take_status(reply, json_object_get(update, "status"));
}

/* Where the states of a task and of an update stand. */
static bool check_state(const json_t *of, struct err *err)
{
	const json_t *state = json_object_get(json_object_get(of, "status"), "state");
	_cleanup_buf_ struct buf word = BUF_INIT(8 * STATE_BYTES);

	if (!state || task_state_of(state) != A2A_STATE_NONE ||
	    span_eq(json_span(state), SPAN("unknown")) ||
	    span_eq(json_span(state), SPAN("TASK_STATE_UNSPECIFIED")))
		return true;
	name_line(&word, utf8_head(json_span(state), STATE_BYTES));
	return err_set(err, ERR_TOOL_FAILED, "its task is in an unknown state: \"%s\".",
	               word.len ? word.data : "");
}

bool a2a_reply_take(struct a2a_reply *reply, const json_t *event, bool *ret_news, struct err *err)
{
	const struct span kind = event_text(event, "kind");
	const json_t *task = json_object_get(event, "task");
	const json_t *message = json_object_get(event, "message");
	const json_t *update = json_object_get(event, "statusUpdate");

	update = update ? update : json_object_get(event, "artifactUpdate");
	if (span_eq(kind, SPAN("message")))
		message = event;
	else if (span_eq(kind, SPAN("status-update")) || span_eq(kind, SPAN("artifact-update")))
		update = event;
	else if (json_is_object(json_object_get(event, "status")))
		task = event; /* of either version: GetTask has no member around it */
	if (!json_is_object(task) && !json_is_object(update) && !json_is_object(message))
		return err_set(err, ERR_TOOL_FAILED,
		               "its answer is neither a task nor a message nor an update.");
	if (!check_state(json_is_object(task) ? task : update, err))
		return false;
	*ret_news = json_is_object(task)   ? reply_take_task(reply, task) :
	            json_is_object(update) ? take_update(reply, update) :
	                                     reply_take_message(reply, message);
	return true;
}

bool a2a_reply_is_settled(const struct a2a_reply *reply)
{
	return reply->has_message || reply->state >= A2A_STATE_INPUT;
}

/* ---- what it comes to --------------------------------------------------------------- */

static void put_artifacts(struct a2a_reply *reply, struct buf *out)
{
	for (size_t i = 0; i < reply->artifact_count; i++) {
		const struct a2a_artifact *artifact = &reply->artifacts[i];

		put(reply, out, out->len ? SPAN("\n\n") : SPAN(""));
		if (artifact->name) {
			put(reply, out, SPAN("Artifact ("));
			put(reply, out, span_str(artifact->name));
			put(reply, out, SPAN("):\n"));
		} else {
			put(reply, out, SPAN("Artifact:\n"));
		}
		put(reply, out, buf_view(&artifact->text));
	}
}

/* Where not all of it has room, what was said on the way gives way. */
char *a2a_reply_text(struct a2a_reply *reply)
{
	_cleanup_buf_ struct buf answer = BUF_INIT(LIMIT_AGENT_ANSWER);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_AGENT_ANSWER);
	const struct span working = span_trim(buf_view(&reply->working));
	size_t room;

	put(reply, &answer, buf_view(&reply->last));
	put_artifacts(reply, &answer);
	room = LIMIT_AGENT_ANSWER - answer.len;
	if (working.len && working.len + 2 <= room &&
	    !span_eq(working, span_trim(buf_view(&reply->last)))) {
		put(reply, &out, working);
		put(reply, &out, answer.len ? SPAN("\n\n") : SPAN(""));
	} else if (working.len + 2 > room) {
		reply->cut = true;
	}
	put(reply, &out, buf_view(&answer));
	return buf_steal(&out);
}
