/* SPDX-License-Identifier: Apache-2.0 */
/* What was allowed outside of the workspace, and the workers that answer for it. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/name.h"
#include "data/json.h"
#include "tool/private.h"

/* Paths of one call that are noted. */
enum { WANTED_MAX = 64 };

/* ---- places ------------------------------------------------------------------ */

void outside_add(struct outside_places *places, const struct outside_place *place)
{
	places->all = mem_grow(places->all, &places->cap, places->count + 1,
	                       sizeof(*places->all));
	places->all[places->count++] = (struct outside_place){
		mem_strdup(place->path), place->kind, mem_strdup(place->to)
	};
}

void outside_places_release(struct outside_places *places)
{
	for (size_t i = 0; i < places->count; i++) {
		free(places->all[i].path);
		free(places->all[i].to);
	}
	free(places->all);
	*places = (struct outside_places){ 0 };
}

bool outside_place_covers(const struct outside_place *place, const struct outside_place *wanted)
{
	const enum outside_kind kind = wanted->kind;

	switch (place->kind) {
	case OUTSIDE_MOVE:
		return (kind == OUTSIDE_READ ||
		        (kind == OUTSIDE_MOVE && strcmp(place->to, wanted->to) == 0)) &&
		       strcmp(place->path, wanted->path) == 0;
	case OUTSIDE_REMOVE:
	case OUTSIDE_WRITE:
	case OUTSIDE_READ:
		return (kind == place->kind || kind == OUTSIDE_READ) &&
		       strcmp(place->path, wanted->path) == 0;
	case OUTSIDE_TREE:
		return kind <= OUTSIDE_READ && location_within(wanted->path, place->path);
	case OUTSIDE_FIND:
		return (kind == OUTSIDE_LIST || kind == OUTSIDE_FIND) &&
		       location_within(wanted->path, place->path);
	case OUTSIDE_LIST:
		return kind == OUTSIDE_LIST && strcmp(place->path, wanted->path) == 0;
	}
	return false;
}

const struct outside_place *outside_covered(const struct outside_places *places,
                                            const struct outside_place *wanted)
{
	for (size_t i = 0; i < places->count; i++)
		if (outside_place_covers(&places->all[i], wanted))
			return &places->all[i];
	return NULL;
}

struct outside_session {
	pthread_mutex_t lock;
	struct outside_places places;
};

struct outside_session *outside_session_new(void)
{
	struct outside_session *session = mem_alloc(1, sizeof(*session));

	pthread_mutex_init(&session->lock, NULL);
	return session;
}

void outside_session_free(struct outside_session *session)
{
	if (!session)
		return;
	outside_places_release(&session->places);
	pthread_mutex_destroy(&session->lock);
	free(session);
}

void outside_session_list(struct outside_session *session, json_t *list)
{
	static const char *const words[] = {
		[OUTSIDE_LIST] = "listing ", [OUTSIDE_FIND] = "listing all beneath ",
		[OUTSIDE_TREE] = "reading all beneath ", [OUTSIDE_READ] = "reading ",
		[OUTSIDE_WRITE] = "writing to ", [OUTSIDE_REMOVE] = "removing ",
		[OUTSIDE_MOVE] = "moving ",
	};

	pthread_mutex_lock(&session->lock);
	for (size_t i = 0; i < session->places.count; i++) {
		const struct outside_place *place = &session->places.all[i];
		json_auto_t *path = json_name(place->path);
		json_auto_t *to = json_name(place->to ? place->to : "");
		const char *from = json_string_value(path);

		json_array_append_new(list, json_pack("s+++", words[place->kind], from,
		                                      place->to ? " to " : "",
		                                      json_string_value(to)));
	}
	pthread_mutex_unlock(&session->lock);
}

void outside_session_clear(struct outside_session *session)
{
	pthread_mutex_lock(&session->lock);
	outside_places_release(&session->places);
	pthread_mutex_unlock(&session->lock);
}

const struct outside_place *outside_allowed(struct outside *outside,
                                            const struct outside_place *wanted)
{
	const struct outside_place *place = outside_covered(&outside->once, wanted);

	if (place)
		return place;
	pthread_mutex_lock(&outside->always->lock);
	place = outside_covered(&outside->always->places, wanted);
	if (place)
		outside_add(&outside->once, place);
	pthread_mutex_unlock(&outside->always->lock);
	return place ? &outside->once.all[outside->once.count - 1] : NULL;
}

void outside_allow(struct outside *outside, const struct outside_places *places, bool session)
{
	struct outside_places *always = &outside->always->places;

	for (size_t i = 0; i < places->count; i++)
		outside_add(&outside->once, &places->all[i]);
	if (!session)
		return;
	pthread_mutex_lock(&outside->always->lock);
	for (size_t i = 0; i < places->count && always->count < LIMIT_GRANTED_FILES; i++)
		if (!outside_covered(always, &places->all[i]))
			outside_add(always, &places->all[i]);
	pthread_mutex_unlock(&outside->always->lock);
}

/* ---- what a request is about --------------------------------------------------- */

void outside_resolve(const struct outside *outside, const char *path, struct location *ret)
{
	struct provider *base = outside->front.base;

	location_resolve(base->ops->root(base, 0), path, NULL, NULL, ret);
}

void outside_note(struct outside *outside, const struct outside_place *wanted)
{
	for (size_t i = 0; i < outside->wanted.count; i++) {
		const struct outside_place *known = &outside->wanted.all[i];

		if (known->kind == wanted->kind && strcmp(known->path, wanted->path) == 0 &&
		    (!wanted->to || strcmp(known->to, wanted->to) == 0))
			return;
	}
	if (outside->wanted.count < WANTED_MAX)
		outside_add(&outside->wanted, wanted);
}

bool outside_is_inside(const struct outside *outside, const char *path)
{
	const char *root;

	for (size_t i = 0; (root = outside->front.base->ops->root(outside->front.base, i)); i++)
		if (location_within(path, root))
			return true;
	return false;
}

/* ---- workers ------------------------------------------------------------------- */

struct provider *outside_worker(struct outside *outside, const char *key,
                                const struct outside_request *request, struct err *err)
{
	struct provider *base = outside->front.base, *provider;
	struct outside_worker *worker;

	for (worker = outside->workers; worker; worker = worker->next)
		if (worker->writes == request->write && strcmp(worker->key, key) == 0)
			return worker->provider;
	if (!base->ops->outside(base, request, &provider, err))
		return NULL;
	worker = mem_alloc(1, sizeof(*worker));
	*worker = (struct outside_worker){ outside->workers, mem_strdup(key), request->write,
		                           provider };
	outside->workers = worker;
	return provider;
}

void outside_end_workers(struct outside *outside)
{
	struct outside_worker *worker;

	while ((worker = outside->workers)) {
		outside->workers = worker->next;
		provider_free(worker->provider);
		free(worker->key);
		free(worker);
	}
}
