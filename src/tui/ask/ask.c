/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of either kind, and the parts that they are made of. */
#include "tui/ask/ask.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/ask/private.h"

static bool is_confirmation(const struct ask *ask)
{
	return ask->topic == BUS_TOOL_CONFIRMATION_REQUEST;
}

struct ask *ask_new(enum bus_topic topic, json_t *message, const struct ask_options *options)
{
	struct ask *ask = mem_alloc(1, sizeof(*ask));

	ask->topic = topic;
	ask->message = json_incref(message);
	ask->plain = options && options->plain;
	ask->bindings = options ? options->bindings : NULL;
	if (!ask->bindings)
		ask->bindings = ask->own_bindings = bindings_new();
	if (is_confirmation(ask))
		confirm_begin(ask);
	else
		questions_begin(ask);
	return ask;
}

void ask_free(struct ask *ask)
{
	if (!ask)
		return;
	confirm_end(ask);
	questions_end(ask);
	bindings_free(ask->own_bindings);
	json_decref(ask->answer);
	json_decref(ask->message);
	free(ask);
}

enum ask_state ask_key(struct ask *ask, const struct key *key)
{
	return is_confirmation(ask) ? confirm_key(ask, key) : questions_key(ask, key);
}

static struct editor *ask_field(struct ask *ask)
{
	return is_confirmation(ask) ? confirm_field(ask) : questions_field(ask);
}

enum ask_state ask_paste(struct ask *ask, struct span text)
{
	struct editor *field = ask_field(ask);

	if (!field)
		return ASK_IGNORED;
	editor_paste(field, text);
	return ASK_OPEN;
}

json_t *ask_new_answer(const struct ask *ask)
{
	json_t *answer = json_object();
	json_t *id = json_object_get(ask->message, "correlationId");

	if (id)
		json_object_set(answer, "correlationId", id);
	return answer;
}

json_t *ask_answer(const struct ask *ask)
{
	return ask->answer ? json_incref(ask->answer) : ask_refusal(ask);
}

json_t *ask_refusal(const struct ask *ask)
{
	json_t *answer = ask_new_answer(ask);

	if (is_confirmation(ask))
		json_object_set_new(answer, "outcome", json_string("cancel"));
	else
		json_object_set_new(answer, "cancelled", json_true());
	return answer;
}

void ask_subject(const struct ask *ask, unsigned width, struct rows *rows)
{
	if (is_confirmation(ask))
		subject_rows(ask, width, /* folded= */ true, rows);
	else
		questions_subject(ask, width, rows);
}

void ask_rows(struct ask *ask, unsigned width, unsigned height, struct rows *rows,
              size_t *ret_caret_row, unsigned *ret_caret_column)
{
	struct ask_page page = { .rows = rows, .first = rows->count, .width = width,
		                 .height = height };

	if (is_confirmation(ask))
		confirm_rows(ask, &page);
	else
		questions_rows(ask, &page);
	while (rows->count > page.first + (height ? height : 1))
		row_release(&rows->at[--rows->count]);
	*ret_caret_row = page.caret_row;
	*ret_caret_column = page.caret_column;
}

/* ---- an editor of the user's ------------------------------------------------- */

char *ask_external(const struct ask *ask, const char **ret_name)
{
	struct editor *field = ask_field((struct ask *)ask);
	const json_t *details = subject_details(ask);
	const char *name = json_string_value(json_object_get(details, "fileName"));
	const struct confirm *confirm = &ask->confirm;

	*ret_name = name && *name ? name : "text.txt";
	if (field && field != confirm->edit)
		*ret_name = "answer.md";
	if (field)
		return editor_text(field);
	if (confirm->modified)
		return mem_strdup(confirm->modified);
	return mem_strdup(json_string_value(json_object_get(details, "newContent")) ?: "");
}

enum ask_state ask_modified(struct ask *ask, struct span text)
{
	struct editor *field = ask_field(ask);
	struct confirm *confirm = &ask->confirm;
	struct span planned = json_span(json_object_get(subject_details(ask), "newContent"));

	if (field) {
		editor_set(field, text);
		return ASK_OPEN;
	}
	if (!is_confirmation(ask))
		return ASK_IGNORED;
	free(confirm->modified);
	confirm->modified = NULL;
	confirm->stage = CONFIRM_CHOOSE;
	if (span_eq(text, planned))
		return ASK_OPEN;
	confirm->modified = mem_dup(text.data ? text.data : "", text.len);
	confirm->stage = CONFIRM_APPLY;
	ask->scroll = 0;
	return ASK_OPEN;
}

void ask_whole(const struct ask *ask, unsigned width, struct rows *rows)
{
	if (is_confirmation(ask))
		subject_rows(ask, width, /* folded= */ false, rows);
	else
		questions_subject(ask, width, rows);
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

/* A prompt's "!" begins a command, and nobody sends an empty one; here both are answers. */
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

size_t page_left(const struct ask_page *page)
{
	const size_t used = page->rows->count - page->first;

	return used < page->height ? page->height - used : 0;
}

void page_prompt(struct ask_page *page, const char *text)
{
	struct row *row = rows_add(page->rows);

	row_text(row, span_str(text), STYLE_BOLD(ROLE_ACCENT));
	row_clip(row, page->width ? page->width - 1 : 1);
	page->caret_row = page->rows->count - 1 - page->first;
	page->caret_column = row->width;
}

void page_field(struct ask_page *page, struct editor *editor, size_t max_rows)
{
	_cleanup_row_ struct row prompt = { 0 };
	_cleanup_rows_ struct rows field = { 0 };
	size_t row = 0, begins = page->rows->count - page->first;

	row_text(&prompt, SPAN("> "), STYLE_BOLD(ROLE_ACCENT));
	editor_layout(editor, &prompt, page->width, max_rows ? max_rows : 1, &field, &row,
	              &page->caret_column);
	page->caret_row = begins + row;
	rows_move(page->rows, &field);
}

void page_take(struct ask_page *page, struct row *row)
{
	rows_wrap(page->rows, row, page->width, NULL, NULL);
	row_release(row);
}

void page_text(struct ask_page *page, const char *text, struct style style)
{
	struct row row = { 0 };

	row_text(&row, span_str(text), style);
	page_take(page, &row);
}

void page_choice(struct ask *ask, struct ask_page *page, size_t number, bool selected,
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
}

void page_pane(struct ask *ask, struct ask_page *page, const struct rows *all)
{
	const size_t room = page_left(page);
	size_t shown = all->count <= room ? all->count : room ? room - 1 : 0;
	struct row row = { 0 };

	if (ask->scroll + shown > all->count)
		ask->scroll = all->count - shown;
	ask->pane_rows = shown;
	rows_copy(page->rows, all, ask->scroll, ask->scroll + shown);
	if (shown == all->count || !room)
		return;
	row_printf(&row, STYLE(ROLE_DIM), "rows %zu-%zu of %zu (Up, Down, Ctrl+O)", ask->scroll + 1,
	           ask->scroll + shown, all->count);
	row_clip(&row, page->width);
	rows_take(page->rows, &row);
}
