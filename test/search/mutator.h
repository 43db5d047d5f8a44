/* SPDX-License-Identifier: Apache-2.0 */
/* A process that changes a tree at random, as its seed says.
 *
 *     mutator_start(&mutator, top, seed);      before there are threads
 *     mutator_burst(&mutator, 20);             so many changes; returns when they are done
 *     mutator_run(&mutator); ... mutator_halt(&mutator);   without a pause in between
 *     mutator_stop(&mutator);
 *
 * It changes what is in TOP/root and TOP/outside, in all the ways that the cache must see at
 * once.  The tree stays small: a few hundred files with words of mutator_words.
 */
#ifndef HASP_TEST_SEARCH_MUTATOR_H
#define HASP_TEST_SEARCH_MUTATOR_H

#include <stdint.h>
#include <sys/types.h>

struct mutator {
	pid_t child;
	int orders, reports; /* pipes */
};

enum { MUTATOR_WORDS = 24 };
extern const char *const mutator_words[MUTATOR_WORDS];

void mutator_start(struct mutator *mutator, const char *top, uint32_t seed);
void mutator_burst(struct mutator *mutator, unsigned changes);
void mutator_run(struct mutator *mutator);
void mutator_halt(struct mutator *mutator);
/* The child's exit status: 0. */
int mutator_stop(struct mutator *mutator);

#endif
