/* SPDX-License-Identifier: Apache-2.0 */
#include "ask_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

json_t *fixture_parse(const char *text)
{
	struct err err = ERR_INIT;
	json_t *value;

	if (!json_parse(span_str(text), &value, &err))
		fail_msg("%s: %s", text, err.message);
	return value;
}

struct ask *fixture_confirmation(const char *text)
{
	json_auto_t *message = fixture_parse(text);
	struct err err = ERR_INIT;

	json_object_set_new(message, "correlationId", json_string("q-1"));
	json_object_set_new(message, "callId", json_string("c"));
	if (!bus_check(BUS_TOOL_CONFIRMATION_REQUEST, message, &err))
		fail_msg("%s", err.message);
	return ask_new(BUS_TOOL_CONFIRMATION_REQUEST, message, &(struct ask_options){ 0 });
}

bool fixture_join(struct ask *ask, const char *text, const char *id)
{
	json_auto_t *message = fixture_parse(text);

	json_object_set_new(message, "correlationId", json_string(id));
	json_object_set_new(message, "callId", json_string(id));
	return ask_join(ask, message);
}

struct ask *fixture_questions(const char *text)
{
	json_auto_t *message = json_object();

	json_object_set_new(message, "correlationId", json_string("q-1"));
	json_object_set_new(message, "questions", fixture_parse(text));
	return ask_new(BUS_ASK_USER_REQUEST, message, &(struct ask_options){ 0 });
}

/* The key that `keys` begins with, which are moved on. */
static struct key next_key(const char **keys)
{
	static const struct {
		const char *name;
		uint32_t code;
		uint8_t mods;
		const char *text;
	} names[] = {
		{ "<enter>", KEY_ENTER, 0, "" }, { "<esc>", KEY_ESC, 0, "" },
		{ "<up>", KEY_UP, 0, "" }, { "<down>", KEY_DOWN, 0, "" },
		{ "<left>", KEY_LEFT, 0, "" }, { "<right>", KEY_RIGHT, 0, "" },
		{ "<tab>", KEY_TAB, 0, "" }, { "<s-tab>", KEY_TAB, KEY_SHIFT, "" },
		{ "<pgdn>", KEY_PAGE_DOWN, 0, "" }, { "<c-s>", 's', KEY_CTRL, "" },
		{ "<c-o>", 'o', KEY_CTRL, "" }, { "<c-g>", 'g', KEY_CTRL, "" },
		{ "<c-u>", 'u', KEY_CTRL, "" }, { "<bs>", KEY_BACKSPACE, 0, "" },
		{ "<space>", ' ', 0, " " },
	};
	struct span rest = span_str(*keys);
	struct utf8_char c;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (span_starts(rest, span_str(names[i].name))) {
			*keys += strlen(names[i].name);
			return (struct key){ names[i].code, names[i].mods,
				             span_str(names[i].text) };
		}
	assert_true(utf8_next(&rest, &c));
	*keys += c.bytes.len;
	return (struct key){ .code = c.code, .text = c.bytes };
}

enum ask_state fixture_type(struct ask *ask, const char *keys)
{
	enum ask_state state = ASK_OPEN;

	while (*keys) {
		struct key key = next_key(&keys);

		assert_int_not_equal(state, ASK_DONE);
		state = ask_key(ask, &key);
	}
	return state;
}

static char *text_of(const struct rows *rows, size_t caret_row, unsigned column)
{
	_cleanup_buf_ struct buf all = BUF_INIT(1 << 20);

	for (size_t i = 0; i < rows->count; i++) {
		_cleanup_buf_ struct buf line = BUF_INIT(1 << 16);

		row_plain(&rows->at[i], &line);
		if (i == caret_row)
			buf_printf(&all, "%.*s|%s", (int)column, line.data ? line.data : "",
			           line.len > column ? line.data + column : "");
		else
			buf_span(&all, buf_view(&line));
		while (all.len && all.data[all.len - 1] == ' ')
			all.len--;
		buf_char(&all, '\n');
	}
	return buf_steal(&all);
}

void fixture_expect_rows(struct ask *ask, unsigned width, unsigned height, const char *expected)
{
	struct rows rows = { 0 };
	size_t caret_row;
	unsigned column;
	_cleanup_free_ char *text = NULL;

	ask_rows(ask, width, height, &rows, &caret_row, &column);
	assert_true(caret_row < rows.count && rows.count <= height);
	for (size_t i = 0; i < rows.count; i++)
		assert_true(rows.at[i].width <= width);
	text = text_of(&rows, caret_row, column);
	rows_release(&rows);
	assert_string_equal(text, expected);
}

void fixture_expect_subject(const struct ask *ask, unsigned width, const char *expected)
{
	struct rows rows = { 0 };
	_cleanup_free_ char *text = NULL;

	ask_subject(ask, width, &rows);
	text = text_of(&rows, SIZE_MAX, 0);
	rows_release(&rows);
	assert_string_equal(text, expected);
}

void fixture_expect_answers(struct ask *ask, const char *expected)
{
	json_auto_t *answers = ask_answers(ask), *wanted = fixture_parse(expected);
	_cleanup_free_ char *text = NULL;
	size_t i;
	json_t *answer;

	json_array_foreach(wanted, i, answer) {
		_cleanup_free_ char *id = mem_printf("q-%zu", i + 1);

		json_object_set_new(answer, "correlationId", json_string(id));
	}
	if (json_equal(answers, wanted))
		return;
	text = json_dumps(answers, 0);
	fail_msg("the answers are %s, not %s", text, expected);
}

void fixture_expect_answer(struct ask *ask, const char *expected)
{
	_cleanup_free_ char *list = mem_printf("[%s]", expected);

	fixture_expect_answers(ask, list);
}
