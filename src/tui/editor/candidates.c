/* SPDX-License-Identifier: Apache-2.0 */
/* What may complete the draft, and how it is shown. */
#include <string.h>

#include "base/mem.h"
#include "tui/editor/private.h"
#include "tui/text/width.h"

/* More are not shown anyway: typing narrows them. */
enum { CANDIDATES_MAX = 1000 };

void candidates_clear(struct draft_completions *candidates)
{
	for (size_t i = 0; i < candidates->count; i++) {
		free(candidates->at[i].text);
		free(candidates->at[i].label);
		free(candidates->at[i].note);
	}
	candidates->count = candidates->selected = 0;
	candidates->expanded = candidates->moved = false;
}

void candidates_drop(struct draft_completions *candidates)
{
	candidates_clear(candidates);
	free(candidates->at);
	*candidates = (struct draft_completions){ 0 };
}

void candidates_add(struct draft_completions *candidates, size_t from, size_t to, struct span text,
                    struct span label, struct span note)
{
	if (candidates->count == CANDIDATES_MAX)
		return;
	candidates->at = mem_grow(candidates->at, &candidates->cap, candidates->count + 1,
	                          sizeof(*candidates->at));
	candidates->at[candidates->count++] = (struct draft_completion){
		.from = from, .to = to, .text = mem_dup(text.data, text.len), .text_len = text.len,
		.label = mem_dup(label.data, label.len), .note = mem_dup(note.data, note.len) };
}

void candidates_move(struct draft_completions *candidates, int by)
{
	size_t count = candidates->count;

	candidates->selected = (candidates->selected + (by < 0 ? count - 1 : 1)) % count;
	candidates->moved = true;
	candidates->expanded = false;
}

void editor_offer(struct editor *editor, size_t from, size_t to, struct span text,
                  struct span label, struct span note)
{
	_cleanup_buf_ struct buf clean = BUF_INIT(DRAFT_BYTES_MAX);
	const struct draft *draft = &editor->draft;

	if (from > to || to > draft->text.len || draft_floor(draft, from) != from ||
	    draft_floor(draft, to) != to || editor->history.searching)
		return;
	draft_clean(&clean, text);
	candidates_add(&editor->candidates, from, to, buf_view(&clean), label, note);
}

void editor_offer_none(struct editor *editor)
{
	if (!editor->history.searching)
		candidates_clear(&editor->candidates);
}

bool editor_is_choosing(const struct editor *editor)
{
	return editor->candidates.count && editor->candidates.moved;
}

const char *editor_selected(const struct editor *editor)
{
	const struct draft_completions *candidates = &editor->candidates;

	return candidates->count ? candidates->at[candidates->selected].text : NULL;
}

bool editor_select(struct editor *editor, const char *text, size_t most)
{
	struct draft_completions *candidates = &editor->candidates;

	for (size_t i = 0; i < candidates->count && i < most; i++) {
		if (strcmp(candidates->at[i].text, text) != 0)
			continue;
		candidates->selected = i;
		return true;
	}
	return false;
}

/* One candidate on one row: its label, and its note from `column` on. */
static void draw_candidate(struct row *row, const struct draft_completion *candidate, bool selected,
                           unsigned column, unsigned width)
{
	struct style style = STYLE(selected ? ROLE_SELECTED : ROLE_TEXT);
	_cleanup_row_ struct row label = { 0 };

	row_text(row, selected ? SPAN("> ") : SPAN("  "), style);
	row_text(&label, span_str(candidate->label), style);
	row_clip(&label, candidate->note[0] ? column : width > 2 ? width - 2 : 1);
	row_append(row, &label);
	if (candidate->note[0]) {
		row_pad(row, 2 + column + 2, style);
		row_text(row, span_str(candidate->note),
		         STYLE(selected ? ROLE_SELECTED : ROLE_DIM));
	}
	row_clip(row, width);
}

/* All of the selected one, as many rows as there is room for. */
static void draw_expanded(const struct editor *editor, unsigned width, size_t max_rows,
                          struct rows *rows)
{
	const struct draft_completions *candidates = &editor->candidates;
	const struct draft_completion *candidate = &candidates->at[candidates->selected];
	_cleanup_buf_ struct buf text = BUF_INIT(2 * DRAFT_BYTES_MAX);
	_cleanup_rows_ struct rows all = { 0 };

	draft_labels(&editor->draft, span_of(candidate->text, candidate->text_len), &text);
	rows_text(&all, buf_view(&text), STYLE(ROLE_SELECTED), width);
	rows_copy(rows, &all, 0, all.count < max_rows ? all.count : max_rows);
}

void editor_candidates(const struct editor *editor, unsigned width, size_t max_rows,
                       struct rows *rows)
{
	const struct draft_completions *candidates = &editor->candidates;
	size_t shown = candidates->count < max_rows ? candidates->count : max_rows, first;
	unsigned column = 0;

	if (!shown)
		return;
	if (candidates->expanded) {
		draw_expanded(editor, width, max_rows, rows);
		return;
	}
	/* The last row says where in the list this is. */
	if (shown < candidates->count && shown > 1)
		shown--;
	first = candidates->selected / shown * shown;
	for (size_t i = first; i < first + shown && i < candidates->count; i++) {
		_cleanup_row_ struct row label = { 0 };

		row_text(&label, span_str(candidates->at[i].label), STYLE(ROLE_TEXT));
		column = label.width > column ? label.width : column;
	}
	column = column < width / 2 ? column : width / 2;
	for (size_t i = first; i < first + shown && i < candidates->count; i++)
		draw_candidate(rows_add(rows), &candidates->at[i], i == candidates->selected,
		               column, width);
	if (shown < candidates->count && shown < max_rows) {
		struct row *row = rows_add(rows);

		row_printf(row, STYLE(ROLE_DIM), "  (%zu/%zu)", candidates->selected + 1,
		           candidates->count);
		row_clip(row, width);
	}
}
