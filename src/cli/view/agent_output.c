/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view/agent_output.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/view/output.h"
#include "cli/view/progress.h"
#include "cli/view/view.h"
#include "data/json.h"

/* Line by line, made safe. */
static void put_safe(struct buf *out, struct span text)
{
	while (text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;

		render_safe(out, span_head(text, len));
		if (end)
			buf_char(out, '\n');
		len += end != NULL;
		text = span_of(text.data + len, text.len - len);
	}
}

bool agent_output_lines(struct span text, struct err *err)
{
	_cleanup_buf_ struct buf safe = BUF_INIT(LIMIT_RESULT_BYTES);

	put_safe(&safe, text);
	return output_text(buf_view(&safe), err);
}

/* A writable pipe takes this much without blocking. */
enum { PIECE_BYTES = 4096, LAST_WORDS_MS = 1000 };

/* Of a line about a call. */
enum { CALL_BYTES = 200, REASON_BYTES = 500 };

/* Waits until standard output takes something; false: the run is cancelled, and the
 * reader has not read for a second. */
static bool wait_for_reader(const struct agent_output *output)
{
	while (true) {
		bool late = cancelled(output->cancel);
		struct pollfd fds[] = {
			{ .fd = STDOUT_FILENO, .events = POLLOUT },
			{ .fd = late ? -1 : cancel_fd(output->cancel), .events = POLLIN },
		};
		int ready = poll(fds, 2, late ? LAST_WORDS_MS : -1);

		if (ready < 0 && errno == EINTR)
			continue;
		if (ready < 0 || fds[0].revents)
			return true; /* write reports the error */
		if (late)
			return false;
	}
}

/* After an error nothing can be written any more. */
static void note_error(struct agent_output *output, int number)
{
	if (number == EPIPE)
		output->closed = true;
	else
		output->failed = number;
	if (output->cancel)
		cancel_set(output->cancel);
}

static void answer_write(struct agent_output *output, struct span text)
{
	if (text.len && output->terminal)
		progress_clear(output->progress);
	while (text.len && !output->closed && !output->failed && !output->stuck) {
		size_t len = text.len < PIECE_BYTES ? text.len : PIECE_BYTES;
		ssize_t put;

		output->stuck = !wait_for_reader(output);
		if (output->stuck)
			return;
		put = write(STDOUT_FILENO, text.data, len);
		if (put < 0 && errno != EINTR && errno != EAGAIN)
			note_error(output, errno);
		else if (put > 0)
			text = span_of(text.data + put, text.len - (size_t)put);
	}
}

/* Writes text of the answer: unchanged to a file or pipe, sanitized for a terminal. */
static void answer_write_text(struct agent_output *output, struct span text)
{
	_cleanup_buf_ struct buf safe = BUF_INIT(LIMIT_RESULT_BYTES);

	if (text.len)
		output->midline = text.data[text.len - 1] != '\n';
	if (!output->terminal || output->raw) {
		answer_write(output, text);
		return;
	}
	put_safe(&safe, text);
	answer_write(output, buf_view(&safe));
}

/* --- text that a retry may replace ----------------------------------------------- */

/* A reply that breaks midway is asked for again. What can take no text back, a file or a pipe,
 * gets that of a reply when it is whole; on a terminal it is shown as it comes. */
static void put_answer(struct agent_output *output, struct span text)
{
	if (output->terminal)
		answer_write_text(output, text);
	else
		buf_span(&output->held, text);
}

static void put_held(struct agent_output *output)
{
	answer_write_text(output, buf_view(&output->held));
	buf_clear(&output->held);
}

/* --- stream-json ---------------------------------------------------------------------------- */

static json_t *new_event(const char *type)
{
	json_t *event = json_object();
	char now[CLOCK_TIMESTAMP_SIZE];

	clock_timestamp(now);
	json_object_set_new(event, "type", json_string(type));
	json_object_set_new(event, "timestamp", json_string(now));
	return event;
}

/* Takes the event. One write a line: lines of several threads do not mix. */
static void put_event(struct agent_output *output, json_t *event)
{
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	if (json_print(&line, event, 0) && buf_char(&line, '\n'))
		answer_write(output, buf_view(&line));
	json_decref(event);
}

static void event_copy_member(json_t *event, const char *name, const json_t *message,
                              const char *from)
{
	json_t *value = json_object_get(message, from);

	if (value)
		json_object_set(event, name, value);
}

static json_t *message_event(const char *role, json_t *content, bool delta)
{
	json_t *event = new_event("message");

	json_object_set_new(event, "role", json_string(role));
	json_object_set_new(event, "content", content);
	if (delta)
		json_object_set_new(event, "delta", json_true());
	return event;
}

static void stream_message(struct agent_output *output, const char *role, json_t *content,
                           bool delta)
{
	put_event(output, message_event(role, content, delta));
}

static json_t *call_event(const json_t *message)
{
	json_t *event = new_event("tool_use");

	event_copy_member(event, "tool_name", message, "toolName");
	event_copy_member(event, "tool_id", message, "callId");
	event_copy_member(event, "parameters", message, "arguments");
	return event;
}

static json_t *result_event(const json_t *message)
{
	const char *status = json_string_value(json_object_get(message, "status"));
	bool ok = status && strcmp(status, "success") == 0;
	json_t *event = new_event("tool_result");

	event_copy_member(event, "tool_id", message, "callId");
	json_object_set_new(event, "status", json_string(ok ? "success" : "error"));
	event_copy_member(event, "output", message, "display");
	if (!ok)
		event_copy_member(event, "error", message, "error");
	event_copy_member(event, "denials", json_object_get(message, "result"), "denials");
	return event;
}

/* Writes an event of a sub-agent as the session's agent would have it, but with another type, so
 * that readers do not confuse them. */
static void stream_agent(struct agent_output *output, const json_t *message)
{
	const struct span topic = json_span(json_object_get(message, "topic"));
	const json_t *inner = json_object_get(message, "message");
	json_t *event, *own = NULL;

	if (span_eq(topic, span_str(bus_topic_name(BUS_CONTENT))))
		own = message_event("assistant", json_incref(json_object_get(inner, "text")), true);
	else if (span_eq(topic, span_str(bus_topic_name(BUS_TOOL_CALL))))
		own = call_event(inner);
	else if (span_eq(topic, span_str(bus_topic_name(BUS_TOOL_RESULT))))
		own = result_event(inner);
	if (!own)
		return;
	json_object_del(own, "timestamp");
	event = new_event("agent");
	event_copy_member(event, "agent", message, "agentName");
	event_copy_member(event, "tool_id", message, "callId");
	json_object_set_new(event, "event", own);
	put_event(output, event);
}

static void on_stream(struct agent_output *output, enum bus_topic topic, const json_t *message)
{
	json_t *text = json_object_get(message, "text");

	switch (topic) {
	case BUS_CONTENT:
		output->pieces++;
		stream_message(output, "assistant", json_incref(text), true);
		break;
	case BUS_TURN_END:
		output->pieces = 0;
		break;
	case BUS_TOOL_CALL:
		put_event(output, call_event(message));
		break;
	case BUS_TOOL_RESULT:
		put_event(output, result_event(message));
		break;
	case BUS_SUBAGENT:
		stream_agent(output, message);
		break;
	default:
		break;
	}
}

static void stderr_notice(struct agent_output *output, const char *severity, const char *message)
{
	_cleanup_buf_ struct buf line = BUF_INIT(1 << 20);

	buf_char(&line, '[');
	for (const char *c = severity; *c; c++)
		buf_char(&line, (char)toupper((unsigned char)*c));
	buf_str(&line, "] ");
	render_safe(&line, span_str(message));
	buf_char(&line, '\n');
	progress_clear(output->progress);
	output_stderr(buf_view(&line));
}

/* --- text ----------------------------------------------------------------------------------- */

static struct span text_first_line(struct span text)
{
	const char *end = text.len ? memchr(text.data, '\n', text.len) : NULL;

	return end ? span_head(text, (size_t)(end - text.data)) : text;
}

/* Without a progress display: a line for each call that failed, with its subject. */
static void show_failure(struct agent_output *output, const json_t *message)
{
	const char *id = json_string_value(json_object_get(message, "callId"));
	const char *name = json_string_value(json_object_get(message, "toolName"));
	const char *status = json_string_value(json_object_get(message, "status"));
	struct span about = json_span(json_object_get(output->calls, id ? id : ""));
	struct span why = json_span(json_object_get(json_object_get(message, "error"), "message"));
	_cleanup_buf_ struct buf line = BUF_INIT(64 << 10);

	if (status && strcmp(status, "error") == 0) {
		buf_printf(&line, "%s%s", name ? name : "A call", about.len ? " (" : "");
		buf_span(&line, utf8_head(about, CALL_BYTES));
		buf_printf(&line, "%s failed: ", about.len ? ")" : "");
		buf_span(&line, utf8_head(text_first_line(why), REASON_BYTES));
		stderr_notice(output, "error", line.data);
	}
	json_object_del(output->calls, id ? id : "");
}

static void on_text_topic(struct agent_output *output, enum bus_topic topic, const json_t *message)
{
	if (topic == BUS_CONTENT && output->format == AGENT_TEXT)
		put_answer(output, json_span(json_object_get(message, "text")));
	if (topic == BUS_TURN_END)
		put_held(output);
	if (topic == BUS_TOOL_CALL && output->format == AGENT_TEXT && output->midline)
		answer_write_text(output, SPAN("\n"));
	if (output->format != AGENT_TEXT || output->progress)
		return;
	if (topic == BUS_TOOL_CALL) {
		const char *id = json_string_value(json_object_get(message, "callId"));

		if (id)
			json_object_set(output->calls, id, json_object_get(message, "description"));
	}
	if (topic == BUS_TOOL_RESULT)
		show_failure(output, message);
}

/* --- notices -------------------------------------------------------------------------------- */

/* What a program that reads stream-json can act on besides the sentence. */
struct notice_more {
	unsigned forget;     /* so many of the latest assistant messages do not count any more */
	const char *model;   /* this one answers from now on; or NULL */
};

static void stream_notice(struct agent_output *output, const char *severity, json_t *message,
                          struct notice_more notice_more)
{
	json_t *event = new_event("error");

	json_object_set_new(event, "severity", json_string(severity));
	json_object_set(event, "message", message);
	if (notice_more.forget)
		json_object_set_new(event, "forget", json_integer(notice_more.forget));
	if (notice_more.model)
		json_object_set_new(event, "model", json_text(span_str(notice_more.model)));
	put_event(output, event);
}

static bool text_is(const char *text, const char *word)
{
	return strcmp(text, word) == 0;
}

static void print_notice(struct agent_output *output, const char *severity, const char *message,
                         struct notice_more notice_more)
{
	bool hook = text_is(severity, "hook"), info = hook || text_is(severity, "info");

	if (!info || hook || output->progress)
		stderr_notice(output, hook ? "info" : severity, message);
	if (!info && !output->ended) {
		json_t *text = json_text(span_str(message));

		json_array_append_new(output->warnings, text);
		if (output->started)
			stream_notice(output, severity, text, notice_more);
	}
}

/* Nothing is drawn beneath an answer's line that has no end, nor among events. */
static void progress_again(struct agent_output *output)
{
	progress_hide(output->progress, output->terminal &&
	                                  (output->midline || output->format != AGENT_TEXT));
}

void agent_output_notice(struct agent_output *output, const char *severity, const char *message)
{
	pthread_mutex_lock(&output->lock);
	print_notice(output, severity, message, (struct notice_more){ 0 });
	progress_again(output);
	pthread_mutex_unlock(&output->lock);
}

static void on_notice(struct agent_output *output, const char *severity, const char *model,
                      const json_t *message)
{
	const char *text = json_string_value(json_object_get(message, "message"));
	bool forget = json_object_get(message, "forget");

	if (forget && output->terminal && output->format == AGENT_TEXT) {
		/* A person at a terminal has read it already. */
		if (output->midline)
			answer_write_text(output, SPAN("\n"));
		answer_write_text(output,
		                  SPAN("[This reply broke off; what follows replaces it.]\n"));
	}
	if (forget)
		buf_clear(&output->held); /* it does not count any more */
	if (text)
		print_notice(output, json_is_true(json_object_get(message, "hook")) ? "hook" :
		                    severity ? severity : "info", text,
		             (struct notice_more){ .forget = forget ? output->pieces : 0,
		                                   .model = model });
	if (forget)
		output->pieces = 0;
}

/* --- all ------------------------------------------------------------------------------------ */

static void on_message(void *data, enum bus_topic topic, const json_t *message)
{
	struct agent_output *output = data;

	pthread_mutex_lock(&output->lock);
	if (topic == BUS_NOTICE)
		on_notice(output, json_string_value(json_object_get(message, "severity")), NULL,
		          message);
	if (topic == BUS_MODEL) {
		const char *id = json_string_value(json_object_get(message, "model"));

		on_notice(output, "warning", id ? model_plain_id(id) : NULL, message);
	}
	if (output->format == AGENT_STREAM_JSON)
		on_stream(output, topic, message);
	on_text_topic(output, topic, message);
	progress_message(output->progress, topic, message);
	progress_again(output);
	pthread_mutex_unlock(&output->lock);
}

void agent_output_open(struct agent_output *output, enum agent_format format,
                       struct cancel *cancel)
{
	*output = (struct agent_output){
		.format = format, .cancel = cancel, .terminal = output_is_terminal(),
		.progress = progress_new(&output->lock), .warnings = json_array(),
		.calls = json_object(),
		.held = BUF_INIT(LIMIT_RESULT_BYTES),
	};
	pthread_mutex_init(&output->lock, NULL);
}

void agent_output_listen(struct agent_output *output, struct bus *bus, const char *topic)
{
	output->bus = bus;
	output->subscription = bus_subscribe(bus, BUS_NONE, on_message, output);
	pthread_mutex_lock(&output->lock);
	progress_topic(output->progress, topic);
	progress_begin(output->progress);
	progress_again(output);
	pthread_mutex_unlock(&output->lock);
}

/* What was said before there was a session comes after its first event. */
static void stream_early_notices(struct agent_output *output)
{
	size_t i;
	json_t *message;

	output->started = true;
	json_array_foreach(output->warnings, i, message)
		stream_notice(output, "warning", message, (struct notice_more){ 0 });
}

void agent_output_begin(struct agent_output *output, const char *session_id, const char *model,
                        struct span prompt)
{
	json_t *event;

	free(output->session_id);
	output->session_id = mem_strdup(session_id);
	if (output->format != AGENT_STREAM_JSON)
		return;
	event = new_event("init");
	json_object_set_new(event, "session_id", json_string(session_id));
	json_object_set_new(event, "model", json_text(span_str(model)));
	pthread_mutex_lock(&output->lock);
	put_event(output, event);
	stream_early_notices(output);
	stream_message(output, "user", json_text(prompt), false);
	pthread_mutex_unlock(&output->lock);
}

static json_t *error_object(const struct agent_ending *ending)
{
	json_t *error = json_object();

	json_object_set_new(error, "type", json_string(ending->type));
	json_object_set_new(error, "message", json_text(span_str(ending->message)));
	json_object_set_new(error, "code", json_integer(ending->code));
	return error;
}

static void put_document(struct agent_output *output, const json_t *document, bool failed)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	if (!json_print(&text, document, 2) || !buf_char(&text, '\n'))
		return;
	if (failed && !output->closed)
		output_stderr(buf_view(&text));
	else
		answer_write(output, buf_view(&text));
}

static bool is_answer(const struct agent_ending *ending)
{
	return !ending->type || ending->answered;
}

static void end_json(struct agent_output *output, const struct agent_ending *ending)
{
	json_auto_t *document = json_object();

	json_object_set_new(document, "session_id",
	                    json_text(span_str(output->session_id ? output->session_id : "")));
	if (is_answer(ending)) {
		json_object_set_new(document, "response", json_text(span_str(ending->response)));
		if (ending->stats)
			json_object_set(document, "stats", (json_t *)ending->stats);
		if (json_array_size(output->warnings))
			json_object_set(document, "warnings", output->warnings);
	}
	if (ending->type)
		json_object_set_new(document, "error", error_object(ending));
	put_document(output, document, !is_answer(ending));
}

static void answer_stream_end(struct agent_output *output, const struct agent_ending *ending)
{
	json_t *event;

	if (!output->started)
		stream_early_notices(output);
	event = new_event("result");
	json_object_set_new(event, "status", json_string(ending->type ? "error" : "success"));
	if (ending->type) {
		json_t *error = error_object(ending);

		json_object_del(error, "code");
		json_object_set_new(event, "error", error);
	}
	if (ending->stream_stats)
		json_object_set(event, "stats", (json_t *)ending->stream_stats);
	put_event(output, event);
}

/* Prints the part of a reply that arrived, if the rest will not come and nothing replaces it. */
static void end_text(struct agent_output *output)
{
	put_held(output);
	if (output->midline)
		answer_write_text(output, SPAN("\n"));
}

/* The bus goes with the host, before the output. */
static void stop_listening(struct agent_output *output)
{
	if (output->bus)
		bus_unsubscribe(output->bus, output->subscription);
	output->bus = NULL;
}

void agent_output_end(struct agent_output *output, const struct agent_ending *ending)
{
	stop_listening(output);
	progress_end(output->progress);
	pthread_mutex_lock(&output->lock);
	if (output->format == AGENT_JSON)
		end_json(output, ending);
	else if (output->format == AGENT_STREAM_JSON)
		answer_stream_end(output, ending);
	else
		end_text(output);
	/* An output that failed cancelled the run: the caller says why. */
	if (ending->type && (output->format != AGENT_JSON || ending->answered) && !output->closed &&
	    !output->failed)
		output_complain(ending->message);
	output->ended = true;
	pthread_mutex_unlock(&output->lock);
}

void agent_output_close(struct agent_output *output)
{
	stop_listening(output);
	progress_free(output->progress);
	buf_release(&output->held);
	json_decref(output->warnings);
	json_decref(output->calls);
	free(output->session_id);
	pthread_mutex_destroy(&output->lock);
}
