/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: reads a wrapper's options as getopt_long(3) would.
 *
 *     struct options options;
 *     options_begin(&options, words, count, wrapper);
 *     while (options_next(&options)) ...
 *     // options.at is the first operand
 */
#ifndef HASP_SHELL_OPTIONS_H
#define HASP_SHELL_OPTIONS_H

#include "shell/analysis.h"
#include "shell/wrappers.h"

struct options {
	const struct shell_word *words;
	size_t count;
	const struct wrapper *wrapper;
	size_t at;            /* the word that is read next */
	size_t in_word;       /* in it, the letter of a cluster, or 0 */
	unsigned pending;     /* values that the cluster's letters take from the next words */
	/* the option that was found: */
	char letter;          /* or 0 for a long one */
	struct span name;     /* of a long one, in full */
	bool has_value;
	struct shell_word value;
	/* what was met on the way: */
	bool unknown;         /* an option that the table does not have */
	bool dynamic;         /* a word that may be an option, or several words */
	bool ended;           /* -- was met */
};

void options_begin(struct options *options, const struct shell_word *words, size_t count,
                   const struct wrapper *wrapper);
/* False at the first operand or the end. */
bool options_next(struct options *options);

/* Whether the option that was found is this one. */
static inline bool option_is(const struct options *options, char letter, const char *name)
{
	return (letter && options->letter == letter) ||
	       (name && options->name.len > 0 && span_eq(options->name, span_str(name)));
}

#endif
