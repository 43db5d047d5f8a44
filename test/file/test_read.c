/* SPDX-License-Identifier: Apache-2.0 */
/* read_file: ranges, limits, encodings, media, large files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/text.h"
#include "file/private.h"
#include "file/read.h"

#include "scratch.h"

static int setup(void **state)
{
	struct scratch *scratch = mem_alloc(1, sizeof(*scratch));

	scratch_open(scratch);
	*state = scratch;
	return 0;
}

static int teardown(void **state)
{
	scratch_close(*state);
	free(*state);
	return 0;
}

static struct read_result reading(const struct scratch *scratch, struct read_request request)
{
	struct read_result result;
	struct err err = ERR_INIT;

	if (!read_file(scratch->ws, &request, &result, &err))
		fail_msg("read_file: %s", err.message);
	return result;
}

static void assert_content(const struct read_result *result, const char *want)
{
	assert_string_equal(result->content.data ? result->content.data : "", want);
	assert_int_equal(result->content.len, strlen(want));
}

static void assert_refused(const struct scratch *scratch, struct read_request request,
                           enum err_code code, const char *says)
{
	struct read_result result;
	struct err err = ERR_INIT;

	assert_false(read_file(scratch->ws, &request, &result, &err));
	assert_int_equal(err.code, code);
	if (!strstr(err.message, says))
		fail_msg("\"%s\" does not say \"%s\"", err.message, says);
	if (code == ERR_NOT_TEXT)
		assert_non_null(result.state.path);
	read_result_release(&result);
}

static void assert_hash_of(const struct read_result *result, struct span bytes)
{
	struct sha256 want = sha256_of(bytes);

	assert_true(sha256_eq(&result->state.sha256, &want));
	assert_int_equal(result->state.size, bytes.len);
}

/* "line 1\n" ... */
static struct buf numbered(size_t count)
{
	struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	for (size_t i = 1; i <= count; i++)
		buf_printf(&text, "line %zu\n", i);
	return text;
}

/* ---- ranges ------------------------------------------------------------- */

static void a_small_file_is_returned_whole(void **state)
{
	struct scratch *scratch = *state;

	scratch_write(scratch, "f", SPAN("one\r\ntwo\r\n"));
	struct read_result r = reading(scratch, (struct read_request){ .path = "f" });

	assert_content(&r, "one\r\ntwo\r\n");
	assert_hash_of(&r, SPAN("one\r\ntwo\r\n"));
	assert_string_equal(r.encoding, "UTF-8");
	assert_string_equal(r.mime_type, "text/plain");
	assert_string_equal(r.line_endings, "crlf");
	assert_true(r.final_newline);
	assert_int_equal(r.total_lines, 2);
	assert_int_equal(r.first_line, 1);
	assert_int_equal(r.last_line, 2);
	assert_false(r.truncated);
	assert_int_equal(r.next_line, 0);
	read_result_release(&r);
}

static void an_empty_file_has_no_lines(void **state)
{
	struct scratch *scratch = *state;

	scratch_write(scratch, "f", SPAN(""));
	struct read_result r = reading(scratch, (struct read_request){ .path = "f" });

	assert_content(&r, "");
	assert_int_equal(r.total_lines, 0);
	assert_int_equal(r.first_line, 0);
	assert_int_equal(r.last_line, 0);
	assert_false(r.truncated);
	assert_string_equal(r.line_endings, "none");
	assert_hash_of(&r, SPAN(""));
	read_result_release(&r);
}

static const struct range {
	size_t start, end, max;
	size_t first, last, next;
} ranges[] = {
	{ 0, 0, 0, 1, 2000, 2001 },   { 1, 1, 0, 1, 1, 2 },
	{ 10, 19, 0, 10, 19, 20 },    { 10, 0, 5, 10, 14, 15 },
	{ 10, 12, 50, 10, 12, 13 },   { 2999, 0, 0, 2999, 3000, 0 },
	{ 3000, 9999, 0, 3000, 3000, 0 }, { 1001, 0, 2000, 1001, 3000, 0 },
	{ 5, 0, SIZE_MAX, 5, 3000, 0 },
};

static void a_range_is_returned_with_the_hash_of_the_whole(void **state)
{
	struct scratch *scratch = *state;
	struct buf text = numbered(3000);

	scratch_write(scratch, "f", buf_view(&text));
	for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
		struct read_request request = { .path = "f", .start_line = ranges[i].start,
			                        .end_line = ranges[i].end,
			                        .max_lines = ranges[i].max };
		struct read_result r = reading(scratch, request);
		_cleanup_buf_ struct buf want = BUF_INIT(1 << 20);

		for (size_t n = ranges[i].first; n <= ranges[i].last; n++)
			buf_printf(&want, "line %zu\n", n);
		assert_content(&r, want.data);
		assert_int_equal(r.first_line, ranges[i].first);
		assert_int_equal(r.last_line, ranges[i].last);
		assert_int_equal(r.next_line, ranges[i].next);
		assert_int_equal(r.truncated, ranges[i].next != 0);
		assert_int_equal(r.total_lines, 3000);
		assert_hash_of(&r, buf_view(&text));
		read_result_release(&r);
	}
	buf_release(&text);
}

static void a_range_that_cannot_be_is_an_invalid_argument(void **state)
{
	struct scratch *scratch = *state;

	scratch_write(scratch, "f", SPAN("one\ntwo\n"));
	scratch_write(scratch, "empty", SPAN(""));
	assert_refused(scratch, (struct read_request){ .path = "f", .start_line = 3 },
	               ERR_INVALID_ARGUMENT, "2 lines");
	assert_refused(scratch,
	               (struct read_request){ .path = "f", .start_line = 2, .end_line = 1 },
	               ERR_INVALID_ARGUMENT, "before");
	assert_refused(scratch, (struct read_request){ .path = "empty", .start_line = 2 },
	               ERR_INVALID_ARGUMENT, "0 lines");
}

static void long_lines_are_cut_at_a_character_and_counted(void **state)
{
	struct scratch *scratch = *state;

	scratch_write(scratch, "f", SPAN("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\nabc\nabcd\r\n"));
	struct read_result r = reading(
		scratch, (struct read_request){ .path = "f", .max_line_chars = 3 });

	assert_content(&r, "\xC3\xA9\xC3\xA9\xC3\xA9... [truncated]\nabc\nabc... [truncated]\r\n");
	assert_int_equal(r.cut_lines, 2);
	assert_true(r.truncated);
	assert_int_equal(r.next_line, 0);
	read_result_release(&r);

	r = reading(scratch, (struct read_request){ .path = "f", .max_line_chars = 3,
	                                            .whole = true });
	assert_int_equal(r.cut_lines, 0);
	assert_false(r.truncated);
	read_result_release(&r);
}

static void max_bytes_returns_whole_lines(void **state)
{
	struct scratch *scratch = *state;

	scratch_write(scratch, "f", SPAN("12345\n12345\n12345\n"));
	for (size_t max = 6; max <= 20; max++) {
		struct read_result r = reading(
			scratch, (struct read_request){ .path = "f", .max_bytes = max });
		size_t lines = max / 6 < 3 ? max / 6 : 3;

		assert_int_equal(r.content.len, 6 * lines);
		assert_int_equal(r.last_line, lines);
		assert_int_equal(r.next_line, lines < 3 ? lines + 1 : 0);
		assert_int_equal(r.cut_lines, 0);
		read_result_release(&r);
	}
}

static void a_first_line_over_max_bytes_is_cut(void **state)
{
	struct scratch *scratch = *state;

	scratch_write(scratch, "f",
	              SPAN("0123456789\xC3\xA9\xC3\xA9\xC3\xA9 0123456789 0123456789\ntwo\n"));
	for (int whole = 0; whole < 2; whole++) {
		struct read_result r = reading(scratch, (struct read_request){
			.path = "f", .max_bytes = 27, .whole = whole });

		assert_content(&r, "0123456789... [truncated]\n");
		assert_true(r.content.len <= 27);
		assert_int_equal(r.cut_lines, 1);
		assert_true(r.truncated);
		assert_int_equal(r.next_line, 2);
		read_result_release(&r);
	}
}

/* The window gives the same for a text in one piece and in any pieces. */
static void a_text_in_pieces_gives_the_same_window(void **state)
{
	static const char text[] = "a\r\nb\rc\n\n\r\r\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 long "
	                           "line\nlast\r";
	struct read_request request = { .start_line = 1, .max_line_chars = 4 };

	(void)state;
	for (size_t limit = 0; limit < 60; limit++) {
		_cleanup_buf_ struct buf whole = BUF_INIT(4096);
		_cleanup_buf_ struct buf parts = BUF_INIT(4096);
		struct window a;
		struct window b;

		request.max_bytes = limit;
		request.start_line = limit % 4;
		read_window_init(&a, &request, &whole);
		read_window_init(&b, &request, &parts);
		read_window_feed(&a, SPAN(text));
		read_window_finish(&a);
		struct span rest = SPAN(text);
		struct utf8_char c;

		while (utf8_next(&rest, &c))
			read_window_feed(&b, c.bytes);
		read_window_finish(&b);
		assert_true(span_eq(buf_view(&whole), buf_view(&parts)));
		assert_int_equal(a.total_lines, 6);
		assert_int_equal(b.total_lines, 6);
		assert_int_equal(a.crlf_lines, b.crlf_lines);
		assert_int_equal(a.lf_lines, b.lf_lines);
		assert_int_equal(a.last_line, b.last_line);
		assert_int_equal(a.cut_lines, b.cut_lines);
	}
}

/* ---- encodings and media ------------------------------------------------ */

static void content_is_utf8_whatever_the_file_is_in(void **state)
{
	struct scratch *scratch = *state;
	struct span utf16 = SPAN("\xFF\xFE" "h\0\xE9\0\r\0\n\0");
	struct read_result r;

	scratch_write(scratch, "utf16", utf16);
	r = reading(scratch, (struct read_request){ .path = "utf16" });
	assert_content(&r, "h\xC3\xA9\r\n");
	assert_string_equal(r.encoding, "UTF-16LE");
	assert_hash_of(&r, utf16);
	read_result_release(&r);

	scratch_write(scratch, "bom", SPAN("\xEF\xBB\xBFx\n"));
	r = reading(scratch, (struct read_request){ .path = "bom" });
	assert_content(&r, "x\n");
	assert_hash_of(&r, SPAN("\xEF\xBB\xBFx\n"));
	read_result_release(&r);

	scratch_write(scratch, "bad", SPAN("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 \xE9\n"));
	r = reading(scratch, (struct read_request){ .path = "bad" });
	assert_content(&r, "\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9 \xEF\xBF\xBD\n");
	read_result_release(&r);

	scratch_write(scratch, "latin", SPAN("caf\xE9 \xE0 la carte\n"));
	r = reading(scratch, (struct read_request){ .path = "latin", .encoding = "latin-1" });
	assert_content(&r, "caf\xC3\xA9 \xC3\xA0 la carte\n");
	read_result_release(&r);
	assert_refused(scratch, (struct read_request){ .path = "latin", .encoding = "bogus" },
	               ERR_INVALID_ARGUMENT, "bogus");
}

#define GIF "GIF89a\1\0\1\0\x80\0\0\0\0\0\xFF\xFF\xFF!\xF9\4\1\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;"

static void media_is_handed_over_only_when_asked_for(void **state)
{
	struct scratch *scratch = *state;
	struct read_result r;

	scratch_write(scratch, "dot.gif", SPAN(GIF));
	r = reading(scratch, (struct read_request){ .path = "dot.gif", .media = true });
	assert_int_equal(r.kind, READ_MEDIA);
	assert_string_equal(r.mime_type, "image/gif");
	assert_int_equal(r.content.len, sizeof(GIF) - 1);
	assert_memory_equal(r.content.data, GIF, sizeof(GIF) - 1);
	assert_hash_of(&r, SPAN(GIF));
	read_result_release(&r);
	assert_refused(scratch, (struct read_request){ .path = "dot.gif" }, ERR_NOT_TEXT,
	               "a GIF image (image/gif, 43 bytes)");
}

/* Text, a legacy encoding, NUL, nothing: the same bytes, whatever they are; no more than are
 * wanted. */
static void bytes_are_handed_over_as_they_are(void **state)
{
	static const struct span contents[] = { { "\xef\xbb\xbftext\r\n", 9 }, { "caf\xe9", 4 },
		                                { "\0\xff\n", 3 }, { "", 0 } };
	struct scratch *scratch = *state;

	for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
		struct read_result r;

		scratch_write(scratch, "f", contents[i]);
		r = reading(scratch, (struct read_request){ .path = "f", .bytes = true,
		                                            .start_line = 99 });
		assert_int_equal(r.kind, READ_MEDIA);
		assert_true(span_eq(buf_view(&r.content), contents[i]));
		assert_hash_of(&r, contents[i]);
		read_result_release(&r);
	}
	scratch_write(scratch, "f", SPAN("12345"));
	assert_refused(scratch,
	               (struct read_request){ .path = "f", .bytes = true, .max_file_bytes = 4 },
	               ERR_TOO_LARGE, "");
	assert_refused(scratch, (struct read_request){ .path = "none", .bytes = true },
	               ERR_FILE_NOT_FOUND, "none");
}

static void a_pdf_is_media_also_when_it_is_ascii(void **state)
{
	struct scratch *scratch = *state;
	struct read_result r;

	scratch_write(scratch, "f.pdf", SPAN("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n"));
	r = reading(scratch, (struct read_request){ .path = "f.pdf", .media = true });
	assert_int_equal(r.kind, READ_MEDIA);
	assert_string_equal(r.mime_type, "application/pdf");
	read_result_release(&r);
	assert_refused(scratch, (struct read_request){ .path = "f.pdf" }, ERR_NOT_TEXT,
	               "a PDF document");
}

static void anything_is_handed_over_raw_that_is_not_text(void **state)
{
	struct scratch *scratch = *state;
	struct read_result r;

	scratch_write(scratch, "program", SPAN("\x7F" "ELF\2\1\1\0\0\0\0\0"));
	scratch_write(scratch, "text", SPAN("text\n"));
	assert_refused(scratch, (struct read_request){ .path = "program", .media = true },
	               ERR_NOT_TEXT, "binary data");
	r = reading(scratch, (struct read_request){ .path = "program", .raw = true });
	assert_int_equal(r.kind, READ_MEDIA);
	assert_int_equal(r.content.len, 12);
	assert_hash_of(&r, buf_view(&r.content));
	read_result_release(&r);
	r = reading(scratch, (struct read_request){ .path = "text", .raw = true });
	assert_int_equal(r.kind, READ_TEXT);
	assert_content(&r, "text\n");
	read_result_release(&r);
}

/* Who cannot wait gets what is there at once, and is told of all else that it takes longer. */
static void what_takes_long_is_not_read_at_once(void **state)
{
	static const struct {
		const char *name;
		struct span content;
	} slow[] = {
		{ "latin", SPAN("caf\xE9 cr\xE8me\n") },
		{ "wide", SPAN("\xFF\xFE" "a\0\n\0") },
		{ "dot.gif", SPAN(GIF) },
		{ "f.pdf", SPAN("%PDF-1.4\n") },
		{ "controls", SPAN("\1\2\3\4\5\6\1\2\3\4") },
	};
	struct scratch *scratch = *state;
	struct buf large = numbered(60000);
	struct read_result r;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < sizeof(slow) / sizeof(slow[0]); i++) {
		scratch_write(scratch, slow[i].name, slow[i].content);
		assert_false(read_file(scratch->ws, &(struct read_request){ .path = slow[i].name,
			.media = true, .at_once = true }, &r, &err));
		if (!r.not_at_once)
			fail_msg("%s: %s", slow[i].name, err.message);
		read_result_release(&r);
	}
	scratch_write(scratch, "large", buf_view(&large));
	assert_false(read_file(scratch->ws, &(struct read_request){ .path = "large",
		.at_once = true }, &r, &err));
	assert_true(r.not_at_once);
	read_result_release(&r);
	assert_false(read_file(scratch->ws, &(struct read_request){ .path = "missing",
		.at_once = true }, &r, &err));
	assert_false(r.not_at_once);
	assert_int_equal(err.code, ERR_FILE_NOT_FOUND);
	read_result_release(&r);
	scratch_write(scratch, "text", SPAN("caf\xC3\xA9\n"));
	r = reading(scratch, (struct read_request){ .path = "text", .at_once = true });
	assert_content(&r, "caf\xC3\xA9\n");
	read_result_release(&r);
	buf_release(&large);
}

static void svg_and_typescript_are_text(void **state)
{
	struct scratch *scratch = *state;
	struct read_result r;

	scratch_write(scratch, "a.svg", SPAN("<svg xmlns=\"http://www.w3.org/2000/svg\"/>\n"));
	scratch_write(scratch, "a.ts", SPAN("export const x: number = 1;\n"));
	r = reading(scratch, (struct read_request){ .path = "a.svg", .media = true });
	assert_int_equal(r.kind, READ_TEXT);
	read_result_release(&r);
	r = reading(scratch, (struct read_request){ .path = "a.ts", .media = true });
	assert_int_equal(r.kind, READ_TEXT);
	read_result_release(&r);
}

static void what_cannot_be_read_is_explained(void **state)
{
	struct scratch *scratch = *state;
	_cleanup_free_ char *folder = mem_printf("%s/folder", scratch->folder);

	assert_int_equal(mkdir(folder, 0755), 0);
	scratch_write(scratch, "nul", SPAN("a\0b\n"));
	scratch_write(scratch, "six", SPAN("123456"));
	assert_refused(scratch, (struct read_request){ .path = "none" }, ERR_FILE_NOT_FOUND, "none");
	assert_refused(scratch, (struct read_request){ .path = "folder" }, ERR_NOT_A_FILE,
	               "folder");
	assert_refused(scratch, (struct read_request){ .path = "nul" }, ERR_NOT_TEXT,
	               "binary data (application/octet-stream, 4 bytes)");
	assert_refused(scratch, (struct read_request){ .path = "/etc/passwd" },
	               ERR_OUTSIDE_WORKSPACE, "");
	assert_refused(scratch, (struct read_request){ .path = "six", .max_file_bytes = 5 },
	               ERR_TOO_LARGE, "5");
}

/* ---- large files -------------------------------------------------------- */

static long peak_kib(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss;
}

/* Above the size from which files are read in pieces. Many lines at once: one by one they cost more than
 * what is tested. */
static void fill(const struct scratch *scratch, const char *name, struct span line,
                 size_t count, struct sha256 *ret)
{
	enum { LINES = 10000 };
	_cleanup_free_ char *path = mem_printf("%s/%s", scratch->folder, name);
	_cleanup_free_ char *lines = mem_alloc(LINES, line.len);
	FILE *file = fopen(path, "we");
	struct sha256_stream stream;

	for (size_t i = 0; i < LINES; i++)
		memcpy(lines + i * line.len, line.data, line.len);
	assert_non_null(file);
	sha256_init(&stream);
	while (count) {
		const size_t now = count < LINES ? count : LINES;

		assert_int_equal(fwrite(lines, line.len, now, file), now);
		sha256_update(&stream, span_of(lines, now * line.len));
		count -= now;
	}
	assert_int_equal(fclose(file), 0);
	*ret = sha256_final(&stream);
}

static void a_large_file_is_read_in_little_memory(void **state)
{
	struct scratch *scratch = *state;
	struct span line = SPAN("na\xC3\xAFve \xE2\x82\xAC \xF0\x9F\x98\x80 line of text, 41 bytes\r\n");
	size_t count = ((size_t)66 << 20) / line.len;
	struct sha256 want;
	long before;

	fill(scratch, "large", line, count, &want);
	before = peak_kib();
	struct read_result r = reading(
		scratch, (struct read_request){ .path = "large", .start_line = count - 1 });

	assert_int_equal(r.total_lines, count);
	assert_int_equal(r.first_line, count - 1);
	assert_int_equal(r.content.len, 2 * line.len);
	assert_memory_equal(r.content.data, line.data, line.len);
	assert_string_equal(r.line_endings, "crlf");
	assert_true(sha256_eq(&r.state.sha256, &want));
	assert_int_equal(r.state.size, count * line.len);
	assert_true(peak_kib() - before < 16 << 10);
	read_result_release(&r);
	assert_refused(scratch, (struct read_request){ .path = "large", .start_line = count + 1 },
	               ERR_INVALID_ARGUMENT, "past the end");
	assert_refused(scratch,
	               (struct read_request){ .path = "large", .max_file_bytes = 65 << 20 },
	               ERR_TOO_LARGE, "limit");
}

static void one_huge_line_is_cut(void **state)
{
	struct scratch *scratch = *state;
	struct sha256 want;

	fill(scratch, "line", SPAN("0123456789abcdef"), (size_t)66 << 16, &want);
	struct read_result r = reading(scratch, (struct read_request){ .path = "line" });

	assert_int_equal(r.total_lines, 1);
	assert_int_equal(r.cut_lines, 1);
	assert_false(r.final_newline);
	assert_int_equal(r.content.len, 2000 + strlen("... [truncated]"));
	assert_true(sha256_eq(&r.state.sha256, &want));
	read_result_release(&r);
}

static void a_large_file_that_is_not_utf8_is_read_whole(void **state)
{
	struct scratch *scratch = *state;
	struct span line = SPAN("caf\xE9 \xE0 la carte, tr\xE8s bien\n");
	struct sha256 want;

	fill(scratch, "latin", line, ((size_t)66 << 20) / line.len, &want);
	struct read_result r = reading(
		scratch, (struct read_request){ .path = "latin", .max_lines = 1 });

	assert_content(&r, "caf\xC3\xA9 \xC3\xA0 la carte, tr\xC3\xA8s bien\n");
	assert_true(sha256_eq(&r.state.sha256, &want));
	read_result_release(&r);
	_cleanup_free_ char *zeros = mem_printf("%s/zeros", scratch->folder);

	scratch_write(scratch, "zeros", SPAN(""));
	assert_int_equal(truncate(zeros, (off_t)72 << 20), 0); /* sparse */
	assert_refused(scratch, (struct read_request){ .path = "zeros" }, ERR_NOT_TEXT,
	               "75,497,472 bytes");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_small_file_is_returned_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_file_has_no_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(a_range_is_returned_with_the_hash_of_the_whole, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_range_that_cannot_be_is_an_invalid_argument, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(long_lines_are_cut_at_a_character_and_counted, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(max_bytes_returns_whole_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(a_first_line_over_max_bytes_is_cut, setup, teardown),
		cmocka_unit_test(a_text_in_pieces_gives_the_same_window),
		cmocka_unit_test_setup_teardown(content_is_utf8_whatever_the_file_is_in, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(media_is_handed_over_only_when_asked_for, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(a_pdf_is_media_also_when_it_is_ascii, setup, teardown),
		cmocka_unit_test_setup_teardown(anything_is_handed_over_raw_that_is_not_text, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(what_takes_long_is_not_read_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(svg_and_typescript_are_text, setup, teardown),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_is_explained, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_are_handed_over_as_they_are, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_file_is_read_in_little_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(one_huge_line_is_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_file_that_is_not_utf8_is_read_whole, setup,
		                                teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
