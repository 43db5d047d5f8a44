/* SPDX-License-Identifier: Apache-2.0 */
#include "tui/term/term.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/term/private.h"

enum {
	FRAME_BYTES_MAX = 4 << 20,
	CLOSE_DRAIN_MS = 300,  /* for a terminal that takes nothing */
	CLOSE_ANSWER_MS = 200, /* for answers that a shell would take for typed text */
	TITLE_BYTES_MAX = 200,
	NOTICE_BYTES_MAX = 400,
};

struct term {
	struct term_options options;
	struct loop_stream *stream; /* NULL: left */
	struct keys *keys;
	struct loop_timer *escape, *quiet;
	struct term_size size;
	struct theme theme;
	bool theme_named;
	enum theme_colours colours;
	bool colours_fixed; /* NO_COLOR, or a plain terminal */
	bool plain, links, reflows, strays, sync, kitty, other_keys, titled, clipboard;
	bool alternate;     /* its alternate screen is shown */
	bool pushed[2];     /* the Kitty protocol is on: on the main screen, on the other one */
	enum term_mouse mouse;
	const struct terminal_kind *kind;
	bool querying;        /* DA1, the last answer, is to come */
	bool waiting;       /* bytes wait in the stream */
	bool cursor_shown;  /* as the next frame leaves it */
	bool cursor_hidden; /* as the terminal has it */
	struct buf frame;
	void (*resize_starts)(void *data);
	void *resize_data;
};

/* ---- as it was found ---- */

/* Everything about the mouse as it was found. */
static void put_mouse_off(const struct term *term, struct buf *out)
{
	if (term->mouse == TERM_MOUSE_OURS)
		buf_str(out, "\033[?1006l\033[?1000l");
	if (term->mouse != TERM_MOUSE_FOUND)
		buf_str(out, "\033[?1007r");
}

/* Undoes everything that was switched on. */
static void put_restoring(const struct term *term, struct buf *out)
{
	if (term->plain)
		return;
	buf_str(out, "\033[0m\033[?7h");
	if (term->sync)
		buf_str(out, "\033[?2026l");
	put_mouse_off(term, out);
	if (term->alternate)
		buf_str(out, term->pushed[1] ? "\033[r\033[<u\033[?1049l" :
		                               "\033[r\033[?1049l");
	if (term->pushed[0])
		buf_str(out, "\033[<u");
	if (term->other_keys)
		buf_str(out, "\033[>4m");
	buf_str(out, "\033[?2004l\033[?1004l");
	if (term->titled)
		buf_str(out, "\033[23;0t");
	buf_str(out, "\033[?25h");
}

static void arm_restoring(const struct term *term)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(RESTORE_BYTES_MAX);

	put_restoring(term, &bytes);
	restore_bytes(buf_view(&bytes));
}

/* ---- writing ---- */

static void term_writev(struct term *term, const struct span *parts, size_t count)
{
	if (term->stream)
		term->waiting = loop_stream_writev(term->stream, parts, count) > 0;
}

static void term_write(struct term *term, struct span bytes)
{
	term_writev(term, &bytes, 1);
}

static void read_size(struct term *term)
{
	struct winsize size;

	term->size = (struct term_size){ 80, 24 };
	if (ioctl(term->options.out, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row)
		term->size = (struct term_size){ size.ws_col, size.ws_row };
}

/* ---- resizing ---- */

static void resize_is_over(void *data)
{
	struct term *term = data;

	loop_timer_stop(term->quiet);
	term->quiet = NULL;
	read_size(term);
	term->options.resized(term->options.data);
}

static void resize_seen(struct term *term)
{
	if (!term->quiet && term->resize_starts)
		term->resize_starts(term->resize_data);
	loop_timer_stop(term->quiet);
	term->quiet = loop_timer_start(term->options.loop, TERM_QUIET_MS, 0, resize_is_over, term);
}

void term_on_resize(struct term *term, void (*starts)(void *data), void *data)
{
	term->resize_starts = starts;
	term->resize_data = data;
}

bool term_busy(struct term *term)
{
	struct winsize size;

	if (!term->stream || term->waiting || term->quiet)
		return true;
	/* Its signal is under way. */
	if (ioctl(term->options.out, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row &&
	    (size.ws_col != term->size.columns || size.ws_row != term->size.rows))
		resize_seen(term);
	return term->quiet != NULL;
}

/* ---- what it is ---- */

static void restyle(struct term *term)
{
	if (term->options.restyled)
		term->options.restyled(term->options.data);
}

static void take_kind(struct term *term, const struct terminal_kind *kind)
{
	if (!kind || (term->kind && term->kind->by == KIND_BY_VERSION))
		return; /* its own word counts most */
	term->kind = kind;
	term->reflows = kind->facts & KIND_REFLOWS;
	term->strays = kind->facts & KIND_STRAYS;
	if (kind->facts & KIND_TRUE_COLOUR && !term->colours_fixed &&
	    term->colours != TERM_COLOURS_TRUE) {
		term->colours = TERM_COLOURS_TRUE;
		restyle(term);
	}
}

static enum theme_colours colours_by_name(const char *name)
{
	const char *said = getenv("COLORTERM");

	if ((said && (strstr(said, "truecolor") || strstr(said, "24bit"))) ||
	    strstr(name, "-direct"))
		return TERM_COLOURS_TRUE;
	if (strstr(name, "256"))
		return TERM_COLOURS_256;
	return strncmp(name, "vt", 2) == 0 || strstr(name, "-m") ? TERM_COLOURS_NONE :
	                                                             TERM_COLOURS_16;
}

/* rxvt and its kin say "15;0": the background's number comes last. */
static bool light_by_name(void)
{
	const char *said = getenv("COLORFGBG");
	const char *last = said ? strrchr(said, ';') : NULL;

	return last && (strcmp(last, ";7") == 0 || strcmp(last, ";15") == 0);
}

void term_guess(struct term_guess *ret)
{
	const char *name = getenv("TERM"), *none = getenv("NO_COLOR");

	*ret = (struct term_guess){
		.plain = !name || !*name || strcmp(name, "dumb") == 0 ||
		         strcmp(name, "unknown") == 0,
		.light = light_by_name(),
	};
	ret->colours_off = ret->plain || (none && *none);
	if (!ret->colours_off)
		ret->colours = colours_by_name(name);
}

static void read_environment(struct term *term)
{
	const char *name = getenv("TERM");
	struct span known = span_str(name ? name : "");
	struct term_guess guess;

	term_guess(&guess);
	term->plain = guess.plain;
	term->reflows = !term->plain;
	term->colours_fixed = guess.colours_off;
	term->colours = guess.colours;
	if (span_starts(known, SPAN("screen")) && getenv("TMUX"))
		known = SPAN("tmux");
	take_kind(term, kind_find(KIND_BY_TERM, known));
	term->links = !term->plain && !(term->kind && term->kind->facts & KIND_MUTE);
}

/* Asked in one write; DA1, which all answer, last: then no more answers come. */
static void ask_what_it_is(struct term *term)
{
	if (term->plain || !term->links)
		return;
	term_write(term, SPAN("\033[?2026$p\033[?5522$p"
	                      "\033[>q\033[?u\033]11;?\033\\\033[>c\033[c"));
	term->querying = true;
}

/* Asks for distinct codes for ambiguous keys, and for the keys of a US layout in addition to the
 * user's. Each of the two screens has its own stack of such modes. */
static void push_kitty(struct term *term)
{
	term_write(term, SPAN("\033[>5u"));
	term->pushed[term->alternate] = true;
}

static void switch_on(struct term *term)
{
	if (term->plain)
		return;
	term_write(term, SPAN("\033[?2004h"));
	if (term->links)
		term_write(term, SPAN("\033[?1004h"));
	if (term->kitty)
		push_kitty(term);
	if (term->other_keys)
		term_write(term, SPAN("\033[>4;1m"));
	arm_restoring(term);
}

static void take_kitty(struct term *term)
{
	if (term->kitty)
		return;
	term->kitty = true;
	push_kitty(term);
	arm_restoring(term);
}

/* All has been answered: what the Kitty protocol does not give, xterm's may. */
static void finish_queries(struct term *term)
{
	term->querying = false;
	if (!term->kitty && term->kind && term->kind->facts & KIND_OTHER_KEYS) {
		term->other_keys = true;
		term_write(term, SPAN("\033[>4;1m"));
		arm_restoring(term);
	}
}

/* An answer to DECRQM: CSI ? mode ; value $ y, with 0 for an unknown mode and 4 for one that is
 * off for good. */
static bool mode_answered(struct span text, struct span mode, bool *ret_known)
{
	struct span rest = span_skip(text, 3);

	if (!span_starts(text, SPAN("\033[?")) || !span_starts(rest, mode))
		return false;
	rest = span_skip(rest, mode.len);
	*ret_known = rest.len == 4 && rest.data[1] >= '1' && rest.data[1] <= '3';
	return rest.len == 4 && rest.data[0] == ';' && span_ends(rest, SPAN("$y"));
}

/* Takes an answer to what was asked at the start; false: it is not one. */
static bool take_terminal_answer(struct term *term, struct span text)
{
	bool known;

	if (span_starts(text, SPAN("\033P>|"))) {
		take_kind(term, kind_find(KIND_BY_VERSION, span_skip(text, 4)));
	} else if (mode_answered(text, SPAN("2026"), &known)) {
		term->sync = known;
		arm_restoring(term);
	} else if (mode_answered(text, SPAN("5522"), &known)) {
		term->clipboard = known;
	} else if (span_starts(text, SPAN("\033[?")) && span_ends(text, SPAN("u"))) {
		take_kitty(term);
	} else if (span_starts(text, SPAN("\033[>")) && span_ends(text, SPAN("c"))) {
		take_kind(term, kind_find(KIND_BY_DA2, span_skip(text, 3)));
	} else if (span_starts(text, SPAN("\033[?")) && span_ends(text, SPAN("c"))) {
		finish_queries(term);
	} else {
		return false;
	}
	return true;
}

static void key_event(void *data, const struct event *event)
{
	struct term *term = data;

	if (event->kind == EVENT_REPLY && take_terminal_answer(term, event->text))
		return;
	if (event->kind == EVENT_BACKGROUND && !term->theme_named &&
	    theme_is_light(event->rgb) != term->theme.light) {
		theme_default(!term->theme.light, &term->theme);
		restyle(term);
	}
	term->options.event(term->options.data, event);
}

/* ---- the loop ---- */

static void escape_is_alone(void *data)
{
	struct term *term = data;

	loop_timer_stop(term->escape);
	term->escape = NULL;
	keys_flush(term->keys);
}

static void bytes_arrived(void *data, struct span bytes)
{
	struct term *term = data;

	loop_timer_stop(term->escape);
	term->escape = NULL;
	keys_feed(term->keys, bytes);
	if (keys_pending(term->keys))
		term->escape = loop_timer_start(term->options.loop, KEYS_ESCAPE_MS, 0,
		                                escape_is_alone, term);
}

static void terminal_ended(void *data, int sys_errno)
{
	struct term *term = data;

	(void)sys_errno;
	if (term->options.ended)
		term->options.ended(term->options.data);
}

static void terminal_took_all(void *data)
{
	struct term *term = data;

	term->waiting = false;
	if (!term_busy(term))
		term->options.writable(term->options.data);
}

static void signal_seen(void *data, int signal_number)
{
	struct term *term = data;
	struct err ignored = ERR_INIT;

	if (signal_number == SIGTSTP && term->options.suspended) {
		term->options.suspended(term->options.data);
	} else if (signal_number == SIGCONT && term->stream) {
		/* We were stopped, and a shell had the terminal since. */
		restore_set_raw(&ignored);
		switch_on(term);
		if (term->alternate)
			term_write(term, SPAN("\033[?1049h"));
		if (term->mouse == TERM_MOUSE_OURS)
			term_write(term, SPAN("\033[?1000h\033[?1006h"));
		resize_seen(term);
	} else if (signal_number == SIGWINCH && term->stream) {
		resize_seen(term);
	}
}

static bool open_term_stream(struct term *term, struct err *err)
{
	const struct loop_stream_events events = {
		.data = bytes_arrived,
		.end = terminal_ended,
		.broken = terminal_ended,
		.written = terminal_took_all,
	};

	term->waiting = false;
	return loop_stream_open(term->options.loop, term->options.in, term->options.out, &events,
	                        term, &term->stream, err);
}

static bool watch_signals(struct term *term, struct err *err)
{
	static const int numbers[] = { SIGWINCH, SIGCONT, SIGTSTP };

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (!loop_on_signal(term->options.loop, numbers[i], signal_seen, term, err))
			return false;
	return true;
}

/* ---- life ---- */

static void term_free(struct term *term)
{
	loop_off_signal(term->options.loop, term);
	loop_timer_stop(term->escape);
	loop_timer_stop(term->quiet);
	keys_free(term->keys);
	buf_release(&term->frame);
	free(term);
}

bool term_open(const struct term_options *options, struct term **ret, struct err *err)
{
	struct term *term;

	if (restore_is_armed())
		return err_set(err, ERR_IO_ERROR, "A terminal is open already");
	if (!isatty(options->in) || !isatty(options->out))
		return err_set(err, ERR_IO_ERROR, "Standard input or output is no terminal");
	if (!restore_save(options->in, err))
		return false;
	term = mem_alloc(1, sizeof(*term));
	term->options = *options;
	term->frame.max = FRAME_BYTES_MAX;
	term->cursor_shown = true;
	term->keys = keys_new(key_event, term);
	theme_default(false, &term->theme);
	term->theme_named = options->theme && theme_find(options->theme, &term->theme);
	read_environment(term);
	read_size(term);
	restore_open(options->out);
	if (!watch_signals(term, err) || !open_term_stream(term, err)) {
		term_free(term);
		restore_close();
		return false;
	}
	restore_arm();
	if (!restore_set_raw(err)) {
		term_close(term);
		return false;
	}
	/* Switch off what a killed program may have left on. */
	if (term->links)
		term_write(term, SPAN("\033[?1047l\033[?1006l\033[?1000l"));
	ask_what_it_is(term);
	switch_on(term);
	*ret = term;
	return true;
}

static void drop_event(void *data, const struct event *event)
{
	struct term *term = data;

	if (event->kind == EVENT_REPLY && span_starts(event->text, SPAN("\033[?")) &&
	    span_ends(event->text, SPAN("c")))
		term->querying = false;
}

/* Answers that come after the end would be typed into a shell. */
static void await_answers(struct term *term)
{
	struct keys *keys = keys_new(drop_event, term);
	uint64_t end = clock_monotonic_ms() + CLOSE_ANSWER_MS, now;
	struct pollfd ready = { .fd = term->options.in, .events = POLLIN };
	char bytes[256];

	for (now = clock_monotonic_ms(); term->querying && now < end; now = clock_monotonic_ms()) {
		ssize_t n;

		if (poll(&ready, 1, (int)(end - now)) <= 0)
			break;
		n = read(term->options.in, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		keys_feed(keys, span_of(bytes, (size_t)n));
	}
	keys_free(keys);
}

/* Everything off, all bytes out, modes as they were. */
static void give_back(struct term *term)
{
	_cleanup_buf_ struct buf bytes = BUF_INIT(RESTORE_BYTES_MAX);

	put_restoring(term, &bytes);
	term_write(term, buf_view(&bytes));
	loop_stream_close(mem_steal(&term->stream), CLOSE_DRAIN_MS);
	if (term->querying)
		await_answers(term);
	restore_modes();
	term->titled = term->cursor_hidden = term->alternate = false;
	term->pushed[0] = term->pushed[1] = false;
	term->mouse = TERM_MOUSE_FOUND;
}

void term_close(struct term *term)
{
	if (!term)
		return;
	if (term->stream)
		give_back(term);
	term_free(term);
	restore_close();
}

void term_leave(struct term *term)
{
	if (!term->stream)
		return;
	give_back(term);
	restore_disarm();
	loop_hold(term->options.loop);
}

void term_return(struct term *term)
{
	struct err err = ERR_INIT;

	if (term->stream)
		return;
	loop_unhold(term->options.loop);
	/* Another program may have changed its modes for good (stty). */
	restore_save(term->options.in, &err);
	restore_arm();
	if (!open_term_stream(term, &err) || !restore_set_raw(&err)) {
		terminal_ended(term, 0);
		return;
	}
	switch_on(term);
	read_size(term);
}

void term_stop(void)
{
	struct sigaction normal = { .sa_handler = SIG_DFL }, saved;
	const struct timespec stopped = { .tv_nsec = 10 * 1000 * 1000 };

	sigaction(SIGTSTP, &normal, &saved);
	kill(0, SIGTSTP);
	nanosleep(&stopped, NULL); /* the kernel may stop another thread first */
	sigaction(SIGTSTP, &saved, NULL);
}

/* ---- facts ---- */

const struct term_options *term_opened_with(const struct term *term)
{
	return &term->options;
}

struct loop *term_loop(const struct term *term)
{
	return term->options.loop;
}

struct term_size term_size(const struct term *term)
{
	return term->size;
}

bool term_plain(const struct term *term)
{
	return term->plain;
}

void term_set_theme(struct term *term, const struct theme *theme)
{
	term->theme = *theme;
	term->theme_named = true;
	restyle(term);
}

bool term_reflows(const struct term *term)
{
	return term->reflows;
}

bool term_strays(const struct term *term)
{
	return term->strays;
}

bool term_clipboard(const struct term *term)
{
	return term->clipboard;
}

/* ---- frames ---- */

struct buf *term_frame(struct term *term)
{
	buf_clear(&term->frame);
	return &term->frame;
}

void term_show_cursor(struct term *term, bool shown)
{
	term->cursor_shown = shown;
}

void term_frame_end(struct term *term)
{
	struct span begin = span_of("", 0), end = span_of("", 0), cursor = span_of("", 0);

	if (!term->frame.len && term->cursor_shown == !term->cursor_hidden)
		return;
	if (term->plain) {
		term_write(term, buf_view(&term->frame));
		return;
	}
	if (term->cursor_shown != !term->cursor_hidden)
		cursor = term->cursor_shown ? SPAN("\033[?25h") : SPAN("\033[?25l");
	if (term->sync) {
		begin = SPAN("\033[?2026h");
		end = SPAN("\033[?2026l");
	} else if (!term->cursor_hidden) { /* it would be seen running about */
		begin = SPAN("\033[?25l");
		cursor = term->cursor_shown ? SPAN("\033[?25h") : span_of("", 0);
	}
	term->cursor_hidden = !term->cursor_shown;
	term_writev(term, (const struct span[]){ begin, buf_view(&term->frame), cursor, end }, 4);
}

void term_alternate_begin(struct term *term)
{
	if (term->plain || !term->stream || term->alternate)
		return;
	term->alternate = true;
	term_write(term, SPAN("\033[?1049h"));
	if (term->kitty)
		push_kitty(term);
	arm_restoring(term);
}

void term_alternate_end(struct term *term)
{
	if (term->plain || !term->stream || !term->alternate)
		return;
	if (term->pushed[1])
		term_write(term, SPAN("\033[<u"));
	term_write(term, SPAN("\033[?1049l"));
	term->alternate = term->pushed[1] = false;
	if (term->kitty && !term->pushed[0])
		push_kitty(term);
	arm_restoring(term);
}

void term_set_mouse(struct term *term, enum term_mouse mouse)
{
	_cleanup_buf_ struct buf out = BUF_INIT(RESTORE_BYTES_MAX);

	if (term->plain || !term->stream || term->mouse == mouse)
		return;
	if (mouse == TERM_MOUSE_FOUND)
		put_mouse_off(term, &out);
	else if (term->mouse == TERM_MOUSE_FOUND)
		buf_str(&out, "\033[?1007s\033[?1007l");
	if (mouse == TERM_MOUSE_OURS)
		buf_str(&out, "\033[?1000h\033[?1006h");
	else if (mouse == TERM_MOUSE_THEIRS && term->mouse == TERM_MOUSE_OURS)
		buf_str(&out, "\033[?1006l\033[?1000l");
	term->mouse = mouse;
	term_write(term, buf_view(&out));
	arm_restoring(term);
}

enum term_mouse term_mouse(const struct term *term)
{
	return term->mouse;
}

void term_put_row(const struct term *term, struct buf *out, const struct row *row)
{
	if (term->plain)
		row_plain(row, out);
	else
		theme_row(out, &term->theme, term->colours, term->links, row);
}

void term_put_finished(const struct term *term, struct buf *out, const struct row *row)
{
	if (row->prompt & ROW_PROMPT_START && term->links)
		buf_str(out, "\033]133;A\033\\");
	term_put_row(term, out, row);
	if (row->prompt & ROW_PROMPT_ENDS && term->links)
		buf_str(out, "\033]133;C\033\\");
}

/* ---- outside of frames ---- */

/* A stranger's text for an OSC: one line of safe characters. */
static void put_one_line(struct buf *out, struct span text, size_t max)
{
	struct row row = { 0 };
	struct span line = utf8_head(text, max);

	row_text(&row, line, STYLE(ROLE_TEXT));
	row_plain(&row, out);
	row_release(&row);
}

void term_title(struct term *term, struct span title)
{
	_cleanup_buf_ struct buf out = BUF_INIT(FRAME_BYTES_MAX);

	if (term->plain || !term->links || term->waiting)
		return;
	if (!term->titled)
		buf_str(&out, "\033[22;0t");
	buf_str(&out, "\033]0;");
	put_one_line(&out, title, TITLE_BYTES_MAX);
	buf_str(&out, "\033\\");
	term_write(term, buf_view(&out));
	term->titled = true;
	arm_restoring(term);
}

void term_progress(struct term *term, int percent)
{
	char out[32];

	if (term->plain || !term->links || term->waiting)
		return;
	if (percent == -2)
		snprintf(out, sizeof(out), "\033]9;4;3\033\\");
	else if (percent < 0)
		snprintf(out, sizeof(out), "\033]9;4;0\033\\");
	else
		snprintf(out, sizeof(out), "\033]9;4;1;%d\033\\", percent < 100 ? percent : 100);
	term_write(term, span_str(out));
}

void term_notify(struct term *term, const char *how, struct span text)
{
	_cleanup_buf_ struct buf out = BUF_INIT(FRAME_BYTES_MAX);

	if (term->waiting)
		return;
	if (term->plain || !term->links || strcasecmp(how, "bell") == 0) {
		term_write(term, SPAN("\a"));
		return;
	}
	buf_str(&out, strcasecmp(how, "osc777") == 0 ? "\033]777;notify;hasp;" : "\033]9;");
	put_one_line(&out, text, NOTICE_BYTES_MAX);
	buf_str(&out, "\033\\");
	term_write(term, buf_view(&out));
}

void term_ask_place(struct term *term)
{
	if (term->plain)
		return;
	keys_expect_cursor(term->keys);
	keys_expect_cursor(term->keys);
	/* In one piece: a resize before it is put back would move it. */
	term_write(term, SPAN("\033[6n\0337\033[999;999H\033[6n\0338"));
}
