/* SPDX-License-Identifier: Apache-2.0 */
#include "catalog/frontmatter.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* "---", perhaps with white space behind it. */
static bool line_is_fence(struct span line)
{
	return span_starts(line, SPAN("---")) && span_is_blank(span_skip(line, 3));
}

/* The block and what follows it; false: the first line opens one that no other closes. */
static bool front_block_find(struct span text, struct span *ret_block, struct span *ret_body)
{
	struct span rest = text, line;

	*ret_block = (struct span){ 0 };
	*ret_body = text;
	if (!line_next(&rest, &line) || !line_is_fence(line))
		return true;
	*ret_block = span_of(rest.data, 0);
	while (line_next(&rest, &line)) {
		if (line_is_fence(line)) {
			*ret_body = rest;
			return true;
		}
		ret_block->len += line.len;
	}
	return false;
}

/* The length of the name that begins the line and that ": " or a colon at the end follows; 0: the
 * line begins no field. */
static size_t field_name_length(struct span line)
{
	size_t len = 0;

	line = line_body(line);
	while (len < line.len && (ascii_is_alnum(line.data[len]) || strchr("-_.", line.data[len])))
		len++;
	if (len == line.len || line.data[len] != ':' ||
	    (len + 1 < line.len && !strchr(" \t", line.data[len + 1])))
		return 0;
	return len;
}

static struct span quotes_strip(struct span text)
{
	if (text.len > 1 && (text.data[0] == '"' || text.data[0] == '\'') &&
	    text.data[text.len - 1] == text.data[0])
		return span_of(text.data + 1, text.len - 2);
	return text;
}

/* What stands behind the name and under it, as text: a new reference. */
static json_t *field_as_text(struct span field, size_t name_len)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_YAML_BYTES);
	struct span rest = span_skip(field, name_len + 1), line;

	while (line_next(&rest, &line)) {
		line = span_trim(line);
		if (text.len && line.len)
			buf_char(&text, ' ');
		buf_span(&text, line);
	}
	return json_text(quotes_strip(buf_view(&text)));
}

/* One field with the lines under it. */
static void front_field_read(struct span field, json_t *fields)
{
	size_t name_len = field_name_length(field);
	_cleanup_free_ char *name = mem_dup(field.data, name_len);
	struct err ignored = ERR_INIT;
	json_auto_t *value = NULL;

	if (yaml_parse(field, &value, &ignored) && json_is_object(value))
		json_object_update_missing(fields, value);
	else if (!json_object_get(fields, name))
		json_object_set_new_nocheck(fields, name, field_as_text(field, name_len));
}

static bool continues_field(struct span line)
{
	return span_is_blank(line) || strchr(" \t#", line.data[0]) ||
	       span_starts(line, SPAN("- "));
}

/* What agents' and skills' files have. In a description with examples in it ("user: ...") other
 * words before a colon are text. */
static bool is_known_field(struct span line)
{
	static const char *const known[] = {
		"name", "description", "model", "color", "tools", "disallowedTools",
		"allowed-tools", "argument-hint", "disable-model-invocation", "user-invocable",
		"context", "agent", "hooks", "permissionMode", "skills", "mcpServers", "maxTurns",
		"license", "version", "metadata", "kind", "display_name",
	};
	const struct span name = span_head(line, field_name_length(line));

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (span_eq(name, span_str(known[i])))
			return true;
	return false;
}

/* NULL: a line belongs to no field, or there are none. A new reference. */
static json_t *fields_read(struct span block)
{
	json_auto_t *fields = json_object();
	struct span rest = block, line, field = { 0 };
	size_t count = 0;
	bool text = false; /* lines of the field's text begin at the margin */

	while (line_next(&rest, &line)) {
		text = text || (field.len && line.data[0] == '<');
		if (field.len && (continues_field(line) || (text && !is_known_field(line)))) {
			field.len += line.len;
			continue;
		}
		text = false;
		if (!field_name_length(line)) {
			if (!continues_field(line) || span_starts(line, SPAN("- ")))
				return NULL;
			continue;
		}
		if (field.len)
			front_field_read(field, fields);
		if (++count > LIMIT_YAML_NODES)
			return NULL;
		field = line;
	}
	if (field.len)
		front_field_read(field, fields);
	return json_object_size(fields) ? json_incref(fields) : NULL;
}

/* *err with the number of the file's line, where yaml_parse has the block's. */
static bool front_block_read(struct span block, struct frontmatter *ret, struct err *err)
{
	json_t *value;

	if (!utf8_valid(block))
		return err_set(err, ERR_INVALID_ARGUMENT, "The front matter is not UTF-8.");
	if (!yaml_parse(block, &value, err)) {
		if (err->code == ERR_TOO_LARGE || !(value = fields_read(block)))
			return false;
		ret->lenient = *err;
		*err = (struct err)ERR_INIT;
	}
	if (json_is_null(value))
		value = json_object();
	if (!json_is_object(value)) {
		json_decref(value);
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The front matter has no fields: it is no YAML mapping.");
	}
	ret->fields = value;
	return true;
}

bool frontmatter_parse(struct span text, struct frontmatter *ret, struct err *err)
{
	struct frontmatter front = { .lenient = ERR_INIT };
	struct err problem = ERR_INIT;
	struct span block;

	if (!front_block_find(utf8_skip_mark(text), &block, &front.body))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The front matter has no end: no second line of \"---\".");
	if (!front_block_read(block, &front, &problem))
		return err_set(err, problem.code, "%s", problem.message);
	*ret = front;
	return true;
}

json_t *frontmatter_list(struct span text)
{
	struct err ignored = ERR_INIT;
	struct span block, body;
	json_auto_t *value = NULL;
	json_t *one;
	size_t i;

	if (!front_block_find(utf8_skip_mark(text), &block, &body) || !utf8_valid(block) ||
	    !yaml_parse(block, &value, &ignored) || !json_array_size(value))
		return NULL;
	json_array_foreach(value, i, one)
		if (!json_is_object(one))
			return NULL;
	return json_incref(value);
}

void frontmatter_release(struct frontmatter *front)
{
	json_decref(front->fields);
	front->fields = NULL;
}

char *frontmatter_text(const struct frontmatter *front, const char *field)
{
	const json_t *value = json_object_get(front->fields, field);
	_cleanup_buf_ struct buf out = BUF_INIT(64);

	if (json_is_string(value))
		return mem_dup(json_string_value(value), json_string_length(value));
	if (!json_is_number(value) && !json_is_boolean(value))
		return NULL;
	json_print(&out, value, 0);
	return out.overflowed ? NULL : mem_dup(out.data, out.len);
}
