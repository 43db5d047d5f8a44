/* SPDX-License-Identifier: Apache-2.0 */
/* What must not be written by mistake (edit.h has the rule): what a change adds, weighed against
 * what it takes away. */
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "diff/diff.h"
#include "edit/edit.h"
#include "edit/private.h"
#include "patch/patch.h"

/* ---- kinds of files --------------------------------------------------------------- */

enum text_kind {
	TEXT_UNKNOWN,
	TEXT_SOURCE,
	TEXT_DOTTED, /* source in a language where "..." is a statement */
	TEXT_MARKUP, /* source in which bare dots are text */
	TEXT_YAML,   /* where "..." in the first column ends a document */
	TEXT_PROSE,  /* where samples, ellipses and fences belong */
	TEXT_DATA,   /* where numbers belong in front of lines */
	TEXT_PATCH,
};

/* By extension, or by the whole name of a file without one; in lower case, between spaces. */
static const struct {
	enum text_kind kind;
	const char *names;
} text_kinds[] = {
	{ TEXT_SOURCE,
	  " c h cc cpp cxx hh hpp hxx m mm cs java kt kts scala groovy gradle go rs "
	  "swift zig d nim v js jsx mjs cjs ts tsx mts cts php rb erb lua r jl dart ex "
	  "exs erl hrl hs ml mli fs fsx clj cljs cljc el lisp scm rkt pas ada adb ads f "
	  "f90 f95 asm s sh bash zsh fish ps1 psm1 bat cmd awk sed sql css scss sass "
	  "less json json5 jsonc toml tf hcl nix proto thrift graphql gql cmake mk "
	  "makefile gnumakefile dockerfile meson.build cu cl glsl hlsl vert frag sol vb "
	  "bas vbs tcl coffee styl pug plist gd ino ld service desktop " },
	{ TEXT_DOTTED, " py pyi pyw pyx pxd pl pm t raku rakumod " },
	{ TEXT_MARKUP, " html htm xhtml xml xsl xslt svg vue svelte astro hbs ejs twig jinja j2 " },
	{ TEXT_YAML, " yaml yml " },
	{ TEXT_PROSE,
	  " md mdx mdc markdown mdown mkd rst txt text adoc asciidoc org tex rmd qmd ipynb textile "
	  "wiki rdoc pod man readme license copying changelog changes news authors todo " },
	{ TEXT_DATA, " csv tsv tab dat log out lst list srt vtt " },
	{ TEXT_PATCH, " diff patch rej orig " },
};

/* Whether a line of this kind can only be code. */
static bool is_source(enum text_kind kind)
{
	return kind == TEXT_SOURCE || kind == TEXT_DOTTED || kind == TEXT_MARKUP;
}

static enum text_kind text_kind_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');
	char key[32];
	size_t len = 0;

	for (const char *at = dot ? dot + 1 : name; *at && len < sizeof(key) - 2; at++)
		key[1 + len++] = (char)(*at >= 'A' && *at <= 'Z' ? *at | 0x20 : *at);
	key[0] = ' ';
	key[1 + len] = ' ';
	for (size_t i = 0; len && i < ARRAY_LEN(text_kinds); i++)
		if (memmem(text_kinds[i].names, strlen(text_kinds[i].names), key, len + 2))
			return text_kinds[i].kind;
	return TEXT_UNKNOWN;
}

/* ---- one call --------------------------------------------------------------------- */

/* An edit compared line by line: what really comes and what really goes. */
struct exchange {
	struct lines removed, new; /* of the edit; `new` is indexed always, `removed` if compared */
	struct exchange_place {
		size_t start, end;  /* lines of `new`; closing brackets and blank lines that stay
		                     * do not keep two places apart */
		size_t removed, added; /* lines that would be missed, and such lines that are new */
	} *places;              /* owned; NULL before they are compared */
	size_t count;
};

struct content_guard {
	const struct lines *before;
	enum text_kind kind;
	struct span *own;       /* owned; the lines of `before` that look like placeholders */
	size_t own_count, own_cap;
	bool own_known;
	const struct edit *edit; /* the one that is looked at */
	struct exchange exchange;
	size_t first;           /* 0-based line of the new content that its first line is */
};

static void exchange_drop(struct exchange *exchange)
{
	lines_release(&exchange->removed);
	lines_release(&exchange->new);
	free(exchange->places);
	*exchange = (struct exchange){ 0 };
}

/* Fails: line `line` (0-based) of the edit is the first that seems to be no part of the file. */
static bool content_refuse(const struct content_guard *guard, size_t line, const char *seems,
                           const char *instead, struct err *err)
{
	enum { SHOWN_MAX = 160 };
	struct span body = span_trim(line_body(lines_at(&guard->exchange.new, line)));

	body = utf8_head(body, SHOWN_MAX);
	return err_set(err, ERR_INVALID_ARGUMENT,
	               "Line %zu of the new content, \"%.*s\", %s. Nothing was written. %s; if it "
	               "is meant as it is, pass literal: true.", guard->first + line + 1,
	               (int)body.len, body.data, seems, instead);
}

/* ---- placeholders: the evidence --------------------------------------------------- */

static bool has_a_word(struct span line)
{
	for (size_t i = 0; i < line.len; i++)
		if (ascii_is_alnum((unsigned char)line.data[i]) || (line.data[i] & 0x80))
			return true;
	return false;
}

/* Lines that would be missed: code; in prose every line with a word. */
static size_t count_weight(const struct content_guard *guard, const struct lines *lines,
                           size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++) {
		struct span body = span_trim(line_body(lines_at(lines, i)));

		n += has_a_word(body) &&
		     (guard->kind == TEXT_PROSE || !placeholder_is_comment(body));
	}
	return n;
}

/* Whether lines [from, to) of what goes, which stay, are too little to keep two changes apart. */
static bool is_thin(const struct lines *removed, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (has_a_word(line_body(lines_at(removed, i))))
			return false;
	return true;
}

/* Compares what goes with what comes, and sums up each place where they differ. */
static void exchange_compare(struct content_guard *guard)
{
	struct exchange *x = &guard->exchange;
	const struct edit *edit = guard->edit;
	struct script script = { 0 };
	size_t end = 0, taken = 0, given = 0, cap = 0;

	lines_index(&x->removed, lines_range(guard->before, edit->at, edit->at + edit->remove));
	diff_lines(&x->removed, &x->new, &script);
	for (size_t i = 0; i < script.count; i++) {
		const struct edit *part = &script.edits[i];
		size_t start = part->at + given - taken, count = lines_count(part->insert);

		if (!i || !is_thin(&x->removed, end, part->at)) {
			x->places = mem_grow(x->places, &cap, x->count + 1, sizeof(*x->places));
			x->places[x->count++] = (struct exchange_place){ .start = start };
		}
		end = part->at + part->remove;
		taken += part->remove;
		given += count;
		x->places[x->count - 1].end = start + count;
		x->places[x->count - 1].removed +=
			count_weight(guard, &x->removed, part->at, part->at + part->remove);
		x->places[x->count - 1].added += count_weight(guard, &x->new, start, start + count);
	}
	script_release(&script);
}

/* How many lines more go than come where line `line` of the edit stands, which itself is none that
 * comes. */
static size_t lost_at(struct content_guard *guard, size_t line)
{
	struct exchange *x = &guard->exchange;
	size_t low = 0, high, removed;

	if (!guard->edit->remove)
		return 0;
	if (!x->places)
		exchange_compare(guard);
	for (high = x->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (x->places[middle].end <= line)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == x->count || x->places[low].start > line)
		return 0;
	removed = x->places[low].removed + count_weight(guard, &x->new, line, line + 1);
	return removed > x->places[low].added ? removed - x->places[low].added : 0;
}

/* The line `steps` lines after line `line` of the edit, or before it if negative, whether it is
 * new or there already. False: none. */
static bool line_near(const struct content_guard *guard, size_t line, ptrdiff_t steps,
                      struct span *ret)
{
	const struct lines *new = &guard->exchange.new, *before = guard->before;
	ptrdiff_t at = (ptrdiff_t)line + steps, count = (ptrdiff_t)new->count;
	const struct edit *edit = guard->edit;

	if (at >= 0 && at < count) {
		*ret = line_body(lines_at(new, (size_t)at));
		return true;
	}
	at = at < 0 ? (ptrdiff_t)edit->at + at : (ptrdiff_t)(edit->at + edit->remove) + at - count;
	if (at < 0 || at >= (ptrdiff_t)before->count)
		return false;
	*ret = line_body(lines_at(before, (size_t)at));
	return true;
}

/* The next line that is not blank before (step -1) or after (1) the line, with its indentation.
 * Empty: none. */
static struct span neighbour_of(const struct content_guard *guard, size_t line, int step)
{
	struct span body;

	for (ptrdiff_t steps = step; line_near(guard, line, steps, &body); steps += step)
		if (!span_is_blank(body))
			return body;
	return span_of("", 0);
}

/* Whether a line of prose is a paragraph of itself. */
static bool stands_alone(const struct content_guard *guard, size_t line)
{
	struct span above, below;

	bool first = !line_near(guard, line, -1, &above), last = !line_near(guard, line, 1, &below);

	return (first || span_is_blank(above) || above.data[0] == '#') &&
	       (last || span_is_blank(below) || below.data[0] == '#');
}

static size_t indentation_of(struct span line)
{
	size_t n = 0;

	while (n < line.len && (line.data[n] == ' ' || line.data[n] == '\t'))
		n++;
	return n;
}

static bool ends_with_any(struct span line, const char *last)
{
	line = span_trim(line);
	return line.len && strchr(last, line.data[line.len - 1]);
}

/* In Python and Perl "..." is a body; between statements it is none. */
static bool is_between_statements(struct span line, struct span above, struct span below)
{
	size_t depth = indentation_of(line);
	struct span up = span_trim(above), down = span_trim(below);

	if (span_starts(up, SPAN(">>>")) || span_starts(up, SPAN("...")) ||
	    span_starts(down, SPAN(">>>")) || span_starts(down, SPAN("...")))
		return false;
	if (down.len && indentation_of(below) == depth)
		return true;
	return up.len && indentation_of(above) >= depth && !ends_with_any(up, ":\"'{");
}

/* In a comment that documents, dots are part of a sample. */
static bool is_doc_comment(struct span body)
{
	static const char *const marks[] = { "///", "//!", "* ", "#'", "--|" };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (span_starts(body, span_str(marks[i])))
			return true;
	return false;
}

/* Whether a comment stands directly above or below the line: perhaps the same one goes on. */
static bool is_part_of_comment(const struct content_guard *guard, size_t line)
{
	struct span body;

	return (line_near(guard, line, -1, &body) && placeholder_is_comment(span_trim(body))) ||
	       (line_near(guard, line, 1, &body) && placeholder_is_comment(span_trim(body)));
}

/* Whether the line stands within a longer comment. */
static bool is_amid_comment(const struct content_guard *guard, size_t line)
{
	return placeholder_is_comment(span_trim(neighbour_of(guard, line, -1))) &&
	       placeholder_is_comment(span_trim(neighbour_of(guard, line, 1)));
}

/* Parameters that may go when dots come at the end of their list: more were left out. */
enum { LIST_LOST_MAX = 2 };

/* Whether dots alone are none of the language's own, at line `line` of the edit. */
static bool are_foreign_dots(struct content_guard *guard, size_t line, enum placeholder found)
{
	struct span text = line_body(lines_at(&guard->exchange.new, line));
	struct span above = neighbour_of(guard, line, -1), below = neighbour_of(guard, line, 1);
	bool alone = span_starts(span_trim(text), SPAN("...")) && found == PLACEHOLDER_DOTS;

	if (is_doc_comment(span_trim(text)))
		return false;
	if (guard->kind == TEXT_PROSE)
		return span_starts(span_trim(text), SPAN("<!--")) ||
		       (found == PLACEHOLDER_DOTS && !indentation_of(text) &&
		        stands_alone(guard, line));
	if (!alone)
		return guard->kind != TEXT_DOTTED || found != PLACEHOLDER_DOTS;
	if (ends_with_any(above, ",(") && span_starts(span_trim(below), SPAN(")")) &&
	    lost_at(guard, line) <= LIST_LOST_MAX)
		return false; /* the end of a list of parameters */
	if (guard->kind == TEXT_MARKUP || (guard->kind == TEXT_YAML && !indentation_of(text)))
		return false;
	return guard->kind != TEXT_DOTTED || is_between_statements(text, above, below);
}

/* Whether words that say that something was left out are marked as no part of a text. */
static bool is_marked(struct span body)
{
	return memmem(body.data, body.len, "..", 2) ||
	       memmem(body.data, body.len, "\xE2\x80\xA6", 3) ||
	       (body.len && strchr("[(<", body.data[0]));
}

/* Whether what was found at line `line` of the edit has the evidence that it needs. */
static bool has_evidence(struct content_guard *guard, size_t line, enum placeholder found)
{
	struct span body = span_trim(line_body(lines_at(&guard->exchange.new, line)));
	bool code = is_source(guard->kind) || guard->kind == TEXT_YAML ||
	            guard->kind == TEXT_UNKNOWN;

	switch (found) {
	case PLACEHOLDER_CERTAIN:
		return (code && !is_amid_comment(guard, line)) || lost_at(guard, line);
	case PLACEHOLDER_LIKELY:
		return (is_marked(body) || (code && !is_part_of_comment(guard, line))) &&
		       lost_at(guard, line);
	case PLACEHOLDER_SENTENCE:
		return is_source(guard->kind) && lost_at(guard, line);
	case PLACEHOLDER_COMMENTED_DOTS:
	case PLACEHOLDER_DOTS:
		return (code || guard->kind == TEXT_PROSE) &&
		       are_foreign_dots(guard, line, found) && lost_at(guard, line);
	default:
		return false;
	}
}

/* ---- placeholders: the file's own ------------------------------------------------- */

static int compare_spans(const void *a, const void *b)
{
	const struct span *left = a, *right = b;
	size_t n = left->len < right->len ? left->len : right->len;
	int order = memcmp(left->data, right->data, n);

	return order ? order : (left->len > right->len) - (left->len < right->len);
}

/* Whether the file had this very line before. */
static bool is_own_line(struct content_guard *guard, struct span body)
{
	for (size_t i = 0; !guard->own_known && i < guard->before->count; i++) {
		struct span line = span_trim(line_body(lines_at(guard->before, i)));

		if (placeholder_read(line) == PLACEHOLDER_NONE)
			continue;
		guard->own = mem_grow(guard->own, &guard->own_cap, guard->own_count + 1,
		                      sizeof(*guard->own));
		guard->own[guard->own_count++] = line;
	}
	if (!guard->own_known && guard->own_count)
		qsort(guard->own, guard->own_count, sizeof(*guard->own), compare_spans);
	guard->own_known = true;
	return guard->own_count &&
	       bsearch(&body, guard->own, guard->own_count, sizeof(body), compare_spans);
}

static bool check_placeholders(struct content_guard *guard, struct err *err)
{
	const struct lines *new = &guard->exchange.new;

	for (size_t i = 0; i < new->count; i++) {
		struct span body = span_trim(line_body(lines_at(new, i)));
		enum placeholder found = placeholder_read(body);

		if (found != PLACEHOLDER_NONE && !is_own_line(guard, body) &&
		    has_evidence(guard, i, found))
			return content_refuse(guard, i,
			                      "seems to stand for text that was left out",
			                      "Send the text in full, or change only the lines "
			                      "that differ", err);
	}
	return true;
}

/* ---- a listing's numbers ---------------------------------------------------------- */

/* Whether `text`, what is new without the numbers in front, is a listing of the lines that go:
 * half of it or more is among them. */
static bool is_listing(const struct content_guard *guard, struct span text)
{
	const struct edit *edit = guard->edit;
	_cleanup_lines_ struct lines old = { 0 }, read = { 0 };
	_cleanup_script_ struct script script = { 0 };
	size_t added, removed;

	lines_index(&old, lines_range(guard->before, edit->at, edit->at + edit->remove));
	lines_index(&read, text);
	diff_lines(&old, &read, &script);
	script_stat(&script, &added, &removed);
	return read.count && (read.count - added) * 2 >= read.count;
}

/* All lines of the edit have the numbers of a listing, with an arrow (which nothing else puts
 * there), in a whole source file, or in front of lines that the file has without them. */
static bool check_numbers(struct content_guard *guard, bool whole, struct err *err)
{
	enum { LINES_MIN = 3 };
	_cleanup_other_reading_ struct other_reading reading = { 0 };
	const struct lines *new = &guard->exchange.new;
	const struct lines *before = guard->before;
	struct span first = new->count ? span_trim(lines_at(new, 0)) : span_of("", 0);
	struct span had = before->count ? span_trim(lines_at(before, 0)) : span_of("", 0);
	bool arrow;

	if (new->count < LINES_MIN || !first.len ||
	    !(ascii_is_digit(first.data[0]) || first.data[0] == 'L') ||
	    (whole && had.len && ascii_is_digit(had.data[0])) ||
	    (!other_reading_unnumbered(guard->edit->insert, span_of("", 0), /* space= */ true,
	                               &reading) &&
	     !other_reading_unnumbered(guard->edit->insert, span_of("", 0), /* space= */ false,
	                               &reading)))
		return true;
	first = span_skip(first, span_digits(first));
	arrow = memmem(first.data, first.len, "\xE2\x86\x92", 3) != NULL;
	if ((arrow && guard->kind != TEXT_DATA) || (whole && is_source(guard->kind)) ||
	    is_listing(guard, buf_view(&reading.old_text)))
		return content_refuse(guard, 0,
		                      "and those after it begin with the line numbers of a listing",
		                      "Send the lines without them", err);
	return true;
}

/* ---- whole contents --------------------------------------------------------------- */

/* Length of the fence that begins a line: "```", "~~~~"; 0: none. */
static size_t content_fence(struct span line)
{
	size_t n = 0;

	line = span_trim(line);
	while (n < line.len && line.data[n] == line.data[0] && strchr("`~", line.data[0]))
		n++;
	return n < 3 ? 0 : n;
}

/* The first line, or the last, that is not blank; lines->count: there is none. */
static size_t solid_line(const struct lines *lines, bool last)
{
	for (size_t i = 0; i < lines->count; i++) {
		size_t at = last ? lines->count - 1 - i : i;

		if (!span_is_blank(lines_at(lines, at)))
			return at;
	}
	return lines->count;
}

/* A code fence round all of it. In what is not known to be source it must be one fence. */
static bool check_fence(const struct content_guard *guard, struct err *err)
{
	const struct lines *new = &guard->exchange.new, *before = guard->before;
	size_t first = solid_line(new, false), last = solid_line(new, true);
	size_t had = solid_line(before, false), fence, closing;

	if (guard->kind == TEXT_PROSE || first == last || first == new->count ||
	    (had < before->count && content_fence(lines_at(before, had))))
		return true;
	fence = content_fence(lines_at(new, first));
	closing = content_fence(lines_at(new, last));
	if (!fence || closing < fence || closing != span_trim(lines_at(new, last)).len ||
	    span_trim(lines_at(new, first)).data[0] != span_trim(lines_at(new, last)).data[0])
		return true;
	for (size_t i = first + 1; i < last && !is_source(guard->kind); i++)
		if (content_fence(lines_at(new, i)) >= fence)
			return true;
	return content_refuse(guard, first, "begins a code fence round all of it",
	                      "Send the content without the fence", err);
}

/* Besides the hunks of a diff, or of the patch format of apply_patch. */
static bool is_diff_header(struct span line)
{
	static const char *const heads[] = {
		"diff ", "index ", "--- ", "+++ ", "Index: ", "======", "new file mode ",
		"deleted file mode ", "old mode ", "new mode ", "similarity index ", "rename from ",
		"rename to ", "*** Begin Patch", "*** Update File: ", "*** Add File: ",
		"*** End Patch", "*** End of File",
	};

	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (span_starts(line, span_str(heads[i])))
			return true;
	return span_is_blank(line);
}

/* Whether all of it is a diff: headers, then hunks with changes, and nothing else.
 * *ret_line is the first line of the first hunk. */
static bool is_all_diff(const struct lines *lines, size_t *ret_line)
{
	size_t changes = 0, hunk = lines->count;

	for (size_t i = 0; i < lines->count; i++) {
		struct span line = lines_at(lines, i);
		bool header = is_diff_header(line);

		if (span_starts(line, SPAN("@@")) ||
		    (hunk == lines->count && span_starts(line, SPAN("*** "))))
			hunk = hunk < lines->count ? hunk : i;
		else if (hunk < lines->count && line.len && strchr("+-", line.data[0]))
			changes++;
		else if (!header && (hunk == lines->count || !strchr(" \\", line.data[0])))
			return false;
	}
	*ret_line = hunk;
	return hunk < lines->count && changes;
}

/* A diff, or blocks of SEARCH and REPLACE, in the place of what they should make. */
static bool check_diff(const struct content_guard *guard, struct err *err)
{
	static const char *const blocks[] = { "<<<<<<< SEARCH", "------- SEARCH" };
	const struct lines *new = &guard->exchange.new;
	size_t first = solid_line(new, false), line = 0, had;
	bool source = is_source(guard->kind) || guard->kind == TEXT_YAML;

	if (guard->kind == TEXT_PATCH || first == new->count || (!source && !guard->before->count))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		if (span_eq(span_trim(lines_at(new, first)), span_str(blocks[i])))
			return content_refuse(guard, first,
			                      "begins an edit, not what the edit makes",
			                      "Send the content, or call update_file", err);
	if (!is_all_diff(new, &line) || is_all_diff(guard->before, &had))
		return true;
	return content_refuse(guard, line, "belongs to a diff, and all of the content is one",
	                      "Send the content, or the diff to safe_patch", err);
}

/* ---- the check -------------------------------------------------------------------- */

bool content_check(const char *path, const struct lines *before, const struct edit *edits,
                   size_t count, struct err *err)
{
	struct content_guard guard = { .before = before, .kind = text_kind_of(path) };
	size_t removed = 0, added = 0;
	bool ok = true;

	for (size_t i = 0; ok && i < count; i++) {
		bool whole = count == 1 && edits[i].remove == before->count;

		guard.edit = &edits[i];
		guard.first = edits[i].at + added - removed;
		lines_index(&guard.exchange.new, edits[i].insert);
		ok = (!whole || (check_fence(&guard, err) && check_diff(&guard, err))) &&
		     check_numbers(&guard, whole, err) && check_placeholders(&guard, err);
		added += guard.exchange.new.count;
		removed += edits[i].remove;
		exchange_drop(&guard.exchange);
	}
	free(guard.own);
	return ok;
}
