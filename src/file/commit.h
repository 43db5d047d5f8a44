/* SPDX-License-Identifier: Apache-2.0 */
/* Compare-and-swap on files: the new content replaces the old only if the old
 * is still what the snapshot read.
 *
 *     struct snapshot base = SNAPSHOT_INIT;
 *     snapshot_read(ws, "main.c", 0, &base, &err);
 *     commit_write(&base, pieces, count, NULL, &state, &err);
 *     ... STATE_MISMATCH: read again, decide again ...
 *
 * Replacing: an anonymous temporary in the same folder (O_TMPFILE) gets the content, mode, owner,
 * xattrs and ACL (stage.h), and is synced. Then, under a lock on the folder that all commits take:
 * a lease on the old file shows that no process has it open for writing; every byte of it is
 * compared with what was read; the temporary is given a name and, if the file still has its own,
 * exchanged with it (RENAME_EXCHANGE); what came out must be that very file and the lease unbroken,
 * else the names are exchanged back. No reader sees half a file, and another writer's bytes are not
 * lost. Creating: link(2), which refuses to replace. Deleting: the file is moved to a temporary
 * name, verified like an exchanged one, and removed. A kill at any instruction leaves the old or
 * the new file; the temporary's name says what it is, so that the next commit in the folder puts
 * things right (recover_open). Folders that were made for a new file stay when the process is
 * killed.
 *
 * What others can see: a program that watches the folder may see a name that begins with ".hasp-"
 * for a moment; when a commit loses a race against another process's rename, the new file has the
 * name for the few microseconds until the other is put back. No process reads it meanwhile
 * (stage.h).
 *
 * What remains:
 *   - A program that has looked the old file up by name and is interrupted before the kernel
 *     marks it as a writer, for the whole time from the exchange to the last look, writes into the
 *     removed file. (The code between is a fraction of a microsecond.)  The last look is
 *     therefore as late as can be: after the folder is synced (DURABILITY_FULL), and after giving
 *     up the processor, for 100 microseconds when anybody but the workspace's own commits changed
 *     the file within the last two seconds.  Measured on a busy machine, against a writer that does
 *     nothing but open, write and close, against commits without a pause: about 1 of its 50,000
 *     writes was lost without the sleep, 1 of 600,000 with it.
 *   - A process that opens the new file before its last look waits in open(2) (a lease, see
 *     stage.h); with O_NONBLOCK open fails with EAGAIN instead.  If the file is put back,
 *     they get the stranger's content; so do those who have looked it up by its name before
 *     that, and open it after, however late.  What such a late one writes in place is lost, as
 *     is, where there are no leases, all that is written to the new file before it is put back.
 *   - Putting back is an exchange too.  It is preceded by a look; who renames a second file in
 *     between the two (about a microsecond) has it put back by the next exchange, and who opens the
 *     file in between the exchanges gets the first one, whose bytes are then removed.  Most
 *     likely this lost the one write that was lost in a test on a busy machine, of 6,632 in place
 *     against commits and renames without a pause: with delays at random steps nothing else did.
 *   - File systems without leases (most network and FUSE ones; or a file that another user
 *     owns): the content is compared again after the exchange and at the last look,
 *     so a writer is lost who has the file open but writes only later.
 *   - File systems without RENAME_EXCHANGE: a file renamed over the old one between the
 *     last comparison and our rename is lost; a failure to sync the folder cannot be undone.
 *   - Folders that cannot be read, or file systems without flock: commits of several processes
 *     to one file at the same time, with another rename between, may undo one another.
 *   - Not kept: inode flags, hard links (the other names keep the old file), birth time.
 *   - With DURABILITY_RENAME, a power failure may leave an empty file on some file systems
 *     (delayed allocation): it is for who can repeat the work.
 */
#ifndef HASP_FILE_COMMIT_H
#define HASP_FILE_COMMIT_H

#include "file/snapshot.h"

enum durability {
	DURABILITY_FULL,   /* file and folder are on the disk before success is reported */
	DURABILITY_RENAME, /* atomic, left to the kernel to write out */
};

struct commit_options {
	enum durability durability;
	unsigned busy_wait_ms; /* how long to wait for another process that has the file
	                        * open for writing; 0 means 2000 */
	mode_t create_mode;    /* for new files, less the umask; 0 means 0666 */
	/* NULL, or called before what may take long: waiting for the disk or for other processes
	 * (but for the 100 microseconds of a last look), and an edit of a large file (edit.h). */
	void (*waits)(void *data);
	void *waits_data;
};

static inline void commit_waits(const struct commit_options *options)
{
	if (options && options->waits)
		options->waits(options->waits_data);
}

/* What is on disk afterwards. */
struct file_state {
	char *path;           /* owned; canonical absolute */
	bool exists;
	struct sha256 sha256; /* of the bytes on disk */
	size_t size;
};

/* Frees what a commit gave. */
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
