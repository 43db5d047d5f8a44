/* SPDX-License-Identifier: Apache-2.0 */
#include "patch/adapt.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/indent.h"
#include "patch/transfer.h"

/* Lines of the file around a hunk whose indentations count as its style. */
enum { STYLE_LINES = 40 };

/* Classes of look-alikes, as bits: what kinds the diff was seen to have changed. */
enum { CLASS_QUOTE = 1, CLASS_DASH = 2, CLASS_SPACE = 4, CLASS_DOTS = 8, CLASS_INVISIBLE = 16 };

/* What was inferred for one hunk. */
struct hunk_rules {
	struct indent_pair *pairs; /* owned */
	size_t pair_count;
	struct indent_rule indent;
	bool trim_end;             /* the diff has white space at line ends that the file lacks */
};

struct adapter {
	const struct lines *base;
	const struct diff_text *diff;
	const struct placement *places;
	struct hunk_rules *hunks;  /* one per hunk */
	unsigned lookalikes;       /* classes that the diff has and the file has as ASCII */
	bool tabs_added;           /* an added line somewhere is indented with tabs */
	struct buf scratch;
};

/* ---- walking a hunk ---- */

struct walk {
	size_t line;       /* index into diff->lines */
	size_t base_line;  /* of an old line */
	size_t end;
	size_t next_base;
};

static struct walk walk_hunk(const struct adapter *a, size_t h)
{
	size_t first = a->diff->hunks[h].first;

	return (struct walk){ .line = first - 1, .end = first + a->places[h].count,
	                      .next_base = a->places[h].at };
}

/* Moves to the next old line. */
static bool walk_old(const struct adapter *a, struct walk *w)
{
	for (w->line++; w->line < w->end; w->line++)
		if (a->diff->lines[w->line].op != '+') {
			w->base_line = w->next_base++;
			return true;
		}
	return false;
}

static bool is_blank(struct span text)
{
	return span_trim(text).len == 0;
}

/* ---- evidence: indentation ---- */

/* Pairs of the lines with marker `op` (0: any) of hunk `h`. */
static void collect_pairs(struct adapter *a, size_t h, char op, struct hunk_rules *rules)
{
	struct walk w = walk_hunk(a, h);
	size_t cap = rules->pair_count;

	while (walk_old(a, &w)) {
		const struct hunk_line *line = &a->diff->lines[w.line];

		if (is_blank(line->text) || (op && line->op != op))
			continue;
		rules->pairs = mem_grow(rules->pairs, &cap, rules->pair_count + 1,
		                        sizeof(*rules->pairs));
		rules->pairs[rules->pair_count++] = (struct indent_pair){
			indent_of_line(line->text),
			indent_of_line(line_body(lines_at(a->base, w.base_line)))
		};
	}
}

static bool says_something(const struct hunk_rules *rules)
{
	for (size_t i = 0; i < rules->pair_count; i++)
		if (rules->pairs[i].diff.len || rules->pairs[i].file.len)
			return true;
	return false;
}

/* How many added lines of the hunk would be indented like lines of the file near it. */
static size_t style_score(struct adapter *a, size_t h, const struct indent_rule *rule)
{
	const struct hunk *hunk = &a->diff->hunks[h];
	size_t at = a->places[h].at, score = 0;
	size_t from = at > STYLE_LINES ? at - STYLE_LINES : 0;
	size_t to = at + a->places[h].old_count + STYLE_LINES;
	_cleanup_buf_ struct buf indent = BUF_INIT(LIMIT_DIFF_BYTES);

	if (to > a->base->count)
		to = a->base->count;
	for (size_t i = 0; i < a->places[h].count; i++) {
		const struct hunk_line *line = &a->diff->lines[hunk->first + i];
		bool found = false;

		buf_clear(&indent);
		if (line->op != '+' || is_blank(line->text) ||
		    !indent_undo(rule, indent_of_line(line->text), &indent))
			continue;
		for (size_t b = from; b < to && !found; b++) {
			struct span body = line_body(lines_at(a->base, b));

			found = !is_blank(body) && span_eq(indent_of_line(body), buf_view(&indent));
		}
		score += found;
	}
	return score;
}

/* Context lines tell what was done to them; whether it was done to the added
 * lines, too, is decided by which reading looks more like the file. */
static struct indent_rule weigh_context(struct adapter *a, size_t h, struct indent_rule rule)
{
	static const struct indent_rule same = { .kind = INDENT_SAME };
	size_t undone, literal;

	if (rule.kind == INDENT_SAME)
		return rule;
	if (rule.kind == INDENT_TABS)
		return a->tabs_added ? same : rule;
	undone = style_score(a, h, &rule);
	literal = style_score(a, h, &same);
	if (literal > undone)
		return same;
	/* A lost marker takes one space from a context line only. */
	if (literal == undone && rule.kind == INDENT_ADD && rule.prefix.len == 1)
		return same;
	return rule;
}

static void infer_indent(struct adapter *a, size_t h)
{
	struct hunk_rules *rules = &a->hunks[h];

	collect_pairs(a, h, '-', rules);
	if (says_something(rules)) {
		rules->indent = indent_infer(rules->pairs, rules->pair_count);
		if (rules->indent.kind == INDENT_TABS && a->tabs_added)
			rules->indent.kind = INDENT_SAME;
		return;
	}
	rules->pair_count = 0;
	collect_pairs(a, h, 0, rules);
	rules->indent = weigh_context(a, h, indent_infer(rules->pairs, rules->pair_count));
}

/* A hunk whose own lines are not indented says nothing; what the other hunks
 * say about tabs holds for it, too. */
static void share_indent(struct adapter *a)
{
	const struct hunk_rules *telling = NULL;

	for (size_t h = 0; h < a->diff->hunk_count; h++)
		if (a->hunks[h].indent.kind == INDENT_TABS || a->hunks[h].indent.kind == INDENT_SPACES)
			telling = &a->hunks[h];
	for (size_t h = 0; h < a->diff->hunk_count && telling; h++)
		if (a->hunks[h].indent.kind == INDENT_SAME && !says_something(&a->hunks[h]))
			a->hunks[h].indent = telling->indent;
}

/* ---- evidence: line ends ---- */

static bool ends_in_space(struct span text)
{
	return text.len && fold_is_space(text.data[text.len - 1]);
}

static void infer_trim(struct adapter *a, size_t h)
{
	const struct hunk *hunk = &a->diff->hunks[h];
	size_t removed = 0, removed_spaced = 0, context = 0, spaced = 0;
	struct walk w = walk_hunk(a, h);
	bool all_added = true;

	while (walk_old(a, &w)) {
		const struct hunk_line *line = &a->diff->lines[w.line];
		bool more = ends_in_space(line->text) &&
		            !ends_in_space(line_body(lines_at(a->base, w.base_line)));

		if (is_blank(line->text))
			continue;
		(*(line->op == '-' ? &removed : &context))++;
		(*(line->op == '-' ? &removed_spaced : &spaced)) += more;
	}
	for (size_t i = 0; i < a->places[h].count; i++) {
		const struct hunk_line *line = &a->diff->lines[hunk->first + i];

		if (line->op == '+' && !is_blank(line->text))
			all_added &= ends_in_space(line->text);
	}
	a->hunks[h].trim_end = removed ? removed == removed_spaced
	                               : context && context == spaced && all_added;
}

/* ---- evidence: look-alikes ---- */

static unsigned class_of(const char *ascii)
{
	switch (*ascii) {
	case '"':
	case '\'':
		return CLASS_QUOTE;
	case '-':
		return CLASS_DASH;
	case ' ':
		return CLASS_SPACE;
	case '.':
		return CLASS_DOTS;
	default:
		return CLASS_INVISIBLE;
	}
}

/* The classes of look-alikes in a text. */
static unsigned classes_in(struct span text)
{
	unsigned classes = 0;

	while (text.len) {
		uint32_t code;
		size_t len = utf8_decode(text, &code);
		const char *ascii = len > 1 ? fold_lookalike(code) : NULL;

		if (ascii)
			classes |= class_of(ascii);
		text = span_skip(text, len ? len : 1);
	}
	return classes;
}

static unsigned lookalikes_of(const struct adapter *a, char op)
{
	unsigned classes = 0;

	for (size_t h = 0; h < a->diff->hunk_count; h++) {
		struct walk w = walk_hunk(a, h);

		if (a->places[h].fold < FOLD_LOOKALIKE_COLLAPSE)
			continue;
		while (walk_old(a, &w))
			if (a->diff->lines[w.line].op == op)
				classes |= classes_in(a->diff->lines[w.line].text) &
				           ~classes_in(line_body(lines_at(a->base, w.base_line)));
	}
	return classes;
}

/* ---- the adapter ---- */

static bool is_needed(const struct adapter *a)
{
	for (size_t h = 0; h < a->diff->hunk_count; h++)
		if (a->places[h].fold != FOLD_EXACT)
			return true;
	return false;
}

static void find_added_tabs(struct adapter *a)
{
	for (size_t i = 0; i < a->diff->line_count; i++) {
		struct span indent = indent_of_line(a->diff->lines[i].text);

		if (a->diff->lines[i].op == '+' && indent.len && memchr(indent.data, '\t', indent.len))
			a->tabs_added = true;
	}
}

struct adapter *adapter_make(const struct lines *base, const struct diff_text *diff,
                             const struct placement *places)
{
	struct adapter *a = mem_alloc(1, sizeof(*a));

	*a = (struct adapter){ .base = base, .diff = diff, .places = places,
	                       .scratch = BUF_INIT(LIMIT_FILE_BYTES) };
	a->hunks = mem_alloc(diff->hunk_count, sizeof(*a->hunks));
	if (!is_needed(a))
		return a;
	find_added_tabs(a);
	for (size_t h = 0; h < diff->hunk_count; h++) {
		infer_indent(a, h);
		infer_trim(a, h);
	}
	share_indent(a);
	a->lookalikes = lookalikes_of(a, '-') | lookalikes_of(a, ' ');
	return a;
}

void adapter_free(struct adapter *a)
{
	for (size_t h = 0; h < a->diff->hunk_count; h++)
		free(a->hunks[h].pairs);
	free(a->hunks);
	buf_release(&a->scratch);
	free(a);
}

/* Appends text with the look-alikes of the classes that were seen damaged as ASCII. */
static void put_text(void *context, struct span text, struct buf *out)
{
	const struct adapter *a = context;

	while (text.len) {
		uint32_t code;
		size_t len = utf8_decode(text, &code);
		const char *ascii = len > 1 ? fold_lookalike(code) : NULL;

		if (ascii && (class_of(ascii) & a->lookalikes))
			buf_str(out, ascii);
		else
			buf_append(out, text.data, len ? len : 1);
		text = span_skip(text, len ? len : 1);
	}
}

/* The indentation as the line that is replaced has it, when the diff gives both the same. */
static bool indent_like_removed(struct span indent, const struct hunk_line *removed,
                                const struct span *body, struct buf *out)
{
	if (!removed || is_blank(removed->text) ||
	    !span_eq(indent_of_line(removed->text), indent))
		return false;
	return buf_span(out, indent_of_line(*body));
}

bool adapter_line(struct adapter *a, size_t h, size_t index, const struct hunk_line *removed,
                  const struct span *body, struct buf *out)
{
	struct span text = a->diff->lines[index].text;
	const struct hunk_rules *rules = &a->hunks[h];
	struct span indent, rest;

	if (a->places[h].fold == FOLD_EXACT && rules->indent.kind == INDENT_SAME && !a->lookalikes)
		return buf_span(out, text);
	if (is_blank(text)) {
		if (rules->indent.kind == INDENT_STRIP && span_starts(text, rules->indent.prefix))
			text = span_skip(text, rules->indent.prefix.len);
		return buf_span(out, rules->trim_end ? span_head(text, 0) : text);
	}
	if (rules->trim_end)
		while (ends_in_space(text))
			text.len--;
	/* No-break spaces in front are indentation that was damaged, too. */
	if (a->lookalikes & CLASS_SPACE) {
		buf_clear(&a->scratch);
		put_text(a, text, &a->scratch);
		text = buf_view(&a->scratch);
	}
	indent = indent_of_line(text);
	rest = span_skip(text, indent.len);
	if (!indent_like_removed(indent, removed, body, out) &&
	    !indent_undo(&rules->indent, indent, out))
		return false;
	if (removed && a->places[h].fold != FOLD_EXACT) {
		_cleanup_buf_ struct buf scratch = BUF_INIT(LIMIT_FILE_BYTES);
		struct span old = span_skip(removed->text, indent_of_line(removed->text).len);
		struct span file = span_skip(*body, indent_of_line(*body).len);

		if (!span_eq(old, file) &&
		    transfer_line(old, file, rest, out, &scratch, put_text, a))
			return true;
	}
	put_text(a, rest, out);
	return true;
}
