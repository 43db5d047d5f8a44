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

static const struct span separators[] = {
	{ "\xE2\x86\x92", 3 }, { "|", 1 }, { ":", 1 }, { "\t", 1 },
};

/* Takes "  12→" off the front of a line. */
static bool take_listed_number(struct span *line, struct span *separator, unsigned long *ret)
{
	struct span rest = span_skip(*line, indent_of_line(*line).len);
	unsigned long number = 0;
	size_t digits = 0;

	while (digits < rest.len && digits < 8 && ascii_is_digit(rest.data[digits]))
		number = number * 10 + (unsigned long)(rest.data[digits++] - '0');
	rest = span_skip(rest, digits);
	for (size_t i = 0; i < ARRAY_LEN(separators) && digits; i++) {
		if (!span_starts(rest, separators[i]) ||
		    (separator->len && !span_eq(*separator, separators[i])))
			continue;
		*separator = separators[i];
		*line = span_skip(rest, separators[i].len);
		*ret = number;
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
static bool strip_numbers(struct span text, bool space, bool in_order, struct span *separator,
                          struct buf *out, size_t *ret_stripped, size_t *ret_lines)
{
	unsigned long number = 0, last = 0;
	struct span line;

	*ret_stripped = *ret_lines = 0;
	while (line_next(&text, &line)) {
		bool numbered = take_listed_number(&line, separator, &number);

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
	struct span separator = { 0 }, lone = old_text;
	size_t stripped, lines;
	unsigned long number;

	other_reading_reset(ret);
	if (!strip_numbers(old_text, space, /* in_order= */ true, &separator, &ret->old_text,
	                   &stripped, &lines) ||
	    !lines || stripped != lines || !ret->old_text.len)
		return false;
	if (lines == 1 && take_listed_number(&lone, &separator, &number))
		ret->line = number;
	if (!strip_numbers(text, space, /* in_order= */ false, &separator, &ret->text, &stripped,
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

/* How much a line of the file must be like one that the update removes: as much as those that it
 * makes of it are, which are like it too. */
static unsigned least_likeness(struct likeness *likeness, const struct lines *new)
{
	unsigned alike = 60;

	for (size_t i = 0; i < new->count; i++) {
		struct sketch sketch;
		unsigned one;

		nearest_sketch(&sketch, lines_at(new, i));
		one = nearest_compare(likeness, &sketch, alike);
		alike = one > alike ? one : alike;
	}
	return alike;
}

/* Whether the file has one of `count` removed lines, or one like it, that the update does not
 * make. One pass over the file. */
static bool has_like(const struct lines *file, const struct span *removed, size_t count,
                     const struct lines *new)
{
	_cleanup_free_ struct likeness *likeness = mem_alloc(count + 1, sizeof(*likeness));
	_cleanup_free_ unsigned *least = mem_alloc(count + 1, sizeof(*least));
	bool found = false;

	for (size_t i = 0; i < count; i++) {
		nearest_likeness_init(&likeness[i], removed[i]);
		least[i] = least_likeness(&likeness[i], new);
	}
	for (size_t k = 0; k < file->count && count && !found; k++) {
		struct sketch sketch;

		nearest_sketch(&sketch, lines_at(file, k));
		for (size_t i = 0; i < count && !found; i++)
			found = nearest_compare(&likeness[i], &sketch, least[i]) >= least[i] &&
			        !has_trimmed_line(new, span_trim(lines_at(file, k)));
	}
	return found;
}

static struct intent read_intent(const struct lines *file, const struct lines *old,
                                 const struct lines *new)
{
	_cleanup_free_ struct span *removed = mem_alloc(old->count + 1, sizeof(*removed));
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
	for (size_t i = 0; i < old->count; i++) {
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
		removed[intent.removed++] = line;
	}
	intent.removed_is_there = has_like(file, removed, intent.removed, new);
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
