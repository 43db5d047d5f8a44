/* SPDX-License-Identifier: Apache-2.0 */
#include "config/lock.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { LOCK_STALE_S = 10, LOCK_WAIT_MS = 10000, LOCK_STEP_MS = 20 };

/* The lock's folder, if nobody touched it for long: who made it is gone. */
static void remove_stale(const char *lock)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	if (lstat(lock, &st) == 0 && S_ISDIR(st.st_mode) &&
	    now.tv_sec - st.st_mtim.tv_sec > LOCK_STALE_S)
		rmdir(lock);
}

char *file_lock(const char *path, struct err *err)
{
	_cleanup_free_ char *target = realpath(path, NULL);
	_cleanup_free_ char *lock = mem_printf("%s.lock", target ? target : path);

	if (!file_make_parent(path, err))
		return NULL;
	for (int waited = 0; waited <= LOCK_WAIT_MS; waited += LOCK_STEP_MS) {
		struct timespec step = { 0, LOCK_STEP_MS * 1000000L };

		if (mkdir(lock, 0700) == 0)
			return mem_steal(&lock);
		if (errno != EEXIST) {
			err_set_errno(err, errno, "Cannot lock %s", path);
			return NULL;
		}
		remove_stale(lock);
		nanosleep(&step, NULL);
	}
	err_set(err, ERR_BUSY,
	        "%s has been locked by another program for %d s; nothing was changed. Wait for its end, or "
	        "end it; if there is none, remove the folder %s, and try again.",
	        path, LOCK_WAIT_MS / 1000, lock);
	return NULL;
}

void file_unlock(char *lock)
{
	if (lock)
		rmdir(lock);
	free(lock);
}
