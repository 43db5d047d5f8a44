/* SPDX-License-Identifier: Apache-2.0 */
/* Which lines of a text are the diff's: out of fences, heredocs, tags and indentation.
 *
 * Code fences are those of CommonMark 0.30, section 4.5.  Where the counts of a hunk are right,
 * its lines are its own whatever they look like: a fence, a header, the end of a heredoc.
 */
#include "patch/parse.h"

#include <stdlib.h>

#include "base/mem.h"

/* Heredocs and tags looked at: each may cost a pass over the text. */
enum { WRAPPERS_TRIED = 16 };

/* ---- lines ------------------------------------------------------------------------ */

/* Spaces and tabs in front. */
static size_t count_blanks(struct span line)
{
	size_t n = 0;

	while (n < line.len && (line.data[n] == ' ' || line.data[n] == '\t'))
		n++;
	return n;
}

/* Line `i` without its ending and without the indentation of `indent` bytes, or what it has of
 * it; empty past the end. */
static struct span line_within(const struct lines *text, size_t i, size_t indent)
{
	struct span line;
	size_t blanks;

	if (i >= text->count)
		return span_of("", 0);
	line = line_body(lines_at(text, i));
	blanks = count_blanks(line);
	return span_skip(line, blanks < indent ? blanks : indent);
}

static bool is_marked_line(struct span line)
{
	return line.len && (line.data[0] == '+' || line.data[0] == '-' || line.data[0] == ' ');
}

bool parse_is_marked(struct span line)
{
	return is_marked_line(line) && !span_is_blank(line);
}

bool parse_is_change(struct span line)
{
	return line.len && (line.data[0] == '+' || line.data[0] == '-');
}

bool parse_is_item(struct span line)
{
	struct span text = span_skip(line, 2);

	return line.len > 2 && parse_is_change(line) && line.data[1] == ' ' &&
	       text.data[0] != ' ' && text.data[0] != '\t' && !span_eq(text, SPAN("*")) &&
	       !span_starts(text, SPAN("* ")) && !span_starts(text, SPAN("*/"));
}

bool parse_run_goes_on(struct span line, bool first, unsigned *kinds)
{
	if (!is_marked_line(line) || (!first && span_eq(line, SPAN("---"))))
		return false;
	if (parse_is_item(line))
		*kinds |= RUN_ITEMS;
	else if (line.data[0] != ' ')
		*kinds |= line.data[0] == '-' ? RUN_REMOVES : RUN_ADDS;
	else if (!span_is_blank(line))
		*kinds |= *kinds & (RUN_ITEMS | RUN_REMOVES | RUN_ADDS) ? RUN_CONTEXT : RUN_LED;
	return true;
}

bool parse_run_is_hunk(unsigned kinds, bool first)
{
	unsigned changes = kinds & (RUN_REMOVES | RUN_ADDS);

	if (kinds & RUN_LED)
		return kinds & RUN_ITEMS || changes;
	return !(kinds & RUN_ITEMS) && changes &&
	       (first || changes == (RUN_REMOVES | RUN_ADDS) || kinds & RUN_CONTEXT);
}

/* "\ No newline at end of file", in whatever language. */
bool parse_is_eof_note(struct span line)
{
	return span_starts(line, SPAN("\\ ")) || span_starts(line, SPAN("\\No newline"));
}

bool parse_is_version(struct span line)
{
	line = span_trim(line);
	return line.len && ascii_is_digit(line.data[0]) && memchr(line.data, '.', line.len) &&
	       !memchr(line.data, ' ', line.len);
}

/* ---- hunks whose counts are right -------------------------------------------------- */

/* Half a file header; with `next` the line after it. */
static bool is_header_half(struct span line, struct span next)
{
	if (span_starts(line, SPAN("--- ")))
		return span_starts(next, SPAN("+++ ")) || at_line_is_header(next);
	return span_starts(line, SPAN("+++ ")) && at_line_is_header(next);
}

/* "-- " or "--", which begins a mail's signature when the version follows. */
static bool is_signature(struct span line, struct span next)
{
	return (span_eq(line, SPAN("-- ")) || span_eq(line, SPAN("--"))) && parse_is_version(next);
}

/* Whether a hunk may end before line `i`: not where the text goes on with marked lines. */
static bool may_end_before(const struct lines *text, size_t i, size_t indent)
{
	struct span line = line_within(text, i, indent), next = line_within(text, i + 1, indent);
	struct span rest = span_skip(line, count_blanks(line));

	return !parse_is_marked(line) || at_line_is_header(rest) || is_header_half(line, next) ||
	       ((span_eq(line, SPAN("-- ")) || span_eq(line, SPAN("--"))) &&
	        !parse_is_marked(next));
}

/* The line after the last one that the counts of the @@ line `at` include, if they are met
 * exactly where the hunk may end; otherwise 0. */
static size_t counted_end(const struct lines *text, size_t at)
{
	struct span line = line_body(lines_at(text, at));
	size_t indent = count_blanks(line), old_left, new_left, i = at + 1;
	struct hunk hunk = { 0 };

	at_line_parse(span_skip(line, indent), &hunk);
	old_left = hunk.old_count;
	new_left = hunk.new_count;
	if (!hunk.counted || !(old_left + new_left))
		return 0;
	for (; i < text->count && old_left + new_left; i++) {
		line = line_within(text, i, indent);
		if (at_line_is_certain(line))
			return 0;
		if (parse_is_eof_note(line))
			continue;
		if ((!old_left && !span_starts(line, SPAN("+"))) ||
		    (!new_left && !span_starts(line, SPAN("-"))))
			return 0;
		old_left -= !span_starts(line, SPAN("+"));
		new_left -= !span_starts(line, SPAN("-"));
	}
	if (old_left + new_left)
		return 0;
	while (parse_is_eof_note(line_within(text, i, indent)))
		i++;
	return may_end_before(text, i, indent) ? i : 0;
}

/* How far lines [from, to), which the counts include, are certain to be the hunk's: to the last
 * with a marker, and what looks like a header or a signature after it.  Other lines without
 * markers may be there because the counts are too large. */
static size_t certain_end(const struct lines *text, size_t from, size_t to, size_t indent)
{
	size_t end = from;

	for (size_t i = from; i < to; i++) {
		struct span line = line_within(text, i, indent);
		struct span next = line_within(text, i + 1, indent);

		if (is_marked_line(line) && !is_header_half(line, next) &&
		    !is_signature(line, next))
			end = i + 1;
	}
	while (end < to) {
		struct span line = line_within(text, end, indent);
		struct span next = line_within(text, end + 1, indent);

		if (is_signature(line, next) && end + 2 <= to)
			end += 2;
		else if (is_header_half(line, next))
			end++;
		else
			break;
	}
	return end;
}

/* Gives the lines of hunks whose counts are right the role LINE_HUNK, for now. */
static void mark_counted(struct diff_source *s)
{
	for (size_t i = 0; i < s->text.count; i++) {
		struct span line = line_body(lines_at(&s->text, i));
		size_t indent = count_blanks(line), end;

		if (!at_line_is_header(span_skip(line, indent)))
			continue;
		end = counted_end(&s->text, i);
		if (end)
			end = certain_end(&s->text, i + 1, end, indent);
		for (; i + 1 < end; i++)
			s->record[i + 1].role = LINE_HUNK;
	}
}

/* ---- wrappers ---------------------------------------------------------------------- */

/* What a diff may be wrapped in. */
struct wrapper {
	enum { WRAP_FENCE, WRAP_HEREDOC, WRAP_TAG } kind;
	size_t indent;    /* of the opening line */
	char mark;        /* a fence: '`' or '~', */
	size_t run;       /* and how many */
	struct span word; /* a fence: the text after it; a heredoc: the word that ends it; a tag:
	                   * its name */
};

static bool take_fence(struct span line, struct wrapper *ret)
{
	struct span rest;

	ret->kind = WRAP_FENCE;
	ret->indent = count_blanks(line);
	rest = span_skip(line_body(line), ret->indent);
	if (!rest.len || (rest.data[0] != '`' && rest.data[0] != '~') ||
	    memchr(line.data, '\t', ret->indent))
		return false;
	ret->mark = rest.data[0];
	for (ret->run = 0; ret->run < rest.len && rest.data[ret->run] == ret->mark;)
		ret->run++;
	ret->word = span_trim(span_skip(rest, ret->run));
	return ret->run >= 3;
}

/* "cat > x <<'EOF'", "apply_patch << EOF": the word that ends the line. */
static bool take_heredoc(struct span line, struct wrapper *ret)
{
	struct span text = span_trim(line), word;
	const char *mark = text.len ? memmem(text.data, text.len, "<<", 2) : NULL;

	if (!mark || parse_is_change(text))
		return false;
	word = span_trim(span_skip(text, (size_t)(mark - text.data) + 2));
	if (span_starts(word, SPAN("-")))
		word = span_skip(word, 1);
	if (word.len > 2 && (word.data[0] == '\'' || word.data[0] == '"') &&
	    word.data[word.len - 1] == word.data[0])
		word = span_of(word.data + 1, word.len - 2);
	for (size_t i = 0; i < word.len; i++)
		if (!ascii_is_alnum((unsigned char)word.data[i]) && word.data[i] != '_')
			return false;
	ret->kind = WRAP_HEREDOC;
	ret->word = word;
	return word.len > 0;
}

/* "<diff>", "<patch><![CDATA[": a tag alone on its line. */
static bool take_tag(struct span line, struct wrapper *ret)
{
	struct span text = span_trim(line), name = span_skip(text, 1);
	size_t len = 0;

	while (len < name.len && (ascii_is_alnum((unsigned char)name.data[len]) ||
	                          name.data[len] == '_' || name.data[len] == '-'))
		len++;
	ret->kind = WRAP_TAG;
	ret->word = span_head(name, len);
	name = span_skip(name, len);
	return span_starts(text, SPAN("<")) && len &&
	       (span_eq(name, SPAN(">")) || span_eq(name, SPAN("><![CDATA[")));
}

static bool take_wrapper(struct span line, struct wrapper *ret)
{
	*ret = (struct wrapper){ 0 };
	return take_fence(line, ret) || take_heredoc(line, ret) || take_tag(line, ret);
}

static bool closes_wrapper(const struct wrapper *open, struct span line)
{
	struct wrapper fence = { 0 };
	struct span text = span_trim(line);

	switch (open->kind) {
	case WRAP_FENCE:
		return take_fence(line, &fence) && fence.mark == open->mark &&
		       fence.run >= open->run && !fence.word.len && fence.indent == open->indent;
	case WRAP_HEREDOC:
		return span_eq(text, open->word);
	default:
		if (span_starts(text, SPAN("]]>")))
			text = span_skip(text, 3);
		return text.len == open->word.len + 3 && span_starts(text, SPAN("</")) &&
		       span_starts(span_skip(text, 2), open->word) && span_ends(text, SPAN(">"));
	}
}

/* Whether the line, which has no indentation, can only be a diff's. */
static bool starts_diff(struct span line, struct span next)
{
	return at_line_is_header(line) || span_starts(line, SPAN("diff --git ")) ||
	       span_starts(line, SPAN("*** Begin Patch")) ||
	       span_starts(line, SPAN("*** Update File: ")) ||
	       span_starts(line, SPAN("*** Add File: ")) || is_header_half(line, next);
}

/* What lines [from, to) are, the contents of a wrapper. */
enum contents {
	CONTENTS_OTHER,   /* no part of a diff */
	CONTENTS_DOUBTED, /* with lines that begin with + or with -, perhaps a list */
	CONTENTS_DIFF,
};

static enum contents contents_within(const struct diff_source *s, const struct wrapper *open,
                                     size_t from, size_t to)
{
	static const struct span languages[] = { { "diff", 4 }, { "patch", 5 }, { "udiff", 5 } };
	bool diff = false, marked = true;
	unsigned kinds = 0, changes;

	for (size_t i = from; i < to; i++) {
		struct span line = line_within(&s->text, i, SIZE_MAX);

		if (starts_diff(line, line_within(&s->text, i + 1, SIZE_MAX)))
			return CONTENTS_DIFF;
		line = line_within(&s->text, i, open->indent);
		marked &= parse_run_goes_on(line, true, &kinds) || !line.len;
	}
	for (size_t i = 0; i < ARRAY_LEN(languages) && open->kind == WRAP_FENCE; i++)
		diff |= span_eq(open->word, languages[i]);
	changes = kinds & (RUN_ITEMS | RUN_REMOVES | RUN_ADDS);
	if (!changes || open->kind != WRAP_FENCE)
		return CONTENTS_OTHER;
	diff |= marked && !open->word.len && parse_run_is_hunk(kinds, false);
	return diff || (kinds & RUN_REMOVES && kinds & RUN_ADDS) ? CONTENTS_DIFF : CONTENTS_DOUBTED;
}

/* The line that closes the wrapper opened on line `at`; the number of lines if none does. */
static size_t find_closing(const struct diff_source *s, const struct wrapper *open, size_t at)
{
	size_t i = at + 1;

	while (i < s->text.count && (s->record[i].role == LINE_HUNK ||
	                             !closes_wrapper(open, line_body(lines_at(&s->text, i)))))
		i++;
	return i;
}

/* ---- which lines are read ----------------------------------------------------------- */

static void keep_lines(struct diff_source *s, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		s->kept[s->kept_count++] = (uint32_t)i;
}

static void keep_all(struct diff_source *s)
{
	for (size_t i = 0; i < s->text.count; i++)
		if (s->record[i].role != LINE_HUNK)
			s->record[i].role = LINE_UNASSIGNED;
	s->kept_count = 0;
	keep_lines(s, 0, s->text.count);
}

/* The end of a diff without a wrapper, after one in a wrapper. */
static size_t end_of_bare(const struct diff_source *s, size_t from)
{
	struct wrapper open = { 0 };
	size_t i = from;

	while (i < s->text.count &&
	       (s->record[i].role == LINE_HUNK ||
	        !take_fence(line_body(lines_at(&s->text, i)), &open) || open.indent))
		i++;
	return i;
}

/* The end of what goes on right after the line that closes a wrapper, with a change that is no
 * item of a list: then that line is more likely the hunk's, and what follows is not prose. */
static size_t end_behind_closing(const struct diff_source *s, size_t from)
{
	bool changes = false;
	size_t i = from;

	for (; i < s->text.count; i++) {
		struct span line = line_body(lines_at(&s->text, i));

		if (!parse_is_marked(line))
			break;
		changes |= parse_is_change(line) && !parse_is_item(line);
	}
	return changes ? end_of_bare(s, from) : from;
}

/* Reads the wrapper that line `at` opens; returns the line after it, or the next one if it is
 * none that matters. */
static size_t unwrap_block(struct diff_source *s, const struct wrapper *open, size_t at, bool *any)
{
	size_t end = find_closing(s, open, at), behind = end;
	enum contents contents = contents_within(s, open, at + 1, end);

	if (end == s->text.count && open->kind != WRAP_FENCE)
		return at + 1;
	if (contents == CONTENTS_OTHER) {
		s->record[at].role = LINE_CLOSES;
		if (end < s->text.count)
			s->record[end].role = LINE_CLOSES;
		return end + 1;
	}
	*any |= contents == CONTENTS_DIFF;
	s->record[at].role = LINE_OPENS;
	for (size_t i = at + 1; i < end && contents == CONTENTS_DOUBTED; i++)
		s->record[i].role = LINE_PROSE;
	keep_lines(s, at + 1, end);
	if (end < s->text.count) {
		s->record[end].role = LINE_CLOSES;
		behind = end_behind_closing(s, end + 1);
		keep_lines(s, end + 1, behind);
	}
	return behind;
}

/* Lines that speak of a file, as a section begins with them. */
static bool is_header_like(struct span line)
{
	static const struct span starts[] = { { "--- ", 4 }, { "+++ ", 4 }, { "diff -", 6 },
		                              { "Index: ", 7 }, { "=====", 5 },
		                              { "index ", 6 } };

	for (size_t i = 0; i < ARRAY_LEN(starts); i++)
		if (span_starts(line, starts[i]))
			return true;
	return false;
}

/* Whether the first hunk begins on line `at`, without an @@ line and without a wrapper: after a
 * header, or with lines that are no list.  *run is the line up to which that is known. */
static bool starts_bare(const struct diff_source *s, size_t at, bool first, size_t *run)
{
	struct span line = line_within(&s->text, at, 0);
	unsigned kinds = 0;

	if (!parse_is_marked(line) || at < *run)
		return false;
	if (at && is_header_like(line_within(&s->text, at - 1, 0)) && !is_header_like(line))
		return true;
	for (*run = at; *run < s->text.count; (*run)++)
		if (!parse_run_goes_on(line_within(&s->text, *run, 0), *run == at, &kinds))
			break;
	return parse_run_is_hunk(kinds, first) && (first || kinds & (RUN_REMOVES | RUN_ADDS));
}

/* Keeps what is in wrappers that hold a diff, if there are such; else all lines.  A wrapper after
 * an unwrapped hunk is part of a file's text: then nothing is wrapped. */
static void unwrap(struct diff_source *s)
{
	size_t i = 0, tried = 0, run = 0;
	bool any = false, first = true;

	for (; i < s->text.count; first &= span_is_blank(line_within(&s->text, i - 1, 0))) {
		struct span line = line_body(lines_at(&s->text, i));
		struct span rest = any ? line : span_skip(line, count_blanks(line));
		struct span next = line_within(&s->text, i + 1, 0);
		struct wrapper open;

		if (!any && (starts_bare(s, i, first, &run) ||
		             ((at_line_is_header(rest) || span_starts(rest, SPAN("*** "))) &&
		              starts_diff(rest, next))))
			break;
		if (any && (starts_bare(s, i, false, &run) ||
		            (starts_diff(rest, next) &&
		             (!at_line_is_header(rest) || at_line_is_certain(rest))))) {
			size_t end = end_of_bare(s, i);

			keep_lines(s, i, end);
			i = end;
		} else if (take_wrapper(line, &open) &&
		           (open.kind == WRAP_FENCE || tried++ < WRAPPERS_TRIED)) {
			i = unwrap_block(s, &open, i, &any);
		} else {
			i++;
		}
	}
	if (!any)
		keep_all(s);
}

/* ---- indentation -------------------------------------------------------------------- */

static struct span kept_line(const struct diff_source *s, size_t k)
{
	return line_body(lines_at(&s->text, s->kept[k]));
}

/* Whether lines [from, ...) after a diff with this indentation are words, or a list. */
static bool are_words(const struct diff_source *s, size_t from, size_t indent)
{
	for (size_t k = from; k < s->kept_count; k++) {
		struct span line = kept_line(s, k);
		size_t blanks = count_blanks(line);
		struct span rest = span_skip(line, blanks);

		if (starts_diff(rest, span_of("", 0)) ||
		    (parse_is_change(rest) && (blanks >= indent || !parse_is_item(rest))))
			return false;
	}
	return true;
}

/* The white space before the first header of a diff whose lines all begin with it; empty when the
 * diff is not indented as a whole.  Words at the left edge may follow it, which end it as a fence
 * would. */
static size_t take_indent(struct diff_source *s)
{
	struct span indent = span_of("", 0);
	bool inside = false;

	for (size_t k = 0; k < s->kept_count; k++) {
		struct span line = kept_line(s, k);
		size_t blanks = count_blanks(line);
		struct span next = k + 1 < s->kept_count ? kept_line(s, k + 1) : span_of("", 0);

		if (!inside && starts_diff(span_skip(line, blanks),
		                           span_skip(next, count_blanks(next)))) {
			inside = true;
			indent = span_head(line, blanks);
		}
		if (!inside || span_is_blank(line) || span_starts(line, indent))
			continue;
		if (parse_is_marked(line) || !are_words(s, k, indent.len))
			return 0;
		for (size_t i = s->kept[k] + (size_t)1; i < s->text.count; i++)
			if (s->record[i].role == LINE_OPENS)
				s->record[i].role = LINE_CLOSES;
		s->record[s->kept[k]].role = LINE_CLOSES;
		s->kept_count = k;
	}
	return indent.len;
}

/* ---- all together -------------------------------------------------------------------- */

void unwrap_read(struct span text, struct diff_source *ret)
{
	struct diff_source s = { 0 };

	lines_index(&s.text, text);
	s.record = mem_alloc(s.text.count, sizeof(*s.record));
	s.kept = mem_alloc(s.text.count, sizeof(*s.kept));
	mark_counted(&s);
	unwrap(&s);
	s.indent = take_indent(&s);
	for (size_t i = 0, k = 0; i < s.text.count; i++) {
		if (k < s.kept_count && s.kept[k] == i)
			k++;
		else if (s.record[i].role != LINE_OPENS && s.record[i].role != LINE_CLOSES)
			s.record[i].role = LINE_PROSE;
	}
	*ret = s;
}

void unwrap_release(struct diff_source *source)
{
	lines_release(&source->text);
	free(source->record);
	free(source->kept);
	*source = (struct diff_source){ 0 };
}

struct span unwrap_line(const struct diff_source *source, size_t at)
{
	return line_within(&source->text, source->kept[at], source->indent);
}
