/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a regular expression: its tokens, questions about its text, and what it demands of the
 * text that it matches (regex_facts). Private to this folder. */
#ifndef HASP_SEARCH_MATCH_REGEX_H
#define HASP_SEARCH_MATCH_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"
#include "search/match/matcher.h"

/* ---- taking a regular expression of PCRE2 10.42 (pcre2pattern(3)) apart into tokens ---- */

/*
 *     struct regex_reader reader = { .text = pattern };
 *     struct regex_token token;
 *     while (regex_next(&reader, &token))
 *             ...
 *
 * Conservative: what is rare, or differs between versions, comes as TOKEN_ODD with the text it
 * takes up; a caller that must be sure about a pattern gives up there.  Patterns that PCRE2
 * refuses come as any tokens at all.  White space and comments of (?x) come as characters.
 *
 * Nesting, and what a pattern matches: regex_facts, below.
 */

enum regex_kind {
	TOKEN_CHAR,       /* code_point */
	TOKEN_ANY,        /* . */
	TOKEN_SET,        /* set: [...] or an escape such as \w */
	TOKEN_LINE_START, /* ^ */
	TOKEN_LINE_END,   /* $ */
	TOKEN_BOUNDARY,   /* \b \B */
	TOKEN_BACKREF,    /* \1 to \9 */
	TOKEN_OPEN,       /* group says which */
	TOKEN_CLOSE,
	TOKEN_OR,
	TOKEN_REPEAT,     /* min, max */
	TOKEN_ODD,        /* something else */
};

enum regex_group {
	GROUP_PLAIN,  /* (...), (?:...), named */
	GROUP_ATOMIC, /* (?>...) */
	GROUP_LOOK,   /* (?=...) and the other three */
	GROUP_FLAGS,  /* (?i:...) */
	GROUP_SWITCH, /* (?i): no group, there is no TOKEN_CLOSE for it */
};

enum { REGEX_NO_END = 65536 }; /* max of a repeat without an end; counts are below */

/* A set of characters. */
struct regex_set {
	uint64_t ascii[2];  /* those below 128 that are listed one by one or in ranges */
	bool negated;       /* the set is everything else */
	bool bracket;       /* it is written [...] */
	bool properties;    /* it has members by property too: \w, \p{L}, [:alpha:] */
	bool beyond_ascii;  /* it lists members from 128 on */
	bool may_have_lf;   /* LF could be among those with the properties */
	bool odd;           /* something in it is not understood; its end is where it says */
	bool has_upper;     /* an upper-case ASCII letter is written in it */
	bool has_literal;   /* a character or range is written in it */
};

struct regex_token {
	enum regex_kind kind;
	struct span text;      /* its part of the pattern */
	uint32_t code_point;
	struct regex_set set;
	enum regex_group group;
	unsigned flags_on, flags_off; /* REGEX_FLAG_*, of GROUP_FLAGS and GROUP_SWITCH */
	unsigned min, max;
	bool possessive;
	bool quoted;           /* TOKEN_CHAR between \Q and \E, or escaped */
};

enum {
	REGEX_FLAG_I = 1,     /* i */
	REGEX_FLAG_S = 2,     /* s */
	REGEX_FLAG_M = 4,     /* m */
	REGEX_FLAG_OTHER = 8, /* any other letter */
};

struct regex_reader {
	struct span text; /* borrowed */
	size_t at;        /* begin with 0 */
	bool quoting;     /* between \Q and \E */
};

/* False at the end. */
bool regex_next(struct regex_reader *reader, struct regex_token *ret);

static inline bool regex_set_has(const struct regex_set *set, unsigned char c)
{
	return c < 128 && (set->ascii[c >> 6] >> (c & 63) & 1) != 0;
}

/* ---- questions about the text of a pattern that decide how it is read ---- */

/* All go by the pattern's tokens: what is odd there counts for nothing here. */

/* Appends the regular expression that matches `text` and nothing else. */
void regex_quote(struct buf *out, struct span text);

/* Smart case, as ripgrep has it: some character is written out, as such or in a set, and none
 * that is written out is an upper-case letter.  The letters of \W or \pL are not. */
bool regex_is_lower(struct span pattern);
/* It begins with a switch such as (?i). */
bool regex_switches_case_off(struct span pattern);
/* It has a LF, or \R, that a match would have to contain: one outside of sets, or in a set
 * of nothing else. */
bool regex_asks_for_line_end(struct span pattern);
/* It has a CR, outside of sets or in one that is not negated. */
bool regex_names_cr(struct span pattern);
/* It begins with a setting for the whole pattern, such as (*CRLF) or (*UTF). */
bool regex_has_settings(struct span pattern);

/* ---- what a regular expression demands of text ------------------------------------- */

/*
 *
 *     struct regex_facts facts;
 *     regex_facts_read(pattern, ignore_case, &facts);
 *     ...
 *     regex_facts_release(&facts);
 *
 * The pattern is one that PCRE2 accepts.  Whatever is not fully understood (TOKEN_ODD,
 * (?x), calls, conditions, ...) gives facts that claim nothing.  Each claim
 * is certain: searches rely on it without asking the engine. */

/* ---- sets of texts, and what a match must contain, put together from parts ---- */

/* A need is an "or" of "and"s of texts (struct matcher_needs); count 0 says nothing.  All that
 * is built lives in one arena with a maximum: past it everything built is useless, and
 * arena.full says so.
 *
 * Combinations that would grow too large keep only the rarer part. */

struct needs_arena {
	struct needs_block *blocks; /* owned */
	size_t used;
	bool full;
};

/* Some texts; a match of what it describes is one of them. */
struct regex_texts {
	const struct span *items; /* in the arena */
	size_t count;             /* 0: no such set */
};

enum {
	TEXTS_MAX = 64,         /* texts of a set, alternatives of a need */
	NEEDS_LITERALS_MAX = 8, /* texts of an alternative */
};

struct regex_facts {
	/* As matcher.h has them; a match contains them itself, not its surroundings. */
	struct matcher_needs needs;
	/* The pattern matches exactly where this text is (but for the case of ASCII letters, when
	 * case is ignored); empty when it is not so simple. */
	struct span literal;
	/* Nothing in it could match, or be stopped by, a character beyond ASCII. */
	bool ascii;
	/* The same pattern with LF taken out of every set: it matches within any one line what
	 * the pattern matches in it, at the same places and in the same order of preference,
	 * but can be given many lines in one call and never leaves the one where it begins.
	 * Empty when there is no such pattern. */
	struct buf line_text;
	struct needs_arena arena;
};

/* Reads the facts off `pattern`; those that are not certain are left empty.  The caller releases
 * *ret. */
void regex_facts_read(struct span pattern, bool ignore_case, struct regex_facts *ret);
/* Frees what the facts and their arena own. */
void regex_facts_release(struct regex_facts *facts);

#endif
