/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of file/ and their tests: the parts and the cache of a workspace, recovery of
 * a folder, hashing in parallel, the lines that a reader asked for. Not here: the steps of a commit
 * (stage.h). */
#ifndef HASP_FILE_PRIVATE_H
#define HASP_FILE_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/sha256.h"
#include "file/read.h"
#include "file/workspace.h"

/* ---- the workspace ---------------------------------------------------------------- */

struct workspace_root {
	char *path;  /* owned; canonical, absolute, without a slash at the end ("/" is "") */
	char *alias; /* owned; the path as it was given, made absolute as text */
	int fd;      /* owned; O_PATH */
	bool read_only; /* nothing in it is changed; after those that can be */
};

/* Another absolute spelling of a root. */
struct workspace_name {
	char *text; /* owned */
	size_t root;
};

struct workspace {
	struct workspace_root *roots; /* owned */
	size_t count, own_count;      /* those after own_count are read-only */
	struct workspace_name *names; /* owned */
	size_t name_count, name_cap;
	struct file_cache *cache; /* owned */
};

/* Takes an absolute path apart: which root it is beneath, as text, by whole
 * components, the longest root winning; *ret_rest is what remains ("" for the root). */
bool workspace_match(const struct workspace *ws, const char *path, size_t *ret_root,
                     const char **ret_rest);

/* As workspace_resolve; *ret_leaf gets the lstat of the leaf, st_mode == 0 when missing. */
bool workspace_resolve_stat(const struct workspace *ws, const char *path, enum place_kind kind,
                            struct place *ret, struct stat *ret_leaf, struct err *err);

/* ---- what a workspace remembers --------------------------------------------------- */

/* The cache of a workspace. It holds: folders recently found free of temporary files, so that not
 * every commit reads them; temporary files of this process's running commits, so that they are not
 * mistaken for a dead writer's; files that recent commits put in place, so that these changes are
 * not mistaken for others' (stage.h); contents hashed recently, so that the same bytes are not
 * hashed again.
 *
 * The facts about a folder hold while its mtime is unchanged, and for a second at most, or ten if
 * there is much to read: a time stamp can hide a change in the same clock tick, or one that another
 * process made while we were changing the folder ourselves. One per workspace; threads may share
 * it.
 */

enum {
	FILE_CACHE_MS = 1000,
	FILE_CACHE_LARGE_MS = 10000,
	FILE_CACHE_LARGE_NAMES = 100, /* more than these are much to be read */
	FILE_CACHE_CONTENT_BYTES = 32 << 10, /* larger contents are not kept */
};

struct file_cache;

struct file_cache *file_cache_new(void); /* never NULL */
void file_cache_free(struct file_cache *cache); /* NULL is fine */

/* Whether the folder with this stat is known to be clean. */
bool file_cache_knows_folder(struct file_cache *cache, const struct stat *folder);

/* Notes that it is clean: just read, with so many names. */
void file_cache_note_folder_read(struct file_cache *cache, const struct stat *folder, size_t names);
/* If it was known to be clean: so it still is, changed by us alone. */
void file_cache_note_folder_change(struct file_cache *cache, const struct stat *folder);

/* A name that a commit of this process has given to a temporary file (temporary.h), until it is
 * done: recovery passes over it, as it would after opening it and finding it locked.  The names are
 * unique enough to go without their folders. */
struct own_name;
struct own_name *file_cache_own(struct file_cache *cache, const char *name); /* never NULL */
void file_cache_disown(struct file_cache *cache, struct own_name *own); /* NULL is fine */
bool file_cache_owns(struct file_cache *cache, const char *name);

/* When another process last changed the file, as far as known; seconds of CLOCK_REALTIME. That is
 * its last change (st_ctim), unless a commit here put the file in place with this stat and content:
 * then the time known before that. */
time_t file_cache_others_at(struct file_cache *cache, const struct stat *file,
                            const struct sha256 *sum);
/* A commit has put this file in place; `others_at` is what was known of the one before. */
void file_cache_note_file(struct file_cache *cache, const struct stat *file,
                          const struct sha256 *sum, time_t others_at);

/* The hash of `content`, which was just read from this file, if these bytes were hashed before. */
bool file_cache_find_sum(struct file_cache *cache, const struct stat *file, struct span content,
                         struct sha256 *ret);
/* Keeps a copy of the content with its hash, in place of an earlier one. */
void file_cache_keep_sum(struct file_cache *cache, const struct stat *file, struct span content,
                         const struct sha256 *sum);

/* ---- recovery --------------------------------------------------------------------- */

/* Cleans up after a killed writer in a folder.
 *
 * A writer can be killed at any instruction. It leaves at most one file, under a name of
 * temporary.h that records the file it was for, and the content before and after:
 *
 *     kind   content      meaning                                    what is done
 *     p      any          was being written                          removed
 *     x      new          not exchanged yet, or put back already     removed
 *     x      old          exchanged: the old file                    removed
 *     x      other        another process's, taken out by the        exchanged back if our new
 *                         exchange and not yet put back              content still has the name
 *     d      old          moved away to be removed                   removed
 *     d      other        another process's                          moved back if the name is free
 *     t      any          a transaction's, whose journal knows       left alone
 *
 * A live writer holds a flock on its new file, which has one of the two names (x, p),
 * or on the file it removes (d): then nothing is touched.  Nor is it when the lock cannot be looked
 * for, because the file cannot be opened: a live writer's lease refuses it (stage.h).  What this
 * process's own commits have under way is known without opening it (file_cache_owns).
 * What is "other" and cannot be put back is removed when a newer file has the name (x), or stays
 * (d, names above 180 bytes).
 * Every commit first recovers the folder that it is about to write in; that costs one reading
 * of the folder, once a second at most (file_cache_knows_folder).
 */

/* Recovers the folder open as `folder` (O_PATH is enough). *ret_removed (may be NULL) counts
 * the temporary files put right. False when the folder cannot be read. */
bool recover_folder(int folder, size_t *ret_removed, struct err *err);

/* The same for a place's folder, before a commit there; returns the folder opened for reading
 * (to be locked and synced), or -1 when it cannot be.  A folder that is known to be
 * clean is not read. */
int recover_open(const struct place *place);

/* After the commit: what has changed in the folder since recover_open is our doing. */
void recover_note(const struct place *place, int readable);

/* ---- hashing in parallel with reading or writing ---------------------------------- */

/* Computes SHA-256 on a separate thread while a large buffer is being read or written.
 *
 *     struct hasher hasher;
 *     snapshot_hash_start(&hasher, total);
 *     while (...) {
 *             ... n more bytes of memory are final ...
 *             snapshot_hash_feed(&hasher, span_of(data + done, n));
 *     }
 *     struct sha256 sum = snapshot_hash_finish(&hasher);
 *
 * Below HASHER_THREAD_BYTES (or if no thread can be created) each piece is hashed immediately by
 * the caller. The bytes fed must stay unchanged until snapshot_hash_finish, which must be called.
 */

/* A thread costs about as much as hashing 50 KB; well above that, the time saved is
 * what counts: half of it, at 8 MiB some milliseconds. */
#define HASHER_THREAD_BYTES ((size_t)8 << 20)
enum { HASHER_QUEUE = 64 };

struct hasher {
	struct sha256_stream stream;
	bool threaded;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct span queue[HASHER_QUEUE]; /* ring of pieces not yet hashed */
	unsigned head, count;
	bool closed;
};

/* `total` is how many bytes are expected; it only decides whether a thread is worth it. */
void snapshot_hash_start(struct hasher *hasher, size_t total);
/* Hashes the next piece, or queues it: then it waits while HASHER_QUEUE pieces are queued. */
void snapshot_hash_feed(struct hasher *hasher, struct span piece);
/* Waits for the thread, if there is one, and returns the hash of all pieces. */
struct sha256 snapshot_hash_finish(struct hasher *hasher);

/* Whether size and times are the same: nothing was written between the two looks. */
bool snapshot_same_stamp(const struct stat *a, const struct stat *b);

/* Whether the open file has this content, from its first byte; its offset stays. */
bool snapshot_content_is(int fd, const struct sha256 *sum);

/* ---- the lines that a reader asked for -------------------------------------------- */

/* The lines that a reader asked for, cut out while the text passes by.
 *
 *     struct window window;
 *     read_window_init(&window, request, &content);
 *     while (more) read_window_feed(&window, piece);   // whole UTF-8 characters
 *     read_window_finish(&window);
 *     ... content, window.total_lines, window.first_line, ...
 *
 * A line counts in code points; a cut line ends in "... [truncated]" and keeps its line
 * ending.  Works in memory bounded by the content it collects.
 */

struct window {
	/* what to collect */
	size_t first, last;    /* lines, 1-based, inclusive */
	size_t skip;           /* code points of line `first` that are left out */
	size_t max_line_chars; /* SIZE_MAX: no limit */
	size_t max_bytes;
	struct buf *content; /* borrowed */
	/* what passed by */
	size_t line;         /* the line that is passing by, 1-based */
	size_t line_bytes;   /* its bytes so far */
	size_t chars;        /* its code points collected so far */
	size_t to_skip;      /* those still to be left out, of line `first` */
	size_t line_start;   /* where it begins in content */
	bool cut;            /* it has reached a limit */
	bool full;           /* max_bytes is reached: no more is collected */
	bool after_cr;       /* the last byte was a CR */
	size_t total_lines, lf_lines, crlf_lines;
	size_t first_line, last_line, cut_lines;
	size_t cut_line, cut_column; /* the first line that was cut, and where it goes on */
	bool final_newline;
};

/* The limits of `request`, with their defaults. */
void read_window_init(struct window *window, const struct read_request *request,
                      struct buf *content);
/* Takes the next piece of the text, which ends between two characters. */
void read_window_feed(struct window *window, struct span piece);
/* Call once at the end: the last line may lack its ending. */
void read_window_finish(struct window *window);

#endif
