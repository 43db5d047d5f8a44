/* SPDX-License-Identifier: Apache-2.0 */
/* XML 1.0 (fifth edition) as a tree: a list of its elements first, then objects, in which
 * elements of
 * one name are an array.
 *
 * Not read: a text with entities other than the five predefined ones and characters by number.  A
 * document type is skipped, never followed. Names are not looked up in namespaces.
 */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/private.h"

enum { XML_ATTRIBUTES_MAX = 1000 };

struct xml_tree_attribute {
	struct structured_range name, value; /* the value with its quotation marks */
	uint32_t next;                       /* 1 + its index; 0: none */
};

/* Text between two tags that is not blank. */
struct xml_piece {
	uint32_t at, len; /* in reader->texts */
	uint32_t next;    /* of the same element: 1 + its index; 0: none */
};

struct xml_element {
	struct structured_range name, whole;
	uint32_t parent, first, last, next; /* 1 + index; 0: none */
	uint32_t attribute, last_attribute; /* likewise */
	uint32_t attributes;
	struct structured_range text;       /* the first piece that is not blank */
	uint32_t piece, last_piece;         /* 1 + index; 0: none */
	uint32_t pieces;
};

struct xml_reader {
	struct structured *tree;
	struct span text;
	uint32_t at;
	struct xml_element *elements; /* owned */
	size_t count, cap;
	struct xml_tree_attribute *attributes; /* owned */
	size_t attribute_count, attribute_cap;
	uint32_t open;  /* 1 + index; 0: none */
	unsigned depth;
	struct buf texts; /* of all pieces, without references */
	struct xml_piece *pieces; /* owned */
	size_t piece_count, piece_cap;
	struct buf scratch;
	struct err *err;
};

/* ---- tokens ------------------------------------------------------------------------- */

static bool xml_refuse(struct xml_reader *reader, uint32_t at, const char *what)
{
	return tree_refuse(reader->tree, at, what, reader->err);
}

static bool xml_starts(const struct xml_reader *reader, struct span what)
{
	return span_starts(span_skip(reader->text, reader->at), what);
}

uint32_t xml_tree_name_end(struct span text, uint32_t at)
{
	const uint32_t start = at;

	for (; at < text.len; at++) {
		const unsigned char c = (unsigned char)text.data[at];

		if (!ascii_is_letter(c) && c != '_' && c != ':' && c < 0x80 &&
		    (at == start || (!ascii_is_digit(c) && c != '-' && c != '.')))
			break;
	}
	return at;
}

static void xml_skip_space(struct xml_reader *reader)
{
	while (reader->at < reader->text.len && strchr(" \t\r\n", reader->text.data[reader->at]) &&
	       reader->text.data[reader->at])
		reader->at++;
}

/* Past `end`, which must come. */
static bool xml_skip_past(struct xml_reader *reader, struct span end, const char *what)
{
	struct span rest = span_skip(reader->text, reader->at);
	const char *found = memmem(rest.data, rest.len, end.data, end.len);

	if (!found)
		return xml_refuse(reader, reader->at, what);
	reader->at = (uint32_t)(found - reader->text.data + (ptrdiff_t)end.len);
	return true;
}

/* &name; at `at` of the text: the character it stands for. */
static bool xml_reference(struct span text, size_t *at, struct buf *out)
{
	static const struct { struct span name; char is; } known[] = {
		{ { "lt;", 3 }, '<' }, { { "gt;", 3 }, '>' }, { { "amp;", 4 }, '&' },
		{ { "quot;", 5 }, '"' }, { { "apos;", 5 }, '\'' },
	};
	struct span rest = span_skip(text, *at + 1);
	char utf8[4], *end;
	unsigned long code;

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (span_starts(rest, known[i].name)) {
			*at += 1 + known[i].name.len;
			return buf_char(out, known[i].is) || true;
		}
	}
	if (rest.len < 3 || rest.data[0] != '#' || !memchr(rest.data, ';', span_head(rest,
										     12).len) ||
	    (rest.data[1] == 'x' ? ascii_hex(rest.data[2]) < 0 : !ascii_is_digit(rest.data[1])))
		return false;
	code = rest.data[1] == 'x' ? strtoul(rest.data + 2, &end, 16) :
	                             strtoul(rest.data + 1, &end, 10);
	if (*end != ';' || !code || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ||
	    (code < ' ' && code != '\t' && code != '\n' && code != '\r'))
		return false;
	*at += (size_t)(end - rest.data) + 2;
	buf_append(out, utf8, utf8_put((uint32_t)code, utf8));
	return true;
}

/* Appends text, or an attribute's value, as its characters. */
static bool xml_decode(struct span text, bool attribute, struct buf *out)
{
	size_t at = 0;

	while (at < text.len) {
		const char c = text.data[at];

		if (c == '&') {
			if (!xml_reference(text, &at, out))
				return false;
			continue;
		}
		if ((unsigned char)c < ' ' && !strchr("\t\n\r", c))
			return false;
		if (c == '\r' && at + 1 < text.len && text.data[at + 1] == '\n')
			at++;
		buf_char(out, attribute && strchr("\t\n\r", c) ? ' ' : c == '\r' ? '\n' : c);
		at++;
	}
	return true;
}

/* ---- elements ----------------------------------------------------------------------- */

static struct xml_element *xml_open(struct xml_reader *reader)
{
	return reader->open ? &reader->elements[reader->open - 1] : NULL;
}

static bool xml_tree_attribute(struct xml_reader *reader)
{
	struct xml_element *element = &reader->elements[reader->count - 1];
	struct xml_tree_attribute it = { .name.start = reader->at };
	struct span name;
	const char *end;

	reader->at = it.name.end = xml_tree_name_end(reader->text, reader->at);
	name = structured_bytes(reader->tree, it.name);
	xml_skip_space(reader);
	if (!name.len || !xml_starts(reader, SPAN("=")))
		return xml_refuse(reader, reader->at, "an attribute must come here");
	reader->at++;
	xml_skip_space(reader);
	if (!xml_starts(reader, SPAN("\"")) && !xml_starts(reader, SPAN("'")))
		return xml_refuse(reader, reader->at, "a value in quotation marks must come here");
	end = memchr(reader->text.data + reader->at + 1, reader->text.data[reader->at],
	             reader->text.len - reader->at - 1);
	if (!end || memchr(reader->text.data + reader->at, '<',
	                   (size_t)(end - reader->text.data) - reader->at))
		return xml_refuse(reader, reader->at, "an attribute's value without an end");
	it.value = (struct structured_range){ reader->at, (uint32_t)(end - reader->text.data) + 1 };
	reader->at = it.value.end;
	for (uint32_t i = element->attribute; i; i = reader->attributes[i - 1].next)
		if (span_eq(structured_bytes(reader->tree, reader->attributes[i - 1].name), name))
			return xml_refuse(reader, it.name.start,
					  "an attribute that is there twice");
	if (++element->attributes > XML_ATTRIBUTES_MAX)
		return xml_refuse(reader, it.name.start, "too many attributes");
	reader->attributes = mem_grow(reader->attributes, &reader->attribute_cap,
	                              reader->attribute_count + 1, sizeof(it));
	reader->attributes[reader->attribute_count++] = it;
	if (element->last_attribute)
		reader->attributes[element->last_attribute - 1].next =
			(uint32_t)reader->attribute_count;
	else
		element->attribute = (uint32_t)reader->attribute_count;
	element->last_attribute = (uint32_t)reader->attribute_count;
	return true;
}

static void xml_close(struct xml_reader *reader, struct xml_element *element)
{
	element->whole.end = reader->at;
	reader->open = element->parent;
	reader->depth--;
}

/* <name attributes> or <name/> */
static bool xml_start_tag(struct xml_reader *reader)
{
	struct xml_element it = { .whole.start = reader->at, .parent = reader->open };
	struct xml_element *above = xml_open(reader);

	it.name = (struct structured_range){ reader->at + 1,
		                             xml_tree_name_end(reader->text, reader->at + 1) };
	if (it.name.end == it.name.start)
		return xml_refuse(reader, reader->at, "a name must follow <");
	if (!above && reader->count)
		return xml_refuse(reader, reader->at, "a second root element");
	if (reader->depth++ == STRUCTURED_DEPTH_MAX)
		return xml_refuse(reader, reader->at, "nested too deep");
	if (reader->count >= LIMIT_STRUCTURED_NODES)
		return err_set(reader->err, ERR_TOO_LARGE, "The file has too many elements.");
	reader->elements = mem_grow(reader->elements, &reader->cap, reader->count + 1, sizeof(it));
	above = xml_open(reader);
	reader->elements[reader->count++] = it;
	if (above && above->last)
		reader->elements[above->last - 1].next = (uint32_t)reader->count;
	else if (above)
		above->first = (uint32_t)reader->count;
	if (above)
		above->last = (uint32_t)reader->count;
	reader->open = (uint32_t)reader->count;
	reader->at = it.name.end;
	for (;;) {
		const uint32_t before = reader->at;

		xml_skip_space(reader);
		if (xml_starts(reader, SPAN("/>"))) {
			reader->at += 2;
			xml_close(reader, &reader->elements[reader->count - 1]);
			return true;
		}
		if (xml_starts(reader, SPAN(">"))) {
			reader->at++;
			return true;
		}
		if (reader->at == before || !xml_tree_attribute(reader))
			return reader->at == before ?
			               xml_refuse(reader, before, "the tag has no end") : false;
	}
}

static bool xml_end_tag(struct xml_reader *reader)
{
	struct xml_element *open = xml_open(reader);
	const uint32_t start = reader->at + 2, end = xml_tree_name_end(reader->text, start);

	if (!open || !span_eq(structured_bytes(reader->tree, open->name),
	                      span_of(reader->text.data + start, end - start)))
		return xml_refuse(reader, reader->at, "an end tag that does not fit");
	reader->at = end;
	xml_skip_space(reader);
	if (!xml_starts(reader, SPAN(">")))
		return xml_refuse(reader, reader->at, "> must come here");
	reader->at++;
	xml_close(reader, open);
	return true;
}

/* Adds text [start, end) to the open element; `plain`: CDATA, which has no references. */
static bool xml_add_text(struct xml_reader *reader, uint32_t start, uint32_t end, bool plain)
{
	struct xml_element *open = xml_open(reader);
	struct span text = span_of(reader->text.data + start, end - start);
	struct xml_piece piece = { 0 };

	if (!open)
		return (span_is_blank(text) && !plain) ||
		       xml_refuse(reader, start, "text outside of the root element");
	if (span_is_blank(text) && !plain)
		return true;
	piece.at = (uint32_t)reader->texts.len;
	if (plain)
		buf_span(&reader->texts, text);
	else if (!xml_decode(text, false, &reader->texts))
		return xml_refuse(reader, start, "an entity that is not predefined, or a control "
		                                 "character");
	piece.len = (uint32_t)reader->texts.len - piece.at;
	reader->pieces = mem_grow(reader->pieces, &reader->piece_cap, reader->piece_count + 1,
	                          sizeof(piece));
	reader->pieces[reader->piece_count++] = piece;
	if (open->last_piece)
		reader->pieces[open->last_piece - 1].next = (uint32_t)reader->piece_count;
	else
		open->piece = (uint32_t)reader->piece_count;
	open->last_piece = (uint32_t)reader->piece_count;
	if (!open->pieces++)
		open->text = (struct structured_range){ start, end };
	open->pieces += plain;
	return open->pieces < 1000 || xml_refuse(reader, start, "text in too many pieces");
}

static bool xml_declaration(struct xml_reader *reader)
{
	int depth = 0;

	for (; reader->at < reader->text.len; reader->at++) {
		const char c = reader->text.data[reader->at];
		const char *end;

		if (c == '"' || c == '\'') {
			end = memchr(reader->text.data + reader->at + 1, c,
			             reader->text.len - reader->at - 1);
			if (!end)
				break;
			reader->at = (uint32_t)(end - reader->text.data);
		} else if (xml_starts(reader, SPAN("<!--"))) {
			if (!xml_skip_past(reader, SPAN("-->"), "a comment without an end"))
				return false;
			reader->at--;
		} else if (c == '<' || c == '[') {
			depth++;
		} else if ((c == '>' || c == ']') && --depth == 0) {
			reader->at++;
			return true;
		}
	}
	return xml_refuse(reader, reader->at, "a document type without an end");
}

static bool xml_markup(struct xml_reader *reader)
{
	const uint32_t start = reader->at;

	if (xml_starts(reader, SPAN("<!--")))
		return xml_skip_past(reader, SPAN("-->"), "a comment without an end");
	if (xml_starts(reader, SPAN("<?")))
		return xml_skip_past(reader, SPAN("?>"), "an instruction without an end");
	if (xml_starts(reader, SPAN("<![CDATA[")))
		return xml_skip_past(reader, SPAN("]]>"), "a CDATA section without an end") &&
		       xml_add_text(reader, start + 9, reader->at - 3, true);
	if (xml_starts(reader, SPAN("<!")))
		return reader->count ?
			xml_refuse(reader, start, "a declaration inside an element") :
		                       xml_declaration(reader);
	return xml_starts(reader, SPAN("</")) ? xml_end_tag(reader) : xml_start_tag(reader);
}

static bool xml_read_all(struct xml_reader *reader)
{
	while (reader->at < reader->text.len) {
		struct span rest = span_skip(reader->text, reader->at);
		const char *next = memchr(rest.data, '<', rest.len);
		const uint32_t end = next ? (uint32_t)(next - reader->text.data) :
		                            (uint32_t)reader->text.len;

		if (end > reader->at && !xml_add_text(reader, reader->at, end, false))
			return false;
		reader->at = end;
		if (next && !xml_markup(reader))
			return false;
	}
	if (reader->open || !reader->count)
		return xml_refuse(reader, reader->at,
		                  reader->count ? "an element without an end" :
					  "there is no element");
	return true;
}

/* ---- the tree ----------------------------------------------------------------------- */

static bool xml_build_attributes(struct xml_reader *reader, const struct xml_element *element,
                                 uint32_t node)
{
	struct structured *tree = reader->tree;

	for (uint32_t i = element->attribute; i; i = reader->attributes[i - 1].next) {
		const struct xml_tree_attribute *it = &reader->attributes[i - 1];
		const uint32_t member = tree_add(tree, node, STRUCTURED_STRING, reader->err);
		struct structured_range value = it->value;

		if (member == UINT32_MAX)
			return false;
		buf_clear(&reader->scratch);
		buf_char(&reader->scratch, '@');
		buf_span(&reader->scratch, structured_bytes(tree, it->name));
		tree->nodes[member].key = it->name;
		tree->nodes[member].source = value;
		tree->nodes[member].entry = (struct structured_range){ it->name.start, value.end };
		tree->nodes[member].flags = NODE_ATTRIBUTE;
		if (!tree_name_decoded(tree, member, buf_view(&reader->scratch), reader->err))
			return false;
		buf_clear(&reader->scratch);
		value.start++;
		value.end--;
		if (!xml_decode(structured_bytes(tree, value), true, &reader->scratch))
			return xml_refuse(reader, value.start, "an entity that is not predefined");
		if (!tree_text_decoded(tree, member, buf_view(&reader->scratch), reader->err))
			return false;
	}
	return true;
}

/* The pieces of an element, joined; until the next call. */
static struct span xml_text_of(struct xml_reader *reader, const struct xml_element *element)
{
	const struct xml_piece *piece = &reader->pieces[element->piece - 1];

	if (!piece->next)
		return span_of(reader->texts.data + piece->at, piece->len);
	buf_clear(&reader->scratch);
	for (uint32_t i = element->piece; i; i = piece->next) {
		piece = &reader->pieces[i - 1];
		buf_append(&reader->scratch, reader->texts.data + piece->at, piece->len);
	}
	return buf_view(&reader->scratch);
}

static bool xml_build_text(struct xml_reader *reader, const struct xml_element *element,
                           uint32_t node, bool member)
{
	struct structured *tree = reader->tree;

	if (!element->pieces)
		return true;
	if (member) {
		node = tree_add(tree, node, STRUCTURED_STRING, reader->err);
		if (node == UINT32_MAX || !tree_name_decoded(tree, node, SPAN("#text"),
							     reader->err))
			return false;
		tree->nodes[node].source = tree->nodes[node].entry = element->text;
	}
	tree->nodes[node].flags |= element->pieces > 1 ? NODE_MIXED : 0;
	return tree_text_decoded(tree, node, span_trim(xml_text_of(reader, element)), reader->err);
}

/* The node of an element, without what is in it. */
static uint32_t xml_build_node(struct xml_reader *reader, const struct xml_element *element,
                               uint32_t parent)
{
	const bool leaf = !element->attribute && !element->first;
	const uint32_t node = tree_add(reader->tree, parent,
	                               !leaf ? STRUCTURED_OBJECT : element->pieces ?
	                               STRUCTURED_STRING : STRUCTURED_NULL, reader->err);
	struct structured_node *it = &reader->tree->nodes[node];

	if (node == UINT32_MAX)
		return node;
	it->style = STYLE_ELEMENT;
	it->key = element->name;
	it->source = it->entry = element->whole;
	tree_name_range(reader->tree, node, element->name.start, element->name.end);
	return node;
}

/* Where each name of the element's children goes: its number of elements, then -1 - its array. */
static json_t *xml_names(struct xml_reader *reader, const struct xml_element *element)
{
	json_t *names = json_object();

	for (uint32_t i = element->first; i; i = reader->elements[i - 1].next) {
		struct span name = structured_bytes(reader->tree, reader->elements[i - 1].name);
		json_t *count = json_object_getn(names, name.data, name.len);

		json_object_setn_new_nocheck(names, name.data, name.len,
		                             json_integer(1 + json_integer_value(count)));
	}
	return names;
}

static bool xml_build_children(struct xml_reader *reader, const struct xml_element *element,
                               uint32_t node, uint32_t *nodes)
{
	struct structured *tree = reader->tree;
	json_auto_t *names = xml_names(reader, element);

	for (uint32_t i = element->first; i; i = reader->elements[i - 1].next) {
		const struct xml_element *child = &reader->elements[i - 1];
		struct span name = structured_bytes(tree, child->name);
		json_t *count = json_object_getn(names, name.data, name.len);
		json_int_t number = json_integer_value(count);
		uint32_t parent = node;

		if (number > 1) {
			parent = tree_add(tree, node, STRUCTURED_ARRAY, reader->err);
			if (parent == UINT32_MAX)
				return false;
			tree->nodes[parent].style = STYLE_BLOCK;
			tree->nodes[parent].flags = NODE_REPEATED;
			tree->nodes[parent].key = child->name;
			tree->nodes[parent].source = tree->nodes[parent].entry = child->whole;
			tree_name_range(tree, parent, child->name.start, child->name.end);
			json_integer_set(count, -(json_int_t)parent);
		} else if (number < 0) {
			parent = (uint32_t)-number;
			tree->nodes[parent].source.end = child->whole.end;
		}
		nodes[i - 1] = xml_build_node(reader, child, parent);
		if (nodes[i - 1] == UINT32_MAX)
			return false;
	}
	return true;
}

/* Elements come before what is in them. */
static bool xml_build(struct xml_reader *reader)
{
	_cleanup_free_ uint32_t *nodes = mem_alloc(reader->count, sizeof(*nodes));

	tree_add(reader->tree, 0, STRUCTURED_OBJECT, reader->err);
	reader->tree->nodes[0].source.end = reader->tree->nodes[0].entry.end =
		(uint32_t)reader->text.len;
	nodes[0] = xml_build_node(reader, &reader->elements[0], 0);
	for (size_t i = 0; i < reader->count; i++) {
		const struct xml_element *element = &reader->elements[i];
		const bool leaf = !element->attribute && !element->first;

		if (!xml_build_attributes(reader, element, nodes[i]) ||
		    !xml_build_text(reader, element, nodes[i], !leaf) ||
		    !xml_build_children(reader, element, nodes[i], nodes))
			return false;
	}
	return true;
}

bool xml_tree_read(struct structured *tree, uint32_t at, struct err *err)
{
	struct xml_reader reader = { .tree = tree, .text = tree->text, .at = at, .err = err,
	                             .texts = BUF_INIT(LIMIT_STRUCTURED_BYTES),
	                             .scratch = BUF_INIT(LIMIT_STRUCTURED_BYTES) };
	bool ok = xml_read_all(&reader) && xml_build(&reader);

	free(reader.elements);
	free(reader.attributes);
	free(reader.pieces);
	buf_release(&reader.texts);
	buf_release(&reader.scratch);
	return ok;
}
