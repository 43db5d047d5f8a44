/* SPDX-License-Identifier: Apache-2.0 */
/* Making a plan of what is searched for. */
#include "search/match/matcher.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "search/match/byte_rank.h"
#include "search/match/plan.h"
#include "search/match/regex_facts.h"
#include "search/match/regex_text.h"

/* A literal that is met more often than this (text_rank) saves no work: looking at
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
		if (text_rank(alternative->literals[i]) < text_rank(best))
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
		if (text_rank(text) > *ret_rank)
			*ret_rank = text_rank(text);
	}
	return count;
}

static bool is_ascii(struct span text)
{
	return survey_text(text).ascii;
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

static bool make_plan(struct matcher *matcher, const struct matcher_options *options,
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
		/* Written anew it is longer, perhaps too long. */
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
	if (!make_plan(matcher, options, regex, err)) {
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
                                struct span text, size_t from, struct match *ret)
{
	return plan_find(&matcher->plan, &scratch->plan, text, from, ret);
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

const struct matcher_needs *matcher_needs(const struct matcher *matcher)
{
	return &matcher->facts.needs;
}
