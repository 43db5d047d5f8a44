/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program in a terminal that is libvterm, and is driven by lines of JSON: one request on
 * standard input, one answer on standard output.  terminal.py is its face.
 *
 *     {"do": "start", "argv": [...], "columns": 80, "rows": 24, "env": {"TERM": "xterm"},
 *      "version": "XTerm(379)", "kitty": false, "sync": false, "background": "rgb:0000/0000/0000",
 *      "margin": 40}        the terminal is so many columns wider than the program is told
 *     {"do": "type", "text": "..."}                     bytes as they are, UTF-8
 *     {"do": "resize", "columns": 40, "rows": 10}
 *     {"do": "wait", "text": "...", "ms": 5000}         until the window or scrollback has it: "ok"
 *                         "window": true: only the window; an empty text: until it has anything
 *     {"do": "quiet", "for": 100, "ms": 5000}           until nothing was written for that long:
 * "ok"
 *     {"do": "end", "ms": 5000}                         until the program has ended: "ok", "status"
 *     {"do": "dump"}      window, scrollback (both as text), cursor, visible, title, alternate,
 *                         written (bytes), alive, status, beyond (rows with text in the margin)
 *     {"do": "cells"}     of each row of the window: runs of [text, attributes]
 *     {"do": "raw"}       the bytes since the last such request, each as a character of Latin 1
 *     {"do": "pause", "on": true}                       a slow terminal: it does not read
 *     {"do": "signal", "number": 15}
 *
 * Lines that a smaller window pushes out are the scrollback, and a larger one takes them back, as
 * xterm does.  What is wider than the window is cut off: this version of libvterm does not
 * reflow. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vterm.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum { SCROLLBACK_MAX = 1 << 20, RAW_MAX = 256 << 20, LINE_MAX = 64 << 20 };

struct line {
	int columns;
	VTermScreenCell *cells;
};

struct run_state {
	VTerm *vt;
	VTermScreen *screen;
	int fd, status;
	pid_t pid;
	bool paused, visible, alternate, kitty, sync;
	int margin;
	char *version, *background;
	struct line *lines;
	size_t count, cap;
	struct buf raw, title, input, held;
	unsigned long long written;
	uint64_t last_ms;
};

/* ---- the emulator ---- */

static int push_line(int columns, const VTermScreenCell *cells, void *user)
{
	struct run_state *run = user;
	struct line *line;

	if (run->count == SCROLLBACK_MAX)
		return 0;
	if (run->count == run->cap)
		run->lines = mem_grow(run->lines, &run->cap, run->count + 1, sizeof(*run->lines));
	line = &run->lines[run->count++];
	line->columns = columns;
	line->cells = mem_alloc((size_t)columns, sizeof(*cells));
	memcpy(line->cells, cells, (size_t)columns * sizeof(*cells));
	return 1;
}

static int pop_line(int columns, VTermScreenCell *cells, void *user)
{
	struct run_state *run = user;
	struct line *line;

	if (!run->count)
		return 0;
	line = &run->lines[--run->count];
	memset(cells, 0, (size_t)columns * sizeof(*cells));
	for (int i = 0; i < columns; i++) {
		if (i < line->columns)
			cells[i] = line->cells[i];
		else
			cells[i].width = 1;
	}
	/* Half of a wide one: libvterm would write its other half beside the row. */
	if (cells[columns - 1].width == 2)
		cells[columns - 1] = (VTermScreenCell){ .width = 1 };
	free(line->cells);
	return 1;
}

static int set_property(VTermProp property, VTermValue *value, void *user)
{
	struct run_state *run = user;

	if (property == VTERM_PROP_CURSORVISIBLE)
		run->visible = value->boolean;
	if (property == VTERM_PROP_ALTSCREEN)
		run->alternate = value->boolean;
	if (property == VTERM_PROP_TITLE) {
		buf_clear(&run->title);
		buf_str(&run->title, value->string);
	}
	return 1;
}

/* libvterm answers that it does not know mode 2026. */
static void answer(const char *bytes, size_t len, void *user)
{
	static const char UNKNOWN[] = "?2026;0$y";
	struct run_state *run = user;
	const char *at = run->sync ? memmem(bytes, len, UNKNOWN, sizeof(UNKNOWN) - 1) : NULL;

	if (at) {
		answer(bytes, (size_t)(at - bytes), user);
		answer("?2026;2$y", sizeof(UNKNOWN) - 1, user);
		len -= (size_t)(at - bytes) + sizeof(UNKNOWN) - 1;
		bytes = at + sizeof(UNKNOWN) - 1;
	}
	while (len) {
		ssize_t n = write(run->fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		bytes += n;
		len -= (size_t)n;
	}
}

static void answer_text(struct run_state *run, const char *text)
{
	answer(text, strlen(text), run);
}

static const VTermScreenCallbacks screen_callbacks = {
	.sb_pushline = push_line,
	.sb_popline = pop_line,
	.settermprop = set_property,
};

/* Questions that this libvterm does not know. */
static void answer_questions(struct run_state *run, struct span bytes)
{
	if (run->version && memmem(bytes.data, bytes.len, "\033[>q", 4)) {
		answer_text(run, "\033P>|");
		answer_text(run, run->version);
		answer_text(run, "\033\\");
	}
	if (run->kitty && memmem(bytes.data, bytes.len, "\033[?u", 4))
		answer_text(run, "\033[?0u");
	if (run->background && memmem(bytes.data, bytes.len, "\033]11;?", 6)) {
		answer_text(run, "\033]11;");
		answer_text(run, run->background);
		answer_text(run, "\033\\");
	}
}

/* Bytes at the end that begin a character whose rest is to come. */
static size_t open_bytes(struct span bytes)
{
	for (size_t back = 1; back <= 3 && back <= bytes.len; back++) {
		const unsigned char c = (unsigned char)bytes.data[bytes.len - back];

		if (c < 0x80)
			return 0;
		if (c >= 0xc0)
			return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? back : 0;
	}
	return 0;
}

/* This libvterm shows U+FFFD for a character that comes in two pieces. */
static void emulate(struct run_state *run, struct span bytes)
{
	size_t open;

	buf_span(&run->held, bytes);
	open = open_bytes(buf_view(&run->held));
	vterm_input_write(run->vt, run->held.data, run->held.len - open);
	vterm_screen_flush_damage(run->screen);
	memmove(run->held.data, run->held.data + run->held.len - open, open);
	run->held.len = open;
}

/* Reads once, if something is there within `ms`; false: the program's end of it is closed. */
static bool read_program(struct run_state *run, int ms)
{
	struct pollfd ready = { .fd = run->fd, .events = POLLIN };
	char bytes[4096];
	ssize_t n;

	if (run->fd < 0)
		return false;
	if (run->paused) {
		if (ms)
			usleep((useconds_t)ms * 1000);
		return true;
	}
	if (poll(&ready, 1, ms) <= 0)
		return true;
	n = read(run->fd, bytes, sizeof(bytes));
	if (n <= 0) {
		close(run->fd);
		run->fd = -1;
		return false;
	}
	buf_append(&run->raw, bytes, (size_t)n);
	run->written += (unsigned long long)n;
	run->last_ms = clock_monotonic_ms();
	answer_questions(run, span_of(bytes, (size_t)n));
	emulate(run, span_of(bytes, (size_t)n));
	return true;
}

/* ---- text ---- */

static void put_cells(struct buf *out, const VTermScreenCell *cells, int columns)
{
	size_t blanks = 0;

	for (int i = 0; i < columns; i++) {
		char bytes[4];

		if (cells[i].chars[0] == (uint32_t)-1)
			continue; /* beneath a wide one */
		if (!cells[i].chars[0] || cells[i].chars[0] == ' ') {
			blanks++;
			continue;
		}
		for (; blanks; blanks--)
			buf_char(out, ' ');
		for (int k = 0; k < VTERM_MAX_CHARS_PER_CELL && cells[i].chars[k]; k++)
			buf_append(out, bytes, utf8_put(cells[i].chars[k], bytes));
	}
}

static void read_row(const struct run_state *run, int row, VTermScreenCell *cells, int columns)
{
	for (int i = 0; i < columns; i++)
		vterm_screen_get_cell(run->screen, (VTermPos){ row, i }, &cells[i]);
}

static void append_line(json_t *list, const VTermScreenCell *cells, int columns)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LINE_MAX);

	put_cells(&text, cells, columns);
	json_array_append_new(list, json_stringn_nocheck(text.data ? text.data : "", text.len));
}

static json_t *window_text(const struct run_state *run)
{
	json_t *list = json_array();
	VTermScreenCell *cells;
	int rows, columns;

	vterm_get_size(run->vt, &rows, &columns);
	cells = mem_alloc((size_t)columns, sizeof(*cells));
	for (int i = 0; i < rows; i++) {
		read_row(run, i, cells, columns);
		append_line(list, cells, columns);
	}
	free(cells);
	return list;
}

static json_t *scrollback_text(const struct run_state *run)
{
	json_t *list = json_array();

	for (size_t i = 0; i < run->count; i++)
		append_line(list, run->lines[i].cells, run->lines[i].columns);
	return list;
}

static unsigned long colour_number(const struct run_state *run, VTermColor colour)
{
	vterm_screen_convert_color_to_rgb(run->screen, &colour);
	return (unsigned long)(colour.rgb.red << 16 | colour.rgb.green << 8 | colour.rgb.blue);
}

static void cell_style(const struct run_state *run, const VTermScreenCell *cell, char out[64])
{
	char text[16] = "", background[16] = "";
	size_t len;

	if (!VTERM_COLOR_IS_DEFAULT_FG(&cell->fg))
		snprintf(text, sizeof(text), "#%06lx ", colour_number(run, cell->fg));
	if (!VTERM_COLOR_IS_DEFAULT_BG(&cell->bg))
		snprintf(background, sizeof(background), "on #%06lx ",
		         colour_number(run, cell->bg));
	snprintf(out, 64, "%s%s%s%s%s%s%s", cell->attrs.bold ? "bold " : "",
	         cell->attrs.italic ? "italic " : "", cell->attrs.underline ? "underline " : "",
	         cell->attrs.reverse ? "reverse " : "", cell->attrs.strike ? "strike " : "", text,
	         background);
	len = strlen(out);
	if (len)
		out[len - 1] = '\0';
}

/* A row as pieces of one style each. */
static json_t *row_pieces(const struct run_state *run, int row, int columns)
{
	VTermScreenCell *cells = mem_alloc((size_t)columns, sizeof(*cells));
	json_t *list = json_array();

	read_row(run, row, cells, columns);
	for (int from = 0, to; from < columns; from = to) {
		_cleanup_buf_ struct buf text = BUF_INIT(LINE_MAX);
		char style[64], other[64];

		cell_style(run, &cells[from], style);
		for (to = from + 1; to < columns; to++) {
			cell_style(run, &cells[to], other);
			if (strcmp(style, other) != 0 && cells[to].chars[0] != (uint32_t)-1)
				break;
		}
		put_cells(&text, cells + from, to - from);
		json_array_append_new(list, json_pack("[ss]", text.data ? text.data : "", style));
	}
	free(cells);
	return list;
}

static json_t *window_cells(const struct run_state *run)
{
	json_t *list = json_array();
	int rows, columns;

	vterm_get_size(run->vt, &rows, &columns);
	for (int i = 0; i < rows; i++)
		json_array_append_new(list, row_pieces(run, i, columns));
	return list;
}

/* Bytes without what is cut at the end matter to tests: each is a character. */
static json_t *take_raw(struct run_state *run)
{
	_cleanup_buf_ struct buf text = BUF_INIT(RAW_MAX);
	json_t *string;

	for (size_t i = 0; i < run->raw.len; i++) {
		char bytes[4];

		buf_append(&text, bytes, utf8_put((unsigned char)run->raw.data[i], bytes));
	}
	string = json_stringn_nocheck(text.data ? text.data : "", text.len);
	buf_clear(&run->raw);
	return string;
}

static bool has_text(const struct run_state *run, const char *wanted, bool window_only)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LINE_MAX);
	json_t *lists[] = { window_only ? json_array() : scrollback_text(run), window_text(run) };

	for (size_t k = 0; k < ARRAY_LEN(lists); k++) {
		for (size_t i = 0; i < json_array_size(lists[k]); i++) {
			buf_str(&text, json_string_value(json_array_get(lists[k], i)));
			buf_char(&text, '\n');
		}
		json_decref(lists[k]);
	}
	if (!*wanted)
		return text.data && text.data[strspn(text.data, " \n")];
	return text.data && strstr(text.data, wanted);
}

/* ---- requests ---- */

static char **string_list(const json_t *list)
{
	size_t count = json_array_size(list);
	char **argv = mem_alloc(count + 1, sizeof(*argv));

	for (size_t i = 0; i < count; i++)
		argv[i] = mem_strdup(json_string_value(json_array_get(list, i)));
	return argv;
}

static void become_program(const json_t *request)
{
	char **argv = string_list(json_object_get(request, "argv"));
	const char *name;
	json_t *value;

	json_object_foreach(json_object_get(request, "env"), name, value) {
		if (json_is_string(value))
			setenv(name, json_string_value(value), 1);
		else
			unsetenv(name);
	}
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	perror(argv[0]);
	_exit(127);
}

static int request_int(const json_t *request, const char *name, int fallback)
{
	const json_t *value = json_object_get(request, name);

	return json_is_integer(value) ? (int)json_integer_value(value) : fallback;
}

static void start_program(struct run_state *run, const json_t *request)
{
	struct winsize size = { .ws_col = (unsigned short)request_int(request, "columns", 80),
		                .ws_row = (unsigned short)request_int(request, "rows", 24) };

	run->version = mem_strdup(json_string_value(json_object_get(request, "version")));
	run->background = mem_strdup(json_string_value(json_object_get(request, "background")));
	run->kitty = json_is_true(json_object_get(request, "kitty"));
	run->sync = json_is_true(json_object_get(request, "sync"));
	run->margin = request_int(request, "margin", 0);
	run->vt = vterm_new(size.ws_row, size.ws_col + run->margin);
	vterm_set_utf8(run->vt, 1);
	vterm_output_set_callback(run->vt, answer, run);
	run->screen = vterm_obtain_screen(run->vt);
	vterm_screen_set_callbacks(run->screen, &screen_callbacks, run);
	vterm_screen_enable_altscreen(run->screen, 1);
	vterm_screen_reset(run->screen, 1);
	run->pid = forkpty(&run->fd, NULL, NULL, &size);
	if (run->pid == 0)
		become_program(request);
	run->last_ms = clock_monotonic_ms();
}

static void resize_window(struct run_state *run, const json_t *request)
{
	struct winsize size = { .ws_col = (unsigned short)request_int(request, "columns", 80),
		                .ws_row = (unsigned short)request_int(request, "rows", 24) };

	vterm_set_size(run->vt, size.ws_row, size.ws_col + run->margin);
	if (run->fd >= 0)
		ioctl(run->fd, TIOCSWINSZ, &size);
}

static bool has_ended(struct run_state *run)
{
	if (run->pid > 0 && waitpid(run->pid, &run->status, WNOHANG) == run->pid)
		run->pid = 0;
	return run->pid == 0;
}

/* Until what is asked for holds, or the time is up. */
static bool wait_until(struct run_state *run, const json_t *request, const char *what)
{
	uint64_t end = clock_monotonic_ms() + (uint64_t)request_int(request, "ms", 10000);
	uint64_t quiet = (uint64_t)request_int(request, "for", 100), seen = run->written + 1;
	const char *text = json_string_value(json_object_get(request, "text"));
	bool window_only = json_is_true(json_object_get(request, "window"));

	run->last_ms = clock_monotonic_ms();
	do {
		bool open = read_program(run, 5);

		if (strcmp(what, "wait") == 0 && run->written != seen &&
		    has_text(run, text, window_only))
			return true;
		seen = run->written;
		if (strcmp(what, "quiet") == 0 && clock_monotonic_ms() - run->last_ms >= quiet)
			return true;
		if (strcmp(what, "end") == 0 && !open && has_ended(run))
			return true;
		if (!open)
			usleep(1000);
	} while (clock_monotonic_ms() < end);
	return false;
}

/* Appends the row if something stands in its last cells, a half of a wide character too. */
static void append_if_beyond(json_t *list, const VTermScreenCell *cells, int columns, int margin)
{
	for (int i = columns - margin; i < columns; i++) {
		if (cells[i].chars[0] && cells[i].chars[0] != ' ') {
			append_line(list, cells, columns);
			return;
		}
	}
}

static json_t *rows_beyond(const struct run_state *run)
{
	json_t *list = json_array();
	VTermScreenCell *cells;
	int rows, columns;

	vterm_get_size(run->vt, &rows, &columns);
	cells = mem_alloc((size_t)columns, sizeof(*cells));
	for (int i = 0; i < rows && run->margin; i++) {
		read_row(run, i, cells, columns);
		append_if_beyond(list, cells, columns, run->margin);
	}
	for (size_t i = 0; i < run->count && run->margin; i++)
		append_if_beyond(list, run->lines[i].cells, run->lines[i].columns, run->margin);
	free(cells);
	return list;
}

static void put_dump(struct run_state *run, json_t *reply)
{
	VTermPos cursor;
	int rows, columns;

	vterm_get_size(run->vt, &rows, &columns);
	vterm_state_get_cursorpos(vterm_obtain_state(run->vt), &cursor);
	json_object_set_new(reply, "window", window_text(run));
	json_object_set_new(reply, "scrollback", scrollback_text(run));
	json_object_set_new(reply, "cursor", json_pack("[ii]", cursor.row, cursor.col));
	json_object_set_new(reply, "size", json_pack("[ii]", columns, rows));
	json_object_set_new(reply, "visible", json_boolean(run->visible));
	json_object_set_new(reply, "alternate", json_boolean(run->alternate));
	json_object_set_new(reply, "title", json_string(run->title.data ? run->title.data : ""));
	json_object_set_new(reply, "written", json_integer((json_int_t)run->written));
	json_object_set_new(reply, "alive", json_boolean(!has_ended(run)));
	json_object_set_new(reply, "status", json_integer(run->status));
	json_object_set_new(reply, "beyond", rows_beyond(run));
}

static json_t *handle_request(struct run_state *run, const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "do"));
	const char *text = json_string_value(json_object_get(request, "text"));
	json_t *reply = json_object();

	if (!what)
		what = "";
	if (strcmp(what, "start") == 0)
		start_program(run, request);
	else if (strcmp(what, "type") == 0 && text && run->fd >= 0)
		answer(text, json_string_length(json_object_get(request, "text")), run);
	else if (strcmp(what, "resize") == 0)
		resize_window(run, request);
	else if (strcmp(what, "pause") == 0)
		run->paused = json_is_true(json_object_get(request, "on"));
	else if (strcmp(what, "signal") == 0 && run->pid > 0)
		kill(run->pid, request_int(request, "number", SIGTERM));
	else if (strcmp(what, "dump") == 0)
		put_dump(run, reply);
	else if (strcmp(what, "cells") == 0)
		json_object_set_new(reply, "cells", window_cells(run));
	else if (strcmp(what, "raw") == 0)
		json_object_set_new(reply, "raw", take_raw(run));
	else if (strcmp(what, "wait") == 0 || strcmp(what, "quiet") == 0 ||
	         strcmp(what, "end") == 0)
		json_object_set_new(reply, "ok", json_boolean(wait_until(run, request, what)));
	else
		json_object_set_new(reply, "error", json_string("no such request"));
	json_object_set_new(reply, "status", json_integer(run->status));
	return reply;
}

static void handle_line(struct run_state *run, struct span line)
{
	_cleanup_buf_ struct buf out = BUF_INIT(1 << 30);
	struct err err = ERR_INIT;
	json_t *request, *reply;

	if (!json_parse(line, &request, &err)) {
		fprintf(stderr, "vt_run: %s\n", err.message);
		exit(2);
	}
	reply = handle_request(run, request);
	json_print(&out, reply, 0);
	json_decref(request);
	json_decref(reply);
	printf("%s\n", out.data);
	fflush(stdout);
}

int main(void)
{
	struct run_state run = { .fd = -1, .visible = true, .raw = { .max = RAW_MAX },
		                 .held = { .max = RAW_MAX },
		                 .title = { .max = 1 << 16 }, .input = { .max = LINE_MAX } };

	signal(SIGPIPE, SIG_IGN);
	for (;;) {
		struct pollfd ready[] = { { .fd = 0, .events = POLLIN },
			                  { .fd = run.paused ? -1 : run.fd, .events = POLLIN } };
		char bytes[4096], *end;
		ssize_t n;

		if (poll(ready, 2, -1) < 0)
			continue;
		if (ready[1].revents)
			read_program(&run, 0);
		if (!ready[0].revents)
			continue;
		n = read(0, bytes, sizeof(bytes));
		if (n <= 0)
			break;
		buf_append(&run.input, bytes, (size_t)n);
		while ((end = memchr(run.input.data, '\n', run.input.len))) {
			size_t len = (size_t)(end - run.input.data) + 1;

			handle_line(&run, span_of(run.input.data, len - 1));
			memmove(run.input.data, end + 1, run.input.len - len);
			run.input.len -= len;
		}
	}
	if (run.pid > 0)
		kill(run.pid, SIGKILL);
	return 0;
}
