/* SPDX-License-Identifier: Apache-2.0 */
/* The full screen: a window over the transcript above the live region, scrolled and searched here.
 *
 * Of the rows only those are kept that the window shows: a block's rows are made when it is shown
 * or counted, and of the others the number of rows is remembered, for the width of the window.  A
 * place in the conversation is a block and a row of it (struct spot), which stays what it is
 * whatever is added; at another width it is as far down in its block.  The last block, while it is
 * an answer that is being written, is read on where its rows end, not laid out again each time.
 *
 * Not here: how a frame gets to the terminal (term/canvas.h). */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/settings.h"
#include "tui/editor/bindings.h"
#include "tui/term/frames.h"
#include "tui/show/full.h"
#include "tui/show/printout.h"
#include "tui/term/canvas.h"
#include "tui/text/find.h"
#include "tui/show/transcript.h"

#define UNKNOWN UINT32_MAX /* a block's number of rows */

enum {
	WANTED_BYTES_MAX = 256,
	WHEEL_ROWS = 3,
	BELOW_MAX = 10000,     /* rows below the window that are counted */
	PIECE_BYTES = 4096,    /* of an answer, fed to Markdown in one go */
	SEARCH_MS = 10,        /* of looking, before keys and frames get their turn */
	SEARCH_PAUSE_MS = 1,   /* for them: a timer of 0 may fire again before they are looked at */
};

/* Row `row` of block `block`: first what stands between it and the one before. */
struct spot {
	size_t block, row;
};

/* The rows of a block, without what stands before it. */
struct laid {
	size_t block;
	size_t size;               /* of its text then */
	unsigned forgotten;        /* of the transcript then */
	struct rows rows;
	struct markdown *markdown; /* it is an answer that is being written; or NULL */
	bool used;                 /* since the last frame */
};

struct full {
	struct printout *out;          /* borrowed, as the next two are */
	const struct bindings *bindings;
	const char **hint;             /* set to what is said until the next key */
	struct canvas *canvas;         /* owned */

	struct transcript_state state; /* of the transcript, as known */
	unsigned width;                /* what follows is made for it */
	bool source;                   /* and as that of `out` was then */
	bool thoughts;                 /* are shown */
	uint32_t *heights;             /* rows of the blocks from state.first on; or UNKNOWN */
	size_t heights_count, heights_cap;
	struct laid *laid;             /* owned array */
	size_t laid_count, laid_cap;

	bool follows;                  /* the end is shown */
	struct spot top;              /* else: the window's first row */
	struct spot end;              /* behind its last one */
	size_t height;                 /* rows it had in the last frame */

	bool finding;                  /* a text to be searched for is typed */
	struct buf wanted;             /* it */
	bool found, missed;            /* the last search */
	struct spot at, at_end;       /* what it found: its first row and its last one */
	size_t at_byte;               /* of the first row's text */

	struct loop_timer *search;     /* goes on soon; NULL: nothing is looked for */
	bool search_up;
	struct spot search_at;         /* the block that comes next, and its row to begin at */
	size_t search_byte;            /* of that row: matches before it, or from it on downwards */
	size_t search_left;            /* blocks */
};

/* ---- rows of blocks ----------------------------------------------------------- */

static struct view_how full_how(const struct full *full)
{
	return (struct view_how){ .width = full->width, .folded = true, .source = full->source };
}

static void laid_release(struct laid *laid)
{
	rows_release(&laid->rows);
	markdown_free(laid->markdown);
}

/* Reads on in an answer. */
static void laid_grow(struct laid *laid, struct span text)
{
	while (laid->size < text.len) {
		const struct span piece = span_head(span_skip(text, laid->size), PIECE_BYTES);

		markdown_feed(laid->markdown, piece);
		while (!markdown_take(laid->markdown, &laid->rows))
			;
		laid->size += piece.len;
	}
}

static void laid_make(struct full *full, struct laid *laid)
{
	const struct view_how how = full_how(full);
	struct span text;

	laid_release(laid);
	*laid = (struct laid){ .block = laid->block, .forgotten = full->state.forgotten };
	if (transcript_grows(full->out->transcript, laid->block, &text)) {
		laid->markdown = markdown_new(how.width);
		markdown_source(laid->markdown, how.source);
		laid_grow(laid, text);
		return;
	}
	laid->size = transcript_size(full->out->transcript, laid->block);
	transcript_block(full->out->transcript, laid->block, full->thoughts, &how, &laid->rows);
}

/* The rows of a block, borrowed until the next block's are asked for. */
static const struct rows *full_laid(struct full *full, size_t block)
{
	struct laid *laid = NULL;
	struct span text;

	for (size_t i = 0; i < full->laid_count && !laid; i++)
		if (full->laid[i].block == block)
			laid = &full->laid[i];
	if (!laid) {
		if (full->laid_count == full->laid_cap)
			full->laid = mem_grow(full->laid, &full->laid_cap, full->laid_count + 1,
			                      sizeof(*full->laid));
		laid = &full->laid[full->laid_count++];
		*laid = (struct laid){ .block = block };
		laid_make(full, laid);
	} else if (laid->markdown && laid->forgotten == full->state.forgotten &&
	           transcript_grows(full->out->transcript, block, &text)) {
		laid_grow(laid, text);
	} else if (laid->markdown || laid->forgotten != full->state.forgotten ||
	           laid->size != transcript_size(full->out->transcript, block)) {
		laid_make(full, laid);
	}
	laid->used = true;
	return &laid->rows;
}

/* Lets go of what the frame did not need. */
static void full_drop_unused(struct full *full)
{
	size_t kept = 0;

	for (size_t i = 0; i < full->laid_count; i++) {
		if (full->laid[i].used)
			full->laid[kept++] = full->laid[i];
		else
			laid_release(&full->laid[i]);
	}
	full->laid_count = kept;
	for (size_t i = 0; i < kept; i++)
		full->laid[i].used = false;
}

static void full_drop_all(struct full *full)
{
	while (full->laid_count)
		laid_release(&full->laid[--full->laid_count]);
}

/* How many rows a block has, with what stands before it; 0: it is not shown. */
static size_t full_height(struct full *full, size_t block)
{
	uint32_t *known = &full->heights[block - full->state.first];
	const struct view_how how = full_how(full);
	_cleanup_rows_ struct rows rows = { 0 };
	size_t count;

	if (block + 1 == full->state.end) { /* it may grow */
		count = full_laid(full, block)->count;
		return count ? count + (block > 0) : 0;
	}
	if (*known == UNKNOWN) {
		transcript_block(full->out->transcript, block, full->thoughts, &how, &rows);
		count = rows.count ? rows.count + (block > 0) : 0;
		*known = count < UNKNOWN ? (uint32_t)count : UNKNOWN - 1;
	}
	return *known;
}

/* ---- places ------------------------------------------------------------------- */

static bool spot_before(struct spot a, struct spot b)
{
	return a.block < b.block || (a.block == b.block && a.row < b.row);
}

/* `count` rows up, or the first row. */
static struct spot spot_up(struct full *full, struct spot spot, size_t count)
{
	const size_t first = full->state.first;

	while (count > spot.row) {
		if (spot.block == first)
			return (struct spot){ first, 0 };
		count -= spot.row;
		spot.row = full_height(full, --spot.block);
	}
	spot.row -= count;
	return spot;
}

/* `count` rows down, or the end; how many were missing. */
static struct spot spot_down(struct full *full, struct spot spot, size_t count,
                             size_t *ret_missing)
{
	while (count && spot.block < full->state.end) {
		const size_t rest = full_height(full, spot.block) - spot.row;

		if (count < rest) {
			spot.row += count;
			count = 0;
		} else {
			count -= rest;
			spot = (struct spot){ spot.block + 1, 0 };
		}
	}
	*ret_missing = count;
	return spot;
}

static struct spot full_last(const struct full *full)
{
	return (struct spot){ full->state.end, 0 };
}

/* ---- the window --------------------------------------------------------------- */

/* At another width, or with Markdown as source, a place is as far down in its block as it was. */
static void full_set_form(struct full *full)
{
	const unsigned width = term_size(full->out->term).columns;
	const bool inside = full->top.block < full->state.end;
	size_t before, now;

	if (full->width == width && full->source == full->out->source)
		return;
	before = inside ? full_height(full, full->top.block) : 0;
	full->width = width;
	full->source = full->out->source;
	full->found = false;
	full_drop_all(full);
	for (size_t i = 0; i < full->heights_count; i++)
		full->heights[i] = UNKNOWN;
	if (!before || !full->top.row || full->follows)
		return;
	now = full_height(full, full->top.block);
	full->top.row = full->top.row * now / before;
	full->top.row = full->top.row < now ? full->top.row : now - (now > 0);
}

/* Takes over what has become of the transcript. */
static void full_sync(struct full *full)
{
	const struct transcript_state state = transcript_state(full->out->transcript);
	size_t dropped = state.first - full->state.first;

	if (state.cleared != full->state.cleared) {
		full_drop_all(full);
		full->heights_count = 0;
		full->follows = true;
		full->found = false;
		dropped = 0;
	}
	dropped = dropped < full->heights_count ? dropped : full->heights_count;
	full->heights_count -= dropped;
	memmove(full->heights, full->heights + dropped,
	        full->heights_count * sizeof(*full->heights));
	full->heights = mem_grow(full->heights, &full->heights_cap, state.end - state.first + 1,
	                         sizeof(*full->heights));
	while (full->heights_count < state.end - state.first)
		full->heights[full->heights_count++] = UNKNOWN;
	full->state = state;
	for (size_t i = 0; i < full->laid_count; i++)
		if (full->laid[i].block < state.first) {
			laid_release(&full->laid[i]);
			full->laid[i--] = full->laid[--full->laid_count];
		}
	if (full->top.block < state.first)
		full->top = (struct spot){ state.first, 0 };
	/* What has been forgotten may have been more than is above it. */
	if (full->top.block < state.end && full->top.row &&
	    full->top.row >= full_height(full, full->top.block))
		full->top = (struct spot){ full->top.block + 1, 0 };
	if (full->at.block < state.first)
		full->found = false;
}

/* Where the window begins: at its place, unless the end is as near. */
static void full_settle(struct full *full)
{
	size_t missing = 0;

	if (!full->follows) {
		const struct spot end = spot_down(full, full->top, full->height, &missing);

		full->follows = missing || end.block == full->state.end;
	}
	if (full->follows)
		full->top = spot_up(full, full_last(full), full->height);
}

/* What is searched for is underlined where it stands; the match that was found is in reverse.
 * `shown`: rows [from, to) of the block, the first of which is `spot`. */
static void full_mark(const struct full *full, struct row *shown, const struct rows *block,
                      size_t from, size_t to, struct spot spot)
{
	_cleanup_find_ struct row_find find;

	find_begin(&find, block, full->wanted.data ? full->wanted.data : "", from);
	while (find_next(&find) && find.pieces[0].row < to) {
		const bool here = full->found && spot.block == full->at.block &&
		                  spot.row + find.pieces[0].row == full->at.row + from &&
		                  find.pieces[0].start == full->at_byte;

		for (size_t i = 0; i < find.count; i++) {
			const struct find_piece *piece = &find.pieces[i];

			if (piece->row >= from && piece->row < to)
				row_mark_bytes(&shown[piece->row - from], piece->start, piece->len,
				               here ? MARK_REVERSE : MARK_UNDERLINE);
		}
	}
}

/* Appends the window's rows. */
static void full_window(struct full *full, struct rows *rows)
{
	const size_t end = rows->count + full->height;
	struct spot at = full->top;

	while (rows->count < end && at.block < full->state.end) {
		const struct rows *block = full_laid(full, at.block);
		_cleanup_rows_ struct rows before = { 0 };
		size_t from, to;

		if (block->count)
			transcript_between(full->out->transcript, at.block, &before);
		if (at.row < before.count && rows->count < end) {
			rows_move(rows, &before);
			at.row++;
		}
		from = at.row - (block->count && at.block > 0);
		to = from + (end - rows->count);
		to = to < block->count ? to : block->count;
		rows_copy(rows, block, from, to);
		if (full->finding && from < to)
			full_mark(full, &rows->at[rows->count - (to - from)], block, from, to, at);
		at = to < block->count ? (struct spot){ at.block, at.row + (to - from) } :
		                         (struct spot){ at.block + 1, 0 };
	}
	full->end = at;
	while (rows->count < end)
		rows_add(rows);
}

/* Rows beneath the window, up to BELOW_MAX. */
static size_t full_below(struct full *full)
{
	size_t missing;

	spot_down(full, full->end, BELOW_MAX, &missing);
	return BELOW_MAX - missing;
}

/* The row between the window and the live region. */
static void full_foot(struct full *full, struct row *foot, struct live *live)
{
	const size_t below = full->finding || full->follows ? 0 : full_below(full);

	if (full->finding) {
		row_text(foot, SPAN("Find: "), STYLE_BOLD(ROLE_ACCENT));
		row_text(foot, buf_view(&full->wanted), STYLE(ROLE_TEXT));
		live->caret_row = 0;
		live->caret_column = foot->width;
		live->caret_hidden = false;
		row_text(foot, full->missed ? SPAN("   not found") :
		               full->search ? SPAN("   searching …") : SPAN(""),
		         STYLE(ROLE_WARNING));
		row_text(foot, full->search ? SPAN("   Esc stops") :
		               SPAN("   Enter finds earlier, Down later, Esc closes"),
		         STYLE(ROLE_DIM));
	} else if (below) {
		row_printf(foot, STYLE(ROLE_ACCENT), "%s%zu row%s below", below == BELOW_MAX ?
		           "At least " : "", below, below == 1 ? "" : "s");
		row_printf(foot, STYLE(ROLE_DIM), "   %s goes down, %s to the end, %s searches",
		           bindings_chord(full->bindings, BIND_SCROLL_PAGE_DOWN),
		           bindings_chord(full->bindings, BIND_SCROLL_END),
		           bindings_chord(full->bindings, BIND_SCROLL_SEARCH));
	}
}

void full_frame(struct full *full, struct live *live)
{
	const struct term_size size = term_size(full->out->term);
	const size_t count = live->rows.count;
	struct canvas_caret caret;
	struct rows rows = { 0 };
	size_t skip;

	full->height = size.rows > count ? size.rows - count : 0;
	full_sync(full);
	full_set_form(full);
	full_settle(full);
	full_window(full, &rows);
	full_foot(full, &live->rows.at[0], live);
	skip = live->caret_row < size.rows ? 0 : live->caret_row - size.rows + 1;
	rows_copy(&rows, &live->rows, skip, count);
	caret = (struct canvas_caret){ full->height + live->caret_row - skip, live->caret_column,
		                       live->caret_hidden };
	rows_release(&live->rows);
	full_drop_unused(full);
	canvas_draw(full->canvas, &rows, &caret);
}

/* ---- scrolling ---------------------------------------------------------------- */

static void full_up(struct full *full, size_t count)
{
	full_sync(full);
	full->top = spot_up(full, full->top, count);
	full->follows = false;
	frames_want_now(full->out->frames);
}

static void full_down(struct full *full, size_t count)
{
	size_t missing;

	full_sync(full);
	full->top = spot_down(full, full->top, count, &missing);
	frames_want_now(full->out->frames);
}

static void full_home(struct full *full)
{
	full->top = (struct spot){ full->state.first, 0 };
	full->follows = false;
}

void full_end(struct full *full)
{
	if (full)
		full->follows = true;
}

void full_wheel(struct full *full, bool up)
{
	if (!full)
		return;
	if (up)
		full_up(full, WHEEL_ROWS);
	else
		full_down(full, WHEEL_ROWS);
}

static bool full_scroll_key(struct full *full, const struct key *key)
{
	const size_t page = full->height > 1 ? full->height - 1 : 1;

	if (bindings_has(full->bindings, BIND_SCROLL_UP, key))
		full_up(full, 1);
	else if (bindings_has(full->bindings, BIND_SCROLL_DOWN, key))
		full_down(full, 1);
	else if (bindings_has(full->bindings, BIND_SCROLL_PAGE_UP, key))
		full_up(full, page);
	else if (bindings_has(full->bindings, BIND_SCROLL_PAGE_DOWN, key))
		full_down(full, page);
	else if (bindings_has(full->bindings, BIND_SCROLL_HOME, key))
		full_home(full);
	else if (bindings_has(full->bindings, BIND_SCROLL_END, key))
		full_end(full);
	else
		return false;
	return true;
}

/* ---- search ------------------------------------------------------------------- */

/* The match in block search_at.block that comes next, up or down, from search_at.row and
 * search_byte on. False: none. */
static bool full_find_in(struct full *full)
{
	const struct view_how how = full_how(full);
	const struct spot from = full->search_at;
	const size_t between = from.block > 0;
	_cleanup_rows_ struct rows made = { 0 };
	const struct rows *rows = &made;
	_cleanup_find_ struct row_find find;
	bool found = false;

	if (from.block + 1 == full->state.end)
		rows = full_laid(full, from.block);
	else
		transcript_block(full->out->transcript, from.block, full->thoughts, &how,
		                 &made);
	find_begin(&find, rows, full->wanted.data,
	           full->search_up || from.row < between ? 0 : from.row - between);
	while (find_next(&find)) {
		const size_t row = find.pieces[0].row + between, byte = find.pieces[0].start;
		const bool before = row < from.row ||
		                    (row == from.row && byte < full->search_byte);

		if (full->search_up && !before)
			break;
		if (!full->search_up && before)
			continue;
		found = true;
		full->at = (struct spot){ from.block, row };
		full->at_end = (struct spot){ from.block,
			                      find.pieces[find.count - 1].row + between };
		full->at_byte = byte;
		if (!full->search_up)
			break;
	}
	return found;
}

/* ---- a search, in slices between events: all of a conversation takes seconds ---- */

static void finding_stop(struct full *full)
{
	loop_timer_stop(full->search);
	full->search = NULL;
}

static void finding_end(struct full *full, bool found)
{

	finding_stop(full);
	full->found = found;
	full->missed = !found;
	if (found &&
	    (spot_before(full->at, full->top) || !spot_before(full->at_end, full->end))) {
		full->top = spot_up(full, full->at, full->height / 2);
		full->follows = false;
	}
	frames_want(full->out->frames);
}

/* At the end of a block where a search comes into it. */
static struct spot finding_entry(const struct full *full, size_t block)
{
	return (struct spot){ block, full->search_up ? SIZE_MAX : 0 };
}

/* To the next block, and from the last to the first, or the other way round. */
static void finding_advance(struct full *full)
{
	const struct transcript_state *state = &full->state;
	size_t block = full->search_at.block;

	if (full->search_up)
		block = block > state->first ? block - 1 : state->end - 1;
	else
		block = block + 1 < state->end ? block + 1 : state->first;
	full->search_at = finding_entry(full, block);
	full->search_byte = 0;
	full->search_left--;
}

static void finding_step(struct full *full)
{

	if (full_find_in(full)) {
		finding_end(full, true);
	} else if (!full->search_left) {
		finding_end(full, false);
	} else {
		finding_advance(full);
	}
}

static void finding_slice(void *data)
{
	struct full *full = data;
	const unsigned cleared = full->state.cleared;
	const uint64_t until = clock_monotonic_ms() + SEARCH_MS;

	finding_stop(full);
	full_sync(full);
	if (full->state.cleared != cleared || full->state.end == full->state.first) {
		finding_end(full, false);
		return;
	}
	/* What was to come next may have had to go. */
	if (full->search_at.block < full->state.first)
		full->search_at = finding_entry(full, full->search_up ? full->state.end - 1 :
		                                                        full->state.first);
	full->search = loop_timer_start(full->out->frames->loop, SEARCH_PAUSE_MS, 0,
	                                finding_slice, full);
	do {
		finding_step(full);
	} while (full->search && clock_monotonic_ms() < until);
}

/* Looks from the match that was found last, or the window's end, on, and from the other end on to
 * that place again. */
static void finding_begin(struct full *full, bool up)
{

	if (full->search && full->search_up == up)
		return;
	finding_stop(full);
	full->missed = false;
	full_sync(full);
	if (!full->wanted.len || full->state.end == full->state.first)
		return;
	full->search_up = up;
	full->search_at = full->found ? full->at : full->end;
	full->search_byte = full->found ? full->at_byte + !up : 0;
	full->search_left = full->state.end - full->state.first;
	if (full->search_at.block == full->state.end)
		full->search_at = finding_entry(full, up ? full->state.end - 1 :
		                                           full->state.first);
	full->search = loop_timer_start(full->out->frames->loop, SEARCH_PAUSE_MS, 0,
	                                finding_slice, full);
	finding_slice(full);
}

/* Another text, or none. */
static void finding_forget(struct full *full)
{
	finding_stop(full);
	full->found = full->missed = false;
}

static void full_shorten(struct buf *text)
{
	while (text->len && (text->data[text->len - 1] & 0xC0) == 0x80)
		text->len--;
	text->len -= text->len > 0;
	if (text->data)
		text->data[text->len] = '\0';
}

static void full_find_key(struct full *full, const struct key *key)
{

	if (bindings_has(full->bindings, BIND_BASIC_CANCEL, key) ||
	    bindings_has(full->bindings, BIND_BASIC_QUIT, key)) {
		full->finding = full->search;
		finding_stop(full);
	} else if (key->code == KEY_ENTER || bindings_has(full->bindings, BIND_NAV_UP, key) ||
	           bindings_has(full->bindings, BIND_SCROLL_SEARCH, key)) {
		finding_begin(full, true);
	} else if (bindings_has(full->bindings, BIND_NAV_DOWN, key)) {
		finding_begin(full, false);
	} else if (full_scroll_key(full, key)) {
		return;
	} else if (key->code == KEY_BACKSPACE || key->text.len) {
		finding_forget(full);
		if (key->code == KEY_BACKSPACE)
			full_shorten(&full->wanted);
		else
			buf_span(&full->wanted, key->text);
	}
}

bool full_paste(struct full *full, struct span text)
{
	struct span line = { 0 };

	if (!full || !full->finding)
		return false;
	line_next(&text, &line);
	buf_span(&full->wanted, line_body(line));
	finding_forget(full);
	return true;
}

static void full_find_begin(struct full *full)
{
	full->finding = true;
	finding_forget(full);
	buf_clear(&full->wanted);
}

/* ---- keys --------------------------------------------------------------------- */

static void full_toggle_mouse(struct full *full)
{
	const bool ours = term_mouse(full->out->term) == TERM_MOUSE_OURS;

	term_set_mouse(full->out->term, ours ? TERM_MOUSE_THEIRS : TERM_MOUSE_OURS);
	*full->hint = ours ? "The mouse is the terminal's: it selects text" :
	                     "The mouse is hasp's: its wheel scrolls, Shift selects text";
}

bool full_finds(const struct full *full)
{
	return full->finding;
}

bool full_key(struct full *full, const struct key *key)
{
	if (!full)
		return false;
	if (full->finding) {
		full_find_key(full, key);
		return true;
	}
	if (bindings_has(full->bindings, BIND_SCROLL_SEARCH, key))
		full_find_begin(full);
	else if (bindings_has(full->bindings, BIND_APP_TOGGLE_MOUSE_MODE, key) ||
	         bindings_has(full->bindings, BIND_APP_TOGGLE_COPY_MODE, key))
		full_toggle_mouse(full);
	else
		return full_scroll_key(full, key);
	return true;
}

/* ---- life --------------------------------------------------------------------- */

struct full *full_new(struct printout *out, const struct bindings *bindings, bool thoughts,
                      const char **hint)
{
	struct full *full = mem_alloc(1, sizeof(*full));

	full->out = out;
	full->bindings = bindings;
	full->hint = hint;
	full->thoughts = thoughts;
	full->follows = true;
	full->width = term_size(out->term).columns;
	full->source = out->source;
	full->wanted = (struct buf)BUF_INIT(WANTED_BYTES_MAX);
	full->canvas = canvas_new(out->term);
	term_set_mouse(out->term, TERM_MOUSE_OURS);
	return full;
}

struct canvas *full_canvas(const struct full *full)
{
	return full->canvas;
}

/* The end of the conversation stays in the terminal, as much as the window has room for. */
static void full_print_end(struct full *full)
{
	const struct term_size size = term_size(full->out->term);
	_cleanup_rows_ struct rows rows = { 0 };
	struct buf *out;

	full_sync(full);
	full_set_form(full);
	full->height = size.rows > 4 ? size.rows - 4 : 1;
	full->follows = true;
	full->finding = false;
	full_settle(full);
	full_window(full, &rows);
	while (rows.count && !rows.at[rows.count - 1].width)
		row_release(&rows.at[--rows.count]);
	out = term_frame(full->out->term);
	for (size_t i = 0; i < rows.count; i++) {
		term_put_row(full->out->term, out, &rows.at[i]);
		buf_str(out, "\r\n");
	}
	term_frame_end(full->out->term);
}

void full_free(struct full *full)
{

	if (!full)
		return;
	finding_stop(full);
	canvas_free(full->canvas);
	full_print_end(full);
	full_drop_all(full);
	free(full->laid);
	free(full->heights);
	buf_release(&full->wanted);
	free(full);
}
