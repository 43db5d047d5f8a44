/* SPDX-License-Identifier: Apache-2.0 */
/* The result for a file that is not plain text: the text that its reader made, where it comes from,
 * an outline when there is more, and how to ask for that. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "read/read.h"
#include "tool/answer.h"
#include "tool/builtin/private.h"

/* ---- parts, in words ----------------------------------------------------------- */

/* `within`: the characters that would end it or stand for quotation marks. */
static bool needs_quotes(struct span value, const char *within)
{
	for (size_t i = 0; i < value.len; i++)
		if (strchr(within, value.data[i]))
			return true;
	return value.len == 0;
}

/* {"sheet": "Q1 2023", "range": "A1:C9"} as the part that asks for it. */
static void put_ask(struct buf *out, const json_t *ask)
{
	const char *name, *between = "";
	const json_t *value;

	json_object_foreach((json_t *)ask, name, value) {
		const struct span text = json_span(value);
		const bool path = strcmp(name, "member") == 0;
		const char *quote = !needs_quotes(text, path ? ",;\"'" : " ,;\"'") ? "" :
		                    memchr(text.data, '"', text.len) ? "'" :
		                                                       "\"";

		buf_printf(out, "%s%s%s%s", between, strcmp(name, "range") ? name : "",
		           strcmp(name, "range") ? " " : "", quote);
		buf_span(out, text);
		buf_str(out, quote);
		between = " ";
	}
}

/* "pages 3: Results (level 2)" */
static void put_outline_entry(struct buf *out, const json_t *entry)
{
	const json_t *ask = json_object_get(entry, "ask"), *value;
	const char *name, *between = " (";

	put_ask(out, ask);
	buf_str(out, json_object_size(ask) ? ": " : "");
	buf_span(out, json_span(json_object_get(entry, "name")));
	json_object_foreach((json_t *)entry, name, value) {
		if (!strcmp(name, "name") || !strcmp(name, "ask"))
			continue;
		buf_printf(out, "%s%s ", between, name);
		if (json_is_string(value))
			buf_span(out, json_span(value));
		else
			json_print(out, value, 0);
		between = ", ";
	}
	buf_str(out, strcmp(between, ", ") == 0 ? ")" : "");
}

/* As many entries as fit into `room` bytes; the rest is counted. */
static json_t *outline_lines(const json_t *outline, size_t room)
{
	json_t *lines = json_array();
	const size_t all = json_array_size(outline);
	size_t i;
	const json_t *entry;

	json_array_foreach((json_t *)outline, i, entry) {
		_cleanup_buf_ struct buf line = BUF_INIT(4096);
		json_t *text;

		put_outline_entry(&line, entry);
		if (line.len + 8 > room)
			break;
		room -= line.len + 8;
		text = json_text(buf_view(&line));
		json_array_append_new(lines, text);
	}
	if (i < all) {
		char *more = mem_printf("... and %zu more", all - i);

		json_array_append_new(lines, json_string(more));
		free(more);
	}
	return lines;
}

/* ---- the result ----------------------------------------------------------------- */

/* Whole lines of at most `max` bytes, or the head of the first. */
static struct span head_lines(struct span text, size_t max)
{
	struct span head = utf8_head(text, max);
	const char *end;

	if (head.len == text.len)
		return text;
	end = memrchr(head.data, '\n', head.len);
	return end ? span_head(head, (size_t)(end - head.data) + 1) : head;
}

/* Where the answer goes on after the text `head` of `whole`. */
static char *derived_next(const struct derive_result *derived, struct span head, struct span whole,
                       size_t first_line)
{
	if (head.len < whole.len)
		return mem_printf("line %zu", first_line + lines_count(head));
	return derived->truncated ? mem_strdup(derived->next) : NULL;
}

static json_t *derived_member(const struct derive_result *derived)
{
	json_t *member = json_object();

	json_object_set_new(member, "from", json_cstr(derived->kind));
	if (derived->library[0])
		json_object_set_new(member, "by", json_cstr(derived->library));
	json_object_update_missing(member, derived->facts);
	return member;
}

static json_t *derived_message(const char *next, bool outlined)
{
	_cleanup_buf_ struct buf text = BUF_INIT(2048);

	buf_str(&text, "This text was derived from the file and cannot be the base of an edit.");
	if (next && *next)
		buf_printf(&text, " There is more: call read_file with part \"%s\"%s.", next,
		           outlined ? ", or with a part that the outline names" : "");
	else if (next)
		buf_str(&text, " There is more; ask for a smaller part of it.");
	return json_text(buf_view(&text));
}

bool derived_put(json_t *file, const struct read_request *request, const struct read_result *read,
                 struct err *err)
{
	const struct span whole = buf_view(&read->content);
	_cleanup_derive_result_ struct derive_result derived = { 0 };
	_cleanup_free_ char *next = NULL;
	struct span head = whole;
	bool outlined;

	if (!derive_result_parse(buf_view(&read->derived), &derived, err))
		return false;
	/* What is long shows its outline and how it begins. */
	if (!request->part && derived.outline && derived.truncated)
		head = head_lines(whole, LIMIT_DERIVE_BEGINNING);
	next = derived_next(&derived, head, whole, request->start_line ? request->start_line : 1);
	outlined = derived.outline && (next || !whole.len);
	json_object_set_new(file, "content", json_text(head));
	json_object_set_new(file, "derived", derived_member(&derived));
	if (outlined)
		json_object_set_new(file, "outline",
		                    outline_lines(derived.outline, request->part ?
		                                  LIMIT_DERIVE_FIRST : LIMIT_DERIVE_BEGINNING));
	if (derived.pictures)
		json_object_set(file, "pictures", derived.pictures);
	json_object_set_new(file, "truncated", json_boolean(next != NULL));
	if (next && *next)
		json_object_set_new(file, "next_part", json_text(span_str(next)));
	json_object_set_new(file, "size", json_size(read->state.size));
	json_object_set_new(file, "message", derived_message(next, outlined));
	return true;
}

void derived_ask(const struct session *session, const char *part, struct read_request *request)
{
	const bool media = part && strcmp(part, "media") == 0;

	request->derive_ms = session->formats.timeout_ms;
	request->derive_memory = session->formats.memory_bytes;
	request->cancel = session->hooks.cancel;
	if (session->formats.off || media || (part && strcmp(part, "source") == 0)) {
		request->derive = session->formats.off ? READ_DERIVE_OFF : READ_DERIVE_NEVER;
		request->media = request->media && (media || !part);
		return;
	}
	request->part = part;
	request->derive = part ? READ_DERIVE_ALL : READ_DERIVE_USUAL;
}
