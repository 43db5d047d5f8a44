/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about one file keep their order; others do not wait for them. */
#pragma GCC diagnostic ignored "-Wframe-larger-than=" /* the first thread's stack has room */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mcp/offer/calls.h"

struct step {
	struct turn turn; /* first: the two are cast into each other */
	int went;         /* as the how manieth; 0: not yet */
};

static int went_before;

static void go(struct turn *turn)
{
	((struct step *)turn)->went = ++went_before;
}

static void take(struct turns *turns, struct step *step, const char *keys)
{
	const char *list[4];
	char text[8] = { 0 };
	size_t count = 0;

	/* One letter is one key. */
	for (; keys[count]; count++) {
		text[2 * count] = keys[count];
		list[count] = &text[2 * count];
	}
	*step = (struct step){ .turn.go = go };
	turns_take(turns, &step->turn, list, count);
}

static void those_with_one_key_go_in_their_order(void **state)
{
	struct turns *turns = turns_new();
	struct step a, b, c, other;

	(void)state;
	take(turns, &a, "k");
	take(turns, &b, "k");
	take(turns, &c, "k");
	take(turns, &other, "o");
	assert_true(a.went && !b.went && !c.went && other.went);
	assert_true(turns_busy(turns, "k"));
	turns_done(turns, &a.turn);
	assert_true(b.went && !c.went);
	turns_done(turns, &b.turn);
	assert_true(c.went);
	turns_done(turns, &c.turn);
	assert_false(turns_busy(turns, "k"));
	assert_true(turns_any(turns));
	turns_done(turns, &other.turn);
	assert_false(turns_any(turns));
	turns_free(turns);
}

static void one_with_several_keys_waits_for_all_of_them(void **state)
{
	struct turns *turns = turns_new();
	struct step a, b, both, after, none;

	(void)state;
	take(turns, &a, "a");
	take(turns, &b, "b");
	take(turns, &both, "abab");
	take(turns, &after, "b");
	take(turns, &none, "");
	assert_true(none.went && !both.went && !after.went);
	turns_done(turns, &b.turn);
	assert_true(!both.went && !after.went);
	turns_done(turns, &a.turn);
	assert_true(both.went && !after.went);
	turns_done(turns, &both.turn);
	assert_true(after.went);
	turns_done(turns, &after.turn);
	turns_done(turns, &none.turn);
	turns_free(turns);
}

/* ---- with threads ------------------------------------------------------------ */

enum { KEYS = 5, TURNS = 4000, THREADS = 4 };

struct race {
	struct turns *turns;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct racer *ready[TURNS];
	size_t ready_count, taken;
	int holder[KEYS]; /* how many have each key now; must be one */
	int last[KEYS];   /* the number of the last that had it; must grow */
};

struct racer {
	struct turn turn; /* first */
	struct race *race;
	int number;
	unsigned keys; /* bits */
};

static void get_ready(struct turn *turn)
{
	struct racer *racer = (struct racer *)turn;
	struct race *race = racer->race;

	pthread_mutex_lock(&race->lock);
	race->ready[race->ready_count++] = racer;
	pthread_cond_signal(&race->more);
	pthread_mutex_unlock(&race->lock);
}

static void check(struct racer *racer)
{
	struct race *race = racer->race;

	for (int k = 0; k < KEYS; k++) {
		if (!(racer->keys & 1u << k))
			continue;
		if (__atomic_add_fetch(&race->holder[k], 1, __ATOMIC_SEQ_CST) != 1 ||
		    race->last[k] >= racer->number)
			abort();
		race->last[k] = racer->number;
	}
	for (int k = 0; k < KEYS; k++)
		if (racer->keys & 1u << k)
			__atomic_sub_fetch(&race->holder[k], 1, __ATOMIC_SEQ_CST);
}

static void *runner(void *data)
{
	struct race *race = data;

	for (;;) {
		struct racer *racer;

		pthread_mutex_lock(&race->lock);
		while (race->taken == race->ready_count && race->taken < TURNS)
			pthread_cond_wait(&race->more, &race->lock);
		if (race->taken == TURNS) {
			pthread_cond_broadcast(&race->more);
			pthread_mutex_unlock(&race->lock);
			return NULL;
		}
		racer = race->ready[race->taken++];
		pthread_mutex_unlock(&race->lock);
		check(racer);
		turns_done(race->turns, &racer->turn);
	}
}

static void threads_never_have_one_key_at_once_nor_out_of_order(void **state)
{
	static const char *const names[KEYS] = { "/a", "/b", "/c", "/d", "/e" };
	struct race race = { .turns = turns_new(), .lock = PTHREAD_MUTEX_INITIALIZER,
		.more = PTHREAD_COND_INITIALIZER };
	struct racer *racers = mem_alloc(TURNS, sizeof(*racers));
	pthread_t threads[THREADS];
	unsigned seed = 7;

	(void)state;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, runner, &race);
	for (int i = 0; i < TURNS; i++) {
		const char *keys[KEYS];
		size_t count = 0;

		seed = seed * 1103515245u + 12345u;
		racers[i] = (struct racer){ .turn.go = get_ready, .race = &race, .number = i + 1,
			.keys = (seed >> 16) % (1u << KEYS) };
		for (int k = 0; k < KEYS; k++)
			if (racers[i].keys & 1u << k)
				keys[count++] = names[k];
		turns_take(race.turns, &racers[i].turn, keys, count);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(race.taken, TURNS);
	assert_false(turns_any(race.turns));
	turns_free(race.turns);
	free(racers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_with_one_key_go_in_their_order),
		cmocka_unit_test(one_with_several_keys_waits_for_all_of_them),
		cmocka_unit_test(threads_never_have_one_key_at_once_nor_out_of_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
