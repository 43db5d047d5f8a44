/* SPDX-License-Identifier: Apache-2.0 */
/* The model's questions: one page for each, back and forth, and a summary of all answers at the
 * end.
 *
 * Answers: of a choice its label, of one with several choices an array of labels, of yesno "Yes" or
 * "No", of a text what was typed; and of each what was typed instead.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/ask/parts.h"
#include "tui/ask/questions.h"

static const char *const yes_no[] = { "Yes", "No" };

static struct span page_member(const struct question_page *page, const char *name)
{
	return json_span(json_object_get(page->question, name));
}

static bool page_is(const struct question_page *page, const char *type)
{
	return span_eq(page_member(page, "type"), span_str(type));
}

static bool page_is_several(const struct question_page *page)
{
	return json_is_true(json_object_get(page->question, "multiSelect"));
}

/* The last option may stand for another answer; of a field, for none. */
static bool is_other(const struct question_page *page, size_t option)
{
	return page->other && option + 1 == page->count;
}

static struct span option_label(const struct question_page *page, size_t i)
{
	const json_t *option = json_array_get(json_object_get(page->question, "options"), i);

	if (is_other(page, i))
		return page->field ? SPAN("No answer") : SPAN("Something else");
	return page_is(page, "yesno") ? span_str(yes_no[i]) :
	                                json_span(json_object_get(option, "label"));
}

void questions_begin(struct ask *ask)
{
	struct question_pages *questions = &ask->questions;
	const json_t *list = json_object_get(ask->message, "questions");

	if (elicit_is(ask))
		list = ask->form = elicit_questions(ask);
	for (size_t i = 0; i < json_array_size(list) && i < QUESTIONS_MAX; i++) {
		struct question_page *page = &questions->pages[questions->count++];
		size_t options;

		page->question = json_array_get(list, i);
		options = page_is(page, "yesno") ? ARRAY_LEN(yes_no) :
		          json_array_size(json_object_get(page->question, "options"));
		if (options > QUESTION_OPTIONS_MAX - 1)
			options = QUESTION_OPTIONS_MAX - 1;
		page->field = json_object_get(page->question, "field");
		page->other = !page->field || json_is_true(json_object_get(page->question, "none"));
		page->count = options && !page_is(page, "text") ? options + page->other : 0;
		page->typing = !page->count;
		ask_editor(ask, &page->text);
		if (page->field)
			elicit_suggest(page);
	}
}

void questions_end(struct ask *ask)
{
	for (size_t i = 0; i < ask->questions.count; i++) {
		editor_free(ask->questions.pages[i].text);
		free(ask->questions.pages[i].note);
	}
	json_decref(ask->form);
}

static struct question_page *page_in_front(struct ask *ask)
{
	struct question_pages *questions = &ask->questions;

	return questions->page < questions->count ? &questions->pages[questions->page] : NULL;
}

struct editor *questions_field(struct ask *ask)
{
	struct question_page *page = page_in_front(ask);

	return page && page->typing ? page->text : NULL;
}

/* ---- answers ----------------------------------------------------------------- */

/* What was typed, a new string; NULL: nothing. */
static json_t *page_typed(const struct question_page *page)
{
	_cleanup_free_ char *text = NULL;

	return ask_typed(page->text, &text) ? json_text(span_str(text)) : NULL;
}

/* A new reference; NULL: it has no answer. */
static json_t *page_answer(const struct question_page *page)
{
	json_t *list, *typed;

	if (!page->count)
		return page_typed(page);
	if (!page->answered && !page_is_several(page))
		return NULL;
	if (page->field && is_other(page, page->selected))
		return NULL;
	if (!page_is_several(page))
		return is_other(page, page->selected) ?
		               page_typed(page) : json_text(option_label(page, page->selected));
	list = json_array();
	for (size_t i = 0; i < page->count; i++)
		if (page->chosen[i] && !is_other(page, i))
			json_array_append_new(list, json_text(option_label(page, i)));
	typed = page->other && page->chosen[page->count - 1] ? page_typed(page) : NULL;
	if (typed)
		json_array_append_new(list, typed);
	if (json_array_size(list))
		return list;
	json_decref(list);
	return NULL;
}

void questions_typed(struct ask *ask, struct buf *out)
{
	for (size_t i = 0; i < ask->questions.count; i++) {
		_cleanup_free_ char *text = NULL;

		if (ask_typed(ask->questions.pages[i].text, &text))
			buf_printf(out, "%s%s", out->len ? "\n" : "", text);
	}
}

static enum ask_state questions_send(struct ask *ask)
{
	json_t *answers = json_object();

	for (size_t i = 0; i < ask->questions.count; i++) {
		json_t *answer = page_answer(&ask->questions.pages[i]);
		char number[24];

		snprintf(number, sizeof(number), "%zu", i);
		if (answer)
			json_object_set_new(answers, number, answer);
	}
	json_decref(ask->answer);
	if (!json_object_size(answers)) {
		json_decref(answers);
		ask->answer = ask_refusal(ask);
		return ASK_DONE;
	}
	ask->answer = ask_new_answer(ask->message);
	json_object_set_new(ask->answer, "answers", answers);
	return ASK_DONE;
}

/* The page has its answer: on to the next; a single question needs no second look. */
static enum ask_state questions_go_on(struct ask *ask)
{
	struct question_pages *questions = &ask->questions;
	struct question_page *page = page_in_front(ask);
	json_auto_t *answer = NULL;

	page->answered = true;
	if (page->field) {
		if (!elicit_value(page, &answer))
			return ASK_OPEN;
	} else {
		answer = page_answer(page);
		page->answered = answer != NULL;
		if (!answer)
			return ASK_OPEN;
	}
	questions->page++;
	ask->scroll = 0;
	return questions->count == 1 && !page->field ? questions_send(ask) : ASK_OPEN;
}

/* ---- keys -------------------------------------------------------------------- */

static void page_toggle(struct question_page *page, size_t i)
{
	page->selected = i;
	page->chosen[i] = !page->chosen[i];
	page->typing = is_other(page, i) && page->chosen[i] && !page->field;
}

/* Enter, or a digit where one answer is enough. */
static enum ask_state page_choose(struct ask *ask, struct question_page *page, size_t i)
{
	page->selected = i;
	if (!is_other(page, i) || page->field)
		return questions_go_on(ask);
	page->typing = true;
	page->chosen[i] = true;
	return ASK_OPEN;
}

static enum ask_state page_typing_key(struct ask *ask, struct question_page *page,
                                      const struct key *key)
{
	if (page->count && ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		page->typing = false;
		return ASK_OPEN;
	}
	switch (ask_field_key(ask, page->text, key)) {
	case EDITOR_SUBMIT:
		if (page->count)
			page->typing = false;
		return questions_go_on(ask);
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

static enum ask_state page_option_key(struct ask *ask, struct question_page *page,
                                      const struct key *key)
{
	const bool several = page_is_several(page);
	uint32_t letter = ask_letter(key);

	if (letter >= '1' && letter <= '9' && letter - '1' < page->count) {
		if (!several)
			return page_choose(ask, page, letter - '1');
		page_toggle(page, letter - '1');
	} else if (letter == ' ' && several) {
		page_toggle(page, page->selected);
	} else if (ask_bound(ask, BIND_BASIC_CONFIRM, key)) {
		if (!several)
			return page_choose(ask, page, page->selected);
		return questions_go_on(ask);
	} else if (ask_bound(ask, BIND_NAV_DIALOG_DOWN, key)) {
		page->selected = (page->selected + 1) % page->count;
	} else if (ask_bound(ask, BIND_NAV_DIALOG_UP, key)) {
		page->selected = (page->selected + page->count - 1) % page->count;
	} else {
		return ASK_IGNORED;
	}
	return ASK_OPEN;
}

/* Tab and Shift+Tab, also arrows where there is no text. */
static bool questions_turn(struct ask *ask, const struct key *key)
{
	struct question_pages *questions = &ask->questions;
	bool arrows = !questions_field(ask);

	if (questions->count < 2 && !elicit_is(ask))
		return false;
	if (ask_bound(ask, BIND_NAV_DIALOG_NEXT, key) || (arrows && key->code == KEY_RIGHT))
		questions->page += questions->page < questions->count;
	else if (ask_bound(ask, BIND_NAV_DIALOG_PREVIOUS, key) ||
	         (arrows && key->code == KEY_LEFT))
		questions->page -= questions->page > 0;
	else
		return false;
	ask->scroll = 0;
	return true;
}

enum ask_state questions_key(struct ask *ask, const struct key *key)
{
	struct question_page *page;

	if (questions_turn(ask, key))
		return ASK_OPEN;
	page = page_in_front(ask);
	if (page && page->typing && page->count)
		return page_typing_key(ask, page, key);
	if (ask_bound(ask, BIND_BASIC_CANCEL, key)) {
		json_decref(ask->answer);
		ask->answer = ask_refusal(ask);
		return ASK_DONE;
	}
	if (page)
		return page->typing ? page_typing_key(ask, page, key) :
		                      page_option_key(ask, page, key);
	if (elicit_is(ask) && ask_letter(key) == 'n')
		return elicit_decline(ask);
	if (elicit_is_address(ask))
		return elicit_address_key(ask, key);
	if (elicit_is_sampling(ask))
		return elicit_sampling_key(ask, key);
	if (ask_letter(key) == 'y' || ask_bound(ask, BIND_BASIC_CONFIRM, key))
		return elicit_is(ask) ? elicit_send(ask) : questions_send(ask);
	return ask_scroll(ask, key) ? ASK_OPEN : ASK_IGNORED;
}

/* ---- rows -------------------------------------------------------------------- */

static void page_options(struct ask *ask, struct ask_page *out, const struct question_page *page)
{
	const json_t *options = json_object_get(page->question, "options");
	const bool several = page_is_several(page);

	for (size_t i = 0; i < page->count; i++) {
		const json_t *option = json_array_get(options, i);
		const char *box = !several ? NULL : page->chosen[i] ? "[x] " : "[ ] ";

		ask_page_choice(ask, out, i + 1, i == page->selected, box, option_label(page, i),
		            json_span(json_object_get(option, "description")));
	}
}

static const char *page_hint(const struct question_page *page)
{
	if (page->typing)
		return page->count ? "Enter sends it, Esc goes back." :
		                     "Enter sends it, Esc: no answer.";
	return page_is_several(page) ? "Space or digits choose, Enter goes on, Esc: no answer." :
	                               "Enter or a digit chooses, Esc: no answer.";
}

static void question_rows(struct ask *ask, struct ask_page *out, struct question_page *page)
{
	const struct question_pages *questions = &ask->questions;
	_cleanup_free_ char *prompt =
		questions->count > 1 ? mem_printf("%zu/%zu? [1-%zu] ", questions->page + 1,
		                                  questions->count, page->count) :
		                       mem_printf("Choose: [1-%zu] ", page->count);
	struct span placeholder = page_member(page, "placeholder");

	if (page->typing)
		ask_page_field(out, page->text, out->height > 2 ? out->height / 2 : 1);
	else
		ask_page_prompt(out, prompt);
	if (questions->count > 1 || page->field || !ask->plain)
		rows_text(out->rows, page_member(page, "question"), STYLE_BOLD(ROLE_TEXT),
		          out->width);
	if (page->typing && placeholder.len && editor_is_empty(page->text))
		rows_text(out->rows, placeholder, STYLE(ROLE_DIM), out->width);
	elicit_page_rows(ask, out, page);
	page_options(ask, out, page);
	ask_page_text(out, page_hint(page), STYLE(ROLE_DIM));
	if (page->field)
		ask_page_text(out, "Tab: the next, and at the end send or decline; Shift+Tab: the "
		                   "one before.", STYLE(ROLE_DIM));
	else if (questions->count > 1)
		ask_page_text(out, "Tab: the next question, Shift+Tab: the one before.",
		          STYLE(ROLE_DIM));
}

static void put_given_answer(struct row *row, const json_t *answer)
{
	size_t i;
	json_t *one;

	if (!answer)
		row_printf(row, STYLE(ROLE_WARNING), "no answer");
	else if (json_is_string(answer))
		row_text(row, json_span(answer), STYLE_BOLD(ROLE_TEXT));
	json_array_foreach(answer, i, one) {
		row_printf(row, STYLE(ROLE_TEXT), "%s", i ? ", " : "");
		row_text(row, json_span(one), STYLE_BOLD(ROLE_TEXT));
	}
}

/* Of what a server asks: who gets the answer, and the keys. */
static void put_last_words(struct ask *ask, struct ask_page *out)
{
	const struct span server = json_span(json_object_get(ask->message, "serverName"));
	struct row row = { 0 };

	row_printf(&row, STYLE(ROLE_TEXT), "y or Enter sends this to the MCP server \"");
	row_text(&row, server, STYLE_BOLD(ROLE_TEXT));
	row_printf(&row, STYLE(ROLE_TEXT), "\".");
	ask_page_take(out, &row);
	ask_page_text(out, "n: decline, Shift+Tab goes back, Esc: no answer.", STYLE(ROLE_DIM));
}

static void all_answers_rows(struct ask *ask, struct ask_page *out)
{
	if (elicit_is_address(ask)) {
		elicit_address_rows(ask, out);
		return;
	}
	if (elicit_is_sampling(ask)) {
		elicit_sampling_rows(out);
		return;
	}
	ask_page_prompt(out, elicit_is(ask) ? "Send? [y/n] " : "Send? [y] ");
	/* Who gets it is there also where not all rows have room. */
	if (elicit_is(ask))
		put_last_words(ask, out);
	for (size_t i = 0; i < ask->questions.count; i++) {
		const struct question_page *page = &ask->questions.pages[i];
		json_auto_t *answer = page_answer(page);
		struct row row = { 0 };

		row_printf(&row, STYLE(ROLE_DIM), "%zu. ", i + 1);
		row_text(&row, page_member(page, "header"), STYLE(ROLE_TEXT));
		row_printf(&row, STYLE(ROLE_TEXT), ": ");
		put_given_answer(&row, answer);
		ask_page_take(out, &row);
	}
	if (!elicit_is(ask))
		ask_page_text(out, "Enter sends the answers, Shift+Tab goes back, Esc: no answer.",
		              STYLE(ROLE_DIM));
}

void questions_rows(struct ask *ask, struct ask_page *out)
{
	struct question_page *page = page_in_front(ask);

	if (page)
		question_rows(ask, out, page);
	else
		all_answers_rows(ask, out);
}

void questions_subject(const struct ask *ask, unsigned width, struct rows *rows)
{
	if (elicit_is(ask)) {
		elicit_subject(ask, width, rows);
		return;
	}
	for (size_t i = 0; i < ask->questions.count; i++) {
		const struct question_page *page = &ask->questions.pages[i];
		_cleanup_row_ struct row first = { 0 }, rest = { 0 }, text = { 0 };
		struct span question = page_member(page, "question"), line;

		if (ask->questions.count > 1)
			row_printf(&first, STYLE(ROLE_ACCENT), "%zu. ", i + 1);
		else
			row_printf(&first, STYLE(ROLE_ACCENT), "? ");
		row_pad(&rest, first.width, STYLE(ROLE_TEXT));
		for (bool more = false; line_next(&question, &line); more = true) {
			row_release(&text);
			row_text(&text, line_body(line), STYLE_BOLD(ROLE_TEXT));
			rows_wrap(rows, &text, width, more ? &rest : &first, &rest);
		}
	}
}
