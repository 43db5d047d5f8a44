/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the table of variables that mean something to bash or to programs.
 *
 * To add one: a row in variables.c, and, if bash itself reads or sets it, a line in
 * test/shell/hostile.py, which a test runs in a real bash.
 */
#ifndef HASP_SHELL_VARIABLES_H
#define HASP_SHELL_VARIABLES_H

#include "shell/analysis.h"

enum variable_trait {
	VARIABLE_RUNS = 1,      /* decides which programs run, or what they run */
	VARIABLE_EVALUATES = 2, /* what is assigned to it is evaluated as arithmetic */
	VARIABLE_NUMBER = 4,    /* a number for certain, while nobody assigns to it */
	VARIABLE_SHELL = 8,     /* the shell sets it: no assignment says what it holds */
	VARIABLE_PATH = 16,     /* an absolute path for certain, while nobody assigns to it */
};

/* The traits (enum variable_trait) of a name; 0 when it is in no row. */
unsigned variable_traits(struct span name);

/* Whether setting the variable to the value decides which programs run or what they do. `value`
 * NULL: a value that is not known. */
bool variable_decides(struct span name, const struct shell_word *value);

#endif
