/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/patch.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "patch/nearest.h"
#include "patch/whitespace/indent.h"

/* Longer blocks are not shifted: they are files, not edits. */
enum { SHIFT_LINES_MAX = 4096, SHIFT_NEW_LINES_MAX = 16384 };

void other_reading_release(struct other_reading *reading)
{
	buf_release(&reading->old_text);
	buf_release(&reading->text);
}

static void other_reading_reset(struct other_reading *reading)
{
	other_reading_release(reading);
	*reading = (struct other_reading){ .old_text = BUF_INIT(LIMIT_FILE_BYTES),
	                             .text = BUF_INIT(LIMIT_FILE_BYTES) };
}

/* ---- the numbers of a listing ---- */

/* What stands before and after the number, blanks in front aside; of those that begin alike the
 * longest first.  Some have blanks between the number and the mark, too. */
static const struct listing_form {
	struct span before, after;
	bool padded;
} listing_forms[] = {
	{ { "", 0 }, { "\xE2\x86\x92", 3 }, true },  /* U+2192, an arrow */
	{ { "", 0 }, { "\xE2\x94\x82", 3 }, true },  /* U+2502, a line of a frame */
	{ { "", 0 }, { "|", 1 }, true },
	{ { "", 0 }, { ":", 1 }, false },
	{ { "", 0 }, { "\t", 1 }, false },
	{ { "L", 1 }, { ":", 1 }, false },
	{ { "L", 1 }, { "|", 1 }, true },
	{ { "[", 1 }, { "]:", 2 }, false },
	{ { "[", 1 }, { "]", 1 }, false },
};

/* Takes what a listing in this form has in front of a line. */
static bool take_form(const struct listing_form *form, struct span *line, unsigned long *ret)
{
	struct span rest = span_skip(*line, indent_of_line(*line).len);
	unsigned long number = 0;
	size_t digits = 0;

	if (!span_starts(rest, form->before))
		return false;
	rest = span_skip(rest, form->before.len);
	while (digits < rest.len && digits < 8 && ascii_is_digit(rest.data[digits]))
		number = number * 10 + (unsigned long)(rest.data[digits++] - '0');
	rest = span_skip(rest, digits);
	while (form->padded && rest.len && rest.data[0] == ' ')
		rest = span_skip(rest, 1);
	if (!digits || !span_starts(rest, form->after))
		return false;
	*line = span_skip(rest, form->after.len);
	*ret = number;
	return true;
}

/* Takes "  12→" off the front of a line. *form is that of the first line, NULL before it. */
static bool take_listed_number(struct span *line, const struct listing_form **form,
                               unsigned long *ret)
{
	if (*form)
		return take_form(*form, line, ret);
	for (size_t i = 0; i < ARRAY_LEN(listing_forms); i++)
		if (take_form(&listing_forms[i], line, ret)) {
			*form = &listing_forms[i];
			return true;
		}
	return false;
}

static bool take_space(struct span *line)
{
	bool there = line->len && line->data[0] == ' ';

	if (there)
		*line = span_skip(*line, 1);
	return there || span_is_blank(*line);
}

/* Appends the text without the numbers; how many lines had one, and how many there are. */
static bool strip_numbers(struct span text, bool space, bool in_order,
                          const struct listing_form **form, struct buf *out,
                          size_t *ret_stripped, size_t *ret_lines)
{
	unsigned long number = 0, last = 0;
	struct span line;

	*ret_stripped = *ret_lines = 0;
	while (line_next(&text, &line)) {
		bool numbered = take_listed_number(&line, form, &number);

		/* The text that the listing shows may end with a separate line end. */
		if (!numbered && span_is_blank(line) && !text.len)
			break;
		if (in_order && *ret_lines && number != last + 1)
			return false;
		if (numbered && space && !take_space(&line))
			return false;
		last = number;
		*ret_stripped += numbered;
		*ret_lines += 1;
		buf_span(out, line);
	}
	return !out->overflowed;
}

bool other_reading_unnumbered(struct span old_text, struct span text, bool space,
                              struct other_reading *ret)
{
	const struct listing_form *form = NULL;
	struct span lone = old_text;
	size_t stripped, lines;
	unsigned long number;

	other_reading_reset(ret);
	if (!strip_numbers(old_text, space, /* in_order= */ true, &form, &ret->old_text, &stripped,
	                   &lines) ||
	    !lines || stripped != lines || !ret->old_text.len)
		return false;
	if (lines == 1 && take_listed_number(&lone, &form, &number))
		ret->line = number;
	if (!strip_numbers(text, space, /* in_order= */ false, &form, &ret->text, &stripped,
	                   &lines))
		return false;
	if (stripped && stripped != lines)
		return false;
	if (!stripped) {
		buf_clear(&ret->text);
		buf_span(&ret->text, text);
	}
	return !ret->text.overflowed;
}

/* ---- another indentation ---- */

static struct span without_indent(struct span line)
{
	struct span body = line_body(line);

	while (body.len && body.data[body.len - 1] == '\r')
		body.len--;
	return span_skip(body, indent_of_line(body).len);
}

static bool same_but_indent(struct span a, struct span b)
{
	return span_eq(without_indent(a), without_indent(b)) ||
	       (span_is_blank(a) && span_is_blank(b));
}

/* The one place where the block stands in any loose reading, but only if it does so but for its
 * indentation. */
static bool only_place(const struct lines *file, const struct lines *block,
                       const struct diff_text *update, struct candidates *found)
{
	if (!candidates_find_looser(file, update, false, found) || found->total != 1 ||
	    found->old_count != block->count)
		return false;
	for (size_t i = 0; i < block->count; i++)
		if (!same_but_indent(lines_at(file, found->places[0] + i), lines_at(block, i)))
			return false;
	return true;
}

static size_t pair_with_file(const struct lines *file, const struct lines *block, size_t at,
                            struct indent_pair *pairs)
{
	size_t count = 0;

	for (size_t i = 0; i < block->count; i++)
		if (!span_is_blank(lines_at(block, i)))
			pairs[count++] = (struct indent_pair){
				indent_of_line(lines_at(block, i)),
				indent_of_line(lines_at(file, at + i))
			};
	return count;
}

/* What both texts of the update say of how they are indented. */
static void unit_of_both(const struct lines *a, const struct lines *b, struct shift *ret)
{
	const struct lines *both[] = { a, b };
	bool mixed = false;

	for (size_t k = 0; k < ARRAY_LEN(both); k++)
		for (size_t i = 0; i < both[k]->count; i++) {
			struct span indent = indent_of_line(lines_at(both[k], i));

			if (span_is_blank(lines_at(both[k], i)))
				continue;
			indent_unit_add(&ret->given_unit, &mixed, indent);
			ret->has_tabs |= indent.len && memchr(indent.data, '\t', indent.len);
		}
}

/* The line of the block that is this very line; SIZE_MAX: none. */
static size_t find_line(const struct lines *block, struct span body)
{
	for (size_t i = 0; i < block->count; i++)
		if (span_eq(line_body(lines_at(block, i)), body))
			return i;
	return SIZE_MAX;
}

/* The new text, shifted; lines that it has as the old text does are the file's. */
static void put_with_indent(struct span indent, struct span line, struct buf *out)
{
	buf_span(out, indent);
	buf_span(out, without_indent(line));
}

/* Whether the new line is plainly the old one, changed, and all lines of that indentation have the
 * same in the file: then it has it, too. */
static bool keeps_indent(const struct shift *shift, struct span old, struct span in_file,
                         struct span new)
{
	enum { CHANGED_LIKE_MIN = 60 };

	return span_eq(indent_of_line(old), indent_of_line(new)) && !span_is_blank(new) &&
	       nearest_likeness(old, new) >= CHANGED_LIKE_MIN &&
	       indent_is_always(shift->pairs, shift->count, indent_of_line(old),
	                        indent_of_line(in_file));
}

static bool put_shifted(const struct shift *shift, const struct lines *file, size_t at,
                        const struct lines *block, const struct lines *new, struct buf *out)
{
	_cleanup_free_ size_t *pairs = patch_pair_lines(block, new);
	struct span above = { 0 };

	for (size_t i = 0; i < new->count; i++) {
		struct span line = lines_at(new, i), body = line_body(line);
		size_t same = pairs[i];

		if (same == SIZE_MAX || !span_eq(line_body(lines_at(block, same)), body))
			same = span_is_blank(body) ? SIZE_MAX : find_line(block, body);
		if (same != SIZE_MAX)
			buf_span(out, line_body(lines_at(file, at + same)));
		else if (pairs[i] != SIZE_MAX &&
		         keeps_indent(shift, lines_at(block, pairs[i]),
		                      lines_at(file, at + pairs[i]), line))
			put_with_indent(indent_of_line(lines_at(file, at + pairs[i])), line, out);
		else if (body.len &&
		         (!indent_shift_apply(shift, indent_of_line(body), above, out) ||
		          !buf_span(out, without_indent(line))))
			return false;
		if (!span_is_blank(body))
			above = body;
		if (line_ending(line).len)
			buf_char(out, '\n');
	}
	return !out->overflowed;
}

static bool shift_block(const struct lines *file, const struct lines *block,
                        const struct lines *new, size_t at, struct other_reading *ret)
{
	_cleanup_free_ struct indent_pair *pairs = mem_alloc(block->count + 1, sizeof(*pairs));
	struct shift shift = { .file_unit = indent_unit(file), .pairs = pairs };

	unit_of_both(block, new, &shift);
	shift.count = pair_with_file(file, block, at, pairs);
	if (shift.count < 2 || !indent_shift_infer(&shift) ||
	    !put_shifted(&shift, file, at, block, new, &ret->text))
		return false;
	for (size_t i = 0; i < block->count; i++) {
		buf_span(&ret->old_text, line_body(lines_at(file, at + i)));
		if (line_ending(lines_at(block, i)).len)
			buf_char(&ret->old_text, '\n');
	}
	ret->line = at + 1;
	return !ret->old_text.overflowed;
}

bool other_reading_shifted(const struct lines *file, struct span old_text, struct span text,
                           struct other_reading *ret)
{
	_cleanup_lines_ struct lines block = { 0 }, new = { 0 };
	struct candidates *found = mem_alloc(1, sizeof(*found));
	struct diff_text update;
	size_t rival;
	bool ok;

	other_reading_reset(ret);
	lines_index(&block, old_text);
	lines_index(&new, text);
	made_diff_of(old_text, text, &update);
	candidates_measure(&update, &update.hunks[0], update.hunks[0].count, found);
	ok = block.count <= SHIFT_LINES_MAX && new.count <= SHIFT_NEW_LINES_MAX &&
	     only_place(file, &block, &update, found);
	if (ok && rivals_any(file, &update, 0, found, found->places[0], &rival,
	                       &ret->rival_is_new)) {
		ret->line = found->places[0] + 1;
		ret->rival = rival + 1;
		ok = false;
	}
	ok = ok && shift_block(file, &block, &new, found->places[0], ret);
	candidates_release(found, 1);
	parse_diff_release(&update);
	return ok;
}

/* ---- done already ---- */

/* The indentation that the file has in front of the text's first line, which lacks it, where the
 * whole text stands so in one place; empty: it does not. */
static struct span indent_left_out(const struct lines *file, struct span text)
{
	_cleanup_lines_ struct lines lines = { 0 };
	struct span found = { 0 };
	size_t places = 0;

	lines_index(&lines, text);
	if (!lines.count || indent_of_line(lines_at(&lines, 0)).len)
		return found;
	for (size_t at = 0; at + lines.count <= file->count && places < 2; at++) {
		struct span body = line_body(lines_at(file, at)), indent = indent_of_line(body);
		size_t same = 1;

		if (!indent.len ||
		    !span_eq(span_skip(body, indent.len), line_body(lines_at(&lines, 0))))
			continue;
		while (same < lines.count && span_eq(line_body(lines_at(file, at + same)),
		                                     line_body(lines_at(&lines, same))))
			same++;
		if (same < lines.count)
			continue;
		found = indent;
		places++;
	}
	return places == 1 ? found : span_of("", 0);
}

bool other_reading_done(const struct lines *file, struct span old_text, struct span text,
                        struct other_reading *ret)
{
	struct span indent = indent_left_out(file, text);
	struct candidates *made;
	struct diff_text update;
	bool done;

	other_reading_reset(ret);
	if (memmem(file->text.data, file->text.len, old_text.data, old_text.len))
		return false;
	made = mem_alloc(1, sizeof(*made));
	buf_span(&ret->old_text, indent);
	buf_span(&ret->old_text, old_text);
	buf_span(&ret->text, indent);
	buf_span(&ret->text, text);
	made_diff_of(buf_view(&ret->old_text), buf_view(&ret->text), &update);
	candidates_measure(&update, &update.hunks[0], update.hunks[0].count, made);
	made_find(file, &update, false, made);
	if (made->made_if_alone && candidates_find_looser(file, &update, false, made))
		made_confirm(&update, made);
	ret->line = made->made_at + 1;
	done = made->made;
	candidates_release(made, 1);
	parse_diff_release(&update);
	return done;
}

bool other_reading_repeated(const struct lines *file, struct span old_text, struct span text,
                            struct other_reading *ret)
{
	_cleanup_free_ uint32_t *ids = NULL;
	struct diff_text update;
	struct fold_index index;
	size_t count, places[2], found = 0;
	bool telling = false, removes = false;

	other_reading_reset(ret);
	made_diff_of(old_text, text, &update);
	for (size_t i = 0; i < update.line_count; i++) {
		telling |= update.lines[i].op == '+' &&
		           nearest_is_distinctive(update.lines[i].text);
		removes |= update.lines[i].op == '-';
	}
	/* Lines put between old ones part them: then the old text stands elsewhere. */
	if (telling && !removes && memmem(text.data, text.len, old_text.data, old_text.len)) {
		fold_index_build(&index, file, &update, FOLD_SIDE_NEW, FOLD_EXACT, false);
		ids = mem_alloc(update.line_count, sizeof(*ids));
		count = candidates_ids(&index, &update.hunks[0], update.line_count, ids);
		found = fold_index_find(&index, ids, count, places, ARRAY_LEN(places));
		fold_index_release(&index);
	}
	ret->line = found ? places[0] + 1 : 0;
	parse_diff_release(&update);
	return found == 1;
}
