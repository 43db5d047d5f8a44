/* SPDX-License-Identifier: Apache-2.0 */
/* The one thing in which two lines differ, if it is one that models get wrong: a table. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "patch/nearest.h"

/* Longer lines are not compared so: each kind may cost copies of both. */
enum { COMPARED_MAX = 1 << 16 };

/* ---- Unicode normalization -------------------------------------------------------- */

/* Ranges of characters that join the one before them: what a decomposed text (NFD) has in place
 * of composed letters. */
static const struct {
	uint32_t first, last;
} joining[] = {
	{ 0x0300, 0x036F }, /* combining diacritical marks */
	{ 0x1100, 0x11FF }, /* Hangul jamo */
	{ 0x1AB0, 0x1AFF }, { 0x1DC0, 0x1DFF }, { 0x20D0, 0x20FF },
	{ 0x3099, 0x309A }, /* voicing marks of kana */
	{ 0xFE20, 0xFE2F },
};

static bool is_joining(uint32_t code)
{
	for (size_t i = 0; i < ARRAY_LEN(joining); i++)
		if (code >= joining[i].first && code <= joining[i].last)
			return true;
	return false;
}

/* Appends the text without its letters that are not ASCII, composed or not; returns how many marks
 * there were. */
static size_t without_letters(struct span text, struct buf *out)
{
	struct utf8_char c;
	size_t marks = 0, letter = 0;

	while (utf8_next(&text, &c)) {
		if (c.bytes.len == 1) {
			letter = out->len;
			buf_span(out, c.bytes);
		} else if (is_joining(c.code)) {
			marks++;
			if (out->len > letter)
				out->len = letter;
		} else {
			letter = out->len;
		}
	}
	return marks;
}

/* Whether all that differs is that one line has combining marks where the other has letters. */
static bool differ_in_marks(struct span one, struct span other)
{
	_cleanup_buf_ struct buf first = BUF_INIT(one.len + 1), second = BUF_INIT(other.len + 1);
	size_t marks = without_letters(one, &first);

	return marks != without_letters(other, &second) &&
	       span_eq(buf_view(&first), buf_view(&second));
}

/* ---- one level of escapes --------------------------------------------------------- */

size_t difference_kind_unescape(struct span text, struct buf *out)
{
	static const char escapes[] = "n\nt\tr\r\"\"''\\\\//";
	size_t count = 0;

	for (size_t i = 0; i < text.len; i++) {
		const char *found = NULL;

		for (const char *row = escapes; text.data[i] == '\\' && i + 1 < text.len && *row;
		     row += 2)
			if (*row == text.data[i + 1])
				found = row + 1;
		if (found) {
			i++;
			count++;
		}
		buf_char(out, found ? *found : text.data[i]);
	}
	return count;
}

static bool differ_in_escapes(struct span file, struct span given)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(given.len + 1);

	return difference_kind_unescape(given, &plain) && span_eq(buf_view(&plain), file);
}

/* ---- white space and characters ----------------------------------------------------- */

static bool folds_alike(enum fold fold, struct span one, struct span other)
{
	_cleanup_buf_ struct buf first = BUF_INIT(one.len * 3 + 1);
	_cleanup_buf_ struct buf second = BUF_INIT(other.len * 3 + 1);

	return span_eq(fold_line(fold, one, &first), fold_line(fold, other, &second));
}

static bool differ_in_mark(struct span file, struct span given)
{
	return span_eq(utf8_skip_mark(file), utf8_skip_mark(given));
}

static bool differ_at_end(struct span file, struct span given)
{
	return folds_alike(FOLD_TRAILING, file, given);
}

static size_t leading_space(struct span line)
{
	size_t n = 0;

	while (n < line.len && fold_is_space(line.data[n]))
		n++;
	return n;
}

static bool differ_in_depth(struct span file, struct span given)
{
	return span_eq(span_skip(file, leading_space(file)),
	               span_skip(given, leading_space(given)));
}

static bool differ_in_tabs(struct span file, struct span given)
{
	struct span has = span_head(file, leading_space(file));
	struct span want = span_head(given, leading_space(given));

	return differ_in_depth(file, given) && has.len && want.len &&
	       !memchr(has.data, '\t', has.len) != !memchr(want.data, '\t', want.len);
}

static bool differ_in_space(struct span file, struct span given)
{
	return folds_alike(FOLD_DROP, file, given);
}

static bool differ_in_lookalikes(struct span file, struct span given)
{
	return folds_alike(FOLD_LOOKALIKE_DROP, file, given);
}

static bool differ_in_case(struct span file, struct span given)
{
	return file.len == given.len && strncasecmp(file.data, given.data, file.len) == 0;
}

/* ---- what was copied with the line ---------------------------------------------------- */

static bool has_sign(struct span file, struct span given)
{
	return given.len && strchr("+-", given.data[0]) && span_eq(span_skip(given, 1), file);
}

/* "12: ", "12\t", "L12 | ", "12\u2192" in front of it. */
static bool has_number(struct span file, struct span given)
{
	static const char *const parts[] = { "\t", ":", " |", "|", "\xE2\x86\x92", ")" };
	struct span rest = span_skip(given, leading_space(given));
	size_t digits = 0;

	rest = span_skip(rest, rest.len && rest.data[0] == 'L');
	while (digits < rest.len && ascii_is_digit(rest.data[digits]))
		digits++;
	rest = span_skip(rest, digits);
	for (size_t i = 0; digits && i < ARRAY_LEN(parts); i++) {
		struct span after = span_skip(rest, strlen(parts[i]));

		if (span_starts(rest, span_str(parts[i])) &&
		    (span_eq(after, file) || (span_starts(after, SPAN(" ")) &&
		                              span_eq(span_skip(after, 1), file))))
			return true;
	}
	return false;
}

/* ---- the table -------------------------------------------------------------------------- */

/* The first row that holds. */
static const struct {
	const char *name, *what;
	bool given; /* the given line has too much, rather than both differ */
	bool (*holds)(struct span file, struct span given);
} kinds[] = {
	[PATCH_DIFFERS_BOM] = { "byte_order_mark", "a byte-order mark", false, differ_in_mark },
	[PATCH_DIFFERS_TRAILING] = { "trailing_space", "white space at the end of the line", false,
	                             differ_at_end },
	[PATCH_DIFFERS_TABS] = { "indentation_tabs", "tabs and spaces as indentation", false,
	                         differ_in_tabs },
	[PATCH_DIFFERS_DEPTH] = { "indentation_depth", "the depth of the indentation", false,
	                          differ_in_depth },
	[PATCH_DIFFERS_SPACE] = { "inner_space", "white space within the line", false,
	                          differ_in_space },
	[PATCH_DIFFERS_LOOKALIKE] = { "lookalikes", "characters that look alike (quotes, dashes, "
	                              "spaces)", false, differ_in_lookalikes },
	[PATCH_DIFFERS_NORMALIZATION] = { "normalization", "the Unicode normalization of the same "
	                                  "text, or in accents", false, differ_in_marks },
	[PATCH_DIFFERS_ESCAPES] = { "escapes", "one level of backslash escapes too many", true,
	                            differ_in_escapes },
	[PATCH_DIFFERS_NUMBER] = { "listing_number", "the line number of a listing in front", true,
	                           has_number },
	[PATCH_DIFFERS_SIGN] = { "diff_sign", "the sign of a diff in front", true, has_sign },
	[PATCH_DIFFERS_CASE] = { "letter_case", "upper and lower case", false, differ_in_case },
};

enum patch_difference patch_difference(struct span file, struct span given)
{
	for (size_t i = PATCH_DIFFERS_OTHERWISE + 1;
	     i < ARRAY_LEN(kinds) && file.len <= COMPARED_MAX && given.len <= COMPARED_MAX; i++)
		if (kinds[i].holds(file, given))
			return (enum patch_difference)i;
	return PATCH_DIFFERS_OTHERWISE;
}

const char *patch_difference_name(enum patch_difference kind)
{
	return kinds[kind].name;
}

void patch_difference_say(enum patch_difference kind, const char *who, struct buf *out)
{
	if (kind == PATCH_DIFFERS_OTHERWISE)
		return;
	if (kinds[kind].given)
		buf_printf(out, " (%s has %s)", who, kinds[kind].what);
	else
		buf_printf(out, " (they differ only in %s)", kinds[kind].what);
}
