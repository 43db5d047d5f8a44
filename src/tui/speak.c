/* SPDX-License-Identifier: Apache-2.0 */
/* Plain lines, for screen readers and terminals that cannot move their cursor: what elsewhere
 * stands in the live region for a while (the choices of a question, hints, lists of keys and todos)
 * is printed, once, and again where it has become something else. */
#include "base/mem.h"
#include "base/text.h"
#include "tui/app.h"
#include "tui/show/printout.h"

enum { SPEAK_ROWS_MAX = 1000 }; /* of a question, which is not scrolled */

/* Rows that are others than those at their places before; all, if there are more or fewer. */
static void speak_differences(const struct rows *before, const struct rows *now, struct rows *out)
{
	for (size_t i = 0; i < now->count; i++)
		if (before->count != now->count || !row_same(&before->at[i], &now->at[i]))
			rows_copy(out, now, i, i + 1);
}

/* All but the row with the caret, which is the live one. */
static void speak_question(struct app *app)
{
	_cleanup_rows_ struct rows all = { 0 }, rest = { 0 }, said = { 0 };
	unsigned column;
	size_t caret;

	if (app->questions.ask) {
		ask_rows(app->questions.ask, term_size(app->term).columns, SPEAK_ROWS_MAX, &all,
		         &caret, &column);
		rows_copy(&rest, &all, 0, caret);
		rows_copy(&rest, &all, caret + 1, all.count);
	}
	speak_differences(&app->questions.printed, &rest, &said);
	rows_release(&app->questions.printed);
	rows_move(&app->questions.printed, &rest);
	if (said.count)
		printout_rows(&app->out, &said);
}

static void speak_hint(struct app *app)
{
	const struct view_how how = printout_how(&app->out);
	_cleanup_rows_ struct rows rows = { 0 };

	if (app->keys.hint)
		view_notice(&rows, "info", span_str(app->keys.hint), &how);
	app->keys.hint = NULL;
	tui_overlay_rows(app, how.width, &rows);
	app->keys.overlay = OVERLAY_NONE;
	if (rows.count)
		printout_rows(&app->out, &rows);
}

void tui_speak(struct app *app)
{
	speak_hint(app);
	speak_question(app);
}

void tui_speak_waiting(struct app *app, const char *how, struct span text)
{
	_cleanup_free_ char *said = NULL;
	struct span line = { 0 };

	if (!app->out.plain)
		return;
	line_next(&text, &line);
	line = line_body(line);
	said = mem_printf("%s: %.*s", how, (int)line.len, line.data);
	printout_notice(&app->out, "info", span_str(said));
}
