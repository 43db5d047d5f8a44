/* SPDX-License-Identifier: Apache-2.0 */
/* What questions of both kinds are made of: keys, a field, rows. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/ask/confirm.h"
#include "tui/ask/parts.h"

/* ---- the question ------------------------------------------------------------ */

const json_t *ask_details(const struct ask *ask)
{
	return json_object_get(ask->message, "details");
}

bool ask_is(const struct ask *ask, const char *type)
{
	return span_eq(json_span(json_object_get(ask_details(ask), "type")), span_str(type));
}

const struct tool_info *ask_tool(const struct ask *ask)
{
	const char *name = json_string_value(json_object_get(ask->message, "toolName"));

	return name ? tool_info_of(name) : NULL;
}

json_t *ask_new_answer(const json_t *question)
{
	json_t *answer = json_object();
	json_t *id = json_object_get(question, "correlationId");

	if (id)
		json_object_set(answer, "correlationId", id);
	return answer;
}

json_t *ask_refusal(const struct ask *ask)
{
	json_t *answer = ask_new_answer(ask->message);

	if (ask->topic == BUS_TOOL_CONFIRMATION_REQUEST)
		json_object_set_new(answer, "outcome", json_string("cancel"));
	else if (ask->topic == BUS_ELICITATION_REQUEST)
		json_object_set_new(answer, "action", json_string("cancel"));
	else
		json_object_set_new(answer, "cancelled", json_true());
	return answer;
}

enum ask_state ask_outcome(struct ask *ask, const char *outcome)
{
	json_decref(ask->answer);
	ask->answer = ask_new_answer(ask->message);
	json_object_set_new(ask->answer, "outcome", json_string(outcome));
	return ASK_DONE;
}

struct editor *ask_confirm_field(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;

	return confirm->stage == CONFIRM_SAY     ? confirm->say :
	       confirm->stage == CONFIRM_COMMENT ? confirm->comment :
	       confirm->stage == CONFIRM_EDIT    ? confirm->edit : NULL;
}

/* ---- keys -------------------------------------------------------------------- */

bool ask_bound(const struct ask *ask, enum bind command, const struct key *key)
{
	return bindings_has(ask->bindings, command, key);
}

uint32_t ask_letter(const struct key *key)
{
	return key->mods & (KEY_CTRL | KEY_ALT | KEY_META) || key->code >= KEY_ENTER ? 0 :
	                                                                             key->code;
}

bool ask_scroll(struct ask *ask, const struct key *key)
{
	const size_t page = ask->pane_rows > 2 ? ask->pane_rows - 1 : 1;

	if (ask_bound(ask, BIND_SCROLL_PAGE_DOWN, key))
		ask->scroll += page;
	else if (ask_bound(ask, BIND_SCROLL_PAGE_UP, key))
		ask->scroll -= ask->scroll < page ? ask->scroll : page;
	else if (ask_bound(ask, BIND_NAV_DOWN, key) || ask_bound(ask, BIND_SCROLL_DOWN, key))
		ask->scroll++;
	else if (ask_bound(ask, BIND_NAV_UP, key) || ask_bound(ask, BIND_SCROLL_UP, key))
		ask->scroll -= ask->scroll > 0;
	else if (ask_bound(ask, BIND_SCROLL_HOME, key))
		ask->scroll = 0;
	else if (ask_bound(ask, BIND_SCROLL_END, key))
		ask->scroll = SIZE_MAX / 2;
	else
		return false;
	return true;
}

struct editor *ask_editor(struct ask *ask, struct editor **slot)
{
	const struct editor_options options = { .bindings = ask->bindings };

	if (!*slot)
		*slot = editor_new(&options);
	return *slot;
}

/* In a prompt "!" starts a command, and an empty one is not sent; here both are answers. */
enum editor_action ask_field_key(struct ask *ask, struct editor *editor,
                                 const struct key *key)
{
	enum editor_action action;

	if (editor_is_empty(editor) && ask_bound(ask, BIND_INPUT_SUBMIT, key))
		return EDITOR_SUBMIT;
	action = editor_key(editor, key);
	if (!editor_is_shell(editor))
		return action;
	editor_set_shell(editor, false);
	editor_paste(editor, SPAN("!"));
	return EDITOR_CHANGED;
}

bool ask_typed(const struct editor *editor, char **ret)
{
	_cleanup_free_ char *text = editor ? editor_text(editor) : NULL;
	struct span trimmed = span_trim(span_str(text));

	if (!trimmed.len)
		return false;
	*ret = mem_dup(trimmed.data, trimmed.len);
	return true;
}

/* ---- rows -------------------------------------------------------------------- */

/* Rows that there is still room for. */
static size_t ask_page_left(const struct ask_page *page)
{
	const size_t used = page->rows->count - page->first;

	return used < page->height ? page->height - used : 0;
}

void ask_page_prompt(struct ask_page *page, const char *text)
{
	struct row *row = rows_add(page->rows);

	row_text(row, span_str(text), STYLE_BOLD(ROLE_ACCENT));
	row_clip(row, page->width ? page->width - 1 : 1);
	page->caret_row = page->rows->count - 1 - page->first;
	page->caret_column = row->width;
}

void ask_page_field(struct ask_page *page, struct editor *editor, size_t max_rows)
{
	_cleanup_row_ struct row prompt = { 0 };
	_cleanup_rows_ struct rows field = { 0 };
	size_t row = 0, start = page->rows->count - page->first;

	row_text(&prompt, SPAN("> "), STYLE_BOLD(ROLE_ACCENT));
	editor_layout(editor, &prompt, page->width, max_rows ? max_rows : 1, &field, &row,
	              &page->caret_column);
	page->caret_row = start + row;
	rows_move(page->rows, &field);
}

void ask_page_take(struct ask_page *page, struct row *row)
{
	rows_wrap(page->rows, row, page->width, NULL, NULL);
	row_release(row);
}

void ask_page_text(struct ask_page *page, const char *text, struct style style)
{
	struct row row = { 0 };

	row_text(&row, span_str(text), style);
	ask_page_take(page, &row);
}

void ask_page_choice(struct ask *ask, struct ask_page *page, size_t number, bool selected,
                 const char *box, struct span label, struct span note)
{
	const struct style style = selected ? STYLE_BOLD(ROLE_SELECTED) : STYLE(ROLE_TEXT);
	_cleanup_row_ struct row row = { 0 }, rest = { 0 };

	if (!ask->plain)
		row_printf(&row, style, "%s", selected ? "> " : "  ");
	row_printf(&row, style, "%zu. %s", number, box ? box : "");
	row_pad(&rest, row.width, STYLE(ROLE_TEXT));
	row_text(&row, label, style);
	if (ask->plain && selected)
		row_printf(&row, style, " (selected)");
	if (note.len) {
		row_printf(&row, STYLE(ROLE_DIM), "  ");
		row_text(&row, note, STYLE(ROLE_DIM));
	}
	rows_wrap(page->rows, &row, page->width, NULL, &rest);
	if (selected)
		page->focus = page->rows->count - 1 - page->first;
}

void ask_pane_reset(struct ask *ask)
{
	rows_release(&ask->pane);
	rows_release(&ask->notes);
	ask->pane_width = 0;
	ask->scroll = 0;
}

void ask_page_pane(struct ask *ask, struct ask_page *page)
{
	const struct rows *all = &ask->pane;
	const size_t room = ask_page_left(page);
	size_t shown = all->count <= room ? all->count : room ? room - 1 : 0;
	struct row row = { 0 };

	if (ask->scroll + shown > all->count)
		ask->scroll = all->count - shown;
	ask->pane_rows = shown;
	rows_copy(page->rows, all, ask->scroll, ask->scroll + shown);
	if (shown == all->count || !room)
		return;
	if (shown)
		row_printf(&row, STYLE(ROLE_DIM), "rows %zu-%zu of %zu (PageUp, PageDown, Ctrl+O)",
		           ask->scroll + 1, ask->scroll + shown, all->count);
	else
		row_printf(&row, STYLE(ROLE_DIM), "%zu rows (Ctrl+O)", all->count);
	row_clip(&row, page->width);
	rows_take(page->rows, &row);
}
