/* SPDX-License-Identifier: Apache-2.0 */
/* JSON (RFC 8259), with comments and trailing commas as editors take them, and JSON Lines; read
 * without recursion.
 *
 * Deviations: a string with half of a surrogate pair is read, with U+FFFD in its place.
 */
#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "data/json.h"
#include "data/structured/list.h"

struct json_tree_reader {
	struct structured *tree;
	struct span text;
	uint32_t at;
	uint32_t open; /* the innermost container that has not ended; UINT32_MAX: none */
	unsigned depth;
	/* UINT32_MAX where there is none: */
	uint32_t way;   /* the innermost open container that tree->along leads through */
	uint32_t next;  /* the node in it that the next step leads to */
	uint32_t whole; /* an open container in which all is kept */
	size_t steps;   /* how many lead to `way`, or to `whole` */
	struct {
		uint32_t open; /* whose further children are dropped; UINT32_MAX: none */
		uint32_t last, count;
		size_t decoded;
	} dropping;
	struct err *err;
};

/* ---- tokens ------------------------------------------------------------------------- */

static bool json_tree_refuse(struct json_tree_reader *reader, uint32_t at, const char *what)
{
	return tree_refuse(reader->tree, at, what, reader->err);
}

static inline char json_here(const struct json_tree_reader *reader)
{
	return reader->at < reader->text.len ? reader->text.data[reader->at] : '\0';
}

/* Past white space and comments; false: a comment has no end. */
static bool json_skip(struct json_tree_reader *reader)
{
	const char *data = reader->text.data;
	const uint32_t end = (uint32_t)reader->text.len;

	for (;;) {
		while (reader->at < end && (data[reader->at] == ' ' || data[reader->at] == '\n' ||
		                            data[reader->at] == '\t' || data[reader->at] == '\r'))
			reader->at++;
		if (reader->at + 1 >= end || data[reader->at] != '/')
			return true;
		if (data[reader->at + 1] == '/') {
			reader->at = tree_line_end(reader->text, reader->at);
		} else if (data[reader->at + 1] == '*') {
			const char *stop = memmem(data + reader->at + 2, end - reader->at - 2, "*/",
						  2);

			if (!stop)
				return json_tree_refuse(reader, reader->at,
							"a comment without an end");
			reader->at = (uint32_t)(stop - data) + 2;
		} else {
			return true;
		}
	}
}

/* The end of the string whose quotation mark is at reader->at; *ret_escaped: it has escapes. 0,
 * with the error: it has none. */
static uint32_t json_string_end(struct json_tree_reader *reader, bool *ret_escaped)
{
	const char *data = reader->text.data;
	const uint32_t end = (uint32_t)reader->text.len;
	uint32_t at = reader->at + 1;

	*ret_escaped = false;
	for (; at < end && data[at] != '"'; at++) {
		if ((unsigned char)data[at] < ' ') {
			json_tree_refuse(reader, at, "a control character in a string");
			return 0;
		}
		if (data[at] == '\\') {
			*ret_escaped = true;
			at++;
		}
	}
	if (at < end)
		return at + 1;
	json_tree_refuse(reader, reader->at, "a string without an end");
	return 0;
}

static bool json_hex4(struct span text, size_t at, uint32_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < 4; i++) {
		int digit = at + i < text.len ? ascii_hex(text.data[at + i]) : -1;

		if (digit < 0)
			return false;
		*ret = *ret << 4 | (uint32_t)digit;
	}
	return true;
}

bool json_tree_unicode(struct span text, size_t *at, struct buf *out)
{
	char utf8[4];
	uint32_t code, low;

	if (!json_hex4(text, *at + 2, &code))
		return false;
	*at += 6;
	if (code >= 0xD800 && code < 0xDC00 && *at + 1 < text.len && text.data[*at] == '\\' &&
	    text.data[*at + 1] == 'u' && json_hex4(text, *at + 2, &low) && low >= 0xDC00 &&
	    low < 0xE000) {
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
		*at += 6;
	}
	if (code >= 0xD800 && code < 0xE000)
		code = 0xFFFD;
	buf_append(out, utf8, utf8_put(code, utf8));
	return true;
}

/* Appends the string between quotation marks as its characters; false: an escape that is none. */
static bool json_unescape(struct span inner, struct buf *out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	size_t at = 0;

	while (at < inner.len) {
		const char *slash = memchr(inner.data + at, '\\', inner.len - at);
		size_t stop = slash ? (size_t)(slash - inner.data) : inner.len;
		const char *known;

		buf_append(out, inner.data + at, stop - at);
		at = stop;
		if (!slash)
			break;
		if (at + 1 >= inner.len)
			return false;
		if (inner.data[at + 1] == 'u') {
			if (!json_tree_unicode(inner, &at, out))
				return false;
			continue;
		}
		known = inner.data[at + 1] ? strchr(from, inner.data[at + 1]) : NULL;
		if (!known)
			return false;
		buf_char(out, to[known - from]);
		at += 2;
	}
	return true;
}

typedef bool json_text_decoded(struct structured *tree, uint32_t node, struct span text,
                               struct err *err);
typedef void json_text_range(struct structured *tree, uint32_t node, uint32_t start, uint32_t end);

/* Takes the string at reader->at as the node's text or name; *ret_end is past it. */
static bool json_take_string(struct json_tree_reader *reader, uint32_t node, json_text_range *range,
                             json_text_decoded *decoded)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	const uint32_t start = reader->at;
	bool escaped;
	uint32_t end = json_string_end(reader, &escaped);

	if (!end)
		return false;
	reader->at = end;
	if (!escaped) {
		range(reader->tree, node, start + 1, end - 1);
		return true;
	}
	if (!json_unescape(span_of(reader->text.data + start + 1, end - start - 2), &plain))
		return json_tree_refuse(reader, start, "an invalid escape in a string");
	return decoded(reader->tree, node, buf_view(&plain), reader->err);
}

/* The length of a number (RFC 8259, section 6) at the start of the text; 0: none. */
static size_t json_number_len(struct span text)
{
	size_t at = text.len && text.data[0] == '-', digits = span_digits(span_skip(text, at));

	if (!digits || (digits > 1 && text.data[at] == '0'))
		return 0;
	at += digits;
	if (at < text.len && text.data[at] == '.') {
		digits = span_digits(span_skip(text, at + 1));
		if (!digits)
			return 0;
		at += 1 + digits;
	}
	if (at < text.len && (text.data[at] == 'e' || text.data[at] == 'E')) {
		size_t sign = at + 1 < text.len &&
		              (text.data[at + 1] == '+' || text.data[at + 1] == '-');

		digits = span_digits(span_skip(text, at + 1 + sign));
		if (!digits)
			return 0;
		at += 1 + sign + digits;
	}
	return at;
}

static size_t json_word_len(struct span text, enum structured_kind *ret)
{
	static const struct { struct span word; enum structured_kind kind; } words[] = {
		{ { "true", 4 }, STRUCTURED_BOOLEAN },
		{ { "false", 5 }, STRUCTURED_BOOLEAN },
		{ { "null", 4 }, STRUCTURED_NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		*ret = words[i].kind;
		if (span_starts(text, words[i].word))
			return words[i].word.len;
	}
	*ret = STRUCTURED_NUMBER;
	return json_number_len(text);
}

/* ---- what is kept ------------------------------------------------------------------- */

/* For a change (tree->along), the tree keeps the values on the way with all of their children, and
 * what is at its end; elsewhere, what shows how the file is written: its first nodes, and the first
 * child of each neighbour.  Any other value is read, and dropped before the next one. */

static struct json_tree_reader json_reader(struct structured *tree, uint32_t at, struct err *err)
{
	struct json_tree_reader reader = {
		.tree = tree, .text = tree->text, .at = at, .open = UINT32_MAX, .way = UINT32_MAX,
		.next = UINT32_MAX, .dropping.open = UINT32_MAX, .err = err,
	};

	/* whole: the root */
	for (size_t i = 0; tree->along && i < tree->along->count; i++) {
		if (!tree->along->items[i].name && tree->along->items[i].index < 0)
			break; /* only the array's end says which item that is */
		if (i + 1 == tree->along->count) {
			reader.whole = UINT32_MAX;
			reader.way = 0;
		}
	}
	return reader;
}

static bool json_keeps_child(const struct json_tree_reader *reader)
{
	const struct structured_node *open = &reader->tree->nodes[reader->open];

	return reader->whole != UINT32_MAX || reader->open == reader->way ||
	       reader->tree->count < TREE_SAMPLES ||
	       (reader->open && open->parent == reader->way && !open->first);
}

static void json_drop(struct json_tree_reader *reader)
{
	if (reader->open == reader->dropping.open)
		tree_drop(reader->tree, reader->open, reader->dropping.last,
		          reader->dropping.count, reader->dropping.decoded);
	else
		tree_drop(reader->tree, reader->open, 0, reader->open + 1,
		          reader->dropping.decoded);
}

/* Adds the next child of the innermost container, after the one before it may have been dropped. */
static uint32_t json_child(struct json_tree_reader *reader)
{
	struct structured *tree = reader->tree;

	if (reader->dropping.open != UINT32_MAX) {
		json_drop(reader);
	} else if (!json_keeps_child(reader)) {
		reader->dropping.open = reader->open;
		reader->dropping.last = tree->nodes[reader->open].last;
		reader->dropping.count = tree->count;
		reader->dropping.decoded = tree->decoded.len;
	}
	return tree_add(tree, reader->open, STRUCTURED_NULL, reader->err);
}

/* Notes whether the next step leads to the node, whose key has been read. */
static void json_follow(struct json_tree_reader *reader, uint32_t node)
{
	const struct structured *tree = reader->tree;
	const struct structured_node *it = &tree->nodes[node], *above = &tree->nodes[it->parent];
	const struct structured_step *step;

	if (reader->whole != UINT32_MAX || it->parent != reader->way)
		return;
	step = &tree->along->items[reader->steps];
	if (step->name ? above->kind == STRUCTURED_OBJECT &&
	                         span_eq(json_span(step->name), structured_name(tree, it)) :
	                 above->kind == STRUCTURED_ARRAY && step->index == (long)above->count - 1)
		reader->next = node;
}

static void json_way_in(struct json_tree_reader *reader, uint32_t node)
{
	if (node != reader->next)
		return;
	if (++reader->steps == reader->tree->along->count)
		reader->whole = node;
	else
		reader->way = node;
	reader->next = UINT32_MAX;
}

static void json_way_out(struct json_tree_reader *reader, uint32_t node)
{
	if (node == reader->dropping.open) {
		json_drop(reader);
		reader->dropping.open = UINT32_MAX;
	}
	if (!node)
		return;
	if (node == reader->whole)
		reader->whole = UINT32_MAX;
	else if (node == reader->way)
		reader->way = reader->tree->nodes[node].parent;
	else
		return;
	reader->steps--;
}

/* ---- values ------------------------------------------------------------------------- */

/* Ends the innermost container, whose bracket is at reader->at. */
static void json_close(struct json_tree_reader *reader)
{
	struct structured_node *node = &reader->tree->nodes[reader->open];

	node->source.end = node->entry.end = ++reader->at;
	json_way_out(reader, reader->open);
	reader->depth--;
	reader->open = reader->depth ? node->parent : UINT32_MAX;
}

static bool json_open(struct json_tree_reader *reader, uint32_t node)
{
	reader->tree->nodes[node].style = STYLE_FLOW;
	reader->at++;
	reader->open = node;
	json_way_in(reader, node);
	if (++reader->depth > STRUCTURED_DEPTH_MAX)
		return json_tree_refuse(reader, reader->at - 1, "nested too deep");
	return true;
}

/* The value at reader->at as the node's, which is new and has its key already. */
static bool json_value(struct json_tree_reader *reader, uint32_t node)
{
	const char c = json_here(reader);
	struct structured_node *it = &reader->tree->nodes[node];
	enum structured_kind kind;
	size_t len;

	it->source.start = reader->at;
	if (!it->name_len && !it->key.end)
		it->entry.start = reader->at;
	if (c == '{' || c == '[') {
		it->kind = c == '{' ? STRUCTURED_OBJECT : STRUCTURED_ARRAY;
		return json_open(reader, node);
	}
	if (c == '"') {
		it->kind = STRUCTURED_STRING;
		it->style = STYLE_DOUBLE;
		if (!json_take_string(reader, node, tree_text_range, tree_text_decoded))
			return false;
	} else {
		len = json_word_len(span_skip(reader->text, reader->at), &kind);
		if (!len || (len < reader->text.len - reader->at &&
		             (ascii_is_alnum((unsigned char)reader->text.data[reader->at + len]) ||
		              reader->text.data[reader->at + len] == '.')))
			return json_tree_refuse(reader, reader->at, "no value");
		it->kind = (uint8_t)kind;
		tree_text_range(reader->tree, node, reader->at, reader->at + (uint32_t)len);
		reader->at += (uint32_t)len;
	}
	it->source.end = it->entry.end = reader->at;
	return true;
}

/* A member's key and colon. */
static bool json_key(struct json_tree_reader *reader, uint32_t node)
{
	const uint32_t start = reader->at;

	if (json_here(reader) != '"')
		return json_tree_refuse(reader, reader->at,
					"a key in quotation marks must come here");
	if (!json_take_string(reader, node, tree_name_range, tree_name_decoded))
		return false;
	reader->tree->nodes[node].key = (struct structured_range){ start, reader->at };
	reader->tree->nodes[node].entry.start = start;
	if (!json_skip(reader))
		return false;
	if (json_here(reader) != ':')
		return json_tree_refuse(reader, reader->at, "a colon must come here");
	reader->at++;
	return json_skip(reader);
}

/* After a value: closes what ends; *ret_more: another value comes in the innermost container. */
static bool json_after(struct json_tree_reader *reader)
{
	while (reader->open != UINT32_MAX) {
		const struct structured_node *open = &reader->tree->nodes[reader->open];
		const char close = open->kind == STRUCTURED_OBJECT ? '}' : ']';
		bool comma;

		if (!json_skip(reader))
			return false;
		comma = open->count && json_here(reader) == ',';
		reader->at += comma;
		if (comma && !json_skip(reader))
			return false;
		if (json_here(reader) == close) {
			json_close(reader);
			continue;
		}
		if (open->count && !comma)
			return json_tree_refuse(reader, reader->at,
			                   close == '}' ? "a comma or } must come here" :
			                                  "a comma or ] must come here");
		return true;
	}
	return true;
}

/* One value and all in it. `node` is new. */
static bool json_whole_value(struct json_tree_reader *reader, uint32_t node)
{
	if (!json_value(reader, node) || !json_after(reader))
		return false;
	while (reader->open != UINT32_MAX) {
		const bool member =
			reader->tree->nodes[reader->open].kind == STRUCTURED_OBJECT;

		node = json_child(reader);
		if (node == UINT32_MAX || (member && !json_key(reader, node)))
			return false;
		json_follow(reader, node);
		if (!json_value(reader, node) || !json_after(reader))
			return false;
	}
	return true;
}

bool json_tree_read(struct structured *tree, uint32_t at, struct err *err)
{
	struct json_tree_reader reader = json_reader(tree, at, err);

	if (!json_skip(&reader))
		return false;
	if (reader.at == tree->text.len)
		return json_tree_refuse(&reader, reader.at, "the file is empty");
	if (tree_add(tree, 0, STRUCTURED_NULL, err) == UINT32_MAX ||
	    !json_whole_value(&reader, 0) || !json_skip(&reader))
		return false;
	return reader.at == tree->text.len ||
	       json_tree_refuse(&reader, reader.at, "something follows the value");
}

bool json_tree_lines_read(struct structured *tree, uint32_t at, struct err *err)
{
	struct json_tree_reader reader = json_reader(tree, at, err);
	uint32_t node = tree_add(tree, 0, STRUCTURED_ARRAY, err);

	tree->nodes[0].style = STYLE_BLOCK;
	tree->nodes[0].source = (struct structured_range){ at, (uint32_t)tree->text.len };
	for (;;) {
		if (!json_skip(&reader))
			return false;
		if (reader.at == tree->text.len)
			return true;
		reader.depth = 0;
		node = tree_add(tree, 0, STRUCTURED_NULL, err);
		if (node == UINT32_MAX)
			return false;
		json_follow(&reader, node);
		if (!json_whole_value(&reader, node))
			return false;
	}
}

/* ---- writing ------------------------------------------------------------------------ */

static bool json_put_scalar(struct buf *out, const json_t *value, struct span near,
                            struct err *err)
{
	(void)near;
	return json_print(out, value, 0) ||
	       err_set(err, ERR_INVALID_ARGUMENT, "The value cannot be written as JSON.");
}

static bool json_put_key(struct buf *out, struct span name, struct span near, struct err *err)
{
	(void)near;
	(void)err;
	return json_print_string(out, name);
}

const struct list_dialect json_dialect = {
	.comments = LIST_SLASHES,
	.colon = ":",
	.gap = ": ",
	.spread_empty = true,
	.put_scalar = json_put_scalar,
	.put_key = json_put_key,
};

static bool json_replace(const struct structured_place *place, const json_t *value,
                         struct structured_edits *edits, struct err *err)
{
	return list_replace(&json_dialect, place, value, edits, err);
}

static bool json_add(const struct structured_place *place, const json_t *value,
                     struct structured_edits *edits, struct err *err)
{
	return list_add_entry(&json_dialect, place, value, edits, err);
}

static bool json_remove(const struct structured_place *place, struct structured_edits *edits,
                        struct err *err)
{
	return list_remove_entry(&json_dialect, place, edits, err);
}

static bool json_rename(const struct structured_place *place, struct span name,
                        struct structured_edits *edits, struct err *err)
{
	return list_rename(&json_dialect, place, name, edits, err);
}

const struct structured_writer json_writer = { json_replace, json_add, json_remove, json_rename };

/* Lines: a value of the root is one; anything deeper is JSON. */

static bool json_line_add(const struct structured_place *place, const json_t *value,
                          struct structured_edits *edits, struct err *err)
{
	const struct structured *tree = place->tree;
	const struct structured_node *before;
	_cleanup_buf_ struct buf line = BUF_INIT(LIMIT_STRUCTURED_BYTES);
	uint32_t at = tree->nodes[0].source.start;
	bool unended;

	if (place->parent != structured_root(tree))
		return json_add(place, value, edits, err);
	before = place->index ? tree_item(tree, place->parent, place->index - 1) : NULL;
	if (before)
		at = tree_line_next(tree->text, before->source.end);
	unended = before && at == tree_line_end(tree->text, before->source.end);
	if (unended)
		buf_span(&line, tree_newline(tree->text));
	if (!list_put(&json_dialect, place, value, &line, err))
		return false;
	if (!unended)
		buf_span(&line, tree_newline(tree->text));
	edits_add(edits, at, at, buf_view(&line));
	return true;
}

static bool json_line_remove(const struct structured_place *place, struct structured_edits *edits,
                             struct err *err)
{
	const struct structured *tree = place->tree;
	uint32_t start, end;

	if (place->parent != structured_root(tree))
		return json_remove(place, edits, err);
	start = tree_line_start(tree->text, place->node->source.start);
	end = tree_line_next(tree->text, place->node->source.end);
	if (tree_skip_blanks(tree->text, start, place->node->source.start) !=
	    place->node->source.start)
		return err_set(err, ERR_INVALID_ARGUMENT,
			       "The value shares its line with another.");
	edits_add(edits, start, end, SPAN(""));
	return true;
}

const struct structured_writer json_lines_writer = { json_replace, json_line_add,
	                                             json_line_remove, json_rename };
