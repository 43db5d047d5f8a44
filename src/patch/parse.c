/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a diff: out of its wrapping, line by line into hunks. */
#include "patch/parse.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "patch/private.h"

/* ---- taking a diff out of its wrapping -------------------------------------------- */

/* What models wrap a diff in: code fences (CommonMark 0.30, section 4.5), indentation. */

struct fence {
	char mark;     /* '`' or '~' */
	size_t run;    /* how many */
	size_t indent; /* spaces before */
	bool info;     /* text follows: it can only open */
};

static size_t count_spaces(struct span line)
{
	size_t n = 0;

	while (n < line.len && line.data[n] == ' ')
		n++;
	return n;
}

/* Spaces and tabs. */
static size_t count_blanks(struct span line)
{
	size_t n = 0;

	while (n < line.len && (line.data[n] == ' ' || line.data[n] == '\t'))
		n++;
	return n;
}

static bool parse_fence(struct span line, struct fence *ret)
{
	struct fence fence = { .indent = count_spaces(line) };
	struct span rest = span_skip(line_body(line), fence.indent);

	if (!rest.len || (rest.data[0] != '`' && rest.data[0] != '~'))
		return false;
	fence.mark = rest.data[0];
	while (fence.run < rest.len && rest.data[fence.run] == fence.mark)
		fence.run++;
	if (fence.run < 3)
		return false;
	fence.info = span_trim(span_skip(rest, fence.run)).len > 0;
	*ret = fence;
	return true;
}

static bool fence_closes(const struct fence *open, const struct fence *line)
{
	return line->mark == open->mark && line->run >= open->run && !line->info &&
	       line->indent == open->indent;
}

static bool starts_hunk(struct span line)
{
	return span_starts(line, SPAN("@@"));
}

/* A diff line of a file header, which only counts when a name follows. */
static bool starts_header(struct span line)
{
	return (span_starts(line, SPAN("--- ")) || span_starts(line, SPAN("+++ ")) ||
	        span_starts(line, SPAN("diff --git "))) &&
	       span_trim(line).len > 4;
}

static bool holds_hunk(struct span text)
{
	struct span line;

	while (line_next(&text, &line))
		if (starts_hunk(span_skip(line, count_blanks(line))))
			return true;
	return false;
}

/* Appends the contents of the fenced blocks that hold hunks. A fence after
 * an unfenced hunk is part of a file's text, not a wrapper: then nothing is fenced. */
static bool collect_fenced(struct span text, struct buf *out)
{
	struct span rest = text, line;
	struct fence open, fence;

	while (line_next(&rest, &line)) {
		struct span block;

		if (starts_hunk(span_skip(line, count_blanks(line))) && !out->len)
			return false;
		if (!parse_fence(line, &open))
			continue;
		block = span_of(rest.data, 0);
		while (line_next(&rest, &line)) {
			if (parse_fence(line, &fence) && fence_closes(&open, &fence))
				break;
			block.len = (size_t)(line.data + line.len - block.data);
		}
		if (holds_hunk(block)) {
			buf_span(out, block);
			if (!span_ends(block, SPAN("\n")))
				buf_char(out, '\n');
		}
	}
	return out->len > 0;
}

/* The white space before the first header of a diff whose lines all begin with it;
 * empty when the diff is not indented as a whole. */
static struct span whole_indent(struct span text)
{
	struct span line, indent = span_of(NULL, 0);
	bool inside = false;

	while (line_next(&text, &line)) {
		size_t blanks = count_blanks(line);
		struct span rest = span_skip(line, blanks);

		if (!inside && (starts_hunk(rest) || starts_header(rest))) {
			inside = true;
			indent = span_head(line, blanks);
		}
		if (inside && span_trim(line).len && !span_starts(line, indent))
			return span_of(NULL, 0);
	}
	return indent;
}

/* Returns `text` itself when nothing wraps it, otherwise the unwrapped text in
 * *storage.  Lines that are left out stay as empty prose before the first hunk or
 * vanish between blocks; line numbers of the diff then count from the unwrapped text. */
static struct span diff_unwrap(struct span text, struct buf *storage)
{
	struct span source, line, indent;

	text = utf8_skip_mark(text);
	source = text;
	if (collect_fenced(text, storage))
		source = buf_view(storage);
	indent = whole_indent(source);
	if (indent.len) {
		struct buf shifted = BUF_INIT(storage->max);

		while (line_next(&source, &line)) {
			size_t blanks = count_blanks(line);

			buf_span(&shifted,
			         span_skip(line, blanks < indent.len ? blanks : indent.len));
		}
		buf_release(storage);
		*storage = shifted;
		source = buf_view(storage);
	}
	return source;
}

/* ---- parsing ---------------------------------------------------------------------- */

/* Hunks that a later one is compared with: bounds the work on hostile diffs. */
enum { REPEATS_LOOKED_AT = 1000 };

struct parser {
	struct lines text;     /* the unwrapped diff */
	size_t at;             /* next line, 0-based */
	struct diff_text *out;
	bool in_hunk;
	bool in_git_header;    /* a `diff --git` line came after the last hunk */
	bool loose;            /* no @@ is at the left edge: indented ones count */
	struct span name;      /* the file that the hunks so far belong to; empty: unknown */
	struct span old_name, new_name; /* from the latest file header */
};

void parse_diff_release(struct diff_text *diff)
{
	free(diff->lines);
	free(diff->hunks);
	free(diff->anchors);
	buf_release(&diff->shifted);
	buf_release(&diff->respelled);
	*diff = (struct diff_text){ 0 };
}

static struct span parser_peek(const struct parser *p, size_t ahead)
{
	if (p->at + ahead >= p->text.count)
		return span_of("", 0);
	return line_body(lines_at(&p->text, p->at + ahead));
}

/* ---- file headers ---- */

/* The name of a ---, +++ or *** line: without a time stamp, quotes, a/ or b/. */
static struct span clean_name(struct span text)
{
	const char *tab = text.len ? memchr(text.data, '\t', text.len) : NULL;

	if (tab)
		text.len = (size_t)(tab - text.data);
	text = span_trim(text);
	if (text.len >= 2 && text.data[0] == '"' && text.data[text.len - 1] == '"')
		text = span_of(text.data + 1, text.len - 2);
	if (text.len > 2 && (text.data[0] == 'a' || text.data[0] == 'b') && text.data[1] == '/')
		text = span_skip(text, 2);
	return text;
}

static bool is_dev_null(struct span name)
{
	return span_eq(name, SPAN("/dev/null"));
}

/* The file a pair of header names is about. */
static struct span section_name(const struct parser *p)
{
	if (p->new_name.len && !is_dev_null(p->new_name))
		return p->new_name;
	if (p->old_name.len && !is_dev_null(p->old_name))
		return p->old_name;
	return span_of("", 0);
}

static const struct {
	struct span prefix;
	enum { HEADER_NONE, HEADER_OLD, HEADER_NEW, HEADER_BOTH } names;
} header_lines[] = {
	{ { "diff --git ", 11 }, HEADER_NONE },   { { "--- ", 4 }, HEADER_OLD },
	{ { "+++ ", 4 }, HEADER_NEW },            { { "*** Update File: ", 17 }, HEADER_BOTH },
	{ { "*** Add File: ", 14 }, HEADER_BOTH }, { { "*** Begin Patch", 15 }, HEADER_NONE },
	{ { "*** End Patch", 13 }, HEADER_NONE }, { { "*** End of File", 15 }, HEADER_NONE },
	{ { "Index: ", 7 }, HEADER_NONE },        { { "diff -", 6 }, HEADER_NONE },
};

/* Takes a file header line; false if it is none. */
static bool parser_take_header(struct parser *p, struct span line)
{
	for (size_t i = 0; i < ARRAY_LEN(header_lines); i++) {
		struct span name;

		if (!span_starts(line, header_lines[i].prefix))
			continue;
		name = clean_name(span_skip(line, header_lines[i].prefix.len));
		if (header_lines[i].names == HEADER_OLD || header_lines[i].names == HEADER_BOTH) {
			p->old_name = name;
			p->new_name = span_of("", 0);
		}
		if (header_lines[i].names == HEADER_NEW || header_lines[i].names == HEADER_BOTH)
			p->new_name = name;
		return true;
	}
	return false;
}

/* Half a file header, with the name that the file has had so far. */
static bool is_name_again(const struct parser *p, struct span line)
{
	struct span name = clean_name(span_skip(line, 4));

	if (!name.len)
		return false;
	return (span_starts(line, SPAN("+++ ")) && span_eq(name, p->new_name)) ||
	       (span_starts(line, SPAN("--- ")) && span_eq(name, p->old_name));
}

/* Whether the next line starts another file inside a hunk. "--- x" alone may be a
 * removed line, so it needs a "+++ y" and a hunk after it. */
static bool at_file_header(const struct parser *p)
{
	struct span line = parser_peek(p, 0);

	if (span_starts(line, SPAN("diff --git ")) ||
	    span_starts(line, SPAN("*** Update File: ")) ||
	    span_starts(line, SPAN("*** End Patch")) ||
	    span_starts(line, SPAN("*** End of File")) ||
	    span_starts(line, SPAN("Index: ")) || claims_end_hunk(line))
		return true;
	if (span_starts(line, SPAN("--- ")) && span_starts(parser_peek(p, 1), SPAN("+++ ")) &&
	    span_starts(parser_peek(p, 2), SPAN("@@")))
		return true;
	return is_name_again(p, line) && span_starts(parser_peek(p, 1), SPAN("@@"));
}

/* A mail signature: "-- " and then the program's version, nothing else. */
static bool at_signature(const struct parser *p)
{
	struct span version = span_trim(parser_peek(p, 1));

	if (!span_eq(parser_peek(p, 0), SPAN("-- ")) && !span_eq(parser_peek(p, 0), SPAN("--")))
		return false;
	for (size_t i = 2; p->at + i < p->text.count; i++)
		if (span_trim(parser_peek(p, i)).len)
			return false;
	return version.len && ascii_is_digit(version.data[0]) &&
	       memchr(version.data, '.', version.len) != NULL;
}

/* ---- hunk headers ---- */

static bool hunk_take_number(struct span *text, size_t *ret)
{
	size_t n = 0, digits = 0;

	while (digits < text->len && ascii_is_digit(text->data[digits])) {
		if (n > ((size_t)1 << 48))
			return false;
		n = n * 10 + (size_t)(text->data[digits++] - '0');
	}
	if (!digits)
		return false;
	*text = span_skip(*text, digits);
	*ret = n;
	return true;
}

/* "-12,3": sign, start and optional count (1 when absent). */
static bool hunk_take_range(struct span *text, char sign, size_t *ret_start, size_t *ret_count)
{
	struct span rest = span_skip(*text, 1);

	if (!text->len || text->data[0] != sign || !hunk_take_number(&rest, ret_start))
		return false;
	*ret_count = 1;
	if (rest.len && rest.data[0] == ',') {
		rest = span_skip(rest, 1);
		if (!hunk_take_number(&rest, ret_count))
			*ret_count = 1;
	}
	*text = rest;
	return true;
}

/* Only signs, commas, dots, digits and blanks: numbers that were left out or garbled. */
static bool is_number_noise(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!strchr("-+,. \t0123456789?xXN#", text.data[i]) || !text.data[i])
			return false;
	return true;
}

static void parse_hunk_header(struct span line, struct hunk *hunk)
{
	struct span inside = span_trim(span_skip(line, 2));
	struct span after = span_of("", 0);
	const char *close = inside.len ? memmem(inside.data, inside.len, "@@", 2) : NULL;

	if (close) {
		after = span_trim(span_skip(inside, (size_t)(close - inside.data) + 2));
		inside = span_trim(span_head(inside, (size_t)(close - inside.data)));
	}
	hunk->has_old = hunk_take_range(&inside, '-', &hunk->old_start, &hunk->old_count);
	while (inside.len && (inside.data[0] == ' ' || inside.data[0] == '\t'))
		inside = span_skip(inside, 1);
	hunk->has_new = hunk_take_range(&inside, '+', &hunk->new_start, &hunk->new_count);
	inside = span_trim(inside);
	if (!after.len && !is_number_noise(inside))
		after = inside;
	hunk->heading = is_number_noise(after) ? span_of("", 0) : after;
}

/* ---- hunk bodies ---- */

static void parser_add_line(struct parser *p, struct hunk_line line)
{
	struct diff_text *out = p->out;

	out->lines = mem_grow(out->lines, &out->line_cap, out->line_count + 1, sizeof(*out->lines));
	out->lines[out->line_count++] = line;
	out->hunks[out->hunk_count - 1].count++;
}

static bool is_no_newline_marker(struct span line)
{
	return span_starts(line, SPAN("\\ ")) || span_starts(line, SPAN("\\No newline"));
}

/* Takes one line of a hunk's body. */
static void take_body_line(struct parser *p)
{
	struct span whole = lines_at(&p->text, p->at);
	struct span body = line_body(whole);
	struct hunk_line line = { .diff_line = p->at + 1 };

	line.cr = span_ends(whole, SPAN("\r\n"));
	p->at++;
	if (is_no_newline_marker(body)) {
		if (p->out->hunks[p->out->hunk_count - 1].count)
			p->out->lines[p->out->line_count - 1].no_newline = true;
		p->out->hunks[p->out->hunk_count - 1].header_cr |= line.cr;
		return;
	}
	if (body.len && (body.data[0] == ' ' || body.data[0] == '-' || body.data[0] == '+')) {
		line.op = body.data[0];
		line.text = span_skip(body, 1);
	} else {
		line.op = ' ';
		line.bare = true;
		line.text = body;
	}
	parser_add_line(p, line);
}

/* Where the header's counts are met, looking at the lines read so far. */
static size_t find_cut(const struct diff_text *diff, const struct hunk *hunk)
{
	size_t old_seen = 0, new_seen = 0;

	if (!hunk->has_old || !hunk->has_new)
		return 0;
	for (size_t i = 0; i < hunk->count; i++) {
		char op = diff->lines[hunk->first + i].op;

		old_seen += op != '+';
		new_seen += op != '-';
		if (old_seen == hunk->old_count && new_seen == hunk->new_count)
			return i + 1;
	}
	return 0;
}

static void end_hunk(struct parser *p)
{
	if (!p->in_hunk)
		return;
	p->in_hunk = false;
	p->out->hunks[p->out->hunk_count - 1].cut =
		find_cut(p->out, &p->out->hunks[p->out->hunk_count - 1]);
}

/* Without spaces of any kind and invisible characters in front. */
static struct span skip_spaces(struct span line)
{
	while (line.len) {
		struct utf8_char c = utf8_first(line);
		const char *ascii = c.bytes.len > 1 ? fold_lookalike(c.code) : NULL;

		if (line.data[0] != ' ' && line.data[0] != '\t' &&
		    !(ascii && (!*ascii || *ascii == ' ')))
			break;
		line = span_skip(line, c.bytes.len);
	}
	return line;
}

/* The hunk header on the next line; empty if it is none. */
static struct span peek_header(const struct parser *p)
{
	struct span line = p->loose || !p->in_hunk ? skip_spaces(parser_peek(p, 0)) :
	                   parser_peek(p, 0);

	return span_starts(line, SPAN("@@")) ? line : span_of("", 0);
}

static bool begin_hunk(struct parser *p, struct err *err)
{
	struct diff_text *out = p->out;
	struct hunk hunk = { .first = out->line_count, .diff_line = p->at + 1,
	                     .header_cr = span_ends(lines_at(&p->text, p->at), SPAN("\r\n")) &&
	                                  peek_header(p).len };
	struct span name = section_name(p);

	end_hunk(p);
	if (span_starts(parser_peek(p, 0), SPAN("@@@ -")) ||
	    span_starts(parser_peek(p, 0), SPAN("@@@@ -")))
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: this is a combined diff of a merge (@@@). Send a "
		               "plain unified diff against one state of the file.");
	if (out->hunk_count >= LIMIT_DIFF_HUNKS)
		return err_set(err, ERR_TOO_LARGE, "The diff has more than %d hunks.",
		               LIMIT_DIFF_HUNKS);
	if (p->name.len && name.len && !span_eq(p->name, name))
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: the diff is for several files (%.*s and %.*s). Send "
		               "one diff per file, or use apply_changes.",
		               (int)(p->name.len < 200 ? p->name.len : 200), p->name.data,
		               (int)(name.len < 200 ? name.len : 200), name.data);
	if (name.len)
		p->name = name;
	if (!out->hunk_count) {
		out->claims.old_name = p->old_name;
		out->claims.new_name = p->new_name;
	}
	out->claims.deletes |= is_dev_null(p->new_name) && p->old_name.len;
	p->in_git_header = false;
	out->hunks = mem_grow(out->hunks, &out->hunk_cap, out->hunk_count + 1, sizeof(*out->hunks));
	out->hunks[out->hunk_count++] = hunk;
	p->in_hunk = true;
	return true;
}

/* One line outside a hunk: prose, a header, or the start of a hunk without an @@ line
 * (which must follow a +++ header and be marked). */
static bool take_outside(struct parser *p, struct err *err)
{
	struct span line = parser_peek(p, 0);

	p->in_git_header |= span_starts(line, SPAN("diff --git "));
	p->out->apply_patch |= span_starts(line, SPAN("*** Begin Patch")) ||
	                       span_starts(line, SPAN("*** Update File: "));
	claims_take(&p->out->claims, line, parser_peek(p, 1), p->in_git_header);
	if (parser_take_header(p, line)) {
		bool names_new = span_starts(line, SPAN("+++ ")) ||
		                 span_starts(line, SPAN("*** Add File: "));

		p->at++;
		line = parser_peek(p, 0);
		if (names_new && line.len && strchr(" +-", line.data[0]) &&
		    !span_starts(line, SPAN("--- ")) && !span_starts(line, SPAN("+++ ")))
			return begin_hunk(p, err);
		return true;
	}
	p->at++;
	return true;
}

static bool has_header_at_edge(const struct parser *p)
{
	for (size_t i = 0; i < p->text.count; i++)
		if (span_starts(lines_at(&p->text, i), SPAN("@@")))
			return true;
	return false;
}

static bool parse_lines(struct parser *p, struct err *err)
{
	p->loose = !has_header_at_edge(p);
	while (p->at < p->text.count) {
		struct span header = peek_header(p);

		if (header.len) {
			if (!begin_hunk(p, err))
				return false;
			parse_hunk_header(header, &p->out->hunks[p->out->hunk_count - 1]);
			p->at++;
		} else if (!p->in_hunk) {
			if (!take_outside(p, err))
				return false;
		} else if (at_file_header(p)) {
			p->out->hunks[p->out->hunk_count - 1].at_end =
				span_starts(parser_peek(p, 0), SPAN("*** End of File"));
			end_hunk(p);
		} else if (at_signature(p)) {
			end_hunk(p);
			p->at = p->text.count;
		} else {
			take_body_line(p);
		}
	}
	end_hunk(p);
	return true;
}

static bool same_hunk(const struct diff_text *diff, const struct hunk *a, const struct hunk *b)
{
	/* Line 0 or 1 everywhere is what models write that do not know the line. */
	if (!a->has_old || !b->has_old || a->old_start != b->old_start || a->old_start <= 1 ||
	    a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (diff->lines[a->first + i].op != diff->lines[b->first + i].op ||
		    !span_eq(diff->lines[a->first + i].text, diff->lines[b->first + i].text))
			return false;
	return true;
}

/* Drops hunks that were said before, with the same number: a diff pasted twice. */
static void drop_repeated_hunks(struct diff_text *diff)
{
	size_t kept = 0;

	for (size_t i = 0; i < diff->hunk_count; i++) {
		bool repeated = false;

		for (size_t j = 0; j < kept && j < REPEATS_LOOKED_AT && !repeated; j++)
			repeated = same_hunk(diff, &diff->hunks[j], &diff->hunks[i]);
		if (!repeated)
			diff->hunks[kept++] = diff->hunks[i];
	}
	diff->hunk_count = kept;
}

/* A diff that stops in the middle of a line, in a hunk that its header says goes on,
 * after hunks whose headers were right, was cut off. */
static bool is_cut_off(const struct diff_text *diff, struct span text)
{
	const struct hunk *last = &diff->hunks[diff->hunk_count - 1];

	if (diff->hunk_count < 2 || span_ends(text, SPAN("\n")) || !last->has_old ||
	    !last->has_new || last->cut)
		return false;
	for (size_t i = 0; i + 1 < diff->hunk_count; i++)
		if (diff->hunks[i].cut != diff->hunks[i].count)
			return false;
	return true;
}

static bool has_words(const struct diff_text *diff, const struct hunk *hunk)
{
	if (hunk->heading.len)
		return true;
	for (size_t j = 0; j < hunk->count; j++)
		if (span_trim(diff->lines[hunk->first + j].text).len)
			return true;
	return false;
}

/* The last line of an anchor that could head a function, or its own heading. */
static struct span heading_of_anchor(const struct diff_text *diff, const struct hunk *anchor)
{
	for (size_t j = anchor->count; j-- > 0;) {
		struct span text = span_trim(diff->lines[anchor->first + j].text);
		unsigned char c = text.len ? (unsigned char)text.data[0] : 0;

		if (ascii_is_letter(c) || c == '_')
			return text;
	}
	return anchor->heading;
}

/* Drops hunks that change nothing; they have nothing to place.  In the apply_patch format
 * they are anchors of the next one. */
static void drop_idle_hunks(struct diff_text *diff)
{
	struct span within = span_of("", 0);
	size_t kept = 0, cap = 0;

	for (size_t i = 0; i < diff->hunk_count; i++) {
		struct hunk *hunk = &diff->hunks[i];
		bool changes = false;

		for (size_t j = 0; j < hunk->count; j++)
			changes |= diff->lines[hunk->first + j].op != ' ';
		if (changes) {
			hunk->within = within;
			within = span_of("", 0);
			diff->hunks[kept++] = *hunk;
		} else if (diff->apply_patch && has_words(diff, hunk)) {
			diff->anchors = mem_grow(diff->anchors, &cap, diff->anchor_count + 1,
			                         sizeof(*diff->anchors));
			diff->anchors[diff->anchor_count] = *hunk;
			diff->anchors[diff->anchor_count++].before = kept;
			within = heading_of_anchor(diff, hunk);
		}
	}
	diff->hunk_count = kept;
}

/* The CR of a line without a line ending is text, unless other lines show that the diff got CRs. */
static void keep_final_crs(struct diff_text *diff)
{
	bool added = false;

	for (size_t h = 0; h < diff->hunk_count; h++)
		added |= diff->hunks[h].header_cr;
	for (size_t i = 0; i < diff->line_count; i++)
		added |= diff->lines[i].cr && !diff->lines[i].no_newline;
	for (size_t i = 0; i < diff->line_count && !added; i++) {
		struct hunk_line *line = &diff->lines[i];

		line->text.len += line->cr && line->no_newline;
		line->cr = false;
	}
}

bool parse_diff(struct span text, struct diff_text *ret, size_t *ret_diff_line,
                struct err *err)
{
	struct diff_text diff = { .shifted = BUF_INIT(LIMIT_DIFF_BYTES + 1) };
	struct parser parser = { .out = &diff };
	size_t stated;
	bool ok;

	*ret_diff_line = 0;
	if (text.len > LIMIT_DIFF_BYTES)
		return err_set(err, ERR_TOO_LARGE, "The diff has %zu bytes; the limit is %zu.",
		               text.len, LIMIT_DIFF_BYTES);
	lines_index(&parser.text, diff_unwrap(text, &diff.shifted));
	ok = parse_lines(&parser, err);
	if (!ok)
		*ret_diff_line = parser.at + 1;
	lines_release(&parser.text);
	stated = diff.hunk_count;
	if (ok && stated && is_cut_off(&diff, text))
		ok = err_set(err, ERR_INVALID_DIFF,
		             "Invalid Diff: the diff stops inside its last hunk. Send it whole.");
	ok = ok && claims_check(&diff.claims, err);
	if (ok) {
		drop_repeated_hunks(&diff);
		drop_idle_hunks(&diff);
		if (!stated && diff.claims.mode.len)
			ok = err_set(err, ERR_INVALID_DIFF,
			             "Invalid Diff: there is no hunk in it, only the file mode "
			             "%.*s. Nothing was written; modes are set with chmod.",
			             (int)diff.claims.mode.len, diff.claims.mode.data);
		else if (!stated)
			ok = err_set(err, ERR_INVALID_DIFF,
			             "Invalid Diff: there is no hunk in it (no line that begins "
			             "with @@).");
		else if (diff.anchor_count > LIMIT_DIFF_ANCHORS)
			ok = err_set(err, ERR_TOO_LARGE,
			             "The diff has more than %d sections of context alone.",
			             LIMIT_DIFF_ANCHORS);
		else if (!diff.hunk_count)
			ok = err_set(err, ERR_INVALID_DIFF,
			             "Invalid Diff: no line in it begins with + or -, so it "
			             "changes nothing.");
	}
	if (ok) {
		keep_final_crs(&diff);
		*ret = diff;
	} else {
		parse_diff_release(&diff);
	}
	return ok;
}
