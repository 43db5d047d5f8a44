/* SPDX-License-Identifier: Apache-2.0 */
/* A matcher: the plan of what is searched for, and carrying it out. */
#include "search/match/matcher.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "search/match/engine.h"
#include "search/match/literal.h"
#include "search/match/regex.h"

/* ---- the ways to find a pattern in a text, as the matcher chose them ---- */

/* All but PLAN_MULTILINE give what the engine gives for each line alone, the first line that
 * has a match; they differ in how many lines the engine sees. */

enum plan_kind {
	PLAN_LINES,      /* the engine on every line */
	PLAN_LITERAL,    /* `literal` is the pattern; the engine only judges word ends */
	PLAN_CANDIDATES, /* the engine on lines that have `literal`, or one of `set` */
	PLAN_BUFFER,     /* the engine, whose pattern never leaves a line, on many lines together */
	PLAN_MULTILINE,  /* the engine on the whole text, if it has `literal` or one of `set` */
};

struct plan {
	enum plan_kind kind;
	struct engine *engine;   /* owned; NULL for a PLAN_LITERAL that is no word */
	struct literal literal;
	struct literal_set *set; /* owned; outranks `literal` */
	bool has_literal;        /* `literal` is there */
	bool wide_literals;      /* one has characters beyond ASCII: other bytes elsewhere */
	bool whole_word;
	bool keep_cr;            /* the CR of CR LF is part of the line */
};

/* What was found out about a text lately; forgotten when a search begins at its start, or has
 * found nothing. */
struct known_line {
	const char *data; /* the text; NULL: nothing is known */
	size_t len;
	size_t start, next;
};

struct line_region {
	const char *data; /* as in known_line */
	size_t len;
	size_t start, next; /* whole lines */
	struct survey survey;
	bool by_lines;      /* the engine cannot have them together */
};

struct plan_scratch {
	struct engine_scratch *engine; /* owned; NULL without an engine */
	struct known_line line;
	struct line_region region;
	bool tried;                    /* matcher_tried */
};

/* Lines given to the engine in one call. The more, the fewer steps it may take (engine.h). */
#define REGION_BYTES ((size_t)8 << 10)
/* Bytes on each side of a literal that are enough to decode the character there. */
#define WORD_CONTEXT 8

struct matcher_line {
	size_t start, end; /* `end` is before the line end */
	size_t next;       /* where the next line starts */
};

static void plan_release(struct plan *plan)
{
	engine_free(plan->engine);
	literal_set_free(plan->set);
}

/* ---- lines ---- */

static size_t matcher_line_start(struct span text, size_t at)
{
	const char *lf = at > 0 ? memrchr(text.data, '\n', at) : NULL;

	return lf ? (size_t)(lf - text.data) + 1 : 0;
}

static size_t matcher_next_line(struct span text, size_t at)
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
static struct matcher_line line_at(const struct plan *plan, struct plan_scratch *scratch,
                           struct span text, size_t at)
{
	struct known_line *known = &scratch->line;

	if (known->data != text.data || known->len != text.len || at < known->start ||
	    at >= known->next) {
		known->data = text.data;
		known->len = text.len;
		known->start = matcher_line_start(text, at);
		known->next = matcher_next_line(text, at);
	}
	return (struct matcher_line){ known->start, body_end(plan, text, known->start, known->next),
		              known->next };
}

static enum match_outcome shifted(enum match_outcome outcome, size_t by, struct text_match *match)
{
	if (outcome == MATCH_FOUND) {
		match->start += by;
		match->end += by;
	}
	return outcome;
}

static enum match_outcome find_in_line(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, struct matcher_line line, size_t from,
                                       struct text_match *ret)
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
                                        struct text_match *ret)
{
	while (from < end) {
		struct matcher_line line = line_at(plan, scratch, text, from);
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
                                             size_t from, struct text_match *ret)
{
	while (from < text.len) {
		const char *hit = find_candidate(plan, scratch, text, from);
		enum match_outcome outcome;
		struct matcher_line line;

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
	return (c >= 'a' && c <= 'z') || ascii_is_digit(c) || text.data[at] == '_' ? IN_WORD
	                                                                                : NO_WORD;
}

/* Whether the literal at `at`, next to characters beyond ASCII, is a whole word: the engine
 * sees as much around it as a character can be long, and some more. */
static enum match_outcome find_word_at(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, size_t at)
{
	size_t start = at > WORD_CONTEXT ? at - WORD_CONTEXT : 0;
	struct span around = span_head(span_skip(text, start),
	                               at - start + plan->literal.text.len + WORD_CONTEXT);
	struct text_match match = { 0, 0 };
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
                                    struct span text, size_t from, struct text_match *ret)
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
			*ret = (struct text_match){ at, at + plan->literal.text.len };
		if (outcome != MATCH_NONE)
			return outcome;
		from = at + 1;
	}
	return MATCH_NONE;
}

static enum match_outcome find_literal(const struct plan *plan, struct plan_scratch *scratch,
                                       struct span text, size_t from, struct text_match *ret)
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

/* ---- many lines in one call ---- */

/* The end of the lines that begin at `at` and take up about REGION_BYTES. */
static size_t region_end(struct span text, size_t at)
{
	size_t end;

	if (REGION_BYTES >= text.len - at)
		return text.len;
	end = matcher_line_start(text, at + REGION_BYTES);
	return end > at ? end : matcher_next_line(text, at + REGION_BYTES);
}

/* The lines around `at`; they are looked over once, not with each match in them. */
static struct line_region *region_at(const struct plan *plan, struct plan_scratch *scratch,
                                struct span text, size_t at)
{
	struct line_region *region = &scratch->region;

	if (region->start <= at && at < region->next && region->data == text.data &&
	    region->len == text.len)
		return region;
	region->data = text.data;
	region->len = text.len;
	region->start = line_at(plan, scratch, text, at).start;
	region->next = region_end(text, region->start);
	region->survey = literal_survey(
		span_of(text.data + region->start, region->next - region->start));
	/* The engine takes a CR for a part of the line. */
	region->by_lines = region->survey.has_cr && !plan->keep_cr;
	return region;
}

static enum match_outcome find_in_region(const struct plan *plan, struct plan_scratch *scratch,
                                         struct span text, size_t from, struct line_region *region,
                                         struct text_match *ret)
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
                                         struct span text, size_t from, struct text_match *ret)
{
	while (from < text.len) {
		struct line_region *region = region_at(plan, scratch, text, from);
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
                                       struct span text, size_t from, struct text_match *ret)
{
	bool ends = text.len == 0 || text.data[text.len - 1] == '\n';
	struct text_match match = { 0, 0 };
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
                                        struct span text, size_t from, struct text_match *ret)
{
	return find_in_lines(plan, scratch, text, from, text.len, ret);
}

static enum match_outcome plan_find_by_kind(const struct plan *plan,
                                            struct plan_scratch *scratch, struct span text,
                                            size_t from, struct text_match *ret)
{
	static const struct {
		enum match_outcome (*find)(const struct plan *, struct plan_scratch *,
		                           struct span, size_t, struct text_match *);
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
		if (plan->kind != PLAN_MULTILINE) {
			/* After the last byte: where that is no LF, it is still the last line. */
			struct matcher_line line;

			if (text.len == 0 || text.data[text.len - 1] == '\n')
				return MATCH_NONE;
			line = line_at(plan, scratch, text, text.len - 1);
			return find_in_line(plan, scratch, text, line, text.len, ret);
		}
	}
	return ways[plan->kind].find(plan, scratch, text, from, ret);
}

static void scratch_forget_lines(struct plan_scratch *scratch)
{
	scratch->line.data = NULL;
	scratch->region.data = NULL;
}

/* ---- making a plan ---- */

/* A literal that is met more often than this (literal_text_rank) saves no work: looking at
 * 128 bytes of text costs as much as looking at one line by itself. */
#define RANK_USELESS (-56)

/* Longer texts are not compared at place after place: of what is looked for as a candidate this
 * much is enough, and a literal that is no more than that is left to a search that is linear
 * in any text (literal.h). */
#define CANDIDATE_BYTES_MAX 256

struct matcher {
	struct plan plan;
	struct regex_facts facts;
	bool ignore_case, multiline, needs_decoding;
};

struct matcher_scratch {
	struct plan_scratch plan;
};

static bool check_pattern(const struct matcher_options *options, struct err *err)
{
	struct span pattern = options->pattern;
	bool line_end;

	if (pattern.len == 0 || pattern.len > LIMIT_PATTERN_BYTES)
		return err_set(err, ERR_INVALID_ARGUMENT, "A pattern has 1 to %zu bytes.",
		               LIMIT_PATTERN_BYTES);
	if (memchr(pattern.data, '\0', pattern.len) || !utf8_valid(pattern))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "A pattern is UTF-8 text without NUL bytes.");
	if (!options->literal && regex_has_settings(pattern))
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The pattern begins with a setting (*...), which is not supported.");
	line_end = options->literal ? memchr(pattern.data, '\n', pattern.len) != NULL
	                            : regex_asks_for_line_end(pattern);
	if (line_end && !options->multiline)
		return err_set(err, ERR_INVALID_ARGUMENT,
		               "The pattern asks for a line end, but matches stay within their "
		               "line unless multiline is set.");
	return true;
}

static bool ignores_case(const struct matcher_options *options, struct span regex)
{
	if (options->cases == CASE_IGNORE)
		return true;
	if (!options->literal && regex_switches_case_off(regex))
		return true;
	return options->cases == CASE_SMART && regex_is_lower(regex);
}

static struct engine_options engine_options(const struct matcher_options *options,
                                            struct span regex, bool ignore_case)
{
	return (struct engine_options){
		.pattern = regex,
		.ignore_case = ignore_case,
		.whole_word = options->whole_word,
		.whole_line = options->whole_line,
		.any_line_end = options->multiline,
	};
}

/* Whether PCRE2 accepts the pattern: as it is, so that errors tell where they are. */
static bool check_regex(struct span regex, bool multiline, struct err *err)
{
	struct engine_options options = { .pattern = regex,
		                          .any_line_end = multiline,
		                          .no_jit = true };
	struct engine *engine;

	if (!engine_compile(&options, &engine, err))
		return false;
	engine_free(engine);
	return true;
}

/* The rarest literal of an alternative. */
static struct span rarest(const struct matcher_alternative *alternative)
{
	struct span best = alternative->literals[0];

	for (size_t i = 1; i < alternative->count; i++) {
		if (literal_text_rank(alternative->literals[i]) < literal_text_rank(best))
			best = alternative->literals[i];
	}
	return best;
}

/* Literals one of which is in each match; the number of them, 0 when that is no help. */
static size_t choose_literals(const struct matcher_needs *needs,
                              struct span ret[static LITERAL_SET_MAX], int *ret_rank)
{
	size_t count = 0;

	*ret_rank = RANK_RAREST;
	for (size_t i = 0; i < needs->count; i++) {
		struct span text = rarest(&needs->alternatives[i]);
		bool known = false;

		for (size_t k = 0; k < count && !known; k++)
			known = span_eq(ret[k], text);
		if (known)
			continue;
		if (count == LITERAL_SET_MAX)
			return 0;
		ret[count++] = text;
		if (literal_text_rank(text) > *ret_rank)
			*ret_rank = literal_text_rank(text);
	}
	return count;
}

static bool is_ascii(struct span text)
{
	return literal_survey(text).ascii;
}

/* Whether the literal search can do without the engine, or nearly so. */
static bool is_literal(const struct matcher *matcher, const struct matcher_options *options)
{
	size_t len = matcher->facts.literal.len;
	bool plain = !options->whole_word && !matcher->ignore_case;

	return len > 0 && !options->whole_line && (len <= CANDIDATE_BYTES_MAX || plain);
}

static void plan_literals(struct matcher *matcher, const struct matcher_options *options,
                          int *ret_rank)
{
	struct span texts[LITERAL_SET_MAX];
	struct plan *plan = &matcher->plan;
	size_t count = choose_literals(&matcher->facts.needs, texts, ret_rank);

	for (size_t i = 0; i < count; i++)
		texts[i] = span_head(texts[i], CANDIDATE_BYTES_MAX);
	if (is_literal(matcher, options)) {
		texts[0] = matcher->facts.literal;
		count = 1;
	}
	for (size_t i = 0; i < count; i++)
		plan->wide_literals |= !is_ascii(texts[i]);
	plan->has_literal = count == 1;
	if (count == 1)
		literal_init(&plan->literal, texts[0], matcher->ignore_case);
	else if (count > 1)
		plan->set = literal_set_new(texts, count, matcher->ignore_case);
}

static enum plan_kind choose_kind(const struct matcher *matcher,
                                  const struct matcher_options *options, int rank)
{
	const struct plan *plan = &matcher->plan;
	bool has_literals = plan->has_literal || plan->set;

	if (is_literal(matcher, options))
		return PLAN_LITERAL;
	if (options->multiline)
		return PLAN_MULTILINE;
	if (has_literals && (rank <= RANK_USELESS || matcher->facts.line_text.len == 0))
		return PLAN_CANDIDATES;
	return matcher->facts.line_text.len > 0 ? PLAN_BUFFER : PLAN_LINES;
}

static bool matcher_make_plan(struct matcher *matcher, const struct matcher_options *options,
                              struct span regex, struct err *err)
{
	struct engine_options engine = engine_options(options, regex, matcher->ignore_case);
	struct plan *plan = &matcher->plan;
	struct err ignored = ERR_INIT;
	int rank = 0;

	plan->whole_word = options->whole_word && !options->whole_line;
	plan->keep_cr = regex_names_cr(regex);
	if (options->no_shortcuts) {
		plan->kind = options->multiline ? PLAN_MULTILINE : PLAN_LINES;
		return engine_compile(&engine, &plan->engine, err);
	}
	plan_literals(matcher, options, &rank);
	plan->kind = choose_kind(matcher, options, rank);
	if (plan->kind == PLAN_LITERAL && !plan->whole_word)
		return true;
	if (plan->kind == PLAN_BUFFER) {
		engine.pattern = buf_view(&matcher->facts.line_text);
		engine.ascii_too = is_ascii(engine.pattern);
		if (engine_compile(&engine, &plan->engine, &ignored))
			return true;
		/* The rewritten pattern is longer, perhaps too long. */
		engine = engine_options(options, regex, matcher->ignore_case);
		plan->kind = PLAN_LINES;
	}
	return engine_compile(&engine, &plan->engine, err);
}

bool matcher_compile(const struct matcher_options *options, struct matcher **ret,
                     struct err *err)
{
	_cleanup_buf_ struct buf quoted = BUF_INIT(4 * LIMIT_PATTERN_BYTES + 1);
	struct span regex = options->pattern;
	struct matcher *matcher;

	if (!check_pattern(options, err))
		return false;
	if (options->literal) {
		regex_quote(&quoted, options->pattern);
		regex = buf_view(&quoted);
	} else if (!check_regex(regex, options->multiline, err)) {
		return false;
	}
	matcher = mem_alloc(1, sizeof(*matcher));
	matcher->multiline = options->multiline;
	matcher->ignore_case = ignores_case(options, regex);
	regex_facts_read(regex, matcher->ignore_case, &matcher->facts);
	matcher->needs_decoding = !matcher->facts.ascii || options->whole_word;
	if (!matcher_make_plan(matcher, options, regex, err)) {
		matcher_free(matcher);
		return false;
	}
	*ret = matcher;
	return true;
}

void matcher_free(struct matcher *matcher)
{
	if (!matcher)
		return;
	plan_release(&matcher->plan);
	regex_facts_release(&matcher->facts);
	free(matcher);
}

struct matcher_scratch *matcher_scratch_new(const struct matcher *matcher)
{
	struct matcher_scratch *scratch = mem_alloc(1, sizeof(*scratch));

	if (matcher->plan.engine)
		scratch->plan.engine = engine_scratch_new();
	return scratch;
}

void matcher_scratch_free(struct matcher_scratch *scratch)
{
	if (!scratch)
		return;
	engine_scratch_free(scratch->plan.engine);
	free(scratch);
}

enum match_outcome matcher_find(const struct matcher *matcher, struct matcher_scratch *scratch,
                                struct span text, size_t from, struct text_match *ret)
{
	enum match_outcome outcome;

	if (from == 0) {
		scratch_forget_lines(&scratch->plan);
		if (scratch->plan.engine)
			engine_new_text(scratch->plan.engine);
	}
	outcome = plan_find_by_kind(&matcher->plan, &scratch->plan, text, from, ret);
	/* What comes after the last match may be another text in the same place. */
	if (outcome != MATCH_FOUND)
		scratch_forget_lines(&scratch->plan);
	return outcome;
}

bool matcher_tried(const struct matcher_scratch *scratch)
{
	return scratch->plan.tried;
}

bool matcher_needs_decoding(const struct matcher *matcher)
{
	return matcher->needs_decoding;
}

bool matcher_ignores_case(const struct matcher *matcher)
{
	return matcher->ignore_case;
}

bool matcher_is_multiline(const struct matcher *matcher)
{
	return matcher->multiline;
}

const struct matcher_needs *matcher_needs_of(const struct matcher *matcher)
{
	return &matcher->facts.needs;
}
