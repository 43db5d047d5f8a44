/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a tree of folders with several threads. Private to search/.
 *
 *     struct tree_scan scan = { .root = fd, .root_path = path, .start = "src/", .rules = &rules,
 *                          .visitor = &visitor, .data = mine, .threads = 0 };
 *     ok = scan_run(&scan, &err);      // the visitor is called meanwhile
 *
 * Folders are opened beneath the root without following any link, read with few system calls,
 * filtered by ignore rules (chain.h), and handed to the visitor with the names of the files
 * that are left, sorted.  Folders come in no order; each thread works on the folders that
 * come first among those that wait, so that early ones are done early. */
#ifndef HASP_SEARCH_SCAN_SCAN_H
#define HASP_SEARCH_SCAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/span.h"
#include "search/rules/chain.h"

/* ---- the names in one folder, read with few system calls ---- */

enum entry_type { ENTRY_TYPE_FILE, ENTRY_TYPE_FOLDER, ENTRY_TYPE_LINK, ENTRY_TYPE_OTHER };

struct listing_entry {
	const char *name; /* in the listing's memory, which moves while it is read ... */
	size_t at;        /* ... so this is where it begins there */
	size_t len;
	enum entry_type type;
};

/* Reused from folder to folder; begins as zeroes. */
struct listing {
	char *names;                   /* owned */
	size_t names_len, names_cap;
	struct listing_entry *entries; /* owned; without ".", ".." and temporaries of edits */
	size_t count, cap;
};

/* Fills the listing with the entries of an open folder, in no order. False with errno set
 * (EFBIG: more than LIMIT_FOLDER_ENTRIES). */
bool scan_listing_read(struct listing *listing, int folder);
void scan_listing_release(struct listing *listing);

/* Of st_mode. */
enum entry_type scan_type_of_mode(mode_t mode);

struct scan_folder {
	int fd;                   /* open folder, for openat of its names; borrowed */
	const char *path;         /* relative to the root; "" or ends with '/' */
	size_t path_len;
	const char *const *files; /* regular files that are left in, sorted by bytes */
	size_t file_count;
	const char *const *folders; /* folders that are left in, sorted; entered if recursive */
	size_t folder_count;
	size_t ignored;           /* entries left out by ignore rules or by `wanted` */
	bool first_part;          /* a folder with very many files comes in several parts, on any
	                           * threads; folders and ignored are with the first */
};

enum scan_choice {
	SCAN_TAKE,
	SCAN_PASS,      /* of no interest */
	SCAN_LEAVE_OUT, /* excluded: counted as ignored */
};

struct scan_visitor {
	/* Before a folder's names are read; `path` as above. False leaves it out. May be NULL. */
	bool (*enter)(void *data, int fd, const char *path, size_t path_len);
	/* Whether a file, or what is beneath a folder, is of interest; `path` is relative to the
	 * root. Asked after the ignore rules. May be NULL: all. On any thread. */
	enum scan_choice (*wanted)(void *data, struct span path, bool is_folder);
	/* The files of a folder. On any thread: `thread` is from 0 to threads - 1. False ends
	 * the scan (scan_run returns true). */
	bool (*visit)(void *data, unsigned thread, const struct scan_folder *folder);
	/* A folder that could not be read. May be NULL. On any thread. */
	void (*failed)(void *data, const char *path, int sys_errno);
};

struct tree_scan {
	int root;          /* descriptor of the workspace root; borrowed */
	const char *root_path; /* its canonical path; borrowed */
	const char *start; /* folder relative to the root: "" or "a/b/" */
	const struct walk_rules *rules;
	const struct ignore_rules *global; /* git's global excludes; NULL: none */
	bool one_folder;   /* only the start itself */
	const struct scan_visitor *visitor;
	void *data;
	unsigned threads;  /* 0: as many as there are processors, at most SCAN_THREADS_MAX */
};

enum { SCAN_THREADS_MAX = 8 };

/* Gives the calling thread a private table of descriptors, with the standard ones and `root`;
 * where that cannot be had, nothing changes. For threads that open many files. */
void scan_own_descriptors(int root);

/* How many threads a scan uses: what `thread` stays below. */
unsigned scan_threads(const struct tree_scan *scan);

/* False only when the process runs out of descriptors or memory, or the disk fails. A start that
 * cannot be read is reported to `failed`, as any folder. */
bool scan_run(const struct tree_scan *scan, struct err *err);

#endif
