/* SPDX-License-Identifier: Apache-2.0 */
#include "mcp/offer/begun.h"

#include <stdlib.h>

#include "base/mem.h"

enum {
	BEGUN_MAX = 64,  /* each is one of the worker's LIMIT_WIRE_CALLS */
	/* How often a worker that says nothing is looked after; and how long its workspace stays
	 * open for the next edit. */
	LOOK_MS = 5000,
};

/* What one workspace has under way. */
struct bell {
	struct bell *next;
	struct begun_list *list;
	struct opened *opened;    /* reference */
	struct loop_watch *watch; /* NULL: the loop cannot watch it; then the timer has to do */
	struct loop_timer *timer;
	size_t edits;
	bool used;   /* since the timer fired */
	bool unsent;
};

struct begun_list {
	struct loop_task task; /* first: the two are cast into each other */
	struct loop *loop;
	struct bell *bells;
	struct begun_edit *edits;
	size_t count;
	bool posted, stopped;
};

static struct provider *provider_of(const struct bell *bell)
{
	return bell->opened->provider;
}

static void bell_rings(void *data)
{
	struct bell *bell = data;

	provider_of(bell)->ops->take(provider_of(bell));
}

static void silence(struct bell *bell)
{
	struct bell **at = &bell->list->bells;

	while (*at != bell)
		at = &(*at)->next;
	*at = bell->next;
	loop_watch_stop(bell->watch);
	loop_timer_stop(bell->timer);
	opened_put(bell->opened);
	free(bell);
}

static void look_after(void *data)
{
	struct bell *bell = data;

	if (bell->edits)
		bell_rings(bell);
	else if (!bell->used)
		silence(bell);
	else
		bell->used = false;
}

static void silence_unused(struct begun_list *list)
{
	for (struct bell *bell = list->bells, *next; bell; bell = next) {
		next = bell->next;
		if (!bell->edits)
			silence(bell);
	}
}

static struct bell *bell_of(struct begun_list *list, struct opened *opened)
{
	struct bell *bell = list->bells;

	while (bell && bell->opened != opened)
		bell = bell->next;
	if (bell)
		return bell;
	silence_unused(list); /* the workspace has changed */
	bell = mem_alloc(1, sizeof(*bell));
	*bell = (struct bell){ .next = list->bells, .list = list, .opened = opened_ref(opened) };
	list->bells = bell;
	bell->watch = loop_watch_start(list->loop, opened->provider->ops->bell(opened->provider),
	                               bell_rings, bell);
	bell->timer = loop_timer_start(list->loop, LOOK_MS, LOOK_MS, look_after, bell);
	return bell;
}

static void send_begun(struct loop_task *task)
{
	struct begun_list *list = (struct begun_list *)task;

	list->posted = false;
	for (struct bell *bell = list->bells; bell; bell = bell->next) {
		if (bell->unsent)
			provider_of(bell)->ops->flush(provider_of(bell));
		bell->unsent = false;
	}
}

struct begun_list *begun_list_new(struct loop *loop)
{
	struct begun_list *list = mem_alloc(1, sizeof(*list));

	list->task.run = send_begun;
	list->loop = loop;
	return list;
}

void begun_list_free(struct begun_list *list)
{
	free(list);
}

bool begun_has_room(const struct begun_list *list)
{
	return list->count < BEGUN_MAX;
}

void begun_add(struct begun_list *list, struct opened *opened, struct begun_edit *edit)
{
	struct bell *bell = bell_of(list, opened);

	edit->bell = bell;
	bell->edits++;
	bell->used = bell->unsent = true;
	edit->next = list->edits;
	edit->at = &list->edits;
	if (edit->next)
		edit->next->at = &edit->next;
	list->edits = edit;
	list->count++;
	if (!list->posted)
		loop_post(list->loop, &list->task);
	list->posted = true;
}

void begun_ready(struct begun_edit *edit, bool here)
{
	if (!atomic_exchange(&edit->told, true))
		edit->arrived(edit, here);
}

void begun_remove(struct begun_list *list, struct begun_edit *edit)
{
	*edit->at = edit->next;
	if (edit->next)
		edit->next->at = edit->at;
	list->count--;
	edit->bell->edits--;
	if (list->stopped)
		silence_unused(list);
}

void begun_stop(struct begun_list *list)
{
	for (struct begun_edit *edit = list->edits, *next; edit; edit = next) {
		next = edit->next;
		begun_ready(edit, /* here= */ false);
	}
	list->stopped = true;
	silence_unused(list);
}
