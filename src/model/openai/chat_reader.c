/* SPDX-License-Identifier: Apache-2.0 */
/* Chat completions: the answer.
 *
 * Servers differ most here, so it is read leniently: ids, names and indexes of calls may be missing
 * or repeated, a call may come in pieces or whole, thoughts have three names, the last mark may be
 * left out when there was a finish reason. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/arguments.h"
#include "model/openai/openai.h"
#include "model/part.h"
#include "model/sink.h"

enum { CALLS_MAX = 1024, DETAILS_MAX = 4096 };
/* Arguments that are longer are not looked at piece by piece. */
enum { WHOLE_MAX = 16 << 10 };
/* Of a tool's name: others are none. */
enum { NAME_MAX_BYTES = 512 };

struct chat_call {
	json_int_t index; /* as the server says; -1: it said none */
	char *id, *name;  /* owned; NULL until they come; the first piece of the name */
	struct buf names; /* all pieces of it */
	struct buf args;
};

struct chat_reader {
	struct reply_sink *sink;
	struct chat_call *calls;
	size_t call_count, call_cap;
	json_t *opaque;        /* of thoughts: which member they came in */
	json_t *details;       /* reasoning_details so far; NULL: none */
	struct buf joined;     /* what has come for a text of the last of them since */
	const char *joined_member;
	struct model_usage usage;
	enum model_finish finish;
	char *finish_word;     /* NULL until there is one */
	bool done, refused;
	bool late;             /* pieces of calls came after the finish reason */
};

static void *chat_reader_new(struct reply_sink *sink)
{
	struct chat_reader *reader = mem_alloc(1, sizeof(*reader));

	reader->sink = sink;
	reader->joined = (struct buf)BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	return reader;
}

static void chat_reader_free(void *data)
{
	struct chat_reader *reader = data;

	for (size_t i = 0; i < reader->call_count; i++) {
		free(reader->calls[i].id);
		free(reader->calls[i].name);
		buf_release(&reader->calls[i].names);
		buf_release(&reader->calls[i].args);
	}
	free(reader->calls);
	json_decref(reader->opaque);
	json_decref(reader->details);
	buf_release(&reader->joined);
	free(reader->finish_word);
	free(reader);
}

/* ---- thoughts -------------------------------------------------------------------------------- */

static void read_thought(struct chat_reader *reader, const char *member, struct span piece)
{
	if (!reader->opaque)
		reader->opaque = json_pack("{s:s, s:s}", "provider", format_openai_chat.name,
		                           "member", member);
	sink_thought(reader->sink, piece, reader->opaque);
}

static json_t *last_detail(const struct chat_reader *reader)
{
	return json_array_get(reader->details, json_array_size(reader->details) - 1);
}

/* Puts the pieces of a text to what the last detail has of it. */
static void flush_detail(struct chat_reader *reader)
{
	_cleanup_buf_ struct buf whole = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	json_t *last = last_detail(reader);

	if (last && reader->joined_member) {
		_cleanup_buf_ struct buf joined = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);

		buf_span(&joined, json_span(json_object_get(last, reader->joined_member)));
		buf_span(&joined, buf_view(&reader->joined));
		json_whole_text(&whole, buf_view(&joined));
		json_object_set_new(last, reader->joined_member, json_text(buf_view(&whole)));
	}
	reader->joined_member = NULL;
	buf_clear(&reader->joined);
}

static const char *text_member(const char *name)
{
	static const char *const texts[] = { "text", "summary", "data" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (strcmp(name, texts[i]) == 0)
			return texts[i];
	return NULL;
}

static void join_detail(struct chat_reader *reader, const json_t *piece)
{
	json_t *last = last_detail(reader), *value;
	const char *key;

	json_object_foreach((json_t *)piece, key, value) {
		const char *member = json_is_string(value) ? text_member(key) : NULL;

		if (member && member != reader->joined_member) {
			flush_detail(reader);
			reader->joined_member = member;
		}
		if (member)
			buf_span(&reader->joined, json_span(value));
		else if (!json_is_null(value))
			json_object_set(last, key, value);
	}
}

/* Pieces of one detail have its type and index; their texts belong together. */
static void read_detail(struct chat_reader *reader, const json_t *piece)
{
	const json_t *last = last_detail(reader);

	if (!json_is_object(piece))
		return;
	if (last && json_equal(json_object_get(last, "type"), json_object_get(piece, "type")) &&
	    json_equal(json_object_get(last, "index"), json_object_get(piece, "index"))) {
		join_detail(reader, piece);
		return;
	}
	flush_detail(reader);
	if (json_array_size(reader->details) < DETAILS_MAX)
		json_array_append_new(reader->details, json_deep_copy(piece));
}

static void read_reasoning_details(struct chat_reader *reader, const json_t *pieces, bool reported)
{
	const json_t *piece;
	size_t i;

	if (json_array_size(pieces) && !reader->details)
		reader->details = json_array();
	json_array_foreach(pieces, i, piece) {
		const json_t *text = json_object_get(piece, "text");

		if (!text)
			text = json_object_get(piece, "summary");
		if (!reported && json_is_string(text))
			read_thought(reader, "reasoning", json_span(text));
		read_detail(reader, piece);
	}
}

/* ---- calls ----------------------------------------------------------------------------------- */

static struct chat_call *new_call(struct chat_reader *reader, json_int_t index)
{
	struct chat_call *call;

	if (reader->call_count == CALLS_MAX)
		return &reader->calls[CALLS_MAX - 1];
	if (reader->call_count == reader->call_cap)
		reader->calls = mem_grow(reader->calls, &reader->call_cap, reader->call_count + 1,
		                         sizeof(*reader->calls));
	call = &reader->calls[reader->call_count++];
	*call = (struct chat_call){ .index = index, .names = BUF_INIT(NAME_MAX_BYTES),
	                            .args = BUF_INIT(LIMIT_MODEL_REPLY_BYTES) };
	return call;
}

/* Whether a piece with this id and name begins another call than the one at its index. */
static bool starts_another(struct reply_sink *sink, const struct chat_call *call, struct span id,
                           struct span name, const json_t *args)
{
	if (id.len && call->id)
		return !span_eq(id, span_str(call->id));
	return !id.len && name.len && call->name && json_span(args).len && call->args.len &&
	       call->args.len <= WHOLE_MAX && call->args.data[call->args.len - 1] == '}' &&
	       arguments_are_whole(sink, buf_view(&call->args));
}

/* The call to which a piece belongs: the last one with its index. */
static struct chat_call *call_for(struct chat_reader *reader, const json_t *piece)
{
	const json_t *at = json_object_get(piece, "index");
	const json_t *function = json_object_get(piece, "function");
	json_int_t index = json_is_number(at) || json_is_string(at) ?
		                   (json_int_t)wire_count(piece, "index") : -1;
	struct chat_call *call = NULL;

	for (size_t i = reader->call_count; i-- > 0 && !call;)
		if (index == -1 || reader->calls[i].index == index)
			call = &reader->calls[i];
	if (!call || starts_another(reader->sink, call, json_span(json_object_get(piece, "id")),
	                            json_span(json_object_get(function, "name")),
	                            json_object_get(function, "arguments")))
		call = new_call(reader, index);
	return call;
}

static void keep_word(char **slot, struct span word)
{
	if (!*slot && word.len)
		*slot = mem_dup(word.data, word.len < 512 ? word.len : 512);
}

static void read_calls(struct chat_reader *reader, const json_t *pieces)
{
	const json_t *piece;
	size_t i;

	json_array_foreach(pieces, i, piece) {
		const json_t *function = json_object_get(piece, "function");
		const json_t *args = json_object_get(function, "arguments");
		struct chat_call *call;

		if (!json_is_object(function))
			continue;
		if (reader->finish_word) {
			reader->late = true;
			continue;
		}
		call = call_for(reader, piece);
		keep_word(&call->id, json_span(json_object_get(piece, "id")));
		keep_word(&call->name, json_span(json_object_get(function, "name")));
		buf_span(&call->names, json_span(json_object_get(function, "name")));
		if (json_is_string(args))
			buf_span(&call->args, json_span(args));
		else if (json_is_object(args))
			json_print(&call->args, args, 0);
	}
}

/* Most servers send the name once, some with every piece, some in several pieces: the declared
 * tools decide. */
static const char *chat_call_name(const struct chat_reader *reader, const struct chat_call *call)
{
	const bool joined = call->name && call->names.len && !call->names.overflowed &&
	                    !wire_declares(reader->sink->tools, call->name) &&
	                    wire_declares(reader->sink->tools, call->names.data);

	return joined ? call->names.data : call->name;
}

static bool report_call(struct chat_reader *reader, const struct chat_call *call, struct err *err)
{
	const struct span text = span_trim(buf_view(&call->args));
	const char *name = chat_call_name(reader, call);
	const bool whole = reader->finish == MODEL_FINISH_STOP ||
	                   reader->finish == MODEL_FINISH_TOOLS;

	if (!name && whole)
		return err_set(err, ERR_MODEL_ERROR, "The model's call has no name.");
	/* Cut off: what is missing cannot be guessed. */
	if (!name || (!whole && text.len && !arguments_are_whole(reader->sink, text)))
		sink_call_left_out(reader->sink, name);
	else
		sink_call(reader->sink,
		          arguments_part(reader->sink, call->id, name, text, whole));
	return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Text, or (Mistral) a list of texts and thoughts. */
static void read_said(struct chat_reader *reader, const json_t *content)
{
	const json_t *part, *thought;
	size_t i, j;

	if (json_is_string(content) && json_string_length(content))
		sink_text(reader->sink, json_span(content), NULL);
	json_array_foreach(content, i, part) {
		struct span text = json_span(json_object_get(part, "text"));

		if (text.len)
			sink_text(reader->sink, text, NULL);
		json_array_foreach(json_object_get(part, "thinking"), j, thought)
			read_thought(reader, "", json_span(json_object_get(thought, "text")));
	}
}

static const struct {
	const char *word;
	enum model_finish finish;
} finishes[] = {
	{ "stop", MODEL_FINISH_STOP },
	{ "eos", MODEL_FINISH_STOP },
	{ "eos_token", MODEL_FINISH_STOP },
	{ "end_turn", MODEL_FINISH_STOP },
	{ "stop_sequence", MODEL_FINISH_STOP },
	{ "complete", MODEL_FINISH_STOP },
	{ "tool_calls", MODEL_FINISH_TOOLS },
	{ "tool_call", MODEL_FINISH_TOOLS },
	{ "tool-calls", MODEL_FINISH_TOOLS },
	{ "function_calls", MODEL_FINISH_TOOLS },
	{ "tool_use", MODEL_FINISH_TOOLS },
	{ "function_call", MODEL_FINISH_TOOLS },
	{ "length", MODEL_FINISH_LENGTH },
	{ "max_tokens", MODEL_FINISH_LENGTH },
	{ "model_length", MODEL_FINISH_LENGTH },
	{ "content_filter", MODEL_FINISH_SAFETY },
	{ "sensitive", MODEL_FINISH_SAFETY },
};

/* Words that say that the server, and not the model, ended the reply: DeepSeek's, Zhipu's and those
 * of proxies. */
static bool is_broken_word(const char *word)
{
	static const char *const list[] = { "error", "network_error", "abort", "aborted",
	                                    "cancelled", "canceled", "timeout",
	                                    "insufficient_system_resource" };

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		if (strcasecmp(word, list[i]) == 0)
			return true;
	return false;
}

static enum model_finish finish_of(struct span word)
{
	/* Gemini behind this format: "content_filter: SAFETY". */
	if (span_starts(word, SPAN("content_filter")))
		return MODEL_FINISH_SAFETY;
	for (size_t i = 0; i < ARRAY_LEN(finishes); i++)
		if (word.len == strlen(finishes[i].word) &&
		    strncasecmp(word.data, finishes[i].word, word.len) == 0)
			return finishes[i].finish;
	return MODEL_FINISH_OTHER;
}

/* Said twice, the worse counts. */
static void read_finish(struct chat_reader *reader, const json_t *reason)
{
	struct span word = json_is_string(reason) || !reason || json_is_null(reason) ?
	                           json_span(reason) : SPAN("no word");
	enum model_finish finish = finish_of(word);

	if (!word.len || (reader->finish_word && !sink_finish_counts(reader->finish, finish)))
		return;
	free(reader->finish_word);
	reader->finish_word = NULL;
	keep_word(&reader->finish_word, word);
	reader->finish = finish;
}

static void read_choice(struct chat_reader *reader, const json_t *choice)
{
	const json_t *delta = json_object_get(choice, "delta");
	struct span refusal;

	if (!json_is_object(delta))
		delta = json_object_get(choice, "message");
	static const char *const members[] = { "reasoning_content", "reasoning" };
	bool reported = false;

	for (size_t i = 0; i < ARRAY_LEN(members) && !reported; i++) {
		struct span piece = json_span(json_object_get(delta, members[i]));

		if (!piece.len)
			continue;
		read_thought(reader, members[i], piece);
		reported = true;
	}
	read_reasoning_details(reader, json_object_get(delta, "reasoning_details"), reported);
	read_said(reader, json_object_get(delta, "content"));
	refusal = json_span(json_object_get(delta, "refusal"));
	if (refusal.len) {
		reader->refused = true;
		sink_text(reader->sink, refusal, NULL);
	}
	read_calls(reader, json_object_get(delta, "tool_calls"));
	read_finish(reader, json_object_get(choice, "finish_reason"));
}

static void read_chunk_usage(struct chat_reader *reader, const json_t *value, const json_t *choice)
{
	const json_t *usage = json_object_get(value, "usage");

	if (!json_is_object(usage))
		usage = json_object_get(choice, "usage"); /* Moonshot */
	if (!json_is_object(usage))
		usage = json_object_get(json_object_get(value, "x_groq"), "usage");
	if (!json_is_object(usage))
		return;
	reader->usage = openai_usage(usage);
	sink_usage(reader->sink, &reader->usage);
}

/* An error in the place of a piece, or in it. */
static bool read_error(const struct chat_reader *reader, const json_t *value, const json_t *choice,
                       enum wire_trouble *trouble, struct err *err)
{
	const json_t *error = json_object_get(value, "error");

	if (!error || json_is_null(error))
		error = json_object_get(choice, "error");
	if ((!error || json_is_null(error)) &&
	    span_eq(json_span(json_object_get(value, "object")), SPAN("error")))
		error = value;
	if (!error || json_is_null(error))
		return true;
	*trouble = openai_error(0, error, &reader->sink->delay_s, err);
	return false;
}

static bool read_chunk(struct chat_reader *reader, const json_t *value, enum wire_trouble *trouble,
                       struct err *err)
{
	const json_t *choice = json_array_get(json_object_get(value, "choices"), 0);

	if (!read_error(reader, value, choice, trouble, err))
		return false;
	if (json_is_object(choice))
		read_choice(reader, choice);
	read_chunk_usage(reader, value, choice);
	return true;
}

static bool chat_reader_event(void *data, const struct sse_event *event, enum wire_trouble *trouble,
                       struct err *err)
{
	struct chat_reader *reader = data;
	json_t *value;
	bool ok;

	if (span_eq(span_trim(event->data), SPAN("[DONE]"))) {
		reader->done = true;
		return true;
	}
	if (reader->done)
		return true;
	if (!wire_event(reader->sink, event, &value, trouble, err))
		return false;
	ok = !value || read_chunk(reader, value, trouble, err);
	json_decref(value);
	return ok;
}

static bool chat_reader_end(void *data, enum wire_trouble *trouble, struct err *err)
{
	struct chat_reader *reader = data;

	*trouble = WIRE_BROKEN;
	if (!reader->finish_word && !reader->done)
		return err_set(err, ERR_MODEL_ERROR, "The model's answer broke off.");
	if (reader->finish_word && is_broken_word(reader->finish_word))
		return err_set(err, ERR_MODEL_ERROR,
		               "The model's server ended the answer with an error (%.100s).",
		               reader->finish_word);
	/* A stream that says [DONE] and no reason is taken for whole, where its calls are. */
	for (size_t i = 0; !reader->finish_word && i < reader->call_count; i++)
		if (!arguments_are_whole(reader->sink, buf_view(&reader->calls[i].args)))
			return err_set(err, ERR_MODEL_ERROR, "The model's answer broke off in a "
			                                     "call.");
	if (!reader->finish_word)
		reader->finish = MODEL_FINISH_STOP;
	if (reader->refused)
		reader->finish = MODEL_FINISH_SAFETY;
	for (size_t i = 0; i < reader->call_count; i++)
		if (!report_call(reader, &reader->calls[i], err))
			return false;
	flush_detail(reader);
	if (reader->details)
		sink_part(reader->sink,
		          json_pack("{s:s, s:b, s:{s:s, s:O}}", "text", "", "thought", 1, "opaque",
		                    "provider", format_openai_chat.name, "reasoning_details",
		                    reader->details));
	if (reader->late)
		sink_call_late(reader->sink, NULL);
	sink_finish(reader->sink, reader->finish,
	            reader->finish_word ? reader->finish_word :
	            reader->refused ? "refusal" : "stop");
	return true;
}

const struct provider_reader openai_chat_reader = {
	.make = chat_reader_new,
	.event = chat_reader_event,
	.end = chat_reader_end,
	.free = chat_reader_free,
};
