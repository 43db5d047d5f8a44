/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/patch.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "patch/private.h"
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

		/* What the listing shows may end with a line end of its own. */
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

static bool stands_at(const struct lines *file, const struct lines *block, size_t at)
{
	for (size_t i = 0; i < block->count; i++)
		if (!same_but_indent(lines_at(file, at + i), lines_at(block, i)))
			return false;
	return true;
}

/* The one place where the block stands but for indentation. */
static bool only_place(const struct lines *file, const struct lines *block, size_t *ret)
{
	size_t found = 0, anchor = 0;

	while (anchor < block->count && !nearest_is_distinctive(lines_at(block, anchor)))
		anchor++;
	if (anchor == block->count)
		anchor = 0;
	for (size_t at = 0; at + block->count <= file->count && found < 2; at++) {
		if (!same_but_indent(lines_at(file, at + anchor), lines_at(block, anchor)) ||
		    !stands_at(file, block, at))
			continue;
		*ret = at;
		found++;
	}
	return found == 1;
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
                        const struct lines *new, struct other_reading *ret)
{
	_cleanup_free_ struct indent_pair *pairs = NULL;
	struct shift shift = { .file_unit = indent_unit(file) };
	size_t at = 0;

	if (block->count > SHIFT_LINES_MAX || new->count > SHIFT_NEW_LINES_MAX ||
	    !only_place(file, block, &at))
		return false;
	pairs = mem_alloc(block->count + 1, sizeof(*pairs));
	shift.pairs = pairs;
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

	other_reading_reset(ret);
	lines_index(&block, old_text);
	lines_index(&new, text);
	return shift_block(file, &block, &new, ret);
}

/* ---- done already ---- */

/* Whether [start, end) is whole lines, white space around it aside. */
static bool is_whole_lines(struct span file, size_t start, size_t end)
{
	while (start && file.data[start] != '\n' && strchr(" \t", file.data[start - 1]))
		start--;
	while (end < file.len && file.data[end - 1] != '\n' && strchr(" \t\r", file.data[end]))
		end++;
	return (!start || file.data[start - 1] == '\n' || file.data[start] == '\n') &&
	       (end == file.len || file.data[end] == '\n' || file.data[end - 1] == '\n');
}

/* Where the text stands, if it does so once, and alone on its lines. */
static bool stands_once(struct span file, struct span text, size_t *ret)
{
	const char *first = text.len && file.len >= text.len ?
	                            memmem(file.data, file.len, text.data, text.len) : NULL;

	if (!first)
		return false;
	*ret = (size_t)(first - file.data);
	return !memmem(first + 1, file.len - *ret - 1, text.data, text.len) &&
	       is_whole_lines(file, *ret, *ret + text.len);
}

static size_t count_line(const struct lines *lines, struct span line)
{
	size_t count = 0;

	for (size_t i = 0; i < lines->count; i++)
		count += span_eq(span_trim(lines_at(lines, i)), line);
	return count;
}

static bool has_trimmed_line(const struct lines *lines, struct span line)
{
	return count_line(lines, line) > 0;
}

/* What the comparison of the two texts of an update says. */
struct intent {
	size_t shared, added; /* distinctive lines of the new text: in the old one, too; not
	                       * there */
	size_t removed, small; /* lines that the old text has alone: distinctive ones, others */
	bool removed_is_there; /* one of the former is in the file, or one like it */
	bool fewer; /* the new text has a line that the old one has more often: which is gone? */
};

static bool has_like(const struct lines *file, struct span line, const struct lines *new)
{
	unsigned alike = 0;

	/* A line that the update makes of it is like it, too: how much may be expected. */
	for (size_t i = 0; i < new->count; i++) {
		unsigned likeness = nearest_likeness(lines_at(new, i), line);

		alike = likeness > alike ? likeness : alike;
	}
	alike = alike < 60 ? 60 : alike;
	for (size_t i = 0; i < file->count; i++) {
		struct span trimmed = span_trim(lines_at(file, i));

		if (nearest_likeness(trimmed, line) >= alike && !has_trimmed_line(new, trimmed))
			return true;
	}
	return false;
}

static struct intent read_intent(const struct lines *file, const struct lines *old,
                                 const struct lines *new)
{
	struct intent intent = { 0 };

	for (size_t i = 0; i < new->count; i++) {
		struct span line = span_trim(lines_at(new, i));

		if (!nearest_is_distinctive(line))
			continue;
		if (has_trimmed_line(old, line))
			intent.shared++;
		else
			intent.added++;
	}
	for (size_t i = 0; i < old->count && !intent.removed_is_there; i++) {
		struct span line = span_trim(lines_at(old, i));

		if (!line.len)
			continue;
		if (has_trimmed_line(new, line)) {
			intent.fewer |= count_line(old, line) > count_line(new, line);
			continue;
		}
		if (!nearest_is_distinctive(line)) {
			intent.small++;
			continue;
		}
		intent.removed++;
		intent.removed_is_there = has_like(file, line, new);
	}
	return intent;
}

/* Texts of more lines are not compared line by line. */
enum { DONE_LINES_MAX = 400 };

/* Letters and digits of a text that cannot stand somewhere by chance. */
enum { DONE_BYTES_MIN = 12 };

bool other_reading_done(const struct lines *file, struct span old_text, struct span text,
                        struct other_reading *ret)
{
	_cleanup_lines_ struct lines old = { 0 }, new = { 0 };
	struct intent intent;
	size_t at = 0;

	other_reading_reset(ret);
	if (span_trim(text).len < DONE_BYTES_MIN || !stands_once(file->text, text, &at))
		return false;
	lines_index(&old, old_text);
	lines_index(&new, text);
	if (old.count > DONE_LINES_MAX || new.count > DONE_LINES_MAX)
		return false;
	intent = read_intent(file, &old, &new);
	/* That a brace is gone cannot be seen where there are many. */
	if (intent.removed_is_there || intent.small || intent.fewer)
		return false;
	/* One new line alone has to be like the old one; or it may stand there for itself. */
	if (!intent.shared && intent.added < 2 && nearest_likeness(old_text, text) < 50)
		return false;
	while (ret->line < file->count && file->starts[ret->line] <= at)
		ret->line++;
	return true;
}

/* ---- what differs ---- */

void other_reading_explain(const struct lines *file, struct span old_text,
                           struct patch_failure *failure, struct buf *out)
{
	_cleanup_lines_ struct lines wanted = { 0 };
	struct nearest near;
	struct span line, body;
	size_t telling = 0;

	lines_index(&wanted, old_text);
	if (!nearest_find(file, &wanted, &near))
		return;
	for (size_t i = 0; i < wanted.count; i++)
		telling += !span_is_blank(lines_at(&wanted, i));
	failure->candidates[0] = (struct patch_candidate){ near.line + 1, near.equal };
	failure->candidate_count = failure->candidates_total = 1;
	buf_printf(out, " The nearest place is line %zu, where %zu of %zu lines are the same%s.",
	           near.line + 1, near.equal, telling,
	           near.similar == telling && near.equal < telling ? " and the others differ in "
	                                                             "white space only" : "");
	if (near.differs >= wanted.count)
		return;
	line = line_body(lines_at(&wanted, near.differs));
	if (near.line + near.differs >= file->count) {
		failure->expected = mem_dup(line.data, line.len);
		buf_printf(out, " The file ends before line %zu of the text.", near.differs + 1);
		return;
	}
	body = line_body(lines_at(file, near.line + near.differs));
	nearest_say_difference(near.line + near.differs + 1, body, line, "the text", failure, out);
}
