/* SPDX-License-Identifier: Apache-2.0 */
/* The trees before and after a change, walked side by side. */
#include "data/structured/private.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

struct verifying {
	const struct structured_place *place;
	enum structured_op op;
	const json_t *value;
	const struct structured *before, *after;
	uint32_t i, j;
};

/* The index after the last node in the subtree, of trees in the text's order. */
static uint32_t subtree_end(const struct structured *tree, uint32_t index)
{
	while (tree->nodes[index].last)
		index = tree->nodes[index].last;
	return index + 1;
}

static bool node_has_value(const struct structured *tree, const struct structured_node *node,
                           const json_t *value)
{
	struct err ignored = ERR_INIT;
	json_t *now = NULL;
	bool same = structured_value(tree, node, 0, &now, &ignored) && json_equal(now, value);

	json_decref(now);
	return same;
}

/* The nodes that a walk is at, but for how many children they have. */
static bool same_node(const struct verifying *verifying)
{
	const struct structured_node *a = &verifying->before->nodes[verifying->i];
	const struct structured_node *b = &verifying->after->nodes[verifying->j];
	const bool alias = a->kind == STRUCTURED_ALIAS;
	const bool renamed = verifying->op == STRUCTURED_RENAME && a == verifying->place->node;

	return a->kind == b->kind &&
	       span_eq(renamed ? json_span(verifying->value) :
	                         structured_name(verifying->before, a),
	               structured_name(verifying->after, b)) &&
	       span_eq(alias ? structured_bytes(verifying->before, a->source) :
	                       structured_text(verifying->before, a),
	               alias ? structured_bytes(verifying->after, b->source) :
	                       structured_text(verifying->after, b)) &&
	       ((a->flags ^ b->flags) & (NODE_ANCHORED | NODE_TAGGED | NODE_DOCUMENTS)) == 0 &&
	       (!((a->flags | b->flags) & NODE_PARTIAL) ||
	        span_eq(structured_bytes(verifying->before, a->source),
	                structured_bytes(verifying->after, b->source)));
}

/* Past the nodes that a walk is at; and past all in them, where their bytes were compared. */
static void verify_step(struct verifying *verifying)
{
	const uint16_t flags = verifying->before->nodes[verifying->i].flags |
	                       verifying->after->nodes[verifying->j].flags;

	if (flags & NODE_PARTIAL) {
		verifying->i = subtree_end(verifying->before, verifying->i);
		verifying->j = subtree_end(verifying->after, verifying->j);
	} else {
		verifying->i++;
		verifying->j++;
	}
}

static bool same_count(const struct verifying *verifying)
{
	const struct structured_node *a = &verifying->before->nodes[verifying->i];
	const struct structured_node *b = &verifying->after->nodes[verifying->j];
	const struct structured_place *place = verifying->place;
	uint32_t count = a->count;

	if (a == place->parent && verifying->op == STRUCTURED_DELETE)
		count--;
	else if (a == place->parent && verifying->op != STRUCTURED_RENAME && !place->node)
		count++;
	return count == b->count;
}

/* Where in the tree before a node that is added belongs; UINT32_MAX: none is. */
static uint32_t added_at(const struct structured_place *place)
{
	const struct structured_node *item;

	if (place->node)
		return UINT32_MAX;
	item = place->index < place->parent->count && place->parent->kind == STRUCTURED_ARRAY ?
	               tree_item(place->tree, place->parent, place->index) : NULL;
	return item ? tree_index(place->tree, item) :
	              subtree_end(place->tree, tree_index(place->tree, place->parent));
}

static bool added_fits(const struct verifying *verifying)
{
	const struct structured_node *node = &verifying->after->nodes[verifying->j];
	const struct structured_place *place = verifying->place;

	return verifying->j < verifying->after->count &&
	       node->parent == tree_index(place->tree, place->parent) &&
	       (place->parent->kind == STRUCTURED_ARRAY ||
	        span_eq(structured_name(verifying->after, node), place->name)) &&
	       node_has_value(verifying->after, node, verifying->value);
}

static bool replaced_fits(const struct verifying *verifying)
{
	const struct structured_node *node = &verifying->after->nodes[verifying->j];

	return verifying->j < verifying->after->count &&
	       span_eq(structured_name(verifying->after, node),
	               structured_name(verifying->before, verifying->place->node)) &&
	       node_has_value(verifying->after, node, verifying->value);
}

static bool verify_walk(struct verifying *verifying)
{
	const struct structured *before = verifying->before, *after = verifying->after;
	const struct structured_node *node = verifying->place->node;
	const uint32_t added = added_at(verifying->place);

	for (;;) {
		const uint32_t i = verifying->i, j = verifying->j;

		if (i == added) {
			if (!added_fits(verifying))
				return false;
			verifying->j = subtree_end(after, j);
			if (i == before->count)
				return verifying->j == after->count;
			if (verifying->j >= after->count || !same_node(verifying) ||
			    !same_count(verifying))
				return false;
			verify_step(verifying);
			continue;
		}
		if (i == before->count)
			return j == after->count;
		if (node == &before->nodes[i] && verifying->op == STRUCTURED_DELETE) {
			verifying->i = subtree_end(before, i);
		} else if (j >= after->count) {
			return false;
		} else if (node == &before->nodes[i] && verifying->op == STRUCTURED_SET) {
			if (!replaced_fits(verifying))
				return false;
			verifying->i = subtree_end(before, i);
			verifying->j = subtree_end(after, j);
		} else if (!same_node(verifying) || !same_count(verifying)) {
			return false;
		} else {
			verify_step(verifying);
		}
	}
}

/* ---- by number ---------------------------------------------------------------------- */

/* Whether a scalar was set, and all other nodes are the same, in the same places: in whatever order
 * the format's reader makes them. */
static bool verify_scalar(struct verifying *verifying)
{
	const struct structured *before = verifying->before, *after = verifying->after;
	const struct structured_node *node = verifying->place->node;
	const uint32_t set = node ? tree_index(before, node) : UINT32_MAX;

	if (verifying->op != STRUCTURED_SET || !node || node->first ||
	    before->count != after->count || after->nodes[set].first)
		return false;
	for (uint32_t i = 0; i < before->count; i++) {
		const struct structured_node *a = &before->nodes[i], *b = &after->nodes[i];

		verifying->i = verifying->j = i;
		if (a->parent != b->parent || a->first != b->first || a->next != b->next ||
		    (i == set ? !replaced_fits(verifying) : !same_node(verifying)))
			return false;
	}
	return true;
}

/* ---- by value ----------------------------------------------------------------------- */

/* The part of the whole old value that is the node's; borrowed. */
static json_t *verify_value_at(const struct structured *tree, const struct structured_node *node,
                        json_t *whole)
{
	const unsigned depth = tree_depth(tree, node);
	_cleanup_free_ const struct structured_node **way = mem_alloc(depth + 1, sizeof(*way));

	for (unsigned i = depth; i; i--, node = &tree->nodes[node->parent])
		way[i - 1] = node;
	for (unsigned i = 0; i < depth && whole; i++) {
		const struct structured_node *above = &tree->nodes[way[i]->parent];
		struct span name = structured_name(tree, way[i]);
		size_t index = 0;

		if (above->kind == STRUCTURED_OBJECT) {
			whole = json_object_getn(whole, name.data, name.len);
			continue;
		}
		for (const struct structured_node *item = structured_first(tree, above);
		     item != way[i]; item = structured_next(tree, item))
			index++;
		whole = json_array_get(whole, index);
	}
	return whole;
}

/* Puts `value`, which is taken, in place of the node's in `above`, that of its parent. */
static void value_put(json_t *above, const struct structured *tree,
                      const struct structured_node *node, json_t *value)
{
	struct span name = structured_name(tree, node);
	size_t index = 0;

	if (json_is_object(above)) {
		json_object_setn_new_nocheck(above, name.data, name.len, value);
		return;
	}
	for (const struct structured_node *item =
		     structured_first(tree, &tree->nodes[node->parent]);
	     item != node; item = structured_next(tree, item))
		index++;
	json_array_set_new(above, index, value);
}

static void value_set(json_t *parent, const struct structured_place *place, struct span name,
                      json_t *value)
{
	if (json_is_array(parent))
		json_array_set_new(parent, place->index, value);
	else
		json_object_setn_new_nocheck(parent, name.data, name.len, value);
}

/* Does the change to the value of before, as JSON; false: the place has none. */
static bool value_change(const struct verifying *verifying, json_t **whole)
{
	const struct structured_place *place = verifying->place;
	json_t *value = (json_t *)verifying->value, *moved;
	json_t *parent = place->parent ? verify_value_at(place->tree, place->parent, *whole) : NULL;
	struct span name = place->node ? structured_name(place->tree, place->node) : place->name;

	if (!place->parent) {
		json_decref(*whole);
		*whole = json_incref(value);
		return true;
	}
	if (!parent)
		return false;
	if (!json_is_object(parent) && !json_is_array(parent)) { /* XML: an element with text */
		json_t *above = verify_value_at(place->tree,
		                                &place->tree->nodes[place->parent->parent], *whole);

		moved = json_object();
		if (json_is_string(parent))
			json_object_set(moved, "#text", parent);
		parent = moved;
		value_put(above, place->tree, place->parent, moved);
	}
	if (place->node && (verifying->op == STRUCTURED_APPEND ||
	                    verifying->op == STRUCTURED_INSERT)) {
		const bool append = verifying->op == STRUCTURED_APPEND;

		moved = verify_value_at(place->tree, place->node, *whole);
		value_put(parent, place->tree, place->node,
		          json_pack("[O, O]", append ? moved : value, append ? value : moved));
		return true;
	}
	switch (verifying->op) {
	case STRUCTURED_DELETE:
		return (json_is_array(parent) ?
		                json_array_remove(parent, place->index) :
		                json_object_deln(parent, name.data, name.len)) == 0;
	case STRUCTURED_RENAME:
		moved = json_incref(json_object_getn(parent, name.data, name.len));
		json_object_deln(parent, name.data, name.len);
		value_set(parent, place, json_span(value), moved);
		return true;
	default:
		if (!place->node && json_is_array(parent))
			return json_array_insert(parent, place->index, value) == 0;
		value_set(parent, place, name, json_incref(value));
		return true;
	}
}

static bool verify_values(const struct verifying *verifying)
{
	struct err ignored = ERR_INIT;
	json_t *whole = NULL;
	bool same = structured_value(verifying->before, structured_root(verifying->before), 0,
	                             &whole, &ignored) &&
	            value_change(verifying, &whole);

	if (same && verifying->after->format == STRUCTURED_XML) {
		json_t *normal = xml_write_normal(whole);

		json_decref(whole);
		whole = normal;
	}
	same = same &&
	       node_has_value(verifying->after, structured_root(verifying->after), whole);
	json_decref(whole);
	return same;
}

bool structured_verify(const struct structured_place *place, enum structured_op op,
                       const json_t *value, const struct structured *after)
{
	struct verifying verifying = { .place = place, .op = op, .value = value,
	                               .before = place->tree, .after = after };

	return after->format == STRUCTURED_TOML || after->format >= STRUCTURED_INI ||
	                       after->format == STRUCTURED_XML ?
	               verify_scalar(&verifying) || verify_values(&verifying) :
	               verify_walk(&verifying);
}

/* ---- a scalar alone ----------------------------------------------------------------- */

/* The range of the old text that has the scalar and can be read without the rest: in YAML the line
 * of a member that is alone on it, in TOML the value, in XML the element.  False: there is none, or
 * it would save nothing. */
static bool lone_range(const struct structured_place *place, struct structured_range *ret)
{
	const struct structured_node *node = place->node;
	struct span text = place->tree->text;

	*ret = node->source;
	switch (place->tree->format) {
	case STRUCTURED_TOML:
		return true;
	case STRUCTURED_XML:
		return node->style == STYLE_ELEMENT;
	case STRUCTURED_YAML:
		*ret = (struct structured_range){ tree_line_start(text, node->entry.start),
			                          tree_line_end(text, node->entry.start) };
		return place->parent && place->parent->kind == STRUCTURED_OBJECT &&
		       place->parent->style == STYLE_BLOCK && node->kind != STRUCTURED_ALIAS &&
		       !node->flags && tree_leads_line(text, node->entry.start) &&
		       node->source.start > node->key.end && node->source.end <= ret->end;
	default:
		return false;
	}
}

bool structured_verify_alone(const struct structured_place *place,
                             const struct structured_edits *edits, const json_t *value,
                             struct span after)
{
	const struct structured_node *node = place->node, *only;
	const bool toml = place->tree->format == STRUCTURED_TOML;
	const bool yaml = place->tree->format == STRUCTURED_YAML; /* blanks before it may change */
	const size_t longer = after.len - place->tree->text.len; /* modulo, if it is shorter */
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	_cleanup_structured_ struct structured lone = { 0 };
	struct structured_range range;
	struct err ignored = ERR_INIT;
	size_t start;

	if (!node || node->first || json_is_object(value) || json_is_array(value) ||
	    !lone_range(place, &range))
		return false;
	for (size_t i = 0; i < edits->count; i++)
		if (edits->items[i].start < (yaml ? node->key.end : node->source.start) ||
		    edits->items[i].end > node->source.end)
			return false;
	buf_str(&text, toml ? "x = " : "");
	start = text.len + node->source.start - range.start;
	buf_append(&text, after.data + range.start, range.end - range.start + longer);
	if (yaml && memchr(text.data, '\n', text.len))
		return false;
	if (!structured_parse(place->tree->format, buf_view(&text), &lone, &ignored) ||
	    structured_root(&lone)->kind != STRUCTURED_OBJECT || structured_root(&lone)->count != 1)
		return false;
	only = structured_first(&lone, structured_root(&lone));
	return (yaml || (only->source.start == start &&
	                 only->source.end == start + node->source.end - node->source.start +
	                                             longer)) &&
	       (toml || span_eq(structured_name(&lone, only),
	                        structured_name(place->tree, node))) &&
	       node_has_value(&lone, only, value);
}
