/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to find a pattern in a text, as the matcher chose them. Private to this folder.
 *
 * All but PLAN_MULTILINE give what the engine gives for each line alone, the first line that
 * has a match; they differ in how many lines the engine sees.
 */
#ifndef HASP_SEARCH_MATCH_PLAN_H
#define HASP_SEARCH_MATCH_PLAN_H

#include <stdbool.h>

#include "search/match/engine.h"
#include "search/match/literal.h"
#include "search/match/literal_set.h"
#include "search/match/matcher.h"
#include "search/match/survey.h"

enum plan_kind {
	PLAN_LINES,      /* the engine on every line */
	PLAN_LITERAL,    /* `literal` is the pattern; the engine only judges word ends */
	PLAN_CANDIDATES, /* the engine on lines that have `literal`, or one of `set` */
	PLAN_BUFFER,     /* the engine, whose pattern never leaves a line, on many lines at once */
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

struct region {
	const char *data; /* as in known_line */
	size_t len;
	size_t start, next; /* whole lines */
	struct survey survey;
	bool by_lines;      /* the engine cannot have them together */
};

struct plan_scratch {
	struct engine_scratch *engine; /* owned; NULL without an engine */
	struct known_line line;
	struct region region;
	bool tried;                    /* matcher_tried */
};

void plan_release(struct plan *plan);
enum match_outcome plan_find(const struct plan *plan, struct plan_scratch *scratch,
                             struct span text, size_t from, struct match *ret);

#endif
