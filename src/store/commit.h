/* SPDX-License-Identifier: Apache-2.0 */
/* Compare-and-swap on files: the new content replaces the old only if the old
 * is still what the snapshot read.
 *
 * Replacing: an anonymous temporary in the same folder (O_TMPFILE) gets the
 * content, mode, owner, xattrs and ACL, and is synced; it is given a name and
 * exchanged with the file (RENAME_EXCHANGE) while a write lease on the old file
 * tells whether anyone else has it open; what came out is compared with what
 * was read, and exchanged back if it differs.  No reader sees half a file, and
 * another writer's bytes are never lost.  Creating: link(2), which refuses to
 * replace.  A crash leaves the old or the new file; the temporary's name says
 * what it is, so that the next commit in the folder puts things right
 * (recover.h).
 */
#ifndef HASP_STORE_COMMIT_H
#define HASP_STORE_COMMIT_H

#include "store/snapshot.h"

enum durability {
	DURABILITY_FULL,   /* file and folder are on the disk before success is reported */
	DURABILITY_RENAME, /* atomic, left to the kernel to write out */
};

struct commit_options {
	enum durability durability;
	unsigned busy_wait_ms; /* how long to wait for another process that has the file
	                        * open for writing; 0 means 2000 */
	mode_t create_mode;    /* for new files, less the umask; 0 means 0666 */
};

/* What is on disk afterwards. */
struct file_state {
	char *path;           /* owned; canonical absolute */
	bool exists;
	struct sha256 sha256; /* of the bytes on disk */
	size_t size;
};

void file_state_release(struct file_state *state);

/* Writes `pieces`, one after the other, as the new content of the file that `base`
 * was read from, or creates it when base->exists is false (with its missing folders).
 * `options` may be NULL.  STATE_MISMATCH when the file is not what `base` says any
 * more (or appeared); BUSY; CANNOT_PRESERVE; DISK_FULL; PERMISSION_DENIED; IO_ERROR.
 * After any failure the file has the content that others gave it, and no trace is left. */
bool commit_write(struct snapshot *base, const struct span *pieces, size_t count,
                  const struct commit_options *options, struct file_state *ret,
                  struct err *err);

/* Removes the file if it still is what `base` says. */
bool commit_delete(struct snapshot *base, const struct commit_options *options,
                   struct err *err);

#endif
