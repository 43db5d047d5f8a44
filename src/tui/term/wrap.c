/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text comes to stand when a terminal rewraps its line, and how a cursor that went astray
 * is found. */
#include <string.h>

#include "base/mem.h"
#include "tui/term/private.h"
#include "tui/text/width.h"

unsigned wrap_place(const struct row *row, unsigned column, unsigned columns, unsigned *ret_column)
{
	struct span rest = buf_view(&row->text);
	struct cluster cluster;
	unsigned at = 0, x = 0, y = 0;

	while (at < column && cluster_next(&rest, &cluster)) {
		if (x + cluster.width > columns) {
			y++;
			x = 0;
		}
		x += cluster.width;
		at += cluster.width;
	}
	x += at < column ? column - at : 0; /* blanks behind the text */
	*ret_column = x % columns;
	return y + x / columns;
}

size_t wrap_end(const struct row *row, unsigned columns, unsigned *ret_column)
{
	unsigned y = wrap_place(row, row->width, columns, ret_column);

	if (*ret_column || !y)
		return y + 1;
	*ret_column = columns;
	return y;
}

/* Whether tmux may have made two lines of a row's: the last of its rows begins with a wide
 * character that one column was left for. */
static bool may_be_halved(const struct row *row, unsigned columns)
{
	struct span rest = buf_view(&row->text);
	struct cluster cluster;
	unsigned x = 0;
	bool halved = false;

	while (cluster_next(&rest, &cluster)) {
		if (x + cluster.width > columns) {
			halved = cluster.width == 2 && x + 1 == columns;
			x = 0;
		}
		x += cluster.width;
	}
	return halved;
}

void wrap_remember(struct wrap_recent *recent, struct row *row)
{
	row_release(&recent->rows[recent->next]);
	recent->rows[recent->next] = *row;
	*row = (struct row){ 0 };
	recent->next = (recent->next + 1) % WRAP_RECENT;
	recent->count += recent->count < WRAP_RECENT;
}

void wrap_forget(struct wrap_recent *recent)
{
	for (size_t i = 0; i < WRAP_RECENT; i++)
		row_release(&recent->rows[i]);
	recent->count = 0;
}

/* Where the `back`th row before the next one is, from 1. */
static size_t index_back(const struct wrap_recent *recent, size_t back)
{
	return (recent->next + WRAP_RECENT - back) % WRAP_RECENT;
}

void wrap_take_back(struct wrap_recent *recent, size_t count, struct rows *rows)
{
	for (size_t back = count; back; back--)
		rows_take(rows, &recent->rows[index_back(recent, back)]);
	recent->next = index_back(recent, count);
	recent->count -= count;
}

bool wrap_find(const struct wrap_recent *recent, unsigned column, unsigned columns,
               size_t *ret_again, int *ret_down)
{
	unsigned end;

	for (size_t back = 1; back <= recent->count && back <= WRAP_FIND; back++) {
		const struct row *row = &recent->rows[index_back(recent, back)];
		const size_t rows = wrap_end(row, columns, &end);

		if (end == column) {
			*ret_again = back - 1;
			*ret_down = 1;
			return true;
		}
		if (column + 1 == columns && may_be_halved(row, columns)) {
			*ret_again = back;
			*ret_down = 2 - (int)rows;
			return true;
		}
	}
	return false;
}

/* ---- what is there of them ---- */

enum {
	LINES_MAX = 4096,          /* of a window and the scrollback above it */
	MATCH_TEXT_MAX = 4 << 20,  /* bytes that are compared */
	MATCH_BYTES = 8,           /* of text that stands in both, at least, to believe it */
	MATCH_ABOVE_BYTES = 24,    /* of what stands above it */
};

/* Of a row, or of a line of the window: where match.text has what is compared. */
struct wrap_part {
	size_t start, len;
	size_t lines; /* of a row: those that it takes in the window */
};

/* Rows one after the other that stand in lines one after the other. */
struct wrap_chain {
	size_t first_line, first_row;
	size_t line, row; /* the first ones behind it */
	size_t bytes;     /* of the text of its rows */
};

struct wrap_found {
	const struct tmux_view *look;
	size_t reach;
	struct buf text;
	struct wrap_part rows[WRAP_RECENT], lines[LINES_MAX + 1];
	size_t row_count, line_count;
	struct wrap_chain lower; /* what ends at the live region; zeroed: it is looked for */
	struct wrap_chain best;
};

/* Blanks are not compared, as a terminal may drop some, nor marks behind a character. */
static void part_add(struct wrap_found *match, struct span text, struct wrap_part *ret)
{
	struct cluster cluster;

	ret->start = match->text.len;
	while (cluster_next(&text, &cluster)) {
		size_t len = 1;

		if (!cluster.width || cluster.bytes.data[0] == ' ')
			continue;
		while (len < cluster.bytes.len &&
		       ((unsigned char)cluster.bytes.data[len] & 0xc0) == 0x80)
			len++;
		buf_append(&match->text, cluster.bytes.data, len);
	}
	ret->len = match->text.len - ret->start;
}

/* False: the numbers do not fit the text, or it is too much. */
static bool parts_read(struct wrap_found *match, const struct wrap_recent *recent)
{
	struct span text = match->look->text;
	unsigned end;

	match->row_count = recent->count;
	for (size_t i = 0; i < recent->count; i++) {
		const struct row *row = &recent->rows[index_back(recent, recent->count - i)];

		part_add(match, buf_view(&row->text), &match->rows[i]);
		match->rows[i].lines = wrap_end(row, match->look->columns, &end);
	}
	while (text.len && match->line_count < LINES_MAX) {
		const char *line_end = memchr(text.data, '\n', text.len);
		const size_t len = line_end ? (size_t)(line_end - text.data) : text.len;

		part_add(match, span_of(text.data, len), &match->lines[match->line_count++]);
		text = span_skip(text, len + (line_end != NULL));
	}
	return match->line_count == match->look->above + match->look->rows &&
	       !match->text.overflowed;
}

/* How many lines, from `first` on, have the text of the row and nothing else, wherever it was
 * wrapped; 0: they have not. */
static size_t lines_of_row(const struct wrap_found *match, size_t first,
                           const struct wrap_part *row)
{
	const struct wrap_part *lines = match->lines;
	size_t next = first, done = 0;

	do {
		const size_t len = lines[next].len;

		if (next == match->line_count || len > row->len - done || (!len && row->len) ||
		    (len && memcmp(match->text.data + lines[next].start,
		                   match->text.data + row->start + done, len) != 0))
			return 0;
		done += len;
		next++;
	} while (done < row->len);
	while (next < first + row->lines && next < match->line_count && !lines[next].len)
		next++; /* blanks that it ends with */
	return next - first;
}

/* Whether what stands behind the chain may be the live region with the cursor, or the row in which
 * that came to stand, of which a part is missing. */
static bool chain_reaches(const struct wrap_found *match, const struct wrap_chain *chain)
{
	size_t reach = match->reach + 1;

	if (chain->row < match->row_count)
		reach += match->rows[chain->row].lines;
	return chain->line + reach >= match->look->above + match->look->row;
}

/* Keeps the longest that reaches the live region, the lowest of those; or, with one, the nearest
 * above it in the window: between them rows are missing, or something is that should not. */
static void chain_consider(struct wrap_found *match, const struct wrap_chain *chain)
{
	const struct wrap_chain *lower = &match->lower, *best = &match->best;

	if (!lower->bytes) {
		if ((chain->bytes > best->bytes ||
		     (chain->bytes == best->bytes && chain->first_line > best->first_line)) &&
		    chain_reaches(match, chain))
			match->best = *chain;
	} else if (chain->line <= lower->first_line && chain->row <= lower->first_row &&
	           chain->line >= match->look->above && chain->bytes >= MATCH_ABOVE_BYTES &&
	           (chain->line > best->line ||
	            (chain->line == best->line && chain->bytes > best->bytes))) {
		match->best = *chain;
	}
}

/* Considers each chain that there is. */
static void chains_find(struct wrap_found *match)
{
	const size_t count = match->line_count, rows = match->row_count;
	/* chains[l]: the one that begins in line l with the row that is looked at, from the last
	 * one on; what it goes on with was looked at before. */
	_cleanup_free_ struct wrap_chain *chains = mem_alloc(count + 1, sizeof(*chains));

	match->best = (struct wrap_chain){ 0 };
	for (size_t l = 0; l <= count; l++)
		chains[l] = (struct wrap_chain){ l, rows, l, rows, 0 };
	for (size_t i = rows; i--;) {
		for (size_t l = 0; l < count; l++) {
			const size_t used = lines_of_row(match, l, &match->rows[i]);

			chains[l] = used ? chains[l + used] : (struct wrap_chain){ l, i, l, i, 0 };
			chains[l].first_line = l;
			chains[l].first_row = i;
			chains[l].bytes += used ? match->rows[i].len : 0;
			if (used)
				chain_consider(match, &chains[l]);
		}
		chains[count] = (struct wrap_chain){ count, i, count, i, 0 };
	}
}

/* What a window has of the rows; false: nothing that can be believed. */
static bool chain_find(struct wrap_found *match, struct wrap_chain *ret)
{
	chains_find(match);
	*ret = match->best;
	if (ret->bytes < MATCH_BYTES)
		return false;
	if (ret->first_row && ret->first_line > match->look->above) {
		match->lower = *ret;
		chains_find(match);
		if (match->best.bytes)
			*ret = match->best;
	}
	return true;
}

bool wrap_match(const struct wrap_recent *recent, const struct tmux_view *look, size_t reach,
                size_t *ret_row, size_t *ret_again)
{
	_cleanup_free_ struct wrap_found *match = mem_alloc(1, sizeof(*match));
	struct wrap_chain found;
	bool ok;

	match->look = look;
	match->reach = reach;
	match->text.max = MATCH_TEXT_MAX;
	ok = parts_read(match, recent) && chain_find(match, &found);
	buf_release(&match->text);
	if (!ok)
		return false;
	*ret_row = found.line > look->above ? found.line - look->above : 0;
	*ret_again = recent->count - found.row;
	return true;
}
