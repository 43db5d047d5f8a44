/* SPDX-License-Identifier: Apache-2.0 */
#include "typing.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/private.h"
#include "tui/text/width.h"

void unescape(struct buf *out, struct span text)
{
	while (text.len) {
		char c = text.data[0], next = text.len > 1 ? text.data[1] : '\0';
		size_t used = c == '\\' ? 2 : 1;

		if (c == '\\' && next == 'x') {
			char digits[3] = { text.data[2], text.data[3] };

			c = (char)strtol(digits, NULL, 16);
			used = 4;
		} else if (c == '\\') {
			c = next == 'n' ? '\n' : next == 't' ? '\t' : next == 'e' ? '\033' : next;
		}
		buf_char(out, c);
		text = span_skip(text, used);
	}
}

static enum editor_action press(struct editor *editor, struct span name)
{
	struct key key;

	if (!bindings_parse_key(name, &key)) {
		fprintf(stderr, "no key is called <%.*s>\n", (int)name.len, name.data);
		abort();
	}
	return editor_key(editor, &key);
}

static void paste_made(struct editor *editor, struct span what)
{
	_cleanup_buf_ struct buf text = BUF_INIT(64 << 20);
	unsigned long number = strtoul(what.data, NULL, 10);

	for (unsigned long i = 1; i <= number; i++) {
		if (span_ends(what, SPAN("lines")))
			buf_printf(&text, "line %lu%s", i, i < number ? "\n" : "");
		else
			buf_char(&text, 'x');
	}
	editor_paste(editor, buf_view(&text));
}

static enum editor_action press_or_paste(struct editor *editor, struct span name)
{
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20);

	if (span_starts(name, SPAN("paste "))) {
		unescape(&text, span_skip(name, 6));
		editor_paste(editor, buf_view(&text));
		return EDITOR_CHANGED;
	}
	if (span_starts(name, SPAN("pasted "))) {
		paste_made(editor, span_skip(name, 7));
		return EDITOR_CHANGED;
	}
	if (span_eq(name, SPAN("lt")) || span_eq(name, SPAN("gt"))) {
		struct span sign = span_eq(name, SPAN("lt")) ? SPAN("<") : SPAN(">");
		struct key key = { .code = (uint32_t)sign.data[0], .text = sign };

		return editor_key(editor, &key);
	}
	return press(editor, name);
}

enum editor_action type_keys(struct editor *editor, struct span keys)
{
	enum editor_action action = EDITOR_IGNORED;
	struct cluster cluster;

	while (keys.len) {
		const char *end = keys.data[0] == '<' ? memchr(keys.data, '>', keys.len) : NULL;

		if (end) {
			struct span name = span_of(keys.data + 1, (size_t)(end - keys.data) - 1);

			keys = span_skip(keys, name.len + 2);
			action = press_or_paste(editor, name);
			continue;
		}
		cluster_next(&keys, &cluster);
		struct key key = { .code = utf8_first(cluster.bytes).code, .text = cluster.bytes };
		action = editor_key(editor, &key);
	}
	return action;
}

static void show_part(const struct draft *draft, struct span text, struct buf *out)
{
	_cleanup_buf_ struct buf labels = BUF_INIT(4 << 20);

	draft_labels(draft, text, &labels);
	for (size_t i = 0; i < labels.len; i++) {
		if (labels.data[i] == '\n')
			buf_str(out, "\\n");
		else if (labels.data[i] == '\t')
			buf_str(out, "\\t");
		else if (labels.data[i] == '\033')
			buf_str(out, "\\e");
		else
			buf_char(out, labels.data[i]);
	}
}

void show_draft(const struct editor *editor, struct buf *out)
{
	const struct draft *draft = &editor->draft;

	show_part(draft, span_head(draft_view(draft), draft->caret), out);
	buf_char(out, '|');
	show_part(draft, span_skip(draft_view(draft), draft->caret), out);
}
