/* SPDX-License-Identifier: Apache-2.0 */
/* The two pure halves of a format, by the cases of cases/NAME.json:
 *
 *   {"provider": NAME,
 *    "requests": [{"name", "options"?, "request", "url"?, "headers"?: [...],
 *                  "without"?: [member...], "body"?: {...} (whole), "has"?: {...} (these members),
 *                  "error"?: CODE}],
 *    "answers":  [{"name", "events": [value | "text"], "parts"?, "finish"?, "word"?,
 *                  "usage"?: {...}, "grounding"?, "withheld"?: words of the sentence, "error"?: CODE, "says"?,
 *                  "trouble"?, "delay"?: seconds, below 0: none}],
 *    "errors":   [{"name", "status", "body": value | "text", "error": CODE, "trouble", "says"?,
 *                  "delay"?, "hides"?}]}
 *
 * Each answer is read twice: as it stands, and cut into pieces of three bytes.
 */
#include <stdio.h>

#include "answers.h"
#include "base/mem.h"

static json_t *cases;
static const struct provider_format *format;

static char *shown(const json_t *value)
{
	struct buf out = BUF_INIT(LIMIT_MESSAGE_BYTES);

	json_print(&out, value, 1);
	return buf_steal(&out);
}

/* Integers and reals of one value are equal. */
static bool same(const json_t *a, const json_t *b)
{
	if (json_is_number(a) && json_is_number(b))
		return json_number_value(a) == json_number_value(b);
	return json_equal(a, b);
}

static void must_equal(const char *name, const char *what, const json_t *got, const json_t *want)
{
	_cleanup_free_ char *got_text = NULL, *want_text = NULL;

	if (same(got, want))
		return;
	got_text = shown(got ? got : json_null());
	want_text = shown(want);
	fail_msg("%s: %s is\n%s\nbut should be\n%s", name, what, got_text, want_text);
}

static void must_have(const char *name, const json_t *got, const json_t *want)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)want, key, value)
		must_equal(name, key, json_object_get(got, key), value);
}

static void must_say(const char *name, const struct err *err, const json_t *test)
{
	const char *says = word(test, "says"), *hides = word(test, "hides");

	if (strcmp(err_name(err->code), word(test, "error")) != 0)
		fail_msg("%s: %s: %s", name, err_name(err->code), err->message);
	if (says && !strstr(err->message, says))
		fail_msg("%s: does not say \"%s\": %s", name, says, err->message);
	if (hides && strstr(err->message, hides))
		fail_msg("%s: says \"%s\": %s", name, hides, err->message);
}

static void must_be_trouble(const char *name, enum wire_trouble trouble, const json_t *test)
{
	static const char *const names[] = { [WIRE_FATAL] = "fatal", [WIRE_TRANSIENT] = "transient",
	                                     [WIRE_QUOTA] = "quota", [WIRE_BROKEN] = "broken",
	                                     [WIRE_UNREADABLE] = "unreadable" };
	const char *want = word(test, "trouble");

	if (want && strcmp(want, names[trouble]) != 0)
		fail_msg("%s: the trouble is %s, not %s", name, names[trouble], want);
}

static void must_ask_for_delay(const char *name, double delay_s, const json_t *test)
{
	const json_t *delay = json_object_get(test, "delay");

	if (delay && json_number_value(delay) != delay_s)
		fail_msg("%s: the delay is %g s", name, delay_s);
}

/* ---- requests -------------------------------------------------------------------------------- */

static int choice(const char *value, const char *const *words, int count)
{
	for (int i = 0; value && i < count; i++)
		if (strcmp(value, words[i]) == 0)
			return i;
	return 0;
}

static double real(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return value ? json_number_value(value) : -1;
}

static struct model_request request_of(const json_t *from)
{
	static const char *const modes[] = { "auto", "any", "none" };
	static const char *const thinking[] = { "default", "off", "low", "medium",
	                                       "high" };

	return (struct model_request){
		.system = json_span(json_object_get(from, "system")),
		.contents = json_object_get(from, "contents"),
		.tools = json_object_get(from, "tools"),
		.tool_mode = (enum model_tool_mode)choice(word(from, "tool_mode"), modes, 3),
		.allowed_tools = json_object_get(from, "allowed_tools"),
		.temperature = real(from, "temperature"),
		.top_p = real(from, "top_p"),
		.top_k = (int)json_integer_value(json_object_get(from, "top_k")),
		.max_output_tokens =
			(unsigned)json_integer_value(json_object_get(from, "max_output_tokens")),
		.thinking = (enum model_thinking)choice(word(from, "thinking"), thinking, 5),
		.thinking_tokens =
			(unsigned)json_integer_value(json_object_get(from, "thinking_tokens")),
		.answer_schema = json_object_get(from, "answer_schema"),
		.server_tools = json_object_get(from, "server_tools"),
		.session_id = word(from, "session_id"),
	};
}

static void check_headers(const char *name, const struct wire_request *wire, const json_t *want)
{
	const json_t *line;
	size_t i, at;

	json_array_foreach(want, i, line) {
		for (at = 0; at < wire->header_count; at++)
			if (strcmp(wire->headers[at], json_string_value(line)) == 0)
				break;
		if (at == wire->header_count)
			fail_msg("%s: there is no header %s", name, json_string_value(line));
	}
}

static void check_body(const char *name, const struct wire_request *wire, const json_t *test)
{
	struct err err = ERR_INIT;
	json_t *body = NULL, *member;
	size_t i;

	if (!json_parse(buf_view(&wire->body), &body, &err))
		fail_msg("%s: %s", name, err.message);
	if (json_object_get(test, "body"))
		must_equal(name, "the body", body, json_object_get(test, "body"));
	must_have(name, body, json_object_get(test, "has"));
	json_array_foreach(json_object_get(test, "without"), i, member)
		if (json_object_get(body, json_string_value(member)))
			fail_msg("%s: there is a member %s", name, json_string_value(member));
	json_decref(body);
}

static void check_request(const json_t *test)
{
	const json_t *options = json_object_get(test, "options");
	const char *base = word(options, "base_url");
	struct model_options opened = {
		.provider = format->name,
		.name = word(options, "name"),
		.base_url = base ? base : format->default_base,
		.api_key = word(options, "api_key"),
		.bearer = json_is_true(json_object_get(options, "bearer")),
		.vertex = json_is_true(json_object_get(options, "vertex")),
	};
	struct wire_request wire = { .url = BUF_INIT(LIMIT_URI_BYTES),
	                             .body = BUF_INIT(LIMIT_MESSAGE_BYTES) };
	struct model_request request = request_of(json_object_get(test, "request"));
	json_t *repaired = content_repair(request.contents);
	const char *name = word(test, "name");
	struct err err = ERR_INIT;
	bool ok;

	request.contents = repaired;
	ok = format->build(&opened, &request, &wire,
	                   &err);
	if (ok != !json_object_get(test, "error"))
		fail_msg("%s: %s", name, ok ? "no error" : err.message);
	if (!ok)
		must_say(name, &err, test);
	if (ok && word(test, "url"))
		assert_string_equal(wire.url.data, word(test, "url"));
	if (ok) {
		check_headers(name, &wire, json_object_get(test, "headers"));
		check_body(name, &wire, test);
	}
	wire_request_release(&wire);
	json_decref(repaired);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* All of a stream, in pieces of so many bytes, and its end. */
static bool feed(struct reading *reading, struct span stream, size_t piece, struct err *err)
{
	struct sse_reader sse;
	bool ok = true;

	sse_reader_init(&sse, LIMIT_MESSAGE_BYTES, on_event, reading);
	while (ok && stream.len) {
		ok = sse_reader_feed(&sse, span_head(stream, piece), err);
		stream = span_skip(stream, piece);
	}
	ok = ok && sse_reader_end(&sse, err) &&
	     reading->format->reader->end(reading->reader, &reading->trouble, err);
	sse_reader_release(&sse);
	return ok;
}

/* Ids that are given by chance are of no interest. */
static json_t *parts_of(const struct model_reply *reply, const json_t *want)
{
	json_t *parts = json_deep_copy(json_object_get(reply->content, "parts")), *part;
	size_t i;

	json_array_foreach(parts, i, part) {
		json_t *call = json_object_get(part, "functionCall");
		const json_t *wanted = json_object_get(json_array_get(want, i), "functionCall");

		if (call && !json_object_get(wanted, "id"))
			json_object_del(call, "id");
	}
	return parts;
}

static json_t *usage_json(const struct model_usage *usage)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "input", (json_int_t)usage->input,
	                 "cached", (json_int_t)usage->cached, "cache_written",
	                 (json_int_t)usage->cache_written, "output", (json_int_t)usage->output,
	                 "thoughts", (json_int_t)usage->thoughts, "total",
	                 (json_int_t)usage->total);
}

static void check_reply(const json_t *test, const struct model_reply *reply)
{
	const char *name = word(test, "name");
	const json_t *want = json_object_get(test, "parts");
	json_t *parts = parts_of(reply, want), *usage = usage_json(&reply->usage);

	must_equal(name, "the content", parts, want);
	must_have(name, usage, json_object_get(test, "usage"));
	if (word(test, "finish") && strcmp(model_finish_name(reply->finish), word(test, "finish")))
		fail_msg("%s: finish is %s", name, model_finish_name(reply->finish));
	if (word(test, "word") && strcmp(reply->finish_text, word(test, "word")) != 0)
		fail_msg("%s: the word is %s", name, reply->finish_text);
	if (word(test, "withheld") &&
	    (!reply->withheld || !strstr(reply->withheld, word(test, "withheld"))))
		fail_msg("%s: withheld is %s", name, reply->withheld ? reply->withheld : "nothing");
	if (json_object_get(test, "grounding"))
		must_equal(name, "the grounding", reply->grounding,
		           json_object_get(test, "grounding"));
	json_decref(parts);
	json_decref(usage);
}

static void read_answer(const json_t *test, struct span stream, size_t piece)
{
	const char *name = word(test, "name");
	struct model_reply reply = { 0 };
	struct err err = ERR_INIT;
	struct reply_sink sink;
	struct reading reading = { .format = format, .trouble = WIRE_BROKEN };
	bool ok;

	sink_init(&sink, NULL, NULL);
	sink.tools = json_object_get(test, "tools");
	reading.reader = format->reader->make(&sink);
	ok = feed(&reading, stream, piece, &err);
	format->reader->free(reading.reader);
	if (ok != !json_object_get(test, "error"))
		fail_msg("%s: %s", name, ok ? "no error" : err.message);
	if (ok) {
		sink_close(&sink);
		sink_take(&sink, &reply);
		check_reply(test, &reply);
		model_reply_release(&reply);
	} else {
		must_say(name, &err, test);
		must_be_trouble(name, reading.trouble, test);
		must_ask_for_delay(name, sink.delay_s, test);
	}
	sink_release(&sink);
}

static void check_answer(const json_t *test)
{
	_cleanup_buf_ struct buf stream = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const json_t *event;
	size_t i;

	json_array_foreach(json_object_get(test, "events"), i, event)
		add_event(&stream, event);
	read_answer(test, buf_view(&stream), stream.len ? stream.len : 1);
	read_answer(test, buf_view(&stream), 3);
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void check_error(const json_t *test)
{
	const json_t *body = json_object_get(test, "body");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	const char *name = word(test, "name");
	struct err err = ERR_INIT;
	enum wire_trouble trouble;
	double delay_s = -1;
	json_t *value;

	if (json_is_string(body))
		buf_span(&text, json_span(body));
	else
		json_print(&text, body, 0);
	value = fault_body(buf_view(&text));
	trouble = format->error((int)json_integer_value(json_object_get(test, "status")), value,
	                        &delay_s, &err);
	json_decref(value);
	must_say(name, &err, test);
	must_be_trouble(name, trouble, test);
	for (const char *c = err.message; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7F)
			fail_msg("%s: there are control characters in the sentence", name);
	assert_true(strlen(err.message) < 700);
	must_ask_for_delay(name, delay_s, test);
}

/* ---- all ------------------------------------------------------------------------------------- */

static void run_section(const char *section, void (*check)(const json_t *test))
{
	const json_t *list = json_object_get(cases, section), *test;
	size_t i;

	assert_true(json_array_size(list) > 0);
	json_array_foreach(list, i, test)
		check(test);
}

static void requests_are_what_the_provider_takes(void **state)
{
	(void)state;
	run_section("requests", check_request);
}

static void answers_are_read(void **state)
{
	(void)state;
	run_section("answers", check_answer);
}

static void errors_are_told_apart(void **state)
{
	(void)state;
	run_section("errors", check_error);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_what_the_provider_takes),
		cmocka_unit_test(answers_are_read),
		cmocka_unit_test(errors_are_told_apart),
	};
	int failed;

	if (argc != 2)
		return 2;
	cases = load(argv[1]);
	format = provider_find(word(cases, "provider"));
	failed = format ? cmocka_run_group_tests(tests, NULL, NULL) : 2;
	json_decref(cases);
	return failed;
}
