/* SPDX-License-Identifier: Apache-2.0 */
/* Jupyter notebooks (nbformat 4): changes of cells as changes of the JSON that they are. */
#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/private.h"

struct notebook {
	struct structured tree;
	const struct structured_node *cells;
	bool ids;         /* nbformat 4.5: cells have ids */
	json_t *changes;  /* owned: what one operation comes to */
	struct span text;
	size_t turn;      /* the operation's number */
};

/* ---- the notebook ------------------------------------------------------------------- */

static const struct structured_node *notebook_member(const struct notebook *notebook,
                                                     const struct structured_node *object,
                                                     const char *name)
{
	bool again;

	return object->kind == STRUCTURED_OBJECT ?
	               tree_member(&notebook->tree, object, span_str(name), &again) : NULL;
}

static long notebook_number(const struct notebook *notebook, const char *name)
{
	const struct structured_node *node =
		notebook_member(notebook, structured_root(&notebook->tree), name);
	struct span text = node ? structured_text(&notebook->tree, node) : SPAN("");
	char digits[12] = "";

	for (size_t i = 0; i < text.len && i < sizeof(digits) - 1; i++)
		digits[i] = text.data[i];
	return strtol(digits, NULL, 10);
}

static bool notebook_open(struct notebook *notebook, struct err *err)
{
	if (!structured_parse(STRUCTURED_JSON, notebook->text, &notebook->tree, err))
		return false;
	notebook->cells = notebook_member(notebook, structured_root(&notebook->tree), "cells");
	if (!notebook->cells || notebook->cells->kind != STRUCTURED_ARRAY ||
	    notebook_number(notebook, "nbformat") != 4)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The file is no notebook of nbformat 4, which has \"cells\".");
	notebook->ids = notebook_number(notebook, "nbformat_minor") >= 5;
	return true;
}

static struct span notebook_cell_text(const struct notebook *notebook,
				      const struct structured_node *cell,
                             const char *name)
{
	const struct structured_node *node = notebook_member(notebook, cell, name);

	return node ? structured_text(&notebook->tree, node) : SPAN("");
}

/* The cell that is named, by its id or by its number from 1, as reading shows them; *ret: its
 * index. */
static bool cell_find(const struct notebook *notebook, const json_t *named, size_t *ret,
                      struct err *err)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(300);
	const struct structured_node *cell = structured_first(&notebook->tree, notebook->cells);
	struct span id = json_span(named);
	size_t index = 0, count = notebook->cells->count;
	char *end = NULL;

	for (; id.len && cell; cell = structured_next(&notebook->tree, cell), index++) {
		if (span_eq(notebook_cell_text(notebook, cell, "id"), id)) {
			*ret = index;
			return true;
		}
	}
	index = json_is_integer(named) ? (size_t)json_integer_value(named) :
	        id.len && id.len < 9  ? strtoul(id.data, &end, 10) : 0;
	if ((json_is_integer(named) || (end && !*end)) && index >= 1 && index <= count) {
		*ret = index - 1;
		return true;
	}
	json_print(&shown, named, 0);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "The notebook has no cell %s; it has %zu cells, numbered from 1.",
	               named ? (shown.data ? shown.data : "of that name") :
			       "without a name: pass cell",
	               count);
}

/* ---- operations --------------------------------------------------------------------- */

/* Adds a change of `.cells[index]MEMBER`; `value` is taken, NULL: none. */
static void cell_change(struct notebook *notebook, const char *op, size_t index, const char *member,
                        json_t *value)
{
	json_t *change = json_pack("{s:s, s:o}", "op", op, "path",
	                           json_sprintf(".cells[%zu]%s", index, member));

	if (value)
		json_object_set_new(change, "value", value);
	json_array_append_new(notebook->changes, change);
}

/* A source as Jupyter writes it: its lines, with their ends. */
static json_t *source_lines(struct span text)
{
	json_t *lines = json_array();
	struct span line;

	while (line_next(&text, &line))
		json_array_append_new(lines, json_text(line));
	return lines;
}

/* An id that is always the same for the same notebook and operation: a dry run plans it. */
static json_t *cell_new_id(const struct notebook *notebook)
{
	_cleanup_buf_ struct buf seed = BUF_INIT(LIMIT_STRUCTURED_BYTES + 100);
	char hex[SHA256_HEX_SIZE];
	struct sha256 sum;

	buf_span(&seed, notebook->text);
	buf_printf(&seed, "%zu", notebook->turn);
	sum = sha256_of(buf_view(&seed));
	sha256_hex(&sum, hex);
	return json_utf8(span_of(hex, 8));
}

/* The index that a cell comes to stand at: after the one named, or first. */
static bool cell_target(const struct notebook *notebook, const json_t *operation, size_t *ret,
                        struct err *err)
{
	const json_t *after = json_object_get(operation, "after");

	*ret = 0;
	if (!after)
		return true;
	if (!cell_find(notebook, after, ret, err))
		return false;
	++*ret;
	return true;
}

static bool cell_insert(struct notebook *notebook, const json_t *operation, struct err *err)
{
	const char *type = json_string_value(json_object_get(operation, "cell_type"));
	const bool code = !type || span_eq(span_str(type), SPAN("code"));
	json_t *cell;
	size_t index;

	if (!cell_target(notebook, operation, &index, err))
		return false;
	cell = json_pack("{s:s}", "cell_type", type ? type : "code");
	if (code)
		json_object_set_new(cell, "execution_count", json_null());
	if (notebook->ids)
		json_object_set_new(cell, "id", cell_new_id(notebook));
	json_object_set_new(cell, "metadata", json_object());
	if (code)
		json_object_set_new(cell, "outputs", json_array());
	json_object_set_new(cell, "source",
	                    source_lines(json_span(json_object_get(operation, "source"))));
	cell_change(notebook, "insert", index, "", cell);
	return true;
}

static void cell_clear(struct notebook *notebook, const struct structured_node *cell, size_t index)
{
	if (!span_eq(notebook_cell_text(notebook, cell, "cell_type"), SPAN("code")))
		return;
	cell_change(notebook, "set", index, ".outputs", json_array());
	cell_change(notebook, "set", index, ".execution_count", json_null());
}

/* Another type has other members: outputs and execution_count are those of code. */
static void cell_retype(struct notebook *notebook, const struct structured_node *cell, size_t index,
                        const char *type)
{
	const bool code = span_eq(span_str(type), SPAN("code"));

	cell_change(notebook, "set", index, ".cell_type", json_string(type));
	if (code) {
		cell_change(notebook, "set", index, ".execution_count", json_null());
		cell_change(notebook, "set", index, ".outputs", json_array());
		return;
	}
	if (notebook_member(notebook, cell, "execution_count"))
		cell_change(notebook, "delete", index, ".execution_count", NULL);
	if (notebook_member(notebook, cell, "outputs"))
		cell_change(notebook, "delete", index, ".outputs", NULL);
}

static bool cell_replace(struct notebook *notebook, const json_t *operation, struct err *err)
{
	const json_t *source = json_object_get(operation, "source");
	const char *type = json_string_value(json_object_get(operation, "cell_type"));
	const struct structured_node *cell, *now;
	json_t *lines = NULL;
	size_t index;

	if (!cell_find(notebook, json_object_get(operation, "cell"), &index, err))
		return false;
	if (!source && !type)
		return err_set(err, ERR_INVALID_ARGUMENT, "replace needs a source.");
	cell = tree_item(&notebook->tree, notebook->cells, index);
	now = notebook_member(notebook, cell, "source");
	if (source)
		lines = now && now->kind == STRUCTURED_STRING ? json_incref((json_t *)source) :
		                                                source_lines(json_span(source));
	if (source)
		cell_change(notebook, "set", index, ".source", lines);
	if (type && !span_eq(notebook_cell_text(notebook, cell, "cell_type"), span_str(type)))
		cell_retype(notebook, cell, index, type);
	return true;
}

static bool cell_move(struct notebook *notebook, const json_t *operation, struct err *err)
{
	const struct structured_node *cell;
	size_t from, to;
	json_t *value;

	if (!cell_find(notebook, json_object_get(operation, "cell"), &from, err) ||
	    !cell_target(notebook, operation, &to, err))
		return false;
	if (to == from || to == from + 1)
		return err_set(err, ERR_INVALID_ARGUMENT, "The cell is there already.");
	cell = tree_item(&notebook->tree, notebook->cells, from);
	if (!structured_value(&notebook->tree, cell, 0, &value, err))
		return false;
	cell_change(notebook, "delete", from, "", NULL);
	cell_change(notebook, "insert", to > from ? to - 1 : to, "", value);
	return true;
}

static bool cell_delete(struct notebook *notebook, const json_t *operation, struct err *err)
{
	size_t index;

	if (!cell_find(notebook, json_object_get(operation, "cell"), &index, err))
		return false;
	cell_change(notebook, "delete", index, "", NULL);
	return true;
}

static bool cell_clear_outputs(struct notebook *notebook, const json_t *operation, struct err *err)
{
	const json_t *named = json_object_get(operation, "cell");
	const struct structured_node *cell = structured_first(&notebook->tree, notebook->cells);
	size_t index, i = 0;

	if (named) {
		if (!cell_find(notebook, named, &index, err))
			return false;
		cell_clear(notebook, tree_item(&notebook->tree, notebook->cells, index), index);
	}
	for (; !named && cell; cell = structured_next(&notebook->tree, cell), i++)
		cell_clear(notebook, cell, i);
	return json_array_size(notebook->changes) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "There is no cell of code to clear.");
}

static bool cell_operate(struct notebook *notebook, const json_t *operation, struct err *err)
{
	static const struct {
		const char *op;
		bool (*run)(struct notebook *notebook, const json_t *operation, struct err *err);
	} rows[] = {
		{ "insert", cell_insert }, { "replace", cell_replace }, { "delete", cell_delete },
		{ "move", cell_move },     { "clear_outputs", cell_clear_outputs },
	};
	struct span op = json_span(json_object_get(operation, "op"));

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (span_eq(op, span_str(rows[i].op)))
			return rows[i].run(notebook, operation, err);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "op is one of insert, replace, delete, move, clear_outputs.");
}

/* One operation on `text`, appended to `out`. */
static bool notebook_once(struct span text, const json_t *operation, size_t turn, struct buf *out,
                          struct err *err)
{
	struct notebook notebook = { .text = text, .turn = turn, .changes = json_array() };
	struct err why = ERR_INIT;
	bool ok = notebook_open(&notebook, err) && cell_operate(&notebook, operation, err);

	structured_release(&notebook.tree);
	if (ok && !structured_change(STRUCTURED_JSON, text, notebook.changes, 0, out, &why)) {
		ok = why.code == ERR_NO_CHANGE && buf_span(out, text);
		if (!ok)
			*err = why;
	}
	json_decref(notebook.changes);
	return ok;
}

bool structured_notebook_change(struct span text, const json_t *operations, struct buf *out,
                                struct err *err)
{
	struct buf texts[2] = { BUF_INIT(LIMIT_STRUCTURED_BYTES),
		                BUF_INIT(LIMIT_STRUCTURED_BYTES) };
	const size_t count = json_array_size(operations);
	struct span now = text;
	struct err why = ERR_INIT;
	bool ok = count && count <= LIMIT_STRUCTURED_CHANGES && count * text.len / 2 <
	          LIMIT_STRUCTURED_WORK;

	if (!ok)
		err_set(&why, ERR_INVALID_ARGUMENT,
		        "cells is an array with 1 to %zu operations, fewer for a large file.",
		        LIMIT_STRUCTURED_CHANGES);
	for (size_t i = 0; i < count && ok; i++) {
		struct buf *next = &texts[i % 2];

		buf_clear(next);
		ok = notebook_once(now, json_array_get(operations, i), i, next, &why);
		now = buf_view(next);
	}
	if (ok && span_eq(now, text))
		ok = err_set(&why, ERR_NO_CHANGE, "The notebook is as asked already.");
	else if (ok && !buf_span(out, now))
		ok = err_set(&why, ERR_TOO_LARGE, "There is no room for the new text.");
	if (!ok)
		*err = why;
	buf_release(&texts[0]);
	buf_release(&texts[1]);
	return ok;
}
