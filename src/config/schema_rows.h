/* SPDX-License-Identifier: Apache-2.0 */
/* Private to the schema_*.c: how rows are written down.
 *
 * A group is one text of fields, not an array of pointers: those would have to be relocated at
 * every start of the
 * program, for settings that most commands do not read.  schema.c takes it apart when it is needed.
 */
#ifndef HASP_CONFIG_SCHEMA_ROWS_H
#define HASP_CONFIG_SCHEMA_ROWS_H

#include "config/schema.h"

#define ROW(TYPE, PATH, DEFAULT, CHOICES, HELP, FLAGS) \
	PATH "\0" TYPE "\0" DEFAULT "\0" CHOICES "\0" HELP "\0" FLAGS "\0"

/* The default of a setting that has none. */
#define NONE ""

/* What may stand behind a row's help, one or more beside each other: how files are merged (schema.h),
 * and what a project may say (authority.h; without one, a trusted project says what it likes). */
#define CONCAT "c"
#define UNION "u"
#define SHALLOW "s"
#define INTERSECT "i"
#define NEVER "n"
#define ONLY_TRUE "t"
#define ONLY_FALSE "f"
#define REMOTE "r"
#define ASK "a"
#define PLAIN "p"
#define TEXT_NAMES "m"
#define INSIDE "d"
#define CONTENT "k"

#define BOOLEAN(PATH, DEFAULT, HELP, ...) ROW("b", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define INTEGER(PATH, DEFAULT, HELP, ...) ROW("i", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define NUMBER(PATH, DEFAULT, HELP, ...) ROW("n", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define STRING(PATH, DEFAULT, HELP, ...) ROW("s", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define CHOICE(PATH, DEFAULT, CHOICES, HELP, ...) \
	ROW("c", PATH, DEFAULT, CHOICES, HELP, "" __VA_ARGS__)
#define STRINGS(PATH, DEFAULT, HELP, ...) ROW("S", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define STRING_OR_STRINGS(PATH, DEFAULT, HELP, ...) \
	ROW("e", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define ARRAY(PATH, DEFAULT, HELP, ...) ROW("a", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define OBJECT(PATH, DEFAULT, HELP, ...) ROW("o", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)
#define SWITCH(PATH, DEFAULT, HELP, ...) ROW("w", PATH, DEFAULT, "", HELP, "" __VA_ARGS__)

#endif
