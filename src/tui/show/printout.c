/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown of a conversation, printed and kept. */
#include "tui/show/printout.h"

#include "base/mem.h"
#include "tui/editor/editor.h"
#include "tui/term/frames.h"
#include "tui/show/transcript.h"

/* Pastes of one prompt that are folded; more are printed whole. */
enum { FOLDS_MAX = 64 };

/* Of an answer, between two frames: more is read immediately. */
enum { UNREAD_BYTES_MAX = 128 << 10 };

void printout_init(struct printout *out, struct term *term, struct frames *frames, bool plain)
{
	*out = (struct printout){
		.term = term, .frames = frames, .transcript = transcript_new(),
		.markdown = markdown_new(term_size(term).columns), .plain = plain,
	};
}

void printout_release(struct printout *out)
{
	transcript_free(out->transcript);
	markdown_free(out->markdown);
}

struct view_how printout_how(const struct printout *out)
{
	return (struct view_how){ .width = term_size(out->term).columns, .folded = true,
		                  .plain = out->plain, .source = out->source };
}

const char *printout_toggle_source(struct printout *out)
{
	printout_take(out);
	out->source = !out->source;
	markdown_source(out->markdown, out->source);
	frames_want_now(out->frames);
	return out->source ? "Answers are shown as their Markdown source" : "Markdown is rendered";
}

/* ---- answers ----------------------------------------------------------------- */

void printout_answer(struct printout *out, struct span text)
{
	_cleanup_rows_ struct rows rows = { 0 };

	transcript_answer(out->transcript, text);
	frames_want(out->frames);
	if (!out->screen)
		return;
	if (!out->answering && out->printed)
		rows_add(&rows);
	screen_print(out->screen, &rows);
	out->answering = out->printed = true;
	markdown_feed(out->markdown, text);
	out->unread += text.len;
	while (out->unread > UNREAD_BYTES_MAX)
		printout_take(out);
}

void printout_take(struct printout *out)
{
	_cleanup_rows_ struct rows rows = { 0 };

	if (!out->unread || !out->screen)
		return;
	if (markdown_take(out->markdown, &rows))
		out->unread = 0;
	else
		frames_want(out->frames);
	screen_print(out->screen, &rows);
}

void printout_forget(struct printout *out, size_t bytes)
{
	markdown_forget(out->markdown, bytes);
	transcript_forget(out->transcript, bytes);
}

static void printout_end_answer(struct printout *out)
{
	_cleanup_rows_ struct rows rows = { 0 };

	if (!out->answering)
		return;
	out->answering = false;
	out->unread = 0;
	markdown_end(out->markdown, &rows);
	screen_print(out->screen, &rows);
}

void printout_break(struct printout *out)
{
	printout_end_answer(out);
	transcript_break(out->transcript);
}

/* ---- blocks ------------------------------------------------------------------ */

void printout_block(struct printout *out, struct rows *rows)
{
	_cleanup_rows_ struct rows all = { 0 };

	printout_end_answer(out);
	if (!rows->count)
		return;
	if (!out->screen) {
		rows_release(rows);
		frames_want(out->frames);
		return;
	}
	if (out->printed)
		rows_add(&all);
	out->printed = true;
	rows_move(&all, rows);
	screen_print(out->screen, &all);
	frames_want(out->frames);
}

void printout_rows(struct printout *out, struct rows *rows)
{
	if (!out->screen && rows->count)
		transcript_rows_of(out->transcript, rows);
	printout_block(out, rows);
	frames_want(out->frames);
}

void printout_user(struct printout *out, const struct editor *editor, struct span text)
{
	const struct view_how how = printout_how(out);
	_cleanup_rows_ struct rows rows = { 0 };
	struct view_fold folds[FOLDS_MAX];
	struct editor_pasted pasted;
	size_t count = 0;

	for (size_t at = 0; count < FOLDS_MAX && editor_find_pasted(editor, text, at, &pasted);
	     at = pasted.at + pasted.len)
		folds[count++] = (struct view_fold){ pasted.at, pasted.len, pasted.label };
	view_user_folded(&rows, text, folds, count, &how);
	printout_block(out, &rows);
	transcript_user(out->transcript, text);
}

void printout_notice(struct printout *out, const char *severity, struct span text)
{
	const struct view_how how = printout_how(out);
	_cleanup_rows_ struct rows rows = { 0 };

	view_notice(&rows, severity, text, &how);
	printout_block(out, &rows);
	transcript_notice(out->transcript, severity, text);
}
