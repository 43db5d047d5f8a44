/* SPDX-License-Identifier: Apache-2.0 */
/* A text to look at, on the alternate screen: scrolled, searched, left; what stands on the main
 * screen is not touched. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/clip/clipboard.h"
#include "tui/editor/bindings.h"
#include "tui/term/frames.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/term/canvas.h"
#include "tui/text/find.h"
#include "tui/show/transcript.h"

enum { SEARCH_BYTES_MAX = 256, WHEEL_ROWS = 3, FOOT_COLUMNS = 60 };

struct pager {
	struct pager_options with;

	/* All zero, but for what is owned by another, while it is not shown. */
	struct canvas *canvas; /* NULL: it is not shown */
	char *title;       /* owned */
	struct rows rows;
	size_t top;        /* the first row that is shown */
	struct buf wanted; /* what is searched for */
	bool typing;       /* it is being typed */
	bool missed;       /* it is not there */
	bool whole;        /* of the transcript: laid out again for another width */
	struct transcript_places entries; /* of it */
	char *said;        /* owned; in the last row until the next key; or NULL */
	bool folded;       /* of these, long results */
	unsigned width;    /* the rows were made for */
};

struct pager *pager_new(const struct pager_options *options)
{
	struct pager *pager = mem_alloc(1, sizeof(*pager));

	pager->with = *options;
	return pager;
}

bool pager_shown(const struct pager *pager)
{
	return pager->canvas != NULL;
}

/* Rows of text on the screen: all but the last, which says what this is. */
static size_t pager_height(const struct pager *pager)
{
	const unsigned rows = term_size(pager->with.out->term).rows;

	return rows > 1 ? rows - 1 : 1;
}

static void pager_go(struct pager *pager, size_t top)
{
	const size_t height = pager_height(pager);
	const size_t last = pager->rows.count > height ? pager->rows.count - height : 0;

	pager->top = top < last ? top : last;
}

/* `entries` NULL: it is not of the transcript; else they are taken, too. */
static void pager_show(struct pager *pager, const char *title, struct rows *rows,
                       struct transcript_places *entries)
{
	struct printout *out = pager->with.out;

	pager->title = mem_strdup(title);
	pager->wanted = (struct buf)BUF_INIT(SEARCH_BYTES_MAX);
	pager->width = term_size(out->term).columns;
	pager->whole = entries != NULL;
	if (entries)
		pager->entries = *entries;
	rows_move(&pager->rows, rows);
	pager->canvas = pager->with.canvas;
	if (!pager->canvas) {
		screen_hold(out->screen);
		pager->canvas = canvas_new(out->term);
	}
}

static bool pager_prints(const struct pager *pager)
{
	return pager->canvas || pager->with.out->plain;
}

void pager_open(struct pager *pager, const char *title, struct rows *rows)
{
	if (pager_prints(pager)) {
		printout_rows(pager->with.out, rows);
		return;
	}
	pager_show(pager, title, rows, NULL);
	pager_draw(pager);
}

void pager_open_end(struct pager *pager, const char *title, struct rows *rows)
{
	if (pager_prints(pager)) {
		printout_rows(pager->with.out, rows);
		return;
	}
	pager_show(pager, title, rows, NULL);
	pager_go(pager, pager->rows.count);
	pager_draw(pager);
}

/* In plain lines: the last entry of which something was left out, whole. */
static void pager_print_folded(struct pager *pager)
{
	const struct transcript *transcript = pager->with.out->transcript;
	const struct transcript_state state = transcript_state(transcript);
	struct view_how how = printout_how(pager->with.out);

	for (size_t i = state.end; i-- > state.first;) {
		_cleanup_rows_ struct rows folded = { 0 }, whole = { 0 };

		how.folded = true;
		transcript_block(transcript, i, /* thoughts= */ false, &how, &folded);
		how.folded = false;
		transcript_block(transcript, i, /* thoughts= */ false, &how, &whole);
		if (folded.count == whole.count)
			continue;
		printout_block(pager->with.out, &whole);
		return;
	}
	printout_notice(pager->with.out, "info", SPAN("Nothing was left out."));
}

void pager_transcript(struct pager *pager)
{
	struct view_how how = printout_how(pager->with.out);
	_cleanup_rows_ struct rows rows = { 0 };
	struct transcript_places entries = { 0 };

	if (pager->with.out->plain) {
		pager_print_folded(pager);
		return;
	}
	if (pager->canvas)
		return;
	how.folded = false;
	transcript_rows(pager->with.out->transcript, &how, &rows, &entries);
	pager_show(pager, "Transcript", &rows, &entries);
	pager_go(pager, pager->rows.count);
	pager_draw(pager);
}

void pager_problems(struct pager *pager)
{
	_cleanup_rows_ struct rows rows = { 0 };

	if (pager->canvas)
		return;
	transcript_problems(pager->with.out->transcript,
	                    term_size(pager->with.out->term).columns, &rows);
	if (rows.count)
		pager_open_end(pager, "Warnings and errors", &rows);
	else
		*pager->with.hint = "There were no warnings and no errors";
}

/* Lay out the transcript again; what is in the middle stays about there. */
static void pager_remake(struct pager *pager)
{
	const size_t before = pager->rows.count ? pager->rows.count : 1, top = pager->top;
	struct view_how how = printout_how(pager->with.out);

	how.folded = pager->folded;
	pager->width = how.width;
	rows_release(&pager->rows);
	pager->entries.count = 0;
	transcript_rows(pager->with.out->transcript, &how, &pager->rows, &pager->entries);
	pager_go(pager, top * pager->rows.count / before);
}

void pager_close(struct pager *pager)
{
	const struct pager_options with = pager->with;

	if (!pager->canvas)
		return;
	if (!with.canvas) {
		canvas_free(pager->canvas);
		screen_resume(with.out->screen);
	}
	rows_release(&pager->rows);
	buf_release(&pager->wanted);
	free(pager->title);
	free(pager->said);
	transcript_entries_release(&pager->entries);
	*pager = (struct pager){ .with = with };
	frames_want_now(with.out->frames);
}

void pager_free(struct pager *pager)
{
	free(pager);
}

void pager_resized(struct pager *pager)
{
	canvas_redraw(pager->canvas);
	pager_draw(pager);
}

/* ---- search ------------------------------------------------------------------ */

/* Goes to the next row in which a match begins, behind the first one shown, or before it; from the
 * last one to the first, or the other way round. */
static void pager_find(struct pager *pager, bool back)
{
	const size_t none = pager->rows.count;
	size_t edge = none, near = none;
	_cleanup_find_ struct row_find find;

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

bool pager_paste(struct pager *pager, struct span text)
{
	struct span line = { 0 };

	if (!pager->typing)
		return false;
	line_next(&text, &line);
	buf_span(&pager->wanted, utf8_head(line_body(line),
	                                   SEARCH_BYTES_MAX - 1 - pager->wanted.len));
	pager_draw(pager);
	return true;
}

static void pager_type(struct pager *pager, const struct key *key)
{

	if (key->code == KEY_ENTER) {
		pager->typing = false;
		pager_find(pager, false);
	} else if (key->code == KEY_ESC || (key->code == 'c' && key->mods & KEY_CTRL)) {
		pager->typing = false;
	} else if (key->code == KEY_BACKSPACE) {
		pager_shorten(&pager->wanted);
	} else {
		buf_span(&pager->wanted, key->text);
	}
}

/* ---- keys -------------------------------------------------------------------- */

static void pager_scroll(struct pager *pager, const struct key *key)
{
	const size_t height = pager_height(pager);
	const bool ctrl = key->mods & KEY_CTRL;

	if (key->code == KEY_UP || (key->code == 'k' && !ctrl))
		pager_go(pager, pager->top ? pager->top - 1 : 0);
	else if (key->code == KEY_DOWN || key->code == 'j' || key->code == KEY_ENTER)
		pager_go(pager, pager->top + 1);
	else if (key->code == KEY_PAGE_UP || key->code == 'b')
		pager_go(pager, pager->top > height ? pager->top - height : 0);
	else if (key->code == KEY_PAGE_DOWN || key->code == ' ' || (key->code == 'f' && ctrl))
		pager_go(pager, pager->top + height);
	else if (key->code == 'u')
		pager_go(pager, pager->top > height / 2 ? pager->top - height / 2 : 0);
	else if (key->code == 'd' && !ctrl)
		pager_go(pager, pager->top + height / 2);
	else if (key->code == KEY_HOME || key->code == 'g')
		pager_go(pager, 0);
	else if (key->code == KEY_END || key->code == 'G')
		pager_go(pager, pager->rows.count);
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
	const struct transcript_places *entries = &pager->entries;
	size_t i = pager_entries_before(pager);

	if (back && i > 1 && entries->at[i - 1].row == pager->top)
		i--;
	if (back ? i > 0 : i < entries->count)
		pager->top = entries->at[back ? i - 1 : i].row;
}

/* Folds or unfolds the entry that the first row is of; its beginning comes to stand there. */
static void pager_fold_entry(struct pager *pager)
{
	const size_t i = pager_entries_before(pager);

	if (!i)
		return;
	transcript_fold(&pager->entries, pager->entries.at[i - 1].number);
	pager_remake(pager);
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

static void pager_fold_all(struct pager *pager)
{
	pager->folded = !pager->folded;
	pager->entries.other_count = 0;
	pager_remake(pager);
}

/* Of the transcript the entry that the first row is of, else all of it. */
static void pager_copy(struct pager *pager)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_MODEL_REPLY_BYTES);
	_cleanup_free_ char *block = NULL;

	if (pager->whole) {
		const size_t i = pager_entries_before(pager);

		block = i ? transcript_entry(pager->with.out->transcript,
		                             pager->entries.at[i - 1].number, pager->width) : NULL;
		clipboard_copy(pager->with.clipboard, span_str(block ? block : ""));
		return;
	}
	for (size_t i = 0; i < pager->rows.count; i++) {
		row_plain(&pager->rows.at[i], &text);
		buf_char(&text, '\n');
	}
	clipboard_copy(pager->with.clipboard, buf_view(&text));
}

void pager_notice(struct pager *pager, const char *severity, const char *text)
{
	if (!pager->canvas) {
		printout_notice(pager->with.out, severity, span_str(text));
		return;
	}
	free(pager->said);
	pager->said = mem_strdup(text);
	pager_draw(pager);
}

void pager_wheel(struct pager *pager, bool up)
{
	const size_t top = pager->top;

	pager_go(pager, !up ? top + WHEEL_ROWS : top > WHEEL_ROWS ? top - WHEEL_ROWS : 0);
	pager_draw(pager);
}

void pager_key(struct pager *pager, const struct key *key)
{

	free(pager->said);
	pager->said = NULL;
	if (pager->typing) {
		pager_type(pager, key);
	} else if (key->code == 'q' || key->code == KEY_ESC ||
	           (key->mods & KEY_CTRL && (key->code == 'c' || key->code == 'd')) ||
	           bindings_has(pager->with.bindings, BIND_APP_SHOW_MORE_LINES, key)) {
		pager_close(pager);
		return;
	} else if (key->code == '/') {
		pager->typing = true;
		buf_clear(&pager->wanted);
		pager->missed = false;
	} else if (key->code == 'n') {
		pager_find(pager, false);
	} else if (key->code == 'N') {
		pager_find(pager, true);
	} else if (key->code == '{' || key->code == '}') {
		pager_go_entry(pager, key->code == '{');
	} else if (key->code == 'y') {
		pager_copy(pager);
	} else if (key->code == 'z' && pager->whole) {
		pager_fold_all(pager);
	} else if ((key->code == 'o' || key->code == KEY_TAB) && pager->whole) {
		pager_fold_entry(pager);
	} else if (pager->whole &&
	           bindings_has(pager->with.bindings, BIND_APP_TOGGLE_MARKDOWN, key)) {
		pager->said = mem_strdup(printout_toggle_source(pager->with.out));
		pager_remake(pager);
	} else {
		pager_scroll(pager, key);
	}
	pager_draw(pager);
}

/* ---- drawing ----------------------------------------------------------------- */

static void pager_foot(const struct pager *pager, struct row *foot)
{
	const size_t height = pager_height(pager);
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
	if (term_size(pager->with.out->term).columns < FOOT_COLUMNS) { /* the way out first */
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
	_cleanup_find_ struct row_find find;

	find_begin(&find, &pager->rows, pager->wanted.data ? pager->wanted.data : "", pager->top);
	while (find_next(&find) && find.pieces[0].row < end)
		for (size_t i = 0; i < find.count; i++) {
			const struct find_piece *piece = &find.pieces[i];

			if (piece->row >= pager->top && piece->row < end)
				row_mark_bytes(&window->at[piece->row - pager->top], piece->start,
				               piece->len, MARK_REVERSE);
		}
}

void pager_draw(struct pager *pager)
{
	const struct term_size size = term_size(pager->with.out->term);
	const struct canvas_caret caret = { .hidden = true };
	struct rows window = { 0 };

	if (term_busy(pager->with.out->term))
		return;
	if (pager->whole && pager->width != size.columns)
		pager_remake(pager);
	for (size_t i = 0; i < pager_height(pager); i++) {
		if (pager->top + i >= pager->rows.count) {
			rows_add(&window);
			continue;
		}
		rows_copy(&window, &pager->rows, pager->top + i, pager->top + i + 1);
	}
	pager_mark(pager, &window);
	pager_foot(pager, rows_add(&window));
	canvas_draw(pager->canvas, &window, &caret);
}
