/* SPDX-License-Identifier: Apache-2.0 */
/* The composer's functions beside keys: taking, keeping, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tui/editor/private.h"
#include "typing.h"

static struct editor *new_editor(void)
{
	return editor_new(&(struct editor_options){ 0 });
}

static void assert_draft(const struct editor *editor, const char *wanted)
{
	_cleanup_buf_ struct buf shown = BUF_INIT(4 << 20);

	show_draft(editor, &shown);
	assert_string_equal(shown.data, wanted);
}

static void what_is_taken_is_history_with_its_placeholders(void **state)
{
	struct editor *editor = new_editor();

	(void)state;
	type_keys(editor, SPAN("see <pasted 6 lines>"));
	_cleanup_free_ char *text = editor_take(editor);
	assert_string_equal(text, "see line 1\nline 2\nline 3\nline 4\nline 5\nline 6");
	assert_true(editor_is_empty(editor));
	type_keys(editor, SPAN("<up>"));
	assert_draft(editor, "see [Pasted Text: 6 lines]|");
	_cleanup_free_ char *again = editor_text(editor);
	assert_string_equal(again, text);
	editor_free(editor);
}

static void a_saved_draft_comes_back(void **state)
{
	struct editor *editor = new_editor(), *other = new_editor();

	(void)state;
	type_keys(editor, SPAN("!a <pasted 6 lines> \xC3\xA9<left>"));
	json_t *saved = editor_save(editor);
	char *printed = json_dumps(saved, 0);
	json_decref(saved);
	saved = json_loads(printed, 0, NULL);
	editor_restore(other, saved);
	assert_draft(other, "a [Pasted Text: 6 lines] |\xC3\xA9");
	assert_true(editor_is_shell(other));
	type_keys(other, SPAN("<ctrl+z>"));
	assert_draft(other, "a [Pasted Text: 6 lines] |\xC3\xA9");
	json_decref(saved);
	free(printed);
	editor_restore(other, NULL);
	assert_draft(other, "a [Pasted Text: 6 lines] |\xC3\xA9");
	editor_free(editor);
	editor_free(other);
}

static void a_set_text_can_be_undone(void **state)
{
	struct editor *editor = new_editor();

	(void)state;
	type_keys(editor, SPAN("mine"));
	editor_set(editor, SPAN("from the editor\r\n"));
	assert_draft(editor, "from the editor\\n|");
	type_keys(editor, SPAN("<ctrl+z>"));
	assert_draft(editor, "mine|");
	editor_free(editor);
}

static void a_text_too_long_for_a_draft_is_a_placeholder(void **state)
{
	struct editor *editor = new_editor();
	size_t len = EDITOR_BYTES_MAX + 1;
	_cleanup_free_ char *text = mem_alloc(len + 1, 1);

	(void)state;
	memset(text, 'x', len);
	editor_set(editor, span_of(text, len));
	assert_draft(editor, "[Pasted Text: 1048577 chars]|");
	_cleanup_free_ char *whole = editor_text(editor);
	assert_int_equal(strlen(whole), len);
	editor_free(editor);
}

static void pastes_of_old_prompts_make_room(void **state)
{
	struct editor *editor = new_editor();
	size_t len = KEYS_PASTE_BYTES_MAX;
	_cleanup_free_ char *text = mem_alloc(len + 1, 1);

	(void)state;
	memset(text, 'x', len);
	for (int i = 0; i < 2; i++) {
		assert_true(editor_paste(editor, span_of(text, len)));
		_cleanup_free_ char *taken = editor_take(editor);
		assert_int_equal(strlen(taken), len);
	}
	assert_true(editor->draft.paste_bytes > 0);
	/* Four fill it, so that both of history have to go; and then not even a small one fits. */
	for (int i = 0; i < 4; i++)
		assert_true(editor_paste(editor, span_of(text, len)));
	assert_int_equal(editor->draft.paste_bytes, DRAFT_PASTES_BYTES_MAX);
	assert_false(editor_paste(editor, span_of(text, DRAFT_PASTE_CHARS_MAX + 1)));
	assert_draft(editor, "[Pasted Text: 16777216 chars][Pasted Text: 16777216 chars #2]"
	                     "[Pasted Text: 16777216 chars #3][Pasted Text: 16777216 chars #4]|");
	editor_free(editor);
}

static void candidates_fit_their_rows(void **state)
{
	struct editor *editor = new_editor();

	(void)state;
	type_keys(editor, SPAN("/x"));
	for (int i = 0; i < 30; i++) {
		_cleanup_free_ char *label = mem_printf("/command%d", i);

		editor_offer(editor, 0, 2, span_str(label), span_str(label),
		             SPAN("what it does, which takes more than the width"));
	}
	for (int i = 0; i < 31; i++) {
		_cleanup_rows_ struct rows rows = { 0 };
		_cleanup_buf_ struct buf plain = BUF_INIT(10000);
		_cleanup_free_ char *wanted = mem_printf("> /command%d ", i % 30);

		editor_candidates(editor, 40, 8, &rows);
		assert_true(rows.count > 2 && rows.count <= 8);
		for (size_t j = 0; j < rows.count; j++) {
			assert_true(rows.at[j].width <= 40);
			row_plain(&rows.at[j], &plain);
		}
		assert_non_null(strstr(plain.data, wanted));
		type_keys(editor, SPAN("<down>"));
	}
	editor_offer(editor, 1, 9, SPAN("no"), SPAN("no"), SPAN(""));
	assert_int_equal(editor->candidates.count, 30);
	editor_offer_none(editor);
	assert_int_equal(editor->candidates.count, 0);
	editor_free(editor);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken_is_history_with_its_placeholders),
		cmocka_unit_test(a_saved_draft_comes_back),
		cmocka_unit_test(a_set_text_can_be_undone),
		cmocka_unit_test(a_text_too_long_for_a_draft_is_a_placeholder),
		cmocka_unit_test(pastes_of_old_prompts_make_room),
		cmocka_unit_test(candidates_fit_their_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
