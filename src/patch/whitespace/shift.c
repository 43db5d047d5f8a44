/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/whitespace/shift.h"

/* Steps that are counted as a level of spaces; wider ones are alignment. */
enum { STEP_MAX = 8 };

/* Pairs that an indentation is looked up among: bounds the work on hostile blocks. */
enum { PAIRS_LOOKED_AT = 4096 };

static const size_t tab_stops[] = { 8, 4, 2, 3 };

static bool is_tabs(struct span indent)
{
	for (size_t i = 0; i < indent.len; i++)
		if (indent.data[i] != '\t')
			return false;
	return true;
}

static bool is_spaces(struct span indent)
{
	for (size_t i = 0; i < indent.len; i++)
		if (indent.data[i] != ' ')
			return false;
	return true;
}

size_t indent_unit(const struct lines *lines)
{
	size_t tabbed = 0, spaced = 0, steps[STEP_MAX + 1] = { 0 }, last = 0, best = 0;

	for (size_t i = 0; i < lines->count; i++) {
		struct span body = line_body(lines_at(lines, i)), indent = indent_of_line(body);

		if (!span_trim(body).len)
			continue;
		if (indent.len && indent.data[0] == '\t') {
			tabbed++;
			continue;
		}
		spaced += indent.len > 1; /* one space: a comment's star */
		if (indent.len > last && indent.len - last <= STEP_MAX)
			steps[indent.len - last]++;
		last = indent.len;
	}
	if (tabbed > spaced)
		return UNIT_TAB;
	for (size_t i = 2; i <= STEP_MAX; i++)
		if (steps[i] > steps[best])
			best = i;
	return best;
}

void indent_unit_add(size_t *unit, bool *mixed, struct span indent)
{
	size_t a = indent.len, b = *unit;

	if (!indent.len || *mixed)
		return;
	if (is_tabs(indent) && (b == UNIT_UNKNOWN || b == UNIT_TAB)) {
		*unit = UNIT_TAB;
	} else if (is_spaces(indent) && b != UNIT_TAB) {
		while (b) {
			size_t rest = a % b;

			a = b;
			b = rest;
		}
		*unit = a;
	} else {
		*mixed = true;
		*unit = UNIT_UNKNOWN;
	}
}

/* ---- the same text in front of every line ---- */

/* What one side of every pair has in front of the other. */
static bool read_prefix(const struct shift *shift, bool file_is_longer, struct span *ret)
{
	for (size_t i = 0; i < shift->count; i++) {
		const struct indent_pair *pair = &shift->pairs[i];
		struct span longer = file_is_longer ? pair->file : pair->diff;
		struct span shorter = file_is_longer ? pair->diff : pair->file;
		struct span front;

		if (!span_ends(longer, shorter))
			return false;
		front = span_head(longer, longer.len - shorter.len);
		if (i && !span_eq(front, *ret))
			return false;
		*ret = front;
	}
	return shift->count > 0;
}

static bool shift_by_prefix(const struct shift *shift, struct span indent, struct buf *out)
{
	if (shift->adds)
		return buf_span(out, shift->prefix) && buf_span(out, indent);
	return shift->strips && span_starts(indent, shift->prefix) &&
	       buf_span(out, span_skip(indent, shift->prefix.len));
}

bool shift_in_doubt(const struct shift *shift, struct span indent)
{
	size_t given = shift->pairs[0].diff.len, file = shift->pairs[0].file.len;

	if (!shift->adds && !shift->strips)
		return false;
	if (shift->file_unit == UNIT_TAB && indent.len && !shift->has_tabs)
		return true;
	for (size_t i = 1; i < shift->count; i++)
		if (shift->pairs[i].diff.len != given)
			return false;
	return given && (file == 2 * given || given == 2 * file);
}

/* ---- levels ---- */

/* How many levels deep an indentation is; false when it is no whole number of units. */
static bool level_of(struct span indent, size_t unit, size_t *ret)
{
	if (!indent.len) {
		*ret = 0;
		return true;
	}
	if (unit == UNIT_TAB) {
		*ret = indent.len;
		return is_tabs(indent);
	}
	/* One space is no level: it is what texts have in common that are aligned. */
	if (unit < 2 || indent.len % unit || !is_spaces(indent))
		return false;
	*ret = indent.len / unit;
	return true;
}

/* How many levels deeper the file is than the block; false when not all pairs agree. */
static bool read_levels(const struct shift *shift, long *ret)
{
	for (size_t i = 0; i < shift->count; i++) {
		size_t given, file;

		if (!level_of(shift->pairs[i].diff, shift->given_unit, &given) ||
		    !level_of(shift->pairs[i].file, shift->file_unit, &file) ||
		    (i && (long)file - (long)given != *ret))
			return false;
		*ret = (long)file - (long)given;
	}
	/* Another width and another depth at once are more likely a coincidence. */
	return shift->count > 0 && (!*ret || shift->given_unit == shift->file_unit ||
	                            shift->given_unit == UNIT_TAB || shift->file_unit == UNIT_TAB);
}

bool shift_is_continued(struct span line)
{
	size_t open = 0;

	line = span_trim(line);
	for (size_t i = 0; i < line.len; i++) {
		open += line.data[i] == '(' || line.data[i] == '[';
		open -= (line.data[i] == ')' || line.data[i] == ']') && open;
	}
	if (line.len && line.data[line.len - 1] == ':' && memchr(line.data, '?', line.len))
		return true;
	return open || (line.len && strchr(",=+-*/%&|<>?.\\\"", line.data[line.len - 1]));
}

/* Whether a line is aligned to something in the line above. */
static bool is_aligned(const struct shift *shift, struct span indent, struct span above)
{
	size_t level, level_above;

	return shift_is_continued(above) || !level_of(indent, shift->given_unit, &level) ||
	       !level_of(indent_of_line(above), shift->given_unit, &level_above) ||
	       level > level_above + 1;
}

static bool shift_by_levels(const struct shift *shift, struct span indent, struct buf *out)
{
	size_t given;

	if (!shift->by_levels || !level_of(indent, shift->given_unit, &given) ||
	    (long)given + shift->deeper < 0)
		return false;
	for (long level = (long)given + shift->deeper; level > 0; level--) {
		if (shift->file_unit == UNIT_TAB)
			buf_char(out, '\t');
		for (size_t i = 0; shift->file_unit != UNIT_TAB && i < shift->file_unit; i++)
			buf_char(out, ' ');
	}
	return !out->overflowed;
}

/* ---- columns ---- */

static size_t columns_of(struct span indent, size_t stop)
{
	size_t columns = 0;

	for (size_t i = 0; i < indent.len; i++)
		columns = indent.data[i] == '\t' ? (columns / stop + 1) * stop : columns + 1;
	return columns;
}

/* The tab stops with which every pair has the same columns; 0 if there are none, or no tab that
 * tells. */
static size_t read_columns(const struct shift *shift)
{
	for (size_t k = 0; k < sizeof(tab_stops) / sizeof(tab_stops[0]); k++) {
		bool differs = false;
		size_t i = 0;

		for (; i < shift->count; i++) {
			const struct indent_pair *pair = &shift->pairs[i];

			if (columns_of(pair->diff, tab_stops[k]) != columns_of(pair->file, tab_stops[k]))
				break;
			differs |= !span_eq(pair->diff, pair->file);
		}
		if (i == shift->count && differs)
			return tab_stops[k];
	}
	return 0;
}

/* ---- all of them ---- */

bool shift_infer(struct shift *shift)
{
	shift->adds = read_prefix(shift, true, &shift->prefix);
	shift->strips = !shift->adds && read_prefix(shift, false, &shift->prefix);
	shift->by_levels = read_levels(shift, &shift->deeper);
	shift->stop = read_columns(shift);
	return shift->adds || shift->strips || shift->by_levels || shift->stop;
}

/* What the file has where the block has this very indentation; NULL if nothing. */
static const struct indent_pair *find_pair(const struct shift *shift, struct span indent,
                                           bool *ret_conflict)
{
	const struct indent_pair *found = NULL;

	*ret_conflict = false;
	for (size_t i = 0; i < shift->count && i < PAIRS_LOOKED_AT; i++) {
		if (!span_eq(shift->pairs[i].diff, indent))
			continue;
		*ret_conflict |= found && !span_eq(found->file, shift->pairs[i].file);
		found = &shift->pairs[i];
	}
	return found;
}

/* An indentation that is in the evidence.  Where the unit changes, what is aligned in the file
 * may be a level in the block, and the other way round. */
static bool put_known(const struct shift *shift, const struct indent_pair *known,
                      struct span above, struct buf *out)
{
	bool same_unit = shift->adds || shift->strips;
	bool aligned = !is_tabs(known->file) && !is_spaces(known->file);

	if (!same_unit && (shift_is_continued(above) || aligned))
		return false;
	if (aligned && !shift->has_tabs && !shift_is_continued(above))
		return false;
	return buf_span(out, known->file);
}

bool shift_indent(const struct shift *shift, struct span indent, struct span above,
                  struct buf *out)
{
	_cleanup_buf_ struct buf levels = BUF_INIT(1 << 20);
	const struct indent_pair *known;
	size_t start = out->len;
	bool conflict;

	known = find_pair(shift, indent, &conflict);
	if (conflict)
		return false;
	if (known)
		return put_known(shift, known, above, out);
	/* The columns are the same, but not what fills them. */
	if (shift->stop && columns_of(indent, shift->stop) % shift->stop)
		return false;
	if (!shift_by_levels(shift, indent, &levels))
		return !shift->stop && !shift_in_doubt(shift, indent) &&
		       shift_by_prefix(shift, indent, out);
	if (shift_by_prefix(shift, indent, out))
		return span_eq(buf_from(out, start), buf_view(&levels)) &&
		       !(shift_is_continued(above) && shift_in_doubt(shift, indent));
	out->len = start;
	return !is_aligned(shift, indent, above) && buf_span(out, buf_view(&levels)) &&
	       (!shift->stop || columns_of(buf_view(&levels), shift->stop) ==
	                                columns_of(indent, shift->stop));
}
