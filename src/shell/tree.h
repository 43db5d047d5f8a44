/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the second of the two readings, tree-sitter-bash's.
 *
 * Its grammar follows bash less closely than reader.h's rules in many small things ([ a || b ],
 * <<EOF;b, a \ b), and more closely in how constructs nest; nothing is taken from it but where
 * commands begin and words end, to compare.
 */
#ifndef HASP_SHELL_TREE_H
#define HASP_SHELL_TREE_H

#include "shell/reader.h"

struct tree_parser; /* loaded tables and a parser */

/* NULL when the library does not take the grammar's tables. */
struct tree_parser *tree_parser_new(void);
void tree_parser_free(struct tree_parser *parser);

/* Parses reading->text and adds to its problems: SYNTAX where the grammar does not fit,
 * READINGS_DIFFER where a command begins or a word ends in one of the two only, LIMIT when
 * *budget_us, from which the time is taken, is used up, or when the text is longer than the
 * library can bear: versions up to 0.22 write past memory when a node has 65,536 children.
 * Heredocs in which nothing is expanded are cut out of texts that are too long, or have lines
 * that are. */
void tree_compare(struct tree_parser *parser, struct reading *reading, uint64_t *budget_us);

#endif
