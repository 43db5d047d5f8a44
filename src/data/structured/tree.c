/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes, their texts and values, and the text around them. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/private.h"

/* ---- nodes ------------------------------------------------------------------------ */

void structured_release(struct structured *tree)
{
	free(tree->nodes);
	buf_release(&tree->decoded);
	free(tree->extra);
	*tree = (struct structured){ 0 };
}

uint32_t tree_add(struct structured *tree, uint32_t parent, enum structured_kind kind,
                  struct err *err)
{
	const uint32_t index = tree->count;
	struct structured_node *node, *above;

	if (index >= LIMIT_STRUCTURED_NODES) {
		err_set(err, ERR_TOO_LARGE, "The file has more than %zu values.",
		        LIMIT_STRUCTURED_NODES);
		return UINT32_MAX;
	}
	if (index == tree->cap)
		tree->nodes = mem_grow(tree->nodes, &tree->cap, index + 1, sizeof(*tree->nodes));
	tree->count++;
	node = &tree->nodes[index];
	*node = (struct structured_node){ .kind = (uint8_t)kind, .parent = parent };
	if (!index)
		return index;
	above = &tree->nodes[parent];
	if (above->first)
		tree->nodes[above->last].next = index;
	else
		above->first = index;
	above->last = index;
	above->count++;
	return index;
}

void tree_drop(struct structured *tree, uint32_t parent, uint32_t last, uint32_t count,
               size_t decoded)
{
	struct structured_node *above = &tree->nodes[parent];

	tree->count = count;
	tree->decoded.len = decoded;
	above->flags |= NODE_PARTIAL;
	above->last = last;
	if (last)
		tree->nodes[last].next = 0;
	else
		above->first = 0;
}

void tree_name_range(struct structured *tree, uint32_t node, uint32_t start, uint32_t end)
{
	tree->nodes[node].name = start;
	tree->nodes[node].name_len = end - start;
}

void tree_text_range(struct structured *tree, uint32_t node, uint32_t start, uint32_t end)
{
	tree->nodes[node].text = start;
	tree->nodes[node].text_len = end - start;
}

static bool decoded_add(struct structured *tree, struct span text, uint32_t *at, uint32_t *len,
                        struct err *err)
{
	*at = (uint32_t)tree->decoded.len;
	*len = (uint32_t)text.len;
	return buf_span(&tree->decoded, text) ||
	       err_set(err, ERR_TOO_LARGE, "There is no memory for the file's strings.");
}

bool tree_name_decoded(struct structured *tree, uint32_t node, struct span name, struct err *err)
{
	struct structured_node *it = &tree->nodes[node];

	it->flags |= NODE_NAME_DECODED;
	return decoded_add(tree, name, &it->name, &it->name_len, err);
}

bool tree_text_decoded(struct structured *tree, uint32_t node, struct span text, struct err *err)
{
	struct structured_node *it = &tree->nodes[node];

	it->flags |= NODE_TEXT_DECODED;
	return decoded_add(tree, text, &it->text, &it->text_len, err);
}

bool tree_refuse(const struct structured *tree, uint32_t at, const char *what, struct err *err)
{
	struct span before = span_head(tree->text, at), last;
	size_t line = 1, column = 1;
	const char *end;

	while ((end = before.len ? memchr(before.data, '\n', before.len) : NULL)) {
		line++;
		before = span_skip(before, (size_t)(end - before.data) + 1);
	}
	last = line == 1 ? utf8_skip_mark(before) : before;
	for (size_t i = 0; i < last.len; i++)
		column += ((unsigned char)last.data[i] & 0xC0) != 0x80;
	return err_set(err, ERR_INVALID_ARGUMENT, "Not %s, line %zu, column %zu: %s.",
	               tree->label, line, column, what);
}

struct span structured_name(const struct structured *tree, const struct structured_node *node)
{
	const char *base = node->flags & NODE_NAME_DECODED ? tree->decoded.data : tree->text.data;

	return node->name_len ? span_of(base + node->name, node->name_len) : span_of("", 0);
}

struct span structured_text(const struct structured *tree, const struct structured_node *node)
{
	const char *base = node->flags & NODE_TEXT_DECODED ? tree->decoded.data : tree->text.data;

	return node->text_len ? span_of(base + node->text, node->text_len) : span_of("", 0);
}

unsigned structured_line(const struct structured *tree, const struct structured_node *node)
{
	struct span before = span_head(tree->text, node->entry.start);
	unsigned line = 1;
	const char *end;

	while ((end = before.len ? memchr(before.data, '\n', before.len) : NULL)) {
		line++;
		before = span_skip(before, (size_t)(end - before.data) + 1);
	}
	return line;
}

const char *structured_kind_phrase(const struct structured_node *node)
{
	static const char *const phrases[] = {
		[STRUCTURED_OBJECT] = "an object", [STRUCTURED_ARRAY] = "an array",
		[STRUCTURED_STRING] = "a string",  [STRUCTURED_NUMBER] = "a number",
		[STRUCTURED_BOOLEAN] = "a boolean", [STRUCTURED_NULL] = "null",
		[STRUCTURED_ALIAS] = "an alias",
	};

	return phrases[node->kind];
}

bool structured_has_documents(const struct structured *tree)
{
	return structured_root(tree)->flags & NODE_DOCUMENTS;
}

const struct structured_node *structured_target(const struct structured *tree,
                                                const struct structured_node *node)
{
	return node->kind == STRUCTURED_ALIAS ? &tree->nodes[node->text] : node;
}

unsigned tree_depth(const struct structured *tree, const struct structured_node *node)
{
	unsigned depth = 0;

	for (; node != tree->nodes; node = &tree->nodes[node->parent])
		depth++;
	return depth;
}

const struct structured_node *tree_item(const struct structured *tree,
                                        const struct structured_node *node, size_t index)
{
	const struct structured_node *item = structured_first(tree, node);

	while (item && index--)
		item = structured_next(tree, item);
	return item;
}

const struct structured_node *tree_previous(const struct structured *tree,
                                            const struct structured_node *node)
{
	const struct structured_node *before = NULL;
	const struct structured_node *item = structured_first(tree, &tree->nodes[node->parent]);

	for (; item && item != node; item = structured_next(tree, item))
		before = item;
	return before;
}

const struct structured_node *tree_member(const struct structured *tree,
                                          const struct structured_node *object,
                                          struct span name, bool *ret_again)
{
	const struct structured_node *found = NULL;

	*ret_again = false;
	for (const struct structured_node *member = structured_first(tree, object); member;
	     member = structured_next(tree, member)) {
		if (member->name_len != name.len || !span_eq(structured_name(tree, member), name))
			continue;
		*ret_again = *ret_again || found;
		found = member;
	}
	return found;
}

/* ---- values ----------------------------------------------------------------------- */

/* Digits of a base, without the underscores that YAML 1.1 and TOML allow between them. */
static bool number_plain(struct span text, char out[static 128], int *ret_base)
{
	size_t len = 0, i = 0;

	*ret_base = 10;
	if (text.len && (text.data[0] == '-' || text.data[0] == '+'))
		out[len++] = text.data[i++];
	if (text.len > i + 2 && text.data[i] == '0' && strchr("xob", text.data[i + 1])) {
		*ret_base = text.data[i + 1] == 'x' ? 16 : text.data[i + 1] == 'o' ? 8 : 2;
		i += 2;
	}
	for (; i < text.len && len < 127; i++)
		if (text.data[i] != '_')
			out[len++] = text.data[i];
	out[len] = '\0';
	return i == text.len && len;
}

static json_t *number_value(struct span text)
{
	char plain[128], *end;
	long long integer;
	double real;
	int base;

	if (!number_plain(text, plain, &base))
		return json_utf8(text);
	errno = 0;
	integer = strtoll(plain, &end, base);
	if (!*end && !errno)
		return json_integer(integer);
	if (!*end) /* more digits than an integer holds */
		return json_utf8(text);
	real = strtod(plain, &end);
	return !*end && isfinite(real) ? json_real(real) : json_utf8(text);
}

static json_t *tree_scalar_value(const struct structured *tree, const struct structured_node *node)
{
	struct span text = structured_text(tree, node);

	switch (node->kind) {
	case STRUCTURED_STRING:
		return json_utf8(text);
	case STRUCTURED_NUMBER:
		return number_value(text);
	case STRUCTURED_BOOLEAN:
		return json_boolean(text.len && (text.data[0] == 't' || text.data[0] == 'T'));
	default:
		return json_null();
	}
}

/* An object or array whose children are being added. */
struct value_frame {
	const struct structured_node *next; /* the child to come */
	json_t *value;                      /* borrowed: what it is in holds it */
};

struct value_reading {
	const struct structured *tree;
	struct value_frame frames[STRUCTURED_DEPTH_MAX + 2];
	size_t depth;
	size_t left; /* values that may still come */
};

/* The value of a node without its children, which a new frame gives it. */
static json_t *value_open(struct value_reading *reading, const struct structured_node *node,
                          struct err *err)
{
	json_t *value;

	node = structured_target(reading->tree, node);
	if (!reading->left-- || reading->depth > STRUCTURED_DEPTH_MAX) {
		err_set(err, ERR_TOO_LARGE,
			"The value is too large: aliases repeat in it, or it is "
		                            "nested too deep.");
		return NULL;
	}
	if (node->kind != STRUCTURED_OBJECT && node->kind != STRUCTURED_ARRAY)
		return tree_scalar_value(reading->tree, node);
	if (node->flags & NODE_PARTIAL) {
		err_set(err, ERR_INTERNAL, "A value was not read whole.");
		return NULL;
	}
	value = node->kind == STRUCTURED_OBJECT ? json_object() : json_array();
	reading->frames[reading->depth++] = (struct value_frame){
		structured_first(reading->tree, node), value
	};
	return value;
}

static bool value_add_child(struct value_reading *reading, struct err *err)
{
	struct value_frame *frame = &reading->frames[reading->depth - 1];
	const struct structured_node *child = frame->next;
	struct span name = structured_name(reading->tree, child);
	json_t *into = frame->value, *value;

	frame->next = structured_next(reading->tree, child);
	value = value_open(reading, child, err);
	if (!value)
		return false;
	if (json_is_array(into))
		return json_array_append_new(into, value) == 0;
	if (memchr(name.data, '\0', name.len)) {
		if (json_is_object(value) || json_is_array(value))
			reading->depth--;
		json_decref(value);
		return err_set(err, ERR_INVALID_ARGUMENT, "A key has the character U+0000.");
	}
	return json_object_setn_new_nocheck(into, name.data, name.len, value) == 0;
}

bool structured_value(const struct structured *tree, const struct structured_node *node,
                      size_t max, json_t **ret, struct err *err)
{
	_cleanup_free_ struct value_reading *reading = mem_alloc(1, sizeof(*reading));
	json_t *whole;

	reading->tree = tree;
	reading->left = max ? max : LIMIT_STRUCTURED_NODES;
	whole = value_open(reading, node, err);
	while (whole && reading->depth) {
		if (!reading->frames[reading->depth - 1].next) {
			reading->depth--;
		} else if (!value_add_child(reading, err)) {
			json_decref(whole);
			return false;
		}
	}
	*ret = whole;
	return whole != NULL;
}

/* ---- paths as text ---------------------------------------------------------------- */

static bool path_name_is_plain(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!ascii_is_letter((unsigned char)name.data[i]) && name.data[i] != '_' &&
		    (!i || !ascii_is_digit((unsigned char)name.data[i])))
			return false;
	return name.len > 0;
}

void structured_path(const struct structured *tree, const struct structured_node *node,
                     struct buf *out)
{
	const unsigned depth = tree_depth(tree, node);
	_cleanup_free_ const struct structured_node **way = mem_alloc(depth + 1, sizeof(*way));
	const size_t start = out->len;

	for (unsigned i = depth; i; i--, node = &tree->nodes[node->parent])
		way[i - 1] = node;
	for (unsigned i = 0; i < depth; i++) {
		const struct structured_node *above = &tree->nodes[way[i]->parent];
		struct span name = structured_name(tree, way[i]);
		unsigned long index = 0;

		if (above->kind == STRUCTURED_OBJECT) {
			buf_char(out, '.');
			if (path_name_is_plain(name))
				buf_span(out, name);
			else
				json_print_string(out, name);
			continue;
		}
		for (const struct structured_node *item = structured_first(tree, above);
		     item && item != way[i]; item = structured_next(tree, item))
			index++;
		buf_printf(out, "%s[%lu]", out->len == start ? "." : "", index);
	}
	if (out->len == start)
		buf_char(out, '.');
}

/* ---- text around a place ------------------------------------------------------------ */

uint32_t tree_line_start(struct span text, uint32_t at)
{
	while (at && text.data[at - 1] != '\n')
		at--;
	return at == 0 && span_starts(text, SPAN("\xEF\xBB\xBF")) ? 3 : at;
}

uint32_t tree_line_end(struct span text, uint32_t at)
{
	const char *end = at < text.len ? memchr(text.data + at, '\n', text.len - at) : NULL;
	uint32_t stop = end ? (uint32_t)(end - text.data) : (uint32_t)text.len;

	return end && stop > at && text.data[stop - 1] == '\r' ? stop - 1 : stop;
}

uint32_t tree_line_next(struct span text, uint32_t at)
{
	const char *end = at < text.len ? memchr(text.data + at, '\n', text.len - at) : NULL;

	return end ? (uint32_t)(end - text.data) + 1 : (uint32_t)text.len;
}

uint32_t tree_skip_blanks(struct span text, uint32_t at, uint32_t end)
{
	while (at < end && (text.data[at] == ' ' || text.data[at] == '\t'))
		at++;
	return at;
}

struct span tree_indent(struct span text, uint32_t at)
{
	const uint32_t start = tree_line_start(text, at);
	const uint32_t end = tree_skip_blanks(text, start, (uint32_t)text.len);

	return span_of(text.data + start, end - start);
}

bool tree_leads_line(struct span text, uint32_t at)
{
	return tree_skip_blanks(text, tree_line_start(text, at), at) == at;
}

struct span tree_newline(struct span text)
{
	const char *end = text.len ? memchr(text.data, '\n', text.len) : NULL;

	return end && end > text.data && end[-1] == '\r' ? SPAN("\r\n") : SPAN("\n");
}

struct span tree_indent_unit(const struct structured *tree)
{
	/* Of the first values in lines for themselves: usually the second node. */
	for (uint32_t i = 1; i < tree->count && i < 1000; i++) {
		const struct structured_node *node = &tree->nodes[i];
		const uint32_t outer = tree->nodes[node->parent].entry.start;
		struct span inner = tree_indent(tree->text, node->entry.start);
		struct span around = tree_indent(tree->text, outer);

		if (tree_leads_line(tree->text, node->entry.start) && inner.len > around.len &&
		    span_starts(inner, around))
			return span_skip(inner, around.len);
	}
	return SPAN("  ");
}
