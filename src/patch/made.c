/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/nearest.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"

/* Hunks of more lines are not compared line by line, nor those in more lines of the file. */
enum { MADE_LINES_MAX = 400, MADE_LOOKS_MAX = 400000 };

/* Letters, digits and signs of a text that cannot stand somewhere by chance. */
enum { MADE_BYTES_MIN = 12 };

/* Lines less alike than this (nearest_likeness) are not what is left of each other. */
enum { MADE_LIKE = 60, MADE_REPLACED = 50 };

/* Places of the new lines that are looked at. */
enum { MADE_PLACES = 16 };

/* One hunk, and the new lines of all in the base. */
struct made {
	const struct lines *base;
	const struct diff_text *diff;
	struct fold_index index; /* new side, but for white space at line ends */
	size_t looks;            /* lines compared letter by letter so far */
	const struct hunk *hunk;
	size_t count;            /* its lines that count */
	size_t new_count;
};

static const struct hunk_line *made_line(const struct made *m, size_t i)
{
	return &m->diff->lines[m->hunk->first + i];
}

/* Whether a line that is not marked so has this text, white space around it aside. */
static bool side_has(const struct made *m, char not_op, struct span text)
{
	for (size_t i = 0; i < m->count; i++)
		if (made_line(m, i)->op != not_op &&
		    span_eq(span_trim(made_line(m, i)->text), text))
			return true;
	return false;
}

static bool same_but_end(struct span a, struct span b)
{
	struct buf unused = BUF_INIT(0);

	return span_eq(fold_line(FOLD_TRAILING, a, &unused), fold_line(FOLD_TRAILING, b, &unused));
}

/* Whether a side has this line. */
static bool is_line_of(const struct made *m, char not_op, struct span text)
{
	for (size_t i = 0; i < m->count; i++)
		if (made_line(m, i)->op != not_op && same_but_end(made_line(m, i)->text, text))
			return true;
	return false;
}

static bool is_removed(const struct made *m, size_t i)
{
	return made_line(m, i)->op == '-' && !side_has(m, '-', span_trim(made_line(m, i)->text));
}

static bool says_enough(struct span line)
{
	return nearest_is_distinctive(line) && candidates_has_word(line);
}

/* Whether the new lines have one that the old ones have too, and the file nowhere else. */
static bool has_own_line(const struct made *m)
{
	for (size_t i = 0; i < m->count; i++) {
		uint32_t id = m->index.diff_ids[m->hunk->first + i];
		size_t given = 0;

		if (!id || !says_enough(made_line(m, i)->text) ||
		    !is_line_of(m, '+', made_line(m, i)->text))
			continue;
		for (size_t k = 0; k < m->count; k++)
			given += m->index.diff_ids[m->hunk->first + k] == id;
		if (m->index.starts[id] - m->index.starts[id - 1] == given)
			return true;
	}
	return false;
}

/* Whether a line of the base in [from, to) is what is left of a line that hunk removes. */
static bool removed_is_among(struct made *m, size_t from, size_t to)
{
	for (size_t i = 0; i < m->count; i++) {
		struct span removed = made_line(m, i)->text;
		unsigned alike = MADE_LIKE;

		if (!is_removed(m, i) || !nearest_is_distinctive(removed))
			continue;
		/* A line that the hunk makes of it is like it, too: how much may be expected. */
		for (size_t k = 0; k < m->count; k++) {
			unsigned likeness = made_line(m, k)->op == '-' ? 0 :
			                    nearest_likeness(made_line(m, k)->text, removed);

			alike = likeness > alike ? likeness : alike;
		}
		for (size_t at = from; at < to; at++) {
			struct span body = span_trim(line_body(lines_at(m->base, at)));

			if (m->looks++ > MADE_LOOKS_MAX)
				return true;
			if (nearest_likeness(body, removed) >= alike && !side_has(m, '-', body))
				return true;
		}
	}
	return false;
}

/* Whether the hunk removes more than it adds where it has no context to end it, so that what it
 * removes may still be there, beyond the new lines. */
static bool edge_is_open(const struct made *m, bool at_end)
{
	size_t removed = 0, added = 0;

	for (size_t k = 0; k < m->count; k++) {
		size_t i = at_end ? m->count - 1 - k : k;
		const struct hunk_line *line = made_line(m, i);

		if (line->op == ' ' && span_trim(line->text).len)
			break;
		removed += line->op == '-' && !span_is_blank(line->text);
		added += line->op == '+' && !span_is_blank(line->text);
	}
	return removed > added;
}

/* Whether a line that only the old side has stands in [from, to) as the hunk has it. */
static bool old_line_stands(const struct made *m, size_t from, size_t to)
{
	for (size_t i = 0; i < m->count; i++) {
		struct span removed = made_line(m, i)->text;

		if (made_line(m, i)->op != '-' || !nearest_is_distinctive(removed) ||
		    is_line_of(m, '-', removed))
			continue;
		for (size_t at = from; at < to; at++)
			if (same_but_end(line_body(lines_at(m->base, at)), removed))
				return true;
	}
	return false;
}

/* Whether the line of the base next to the new ones is one of those that the hunk removes there. */
static bool removed_adjoins(const struct made *m, size_t line, bool at_end)
{
	for (size_t k = 0; k < m->count && line < m->base->count; k++) {
		size_t i = at_end ? m->count - 1 - k : k;

		if (made_line(m, i)->op == ' ')
			break;
		if (made_line(m, i)->op == '-' &&
		    span_eq(span_trim(made_line(m, i)->text), span_trim(lines_at(m->base, line))))
			return true;
	}
	return false;
}

/* Whether lines that the hunk removes are still there around the new ones at line `at`: then these
 * stand in the old text themselves. */
static bool removed_is_left(struct made *m, size_t at)
{
	size_t around = m->count + 8, end = at + m->new_count;
	size_t first = at > around ? at - around : 0;
	size_t last = end + around < m->base->count ? end + around : m->base->count;

	return old_line_stands(m, first, at) || old_line_stands(m, end, last) ||
	       removed_adjoins(m, at ? at - 1 : SIZE_MAX, false) ||
	       removed_adjoins(m, end, true) ||
	       (edge_is_open(m, false) && removed_is_among(m, first, at)) ||
	       (edge_is_open(m, true) && removed_is_among(m, end, last));
}

/* Whether the new lines could be the old ones, edited. */
static bool is_edited(const struct made *m)
{
	_cleanup_buf_ struct buf old = BUF_INIT(LIMIT_DIFF_BYTES), new = BUF_INIT(LIMIT_DIFF_BYTES);

	for (size_t i = 0; i < m->count; i++) {
		if (made_line(m, i)->op != '+')
			buf_printf(&old, "%.*s\n", (int)made_line(m, i)->text.len,
			           made_line(m, i)->text.data);
		if (made_line(m, i)->op != '-')
			buf_printf(&new, "%.*s\n", (int)made_line(m, i)->text.len,
			           made_line(m, i)->text.data);
	}
	return nearest_likeness(buf_view(&old), buf_view(&new)) >= MADE_REPLACED;
}

static size_t count_trimmed(const struct made *m, char not_op, struct span text)
{
	size_t count = 0;

	for (size_t i = 0; i < m->count; i++)
		count += made_line(m, i)->op != not_op &&
		         span_eq(span_trim(made_line(m, i)->text), text);
	return count;
}

/* The weaker evidence: lines of both sides, though the file has them elsewhere, too, or new lines
 * like the old ones; if nothing like what the hunk removes is left in the file. */
static bool no_old_line_is_left(struct made *m)
{
	bool shared = false;

	for (size_t i = 0; i < m->count; i++) {
		struct span text = span_trim(made_line(m, i)->text);

		if (made_line(m, i)->op != '-') {
			shared |= says_enough(text) && side_has(m, '+', text);
			continue;
		}
		/* A removed brace cannot be noticed where there are many. */
		if (text.len && (is_removed(m, i) ? !nearest_is_distinctive(text) :
		                 count_trimmed(m, '+', text) > count_trimmed(m, '-', text)))
			return false;
	}
	return (shared || is_edited(m)) && !removed_is_among(m, 0, m->base->count);
}

/* Whether the numbers in the header are those of line `at`.  0 and 1 are what models write that do
 * not know the line. */
static bool number_names(const struct made *m, const struct candidates *c, size_t at)
{
	const struct hunk *hunk = m->hunk;

	return (c->has_stated && hunk->old_start > 1 && c->stated == at) ||
	       (hunk->has_new && hunk->new_start > 1 &&
	        (int64_t)hunk->new_start - 1 + hunk->moved == (int64_t)at);
}

/* Whether the hunk has the mark of a file's end: its last old line is the file's last. */
static bool is_end_marked(const struct made *m)
{
	bool marked = m->hunk->at_end;

	for (size_t i = 0; i < m->count; i++)
		marked |= made_line(m, i)->op != '+' && made_line(m, i)->no_newline;
	return marked;
}

static size_t new_bytes(const struct made *m)
{
	size_t bytes = 0;

	for (size_t i = 0; i < m->count; i++)
		if (made_line(m, i)->op != '-')
			bytes += span_trim(made_line(m, i)->text).len + 1;
	return bytes;
}

/* Whether the hunk changes nothing but white space at line ends. */
static bool changes_ends_only(const struct made *m)
{
	size_t i = 0, k = 0;

	for (;;) {
		while (i < m->count && made_line(m, i)->op == '+')
			i++;
		while (k < m->count && made_line(m, k)->op == '-')
			k++;
		if (i == m->count || k == m->count)
			return i == m->count && k == m->count;
		if (!same_but_end(made_line(m, i++)->text, made_line(m, k++)->text))
			return false;
	}
}

static bool new_side_has_word(const struct made *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (made_line(m, i)->op != '-' && candidates_has_word(made_line(m, i)->text))
			return true;
	return false;
}

static bool adds_lines(const struct made *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (made_line(m, i)->op == '+' && !span_is_blank(made_line(m, i)->text))
			return true;
	return false;
}

/* What is known of the new lines of one hunk. */
enum found {
	FOUND_NOT,
	FOUND_SEVERAL,
	FOUND_ALONE,         /* in one place, and nothing says that it is the right one */
	FOUND_IF_ALONE,      /* it is, if the old lines have no place in a looser reading */
	FOUND_MADE,
};

/* Leaves the places whose lines have no white space at their ends that the hunk's lack; returns how
 * many. */
static size_t keep_exact(const struct made *m, size_t *places, size_t found)
{
	size_t kept = 0;

	for (size_t k = 0; k < found && k < MADE_PLACES; k++) {
		bool exact = true;
		size_t at = places[k];

		for (size_t i = 0; i < m->count && exact; i++)
			if (made_line(m, i)->op != '-')
				exact = line_body(lines_at(m->base, at++)).len <=
				        made_line(m, i)->text.len;
		if (exact)
			places[kept++] = places[k];
	}
	return found > MADE_PLACES ? found : kept;
}

/* Looks for the new lines of the hunk; *ret is their place. */
static enum found look_for(struct made *m, const struct candidates *c, size_t *ret)
{
	_cleanup_free_ uint32_t *ids = mem_alloc(m->count + 1, sizeof(*ids));
	size_t places[MADE_PLACES], found;

	m->new_count = candidates_ids(&m->index, m->hunk, m->count, ids);
	if (!m->new_count || m->count > MADE_LINES_MAX || !new_side_has_word(m) ||
	    changes_ends_only(m))
		return FOUND_NOT;
	found = fold_index_find(&m->index, ids, m->new_count, places, MADE_PLACES);
	found = keep_exact(m, places, found);
	for (size_t i = 0; i < found && i < MADE_PLACES; i++) {
		*ret = places[i];
		if (*ret + m->new_count == m->base->count && is_end_marked(m))
			return FOUND_MADE;
		if (number_names(m, c, *ret) && !c->total && !removed_is_left(m, *ret))
			return adds_lines(m) ? FOUND_MADE : FOUND_IF_ALONE;
	}
	if (found != 1 || c->total)
		return found ? FOUND_SEVERAL : FOUND_NOT;
	*ret = places[0];
	if (new_bytes(m) <= MADE_BYTES_MIN || removed_is_left(m, *ret))
		return FOUND_ALONE;
	return has_own_line(m) || no_old_line_is_left(m) ? FOUND_IF_ALONE : FOUND_ALONE;
}

/* Whether a hunk that has places may nevertheless have been applied already: it says that it ends
 * the file, and none of the places does. */
static bool misses_end(const struct made *m, const struct candidates *c)
{
	for (size_t i = 0; i < c->kept; i++)
		if (c->places[i] + c->old_count == m->base->count)
			return false;
	return c->total && is_end_marked(m);
}

/* Where each new text stands in one place, in the order of the hunks, one that was made speaks for
 * all. */
static void join_neighbours(const enum found *found, const size_t *at, size_t count,
                            struct candidates *hunks)
{
	bool any = false;

	for (size_t h = 0; h < count; h++) {
		if (found[h] < FOUND_ALONE || (h && at[h] <= at[h - 1]))
			return;
		any |= found[h] >= FOUND_IF_ALONE;
	}
	for (size_t h = 0; h < count && any; h++)
		hunks[h].made_if_alone = true;
}

void made_find(const struct lines *base, const struct diff_text *diff, bool base_has_bom,
               struct candidates *hunks)
{
	_cleanup_free_ enum found *found = mem_alloc(diff->hunk_count, sizeof(*found));
	_cleanup_free_ size_t *at = mem_alloc(diff->hunk_count, sizeof(*at));
	struct made m = { .base = base, .diff = diff };
	bool built = false;

	for (size_t h = 0; h < diff->hunk_count; h++) {
		m.hunk = &diff->hunks[h];
		m.count = hunks[h].count;
		m.new_count = 0;
		if (!hunks[h].old_count || !m.count ||
		    (hunks[h].total && !misses_end(&m, &hunks[h])))
			continue;
		if (!built)
			fold_index_build(&m.index, base, diff, FOLD_SIDE_NEW, FOLD_TRAILING,
			                 base_has_bom);
		built = true;
		found[h] = look_for(&m, &hunks[h], &at[h]);
		hunks[h].made = found[h] == FOUND_MADE;
		hunks[h].made_if_alone = found[h] == FOUND_IF_ALONE;
	}
	join_neighbours(found, at, diff->hunk_count, hunks);
	for (size_t h = 0; h < diff->hunk_count; h++)
		if (hunks[h].made || hunks[h].made_if_alone)
			hunks[h].made_at = at[h];
	if (built)
		fold_index_release(&m.index);
}

bool made_stands(struct fold_index *index, const struct diff_text *diff, size_t h,
                 const struct candidates *hunk)
{
	_cleanup_free_ uint32_t *ids = mem_alloc(hunk->count + 1, sizeof(*ids));
	size_t count = candidates_ids(index, &diff->hunks[h], hunk->count, ids), solid = 0;
	size_t place;

	for (size_t i = 0; i < hunk->count; i++) {
		const struct hunk_line *line = &diff->lines[diff->hunks[h].first + i];

		solid += line->op != '-' && !span_is_blank(line->text);
	}
	return solid >= 2 && fold_index_find(index, ids, count, &place, 1);
}

void made_confirm(const struct diff_text *diff, struct candidates *hunks)
{
	for (size_t h = 0; h < diff->hunk_count; h++) {
		struct candidates *hunk = &hunks[h];
		size_t end = hunk->made_at;
		bool alone = hunk->kept == hunk->total, removes = false;

		for (size_t i = 0; i < hunk->count; i++) {
			char op = diff->lines[diff->hunks[h].first + i].op;

			end += op != '-';
			removes |= op == '-';
		}
		/* A hunk that indents its old lines deeper matches them, in a loose reading. A hunk
		 * that only adds could be applied again. */
		for (size_t i = 0; i < hunk->kept; i++)
			alone &= removes && hunk->places[i] >= hunk->made_at &&
			         hunk->places[i] + hunk->old_count <= end;
		hunk->made |= hunk->made_if_alone && alone;
	}
}

/* ---- updates ---------------------------------------------------------------------- */

/* Lines that both texts begin with, or (with `from_end`) end with, at most `max`. */
static size_t alike_lines(const struct lines *a, const struct lines *b, bool from_end, size_t max)
{
	size_t n = 0;

	while (n < max && n < a->count && n < b->count &&
	       span_eq(line_body(lines_at(a, from_end ? a->count - 1 - n : n)),
	               line_body(lines_at(b, from_end ? b->count - 1 - n : n))))
		n++;
	return n;
}

static void put_update_lines(struct diff_text *diff, const struct lines *lines, size_t from,
                             size_t to, char op)
{
	for (size_t i = from; i < to; i++) {
		diff->lines = mem_grow(diff->lines, &diff->line_cap, diff->line_count + 1,
		                       sizeof(*diff->lines));
		diff->lines[diff->line_count++] = (struct hunk_line){
			.op = op, .text = line_body(lines_at(lines, i))
		};
	}
}

void made_diff_of(struct span old_text, struct span text, struct diff_text *ret)
{
	_cleanup_lines_ struct lines old = { 0 }, new = { 0 };
	size_t head, tail, shorter;

	*ret = (struct diff_text){ .hunk_count = 1 };
	lines_index(&old, old_text);
	lines_index(&new, text);
	head = alike_lines(&old, &new, false, SIZE_MAX);
	shorter = old.count < new.count ? old.count : new.count;
	tail = alike_lines(&old, &new, true, shorter - head);
	put_update_lines(ret, &old, 0, head, ' ');
	put_update_lines(ret, &old, head, old.count - tail, '-');
	put_update_lines(ret, &new, head, new.count - tail, '+');
	put_update_lines(ret, &old, old.count - tail, old.count, ' ');
	ret->hunks = mem_alloc(1, sizeof(*ret->hunks));
	ret->hunks[0] = (struct hunk){ .count = ret->line_count, .cut = ret->line_count };
}
