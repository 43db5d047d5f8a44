/* SPDX-License-Identifier: Apache-2.0 */
/* TOML changed: keys by lines, tables by their headers, arrays and inline tables as lists in
 * brackets. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/list.h"

/* ---- scalars ------------------------------------------------------------------------ */

static void toml_put_basic(struct buf *out, struct span text)
{
	const size_t start = out->len;

	json_print_string(out, text);
	for (size_t i = start; i < out->len; i++)
		if (out->data[i] == 0x7F) { /* a control character here */
			_cleanup_buf_ struct buf rest = BUF_INIT(LIMIT_STRUCTURED_BYTES);

			buf_append(&rest, out->data + i + 1, out->len - i - 1);
			out->len = i;
			buf_str(out, "\\u007F");
			buf_span(out, buf_view(&rest));
			i = out->len - rest.len - 1;
		}
}

static bool toml_is_literal(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] < ' ' || text.data[i] == 0x7F ||
		    text.data[i] == '\'')
			return false;
	return true;
}

/* A date that takes a date's place stays one. */
static bool toml_is_date(struct span text, struct span near)
{
	if (!near.len || !ascii_is_digit((unsigned char)near.data[0]) || text.len < 10 ||
	    !memchr(near.data, '-', near.len))
		return false;
	for (size_t i = 0; i < 10; i++)
		if (i == 4 || i == 7 ? text.data[i] != '-' :
		                       !ascii_is_digit((unsigned char)text.data[i]))
			return false;
	return text.len == 10;
}

static bool toml_put_scalar(struct buf *out, const json_t *value, struct span near,
                            struct err *err)
{
	struct span text = json_span(value);

	if (json_is_null(value))
		return err_set(err, ERR_INVALID_ARGUMENT, "TOML has no null: delete the key.");
	if (!json_is_string(value))
		return json_print(out, value, 0);
	if (toml_is_date(text, near))
		return buf_span(out, text);
	if (near.len && near.data[0] == '\'' && toml_is_literal(text)) {
		buf_char(out, '\'');
		buf_span(out, text);
		return buf_char(out, '\'');
	}
	toml_put_basic(out, text);
	return true;
}

static bool toml_put_key(struct buf *out, struct span name, struct span near, struct err *err)
{
	bool bare = name.len > 0;

	(void)near;
	(void)err;
	for (size_t i = 0; i < name.len; i++)
		bare = bare && (ascii_is_alnum((unsigned char)name.data[i]) ||
		                strchr("-_", name.data[i]));
	if (bare)
		return buf_span(out, name);
	toml_put_basic(out, name);
	return true;
}

static const struct list_dialect toml_dialect = {
	.comments = LIST_HASH,
	.colon = "=",
	.gap = " = ",
	.put_scalar = toml_put_scalar,
	.put_key = toml_put_key,
};

/* ---- places ------------------------------------------------------------------------- */

static bool toml_in_flow(const struct structured_place *place)
{
	return place->parent && place->parent->style == STYLE_FLOW;
}

/* A dotted key in an inline table; its parts have no place for themselves. */
static bool toml_check(const struct structured_place *place, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->parent;

	if (!node)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The whole document is not replaced here: change its keys.");
	for (; node != tree->nodes; node = &tree->nodes[node->parent])
		if (node->style == STYLE_BLOCK && tree->nodes[node->parent].style == STYLE_FLOW)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The path leads through a dotted key of an inline table: "
			               "edit "
			               "the text.");
	return true;
}

/* The next node of the subtree of `top`, which `node` is in; NULL after the last. */
static const struct structured_node *subtree_next(const struct structured *tree,
                                                  const struct structured_node *top,
                                                  const struct structured_node *node)
{
	const struct structured_node *child = structured_first(tree, node);

	while (!child && node != top) {
		child = structured_next(tree, node);
		node = &tree->nodes[node->parent];
	}
	return child;
}

/* Whether the node has a header, [name] or [[name]]. */
static bool toml_has_header(const struct structured *tree, const struct structured_node *node)
{
	return node != tree->nodes && node->kind == STRUCTURED_OBJECT &&
	       node->style == STYLE_BLOCK && !(node->flags & NODE_IMPLICIT);
}

/* Where the last of it ends in the text. */
static uint32_t subtree_last(const struct structured *tree, const struct structured_node *top)
{
	uint32_t end = top->entry.end;

	for (const struct structured_node *node = top; node; node = subtree_next(tree, top, node))
		end = node->entry.end > end ? node->entry.end : end;
	return end;
}

/* The first header beneath the node; NULL: there is none. */
static const struct structured_node *first_header(const struct structured *tree,
                                                  const struct structured_node *top)
{
	for (const struct structured_node *node = subtree_next(tree, top, top); node;
	     node = subtree_next(tree, top, node))
		if (toml_has_header(tree, node))
			return node;
	return NULL;
}

/* The name in the header of the node, or of a table `name` in it. */
static void put_header_name(const struct structured *tree, const struct structured_node *node,
                            struct span name, struct buf *out)
{
	const unsigned depth = tree_depth(tree, node);
	_cleanup_free_ const struct structured_node **way = mem_alloc(depth + 1, sizeof(*way));
	struct err ignored = ERR_INIT;
	bool first = true;

	for (unsigned i = depth; i; i--, node = &tree->nodes[node->parent])
		way[i - 1] = node;
	for (unsigned i = 0; i < depth; i++) {
		if (tree->nodes[way[i]->parent].kind == STRUCTURED_ARRAY)
			continue;
		if (!first)
			buf_char(out, '.');
		first = false;
		toml_put_key(out, structured_name(tree, way[i]), SPAN(""), &ignored);
	}
	if (!name.data)
		return;
	if (!first)
		buf_char(out, '.');
	toml_put_key(out, name, SPAN(""), &ignored);
}

/* Appends the members of `value` as lines of a table, after its header. */
static bool toml_put_body(const struct structured_place *place, const json_t *value,
			  struct buf *out,
                     struct err *err)
{
	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at)) {
		struct structured_place inner = { .tree = place->tree };

		buf_span(out, tree_newline(place->tree->text));
		toml_put_key(out, span_of(json_object_iter_key(at), json_object_iter_key_len(at)),
		             SPAN(""), err);
		buf_str(out, " = ");
		if (!list_put(&toml_dialect, &inner, json_object_iter_value(at), out, err))
			return false;
	}
	return true;
}

/* ---- changes ------------------------------------------------------------------------ */

static bool toml_replace(const struct structured_place *place, const json_t *value,
                         struct structured_edits *edits, struct err *err)
{
	if (!toml_check(place, err))
		return false;
	if (place->node->style == STYLE_BLOCK && !toml_in_flow(place))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A table with a header is not replaced as a whole: change its keys, "
		               "or delete it and set it.");
	return list_replace(&toml_dialect, place, value, edits, err);
}

/* A new [table] or [[table]] after the text at `end`. */
static bool add_section(const struct structured_place *place, uint32_t end, bool list,
                        struct span name, const json_t *value, struct structured_edits *edits,
                        struct err *err)
{
	const struct structured *tree = place->tree;
	struct span newline = tree_newline(tree->text);
	const uint32_t at = tree_line_end(tree->text, end);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	if (!json_is_object(value))
		return err_set(err, ERR_INVALID_ARGUMENT,
			       "An item of an array of tables is an object.");
	if (at > 0) {
		buf_span(&out, newline);
		buf_span(&out, newline);
	}
	buf_str(&out, list ? "[[" : "[");
	put_header_name(tree, place->parent, name, &out);
	buf_str(&out, list ? "]]" : "]");
	if (!toml_put_body(place, value, &out, err))
		return false;
	edits_add(edits, at, at, buf_view(&out));
	return true;
}

static bool toml_add_item(const struct structured_place *place, const json_t *value,
                     struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *item = tree_item(tree, place->parent, place->index);
	struct span newline = tree_newline(tree->text), none = { NULL, 0 };
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	uint32_t at;

	if (!item)
		return add_section(place, subtree_last(tree, &tree->nodes[place->parent->last]),
				   true,
		                   none, value, edits, err);
	if (!json_is_object(value))
		return err_set(err, ERR_INVALID_ARGUMENT,
			       "An item of an array of tables is an object.");
	at = tree_line_start(tree->text, item->entry.start);
	buf_str(&out, "[[");
	put_header_name(tree, place->parent, none, &out);
	buf_str(&out, "]]");
	if (!toml_put_body(place, value, &out, err))
		return false;
	buf_span(&out, newline);
	buf_span(&out, newline);
	edits_add(edits, at, at, buf_view(&out));
	return true;
}

/* The last key of the table that stands beneath its own header; NULL: none. */
static const struct structured_node *last_key(const struct structured *tree,
                                              const struct structured_node *table)
{
	const struct structured_node *last = NULL;
	const struct structured_node *node = structured_first(tree, table);

	for (; node; node = structured_next(tree, node))
		last = node->style == STYLE_BLOCK ? last : node;
	return last;
}

/* A line "key = value" in a table that has a header, or in the root. */
static bool toml_add_key(const struct structured_place *place, const json_t *value,
                    struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *root = structured_root(tree), *parent = place->parent;
	const struct structured_node *last = last_key(tree, parent), *header = NULL;
	struct span newline = tree_newline(tree->text), prefix = SPAN(""), colon = SPAN(" = ");
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	uint32_t at;

	if (last) {
		prefix = span_of(tree->text.data + last->entry.start,
		                 last->key.start - last->entry.start);
		colon = span_of(tree->text.data + last->key.end,
		                last->source.start - last->key.end);
		buf_span(&line, tree_indent(tree->text, last->entry.start));
	} else if (parent->flags & NODE_IMPLICIT) {
		header = first_header(tree, parent);
		if (!header)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The table has no place for the key. Edit the text.");
		buf_char(&line, '[');
		put_header_name(tree, parent, (struct span){ NULL, 0 }, &line);
		buf_char(&line, ']');
		buf_span(&line, newline);
	}
	buf_span(&line, prefix);
	toml_put_key(&line, place->name, SPAN(""), err);
	buf_span(&line, colon);
	if (!list_put(&toml_dialect, place, value, &line, err))
		return false;
	if (last || parent == root || !header) {
		at = last ? tree_line_end(tree->text, last->entry.end) :
		     parent == root ? root->entry.start : tree_line_end(tree->text,
		                                                        parent->source.start);
		buf_span(&out, !last && parent == root ? SPAN("") : newline);
		buf_span(&out, buf_view(&line));
		if (!last && parent == root) {
			buf_span(&out, newline);
			if (root->first)
				buf_span(&out, newline);
		}
	} else {
		at = tree_line_start(tree->text, header->entry.start);
		buf_span(&out, buf_view(&line));
		buf_span(&out, newline);
		buf_span(&out, newline);
	}
	edits_add(edits, at, at, buf_view(&out));
	return true;
}

static bool toml_add(const struct structured_place *place, const json_t *value,
                     struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *parent = place->parent;
	const bool table = json_is_object(value) && json_object_size(value);

	if (!toml_check(place, err))
		return false;
	if (parent->style == STYLE_FLOW)
		return list_add_entry(&toml_dialect, place, value, edits, err);
	if (parent->flags & NODE_REPEATED)
		return toml_add_item(place, value, edits, err);
	if (table && (parent == structured_root(tree) || first_header(tree, parent)))
		return add_section(place, parent == structured_root(tree) ?
		                   (uint32_t)span_trim(tree->text).len +
		                   (uint32_t)(span_trim(tree->text).data - tree->text.data) :
		                   subtree_last(tree, parent), false, place->name, value, edits,
					   err);
	return toml_add_key(place, value, edits, err);
}

/* The lines of a header and of what stands beneath it. */
static void remove_section(const struct structured *tree, const struct structured_node *node,
                           struct structured_edits *edits)
{
	uint32_t start = tree_line_start(tree->text, node->entry.start);
	uint32_t end = tree_line_next(tree->text, node->entry.end), next;

	while (end < tree->text.len && tree_line_end(tree->text, end) == end &&
	       (next = tree_line_next(tree->text, end)) > end)
		end = next;
	edits_add(edits, start, end, SPAN(""));
}

/* A table that only headers beneath it name gets one before the last of them goes. */
static void keep_parent(const struct structured_place *place, const struct structured_node *first,
                        struct structured_edits *edits)
{
	const struct structured *tree = place->tree;
	const uint32_t at = tree_line_start(tree->text, first->entry.start);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	if (!(place->parent->flags & NODE_IMPLICIT) || place->parent->count > 1)
		return;
	buf_char(&out, '[');
	put_header_name(tree, place->parent, (struct span){ NULL, 0 }, &out);
	buf_char(&out, ']');
	buf_span(&out, tree_newline(tree->text));
	edits_add(edits, at, at, buf_view(&out));
}

static bool toml_remove(const struct structured_place *place, struct structured_edits *edits,
                        struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *top = place->node, *node;
	bool header = false;

	if (!toml_check(place, err))
		return false;
	if (toml_in_flow(place))
		return list_remove_entry(&toml_dialect, place, edits, err);
	if (place->parent->flags & NODE_REPEATED && place->parent->count == 1)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "An array of tables cannot be empty: delete the array itself.");
	if (top->style != STYLE_BLOCK) {
		edits_add(edits, tree_line_start(tree->text, top->entry.start),
		          tree_line_next(tree->text, top->entry.end), SPAN(""));
		return true;
	}
	for (node = top; node; node = subtree_next(tree, top, node)) {
		if (!toml_has_header(tree, node))
			continue;
		if (!header)
			keep_parent(place, node, edits);
		header = true;
		remove_section(tree, node, edits);
	}
	for (node = top; node && !header; node = subtree_next(tree, top, node))
		if (node->style != STYLE_BLOCK && tree->nodes[node->parent].style == STYLE_BLOCK)
			edits_add(edits, tree_line_start(tree->text, node->entry.start),
			          tree_line_next(tree->text, node->entry.end), SPAN(""));
	return true;
}

static bool toml_rename(const struct structured_place *place, struct span name,
                        struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node;

	if (!toml_check(place, err))
		return false;
	if (node->flags & (NODE_REPEATED | NODE_IMPLICIT) ||
	    (node->style == STYLE_BLOCK && first_header(tree, node)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "Several headers or keys have this name in them. Edit the text.");
	return list_rename(&toml_dialect, place, name, edits, err);
}

const struct structured_writer toml_writer = { toml_replace, toml_add, toml_remove, toml_rename };
