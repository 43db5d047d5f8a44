/* SPDX-License-Identifier: Apache-2.0 */
/* Output as a terminal would show it: each row is what came, and the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "meter.h"
#include "worker/job/capture.h"

static const struct {
	const char *what, *came, *text;
} rows[] = {
	{ "text stays", "a\tb\n\n  c  \nlast", "a\tb\n\n  c  \nlast" },
	{ "CRLF is a line feed", "a\r\nb\r\n", "a\nb\n" },
	{ "colours go", "\33[1;38;2;1;2;3mred\33[0m \33[38:5:9mx\33[m\n", "red x\n" },
	{ "a title goes, ended by BEL or ST", "\33]0;t\7a\33]2;t\33\\b", "ab" },
	{ "a link keeps its text", "\33]8;;http://evil\33\\text\33]8;;\33\\", "text" },
	{ "the clipboard is not reached", "\33]52;c;Q0FOQVJZ\7x", "x" },
	{ "images go", "\33Pq#0;2;0;0;0#0~~\33\\\33_Gf=24;AAAA\33\\x", "x" },
	{ "C1 controls are controls", "\302\23331mC1\302\23331m\302\2350;t\302\234x", "C1x" },
	{ "C1 bytes are no text", "\23331mx", "\357\277\27531mx" },
	{ "character sets go", "\33(Bx\33)0y\33#8z", "xyz" },
	{ "modes go", "\33[?25l\33[?1049hx\33[?25h\33[>4;1m\33=\33>\33[!p", "x" },
	{ "other controls go", "a\0\1\2\7\16\17\177b", "a" },
	{ "carriage returns overwrite", "loading\rdone\n", "doneing\n" },
	{ "a progress bar is its end", "\r  0%\r 50%\r100%\n", "100%\n" },
	{ "so is one that erases", "a long line\r\33[Kdone\n", "done\n" },
	{ "erasing leaves no blanks behind", "a long line\33[2K\rdone\n", "done\n" },
	{ "erasing to the left", "abcdef\33[3D\33[1K\n", "    ef\n" },
	{ "backspaces overwrite", "ab\b\bxy\b\b\b\b\bz\n", "zy\n" },
	{ "man pages are plain", "_\bw_\bo b\bbo\bold\n", "wo bold\n" },
	{ "columns", "abc\33[2GX\33[10Gy\33[3Dz\n", "aXc    z y\n" },
	{ "moving past the end without writing adds nothing", "ab\33[50C\n", "ab\n" },
	{ "lines above are changed", "1: 0%\n2: 0%\n\33[2A1: 9%\n\33[1B\rend\n", "1: 9%\n2: 0%\nend\n" },
	{ "and erased with what is below", "a\nb\nc\n\33[3A\33[Jdone\n", "done\n" },
	{ "the home of a cleared screen is below what was there", "one\33[2J\33[1;1Htwo\n", "one\ntwo\n" },
	{ "deleted characters", "abcdef\r\33[2P\n", "cdef\n" },
	{ "two bytes over one, and one over four",
	  "aé\ré\n\360\237\230\200b\rx\n", "\303\251\303\251\nxb\n" },
	{ "invalid UTF-8 is repaired, byte by byte",
	  "\377\376a\303\nb\342\202",
	  "\357\277\275\357\277\275a\357\277\275\nb\357\277\275\357\277\275" },
	{ "surrogates and overlong forms are invalid", "\355\240\200\300\200",
	  "\357\277\275\357\277\275\357\277\275\357\277\275\357\277\275" },
	{ "a string without an end ends with its line", "a\33]0;never\nb\n", "a\nb\n" },
	{ "CAN ends a sequence", "\33[12\30x\33]0;\30y", "xy" },
	{ "a sequence may be broken by ESC", "\33[1\33[31mx", "x" },
	{ "controls inside a sequence work", "ab\33[1\nmc\n", "ab\nc\n" },
	{ "huge numbers are no trouble",
	  "\33[99999999999999999999Cx\33[999999999999B\33[4294967295Ay\n", NULL },
	{ "an unfinished sequence at the end is nothing", "x\33[12;", "x" },
};

static void append(void *out, struct span text)
{
	buf_span(out, text);
}

static void feed(struct span came, size_t piece, struct buf *out)
{
	struct plain *plain = plain_new(append, out);

	while (came.len) {
		plain_feed(plain, span_head(came, piece));
		came = span_skip(came, piece);
	}
	plain_end(plain);
	plain_free(plain);
}

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct span came = span_str(rows[i].came);

		for (size_t piece = 1; piece <= came.len + 1; piece++) {
			_cleanup_buf_ struct buf out = BUF_INIT(1 << 20);

			feed(came, piece, &out);
			if (rows[i].text && !span_eq(buf_view(&out), span_str(rows[i].text)))
				fail_msg("%s, in pieces of %zu: %s", rows[i].what, piece,
				         out.data ? out.data : "(nothing)");
			assert_true(utf8_valid(buf_view(&out)));
		}
	}
}

static void test_long_lines_come_in_pieces_and_whole(void **state)
{
	enum { LEN = 3 << 20 };
	_cleanup_free_ char *line = mem_alloc(LEN, 1);
	_cleanup_buf_ struct buf out = BUF_INIT(2 * LEN);

	(void)state;
	for (size_t i = 0; i < LEN; i++)
		line[i] = (char)('a' + i % 26);
	feed(span_of(line, LEN), 65536, &out);
	assert_int_equal(out.len, LEN);
	assert_memory_equal(out.data, line, LEN);
}

static void test_many_lines_come_in_order(void **state)
{
	_cleanup_buf_ struct buf came = BUF_INIT(8 << 20), out = BUF_INIT(8 << 20);

	(void)state;
	for (int i = 0; i < 200000; i++)
		buf_printf(&came, "line %d\n", i);
	feed(buf_view(&came), 4093, &out);
	assert_true(span_eq(buf_view(&came), buf_view(&out)));
}

/* Lines that later ones push out are passed on without becoming rows, what may yet change is not. */
static void test_large_pieces_give_what_bytes_give(void **state)
{
	static const char *const odd[] = { "", "\33[3A\33[2Kup\n", "\r50 %", "\303\244\n", "\302\2331mbold\n",
		                           "\33[?1049h", "\33[?1049l", "\ttab\n", "\b\bx", "end\n" };
	_cleanup_buf_ struct buf came = BUF_INIT(8 << 20), bytes = BUF_INIT(8 << 20);

	(void)state;
	for (unsigned i = 0; i < 3000; i++)
		buf_printf(&came, "line %u\n%s", i, i % 100 < 60 ? "" : odd[i * 7919 % ARRAY_LEN(odd)]);
	feed(buf_view(&came), 1, &bytes);
	for (size_t piece = 2; piece < came.len * 2; piece = piece * 3 / 2 + 1) {
		_cleanup_buf_ struct buf out = BUF_INIT(8 << 20);

		feed(buf_view(&came), piece, &out);
		assert_true(span_eq(buf_view(&bytes), buf_view(&out)));
	}
}

/* Yards for each MiB of such output, as a command's pipe gives it. */
static double capture_yards(const char *line)
{
	enum { PIECE = 1 << 16, PIECES = 128 };
	struct capture_options options = { .head_bytes = 1 << 16, .tail_bytes = 1 << 16 };
	_cleanup_buf_ struct buf piece = BUF_INIT(PIECE + 1000);
	struct capture capture;
	struct meter meter;
	double yards;

	while (piece.len < PIECE)
		buf_printf(&piece, "%s", line);
	capture_init(&capture, &options);
	meter = meter_start();
	for (unsigned i = 0; i < PIECES; i++)
		capture_feed(&capture, buf_view(&piece));
	capture_end(&capture);
	yards = meter_yards(&meter) * (1 << 20) / ((double)piece.len * PIECES);
	assert_int_equal(capture.bytes, piece.len * PIECES);
	capture_release(&capture);
	return yards;
}

/* 1.5 GB of `yes` once took 46 s: 30 yards for each MiB. */
static void test_much_output_costs_little(void **state)
{
	(void)state;
	assert_true(capture_yards("y\n") < 15);
	assert_true(capture_yards("\33[31ma line with colours\33[0m\n") < 150);
}

static void test_looking_changes_nothing(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1000), seen = BUF_INIT(1000);
	struct plain *plain = plain_new(append, &out);

	(void)state;
	plain_feed(plain, SPAN("one\ntw"));
	plain_peek(plain, append, &seen);
	assert_string_equal(seen.data, "one\ntw");
	plain_feed(plain, SPAN("\rT\n"));
	plain_end(plain);
	plain_free(plain);
	assert_string_equal(out.data, "one\nTw\n");
}

static void test_the_alternate_screen_is_hidden(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1000);
	struct plain *plain = plain_new(append, &out);

	(void)state;
	plain_hide_alternate(plain);
	for (const char *at = "a\n\33[?1049h\33[2Jhidden\n\33[?25l~\33[?1049lb\n"; *at; at++)
		plain_feed(plain, span_of(at, 1));
	plain_feed(plain, SPAN("\33[?47hgone\33[?47lc\33[?1047hgone\n"));
	plain_end(plain);
	plain_free(plain);
	assert_string_equal(out.data, "a\nb\nc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_alternate_screen_is_hidden),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_long_lines_come_in_pieces_and_whole),
		cmocka_unit_test(test_many_lines_come_in_order),
		cmocka_unit_test(test_large_pieces_give_what_bytes_give),
		cmocka_unit_test(test_looking_changes_nothing),
		cmocka_unit_test(test_much_output_costs_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
