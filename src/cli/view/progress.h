/* SPDX-License-Identifier: Apache-2.0 */
/* What a person sees on standard error while a run without a screen works: finished calls with
 * their diffs and output, as on the interactive terminal, and beneath them, drawn again and again,
 * what goes on.
 *
 *     struct progress *progress = progress_new(&lock);  // NULL: standard error is no terminal
 *     progress_begin(progress);                         // from now on something goes on
 *     progress_message(progress, topic, message);         // each message of the bus
 *     progress_clear(progress);                         // before something else is written there
 *     progress_hide(progress, midline);                 // nothing beneath a line without an end
 *     progress_end(progress);
 *     progress_free(progress);
 *
 * It writes to standard error alone, never to standard output.  Nothing is read from the terminal,
 * which stays as it was found: what its window can do is what the environment says (term_guess).
 * The rows that are drawn again are narrow (PROGRESS_COLUMNS), so that a window that is made
 * narrower seldom wraps them; one that does leaves a row of them above.  On a terminal without
 * escape sequences, and for screen readers, nothing is drawn again.
 *
 * All of it is called with the lock held that is given to progress_new, but for progress_new,
 * progress_end and progress_free; every pointer to a progress may be NULL.
 */
#ifndef HASP_CLI_VIEW_PROGRESS_H
#define HASP_CLI_VIEW_PROGRESS_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>

#include "bus/bus.h"
#include "tui/term/theme.h"

enum { PROGRESS_COLUMNS = 76 };

struct progress;

/* NULL: standard error is no terminal. */
struct progress *progress_new(pthread_mutex_t *lock);
/* Ends it too. */
void progress_free(struct progress *progress);
/* Colours other than the usual ones (copied). */
void progress_set_theme(struct progress *progress, const struct theme *theme);
/* States are words, and nothing is drawn again. */
void progress_set_plain(struct progress *progress);
/* What is worked on (copied); NULL and "" change nothing. */
void progress_topic(struct progress *progress, const char *topic);
/* Starts a thread that shows how time passes. */
void progress_begin(struct progress *progress);
/* Shows what has come of it. */
void progress_message(struct progress *progress, enum bus_topic topic, const json_t *message);
/* Takes away what is drawn again and again. */
void progress_clear(struct progress *progress);
/* Whether what goes on is not to be shown now; else it is, if it is not yet. */
void progress_hide(struct progress *progress, bool hidden);
/* Ends the thread and the display. */
void progress_end(struct progress *progress);

#endif
