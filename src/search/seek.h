/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a search (search.h). Private to this folder.
 *
 * A job is one search.  Each of its threads has a seeker, which looks into one file after
 * another (seek_file.c) and gathers lines (gather.h); what a file has is handed to
 * the hits (hits.h), which keep the first so many in the order of paths.
 */
#ifndef HASP_SEARCH_SEEK_H
#define HASP_SEARCH_SEEK_H

#include <stdatomic.h>

#include "search/gather.h"
#include "search/hits.h"
#include "search/rules/glob_list.h"
#include "search/search.h"
#include "search/start.h"

/* A file with a NUL byte in its first so many bytes is binary; further on, a NUL byte ends the
 * search of the file.  Also what is read of a file at once: most files are smaller. */
enum { SEEK_FIRST_BYTES = 256 << 10 };

struct job {
	const struct search_request *request;
	const struct matcher *matcher;
	const struct start *start;
	size_t start_len;           /* bytes of start->folder */
	struct glob_list include, exclude, types; /* owned */
	struct hits hits;
	long long began_us, deadline_us; /* CLOCK_MONOTONIC */
	atomic_bool stop;           /* nobody begins another file */
	atomic_bool timed_out, cancelled;
	atomic_uint too_hard;       /* files in which the pattern was */
	atomic_size_t searched, unreadable;
};

struct seeker {
	struct job *job;
	struct matcher_scratch *scratch; /* owned */
	char *room;                 /* owned; what is read */
	size_t room_size;
	struct gather gather;       /* of the file at hand */
	size_t searched;            /* files that are not added to job->searched yet */
	bool full_reads;            /* a short read in this folder means the end of the file */
};

void seeker_init(struct seeker *seeker, struct job *job);
void seeker_release(struct seeker *seeker);

/* Told once a folder, before its files. */
void seeker_enter(struct seeker *seeker, int folder);
/* Looks into `name` in `folder`, whose path relative to the root is `path`. */
void seek_file(struct seeker *seeker, int folder, struct span path, const char *name);

/* Whether a file, or what is beneath a folder, is asked for; `path` is relative to the root. */
bool job_wants(const struct job *job, struct span path, bool is_folder, bool *ret_excluded);
/* Whether the search is over: time, cancellation, a pattern that is too hard. */
bool job_is_over(struct job *job);

/* Runs the job on the tree as the cache has it; false when it has not. */
bool seek_cached(struct job *job, struct search_cache *cache);

#endif
