/* SPDX-License-Identifier: Apache-2.0 */
/* The child in which a file is read (child.c), and the answer that it sends to derive.c. */
#ifndef HASP_READ_CHILD_H
#define HASP_READ_CHILD_H

#include "read/format.h"

/* From its fork to its end, and the one frame that it answers with: a head, a JSON object, the
 * text.
 *
 *     8 bytes   CHILD_MAGIC
 *     8 bytes   length of the JSON, little-endian
 *     8 bytes   length of the text
 *
 * The object has the members of a derive_result but its text; or "error" and "message".
 * Descriptors of the child: 0 the file, 1 and 2 lead nowhere, CHILD_ANSWER, and CHILD_ALIVE, whose
 * other end is the parent's: when that closes, the kernel kills the child, so that a parent whose
 * own filter forbids signals can end it. */
#define CHILD_MAGIC "hasp\1rd\n"
enum { CHILD_MAGIC_BYTES = 8, CHILD_HEAD_BYTES = 24, CHILD_ANSWER = 3, CHILD_ALIVE = 4 };

/* How a child ends that cannot answer, besides 128 + a signal. */
enum { CHILD_OUT_OF_MEMORY = 99, CHILD_NO_ANSWER = 98 };

enum { DERIVE_JSON_DEPTH = 16 };

/* Fills in all but the text from the object of a frame; false: it breaks the rules. */
bool derive_result_take(const json_t *object, struct derive_result *ret);
/* A string's text on one line that fits. */
void derive_result_line(char *out, size_t size, const json_t *value);

struct child_task {
	const struct format *format;
	const struct derive_request *request;
	int answer, alive; /* pipes: to be written, to be read */
};

/* In the child, which has one thread: takes the descriptors, loads what the format needs, gives
 * up all else, reads, answers. */
_Noreturn void child_read(const struct child_task *task);

#endif
