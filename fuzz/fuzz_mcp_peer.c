/* SPDX-License-Identifier: Apache-2.0 */
/* Lines to a whole peer: every line that comes back is JSON-RPC, every call comes to an end, and
 * everything can be freed then.  The first byte chooses the version that the peer begins with,
 * and whether it is one of HTTP. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "mcp/protocol/peer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MANY_LINES = 50, TOO_SLOW_MS = 20000 };

struct mcp_exchange {
	struct span header; /* what every header says */
	unsigned finals;
};

static void echo(struct mcp_call *call, void *data)
{
	struct buf text = BUF_INIT(1 << 20);

	(void)data;
	buf_str(&text, "{\"structuredContent\":");
	json_print(&text, mcp_call_arguments(call), 0);
	buf_str(&text, ",\"content\":[]}");
	mcp_call_progress(call, 1, 2, "half");
	mcp_call_log(call, MCP_WARNING, "echo", json_copy((json_t *)mcp_call_params(call)));
	mcp_call_result_text(call, &text);
}

static void ask(struct mcp_call *call, void *data)
{
	json_t *answer = NULL;
	enum mcp_ask asked = mcp_call_ask(call, "q", "elicitation/create", NULL, 1, &answer);

	(void)data;
	mcp_call_set_state(call, "s");
	if (asked == MCP_ASK_PENDING)
		mcp_call_pending(call);
	else if (asked == MCP_ASK_ANSWERED)
		mcp_call_result(call, json_incref(answer));
	else
		mcp_call_error(call, 1, "no answer", NULL);
	json_decref(answer);
}

static void read_resource(struct mcp_call *call, void *data)
{
	(void)data;
	mcp_call_not_found(call);
}

static bool subscribe(void *session, const char *uri, struct err *err)
{
	(void)session;
	return uri[0] == 'a' || err_set(err, ERR_FILE_NOT_FOUND, "No %s.", uri);
}

static void unsubscribe(void *session, const char *uri)
{
	(void)session;
	(void)uri;
}

static const struct mcp_tool tools[] = {
	{ .name = "echo", .description = "Echoes.", .quick = true, .run = echo,
	  .input_schema = "{\"type\":\"object\",\"properties\":{\"h\":{\"type\":\"string\","
	                  "\"x-mcp-header\":\"H\"}}}" },
	{ .name = "later", .description = "Echoes.", .input_schema = "{}", .run = echo },
	{ .name = "ask", .description = "Asks.", .input_schema = "{}", .run = ask },
};

static const struct mcp_offer offer = {
	.name = "fuzz", .version = "1", .tools = tools, .tool_count = ARRAY_LEN(tools),
	  .page_size = 2,
	.prompts = "[{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"required\":true}]}]",
	.get_prompt = echo, .complete = echo, .list_resources = echo,
	.read_resource = read_resource, .subscribe = subscribe, .unsubscribe = unsubscribe,
};

struct waiting {
	struct loop *loop;
	bool runs;
};

static void wire_send(void *data, const struct mcp_outgoing *message)
{
	struct waiting *waiting = data;
	struct err err = ERR_INIT;
	json_t *value;

	if (message->exchange && message->route == MCP_ROUTE_FINAL && message->exchange->finals++)
		abort();
	if (waiting->runs)
		loop_stop(waiting->loop);
	if (!message->text.len && message->exchange && message->route == MCP_ROUTE_FINAL)
		return;
	if (memchr(message->text.data, '\n', message->text.len) ||
	    !json_parse(message->text, &value, &err))
		abort();
	if (!json_is_array(value) &&
	    !span_eq(json_span(json_object_get(value, "jsonrpc")), SPAN("2.0")))
		abort();
	json_decref(value);
}

static const char *wire_header(void *data, struct mcp_exchange *exchange, const char *name)
{
	(void)data;
	if (strcmp(name, "MCP-Protocol-Version") == 0)
		return "2026-07-28";
	return exchange->header.len ? exchange->header.data : NULL;
}

static void too_slow(void *data)
{
	(void)data;
	abort();
}

static void say_all(struct mcp_peer *peer, struct span text, bool http)
{
	struct mcp_exchange exchanges[MANY_LINES] = { 0 };
	char headers[MANY_LINES][64];
	struct span line;

	for (size_t i = 0; i < MANY_LINES && line_next(&text, &line); i++) {
		struct span head = span_head(line_body(line), sizeof(headers[i]) - 1);

		memcpy(headers[i], head.data, head.len);
		headers[i][head.len] = '\0';
		exchanges[i].header = span_of(headers[i], head.len);
		if (!http)
			mcp_peer_receive_text(peer, line_body(line));
		else if (mcp_peer_receive_body(peer, &exchanges[i], line_body(line)) &&
		         !exchanges[i].finals)
			mcp_peer_abandon(peer, &exchanges[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const first[] = { NULL, "2024-11-05", "2025-03-26", "2025-06-18",
	                                     "2025-11-25" };
	struct mcp_wire wire = { .send = wire_send };
	struct loop_timer *patience;
	struct mcp_server *server;
	struct mcp_peer *peer;
	struct err err = ERR_INIT;
	struct waiting waiting = { 0 };
	struct loop *loop;
	struct pool *pool;

	if (size < 1 || !loop_new(&loop, &err))
		return 0;
	if (data[0] & 8)
		wire.header = wire_header;
	wire.stateless = data[0] & 16;
	pool = pool_new(2, 8);
	server = mcp_server_new(loop, pool, &offer, &err);
	if (!server)
		abort();
	waiting.loop = loop;
	peer = mcp_peer_open(server, &wire, &waiting);
	if (first[(data[0] & 7) % ARRAY_LEN(first)]) {
		_cleanup_free_ char *line = mem_printf(
			"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
			"\"protocolVersion\":\"%s\",\"capabilities\":{\"elicitation\":{}}}}",
			first[(data[0] & 7) % ARRAY_LEN(first)]);

		mcp_peer_receive_text(peer, span_str(line));
	}
	say_all(peer, span_of((const char *)data + 1, size - 1), wire.header);
	mcp_resource_updated(server, "a");
	mcp_resources_changed(server);
	patience = loop_timer_start(loop, TOO_SLOW_MS, 0, too_slow, NULL);
	waiting.runs = true;
	while (mcp_peer_calls(peer))
		loop_run(loop);
	waiting.runs = false;
	loop_timer_stop(patience);
	mcp_peer_finish(peer);
	if (data[0] & 32)
		mcp_peer_close(peer);
	mcp_server_free(server);
	if (!(data[0] & 32))
		mcp_peer_close(peer);
	pool_free(pool);
	loop_run(loop); /* what was posted last, and a stop that came too late */
	loop_free(loop);
	return 0;
}
