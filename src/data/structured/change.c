/* SPDX-License-Identifier: Apache-2.0 */
/* Changes, one after the other: where each goes, the format's edits for it, and a comparison of
 * the new text's tree with what the change should have made of the old one. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/structured/private.h"

static const char *const op_names[] = {
	[STRUCTURED_SET] = "set", [STRUCTURED_DELETE] = "delete", [STRUCTURED_APPEND] = "append",
	[STRUCTURED_INSERT] = "insert", [STRUCTURED_RENAME] = "rename",
};

/* One call. */
struct changing {
	enum structured_format format;
	const struct structured_writer *writer;
	unsigned document;
	struct buf texts[2]; /* the text that the last change made, and room for the next one's */
	struct span text;    /* as the changes so far left it */
	size_t work;         /* bytes parsed */
};

/* ---- values ------------------------------------------------------------------------- */

/* A scalar as the text that a format without types has of it. */
static json_t *scalar_as_text(const json_t *value)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	if (json_is_null(value))
		return json_utf8(SPAN(""));
	json_print(&out, value, 0);
	return json_utf8(buf_view(&out));
}

/* The value as the format can hold it, a new reference: all scalars are strings where it has no
 * other.  Recursion as deep as arguments are. */
static json_t *value_of_format(enum structured_format format, const json_t *value)
{
	json_t *copy;

	if (format < STRUCTURED_XML || json_is_string(value))
		return json_incref((json_t *)value);
	if (json_is_array(value)) {
		copy = json_array();
		for (size_t i = 0; i < json_array_size(value); i++)
			json_array_append_new(copy, value_of_format(format,
			                                            json_array_get(value, i)));
		return copy;
	}
	if (!json_is_object(value))
		return format == STRUCTURED_XML && json_is_null(value) ? json_null() :
		                                                         scalar_as_text(value);
	copy = json_object();
	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at))
		json_object_setn_new_nocheck(copy, json_object_iter_key(at),
		                             json_object_iter_key_len(at),
		                             value_of_format(format, json_object_iter_value(at)));
	return copy;
}

/* ---- one change --------------------------------------------------------------------- */

static bool change_op(const json_t *change, enum structured_op *ret, struct err *err)
{
	struct span op = json_span(json_object_get(change, "op"));

	for (size_t i = 0; i < ARRAY_LEN(op_names); i++) {
		if (!span_eq(op, span_str(op_names[i])))
			continue;
		*ret = (enum structured_op)i;
		if (*ret == STRUCTURED_DELETE || json_object_get(change, "value"))
			return true;
		return err_set(err, ERR_INVALID_ARGUMENT, "%s needs a value.", op_names[i]);
	}
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "op is one of set, delete, append, insert, rename.");
}

/* Where the changes of the call begin: the root, or the document that is meant. */
static const struct structured_node *change_root(const struct changing *changing,
                                                 const struct structured *tree, struct err *err)
{
	const struct structured_node *root = structured_root(tree);
	const bool several = structured_has_documents(tree);
	const unsigned count = several ? root->count : 1;

	if (several && !changing->document)
		err_set(err, ERR_INVALID_ARGUMENT,
		        "The file has %u YAML documents: pass document, from 1 to %u.", count,
		        count);
	else if (changing->document > count)
		err_set(err, ERR_INVALID_ARGUMENT, "There is no document %u; the file has %u.",
		        changing->document, count);
	else
		return several ? tree_item(tree, root, changing->document - 1) : root;
	return NULL;
}

static bool place_rename(const struct structured_place *place, const json_t *value,
                         struct err *err)
{
	bool again;

	if (!place->parent || place->parent->kind != STRUCTURED_OBJECT)
		return err_set(err, ERR_INVALID_ARGUMENT, "Only a member of an object has a name.");
	if (!json_is_string(value))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The value of rename is the new name, a string, not %s.",
		               json_type_phrase(value));
	if (tree_member(place->tree, place->parent, json_span(value), &again))
		return err_set(err, ERR_INVALID_ARGUMENT, "\"%s\" is there already.",
		               json_string_value(value));
	return true;
}

/* Resolves the change's path, and checks that the operation fits what is there. */
static bool change_place(const struct structured_node *from, enum structured_op op,
                         const struct structured_steps *steps, const json_t *value,
                         struct structured_place *place, const struct structured *tree,
                         struct err *err)
{
	const bool may_end = op == STRUCTURED_SET || op == STRUCTURED_INSERT;
	const bool single = tree->format == STRUCTURED_XML;

	if (!structured_follow(tree, from, steps, may_end, place, err))
		return false;
	switch (op) {
	case STRUCTURED_DELETE:
		return steps->count ? true :
		                      err_set(err, ERR_INVALID_ARGUMENT,
		                              "The whole value cannot be deleted.");
	case STRUCTURED_APPEND:
		if (single && place->node->style == STYLE_ELEMENT)
			return true;
		if (place->node->kind != STRUCTURED_ARRAY)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "append needs an array; there is %s.",
			               structured_kind_phrase(place->node));
		*place = (struct structured_place){ .tree = tree, .parent = place->node,
			                            .index = place->node->count };
		return true;
	case STRUCTURED_INSERT:
		if (!steps->count || steps->items[steps->count - 1].name)
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "insert needs the index before which the value comes, as "
			               ".list[0].");
		if (!single || !place->node || place->node->style != STYLE_ELEMENT)
			place->node = NULL;
		return true;
	case STRUCTURED_RENAME:
		return place_rename(place, value, err);
	default:
		return true;
	}
}

static bool change_edits(const struct structured_writer *writer, enum structured_op op,
                         const struct structured_place *place, const json_t *value,
                         struct structured_edits *edits, struct err *err)
{
	if (op == STRUCTURED_DELETE)
		return writer->remove(place, edits, err);
	if (op == STRUCTURED_RENAME)
		return writer->rename(place, json_span(value), edits, err);
	if (op == STRUCTURED_SET && place->node)
		return writer->replace(place, value, edits, err);
	return writer->add(place, value, edits, err);
}

/* Whether the value at the place is this one already. */
static bool change_is_made(const struct structured_place *place, const json_t *value)
{
	struct err ignored = ERR_INIT;
	json_t *now = NULL;
	bool same;

	if (!place->node || place->node->kind == STRUCTURED_ALIAS ||
	    place->node->flags & NODE_TAGGED ||
	    !structured_value(place->tree, place->node, 0, &now, &ignored))
		return false;
	same = json_equal(now, value);
	json_decref(now);
	return same;
}

static bool change_verify(struct changing *changing, const struct structured_place *place,
                          const struct structured_steps *steps, enum structured_op op,
                          const json_t *value, struct span text, struct err *err)
{
	_cleanup_structured_ struct structured after = { 0 };
	struct err why = ERR_INIT;

	changing->work += text.len;
	if (!structured_parse_along(changing->format, text, steps, &after, &why)) {
		if (why.code == ERR_TOO_LARGE) {
			*err = why;
			return false;
		}
		return err_set(err, ERR_INTERNAL,
		               "The change would not give valid %s (%.300s) Nothing was written.",
		               structured_format_label(changing->format), why.message);
	}
	return structured_verify(place, op, value, &after) ||
	       err_set(err, ERR_INTERNAL,
	               "The change would not give the intended value at the path. Nothing was "
	               "written.");
}

static bool is_attribute(const struct structured_place *place)
{
	return place->node ? place->node->flags & NODE_ATTRIBUTE :
	                     span_starts(place->name, SPAN("@"));
}

static bool change_at(struct changing *changing, const struct structured *tree,
                      const struct structured_steps *steps, enum structured_op op,
                      const json_t *value, struct err *err)
{
	const struct structured_node *from = change_root(changing, tree, err);
	struct structured_edits edits = { .texts = BUF_INIT(LIMIT_STRUCTURED_BYTES) };
	struct buf *out = &changing->texts[changing->texts[0].data == changing->text.data];
	const bool csv = tree->format == STRUCTURED_CSV || tree->format == STRUCTURED_TSV;
	json_auto_t *row = NULL;
	struct structured_place place;
	bool ok;

	if (!from || !change_place(from, op, steps, value, &place, tree, err))
		return false;
	if (csv && op != STRUCTURED_DELETE && op != STRUCTURED_RENAME &&
	    place.parent == structured_root(tree)) {
		if (!csv_tree_row(tree, value, &row, err))
			return false;
		value = row;
	}
	if (tree->format == STRUCTURED_XML && value && op != STRUCTURED_RENAME &&
	    !is_attribute(&place))
		value = row = xml_write_normal((json_t *)value);
	if (op == STRUCTURED_INSERT && place.node)
		place.index = UINT32_MAX; /* before the single element of XML */
	if (op == STRUCTURED_SET && change_is_made(&place, value))
		return true;
	if (op == STRUCTURED_SET && place.node && place.node->flags & NODE_TAGGED)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The value there has a tag (\"!...\"), which says what it means. "
		               "Edit the text.");
	ok = change_edits(changing->writer, op, &place, value, &edits, err) &&
	     edits_apply(&edits, changing->text, out, err) &&
	     ((op == STRUCTURED_SET &&
	       structured_verify_alone(&place, &edits, value, buf_view(out))) ||
	      change_verify(changing, &place, steps, op, value, buf_view(out), err));
	if (ok)
		changing->text = buf_view(out);
	edits_release(&edits);
	return ok;
}

static bool structured_change_one(struct changing *changing, const json_t *change, struct err *err)
{
	_cleanup_structured_ struct structured tree = { 0 };
	_cleanup_structured_steps_ struct structured_steps steps = { .for_change = true };
	const json_t *path = json_object_get(change, "path");
	const json_t *sent = json_object_get(change, "value");
	enum structured_op op = STRUCTURED_SET;
	json_t *value;
	bool ok;

	changing->work += changing->text.len;
	if (changing->work > LIMIT_STRUCTURED_WORK)
		return err_set(err, ERR_TOO_LARGE,
		               "These are too many changes for a file of this size: split them "
		               "into several calls.");
	if (!json_is_string(path))
		return err_set(err, ERR_INVALID_ARGUMENT, "A change needs a path.");
	if (!change_op(change, &op, err) || !structured_steps_read(json_span(path), &steps, err) ||
	    !structured_parse_along(changing->format, changing->text, &steps, &tree, err))
		return false;
	value = sent ? value_of_format(changing->format, sent) : NULL;
	ok = change_at(changing, &tree, &steps, op, value, err);
	json_decref(value);
	return ok;
}

static bool change_each(struct changing *changing, const json_t *changes, struct err *err)
{
	const size_t count = json_array_size(changes);
	struct err why = ERR_INIT;

	if (!count || count > LIMIT_STRUCTURED_CHANGES)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "edits must be an array of 1 to %zu objects, such as "
		               "[{\"op\": \"set\", \"path\": \".a.b\", \"value\": 1}].",
		               LIMIT_STRUCTURED_CHANGES);
	for (size_t i = 0; i < count; i++) {
		const json_t *change = json_array_get(changes, i);

		if (structured_change_one(changing, change, &why))
			continue;
		if (count == 1)
			*err = why;
		else
			err_set(err, why.code, "Change %zu of %zu: %s", i + 1, count,
			        why.message);
		return false;
	}
	return true;
}

/* Appends the text of a buffer of the call's own: as large texts are, without a copy. */
static bool change_hand_over(struct buf *from, struct buf *out)
{
	if (out->len || from->len > out->max)
		return buf_span(out, buf_view(from));
	free(out->data);
	out->len = from->len;
	out->cap = from->cap;
	out->data = buf_steal(from);
	return true;
}

bool structured_change(enum structured_format format, struct span text, const json_t *changes,
                       unsigned document, struct buf *out, struct err *err)
{
	struct changing changing = {
		.format = format, .writer = structured_row(format)->writer, .document = document,
		.texts = { BUF_INIT(LIMIT_STRUCTURED_BYTES), BUF_INIT(LIMIT_STRUCTURED_BYTES) },
		.text = text,
	};
	bool ok = change_each(&changing, changes, err);

	if (ok && span_eq(changing.text, text))
		ok = err_set(err, ERR_NO_CHANGE, "The values there are as asked already.");
	else if (ok && !change_hand_over(&changing.texts[changing.texts[1].data ==
	                                                 changing.text.data], out))
		ok = err_set(err, ERR_TOO_LARGE, "There is no room for the new text.");
	buf_release(&changing.texts[0]);
	buf_release(&changing.texts[1]);
	return ok;
}
