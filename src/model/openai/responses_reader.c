/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: the answer, as typed events.  Text and thoughts come in pieces; what has to be whole
 * (calls, reasoning items) is taken from response.output_item.done. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "model/grounding.h"
#include "model/openai/openai.h"
#include "model/openai/responses.h"
#include "model/sink.h"

struct responses_reader {
	struct reply_sink *sink;
	struct grounding grounding;
	bool told;      /* pieces of the item that is open have come */
	json_t *pieces; /* ids and places of items of which pieces have come; owned */
	json_t *done;   /* and of those that were ended */
	size_t done_count;
	bool nameless;  /* pieces came that say of no item that they are its */
	bool refused, ended;
};

void *responses_reader_new(struct reply_sink *sink)
{
	struct responses_reader *reader = mem_alloc(1, sizeof(*reader));

	reader->sink = sink;
	reader->pieces = json_object();
	reader->done = json_object();
	return reader;
}

void responses_reader_free(void *data)
{
	struct responses_reader *reader = data;

	grounding_release(&reader->grounding);
	json_decref(reader->pieces);
	json_decref(reader->done);
	free(reader);
}

/* ---- which items have come -------------------------------------------------------------------- */

enum { ITEMS_MAX = 4096 };

/* An item is known by its id, and by its place in the output. */
static void note_item(json_t *set, struct span id, const json_t *place)
{
	_cleanup_free_ char *name = id.len ? mem_printf("id %.*s", (int)(id.len < 200 ? id.len : 200),
	                                                id.data) : NULL;
	char number[32];

	if (json_object_size(set) >= ITEMS_MAX)
		return;
	if (name)
		json_object_set_new(set, name, json_true());
	if (!json_is_integer(place))
		return;
	snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, json_integer_value(place));
	json_object_set_new(set, number, json_true());
}

static bool item_noted(const json_t *set, const json_t *item, size_t place)
{
	struct span id = json_span(json_object_get(item, "id"));
	_cleanup_free_ char *name = mem_printf("id %.*s", (int)(id.len < 200 ? id.len : 200),
	                                       id.len ? id.data : "");
	char number[32];

	snprintf(number, sizeof(number), "%zu", place);
	if ((id.len && json_object_get(set, name)) || json_object_get(set, number))
		return true;
	free(name);
	id = json_span(json_object_get(item, "call_id"));
	name = mem_printf("id %.*s", (int)(id.len < 200 ? id.len : 200), id.len ? id.data : "");
	return id.len && json_object_get(set, name);
}

/* ---- items ----------------------------------------------------------------------------------- */

static bool read_call(struct responses_reader *reader, const json_t *item, struct err *err)
{
	struct span text = span_trim(json_span(json_object_get(item, "arguments")));
	const char *name = json_string_value(json_object_get(item, "name"));
	const char *id = json_string_value(json_object_get(item, "call_id"));
	struct span status = json_span(json_object_get(item, "status"));
	json_t *args;

	if (!name || !*name)
		return err_set(err, ERR_MODEL_ERROR, "The model's call has no name.");
	/* Cut off by the limit of the output: response.incomplete follows. */
	if (status.len && !span_eq(status, SPAN("completed"))) {
		sink_call_left_out(reader->sink, name, false);
		return true;
	}
	args = wire_args(reader->sink, text);
	if (!text.len || args) {
		sink_call(reader->sink, part_call(id, name, args));
		if (status.len)
			sink_whole(reader->sink);
		json_decref(args);
		return true;
	}
	return err_set(err, ERR_MODEL_ERROR,
	               "The arguments of the model's call of %.100s are not a JSON object.", name);
}

/* The texts of a list of parts. */
static void report_texts(struct responses_reader *reader, const json_t *parts, bool thought)
{
	const json_t *part;
	size_t i;

	json_array_foreach(parts, i, part) {
		struct span text = json_span(json_object_get(part, "text"));

		if (!text.len) {
			text = json_span(json_object_get(part, "refusal"));
			reader->refused |= text.len > 0;
		}
		if (text.len && thought)
			sink_thought(reader->sink, text, NULL);
		else if (text.len)
			sink_text(reader->sink, text, NULL);
	}
}

static json_t *opaque(const char *member, json_t *value)
{
	return json_pack("{s:s, s:o}", "provider", format_openai_responses.name, member, value);
}

/* Kept as it came, but for the status, which is not for requests. */
static void read_reasoning(struct responses_reader *reader, const json_t *item)
{
	json_t *kept = json_copy((json_t *)item);

	json_object_del(kept, "status");
	if (!reader->told)
		report_texts(reader, json_object_get(item, "summary"), true);
	sink_thought(reader->sink, SPAN(""), NULL);
	sink_sign(reader->sink, "opaque", opaque("item", kept));
}

static void read_message(struct responses_reader *reader, const json_t *item)
{
	const json_t *content = json_object_get(item, "content");
	json_t *phase = json_object_get(item, "phase");
	const json_t *part, *note;
	size_t i, j;

	if (!reader->told)
		report_texts(reader, content, false);
	if (json_is_string(phase))
		sink_sign(reader->sink, "opaque", opaque("phase", json_incref(phase)));
	json_array_foreach(content, i, part)
		json_array_foreach(json_object_get(part, "annotations"), j, note)
			grounding_add(&reader->grounding, json_span(json_object_get(note, "url")),
			              json_span(json_object_get(note, "title")));
}

static bool item_done(struct responses_reader *reader, const json_t *item, struct err *err)
{
	struct span type = json_span(json_object_get(item, "type"));
	bool ok = true;

	if (span_eq(type, SPAN("function_call")))
		ok = read_call(reader, item, err);
	else if (span_eq(type, SPAN("reasoning")))
		read_reasoning(reader, item);
	else if (span_eq(type, SPAN("message")))
		read_message(reader, item);
	else if (span_eq(type, SPAN("web_search_call")))
		grounding_query(&reader->grounding,
		                json_span(json_object_get(json_object_get(item, "action"),
		                                          "query")));
	sink_break(reader->sink);
	return ok;
}

/* ---- events ---------------------------------------------------------------------------------- */

struct happening {
	const json_t *event;
	enum wire_trouble *trouble;
	struct err *err;
};

static bool on_item_added(struct responses_reader *reader, const struct happening *now)
{
	(void)now;
	sink_break(reader->sink);
	reader->told = false;
	return true;
}

static bool on_item_done(struct responses_reader *reader, const struct happening *now)
{
	const json_t *item = json_object_get(now->event, "item");

	*now->trouble = WIRE_BROKEN;
	reader->done_count++;
	note_item(reader->done, json_span(json_object_get(item, "call_id")), NULL);
	note_item(reader->done, json_span(json_object_get(item, "id")),
	          json_object_get(now->event, "output_index"));
	return item_done(reader, item, now->err);
}

static struct span delta_of(struct responses_reader *reader, const struct happening *now)
{
	struct span id = json_span(json_object_get(now->event, "item_id"));
	const json_t *place = json_object_get(now->event, "output_index");

	reader->told = true;
	reader->nameless |= !id.len && !json_is_integer(place);
	note_item(reader->pieces, id, place);
	return json_span(json_object_get(now->event, "delta"));
}

static bool on_text(struct responses_reader *reader, const struct happening *now)
{
	sink_text(reader->sink, delta_of(reader, now), NULL);
	return true;
}

static bool on_refusal(struct responses_reader *reader, const struct happening *now)
{
	reader->refused = true;
	return on_text(reader, now);
}

static bool on_thought(struct responses_reader *reader, const struct happening *now)
{
	sink_thought(reader->sink, delta_of(reader, now), NULL);
	return true;
}

static bool on_summary_part(struct responses_reader *reader, const struct happening *now)
{
	if (json_integer_value(json_object_get(now->event, "summary_index")) > 0)
		sink_thought(reader->sink, SPAN("\n\n"), NULL);
	return true;
}

/* What stands in the final object alone: some servers send no event for it. */
static bool read_rest(struct responses_reader *reader, const json_t *response, struct err *err)
{
	const json_t *output = json_object_get(response, "output"), *item;
	size_t i;

	if (json_array_size(output) <= reader->done_count)
		return true;
	json_array_foreach(output, i, item) {
		if (item_noted(reader->done, item, i))
			continue;
		sink_break(reader->sink);
		reader->told = reader->nameless || item_noted(reader->pieces, item, i);
		if (!item_done(reader, item, err))
			return false;
	}
	return true;
}

static bool end(struct responses_reader *reader, const struct happening *now,
                enum model_finish finish, const char *word)
{
	const json_t *response = json_object_get(now->event, "response");
	const json_t *usage = json_object_get(response, "usage");
	struct model_usage counts;
	json_t *grounding;

	*now->trouble = WIRE_BROKEN;
	if (!read_rest(reader, response, now->err))
		return false;
	if (reader->refused)
		finish = MODEL_FINISH_SAFETY;
	if (json_is_object(usage)) {
		counts = openai_usage(usage);
		sink_usage(reader->sink, &counts);
	}
	grounding = grounding_take(&reader->grounding);
	if (grounding)
		sink_grounding(reader->sink, grounding);
	sink_finish(reader->sink, finish, word);
	reader->ended = true;
	return true;
}

/* The event and the status of the response say the same; what says otherwise is not whole. */
static bool on_completed(struct responses_reader *reader, const struct happening *now)
{
	const json_t *response = json_object_get(now->event, "response");
	const char *status = json_string_value(json_object_get(response, "status"));
	enum model_finish finish = MODEL_FINISH_STOP;

	status = status ? status : "completed";
	if (strcmp(status, "completed") != 0)
		finish = MODEL_FINISH_OTHER;
	return end(reader, now, finish, status);
}

static bool on_incomplete(struct responses_reader *reader, const struct happening *now)
{
	const json_t *response = json_object_get(now->event, "response");
	const json_t *details = json_object_get(response, "incomplete_details");
	const char *reason = json_string_value(json_object_get(details, "reason"));
	enum model_finish finish = MODEL_FINISH_OTHER;

	reason = reason ? reason : "incomplete";
	if (strcmp(reason, "content_filter") == 0)
		finish = MODEL_FINISH_SAFETY;
	else if (strcmp(reason, "max_output_tokens") == 0)
		finish = MODEL_FINISH_LENGTH;
	return end(reader, now, finish, reason);
}

static bool on_failed(struct responses_reader *reader, const struct happening *now)
{
	const json_t *response = json_object_get(now->event, "response");

	*now->trouble = openai_error_value(0, response ? response : now->event,
	                                   &reader->sink->delay_s, now->err);
	return false;
}

static const struct {
	const char *type;
	bool (*read)(struct responses_reader *reader, const struct happening *now);
} events[] = {
	{ "response.output_item.added", on_item_added },
	{ "response.output_item.done", on_item_done },
	{ "response.output_text.delta", on_text },
	{ "response.refusal.delta", on_refusal },
	{ "response.reasoning_summary_part.added", on_summary_part },
	{ "response.reasoning_summary_text.delta", on_thought },
	{ "response.reasoning_text.delta", on_thought },
	{ "response.completed", on_completed },
	{ "response.incomplete", on_incomplete },
	{ "response.failed", on_failed },
	{ "error", on_failed },
};

bool responses_reader_event(void *data, const struct sse_event *event, enum wire_trouble *trouble,
                            struct err *err)
{
	struct responses_reader *reader = data;
	struct span type;
	json_t *value;
	bool ok = true;

	if (reader->ended)
		return true;
	if (!wire_event(reader->sink, event, &value, trouble, err))
		return false;
	if (!value)
		return true;
	type = json_span(json_object_get(value, "type"));
	if (!type.len)
		type = json_object_get(value, "error") ? SPAN("error") : event->type;
	for (size_t i = 0; i < ARRAY_LEN(events); i++)
		if (span_eq(type, span_str(events[i].type)))
			ok = events[i].read(reader, &(struct happening){ value, trouble, err });
	json_decref(value);
	return ok;
}

bool responses_reader_end(void *data, enum wire_trouble *trouble, struct err *err)
{
	struct responses_reader *reader = data;

	*trouble = WIRE_BROKEN;
	return reader->ended || err_set(err, ERR_MODEL_ERROR, "The model's answer broke off.");
}
