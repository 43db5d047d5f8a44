/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a session's file read: its lines replayed, then the conversation that they make. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "agent/context/context.h"
#include "agent/context/surroundings.h"
#include "agent/session/record.h"
#include "agent/session/sessions.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

struct replay {
	struct session_read *read;
	json_t *places; /* id: index in messages */
	json_t *versions; /* id: how many messages had it before */
	json_t *calls;  /* call_key of those that the messages have now, and of older ones */
	json_t *changes_at; /* for each piece in read->sent.told: the count of messages before */
	bool has_id;    /* the metadata have a good sessionId */
};

/* Of a call of the message with this id as it is now; the caller frees. */
static char *call_key(const struct replay *replay, const char *message_id, const char *call_id)
{
	return mem_printf("%lld %zu %s %s",
	                  (long long)json_integer_value(json_object_get(replay->versions,
	                                                                message_id)),
	                  strlen(message_id), message_id, call_id);
}

static void note_calls(struct replay *replay, const json_t *message)
{
	const char *id = json_string_value(json_object_get(message, "id"));
	const json_t *version = id ? json_object_get(replay->versions, id) : NULL;
	size_t i;
	json_t *call;

	if (!id)
		return;
	json_object_set_new(replay->versions, id, json_integer(json_integer_value(version) + 1));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call) {
		const char *call_id = json_string_value(json_object_get(call, "id"));
		_cleanup_free_ char *key = call_id ? call_key(replay, id, call_id) : NULL;

		if (key)
			json_object_set_new(replay->calls, key, json_true());
	}
}

static void index_messages(struct replay *replay)
{
	size_t i;
	json_t *message;

	json_object_clear(replay->places);
	json_array_foreach(replay->read->messages, i, message) {
		const char *id = json_string_value(json_object_get(message, "id"));

		if (id)
			json_object_set_new(replay->places, id, json_integer((json_int_t)i));
		note_calls(replay, message);
	}
}

static json_t *message_by_id(struct replay *replay, const json_t *id, size_t *ret_index)
{
	const json_t *place = json_is_string(id) ?
	                              json_object_get(replay->places, json_string_value(id)) : NULL;

	if (!place)
		return NULL;
	*ret_index = (size_t)json_integer_value(place);
	return json_array_get(replay->read->messages, *ret_index);
}

static void put_message(struct replay *replay, json_t *message)
{
	size_t i;

	note_calls(replay, message);
	if (message_by_id(replay, json_object_get(message, "id"), &i)) {
		json_array_set(replay->read->messages, i, message);
		return;
	}
	json_array_append(replay->read->messages, message);
	if (json_is_string(json_object_get(message, "id")))
		json_object_set_new(replay->places,
		                    json_string_value(json_object_get(message, "id")),
		                    json_size(json_array_size(replay->read->messages) - 1));
}

static bool message_is_type(const json_t *message, const char *type)
{
	const char *own = json_string_value(json_object_get(message, "type"));

	return own && strcmp(own, type) == 0;
}

/* A message's content may be text, one part or a list of parts. */
static void add_parts(json_t *content, const json_t *value)
{
	size_t i;
	json_t *part;

	if (json_is_string(value) && json_string_length(value))
		content_add(content, part_text(json_span(value)));
	else if (json_is_object(value))
		content_add(content, json_incref((json_t *)value));
	json_array_foreach(value, i, part) {
		if (json_is_object(part))
			content_add(content, json_incref(part));
		else if (json_is_string(part))
			content_add(content, part_text(json_span(part)));
	}
}

/* "/help" and the like, typed in a terminal and never sent: a word after the slash, and no
 * answer. */
static bool is_slash_command(const json_t *messages, size_t i)
{
	const json_t *value = json_object_get(json_array_get(messages, i), "content");
	const char *text = json_string_value(value);

	if (json_is_array(value) && json_array_size(value) == 1)
		text = json_string_value(json_object_get(json_array_get(value, 0), "text"));
	if (!text || (*text != '/' && *text != '?') ||
	    message_is_type(json_array_get(messages, i + 1), "gemini"))
		return false;
	for (text++; isalnum((unsigned char)*text) || *text == '-' || *text == ':'; text++)
		;
	return *text == '\0' || *text == ' ';
}

/* The surroundings that Gemini CLI sends when it starts, before the first question. They are left
 * out, because each program sends its own. */
static bool is_surroundings(const json_t *messages, size_t i)
{
	const json_t *value = json_object_get(json_array_get(messages, i), "content");

	if (json_is_array(value))
		value = json_object_get(json_array_get(value, 0), "text");
	return span_starts(span_trim(json_span(value)), SPAN("<session_context>")) &&
	       !span_starts(json_span(value), SPAN(CHANGES_NOTE)) &&
	       !message_is_type(json_array_get(messages, i + 1), "gemini");
}

/* NULL: it is not the user's. A new reference. */
static json_t *user_content(const json_t *messages, size_t i)
{
	json_t *content;

	if (!message_is_type(json_array_get(messages, i), "user") ||
	    is_slash_command(messages, i) ||
	    is_surroundings(messages, i))
		return NULL;
	content = content_new("user");
	add_parts(content, json_object_get(json_array_get(messages, i), "content"));
	return content;
}

json_t *session_message_content(const json_t *message)
{
	json_auto_t *alone = json_pack("[O]", message);
	json_t *content;

	if (message_is_type(message, "user"))
		return user_content(alone, 0);
	content = content_new("model");
	add_parts(content, json_object_get(message, "content"));
	return content;
}

/* Known once it is found: what replaces the messages may have another beginning. */
static void find_first_prompt(struct session_read *read)
{
	const json_t *said =
		json_object_get(json_object_get(read->metadata, "hasp"), "firstPrompt");

	if (!read->first_prompt && json_is_string(said))
		read->first_prompt = context_first_prompt_of_text(json_span(said));
	for (size_t i = 0; !read->first_prompt && i < json_array_size(read->messages); i++) {
		json_auto_t *content = user_content(read->messages, i);

		if (content)
			read->first_prompt = context_first_prompt_in(content);
	}
}

bool session_id_is_one(const json_t *value)
{
	return json_is_string(value) && record_id_is_valid(json_string_value(value)) &&
	       strlen(json_string_value(value)) == json_string_length(value);
}

static void set_metadata(struct replay *replay, const json_t *values)
{
	const json_t *messages = json_object_get(values, "messages");
	json_t *metadata = replay->read->metadata;
	json_auto_t *id =
		replay->has_id ? json_incref(json_object_get(metadata, "sessionId")) : NULL;

	json_object_update(metadata, (json_t *)values);
	json_object_del(metadata, "messages");
	if (id) /* the first is the session's */
		json_object_set(metadata, "sessionId", id);
	replay->has_id = id || session_id_is_one(json_object_get(metadata, "sessionId"));
	if (!json_is_array(messages))
		return;
	find_first_prompt(replay->read);
	json_decref(replay->read->messages);
	replay->read->messages = json_copy((json_t *)messages);
	index_messages(replay);
}

static void drop_last_message(struct replay *replay)
{
	const size_t last = json_array_size(replay->read->messages) - 1;
	const char *id = json_string_value(json_object_get(
		json_array_get(replay->read->messages, last), "id"));
	const json_t *place = id ? json_object_get(replay->places, id) : NULL;

	if (place && (size_t)json_integer_value(place) == last)
		json_object_del(replay->places, id);
	json_array_remove(replay->read->messages, last);
}

/* The pieces are in a line before the message that reports them. */
static void replay_add_changes(struct replay *replay, json_t *pieces)
{
	json_t *changes = json_object_get(replay->read->sent, "told");

	for (size_t i = 0; changes && i < json_array_size(pieces); i++)
		json_array_append_new(replay->changes_at,
		                      json_size(json_array_size(replay->read->messages)));
	json_array_extend(changes, pieces);
}

/* Drops a message and all after it. False: it is not there; its line was damaged, and all stay. */
static bool rewind_to(struct replay *replay, const json_t *id)
{
	size_t i = 0;
	json_t *changes;

	if (!message_by_id(replay, id, &i))
		return false;
	if (i == 0) { /* the session starts over */
		free(replay->read->first_prompt);
		replay->read->first_prompt = NULL;
	}
	while (json_array_size(replay->read->messages) > i)
		drop_last_message(replay);
	/* Forgets the changes that were sent with messages from `count` on. */
	changes = json_object_get(replay->read->sent, "told");
	for (size_t last; (last = json_array_size(replay->changes_at)) > 0;) {
		const json_t *at = json_array_get(replay->changes_at, last - 1);

		if ((size_t)json_integer_value(at) < i)
			break;
		json_array_remove(replay->changes_at, last - 1);
		json_array_remove(changes, json_array_size(changes) - 1);
	}
	return true;
}

/* Lines that the program that wrote the file could not write. */
static void add_gap(struct session_read *read, const json_t *gap)
{
	const json_int_t lines = json_integer_value(json_object_get(gap, "lines"));
	const char *since = json_string_value(json_object_get(gap, "since"));

	read->gap_lines += lines > 0 && lines < INT32_MAX ? (size_t)lines : 1;
	if (!read->gap_since)
		read->gap_since = mem_strdup(since ? since : "an unknown time");
}

/* A call that ended, before its message was written again. */
static void add_call(struct replay *replay, const json_t *hasp)
{
	json_t *call = json_object_get(hasp, "call");
	const char *id = json_string_value(json_object_get(call, "id"));
	_cleanup_free_ char *key = NULL;
	json_t *message, *calls;
	size_t i;

	message = message_by_id(replay, json_object_get(hasp, "callOf"), &i);
	if (!message || !id)
		return;
	calls = json_object_get(message, "toolCalls");
	if (!json_is_array(calls)) {
		calls = json_array();
		json_object_set_new(message, "toolCalls", calls);
	}
	key = call_key(replay, json_string_value(json_object_get(message, "id")), id);
	if (json_object_get(replay->calls, key))
		return;
	json_object_set_new(replay->calls, key, json_true());
	json_array_append(calls, call);
}

static void set_sent(struct replay *replay, json_t *sent)
{
	struct session_read *read = replay->read;

	json_array_clear(replay->changes_at);
	json_decref(read->sent);
	read->sent = json_copy(sent);
	if (!json_is_array(json_object_get(sent, "told")))
		json_object_set_new(read->sent, "told", json_array());
}

static void drop_thoughts(struct session_read *read)
{
	size_t i;
	json_t *message, *without, *own;

	json_array_foreach(read->messages, i, message) {
		json_auto_t *content =
			json_pack("[O]", json_object_get(json_object_get(message, "hasp"),
		                                                        "content"));

		without = content ? content_drop_bound_thoughts(content) : NULL;
		if (!without)
			continue;
		message = json_copy(message);
		own = json_copy(json_object_get(message, "hasp"));
		json_object_set(own, "content", json_array_get(without, 0));
		json_object_set_new(message, "hasp", own);
		json_array_set_new(read->messages, i, message);
		json_decref(without);
	}
}

/* Messages take the place of all: those named by their id are in the file. */
static void keep_messages(struct replay *replay, const json_t *list)
{
	json_t *messages = json_array();
	size_t i, at;
	json_t *one;

	find_first_prompt(replay->read);
	json_array_foreach((json_t *)list, i, one) {
		json_t *message = json_is_object(one) ? one : message_by_id(replay, one, &at);

		if (message)
			json_array_append(messages, message);
		else
			replay->read->bad_lines++;
	}
	json_decref(replay->read->messages);
	replay->read->messages = messages;
	index_messages(replay);
	drop_thoughts(replay->read);
}

/* Lines that are hasp's alone. */
static bool replay_hasp_line(struct replay *replay, const json_t *hasp)
{
	json_t *sent = json_object_get(hasp, "sent"), *changes = json_object_get(hasp, "told");

	if (json_object_get(hasp, "callOf"))
		add_call(replay, hasp);
	else if (json_is_object(sent))
		set_sent(replay, sent);
	else if (json_is_array(changes))
		replay_add_changes(replay, changes);
	else if (json_object_get(hasp, "thinking"))
		drop_thoughts(replay->read);
	else if (json_is_array(json_object_get(hasp, "messages")))
		keep_messages(replay, json_object_get(hasp, "messages"));
	else
		return json_is_string(json_object_get(hasp, "resumed")) ||
		       json_is_object(json_object_get(hasp, "a2aTask"));
	return true;
}

static bool replay_value(struct replay *replay, json_t *value)
{
	const json_t *set = json_object_get(value, "$set");
	const json_t *rewind = json_object_get(value, "$rewindTo");

	if (!json_is_object(value))
		return false;
	if (json_is_object(set))
		set_metadata(replay, set);
	else if (rewind)
		return rewind_to(replay, rewind);
	else if (json_is_string(json_object_get(value, "type")))
		put_message(replay, value);
	else if (json_object_get(json_object_get(value, "hasp"), "gap"))
		add_gap(replay->read, json_object_get(json_object_get(value, "hasp"), "gap"));
	else if (json_is_string(json_object_get(value, "sessionId")))
		set_metadata(replay, value);
	else
		return replay_hasp_line(replay, json_object_get(value, "hasp"));
	return true;
}

bool session_parse_line(struct span line, json_t **ret)
{
	struct err ignored = ERR_INIT;

	return json_parse_foreign(line, JSON_READ_DEPTH_MAX, ret, NULL, &ignored);
}

static bool replay_one(struct replay *replay, struct span text)
{
	json_t *value = NULL;
	bool ok = session_parse_line(text, &value) && replay_value(replay, value);

	json_decref(value);
	return ok;
}

/* The length of the object that the text begins with, by its brackets; 0: it does not end in it. */
static size_t object_length(struct span text)
{
	size_t depth = 0;
	bool string = false;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];

		if (string && c == '\\')
			i++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == '{' || c == '['))
			depth++;
		else if (!string && (c == '}' || c == ']') && --depth == 0)
			return i + 1;
	}
	return 0;
}

/* A line that is no value: the objects that stand whole at its beginning, one after the other,
 * with a byte in place of the line's end between them at most. What comes after damage inside an
 * object is not looked at: it could be what a message quotes. False: that is not all of the
 * line. */
static bool replay_joined(struct replay *replay, struct span line)
{
	size_t len, found = 0;

	while (line.len && line.data[0] == '{' && (len = object_length(line)) > 0 &&
	       replay_one(replay, span_head(line, len))) {
		found++;
		line = span_skip(line, len);
		if (line.len > 1 && line.data[0] != '{')
			line = span_skip(line, 1);
	}
	return found && !line.len;
}

static struct span without_nuls(struct span line)
{
	while (line.len && !line.data[0])
		line = span_skip(line, 1);
	while (line.len && !line.data[line.len - 1])
		line.len--;
	return line;
}

static void replay_line(struct replay *replay, struct span whole)
{
	struct span line = without_nuls(whole);

	if (line.len < whole.len && !line.len)
		replay->read->bad_lines++;
	if (line.len && !replay_one(replay, line) && !replay_joined(replay, line))
		replay->read->bad_lines++;
}

/* `{"id":"ID",` that a message's line begins with; empty: it does not begin so. */
static struct span message_head(struct span line)
{
	static const struct span begin = { "{\"id\":\"", 7 };
	const char *end = span_starts(line, begin) ?
	                          memchr(line.data + begin.len, '"', line.len - begin.len) : NULL;

	return end && line.data[line.len - 1] == '}' ?
	               span_head(line, (size_t)(end + 1 - line.data)) : span_head(line, 0);
}

/* A message is written again with its calls when these have ended.  The earlier line need not be
 * read then, if the later one can be. */
static void replay_lines(struct replay *replay, struct span text)
{
	struct span line, waiting = { 0 };

	while (line_next(&text, &line)) {
		const struct span whole = line_body(line), head = message_head(whole);
		const bool again = waiting.len && head.len && span_starts(waiting, head);

		if (again && replay_one(replay, whole)) {
			waiting = span_head(whole, 0);
			continue;
		}
		if (waiting.len)
			replay_line(replay, waiting);
		waiting = head.len ? whole : span_head(whole, 0);
		if (!head.len)
			replay_line(replay, whole);
	}
	if (waiting.len)
		replay_line(replay, waiting);
}

/* The older form is one object over many lines. */
static bool replay_legacy(struct replay *replay, struct span text)
{
	json_t *value = NULL;
	bool is_legacy = text.len <= LIMIT_SESSION_LINE_BYTES &&
	                 session_parse_line(text, &value) &&
	                 json_is_array(json_object_get(value, "messages"));

	if (is_legacy)
		set_metadata(replay, value);
	json_decref(value);
	return is_legacy;
}

static void add_user_content(struct session_read *read, size_t i)
{
	json_t *content = user_content(read->messages, i);

	if (content)
		json_array_append_new(read->contents, content);
}

static json_t *model_content(const json_t *message)
{
	json_t *own = json_object_get(json_object_get(message, "hasp"), "content");
	json_t *content, *call;
	size_t i;

	if (json_is_object(own))
		return json_incref(own);
	content = content_new("model");
	add_parts(content, json_object_get(message, "content"));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		content_add(content,
		            part_call(json_string_value(json_object_get(call, "id")),
		                      json_string_value(json_object_get(call, "name")),
		                      json_object_get(call, "args")));
	return content;
}

static void add_call_response(json_t *content, const json_t *call)
{
	const json_t *result = json_object_get(call, "result");
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const char *id = json_string_value(json_object_get(call, "id"));
	const char *name = json_string_value(json_object_get(call, "name"));

	if (!id || !name)
		return;
	if (json_object_get(first, "functionResponse"))
		add_parts(content, result);
	else if (json_is_string(result))
		content_add(content, part_response(id, name, json_pack("{s:O}", "output", result)));
	else if (result && !json_is_null(result))
		content_add(content, part_response(id, name, json_incref((json_t *)result)));
}

static void add_model_content(struct session_read *read, const json_t *message)
{
	json_t *content = content_new("user");
	size_t i;
	json_t *call;

	json_array_append_new(read->contents, model_content(message));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		add_call_response(content, call);
	json_array_append_new(read->contents, content);
}

static void make_contents(struct session_read *read)
{
	json_t *raw;
	size_t i;
	json_t *message;

	read->contents = json_array();
	json_array_foreach(read->messages, i, message) {
		if (message_is_type(message, "user"))
			add_user_content(read, i);
		else if (message_is_type(message, "gemini"))
			add_model_content(read, message);
	}
	raw = read->contents;
	read->contents = content_repair(raw);
	json_decref(raw);
}

struct span session_prompt_shown(struct span prompt)
{
	static const struct span begin = SPAN(SESSION_SLASH_BEGIN), end = SPAN(SESSION_SLASH_END);
	const char *at = span_starts(prompt, begin) ?
	                         memmem(prompt.data, prompt.len, end.data, end.len) : NULL;

	return at ? span_of(prompt.data + begin.len,
	                    (size_t)(at - prompt.data) - begin.len) : prompt;
}

/* What the user typed: the text of the first part with words. */
static char *typed_text(const json_t *content)
{
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		struct span text = part_get_text(part);

		if (span_trim(text).len && !span_starts(text, SPAN("<hook_context>")) &&
		    !span_starts(text, SPAN("<session_context>")))
			return mem_dup(text.data, text.len);
	}
	return NULL;
}

/* NULL: the message is not one that began a prompt. A new reference. */
static json_t *prompt_of(const json_t *messages, size_t i)
{
	const json_t *message = json_array_get(messages, i);
	const json_t *own = json_object_get(message, "hasp");
	json_auto_t *content = user_content(messages, i);
	_cleanup_free_ char *text = NULL;

	if (!content || json_object_get(own, "said") ||
	    !json_is_string(json_object_get(message, "id")))
		return NULL;
	text = typed_text(content);
	if (!text || span_starts(span_str(text), SPAN(LEFT_OUT_NOTE)))
		return NULL;
	return json_pack("{s:O, s:o, s:O*}", "id", json_object_get(message, "id"), "text",
	                 json_text(session_prompt_shown(span_str(text))), "time",
	                 json_object_get(message, "timestamp"));
}

json_t *session_prompts(const struct session_read *read)
{
	json_t *prompts = json_array();

	for (size_t i = 0; i < json_array_size(read->messages); i++) {
		json_t *prompt = prompt_of(read->messages, i);

		if (prompt)
			json_array_append_new(prompts, prompt);
	}
	return prompts;
}

/* Whether it has any message of the user or the model. */
static bool has_message(const struct session_read *read)
{
	for (size_t i = 0; i < json_array_size(read->messages); i++) {
		const json_t *message = json_array_get(read->messages, i);

		if (message_is_type(message, "user") || message_is_type(message, "gemini"))
			return true;
	}
	return false;
}

bool session_read_named(struct span text, const char *named, struct session_read *ret,
                        struct err *err)
{
	static const struct span mark = { "\xEF\xBB\xBF", 3 };
	struct replay replay = { .read = ret, .places = json_object(), .versions = json_object(),
		                 .calls = json_object(), .changes_at = json_array() };

	*ret = (struct session_read){ .messages = json_array(), .metadata = json_object() };
	if (span_starts(text, mark))
		text = span_skip(text, mark.len);
	ret->legacy = replay_legacy(&replay, text);
	if (!ret->legacy)
		replay_lines(&replay, text);
	json_decref(replay.places);
	json_decref(replay.versions);
	json_decref(replay.calls);
	json_decref(replay.changes_at);
	if (!replay.has_id && named && has_message(ret)) {
		json_object_set_new(ret->metadata, "sessionId", json_text(span_str(named)));
		replay.has_id = true;
	}
	if (!replay.has_id && !json_is_string(json_object_get(ret->metadata, "sessionId"))) {
		session_read_release(ret);
		return err_set(err, ERR_INVALID_ARGUMENT, "This is not the file of a session.");
	}
	ret->id = mem_strdup(json_string_value(json_object_get(ret->metadata, "sessionId")));
	find_first_prompt(ret);
	make_contents(ret);
	return true;
}

bool session_read_text(struct span text, struct session_read *ret, struct err *err)
{
	return session_read_named(text, NULL, ret, err);
}

void session_read_defects(const struct session_read *read, struct buf *out)
{
	if (read->gap_since)
		buf_printf(out,
		           "This session is not recorded whole: %zu line%s of it, from %s on, "
		                "could not be written, and what was said and done there is missing "
		                "here.",
		           read->gap_lines, read->gap_lines == 1 ? "" : "s", read->gap_since);
	if (read->bad_lines)
		buf_printf(out,
		           "%s%zu line%s of this session's file cannot be read, and what %s said "
		                "is missing here.", out->len ? " " : "", read->bad_lines,
		           read->bad_lines == 1 ? "" : "s", read->bad_lines == 1 ? "it" : "they");
	if (read->long_lines)
		buf_printf(out,
		           "%s%zu line%s of this session's file had more than %zu MB, %s skipped.",
		           out->len ? " " : "", read->long_lines, read->long_lines == 1 ? "" : "s",
		           LIMIT_SESSION_LINE_BYTES >> 20,
		           read->long_lines == 1 ? "and was" : "and were");
}

void session_read_release(struct session_read *read)
{
	free(read->id);
	json_decref(read->messages);
	json_decref(read->contents);
	json_decref(read->metadata);
	json_decref(read->sent);
	free(read->first_prompt);
	free(read->gap_since);
	*read = (struct session_read){ 0 };
}
