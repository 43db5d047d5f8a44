/* SPDX-License-Identifier: Apache-2.0 */
/* Text from the web: marked as a stranger's, with citations, made of HTML. */
#include <libxml/HTMLparser.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/web.h"

/* libxml2's HTML parser, loaded when a page is read and not before.  Private to web_text.c. */

/* Its functions, with the types that its header gives them. */
struct html_library {
	__typeof__(xmlInitParser) *init_parser;
	__typeof__(htmlCreatePushParserCtxt) *create_push_parser;
	__typeof__(htmlCtxtUseOptions) *use_options;
	__typeof__(htmlParseChunk) *parse_chunk;
	__typeof__(htmlFreeParserCtxt) *free_parser;
};

/* ---- text of strangers ------------------------------------------------------- */

static const char untrusted_begin[] = "<untrusted_context>", untrusted_end[] =
	"</untrusted_context>";

/* Whether the text begins with either mark, however it is written. */
static bool is_untrusted_mark(struct span text)
{
	static const char *const marks[] = { "<untrusted_context", "</untrusted_context" };

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (text.len >= strlen(marks[i]) &&
		    strncasecmp(text.data, marks[i], strlen(marks[i])) == 0)
			return true;
	return false;
}

/* The text, with its marks spoiled. */
static void put_untrusted(struct buf *out, struct span text)
{
	while (text.len) {
		const char *next = memchr(text.data + 1, '<', text.len - 1);
		size_t len = next ? (size_t)(next - text.data) : text.len;
		bool mark = is_untrusted_mark(text);

		buf_str(out, mark ? "&lt;" : "");
		buf_span(out, span_of(text.data + mark, len - mark));
		text = span_skip(text, len);
	}
}

json_t *web_untrusted_json(struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	buf_printf(&out, "%s\n", untrusted_begin);
	put_untrusted(&out, text);
	buf_printf(&out, "\n%s", untrusted_end);
	return json_text(buf_view(&out));
}

struct span web_untrusted_inside(struct span text)
{
	const struct span begin = SPAN(untrusted_begin), end = SPAN(untrusted_end);

	if (!span_starts(text, begin) || !span_ends(text, end))
		return text;
	text = span_head(span_skip(text, begin.len), text.len - begin.len - end.len);
	if (span_starts(text, SPAN("\n")))
		text = span_skip(text, 1);
	text.len -= span_ends(text, SPAN("\n"));
	return text;
}

char *web_untrusted_plain(struct span text)
{
	const struct span marks[] = { SPAN(untrusted_begin), SPAN(untrusted_end) };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_RESULT_BYTES);

	while (text.len) {
		const bool first = span_starts(text, marks[0]);

		if (first || span_starts(text, marks[1])) {
			text = span_skip(text, marks[first ? 0 : 1].len);
			continue;
		}
		buf_char(&out, text.data[0]);
		text = span_skip(text, 1);
	}
	return buf_steal(&out);
}

json_t *web_untrusted_line(struct span text, size_t max)
{
	_cleanup_buf_ struct buf line = BUF_INIT(max), out = BUF_INIT(8 * max + 64);
	struct span head = utf8_head(span_trim(text), max);

	for (size_t i = 0; i < head.len; i++) {
		const unsigned char c = (unsigned char)head.data[i];
		const bool blank = c <= ' ' || c == 0x7f;

		if (!blank || (line.len && line.data[line.len - 1] != ' '))
			buf_char(&line, blank ? ' ' : (char)c);
	}
	buf_str(&out, untrusted_begin);
	put_untrusted(&out, buf_view(&line));
	buf_str(&out, untrusted_end);
	return json_text(buf_view(&out));
}

/* ---- citations --------------------------------------------------------------- */

enum {
	SOURCES_MAX = 200,
	MARKS_MAX = 2000,
	WORDS_MAX = 500, /* bytes of a title */
	TEXT_MAX = 8 << 20,
};

/* A number that goes into the text. */
struct html_mark {
	size_t at;      /* byte */
	size_t number;  /* from 1 */
};

/* Without what would begin another line. */
static json_t *json_one_line(struct span text, size_t max)
{
	struct span head = utf8_head(text, max);
	_cleanup_free_ char *line = mem_dup(head.data ? head.data : "", head.len);

	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return json_text(span_str(line));
}

static const json_t *chunk_page(const json_t *chunk)
{
	const json_t *web = json_object_get(chunk, "web");

	return web ? web : json_object_get(chunk, "retrievedContext");
}

static const json_t *source_page(const struct grounded *grounded, size_t i)
{
	return chunk_page(json_array_get(
		json_object_get(grounded->sources, "groundingChunks"), i));
}

static size_t source_count(const struct grounded *grounded)
{
	size_t count = json_array_size(json_object_get(grounded->sources, "groundingChunks"));

	return count < SOURCES_MAX ? count : SOURCES_MAX;
}

static struct span source_title(const struct grounded *grounded, size_t i)
{
	struct span title = json_span(json_object_get(source_page(grounded, i), "title"));

	return title.len ? title : SPAN("Untitled");
}

/* Up to what no address has. */
static struct span source_url(const struct grounded *grounded, size_t i)
{
	struct span url = utf8_head(json_span(json_object_get(source_page(grounded, i), "uri")),
	                            4 * WORDS_MAX);
	size_t len = 0;

	while (len < url.len && (unsigned char)url.data[len] > ' ' && url.data[len] != 0x7f &&
	       !strchr("<>\"", url.data[len]))
		len++;
	return span_head(url, len);
}

json_t *web_citations_sources(const struct grounded *grounded)
{
	const size_t count = source_count(grounded);
	json_t *sources = json_array();

	for (size_t i = 0; i < count; i++) {
		struct span url = source_url(grounded, i), title = source_title(grounded, i);

		json_array_append_new(sources, json_pack("{s:o, s:o}", "title",
		                                         web_untrusted_line(title, WORDS_MAX),
		                                         "url", json_text(url)));
	}
	return sources;
}

static int later_first(const void *a, const void *b)
{
	const struct html_mark *x = a, *y = b;

	if (x->at != y->at)
		return x->at > y->at ? -1 : 1;
	return x->number < y->number ? 1 : x->number > y->number ? -1 : 0;
}

/* A place between characters, never in one. */
static size_t boundary(struct span text, json_int_t index)
{
	size_t at = index < 0 ? 0 : (size_t)index;

	if (at > text.len)
		at = text.len;
	while (at < text.len && ((unsigned char)text.data[at] & 0xC0) == 0x80)
		at++;
	return at;
}

static size_t marks_of(const struct grounded *grounded, size_t sources, struct html_mark *marks)
{
	const json_t *supports = json_object_get(grounded->sources, "groundingSupports");
	struct span text = span_str(grounded->text);
	size_t count = 0, i, k;
	json_t *support, *index;

	json_array_foreach((json_t *)supports, i, support) {
		const json_t *end =
			json_object_get(json_object_get(support, "segment"), "endIndex");

		if (!json_is_integer(end))
			continue;
		json_array_foreach(json_object_get(support, "groundingChunkIndices"), k, index) {
			json_int_t number = json_is_integer(index) ? json_integer_value(index) : -1;

			if (number >= 0 && (size_t)number < sources && count < MARKS_MAX)
				marks[count++] = (struct html_mark){
					boundary(text, json_integer_value(end)), (size_t)number + 1
				};
		}
	}
	qsort(marks, count, sizeof(*marks), later_first);
	return count;
}

/* Marks are sorted from the end: the first to be written is the last. */
static void put_marked(const struct grounded *grounded, size_t sources, struct buf *out)
{
	_cleanup_free_ struct html_mark *marks = mem_alloc(MARKS_MAX, sizeof(*marks));
	size_t count = marks_of(grounded, sources, marks), from = 0;
	struct span text = span_str(grounded->text);

	while (count > 0) {
		const struct html_mark *mark = &marks[--count];
		bool again = count + 1 < MARKS_MAX && marks[count + 1].at == mark->at &&
		             marks[count + 1].number == mark->number;

		buf_span(out, span_of(text.data + from, mark->at - from));
		from = mark->at;
		if (!again)
			buf_printf(out, "[%zu]", mark->number);
	}
	buf_span(out, span_skip(text, from));
}

json_t *web_citations_text(const struct grounded *grounded)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	const size_t sources = source_count(grounded);

	put_marked(grounded, sources, &out);
	if (sources)
		buf_str(&out, "\n\nSources:\n");
	for (size_t i = 0; i < sources; i++) {
		json_auto_t *title = json_one_line(source_title(grounded, i), WORDS_MAX);
		struct span url = source_url(grounded, i);

		buf_printf(&out, "[%zu] %s (%.*s)\n", i + 1, json_string_value(title),
		           (int)url.len, url.len ? url.data : "");
	}
	return json_text(buf_view(&out));
}

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
	struct web_html_text *out;
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

bool web_html_text(struct span html, struct web_html_text *ret, struct err *err)
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
