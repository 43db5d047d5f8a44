/* SPDX-License-Identifier: Apache-2.0 */
/* What was done to the indentation of a diff, inferred from pairs of lines. */
#ifndef HASP_PATCH_WHITESPACE_INDENT_H
#define HASP_PATCH_WHITESPACE_INDENT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/span.h"

/* Leading white space of a line as the diff has it, and as the file has it. */
struct indent_pair {
	struct span diff, file;
};

enum indent_kind {
	INDENT_SAME,    /* nothing was done */
	INDENT_STRIP,   /* the diff has `prefix` in front of it */
	INDENT_ADD,     /* the diff lost `prefix` */
	INDENT_TABS,    /* the diff has spaces where the file has tabs of `width` */
	INDENT_SPACES,  /* the diff has tabs where the file has `width` spaces */
	INDENT_SCALE,   /* the file has `width` spaces for every `from` of the diff */
	INDENT_MAP,     /* each indentation of the diff stands for one of the file */
	INDENT_UNKNOWN,
};

struct indent_rule {
	enum indent_kind kind;
	struct span prefix;
	size_t width, from;
	const struct indent_pair *pairs; /* borrowed, for TABS and MAP */
	size_t count;
};

/* The simplest rule that explains all pairs. No pairs: INDENT_SAME. */
struct indent_rule indent_infer(const struct indent_pair *pairs, size_t count);

/* Appends what `indent` was before the damage; false when the rule does not say. */
bool indent_undo(const struct indent_rule *rule, struct span indent, struct buf *out);

/* Whether there is a tab in it. */
static inline bool indent_has_tab(struct span indent)
{
	return indent.len && memchr(indent.data, '\t', indent.len);
}

/* The leading spaces and tabs of a line. */
struct span indent_of_line(struct span text);

#endif
