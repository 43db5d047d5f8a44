/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/builtin/citations.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum {
	SOURCES_MAX = 200,
	MARKS_MAX = 2000,
	WORDS_MAX = 500, /* bytes of a title */
	TEXT_MAX = 8 << 20,
};

/* A number that goes into the text. */
struct mark {
	size_t at;      /* byte */
	size_t number;  /* from 1 */
};

/* Without what would begin another line. */
static json_t *one_line(struct span text, size_t max)
{
	struct span head = utf8_head(text, max);
	_cleanup_free_ char *line = mem_dup(head.data ? head.data : "", head.len);

	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = ' ';
	return json_text(span_str(line));
}

static const json_t *page_of(const json_t *chunk)
{
	const json_t *web = json_object_get(chunk, "web");

	return web ? web : json_object_get(chunk, "retrievedContext");
}

json_t *citations_sources(const struct grounded *grounded)
{
	const json_t *chunks = json_object_get(grounded->sources, "groundingChunks");
	json_t *sources = json_array();

	for (size_t i = 0; i < json_array_size(chunks) && i < SOURCES_MAX; i++) {
		const json_t *page = page_of(json_array_get(chunks, i));
		struct span url = json_span(json_object_get(page, "uri"));
		struct span title = json_span(json_object_get(page, "title"));
		json_t *source = json_object();

		json_object_set_new(source, "title", one_line(title.len ? title : SPAN("Untitled"),
		                                              WORDS_MAX));
		json_object_set_new(source, "url", one_line(url, 4 * WORDS_MAX));
		json_array_append_new(sources, source);
	}
	return sources;
}

static int later_first(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

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

static size_t marks_of(const struct grounded *grounded, size_t sources, struct mark *marks)
{
	const json_t *supports = json_object_get(grounded->sources, "groundingSupports");
	struct span text = span_str(grounded->text);
	size_t count = 0, i, k;
	json_t *support, *index;

	json_array_foreach((json_t *)supports, i, support) {
		const json_t *end = json_object_get(json_object_get(support, "segment"), "endIndex");

		if (!json_is_integer(end))
			continue;
		json_array_foreach(json_object_get(support, "groundingChunkIndices"), k, index) {
			json_int_t number = json_is_integer(index) ? json_integer_value(index) : -1;

			if (number >= 0 && (size_t)number < sources && count < MARKS_MAX)
				marks[count++] = (struct mark){
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
	_cleanup_free_ struct mark *marks = mem_alloc(MARKS_MAX, sizeof(*marks));
	size_t count = marks_of(grounded, sources, marks), from = 0;
	struct span text = span_str(grounded->text);

	while (count > 0) {
		const struct mark *mark = &marks[--count];
		bool again = count + 1 < MARKS_MAX && marks[count + 1].at == mark->at &&
		             marks[count + 1].number == mark->number;

		buf_span(out, span_of(text.data + from, mark->at - from));
		from = mark->at;
		if (!again)
			buf_printf(out, "[%zu]", mark->number);
	}
	buf_span(out, span_skip(text, from));
}

json_t *citations_text(const struct grounded *grounded)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	json_auto_t *sources = citations_sources(grounded);
	size_t i;
	json_t *source;

	put_marked(grounded, json_array_size(sources), &out);
	if (json_array_size(sources))
		buf_str(&out, "\n\nSources:\n");
	json_array_foreach(sources, i, source)
		buf_printf(&out, "[%zu] %s (%s)\n", i + 1,
		           json_string_value(json_object_get(source, "title")),
		           json_string_value(json_object_get(source, "url")));
	return json_text(buf_view(&out));
}
