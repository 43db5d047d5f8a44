/* SPDX-License-Identifier: Apache-2.0 */
/* From TOML to rules. Private to this folder. */
#ifndef HASP_POLICY_LOAD_H
#define HASP_POLICY_LOAD_H

#include "base/span.h"
#include "policy/rule.h"

struct loader {
	struct policy *policy;
	enum policy_tier tier;
	const char *file;  /* as origins and problems name it */
	json_t *problems;  /* an array; or NULL: they are not told */
	bool lazy;         /* hasp's own: expressions are compiled when they are used */
	bool trial;        /* for examples, which are not looked at again */
	bool failed;       /* something worse than a warning was found */
	size_t told;       /* problems of this file */
};

/* Adds the rules and checkers of one file. False: what loader->failed says. */
bool load_text(struct loader *loader, struct span text);
/* The same for what is parsed already. */
bool load_table(struct loader *loader, const json_t *table);

/* Appends a problem; `kind` is one of Gemini CLI's words (policy.h). Of a file's problems after the
 * first LIMIT_WARNINGS load_text reports only the number, but the first error always counts. */
void load_problem(struct loader *loader, const json_t *table, const char *kind,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

/* schema.c: whether the tables have the members that rules and checkers must have, of the right
 * types. */
bool load_check(struct loader *loader, const json_t *table);
/* examples.c: runs all examples of a file; rules that allow and whose examples fail get this
 * member. */
#define LOAD_FAILED "\x01" "failed"
void load_examples(struct loader *loader, json_t *table);

/* Either spelling of a member, or NULL. */
const json_t *load_member(const json_t *table, const char *name, const char *old_name);
bool load_decision(const char *word, enum policy_decision *ret);

#endif
