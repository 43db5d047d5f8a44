/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions as Markdown and as JSON. */
#include "agent/session/sessions.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "data/tools.h"
#include "model/content.h"

enum { VERSION = 1, SUMMARY_BYTES = 120, FENCE_MIN = 3 };

bool export_format_of(const char *word, const char *file, enum export_format *ret)
{
	const struct span name = file ? span_str(file) : SPAN("");

	if (word ? !strcmp(word, "json") : span_ends(name, SPAN(".json")))
		*ret = EXPORT_JSON;
	else if (word ? !strcmp(word, "markdown") || !strcmp(word, "md") :
	                span_ends(name, SPAN(".md")) || span_ends(name, SPAN(".markdown")))
		*ret = EXPORT_MARKDOWN;
	else
		return false;
	return true;
}

static const char *export_member(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text ? text : "";
}

/* ---- what both say ----------------------------------------------------------- */

/* What was said in a message, its parts one after the other. */
static void put_said(const json_t *message, struct buf *out)
{
	json_auto_t *content = session_message_content(message);
	size_t i;
	json_t *part;

	json_array_foreach(json_object_get(content, "parts"), i, part) {
		const struct span text = part_get_text(part);

		if (!text.len || span_starts(text, SPAN("<session_context>")) ||
		    span_starts(text, SPAN("<hook_context>")))
			continue;
		buf_str(out, out->len ? "\n\n" : "");
		buf_span(out, span_trim(text));
	}
}

/* What the tool answered: hasp's JSON, or what other programs have recorded. */
static const json_t *call_answer(const json_t *call)
{
	const json_t *result = json_object_get(call, "result");
	const json_t *first = json_is_array(result) ? json_array_get(result, 0) : result;
	const json_t *response = json_object_get(json_object_get(first, "functionResponse"),
	                                         "response");

	return response ? response : result;
}

static struct span call_diff(const json_t *call)
{
	const struct span diff = json_span(json_object_get(call_answer(call), "diff"));

	return diff.len ? diff : json_span(json_object_get(json_object_get(call, "resultDisplay"),
	                                                   "fileDiff"));
}

/* ---- Markdown ---------------------------------------------------------------- */

/* Characters that command a terminal are shown as pictures. */
static void put_visible(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = (unsigned char)text.data[i];

		if (c == 0x7f)
			buf_str(out, "\xe2\x90\xa1");
		else if (c < ' ' && c != '\n' && c != '\t')
			buf_printf(out, "\xe2\x90%c", 0x80 + c);
		else
			buf_char(out, text.data[i]);
	}
}

/* Longer than any run of backticks in the text. */
static size_t export_fence_length(struct span text)
{
	size_t longest = 0, run = 0;

	for (size_t i = 0; i < text.len; i++) {
		run = text.data[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest >= FENCE_MIN ? longest + 1 : FENCE_MIN;
}

static void export_run(struct buf *out, char c, size_t count)
{
	while (count--)
		buf_char(out, c);
}

static void put_fenced(struct buf *out, const char *language, struct span text)
{
	const size_t length = export_fence_length(text);

	export_run(out, '`', length);
	buf_printf(out, "%s\n", language);
	put_visible(out, text);
	buf_str(out, span_ends(text, SPAN("\n")) ? "" : "\n");
	export_run(out, '`', length);
	buf_str(out, "\n\n");
}

/* One line as a code span. */
static void put_code(struct buf *out, struct span text)
{
	const struct span head = utf8_head(text, SUMMARY_BYTES);
	size_t length = export_fence_length(head) - FENCE_MIN + 1;
	_cleanup_buf_ struct buf line = BUF_INIT(4 * SUMMARY_BYTES + 1);

	put_visible(&line, head);
	for (size_t i = 0; i < line.len; i++)
		if (line.data[i] == '\n')
			line.data[i] = ' ';
	if (memchr(head.data ? head.data : "", '`', head.len) && length < FENCE_MIN)
		length = FENCE_MIN;
	export_run(out, '`', length);
	buf_str(out, length > 1 ? " " : "");
	buf_span(out, buf_view(&line));
	buf_str(out, length > 1 ? " " : "");
	export_run(out, '`', length);
}

/* As a quotation, each line marked: whatever is in it stays in it. */
static void export_quotation(struct buf *out, struct span text)
{
	struct span line;

	while (line_next(&text, &line)) {
		buf_str(out, "> ");
		put_visible(out, line_body(line));
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
}

/* The fence that a line is; 0: none. A closing one has nothing after it. */
static size_t fence_of(struct span line, char *ret_char, bool *ret_bare)
{
	size_t spaces = 0, length = 0;

	while (spaces < line.len && line.data[spaces] == ' ')
		spaces++;
	line = span_skip(line, spaces);
	if (spaces > 3 || !line.len || (line.data[0] != '`' && line.data[0] != '~'))
		return 0;
	*ret_char = line.data[0];
	while (length < line.len && line.data[length] == *ret_char)
		length++;
	*ret_bare = span_is_blank(span_skip(line, length));
	return length >= FENCE_MIN ? length : 0;
}

/* A reply is Markdown itself; a fence that it leaves open is closed. */
static void put_reply(struct buf *out, struct span text)
{
	size_t open = 0;
	char mark = '`';
	struct span line;

	while (line_next(&text, &line)) {
		const struct span body = line_body(line);
		char own = '`';
		bool bare = false;
		const size_t length = fence_of(body, &own, &bare);

		if (open && length >= open && own == mark && bare) {
			open = 0;
		} else if (!open && length) {
			open = length;
			mark = own;
		} else if (!open) {
			/* HTML in a reply is escaped: it could hide the text after it. */
			for (size_t i = 0; i < body.len; i++) {
				if (body.data[i] == '<' && (i == 0 || body.data[i - 1] != '\\'))
					buf_char(out, '\\');
				put_visible(out, span_of(body.data + i, 1));
			}
			buf_char(out, '\n');
			continue;
		}
		put_visible(out, body);
		buf_char(out, '\n');
	}
	if (open) {
		export_run(out, mark, open);
		buf_char(out, '\n');
	}
	buf_char(out, '\n');
}

static void put_html(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++) {
		const char c = text.data[i];

		if (c == '<' || c == '>' || c == '&')
			buf_str(out, c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;");
		else if (c == '\n' || c == '\r')
			buf_char(out, ' ');
		else
			put_visible(out, span_of(&c, 1));
	}
}

static void put_json_fenced(struct buf *out, const json_t *value)
{
	_cleanup_buf_ struct buf json = BUF_INIT(LIMIT_RESULT_BYTES);

	json_print(&json, value, 2);
	put_fenced(out, "json", buf_view(&json));
}

/* Folded: a line that opens on what was asked for, and what came of it. */
static void export_call(struct buf *out, const json_t *call)
{
	const json_t *args = json_object_get(call, "args"), *answer = call_answer(call);
	const char *name = export_member(call, "name");
	const struct span subject = json_span(tool_subject(tool_info_find(name), args));
	const struct span diff = call_diff(call);
	const struct span output = json_span(json_object_get(answer, "output"));

	buf_str(out, "<details><summary>");
	put_html(out, span_str(name));
	buf_str(out, subject.len ? " <code>" : "");
	put_html(out, utf8_head(subject, SUMMARY_BYTES));
	buf_str(out, subject.len ? "</code> (" : " (");
	put_html(out, span_str(export_member(call, "status")));
	buf_str(out, ")</summary>\n\n");
	if (!diff.len)
		put_json_fenced(out, args);
	if (diff.len)
		put_fenced(out, "diff", diff);
	else if (output.len)
		put_fenced(out, "", output);
	else if (answer)
		put_json_fenced(out, answer);
	buf_str(out, "</details>\n\n");
}

static void export_message(struct buf *out, const json_t *message)
{
	const bool user = !strcmp(export_member(message, "type"), "user");
	const char *model = export_member(message, "model");
	_cleanup_buf_ struct buf said = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *call;

	if (!user && strcmp(export_member(message, "type"), "gemini") != 0)
		return;
	put_said(message, &said);
	if (!strcmp(export_member(json_object_get(message, "hasp"), "said"), "note") ||
	    (user && !said.len))
		return;
	buf_str(out, "## ");
	if (user)
		buf_str(out, "User");
	else
		put_code(out, span_str(*model ? model : "model"));
	buf_str(out, "\n\n");
	if (user)
		export_quotation(out, buf_view(&said));
	else if (said.len)
		put_reply(out, buf_view(&said));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		export_call(out, call);
}

static void export_markdown(const struct session_read *read, struct buf *out)
{
	size_t i;
	json_t *message;

	buf_str(out, "# Session ");
	put_code(out, span_str(read->id));
	buf_str(out, "\n\n");
	if (*export_member(read->metadata, "startTime")) {
		buf_str(out, "Begun ");
		put_code(out, span_str(export_member(read->metadata, "startTime")));
		buf_str(out, "\n\n");
	}
	json_array_foreach(read->messages, i, message)
		export_message(out, message);
}

/* ---- JSON -------------------------------------------------------------------- */

static json_t *call_json(const json_t *call)
{
	const struct span diff = call_diff(call);
	json_t *object = json_pack("{s:O?, s:O?, s:O?, s:O?}", "name",
	                           json_object_get(call, "name"), "status",
	                           json_object_get(call, "status"), "arguments",
	                           json_object_get(call, "args"), "result", call_answer(call));

	if (diff.len)
		json_object_set_new(object, "diff", json_text(diff));
	return object;
}

/* NULL: it is nothing that was said. */
static json_t *message_json(const json_t *message)
{
	const char *type = export_member(message, "type");
	const char *said = export_member(json_object_get(message, "hasp"), "said");
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *object, *calls = json_array(), *call;
	size_t i;

	if (!strcmp(type, "user") || !strcmp(type, "gemini"))
		put_said(message, &text);
	else
		buf_span(&text, json_span(json_object_get(message, "content")));
	json_array_foreach(json_object_get(message, "toolCalls"), i, call)
		json_array_append_new(calls, call_json(call));
	if (!text.len && !json_array_size(calls)) {
		json_decref(calls);
		return NULL;
	}
	object = json_pack("{s:O*, s:O*, s:s, s:O*, s:o}", "id", json_object_get(message, "id"),
	                   "time", json_object_get(message, "timestamp"), "role",
	                   !strcmp(type, "gemini") ? "model" :
	                   !strcmp(said, "note") ? "hasp" : type,
	                   "model", json_object_get(message, "model"), "text",
	                   json_text(buf_view(&text)));
	if (json_array_size(calls))
		json_object_set(object, "calls", calls);
	json_decref(calls);
	return object;
}

static void export_json(const struct session_read *read, struct buf *out)
{
	json_t *messages = json_array(), *message;
	json_auto_t *document = json_pack("{s:i, s:s, s:O*, s:O*, s:o*, s:o}", "version", VERSION,
	                                  "session", read->id, "startTime",
	                                  json_object_get(read->metadata, "startTime"), "title",
	                                  json_object_get(read->metadata, "summary"), "firstPrompt",
	                                  read->first_prompt ?
	                                  json_text(span_str(read->first_prompt)) : NULL,
	                                  "messages", messages);
	size_t i;

	json_array_foreach(read->messages, i, message) {
		json_t *one = message_json(message);

		if (one)
			json_array_append_new(messages, one);
	}
	json_print(out, document, 2);
	buf_char(out, '\n');
}

bool session_export(const struct session_read *read, enum export_format format, struct buf *out)
{
	if (format == EXPORT_JSON)
		export_json(read, out);
	else
		export_markdown(read, out);
	return !out->overflowed;
}
