/* SPDX-License-Identifier: Apache-2.0 */
/* How two lines differ, for a message: both are shown, and what kind of difference it is. */
#include <string.h>

#include "base/mem.h"
#include "base/unseen.h"
#include "patch/nearest.h"

/* Bytes of a line in a message, and of those before the difference. */
enum { SHOWN_MAX = 160, SHOWN_BEFORE = 60 };

/* Bytes of a line in a result. */
enum { PART_MAX = 400 };

/* ---- lines that are not the file's ------------------------------------------------ */

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
	if (span_starts(line, SPAN("```")) || span_starts(line, SPAN("~~~")))
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

static enum closeness closeness_of(enum patch_difference kind)
{
	if (kind == PATCH_DIFFERS_NORMALIZATION)
		return SHOW_LETTERS;
	return kind >= PATCH_DIFFERS_BOM && kind <= PATCH_DIFFERS_LOOKALIKE ?
	               SHOW_LOOKALIKES : SHOW_PLAIN;
}

static size_t count_characters(struct span text)
{
	struct utf8_char c;
	size_t count = 0;

	while (utf8_next(&text, &c))
		count++;
	return count;
}

/* What a result carries of a line: long ones in part, from the byte `from` on. */
static char *line_part(struct span line, size_t from)
{
	struct span part = line.len > PART_MAX ? utf8_head(span_skip(line, from), PART_MAX) : line;

	return mem_dup(part.data, part.len);
}

void difference_say(const struct line_piece *piece, struct span given, const char *who,
                    struct patch_failure *failure, struct buf *out)
{
	_cleanup_buf_ struct buf file = BUF_INIT(4096), other = BUF_INIT(4096);
	struct span body = piece->text;
	enum patch_difference kind = patch_difference(body, given);
	enum closeness closeness = closeness_of(kind);
	bool cut = body.len > SHOWN_MAX || given.len > SHOWN_MAX;
	size_t head = common_head(body, given);
	size_t from = head > SHOWN_BEFORE && cut ? head - SHOWN_BEFORE : 0;

	while (from && (body.data[from] & 0xC0) == 0x80)
		from--;
	failure->expected = line_part(given, from);
	failure->found = line_part(body, from);
	failure->found_line = piece->line;
	show_one(body, from, closeness, &file);
	show_one(given, from, closeness, &other);
	buf_printf(out, " First difference: line %zu", piece->line);
	if (cut || piece->column)
		buf_printf(out, ", column %zu,", (piece->column ? piece->column : 1) +
		           count_characters(span_head(body, head)));
	buf_printf(out, " of the file is `%.*s`, %s has `%.*s`", (int)file.len,
	           file.data ? file.data : "", who, (int)other.len, other.data ? other.data : "");
	patch_difference_say(kind, who, out);
	buf_char(out, '.');
}
