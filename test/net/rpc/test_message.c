/* SPDX-License-Identifier: Apache-2.0 */
/* message: what is a message, what is answered to the rest, how messages are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "net/rpc/rpc.h"

static char *printed(const json_t *value)
{
	struct buf out = BUF_INIT(1 << 20);

	if (!value)
		return mem_strdup("-");
	assert_true(json_print(&out, value, 0));
	return buf_steal(&out);
}

static void messages_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		enum rpc_kind kind;
		const char *id, *method, *body;
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\"}", RPC_REQUEST, "1", "a", "-" },
		{ " {\"id\":\"x\",\"params\":{\"b\":[]},\"method\":\"a\",\"jsonrpc\":\"2.0\"} ",
		  RPC_REQUEST, "\"x\"", "a", "{\"b\":[]}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":-9223372036854775808,\"method\":\"\",\"params\":"
		  "null}",
		  RPC_REQUEST, "-9223372036854775808", "", "-" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"method\":\"a\",\"more\":1}", RPC_REQUEST,
		  "\"\"",
		  "a", "-" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}", RPC_NOTIFICATION, "-",
		  "n",
		  "{}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"a\":1}}", RPC_RESULT, "3", NULL,
		  "{\"a\":1}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":null}", RPC_RESULT, "3", NULL, "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":1}}", RPC_ERROR, "3", NULL,
		  "{\"code\":1}" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}", RPC_ERROR, "-", NULL, "{}" },
		{ "{\"jsonrpc\":\"2.0\",\"error\":{}}", RPC_ERROR, "-", NULL, "{}" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rpc_message message;
		struct rpc_problem problem;

		assert_true(rpc_parse(span_str(cases[i].text), &message, &problem));
		_cleanup_free_ char *id = printed(message.id);
		_cleanup_free_ char *body = printed(message.body);
		assert_int_equal(message.kind, cases[i].kind);
		assert_string_equal(id, cases[i].id);
		assert_string_equal(body, cases[i].body);
		if (cases[i].method)
			assert_string_equal(message.method, cases[i].method);
		else
			assert_null(message.method);
		rpc_message_release(&message);
	}
}

static void what_is_left_of_a_broken_message_is_read(void **state)
{
	static const struct {
		const char *text;
		size_t messages;
		bool is_call, has_id;
		int64_t id;
	} cases[] = {
		{ "", 0, false, false, 0 },
		{ "hello {", 0, false, false, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{\"a\":1,\"a\"", 1, false, true, 7 },
		{ "{\"jsonrpc\":\"2.0\",\"result\":{\"id\":3},\"id\" : \"12\" ", 1, false, true, 12 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,", 1, false, true, 1 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,", 1, false, false, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"id\":2", 1, false, false, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,", 1, false, false, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,", 1, false, false, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\":99999999999999999999,", 1, false, false, 0 },
		{ "{\"id\":4,\"method\":\"\\\"jsonrpc\\\":\",", 0, true, true, 4 },
		{ "{\"id\":4,\"result\":", 1, false, true, 4 },
		{ "{\"id\":4,\"level\":\"info\"}", 0, false, true, 4 },
		{ "[{\"jsonrpc\":\"2.0\",\"id\":1},{\"jsonrpc\":\"2.0\",\"id\":2},", 2, false, false, 0 },
		{ "{\"jsonrpc\":\"2.0\",\"id\": 7\n}", 1, false, true, 7 },
		{ "{\"a\":\"\\", 0, false, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rpc_remains remains;

		rpc_remains_read(span_str(cases[i].text), &remains);
		assert_int_equal(remains.messages, cases[i].messages);
		assert_int_equal(remains.is_call, cases[i].is_call);
		assert_int_equal(remains.has_id, cases[i].has_id);
		if (remains.has_id)
			assert_int_equal(remains.id, cases[i].id);
	}
}

static void what_is_no_message_is_refused_with_the_id_if_it_has_one(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *id;
		bool silent;
		const char *says;
	} cases[] = {
		{ "", RPC_PARSE_ERROR, "-", false, "JSON" },
		{ "{", RPC_PARSE_ERROR, "-", false, "line 1" },
		{ "nonsense", RPC_PARSE_ERROR, "-", false, "JSON" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"a\"}", RPC_PARSE_ERROR,
		  "-", false,
		  "uplicate" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", RPC_PARSE_ERROR, "-",
		  false, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\\ud800\"}", RPC_PARSE_ERROR, "-",
		  false, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":123456789012345678901234567890,\"method\":\"a\"}",
		  RPC_PARSE_ERROR, "-", false, "64 bits" },
		{ "1", RPC_INVALID_REQUEST, "-", false, "a number" },
		{ "[]", RPC_INVALID_REQUEST, "-", false, "an array" },
		{ "\"x\"", RPC_INVALID_REQUEST, "-", false, "a string" },
		{ "null", RPC_INVALID_REQUEST, "-", false, "null" },
		{ "{}", RPC_INVALID_REQUEST, "-", false, "jsonrpc" },
		{ "{\"id\":1,\"method\":\"a\"}", RPC_INVALID_REQUEST, "1", false, "jsonrpc" },
		{ "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"a\"}", RPC_INVALID_REQUEST, "1", false,
		  "jsonrpc" },
		{ "{\"jsonrpc\":\"1.0\",\"id\":\"q\",\"method\":\"a\"}", RPC_INVALID_REQUEST,
		  "\"q\"", false,
		  "jsonrpc" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"a\"}", RPC_INVALID_REQUEST, "-",
		  false,
		  "null" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"a\"}", RPC_INVALID_REQUEST, "-",
		  false,
		  "integer" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"a\"}", RPC_INVALID_REQUEST, "-",
		  false,
		  "an array" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", RPC_INVALID_REQUEST, "1", false, "method" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", RPC_INVALID_REQUEST, "1", false,
		  "method" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":1,\"params\":\"bar\"}", RPC_INVALID_REQUEST,
		  "-", false,
		  "method" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}", RPC_INVALID_REQUEST,
		  "1", false,
		  "method" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":[1]}",
		  RPC_INVALID_PARAMS, "1",
		  false, "an array" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":\"x\"}",
		  RPC_INVALID_PARAMS, "1",
		  false, "a string" },
		/* Notifications and responses get no answer, broken ones neither. */
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":[1]}", RPC_INVALID_PARAMS,
		  "-", true, "" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{}}",
		  RPC_INVALID_REQUEST, "1",
		  true, "Both" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":\"no\"}", RPC_INVALID_REQUEST, "1",
		  true, "error" },
		{ "{\"jsonrpc\":\"2.0\",\"result\":{}}", RPC_INVALID_REQUEST, "-", true, "id" },
		{ "{\"id\":1,\"result\":{}}", RPC_INVALID_REQUEST, "1", true, "jsonrpc" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rpc_message message;
		struct rpc_problem problem;

		if (rpc_parse(span_str(cases[i].text), &message, &problem))
			fail_msg("taken for a message: %s", cases[i].text);
		_cleanup_free_ char *id = printed(problem.id);
		assert_int_equal(problem.code, cases[i].code);
		assert_string_equal(id, cases[i].id);
		assert_int_equal(problem.silent, cases[i].silent);
		if (!strstr(problem.message, cases[i].says))
			fail_msg("%s: %s", cases[i].text, problem.message);
		rpc_problem_release(&problem);
	}
}

static bool nested_is_read(unsigned depth, struct rpc_problem *problem)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 24);
	struct rpc_message message;

	buf_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"x\":");
	for (unsigned i = 0; i < depth; i++)
		buf_char(&text, '[');
	for (unsigned i = 0; i < depth; i++)
		buf_char(&text, ']');
	buf_str(&text, "}}");
	if (!rpc_parse(buf_view(&text), &message, problem))
		return false;
	rpc_message_release(&message);
	return true;
}

static void nesting_is_bounded(void **state)
{
	struct rpc_problem problem;

	(void)state;
	assert_true(nested_is_read(RPC_DEPTH_MAX - 2, &problem));
	assert_false(nested_is_read(RPC_DEPTH_MAX - 1, &problem));
	assert_int_equal(problem.code, RPC_PARSE_ERROR);
	assert_non_null(strstr(problem.message, "deep"));
	assert_false(nested_is_read(1000000, &problem));
	assert_int_equal(problem.code, RPC_PARSE_ERROR);
}

static void an_id_that_is_too_long_cannot_be_answered(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	struct rpc_message message;
	struct rpc_problem problem;

	(void)state;
	for (size_t extra = 0; extra < 2; extra++) {
		bool read;

		buf_clear(&text);
		buf_str(&text, "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"id\":\"");
		for (size_t i = 0; i < LIMIT_RPC_ID_BYTES + extra; i++)
			buf_char(&text, 'i');
		buf_str(&text, "\"}");
		read = rpc_parse(buf_view(&text), &message, &problem);
		assert_int_equal(read, extra == 0);
		if (read)
			rpc_message_release(&message);
	}
	assert_int_equal(problem.code, RPC_INVALID_REQUEST);
	assert_null(problem.id);
	assert_false(problem.silent);
}

static void messages_are_written_on_one_line(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	json_t *id = json_string("i\n\"");
	json_t *value = json_pack("{s:s}", "a", "line\nend");

	(void)state;
	assert_true(rpc_write_result(&out, id, value));
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":\"i\\n\\\"\",\"result\":"
	                    "{\"a\":\"line\\nend\"}}");
	buf_clear(&out);
	assert_true(rpc_write_result(&out, NULL, NULL));
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}");
	buf_clear(&out);
	assert_true(rpc_write_error(&out, NULL, -32700, "bad \xff \"x\"\n", value));
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
	                    "\"message\":\"bad \\\\xff \\\"x\\\"\\n\",\"data\":{\"a\":\"line\\"
	                    "nend\"}}}");
	buf_clear(&out);
	assert_true(rpc_write_error_to(&out, SPAN("7"), 1, "m", NULL));
	assert_string_equal(out.data,
	                    "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":1,\"message\":\""
	                    "m\"}}");
	buf_clear(&out);
	assert_true(rpc_write_request(&out, 42, "m", value));
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":42,\"method\":\"m\",\"params\":"
	                    "{\"a\":\"line\\nend\"}}");
	buf_clear(&out);
	assert_true(rpc_write_notification(&out, "n", NULL));
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"method\":\"n\"}");
	buf_clear(&out);
	assert_true(rpc_begin_result(&out, SPAN("")) && rpc_end_result(&out));
	assert_string_equal(out.data, "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":}");
	json_decref(id);
	json_decref(value);
}

static void writing_past_the_limit_is_reported(void **state)
{
	struct buf out = BUF_INIT(16);

	(void)state;
	assert_false(rpc_write_notification(&out, "a rather long method", NULL));
	buf_release(&out);
	assert_false(rpc_write_error(&out, NULL, 1, "m", NULL));
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_told_apart),
		cmocka_unit_test(what_is_left_of_a_broken_message_is_read),
		cmocka_unit_test(what_is_no_message_is_refused_with_the_id_if_it_has_one),
		cmocka_unit_test(nesting_is_bounded),
		cmocka_unit_test(an_id_that_is_too_long_cannot_be_answered),
		cmocka_unit_test(messages_are_written_on_one_line),
		cmocka_unit_test(writing_past_the_limit_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
