/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a tree: libyaml's events, whose marks count characters, with the places that it does not
 * name (dashes, the ends of block collections) found in the text.
 *
 * Scalars are read by the core schema of YAML 1.2.2, section 10.3.2; "<<" is a merge key.
 */
#include <string.h>
#include <yaml.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/structured/private.h"

struct yaml_reader {
	struct structured *tree;
	struct span text;
	yaml_parser_t parser;
	json_t *anchors;       /* owned: the index of the last node with that name */
	struct err *err;
	uint32_t chars, bytes; /* a character's number and where it begins */
	bool ascii;
	uint32_t open;         /* the innermost collection; UINT32_MAX: none */
	unsigned depth;
	uint32_t member;       /* the member whose value comes; 0: none */
	unsigned skip;         /* collections that are a key */
	unsigned documents;
	bool several;          /* the root is the array of documents */
	bool again;            /* it must be */
	bool ended;
};

/* ---- places ------------------------------------------------------------------------- */

/* Where the character of that number begins. */
static uint32_t yaml_byte(struct yaml_reader *reader, size_t chars)
{
	const uint32_t bom = reader->text.len != utf8_skip_mark(reader->text).len ? 3 : 0;
	const char *data = reader->text.data;

	if (reader->ascii)
		return (uint32_t)chars + bom;
	while (reader->chars < chars && reader->bytes < reader->text.len) {
		reader->chars++;
		reader->bytes++;
		while (reader->bytes < reader->text.len &&
		       ((unsigned char)data[reader->bytes] & 0xC0) == 0x80)
			reader->bytes++;
	}
	while (reader->chars > chars && reader->bytes > bom) {
		reader->chars--;
		reader->bytes--;
		while (((unsigned char)data[reader->bytes] & 0xC0) == 0x80)
			reader->bytes--;
	}
	return reader->bytes;
}

uint32_t yaml_tree_skip(struct span text, uint32_t at)
{
	while (at < text.len) {
		const char c = text.data[at];

		if (c == '#' && (!at || strchr(" \t\r\n", text.data[at - 1])))
			at = tree_line_end(text, at);
		else if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
			at++;
		else
			break;
	}
	return at;
}

uint32_t yaml_tree_properties(struct span text, uint32_t at)
{
	uint32_t end = at, next = at;

	for (;;) {
		next = yaml_tree_skip(text, next);
		if (next >= text.len || (text.data[next] != '&' && text.data[next] != '!'))
			return end;
		while (next < text.len && !strchr(" \t\r\n", text.data[next]))
			next++;
		end = next;
	}
}

static bool yaml_refuse(struct yaml_reader *reader, const yaml_event_t *event, const char *why)
{
	return tree_refuse(reader->tree, yaml_byte(reader, event->start_mark.index), why,
	                   reader->err);
}

static bool yaml_refuse_text(struct yaml_reader *reader)
{
	const yaml_parser_t *parser = &reader->parser;

	if (parser->error == YAML_MEMORY_ERROR)
		return err_set(reader->err, ERR_TOO_LARGE, "There is no memory for this YAML.");
	if (parser->error == YAML_READER_ERROR)
		return err_set(reader->err, ERR_INVALID_ARGUMENT,
		               "Not YAML: a control character, byte %zu.",
		               parser->problem_offset + 1);
	return tree_refuse(reader->tree, yaml_byte(reader, parser->problem_mark.index),
	                   parser->problem ? parser->problem : "it cannot be read", reader->err);
}

/* ---- scalars ------------------------------------------------------------------------ */

static bool yaml_listed(struct span text, const char *const *words)
{
	for (; *words; words++)
		if (span_eq(text, span_str(*words)))
			return true;
	return false;
}

static bool is_integer(struct span text)
{
	size_t sign = text.len && (text.data[0] == '-' || text.data[0] == '+');

	if (span_starts(text, SPAN("0x")) || span_starts(text, SPAN("0o"))) {
		const bool hex = text.data[1] == 'x';

		for (size_t i = 2; i < text.len; i++)
			if (hex ? ascii_hex(text.data[i]) < 0 :
			          text.data[i] < '0' || text.data[i] > '7')
				return false;
		return text.len > 2;
	}
	return text.len > sign && span_digits(span_skip(text, sign)) == text.len - sign;
}

static bool is_real(struct span text)
{
	size_t digits, fraction = 0;

	if (text.len && (text.data[0] == '-' || text.data[0] == '+'))
		text = span_skip(text, 1);
	digits = span_digits(text);
	text = span_skip(text, digits);
	if (text.len && text.data[0] == '.') {
		fraction = span_digits(span_skip(text, 1));
		text = span_skip(text, 1 + fraction);
	}
	if (!digits && !fraction)
		return false;
	if (text.len && (text.data[0] == 'e' || text.data[0] == 'E')) {
		text = span_skip(text, 1);
		if (text.len && (text.data[0] == '-' || text.data[0] == '+'))
			text = span_skip(text, 1);
		return text.len && span_digits(text) == text.len;
	}
	return !text.len;
}

enum structured_kind yaml_tree_kind(struct span text)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };
	static const char *const booleans[] = { "true", "True", "TRUE", "false", "False", "FALSE",
		                                NULL };

	if (yaml_listed(text, nulls))
		return STRUCTURED_NULL;
	if (yaml_listed(text, booleans))
		return STRUCTURED_BOOLEAN;
	return is_integer(text) || is_real(text) ? STRUCTURED_NUMBER : STRUCTURED_STRING;
}

/* ---- nodes -------------------------------------------------------------------------- */

/* Where the next entry of the open collection begins: its dash, its key, or its item in brackets;
 * `at` is where its first event is. */
static uint32_t entry_start(struct yaml_reader *reader, uint32_t at)
{
	const struct structured_node *open = &reader->tree->nodes[reader->open];
	uint32_t from;

	if (open->kind != STRUCTURED_ARRAY || open->style != STYLE_BLOCK)
		return at;
	from = open->last && reader->tree->nodes[open->last].entry.end ?
	               reader->tree->nodes[open->last].entry.end : open->source.start;
	from = yaml_tree_skip(reader->text, from);
	return from < at && reader->text.data[from] == '-' ? from : at;
}

/* The node that a value's event is for: a new item, the member whose key came, or a root. */
static uint32_t value_node(struct yaml_reader *reader, uint32_t at)
{
	uint32_t node, start = at;

	if (reader->member) {
		node = reader->member;
		reader->member = 0;
		return node;
	}
	if (reader->open != UINT32_MAX)
		start = entry_start(reader, at);
	node = tree_add(reader->tree, reader->open == UINT32_MAX ? 0 : reader->open,
	                STRUCTURED_NULL, reader->err);
	if (node != UINT32_MAX)
		reader->tree->nodes[node].entry = (struct structured_range){ start, at };
	return node;
}

static void node_end(struct yaml_reader *reader, uint32_t node, uint32_t end)
{
	reader->tree->nodes[node].source.end = end;
	reader->tree->nodes[node].entry.end = end;
}

static bool node_properties(struct yaml_reader *reader, uint32_t node, const yaml_char_t *anchor,
                            const yaml_char_t *tag)
{
	if (tag)
		reader->tree->nodes[node].flags |= NODE_TAGGED;
	if (!anchor)
		return true;
	reader->tree->nodes[node].flags |= NODE_ANCHORED;
	return json_object_set_new_nocheck(reader->anchors, (const char *)anchor,
	                                   json_integer(node)) == 0;
}

/* Where the event's node itself begins, after its anchor and tag. */
static uint32_t event_start(struct yaml_reader *reader, const yaml_event_t *event, bool properties,
                            uint32_t end)
{
	uint32_t start = yaml_byte(reader, event->start_mark.index);

	if (!properties)
		return start;
	start = yaml_tree_skip(reader->text, yaml_tree_properties(reader->text, start));
	return start < end ? start : end;
}

/* The end of a literal or folded scalar's last line, before its line end. */
static uint32_t block_scalar_end(struct span text, uint32_t start, uint32_t end)
{
	struct span head = span_of(text.data + start,
	                           tree_line_end(text, start) - start);
	const bool keeps = memchr(span_head(head, 3).data, '+', span_head(head, 3).len) != NULL;

	if (!keeps)
		while (end > start && strchr(" \t\r\n", text.data[end - 1]))
			end--;
	else if (end > start && text.data[end - 1] == '\n')
		end -= end - 1 > start && text.data[end - 2] == '\r' ? 2 : 1;
	return end;
}

static bool yaml_scalar_value(struct yaml_reader *reader, const yaml_event_t *event, uint32_t node)
{
	static const enum structured_style styles[] = {
		[YAML_PLAIN_SCALAR_STYLE] = STYLE_PLAIN,
		[YAML_SINGLE_QUOTED_SCALAR_STYLE] = STYLE_SINGLE,
		[YAML_DOUBLE_QUOTED_SCALAR_STYLE] = STYLE_DOUBLE,
		[YAML_LITERAL_SCALAR_STYLE] = STYLE_LITERAL,
		[YAML_FOLDED_SCALAR_STYLE] = STYLE_FOLDED,
	};
	const bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct span text = span_of((const char *)event->data.scalar.value,
	                           event->data.scalar.length);
	uint32_t end = yaml_byte(reader, event->end_mark.index);
	uint32_t start = event_start(reader, event,
	                             event->data.scalar.anchor || event->data.scalar.tag, end);
	struct structured_node *it = &reader->tree->nodes[node];

	it->style = (uint8_t)styles[event->data.scalar.style];
	it->kind = (uint8_t)(plain ? yaml_tree_kind(text) : STRUCTURED_STRING);
	if (it->style == STYLE_LITERAL || it->style == STYLE_FOLDED)
		end = block_scalar_end(reader->text, start, end);
	it->source.start = start;
	node_end(reader, node, end);
	if (!node_properties(reader, node, event->data.scalar.anchor, event->data.scalar.tag))
		return false;
	if (text.len == end - start && memcmp(text.data, reader->text.data + start, text.len) == 0)
		tree_text_range(reader->tree, node, start, end);
	else if (!tree_text_decoded(reader->tree, node, text, reader->err))
		return false;
	return true;
}

static bool collection_value(struct yaml_reader *reader, const yaml_event_t *event, uint32_t node)
{
	const bool mapping = event->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *anchor = mapping ? event->data.mapping_start.anchor :
	                                      event->data.sequence_start.anchor;
	const yaml_char_t *tag = mapping ? event->data.mapping_start.tag :
	                                   event->data.sequence_start.tag;
	const bool flow = mapping ? event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE :
	                            event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
	const uint32_t start = event_start(reader, event, anchor || tag,
	                                   (uint32_t)reader->text.len);
	struct structured_node *it = &reader->tree->nodes[node];

	it->kind = mapping ? STRUCTURED_OBJECT : STRUCTURED_ARRAY;
	it->style = flow ? STYLE_FLOW : STYLE_BLOCK;
	it->source.start = start;
	if (flow && (start >= reader->text.len || !strchr("{[", reader->text.data[start])))
		it->flags |= NODE_COMPLEX_KEY; /* [a: b] */
	if (reader->depth == STRUCTURED_DEPTH_MAX)
		return yaml_refuse(reader, event, "nested too deep");
	reader->depth++;
	reader->open = node;
	return node_properties(reader, node, anchor, tag);
}

static bool alias_value(struct yaml_reader *reader, const yaml_event_t *event, uint32_t node)
{
	const json_t *target = json_object_get(reader->anchors,
	                                       (const char *)event->data.alias.anchor);

	if (!target)
		return yaml_refuse(reader, event, "an alias without its anchor");
	reader->tree->nodes[node].kind = STRUCTURED_ALIAS;
	reader->tree->nodes[node].source.start = yaml_byte(reader, event->start_mark.index);
	reader->tree->nodes[node].text = (uint32_t)json_integer_value(target);
	node_end(reader, node, yaml_byte(reader, event->end_mark.index));
	return true;
}

/* ---- keys --------------------------------------------------------------------------- */

static bool yaml_key_next(const struct yaml_reader *reader)
{
	return reader->open != UINT32_MAX && !reader->member &&
	       reader->tree->nodes[reader->open].kind == STRUCTURED_OBJECT;
}

/* Whether "? " stands before the key. */
static bool key_is_explicit(const struct yaml_reader *reader, uint32_t start)
{
	const struct structured_node *open = &reader->tree->nodes[reader->open];
	uint32_t from = open->last ? reader->tree->nodes[open->last].entry.end :
	                             open->source.start;

	if (open->style == STYLE_FLOW && from < start && strchr("{,", reader->text.data[from]))
		from++;
	from = yaml_tree_skip(reader->text, from);
	if (from < start && reader->text.data[from] == ',')
		from = yaml_tree_skip(reader->text, from + 1);
	return from < start && reader->text.data[from] == '?';
}

/* A key's first event: the member is made, and its value comes next. */
static bool yaml_key_take(struct yaml_reader *reader, const yaml_event_t *event)
{
	const bool scalar = event->type == YAML_SCALAR_EVENT;
	const uint32_t start = yaml_byte(reader, event->start_mark.index);
	const uint32_t end = yaml_byte(reader, event->end_mark.index);
	const bool complex = !scalar || event->data.scalar.anchor || event->data.scalar.tag ||
	                     key_is_explicit(reader, start) || start == end;
	const uint32_t node = tree_add(reader->tree, reader->open, STRUCTURED_NULL, reader->err);
	struct structured_node *it;
	struct span name;

	if (node == UINT32_MAX)
		return false;
	it = &reader->tree->nodes[node];
	it->key = it->entry = (struct structured_range){ start, end };
	it->flags |= complex ? NODE_COMPLEX_KEY : 0;
	reader->member = node;
	if (!scalar) {
		tree_name_range(reader->tree, node, start, end);
		reader->skip = event->type != YAML_ALIAS_EVENT;
		return true;
	}
	name = span_of((const char *)event->data.scalar.value, event->data.scalar.length);
	if (span_eq(name, SPAN("<<")) && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
		it->flags |= NODE_MERGE;
	if (name.len == end - start && memcmp(name.data, reader->text.data + start,
					      name.len) == 0) {
		tree_name_range(reader->tree, node, start, end);
		return true;
	}
	return tree_name_decoded(reader->tree, node, name, reader->err);
}

/* ---- events ------------------------------------------------------------------------- */

static void collection_end(struct yaml_reader *reader, const yaml_event_t *event)
{
	struct structured *tree = reader->tree;
	struct structured_node *node = &tree->nodes[reader->open];
	uint32_t end = yaml_byte(reader, event->end_mark.index);

	if (node->first && (node->style == STYLE_BLOCK || node->flags & NODE_COMPLEX_KEY)) {
		node->source.start = tree->nodes[node->first].entry.start;
		end = tree->nodes[node->last].entry.end;
	}
	node_end(reader, reader->open, end);
	reader->depth--;
	reader->open = reader->depth ? node->parent : UINT32_MAX;
}

static bool yaml_document_begin(struct yaml_reader *reader)
{
	if (++reader->documents == 2 && !reader->several) {
		reader->again = true;
		return false;
	}
	return true;
}

/* Of a key that is a collection the events are only counted. */
static bool skip_event(struct yaml_reader *reader, const yaml_event_t *event)
{
	struct structured_node *member = &reader->tree->nodes[reader->member];

	reader->skip += event->type == YAML_MAPPING_START_EVENT ||
	                event->type == YAML_SEQUENCE_START_EVENT;
	reader->skip -= event->type == YAML_MAPPING_END_EVENT ||
	                event->type == YAML_SEQUENCE_END_EVENT;
	member->key.end = member->entry.end = yaml_byte(reader, event->end_mark.index);
	tree_name_range(reader->tree, reader->member, member->key.start, member->key.end);
	return true;
}

static bool value_take(struct yaml_reader *reader, const yaml_event_t *event)
{
	const uint32_t node = value_node(reader, yaml_byte(reader, event->start_mark.index));

	if (node == UINT32_MAX)
		return false;
	if (event->type == YAML_SCALAR_EVENT)
		return yaml_scalar_value(reader, event, node);
	if (event->type == YAML_ALIAS_EVENT)
		return alias_value(reader, event, node);
	return collection_value(reader, event, node);
}

static bool yaml_event_take(struct yaml_reader *reader, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		return yaml_document_begin(reader);
	case YAML_STREAM_END_EVENT:
		reader->ended = true;
		return true;
	case YAML_SCALAR_EVENT:
	case YAML_ALIAS_EVENT:
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		if (reader->skip)
			return skip_event(reader, event);
		return yaml_key_next(reader) ? yaml_key_take(reader, event) :
			value_take(reader, event);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		if (reader->skip)
			return skip_event(reader, event);
		collection_end(reader, event);
		return true;
	default:
		return true;
	}
}

static bool yaml_read_events(struct yaml_reader *reader)
{
	yaml_event_t event;

	while (!reader->ended) {
		bool ok;

		if (!yaml_parser_parse(&reader->parser, &event))
			return yaml_refuse_text(reader);
		ok = yaml_event_take(reader, &event);
		yaml_event_delete(&event);
		if (!ok)
			return false;
	}
	return true;
}

static bool yaml_read(struct yaml_reader *reader, uint32_t at)
{
	struct structured *tree = reader->tree;
	bool ok;

	if (!yaml_parser_initialize(&reader->parser))
		return err_set(reader->err, ERR_TOO_LARGE, "There is no memory for this YAML.");
	reader->anchors = json_object();
	yaml_parser_set_encoding(&reader->parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader->parser, (const yaml_char_t *)tree->text.data + at,
	                             tree->text.len - at);
	ok = yaml_read_events(reader);
	json_decref(reader->anchors);
	yaml_parser_delete(&reader->parser);
	return ok;
}

static bool text_is_ascii(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] >= 0x80)
			return false;
	return true;
}

bool yaml_tree_read(struct structured *tree, uint32_t at, struct err *err)
{
	const bool ascii = text_is_ascii(span_skip(tree->text, at));
	struct yaml_reader reader = { .tree = tree, .text = tree->text, .err = err, .bytes = at,
	                              .ascii = ascii, .open = UINT32_MAX };
	bool ok = yaml_read(&reader, at);

	if (!ok && reader.again) {
		reader = (struct yaml_reader){ .tree = tree, .text = tree->text, .err = err,
			                       .bytes = at, .ascii = ascii, .open = UINT32_MAX,
			                       .several = true };
		tree->count = 0;
		buf_clear(&tree->decoded);
		tree_add(tree, 0, STRUCTURED_ARRAY, err);
		tree->nodes[0].flags = NODE_DOCUMENTS;
		tree->nodes[0].style = STYLE_BLOCK;
		tree->nodes[0].source.end = tree->nodes[0].entry.end = (uint32_t)tree->text.len;
		ok = yaml_read(&reader, at);
	}
	if (!ok || tree->count)
		return ok;
	tree_add(tree, 0, STRUCTURED_NULL, err); /* nothing but comments */
	tree->nodes[0].source = (struct structured_range){ (uint32_t)tree->text.len,
		                                           (uint32_t)tree->text.len };
	return true;
}
