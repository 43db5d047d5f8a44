/* SPDX-License-Identifier: Apache-2.0 */
/* A provider's own copy of the options it was opened with. */
#ifndef HASP_WORKER_OPTIONS_COPY_H
#define HASP_WORKER_OPTIONS_COPY_H

#include "worker/local.h"

/* Everything that is pointed to is copied, but for ret_recovered, which is left out. */
struct worker_options worker_options_copy(const struct worker_options *options);
void worker_options_release(struct worker_options *options);

/* A NULL-terminated copy of `count` strings; freed with texts_free. */
char **texts_copy(const char *const *texts, size_t count);
void texts_free(char **texts); /* NULL is fine */

#endif
