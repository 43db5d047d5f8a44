/* SPDX-License-Identifier: Apache-2.0 */
/* Where a key goes: the pager, a list, the question, keys with a fixed meaning, the editor, and
 * then what is left.
 *
 * A question may appear while the user is typing, also the one about trust.  Its first key must not
 * be one that was meant for the draft: so when the draft was being typed (it is not empty, and its
 * last key is not older than a second), keys go on to the draft until there was none for ASIDE_MS;
 * Enter among them does nothing.  The same holds for a command that has the keyboard, which gets
 * Enter, too.  No timer is needed for that, and a deliberate answer is not delayed noticeably. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "data/json.h"
#include "tui/show/activity.h"
#include "tui/app.h"
#include "tui/clip/clipboard.h"
#include "tui/complete.h"
#include "tui/consoles.h"
#include "tui/show/desktop.h"
#include "tui/dialog.h"
#include "tui/term/frames.h"
#include "tui/show/full.h"
#include "tui/show/pager.h"
#include "tui/show/printout.h"
#include "tui/question.h"
#include "tui/queue.h"
#include "tui/runner.h"
#include "tui/send.h"
#include "tui/show/status.h"
#include "tui/term/screen.h"
#include "tui/typeahead.h"

enum { TWICE_MS = 1000 };

static bool input_bound(const struct app *app, enum bind command, const struct key *key)
{
	return bindings_has(app->bindings, command, key);
}

/* Whether this is the second time within a second. */
static bool input_twice(uint64_t *last_ms)
{
	const uint64_t now = clock_monotonic_ms();
	const bool twice = *last_ms && now - *last_ms < TWICE_MS;

	*last_ms = twice ? 0 : now;
	return twice;
}

/* ---- the editor -------------------------------------------------------------- */

static void input_submit(struct app *app, bool queue)
{
	const bool shell = editor_is_shell(app->editor);
	_cleanup_free_ char *taken = NULL, *text = NULL;

	if (queue && runner_idle(app->runner)) {
		app->keys.hint = "Nothing to wait for: Enter sends";
		return;
	}
	taken = editor_take(app->editor);
	text = mem_printf("%s%s", shell ? "!" : "", taken);
	if (queue)
		tui_queue(app, span_str(text));
	else
		tui_send(app, span_str(text));
}

static void input_external(struct app *app)
{
	_cleanup_free_ char *text = editor_text(app->editor);
	_cleanup_free_ char *edited = tui_edit(app, span_str(text), "prompt.md");

	if (edited)
		editor_set(app->editor, span_trim(span_str(edited)));
}

/* False: the key is not the editor's. */
static bool input_editor(struct app *app, const struct key *key)
{
	app->keys.typed_ms = clock_monotonic_ms();
	switch (editor_key(app->editor, key)) {
	case EDITOR_SUBMIT:
		input_submit(app, false);
		return true;
	case EDITOR_QUEUE:
		input_submit(app, true);
		return true;
	case EDITOR_EXTERNAL:
		input_external(app);
		return true;
	case EDITOR_CHANGED:
		return true;
	default:
		return false;
	}
}

/* ---- the question ------------------------------------------------------------ */

static void input_ask_external(struct app *app)
{
	const char *name = NULL;
	_cleanup_free_ char *text = ask_external(app->questions.ask, &name);
	_cleanup_free_ char *edited = text ? tui_edit(app, span_str(text), name) : NULL;

	if (edited && ask_modified(app->questions.ask, span_str(edited)) == ASK_DONE)
		tui_answer(app, ask_answers(app->questions.ask));
}

static void input_ask_whole(struct app *app)
{
	_cleanup_rows_ struct rows rows = { 0 };

	ask_whole(app->questions.ask, term_size(app->term).columns, &rows);
	pager_open(app->pager, "Question", &rows);
}

static bool input_ask_state(struct app *app, enum ask_state state)
{
	if (state == ASK_DONE)
		tui_answer(app, ask_answers(app->questions.ask));
	else if (state == ASK_EXTERNAL)
		input_ask_external(app);
	else if (state == ASK_WHOLE)
		input_ask_whole(app);
	else if (state == ASK_COPY)
		clipboard_copy(app->clipboard, ask_address(app->questions.ask));
	return state != ASK_IGNORED;
}

/* Whether a key still belongs to the draft or the command that was being typed into when the
 * question came. */
static bool input_is_aside(struct app *app)
{
	const uint64_t now = clock_monotonic_ms();

	if (!app->questions.aside)
		return false;
	app->questions.aside = now - app->questions.ask_ms < ASIDE_MS;
	app->questions.ask_ms = now;
	return app->questions.aside;
}

/* True: it went there. */
static bool input_aside(struct app *app, const struct key *key)
{
	if (!input_is_aside(app))
		return false;
	if (consoles_focused(app->consoles))
		consoles_key(app->consoles, key);
	else if (key->code != KEY_ENTER && key->code != KEY_TAB && key->code != KEY_ESC)
		editor_key(app->editor, key);
	return true;
}

static bool input_question(struct app *app, const struct key *key)
{
	if (input_aside(app, key))
		return true;
	if (input_ask_state(app, ask_key(app->questions.ask, key)))
		return true;
	if (input_bound(app, BIND_BASIC_CANCEL, key) || input_bound(app, BIND_BASIC_QUIT, key)) {
		tui_interrupt(app);
		return true;
	}
	return false;
}

/* ---- keys that always mean the same ------------------------------------------ */

static void input_quit(struct app *app)
{
	if (!editor_is_empty(app->editor))
		tui_draft(app, SPAN(""));
	else if (app->activity.since_ms)
		tui_interrupt(app);
	else if (app->queue.count) /* for the session that is being opened */
		tui_unqueue(app);
	else if (input_twice(&app->keys.quit_ms))
		tui_quit(app);
	else
		app->keys.hint = "Press Ctrl+C again to exit.";
}

static void input_toggle(struct app *app, enum overlay overlay)
{
	app->keys.overlay = app->keys.overlay == overlay ? OVERLAY_NONE : overlay;
}

static bool input_global(struct app *app, const struct key *key)
{
	if (input_bound(app, BIND_BASIC_QUIT, key)) {
		input_quit(app);
	} else if (input_bound(app, BIND_BASIC_EXIT, key) && editor_is_empty(app->editor)) {
		tui_quit(app);
	} else if (input_bound(app, BIND_APP_CYCLE_APPROVAL_MODE, key)) {
		tui_cycle_mode(app);
	} else if (input_bound(app, BIND_APP_TOGGLE_YOLO, key)) {
		tui_set_mode(app, app->status.mode == MODE_YOLO ? MODE_DEFAULT : MODE_YOLO);
	} else if (input_bound(app, BIND_APP_CLEAR_SCREEN, key)) {
		tui_clear(app);
	} else if (input_bound(app, BIND_APP_SUSPEND, key)) {
		tui_suspend(app);
	} else if (input_bound(app, BIND_APP_TOGGLE_MARKDOWN, key)) {
		app->keys.hint = printout_toggle_source(&app->out);
	} else if (input_bound(app, BIND_APP_SHOW_FULL_TODOS, key)) {
		input_toggle(app, OVERLAY_TODOS);
	} else {
		return false;
	}
	return true;
}

/* ---- what is left ------------------------------------------------------------ */

static void input_escape(struct app *app)
{
	if (app->activity.since_ms) {
		tui_interrupt(app);
	} else if (app->queue.count) {
		tui_unqueue(app);
	} else if (input_twice(&app->keys.escape_ms)) {
		if (editor_is_empty(app->editor))
			tui_send(app, SPAN("/rewind"));
		else
			tui_draft(app, SPAN(""));
	} else {
		app->keys.hint = editor_is_empty(app->editor) ? "Esc again lists earlier prompts" :
		                                           "Esc again clears";
	}
}

/* What waits last is the draft again. */
static bool input_unqueue(struct app *app, const struct key *key)
{
	_cleanup_free_ char *text = NULL;

	if (!app->queue.count || !editor_is_empty(app->editor) ||
	    !input_bound(app, BIND_CURSOR_UP, key))
		return false;
	text = queue_take_last(&app->queue);
	tui_draft(app, span_str(text));
	return true;
}

/* Tab in an empty prompt, where other agents change the mode. */
static bool input_tab_is_idle(const struct app *app, const struct key *key)
{
	return key->code == KEY_TAB && !key->mods && editor_is_empty(app->editor) &&
	       input_bound(app, BIND_APP_CYCLE_APPROVAL_MODE,
	                   &(struct key){ .code = KEY_TAB, .mods = KEY_SHIFT });
}

/* "?" in an empty prompt shows the list of keys; the next key closes it, and Esc does no more than
 * that. True: the key has done what it does. */
static bool input_shortcuts(struct app *app, const struct key *key)
{
	if (app->keys.overlay == OVERLAY_SHORTCUTS) {
		app->keys.overlay = OVERLAY_NONE;
		return input_bound(app, BIND_BASIC_CANCEL, key);
	}
	if (key->code != '?' || !editor_is_empty(app->editor))
		return false;
	app->keys.overlay = OVERLAY_SHORTCUTS;
	return true;
}

/* The key that accepts what is offered, and does not send. */
static bool input_tab(struct app *app, const struct key *key)
{
	if (!input_bound(app, BIND_SUGGEST_ACCEPT, key) || input_bound(app, BIND_INPUT_SUBMIT, key))
		return false;
	app->keys.tabbed = editor_is_shell(app->editor);
	return complete_tab(app);
}

/* The key that sends, right after a Tab in a shell command: the line runs as it stands, as in bash,
 * and nothing of what Tab offers is taken, unless a key has selected it. */
static void input_enter(struct app *app, const struct key *key, bool tabbed)
{
	if (tabbed && input_bound(app, BIND_INPUT_SUBMIT, key) && editor_is_shell(app->editor) &&
	    !editor_is_choosing(app->editor))
		editor_offer_none(app->editor);
}

static void input_key(struct app *app, const struct key *key)
{
	const char *hint = app->keys.hint;
	const bool tabbed = app->keys.tabbed;

	app->keys.hint = NULL;
	app->keys.tabbed = false;
	/* Twice is one right after the other. */
	if (!input_bound(app, BIND_BASIC_QUIT, key))
		app->keys.quit_ms = 0;
	if (!input_bound(app, BIND_BASIC_CANCEL, key))
		app->keys.escape_ms = 0;
	if (app->browse) {
		browse_key(app, key);
		return;
	}
	if (app->secret) {
		first_key(app, key);
		return;
	}
	if (app->full && full_finds(app->full) && full_key(app->full, key))
		return;
	if (app->pick && (input_aside(app, key) || pick_key(app, key) || full_key(app->full, key)))
		return;
	if (app->pick) { /* what is typed meanwhile is not lost */
		if (key->text.len && !(key->mods & ~KEY_SHIFT))
			editor_key(app->editor, key);
		return;
	}
	if (app->questions.ask) {
		if (!input_question(app, key) && !full_key(app->full, key) &&
		    !input_global(app, key) && input_bound(app, BIND_INPUT_PASTE, key))
			clipboard_read(app->clipboard);
		return;
	}
	if (consoles_key(app->consoles, key) || full_key(app->full, key))
		return;
	input_enter(app, key, tabbed);
	if (input_shortcuts(app, key) || input_unqueue(app, key) || input_global(app, key) ||
	    input_tab(app, key) || input_editor(app, key))
		return;
	if (input_bound(app, BIND_BASIC_CANCEL, key))
		input_escape(app);
	else if (input_bound(app, BIND_APP_SHOW_MORE_LINES, key))
		pager_transcript(app->pager);
	else if (input_bound(app, BIND_INPUT_PASTE, key))
		clipboard_read(app->clipboard);
	else if (input_bound(app, BIND_APP_SHOW_ERROR_DETAILS, key))
		pager_problems(app->pager);
	else if (input_bound(app, BIND_EDIT_YANK, key))
		app->keys.hint = "Nothing was deleted that could be pasted. YOLO mode: /yolo";
	else if (input_tab_is_idle(app, key))
		app->keys.hint = "Shift+Tab changes the mode: edits accepted, plan";
	else
		app->keys.hint = hint;
}

/* With ui.escapePastedAtSymbols an @ in it names no file. */
static bool input_paste_text(struct app *app, struct span text)
{
	_cleanup_buf_ struct buf escaped = BUF_INIT(2 * KEYS_PASTE_BYTES_MAX);

	if (editor_is_shell(app->editor) ||
	    !settings_bool(app->settings, "ui.escapePastedAtSymbols", false))
		return editor_paste(app->editor, text);
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '@' && !(i && text.data[i - 1] == '\\'))
			buf_char(&escaped, '\\');
		buf_char(&escaped, text.data[i]);
	}
	return !escaped.overflowed && editor_paste(app->editor, buf_view(&escaped));
}

/* What has the keys gets what is pasted, too; false: it has no use for it, or it is the draft. */
static bool input_paste_taken(struct app *app, struct span text)
{
	if (pager_shown(app->pager))
		return pager_paste(app->pager, text);
	if (app->browse) {
		browse_paste(app, text);
		return true;
	}
	if (app->secret) {
		first_paste(app, text);
		return true;
	}
	if (full_paste(app->full, text))
		return true;
	if (!app->questions.ask || input_is_aside(app))
		return consoles_paste(app->consoles, text);
	app->keys.typed_ms = clock_monotonic_ms();
	return input_ask_state(app, ask_paste(app->questions.ask, text));
}

static void input_paste(struct app *app, struct span text)
{
	if (input_paste_taken(app, text))
		return;
	if (complete_waits(app)) /* it comes after the keys that are held */
		complete_give_up(app);
	typeahead_release(app->typeahead);
	app->keys.typed_ms = clock_monotonic_ms();
	if (!paste_files(app, text) && !input_paste_text(app, text))
		app->keys.hint = "The prompt has no room for the pasted text: nothing was taken";
	else /* the draft may not be seen */
		app->keys.hint = pager_shown(app->pager) || app->pick || app->questions.ask ?
		                    "The pasted text is in the prompt, for later" : NULL;
	if (pager_shown(app->pager) && app->keys.hint)
		pager_notice(app->pager, "info", app->keys.hint);
}

void tui_took(void *data, enum pasted_kind kind, struct span bytes)
{
	struct app *app = data;

	if (kind == PASTED_IMAGE)
		paste_image(app, bytes);
	else
		input_paste(app, bytes);
}

/* Of what takes all keys otherwise. */
static bool input_suspends(const struct app *app, const struct key *key)
{
	return (pager_shown(app->pager) || app->browse || app->secret || app->pick) &&
	       input_bound(app, BIND_APP_SUSPEND, key);
}

/* ---- keys that wait for bash (typeahead.h) ------------------------------------ */

static bool input_is_composers(const struct app *app)
{
	return !app->browse && !app->secret && !app->pick && !app->questions.ask &&
	       !pager_shown(app->pager) && !consoles_focused(app->consoles);
}

/* True: the key is kept, or has ended the waiting.  The keys before it are dropped then: they were
 * meant for a draft that does not come to be. */
static bool input_waits(struct app *app, const struct key *key)
{
	const bool quits = input_bound(app, BIND_BASIC_QUIT, key);

	if (!complete_waits(app) || !input_is_composers(app))
		return false;
	if (quits || input_bound(app, BIND_BASIC_CANCEL, key)) {
		typeahead_drop(app->typeahead);
		complete_give_up(app);
		return !quits;
	}
	if (typeahead_keep(app->typeahead, key))
		return true;
	complete_give_up(app);
	typeahead_release(app->typeahead);
	return false;
}

void tui_kept_key(void *data, const struct key *key)
{
	struct app *app = data;

	if (input_is_composers(app))
		tui_event(app, &(struct event){ .kind = EVENT_KEY, .key = *key });
	else if (key->text.len && !(key->mods & ~KEY_SHIFT))
		editor_key(app->editor, key);
}

void tui_event(void *data, const struct event *event)
{
	struct app *app = data;

	switch (event->kind) {
	case EVENT_KEY:
		app->keys.any = true;
		if (input_waits(app, &event->key))
			break;
		if (input_suspends(app, &event->key))
			tui_suspend(app);
		else if (pager_shown(app->pager))
			pager_key(app->pager, &event->key);
		else
			input_key(app, &event->key);
		break;
	case EVENT_PASTE:
		input_paste(app, event->text);
		break;
	case EVENT_FOCUS:
		app->desktop.blurred = !event->on;
		return;
	case EVENT_REPLY:
		if (!clipboard_reply(app->clipboard, event->text))
			return;
		break;
	case EVENT_WHEEL:
		if (pager_shown(app->pager))
			pager_wheel(app->pager, event->on);
		else
			full_wheel(app->full, event->on);
		break;
	case EVENT_CURSOR:
		if (app->out.screen) /* it makes its frame: another would ask again */
			screen_cursor(app->out.screen, event);
		return;
	default:
		return;
	}
	frames_want_now(&app->frames);
}
