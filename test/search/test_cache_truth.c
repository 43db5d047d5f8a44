/* SPDX-License-Identifier: Apache-2.0 */
/* The cache beside a process that changes its tree at random. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cache_fixture.h"
#include "mutator.h"
#include "part.h"

enum { SEEDS = 16, BURSTS = 60, FREE_MS = 4000, ASKERS = 2 };

static uint32_t roll(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 10;
}

/* Compares for some words; false when there was no tree for one. */
static bool compare_some(struct cache_fixture *f, uint32_t *state)
{
	for (int i = 0; i < 3; i++)
		if (!fixture_compare(f, mutator_words[roll(state) % MUTATOR_WORDS]))
			return false;
	return true;
}

struct hurrier {
	struct cache_fixture *f;
	atomic_bool stop;
};

/* Keeps the cache reading all the time, so that it reads what just changes. */
static void *hurry(void *data)
{
	struct hurrier *hurrier = data;

	while (!atomic_load(&hurrier->stop))
		search_cache_settle(hurrier->f->cache, 50);
	return NULL;
}

/* After each burst the cache must be true, whether or not it has had time to read anew, and
 * though sweeps begin in the middle of bursts. */
static void run_seed(uint32_t seed, bool in_a_hurry)
{
	const struct search_cache_options options = { .sweep_ms = seed % 4 < 2 ? 10 : 0 };
	struct cache_fixture f;
	struct hurrier hurrier = { &f, false };
	struct mutator mutator;
	uint32_t state = seed;
	unsigned lost = 0;
	pthread_t thread;

	cache_fixture_open(&f);
	mutator_start(&mutator, f.top, seed);
	mutator_burst(&mutator, 100);
	fixture_start(&f, &options);
	if (in_a_hurry)
		assert_int_equal(pthread_create(&thread, NULL, hurry, &hurrier), 0);
	for (unsigned i = 0; i < part_of(BURSTS, 2); i++) {
		mutator_burst(&mutator, 1 + roll(&state) % 30);
		if (roll(&state) % 2 == 0)
			fixture_settle(&f);
		if (compare_some(&f, &state))
			continue;
		/* A tree may be given up, but not often, and it comes back. */
		lost++;
		fixture_settle(&f);
		assert_true(compare_some(&f, &state));
	}
	assert_true(lost <= BURSTS / 10);
	atomic_store(&hurrier.stop, true);
	if (in_a_hurry)
		pthread_join(thread, NULL);
	assert_int_equal(mutator_stop(&mutator), 0);
	cache_fixture_close(&f);
}

static void answers_are_true_after_every_burst(void **data)
{
	/* Four are each way of sweeping, in a hurry and not. */
	(void)data;
	for (uint32_t seed = 1; seed <= part_of(SEEDS, 4); seed++) {
		print_message("           seed %u\n", seed);
		run_seed(seed, seed % 2 == 0);
	}
}

struct asker {
	struct cache_fixture *f;
	atomic_bool *stop;
	uint32_t state;
	size_t answers;
};

static void *ask_on(void *data)
{
	struct asker *asker = data;

	while (!atomic_load(asker->stop)) {
		const char *word = mutator_words[roll(&asker->state) % MUTATOR_WORDS];

		if (fixture_ask(asker->f, "d1/f1.txt", word) == ANSWER_NO_TREE)
			search_cache_want(asker->f->cache, 0, &asker->f->rules);
		else
			asker->answers++;
	}
	return NULL;
}

static void nothing_breaks_while_the_tree_never_rests(void **data)
{
	const size_t descriptors = fixture_count("/proc/self/fd");
	const size_t tasks = fixture_count("/proc/self/task");
	struct asker askers[ASKERS];
	pthread_t threads[ASKERS];
	struct mutator mutator;
	struct cache_fixture f;
	atomic_bool stop = false;
	uint32_t state = 1;

	(void)data;
	cache_fixture_open(&f);
	mutator_start(&mutator, f.top, 77);
	fixture_start(&f, NULL);
	mutator_run(&mutator);
	for (uint32_t i = 0; i < ASKERS; i++) {
		askers[i] = (struct asker){ &f, &stop, i, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, ask_on, &askers[i]), 0);
	}
	usleep((useconds_t)part_of(FREE_MS, 4) * 1000);
	atomic_store(&stop, true);
	for (size_t i = 0; i < ASKERS; i++) {
		pthread_join(threads[i], NULL);
		assert_true(askers[i].answers > 0);
	}
	mutator_halt(&mutator);
	fixture_settle(&f);
	assert_true(compare_some(&f, &state));
	assert_int_equal(mutator_stop(&mutator), 0);
	cache_fixture_close(&f);
	assert_int_equal(fixture_count("/proc/self/fd"), descriptors);
	assert_int_equal(fixture_count("/proc/self/task"), tasks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_true_after_every_burst),
		cmocka_unit_test(nothing_breaks_while_the_tree_never_rests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
