/* SPDX-License-Identifier: Apache-2.0 */
/* A folder made from a case's description, and looking at it afterwards. */
#ifndef HASP_TEST_TOOL_WORKSPACE_FIXTURE_H
#define HASP_TEST_TOOL_WORKSPACE_FIXTURE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/buf.h"

/* Makes a new empty folder; the path is the caller's to free. */
char *fixture_make(void);
void fixture_remove(const char *root);

/* Makes the files of a case: {"path": SPEC}. SPEC is the content as a string, or an object
 * with one of
 *   "hex"              the bytes in hexadecimal
 *   "lines"            so many lines "line N"
 *   "repeat", "count"  a string, so many times
 *   "folder": true, "link": target, "fifo": true, "copy_of": path in the machine
 * and perhaps "mode" (octal, as a string). */
void fixture_files(const char *root, const json_t *files);

/* The content of a file beneath the root; false if there is no such file. */
bool fixture_read(const char *root, const char *path, struct buf *out);

/* The bytes that a SPEC stands for. */
void fixture_content(const json_t *spec, struct buf *out);

#endif
