/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: how a value is judged. */
#ifndef HASP_SCHEMA_PRIVATE_H
#define HASP_SCHEMA_PRIVATE_H

#include "base/text.h"
#include "schema/json_schema.h"

/* Where in the value: a member, or an item where `name` is NULL. */
struct schema_place {
	const struct schema_place *above; /* NULL: of the root */
	const char *name;
	size_t item;
};

struct schema_judge;
struct js_regex; /* search/match/js_regex.h */

/* What a schema (an object or a boolean) says of a value. */
typedef enum schema_verdict schema_value_check(struct schema_judge *judge, const json_t *schema,
                                               const json_t *value,
                                               const struct schema_place *place);

enum { SCHEMA_PATTERNS_MAX = 256, SCHEMA_UNKNOWN_BYTES = 8192, SCHEMA_SHOWN_BYTES = 200 };

/* Patterns are compiled once for each schema; `regex` is NULL where that failed. */
struct schema_pattern {
	const char *pattern; /* of the schema's own text */
	struct js_regex *regex;
};

struct json_schema {
	json_t *root;
	bool ref_alone; /* before 2019-09 only a $ref counts where there is one */
	bool contains_evaluates; /* since 2020-12 what `contains` fits is not unevaluated */
	bool bundled;   /* schemas within have separate addresses, so that what "#..." means
	                 * depends on where it stands */
	struct schema_pattern patterns[SCHEMA_PATTERNS_MAX];
	size_t pattern_count;
};

/* One check. */
struct schema_judge {
	schema_value_check *value; /* for schemas within a schema */
	struct json_schema *schema;
	size_t steps;
	unsigned frames;
	unsigned quiet;      /* problems are not reported: another branch may fit */
	size_t count;        /* problems */
	struct buf *problems;
	struct buf unknown;  /* where something cannot be judged first, and why; or empty */
};

/* What one keyword says of a value. */
typedef enum schema_verdict schema_keyword_check(struct schema_judge *judge, const json_t *schema,
                                                 const json_t *says, const json_t *value,
                                                 const struct schema_place *place);

/* How much of a text a sentence shows, for "%.*s": whole characters. */
static inline int schema_shown(const char *text)
{
	return (int)utf8_head(span_str(text), SCHEMA_SHOWN_BYTES).len;
}

/* ---- judge.c ---- */

/* Whether the pattern matches anywhere in the text, which stands at the place. */
enum schema_verdict schema_judge_pattern(struct schema_judge *judge, const char *pattern,
                                         const char *text, const struct schema_place *place);
/* Reports a problem, unless the judge is quiet; INVALID. */
__attribute__((format(printf, 4, 5)))
enum schema_verdict schema_problem(struct schema_judge *judge, const struct schema_place *place,
                                   const char *keyword, const char *format, ...);
/* Notes what cannot be judged, unless something was noted before; UNKNOWN. */
__attribute__((format(printf, 3, 4)))
enum schema_verdict schema_unknown(struct schema_judge *judge, const struct schema_place *place,
                                   const char *format, ...);
/* The same where schema_spend has said that no steps are left. */
enum schema_verdict schema_unfinished(struct schema_judge *judge, const struct schema_place *place);
/* Both hold. */
static inline enum schema_verdict schema_both(enum schema_verdict a, enum schema_verdict b)
{
	return a < b ? a : b;
}
/* Uses up some of the steps; false: none are left. */
bool schema_spend(struct schema_judge *judge, size_t steps);
/* The schema that a schema's $ref, $dynamicRef or $recursiveRef (`keyword`) names; NULL: it cannot
 * be known. Borrowed. */
const json_t *schema_referred(const struct json_schema *schema, const char *keyword,
                              const char *ref);


/* ---- types.c ---- */

/* Whether the keyword `type` takes a value. */
bool schema_type_fits(const json_t *type, const json_t *value);
/* "an integer" and the like. */
const char *schema_value_phrase(const json_t *value);

/* ---- branches.c, keywords.c ---- */

/* NULL: an annotation, or one that goes with another. */
schema_keyword_check *schema_keyword(const char *name);
schema_keyword_check schema_all_of, schema_any_of, schema_one_of, schema_not, schema_if;
/* evaluated.c */
schema_keyword_check schema_unevaluated_members, schema_unevaluated_items;

#endif
