/* SPDX-License-Identifier: Apache-2.0 */
/* What one conversation has of the files: states, and lines of them (answer.h). */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "tool/answer.h"

/* Files that are remembered; the oldest is forgotten for a new one. */
enum { SEEN_MAX = 2048 };

struct seen_file {
	uint64_t key;  /* of the path: compared first */
	char *path;    /* owned */
	struct seen_state state;
	bool known;    /* there is `state` */
	bool derived;  /* what it has of `state` was made of it (seen_derive) */
	struct sha256 met; /* the state of seen_met */
	json_t *part;  /* text of the last part that was read, of this state; or NULL */
	size_t part_first;
};

struct seen {
	pthread_mutex_t lock;
	struct seen_file *files; /* owned; at most SEEN_MAX */
	size_t count, cap, oldest;
	size_t part_bytes;       /* of all `part`s */
};

struct seen *seen_new(void)
{
	struct seen *seen = mem_alloc(1, sizeof(*seen));

	pthread_mutex_init(&seen->lock, NULL);
	return seen;
}

static void drop_part(struct seen *seen, struct seen_file *file)
{
	seen->part_bytes -= json_string_length(file->part);
	json_decref(file->part);
	file->part = NULL;
}

static void drop_file(struct seen *seen, struct seen_file *file)
{
	drop_part(seen, file);
	free(file->path);
	*file = (struct seen_file){ 0 };
}

void seen_free(struct seen *seen)
{
	if (!seen)
		return;
	for (size_t i = 0; i < seen->count; i++)
		drop_file(seen, &seen->files[i]);
	free(seen->files);
	pthread_mutex_destroy(&seen->lock);
	free(seen);
}

static uint64_t path_hash(const char *path)
{
	uint64_t key = 0xcbf29ce484222325u;

	for (; *path; path++)
		key = (key ^ (unsigned char)*path) * 0x100000001b3u;
	return key;
}

/* With the lock held, as the static functions below. */
static struct seen_file *find_seen(struct seen *seen, const char *path)
{
	const uint64_t key = path_hash(path);

	for (size_t i = 0; i < seen->count; i++)
		if (seen->files[i].key == key && seen->files[i].path &&
		    strcmp(seen->files[i].path, path) == 0)
			return &seen->files[i];
	return NULL;
}

/* The file's row, new if there is none. */
static struct seen_file *take_seen_row(struct seen *seen, const char *path)
{
	struct seen_file *file = find_seen(seen, path);

	if (file)
		return file;
	if (seen->count < SEEN_MAX) {
		seen->files = mem_grow(seen->files, &seen->cap, seen->count + 1,
		                       sizeof(*seen->files));
		file = &seen->files[seen->count++];
		*file = (struct seen_file){ 0 };
	} else {
		file = &seen->files[seen->oldest++ % SEEN_MAX];
		drop_file(seen, file);
	}
	file->key = path_hash(path);
	file->path = mem_strdup(path);
	return file;
}

/* The same, in this state: drops what was seen of another state. */
static struct seen_file *take_seen(struct seen *seen, const char *path,
                                   const struct sha256 *sha256, uint64_t version)
{
	struct seen_file *file = take_seen_row(seen, path);

	if (file->known && !sha256_eq(&file->state.sha256, sha256)) {
		drop_part(seen, file);
		file->state = (struct seen_state){ 0 };
	}
	file->known = true;
	file->derived = false;
	file->state.sha256 = file->met = *sha256;
	file->state.version = version;
	return file;
}

/* ---- ranges ---- */

/* Sorted and apart again, with one range more; where there are too many, the smallest goes. */
static void add_range(struct seen_state *state, struct seen_range range)
{
	struct seen_range all[SEEN_RANGES_MAX + 1];
	size_t count = 0, least = 0, i = 0;

	for (; i < state->range_count && state->ranges[i].last + 1 < range.first; i++)
		all[count++] = state->ranges[i];
	for (; i < state->range_count && state->ranges[i].first <= range.last + 1; i++) {
		range.first = state->ranges[i].first < range.first ? state->ranges[i].first :
		                                                     range.first;
		range.last = state->ranges[i].last > range.last ? state->ranges[i].last :
		                                                  range.last;
	}
	all[count++] = range;
	for (; i < state->range_count; i++)
		all[count++] = state->ranges[i];
	for (i = 1; i < count; i++)
		if (all[i].last - all[i].first < all[least].last - all[least].first)
			least = i;
	if (count > SEEN_RANGES_MAX) {
		memmove(&all[least], &all[least + 1], (count - least - 1) * sizeof(*all));
		count--;
	}
	memcpy(state->ranges, all, count * sizeof(*all));
	state->range_count = count;
}

static void see_whole(struct seen_state *state)
{
	state->whole = true;
	state->range_count = 0;
}

/* ---- what is seen ---- */

bool seen_get(const struct session *session, const char *path, struct seen_state *ret)
{
	struct seen *seen = session->seen;
	const struct seen_file *file;

	pthread_mutex_lock(&seen->lock);
	file = find_seen(seen, path);
	if (file && !file->known)
		file = NULL;
	if (file)
		*ret = file->state;
	pthread_mutex_unlock(&seen->lock);
	return file != NULL;
}

void seen_meet(struct session *session, const char *path, const struct sha256 *sha256)
{
	struct seen *seen = session->seen;

	if (session->unseen)
		return;
	pthread_mutex_lock(&seen->lock);
	take_seen_row(seen, path)->met = *sha256;
	pthread_mutex_unlock(&seen->lock);
}

bool seen_met(const struct session *session, const char *path, struct sha256 *ret)
{
	struct seen *seen = session->seen;
	const struct seen_file *file;

	pthread_mutex_lock(&seen->lock);
	file = find_seen(seen, path);
	if (file)
		*ret = file->met;
	pthread_mutex_unlock(&seen->lock);
	return file != NULL;
}

bool seen_has_lines(const struct seen_state *state, size_t first, size_t last)
{
	for (size_t i = 0; i < state->range_count && !state->whole; i++)
		if (first >= state->ranges[i].first && last <= state->ranges[i].last)
			return true;
	return state->whole;
}

json_t *seen_part(const struct session *session, const char *path, size_t *ret_first)
{
	struct seen *seen = session->seen;
	const struct seen_file *file;
	json_t *part = NULL;

	pthread_mutex_lock(&seen->lock);
	file = find_seen(seen, path);
	if (file && file->part) {
		part = json_incref(file->part);
		*ret_first = file->part_first;
	}
	pthread_mutex_unlock(&seen->lock);
	return part;
}

/* The file in this state, with the lock held until seen_end; NULL: nothing counts as seen. */
static struct seen_file *seen_begin(struct session *session, const char *path,
                                    const struct sha256 *sha256, uint64_t version)
{
	if (session->unseen)
		return NULL;
	pthread_mutex_lock(&session->seen->lock);
	return take_seen(session->seen, path, sha256, version);
}

static void seen_end(struct session *session)
{
	pthread_mutex_unlock(&session->seen->lock);
}

static void keep_part(struct seen *seen, struct seen_file *file, size_t first, json_t *text)
{
	if (seen->part_bytes + json_string_length(text) > LIMIT_SEEN_PARTS)
		return;
	file->part = json_incref(text);
	file->part_first = first;
	seen->part_bytes += json_string_length(text);
}

void seen_read(struct session *session, const char *path, const struct sha256 *sha256,
               uint64_t version, const struct seen_range *range, json_t *text)
{
	struct seen_file *file = seen_begin(session, path, sha256, version);

	if (!file)
		return;
	file->state.read = true;
	if (!range || !file->state.whole)
		drop_part(session->seen, file);
	if (!range) {
		see_whole(&file->state);
		file->state.may_write = true;
	} else if (!file->state.whole) {
		add_range(&file->state, *range);
		keep_part(session->seen, file, range->first, text);
	}
	seen_end(session);
}

void seen_derive(struct session *session, const char *path, const struct sha256 *sha256,
                 uint64_t version)
{
	struct seen_file *file = seen_begin(session, path, sha256, version);

	if (!file)
		return;
	file->derived = !file->state.whole && !file->state.range_count;
	seen_end(session);
}

bool seen_derived(const struct session *session, const struct sha256 *sha256)
{
	struct seen *seen = session->seen;
	bool derived = false;

	if (!seen)
		return false;
	pthread_mutex_lock(&seen->lock);
	for (size_t i = 0; i < seen->count && !derived; i++)
		derived = seen->files[i].derived &&
		          sha256_eq(&seen->files[i].state.sha256, sha256);
	pthread_mutex_unlock(&seen->lock);
	return derived;
}

void seen_excerpt(struct session *session, const char *path, const struct sha256 *sha256,
                  uint64_t version, const struct seen_range *range)
{
	struct seen_file *file = seen_begin(session, path, sha256, version);

	if (!file)
		return;
	if (!file->state.whole) {
		drop_part(session->seen, file);
		add_range(&file->state, *range);
	}
	seen_end(session);
}

void seen_refused(struct session *session, const char *path, const struct sha256 *sha256,
                  uint64_t version)
{
	struct seen_file *file = seen_begin(session, path, sha256, version);

	if (!file)
		return;
	drop_part(session->seen, file);
	/* Who has read a part of this state may still not overwrite what a refusal showed. */
	file->state.may_write = file->state.may_write && file->state.whole;
	see_whole(&file->state);
	seen_end(session);
}

void seen_moved(struct session *session, const char *path, const char *new_path)
{
	struct seen *seen = session->seen;
	struct seen_state state;
	struct seen_file *file;
	bool known;

	pthread_mutex_lock(&seen->lock);
	file = find_seen(seen, path);
	known = file && file->known;
	if (known) {
		state = file->state;
		drop_file(seen, file);
	}
	if (known && new_path)
		take_seen(seen, new_path, &state.sha256, state.version)->state = state;
	pthread_mutex_unlock(&seen->lock);
}

void seen_forget(struct session *session, const char *path)
{
	struct seen *seen = session->seen;

	pthread_mutex_lock(&seen->lock);
	for (size_t i = 0; i < seen->count; i++)
		if (seen->files[i].path && (!path || !strcmp(seen->files[i].path, path)))
			drop_file(seen, &seen->files[i]);
	if (!path)
		seen->count = seen->oldest = 0;
	pthread_mutex_unlock(&seen->lock);
}

/* ---- edits ---- */

/* "@@ -12,3 +12,4 @@" -> 12; of an empty side (",0") the line after. False: it is not one. */
static bool hunk_old_line(struct span line, size_t *ret)
{
	struct span rest = span_skip(line, 4);
	size_t value = 0, count = 1, n;

	if (!span_starts(line, SPAN("@@ -")))
		return false;
	for (n = 0; n < rest.len && ascii_is_digit(rest.data[n]) && n < 18; n++)
		value = value * 10 + (size_t)(rest.data[n] - '0');
	if (span_starts(span_skip(rest, n), SPAN(",0 ")))
		count = 0;
	*ret = value + !count;
	return n > 0;
}

/* What a range becomes when these lines change; a part that is cut off behind goes to `state`. */
static void move_range(struct seen_state *state, struct seen_range range,
                       const struct seen_change *changes, size_t count)
{
	size_t shift = 0; /* modulo: what was added less what was removed so far */

	for (size_t i = 0; i < count && range.first <= range.last; i++) {
		const struct seen_change *change = &changes[i];
		const size_t end = change->at + change->removed;

		if (change->at > range.last + 1)
			break;
		if (change->at > range.first)
			add_range(state, (struct seen_range){ range.first + shift,
			                                      change->at - 1 + shift });
		range.first = range.first > end ? range.first : end;
		shift += change->added - change->removed;
	}
	if (range.first <= range.last)
		add_range(state, (struct seen_range){ range.first + shift, range.last + shift });
}

struct seen_change *seen_changes(struct span diff, size_t *ret_count)
{
	struct seen_change *changes = NULL;
	size_t count = 0, cap = 0, old_line = 0;
	bool in_hunk = false, in_change = false;
	struct span line;

	while (line_next(&diff, &line)) {
		if (hunk_old_line(line, &old_line)) {
			in_hunk = true;
			in_change = false;
			continue;
		}
		if (!in_hunk || !line.len || line.data[0] == '\\')
			continue;
		if (line.data[0] == ' ') {
			in_change = false;
			old_line++;
			continue;
		}
		if (!in_change) {
			changes = mem_grow(changes, &cap, count + 1, sizeof(*changes));
			changes[count++] = (struct seen_change){ .at = old_line };
			in_change = true;
		}
		changes[count - 1].removed += line.data[0] == '-';
		changes[count - 1].added += line.data[0] == '+';
		old_line += line.data[0] == '-';
	}
	*ret_count = count;
	return changes;
}

/* Maps the ranges of the old state to the new one; added lines count as seen. */
static void move_ranges(struct seen_state *state, struct span diff)
{
	const struct seen_state before = *state;
	size_t count, shift = 0;
	_cleanup_free_ struct seen_change *changes = seen_changes(diff, &count);

	state->range_count = 0;
	for (size_t i = 0; i < before.range_count && count; i++)
		move_range(state, before.ranges[i], changes, count);
	for (size_t i = 0; i < count; i++) {
		const size_t first = changes[i].at + shift;
		const struct seen_range made = { first, first + changes[i].added - 1 };

		if (changes[i].added)
			add_range(state, made);
		shift += changes[i].added - changes[i].removed;
	}
}

void seen_edited(struct session *session, const char *path, const struct sha256 *before,
                 const struct sha256 *after, uint64_t version, struct span diff, bool whole)
{
	struct seen *seen = session->seen;
	struct seen_state had = { 0 };
	struct seen_file *file;
	bool known;

	pthread_mutex_lock(&seen->lock);
	file = find_seen(seen, path);
	known = file && file->known && (sha256_eq(&file->state.sha256, before) ||
	                                sha256_eq(&file->state.sha256, after));
	if (known)
		had = file->state;
	file = take_seen(seen, path, after, version);
	file->state.read = true;
	file->state.may_write = whole || (had.whole && had.may_write);
	if (whole || had.whole) {
		drop_part(seen, file);
		see_whole(&file->state);
	} else if (!sha256_eq(before, after) && !sha256_eq(&had.sha256, after)) {
		drop_part(seen, file);
		move_ranges(&had, diff);
		memcpy(file->state.ranges, had.ranges, sizeof(had.ranges));
		file->state.range_count = had.range_count;
	}
	pthread_mutex_unlock(&seen->lock);
}
