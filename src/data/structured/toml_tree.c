/* SPDX-License-Identifier: Apache-2.0 */
/* TOML 1.0 as a tree: toml++ (data/toml.h) says whether the text is right and what its values are;
 * a walk over the same text finds where they stand.  Where the two do not agree, it is refused. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "data/structured/private.h"
#include "data/toml.h"

struct toml_reader {
	struct structured *tree;
	struct span text;
	uint32_t at;
	uint32_t section; /* the table that keys go to */
	uint32_t header;  /* the node of the last header; 0: before the first */
	struct err *err;
};

static bool toml_refuse(struct toml_reader *reader)
{
	return tree_refuse(reader->tree, reader->at, "it is written in a way that is not followed",
	                   reader->err);
}

static char toml_here(const struct toml_reader *reader)
{
	return reader->at < reader->text.len ? reader->text.data[reader->at] : '\0';
}

static void toml_blanks(struct toml_reader *reader)
{
	reader->at = tree_skip_blanks(reader->text, reader->at, (uint32_t)reader->text.len);
}

/* Past white space, line ends and comments. */
static void toml_space(struct toml_reader *reader)
{
	while (reader->at < reader->text.len) {
		const char c = toml_here(reader);

		if (c == '#')
			reader->at = tree_line_end(reader->text, reader->at);
		else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			reader->at++;
		else
			break;
	}
}

/* Past the string at reader->at; false: it has no end. */
static bool toml_string(struct toml_reader *reader)
{
	struct span rest = span_skip(reader->text, reader->at);
	const char quote = toml_here(reader);
	const size_t marks = span_starts(rest, SPAN("\"\"\"")) || span_starts(rest, SPAN("'''")) ?
	                             3 : 1;
	size_t at = marks, run = 0;

	for (; at < rest.len; at++) {
		run = rest.data[at] == quote ? run + 1 : 0;
		if (run == marks)
			break;
		if (quote == '"' && rest.data[at] == '\\')
			at++;
	}
	if (at >= rest.len)
		return false;
	for (at++; marks == 3 && at < rest.len && rest.data[at] == quote && run < 5; run++)
		at++; /* """ may follow up to two apart marks */
	reader->at += (uint32_t)at;
	return true;
}

/* ---- keys --------------------------------------------------------------------------- */

/* One part of a key: its range, and its name as a new string. */
static json_t *toml_key_part(struct toml_reader *reader, struct structured_range *ret)
{
	const char *data = reader->text.data;
	struct err ignored = ERR_INIT;
	json_t *name = NULL;

	toml_blanks(reader);
	ret->start = reader->at;
	if (toml_here(reader) == '"' || toml_here(reader) == '\'') {
		if (!toml_string(reader))
			return NULL;
		ret->end = reader->at;
		if (data[ret->start] == '\'')
			name = json_utf8(span_of(data + ret->start + 1,
			                         ret->end - ret->start - 2));
		else if (!json_parse_foreign(structured_bytes(reader->tree, *ret), 1, &name, NULL,
		                             &ignored))
			return NULL;
	} else {
		while (ascii_is_alnum((unsigned char)toml_here(reader)) ||
		       (toml_here(reader) && strchr("-_", toml_here(reader))))
			reader->at++;
		ret->end = reader->at;
		if (ret->end == ret->start)
			return NULL;
		name = json_utf8(structured_bytes(reader->tree, *ret));
	}
	toml_blanks(reader);
	return name;
}

static uint32_t toml_node(struct toml_reader *reader, uint32_t parent, enum structured_kind kind,
                          const json_t *name, struct structured_range key)
{
	const uint32_t node = tree_add(reader->tree, parent, kind, reader->err);

	if (node == UINT32_MAX)
		return node;
	reader->tree->nodes[node].key = key;
	reader->tree->nodes[node].entry = reader->tree->nodes[node].source =
		(struct structured_range){ reader->at, reader->at };
	if (name && !tree_name_decoded(reader->tree, node, json_span(name), reader->err))
		return UINT32_MAX;
	return node;
}

/* The table beneath `parent` that a part on the way names: made if it is not there; of an array of
 * tables its last one. */
static uint32_t toml_way(struct toml_reader *reader, uint32_t parent, const json_t *name,
                         struct structured_range key)
{
	bool again;
	const struct structured_node *found = tree_member(
		reader->tree, &reader->tree->nodes[parent], json_span(name), &again);
	uint32_t node;

	if (found)
		return found->flags & NODE_REPEATED ? found->last :
		                                      tree_index(reader->tree, found);
	node = toml_node(reader, parent, STRUCTURED_OBJECT, name, key);
	if (node == UINT32_MAX)
		return node;
	reader->tree->nodes[node].style = STYLE_BLOCK;
	reader->tree->nodes[node].flags |= NODE_IMPLICIT;
	return node;
}

/* A dotted key from `from` on: the table that its last part is in, that part's name and range. */
static bool toml_key(struct toml_reader *reader, uint32_t from, uint32_t *ret_parent,
                     json_t **ret_name, struct structured_range *ret)
{
	uint32_t parent = from;

	for (;;) {
		json_t *name = toml_key_part(reader, ret);

		if (!name)
			return toml_refuse(reader);
		if (toml_here(reader) != '.') {
			*ret_parent = parent;
			*ret_name = name;
			return true;
		}
		reader->at++;
		parent = toml_way(reader, parent, name, *ret);
		json_decref(name);
		if (parent == UINT32_MAX)
			return false;
	}
}

/* ---- values ------------------------------------------------------------------------- */

static bool toml_value(struct toml_reader *reader, uint32_t node, unsigned depth);

static bool toml_pair(struct toml_reader *reader, uint32_t table, unsigned depth)
{
	const uint32_t start = reader->at;
	struct structured_range key;
	json_t *name = NULL;
	uint32_t parent, node;

	if (!toml_key(reader, table, &parent, &name, &key))
		return false;
	node = toml_node(reader, parent, STRUCTURED_NULL, name, key);
	json_decref(name);
	if (node == UINT32_MAX)
		return false;
	if (toml_here(reader) != '=')
		return toml_refuse(reader);
	reader->at++;
	toml_blanks(reader);
	if (!toml_value(reader, node, depth))
		return false;
	reader->tree->nodes[node].entry.start = start;
	return true;
}

static bool toml_list(struct toml_reader *reader, uint32_t node, bool table, unsigned depth)
{
	const char close = table ? '}' : ']';
	uint32_t item;

	for (reader->at++;;) {
		toml_space(reader);
		if (toml_here(reader) == ',') {
			reader->at++;
			continue;
		}
		if (toml_here(reader) == close)
			break;
		if (table) {
			if (!toml_pair(reader, node, depth + 1))
				return false;
			continue;
		}
		item = toml_node(reader, node, STRUCTURED_NULL, NULL,
		                 (struct structured_range){ 0, 0 });
		if (item == UINT32_MAX || !toml_value(reader, item, depth + 1))
			return false;
	}
	reader->at++;
	return true;
}

/* Recursion ends where toml++'s does. */
static bool toml_value(struct toml_reader *reader, uint32_t node, unsigned depth)
{
	const uint32_t start = reader->at;
	const char c = toml_here(reader);
	struct structured_node *it = &reader->tree->nodes[node];

	if (depth > 100)
		return toml_refuse(reader);
	it->kind = STRUCTURED_NUMBER; /* or a date: the value says which */
	if (c == '"' || c == '\'') {
		it->kind = STRUCTURED_STRING;
		it->style = c == '"' ? STYLE_DOUBLE : STYLE_SINGLE;
		if (!toml_string(reader))
			return toml_refuse(reader);
	} else if (c == '[' || c == '{') {
		it->kind = c == '{' ? STRUCTURED_OBJECT : STRUCTURED_ARRAY;
		it->style = STYLE_FLOW;
		if (!toml_list(reader, node, c == '{', depth))
			return false;
	} else {
		while (toml_here(reader) && !strchr(",]}#\r\n", toml_here(reader)))
			reader->at++;
		while (reader->at > start && strchr(" \t", reader->text.data[reader->at - 1]))
			reader->at--;
		if (reader->at == start)
			return toml_refuse(reader);
		if (c == 't' || c == 'f')
			it->kind = STRUCTURED_BOOLEAN;
		tree_text_range(reader->tree, node, start, reader->at);
	}
	it = &reader->tree->nodes[node];
	it->source = it->entry = (struct structured_range){ start, reader->at };
	return true;
}

/* ---- headers ------------------------------------------------------------------------ */

static bool toml_header(struct toml_reader *reader)
{
	const uint32_t start = reader->at;
	const bool list = span_starts(span_skip(reader->text, start), SPAN("[["));
	struct structured_range key;
	struct structured_node *it;
	json_t *name = NULL;
	uint32_t parent, node;
	bool again;

	reader->at += list ? 2 : 1;
	if (!toml_key(reader, 0, &parent, &name, &key))
		return false;
	it = (struct structured_node *)tree_member(reader->tree, &reader->tree->nodes[parent],
	                                           json_span(name), &again);
	node = it ? tree_index(reader->tree, it) :
	            toml_node(reader, parent, list ? STRUCTURED_ARRAY : STRUCTURED_OBJECT, name,
			      key);
	json_decref(name);
	if (node == UINT32_MAX)
		return false;
	reader->tree->nodes[node].style = STYLE_BLOCK;
	if (list) {
		if (!it)
			reader->tree->nodes[node].entry.start = start;
		reader->tree->nodes[node].flags |= NODE_REPEATED;
		node = toml_node(reader, node, STRUCTURED_OBJECT, NULL, key);
		if (node == UINT32_MAX)
			return false;
	}
	if (!span_starts(span_skip(reader->text, reader->at), list ? SPAN("]]") : SPAN("]")))
		return toml_refuse(reader);
	reader->at += list ? 2 : 1;
	it = &reader->tree->nodes[node];
	it->style = STYLE_BLOCK;
	it->flags &= (uint16_t)~NODE_IMPLICIT;
	it->key = key;
	it->entry = (struct structured_range){ start, reader->at };
	it->source = (struct structured_range){ reader->at, reader->at };
	reader->section = reader->header = node;
	return true;
}

static bool toml_lines(struct toml_reader *reader)
{
	for (;;) {
		toml_space(reader);
		if (reader->at >= reader->text.len)
			return true;
		if (toml_here(reader) == '[') {
			if (!toml_header(reader))
				return false;
			continue;
		}
		if (!toml_pair(reader, reader->section, 1))
			return false;
		reader->tree->nodes[reader->header].source.end = reader->at;
		reader->tree->nodes[reader->header].entry.end = reader->at;
	}
}

/* ---- values, as toml++ has them ----------------------------------------------------- */

static bool toml_scalar_fits(struct structured *tree, uint32_t node, const json_t *value,
                             struct err *err)
{
	struct structured_node *it = &tree->nodes[node];

	if (it->kind == STRUCTURED_BOOLEAN)
		return json_is_boolean(value);
	if (it->kind == STRUCTURED_NUMBER && json_is_number(value))
		return true;
	if (!json_is_string(value))
		return false;
	it->kind = STRUCTURED_STRING;
	return tree_text_decoded(tree, node, json_span(value), err);
}

/* Compares the tree with the value, and takes strings from there.  Parents stand before their
 * children. */
static bool toml_fill(struct structured *tree, json_t *whole, struct err *err)
{
	_cleanup_free_ json_t **values = mem_alloc(tree->count, sizeof(*values));
	_cleanup_free_ uint32_t *seen = mem_alloc(tree->count, sizeof(*seen));

	for (uint32_t i = 0; i < tree->count; i++) {
		struct structured_node *node = &tree->nodes[i];
		struct span name = structured_name(tree, node);
		json_t *above = values[node->parent], *value = whole;

		if (i)
			value = json_is_array(above) ?
			                json_array_get(above, seen[node->parent]++) :
			                json_object_getn(above, name.data, name.len);
		values[i] = value;
		if (node->kind == STRUCTURED_OBJECT ?
		            json_object_size(value) != node->count || !json_is_object(value) :
		    node->kind == STRUCTURED_ARRAY ?
		            json_array_size(value) != node->count || !json_is_array(value) :
		            !toml_scalar_fits(tree, i, value, err))
			return tree_refuse(tree, node->entry.start,
			                   "it is written in a way that is not followed", err);
	}
	return true;
}

bool toml_tree_read(struct structured *tree, uint32_t at, struct err *err)
{
	struct toml_reader reader = { .tree = tree, .text = tree->text, .at = at, .err = err };
	json_t *whole = NULL;
	bool ok;

	if (!toml_parse(span_skip(tree->text, at), &whole, err))
		return false;
	tree_add(tree, 0, STRUCTURED_OBJECT, err);
	tree->nodes[0].style = STYLE_BLOCK;
	tree->nodes[0].source = tree->nodes[0].entry = (struct structured_range){ at, at };
	ok = toml_lines(&reader) && toml_fill(tree, whole, err);
	json_decref(whole);
	return ok;
}
