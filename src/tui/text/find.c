/* SPDX-License-Identifier: Apache-2.0 */
/* A line that is broken goes on behind its joints (rows.h); what stands before the text of the rows
 * after its first, and in other columns, is not of it.  So a match is either text of one row, as it
 * stands there, or text on both sides of a joint. */
#include "tui/text/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static size_t joint_count(const struct row *row, uint8_t joint)
{
	size_t count = 0;

	for (size_t i = 0; i < row->count; i++)
		count += (row->runs[i].joints & joint) != 0;
	return count;
}

/* Run number `n` of those with the joint. */
static const struct row_run *joint_run(const struct row *row, uint8_t joint, size_t n)
{
	const struct row_run *run = row->runs;

	while (!(run->joints & joint) || n--)
		run++;
	return run;
}

/* Behind a run that goes on. */
static size_t joint_end(const struct row_run *run)
{
	return (size_t)run->start + run->len;
}

/* How many lines go on from row `i` to the next one. */
static size_t joined_count(const struct rows *rows, size_t i)
{
	const size_t count = i + 1 < rows->count ? joint_count(&rows->at[i], RUN_GOES_ON) : 0;

	return count && count == joint_count(&rows->at[i + 1], RUN_CONTINUES) ? count : 0;
}

/* The first byte of row `i` that is of the line whose `end` number `n` goes on there. */
static size_t line_start(const struct row *row, const struct row_run *end)
{
	size_t start = 0;

	for (const struct row_run *run = row->runs; run <= end; run++) {
		if (run->joints & RUN_CONTINUES)
			start = run->start;
		if (run != end && run->joints & RUN_GOES_ON)
			start = joint_end(run);
	}
	return start;
}

/* The run behind which the line goes on that has byte `from` of row `i`, and its number; NULL: the
 * line ends in this row. */
static const struct row_run *line_goes_on(const struct rows *rows, size_t i, size_t from,
                                          size_t *ret_number)
{
	const size_t count = joined_count(rows, i);

	for (size_t n = 0; n < count; n++) {
		const struct row_run *run = joint_run(&rows->at[i], RUN_GOES_ON, n);

		if (joint_end(run) <= from)
			continue;
		*ret_number = n;
		return line_start(&rows->at[i], run) <= from ? run : NULL;
	}
	return NULL;
}

static void find_add(struct row_find *find, size_t row, size_t start, size_t len)
{
	if (!len)
		return;
	if (find->count == find->cap)
		find->pieces = mem_grow(find->pieces, &find->cap, find->count + 1,
		                        sizeof(*find->pieces));
	find->pieces[find->count++] = (struct find_piece){ row, start, len };
}

/* Whether `wanted` stands in the line that has byte `from` of row `i`, from there on; sets the
 * pieces. */
static bool find_at(struct row_find *find, const char *wanted, size_t i, size_t from)
{
	size_t left = strlen(wanted);

	for (find->count = 0;;) {
		const struct row *row = &find->rows->at[i];
		size_t number = 0, blanks;
		const struct row_run *run = line_goes_on(find->rows, i, from, &number);
		size_t len = (run ? joint_end(run) : row->text.len) - from;

		len = len < left ? len : left;
		if (strncasecmp(row->text.data + from, wanted, len) != 0)
			return false;
		find_add(find, i, from, len);
		wanted += len;
		left -= len;
		if (!left || !run)
			return !left;
		run = joint_run(&find->rows->at[++i], RUN_CONTINUES, number);
		blanks = run->blanks < left ? run->blanks : left;
		if (strspn(wanted, " ") < blanks)
			return false;
		wanted += blanks;
		left -= blanks;
		if (!left)
			return true;
		from = run->start;
	}
}

/* Of row `i`, the first place at or behind `from` whose match goes on in the next row. */
static size_t find_broken(struct row_find *find, size_t i, size_t from)
{
	const size_t count = joined_count(find->rows, i), len = strlen(find->wanted);

	for (size_t n = 0; n < count; n++) {
		const struct row_run *run = joint_run(&find->rows->at[i], RUN_GOES_ON, n);
		const size_t end = joint_end(run);
		size_t at = line_start(&find->rows->at[i], run);

		at = end - at < len ? at : end - len + 1;
		for (at = at < from ? from : at; at < end; at++)
			if (find_at(find, find->wanted, i, at))
				return at;
	}
	return SIZE_MAX;
}

/* The same for a match that begins with blanks that were dropped before its first piece, in row
 * `i`. */
static size_t find_behind_blanks(struct row_find *find, size_t i, size_t from)
{
	const size_t blanks = strspn(find->wanted, " ");
	const size_t count = i && blanks ? joined_count(find->rows, i - 1) : 0;

	for (size_t n = 0; n < count && find->wanted[blanks]; n++) {
		const struct row_run *run = joint_run(&find->rows->at[i], RUN_CONTINUES, n);

		if (run->start >= from && run->blanks >= blanks &&
		    find_at(find, find->wanted + blanks, i, run->start))
			return run->start;
	}
	return SIZE_MAX;
}

static size_t find_whole(const struct row_find *find, size_t i, size_t from)
{
	const struct buf *text = &find->rows->at[i].text;
	const char *at = from < text->len ? strcasestr(text->data + from, find->wanted) : NULL;

	return at ? (size_t)(at - text->data) : SIZE_MAX;
}

/* The first match of those that begin in the row, at or behind find->byte; sets its pieces.
 * Returns its first byte; SIZE_MAX: none. */
static size_t find_in_row(struct row_find *find)
{
	const size_t i = find->row, whole = find_whole(find, i, find->byte);
	const size_t behind = find_behind_blanks(find, i, find->byte);
	const size_t broken = find_broken(find, i, find->byte);

	if (whole != SIZE_MAX && whole <= behind && whole <= broken) {
		find->count = 0;
		find_add(find, i, whole, strlen(find->wanted));
		return whole;
	}
	if (behind < broken) /* its pieces again */
		find_at(find, find->wanted + strspn(find->wanted, " "), i, behind);
	return behind < broken ? behind : broken;
}

static bool find_overlaps(const struct row_find *find)
{
	for (size_t i = 0; i < find->count; i++)
		for (size_t k = 0; k < find->taken_count; k++) {
			const struct find_piece *a = &find->pieces[i], *b = &find->taken[k];

			if (a->row == b->row && a->start < b->start + b->len &&
			    b->start < a->start + a->len)
				return true;
		}
	return false;
}

static void find_take(struct row_find *find)
{
	for (size_t i = 1; i < find->count; i++) {
		if (find->taken_count == find->taken_cap)
			find->taken = mem_grow(find->taken, &find->taken_cap,
			                       find->taken_count + 1, sizeof(*find->taken));
		find->taken[find->taken_count++] = find->pieces[i];
	}
	find->byte = find->pieces[0].start + find->pieces[0].len;
}

static void find_next_row(struct row_find *find)
{
	size_t kept = 0;

	find->row++;
	find->byte = 0;
	for (size_t i = 0; i < find->taken_count; i++)
		if (find->taken[i].row >= find->row)
			find->taken[kept++] = find->taken[i];
	find->taken_count = kept;
}

void find_begin(struct row_find *find, const struct rows *rows, const char *wanted, size_t from)
{
	/* Which matches count depends on those before them in the line. */
	while (from && from < rows->count && joined_count(rows, from - 1))
		from--;
	*find = (struct row_find){ .rows = rows, .wanted = wanted, .row = from };
}

bool find_next(struct row_find *find)
{
	while (*find->wanted && find->row < find->rows->count) {
		const size_t at = find_in_row(find);

		if (at == SIZE_MAX) {
			find_next_row(find);
		} else if (find_overlaps(find)) {
			find->byte = at + 1;
		} else {
			find_take(find);
			return true;
		}
	}
	find_release(find);
	return false;
}

void find_release(struct row_find *find)
{
	free(find->pieces);
	free(find->taken);
	find->pieces = find->taken = NULL;
	find->count = find->cap = find->taken_count = find->taken_cap = 0;
}
