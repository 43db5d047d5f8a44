/* SPDX-License-Identifier: Apache-2.0 */
/* Indentations: what was done to those of a diff, inferred from pairs of lines. */
#include "patch/whitespace/indent.h"

#include "base/mem.h"

/* Indentations longer than this are not source code. */
enum { INDENT_MAX = 4096 };

/* Pairs that an indentation is looked up among: bounds the work on hostile diffs. */
enum { PAIRS_LOOKED_AT = 4096 };

static const size_t widths[] = { 8, 4, 2, 3 };

struct span indent_of_line(struct span text)
{
	size_t n = 0;

	while (n < text.len && (text.data[n] == ' ' || text.data[n] == '\t'))
		n++;
	return span_head(text, n);
}

static bool has_tab(struct span indent)
{
	return indent.len && memchr(indent.data, '\t', indent.len);
}

/* Columns that an indentation covers with tab stops every `width`. */
static size_t columns_of(struct span indent, size_t width)
{
	size_t columns = 0;

	for (size_t i = 0; i < indent.len; i++)
		columns = indent.data[i] == '\t' ? (columns / width + 1) * width : columns + 1;
	return columns;
}

static bool all_same(const struct indent_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!span_eq(pairs[i].diff, pairs[i].file))
			return false;
	return true;
}

/* Whether one side of every pair is the other with the same prefix. */
static bool infer_prefix(const struct indent_pair *pairs, size_t count, bool in_diff,
                         struct span *ret)
{
	struct span prefix = span_of(NULL, 0);

	for (size_t i = 0; i < count; i++) {
		struct span longer = in_diff ? pairs[i].diff : pairs[i].file;
		struct span shorter = in_diff ? pairs[i].file : pairs[i].diff;
		struct span front;

		if (longer.len <= shorter.len || !span_ends(longer, shorter))
			return false;
		front = span_head(longer, longer.len - shorter.len);
		if (i && !span_eq(front, prefix))
			return false;
		prefix = front;
	}
	*ret = prefix;
	return count > 0;
}

/* Whether the diff's indentation is all spaces and the file's the same columns
 * with tabs, or the other way round. */
static bool infer_tabs(const struct indent_pair *pairs, size_t count, bool file_has_tabs,
                       size_t width)
{
	bool seen = false;

	for (size_t i = 0; i < count; i++) {
		struct span tabbed = file_has_tabs ? pairs[i].file : pairs[i].diff;
		struct span spaced = file_has_tabs ? pairs[i].diff : pairs[i].file;

		if (has_tab(spaced) || columns_of(tabbed, width) != spaced.len)
			return false;
		seen |= has_tab(tabbed);
	}
	return seen;
}

static bool infer_scale(const struct indent_pair *pairs, size_t count, struct indent_rule *rule)
{
	size_t file = 0, diff = 0, deepest = 0;

	for (size_t i = 0; i < count; i++) {
		if (has_tab(pairs[i].diff) || has_tab(pairs[i].file))
			return false;
		if (!pairs[i].diff.len && !pairs[i].file.len)
			continue;
		if (!pairs[i].diff.len || !pairs[i].file.len)
			return false;
		if (diff && pairs[i].file.len * diff != file * pairs[i].diff.len)
			return false;
		deepest = pairs[i].diff.len > deepest ? pairs[i].diff.len : deepest;
		if (!diff || pairs[i].diff.len < diff) {
			diff = pairs[i].diff.len;
			file = pairs[i].file.len;
		}
	}
	rule->width = file;
	rule->from = diff;
	rule->one_depth = deepest == diff;
	return diff > 0;
}

/* Whether equal indentations of the diff always stand for equal ones of the file. */
static bool is_map(const struct indent_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i && j < 64; j++)
			if (span_eq(pairs[i].diff, pairs[j].diff) &&
			    !span_eq(pairs[i].file, pairs[j].file))
				return false;
	return true;
}

struct indent_rule indent_infer(const struct indent_pair *pairs, size_t count)
{
	struct indent_rule rule = { .kind = INDENT_SAME, .pairs = pairs, .count = count };

	if (all_same(pairs, count))
		return rule;
	rule.kind = INDENT_STRIP;
	if (infer_prefix(pairs, count, true, &rule.prefix))
		return rule;
	for (size_t i = 0; i < ARRAY_LEN(widths); i++) {
		rule.width = widths[i];
		rule.kind = INDENT_TABS;
		if (infer_tabs(pairs, count, true, rule.width))
			return rule;
		rule.kind = INDENT_SPACES;
		if (infer_tabs(pairs, count, false, rule.width))
			return rule;
	}
	rule.kind = INDENT_ADD;
	if (infer_prefix(pairs, count, false, &rule.prefix))
		return rule;
	rule.kind = INDENT_SCALE;
	if (infer_scale(pairs, count, &rule))
		return rule;
	rule.kind = is_map(pairs, count) ? INDENT_MAP : INDENT_UNKNOWN;
	return rule;
}

static bool put_repeated(struct buf *out, char c, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_char(out, c);
	return true;
}

enum map_answer { MAP_NONE, MAP_ONE, MAP_CONFLICT };

/* What the file has where the diff has this very indentation. */
static enum map_answer ask_map(const struct indent_rule *rule, struct span indent,
                               struct span *ret)
{
	enum map_answer answer = MAP_NONE;

	for (size_t i = 0; i < rule->count && i < PAIRS_LOOKED_AT; i++) {
		if (!span_eq(rule->pairs[i].diff, indent))
			continue;
		if (answer == MAP_ONE && !span_eq(*ret, rule->pairs[i].file))
			return MAP_CONFLICT;
		*ret = rule->pairs[i].file;
		answer = MAP_ONE;
	}
	return answer;
}

static bool undo_tabs(const struct indent_rule *rule, struct span indent, struct buf *out)
{
	struct span file;

	if (has_tab(indent))
		return buf_span(out, indent);
	/* What the file has for this very indentation is better than arithmetic. */
	switch (ask_map(rule, indent, &file)) {
	case MAP_ONE:
		return buf_span(out, file);
	case MAP_CONFLICT:
		return false;
	case MAP_NONE:
		break;
	}
	if (indent.len % rule->width)
		return false; /* alignment: with tabs, or not? */
	return put_repeated(out, '\t', indent.len / rule->width);
}

bool indent_undo(const struct indent_rule *rule, struct span indent, struct buf *out)
{
	if (indent.len > INDENT_MAX)
		return false;
	switch (rule->kind) {
		struct span file;

	case INDENT_SAME:
		return buf_span(out, indent);
	case INDENT_STRIP:
		if (!span_starts(indent, rule->prefix))
			return false;
		return buf_span(out, span_skip(indent, rule->prefix.len));
	case INDENT_ADD:
		buf_span(out, rule->prefix);
		return buf_span(out, indent);
	case INDENT_TABS:
		return undo_tabs(rule, indent, out);
	case INDENT_SPACES:
		return put_repeated(out, ' ', columns_of(indent, rule->width));
	case INDENT_SCALE:
		/* One depth alone may as well be a shift. */
		if (has_tab(indent) || indent.len * rule->width % rule->from ||
		    (rule->one_depth && indent.len && indent.len != rule->from))
			return false;
		return put_repeated(out, ' ', indent.len * rule->width / rule->from);
	case INDENT_MAP:
		return ask_map(rule, indent, &file) == MAP_ONE && buf_span(out, file);
	case INDENT_UNKNOWN:
		break;
	}
	return false;
}

/* ---- one shift of a whole block --------------------------------------------------- */

/* Steps that are counted as a level of spaces; wider ones are alignment. */
enum { STEP_MAX = 8 };

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

bool indent_shift_in_doubt(const struct shift *shift, struct span indent)
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
static bool shift_level_of(struct span indent, size_t unit, size_t *ret)
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

		if (!shift_level_of(shift->pairs[i].diff, shift->given_unit, &given) ||
		    !shift_level_of(shift->pairs[i].file, shift->file_unit, &file) ||
		    (i && (long)file - (long)given != *ret))
			return false;
		*ret = (long)file - (long)given;
	}
	/* A different width together with a different depth is more likely a coincidence. */
	return shift->count > 0 && (!*ret || shift->given_unit == shift->file_unit ||
	                            shift->given_unit == UNIT_TAB || shift->file_unit == UNIT_TAB);
}

bool indent_is_continued(struct span line)
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

	return indent_is_continued(above) || !shift_level_of(indent, shift->given_unit, &level) ||
	       !shift_level_of(indent_of_line(above), shift->given_unit, &level_above) ||
	       level > level_above + 1;
}

static bool shift_by_levels(const struct shift *shift, struct span indent, struct buf *out)
{
	size_t given;

	if (!shift->by_levels || !shift_level_of(indent, shift->given_unit, &given) ||
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

/* The tab stops with which every pair has the same columns; 0 if there are none, or no tab
 * decides. */
static size_t read_columns(const struct shift *shift)
{
	for (size_t k = 0; k < sizeof(tab_stops) / sizeof(tab_stops[0]); k++) {
		bool differs = false;
		size_t i = 0;

		for (; i < shift->count; i++) {
			const struct indent_pair *pair = &shift->pairs[i];

			if (columns_of(pair->diff, tab_stops[k]) !=
			    columns_of(pair->file, tab_stops[k]))
				break;
			differs |= !span_eq(pair->diff, pair->file);
		}
		if (i == shift->count && differs)
			return tab_stops[k];
	}
	return 0;
}

/* ---- all of them ---- */

bool indent_shift_infer(struct shift *shift)
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

	if (!same_unit && (indent_is_continued(above) || aligned))
		return false;
	if (aligned && !shift->has_tabs && !indent_is_continued(above))
		return false;
	return buf_span(out, known->file);
}

bool indent_is_always(const struct indent_pair *pairs, size_t count, struct span diff,
                      struct span file)
{
	for (size_t i = 0; i < count; i++)
		if (span_eq(pairs[i].diff, diff) && !span_eq(pairs[i].file, file))
			return false;
	return true;
}

bool indent_shift_apply(const struct shift *shift, struct span indent, struct span above,
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
		return !shift->stop && !indent_shift_in_doubt(shift, indent) &&
		       shift_by_prefix(shift, indent, out);
	if (shift_by_prefix(shift, indent, out))
		return span_eq(buf_from(out, start), buf_view(&levels)) &&
		       !(indent_is_continued(above) && indent_shift_in_doubt(shift, indent));
	out->len = start;
	return !is_aligned(shift, indent, above) && buf_span(out, buf_view(&levels)) &&
	       (!shift->stop || columns_of(buf_view(&levels), shift->stop) ==
	                                columns_of(indent, shift->stop));
}
