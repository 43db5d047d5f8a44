/* SPDX-License-Identifier: Apache-2.0 */
/* A list to choose from, in the composer's place: earlier prompts, themes, providers. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/term/screen.h"

/* The row that is shown at each place, in the order of the list. */
struct pick_shown {
	size_t *rows;   /* owned */
	size_t count;
};

struct pick {
	char *title;    /* owned */
	json_t *labels; /* texts */
	json_t *notes;  /* texts, one for each label; or NULL */
	json_t *changes; /* or NULL */
	struct pick_shown shown;
	size_t at;      /* the selected place */
	size_t typed;   /* the number that is being typed; 0: none */
	bool seen;      /* it was drawn, and what was typed before that is read */
	bool yields;    /* a letter closes it, and goes to the draft */
	bool searches;  /* what is typed filters the rows */
	struct buf words;
	struct pick_other other;
	void (*moved)(struct app *app, void *data, int index); /* or NULL */
	void (*chosen)(struct app *app, void *data, int index);
	void *data;
};

enum { PICK_WORDS_MAX = 128, PICK_PAGE = 10 };

static const json_t *pick_label(const struct pick *pick, size_t place)
{
	return json_array_get(pick->labels, pick->shown.rows[place]);
}

static struct span pick_note(const struct pick *pick, size_t place)
{
	return json_span(json_array_get(pick->notes, pick->shown.rows[place]));
}

/* ---- what is searched for ---------------------------------------------------- */

static bool pick_text_has(struct span text, struct span word)
{
	for (size_t i = 0; i + word.len <= text.len; i++)
		if (strncasecmp(text.data + i, word.data, word.len) == 0)
			return true;
	return false;
}

/* Each word is in the label or the note. */
static bool pick_fits(const struct pick *pick, size_t row)
{
	struct span rest = buf_view(&pick->words);

	while ((rest = span_trim(rest)).len) {
		size_t len = 0;
		struct span word;

		while (len < rest.len && rest.data[len] != ' ')
			len++;
		word = span_head(rest, len);
		rest = span_skip(rest, len);
		if (!pick_text_has(json_span(json_array_get(pick->labels, row)), word) &&
		    !pick_text_has(json_span(json_array_get(pick->notes, row)), word))
			return false;
	}
	return true;
}

/* The selected row stays selected if it is still shown. */
static void pick_filter(struct pick *pick)
{
	const size_t count = json_array_size(pick->labels);
	const size_t row = pick->shown.count ? pick->shown.rows[pick->at] : pick->at;

	if (!pick->shown.rows)
		pick->shown.rows = mem_alloc(count + 1, sizeof(*pick->shown.rows));
	pick->shown.count = pick->at = 0;
	for (size_t i = 0; i < count; i++)
		if (pick_fits(pick, i)) {
			if (i == row)
				pick->at = pick->shown.count;
			pick->shown.rows[pick->shown.count++] = i;
		}
}

struct pick *pick_new(const char *title, const json_t *labels, size_t at,
                      void (*chosen)(struct app *app, void *data, int index), void *data)
{
	struct pick *pick = mem_alloc(1, sizeof(*pick));

	pick->title = mem_strdup(title);
	pick->labels = json_deep_copy(labels);
	pick->words = (struct buf)BUF_INIT(PICK_WORDS_MAX);
	pick->at = at;
	pick->chosen = chosen;
	pick->data = data;
	pick_filter(pick);
	return pick;
}

/* For screen readers: all rows, with the numbers that choose them. */
static void pick_print(struct app *app, const struct pick *pick)
{
	_cleanup_rows_ struct rows rows = { 0 };

	for (size_t i = 0; i < pick->shown.count; i++) {
		const struct span note = pick_note(pick, i);
		struct row *row = rows_add(&rows);

		row_printf(row, STYLE(ROLE_TEXT), "%zu. ", i + 1);
		row_text(row, json_span(pick_label(pick, i)), STYLE(ROLE_TEXT));
		if (note.len) {
			row_text(row, SPAN("  "), STYLE(ROLE_TEXT));
			row_text(row, note, STYLE(ROLE_TEXT));
		}
	}
	printout_block(&app->out, &rows);
}

void pick_show(struct app *app, struct pick *pick)
{
	pick_free(app->pick);
	app->pick = pick;
	if (app->out.plain)
		pick_print(app, pick);
	frames_want(&app->frames);
}

void pick_notes(struct pick *pick, const json_t *notes)
{
	json_decref(pick->notes);
	pick->notes = json_deep_copy(notes);
}

void pick_search(struct pick *pick)
{
	pick->searches = true;
}

void pick_second(struct pick *pick, const struct pick_other *other)
{
	pick->other = *other;
}

void pick_moved(struct pick *pick, void (*moved)(struct app *app, void *data, int index))
{
	pick->moved = moved;
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
	json_decref(pick->notes);
	json_decref(pick->changes);
	free(pick->shown.rows);
	buf_release(&pick->words);
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

/* Of a place; -1: none. */
static int pick_index(const struct pick *pick, size_t place)
{
	return place < pick->shown.count ? (int)pick->shown.rows[place] : -1;
}

static void pick_end(struct app *app, int index)
{
	struct pick *pick = app->pick;

	app->pick = NULL;
	pick->chosen(app, pick->data, index);
	/* The same list, shown again, keeps what is searched for. */
	if (app->pick && pick->words.len && app->pick->searches &&
	    !strcmp(app->pick->title, pick->title)) {
		buf_span(&app->pick->words, buf_view(&pick->words));
		pick_filter(app->pick);
	}
	pick_free(pick);
}

static void pick_go(struct app *app, size_t place)
{
	struct pick *pick = app->pick;

	if (place == pick->at || place >= pick->shown.count)
		return;
	pick->at = place;
	if (pick->moved)
		pick->moved(app, pick->data, pick_index(pick, place));
}

/* A digit is a number, or more of one, if a row has it; the row is chosen as soon as no further
 * digit would make another. */
static bool pick_digit(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;
	const size_t count = pick->shown.count;
	size_t number;

	if (key->mods || key->code < '0' || key->code > '9' ||
	    (pick->searches && !app->out.plain))
		return false;
	number = pick->typed * 10 + (key->code - '0');
	if (!number || number > count)
		number = key->code - '0';
	if (!number || number > count)
		return true;
	pick->at = number - 1;
	pick->typed = number;
	if (number * 10 > count)
		pick_end(app, pick_index(pick, pick->at));
	return true;
}

/* Into what is searched for. False: it is no text. */
static bool pick_type(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;
	struct buf *words = &pick->words;
	const size_t at = pick->at;

	if (!pick->searches || app->out.plain)
		return false;
	if (key->code == KEY_BACKSPACE) {
		while (words->len && ((unsigned char)words->data[--words->len] & 0xc0) == 0x80)
			;
	} else if (key->code == 'u' && key->mods & KEY_CTRL) {
		buf_clear(words);
	} else if (key->text.len && !(key->mods & (KEY_CTRL | KEY_ALT | KEY_META)) &&
	           words->len + key->text.len < PICK_WORDS_MAX) {
		buf_span(words, key->text);
	} else {
		return false;
	}
	pick_filter(pick);
	if (pick->moved && pick->at != at && pick->shown.count)
		pick->moved(app, pick->data, pick_index(pick, pick->at));
	return true;
}

static bool pick_is_other_key(const struct pick *pick, const struct key *key)
{
	return pick->other.chosen && key->code == (uint32_t)pick->other.letter &&
	       key->mods & KEY_CTRL;
}

/* The second thing that can be done with a row; the list is closed. */
static bool pick_other_key(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;
	const int index = pick_index(pick, pick->at);

	if (!pick_is_other_key(pick, key))
		return false;
	if (index < 0)
		return true;
	pick->chosen = pick->other.chosen;
	pick_end(app, index);
	return true;
}

static void pick_quit(struct app *app)
{
	pick_end(app, -1);
	tui_quit(app);
}

static bool pick_walk(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;
	const size_t count = pick->shown.count;

	if (!count)
		return false;
	if (bindings_has(app->bindings, BIND_NAV_DIALOG_UP, key))
		pick_go(app, pick->at ? pick->at - 1 : count - 1);
	else if (bindings_has(app->bindings, BIND_NAV_DIALOG_DOWN, key))
		pick_go(app, (pick->at + 1) % count);
	else if (key->code == KEY_PAGE_UP)
		pick_go(app, pick->at > PICK_PAGE ? pick->at - PICK_PAGE : 0);
	else if (key->code == KEY_PAGE_DOWN)
		pick_go(app, pick->at + PICK_PAGE < count ? pick->at + PICK_PAGE : count - 1);
	else
		return false;
	return true;
}

void pick_drawn(struct pick *pick)
{
	if (pick)
		pick->seen = true;
}

/* What was typed before there was a list to see chooses nothing of it. */
static bool pick_is_early(const struct app *app, const struct key *key)
{
	const struct pick *pick = app->pick;
	const bool digit = key->code >= '0' && key->code <= '9' && !key->mods;

	return !pick->seen &&
	       ((digit && !(pick->searches && !app->out.plain)) || pick_is_other_key(pick, key) ||
	        bindings_has(app->bindings, BIND_BASIC_CONFIRM, key));
}

bool pick_key(struct app *app, const struct key *key)
{
	struct pick *pick = app->pick;

	if (pick_is_early(app, key))
		return true;
	if (pick_digit(app, key))
		return true;
	pick->typed = 0;
	if (pick->yields && key->text.len && !(key->mods & ~KEY_SHIFT)) {
		pick_end(app, -1);
		return false;
	}
	if (pick_type(app, key) || pick_other_key(app, key) || pick_walk(app, key))
		return true;
	if (bindings_has(app->bindings, BIND_BASIC_CONFIRM, key)) {
		if (pick->shown.count)
			pick_end(app, pick_index(pick, pick->at));
	} else if (pick->changes && bindings_has(app->bindings, BIND_APP_SHOW_MORE_LINES, key))
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

/* ---- rows -------------------------------------------------------------------- */

/* For screen readers: the labels stand above, and one row says which is selected. */
static void pick_plain_row(const struct pick *pick, unsigned width, struct rows *rows)
{
	struct row *row = rows_add(rows);

	row_printf(row, STYLE(ROLE_TEXT), "%s %zu. ", pick->title, pick->at + 1);
	row_text(row, json_span(pick_label(pick, pick->at)), STYLE(ROLE_TEXT));
	row_clip(row, width);
}

static void pick_head(const struct pick *pick, unsigned width, struct rows *rows)
{
	_cleanup_row_ struct row row = { 0 };

	row_text(&row, span_str(pick->title), STYLE_BOLD(ROLE_ACCENT));
	if (pick->searches) {
		row_text(&row, SPAN("  Search: "), STYLE(ROLE_DIM));
		row_text(&row, buf_view(&pick->words), STYLE(ROLE_TEXT));
		row_printf(&row, STYLE(ROLE_DIM), "  (%zu of %zu)", pick->shown.count,
		           json_array_size(pick->labels));
	}
	rows_wrap(rows, &row, width, NULL, NULL);
}

static void pick_foot(const struct pick *pick, unsigned width, struct rows *rows)
{
	_cleanup_row_ struct row row = { 0 };

	row_text(&row, pick->searches ? SPAN("Enter to choose, Esc to cancel") :
	                                SPAN("Enter or a number to choose, Esc to cancel"),
	         STYLE(ROLE_DIM));
	if (pick->changes)
		row_text(&row, SPAN(", Ctrl+O to see the changes"), STYLE(ROLE_DIM));
	if (pick->other.chosen)
		row_printf(&row, STYLE(ROLE_DIM), ", Ctrl+%c to %s",
		           (char)(pick->other.letter - 'a' + 'A'), pick->other.help);
	rows_wrap(rows, &row, width, NULL, NULL);
}

/* The columns that labels of these places take, half of the width at most. */
static unsigned pick_column(const struct pick *pick, size_t from, size_t to, unsigned width)
{
	unsigned column = 0;

	for (size_t i = from; i < to && pick->notes; i++) {
		_cleanup_row_ struct row row = { 0 };

		row_text(&row, json_span(pick_label(pick, i)), STYLE(ROLE_TEXT));
		column = row.width > column ? row.width : column;
	}
	return column < width / 2 ? column : width / 2;
}

static void pick_row(const struct pick *pick, size_t place, unsigned column, unsigned width,
                     struct rows *rows)
{
	const bool selected = place == pick->at;
	const struct style style = STYLE(selected ? ROLE_SELECTED : ROLE_TEXT);
	const struct style dim = STYLE(selected ? ROLE_SELECTED : ROLE_DIM);
	const struct span note = pick_note(pick, place);
	struct span rest = json_span(pick_label(pick, place)), line = { 0 };
	_cleanup_row_ struct row label = { 0 };
	struct row *row = rows_add(rows);
	unsigned margin;

	line_next(&rest, &line);
	row_text(row, selected ? SPAN("> ") : SPAN("  "), dim);
	if (!pick->searches)
		row_printf(row, dim, "%zu. ", place + 1);
	margin = row->width;
	row_text(&label, line_body(line), style);
	if (note.len) {
		row_clip(&label, column);
		row_append(row, &label);
		row_pad(row, margin + column + 2, style);
		row_text(row, note, dim);
	} else {
		row_append(row, &label);
	}
	row_clip(row, width);
}

void pick_rows(const struct pick *pick, bool plain, unsigned width, size_t height,
               struct rows *rows)
{
	const size_t before = rows->count, count = pick->shown.count;
	_cleanup_rows_ struct rows foot = { 0 };
	size_t taken, shown, top, end;
	unsigned column;

	if (plain) {
		pick_plain_row(pick, width, rows);
		return;
	}
	pick_head(pick, width, rows);
	pick_foot(pick, width, &foot);
	taken = rows->count - before + foot.count;
	shown = height > taken ? height - taken : 1;
	top = pick->at >= shown ? pick->at - shown + 1 : 0;
	end = top + shown < count ? top + shown : count;
	column = pick_column(pick, top, end, width);
	for (size_t i = top; i < end; i++)
		pick_row(pick, i, column, width, rows);
	if (!count)
		rows_text(rows, SPAN("  Nothing matches."), STYLE(ROLE_DIM), width);
	rows_move(rows, &foot);
}
