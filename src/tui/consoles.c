/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that are typed into: an emulator for each, fed on the threads that publish what the
 * commands write, shown and given keys by the main thread.
 *
 * What is typed goes to the bus as an order and nowhere else: not to the draft, the history, the
 * transcript or a log.  Locks: `orders` (main thread and host's end) before the bus's own, and that
 * before `lock`, under which nothing is published. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/settings.h"
#include "data/json.h"
#include "tui/app.h"
#include "tui/consoles.h"
#include "tui/emulator/emulator.h"
#include "tui/term/frames.h"
#include "tui/running.h"

enum {
	CONSOLES_MAX = 16,       /* more are not shown, and not typed into */
	CONSOLE_FRAME = 8,       /* rows of the window that are for others, at least */
	CONSOLE_INDENT = 4,
	CONSOLE_PIECE = 1024,    /* fed while the main thread waits */
	CONSOLE_AWAY_SHOWN = 3,
};

struct console {
	unsigned pid;
	char *command, *call;    /* owned; call: NULL without */
	struct emulator *emulator;
	bool secret;             /* input is not echoed */
	struct buf answers;      /* to be sent when the lock is free */
};

struct consoles {
	struct app *app;
	struct loop_task posted;
	pthread_mutex_t orders;  /* of publishing by the main thread */
	pthread_mutex_t lock;    /* of what follows */
	struct bus *bus;         /* borrowed; NULL: there is none */
	struct console *at[CONSOLES_MAX];
	size_t count;
	unsigned focus, last;    /* pids; 0: none */
	unsigned rows, columns;
	bool is_posted;
};

/* ---- as they come and go: on any thread -------------------------------------- */

static void console_free(struct console *console)
{
	emulator_free(console->emulator);
	buf_release(&console->answers);
	free(console->command);
	free(console->call);
	free(console);
}

static void console_answer(void *data, struct span bytes)
{
	struct console *console = data;

	buf_span(&console->answers, bytes);
}

/* All of these with the lock. */

static struct console *console_find(const struct consoles *consoles, unsigned pid)
{
	for (size_t i = 0; i < consoles->count; i++)
		if (consoles->at[i]->pid == pid)
			return consoles->at[i];
	return NULL;
}

static void console_add(struct consoles *consoles, unsigned pid, const json_t *message)
{
	struct console *console;

	if (consoles->count == CONSOLES_MAX || console_find(consoles, pid))
		return;
	console = mem_alloc(1, sizeof(*console));
	console->pid = pid;
	console->command = mem_strdup(json_string_value(json_object_get(message, "command")));
	console->call = mem_strdup(json_string_value(json_object_get(message, "callId")));
	console->answers = (struct buf)BUF_INIT(4096);
	console->emulator = emulator_new(consoles->rows, consoles->columns, console_answer,
	                                 console);
	consoles->at[consoles->count++] = console;
}

static void console_remove(struct consoles *consoles, unsigned pid)
{
	for (size_t i = 0; i < consoles->count; i++) {
		if (consoles->at[i]->pid != pid)
			continue;
		console_free(consoles->at[i]);
		consoles->count--;
		memmove(&consoles->at[i], &consoles->at[i + 1],
		        (consoles->count - i) * sizeof(struct console *));
		break;
	}
	if (consoles->focus == pid)
		consoles->focus = 0;
}

static void consoles_take(struct consoles *consoles, unsigned pid, const json_t *message)
{
	const json_t *secret = json_object_get(message, "secret");
	struct console *console;

	if (!strcmp(json_string_value(json_object_get(message, "state")), "ended"))
		console_remove(consoles, pid);
	else if (json_object_get(message, "command"))
		console_add(consoles, pid, message);
	console = console_find(consoles, pid);
	if (console && secret)
		console->secret = json_is_true(secret);
}

/* ---- what they write: on the thread that publishes --------------------------- */

static void console_order(struct bus *bus, enum bus_topic topic, unsigned pid, struct span text,
                          bool answer)
{
	json_auto_t *message = json_pack("{s:i, s:o}", "pid", (int)pid, "text", json_text(text));

	if (answer)
		json_object_set_new(message, "answer", json_true());
	bus_publish(bus, topic, message);
}

/* The lock is let go between pieces, and the host lets go of all (let_others in its terminals.c):
 * the main thread draws and types meanwhile. */
static void consoles_feed(struct consoles *consoles, unsigned pid, struct span text)
{
	while (text.len) {
		const struct span piece = span_head(text, CONSOLE_PIECE);
		_cleanup_buf_ struct buf answers = { 0 };
		struct console *console;
		struct bus *bus;

		pthread_mutex_lock(&consoles->lock);
		console = console_find(consoles, pid);
		bus = consoles->bus;
		if (console) {
			emulator_feed(console->emulator, piece);
			answers = console->answers;
			console->answers = (struct buf)BUF_INIT(4096);
		}
		pthread_mutex_unlock(&consoles->lock);
		if (!console)
			return;
		if (answers.len && bus)
			console_order(bus, BUS_COMMAND_INPUT, pid, buf_view(&answers), true);
		text = span_skip(text, piece.len);
	}
}

static void consoles_changed(struct loop_task *task)
{
	struct consoles *consoles =
		(struct consoles *)((char *)task - offsetof(struct consoles, posted));

	pthread_mutex_lock(&consoles->lock);
	consoles->is_posted = false;
	pthread_mutex_unlock(&consoles->lock);
	frames_want(&consoles->app->frames);
}

bool consoles_report(struct consoles *consoles, enum bus_topic topic, const json_t *message)
{
	const unsigned pid = (unsigned)json_integer_value(json_object_get(message, "pid"));
	const struct span call = json_span(json_object_get(message, "callId"));
	bool own = topic == BUS_COMMAND || topic == BUS_COMMAND_OUTPUT, post = own;

	if (topic == BUS_COMMAND_OUTPUT)
		consoles_feed(consoles, pid, json_span(json_object_get(message, "text")));
	pthread_mutex_lock(&consoles->lock);
	if (topic == BUS_COMMAND)
		consoles_take(consoles, pid, message);
	for (size_t i = 0; i < consoles->count && topic == BUS_TOOL_OUTPUT; i++)
		own = own || (consoles->at[i]->call &&
		              span_eq(span_str(consoles->at[i]->call), call));
	post = post && !consoles->is_posted;
	consoles->is_posted = consoles->is_posted || post;
	pthread_mutex_unlock(&consoles->lock);
	if (post)
		loop_post(consoles->app->loop, &consoles->posted);
	return own;
}

/* ---- orders: the main thread's ----------------------------------------------- */

static void consoles_publish(struct consoles *consoles, enum bus_topic topic,
                             const json_t *message)
{
	struct bus *bus;

	pthread_mutex_lock(&consoles->orders);
	pthread_mutex_lock(&consoles->lock);
	bus = consoles->bus;
	pthread_mutex_unlock(&consoles->lock);
	if (bus)
		bus_publish(bus, topic, message);
	pthread_mutex_unlock(&consoles->orders);
}

static void consoles_type(struct consoles *consoles, unsigned pid, struct span text)
{
	json_auto_t *message = json_pack("{s:i, s:o}", "pid", (int)pid, "text", json_text(text));

	if (text.len)
		consoles_publish(consoles, BUS_COMMAND_INPUT, message);
}

/* Of commands to come (pid 0), or of one. */
static json_t *consoles_size(const struct consoles *consoles, unsigned pid)
{
	json_t *message = json_pack("{s:i, s:i}", "rows", (int)consoles->rows, "columns",
	                            (int)consoles->columns);

	if (pid)
		json_object_set_new(message, "pid", json_integer(pid));
	return message;
}

static void consoles_measure(struct consoles *consoles)
{
	const struct term_size size = term_size(consoles->app->term);

	consoles->rows = size.rows > CONSOLE_FRAME + 4 ? size.rows - CONSOLE_FRAME : 4;
	consoles->columns = size.columns > CONSOLE_INDENT + 20 ? size.columns - CONSOLE_INDENT : 20;
	if (consoles->rows > EMULATOR_ROWS_MAX)
		consoles->rows = EMULATOR_ROWS_MAX;
	if (consoles->columns > EMULATOR_COLUMNS_MAX)
		consoles->columns = EMULATOR_COLUMNS_MAX;
}

void consoles_resized(struct consoles *consoles)
{
	json_t *orders = json_array(), *message;
	size_t i;

	pthread_mutex_lock(&consoles->lock);
	consoles_measure(consoles);
	json_array_append_new(orders, consoles_size(consoles, 0));
	for (i = 0; i < consoles->count; i++) {
		emulator_resize(consoles->at[i]->emulator, consoles->rows, consoles->columns);
		json_array_append_new(orders, consoles_size(consoles, consoles->at[i]->pid));
	}
	pthread_mutex_unlock(&consoles->lock);
	if (!consoles->app->out.plain && emulator_available())
		json_array_foreach(orders, i, message)
			consoles_publish(consoles, BUS_COMMAND_RESIZE, message);
	json_decref(orders);
}

void consoles_bus(struct consoles *consoles, struct bus *bus)
{
	json_auto_t *message = NULL;

	pthread_mutex_lock(&consoles->orders);
	pthread_mutex_lock(&consoles->lock);
	consoles->bus = bus;
	while (!bus && consoles->count)
		console_free(consoles->at[--consoles->count]);
	consoles->focus = bus ? consoles->focus : 0;
	message = consoles_size(consoles, 0);
	pthread_mutex_unlock(&consoles->lock);
	if (bus && !consoles->app->out.plain && emulator_available())
		bus_publish(bus, BUS_COMMAND_RESIZE, message);
	pthread_mutex_unlock(&consoles->orders);
}

struct consoles *consoles_new(struct app *app)
{
	struct consoles *consoles = mem_alloc(1, sizeof(*consoles));

	consoles->app = app;
	consoles->posted.run = consoles_changed;
	pthread_mutex_init(&consoles->orders, NULL);
	pthread_mutex_init(&consoles->lock, NULL);
	consoles_measure(consoles);
	return consoles;
}

void consoles_free(struct consoles *consoles)
{
	if (!consoles)
		return;
	while (consoles->count)
		console_free(consoles->at[--consoles->count]);
	pthread_mutex_destroy(&consoles->orders);
	pthread_mutex_destroy(&consoles->lock);
	free(consoles);
}

/* ---- keys -------------------------------------------------------------------- */

/* The one after the last that had the keyboard. With the lock. */
static unsigned consoles_next(const struct consoles *consoles)
{
	for (size_t i = 0; i < consoles->count; i++)
		if (consoles->at[i]->pid == consoles->last)
			return consoles->at[(i + 1) % consoles->count]->pid;
	return consoles->count ? consoles->at[0]->pid : 0;
}

static bool consoles_focus(struct consoles *consoles)
{
	unsigned pid;

	pthread_mutex_lock(&consoles->lock);
	pid = consoles->focus = consoles_next(consoles);
	if (pid)
		consoles->last = pid;
	pthread_mutex_unlock(&consoles->lock);
	return pid;
}

/* The command that is waited for last goes to the background. */
static bool consoles_send_away(struct consoles *consoles)
{
	json_auto_t *message = NULL;
	struct console *console = NULL;

	pthread_mutex_lock(&consoles->lock);
	for (size_t i = consoles->count; i-- > 0 && !console;)
		if (consoles->at[i]->call)
			console = consoles->at[i];
	if (console) {
		message = json_pack("{s:i}", "pid", (int)console->pid);
		free(console->call);
		console->call = NULL;
	}
	pthread_mutex_unlock(&consoles->lock);
	if (message)
		consoles_publish(consoles, BUS_COMMAND_BACKGROUND, message);
	return message;
}

unsigned consoles_focused(struct consoles *consoles)
{
	unsigned pid;

	pthread_mutex_lock(&consoles->lock);
	pid = consoles->focus;
	pthread_mutex_unlock(&consoles->lock);
	return pid;
}

static void consoles_leave(struct consoles *consoles)
{
	pthread_mutex_lock(&consoles->lock);
	consoles->focus = 0;
	pthread_mutex_unlock(&consoles->lock);
}

/* Encodes with the lock, and publishes without. */
static void consoles_encode(struct consoles *consoles, const struct key *key, struct span paste)
{
	_cleanup_buf_ struct buf out = BUF_INIT((size_t)4 << 20);
	struct console *console;
	unsigned pid;

	pthread_mutex_lock(&consoles->lock);
	pid = consoles->focus;
	console = console_find(consoles, pid);
	if (console && key)
		emulator_key(console->emulator, key, &out);
	else if (console)
		emulator_paste(console->emulator, paste, &out);
	pthread_mutex_unlock(&consoles->lock);
	consoles_type(consoles, pid, buf_view(&out));
}

bool consoles_key(struct consoles *consoles, const struct key *key)
{
	struct app *app = consoles->app;

	if (consoles_focused(consoles)) {
		app->keys.typed_ms = clock_monotonic_ms();
		if (bindings_has(app->bindings, BIND_APP_UNFOCUS_SHELL_INPUT, key))
			consoles_leave(consoles);
		else
			consoles_encode(consoles, key, SPAN(""));
		return true;
	}
	if (bindings_has(app->bindings, BIND_APP_FOCUS_SHELL_INPUT, key) &&
	    editor_is_empty(app->editor))
		return consoles_focus(consoles);
	return bindings_has(app->bindings, BIND_BACKGROUND_TOGGLE, key) &&
	       consoles_send_away(consoles);
}

bool consoles_paste(struct consoles *consoles, struct span text)
{
	if (!consoles_focused(consoles))
		return false;
	consoles->app->keys.typed_ms = clock_monotonic_ms();
	consoles_encode(consoles, NULL, text);
	return true;
}

/* ---- rows -------------------------------------------------------------------- */

static void put_hint(const struct consoles *consoles, const struct console *console,
                     unsigned width, struct rows *rows)
{
	const struct bindings *bindings = consoles->app->bindings;
	const bool focused = consoles->focus == console->pid;
	struct row *row = rows_add(rows);

	row_pad(row, CONSOLE_INDENT, STYLE(ROLE_DIM));
	if (focused && consoles->app->questions.ask)
		row_printf(row, STYLE_BOLD(ROLE_WARNING), "The question above has the keyboard.");
	else if (!focused && !console->call)
		row_printf(row, STYLE(ROLE_DIM), "%s types into it",
		           bindings_chord(bindings, BIND_APP_FOCUS_SHELL_INPUT));
	else if (focused)
		row_printf(row, STYLE_BOLD(ROLE_WARNING), "Keys go to this command; %s leaves it.",
		           bindings_chord(bindings, BIND_APP_UNFOCUS_SHELL_INPUT));
	else
		row_printf(row, STYLE(ROLE_DIM), "%s types into it, %s moves it to the background",
		           bindings_chord(bindings, BIND_APP_FOCUS_SHELL_INPUT),
		           bindings_chord(bindings, BIND_BACKGROUND_TOGGLE));
	if (console->secret)
		row_text(row, SPAN(" It asks for a secret: your input is not shown."),
		         STYLE_BOLD(ROLE_WARNING));
	row_clip(row, width);
}

static void put_console(const struct consoles *consoles, const struct console *console,
                        unsigned width, struct rows *rows)
{
	const bool focused = consoles->focus == console->pid;
	const bool large = focused || (emulator_is_full_screen(console->emulator) &&
	                               consoles->count == 1 && !consoles->focus);
	const struct emulator_view view = {
		.rows = large ? consoles->rows : TAIL_ROWS,
		.cursor = focused, .indent = CONSOLE_INDENT,
		.colours = settings_bool(consoles->app->settings, "tools.shell.showColor", true),
	};
	size_t from;

	put_hint(consoles, console, width, rows);
	from = rows->count;
	emulator_rows(console->emulator, &view, rows);
	for (; from < rows->count; from++)
		row_clip(&rows->at[from], width);
}

bool consoles_rows(struct consoles *consoles, struct span call, unsigned width, struct rows *rows)
{
	struct console *console = NULL;

	pthread_mutex_lock(&consoles->lock);
	for (size_t i = 0; i < consoles->count && !console; i++)
		if (consoles->at[i]->call && span_eq(span_str(consoles->at[i]->call), call))
			console = consoles->at[i];
	if (console)
		put_console(consoles, console, width, rows);
	pthread_mutex_unlock(&consoles->lock);
	return console;
}

void consoles_away_rows(struct consoles *consoles, unsigned width, struct rows *rows)
{
	size_t shown = 0;

	pthread_mutex_lock(&consoles->lock);
	for (size_t i = 0; i < consoles->count; i++) {
		const struct console *console = consoles->at[i];
		struct row *row;

		if (console->call)
			continue;
		if (++shown > CONSOLE_AWAY_SHOWN && consoles->focus != console->pid)
			continue;
		row = rows_add(rows);
		row_printf(row, STYLE(ROLE_DIM), "  in the background, %u: ", console->pid);
		row_text(row, span_str(console->command), STYLE(ROLE_TEXT));
		row_clip(row, width);
		if (consoles->focus == console->pid || console->secret)
			put_console(consoles, console, width, rows);
	}
	if (shown > CONSOLE_AWAY_SHOWN)
		row_printf(rows_add(rows), STYLE(ROLE_DIM), "  and more; /tasks lists them");
	pthread_mutex_unlock(&consoles->lock);
}

/* The call has returned: what goes on is in the background. */
void consoles_returned(struct consoles *consoles, struct span call)
{
	pthread_mutex_lock(&consoles->lock);
	for (size_t i = 0; i < consoles->count; i++)
		if (consoles->at[i]->call && span_eq(span_str(consoles->at[i]->call), call)) {
			free(consoles->at[i]->call);
			consoles->at[i]->call = NULL;
		}
	pthread_mutex_unlock(&consoles->lock);
}
