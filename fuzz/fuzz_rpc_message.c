/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as a JSON-RPC message: what is read can be written and read again; what is refused
 * gets an answer that is a message. */
#include <stdint.h>
#include <stdlib.h>

#include "base/limits.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_a_message(struct span text, enum rpc_kind kind, const json_t *id,
                              const json_t *body)
{
	struct rpc_message message;
	struct rpc_problem problem;

	if (memchr(text.data, '\n', text.len) || !rpc_parse(text, &message, &problem))
		abort();
	if (message.kind != kind || (id && !json_equal((json_t *)message.id, (json_t *)id)) ||
	    (body && !json_equal((json_t *)message.body, (json_t *)body)))
		abort();
	rpc_message_release(&message);
}

static void write_again(const struct rpc_message *message)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	switch (message->kind) {
	case RPC_REQUEST:
		rpc_write_request(&out, 7, message->method, message->body);
		must_be_a_message(buf_view(&out), RPC_REQUEST, NULL, message->body);
		break;
	case RPC_NOTIFICATION:
		rpc_write_notification(&out, message->method, message->body);
		must_be_a_message(buf_view(&out), RPC_NOTIFICATION, NULL, message->body);
		break;
	case RPC_RESULT:
		rpc_write_result(&out, message->id, message->body);
		must_be_a_message(buf_view(&out), RPC_RESULT, message->id, message->body);
		break;
	case RPC_ERROR:
		rpc_write_error(&out, message->id, 1, "message", message->body);
		must_be_a_message(buf_view(&out), RPC_ERROR, message->id, NULL);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	struct rpc_message message;
	struct rpc_problem problem;
	struct rpc_remains remains;

	rpc_remains_read(span_of((const char *)data, size), &remains);
	if (rpc_parse(span_of((const char *)data, size), &message, &problem)) {
		write_again(&message);
		rpc_message_release(&message);
		return 0;
	}
	rpc_write_error(&out, problem.id, problem.code, problem.message, NULL);
	must_be_a_message(buf_view(&out), RPC_ERROR, problem.id, NULL);
	rpc_problem_release(&problem);
	return 0;
}
