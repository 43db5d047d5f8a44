/* SPDX-License-Identifier: Apache-2.0 */
/* XML changed: attributes in their tags, elements on separate lines where their neighbours have
 * such. */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/private.h"

struct xml_put {
	struct buf *out;
	struct span indent, unit, newline;
	bool spread;
	struct err *err;
};

/* ---- values ------------------------------------------------------------------------- */

json_t *xml_write_normal(json_t *value)
{
	json_t *copy;
	struct span text;

	if (json_is_string(value)) {
		text = span_trim(json_span(value));
		return text.len ? json_utf8(text) : json_null();
	}
	if (json_is_array(value)) {
		if (json_array_size(value) == 1)
			return xml_write_normal(json_array_get(value, 0));
		copy = json_array();
		for (size_t i = 0; i < json_array_size(value); i++)
			json_array_append_new(copy, xml_write_normal(json_array_get(value, i)));
		return copy;
	}
	if (!json_is_object(value))
		return json_incref(value);
	copy = json_object();
	for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
		const char *name = json_object_iter_key(at);
		json_t *member = json_object_iter_value(at);
		json_t *new = name[0] == '@' ? json_incref(member) : xml_write_normal(member);

		if ((json_is_array(new) && !json_array_size(new)) ||
		    (strcmp(name, "#text") == 0 && json_is_null(new)))
			json_decref(new);
		else
			json_object_set_new_nocheck(copy, name, new);
	}
	if (json_object_size(copy) > 1 || (json_object_size(copy) == 1 &&
	                                   !json_object_get(copy, "#text")))
		return copy;
	value = json_object_get(copy, "#text") ? json_incref(json_object_get(copy, "#text")) :
	                                         json_null();
	json_decref(copy);
	return value;
}

/* ---- text --------------------------------------------------------------------------- */

static bool xml_put_text(struct buf *out, struct span text, char quote, struct err *err)
{
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (c == '&')
			buf_str(out, "&amp;");
		else if (c == '<')
			buf_str(out, "&lt;");
		else if (c == '>' && !quote)
			buf_str(out, "&gt;");
		else if (quote && c == quote)
			buf_str(out, quote == '"' ? "&quot;" : "&apos;");
		else if (c == '\r' || (quote && (c == '\n' || c == '\t')))
			buf_printf(out, "&#%d;", c);
		else if ((unsigned char)c < ' ' && c != '\n' && c != '\t')
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "XML has no control characters but tab and line end.");
		else
			buf_char(out, c);
	}
	return true;
}

static bool xml_check_name(struct span name, struct err *err)
{
	return (name.len && xml_tree_name_end(name, 0) == name.len) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "\"%.*s\" is no name in XML.",
	               (int)span_head(name, 80).len, name.data);
}

static bool xml_put_attribute(struct buf *out, struct span name, const json_t *value,
                              struct err *err)
{
	name = span_skip(name, 1);
	if (!xml_check_name(name, err))
		return false;
	if (!json_is_string(value))
		return err_set(err, ERR_INVALID_ARGUMENT, "An attribute is a string or a number.");
	buf_char(out, ' ');
	buf_span(out, name);
	buf_str(out, "=\"");
	return xml_put_text(out, json_span(value), '"', err) && buf_char(out, '"');
}

static bool xml_put_element(struct xml_put *put, struct span name, json_t *value, unsigned depth);

static void xml_put_break(struct xml_put *put, unsigned depth)
{
	if (!put->spread)
		return;
	buf_span(put->out, put->newline);
	buf_span(put->out, put->indent);
	for (unsigned i = 0; i < depth; i++)
		buf_span(put->out, put->unit);
}

/* The elements in one: of an array each. */
static bool xml_put_members(struct xml_put *put, json_t *value, unsigned depth, size_t *count)
{
	for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at)) {
		struct span name = span_str(json_object_iter_key(at));
		json_t *member = json_object_iter_value(at);
		const bool list = json_is_array(member);

		if (name.len && (name.data[0] == '@' || name.data[0] == '#'))
			continue;
		for (size_t i = 0; i < (list ? json_array_size(member) : 1); i++) {
			xml_put_break(put, depth + 1);
			++*count;
			if (!xml_put_element(put, name, list ? json_array_get(member, i) : member,
			                     depth + 1))
				return false;
		}
	}
	return true;
}

static bool xml_put_element(struct xml_put *put, struct span name, json_t *value, unsigned depth)
{
	const json_t *text = json_is_object(value) ? json_object_get(value, "#text") : value;
	size_t count = 0;

	if (depth > JSON_DEPTH_MAX || json_is_array(value))
		return err_set(put->err, ERR_INVALID_ARGUMENT,
		               "XML has no arrays in arrays, or it is nested too deep.");
	if (!xml_check_name(name, put->err))
		return false;
	buf_char(put->out, '<');
	buf_span(put->out, name);
	for (void *at = json_object_iter(value); at; at = json_object_iter_next(value, at))
		if (json_object_iter_key(at)[0] == '@' &&
		    !xml_put_attribute(put->out, span_str(json_object_iter_key(at)),
		                       json_object_iter_value(at), put->err))
			return false;
	if (!json_is_string(text) && json_is_null(value))
		return buf_str(put->out, "/>");
	buf_char(put->out, '>');
	if (json_is_string(text) && !xml_put_text(put->out, json_span(text), '\0', put->err))
		return false;
	if (!xml_put_members(put, value, depth, &count))
		return false;
	if (count)
		xml_put_break(put, depth);
	buf_str(put->out, "</");
	buf_span(put->out, name);
	return buf_char(put->out, '>');
}

/* ---- places ------------------------------------------------------------------------- */

/* The content of an element: between its tags; *ret_empty: it is <name/>. */
static struct structured_range xml_content(const struct structured *tree,
                                           const struct structured_node *node, bool *ret_empty)
{
	const char *data = tree->text.data;
	uint32_t start = node->key.end, end = node->source.end;
	char quote = '\0';

	for (; data[start] != '>' || quote; start++) {
		if (quote)
			quote = data[start] == quote ? '\0' : quote;
		else if (data[start] == '"' || data[start] == '\'')
			quote = data[start];
	}
	*ret_empty = data[start - 1] == '/';
	if (*ret_empty)
		return (struct structured_range){ start - 1, start - 1 };
	while (data[end - 1] != '<')
		end--;
	return (struct structured_range){ start + 1, end - 1 };
}

static struct xml_put xml_put_at(const struct structured *tree, const struct structured_node *near,
                                 struct buf *out, struct err *err)
{
	return (struct xml_put){
		.out = out, .err = err, .indent = tree_indent(tree->text, near->entry.start),
		.unit = tree_indent_unit(tree), .newline = tree_newline(tree->text),
		.spread = tree_leads_line(tree->text, near->entry.start) && tree->text.len &&
		          memchr(tree->text.data, '\n', tree->text.len),
	};
}

static bool xml_is_leaf(const struct structured_node *node)
{
	return node->style == STYLE_ELEMENT && node->kind != STRUCTURED_OBJECT;
}

/* The last element in an element; NULL: there is none. */
static const struct structured_node *xml_last_element(const struct structured *tree,
                                                      const struct structured_node *node)
{
	const struct structured_node *last = NULL, *child, *item;

	for (child = structured_first(tree, node); child; child = structured_next(tree, child)) {
		item = child->flags & NODE_REPEATED ? &tree->nodes[child->last] : child;
		if (item->style == STYLE_ELEMENT &&
		    (!last || item->source.start > last->source.start))
			last = item;
	}
	return last;
}

/* ---- changes ------------------------------------------------------------------------ */

/* Puts text in place of an element's content. */
static bool xml_set_text(const struct structured *tree, const struct structured_node *node,
                         const json_t *value, struct structured_edits *edits, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct structured_range content;
	bool empty;

	content = xml_content(tree, node, &empty);
	if (empty)
		buf_char(&out, '>');
	if (!xml_put_text(&out, json_span(value), '\0', err))
		return false;
	if (!empty) {
		edits_add(edits, content.start, content.end, buf_view(&out));
		return true;
	}
	buf_str(&out, "</");
	buf_span(&out, structured_bytes(tree, node->key));
	buf_char(&out, '>');
	while (content.start && strchr(" \t\r\n", tree->text.data[content.start - 1]))
		content.start--;
	edits_add(edits, content.start, content.end + 2, buf_view(&out));
	return true;
}

static bool xml_replace_text(const struct structured_place *place, const json_t *value,
                             struct structured_edits *edits, struct err *err)
{
	const struct structured_node *node = place->node;
	const bool attribute = node->flags & NODE_ATTRIBUTE;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct structured_range range = node->source;
	struct span now, all;

	if (!json_is_string(value) && !(json_is_null(value) && !attribute))
		return err_set(err, ERR_INVALID_ARGUMENT,
			       "The value is a string or a number here.");
	if (node->flags & NODE_MIXED)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The text is in several pieces, between elements or comments. Edit "
		               "the file's text.");
	if (!xml_put_text(&out, json_span(value), attribute ?
	                  place->tree->text.data[range.start] : '\0', err))
		return false;
	if (attribute) {
		range.start++;
		range.end--;
	} else { /* white space around it stays */
		all = structured_bytes(place->tree, range);
		now = span_trim(all);
		range.start += (uint32_t)(now.data - all.data);
		range.end = range.start + (uint32_t)now.len;
	}
	edits_add(edits, range.start, range.end, buf_view(&out));
	return true;
}

static bool xml_replace(const struct structured_place *place, const json_t *value,
                        struct structured_edits *edits, struct err *err)
{
	const struct structured_node *node = place->node;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct xml_put put;

	if (!place->parent || node->flags & NODE_REPEATED)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%s is not replaced as a whole: change what is in it.",
		               place->parent ? "An array of elements" : "The document");
	if (node->style != STYLE_ELEMENT)
		return xml_replace_text(place, value, edits, err);
	if (xml_is_leaf(node) && json_is_string(value) && !(node->flags & NODE_MIXED))
		return xml_set_text(place->tree, node, value, edits, err);
	put = xml_put_at(place->tree, node, &out, err);
	if (!xml_put_element(&put, structured_bytes(place->tree, node->key), (json_t *)value, 0))
		return false;
	edits_add(edits, node->source.start, node->source.end, buf_view(&out));
	return true;
}

static bool xml_add_attribute(const struct structured_place *place, const json_t *value,
                              struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	uint32_t at = place->parent->key.end;

	for (const struct structured_node *child = structured_first(tree, place->parent); child;
	     child = structured_next(tree, child))
		at = child->flags & NODE_ATTRIBUTE ? child->entry.end : at;
	if (!xml_put_attribute(&out, place->name, value, err))
		return false;
	edits_add(edits, at, at, buf_view(&out));
	return true;
}

/* Puts the elements of `value` before or after one that is there. */
static bool xml_add_next_to(const struct structured *tree, const struct structured_node *near,
                           bool before, struct span name, const json_t *value,
                           struct structured_edits *edits, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct xml_put put = xml_put_at(tree, near, &out, err);
	const bool list = json_is_array(value);

	for (size_t i = 0; i < (list ? json_array_size(value) : 1); i++) {
		if (!before)
			xml_put_break(&put, 0);
		if (!xml_put_element(&put, name, list ? json_array_get(value, i) :
		                                        (json_t *)value, 0))
			return false;
		if (before)
			xml_put_break(&put, 0);
	}
	edits_add(edits, before ? near->source.start : near->source.end,
	          before ? near->source.start : near->source.end, buf_view(&out));
	return true;
}

/* The first element in one that has none. */
static bool xml_add_inside(const struct structured_place *place, const json_t *value,
                           struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct xml_put put = xml_put_at(tree, place->parent, &out, err);
	struct structured_range content;
	const bool list = json_is_array(value);
	bool empty, blank;

	content = xml_content(tree, place->parent, &empty);
	blank = span_is_blank(structured_bytes(tree, content));
	put.spread = put.spread && blank;
	if (empty)
		buf_char(&out, '>');
	for (size_t i = 0; i < (list ? json_array_size(value) : 1); i++) {
		xml_put_break(&put, 1);
		if (!xml_put_element(&put, place->name, list ? json_array_get(value, i) :
		                                               (json_t *)value, 1))
			return false;
	}
	xml_put_break(&put, 0);
	if (empty) {
		buf_str(&out, "</");
		buf_span(&out, structured_bytes(tree, place->parent->key));
		buf_char(&out, '>');
		while (strchr(" \t\r\n", tree->text.data[content.start - 1]))
			content.start--;
		content.end += 2;
	} else if (!blank) {
		content.start = content.end;
	}
	edits_add(edits, content.start, content.end, buf_view(&out));
	return true;
}

static bool xml_add(const struct structured_place *place, const json_t *value,
                    struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *near;

	if (place->node) /* append or insert next to a single element */
		return xml_add_next_to(tree, place->node, place->index == UINT32_MAX,
		                      structured_bytes(tree, place->node->key), value, edits, err);
	if (place->parent == structured_root(tree))
		return err_set(err, ERR_INVALID_ARGUMENT, "XML has one root element.");
	if (place->parent->flags & NODE_REPEATED) {
		near = tree_item(tree, place->parent, place->index);
		return xml_add_next_to(tree, near ? near : &tree->nodes[place->parent->last], near,
		                      structured_name(tree, place->parent), value, edits, err);
	}
	if (place->name.len && place->name.data[0] == '@')
		return xml_add_attribute(place, value, edits, err);
	near = xml_last_element(tree, place->parent);
	if (span_eq(place->name, SPAN("#text")))
		return near ? err_set(err, ERR_INVALID_ARGUMENT,
		                      "Text between elements is not added here. Edit the file's "
		                      "text.") :
		              xml_set_text(tree, place->parent, value, edits, err);
	return near ? xml_add_next_to(tree, near, false, place->name, value, edits, err) :
	              xml_add_inside(place, value, edits, err);
}

/* An element, with its line if nothing else is on that. */
static void xml_remove_element(struct span text, const struct structured_node *node,
                               struct structured_edits *edits)
{
	uint32_t start = node->source.start, end = node->source.end;
	const uint32_t line = tree_skip_blanks(text, end, (uint32_t)text.len);

	if (tree_leads_line(text, start) && line == tree_line_end(text, end)) {
		start = tree_line_start(text, start);
		end = tree_line_next(text, end);
	}
	edits_add(edits, start, end, SPAN(""));
}

static bool xml_remove(const struct structured_place *place, struct structured_edits *edits,
                       struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node, *item;
	uint32_t start = node->entry.start;

	if (!place->parent || place->parent == structured_root(tree))
		return err_set(err, ERR_INVALID_ARGUMENT, "The root element cannot be deleted.");
	if (node->flags & NODE_MIXED)
		return err_set(err, ERR_INVALID_ARGUMENT,
			       "The text is in several pieces. Edit it.");
	if (node->flags & NODE_ATTRIBUTE) {
		while (strchr(" \t\r\n", tree->text.data[start - 1]))
			start--;
		edits_add(edits, start, node->entry.end, SPAN(""));
	} else if (node->flags & NODE_REPEATED) {
		for (item = structured_first(tree, node); item; item = structured_next(tree, item))
			xml_remove_element(tree->text, item, edits);
	} else if (node->style == STYLE_ELEMENT) {
		xml_remove_element(tree->text, node, edits);
	} else {
		edits_add(edits, node->source.start, node->source.end, SPAN(""));
	}
	return true;
}

static void xml_rename_element(const struct structured *tree, const struct structured_node *node,
                               struct span name, struct structured_edits *edits)
{
	struct structured_range content;
	bool empty;

	content = xml_content(tree, node, &empty);
	edits_add(edits, node->key.start, node->key.end, name);
	if (!empty)
		edits_add(edits, content.end + 2,
		          content.end + 2 + (node->key.end - node->key.start), name);
}

static bool xml_rename(const struct structured_place *place, struct span name,
                       struct structured_edits *edits, struct err *err)
{
	const struct structured_node *node = place->node, *item;
	const bool attribute = node->flags & NODE_ATTRIBUTE;

	if (attribute != span_starts(name, SPAN("@")) ||
	    (!attribute && node->style != STYLE_ELEMENT && !(node->flags & NODE_REPEATED)))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "An attribute (\"@name\") stays one; text has no name.");
	if (!xml_check_name(span_skip(name, attribute), err))
		return false;
	if (attribute) {
		edits_add(edits, node->key.start, node->key.end, span_skip(name, 1));
	} else if (node->flags & NODE_REPEATED) {
		for (item = structured_first(place->tree, node); item;
		     item = structured_next(place->tree, item))
			xml_rename_element(place->tree, item, name, edits);
	} else {
		xml_rename_element(place->tree, node, name, edits);
	}
	return true;
}

const struct structured_writer xml_writer = { xml_replace, xml_add, xml_remove, xml_rename };
