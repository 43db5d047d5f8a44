/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest edit between two sequences of numbers. */
#include "diff/diff.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/auxv.h>

#include "base/mem.h"

/* Myers' O(ND) algorithm in linear space (Algorithmica 1, 1986, section 4b).
 *
 * A box is a pair of ranges still to be compared.  From its upper left corner
 * paths run forward, from its lower right corner backward, one more edit per
 * round; where they meet, the box is split in two.  reach[d] is the furthest x
 * on diagonal d = x - y.
 *
 * Deviation: all searches together have a budget of steps.  Once it is spent, a
 * search that has not met after a few hundred rounds splits its box where the
 * best path has got to.  The smaller half is done by recursion and the larger by
 * iteration, so the stack is logarithmic.
 */

/* Less than a tenth of a second: differences of some thousand lines are exact. */
#define EXACT_STEPS 20000000
/* Rounds that a search has in any case. */
#define MIN_ROUNDS 256

struct box {
	int32_t x0, x1; /* [x0, x1) of a */
	int32_t y0, y1; /* [y0, y1) of b */
};

struct middle_search {
	const uint32_t *a, *b;
	unsigned char *a_changed, *b_changed;
	int32_t *forward;  /* reach by diagonal; index 0 is diagonal 0 */
	int32_t *backward;
	int64_t steps;     /* left of the budget */
	int32_t rounds;    /* that a search has when the budget is spent */
};

struct point {
	int32_t x, y;
};

/* The diagonals in use by one direction: every second one from min to max. */
struct fan {
	int32_t min, max;
};

/* Widens a fan by one diagonal on both sides, or narrows it where it would
 * leave the box (the parity of the diagonals has to alternate). */
static void fan_widen(struct fan *fan, int32_t *reach, struct fan limits, int32_t unreached)
{
	if (fan->min > limits.min)
		reach[--fan->min - 1] = unreached;
	else
		fan->min++;
	if (fan->max < limits.max)
		reach[++fan->max + 1] = unreached;
	else
		fan->max--;
}

/* One more edit forward. True when a path met one of the backward paths. */
static bool advance_forward(struct middle_search *s, const struct box *box, struct fan fan,
                            const struct fan *other, struct point *ret)
{
	int32_t *reach = s->forward;

	for (int32_t d = fan.max; d >= fan.min; d -= 2) {
		int32_t x = reach[d - 1] < reach[d + 1] ? reach[d + 1] : reach[d - 1] + 1;

		while (x < box->x1 && x - d < box->y1 && s->a[x] == s->b[x - d])
			x++;
		reach[d] = x;
		if (other && d >= other->min && d <= other->max && s->backward[d] <= x) {
			*ret = (struct point){ x, x - d };
			return true;
		}
	}
	return false;
}

static bool advance_backward(struct middle_search *s, const struct box *box, struct fan fan,
                             const struct fan *other, struct point *ret)
{
	int32_t *reach = s->backward;

	for (int32_t d = fan.max; d >= fan.min; d -= 2) {
		int32_t x = reach[d - 1] < reach[d + 1] ? reach[d - 1] : reach[d + 1] - 1;

		while (x > box->x0 && x - d > box->y0 && s->a[x - 1] == s->b[x - d - 1])
			x--;
		reach[d] = x;
		if (other && d >= other->min && d <= other->max && s->forward[d] >= x) {
			*ret = (struct point){ x, x - d };
			return true;
		}
	}
	return false;
}

/* The point where the most of the box is done, from whichever corner. */
static struct point furthest_point(const struct middle_search *s, const struct box *box,
                                   struct fan fore, struct fan back)
{
	struct point best = { box->x0, box->y0 }, best_back = { box->x1, box->y1 };
	int64_t done, done_back;

	for (int32_t d = fore.max; d >= fore.min; d -= 2) {
		int32_t x = s->forward[d] < box->x1 ? s->forward[d] : box->x1;

		if (x - d > box->y1)
			x = box->y1 + d;
		if ((int64_t)x + x - d > (int64_t)best.x + best.y)
			best = (struct point){ x, x - d };
	}
	for (int32_t d = back.max; d >= back.min; d -= 2) {
		int32_t x = s->backward[d] > box->x0 ? s->backward[d] : box->x0;

		if (x - d < box->y0)
			x = box->y0 + d;
		if ((int64_t)x + x - d < (int64_t)best_back.x + best_back.y)
			best_back = (struct point){ x, x - d };
	}
	done = (int64_t)best.x - box->x0 + best.y - box->y0;
	done_back = (int64_t)box->x1 - best_back.x + box->y1 - best_back.y;
	return done >= done_back ? best : best_back;
}

/* A point on a good path through the box, neither of its corners. The box has
 * two sides, and neither its first nor its last elements are equal. */
static struct point box_split(struct middle_search *s, const struct box *box)
{
	const struct fan limits = { box->x0 - box->y1, box->x1 - box->y0 };
	const int32_t first = box->x0 - box->y0, last = box->x1 - box->y1;
	const bool odd = ((first - last) & 1) != 0;
	struct fan fore = { first, first }, back = { last, last };
	struct point meeting;

	s->forward[first] = box->x0;
	s->backward[last] = box->x1;
	for (int32_t round = 1;; round++) {
		fan_widen(&fore, s->forward, limits, /* unreached= */ -1);
		if (advance_forward(s, box, fore, odd ? &back : NULL, &meeting))
			return meeting;
		fan_widen(&back, s->backward, limits, /* unreached= */ INT32_MAX);
		if (advance_backward(s, box, back, odd ? NULL : &fore, &meeting))
			return meeting;
		s->steps -= (fore.max - fore.min) / 2 + (back.max - back.min) / 2 + 2;
		if (s->steps < 0 && round >= s->rounds)
			return furthest_point(s, box, fore, back);
	}
}

/* Cuts what both sides of the box begin and end with. */
static void box_trim(const struct middle_search *s, struct box *box)
{
	while (box->x0 < box->x1 && box->y0 < box->y1 && s->a[box->x0] == s->b[box->y0]) {
		box->x0++;
		box->y0++;
	}
	while (box->x0 < box->x1 && box->y0 < box->y1 &&
	       s->a[box->x1 - 1] == s->b[box->y1 - 1]) {
		box->x1--;
		box->y1--;
	}
}

static int64_t box_size(const struct box *box)
{
	return (int64_t)box->x1 - box->x0 + box->y1 - box->y0;
}

static void box_compare(struct middle_search *s, struct box box)
{
	for (;;) {
		struct point middle;
		struct box left, right;

		box_trim(s, &box);
		if (box.x0 == box.x1 || box.y0 == box.y1)
			break;
		middle = box_split(s, &box);
		left = (struct box){ box.x0, middle.x, box.y0, middle.y };
		right = (struct box){ middle.x, box.x1, middle.y, box.y1 };
		if (box_size(&left) < box_size(&right)) {
			box_compare(s, left);
			box = right;
		} else {
			box_compare(s, right);
			box = left;
		}
	}
	for (int32_t x = box.x0; x < box.x1; x++)
		s->a_changed[x] = 1;
	for (int32_t y = box.y0; y < box.y1; y++)
		s->b_changed[y] = 1;
}

static int32_t rounds_for(size_t size)
{
	int32_t rounds = MIN_ROUNDS;

	while ((size_t)rounds * (size_t)rounds < size)
		rounds *= 2;
	return rounds;
}

void myers_mark(const uint32_t *a, size_t n, const uint32_t *b, size_t m,
                       unsigned char *a_changed, unsigned char *b_changed)
{
	/* Diagonals run from -m to n; one more on each side stays unreached. */
	_cleanup_free_ int32_t *reach = mem_alloc(2 * (n + m + 3), sizeof(*reach));
	struct middle_search search = {
		.a = a,
		.b = b,
		.a_changed = a_changed,
		.b_changed = b_changed,
		.forward = reach + m + 1,
		.backward = reach + (n + m + 3) + m + 1,
		.steps = EXACT_STEPS,
		.rounds = rounds_for(n + m),
	};

	box_compare(&search, (struct box){ 0, (int32_t)n, 0, (int32_t)m });
}
