/* SPDX-License-Identifier: Apache-2.0 */
/* Lists in brackets: their layout learned from the text, entries put in and taken out. */
#include "data/structured/list.h"

#include <string.h>

#include "base/limits.h"
#include "data/json.h"

/* How collections are written at a place. */
struct list_layout {
	struct span colon;   /* key's end to value's start */
	struct span gap;     /* after a comma */
	struct span pad;     /* inside the braces of an object on one line */
	struct span indent;  /* of the line that the value begins on */
	struct span unit, newline;
	bool spread;         /* entries have lines for themselves */
};

/* ---- the text around ---------------------------------------------------------------- */

/* Past blanks and comments, to `end` at most; `lines`: past line ends, too. */
static uint32_t list_skip(const struct list_dialect *dialect, struct span text, uint32_t at,
                          uint32_t end, bool lines)
{
	const bool slashes = dialect->comments == LIST_SLASHES;

	while (at < end) {
		const char c = text.data[at];

		if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
			at++;
		} else if (slashes ? c == '/' && at + 1 < end && text.data[at + 1] == '/' :
		                     c == '#') {
			at = tree_line_end(text, at);
		} else if (slashes && c == '/' && at + 1 < end && text.data[at + 1] == '*') {
			const char *stop = memmem(text.data + at + 2, end - at - 2, "*/", 2);

			if (!stop)
				return at;
			at = (uint32_t)(stop - text.data) + 2;
		} else {
			break;
		}
	}
	return at < end ? at : end;
}

static bool range_is_blank(struct span text, uint32_t start, uint32_t end)
{
	return span_is_blank(span_of(text.data + start, end - start));
}

static bool range_has_line(struct span text, uint32_t start, uint32_t end)
{
	return memchr(text.data + start, '\n', end - start) != NULL;
}

/* Where the comma after the node is, before `end`; `end` if there is none. */
static uint32_t list_comma(const struct list_dialect *dialect, struct span text,
                           const struct structured_node *node, uint32_t end)
{
	uint32_t at = list_skip(dialect, text, node->entry.end, end, /* lines= */ true);

	return at < end && text.data[at] == ',' ? at : end;
}

/* ---- layout ------------------------------------------------------------------------- */

static bool in_brackets(const struct structured *tree, const struct structured_node *node)
{
	return node != tree->nodes && tree->nodes[node->parent].style == STYLE_FLOW;
}

/* What stands between key and value, if that is the colon and blanks. */
static bool learn_colon(const struct list_dialect *dialect, const struct structured *tree,
                        const struct structured_node *node, struct span *ret)
{
	struct span between;

	if (!in_brackets(tree, node) || node->key.end == node->key.start ||
	    node->source.start < node->key.end)
		return false;
	between = span_of(tree->text.data + node->key.end, node->source.start - node->key.end);
	if (!span_eq(span_trim(between), span_str(dialect->colon)) ||
	    range_has_line(tree->text, node->key.end, node->source.start))
		return false;
	*ret = between;
	return true;
}

/* The blanks after the comma after the node, if the next one is on its line. */
static bool learn_gap(const struct structured *tree, const struct structured_node *node,
                      struct span *ret)
{
	const struct structured_node *next = structured_next(tree, node);
	struct span between;

	if (!next || !in_brackets(tree, node) || next->entry.start < node->entry.end)
		return false;
	between = span_of(tree->text.data + node->entry.end, next->entry.start - node->entry.end);
	if (!span_starts(between, SPAN(",")) || !span_is_blank(span_skip(between, 1)) ||
	    range_has_line(tree->text, node->entry.end, next->entry.start))
		return false;
	*ret = span_skip(between, 1);
	return true;
}

static bool learn_pad(const struct structured *tree, const struct structured_node *node,
                      struct span *ret)
{
	const struct structured_node *first = structured_first(tree, node);

	if (node->kind != STRUCTURED_OBJECT || node->style != STYLE_FLOW || !first ||
	    range_has_line(tree->text, node->source.start, first->entry.start) ||
	    !range_is_blank(tree->text, node->source.start + 1, first->entry.start))
		return false;
	*ret = span_of(tree->text.data + node->source.start + 1,
	               first->entry.start - node->source.start - 1);
	return true;
}

/* Of the place's own collection first, then of the file's first ones. */
static void learn_layout(const struct list_dialect *dialect, const struct structured_place *place,
                         struct list_layout *layout)
{
	const struct structured *tree = place->tree;
	const struct structured_node *own = place->parent ? structured_first(tree, place->parent) :
	                                                    NULL;
	bool colon = false, gap = false, pad = false;

	for (unsigned i = 0; own && i < TREE_SAMPLES; i++, own = structured_next(tree, own)) {
		colon = colon || learn_colon(dialect, tree, own, &layout->colon);
		gap = gap || learn_gap(tree, own, &layout->gap);
		pad = pad || learn_pad(tree, own, &layout->pad);
	}
	for (uint32_t i = 0; i < tree->count && i < TREE_SAMPLES; i++) {
		colon = colon || learn_colon(dialect, tree, &tree->nodes[i], &layout->colon);
		gap = gap || learn_gap(tree, &tree->nodes[i], &layout->gap);
		pad = pad || learn_pad(tree, &tree->nodes[i], &layout->pad);
	}
	if (!gap && colon && layout->colon.len == strlen(dialect->colon))
		layout->gap = SPAN(""); /* nothing is spaced here */
}

/* Whether new collections at the place take several lines. */
static bool place_spreads(const struct list_dialect *dialect, const struct structured_place *place)
{
	const struct structured *tree = place->tree;
	const struct structured_node *root = structured_root(tree);
	const struct structured_node *first = structured_first(tree, root);
	const struct structured_node *sibling = place->parent ?
	                                                structured_first(tree, place->parent) :
								NULL;

	if (!dialect->spread_empty || tree->format == STRUCTURED_JSON_LINES ||
	    (first && !range_has_line(tree->text, root->source.start, first->entry.start)))
		return false;
	for (; sibling; sibling = structured_next(tree, sibling)) {
		const struct structured_node *inner = structured_first(tree, sibling);

		if (inner && sibling != place->node)
			return range_has_line(tree->text, sibling->source.start,
			                      inner->entry.start);
	}
	return true;
}

static struct list_layout list_layout_at(const struct list_dialect *dialect,
                                    const struct structured_place *place)
{
	struct list_layout layout = {
		.colon = span_str(dialect->gap), .gap = SPAN(" "),
		.pad = dialect->comments == LIST_HASH && place->tree->format == STRUCTURED_TOML ?
		               SPAN(" ") : SPAN(""),
		.unit = tree_indent_unit(place->tree), .newline = tree_newline(place->tree->text),
		.spread = place_spreads(dialect, place),
	};

	learn_layout(dialect, place, &layout);
	return layout;
}

/* ---- values ------------------------------------------------------------------------- */

struct list_put {
	const struct list_dialect *dialect;
	struct list_layout layout;
	struct span near, near_key;
	struct buf *out;
	struct err *err;
};

static bool list_put_value(struct list_put *put, const json_t *value, unsigned depth);

static void put_break(struct list_put *put, unsigned depth)
{
	buf_span(put->out, put->layout.newline);
	buf_span(put->out, put->layout.indent);
	for (unsigned i = 0; i < depth; i++)
		buf_span(put->out, put->layout.unit);
}

/* Before an entry, and (`last`) after the last one. */
static void put_gap(struct list_put *put, bool object, bool first, bool last, unsigned depth)
{
	if (!first && !last)
		buf_char(put->out, ',');
	if (put->layout.spread)
		put_break(put, depth + !last);
	else if (first || last)
		buf_span(put->out, object ? put->layout.pad : SPAN(""));
	else
		buf_span(put->out, put->layout.gap);
}

static bool list_put_object(struct list_put *put, const json_t *value, unsigned depth)
{
	bool first = true;
	const char *name;
	json_t *member;

	buf_char(put->out, '{');
	/* jansson's macro writes its own assignments in the condition. */
	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at)) {
		name = json_object_iter_key(at);
		member = json_object_iter_value(at);
		put_gap(put, true, first, false, depth);
		first = false;
		if (!put->dialect->put_key(put->out,
		                           span_of(name, json_object_iter_key_len(at)),
		                           put->near_key, put->err))
			return false;
		buf_span(put->out, put->layout.colon);
		if (!list_put_value(put, member, depth + 1))
			return false;
	}
	if (!first)
		put_gap(put, true, false, true, depth);
	return buf_char(put->out, '}');
}

static bool list_put_array(struct list_put *put, const json_t *value, unsigned depth)
{
	const size_t count = json_array_size(value);

	buf_char(put->out, '[');
	for (size_t i = 0; i < count; i++) {
		put_gap(put, false, i == 0, false, depth);
		if (!list_put_value(put, json_array_get(value, i), depth + 1))
			return false;
	}
	if (count)
		put_gap(put, false, false, true, depth);
	return buf_char(put->out, ']');
}

/* Recursion ends at JSON_DEPTH_MAX, beyond which no arguments come. */
static bool list_put_value(struct list_put *put, const json_t *value, unsigned depth)
{
	if (depth > JSON_DEPTH_MAX)
		return err_set(put->err, ERR_INVALID_ARGUMENT, "The value is nested too deep.");
	if (json_is_object(value))
		return list_put_object(put, value, depth);
	if (json_is_array(value))
		return list_put_array(put, value, depth);
	return put->dialect->put_scalar(put->out, value, put->near, put->err);
}

static struct span node_bytes(const struct structured *tree, const struct structured_node *node)
{
	return node ? structured_bytes(tree, node->source) : SPAN("");
}

/* A neighbour whose quotation marks are copied. */
static const struct structured_node *place_neighbour(const struct structured_place *place)
{
	const struct structured_node *first;

	if (place->node)
		return place->node;
	first = place->parent ? structured_first(place->tree, place->parent) : NULL;
	if (first && place->parent->kind == STRUCTURED_ARRAY && place->index)
		return tree_item(place->tree, place->parent, place->index - 1);
	return first;
}

static bool put_with(const struct list_dialect *dialect, const struct structured_place *place,
                     const struct list_layout *layout, const json_t *value, struct buf *out,
                     struct err *err)
{
	const struct structured_node *near = place_neighbour(place);
	struct list_put put = {
		.dialect = dialect, .layout = *layout, .out = out, .err = err,
		.near = node_bytes(place->tree, near),
		.near_key = near ? structured_bytes(place->tree, near->key) : SPAN(""),
	};

	if (!list_put_value(&put, value, 0))
		return false;
	return !out->overflowed || err_set(err, ERR_TOO_LARGE, "The value is too large.");
}

bool list_put(const struct list_dialect *dialect, const struct structured_place *place,
              const json_t *value, struct buf *out, struct err *err)
{
	struct list_layout layout = list_layout_at(dialect, place);

	return put_with(dialect, place, &layout, value, out, err);
}

bool list_replace(const struct list_dialect *dialect, const struct structured_place *place,
                  const json_t *value, struct structured_edits *edits, struct err *err)
{
	const struct structured_node *node = place->node;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct list_layout layout = list_layout_at(dialect, place);

	layout.indent = tree_indent(place->tree->text, node->entry.start);
	if (!put_with(dialect, place, &layout, value, &text, err))
		return false;
	edits_add(edits, node->source.start, node->source.end, buf_view(&text));
	return true;
}

/* ---- entries ------------------------------------------------------------------------ */

/* Appends the new entry, its key before it. */
static bool list_put_entry(const struct list_dialect *dialect, const struct structured_place *place,
                      const struct list_layout *layout, const json_t *value, struct buf *out,
                      struct err *err)
{
	const struct structured_node *near = structured_first(place->tree, place->parent);

	if (place->parent->kind == STRUCTURED_OBJECT) {
		if (!dialect->put_key(out, place->name,
		                      near ? structured_bytes(place->tree, near->key) : SPAN(""),
		                      err))
			return false;
		buf_span(out, layout->colon);
	}
	return put_with(dialect, place, layout, value, out, err);
}

static bool list_add_to_empty(const struct list_dialect *dialect,
			      const struct structured_place *place,
                         struct list_layout *layout, const json_t *value,
                         struct structured_edits *edits, struct err *err)
{
	struct span text = place->tree->text, outer;
	const uint32_t open = place->parent->source.start + 1,
		close = place->parent->source.end - 1;
	const bool blank = range_is_blank(text, open, close);
	const bool lines = blank ? layout->spread : tree_leads_line(text, close);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	_cleanup_buf_ struct buf indent = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	outer = tree_indent(text, blank ? place->parent->entry.start : close);
	buf_span(&indent, outer);
	buf_span(&indent, layout->unit);
	layout->indent = lines ? buf_view(&indent) : outer;
	if (blank && lines) {
		buf_span(&out, layout->newline);
		buf_span(&out, layout->indent);
	} else if (lines) {
		buf_span(&out, layout->unit);
	} else if (place->parent->kind == STRUCTURED_OBJECT) {
		buf_span(&out, layout->pad);
	}
	if (!list_put_entry(dialect, place, layout, value, &out, err))
		return false;
	if (lines) {
		buf_span(&out, layout->newline);
		buf_span(&out, outer);
	} else if (place->parent->kind == STRUCTURED_OBJECT) {
		buf_span(&out, layout->pad);
	}
	edits_add(edits, blank ? open : close, close, buf_view(&out));
	return true;
}

static bool list_add_first(const struct list_dialect *dialect, const struct structured_place *place,
                      const struct structured_node *next, struct list_layout *layout,
                      const json_t *value, struct structured_edits *edits, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	const bool leads = tree_leads_line(place->tree->text, next->entry.start);

	layout->indent = tree_indent(place->tree->text, next->entry.start);
	if (!list_put_entry(dialect, place, layout, value, &out, err))
		return false;
	buf_char(&out, ',');
	buf_span(&out, leads ? layout->newline : layout->gap);
	buf_span(&out, leads ? layout->indent : SPAN(""));
	edits_add(edits, next->entry.start, next->entry.start, buf_view(&out));
	return true;
}

static bool list_add_after(const struct list_dialect *dialect, const struct structured_place *place,
                      const struct structured_node *before, struct list_layout *layout,
                      const json_t *value, struct structured_edits *edits, struct err *err)
{
	struct span text = place->tree->text;
	const struct structured_node *next = structured_next(place->tree, before);
	const uint32_t limit = next ? next->entry.start : place->parent->source.end - 1;
	const uint32_t comma = list_comma(dialect, text, before, limit);
	const uint32_t after = comma < limit ? comma + 1 : before->entry.end;
	const uint32_t line = list_skip(dialect, text, after, limit, /* lines= */ false);
	const bool breaks = line < limit && (text.data[line] == '\n' || text.data[line] == '\r') &&
	                    tree_leads_line(text, before->entry.start);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	layout->indent = tree_indent(text, before->entry.start);
	if (breaks && comma == limit)
		edits_add(edits, before->entry.end, before->entry.end, SPAN(","));
	if (!breaks && comma == limit)
		buf_char(&out, ',');
	buf_span(&out, breaks ? layout->newline : layout->gap);
	buf_span(&out, breaks ? layout->indent : SPAN(""));
	if (!list_put_entry(dialect, place, layout, value, &out, err))
		return false;
	if (comma < limit)
		buf_char(&out, ',');
	edits_add(edits, breaks ? line : after, breaks ? line : after, buf_view(&out));
	return true;
}

bool list_add_entry(const struct list_dialect *dialect, const struct structured_place *place,
              const json_t *value, struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *first = structured_first(tree, place->parent);
	struct list_layout layout = list_layout_at(dialect, place);

	if (!first)
		return list_add_to_empty(dialect, place, &layout, value, edits, err);
	if (place->parent->kind == STRUCTURED_ARRAY && place->index == 0)
		return list_add_first(dialect, place, first, &layout, value, edits, err);
	return list_add_after(dialect, place,
	                 place->parent->kind == STRUCTURED_OBJECT || place->index >=
	                         place->parent->count ? &tree->nodes[place->parent->last] :
	                         tree_item(tree, place->parent, place->index - 1),
	                 &layout, value, edits, err);
}

/* The only entry: brackets without anything between them are left, or with the comments. */
static void remove_only(const struct list_dialect *dialect, const struct structured_place *place,
                        uint32_t tail, struct structured_edits *edits)
{
	struct span text = place->tree->text;
	const uint32_t open = place->parent->source.start + 1,
		close = place->parent->source.end - 1;
	const uint32_t line = list_skip(dialect, text, tail, close, /* lines= */ false);
	const bool bare = range_is_blank(text, open, place->node->entry.start) &&
	                  range_is_blank(text, line, close);

	if (bare)
		edits_add(edits, open, close, SPAN(""));
	else if (tree_leads_line(text, place->node->entry.start) && line < close)
		edits_add(edits, tree_line_start(text, place->node->entry.start),
		          tree_line_next(text, line), SPAN(""));
	else
		edits_add(edits, place->node->entry.start, tail, SPAN(""));
}

/* An entry that shares its line. */
static void remove_inline(const struct list_dialect *dialect, const struct structured_place *place,
                          const struct structured_node *before, const struct structured_node *next,
                          uint32_t tail, struct structured_edits *edits)
{
	struct span text = place->tree->text;
	const uint32_t start = place->node->entry.start, end = place->node->entry.end;

	if (next && range_is_blank(text, tail, next->entry.start)) {
		const uint32_t comma = before ? list_comma(dialect, text, before, start) : start;

		if (before && range_has_line(text, tail, next->entry.start) &&
		    range_is_blank(text, comma + 1, start))
			edits_add(edits, comma + 1, tail, SPAN(""));
		else
			edits_add(edits, start, next->entry.start, SPAN(""));
	} else if (next) {
		edits_add(edits, start, tail, SPAN(""));
	} else {
		const uint32_t comma = list_comma(dialect, text, before, start);

		if (range_is_blank(text, before->entry.end, comma) &&
		    range_is_blank(text, comma + 1, start)) {
			edits_add(edits, before->entry.end, end, SPAN(""));
		} else {
			edits_add(edits, comma, comma + 1, SPAN(""));
			edits_add(edits, start, tail, SPAN(""));
		}
	}
}

bool list_remove_entry(const struct list_dialect *dialect, const struct structured_place *place,
                 struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node, *before = tree_previous(tree, node);
	const struct structured_node *next = structured_next(tree, node);
	const uint32_t limit = next ? next->entry.start : place->parent->source.end - 1;
	const uint32_t comma = list_comma(dialect, tree->text, node, limit);
	const uint32_t tail = comma < limit ? comma + 1 : node->entry.end;
	const uint32_t line = list_skip(dialect, tree->text, tail, limit, /* lines= */ false);

	(void)err;
	if (!before && !next) {
		remove_only(dialect, place, tail, edits);
		return true;
	}
	if (!tree_leads_line(tree->text, node->entry.start) || line == limit ||
	    (tree->text.data[line] != '\n' && tree->text.data[line] != '\r')) {
		remove_inline(dialect, place, before, next, tail, edits);
		return true;
	}
	if (!next && comma == limit) {
		const uint32_t last = list_comma(dialect, tree->text, before, node->entry.start);

		edits_add(edits, last, last + 1, SPAN(""));
	}
	edits_add(edits, tree_line_start(tree->text, node->entry.start),
	          tree_line_next(tree->text, line), SPAN(""));
	return true;
}

bool list_rename(const struct list_dialect *dialect, const struct structured_place *place,
                 struct span name, struct structured_edits *edits, struct err *err)
{
	const struct structured_node *node = place->node;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	if (!dialect->put_key(&out, name, structured_bytes(place->tree, node->key), err))
		return false;
	edits_add(edits, node->key.start, node->key.end, buf_view(&out));
	return true;
}
