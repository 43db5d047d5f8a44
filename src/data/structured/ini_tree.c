/* SPDX-License-Identifier: Apache-2.0 */
/* INI files as Python's configparser reads them, without interpolation; and Java's properties
 * (java.util.Properties.load).
 *
 * INI: "[section]", "key = value" or "key: value", comments from # or ; at a line's start; a line
 * that is indented more than its key goes on with the value.  A comment after a value is part of
 * it.
 * Deviations: names keep their case; keys may stand before the first section; sections and keys may
 * repeat.
 */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/private.h"

/* ---- reading INI -------------------------------------------------------------------- */

struct ini_reader {
	struct structured *tree;
	struct span text;
	uint32_t section;   /* the node that keys go to */
	uint32_t key;       /* the last key, while its value may go on; 0: none */
	uint32_t indent;    /* of it */
	struct buf value;   /* of it, so far */
	struct err *err;
};

/* Ends the last key's value. */
static bool ini_end_value(struct ini_reader *reader)
{
	struct structured_node *node = &reader->tree->nodes[reader->key];
	struct span text = buf_view(&reader->value);
	bool ok = true;

	if (!reader->key || node->kind == STRUCTURED_NULL) {
		reader->key = 0;
		return true;
	}
	while (text.len && strchr(" \t\r\n", text.data[text.len - 1]))
		text.len--;
	if (text.len == node->source.end - node->source.start)
		tree_text_range(reader->tree, reader->key, node->source.start, node->source.end);
	else
		ok = tree_text_decoded(reader->tree, reader->key, text, reader->err);
	reader->key = 0;
	buf_clear(&reader->value);
	return ok;
}

static uint32_t ini_trim(struct span text, uint32_t start, uint32_t end)
{
	while (end > start && strchr(" \t\r\n", text.data[end - 1]))
		end--;
	return end;
}

/* What the section's and the root's ranges cover grows to `end`. */
static void ini_grow(struct ini_reader *reader, uint32_t end)
{
	struct structured_node *section = &reader->tree->nodes[reader->section];

	section->source.end = section->entry.end = end;
}

static bool ini_section(struct ini_reader *reader, uint32_t start, uint32_t end)
{
	const char *data = reader->text.data;
	uint32_t close = end, node;

	while (close > start && data[close - 1] != ']')
		close--;
	if (close < start + 3)
		return tree_refuse(reader->tree, start,
				   "a section's name in brackets must come here",
		                   reader->err);
	node = tree_add(reader->tree, 0, STRUCTURED_OBJECT, reader->err);
	if (node == UINT32_MAX)
		return false;
	reader->tree->nodes[node].style = STYLE_BLOCK;
	reader->tree->nodes[node].key = (struct structured_range){ start + 1, close - 1 };
	reader->tree->nodes[node].entry.start = start;
	reader->tree->nodes[node].source.start = end;
	tree_name_range(reader->tree, node, start + 1, close - 1);
	reader->section = node;
	ini_grow(reader, end);
	return true;
}

static bool ini_key(struct ini_reader *reader, uint32_t start, uint32_t end)
{
	const char *data = reader->text.data;
	uint32_t mark = start, name_end, node;

	while (mark < end && data[mark] != '=' && data[mark] != ':')
		mark++;
	name_end = ini_trim(reader->text, start, mark);
	if (name_end == start)
		return tree_refuse(reader->tree, start, "a key must come here", reader->err);
	node = tree_add(reader->tree, reader->section,
	                mark < end ? STRUCTURED_STRING : STRUCTURED_NULL, reader->err);
	if (node == UINT32_MAX)
		return false;
	tree_name_range(reader->tree, node, start, name_end);
	reader->tree->nodes[node].key = (struct structured_range){ start, name_end };
	mark = mark < end ? tree_skip_blanks(reader->text, mark + 1, end) : end;
	reader->tree->nodes[node].source = (struct structured_range){ mark, end };
	reader->tree->nodes[node].entry = (struct structured_range){ start, end };
	reader->key = node;
	buf_append(&reader->value, data + mark, end - mark);
	ini_grow(reader, end);
	return true;
}

/* A line that goes on with the last key's value. */
static void ini_more(struct ini_reader *reader, uint32_t start, uint32_t end)
{
	struct structured_node *node = &reader->tree->nodes[reader->key];

	buf_char(&reader->value, '\n');
	buf_append(&reader->value, reader->text.data + start, end - start);
	if (start == end)
		return;
	node->source.end = node->entry.end = end;
	ini_grow(reader, end);
}

static bool ini_line(struct ini_reader *reader, uint32_t at)
{
	const uint32_t stop = tree_line_end(reader->text, at);
	const uint32_t start = tree_skip_blanks(reader->text, at, stop);
	const uint32_t end = ini_trim(reader->text, start, stop);
	const bool valued = reader->key &&
	                    reader->tree->nodes[reader->key].kind == STRUCTURED_STRING;

	if (start == end) {
		if (valued)
			ini_more(reader, start, start);
		return true;
	}
	if (reader->text.data[start] == '#' || reader->text.data[start] == ';')
		return true;
	if (valued && start - at > reader->indent) {
		ini_more(reader, start, end);
		return true;
	}
	if (!ini_end_value(reader))
		return false;
	reader->indent = start - at;
	return reader->text.data[start] == '[' ? ini_section(reader, start, end) :
	                                         ini_key(reader, start, end);
}

static void ini_root(struct structured *tree, uint32_t at, struct err *err)
{
	tree_add(tree, 0, STRUCTURED_OBJECT, err);
	tree->nodes[0].style = STYLE_BLOCK;
	tree->nodes[0].source = (struct structured_range){ at, at };
	tree->nodes[0].entry = tree->nodes[0].source;
}

bool ini_tree_read(struct structured *tree, uint32_t at, struct err *err)
{
	struct ini_reader reader = { .tree = tree, .text = tree->text, .err = err,
	                             .value = BUF_INIT(LIMIT_STRUCTURED_BYTES) };
	bool ok = true;

	ini_root(tree, at, err);
	for (; ok && at < tree->text.len; at = tree_line_next(tree->text, at))
		ok = ini_line(&reader, at);
	ok = ok && ini_end_value(&reader);
	buf_release(&reader.value);
	return ok;
}

/* ---- reading properties --------------------------------------------------------------- */

/* The end of the logical line that begins at `at`: an odd number of backslashes before a line end
 * goes on with the next. */
static uint32_t properties_line_end(struct span text, uint32_t at)
{
	for (;;) {
		const uint32_t end = tree_line_end(text, at);
		uint32_t slashes = 0;

		while (end > at + slashes && text.data[end - 1 - slashes] == '\\')
			slashes++;
		if (slashes % 2 == 0 || end == text.len)
			return end;
		at = tree_line_next(text, end);
	}
}

/* Appends what is written there, decoded. */
static void properties_decode(struct span text, struct buf *out)
{
	static const char from[] = "tnrf", to[] = "\t\n\r\f";

	for (size_t i = 0; i < text.len; i++) {
		const char c = i + 1 < text.len ? text.data[i + 1] : '\0';
		const char *known = c ? strchr(from, c) : NULL;

		if (text.data[i] != '\\') {
			buf_char(out, text.data[i]);
			continue;
		}
		if (c == 'u' && json_tree_unicode(text, &i, out)) {
			i--;
			continue;
		}
		i++;
		if (known) {
			buf_char(out, to[known - from]);
		} else if (c == '\r' || c == '\n') {
			i += c == '\r' && i + 1 < text.len && text.data[i + 1] == '\n';
			while (i + 1 < text.len && strchr(" \t\f", text.data[i + 1]))
				i++;
		} else if (i < text.len) {
			buf_char(out, c);
		}
	}
}

static bool properties_pair(struct structured *tree, uint32_t start, uint32_t end,
                            struct err *err)
{
	_cleanup_buf_ struct buf name = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	_cleanup_buf_ struct buf value = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	const uint32_t node = tree_add(tree, 0, STRUCTURED_STRING, err);
	const char *data = tree->text.data;
	uint32_t at = start;

	if (node == UINT32_MAX)
		return false;
	while (at < end && !strchr("=: \t\f\r\n", data[at]))
		at += data[at] == '\\' ? 2 : 1;
	at = at < end ? at : end;
	tree->nodes[node].key = (struct structured_range){ start, at };
	properties_decode(span_of(data + start, at - start), &name);
	at = tree_skip_blanks(tree->text, at, end);
	if (at < end && (data[at] == '=' || data[at] == ':'))
		at = tree_skip_blanks(tree->text, at + 1, end);
	tree->nodes[node].source = (struct structured_range){ at, end };
	tree->nodes[node].entry = (struct structured_range){ start, end };
	properties_decode(span_of(data + at, end - at), &value);
	return tree_name_decoded(tree, node, buf_view(&name), err) &&
	       tree_text_decoded(tree, node, buf_view(&value), err);
}

bool ini_tree_read_properties(struct structured *tree, uint32_t at, struct err *err)
{
	ini_root(tree, at, err);
	while (at < tree->text.len) {
		const uint32_t start = tree_skip_blanks(tree->text, at, (uint32_t)tree->text.len);
		const uint32_t stop = tree_line_end(tree->text, start);
		uint32_t end = stop;

		if (start < stop && tree->text.data[start] != '#' &&
		    tree->text.data[start] != '!') {
			end = properties_line_end(tree->text, start);
			if (!properties_pair(tree, start, end, err))
				return false;
			tree->nodes[0].source.end = tree->nodes[0].entry.end = end;
		}
		at = tree_line_next(tree->text, end);
	}
	return true;
}

/* ---- writing ------------------------------------------------------------------------ */

static bool is_properties(const struct structured *tree)
{
	return tree->format == STRUCTURED_PROPERTIES;
}

static void properties_put(struct buf *out, struct span text, bool key, bool escape_wide)
{
	struct utf8_char c;
	bool first = true;

	for (; utf8_next(&text, &c); first = false) {
		if (c.code == '\n' || c.code == '\r' || c.code == '\t')
			buf_printf(out, "\\%c", c.code == '\n' ? 'n' : c.code == '\r' ? 'r' : 't');
		else if (c.code == '\\' || (c.code == ' ' && (key || first)) ||
		         (key && strchr("=:#!", (int)c.code) && c.code < 128 && c.code))
			buf_printf(out, "\\%c", (char)c.code);
		else if (c.code < ' ' || (escape_wide && c.code > 126 && c.code < 0x10000))
			buf_printf(out, "\\u%04X", (unsigned)c.code);
		else if (escape_wide && c.code >= 0x10000)
			buf_printf(out, "\\u%04X\\u%04X", 0xD7C0 + (unsigned)(c.code >> 10),
			           0xDC00 + (unsigned)(c.code & 0x3FF));
		else
			buf_span(out, c.bytes);
	}
}

/* Whether the file has other characters as escapes alone. */
static bool properties_escape_wide(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] >= 0x80)
			return false;
	return memmem(text.data, text.len, "\\u", 2) != NULL;
}

/* A value of INI: further lines are indented more than the key's, `indent`. */
static bool ini_put_value(struct buf *out, struct span text, struct span indent,
                          struct span newline, struct err *err)
{
	struct span line;
	bool first = true;

	if (span_trim(text).len != text.len)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "An INI value cannot begin or end with white space.");
	while (line_next(&text, &line)) {
		struct span body = line_body(line);

		if (!first && (!body.len || span_trim(body).len != body.len ||
		               strchr("#;", body.data[0])))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "A line of an INI value cannot be empty, begin with # or ;, "
			               "or have white space around it.");
		if (!first) {
			buf_span(out, newline);
			buf_span(out, indent);
			buf_str(out, "    ");
		}
		buf_span(out, body);
		first = false;
	}
	return true;
}

static bool ini_put(const struct structured *tree, struct buf *out, const json_t *value,
                    struct span indent, struct err *err)
{
	if (!json_is_string(value))
		return err_set(err, ERR_INVALID_ARGUMENT, "A value is a string or a number here.");
	if (!is_properties(tree))
		return ini_put_value(out, json_span(value), indent, tree_newline(tree->text), err);
	properties_put(out, json_span(value), false, properties_escape_wide(tree->text));
	return true;
}

static bool ini_put_name(const struct structured *tree, struct buf *out, struct span name,
                         bool section, struct err *err)
{
	if (is_properties(tree)) {
		if (!name.len)
			return err_set(err, ERR_INVALID_ARGUMENT, "A key cannot be empty.");
		properties_put(out, name, true, properties_escape_wide(tree->text));
		return true;
	}
	if (!name.len || span_trim(name).len != name.len)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A name cannot be empty, or begin or end with white space.");
	for (size_t i = 0; i < name.len; i++)
		if (strchr(section ? "\r\n]" : "\r\n=:", name.data[i]) ||
		    (!i && !section && strchr("#;[", name.data[i])))
			return err_set(err, ERR_INVALID_ARGUMENT,
			               "The name has a character that INI uses otherwise.");
	return buf_span(out, name);
}

/* What stands between key and value in the file: of the container's last key, or any. */
static struct span ini_separator(const struct structured *tree,
                                 const struct structured_node *parent)
{
	const struct structured_node *near = parent->last ? &tree->nodes[parent->last] : NULL;

	for (uint32_t i = 1; i < tree->count && (!near || near->kind != STRUCTURED_STRING); i++)
		near = &tree->nodes[i];
	if (!near || near->kind != STRUCTURED_STRING)
		return is_properties(tree) ? SPAN("=") : SPAN(" = ");
	if (near->source.start == near->source.end && near->source.start > near->key.end + 1)
		return SPAN(" = ");
	return span_of(tree->text.data + near->key.end, near->source.start - near->key.end);
}

static bool ini_replace(const struct structured_place *place, const json_t *value,
                        struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *node = place->node;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	struct span separator = ini_separator(tree, place->parent ? place->parent : node);

	if (node->kind == STRUCTURED_OBJECT)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A section is not replaced as a whole: change its keys.");
	if (node->kind == STRUCTURED_NULL)
		buf_span(&out, separator);
	else if (node->source.start == node->source.end && separator.len &&
	         strchr(" \t", separator.data[separator.len - 1]) &&
	         !strchr(" \t", tree->text.data[node->source.start - 1]))
		buf_char(&out, ' ');
	if (!ini_put(tree, &out, value, tree_indent(tree->text, node->entry.start), err))
		return false;
	edits_add(edits, node->source.start, node->source.end, buf_view(&out));
	return true;
}

/* Appends "key = value". */
static bool ini_put_pair(const struct structured *tree, struct span separator, struct span indent,
                         struct span name, const json_t *value, struct buf *out, struct err *err)
{
	buf_span(out, indent);
	if (!ini_put_name(tree, out, name, false, err))
		return false;
	buf_span(out, separator);
	return ini_put(tree, out, value, indent, err);
}

static bool ini_add_section(const struct structured_place *place, const json_t *value,
                            struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	struct span newline = tree_newline(tree->text);
	const uint32_t end = (uint32_t)tree->text.len;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	const bool ended = !end || tree->text.data[end - 1] == '\n';

	if (place->parent != structured_root(tree) || is_properties(tree))
		return err_set(err, ERR_INVALID_ARGUMENT, "The value cannot be an object here.");
	if (!ended)
		buf_span(&out, newline);
	if (end)
		buf_span(&out, newline);
	buf_char(&out, '[');
	if (!ini_put_name(tree, &out, place->name, true, err))
		return false;
	buf_char(&out, ']');
	for (void *at = json_object_iter((json_t *)value); at;
	     at = json_object_iter_next((json_t *)value, at)) {
		buf_span(&out, newline);
		if (!ini_put_pair(tree, ini_separator(tree, place->parent), SPAN(""),
		                  span_str(json_object_iter_key(at)), json_object_iter_value(at),
		                  &out, err))
			return false;
	}
	if (ended)
		buf_span(&out, newline);
	edits_add(edits, end, end, buf_view(&out));
	return true;
}

static bool ini_add(const struct structured_place *place, const json_t *value,
                    struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *last = NULL, *child;
	struct span newline = tree_newline(tree->text), separator;
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	uint32_t at;

	if (json_is_object(value))
		return ini_add_section(place, value, edits, err);
	for (child = structured_first(tree, place->parent); child;
	     child = structured_next(tree, child))
		last = child->kind == STRUCTURED_OBJECT ? last : child;
	separator = ini_separator(tree, last ? place->parent : structured_root(tree));
	if (!last && place->parent == structured_root(tree)) {
		at = place->parent->source.start;
		if (!ini_put_pair(tree, separator, SPAN(""), place->name, value, &out, err))
			return false;
		buf_span(&out, newline);
	} else {
		at = tree_line_end(tree->text, last ? last->entry.end :
		                                      place->parent->source.start);
		buf_span(&out, newline);
		if (!ini_put_pair(tree, separator,
		                  last ? tree_indent(tree->text, last->entry.start) : SPAN(""),
		                  place->name, value, &out, err))
			return false;
	}
	edits_add(edits, at, at, buf_view(&out));
	return true;
}

static bool ini_remove(const struct structured_place *place, struct structured_edits *edits,
                       struct err *err)
{
	struct span text = place->tree->text;
	const struct structured_node *node = place->node;
	uint32_t end = tree_line_next(text, node->entry.end), next;

	(void)err;
	while (node->kind == STRUCTURED_OBJECT && end < text.len &&
	       tree_line_end(text, end) == end && (next = tree_line_next(text, end)) > end)
		end = next; /* the blank lines after a section */
	edits_add(edits, tree_line_start(text, node->entry.start), end, SPAN(""));
	return true;
}

static bool ini_rename(const struct structured_place *place, struct span name,
                       struct structured_edits *edits, struct err *err)
{
	_cleanup_buf_ struct buf out = BUF_INIT(LIMIT_STRUCTURED_BYTES);

	if (!ini_put_name(place->tree, &out, name, place->node->kind == STRUCTURED_OBJECT, err))
		return false;
	edits_add(edits, place->node->key.start, place->node->key.end, buf_view(&out));
	return true;
}

const struct structured_writer ini_writer = { ini_replace, ini_add, ini_remove, ini_rename };
