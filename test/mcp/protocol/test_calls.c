/* SPDX-License-Identifier: Apache-2.0 */
/* Calls under way: cancelled, asking, reporting, by thousands, and peers that close meanwhile. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "offer_fixture.h"
#include "part.h"
#include "phrases.h"
#include "wire_fixture.h"

#define CANCEL(id) NOTIFICATION_WITH("notifications/cancelled", "{\"requestId\":" id "}")
#define ASK(id, method, more) CALL(id, "ask", "{\"method\":\"" method "\"" more "}")
#define ALL "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}"

static void nap_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

/* Waits until a counter has a value; for what handlers do on their threads. */
static void wait_for(_Atomic int *counter, int value)
{
	for (int i = 0; i < 30000 && *counter != value; i++)
		nap_ms(1);
	assert_int_equal(*counter, value);
}

/* --- Cancelling --------------------------------------------------------------------------- */

static void a_cancelled_call_is_not_answered(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	wire_say(wire, CALL("1", "wait", "{}"));
	wire_say(wire, CALL("\"1\"", "wait", "{}"));
	wait_for(&happened.running, 2);
	assert_int_equal(mcp_peer_calls(wire->peer), 2);
	/* Unknown ids and malformed notifications are ignored. */
	wire_say(wire, CANCEL("2"));
	wire_say(wire, CANCEL("[1]"));
	wire_say(wire, CANCEL("null"));
	wire_say(wire, NOTIFICATION("notifications/cancelled"));
	assert_int_equal(mcp_peer_calls(wire->peer), 2);
	wire_say(wire, CANCEL("1"));
	assert_int_equal(mcp_peer_calls(wire->peer), 1);
	wait_for(&happened.running, 1);
	wire_say(wire, CANCEL("1"));
	wire_say(wire, CANCEL("\"1\""));
	wait_for(&happened.running, 0);
	wire_expect_nothing(wire);
	/* The id can be used again. */
	wire_say(wire, CALL("1", "greet", "{}"));
	wire_expect(wire, TEXT("1", "Hello "));
	wire_close(wire);
	assert_int_equal(happened.outlived, 0);
}

static void an_id_that_is_under_way_is_refused(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	wire_say(wire, CALL("1", "pause", "{\"ms\":100}"));
	wire_say(wire, CALL("1", "greet", "{}"));
	wire_expect(wire, ERROR("1", "-32600"));
	wire_say(wire, REQUEST("1", "ping", "{}"));
	wire_expect(wire, ERROR("1", "-32600"));
	wire_expect(wire, TEXT("1", "paused"));
	wire_say(wire, CALL("1", "greet", "{}"));
	wire_expect(wire, TEXT("1", "Hello "));
	wire_close(wire);
}

static void ids_may_be_long(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	char id[LIMIT_RPC_ID_BYTES + 1] = { 0 };
	_cleanup_free_ char *call = NULL, *cancel = NULL, *answer = NULL;

	(void)state;
	for (size_t i = 0; i < LIMIT_RPC_ID_BYTES; i += 2)
		memcpy(id + i, "\\n", 2);
	call = mem_printf(CALL("\"%s\"", "pause", "{\"ms\":20}"), id);
	cancel = mem_printf(CANCEL("\"%s\""), id);
	answer = mem_printf(TEXT("\"%s\"", "paused"), id);
	wire_say(wire, call);
	wire_expect(wire, answer);
	wire_say(wire, call);
	wire_say(wire, cancel);
	wire_expect_nothing(wire);
	wire_close(wire);
}

/* As the HTTP transport does: a message that it has parsed itself. */
static void a_parsed_message_is_taken_over(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	struct mcp_peer *peer = wire->peer;
	struct rpc_message message;
	struct rpc_problem problem;

	(void)state;
	assert_true(rpc_parse(SPAN(REQUEST("1", "ping", "{}")), &message, &problem));
	mcp_peer_receive(wire->peer, NULL, &message);
	wire_expect(wire, RESULT("1", "{}"));
	/* A peer whose server is gone takes it over too, and does nothing. */
	mcp_server_free(wire->server);
	wire->server = NULL;
	assert_true(rpc_parse(SPAN(REQUEST("2", "ping", "{}")), &message, &problem));
	mcp_peer_receive(peer, NULL, &message);
	mcp_peer_receive_too_long(peer, SPAN("{"));
	assert_false(mcp_peer_ask(peer, "ping", NULL, NULL, NULL));
	wire_expect_nothing(wire);
	wire_close(wire);
}

static void an_exchange_ends_when_its_request_is_taken_back(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-03-26", "{}");
	struct mcp_exchange one = { 0 }, two = { 0 }, batch = { 0 };

	(void)state;
	wire_say_on(wire, &one, CALL("1", "wait", "{}"));
	wire_say_on(wire, &two, CALL("2", "wait", "{}"));
	wait_for(&happened.running, 2);
	wire_say(wire, CANCEL("1"));
	assert_int_equal(one.finals, 1);
	assert_int_equal(two.finals, 0);
	assert_int_equal(wire->lines[wire->count - 1].route, MCP_ROUTE_FINAL);
	assert_string_equal(wire->lines[wire->count - 1].text, "");
	/* Given up by the transport: nothing more on it. */
	mcp_peer_abandon(wire->peer, &two);
	wait_for(&happened.running, 0);
	assert_int_equal(mcp_peer_calls(wire->peer), 0);
	/* A batch is answered without the request that was taken back, or not at all. */
	wire_say_on(wire, &batch, "[" CALL("3", "wait", "{}") "," REQUEST("4", "ping", "{}") "]");
	assert_int_equal(batch.finals, 0);
	wire->seen = wire->count;
	wire_say(wire, CANCEL("3"));
	wire_expect(wire, "[" RESULT("4", "{}") "]");
	wire_say_on(wire, &batch, "[" CALL("5", "wait", "{}") "]");
	wire_say(wire, CANCEL("5"));
	assert_int_equal(batch.finals, 2);
	assert_string_equal(wire->lines[wire->count - 1].text, "");
	wire->seen = wire->count;
	wire_say_on(wire, &batch, "[" CALL("6", "wait", "{}") "," CALL("7", "wait", "{}") "]");
	mcp_peer_abandon(wire->peer, &batch);
	wire_expect_nothing(wire);
	assert_int_equal(two.finals, 0);
	assert_int_equal(batch.finals, 2);
	wire_close(wire);
}

static void a_stream_can_be_closed_before_its_answer(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	struct mcp_exchange exchange = { 0 }, other = { 0 };

	(void)state;
	wire_say_on(wire, &exchange, CALL("1", "reconnect", "{}"));
	wire_expect(wire, TEXT("1", "resumed"));
	assert_int_equal(exchange.closed, 1);
	assert_int_equal(exchange.finals, 1);
	wire_say_on(wire, &other,
	  REQUEST("2", "tools/call", "{" META("{}", "") ",\"name\":\"reconnect\"}"));
	wire_expect(wire, RESULT("2", "\"*\""));
	assert_int_equal(other.closed, 0);
	wire_close(wire);
}

/* --- Reports ------------------------------------------------------------------------------ */

static void progress_grows_and_its_last_is_always_sent(void **state)
{
	static const struct {
		const char *version, *token;
		bool message;
	} cases[] = {
		{ "2024-11-05", "5", false },
		{ "2025-03-26", "\"t\"", true },
		{ "2025-11-25", "0", true },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wire *wire = wire_open_version(&offer, cases[i].version, "{}");
		_cleanup_free_ char *line = mem_printf(
			REQUEST("1", "tools/call",
			  "{\"name\":\"progress\",\"_meta\":{\"progressToken\":%s}}"),
			cases[i].token);
		_cleanup_free_ char *first = mem_printf(
			NOTIFICATION_WITH("notifications/progress",
			  "{\"progressToken\":%s,\"progress\":0}"),
			cases[i].token);
		_cleanup_free_ char *last = mem_printf(
			NOTIFICATION_WITH("notifications/progress",
		                          "{\"progressToken\":%s,\"progress\":1000,\"total\":"
		                          "1000%s}"),
			cases[i].token, cases[i].message ? ",\"message\":\"working\"" : "");
		size_t count;

		wire_say(wire, line);
		do
			wire_run_until(wire, wire->count + 1);
		while (wire->lines[wire->count - 1].route != MCP_ROUTE_FINAL);
		count = wire->count - wire->seen;
		/* A thousand reports, at most one in 50 ms: a few, on a slow machine more. */
		assert_in_range(count, 3, 500);
		assert_true(wire_matches(wire->lines[wire->seen].text, first));
		assert_true(wire_matches(wire->lines[wire->count - 2].text, last));
		assert_true(wire_matches(wire->lines[wire->count - 1].text, TEXT("1", "done")));
		assert_int_equal(wire->lines[wire->seen].route, MCP_ROUTE_RELATED);
		wire->seen = wire->count;
		wire_say(wire, CALL("2", "progress", "{}"));
		wire_expect(wire, TEXT("2", "done"));
		wire_close(wire);
	}
}

static void log_messages_have_the_level_that_was_set(void **state)
{
#define SAID(level, data) \
	NOTIFICATION_WITH("notifications/message", "{\"level\":\"" level "\",\"logger\":\"talk\"," \
	                  "\"data\":" data "}") "\n"
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-06-18", "{}");

	(void)state;
	wire_say(wire, CALL("1", "talk", "{}"));
	wire_expect(wire,
	  SAID("info", "\"middle\"") SAID("error", "{\"high\":1}") TEXT("1", "said"));
	wire_say(wire, REQUEST("2", "logging/setLevel", "{\"level\":\"emergency\"}"));
	wire_expect(wire, RESULT("2", "{}"));
	wire_say(wire, CALL("3", "talk", "{}"));
	wire_expect(wire, TEXT("3", "said"));
	wire_say(wire, REQUEST("4", "logging/setLevel", "{\"level\":\"debug\"}"));
	wire_expect(wire, RESULT("4", "{}"));
	wire_say(wire, CALL("5", "talk", "{}"));
	wire_expect(wire, NOTIFICATION_WITH("notifications/message", "{\"level\":\"debug\","
	                                    "\"data\":\"low\"}") "\n"
	            SAID("info", "\"middle\"") SAID("error", "{\"high\":1}") TEXT("5", "said"));
	wire_close(wire);
}

static void a_quick_tool_reports_at_once(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	struct mcp_exchange exchange = { 0 };

	(void)state;
	wire_say_on(wire, &exchange, REQUEST("1", "tools/call", "{\"name\":\"report_quickly\","
	            "\"_meta\":{\"progressToken\":1}}"));
	wire_expect(wire, NOTIFICATION_WITH("notifications/progress",
	            "{\"progressToken\":1,\"progress\":0.25,\"total\":0.5}") "\n"
	            NOTIFICATION_WITH("notifications/message",
	            "{\"level\":\"error\",\"data\":null}")
	            "\n" NOTIFICATION_WITH("notifications/progress",
	            "{\"progressToken\":1,\"progress\":0.5,\"total\":0.5}") "\n" RESULT("1", "{}"));
	assert_int_equal(exchange.closed, 1);
	assert_int_equal(wire->lines[wire->count - 2].route, MCP_ROUTE_RELATED);
	assert_ptr_equal(wire->lines[wire->count - 2].exchange, &exchange);
	wire_close(wire);
}

/* --- Held -------------------------------------------------------------------------------- */

static void a_call_that_is_held_goes_on_later(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	happened.pool = wire->pool;
	wire_say(wire, CALL("1", "hold", "{}"));
	wire_expect(wire, TEXT("1", "held"));
	wire_say(wire, CALL("2", "hold", "{\"ms\":30}"));
	assert_int_equal(mcp_peer_calls(wire->peer), 1);
	wire_say(wire, CALL("3", "greet", "{}"));
	wire_expect(wire, TEXT("3", "Hello "));
	wire_expect(wire, TEXT("2", "held"));
	/* Taken back meanwhile; its client gone meanwhile; the server's end meanwhile. */
	wire_say(wire, CALL("4", "hold", "{\"ms\":20}"));
	wire_say(wire, CANCEL("4"));
	wait_for(&happened.running, 0);
	wire_expect_nothing(wire);
	wire_say(wire, CALL("5", "hold", "{\"ms\":20}"));
	mcp_peer_close(wire->peer);
	wire->peer = NULL;
	assert_int_equal(happened.ended, 0);
	mcp_server_free(wire->server);
	wire->server = NULL;
	assert_int_equal(happened.running, 0);
	assert_int_equal(happened.ended, 1);
	wire_close(wire);
}

/* --- Questions ---------------------------------------------------------------------------- */

#define ELICIT(id) \
	REQUEST(id, "elicitation/create", "{}")

static void questions_are_answered_by_id(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-06-18", ALL);
	struct mcp_exchange exchange = { 0 };

	(void)state;
	wire_say_on(wire, &exchange, ASK("1", "elicitation/create", ""));
	wire_expect(wire, ELICIT("1"));
	assert_int_equal(wire->lines[wire->count - 1].route, MCP_ROUTE_RELATED);
	assert_ptr_equal(wire->lines[wire->count - 1].exchange, &exchange);
	/* Answers to nothing. */
	wire_say(wire, RESULT("2", "{}"));
	wire_say(wire, RESULT("\"1\"", "{}"));
	wire_say(wire, ERROR("null", "1"));
	wire_expect_nothing(wire);
	wire_say(wire, RESULT("1", "{\"action\":\"accept\"}"));
	wire_expect(wire,
	  RESULT("1", "{\"content\":[],\"structuredContent\":{\"action\":\"accept\"}}"));
	wire_say(wire, RESULT("1", "{\"action\":\"twice\"}"));
	wire_say(wire, ASK("2", "sampling/createMessage", ",\"params\":{\"maxTokens\":5}"));
	wire_expect(wire, REQUEST("2", "sampling/createMessage", "{\"maxTokens\":5}"));
	wire_say(wire, ERROR("2", "-1"));
	wire_expect(wire, TEXT("2", "refused"));
	wire_say(wire, ASK("3", "roots/list", ""));
	wire_expect(wire, REQUEST("3", "roots/list", "{}"));
	wire_say(wire, RESULT("3", "[1]"));
	wire_expect(wire, TEXT("3", "refused"));
	/* The answer can wait while others ask; two at once keep apart. */
	wire_say(wire, ASK("4", "elicitation/create", ""));
	wire_expect(wire, ELICIT("4"));
	wire_say(wire, ASK("5", "elicitation/create", ""));
	wire_expect(wire, ELICIT("5"));
	wire_say(wire, RESULT("5", "{\"five\":5}"));
	wire_expect(wire, RESULT("5", "{\"structuredContent\":{\"five\":5},\"...\":1}"));
	wire_say(wire, RESULT("4", "{\"four\":4}"));
	wire_expect(wire, RESULT("4", "{\"structuredContent\":{\"four\":4},\"...\":1}"));
	wire_close(wire);
}

static void questions_need_a_client_that_takes_them(void **state)
{
	static const struct {
		const char *version, *capabilities, *ask;
		bool asked;
	} cases[] = {
		{ "2025-06-18", "{}", "\"elicitation/create\"", false },
		{ "2025-03-26", ALL, "\"elicitation/create\"", false },
		{ "2025-06-18", "{\"elicitation\":{\"url\":{}}}", "\"elicitation/create\"", true },
		{ "2025-11-25", "{\"elicitation\":{\"url\":{}}}", "\"elicitation/create\"", false },
		{ "2025-11-25", "{\"elicitation\":{}}", "\"elicitation/create\"", true },
		{ "2024-11-05", "{\"sampling\":{}}", "\"sampling/createMessage\"", true },
		{ "2025-11-25", "{\"roots\":{\"listChanged\":true}}", "\"roots/list\"", true },
		{ "2025-11-25", "{}", "\"ping\"", true },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wire *wire = wire_open_version(&offer, cases[i].version,
		  cases[i].capabilities);
		_cleanup_free_ char *line =
			mem_printf(CALL("7", "ask", "{\"method\":%s}"), cases[i].ask);

		wire_say(wire, line);
		wire_expect(wire, cases[i].asked ? "{\"id\":1,\"method\":\"*\",\"...\":1}"
		                                 : TEXT("7", "unsupported"));
		wire_close(wire);
	}
}

static void a_quick_tool_cannot_wait(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", ALL);

	(void)state;
	wire_say(wire, CALL("1", "ask_quickly", "{\"method\":\"roots/list\"}"));
	wire_expect(wire, TEXT("1", "unsupported"));
	wire_close(wire);
}

static void questions_end_with_their_time_their_call_or_their_client(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", ALL);

	(void)state;
	wire_say(wire, ASK("1", "elicitation/create", ",\"ms\":20"));
	wire_expect(wire, ELICIT("1") "\n"
	            NOTIFICATION_WITH("notifications/cancelled",
	            "{\"requestId\":1,\"reason\":\"*\"}") "\n"
	            TEXT("1", "gone"));
	wire_say(wire, RESULT("1", "{\"too\":\"late\"}"));
	wire_say(wire, ASK("2", "elicitation/create", ""));
	wire_expect(wire, ELICIT("2"));
	wire_say(wire, CANCEL("2"));
	wait_for(&happened.running, 0);
	wire_expect_nothing(wire);
	wire_say(wire, ASK("3", "elicitation/create", ""));
	wire_expect(wire, ELICIT("3"));
	mcp_peer_finish(wire->peer);
	wire_expect(wire, TEXT("3", "gone"));
	wire_say(wire, ASK("4", "elicitation/create", ""));
	wire_expect(wire, TEXT("4", "gone"));
	wire_close(wire);
}

struct heard {
	int calls;
	char *text; /* of the result; NULL: none */
};

static void hear(void *data, const json_t *result)
{
	struct heard *heard = data;

	heard->calls++;
	heard->text = result ? json_dumps(result, JSON_COMPACT) : NULL;
}

static void a_peer_is_asked_outside_of_calls(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", ALL);
	struct heard heard[4] = { 0 };

	(void)state;
	assert_true(mcp_peer_ask(wire->peer, "roots/list", NULL, hear, &heard[0]));
	wire_expect(wire, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}");
	assert_int_equal(wire->lines[wire->count - 1].route, MCP_ROUTE_UNRELATED);
	wire_say(wire, RESULT("1", "{\"roots\":[]}"));
	assert_string_equal(heard[0].text, "{\"roots\":[]}");
	free(heard[0].text);
	assert_true(mcp_peer_ask(wire->peer, "ping", json_object(), hear, &heard[1]));
	wire_expect(wire, REQUEST("2", "ping", "{}"));
	wire_say(wire, ERROR("2", "1"));
	assert_int_equal(heard[1].calls, 1);
	assert_null(heard[1].text);
	assert_true(mcp_peer_ask(wire->peer, "roots/list", NULL, hear, &heard[2]));
	mcp_peer_close(wire->peer);
	wire->peer = NULL;
	assert_int_equal(heard[2].calls, 1);
	assert_null(heard[2].text);
	wire_close(wire);

	wire = wire_open_version(&offer, "2025-11-25", "{}");
	assert_false(mcp_peer_ask(wire->peer, "roots/list", json_object(), hear, &heard[3]));
	wire_close(wire);
	assert_int_equal(heard[0].calls, 1);
	assert_int_equal(heard[3].calls, 0);
}

/* --- Many, and ends ----------------------------------------------------------------------- */

/* Says a line with the number in place of its "%d". */
static void say_numbered(struct wire *wire, const char *line, int number)
{
	const char *at = strstr(line, "%d");
	_cleanup_free_ char *said =
		mem_printf("%.*s%d%s", (int)(at - line), line, number, at + 2);

	wire_say(wire, said);
}

/* Every id of 0 .. count - 1 was answered exactly once. */
static void answered_once_each(const struct wire *wire, size_t from, int count)
{
	_cleanup_free_ unsigned char *answers = mem_alloc((size_t)count, 1);
	static const char before_id[] = "{\"jsonrpc\":\"2.0\",\"id\":";

	assert_int_equal(wire->count - from, count);
	for (size_t i = from; i < wire->count; i++) {
		long id = strtol(wire->lines[i].text + strlen(before_id), NULL, 10);

		assert_in_range(id, 0, count - 1);
		assert_int_equal(answers[id]++, 0);
	}
}

static void thousands_of_calls_are_each_answered_once(void **state)
{
	static const char *const lines[] = {
		CALL("%d", "greet_later", "{\"name\":\"x\"}"),
		CALL("%d", "greet", "{\"name\":\"y\"}"),
		REQUEST("%d", "ping", "{}"),
		CALL("%d", "no_such", "{}"),
		CALL("%d", "pause", "{\"ms\":0}"),
	};
	const int count = (int)part_of(9000, 5);
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	size_t from = wire->count;

	(void)state;
	for (int i = 0; i < count; i++)
		say_numbered(wire, lines[i % (int)ARRAY_LEN(lines)], i);
	wire_run_until(wire, from + (size_t)count);
	answered_once_each(wire, from, count);
	assert_int_equal(mcp_peer_calls(wire->peer), 0);
	wire_close(wire);
	assert_int_equal(happened.ended, 1);
}

static void calls_past_the_limit_are_refused(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	for (int i = 0; i < LIMIT_PEER_CALLS; i++)
		say_numbered(wire, CALL("%d", "wait", "{}"), i);
	assert_int_equal(mcp_peer_calls(wire->peer), LIMIT_PEER_CALLS);
	wire_expect_nothing(wire);
	wire_say(wire, CALL("\"more\"", "greet", "{}"));
	wire_expect(wire, ERROR("\"more\"", "-32603"));
	/* Cancelling makes room, also of what has not begun. */
	for (int i = 0; i < LIMIT_PEER_CALLS; i++)
		say_numbered(wire, CANCEL("%d"), i);
	wire_say(wire, CALL("\"more\"", "greet", "{}"));
	wire_expect(wire, TEXT("\"more\"", "Hello "));
	wire_close(wire);
	assert_int_equal(happened.running, 0);
}

static void calls_that_hold_too_much_are_refused(void **state)
{
	/* Two fill it all but for 2 MiB, which the third has and more. */
	enum { EACH = (LIMIT_PEER_BYTES >> 1) - (1 << 20), LAST = 3 << 20 };
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	_cleanup_free_ char *filling = mem_alloc(EACH + 1, 1), *line = NULL;

	(void)state;
	memset(filling, 'x', EACH);
	line = mem_printf(CALL("7", "wait", "{\"x\":\"%s\"}"), filling);
	wire_say(wire, line);
	*strchr(line, '7') = '8'; /* its id */
	wire_say(wire, line);
	filling[LAST] = '\0';
	free(line);
	line = mem_printf(CALL("9", "wait", "{\"x\":\"%s\"}"), filling);
	wire_say(wire, line);
	wire_expect(wire, ERROR("9", "-32603"));
	assert_int_equal(mcp_peer_calls(wire->peer), 2);
	wait_for(&happened.running, 2);
	/* Small ones have room again when one of the large ones is gone. */
	wire_say(wire, CANCEL("7"));
	wait_for(&happened.running, 1);
	wire_expect_nothing(wire);
	wire_say(wire, CALL("3", "greet_later", "{}"));
	wire_expect(wire, TEXT("3", "Hello "));
	wire_close(wire);
}

static void watches_are_bounded(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");
	char uri[LIMIT_URI_BYTES + 2] = { 0 };
	_cleanup_free_ char *line = NULL;

	(void)state;
	for (int i = 0; i < LIMIT_PEER_WATCHES; i++)
		say_numbered(wire, REQUEST("1", "resources/subscribe",
		             "{\"uri\":\"test://%d\"}"), i);
	assert_int_equal(happened.subscribed, LIMIT_PEER_WATCHES);
	wire->seen = wire->count;
	wire_say(wire, REQUEST("1", "resources/subscribe", "{\"uri\":\"test://more\"}"));
	wire_expect(wire, ERROR_WITH("1", "-32602", "{\"uri\":\"test://more\"}"));
	wire_say(wire, REQUEST("1", "resources/unsubscribe", "{\"uri\":\"test://7\"}"));
	wire_expect(wire, RESULT("1", "{}"));
	memset(uri, 'u', sizeof(uri) - 1);
	memcpy(uri, "test://", 7);
	line = mem_printf(REQUEST("1", "resources/subscribe", "{\"uri\":\"%s\"}"), uri);
	wire_say(wire, line);
	wire_expect(wire, ERROR_WITH("1", "-32602", "\"*\""));
	wire_say(wire, REQUEST("1", "resources/subscribe", "{\"uri\":\"test://more\"}"));
	wire_expect(wire, RESULT("1", "{}"));
	wire_close(wire);
	assert_int_equal(happened.subscribed, 0);
}

static void hundreds_of_calls_ask_at_once(void **state)
{
	enum { COUNT = 200 };
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", ALL);
	size_t from = wire->count;

	(void)state;
	for (int i = 0; i < COUNT; i++)
		say_numbered(wire, ASK("%d", "elicitation/create", ""), i);
	wire_run_until(wire, from + COUNT);
	for (int i = COUNT; i > 0; i--)
		say_numbered(wire, RESULT("%d", "{}"), i);
	wire_run_until(wire, from + 2 * COUNT);
	answered_once_each(wire, from + COUNT, COUNT);
	wire_close(wire);
}

/* Fills a peer with calls of all kinds. */
static void keep_busy(struct wire *wire, struct happened *happened)
{
	for (int i = 0; i < 20; i++)
		say_numbered(wire, ASK("%d", "elicitation/create", ""), i);
	wire_run_until(wire, wire->count + 20);
	wire_say(wire, CALL("\"a\"", "wait", "{}"));
	wire_say(wire, CALL("\"b\"", "wait", "{}"));
	for (int i = 0; i < 500; i++)
		say_numbered(wire, CALL("\"q%d\"", "greet_later", "{}"), i);
	wait_for(&happened->running, 22);
	wire_say(wire, REQUEST("\"s\"", "resources/subscribe", "{\"uri\":\"test://a\"}"));
	mcp_resource_updated(wire->server, "test://a");
	wire->seen = wire->count;
}

static void a_peer_can_close_while_handlers_run(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", ALL);

	(void)state;
	keep_busy(wire, &happened);
	mcp_peer_close(wire->peer);
	wire->peer = NULL;
	/* The session ends with the last handler, not before. */
	assert_int_equal(happened.ended, 0);
	for (int i = 0; i < 1000 && !happened.ended; i++)
		wire_run_ms(wire, 10);
	assert_int_equal(happened.ended, 1);
	assert_int_equal(happened.running, 0);
	assert_int_equal(happened.outlived, 0);
	assert_int_equal(happened.subscribed, 0);
	wire_expect_nothing(wire);
	wire_close(wire);
	assert_int_equal(happened.ended, 1);
}

static void a_server_can_be_freed_while_handlers_run(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	for (size_t round = 0; round < part_of(10, 3); round++) {
		struct wire *wire = wire_open_version(&offer, "2025-11-25", ALL);

		memset(&happened, 0, sizeof(happened));
		keep_busy(wire, &happened);
		/* Some ask just now. */
		for (int i = 100; i < 110; i++)
			say_numbered(wire, ASK("%d", "elicitation/create", ""), i);
		mcp_server_free(wire->server);
		wire->server = NULL;
		assert_int_equal(happened.running, 0);
		assert_int_equal(happened.outlived, 0);
		assert_int_equal(happened.subscribed, 0);
		assert_true(wire->hung_up);
		wire->seen = wire->count;
		wire_expect_nothing(wire);
		wire_close(wire);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cancelled_call_is_not_answered),
		cmocka_unit_test(an_id_that_is_under_way_is_refused),
		cmocka_unit_test(ids_may_be_long),
		cmocka_unit_test(a_parsed_message_is_taken_over),
		cmocka_unit_test(an_exchange_ends_when_its_request_is_taken_back),
		cmocka_unit_test(a_stream_can_be_closed_before_its_answer),
		cmocka_unit_test(progress_grows_and_its_last_is_always_sent),
		cmocka_unit_test(log_messages_have_the_level_that_was_set),
		cmocka_unit_test(a_quick_tool_reports_at_once),
		cmocka_unit_test(a_call_that_is_held_goes_on_later),
		cmocka_unit_test(questions_are_answered_by_id),
		cmocka_unit_test(questions_need_a_client_that_takes_them),
		cmocka_unit_test(a_quick_tool_cannot_wait),
		cmocka_unit_test(questions_end_with_their_time_their_call_or_their_client),
		cmocka_unit_test(a_peer_is_asked_outside_of_calls),
		cmocka_unit_test(thousands_of_calls_are_each_answered_once),
		cmocka_unit_test(calls_past_the_limit_are_refused),
		cmocka_unit_test(calls_that_hold_too_much_are_refused),
		cmocka_unit_test(watches_are_bounded),
		cmocka_unit_test(hundreds_of_calls_ask_at_once),
		cmocka_unit_test(a_peer_can_close_while_handlers_run),
		cmocka_unit_test(a_server_can_be_freed_while_handlers_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
