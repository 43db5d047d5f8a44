/* SPDX-License-Identifier: Apache-2.0 */
/* What a new user is asked: whether to trust the folder, and for an API key.
 *
 * Both are asked before anything of the project or the provider is opened, each with one question.
 * What a folder brings along, and trust would switch on, is named; what was typed before the
 * question stood there is no answer to it.  A key is typed into a
 * row that shows dots; it goes to the key store or the user's .env (model_key_keep) and nowhere
 * else: not into the draft, its history or the stash. */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/setup/prepare.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/text.h"
#include "data/json.h"
#include "model/choose.h"
#include "tui/app.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/printout.h"
#include "tui/question.h"
#include "tui/runner.h"
#include "tui/show/status.h"
#include "tui/term/screen.h"
#include "tui/tui.h"

enum {
	NAMES_SHOWN = 12,     /* of each thing that a folder brings along */
	KEY_BYTES_MAX = 4096,
	DOTS_MAX = 24,        /* shown for a key */
	AHEAD_MS = 1,         /* a timer of 0 would fire before the loop has read anything */
};

/* ---- settings ---------------------------------------------------------------- */

void first_reload(struct app *app)
{
	struct front_session *session = app->options->session;
	struct err err = ERR_INIT, ignored = ERR_INIT;

	if (!session_load(session, &err)) {
		printout_notice(&app->out, "error", span_str(err.message));
		return;
	}
	if (!session_mode_check(session, &ignored))
		session_mode_reset(session);
	app->settings = session_settings(session);
	app->status.mode = session_mode(session);
}

/* A line that the user is to finish. */
static void first_draft(struct app *app, struct span line)
{
	editor_set_shell(app->editor, false);
	editor_set(app->editor, line);
}

/* ---- trust ------------------------------------------------------------------- */

enum { TRUST_THIS, TRUST_ABOVE, TRUST_NOT };

static void trust_chosen(struct app *app, void *data, int index)
{
	static const char *const rules[] = { "TRUST_FOLDER", "TRUST_PARENT", "DO_NOT_TRUST" };
	static const char *const said[] = {
		"Trusted. /permissions shows what that is, and takes it back.",
		"Trusted, with the folders next to it. /permissions takes it back.",
		"Not trusted. /permissions changes that.",
	};
	const struct home *home = settings_home(app->settings);
	struct err err = ERR_INIT;

	(void)data;
	if (index < 0) {
		printout_notice(&app->out, "info",
		                SPAN("Not decided, so not trusted. /permissions trust changes "
		                     "that."));
	} else if (trust_set(home, home_project(home), rules[index], &err)) {
		printout_notice(&app->out, "info", span_str(said[index]));
		first_reload(app);
	} else {
		printout_notice(&app->out, "error", span_str(err.message));
	}
	runner_begin(app->runner);
}

/* What trust would switch on, by name. */
static void trust_subject(struct app *app, const json_t *brought)
{
	const unsigned width = term_size(app->term).columns;
	_cleanup_rows_ struct rows rows = { 0 };
	size_t i;
	json_t *item;

	rows_text(&rows, json_array_size(brought) ?
	          SPAN("This folder is new to hasp. It brings along:") :
	          SPAN("This folder is new to hasp."), STYLE(ROLE_TEXT), width);
	json_array_foreach((json_t *)brought, i, item) {
		_cleanup_free_ char *names = prepare_brought_names(item, NAMES_SHOWN);
		_cleanup_row_ struct row row = { 0 }, rest = { 0 };

		row_text(&row, SPAN("  "), STYLE(ROLE_TEXT));
		row_text(&row, json_span(json_object_get(item, "path")), STYLE(ROLE_ACCENT));
		row_text(&row, SPAN("  "), STYLE(ROLE_TEXT));
		row_text(&row, json_span(json_object_get(item, "what")), STYLE(ROLE_TEXT));
		if (*names) {
			row_text(&row, SPAN(": "), STYLE(ROLE_TEXT));
			row_text(&row, span_str(names), STYLE(ROLE_DIM));
		}
		row_text(&rest, SPAN("    "), STYLE(ROLE_TEXT));
		rows_wrap(&rows, &row, width, NULL, &rest);
	}
	if (json_array_size(brought))
		rows_text(&rows, SPAN("They count only if you trust the folder."), STYLE(ROLE_DIM),
		          width);
	rows_text(&rows, SPAN("In a trusted folder you can accept edits without being asked, and "
	                      "allow something for a whole session. Commands are confined in any "
	                      "folder."), STYLE(ROLE_DIM), width);
	printout_block(&app->out, &rows);
}

static void trust_ask(struct app *app)
{
	const char *project = home_project(settings_home(app->settings));
	_cleanup_free_ char *above = path_folder(project);
	_cleanup_free_ char *both = mem_printf("Yes, with all folders in %s", above);
	json_auto_t *brought = prepare_brought(app->settings), *labels = json_array();
	const bool brings = json_array_size(brought);
	struct pick *pick;

	json_array_append_new(labels, json_string(brings ? "Yes, switch them on" : "Yes"));
	json_array_append_new(labels, json_text(span_str(both)));
	json_array_append_new(labels, json_string(brings ? "No, leave them off" :
	                                          "No, ask about each edit and command"));
	/* Enter, typed for something else, must not trust it. */
	pick = pick_new("Trust this folder?", labels, TRUST_NOT, trust_chosen, NULL);
	pick_show(app, pick);
}

/* What was typed before is read first, however slow the machine: it is in the draft, which may be
 * typed on. */
static void first_trust(void *data)
{
	struct app *app = data;
	struct pollfd typed = { .fd = STDIN_FILENO, .events = POLLIN };

	loop_timer_stop(app->first_timer);
	app->first_timer = NULL;
	if (poll(&typed, 1, 0) == 1 && typed.revents == POLLIN) {
		app->first_timer = loop_timer_start(app->loop, AHEAD_MS, 0, first_trust, app);
		return;
	}
	tui_question_comes(app);
	trust_ask(app);
}

void first_begin(struct app *app)
{
	json_auto_t *brought = NULL;

	if (!settings_trust_unknown(app->settings)) {
		runner_begin(app->runner);
		return;
	}
	brought = prepare_brought(app->settings);
	trust_subject(app, brought);
	app->first_timer = loop_timer_start(app->loop, AHEAD_MS, 0, first_trust, app);
}

/* ---- a key that is typed ----------------------------------------------------- */

struct secret {
	char *provider; /* owned */
	struct buf text; /* wiped */
};

/* Where keys come from. */
static const struct key_row {
	const char *provider, *name, *url;
} key_rows[] = {
	{ "gemini", "Google Gemini", "https://aistudio.google.com/apikey" },
	{ "openai", "OpenAI", "https://platform.openai.com/api-keys" },
	{ "anthropic", "Anthropic", "https://console.anthropic.com/settings/keys" },
	{ "openrouter", "OpenRouter", "https://openrouter.ai/settings/keys" },
};

static const struct key_row *key_row_find(const char *provider)
{
	for (size_t i = 0; i < ARRAY_LEN(key_rows); i++)
		if (strcmp(key_rows[i].provider, provider) == 0)
			return &key_rows[i];
	return NULL;
}

void first_free(struct secret *secret)
{
	if (!secret)
		return;
	if (secret->text.data)
		explicit_bzero(secret->text.data, secret->text.len);
	buf_release(&secret->text);
	free(secret->provider);
	free(secret);
}

static void secret_close(struct app *app)
{
	first_free(app->secret);
	app->secret = NULL;
}

static void secret_open(struct app *app, const char *provider)
{
	const struct key_row *row = key_row_find(provider);
	_cleanup_free_ char *text = mem_printf(
		"A key for %s%s%s. It is kept in the system's key store, or in ~/.gemini/.env "
		"where there is none.", row ? row->name : provider, row ? " is made at " : "",
		row ? row->url : "");

	printout_notice(&app->out, "info", span_str(text));
	secret_close(app);
	app->secret = mem_alloc(1, sizeof(*app->secret));
	app->secret->provider = mem_strdup(provider);
	app->secret->text = (struct buf)BUF_INIT(KEY_BYTES_MAX);
	frames_want(&app->frames);
}

void first_rows(const struct app *app, unsigned width, struct live *live)
{
	const struct secret *secret = app->secret;
	struct row *row = rows_add(&live->rows);
	size_t dots = secret->text.len < DOTS_MAX ? secret->text.len : DOTS_MAX;

	row_printf(row, STYLE_BOLD(ROLE_ACCENT), "Key for %s: ", secret->provider);
	while (dots--)
		row_text(row, app->out.plain ? SPAN("*") : SPAN("\xe2\x80\xa2"), STYLE(ROLE_TEXT));
	row_clip(row, width);
	live->caret_row = live->rows.count - 1;
	live->caret_column = row->width < width ? row->width : width - 1;
	if (app->out.plain)
		return;
	row = rows_add(&live->rows);
	row_text(row, SPAN("What you type or paste is not shown. Enter keeps it, Esc closes"),
	         STYLE(ROLE_DIM));
	row_clip(row, width);
}

/* ---- keeping it -------------------------------------------------------------- */

/* On the agent's thread: the provider is asked, and a key store may ask for its own password. */
struct keep_job {
	struct runner_job job;
	struct app *app;
	char *provider, *key; /* owned; the key is wiped */
	char *where;          /* owned; NULL: *err */
	struct err err;
	struct err untried;   /* it is kept, and why it could not be tried */
};

static void keep_run(struct runner_job *job, const struct tui_opened *opened)
{
	struct keep_job *keep = (struct keep_job *)job;

	(void)opened;
	if (!model_key_try(keep->app->settings, keep->provider, keep->key,
	                   runner_cancel(keep->app->runner), &keep->untried)) {
		keep->err = keep->untried;
		if (keep->err.code == ERR_AUTHENTICATION_FAILED || keep->err.code == ERR_CANCELLED)
			return;
		keep->err = (struct err)ERR_INIT;
	}
	if (!model_key_keep(keep->app->settings, keep->provider, keep->key, &keep->where,
	                    &keep->err))
		keep->where = NULL;
}

/* What is chosen with the key, if it is another provider's than what was. */
static void choose_model(struct app *app, const char *provider)
{
	const char *model = model_provider_model(provider);
	_cleanup_free_ char *now = model_provider_of(app->settings, app->options->model);
	_cleanup_free_ char *text = NULL;
	json_auto_t *name = NULL;
	struct err err = ERR_INIT;

	if (strcmp(now, provider) == 0)
		return;
	if (!model) {
		text = mem_printf("/model set %s/", provider);
		first_draft(app, span_str(text));
		printout_notice(&app->out, "info", SPAN("Which of its models? Finish the line."));
		return;
	}
	name = json_string(model);
	if (!settings_write(app->settings, SCOPE_USER, "model.name", name, &err)) {
		printout_notice(&app->out, "error", span_str(err.message));
		return;
	}
	text = mem_printf("%s answers from now on; /model set NAME chooses another.", model);
	printout_notice(&app->out, "info", span_str(text));
}

/* With a key that is there now. */
static void first_use(struct app *app, const char *provider)
{
	choose_model(app, provider);
	if (!runner_opened(app->runner)) {
		first_reload(app);
		runner_begin(app->runner);
	}
}

static void keep_done(struct runner_job *job)
{
	struct keep_job *keep = (struct keep_job *)job;
	struct app *app = keep->app;
	_cleanup_free_ char *text = NULL;

	if (app->frames.ended) {
		/* Nothing is shown any more. */
	} else if (!keep->where) {
		const bool refused = keep->err.code == ERR_AUTHENTICATION_FAILED;

		text = mem_printf("%s%s", keep->err.message, refused ?
		                  "\nThe key was not kept. /auth takes another key." : "");
		printout_notice(&app->out, "error", span_str(text));
	} else {
		text = keep->untried.code ?
			mem_printf("The key is kept in %s. It could not be tried: %s", keep->where,
			           keep->untried.message) :
			mem_printf("The key works, and is kept in %s.", keep->where);
		printout_notice(&app->out, keep->untried.code ? "warning" : "info",
		                span_str(text));
		first_use(app, keep->provider);
	}
	explicit_bzero(keep->key, strlen(keep->key));
	free(keep->key);
	free(keep->provider);
	free(keep->where);
	free(keep);
}

static void secret_done(struct app *app)
{
	const struct span text = span_trim(buf_view(&app->secret->text));
	struct keep_job *keep;

	if (!text.len || !runner_idle(app->runner)) {
		app->keys.hint = text.len ? "hasp is at work: Enter again when it is done" : NULL;
		return;
	}
	keep = mem_alloc(1, sizeof(*keep));
	*keep = (struct keep_job){ .job = { keep_run, keep_done }, .app = app, .err = ERR_INIT,
		                   .untried = ERR_INIT,
		                   .provider = mem_strdup(app->secret->provider),
		                   .key = mem_dup(text.data, text.len) };
	secret_close(app);
	if (!runner_opened(app->runner))
		first_reload(app); /* the provider's address may have been set up meanwhile */
	runner_job(app->runner, &keep->job);
}

void first_key(struct app *app, const struct key *key)
{
	struct buf *text = &app->secret->text;

	if (bindings_has(app->bindings, BIND_BASIC_CONFIRM, key)) {
		secret_done(app);
	} else if (bindings_has(app->bindings, BIND_BASIC_CANCEL, key) ||
	           bindings_has(app->bindings, BIND_BASIC_QUIT, key)) {
		secret_close(app);
		printout_notice(&app->out, "info",
		                SPAN("No key was taken. /auth asks for one again."));
	} else if (bindings_has(app->bindings, BIND_BASIC_EXIT, key) && !text->len) {
		secret_close(app);
		tui_quit(app);
	} else if (key->code == KEY_BACKSPACE && text->len) {
		text->data[--text->len] = '\0';
	} else if (key->code == 'u' && key->mods == KEY_CTRL) {
		if (text->len)
			explicit_bzero(text->data, text->len);
		buf_clear(text);
	} else if (key->text.len && !(key->mods & ~KEY_SHIFT)) {
		buf_span(text, key->text);
	}
}

void first_paste(struct app *app, struct span text)
{
	buf_span(&app->secret->text, span_trim(text));
}

/* ---- which provider ---------------------------------------------------------- */

/* The variable whose key can be used as it is; NULL: a key is asked for.  While a session is open,
 * another key is what is wanted. */
static const char *key_at_hand(const struct app *app, const struct key_row *row)
{
	return runner_opened(app->runner) || !model_provider_model(row->provider) ? NULL :
	       model_key_variable(app->settings, row->provider);
}

static void provider_chosen(struct app *app, void *data, int index)
{
	(void)data;
	if (index < 0)
		return;
	if ((size_t)index < ARRAY_LEN(key_rows) && key_at_hand(app, &key_rows[index])) {
		first_use(app, key_rows[index].provider);
		return;
	}
	if ((size_t)index < ARRAY_LEN(key_rows)) {
		secret_open(app, key_rows[index].provider);
		return;
	}
	first_draft(app, SPAN("/model set ollama/"));
	printout_notice(&app->out, "info",
	                SPAN("Which model? Finish the line; ollama, llama.cpp, vllm and lmstudio "
	                     "need no key."));
}

static struct pick *provider_pick(const struct app *app)
{
	_cleanup_free_ char *now = model_provider_of(app->settings, app->options->model);
	json_auto_t *labels = json_array();
	bool found = false;
	size_t at = 0;

	for (size_t i = 0; i < ARRAY_LEN(key_rows); i++) {
		const char *variable = key_at_hand(app, &key_rows[i]);
		_cleanup_free_ char *label = mem_printf("%s  (%s%s)", key_rows[i].name,
		                                        variable ? variable : key_rows[i].url,
		                                        variable ? " is set" : "");

		json_array_append_new(labels, json_text(span_str(label)));
		if (!found && (variable || strcmp(key_rows[i].provider, now) == 0))
			at = i;
		found |= variable != NULL;
	}
	json_array_append_new(labels, json_string("A model on this machine, without a key"));
	return pick_new("Whose model is to answer?", labels, at, provider_chosen, NULL);
}

void first_ask_key(struct app *app, const char *provider)
{
	if (*provider)
		secret_open(app, provider);
	else
		pick_show(app, provider_pick(app));
}

void first_no_key(struct app *app, struct span why)
{
	_cleanup_free_ char *now = model_provider_of(app->settings, app->options->model);
	struct pick *pick;

	printout_notice(&app->out, "error", why);
	if (!editor_is_empty(app->editor) || app->questions.ask || app->browse || app->pick ||
	    app->secret)
		return;
	if (app->options->model && model_provider_has_key(now)) {
		secret_open(app, now);
		return;
	}
	pick = provider_pick(app);
	pick_yield(pick);
	pick_show(app, pick);
}
