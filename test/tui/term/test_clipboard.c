/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of OSC 52 and OSC 5522: what is sent, and every kind of answer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tui/term/term.h"

enum { OUT_MAX = 4 << 20 };

static void texts(void **state)
{
	static const struct {
		enum clipboard_way way;
		const char *text, *bytes;
	} rows[] = {
		{ CLIPBOARD_DIRECT, "", "\033]52;c;\033\\" },
		{ CLIPBOARD_DIRECT, "a", "\033]52;c;YQ==\033\\" },
		{ CLIPBOARD_DIRECT, "\033]0;x\a", "\033]52;c;G10wO3gH\033\\" },
		{ CLIPBOARD_TMUX, "ab",
		  "\033]52;c;YWI=\033\\\033Ptmux;\033\033]52;c;YWI=\a\033\\" },
		{ CLIPBOARD_SCREEN, "abc", "\033P\033]52;c;YWJj\a\033\\" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX);

		clipboard_put_text(&out, span_str(rows[i].text), rows[i].way);
		assert_string_equal(out.data, rows[i].bytes);
	}
}

/* GNU screen takes no long strings: pieces of at most 256 bytes, which make up the whole. */
static void long_texts_for_screen(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX), text = BUF_INIT(OUT_MAX),
	                         whole = BUF_INIT(OUT_MAX), wanted = BUF_INIT(OUT_MAX);
	struct span rest;

	(void)state;
	for (unsigned i = 0; i < 10000; i++)
		buf_char(&text, (char)(i * 7));
	clipboard_put_text(&wanted, buf_view(&text), CLIPBOARD_DIRECT);
	clipboard_put_text(&out, buf_view(&text), CLIPBOARD_SCREEN);
	for (rest = buf_view(&out); rest.len;) {
		const char *end = memmem(rest.data, rest.len, "\033\\", 2);

		assert_true(span_starts(rest, SPAN("\033P")) && end && end - rest.data <= 256);
		buf_append(&whole, rest.data + 2, (size_t)(end - rest.data) - 2);
		rest = span_skip(rest, (size_t)(end - rest.data) + 2);
	}
	assert_int_equal(whole.len + 1, wanted.len);
	assert_memory_equal(whole.data, wanted.data, whole.len - 1);
	assert_int_equal(whole.data[whole.len - 1], '\a');
}

static void questions(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT(OUT_MAX);

	(void)state;
	clipboard_put_types(&out, "7");
	assert_string_equal(out.data, "\033]5522;type=read:id=7;Lg==\033\\");
	buf_clear(&out);
	clipboard_put_read(&out, "8", "image/png", "pw");
	assert_string_equal(out.data, "\033]5522;type=read:id=8:pw=cHc=:name=aGFzcA==;aW1hZ2UvcG5n"
	                              "\033\\");
	buf_clear(&out);
	clipboard_put_write(&out, "9", "text/plain", SPAN("ab"));
	assert_string_equal(out.data, "\033]5522;type=write:id=9\033\\"
	                              "\033]5522;type=wdata:id=9:mime=dGV4dC9wbGFpbg==;YWI=\033\\"
	                              "\033]5522;type=wdata:id=9\033\\");
}

/* What is taken of the replies, one after the other: the last state, and the data. */
static void answers(void **state)
{
	static const struct {
		bool types;
		const char *replies[6];
		enum clipboard_state ends;
		const char *data;
	} rows[] = {
		{ false, { "type=read:status=OK:id=1", "type=read:status=DATA:id=1:mime=eA==;YWJj",
		           "type=read:status=DATA:id=1:mime=eA==;ZA==",
		           "type=read:status=DONE:id=1" }, CLIPBOARD_DONE, "abcd" },
		{ false, { "type=read:status=OK", "type=read:status=DONE" }, CLIPBOARD_DONE, "" },
		{ true, { "type=read:status=OK:id=1", "type=read:status=DATA:id=1:mime=Lg==;YSBi",
		          "type=read:status=DONE:id=1" }, CLIPBOARD_DONE, "a b " },
		{ true, { "type=read:status=DATA:mime=YQ==", "type=read:status=DATA:mime=Yg==;",
		          "type=read:status=DONE" }, CLIPBOARD_DONE, "a b " },
		{ false, { "type=write:id=1:status=DONE" }, CLIPBOARD_DONE, "" },
		{ false, { "type=read:status=EPERM:id=1" }, CLIPBOARD_REFUSED, "" },
		{ false, { "type=read:status=EBUSY:id=1" }, CLIPBOARD_FAILED, "" },
		{ false, { "type=read:id=1" }, CLIPBOARD_FAILED, "" },
		{ false, { "" }, CLIPBOARD_FAILED, "" },
		{ false, { "type=read:status=DONE:id=2" }, CLIPBOARD_FOREIGN, "" },
		{ false, { "type=read:status=DATA:id=1:mime=eA==;YWJ" }, CLIPBOARD_FAILED, "" },
		{ false, { "type=read:status=DATA:id=1:mime=eA==;YW=j" }, CLIPBOARD_FAILED, "" },
		{ false, { "type=read:status=DATA:id=1:mime=eA==;Y W=" }, CLIPBOARD_FAILED, "" },
		{ false, { "type=read:status=DATA:id=1:mime=eA==;====" }, CLIPBOARD_FAILED, "" },
		{ true, { "type=read:status=DATA:id=1:mime=x;YWJj" }, CLIPBOARD_FAILED, "" },
		/* More than the eight bytes that are wanted. */
		{ false, { "type=read:status=DATA:id=1:mime=eA==;YWJjZGVm",
		           "type=read:status=DATA:id=1:mime=eA==;YWJjZGVm" }, CLIPBOARD_FAILED, NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct clipboard_answer answer;
		enum clipboard_state last = CLIPBOARD_MORE;

		clipboard_answer_init(&answer, "1", rows[i].types, 8);
		for (size_t k = 0; rows[i].replies[k]; k++) {
			_cleanup_buf_ struct buf reply = BUF_INIT(OUT_MAX);

			assert_int_equal(last, CLIPBOARD_MORE);
			buf_printf(&reply, "\033]5522;%s", rows[i].replies[k]);
			last = clipboard_answer_take(&answer, buf_view(&reply));
		}
		if (last != rows[i].ends)
			fail_msg("%s: %d", rows[i].replies[0], last);
		if (rows[i].data)
			assert_string_equal(answer.data.data ? answer.data.data : "",
			                    rows[i].data);
		clipboard_answer_release(&answer);
	}
}

static void nothing_was_asked(void **state)
{
	struct clipboard_answer answer = { 0 };

	(void)state;
	assert_int_equal(clipboard_answer_take(&answer, SPAN("\033]5522;type=read:status=DONE")),
	                 CLIPBOARD_FOREIGN);
	assert_int_equal(clipboard_answer_take(&answer, SPAN("\033[?1;2c")), CLIPBOARD_FOREIGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),     cmocka_unit_test(long_texts_for_screen),
		cmocka_unit_test(questions), cmocka_unit_test(answers),
		cmocka_unit_test(nothing_was_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
