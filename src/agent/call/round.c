/* SPDX-License-Identifier: Apache-2.0 */
/* The questions about the calls of one reply, gathered to be asked together. */
#include "agent/call/call.h"

void call_round_init(struct call_round *round, pthread_mutex_t *lock, pthread_cond_t *changed)
{
	*round = (struct call_round){ .lock = lock, .changed = changed, .may_begin = true };
	pthread_cond_init(&round->released, NULL);
}

void call_round_release(struct call_round *round)
{
	pthread_cond_destroy(&round->released);
}

/* Ask the questions, if no further call of the round can need one. The calls of a reply are an
 * array. */
static void round_put_if_complete(struct call_round *round)
{
	if (round->awaited || round->may_begin || !round->gathered)
		return;
	for (struct call *call = round->gathered; call; call = call->gathered) {
		call->place = call->together = 0;
		for (struct call *other = round->gathered; other; other = other->gathered) {
			call->place += other < call;
			call->together++;
		}
	}
	round->number++;
	round->id = ++round->gathered->agent->top->rounds;
	round->gathered = NULL;
	pthread_cond_broadcast(&round->released);
}

void call_round_begin(struct call *call)
{
	call->awaited = true;
	call->round->awaited++;
}

void call_round_set_may_begin(struct call_round *round, bool may)
{
	round->may_begin = may;
	round_put_if_complete(round);
}

void call_round_settle_locked(struct call *call)
{
	if (!call->awaited)
		return;
	call->awaited = false;
	call->round->awaited--;
	round_put_if_complete(call->round);
}

void call_round_settle(struct call *call)
{
	if (!call->round)
		return;
	pthread_mutex_lock(call->round->lock);
	call_round_settle_locked(call);
	pthread_mutex_unlock(call->round->lock);
}

json_t *call_round_gather(struct call *call)
{
	json_t *together;

	struct call_round *round = call->round;
	unsigned before;

	pthread_mutex_lock(round->lock);
	before = round->number;
	call->gathered = round->gathered;
	round->gathered = call;
	round->open_questions++;
	round->may_begin = round->may_begin || round->full;
	call_round_settle_locked(call);
	round_put_if_complete(round);
	pthread_cond_signal(round->changed); /* one more may have a place now */
	while (round->number == before)
		pthread_cond_wait(&round->released, round->lock);
	together = json_pack("{s:I, s:I, s:I}", "id", (json_int_t)round->id, "index",
	                     (json_int_t)call->place, "count", (json_int_t)call->together);
	pthread_mutex_unlock(round->lock);
	return together;
}

void call_round_leave(struct call *call)
{
	pthread_mutex_lock(call->round->lock);
	call->round->open_questions--;
	pthread_mutex_unlock(call->round->lock);
}
