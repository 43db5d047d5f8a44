/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the cache share: trigrams and signatures, and one tree that is kept. */
#ifndef HASP_SEARCH_CACHE_KEPT_TREE_H
#define HASP_SEARCH_CACHE_KEPT_TREE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/span.h"
#include "search/cache/cache.h"
#include "search/cache/watch.h"
#include "search/match/matcher.h"
#include "search/rules/chain.h"

/* ---- trigrams: which three-byte sequences a text has ------------------------------ */

/* Which three-byte sequences a text has, as a table of bits; and what a search asks of it.
 *
 *     kind = trigrams_of(content, &set);          of a file
 *     trigram_query_init(&query, needs);          of a search
 *     ... cache_signatures_ask compares the two ...
 *
 * Each run of three bytes, folded so that ASCII letters of both cases are the same, sets the
 * bit its hash names.  A file that lacks the bit of any trigram of a literal does not
 * have the literal; one that has them all may have it.  There is one hash
 * and one bit for each trigram: what is asked for usually has many.
 *
 * A table has 2^log2 bits and is as small as it can be with at most three eighths of them set:
 * a trigram that is not in the file is excluded three times in four.  (Half of them
 * would spare a quarter of the memory, and let through four times as many files for a word.)
 */

/* The largest table holds the trigrams of a source file of several megabytes; a file that
 * fills more of it than three quarters has nothing to tell. */
enum { TRIGRAM_LOG2_MIN = 7, TRIGRAM_LOG2_MAX = 17 };

struct trigram_set {
	uint64_t words[(1u << TRIGRAM_LOG2_MAX) / 64];
	unsigned log2; /* of the bits in use, from TRIGRAM_LOG2_MIN to TRIGRAM_LOG2_MAX */
};

enum trigram_kind {
	TRIGRAMS_KNOWN,
	/* Anything may be found in it: text that a search decodes before it looks (whatever is
	 * not UTF-8), or too many trigrams for a table. */
	TRIGRAMS_OPEN,
	/* Nothing is found in it: a search leaves it out as binary. */
	TRIGRAMS_BINARY,
};

/* Looks at the whole content of a file. `set` is filled in for TRIGRAMS_KNOWN. */
enum trigram_kind trigrams_of(struct span content, struct trigram_set *set);

/* At least one of the alternatives must be there, with all of its hashes. */
struct trigram_alternative {
	uint32_t *hashes; /* owned; a table of 2^n bits uses the lowest n bits of each */
	size_t count;     /* never 0 */
};

struct trigram_query {
	struct trigram_alternative *alternatives; /* owned */
	size_t count;
	bool anything; /* nothing is known: every text may match */
};

/* `needs` may be NULL: nothing is known. */
void trigram_query_init(struct trigram_query *query, const struct matcher_needs *needs);
void trigram_query_release(struct trigram_query *query);

/* ---- the trigram tables of many files, laid out for one query over all of them ---- */

/*
 *     if (cache_signatures_put(&signatures, &set, room, &number)) ...
 *     cache_signatures_ask(&signatures, &query, answers);
 *     if (cache_signatures_answer(answers, number)) ... the file may match ...
 *     cache_signatures_drop(&signatures, number);
 *
 * Tables of one size stand in blocks of 64, transposed: word h of a block has a bit for each
 * of its 64 files, set when that file has hash h.  One query is an AND of a few words for
 * each block, which is over when no bit is left.
 *
 * A block once made stays until the whole is released; the places of files that were
 * dropped are taken again by others of the same size.  Not here: locking.
 */

struct signature_block;

struct signatures {
	struct signature_block *blocks; /* owned */
	size_t count, cap;
	size_t bytes; /* memory in use, of all blocks */
	/* 1 + the first block of each size with free places; 0: none. */
	uint32_t open[TRIGRAM_LOG2_MAX + 1];
};

/* Numbers of signatures stay below this. */
#define SIGNATURE_NUMBER_MAX ((uint32_t)0xFFFFFF00)

/* False when it would take more than `room` further bytes. */
bool cache_signatures_put(struct signatures *signatures, const struct trigram_set *set, size_t room,
                          uint32_t *ret_number);
void cache_signatures_drop(struct signatures *signatures, uint32_t number);
void cache_signatures_release(struct signatures *signatures);

/* Fills in one word for each block (signatures->count of them). */
void cache_signatures_ask(const struct signatures *signatures, const struct trigram_query *query,
                          uint64_t *answers);
static inline bool cache_signatures_answer(const uint64_t *answers, uint32_t number)
{
	return (answers[number / 64] >> number % 64 & 1) != 0;
}

/* ---- one tree that the cache keeps (cache.h) ---- */

/*
 *     struct kept_tree *tree = kept_tree_new(&where);
 *     if (kept_tree_build(tree)) ...                    folders and names; watched from here on
 *     while (kept_tree_read(tree, &reader)) ...         signatures, in the background
 *     struct cached_tree *now = kept_tree_take(tree);   as it is now; NULL: it is lost
 *     kept_tree_give_back(now);
 *     kept_tree_unref(tree);
 *
 * Nodes are the folders, in one array sorted by path.  A node's names are a name_list, which is
 * immutable: a change of the folder makes a new one, so that a cached_tree (a snapshot) is
 * an array of references to lists.  Each name has the number of a kept_file, which keeps
 * its number while the folder stays the same folder (that is, has the same watch) and has a
 * file of that name.
 *
 * In parts: cached_tree.c files, lists and nodes, what events mean, life and snapshots;
 * cached_scan.c reading folders and putting what was read in its place; cached_read.c
 * signatures, and comparing with the disk.
 *
 * Two locks: `lock` is held while the tree is brought up to date; `files_lock`, inside of it,
 * only for moments, so that a select in another thread does not wait for a scan.
 */

/* What a file's signature may be instead of a number (cache_signatures_put). */
#define SIGNATURE_UNKNOWN UINT32_MAX       /* to be read; may match anything */
#define SIGNATURE_READING (UINT32_MAX - 1) /* being read; as unknown */
#define SIGNATURE_OPEN (UINT32_MAX - 2)    /* has none; may match anything */
#define SIGNATURE_BINARY (UINT32_MAX - 3)  /* matches nothing */

/* Files with further names are looked at before each answer, a microsecond each; what is more
 * has no signatures. */
enum { LINKED_FILES_MAX = 2000 };

struct kept_file {
	uint64_t stamp;      /* of size, times and inode when it was read (cache_file_stamp); 0: it
	                      * was not, or so shortly after a change that they prove nothing */
	uint64_t inode;      /* when it was read; 0: it was not */
	uint32_t generation; /* +1 for each change that an event names */
	uint32_t holders;    /* lists that have it; 0: the entry is free */
	bool linked;         /* had several names at some time: looked at before each answer */
};

/* The names of a folder's files at one time. One allocation; immutable but for references. */
struct name_list {
	size_t references; /* guarded by the tree's lock */
	size_t count;
	size_t bytes;
	size_t ignored;    /* entries that the rules leave out */
	const char *path;
	const char **names; /* sorted by bytes */
	uint32_t *files;
};

struct node {
	struct name_list *list; /* owned reference */
	int watch;              /* number; 0: none (unreadable) */
	dev_t device;
	ino_t inode;
	uint64_t stamp;         /* of the folder before it was read; 0: not settled */
	uint64_t exclude_stamp; /* of its repository's info/exclude; 0: not settled */
	bool repository;        /* has a .git */
	bool failed;            /* could not be read */
	/* Work to do: */
	bool changed;           /* entries came or went: read its names again */
	bool whole;             /* ignore rules changed: read all beneath it again */
	bool suspect;           /* perhaps another folder now: read it whole if it is there */
	bool unread;            /* has unknown files */
	int64_t calm_at_ms;     /* when unread files may be read */
	int64_t busy_ms;        /* how long it must be calm for that */
};

/* Where a tree is, and what it may use. */
struct kept_place {
	int root_fd;           /* borrowed */
	const char *root_path; /* borrowed */
	size_t root;
	const struct walk_rules *rules; /* copied */
	size_t max_file_bytes;
	size_t max_bytes;      /* of all trees */
	atomic_size_t *bytes;  /* in use by all trees; borrowed */
	const atomic_bool *stop; /* becomes true: leave off; borrowed */
};

/* A file with several names. */
struct linked_file {
	struct node *node;
	uint32_t file;
	const char *name;
};

struct kept_tree {
	atomic_size_t references;
	struct kept_place place;
	struct walk_rules rules;   /* owned copies of the names */
	pthread_mutex_t lock;      /* of all that follows */
	struct watch watch;
	bool lost;                 /* not known to be true any more */
	struct global_ignore *global;      /* owned; NULL when git's rules do not count */
	struct ignore_rules *global_rules; /* owned */
	struct node **nodes;       /* owned, sorted by path */
	size_t node_count;
	struct cached_tree *current; /* owned reference; NULL: to be made */
	bool changed;              /* a node is marked changed, whole or suspect */
	size_t unread;             /* nodes that are marked unread */
	size_t reading;            /* batches being read */
	size_t read_next;          /* node to look at next */
	struct node **repositories; /* owned; those of the nodes */
	size_t repository_count;
	struct linked_file *linked; /* owned */
	size_t linked_count, linked_cap;
	bool linked_old;           /* to be collected again */
	size_t linked_files;       /* files that are marked linked */
	uint64_t link_serial;      /* +1 when names were found that files had not had */
	uint64_t answers;          /* how often the tree was given out */
	pthread_rwlock_t files_lock; /* of what follows */
	struct kept_file *files;   /* owned */
	size_t file_count, file_cap;
	uint32_t *signature_of;    /* owned; number, or one of the above, of each file; apart, as
	                            * every select goes through them all */
	size_t signature_cap;
	uint32_t *free_files;      /* owned; numbers that are free */
	size_t free_count, free_cap;
	struct signatures signatures;
	atomic_size_t bytes;       /* charged for this tree */
};

struct cached_tree {
	struct kept_tree *tree;   /* owned reference */
	size_t references;        /* guarded by tree->lock */
	size_t bytes;
	struct cached_folder *folders; /* owned */
	struct name_list **lists; /* owned references; one for each folder */
	size_t folder_count, file_count;
	size_t unreadable;
};

/* ---- cached_tree.c -------------------------------------------------------- */

/* With one reference, the caller's, and nothing read yet: kept_tree_build does that. */
struct kept_tree *kept_tree_new(const struct kept_place *place);
/* Returns `tree`. */
struct kept_tree *kept_tree_ref(struct kept_tree *tree);
void kept_tree_unref(struct kept_tree *tree); /* NULL is fine */
bool kept_tree_matches(const struct kept_tree *tree, size_t root, const struct walk_rules *rules);

/* The tree with all that was done before the call. NULL: the tree is lost. */
struct cached_tree *kept_tree_take(struct kept_tree *tree);
void kept_tree_give_back(struct cached_tree *snapshot);
/* Takes in what has happened, without giving out a tree. False: the tree is lost. */
bool kept_tree_update(struct kept_tree *tree);
/* Whether that has something to do: an event is queued, a changed folder is not read yet, or the
 * tree is lost. */
bool kept_tree_is_behind(struct kept_tree *tree);

/* How many folders have files to be read. */
size_t kept_tree_unread(struct kept_tree *tree);

/* For the other parts; with the lock held: */
/* Counts memory that is used from now on, or no more. */
void kept_tree_charge(struct kept_tree *tree, size_t bytes);
void kept_tree_credit(struct kept_tree *tree, size_t bytes);
/* How many bytes signatures may still use, in all trees; and whether all else is small enough to
 * leave them half of the memory. */
size_t kept_tree_room(const struct kept_tree *tree);
bool kept_tree_fits(const struct kept_tree *tree);

/* A list of copies of `names`, with one reference; files[] is for the caller to fill in, with
 * kept_tree_hold_file for each. */
struct name_list *cache_names_new(struct kept_tree *tree, const char *path,
                                  const char *const *names, size_t count);
void cache_names_unref(struct kept_tree *tree, struct name_list *list);

/* Takes the reference over. */
struct node *cache_node_new(struct kept_tree *tree, struct name_list *list);
void cache_node_free(struct kept_tree *tree, struct node *node);
/* The index of the first node whose path is not before `path`. */
size_t kept_tree_lower_bound(const struct kept_tree *tree, const char *path);
struct node *kept_tree_find(const struct kept_tree *tree, const char *path);

/* A new file, unknown, with one holder. */
uint32_t kept_tree_add_file(struct kept_tree *tree);
void kept_tree_hold_file(struct kept_tree *tree, uint32_t file);
void kept_tree_set_signature(struct kept_tree *tree, uint32_t file, uint32_t signature);
/* Makes a file unknown, or, with SIGNATURE_OPEN, known to have no signature. */
void kept_tree_forget_file(struct kept_tree *tree, uint32_t file, uint32_t signature);
/* Has the node's unknown files read, when nothing happens to them for a while. */
void cache_node_mark_unread(struct kept_tree *tree, struct node *node);

/* A digest, never 0, of what changes with a file's content: in the upper half its inode, size
 * and time of modification, in the lower half the time of any change. */
uint64_t cache_file_stamp(const struct stat *st);
/* The same, but 0 when the file changed so shortly before `now_ns` (CLOCK_REALTIME) that it may
 * have changed again without another time. */
uint64_t cache_file_stamp_settled(const struct stat *st, int64_t now_ns);
int64_t cache_clock_ns(clockid_t clock);
int64_t cache_clock_ms(void); /* monotonic */

/* Whether a file is known not to have what is asked for, or may be so. */
static inline bool signature_is_known(uint32_t signature)
{
	return signature < SIGNATURE_NUMBER_MAX || signature == SIGNATURE_BINARY;
}
/* Reads git's global excludes; true when they are not what they were. */
bool kept_tree_read_global(struct kept_tree *tree);
/* Marks a file as one that has, or had, several names. */
void kept_tree_mark_linked(struct kept_tree *tree, uint32_t file);
/* A snapshot of the tree as it is now, without references. */
struct cached_tree *cached_tree_snapshot(struct kept_tree *tree);
void kept_tree_drop_snapshot(struct kept_tree *tree);

/* Marks what has changed; false when the tree is lost. */
bool kept_tree_take_events(struct kept_tree *tree);
/* A file of the node has changed, or may have. It may be an ignore file. */
void kept_tree_file_changed(struct kept_tree *tree, struct node *node, const char *name);
/* Marks a node, and the tree. */
void cache_node_mark_changed(struct kept_tree *tree, struct node *node);
void cache_node_mark_whole(struct kept_tree *tree, struct node *node);

/* ---- cached_scan.c ---------------------------------------- */

/* Reads the tree for the first time. False: it cannot be kept. */
bool kept_tree_build(struct kept_tree *tree);
/* Reads again what is marked. False when the tree is lost. */
bool kept_tree_scan_changed(struct kept_tree *tree);
/* The digest of a repository's info/exclude. */
uint64_t kept_tree_exclude_stamp(const struct kept_tree *tree, int folder, const char *path,
                                 bool *ret_repository);

/* ---- cached_read.c --------------------------------------------------------- */

/* What a thread that reads files works with. */
struct signature_reader {
	char *room; /* owned */
	size_t size;
	struct trigram_set set;
};

/* Frees the reader's room; the struct is the caller's. */
void kept_tree_reader_release(struct signature_reader *reader);

enum kept_work {
	WORK_NONE,  /* nothing is left to read */
	WORK_LATER, /* something is, but not yet: *ret_wait_ms */
	WORK_DONE,  /* a batch was read */
	WORK_STALE, /* a folder is not what it was: take in events first */
};
/* Reads some files that are unknown. With `hurry` also those that have just changed. */
enum kept_work kept_tree_read(struct kept_tree *tree, struct signature_reader *reader, bool hurry,
                              int64_t *ret_wait_ms);

/* Looks at files that may change without an event, before an answer. */
void kept_tree_check_linked(struct kept_tree *tree);
/* Looks for other names of files that have several, among all. */
void kept_tree_find_linked(struct kept_tree *tree, uint64_t *inodes, size_t count);

/* A comparison of a whole tree with the disk, one folder at a time; begins as zeroes. */
struct sweep {
	struct cached_tree *snapshot; /* owned */
	size_t next;
};

/* Looks at the next folder, and makes good what differs; false at the end. */
bool kept_tree_sweep(struct kept_tree *tree, struct sweep *sweep);
void kept_tree_sweep_release(struct sweep *sweep);

#endif
