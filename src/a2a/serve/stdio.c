/* SPDX-License-Identifier: Apache-2.0 */
/* One caller on standard input and output: JSON-RPC, a message a line, both ways.  A stream's
 * events are responses with its request's id, one a line;
 * {"jsonrpc", "id", "result": null} ends it.
 *
 * The end of the input is the client's end: what it waits for is not interrupted. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

struct a2a_stdio {
	struct a2a_server *server;
	void (*ended)(struct a2a_server *server);
	struct loop_stream *stream;
	struct rpc_reader reader;
	struct a2a_caller *caller;
	bool is_full;
	bool has_ended;
};

/* ---- out ------------------------------------------------------------------------- */

static void stdio_write(struct a2a_stdio *stdio, struct span line)
{
	const struct span parts[] = { line, SPAN("\n") };

	stdio->is_full = loop_stream_writev(stdio->stream, parts, ARRAY_LEN(parts)) >
	                 LIMIT_A2A_STREAM_WAITING;
}

static void stdio_sink_answer(struct a2a_served_request *exchange, unsigned status,
                              struct buf *text)
{
	(void)status;
	if (exchange->sink_data)
		stdio_write(exchange->sink_data, buf_view(text));
}

static void stdio_sink_piece(struct a2a_served_request *exchange, struct span text, uint64_t number)
{
	(void)number;
	if (exchange->sink_data)
		stdio_write(exchange->sink_data, text);
}

static void stdio_sink_end(struct a2a_served_request *exchange)
{
	json_auto_t *last = exchange->form->result(exchange, json_null());
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RPC_ID_BYTES * 8);

	json_print(&text, last, 0);
	if (exchange->sink_data)
		stdio_write(exchange->sink_data, buf_view(&text));
}

static bool stdio_sink_is_slow(const struct a2a_served_request *exchange)
{
	const struct a2a_stdio *stdio = exchange->sink_data;

	return stdio && stdio->is_full;
}

static const struct a2a_sink stdio_sink = {
	stdio_sink_answer, stdio_sink_piece, stdio_sink_end, stdio_sink_is_slow,
};

/* ---- in -------------------------------------------------------------------------- */

/* As rpc_line_handler. */
static bool stdio_line(void *data, struct span line, bool too_long)
{
	struct a2a_stdio *stdio = data;
	struct a2a_served_request *exchange = a2a_exchange_new(
		stdio->server, a2a_caller_ref(stdio->caller), NULL, &a2a_rpc_form);
	struct a2a_fault fault = { 0 };

	exchange->sink = &stdio_sink;
	exchange->sink_data = stdio;
	if (!too_long) {
		a2a_rpc_take(exchange, line, false);
		return true;
	}
	a2a_fault_set(&fault, A2A_FAULT_REQUEST, "The request is longer than %zu bytes.",
	              LIMIT_A2A_BODY_BYTES);
	a2a_exchange_refuse(exchange, &fault);
	return true;
}

static void stdio_data(void *data, struct span bytes)
{
	struct a2a_stdio *stdio = data;

	rpc_feed(&stdio->reader, bytes, stdio_line, stdio);
}

static void stdio_ended(void *data, int sys_errno)
{
	struct a2a_stdio *stdio = data;

	(void)sys_errno;
	if (!stdio->has_ended)
		stdio->ended(stdio->server);
	stdio->has_ended = true;
}

bool a2a_stdio_open(struct a2a_server *server, void (*ended)(struct a2a_server *server),
                    struct a2a_stdio **ret, struct err *err)
{
	static const struct loop_stream_events events = {
		.data = stdio_data, .end = stdio_ended, .broken = stdio_ended,
	};
	struct a2a_stdio *stdio = mem_alloc(1, sizeof(*stdio));
	const char *name = server->options->caller ? server->options->caller : "token";

	stdio->server = server;
	stdio->ended = ended;
	stdio->caller = a2a_callers_find(server->callers, name);
	rpc_reader_init(&stdio->reader, LIMIT_A2A_BODY_BYTES);
	*ret = stdio;
	if (!stdio->caller)
		return err_set(err, ERR_INVALID_ARGUMENT, "There is no caller \"%.100s\" in "
		               "hasp.a2a.callers.", name);
	return loop_stream_open(server->loop, STDIN_FILENO, STDOUT_FILENO, &events, stdio,
	                        &stdio->stream, err);
}

void a2a_stdio_free(struct a2a_stdio *stdio)
{
	if (!stdio)
		return;
	if (stdio->stream)
		loop_stream_close(stdio->stream, 1000);
	rpc_reader_release(&stdio->reader);
	a2a_caller_unref(stdio->caller);
	free(stdio);
}
