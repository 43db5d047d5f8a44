/* SPDX-License-Identifier: Apache-2.0 */
/* A list to choose from, in the composer's place: earlier prompts, themes, providers. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/term/screen.h"

struct pick {
	char *title;    /* owned */
	json_t *labels; /* texts */
	json_t *changes; /* or NULL */
	size_t at;      /* the selected one */
	size_t typed;   /* the number that is being typed; 0: none */
	bool yields;    /* a letter closes it, and goes to the draft */
	void (*chosen)(struct app *app, void *data, int index);
	void *data;
};

struct pick *pick_new(const char *title, const json_t *labels, size_t at,
                      void (*chosen)(struct app *app, void *data, int index), void *data)
{
	struct pick *pick = mem_alloc(1, sizeof(*pick));

	pick->title = mem_strdup(title);
	pick->labels = json_deep_copy(labels);
	pick->at = at;
	pick->chosen = chosen;
	pick->data = data;
	return pick;
}

void pick_show(struct app *app, struct pick *pick)
{
	pick_free(app->pick);
	app->pick = pick;
	if (app->out.plain) {
		_cleanup_rows_ struct rows rows = { 0 };

		for (size_t i = 0; i < json_array_size(pick->labels); i++) {
			struct row *row = rows_add(&rows);

			row_printf(row, STYLE(ROLE_TEXT), "%zu. ", i + 1);
			row_text(row, json_span(json_array_get(pick->labels, i)),
			         STYLE(ROLE_TEXT));
		}
		printout_block(&app->out, &rows);
	}
	frames_want(&app->frames);
}

void pick_yield(struct pick *pick)
{
	pick->yields = true;
}

void pick_free(struct pick *pick)
{
	if (!pick)
		return;
	json_decref(pick->labels);
	json_decref(pick->changes);
	free(pick->title);
	free(pick);
}

/* ---- what there is to look at ------------------------------------------------ */

void pick_changes(struct pick *pick, const json_t *changes)
{
	json_decref(pick->changes);
	pick->changes = json_array_size(changes) ? json_deep_copy(changes) : NULL;
}

void pick_changes_rows(const json_t *changes, const struct view_how *how, struct rows *rows)
{
	size_t i;
	json_t *change;

	json_array_foreach((json_t *)changes, i, change) {
		const struct span diff = json_span(json_object_get(change, "diff"));
		const struct span reason = json_span(json_object_get(change, "reason"));
		struct row *row = rows_add(rows);

		row_text(row, json_span(json_object_get(change, "action")), STYLE(ROLE_ACCENT));
		row_text(row, SPAN("  "), STYLE(ROLE_TEXT));
		row_text(row, json_span(json_object_get(change, "path")), STYLE(ROLE_TEXT));
		if (reason.len) {
			row_text(row, SPAN("  "), STYLE(ROLE_TEXT));
			row_text(row, reason, STYLE(ROLE_WARNING));
		}
		row_clip(row, how->width);
		if (diff.len)
			view_diff(rows, diff, how);
		rows_add(rows);
	}
}

static void pick_look(struct app *app)
{
	const struct view_how how = { .width = term_size(app->term).columns,
	                              .plain = app->out.plain };
	_cleanup_rows_ struct rows rows = { 0 };

	pick_changes_rows(app->pick->changes, &how, &rows);
	pager_open(app->pager, "Changes", &rows);
}

/* ---- choosing ---------------------------------------------------------------- */

static void pick_end(struct app *app, int index)
{
	struct pick *pick = app->pick;

	app->pick = NULL;
	pick->chosen(app, pick->data, index);
	pick_free(pick);
}

/* A digit is a number, or more of one, if a row has it; the row is chosen as soon as no further
 * digit would make another. */
static bool pick_digit(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;
	const size_t count = json_array_size(pick->labels);
	size_t number;

	if (key->mods || key->code < '0' || key->code > '9')
		return false;
	number = pick->typed * 10 + (key->code - '0');
	if (!number || number > count)
		number = key->code - '0';
	if (!number || number > count)
		return true;
	pick->at = number - 1;
	pick->typed = number;
	if (number * 10 > count)
		pick_end(app, (int)pick->at);
	return true;
}

static void pick_quit(struct app *app)
{
	pick_end(app, -1);
	tui_quit(app);
}

bool pick_key(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;
	const size_t count = json_array_size(pick->labels);

	if (pick_digit(app, key))
		return true;
	pick->typed = 0;
	if (pick->yields && key->text.len && !(key->mods & ~KEY_SHIFT)) {
		pick_end(app, -1);
		return false;
	}
	if (bindings_has(app->bindings, BIND_NAV_DIALOG_UP, key))
		pick->at = pick->at ? pick->at - 1 : count - 1;
	else if (bindings_has(app->bindings, BIND_NAV_DIALOG_DOWN, key))
		pick->at = (pick->at + 1) % count;
	else if (bindings_has(app->bindings, BIND_BASIC_CONFIRM, key))
		pick_end(app, (int)pick->at);
	else if (pick->changes && bindings_has(app->bindings, BIND_APP_SHOW_MORE_LINES, key))
		pick_look(app);
	else if (bindings_has(app->bindings, BIND_BASIC_CANCEL, key) ||
	         bindings_has(app->bindings, BIND_BASIC_QUIT, key))
		pick_end(app, -1);
	else if (bindings_has(app->bindings, BIND_BASIC_EXIT, key) &&
	         editor_is_empty(app->editor))
		pick_quit(app);
	else
		return false;
	return true;
}

/* For screen readers: the labels stand above, and one row says which is selected. */
static void pick_plain_row(const struct pick *pick, unsigned width, struct rows *rows)
{
	struct row *row = rows_add(rows);

	row_printf(row, STYLE(ROLE_TEXT), "%s %zu. ", pick->title, pick->at + 1);
	row_text(row, json_span(json_array_get(pick->labels, pick->at)), STYLE(ROLE_TEXT));
	row_clip(row, width);
}

void pick_rows(const struct pick *pick, bool plain, unsigned width, size_t height,
               struct rows *rows)
{
	const size_t count = json_array_size(pick->labels), before = rows->count;
	_cleanup_rows_ struct rows foot = { 0 };
	size_t taken, shown, top;

	if (plain) {
		pick_plain_row(pick, width, rows);
		return;
	}
	rows_text(rows, span_str(pick->title), STYLE_BOLD(ROLE_ACCENT), width);
	rows_text(&foot, pick->changes ? SPAN("Enter or its number chooses, Esc closes, Ctrl+O "
	                                      "shows the changes") :
	                                 SPAN("Enter or its number chooses, Esc closes"),
	          STYLE(ROLE_DIM), width);
	taken = rows->count - before + foot.count;
	shown = height > taken ? height - taken : 1;
	top = pick->at >= shown ? pick->at - shown + 1 : 0;
	for (size_t i = top; i < count && i < top + shown; i++) {
		const bool selected = i == pick->at;
		struct span rest = json_span(json_array_get(pick->labels, i)), line = { 0 };
		struct row *row = rows_add(rows);

		line_next(&rest, &line);
		row_printf(row, STYLE(selected ? ROLE_SELECTED : ROLE_DIM), "%s %zu. ",
		           selected ? ">" : " ", i + 1);
		row_text(row, line_body(line), STYLE(selected ? ROLE_SELECTED : ROLE_TEXT));
		row_clip(row, width);
	}
	rows_move(rows, &foot);
}
