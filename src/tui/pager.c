/* SPDX-License-Identifier: Apache-2.0 */
/* A text to look at, on the alternate screen: scrolled, searched, left; what stands on the main
 * screen is not touched. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/app.h"
#include "tui/clipboard.h"
#include "tui/pager.h"
#include "tui/show.h"
#include "tui/term/canvas.h"
#include "tui/text/find.h"
#include "tui/transcript.h"

enum { SEARCH_BYTES_MAX = 256, WHEEL_ROWS = 3, FOOT_COLUMNS = 60 };

struct pager {
	char *title;       /* owned */
	struct rows rows;
	size_t top;        /* the first row that is shown */
	struct buf wanted; /* what is searched for */
	bool typing;       /* it is being typed */
	bool missed;       /* it is not there */
	bool whole;        /* of the transcript: made anew for another width */
	struct entries entries; /* of it */
	char *said;        /* owned; in the last row until the next key; or NULL */
	bool folded;       /* of these, long results */
	unsigned width;    /* the rows were made for */
};

/* Rows of text on the screen: all but the last, which says what this is. */
static size_t pager_height(const struct app *app)
{
	const unsigned rows = term_size(app->term).rows;

	return rows > 1 ? rows - 1 : 1;
}

static void pager_go(struct app *app, size_t top)
{
	struct pager *pager = app->pager;
	const size_t height = pager_height(app);
	const size_t last = pager->rows.count > height ? pager->rows.count - height : 0;

	pager->top = top < last ? top : last;
}

/* `entries` NULL: it is not of the transcript; else they are taken, too. */
static void pager_begin(struct app *app, const char *title, struct rows *rows, bool end,
                        struct entries *entries)
{
	struct pager *pager;

	if (app->pager || app->plain) {
		tui_print_only(app, rows);
		return;
	}
	pager = mem_alloc(1, sizeof(*pager));
	pager->title = mem_strdup(title);
	pager->wanted = (struct buf)BUF_INIT(SEARCH_BYTES_MAX);
	pager->width = term_size(app->term).columns;
	pager->whole = entries != NULL;
	if (entries)
		pager->entries = *entries;
	rows_move(&pager->rows, rows);
	app->pager = pager;
	pager_go(app, end ? pager->rows.count : 0);
	if (!app->full) {
		screen_hold(app->screen, true);
		app->canvas = canvas_new(app->term);
	}
	pager_draw(app);
}

void pager_open(struct app *app, const char *title, struct rows *rows, bool end)
{
	pager_begin(app, title, rows, end, NULL);
}

/* In plain lines: the last entry of which something was left out, whole. */
static void pager_print_folded(struct app *app)
{
	const struct transcript_state state = transcript_state(app->transcript);
	struct view_how how = tui_how(app);

	for (size_t i = state.end; i-- > state.first;) {
		_cleanup_rows_ struct rows folded = { 0 }, whole = { 0 };

		how.folded = true;
		transcript_block(app->transcript, i, /* thoughts= */ false, &how, &folded);
		how.folded = false;
		transcript_block(app->transcript, i, /* thoughts= */ false, &how, &whole);
		if (folded.count == whole.count)
			continue;
		tui_print(app, &whole);
		return;
	}
	tui_print_notice(app, "info", SPAN("Nothing was left out."));
}

void pager_transcript(struct app *app)
{
	struct view_how how = tui_how(app);
	_cleanup_rows_ struct rows rows = { 0 };
	struct entries entries = { 0 };

	if (app->plain) {
		pager_print_folded(app);
		return;
	}
	if (app->pager)
		return;
	how.folded = false;
	transcript_rows(app->transcript, &how, &rows, &entries);
	pager_begin(app, "Transcript", &rows, true, &entries);
}

void pager_problems(struct app *app)
{
	_cleanup_rows_ struct rows rows = { 0 };

	if (app->pager)
		return;
	transcript_problems(app->transcript, term_size(app->term).columns, &rows);
	if (rows.count)
		pager_open(app, "Warnings and errors", &rows, true);
	else
		app->hint = "There were no warnings and no errors";
}

/* The rows of the transcript anew; what is in the middle stays about there. */
static void pager_remake(struct app *app)
{
	struct pager *pager = app->pager;
	const size_t before = pager->rows.count ? pager->rows.count : 1, top = pager->top;
	struct view_how how = tui_how(app);

	how.folded = pager->folded;
	pager->width = how.width;
	rows_release(&pager->rows);
	pager->entries.count = 0;
	transcript_rows(app->transcript, &how, &pager->rows, &pager->entries);
	pager_go(app, top * pager->rows.count / before);
}

void pager_close(struct app *app)
{
	struct pager *pager = app->pager;

	if (!pager)
		return;
	app->pager = NULL;
	rows_release(&pager->rows);
	buf_release(&pager->wanted);
	free(pager->title);
	free(pager->said);
	transcript_entries_release(&pager->entries);
	free(pager);
	if (!app->full) {
		canvas_free(app->canvas);
		app->canvas = NULL;
		screen_hold(app->screen, false);
	}
	tui_changed_now(app);
}

/* ---- search ------------------------------------------------------------------ */

/* Goes to the next row in which a match begins, behind the first one shown, or before it; from the
 * last one to the first, or the other way round. */
static void pager_find(struct app *app, bool back)
{
	struct pager *pager = app->pager;
	const size_t none = pager->rows.count;
	size_t edge = none, near = none;
	_cleanup_find_ struct find find;

	pager->missed = false;
	if (!pager->wanted.len || !none)
		return;
	find_begin(&find, &pager->rows, pager->wanted.data, 0);
	while ((back || near == none) && find_next(&find)) {
		const size_t row = find.pieces[0].row;

		if (back || edge == none)
			edge = row;
		if (back ? row < pager->top : row > pager->top)
			near = row;
	}
	pager->missed = edge == none;
	if (edge != none)
		pager->top = near != none ? near : edge;
}

/* By its last character. */
static void pager_shorten(struct buf *text)
{
	while (text->len && (text->data[text->len - 1] & 0xC0) == 0x80)
		text->len--;
	text->len -= text->len > 0;
	if (text->data)
		text->data[text->len] = '\0';
}

bool pager_paste(struct app *app, struct span text)
{
	struct pager *pager = app->pager;
	struct span line = { 0 };

	if (!pager->typing)
		return false;
	line_next(&text, &line);
	buf_span(&pager->wanted, utf8_head(line_body(line),
	                                   SEARCH_BYTES_MAX - 1 - pager->wanted.len));
	pager_draw(app);
	return true;
}

static void pager_type(struct app *app, const struct key *key)
{
	struct pager *pager = app->pager;

	if (key->code == KEY_ENTER) {
		pager->typing = false;
		pager_find(app, false);
	} else if (key->code == KEY_ESC || (key->code == 'c' && key->mods & KEY_CTRL)) {
		pager->typing = false;
	} else if (key->code == KEY_BACKSPACE) {
		pager_shorten(&pager->wanted);
	} else {
		buf_span(&pager->wanted, key->text);
	}
}

/* ---- keys -------------------------------------------------------------------- */

static void pager_scroll(struct app *app, const struct key *key)
{
	struct pager *pager = app->pager;
	const size_t height = pager_height(app);
	const bool ctrl = key->mods & KEY_CTRL;

	if (key->code == KEY_UP || (key->code == 'k' && !ctrl))
		pager_go(app, pager->top ? pager->top - 1 : 0);
	else if (key->code == KEY_DOWN || key->code == 'j' || key->code == KEY_ENTER)
		pager_go(app, pager->top + 1);
	else if (key->code == KEY_PAGE_UP || key->code == 'b')
		pager_go(app, pager->top > height ? pager->top - height : 0);
	else if (key->code == KEY_PAGE_DOWN || key->code == ' ' || (key->code == 'f' && ctrl))
		pager_go(app, pager->top + height);
	else if (key->code == 'u')
		pager_go(app, pager->top > height / 2 ? pager->top - height / 2 : 0);
	else if (key->code == 'd' && !ctrl)
		pager_go(app, pager->top + height / 2);
	else if (key->code == KEY_HOME || key->code == 'g')
		pager_go(app, 0);
	else if (key->code == KEY_END || key->code == 'G')
		pager_go(app, pager->rows.count);
}

/* How many entries begin at the first row shown or before it. */
static size_t pager_entries_before(const struct pager *pager)
{
	size_t count = 0;

	while (count < pager->entries.count && pager->entries.at[count].row <= pager->top)
		count++;
	return count;
}

/* To the beginning of the next entry, or of this one, or the one before. */
static void pager_go_entry(struct pager *pager, bool back)
{
	const struct entries *entries = &pager->entries;
	size_t i = pager_entries_before(pager);

	if (back && i > 1 && entries->at[i - 1].row == pager->top)
		i--;
	if (back ? i > 0 : i < entries->count)
		pager->top = entries->at[back ? i - 1 : i].row;
}

/* Folds or unfolds the entry that the first row is of; its beginning comes to stand there. */
static void pager_fold_entry(struct app *app)
{
	struct pager *pager = app->pager;
	const size_t i = pager_entries_before(pager);

	if (!i)
		return;
	transcript_fold(&pager->entries, pager->entries.at[i - 1].number);
	pager_remake(app);
	if (i <= pager->entries.count)
		pager->top = pager->entries.at[i - 1].row;
}

/* Whether the entry that the first row is of is folded. */
static bool pager_entry_folded(const struct pager *pager)
{
	const size_t i = pager_entries_before(pager);

	return pager->folded !=
	       (i && transcript_is_other(&pager->entries, pager->entries.at[i - 1].number));
}

static void pager_fold_all(struct app *app)
{
	app->pager->folded = !app->pager->folded;
	app->pager->entries.other_count = 0;
	pager_remake(app);
}

/* Of the transcript the entry that the first row is of, else all of it. */
static void pager_copy(struct app *app)
{
	const struct pager *pager = app->pager;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	_cleanup_free_ char *block = NULL;

	if (pager->whole) {
		const size_t i = pager_entries_before(pager);

		block = i ? transcript_entry(app->transcript, pager->entries.at[i - 1].number,
		                             pager->width) : NULL;
		tui_copy(app, span_str(block ? block : ""));
		return;
	}
	for (size_t i = 0; i < pager->rows.count; i++) {
		row_plain(&pager->rows.at[i], &text);
		buf_char(&text, '\n');
	}
	tui_copy(app, buf_view(&text));
}

void pager_notice(struct app *app, const char *severity, const char *text)
{
	if (!app->pager) {
		tui_print_notice(app, severity, span_str(text));
		return;
	}
	free(app->pager->said);
	app->pager->said = mem_strdup(text);
	pager_draw(app);
}

void pager_wheel(struct app *app, bool up)
{
	const size_t top = app->pager->top;

	pager_go(app, !up ? top + WHEEL_ROWS : top > WHEEL_ROWS ? top - WHEEL_ROWS : 0);
	pager_draw(app);
}

void pager_key(struct app *app, const struct key *key)
{
	struct pager *pager = app->pager;

	free(pager->said);
	pager->said = NULL;
	if (pager->typing) {
		pager_type(app, key);
	} else if (key->code == 'q' || key->code == KEY_ESC ||
	           (key->mods & KEY_CTRL && (key->code == 'c' || key->code == 'd')) ||
	           bindings_has(app->bindings, BIND_APP_SHOW_MORE_LINES, key)) {
		pager_close(app);
		return;
	} else if (key->code == '/') {
		pager->typing = true;
		buf_clear(&pager->wanted);
		pager->missed = false;
	} else if (key->code == 'n') {
		pager_find(app, false);
	} else if (key->code == 'N') {
		pager_find(app, true);
	} else if (key->code == '{' || key->code == '}') {
		pager_go_entry(pager, key->code == '{');
	} else if (key->code == 'y') {
		pager_copy(app);
	} else if (key->code == 'z' && pager->whole) {
		pager_fold_all(app);
	} else if ((key->code == 'o' || key->code == KEY_TAB) && pager->whole) {
		pager_fold_entry(app);
	} else if (pager->whole && bindings_has(app->bindings, BIND_APP_TOGGLE_MARKDOWN, key)) {
		pager->said = mem_strdup(tui_toggle_source(app));
		pager_remake(app);
	} else {
		pager_scroll(app, key);
	}
	pager_draw(app);
}

/* ---- drawing ----------------------------------------------------------------- */

static void pager_foot(const struct app *app, struct row *foot)
{
	const struct pager *pager = app->pager;
	const size_t height = pager_height(app);
	const size_t seen = pager->top + height < pager->rows.count ? pager->top + height :
	                                                              pager->rows.count;

	if (pager->typing) {
		row_text(foot, SPAN("/"), STYLE(ROLE_ACCENT));
		row_text(foot, buf_view(&pager->wanted), STYLE(ROLE_TEXT));
		return;
	}
	if (pager->said) {
		row_text(foot, span_str(pager->said), STYLE(ROLE_ACCENT));
		return;
	}
	if (term_size(app->term).columns < FOOT_COLUMNS) { /* the way out first */
		row_printf(foot, STYLE(ROLE_DIM), "q closes  %s%zu of %zu",
		           pager->missed ? "not found  " : "", seen, pager->rows.count);
		return;
	}
	row_text(foot, span_str(pager->title), STYLE_BOLD(ROLE_ACCENT));
	row_printf(foot, STYLE(ROLE_DIM), "  %zu of %zu  ", seen, pager->rows.count);
	if (pager->missed)
		row_text(foot, SPAN("not found  "), STYLE(ROLE_WARNING));
	row_text(foot, SPAN("q closes, / searches, n N go on, y copies"), STYLE(ROLE_DIM));
	if (pager->whole)
		row_printf(foot, STYLE(ROLE_DIM), " the entry, o %s it, { } by entries, z %s all",
		           pager_entry_folded(pager) ? "unfolds" : "folds",
		           pager->folded ? "unfolds" : "folds");
}

/* Matches in reverse, in the rows of the window. */
static void pager_mark(const struct pager *pager, struct rows *window)
{
	const size_t end = pager->top + window->count;
	_cleanup_find_ struct find find;

	find_begin(&find, &pager->rows, pager->wanted.data ? pager->wanted.data : "", pager->top);
	while (find_next(&find) && find.pieces[0].row < end)
		for (size_t i = 0; i < find.count; i++) {
			const struct find_piece *piece = &find.pieces[i];

			if (piece->row >= pager->top && piece->row < end)
				row_mark_bytes(&window->at[piece->row - pager->top], piece->start,
				               piece->len, MARK_REVERSE);
		}
}

void pager_draw(struct app *app)
{
	struct pager *pager = app->pager;
	const struct term_size size = term_size(app->term);
	const struct canvas_caret caret = { .hidden = true };
	struct rows window = { 0 };

	if (term_busy(app->term))
		return;
	if (pager->whole && pager->width != size.columns)
		pager_remake(app);
	for (size_t i = 0; i < pager_height(app); i++) {
		if (pager->top + i >= pager->rows.count) {
			rows_add(&window);
			continue;
		}
		rows_copy(&window, &pager->rows, pager->top + i, pager->top + i + 1);
	}
	pager_mark(pager, &window);
	pager_foot(app, rows_add(&window));
	canvas_draw(app->canvas, &window, &caret);
}
