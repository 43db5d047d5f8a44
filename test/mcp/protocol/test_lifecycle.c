/* SPDX-License-Identifier: Apache-2.0 */
/* The handshake, what comes before and after it, and what differs between versions with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "offer_fixture.h"
#include "phrases.h"
#include "wire_fixture.h"

/* What is said, and what comes back: NULL is nothing. */
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

static void each_version_is_answered_with_itself(void **state)
{
	static const struct {
		const char *asked, *answer;
	} cases[] = {
		{ "2024-11-05",
		  "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"logging\":{},"
		  "\"tools\":{},\"prompts\":{},\"resources\":{\"listChanged\":true,\"subscribe\""
		  ":true}},"
		  "\"serverInfo\":{\"name\":\"fixture\",\"version\":\"1.2\"},\"instructions\":\""
		  "Be kind.\"}" },
		{ "2025-03-26",
		  "{\"protocolVersion\":\"2025-03-26\",\"capabilities\":{\"logging\":{},"
		  "\"tools\":{},\"prompts\":{},\"completions\":{},"
		  "\"resources\":{\"listChanged\":true,\"subscribe\":true}},"
		  "\"serverInfo\":{\"name\":\"fixture\",\"version\":\"1.2\"},\"instructions\":\""
		  "Be kind.\"}" },
		{ "2025-06-18", "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":\"*\","
		  "\"serverInfo\":{\"name\":\"fixture\",\"title\":\"Fixture\",\"version\":\"1.2\"},"
		  "\"instructions\":\"Be kind.\"}" },
		{ "2025-11-25", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":\"*\","
		  "\"serverInfo\":{\"name\":\"fixture\",\"title\":\"Fixture\",\"version\":\"1.2\","
		  "\"websiteUrl\":\"https://example.org\"},\"instructions\":\"Be kind.\"}" },
		{ "2026-07-28", "{\"protocolVersion\":\"2025-11-25\",\"...\":1}" },
		{ "1999-01-01", "{\"protocolVersion\":\"2025-11-25\",\"...\":1}" },
		{ "", "{\"protocolVersion\":\"2025-11-25\",\"...\":1}" },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wire *wire = wire_open_bare(&offer);
		_cleanup_free_ char *said = mem_printf(
			REQUEST("0", "initialize", "{\"protocolVersion\":\"%s\"}"), cases[i].asked);
		_cleanup_free_ char *wanted = mem_printf(RESULT("0", "%s"), cases[i].answer);

		assert_null(mcp_peer_version(wire->peer));
		wire_say(wire, said);
		wire_expect(wire, wanted);
		assert_true(mcp_peer_initialized(wire->peer));
		assert_int_equal(wire->lines[0].route, MCP_ROUTE_FINAL);
		wire_close(wire);
	}
}

static void what_is_not_offered_is_not_declared_and_does_not_exist(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "initialize", "{\"protocolVersion\":\"2025-11-25\"}"),
		  RESULT("1", "{\"capabilities\":{\"logging\":{},\"tools\":{}},\"...\":1}") },
		{ REQUEST("2", "resources/list", "{}"), ERROR("2", "-32601") },
		{ REQUEST("3", "resources/read", "{\"uri\":\"a\"}"), ERROR("3", "-32601") },
		{ REQUEST("4", "resources/subscribe", "{\"uri\":\"a\"}"), ERROR("4", "-32601") },
		{ REQUEST("5", "resources/templates/list", "{}"), ERROR("5", "-32601") },
		{ REQUEST("6", "prompts/list", "{}"), ERROR("6", "-32601") },
		{ REQUEST("7", "prompts/get", "{\"name\":\"x\"}"), ERROR("7", "-32601") },
		{ REQUEST("8", "completion/complete",
		  "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"x\"},"
		          "\"argument\":{\"name\":\"a\",\"value\":\"\"}}"), ERROR("8", "-32601") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_tools(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

static void an_offer_can_be_of_resources_alone(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "initialize", "{\"protocolVersion\":\"2025-11-25\"}"),
		  RESULT("1", "{\"capabilities\":{\"logging\":{},"
		         "\"resources\":{\"listChanged\":true}},\"...\":1}") },
		{ REQUEST("2", "tools/list", "{}"), ERROR("2", "-32601") },
		{ REQUEST("3", "tools/call", "{\"name\":\"greet\"}"), ERROR("3", "-32601") },
		{ REQUEST("4", "resources/list", "{}"), RESULT("4", "{\"resources\":[]}") },
		{ REQUEST("5", "resources/templates/list", "{}"),
		  RESULT("5", "{\"resourceTemplates\":[]}") },
		{ REQUEST("6", "resources/read", "{\"uri\":\"test://a\"}"), RESULT("6", "\"*\"") },
		{ REQUEST("7", "resources/subscribe", "{\"uri\":\"test://a\"}"),
		  ERROR("7", "-32601") },
		{ REQUEST("8", "resources/unsubscribe", "{\"uri\":\"test://a\"}"),
		  ERROR("8", "-32601") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct mcp_offer resources = { .name = "r", .version = "1",
		.read_resource = offer.read_resource };
	struct wire *wire = wire_open_bare(&resources);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

static void nothing_but_ping_comes_before_initialize(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "ping", "{}"), RESULT("1", "{}") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}", RESULT("\"p\"", "{}") },
		{ REQUEST("2", "tools/list", "{}"), ERROR("2", "-32600") },
		{ REQUEST("3", "tools/call", "{\"name\":\"greet\"}"), ERROR("3", "-32600") },
		{ REQUEST("4", "no/such", "{}"), ERROR("4", "-32600") },
		{ REQUEST("5", "server/discover", "{}"), ERROR("5", "-32602") },
		{ NOTIFICATION("notifications/initialized"), NULL },
		{ NOTIFICATION("notifications/roots/list_changed"), NULL },
		{ "[" REQUEST("6", "ping", "{}") "]", ERROR("null", "-32600") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	assert_int_equal(happened.begun, 0);
	assert_int_equal(happened.ready, 0);
	assert_int_equal(happened.runs, 0);
	wire_close(wire);
	assert_int_equal(happened.ended, 0);
}

static void a_session_begins_gets_ready_and_ends_once(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "initialize", "{\"protocolVersion\":\"2025-06-18\"}"),
		  RESULT("1", "\"*\"") },
		{ NOTIFICATION("notifications/roots/list_changed"), NULL },
		/* Requests need not wait for notifications/initialized. */
		{ REQUEST("2", "ping", "{}"), RESULT("2", "{}") },
		{ NOTIFICATION("notifications/initialized"), NULL },
		{ NOTIFICATION("notifications/initialized"), NULL },
		{ NOTIFICATION("notifications/roots/list_changed"), NULL },
		{ NOTIFICATION("notifications/unheard_of"), NULL },
		{ REQUEST("3", "initialize", "{\"protocolVersion\":\"2025-06-18\"}"),
		  ERROR("3", "-32600") },
		{ REQUEST("4", "tools/call",
		  "{\"name\":\"greet\",\"arguments\":{\"name\":\"you\"}}"),
		  RESULT("4", "{\"content\":[{\"type\":\"text\",\"text\":\"Hello you\"}]}") },
		{ REQUEST("5", "tools/call",
		  "{\"name\":\"greet_later\",\"arguments\":{\"name\":\"me\"}}"),
		  RESULT("5", "{\"content\":[{\"type\":\"text\",\"text\":\"Hello me\"}]}") },
		{ REQUEST("6", "no/such", "{}"),
		  ERROR_SAYS("6", "-32601", "Method not found: no/such") },
		{ REQUEST("7", "server/discover", "{}"), ERROR("7", "-32601") },
		{ REQUEST("8", "subscriptions/listen", "{\"notifications\":{}}"),
		  ERROR("8", "-32601") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_bare(&offer);

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	assert_int_equal(happened.begun, 1);
	assert_int_equal(happened.ready, 1);
	assert_int_equal(happened.roots_changed, 1);
	assert_int_equal(happened.ended, 0);
	wire_close(wire);
	assert_int_equal(happened.ended, 1);
}

static void tools_have_the_members_of_their_version(void **state)
{
	static const struct {
		const char *version, *greet, *measure;
	} cases[] = {
		{ "2024-11-05",
		  "{\"name\":\"greet\",\"description\":\"Says hello.\",\"inputSchema\":\"*\"}",
		  "{\"name\":\"measure\",\"description\":\"*\",\"inputSchema\":{\"type\":\""
		  "object\"}}" },
		{ "2025-03-26",
		  "{\"name\":\"greet\",\"description\":\"Says hello.\",\"inputSchema\":\"*\"}",
		  "{\"name\":\"measure\",\"description\":\"*\",\"inputSchema\":\"*\","
		  "\"annotations\":{\"readOnlyHint\":true}}" },
		{ "2025-06-18",
		  "{\"name\":\"greet\",\"title\":\"Greeting\",\"description\":\"*\",\""
		  "inputSchema\":\"*\"}",
		  "{\"name\":\"measure\",\"title\":\"Measure\",\"description\":\"*\",\""
		  "inputSchema\":\"*\","
		  "\"outputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":"
		  "true}}" },
		{ "2025-11-25",
		  "{\"name\":\"greet\",\"title\":\"Greeting\",\"description\":\"*\",\""
		  "inputSchema\":\"*\"}",
		  "{\"name\":\"measure\",\"title\":\"Measure\",\"description\":\"*\",\""
		  "inputSchema\":\"*\","
		  "\"outputSchema\":{\"type\":\"object\"},\"annotations\":{\"readOnlyHint\":"
		  "true}}" },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	offer.page_size = 3;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wire *wire = wire_open_version(&offer, cases[i].version, "{}");
		_cleanup_free_ char *wanted =
			mem_printf(RESULT("1",
			  "{\"tools\":[%s,\"*\",%s],\"nextCursor\":\"after-3\"}"),
		                   cases[i].greet, cases[i].measure);

		wire_say(wire, REQUEST("1", "tools/list", "{}"));
		wire_expect(wire, wanted);
		wire_close(wire);
	}
}

static void tools_come_in_pages(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "tools/list", "{}"),
		  RESULT("1", "{\"tools\":[\"*\",\"*\",\"*\",\"*\",\"*\","
		  "\"*\",\"*\",\"*\",\"*\",\"*\"],\"nextCursor\":\"after-10\"}") },
		{ REQUEST("2", "tools/list", "{\"cursor\":\"after-10\"}"),
		  RESULT("2", "{\"tools\":[{\"name\":\"lacking\",\"...\":1},\"*\",\"*\",\"*\","
		         "\"*\",\"*\",\"*\",\"*\",\"*\",\"*\"],\"nextCursor\":\"after-20\"}") },
		{ REQUEST("2", "tools/list", "{\"cursor\":\"after-20\"}"),
		  RESULT("2", "{\"tools\":[{\"name\":\"hold\",\"...\":1}]}") },
		{ REQUEST("3", "tools/list", "{\"cursor\":null}"), RESULT("3", "\"*\"") },
		{ REQUEST("4", "tools/list", "{\"cursor\":\"\"}"), ERROR("4", "-32602") },
		{ REQUEST("5", "tools/list", "{\"cursor\":\"after-0\"}"), ERROR("5", "-32602") },
		{ REQUEST("6", "tools/list", "{\"cursor\":\"after-5\"}"), ERROR("6", "-32602") },
		{ REQUEST("7", "tools/list", "{\"cursor\":\"after-30\"}"), ERROR("7", "-32602") },
		{ REQUEST("8", "tools/list", "{\"cursor\":\"after-010\"}"), ERROR("8", "-32602") },
		{ REQUEST("9", "tools/list", "{\"cursor\":10}"),
		  ERROR_SAYS("9", "-32602", "params.cursor must be a string, not a number.") },
		{ REQUEST("10", "prompts/list", "{\"cursor\":\"x\"}"), ERROR("10", "-32602") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

static void structured_content_is_left_out_before_2025_06_18(void **state)
{
	static const struct {
		const char *version, *result;
	} cases[] = {
		{ "2024-11-05", "{\"content\":[\"*\"],\"_meta\":{\"own\":true}}" },
		{ "2025-03-26", "{\"content\":[\"*\"],\"_meta\":{\"own\":true}}" },
		{ "2025-06-18",
		  "{\"content\":[\"*\"],\"structuredContent\":{\"n\":1,\"s\":\"}\\\"{\"},"
		  "\"_meta\":{\"own\":true}}" },
		{ "2025-11-25",
		  "{\"content\":[\"*\"],\"structuredContent\":{\"n\":1,\"s\":\"}\\\"{\"},"
		  "\"_meta\":{\"own\":true}}" },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct wire *wire = wire_open_version(&offer, cases[i].version, "{}");
		_cleanup_free_ char *wanted = mem_printf(RESULT("1", "%s"), cases[i].result);

		wire_say(wire, REQUEST("1", "tools/call", "{\"name\":\"measure\"}"));
		wire_expect(wire, wanted);
		wire_close(wire);
	}
}

static void parameters_are_checked_by_name(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "tools/call", "{}"),
		  ERROR_SAYS("1", "-32602", "params.name is missing.") },
		{ "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\"}",
		  ERROR("2", "-32602") },
		{ REQUEST("3", "tools/call", "{\"name\":5}"),
		  ERROR_SAYS("3", "-32602", "params.name must be a string, not a number.") },
		{ REQUEST("4", "tools/call", "{\"name\":null}"), ERROR("4", "-32602") },
		{ REQUEST("5", "tools/call", "{\"name\":\"greet\\u0000x\"}"),
		  ERROR_SAYS("5", "-32602", "params.name contains U+0000.") },
		{ REQUEST("6", "tools/call", "{\"name\":\"no_such\"}"),
		  ERROR_SAYS("6", "-32602", "Unknown tool: no_such") },
		{ REQUEST("7", "tools/call", "{\"name\":\"greet\",\"arguments\":[1]}"),
		  ERROR_SAYS("7", "-32602",
		  "params.arguments must be an object, not an array.") },
		{ REQUEST("8", "tools/call", "{\"name\":\"greet\",\"arguments\":null}"),
		  RESULT("8", "\"*\"") },
		{ REQUEST("9", "tools/call", "[\"greet\"]"), ERROR("9", "-32602") },
		{ REQUEST("10", "tools/call", "{\"name\":\"greet\",\"_meta\":5}"),
		  ERROR("10", "-32602") },
		{ REQUEST("11", "tools/call",
		  "{\"name\":\"greet\",\"_meta\":{\"progressToken\":1.5}}"),
		  ERROR_SAYS("11", "-32602",
		  "params._meta.progressToken must be a string or an integer, not a number.") },
		{ REQUEST("12", "resources/read", "{\"uri\":{}}"), ERROR("12", "-32602") },
		{ REQUEST("13", "resources/read", "{\"uri\":\"test://a\"}"),
		  RESULT("13", "{\"contents\":[\"*\"]}") },
		{ REQUEST("14", "resources/read", "{\"uri\":\"test://none\"}"),
		  "{\"jsonrpc\":\"2.0\",\"id\":14,\"error\":{\"code\":-32002,\"message\":"
		  "\"Resource not found: test://none\",\"data\":{\"uri\":\"test://none\"}}}" },
		{ REQUEST("15", "resources/list", "{}"),
		  RESULT("15", "{\"resources\":[\"*\"],\"nextCursor\":\"2\"}") },
		{ REQUEST("16", "resources/list", "{\"cursor\":\"2\"}"),
		  RESULT("16", "{\"resources\":[]}") },
		{ REQUEST("17", "resources/templates/list", "{}"),
		  RESULT("17", "{\"resourceTemplates\":[],"
		  "\"ttlMs\":5,\"cacheScope\":\"public\"}") },
		{ REQUEST("18", "prompts/list", "{}"),
		  RESULT("18", "{\"prompts\":[\"*\",\"*\"]}") },
		{ REQUEST("19", "prompts/get", "{\"name\":\"none\"}"),
		  ERROR_SAYS("19", "-32602", "Unknown prompt: none") },
		{ REQUEST("20", "prompts/get", "{\"name\":\"plain\"}"),
		  ERROR_SAYS("20", "-32602", "params.arguments.topic is missing.") },
		{ REQUEST("21", "prompts/get", "{\"name\":\"plain\",\"arguments\":{\"topic\":1}}"),
		  ERROR_SAYS("21", "-32602",
		  "params.arguments.topic must be a string, not a number.") },
		{ REQUEST("22", "prompts/get",
		  "{\"name\":\"plain\",\"arguments\":{\"topic\":\"t\"}}"),
		  RESULT("22", "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
		         "\"text\":\"t\"}}]}") },
		{ REQUEST("23", "completion/complete", "{}"), ERROR("23", "-32602") },
		{ REQUEST("24", "completion/complete", "{\"ref\":{\"type\":\"ref/x\"},"
		          "\"argument\":{\"name\":\"a\",\"value\":\"v\"}}"),
		          ERROR("24", "-32602") },
		{ REQUEST("25", "completion/complete",
		  "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"plain\"},"
		          "\"argument\":{\"name\":\"topic\",\"value\":\"v\"}}"),
		  RESULT("25", "{\"completion\":{\"values\":[\"v\"]}}") },
		{ REQUEST("26", "completion/complete",
		  "{\"ref\":{\"type\":\"ref/prompt\",\"name\":\"none\"},"
		          "\"argument\":{\"name\":\"topic\",\"value\":\"v\"}}"),
		          ERROR("26", "-32602") },
		{ REQUEST("27", "completion/complete", "{\"ref\":{\"type\":\"ref/resource\"},"
		          "\"argument\":{\"name\":\"topic\",\"value\":\"v\"}}"),
		  ERROR_SAYS("27", "-32602", "params.ref.uri is missing.") },
		{ REQUEST("28", "completion/complete",
		  "{\"ref\":{\"type\":\"ref/resource\",\"uri\":\"t\"},"
		          "\"argument\":{\"name\":\"topic\"}}"),
		  ERROR_SAYS("28", "-32602", "params.argument.value is missing.") },
		{ REQUEST("29", "logging/setLevel", "{\"level\":\"loud\"}"),
		  ERROR("29", "-32602") },
		{ REQUEST("30", "logging/setLevel", "{\"level\":\"alert\"}"), RESULT("30", "{}") },
		{ REQUEST("31", "resources/subscribe", "{\"uri\":\"other:\"}"),
		  "{\"jsonrpc\":\"2.0\",\"id\":31,\"error\":{\"code\":-32002,\"message\":\"*\","
		  "\"data\":{\"uri\":\"other:\"}}}" },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

static void bad_handlers_are_answered_for(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "tools/call", "{\"name\":\"silent\"}"), ERROR("1", "-32603") },
		{ REQUEST("2", "tools/call",
		  "{\"name\":\"twice\",\"_meta\":{\"progressToken\":1}}"),
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":17,\"message\":\"first\","
		  "\"data\":{\"data\":true}}}" },
		{ REQUEST("3", "tools/call",
		  "{\"name\":\"no_object\",\"arguments\":{\"text\":\"[1]\"}}"),
		  ERROR("3", "-32603") },
		{ REQUEST("4", "tools/call",
		  "{\"name\":\"no_object\",\"arguments\":{\"text\":\"\"}}"),
		  ERROR("4", "-32603") },
		{ REQUEST("5", "tools/call",
		  "{\"name\":\"no_object\",\"arguments\":{\"text\":\"{}\"}}"),
		  RESULT("5", "{}") },
		{ REQUEST("7", "tools/call", "{\"name\":\"deep\"}"), ERROR("7", "-32603") },
		{ REQUEST("8", "tools/call", "{\"name\":\"pend\"}"), ERROR("8", "-32603") },
		{ REQUEST("9", "tools/call", "{\"name\":\"fail\"}"),
		  RESULT("9", "{\"content\":[{\"type\":\"text\",\"text\":\"It did not work.\"}],"
		         "\"isError\":true}") },
		{ REQUEST("6", "tools/call", "{\"name\":\"lacking\"}"),
		  "{\"jsonrpc\":\"2.0\",\"id\":6,"
		  "\"error\":{\"code\":-32600,\"message\":\"*\","
		  "\"data\":{\"requiredCapabilities\":{\"sampling\":{}}}}}" },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	wire_close(wire);
}

static void batches_are_of_two_versions(void **state)
{
	static const struct exchange exchanges[] = {
		{ "[" REQUEST("1", "ping", "{}") "," NOTIFICATION("x") "," REQUEST("2",
		  "no/such", "{}") "]",
		  "[" RESULT("1", "{}") "," ERROR("2", "-32601") "]" },
		{ "[" NOTIFICATION("x") "," NOTIFICATION("y") "]", NULL },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}]", NULL },
		{ "[]", ERROR("null", "-32600") },
		{ "[1,[],{},{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":1}]",
		  "[" ERROR("null", "-32600") "," ERROR("null", "-32600") "," ERROR("null",
		  "-32600") ","
		  ERROR("5", "-32600") "]" },
		{ "[" REQUEST("3", "initialize", "{\"protocolVersion\":\"2025-03-26\"}") "]",
		  "[" ERROR("3", "-32600") "]" },
		/* Answered when the last is. */
		{ "[" REQUEST("4", "tools/call",
		  "{\"name\":\"pause\",\"arguments\":{\"ms\":30}}") ","
		  REQUEST("5", "ping", "{}") "]",
		  "[" RESULT("5", "{}") "," RESULT("4", "\"*\"") "]" },
		{ "[" REQUEST("7", "tools/list", "{" META("{}", "") "}") "]",
		  "[" ERROR("7", "-32600") "]" },
		{ "[" REQUEST("6", "ping", "{}") "," REQUEST("6", "ping", "{}") "]",
		  "[" RESULT("6", "{}") "," RESULT("6", "{}") "]" },
	};
	static const char *const with[] = { "2024-11-05", "2025-03-26" };
	static const char *const without[] = { "2025-06-18", "2025-11-25" };
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		struct wire *wire = wire_open_version(&offer, with[i], "{}");

		talk(wire, exchanges, ARRAY_LEN(exchanges));
		wire_close(wire);
	}
	for (size_t i = 0; i < ARRAY_LEN(without); i++) {
		struct wire *wire = wire_open_version(&offer, without[i], "{}");

		wire_say(wire, exchanges[0].said);
		wire_expect(wire, ERROR("null", "-32600"));
		wire_close(wire);
	}
}

static void subscriptions_are_told_of_changes(void **state)
{
	static const struct exchange exchanges[] = {
		{ REQUEST("1", "resources/subscribe", "{\"uri\":\"test://a\"}"),
		  RESULT("1", "{}") },
		{ REQUEST("2", "resources/subscribe", "{\"uri\":\"test://a\"}"),
		  RESULT("2", "{}") },
		{ REQUEST("3", "resources/subscribe", "{\"uri\":\"test://b\"}"),
		  RESULT("3", "{}") },
		{ REQUEST("4", "resources/unsubscribe", "{\"uri\":\"test://b\"}"),
		  RESULT("4", "{}") },
		{ REQUEST("5", "resources/unsubscribe", "{\"uri\":\"test://c\"}"),
		  RESULT("5", "{}") },
	};
	struct happened happened;
	struct mcp_offer offer = offer_whole(&happened);
	struct wire *wire = wire_open_version(&offer, "2025-11-25", "{}");

	(void)state;
	talk(wire, exchanges, ARRAY_LEN(exchanges));
	assert_int_equal(happened.subscribed, 1);
	mcp_resource_updated(wire->server, "test://b");
	mcp_resource_updated(wire->server, "test://a");
	wire_expect(wire, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
	            "\"params\":{\"uri\":\"test://a\"}}");
	assert_int_equal(wire->lines[wire->count - 1].route, MCP_ROUTE_UNRELATED);
	mcp_resources_changed(wire->server);
	wire_expect(wire,
	  "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}");
	wire_expect_nothing(wire);
	wire_close(wire);
	assert_int_equal(happened.subscribed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_version_is_answered_with_itself),
		cmocka_unit_test(what_is_not_offered_is_not_declared_and_does_not_exist),
		cmocka_unit_test(an_offer_can_be_of_resources_alone),
		cmocka_unit_test(nothing_but_ping_comes_before_initialize),
		cmocka_unit_test(a_session_begins_gets_ready_and_ends_once),
		cmocka_unit_test(tools_have_the_members_of_their_version),
		cmocka_unit_test(tools_come_in_pages),
		cmocka_unit_test(structured_content_is_left_out_before_2025_06_18),
		cmocka_unit_test(parameters_are_checked_by_name),
		cmocka_unit_test(bad_handlers_are_answered_for),
		cmocka_unit_test(batches_are_of_two_versions),
		cmocka_unit_test(subscriptions_are_told_of_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
