/* SPDX-License-Identifier: Apache-2.0 */
/* libvterm behind the emulator's face.  What differs between its versions 0.1 and 0.3, which have
 * one soname, is not used: strings of properties, attributes beyond reverse, callbacks that came
 * later (the structure ends in NULLs for them). */
#include "tui/emulator/emulator.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <vterm.h>

#include "base/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "tui/term/theme.h"

enum { FEED_PIECE = GUARD_HEAVY_BYTES, ANSWER_MAX = 256 };

/* ---- the library ------------------------------------------------------------- */

/* X(function) */
#define VTERM_FUNCTIONS(X)                                                                \
	X(vterm_new) X(vterm_free) X(vterm_set_utf8) X(vterm_set_size)                    \
	X(vterm_input_write) X(vterm_output_set_callback) X(vterm_obtain_screen)          \
	X(vterm_obtain_state) X(vterm_state_get_cursorpos)                                \
	X(vterm_screen_set_callbacks) X(vterm_screen_enable_altscreen)                    \
	X(vterm_screen_reset) X(vterm_screen_get_cell) X(vterm_keyboard_key)              \
	X(vterm_keyboard_start_paste) X(vterm_keyboard_end_paste)

struct vterm_library {
#define VTERM_MEMBER(name) __typeof__(name) *name;
	VTERM_FUNCTIONS(VTERM_MEMBER)
#undef VTERM_MEMBER
};

static struct vterm_library lib;
static bool loaded;

static void vterm_load(void)
{
	static const struct library_symbol symbols[] = {
#define VTERM_SYMBOL(name) { #name, offsetof(struct vterm_library, name) },
		VTERM_FUNCTIONS(VTERM_SYMBOL)
#undef VTERM_SYMBOL
	};
	static const struct library row = { { "libvterm.so.0" }, "Typing into commands needs",
		                            "libvterm0", symbols, ARRAY_LEN(symbols) };
	struct err err = ERR_INIT;

	loaded = library_load(&row, &lib, &err);
}

bool emulator_available(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, vterm_load);
	return loaded;
}

/* ---- the emulator ------------------------------------------------------------ */

struct emulator {
	VTerm *vt;
	VTermScreen *screen;
	struct {
		VTermScreenCallbacks known;
		void *later[4];
	} callbacks;
	struct emulator_guard guard;
	int rows, columns;
	bool full_screen, cursor_hidden;
	size_t answered;          /* bytes, to the piece that is fed */
	struct buf *into;         /* of keys; NULL: they are answers */
	void (*answer)(void *data, struct span bytes);
	void *data;
};

/* A piece that asks again and again gets no more than a few answers. */
static void emulator_output(const char *bytes, size_t len, void *data)
{
	struct emulator *emulator = data;

	if (emulator->into) {
		buf_span(emulator->into, span_of(bytes, len));
	} else if (emulator->answered + len <= ANSWER_MAX) {
		emulator->answered += len;
		emulator->answer(emulator->data, span_of(bytes, len));
	}
}

static int emulator_property(VTermProp property, VTermValue *value, void *data)
{
	struct emulator *emulator = data;

	if (property == VTERM_PROP_ALTSCREEN)
		emulator->full_screen = value->boolean;
	if (property == VTERM_PROP_CURSORVISIBLE)
		emulator->cursor_hidden = !value->boolean;
	return 1;
}

static int within(unsigned wanted, int max)
{
	return wanted < 2 ? 2 : wanted > (unsigned)max ? max : (int)wanted;
}

struct emulator *emulator_new(unsigned rows, unsigned columns,
                              void (*answer)(void *data, struct span bytes), void *data)
{
	struct emulator *emulator;

	if (!emulator_available())
		return NULL;
	emulator = mem_alloc(1, sizeof(*emulator));
	emulator->rows = within(rows, EMULATOR_ROWS_MAX);
	emulator->columns = within(columns, EMULATOR_COLUMNS_MAX);
	emulator->answer = answer;
	emulator->data = data;
	emulator->vt = lib.vterm_new(emulator->rows, emulator->columns);
	lib.vterm_set_utf8(emulator->vt, 1);
	lib.vterm_output_set_callback(emulator->vt, emulator_output, emulator);
	emulator->screen = lib.vterm_obtain_screen(emulator->vt);
	emulator->callbacks.known.settermprop = emulator_property;
	lib.vterm_screen_set_callbacks(emulator->screen, &emulator->callbacks.known, emulator);
	lib.vterm_screen_enable_altscreen(emulator->screen, 1);
	lib.vterm_screen_reset(emulator->screen, 1);
	return emulator;
}

void emulator_free(struct emulator *emulator)
{
	if (!emulator)
		return;
	lib.vterm_free(emulator->vt);
	free(emulator);
}

void emulator_feed(struct emulator *emulator, struct span bytes)
{
	while (bytes.len) {
		struct span piece = span_head(bytes, FEED_PIECE);
		_cleanup_buf_ struct buf safe = BUF_INIT(GUARD_OUT_MAX);

		guard_feed(&emulator->guard, piece, &safe);
		emulator->answered = 0;
		if (safe.len)
			lib.vterm_input_write(emulator->vt, safe.data, safe.len);
		bytes = span_skip(bytes, piece.len);
	}
}

void emulator_resize(struct emulator *emulator, unsigned rows, unsigned columns)
{
	emulator->rows = within(rows, EMULATOR_ROWS_MAX);
	emulator->columns = within(columns, EMULATOR_COLUMNS_MAX);
	lib.vterm_set_size(emulator->vt, emulator->rows, emulator->columns);
}

bool emulator_is_full_screen(const struct emulator *emulator)
{
	return emulator->full_screen;
}

/* ---- rows -------------------------------------------------------------------- */

static VTermPos emulator_cursor(const struct emulator *emulator)
{
	VTermPos at = { 0, 0 };

	lib.vterm_state_get_cursorpos(lib.vterm_obtain_state(emulator->vt), &at);
	return at;
}

/* The second column of a wide character, and a place outside, have no cell: width 0. */
static VTermScreenCell emulator_cell(const struct emulator *emulator, int row, int column)
{
	VTermScreenCell cell = { 0 };

	if (!lib.vterm_screen_get_cell(emulator->screen, (VTermPos){ row, column }, &cell) ||
	    cell.chars[0] == (uint32_t)-1)
		cell.width = 0;
	return cell;
}

static uint8_t cell_colour(VTermColor colour)
{
	if (colour.type & VTERM_COLOR_INDEXED)
		return colour.indexed.idx;
	return (uint8_t)theme_nearest_256((uint32_t)colour.rgb.red << 16 |
	                                  (uint32_t)colour.rgb.green << 8 | colour.rgb.blue);
}

static struct style cell_style(const VTermScreenCell *cell, bool colours)
{
	struct style style = STYLE(ROLE_TEXT);

	style.marks = (uint8_t)((cell->attrs.bold ? MARK_BOLD : 0) |
	                        (cell->attrs.italic ? MARK_ITALIC : 0) |
	                        (cell->attrs.underline ? MARK_UNDERLINE : 0) |
	                        (cell->attrs.reverse ? MARK_REVERSE : 0));
	if (colours && !(cell->fg.type & VTERM_COLOR_DEFAULT_FG)) {
		style.marks |= MARK_FOREGROUND;
		style.foreground = cell_colour(cell->fg);
	}
	if (colours && !(cell->bg.type & VTERM_COLOR_DEFAULT_BG)) {
		style.marks |= MARK_BACKGROUND;
		style.background = cell_colour(cell->bg);
	}
	return style;
}

static bool is_empty_cell(const VTermScreenCell *cell)
{
	return (!cell->chars[0] || cell->chars[0] == ' ') && !cell->attrs.reverse &&
	       (cell->bg.type & VTERM_COLOR_DEFAULT_BG) && !cell->attrs.underline;
}

static int row_used(const struct emulator *emulator, int row)
{
	int used = emulator->columns;

	while (used > 0) {
		const VTermScreenCell cell = emulator_cell(emulator, row, used - 1);

		if (cell.width && !is_empty_cell(&cell))
			break;
		used--;
	}
	return used;
}

static struct span cell_text(const VTermScreenCell *cell, char out[static 64])
{
	size_t len = 0;

	for (size_t i = 0; i < VTERM_MAX_CHARS_PER_CELL && cell->chars[i]; i++)
		len += utf8_put(cell->chars[i] <= 0x10FFFF ? cell->chars[i] : 0xFFFD, out + len);
	return len ? span_of(out, len) : SPAN(" ");
}

static void put_cells(const struct emulator *emulator, const struct emulator_view *view, int row,
                    struct row *out)
{
	const VTermPos cursor = emulator_cursor(emulator);
	const bool shown = view->cursor && !emulator->cursor_hidden && cursor.row == row;
	int used = row_used(emulator, row);
	char text[64];

	if (shown && cursor.col >= used)
		used = cursor.col + 1;
	for (int column = 0; column < used; column++) {
		const VTermScreenCell cell = emulator_cell(emulator, row, column);
		struct style style = cell_style(&cell, view->colours);

		if (!cell.width)
			continue;
		if (shown && cursor.col == column)
			style.marks ^= MARK_REVERSE;
		/* What was made safe may be narrower than it was for the command. */
		row_pad(out, view->indent + (unsigned)column, STYLE(ROLE_TEXT));
		row_text(out, cell_text(&cell, text), style);
	}
}

void emulator_rows(const struct emulator *emulator, const struct emulator_view *view,
                   struct rows *rows)
{
	const int cursor = emulator_cursor(emulator).row, most = (int)view->rows;
	int end = emulator->rows, from;

	if (!emulator->full_screen)
		while (end > cursor + 1 && !row_used(emulator, end - 1))
			end--;
	if (!emulator->full_screen && end == 1 && !row_used(emulator, 0) && !view->cursor)
		return;
	from = end > most ? end - most : 0;
	if (emulator->full_screen && cursor < from)
		from = cursor;
	for (int row = from; row < end && row < from + most; row++)
		put_cells(emulator, view, row, rows_add(rows));
}

/* ---- keys -------------------------------------------------------------------- */

static VTermKey special_key(uint32_t code)
{
	static const struct {
		uint32_t code;
		VTermKey key;
	} table[] = {
		{ KEY_UP, VTERM_KEY_UP }, { KEY_DOWN, VTERM_KEY_DOWN },
		{ KEY_LEFT, VTERM_KEY_LEFT }, { KEY_RIGHT, VTERM_KEY_RIGHT },
		{ KEY_HOME, VTERM_KEY_HOME }, { KEY_END, VTERM_KEY_END },
		{ KEY_INSERT, VTERM_KEY_INS }, { KEY_DELETE, VTERM_KEY_DEL },
		{ KEY_PAGE_UP, VTERM_KEY_PAGEUP }, { KEY_PAGE_DOWN, VTERM_KEY_PAGEDOWN },
	};

	if (code >= KEY_F1 && code < KEY_F1 + 12)
		return (VTermKey)VTERM_KEY_FUNCTION(code - KEY_F1 + 1);
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].code == code)
			return table[i].key;
	return VTERM_KEY_NONE;
}

/* A control character, as terminals have always sent it; -1: there is none. */
static int control_of(uint32_t code)
{
	if (code >= 'a' && code <= 'z')
		return (int)code - 'a' + 1;
	switch (code) {
	case ' ': case '@': case '2': return 0;
	case '[': case '3': return 0x1B;
	case '\\': case '4': return 0x1C;
	case ']': case '5': return 0x1D;
	case '^': case '6': return 0x1E;
	case '_': case '/': case '7': case '-': return 0x1F;
	case '?': case '8': return 0x7F;
	default: return -1;
	}
}

static int single_byte(const struct key *key)
{
	switch (key->code) {
	case KEY_ENTER: return '\r';
	case KEY_TAB: return '\t';
	case KEY_ESC: return 0x1B;
	case KEY_BACKSPACE: return key->mods & KEY_CTRL ? '\b' : 0x7F;
	default: return key->mods & KEY_CTRL ? control_of(key->code) : -1;
	}
}

static void put_character(const struct key *key, struct buf *out)
{
	uint32_t code = key->code;
	char bytes[4];

	if (key->text.len) {
		buf_span(out, key->text);
		return;
	}
	if (code > 0x10FFFF)
		return;
	if ((key->mods & KEY_SHIFT) && code >= 'a' && code <= 'z')
		code -= 'a' - 'A';
	buf_span(out, span_of(bytes, utf8_put(code, bytes)));
}

void emulator_key(struct emulator *emulator, const struct key *key, struct buf *out)
{
	const VTermKey special = special_key(key->code);
	const VTermModifier held = (VTermModifier)(key->mods & (KEY_SHIFT | KEY_ALT | KEY_CTRL));
	const int byte = single_byte(key);

	if (special != VTERM_KEY_NONE || (key->code == KEY_TAB && key->mods & KEY_SHIFT)) {
		emulator->into = out;
		lib.vterm_keyboard_key(emulator->vt,
		                       special != VTERM_KEY_NONE ? special : VTERM_KEY_TAB,
		                       held);
		emulator->into = NULL;
		return;
	}
	if (key->mods & (KEY_ALT | KEY_META))
		buf_char(out, '\33');
	if (byte >= 0)
		buf_char(out, (char)byte);
	else
		put_character(key, out);
}

void emulator_paste(struct emulator *emulator, struct span text, struct buf *out)
{
	emulator->into = out;
	lib.vterm_keyboard_start_paste(emulator->vt);
	for (size_t i = 0; i < text.len; i++) {
		const unsigned char c = (unsigned char)text.data[i];

		if (c == '\n')
			buf_char(out, '\r');
		else if ((c >= 0x20 && c != 0x7F) || c == '\t')
			buf_char(out, (char)c);
	}
	lib.vterm_keyboard_end_paste(emulator->vt);
	emulator->into = NULL;
}
