/* SPDX-License-Identifier: Apache-2.0 */
#include "ide/link.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "data/json.h"

enum {
	QUICK_MS = 500,      /* for what is there before an edit */
	FILES_MAX = 1000,    /* whose problems are kept */
	SHOWN_MAX = 20,
	TEXT_MAX = 64 << 10,
};

struct ide_problems {
	pthread_mutex_t lock;
	json_t *before; /* {path: problems} */
};

struct ide_problems *ide_problems_new(void)
{
	struct ide_problems *problems = mem_alloc(1, sizeof(*problems));

	pthread_mutex_init(&problems->lock, NULL);
	problems->before = json_object();
	return problems;
}

void ide_problems_free(struct ide_problems *problems)
{
	if (!problems)
		return;
	json_decref(problems->before);
	pthread_mutex_destroy(&problems->lock);
	free(problems);
}

void ide_problems_before(struct ide_problems *problems, struct ide_link *link, const char *path)
{
	struct err ignored = ERR_INIT;
	json_t *found = NULL;
	bool known = ide_link_diagnose(link, path, QUICK_MS, NULL, &found, &ignored);

	pthread_mutex_lock(&problems->lock);
	if (known && json_object_size(problems->before) < FILES_MAX)
		json_object_set(problems->before, path, found);
	else
		json_object_del(problems->before, path);
	pthread_mutex_unlock(&problems->lock);
	json_decref(found);
}

/* What makes a problem the same one although lines above it were added or removed. */
static bool is_same_problem(const json_t *a, const json_t *b)
{
	static const char *const members[] = { "severity", "message", "source" };

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const json_t *x = json_object_get(a, members[i]);
		const json_t *y = json_object_get(b, members[i]);

		if (x != y && !json_equal(x, y))
			return false;
	}
	return true;
}

/* Those of `after` that have none in `before` to stand for; a new reference. */
static json_t *new_problems(const json_t *before, const json_t *after)
{
	json_auto_t *left = json_copy((json_t *)before);
	json_t *added = json_array(), *problem, *old;
	size_t i, k;

	json_array_foreach((json_t *)after, i, problem) {
		bool was = false;

		json_array_foreach(left, k, old)
			if (is_same_problem(problem, old)) {
				json_array_remove(left, k);
				was = true;
				break;
			}
		if (!was)
			json_array_append(added, problem);
	}
	return added;
}

static char *problems_text(const json_t *added, const char *path)
{
	_cleanup_buf_ struct buf out = BUF_INIT(TEXT_MAX);
	json_t *problem;
	size_t i;

	buf_printf(&out, "The editor reports new problems in %s:", path);
	json_array_foreach((json_t *)added, i, problem) {
		if (i == SHOWN_MAX) {
			buf_printf(&out, "\n%zu more", json_array_size(added) - i);
			break;
		}
		buf_printf(&out, "\nline %lld, column %lld: %s: %s",
		           (long long)json_integer_value(json_object_get(problem, "line")),
		           (long long)json_integer_value(json_object_get(problem, "column")),
		           json_string_value(json_object_get(problem, "severity")),
		           json_string_value(json_object_get(problem, "message")));
	}
	return buf_steal(&out);
}

char *ide_problems_after(struct ide_problems *problems, struct ide_link *link, const char *path,
                         unsigned wait_ms)
{
	const long long until_us = clock_deadline(wait_ms);
	long pause_us = BACKOFF_FIRST_US;
	json_auto_t *before = NULL;
	struct err ignored = ERR_INIT;

	pthread_mutex_lock(&problems->lock);
	before = json_incref(json_object_get(problems->before, path));
	json_object_del(problems->before, path);
	pthread_mutex_unlock(&problems->lock);
	while (before && clock_back_off(until_us, &pause_us)) {
		json_auto_t *after = NULL, *added = NULL;

		if (!ide_link_diagnose(link, path, QUICK_MS, NULL, &after, &ignored))
			return NULL;
		added = new_problems(before, after);
		if (json_array_size(added))
			return problems_text(added, path);
	}
	return NULL;
}
