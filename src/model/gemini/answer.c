/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini's answers: google.rpc.Status as an error, and the chunks of streamGenerateContent. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "model/arguments.h"
#include "model/fault.h"
#include "model/gemini/gemini.h"
#include "model/part.h"
#include "model/sink.h"
#include "model/wire.h"

/* ---- errors ------------------------------------------------------------------ */

/* google.rpc.Status as an error.  Source: https://cloud.google.com/apis/design/errors, and for
 * quotas https://ai.google.dev/gemini-api/docs/rate-limits. */

/* A limit by the minute is renewed after at most one. */
enum { MINUTE_S = 60 };

/* What the details of an error say. */
struct details {
	double retry_s;       /* below 0: nothing */
	bool per_day, per_minute;
	struct span reason;   /* of ErrorInfo; may be empty */
};

static bool detail_has_type(const json_t *detail, const char *type)
{
	return span_ends(json_span(json_object_get(detail, "@type")), span_str(type));
}

/* "34.074824224s", "900ms". */
static double duration(const json_t *value)
{
	const char *text = json_string_value(value);
	double seconds;
	char *end;

	if (!text)
		return -1;
	seconds = strtod(text, &end);
	if (end == text || !isfinite(seconds) || seconds < 0)
		return -1;
	return strcmp(end, "ms") == 0 ? seconds / 1000 : strcmp(end, "s") == 0 ? seconds : -1;
}

static void read_violations(const json_t *list, struct details *ret)
{
	const json_t *violation;
	size_t i;

	json_array_foreach(list, i, violation) {
		const char *id = json_string_value(json_object_get(violation, "quotaId"));

		ret->per_day |= id && (strstr(id, "PerDay") || strstr(id, "Daily"));
		ret->per_minute |= id && strstr(id, "PerMinute");
	}
}

static struct details read_error_details(const json_t *error)
{
	struct details ret = { .retry_s = -1 };
	const json_t *detail;
	size_t i;

	json_array_foreach(json_object_get(error, "details"), i, detail) {
		if (detail_has_type(detail, "google.rpc.RetryInfo"))
			ret.retry_s = duration(json_object_get(detail, "retryDelay"));
		else if (detail_has_type(detail, "google.rpc.QuotaFailure"))
			read_violations(json_object_get(detail, "violations"), &ret);
		else if (detail_has_type(detail, "google.rpc.ErrorInfo"))
			ret.reason = json_span(json_object_get(detail, "reason"));
	}
	return ret;
}

/* "Please retry in 34.07s": where no RetryInfo is. */
static double delay_in_words(struct span message)
{
	static const char words[] = "Please retry in ";
	const char *at = message.len ? memmem(message.data, message.len, words, sizeof(words) - 1) :
	                               NULL;
	size_t left = at ? message.len - (size_t)(at - message.data) - sizeof(words) + 1 : 0;
	char text[32];
	size_t len = 0;
	json_t *value;
	double delay;

	while (at && len < left && len < sizeof(text) - 1 &&
	       strchr("0123456789.ms", at[sizeof(words) - 1 + len]))
		len++;
	if (!len)
		return -1;
	memcpy(text, at + sizeof(words) - 1, len);
	text[len] = '\0';
	if (text[len - 1] == '.') /* the sentence's own */
		text[len - 1] = '\0';
	value = json_string(text);
	delay = duration(value);
	json_decref(value);
	return delay;
}

/* "limit: 0": what was asked for is not in this account's plan at all. */
static bool has_no_quota(struct span message)
{
	static const char words[] = "limit: 0";
	const char *at = message.len ? memmem(message.data, message.len, words, sizeof(words) - 1) :
	                               NULL;
	struct span rest =
		at ? span_skip(message, (size_t)(at - message.data) + sizeof(words) - 1) :
	                        message;

	if (span_starts(rest, SPAN(".")) && rest.len > 1)
		rest = span_skip(rest, 1);
	return at && (!rest.len || rest.data[0] < '0' || rest.data[0] > '9');
}

/* What the server asks to wait; below 0: nothing. */
static double wanted_delay(int status, const struct details *details, struct span message)
{
	double delay = details->retry_s;

	if (status == 429 && delay < 0)
		delay = delay_in_words(message);
	return status == 429 && delay < 0 && details->per_minute ? MINUTE_S : delay;
}

/* Of a whole answer, or of an event in the middle: `error` is the value of "error". */
static enum wire_trouble gemini_error_of(int status, const json_t *error, double *delay_s,
                                         struct err *err)
{
	struct details details = read_error_details(error);
	struct fault fault = {
		.format = FAULT_GEMINI,
		.status = fault_find_status(FAULT_GEMINI, status, error,
		                            json_span(json_object_get(error, "status"))),
		.words = { details.reason },
		.message = json_span(json_is_string(error) ? error :
		                                             json_object_get(error, "message")),
	};
	enum wire_trouble trouble;

	if (!fault.status)
		fault.status = 500;
	fault.used_up = fault.status == 429 && (details.per_day || has_no_quota(fault.message));
	trouble = fault_set(&fault, err);
	if (fault.status >= 500 || (fault.status == 429 && trouble != WIRE_QUOTA))
		*delay_s = wanted_delay(fault.status, &details, fault.message);
	return trouble;
}

enum wire_trouble gemini_error(int status, const json_t *value, double *delay_s, struct err *err)
{
	return gemini_error_of(status,
	                       json_is_string(value) ? value : json_object_get(value, "error"),
	                       delay_s, err);
}

/* ---- chunks ------------------------------------------------------------------ */

struct gemini_reader {
	struct reply_sink *sink;
	json_t *grounding; /* groundingMetadata with urlContextMetadata in it; owned */
	bool finished;     /* a finishReason came, or a reason for blocking the prompt */
};

static void *gemini_reader_new(struct reply_sink *sink)
{
	struct gemini_reader *reader = mem_alloc(1, sizeof(*reader));

	reader->sink = sink;
	return reader;
}

static void gemini_reader_free(void *data)
{
	struct gemini_reader *reader = data;

	json_decref(reader->grounding);
	free(reader);
}

/* How an answer ends.  `sentence`: it cannot be used, and why. */
static const struct finish_row {
	const char *word;
	enum model_finish finish;
	const char *sentence;
} finishes[] = {
	{ "STOP", MODEL_FINISH_STOP, NULL },
	{ "MAX_TOKENS", MODEL_FINISH_LENGTH, NULL },
	{ "SAFETY", MODEL_FINISH_SAFETY, NULL },
	{ "RECITATION", MODEL_FINISH_SAFETY, NULL },
	{ "LANGUAGE", MODEL_FINISH_SAFETY, NULL },
	{ "BLOCKLIST", MODEL_FINISH_SAFETY, NULL },
	{ "PROHIBITED_CONTENT", MODEL_FINISH_SAFETY, NULL },
	{ "SPII", MODEL_FINISH_SAFETY, NULL },
	{ "IMAGE_SAFETY", MODEL_FINISH_SAFETY, NULL },
	{ "IMAGE_PROHIBITED_CONTENT", MODEL_FINISH_SAFETY, NULL },
	{ "IMAGE_RECITATION", MODEL_FINISH_SAFETY, NULL },
	{ "MODEL_ARMOR", MODEL_FINISH_SAFETY, NULL },
	{ "MALFORMED_FUNCTION_CALL", MODEL_FINISH_OTHER,
	  "The model made a call that cannot be read (MALFORMED_FUNCTION_CALL)." },
	{ "MALFORMED_RESPONSE", MODEL_FINISH_OTHER,
	  "The model's reply cannot be read (MALFORMED_RESPONSE)." },
	{ "UNEXPECTED_TOOL_CALL", MODEL_FINISH_OTHER,
	  "The model called where no tools are enabled (UNEXPECTED_TOOL_CALL)." },
	{ "TOO_MANY_TOOL_CALLS", MODEL_FINISH_OTHER,
	  "The model made too many calls in one reply (TOO_MANY_TOOL_CALLS)." },
	{ "MISSING_THOUGHT_SIGNATURE", MODEL_FINISH_OTHER,
	  "A signature of a thought is missing (MISSING_THOUGHT_SIGNATURE)." },
};

static bool take_finish(struct gemini_reader *reader, const json_t *reason, struct err *err)
{
	const char *word = json_is_string(reason) ? json_string_value(reason) : "no word";

	if (!reason || json_is_null(reason) || strcmp(word, "FINISH_REASON_UNSPECIFIED") == 0)
		return true;
	reader->finished = true;
	for (size_t i = 0; i < ARRAY_LEN(finishes); i++) {
		if (strcmp(finishes[i].word, word) != 0)
			continue;
		sink_finish(reader->sink, finishes[i].finish, word);
		return !finishes[i].sentence ||
		       err_set(err, ERR_MODEL_ERROR, "%s", finishes[i].sentence);
	}
	sink_finish(reader->sink, MODEL_FINISH_OTHER, word);
	return true;
}

static bool take_call(struct gemini_reader *reader, const json_t *part, struct err *err)
{
	const json_t *call = json_object_get(part, "functionCall");
	const json_t *signature = json_object_get(part, "thoughtSignature");
	const json_t *args = json_object_get(call, "args");
	struct span name = json_span(json_object_get(call, "name"));
	json_t *kept;

	if (!name.len || memchr(name.data, 0, name.len))
		return err_set(err, ERR_MODEL_ERROR, "The model made a call without a name.");
	if (json_is_true(json_object_get(call, "willContinue")) ||
	    json_object_get(call, "partialArgs"))
		return err_set(err, ERR_MODEL_ERROR,
		               "The model's call came in pieces, which was not asked for.");
	kept = arguments_part_of(reader->sink, NULL, name.data, args);
	if (json_span(json_object_get(call, "id")).len)
		json_object_set(json_object_get(kept, "functionCall"), "id",
		                json_object_get(call, "id"));
	if (json_is_string(signature))
		json_object_set(kept, "thoughtSignature", (json_t *)signature);
	sink_call(reader->sink, kept);
	return true;
}

static void take_text_part(struct gemini_reader *reader, const json_t *part, struct span text)
{
	json_t *signature = json_object_get(part, "thoughtSignature");

	/* Parts with a signature must be sent back unchanged: never joined with their
	 * neighbours. */
	if (json_is_string(signature))
		sink_break(reader->sink);
	if (part_is_thought(part))
		sink_thought(reader->sink, text, NULL);
	else
		sink_text(reader->sink, text, NULL);
	if (json_is_string(signature))
		sink_sign(reader->sink, "thoughtSignature", json_incref(signature));
}

static bool take_any_part(struct gemini_reader *reader, const json_t *part, struct err *err)
{
	static const char *const others[] = { "inlineData", "fileData", "executableCode",
	                                      "codeExecutionResult" };
	json_t *text = json_object_get(part, "text");

	if (json_object_get(part, "functionCall"))
		return take_call(reader, part, err);
	if (json_is_string(text)) {
		take_text_part(reader, part, json_span(text));
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (json_object_get(part, others[i])) {
			sink_part(reader->sink, json_incref((json_t *)part));
			return true;
		}
	return true; /* kinds of parts that are not known say nothing to anybody here */
}

static void take_grounding(struct gemini_reader *reader, const json_t *candidate)
{
	json_t *search = json_object_get(candidate, "groundingMetadata");
	json_t *urls = json_object_get(candidate, "urlContextMetadata");

	if (!reader->grounding && (search || urls))
		reader->grounding = json_object();
	if (json_is_object(search))
		json_object_update(reader->grounding, search);
	if (json_is_object(urls))
		json_object_set(reader->grounding, "urlContextMetadata", urls);
}

static void take_usage(struct gemini_reader *reader, const json_t *usage)
{
	if (!json_is_object(usage))
		return;
	sink_usage(reader->sink, &(struct model_usage){
		.input = wire_count(usage, "promptTokenCount"),
		.cached = wire_count(usage, "cachedContentTokenCount"),
		.output = wire_count(usage, "candidatesTokenCount"),
		.thoughts = wire_count(usage, "thoughtsTokenCount"),
		.tool = wire_count(usage, "toolUsePromptTokenCount"),
		.total = wire_count(usage, "totalTokenCount"),
	});
}

static bool take_chunk(struct gemini_reader *reader, const json_t *chunk,
                       enum wire_trouble *trouble, struct err *err)
{
	const json_t *candidate = json_array_get(json_object_get(chunk, "candidates"), 0);
	const json_t *blocked = json_object_get(json_object_get(chunk, "promptFeedback"),
	                                        "blockReason");
	const json_t *error = json_object_get(chunk, "error"), *part;
	size_t i;

	if (error) {
		*trouble = gemini_error_of(0, error, &reader->sink->delay_s, err);
		return false;
	}
	take_usage(reader, json_object_get(chunk, "usageMetadata"));
	if (blocked && !json_is_null(blocked)) {
		reader->finished = true;
		sink_finish(reader->sink, MODEL_FINISH_SAFETY, json_string_value(blocked));
	}
	json_array_foreach(json_object_get(json_object_get(candidate, "content"), "parts"), i, part)
		if (!take_any_part(reader, part, err))
			return false;
	take_grounding(reader, candidate);
	return take_finish(reader, json_object_get(candidate, "finishReason"), err);
}

static bool gemini_reader_event(void *data, const struct sse_event *event,
                                enum wire_trouble *trouble,
                         struct err *err)
{
	struct gemini_reader *reader = data;
	json_t *chunk;
	bool ok;

	if (!wire_event(reader->sink, event, &chunk, trouble, err))
		return false;
	ok = !chunk || take_chunk(reader, chunk, trouble, err);
	json_decref(chunk);
	return ok;
}

static bool gemini_reader_end(void *data, enum wire_trouble *trouble, struct err *err)
{
	struct gemini_reader *reader = data;

	(void)trouble;
	if (reader->grounding)
		sink_grounding(reader->sink, mem_steal(&reader->grounding));
	return reader->finished ||
	       err_set(err, ERR_MODEL_ERROR,
	               "The stream ended before the reply did (no finishReason).");
}

const struct provider_reader gemini_reader = {
	.make = gemini_reader_new,
	.event = gemini_reader_event,
	.end = gemini_reader_end,
	.free = gemini_reader_free,
};
