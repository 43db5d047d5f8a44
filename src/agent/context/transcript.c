/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/context/transcript.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "model/content.h"

static void add_cut(struct buf *out, struct span text, size_t longest)
{
	struct span head = utf8_head(text, longest);

	buf_span(out, head);
	if (head.len < text.len)
		buf_printf(out, " [... %zu bytes cut ...]", text.len - head.len);
	buf_char(out, '\n');
}

/* "CALL name {...}": a file of a session may lack any of it. */
static void add_json(struct buf *out, const char *what, const json_t *object, const char *member,
                     size_t longest)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);
	const json_t *value = json_object_get(object, member);

	buf_printf(out, "%s ", what);
	buf_span(out, json_span(json_object_get(object, "name")));
	buf_char(out, ' ');
	if (value)
		json_print(&text, value, 0);
	add_cut(out, buf_view(&text), longest);
}

static void add_part(struct buf *out, const json_t *part, const char *who, size_t longest)
{
	const json_t *call = part_get_call(part), *answer = part_get_response(part);
	struct span text = part_get_text(part);

	if (call) {
		add_json(out, "CALL", call, "args", longest);
	} else if (answer) {
		add_json(out, "RESULT", answer, "response", longest);
	} else if (text.len) {
		buf_printf(out, "%s: ", who);
		add_cut(out, text, longest * 4);
	}
}

static void add_all(struct buf *out, const json_t *contents, size_t longest)
{
	size_t i, k;
	json_t *message, *part;

	json_array_foreach((json_t *)contents, i, message) {
		const char *who = content_is_user(message) ? "USER" : "AGENT";

		json_array_foreach(json_object_get(message, "parts"), k, part)
			add_part(out, part, who, longest);
	}
}

void transcript_write(struct buf *out, const json_t *contents, size_t most)
{
	static const size_t longest[] = { 20000, 4000, 1000, 300 };
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MESSAGE_BYTES);
	struct span head, tail;

	for (size_t i = 0; i < ARRAY_LEN(longest) && (!i || text.overflowed || text.len > most); i++) {
		buf_clear(&text);
		add_all(&text, contents, longest[i]);
	}
	if (text.len <= most) {
		buf_span(out, buf_view(&text));
		return;
	}
	head = utf8_head(buf_view(&text), most / 5);
	tail = span_skip(buf_view(&text), text.len - (most - most / 5));
	while (tail.len && ((unsigned char)tail.data[0] & 0xc0) == 0x80)
		tail = span_skip(tail, 1);
	buf_span(out, head);
	buf_str(out, "\n[... the middle is left out ...]\n");
	buf_span(out, tail);
}
