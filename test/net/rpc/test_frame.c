/* SPDX-License-Identifier: Apache-2.0 */
/* frame: lines out of chunks, however the chunks are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/mem.h"
#include "net/rpc/rpc.h"

enum { MAX = 8 };

struct seen {
	struct buf text; /* each line as "line|" or "!beginning|" */
	size_t stop_after;
	size_t lines;
};

static bool note(void *data, struct span line, bool too_long)
{
	struct seen *seen = data;

	if (too_long)
		buf_char(&seen->text, '!');
	buf_span(&seen->text, line);
	buf_char(&seen->text, '|');
	return ++seen->lines != seen->stop_after;
}

/* Feeds the text in chunks of `step` bytes. */
static void read_as(const char *text, size_t len, size_t step, const char *wanted)
{
	struct seen seen = { .text = BUF_INIT(1 << 20) };
	struct rpc_reader reader;
	struct span rest = span_of(text, len);

	rpc_reader_init(&reader, MAX);
	while (rest.len) {
		/* A copy of its own, so that a sanitizer sees a byte too many. */
		struct span chunk = span_head(rest, step);
		_cleanup_free_ char *copy = mem_alloc(chunk.len, 1);

		memcpy(copy, chunk.data, chunk.len);
		rpc_feed(&reader, span_of(copy, chunk.len), note, &seen);
		rest = span_skip(rest, step);
	}
	assert_string_equal(seen.text.data ? seen.text.data : "", wanted);
	rpc_reader_release(&reader);
	buf_release(&seen.text);
}

static void lines_come_out_the_same_however_they_are_cut(void **state)
{
	static const struct {
		const char *text;
		const char *lines;
	} cases[] = {
		{ "", "" },
		{ "\n\n\r\n\n", "" },
		{ "one\ntwo\n", "one|two|" },
		{ "one\r\ntwo\r\nthree", "one|two|" },
		{ "a\rb\n", "a\rb|" },
		{ "12345678\n", "12345678|" },
		{ "12345678\r\nx\n", "12345678|x|" },
		{ "\n1\n\n2\n", "1|2|" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (size_t step = 1; step < 12; step++)
			read_as(cases[i].text, strlen(cases[i].text), step, cases[i].lines);
	}
}

/* How much of the beginning is known depends on the chunks; that it is announced does not. */
static void a_line_that_is_too_long_is_announced_once_and_skipped(void **state)
{
	(void)state;
	read_as("ok\n1234567890\nok\n", 17, 17, "ok|!1234567890|ok|");
	read_as("1234567890123456789012345\nok\n", 29, 4, "!123456789012|ok|");
	read_as("123456789012\nok\n", 16, 1, "!1234567890|ok|");
	read_as("123456789\nok\n", 13, 1, "!123456789|ok|");
	read_as("12345678\r\r\nok\n", 14, 14, "!12345678\r|ok|");
}

static void gigabytes_without_a_line_end_are_not_stored(void **state)
{
	static char chunk[1 << 20];
	struct seen seen = { .text = BUF_INIT(1 << 20) };
	struct rpc_reader reader;

	(void)state;
	memset(chunk, 'x', sizeof(chunk));
	rpc_reader_init(&reader, 1 << 20);
	for (size_t i = 0; i < 4096; i++) {
		rpc_feed(&reader, span_of(chunk, sizeof(chunk)), note, &seen);
		assert_true(reader.pending.cap <= 4 << 20);
	}
	assert_int_equal(seen.lines, 1);
	assert_true(seen.text.len <= 258);
	rpc_feed(&reader, SPAN("tail\nnext\n"), note, &seen);
	assert_int_equal(seen.lines, 2);
	assert_true(span_ends(buf_view(&seen.text), SPAN("|next|")));
	rpc_reader_release(&reader);
	buf_release(&seen.text);
}

static void a_handler_that_refuses_ends_the_chunk(void **state)
{
	struct seen seen = { .text = BUF_INIT(1024), .stop_after = 2 };
	struct rpc_reader reader;

	(void)state;
	rpc_reader_init(&reader, MAX);
	rpc_feed(&reader, SPAN("a\nb\nc\nd"), note, &seen);
	assert_string_equal(seen.text.data, "a|b|");
	rpc_feed(&reader, SPAN("e\n"), note, &seen);
	assert_string_equal(seen.text.data, "a|b|e|");
	rpc_reader_release(&reader);
	buf_release(&seen.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_out_the_same_however_they_are_cut),
		cmocka_unit_test(a_line_that_is_too_long_is_announced_once_and_skipped),
		cmocka_unit_test(gigabytes_without_a_line_end_are_not_stored),
		cmocka_unit_test(a_handler_that_refuses_ends_the_chunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
