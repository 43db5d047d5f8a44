/* SPDX-License-Identifier: Apache-2.0 */
/* An answer of Gemini, as bytes of its stream: whatever it is, the reply is one that can be recorded,
 * sent back and sent again, and an error is a sentence on one line. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/json.h"
#include "model/fault.h"
#include "model/gemini/gemini.h"
#include "model/sink.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool on_event(void *data, const struct sse_event *event, struct err *err)
{
	enum wire_trouble trouble = WIRE_BROKEN;

	return gemini_reader.event(data, event, &trouble, err);
}

static void check_error(const struct err *err)
{
	for (const char *c = err->message; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7F)
			abort();
}

/* The reply is answered and goes into the next request. */
static void send_again(const struct reply_sink *sink, const char *name)
{
	json_t *history = json_pack("[o, O]", content_user_text(SPAN("Hello")), sink->content);
	json_t *repaired = content_repair(history);
	const struct model_options options = { .provider = "gemini", .name = name,
	                                       .base_url = "http://localhost" };
	const struct model_request request = { .contents = repaired, .temperature = -1,
	                                       .top_p = -1 };
	struct wire_request wire = { .url = BUF_INIT(LIMIT_URI_BYTES),
	                             .body = BUF_INIT(LIMIT_MESSAGE_BYTES) };
	struct err err = ERR_INIT;
	json_t *body;

	if (!format_gemini.build(&options, &request, &wire, &err))
		check_error(&err);
	else if (!json_parse(buf_view(&wire.body), &body, &err))
		abort();
	else
		json_decref(body);
	for (size_t i = 0; i < wire.header_count; i++)
		free(wire.headers[i]);
	free(wire.headers);
	buf_release(&wire.url);
	buf_release(&wire.body);
	json_decref(repaired);
	json_decref(history);
}

static void read_stream(struct span text)
{
	enum wire_trouble trouble = WIRE_BROKEN;
	struct reply_sink sink;
	struct sse_reader reader;
	struct err err = ERR_INIT;
	void *gemini;

	sink_init(&sink, NULL, NULL);
	gemini = gemini_reader.make(&sink);
	sse_reader_init(&reader, LIMIT_MESSAGE_BYTES, on_event, gemini);
	if (!sse_reader_feed(&reader, text, &err) || !gemini_reader.end(gemini, &trouble, &err))
		check_error(&err);
	sink_close(&sink);
	if (content_call_count(sink.content) &&
	    (!sink.finished || sink.finish == MODEL_FINISH_SAFETY ||
	     sink.finish == MODEL_FINISH_OTHER))
		abort();
	send_again(&sink, "gemini-3-pro");
	send_again(&sink, "gemini-2.5-pro");
	sse_reader_release(&reader);
	gemini_reader.free(gemini);
	sink_release(&sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span text = span_of((const char *)data, size);
	struct err err = ERR_INIT;
	double delay_s = -1;
	json_t *value;

	read_stream(text);
	value = fault_body(text);
	gemini_error(429, value, &delay_s, &err);
	json_decref(value);
	if (delay_s < 0 && delay_s != -1)
		abort();
	check_error(&err);
	return 0;
}
