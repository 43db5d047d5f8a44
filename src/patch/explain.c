/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/explain.h"
#include "patch/nearest.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

/* Places that are named; the last lines of a text that may be a footer; bytes of a line of the file
 * that are shown after a text that ends within it. */
enum { NEAREST_NAMED = 3, FOOTER_LINES = 8, SHOWN_BEHIND = 32 };

void patch_failure_release(struct patch_failure *failure)
{
	free(failure->expected);
	free(failure->found);
	free(failure->lines);
	for (size_t i = 0; i < failure->failed_count; i++) {
		free(failure->failed[i].expected);
		free(failure->failed[i].found);
		free(failure->failed[i].lines);
	}
	*failure = (struct patch_failure){ 0 };
}

void explain_hunk(const struct diff_text *diff, size_t hunk, struct patch_failure *failure)
{
	failure->hunk = hunk + 1;
	failure->hunk_count = diff->hunk_count;
	failure->stated_line = diff->hunks[hunk].has_old ? diff->hunks[hunk].old_start : 0;
	failure->diff_line = diff->hunks[hunk].diff_line;
}

/* "Hunk 2 of 3 (line 40 in its header)" */
static char *hunk_title(const struct patch_failure *failure)
{
	if (failure->stated_line)
		return mem_printf("Hunk %zu of %zu (line %zu in its header)", failure->hunk,
		                  failure->hunk_count, failure->stated_line);
	return mem_printf("Hunk %zu of %zu", failure->hunk, failure->hunk_count);
}

/* ---- the nearest places ---- */

/* Whose lines are looked for, and how they are compared. */
struct asker {
	const char *who, *lines;
	bool tolerant; /* white space and look-alikes alone do not keep them from fitting */
};

static const struct asker of_text = { "the text", "lines", false };
static const struct asker of_diff = { "the diff", "old lines", true };

/* In what the lines differ that are similar only; NULL where one is not even that. */
static const char *kind_of_difference(const struct lines *base, const struct lines *wanted,
                                      const struct nearest *near)
{
	_cleanup_buf_ struct buf one = BUF_INIT(LIMIT_FILE_BYTES), two = BUF_INIT(LIMIT_FILE_BYTES);
	bool characters = false;

	if (near->similar < near->telling || near->equal == near->telling)
		return NULL;
	for (size_t i = 0; i < wanted->count && near->line + i < base->count && !characters; i++)
		characters = !span_eq(
			fold_line(FOLD_DROP, line_body(lines_at(wanted, i)), &one),
			fold_line(FOLD_DROP, line_body(lines_at(base, near->line + i)), &two));
	return characters ? " and the others differ in look-alike characters (quotes, dashes, "
	                    "spaces)" : " and the others differ in white space only";
}

/* A line that is plainly none of the file, or else what only line ends tell apart. */
static void say_cause(const struct lines *base, const struct lines *wanted,
                      const struct nearest *near, const struct asker *asker, struct buf *out)
{
	for (size_t i = near->unlike; i < wanted->count; i++) {
		struct span line = line_body(lines_at(wanted, i));
		const char *why = difference_foreign(line, i + FOOTER_LINES >= wanted->count);
		struct span shown = utf8_head(span_trim(line), 40);

		if (!why || (near->line + i < base->count &&
		             span_eq(line, line_body(lines_at(base, near->line + i)))))
			continue;
		buf_printf(out, " `%.*s` %s.", (int)shown.len, shown.data, why);
		return;
	}
	for (size_t i = 0; near->differs == wanted->count && i < wanted->count; i++) {
		struct span given = line_ending(lines_at(wanted, i));
		struct span has = line_ending(lines_at(base, near->line + i));

		if (!given.len || span_eq(given, has))
			continue;
		if (has.len)
			buf_printf(out, " Line %zu of the file ends in %s, that of %s in %s.",
			           near->line + i + 1, has.len == 2 ? "CR LF" : "LF",
			           asker->who, given.len == 2 ? "CR LF" : "LF");
		else
			buf_printf(out, " The last line of the file has no line end; %s has one "
			                "after it.", asker->who);
		return;
	}
}

/* Lines that take the place of wanted ones may be more than these. */
enum { LINES_BEHIND = 3 };

/* Whether the base has another line than the wanted one; a blank line for a blank one is none. */
static bool differs_at(const struct lines *base, size_t at, const struct lines *wanted, size_t i)
{
	const struct span want = line_body(lines_at(wanted, i));
	const struct span has = at + i < base->count ? line_body(lines_at(base, at + i)) :
	                                               span_of("", 0);

	return !span_eq(want, has) && !(span_is_blank(want) && span_is_blank(has));
}

/* Keeps what the base has from the first of the wanted lines that differs from it to the last,
 * where several do, or failure->found does not show the only one; the first wanted line would
 * stand at line `at` (0-based). */
static void keep_differing(const struct lines *base, size_t at, const struct lines *wanted,
                           struct patch_failure *failure)
{
	size_t first = wanted->count, last = 0, count = 0, to;
	struct span text;

	for (size_t i = 0; i < wanted->count; i++) {
		if (!differs_at(base, at, wanted, i))
			continue;
		first = count++ ? first : i;
		last = i;
	}
	/* Where the last one differs, those after it may have moved. */
	to = at + last + 1 + (last + 1 == wanted->count ? LINES_BEHIND : 0);
	to = to < base->count ? to : base->count;
	if (count < (failure->found ? 2 : 1) || at + first >= to)
		return;
	text = lines_range(base, at + first, to);
	if (text.len > LIMIT_DIFFERING_LINES)
		text = span_head(text, LIMIT_DIFFERING_LINES);
	while (text.len && text.data[text.len - 1] != '\n' &&
	       text.data + text.len != base->text.data + base->text.len)
		text.len--;
	if (!text.len)
		return;
	failure->lines = mem_dup(text.data, text.len);
	failure->lines_from = at + first + 1;
}

/* Says where most of the lines stand, and which is the first that differs; *ret_differs is its
 * index, wanted->count if none. False: nothing is near. */
static bool say_nearest(const struct lines *base, const struct lines *wanted,
                        const struct asker *asker, struct patch_failure *failure, struct buf *out,
                        size_t *ret_differs)
{
	struct nearest near[NEAREST_NAMED];
	size_t count = nearest_guess(base, wanted, near, NEAREST_NAMED), first;
	const char *kind;

	*ret_differs = wanted->count;
	/* A long line that begins alike says nothing of what is within it. */
	if (!count || (!asker->tolerant && !near->similar &&
	               lines_at(base, near->line).len > LIKENESS_BYTES))
		return false;
	for (size_t i = 0; i < count; i++)
		failure->candidates[i] =
			(struct patch_candidate){ near[i].line + 1, near[i].equal };
	failure->candidate_count = failure->candidates_total = count;
	kind = kind_of_difference(base, wanted, near);
	buf_printf(out, " The nearest place is line %zu, where %zu of %zu %s are the same%s.",
	           near->line + 1, near->equal, near->telling, asker->lines, kind ? kind : "");
	first = asker->tolerant && near->unlike < wanted->count ? near->unlike : near->differs;
	if (first < wanted->count && near->line + first >= base->count) {
		struct span line = line_body(lines_at(wanted, first));

		failure->expected = mem_dup(line.data, line.len);
		buf_printf(out, " The file ends before line %zu of %s.", first + 1, asker->who);
	} else if (first < wanted->count) {
		const struct line_piece piece = {
			.line = near->line + first + 1,
			.text = line_body(lines_at(base, near->line + first)),
		};

		difference_say(&piece, line_body(lines_at(wanted, first)), asker->who, failure,
		               out);
	}
	keep_differing(base, near->line, wanted, failure);
	say_cause(base, wanted, near, asker, out);
	*ret_differs = first;
	return true;
}

/* Where the text stands without a level of escapes; false: it does not. */
static bool say_escapes(const struct lines *file, struct span text, struct buf *out)
{
	_cleanup_buf_ struct buf plain = BUF_INIT(text.len + 1);
	const char *found;
	size_t line = 1;

	if (!difference_kind_unescape(text, &plain) || !plain.len || file->text.len < plain.len ||
	    !(found = memmem(file->text.data, file->text.len, plain.data, plain.len)))
		return false;
	while (line < file->count && file->text.data + lines_start(file, line) <= found)
		line++;
	buf_printf(out, " The text has one level of backslash escapes too many: without it, it "
	                "stands at line %zu.", line);
	return true;
}

/* In code points, from 1. */
static size_t explain_column(const struct lines *lines, size_t line, size_t offset)
{
	struct span head = span_head(lines_at(lines, line), offset - lines_start(lines, line));
	size_t column = 1;
	struct utf8_char c;

	while (utf8_next(&head, &c))
		column++;
	return column;
}

size_t patch_line_at(const struct lines *lines, size_t offset)
{
	size_t low = 0, high = lines->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (lines_start(lines, middle) <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* The rest of the line that the byte at `at` is in. */
static struct span rest_of_line(struct span text, size_t at)
{
	struct span rest = span_skip(text, at), line;

	return line_next(&rest, &line) ? line_body(line) : span_of("", 0);
}

/* The same for a text that begins or ends within lines. */
static bool say_nearest_text(const struct lines *file, struct span text,
                             struct patch_failure *failure, struct buf *out)
{
	struct line_piece piece;
	struct span given;
	size_t at, same = 0, line, from;

	if (!nearest_text_find(file->text, text, &at))
		return false;
	while (same < text.len && at + same < file->text.len &&
	       file->text.data[at + same] == text.data[same])
		same++;
	line = patch_line_at(file, at + same < file->text.len ? at + same : file->text.len - 1);
	/* From where both have the same line, or the text begins. */
	from = lines_start(file, line) > at ? lines_start(file, line) - at : 0;
	given = rest_of_line(text, from);
	piece = (struct line_piece){
		.line = line + 1,
		.column = explain_column(file, line, at + from),
		.text = utf8_head(rest_of_line(file->text, at + from),
		                  given.len + SHOWN_BEHIND),
	};
	failure->candidates[0] = (struct patch_candidate){ line + 1, 0 };
	failure->candidate_count = failure->candidates_total = 1;
	buf_printf(out, " The nearest place is line %zu, column %zu.",
	           patch_line_at(file, at) + 1,
	           explain_column(file, patch_line_at(file, at), at));
	difference_say(&piece, given, "the text", failure, out);
	return true;
}

void patch_explain_absence(const struct lines *file, struct span old_text,
                           struct patch_failure *failure, struct buf *out)
{
	_cleanup_lines_ struct lines wanted = { 0 };
	size_t differs;
	bool near;

	lines_index(&wanted, old_text);
	near = say_nearest(file, &wanted, &of_text, failure, out, &differs) ||
	       say_nearest_text(file, old_text, failure, out);
	if (!say_escapes(file, old_text, out) && !near)
		buf_str(out, " Nothing in the file is like it.");
}

/* ---- a hunk that fits nowhere ---- */

/* The lines of the first `count` of a hunk that are one of `ops`, as a text. */
static void ops_text(const struct diff_text *diff, const struct hunk *hunk, size_t count,
                     const char *ops, struct buf *out)
{
	for (size_t i = 0; i < count; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];

		if (!strchr(ops, line->op))
			continue;
		buf_span(out, line->text);
		buf_char(out, '\n');
	}
}

/* The line of the diff that is old line `index` of the hunk. */
static const struct hunk_line *old_line(const struct diff_text *diff, const struct hunk *hunk,
                                        size_t count, size_t index)
{
	for (size_t i = 0; i < count; i++)
		if (diff->lines[hunk->first + i].op != '+' && !index--)
			return &diff->lines[hunk->first + i];
	return NULL;
}

/* Lines that may be no part of the hunk, of which the file is searched for: each costs a pass. */
enum { DOUBTFUL_LOOKED_AT = 8 };

static bool text_stands(const struct lines *base, struct span text)
{
	text = span_trim(text);
	for (size_t i = 0; i < base->count; i++)
		if (span_eq(span_trim(lines_at(base, i)), text))
			return true;
	return false;
}

/* Names the first line that the file lacks and that may be no part of the hunk. */
static void say_doubtful(const struct lines *base, const struct diff_text *diff,
                         const struct hunk *hunk, struct buf *out)
{
	size_t looked = 0;

	for (size_t i = 0; i < hunk->count && looked < DOUBTFUL_LOOKED_AT; i++) {
		const struct hunk_line *line = &diff->lines[hunk->first + i];
		bool behind = hunk->cut && i >= hunk->cut;

		if (line->op == '+' || span_is_blank(line->text) || !(behind || line->bare))
			continue;
		looked++;
		if (text_stands(base, line->text))
			continue;
		buf_printf(out, " Line %zu of the diff %s: leave it out if it is not part of the "
		           "hunk%s.", line->diff_line,
		           behind ? "comes after the lines that the header of the hunk counts" :
		                    "begins with no space, + or -, and was read as context",
		           behind ? ", otherwise correct the counts" : "");
		return;
	}
}

/* Where the result of the hunk stands, line by line, 1-based; 0: nowhere, or it is not known. */
static size_t result_stands(const struct lines *base, const struct lines *result)
{
	size_t work = 4 * base->count + 4096;

	for (size_t at = 0; at + result->count <= base->count && work; at++) {
		size_t i = 0;

		while (i < result->count && work &&
		       span_eq(line_body(lines_at(base, at + i)), line_body(lines_at(result, i)))) {
			work--;
			i++;
		}
		if (i == result->count)
			return at + 1;
	}
	return 0;
}

/* A hunk whose old and new lines are exchanged: so it is with one that was applied. */
static void say_exchanged(const struct lines *base, const struct diff_text *diff,
                          const struct hunk *hunk, size_t count, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_DIFF_BYTES);
	_cleanup_lines_ struct lines result = { 0 };
	size_t removed = 0, added = 0, line;

	for (size_t i = 0; i < count; i++) {
		removed += diff->lines[hunk->first + i].op == '-';
		added += diff->lines[hunk->first + i].op == '+';
	}
	if (!removed || !added)
		return;
	ops_text(diff, hunk, count, " +", &text);
	lines_index(&result, buf_view(&text));
	line = result_stands(base, &result);
	if (line)
		buf_printf(out, " At line %zu the file has its lines with + where those with - "
		                "should be: either the change was made already, or + and - are "
		                "exchanged.", line);
}

static const char no_match[] =
	"Invalid Diff: The provided diff content does not match the file's content. The context or "
	"lines to be removed may be incorrect.";

bool explain_no_match(const struct lines *base, const struct diff_text *diff, size_t hunk,
                      const struct candidates *found, struct patch_failure *failure,
                      struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_DIFF_BYTES), out = BUF_INIT(ERR_MESSAGE_MAX);
	const struct hunk *of = &diff->hunks[hunk];
	_cleanup_lines_ struct lines wanted = { 0 };
	_cleanup_free_ char *title = NULL;
	const struct hunk_line *line;
	size_t differs;

	explain_hunk(diff, hunk, failure);
	title = hunk_title(failure);
	ops_text(diff, of, found->count, " -", &text);
	lines_index(&wanted, buf_view(&text));
	if (!say_nearest(base, &wanted, &of_diff, failure, &out, &differs)) {
		struct span shown;

		for (differs = 0; differs < wanted.count; differs++)
			if (!span_is_blank(lines_at(&wanted, differs)))
				break;
		if (differs < wanted.count) {
			shown = line_body(lines_at(&wanted, differs));
			failure->expected = mem_dup(shown.data, shown.len);
			shown = utf8_head(shown, 160);
			buf_printf(&out, " The file has no line `%.*s`.", (int)shown.len,
			           shown.data);
		}
	}
	line = old_line(diff, of, found->count, differs);
	failure->diff_line = line ? line->diff_line : failure->diff_line;
	say_doubtful(base, diff, of, &out);
	say_exchanged(base, diff, of, found->count, &out);
	return err_set(err, ERR_NO_MATCH, "%s %s fits nowhere.%.*s", no_match, title, (int)out.len,
	               out.data ? out.data : "");
}

/* ---- several hunks ---- */

void explain_hunk_lines(const struct lines *base, const struct diff_text *diff, size_t hunk,
                        const struct placement *place, struct patch_failure *failure)
{
	_cleanup_buf_ struct buf text = BUF_INIT(LIMIT_DIFF_BYTES);
	_cleanup_lines_ struct lines wanted = { 0 };

	ops_text(diff, &diff->hunks[hunk], place->count, " -", &text);
	lines_index(&wanted, buf_view(&text));
	keep_differing(base, place->at, &wanted, failure);
}

/* Bytes of lines that differ in all hunks of the list together. */
static bool has_room_for(const struct patch_failure *failure, const char *lines)
{
	size_t used = 0;

	for (size_t i = 0; i < failure->failed_count; i++)
		used += failure->failed[i].lines ? strlen(failure->failed[i].lines) : 0;
	return used + strlen(lines) <= 2 * LIMIT_DIFFERING_LINES;
}

void explain_add_failed(struct patch_failure *failure, enum err_code code,
                        const struct patch_failure *of)
{
	const bool lines = of->lines && has_room_for(failure, of->lines);

	failure->failed_total++;
	if (failure->failed_count == ARRAY_LEN(failure->failed))
		return;
	failure->failed[failure->failed_count++] = (struct patch_failed_hunk){
		.hunk = of->hunk,
		.code = code,
		.stated_line = of->stated_line,
		.diff_line = of->diff_line,
		.expected = of->expected ? mem_strdup(of->expected) : NULL,
		.found = of->found ? mem_strdup(of->found) : NULL,
		.found_line = of->found_line,
		.lines = lines ? mem_strdup(of->lines) : NULL,
		.lines_from = lines ? of->lines_from : 0,
		.near_line = of->candidate_count ? of->candidates[0].line : 0,
	};
}

void explain_all_failed(const struct patch_failure *failure, bool others_fit, struct err *err)
{
	_cleanup_free_ char *why = mem_strdup(err->message);

	others_fit &= failure->failed_total && failure->failed_total < failure->hunk_count;
	if (failure->failed_total > 1)
		err_set(err, err->code, "%s %zu of the %zu hunks fail: see failed_hunks.%s", why,
		        failure->failed_total, failure->hunk_count,
		        others_fit ? " The others fit." : "");
	else if (others_fit)
		err_set(err, err->code, "%s The other hunk%s.", why,
		        failure->hunk_count == 2 ? " fits" : "s fit");
}

/* ---- several places ---- */

/* "12, 40 and more" */
static char *list_lines(const struct patch_failure *failure)
{
	struct buf out = BUF_INIT(512);

	for (size_t i = 0; i < failure->candidate_count; i++)
		buf_printf(&out, "%s%zu", i ? ", " : "", failure->candidates[i].line);
	if (failure->candidates_total > failure->candidate_count)
		buf_str(&out, " and more");
	return buf_steal(&out);
}

static void list_candidates(const struct candidates *found, struct patch_failure *failure)
{
	for (size_t i = 0; i < found->kept && i < ARRAY_LEN(failure->candidates); i++)
		failure->candidates[failure->candidate_count++] =
			(struct patch_candidate){ found->places[i] + 1, found->old_count };
	failure->candidates_total = found->total;
}

/* The place that the header gives, and why it is not enough, so that the model is not asked for it
 * again. "" if it gives none. */
static char *what_was_given(const struct diff_text *diff, size_t hunk,
                            const struct candidates *found, size_t stated)
{
	struct span heading = diff->hunks[hunk].heading;
	struct buf out = BUF_INIT(1024);
	bool listed = false;

	if (!heading.len)
		heading = diff->hunks[hunk].within;
	heading = utf8_head(heading, 80);
	for (size_t i = 0; i < found->kept; i++)
		listed |= found->places[i] + 1 == stated;
	if (stated && (listed || found->kept == found->total))
		buf_printf(&out, listed ? " Line %zu is one of them, but the diff's other numbers "
		                          "do not bear it out." :
		                          " Line %zu is none of them.", stated);
	if (heading.len)
		buf_printf(&out, " The text after its @@, `%.*s`, does not say which one it is.",
		           (int)heading.len, heading.data);
	return buf_steal(&out);
}

bool explain_ambiguous(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                       struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL, *lines = NULL, *given = NULL;

	explain_hunk(diff, hunk, failure);
	list_candidates(found, failure);
	title = hunk_title(failure);
	if (!found->old_count)
		return err_set(err, ERR_AMBIGUOUS_DIFF,
		               "Ambiguous Diff: %s adds lines without any context, so nothing says "
		               "where they belong. Add unchanged lines before and after them.",
		               title);
	lines = list_lines(failure);
	given = what_was_given(diff, hunk, found, failure->stated_line);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s fits %s%zu places in the file (lines %s).%s Add context "
	               "lines until it fits one%s.",
	               title, found->total > found->kept ? "more than " : "", found->kept, lines,
	               given, *given ? "" : ", or give the right line number in its @@ header");
}

bool explain_order(const struct diff_text *diff, size_t hunk, size_t other,
                   const struct candidates *found, struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL, *lines = NULL;

	explain_hunk(diff, hunk, failure);
	list_candidates(found, failure);
	title = hunk_title(failure);
	lines = list_lines(failure);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s fits %s%zu places in the file (lines %s), and the line "
	               "numbers in the headers contradict the order of the hunks: it comes %s hunk "
	               "%zu in the diff, but its number puts it %s. Send the hunks in the order of "
	               "the file, or add context lines until each fits one place.",
	               title, found->total > found->kept ? "more than " : "", found->kept, lines,
	               hunk < other ? "before" : "after", other + 1,
	               hunk < other ? "behind it" : "in front of it");
}

bool explain_contradiction(const struct diff_text *diff, size_t hunk,
                           const struct candidates *found, size_t expected,
                           struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL;

	explain_hunk(diff, hunk, failure);
	failure->candidates[0] = (struct patch_candidate){ expected + 1, 0 };
	failure->candidates[1] = (struct patch_candidate){ found->at + 1, found->old_count };
	failure->candidate_count = failure->candidates_total = 2;
	title = hunk_title(failure);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s names line %zu, where the file has similar but "
	               "different lines; the very lines of the hunk stand at line %zu instead. "
	               "Read the file again and say which of the two you mean.",
	               title, expected + 1, found->at + 1);
}

bool explain_lost_lines(const struct diff_text *diff, size_t hunk, const struct candidates *found,
                        struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ char *title = NULL;

	explain_hunk(diff, hunk, failure);
	failure->candidates[0] = (struct patch_candidate){ found->at + 1, found->old_count };
	failure->candidate_count = failure->candidates_total = 1;
	title = hunk_title(failure);
	return err_set(err, ERR_AMBIGUOUS_DIFF,
	               "Ambiguous Diff: %s counts %zu old lines but has %zu, and they stand at "
	               "line %zu: context lines are missing, so the place of the change is not "
	               "certain. Add unchanged lines before and after the change.",
	               title, diff->hunks[hunk].old_count, found->old_count, found->at + 1);
}
