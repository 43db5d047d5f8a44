/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions of the project, in the composer's place: what is typed searches in all of them, the
 * end of the selected one stands beneath.  Searches run on the agent's thread, the next one when
 * the last is done. */
#include <stdlib.h>
#include <string.h>

#include "agent/session/sessions.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/dialog.h"
#include "tui/show/pager.h"
#include "tui/runner.h"
#include "tui/term/screen.h"
#include "tui/tui.h"

enum {
	WORDS_BYTES_MAX = 256,
	LIST_ROWS_MAX = 10,
	END_MESSAGES = 30,   /* read of a session */
	END_LINES = 3,       /* of each, shown beneath */
	DATE_BYTES = 32,     /* "2026-11-24 05:32", and more than enough */
	DATED_COLUMNS = 50,  /* in fewer a title needs the room */
};

enum browse_stage { BROWSE_LIST, BROWSE_DELETE, BROWSE_RENAME };

struct session_browser {
	struct buf words;      /* what is searched for */
	struct buf title;      /* the new one, of RENAME */
	char *searched;        /* owned; what `rows` are the answer to; NULL: nothing yet */
	json_t *rows;          /* of sessions_browse */
	json_t *end;           /* of the selected one (session_end); NULL: not read yet */
	size_t at;
	enum browse_stage stage;
	bool enter;            /* open it when the search is done */
	bool searching;
	void (*run)(struct app *app, struct span line); /* runs a command */
};

/* On the agent's thread. */
struct browse_job {
	struct runner_job job;
	struct app *app;
	char *words;           /* owned */
	json_t *rows;
};

void browse_free(struct session_browser *browse)
{
	if (!browse)
		return;
	buf_release(&browse->words);
	buf_release(&browse->title);
	json_decref(browse->rows);
	json_decref(browse->end);
	free(browse->searched);
	free(browse);
}

static const json_t *browse_selected(const struct session_browser *browse)
{
	return json_array_get(browse->rows, browse->at);
}

/* What commands call it. */
static const char *browse_name(const struct session_browser *browse)
{
	const json_t *row = browse_selected(browse);
	const char *tag = json_string_value(json_object_get(row, "tag"));

	return tag ? tag : json_string_value(json_object_get(row, "id"));
}

static void browse_close(struct app *app)
{
	browse_free(app->browse);
	app->browse = NULL;
}

/* ---- searching --------------------------------------------------------------- */

static void browse_search_run(struct runner_job *job, const struct tui_opened *opened)
{
	struct browse_job *own = (struct browse_job *)job;

	if (opened->host)
		own->rows = sessions_browse(host_facts(opened->host).home, span_str(own->words),
		                            NULL);
}

static void browse_open(struct app *app)
{
	const json_t *row = browse_selected(app->browse);
	_cleanup_free_ char *line = row ? mem_printf("/chat resume %s", browse_name(app->browse)) :
	                                  NULL;
	void (*run)(struct app *app, struct span command) = app->browse->run;
	const struct tui_opened *opened = runner_opened(app->runner);
	const char *file = json_string_value(json_object_get(row, "file"));

	if (!row)
		return;
	if (opened && runner_idle(app->runner) && file &&
	    strcmp(file, host_facts(opened->host).record_file) != 0)
		tui_show_end(app, file);
	browse_close(app);
	run(app, span_str(line));
}

static void browse_select(struct session_browser *browse, size_t at)
{
	browse->at = at;
	json_decref(browse->end);
	browse->end = NULL;
}

static void browse_search_done(struct runner_job *job)
{
	struct browse_job *own = (struct browse_job *)job;
	struct session_browser *browse = own->app->browse;

	if (browse && own->rows) {
		json_decref(browse->rows);
		browse->rows = json_incref(own->rows);
		free(browse->searched);
		browse->searched = mem_steal(&own->words);
		browse_select(browse, 0);
	}
	if (browse)
		browse->searching = false;
	json_decref(own->rows);
	free(own->words);
	free(own);
}

/* If there is something else to search for. */
static void browse_search(struct app *app)
{
	struct session_browser *browse = app->browse;
	const char *words = browse->words.len ? browse->words.data : "";
	struct browse_job *own;

	if (browse->searching || !runner_idle(app->runner) ||
	    (browse->searched && !strcmp(browse->searched, words)))
		return;
	own = mem_alloc(1, sizeof(*own));
	own->job.run = browse_search_run;
	own->job.done = browse_search_done;
	own->app = app;
	own->words = mem_strdup(words);
	browse->searching = true;
	runner_job(app->runner, &own->job);
}

void browse_idle(struct app *app)
{
	browse_search(app);
	if (app->browse->enter && runner_idle(app->runner))
		browse_open(app);
}

void browse_new(struct app *app, void (*run)(struct app *app, struct span line))
{
	struct session_browser *browse = mem_alloc(1, sizeof(*browse));

	browse->run = run;
	browse->words = (struct buf)BUF_INIT(WORDS_BYTES_MAX);
	browse->title = (struct buf)BUF_INIT(WORDS_BYTES_MAX);
	browse_free(app->browse);
	app->browse = browse;
	browse_search(app);
}

/* ---- keys -------------------------------------------------------------------- */

/* Keeps a NUL behind it. */
static void browse_add(struct buf *text, struct span more)
{
	buf_span(text, more);
	buf_char(text, '\0');
	text->len--;
}

/* Types into a line of text. False: the key is no text. */
static bool browse_type(struct buf *text, const struct key *key)
{
	if (key->code == KEY_BACKSPACE) {
		while (text->len && ((unsigned char)text->data[--text->len] & 0xc0) == 0x80)
			;
		if (text->data)
			text->data[text->len] = '\0';
	} else if (key->code == 'u' && key->mods & KEY_CTRL) {
		buf_clear(text);
	} else if (key->text.len && !(key->mods & (KEY_CTRL | KEY_ALT | KEY_META)) &&
	           text->len + key->text.len + 1 < WORDS_BYTES_MAX) {
		browse_add(text, key->text);
	} else {
		return false;
	}
	return true;
}

void browse_paste(struct app *app, struct span text)
{
	struct session_browser *browse = app->browse;
	struct buf *into = browse->stage == BROWSE_RENAME ? &browse->title : &browse->words;
	struct span line = { 0 };

	if (browse->stage == BROWSE_DELETE)
		return;
	line_next(&text, &line);
	browse_add(into, utf8_head(line_body(line), WORDS_BYTES_MAX - 2 - into->len));
	browse->enter = false;
	browse_idle(app);
}

/* Deletes or renames the selected one by a command, and looks again. */
static void browse_command(struct app *app, const char *form, const char *more)
{
	struct session_browser *browse = app->browse;
	_cleanup_free_ char *line = mem_printf("/chat %s %s%s%s", form, browse_name(browse),
	                                       *more ? " " : "", more);

	free(browse->searched);
	browse->searched = NULL;
	browse->stage = BROWSE_LIST;
	browse->run(app, span_str(line));
}

static void browse_question_key(struct app *app, const struct key *key)
{
	struct session_browser *browse = app->browse;

	if (bindings_has(app->bindings, BIND_BASIC_CANCEL, key) ||
	    bindings_has(app->bindings, BIND_BASIC_QUIT, key))
		browse->stage = BROWSE_LIST;
	else if (browse->stage == BROWSE_DELETE && key->code == 'y')
		browse_command(app, "delete", "");
	else if (browse->stage == BROWSE_DELETE)
		browse->stage = BROWSE_LIST;
	else if (bindings_has(app->bindings, BIND_BASIC_CONFIRM, key) && browse->title.len)
		browse_command(app, "title", browse->title.data);
	else
		browse_type(&browse->title, key);
}

/* Its end, on a separate screen. */
static void browse_look(struct app *app)
{
	struct session_browser *browse = app->browse;
	const struct view_how how = { .width = term_size(app->term).columns,
	                              .plain = app->out.plain };
	_cleanup_rows_ struct rows rows = { 0 };
	size_t i;
	json_t *message;

	json_array_foreach(browse->end, i, message) {
		const struct span who = json_span(json_object_get(message, "who"));
		struct row *row = rows_add(&rows);

		row_text(row, who, STYLE_BOLD(ROLE_ACCENT));
		if (span_eq(who, SPAN("user")))
			view_user(&rows, json_span(json_object_get(message, "text")), &how);
		else
			view_notice(&rows, "info", json_span(json_object_get(message, "text")),
			            &how);
		rows_add(&rows);
	}
	pager_open_end(app->pager, "Session", &rows);
}

static void browse_list_key(struct app *app, const struct key *key)
{
	struct session_browser *browse = app->browse;
	const size_t count = json_array_size(browse->rows);
	const bool ctrl = key->mods & KEY_CTRL;

	if (key->code == KEY_UP && count)
		browse_select(browse, browse->at ? browse->at - 1 : count - 1);
	else if (key->code == KEY_DOWN && count)
		browse_select(browse, (browse->at + 1) % count);
	else if (key->code == KEY_PAGE_DOWN && count)
		browse_select(browse, browse->at + LIST_ROWS_MAX < count ?
		              browse->at + LIST_ROWS_MAX : count - 1);
	else if (key->code == KEY_PAGE_UP)
		browse_select(browse, browse->at > LIST_ROWS_MAX ? browse->at - LIST_ROWS_MAX : 0);
	else if (bindings_has(app->bindings, BIND_BASIC_CANCEL, key) ||
	         bindings_has(app->bindings, BIND_BASIC_QUIT, key))
		browse_close(app);
	else if (bindings_has(app->bindings, BIND_BASIC_CONFIRM, key))
		browse->enter = true;
	else if (bindings_has(app->bindings, BIND_APP_SHOW_MORE_LINES, key) && count)
		browse_look(app);
	else if ((key->code == KEY_DELETE || (ctrl && key->code == 'x')) && count)
		browse->stage = BROWSE_DELETE;
	else if (bindings_has(app->bindings, BIND_BASIC_EXIT, key) && !browse->words.len)
		tui_quit(app);
	else if (ctrl && key->code == 'r' && count) {
		browse->stage = BROWSE_RENAME;
		buf_clear(&browse->title);
	} else {
		browse_type(&browse->words, key);
	}
}

void browse_key(struct app *app, const struct key *key)
{
	struct session_browser *browse = app->browse;

	browse->enter = false;
	if (browse->stage != BROWSE_LIST)
		browse_question_key(app, key);
	else
		browse_list_key(app, key);
	if (app->browse)
		browse_idle(app);
}

/* ---- rows -------------------------------------------------------------------- */

static void browse_row(const struct session_browser *browse, size_t i, unsigned width,
                       struct rows *rows)
{
	const json_t *session = json_array_get(browse->rows, i);
	const json_t *model = json_object_get(session, "model");
	const struct span tag = json_span(json_object_get(session, "tag"));
	const bool selected = i == browse->at;
	const long long messages = json_integer_value(json_object_get(session, "messages"));
	const struct style dim = STYLE(selected ? ROLE_SELECTED : ROLE_DIM);
	struct row *row = rows_add(rows);
	char when[DATE_BYTES];

	row_text(row, selected ? SPAN("> ") : SPAN("  "), dim);
	if (width >= DATED_COLUMNS) {
		session_local_time(json_string_value(json_object_get(session, "time")), when,
		                   sizeof(when));
		row_text(row, span_str(when), dim);
		row_text(row, SPAN("  "), dim);
	}
	if (tag.len) {
		row_text(row, SPAN("["), dim);
		row_text(row, tag, STYLE(selected ? ROLE_SELECTED : ROLE_ACCENT));
		row_text(row, SPAN("] "), dim);
	}
	row_text(row, json_span(json_object_get(session, "title")),
	         STYLE(selected ? ROLE_SELECTED : ROLE_TEXT));
	row_printf(row, dim, "  %lld message%s", messages, messages == 1 ? "" : "s");
	if (model) {
		row_text(row, SPAN(", "), dim);
		row_text(row, json_span(model), dim);
	}
	row_clip(row, width);
}

/* The last messages, as many as there is room for: their first lines. */
static void browse_end_rows(const struct session_browser *browse, unsigned width, size_t room,
                            struct rows *rows)
{
	const struct span found = json_span(json_object_get(browse_selected(browse), "found"));
	_cleanup_rows_ struct rows all = { 0 };
	size_t i;
	json_t *message;

	json_array_foreach(browse->end, i, message) {
		const bool user = span_eq(json_span(json_object_get(message, "who")), SPAN("user"));
		struct span rest = json_span(json_object_get(message, "text")), line;

		for (unsigned k = 0; k < END_LINES && line_next(&rest, &line); k++) {
			struct row *row = rows_add(&all);

			row_text(row, k ? SPAN("    ") : user ? SPAN("  > ") : SPAN("    "),
			         STYLE(ROLE_DIM));
			row_text(row, line_body(line), STYLE(user ? ROLE_USER : ROLE_DIM));
			row_clip(row, width);
		}
	}
	if (found.len && room) {
		struct row *row = rows_add(rows);

		row_text(row, SPAN("  found: "), STYLE(ROLE_ACCENT));
		row_text(row, found, STYLE(ROLE_TEXT));
		row_clip(row, width);
		room--;
	}
	rows_copy(rows, &all, all.count > room ? all.count - room : 0, all.count);
}

static void browse_foot(const struct session_browser *browse, unsigned width, struct rows *rows)
{
	_cleanup_row_ struct row row = { 0 };

	if (browse->stage == BROWSE_DELETE) {
		row_text(&row, SPAN("Delete this session and its files? y to delete, any other "
		                   "key to keep it"), STYLE(ROLE_WARNING));
	} else if (browse->stage == BROWSE_RENAME) {
		row_text(&row, SPAN("New title: "), STYLE(ROLE_ACCENT));
		row_text(&row, buf_view(&browse->title), STYLE(ROLE_TEXT));
	} else {
		row_text(&row, SPAN("Enter to open, Ctrl+O to see its end, Ctrl+R to rename, "
		                   "Ctrl+X to delete, Esc to cancel"), STYLE(ROLE_DIM));
	}
	rows_wrap(rows, &row, width, NULL, NULL);
}

static void browse_head(const struct session_browser *browse, unsigned width, struct rows *rows)
{
	const size_t count = json_array_size(browse->rows);
	_cleanup_row_ struct row row = { 0 };

	row_text(&row, SPAN("Search: "), STYLE_BOLD(ROLE_ACCENT));
	row_text(&row, buf_view(&browse->words), STYLE(ROLE_TEXT));
	if (browse->searched)
		row_printf(&row, STYLE(ROLE_DIM), "  %zu session%s", count, count == 1 ? "" : "s");
	rows_wrap(rows, &row, width, NULL, NULL);
}

void browse_rows(struct session_browser *browse, unsigned width, size_t height, struct rows *rows)
{
	const size_t count = json_array_size(browse->rows);
	_cleanup_rows_ struct rows head = { 0 }, foot = { 0 };
	size_t taken, room, shown, top;

	browse_head(browse, width, &head);
	browse_foot(browse, width, &foot);
	taken = head.count + foot.count + 1;
	room = height > taken + 3 ? height - taken : 3;
	shown = room / 2 < LIST_ROWS_MAX ? room / 2 : LIST_ROWS_MAX;
	shown = count < shown ? count : shown;
	top = browse->at >= shown ? browse->at - shown + 1 : 0;
	rows_move(rows, &head);
	for (size_t i = top; i < top + shown; i++)
		browse_row(browse, i, width, rows);
	if (count && !browse->end)
		browse->end = session_end(json_string_value(json_object_get(
			browse_selected(browse), "file")), END_MESSAGES);
	rows_add(rows);
	browse_end_rows(browse, width, room - shown, rows);
	rows_move(rows, &foot);
}
