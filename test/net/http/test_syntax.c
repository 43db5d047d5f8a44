/* SPDX-License-Identifier: Apache-2.0 */
/* Accept and Content-Type are read, and events written, as their specifications say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/headers.h"
#include "net/http/sse.h"

static void an_accept_admits_what_it_names(void **state)
{
	static const struct row {
		const char *accept;
		bool json, stream;
	} rows[] = {
		{ NULL, true, true },
		{ "", true, true },
		{ "*/*", true, true },
		{ "application/json", true, false },
		{ "application/json, text/event-stream", true, true },
		{ "text/event-stream,application/json", true, true },
		{ "APPLICATION/JSON", true, false },
		{ "application/*", true, false },
		{ "text/*;q=0.5", false, true },
		{ "text/html", false, false },
		{ "application/json;q=0", false, false },
		{ "application/json; q=0.000, */*", false, true },
		{ "application/json; q=0.001", true, false },
		{ "application/json;charset=utf-8;q=1.0", true, false },
		{ "application/json;q", true, false },
		{ "*/*;q=0, text/event-stream", false, true },
		{ "application/jsonx", false, false },
		{ "application/json-seq, application", false, false },
		{ ",,;,  ,", false, false },
		{ "*", false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (http_accepts(rows[i].accept, "application/json") != rows[i].json ||
		    http_accepts(rows[i].accept, EVENT_STREAM_TYPE) != rows[i].stream)
			fail_msg("\"%s\" is not understood", rows[i].accept);
}

static void a_content_type_is_its_first_words(void **state)
{
	(void)state;
	assert_true(http_content_type_is("application/json", "application/json"));
	assert_true(http_content_type_is("Application/JSON ; charset=utf-8", "application/json"));
	assert_false(http_content_type_is(NULL, "application/json"));
	assert_false(http_content_type_is("", "application/json"));
	assert_false(http_content_type_is("text/plain", "application/json"));
	assert_false(http_content_type_is("application/jsonx", "application/json"));
	assert_false(http_content_type_is("text/plain, application/json", "application/json"));
}

static void check_event(const char *id, struct span data, const char *expected)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1024);

	assert_true(sse_write(&out, id, data));
	assert_string_equal(out.data, expected);
}

static void events_keep_their_lines(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1024);

	(void)state;
	check_event("1-2", SPAN("{}"), "id: 1-2\ndata: {}\n\n");
	check_event(NULL, SPAN("a"), "data: a\n\n");
	check_event("7", SPAN(""), "id: 7\ndata:\n\n");
	check_event(NULL, SPAN("a\nb\r\nc\rd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
	check_event(NULL, SPAN("a\n"), "data: a\ndata:\n\n");
	check_event(NULL, SPAN("\n\nid: 9"), "data:\ndata:\ndata: id: 9\n\n");
	sse_write_retry(&out, 500);
	sse_write_keep_alive(&out);
	assert_string_equal(out.data, "retry: 500\n\n:\n\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_accept_admits_what_it_names),
		cmocka_unit_test(a_content_type_is_its_first_words),
		cmocka_unit_test(events_keep_their_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
