/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that carry their version (2026-07-28): _meta, headers, results, questions in results,
 * subscriptions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/json.h"
#include "offer_fixture.h"
#include "phrases.h"
#include "wire_fixture.h"

#define PLAIN "{" META("{}", "") "}"
#define WITH(members) "{" META("{}", "") "," members "}"
#define CAPABLE(capabilities, members) "{" META(capabilities, "") "," members "}"
#define ALL_VERSIONS \
	"[\"2026-07-28\",\"2025-11-25\",\"2025-06-18\",\"2025-03-26\",\"2024-11-05\"]"
#define CACHED(scope) "\"ttlMs\":60000,\"cacheScope\":\"" scope "\""

struct exchange {
	const char *said, *answer;
};

static void talk(struct wire *wire, const struct exchange *exchanges, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		wire_say(wire, exchanges[i].said);
		if (exchanges[i].answer)
			wire_expect(wire, exchanges[i].answer);
	}
	wire_expect_nothing(wire);
}

static const struct exchange served[] = {
	{ REQUEST("1", "server/discover", PLAIN),
	  RESULT("1", "{\"resultType\":\"complete\",\"supportedVersions\":" ALL_VERSIONS ","
	         "\"capabilities\":{\"logging\":{},\"tools\":{},\"prompts\":{},\"completions\":{},"
	         "\"resources\":{\"listChanged\":true,\"subscribe\":true}},"
	         "\"instructions\":\"Be kind.\"," CACHED("public") "," SELF "}") },
	{ REQUEST("2", "tools/list", WITH("\"cursor\":\"after-20\"")),
	  RESULT("2", "{\"resultType\":\"complete\",\"tools\":[\"*\"]," CACHED("public") ","
	         SELF "}") },
	{ REQUEST("3", "tools/call", WITH("\"name\":\"greet\",\"arguments\":{\"name\":\"x\"}")),
	  RESULT("3", "{\"resultType\":\"complete\",\"content\":[\"*\"]," SELF "}") },
	{ REQUEST("4", "tools/call", WITH("\"name\":\"measure\"")),
	  RESULT("4", "{\"resultType\":\"complete\",\"content\":[\"*\"],\"structuredContent\":\""
	  "*\","
	         "\"_meta\":{\"own\":true,\"io.modelcontextprotocol/serverInfo\":\"*\"}}") },
	{ REQUEST("5", "resources/read", WITH("\"uri\":\"test://a\"")),
	  RESULT("5", "{\"resultType\":\"complete\",\"contents\":[\"*\"]," CACHED("private") ","
	  "" SELF "}") },
	{ REQUEST("6", "resources/list", PLAIN),
	  RESULT("6", "{\"resultType\":\"complete\",\"resources\":[\"*\"],\"nextCursor\":\"2\","
	         CACHED("private") "," SELF "}") },
	/* What a handler says itself stays. */
	{ REQUEST("7", "resources/templates/list", PLAIN),
	  RESULT("7", "{\"resultType\":\"complete\",\"resourceTemplates\":[],\"ttlMs\":5,"
	         "\"cacheScope\":\"public\"," SELF "}") },
	{ REQUEST("8", "prompts/list", PLAIN),
	  RESULT("8", "{\"resultType\":\"complete\",\"prompts\":[\"*\",\"*\"]," CACHED("public") ","
	         SELF "}") },
	{ REQUEST("9", "prompts/get", WITH("\"name\":\"plain\",\"arguments\":{\"topic\":\"t\"}")),
	  RESULT("9", "{\"resultType\":\"complete\",\"messages\":[\"*\"]," SELF "}") },
	{ REQUEST("10", "completion/complete",
	  WITH("\"ref\":{\"type\":\"ref/resource\",\"uri\":\"u\"},"
	          "\"argument\":{\"name\":\"a\",\"value\":\"v\"}")),
	  RESULT("10", "{\"resultType\":\"complete\",\"completion\":{\"values\":[\"v\"]},"
	  "" SELF "}") },
	{ REQUEST("11", "resources/read", WITH("\"uri\":\"test://none\"")),
	  ERROR_WITH("11", "-32602", "{\"uri\":\"test://none\"}") },
	{ REQUEST("12", "tools/call", WITH("\"name\":\"no_such\"")), ERROR("12", "-32602") },
	{ REQUEST("13", "tools/call", WITH("\"name\":\"lacking\"")),
	  ERROR_WITH("13", "-32021", "{\"requiredCapabilities\":{\"sampling\":{}}}") },
	{ REQUEST("14", "tools/call",
	  WITH("\"name\":\"no_object\",\"arguments\":{\"text\":\"{} x\"}")),
	  ERROR("14", "-32603") },
	{ REQUEST("15", "tools/call",
	  WITH("\"name\":\"no_object\",\"arguments\":{\"text\":\"{\\\"a\\\":}\"}")),
	  ERROR("15", "-32603") },
};

static void requests_with_their_version_need_no_handshake(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, served, ARRAY_LEN(served));
	assert_false(mcp_peer_initialized(wire->peer));
	assert_int_equal(happened.begun, 1);
	wire_close(wire);
	assert_int_equal(happened.ended, 1);
}

static void both_eras_share_a_connection(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2024-11-05", "{}");

	(void)state;
	talk(wire, served, ARRAY_LEN(served));
	wire_say(wire, REQUEST("1", "ping", "{}"));
	wire_expect(wire, RESULT("1", "{}"));
	wire_say(wire, REQUEST("2", "prompts/list", "{}"));
	wire_expect(wire, RESULT("2", "{\"prompts\":[\"*\",\"*\"]}"));
	assert_int_equal(happened.begun, 2);
	wire_close(wire);
	assert_int_equal(happened.ended, 2);
}

static void bad_meta_is_refused(void **state)
{
#define VERSION "\"io.modelcontextprotocol/protocolVersion\""
#define CAPABILITIES "\"io.modelcontextprotocol/clientCapabilities\""
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "server/discover", "{}"), ERROR("1", "-32602") },
		{ REQUEST("2", "server/discover", "{\"_meta\":{" CAPABILITIES ":{}}}"),
		  ERROR("2", "-32602") },
		{ REQUEST("3", "server/discover", "{\"_meta\":{" VERSION ":\"2026-07-28\"}}"),
		  ERROR_SAYS("3", "-32602",
		  "params._meta.io.modelcontextprotocol/clientCapabilities "
		             "is missing.") },
		{ REQUEST("4", "server/discover",
		  "{\"_meta\":{" VERSION ":20260728," CAPABILITIES ":{}}}"),
		  ERROR("4", "-32602") },
		{ REQUEST("5", "server/discover",
		          "{\"_meta\":{" VERSION ":\"2026-07-28\"," CAPABILITIES ":[]}}"),
		          ERROR("5", "-32602") },
		{ REQUEST("6", "server/discover", "{\"_meta\":[]}"), ERROR("6", "-32602") },
		{ REQUEST("7", "server/discover",
		          "{\"_meta\":{" VERSION ":\"v999\"," CAPABILITIES ":{}}}"),
		  ERROR_WITH("7", "-32022",
		  "{\"supported\":" ALL_VERSIONS ",\"requested\":\"v999\"}") },
		{ REQUEST("8", "tools/list",
		  "{" META("{}", ",\"io.modelcontextprotocol/logLevel\":\"x\"") "}"),
		  ERROR("8", "-32602") },
		{ REQUEST("9", "tools/list",
		  "{" META("{}", ",\"io.modelcontextprotocol/logLevel\":1") "}"),
		  ERROR("9", "-32602") },
		{ REQUEST("10", "initialize", PLAIN), ERROR("10", "-32601") },
		{ REQUEST("11", "ping", PLAIN), ERROR("11", "-32601") },
		{ REQUEST("12", "logging/setLevel", WITH("\"level\":\"info\"")),
		  ERROR("12", "-32601") },
		{ REQUEST("13", "resources/subscribe", WITH("\"uri\":\"test://a\"")),
		  ERROR("13", "-32601") },
		{ REQUEST("14", "resources/unsubscribe", WITH("\"uri\":\"test://a\"")),
		  ERROR("14", "-32601") },
		{ REQUEST("15", "no/such", PLAIN), ERROR("15", "-32601") },
		/* A version with a handshake, named without one. */
		{ REQUEST("16", "tools/list",
		          "{\"_meta\":{" VERSION ":\"2025-11-25\"," CAPABILITIES ":{}}}"),
		          ERROR("16", "-32600") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	struct wire *http = wire_open_beside(wire, false, true);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	/* A peer that can be nothing else does not speak of initialize. */
	talk(http, exchanges, 15);
	wire_say(http, REQUEST("1", "tools/list", "{}"));
	wire_expect(http, ERROR("1", "-32602"));
	wire_close_beside(http);
	wire_close(wire);
}

static void log_messages_come_at_the_level_of_the_request(void **state)
{
#define LEVEL(level) ",\"io.modelcontextprotocol/logLevel\":\"" level "\""
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "tools/call", WITH("\"name\":\"talk\"")), RESULT("1", "\"*\"") },
		{ REQUEST("2", "tools/call", "{" META("{}", LEVEL("error")) ",\"name\":\"talk\"}"),
		  NOTIFICATION_WITH("notifications/message",
		  "{\"level\":\"error\",\"logger\":\"talk\","
		                    "\"data\":{\"high\":1}}") "\n" RESULT("2", "\"*\"") },
		{ REQUEST("3", "tools/call", "{" META("{}", LEVEL("debug")) ",\"name\":\"talk\"}"),
		  NOTIFICATION_WITH("notifications/message",
		  "{\"level\":\"debug\",\"data\":\"low\"}") "\n"
		  NOTIFICATION_WITH("notifications/message", "{\"level\":\"info\",\"...\":1}") "\n"
		  NOTIFICATION_WITH("notifications/message", "{\"level\":\"error\",\"...\":1}") "\n"
		  RESULT("3", "\"*\"") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

/* --- Headers ------------------------------------------------------------------------------ */

struct header_case {
	const char *body;
	const char *headers[12];
	int error_code; /* 0: served */
};

static void headers_have_to_say_what_the_body_says(void **state)
{
#define VERSION_HEADER "mcp-protocol-version", "2026-07-28"
#define LIST REQUEST("1", "tools/list", PLAIN)
#define SQL(arguments) REQUEST("1", "tools/call", WITH("\"name\":\"sql\",\"arguments\":" arguments))
#define SQL_HEADERS VERSION_HEADER, "mcp-method", "tools/call", "mcp-name", "sql"
	static const struct header_case cases[] = {
		{ LIST, { VERSION_HEADER, "Mcp-Method", "tools/list" }, 0 },
		{ LIST, { VERSION_HEADER, "MCP-METHOD", "  tools/list\t" }, 0 },
		{ LIST, { "mcp-method", "tools/list" }, -32020 },
		{ LIST, { "mcp-protocol-version", "2025-11-25", "mcp-method", "tools/list" },
		  -32020 },
		{ LIST, { VERSION_HEADER }, -32020 },
		{ LIST, { VERSION_HEADER, "mcp-method", "prompts/list" }, -32020 },
		{ LIST, { VERSION_HEADER, "mcp-method", "TOOLS/LIST" }, -32020 },
		{ REQUEST("1", "no/such", PLAIN), { VERSION_HEADER, "mcp-method", "no/such" },
		  -32601 },
		{ REQUEST("1", "tools/list", "{}"),
		  { VERSION_HEADER, "mcp-method", "tools/list" }, -32602 },
		{ SQL("{}"), { SQL_HEADERS }, 0 },
		{ SQL("{}"), { VERSION_HEADER, "mcp-method", "tools/call" }, -32020 },
		{ SQL("{}"), { VERSION_HEADER, "mcp-method", "tools/call", "mcp-name", "SQL" },
		  -32020 },
		{ SQL("{}"), { VERSION_HEADER, "mcp-method", "tools/call", "mcp-name",
		  "=?base64?c3Fs?=" },
		  0 },
		{ SQL("{}"), { VERSION_HEADER, "mcp-method", "tools/call", "mcp-name",
		  "=?base64?c3Fs" },
		  -32020 },
		{ REQUEST("1", "resources/read", WITH("\"uri\":\"test://a\"")),
		  { VERSION_HEADER, "mcp-method", "resources/read", "mcp-name", "test://a" }, 0 },
		{ REQUEST("1", "resources/read", WITH("\"uri\":\"test://a\"")),
		  { VERSION_HEADER, "mcp-method", "resources/read", "mcp-name", "test://b" },
		  -32020 },
		{ REQUEST("1", "prompts/get",
		  WITH("\"name\":\"plain\",\"arguments\":{\"topic\":\"t\"}")),
		  { VERSION_HEADER, "mcp-method", "prompts/get" }, -32020 },
		{ SQL("{\"region\":\"Hello\"}"), { SQL_HEADERS, "mcp-param-region", "Hello" }, 0 },
		{ SQL("{\"region\":\"Hello\"}"),
		  { SQL_HEADERS, "mcp-param-region", "=?base64?SGVsbG8=?=" },
		  0 },
		{ SQL("{\"region\":\"Hello\"}"),
		  { SQL_HEADERS, "mcp-param-region", "=?base64?SGVsbG8?=" },
		  -32020 },
		{ SQL("{\"region\":\"Hello\"}"),
		  { SQL_HEADERS, "mcp-param-region", "=?base64?SGVs!!!bG8=?=" }, -32020 },
		{ SQL("{\"region\":\"Hello\"}"), { SQL_HEADERS }, -32020 },
		{ SQL("{\"region\":\"Hello\"}"), { SQL_HEADERS, "mcp-param-region", "hello" },
		  -32020 },
		{ SQL("{\"region\":\"SGVsbG8=\"}"),
		  { SQL_HEADERS, "mcp-param-region", "SGVsbG8=" }, 0 },
		{ SQL("{\"region\":\"=?base64?SGVsbG8=\"}"),
		  { SQL_HEADERS, "mcp-param-region", "=?base64?SGVsbG8=" }, 0 },
		{ SQL("{\"region\":\"\xc3\xa9\"}"),
		  { SQL_HEADERS, "mcp-param-region", "=?base64?w6k=?=" }, 0 },
		{ SQL("{\"region\":\"\xc3\xa9\"}"),
		  { SQL_HEADERS, "mcp-param-region", "\xc3\xa9" }, -32020 },
		{ SQL("{\"region\":null}"), { SQL_HEADERS }, 0 },
		{ SQL("{\"region\":null}"), { SQL_HEADERS, "mcp-param-region", "x" }, -32020 },
		{ SQL("{}"), { SQL_HEADERS, "mcp-param-region", "x" }, -32020 },
		{ SQL("{}"), { SQL_HEADERS, "mcp-param-unknown", "x" }, 0 },
		/* Numbers are compared as such; type number cannot be mirrored, nor a name that is
		 * no token. */
		{ SQL("{\"deep\":{\"n\":42}}"), { SQL_HEADERS, "mcp-param-n", "42.0" }, 0 },
		{ SQL("{\"deep\":{\"n\":42}}"), { SQL_HEADERS, "mcp-param-n", "43" }, -32020 },
		{ SQL("{\"deep\":{\"n\":42}}"), { SQL_HEADERS, "mcp-param-n", "forty" }, -32020 },
		{ SQL("{\"deep\":{\"b\":true}}"), { SQL_HEADERS, "mcp-param-b", "true" }, 0 },
		{ SQL("{\"deep\":{\"b\":false}}"), { SQL_HEADERS, "mcp-param-b", "true" }, -32020 },
		{ SQL("{\"deep\":[]}"), { SQL_HEADERS }, 0 },
		{ SQL("{\"ratio\":1.5,\"odd\":\"x\"}"), { SQL_HEADERS }, 0 },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wire *http = wire_open_beside(wire, true, true);
		struct mcp_exchange exchange = { .headers = cases[i].headers };

		wire_say_on(http, &exchange, cases[i].body);
		wire_run_until(http, 1);
		if (http->lines[0].error_code != cases[i].error_code)
			fail_msg("case %zu: %s", i, http->lines[0].text);
		assert_ptr_equal(http->lines[0].exchange, &exchange);
		assert_int_equal(exchange.finals, 1);
		wire_close_beside(http);
	}
	wire_close(wire);
}

/* --- Questions ---------------------------------------------------------------------------- */

/* The member of the latest line's result. */
static json_t *latest(const struct wire *wire, const char *member)
{
	struct err err = ERR_INIT;
	json_t *line, *value;

	assert_true(json_parse(span_str(wire->lines[wire->count - 1].text), &line, &err));
	value = json_incref(json_object_get(json_object_get(line, "result"), member));
	json_decref(line);
	assert_non_null(value);
	return value;
}

/* Calls a tool with what the last answer has asked to be sent back. */
static void call_again(struct wire *wire, const char *name, const char *arguments, json_t *state,
                       const char *responses)
{
	_cleanup_free_ char *text = json_dumps(state, JSON_ENCODE_ANY);
	_cleanup_free_ char *line = mem_printf(
		"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"tools/call\",\"params\":{"
		META("{\"elicitation\":{}}",
		  "") ",\"name\":\"%s\",\"arguments\":%s,\"inputResponses\":%s,"
		"\"requestState\":%s}}", name, arguments, responses, text);

	wire_say(wire, line);
}

#define ASKS(key, message) \
	"{\"resultType\":\"input_required\",\"inputRequests\":{\"" key "\":{" \
	"\"method\":\"elicitation/create\",\"params\":{\"message\":\"" message "\"}}}," \
	"\"requestState\":\"*\"," SELF "}"
#define INTERVIEW \
	REQUEST("1", "tools/call", CAPABLE("{\"elicitation\":{}}", "\"name\":\"interview\""))

static void questions_travel_through_the_client(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	json_t *first, *second;

	(void)state;
	wire_say(wire, INTERVIEW);
	wire_expect(wire, RESULT("1", ASKS("first", "first?")));
	first = latest(wire, "requestState");
	call_again(wire, "interview", "{}", first, "{\"first\":{\"a\":1},\"other\":{}}");
	wire_expect(wire, RESULT("9", ASKS("second", "second?")));
	second = latest(wire, "requestState");
	assert_false(json_equal(first, second));
	/* The first answer is not sent again: requestState has it. */
	call_again(wire, "interview", "{}", second, "{\"second\":{\"b\":2}}");
	wire_expect(wire,
	  RESULT("9", "{\"resultType\":\"complete\",\"content\":[],\"structuredContent\":{"
	                         "\"first\":{\"a\":1},\"second\":{\"b\":2},\"state\":\"halfway\""
	                         "}," SELF "}"));
	/* An answer that is still missing is asked for again. */
	call_again(wire, "interview", "{}", second, "{}");
	wire_expect(wire, RESULT("9", ASKS("second", "second?")));
	json_decref(first);
	json_decref(second);
	wire_close(wire);
}

static void answers_too_long_to_be_carried_are_an_error(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	_cleanup_free_ char *answer = mem_alloc((1 << 20) + 64, 1);
	json_t *first;

	(void)state;
	memcpy(answer, "{\"first\":{\"a\":\"", 15);
	memset(answer + 15, 'x', 1 << 20);
	memcpy(answer + 15 + (1 << 20), "\"}}", 4);
	wire_say(wire, INTERVIEW);
	wire_expect(wire, RESULT("1", ASKS("first", "first?")));
	first = latest(wire, "requestState");
	call_again(wire, "interview", "{}", first, answer);
	json_decref(first);
	wire_expect(wire, ERROR("9", "-32603"));
	wire_close(wire);
}

static void a_state_that_was_changed_or_belongs_elsewhere_is_refused(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	struct wire *stranger = wire_open_bare(&offer);
	static const char *const malformed[] = { "", ":", "abc", "{}" };
	json_t *signed_state, *changed;
	_cleanup_free_ char *text = NULL;

	(void)state;
	wire_say(wire, INTERVIEW);
	wire_expect(wire, RESULT("1", ASKS("first", "first?")));
	signed_state = latest(wire, "requestState");
	text = mem_strdup(json_string_value(signed_state));
	for (size_t i = 0; i < strlen(text); i += 5) {
		text[i] ^= 1;
		changed = json_string(text);
		text[i] ^= 1;
		call_again(wire, "interview", "{}", changed, "{\"first\":{}}");
		json_decref(changed);
		wire_expect(wire, ERROR("9", "-32602"));
	}
	for (size_t i = 0; i < ARRAY_LEN(malformed); i++) {
		changed = json_string(malformed[i]);
		call_again(wire, "interview", "{}", changed, "{}");
		json_decref(changed);
		wire_expect(wire, ERROR_SAYS("9", "-32602",
		                             "params.requestState is not what this server has "
		                             "sent."));
	}
	/* Other arguments, another tool, another process. */
	call_again(wire, "interview", "{\"x\":1}", signed_state, "{}");
	wire_expect(wire,
	  ERROR_SAYS("9", "-32602", "params.requestState belongs to another request."));
	call_again(wire, "ask", "{}", signed_state, "{}");
	wire_expect(wire, ERROR("9", "-32602"));
	call_again(stranger, "interview", "{}", signed_state, "{}");
	wire_expect(stranger, ERROR("9", "-32602"));
	json_decref(signed_state);
	wire_close(stranger);
	wire_close(wire);
}

static void a_state_that_is_too_long_is_not_looked_at(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	_cleanup_free_ char *text = mem_alloc((1 << 20) + 2, 1);
	json_t *long_state;

	(void)state;
	memset(text, 'a', (1 << 20) + 1);
	long_state = json_string(text);
	call_again(wire, "interview", "{}", long_state, "{}");
	json_decref(long_state);
	wire_expect(wire, ERROR_SAYS("9", "-32602", "params.requestState is too long."));
	wire_close(wire);
}

static void only_what_the_client_declared_is_asked(void **state)
{
#define ASK(capabilities, method, params) \
	REQUEST("1", "tools/call", \
	        CAPABLE(capabilities, "\"name\":\"ask\",\"arguments\":" \
	                "{\"method\":\"" method "\",\"params\":" params "}"))
#define ASKED "{\"resultType\":\"input_required\",\"...\":1}"
#define UNSUPPORTED "{\"content\":[{\"type\":\"text\",\"text\":\"unsupported\"}],\"...\":1}"
	static const struct exchange exchanges[] = {
		{ ASK("{}", "elicitation/create", "{}"), RESULT("1", UNSUPPORTED) },
		{ ASK("{\"elicitation\":{}}", "elicitation/create", "{}"), RESULT("1", ASKED) },
		{ ASK("{\"elicitation\":{\"form\":{}}}", "elicitation/create", "{}"),
		  RESULT("1", ASKED) },
		{ ASK("{\"elicitation\":{\"url\":{}}}", "elicitation/create", "{}"),
		  RESULT("1", UNSUPPORTED) },
		{ ASK("{\"elicitation\":{\"url\":{}}}", "elicitation/create", "{\"mode\":\"url\"}"),
		  RESULT("1", UNSUPPORTED) },
		{ ASK("{\"elicitation\":{\"url\":{},\"form\":{}}}", "elicitation/create",
		      "{\"mode\":\"url\"}"), RESULT("1", ASKED) },
		{ ASK("{\"elicitation\":{}}", "elicitation/create", "{\"mode\":\"url\"}"),
		  RESULT("1", UNSUPPORTED) },
		{ ASK("{\"sampling\":{}}", "sampling/createMessage", "{}"), RESULT("1", ASKED) },
		{ ASK("{\"sampling\":{}}", "sampling/createMessage", "{\"tools\":[]}"),
		  RESULT("1", UNSUPPORTED) },
		{ ASK("{\"sampling\":{\"tools\":{}}}", "sampling/createMessage", "{\"tools\":[]}"),
		  RESULT("1", ASKED) },
		{ ASK("{\"roots\":{}}", "roots/list", "{}"), RESULT("1", ASKED) },
		{ ASK("{\"roots\":[]}", "roots/list", "{}"), RESULT("1", UNSUPPORTED) },
		{ ASK("{\"roots\":{}}", "ping", "{}"), RESULT("1", UNSUPPORTED) },
		{ ASK("{\"roots\":{}}", "tools/list", "{}"), RESULT("1", UNSUPPORTED) },
		{ REQUEST("1", "prompts/get", CAPABLE("{\"roots\":{}}", "\"name\":\"asking\"")),
		  RESULT("1", "{\"resultType\":\"input_required\",\"inputRequests\":{\"q\":{"
		         "\"method\":\"roots/list\",\"params\":{}}},\"requestState\":\"*\","
		         "" SELF "}") },
		{ REQUEST("1", "tools/call", CAPABLE("{\"roots\":{}}", "\"name\":\"ask_quickly\","
		          "\"arguments\":{\"method\":\"roots/list\"}")), RESULT("1", ASKED) },
		/* Answers without having been asked; answers that are none. */
		{ REQUEST("1", "tools/call",
		  CAPABLE("{\"elicitation\":{}}", "\"name\":\"ask\",\"arguments\":"
		          "{\"method\":\"elicitation/create\"},\"inputResponses\":{\"q\":{\"x\":"
		          "1}}")),
		  RESULT("1", "{\"resultType\":\"complete\",\"structuredContent\":{\"x\":1},\""
		  "...\":1}") },
		{ REQUEST("1", "tools/call", WITH("\"name\":\"ask\",\"inputResponses\":{\"q\":5}")),
		  ERROR_SAYS("1", "-32602",
		  "params.inputResponses.q must be an object, not a number.") },
		{ REQUEST("1", "tools/call", WITH("\"name\":\"ask\",\"inputResponses\":null")),
		  ERROR("1", "-32602") },
		{ REQUEST("1", "tools/call", WITH("\"name\":\"ask\",\"requestState\":7")),
		  ERROR("1", "-32602") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

/* --- Subscriptions ------------------------------------------------------------------------ */

#define OF(id) "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":" id "}"
#define LISTEN(id, filter) REQUEST(id, "subscriptions/listen", WITH("\"notifications\":" filter))
#define ACKNOWLEDGED(id, filter) \
	NOTIFICATION_WITH("notifications/subscriptions/acknowledged", \
	                  "{" OF(id) ",\"notifications\":" filter "}")
#define UPDATED(id, uri) \
	NOTIFICATION_WITH("notifications/resources/updated", "{" OF(id) ",\"uri\":\"" uri "\"}")
#define LIST_CHANGED(id) NOTIFICATION_WITH("notifications/resources/list_changed", "{" OF(id) "}")
#define CANCEL(id) NOTIFICATION_WITH("notifications/cancelled", "{\"requestId\":" id "}")
#define ENDED(id) \
	NOTIFICATION_WITH("notifications/cancelled", \
	                  "{\"requestId\":" id ",\"reason\":\"*\"}") "\n" \
	RESULT(id, "{\"resultType\":\"complete\",\"_meta\":{" \
	       "\"io.modelcontextprotocol/subscriptionId\":" id "," \
	       "\"io.modelcontextprotocol/serverInfo\":\"*\"}}")

static void a_stream_carries_what_it_was_opened_for(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	wire_say(wire,
	  LISTEN("1", "{\"resourceSubscriptions\":[\"test://a\",\"test://b\",\"other:\","
	                      "\"test://a\"],\"toolsListChanged\":true,\"promptsListChanged\":"
	                      "true}"));
	wire_expect(wire, ACKNOWLEDGED("1", "{\"resourceSubscriptions\":[\"test://a\",\"test://b\","
	                               "\"test://a\"]}"));
	assert_int_equal(wire->lines[0].route, MCP_ROUTE_RELATED);
	wire_say(wire, LISTEN("\"two\"", "{\"resourceSubscriptions\":[\"test://b\"],"
	                      "\"resourcesListChanged\":true}"));
	wire_expect(wire, ACKNOWLEDGED("\"two\"", "{\"resourceSubscriptions\":[\"test://b\"],"
	                               "\"resourcesListChanged\":true}"));
	/* One session watches, however many streams. */
	assert_int_equal(happened.subscribed, 2);
	assert_int_equal(mcp_peer_calls(wire->peer), 0);
	wire_say(wire, LISTEN("1", "{}"));
	wire_expect(wire, ERROR("1", "-32600"));
	mcp_resource_updated(wire->server, "test://a");
	wire_expect(wire, UPDATED("1", "test://a"));
	mcp_resource_updated(wire->server, "test://b");
	wire_expect(wire, UPDATED("\"two\"", "test://b") "\n" UPDATED("1", "test://b"));
	mcp_resource_updated(wire->server, "test://c");
	mcp_resources_changed(wire->server);
	wire_expect(wire, LIST_CHANGED("\"two\""));
	wire_say(wire, CANCEL("1"));
	assert_int_equal(happened.subscribed, 1);
	mcp_resource_updated(wire->server, "test://a");
	mcp_resource_updated(wire->server, "test://b");
	wire_expect(wire, UPDATED("\"two\"", "test://b"));
	mcp_peer_finish(wire->peer);
	wire_expect(wire, ENDED("\"two\""));
	assert_int_equal(happened.subscribed, 0);
	wire_close(wire);
}

static void a_server_that_ends_says_so_on_its_streams(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	struct wire *http = wire_open_beside(wire, false, true);
	struct mcp_exchange exchange = { .close_peer = true };

	(void)state;
	wire_say_on(http, &exchange, LISTEN("5", "{\"resourceSubscriptions\":[\"test://a\"]}"));
	wire_expect(http, ACKNOWLEDGED("5", "{\"resourceSubscriptions\":[\"test://a\"]}"));
	assert_int_equal(exchange.finals, 0);
	mcp_server_free(wire->server);
	wire->server = NULL;
	wire_expect(http, ENDED("5"));
	assert_int_equal(exchange.finals, 1);
	assert_null(http->peer);
	assert_int_equal(happened.subscribed, 0);
	assert_int_equal(happened.ended, 1);
	/* The other peer is silent now. */
	assert_true(wire->hung_up);
	wire_say(wire, REQUEST("1", "ping", "{}"));
	mcp_peer_finish(wire->peer);
	wire_expect_nothing(wire);
	wire_close_beside(http);
	wire_close(wire);
}

static void a_stream_whose_client_is_gone_is_forgotten(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);
	struct wire *http = wire_open_beside(wire, false, true);
	struct mcp_exchange exchange = { 0 };

	(void)state;
	wire_say_on(http, &exchange, LISTEN("5", "{\"resourceSubscriptions\":[\"test://a\"]}"));
	wire_expect(http, ACKNOWLEDGED("5", "\"*\""));
	mcp_peer_abandon(http->peer, &exchange);
	assert_int_equal(happened.subscribed, 0);
	mcp_resource_updated(wire->server, "test://a");
	wire_expect_nothing(http);
	assert_int_equal(exchange.finals, 0);
	wire_close_beside(http);
	wire_close(wire);
}

static void bad_filters_are_refused(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "subscriptions/listen", PLAIN), ERROR("1", "-32602") },
		{ LISTEN("1", "[]"), ERROR("1", "-32602") },
		{ LISTEN("1", "{\"toolsListChanged\":1}"), ERROR("1", "-32602") },
		{ LISTEN("1", "{\"resourceSubscriptions\":\"test://a\"}"), ERROR("1", "-32602") },
		{ LISTEN("1", "{\"resourceSubscriptions\":[1]}"), ERROR("1", "-32602") },
		{ LISTEN("1", "{\"resourceSubscriptions\":[\"test://\\u0000\"]}"),
		  ERROR("1", "-32602") },
		{ LISTEN("1", "{\"unheardOf\":5}"), ACKNOWLEDGED("1", "{}") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	assert_int_equal(happened.subscribed, 0);
	wire_close(wire);
}

static void streams_are_bounded(void **state)
{
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	for (int i = 0; i < 65; i++) {
		_cleanup_free_ char *line = mem_printf(LISTEN("%d", "{}"), i);

		wire_say(wire, line);
		wire->seen = i < 64 ? wire->count : wire->seen;
	}
	wire_expect(wire, ERROR("64", "-32600"));
	wire_close(wire);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_with_their_version_need_no_handshake),
		cmocka_unit_test(both_eras_share_a_connection),
		cmocka_unit_test(bad_meta_is_refused),
		cmocka_unit_test(log_messages_come_at_the_level_of_the_request),
		cmocka_unit_test(headers_have_to_say_what_the_body_says),
		cmocka_unit_test(questions_travel_through_the_client),
		cmocka_unit_test(answers_too_long_to_be_carried_are_an_error),
		cmocka_unit_test(a_state_that_was_changed_or_belongs_elsewhere_is_refused),
		cmocka_unit_test(a_state_that_is_too_long_is_not_looked_at),
		cmocka_unit_test(only_what_the_client_declared_is_asked),
		cmocka_unit_test(a_stream_carries_what_it_was_opened_for),
		cmocka_unit_test(a_server_that_ends_says_so_on_its_streams),
		cmocka_unit_test(a_stream_whose_client_is_gone_is_forgotten),
		cmocka_unit_test(bad_filters_are_refused),
		cmocka_unit_test(streams_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
