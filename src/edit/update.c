/* SPDX-License-Identifier: Apache-2.0 */
/* Exact replacement: every place where the old text stands, counted without overlap.
 *
 * The text is looked for as it is.  When it is found nowhere (or only from the middle of a
 * CRLF), its LF may stand for the file's CRLF, and then the replacement gets CRLF too.  (The
 * search then passes over the CRs, and the places are mapped back.)
 * After that the other readings are tried in turn: escapes for invisible characters, and those
 * of patch/patch.h.
 * The places become an edit script of whole lines, so that all other lines keep their bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "edit/edit.h"
#include "edit/private.h"
#include "patch/patch.h"

/* ---- line endings, in a file that has both kinds: each line keeps its own ---- */

/* How the lines of a replacement get their endings. All spans are borrowed. */
struct line_ends {
	const struct lines *file;
	struct lines old, new; /* owned */
	size_t *pairs;         /* owned; patch_pair_lines */
};

static void line_ends_release(struct line_ends *ends)
{
	lines_release(&ends->old);
	lines_release(&ends->new);
	free(ends->pairs);
}
#define _cleanup_line_ends_ __attribute__((cleanup(line_ends_release)))

static bool has_crlf(struct span text)
{
	return text.len && memmem(text.data, text.len, "\r\n", 2);
}

/* Whether the endings must be chosen line by line, and then what is needed for it: the file has
 * both kinds, and the texts do not say theirs. `folded`: LF in the old text stood for CRLF. */
static bool line_ends_make(const struct document *doc, struct span old_text, struct span text,
                           bool folded, struct line_ends *ret)
{
	if (!doc->crlf_lines || !doc->lf_lines)
		return false;
	/* Texts that have CRs, and stand in the file with them, say what is meant. */
	if (!folded && (has_crlf(old_text) || has_crlf(text)))
		return false;
	ret->file = &doc->lines;
	lines_index(&ret->old, old_text);
	lines_index(&ret->new, text);
	ret->pairs = patch_pair_lines(&ret->old, &ret->new);
	return true;
}

/* The ending of a line, or of one before it if it is the last and has none. */
static struct span ending_at(const struct lines *file, size_t line)
{
	struct span ending = line_ending(lines_at(file, line));

	if (!ending.len && line)
		ending = line_ending(lines_at(file, line - 1));
	return ending.len ? ending : SPAN("\n");
}

static bool has_final_newline(const struct lines *lines)
{
	return lines->count && line_ending(lines_at(lines, lines->count - 1)).len;
}

/* Appends the new text for a place that begins in line `first` (0-based) of the file and ends at
 * offset `end`.  A line that stays, or replaces another, has the ending of that one; a new
 * line that of the line above.  Returns where the place ends: with the last line's ending. */
static size_t line_ends_put(const struct line_ends *ends, size_t first, size_t end,
                            struct buf *out)
{
	const struct lines *file = ends->file;
	struct span ending = ending_at(file, first), rest = span_skip(file->text, end), after;
	bool closes;

	after = span_starts(rest, SPAN("\r\n")) ? SPAN("\r\n") : SPAN("\n");
	/* The last line gets its own ending, which stands after the text, instead of another's.  A
	 * text that begins with a line ending may follow, and needs this one. */
	closes = ends->new.count && !has_final_newline(&ends->old) &&
	         !has_final_newline(&ends->new) && span_starts(rest, after) &&
	         !strchr("\r\n", ends->old.text.data[0]);
	for (size_t i = 0; i < ends->new.count; i++) {
		struct span line = lines_at(&ends->new, i), own = line_ending(line);

		if (ends->pairs[i] != SIZE_MAX)
			ending = ending_at(file, first + ends->pairs[i]);
		buf_span(out, line_body(line));
		if (own.len || closes)
			buf_span(out, own.len == 2 ? own : ending);
	}
	return closes ? end + after.len : end;
}

/* ---- places ---- */

/* Bytes [start, end) of the document's text. */
struct match {
	size_t start, end;
};

struct matches {
	struct match *items; /* owned */
	size_t count, cap;
};

static void matches_release(struct matches *matches)
{
	free(matches->items);
}
#define _cleanup_matches_ __attribute__((cleanup(matches_release)))

static void find_all(struct span text, struct span needle, struct matches *ret)
{
	const char *at = text.data, *end = text.data + text.len;

	while (text.len && (at = memmem(at, (size_t)(end - at), needle.data, needle.len))) {
		ret->items = mem_grow(ret->items, &ret->cap, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count].start = (size_t)(at - text.data);
		at += needle.len;
		ret->items[ret->count++].end = (size_t)(at - text.data);
	}
}

/* The same, by what is known of all old texts of the call. */
static void find_known(const struct edit_step *step, struct matches *ret)
{
	const struct edit_text *text = step->shares_doc ? step->before.text : NULL;
	_cleanup_free_ size_t *places = NULL;
	const struct span needle = step->change->old_text;
	size_t count = 0;

	if (!text || !text->places || !edit_places_find(text->places, needle, &count, &places)) {
		find_all(step->doc.lines.text, needle, ret);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		ret->items = mem_grow(ret->items, &ret->cap, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count++] = (struct match){ places[i], places[i] + needle.len };
	}
}

static bool is_crlf_at(struct span text, size_t at)
{
	return text.data[at] == '\r' && at + 1 < text.len && text.data[at + 1] == '\n';
}

/* A text that is looked for byte by byte (Knuth-Morris-Pratt), so that what is searched need not be
 * copied. */
struct seeker {
	struct span needle;
	uint32_t *border; /* owned; of each head of the needle */
	bool folded;      /* CRLF in the text counts as LF */
	bool overlapping; /* places that overlap count */
};

static void seeker_init(struct seeker *seeker, struct span needle)
{
	uint32_t *border = mem_alloc(needle.len + 1, sizeof(*border)), k = 0;

	for (size_t i = 1; i < needle.len; i++) {
		while (k && needle.data[i] != needle.data[k])
			k = border[k];
		k += needle.data[i] == needle.data[k];
		border[i + 1] = k;
	}
	*seeker = (struct seeker){ .needle = needle, .border = border };
}

static void seeker_release(struct seeker *seeker)
{
	free(seeker->border);
}
#define _cleanup_seeker_ __attribute__((cleanup(seeker_release)))

/* The places in the text, or of a folded search in what the text would be without the CRs. */
static void seek_all(const struct seeker *seeker, struct span text, struct matches *ret)
{
	struct span needle = seeker->needle;
	size_t at = 0, k = 0;

	ret->count = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (seeker->folded && is_crlf_at(text, i))
			continue;
		at++;
		while (k && text.data[i] != needle.data[k])
			k = seeker->border[k];
		k += text.data[i] == needle.data[k];
		if (k < needle.len)
			continue;
		ret->items = mem_grow(ret->items, &ret->cap, ret->count + 1, sizeof(*ret->items));
		ret->items[ret->count++] = (struct match){ at - needle.len, at };
		k = seeker->overlapping ? seeker->border[k] : 0;
	}
}

/* Whether the text becomes the same if the second of two places that overlap is replaced: what
 * either leaves of the other is the needle's beginning or end. */
static bool gives_same(struct span needle, size_t apart, struct span replacement)
{
	_cleanup_buf_ struct buf a = BUF_INIT(LIMIT_FILE_BYTES), b = BUF_INIT(LIMIT_FILE_BYTES);

	buf_span(&a, replacement);
	buf_span(&a, span_skip(needle, needle.len - apart));
	buf_span(&b, span_head(needle, apart));
	buf_span(&b, replacement);
	return !a.overflowed && span_eq(buf_view(&a), buf_view(&b));
}

/* One place was found: adds those that overlap it, unless it makes no difference which is meant. */
static void add_overlapping(struct seeker *seeker, struct span text, struct span replacement,
                            struct matches *ret)
{
	size_t judged = 0;
	bool same = true;

	if (!seeker->border[seeker->needle.len])
		return;
	seeker->overlapping = true;
	seek_all(seeker, text, ret);
	for (size_t i = 1; i < ret->count && same; i++) {
		size_t apart = ret->items[i].start - ret->items[i - 1].start;

		/* Of a text that repeats itself most places are as far apart as those before. */
		same = apart == judged || (apart < seeker->needle.len &&
		                           gives_same(seeker->needle, apart, replacement));
		judged = apart;
	}
	if (same)
		ret->count = 1;
}

/* Appends the text with every CRLF made LF. */
static bool fold_crlf(struct buf *out, struct span text)
{
	char *to = buf_reserve(out, text.len);

	if (!to)
		return false;
	for (size_t i = 0; i < text.len; i++)
		if (!is_crlf_at(text, i))
			*to++ = text.data[i];
	*to = '\0';
	out->len = (size_t)(to - out->data);
	return true;
}

/* Turns places in the folded text into places in `text`, in one pass over it for where they begin
 * and one for where they end, as places may overlap.  A place that begins with LF begins with the
 * CR before it. */
static void map_back(struct span text, struct matches *matches)
{
	for (size_t k = 0; k < 2; k++) {
		size_t folded = 0, at = 0;

		for (size_t i = 0; i < matches->count; i++) {
			size_t *edge = k ? &matches->items[i].end : &matches->items[i].start;

			for (; folded < *edge; folded++)
				at += is_crlf_at(text, at) ? 2 : 1;
			*edge = at;
		}
	}
}

/* Whether a place begins between the two bytes of a CRLF: the text's first LF stands for it. */
static bool splits_crlf(struct span text, const struct matches *matches)
{
	for (size_t i = 0; i < matches->count; i++) {
		size_t start = matches->items[i].start;

		if (start && is_crlf_at(text, start - 1))
			return true;
	}
	return false;
}

/* The second look, with LF standing for CRLF; the old text itself may have either. */
static bool find_folded(const struct edit_step *step, bool one, struct matches *ret,
                        struct err *err)
{
	_cleanup_buf_ struct buf needle = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_buf_ struct buf replacement = BUF_INIT(LIMIT_FILE_BYTES);
	_cleanup_seeker_ struct seeker seeker = { 0 };
	struct span text = step->doc.lines.text;

	if (!fold_crlf(&needle, step->change->old_text))
		return err_set(err, ERR_TOO_LARGE, "%s is too large to be searched.",
		               step->change->path);
	seeker_init(&seeker, buf_view(&needle));
	seeker.folded = true;
	seek_all(&seeker, text, ret);
	if (ret->count == 1 && one && fold_crlf(&replacement, step->change->text))
		add_overlapping(&seeker, text, buf_view(&replacement), ret);
	map_back(text, ret);
	return true;
}

/* The old text is nowhere, however it is read: says where it was probably meant. */
static bool explain_absence(const struct edit_step *step, struct err *err)
{
	_cleanup_buf_ struct buf where = BUF_INIT(ERR_MESSAGE_MAX);
	struct patch_failure *failure = &step->result->failure;

	patch_failure_release(failure);
	patch_explain_absence(&step->doc.lines, step->change->old_text, failure, &where);
	return err_set(err, ERR_WRONG_MATCH_COUNT,
	               "The text to replace does not occur in %s; nothing was written.%.*s",
	               step->change->path, (int)where.len, where.data);
}

/* Finds the places and says whether their number is as asked. */
static bool find_places(struct edit_step *step, struct matches *ret, bool *ret_crlf,
                        struct err *err)
{
	const struct change *change = step->change;
	const struct document *doc = &step->doc;
	struct change_result *result = step->result;
	size_t want = change->expected_count ? change->expected_count : 1;
	bool one = want == 1 && !change->any_count;

	*ret_crlf = false;
	find_known(step, ret);
	/* In a file of both endings a text with LF stands equally well in lines of either. */
	if (doc->crlf_lines && memchr(change->old_text.data, '\n', change->old_text.len) &&
	    (ret->count == 0 || splits_crlf(doc->lines.text, ret) ||
	     (doc->lf_lines && !memmem(change->old_text.data, change->old_text.len, "\r\n", 2)))) {
		*ret_crlf = true;
		ret->count = 0;
		if (!find_folded(step, one, ret, err))
			return false;
	}
	if (ret->count == 1 && !*ret_crlf && one) {
		_cleanup_seeker_ struct seeker seeker = { 0 };

		seeker_init(&seeker, change->old_text);
		add_overlapping(&seeker, doc->lines.text, change->text, ret);
	}
	result->replaced = ret->count;
	for (size_t i = 0; i < ret->count && i < ARRAY_LEN(result->match_lines); i++)
		result->match_lines[i] = patch_line_at(&doc->lines, ret->items[i].start) + 1;
	if (ret->count == 0)
		return err_set(err, ERR_WRONG_MATCH_COUNT,
		               "The text to replace does not occur in %s.", change->path);
	if (!change->any_count && ret->count != want)
		return err_set(err, ERR_WRONG_MATCH_COUNT,
		               "The text to replace occurs %zu times in %s (first at line %zu), "
		               "not %zu %s; nothing was written.", ret->count, change->path,
		               result->match_lines[0], want, want == 1 ? "time" : "times");
	return true;
}

/* A run of lines that becomes new text: where it begins, how far the old text is used up. */
struct region {
	size_t first_line;
	size_t cursor;     /* offset in the document's text */
	size_t text_start; /* offset of the region's new text in the output */
	bool open;
};

/* Copies up to and including the line end after the cursor, unless the cursor is at a clean
 * line start, so that the region is whole lines. */
static void region_finish_line(struct region *region, const struct lines *lines, struct buf *out)
{
	size_t line = patch_line_at(lines, region->cursor);
	bool ended = out->len == region->text_start || out->data[out->len - 1] == '\n';

	if (region->cursor >= lines->text.len ||
	    (ended && region->cursor == lines_start(lines, line)))
		return;
	buf_append(out, lines->text.data + region->cursor,
	           lines_start(lines, line + 1) - region->cursor);
	region->cursor = lines_start(lines, line + 1);
}

/* Whether the region and what follows must be one edit: the match is on a line it uses. */
static bool region_reaches(const struct region *region, const struct lines *lines,
                           const struct buf *out, size_t start)
{
	bool ended = out->len == region->text_start || out->data[out->len - 1] == '\n';
	size_t line = patch_line_at(lines, region->cursor);

	if (ended && region->cursor == lines_start(lines, line))
		return start == region->cursor;
	return start < lines_start(lines, line + 1);
}

static void region_close(struct region *region, const struct lines *lines, struct buf *out,
                         struct script *script)
{
	size_t end;

	if (!region->open)
		return;
	region_finish_line(region, lines, out);
	end = region->cursor >= lines->text.len ? lines->count :
	      patch_line_at(lines, region->cursor);
	/* The output may still move: the offset stands in for the pointer until the end. */
	script_add(script, (struct edit){
		.at = region->first_line,
		.remove = end - region->first_line,
		.insert = { (const char *)(uintptr_t)region->text_start,
		            out->len - region->text_start },
	});
	region->open = false;
}

/* Builds step->script, whose inserted text is in step->text_owned. `ends` NULL: the replacement is
 * as it is. */
static bool build_script(struct edit_step *step, struct matches *matches, struct span replacement,
                         const struct line_ends *ends, struct err *err)
{
	const struct lines *lines = &step->doc.lines;
	struct buf *out = &step->text_owned;
	struct region region = { 0 };

	out->max = LIMIT_FILE_BYTES;
	for (size_t i = 0; i < matches->count && !out->overflowed; i++) {
		struct match *match = &matches->items[i];
		size_t line = patch_line_at(lines, match->start);

		if (region.open && !region_reaches(&region, lines, out, match->start))
			region_close(&region, lines, out, &step->script);
		if (!region.open)
			region = (struct region){ line, lines_start(lines, line), out->len, true };
		buf_append(out, lines->text.data + region.cursor, match->start - region.cursor);
		if (ends)
			match->end = line_ends_put(ends, line, match->end, out);
		else
			buf_span(out, replacement);
		region.cursor = match->end;
	}
	region_close(&region, lines, out, &step->script);
	if (out->overflowed)
		return err_set(err, ERR_TOO_LARGE, "The new text of %s is larger than %zu bytes.",
		               step->change->path, LIMIT_FILE_BYTES);
	for (size_t i = 0; i < step->script.count; i++) {
		struct span *insert = &step->script.edits[i].insert;

		insert->data = out->data ? out->data + (uintptr_t)insert->data : "";
	}
	return true;
}

/* LF in the replacement becomes CRLF when the old text stood in CRLF lines, or the file has
 * no other ending and the replacement has none. */
static bool replacement_of(const struct edit_step *step, bool crlf, struct buf *owned,
                           struct span *ret, struct err *err)
{
	const struct document *doc = &step->doc;
	struct span text = step->change->text;
	bool all_crlf = doc->crlf_lines && !doc->lf_lines && !step->change->exact_line_endings &&
	                text.len && !memmem(text.data, text.len, "\r\n", 2);

	*ret = text;
	if (!crlf && !all_crlf)
		return true;
	if (!edit_to_crlf(owned, text))
		return err_set(err, ERR_TOO_LARGE, "The replacement is too large.");
	*ret = buf_view(owned);
	return true;
}

/* Taking away the text of whole lines without the last line end leaves an empty line. */
static void note_empty_line(struct edit_step *step, const struct matches *matches,
                            struct span replacement)
{
	const struct lines *lines = &step->doc.lines;
	const struct match *match = &matches->items[0];
	size_t line = patch_line_at(lines, match->start);
	struct span rest = span_skip(lines->text, match->end);

	if (replacement.len || match->start != lines_start(lines, line) ||
	    lines->text.data[match->end - 1] == '\n' ||
	    !(span_starts(rest, SPAN("\n")) || span_starts(rest, SPAN("\r\n"))))
		return;
	snprintf(step->result->note, sizeof(step->result->note),
	         "An empty line remains where the text was (first at line %zu), because the old "
	         "text did not include its line end.", line + 1);
}

/* Undoes what plan_as_written does to the step. */
static void forget_plan(struct edit_step *step)
{
	step->script.count = 0;
	document_pieces_release(&step->pieces);
	buf_clear(&step->text_owned);
}

bool edit_plan_nothing(struct edit_step *step)
{
	struct change_result *result = step->result;
	struct err ignored = ERR_INIT;

	forget_plan(step);
	if (!edit_plan_script(step, &step->script, /* keep_bom= */ true, &ignored))
		return false;
	result->replaced = 0;
	memset(result->match_lines, 0, sizeof(result->match_lines));
	patch_failure_release(&result->failure);
	result->already = true;
	snprintf(result->note, sizeof(result->note),
	         "The file is as this very edit left it when it was made.");
	return true;
}

/* Nothing is left to do: the new text stands at line `line`. */
static bool plan_nothing(struct edit_step *step, const char *old_text_is, size_t line)
{
	if (!edit_plan_nothing(step))
		return false;
	snprintf(step->result->note, sizeof(step->result->note),
	         "The old text is %s, and the new text already is, at line %zu.", old_text_is,
	         line);
	return true;
}

/* An update that would add lines that the same update added before has nothing left to do. */
static bool plan_unless_repeated(struct edit_step *step)
{
	_cleanup_other_reading_ struct other_reading reading = { 0 };

	return !step->change->made || step->change->any_count || step->change->expected_count > 1 ||
	       !other_reading_repeated(&step->doc.lines, step->change->old_text,
	                               step->change->text, &reading) ||
	       plan_nothing(step, "part of the new text", reading.line);
}

static bool plan_as_written(struct edit_step *step, struct err *err)
{
	_cleanup_matches_ struct matches matches = { 0 };
	_cleanup_buf_ struct buf owned = BUF_INIT(LIMIT_FILE_BYTES);
	const struct change *change = step->change;
	_cleanup_line_ends_ struct line_ends ends = { 0 };
	struct span replacement;
	bool crlf, by_line;

	if (!step->before.exists)
		return edit_plan_text(step, change->text, err);
	if (!change->old_text.len)
		return err_set(err, ERR_FILE_EXISTS,
		               "%s exists already: an update needs the text to replace, and an "
		               "empty one creates a file.", change->path);
	if (!utf8_valid(change->text) || !utf8_valid(change->old_text))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The old and the new text must be UTF-8.");
	if (span_eq(change->old_text, change->text))
		return err_set(err, ERR_NO_CHANGE, "The old and the new text are the same; nothing "
		               "was written.");
	if (!edit_step_document(step, err) ||
	    !find_places(step, &matches, &crlf, err) ||
	    !replacement_of(step, crlf, &owned, &replacement, err))
		return false;
	by_line = line_ends_make(&step->doc, change->old_text, change->text, crlf, &ends);
	if (!build_script(step, &matches, replacement, by_line ? &ends : NULL, err) ||
	    !edit_plan_script(step, &step->script, /* keep_bom= */ true, err))
		return false;
	if (step->after.made_by != step)
		return err_set(err, ERR_NO_CHANGE,
		               "The replacement leaves %s as it is; nothing was written.",
		               change->path);
	note_empty_line(step, &matches, replacement);
	return plan_unless_repeated(step);
}

/* Plans the update as if it had been written with these texts. */
static bool plan_as_meant(struct edit_step *step, const struct buf *old_text,
                          const struct buf *text)
{
	const struct change *written = step->change;
	struct change meant = *written;
	struct err ignored = ERR_INIT;
	bool planned;

	meant.old_text = buf_view(old_text);
	meant.text = buf_view(text);
	step->change = &meant;
	planned = !old_text->overflowed && !text->overflowed && plan_as_written(step, &ignored);
	step->change = written;
	if (!planned)
		forget_plan(step);
	return planned;
}

/* Escapes may stand for the invisible characters that the model was shown as such
 * (base/unseen.h); those that the replacement has from the old text then do too. */
static bool plan_unseen(struct edit_step *step, struct err *refusal)
{
	_cleanup_other_reading_ struct other_reading reading = { 0 };

	if (!patch_reading_unseen(step->change->old_text, step->change->text, &reading) ||
	    !plan_as_meant(step, &reading.old_text, &reading.text))
		return false;
	if (!reading.doubt)
		return true;
	forget_plan(step);
	return err_set(refusal, ERR_WRONG_MATCH_COUNT,
	               "The text to replace occurs in %s, with escapes such as \\u{200b} read as "
	               "characters; nothing was written. Whether the escape in line %zu of the new "
	               "text means such a character, or is text, cannot be determined: repeat the "
	               "text next to it unchanged, or leave it out.", step->change->path,
	               reading.doubt);
}

/* Whether the text that was found begins with a line, as all that a listing shows does, and with
 * the one that the reading names. */
static bool is_at_line_start(const struct edit_step *step, const struct other_reading *reading)
{
	size_t at = step->result->match_lines[0];
	struct span rest = buf_view(&reading->old_text), first;

	return at && line_next(&rest, &first) && (!reading->line || reading->line == at) &&
	       span_starts(lines_at(&step->doc.lines, at - 1), line_body(first));
}

static bool same_texts(const struct other_reading *a, const struct other_reading *b)
{
	return span_eq(buf_view(&a->old_text), buf_view(&b->old_text)) &&
	       span_eq(buf_view(&a->text), buf_view(&b->text));
}

/* The old text is in the file as both readings have it. */
static bool refuse_two_readings(const struct edit_step *step, const struct patch_reading *one,
                                const struct patch_reading *other, struct err *refusal)
{
	return err_set(refusal, ERR_WRONG_MATCH_COUNT,
	               "The text to replace does not occur in %s as it is written; nothing was "
	               "written. It can be read %s, and %s, with different results. Copy it from "
	               "the file.", step->change->path, one->way, other->way);
}

/* What is wrong with the texts themselves is undone, if there is one way to do it. */
static bool plan_misspelled(struct edit_step *step, struct err *refusal)
{
	_cleanup_other_reading_ struct other_reading found = { 0 };
	const struct patch_reading *by = NULL;

	for (size_t i = 0; i < PATCH_READINGS; i++) {
		_cleanup_other_reading_ struct other_reading reading = { 0 };
		const struct patch_reading *way = &patch_readings[i];

		if (!way->read(step->change->old_text, step->change->text, &reading) ||
		    !plan_as_meant(step, &reading.old_text, &reading.text))
			continue;
		forget_plan(step);
		step->result->already = false;
		if (way->at_line && !is_at_line_start(step, &reading))
			continue;
		if (by && !same_texts(&found, &reading))
			return refuse_two_readings(step, by, way, refusal);
		if (by)
			continue;
		by = way;
		found = reading;
		reading = (struct other_reading){ 0 };
	}
	if (!by || !plan_as_meant(step, &found.old_text, &found.text))
		return false;
	if (!step->result->already)
		snprintf(step->result->note, sizeof(step->result->note), "%s", by->note);
	return true;
}

static bool plan_trimmed(struct edit_step *step)
{
	_cleanup_other_reading_ struct other_reading reading = { 0 };

	if (!patch_reading_trimmed(&step->doc.lines, step->change->old_text, step->change->text,
	                           &reading) ||
	    !plan_as_meant(step, &reading.old_text, &reading.text))
		return false;
	snprintf(step->result->note, sizeof(step->result->note),
	         "The text stands at line %zu with other white space at the ends of lines; lines "
	         "that stay keep the file's.", reading.line);
	return true;
}

static bool plan_shifted(struct edit_step *step, struct other_reading *reading)
{
	if (!other_reading_shifted(&step->doc.lines, step->change->old_text, step->change->text,
	                           reading) ||
	    !plan_as_meant(step, &reading->old_text, &reading->text))
		return false;
	if (!step->result->already)
		snprintf(step->result->note, sizeof(step->result->note),
		         "The text stands at line %zu with other indentation; the new text was "
		         "indented likewise.", reading->line);
	return true;
}

size_t edit_update_made(const struct edit_step *step)
{
	_cleanup_other_reading_ struct other_reading reading = { 0 }, plain = { 0 };
	const struct change *change = step->change;
	const struct lines *lines = &step->doc.lines;
	bool done = other_reading_done(lines, change->old_text, change->text, &reading);

	for (size_t i = 0; i < PATCH_READINGS && !done; i++)
		done = patch_readings[i].read(change->old_text, change->text, &plain) &&
		       other_reading_done(lines, buf_view(&plain.old_text),
		                          buf_view(&plain.text), &reading);
	return done ? reading.line : 0;
}

/* Whether the update was made before, as it is written or in one of the other readings. */
static bool plan_done(struct edit_step *step)
{
	size_t line = edit_update_made(step);

	return line && plan_nothing(step, "not in the file", line);
}

static bool explain_rival(const struct edit_step *step, const struct other_reading *reading,
                          struct err *err)
{
	struct patch_failure *failure = &step->result->failure;

	patch_failure_release(failure);
	failure->candidates[0] = (struct patch_candidate){ reading->rival, 0 };
	failure->candidates[1] = (struct patch_candidate){ reading->line, 0 };
	failure->candidate_count = failure->candidates_total = 2;
	return err_set(err, ERR_WRONG_MATCH_COUNT,
	               "The text to replace does not occur in %s; nothing was written. It stands "
	               "at line %zu with other indentation, but line %zu has %s. Copy the text of "
	               "the place that you mean from the file.", step->change->path, reading->line,
	               reading->rival, reading->rival_is_new ? "the new text already" :
	                                                       "more of its lines exactly");
}

/* The text as it is written is nowhere: the other things that it may plainly mean. */
static bool plan_otherwise(struct edit_step *step, struct err *err)
{
	_cleanup_other_reading_ struct other_reading shifted = { 0 };
	bool one = !step->change->any_count && step->change->expected_count <= 1;
	struct err refusal = ERR_INIT;

	/* Look for the finished edit before any looser reading, which may find a text like it. */
	if ((one && plan_done(step)) || plan_unseen(step, &refusal) ||
	    (one && (plan_misspelled(step, &refusal) ||
	             (!refusal.code && (plan_trimmed(step) || plan_shifted(step, &shifted))))))
		return true;
	step->result->replaced = 0;
	memset(step->result->match_lines, 0, sizeof(step->result->match_lines));
	if (refusal.code) {
		*err = refusal;
		return false;
	}
	return shifted.rival ? explain_rival(step, &shifted, err) : explain_absence(step, err);
}

bool edit_plan_update(struct edit_call *call, struct edit_step *step, struct err *err)
{
	struct edit_text *text;
	struct err why = ERR_INIT;

	if (step->before.made_by && edit_step_document(step, &why) &&
	    step->shares_doc && !(text = step->before.text)->places_tried) {
		text->places_tried = true;
		text->places = edit_places_make(call, step, text->doc.lines.text);
	}
	why = (struct err)ERR_INIT;
	if (plan_as_written(step, &why))
		return true;
	if (why.code != ERR_WRONG_MATCH_COUNT || step->result->replaced) {
		*err = why;
		return false;
	}
	return plan_otherwise(step, err);
}
