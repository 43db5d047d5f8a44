/* SPDX-License-Identifier: Apache-2.0 */
/* Messages: the answer, and the errors of those who speak it. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/anthropic/anthropic.h"
#include "model/arguments.h"
#include "model/fault.h"
#include "model/part.h"
#include "model/sink.h"
#include "model/wire.h"

/* ---- errors ------------------------------------------------------------------ */

/* {"type": "error", "error": {...}}, of the Messages API and of those who speak it. Source:
 * platform.claude.com/docs, "Errors". */
enum wire_trouble anthropic_error(int status, const json_t *value, double *delay_s,
                                  struct err *err)
{
	const json_t *error = json_object_get(value, "error");
	const json_t *inner = error ? error : value;
	struct fault fault = {
		.format = FAULT_ANTHROPIC,
		.words = { json_span(json_object_get(json_object_get(inner, "details"),
		                                     "error_code")),
		           json_span(json_object_get(inner, "type")) },
		.message = json_is_string(inner) ? json_span(inner) :
		                                   json_span(json_object_get(inner, "message")),
	};

	fault.status = fault_find_status(FAULT_ANTHROPIC, status, NULL, fault.words[1]);
	*delay_s = fault_delay(fault.message);
	return fault_set(&fault, err);
}

/* ---- events ------------------------------------------------------------------ */

/* Messages: the answer.  Content blocks come one after the other, each with a start, pieces and a
 * stop; what a block is says its start. Source: platform.claude.com/docs, "Streaming Messages". */

enum block_kind { BLOCK_NONE, BLOCK_TEXT, BLOCK_THINKING, BLOCK_CALL, BLOCK_OTHER };

struct claude_reader {
	struct reply_sink *sink;
	char *model;            /* that answers; owned, or NULL */
	enum block_kind kind;   /* of the block that is open */
	json_t *block;          /* as its start said; owned, or NULL */
	struct buf json;        /* the pieces of its input */
	struct buf signature;
	size_t broken_calls;    /* whose block has no end, or no name */
	char *broken_name;      /* of the last */
	bool late;              /* a call began after the reason for the end; so */
	char *late_name;        /* owned, or NULL */
	struct grounding grounding;
	uint64_t input, cached, cache_written, output, thoughts;
	enum model_finish finish;
	char *finish_word;
	bool ended;
};

static void *anthropic_reader_new(struct reply_sink *sink)
{
	struct claude_reader *reader = mem_alloc(1, sizeof(*reader));

	reader->sink = sink;
	reader->json = (struct buf)BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	reader->signature = (struct buf)BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	return reader;
}

static void anthropic_reader_free(void *data)
{
	struct claude_reader *reader = data;

	free(reader->model);
	free(reader->finish_word);
	free(reader->broken_name);
	free(reader->late_name);
	json_decref(reader->block);
	buf_release(&reader->json);
	buf_release(&reader->signature);
	model_grounding_release(&reader->grounding);
	free(reader);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static json_t *block_opaque(const struct claude_reader *reader, const char *member, json_t *value)
{
	json_t *opaque = json_pack("{s:s, s:o}", "provider", format_anthropic.name, member, value);

	if (reader->model)
		json_object_set_new(opaque, "model", json_cstr(reader->model));
	return opaque;
}

static enum block_kind block_kind_of(struct span type)
{
	if (span_eq(type, SPAN("text")))
		return BLOCK_TEXT;
	if (span_eq(type, SPAN("thinking")))
		return BLOCK_THINKING;
	return span_eq(type, SPAN("tool_use")) ? BLOCK_CALL : BLOCK_OTHER;
}

/* Signatures and inputs come in pieces; some servers send them with the start. */
static void block_start(struct claude_reader *reader, const json_t *event)
{
	json_t *block = json_object_get(event, "content_block");

	json_decref(reader->block);
	reader->block = json_is_object(block) ? json_copy(block) : json_object();
	reader->kind = block_kind_of(json_span(json_object_get(block, "type")));
	buf_clear(&reader->json);
	buf_clear(&reader->signature);
	sink_break(reader->sink);
	if (reader->kind == BLOCK_TEXT)
		sink_text(reader->sink, json_span(json_object_get(block, "text")), NULL);
	if (reader->kind == BLOCK_THINKING) {
		sink_thought(reader->sink, json_span(json_object_get(block, "thinking")), NULL);
		buf_span(&reader->signature, json_span(json_object_get(block, "signature")));
	}
}

static void read_citation(struct claude_reader *reader, const json_t *citation)
{
	model_grounding_add(&reader->grounding, json_span(json_object_get(citation, "url")),
	                    json_span(json_object_get(citation, "title")));
}

static void block_delta(struct claude_reader *reader, const json_t *event)
{
	const json_t *delta = json_object_get(event, "delta");
	struct span type = json_span(json_object_get(delta, "type"));

	if (span_eq(type, SPAN("text_delta")))
		sink_text(reader->sink, json_span(json_object_get(delta, "text")), NULL);
	else if (span_eq(type, SPAN("thinking_delta")))
		sink_thought(reader->sink, json_span(json_object_get(delta, "thinking")), NULL);
	else if (span_eq(type, SPAN("signature_delta")))
		buf_span(&reader->signature, json_span(json_object_get(delta, "signature")));
	else if (span_eq(type, SPAN("input_json_delta")))
		buf_span(&reader->json, json_span(json_object_get(delta, "partial_json")));
	else if (span_eq(type, SPAN("citations_delta")))
		read_citation(reader, json_object_get(delta, "citation"));
}

/* The part of the open block's call: its input is in its pieces, or in its start. */
static json_t *block_call(const struct claude_reader *reader, const char *name)
{
	const char *id = json_string_value(json_object_get(reader->block, "id"));

	if (!span_trim(buf_view(&reader->json)).len)
		return arguments_part_of(reader->sink, id, name,
		                         json_object_get(reader->block, "input"));
	return arguments_part(reader->sink, id, name, buf_view(&reader->json), true);
}

static void note_broken(struct claude_reader *reader)
{
	reader->broken_calls++;
	free(reader->broken_name);
	reader->broken_name = mem_strdup(json_string_value(json_object_get(reader->block, "name")));
}

static void call_stop(struct claude_reader *reader)
{
	const char *name = json_string_value(json_object_get(reader->block, "name"));

	if (reader->finish_word) {
		reader->late = true;
		free(reader->late_name);
		reader->late_name = mem_strdup(name);
	} else if (name && *name) {
		sink_call(reader->sink, block_call(reader, name));
	} else {
		note_broken(reader);
	}
}

/* Blocks of the provider's own tools and redacted thinking: stored, and sent back unchanged. */
static void other_stop(struct claude_reader *reader)
{
	json_auto_t *call = reader->json.len ? block_call(reader, "") : NULL;
	const json_t *content = json_object_get(reader->block, "content");
	const json_t *item;
	size_t i;

	if (call && !json_object_get(call, PART_UNREADABLE))
		json_object_set(reader->block, "input",
		                json_object_get(part_get_call(call), "args"));
	model_grounding_query(&reader->grounding,
	                      json_span(json_object_get(json_object_get(reader->block, "input"),
	                                                "query")));
	json_array_foreach(content, i, item)
		read_citation(reader, item);
	sink_part(reader->sink,
	          json_pack("{s:s, s:b, s:o}", "text", "", "thought", 1, "opaque",
	                    block_opaque(reader, "block", json_incref(reader->block))));
}

static void block_stop(struct claude_reader *reader)
{
	if (reader->kind == BLOCK_THINKING)
		sink_sign(reader->sink, "opaque",
		          block_opaque(reader, "signature",
		                       json_text(buf_view(&reader->signature))));
	else if (reader->kind == BLOCK_CALL)
		call_stop(reader);
	else if (reader->kind == BLOCK_OTHER)
		other_stop(reader);
	reader->kind = BLOCK_NONE;
	sink_break(reader->sink);
}

/* ---- the message ----------------------------------------------------------------------------- */

/* Counts are cumulative; null and missing ones say nothing. */
static void take_count(const json_t *usage, const char *member, uint64_t *count)
{
	if (wire_counts(usage, member))
		*count = wire_count(usage, member);
}

static void message_usage(struct claude_reader *reader, const json_t *usage)
{
	const json_t *details = json_object_get(usage, "output_tokens_details");
	struct model_usage ret;

	if (!json_is_object(usage))
		return;
	take_count(usage, "input_tokens", &reader->input);
	take_count(usage, "cache_read_input_tokens", &reader->cached);
	take_count(usage, "cache_creation_input_tokens", &reader->cache_written);
	take_count(usage, "output_tokens", &reader->output);
	take_count(details, "thinking_tokens", &reader->thoughts);
	ret = (struct model_usage){
		.input = reader->input + reader->cached + reader->cache_written,
		.cached = reader->cached,
		.cache_written = reader->cache_written,
		.thoughts = reader->thoughts < reader->output ? reader->thoughts : reader->output,
	};
	ret.output = reader->output - ret.thoughts;
	ret.total = ret.input + reader->output;
	sink_usage(reader->sink, &ret);
}

static void message_start(struct claude_reader *reader, const json_t *event)
{
	const json_t *message = json_object_get(event, "message");
	struct span model = json_span(json_object_get(message, "model"));

	free(reader->model);
	reader->model = model.len ? mem_dup(model.data, model.len < 200 ? model.len : 200) : NULL;
	message_usage(reader, json_object_get(message, "usage"));
}

static const struct {
	const char *word;
	enum model_finish finish;
} finishes[] = {
	{ "end_turn", MODEL_FINISH_STOP },
	{ "stop_sequence", MODEL_FINISH_STOP },
	{ "tool_use", MODEL_FINISH_TOOLS },
	{ "max_tokens", MODEL_FINISH_LENGTH },
	{ "model_context_window_exceeded", MODEL_FINISH_LENGTH },
	{ "refusal", MODEL_FINISH_SAFETY },
	{ "pause_turn", MODEL_FINISH_PAUSE },
};

static void message_delta(struct claude_reader *reader, const json_t *event)
{
	const json_t *delta = json_object_get(event, "delta");
	const char *word = json_string_value(json_object_get(delta, "stop_reason"));
	enum model_finish finish = MODEL_FINISH_OTHER;

	message_usage(reader, json_object_get(event, "usage"));
	if (!word)
		return;
	for (size_t i = 0; i < ARRAY_LEN(finishes); i++)
		if (strcmp(word, finishes[i].word) == 0)
			finish = finishes[i].finish;
	if (reader->finish_word && !sink_finish_counts(reader->finish, finish))
		return;
	free(reader->finish_word);
	reader->finish_word = mem_dup(word, strlen(word) < 200 ? strlen(word) : 200);
	reader->finish = finish;
}

/* A block that is still open was never ended: a call in it is not whole. */
static void message_stop(struct claude_reader *reader)
{
	json_t *grounding = model_grounding_take(&reader->grounding);

	if (reader->kind == BLOCK_CALL)
		note_broken(reader);
	if (grounding)
		sink_grounding(reader->sink, grounding);
	reader->ended = true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool read_typed_event(struct claude_reader *reader, const json_t *value, struct span type,
                             enum wire_trouble *trouble, struct err *err)
{
	if (span_eq(type, SPAN("content_block_delta")))
		block_delta(reader, value);
	else if (span_eq(type, SPAN("content_block_start")))
		block_start(reader, value);
	else if (span_eq(type, SPAN("content_block_stop")))
		block_stop(reader);
	else if (span_eq(type, SPAN("message_start")))
		message_start(reader, value);
	else if (span_eq(type, SPAN("message_delta")))
		message_delta(reader, value);
	else if (span_eq(type, SPAN("message_stop")))
		message_stop(reader);
	else if (span_eq(type, SPAN("error")))
		return *trouble = anthropic_error(0, value, &reader->sink->delay_s, err), false;
	return true;
}

static bool anthropic_reader_event(void *data, const struct sse_event *event,
                                   enum wire_trouble *trouble,
                            struct err *err)
{
	struct claude_reader *reader = data;
	struct span type;
	json_t *value;
	bool ok;

	if (reader->ended)
		return true;
	if (!wire_event(reader->sink, event, &value, trouble, err))
		return false;
	if (!value)
		return true;
	type = json_span(json_object_get(value, "type"));
	ok = read_typed_event(reader, value, type.len ? type : event->type, trouble, err);
	json_decref(value);
	return ok;
}

static bool anthropic_reader_end(void *data, enum wire_trouble *trouble, struct err *err)
{
	struct claude_reader *reader = data;

	*trouble = WIRE_BROKEN;
	if (!reader->ended || !reader->finish_word)
		return err_set(err, ERR_MODEL_ERROR, "The model's answer broke off.");
	if (reader->broken_calls && (reader->finish == MODEL_FINISH_STOP ||
	                             reader->finish == MODEL_FINISH_TOOLS))
		return err_set(err, ERR_MODEL_ERROR,
		               "The model's call of %.100s has no end, or no name.",
		               reader->broken_name ? reader->broken_name : "nothing");
	while (reader->broken_calls-- > 0)
		sink_call_left_out(reader->sink, reader->broken_name);
	if (reader->late)
		sink_call_late(reader->sink, reader->late_name);
	sink_finish(reader->sink, reader->finish, reader->finish_word);
	return true;
}

/* A message with all its blocks (platform.claude.com/docs, "Messages"). */
static json_t *anthropic_events_of(const json_t *answer)
{
	const json_t *block;
	json_t *events;
	size_t i;

	if (!json_is_array(json_object_get(answer, "content")))
		return json_pack("[O]", answer);
	events = json_pack("[{s:s, s:O}]", "type", "message_start", "message", answer);
	json_array_foreach(json_object_get(answer, "content"), i, block) {
		json_array_append_new(events, json_pack("{s:s, s:O}", "type", "content_block_start",
		                                        "content_block", block));
		json_array_append_new(events, json_pack("{s:s}", "type", "content_block_stop"));
	}
	json_array_append_new(events, json_pack("{s:s, s:O}", "type", "message_delta", "delta",
	                                        answer));
	json_array_append_new(events, json_pack("{s:s}", "type", "message_stop"));
	return events;
}

const struct provider_reader anthropic_reader = {
	.events_of = anthropic_events_of,
	.make = anthropic_reader_new,
	.event = anthropic_reader_event,
	.end = anthropic_reader_end,
	.free = anthropic_reader_free,
};
