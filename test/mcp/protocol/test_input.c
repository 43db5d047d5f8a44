/* SPDX-License-Identifier: Apache-2.0 */
/* Input that no client should send: answered, or ignored, and nothing else happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "offer_fixture.h"
#include "phrases.h"
#include "wire_fixture.h"

#define PING(id) REQUEST(id, "ping", "{}")

/* The peer still works. */
static void still_there(struct wire *wire)
{
	wire_say(wire, PING("\"still\""));
	wire_expect(wire, RESULT("\"still\"", "{}"));
}

static void what_is_no_message_is_answered_with_an_error(void **state)
{
	static const struct {
		const char *said, *answer; /* NULL: nothing */
	} cases[] = {
		{ "x", ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"", ERROR("null", "-32700") },
		{ "\xff\xfe", ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\",\"method\":\"ping\"}",
		  ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"\\udc00\",\"method\":\"ping\"}",
		  ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"ping\"}",
		  ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"ping\"}",
		  ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,\"method\":\"ping\"}",
		  ERROR("null", "-32700") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"ping\"}",
		  ERROR("null", "-32600") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", ERROR("null", "-32600") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":{}}", ERROR("7", "-32600") },
		{ "{\"jsonrpc\":\"3.0\",\"id\":7,\"method\":\"ping\"}", ERROR("7", "-32600") },
		{ "true", ERROR("null", "-32600") },
		{ "{}", ERROR("null", "-32600") },
		{ "[[],[[]]]", "[" ERROR("null", "-32600") "," ERROR("null", "-32600") "]" },
		/* Ids are kept as they are, and 1 is not "1". */
		{ PING("\"\\u0000\""), RESULT("\"\\u0000\"", "{}") },
		{ PING("9223372036854775807"), RESULT("9223372036854775807", "{}") },
		{ PING("-1"), RESULT("-1", "{}") },
		{ PING("\"1\""), RESULT("\"1\"", "{}") },
		{ PING("\"\xf0\x9f\x98\x80\""), RESULT("\"\xf0\x9f\x98\x80\"", "{}") },
		/* Methods and names that are nearly right. */
		{ REQUEST("1", "Ping", "{}"), ERROR("1", "-32601") },
		{ REQUEST("1", "", "{}"), ERROR("1", "-32601") },
		{ REQUEST("1", "notifications/initialized", "{}"), ERROR("1", "-32601") },
		{ REQUEST("1", "tools/call\\n", "{\"name\":\"greet\"}"), ERROR("1", "-32601") },
		{ CALL("1", "", "{}"), ERROR("1", "-32602") },
		{ CALL("1", "greet\\\"x", "{}"), ERROR("1", "-32602") },
		/* Notifications of requests, and responses to nothing. */
		{ NOTIFICATION("ping"), NULL },
		{ NOTIFICATION_WITH("tools/call", "{\"name\":\"greet\"}"), NULL },
		{ NOTIFICATION("initialize"), NULL },
		{ NOTIFICATION_WITH("notifications/cancelled", "{\"requestId\":{}}"), NULL },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":5}", NULL },
		{ RESULT("5", "{}"), NULL },
		{ RESULT("null", "{}"), NULL },
		{ ERROR("5", "1"), NULL },
		{ "{\"jsonrpc\":\"2.0\",\"error\":5}", NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{},\"error\":{}}", NULL },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-03-26", "{}");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		wire_say(wire, cases[i].said);
		if (cases[i].answer)
			wire_expect(wire, cases[i].answer);
	}
	wire_expect_nothing(wire);
	assert_int_equal(happened.runs, 0);
	assert_int_equal(mcp_peer_calls(wire->peer), 0);
	still_there(wire);
	wire_close(wire);
}

static void repeat(struct buf *out, const char *text, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_str(out, text);
}

static void huge_and_deep_messages_are_bounded(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-03-26", "{}");
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_RESULT_BYTES);

	(void)state;
	/* Eight million brackets. */
	repeat(&line, "[[[[[[[[", 1 << 20);
	wire_say(wire, line.data);
	wire_expect(wire, ERROR("null", "-32700"));
	buf_clear(&line);
	repeat(&line, "{\"a\":", 1 << 20);
	wire_say(wire, line.data);
	wire_expect(wire, ERROR("null", "-32700"));
	/* A batch of a hundred thousand is one error; of a thousand, a thousand answers. */
	buf_clear(&line);
	buf_char(&line, '[');
	repeat(&line, PING("1") ",", 99999);
	buf_str(&line, PING("1") "]");
	wire_say(wire, line.data);
	wire_expect(wire, ERROR("null", "-32600"));
	buf_clear(&line);
	buf_char(&line, '[');
	repeat(&line, PING("1") ",", LIMIT_RPC_BATCH - 1);
	buf_str(&line, PING("1") "]");
	wire_say(wire, line.data);
	wire_run_until(wire, wire->seen + 1);
	assert_int_equal(strlen(wire->lines[wire->seen].text),
	                 LIMIT_RPC_BATCH * (strlen(RESULT("1", "{}")) + 1) + 1);
	wire->seen++;
	/* A long name in an error is cut, at a whole character. */
	buf_clear(&line);
	buf_str(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
	repeat(&line, "\xe2\x82\xac", 100000);
	buf_str(&line, "\"}");
	wire_say(wire, line.data);
	wire_expect(wire, ERROR("1", "-32601"));
	assert_true(strlen(wire->lines[wire->count - 1].text) < 1000);
	still_there(wire);
	wire_close(wire);
}

static void a_line_that_is_too_long_is_answered_with_its_id_if_that_is_early(void **state)
{
	static const struct {
		const char *beginning, *id;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":12,\"method\":\"tools/call\",\"params\":{\"na",
		  "12" },
		{ "{\"id\":\"a\\nb\",\"x\":\"yyyyyyy", "\"a\\nb\"" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":12", "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"12", "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],", "null" },
		{ "{\"params\":{\"id\":5,\"x\":\"yyyy", "null" },
		{ "[{\"id\":5,", "null" },
		{ "xxxxxxxxxxx", "null" },
		{ "", "null" },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_free_ char *wanted = mem_printf(ERROR("%s", "-32600"), cases[i].id);

		mcp_peer_receive_too_long(wire->peer, span_str(cases[i].beginning));
		wire_expect(wire, wanted);
	}
	still_there(wire);
	wire_close(wire);
}

/* A small generator of numbers that are the same in every run. */
static uint32_t next_number(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

static void damaged_messages_break_nothing(void **state)
{
	static const char *const lines[] = {
		PING("1"),
		CALL("2", "greet", "{\"name\":\"x\"}"),
		CALL("3", "greet_later", "{\"name\":\"x\"}"),
		REQUEST("4", "tools/call", "{" META("{\"roots\":{}}", "") ",\"name\":\"greet\"}"),
		REQUEST("5", "subscriptions/listen",
		        "{" META("{}",
		        "") ",\"notifications\":{\"resourceSubscriptions\":[\"test://a\"]}}"),
		REQUEST("6", "resources/subscribe", "{\"uri\":\"test://a\"}"),
		REQUEST("7", "completion/complete",
		  "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"plain\"},"
		        "\"argument\":{\"name\":\"topic\",\"value\":\"v\"}}"),
		"[" PING("8") "," NOTIFICATION("x") "," CALL("9", "greet", "{}") "]",
		NOTIFICATION_WITH("notifications/cancelled", "{\"requestId\":3}"),
		RESULT("1", "{}"),
	};
	static const char bytes[] = "{}[]\",:\\0x-.etu\xff\xc3 ";
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-03-26", "{}");
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 30000; i++) {
		_cleanup_free_ char *line = mem_strdup(lines[i % (int)ARRAY_LEN(lines)]);
		size_t len = strlen(line);

		for (uint32_t damage = next_number(&seed) % 4; damage; damage--)
			line[next_number(&seed) % len] =
				bytes[next_number(&seed) % (sizeof(bytes) - 1)];
		wire_say(wire, line);
		if (i % 1000 == 0)
			wire_run_ms(wire, 1);
	}
	for (int i = 0; i < 3000 && mcp_peer_calls(wire->peer); i++)
		wire_run_ms(wire, 10);
	assert_int_equal(mcp_peer_calls(wire->peer), 0);
	/* All that was said is JSON. */
	for (size_t i = 0; i < wire->count; i++)
		assert_true(wire_matches(wire->lines[i].text, "\"*\""));
	wire->seen = wire->count;
	still_there(wire);
	wire_close(wire);
	assert_int_equal(happened.subscribed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_message_is_answered_with_an_error),
		cmocka_unit_test(huge_and_deep_messages_are_bounded),
		cmocka_unit_test(a_line_that_is_too_long_is_answered_with_its_id_if_that_is_early),
		cmocka_unit_test(damaged_messages_break_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
