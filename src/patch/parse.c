/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a diff: line by line into hunks, with a record of what each line was taken for. */
#include "patch/parse.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/span.h"
#include "base/text.h"
#include "patch/private.h"

/* Blank lines at the beginning of a quoted hunk that are looked past. */
enum { QUOTE_BLANKS = 8 };

/* Where the next line stands, outside of hunks. */
enum place {
	AT_START,   /* nothing but blank lines came before */
	IN_PROSE,   /* words came before: what begins with + or - may be a list */
	IN_SECTION, /* after a header, or in a wrapper: what begins with + or - is a hunk's */
	AFTER_END,  /* of an envelope or a mail: only headers count */
};

struct parser {
	struct diff_source source;
	size_t at;             /* next line, of those kept */
	struct diff_text *out;
	enum place place;
	bool in_hunk;
	bool in_git_header;    /* a `diff --git` line came after the last hunk */
	bool loose;            /* no @@ is at the left edge: indented ones are no quotes */
	bool indented;         /* the @@ line of this hunk is, so that others may be */
	size_t last_marked;    /* index of the last line that a hunk could have; 0 if none */
	struct span name;      /* the file that the hunks so far belong to; empty: unknown */
	struct span old_name, new_name; /* from the latest file header */
	struct span old_line, new_line; /* the --- and +++ lines of the section; empty: none yet */
	size_t old_seen, new_seen;      /* lines of the hunk so far */
	bool worded;           /* lines without markers came after the cut of the hunk */
	bool echoes;           /* since line `echo` of the hunk all of them look like a header */
	size_t echo;
};

void parse_diff_release(struct diff_text *diff)
{
	free(diff->lines);
	free(diff->hunks);
	free(diff->anchors);
	free(diff->record);
	buf_release(&diff->respelled);
	*diff = (struct diff_text){ 0 };
}

/* The line so many lines ahead; empty if the text between them was left out. */
static struct span parser_peek(const struct parser *p, size_t ahead)
{
	const struct diff_source *s = &p->source;

	if (p->at + ahead >= s->kept_count || s->kept[p->at + ahead] != s->kept[p->at] + ahead)
		return span_of("", 0);
	return unwrap_line(s, p->at + ahead);
}

/* Records what the next line is, and goes on to the one after it. */
static void parser_take(struct parser *p, enum line_role role)
{
	struct line_record *record = &p->source.record[p->source.kept[p->at++]];

	*record = (struct line_record){ .role = role };
}

/* 1-based, in the whole text. */
static size_t line_number(const struct parser *p)
{
	return p->source.kept[p->at] + (size_t)1;
}

/* Whether the counts of a hunk include the next line for certain. */
static bool at_counted(const struct parser *p)
{
	return p->source.record[p->source.kept[p->at]].role == LINE_HUNK;
}

static struct hunk *last_hunk(const struct parser *p)
{
	return &p->out->hunks[p->out->hunk_count - 1];
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

/* The names of "diff --git a/x b/x"; with blanks in them only if both are the same. */
static void take_git_names(struct parser *p, struct span rest)
{
	size_t middle = rest.len / 2;
	const char *b = rest.len ? memmem(rest.data, rest.len, " b/", 3) : NULL;

	rest = span_trim(rest);
	middle = rest.len / 2;
	if (!(rest.len % 2 && rest.data[middle] == ' ' &&
	      span_eq(clean_name(span_head(rest, middle)), clean_name(span_skip(rest, middle)))))
		middle = b ? (size_t)(b - rest.data) : rest.len;
	p->old_name = clean_name(span_head(rest, middle));
	p->new_name = clean_name(span_skip(rest, middle));
}

enum header_names { NAMES_NONE, NAMES_OLD, NAMES_NEW, NAMES_BOTH, NAMES_GIT };

/* Lines that speak of a file. To add one: a row, here and in claims.c if it claims something. */
static const struct header_row {
	struct span prefix;
	enum header_names names;
	enum line_role role;
	enum place then;
	bool envelope; /* of the apply_patch format: blanks around it do not count */
} header_rows[] = {
	{ { "diff --git ", 11 }, NAMES_GIT, LINE_HEADER, IN_SECTION, false },
	{ { "--- ", 4 }, NAMES_OLD, LINE_HEADER, IN_SECTION, false },
	{ { "+++ ", 4 }, NAMES_NEW, LINE_HEADER, IN_SECTION, false },
	{ { "*** Update File: ", 17 }, NAMES_BOTH, LINE_HEADER, IN_SECTION, true },
	{ { "*** Add File: ", 14 }, NAMES_BOTH, LINE_HEADER, IN_SECTION, true },
	{ { "*** Delete File: ", 17 }, NAMES_NONE, LINE_HEADER, IN_SECTION, true },
	{ { "*** Move to: ", 13 }, NAMES_NONE, LINE_HEADER, IN_SECTION, true },
	{ { "*** Begin Patch", 15 }, NAMES_NONE, LINE_OPENS, IN_SECTION, true },
	{ { "*** End Patch", 13 }, NAMES_NONE, LINE_CLOSES, AFTER_END, true },
	{ { "*** End of File", 15 }, NAMES_NONE, LINE_HEADER, IN_SECTION, true },
	{ { "Index: ", 7 }, NAMES_BOTH, LINE_HEADER, IN_SECTION, false },
	{ { "diff -", 6 }, NAMES_NONE, LINE_HEADER, IN_SECTION, false },
};

static const struct header_row *header_row_of(struct span line)
{
	for (size_t i = 0; i < ARRAY_LEN(header_rows); i++)
		if (span_starts(header_rows[i].envelope ? span_trim(line) : line,
		                header_rows[i].prefix))
			return &header_rows[i];
	return NULL;
}

/* In an envelope " *** End Patch" is context, but at the end of all. */
static bool is_indented_end(const struct parser *p, const struct header_row *row)
{
	return row->then == AFTER_END && p->at >= p->last_marked && p->out->apply_patch;
}

/* Whether the next line, outside of hunks, is a header of this row and not a line of a hunk
 * without @@ that looks like one. */
static bool is_header(const struct parser *p, const struct header_row *row)
{
	struct span line = parser_peek(p, 0), next = parser_peek(p, 1);

	if ((row->names == NAMES_OLD || row->names == NAMES_NEW) &&
	    !span_trim(span_skip(line, 4)).len)
		return false;
	if (row->envelope && line.data[0] != '*' && p->out->apply_patch && p->place == IN_SECTION)
		return is_indented_end(p, row);
	if (p->place != IN_SECTION || at_line_is_header(next))
		return true;
	if (row->names == NAMES_OLD)
		return !p->old_line.len || span_starts(next, SPAN("+++ "));
	return row->names != NAMES_NEW || !p->new_line.len ||
	       (p->at && span_starts(unwrap_line(&p->source, p->at - 1), SPAN("--- ")));
}

static bool refuse_files(struct span one, struct span other, struct err *err)
{
	return err_set(err, ERR_INVALID_DIFF,
	               "Invalid Diff: the diff is for several files (%.*s and %.*s). Send "
	               "one diff per file, or use apply_changes.",
	               (int)(one.len < 200 ? one.len : 200), one.data,
	               (int)(other.len < 200 ? other.len : 200), other.data);
}

/* Takes a file header line into the parser's state. False: it begins another file's part. */
static bool take_header(struct parser *p, const struct header_row *row, struct err *err)
{
	struct span line = row->envelope ? span_trim(parser_peek(p, 0)) : parser_peek(p, 0);
	struct span rest = span_skip(line, row->prefix.len), next = parser_peek(p, 1);

	if (row->names == NAMES_GIT) {
		take_git_names(p, rest);
	} else if (row->names == NAMES_BOTH) {
		p->old_name = p->new_name = span_trim(rest);
	} else if (row->names == NAMES_OLD) {
		p->old_name = clean_name(rest);
		p->new_name = span_of("", 0);
	} else if (row->names == NAMES_NEW) {
		p->new_name = clean_name(rest);
	}
	if (row->names == NAMES_OLD)
		p->old_line = line;
	else if (row->names == NAMES_NEW)
		p->new_line = line;
	else if (row->names != NAMES_NONE)
		p->old_line = p->new_line = span_of("", 0);
	p->out->apply_patch |= row->envelope;
	/* A lone "--- words" may be prose. */
	if (row->names != NAMES_OLD || p->place == IN_SECTION || at_line_is_header(next) ||
	    span_starts(next, SPAN("+++ ")))
		p->place = row->then;
	parser_take(p, row->role);
	if (row->envelope && row->names == NAMES_BOTH && p->name.len &&
	    !span_eq(p->name, p->new_name))
		return refuse_files(p->name, p->new_name, err);
	return true;
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

/* Whether a --- and a +++ line come next: two of a hunk's lines may look so. Without an @@ line
 * after them they must name one file, where the hunk may end. */
static bool at_names(const struct parser *p)
{
	struct span one = parser_peek(p, 0), other = parser_peek(p, 1), third = parser_peek(p, 2);
	const struct hunk *hunk = last_hunk(p);
	struct span old_name, new_name;
	unsigned kinds = 0;

	if (!span_starts(one, SPAN("--- ")) || !span_starts(other, SPAN("+++ ")))
		return false;
	if (at_line_is_header(third) || hunk->doubted)
		return true;
	old_name = clean_name(span_skip(one, 4));
	new_name = clean_name(span_skip(other, 4));
	return parse_run_goes_on(third, /* first= */ true, &kinds) &&
	       (!hunk->counted || hunk->cut) &&
	       ((old_name.len && span_eq(old_name, new_name)) || is_dev_null(old_name) ||
	        is_dev_null(new_name));
}

/* The first line of a mail in a series: "From " and a hash. */
static bool is_mail(struct span line)
{
	size_t hex = 0;

	if (!span_starts(line, SPAN("From ")))
		return false;
	line = span_skip(line, 5);
	while (hex < line.len && ascii_hex((unsigned char)line.data[hex]) >= 0)
		hex++;
	return hex == 40 && span_starts(span_skip(line, hex), SPAN(" Mon Sep 17 "));
}

/* Whether the next line, inside a hunk whose counts do not include it for certain, starts another
 * section.  "--- x" alone may be a removed line, so it needs more after it. */
static bool at_file_header(const struct parser *p)
{
	struct span line = parser_peek(p, 0), next = parser_peek(p, 1);
	const struct header_row *row = header_row_of(line);

	if (row && span_starts(row->prefix, SPAN("Index: ")) &&
	    (span_starts(next, SPAN("=====")) || span_starts(next, SPAN("--- ")) ||
	     at_line_is_header(next) || span_eq(clean_name(span_skip(line, 7)), p->name)))
		return true;
	if (row && row->envelope)
		return line.data[0] == '*' || is_indented_end(p, row);
	return (row && row->names == NAMES_GIT) || claims_end_hunk(line) || is_mail(line) ||
	       at_names(p) || (is_name_again(p, line) && at_line_is_header(next));
}

/* A mail's signature: "-- ", and then the program's version.  Where the counts are not met it
 * could be the removal of "-": then nothing that a hunk could have may follow. */
static bool at_signature(const struct parser *p)
{
	struct span line = parser_peek(p, 0), next = parser_peek(p, 1);

	if (!span_eq(line, SPAN("-- ")) && !span_eq(line, SPAN("--")))
		return false;
	if (last_hunk(p)->counted && last_hunk(p)->cut)
		return span_is_blank(next) || parse_is_version(next) ||
		       (line.len == 3 && !parse_is_marked(next));
	return parse_is_version(next) && !parse_is_marked(next) && p->last_marked <= p->at;
}

/* ---- hunk bodies ---- */

static void parser_add_line(struct parser *p, struct hunk_line line)
{
	struct diff_text *out = p->out;
	struct hunk *hunk = last_hunk(p);

	out->lines = mem_grow(out->lines, &out->line_cap, out->line_count + 1, sizeof(*out->lines));
	out->lines[out->line_count++] = line;
	hunk->count++;
	p->old_seen += line.op != '+';
	p->new_seen += line.op != '-';
	if (hunk->counted && !hunk->cut && p->old_seen == hunk->old_count &&
	    p->new_seen == hunk->new_count) {
		hunk->cut = hunk->count;
		hunk->echo = p->echoes ? hunk->cut - p->echo : 0;
	}
}

/* Whether a line that the counts include looks like the header of this section said again, or like
 * a mail's signature. */
static bool at_echo(const struct parser *p)
{
	struct span line = parser_peek(p, 0);

	return (line.len && (span_eq(line, p->old_line) || span_eq(line, p->new_line))) ||
	       ((span_eq(line, SPAN("-- ")) || span_eq(line, SPAN("--"))) &&
	        parse_is_version(parser_peek(p, 1)) && !parse_is_marked(parser_peek(p, 1)));
}

/* Takes one line of a hunk's body. */
static void take_body_line(struct parser *p)
{
	struct span body = parser_peek(p, 0);
	struct hunk_line line = { .diff_line = line_number(p) };

	line.cr = span_ends(lines_at(&p->source.text, p->source.kept[p->at]), SPAN("\r\n"));
	if (parse_is_eof_note(body)) {
		parser_take(p, LINE_HEADER);
		if (last_hunk(p)->count)
			p->out->lines[p->out->line_count - 1].no_newline = true;
		last_hunk(p)->header_cr |= line.cr;
		return;
	}
	if (at_echo(p)) {
		p->echo = p->echoes ? p->echo : last_hunk(p)->count;
		p->echoes = true;
	} else if (parse_is_marked(body)) {
		p->echoes = false;
	}
	if (body.len && (body.data[0] == ' ' || body.data[0] == '-' || body.data[0] == '+')) {
		line.op = body.data[0];
		line.text = span_skip(body, 1);
	} else {
		line.op = ' ';
		line.bare = true;
		line.text = body;
	}
	parser_take(p, LINE_HUNK);
	p->worded |= last_hunk(p)->cut && line.bare && !span_is_blank(body);
	parser_add_line(p, line);
}

static void end_hunk(struct parser *p, enum place then)
{
	p->in_hunk = false;
	p->place = then;
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

/* Whether the next line, an indented @@, is of a hunk that words quote: the line after it is
 * indented as far, and a real one comes later. */
static bool at_quote(const struct parser *p)
{
	struct span line = parser_peek(p, 0), next = parser_peek(p, 1);
	size_t blanks = line.len - skip_spaces(line).len;

	for (size_t ahead = 2; span_is_blank(next) && ahead <= QUOTE_BLANKS; ahead++)
		next = parser_peek(p, ahead);
	return blanks && !p->loose && p->place != IN_SECTION && !span_is_blank(next) &&
	       next.len - skip_spaces(next).len >= blanks;
}

/* The @@ line that comes next; empty if none does. */
static struct span peek_header(const struct parser *p)
{
	struct span line = parser_peek(p, 0);

	if (p->in_hunk && at_counted(p))
		return span_of("", 0);
	if (p->in_hunk ? p->indented : !at_quote(p))
		line = skip_spaces(line);
	return at_line_is_header(line) ? line : span_of("", 0);
}

static bool begin_hunk(struct parser *p, bool doubted, struct err *err)
{
	struct diff_text *out = p->out;
	struct span header = peek_header(p), name = section_name(p);
	struct span whole = lines_at(&p->source.text, p->source.kept[p->at]);
	struct hunk hunk = { .first = out->line_count, .diff_line = line_number(p),
	                     .doubted = doubted,
	                     .header_cr = header.len && span_ends(whole, SPAN("\r\n")) };

	end_hunk(p, IN_SECTION);
	if (at_line_is_combined(header))
		return err_set(err, ERR_INVALID_DIFF,
		               "Invalid Diff: this is a combined diff of a merge (@@@). Send a "
		               "plain unified diff against one state of the file.");
	if (out->hunk_count >= LIMIT_DIFF_HUNKS)
		return err_set(err, ERR_TOO_LARGE, "The diff has more than %d hunks.",
		               LIMIT_DIFF_HUNKS);
	if (p->name.len && name.len && !span_eq(p->name, name))
		return refuse_files(p->name, name, err);
	if (name.len)
		p->name = name;
	if (!out->claims.old_name.len && !out->claims.new_name.len) {
		out->claims.old_name = p->old_name;
		out->claims.new_name = p->new_name;
	}
	out->claims.deletes |= is_dev_null(p->new_name) && p->old_name.len;
	if (header.len)
		at_line_parse(header, &hunk);
	p->in_git_header = p->echoes = p->worded = false;
	p->indented = p->loose && header.len && !at_line_is_header(parser_peek(p, 0));
	p->old_seen = p->new_seen = 0;
	out->hunks = mem_grow(out->hunks, &out->hunk_cap, out->hunk_count + 1, sizeof(*out->hunks));
	out->hunks[out->hunk_count++] = hunk;
	p->in_hunk = true;
	if (header.len)
		parser_take(p, LINE_HEADER);
	return true;
}

/* ---- outside of hunks ---- */

/* "---" and "+++" without names, or with a dash too few, before an @@ line. */
static bool at_odd_names(const struct parser *p)
{
	struct span one = parser_peek(p, 0), other = parser_peek(p, 1);

	if (span_eq(span_trim(one), SPAN("---")) && span_eq(span_trim(other), SPAN("+++")))
		return true;
	return span_starts(one, SPAN("-- ")) && span_starts(other, SPAN("++ ")) &&
	       at_line_is_header(parser_peek(p, 2));
}

/* Lines at which a mail, or what git show prints, begins: a message follows. */
static bool starts_message(struct span line)
{
	static const struct span starts[] = { { "From ", 5 },    { "From: ", 6 },
		                              { "Date: ", 6 },    { "commit ", 7 },
		                              { "Author: ", 8 },  { "Subject: ", 9 } };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	return false;
}

/* Begins a hunk without an @@ line with the next line. */
static bool begin_bare(struct parser *p, bool doubted, struct err *err)
{
	if (!begin_hunk(p, doubted, err))
		return false;
	take_body_line(p);
	return true;
}

/* How many lines come next that a hunk without @@ could have; in *ret_kinds what is among them. */
static size_t look_at_run(const struct parser *p, unsigned *ret_kinds)
{
	size_t n = 0;

	*ret_kinds = 0;
	if (!parse_is_marked(parser_peek(p, 0)))
		return 0;
	while (parse_run_goes_on(parser_peek(p, n), n == 0, ret_kinds))
		n++;
	return n;
}

/* Whether a hunk without @@ begins inside of one whose counts are met, after words. */
static bool at_next_hunk(const struct parser *p)
{
	const struct hunk *hunk = last_hunk(p);
	unsigned kinds;

	if (!hunk->cut || !p->worded || !p->out->lines[p->out->line_count - 1].bare)
		return false;
	look_at_run(p, &kinds);
	return parse_run_is_hunk(kinds, /* first= */ false);
}

/* Takes a line, or several, that are no header: words, or the first of a hunk without @@.  Among
 * words, what is not plainly a change may be a list. */
static bool take_plain(struct parser *p, struct err *err)
{
	struct span line = parser_peek(p, 0), next = parser_peek(p, 1);
	unsigned kinds = 0;
	size_t run = 0;

	if (p->place == IN_SECTION &&
	    (parse_is_marked(line) || (p->out->apply_patch && parse_is_marked(next) &&
	                              !span_is_blank(line) && !starts_message(line))))
		return begin_bare(p, /* doubted= */ false, err);
	/* The line between a mail's message and its diff. */
	if (p->place != IN_SECTION && span_eq(line, SPAN("---")) &&
	    (!parse_is_change(next) || span_starts(next, SPAN("--- ")))) {
		parser_take(p, LINE_CLOSES);
		return true;
	}
	if (p->place != AFTER_END)
		run = look_at_run(p, &kinds);
	if (kinds & (RUN_ITEMS | RUN_REMOVES | RUN_ADDS))
		return begin_bare(p, !parse_run_is_hunk(kinds, p->place == AT_START), err);
	if (starts_message(line) || (!span_is_blank(line) && p->place == AT_START))
		p->place = IN_PROSE;
	parser_take(p, starts_message(line) ? LINE_CLOSES : LINE_PROSE);
	for (; run > 1; run--)
		parser_take(p, LINE_PROSE);
	return true;
}

/* One line outside a hunk: prose, a header, or the start of a hunk without an @@ line. */
static bool take_outside(struct parser *p, struct err *err)
{
	struct span line = parser_peek(p, 0);
	const struct header_row *row = header_row_of(line);
	bool known;

	p->in_git_header |= span_starts(line, SPAN("diff --git "));
	known = claims_take(&p->out->claims, line, parser_peek(p, 1), p->in_git_header);
	if (row && is_header(p, row))
		return take_header(p, row, err);
	if (at_odd_names(p)) {
		parser_take(p, LINE_HEADER);
		parser_take(p, LINE_HEADER);
		p->place = IN_SECTION;
		return true;
	}
	if (known && p->place == IN_SECTION) {
		parser_take(p, LINE_HEADER);
		return true;
	}
	return take_plain(p, err);
}

/* ---- all lines ---- */

/* Looks over the lines for what the parser must know before it comes there. */
static void survey(struct parser *p)
{
	p->loose = true;
	for (size_t i = 0; i < p->source.kept_count; i++) {
		struct span line = unwrap_line(&p->source, i);

		if (p->source.record[p->source.kept[i]].role != LINE_HUNK &&
		    at_line_is_header(line))
			p->loose = false;
		if (parse_is_marked(line) || at_line_is_header(line))
			p->last_marked = i;
	}
}

/* At the first line of what a wrapper holds, and at the first line after one. */
static void enter_piece(struct parser *p)
{
	size_t line = p->source.kept[p->at];
	enum line_role before = line ? p->source.record[line - 1].role : LINE_UNASSIGNED;
	bool doubted = p->source.record[line].role == LINE_PROSE;

	if (p->at && p->source.kept[p->at - 1] + 1 == line)
		return;
	if (doubted)
		end_hunk(p, IN_PROSE);
	else if (before == LINE_OPENS || before == LINE_CLOSES)
		end_hunk(p, IN_SECTION);
	else
		end_hunk(p, p->at || line ? IN_PROSE : AT_START);
}

static bool parse_lines(struct parser *p, struct err *err)
{
	unsigned kinds = 0;

	survey(p);
	while (p->at < p->source.kept_count) {
		enter_piece(p);
		if (peek_header(p).len) {
			if (!begin_hunk(p, /* doubted= */ false, err))
				return false;
		} else if (!p->in_hunk) {
			if (!take_outside(p, err))
				return false;
		} else if (at_counted(p)) {
			take_body_line(p);
		} else if (at_file_header(p)) {
			last_hunk(p)->at_end |= span_starts(parser_peek(p, 0),
			                                    SPAN("*** End of File"));
			end_hunk(p, is_mail(parser_peek(p, 0)) ? IN_PROSE : IN_SECTION);
			p->old_line = p->new_line = span_of("", 0);
		} else if (at_signature(p)) {
			end_hunk(p, AFTER_END);
			parser_take(p, LINE_CLOSES);
		} else if (last_hunk(p)->doubted &&
		           !parse_run_goes_on(parser_peek(p, 0), false, &kinds)) {
			end_hunk(p, IN_PROSE);
		} else if (at_next_hunk(p)) {
			if (!begin_bare(p, /* doubted= */ false, err))
				return false;
		} else {
			take_body_line(p);
		}
	}
	end_hunk(p, AFTER_END);
	return true;
}

bool parse_diff(struct span text, struct diff_text *ret, size_t *ret_diff_line,
                struct err *err)
{
	struct diff_text diff = { 0 };
	struct parser parser = { .out = &diff };
	bool ok;

	*ret_diff_line = 0;
	if (text.len > LIMIT_DIFF_BYTES)
		return err_set(err, ERR_TOO_LARGE, "The diff has %zu bytes; the limit is %zu.",
		               text.len, LIMIT_DIFF_BYTES);
	unwrap_read(utf8_skip_mark(text), &parser.source);
	ok = parse_lines(&parser, err);
	if (!ok)
		*ret_diff_line = parser.at < parser.source.kept_count ? line_number(&parser) :
		                 parser.source.text.count;
	diff.record_count = parser.source.text.count;
	diff.record = mem_steal(&parser.source.record);
	unwrap_release(&parser.source);
	ok = ok && hunks_judge(&diff, text, ret_diff_line, err);
	if (ok) {
		/* The CR of a line without a line ending is text, unless other lines show that
		 * the diff got CRs. */
		bool added = false;

		for (size_t h = 0; h < diff.hunk_count; h++)
			added |= diff.hunks[h].header_cr;
		for (size_t i = 0; i < diff.line_count; i++)
			added |= diff.lines[i].cr && !diff.lines[i].no_newline;
		for (size_t i = 0; i < diff.line_count && !added; i++) {
			struct hunk_line *line = &diff.lines[i];

			line->text.len += line->cr && line->no_newline;
			line->cr = false;
		}
		*ret = diff;
	} else {
		parse_diff_release(&diff);
	}
	return ok;
}
