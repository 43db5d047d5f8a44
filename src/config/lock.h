/* SPDX-License-Identifier: Apache-2.0 */
/* Gemini CLI's lock on a file of settings. Private to this folder. */
#ifndef HASP_CONFIG_LOCK_H
#define HASP_CONFIG_LOCK_H

#include "base/err.h"

/* The folder FILE.lock, made by who holds it; one that nobody touched for ten seconds is left over and
 * taken away.  Waits ten seconds for it, then BUSY. The caller hands the result to file_unlock. */
char *file_lock(const char *path, struct err *err);
void file_unlock(char *lock); /* NULL is fine; frees */
static inline void file_cleanup_unlock(char **lock)
{
	file_unlock(*lock);
}
#define _cleanup_lock_ __attribute__((cleanup(file_cleanup_unlock)))

#endif
