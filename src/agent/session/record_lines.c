/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/session/record.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

enum { TEXT_BYTES_MAX = 256 << 20, DISPLAY_BYTES_MAX = 300 };

bool record_id_is_valid(const char *session_id)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t len = strlen(session_id);

	return len && len <= 128 && strspn(session_id, letters) == len;
}

char *record_new_id(void)
{
	char id[RANDOM_UUID_SIZE];

	random_uuid(id);
	return mem_strdup(id);
}

void record_minute(char *out, size_t size)
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(out, size, "%Y-%m-%dT%H-%M", &parts);
}

static json_t *timestamp_json(void)
{
	char now[CLOCK_TIMESTAMP_SIZE];

	clock_timestamp(now);
	return json_string(now);
}

static json_t *new_message(const char *type)
{
	_cleanup_free_ char *id = record_new_id();
	json_t *message = json_object();

	json_object_set_new(message, "id", json_string(id));
	json_object_set_new(message, "timestamp", timestamp_json());
	json_object_set_new(message, "type", json_string(type));
	return message;
}

json_t *record_metadata_line(const char *session_id, const char *project_hash,
                             const json_t *directories, const char *kind)
{
	json_t *line = json_object();

	json_object_set_new(line, "sessionId", json_string(session_id));
	json_object_set_new(line, "projectHash", json_string(project_hash));
	json_object_set_new(line, "startTime", timestamp_json());
	json_object_set_new(line, "lastUpdated", timestamp_json());
	json_object_set_new(line, "kind", json_string(kind));
	if (directories)
		json_object_set(line, "directories", (json_t *)directories);
	return line;
}

json_t *record_user_line(const json_t *content)
{
	json_t *kept = json_array();
	json_t *line;
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (!part_get_response(part))
			json_array_append(kept, part);
	if (!json_array_size(kept)) {
		json_decref(kept);
		return NULL;
	}
	line = new_message("user");
	json_object_set_new(line, "content", kept);
	return line;
}

/* Gemini CLI keeps thoughts as a subject in ** ** and what follows it. */
static json_t *thought_entry(struct span text)
{
	json_t *entry = json_object();
	struct span subject = span_of("", 0);
	const char *from = text.len ? memmem(text.data, text.len, "**", 2) : NULL;
	const char *to =
		from ? memmem(from + 2, (size_t)(text.data + text.len - from - 2), "**", 2) :
	                        NULL;

	if (to) {
		subject = span_of(from + 2, (size_t)(to - from - 2));
		text = span_of(to + 2, (size_t)(text.data + text.len - to - 2));
	}
	json_object_set_new(entry, "subject", json_text(subject));
	json_object_set_new(entry, "description", json_text(text));
	json_object_set_new(entry, "timestamp", timestamp_json());
	return entry;
}

static json_t *thoughts_of(const json_t *content)
{
	json_t *thoughts = json_array();
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part)
		if (part_is_thought(part))
			json_array_append_new(thoughts,
			                      thought_entry(json_span(json_object_get(part,
			                                                              "text"))));
	return thoughts;
}

/* Whether the content is only text. */
static bool is_plain_text(const json_t *content)
{
	const json_t *parts = json_object_get(content, "parts");
	size_t i;
	json_t *part;

	json_array_foreach(parts, i, part)
		if (i || json_object_size(part) != 1 || !json_object_get(part, "text"))
			return false;
	return true;
}

static json_t *tokens_of(const struct model_usage *usage)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "input", (json_int_t)usage->input, "output",
	                 (json_int_t)usage->output, "cached", (json_int_t)usage->cached, "thoughts",
	                 (json_int_t)usage->thoughts, "tool", (json_int_t)usage->tool, "total",
	                 (json_int_t)usage->total);
}

json_t *record_model_line(const json_t *content, const struct model_usage *usage,
                          const char *model)
{
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_BYTES_MAX);
	json_t *line = new_message("gemini");

	content_text(content, &text);
	json_object_set_new(line, "content", json_text(buf_view(&text)));
	json_object_set_new(line, "thoughts", thoughts_of(content));
	if (usage)
		json_object_set_new(line, "tokens", tokens_of(usage));
	if (model)
		json_object_set_new(line, "model", json_text(span_str(model)));
	if (!is_plain_text(content))
		json_object_set_new(line, "hasp", json_pack("{s:O}", "content", content));
	return line;
}

/* The text shown to the user mostly repeats the result: of a long one, keep the beginning. */
static json_t *short_display(const char *display)
{
	_cleanup_buf_ struct buf out = BUF_INIT(2 * DISPLAY_BYTES_MAX);
	struct span head = utf8_head(span_str(display), DISPLAY_BYTES_MAX);

	buf_span(&out, head);
	if (head.len < strlen(display))
		buf_printf(&out, "\n[... %zu bytes more, in the result ...]",
		           strlen(display) - head.len);
	return json_text(buf_view(&out));
}

/* It may be a long command. */
static json_t *hook_name(const char *name)
{
	return name ? json_text(utf8_head(span_str(name), DISPLAY_BYTES_MAX)) : NULL;
}

json_t *record_call_entry(const char *call_id, const char *name, const json_t *args,
                          const json_t *result, const json_t *media, const char *status,
                          const char *display, const struct record_took *took)
{
	json_t *call = json_object();
	json_t *response;

	json_object_set_new(call, "id", json_cstr(call_id));
	json_object_set_new(call, "name", json_cstr(name));
	json_object_set_new(call, "args", args ? json_incref((json_t *)args) : json_object());
	response = json_object();
	json_object_set_new(response, "id", json_cstr(call_id));
	json_object_set_new(response, "name", json_cstr(name));
	json_object_set_new(response, "response",
	                    result ? json_incref((json_t *)result) : json_object());
	if (json_array_size(media))
		json_object_set(response, "parts", (json_t *)media);
	json_object_set_new(call, "result", json_pack("[{s:o}]", "functionResponse", response));
	json_object_set_new(call, "status", json_cstr(status));
	json_object_set_new(call, "timestamp", timestamp_json());
	if (display)
		json_object_set_new(call, "resultDisplay", short_display(display));
	if (took)
		json_object_set_new(call, "hasp", json_pack("{s:o, s:o, s:s*, s:O*, s:o*}", "ms",
		                                            json_size(took->ms), "waited",
		                                            json_size(took->waited_ms), "dialect",
		                                            took->dialect, "asked", took->asked,
		                                            "hook", hook_name(took->hook)));
	return call;
}

json_t *record_call_line(const json_t *message_id, json_t *call)
{
	return json_pack("{s:{s:O,s:O}}", "hasp", "callOf", message_id, "call", call);
}

void record_add_call(json_t *message, json_t *call)
{
	json_t *calls = json_object_get(message, "toolCalls");

	if (!calls) {
		calls = json_array();
		json_object_set_new(message, "toolCalls", calls);
	}
	json_array_append_new(calls, call);
}

void record_add_own(json_t *message, const char *name, json_t *value)
{
	json_t *own = json_object_get(message, "hasp");

	if (!own) {
		own = json_object();
		json_object_set_new(message, "hasp", own);
	}
	json_object_set_new(own, name, value);
}

json_t *record_notice_line(const char *type, const char *text)
{
	json_t *line = new_message(type);

	json_object_set_new(line, "content", json_text(span_str(text)));
	return line;
}

/* The responses that follow a model message, as its calls. */
static void add_calls(json_t *message, const json_t *content, const json_t *next)
{
	size_t i, j;
	json_t *part, *answer;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const json_t *call = part_get_call(part);
		const char *id = json_string_value(json_object_get(call, "id"));

		json_array_foreach(json_object_get(next, "parts"), j, answer) {
			const json_t *response = part_get_response(answer);
			const char *of = json_string_value(json_object_get(response, "id"));

			if (id && of && strcmp(id, of) == 0)
				record_add_call(message,
				                record_call_entry(
							id,
							json_string_value(json_object_get(call,
							                                  "name")),
							json_object_get(call, "args"),
							json_object_get(response, "response"),
							json_object_get(response, "parts"),
							"success", NULL, NULL));
		}
	}
}

json_t *record_gap_line(const char *since, size_t lines)
{
	return json_pack("{s:{s:{s:s, s:o}}}", "hasp", "gap", "since", since, "lines",
	                 json_size(lines));
}

json_t *record_resumed_line(void)
{
	return json_pack("{s:{s:o}}", "hasp", "resumed", timestamp_json());
}

/* What identifies a message: all that becomes of it when it is read, but thinking that a
 * compaction drops. */
char *record_line_key(const json_t *line)
{
	json_auto_t *own =
		json_pack("[O]", json_object_get(json_object_get(line, "hasp"), "content"));
	json_auto_t *unbound = own ? content_drop_bound_thoughts(own) : NULL;
	json_auto_t *said = json_array();
	_cleanup_buf_ struct buf text = BUF_INIT(TEXT_BYTES_MAX);
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;
	size_t i;
	json_t *call;

	json_array_append(said, json_object_get(line, "type"));
	json_array_append(said, unbound ? unbound : own ? own : json_object_get(line, "content"));
	json_array_foreach(json_object_get(line, "toolCalls"), i, call) {
		json_array_append(said, json_object_get(call, "id"));
		json_array_append(said, json_object_get(call, "result"));
	}
	json_print(&text, said, 0);
	sum = sha256_of(buf_view(&text));
	sha256_hex(&sum, hex);
	return mem_strdup(hex);
}

json_t *record_messages_of(const json_t *contents)
{
	json_t *messages = json_array();
	size_t i;
	json_t *content;

	json_array_foreach(contents, i, content) {
		json_t *message;

		if (content_is_user(content)) {
			message = record_user_line(content);
		} else {
			message = record_model_line(content, NULL, NULL);
			add_calls(message, content, json_array_get(contents, i + 1));
		}
		if (message)
			json_array_append_new(messages, message);
	}
	return messages;
}

json_t *record_checkpoint_line(const json_t *messages, const json_t *known)
{
	json_t *list = json_array(), *message;
	bool any = false;
	size_t i;

	json_array_foreach((json_t *)messages, i, message) {
		_cleanup_free_ char *key = record_line_key(message);
		json_t *id = json_object_get(known, key);

		any = any || id;
		json_array_append(list, id ? id : message);
	}
	return any ? json_pack("{s:{s:o}}", "hasp", "messages", list) :
	             json_pack("{s:{s:o}}", "$set", "messages", list);
}
