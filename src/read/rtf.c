/* SPDX-License-Identifier: Apache-2.0 */
/* Rich Text Format: its text, after "Rich Text Format (RTF) Specification", version 1.9.1.
 *
 *     file    = "{\rtf1" *( group / control / text ) "}"
 *     control = "\" ( letters [ ["-"] digits ] [" "] / "'" 2 hex digits / one other character )
 *
 * Kept: paragraphs, tabs, cells and rows of tables, \'hh in the code page of the document, \uN.
 * Left out with all that is in them: destinations that are no text (fonts, colours, styles,
 * pictures, objects, fields' instructions, and any that begins with \*).  Debian has no library
 * that reads it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "read/format.h"
#include "read/text_out.h"

enum {
	RTF_MAX = 64 << 20,
	GROUPS_MAX = 1000,   /* deeper ones are left out */
	WORD_MAX = 32,
	RUN_MAX = 4096,      /* bytes in the document's encoding that are decoded together */
	TITLE_BYTES = 300,
};

enum rtf_kind { RTF_TEXT, RTF_SKIPPED, RTF_TITLE, RTF_AUTHOR };

struct rtf_group {
	enum rtf_kind kind;
	int unicode_skip;    /* \ucN: characters after \uN that stand for it */
};

struct rtf {
	struct span rest;
	struct text_out out;
	struct derive_result *ret;
	struct rtf_group groups[GROUPS_MAX];
	size_t depth;        /* of open groups; deeper than GROUPS_MAX - 1 nothing is kept */
	int to_skip;         /* characters still, after \uN */
	bool starred;        /* \* was just read */
	uint32_t high;       /* first half of a surrogate pair, or 0 */
	char charset[24];
	struct buf run;      /* bytes to be decoded */
	struct buf title, author;
};

static struct rtf_group *rtf_top(struct rtf *rtf)
{
	return &rtf->groups[rtf->depth < GROUPS_MAX ? rtf->depth : GROUPS_MAX - 1];
}

/* ---- text ------------------------------------------------------------------------------ */

static void rtf_put(struct rtf *rtf, struct span text)
{
	if (rtf->depth >= GROUPS_MAX)
		return;
	switch (rtf_top(rtf)->kind) {
	case RTF_TEXT:
		text_out(&rtf->out, text);
		break;
	case RTF_TITLE:
		buf_span(&rtf->title, text);
		break;
	case RTF_AUTHOR:
		buf_span(&rtf->author, text);
		break;
	case RTF_SKIPPED:
		break;
	}
}

static void rtf_flush(struct rtf *rtf)
{
	_cleanup_buf_ struct buf text = BUF_INIT(4 * RUN_MAX + 16);

	if (!rtf->run.len)
		return;
	format_to_utf8(buf_view(&rtf->run), rtf->charset, &text);
	buf_clear(&rtf->run);
	rtf_put(rtf, buf_view(&text));
}

static void rtf_byte(struct rtf *rtf, char c)
{
	if (rtf->to_skip > 0) {
		rtf->to_skip--;
		return;
	}
	buf_char(&rtf->run, c);
	if (rtf->run.len >= RUN_MAX)
		rtf_flush(rtf);
}

static void rtf_put_str(struct rtf *rtf, const char *text)
{
	rtf_flush(rtf);
	rtf_put(rtf, span_str(text));
}

/* \uN is a signed 16-bit number; pairs of surrogates are one character. */
static void rtf_unicode(struct rtf *rtf, int number)
{
	uint32_t code = (uint32_t)number & 0xffff;
	char bytes[4];

	rtf_flush(rtf);
	rtf->to_skip = rtf_top(rtf)->unicode_skip;
	if (code >= 0xd800 && code < 0xdc00) {
		rtf->high = code;
		return;
	}
	if (code >= 0xdc00 && code < 0xe000)
		code = rtf->high ? 0x10000 + ((rtf->high - 0xd800) << 10) + (code - 0xdc00) :
		                   0xfffd;
	rtf->high = 0;
	rtf_put(rtf, span_of(bytes, utf8_put(code, bytes)));
}

/* ---- control words --------------------------------------------------------------------- */

enum rtf_action { RTF_PUT, RTF_SKIP, RTF_INFO_TITLE, RTF_INFO_AUTHOR, RTF_UNICODE,
	RTF_UNICODE_SKIP, RTF_CODE_PAGE, RTF_CELL, RTF_ROW, RTF_BINARY };

static const struct rtf_word {
	const char *word;
	enum rtf_action action;
	const char *text;
} rtf_words[] = {
	{ "ansicpg", RTF_CODE_PAGE, "" },      { "author", RTF_INFO_AUTHOR, "" },
	{ "bin", RTF_BINARY, "" },             { "bullet", RTF_PUT, "\xE2\x80\xA2" },
	{ "cell", RTF_CELL, "" },              { "colortbl", RTF_SKIP, "" },
	{ "comment", RTF_SKIP, "" },           { "company", RTF_SKIP, "" },
	{ "emdash", RTF_PUT, "\xE2\x80\x94" }, { "endash", RTF_PUT, "\xE2\x80\x93" },
	{ "filetbl", RTF_SKIP, "" },           { "fldinst", RTF_SKIP, "" },
	{ "fonttbl", RTF_SKIP, "" },           { "footer", RTF_SKIP, "" },
	{ "footerf", RTF_SKIP, "" },           { "footerl", RTF_SKIP, "" },
	{ "footerr", RTF_SKIP, "" },           { "header", RTF_SKIP, "" },
	{ "headerf", RTF_SKIP, "" },           { "headerl", RTF_SKIP, "" },
	{ "headerr", RTF_SKIP, "" },           { "info", RTF_SKIP, "" },
	{ "ldblquote", RTF_PUT, "\xE2\x80\x9C" }, { "line", RTF_PUT, "\n" },
	{ "listtable", RTF_SKIP, "" },         { "lquote", RTF_PUT, "\xE2\x80\x98" },
	{ "nestcell", RTF_CELL, "" },          { "nestrow", RTF_ROW, "" },
	{ "object", RTF_SKIP, "" },            { "page", RTF_PUT, "\n" },
	{ "par", RTF_PUT, "\n" },              { "pict", RTF_SKIP, "" },
	{ "rdblquote", RTF_PUT, "\xE2\x80\x9D" }, { "row", RTF_ROW, "" },
	{ "rquote", RTF_PUT, "\xE2\x80\x99" }, { "sect", RTF_PUT, "\n" },
	{ "stylesheet", RTF_SKIP, "" },        { "tab", RTF_PUT, "\t" },
	{ "themedata", RTF_SKIP, "" },         { "title", RTF_INFO_TITLE, "" },
	{ "u", RTF_UNICODE, "" },              { "uc", RTF_UNICODE_SKIP, "" },
};

static int word_compare(const void *key, const void *row)
{
	return strcmp(key, ((const struct rtf_word *)row)->word);
}

static void rtf_code_page(struct rtf *rtf, int number)
{
	static const struct { int number; const char *name; } pages[] = {
		{ 437, "IBM437" }, { 850, "IBM850" }, { 852, "IBM852" }, { 866, "IBM866" },
		{ 932, "CP932" }, { 936, "GBK" }, { 949, "CP949" }, { 950, "BIG5" },
		{ 10000, "MACINTOSH" }, { 65001, "UTF-8" },
	};

	rtf_flush(rtf);
	snprintf(rtf->charset, sizeof(rtf->charset), "WINDOWS-%d", number);
	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (pages[i].number == number)
			snprintf(rtf->charset, sizeof(rtf->charset), "%s", pages[i].name);
}

static void rtf_do(struct rtf *rtf, const struct rtf_word *word, int number)
{
	struct rtf_group *top = rtf_top(rtf);

	switch (word->action) {
	case RTF_PUT: rtf_put_str(rtf, word->text); break;
	case RTF_SKIP: rtf_flush(rtf); top->kind = RTF_SKIPPED; break;
	case RTF_INFO_TITLE: rtf_flush(rtf); top->kind = RTF_TITLE; break;
	case RTF_INFO_AUTHOR: rtf_flush(rtf); top->kind = RTF_AUTHOR; break;
	case RTF_UNICODE: rtf_unicode(rtf, number); break;
	case RTF_UNICODE_SKIP: top->unicode_skip = number < 0 || number > 8 ? 1 : number; break;
	case RTF_CODE_PAGE: rtf_code_page(rtf, number); break;
	case RTF_CELL: rtf_put_str(rtf, " | "); break;
	case RTF_ROW: rtf_put_str(rtf, "\n"); break;
	case RTF_BINARY:
		rtf->rest = span_skip(rtf->rest, number > 0 ? (size_t)number : 0);
		break;
	}
}

/* After "\": letters and a number, which a blank may end. */
static void rtf_control_word(struct rtf *rtf)
{
	char name[WORD_MAX + 1] = "";
	const struct rtf_word *word;
	size_t len = 0, digits;
	bool negative;
	int number = 1;

	while (len < rtf->rest.len && ascii_is_letter(rtf->rest.data[len]))
		len++;
	snprintf(name, sizeof(name), "%.*s", (int)(len < WORD_MAX ? len : WORD_MAX),
	         rtf->rest.data);
	rtf->rest = span_skip(rtf->rest, len);
	negative = span_starts(rtf->rest, SPAN("-"));
	digits = span_digits(span_skip(rtf->rest, negative));
	if (digits) {
		char text[16];

		snprintf(text, sizeof(text), "%.*s", (int)(digits < 9 ? digits : 9),
		         rtf->rest.data + negative);
		number = (int)strtol(text, NULL, 10) * (negative ? -1 : 1);
		rtf->rest = span_skip(rtf->rest, digits + negative);
	}
	if (span_starts(rtf->rest, SPAN(" ")))
		rtf->rest = span_skip(rtf->rest, 1);
	word = bsearch(name, rtf_words, sizeof(rtf_words) / sizeof(rtf_words[0]),
	               sizeof(rtf_words[0]), word_compare);
	if (rtf->starred && rtf->depth < GROUPS_MAX) {
		rtf_flush(rtf);
		rtf_top(rtf)->kind = RTF_SKIPPED;
	} else if (word && (rtf->to_skip == 0 || word->action != RTF_PUT)) {
		rtf_do(rtf, word, number);
	} else if (rtf->to_skip > 0) {
		rtf->to_skip--;
	}
	rtf->starred = false;
}

static void rtf_control(struct rtf *rtf)
{
	const char c = rtf->rest.len ? rtf->rest.data[0] : '\0';

	if (ascii_is_letter(c)) {
		rtf_control_word(rtf);
		return;
	}
	rtf->rest = span_skip(rtf->rest, 1);
	if (c == '\'' && rtf->rest.len >= 2) {
		const int high = ascii_hex(rtf->rest.data[0]), low = ascii_hex(rtf->rest.data[1]);

		rtf->rest = span_skip(rtf->rest, 2);
		if (high >= 0 && low >= 0)
			rtf_byte(rtf, (char)(high * 16 + low));
	} else if (c == '*') {
		rtf->starred = true;
	} else if (c == '~') {
		rtf_put_str(rtf, " ");
	} else if (c == '_') {
		rtf_put_str(rtf, "-");
	} else if (c == '\n' || c == '\r') {
		rtf_put_str(rtf, "\n");
	} else if (c == '\\' || c == '{' || c == '}') {
		rtf_byte(rtf, c);
	}
}

/* ---- the whole ------------------------------------------------------------------------- */

static void rtf_open_group(struct rtf *rtf)
{
	const struct rtf_group above = *rtf_top(rtf);

	rtf_flush(rtf);
	rtf->to_skip = 0;
	rtf->depth++;
	*rtf_top(rtf) = above;
}

static void rtf_close_group(struct rtf *rtf)
{
	rtf_flush(rtf);
	rtf->to_skip = 0;
	rtf->depth -= rtf->depth > 0;
}

static void rtf_parse(struct rtf *rtf)
{
	while (rtf->rest.len && !rtf->out.full) {
		const char c = rtf->rest.data[0];

		rtf->rest = span_skip(rtf->rest, 1);
		switch (c) {
		case '{': rtf_open_group(rtf); break;
		case '}': rtf_close_group(rtf); break;
		case '\\': rtf_control(rtf); break;
		case '\r':
		case '\n': break;
		default: rtf_byte(rtf, c);
		}
	}
	rtf_flush(rtf);
}

bool format_rtf_load(struct err *err)
{
	(void)err;
	format_load_charsets();
	return true;
}

bool format_rtf_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(RTF_MAX);
	struct rtf rtf = { .ret = ret, .charset = "WINDOWS-1252", .run = BUF_INIT(RUN_MAX + 1),
		           .title = BUF_INIT(TITLE_BYTES), .author = BUF_INIT(TITLE_BYTES) };

	if (!format_slurp(input, RTF_MAX, &bytes, err))
		return false;
	rtf.rest = buf_view(&bytes);
	rtf.groups[0].unicode_skip = 1;
	text_out_init(&rtf.out, request, ret);
	rtf_parse(&rtf);
	text_out_end(&rtf.out);
	format_library(ret, "hasp %s", HASP_VERSION);
	format_fact(ret, "title", buf_view(&rtf.title));
	format_fact(ret, "author", buf_view(&rtf.author));
	buf_release(&rtf.run);
	buf_release(&rtf.title);
	buf_release(&rtf.author);
	return true;
}
