/* SPDX-License-Identifier: Apache-2.0 */
/* An order, from its params to the end of its answer, whichever binding it came by. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "a2a/serve/wire.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/http/sse.h"

static struct a2a_served_request *exchange_of(const struct a2a_order *order)
{
	return (struct a2a_served_request *)((char *)order -
	                                     offsetof(struct a2a_served_request, order));
}

static void exchange_free(struct a2a_served_request *exchange)
{
	struct a2a_order *order = &exchange->order;

	if (order->http)
		http_request_set_data(order->http, NULL);
	a2a_caller_unref(order->caller);
	json_decref(order->params);
	json_decref(order->extensions);
	json_decref(exchange->id);
	free(exchange);
}

/* ---- over HTTP ------------------------------------------------------------------- */

static void http_sink_answer(struct a2a_served_request *exchange, unsigned status, struct buf *text)
{
	if (exchange->order.http)
		http_answer(exchange->order.http, status, exchange->form->type(exchange), text);
}

static void http_sink_piece(struct a2a_served_request *exchange, struct span text, uint64_t number)
{
	_cleanup_buf_ struct buf event = BUF_INIT(LIMIT_STREAM_BACKLOG);
	struct http_request *request = exchange->order.http;
	char id[24];

	if (!request)
		return;
	if (!exchange->is_streaming)
		http_stream_begin(request);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)number);
	sse_write(&event, number ? id : NULL, text);
	http_stream_write(request, buf_view(&event));
}

static void http_sink_end(struct a2a_served_request *exchange)
{
	struct http_request *request = exchange->order.http;

	if (!request)
		return;
	if (!exchange->is_streaming)
		http_stream_begin(request);
	http_stream_end(request);
}

static bool http_sink_is_slow(const struct a2a_served_request *exchange)
{
	const struct http_request *request = exchange->order.http;

	return request && exchange->is_streaming &&
	       http_stream_waiting(request) > LIMIT_A2A_STREAM_WAITING;
}

static const struct a2a_sink http_sink = {
	http_sink_answer, http_sink_piece, http_sink_end, http_sink_is_slow,
};

static void exchange_leave(struct a2a_served_request *exchange)
{
	struct a2a_order *order = &exchange->order;

	order->http = NULL;
	exchange->sink_data = NULL;
	if (!order->left)
		return; /* it goes on, and ends for no reader */
	order->left(order);
	exchange_free(exchange);
}

/* As a2a_held.closed. */
static void exchange_closed(struct a2a_held *held)
{
	exchange_leave((struct a2a_served_request *)held);
}

/* As a2a_held.drained. */
static void exchange_drained(struct a2a_held *held)
{
	struct a2a_served_request *exchange = (struct a2a_served_request *)held;

	if (exchange->order.drained)
		exchange->order.drained(&exchange->order);
}

/* ---- the order's functions ------------------------------------------------------- */

static void exchange_print(const json_t *value, struct buf *text)
{
	if (!json_print(text, value, 0)) {
		buf_clear(text);
		buf_str(text, "{}");
	}
}

/* A result, or an event of a stream, as the client reads it; a new reference. */
static json_t *exchange_word(const struct a2a_served_request *exchange, const json_t *canonical)
{
	const struct a2a_order *order = &exchange->order;
	json_t *result = exchange->form->is_proto && order->version == A2A_V0_3 ?
		a2a_version_proto(order->operation, canonical) :
		a2a_version_result(order->version, order->operation, canonical);

	return exchange->form->result(exchange, result);
}

/* As a2a_order.answer. */
static void exchange_answer(struct a2a_order *order, json_t *result)
{
	struct a2a_served_request *exchange = exchange_of(order);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *canonical = result;
	json_auto_t *whole = exchange_word(exchange, canonical);

	exchange_print(whole, &text);
	exchange->sink->answer(exchange, 200, &text);
	exchange_free(exchange);
}

/* As a2a_order.refuse. */
static void exchange_refuse(struct a2a_order *order, struct a2a_fault *fault)
{
	struct a2a_served_request *exchange = exchange_of(order);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *whole = exchange->form->fault(exchange, fault);
	const unsigned status = a2a_fault_http(fault);
	/* What HTTP itself has a word for is said in it by both bindings. */
	const bool is_plain = status == 401 || status == 403 || status == 429;

	exchange_print(whole, &text);
	if (exchange->is_streaming) {
		exchange->sink->piece(exchange, buf_view(&text), 0);
		exchange->sink->end(exchange);
	} else {
		exchange->sink->answer(exchange, exchange->form->has_status || is_plain ?
		                                 status : 200, &text);
	}
	a2a_fault_release(fault);
	exchange_free(exchange);
}

/* As a2a_order.event. */
static void exchange_event(struct a2a_order *order, const json_t *response, uint64_t number)
{
	struct a2a_served_request *exchange = exchange_of(order);
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_auto_t *whole = exchange_word(exchange, response);

	exchange_print(whole, &text);
	exchange->sink->piece(exchange, buf_view(&text), number);
	exchange->is_streaming = true;
}

/* As a2a_order.end. */
static void exchange_end(struct a2a_order *order)
{
	struct a2a_served_request *exchange = exchange_of(order);

	exchange->sink->end(exchange);
	exchange_free(exchange);
}

/* As a2a_order.is_slow. */
static bool exchange_is_slow(const struct a2a_order *order)
{
	const struct a2a_served_request *exchange = exchange_of(order);

	return exchange->sink->is_slow(exchange);
}

/* ---- the beginning --------------------------------------------------------------- */

struct a2a_served_request *a2a_exchange_new(struct a2a_server *server, struct a2a_caller *caller,
                                      struct http_request *request, const struct a2a_form *form)
{
	struct a2a_served_request *exchange = mem_alloc(1, sizeof(*exchange));

	exchange->held = (struct a2a_held){ exchange_closed, exchange_drained };
	exchange->form = form;
	exchange->sink = &http_sink;
	exchange->order = (struct a2a_order){
		.server = server, .caller = caller, .http = request, .version = A2A_V1_0,
		.answer = exchange_answer, .refuse = exchange_refuse, .event = exchange_event,
		.end = exchange_end, .is_slow = exchange_is_slow, .binding = exchange,
	};
	if (request)
		http_request_set_data(request, &exchange->held);
	return exchange;
}

/* The agent has no tenants: one that is named is another agent's. */
static bool params_check_tenant(const json_t *params, struct a2a_fault *fault)
{
	if (!json_string_length(json_object_get(params, "tenant")))
		return true;
	a2a_fault_field(fault, "tenant", "this agent has no tenants");
	return false;
}

void a2a_exchange_begin(struct a2a_served_request *exchange, enum a2a_operation operation,
                        const json_t *params)
{
	struct a2a_order *order = &exchange->order;
	json_auto_t *canonical = a2a_version_params(order->version, operation, params);
	struct a2a_fault fault = { 0 };

	order->operation = operation;
	if (!a2a_fields_read(a2a_fields_of(operation), canonical, &order->params, &fault) ||
	    !params_check_tenant(order->params, &fault)) {
		exchange_refuse(order, &fault);
		return;
	}
	if (exchange->is_notification) { /* what else is wrong comes first */
		a2a_fault_set(&fault, A2A_FAULT_REQUEST,
		              "The request has no id: notifications are not supported.");
		exchange_refuse(order, &fault);
		return;
	}
	a2a_order_begin(order);
}

void a2a_exchange_refuse(struct a2a_served_request *exchange, struct a2a_fault *fault)
{
	exchange_refuse(&exchange->order, fault);
}
