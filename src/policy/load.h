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

/* The member that a rule gets which allows something and whose own examples fail. */
#define LOAD_FAILED "\x01" "failed"

#endif
