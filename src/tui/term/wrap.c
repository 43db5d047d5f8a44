/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text comes to stand when a terminal wraps its line anew, and by what a cursor that went
 * astray is found. */
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
	LINES_MAX = 4096,  /* of a window and the scrollback above it */
	MATCH_BYTES = 8,   /* of text that stands in both, at least, to believe it */
	MATCH_ABOVE_BYTES = 24, /* of what stands above it */
};

struct lines {
	struct span at[LINES_MAX];
	size_t count;
};

/* Rows one after the other that stand in lines one after the other. */
struct chain {
	size_t first_line, first_row;
	size_t line, row; /* the first ones behind it */
	size_t bytes;     /* of the text of its rows */
};

struct match {
	const struct wrap_recent *recent;
	const struct look *look;
	size_t reach;
	struct lines lines;
	struct chain lower; /* what ends at the live region; zeroed: it is looked for */
	struct chain best;
};

/* Blanks do not count, as a terminal may drop some, nor what has no width. */
static bool next_seen(struct span *rest, struct cluster *ret)
{
	while (cluster_next(rest, ret))
		if (ret->width && ret->bytes.data[0] != ' ')
			return true;
	return false;
}

/* Whether they begin with the same character: of marks behind it a terminal keeps some. */
static bool same_seen(const struct cluster *a, const struct cluster *b)
{
	size_t len = 1;

	while (len < a->bytes.len && ((unsigned char)a->bytes.data[len] & 0xc0) == 0x80)
		len++;
	return b->bytes.len >= len && memcmp(a->bytes.data, b->bytes.data, len) == 0;
}

static bool line_is_blank(struct span line)
{
	struct cluster cluster;

	return !next_seen(&line, &cluster);
}

/* How many lines, from `first` on, have the text of the row and nothing else, wherever it was
 * wrapped; 0: they have not. Adds to *bytes. */
static size_t lines_of_row(const struct lines *lines, size_t first, const struct row *row,
                           unsigned columns, size_t *bytes)
{
	struct span want = buf_view(&row->text), have = lines->at[first];
	struct cluster wanted, got;
	size_t next = first + 1, sum = 0;
	unsigned end;

	for (; next_seen(&want, &wanted); sum += wanted.bytes.len) {
		if (!next_seen(&have, &got)) {
			if (next == lines->count || line_is_blank(lines->at[next - 1]))
				return 0;
			have = lines->at[next++];
			if (!next_seen(&have, &got))
				return 0;
		}
		if (!same_seen(&wanted, &got))
			return 0;
	}
	if (!line_is_blank(have))
		return 0;
	for (size_t rows = wrap_end(row, columns, &end);
	     next < first + rows && next < lines->count && line_is_blank(lines->at[next]); next++)
		; /* blanks that it ends with */
	*bytes += sum;
	return next - first;
}

static void split_lines(struct span text, struct lines *ret)
{
	ret->count = 0;
	while (text.len && ret->count < LINES_MAX) {
		const char *end = memchr(text.data, '\n', text.len);
		const size_t len = end ? (size_t)(end - text.data) : text.len;

		ret->at[ret->count++] = span_of(text.data, len);
		text = span_skip(text, len + (end != NULL));
	}
}

/* Where the `i`th row is, from the oldest. */
static const struct row *row_at(const struct wrap_recent *recent, size_t i)
{
	return &recent->rows[index_back(recent, recent->count - i)];
}

/* Whether what stands behind the chain may be the live region with the cursor, or the row in which
 * that came to stand, of which a part is missing. */
static bool chain_reaches(const struct match *match, const struct chain *chain)
{
	size_t reach = match->reach + 1;
	unsigned end;

	if (chain->row < match->recent->count)
		reach += wrap_end(row_at(match->recent, chain->row), match->look->columns, &end);
	return chain->line + reach >= match->look->above + match->look->row;
}

/* Keeps the longest that reaches the live region, the lowest of those; or, with one, the nearest
 * above it in the window: between them rows are missing, or something is that should not. */
static void chain_consider(struct match *match, const struct chain *chain)
{
	const struct chain *lower = &match->lower, *best = &match->best;

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
static void chains_find(struct match *match)
{
	const size_t count = match->lines.count, rows = match->recent->count;
	/* chains[l]: the one that begins in line l with the row that is looked at, from the last
	 * one on; what it goes on with was looked at before. */
	_cleanup_free_ struct chain *chains = mem_alloc(count + 1, sizeof(*chains));

	match->best = (struct chain){ 0 };
	for (size_t l = 0; l <= count; l++)
		chains[l] = (struct chain){ l, rows, l, rows, 0 };
	for (size_t i = rows; i--;) {
		for (size_t l = 0; l < count; l++) {
			size_t bytes = 0;
			const size_t used = lines_of_row(&match->lines, l, row_at(match->recent, i),
			                                 match->look->columns, &bytes);

			chains[l] = used ? chains[l + used] : (struct chain){ l, i, l, i, 0 };
			chains[l].first_line = l;
			chains[l].first_row = i;
			chains[l].bytes += bytes;
			if (used)
				chain_consider(match, &chains[l]);
		}
		chains[count] = (struct chain){ count, i, count, i, 0 };
	}
}

bool wrap_match(const struct wrap_recent *recent, const struct look *look, size_t reach,
                size_t *ret_row, size_t *ret_again)
{
	_cleanup_free_ struct match *match = mem_alloc(1, sizeof(*match));
	struct chain found;

	match->recent = recent;
	match->look = look;
	match->reach = reach;
	split_lines(look->text, &match->lines);
	if (match->lines.count != look->above + look->rows)
		return false;
	chains_find(match);
	found = match->best;
	if (found.bytes < MATCH_BYTES)
		return false;
	if (found.first_row && found.first_line > look->above) {
		match->lower = found;
		chains_find(match);
		if (match->best.bytes)
			found = match->best;
	}
	*ret_row = found.line > look->above ? found.line - look->above : 0;
	*ret_again = recent->count - found.row;
	return true;
}
