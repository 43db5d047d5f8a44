/* SPDX-License-Identifier: Apache-2.0 */
#include "ide/link.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "data/json.h"

enum {
	WATCHED_MAX = 8,      /* files whose edits have shown nothing new yet */
	SUFFIXES_MAX = 100,
	SUFFIX_BYTES = 32,
	ANNOUNCED_MAX = 1000, /* files of one announcement */
	PATIENCE_MIN_MS = 10, /* shorter waits are none */
	PATIENCE_ADDED_MS = 100, /* to twice as long as problems took the last time */
	SHOWN_MAX = 20,
	TEXT_MAX = 64 << 10,
};

struct ide_problems {
	ide_problems_list *list;
	pthread_mutex_t lock;   /* of what follows */
	pthread_cond_t news;    /* an announcement has come; its clock is CLOCK_MONOTONIC */
	json_t *before;         /* {path: problems}, the oldest first */
	json_t *announced;      /* {path: true}: of those, since their edit began */
	json_t *patience;       /* {suffix: ms}: how long to wait, where it is not the whole wait */
	bool announces;         /* the editor has announced something */
};

/* ---- life ------------------------------------------------------------------------- */

struct ide_problems *ide_problems_new(ide_problems_list *list)
{
	struct ide_problems *problems = mem_alloc(1, sizeof(*problems));
	pthread_condattr_t monotonic;

	problems->list = list;
	pthread_mutex_init(&problems->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&problems->news, &monotonic);
	pthread_condattr_destroy(&monotonic);
	problems->before = json_object();
	problems->announced = json_object();
	problems->patience = json_object();
	return problems;
}

void ide_problems_free(struct ide_problems *problems)
{
	if (!problems)
		return;
	json_decref(problems->before);
	json_decref(problems->announced);
	json_decref(problems->patience);
	pthread_cond_destroy(&problems->news);
	pthread_mutex_destroy(&problems->lock);
	free(problems);
}

void ide_problems_clear(struct ide_problems *problems)
{
	pthread_mutex_lock(&problems->lock);
	json_object_clear(problems->before);
	json_object_clear(problems->announced);
	json_object_clear(problems->patience);
	problems->announces = false;
	pthread_mutex_unlock(&problems->lock);
}

/* ---- how long to wait ---------------------------------------------------------------- */

/* Files with the same suffix are taken to be checked by the same program. */
static const char *suffix_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');

	return dot && strlen(dot) <= SUFFIX_BYTES && utf8_valid(span_str(dot)) ? dot : "";
}

/* With the lock. */
static unsigned patience_of(const struct ide_problems *problems, const char *path, unsigned most)
{
	const json_t *known = json_object_get(problems->patience, suffix_of(path));
	const json_int_t ms = json_integer_value(known);

	return known && ms < most ? (unsigned)ms : most;
}

/* With the lock. */
static void keep_patience(struct ide_problems *problems, const char *path, uint64_t ms)
{
	if (json_object_size(problems->patience) < SUFFIXES_MAX)
		json_object_set_new(problems->patience, suffix_of(path),
		                    json_integer(ms < PATIENCE_MIN_MS ? 0 : (json_int_t)ms));
}

/* Waits for an announcement, until that moment at most (of clock_monotonic_ms). */
static void await_announcement(struct ide_problems *problems, const char *path, uint64_t until_ms)
{
	const struct timespec until = { .tv_sec = (time_t)(until_ms / 1000),
		                        .tv_nsec = (long)(until_ms % 1000) * 1000000 };

	pthread_mutex_lock(&problems->lock);
	while (!json_object_get(problems->announced, path) && clock_monotonic_ms() < until_ms)
		if (pthread_cond_timedwait(&problems->news, &problems->lock, &until))
			break;
	pthread_mutex_unlock(&problems->lock);
}

void ide_problems_announce(struct ide_problems *problems, const json_t *files)
{
	json_t *file;
	size_t i;

	pthread_mutex_lock(&problems->lock);
	problems->announces = true;
	json_array_foreach((json_t *)files, i, file) {
		_cleanup_free_ char *path = i < ANNOUNCED_MAX ? ide_path_of_uri(file) : NULL;

		if (path && json_object_get(problems->before, path))
			json_object_set_new(problems->announced, path, json_true());
	}
	pthread_cond_broadcast(&problems->news);
	pthread_mutex_unlock(&problems->lock);
}

/* ---- which are new --------------------------------------------------------------------- */

/* What makes a problem the same one although lines above it were added or removed; false: it
 * stands for those that are left out. */
static bool problem_key(const json_t *problem, struct buf *ret)
{
	static const char *const members[] = { "severity", "source", "message" };

	buf_clear(ret);
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		buf_span(ret, json_span(json_object_get(problem, members[i])));
		buf_char(ret, '\n');
	}
	return json_object_get(problem, "severity") != NULL;
}

/* Those of `after` that have none in `before` to stand for; a new reference. */
static json_t *new_problems(const json_t *before, const json_t *after)
{
	_cleanup_buf_ struct buf key = BUF_INIT(TEXT_MAX);
	json_auto_t *counts = json_object();
	json_t *added = json_array(), *problem;
	size_t i;

	json_array_foreach((json_t *)before, i, problem)
		if (problem_key(problem, &key))
			json_object_set_new(counts, key.data, json_integer(
				json_integer_value(json_object_get(counts, key.data)) + 1));
	json_array_foreach((json_t *)after, i, problem) {
		if (!problem_key(problem, &key))
			continue;
		json_t *count = json_object_get(counts, key.data);

		if (json_integer_value(count) > 0)
			json_integer_set(count, json_integer_value(count) - 1);
		else
			json_array_append(added, problem);
	}
	return added;
}

static void put_new_problems(struct buf *out, const json_t *added, const char *path)
{
	json_t *problem;
	size_t i;

	buf_printf(out, "%sThe editor reports new problems in %s:", out->len ? "\n" : "", path);
	json_array_foreach((json_t *)added, i, problem) {
		if (i == SHOWN_MAX) {
			buf_printf(out, "\n%zu more", json_array_size(added) - i);
			break;
		}
		buf_printf(out, "\nline %lld, column %lld: %s: %s",
		           (long long)json_integer_value(json_object_get(problem, "line")),
		           (long long)json_integer_value(json_object_get(problem, "column")),
		           json_string_value(json_object_get(problem, "severity")),
		           json_string_value(json_object_get(problem, "message")));
	}
}

/* ---- around an edit ---------------------------------------------------------------------- */

/* With the lock. */
static void stop_watching(struct ide_problems *problems, const char *path)
{
	json_object_del(problems->before, path);
	json_object_del(problems->announced, path);
}

/* What there was, if it is known: a new reference; and whether a change was announced. */
static json_t *watched_problems(struct ide_problems *problems, const char *path,
                                bool *ret_announced)
{
	json_t *before;

	pthread_mutex_lock(&problems->lock);
	before = json_incref(json_object_get(problems->before, path));
	*ret_announced = json_object_get(problems->announced, path) != NULL;
	pthread_mutex_unlock(&problems->lock);
	return before;
}

void ide_problems_before(struct ide_problems *problems, void *editor, const char *path)
{
	json_auto_t *found = NULL, *known = NULL;
	bool announced;

	known = watched_problems(problems, path, &announced);
	/* After an edit that showed nothing new, what there was before that one counts. */
	if (!known && !problems->list(editor, path, &found))
		return;
	pthread_mutex_lock(&problems->lock);
	json_object_del(problems->announced, path);
	if (found) {
		while (json_object_size(problems->before) >= WATCHED_MAX)
			stop_watching(problems,
			              json_object_iter_key(json_object_iter(problems->before)));
		json_object_set(problems->before, path, found);
	}
	pthread_mutex_unlock(&problems->lock);
}

/* Looks again until there are new ones: a new reference.  NULL: none, or the editor lists none. */
static json_t *await_problems(struct ide_problems *problems, void *editor, const char *path,
                              uint64_t from_ms, unsigned patience)
{
	uint64_t pause_ms = 1;

	for (;;) {
		json_auto_t *after = NULL, *added = NULL, *before = NULL;
		uint64_t now;
		bool announced;

		before = watched_problems(problems, path, &announced);
		if (!before || !problems->list(editor, path, &after))
			return NULL;
		added = new_problems(before, after);
		if (json_array_size(added))
			return json_incref(added);
		now = clock_monotonic_ms();
		if (announced || now >= from_ms + patience)
			return NULL;
		if (problems->announces || now + pause_ms > from_ms + patience)
			pause_ms = from_ms + patience - now;
		await_announcement(problems, path, now + pause_ms);
		pause_ms = pause_ms < BACKOFF_MAX_US / 1000 ? 2 * pause_ms : pause_ms;
	}
}

char *ide_problems_after(struct ide_problems *problems, void *editor, const char *path,
                         unsigned wait_ms)
{
	const uint64_t from_ms = clock_monotonic_ms();
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	json_auto_t *added = NULL;
	unsigned patience;
	uint64_t took;

	pthread_mutex_lock(&problems->lock);
	patience = patience_of(problems, path, wait_ms);
	pthread_mutex_unlock(&problems->lock);
	added = await_problems(problems, editor, path, from_ms, patience);
	took = clock_monotonic_ms() - from_ms;
	pthread_mutex_lock(&problems->lock);
	if (added) {
		stop_watching(problems, path);
		keep_patience(problems, path, 2 * took + PATIENCE_ADDED_MS);
	} else if (took >= patience) {
		keep_patience(problems, path, patience / 2);
	}
	pthread_mutex_unlock(&problems->lock);
	if (!added)
		return NULL;
	put_new_problems(&out, added, path);
	return buf_steal(&out);
}

/* Whether it is worth to ask for a file's. */
static bool may_have_changed(struct ide_problems *problems, const char *path)
{
	bool may;

	pthread_mutex_lock(&problems->lock);
	may = !problems->announces || json_object_get(problems->announced, path);
	json_object_del(problems->announced, path);
	pthread_mutex_unlock(&problems->lock);
	return may;
}

char *ide_problems_late(struct ide_problems *problems, void *editor)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	json_auto_t *watched = NULL;
	const char *path;
	json_t *before;

	pthread_mutex_lock(&problems->lock);
	watched = json_copy(problems->before);
	pthread_mutex_unlock(&problems->lock);
	json_object_foreach(watched, path, before) {
		json_auto_t *after = NULL, *added = NULL;

		if (!may_have_changed(problems, path) || !problems->list(editor, path, &after))
			continue;
		added = new_problems(before, after);
		if (!json_array_size(added))
			continue;
		put_new_problems(&out, added, path);
		pthread_mutex_lock(&problems->lock);
		stop_watching(problems, path);
		json_object_del(problems->patience, suffix_of(path));
		pthread_mutex_unlock(&problems->lock);
	}
	return out.len ? buf_steal(&out) : NULL;
}
