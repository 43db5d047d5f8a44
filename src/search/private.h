/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of search share: where it begins, lines around matches, the files with matches. */
#ifndef HASP_SEARCH_PRIVATE_H
#define HASP_SEARCH_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/buf.h"
#include "file/workspace.h"
#include "search/match/matcher.h"
#include "search/rules/chain.h"
#include "search/rules/glob.h"
#include "search/search.h"

/* ---- where a walk or search begins ---- */

/*
 *     _cleanup_start_ struct walk_start start = START_INIT;
 *     if (!walk_start_find(&start, ws, ".", &rules, &err)) ...
 */

struct walk_start {
	struct place place;   /* the folder (or file) itself */
	size_t root;          /* number of its root */
	int root_fd;          /* borrowed */
	const char *root_path; /* borrowed */
	char *folder;         /* owned; the folder relative to the root: "" or "a/b/"; of a file:
	                       * the folder it is in */
	bool is_file;
	mode_t mode;
	struct global_ignore *global; /* owned */
	struct ignore_rules *global_rules; /* owned; NULL when git's rules do not count */
};

#define START_INIT { .place = PLACE_INIT }
/* Closes what walk_start_find opened; of one that is START_INIT it does nothing. */
void walk_start_release(struct walk_start *start);
#define _cleanup_start_ __attribute__((cleanup(walk_start_release)))

/* FILE_NOT_FOUND, OUTSIDE_WORKSPACE, PERMISSION_DENIED (a folder that cannot be read);
 * NOT_A_FILE for what is neither a folder nor a regular file. Release in any case. */
bool walk_start_find(struct walk_start *start, const struct workspace *ws, const char *path,
                     const struct walk_rules *rules, struct err *err);

/* ---- from matches in a piece of text to lines with context ---- */

/*
 *     search_gather_begin(&gather, request);
 *     for each piece of the file:
 *             outcome = search_gather_piece(&gather, matcher, scratch, text, from);
 *             search_gather_advance(&gather, text, keep);   text behind `keep` begins the next
 *     search_gather_take(&gather, &file_match)
 */

/* A line whose text may still move. */
struct gathered_line {
	struct search_line line; /* all but text.data */
	size_t at;               /* where its text begins */
};

struct gather {
	const struct search_request *request; /* borrowed */
	struct buf text;              /* of the lines */
	struct gathered_line *lines;  /* owned */
	size_t count, cap;
	size_t matches;
	size_t max;                   /* matches whose lines are kept */
	size_t max_bytes;             /* of text */
	bool more;                    /* there are matches beyond `max` */
	/* Of the piece at hand. */
	size_t line_at;               /* an offset that is a line's start ... */
	size_t line_number;           /* ... and that line's number */
	size_t emitted;               /* offset after the last line that was kept */
	size_t matched;               /* offset after the last line that is part of a match */
	size_t after_left;            /* lines of context still to come */
};

enum gather_outcome {
	GATHER_MORE_TEXT, /* goes on with the next piece */
	GATHER_DONE,      /* nothing further is needed of this file */
	GATHER_TOO_HARD,  /* matcher.h */
};

/* `request` is borrowed as long as the gather is used. */
void search_gather_init(struct gather *gather, const struct search_request *request);
/* Frees the room for lines and their text, also those of a file that was not taken. */
void search_gather_release(struct gather *gather);
void search_gather_begin(struct gather *gather); /* a new file */

/* Looks for matches that begin at or after `from`, a line's start. `text` begins at a line's
 * start. `first`, when not NULL, is the first match, found already. */
enum gather_outcome search_gather_piece(struct gather *gather, const struct matcher *matcher,
                                        struct matcher_scratch *scratch, struct span text,
                                        size_t from, const struct text_match *first);
/* Where the next piece has to begin, so that it has the lines of context before it. */
size_t search_gather_keep(const struct gather *gather, struct span text);
/* The next piece begins at offset `keep`, a line's start. */
void search_gather_advance(struct gather *gather, struct span text, size_t keep);

/* Moves what was gathered into `ret` (its path and hash are left alone). */
void search_gather_take(struct gather *gather, struct file_match *ret);

/* ---- the files with matches, as threads find them ---- */

/* Files come in no order, and the answer is the first so many matches in the order of paths.
 * So when twice as many as asked for have come together, those that sort first are kept, and
 * the last file of them becomes the horizon: nothing past it needs to be looked at. */

struct hits {
	const struct search_request *request; /* borrowed */
	pthread_mutex_t lock;
	struct file_match *files; /* owned */
	size_t count, cap;
	size_t weight;            /* matches (files, for names and counts) of all */
	size_t bytes;             /* of text and lines of all */
	bool more;                /* some were dropped */
	atomic_bool has_horizon;
	char *horizon;            /* owned; relative to the folder asked for */
	char *too_hard;           /* owned; of the files where the pattern was, the first */
};

/* `request` is borrowed as long as the hits are used. */
void hits_init(struct hits *hits, const struct search_request *request);
/* Frees the hits, with files not yet handed over. No thread may be using them. */
void hits_release(struct hits *hits);

/* Takes a file over. */
void hits_add(struct hits *hits, struct file_match *file);
/* The pattern ran into its limits in this file; takes the path over. */
void hits_note_too_hard(struct hits *hits, char *path);
/* Whether the file or folder (whose path ends with '/') sorts after all that is wanted. */
bool hits_is_past(struct hits *hits, const char *path);

/* Sorts, cuts to what was asked for, and hands over. */
void hits_finish(struct hits *hits, struct search_result *ret);

/* ---- the parts of a search (search.h) ---- */

/* A job is one search.  Each of its threads has a seeker, which looks into one file after another
 * (seek_file.c) and gathers lines; what a file has is handed to the hits, which keep the first so
 * many in the order of paths. */

/* A file with a NUL byte in its first so many bytes is binary; further on, a NUL byte ends the
 * search of the file.  Also how much of a file one read takes: most files are smaller. */
enum { SEEK_FIRST_BYTES = 256 << 10 };

struct search_job {
	const struct search_request *request;
	const struct matcher *matcher;
	const struct walk_start *start;
	size_t start_len;           /* bytes of start->folder */
	struct glob_list include, exclude, types; /* owned */
	struct hits hits;
	long long began_us, deadline_us; /* CLOCK_MONOTONIC */
	atomic_bool stop;           /* no thread begins another file */
	atomic_bool timed_out, cancelled;
	atomic_uint too_hard;       /* files in which the pattern was */
	atomic_size_t searched, unreadable;
};

struct search_seeker {
	struct search_job *job;
	struct matcher_scratch *scratch; /* owned */
	char *room;                 /* owned; what is read */
	size_t room_size;
	struct gather gather;       /* of the file at hand */
	size_t searched;            /* files that are not added to job->searched yet */
	bool full_reads;            /* a short read in this folder means the end of the file */
};

/* One a thread; `job` is shared and borrowed. */
void search_seeker_init(struct search_seeker *seeker, struct search_job *job);
/* Adds what it counted to the job. */
void search_seeker_release(struct search_seeker *seeker);

/* Called once for each folder, before its files. */
void search_seeker_enter(struct search_seeker *seeker, int folder);
/* Looks into `name` in `folder`, whose path relative to the root is `path`. */
void seek_file(struct search_seeker *seeker, int folder, struct span path, const char *name);

long long search_now_us(void); /* CLOCK_MONOTONIC */

#endif
