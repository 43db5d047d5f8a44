/* SPDX-License-Identifier: Apache-2.0 */
/* What MCP servers ask: a form, whose fields are pages as the model's questions are, with a last
 * look that names the server; that an address be opened; or that the model answer them. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/ask/confirm.h"
#include "tui/ask/parts.h"
#include "tui/ask/questions.h"
#include "tui/view/view.h"

#define SECRET_WARNING                                                                     \
	"This looks like a password, key or token. The server gets it as it is entered; give it " \
	"only to a server that you trust with it."

bool elicit_is(const struct ask *ask)
{
	return ask->topic == BUS_ELICITATION_REQUEST;
}

static struct span asked_text(const struct ask *ask, const char *member)
{
	return json_span(json_object_get(ask->message, member));
}

bool elicit_is_address(const struct ask *ask)
{
	return elicit_is(ask) && span_eq(asked_text(ask, "mode"), SPAN("url"));
}

bool elicit_is_sampling(const struct ask *ask)
{
	return elicit_is(ask) && span_eq(asked_text(ask, "mode"), SPAN("sampling"));
}

static bool field_has_type(const json_t *field, const char *type)
{
	return span_eq(json_span(json_object_get(field, "type")), span_str(type));
}

/* ---- fields as questions ------------------------------------------------------- */

/* How an answer has to look. */
static const char *field_placeholder(const json_t *field)
{
	static const char *const formats[][2] = {
		{ "email", "An e-mail address: name@example.org" },
		{ "uri", "An address: https://example.org/" },
		{ "date", "A date: 2026-11-27" },
		{ "date-time", "A date and a time: 2026-11-27T09:30:00Z" },
	};
	const struct span format = json_span(json_object_get(field, "format"));

	if (field_has_type(field, "integer"))
		return "A whole number";
	if (field_has_type(field, "number"))
		return "A number";
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (span_eq(format, span_str(formats[i][0])))
			return formats[i][1];
	return "";
}

static json_t *field_question(json_t *field)
{
	const bool required = json_is_true(json_object_get(field, "required"));
	const bool several = field_has_type(field, "choices");
	const char *type = several || field_has_type(field, "choice") ? "choice" :
	                   field_has_type(field, "boolean") ? "yesno" : "text";
	json_t *options = json_object_get(field, "options");
	json_t *label = json_object_get(field, "title") ?: json_object_get(field, "name");
	const char *about = json_string_value(json_object_get(field, "description"));
	_cleanup_free_ char *text = mem_printf("%s%s%s%s", json_string_value(label),
	                                       required ? "" : " (optional)", about ? ": " : "",
	                                       about ? about : "");
	json_t *question = json_pack("{s:o, s:O, s:s, s:b, s:b, s:s, s:O}", "question",
	                             json_text(span_str(text)), "header", label, "type", type,
	                             "multiSelect", several, "none", !required && !several,
	                             "placeholder", field_placeholder(field), "field", field);

	if (options)
		json_object_set(question, "options", options);
	return question;
}

json_t *elicit_questions(const struct ask *ask)
{
	json_t *questions = json_array(), *field;
	size_t i;

	json_array_foreach(json_object_get(ask->message, "fields"), i, field)
		json_array_append_new(questions, field_question(field));
	return questions;
}

static struct span option_value(const json_t *field, size_t i)
{
	const json_t *options = json_object_get(field, "options");

	return json_span(json_object_get(json_array_get(options, i), "value"));
}

void elicit_suggest(struct question_page *page)
{
	const json_t *field = page->field, *suggested = json_object_get(field, "default");

	if (!suggested)
		return;
	page->answered = true;
	if (field_has_type(field, "boolean"))
		page->selected = !json_is_true(suggested);
	for (size_t i = 0; i < page->count; i++) {
		if (json_is_string(suggested) &&
		    span_eq(option_value(field, i), json_span(suggested)))
			page->selected = i;
		page->chosen[i] = json_lists(suggested, option_value(field, i));
	}
	if (page->count)
		return;
	if (json_is_string(suggested)) {
		editor_set(page->text, json_span(suggested));
	} else {
		_cleanup_buf_ struct buf number = BUF_INIT(64);

		json_print(&number, suggested, 0);
		editor_set(page->text, buf_view(&number));
	}
}

/* ---- answers ------------------------------------------------------------------- */

/* Of what is chosen; NULL: nothing. */
static json_t *chosen_value(const struct question_page *page)
{
	const json_t *field = page->field;
	json_t *list;

	if (!page->answered || (page->other && page->selected + 1 == page->count))
		return NULL;
	if (field_has_type(field, "boolean"))
		return json_boolean(page->selected == 0);
	if (field_has_type(field, "choice"))
		return json_text(option_value(field, page->selected));
	list = json_array();
	for (size_t i = 0; i < page->count; i++)
		if (page->chosen[i])
			json_array_append_new(list, json_text(option_value(field, i)));
	if (json_array_size(list) || json_is_true(json_object_get(field, "required")))
		return list;
	json_decref(list);
	return NULL;
}

bool elicit_value(struct question_page *page, json_t **ret)
{
	struct err err = ERR_INIT;
	json_t *value = NULL;
	bool ok;

	if (page->count) {
		value = chosen_value(page);
		ok = form_check_value(page->field, value, &err);
	} else {
		_cleanup_free_ char *typed = editor_text(page->text);

		ok = form_parse(page->field, span_str(typed), &value, &err);
	}
	free(page->note);
	page->note = ok ? NULL : mem_strdup(err.message);
	if (ok)
		*ret = value;
	else
		json_decref(value);
	return ok;
}

static enum ask_state elicit_end(struct ask *ask, const char *action, json_t *content)
{
	json_decref(ask->answer);
	ask->answer = ask_new_answer(ask->message);
	json_object_set_new(ask->answer, "action", json_string(action));
	if (content)
		json_object_set(ask->answer, "content", content);
	return ASK_DONE;
}

enum ask_state elicit_decline(struct ask *ask)
{
	return elicit_end(ask, "decline", NULL);
}

enum ask_state elicit_send(struct ask *ask)
{
	json_auto_t *content = json_object();

	for (size_t i = 0; i < ask->questions.count; i++) {
		struct question_page *page = &ask->questions.pages[i];
		const json_t *name = json_object_get(page->field, "name");
		json_t *value = NULL;

		if (!elicit_value(page, &value)) {
			ask->questions.page = i;
			ask->scroll = 0;
			return ASK_OPEN;
		}
		if (value)
			json_object_set_new(content, json_string_value(name), value);
	}
	return elicit_end(ask, "accept", content);
}

/* ---- addresses ----------------------------------------------------------------- */

bool elicit_is_login(const struct ask *ask)
{
	return elicit_is_address(ask) && json_is_true(json_object_get(ask->message, "login"));
}

struct span ask_address(const struct ask *ask)
{
	return asked_text(ask, "url");
}

/* Only what is spelt out agrees: a login goes on by itself, and has no other yes than "o". */
enum ask_state elicit_address_key(struct ask *ask, const struct key *key)
{
	const uint32_t letter = ask_letter(key);

	if (letter == 'c')
		return ASK_COPY;
	if (letter != 'o' && (letter != 'y' || elicit_is_login(ask)))
		return ask_scroll(ask, key) ? ASK_OPEN : ASK_IGNORED;
	elicit_end(ask, "accept", NULL);
	if (letter == 'o')
		json_object_set_new(ask->answer, "open", json_true());
	return ASK_DONE;
}

enum ask_state elicit_paste(struct ask *ask, struct span text)
{
	text = span_trim(text);
	if (!text.len)
		return ASK_IGNORED;
	elicit_end(ask, "accept", NULL);
	json_object_set_new(ask->answer, "address", json_text(text));
	return ASK_DONE;
}

void elicit_address_rows(const struct ask *ask, struct ask_page *out)
{
	const bool login = elicit_is_login(ask);
	const bool opened = json_is_true(json_object_get(ask->message, "opened"));
	struct row row = { 0 };

	ask_page_prompt(out, opened ? "Waiting for the browser. [o/c/n] " :
	                     login ? "Log in? [o/c/n] " : "Open it? [o/c/y/n] ");
	row_printf(&row, STYLE(ROLE_TEXT), "o opens it in the browser%s, c copies it. It comes "
	           "from the MCP server \"", opened ? " again" : "");
	row_text(&row, asked_text(ask, "serverName"), STYLE_BOLD(ROLE_TEXT));
	row_printf(&row, STYLE(ROLE_TEXT), "\".");
	ask_page_take(out, &row);
	if (login)
		ask_page_text(out, "If the browser is on another machine, paste here the address "
		                   "that it ends at and cannot show.", STYLE(ROLE_TEXT));
	ask_page_text(out, login ? "n: not in this session, Esc: not now." :
	              "y: agree, and open it yourself; n: decline, Esc: no answer.",
	              STYLE(ROLE_DIM));
}

/* ---- answers of the model ------------------------------------------------------ */

enum ask_state elicit_sampling_key(struct ask *ask, const struct key *key)
{
	const uint32_t letter = ask_letter(key);

	if (letter != 'y' && letter != 's')
		return ask_scroll(ask, key) ? ASK_OPEN : ASK_IGNORED;
	elicit_end(ask, "accept", NULL);
	if (letter == 's')
		json_object_set_new(ask->answer, "session", json_true());
	return ASK_DONE;
}

void elicit_sampling_rows(struct ask_page *out)
{
	ask_page_prompt(out, "Let the model answer it? [y/s/n] ");
	ask_page_text(out, "The server gets the answer, and you pay for it. The model gets nothing "
	                   "of this conversation, and no tools.", STYLE(ROLE_TEXT));
	ask_page_text(out, "y: this once, s: whatever this server asks in this session, n or Esc: "
	                   "refuse.", STYLE(ROLE_DIM));
}

/* ---- rows ---------------------------------------------------------------------- */

void elicit_page_rows(const struct ask *ask, struct ask_page *out,
                      const struct question_page *page)
{
	const struct view_how how = { .width = out->width, .plain = ask->plain };

	if (page->note)
		view_notice(out->rows, "error", span_str(page->note), &how);
	if (page->field && form_requires_secret(page->field))
		view_notice(out->rows, "warning", SPAN(SECRET_WARNING), &how);
}

static void put_indented(const struct ask *ask, struct span text, struct style style,
                         unsigned width, struct rows *rows)
{
	_cleanup_row_ struct row margin = { 0 };
	struct span line;

	if (!ask->plain)
		row_pad(&margin, 2, STYLE(ROLE_TEXT));
	while (line_next(&text, &line)) {
		_cleanup_row_ struct row row = { 0 };

		row_text(&row, line_body(line), style);
		rows_wrap(rows, &row, width, &margin, &margin);
	}
}

/* Without a user and a port; empty: it is no address. */
static struct span address_host_of(struct span url)
{
	const char *at = url.len ? memmem(url.data, url.len, "://", 3) : NULL;
	struct span host = at ? span_skip(url, (size_t)(at + 3 - url.data)) : SPAN("");
	size_t len = 0;

	while (len < host.len && !strchr("/?#\\", host.data[len]))
		len++;
	host = span_head(host, len);
	at = host.len ? memrchr(host.data, '@', host.len) : NULL;
	return at ? span_skip(host, (size_t)(at + 1 - host.data)) : host;
}

static void put_address(const struct ask *ask, unsigned width, struct rows *rows)
{
	const struct span url = ask_address(ask), host = address_host_of(url);
	_cleanup_row_ struct row row = { 0 };

	put_indented(ask, url, STYLE(ROLE_CODE), width, rows);
	row_printf(&row, STYLE(ROLE_TEXT), "It leads to ");
	row_text(&row, host, STYLE_BOLD(ROLE_TEXT));
	row_printf(&row, STYLE(ROLE_TEXT), ".");
	rows_wrap(rows, &row, width, NULL, NULL);
	subject_deception(ask, url, width, rows);
}

static void login_subject(const struct ask *ask, unsigned width, struct rows *rows)
{
	const struct view_how how = { .width = width, .plain = ask->plain };
	const struct span problem = asked_text(ask, "problem");
	const bool opened = json_is_true(json_object_get(ask->message, "opened"));
	_cleanup_row_ struct row row = { 0 };

	row_printf(&row, STYLE(ROLE_ACCENT), "? ");
	row_printf(&row, STYLE(ROLE_TEXT), opened ? "The browser has the login page of the MCP "
	           "server \"" : "To use the MCP server \"");
	row_text(&row, asked_text(ask, "serverName"), STYLE_BOLD(ROLE_TEXT));
	row_printf(&row, STYLE(ROLE_TEXT), opened ? "\"." : "\" you have to log in at:");
	rows_wrap(rows, &row, width, NULL, NULL);
	if (!opened)
		put_address(ask, width, rows);
	if (problem.len)
		view_notice(rows, "error", problem, &how);
}

static void sampling_wish(const struct ask *ask, struct row *row)
{
	row_printf(row, STYLE(ROLE_TEXT), "\" asks the model ");
	row_text(row, asked_text(ask, "model"), STYLE_BOLD(ROLE_TEXT));
	row_printf(row, STYLE(ROLE_TEXT), " to answer this, in at most %lld tokens:",
	           (long long)json_integer_value(json_object_get(ask->message, "maxTokens")));
}

void elicit_subject(const struct ask *ask, unsigned width, struct rows *rows)
{
	const struct span message = asked_text(ask, "message");
	_cleanup_row_ struct row row = { 0 };

	if (elicit_is_login(ask)) {
		login_subject(ask, width, rows);
		return;
	}
	row_printf(&row, STYLE(ROLE_ACCENT), "? ");
	row_printf(&row, STYLE(ROLE_TEXT), "The MCP server \"");
	row_text(&row, asked_text(ask, "serverName"), STYLE_BOLD(ROLE_TEXT));
	if (elicit_is_sampling(ask))
		sampling_wish(ask, &row);
	else
		row_printf(&row, STYLE(ROLE_TEXT), elicit_is_address(ask) ?
		           "\" asks you to open an address:" : "\" asks you to fill in a form:");
	rows_wrap(rows, &row, width, NULL, NULL);
	put_indented(ask, message, elicit_is_sampling(ask) ? STYLE(ROLE_TEXT) :
	             STYLE_BOLD(ROLE_TEXT), width, rows);
	subject_deception(ask, message, width, rows);
	if (elicit_is_address(ask))
		put_address(ask, width, rows);
}
