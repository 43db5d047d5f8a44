/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a session's file: its lines replayed, then the conversation that they make. */
#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/first_prompt.h"
#include "agent/sessions.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

/* A month of work is a few megabytes; this is held in memory. */
#define SESSION_BYTES_MAX ((size_t)512 << 20)
/* The first line has a session's id and its folders. */
enum { FIRST_LINE_BYTES = 16384 };

struct replay {
	struct session_read *read;
	json_t *places; /* id: index in messages */
};

static void index_messages(struct replay *replay)
{
	size_t i;
	json_t *message;

	json_object_clear(replay->places);
	json_array_foreach(replay->read->messages, i, message) {
		const char *id = json_string_value(json_object_get(message, "id"));

		if (id)
			json_object_set_new(replay->places, id, json_integer((json_int_t)i));
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

	if (message_by_id(replay, json_object_get(message, "id"), &i)) {
		json_array_set(replay->read->messages, i, message);
		return;
	}
	json_array_append(replay->read->messages, message);
	if (json_is_string(json_object_get(message, "id")))
		json_object_set_new(replay->places,
		                    json_string_value(json_object_get(message, "id")),
		                    json_integer((json_int_t)json_array_size(replay->read->messages) -
		                                 1));
}

static bool is_type(const json_t *message, const char *type)
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

/* "/help" and the like, typed in a terminal and never sent: a word after the slash, and no answer. */
static bool is_slash_command(const json_t *messages, size_t i)
{
	const json_t *value = json_object_get(json_array_get(messages, i), "content");
	const char *text = json_string_value(value);

	if (json_is_array(value) && json_array_size(value) == 1)
		text = json_string_value(json_object_get(json_array_get(value, 0), "text"));
	if (!text || (*text != '/' && *text != '?') || is_type(json_array_get(messages, i + 1), "gemini"))
		return false;
	for (text++; isalnum((unsigned char)*text) || *text == '-' || *text == ':'; text++)
		;
	return *text == '\0' || *text == ' ';
}

/* What Gemini CLI tells the model of the surroundings when it starts; it stands before the first question,
 * and each program tells its own. */
static bool is_surroundings(const json_t *messages, size_t i)
{
	const json_t *value = json_object_get(json_array_get(messages, i), "content");

	if (json_is_array(value))
		value = json_object_get(json_array_get(value, 0), "text");
	return span_starts(span_trim(json_span(value)), SPAN("<session_context>")) &&
	       !is_type(json_array_get(messages, i + 1), "gemini");
}

/* NULL: it is none of the user's. A new reference. */
static json_t *user_content(const json_t *messages, size_t i)
{
	json_t *content;

	if (!is_type(json_array_get(messages, i), "user") || is_slash_command(messages, i) ||
	    is_surroundings(messages, i))
		return NULL;
	content = content_new("user");
	add_parts(content, json_object_get(json_array_get(messages, i), "content"));
	return content;
}

/* Known once it is found: what replaces the messages may have another beginning. */
static void find_first_prompt(struct session_read *read)
{
	const json_t *said = json_object_get(json_object_get(read->metadata, "hasp"), "firstPrompt");

	if (!read->first_prompt && json_is_string(said))
		read->first_prompt = first_prompt_of_text(json_span(said));
	for (size_t i = 0; !read->first_prompt && i < json_array_size(read->messages); i++) {
		json_auto_t *content = user_content(read->messages, i);

		if (content)
			read->first_prompt = first_prompt_in(content);
	}
}

static void set_metadata(struct replay *replay, const json_t *values)
{
	const json_t *messages = json_object_get(values, "messages");

	json_object_update(replay->read->metadata, (json_t *)values);
	json_object_del(replay->read->metadata, "messages");
	if (!json_is_array(messages))
		return;
	find_first_prompt(replay->read);
	json_decref(replay->read->messages);
	replay->read->messages = json_copy((json_t *)messages);
	index_messages(replay);
}

/* Drops a message and all after it; all, if it is not known. */
static void rewind_to(struct replay *replay, const json_t *id)
{
	size_t i = 0;

	if (!message_by_id(replay, id, &i))
		i = 0;
	if (i == 0) { /* the session begins anew */
		free(replay->read->first_prompt);
		replay->read->first_prompt = NULL;
	}
	while (json_array_size(replay->read->messages) > i)
		json_array_remove(replay->read->messages,
		                  json_array_size(replay->read->messages) - 1);
	index_messages(replay);
}

/* A call that ended, before its message was written again. */
static void add_call(struct replay *replay, const json_t *hasp)
{
	json_t *call = json_object_get(hasp, "call");
	const char *id = json_string_value(json_object_get(call, "id"));
	json_t *message, *calls, *known;
	size_t i;

	message = message_by_id(replay, json_object_get(hasp, "callOf"), &i);
	if (!message || !id)
		return;
	calls = json_object_get(message, "toolCalls");
	if (!json_is_array(calls)) {
		calls = json_array();
		json_object_set_new(message, "toolCalls", calls);
	}
	json_array_foreach(calls, i, known) {
		const char *other = json_string_value(json_object_get(known, "id"));

		if (other && strcmp(other, id) == 0)
			return;
	}
	json_array_append(calls, call);
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
		rewind_to(replay, rewind);
	else if (json_is_string(json_object_get(value, "type")))
		put_message(replay, value);
	else if (json_object_get(json_object_get(value, "hasp"), "callOf"))
		add_call(replay, json_object_get(value, "hasp"));
	else if (json_is_string(json_object_get(value, "sessionId")))
		set_metadata(replay, value);
	else
		return false;
	return true;
}

static void replay_lines(struct replay *replay, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		struct err ignored = ERR_INIT;
		json_t *value = NULL;

		line = line_body(line);
		if (!line.len)
			continue;
		if (!json_parse(line, &value, &ignored) || !replay_value(replay, value))
			replay->read->bad_lines++;
		json_decref(value);
	}
}

/* The older form is one object over many lines. */
static bool replay_legacy(struct replay *replay, struct span text)
{
	struct err ignored = ERR_INIT;
	json_t *value = NULL;
	bool is_legacy = json_parse(text, &value, &ignored) &&
	                 json_is_array(json_object_get(value, "messages"));

	if (is_legacy)
		set_metadata(replay, value);
	json_decref(value);
	return is_legacy;
}

static void add_user(struct session_read *read, size_t i)
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

static void add_response(json_t *content, const json_t *call)
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

static void add_model(struct session_read *read, const json_t *message)
{
	json_t *content = content_new("user");
	size_t i;
	json_t *call;

	json_array_append_new(read->contents, model_content(message));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		add_response(content, call);
	json_array_append_new(read->contents, content);
}

static void make_contents(struct session_read *read)
{
	json_t *raw;
	size_t i;
	json_t *message;

	read->contents = json_array();
	json_array_foreach(read->messages, i, message) {
		if (is_type(message, "user"))
			add_user(read, i);
		else if (is_type(message, "gemini"))
			add_model(read, message);
	}
	raw = read->contents;
	read->contents = content_repair(raw);
	json_decref(raw);
}

bool session_read_text(struct span text, struct session_read *ret, struct err *err)
{
	struct replay replay = { .read = ret, .places = json_object() };
	const char *id;

	*ret = (struct session_read){ .messages = json_array(), .metadata = json_object() };
	ret->legacy = replay_legacy(&replay, text);
	if (!ret->legacy)
		replay_lines(&replay, text);
	json_decref(replay.places);
	id = json_string_value(json_object_get(ret->metadata, "sessionId"));
	if (!id) {
		session_read_release(ret);
		return err_set(err, ERR_INVALID_ARGUMENT, "This is not the file of a session.");
	}
	ret->id = mem_strdup(id);
	find_first_prompt(ret);
	make_contents(ret);
	return true;
}

bool session_read(const char *path, struct session_read *ret, struct err *err)
{
	_cleanup_file_text_ struct file_text text = { 0 };

	*ret = (struct session_read){ 0 };
	if (!file_read(path, SESSION_BYTES_MAX, &text, err))
		return false;
	if (!text.data)
		return err_set(err, ERR_FILE_NOT_FOUND, "There is no session's file %s.", path);
	return session_read_text(file_text_span(&text), ret, err);
}

/* Of the text's first line, if that is whole. */
static char *id_of_line(struct span text)
{
	const char *end = memchr(text.data, '\n', text.len);
	struct err ignored = ERR_INIT;
	json_auto_t *value = NULL;
	const char *id;

	if (!end || !json_parse(span_of(text.data, (size_t)(end - text.data)), &value, &ignored))
		return NULL;
	id = json_string_value(json_object_get(value, "sessionId"));
	return id ? mem_strdup(id) : NULL;
}

char *session_read_id(const char *path)
{
	char head[FIRST_LINE_BYTES];
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);
	char *id = got > 0 ? id_of_line(span_of(head, (size_t)got)) : NULL;
	struct err ignored = ERR_INIT;
	struct session_read read;

	if (id || !session_read(path, &read, &ignored))
		return id;
	id = mem_steal(&read.id);
	session_read_release(&read);
	return id;
}

void session_read_release(struct session_read *read)
{
	free(read->id);
	json_decref(read->messages);
	json_decref(read->contents);
	json_decref(read->metadata);
	free(read->first_prompt);
	*read = (struct session_read){ 0 };
}
