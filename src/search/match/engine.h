/* SPDX-License-Identifier: Apache-2.0 */
/* PCRE2 with bounds: compiling in bounded memory, matching in bounded time and memory.
 * Private to this folder.
 *
 *     struct engine *engine;
 *     if (!engine_compile(&options, &engine, &err)) ...
 *     struct engine_scratch *scratch = engine_scratch_new(engine);   one a thread
 *     outcome = engine_find(engine, scratch, subject, from, &match);
 *
 * How time is bounded.  PCRE2 counts steps per starting position, and a step can be a loop
 * over the subject; so its own limit bounds nothing when the subject is long.  A search
 * therefore has two gears.  The quick one runs plain code with a step limit that makes steps
 * times starting positions times subject length a fraction of a second at worst.  When that
 * does not suffice, the careful one runs code with a callout before every item of the
 * pattern; the callout looks at the thread's CPU clock.  What either takes beyond an
 * allowance per byte is taken from the scratch's reserve (0.4 s), of which one text can
 * use up half: what is hard for one does not make later, easy ones too hard.
 *
 * Not here: lines, literals, what the pattern means (matcher.h, regex.h).
 */
#ifndef HASP_SEARCH_MATCH_ENGINE_H
#define HASP_SEARCH_MATCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/span.h"
#include "search/match/literal.h"
#include "search/match/matcher.h"

struct engine_options {
	struct span pattern;  /* a regular expression in PCRE2's syntax */
	bool ignore_case;
	bool whole_word;      /* no word character right before or after */
	bool whole_line;      /* outranks whole_word */
	bool any_line_end;    /* CR and CRLF end lines too, for anchors and "." */
	bool no_jit;          /* only to be checked, or to be slow */
	bool ascii_too;       /* for text that is ASCII, code that knows nothing else; the
	                       * pattern is understood (regex.h) and ASCII itself */
};

struct engine;
struct engine_scratch;

/* The caller frees *ret. INVALID_ARGUMENT: with what is wrong and where. */
bool engine_compile(const struct engine_options *options, struct engine **ret, struct err *err);
void engine_free(struct engine *engine); /* NULL is fine */

/* For engines of one pattern: a scratch may be used with each of them. Never NULL. */
struct engine_scratch *engine_scratch_new(void);
/* What is searched from now on is another text. */
void engine_new_text(struct engine_scratch *scratch);
void engine_scratch_free(struct engine_scratch *scratch); /* NULL is fine */

/* The leftmost match in `subject` that begins at or after `from` (at most subject.len). */
enum match_outcome engine_find(const struct engine *engine, struct engine_scratch *scratch,
                               struct span subject, size_t from, struct text_match *ret);

/* The quick gear alone, for a subject of lines that the pattern cannot leave; `survey` is
 * theirs. MATCH_TOO_HARD: use engine_find line by line. */
enum match_outcome engine_find_quick(const struct engine *engine,
                                     struct engine_scratch *scratch, struct span subject,
                                     size_t from, const struct survey *survey,
                                     struct text_match *ret);

#endif
