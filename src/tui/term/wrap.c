/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text comes to stand when a terminal wraps its line anew, and by what a cursor that went
 * astray is found. */
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

	for (size_t back = 1; back <= recent->count; back++) {
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
