/* SPDX-License-Identifier: Apache-2.0 */
/* An editor in vim mode that is told what to type, for comparing it with vim.
 *
 * Reads lines "TEXT<TAB>COMMAND<TAB>COMMAND...", escaped as typing.h says; the text is set, the
 * caret put on its first byte in normal mode. Writes for each one line: the draft with "|" at the caret,
 * after each command, separated by tabs.
 */
#include <stdio.h>

#include "base/mem.h"
#include "tui/editor/private.h"
#include "typing.h"

static void run_case(char *line)
{
	struct editor_options options = { .vim = true };
	struct editor *editor = editor_new(&options);
	_cleanup_buf_ struct buf text = BUF_INIT(1 << 20), shown = BUF_INIT(16 << 20);
	char *rest = line, *part = strsep(&rest, "\t");

	unescape(&text, span_str(part));
	editor_set(editor, buf_view(&text));
	draft_drop_undo(&editor->draft);
	type_keys(editor, SPAN("<esc>gg0"));
	while ((part = strsep(&rest, "\t"))) {
		type_keys(editor, span_str(part));
		buf_str(&shown, shown.len ? "\t" : "");
		show_draft(editor, &shown);
	}
	puts(shown.data ? shown.data : "");
	editor_free(editor);
}

int main(void)
{
	char *line = NULL;
	size_t cap = 0;

	for (ssize_t len; (len = getline(&line, &cap, stdin)) > 0;) {
		line[len - 1] = '\0';
		run_case(line);
	}
	free(line);
	return 0;
}
