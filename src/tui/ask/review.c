/* SPDX-License-Identifier: Apache-2.0 */
/* The review of an edit hunk by hunk, with the keys of git add -p; and the look at what is left. */
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tui/ask/confirm.h"
#include "tui/ask/hunks.h"
#include "tui/ask/parts.h"
#include "tui/view/view.h"

/* ---- files ------------------------------------------------------------------- */

static void review_add(struct ask *ask, const json_t *question, const json_t *file,
                       struct hunks *hunks)
{
	struct confirm *confirm = &ask->confirm;

	if (confirm->file_count == confirm->file_cap)
		confirm->files = mem_grow(confirm->files, &confirm->file_cap,
		                          confirm->file_count + 1, sizeof(*confirm->files));
	confirm->files[confirm->file_count++] = (struct review_file){
		.question = question, .file = file, .hunks = hunks,
	};
}

/* The hunks, if the content that is planned is known and the one before it, or there is no such
 * file. */
static struct hunks *find_hunks(const json_t *file, bool creates)
{
	const json_t *original = json_object_get(file, "originalContent");
	const json_t *planned = json_object_get(file, "newContent");

	if (!json_is_string(planned) || !(json_is_string(original) || creates))
		return NULL;
	return hunks_new(json_span(original), json_span(planned),
	                 json_span(json_object_get(file, "fileDiff")));
}

/* Whether the answer may say which of its files and hunks are taken. */
static bool takes_parts(const json_t *question)
{
	return json_lists(json_object_get(question, "outcomes"), SPAN("modify_with_editor"));
}

/* The files of a question that is answered file by file; NULL: it is about one. */
static const json_t *question_files(const json_t *question)
{
	return takes_parts(question) ?
	               json_object_get(json_object_get(question, "details"), "files") : NULL;
}

bool review_find(struct ask *ask, const json_t *question)
{
	const json_t *details = json_object_get(question, "details");
	const json_t *files = question_files(question);
	struct span diff = json_span(json_object_get(details, "fileDiff"));
	struct hunks *hunks = NULL;
	size_t i;
	json_t *file;

	json_array_foreach(files, i, file)
		review_add(ask, question, file, find_hunks(file, false));
	if (json_array_size(files))
		return true;
	if (takes_parts(question))
		hunks = find_hunks(details, span_starts(diff, SPAN("--- /dev/null\n")));
	if (hunks)
		review_add(ask, question, details, hunks);
	return hunks != NULL;
}

void review_find_or_whole(struct ask *ask, const json_t *question)
{
	if (!review_find(ask, question))
		review_add(ask, question, json_object_get(question, "details"), NULL);
}

static void review_file_release(struct review_file *file)
{
	hunks_free(file->hunks);
	free(file->whole.comment);
}

void review_forget(struct ask *ask, const json_t *question)
{
	struct confirm *confirm = &ask->confirm;
	size_t kept = 0;

	for (size_t i = 0; i < confirm->file_count; i++)
		if (confirm->files[i].question == question)
			review_file_release(&confirm->files[i]);
		else
			confirm->files[kept++] = confirm->files[i];
	confirm->file_count = kept;
	confirm->file = confirm->hunk = 0;
}

void review_end(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;

	for (size_t i = 0; i < confirm->file_count; i++)
		review_file_release(&confirm->files[i]);
	free(confirm->files);
}

static struct review_file *file_in_front(const struct ask *ask)
{
	return &ask->confirm.files[ask->confirm.file];
}

static size_t file_hunks(const struct review_file *file)
{
	return file->hunks ? hunks_count(file->hunks) : 1;
}

static struct hunk_choice *file_hunk(struct review_file *file, size_t i)
{
	return file->hunks ? hunks_at(file->hunks, i) : &file->whole;
}

static struct hunk_choice *hunk_in_front(const struct ask *ask)
{
	return file_hunk(file_in_front(ask), ask->confirm.hunk);
}

static size_t count_verdicts(const struct review_file *file, enum hunk_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < file_hunks(file); i++)
		count += file_hunk((struct review_file *)file, i)->verdict == verdict;
	return count;
}

static bool file_is_left(const struct review_file *file)
{
	return count_verdicts(file, HUNK_LEFT) == file_hunks(file);
}

static bool nothing_is_left(const struct ask *ask)
{
	const struct confirm *confirm = &ask->confirm;

	if (confirm->modified)
		return false;
	for (size_t i = 0; i < confirm->file_count; i++)
		if (!file_is_left(&confirm->files[i]))
			return false;
	return true;
}

/* ---- going through ----------------------------------------------------------- */

static void show_hunk_number(struct ask *ask, size_t file, size_t hunk)
{
	ask->confirm.file = file;
	ask->confirm.hunk = hunk;
	ask->confirm.stage = CONFIRM_HUNKS;
	ask->confirm.help = false;
	ask_pane_reset(ask);
}

/* The next one, or the one before, over the ends of files; false: there is none. */
static bool step_hunk(const struct confirm *confirm, bool back, size_t *file, size_t *hunk)
{
	if (back && *hunk) {
		--*hunk;
	} else if (back && *file) {
		--*file;
		*hunk = file_hunks(&confirm->files[*file]) - 1;
	} else if (!back && *hunk + 1 < file_hunks(&confirm->files[*file])) {
		++*hunk;
	} else if (!back && *file + 1 < confirm->file_count) {
		++*file;
		*hunk = 0;
	} else {
		return false;
	}
	return true;
}

/* The next hunk that is open, from the one in front on; without one, what is left. */
static void review_go_on(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;
	size_t file = confirm->file, hunk = confirm->hunk;

	do {
		if (file_hunk(&confirm->files[file], hunk)->verdict == HUNK_OPEN) {
			show_hunk_number(ask, file, hunk);
			return;
		}
		if (!step_hunk(confirm, false, &file, &hunk))
			file = hunk = 0;
	} while (file != confirm->file || hunk != confirm->hunk);
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

static void give_open_verdict(struct review_file *file, enum hunk_verdict verdict)
{
	for (size_t i = 0; i < file_hunks(file); i++)
		if (file_hunk(file, i)->verdict == HUNK_OPEN)
			file_hunk(file, i)->verdict = verdict;
}

/* All that are open still: of this file, or of every one. */
static void give_rest_verdict(struct ask *ask, enum hunk_verdict verdict, bool everywhere)
{
	struct confirm *confirm = &ask->confirm;

	hunk_in_front(ask)->verdict = verdict;
	for (size_t i = 0; i < confirm->file_count; i++)
		if (everywhere || i == confirm->file)
			give_open_verdict(&confirm->files[i], verdict);
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

	if (!file_in_front(ask)->hunks) {
		confirm->note = "This file is taken or left as a whole.";
		return;
	}
	hunks_text(file_in_front(ask)->hunks, confirm->hunk, &text);
	if (text.len && (memchr(text.data, '\r', text.len) || memchr(text.data, 0, text.len))) {
		confirm->note = "This hunk has control characters that a field cannot hold; take "
		                "or leave it, or use \"Modify with external editor\".";
		return;
	}
	editor_set(ask_editor(ask, &confirm->edit), buf_view(&text));
	confirm->stage = CONFIRM_EDIT;
}

/* As help has them; `files`: where there are several. */
static const struct {
	char letter;
	bool files;
	const char *help;
} review_letters[] = {
	{ 'y', false, "take this hunk" },
	{ 'n', false, "leave this hunk out" },
	{ 'e', false, "edit the new lines of this hunk" },
	{ 'c', false, "comment on this hunk: the model reads it" },
	{ 's', false, "split this hunk into smaller ones" },
	{ 'a', false, "take this hunk and all that are open in this file" },
	{ 'd', false, "leave out this hunk and all that are open in this file" },
	{ 'A', true, "take this hunk and all that are open in all files" },
	{ 'D', true, "leave out this hunk and all that are open in all files" },
	{ 'k', false, "go back to the hunk before" },
	{ 'j', false, "go on to the next hunk, this one undecided" },
	{ '?', false, "show this" },
};

static void hunk_step(struct ask *ask, bool back)
{
	size_t file = ask->confirm.file, hunk = ask->confirm.hunk;

	step_hunk(&ask->confirm, back, &file, &hunk);
	show_hunk_number(ask, file, hunk);
}

static bool hunk_letter(struct ask *ask, uint32_t letter)
{
	struct confirm *confirm = &ask->confirm;

	confirm->note = NULL;
	switch (letter) {
	case 'y': give_verdict(ask, HUNK_TAKEN); break;
	case 'n': give_verdict(ask, HUNK_LEFT); break;
	case 'e': hunk_begin_edit(ask); break;
	case 'c': hunk_begin_comment(ask); break;
	case 's':
		if (file_in_front(ask)->hunks)
			hunks_split(file_in_front(ask)->hunks, confirm->hunk);
		ask_pane_reset(ask);
		break;
	case 'a':
	case 'A': give_rest_verdict(ask, HUNK_TAKEN, letter == 'A'); break;
	case 'd':
	case 'q':
	case 'D': give_rest_verdict(ask, HUNK_LEFT, letter == 'D'); break;
	case 'k':
	case 'j': hunk_step(ask, letter == 'k'); break;
	case '?': confirm->help = !confirm->help; break;
	default: return false;
	}
	return true;
}

static enum ask_state hunk_key(struct ask *ask, const struct key *key)
{
	if (ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		ask->confirm.stage = CONFIRM_CHOOSE;
		ask_pane_reset(ask);
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
		hunks_edit(file_in_front(ask)->hunks, confirm->hunk, span_str(text));
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

/* All comments as one text, for a caller that does not read `review`. */
static void put_comments(const struct review_file *file, bool named, struct buf *out)
{
	struct span path = json_span(json_object_get(file->file, "filePath"));

	for (size_t i = 0; i < file_hunks(file); i++) {
		const char *comment = file_hunk((struct review_file *)file, i)->comment;

		if (!comment)
			continue;
		buf_str(out, out->len ? "\n" : "");
		if (named)
			buf_printf(out, "%.*s%s", (int)path.len, path.data,
			           file->hunks ? ", hunk " : ": ");
		else if (file->hunks)
			buf_str(out, "Hunk ");
		if (file->hunks)
			buf_printf(out, "%zu: ", i + 1);
		buf_str(out, comment);
	}
}

void review_comments(const struct ask *ask, struct buf *out)
{
	const struct confirm *confirm = &ask->confirm;

	for (size_t i = 0; i < confirm->file_count; i++)
		put_comments(&confirm->files[i], confirm->file_count > 1, out);
}

/* The answer's row for a file of several. */
static json_t *file_answer(const struct review_file *file)
{
	_cleanup_buf_ struct buf content = BUF_INIT(LIMIT_FILE_BYTES);
	json_t *row = json_object();
	const bool left = file_is_left(file);

	json_object_set(row, "filePath", json_object_get(file->file, "filePath"));
	json_object_set_new(row, "taken", json_boolean(!left));
	if (!file->hunks) {
		if (file->whole.comment)
			json_object_set_new(row, "comment",
			                    json_text(span_str(file->whole.comment)));
		return row;
	}
	json_object_set_new(row, "hunks", hunks_review(file->hunks));
	if (left)
		return row;
	hunks_content(file->hunks, &content);
	json_object_set_new(row, "newContent", json_text(buf_view(&content)));
	return row;
}

/* The only file of a question. */
static void put_file_answer(json_t *answer, const struct review_file *file)
{
	_cleanup_buf_ struct buf content = BUF_INIT(LIMIT_FILE_BYTES);
	json_t *review;

	if (!file->hunks) {
		json_object_set_new(answer, "outcome", json_string("proceed_once"));
		return;
	}
	review = json_object();
	json_object_set_new(review, "hunks", hunks_review(file->hunks));
	json_object_set_new(answer, "review", review);
	json_object_set_new(answer, "outcome", json_string("modify_with_editor"));
	if (file_is_left(file))
		return;
	hunks_content(file->hunks, &content);
	json_object_set_new(answer, "newContent", json_text(buf_view(&content)));
}

/* The answer to a question, from its files. */
static json_t *question_answer(const struct confirm *confirm, const json_t *question)
{
	const json_t *several = question_files(question);
	_cleanup_buf_ struct buf comments = BUF_INIT(LIMIT_RESULT_BYTES);
	json_t *answer = ask_new_answer(question), *rows = json_array();
	bool taken = false;

	for (size_t i = 0; i < confirm->file_count; i++) {
		const struct review_file *file = &confirm->files[i];

		if (file->question != question)
			continue;
		taken |= !file_is_left(file);
		put_comments(file, several, &comments);
		if (several)
			json_array_append_new(rows, file_answer(file));
		else
			put_file_answer(answer, file);
	}
	if (several) {
		json_object_set(answer, "files", rows);
		json_object_set_new(answer, "outcome", json_string("modify_with_editor"));
	}
	json_decref(rows);
	if (!taken)
		json_object_set_new(answer, "outcome", json_string("cancel"));
	if (!taken && comments.len)
		json_object_set_new(answer, "message", json_text(buf_view(&comments)));
	return answer;
}

static enum ask_state apply_answer(struct ask *ask)
{
	const struct confirm *confirm = &ask->confirm;
	size_t i;
	json_t *joined;

	if (confirm->modified) {
		ask_outcome(ask, "modify_with_editor");
		json_object_set_new(ask->answer, "newContent",
		                    json_text(span_str(confirm->modified)));
		return ASK_DONE;
	}
	json_decref(ask->answers);
	ask->answers = json_array();
	json_array_append_new(ask->answers, question_answer(confirm, ask->message));
	json_array_foreach(ask->joined, i, joined)
		json_array_append_new(ask->answers, question_answer(confirm, joined));
	return ASK_DONE;
}

/* Back to where the text came from. */
static enum ask_state apply_go_back(struct ask *ask)
{
	if (ask->confirm.modified)
		ask->confirm.stage = CONFIRM_CHOOSE;
	else
		show_hunk_number(ask, ask->confirm.file, ask->confirm.hunk);
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

static struct span last_name(struct span path)
{
	const char *slash = path.len ? memrchr(path.data, '/', path.len) : NULL;

	return slash ? span_skip(path, (size_t)(slash + 1 - path.data)) : path;
}

/* For the colours of its language. */
static void put_file_name(const json_t *file, struct buf *out)
{
	struct span name = json_span(json_object_get(file, "fileName"));

	if (!name.data)
		name = last_name(json_span(json_object_get(file, "filePath")));
	if (!name.len || memchr(name.data, '\n', name.len))
		return;
	buf_str(out, "--- ");
	buf_span(out, name);
	buf_str(out, "\n+++ ");
	buf_span(out, name);
	buf_char(out, '\n');
}

static void left_diff(const struct review_file *file, struct buf *out)
{
	if (file_is_left(file))
		return;
	if (!file->hunks) {
		buf_span(out, json_span(json_object_get(file->file, "fileDiff")));
		return;
	}
	put_file_name(file->file, out);
	hunks_content_diff(file->hunks, out);
}

void review_diff(const struct ask *ask, struct buf *out)
{
	const struct confirm *confirm = &ask->confirm;

	if (confirm->modified) {
		put_file_name(ask_details(ask), out);
		modified_diff(ask, out);
	} else if (confirm->stage == CONFIRM_APPLY) {
		for (size_t i = 0; i < confirm->file_count; i++)
			left_diff(&confirm->files[i], out);
	} else if (!file_in_front(ask)->hunks) {
		buf_span(out, json_span(json_object_get(file_in_front(ask)->file, "fileDiff")));
	} else {
		put_file_name(file_in_front(ask)->file, out);
		hunks_diff(file_in_front(ask)->hunks, confirm->hunk, out);
	}
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

static void review_note(struct ask_page *page, const char *text, struct style style)
{
	if (text)
		ask_page_text(page, text, style);
}

/* "Hunk 1/2? ", of several files "File 1/3, hunk 1/2? ". */
static void hunk_prompt(struct ask *ask, struct ask_page *page)
{
	const struct confirm *confirm = &ask->confirm;
	const struct review_file *file = file_in_front(ask);
	_cleanup_buf_ struct buf prompt = BUF_INIT(256);

	if (confirm->file_count > 1)
		buf_printf(&prompt, "File %zu/%zu", confirm->file + 1, confirm->file_count);
	if (file->hunks)
		buf_printf(&prompt, "%s %zu/%zu", prompt.len ? ", hunk" : "Hunk", confirm->hunk + 1,
		           hunks_count(file->hunks));
	buf_str(&prompt, prompt.len ? "? " : "Take it? ");
	ask_page_prompt(page, prompt.data);
}

/* Which file it is, where there are several; and what becomes of it. */
static void hunk_file_row(struct ask *ask, struct ask_page *page)
{
	static const struct {
		const char *kind, *label;
	} labels[] = {
		{ "create", "Creates" }, { "delete", "Deletes" }, { "rename", "Renames" },
		{ "several", "Changes" },
	};
	const struct review_file *file = file_in_front(ask);
	struct span kind = json_span(json_object_get(file->file, "kind"));
	struct span renamed = json_span(json_object_get(file->file, "newPath"));
	struct row row = { 0 };
	const char *label = "Edits";

	if (ask->confirm.file_count == 1 && file->hunks)
		return;
	if (span_starts(json_span(json_object_get(file->file, "fileDiff")),
	                SPAN("--- /dev/null\n")))
		label = labels[0].label;
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (span_eq(kind, span_str(labels[i].kind)))
			label = labels[i].label;
	row_printf(&row, STYLE(ROLE_DIM), "%s ", label);
	row_text(&row, json_span(json_object_get(file->file, "filePath")), STYLE_BOLD(ROLE_TEXT));
	if (renamed.len) {
		row_printf(&row, STYLE(ROLE_DIM), " to ");
		row_text(&row, renamed, STYLE_BOLD(ROLE_TEXT));
	}
	ask_page_take(page, &row);
}

static void hunk_rows(struct ask *ask, struct ask_page *page)
{
	static const char *const verdicts[] = {
		[HUNK_OPEN] = NULL, [HUNK_TAKEN] = "Taken.", [HUNK_LEFT] = "Left out.",
		[HUNK_EDITED] = "Taken as you edited it.",
	};
	const struct confirm *confirm = &ask->confirm;
	const struct hunk_choice *hunk = hunk_in_front(ask);

	hunk_prompt(ask, page);
	ask_page_text(page, file_in_front(ask)->hunks ?
	                            "y take, n leave out, e edit, c comment, s split, "
	                            "a/d take/leave the rest, k back, ? help, Esc" :
	                            "y take, n leave out, c comment, k back, ? help, Esc",
	              STYLE(ROLE_DIM));
	hunk_file_row(ask, page);
	review_note(page, verdicts[hunk->verdict], STYLE(ROLE_ACCENT));
	review_note(page, confirm->note, STYLE(ROLE_WARNING));
	if (hunk->comment) {
		_cleanup_free_ char *comment = mem_printf("Your comment: %s", hunk->comment);

		rows_text(page->rows, span_str(comment), STYLE(ROLE_ACCENT), page->width);
	}
	for (size_t i = 0; confirm->help && i < ARRAY_LEN(review_letters); i++) {
		_cleanup_free_ char *line = mem_printf("%c  %s", review_letters[i].letter,
		                                       review_letters[i].help);

		if (!review_letters[i].files || confirm->file_count > 1)
			ask_page_text(page, line, STYLE(ROLE_TEXT));
	}
	if (!confirm->help)
		review_pane(ask, page);
}

/* "2 of 3 hunks. y applies them, n goes back." */
static void put_taken(const struct confirm *confirm, struct buf *out)
{
	size_t all = 0, taken = 0, edited = 0, files = 0;

	for (size_t i = 0; i < confirm->file_count; i++) {
		const struct review_file *file = &confirm->files[i];

		all += file_hunks(file);
		edited += count_verdicts(file, HUNK_EDITED);
		taken += count_verdicts(file, HUNK_TAKEN) + count_verdicts(file, HUNK_EDITED);
		files += !file_is_left(file);
	}
	buf_printf(out, "%zu of %zu hunks", taken, all);
	if (confirm->file_count > 1)
		buf_printf(out, ", in %zu of %zu files", files, confirm->file_count);
	if (edited)
		buf_str(out, taken == 1 ? ", as you edited it" : ", some as you edited them");
	buf_printf(out, ". y applies %s, n goes back.",
	           !taken ? "nothing and says so" : taken == 1 ? "it" : "them");
}

static void apply_rows(struct ask *ask, struct ask_page *page)
{
	_cleanup_buf_ struct buf note = BUF_INIT(256);

	ask_page_prompt(page, nothing_is_left(ask) ? "Decline? [y/n] " : "Apply? [y/n] ");
	if (ask->confirm.modified)
		buf_str(&note, "What you made of it. y applies it, n goes back, e edits again.");
	else
		put_taken(&ask->confirm, &note);
	ask_page_text(page, note.data, STYLE(ROLE_DIM));
	if (!nothing_is_left(ask))
		review_pane(ask, page);
}

static void field_rows(struct ask *ask, struct ask_page *page, const char *hint)
{
	const size_t most = page->height > 6 ? page->height / 2 : page->height > 1 ? 2 : 1;

	ask_page_field(page, ask_confirm_field(ask), most);
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
