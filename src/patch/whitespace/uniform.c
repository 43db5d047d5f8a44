/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/whitespace/whitespace.h"

#include <stdlib.h>

#include "base/mem.h"
#include "patch/whitespace/indent.h"

/* Longer hunks are not looked at: they are files, not edits, and each added line is compared with
 * all old ones. */
enum { LINES_MAX = 1024 };

/* Columns of a tab, as people set them. */
enum { TAB_SHORT = 4, TAB_LONG = 8 };

/* What the old lines of a hunk say. */
struct old_side {
	struct shift shift;     /* no pairs: none holds */
	bool lost_alignment;    /* of some lines, spaces that aligned them became tabs */
	size_t spaces_left;     /* of these, at most */
	bool scaled_alignment;  /* or became twice or half as many */
	bool lacks_a_line;      /* that the file has just outside */
};

struct uniform {
	const struct lines *base;
	const struct diff_text *diff;
	const struct placement *places;
	struct old_side *sides;    /* owned; one for each hunk */
	struct indent_pair *pairs; /* owned; of all hunks */
	size_t file_unit;          /* indent.h */
	size_t added_spaces;       /* at the end of an added line's indentation, at most */
};

static const struct hunk_line *hunk_lines(const struct uniform *u, size_t h)
{
	return &u->diff->lines[u->diff->hunks[h].first];
}

/* The old lines that are not blank, paired with the file's; how many. */
static size_t pair_old_lines(const struct uniform *u, size_t h, struct indent_pair *pairs)
{
	struct evidence_walk walk = evidence_walk_begin(u->diff, u->places, h);
	size_t count = 0;

	while (evidence_walk_next(&walk))
		if (!span_is_blank(walk.line->text))
			pairs[count++] = (struct indent_pair){
				indent_of_line(walk.line->text),
				indent_of_line(line_body(lines_at(u->base, walk.base_line)))
			};
	return count;
}

static bool shift_differs(const struct shift *shift)
{
	for (size_t i = 0; i < shift->count; i++)
		if (!span_eq(shift->pairs[i].diff, shift->pairs[i].file))
			return true;
	return false;
}

/* Whether some lines of the hunk kept the unit that others lost: an old line that is as the file
 * has it, or added lines with tabs where no old line has any left. */
static bool unit_is_kept(const struct uniform *u, size_t h, const struct shift *shift)
{
	bool old_tabs = false;

	for (size_t i = 0; i < shift->count; i++) {
		if (shift->pairs[i].file.len && span_eq(shift->pairs[i].diff, shift->pairs[i].file))
			return true;
		old_tabs |= indent_has_tab(shift->pairs[i].diff);
	}
	for (size_t i = 0; i < u->places[h].count && !old_tabs; i++) {
		const struct hunk_line *line = &hunk_lines(u, h)[i];

		if (line->op == '+' && indent_has_tab(indent_of_line(line->text)))
			return true;
	}
	return false;
}

/* Whether the shift is one of the whole hunk.  By one space lines are off whose markers were lost,
 * or have a space after them: whitespace.h knows more of that. */
static bool is_of_all(const struct uniform *u, size_t h, const struct shift *shift)
{
	if (shift->adds || shift->strips)
		return !span_eq(shift->prefix, SPAN(" "));
	return !unit_is_kept(u, h, shift);
}

/* Spaces at the end of an indentation. */
static size_t spaces_at_end(struct span indent)
{
	size_t count = 0;

	while (count < indent.len && indent.data[indent.len - 1 - count] == ' ')
		count++;
	return count;
}

/* Whether the line of the base goes on with the one before. */
static bool base_line_goes_on(const struct uniform *u, size_t line)
{
	return line && indent_is_continued(line_body(lines_at(u->base, line - 1)));
}

/* What became of lines that are aligned to something above. */
static void read_alignment(const struct uniform *u, size_t h, struct old_side *side)
{
	struct evidence_walk walk = evidence_walk_begin(u->diff, u->places, h);

	while (evidence_walk_next(&walk)) {
		struct span diff = indent_of_line(walk.line->text);
		struct span file = indent_of_line(line_body(lines_at(u->base, walk.base_line)));
		size_t left = spaces_at_end(diff);

		if (!spaces_at_end(file) ||
		    (!indent_has_tab(file) && !base_line_goes_on(u, walk.base_line)))
			continue;
		if (indent_has_tab(diff) && left < spaces_at_end(file)) {
			side->lost_alignment = true;
			side->spaces_left = left > side->spaces_left ? left : side->spaces_left;
		}
		side->scaled_alignment |= !indent_has_tab(file) && !indent_has_tab(diff) &&
		                          diff.len > 2 && file.len > 2 &&
		                          (file.len == 2 * diff.len || diff.len == 2 * file.len);
	}
}

/* Whether the hunk's first or last line, indented otherwise here, stands as it is just outside:
 * then the hunk lacks a line that the file has. */
static bool lacks_a_line(const struct uniform *u, size_t h)
{
	struct evidence_walk walk = evidence_walk_begin(u->diff, u->places, h);
	size_t first = u->places[h].at, last = first + u->places[h].old_count - 1;

	while (evidence_walk_next(&walk)) {
		size_t outside = walk.base_line == first ? first - 1 : last + 1;

		if ((walk.base_line == first || walk.base_line == last) &&
		    outside < u->base->count && !span_is_blank(walk.line->text) &&
		    span_eq(line_body(lines_at(u->base, outside)), walk.line->text) &&
		    !span_eq(line_body(lines_at(u->base, walk.base_line)), walk.line->text))
			return true;
	}
	return false;
}

static size_t most_added_spaces(const struct diff_text *diff)
{
	size_t most = 0;

	for (size_t i = 0; i < diff->line_count; i++) {
		size_t spaces = spaces_at_end(indent_of_line(diff->lines[i].text));

		if (diff->lines[i].op == '+' && spaces > most)
			most = spaces;
	}
	return most;
}

/* Whether the hunk fits only with its indentation set aside. */
static bool fits_by_folding(const struct uniform *u, size_t h)
{
	enum fold fold = u->places[h].fold;

	return (fold == FOLD_COLLAPSE || fold == FOLD_DROP) && u->places[h].count <= LINES_MAX;
}

/* Fills the side; returns how many pairs it uses of those at `pairs`. */
static size_t read_side(const struct uniform *u, size_t h, struct indent_pair *pairs,
                        struct old_side *side)
{
	struct shift shift = { .pairs = pairs, .file_unit = u->file_unit };
	bool mixed;

	/* What all lines of the hunk say of how they are indented. */
	mixed = false;
	for (size_t i = 0; i < u->places[h].count; i++) {
		struct span text = hunk_lines(u, h)[i].text, indent = indent_of_line(text);

		if (span_is_blank(text))
			continue;
		indent_unit_add(&shift.given_unit, &mixed, indent);
		shift.has_tabs |= indent_has_tab(indent);
	}
	side->shift.has_tabs = shift.has_tabs;
	side->lacks_a_line = lacks_a_line(u, h);
	read_alignment(u, h, side);
	shift.count = pair_old_lines(u, h, pairs);
	if (shift.count < 2 || !shift_differs(&shift) || !indent_shift_infer(&shift) ||
	    !is_of_all(u, h, &shift))
		return 0;
	side->shift = shift;
	return shift.count;
}

struct uniform *uniform_make(const struct lines *base, const struct diff_text *diff,
                             const struct placement *places)
{
	struct uniform *u = mem_alloc(1, sizeof(*u));
	size_t at = 0;

	*u = (struct uniform){ .base = base, .diff = diff, .places = places };
	u->sides = mem_alloc(diff->hunk_count, sizeof(*u->sides));
	u->pairs = mem_alloc(diff->line_count + 1, sizeof(*u->pairs));
	for (size_t h = 0; h < diff->hunk_count; h++) {
		u->sides[h] = (struct old_side){ 0 };
		if (!fits_by_folding(u, h))
			continue;
		if (u->file_unit == UNIT_UNKNOWN) {
			u->file_unit = indent_unit(base);
			u->added_spaces = most_added_spaces(diff);
		}
		at += read_side(u, h, &u->pairs[at], &u->sides[h]);
	}
	return u;
}

void uniform_free(struct uniform *u)
{
	free(u->sides);
	free(u->pairs);
	free(u);
}

/* The file's line that an old line with this very text stands for; false: none. */
static bool find_old(const struct uniform *u, size_t h, struct span text, struct span *ret)
{
	struct evidence_walk walk = evidence_walk_begin(u->diff, u->places, h);

	while (evidence_walk_next(&walk))
		if (span_eq(walk.line->text, text)) {
			*ret = line_body(lines_at(u->base, walk.base_line));
			return true;
		}
	return false;
}

/* The line before it in the new text, blank ones aside; NULL: none. */
static const struct hunk_line *line_above(const struct uniform *u, size_t h, size_t index)
{
	const struct hunk_line *lines = u->diff->lines;

	while (index-- > u->diff->hunks[h].first)
		if (lines[index].op != '-' && !span_is_blank(lines[index].text))
			return &lines[index];
	return NULL;
}

/* Whether the line below may be deeper. */
static bool opens_a_block(struct span line)
{
	static const char *const words[] = { "if", "else", "for", "while", "do", "case", "then" };

	line = span_trim(line);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (span_starts(line, span_str(words[i])) || span_ends(line, span_str(words[i])))
			return true;
	return indent_is_continued(line) || (line.len && strchr("{:([>", line.data[line.len - 1]));
}

/* Whether the line is as deep as the one above is in the file, and would be deeper than that if it
 * were shifted, though nothing opens there: then old lines alone were shifted. */
static bool looks_spared(const struct uniform *u, size_t h, const struct hunk_line *above,
                         struct span indent, struct span shifted)
{
	struct span file;

	return above && above->op == ' ' && !opens_a_block(above->text) &&
	       find_old(u, h, above->text, &file) && span_eq(indent_of_line(file), indent) &&
	       shifted.len > indent.len;
}

/* Whether the line goes on with the one above. */
static bool continues_above(const struct uniform *u, size_t index, const struct hunk_line *above)
{
	struct span text = span_trim(u->diff->lines[index].text);

	return above && (indent_is_continued(above->text) ||
	                 (text.len && strchr("?:&|.+", text.data[0])));
}

/* Whether the line may have been aligned like old lines whose alignment was lost: it goes on with
 * the line above and stays as it is, or goes on with none and was aligned anyway. Where some added
 * line has as many spaces in front as would have become a tab, added lines were spared. */
static bool may_be_aligned(const struct uniform *u, const struct old_side *side, struct span indent,
                           bool follows, struct span found)
{
	bool kept = span_eq(found, indent);

	if (!follows)
		return !kept && indent_has_tab(found) && spaces_at_end(found) > 1;
	if (indent_has_tab(indent))
		return kept && side->lost_alignment &&
		       u->added_spaces < (side->spaces_left < TAB_SHORT ? TAB_SHORT : TAB_LONG);
	if (u->file_unit != UNIT_TAB)
		return false;
	return kept ? side->scaled_alignment && indent.len :
	              !side->shift.has_tabs && !spaces_at_end(found);
}

bool uniform_doubts(const struct uniform *u, size_t h, size_t index, struct span found)
{
	struct span indent = indent_of_line(u->diff->lines[index].text);
	const struct hunk_line *above = line_above(u, h, index);
	const struct old_side *side = &u->sides[h];

	if (!fits_by_folding(u, h))
		return false;
	/* Spaces where the file has tabs. */
	if (side->shift.count && u->file_unit == UNIT_TAB && !side->shift.has_tabs && indent.len &&
	    span_eq(found, indent))
		return true;
	return side->lacks_a_line ||
	       may_be_aligned(u, side, indent, continues_above(u, index, above), found);
}

enum uniform_answer uniform_indent(const struct uniform *u, size_t h, size_t index,
                                   struct buf *out)
{
	struct span text = u->diff->lines[index].text, indent = indent_of_line(text), file;
	const struct hunk_line *above = line_above(u, h, index);
	const struct shift *shift = &u->sides[h].shift;
	size_t start = out->len;

	if (!shift->count)
		return UNIFORM_NONE;
	if (find_old(u, h, text, &file))
		return buf_span(out, indent_of_line(file)) ? UNIFORM_FOUND : UNIFORM_UNKNOWN;
	if (indent_shift_apply(shift, indent, above ? above->text : span_of("", 0), out))
		return looks_spared(u, h, above, indent, buf_from(out, start)) ? UNIFORM_UNKNOWN :
		                                                                  UNIFORM_FOUND;
	out->len = start;
	return indent_shift_in_doubt(shift, indent) ? UNIFORM_UNKNOWN : UNIFORM_NONE;
}
