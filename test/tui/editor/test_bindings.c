/* SPDX-License-Identifier: Apache-2.0 */
/* keybindings.json, names of keys, and every default key pressed once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "tui/editor/bindings.h"
#include "typing.h"

static const char *const default_keys[] = {
#define KEYS(symbol, name, keys, help) keys,
	BIND_TABLE(KEYS)
#undef KEYS
};

static struct buf warnings = BUF_INIT(1 << 16);

static void add_warning(void *data, const char *sentence)
{
	(void)data;
	buf_printf(&warnings, "%s\n", sentence);
}

static struct key key_named(const char *name)
{
	struct key key = { 0 };

	if (!bindings_parse_key(span_str(name), &key))
		fail_msg("\"%s\" is the name of a key", name);
	return key;
}

static bool has(const struct bindings *bindings, enum bind command, const char *name)
{
	struct key key = key_named(name);

	return bindings_has(bindings, command, &key);
}

static void keys_have_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t code;
		uint8_t mods;
	} rows[] = {
		{ "a", 'a', 0 }, { "Ctrl+Shift+X", 'X', KEY_CTRL | KEY_SHIFT },
		{ "opt+f", 'f', KEY_ALT }, { "option+f", 'f', KEY_ALT }, { "alt+f", 'f', KEY_ALT },
		{ "cmd+z", 'z', KEY_META }, { "META+z", 'z', KEY_META }, { "f1", KEY_F1, 0 },
		{ "F35", KEY_F35, 0 }, { "PageUp", KEY_PAGE_UP, 0 }, { "space", ' ', 0 },
		{ "numpad0", '0', 0 }, { "numpad_divide", '/', 0 }, { "ctrl++", '+', KEY_CTRL },
		{ "ctrl+[", '[', KEY_CTRL }, { "\xC3\x85", 0xc5, 0 },
		{ "shift+ctrl+alt+cmd+enter", KEY_ENTER,
		  KEY_SHIFT | KEY_CTRL | KEY_ALT | KEY_META },
	};
	static const char *const none[] = { "", "ctrl+", "f0", "f36", "f100", "numpad", "numpad10",
		"hyper+a", "ab", "ctrl-a", "\x01", "\xff" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct key key = key_named(rows[i].name);

		assert_int_equal(key.code, rows[i].code);
		assert_int_equal(key.mods, rows[i].mods);
	}
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		struct key key;

		assert_false(bindings_parse_key(span_str(none[i]), &key));
	}
}

static void modifiers_are_exact_and_shift_is_a_capital(void **state)
{
	struct bindings *bindings = bindings_new();

	(void)state;
	assert_true(has(bindings, BIND_CURSOR_RIGHT, "ctrl+f"));
	assert_false(has(bindings, BIND_CURSOR_RIGHT, "ctrl+shift+f"));
	assert_false(has(bindings, BIND_CURSOR_RIGHT, "f"));
	assert_true(has(bindings, BIND_APP_RESTART, "R"));
	assert_true(has(bindings, BIND_EDIT_REDO, "ctrl+Z"));
	assert_string_equal(bindings_chord(bindings, BIND_INPUT_OPEN_EXTERNAL_EDITOR), "Ctrl+G");
	assert_string_equal(bindings_chord(bindings, BIND_SCROLL_PAGE_UP), "Page Up");
	assert_string_equal(bindings_name(BIND_HISTORY_SEARCH_START), "history.search.start");
	_cleanup_buf_ struct buf all = BUF_INIT(1000);
	bindings_chords(bindings, BIND_EDIT_REDO, &all);
	assert_string_equal(all.data, "Ctrl+Shift+Z, Shift+Cmd+Z, Alt+Shift+Z");
	bindings_free(bindings);
}

static void a_file_binds_and_unbinds(void **state)
{
	struct bindings *bindings = bindings_new();

	(void)state;
	buf_clear(&warnings);
	bindings_read(bindings, SPAN("[ // mine\n"
	                             " {\"command\": \"edit.clear\", \"key\": \"cmd+l\"},\n"
	                             " {\"command\": \"-edit.clear\", \"key\": \"ctrl+c\"},\n"
	                             " {\"command\": \"-edit.yank\", \"key\": \"ctrl+y\"},\n"
	                             " {\"command\": \"cursor.right\", \"key\": \"\xC3\x85\"}, ]"),
	              add_warning, NULL);
	assert_int_equal(warnings.len, 0);
	assert_true(has(bindings, BIND_EDIT_CLEAR, "cmd+l"));
	assert_false(has(bindings, BIND_EDIT_CLEAR, "ctrl+c"));
	assert_true(has(bindings, BIND_BASIC_QUIT, "ctrl+c"));
	assert_string_equal(bindings_chord(bindings, BIND_EDIT_YANK), "");
	assert_true(has(bindings, BIND_CURSOR_RIGHT, "\xC3\x85"));
	bindings_free(bindings);
}

static void what_cannot_be_used_is_named(void **state)
{
	static const struct {
		const char *text, *warning;
	} rows[] = {
		{ "[{\"command\": \"edit.claer\", \"key\": \"a\"}]",
		  "keybindings.json, entry 1: there is no command \"edit.claer\"." },
		{ "[{\"command\": \"edit.undo\", \"key\": \"contrl+a\"}]",
		  "\"contrl+a\" is no key" },
		{ "[{\"command\": \"edit.undo\", \"key\": \"capslock\"}]",
		  "no terminal reports the key \"capslock\"" },
		{ "[{\"command\": \"-edit.undo\", \"key\": \"f9\"}]",
		  "edit.undo does not have the key \"f9\"" },
		{ "[{\"key\": \"f9\"}]", "it needs \"command\" and \"key\"" },
		{ "{}", "it must be an array" },
		{ "[", "keybindings.json is not used" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bindings *bindings = bindings_new();

		buf_clear(&warnings);
		bindings_read(bindings, span_str(rows[i].text), add_warning, NULL);
		if (!warnings.len || !strstr(warnings.data, rows[i].warning))
			fail_msg("%s: \"%s\" is warned of, and was not: %s", rows[i].text,
			         rows[i].warning, warnings.data);
		assert_ptr_equal(strchr(warnings.data, '\n'), warnings.data + warnings.len - 1);
		bindings_free(bindings);
	}
}

/* What each command of the editor does to what `keys` typed. */
static const struct {
	enum bind bind;
	const char *keys, *draft;
	enum editor_action action;
} effects[] = {
	{ BIND_BASIC_CANCEL, "/x", "/x|", EDITOR_CHANGED },
	{ BIND_CURSOR_HOME, "ab", "|ab", EDITOR_CHANGED },
	{ BIND_CURSOR_END, "ab<left><left>", "ab|", EDITOR_CHANGED },
	{ BIND_CURSOR_UP, "ab", "old|", EDITOR_CHANGED },
	{ BIND_CURSOR_DOWN, "ab<up>", "ab|", EDITOR_CHANGED },
	{ BIND_CURSOR_LEFT, "ab", "a|b", EDITOR_CHANGED },
	{ BIND_CURSOR_RIGHT, "ab<home>", "a|b", EDITOR_CHANGED },
	{ BIND_CURSOR_WORD_LEFT, "ab cd", "ab |cd", EDITOR_CHANGED },
	{ BIND_CURSOR_WORD_RIGHT, "ab cd<home>", "ab| cd", EDITOR_CHANGED },
	{ BIND_EDIT_DELETE_RIGHT_ALL, "ab<left>", "a|", EDITOR_CHANGED },
	{ BIND_EDIT_DELETE_LEFT_ALL, "ab<left>", "|b", EDITOR_CHANGED },
	{ BIND_EDIT_CLEAR, "ab", "|", EDITOR_CHANGED },
	{ BIND_EDIT_DELETE_WORD_LEFT, "ab cd", "ab |", EDITOR_CHANGED },
	{ BIND_EDIT_DELETE_WORD_RIGHT, "ab cd<home>", "| cd", EDITOR_CHANGED },
	{ BIND_EDIT_DELETE_LEFT, "ab", "a|", EDITOR_CHANGED },
	{ BIND_EDIT_DELETE_RIGHT, "ab<left>", "a|", EDITOR_CHANGED },
	{ BIND_EDIT_UNDO, "ab", "|", EDITOR_CHANGED },
	{ BIND_EDIT_REDO, "ab<ctrl+z>", "ab|", EDITOR_CHANGED },
	{ BIND_HISTORY_PREVIOUS, "ab", "old|", EDITOR_CHANGED },
	{ BIND_HISTORY_NEXT, "ab<up>", "ab|", EDITOR_CHANGED },
	{ BIND_HISTORY_SEARCH_START, "ol", "ol|", EDITOR_CHANGED },
	{ BIND_HISTORY_SEARCH_SUBMIT, "<ctrl+r>ol", "old|", EDITOR_SUBMIT },
	{ BIND_HISTORY_SEARCH_ACCEPT, "<ctrl+r>ol", "old|", EDITOR_CHANGED },
	{ BIND_SUGGEST_ACCEPT, "/", "/one|", EDITOR_CHANGED },
	{ BIND_SUGGEST_FOCUS_PREVIOUS, "/", "/|", EDITOR_CHANGED },
	{ BIND_SUGGEST_FOCUS_NEXT, "/", "/|", EDITOR_CHANGED },
	{ BIND_SUGGEST_EXPAND, "<ctrl+r>", "|", EDITOR_CHANGED },
	{ BIND_SUGGEST_COLLAPSE, "<ctrl+r><right>", "|", EDITOR_CHANGED },
	{ BIND_INPUT_SUBMIT, "ab", "ab|", EDITOR_SUBMIT },
	{ BIND_INPUT_QUEUE_MESSAGE, "ab", "ab|", EDITOR_QUEUE },
	{ BIND_INPUT_NEWLINE, "ab", "ab\\n|", EDITOR_CHANGED },
	{ BIND_INPUT_OPEN_EXTERNAL_EDITOR, "ab", "ab|", EDITOR_EXTERNAL },
	{ BIND_INPUT_DEPRECATED_OPEN_EXTERNAL_EDITOR, "ab", "ab|", EDITOR_EXTERNAL },
	{ BIND_APP_EXPAND_PASTE, "<pasted 501 chars>", NULL, EDITOR_CHANGED },
};

static void offer_two(void *data, struct editor *editor, struct span text, size_t caret)
{
	(void)data;
	if (text.data[0] == '/') {
		editor_offer(editor, 0, caret, SPAN("/one"), SPAN("/one"), SPAN(""));
		editor_offer(editor, 0, caret, SPAN("/two"), SPAN("/two"), SPAN(""));
	}
}

static struct editor *editor_with(const char *keys)
{
	struct editor *editor = editor_new(&(struct editor_options){ .complete = offer_two });

	editor_history_add(editor, SPAN("old"));
	type_keys(editor, span_str(keys));
	return editor;
}

/* Each key of a command, one after the other, on a new editor. */
static void press_each(enum bind bind, const char *keys, const char *draft,
                       enum editor_action wanted)
{
	const char *rest = default_keys[bind];

	while (*rest) {
		size_t len = strcspn(rest, " ");
		struct editor *editor = editor_with(keys);
		_cleanup_buf_ struct buf shown = BUF_INIT(1 << 16);
		_cleanup_free_ char *name = mem_printf("<%.*s>", (int)len, rest);
		enum editor_action action = type_keys(editor, span_str(name));

		show_draft(editor, &shown);
		if (action != wanted || (draft && strcmp(shown.data, draft) != 0))
			fail_msg("%s by %s: \"%s\" (%d) is not \"%s\" (%d)",
			         bindings_name(bind), name, shown.data, action,
			         draft ? draft : "", wanted);
		editor_free(editor);
		rest += len + (rest[len] == ' ');
	}
}

static void every_key_does_what_its_row_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(effects); i++)
		press_each(effects[i].bind, effects[i].keys, effects[i].draft, effects[i].action);
}

/* Whether a command of the editor has one of the command's default keys. */
static bool is_shared(const struct bindings *bindings, enum bind bind)
{
	const char *rest = default_keys[bind];

	for (size_t len; *rest; rest += len + (rest[len] == ' ')) {
		struct key key;

		len = strcspn(rest, " ");
		bindings_parse_key(span_of(rest, len), &key);
		for (size_t i = 0; i < ARRAY_LEN(effects); i++)
			if (bindings_has(bindings, effects[i].bind, &key))
				return true;
	}
	return false;
}

static void keys_of_others_are_left_to_them(void **state)
{
	struct bindings *bindings = bindings_new();
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < BIND_COUNT; i++) {
		if (is_shared(bindings, (enum bind)i))
			continue;
		press_each((enum bind)i, "ab", "ab|", EDITOR_IGNORED);
		count++;
	}
	assert_true(count > 20);
	bindings_free(bindings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_have_names),
		cmocka_unit_test(modifiers_are_exact_and_shift_is_a_capital),
		cmocka_unit_test(a_file_binds_and_unbinds),
		cmocka_unit_test(what_cannot_be_used_is_named),
		cmocka_unit_test(every_key_does_what_its_row_says),
		cmocka_unit_test(keys_of_others_are_left_to_them),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_release(&warnings);
	return failed;
}
