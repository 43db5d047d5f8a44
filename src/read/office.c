/* SPDX-License-Identifier: Apache-2.0 */
/* Text documents: Office Open XML (ECMA-376, part 1, 17) and OpenDocument 1.3. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "read/flow.h"
#include "read/package.h"

enum { STYLES_MAX = 256, LEVELS_MAX = 9 };

/* Entries of the outline are lines of the text, all of which are counted and none kept. */
static void start_text(struct text_out *out, struct flow *flow, const struct flow_row *rows,
                       size_t count, const struct derive_request *request,
                       struct derive_result *ret)
{
	text_out_init(out, request, ret);
	flow_init(flow, rows, count, out);
	flow->headings = request->want == DERIVE_OUTLINE;
	if (flow->headings)
		out->first_line = SIZE_MAX;
}

/* ---- .docx ----------------------------------------------------------------------------- */

static const struct flow_row docx_rows[] = {
	{ "p", FLOW_PARAGRAPH },     { "t", FLOW_TEXT },    { "tab", FLOW_TAB },
	{ "br", FLOW_BREAK },        { "cr", FLOW_BREAK },  { "noBreakHyphen", FLOW_HYPHEN },
	{ "tbl", FLOW_TABLE },       { "tr", FLOW_ROW },    { "tc", FLOW_CELL },
	{ "Fallback", FLOW_SKIP },   { "tabs", FLOW_SKIP }, { "pPrChange", FLOW_SKIP },
	{ "moveFrom", FLOW_SKIP },
};

/* Styles of headings. */
struct docx_styles {
	struct {
		char *id;
		unsigned level;
	} all[STYLES_MAX];
	size_t count;
	char *id;       /* of the style that is open */
	unsigned level; /* of it, 0: no heading */
};

static unsigned style_level(struct span name)
{
	const struct span word = SPAN("heading ");

	if (span_eq(name, SPAN("Title")) || span_eq(name, SPAN("title")))
		return 1;
	if (name.len == word.len + 1 && strncasecmp(name.data, word.data, word.len) == 0 &&
	    ascii_is_digit(name.data[word.len]))
		return (unsigned)(name.data[word.len] - '0');
	return 0;
}

static bool styles_start(void *self, const char *name, const struct xml_attributes *attributes)
{
	struct docx_styles *styles = self;

	if (strcmp(name, "style") == 0) {
		const struct span id = xml_attribute(attributes, NULL, "styleId");

		free(styles->id);
		styles->id = mem_dup(id.data, id.len);
		styles->level = 0;
	} else if (strcmp(name, "name") == 0) {
		styles->level = style_level(xml_attribute(attributes, NULL, "val"));
	} else if (strcmp(name, "outlineLvl") == 0 && !styles->level) {
		styles->level = 1 + xml_attribute_count(attributes, "val", LEVELS_MAX, LEVELS_MAX);
		styles->level = styles->level > LEVELS_MAX ? 0 : styles->level;
	}
	return styles->count < STYLES_MAX;
}

static bool styles_text(void *self, struct span text)
{
	(void)self, (void)text;
	return true;
}

static bool styles_end(void *self, const char *name)
{
	struct docx_styles *styles = self;

	if (strcmp(name, "style") == 0 && styles->id && styles->level) {
		styles->all[styles->count].id = mem_steal(&styles->id);
		styles->all[styles->count++].level = styles->level;
	}
	return true;
}

static void styles_release(struct docx_styles *styles)
{
	for (size_t i = 0; i < styles->count; i++)
		free(styles->all[i].id);
	free(styles->id);
}

static bool docx_start(struct flow *flow, const char *name,
                       const struct xml_attributes *attributes)
{
	const struct docx_styles *styles = flow->self;

	if (strcmp(name, "pStyle") == 0) {
		const struct span id = xml_attribute(attributes, NULL, "val");

		for (size_t i = 0; i < styles->count; i++)
			if (span_eq(id, span_str(styles->all[i].id)))
				flow->level = styles->all[i].level;
	} else if (strcmp(name, "outlineLvl") == 0) {
		const unsigned level = xml_attribute_count(attributes, "val", LEVELS_MAX,
		                                           LEVELS_MAX);

		flow->level = level < LEVELS_MAX ? level + 1 : flow->level;
	} else if (strcmp(name, "ilvl") == 0) {
		flow->list = 1 + xml_attribute_count(attributes, "val", 0, LEVELS_MAX);
		flow->item = true;
	} else if (strcmp(name, "footnoteReference") == 0 ||
	           strcmp(name, "endnoteReference") == 0) {
		flow_text(flow, SPAN("[^"));
		flow_text(flow, xml_attribute(attributes, NULL, "id"));
		flow_text(flow, SPAN("]"));
	} else if (strcmp(name, "footnote") == 0 || strcmp(name, "endnote") == 0) {
		const bool mark = xml_attribute(attributes, NULL, "type").len;

		if (mark) {
			flow->skip = 1;
		} else {
			flow_text(flow, SPAN("[^"));
			flow_text(flow, xml_attribute(attributes, NULL, "id"));
			flow_text(flow, SPAN("]: "));
		}
		return false;
	}
	return true;
}

/* A paragraph without a number ends the list; seen where the next begins. */
static bool docx_paragraph(struct flow *flow, const char *name,
                           const struct xml_attributes *attributes)
{
	if (strcmp(name, "p") == 0 && !flow->paragraph) {
		flow->list = 0;
		flow->item = false;
	}
	return docx_start(flow, name, attributes);
}

static bool docx_parts(struct package *package, const char *main, struct flow *flow,
                       struct err *err)
{
	static const char *const notes[] = { "footnotes", "endnotes" };
	struct package_relations relations;
	bool ok = package_relations(package, main, &relations, err) &&
	          package_parse(package, main, &flow_events, flow, err);

	for (size_t i = 0; ok && i < ARRAY_LEN(notes); i++) {
		const char *part = package_target_of_type(&relations, notes[i]);

		flow_reset(flow);
		if (part && package_has(package, part))
			ok = package_parse(package, part, &flow_events, flow, err);
	}
	package_relations_release(&relations);
	return ok;
}

static bool docx_read(struct package *package, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	static const struct xml_events styles_events = { styles_start, styles_text, styles_end };
	_cleanup_free_ char *main = package_main(package, "word/document.xml", err);
	struct docx_styles styles = { 0 };
	struct text_out out;
	struct flow flow;
	bool ok;

	if (!main)
		return false;
	package_facts(package, "docProps/core.xml", ret);
	if (package_has(package, "word/styles.xml") &&
	    !package_parse(package, "word/styles.xml", &styles_events, &styles, err)) {
		styles_release(&styles);
		return false;
	}
	start_text(&out, &flow, docx_rows, ARRAY_LEN(docx_rows), request, ret);
	flow.self = &styles;
	flow.start = docx_paragraph;
	ok = docx_parts(package, main, &flow, err);
	text_out_end(&out);
	flow_release(&flow);
	styles_release(&styles);
	return ok;
}

/* ---- .odt ------------------------------------------------------------------------------ */

static const struct flow_row odt_rows[] = {
	{ "p", FLOW_PARAGRAPH },        { "h", FLOW_PARAGRAPH },
	{ "s", FLOW_SPACES },           { "tab", FLOW_TAB },
	{ "line-break", FLOW_BREAK },   { "table", FLOW_TABLE },
	{ "table-row", FLOW_ROW },      { "table-cell", FLOW_CELL },
	{ "covered-table-cell", FLOW_CELL }, { "list", FLOW_LIST },
	{ "list-item", FLOW_ITEM },     { "note-body", FLOW_NOTE },
	{ "note-citation", FLOW_SKIP }, { "tracked-changes", FLOW_SKIP },
	{ "annotation", FLOW_SKIP },    { "ruby-text", FLOW_SKIP },
};

static bool odt_start(struct flow *flow, const char *name,
                      const struct xml_attributes *attributes)
{
	if (strcmp(name, "h") == 0)
		flow->level = xml_attribute_count(attributes, "outline-level", 1, LEVELS_MAX);
	return true;
}

static bool odt_read(struct package *package, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	struct text_out out;
	struct flow flow;
	bool ok;

	package_facts(package, "meta.xml", ret);
	start_text(&out, &flow, odt_rows, ARRAY_LEN(odt_rows), request, ret);
	flow.text_anywhere = true;
	flow.start = odt_start;
	ok = package_parse(package, "content.xml", &flow_events, &flow, err);
	text_out_end(&out);
	flow_release(&flow);
	return ok;
}

/* ---- both ------------------------------------------------------------------------------ */

bool format_office_load(struct err *err)
{
	return package_load(err);
}

bool format_docx_read(const struct format_input *input, const struct derive_request *request,
                      struct derive_result *ret, struct err *err)
{
	_cleanup_package_ struct package *package = package_open(input, err);

	package_library(ret);
	return package && docx_read(package, request, ret, err);
}

bool format_odt_read(const struct format_input *input, const struct derive_request *request,
                     struct derive_result *ret, struct err *err)
{
	_cleanup_package_ struct package *package = package_open(input, err);

	package_library(ret);
	return package && odt_read(package, request, ret, err);
}
