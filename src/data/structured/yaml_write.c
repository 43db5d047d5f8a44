/* SPDX-License-Identifier: Apache-2.0 */
/* YAML changed: block collections by lines and indentation, flow collections as lists in brackets.
 *
 * New strings are quoted as what they replace is, and otherwise only where YAML 1.1 or 1.2 would
 * read something else.
 */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/list.h"
#include "data/structured/private.h"

/* ---- scalars ------------------------------------------------------------------------ */

static bool char_is_printable(uint32_t code)
{
	return (code >= 0x20 && code < 0x7F) || (code >= 0xA0 && code != 0x2028 &&
	       code != 0x2029 && code != 0xFEFF && code < 0xFFFE) || code > 0xFFFF;
}

static void put_double(struct buf *out, struct span text)
{
	struct utf8_char c;

	buf_char(out, '"');
	while (utf8_next(&text, &c)) {
		if (c.code == '"' || c.code == '\\')
			buf_printf(out, "\\%c", (char)c.code);
		else if (c.code == '\n' || c.code == '\t' || c.code == '\r')
			buf_printf(out, "\\%c", c.code == '\n' ? 'n' : c.code == '\t' ? 't' : 'r');
		else if (!char_is_printable(c.code))
			buf_printf(out, "\\u%04X", (unsigned)c.code);
		else
			buf_span(out, c.bytes);
	}
	buf_char(out, '"');
}

static bool text_is_printable(struct span text)
{
	struct utf8_char c;

	while (utf8_next(&text, &c))
		if (!char_is_printable(c.code))
			return false;
	return true;
}

static void put_single(struct buf *out, struct span text)
{
	buf_char(out, '\'');
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\'')
			buf_char(out, '\'');
		buf_char(out, text.data[i]);
	}
	buf_char(out, '\'');
}

/* Whether YAML 1.1 reads something but a string: yes, 12:30, 0b1, 2024-01-31. */
static bool plain_is_old_scalar(struct span text)
{
	static const char *const words[] = { "y", "n", "yes", "no", "on", "off", "true", "false",
		                             "null", "=", "<<", NULL };
	char lower[8] = "";

	for (size_t i = 0; i < text.len && text.len < sizeof(lower); i++)
		lower[i] = (char)(text.data[i] | (ascii_is_letter((unsigned char)text.data[i]) ?
		                                          0x20 : 0));
	return text_listed(words, lower) || ascii_is_digit((unsigned char)text.data[0]) ||
	       strchr("+-.", text.data[0]);
}

/* A number that both versions read as a string needs no quotation marks, but gets them: "1.2.3",
 * "10px" are plain by custom. */
static bool plain_is_mere_word(struct span text)
{
	bool letter = false;

	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (c == ':' || c == '_' || c == '+')
			return false;
		letter = letter || (ascii_is_letter((unsigned char)c) &&
				    !strchr("eExXoObBTtZz", c));
	}
	return letter;
}

static bool plain_is_safe(struct span text)
{
	if (!text.len || strchr("-?:,[]{}#&*!|>'\"%@` \t=<", text.data[0]) ||
	    strchr(" \t:", text.data[text.len - 1]) || span_starts(text, SPAN("...")) ||
	    memmem(text.data, text.len, ": ", 2) || memmem(text.data, text.len, " #", 2) ||
	    !text_is_printable(text) || yaml_tree_kind(text) != STRUCTURED_STRING)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (strchr(",[]{}", text.data[i]))
			return false;
	return !plain_is_old_scalar(text) ||
	       (ascii_is_digit((unsigned char)text.data[0]) && plain_is_mere_word(text));
}

static bool yaml_put_text(struct buf *out, struct span text, struct span near)
{
	const char quote = near.len ? near.data[0] : '\0';

	if (quote == '\'' && text_is_printable(text))
		put_single(out, text);
	else if (quote != '"' && plain_is_safe(text))
		buf_span(out, text);
	else if (quote != '"' && quote && quote != '\'' && text_is_printable(text) &&
	         !memchr(text.data, '\'', text.len) && text.len &&
	         memchr(text.data, '"', text.len))
		put_single(out, text);
	else
		put_double(out, text);
	return true;
}

static bool yaml_put_number(struct buf *out, const json_t *value)
{
	_cleanup_buf_ struct buf text = BUF_INIT(100);
	const char *e;

	json_print(&text, value, 0);
	e = json_is_real(value) ? strchr(text.data, 'e') : NULL;
	if (!e)
		return buf_span(out, buf_view(&text));
	buf_append(out, text.data, (size_t)(e - text.data));
	if (!memchr(text.data, '.', (size_t)(e - text.data)))
		buf_str(out, ".0");
	buf_char(out, 'e');
	if (e[1] != '-' && e[1] != '+')
		buf_char(out, '+');
	return buf_str(out, e + 1);
}

static bool yaml_put_scalar(struct buf *out, const json_t *value, struct span near,
                            struct err *err)
{
	(void)err;
	if (json_is_string(value))
		return yaml_put_text(out, json_span(value), near);
	if (json_is_number(value))
		return yaml_put_number(out, value);
	return json_print(out, value, 0);
}

static bool yaml_put_key(struct buf *out, struct span name, struct span near, struct err *err)
{
	(void)err;
	return yaml_put_text(out, name, near);
}

static const struct list_dialect yaml_flow = {
	.comments = LIST_HASH,
	.colon = ":",
	.gap = ": ",
	.put_scalar = yaml_put_scalar,
	.put_key = yaml_put_key,
};

/* ---- block collections, as text ----------------------------------------------------- */

struct yaml_put {
	const struct structured_place *place;
	struct span newline, near, near_key;
	size_t unit;
	bool dashes_in; /* a sequence in a mapping is indented */
	struct buf *out;
	struct err *err;
};

static void put_spaces(struct buf *out, size_t count)
{
	while (count--)
		buf_char(out, ' ');
}

static bool yaml_is_empty(const json_t *value)
{
	return !json_array_size(value) && !json_object_size(value);
}

static bool yaml_is_block(const json_t *value)
{
	return (json_is_object(value) || json_is_array(value)) && !yaml_is_empty(value);
}

static bool put_block(struct yaml_put *put, const json_t *value, size_t column, unsigned depth);

/* A text of several lines as "|", if that can hold it. */
static bool put_literal(struct yaml_put *put, const json_t *value, size_t column)
{
	struct span text = json_span(value), line;
	const bool ends = span_ends(text, SPAN("\n"));

	if (!json_is_string(value) || !memchr(text.data, '\n', text.len) || text.data[0] == ' ' ||
	    text.data[0] == '\n' || text.data[0] == '\t' || span_ends(text, SPAN("\n\n")) ||
	    (put->near.len && strchr("'\"", put->near.data[0])))
		return false;
	for (struct span rest = text; line_next(&rest, &line);)
		if (!text_is_printable(line_body(line)) || span_ends(line, SPAN("\r\n")))
			return false;
	buf_str(put->out, ends ? "|" : "|-");
	while (line_next(&text, &line)) {
		buf_span(put->out, put->newline);
		if (line_body(line).len)
			put_spaces(put->out, column);
		buf_span(put->out, line_body(line));
	}
	return true;
}

/* What follows a key's colon (`in_key`) or a dash; `column` is that of the key or the dash. */
static bool put_after(struct yaml_put *put, const json_t *value, size_t column, bool in_key,
                      unsigned depth)
{
	size_t inner = in_key ? column + put->unit : column + 2;

	if (!yaml_is_block(value)) {
		buf_char(put->out, ' ');
		return put_literal(put, value, column + put->unit) ||
		       (yaml_is_empty(value) && (json_is_array(value) || json_is_object(value)) ?
		                buf_str(put->out, json_is_array(value) ? "[]" : "{}") :
		                yaml_put_scalar(put->out, value, put->near, put->err));
	}
	if (in_key && json_is_array(value) && !put->dashes_in)
		inner = column;
	if (in_key) {
		buf_span(put->out, put->newline);
		put_spaces(put->out, inner);
	} else {
		buf_char(put->out, ' ');
	}
	return put_block(put, value, inner, depth + 1);
}

/* A collection with entries, the first one at the end of `out`, the others at `column`. */
static bool put_block(struct yaml_put *put, const json_t *value, size_t column, unsigned depth)
{
	bool first = true;

	if (depth > JSON_DEPTH_MAX)
		return err_set(put->err, ERR_INVALID_ARGUMENT, "The value is nested too deep.");
	for (size_t i = 0; i < json_array_size(value); i++) {
		if (i) {
			buf_span(put->out, put->newline);
			put_spaces(put->out, column);
		}
		buf_char(put->out, '-');
		if (!put_after(put, json_array_get(value, i), column, false, depth))
			return false;
	}
	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at)) {
		if (!first) {
			buf_span(put->out, put->newline);
			put_spaces(put->out, column);
		}
		first = false;
		yaml_put_text(put->out, span_of(json_object_iter_key(at),
						json_object_iter_key_len(at)),
		         put->near_key);
		buf_char(put->out, ':');
		if (!put_after(put, json_object_iter_value(at), column, true, depth))
			return false;
	}
	return true;
}

/* ---- places ------------------------------------------------------------------------- */

static size_t yaml_column(struct span text, uint32_t at)
{
	return at - tree_line_start(text, at);
}

/* Of the file's first sequence in a mapping. */
static bool dashes_are_in(const struct structured *tree)
{
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct structured_node *node = &tree->nodes[i];

		if (node->kind == STRUCTURED_ARRAY && node->style == STYLE_BLOCK &&
		    node->key.end && tree_leads_line(tree->text, node->source.start))
			return yaml_column(tree->text, node->source.start) >
			       yaml_column(tree->text, node->key.start);
	}
	return true;
}

/* By how much a mapping in a mapping is indented. */
static size_t mapping_unit(const struct structured *tree)
{
	for (uint32_t i = 1; i < tree->count; i++) {
		const struct structured_node *node = &tree->nodes[i];
		size_t inner, outer;

		if (node->style != STYLE_BLOCK || !node->key.end ||
		    (node->kind != STRUCTURED_OBJECT && node->kind != STRUCTURED_ARRAY) ||
		    !tree_leads_line(tree->text, node->source.start))
			continue;
		inner = yaml_column(tree->text, node->source.start);
		outer = yaml_column(tree->text, node->key.start);
		if (inner > outer)
			return inner - outer;
	}
	return 2;
}

static struct yaml_put put_at(const struct structured_place *place, struct buf *out,
                              struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *near = place->node;

	if (!near && place->parent)
		near = place->parent->kind == STRUCTURED_ARRAY && place->index ?
		               tree_item(tree, place->parent, place->index - 1) :
		               structured_first(tree, place->parent);
	return (struct yaml_put){
		.place = place, .newline = tree_newline(tree->text), .unit = mapping_unit(tree),
		.dashes_in = dashes_are_in(tree), .out = out, .err = err,
		.near = near ? structured_bytes(tree, near->source) : SPAN(""),
		.near_key = near ? structured_bytes(tree, near->key) : SPAN(""),
	};
}

static bool in_flow(const struct structured_place *place)
{
	return place->parent && place->parent->style == STYLE_FLOW;
}

/* Where the value of a block entry may begin: after its colon or dash, and anchor and tag. */
static uint32_t value_slot(const struct structured *tree, const struct structured_node *node)
{
	uint32_t at = node->entry.start;

	if (node == tree->nodes || tree->nodes[node->parent].flags & NODE_DOCUMENTS)
		return node->source.start;
	if (node->key.end > node->key.start) {
		at = yaml_tree_skip(tree->text, node->key.end);
		at += at < tree->text.len && tree->text.data[at] == ':';
	} else if (at < tree->text.len && tree->text.data[at] == '-') {
		at++;
	}
	if (node->flags & (NODE_ANCHORED | NODE_TAGGED))
		at = yaml_tree_properties(tree->text, at);
	return at < node->source.start ? at : node->source.start;
}

static bool slot_is_bare(struct span text, uint32_t start, uint32_t end)
{
	return span_is_blank(span_of(text.data + start, end - start));
}

/* Column of the key or dash that the node's entry begins with; its value is deeper. */
static size_t entry_column(const struct structured *tree, const struct structured_node *node)
{
	return yaml_column(tree->text, node->entry.start);
}

static bool yaml_is_root(const struct structured *tree, const struct structured_node *node)
{
	return node == tree->nodes || tree->nodes[node->parent].flags & NODE_DOCUMENTS;
}

/* ---- changes ------------------------------------------------------------------------ */

static bool yaml_block_replace(const struct structured_place *place, const json_t *value,
                          struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node;
	const uint32_t slot = value_slot(tree, node), end = node->source.end;
	const bool bare = slot_is_bare(tree->text, slot, node->source.start);
	const bool key = node->key.end > node->key.start;
	const bool was_block = node->style == STYLE_BLOCK && node->count;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct yaml_put put = put_at(place, &out, err);
	uint32_t line = tree_line_end(tree->text, end);

	if (yaml_is_root(tree, node)) {
		if (!(yaml_is_block(value) ? put_block(&put, value, 0, 0) :
		                        list_put(&yaml_flow, place, value, &out, err)))
			return false;
		edits_add(edits, node->source.start, end, buf_view(&out));
		return true;
	}
	if (!bare) { /* comments between: the value takes its lines */
		const size_t column = yaml_column(tree->text, node->source.start);
		const size_t deep = key && column <= entry_column(tree, node) ? put.unit : 0;

		put_spaces(&out, deep);
		if (!(yaml_is_block(value) ? put_block(&put, value, column + deep, 0) :
		                        list_put(&yaml_flow, place, value, &out, err)))
			return false;
		edits_add(edits, node->source.start, end, buf_view(&out));
		return true;
	}
	if (!put_after(&put, value, entry_column(tree, node), key, 0))
		return false;
	if (was_block || !(yaml_is_block(value) || memchr(out.data, '\n', out.len)) ||
	    slot_is_bare(tree->text, end, line)) {
		edits_add(edits, slot, end, buf_view(&out));
		return true;
	}
	/* A comment ends the line: it stays there, before the new lines. */
	if (!key || out.data[0] == ' ')
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A comment follows the value on its line; a value of several lines "
		               "cannot take its place. Edit the text.");
	edits_add(edits, slot, end, SPAN(""));
	edits_add(edits, line, line, buf_view(&out));
	return true;
}

static bool yaml_replace(const struct structured_place *place, const json_t *value,
                         struct structured_edits *edits, struct err *err)
{
	return in_flow(place) ? list_replace(&yaml_flow, place, value, edits, err) :
	                        yaml_block_replace(place, value, edits, err);
}

/* The new entry, as it stands at `column`. */
static bool put_block_entry(const struct structured_place *place, const json_t *value,
                            size_t column, struct buf *out, struct err *err)
{
	struct yaml_put put = put_at(place, out, err);
	const bool key = place->parent->kind == STRUCTURED_OBJECT;

	if (key)
		yaml_put_text(out, place->name, put.near_key);
	buf_char(out, key ? ':' : '-');
	return put_after(&put, value, column, key, 0);
}

static bool yaml_add(const struct structured_place *place, const json_t *value,
                     struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *parent = place->parent, *first, *before;
	const bool front = parent->kind == STRUCTURED_ARRAY && place->index == 0;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	size_t column;
	uint32_t at;

	if (parent->style == STYLE_FLOW)
		return list_add_entry(&yaml_flow, place, value, edits, err);
	if (parent->flags & NODE_DOCUMENTS)
		return err_set(err, ERR_INVALID_ARGUMENT, "Documents are not added here.");
	first = structured_first(tree, parent);
	column = yaml_column(tree->text, first->entry.start);
	if (front) {
		if (!put_block_entry(place, value, column, &out, err))
			return false;
		buf_span(&out, tree_newline(tree->text));
		put_spaces(&out, column);
		edits_add(edits, first->entry.start, first->entry.start, buf_view(&out));
		return true;
	}
	before = parent->kind == STRUCTURED_OBJECT ? &tree->nodes[parent->last] :
	                                             tree_item(tree, parent, place->index - 1);
	at = tree_line_end(tree->text, before->entry.end);
	buf_span(&out, tree_newline(tree->text));
	put_spaces(&out, column);
	if (!put_block_entry(place, value, column, &out, err))
		return false;
	edits_add(edits, at, at, buf_view(&out));
	return true;
}

/* The only entry: {} or [] remains. */
static void block_empty(const struct structured_place *place, struct structured_edits *edits)
{
	const struct structured *tree = place->tree;
	const struct structured_node *parent = place->parent;
	const uint32_t slot = value_slot(tree, parent);
	const bool object = parent->kind == STRUCTURED_OBJECT;

	if (!yaml_is_root(tree, parent) && slot_is_bare(tree->text, slot, parent->source.start))
		edits_add(edits, slot, parent->source.end, object ? SPAN(" {}") : SPAN(" []"));
	else if (!yaml_is_root(tree, parent) && parent->key.end &&
	         yaml_column(tree->text, parent->source.start) <= entry_column(tree, parent))
		edits_add(edits, parent->source.start, parent->source.end,
		          object ? SPAN("  {}") : SPAN("  []"));
	else
		edits_add(edits, parent->source.start, parent->source.end,
		          object ? SPAN("{}") : SPAN("[]"));
}

static bool yaml_remove(const struct structured_place *place, struct structured_edits *edits,
                        struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node, *next = structured_next(tree, node);
	const uint32_t start = node->entry.start, end = node->entry.end;

	if (in_flow(place))
		return list_remove_entry(&yaml_flow, place, edits, err);
	if (!place->parent || place->parent->flags & NODE_DOCUMENTS)
		return err_set(err, ERR_INVALID_ARGUMENT, "A document is not deleted here.");
	if (place->parent->count == 1)
		block_empty(place, edits);
	else if (tree_leads_line(tree->text, start))
		edits_add(edits, tree_line_start(tree->text, start),
		          tree_line_next(tree->text, end), SPAN(""));
	else if (next && slot_is_bare(tree->text, end, next->entry.start))
		edits_add(edits, start, next->entry.start, SPAN(""));
	else
		edits_add(edits, start, end, SPAN(""));
	return true;
}

static bool yaml_rename(const struct structured_place *place, struct span name,
                        struct structured_edits *edits, struct err *err)
{
	return list_rename(&yaml_flow, place, name, edits, err);
}

const struct structured_writer yaml_writer = { yaml_replace, yaml_add, yaml_remove, yaml_rename };
