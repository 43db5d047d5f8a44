/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of warnings that people read: what a file or a command has wrong, one sentence for each. A
 * file with a mistake on every line gives LIMIT_WARNINGS sentences, and one that says how many more
 * there are.
 *
 *     json_t *list = json_array();
 *     warnings_add(list, json_text(span_str(sentence)));
 */
#ifndef HASP_DATA_WARNINGS_H
#define HASP_DATA_WARNINGS_H

#include <jansson.h>
#include <stdbool.h>

/* Whether a further warning would only be counted: then its sentence need not be good. */
bool warnings_full(const json_t *list);
/* Appends `warning` (taken), a sentence or an object with the sentence as its "message"; when the
 * list is full, its last sentence counts it instead. `list` may be NULL: then it is dropped. */
void warnings_add(json_t *list, json_t *warning);
/* The same for a sentence that may have words of others in it: it becomes one line that does not
 * act on a terminal, of less than ERR_MESSAGE_MAX bytes. */
__attribute__((format(printf, 2, 3)))
void warnings_add_line(json_t *list, const char *format, ...);
/* The same for a warning that must be read however many there are: it stands before the others. */
void warnings_add_first(json_t *list, json_t *warning);

#endif
