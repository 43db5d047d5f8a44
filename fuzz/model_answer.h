/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a provider's answer: it is read, or refused with a sentence; what was read is a
 * reply that the same provider's builder can send back, and the same reply in whatever pieces it
 * comes.  Calls are only in replies that are whole or cut.
 *
 * The first byte says what the rest is: 'e' the body of an error, anything else a stream of events,
 * cut into pieces of so many bytes. */
#ifndef HASP_FUZZ_MODEL_ANSWER_H
#define HASP_FUZZ_MODEL_ANSWER_H

#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/provider.h"
#include "model/sink.h"
#include "model/stream.h"
#include "model/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct answer_reading {
	const struct provider_format *format;
	void *reader;
	enum wire_trouble trouble;
};

static bool answer_event(void *data, const struct sse_event *event, struct err *err)
{
	struct answer_reading *reading = data;

	return reading->format->reader->event(reading->reader, event, &reading->trouble, err);
}

static void answer_error(const struct provider_format *format, struct span text)
{
	struct err err = ERR_INIT;
	double delay = -1;
	json_t *value = fault_body(text);
	int status = 400;

	if (text.len >= 3)
		status = 400 + (unsigned char)text.data[0] % 200;
	format->error(status, value, &delay, &err);
	json_decref(value);
	if (err.code == ERR_NONE || !err.message[0] || delay != delay)
		abort();
}

/* The reply in a conversation goes back as JSON. */
static void answer_back(const struct provider_format *format, json_t *content)
{
	struct model_options options = { .provider = format->name, .name = "m",
	                                 .base_url = "http://localhost/v1" };
	json_t *contents = json_pack("[{s:s, s:[{s:s}]}, O]", "role", "user", "parts", "text", "x",
	                             content);
	json_t *repaired = content_repair(contents), *body;
	struct model_request request = { .contents = repaired, .temperature = -1, .top_p = -1 };
	struct wire_request wire = { .url = BUF_INIT(LIMIT_URI_BYTES),
	                             .body = BUF_INIT(LIMIT_MODEL_REQUEST_BYTES) };
	struct err err = ERR_INIT;

	if (!format->build(&options, &request, &wire, &err) ||
	    !json_parse(buf_view(&wire.body), &body, &err))
		abort();
	json_decref(body);
	wire_request_release(&wire);
	json_decref(repaired);
	json_decref(contents);
}

static void answer_check(const struct provider_format *format, struct reply_sink *sink)
{
	const json_t *part;
	size_t i;

	if (!sink->finished)
		abort();
	sink_close(sink);
	if (content_call_count(sink->content) &&
	    (sink->finish == MODEL_FINISH_SAFETY || sink->finish == MODEL_FINISH_OTHER))
		abort();
	json_array_foreach(json_object_get(sink->content, "parts"), i, part) {
		const json_t *call = json_object_get(part, "functionCall");

		if (!json_is_object(part) ||
		    (call && (!json_is_string(json_object_get(call, "id")) ||
		              !json_is_string(json_object_get(call, "name")) ||
		              !json_is_object(json_object_get(call, "args")))))
			abort();
	}
	answer_back(format, sink->content);
}

/* The parts as text, without ids that are given by chance; NULL: it is refused. */
static char *answer_read(const struct provider_format *format, struct span text, size_t piece)
{
	struct answer_reading reading = { .format = format, .trouble = WIRE_BROKEN };
	struct err err = ERR_INIT;
	struct sse_reader sse;
	struct reply_sink sink;
	char *parts = NULL;
	json_auto_t *tools = json_pack("[{s:s}, {s:s}]", "name", "f", "name", "read_file");
	json_t *part;
	bool ok = true;
	size_t i;

	sink_init(&sink, NULL, NULL);
	sink.tools = tools;
	reading.reader = format->reader->make(&sink);
	sse_reader_init(&sse, LIMIT_MESSAGE_BYTES, answer_event, &reading);
	for (; ok && text.len; text = span_skip(text, piece))
		ok = sse_reader_feed(&sse, span_head(text, piece), &err);
	ok = ok && sse_reader_end(&sse, &err) &&
	     format->reader->end(reading.reader, &reading.trouble, &err);
	sse_reader_release(&sse);
	format->reader->free(reading.reader);
	if (ok)
		answer_check(format, &sink);
	else if (err.code == ERR_NONE || !err.message[0])
		abort();
	json_array_foreach(json_object_get(sink.content, "parts"), i, part)
		json_object_del(json_object_get(part, "functionCall"), "id");
	if (ok)
		parts = json_dumps(sink.content, JSON_SORT_KEYS);
	sink_release(&sink);
	return parts;
}

static int answer_fuzz(const struct provider_format *format, const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	char *pieces, *whole;

	if (!size)
		return 0;
	text = span_skip(text, 1);
	if (data[0] == 'e') {
		answer_error(format, text);
		return 0;
	}
	pieces = answer_read(format, text, (size_t)data[0] + 1);
	whole = answer_read(format, text, size);
	if (!pieces != !whole || (pieces && strcmp(pieces, whole) != 0))
		abort();
	free(pieces);
	free(whole);
	return 0;
}

#endif
