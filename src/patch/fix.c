/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/explain.h"
#include "patch/nearest.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/unseen.h"
#include "patch/whitespace/whitespace.h"

static const struct span bom = { "\xEF\xBB\xBF", 3 };

struct fixer {
	const struct lines *base;
	const struct diff_text *diff;
	const struct placement *places;
	struct pairing pairing;
	struct adapter *adapter;
	bool faithful;           /* the diff has the file's own line endings throughout */
	struct span customary;   /* the file's prevailing line ending */
	bool has_bom;
	struct patch_plan *plan;
	size_t hunk;             /* the one being fixed */
	bool open;               /* `edit` is being built */
	struct edit edit;
	size_t insert_from;      /* where its text begins in plan->inserted */
	size_t last_added;       /* length of the ending of the last added line */
	bool last_blank;         /* that line is empty: without its ending it would be no line */
	bool *explained;         /* of each hunk: the failure names it */
};

/* ---- line endings ---- */

static struct span prevailing_ending(const struct lines *base)
{
	size_t crlf = 0, lf = 0;

	for (size_t i = 0; i < base->count && i < 10000; i++) {
		size_t len = line_ending(lines_at(base, i)).len;

		crlf += len == 2;
		lf += len == 1;
	}
	return crlf > lf ? SPAN("\r\n") : SPAN("\n");
}

static bool is_faithful(const struct fixer *f)
{
	for (size_t h = 0; h < f->diff->hunk_count; h++) {
		const struct hunk *hunk = &f->diff->hunks[h];
		size_t at = f->places[h].at;

		/* A CR there was added on the way, and so were those of the lines, maybe. */
		if (hunk->header_cr)
			return false;
		for (size_t i = 0; i < f->places[h].count; i++) {
			const struct hunk_line *line = &f->diff->lines[hunk->first + i];
			struct span ending;

			if (line->op == '+')
				continue;
			ending = line_ending(lines_at(f->base, at++));
			if (ending.len && line->cr != (ending.len == 2))
				return false;
		}
	}
	return true;
}

/* The ending of a line that is added before base line `at`. */
static struct span ending_for(const struct fixer *f, const struct hunk_line *line, size_t at)
{
	struct span ending = span_of("", 0);

	if (f->faithful)
		return line->cr ? SPAN("\r\n") : SPAN("\n");
	if (at > 0 && at <= f->base->count)
		ending = line_ending(lines_at(f->base, at - 1));
	else if (at < f->base->count)
		ending = line_ending(lines_at(f->base, at));
	return ending.len ? ending : f->customary;
}

/* ---- building the script ---- */

static void fixer_close_edit(struct fixer *f)
{
	if (!f->open)
		return;
	f->open = false;
	/* A length for now: the buffer may still move. */
	f->edit.insert = span_of(NULL, f->plan->inserted.len - f->insert_from);
	script_add(&f->plan->script, f->edit);
}

/* Continues the open edit if it ends at `at`, or begins one. Text added after a
 * last line without newline needs that line again, with one. */
static void fixer_open_edit(struct fixer *f, size_t at, bool adding)
{
	struct span last;

	if (f->open && f->edit.at + f->edit.remove == at)
		return;
	fixer_close_edit(f);
	f->open = true;
	f->edit = (struct edit){ .at = at };
	f->insert_from = f->plan->inserted.len;
	if (!adding || at < f->base->count || !at)
		return;
	last = lines_at(f->base, at - 1);
	if (line_ending(last).len)
		return;
	f->edit = (struct edit){ .at = at - 1, .remove = 1 };
	f->plan->ended_by = f->hunk + 1;
	buf_span(&f->plan->inserted, last);
	buf_span(&f->plan->inserted, f->customary);
}

static void fixer_point_edits(struct fixer *f)
{
	size_t at = 0;

	for (size_t i = 0; i < f->plan->script.count; i++) {
		struct edit *edit = &f->plan->script.edits[i];

		edit->insert.data = f->plan->inserted.data ? f->plan->inserted.data + at : "";
		at += edit->insert.len;
	}
}

/* ---- the end of the file ---- */

/* What the diff says, or lets us keep, about the newline at the end: whether the last
 * added line of hunk `h`, which becomes the last of the file, is to lack one. */
static bool ends_without_newline(const struct fixer *f, size_t h)
{
	const struct hunk_line *lines = &f->diff->lines[f->diff->hunks[h].first];
	size_t count = f->places[h].count, old_left = f->places[h].old_count;
	const struct hunk_line *last_old = NULL, *last_new = NULL;
	bool base_lacks = f->base->count && !line_ending(lines_at(f->base, f->base->count - 1)).len;
	bool marked = false, consistent = true;

	for (size_t i = 0; i < count; i++) {
		marked |= lines[i].no_newline;
		if (lines[i].op != '+') {
			old_left--;
			last_old = &lines[i];
			consistent &= !lines[i].no_newline || (!old_left && base_lacks);
		}
		if (lines[i].op != '-')
			last_new = &lines[i];
	}
	if (marked && consistent)
		return last_new && last_new->no_newline;
	/* "-x" then "+x" can only be about the newline. */
	if (base_lacks && last_old && last_new && last_old->op == '-' && last_new->op == '+' &&
	    span_eq(last_old->text, last_new->text))
		return false;
	return base_lacks;
}

/* A CR at the very end of the file stays, if the diff shows none there. */
static void keep_final_cr(const struct fixer *f, size_t h)
{
	struct evidence_walk walk = evidence_walk_begin(f->diff, f->places, h);
	struct buf *inserted = &f->plan->inserted;

	while (evidence_walk_next(&walk))
		if (walk.base_line + 1 == f->base->count && span_ends(f->base->text, SPAN("\r")) &&
		    !span_ends(walk.line->text, SPAN("\r")) &&
		    !span_ends(buf_view(inserted), SPAN("\r")))
			buf_char(inserted, '\r');
}

/* ---- one hunk ---- */

/* The line of the base that an old line stands for, if it has other bytes. */
static bool say_difference(const struct fixer *f, const struct hunk_line *line, size_t base_line,
                           struct patch_failure *failure, struct buf *out)
{
	const struct line_piece piece = { .line = base_line + 1,
		                          .text = line_body(lines_at(f->base, base_line)) };

	if (span_eq(piece.text, line->text))
		return false;
	difference_say(&piece, line->text, "the diff", failure, out);
	return true;
}

/* The difference that an added line is in doubt for: that of the removed line it repeats, or the
 * first of the hunk. */
static void say_doubt(const struct fixer *f, size_t h, size_t index, struct patch_failure *failure,
                      struct buf *out)
{
	struct evidence_walk walk = evidence_walk_begin(f->diff, f->places, h);
	const struct line_pair *pair = &f->pairing.of[index];

	if (pair->removed && span_eq(pair->removed->text, f->diff->lines[index].text) &&
	    say_difference(f, pair->removed, pair->base_line, failure, out))
		return;
	while (evidence_walk_next(&walk))
		if (say_difference(f, walk.line, walk.base_line, failure, out))
			return;
}

static bool differs_from_base(const struct fixer *f, size_t h)
{
	struct evidence_walk walk = evidence_walk_begin(f->diff, f->places, h);

	while (evidence_walk_next(&walk))
		if (!span_eq(line_body(lines_at(f->base, walk.base_line)), walk.line->text))
			return true;
	return false;
}

/* The hunk that lost what makes an added line of hunk `h` doubtful: itself, or else the first that
 * differs from the file. */
static size_t hunk_at_fault(const struct fixer *f, size_t h)
{
	if (differs_from_base(f, h))
		return h;
	for (size_t other = 0; other < f->diff->hunk_count; other++)
		if (differs_from_base(f, other))
			return other;
	return h;
}

static bool cannot_adapt(const struct fixer *f, size_t of, size_t index,
                         struct patch_failure *failure, struct err *err)
{
	_cleanup_buf_ struct buf difference = BUF_INIT(ERR_MESSAGE_MAX);
	const struct hunk_line *line = &f->diff->lines[index];
	_cleanup_free_ char *shown = unseen_line(line->text, /* max= */ 80);
	const size_t h = hunk_at_fault(f, of);

	explain_hunk(f->diff, h, failure);
	say_doubt(f, h, index, failure, &difference);
	explain_hunk_lines(f->base, f->diff, h, &f->places[h], failure);
	failure->diff_line = line->diff_line;
	failure->candidates[0] = (struct patch_candidate){ f->places[h].at + 1, 0 };
	failure->candidate_count = failure->candidates_total = 1;
	return err_set(err, ERR_NO_MATCH,
	               "Invalid Diff: The provided diff content does not match the file's content. "
	               "Hunk %zu of %zu fits line %zu only when white space is ignored, so the "
	               "white space of the line added by line %zu of the diff, `%s`, cannot be "
	               "determined. Copy the lines with the file's own white space.%.*s",
	               h + 1, f->diff->hunk_count, f->places[h].at + 1, line->diff_line, shown,
	               (int)difference.len, difference.data ? difference.data : "");
}

/* The byte-order mark is not part of the base; a diff may show it or not. One that
 * removes line 1 with its mark drops it, unless the new line 1 has it, too. */
static void strip_bom(struct fixer *f, size_t start)
{
	struct buf *inserted = &f->plan->inserted;

	if (!span_starts(buf_from(inserted, start), bom))
		return;
	memmove(inserted->data + start, inserted->data + start + bom.len,
	        inserted->len - start - bom.len);
	inserted->len -= bom.len;
	f->plan->drops_bom = false;
}

static bool fixer_add_line(struct fixer *f, size_t h, size_t index, size_t at,
                           struct patch_failure *failure, struct err *err)
{
	const struct hunk_line *line = &f->diff->lines[index];
	const struct line_pair *pair = &f->pairing.of[index];
	struct span ending;
	size_t start;

	fixer_open_edit(f, at, true);
	start = f->plan->inserted.len;
	if (!adapt_line(f->adapter, h, index, &f->plan->inserted))
		return cannot_adapt(f, h, index, failure, err);
	if (f->has_bom && f->edit.at == 0 && start == f->insert_from)
		strip_bom(f, start);
	f->last_blank = f->plan->inserted.len == start;
	if (pair->likest)
		at = f->pairing.of[pair->likest - f->diff->lines].base_line + 1;
	ending = ending_for(f, line, at);
	buf_span(&f->plan->inserted, ending);
	f->last_added = ending.len;
	return true;
}

static bool fix_hunk(struct fixer *f, size_t h, struct patch_failure *failure, struct err *err)
{
	const struct hunk *hunk = &f->diff->hunks[h];
	size_t at = f->places[h].at;
	bool adds_last = false;

	f->hunk = h;
	for (size_t i = 0; i < f->places[h].count; i++) {
		size_t index = hunk->first + i;
		char op = f->diff->lines[index].op;

		adds_last = op == '+' || (adds_last && op == '-');
		if (op == '+') {
			if (!fixer_add_line(f, h, index, at, failure, err))
				return false;
			continue;
		}
		if (op == '-') {
			if (at == 0 && f->has_bom && span_starts(f->diff->lines[index].text, bom))
				f->plan->drops_bom = true;
			fixer_open_edit(f, at, false);
			f->edit.remove++;
		}
		at++;
	}
	if (at == f->base->count && adds_last && f->open && !f->last_blank &&
	    f->plan->inserted.len > f->insert_from && ends_without_newline(f, h)) {
		f->plan->inserted.len -= f->last_added;
		keep_final_cr(f, h);
	}
	return true;
}

/* The same; one answer names all the hunks that cannot be fixed. */
static bool fix_or_explain(struct fixer *f, size_t h, struct patch_failure *failure,
                           struct err *err)
{
	struct patch_failure one = { 0 };
	struct err why = ERR_INIT;

	if (fix_hunk(f, h, &one, &why))
		return true;
	if (failure->failed_total) {
		if (!f->explained[one.hunk - 1])
			explain_add_failed(failure, why.code, &one);
		f->explained[one.hunk - 1] = true;
		patch_failure_release(&one);
	} else {
		f->explained[one.hunk - 1] = true;
		*failure = one;
		explain_add_failed(failure, why.code, failure);
		*err = why;
	}
	return false;
}

/* ---- all hunks, in the order of the file ---- */

struct order {
	size_t change; /* base line of the first change */
	size_t hunk;
};

static int compare_order(const void *a, const void *b)
{
	const struct order *one = a, *other = b;

	if (one->change != other->change)
		return (one->change > other->change) - (one->change < other->change);
	return (one->hunk > other->hunk) - (one->hunk < other->hunk);
}

static struct order *file_order(const struct fixer *f)
{
	struct order *order = mem_alloc(f->diff->hunk_count, sizeof(*order));

	for (size_t h = 0; h < f->diff->hunk_count; h++) {
		size_t lead = 0;

		while (f->diff->lines[f->diff->hunks[h].first + lead].op == ' ')
			lead++;
		order[h] = (struct order){ f->places[h].at + lead, h };
	}
	qsort(order, f->diff->hunk_count, sizeof(*order), compare_order);
	return order;
}

static bool fix_once(const struct lines *base, const struct diff_text *diff,
                     const struct placement *places, bool base_has_bom, bool *explained,
                     struct patch_plan *ret, struct patch_failure *failure, struct err *err)
{
	struct fixer f = { .base = base, .diff = diff, .places = places, .plan = ret,
	                   .has_bom = base_has_bom, .customary = prevailing_ending(base),
	                   .explained = explained };
	_cleanup_free_ struct order *order = file_order(&f);
	bool ok = true;

	f.faithful = is_faithful(&f);
	pairing_make(diff, places, &f.pairing);
	f.adapter = adapt_make(base, diff, places, &f.pairing);
	for (size_t i = 0; i < diff->hunk_count; i++)
		ok &= fix_or_explain(&f, order[i].hunk, failure, err);
	fixer_close_edit(&f);
	adapt_free(f.adapter);
	pairing_release(&f.pairing);
	if (ok && ret->inserted.overflowed)
		ok = err_set(err, ERR_TOO_LARGE, "The diff adds more than %zu bytes.",
		             ret->inserted.max);
	fixer_point_edits(&f);
	return ok;
}

/* How often the remaining hunks are tried again without those that fail. */
enum { LOOKED_AGAIN = 3 };

bool fix_hunks(const struct lines *base, const struct diff_text *diff,
               const struct placement *places, bool base_has_bom, struct patch_plan *ret,
               struct patch_failure *failure, struct err *err)
{
	_cleanup_free_ bool *explained = mem_alloc(diff->hunk_count, sizeof(*explained));
	_cleanup_free_ struct placement *left = NULL;

	if (fix_once(base, diff, places, base_has_bom, explained, ret, failure, err))
		return true;
	if (!failure->failed_total)
		return false;
	/* Damage that a hunk shares with the others is no longer visible once it is corrected. */
	left = mem_alloc(diff->hunk_count, sizeof(*left));
	memcpy(left, places, diff->hunk_count * sizeof(*left));
	for (int i = 0; i < LOOKED_AGAIN; i++) {
		struct patch_plan rest = { .inserted = BUF_INIT(ret->inserted.max) };
		struct err ignored = ERR_INIT;
		bool ok;

		for (size_t h = 0; h < diff->hunk_count; h++)
			if (explained[h])
				left[h] = (struct placement){ 0 };
		ok = fix_once(base, diff, left, base_has_bom, explained, &rest, failure, &ignored);
		script_release(&rest.script);
		buf_release(&rest.inserted);
		if (ok)
			break;
	}
	return false;
}
