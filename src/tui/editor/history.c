/* SPDX-License-Identifier: Apache-2.0 */
/* Earlier prompts: browsing them with the draft kept, and searching them. */
#include "base/mem.h"
#include "tui/editor/private.h"

enum {
	HISTORY_MAX = 5000,
	HISTORY_BYTES_MAX = 8 << 20,
	/* Of a search: more than a user would go through. */
	HISTORY_FOUND_MAX = 200,
};

static void release_past(struct past *past)
{
	free(past->text);
	*past = (struct past){ 0 };
}

void history_release(struct editor_history *history)
{
	for (size_t i = 0; i < history->count; i++)
		free(history->at[i].text);
	free(history->at);
	release_past(&history->kept);
	release_past(&history->searched);
	*history = (struct editor_history){ 0 };
}

/* Drops the oldest until `len` more bytes have room. */
static void drop_oldest(struct editor_history *history, size_t len)
{
	size_t dropped = 0;

	while (dropped < history->count && (history->count - dropped >= HISTORY_MAX ||
	                                    history->bytes + len > HISTORY_BYTES_MAX)) {
		history->bytes -= history->at[dropped].len;
		release_past(&history->at[dropped++]);
	}
	memmove(history->at, history->at + dropped,
	        (history->count - dropped) * sizeof(*history->at));
	history->count -= dropped;
}

bool history_drop_marked(struct editor_history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		struct past *past = &history->at[i];

		if (!memchr(past->text, DRAFT_MARK, past->len))
			continue;
		history->bytes -= past->len;
		release_past(past);
		memmove(past, past + 1, (history->count - i - 1) * sizeof(*past));
		history->count--;
		history_end_browse(history);
		return true;
	}
	return false;
}

void history_add(struct editor *editor, struct span text, bool shell)
{
	struct editor_history *history = &editor->history;
	struct past *last = history->count ? &history->at[history->count - 1] : NULL;

	history_end_browse(history);
	if (span_is_blank(text) || text.len > DRAFT_BYTES_MAX ||
	    (last && last->shell == shell && span_eq(span_of(last->text, last->len), text)))
		return;
	if (history->count)
		drop_oldest(history, text.len);
	history->at = mem_grow(history->at, &history->cap, history->count + 1,
	                       sizeof(*history->at));
	history->at[history->count++] = (struct past){
		.text = mem_dup(text.data, text.len), .len = text.len, .shell = shell };
	history->bytes += text.len;
}

static struct past keep_draft(const struct draft *draft)
{
	return (struct past){ .text = mem_dup(draft_view(draft).data, draft->text.len),
			      .len = draft->text.len, .caret = draft->caret,
			      .shell = draft->shell };
}

static void put_past(struct draft *draft, const struct past *past)
{
	unsigned long version = draft->version;

	draft_begin(draft);
	draft_replace(draft, 0, draft->text.len, span_of(past->text, past->len));
	draft->shell = past->shell;
	if (draft->version != version)
		draft->edits[draft->done - 1].shell_after = past->shell;
}

void history_end_browse(struct editor_history *history)
{
	history->browsing = false;
	release_past(&history->kept);
}

/* The next one in that direction that is browsed; false: there is none. */
static bool find_past(const struct editor_history *history, int by, size_t *ret)
{
	size_t i = history->browsing ? history->shown : history->count;

	while (by < 0 ? i > 0 : i + 1 < history->count) {
		i += by < 0 ? (size_t)-1 : 1;
		if (!history->only_shell || history->at[i].shell) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Back to the draft that was there before. */
static void return_to_draft(struct editor *editor)
{
	size_t caret = editor->history.kept.caret;

	put_past(&editor->draft, &editor->history.kept);
	history_end_browse(&editor->history);
	draft_place(&editor->draft, caret);
}

bool history_browse(struct editor *editor, int by)
{
	struct editor_history *history = &editor->history;
	size_t found;

	if (!history->browsing) {
		if (by > 0)
			return false;
		history->only_shell = editor->draft.shell;
	}
	if (!find_past(history, by, &found)) {
		if (by < 0)
			return false;
		return_to_draft(editor);
		return true;
	}
	if (!history->browsing) {
		history->browsing = true;
		history->kept = keep_draft(&editor->draft);
	}
	history->shown = found;
	put_past(&editor->draft, &history->at[found]);
	/* Where the same key goes on. */
	layout_refresh(editor);
	editor->draft.caret = by < 0 ? layout_row_end(editor, 0) : editor->draft.text.len;
	return true;
}

/* ---- search ---- */

void history_search_begin(struct editor *editor)
{
	struct editor_history *history = &editor->history;

	history_end_browse(history);
	history->searching = true;
	history->searched = keep_draft(&editor->draft);
	history->search_version = editor->draft.version - 1;
	history_search_refresh(editor);
}

/* Whether one of those found is the same. */
static bool is_offered_already(const struct draft_completions *candidates, const struct past *past)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (span_eq(span_of(candidates->at[i].text, candidates->at[i].text_len),
		            span_of(past->text, past->len)))
			return true;
	return false;
}

static void offer_past(struct editor *editor, const struct past *past, size_t index)
{
	_cleanup_buf_ struct buf label = BUF_INIT(2 * DRAFT_BYTES_MAX);

	buf_str(&label, past->shell ? "! " : "");
	draft_labels(&editor->draft, span_of(past->text, past->len), &label);
	for (size_t i = 0; i < label.len; i++)
		if (label.data[i] == '\n')
			label.data[i] = ' ';
	candidates_add(&editor->candidates, index, index, span_of(past->text, past->len),
	               buf_view(&label), span_of("", 0));
}

/* Case counts only for ASCII. */
static bool contains_text(struct span text, struct span part)
{
	for (size_t i = 0; i + part.len <= text.len; i++) {
		size_t same = 0;

		while (same < part.len) {
			char a = text.data[i + same], b = part.data[same];

			a = a >= 'A' && a <= 'Z' ? (char)(a | 0x20) : a;
			b = b >= 'A' && b <= 'Z' ? (char)(b | 0x20) : b;
			if (a != b)
				break;
			same++;
		}
		if (same == part.len)
			return true;
	}
	return false;
}

void history_search_refresh(struct editor *editor)
{
	struct editor_history *history = &editor->history;
	struct span query = span_trim(draft_view(&editor->draft));

	if (!history->searching || history->search_version == editor->draft.version)
		return;
	history->search_version = editor->draft.version;
	candidates_clear(&editor->candidates);
	for (size_t i = history->count; i-- > 0 &&
	     editor->candidates.count < HISTORY_FOUND_MAX;) {
		const struct past *past = &history->at[i];

		if (contains_text(span_of(past->text, past->len), query) &&
		    !is_offered_already(&editor->candidates, past))
			offer_past(editor, past, i);
	}
}

static void end_search(struct editor *editor)
{
	editor->history.searching = false;
	candidates_clear(&editor->candidates);
	release_past(&editor->history.searched);
}

bool history_search_accept(struct editor *editor)
{
	struct draft_completions *candidates = &editor->candidates;

	if (!candidates->count)
		return false;
	put_past(&editor->draft, &editor->history.at[candidates->at[candidates->selected].from]);
	end_search(editor);
	return true;
}

void history_search_cancel(struct editor *editor)
{
	size_t caret = editor->history.searched.caret;

	put_past(&editor->draft, &editor->history.searched);
	draft_place(&editor->draft, caret);
	end_search(editor);
}
