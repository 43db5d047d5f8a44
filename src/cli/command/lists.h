/* SPDX-License-Identifier: Apache-2.0 */
/* Values with commas between them, as several flags take them. */
#ifndef HASP_CLI_COMMAND_LISTS_H
#define HASP_CLI_COMMAND_LISTS_H

#include <jansson.h>

/* Appends each value of `text`, without blanks around it, to the array `out`; empty ones are left out. A comma
 * in parentheses parts nothing: "glob,run_shell_command(a, b)" is two values. */
void list_split(const char *text, json_t *out);

#endif
