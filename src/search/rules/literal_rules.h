/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of an ignore file that name one path each, found without trying them all.
 * Private to this folder.
 *
 * Generated ignore files have thousands of such lines.  Of equal ones only the last counts.
 */
#ifndef HASP_SEARCH_RULES_LITERAL_RULES_H
#define HASP_SEARCH_RULES_LITERAL_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"

struct literal_rule {
	char *text;       /* owned; the path, or the last component of any path */
	size_t len;
	uint32_t number;  /* of the rule in its file */
	bool basename;    /* text is a last component */
	bool folder_only;
};

/* Begins as zeroes. */
struct literal_rules {
	struct literal_rule *slots; /* owned; text NULL: free */
	size_t size, count;         /* size is a power of two, or 0 */
};

/* Numbers grow from call to call. */
void literal_rules_add(struct literal_rules *rules, struct span text, bool basename,
                       bool folder_only, uint32_t number);
void literal_rules_release(struct literal_rules *rules);

/* The last rule that fits, or -1. `name` is the last component of `path`. */
int64_t literal_rules_find(const struct literal_rules *rules, struct span path, struct span name,
                           bool is_folder);

#endif
