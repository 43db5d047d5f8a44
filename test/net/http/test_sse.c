/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of events are read as WHATWG HTML, section 9.2.6, says, whatever pieces they come in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http/sse.h"

/* Events as text: "type|data|id;" each. */
static bool note(void *data, const struct sse_event *event, struct err *err)
{
	struct buf *out = data;

	if (span_eq(event->data, SPAN("stop")))
		return err_set(err, ERR_MODEL_ERROR, "Stopped.");
	buf_span(out, event->type);
	buf_char(out, '|');
	buf_span(out, event->data);
	buf_char(out, '|');
	buf_span(out, event->id);
	buf_char(out, ';');
	return true;
}

static const struct row {
	const char *stream, *events;
} rows[] = {
	{ "data: a\n\n", "message|a|;" },
	{ "data:a\r\n\r\n", "message|a|;" },
	{ "data:a\r\rdata:b\r\r", "message|a|;message|b|;" },
	{ "data: a\ndata:  b\n\n", "message|a\n b|;" },
	{ "event: x\ndata: a\n\ndata: b\n\n", "x|a|;message|b|;" },
	{ "event: x\n\ndata: a\n\n", "message|a|;" },
	{ "id: 7\ndata: a\n\ndata: b\n\n", "message|a|7;message|b|7;" },
	{ "id: 7\ndata: a\n\nid\ndata: b\n\n", "message|a|7;message|b|;" },
	{ ": comment\ndata: a\n:\n\n", "message|a|;" },
	{ "data\n\n", "message||;" },
	{ "data\ndata\n\n", "message|\n|;" },
	{ "data: a\nretry: 5\nother: x\nnothing\n\n", "message|a|;" },
	{ "\xEF\xBB\xBF" "data: a\n\n", "message|a|;" },
	{ "data: a\n\n\xEF\xBB\xBF" "data: b\n\n", "message|a|;" },
	{ "\n\n\n", "" },
	{ "data: a\n", "" },
	{ "data: a", "" },
	{ "", "" },
};

static void read_in_pieces(const struct row *row, size_t piece)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct span rest = span_str(row->stream);
	struct sse_reader reader;
	struct err err = ERR_INIT;

	sse_reader_init(&reader, 1000, note, &out);
	for (; rest.len; rest = span_skip(rest, piece))
		if (!sse_reader_feed(&reader, span_head(rest, piece), &err))
			fail_msg("%s", err.message);
	assert_true(sse_reader_end(&reader, &err));
	sse_reader_release(&reader);
	if (!span_eq(buf_view(&out), span_str(row->events)))
		fail_msg("\"%s\" in pieces of %zu gives \"%s\"", row->stream, piece,
		         out.data ? out.data : "");
}

static void events_are_the_same_in_all_pieces(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t piece = 1; piece <= 20; piece++)
			read_in_pieces(&rows[i], piece);
}

static bool feed_text(size_t max, const char *text, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);
	struct sse_reader reader;
	bool ok;

	sse_reader_init(&reader, max, note, &out);
	ok = sse_reader_feed(&reader, span_str(text), err);
	sse_reader_release(&reader);
	return ok;
}

static void an_event_has_a_largest_size(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_true(feed_text(9, "data: abc\n\ndata: abc\n\n", &err));
	assert_false(feed_text(8, "data: abc\n\n", &err));
	assert_int_equal(err.code, ERR_TOO_LARGE);
	/* Many short lines are one long event, and a line that never ends is one too. */
	assert_false(feed_text(30, "data: a\ndata: a\ndata: a\ndata: a\ndata: a\n", &err));
	assert_false(feed_text(30, "0123456789012345678901234567890123456789", &err));
	/* Comments, by which servers keep a connection alive, are no part of one. */
	assert_true(feed_text(12, ": ping ping\n: ping ping\n: ping ping\ndata: a\n\n", &err));
}

static void a_callback_can_end_the_reading(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_false(feed_text(100, "data: a\n\ndata: stop\n\ndata: b\n\n", &err));
	assert_int_equal(err.code, ERR_MODEL_ERROR);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_are_the_same_in_all_pieces),
		cmocka_unit_test(an_event_has_a_largest_size),
		cmocka_unit_test(a_callback_can_end_the_reading),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
