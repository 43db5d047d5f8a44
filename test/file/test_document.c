/* SPDX-License-Identifier: Apache-2.0 */
/* Documents: what is found, what is shown, and that untouched lines keep their bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <iconv.h>

#include "base/limits.h"
#include "base/mem.h"
#include "file/document.h"
#include "part.h"

/* ---- helpers ------------------------------------------------------------ */

/* The text in another encoding, after a mark; fails the test when it does not fit. */
static struct buf encoded(const char *encoding, struct span mark, struct span text)
{
	struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);
	iconv_t conversion = iconv_open(encoding, "UTF-8");
	char *in = (char *)(uintptr_t)text.data;
	size_t left = text.len;
	size_t room = 8 * text.len + 16;
	char *to;

	assert_true(conversion != (iconv_t)-1);
	buf_span(&out, mark);
	to = buf_reserve(&out, room);
	assert_int_equal(iconv(conversion, &in, &left, &to, &room), 0);
	assert_int_equal(iconv(conversion, NULL, NULL, &to, &room), 0);
	out.len = (size_t)(to - out.data);
	iconv_close(conversion);
	return out;
}

static struct document opened(struct span raw, const char *encoding)
{
	struct document doc;
	struct err err = ERR_INIT;

	if (!document_open(raw, encoding, &doc, &err))
		fail_msg("document_open: %s", err.message);
	return doc;
}

static void assert_span(struct span got, struct span want)
{
	if (span_eq(got, want))
		return;
	fail_msg("got %zu bytes \"%.*s\", want %zu bytes \"%.*s\"", got.len, (int)got.len, got.data,
	         want.len, (int)want.len, want.data);
}

static struct buf joined(const struct pieces *pieces)
{
	struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);

	for (size_t i = 0; i < pieces->count; i++)
		buf_span(&all, pieces->spans[i]);
	return all;
}

/* The bytes that a script makes of a document. */
static struct buf edited(const struct document *doc, const struct script *script, bool keep_bom)
{
	struct pieces pieces;
	struct err err = ERR_INIT;
	struct buf all;

	if (!document_encode(doc, script, keep_bom, &pieces, &err))
		fail_msg("document_encode: %s", err.message);
	all = joined(&pieces);
	document_pieces_release(&pieces);
	return all;
}

static void assert_not_text(struct span raw, const char *encoding, enum err_code code,
                            const char *says)
{
	struct document doc;
	struct err err = ERR_INIT;

	if (document_open(raw, encoding, &doc, &err))
		fail_msg("opened as %s", doc.encoding);
	assert_int_equal(err.code, code);
	if (!strstr(err.message, says))
		fail_msg("\"%s\" does not say \"%s\"", err.message, says);
}

/* ---- marks and line endings --------------------------------------------- */

static const struct unicode {
	const char *name;
	struct span mark;
} unicodes[] = {
	{ "UTF-8", { "", 0 } },
	{ "UTF-8", { "\xEF\xBB\xBF", 3 } },
	{ "UTF-16LE", { "\xFF\xFE", 2 } },
	{ "UTF-16BE", { "\xFE\xFF", 2 } },
	{ "UTF-32LE", { "\xFF\xFE\0\0", 4 } },
	{ "UTF-32BE", { "\0\0\xFE\xFF", 4 } },
	{ "UTF-16LE", { "", 0 } },
	{ "UTF-16BE", { "", 0 } },
	{ "UTF-32LE", { "", 0 } },
	{ "UTF-32BE", { "", 0 } },
};

static const struct ending {
	struct span text;
	const char *endings;
	bool final_newline;
} endings[] = {
	{ SPAN("one\ntwo \xC3\xA9\nthree \xF0\x9F\x98\x80\n"), "lf", true },
	{ SPAN("one\r\ntwo \xC3\xA9\r\nthree\r\n"), "crlf", true },
	{ SPAN("one\r\ntwo\nthree\r\n"), "mixed", true },
	{ SPAN("one\rtwo\rthree\r"), "none", false },
	{ SPAN("one\ntwo\nthree"), "lf", false },
	{ SPAN("one line only"), "none", false },
	{ SPAN("\n\n\xE2\x80\xA8 is no line end \xE0\xA8\x8A\n"), "lf", true },
};

static void check_untouched(const struct unicode *unicode, const struct ending *ending)
{
	struct buf raw = encoded(unicode->name, unicode->mark, ending->text);
	struct document doc = opened(buf_view(&raw), NULL);
	struct script nothing = { 0 };
	struct buf again = edited(&doc, &nothing, true);

	assert_string_equal(doc.encoding, unicode->name);
	assert_int_equal(doc.bom_bytes, unicode->mark.len);
	assert_span(doc.lines.text, ending->text);
	assert_string_equal(document_line_endings(&doc), ending->endings);
	assert_int_equal(doc.final_newline, ending->final_newline);
	assert_span(buf_view(&again), buf_view(&raw));
	assert_int_equal(doc.replaced, 0);
	buf_release(&again);
	document_release(&doc);
	buf_release(&raw);
}

static void every_unicode_form_and_line_ending_is_found_and_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(unicodes); i++)
		for (size_t j = 0; j < ARRAY_LEN(endings); j++)
			check_untouched(&unicodes[i], &endings[j]);
}

static void an_edit_is_written_in_the_encoding_and_keeps_the_mark(void **state)
{
	struct edit edit = { 1, 1, SPAN("zw\xC3\xB6lf\r\nneu \xF0\x9F\x98\x80\n") };
	struct script script = { .edits = &edit, .count = 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(unicodes); i++) {
		const struct unicode *u = &unicodes[i];
		struct buf raw = encoded(u->name, u->mark, SPAN("one\ntwo\nthree"));
		struct buf want = encoded(u->name, u->mark, SPAN("one\nzw\xC3\xB6lf\r\nneu "
		                                                 "\xF0\x9F\x98\x80\nthree"));
		struct document doc = opened(buf_view(&raw), NULL);
		struct buf got = edited(&doc, &script, true);
		struct buf bare = edited(&doc, &script, false);

		assert_span(buf_view(&got), buf_view(&want));
		assert_span(buf_view(&bare), span_skip(buf_view(&want), u->mark.len));
		buf_release(&bare);
		buf_release(&got);
		buf_release(&want);
		document_release(&doc);
		buf_release(&raw);
	}
}

static void the_empty_file_is_utf8_and_stays_empty(void **state)
{
	struct document doc = opened(span_of(NULL, 0), NULL);
	struct script nothing = { 0 };
	struct buf again = edited(&doc, &nothing, true);

	(void)state;
	assert_string_equal(doc.encoding, "UTF-8");
	assert_int_equal(doc.lines.count, 0);
	assert_string_equal(document_line_endings(&doc), "none");
	assert_true(doc.final_newline);
	assert_int_equal(again.len, 0);
	buf_release(&again);
	document_release(&doc);
}

static void a_mark_alone_is_an_empty_text(void **state)
{
	(void)state;
	for (size_t i = 1; i < 6; i++) {
		struct document doc = opened(unicodes[i].mark, NULL);
		struct pieces pieces;
		struct err err = ERR_INIT;
		struct buf got;
		struct buf want = encoded(unicodes[i].name, unicodes[i].mark, SPAN("x\n"));

		assert_int_equal(doc.lines.count, 0);
		assert_true(document_encode_text(&doc, SPAN("x\n"), &pieces, &err));
		got = joined(&pieces);
		assert_span(buf_view(&got), buf_view(&want));
		buf_release(&got);
		buf_release(&want);
		document_pieces_release(&pieces);
		document_release(&doc);
	}
}

static void utf8_is_not_copied(void **state)
{
	struct span raw = SPAN("\xEF\xBB\xBFone\ntwo\nthree\n");
	struct document doc = opened(raw, NULL);
	struct edit edit = { 1, 1, SPAN("2\n") };
	struct script script = { .edits = &edit, .count = 1 };
	struct pieces pieces;
	struct err err = ERR_INIT;

	(void)state;
	assert_ptr_equal(doc.lines.text.data, raw.data + 3);
	assert_true(document_encode(&doc, &script, true, &pieces, &err));
	assert_int_equal(pieces.count, 3);
	assert_ptr_equal(pieces.spans[0].data, raw.data);
	assert_int_equal(pieces.spans[0].len, 7);
	assert_ptr_equal(pieces.spans[1].data, edit.insert.data);
	assert_ptr_equal(pieces.spans[2].data, raw.data + 11);
	document_pieces_release(&pieces);
	document_release(&doc);
}

static void whole_new_text_does_not_double_the_mark(void **state)
{
	struct document doc = opened(SPAN("\xEF\xBB\xBFold\n"), NULL);
	struct pieces pieces;
	struct err err = ERR_INIT;
	struct buf got;

	(void)state;
	assert_true(document_encode_text(&doc, SPAN("\xEF\xBB\xBFnew\n"), &pieces, &err));
	got = joined(&pieces);
	assert_span(buf_view(&got), SPAN("\xEF\xBB\xBFnew\n"));
	buf_release(&got);
	document_pieces_release(&pieces);
	document_release(&doc);
}

/* ---- legacy encodings --------------------------------------------------- */

static const struct legacy {
	const char *encoding; /* how the file is made */
	const char *found;    /* what it is found to be */
	const char *text;
	const char *insert;
} legacies[] = {
	{ "ISO-8859-1", "ISO-8859-1",
	  "# Gr\xC3\xBC\xC3\x9F" "e aus M\xC3\xBCnchen\nname = \"Jos\xC3\xA9\"\nsch\xC3\xB6n\n",
	  "\xC3\x84rger\n" },
	{ "CP1252", "windows-1252",
	  "The \xE2\x80\x9Csmart\xE2\x80\x9D quotes \xE2\x80\x94 and 5 \xE2\x82\xAC\nof the "
	  "author\xE2\x80\x99s caf\xC3\xA9\n",
	  "10 \xE2\x82\xAC\n" },
	{ "SHIFT_JIS", "CP932",
	  "// \xE3\x81\x93\xE3\x82\x8C\xE3\x81\xAF\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE"
	  "\xE6\x96\x87\xE7\xAB\xA0\xE3\x81\xA7\xE3\x81\x99\xE3\x80\x82\nint x;\n\xE8\xA1\xA8\xE7\xA4"
	  "\xBA\xE3\x83\x86\xE3\x82\xB9\xE3\x83\x88\n",
	  "\xE8\xA1\xA8\n" },
	{ "GB18030", "GB18030",
	  "// \xE8\xBF\x99\xE6\x98\xAF\xE4\xB8\x80\xE4\xB8\xAA\xE6\xB5\x8B\xE8\xAF\x95\xE6\x96\x87\xE4"
	  "\xBB\xB6\xEF\xBC\x8C\xE7\x94\xA8\xE4\xBA\x8E\xE6\xB5\x8B\xE8\xAF\x95\xE7\xBC\x96\xE7\xA0\x81"
	  "\xE6\xA3\x80\xE6\xB5\x8B\xE3\x80\x82\nint x;\n\xE6\xB3\xA8\xE9\x87\x8A\n",
	  "\xF0\x9F\x98\x80 \xE6\xB5\x8B\n" },
	{ "EUC-KR", "EUC-KR",
	  "// \xEC\x9D\xB4\xEA\xB2\x83\xEC\x9D\x80 \xED\x85\x8C\xEC\x8A\xA4\xED\x8A\xB8 \xED\x8C\x8C"
	  "\xEC\x9D\xBC\xEC\x9E\x85\xEB\x8B\x88\xEB\x8B\xA4.\n\xEC\x9D\xB8\xEC\xBD\x94\xEB\x94\xA9\xEC"
	  "\x9D\x84 \xEA\xB0\x90\xEC\xA7\x80\xED\x95\xA9\xEB\x8B\x88\xEB\x8B\xA4.\n",
	  "\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4\n" },
	{ "KOI8-R", "KOI8-R",
	  "# \xD0\xAD\xD1\x82\xD0\xBE \xD1\x82\xD0\xB5\xD1\x81\xD1\x82\xD0\xBE\xD0\xB2\xD1\x8B\xD0\xB9 "
	  "\xD1\x84\xD0\xB0\xD0\xB9\xD0\xBB\nx = 1\n\xD0\x9F\xD1\x80\xD0\xB8\xD0\xB2\xD0\xB5\xD1\x82\n",
	  "\xD0\xBC\xD0\xB8\xD1\x80\n" },
	{ "EUC-JP", "EUC-JP",
	  "# \xE3\x81\x93\xE3\x82\x8C\xE3\x81\xAF\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE"
	  "\xE6\x96\x87\xE7\xAB\xA0\xE3\x81\xA7\xE3\x81\x99\xE3\x80\x82\nint x;\n",
	  "\xE8\xA1\xA8\n" },
	{ "ISO-2022-JP", "ISO-2022-JP",
	  "# \xE3\x81\x93\xE3\x82\x8C\xE3\x81\xAF\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE"
	  "\xE6\x96\x87\xE7\xAB\xA0\xE3\x81\xA7\xE3\x81\x99\xE3\x80\x82\nint x;\n",
	  "\xE8\xA1\xA8\n" },
};

static void check_legacy(const struct legacy *legacy)
{
	struct span text = span_str(legacy->text);
	struct buf raw = encoded(legacy->encoding, SPAN(""), text);
	struct document doc = opened(buf_view(&raw), NULL);
	struct edit edit = { 1, 0, span_str(legacy->insert) };
	struct script script = { .edits = &edit, .count = 1 };
	struct buf want_text = BUF_INIT(4096);
	struct buf got = edited(&doc, &script, true);
	struct buf want;

	assert_string_equal(doc.encoding, legacy->found);
	assert_span(doc.lines.text, text);
	script_apply(&doc.lines, &script, &want_text);
	want = encoded(legacy->encoding, SPAN(""), buf_view(&want_text));
	assert_span(buf_view(&got), buf_view(&want));
	buf_release(&want);
	buf_release(&got);
	buf_release(&want_text);
	document_release(&doc);
	buf_release(&raw);
}

static void legacy_encodings_are_found_and_edited(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(legacies); i++)
		check_legacy(&legacies[i]);
}

static void a_backslash_in_shift_jis_is_a_backslash(void **state)
{
	struct buf raw = encoded("CP932", SPAN(""), SPAN("printf(\"\xE8\xA1\xA8\xE7\xA4\xBA\xE3\x83"
	                                                 "\x86\xE3\x82\xB9\xE3\x83\x88\\n\");\n"));
	struct document doc = opened(buf_view(&raw), NULL);

	(void)state;
	assert_non_null(memmem(doc.lines.text.data, doc.lines.text.len, "\\n\"", 3));
	document_release(&doc);
	buf_release(&raw);
}

static void an_encoding_can_be_named(void **state)
{
	static const char *const names[] = { "latin-1", "latin1", "ISO-8859-1", "iso_8859-1",
		                             "cp1252", "windows-1252" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct document doc = opened(SPAN("caf\xE9\n"), names[i]);

		assert_span(doc.lines.text, SPAN("caf\xC3\xA9\n"));
		document_release(&doc);
	}
	struct document wide = opened(SPAN("\0a\0b\0\n"), "UTF16");

	assert_string_equal(wide.encoding, "UTF-16BE");
	document_release(&wide);
	wide = opened(SPAN("a\0\0\0\n\0\0\0"), "utf_32le");
	assert_string_equal(wide.encoding, "UTF-32LE");
	document_release(&wide);
	wide = opened(SPAN("\x2D\x4E\0\x4E\n\0"), "utf-16");

	assert_string_equal(wide.encoding, "UTF-16LE");
	assert_span(wide.lines.text, SPAN("\xE4\xB8\xAD\xE4\xB8\x80\n"));
	document_release(&wide);
}

static void a_byte_order_mark_outranks_the_named_encoding(void **state)
{
	struct document doc = opened(SPAN("\xFF\xFE" "a\0\n\0"), "utf-8");

	(void)state;
	assert_string_equal(doc.encoding, "UTF-16LE");
	assert_span(doc.lines.text, SPAN("a\n"));
	document_release(&doc);
}

static void encodings_that_do_not_exist_or_do_not_fit_are_invalid_arguments(void **state)
{
	(void)state;
	assert_not_text(SPAN("a"), "no-such-encoding", ERR_INVALID_ARGUMENT, "no-such-encoding");
	assert_not_text(SPAN("a"), "UTF-8//IGNORE", ERR_INVALID_ARGUMENT, "encoding");
	assert_not_text(SPAN("a"), "", ERR_INVALID_ARGUMENT, "encoding");
	assert_not_text(SPAN("a"), "UTF-16XX", ERR_INVALID_ARGUMENT, "UTF-16XX");
	assert_not_text(SPAN("ok\n\x81\xFF\n"), "EUC-JP", ERR_INVALID_ARGUMENT, "line 2");
	/* EBCDIC has its line feeds elsewhere. */
	assert_not_text(SPAN("\xC1\xC2\x0A\xC3\x25"), "IBM037", ERR_INVALID_ARGUMENT, "line 1");
}

static void a_shift_state_that_spans_lines_is_refused(void **state)
{
	(void)state;
	assert_not_text(SPAN("\x1B$B$3$l$O\n$3$l$O\x1B(B\nabc\n"), "ISO-2022-JP",
	                ERR_INVALID_ARGUMENT, "ISO-2022-JP");
}

static void a_character_that_the_encoding_lacks_is_named_with_its_line(void **state)
{
	struct document doc = opened(SPAN("caf\xE9 \xE0 la carte\nzwei\ndrei\n"), "ISO-8859-1");
	struct edit edits[] = { { 0, 1, SPAN("a\nb\n") }, { 2, 1, SPAN("ok\n5 \xE2\x82\xAC\n") } };
	struct script script = { .edits = edits, .count = 2 };
	struct pieces pieces;
	struct err err = ERR_INIT;

	(void)state;
	assert_false(document_encode(&doc, &script, true, &pieces, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(err.message, "U+20AC"));
	assert_non_null(strstr(err.message, "line 5"));
	assert_non_null(strstr(err.message, "ISO-8859-1"));
	document_release(&doc);
}

static void new_text_that_is_not_utf8_is_refused(void **state)
{
	struct document doc = opened(SPAN("a\n"), NULL);
	struct pieces pieces;
	struct err err = ERR_INIT;

	(void)state;
	assert_false(document_encode_text(&doc, SPAN("caf\xE9\n"), &pieces, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	document_release(&doc);
}

/* ---- damaged text ------------------------------------------------------- */

#define STRAY "\xC3\xA9t\xC3\xA9 \xC3\xA0 l\xC3\xA9\n"

static void stray_bytes_in_utf8_are_shown_replaced_and_kept(void **state)
{
	struct span raw = SPAN(STRAY STRAY "bad \xE9 byte\nlast\n");
	struct document doc = opened(raw, NULL);
	struct edit edit = { 3, 1, SPAN("neu \xC3\xA9\n") };
	struct script script = { .edits = &edit, .count = 1 };
	struct buf got = edited(&doc, &script, true);

	(void)state;
	assert_string_equal(doc.encoding, "UTF-8");
	assert_int_equal(doc.replaced, 1);
	assert_span(lines_at(&doc.lines, 2), SPAN("bad \xEF\xBF\xBD byte\n"));
	assert_span(buf_view(&got), SPAN(STRAY STRAY "bad \xE9 byte\nneu \xC3\xA9\n"));
	buf_release(&got);
	document_release(&doc);
}

static void a_new_line_with_a_replacement_character_is_refused_in_damaged_text(void **state)
{
	struct document doc = opened(SPAN(STRAY STRAY "bad \xE9 byte\n"), NULL);
	struct edit edit = { 2, 1, SPAN("good \xEF\xBF\xBD byte\n") };
	struct script script = { .edits = &edit, .count = 1 };
	struct pieces pieces;
	struct err err = ERR_INIT;

	(void)state;
	assert_false(document_encode(&doc, &script, true, &pieces, &err));
	assert_int_equal(err.code, ERR_INVALID_ARGUMENT);
	assert_non_null(strstr(err.message, "U+FFFD"));
	assert_non_null(strstr(err.message, "Line 3"));
	document_release(&doc);
}

static void lone_surrogates_and_half_units_are_kept(void **state)
{
	struct span raw = SPAN("\xFF\xFE" "a\0\n\0" "\0\xD8" "b\0\n\0" "o\0k\0 \0s\0o\0 \0f\0a\0r\0"
	                       "\n\0" "z");
	struct document doc = opened(raw, NULL);
	struct edit edit = { 0, 1, SPAN("x\n") };
	struct script script = { .edits = &edit, .count = 1 };
	struct buf got = edited(&doc, &script, true);

	(void)state;
	assert_int_equal(doc.replaced, 2);
	assert_span(doc.lines.text, SPAN("a\n\xEF\xBF\xBD" "b\nok so far\n\xEF\xBF\xBD"));
	assert_int_equal(got.len, raw.len);
	assert_memory_equal(got.data + 6, raw.data + 6, raw.len - 6);
	buf_release(&got);
	document_release(&doc);
}

/* ---- what is not text --------------------------------------------------- */

static void binary_content_is_not_text(void **state)
{
	char noise[4096];
	uint32_t x = 12345;

	(void)state;
	assert_not_text(SPAN("text with a NUL\0 in it\n"), NULL, ERR_NOT_TEXT, "not text");
	assert_not_text(SPAN("\1\2\3\4\5\6\7\1\2\3"), NULL, ERR_NOT_TEXT, "not text");
	assert_not_text(SPAN("\x7F" "ELF\2\1\1\0\0\0\0\0"), NULL, ERR_NOT_TEXT, "not text");
	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 1103515245 + 12345;
		noise[i] = (char)(x >> 16);
	}
	assert_not_text(span_of(noise, sizeof(noise)), NULL, ERR_NOT_TEXT, "not text");
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)(noise[i] ? noise[i] : 'x');
	assert_not_text(span_of(noise, sizeof(noise)), NULL, ERR_NOT_TEXT, "not text");
}

static void a_nul_in_text_can_be_read_by_naming_the_encoding(void **state)
{
	struct document doc = opened(SPAN("one\0two\nthree\n"), "utf-8");

	(void)state;
	assert_int_equal(doc.lines.count, 2);
	document_release(&doc);
}

static void small_integers_are_not_taken_for_utf16(void **state)
{
	(void)state;
	assert_not_text(SPAN("\1\0\2\0\3\0\4\0\5\0"), NULL, ERR_NOT_TEXT, "not text");
	assert_not_text(SPAN("a\0b\0\0\0c\0"), NULL, ERR_NOT_TEXT, "not text");
	assert_not_text(SPAN("a\0b"), NULL, ERR_NOT_TEXT, "not text");
}

static void terminal_output_and_form_feeds_are_text(void **state)
{
	struct document doc = opened(SPAN("\x1B[31mred\x1B[0m\f\b\v\n"), NULL);

	(void)state;
	assert_string_equal(doc.encoding, "UTF-8");
	document_release(&doc);
}

/* ---- a property --------------------------------------------------------- */

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

/* Random lines of characters that every encoding of the test has. */
static void random_lines(uint32_t *seed, size_t count, struct buf *out)
{
	static const char *const words[] = { "alpha", "\xC3\xA9t\xC3\xA9", "\xC3\xBC", "x = 1;",
		                             "\t", "", "\xC3\x9F\xC3\xA4", "\r" };

	for (size_t i = 0; i < count; i++) {
		for (uint32_t n = next_random(seed) % 4; n; n--)
			buf_str(out, words[next_random(seed) % ARRAY_LEN(words)]);
		buf_str(out, next_random(seed) % 3 ? "\n" : "\r\n");
	}
}

static void random_script(uint32_t *seed, const struct lines *lines, struct span pool,
                          struct script *script)
{
	size_t at = next_random(seed) % 3;
	_cleanup_lines_ struct lines from = { 0 };

	lines_index(&from, pool);
	while (at <= lines->count) {
		size_t remove = next_random(seed) % 3;
		size_t first = next_random(seed) % from.count;
		size_t last = first + next_random(seed) % 3;
		struct edit edit = { .at = at };

		edit.remove = remove < lines->count - at ? remove : lines->count - at;
		if (last > from.count)
			last = from.count;
		edit.insert = lines_range(&from, first, last);
		script_add(script, edit);
		at += edit.remove + 1 + next_random(seed) % 5;
	}
}

/* The result decodes to what the script makes of the text, and outside the edits it has the
 * bytes of the original. */
static void check_random(uint32_t *seed, const char *encoding, struct span mark)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf pool = BUF_INIT(1 << 20);
	_cleanup_buf_ struct buf want_text = BUF_INIT(1 << 20);
	_cleanup_script_ struct script script = { 0 };
	struct document doc;

	random_lines(seed, 1 + next_random(seed) % 40, &text);
	random_lines(seed, 10, &pool);
	_cleanup_buf_ struct buf raw = encoded(encoding, mark, buf_view(&text));

	doc = opened(buf_view(&raw), encoding);
	assert_span(doc.lines.text, buf_view(&text));
	random_script(seed, &doc.lines, buf_view(&pool), &script);
	script_apply(&doc.lines, &script, &want_text);
	_cleanup_buf_ struct buf want = encoded(encoding, mark, buf_view(&want_text));
	_cleanup_buf_ struct buf got = edited(&doc, &script, true);

	assert_span(buf_view(&got), buf_view(&want));
	document_release(&doc);
}

static void random_scripts_on_random_documents_change_only_their_lines(void **state)
{
	uint32_t seed = 20240601;

	(void)state;
	for (int round = 0; round < 300; round++) {
		for (size_t i = 0; i < ARRAY_LEN(unicodes); i++)
			check_random(&seed, unicodes[i].name, unicodes[i].mark);
		check_random(&seed, "ISO-8859-1", SPAN(""));
		check_random(&seed, "CP1252", SPAN(""));
		check_random(&seed, "GB18030", SPAN(""));
	}
}

/* Stray bytes anywhere: what is not edited comes out as it was. */
static void damaged_documents_keep_the_bytes_of_untouched_lines(void **state)
{
	uint32_t seed = 7;

	(void)state;
	for (int round = 0; round < 500; round++) {
		_cleanup_buf_ struct buf raw = BUF_INIT(1 << 20);
		_cleanup_script_ struct script script = { 0 };
		struct edit edit = { .insert = SPAN("new\n") };
		struct document doc;

		random_lines(&seed, 30, &raw);
		for (int i = 0; i < 3; i++)
			raw.data[next_random(&seed) % raw.len] = (char)(0x80 | next_random(&seed));
		doc = opened(buf_view(&raw), "utf-8");
		edit.at = next_random(&seed) % doc.lines.count;
		edit.remove = 1;
		script_add(&script, edit);
		_cleanup_buf_ struct buf got = edited(&doc, &script, true);
		_cleanup_lines_ struct lines old_lines = { 0 };

		lines_index(&old_lines, buf_view(&raw));
		assert_int_equal(old_lines.count, doc.lines.count);
		_cleanup_buf_ struct buf want = BUF_INIT(1 << 20);

		script_apply(&old_lines, &script, &want);
		assert_span(buf_view(&got), buf_view(&want));
		document_release(&doc);
	}
}

/* Whatever bytes: they are refused, or shown as UTF-8 and written as they were. */
static void any_bytes_that_open_are_written_unchanged(void **state)
{
	const size_t rounds = part_of(4000, 4);
	uint32_t seed = 99;
	size_t as_text = 0;

	(void)state;
	for (size_t round = 0; round < rounds; round++) {
		const struct legacy *legacy = &legacies[next_random(&seed) % ARRAY_LEN(legacies)];
		const struct unicode *unicode = &unicodes[next_random(&seed) % ARRAY_LEN(unicodes)];
		bool wide = next_random(&seed) % 2;
		_cleanup_buf_ struct buf raw = encoded(wide ? unicode->name : legacy->encoding,
		                                       wide ? unicode->mark : SPAN(""),
		                                       span_str(legacy->text));
		struct script nothing = { 0 };
		struct document doc;
		struct err err = ERR_INIT;

		for (uint32_t n = next_random(&seed) % 4; n; n--)
			raw.data[next_random(&seed) % raw.len] = (char)next_random(&seed);
		raw.len -= next_random(&seed) % 3;
		if (!document_open(buf_view(&raw), NULL, &doc, &err)) {
			assert_int_equal(err.code, ERR_NOT_TEXT);
			continue;
		}
		as_text++;
		_cleanup_buf_ struct buf got = edited(&doc, &nothing, true);

		assert_span(buf_view(&got), buf_view(&raw));
		assert_true(utf8_valid(doc.lines.text));
		document_release(&doc);
	}
	assert_in_range(as_text, rounds / 2, rounds - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_unicode_form_and_line_ending_is_found_and_kept),
		cmocka_unit_test(an_edit_is_written_in_the_encoding_and_keeps_the_mark),
		cmocka_unit_test(the_empty_file_is_utf8_and_stays_empty),
		cmocka_unit_test(a_mark_alone_is_an_empty_text),
		cmocka_unit_test(utf8_is_not_copied),
		cmocka_unit_test(whole_new_text_does_not_double_the_mark),
		cmocka_unit_test(legacy_encodings_are_found_and_edited),
		cmocka_unit_test(a_backslash_in_shift_jis_is_a_backslash),
		cmocka_unit_test(an_encoding_can_be_named),
		cmocka_unit_test(a_byte_order_mark_outranks_the_named_encoding),
		cmocka_unit_test(encodings_that_do_not_exist_or_do_not_fit_are_invalid_arguments),
		cmocka_unit_test(a_shift_state_that_spans_lines_is_refused),
		cmocka_unit_test(a_character_that_the_encoding_lacks_is_named_with_its_line),
		cmocka_unit_test(new_text_that_is_not_utf8_is_refused),
		cmocka_unit_test(stray_bytes_in_utf8_are_shown_replaced_and_kept),
		cmocka_unit_test(a_new_line_with_a_replacement_character_is_refused_in_damaged_text),
		cmocka_unit_test(lone_surrogates_and_half_units_are_kept),
		cmocka_unit_test(binary_content_is_not_text),
		cmocka_unit_test(a_nul_in_text_can_be_read_by_naming_the_encoding),
		cmocka_unit_test(small_integers_are_not_taken_for_utf16),
		cmocka_unit_test(terminal_output_and_form_feeds_are_text),
		cmocka_unit_test(random_scripts_on_random_documents_change_only_their_lines),
		cmocka_unit_test(damaged_documents_keep_the_bytes_of_untouched_lines),
		cmocka_unit_test(any_bytes_that_open_are_written_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
