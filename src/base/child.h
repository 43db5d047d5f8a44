/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of the user's are started with: an editor, a clipboard's helper, a hook, a worker.
 *
 *     posix_spawnattr_t how;
 *
 *     child_attributes(&how, POSIX_SPAWN_SETSIGMASK);
 *     failed = posix_spawn(&pid, path, &files, &how, argv, environ);
 *     posix_spawnattr_destroy(&how);
 */
#ifndef HASP_BASE_CHILD_H
#define HASP_BASE_CHILD_H

#include <spawn.h>

#include "base/span.h"

/* Every signal does what it usually does, whatever hasp ignores or catches.  `flags` of
 * posix_spawnattr_setflags besides: with POSIX_SPAWN_SETSIGMASK none is blocked. */
void child_attributes(posix_spawnattr_t *ret, short flags);

/* A descriptor from which these bytes are read, in memory; `name` is for those who look at the
 * process. -1: *errno says why. */
int child_input(const char *name, struct span bytes);

#endif
