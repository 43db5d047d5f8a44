/* SPDX-License-Identifier: Apache-2.0 */
/* What is searched for, compiled, and finding it in text.
 *
 *     struct matcher *matcher;
 *     if (!matcher_compile(&options, &matcher, &err)) ...
 *     struct matcher_scratch *scratch = matcher_scratch_new(matcher);   one a thread
 *     struct text_match match;
 *     for (size_t at = 0; matcher_find(matcher, scratch, text, at, &match) == MATCH_FOUND;
 *          at = next line's start, or match.end for all matches)
 *             ...
 *
 * Lines end with LF, or with CR LF: what is before that is matched, each line alone, so that
 * `$` is before the CR and nothing matches the CR.  (ripgrep has the CR in the line unless
 * --crlf is given.)  A pattern that names CR, other than in [^...], gets it: "\r$" finds the
 * lines that end with CR LF, and "x$" together with it does not match before a CR.
 * Unless multiline is asked for, no match crosses a line end, whatever the pattern says, and a
 * pattern that asks for a line end (a LF, \n or \R outside of sets) is an error that names
 * `multiline`.  With it `^` and `$` are at line ends, which are LF, CR LF and CR then, and
 * "." matches neither CR nor LF.
 * Text is taken as UTF-8 and may hold any bytes; those that are not UTF-8 match nothing.
 *
 * Patterns are PCRE2's, with JIT where the machine has it, without \C and without settings at
 * the start such as (*UTF).  How it gets fast: literals that each match must contain are looked
 * for with vector instructions (literal.h), and the engine only sees lines that
 * have them; where there are none, the pattern is rewritten so that it cannot leave a line
 * (regex.h), and the engine sees many lines in one call.  matcher.c has the ways.
 *
 * Patterns that take too long end in MATCH_TOO_HARD: a scratch has a reserve of 0.4 s of CPU
 * time beyond 10 us a call of the engine and 0.05 us a byte, and one text (until the next search
 * from 0) may use up half of what is left of it (engine.h).
 *
 * A matcher can be shared by threads; a scratch cannot.
 */
#ifndef HASP_SEARCH_MATCH_MATCHER_H
#define HASP_SEARCH_MATCH_MATCHER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"

enum case_mode {
	CASE_SMART,     /* as CASE_IGNORE unless the pattern has an upper-case letter; those of
	                 * \W, \pL, names and such are none.  As ripgrep's -S */
	CASE_SENSITIVE,
	CASE_IGNORE,    /* Unicode simple case folding */
};

struct matcher_options {
	struct span pattern;  /* 1 to LIMIT_PATTERN_BYTES bytes of UTF-8 without NUL */
	bool literal;         /* the text itself, not a regular expression */
	enum case_mode cases;
	bool whole_word;      /* no word character right before or after the match */
	bool whole_line;      /* the match is the whole line; whole_word adds nothing then */
	bool multiline;       /* matches may cross line ends; "." does so only with (?s) */
	bool no_shortcuts;    /* engine only, line by line: what tests compare with */
};

struct matcher;
struct matcher_scratch;

struct text_match {
	size_t start, end; /* offsets in the text; end is exclusive */
};

enum match_outcome {
	MATCH_NONE,
	MATCH_FOUND,
	MATCH_TOO_HARD, /* the engine's step, memory or stack limit was reached: give up */
};

/* The caller frees *ret. INVALID_ARGUMENT: with what is wrong and at which byte of the pattern;
 * also when its compiled form would be too large (PCRE2's is at most 64 Ki units). */
bool matcher_compile(const struct matcher_options *options, struct matcher **ret,
                     struct err *err);
void matcher_free(struct matcher *matcher);
struct matcher_scratch *matcher_scratch_new(const struct matcher *matcher); /* never NULL */
void matcher_scratch_free(struct matcher_scratch *scratch);

/* The leftmost match that begins at or after `from`, which is 0, a line's start, or inside a
 * line (at most text.len).  `text` begins at the start of a line and its last line may lack its
 * end.  After MATCH_FOUND a scratch remembers the lines it looked at: if the next call with it
 * has a `from` above 0 and the same text.data and text.len, the bytes must be the same, too.
 * *ret is set on MATCH_FOUND only.  Matches may be empty: to find all of them, go on from
 * match.end, or one after it then. */
enum match_outcome matcher_find(const struct matcher *matcher, struct matcher_scratch *scratch,
                                struct span text, size_t from, struct text_match *ret);

/* Whether the last matcher_find with this scratch met anything that the literals of the pattern
 * (matcher_needs_of) do not rule out. */
bool matcher_tried(const struct matcher_scratch *scratch);

/* Whether the pattern could match text beyond ASCII differently when that text is decoded
 * from another encoding than UTF-8: if not, bytes can be searched as they are. */
bool matcher_needs_decoding(const struct matcher *matcher);
bool matcher_ignores_case(const struct matcher *matcher);
bool matcher_is_multiline(const struct matcher *matcher);

/* What every text with a match contains: at least one of the alternatives, and of that every
 * literal.  count 0: nothing is known.  Where the matcher ignores case, ASCII letters are in
 * lower case, and literals hold no character that folds from or to outside ASCII (k, s
 * with Kelvin sign and long s) and none beyond ASCII.  Borrowed. */
struct matcher_alternative {
	const struct span *literals;
	size_t count;
};
struct matcher_needs {
	const struct matcher_alternative *alternatives;
	size_t count;
};
/* Never NULL; lives as long as the matcher. */
const struct matcher_needs *matcher_needs_of(const struct matcher *matcher);

#endif
