/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: the text of a .env file.
 *
 *     NAME=value            # a comment
 *     export NAME = value
 *     NAME="two\nlines"     'as it is'     `as it is`     quotes may hold line ends
 *
 * As the npm package dotenv reads it, line by line: a line that is nothing of this is skipped, and
 * of two lines for
 * one name the later one counts.
 */
#ifndef HASP_CONFIG_ENV_FILE_H
#define HASP_CONFIG_ENV_FILE_H

#include "base/span.h"

/* Calls `take` for each assignment in order. `value` is NUL-terminated, borrowed, without its
 * quotes and with \n
 * and \r of double quotes put in. Assignments with a byte 0 are left out. */
void env_file_parse(struct span text, void (*take)(void *data, struct span name, const char *value),
                    void *data);

#endif
