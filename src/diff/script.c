/* SPDX-License-Identifier: Apache-2.0 */
/* The edit script: building, counting, applying, merging, printing. */
#include "diff/diff.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

void script_add(struct script *script, struct edit edit)
{
	if (script->count > 0) {
		const struct edit *last = &script->edits[script->count - 1];

		assert(edit.at >= last->at + last->remove);
	}
	if (script->count == script->cap)
		script->edits = mem_grow(script->edits, &script->cap, script->count + 1,
		                         sizeof(*script->edits));
	script->edits[script->count++] = edit;
}

void script_release(struct script *script)
{
	free(script->edits);
	*script = (struct script){ 0 };
}

void script_stat(const struct script *script, size_t *ret_added, size_t *ret_removed)
{
	size_t added = 0, removed = 0;

	for (size_t i = 0; i < script->count; i++) {
		added += lines_count(script->edits[i].insert);
		removed += script->edits[i].remove;
	}
	*ret_added = added;
	*ret_removed = removed;
}

bool script_apply(const struct lines *base, const struct script *script, struct buf *out)
{
	size_t kept = 0; /* the first line of the base not dealt with yet */

	for (size_t i = 0; i < script->count; i++) {
		const struct edit *edit = &script->edits[i];

		assert(edit->at >= kept && edit->at + edit->remove <= base->count);
		if (edit->at > kept)
			buf_span(out, lines_range(base, kept, edit->at));
		buf_span(out, edit->insert);
		kept = edit->at + edit->remove;
	}
	if (kept < base->count)
		buf_span(out, lines_range(base, kept, base->count));
	return !out->overflowed;
}

/* ---- merging ---------------------------------------------------------------------- */

/* Lines by which an edit is moved to see what it could touch; one that goes further touches all. */
enum { SLIDE_MAX = 1024 };

static size_t count_lines(struct span text)
{
	struct span line;
	size_t n = 0;

	while (line_next(&text, &line))
		n++;
	return n;
}

/* Line `i` of an insertion. */
static struct span inserted_line(struct span text, size_t i)
{
	struct span line = span_of("", 0);

	for (size_t n = 0; n <= i && line_next(&text, &line); n++)
		;
	return line;
}

/* The lines of the base that an edit may be said to change: [from, to]. */
struct reach {
	size_t from, to;
};

/* Whether the edit could as well stand `by` lines later, or so many earlier. */
static bool slides_down(const struct lines *base, const struct edit *edit, size_t count, size_t by)
{
	size_t line = edit->at + edit->remove + by;

	return line < base->count &&
	       span_eq(lines_at(base, line), count ? inserted_line(edit->insert, by % count) :
	                                             lines_at(base, edit->at + by));
}

static bool slides_up(const struct lines *base, const struct edit *edit, size_t count, size_t by)
{
	return edit->at > by &&
	       span_eq(lines_at(base, edit->at - 1 - by),
	               count ? inserted_line(edit->insert, count - 1 - by % count) :
	                       lines_at(base, edit->at + edit->remove - 1 - by));
}

static struct reach reach_of(const struct lines *base, const struct edit *edit)
{
	size_t count = count_lines(edit->insert), down = 0, up = 0;

	if (edit->remove && count)
		return (struct reach){ edit->at, edit->at + edit->remove };
	while (down < SLIDE_MAX && slides_down(base, edit, count, down))
		down++;
	while (up < SLIDE_MAX && slides_up(base, edit, count, up))
		up++;
	if (down == SLIDE_MAX || up == SLIDE_MAX)
		return (struct reach){ 0, base->count };
	return (struct reach){ edit->at - up, edit->at + edit->remove + down };
}

/* Whether the edit touches one of `theirs`; *ret_alike when one of them is the same. */
static bool edit_touches_any(const struct lines *base, const struct edit *edit,
                             const struct script *theirs, const struct reach *reaches,
                             bool *ret_alike)
{
	struct reach mine = reach_of(base, edit);

	*ret_alike = false;
	for (size_t i = 0; i < theirs->count; i++) {
		if (edit->at == theirs->edits[i].at && edit->remove == theirs->edits[i].remove &&
		    span_eq(edit->insert, theirs->edits[i].insert))
			*ret_alike = true;
		else if (mine.from <= reaches[i].to && reaches[i].from <= mine.to)
			return true;
	}
	return false;
}

bool script_merge(const struct lines *base, const struct script *mine,
                  const struct script *theirs, struct script *ret)
{
	_cleanup_free_ struct reach *reaches = mem_alloc(theirs->count + 1, sizeof(*reaches));
	size_t passed = 0, added = 0, removed = 0;

	for (size_t i = 0; i < theirs->count; i++)
		reaches[i] = reach_of(base, &theirs->edits[i]);
	for (size_t i = 0; i < mine->count; i++) {
		const struct edit *edit = &mine->edits[i];
		bool alike;

		if (edit_touches_any(base, edit, theirs, reaches, &alike)) {
			script_release(ret);
			*ret = (struct script){ 0 };
			return false;
		}
		if (alike)
			continue;
		for (; passed < theirs->count && theirs->edits[passed].at < edit->at; passed++) {
			added += count_lines(theirs->edits[passed].insert);
			removed += theirs->edits[passed].remove;
		}
		script_add(ret, (struct edit){ .at = edit->at - removed + added,
		                               .remove = edit->remove, .insert = edit->insert });
	}
	return true;
}

/* ---- printing --------------------------------------------------------------------- */

/* Printing an edit script in the unified format (POSIX, diff, "Diff -u Output
 * Format"; the marker for a missing newline and the quoting of names follow
 * git). */

/* Edits [from, to) that are shown together, with lines [old_from, old_to) of the base. */
struct printed_hunk {
	size_t from, to;
	size_t old_from, old_to;
	size_t new_from; /* 0-based, in the result */
	size_t new_count;
};

static bool name_needs_quotes(struct span name)
{
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.data[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			return true;
	}
	return false;
}

/* The letter after the backslash for c, or 0. */
static char escape_letter(unsigned char c)
{
	static const char pairs[] = "\aa\bb\tt\nn\vv\ff\rr\"\"\\\\";

	for (size_t i = 0; i + 1 < sizeof(pairs); i += 2) {
		if ((unsigned char)pairs[i] == c)
			return pairs[i + 1];
	}
	return 0;
}

static void print_quoted(struct buf *out, struct span name)
{
	buf_char(out, '"');
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.data[i];
		char letter = escape_letter(c);

		if (letter)
			buf_printf(out, "\\%c", letter);
		else if (c < 0x20 || c >= 0x7f)
			buf_printf(out, "\\%03o", c);
		else
			buf_char(out, (char)c);
	}
	buf_char(out, '"');
}

void script_put_name(struct buf *out, const char *name)
{
	struct span text = span_str(name);

	if (name_needs_quotes(text))
		print_quoted(out, text);
	else
		buf_span(out, text);
}

void script_print_name(struct buf *out, const char *marker, const char *name)
{
	struct span text = span_str(name);

	buf_str(out, marker);
	script_put_name(out, name);
	/* Readers take a name to end at white space, but for a tab after it. */
	if (!name_needs_quotes(text) && text.len && memchr(text.data, ' ', text.len))
		buf_char(out, '\t');
	buf_char(out, '\n');
}

static bool is_octal_byte(struct span text)
{
	return text.len >= 3 && text.data[0] >= '0' && text.data[0] <= '3' &&
	       text.data[1] >= '0' && text.data[1] <= '7' && text.data[2] >= '0' &&
	       text.data[2] <= '7';
}

/* The byte for the letter after a backslash, or 0. */
static char escaped_byte(char letter)
{
	static const char pairs[] = "a\ab\bt\tn\nv\vf\fr\r\"\"\\\\";

	for (size_t i = 0; i + 1 < sizeof(pairs); i += 2) {
		if (pairs[i] == letter)
			return pairs[i + 1];
	}
	return 0;
}

char *script_unquote_name(struct span name)
{
	char *out = mem_alloc(name.len + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < name.len; i++) {
		const struct span rest = span_skip(name, i + 1);
		const char *at = rest.data;
		const bool escape = name.data[i] == '\\' && rest.len;

		if (escape && is_octal_byte(rest)) {
			out[n++] = (char)((at[0] - '0') * 64 + (at[1] - '0') * 8 + (at[2] - '0'));
			i += 3;
		} else if (escape && escaped_byte(at[0])) {
			out[n++] = escaped_byte(at[0]);
			i++;
		} else {
			out[n++] = name.data[i];
		}
	}
	return out;
}

static void print_line(struct buf *out, char sign, struct span line)
{
	buf_char(out, sign);
	buf_span(out, line);
	if (!span_ends(line, SPAN("\n")))
		buf_str(out, "\n\\ No newline at end of file\n");
}

/* The edits from `from` on that belong to one hunk, with their context.  *drift is by
 * how many lines the result is ahead of the base, modulo the size of size_t. */
static struct printed_hunk hunk_gather(const struct lines *base, const struct script *script,
                                       size_t from, size_t context, size_t *drift)
{
	const struct edit *edits = script->edits;
	struct printed_hunk hunk = { .from = from, .to = from };
	size_t end, added = 0, removed = 0;

	do {
		added += lines_count(edits[hunk.to].insert);
		removed += edits[hunk.to].remove;
		end = edits[hunk.to].at + edits[hunk.to].remove;
		hunk.to++;
	} while (hunk.to < script->count &&
	         (edits[hunk.to].at - end) / 2 + (edits[hunk.to].at - end) % 2 <= context);
	hunk.old_from = edits[from].at > context ? edits[from].at - context : 0;
	hunk.old_to = base->count - end > context ? end + context : base->count;
	hunk.new_from = hunk.old_from + *drift;
	hunk.new_count = hunk.old_to - hunk.old_from - removed + added;
	*drift += added - removed;
	return hunk;
}

static void print_range(struct buf *out, char sign, size_t from, size_t count)
{
	buf_printf(out, "%c%zu", sign, count == 0 ? from : from + 1);
	if (count != 1)
		buf_printf(out, ",%zu", count);
}

static void print_context(struct buf *out, const struct lines *base, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		print_line(out, ' ', lines_at(base, i));
}

static void print_inserts(struct buf *out, const struct edit *edits, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct span rest = edits[i].insert, line;

		while (line_next(&rest, &line))
			print_line(out, '+', line);
	}
}

static void print_hunk(struct buf *out, const struct lines *base, const struct script *script,
                       const struct printed_hunk *hunk)
{
	const struct edit *edits = script->edits;
	size_t line = hunk->old_from;

	buf_str(out, "@@ ");
	print_range(out, '-', hunk->old_from, hunk->old_to - hunk->old_from);
	buf_char(out, ' ');
	print_range(out, '+', hunk->new_from, hunk->new_count);
	buf_str(out, " @@\n");
	for (size_t i = hunk->from; i < hunk->to;) {
		size_t first = i;

		print_context(out, base, line, edits[i].at);
		line = edits[i].at;
		/* Edits that touch are shown as one: all removed lines, then all new ones. */
		for (; i < hunk->to && edits[i].at == line; i++) {
			for (size_t n = 0; n < edits[i].remove; n++)
				print_line(out, '-', lines_at(base, line++));
		}
		print_inserts(out, edits, first, i);
	}
	print_context(out, base, line, hunk->old_to);
}

bool script_print(struct buf *out, const struct lines *base, const struct script *script,
                  const struct script_print_options *options)
{
	size_t drift = 0;

	if (script->count > 0 && options->old_name && options->new_name) {
		script_print_name(out, "--- ", options->old_name);
		script_print_name(out, "+++ ", options->new_name);
	}
	for (size_t i = 0; i < script->count && !out->overflowed;) {
		struct printed_hunk hunk = hunk_gather(base, script, i, options->context, &drift);

		print_hunk(out, base, script, &hunk);
		i = hunk.to;
	}
	return !out->overflowed;
}
