/* SPDX-License-Identifier: Apache-2.0 */
/* CSV (RFC 4180) and TSV: the first row names the columns of the others.
 *
 * Deviations, as in Python's csv: a quotation mark inside a field without them is a character; a
 * row
 * may have fewer fields than the first, or more, which are called "column N"; empty lines are none.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/structured/private.h"

/* Columns that are read. */
enum { CSV_COLUMNS_MAX = 16384 };

struct csv_reader {
	struct structured *tree;
	struct span text;
	uint32_t at;
	char comma;
	size_t decoded; /* bytes in tree->decoded before the last row */
	struct err *err;
};

struct csv_column {
	uint32_t name, len;
	uint16_t flags;
};

/* ---- reading ------------------------------------------------------------------------ */

static bool csv_at_end(const struct csv_reader *reader)
{
	return reader->at >= reader->text.len || reader->text.data[reader->at] == '\n' ||
	       reader->text.data[reader->at] == '\r';
}

/* Past one line end. */
static void csv_end_line(struct csv_reader *reader)
{
	if (reader->at < reader->text.len && reader->text.data[reader->at] == '\r')
		reader->at++;
	if (reader->at < reader->text.len && reader->text.data[reader->at] == '\n')
		reader->at++;
}

/* The field at reader->at; *ret_doubled: it has "" in it. */
static bool csv_field(struct csv_reader *reader, struct structured_range *ret, bool *ret_doubled)
{
	const char *data = reader->text.data;
	const uint32_t end = (uint32_t)reader->text.len;

	*ret = (struct structured_range){ reader->at, reader->at };
	*ret_doubled = false;
	if (csv_at_end(reader) || data[reader->at] != '"') {
		while (!csv_at_end(reader) && data[reader->at] != reader->comma)
			reader->at++;
		ret->end = reader->at;
		return true;
	}
	for (reader->at++; reader->at < end; reader->at++) {
		if (data[reader->at] != '"')
			continue;
		if (reader->at + 1 >= end || data[reader->at + 1] != '"')
			break;
		*ret_doubled = true;
		reader->at++;
	}
	if (reader->at >= end)
		return tree_refuse(reader->tree, ret->start, "a quoted field without an end",
		                   reader->err);
	ret->end = ++reader->at;
	return csv_at_end(reader) || data[reader->at] == reader->comma ||
	       tree_refuse(reader->tree, reader->at, "something follows a quoted field",
	                   reader->err);
}

typedef bool csv_decoded(struct structured *tree, uint32_t node, struct span text,
                         struct err *err);
typedef void csv_range(struct structured *tree, uint32_t node, uint32_t start, uint32_t end);

static bool csv_take(struct csv_reader *reader, uint32_t node, struct structured_range field,
                     bool doubled, csv_range *range, csv_decoded *decoded)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	const bool quoted = field.end > field.start && reader->text.data[field.start] == '"';

	if (!doubled) {
		range(reader->tree, node, field.start + quoted, field.end - quoted);
		return true;
	}
	for (uint32_t i = field.start + 1; i < field.end - 1; i++) {
		buf_char(&plain, reader->text.data[i]);
		i += reader->text.data[i] == '"';
	}
	return decoded(reader->tree, node, buf_view(&plain), reader->err);
}

/* The names of the first row, through the root, whose name each is for a moment. */
static bool csv_header(struct csv_reader *reader, struct csv_column *columns, size_t *ret_count)
{
	struct structured_node *root = &reader->tree->nodes[0];
	struct structured_range field;
	bool doubled;

	root->key.start = reader->at;
	for (*ret_count = 0;; reader->at++) {
		if (!csv_field(reader, &field, &doubled))
			return false;
		if (*ret_count == CSV_COLUMNS_MAX)
			return tree_refuse(reader->tree, field.start, "too many columns",
			                   reader->err);
		root->flags = 0;
		if (!csv_take(reader, 0, field, doubled, tree_name_range, tree_name_decoded))
			return false;
		columns[(*ret_count)++] = (struct csv_column){ root->name, root->name_len,
			                                       root->flags };
		if (csv_at_end(reader))
			break;
	}
	root->key.end = reader->at;
	root->name = root->name_len = 0;
	root->flags = 0;
	csv_end_line(reader);
	return true;
}

static bool csv_member(struct csv_reader *reader, uint32_t row, const struct csv_column *column,
                       uint32_t number)
{
	const uint32_t node = tree_add(reader->tree, row, STRUCTURED_STRING, reader->err);
	_cleanup_buf_ struct buf name = BUF_INIT(32);
	struct structured_range field;
	struct structured_node *it;
	bool doubled;

	if (node == UINT32_MAX || !csv_field(reader, &field, &doubled))
		return false;
	it = &reader->tree->nodes[node];
	it->source = it->entry = field;
	it->style = field.end > field.start && reader->text.data[field.start] == '"' ?
	                    STYLE_DOUBLE : STYLE_PLAIN;
	if (column) {
		it->name = column->name;
		it->name_len = column->len;
		it->flags |= column->flags;
	} else {
		buf_printf(&name, "column %u", number);
		if (!tree_name_decoded(reader->tree, node, buf_view(&name), reader->err))
			return false;
	}
	return csv_take(reader, node, field, doubled, tree_text_range, tree_text_decoded);
}

/* A change needs the fields of its row, of those next to it, and of the last one: drops the fields
 * of the row before the one that begins, if it is none of these. */
static void csv_drop_fields(struct csv_reader *reader)
{
	struct structured *tree = reader->tree;
	const struct structured_steps *along = tree->along;
	const struct structured_node *root = structured_root(tree);
	const long before = (long)root->count - 1;

	if (!along || before < 0 || (along->count && along->items[0].index < 0) ||
	    (along->count && labs(along->items[0].index - before) <= 1))
		return;
	tree_drop(tree, root->last, 0, root->last + 1, reader->decoded);
}

static bool csv_row(struct csv_reader *reader, const struct csv_column *columns, size_t count)
{
	const uint32_t start = reader->at;
	uint32_t row;

	csv_drop_fields(reader);
	row = tree_add(reader->tree, 0, STRUCTURED_OBJECT, reader->err);
	if (row == UINT32_MAX)
		return false;
	reader->decoded = reader->tree->decoded.len;
	for (uint32_t i = 0;; reader->at++, i++) {
		if (!csv_member(reader, row, i < count ? &columns[i] : NULL, i + 1))
			return false;
		if (csv_at_end(reader))
			break;
	}
	reader->tree->nodes[row].style = STYLE_BLOCK;
	reader->tree->nodes[row].source = (struct structured_range){ start, reader->at };
	reader->tree->nodes[row].entry = reader->tree->nodes[row].source;
	csv_end_line(reader);
	return true;
}

static char csv_comma(const struct structured *tree, uint32_t at)
{
	const uint32_t end = tree_line_end(tree->text, at);
	struct span line = span_of(tree->text.data + at, end - at);

	if (tree->format == STRUCTURED_TSV)
		return '\t';
	return !line.len || memchr(line.data, ',', line.len) || !memchr(line.data, ';', line.len) ?
	               ',' : ';';
}

bool csv_tree_read(struct structured *tree, uint32_t at, struct err *err)
{
	_cleanup_free_ struct csv_column *columns = mem_alloc(CSV_COLUMNS_MAX, sizeof(*columns));
	struct csv_reader reader = { .tree = tree, .text = tree->text, .at = at, .err = err,
	                             .comma = csv_comma(tree, at) };
	size_t count = 0;

	tree_add(tree, 0, STRUCTURED_ARRAY, err);
	tree->nodes[0].style = STYLE_BLOCK;
	tree->nodes[0].source = (struct structured_range){ at, (uint32_t)tree->text.len };
	tree->nodes[0].entry = tree->nodes[0].source;
	if (at == tree->text.len)
		return true;
	if (!csv_header(&reader, columns, &count))
		return false;
	while (reader.at < tree->text.len) {
		if (csv_at_end(&reader))
			csv_end_line(&reader);
		else if (!csv_row(&reader, columns, count))
			return false;
	}
	return true;
}

/* ---- the first row, when a change needs it ------------------------------------------ */

/* The names of the columns, an array of strings. */
static json_t *csv_names(const struct structured *tree)
{
	const struct structured_node *root = structured_root(tree);
	struct structured scratch = { .format = tree->format, .label = tree->label,
		                      .text = structured_bytes(tree, root->key),
		                      .decoded = BUF_INIT(LIMIT_STRUCTURED_BYTES) };
	struct csv_reader reader = { .tree = &scratch, .text = scratch.text };
	struct err ignored = ERR_INIT;
	json_t *names = json_array();

	reader.comma = csv_comma(tree, root->key.start);
	reader.err = &ignored;
	tree_add(&scratch, 0, STRUCTURED_OBJECT, &ignored);
	for (uint32_t i = 0; root->key.end; reader.at++, i++) {
		if (!csv_member(&reader, 0, NULL, i))
			break;
		json_array_append_new(names, json_utf8(structured_text(&scratch,
		                                                       &scratch.nodes[i + 1])));
		if (reader.at >= scratch.text.len)
			break;
	}
	structured_release(&scratch);
	return names;
}

bool csv_tree_row(const struct structured *tree, const json_t *value, json_t **ret,
                  struct err *err)
{
	json_t *names = csv_names(tree), *row = json_object();
	bool ok = json_is_object(value) && json_array_size(names);
	size_t found = 0;

	for (size_t i = 0; ok && i < json_array_size(names); i++) {
		const char *name = json_string_value(json_array_get(names, i));
		json_t *field = json_object_get(value, name);

		found += field != NULL;
		json_object_set_new(row, name, field ? json_incref(field) : json_string(""));
	}
	ok = ok && found == json_object_size(value) &&
	     json_object_size(row) == json_array_size(names);
	json_decref(names);
	if (ok) {
		*ret = row;
		return true;
	}
	json_decref(row);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "A row is an object with the names of the first row, each of which is there "
	               "once.");
}

/* ---- writing ------------------------------------------------------------------------ */

static bool csv_put(struct buf *out, const json_t *value, char comma, bool quoted, struct err *err)
{
	struct span text = json_span(value);

	if (!json_is_string(value))
		return err_set(err, ERR_INVALID_ARGUMENT, "A field is a string or a number.");
	for (size_t i = 0; i < text.len; i++)
		quoted = quoted || strchr("\"\r\n", text.data[i]) || text.data[i] == comma;
	quoted = quoted || (text.len && (strchr(" \t", text.data[0]) ||
	                                 strchr(" \t", text.data[text.len - 1])));
	if (!quoted)
		return buf_span(out, text);
	buf_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '"')
			buf_char(out, '"');
		buf_char(out, text.data[i]);
	}
	return buf_char(out, '"');
}

/* A row, quoted as `like`, a neighbour or NULL, is. */
static bool csv_put_row(struct buf *out, const json_t *value, const struct structured *tree,
                        const struct structured_node *like, struct err *err)
{
	const char comma = csv_comma(tree, structured_root(tree)->key.start);
	const struct structured_node *near = like ? structured_first(tree, like) : NULL;
	const size_t start = out->len;
	bool first = true;

	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at)) {
		if (!first)
			buf_char(out, comma);
		first = false;
		if (!csv_put(out, json_object_iter_value(at), comma,
		             near && near->style == STYLE_DOUBLE, err))
			return false;
		near = near ? structured_next(tree, near) : NULL;
	}
	return out->len > start || buf_str(out, "\"\"");
}

static bool csv_replace(const struct structured_place *place, const json_t *value,
                        struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	const bool alone = place->parent && place->parent->count == 1;

	if (!place->parent)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The whole table is not replaced here: change rows or fields.");
	if (place->parent == structured_root(tree) ?
	            !csv_put_row(&out, value, tree, node, err) :
	            !csv_put(&out, value, csv_comma(tree, structured_root(tree)->key.start),
	                     node->style == STYLE_DOUBLE ||
	                     (alone && !json_string_length(value)), err))
		return false;
	edits_add(edits, node->source.start, node->source.end, buf_view(&out));
	return true;
}

static bool csv_add_field(const struct structured_place *place, const json_t *value,
                          struct structured_edits *edits, struct err *err)
{
	json_t *names = csv_names(place->tree);
	const char comma = csv_comma(place->tree, structured_root(place->tree)->key.start);
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	bool next = span_eq(json_span(json_array_get(names, place->parent->count)), place->name);

	json_decref(names);
	if (!next)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The first row has no such column, or the row ends before it: add a "
		               "column by editing the text, and fill a short row from the left.");
	buf_char(&out, comma);
	if (!csv_put(&out, value, comma, false, err))
		return false;
	edits_add(edits, place->parent->source.end, place->parent->source.end, buf_view(&out));
	return true;
}

static bool csv_add(const struct structured_place *place, const json_t *value,
                    struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *root = structured_root(tree), *item, *before;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	uint32_t end;

	if (place->parent != root)
		return csv_add_field(place, value, edits, err);
	item = tree_item(tree, root, place->index);
	before = place->index ? tree_item(tree, root, place->index - 1) : NULL;
	if (item) {
		if (!csv_put_row(&out, value, tree, item, err))
			return false;
		buf_span(&out, tree_newline(tree->text));
		edits_add(edits, item->source.start, item->source.start, buf_view(&out));
		return true;
	}
	end = before ? before->source.end : root->key.end;
	buf_span(&out, tree_newline(tree->text));
	if (!csv_put_row(&out, value, tree, before, err))
		return false;
	edits_add(edits, end, end, buf_view(&out));
	return true;
}

static bool csv_remove(const struct structured_place *place, struct structured_edits *edits,
                       struct err *err)
{
	const struct structured *tree = place->tree;

	if (place->parent != structured_root(tree))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A field is not deleted: every row has its column. Set it to \"\".");
	edits_add(edits, place->node->source.start,
	          tree_line_next(tree->text, place->node->source.end), SPAN(""));
	return true;
}

static bool csv_rename(const struct structured_place *place, struct span name,
                       struct structured_edits *edits, struct err *err)
{
	(void)place;
	(void)name;
	(void)edits;
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Columns are named by the first row: edit its text to rename one.");
}

const struct structured_writer csv_writer = { csv_replace, csv_add, csv_remove, csv_rename };
