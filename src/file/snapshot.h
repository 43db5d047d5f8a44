/* SPDX-License-Identifier: Apache-2.0 */
/* A file's content at one moment, with its hash.
 *
 * The bytes are read into memory, never mapped, so that a writer who truncates
 * the file cannot crash the reader.  The descriptor stays open: it is what the
 * commit later checks against (commit.h).
 */
#ifndef HASP_FILE_SNAPSHOT_H
#define HASP_FILE_SNAPSHOT_H

#include <sys/stat.h>

#include "base/sha256.h"
#include "file/workspace.h"

struct snapshot {
	struct place place;   /* owned */
	bool exists;          /* false: no such file; content is empty, sha256 that of nothing */
	int fd;               /* owned, read-only; -1 when !exists */
	struct stat stat;     /* as read; zero when !exists */
	struct span content;  /* owned memory */
	struct sha256 sha256; /* of all the bytes */
};

#define SNAPSHOT_INIT { .place = PLACE_INIT, .fd = -1 }
/* Frees the content and closes the descriptor. */
void snapshot_release(struct snapshot *snapshot);
#define _cleanup_snapshot_ __attribute__((cleanup(snapshot_release)))

/* Reads the file at `path`.  A missing file (or folder before it) is no error: `exists`
 * is false.  The hash is computed while reading, on a second thread for large
 * files.  Sparse files are read as their zeros.
 *   NOT_A_FILE (folder, FIFO, socket, device: never opened for data)
 *   TOO_LARGE (more than max_bytes; 0 means LIMIT_FILE_BYTES_DEFAULT)
 *   OUTSIDE_WORKSPACE, PERMISSION_DENIED, IO_ERROR */
bool snapshot_read(const struct workspace *ws, const char *path, size_t max_bytes,
                   struct snapshot *ret, struct err *err);

#endif
