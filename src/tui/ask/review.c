/* SPDX-License-Identifier: Apache-2.0 */
/* The review of an edit hunk by hunk, with the keys of git add -p; and the look at what is left. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tui/ask/private.h"
#include "tui/view/view.h"

static struct hunk_choice *hunk_in_front(const struct ask *ask)
{
	return hunks_at(ask->confirm.hunks, ask->confirm.hunk);
}

static size_t count_verdicts(const struct hunks *hunks, enum hunk_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < hunks_count(hunks); i++)
		count += hunks_at((struct hunks *)hunks, i)->verdict == verdict;
	return count;
}

static bool nothing_is_left(const struct ask *ask)
{
	const struct confirm *confirm = &ask->confirm;

	return !confirm->modified &&
	       count_verdicts(confirm->hunks, HUNK_LEFT) == hunks_count(confirm->hunks);
}

/* ---- going through ----------------------------------------------------------- */

static void show_hunk_number(struct ask *ask, size_t i)
{
	ask->confirm.hunk = i;
	ask->confirm.stage = CONFIRM_HUNKS;
	ask->confirm.help = false;
	ask_pane_reset(ask);
}

/* The next hunk that is open, from the one in front on; without one, what is left. */
static void review_go_on(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;
	const size_t count = hunks_count(confirm->hunks);

	for (size_t i = 0; i < count; i++) {
		size_t k = (confirm->hunk + i) % count;

		if (hunks_at(confirm->hunks, k)->verdict == HUNK_OPEN) {
			show_hunk_number(ask, k);
			return;
		}
	}
	confirm->stage = CONFIRM_APPLY;
	ask_pane_reset(ask);
}

void review_begin(struct ask *ask)
{
	free(ask->confirm.modified);
	ask->confirm.modified = NULL;
	review_go_on(ask);
}

static void give_verdict(struct ask *ask, enum hunk_verdict verdict)
{
	hunk_in_front(ask)->verdict = verdict;
	review_go_on(ask);
}

/* All that are open still. */
static void give_rest_verdict(struct ask *ask, enum hunk_verdict verdict)
{
	struct hunks *hunks = ask->confirm.hunks;

	hunk_in_front(ask)->verdict = verdict;
	for (size_t i = 0; i < hunks_count(hunks); i++)
		if (hunks_at(hunks, i)->verdict == HUNK_OPEN)
			hunks_at(hunks, i)->verdict = verdict;
	review_go_on(ask);
}

static void hunk_begin_comment(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;

	editor_set(ask_editor(ask, &confirm->comment), span_str(hunk_in_front(ask)->comment));
	confirm->stage = CONFIRM_COMMENT;
}

static void hunk_begin_edit(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_FILE_BYTES);

	hunks_text(confirm->hunks, confirm->hunk, &text);
	if (text.len && (memchr(text.data, '\r', text.len) || memchr(text.data, 0, text.len))) {
		confirm->note = "This hunk has control characters that a field cannot hold; take "
		                "or leave it, or use \"Modify with external editor\".";
		return;
	}
	editor_set(ask_editor(ask, &confirm->edit), buf_view(&text));
	confirm->stage = CONFIRM_EDIT;
}

/* X(letter, what it does) as help has it. */
static const struct {
	char letter;
	const char *help;
} review_letters[] = {
	{ 'y', "take this hunk" },
	{ 'n', "leave this hunk out" },
	{ 'e', "edit the new lines of this hunk" },
	{ 'c', "comment on this hunk: the model reads it" },
	{ 's', "split this hunk into smaller ones" },
	{ 'a', "take this hunk and all that are open" },
	{ 'd', "leave out this hunk and all that are open" },
	{ 'k', "go back to the hunk before" },
	{ 'j', "go on to the next hunk, this one undecided" },
	{ '?', "show this" },
};

static bool hunk_letter(struct ask *ask, uint32_t letter)
{
	struct confirm *confirm = &ask->confirm;
	const size_t count = hunks_count(confirm->hunks);

	confirm->note = NULL;
	switch (letter) {
	case 'y': give_verdict(ask, HUNK_TAKEN); break;
	case 'n': give_verdict(ask, HUNK_LEFT); break;
	case 'e': hunk_begin_edit(ask); break;
	case 'c': hunk_begin_comment(ask); break;
	case 's':
		hunks_split(confirm->hunks, confirm->hunk);
		ask_pane_reset(ask);
		break;
	case 'a': give_rest_verdict(ask, HUNK_TAKEN); break;
	case 'd':
	case 'q': give_rest_verdict(ask, HUNK_LEFT); break;
	case 'k': show_hunk_number(ask, confirm->hunk ? confirm->hunk - 1 : 0); break;
	case 'j':
		show_hunk_number(ask, confirm->hunk + 1 < count ? confirm->hunk + 1 :
		                                                  confirm->hunk);
		break;
	case '?': confirm->help = !confirm->help; break;
	default: return false;
	}
	return true;
}

static enum ask_state hunk_key(struct ask *ask, const struct key *key)
{
	if (ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		ask->confirm.stage = CONFIRM_CHOOSE;
		return ASK_OPEN;
	}
	if (ask_bound(ask, BIND_APP_SHOW_MORE_LINES, key))
		return ASK_WHOLE;
	return hunk_letter(ask, ask_letter(key)) || ask_scroll(ask, key) ? ASK_OPEN : ASK_IGNORED;
}

/* ---- typing ------------------------------------------------------------------ */

static enum ask_state field_state(enum editor_action action)
{
	return action == EDITOR_EXTERNAL ? ASK_EXTERNAL :
	       action == EDITOR_IGNORED  ? ASK_IGNORED : ASK_OPEN;
}

static enum ask_state comment_key(struct ask *ask, const struct key *key)
{
	struct confirm *confirm = &ask->confirm;
	struct hunk_choice *hunk = hunk_in_front(ask);
	enum editor_action action;

	if (ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		confirm->stage = CONFIRM_HUNKS;
		return ASK_OPEN;
	}
	action = ask_field_key(ask, confirm->comment, key);
	if (action != EDITOR_SUBMIT)
		return field_state(action);
	free(hunk->comment);
	if (!ask_typed(confirm->comment, &hunk->comment))
		hunk->comment = NULL;
	confirm->stage = CONFIRM_HUNKS;
	return ASK_OPEN;
}

/* Enter is a line feed here; Ctrl+S takes the lines. */
static enum ask_state edit_key(struct ask *ask, const struct key *key)
{
	struct confirm *confirm = &ask->confirm;
	_cleanup_free_ char *text = NULL;

	if (ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		confirm->stage = CONFIRM_HUNKS;
		return ASK_OPEN;
	}
	if (key->code == 's' && key->mods == KEY_CTRL) {
		text = editor_text(confirm->edit);
		hunks_edit(confirm->hunks, confirm->hunk, span_str(text));
		review_go_on(ask);
		return ASK_OPEN;
	}
	if (key->code == KEY_ENTER && !key->mods) {
		editor_paste(confirm->edit, SPAN("\n"));
		return ASK_OPEN;
	}
	return field_state(ask_field_key(ask, confirm->edit, key));
}

/* ---- what is left ------------------------------------------------------------ */

/* All comments as one text, for who reads no `review`. */
static void set_comments(struct ask *ask)
{
	struct hunks *hunks = ask->confirm.hunks;
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_RESULT_BYTES);

	for (size_t i = 0; i < hunks_count(hunks); i++)
		if (hunks_at(hunks, i)->comment)
			buf_printf(&text, "%sHunk %zu: %s", text.len ? "\n" : "", i + 1,
			           hunks_at(hunks, i)->comment);
	if (text.len)
		json_object_set_new(ask->answer, "message", json_text(buf_view(&text)));
}

static enum ask_state apply_answer(struct ask *ask)
{
	const struct confirm *confirm = &ask->confirm;
	_cleanup_buf_ struct buf content = BUF_INIT(LIMIT_FILE_BYTES);

	ask_outcome(ask, nothing_is_left(ask) ? "cancel" : "modify_with_editor");
	if (confirm->modified) {
		json_object_set_new(ask->answer, "newContent",
		                    json_text(span_str(confirm->modified)));
		return ASK_DONE;
	}
	json_object_set_new(ask->answer, "review", hunks_review(confirm->hunks));
	if (nothing_is_left(ask)) {
		set_comments(ask);
		return ASK_DONE;
	}
	hunks_content(confirm->hunks, &content);
	json_object_set_new(ask->answer, "newContent", json_text(buf_view(&content)));
	return ASK_DONE;
}

/* Back to where the text came from. */
static enum ask_state apply_go_back(struct ask *ask)
{
	if (ask->confirm.modified)
		ask->confirm.stage = CONFIRM_CHOOSE;
	else
		show_hunk_number(ask, ask->confirm.hunk);
	ask_pane_reset(ask);
	return ASK_OPEN;
}

static enum ask_state apply_key(struct ask *ask, const struct key *key)
{
	uint32_t letter = ask_letter(key);

	if (letter == 'y' || ask_bound(ask, BIND_BASIC_CONFIRM, key))
		return apply_answer(ask);
	if (letter == 'n' || letter == 'k' || ask_bound(ask, BIND_BASIC_CANCEL, key))
		return apply_go_back(ask);
	if (letter == 'e' && ask->confirm.modified)
		return ASK_EXTERNAL;
	if (ask_bound(ask, BIND_APP_SHOW_MORE_LINES, key))
		return ASK_WHOLE;
	return ask_scroll(ask, key) ? ASK_OPEN : ASK_IGNORED;
}

enum ask_state review_key(struct ask *ask, const struct key *key)
{
	switch (ask->confirm.stage) {
	case CONFIRM_COMMENT:
		return comment_key(ask, key);
	case CONFIRM_EDIT:
		return edit_key(ask, key);
	case CONFIRM_APPLY:
		return apply_key(ask, key);
	case CONFIRM_HUNKS:
	case CONFIRM_CHOOSE:
	case CONFIRM_SAY:
		break;
	}
	return hunk_key(ask, key);
}

/* ---- rows -------------------------------------------------------------------- */

static void modified_diff(const struct ask *ask, struct buf *out)
{
	struct span original =
		json_span(json_object_get(ask_details(ask), "originalContent"));
	struct hunks *hunks = hunks_new(original, span_str(ask->confirm.modified), SPAN(""));

	for (size_t i = 0; hunks && i < hunks_count(hunks); i++)
		hunks_at(hunks, i)->verdict = HUNK_TAKEN;
	if (hunks)
		hunks_content_diff(hunks, out);
	hunks_free(hunks);
}

void review_diff(const struct ask *ask, struct buf *out)
{
	const struct confirm *confirm = &ask->confirm;
	struct span name = json_span(json_object_get(ask_details(ask), "fileName"));

	/* For the colours of its language. */
	if (name.len && !memchr(name.data, '\n', name.len)) {
		buf_str(out, "--- ");
		buf_span(out, name);
		buf_str(out, "\n+++ ");
		buf_span(out, name);
		buf_char(out, '\n');
	}
	if (confirm->stage == CONFIRM_APPLY && confirm->modified)
		modified_diff(ask, out);
	else if (confirm->stage == CONFIRM_APPLY)
		hunks_content_diff(confirm->hunks, out);
	else
		hunks_diff(confirm->hunks, confirm->hunk, out);
}

/* It is made once: a hunk may be long, and is drawn with every key. */
static void review_pane(struct ask *ask, struct ask_page *page)
{
	const struct view_how how = { .width = page->width, .plain = ask->plain };
	_cleanup_buf_ struct buf diff = BUF_INIT(LIMIT_RESULT_BYTES);

	if (ask->pane_width != page->width) {
		rows_release(&ask->pane);
		review_diff(ask, &diff);
		view_diff(&ask->pane, buf_view(&diff), &how);
		ask->pane_width = page->width;
	}
	ask_page_pane(ask, page);
}

static void hunk_rows(struct ask *ask, struct ask_page *page)
{
	static const char *const verdicts[] = {
		[HUNK_OPEN] = NULL, [HUNK_TAKEN] = "Taken.", [HUNK_LEFT] = "Left out.",
		[HUNK_EDITED] = "Taken as you edited it.",
	};
	const struct confirm *confirm = &ask->confirm;
	const struct hunk_choice *hunk = hunk_in_front(ask);
	_cleanup_free_ char *prompt = mem_printf("Hunk %zu/%zu? ", confirm->hunk + 1,
	                                         hunks_count(confirm->hunks));

	ask_page_prompt(page, prompt);
	ask_page_text(page, "y take, n leave out, e edit, c comment, s split, "
	                    "a/d take/leave the rest, k back, ? help, Esc", STYLE(ROLE_DIM));
	if (verdicts[hunk->verdict])
		ask_page_text(page, verdicts[hunk->verdict], STYLE(ROLE_ACCENT));
	if (confirm->note)
		ask_page_text(page, confirm->note, STYLE(ROLE_WARNING));
	if (hunk->comment) {
		_cleanup_free_ char *comment = mem_printf("Your comment: %s", hunk->comment);

		rows_text(page->rows, span_str(comment), STYLE(ROLE_ACCENT), page->width);
	}
	for (size_t i = 0; confirm->help && i < ARRAY_LEN(review_letters); i++) {
		_cleanup_free_ char *line = mem_printf("%c  %s", review_letters[i].letter,
		                                       review_letters[i].help);

		ask_page_text(page, line, STYLE(ROLE_TEXT));
	}
	if (!confirm->help)
		review_pane(ask, page);
}

static void apply_rows(struct ask *ask, struct ask_page *page)
{
	const struct confirm *confirm = &ask->confirm;
	_cleanup_free_ char *note = NULL;

	ask_page_prompt(page, nothing_is_left(ask) ? "Decline? [y/n] " : "Apply? [y/n] ");
	if (confirm->modified) {
		note = mem_strdup("What you made of it. y applies it, n goes back, e edits again.");
	} else {
		size_t edited = count_verdicts(confirm->hunks, HUNK_EDITED);
		size_t taken = count_verdicts(confirm->hunks, HUNK_TAKEN) + edited;

		note = mem_printf("%zu of %zu hunks%s. y applies %s, n goes back.", taken,
		                  hunks_count(confirm->hunks),
		                  !edited ? "" : taken == 1 ? ", as you edited it" :
		                                              ", some as you edited them",
		                  !taken ? "nothing and says so" : taken == 1 ? "it" : "them");
	}
	ask_page_text(page, note, STYLE(ROLE_DIM));
	if (!nothing_is_left(ask))
		review_pane(ask, page);
}

static void field_rows(struct ask *ask, struct ask_page *page, const char *hint)
{
	ask_page_field(page, ask_confirm_field(ask), page->height > 6 ? page->height / 2 : 2);
	ask_page_text(page, hint, STYLE(ROLE_DIM));
	review_pane(ask, page);
}

void review_rows(struct ask *ask, struct ask_page *page)
{
	switch (ask->confirm.stage) {
	case CONFIRM_COMMENT:
		field_rows(ask, page, "Your comment on this hunk, for the model. Enter keeps it, "
		                      "Esc goes back.");
		return;
	case CONFIRM_EDIT:
		field_rows(ask, page, "The new lines of this hunk. Ctrl+S takes them, Ctrl+G opens "
		                      "your editor, Esc goes back.");
		return;
	case CONFIRM_APPLY:
		apply_rows(ask, page);
		return;
	case CONFIRM_HUNKS:
	case CONFIRM_CHOOSE:
	case CONFIRM_SAY:
		break;
	}
	hunk_rows(ask, page);
}
