/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: which text of a script is a number for certain when it runs.
 *
 * Arithmetic evaluates the value of a variable, and the values of variables in it, so a value of
 * a[$(touch M)] runs touch.  What is not known to be a number here is a problem there. */
#ifndef HASP_SHELL_NUMBERS_H
#define HASP_SHELL_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

/* The length of the expansion that `text` begins with, from its $ on, if its result is nothing
 * but digits, blanks and a sign; else 0. Knows $#, $?, $$, $!, ${#x}, $((…)), and substitutions of
 * commands that print numbers alone: $(date +%s), $(nproc), $(… | wc -l). */
size_t number_expansion(struct span text);

/* Whether a value, as it is written, is a number or empty. */
bool number_is_certain(struct span raw);

/* The same of a word behind "for NAME in", which may also be a range: {1..9}. */
bool number_is_certain_item(struct span raw);

#endif
