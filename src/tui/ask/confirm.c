/* SPDX-License-Identifier: Apache-2.0 */
/* The choices of a confirmation, in Gemini CLI's words. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"
#include "tui/ask/confirm.h"
#include "tui/ask/parts.h"

enum {
	PANE_ROWS_MAX = 400, /* of one call; Ctrl+O has the others */
	PANE_LEAST = 3,      /* next to the notes */
};

/* ---- choices ----------------------------------------------------------------- */

/* The first row that fits; `type` NULL: of any. */
static const struct {
	const char *outcome, *type, *label;
} wording[] = {
	{ CONFIRM_PLAN "autoEdit", NULL, "Yes, and accept edits" },
	{ CONFIRM_PLAN "default", NULL, "Yes, and ask about each edit" },
	{ "proceed_once", NULL, "Allow once" },
	{ CONFIRM_ALL, NULL, NULL }, /* says how many */
	{ "proceed_always", NULL, "Allow for this session" },
	{ "proceed_always_tool", NULL, "Allow tool for this session" },
	{ "proceed_always_server", NULL, "Allow all server tools for this session" },
	{ "proceed_always_and_save", "edit", "Allow for this file in all future sessions" },
	{ "proceed_always_and_save", "exec", "Allow this command for all future sessions" },
	{ "proceed_always_and_save", "mcp", "Allow tool for all future sessions" },
	{ "proceed_always_and_save", NULL, "Allow for all future sessions" },
	{ CONFIRM_REVIEW, NULL, "Review by hunk" },
	{ "modify_with_editor", NULL, "Modify with external editor" },
	{ "cancel", NULL, "No, suggest changes (esc)" },
};

/* Of a plan. */
static const struct {
	const char *outcome, *label;
} plan_wording[] = {
	{ "modify_with_editor", "Edit the plan in your editor" },
	{ "cancel", "No, keep planning (esc)" },
};

static bool offers_outcome(const struct ask *ask, const char *outcome)
{
	size_t i;
	json_t *offered;

	json_array_foreach(json_object_get(ask->message, "outcomes"), i, offered)
		if (span_eq(json_span(offered), span_str(outcome)))
			return true;
	return false;
}

static bool choice_is(const struct confirm *confirm, size_t i, const char *outcome)
{
	return i < confirm->count && !strcmp(confirm->choices[i], outcome);
}

static const char *choice_label(const struct ask *ask, const char *outcome)
{
	const struct tool_info *info = ask_tool(ask);

	if (!strcmp(outcome, CONFIRM_ALL))
		return ask->confirm.all;
	if (json_array_size(json_object_get(ask->message, "modes")))
		for (size_t i = 0; i < ARRAY_LEN(plan_wording); i++)
			if (!strcmp(plan_wording[i].outcome, outcome))
				return plan_wording[i].label;
	/* A rule for several files is one for the tool. */
	if (!strcmp(outcome, "proceed_always_and_save") && info && info->edit == TOOL_EDIT_MANY)
		return "Allow this tool, for any file, in all future sessions";
	for (size_t i = 0; i < ARRAY_LEN(wording); i++)
		if (!strcmp(wording[i].outcome, outcome) &&
		    (!wording[i].type || ask_is(ask, wording[i].type)))
			return wording[i].label;
	return outcome;
}

/* The mode of a choice that is about a plan; NULL: it is another. */
static const char *plan_mode_of(const char *outcome)
{
	const size_t len = strlen(CONFIRM_PLAN);

	return strncmp(outcome, CONFIRM_PLAN, len) ? NULL : outcome + len;
}

/* Of several files there is no text to open in an editor. */
static bool offers_choice(const struct ask *ask, const char *outcome)
{
	const json_t *modes = json_object_get(ask->message, "modes");

	if (plan_mode_of(outcome))
		return json_lists(modes, span_str(plan_mode_of(outcome)));
	if (!strcmp(outcome, "proceed_once") && json_array_size(modes))
		return false;
	if (!strcmp(outcome, CONFIRM_REVIEW))
		return ask->confirm.file_count;
	if (!strcmp(outcome, CONFIRM_ALL))
		return json_array_size(ask->joined) && offers_outcome(ask, "proceed_once");
	if (!strcmp(outcome, "modify_with_editor") &&
	    json_object_get(ask_details(ask), "files"))
		return false;
	return offers_outcome(ask, outcome);
}

void confirm_begin(struct ask *ask)
{
	if (ask_is(ask, "edit"))
		review_find(ask, ask->message);
	confirm_offer(ask);
}

void confirm_offer(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;
	const char *last = NULL;

	confirm->count = confirm->selected = 0;
	snprintf(confirm->all, sizeof(confirm->all), "Allow these %zu",
	         json_array_size(ask->joined) + 1);
	for (size_t i = 0; i < ARRAY_LEN(wording); i++) {
		const char *outcome = wording[i].outcome;

		if (last && !strcmp(last, outcome))
			continue;
		last = outcome;
		if (offers_choice(ask, outcome))
			confirm->choices[confirm->count++] = outcome;
	}
	if (!confirm->count)
		confirm->choices[confirm->count++] = "cancel";
}

void confirm_end(struct ask *ask)
{
	struct confirm *confirm = &ask->confirm;

	review_end(ask);
	free(confirm->modified);
	editor_free(confirm->say);
	editor_free(confirm->comment);
	editor_free(confirm->edit);
}

/* ---- keys ----------------------------------------------------------------- */

static json_t *yes_to(const json_t *question)
{
	json_t *answer = ask_new_answer(question);

	json_object_set_new(answer, "outcome", json_string("proceed_once"));
	return answer;
}

/* To this one, and to all that joined. */
static enum ask_state allow_all(struct ask *ask)
{
	size_t i;
	json_t *joined;

	json_decref(ask->answers);
	ask->answers = json_array();
	json_array_append_new(ask->answers, yes_to(ask->message));
	json_array_foreach(ask->joined, i, joined)
		json_array_append_new(ask->answers, yes_to(joined));
	return ASK_DONE;
}

static enum ask_state choose(struct ask *ask, size_t i)
{
	struct confirm *confirm = &ask->confirm;

	confirm->selected = i;
	if (choice_is(confirm, i, CONFIRM_ALL))
		return allow_all(ask);
	if (choice_is(confirm, i, CONFIRM_REVIEW)) {
		review_begin(ask);
		return ASK_OPEN;
	}
	if (choice_is(confirm, i, "modify_with_editor"))
		return ASK_EXTERNAL;
	if (choice_is(confirm, i, "cancel")) {
		ask_editor(ask, &confirm->say);
		confirm->stage = CONFIRM_SAY;
		return ASK_OPEN;
	}
	if (plan_mode_of(confirm->choices[i])) {
		ask_outcome(ask, "proceed_once");
		json_object_set_new(ask->answer, "mode",
		                    json_string(plan_mode_of(confirm->choices[i])));
		return ASK_DONE;
	}
	return ask_outcome(ask, confirm->choices[i]);
}

static enum ask_state choices_key(struct ask *ask, const struct key *key)
{
	struct confirm *confirm = &ask->confirm;
	uint32_t letter = ask_letter(key);

	if (letter >= '1' && letter <= '9' && letter - '1' < confirm->count)
		return choose(ask, letter - '1');
	if (letter == '?') {
		confirm->help = !confirm->help;
		ask_pane_reset(ask);
		return ASK_OPEN;
	}
	if (ask_bound(ask, BIND_BASIC_CANCEL, key))
		return ask_outcome(ask, "cancel");
	if (ask_bound(ask, BIND_BASIC_CONFIRM, key))
		return choose(ask, confirm->selected);
	if (ask_bound(ask, BIND_APP_SHOW_MORE_LINES, key))
		return ASK_WHOLE;
	if (ask_bound(ask, BIND_NAV_DIALOG_DOWN, key))
		confirm->selected = (confirm->selected + 1) % confirm->count;
	else if (ask_bound(ask, BIND_NAV_DIALOG_UP, key))
		confirm->selected = (confirm->selected + confirm->count - 1) % confirm->count;
	else if (ask->pane.count <= ask->pane_rows || !ask_scroll(ask, key))
		return ASK_IGNORED;
	return ASK_OPEN;
}

/* "No", and what to do instead. */
static enum ask_state say_key(struct ask *ask, const struct key *key)
{
	struct confirm *confirm = &ask->confirm;
	char *said;

	if (ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		confirm->stage = CONFIRM_CHOOSE;
		return ASK_OPEN;
	}
	switch (ask_field_key(ask, confirm->say, key)) {
	case EDITOR_SUBMIT:
		ask_outcome(ask, "cancel");
		if (ask_typed(confirm->say, &said)) {
			json_object_set_new(ask->answer, "message", json_text(span_str(said)));
			free(said);
		}
		return ASK_DONE;
	case EDITOR_EXTERNAL:
		return ASK_EXTERNAL;
	case EDITOR_IGNORED:
		return ASK_IGNORED;
	case EDITOR_CHANGED:
	case EDITOR_QUEUE:
		break;
	}
	return ASK_OPEN;
}

enum ask_state confirm_key(struct ask *ask, const struct key *key)
{
	switch (ask->confirm.stage) {
	case CONFIRM_CHOOSE:
		return choices_key(ask, key);
	case CONFIRM_SAY:
		return say_key(ask, key);
	case CONFIRM_HUNKS:
	case CONFIRM_COMMENT:
	case CONFIRM_EDIT:
	case CONFIRM_APPLY:
		break;
	}
	return review_key(ask, key);
}

/* ---- rows -------------------------------------------------------------------- */

/* The choice, and what it is about: "Allow for this session: edits of any file, until you quit". */
static void put_choice_label(const struct ask *ask, const char *outcome, struct buf *out)
{
	const json_t *details = ask_details(ask);
	const json_t *scope = !strcmp(outcome, "proceed_always") ?
	                              json_object_get(ask->message, "scope") :
	                      !strcmp(outcome, "proceed_always_tool") ?
	                              json_object_get(details, "toolName") :
	                      !strcmp(outcome, "proceed_always_server") ?
	                              json_object_get(details, "serverName") : NULL;

	buf_str(out, choice_label(ask, outcome));
	if (json_string_length(scope)) {
		buf_str(out, ": ");
		buf_span(out, json_span(scope));
		buf_str(out, ", until you quit");
	}
}

/* What "always" would allow, where the choice does not say it: of a command its prefixes. */
static void put_extent(const struct ask *ask, const char *outcome, struct buf *out)
{
	size_t i;
	json_t *prefix;

	if (!strcmp(outcome, "proceed_always") && json_object_get(ask->message, "scope"))
		return;
	if (strncmp(outcome, "proceed_always", strlen("proceed_always")) != 0)
		return;
	if (ask_is(ask, "sandbox_expansion"))
		buf_str(out, json_object_get(ask_details(ask), "command") ?
		        "to every command, without a question, until you quit" :
		        "to every call that works on files, until you quit");
	json_array_foreach(json_object_get(ask_details(ask), "commandPrefixes"), i, prefix) {
		buf_str(out, i ? ", " : "what begins with: ");
		buf_span(out, json_span(prefix));
	}
}

/* What it is about, with those that joined, made once for a width. */
static void subject_pane(struct ask *ask, unsigned width)
{
	size_t i;
	json_t *joined;

	if (ask->pane_width == width)
		return;
	rows_release(&ask->pane);
	rows_release(&ask->notes);
	ask->pane_width = width;
	if (ask->confirm.help) {
		_cleanup_rows_ struct rows call = { 0 };

		subject_explain(ask, width, &ask->pane);
		subject_rows(ask, ask->message, width, PANE_ROWS_MAX, &call, &ask->notes);
		return;
	}
	/* The one that most choices are about is not scrolled out of sight by the others. */
	subject_rows(ask, ask->message, width, PANE_ROWS_MAX, &ask->pane, &ask->notes);
	json_array_foreach(ask->joined, i, joined) {
		rows_add(&ask->pane);
		subject_rows(ask, joined, width, PANE_ROWS_MAX, &ask->pane, &ask->notes);
	}
}

/* As much of it as there is room for above `below` rows. Its notes stand beneath it; where there is
 * no room for all of them they come first in what is looked through. */
static void put_subject(struct ask *ask, struct ask_page *page, size_t below)
{
	const size_t height = page->height, taken = page->rows->count - page->first + below;
	struct rows all = { 0 };

	subject_pane(ask, page->width);
	if (ask->notes.count && taken + ask->notes.count + PANE_LEAST > height) {
		rows_move(&all, &ask->notes);
		rows_move(&all, &ask->pane);
		ask->pane = all;
	}
	page->height = height > below + ask->notes.count ? height - below - ask->notes.count : 0;
	ask_page_pane(ask, page);
	page->height = height;
	rows_copy(page->rows, &ask->notes, 0, ask->notes.count);
}

static void confirm_choice_rows(struct ask *ask, struct ask_page *page)
{
	const struct confirm *confirm = &ask->confirm;

	for (size_t i = 0; i < confirm->count; i++) {
		_cleanup_buf_ struct buf note = BUF_INIT(4 * LIMIT_SHELL_ALL_BYTES);
		_cleanup_buf_ struct buf label = BUF_INIT(4 * LIMIT_SHELL_ALL_BYTES);

		put_choice_label(ask, confirm->choices[i], &label);
		put_extent(ask, confirm->choices[i], &note);
		if (choice_is(confirm, i, CONFIRM_ALL))
			buf_printf(&note, "this one and the %zu %s", json_array_size(ask->joined),
			           ask->plain ? "above" : "below");
		ask_page_choice(ask, page, i + 1, i == confirm->selected, NULL,
		                buf_view(&label), buf_view(&note));
	}
}

/* Why no choice is about more than this call, and the key that says more. */
static void put_last_row(const struct ask *ask, struct ask_page *page)
{
	const char *why = json_string_value(json_object_get(ask->message, "noAlways"));
	_cleanup_free_ char *text = why ? mem_printf("Not offered for the session: %s", why) : NULL;

	/* A plan is asked about because there is one. */
	if (json_array_size(json_object_get(ask->message, "modes")))
		return;
	if (text)
		ask_page_text(page, text, STYLE(ROLE_DIM));
	if (!json_object_get(ask->message, "rule"))
		return;
	if (ask->plain && ask->confirm.help)
		subject_explain(ask, page->width, page->rows);
	ask_page_text(page, ask->confirm.help ?
	                            "? goes back to the call" :
	                            "? explains why this is asked, and what it could do",
	              STYLE(ROLE_DIM));
}

static void choose_rows(struct ask *ask, struct ask_page *page)
{
	_cleanup_rows_ struct rows rows = { 0 };
	struct ask_page choices = { .rows = &rows, .width = page->width };
	_cleanup_free_ char *prompt = mem_printf("%s [1-%zu] ", subject_question(ask),
	                                         ask->confirm.count);

	ask_page_prompt(page, prompt);
	confirm_choice_rows(ask, &choices);
	put_last_row(ask, &choices);
	if (!ask->plain)
		put_subject(ask, page, rows.count);
	page->focus = page->rows->count - page->first + choices.focus;
	rows_move(page->rows, &rows);
}

static void say_rows(struct ask *ask, struct ask_page *page)
{
	ask_page_field(page, ask->confirm.say, page->height > 1 ? page->height - 1 : 1);
	ask_page_text(page, json_object_get(ask->message, "modes") ?
	              "What should change in the plan? Enter sends it, Esc goes back." :
	              "What should be done instead? Enter sends it (empty: just no), "
	              "Esc goes back.", STYLE(ROLE_DIM));
	if (!ask->plain)
		put_subject(ask, page, 0);
}

void confirm_rows(struct ask *ask, struct ask_page *page)
{
	switch (ask->confirm.stage) {
	case CONFIRM_CHOOSE:
		choose_rows(ask, page);
		return;
	case CONFIRM_SAY:
		say_rows(ask, page);
		return;
	case CONFIRM_HUNKS:
	case CONFIRM_COMMENT:
	case CONFIRM_EDIT:
	case CONFIRM_APPLY:
		break;
	}
	review_rows(ask, page);
}
