/* SPDX-License-Identifier: Apache-2.0 */
#include "wire_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"
#include "data/json.h"

enum { PATIENCE_MS = 120000 };

static void wire_send(void *data, const struct mcp_outgoing *message)
{
	struct wire *wire = data;

	if (message->route == MCP_ROUTE_UNRELATED)
		assert_null(message->exchange);
	if (message->text.len)
		assert_null(memchr(message->text.data, '\n', message->text.len));
	if (message->exchange && message->route == MCP_ROUTE_FINAL)
		message->exchange->finals++;
	if (wire->count == wire->cap)
		wire->lines = mem_grow(wire->lines, &wire->cap, wire->count + 1,
		  sizeof(*wire->lines));
	wire->lines[wire->count++] = (struct wire_line){
		.route = message->route,
		.exchange = message->exchange,
		.error_code = message->error_code,
		.text = mem_dup(message->text.data ? message->text.data : "", message->text.len),
	};
	if (wire->count >= wire->wanted)
		loop_stop(wire->loop);
	if (message->exchange && message->exchange->close_peer &&
	    message->route == MCP_ROUTE_FINAL) {
		mcp_peer_close(wire->peer);
		wire->peer = NULL;
	}
}

static const char *wire_header(void *data, struct mcp_exchange *exchange, const char *name)
{
	(void)data;
	for (const char *const *at = exchange->headers; at && *at; at += 2) {
		if (strcasecmp(at[0], name) == 0)
			return at[1];
	}
	return NULL;
}

static void wire_close_stream(void *data, struct mcp_exchange *exchange, unsigned retry_ms)
{
	(void)data;
	assert_int_equal(retry_ms, 7);
	exchange->closed++;
}

static void wire_hang_up(void *data)
{
	struct wire *wire = data;

	wire->hung_up = true;
}

static void open_peer(struct wire *wire, bool headers, bool stateless)
{
	struct mcp_wire face = { .send = wire_send, .close_stream = wire_close_stream,
		.hang_up = wire_hang_up, .header = headers ? wire_header : NULL,
		.stateless = stateless };

	wire->stateless = stateless;
	wire->peer = mcp_peer_open(wire->server, &face, wire);
}

struct wire *wire_open_bare(const struct mcp_offer *offer)
{
	struct wire *wire = mem_alloc(1, sizeof(*wire));
	struct err err = ERR_INIT;

	assert_true(loop_new(&wire->loop, &err));
	wire->pool = pool_new(2, 256);
	wire->server = mcp_server_new(wire->loop, wire->pool, offer, &err);
	assert_non_null(wire->server);
	open_peer(wire, false, false);
	return wire;
}

struct wire *wire_open_beside(struct wire *wire, bool headers, bool stateless)
{
	struct wire *other = mem_alloc(1, sizeof(*other));

	other->loop = wire->loop;
	other->pool = wire->pool;
	other->server = wire->server;
	open_peer(other, headers, stateless);
	return other;
}

struct wire *wire_open_version(const struct mcp_offer *offer, const char *version,
                               const char *capabilities)
{
	struct wire *wire = wire_open_bare(offer);
	_cleanup_free_ char *line = mem_printf(
		"{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"method\":\"initialize\",\"params\":"
		"{\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":"
		"{\"name\":\"test\",\"version\":\"1\"}}}", version, capabilities);

	wire_say(wire, line);
	wire_say(wire, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	wire_run_until(wire, 1);
	assert_true(wire_matches(wire->lines[0].text,
	                         "{\"jsonrpc\":\"2.0\",\"id\":\"init\",\"result\":\"*\"}"));
	wire->seen = wire->count;
	return wire;
}

static void forget_lines(struct wire *wire)
{
	for (size_t i = 0; i < wire->count; i++)
		free(wire->lines[i].text);
	free(wire->lines);
}

void wire_close_beside(struct wire *wire)
{
	if (wire->peer)
		mcp_peer_close(wire->peer);
	forget_lines(wire);
	free(wire);
}

void wire_close(struct wire *wire)
{
	if (wire->peer)
		mcp_peer_close(wire->peer);
	mcp_server_free(wire->server);
	pool_free(wire->pool);
	loop_free(wire->loop);
	forget_lines(wire);
	free(wire);
}

void wire_say(struct wire *wire, const char *line)
{
	mcp_peer_receive_text(wire->peer, span_str(line));
}

void wire_say_on(struct wire *wire, struct mcp_exchange *exchange, const char *text)
{
	mcp_peer_receive_body(wire->peer, exchange, span_str(text));
}

/* --- Waiting ----------------------------------------------------------------------------- */

static void out_of_patience(void *data)
{
	struct wire *wire = data;

	for (size_t i = 0; i < wire->count; i++)
		print_message("sent: %s\n", wire->lines[i].text);
	fail_msg("%zu lines were sent, %zu were expected", wire->count, wire->wanted);
}

static void stop(void *data)
{
	loop_stop(data);
}

void wire_run_until(struct wire *wire, size_t count)
{
	struct loop_timer *timer;

	timer = loop_timer_start(wire->loop, PATIENCE_MS, 0, out_of_patience, wire);
	wire->wanted = count;
	while (wire->count < count)
		loop_run(wire->loop);
	wire->wanted = SIZE_MAX;
	loop_timer_stop(timer);
}

void wire_run_ms(struct wire *wire, unsigned ms)
{
	struct loop_timer *timer = loop_timer_start(wire->loop, ms, 0, stop, wire->loop);

	wire->wanted = SIZE_MAX;
	loop_run(wire->loop);
	loop_timer_stop(timer);
}

void wire_expect(struct wire *wire, const char *lines)
{
	struct span rest = span_str(lines);
	size_t count = 1;

	for (const char *at = lines; *at; at++)
		count += *at == '\n';
	wire_run_until(wire, wire->seen + count);
	while (count--) {
		const char *end = memchr(rest.data, '\n', rest.len);
		struct span line = span_head(rest, end ? (size_t)(end - rest.data) : rest.len);
		_cleanup_free_ char *expected = mem_dup(line.data, line.len);
		const char *text = wire->lines[wire->seen++].text;

		rest = span_skip(rest, line.len + 1);
		if (!wire_matches(text, expected))
			fail_msg("sent:     %s\nexpected: %s", text, expected);
	}
	if (wire->count != wire->seen)
		fail_msg("sent too: %s", wire->lines[wire->seen].text);
}

void wire_expect_nothing(struct wire *wire)
{
	wire_run_ms(wire, 50);
	if (wire->count != wire->seen)
		fail_msg("sent: %s", wire->lines[wire->seen].text);
}

/* --- Comparing --------------------------------------------------------------------------- */

static bool value_matches(const json_t *value, const json_t *expected);

static bool object_matches(const json_t *value, const json_t *expected)
{
	bool open = json_object_get(expected, "...") != NULL;
	size_t wanted = json_object_size(expected) - (open ? 1 : 0);
	const char *key;
	json_t *member;

	if (!json_is_object(value) || (!open && json_object_size(value) != wanted))
		return false;
	json_object_foreach((json_t *)expected, key, member) {
		if (strcmp(key, "...") != 0 &&
		    !value_matches(json_object_get(value, key), member))
			return false;
	}
	return true;
}

static bool array_matches(const json_t *value, const json_t *expected)
{
	size_t i;
	json_t *member;

	if (!json_is_array(value) || json_array_size(value) != json_array_size(expected))
		return false;
	json_array_foreach(expected, i, member) {
		if (!value_matches(json_array_get(value, i), member))
			return false;
	}
	return true;
}

static bool value_matches(const json_t *value, const json_t *expected)
{
	if (!value)
		return false;
	if (json_is_string(expected) && strcmp(json_string_value(expected), "*") == 0)
		return true;
	if (json_is_object(expected))
		return object_matches(value, expected);
	if (json_is_array(expected))
		return array_matches(value, expected);
	return json_equal((json_t *)value, (json_t *)expected);
}

bool wire_matches(const char *text, const char *expected)
{
	struct err err = ERR_INIT;
	json_t *value = NULL, *wanted = NULL;
	bool same;

	if (!json_parse(span_str(expected), &wanted, &err))
		fail_msg("expected: %s: %s", expected, err.message);
	if (!json_parse(span_str(text), &value, &err))
		fail_msg("sent: %s: %s", text, err.message);
	same = value_matches(value, wanted);
	json_decref(value);
	json_decref(wanted);
	return same;
}
