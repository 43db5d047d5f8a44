/* SPDX-License-Identifier: Apache-2.0 */
/* Reading facts off a regular expression: recursive descent over its tokens, which puts
 * together what the parts demand and rewrites the pattern so that no match leaves its line.
 *
 *     choice   = sequence {"|" sequence}
 *     sequence = {item [repeat]}
 *     item     = character | set | "(" choice ")" | assertion */
#include "search/match/regex.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "search/match/literal.h"

/* ---- sets of texts and needs ---- */

/* All texts of a pattern: a few times the longest pattern. */
#define ARENA_BYTES_MAX ((size_t)4 << 20)
/* Longer products are not followed further: they say enough. */
#define PRODUCT_BYTES_MAX ((size_t)128 << 10)
/* Texts below this length say little when there is a longer one. */
#define USEFUL_BYTES 3

struct needs_block {
	struct needs_block *next;
};

static void *arena_get(struct needs_arena *arena, size_t count, size_t size)
{
	struct needs_block *block = mem_alloc(1, sizeof(*block) + count * size);

	block->next = arena->blocks;
	arena->blocks = block;
	arena->used += sizeof(*block) + count * size;
	arena->full = arena->full || arena->used > ARENA_BYTES_MAX;
	return block + 1;
}

static void needs_arena_release(struct needs_arena *arena)
{
	while (arena->blocks) {
		struct needs_block *block = arena->blocks;

		arena->blocks = block->next;
		free(block);
	}
	*arena = (struct needs_arena){ 0 };
}

static struct span join_literals(struct needs_arena *arena, struct span a, struct span b)
{
	char *data;

	if (a.len == 0)
		return b;
	if (b.len == 0)
		return a;
	data = arena_get(arena, a.len + b.len, 1);
	memcpy(data, a.data, a.len);
	memcpy(data + a.len, b.data, b.len);
	return span_of(data, a.len + b.len);
}

/* Copied */
static struct regex_texts texts_one(struct needs_arena *arena, struct span text)
{
	struct span *item = arena_get(arena, 1, sizeof(*item));
	char *data = arena_get(arena, text.len + 1, 1);

	if (text.len > 0)
		memcpy(data, text.data, text.len);
	*item = span_of(data, text.len);
	return (struct regex_texts){ item, 1 };
}

static size_t texts_bytes(struct regex_texts texts)
{
	size_t bytes = 0;

	for (size_t i = 0; i < texts.count; i++)
		bytes += texts.items[i].len;
	return bytes;
}

/* Every text of a followed by every one of b; count 0 when there would be too many. */
static struct regex_texts texts_product(struct needs_arena *arena, struct regex_texts a,
                                        struct regex_texts b)
{
	struct span *items;
	size_t count = a.count * b.count;

	if (count == 0 || count > TEXTS_MAX || arena->full ||
	    texts_bytes(a) * b.count + texts_bytes(b) * a.count > PRODUCT_BYTES_MAX)
		return (struct regex_texts){ 0 };
	items = arena_get(arena, count, sizeof(*items));
	for (size_t i = 0; i < count; i++)
		items[i] = join_literals(arena, a.items[i / b.count], b.items[i % b.count]);
	return (struct regex_texts){ items, count };
}

/* Those of both; count 0 when there are too many. */
static struct regex_texts texts_union(struct needs_arena *arena, struct regex_texts a,
                                      struct regex_texts b)
{
	struct span *items;

	if (a.count == 0 || b.count == 0 || a.count + b.count > TEXTS_MAX || arena->full)
		return (struct regex_texts){ 0 };
	items = arena_get(arena, a.count + b.count, sizeof(*items));
	memcpy(items, a.items, a.count * sizeof(*items));
	memcpy(items + a.count, b.items, b.count * sizeof(*items));
	return (struct regex_texts){ items, a.count + b.count };
}

/* At least one of the texts; says nothing when one of them is empty. */
static struct matcher_needs needs_any(struct needs_arena *arena, struct regex_texts texts)
{
	struct matcher_alternative *alternatives;

	if (texts.count == 0)
		return (struct matcher_needs){ 0 };
	alternatives = arena_get(arena, texts.count, sizeof(*alternatives));
	for (size_t i = 0; i < texts.count; i++) {
		if (texts.items[i].len == 0)
			return (struct matcher_needs){ 0 };
		alternatives[i] = (struct matcher_alternative){ &texts.items[i], 1 };
	}
	return (struct matcher_needs){ alternatives, texts.count };
}

/* How often one of the alternatives is met: smaller is rarer. */
static int needs_rank(struct matcher_needs needs)
{
	int worst = RANK_RAREST;

	for (size_t i = 0; i < needs.count; i++) {
		const struct matcher_alternative *alternative = &needs.alternatives[i];
		int best = RANK_COMMONEST;

		for (size_t k = 0; k < alternative->count; k++) {
			int rank = literal_text_rank(alternative->literals[k]);

			best = rank < best ? rank : best;
		}
		worst = best > worst ? best : worst;
	}
	return worst + (int)(needs.count / 4);
}

static int compare_rank(const void *a, const void *b)
{
	int left = literal_text_rank(*(const struct span *)a);
	int right = literal_text_rank(*(const struct span *)b);

	return (left > right) - (left < right);
}

static struct matcher_alternative merge_alternatives(struct needs_arena *arena,
                                                     const struct matcher_alternative *a,
                                                     const struct matcher_alternative *b)
{
	size_t count = a->count + b->count;
	struct span *literals = arena_get(arena, count, sizeof(*literals));

	memcpy(literals, a->literals, a->count * sizeof(*literals));
	memcpy(literals + a->count, b->literals, b->count * sizeof(*literals));
	if (count > NEEDS_LITERALS_MAX) {
		qsort(literals, count, sizeof(*literals), compare_rank);
		count = NEEDS_LITERALS_MAX;
	}
	return (struct matcher_alternative){ literals, count };
}

static struct matcher_needs needs_both(struct needs_arena *arena, struct matcher_needs a,
                                       struct matcher_needs b)
{
	size_t count = a.count * b.count;
	struct matcher_alternative *alternatives;

	if (a.count == 0 || b.count == 0)
		return a.count ? a : b;
	if (count > TEXTS_MAX || arena->full)
		return needs_rank(a) <= needs_rank(b) ? a : b;
	alternatives = arena_get(arena, count, sizeof(*alternatives));
	for (size_t i = 0; i < count; i++)
		alternatives[i] = merge_alternatives(arena, &a.alternatives[i / b.count],
		                                     &b.alternatives[i % b.count]);
	return (struct matcher_needs){ alternatives, count };
}

static struct matcher_needs needs_either(struct needs_arena *arena, struct matcher_needs a,
                                         struct matcher_needs b)
{
	struct matcher_alternative *alternatives;

	if (a.count == 0 || b.count == 0 || a.count + b.count > TEXTS_MAX || arena->full)
		return (struct matcher_needs){ 0 };
	alternatives = arena_get(arena, a.count + b.count, sizeof(*alternatives));
	memcpy(alternatives, a.alternatives, a.count * sizeof(*alternatives));
	memcpy(alternatives + a.count, b.alternatives, b.count * sizeof(*alternatives));
	return (struct matcher_needs){ alternatives, a.count + b.count };
}

/* Whether another text of the alternative makes text i superfluous. */
static bool is_superfluous(const struct span *texts, size_t count, size_t i, size_t longest)
{
	if (texts[i].len < USEFUL_BYTES && texts[i].len < longest)
		return true;
	for (size_t k = 0; k < count; k++) {
		bool part = k != i && texts[k].len >= texts[i].len &&
		            memmem(texts[k].data, texts[k].len, texts[i].data, texts[i].len);

		/* Of two that are equal the first one stays. */
		if (part && (texts[k].len > texts[i].len || k < i))
			return true;
	}
	return false;
}

/* Drops short texts where there are longer ones, and texts that are part of others. */
static struct matcher_needs needs_tidy(struct needs_arena *arena, struct matcher_needs needs)
{
	struct matcher_alternative *alternatives =
		arena_get(arena, needs.count, sizeof(*alternatives));

	for (size_t i = 0; i < needs.count; i++) {
		const struct matcher_alternative *from = &needs.alternatives[i];
		struct span *kept = arena_get(arena, from->count, sizeof(*kept));
		size_t count = 0, longest = 0;

		for (size_t k = 0; k < from->count; k++)
			longest = from->literals[k].len > longest ? from->literals[k].len : longest;
		for (size_t k = 0; k < from->count; k++) {
			if (!is_superfluous(from->literals, from->count, k, longest))
				kept[count++] = from->literals[k];
		}
		alternatives[i] = (struct matcher_alternative){ kept, count };
	}
	return (struct matcher_needs){ alternatives, needs.count };
}

/* ---- reading facts off a regular expression ---- */

/* PCRE2 allows 250 by default. */
#define NESTING_MAX 250
/* A set with more members than this is any character at all. */
#define SET_TEXTS_MAX 8
/* "x{5}" is written out, "x{5000}" is not. */
#define REPEAT_MAX 16

/* What a part of the pattern demands. */
struct demand {
	struct regex_texts exact;         /* it matches just these; count 0 when not known */
	struct matcher_needs needs; /* when exact is not known */
};

/* Demands one after the other. */
struct facts_sequence {
	struct regex_texts run;           /* what the last parts match together; never 0 */
	struct matcher_needs needs; /* of what came before those */
	bool exact;                 /* nothing came before those */
};

struct facts_parser {
	struct regex_reader reader;
	struct regex_token token; /* the one to look at */
	bool more;                /* there is one */
	bool failed;              /* not understood */
	bool asserts;             /* there are assertions, or parts that give nothing back */
	bool ignore_case;         /* here */
	bool ignored_case;        /* the whole pattern's way */
	bool unsafe;              /* there is no pattern that is safe for lines */
	bool beyond_ascii;
	unsigned depth;
	struct buf out;           /* the rewritten pattern */
	struct needs_arena *arena;
};

static struct demand parse_choice(struct facts_parser *parser);

static struct demand parser_fail(struct facts_parser *parser)
{
	parser->failed = true;
	parser->more = false;
	return (struct demand){ 0 };
}

static void parser_next(struct facts_parser *parser)
{
	parser->more = !parser->failed && !parser->arena->full &&
	               regex_next(&parser->reader, &parser->token);
}

static bool parser_is_at(const struct facts_parser *parser, enum regex_kind kind)
{
	return parser->more && parser->token.kind == kind;
}

static void parser_copy(struct facts_parser *parser)
{
	buf_span(&parser->out, parser->token.text);
}

/* ---- putting demands together ---- */

static struct demand demand_empty(struct facts_parser *parser)
{
	return (struct demand){ .exact = texts_one(parser->arena, SPAN("")) };
}

static struct matcher_needs demand_needs(struct facts_parser *parser, struct demand demand)
{
	return demand.exact.count ? needs_any(parser->arena, demand.exact) : demand.needs;
}

/* Ends the run: what follows is not known to come right after it. */
static void sequence_break(struct facts_parser *parser, struct facts_sequence *sequence,
                           struct regex_texts run)
{
	struct matcher_needs needs = needs_any(parser->arena, sequence->run);

	sequence->needs = needs_both(parser->arena, sequence->needs, needs);
	sequence->run = run;
	sequence->exact = false;
}

static void sequence_add(struct facts_parser *parser, struct facts_sequence *sequence,
                         struct demand demand)
{
	struct regex_texts run;

	if (demand.exact.count == 0) {
		sequence_break(parser, sequence, texts_one(parser->arena, SPAN("")));
		sequence->needs = needs_both(parser->arena, sequence->needs, demand.needs);
		return;
	}
	run = texts_product(parser->arena, sequence->run, demand.exact);
	if (run.count > 0)
		sequence->run = run;
	else
		sequence_break(parser, sequence, demand.exact);
}

/* `demand`, min to max times. */
static void sequence_repeat(struct facts_parser *parser, struct facts_sequence *sequence,
                            struct demand demand, unsigned min, unsigned max)
{
	struct regex_texts none = texts_one(parser->arena, SPAN(""));
	unsigned times = min < REPEAT_MAX ? min : REPEAT_MAX;

	if (min == 0 && max == 1 && demand.exact.count > 0) {
		struct regex_texts either = texts_union(parser->arena, demand.exact, none);

		if (either.count > 0) {
			sequence_add(parser, sequence, (struct demand){ .exact = either });
			return;
		}
	}
	if (demand.exact.count == 0)
		times = min > 0;
	for (unsigned i = 0; i < times; i++)
		sequence_add(parser, sequence, demand);
	/* More may come between; the last of them is next to what follows. */
	if (times < max)
		sequence_break(parser, sequence,
		               min > 0 && demand.exact.count > 0 ? demand.exact : none);
}

static struct demand sequence_end(struct facts_parser *parser, struct facts_sequence *sequence)
{
	if (sequence->exact)
		return (struct demand){ .exact = sequence->run };
	sequence_break(parser, sequence, (struct regex_texts){ 0 });
	return (struct demand){ .needs = sequence->needs };
}

static struct demand demand_either(struct facts_parser *parser, struct demand a, struct demand b)
{
	struct demand both = { .exact = texts_union(parser->arena, a.exact, b.exact) };

	if (both.exact.count == 0)
		both.needs = needs_either(parser->arena, demand_needs(parser, a),
		                          demand_needs(parser, b));
	return both;
}

/* ---- characters and sets ---- */

/* Kelvin sign and long s fold to ASCII. */
static bool folds_beyond_ascii(uint32_t c)
{
	return ascii_is_letter(c) && ((c | 0x20) == 'k' || (c | 0x20) == 's');
}

/* A character as it is looked for; false when it matches others than those. */
static bool put_char(struct facts_parser *parser, uint32_t c, char out[4], size_t *ret_len)
{
	bool letter = ascii_is_letter(c);

	if (c >= 0x80)
		parser->beyond_ascii = true;
	if (parser->ignore_case && folds_beyond_ascii(c))
		parser->beyond_ascii = true;
	if (parser->ignored_case && (c >= 0x80 || folds_beyond_ascii(c)))
		return false;
	if (parser->ignored_case != parser->ignore_case && letter)
		parser->asserts = true; /* the text in lower case says less than the pattern */
	if (parser->ignore_case && !parser->ignored_case && (letter || c >= 0x80))
		return false;
	if (parser->ignored_case && letter)
		c |= 0x20;
	*ret_len = utf8_put(c, out);
	return true;
}

static struct demand demand_char(struct facts_parser *parser, uint32_t c)
{
	char text[4];
	size_t len = 0;

	if (!put_char(parser, c, text, &len))
		return (struct demand){ 0 };
	return (struct demand){ .exact = texts_one(parser->arena, span_of(text, len)) };
}

static bool is_plain_set(const struct regex_set *set)
{
	return !set->negated && !set->properties && !set->beyond_ascii;
}

static struct demand demand_set(struct facts_parser *parser, const struct regex_set *set)
{
	struct demand all = { 0 };

	if (!is_plain_set(set)) {
		parser->beyond_ascii = true;
		return all;
	}
	if (parser->ignore_case) {
		for (unsigned char c = 'A'; c <= 'z'; c++) {
			if (regex_set_has(set, c) && folds_beyond_ascii(c))
				parser->beyond_ascii = true;
		}
	}
	if ((unsigned)(__builtin_popcountll(set->ascii[0]) + __builtin_popcountll(set->ascii[1])) >
	    SET_TEXTS_MAX)
		return all;
	for (unsigned char c = 0; c < 128; c++) {
		struct demand one;

		if (!regex_set_has(set, c))
			continue;
		one = demand_char(parser, c);
		if (one.exact.count == 0)
			return (struct demand){ 0 };
		all.exact = all.exact.count ? texts_union(parser->arena, all.exact, one.exact)
		                            : one.exact;
		if (all.exact.count == 0)
			return all;
	}
	return all;
}

/* Writes the set without LF. */
static void write_set(struct facts_parser *parser)
{
	struct span text = parser->token.text;
	const struct regex_set *set = &parser->token.set;
	char letter = text.data[text.len > 1];

	if (set->bracket && set->negated) {
		/* Neither an end of the set nor of a range: what comes first is itself. */
		bool plain = text.data[2] != ']' && text.data[2] != '-';

		buf_str(&parser->out, plain ? "[^\\n" : "[^\\n\\");
		buf_span(&parser->out, span_skip(text, 2));
	} else if (!set->may_have_lf && !regex_set_has(set, '\n')) {
		parser_copy(parser);
	} else if (!set->bracket && strchr("DWsHv", letter)) {
		/* \s is [^\S]: the other letter in a negated set. */
		buf_printf(&parser->out, "[^\\%c\\n]", letter ^ 0x20);
	} else {
		buf_str(&parser->out, "(?:(?!\\n)");
		parser_copy(parser);
		buf_str(&parser->out, ")");
	}
}

static void write_char(struct facts_parser *parser)
{
	uint32_t c = parser->token.code_point;

	if (c >= 0x80) {
		char text[4];

		buf_append(&parser->out, text, utf8_put(c, text));
	} else if (c <= ' ' || c == '{' || parser->token.quoted) {
		/* What was quoted, or kept apart by \E, may mean something by itself. */
		buf_printf(&parser->out, "\\x%02x", (unsigned)c);
	} else {
		buf_char(&parser->out, (char)c);
	}
}

/* ---- the grammar ---- */

/* Anchors are those of lines from the start, so (?m) says nothing new. */
static bool flags_are_known(const struct regex_token *token)
{
	return !((token->flags_on | token->flags_off) & REGEX_FLAG_OTHER) &&
	       !(token->flags_off & REGEX_FLAG_M);
}

/* Inside of a group whose opening is the token, up to its end. */
static struct demand parse_group(struct facts_parser *parser)
{
	bool outer = parser->ignore_case;
	enum regex_group group = parser->token.group;
	struct demand demand;

	if (++parser->depth > NESTING_MAX)
		return parser_fail(parser);
	if (group == GROUP_FLAGS)
		parser->ignore_case =
			(parser->ignore_case || (parser->token.flags_on & REGEX_FLAG_I)) &&
			!(parser->token.flags_off & REGEX_FLAG_I);
	if (!flags_are_known(&parser->token))
		return parser_fail(parser);
	if (group == GROUP_LOOK || group == GROUP_ATOMIC)
		parser->asserts = true;
	parser_copy(parser);
	parser_next(parser);
	demand = parse_choice(parser);
	if (!parser_is_at(parser, TOKEN_CLOSE))
		return parser_fail(parser);
	parser_copy(parser);
	parser->depth--;
	parser->ignore_case = outer;
	return group == GROUP_LOOK ? demand_empty(parser) : demand;
}

static struct demand parse_switch(struct facts_parser *parser)
{
	if (!flags_are_known(&parser->token))
		return parser_fail(parser);
	if (parser->token.flags_on & REGEX_FLAG_I)
		parser->ignore_case = true;
	if (parser->token.flags_off & REGEX_FLAG_I)
		parser->ignore_case = false;
	parser_copy(parser);
	return demand_empty(parser);
}

static struct demand parse_assertion(struct facts_parser *parser)
{
	parser->asserts = true;
	if (parser->token.kind == TOKEN_BOUNDARY)
		parser->beyond_ascii = true;
	parser_copy(parser);
	return demand_empty(parser);
}

static struct demand parse_any(struct facts_parser *parser)
{
	/* An option could make "." match LF. */
	parser->beyond_ascii = true;
	buf_str(&parser->out, "\\N");
	return (struct demand){ 0 };
}

static struct demand parse_set(struct facts_parser *parser)
{
	if (parser->token.set.odd)
		return parser_fail(parser);
	write_set(parser);
	return demand_set(parser, &parser->token.set);
}

static struct demand parse_backref(struct facts_parser *parser)
{
	parser->asserts = true;
	if (parser->ignore_case)
		parser->beyond_ascii = true;
	buf_str(&parser->out, "(?:");
	parser_copy(parser);
	buf_str(&parser->out, ")");
	return (struct demand){ 0 };
}

static struct demand parse_char_demand(struct facts_parser *parser)
{
	if (parser->token.code_point == '\n')
		parser->unsafe = true;
	write_char(parser);
	return demand_char(parser, parser->token.code_point);
}

/* One item; *ret_repeatable: a repeat may follow. */
static struct demand parse_item_demand(struct facts_parser *parser, bool *ret_repeatable)
{
	static struct demand (*const parsers[])(struct facts_parser *) = {
		[TOKEN_CHAR] = parse_char_demand,
		[TOKEN_ANY] = parse_any,
		[TOKEN_SET] = parse_set,
		[TOKEN_LINE_START] = parse_assertion,
		[TOKEN_LINE_END] = parse_assertion,
		[TOKEN_BOUNDARY] = parse_assertion,
		[TOKEN_BACKREF] = parse_backref,
		[TOKEN_OPEN] = parse_group,
		[TOKEN_ODD] = NULL,
	};
	enum regex_kind kind = parser->token.kind;
	bool is_switch = kind == TOKEN_OPEN && parser->token.group == GROUP_SWITCH;
	struct demand demand;

	*ret_repeatable = kind == TOKEN_CHAR || kind == TOKEN_ANY || kind == TOKEN_SET ||
	                  kind == TOKEN_BACKREF ||
	                  (kind == TOKEN_OPEN && !is_switch && parser->token.group != GROUP_LOOK);
	if (is_switch)
		demand = parse_switch(parser);
	else if (kind < sizeof(parsers) / sizeof(parsers[0]) && parsers[kind])
		demand = parsers[kind](parser);
	else
		return parser_fail(parser);
	parser_next(parser);
	return demand;
}

/* Characters in a row, in one step: patterns can be one long text. */
static void parse_run(struct facts_parser *parser, struct facts_sequence *sequence)
{
	_cleanup_buf_ struct buf run = BUF_INIT(LIMIT_PATTERN_BYTES);
	struct demand demand = { 0 };
	char last[4];
	size_t len = 0;

	while (parser_is_at(parser, TOKEN_CHAR) && parser->token.code_point != '\n' &&
	       put_char(parser, parser->token.code_point, last, &len)) {
		struct regex_reader before = parser->reader;
		struct regex_token token = parser->token;

		parser_next(parser);
		if (parser_is_at(parser, TOKEN_REPEAT)) {
			/* Back to the character: it is a separate item. */
			parser->reader = before;
			parser->token = token;
			break;
		}
		struct regex_token after = parser->token;
		bool more = parser->more;

		parser->token = token;
		write_char(parser);
		parser->token = after;
		parser->more = more;
		buf_append(&run, last, len);
	}
	if (run.len == 0)
		return;
	demand.exact = texts_one(parser->arena, buf_view(&run));
	sequence_add(parser, sequence, demand);
}

static struct demand parse_sequence(struct facts_parser *parser)
{
	struct facts_sequence sequence = { .run = texts_one(parser->arena, SPAN("")), .exact =
					  true };

	while (parser->more && !parser_is_at(parser, TOKEN_OR) &&
	       !parser_is_at(parser, TOKEN_CLOSE)) {
		struct demand demand;
		bool repeatable;

		parse_run(parser, &sequence);
		if (!parser->more || parser_is_at(parser, TOKEN_OR) ||
		    parser_is_at(parser, TOKEN_CLOSE))
			break;
		demand = parse_item_demand(parser, &repeatable);
		if (!parser_is_at(parser, TOKEN_REPEAT)) {
			sequence_add(parser, &sequence, demand);
			continue;
		}
		if (!repeatable || parser->token.max < parser->token.min)
			return parser_fail(parser);
		sequence_repeat(parser, &sequence, demand, parser->token.min, parser->token.max);
		if (parser->token.possessive)
			parser->asserts = true;
		parser_copy(parser);
		parser_next(parser);
		if (parser_is_at(parser, TOKEN_REPEAT))
			return parser_fail(parser);
	}
	return sequence_end(parser, &sequence);
}

static struct demand parse_choice(struct facts_parser *parser)
{
	struct demand demand = parse_sequence(parser);

	while (parser_is_at(parser, TOKEN_OR)) {
		parser_copy(parser);
		parser_next(parser);
		demand = demand_either(parser, demand, parse_sequence(parser));
	}
	return demand;
}

void regex_facts_read(struct span pattern, bool ignore_case, struct regex_facts *ret)
{
	struct facts_parser parser = { .reader = { .text = pattern },
		                 .ignore_case = ignore_case,
		                 .ignored_case = ignore_case,
		                 .out = BUF_INIT(8 * LIMIT_PATTERN_BYTES),
		                 .arena = &ret->arena };
	struct demand demand;

	*ret = (struct regex_facts){ .line_text = BUF_INIT(8 * LIMIT_PATTERN_BYTES) };
	parser_next(&parser);
	demand = parse_choice(&parser);
	if (parser.failed || parser.more || ret->arena.full || parser.out.overflowed) {
		buf_release(&parser.out);
		needs_arena_release(&ret->arena);
		return;
	}
	ret->needs = needs_tidy(&ret->arena, demand_needs(&parser, demand));
	if (demand.exact.count == 1 && !parser.asserts)
		ret->literal = demand.exact.items[0];
	ret->ascii = !parser.beyond_ascii;
	if (parser.unsafe)
		buf_release(&parser.out);
	else
		ret->line_text = parser.out;
}

void regex_facts_release(struct regex_facts *facts)
{
	buf_release(&facts->line_text);
	needs_arena_release(&facts->arena);
}
