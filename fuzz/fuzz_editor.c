/* SPDX-License-Identifier: Apache-2.0 */
/* Any keys and pastes, in either mode: the caret stands between clusters and inside the rows, what
 * was undone to the beginning and done again is the same text, and a saved draft comes back. */
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/editor/private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 400 };

/* Each byte is a key: letters themselves, others from here. */
static const char *const names[] = {
	"left", "right", "up", "down", "home", "end", "backspace", "delete", "ctrl+w", "alt+d",
	"ctrl+k", "ctrl+u", "ctrl+left", "ctrl+right", "ctrl+z", "ctrl+shift+z", "ctrl+c", "ctrl+r",
	"ctrl+o", "ctrl+p", "ctrl+n", "shift+enter", "tab", "escape", "enter", "escape",
};
static const char *const texts[] = {
	"e\xCC\x81", "\xE6\x97\xA5", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7", "\xCC\x81",
	"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA", "\xF0\x9F\x87\xA9", "\xE2\x80\x8D", "\t", "\xFF",
	"\xD8\x80",
};

static void offer_some(void *data, struct editor *editor, struct span text, size_t caret)
{
	(void)data;
	if (caret && text.data[caret - 1] == 'a')
		editor_offer(editor, caret - 1, caret, SPAN("abc"), SPAN("abc"), SPAN(""));
}

static void paste_some(struct editor *editor, uint8_t byte)
{
	static const char long_one[] = "1\n2\n3\n4\n5\n6\n7 \xF0\x9F\x91\xA9 8\r\n\xC3";

	editor_paste(editor, byte % 2 ? SPAN("a\tb\nc") : SPAN(long_one));
}

static void press_byte(struct editor *editor, uint8_t byte)
{
	struct key key = { .code = byte, .text = span_of((const char *)&byte, 1) };

	if (byte < 0x20) {
		if (byte < sizeof(names) / sizeof(*names))
			bindings_parse_key(span_str(names[byte]), &key);
		else
			paste_some(editor, byte);
	} else if (byte >= 0x7f) {
		key.text = span_str(texts[byte % (sizeof(texts) / sizeof(*texts))]);
		key.code = utf8_first(key.text).code;
	}
	if (key.code < 0x20 || editor_key(editor, &key) != EDITOR_SUBMIT)
		return;
	free(editor_take(editor));
}

static void must_hold(struct editor *editor, unsigned width)
{
	const struct draft *draft = &editor->draft;
	_cleanup_rows_ struct rows rows = { 0 };
	size_t row;
	unsigned column;

	if (draft->caret > draft->text.len || draft_floor(draft, draft->caret) != draft->caret)
		abort();
	editor_layout(editor, NULL, width, 4, &rows, &row, &column);
	if (row >= rows.count || rows.count > 4 || column >= (width < 7 ? 7 : width))
		abort();
	for (size_t i = 0; i < rows.count; i++)
		if (rows.at[i].width > (width < 7 ? 7 : width))
			abort();
}

static void must_come_back(struct editor *editor)
{
	while (draft_redo(&editor->draft)) /* what was undone last */
		;
	_cleanup_free_ char *text = editor_text(editor);
	size_t steps = 0;

	while (draft_undo(&editor->draft))
		steps++;
	if (!editor_is_empty(editor) && editor->draft.undo_bytes < DRAFT_UNDO_BYTES_MAX / 2)
		abort();
	while (draft_redo(&editor->draft))
		steps--;
	_cleanup_free_ char *again = editor_text(editor);
	if (steps || strcmp(text, again) != 0)
		abort();
	json_t *saved = editor_save(editor);
	struct editor *other = editor_new(&(struct editor_options){ 0 });
	editor_restore(other, saved);
	_cleanup_free_ char *restored = editor_text(other);
	if (strcmp(text, restored) != 0 || other->draft.caret != editor->draft.caret)
		abort();
	json_decref(saved);
	editor_free(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct editor_options options = { .complete = offer_some };

	if (size < 2 || size > INPUT_MAX)
		return 0;
	options.vim = data[0] & 1;
	struct editor *editor = editor_new(&options);
	editor_history_add(editor, SPAN("one\ntwo"));
	editor_history_add(editor, SPAN("!ls"));
	for (size_t i = 2; i < size; i++) {
		press_byte(editor, data[i]);
		must_hold(editor, data[1] % 40);
	}
	if (!editor->history.searching)
		must_come_back(editor);
	editor_free(editor);
	return 0;
}
