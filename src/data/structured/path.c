/* SPDX-License-Identifier: Apache-2.0 */
/* Paths: a path is '.' or steps; a step is '.' name, '.' string, or an optional '.' and '[' index
 * or
 * string ']'.  A name is [A-Za-z_][A-Za-z0-9_]*, a string and an index are JSON's. */
#include "data/structured/private.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/schema.h"

struct path_reader {
	struct span text;
	size_t at;
	struct structured_steps *steps;
	struct err *err;
};

void structured_steps_release(struct structured_steps *steps)
{
	for (size_t i = 0; i < steps->count; i++)
		json_decref(steps->items[i].name);
	free(steps->items);
	*steps = (struct structured_steps){ 0 };
}

static bool path_refuse(const struct path_reader *reader, const char *why)
{
	return err_set(reader->err, ERR_INVALID_ARGUMENT,
	               "Not a path, character %zu of \"%.*s\": %s.", reader->at + 1,
	               (int)span_head(reader->text, 200).len, reader->text.data, why);
}

static char path_here(const struct path_reader *reader)
{
	return reader->at < reader->text.len ? reader->text.data[reader->at] : '\0';
}

/* `name` is taken; NULL: an index. */
static bool path_step(struct path_reader *reader, json_t *name, long index, size_t start)
{
	struct structured_steps *steps = reader->steps;

	if (steps->count == STRUCTURED_DEPTH_MAX) {
		json_decref(name);
		return path_refuse(reader, "it has too many steps");
	}
	if (steps->count == steps->cap)
		steps->items = mem_grow(steps->items, &steps->cap, steps->count + 1,
		                        sizeof(*steps->items));
	steps->items[steps->count++] = (struct structured_step){
		.name = name, .index = index,
		.path = span_head(reader->text, reader->at), .start = start,
	};
	return true;
}

static bool path_plain_name(struct path_reader *reader, size_t start)
{
	const size_t from = reader->at;

	while (ascii_is_letter((unsigned char)path_here(reader)) || path_here(reader) == '_' ||
	       (reader->at > from && ascii_is_digit((unsigned char)path_here(reader))))
		reader->at++;
	if (reader->at == from)
		return path_refuse(reader, "a name, \"a name in quotation marks\" or [index] must "
		                           "come here");
	if (path_here(reader) == '-' || path_here(reader) == '/' || path_here(reader) == '@')
		return path_refuse(reader,
		                   "names with characters other than letters, digits and _ are "
		                   "written in quotation marks, as .\"a-name\"");
	return path_step(reader, json_utf8(span_of(reader->text.data + from, reader->at - from)),
	                 0, start);
}

static bool path_string(struct path_reader *reader, json_t **ret)
{
	const size_t from = reader->at++;
	struct err why = ERR_INIT;

	while (path_here(reader) && path_here(reader) != '"')
		reader->at += path_here(reader) == '\\' && reader->at + 1 < reader->text.len ? 2 :
			1;
	if (path_here(reader) != '"')
		return path_refuse(reader, "a string without an end");
	reader->at++;
	if (!json_parse_foreign(span_of(reader->text.data + from, reader->at - from), 1, ret,
	                        NULL, &why))
		return path_refuse(reader, "the string before it is not one of JSON");
	return true;
}

static bool path_brackets(struct path_reader *reader, size_t start)
{
	json_t *name = NULL;
	char digits[12] = "";
	size_t len = 0;

	reader->at++;
	if (path_here(reader) == '"') {
		if (!path_string(reader, &name))
			return false;
	} else {
		while ((path_here(reader) == '-' && !len) ||
		       ascii_is_digit((unsigned char)path_here(reader))) {
			if (len == 9)
				return path_refuse(reader, "the index is too large");
			digits[len++] = path_here(reader);
			reader->at++;
		}
		if (!len || (digits[0] == '-' && len == 1))
			return path_refuse(reader,
					   "an index or a name in quotation marks must come "
			                           "here; only paths are read, no expressions");
	}
	if (path_here(reader) != ']') {
		json_decref(name);
		return path_refuse(reader, "] must come here; only paths are read, no expressions");
	}
	reader->at++;
	return path_step(reader, name, strtol(digits, NULL, 10), start);
}

bool structured_steps_read(struct span text, struct structured_steps *ret, struct err *err)
{
	struct path_reader reader = { .text = span_trim(text), .steps = ret, .err = err };
	json_t *name;

	text = reader.text;
	if (span_eq(text, SPAN(".")))
		return true;
	if (!text.len || (text.data[0] != '.' && text.data[0] != '['))
		return path_refuse(&reader, "a path begins with a period, as .name or .[0]");
	while (reader.at < text.len) {
		const size_t start = reader.at;

		if (path_here(&reader) != '.' && path_here(&reader) != '[')
			return path_refuse(&reader, "only paths are read, no expressions");
		reader.at += path_here(&reader) == '.';
		if (path_here(&reader) == '[') {
			if (!path_brackets(&reader, start))
				return false;
		} else if (path_here(&reader) == '"') {
			if (!path_string(&reader, &name) || !path_step(&reader, name, 0, start))
				return false;
		} else if (!path_plain_name(&reader, start)) {
			return false;
		}
	}
	return true;
}

/* ---- following ---------------------------------------------------------------------- */

static struct span step_before(const struct structured_steps *steps, size_t i)
{
	return i ? steps->items[i - 1].path : SPAN(".");
}

/* Of the object's members the one whose name is nearest, in the message. */
static bool path_refuse_missing(const struct structured *tree, const struct structured_node *object,
                           const struct structured_steps *steps, size_t i, struct err *err)
{
	enum { MOST = 1000 };
	_cleanup_free_ const char **names = mem_alloc(MOST, sizeof(*names));
	const char *name = json_string_value(steps->items[i].name), *near;
	struct span path = steps->items[i].path;
	size_t count = 0;

	for (const struct structured_node *member = structured_first(tree, object);
	     member && count < MOST; member = structured_next(tree, member)) {
		struct span text = structured_name(tree, member);

		names[count++] = mem_dup(text.data, text.len);
	}
	near = schema_nearest_name(name, names, count);
	err_set(err, ERR_INVALID_ARGUMENT, near ? "There is no %.*s. Did you mean \"%s\"?" :
	        count ? "There is no %.*s; the first name there is \"%s\"." :
	                "There is no %.*s; the object there is empty%s.",
	        (int)span_head(path, 300).len, path.data, near ? near : count ? names[0] : "");
	for (size_t k = 0; k < count; k++)
		free((char *)names[k]);
	return false;
}

static bool path_refuse_kind(const struct structured_node *node,
			     const struct structured_steps *steps,
                        size_t i, struct err *err)
{
	struct span before = step_before(steps, i), path = steps->items[i].path;
	const bool name = steps->items[i].name != NULL;

	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%.*s is %s, not %s: %.*s cannot be in it.",
	               (int)span_head(before, 300).len, before.data, structured_kind_phrase(node),
	               name ? "an object" : "an array", (int)span_head(path, 300).len, path.data);
}

static bool step_index(const struct structured *tree, const struct structured_node *node,
                       const struct structured_steps *steps, size_t i, bool may_end,
                       struct structured_place *place, struct err *err)
{
	const long index = steps->items[i].index;
	const long at = index < 0 ? index + (long)node->count : index;
	struct span path = steps->items[i].path;

	if (tree->format == STRUCTURED_XML && (index == 0 || index == -1) &&
	    node->style == STYLE_ELEMENT)
		return true; /* one element is the first of its name */
	if (node->kind != STRUCTURED_ARRAY)
		return path_refuse_kind(node, steps, i, err);
	if (at < 0 || at > (long)node->count || (at == (long)node->count && !may_end))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "No item %.*s: the array has %u %s.",
		               (int)span_head(path, 300).len, path.data, node->count,
		               node->count == 1 ? "item" : "items");
	place->parent = node;
	place->node = tree_item(tree, node, (size_t)at);
	place->index = (uint32_t)at;
	return true;
}

/* Whether what the object's merge keys stand for has the name. */
static bool merged_has(const struct structured *tree, const struct structured_node *object,
                       struct span name)
{
	bool again;

	for (const struct structured_node *member = structured_first(tree, object); member;
	     member = structured_next(tree, member)) {
		const struct structured_node *from = structured_target(tree, member), *item;

		if (!(member->flags & NODE_MERGE))
			continue;
		if (from->kind == STRUCTURED_OBJECT && tree_member(tree, from, name, &again))
			return true;
		for (item = structured_first(tree, from); from->kind == STRUCTURED_ARRAY && item;
		     item = structured_next(tree, item)) {
			const struct structured_node *one = structured_target(tree, item);

			if (one->kind == STRUCTURED_OBJECT && tree_member(tree, one, name, &again))
				return true;
		}
	}
	return false;
}

static bool step_name(const struct structured *tree, const struct structured_node *node,
                      const struct structured_steps *steps, size_t i, bool may_end,
                      struct structured_place *place, struct err *err)
{
	struct span name = json_span(steps->items[i].name), path = steps->items[i].path;
	const int len = (int)span_head(path, 300).len;
	bool again;

	if (tree->format == STRUCTURED_XML && node->style == STYLE_ELEMENT &&
	    node->kind != STRUCTURED_OBJECT) {
		if (span_eq(name, SPAN("#text")) && node->kind == STRUCTURED_STRING) {
			return true;
		}
	} else if (node->kind != STRUCTURED_OBJECT) {
		return path_refuse_kind(node, steps, i, err);
	}
	place->parent = node;
	place->name = name;
	place->index = node->count;
	place->node = tree_member(tree, node, name, &again);
	if (again)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.*s is there more than once: which one is meant is unclear.", len,
		               path.data);
	if (place->node)
		return true;
	if (merged_has(tree, node, name))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.*s comes from a merge key (<<): change it where it is defined.",
		               len, path.data);
	return may_end || path_refuse_missing(tree, node, steps, i, err);
}

/* An alias that stands for the node; NULL: none does. */
static const struct structured_node *alias_of(const struct structured *tree,
                                              const struct structured_node *node)
{
	if (!(node->flags & NODE_ANCHORED))
		return NULL;
	for (uint32_t i = 0; i < tree->count; i++)
		if (tree->nodes[i].kind == STRUCTURED_ALIAS &&
		    structured_target(tree, &tree->nodes[i]) == node)
			return &tree->nodes[i];
	return NULL;
}

static bool check_way(const struct structured *tree, const struct structured_node *node,
                      struct span path, bool last, struct err *err)
{
	const int len = (int)span_head(path, 300).len;
	const struct structured_node *alias = alias_of(tree, node);
	_cleanup_buf_ struct buf there = BUF_INIT(ERR_MESSAGE_MAX);

	if (node->kind == STRUCTURED_ALIAS && !last)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.*s is an alias, %.*s: change what it stands for, on line %u.",
				       len,
		               path.data,
		               (int)span_head(structured_bytes(tree, node->source), 80).len,
		               structured_bytes(tree, node->source).data,
		               structured_line(tree, structured_target(tree, node)));
	if (node->flags & NODE_COMPLEX_KEY)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "%.*s has a key that is not a plain scalar (\"? key\"): that is not "
		               "changed here.", len, path.data);
	if (!alias)
		return true;
	structured_path(tree, alias, &there);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "%.*s has an anchor, and an alias stands for it at %.300s (line %u): the "
	               "change would show there, too. Edit the text.", len, path.data,
	               there.data ? there.data : "", structured_line(tree, alias));
}

bool structured_follow(const struct structured *tree, const struct structured_node *from,
                       const struct structured_steps *steps, bool may_end,
                       struct structured_place *ret, struct err *err)
{
	struct structured_place place = { .tree = tree, .node = from };

	if (steps->for_change && !check_way(tree, from, SPAN("."), !steps->count, err))
		return false;
	for (size_t i = 0; i < steps->count; i++) {
		const struct structured_node *node = place.node;
		const bool last = i + 1 == steps->count;
		bool ok;

		if (node->kind == STRUCTURED_ALIAS)
			return check_way(tree, node, step_before(steps, i), false, err);
		ok = steps->items[i].name ?
		             step_name(tree, node, steps, i, may_end && last, &place, err) :
		             step_index(tree, node, steps, i, may_end && last, &place, err);
		if (!ok || (steps->for_change && place.node &&
		            !check_way(tree, place.node, steps->items[i].path, last, err)))
			return false;
	}
	*ret = place;
	return true;
}

const struct structured_node *structured_find(const struct structured *tree, struct span path,
                                              struct err *err)
{
	_cleanup_structured_steps_ struct structured_steps steps = { 0 };
	struct structured_place place;

	if (!structured_steps_read(path, &steps, err) ||
	    !structured_follow(tree, structured_root(tree), &steps, false, &place, err))
		return NULL;
	return place.node;
}
