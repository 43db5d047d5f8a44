/* SPDX-License-Identifier: Apache-2.0 */
/* Tags in texts: a small machine for what streams by, and a reader of calls for what is whole. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/json_repair.h"
#include "model/arguments.h"
#include "model/part.h"
#include "model/sink.h"
#include "model/wire.h"

/* ---- tags -------------------------------------------------------------------- */

#define CALL_OPEN SPAN("<tool_call>")
#define CALL_CLOSE SPAN("</tool_call>")
#define FUNCTION_OPEN SPAN("<function=")
#define FUNCTION_CLOSE SPAN("</function>")
#define PARAMETER_OPEN SPAN("<parameter=")
#define PARAMETER_CLOSE SPAN("</parameter>")

static const struct {
	const char *open;
	const char *close; /* of thoughts; NULL: a call */
} tags[] = {
	{ "<think>", "</think>" },
	{ "<thinking>", "</thinking>" },
	{ "<tool_call>", NULL },
	{ "<function=", NULL },
};

/* Where `word` stands in the text; its length: nowhere. */
static size_t tag_place(struct span text, struct span word)
{
	const char *at = text.len ? memmem(text.data, text.len, word.data, word.len) : NULL;

	return at ? (size_t)(at - text.data) : text.len;
}

/* How many bytes at the end of the text may be the beginning of `word`. */
static size_t tag_started(struct span text, struct span word)
{
	size_t len = text.len < word.len - 1 ? text.len : word.len - 1;

	while (len && memcmp(text.data + text.len - len, word.data, len) != 0)
		len--;
	return len;
}

static struct span without_space_before(struct span text)
{
	size_t len = 0;

	while (len < text.len && strchr(" \t\r\n", text.data[len]) && text.data[len])
		len++;
	return span_skip(text, len);
}

bool tagged_has_call(struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		line = without_space_before(line);
		if (span_starts(line, CALL_OPEN) || span_starts(line, FUNCTION_OPEN))
			return true;
	}
	return false;
}

static bool text_has_tag(struct span text)
{
	return tag_place(text, CALL_OPEN) < text.len || tag_place(text, FUNCTION_OPEN) < text.len;
}

static bool value_has_tag(const json_t *value, unsigned depth)
{
	bool found = json_is_string(value) && text_has_tag(json_span(value));
	const char *name;
	json_t *child;
	size_t i;

	if (!depth) /* too deep to be looked at */
		return json_is_object(value) || json_is_array(value) || found;
	json_object_foreach((json_t *)value, name, child)
		if (found || value_has_tag(child, depth - 1))
			return true;
	json_array_foreach(value, i, child)
		if (found || value_has_tag(child, depth - 1))
			return true;
	return found;
}

bool tagged_is_given(const struct model_request *request)
{
	const json_t *content;
	size_t i;

	if (text_has_tag(request->system))
		return true;
	json_array_foreach(request->contents, i, content)
		if (!span_eq(json_span(json_object_get(content, "role")), SPAN("model")) &&
		    value_has_tag(json_object_get(content, "parts"), WIRE_EVENT_DEPTH))
			return true;
	return false;
}

/* ---- what streams by --------------------------------------------------------- */

/* Of white space before a text, what is held. */
enum { SPACE_MAX = 1024 };

/* What the text is, once enough of it has come; of a thought, *rest is what stands after the
 * tag. */
static void look_at_start(struct tagged *tagged, struct span *rest)
{
	struct span text = without_space_before(buf_view(&tagged->held));
	bool maybe = !text.len && tagged->held.len < SPACE_MAX;

	for (size_t i = 0; i < ARRAY_LEN(tags) && text.len; i++) {
		const struct span open = span_str(tags[i].open);

		maybe |= text.len < open.len && span_starts(open, text);
		if (!span_starts(text, open))
			continue;
		if (tags[i].close) {
			tagged->close = span_str(tags[i].close);
			*rest = span_skip(text, open.len);
		}
		tagged->state = tags[i].close ? TAGGED_THINK : TAGGED_CALLS;
		return;
	}
	if (!maybe)
		tagged->state = TAGGED_PLAIN;
}

/* After the thought a text begins. */
static struct span feed_thought(struct tagged *tagged, struct span piece, struct reply_sink *sink,
                                void (*thought)(struct reply_sink *sink, struct span piece))
{
	_cleanup_buf_ struct buf joined = BUF_INIT(tagged->held.len + piece.len + 1);
	size_t end, keep;

	buf_span(&joined, buf_view(&tagged->held));
	buf_span(&joined, piece);
	buf_clear(&tagged->held);
	end = tag_place(buf_view(&joined), tagged->close);
	if (end == joined.len) {
		keep = tag_started(buf_view(&joined), tagged->close);
		thought(sink, span_head(buf_view(&joined), joined.len - keep));
		buf_span(&tagged->held, span_skip(buf_view(&joined), joined.len - keep));
		return span_skip(piece, piece.len);
	}
	thought(sink, span_head(buf_view(&joined), end));
	tagged->state = TAGGED_START;
	tagged->after_thought = true;
	return span_skip(piece, piece.len - (joined.len - end - tagged->close.len));
}

void tagged_feed(struct tagged *tagged, struct span piece, struct reply_sink *sink,
                 void (*text)(struct reply_sink *sink, struct span piece),
                 void (*thought)(struct reply_sink *sink, struct span piece))
{
	while (piece.len) {
		struct span rest = span_skip(piece, piece.len);

		if (tagged->state == TAGGED_PLAIN) {
			text(sink, piece);
			return;
		}
		if (tagged->state == TAGGED_THINK) {
			piece = feed_thought(tagged, piece, sink, thought);
			continue;
		}
		buf_span(&tagged->held, piece);
		if (tagged->state == TAGGED_CALLS)
			return;
		look_at_start(tagged, &rest);
		if (tagged->state == TAGGED_THINK) {
			piece = span_skip(piece, piece.len - rest.len);
			buf_clear(&tagged->held);
		} else if (tagged->state == TAGGED_PLAIN) {
			text(sink, tagged->after_thought ?
			                   without_space_before(buf_view(&tagged->held)) :
			                   buf_view(&tagged->held));
			buf_clear(&tagged->held);
			return;
		} else {
			return;
		}
	}
}

void tagged_end(struct tagged *tagged, struct reply_sink *sink,
                void (*text)(struct reply_sink *sink, struct span piece),
                void (*thought)(struct reply_sink *sink, struct span piece))
{
	const bool is_thought = tagged->state == TAGGED_THINK;
	_cleanup_buf_ struct buf held = tagged->held;

	tagged->held = (struct buf)BUF_INIT(held.max);
	tagged->state = TAGGED_START;
	tagged->after_thought = false;
	if (held.len)
		(is_thought ? thought : text)(sink, buf_view(&held));
}

/* ---- calls ------------------------------------------------------------------- */

/* What a parameter is declared as; NULL: it is not. */
static const char *declared_type(const json_t *tools, const char *tool_name, const char *name)
{
	const json_t *tool;
	size_t i;

	json_array_foreach(tools, i, tool)
		if (span_eq(json_span(json_object_get(tool, "name")), span_str(tool_name)))
			return json_string_value(json_object_get(
				json_object_get(json_object_get(json_object_get(tool, "parameters"),
				                                "properties"), name), "type"));
	return NULL;
}

/* Texts stay texts; others are JSON, where they are, and else what the tool's schema makes of
 * them. */
static json_t *parameter_value(struct span text, const char *type)
{
	struct err ignored = ERR_INIT;
	json_t *value;

	if (span_starts(text, SPAN("\n")))
		text = span_skip(text, 1);
	if (span_ends(text, SPAN("\n")))
		text.len--;
	if (type && strcmp(type, "string") != 0 && json_parse(text, &value, &ignored))
		return value;
	return json_text(text);
}

/* From "<parameter=" on: a member of `args`. */
static bool read_tagged_parameter(struct span *text, const char *tool_name, const json_t *tools,
                           json_t *args)
{
	struct span rest = span_skip(*text, PARAMETER_OPEN.len);
	const size_t named = tag_place(rest, SPAN(">"));
	_cleanup_free_ char *name = mem_dup(rest.data, named);
	size_t end;

	if (named == rest.len || !named || memchr(name, 0, named))
		return false;
	rest = span_skip(rest, named + 1);
	end = tag_place(rest, PARAMETER_CLOSE);
	if (end == rest.len || json_object_get(args, name))
		return false;
	json_object_set_new(args, name, parameter_value(span_head(rest, end),
	                                                declared_type(tools, tool_name, name)));
	*text = without_space_before(span_skip(rest, end + PARAMETER_CLOSE.len));
	return true;
}

/* From "<function=" on: a part. NULL: it is not one. */
static json_t *read_tagged_function(struct reply_sink *sink, struct span *text, const json_t *tools)
{
	struct span rest = span_skip(*text, FUNCTION_OPEN.len), inside;
	const size_t named = tag_place(rest, SPAN(">"));
	_cleanup_free_ char *name = mem_dup(rest.data, named);
	json_auto_t *args = json_object();
	size_t end;

	if (named == rest.len || !wire_declares(tools, name))
		return NULL;
	rest = without_space_before(span_skip(rest, named + 1));
	if (!span_starts(rest, PARAMETER_OPEN)) {
		end = tag_place(rest, FUNCTION_CLOSE);
		inside = span_head(rest, end);
		if (end == rest.len)
			return NULL;
		*text = span_skip(rest, end + FUNCTION_CLOSE.len);
		return arguments_part(sink, NULL, name, inside, true);
	}
	while (span_starts(rest, PARAMETER_OPEN))
		if (!read_tagged_parameter(&rest, name, tools, args))
			return NULL;
	if (!span_starts(rest, FUNCTION_CLOSE))
		return NULL;
	*text = span_skip(rest, FUNCTION_CLOSE.len);
	return part_call(NULL, name, args);
}

/* {"name": ..., "arguments": ...}: a part. NULL: it is not one. */
static json_t *read_object_call(struct reply_sink *sink, struct span text, const json_t *tools)
{
	json_auto_t *wrapped = arguments_part(sink, NULL, "", text, false);
	const json_t *call = json_object_get(part_get_call(wrapped), "args");
	const json_t *args = json_object_get(call, "arguments");
	const char *name = json_string_value(json_object_get(call, "name"));
	json_t *part;

	if (json_object_get(wrapped, PART_UNREADABLE) || !name || !wire_declares(tools, name))
		return NULL;
	part = arguments_part_of(sink, NULL, name,
	                         args ? args : json_object_get(call, "parameters"));
	if (json_object_get(wrapped, PART_REPAIRED) && !json_object_get(part, PART_REPAIRED))
		json_object_set(part, PART_REPAIRED, json_object_get(wrapped, PART_REPAIRED));
	return part;
}

/* From a tag on. */
static json_t *read_tagged_call(struct reply_sink *sink, struct span *text, const json_t *tools)
{
	struct span rest;
	size_t end;
	json_t *part;

	if (span_starts(*text, FUNCTION_OPEN))
		return read_tagged_function(sink, text, tools);
	if (!span_starts(*text, CALL_OPEN))
		return NULL;
	rest = without_space_before(span_skip(*text, CALL_OPEN.len));
	if (span_starts(rest, FUNCTION_OPEN)) {
		part = read_tagged_function(sink, &rest, tools);
		rest = without_space_before(rest);
		end = 0;
	} else {
		end = tag_place(rest, CALL_CLOSE);
		part = read_object_call(sink, span_head(rest, end), tools);
	}
	*text = span_skip(rest, end);
	/* The last tag is where servers stop the model, and leave it out. */
	if (span_starts(*text, CALL_CLOSE))
		*text = span_skip(*text, CALL_CLOSE.len);
	else if (part && text->len) {
		json_decref(part);
		return NULL;
	}
	return part;
}

json_t *tagged_calls(struct reply_sink *sink, struct span text, const json_t *tools)
{
	json_t *parts = json_array();

	for (text = span_trim(text); text.len; text = without_space_before(text)) {
		json_t *part = read_tagged_call(sink, &text, tools);

		if (!part) {
			json_decref(parts);
			return NULL;
		}
		json_array_append_new(parts, part);
	}
	return parts;
}
