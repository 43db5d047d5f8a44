/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of an update that are spelled otherwise than the file, in ways that can be undone. */
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/unseen.h"
#include "patch/nearest.h"
#include "patch/patch.h"
#include "patch/private.h"
#include "patch/whitespace/indent.h"

/* ---- escapes for invisible characters ------------------------------------------------ */

/* The next such escape at or after *at: where it begins, its length, its character. */
static bool next_escape(struct span text, size_t *at, size_t *ret_len, uint32_t *ret_code)
{
	for (; *at < text.len; ++*at) {
		size_t len = text.data[*at] == '\\' ?
		                     unseen_escape(span_skip(text, *at + 1), ret_code) : 0;

		if (len) {
			*ret_len = len + 1;
			return true;
		}
	}
	return false;
}

/* Whether offset `at` is inside of an escape, which begins at *ret_start and ends at *ret_end. */
static bool splits_escape(struct span text, size_t at, size_t *ret_start, size_t *ret_end)
{
	size_t start = at > 10 ? at - 10 : 0, len;
	uint32_t code;

	while (next_escape(text, &start, &len, &code) && start < at) {
		*ret_start = start;
		*ret_end = start + len;
		if (start + len > at)
			return true;
		start += len;
	}
	return false;
}

/* What two lines share at both ends, without a part of an escape. */
static void share_ends(struct span a, struct span b, size_t *ret_head, size_t *ret_tail)
{
	size_t shorter = a.len < b.len ? a.len : b.len, head = 0, tail = 0, start, end;

	while (head < shorter && a.data[head] == b.data[head])
		head++;
	if (splits_escape(a, head, &start, &end) || splits_escape(b, head, &start, &end))
		head = start;
	while (tail < shorter - head && a.data[a.len - 1 - tail] == b.data[b.len - 1 - tail])
		tail++;
	if (splits_escape(a, a.len - tail, &start, &end))
		tail = a.len - end;
	if (splits_escape(b, b.len - tail, &start, &end))
		tail = b.len - end;
	*ret_head = head;
	*ret_tail = tail;
}

static bool same_byte(struct span a, size_t i, struct span b, size_t j)
{
	if (i >= a.len || j >= b.len)
		return i >= a.len && j >= b.len;
	return a.data[i] == b.data[j];
}

/* Whether both have the same escapes in the same order, each next to the same byte. */
static bool same_escapes(struct span old, struct span new)
{
	size_t i = 0, j = 0, old_len, new_len;
	uint32_t a = 0, b = 0;

	for (;; i += old_len, j += new_len) {
		bool in_old = next_escape(old, &i, &old_len, &a);
		bool in_new = next_escape(new, &j, &new_len, &b);

		if (!in_old || !in_new)
			return in_old == in_new;
		/* Offset -1, before the line, is past its end, too. */
		if (a != b || (!same_byte(old, i - 1, new, j - 1) &&
		               !same_byte(old, i + old_len, new, j + new_len)))
			return false;
	}
}

static bool has_unseen_escape(struct span text)
{
	size_t at = 0, len;
	uint32_t code;

	return next_escape(text, &at, &len, &code);
}

/* Appends `line`, which replaces `old`, with escapes for the invisible characters that it has from
 * there (patch_reading_unseen). False, after appending a part: it is not clear which they are. */
static bool spelling_carry_unseen(struct span old, struct span line, struct buf *out)
{
	struct span old_middle, middle;
	size_t head, tail;

	share_ends(old, line, &head, &tail);
	old_middle = span_of(old.data + head, old.len - head - tail);
	middle = span_of(line.data + head, line.len - head - tail);
	unseen_read(out, span_head(line, head));
	if (!has_unseen_escape(middle) || !has_unseen_escape(old_middle))
		buf_span(out, middle);
	else if (same_escapes(old, line))
		unseen_read(out, middle);
	else
		return false;
	unseen_read(out, span_skip(line, line.len - tail));
	return true;
}

static void spelling_reset(struct other_reading *reading)
{
	other_reading_release(reading);
	*reading = (struct other_reading){ .old_text = BUF_INIT(LIMIT_FILE_BYTES),
	                                   .text = BUF_INIT(LIMIT_FILE_BYTES) };
}

bool patch_reading_unseen(struct span old_text, struct span text, struct other_reading *ret)
{
	_cleanup_lines_ struct lines old = { 0 }, new = { 0 };
	_cleanup_free_ size_t *pairs = NULL;

	spelling_reset(ret);
	if (!unseen_read(&ret->old_text, old_text))
		return false;
	lines_index(&old, old_text);
	lines_index(&new, text);
	pairs = patch_pair_lines(&old, &new);
	for (size_t i = 0; i < new.count; i++) {
		struct span line = lines_at(&new, i), body = line_body(line);

		if (pairs[i] == SIZE_MAX)
			buf_span(&ret->text, body);
		else if (!spelling_carry_unseen(line_body(lines_at(&old, pairs[i])), body,
		                                &ret->text) && !ret->doubt)
			ret->doubt = i + 1;
		buf_span(&ret->text, line_ending(line));
	}
	return !ret->old_text.overflowed && !ret->text.overflowed;
}

/* ---- one level of escapes too much ---------------------------------------------------- */

/* What a string's escapes are undone to. */
struct escape_rule {
	const char *escaped, *plain; /* after a backslash, and what that stands for */
};

static const struct escape_rule escape_rules[SPELLING_ESCAPES_COUNT] = {
	[SPELLING_JSON] = { "\"\\/bfnrt", "\"\\/\b\f\n\r\t" },
	[SPELLING_CODE] = { "\"\\", "\"\\" },
	[SPELLING_QUOTES] = { "\"", "\"" },
};

/* "uXXXX" of JSON, after a backslash; 0: none. */
static size_t read_json_unicode(struct span text, struct buf *out)
{
	uint32_t code = 0;
	char bytes[4];

	if (text.len < 5 || text.data[0] != 'u')
		return 0;
	for (size_t i = 1; i < 5; i++) {
		static const char digits[] = "0123456789abcdef";
		bool upper = text.data[i] >= 'A' && text.data[i] <= 'F';
		const char *digit = memchr(digits, text.data[i] + (upper ? 'a' - 'A' : 0), 16);

		if (!digit)
			return 0;
		code = code * 16 + (uint32_t)(digit - digits);
	}
	if (!code || (code >= 0xD800 && code < 0xE000))
		return 0;
	buf_append(out, bytes, utf8_put(code, bytes));
	return 5;
}

/* Appends the text without them, and counts them.  False when it is not written so. */
static bool spelling_unescape(enum spelling_escapes level, struct span text, struct buf *out,
                              size_t *ret_count)
{
	const struct escape_rule *rule = &escape_rules[level];

	while (text.len) {
		char c = text.data[0];
		const char *at;
		size_t len = 0;

		if (c != '\\') {
			bool control = level == SPELLING_JSON && (unsigned char)c < ' ';

			if (control || c == '"')
				return false;
			buf_char(out, c);
			text = span_skip(text, 1);
			continue;
		}
		text = span_skip(text, 1);
		at = text.len && text.data[0] ? strchr(rule->escaped, text.data[0]) : NULL;
		if (at) {
			buf_char(out, rule->plain[at - rule->escaped]);
			len = 1;
		} else if (level == SPELLING_JSON) {
			len = read_json_unicode(text, out);
		} else if (level == SPELLING_QUOTES && !span_starts(text, SPAN("\\"))) {
			buf_char(out, '\\');
			continue;
		}
		if (!len)
			return false;
		*ret_count += 1;
		text = span_skip(text, len);
	}
	return !out->overflowed;
}

static bool has_newline(const struct buf *text)
{
	return text->len && memchr(text->data, '\n', text->len);
}

static bool read_escapes(enum spelling_escapes level, struct span old_text, struct span text,
                         struct other_reading *ret)
{
	size_t count = 0, ignored = 0;

	spelling_reset(ret);
	if (!spelling_unescape(level, old_text, &ret->old_text, &count) || !count ||
	    !spelling_unescape(level, text, &ret->text, &ignored))
		return false;
	/* That \n is the end of a line, and no escape of the code, only an old text of several
	 * lines shows. */
	return level != SPELLING_JSON || !has_newline(&ret->text) || has_newline(&ret->old_text);
}

static bool read_json(struct span old_text, struct span text, struct other_reading *ret)
{
	return read_escapes(SPELLING_JSON, old_text, text, ret);
}

static bool read_code(struct span old_text, struct span text, struct other_reading *ret)
{
	return read_escapes(SPELLING_CODE, old_text, text, ret);
}

static bool read_quotes(struct span old_text, struct span text, struct other_reading *ret)
{
	return read_escapes(SPELLING_QUOTES, old_text, text, ret);
}

/* ---- numbers, fences, a mark ----------------------------------------------------------- */

static bool read_spaced_numbers(struct span old_text, struct span text,
                                struct other_reading *ret)
{
	return other_reading_unnumbered(old_text, text, /* space= */ true, ret);
}

static bool read_bare_numbers(struct span old_text, struct span text, struct other_reading *ret)
{
	return other_reading_unnumbered(old_text, text, /* space= */ false, ret);
}

/* How long the run of backquotes or tildes is that the line is, a language's name aside if it
 * opens. */
static size_t measure_fence(struct span line, bool opens)
{
	struct span rest = span_trim(line);
	size_t len = 0;

	while (len < rest.len && rest.data[len] == rest.data[0] && strchr("`~", rest.data[0]))
		len++;
	rest = span_skip(rest, len);
	for (size_t i = 0; i < rest.len; i++)
		if (!opens || rest.data[i] == '`' || rest.data[i] == ' ')
			return 0;
	return len >= 3 ? len : 0;
}

/* The lines between fences; false if there are none. */
static bool take_fences(struct span text, struct span *ret)
{
	_cleanup_lines_ struct lines lines = { 0 };
	size_t last, len;

	lines_index(&lines, text);
	last = lines.count;
	while (last && span_is_blank(lines_at(&lines, last - 1)))
		last--;
	if (last < 3)
		return false;
	len = measure_fence(lines_at(&lines, 0), /* opens= */ true);
	if (!len || measure_fence(lines_at(&lines, last - 1), /* opens= */ false) != len ||
	    span_trim(lines_at(&lines, last - 1)).data[0] != span_trim(lines_at(&lines, 0)).data[0])
		return false;
	/* A fence among them ends the first: both are lines of the text. */
	for (size_t i = 1; i + 1 < last; i++)
		if (measure_fence(lines_at(&lines, i), /* opens= */ true) >= len)
			return false;
	*ret = lines_range(&lines, 1, last - 1);
	return true;
}

static bool read_unfenced(struct span old_text, struct span text, struct other_reading *ret)
{
	struct span old, new = text;

	spelling_reset(ret);
	if (!take_fences(old_text, &old))
		return false;
	/* The last line ending may be the fence's: both texts have it or none. */
	take_fences(text, &new);
	if (!span_ends(new, SPAN("\n")))
		old = line_body(old);
	return buf_span(&ret->old_text, old) && buf_span(&ret->text, new);
}

static bool read_unmarked(struct span old_text, struct span text, struct other_reading *ret)
{
	struct span old = utf8_skip_mark(old_text);

	spelling_reset(ret);
	ret->line = 1;
	return old.len < old_text.len && buf_span(&ret->old_text, old) &&
	       buf_span(&ret->text, utf8_skip_mark(text));
}

const struct patch_reading patch_readings[PATCH_READINGS] = {
	{ read_spaced_numbers, true, "without line numbers and a space after them",
	  "The line numbers in front of the lines were taken off: they are not in the file." },
	{ read_bare_numbers, true, "without line numbers",
	  "The line numbers in front of the lines were taken off: they are not in the file." },
	{ read_unfenced, false, "without the fence around it",
	  "The fence around the text was taken off: it is not in the file." },
	{ read_unmarked, true, "without the byte-order mark",
	  "The byte-order mark in front of the text was left out: the file keeps its own." },
	{ read_json, false, "as a JSON string",
	  "Both texts were escaped as JSON strings; the escapes were undone." },
	{ read_code, false, "with \\\" and \\\\ unescaped",
	  "Both texts had a backslash before every quotation mark and backslash; these were "
	  "removed." },
	{ read_quotes, false, "with \\\" unescaped",
	  "Both texts had a backslash before every quotation mark; these were removed." },
};

/* ---- white space at line ends ---------------------------------------------------------- */

static struct span trim_line_end(struct span body)
{
	while (body.len && fold_is_space(body.data[body.len - 1]))
		body.len--;
	return body;
}

/* The only place where the lines of the block stand, white space at their ends aside. */
static bool find_trimmed(const struct lines *file, const struct lines *block, size_t *ret)
{
	struct hunk_line *lines = mem_alloc(block->count, sizeof(*lines));
	struct diff_text diff = { .lines = lines, .line_count = block->count };
	struct fold_index index;
	size_t found;

	for (size_t i = 0; i < block->count; i++)
		lines[i] = (struct hunk_line){ .op = ' ', .text = line_body(lines_at(block, i)) };
	fold_index_build(&index, file, &diff, FOLD_SIDE_OLD, FOLD_TRAILING,
	                 /* strip_bom= */ false);
	found = fold_index_find(&index, index.diff_ids, block->count, ret, 1);
	fold_index_release(&index);
	free(lines);
	return found == 1;
}

/* What the old lines show of the ends of lines. */
struct line_tails {
	size_t lines, added, lost; /* those not blank; with more than the file has, with less */
};

static struct line_tails compare_tails(const struct lines *file, const struct lines *block,
                                       size_t at)
{
	struct line_tails tails = { 0 };

	for (size_t i = 0; i < block->count; i++) {
		struct span body = line_body(lines_at(block, i));
		struct span have = line_body(lines_at(file, at + i));

		if (span_is_blank(body))
			continue;
		tails.lines++;
		tails.added += body.len > have.len;
		tails.lost += body.len < have.len;
	}
	return tails;
}

/* A new line that the old text does not have. What became of the white space at its end must be
 * plain: every old line has got some and it, too, or none has and the line that it replaces has
 * lost none. */
static bool put_new_tail(const struct line_tails *tails, struct span body, struct span replaced,
                         struct span have, struct buf *out)
{
	struct span trimmed = trim_line_end(body);

	if (trimmed.len < body.len && tails->added)
		return (trimmed.len || span_eq(body, SPAN("\r"))) &&
		       tails->added == tails->lines && buf_span(out, trimmed);
	return replaced.len >= have.len && buf_span(out, body);
}

/* Whether the new text stands in the file, and says enough for that to be no chance: then the edit
 * was made, and what looks like the old text is a copy of it. */
static bool stands_already(const struct lines *file, const struct lines *new)
{
	bool telling = false;

	for (size_t i = 0; i < new->count && !telling; i++)
		telling = nearest_is_distinctive(lines_at(new, i));
	return telling && memmem(file->text.data, file->text.len, new->text.data, new->text.len);
}

/* The line ending that a reading has for whatever the line has. */
static void put_line_feed(struct span line, struct buf *out)
{
	if (line_ending(line).len)
		buf_char(out, '\n');
}

bool patch_reading_trimmed(const struct lines *file, struct span old_text, struct span text,
                           struct other_reading *ret)
{
	_cleanup_lines_ struct lines block = { 0 }, new = { 0 };
	_cleanup_free_ size_t *pairs = NULL;
	struct line_tails tails;
	bool open = !span_ends(old_text, SPAN("\n"));
	size_t at = 0;

	spelling_reset(ret);
	lines_index(&block, old_text);
	lines_index(&new, text);
	if (!block.count || !find_trimmed(file, &block, &at) || stands_already(file, &new))
		return false;
	ret->line = at + 1;
	tails = compare_tails(file, &block, at);
	pairs = patch_pair_lines(&block, &new);
	for (size_t i = 0; i < block.count; i++) {
		struct span body = line_body(lines_at(file, at + i));

		/* What follows a text without a line ending stays after it. */
		buf_span(&ret->old_text, open && i + 1 == block.count ? trim_line_end(body) : body);
		put_line_feed(lines_at(&block, i), &ret->old_text);
	}
	for (size_t i = 0; i < new.count; i++) {
		struct span line = lines_at(&new, i), body = line_body(line);
		bool has_old = pairs[i] != SIZE_MAX;
		struct span old = has_old ? line_body(lines_at(&block, pairs[i])) : body;
		struct span have = has_old ? line_body(lines_at(file, at + pairs[i])) : body;

		if (has_old && open && pairs[i] + 1 == block.count)
			have = trim_line_end(have);
		if (has_old && span_eq(old, body))
			buf_span(&ret->text, have);
		else if (!put_new_tail(&tails, body, old, have, &ret->text))
			return false;
		put_line_feed(line, &ret->text);
	}
	return !ret->old_text.overflowed && !ret->text.overflowed;
}

/* ---- the lines of hunks ---- */

/* Reserve room for all lines: a respelt line is never longer, and spans into it stay valid. */
static void reserve_lines(struct diff_text *diff)
{
	size_t total = 1;

	for (size_t i = 0; i < diff->line_count; i++)
		total += diff->lines[i].text.len;
	buf_release(&diff->respelled);
	diff->respelled = (struct buf)BUF_INIT(2 * LIMIT_DIFF_BYTES);
	buf_reserve(&diff->respelled, total);
}

/* ---- of hunks: escapes for invisible characters ---- */

/* Which of the diff's lines stand in the base as they are. */
static bool *find_as_written(const struct lines *base, const struct diff_text *diff)
{
	bool *there = mem_alloc(diff->line_count + 1, sizeof(*there));
	struct fold_index index;

	fold_index_build(&index, base, diff, FOLD_SIDE_OLD, FOLD_TRAILING, /* strip_bom= */ false);
	for (size_t i = 0; i < diff->line_count; i++) {
		uint32_t id = index.diff_ids[i];

		there[i] = id && index.starts[id - 1] < index.starts[id];
	}
	fold_index_release(&index);
	return there;
}

/* Reads the old lines; *ret is the lines as they were. */
static bool respell_old_lines(const struct lines *base, struct diff_text *diff,
                              struct hunk_line *ret)
{
	_cleanup_free_ bool *there = find_as_written(base, diff);
	bool any = false;

	for (size_t i = 0; i < diff->line_count; i++) {
		struct hunk_line *line = &diff->lines[i];
		size_t start = diff->respelled.len;

		ret[i] = *line;
		if (line->op == '+' || there[i])
			continue;
		if (!unseen_read(&diff->respelled, line->text)) {
			diff->respelled.len = start;
			continue;
		}
		line->text = buf_from(&diff->respelled, start);
		any = true;
	}
	return any;
}

bool spelling_mend_unseen(const struct lines *base, struct diff_text *diff, size_t *ret_doubt)
{
	_cleanup_free_ struct hunk_line *was = mem_alloc(diff->line_count + 1, sizeof(*was));
	_cleanup_free_ struct placement *places = mem_alloc(diff->hunk_count + 1, sizeof(*places));
	struct pairing pairing;

	*ret_doubt = 0;
	for (size_t h = 0; h < diff->hunk_count; h++)
		places[h].count = diff->hunks[h].count;
	pairing_make(diff, places, &pairing);
	reserve_lines(diff);
	if (!respell_old_lines(base, diff, was)) {
		pairing_release(&pairing);
		return false;
	}
	for (size_t i = 0; i < diff->line_count; i++) {
		const struct hunk_line *removed = pairing.of[i].likest;
		size_t start = diff->respelled.len;

		/* What the file has as it is written stands for nothing. */
		if (!removed || span_eq(removed->text, was[removed - diff->lines].text))
			continue;
		if (!spelling_carry_unseen(was[removed - diff->lines].text, diff->lines[i].text,
		                           &diff->respelled))
			*ret_doubt = diff->lines[i].diff_line;
		else
			diff->lines[i].text = buf_from(&diff->respelled, start);
	}
	pairing_release(&pairing);
	return true;
}

/* ---- of hunks: one level of escapes too much ---- */

bool spelling_mend_escapes(enum spelling_escapes level, struct diff_text *diff)
{
	size_t count = 0, ignored = 0;

	reserve_lines(diff);
	for (size_t i = 0; i < diff->line_count; i++) {
		struct hunk_line *line = &diff->lines[i];
		size_t start = diff->respelled.len;

		if (!spelling_unescape(level, line->text, &diff->respelled,
		                       line->op == '+' ? &ignored : &count))
			return false;
		line->text = buf_from(&diff->respelled, start);
	}
	return count > 0;
}
