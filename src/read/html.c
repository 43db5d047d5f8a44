/* SPDX-License-Identifier: Apache-2.0 */
/* Pages in HTML as text, by libxml2. */

#include <libxml/HTMLparser.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "read/format.h"
#include "read/html_text.h"
#include "read/text_out.h"

/* libxml2's HTML parser, loaded when a page is read and not before. */

/* Its functions, with the types that its header gives them. */
struct html_library {
	__typeof__(xmlInitParser) *init_parser;
	__typeof__(htmlCreatePushParserCtxt) *create_push_parser;
	__typeof__(htmlCtxtUseOptions) *use_options;
	__typeof__(htmlParseChunk) *parse_chunk;
	__typeof__(htmlFreeParserCtxt) *free_parser;
};

/* ---- the library ------------------------------------------------------------- */

/* By the ABI that the header of this build belongs to. */
#if LIBXML_VERSION >= 21400
#define LIBRARY "libxml2.so.16"
#else
#define LIBRARY "libxml2.so.2"
#endif

#define ROW(member, name) { name, offsetof(struct html_library, member) }

static const struct library_symbol symbols[] = {
	ROW(init_parser, "xmlInitParser"),
	ROW(create_push_parser, "htmlCreatePushParserCtxt"),
	ROW(use_options, "htmlCtxtUseOptions"),
	ROW(parse_chunk, "htmlParseChunk"),
	ROW(free_parser, "htmlFreeParserCtxt"),
};

static const struct library html_library_row =
	{ { LIBRARY }, "Pages in HTML need", "libxml2", symbols,
	                                         ARRAY_LEN(symbols) };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct html_library loaded;
static struct err load_error;

static void html_library_load(void)
{
	if (library_load(&html_library_row, &loaded, &load_error))
		loaded.init_parser();
}

/* Loaded once for the process, from whichever thread asks first; NULL with INTERNAL and the package
 * to install when it cannot be. */
static const struct html_library *html_library(struct err *err)
{
	pthread_once(&once, html_library_load);
	if (load_error.code == ERR_NONE)
		return &loaded;
	*err = load_error;
	return NULL;
}

/* ---- HTML -------------------------------------------------------------------- */

enum {
	CHUNK = 8 << 10,     /* between looks at the clock */
	TIME_MS = 3000,      /* a page of 10 MB needs a tenth of it */
	NESTING_MAX = 2000,  /* closing an element looks through those that are open */
	INDENT_MAX = 8,
	TAG_NAME_MAX = 64,
};

enum element_class {
	ELEMENT_BLOCK,    /* begins and ends lines */
	ELEMENT_HEADING,  /* level in `level` */
	ELEMENT_ITEM,
	ELEMENT_LIST,
	ELEMENT_CELL,
	ELEMENT_ROW,
	ELEMENT_BREAK,
	ELEMENT_RULE,
	ELEMENT_CODE,     /* white space counts */
	ELEMENT_TITLE,
	ELEMENT_SKIPPED,  /* with all that is in it */
};

static const struct element {
	const char *name;
	enum element_class class;
	unsigned level;
} elements[] = {
	{ "address", ELEMENT_BLOCK, 0 },    { "article", ELEMENT_BLOCK, 0 },
	{ "aside", ELEMENT_BLOCK, 0 },      { "blockquote", ELEMENT_BLOCK, 0 },
	{ "br", ELEMENT_BREAK, 0 },         { "caption", ELEMENT_BLOCK, 0 },
	{ "dd", ELEMENT_BLOCK, 0 },         { "details", ELEMENT_BLOCK, 0 },
	{ "div", ELEMENT_BLOCK, 0 },        { "dl", ELEMENT_BLOCK, 0 },
	{ "dt", ELEMENT_BLOCK, 0 },         { "fieldset", ELEMENT_BLOCK, 0 },
	{ "figcaption", ELEMENT_BLOCK, 0 }, { "figure", ELEMENT_BLOCK, 0 },
	{ "footer", ELEMENT_BLOCK, 0 },     { "form", ELEMENT_BLOCK, 0 },
	{ "h1", ELEMENT_HEADING, 1 },       { "h2", ELEMENT_HEADING, 2 },
	{ "h3", ELEMENT_HEADING, 3 },       { "h4", ELEMENT_HEADING, 4 },
	{ "h5", ELEMENT_HEADING, 5 },       { "h6", ELEMENT_HEADING, 6 },
	{ "header", ELEMENT_BLOCK, 0 },     { "hr", ELEMENT_RULE, 0 },
	{ "iframe", ELEMENT_SKIPPED, 0 },   { "li", ELEMENT_ITEM, 0 },
	{ "main", ELEMENT_BLOCK, 0 },       { "nav", ELEMENT_BLOCK, 0 },
	{ "noscript", ELEMENT_SKIPPED, 0 }, { "object", ELEMENT_SKIPPED, 0 },
	{ "ol", ELEMENT_LIST, 0 },          { "p", ELEMENT_BLOCK, 0 },
	{ "pre", ELEMENT_CODE, 0 },         { "script", ELEMENT_SKIPPED, 0 },
	{ "section", ELEMENT_BLOCK, 0 },    { "style", ELEMENT_SKIPPED, 0 },
	{ "summary", ELEMENT_BLOCK, 0 },    { "svg", ELEMENT_SKIPPED, 0 },
	{ "table", ELEMENT_BLOCK, 0 },      { "td", ELEMENT_CELL, 0 },
	{ "template", ELEMENT_SKIPPED, 0 }, { "th", ELEMENT_CELL, 0 },
	{ "title", ELEMENT_TITLE, 0 },      { "tr", ELEMENT_ROW, 0 },
	{ "ul", ELEMENT_LIST, 0 },
};

/* The page while it is read. */
struct html_reading {
	struct html_text *out;
	unsigned depth, skipped, code, titles, lists;
	unsigned breaks; /* line ends that the next text needs before it, at most 2 */
	bool blank;      /* white space that it needs */
	bool in_row;     /* a cell of this row has been written */
};

static int element_compare(const void *key, const void *row)
{
	return strcasecmp(key, ((const struct element *)row)->name);
}

static const struct element *element_of(const xmlChar *name)
{
	return bsearch(name, elements, ARRAY_LEN(elements), sizeof(elements[0]), element_compare);
}

/* ---- text ------------------------------------------------------------------------------ */

static void want_breaks(struct html_reading *reading, unsigned count)
{
	if (reading->out->text.len && reading->breaks < count)
		reading->breaks = count;
	reading->blank = false;
}

/* What stands between the last text and the next. */
static void html_put_gap(struct html_reading *reading)
{
	struct buf *text = &reading->out->text;

	for (; reading->breaks; reading->breaks--)
		buf_char(text, '\n');
	if (reading->blank && text->len && text->data[text->len - 1] != '\n' &&
	    text->data[text->len - 1] != ' ')
		buf_char(text, ' ');
	reading->blank = false;
}

static void html_put_words(struct html_reading *reading, struct span text)
{
	while (text.len) {
		size_t blanks = 0, word = 0;

		while (blanks < text.len && strchr(" \t\r\n\f", text.data[blanks]) &&
		       text.data[blanks])
			blanks++;
		reading->blank |= blanks > 0;
		text = span_skip(text, blanks);
		while (word < text.len && (!strchr(" \t\r\n\f", text.data[word]) ||
		                           !text.data[word]))
			word++;
		if (word) {
			html_put_gap(reading);
			buf_span(&reading->out->text, span_head(text, word));
		}
		text = span_skip(text, word);
	}
}

static void html_put_mark(struct html_reading *reading, const char *mark)
{
	html_put_gap(reading);
	buf_str(&reading->out->text, mark);
}

static void html_on_text(void *data, const xmlChar *bytes, int len)
{
	struct html_reading *reading = data;
	struct span text = span_of((const char *)bytes, (size_t)len);

	if (reading->skipped)
		return;
	if (reading->titles) {
		if (!reading->out->title.overflowed)
			buf_span(&reading->out->title, text);
	} else if (reading->code) {
		html_put_gap(reading);
		buf_span(&reading->out->text, text);
	} else {
		html_put_words(reading, text);
	}
}

/* ---- elements -------------------------------------------------------------------------- */

static void begin_item(struct html_reading *reading)
{
	want_breaks(reading, 1);
	html_put_gap(reading);
	for (unsigned i = 1; i < reading->lists && i < INDENT_MAX; i++)
		buf_str(&reading->out->text, "  ");
	buf_str(&reading->out->text, "- ");
}

static void begin_heading(struct html_reading *reading, unsigned level)
{
	want_breaks(reading, 2);
	html_put_gap(reading);
	for (unsigned i = 0; i < level; i++)
		buf_char(&reading->out->text, '#');
	reading->blank = true;
}

static void begin_cell(struct html_reading *reading)
{
	if (reading->in_row)
		html_put_mark(reading, " | ");
	reading->in_row = true;
}

static void html_begin(struct html_reading *reading, const struct element *element)
{
	switch (element->class) {
	case ELEMENT_BLOCK: want_breaks(reading, 2); break;
	case ELEMENT_HEADING: begin_heading(reading, element->level); break;
	case ELEMENT_ITEM: begin_item(reading); break;
	case ELEMENT_LIST: want_breaks(reading, reading->lists++ ? 1 : 2); break;
	case ELEMENT_CELL: begin_cell(reading); break;
	case ELEMENT_ROW: want_breaks(reading, 1); reading->in_row = false; break;
	case ELEMENT_BREAK: want_breaks(reading, 1); break;
	case ELEMENT_RULE:
		want_breaks(reading, 2);
		html_put_mark(reading, "---");
		want_breaks(reading, 2);
		break;
	case ELEMENT_CODE:
		want_breaks(reading, 2);
		html_put_mark(reading, "```\n");
		reading->code++;
		break;
	case ELEMENT_TITLE: reading->titles++; break;
	case ELEMENT_SKIPPED: reading->skipped++; break;
	}
}

static void end_code(struct html_reading *reading)
{
	const struct buf *text = &reading->out->text;

	if (!reading->code)
		return;
	reading->code--;
	if (text->len && text->data[text->len - 1] != '\n')
		reading->breaks = 1;
	html_put_mark(reading, "```");
	want_breaks(reading, 2);
}

static void html_end(struct html_reading *reading, const struct element *element)
{
	switch (element->class) {
	case ELEMENT_BLOCK:
	case ELEMENT_HEADING: want_breaks(reading, 2); break;
	case ELEMENT_LIST:
		reading->lists -= reading->lists > 0;
		want_breaks(reading, reading->lists ? 1 : 2);
		break;
	case ELEMENT_ITEM:
	case ELEMENT_ROW: want_breaks(reading, 1); break;
	case ELEMENT_CODE: end_code(reading); break;
	case ELEMENT_TITLE: reading->titles -= reading->titles > 0; break;
	case ELEMENT_SKIPPED: reading->skipped -= reading->skipped > 0; break;
	case ELEMENT_CELL:
	case ELEMENT_BREAK:
	case ELEMENT_RULE: break;
	}
}

static void html_on_begin(void *data, const xmlChar *name, const xmlChar **attributes)
{
	struct html_reading *reading = data;
	const struct element *element = element_of(name);

	(void)attributes;
	reading->depth++;
	if (element && (!reading->skipped || element->class == ELEMENT_SKIPPED))
		html_begin(reading, element);
}

static void html_on_end(void *data, const xmlChar *name)
{
	struct html_reading *reading = data;
	const struct element *element = element_of(name);

	reading->depth -= reading->depth > 0;
	if (element && (!reading->skipped || element->class == ELEMENT_SKIPPED))
		html_end(reading, element);
}

/* ---- tags without what stands in them ---------------------------------------------------- */

static size_t after(struct span html, const char *end)
{
	const char *at = html.len ? memmem(html.data, html.len, end, strlen(end)) : NULL;

	return at ? (size_t)(at - html.data) + strlen(end) : html.len;
}

static bool html_is_blank(char c)
{
	return c && strchr(" \t\r\n\f", c);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* How long the tag is that the text begins with, its '>' included.  A quote opens a value only
 * after '=', as in browsers. */
static size_t tag_len(struct span html)
{
	bool value = false;
	size_t i = 1;

	for (; i < html.len && html.data[i] != '>'; i++) {
		const char c = html.data[i];

		if (value && (c == '"' || c == '\'')) {
			const char *end = memchr(html.data + i + 1, c, html.len - i - 1);

			if (!end)
				return html.len;
			i = (size_t)(end - html.data);
		}
		value = c == '=' || (value && html_is_blank(c));
	}
	return i < html.len ? i + 1 : html.len;
}

/* Scripts and styles, whose text is not the page's: up to their end. */
static size_t raw_len(struct span html, struct span name)
{
	static const char *const raw[] = { "script", "style" };
	const char *at = html.data, *end = html.data + html.len;
	bool is_raw = false;

	for (size_t i = 0; i < ARRAY_LEN(raw); i++)
		is_raw |= name.len == strlen(raw[i]) && !strncasecmp(name.data, raw[i], name.len);
	if (!is_raw)
		return 0;
	while (at < end && (at = memchr(at, '<', (size_t)(end - at)))) {
		if ((size_t)(end - at) > name.len + 2 && at[1] == '/' &&
		    !strncasecmp(at + 2, name.data, name.len) && !is_letter(at[2 + name.len]))
			return (size_t)(at - html.data);
		at++;
	}
	return html.len;
}

/* The tag that the text begins with, by its name alone. Returns how much of the text it is. */
static size_t html_put_tag(struct buf *out, struct span html)
{
	const size_t len = tag_len(html), slash = html.data[1] == '/';
	struct span name = span_skip(span_head(html, len), 1 + slash);
	const bool closed = len > 2 && html.data[len - 1] == '>' && html.data[len - 2] == '/';
	size_t end = 0;

	while (end < name.len && end < TAG_NAME_MAX && !html_is_blank(name.data[end]) &&
	       !strchr("/>", name.data[end]))
		end++;
	name = span_head(name, end);
	if (html.data[len - 1] != '>')
		return html.len; /* the page ends within it */
	buf_str(out, slash ? "</" : "<");
	buf_span(out, name);
	buf_str(out, closed ? "/>" : ">");
	return len + (slash || closed ? 0 : raw_len(span_skip(html, len), name));
}

/* How much of the text a comment, a declaration or an instruction is; 0: it is not one. */
static size_t unseen_len(struct span html)
{
	if (span_starts(html, SPAN("<!--")))
		return span_starts(html, SPAN("<!-->")) ? 5 : 4 + after(span_skip(html, 4), "-->");
	if (span_starts(html, SPAN("<!")) || span_starts(html, SPAN("<?")) ||
	    (span_starts(html, SPAN("</")) && html.len > 2 && !is_letter(html.data[2])))
		return after(html, ">");
	return 0;
}

static void put_bare(struct buf *out, struct span html)
{
	while (html.len) {
		const char *next = memchr(html.data, '<', html.len);
		size_t text = next ? (size_t)(next - html.data) : html.len, len;

		buf_span(out, span_head(html, text));
		html = span_skip(html, text);
		if (!html.len)
			return;
		len = unseen_len(html);
		if (!len && html.len > 1 &&
		    (is_letter(html.data[1]) ||
		     (html.len > 2 && html.data[1] == '/' && is_letter(html.data[2]))))
			len = html_put_tag(out, html);
		if (!len) {
			buf_str(out, "&lt;"); /* a mere character */
			len = 1;
		}
		html = span_skip(html, len);
	}
}

/* ---- the whole page -------------------------------------------------------------------- */

static bool is_enough(const struct html_reading *reading, uint64_t started_ms)
{
	return reading->out->text.overflowed || reading->depth > NESTING_MAX ||
	       clock_monotonic_ms() - started_ms > TIME_MS;
}

/* False: it was left before its end. */
static bool html_feed(const struct html_library *library, htmlParserCtxtPtr parser,
                      const struct html_reading *reading, struct span html)
{
	uint64_t started_ms = clock_monotonic_ms();

	while (html.len) {
		struct span chunk = span_head(html, CHUNK);

		library->parse_chunk(parser, chunk.data, (int)chunk.len, 0);
		if (is_enough(reading, started_ms))
			return false;
		html = span_skip(html, chunk.len);
	}
	library->parse_chunk(parser, NULL, 0, 1);
	return !reading->out->text.overflowed;
}

bool html_text(struct span html, struct html_text *ret, struct err *err)
{
	const struct html_library *library = html_library(err);
	struct html_reading reading = { .out = ret };
	htmlSAXHandler handler = { .startElement = html_on_begin,
		                   .endElement = html_on_end,
		                   .characters = html_on_text,
		                   .ignorableWhitespace = html_on_text };
	_cleanup_buf_ struct buf bare = BUF_INIT(4 * html.len + 1);
	htmlParserCtxtPtr parser;

	if (!library)
		return false;
	put_bare(&bare, html);
	parser = library->create_push_parser(&handler, &reading, NULL, 0, NULL,
	                                     XML_CHAR_ENCODING_UTF8);
	if (!parser)
		return err_set(err, ERR_INTERNAL, "The parser for HTML could not be started.");
	library->use_options(parser, HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
	                                     HTML_PARSE_IGNORE_ENC);
	ret->cut = !html_feed(library, parser, &reading, buf_view(&bare));
	library->free_parser(parser);
	return true;
}

/* ---- files ----------------------------------------------------------------------------- */

enum { FILE_MAX = 64 << 20, TITLE_MAX = 300 };

bool format_html_load(struct err *err)
{
	return html_library(err) != NULL;
}

static void put_html_version(struct derive_result *ret)
{
	format_library(ret, "libxml2 %s", LIBXML_DOTTED_VERSION);
}

bool format_html_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(FILE_MAX), plain = BUF_INIT(FILE_MAX);
	struct html_text page = { .title = BUF_INIT(TITLE_MAX) };
	struct text_out out;
	bool ok;

	if (!format_slurp(input, FILE_MAX, &bytes, err) ||
	    !format_decode(buf_view(&bytes), &plain, err))
		return false;
	page.text = (struct buf)BUF_INIT(2 * plain.len + 1024);
	ok = html_text(buf_view(&plain), &page, err);
	if (ok) {
		put_html_version(ret);
		format_fact(ret, "title", buf_view(&page.title));
		format_outline_headings(ret, buf_view(&page.text));
		text_out_init(&out, request, ret);
		text_out(&out, buf_view(&page.text));
		text_out_end(&out);
		ret->truncated |= page.cut;
	}
	buf_release(&page.text);
	buf_release(&page.title);
	return ok;
}
