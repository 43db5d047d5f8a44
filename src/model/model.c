/* SPDX-License-Identifier: Apache-2.0 */
/* A model and its fallbacks, and the loop over attempts. */
#include "model/model.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/media.h"
#include "model/sink.h"
#include "model/stream.h"

struct model {
	struct endpoint *endpoints; /* owned; the fallbacks come after the first */
	size_t count;
	size_t current;             /* the one that answers now */
	uint64_t *resting;          /* by endpoint: it is not asked before (model_now); owned */
	struct err first;           /* why the first one does not, if it does not */
	struct media_memory media;
	size_t traced;              /* messages of the conversation that were traced */
	size_t traced_system;       /* bytes of the system text that was */
};

/* Empty answers until the request itself is changed: a model that said nothing twice says nothing
 * the third time too, if it is asked the same. */
enum { EMPTIES_BEFORE_NUDGE = 2 };
#define NUDGE SPAN("Please continue.")
/* After the sentence that says why another model is asked. */
#define PAUSED_DROPPED                                                                          \
	"What the model had said and looked up before it paused is dropped: the next model " \
	"starts the reply again."

void model_free(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->count; i++)
		endpoint_release(&model->endpoints[i]);
	free(model->endpoints);
	free(model->resting);
	media_memory_release(&model->media);
	free(model);
}

bool model_open(const struct model_options *options, struct model **ret, struct err *err)
{
	const struct model_options *const *fallback = options->fallbacks;
	struct model *model = mem_alloc(1, sizeof(*model));
	size_t count = 1;

	for (; fallback && *fallback; fallback++)
		count++;
	model->endpoints = mem_alloc(count, sizeof(*model->endpoints));
	model->resting = mem_alloc(count, sizeof(*model->resting));
	while (model->count < count) {
		const struct model_options *one =
			model->count ? options->fallbacks[model->count - 1] : options;

		if (!endpoint_open(one, &model->endpoints[model->count], err)) {
			model_free(model);
			return false;
		}
		model->count++;
	}
	*ret = model;
	return true;
}

bool model_replace(struct model *model, const struct model_options *options, struct err *err)
{
	struct model before = *model, *next;

	if (!model_open(options, &next, err))
		return false;
	*model = *next;
	*next = before;
	model_free(next);
	return true;
}

static struct endpoint *current_endpoint(const struct model *model)
{
	return &model->endpoints[model->current];
}

const char *model_id(const struct model *model)
{
	return current_endpoint(model)->id;
}

const char *model_plain_id(const char *id)
{
	return !strncmp(id, "gemini/", 7) ? id + 7 : id;
}

uint64_t model_context_tokens(const struct model *model)
{
	return endpoint_context_tokens(current_endpoint(model));
}

void model_learn_limits(struct model *model, const struct cancel *cancel)
{
	if (current_endpoint(model)->options.no_key)
		return;
	endpoint_recall(current_endpoint(model));
	endpoint_learn_limits(current_endpoint(model), cancel);
}

/* ---- one reply ---- */

struct reply_request {
	struct model *model;
	struct model_request request; /* with repaired contents */
	void (*event)(void *data, const struct model_event *event);
	void *data;
	struct retry retry;
	unsigned requests, empties;
	unsigned asked;               /* of the requests, those to the current model */
	bool tools_reported;          /* one restart says it, however many tools are rejected */
	struct err media_error;       /* the refusal after which media were left out */
	json_t *contents;             /* owned; of the request, without what was paused */
	struct model_reply paused;    /* what was said before the last pause; empty: there was
	                               * none */
	unsigned pauses;
};

/* Who shows the reply forgets all of it when it is asked for again: what came before a pause
 * stands. */
static void report_paused_again(const struct reply_request *pending)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(pending->paused.content, "parts"), i, part)
		if (json_object_get(part, "text") &&
		    !json_is_true(json_object_get(part, "thought")))
			pending->event(pending->data, &(struct model_event){
				.kind = MODEL_TEXT, .text =
					json_span(json_object_get(part, "text")) });
}

static void emit_event(const struct reply_request *pending, const struct model_event *event)
{
	if (!pending->event)
		return;
	pending->event(pending->data, event);
	if (event->kind == MODEL_RESTART)
		report_paused_again(pending);
}

/* A conversation that can be answered: repaired, and ending with a message of the user.  Newer
 * models reject one that ends with a message of the model (platform.claude.com/docs, "Prefill"). */
static json_t *answerable(const json_t *contents)
{
	json_t *repaired = content_repair(contents);
	const json_t *last = json_array_get(repaired, json_array_size(repaired) - 1);

	if (!last || !content_is_user(last))
		json_array_append_new(repaired, content_user_text(NUDGE));
	return repaired;
}

/* The conversation with one more sentence of the user, for this attempt alone. */
static json_t *with_nudge(const json_t *contents)
{
	json_t *longer = json_copy((json_t *)contents), *repaired;

	json_array_append_new(longer, content_user_text(NUDGE));
	repaired = content_repair(longer);
	json_decref(longer);
	return repaired;
}

static void report_left_out(void *data, const char *sentence)
{
	const struct reply_request *pending = data;

	emit_event(pending, &(struct model_event){ .kind = MODEL_LEFT_OUT,
	                                          .text = span_str(sentence) });
}

/* As media_fit, for the model that answers now. */
static json_t *fit_to_current(struct model *model, const json_t *contents,
                              void (*report)(void *data, const char *sentence), void *data)
{
	_cleanup_free_ const struct model_options **configured =
		mem_alloc(model->count + 1, sizeof(*configured));

	for (size_t i = 0; i < model->count; i++)
		configured[i] = &model->endpoints[i].options;
	return media_fit(&model->media, &current_endpoint(model)->options, configured, contents,
	                 report, data);
}

static bool attempt_once(struct reply_request *pending, struct attempt *attempt,
                         struct model_reply *ret, struct err *err)
{
	struct endpoint *endpoint = current_endpoint(pending->model);
	struct model_request request = pending->request;
	struct reply_sink sink;
	json_t *longer = NULL, *fit;
	bool ok;

	if (pending->empties >= EMPTIES_BEFORE_NUDGE)
		request.contents = longer = with_nudge(request.contents);
	request.contents = fit = fit_to_current(pending->model, request.contents, report_left_out,
	                                        pending);
	sink_init(&sink, pending->event, pending->data);
	endpoint_recall(endpoint);
	pending->requests++;
	pending->asked++;
	ok = stream_attempt(endpoint, &request, &sink, attempt, err);
	if (ok) {
		endpoint->tools_refused = 0;
		*ret = (struct model_reply){
			.model = mem_strdup(endpoint->id),
			.attempts = pending->requests,
			.ms = attempt->ms,
		};
		sink_take(&sink, ret);
	}
	sink_release(&sink);
	json_decref(longer);
	json_decref(fit);
	pending->empties += !ok && attempt->empty;
	return ok;
}

json_t *model_sendable(struct model *model, const json_t *contents)
{
	return fit_to_current(model, contents, NULL, NULL);
}

/* ---- replies that pause ---- */

enum { PAUSES_MAX = 8 };

/* The reply becomes what was said before the pause, and itself. */
static void add_to_paused(struct reply_request *pending, struct model_reply *reply)
{
	struct model_reply *before = &pending->paused;

	if (!before->content) {
		*before = *reply;
		*reply = (struct model_reply){ 0 };
		return;
	}
	json_array_extend(json_object_get(before->content, "parts"),
	                  json_object_get(reply->content, "parts"));
	before->usage.input += reply->usage.input;
	before->usage.cached += reply->usage.cached;
	before->usage.cache_written += reply->usage.cache_written;
	before->usage.output += reply->usage.output;
	before->usage.thoughts += reply->usage.thoughts;
	before->usage.tool += reply->usage.tool;
	before->usage.total += reply->usage.total;
	model_grounding_join(&before->grounding, mem_steal(&reply->grounding));
	reply->usage = before->usage;
	json_decref(reply->content);
	reply->content = mem_steal(&before->content);
	reply->grounding = mem_steal(&before->grounding);
	model_reply_release(before);
	*before = *reply;
	*reply = (struct model_reply){ 0 };
}

/* The provider gets what it said so far, as it is, and goes on
 * (platform.claude.com/docs, "Handling stop reasons"). */
static bool goes_on_after_pause(struct reply_request *pending, struct model_reply *reply)
{
	if (reply->finish != MODEL_FINISH_PAUSE || reply->withheld || pending->pauses == PAUSES_MAX)
		return false;
	pending->pauses++;
	add_to_paused(pending, reply);
	json_decref((json_t *)pending->request.contents);
	pending->request.contents = json_copy(pending->contents);
	json_array_append((json_t *)pending->request.contents, pending->paused.content);
	stream_retry_init(&pending->retry, &current_endpoint(pending->model)->options,
	                  pending->model->current + 1 < pending->model->count);
	return true;
}

static void finish_paused(struct reply_request *pending, struct model_reply *reply)
{
	if (pending->paused.content) {
		add_to_paused(pending, reply);
		*reply = pending->paused;
		pending->paused = (struct model_reply){ 0 };
	}
	if (reply->finish == MODEL_FINISH_PAUSE)
		reply->finish = MODEL_FINISH_OTHER;
}

/* ---- one reply, whatever it takes ---- */

/* How long a model that failed is not asked, in seconds, where its server does not say. */
enum { REST_OVERLOADED_S = 300, REST_QUOTA_S = 3600, REST_LEAST_S = 60,
       REST_LONGEST_S = 31 * 86400 };

static uint64_t model_now(const struct model *model)
{
	const struct model_options *options = &model->endpoints[0].options;

	return options->now_ms ? options->now_ms() : clock_monotonic_ms();
}

static unsigned rest_seconds(const struct attempt *attempt)
{
	if (attempt->delay_s < 0)
		return attempt->trouble == WIRE_QUOTA ? REST_QUOTA_S : REST_OVERLOADED_S;
	if (attempt->delay_s < REST_LEAST_S)
		return REST_LEAST_S;
	return attempt->delay_s < REST_LONGEST_S ? (unsigned)attempt->delay_s : REST_LONGEST_S;
}

/* The next that does not rest; all do: the next. */
static size_t next_model(const struct model *model)
{
	const uint64_t now = model_now(model);

	for (size_t i = model->current + 1; i < model->count; i++)
		if (model->resting[i] <= now)
			return i;
	return model->current + 1;
}

/* Before a request: the first model whose time is over, if an earlier one's is. */
static void return_to_rested(struct reply_request *pending)
{
	struct model *model = pending->model;
	const char *from = current_endpoint(model)->id;
	_cleanup_buf_ struct buf sentence = BUF_INIT(2048);
	const uint64_t now = model->current ? model_now(model) : 0;

	for (size_t i = 0; i < model->current; i++) {
		if (model->resting[i] > now)
			continue;
		model->current = i;
		fault_say_back(&sentence, current_endpoint(model)->id, from);
		emit_event(pending, &(struct model_event){
			.kind = MODEL_SWITCHED, .text = span_str(current_endpoint(model)->id),
			.sentence = buf_view(&sentence), .from = span_str(from) });
		return;
	}
}

static void go_to_fallback(struct reply_request *pending, const struct attempt *attempt,
                           const struct err *why)
{
	struct model *model = pending->model;
	const char *from = current_endpoint(model)->id;
	const unsigned rest_s = rest_seconds(attempt);
	const int64_t until = (int64_t)time(NULL) + rest_s;
	_cleanup_buf_ struct buf sentence = BUF_INIT(sizeof(why->message) + 2048);
	_cleanup_free_ char *text = mem_printf(
		"%s%s", why->message, pending->paused.content ? " " PAUSED_DROPPED : "");

	/* Another model starts the reply from the beginning (model.h says why). */
	model_reply_release(&pending->paused);
	pending->pauses = 0;
	json_decref((json_t *)pending->request.contents);
	pending->request.contents = json_incref(pending->contents);
	emit_event(pending, &(struct model_event){ .kind = MODEL_RESTART,
	                                          .text = span_str(text),
	                                          .attempt = pending->requests + 1 });
	if (!model->current)
		model->first = *why;
	model->resting[model->current] = model_now(model) + (uint64_t)rest_s * 1000;
	model->current = next_model(model);
	pending->asked = 0;
	fault_say_switch(&sentence, text, current_endpoint(model)->id, from, until);
	emit_event(pending, &(struct model_event){ .kind = MODEL_SWITCHED,
	                                          .text = span_str(current_endpoint(model)->id),
	                                          .subject = span_str(why->message),
	                                          .sentence = buf_view(&sentence),
	                                          .from = span_str(from), .until = until });
	stream_retry_init(&pending->retry, &current_endpoint(model)->options,
	                  model->current + 1 < model->count);
}

/* A sentence about the last model that was asked says little to who chose the first. */
static void name_first_cause(const struct model *model, struct err *err)
{
	const struct err last = *err;

	if (model->current)
		err_set(err, last.code, "%s The first model failed with: %s", last.message,
		        model->first.message);
}

/* Reports an immediate retry with its reason. */
static void report_again(const struct reply_request *pending, const struct buf *text)
{
	emit_event(pending, &(struct model_event){ .kind = MODEL_RESTART, .text = buf_view(text),
	                                          .sentence = buf_view(text),
	                                          .attempt = pending->requests + 1 });
}

/* The provider refuses one parameter: each can be refused once, so this comes to an end. */
static void ask_without(struct reply_request *pending, refusable_set refused, const struct err *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(sizeof(why->message) + 512);

	fault_say_without(&text, why->message, refusable_name(refused));
	endpoint_drop_parameter(current_endpoint(pending->model), refused);
	report_again(pending, &text);
}

/* The provider may have rejected an image or a document: retries without the new ones; if that
 * fails too, the first refusal is the error. */
static bool ask_without_media(struct reply_request *pending, struct err *err)
{
	struct media_memory *media = &pending->model->media;
	_cleanup_buf_ struct buf text = BUF_INIT(sizeof(err->message) + 512);

	if (err->code != ERR_INVALID_ARGUMENT)
		return false;
	if (!media->trial)
		pending->media_error = *err;
	if (media_try_without(media, pending->request.contents, span_str(err->message))) {
		fault_say_without(&text, err->message, "the media that are new");
		report_again(pending, &text);
		return true;
	}
	if (media->trial)
		*err = pending->media_error;
	return false;
}

/* The provider refuses a tool: the prompt goes on without it. */
static bool ask_without_tools(struct reply_request *pending, const struct attempt *attempt,
                              const struct err *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT(sizeof(why->message) + 512);

	if (!stream_settle_tools(current_endpoint(pending->model), &pending->request, attempt,
	                         &pending->requests))
		return false;
	if (!pending->tools_reported) {
		fault_say_without(&text, why->message, "the tools that it rejects");
		report_again(pending, &text);
	}
	pending->tools_reported = true;
	return true;
}

static void settle_media(struct reply_request *pending, bool answered)
{
	json_t *refused = media_settle(&pending->model->media, pending->request.contents, answered);
	const char *key;
	json_t *sentence;

	json_object_foreach(refused, key, sentence)
		emit_event(pending, &(struct model_event){ .kind = MODEL_LEFT_OUT, .media = refused,
		                                          .text = json_span(sentence) });
	json_decref(refused);
}

/* After a failed attempt: waits, switches, or gives up with a better sentence. */
static bool prepare_next(struct reply_request *pending, const struct attempt *attempt,
                         struct err *err)
{
	_cleanup_buf_ struct buf sentence = BUF_INIT(sizeof(err->message) + 64);
	unsigned delay_ms = 0;
	enum retry_step step;
	struct err said = *err;

	if (err->code == ERR_CANCELLED)
		return false;
	if (attempt->refused) {
		ask_without(pending, attempt->refused, err);
		return true;
	}
	if (attempt->blame == TOOL_BLAME_POSSIBLE && ask_without_media(pending, err))
		return true;
	if (attempt->blame != TOOL_BLAME_NONE && ask_without_tools(pending, attempt, err))
		return true;
	if (attempt->blame != TOOL_BLAME_POSSIBLE && ask_without_media(pending, err))
		return true;
	said = *err;
	step = stream_retry_after(&pending->retry, attempt, &delay_ms);
	if (step == RETRY_SWITCH) {
		go_to_fallback(pending, attempt, err);
		return true;
	}
	if (step == RETRY_NEVER) {
		if (err->code == ERR_OVERLOADED && attempt->delay_s > RETRY_LONGEST_S)
			said.code = ERR_QUOTA_EXCEEDED;
		if (pending->asked > 1)
			err_set(&said, said.code, "%s (asked %u times)", err->message,
			        pending->asked);
		*err = said;
		name_first_cause(pending->model, err);
		model_advise(&current_endpoint(pending->model)->options, attempt->status, err);
		return false;
	}
	fault_say_retry(&sentence, err->message, delay_ms);
	emit_event(pending, &(struct model_event){ .kind = MODEL_RESTART,
	                                          .text = span_str(err->message),
	                                          .sentence = buf_view(&sentence),
	                                          .delay_ms = delay_ms,
	                                          .attempt = pending->requests + 1 });
	return stream_retry_wait(delay_ms, pending->request.cancel) ||
	       err_set(err, ERR_CANCELLED, "The request was cancelled.");
}

/* ---- the prompt, traced ---------------------------------------------------------------------- */

/* Longest text of a call, a result or other part that is not the prompt's own words. */
enum { TRACED_BYTES = 2000 };

static void trace_line(const struct model_options *options, const char *before, struct span line)
{
	_cleanup_free_ char *text = mem_printf("%s%.*s", before, (int)line.len,
	                                       line.data ? line.data : "");

	options->trace(options->trace_data, text);
}

static void trace_text(const struct model_options *options, struct span text)
{
	while (text.len) {
		const char *end = memchr(text.data, '\n', text.len);
		const size_t len = end ? (size_t)(end - text.data) : text.len;

		trace_line(options, "  | ", span_head(text, len));
		text = span_skip(text, len + (end != NULL));
	}
}

static void trace_part(const struct model_options *options, const json_t *part)
{
	const json_t *text = json_object_get(part, "text");
	_cleanup_free_ char *json = NULL;
	size_t len;

	if (text) {
		trace_text(options, json_span(text));
		return;
	}
	json = json_dumps(part, JSON_COMPACT);
	len = json ? strlen(json) : 0;
	trace_line(options, "  | ", utf8_head(span_of(json, len), TRACED_BYTES));
	if (len > TRACED_BYTES) {
		_cleanup_free_ char *rest = mem_printf("... %zu more bytes", len - TRACED_BYTES);

		trace_text(options, span_str(rest));
	}
}

/* What of the request the trace has not had yet: all of it, if it was made shorter. */
static void trace_request(struct model *model, const struct model_request *request)
{
	const struct model_options *options = &model->endpoints[0].options;
	const size_t count = json_array_size(request->contents);
	const json_t *part;
	size_t i;

	if (!options->trace)
		return;
	if (count < model->traced)
		model->traced = 0;
	if (model->traced_system != request->system.len) {
		trace_line(options, "system:", SPAN(""));
		trace_text(options, request->system);
	}
	model->traced_system = request->system.len;
	for (; model->traced < count; model->traced++) {
		const json_t *message = json_array_get(request->contents, model->traced);
		const char *role = json_string_value(json_object_get(message, "role"));

		trace_line(options, role ? role : "user", SPAN(":"));
		json_array_foreach(json_object_get(message, "parts"), i, part)
			trace_part(options, part);
	}
}

/* ---- streams ------------------------------------------------------------------------------ */

static bool has_key(const struct model *model, struct err *err)
{
	const char *why = current_endpoint(model)->options.no_key;

	return !why || err_set(err, ERR_AUTHENTICATION_FAILED, "%s", why);
}

bool model_stream(struct model *model, const struct model_request *request,
                  void (*event)(void *data, const struct model_event *event), void *data,
                  struct model_reply *ret, struct err *err)
{
	struct reply_request pending =
		{ .model = model, .request = *request, .event = event, .data = data };
	struct attempt attempt;
	struct err failed = ERR_INIT;
	bool ok, goes_on = true;

	if (!has_key(model, err))
		return false;
	pending.contents = answerable(request->contents);
	trace_request(model, request);
	pending.request.contents = json_incref(pending.contents);
	return_to_rested(&pending);
	stream_retry_init(&pending.retry, &current_endpoint(model)->options,
	                  model->current + 1 < model->count);
	do {
		ok = attempt_once(&pending, &attempt, ret, &failed);
		goes_on = ok ? goes_on_after_pause(&pending, ret) :
		               prepare_next(&pending, &attempt, &failed);
	} while (goes_on);
	settle_media(&pending, ok);
	if (ok)
		finish_paused(&pending, ret);
	model_reply_release(&pending.paused);
	json_decref((json_t *)pending.request.contents);
	json_decref(pending.contents);
	if (ok)
		recording_add(model->endpoints[0].options.recording, ret);
	else
		*err = failed;
	return ok;
}

enum model_loading model_loads(const struct model *model)
{
	enum model_loading most = MODEL_LOADS_NOTHING;

	for (size_t i = 0; i < model->count; i++) {
		const enum model_loading one = endpoint_loading(&model->endpoints[i]);

		most = one > most ? one : most;
	}
	return most;
}

