/* SPDX-License-Identifier: Apache-2.0 */
/* What callers of the A2A server send: JSON as the params of every operation, in both versions;
 * paths of the HTTP+JSON binding.
 *
 * What was read is read again as it is.  What 0.3 and 1.0 both have comes back from either as it
 * went there.  A refusal is text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "a2a/serve/wire.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum { OUT_BYTES = 1 << 24 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fault(struct a2a_fault *fault)
{
	json_auto_t *rpc = a2a_fault_rpc(fault), *rest = a2a_fault_rest(fault);
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_BYTES);

	if (!json_print(&out, rpc, 0) || !json_print(&out, rest, 0) ||
	    !utf8_valid(buf_view(&out)) || a2a_fault_http(fault) < 400)
		abort();
	a2a_fault_release(fault);
}

/* NULL: it was refused. */
static json_t *read_params(enum a2a_version version, enum a2a_operation operation,
                           const json_t *value)
{
	json_auto_t *canonical = a2a_version_params(version, operation, value);
	struct a2a_fault fault = { 0 };
	json_t *params = NULL;

	if (!a2a_fields_read(a2a_fields_of(operation), canonical, &params, &fault))
		check_fault(&fault);
	return params;
}

static void check_again(enum a2a_operation operation, const json_t *params)
{
	struct a2a_fault fault = { 0 };
	json_t *again = NULL;

	if (!a2a_fields_read(a2a_fields_of(operation), params, &again, &fault) ||
	    !json_equal(again, params))
		abort();
	json_decref(again);
}

/* The message of params as 0.3 has it, in an envelope. */
static json_t *old_message(const json_t *params)
{
	json_t *old;
	json_auto_t *response = json_pack("{s:O}", "message", json_object_get(params, "message"));

	old = a2a_version_event(A2A_V0_3, response);
	return json_pack("{s:o}", "message", old);
}

static void check_message(const json_t *params)
{
	json_auto_t *old = old_message(params);
	json_auto_t *back = read_params(A2A_V0_3, A2A_SEND, old);
	json_auto_t *again = NULL;

	if (!back)
		abort();
	again = old_message(back);
	if (!json_equal(old, again))
		abort();
}

/* The message of params as 0.3's Protocol Buffers file has it, in an envelope. */
static json_t *proto_message(const json_t *params)
{
	json_auto_t *response = json_pack("{s:O}", "message", json_object_get(params, "message"));

	return a2a_version_proto(A2A_STREAM, response);
}

static void check_proto(const json_t *params)
{
	json_auto_t *proto = proto_message(params);
	json_auto_t *back = read_params(A2A_V0_3, A2A_SEND, proto);
	json_auto_t *again = NULL;

	if (!back)
		abort();
	again = proto_message(back);
	if (!json_equal(proto, again))
		abort();
}

static void check_config(const json_t *params)
{
	json_auto_t *old = a2a_version_result(A2A_V0_3, A2A_PUSH_CREATE, params);
	json_auto_t *back = read_params(A2A_V0_3, A2A_PUSH_CREATE, old);
	json_auto_t *again = NULL;

	if (!back)
		abort();
	again = a2a_version_result(A2A_V0_3, A2A_PUSH_CREATE, back);
	/* A configuration without an id has its task's there. */
	if (json_string_length(json_object_get(params, "id")) && !json_equal(old, again))
		abort();
}

static void check_json(const json_t *value)
{
	for (int version = 0; version < A2A_VERSION_COUNT; version++)
		for (int operation = 0; operation < A2A_OPERATION_COUNT; operation++) {
			json_auto_t *params = read_params((enum a2a_version)version,
			                                  (enum a2a_operation)operation, value);

			if (!params)
				continue;
			check_again((enum a2a_operation)operation, params);
			if (operation == A2A_SEND) {
				check_message(params);
				check_proto(params);
			}
			if (operation == A2A_PUSH_CREATE)
				check_config(params);
		}
}

/* Answers of either form are one of the protocol's messages, or refused. */
static void check_events(const json_t *value)
{
	struct a2a_fault fault = { 0 };
	json_t *read = NULL;

	if (!a2a_fields_read(A2A_MESSAGE_STREAM_RESPONSE, value, &read, &fault)) {
		check_fault(&fault);
		return;
	}
	json_decref(a2a_version_event(A2A_V0_3, read));
	json_decref(a2a_version_proto(A2A_STREAM, read));
	json_decref(read);
}

static void check_path(struct span text)
{
	static const char *const methods[] = { "GET", "POST", "DELETE" };
	_cleanup_free_ char *path = mem_dup(text.data, text.len);
	const char *allowed;
	enum a2a_version version;

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (a2a_rest_find(methods[i], path, &allowed) && allowed &&
		    !strcmp(allowed, methods[i]))
			abort();
	a2a_version_read(path, &version);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span text = span_of((const char *)data, size);
	struct err err = ERR_INIT;
	json_auto_t *value = NULL;

	check_path(text);
	if (!json_parse_depth(text, LIMIT_A2A_DEPTH, &value, &err))
		return 0;
	check_json(value);
	check_events(value);
	return 0;
}
