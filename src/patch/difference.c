/* SPDX-License-Identifier: Apache-2.0 */
/* How two lines differ, for a message: both are shown, and what the kind of difference is. */
#include <string.h>

#include "base/mem.h"
#include "base/unseen.h"
#include "patch/private.h"

/* Bytes of a line in a message, and of those before the difference. */
enum { SHOWN_MAX = 160, SHOWN_BEFORE = 60 };

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

size_t difference_unescape(struct span text, struct buf *out)
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

	return difference_unescape(given, &plain) && span_eq(buf_view(&plain), file);
}

/* ---- lines that are not the file's ------------------------------------------------ */

static bool is_code_fence(struct span line)
{
	return span_starts(line, SPAN("```")) || span_starts(line, SPAN("~~~"));
}

/* "...", "# ...", "// ... existing code ...". */
static bool is_elision(struct span line)
{
	struct span text = line;
	bool comment, dots;

	while (text.len && strchr("/#*-;<!%> \t", text.data[0]))
		text = span_skip(text, 1);
	comment = text.len < line.len;
	dots = span_starts(text, SPAN("...")) || span_starts(text, SPAN("\xE2\x80\xA6"));
	return dots || (comment && (span_ends(text, SPAN("...")) ||
	                            span_ends(text, SPAN("\xE2\x80\xA6"))));
}

/* "-- " as a removed line is, a version, a list's rule. */
static bool is_footer(struct span line)
{
	size_t digits = 0, dots = 0, rules = 0;

	for (size_t i = 0; i < line.len; i++) {
		digits += ascii_is_digit(line.data[i]);
		dots += line.data[i] == '.';
		rules += line.data[i] == '_';
	}
	return span_eq(line, SPAN("-")) || span_eq(line, SPAN("--")) ||
	       (rules >= 5 && rules == line.len) ||
	       (dots && digits > dots && ascii_is_digit(line.data[0]) && !memchr(line.data, ' ',
	                                                                         line.len));
}

const char *difference_foreign(struct span line, bool last)
{
	line = span_trim(line);
	if (is_code_fence(line))
		return "is a code fence, not a line of the file: leave it out";
	if (is_elision(line))
		return "stands for lines that were left out: give every line as the file has it, "
		       "or make the change in several parts";
	if (last && is_footer(line))
		return "looks like the footer of a mail, not a line of the file: leave it out";
	return NULL;
}

/* ---- both lines ------------------------------------------------------------------- */

static size_t common_head(struct span a, struct span b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && a.data[n] == b.data[n])
		n++;
	while (n && n < a.len && (a.data[n] & 0xC0) == 0x80)
		n--;
	return n;
}

/* How closely lines are shown. */
enum closeness {
	SHOW_PLAIN,
	SHOW_LOOKALIKES, /* tabs, unusual spaces and look-alikes are escapes */
	SHOW_LETTERS,    /* all that is not ASCII is */
};

static void show_one(struct span line, size_t from, enum closeness closeness, struct buf *out)
{
	_cleanup_buf_ struct buf seen = BUF_INIT(SHOWN_MAX * 16);
	struct span rest = utf8_head(span_skip(line, from), SHOWN_MAX);
	bool cut = from + rest.len < line.len;
	struct utf8_char c;

	unseen_show(&seen, rest);
	rest = buf_view(&seen);
	if (from)
		buf_str(out, "...");
	while (utf8_next(&rest, &c)) {
		if (c.bad)
			buf_printf(out, "\\x%02x", (unsigned char)c.bytes.data[0]);
		else if (c.code == '\t' && closeness != SHOW_PLAIN)
			buf_str(out, "\\t");
		else if (c.code == '\r')
			buf_str(out, "\\r");
		else if ((c.code < ' ' && c.code != '\t') || c.code == 0x7F)
			buf_printf(out, "\\x%02x", c.code);
		else if (c.bytes.len > 1 &&
		         (closeness == SHOW_LETTERS ||
		          (closeness == SHOW_LOOKALIKES && fold_lookalike(c.code))))
			buf_printf(out, "\\u{%x}", c.code);
		else
			buf_span(out, c.bytes);
	}
	if (cut)
		buf_str(out, "...");
}

static enum closeness closeness_of(struct span one, struct span other)
{
	_cleanup_buf_ struct buf first = BUF_INIT(one.len * 3 + 1);
	_cleanup_buf_ struct buf second = BUF_INIT(other.len * 3 + 1);

	if (span_eq(fold_line(FOLD_LOOKALIKE_DROP, one, &first),
	            fold_line(FOLD_LOOKALIKE_DROP, other, &second)))
		return SHOW_LOOKALIKES;
	return differ_in_marks(one, other) ? SHOW_LETTERS : SHOW_PLAIN;
}

/* Both cut to a readable length from about where they differ. */
static void show_both(struct span one, struct span other, enum closeness closeness,
                      struct buf *ret_one, struct buf *ret_other)
{
	size_t from = common_head(one, other);

	from = from > SHOWN_BEFORE && (one.len > SHOWN_MAX || other.len > SHOWN_MAX) ?
	               from - SHOWN_BEFORE : 0;
	while (from && (one.data[from] & 0xC0) == 0x80)
		from--;
	show_one(one, from, closeness, ret_one);
	show_one(other, from, closeness, ret_other);
}

void difference_say(size_t line, struct span body, struct span given, const char *who,
                    struct patch_failure *failure, struct buf *out)
{
	_cleanup_buf_ struct buf file = BUF_INIT(4096), other = BUF_INIT(4096);
	enum closeness closeness = closeness_of(body, given);

	failure->expected = mem_dup(given.data, given.len);
	failure->found = mem_dup(body.data, body.len);
	failure->found_line = line;
	show_both(body, given, closeness, &file, &other);
	buf_printf(out, " First difference: line %zu of the file is `%.*s`, %s has `%.*s`", line,
	           (int)file.len, file.data ? file.data : "", who, (int)other.len,
	           other.data ? other.data : "");
	if (closeness == SHOW_LETTERS)
		buf_str(out, " (the same text in another Unicode normalization, or with other "
		             "accents)");
	else if (differ_in_escapes(body, given))
		buf_printf(out, " (%s has one level of backslash escapes too many)", who);
	buf_char(out, '.');
}
