/* SPDX-License-Identifier: Apache-2.0 */
/* Text from the web: marked as a stranger's, with citations. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tool/builtin/web.h"

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
