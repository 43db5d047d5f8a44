/* SPDX-License-Identifier: Apache-2.0 */
/* Questions of either kind, and the parts that they are made of. */
#include "tui/ask/ask.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/ask/confirm.h"
#include "tui/ask/parts.h"
#include "tui/ask/questions.h"
#include "tui/view/view.h"

enum { SUBJECT_PRINTED = 40 }; /* rows of one, in plain lines; Ctrl+O has the others */

static bool is_confirmation(const struct ask *ask)
{
	return ask->topic == BUS_TOOL_CONFIRMATION_REQUEST;
}

struct ask *ask_new(enum bus_topic topic, json_t *message, const struct ask_options *options)
{
	struct ask *ask = mem_alloc(1, sizeof(*ask));

	ask->topic = topic;
	ask->message = json_incref(message);
	ask->joined = json_array();
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
	rows_release(&ask->pane);
	rows_release(&ask->notes);
	bindings_free(ask->own_bindings);
	json_decref(ask->answer);
	json_decref(ask->answers);
	json_decref(ask->joined);
	json_decref(ask->message);
	free(ask);
}

enum ask_state ask_key(struct ask *ask, const struct key *key)
{
	return is_confirmation(ask) ? confirm_key(ask, key) : questions_key(ask, key);
}

static struct editor *ask_field(struct ask *ask)
{
	return is_confirmation(ask) ? ask_confirm_field(ask) : questions_field(ask);
}

enum ask_state ask_paste(struct ask *ask, struct span text)
{
	struct editor *field = ask_field(ask);

	if (!field)
		return elicit_is_login(ask) ? elicit_paste(ask, text) : ASK_IGNORED;
	editor_paste(field, text);
	return ASK_OPEN;
}

char *ask_unsent(struct ask *ask)
{
	_cleanup_buf_ struct buf all = BUF_INIT(LIMIT_RESULT_BYTES);
	const struct editor *field = is_confirmation(ask) ? ask_field(ask) : NULL;
	_cleanup_free_ char *text = NULL;

	/* A server's field is not for the model. */
	if (elicit_is(ask))
		return NULL;
	if (is_confirmation(ask))
		review_comments(ask, &all);
	else
		questions_typed(ask, &all);
	/* The lines of a hunk are the model's. */
	if (ask->confirm.stage != CONFIRM_EDIT && ask_typed(field, &text))
		buf_printf(&all, "%s%s", all.len ? "\n" : "", text);
	return all.len ? buf_steal(&all) : NULL;
}

json_t *ask_answers(const struct ask *ask)
{
	if (ask->answers)
		return json_incref(ask->answers);
	return json_pack("[o]", ask->answer ? json_incref(ask->answer) : ask_refusal(ask));
}

/* ---- questions that wait together -------------------------------------------- */

static bool same_member(const json_t *a, const json_t *b, const char *name)
{
	const json_t *x = json_object_get(a, name), *y = json_object_get(b, name);

	return x == y || json_equal(x, y);
}

/* Edits by whatever tool, the same tool, commands of the same programs. */
static bool same_kind(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "details"), *y = json_object_get(b, "details");

	if (!same_member(x, y, "type"))
		return false;
	if (span_eq(json_span(json_object_get(x, "type")), SPAN("edit")))
		return true;
	return same_member(a, b, "toolName") && same_member(a, b, "serverName") &&
	       same_member(x, y, "rootCommands");
}

bool ask_join(struct ask *ask, json_t *message)
{
	const size_t count = json_array_size(ask->joined);

	if (!is_confirmation(ask) || count + 1 >= CONFIRM_TOGETHER_MAX ||
	    !same_kind(ask->message, message) ||
	    !json_lists(json_object_get(message, "outcomes"), SPAN("proceed_once")))
		return false;
	if (ask_is(ask, "edit")) {
		if (!ask->confirm.file_count)
			review_find_or_whole(ask, ask->message);
		review_find_or_whole(ask, message);
	}
	json_array_append(ask->joined, message);
	ask_pane_reset(ask);
	confirm_offer(ask);
	return true;
}

void ask_unjoin(struct ask *ask, const json_t *message)
{
	size_t i;
	json_t *joined;

	json_array_foreach(ask->joined, i, joined) {
		if (!json_equal(joined, message))
			continue;
		review_forget(ask, joined);
		json_array_remove(ask->joined, i);
		ask->confirm.stage = CONFIRM_CHOOSE;
		ask_pane_reset(ask);
		confirm_offer(ask);
		return;
	}
}

/* As plain lines: all of it, then the warnings. */
static void print_subject(const struct ask *ask, json_t *message, unsigned width, size_t max,
                          struct rows *rows)
{
	_cleanup_rows_ struct rows notes = { 0 };

	subject_rows(ask, message, width, max, rows, &notes);
	rows_move(rows, &notes);
}

void ask_subject_joined(const struct ask *ask, unsigned width, struct rows *rows)
{
	const size_t count = json_array_size(ask->joined);

	if (count)
		print_subject(ask, json_array_get(ask->joined, count - 1), width, SUBJECT_PRINTED,
		              rows);
}

void ask_subject(const struct ask *ask, unsigned width, struct rows *rows)
{
	if (is_confirmation(ask))
		print_subject(ask, ask->message, width, SUBJECT_PRINTED, rows);
	else
		questions_subject(ask, width, rows);
}

/* Leaves out rows behind the first one until the selected row is among the others that fit. */
static void fit_height(struct ask_page *page)
{
	struct rows *rows = page->rows;
	const size_t height = page->height ? page->height : 1, from = page->first + 1;
	size_t skip = page->focus + 1 > height ? page->focus + 1 - height : 0;

	if (page->caret_row || height < 2)
		skip = 0;
	for (size_t i = 0; i < skip; i++)
		row_release(&rows->at[from + i]);
	memmove(&rows->at[from], &rows->at[from + skip],
	        (rows->count - from - skip) * sizeof(*rows->at));
	rows->count -= skip;
	while (rows->count > page->first + height)
		row_release(&rows->at[--rows->count]);
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
	fit_height(&page);
	*ret_caret_row = page.caret_row;
	*ret_caret_column = page.caret_column;
}

/* ---- an editor of the user's ------------------------------------------------- */

char *ask_external(const struct ask *ask, const char **ret_name)
{
	struct editor *field = ask_field((struct ask *)ask);
	const json_t *details = ask_details(ask);
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
	struct span planned = json_span(json_object_get(ask_details(ask), "newContent"));

	if (field) {
		editor_set(field, text);
		return ASK_OPEN;
	}
	if (!is_confirmation(ask))
		return ASK_IGNORED;
	free(confirm->modified);
	confirm->modified = NULL;
	confirm->stage = CONFIRM_CHOOSE;
	ask_pane_reset(ask);
	if (span_eq(text, planned))
		return ASK_OPEN;
	confirm->modified = mem_dup(text.data ? text.data : "", text.len);
	confirm->stage = CONFIRM_APPLY;
	return ASK_OPEN;
}

void ask_whole(const struct ask *ask, unsigned width, struct rows *rows)
{
	const struct view_how how = { .width = width, .plain = ask->plain };
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);
	size_t i;
	json_t *joined;

	if (!is_confirmation(ask)) {
		questions_subject(ask, width, rows);
	} else if (ask->confirm.stage == CONFIRM_CHOOSE || ask->confirm.stage == CONFIRM_SAY) {
		json_array_foreach(ask->joined, i, joined)
			print_subject(ask, joined, width, /* max= */ 0, rows);
		print_subject(ask, ask->message, width, /* max= */ 0, rows);
	} else {
		review_diff(ask, &diff);
		view_diff(rows, buf_view(&diff), &how);
	}
}
