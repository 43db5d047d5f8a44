/* SPDX-License-Identifier: Apache-2.0 */
/* Carrying out plans. */
#include "search/match/plan.h"

#include <string.h>

/* Lines given to the engine at once. The more, the fewer steps it may take (engine.h). */
#define REGION_BYTES ((size_t)8 << 10)
/* Bytes beside a literal that are enough to tell what character is there. */
#define WORD_CONTEXT 8

struct line {
	size_t start, end; /* `end` is before the line end */
	size_t next;       /* where the next line starts */
};

void plan_release(struct plan *plan)
{
	engine_free(plan->engine);
	literal_set_free(plan->set);
}

/* ---- lines ---- */

static size_t line_start(struct span text, size_t at)
{
	const char *lf = at > 0 ? memrchr(text.data, '\n', at) : NULL;

	return lf ? (size_t)(lf - text.data) + 1 : 0;
}

static size_t next_line(struct span text, size_t at)
{
	const char *lf = memchr(text.data + at, '\n', text.len - at);

	return lf ? (size_t)(lf - text.data) + 1 : text.len;
}

static size_t body_end(const struct plan *plan, struct span text, size_t start, size_t next)
{
	size_t end = next;

	if (end == start || text.data[end - 1] != '\n')
		return end;
	end--;
	if (!plan->keep_cr && end > start && text.data[end - 1] == '\r')
		end--;
	return end;
}

/* The line that has the byte at `at`, which is below text.len.  A line with many matches is
 * not looked for with each of them (matcher.h: the text stays as it is meanwhile). */
static struct line line_at(const struct plan *plan, struct plan_scratch *scratch,
                           struct span text, size_t at)
{
	struct known_line *known = &scratch->line;

	if (known->data != text.data || known->len != text.len || at < known->start ||
	    at >= known->next) {
		known->data = text.data;
		known->len = text.len;
		known->start = line_start(text, at);
		known->next = next_line(text, at);
	}
	return (struct line){ known->start, body_end(plan, text, known->start, known->next),
		              known->next };
}

static enum match_outcome shifted(enum match_outcome outcome, size_t by, struct match *match)
{
	if (outcome == MATCH_FOUND) {
		match->start += by;
		match->end += by;
	}
	return outcome;
}

static enum match_outcome find_in_line(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, struct line line, size_t from,
                                       struct match *ret)
{
	struct span body = span_of(text.data + line.start, line.end - line.start);

	if (from > line.end)
		return MATCH_NONE;
	from = from > line.start ? from - line.start : 0;
	return shifted(engine_find(plan->engine, scratch->engine, body, from, ret), line.start,
	               ret);
}

/* Line by line, those that begin before `end`. */
static enum match_outcome find_in_lines(const struct plan *plan, struct plan_scratch *scratch,
                                        struct span text, size_t from, size_t end,
                                        struct match *ret)
{
	while (from < end) {
		struct line line = line_at(plan, scratch, text, from);
		enum match_outcome outcome = find_in_line(plan, scratch, text, line, from, ret);

		if (outcome != MATCH_NONE)
			return outcome;
		from = line.next;
	}
	return MATCH_NONE;
}

/* ---- literals ---- */

/* A place in the first line at or after `from` that has what a match must contain. */
static const char *find_candidate(const struct plan *plan, struct plan_scratch *scratch,
                                  struct span text, size_t from)
{
	const char *at = text.data + from, *end = text.data + text.len;
	const char *hit = plan->set ? literal_set_find(plan->set, at, end)
	                            : literal_find(&plan->literal, at, end);

	scratch->tried |= hit != NULL;
	return hit;
}

static enum match_outcome find_by_candidates(const struct plan *plan,
                                             struct plan_scratch *scratch, struct span text,
                                             size_t from, struct match *ret)
{
	while (from < text.len) {
		const char *hit = find_candidate(plan, scratch, text, from);
		enum match_outcome outcome;
		struct line line;

		if (!hit)
			return MATCH_NONE;
		line = line_at(plan, scratch, text, (size_t)(hit - text.data));
		outcome = find_in_line(plan, scratch, text, line, from, ret);
		if (outcome != MATCH_NONE)
			return outcome;
		from = line.next;
	}
	return MATCH_NONE;
}

enum word_byte { NO_WORD, IN_WORD, UNKNOWN_WORD };

/* The byte at `at`, or none: whether it is part of a word; beyond ASCII it is not known. */
static enum word_byte word_byte(struct span text, size_t at)
{
	unsigned char c;

	if (at >= text.len)
		return NO_WORD;
	c = (unsigned char)text.data[at];
	if (c >= 0x80)
		return UNKNOWN_WORD;
	c |= c >= '@' ? 0x20 : 0;
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || text.data[at] == '_' ? IN_WORD
	                                                                                : NO_WORD;
}

/* Whether the literal at `at` is a word by itself, beside characters beyond ASCII: the engine
 * sees as much around it as a character can be long, and some more. */
static enum match_outcome find_word_at(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, size_t at)
{
	size_t start = at > WORD_CONTEXT ? at - WORD_CONTEXT : 0;
	struct span around = span_head(span_skip(text, start),
	                               at - start + plan->literal.text.len + WORD_CONTEXT);
	struct match match = { 0, 0 };
	enum match_outcome outcome =
		engine_find(plan->engine, scratch->engine, around, at - start, &match);

	return outcome == MATCH_FOUND && match.start != at - start ? MATCH_NONE : outcome;
}

static enum match_outcome judge_word(const struct plan *plan, struct plan_scratch *scratch,
                                     struct span text, size_t at)
{
	enum word_byte before = at > 0 ? word_byte(text, at - 1) : NO_WORD;
	enum word_byte after = word_byte(text, at + plan->literal.text.len);

	if (before == IN_WORD || after == IN_WORD)
		return MATCH_NONE;
	if (before == NO_WORD && after == NO_WORD)
		return MATCH_FOUND;
	return find_word_at(plan, scratch, text, at);
}

static enum match_outcome find_word(const struct plan *plan, struct plan_scratch *scratch,
                                    struct span text, size_t from, struct match *ret)
{
	while (from < text.len) {
		const char *hit = find_candidate(plan, scratch, text, from);
		enum match_outcome outcome;
		size_t at;

		if (!hit)
			return MATCH_NONE;
		at = (size_t)(hit - text.data);
		outcome = judge_word(plan, scratch, text, at);
		if (outcome == MATCH_FOUND)
			*ret = (struct match){ at, at + plan->literal.text.len };
		if (outcome != MATCH_NONE)
			return outcome;
		from = at + 1;
	}
	return MATCH_NONE;
}

static enum match_outcome find_literal(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, size_t from, struct match *ret)
{
	const char *hit;

	if (plan->whole_word)
		return find_word(plan, scratch, text, from, ret);
	hit = find_candidate(plan, scratch, text, from);
	if (!hit)
		return MATCH_NONE;
	ret->start = (size_t)(hit - text.data);
	ret->end = ret->start + plan->literal.text.len;
	return MATCH_FOUND;
}

/* ---- many lines at once ---- */

/* The end of the lines that begin at `at` and take up about REGION_BYTES. */
static size_t region_end(struct span text, size_t at)
{
	size_t end;

	if (REGION_BYTES >= text.len - at)
		return text.len;
	end = line_start(text, at + REGION_BYTES);
	return end > at ? end : next_line(text, at + REGION_BYTES);
}

/* The lines around `at`; they are looked over once, not with each match in them. */
static struct region *region_at(const struct plan *plan, struct plan_scratch *scratch,
                                struct span text, size_t at)
{
	struct region *region = &scratch->region;

	if (region->start <= at && at < region->next && region->data == text.data &&
	    region->len == text.len)
		return region;
	region->data = text.data;
	region->len = text.len;
	region->start = line_at(plan, scratch, text, at).start;
	region->next = region_end(text, region->start);
	region->survey = survey_text(
		span_of(text.data + region->start, region->next - region->start));
	/* The engine takes a CR for a part of the line. */
	region->by_lines = region->survey.has_cr && !plan->keep_cr;
	return region;
}

static enum match_outcome find_in_region(const struct plan *plan, struct plan_scratch *scratch,
                                         struct span text, size_t from, struct region *region,
                                         struct match *ret)
{
	size_t end = region->next - (text.data[region->next - 1] == '\n');
	struct span body = span_of(text.data + region->start, end - region->start);
	enum match_outcome outcome = MATCH_TOO_HARD;

	if (!region->by_lines)
		outcome = engine_find_quick(plan->engine, scratch->engine, body,
		                            from - region->start, &region->survey, ret);
	if (outcome != MATCH_TOO_HARD)
		return shifted(outcome, region->start, ret);
	region->by_lines = true;
	return find_in_lines(plan, scratch, text, from, region->next, ret);
}

static enum match_outcome find_in_buffer(const struct plan *plan, struct plan_scratch *scratch,
                                         struct span text, size_t from, struct match *ret)
{
	while (from < text.len) {
		struct region *region = region_at(plan, scratch, text, from);
		enum match_outcome outcome =
			find_in_region(plan, scratch, text, from, region, ret);

		if (outcome != MATCH_NONE)
			return outcome;
		from = region->next;
	}
	return MATCH_NONE;
}

/* ---- matches of several lines ---- */

static enum match_outcome find_in_text(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, size_t from, struct match *ret)
{
	bool ends = text.len == 0 || text.data[text.len - 1] == '\n';
	struct match match = { 0, 0 };
	enum match_outcome outcome;

	if (from == text.len && ends)
		return MATCH_NONE;
	if ((plan->set || plan->has_literal) && !find_candidate(plan, scratch, text, from))
		return MATCH_NONE;
	outcome = engine_find(plan->engine, scratch->engine, text, from, &match);
	/* No line begins after the last LF. */
	if (outcome == MATCH_FOUND && match.start == text.len && ends)
		return MATCH_NONE;
	if (outcome == MATCH_FOUND)
		*ret = match;
	return outcome;
}

static enum match_outcome find_by_lines(const struct plan *plan, struct plan_scratch *scratch,
                                        struct span text, size_t from, struct match *ret)
{
	return find_in_lines(plan, scratch, text, from, text.len, ret);
}

/* After the last byte: where that is no LF, it is still the last line. */
static enum match_outcome find_at_end(const struct plan *plan, struct plan_scratch *scratch,
                                      struct span text, struct match *ret)
{
	struct line line;

	if (text.len == 0 || text.data[text.len - 1] == '\n')
		return MATCH_NONE;
	line = line_at(plan, scratch, text, text.len - 1);
	return find_in_line(plan, scratch, text, line, text.len, ret);
}

static enum match_outcome find(const struct plan *plan, struct plan_scratch *scratch,
                               struct span text, size_t from, struct match *ret)
{
	static const struct {
		enum match_outcome (*find)(const struct plan *, struct plan_scratch *,
		                           struct span, size_t, struct match *);
		bool may_be_empty; /* a match */
	} ways[] = {
		[PLAN_LINES] = { find_by_lines, true },
		[PLAN_LITERAL] = { find_literal, false },
		[PLAN_CANDIDATES] = { find_by_candidates, false },
		[PLAN_BUFFER] = { find_in_buffer, true },
		[PLAN_MULTILINE] = { find_in_text, true },
	};

	scratch->tried = plan->kind == PLAN_LINES || plan->kind == PLAN_BUFFER ||
	                 plan->wide_literals || !(plan->set || plan->has_literal);
	if (from >= text.len) {
		if (from > text.len || !ways[plan->kind].may_be_empty)
			return MATCH_NONE;
		if (plan->kind != PLAN_MULTILINE)
			return find_at_end(plan, scratch, text, ret);
	}
	return ways[plan->kind].find(plan, scratch, text, from, ret);
}

static void forget(struct plan_scratch *scratch)
{
	scratch->line.data = NULL;
	scratch->region.data = NULL;
}

enum match_outcome plan_find(const struct plan *plan, struct plan_scratch *scratch,
                             struct span text, size_t from, struct match *ret)
{
	enum match_outcome outcome;

	if (from == 0) {
		forget(scratch);
		if (scratch->engine)
			engine_new_text(scratch->engine);
	}
	outcome = find(plan, scratch, text, from, ret);
	/* What comes after the last match may be another text in the same place. */
	if (outcome != MATCH_FOUND)
		forget(scratch);
	return outcome;
}
