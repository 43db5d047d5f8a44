/* SPDX-License-Identifier: Apache-2.0 */
/* Presentations: Office Open XML (ECMA-376, part 1, 19) and OpenDocument 1.3; and the chapters of
 * an EPUB, which are read one by one as slides are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "read/flow.h"
#include "read/html_text.h"
#include "read/package.h"

enum { SLIDES_MAX = 10000, CHAPTER_BYTES = 8 << 20 };

/* Members in the order in which they are shown. */
struct series {
	char *names[SLIDES_MAX]; /* owned */
	size_t count;
};

static struct series *series_new(void)
{
	return mem_alloc(1, sizeof(struct series));
}

static void series_cleanup_free(struct series **series)
{
	for (size_t i = 0; *series && i < (*series)->count; i++)
		free((*series)->names[i]);
	free(*series);
}
#define _cleanup_series_ __attribute__((cleanup(series_cleanup_free)))

static bool no_text(void *self, struct span text)
{
	(void)self, (void)text;
	return true;
}

static bool no_end(void *self, const char *name)
{
	(void)self, (void)name;
	return true;
}

/* What was left out, if the text ends within number `i`. */
static void series_next(struct text_out *out, const struct format_pages *pages, uint64_t i,
                        uint64_t first)
{
	if (out->full && i > first)
		snprintf(out->ret->next, sizeof(out->ret->next), "pages %llu-%llu",
		         (unsigned long long)i,
		         (unsigned long long)pages->ranges[pages->count - 1].last);
}

/* ---- .pptx ----------------------------------------------------------------------------- */

static const struct flow_row pptx_rows[] = {
	{ "p", FLOW_PARAGRAPH }, { "t", FLOW_TEXT }, { "br", FLOW_BREAK },
	{ "tbl", FLOW_TABLE },   { "tr", FLOW_ROW }, { "tc", FLOW_CELL },
	{ "Fallback", FLOW_SKIP },
};

/* What is being read of a presentation. */
struct pptx {
	struct package *package;
	const struct package_relations *relations; /* of its main part */
	struct series *slides;
	bool title;  /* the shape that is open is the title */
	bool hidden; /* the slide is not shown */
};

static bool pptx_list_start(void *self, const char *name,
                            const struct xml_attributes *attributes)
{
	struct pptx *pptx = self;
	const char *target;

	if (strcmp(name, "sldId") != 0)
		return true;
	target = package_target(pptx->relations,
	                        xml_attribute(attributes, "/relationships", "id"));
	if (target && package_has(pptx->package, target))
		pptx->slides->names[pptx->slides->count++] = mem_strdup(target);
	return pptx->slides->count < SLIDES_MAX;
}

static bool pptx_start(struct flow *flow, const char *name,
                       const struct xml_attributes *attributes)
{
	struct pptx *pptx = flow->self;

	if (strcmp(name, "sp") == 0)
		pptx->title = false;
	if (strcmp(name, "ph") == 0) {
		const struct span type = xml_attribute(attributes, NULL, "type");

		pptx->title = span_eq(type, SPAN("title")) || span_eq(type, SPAN("ctrTitle"));
	}
	if (strcmp(name, "sld") == 0)
		pptx->hidden = span_eq(xml_attribute(attributes, NULL, "show"), SPAN("0"));
	if (strcmp(name, "fld") == 0 &&
	    span_eq(xml_attribute(attributes, NULL, "type"), SPAN("slidenum"))) {
		flow->skip = 1;
		return false;
	}
	if (strcmp(name, "p") == 0)
		flow->level = pptx->title ? 1 : 0;
	return true;
}

static bool pptx_notes(struct package *package, const char *slide, struct flow *flow,
                       struct err *err)
{
	_cleanup_package_relations_ struct package_relations relations = { 0 };
	const char *notes;

	if (!package_relations(package, slide, &relations, err))
		return false;
	notes = package_target_of_type(&relations, "notesSlide");
	if (!notes || !package_has(package, notes))
		return true;
	flow->lead = "Notes:\n";
	return package_parse(package, notes, &flow_events, flow, err);
}

static bool pptx_slide(struct pptx *pptx, uint64_t number, bool outline, struct flow *flow,
                       struct err *err)
{
	const char *name = pptx->slides->names[number - 1];

	flow_reset(flow);
	pptx->title = pptx->hidden = false;
	text_out_printf(flow->out, "--- slide %llu ---\n", (unsigned long long)number);
	if (!package_parse(pptx->package, name, &flow_events, flow, err))
		return false;
	if (pptx->hidden)
		text_out_printf(flow->out, "(This slide is hidden.)\n");
	if (outline)
		format_outline_at(flow->out->ret, buf_view(&flow->first), "pages", number);
	return outline || pptx_notes(pptx->package, name, flow, err);
}

static bool pptx_text(struct pptx *pptx, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	const bool outline = request->want == DERIVE_OUTLINE;
	struct format_pages pages;
	struct text_out out;
	struct flow flow;
	bool ok = true;

	if (!format_pages(request->pages, "slide", pptx->slides->count, &pages, err))
		return false;
	text_out_init(&out, request, ret);
	out.first_line = outline ? SIZE_MAX : out.first_line;
	flow_init(&flow, pptx_rows, ARRAY_LEN(pptx_rows), &out);
	flow.start = pptx_start;
	flow.self = pptx;
	for (uint64_t i = 1; ok && !out.full && i <= pptx->slides->count; i++) {
		if (!format_pages_have(&pages, i))
			continue;
		ok = pptx_slide(pptx, i, outline, &flow, err);
		series_next(&out, &pages, i, pages.ranges[0].first);
	}
	text_out_end(&out);
	flow_release(&flow);
	return ok;
}

bool format_pptx_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	static const struct xml_events events = { pptx_list_start, no_text, no_end };
	static const char main[] = "ppt/presentation.xml";
	_cleanup_package_ struct package *package = package_open(input, err);
	_cleanup_package_relations_ struct package_relations relations = { 0 };
	_cleanup_series_ struct series *slides = series_new();
	struct pptx pptx = { .package = package, .relations = &relations, .slides = slides };

	package_library(ret);
	if (!package || !package_relations(package, main, &relations, err) ||
	    !package_parse(package, main, &events, &pptx, err))
		return false;
	format_fact_count(ret, "slides", slides->count);
	package_facts(package, "docProps/core.xml", ret);
	return pptx_text(&pptx, request, ret, err);
}

/* ---- .odp ------------------------------------------------------------------------------ */

static const struct flow_row odp_rows[] = {
	{ "p", FLOW_PARAGRAPH },      { "h", FLOW_PARAGRAPH },
	{ "s", FLOW_SPACES },         { "tab", FLOW_TAB },
	{ "line-break", FLOW_BREAK }, { "table", FLOW_TABLE },
	{ "table-row", FLOW_ROW },    { "table-cell", FLOW_CELL },
	{ "list", FLOW_LIST },        { "list-item", FLOW_ITEM },
	{ "annotation", FLOW_SKIP },  { "date-time", FLOW_SKIP },
	{ "page-number", FLOW_SKIP }, { "header", FLOW_SKIP },
	{ "footer", FLOW_SKIP },
};

struct odp {
	struct format_pages pages;
	uint64_t slide; /* the one that is open, or was */
	bool title, outline, wanted;
};

static bool odp_count_start(void *self, const char *name,
                            const struct xml_attributes *attributes)
{
	uint64_t *count = self;

	(void)attributes;
	*count += strcmp(name, "page") == 0;
	return true;
}

static bool odp_start(struct flow *flow, const char *name,
                      const struct xml_attributes *attributes)
{
	struct odp *odp = flow->self;

	if (strcmp(name, "page") == 0) {
		odp->slide++;
		odp->wanted = format_pages_have(&odp->pages, odp->slide);
		if (!odp->wanted) {
			flow->skip = 1;
			return false;
		}
		flow_reset(flow);
		text_out_printf(flow->out, "--- slide %llu ---\n",
		                (unsigned long long)odp->slide);
	}
	if (strcmp(name, "frame") == 0)
		odp->title = span_eq(xml_attribute(attributes, NULL, "class"), SPAN("title"));
	if (strcmp(name, "notes") == 0) {
		odp->title = false;
		if (odp->outline) {
			flow->skip = 1;
			return false;
		}
		flow->lead = "Notes:\n";
	}
	if (strcmp(name, "p") == 0)
		flow->level = odp->title ? 1 : 0;
	return true;
}

static void odp_end(struct flow *flow, const char *name)
{
	const struct odp *odp = flow->self;

	if (strcmp(name, "page") != 0 || !odp->wanted)
		return;
	if (odp->outline)
		format_outline_at(flow->out->ret, buf_view(&flow->first), "pages", odp->slide);
}

bool format_odp_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	static const struct xml_events events = { odp_count_start, no_text, no_end };
	_cleanup_package_ struct package *package = package_open(input, err);
	struct odp odp = { .outline = request->want == DERIVE_OUTLINE };
	struct text_out out;
	struct flow flow;
	uint64_t count = 0;
	bool ok;

	package_library(ret);
	if (!package || !package_parse(package, "content.xml", &events, &count, err) ||
	    !format_pages(request->pages, "slide", count, &odp.pages, err))
		return false;
	format_fact_count(ret, "slides", count);
	package_facts(package, "meta.xml", ret);
	text_out_init(&out, request, ret);
	out.first_line = odp.outline ? SIZE_MAX : out.first_line;
	flow_init(&flow, odp_rows, ARRAY_LEN(odp_rows), &out);
	flow.text_anywhere = true;
	flow.start = odp_start;
	flow.end = odp_end;
	flow.self = &odp;
	ok = package_parse(package, "content.xml", &flow_events, &flow, err);
	if (out.full)
		series_next(&out, &odp.pages, odp.slide, odp.pages.ranges[0].first);
	text_out_end(&out);
	flow_release(&flow);
	return ok;
}

/* ---- .epub ----------------------------------------------------------------------------- */

/* The package document: EPUB 3.3, 5. */
struct epub {
	struct package *package;
	char *main;                      /* the package document */
	struct package_relations items;  /* of its manifest: only id and target */
	struct series *chapters;
};

static bool epub_container_start(void *self, const char *name,
                                 const struct xml_attributes *attributes)
{
	struct epub *epub = self;

	if (strcmp(name, "rootfile") != 0)
		return true;
	epub->main = package_resolve("", xml_attribute(attributes, NULL, "full-path"));
	return false;
}

static bool epub_item_start(void *self, const char *name,
                            const struct xml_attributes *attributes)
{
	struct epub *epub = self;
	struct package_relations *items = &epub->items;

	if (strcmp(name, "item") == 0) {
		const struct span id = xml_attribute(attributes, NULL, "id");

		items->all = mem_grow(items->all, &items->cap, items->count + 1,
		                      sizeof(*items->all));
		items->all[items->count++] = (struct package_relation){
			.id = mem_dup(id.data ? id.data : "", id.len),
			.target = package_resolve(epub->main,
			                          xml_attribute(attributes, NULL, "href")),
		};
	}
	return strcmp(name, "spine") != 0 && items->count < SLIDES_MAX;
}

static bool epub_spine_start(void *self, const char *name,
                             const struct xml_attributes *attributes)
{
	struct epub *epub = self;
	const char *target;

	if (strcmp(name, "itemref") != 0)
		return true;
	target = package_target(&epub->items, xml_attribute(attributes, NULL, "idref"));
	if (target && package_has(epub->package, target))
		epub->chapters->names[epub->chapters->count++] = mem_strdup(target);
	return epub->chapters->count < SLIDES_MAX;
}

static int compare_items(const void *a, const void *b)
{
	return strcmp(((const struct package_relation *)a)->id,
	              ((const struct package_relation *)b)->id);
}

static bool epub_spine(struct epub *epub, struct err *err)
{
	static const struct xml_events container = { epub_container_start, no_text, no_end },
		items = { epub_item_start, no_text, no_end },
		spine = { epub_spine_start, no_text, no_end };

	if (!package_parse(epub->package, "META-INF/container.xml", &container, epub, err))
		return false;
	if (!epub->main)
		return err_set(err, ERR_NOT_TEXT, "It is damaged: it names no package document.");
	if (!package_parse(epub->package, epub->main, &items, epub, err))
		return false;
	if (epub->items.count)
		qsort(epub->items.all, epub->items.count, sizeof(*epub->items.all),
		      compare_items);
	return package_parse(epub->package, epub->main, &spine, epub, err);
}

/* The first heading, or else the title, or else the first line. */
static struct span chapter_name(const struct html_text *html)
{
	struct span rest = buf_view(&html->text), line, first = { NULL, 0 };

	while (line_next(&rest, &line)) {
		if (!first.len)
			first = span_trim(line);
		if (span_starts(line, SPAN("#"))) {
			while (span_starts(line, SPAN("#")))
				line = span_skip(line, 1);
			return line;
		}
	}
	return html->title.len ? buf_view(&html->title) : first;
}

static bool epub_chapter(struct epub *epub, uint64_t number, bool outline, struct text_out *out,
                         struct err *err)
{
	struct html_text html = { .text = BUF_INIT(CHAPTER_BYTES),
		                  .title = BUF_INIT(LIMIT_DERIVE_FACT) };
	const struct span page = package_bytes(epub->package, epub->chapters->names[number - 1]);
	bool ok = true;

	text_out_printf(out, "--- chapter %llu ---\n", (unsigned long long)number);
	if (page.len) {
		ok = html_text(page, &html, err);
		text_out(out, buf_view(&html.text));
	} else {
		text_out_printf(out, "(It is empty, or too large to be read.)");
	}
	text_out_line(out);
	if (ok && outline)
		format_outline_at(out->ret, chapter_name(&html), "pages", number);
	buf_release(&html.text);
	buf_release(&html.title);
	return ok;
}

static bool epub_text(struct epub *epub, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	const bool outline = request->want == DERIVE_OUTLINE;
	struct format_pages pages;
	struct text_out out;
	bool ok = true;

	format_fact_count(ret, "chapters", epub->chapters->count);
	package_facts(epub->package, epub->main, ret);
	if (!format_pages(request->pages, "chapter", epub->chapters->count, &pages, err))
		return false;
	text_out_init(&out, request, ret);
	out.first_line = outline ? SIZE_MAX : out.first_line;
	for (uint64_t i = 1; ok && !out.full && i <= epub->chapters->count; i++) {
		if (!format_pages_have(&pages, i))
			continue;
		ok = epub_chapter(epub, i, outline, &out, err);
		series_next(&out, &pages, i, pages.ranges[0].first);
	}
	text_out_end(&out);
	return ok;
}

bool format_epub_load(struct err *err)
{
	return package_load(err) && format_html_load(err);
}

bool format_epub_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	_cleanup_package_ struct package *package = package_open(input, err);
	_cleanup_series_ struct series *chapters = series_new();
	struct epub epub = { .package = package, .chapters = chapters };
	bool ok;

	package_library(ret);
	ok = package && epub_spine(&epub, err) && epub_text(&epub, request, ret, err);
	package_relations_release(&epub.items);
	free(epub.main);
	return ok;
}
