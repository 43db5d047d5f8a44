/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of a session's logs.
 *
 * FOLDER/SESSION/ID.log, readable by the owner alone.  It is made by the first log, and locked
 * (flock) while the session lives: folders of sessions that were killed are recognised by their
 * free lock, and removed when the next one is made, unless they are asked to stay (a file "keep").
 */
#ifndef HASP_WORKER_JOB_LOGS_H
#define HASP_WORKER_JOB_LOGS_H

#include <stdbool.h>

struct logs;

/* `folder` absolute; made with its parents when it is needed. */
struct logs *logs_new(const char *folder, bool keep);
/* Removes the session's folder unless it is to stay. NULL is fine. */
void logs_free(struct logs *logs);

/* A new file; -1 with errno set. *ret_path is the caller's to free. From any thread. */
int logs_open(struct logs *logs, unsigned id, char **ret_path);

#endif
