/* SPDX-License-Identifier: Apache-2.0 */
/* Responses: the request. Source: OpenAI's API reference, "Create a model response", and its guide
 * "Tool search".
 *
 * Nothing is kept at the provider (store: false): reasoning comes encrypted, and goes back with the
 * conversation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/arguments.h"
#include "model/openai/openai.h"
#include "model/part.h"
#include "model/provider.h"
#include "model/sink.h"

/* ---- conversation ------------------------------------------------------------ */

/* ---- request ----------------------------------------------------------------- */

/* With a grammar its call is a text, which is its one argument "input" everywhere else. */
static bool is_custom(const json_t *tool, const struct openai_model *model)
{
	return model->custom && json_string_length(json_object_get(tool, "grammar"));
}

/* Source: guide "Function calling", Custom tools and Context-free grammars. */
static json_t *custom_tool(const json_t *tool)
{
	json_t *custom = json_pack("{s:s, s:O, s:{s:s, s:s, s:O}}", "type", "custom", "name",
	                           json_object_get(tool, "name"), "format", "type", "grammar",
	                           "syntax", "lark", "definition",
	                           json_object_get(tool, "grammar"));

	return wire_described(custom, tool);
}

static enum model_loading responses_loading(const struct model_options *options)
{
	const bool own = strstr(options->base_url, "//api.openai.com");

	return wire_loads(options, own && openai_model_of(options->name)->loads) ?
	               MODEL_LOADS_FOUND :
	               MODEL_LOADS_NOTHING;
}

/* The search that this side makes for the model. */
static json_t *search_tool(const json_t *tool)
{
	return wire_described(json_pack("{s:s, s:s, s:o}", "type", "tool_search", "execution",
	                                "client", "parameters", wire_parameters(tool)), tool);
}

/* With `loader`: the tool that searches in its own form, and none to call what it finds. */
static json_t *responses_tools(const json_t *all, const struct openai_model *model,
                               const char *loader)
{
	json_t *tools = json_array();
	const json_t *tool;
	size_t i;

	json_array_foreach(all, i, tool)
		if (loader && wire_is_loading(tool, "loads"))
			json_array_append_new(tools, search_tool(tool));
		else if (is_custom(tool, model))
			json_array_append_new(tools, custom_tool(tool));
		else if (!wire_is_loading(tool, "deferred") &&
		         !(loader && wire_is_loading(tool, "instead")))
			json_array_append_new(tools, openai_function_tool(tool));
	return tools;
}

static const char *openai_declared_type(const struct model_request *request,
                                        const struct openai_model *model, const json_t *name)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(request->tools, i, tool)
		if (json_equal(json_object_get(tool, "name"), name))
			return is_custom(tool, model) ? "custom" : "function";
	return "function";
}

static json_t *responses_tool_choice(const struct model_request *request,
                                     const struct openai_model *model, const char *loader)
{
	json_t *tools;
	const json_t *name;
	size_t i;

	if (request->tool_mode == MODEL_TOOLS_NONE)
		return json_string("none");
	if (!request->allowed_tools)
		return json_string("required");
	tools = json_array();
	json_array_foreach(request->allowed_tools, i, name)
		if (loader && span_eq(json_span(name), span_str(loader)))
			json_array_append_new(tools, json_pack("{s:s}", "type", "tool_search"));
		else
			json_array_append_new(
				tools, json_pack("{s:s, s:O}", "type",
			                         openai_declared_type(request, model, name), "name",
			                         name));
	return json_pack("{s:s, s:s, s:o}", "type", "allowed_tools", "mode", "required", "tools",
	                 tools);
}

/* google_search is what hasp calls a search of the web that the provider does. */
static bool responses_add_server_tools(json_t *tools, const struct model_request *request,
                                       struct err *err)
{
	const json_t *name;
	size_t i;

	json_array_foreach(request->server_tools, i, name) {
		if (!span_eq(json_span(name), SPAN("google_search")))
			return wire_no_tool("OpenAI", name, err);
		json_array_append_new(tools, json_pack("{s:s}", "type", "web_search"));
	}
	return true;
}

static bool responses_add_tools(json_t *body, const struct model_request *request,
                                const struct openai_model *model, const char *loader,
                                struct err *err)
{
	json_t *tools = responses_tools(request->tools, model, loader);
	bool ok;

	if (json_array_size(tools) && request->tool_mode != MODEL_TOOLS_AUTO)
		json_object_set_new(body, "tool_choice",
		                    responses_tool_choice(request, model, loader));
	ok = responses_add_server_tools(tools, request, err);
	if (json_array_size(tools))
		json_object_set(body, "tools", tools);
	json_decref(tools);
	return ok;
}

static json_t *responses_body(const struct model_options *options,
                              const struct model_request *request, const char *loader)
{
	const struct openai_model *model = openai_model_of(options->name);
	json_t *body = json_pack("{s:o, s:o, s:b, s:b}", "model", json_cstr(options->name), "input",
	                         openai_input_items(request, model->reasons, loader), "stream", 1,
	                         "store", 0);

	if (request->system.len)
		json_object_set_new(body, "instructions", json_text(request->system));
	if (model->reasons) {
		const char *effort = openai_effort(model, request);
		json_t *reasoning = json_pack("{s:s}", "summary", "auto");

		if (effort)
			json_object_set_new(reasoning, "effort", json_string(effort));
		json_object_set_new(body, "reasoning", reasoning);
		json_object_set_new(body, "include",
		                    json_pack("[s]", "reasoning.encrypted_content"));
	}
	if (!model->reasons && request->temperature >= 0)
		json_object_set_new(body, "temperature", json_real(request->temperature));
	if (!model->reasons && request->top_p >= 0)
		json_object_set_new(body, "top_p", json_real(request->top_p));
	if (request->answer_schema) {
		json_t *format = openai_answer_schema(request);

		json_object_set_new(format, "type", json_string("json_schema"));
		json_object_set_new(body, "text", json_pack("{s:o}", "format", format));
	}
	if (request->max_output_tokens)
		json_object_set_new(body, "max_output_tokens",
		                    json_integer(request->max_output_tokens < 16 ?
		                                         16 :
		                                         request->max_output_tokens));
	if (request->session_id)
		json_object_set_new(body, "prompt_cache_key",
		                    wire_session_key(request->session_id, OPENAI_KEY_CHARACTERS));
	return body;
}

static bool responses_build(const struct model_options *options,
                            const struct model_request *request,
                            struct wire_request *ret, struct err *err)
{
	const char *loader = responses_loading(options) ? wire_loader(request->tools) : NULL;
	json_t *body;

	body = responses_body(options, request, loader);
	if (!responses_add_tools(body, request, openai_model_of(options->name), loader, err)) {
		json_decref(body);
		return false;
	}
	wire_endpoint(&ret->url, options->base_url, "/responses");
	openai_headers(options, ret);
	return wire_body(ret, body, err);
}

/* ---- answer ------------------------------------------------------------------ */

/* Responses: the answer, as typed events.  Text and thoughts arrive in pieces; items that must be
 * complete (calls, reasoning) are taken from response.output_item.done. */

struct responses_reader {
	struct reply_sink *sink;
	struct grounding grounding;
	bool reported;      /* pieces of the item that is open have come */
	json_t *pieces; /* ids and places of items of which pieces have come; owned */
	json_t *done;   /* and of those that were ended */
	size_t done_count;
	bool nameless;  /* pieces came that say of no item that they are its */
	bool refused, ended;
};

static void *responses_reader_new(struct reply_sink *sink)
{
	struct responses_reader *reader = mem_alloc(1, sizeof(*reader));

	reader->sink = sink;
	reader->pieces = json_object();
	reader->done = json_object();
	return reader;
}

static void responses_reader_free(void *data)
{
	struct responses_reader *reader = data;

	model_grounding_release(&reader->grounding);
	json_decref(reader->pieces);
	json_decref(reader->done);
	free(reader);
}

/* ---- which items have come ---- */

enum { ITEMS_MAX = 4096 };

/* An item is known by its id, and by its place in the output. */
static void note_item(json_t *set, struct span id, const json_t *place)
{
	_cleanup_free_ char *name =
		id.len ? mem_printf("id %.*s", (int)(id.len < 200 ? id.len : 200),
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

static bool read_call_item(struct responses_reader *reader, const json_t *item, struct err *err)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	const char *id = json_string_value(json_object_get(item, "call_id"));
	const json_t *args = json_object_get(item, "arguments");
	struct span status = json_span(json_object_get(item, "status"));

	if (!name || !*name)
		return err_set(err, ERR_MODEL_ERROR, "The model's call has no name.");
	/* Cut off by the limit of the output: response.incomplete follows. */
	if (status.len && !span_eq(status, SPAN("completed"))) {
		sink_call_left_out(reader->sink, name);
		return true;
	}
	sink_call(reader->sink,
	          json_is_string(args) ?
	                  arguments_part(reader->sink, id, name, json_span(args), true) :
	                  arguments_part_of(reader->sink, id, name, args));
	if (status.len)
		sink_whole(reader->sink);
	return true;
}

static json_t *responses_opaque(const char *member, json_t *value)
{
	return json_pack("{s:s, s:o}", "provider", format_openai_responses.name, member, value);
}

/* A call of free text. It goes back as what it was. */
static bool read_custom_item(struct responses_reader *reader, const json_t *item, struct err *err)
{
	const char *name = json_string_value(json_object_get(item, "name"));
	json_t *input = json_object_get(item, "input"), *part;
	struct span status = json_span(json_object_get(item, "status"));
	json_auto_t *args = NULL;

	if (!name || !*name || !json_is_string(input))
		return err_set(err, ERR_MODEL_ERROR, "The model's call has no name, or no input.");
	if (status.len && !span_eq(status, SPAN("completed"))) {
		sink_call_left_out(reader->sink, name);
		return true;
	}
	args = json_pack("{s:O}", "input", input);
	part = part_call(json_string_value(json_object_get(item, "call_id")), name, args);
	json_object_set_new(part, "opaque", responses_opaque("custom", json_true()));
	sink_call(reader->sink, part);
	if (status.len)
		sink_whole(reader->sink);
	return true;
}

/* A search that is ours to make is a call of the tool that loads. */
static bool read_search_item(struct responses_reader *reader, const json_t *item, struct err *err)
{
	const char *loader = reader->sink->loader;
	json_auto_t *call = NULL;

	if (!loader || !span_eq(json_span(json_object_get(item, "execution")), SPAN("client")))
		return true;
	call = json_copy((json_t *)item);
	json_object_set_new(call, "name", json_string(loader));
	return read_call_item(reader, call, err);
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

/* Kept as it came, but for the status, which is not for requests. */
static void read_reasoning_item(struct responses_reader *reader, const json_t *item)
{
	json_t *kept = json_copy((json_t *)item);

	json_object_del(kept, "status");
	if (!reader->reported)
		report_texts(reader, json_object_get(item, "summary"), true);
	sink_thought(reader->sink, SPAN(""), NULL);
	sink_sign(reader->sink, "opaque", responses_opaque("item", kept));
}

static void read_message_item(struct responses_reader *reader, const json_t *item)
{
	const json_t *content = json_object_get(item, "content");
	json_t *phase = json_object_get(item, "phase");
	const json_t *part, *note;
	size_t i, j;

	if (!reader->reported)
		report_texts(reader, content, false);
	if (json_is_string(phase))
		sink_sign(reader->sink, "opaque", responses_opaque("phase", json_incref(phase)));
	json_array_foreach(content, i, part)
		json_array_foreach(json_object_get(part, "annotations"), j, note)
			model_grounding_add(&reader->grounding,
			                    json_span(json_object_get(note, "url")),
			                    json_span(json_object_get(note, "title")));
}

static bool item_done(struct responses_reader *reader, const json_t *item, struct err *err)
{
	struct span type = json_span(json_object_get(item, "type"));
	bool ok = true;

	if (span_eq(type, SPAN("function_call")))
		ok = read_call_item(reader, item, err);
	else if (span_eq(type, SPAN("custom_tool_call")))
		ok = read_custom_item(reader, item, err);
	else if (span_eq(type, SPAN("tool_search_call")))
		ok = read_search_item(reader, item, err);
	else if (span_eq(type, SPAN("reasoning")))
		read_reasoning_item(reader, item);
	else if (span_eq(type, SPAN("message")))
		read_message_item(reader, item);
	else if (span_eq(type, SPAN("web_search_call")))
		model_grounding_query(&reader->grounding,
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
	reader->reported = false;
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

	reader->reported = true;
	reader->nameless |= !id.len && !json_is_integer(place);
	note_item(reader->pieces, id, place);
	return json_span(json_object_get(now->event, "delta"));
}

static bool on_text_delta(struct responses_reader *reader, const struct happening *now)
{
	sink_text(reader->sink, delta_of(reader, now), NULL);
	return true;
}

static bool on_refusal_delta(struct responses_reader *reader, const struct happening *now)
{
	reader->refused = true;
	return on_text_delta(reader, now);
}

static bool on_thought_delta(struct responses_reader *reader, const struct happening *now)
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
		reader->reported = reader->nameless || item_noted(reader->pieces, item, i);
		if (!item_done(reader, item, err))
			return false;
	}
	return true;
}

static bool end_response(struct responses_reader *reader, const struct happening *now,
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
	grounding = model_grounding_take(&reader->grounding);
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
	return end_response(reader, now, finish, status);
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
	return end_response(reader, now, finish, reason);
}

static bool on_failed(struct responses_reader *reader, const struct happening *now)
{
	const json_t *response = json_object_get(now->event, "response");

	*now->trouble = openai_error(0, response ? response : now->event,
	                                   &reader->sink->delay_s, now->err);
	return false;
}

static const struct {
	const char *type;
	bool (*read)(struct responses_reader *reader, const struct happening *now);
} events[] = {
	{ "response.output_item.added", on_item_added },
	{ "response.output_item.done", on_item_done },
	{ "response.output_text.delta", on_text_delta },
	{ "response.refusal.delta", on_refusal_delta },
	{ "response.reasoning_summary_part.added", on_summary_part },
	{ "response.reasoning_summary_text.delta", on_thought_delta },
	{ "response.reasoning_text.delta", on_thought_delta },
	{ "response.completed", on_completed },
	{ "response.incomplete", on_incomplete },
	{ "response.failed", on_failed },
	{ "error", on_failed },
};

static bool responses_reader_event(void *data, const struct sse_event *event,
                                   enum wire_trouble *trouble, struct err *err)
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

static bool responses_reader_end(void *data, enum wire_trouble *trouble, struct err *err)
{
	struct responses_reader *reader = data;

	*trouble = WIRE_BROKEN;
	return reader->ended || err_set(err, ERR_MODEL_ERROR, "The model's answer broke off.");
}

/* The response itself: its output is what no event has said. */
static json_t *responses_events_of(const json_t *answer)
{
	static const struct {
		const char *status, *type;
	} types[] = {
		{ "incomplete", "response.incomplete" }, { "failed", "response.failed" },
	};
	struct span status = json_span(json_object_get(answer, "status"));
	const char *type = "response.completed";

	if (!json_object_get(answer, "output") && json_object_get(answer, "error"))
		return json_pack("[O]", answer);
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (span_eq(status, span_str(types[i].status)))
			type = types[i].type;
	return json_pack("[{s:s, s:O}]", "type", type, "response", answer);
}

static const struct provider_reader responses_reader = {
	.events_of = responses_events_of,
	.make = responses_reader_new,
	.event = responses_reader_event,
	.end = responses_reader_end,
	.free = responses_reader_free,
};

const struct provider_format format_openai_responses = {
	.name = "openai-responses",
	.default_base = "https://api.openai.com/v1",
	.build = responses_build,
	.reader = &responses_reader,
	.error = openai_error,
	.context_tokens = openai_context_tokens,
	.takes_media = wire_takes_pdf,
	.loading = responses_loading,
	.list_build = openai_list_build,
	.list_read = openai_list_read,
};
