/* SPDX-License-Identifier: Apache-2.0 */
/* JSON-RPC 2.0, one message a line. */
#include "net/rpc/rpc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"

/* ---- lines ---- */

/* How much of a line that is too long is shown to its handler. */
enum { BEGINNING_MAX = 256 };

void rpc_reader_init(struct rpc_reader *reader, size_t max)
{
	*reader = (struct rpc_reader){ .pending = BUF_INIT(max + 1), .max = max };
}

void rpc_reader_release(struct rpc_reader *reader)
{
	buf_release(&reader->pending);
	reader->skipping = false;
}

/* Hands a line without its end over, if there is anything in it. */
static bool emit(const struct rpc_reader *reader, struct span line, rpc_line_handler *handler,
                 void *data)
{
	if (span_ends(line, SPAN("\r")))
		line.len--;
	if (line.len == 0)
		return true;
	if (line.len > reader->max)
		return handler(data, span_head(line, BEGINNING_MAX), true);
	return handler(data, line, false);
}

/* Keeps the beginning of a line, or announces that it has become too long. */
static bool keep_pending(struct rpc_reader *reader, struct span part, rpc_line_handler *handler,
                           void *data)
{
	char beginning[BEGINNING_MAX];
	size_t have = reader->pending.len;
	size_t shown = have < sizeof(beginning) ? have : sizeof(beginning);
	size_t more = sizeof(beginning) - shown;

	/* One byte more than `max`: it may be the CR of the line's end. */
	if (part.len <= reader->max + 1 - have) {
		buf_span(&reader->pending, part);
		return true;
	}
	more = more < part.len ? more : part.len;
	if (shown)
		memcpy(beginning, reader->pending.data, shown);
	if (more)
		memcpy(beginning + shown, part.data, more);
	buf_release(&reader->pending);
	reader->skipping = true;
	return handler(data, span_of(beginning, shown + more), true);
}

/* The line ends with `part`. */
static bool end_message(struct rpc_reader *reader, struct span part, rpc_line_handler *handler,
                        void *data)
{
	struct buf line;
	bool go_on;

	if (reader->skipping) {
		reader->skipping = false;
		return true;
	}
	if (reader->pending.len == 0)
		return emit(reader, part, handler, data);
	if (!keep_pending(reader, part, handler, data))
		return false;
	if (reader->skipping) {
		reader->skipping = false;
		return true;
	}
	/* The handler may feed this reader, or release it. */
	line = reader->pending;
	reader->pending = (struct buf)BUF_INIT(line.max);
	go_on = emit(reader, buf_view(&line), handler, data);
	buf_release(&line);
	return go_on;
}

void rpc_feed(struct rpc_reader *reader, struct span chunk, rpc_line_handler *handler,
                void *data)
{
	while (chunk.len) {
		const char *end = memchr(chunk.data, '\n', chunk.len);
		size_t len = end ? (size_t)(end - chunk.data) : chunk.len;
		struct span part = span_head(chunk, len);

		chunk = span_skip(chunk, len + 1);
		if (end) {
			if (!end_message(reader, part, handler, data))
				return;
		} else if (!reader->skipping && !keep_pending(reader, part, handler, data)) {
			return;
		}
	}
}

/* ---- messages ---- */

void rpc_message_release(struct rpc_message *message)
{
	json_decref(message->whole);
	*message = (struct rpc_message){ 0 };
}

void rpc_problem_release(struct rpc_problem *problem)
{
	json_decref(problem->id);
	problem->id = NULL;
}

static bool problem_set(struct rpc_problem *problem, enum rpc_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Fills `problem`, which has no id yet, and returns false. */
static bool problem_set(struct rpc_problem *problem, enum rpc_code code, const char *format, ...)
{
	char text[1024];
	struct span cut;
	va_list args;

	*problem = (struct rpc_problem){ .code = code };
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	cut = utf8_head(span_str(text), sizeof(problem->message) - 1);
	memcpy(problem->message, cut.data, cut.len);
	return false;
}

bool rpc_parse_json(struct span text, json_t **ret, struct rpc_problem *problem)
{
	struct err err = ERR_INIT;

	return json_parse_depth(text, RPC_DEPTH_MAX, ret, &err) ||
	       problem_set(problem, RPC_PARSE_ERROR, "%s", err.message);
}

bool rpc_parse_foreign(struct span text, json_t **ret, size_t *repaired,
                       struct rpc_problem *problem)
{
	struct err err = ERR_INIT;

	return json_parse_foreign(text, RPC_DEPTH_MAX, ret, repaired, &err) ||
	       problem_set(problem, RPC_PARSE_ERROR, "%s", err.message);
}

/* Whether there is an id that can be kept; a response may lack it, or have null. */
static bool message_take_id(struct rpc_message *message, bool response, struct rpc_problem *problem)
{
	const json_t *id = json_object_get(message->whole, "id");

	if (json_is_integer(id) ||
	    (json_is_string(id) && json_string_length(id) <= LIMIT_RPC_ID_BYTES)) {
		message->id = id;
		return true;
	}
	if (!id || (response && json_is_null(id)))
		return true;
	if (json_is_string(id))
		return problem_set(problem, RPC_INVALID_REQUEST,
		                      "The id is longer than %d bytes.", LIMIT_RPC_ID_BYTES);
	return problem_set(problem, RPC_INVALID_REQUEST,
	                      "The id must be a string or an integer, not "
	                      "%s.", json_type_phrase(id));
}

static bool read_response(struct rpc_message *message, struct rpc_problem *problem)
{
	const json_t *result = json_object_get(message->whole, "result");
	const json_t *error = json_object_get(message->whole, "error");

	if (result && error)
		return problem_set(problem, RPC_INVALID_REQUEST, "Both a result and an error.");
	if (error && !json_is_object(error))
		return problem_set(problem, RPC_INVALID_REQUEST, "The error is not an object.");
	if (result && !message->id)
		return problem_set(problem, RPC_INVALID_REQUEST, "A result without an id.");
	message->kind = error ? RPC_ERROR : RPC_RESULT;
	message->body = error ? error : result;
	return true;
}

static bool message_read_call(struct rpc_message *message, struct rpc_problem *problem)
{
	const json_t *method = json_object_get(message->whole, "method");
	const json_t *params = json_object_get(message->whole, "params");

	if (!json_is_string(method) ||
	    memchr(json_string_value(method), '\0', json_string_length(method)))
		return problem_set(problem, RPC_INVALID_REQUEST, "The method must be a name.");
	if (params && !json_is_object(params) && !json_is_null(params))
		return problem_set(problem, RPC_INVALID_PARAMS,
		                      "params must be an object, not %s.",
		                      json_type_phrase(params));
	message->kind = message->id ? RPC_REQUEST : RPC_NOTIFICATION;
	message->method = json_string_value(method);
	message->body = json_is_object(params) ? params : NULL;
	return true;
}

static bool message_read_object(struct rpc_message *message, struct rpc_problem *problem)
{
	const json_t *version = json_object_get(message->whole, "jsonrpc");
	const json_t *method = json_object_get(message->whole, "method");
	bool response = !method && (json_object_get(message->whole, "result") ||
	                            json_object_get(message->whole, "error"));
	bool read = message_take_id(message, response, problem);

	if (read && !span_eq(json_span(version), SPAN("2.0")))
		read = problem_set(problem, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\".");
	else if (read)
		read = response ? read_response(message, problem) :
		       message_read_call(message, problem);
	if (!read) {
		problem->id = message->id ? json_incref((json_t *)message->id) : NULL;
		/* An answer to an answer could go on for ever; notifications have none. */
		problem->silent = response || (problem->code == RPC_INVALID_PARAMS && !problem->id);
	}
	return read;
}

bool rpc_parse_value(json_t *value, struct rpc_message *ret, struct rpc_problem *problem)
{
	struct rpc_message message = { .whole = value };

	if (!json_is_object(value))
		problem_set(problem, RPC_INVALID_REQUEST, "A message is an object, not %s.",
		               json_type_phrase(value));
	else if (message_read_object(&message, problem)) {
		*ret = message;
		return true;
	}
	rpc_message_release(&message);
	return false;
}

bool rpc_parse(struct span text, struct rpc_message *ret, struct rpc_problem *problem)
{
	json_t *value;

	return rpc_parse_json(text, &value, problem) && rpc_parse_value(value, ret, problem);
}

/* ---- what is left of a broken message ---- */

/* Where the string ends that begins at text[at], behind its quote. */
static size_t rpc_string_end(struct span text, size_t at)
{
	for (at++; at < text.len && text.data[at] != '"'; at++)
		at += text.data[at] == '\\';
	return at < text.len ? at + 1 : text.len;
}

static size_t rpc_skip_blanks(struct span text, size_t at)
{
	while (at < text.len && strchr(" \t\r\n", text.data[at]) && text.data[at])
		at++;
	return at;
}

/* The value at text[at], if it is a number, or a string of one: strings are what some servers make
 * of ids. */
static bool remains_take_id(struct span text, size_t at, struct rpc_remains *ret)
{
	struct span digits = span_skip(text, at);
	const bool quoted = span_starts(digits, SPAN("\""));
	size_t len = 0;
	int64_t id = 0;

	digits = span_skip(digits, quoted ? 1 : 0);
	for (; len < digits.len && len < 18 && ascii_is_digit(digits.data[len]); len++)
		id = id * 10 + (digits.data[len] - '0');
	if (!len || (len < digits.len &&
	             !(digits.data[len] &&
	               strchr(quoted ? "\"" : ",} \t\r\n", digits.data[len]))))
		return false;
	if (ret->has_id && ret->id != id)
		return false;
	ret->id = id;
	return true;
}

/* What else the members so far say. */
struct remains_seen {
	bool result, ids_differ;
};

static void remains_take_member(struct span text, struct span name, size_t value,
                                struct remains_seen *seen, struct rpc_remains *ret)
{
	if (span_eq(name, SPAN("\"jsonrpc\"")))
		ret->messages++;
	else if (span_eq(name, SPAN("\"method\"")))
		ret->is_call = true;
	else if (span_eq(name, SPAN("\"result\"")))
		seen->result = true;
	else if (span_eq(name, SPAN("\"id\""))) {
		ret->has_id = remains_take_id(text, value, ret);
		seen->ids_differ = seen->ids_differ || !ret->has_id;
	}
}

/* Members of the outermost object count; of a batch, those of each. */
void rpc_remains_read(struct span text, struct rpc_remains *ret)
{
	struct remains_seen seen = { 0 };
	size_t depth = 0;

	*ret = (struct rpc_remains){ 0 };
	for (size_t at = 0; at < text.len;) {
		const char c = text.data[at];
		size_t end = at + 1;

		if (c == '"') {
			const size_t colon = rpc_skip_blanks(text, end = rpc_string_end(text, at));

			if (depth == 1 && colon < text.len && text.data[colon] == ':')
				remains_take_member(text, span_of(text.data + at, end - at),
				                    rpc_skip_blanks(text, colon + 1), &seen, ret);
		} else if (c == '{' || (c == '[' && depth)) {
			depth++;
		} else if ((c == '}' || c == ']') && depth) {
			depth--;
		}
		at = end;
	}
	ret->has_id = ret->has_id && !seen.ids_differ;
	ret->messages += !ret->messages && ret->has_id && seen.result;
}

/* Writing. */

bool rpc_write_id(struct buf *out, const json_t *id)
{
	return id ? json_print(out, id, 0) : buf_str(out, "null");
}

bool rpc_begin_result(struct buf *out, struct span id)
{
	buf_span(out, SPAN("{\"jsonrpc\":\"2.0\",\"id\":"));
	buf_span(out, id.len ? id : SPAN("null"));
	return buf_span(out, SPAN(",\"result\":"));
}

bool rpc_end_result(struct buf *out)
{
	return buf_char(out, '}');
}

static bool begin_answer(struct buf *out, const json_t *id, struct span what)
{
	buf_span(out, SPAN("{\"jsonrpc\":\"2.0\",\"id\":"));
	return rpc_write_id(out, id) && buf_span(out, what);
}

bool rpc_write_result(struct buf *out, const json_t *id, const json_t *result)
{
	return begin_answer(out, id, SPAN(",\"result\":")) &&
	       (result ? json_print(out, result, 0) : buf_str(out, "{}")) && rpc_end_result(out);
}

/* The value of "error" and the end of the message. */
static bool write_error_value(struct buf *out, int code, const char *message, const json_t *data)
{
	json_t *text = json_cstr(message);

	buf_printf(out, ",\"error\":{\"code\":%d,\"message\":", code);
	json_print(out, text, 0);
	json_decref(text);
	if (data) {
		buf_str(out, ",\"data\":");
		json_print(out, data, 0);
	}
	return buf_str(out, "}}");
}

bool rpc_write_error(struct buf *out, const json_t *id, int code, const char *message,
                     const json_t *data)
{
	return begin_answer(out, id, SPAN("")) && write_error_value(out, code, message, data);
}

bool rpc_write_error_to(struct buf *out, struct span id, int code, const char *message,
                        const json_t *data)
{
	buf_span(out, SPAN("{\"jsonrpc\":\"2.0\",\"id\":"));
	buf_span(out, id.len ? id : SPAN("null"));
	return write_error_value(out, code, message, data);
}

/* From the method's name to the end of the message. */
static bool write_method(struct buf *out, const char *method, const json_t *params)
{
	json_t *name = json_cstr(method);

	json_print(out, name, 0);
	json_decref(name);
	if (params) {
		buf_str(out, ",\"params\":");
		if (!json_print(out, params, 0))
			return false;
	}
	return buf_char(out, '}');
}

bool rpc_write_request(struct buf *out, int64_t id, const char *method, const json_t *params)
{
	buf_printf(out, "{\"jsonrpc\":\"2.0\",\"id\":%" PRId64 ",\"method\":", id);
	return write_method(out, method, params);
}

bool rpc_write_notification(struct buf *out, const char *method, const json_t *params)
{
	buf_str(out, "{\"jsonrpc\":\"2.0\",\"method\":");
	return write_method(out, method, params);
}
