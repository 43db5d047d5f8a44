/* SPDX-License-Identifier: Apache-2.0 */
/* A server made from mcp/protocol/server.h that offers what the official conformance suite asks for.
 *
 *     conformance_server            HTTP on a free port, which it prints: "port 12345"
 *     conformance_server --stdio
 *
 * It serves until its standard input ends or it is told to stop.  The resources,
 * prompts and tools that ask are in the files beside this one.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "conformance.h"
#include "mcp/transport/transport.h"

/* --- Shared by the fixtures --------------------------------------------------------------- */

void fixture_constant(struct mcp_call *call, void *data)
{
	mcp_call_result(call, json_loads(data, 0, NULL));
}

void fixture_answer(struct mcp_call *call, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	mcp_call_result(call, mcp_text_result(text ? text : ""));
	free(text);
}

const char *fixture_string(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));
	return value ? value : "";
}

/* --- Tools that ask nothing --------------------------------------------------------------- */

static void nap(unsigned ms)
{
	usleep(ms * 1000);
}

static void test_tool_with_logging(struct mcp_call *call, void *data)
{
	static const char *const steps[] = { "Tool execution started", "Tool processing data",
		                             "Tool execution completed" };
	(void)data;
	for (size_t i = 0; i < 3; i++) {
		mcp_call_log(call, MCP_INFO, "conformance", json_string(steps[i]));
		if (i < 2)
			nap(60);
	}
	mcp_call_result(call, mcp_text_result("Logged three messages"));
}

static void test_tool_with_progress(struct mcp_call *call, void *data)
{
	(void)data;
	for (unsigned done = 0; done <= 100; done += 50) {
		mcp_call_progress(call, done, 100, NULL);
		if (done < 100)
			nap(60);
	}
	mcp_call_result(call, mcp_text_result("Went through three steps"));
}

static void test_error_handling(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_result(call, mcp_error_result(
		"This tool intentionally returns an error for testing"));
}

static void test_reconnection(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_close_stream(call, 500);
	nap(100);
	mcp_call_result(call, mcp_text_result("Answered after the stream had been closed"));
}

static void test_logging_tool(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_log(call, MCP_INFO, "conformance", json_string("Evaluated"));
	mcp_call_result(call, mcp_text_result("Logging evaluated"));
}

static void json_schema_tool(struct mcp_call *call, void *data)
{
	(void)data;
	fixture_answer(call, "Hello, %s", fixture_string(mcp_call_arguments(call), "name"));
}

static void test_x_mcp_header(struct mcp_call *call, void *data)
{
	(void)data;
	fixture_answer(call, "Region %s", fixture_string(mcp_call_arguments(call), "region"));
}

/* --- The table ---------------------------------------------------------------------------- */

#define NOTHING "{\"type\": \"object\", \"properties\": {}}"
#define CONTENT(items) (void *)"{\"content\": [" items "]}"
#define TEXT(text) "{\"type\": \"text\", \"text\": \"" text "\"}"
#define IMAGE "{\"type\": \"image\", \"data\": \"" FIXTURE_PNG "\", \"mimeType\": \"image/png\"}"
#define AUDIO "{\"type\": \"audio\", \"data\": \"" FIXTURE_WAV "\", \"mimeType\": \"audio/wav\"}"
#define RESOURCE(uri, type, text)                                                             \
	"{\"type\": \"resource\", \"resource\": {\"uri\": \"" uri "\", \"mimeType\": \"" type \
	"\", \"text\": \"" text "\"}}"

/* SEP-1613 and SEP-2106: what JSON Schema 2020-12 has beyond properties. */
static const char schema_2020_12[] =
	"{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"type\": \"object\","
	" \"$defs\": {\"address\": {\"$anchor\": \"addressDef\", \"type\": \"object\","
	"  \"properties\": {\"street\": {\"type\": \"string\"},"
	"   \"city\": {\"type\": \"string\"}}}},"
	" \"properties\": {\"name\": {\"type\": \"string\"},"
	"  \"address\": {\"$ref\": \"#/$defs/address\"},"
	"  \"contactMethod\": {\"type\": \"string\", \"enum\": [\"phone\", \"email\"]},"
	"  \"phone\": {\"type\": \"string\"}, \"email\": {\"type\": \"string\"}},"
	" \"allOf\": [{\"anyOf\": [{\"required\": [\"phone\"]}, {\"required\": [\"email\"]}]}],"
	" \"if\": {\"properties\": {\"contactMethod\": {\"const\": \"phone\"}},"
	"  \"required\": [\"contactMethod\"]},"
	" \"then\": {\"required\": [\"phone\"]}, \"else\": {\"required\": [\"email\"]},"
	" \"additionalProperties\": false}";

/* SEP-2243: an argument that clients repeat in a header of the request. */
static const char schema_with_header[] =
	"{\"type\": \"object\", \"properties\": {\"region\": {\"type\": \"string\","
	" \"x-mcp-header\": \"Region\"}}}";

static const struct mcp_tool plain_tools[] = {
	{ .name = "test_simple_text", .description = "Answers with a text",
	  .input_schema = NOTHING, .quick = true, .run = fixture_constant,
	  .data = CONTENT(TEXT("This is a simple text response for testing.")) },
	{ .name = "test_image_content", .description = "Answers with an image",
	  .input_schema = NOTHING, .quick = true, .run = fixture_constant, .data = CONTENT(IMAGE) },
	{ .name = "test_audio_content", .description = "Answers with a sound",
	  .input_schema = NOTHING, .quick = true, .run = fixture_constant, .data = CONTENT(AUDIO) },
	{ .name = "test_embedded_resource", .description = "Answers with a resource",
	  .input_schema = NOTHING, .quick = true, .run = fixture_constant,
	  .data = CONTENT(RESOURCE("test://embedded-resource", "text/plain",
	                           "This is an embedded resource content.")) },
	{ .name = "test_multiple_content_types", .description = "Answers with three kinds at once",
	  .input_schema = NOTHING, .quick = true, .run = fixture_constant,
	  .data = CONTENT(TEXT("Multiple content types test:") "," IMAGE ","
	                  RESOURCE("test://mixed-content-resource", "application/json",
	                           "{\\\"test\\\":\\\"data\\\",\\\"value\\\":123}")) },
	{ .name = "test_tool_with_logging", .description = "Logs while it runs",
	  .input_schema = NOTHING, .run = test_tool_with_logging },
	{ .name = "test_tool_with_progress", .description = "Tells how far it is",
	  .input_schema = NOTHING, .run = test_tool_with_progress },
	{ .name = "test_error_handling", .description = "Always fails",
	  .input_schema = NOTHING, .quick = true, .run = test_error_handling },
	{ .name = "test_reconnection", .description = "Ends its stream before its answer",
	  .input_schema = NOTHING, .run = test_reconnection },
	{ .name = "test_logging_tool", .description = "Logs one message",
	  .input_schema = NOTHING, .quick = true, .run = test_logging_tool },
	{ .name = "json_schema_2020_12_tool", .description = "Has a schema with every keyword",
	  .input_schema = schema_2020_12, .quick = true, .run = json_schema_tool },
	{ .name = "test_x_mcp_header", .description = "Has an argument that is in a header too",
	  .input_schema = schema_with_header, .quick = true, .run = test_x_mcp_header },
};
enum { PLAIN_COUNT = sizeof(plain_tools) / sizeof(plain_tools[0]), TOOLS_MAX = 64 };

/* --- Serving ------------------------------------------------------------------------------ */

static void stop(void *data)
{
	loop_stop(data);
}

static void stop_by_signal(void *data, int signal)
{
	(void)signal;
	loop_stop(data);
}

/* Whoever started this is gone, or wants it to end. */
static void input_ready(void *data)
{
	char rest[256];
	if (read(0, rest, sizeof(rest)) <= 0)
		loop_stop(data);
}

static bool serve_http(struct mcp_server *server, struct loop *loop, struct err *err)
{
	struct mcp_http *http;
	if (!mcp_serve_http(server, loop, &(struct mcp_http_options){ .port = 0 }, &http, err))
		return false;
	printf("port %u\n", mcp_http_port(http));
	fflush(stdout);
	struct loop_watch *watch = loop_watch_start(loop, 0, input_ready, loop);
	loop_run(loop);
	loop_watch_stop(watch);
	mcp_http_free(http);
	return true;
}

static bool serve_stdio(struct mcp_server *server, struct loop *loop, struct err *err)
{
	struct mcp_stdio *stdio;
	if (!mcp_serve_stdio(server, loop, 0, 1, stop, loop, &stdio, err))
		return false;
	loop_run(loop);
	mcp_stdio_free(stdio);
	return true;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	struct loop *loop;
	if (!loop_new(&loop, &err) || !loop_on_signal(loop, SIGTERM, stop_by_signal, loop, &err)) {
		fprintf(stderr, "%s\n", err.message);
		return 1;
	}
	struct mcp_tool tools[TOOLS_MAX];
	memcpy(tools, plain_tools, sizeof(plain_tools));
	memcpy(tools + PLAIN_COUNT, asking_tools, asking_tool_count * sizeof(tools[0]));
	const struct mcp_offer offer = {
		.name = "conformance", .title = "Conformance fixtures", .version = "1",
		.tools = tools, .tool_count = PLAIN_COUNT + asking_tool_count,
		.list_resources = content_list_resources, .list_templates = content_list_templates,
		.read_resource = content_read_resource,
		.subscribe = content_subscribe, .unsubscribe = content_unsubscribe,
		.prompts = content_prompts, .get_prompt = content_get_prompt,
		.complete = content_complete,
	};
	struct pool *pool = pool_new(0, 64);
	struct mcp_server *server = mcp_server_new(loop, pool, &offer, &err);
	bool on_stdio = argc > 1 && strcmp(argv[1], "--stdio") == 0;
	bool ok = server && (on_stdio ? serve_stdio(server, loop, &err) :
	                                serve_http(server, loop, &err));
	if (!ok)
		fprintf(stderr, "%s\n", err.message);
	mcp_server_free(server);
	pool_free(pool);
	loop_free(loop);
	return ok ? 0 : 1;
}
