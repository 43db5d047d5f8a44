/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that are typed while a Tab in a shell command waits for bash: kept, and given on in order
 * when the answer has come.  Otherwise an Enter right after the Tab would meet the draft before it
 * is completed.
 *
 *     struct typeahead *typeahead = typeahead_new(give, app);
 *     if (waits && typeahead_keep(typeahead, key)) ... it is given on later
 *     typeahead_release(typeahead);                     // the waiting has ended: give(app, key) */
#ifndef HASP_TUI_TYPEAHEAD_H
#define HASP_TUI_TYPEAHEAD_H

#include <stdbool.h>

#include "tui/term/keys.h"

struct typeahead;

/* `give` takes a key, which is borrowed. */
struct typeahead *typeahead_new(void (*give)(void *data, const struct key *key), void *data);
void typeahead_free(struct typeahead *typeahead); /* NULL is fine */
/* False: there is no room for it. */
bool typeahead_keep(struct typeahead *typeahead, const struct key *key);
/* Forgets what is kept. */
void typeahead_drop(struct typeahead *typeahead);
/* Gives on what is kept, in order.  What is kept meanwhile follows with the next call. */
void typeahead_release(struct typeahead *typeahead);

#endif
