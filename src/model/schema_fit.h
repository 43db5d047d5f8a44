/* SPDX-License-Identifier: Apache-2.0 */
/* Private to schema_fit.c, schema_merge.c and schema_mend.c: one schema while it is rewritten.
 *
 * A schema is rewritten in three steps, each for itself and then for what is within it:
 *   schema_merge   references, and schemas that are put together from others, become one
 *                  object whose members are still those of the source
 *   schema_mend    older forms and those of other languages become those of 2020-12, and what a
 *                  format has otherwise (Gemini's enum) takes its form
 *   fit_members    (schema_fit.c) the table decides about each keyword
 */
#ifndef HASP_MODEL_SCHEMA_FIT_H
#define HASP_MODEL_SCHEMA_FIT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/limits.h"
#include "base/span.h"

enum fit_column { FIT_CHAT, FIT_RESPONSES, FIT_ANTHROPIC, FIT_GEMINI, FIT_COLUMNS };

struct fit_format {
	const char *name;  /* provider_format.name */
	bool points;       /* $ref may stand next to anything */
	bool inlines;      /* $ref is not sent at all */
	bool merges;       /* allOf, then, else, dependentSchemas are merged */
	bool fills;        /* objects have properties */
};

enum {
	FIT_OPEN = 64,    /* references within each other */
	FIT_AGAIN = 2,    /* times that a recursive one is put in its place */
	FIT_NESTED = 16,  /* schemas that are merged into each other */
	FIT_NOTE = 200,   /* bytes of a value that is named in a description */
};

struct schema_fitting {
	const struct fit_format *format;
	enum fit_column column;
	const json_t *root;
	json_t *labels;                /* of root: schema_names_labels */
	const json_t *sent;            /* {NAME: NAME SENT}; or NULL */
	bool arguments;                /* its top is that of a tool's arguments */
	json_t *targets;               /* {name in $defs: the reference} */
	const json_t *open[FIT_OPEN];  /* targets that are being put in their place */
	size_t open_count;
	size_t nodes, most;            /* schemas so far, and at most */
};

/* The first step: a new object. `top`: of a tool's arguments. */
json_t *schema_merge(struct schema_fitting *fitting, const json_t *schema, bool top);
/* What is sent of a schema that is too deep, or within itself: its type.  A new reference. */
json_t *schema_merge_stub(const struct schema_fitting *fitting, const json_t *schema);

/* The second step, in place. */
void schema_mend(const struct schema_fitting *fitting, json_t *flat);
/* Gemini: one type, and nothing next to anyOf.  Takes `out`, and returns what becomes of it. */
json_t *schema_mend_for_gemini(json_t *out);
/* Whether a pattern is read by Python's re and by JavaScript alike. */
bool schema_mend_pattern_fits(struct span pattern);

/* The types that a schema names, as an array; empty: any. A new reference. */
json_t *schema_mend_types(const json_t *schema);
/* Sets them: takes `types`; one is a word, none is any. */
void schema_mend_set_types(json_t *schema, json_t *types);
/* A member that may be changed: a copy takes the place of one that others have, too; `if_missing`
 * (taken) is its value where there is none of that type. Borrowed. */
json_t *schema_mend_own(json_t *schema, const char *name, json_t *if_missing);
/* Sets a member that is not there. */
void schema_mend_missing(json_t *schema, const char *name, json_t *value);
/* Values of a schema that is one value, or some; a new array. NULL: it is not. */
json_t *schema_mend_choices(const json_t *schema);

#endif
