/* SPDX-License-Identifier: Apache-2.0 */
/* The files with matches, as threads find them. Private to this folder.
 *
 * Files come in no order, and the answer is the first so many matches in the order of paths.
 * So when twice as many as asked for have come together, those that sort first are kept, and
 * the last file of them becomes the horizon: nothing past it needs to be looked at.
 */
#ifndef HASP_SEARCH_HITS_H
#define HASP_SEARCH_HITS_H

#include <pthread.h>
#include <stdatomic.h>

#include "search/search.h"

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

void hits_init(struct hits *hits, const struct search_request *request);
void hits_release(struct hits *hits);

/* Takes a file over. */
void hits_add(struct hits *hits, struct file_match *file);
/* The pattern ran into its limits in this file; takes the path over. */
void hits_note_too_hard(struct hits *hits, char *path);
/* Whether the file or folder (whose path ends with '/') sorts after all that is wanted. */
bool hits_is_past(struct hits *hits, const char *path);

/* Sorts, cuts to what was asked for, and hands over. */
void hits_finish(struct hits *hits, struct search_result *ret);

#endif
